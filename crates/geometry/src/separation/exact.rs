//! The exact stage: how the origin stands to M, for every pair of bodies, in exact arithmetic.
//!
//! If the origin is not in the affine hull of M, that plane (line, point) separates. Otherwise the
//! line from a point c in M's relative interior through the origin leaves M through a facet, whose
//! offset says the verdict: with outward normal n, `n·m` of the facet is negative when the line
//! leaves M before the origin, zero when at the origin, positive when after it.

use std::cmp::Ordering;

use arrayvec::ArrayVec;
use dashu_int::IBig;

use super::Proposal;
use super::line::portal::{Exit, Goal, Line};
use crate::Vec3;
use crate::claim::{Direction, StaticProof};
use crate::difference::exact::{Difference, ExactCorner};
use crate::difference::exact::{Hull, affine_hull, edge_normal, sum_of};
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::scaled::{
    Integers, cross, difference, dot, exact_vector, is_zero, negated, rounded_direction, sign,
    unit, without_common_twos,
};
use crate::pair::{Pair, VertexPair};
use crate::witness::Witness;

/// Decides how the pair stands, beginning with what was proposed, and leaves in the witness what
/// the proof shows.
pub(super) fn decide_exactly(
    pair: &Pair<'_>,
    proposal: &Proposal,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<StaticProof, Stopped> {
    effort.cost.exact_stages += 1;
    let mut m = Difference::new(pair);
    let proof = match accept(&mut m, pair, proposal, effort) {
        Some(proof) => proof,
        None => prove(&mut m, effort)?,
    };
    remember(&mut m, &proof, witness, effort);
    Ok(proof)
}

/// The proof of a proposal that is right.
fn accept(
    m: &mut Difference<'_>,
    pair: &Pair<'_>,
    proposal: &Proposal,
    effort: &mut Effort<'_>,
) -> Option<StaticProof> {
    match proposal {
        Proposal::Separating(direction) if direction.iter().all(|c| c.is_finite()) => m
            .is_separated_along(direction, effort)
            .then_some(StaticProof::Separated { direction: Direction::Vector(*direction) }),
        Proposal::Holding(pairs) => {
            let named = |k: &VertexPair| {
                k.i < pair.p.body.vertex_count() && k.j < pair.q.body.vertex_count()
            };
            if !pairs.iter().all(named) {
                return None;
            }
            let corners: ArrayVec<_, 6> = pairs.iter().map(|&k| m.corner(k)).collect();
            holds_origin_strictly(&corners)
                .then(|| StaticProof::Overlapping { pairs: pairs.clone() })
        }
        Proposal::Separating(_) | Proposal::Proven(_) | Proposal::HandOver => None,
    }
}

/// Leaves in the witness what the proof shows.
fn remember(
    m: &mut Difference<'_>,
    proof: &StaticProof,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) {
    match proof {
        StaticProof::Separated { direction } | StaticProof::Touching { direction, .. } => {
            let exact = m.direction(direction);
            witness.pairs.clear();
            if let StaticProof::Touching { pairs, .. } = proof {
                witness.pairs.extend(pairs.iter().copied());
            } else {
                witness.pairs.push(m.least_along(&exact, effort).1.pair);
            }
            witness.direction = Some(rounded_direction(&exact));
        }
        StaticProof::Overlapping { pairs } => witness.pairs = pairs.clone(),
    }
}

/// How the origin stands to M, with the proof; see the module.
pub(super) fn prove(
    m: &mut Difference<'_>,
    effort: &mut Effort<'_>,
) -> Result<StaticProof, Stopped> {
    let simplex = m.simplex();
    let lineality = match affine_hull(&simplex) {
        Hull::ThroughOrigin(lineality) => lineality,
        Hull::Off(along, named) => {
            let vector = m.separating_vector(&along, effort);
            let direction = vector.map_or(named, Direction::Vector);
            return Ok(StaticProof::Separated { direction });
        }
    };
    let flat = simplex.len() < 4;
    let centre = sum_of(&simplex);
    let Some(line) = Line::new(without_common_twos(negated(&centre)), lineality, None) else {
        // The simplex's own centre is at the origin.
        return Ok(in_contact(&simplex, &[], flat));
    };
    let portal = line.portal_among(&simplex).expect("the line comes from inside the simplex");
    Ok(match line.refine(m, portal, Goal::Origin, effort)? {
        Exit::OriginInside(facet) => in_contact(&simplex, &facet.corners, flat),
        Exit::OriginOutside(facet) => {
            let named = facet.inward().expect("flat M is cut along axes");
            separated(m, &facet.normal, named, effort)
        }
        Exit::Facet(facet) => {
            let named = facet.inward().expect("flat M is cut along axes");
            match facet.offset.cmp(&IBig::ZERO) {
                Ordering::Less => separated(m, &facet.normal, named, effort),
                Ordering::Greater => in_contact(&simplex, &facet.corners, flat),
                Ordering::Equal => {
                    let direction = if flat {
                        normal_of_flat(&simplex)
                    } else {
                        parallel_vector(&negated(&facet.normal)).unwrap_or(named)
                    };
                    StaticProof::Touching { direction, pairs: names(&facet.corners) }
                }
            }
        }
    })
}

/// SEPARATED by the inward side of `outward`: by an f64 vector if rounding gives one, else by name.
fn separated(
    m: &mut Difference<'_>,
    outward: &Integers,
    named: Direction,
    effort: &mut Effort<'_>,
) -> StaticProof {
    let vector = m.separating_vector(&negated(outward), effort);
    StaticProof::Separated { direction: vector.map_or(named, Direction::Vector) }
}

/// The f64 vector that is exactly parallel, if rounding finds one.
fn parallel_vector(exact: &Integers) -> Option<Direction> {
    let vector = rounded_direction(exact);
    is_zero(&cross(&exact_vector(&vector), exact)).then_some(Direction::Vector(vector))
}

/// A direction normal to all of M, which is flat and in a plane through the origin.
fn normal_of_flat(simplex: &[ExactCorner]) -> Direction {
    let edge = |k: usize| difference(&simplex[k].point, &simplex[0].point);
    match simplex.len() {
        1 => Direction::Vector(Vec3::x()),
        2 => {
            let along = edge(1);
            let axis = (0..3)
                .find(|&k| !is_zero(&cross(&along, &unit(k))))
                .expect("an edge is parallel to one axis at most");
            parallel_vector(&cross(&along, &unit(axis)))
                .unwrap_or_else(|| edge_normal(simplex, axis, false))
        }
        _ => {
            let pairs = [simplex[0].pair, simplex[1].pair, simplex[2].pair];
            parallel_vector(&cross(&edge(1), &edge(2)))
                .unwrap_or(Direction::Normal { pairs, negative: false })
        }
    }
}

/// The origin is in the relative interior of the hull of the simplex and the facet's corners.
fn in_contact(simplex: &[ExactCorner], facet: &[ExactCorner], flat: bool) -> StaticProof {
    let mut pool: ArrayVec<ExactCorner, 7> = facet.iter().cloned().collect();
    for corner in simplex {
        if pool.iter().all(|known| known.pair != corner.pair) {
            pool.push(corner.clone());
        }
    }
    if flat {
        let direction = normal_of_flat(simplex);
        let pairs = first_subset(&pool, 1..=3, holds_origin).map(|held| names(&held));
        let pairs = pairs.expect("Carathéodory: three corners hold a point of a plane");
        return StaticProof::Touching { direction, pairs };
    }
    let held = first_subset(&pool, 4..=4, encloses_origin)
        .or_else(|| first_subset(&pool, 5..=6, holds_origin_strictly))
        .expect("Steinitz: six corners hold an interior point strictly");
    StaticProof::Overlapping { pairs: held.iter().map(|corner| corner.pair).collect() }
}

fn names<const N: usize>(corners: &[ExactCorner]) -> ArrayVec<VertexPair, N> {
    corners.iter().map(|corner| corner.pair).collect()
}

/// The first subset of a size in the range, in a fixed order, that `accepts` accepts.
fn first_subset(
    pool: &[ExactCorner],
    sizes: std::ops::RangeInclusive<usize>,
    accepts: impl Fn(&[ExactCorner]) -> bool,
) -> Option<ArrayVec<ExactCorner, 7>> {
    sizes.into_iter().find_map(|size| {
        (0u32..1 << pool.len()).filter(|mask| mask.count_ones() as usize == size).find_map(|mask| {
            let subset: ArrayVec<ExactCorner, 7> =
                (0..pool.len()).filter(|k| mask >> k & 1 == 1).map(|k| pool[k].clone()).collect();
            accepts(&subset).then_some(subset)
        })
    })
}

/// At most four of the corners whose closed hull holds the origin, which theirs does.
pub(crate) fn hold_origin_in_four(corners: &[ExactCorner]) -> ArrayVec<ExactCorner, 7> {
    first_subset(corners, 1..=3, holds_origin)
        .or_else(|| first_subset(corners, 4..=4, encloses_origin))
        .expect("Carathéodory: four corners hold a point of space")
}

/// Whether the hull of one, two or three corners holds the origin in its relative interior.
fn holds_origin(corners: &[ExactCorner]) -> bool {
    match corners {
        [a] => is_zero(&a.point),
        [a, b] => is_zero(&cross(&a.point, &b.point)) && dot(&a.point, &b.point) < IBig::ZERO,
        [a, b, c] => {
            let (ab, bc, ca) =
                (cross(&a.point, &b.point), cross(&b.point, &c.point), cross(&c.point, &a.point));
            let agree = |x: &Integers, y: &Integers| dot(x, y) > IBig::ZERO;
            dot(&ab, &c.point).is_zero() && agree(&ab, &bc) && agree(&bc, &ca) && agree(&ca, &ab)
        }
        _ => false,
    }
}

/// Whether four corners are a tetrahedron with the origin strictly inside: each face has the origin
/// and the fourth corner on the same side.
pub(super) fn encloses_origin(four: &[ExactCorner]) -> bool {
    let [a, b, c, d] = four else { return false };
    let determinant = |x: &ExactCorner, y: &ExactCorner, z: &ExactCorner| {
        sign(&dot(&cross(&x.point, &y.point), &z.point))
    };
    let first = determinant(b, c, d);
    first != Sign::Zero
        && determinant(a, d, c) == first
        && determinant(a, b, d) == first
        && determinant(a, c, b) == first
}

/// Whether the origin is interior to the hull of the corners: on both sides of every plane through
/// it and two of them.
pub(super) fn holds_origin_strictly(corners: &[ExactCorner]) -> bool {
    let mut solid = false;
    for (at, a) in corners.iter().enumerate() {
        for b in &corners[..at] {
            let normal = cross(&a.point, &b.point);
            if is_zero(&normal) {
                continue;
            }
            solid = true;
            let height = |c: &ExactCorner| dot(&normal, &c.point);
            let is_above = corners.iter().any(|c| height(c) > IBig::ZERO);
            if !(is_above && corners.iter().any(|c| height(c) < IBig::ZERO)) {
                return false;
            }
        }
    }
    solid
}
