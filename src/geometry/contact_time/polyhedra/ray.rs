//! Is a point inside a closed surface of triangles? The point-polytope algorithm of Joseph and
//! Plantinga 1987, §3.3, for three dimensions and with the hierarchy of boxes: a ray from a point
//! inside crosses the surface an odd number of times.
//!
//! The ray runs along x. The paper's special cases (it meets an edge or a vertex, or runs along a
//! facet) do not arise: the ray is moved aside by `(0, ε, ε²)` for an ε smaller than every positive
//! number, so a sign that is zero is that of its first derivative in ε that is not.

use dashu_int::IBig;

use super::tree::{Extent, Tree};
use crate::geometry::Vec3;
use crate::geometry::number::Sign;
use crate::geometry::number::scaled::{Integers, cross, difference, dot, sign};

/// Where a ray starts: an exact point, and a box that holds it.
pub(super) struct Start {
    /// On the exponent of the surface's points.
    pub(super) exact: Integers,
    pub(super) within: Extent,
}

/// Whether the ray along x from `start`, which is on no triangle, crosses an odd number of triangles
/// that `corners` gives.
pub(super) fn crosses_odd(
    start: &Start,
    (tree, boxes): (&Tree, &[Extent]),
    mut corners: impl FnMut(u32) -> Option<[Integers; 3]>,
) -> bool {
    let mut is_odd = false;
    let mut open = vec![tree.root()];
    while let Some(node) = open.pop() {
        let extent = &boxes[node.at as usize];
        let (from, to) = (&start.within.low, &start.within.high);
        let may_meet = extent.high.x >= from.x
            && (1..3).all(|k| extent.low[k] <= to[k] && from[k] <= extent.high[k]);
        if !may_meet {
            continue;
        }
        match node.children() {
            Some(halves) => open.extend(halves),
            None => {
                let met = corners(tree.triangle(node));
                is_odd ^= met.is_some_and(|triangle| crosses(&start.exact, &triangle));
            }
        }
    }
    is_odd
}

fn crosses(p: &Integers, triangle: &[Integers; 3]) -> bool {
    let [a, b, c] = triangle;
    let normal = cross(&difference(b, a), &difference(c, a));
    // Seen along x, the triangle is a segment, which the moved ray misses.
    let facing = sign(&normal[0]);
    if facing == Sign::Zero {
        return false;
    }
    let is_within = [[a, b], [b, c], [c, a]].iter().all(|[u, v]| turn(p, u, v) == facing);
    // The plane is met at `x = p.x + above / normal.x`.
    let ahead = -dot(&normal, &difference(p, a));
    is_within && sign(&(ahead * &normal[0])) == Sign::Positive
}

/// How `p`, `u`, `v` turn seen from the end of x, with p moved by `(ε, ε²)` in y and z: the sign of
/// `(u - p) x (v - p) - (ε, ε²) x (v - u)`. Not zero unless u is v.
fn turn(p: &Integers, u: &Integers, v: &Integers) -> Sign {
    let minor = (&u[1] - &p[1]) * (&v[2] - &p[2]) - (&u[2] - &p[2]) * (&v[1] - &p[1]);
    let terms: [IBig; 3] = [minor, &u[2] - &v[2], &v[1] - &u[1]];
    terms.iter().map(sign).find(|s| *s != Sign::Zero).unwrap_or(Sign::Zero)
}

/// A box around rounded coordinates that err by at most `slack`.
pub(super) fn around(p: &Vec3, slack: f64) -> Extent {
    Extent { low: p.map(|x| (x - slack).next_down()), high: p.map(|x| (x + slack).next_up()) }
}
