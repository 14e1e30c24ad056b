//! The judge of three pairs whose triangle the origin passes through within the bracket: of a point that goes
//! through a flat polygon, or a rod that goes across a rod. No hull of their differences ever has the origin
//! strictly inside.
//!
//! With d0, d1, d2 the moving differences and `n = (d1 - d0) × (d2 - d0)`, the foot of the origin on their
//! plane has the weights `n·(d1 × d2)`, `n·(d2 × d0)`, `n·(d0 × d1)`, times |n|². Where all three are
//! positive the foot is strictly inside the triangle, and n is not zero; if that holds throughout and `n·d0`
//! changes its sign, the origin has been its own foot at some time.

use super::bodies::Bodies;
use super::judge::{Exact, is_zero, minus, scalar_product, vector_product};
use super::judge_link::Movers;
use crate::geometry::Vec3;
use crate::geometry::number::Sign;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::number::interval::{Interval, IntervalVec, cross, dot, sub};

/// How often a bracket is halved: those of the parts of a body may be much narrower than its own, and end where
/// it ends.
const HALVINGS: u32 = 64;

/// Whether the difference of two bodies is flat at every time, as far as their dimensions tell: of a point and
/// a polygon, or two rods. (Of others pairs are to hold the origin strictly inside.)
pub(super) fn are_flat(bodies: &Bodies<'_>) -> bool {
    dimension(bodies.p.points) + dimension(bodies.q.points) <= 2
}

/// The dimension of the points' hull, exactly.
fn dimension(points: &[Vec3]) -> u32 {
    let from_first = |v: &Vec3| -> Exact {
        let exact = |v: &Vec3| std::array::from_fn(|k| Dyadic::from(v[k]));
        minus(&exact(v), &exact(&points[0]))
    };
    let edges = || points.iter().map(from_first);
    let Some(along) = edges().find(|edge| !is_zero(edge)) else { return 0 };
    let across = edges().map(|edge| vector_product(&along, &edge)).find(|n| !is_zero(n));
    let Some(normal) = across else { return 1 };
    let is_flat = edges().all(|edge| scalar_product(&normal, &edge).sign() == Sign::Zero);
    if is_flat { 2 } else { 3 }
}

/// Whether the origin surely passes through the triangle of these vertices' differences (P's, Q's) between
/// two times.
pub(super) fn surely_passes(
    movers: &Movers,
    vertices: &[[&Vec3; 2]; 3],
    [from, to]: [f64; 2],
) -> bool {
    let mut width = to - from;
    (0..HALVINGS).any(|_| {
        let passed = passes_between(movers, vertices, [to - width, to]);
        width *= 0.5;
        passed
    })
}

fn passes_between(movers: &Movers, vertices: &[[&Vec3; 2]; 3], [from, to]: [f64; 2]) -> bool {
    let at = |t: f64| {
        let trigs = (movers.p.track.trig(t), movers.q.track.trig(t));
        vertices.map(|[v, w]| movers.difference((v, w), (&trigs.0, &trigs.1), t))
    };
    let (before, after) = (at(from), at(to));
    let side = |d: &[IntervalVec; 3]| dot(&normal(d), &d[0]).sign();
    let (Some(first), Some(last)) = (side(&before), side(&after)) else { return false };
    // In between no difference is farther from where it ends than this.
    let span = Interval::difference(to, from) * Interval::point(movers.speed());
    let during = after.map(|d| d.map(|c| c + Interval::around(0.0, span.high())));
    let normal = normal(&during);
    let is_inside = |k: usize| {
        let weight = dot(&normal, &cross(&during[(k + 1) % 3], &during[(k + 2) % 3]));
        weight.sign() == Some(Sign::Positive)
    };
    first != Sign::Zero && last == -first && (0..3).all(is_inside)
}

fn normal([a, b, c]: &[IntervalVec; 3]) -> IntervalVec {
    cross(&sub(b, a), &sub(c, a))
}
