//! Every direction that could matter, in exact arithmetic: the oracle of the tests, and a method
//! for small bodies. It shares no code with the searches.
//!
//! Source: the facets of M = {q - p} are spanned by edge directions of the bodies, two of them when
//! M is solid (Grünbaum, *Convex Polytopes*, 2nd ed., §15.1). So with D the edge directions of
//! both:
//! - M solid: the origin is in M unless some `±(d1 x d2)` has it strictly outside, and on its
//!   boundary if some has it on its supporting plane;
//! - M flat, a segment or a point: the same question in its plane or line, where contact is always
//!   touching.
//!
//! Proves: the verdict, in exact arithmetic on the twelve numbers of each pose.
//! Cost: `|D|² (|V(P)| + |V(Q)|)` exact products.

use arrayvec::ArrayVec;
use dashu_int::ops::BitTest;

use super::{CollisionMethod, Proposal};
use crate::Vec3;
use crate::claim::Verdict;
use crate::difference::layout::Layout;
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::pair::{Pair, Placed};
use crate::polytope::Tables;
use crate::witness::Witness;

/// The row of the table.
pub(super) const METHOD: CollisionMethod = CollisionMethod {
    name: "exhaustive",
    source: "Grünbaum 2003, §15.1: the facets of a Minkowski sum",
    proves: "separation by a facet normal of the difference body",
    cost: "the square of the number of edge directions; hands over beyond 40",
    tables: Tables::Nothing,
    continues: false,
    propose,
};

/// Edge directions beyond which the method hands over: 780 normals, some ten milliseconds.
const DIRECTIONS_MAX: usize = 40;

/// How the two stand, exactly.
pub fn oracle(pair: &Pair<'_>) -> Verdict {
    let effort = &mut Effort::unlimited();
    let bodies = EdgeDirections::new(pair, usize::MAX, effort).expect("no deadline");
    let bodies = bodies.expect("no limit");
    verdict(&bodies, effort).expect("no limit").0
}

