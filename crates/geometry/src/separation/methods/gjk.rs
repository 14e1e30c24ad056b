//! The boolean form of the Gilbert-Johnson-Keerthi algorithm, as a yardstick.
//!
//! Source: Gilbert, Johnson, Keerthi, *A Fast Procedure for Computing the Distance Between Complex
//! Objects in Three-Dimensional Space*, 1988; early out by the first separating direction after van
//! den Bergen, *A Fast and Robust GJK Implementation for Collision Detection of Convex Objects*,
//! 1999, §4.
//!
//! A simplex of at most four differences of M walks towards the origin. The next candidate `s` is a
//! vector from the origin towards the nearest part of the simplex; its supporting pair either
//! proves that s separates or joins the simplex.
//!
//! Proves: nothing; it proposes.
//! Cost: a supporting pair per candidate, 1.0 to 12 in the mean on ellipsoids of 200 and 2000
//! vertices, axes to 10:1.

use arrayvec::ArrayVec;

use super::{CollisionMethod, Proposal};
use crate::Vec3;
use crate::difference::RoundedCorner;
use crate::difference::layout::Layout;
use crate::difference::probe::{tame, tame_between};
use crate::difference::rounded::View;
use crate::effort::{Effort, Stopped};
use crate::pair::Pair;
use crate::polytope::Tables;
use crate::witness::Witness;

/// The row of the table.
pub(super) const METHOD: CollisionMethod = CollisionMethod {
    name: "gjk",
    source: "Gilbert, Johnson, Keerthi 1988; van den Bergen 1999, §4",
    proves: "separation by a vector, overlap by four pairs",
    cost: "a supporting pair per candidate; 1 to 12 candidates in the mean on ellipsoids",
    tables: Tables::Nothing,
    continues: false,
    propose,
};

/// Five times the largest mean seen. Rounding can make the simplex revisit itself near contact.
const CANDIDATES_MAX: u32 = 64;

/// At most four corners, the newest first.
type Simplex = ArrayVec<RoundedCorner, 4>;

fn propose(
    pair: &Pair<'_>,
    layout: &Layout,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Proposal, Stopped> {
    let view = View::new(pair);
    let remembered = witness.direction.and_then(|direction| tame(&direction));
    let mut s = remembered.unwrap_or_else(|| tame_between(&layout.centres));
    let mut hint = view.hint(witness);
    let mut simplex = Simplex::new();
    for _ in 0..CANDIDATES_MAX {
        effort.spend_step()?;
        let pair = view.supporting_pair(&s, hint.take(), effort);
        let w = view.difference(pair);
        witness.direction = Some(s);
        witness.pairs.clear();
        witness.pairs.push(pair);
        if s.dot(&w) > 0.0 {
            return Ok(Proposal::Separating(s));
        }
        if simplex.iter().any(|corner| corner.pair == pair) {
            return Ok(Proposal::HandOver);
        }
        simplex.insert(0, RoundedCorner { pair, point: w });
        match towards_origin(&mut simplex) {
            Some(next) => {
                let Some(next) = tame(&next) else { return Ok(Proposal::HandOver) };
                s = next;
            }
            None => {
                witness.pairs = simplex.iter().map(|corner| corner.pair).collect();
                return Ok(Proposal::Holding(witness.pairs.clone()));
            }
        }
    }
    Ok(Proposal::HandOver)
}

/// Keeps the part of the simplex nearest the origin and returns a vector from the origin towards
/// it; none when the tetrahedron holds the origin.
fn towards_origin(simplex: &mut Simplex) -> Option<Vec3> {
    match simplex.len() {
        1 => Some(simplex[0].point),
        2 => Some(by_segment(simplex)),
        3 => Some(by_triangle(simplex)),
        _ => by_tetrahedron(simplex),
    }
}

/// The newest corner is a.
fn by_segment(simplex: &mut Simplex) -> Vec3 {
    let (a, b) = (simplex[0].point, simplex[1].point);
    let ab = b - a;
    if ab.dot(&a) < 0.0 {
        // The part of a across ab.
        ab.cross(&a).cross(&ab)
    } else {
        simplex.truncate(1);
        a
    }
}

fn by_triangle(simplex: &mut Simplex) -> Vec3 {
    let (a, b, c) = (simplex[0].point, simplex[1].point, simplex[2].point);
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(&ac);
    if normal.cross(&ac).dot(&a) < 0.0 {
        // Beyond edge ac.
        simplex.remove(1);
        by_segment(simplex)
    } else if ab.cross(&normal).dot(&a) < 0.0 {
        simplex.truncate(2);
        by_segment(simplex)
    } else if normal.dot(&a) > 0.0 {
        normal
    } else {
        -normal
    }
}

fn by_tetrahedron(simplex: &mut Simplex) -> Option<Vec3> {
    let a = simplex[0].point;
    // The three faces at the newest corner; the fourth faces away from the origin already.
    for (other, [i, j]) in [(3, [1, 2]), (1, [2, 3]), (2, [3, 1])] {
        let normal = (simplex[i].point - a).cross(&(simplex[j].point - a));
        let inner = normal.dot(&(simplex[other].point - a));
        // The origin is beyond the face when it lies on the other side than the fourth corner.
        if inner * normal.dot(&a) > 0.0 {
            let face = [simplex[0], simplex[i], simplex[j]];
            *simplex = face.into_iter().collect();
            return Some(by_triangle(simplex));
        }
    }
    None
}
