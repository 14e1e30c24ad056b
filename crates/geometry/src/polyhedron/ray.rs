//! Is a point inside a closed surface of triangles? The point-polytope algorithm of Joseph and
//! Plantinga 1987, §3.3, for three dimensions and with the hierarchy of boxes: a ray from a point
//! inside crosses the surface an odd number of times.
//!
//! The ray starts in a triangle, as close to its first corner and first edge as need be, and runs
//! along x. With the corners a, b and c its start is `a + δ (b - a) + δ² (c - a)` for a δ smaller
//! than every positive number. The paper's special cases (it meets an edge or a vertex, or runs
//! along a facet) do not arise: the ray is moved aside by `(0, ε, ε²)` for an ε smaller than every
//! power of δ. So a sign that is zero is that of its first derivative that is not.

use dashu_int::IBig;

use super::tree::{Extent, NodeBoxes};
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::scaled::{Integers, cross, difference, dot, sign};

/// Where a ray starts: an exact point and two small steps, and a box that holds the point.
pub(crate) struct Start {
    /// On the exponent of the surface's points.
    exact: Integers,
    steps: [Integers; 2],
    within: Extent,
}

impl Start {
    /// At a point, which is in the box.
    pub(crate) fn at(exact: Integers, within: Extent) -> Self {
        let none = || std::array::from_fn(|_| IBig::ZERO);
        Self { exact, steps: [none(), none()], within }
    }

    /// The box that holds the point.
    pub(crate) fn within(&self) -> &Extent {
        &self.within
    }

    /// In a triangle, next to its first corner, which is in the box.
    pub(crate) fn beside([a, b, c]: [Integers; 3], within: Extent) -> Self {
        let steps = [difference(&b, &a), difference(&c, &a)];
        Self { exact: a, steps, within }
    }
}

/// Whether the ray along x from `start`, which is on no such triangle, crosses an odd number of
/// triangles that `corners` gives. Each box is a step.
pub(crate) fn crosses_odd(
    start: &Start,
    boxed: &impl NodeBoxes,
    effort: &mut Effort<'_>,
    mut corners: impl FnMut(u32) -> Option<[Integers; 3]>,
) -> Result<bool, Stopped> {
    let tree = boxed.tree();
    let mut is_odd = false;
    let mut open = vec![tree.root()];
    while let Some(node) = open.pop() {
        effort.spend_step()?;
        let extent = boxed.extent(node);
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
                is_odd ^= met.is_some_and(|triangle| crosses(start, &triangle));
            }
        }
    }
    Ok(is_odd)
}

fn crosses(start: &Start, triangle: &[Integers; 3]) -> bool {
    let [a, b, c] = triangle;
    let normal = cross(&difference(b, a), &difference(c, a));
    // Seen along x, the triangle is a segment, which the moved ray misses.
    let facing = sign(&normal[0]);
    if facing == Sign::Zero {
        return false;
    }
    let is_within = [[a, b], [b, c], [c, a]].iter().all(|[u, v]| turn(start, u, v) == facing);
    // The plane is met at `x = p.x + above / normal.x`. A start in the plane is outside the
    // triangle.
    is_within && {
        let offset = dot(&normal, &difference(&start.exact, a));
        let above = first_sign(&offset, start.steps.iter().map(|step| dot(&normal, step)));
        above != Sign::Zero && above != facing
    }
}

/// How the start, `u` and `v` turn seen from the end of x: the sign of `(u - p) x (v - p)`, which
/// changes by `-s x (v - u)` when p is moved by s. Not zero unless u is v.
fn turn(start: &Start, u: &Integers, v: &Integers) -> Sign {
    let p = &start.exact;
    let minor = (&u[1] - &p[1]) * (&v[2] - &p[2]) - (&u[2] - &p[2]) * (&v[1] - &p[1]);
    let along = difference(v, u);
    let of_steps = start.steps.iter().map(|step| &step[2] * &along[1] - &step[1] * &along[2]);
    first_sign(&minor, of_steps.chain([-&along[2], along[1].clone()]))
}

/// The sign of the first number that is not zero.
fn first_sign(first: &IBig, others: impl IntoIterator<Item = IBig>) -> Sign {
    match sign(first) {
        Sign::Zero => {
            others.into_iter().map(|x| sign(&x)).find(|s| *s != Sign::Zero).unwrap_or(Sign::Zero)
        }
        found @ (Sign::Negative | Sign::Positive) => found,
    }
}

/// A box around rounded coordinates that err by at most `slack`.
pub(crate) fn around(p: &Vec3, slack: f64) -> Extent {
    Extent { low: p.map(|x| (x - slack).next_down()), high: p.map(|x| (x + slack).next_up()) }
}