fn propose(
    pair: &Pair<'_>,
    _layout: &Layout,
    _witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Proposal, Stopped> {
    let Some(bodies) = EdgeDirections::new(pair, DIRECTIONS_MAX, effort)? else {
        return Ok(Proposal::HandOver);
    };
    let (_, separating) = verdict(&bodies, effort)?;
    let rounded = separating.and_then(|normal| normal.rounded());
    Ok(rounded.map_or(Proposal::HandOver, Proposal::Separating))
}

/// An exact vector.
#[derive(Clone, Debug)]
struct DyadicVector([Dyadic; 3]);

impl DyadicVector {
    fn placed(point: &Vec3, placed: &Placed<'_>) -> Self {
        let (r, t) = (&placed.pose.rotation, &placed.pose.translation);
        let x = [0, 1, 2].map(|k| Dyadic::from(point[k]));
        Self([0, 1, 2].map(|i| {
            (0..3).fold(Dyadic::from(t[i]), |sum, k| &sum + &(&Dyadic::from(r[(i, k)]) * &x[k]))
        }))
    }

    fn minus(&self, other: &Self) -> Self {
        Self([0, 1, 2].map(|k| &self.0[k] - &other.0[k]))
    }

    fn dot(&self, other: &Self) -> Dyadic {
        (0..3).fold(Dyadic::zero(), |sum, k| &sum + &(&self.0[k] * &other.0[k]))
    }

    fn cross(&self, other: &Self) -> Self {
        let minor = |i: usize, j: usize| &(&self.0[i] * &other.0[j]) - &(&self.0[j] * &other.0[i]);
        Self([minor(1, 2), minor(2, 0), minor(0, 1)])
    }

    fn negated(&self) -> Self {
        Self([0, 1, 2].map(|k| -&self.0[k]))
    }

    fn is_zero(&self) -> bool {
        self.0.iter().all(|c| c.sign() == Sign::Zero)
    }

    /// The direction with its largest component about one; none for zero.
    fn rounded(&self) -> Option<Vec3> {
        let top = |c: &Dyadic| {
            c.exponent() + i64::try_from(c.mantissa().bit_len()).expect("a length in memory")
        };
        let largest = self.0.iter().filter(|c| c.sign() != Sign::Zero).map(top).max()?;
        Some(Vec3::from_fn(|k, _| {
            let component = &self.0[k];
            // Sixty bits below the largest top bit are more than an f64 can tell.
            let shift = component.exponent() - (largest - 60);
            let bits = usize::try_from(shift.unsigned_abs()).expect("exponents are small");
            let mantissa = component.mantissa().clone();
            let scaled = if shift < 0 { mantissa >> bits } else { mantissa << bits };
            i64::try_from(scaled).expect("sixty bits") as f64 / (1u64 << 60) as f64
        }))
    }
}

/// Both bodies in the world, exactly, with their edge directions, no two of them parallel.
struct EdgeDirections {
    p: Vec<DyadicVector>,
    q: Vec<DyadicVector>,
    directions: Vec<DyadicVector>,
}

impl EdgeDirections {
    /// None if there are more than `directions_max` edge directions, which shows as soon as one is
    /// too many.
    fn new(
        pair: &Pair<'_>,
        directions_max: usize,
        effort: &Effort<'_>,
    ) -> Result<Option<Self>, Stopped> {
        let mut directions: Vec<DyadicVector> = Vec::new();
        for placed in [&pair.p, &pair.q] {
            for (i, a) in (0u32..).zip(placed.body.vertices()) {
                effort.look_at_clock()?;
                let start = DyadicVector::placed(a, placed);
                for &j in placed.body.neighbours(i).iter().filter(|&&j| j > i) {
                    let end = DyadicVector::placed(&placed.body.vertices()[j as usize], placed);
                    let direction = end.minus(&start);
                    if directions.iter().all(|known| !known.cross(&direction).is_zero()) {
                        directions.push(direction);
                    }
                    if directions.len() > directions_max {
                        return Ok(None);
                    }
                }
            }
        }
        let [p, q] = [&pair.p, &pair.q].map(|placed| {
            let vertices = placed.body.vertices();
            vertices.iter().map(|vertex| DyadicVector::placed(vertex, placed)).collect()
        });
        Ok(Some(Self { p, q, directions }))
    }

    /// The least of `n·m` over M, as the sign that says whether M is beyond, on or across the plane
    /// through the origin.
    fn least(&self, n: &DyadicVector) -> Sign {
        let least_q = self.q.iter().map(|q| n.dot(q)).min().expect("a body has a vertex");
        let most_p = self.p.iter().map(|p| n.dot(p)).max().expect("a body has a vertex");
        (&least_q - &most_p).sign()
    }

    /// Every normal of a facet of M within the space that M spans, in both senses. None if the
    /// origin is not in that space; then the second is a direction across it.
    fn normals(&self) -> Result<(u8, Vec<DyadicVector>), DyadicVector> {
        let any = self.q[0].minus(&self.p[0]);
        let [first, rest @ ..] = self.directions.as_slice() else {
            return if any.is_zero() { Ok((0, Vec::new())) } else { Err(any) };
        };
        let Some(second) = rest.first() else {
            // A line: the part of `any` across it, or both of its ends.
            let normal = first.cross(&any).cross(first);
            return if normal.is_zero() { Ok((1, vec![first.clone()])) } else { Err(normal) };
        };
        let plane = first.cross(second);
        let solid = rest.iter().any(|d| plane.dot(d).sign() != Sign::Zero);
        if solid {
            let all = &self.directions;
            let pairs =
                all.iter().enumerate().flat_map(|(i, a)| all[..i].iter().map(move |b| (a, b)));
            return Ok((3, pairs.map(|(a, b)| a.cross(b)).collect()));
        }
        match plane.dot(&any).sign() {
            Sign::Zero => Ok((2, self.directions.iter().map(|d| d.cross(&plane)).collect())),
            Sign::Positive => Err(plane),
            Sign::Negative => Err(plane.negated()),
        }
    }
}

/// The verdict and, if separated, a direction that shows it.
fn verdict(
    bodies: &EdgeDirections,
    effort: &mut Effort<'_>,
) -> Result<(Verdict, Option<DyadicVector>), Stopped> {
    let (dimension, normals) = match bodies.normals() {
        Ok(normals) => normals,
        Err(across) => return Ok((Verdict::Separated, Some(across))),
    };
    let mut touching = dimension < 3;
    for normal in normals {
        effort.spend_step()?;
        let both: ArrayVec<_, 2> = [normal.negated(), normal].into();
        for n in both {
            match bodies.least(&n) {
                Sign::Positive => return Ok((Verdict::Separated, Some(n))),
                Sign::Zero => touching = true,
                Sign::Negative => {}
            }
        }
    }
    Ok((if touching { Verdict::Touching } else { Verdict::Overlapping }, None))
}
