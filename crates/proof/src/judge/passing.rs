//! The judge of three or four pairs whose polygon the origin passes through within the bracket: of
//! a point that goes through a flat polygon, a rod that goes across a rod, or a plate that goes
//! through one beside which it stays. No hull of their differences ever has the origin strictly
//! inside.
//!
//! The differences d0, d1, ... are the corners in order around. They stay in a plane, three anyway
//! and four of a flat difference since what moves the vertices of a body is linear in them; and `n
//! = (d2 - d0) × (d3 - d1)`, of a triangle with d3 = d0, is across it: the sum of all `d_k ×
//! d_{k+1}`. With the foot of the origin on the plane taken off the corners, `n·(d_k × d_{k+1})`
//! stays as it is. Where all of these are positive n is not zero, and from the foot each corner is
//! less than half a turn to the left of the one before: all around, so that the foot is strictly
//! inside. If that holds throughout and `n·d0` changes its sign, the origin has been its own foot
//! at some time.

use super::exact::{Exact, is_zero, minus, scalar_product, vector_product};
use super::link::Movers;
use crate::Vec3;
use crate::claim::Bodies;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::number::interval::{Interval, IntervalVec, cross, dot, sub};

/// How often a bracket is halved: those of the parts of a body may be much narrower than its own,
/// and end where it ends.
const HALVINGS: u32 = 64;

/// Whether so many differences stay in a plane: three, and four where the difference of the bodies
/// is flat at every time, as far as their dimensions tell: of a point and a polygon, or two rods.
/// (What goes into a solid comes to be inside, and has pairs that hold the origin strictly so.)
pub(super) fn stays_flat(bodies: &Bodies<'_>, count: usize) -> bool {
    let dimensions = || [bodies.p.points, bodies.q.points].map(dimension);
    match count {
        3 => !dimensions().contains(&3),
        4 => dimensions().iter().sum::<u32>() <= 2,
        _ => false,
    }
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

/// Whether the origin surely passes through the polygon of these vertices' differences (P's, Q's)
/// between two times. Of four, the bodies are flat.
pub(super) fn surely_passes(
    movers: &Movers,
    vertices: &[[&Vec3; 2]],
    [from, to]: [f64; 2],
) -> bool {
    let mut width = to - from;
    (0..HALVINGS).any(|_| {
        let passed = passes_between(movers, vertices, [to - width, to]);
        width *= 0.5;
        passed
    })
}

fn passes_between(movers: &Movers, vertices: &[[&Vec3; 2]], [from, to]: [f64; 2]) -> bool {
    let at = |t: f64| -> Vec<IntervalVec> {
        let trigs = (movers.p.track.trig(t), movers.q.track.trig(t));
        let difference = |[v, w]: &[&Vec3; 2]| movers.difference((v, w), (&trigs.0, &trigs.1), t);
        vertices.iter().map(difference).collect()
    };
    let (before, after) = (at(from), at(to));
    let side = |d: &[IntervalVec]| dot(&normal(d), &d[0]).sign();
    let (Some(first), Some(last)) = (side(&before), side(&after)) else { return false };
    // In between no difference is farther from where it ends than this.
    let span = Interval::difference(to, from) * Interval::point(movers.speed());
    let widened = |d: &IntervalVec| d.map(|c| c + Interval::around(0.0, span.high()));
    let during: Vec<IntervalVec> = after.iter().map(widened).collect();
    let normal = normal(&during);
    let is_left = |k: usize| {
        let turn = dot(&normal, &cross(&during[k], &during[(k + 1) % during.len()]));
        turn.sign() == Some(Sign::Positive)
    };
    first != Sign::Zero && last == -first && (0..during.len()).all(is_left)
}

/// The normal of a polygon of three or four corners.
fn normal(d: &[IntervalVec]) -> IntervalVec {
    cross(&sub(&d[2], &d[0]), &sub(&d[3 % d.len()], &d[1]))
}
