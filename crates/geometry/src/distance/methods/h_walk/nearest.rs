//! The nearest points of two features, and the least features that hold them.
//!
//! Features are simplices here: a vertex, an edge or a triangle, by their corners. Points are
//! rounded; nothing is proven.

use crate::Vec3;
use crate::number::rounding::UNIT;

/// Some corners of a simplex, one bit each.
pub(super) type Corners = u8;

/// Two nearest points.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearestPoints {
    /// In the first simplex.
    pub(super) x: Vec3,
    /// In the second.
    pub(super) y: Vec3,
    /// Corners of the least face of the first simplex with x in it.
    pub(super) of_x: Corners,
    /// Corners of the least face of the second simplex with y in it.
    pub(super) of_y: Corners,
    /// Their squared distance.
    pub(super) squared: f64,
}

/// A point of a simplex and the corners of the least face it is in.
type EdgeFoot = (Vec3, Corners);

/// Two lines whose angle has a squared sine below this count as parallel: the places of their
/// nearest points have an error of a rounding over the squared sine, so they are lost, and an end
/// of one of the edges is as near.
const PARALLEL_SINE_SQUARED: f64 = UNIT;

impl NearestPoints {
    fn new((x, of_x): EdgeFoot, (y, of_y): EdgeFoot) -> Self {
        Self { x, y, of_x, of_y, squared: (y - x).norm_squared() }
    }

    fn swapped(self) -> Self {
        Self { x: self.y, y: self.x, of_x: self.of_y, of_y: self.of_x, squared: self.squared }
    }
}

/// The nearest points of two simplices of at most three corners each and not three each; `None`
/// when an edge pierces a triangle.
pub(super) fn nearest(p: &[Vec3], q: &[Vec3]) -> Option<NearestPoints> {
    let whole = |simplex: &[Vec3]| (1 << simplex.len()) - 1;
    match (p, q) {
        ([x], _) => Some(NearestPoints::new((*x, 1), foot(x, q))),
        (_, [y]) => Some(NearestPoints::new(foot(y, p), (*y, 1))),
        ([a, b], [c, d]) => Some(edge_to_edge([a, b], [c, d])),
        ([a, b], [..]) => edge_to_triangle([a, b], q, whole(q)),
        ([..], [c, d]) => edge_to_triangle([c, d], p, whole(p)).map(NearestPoints::swapped),
        // Two triangles: the walk never asks; a corner stands for the first.
        ([x, ..], _) => Some(NearestPoints::new((*x, 1), foot(x, q))),
        ([], _) => None,
    }
}

/// The point of a simplex nearest `to`.
fn foot(to: &Vec3, simplex: &[Vec3]) -> EdgeFoot {
    match simplex {
        [a, b] => foot_on_edge(to, a, b),
        [a, b, c, ..] => foot_on_triangle(to, a, b, c),
        [a] => (*a, 1),
        [] => (*to, 0),
    }
}

fn foot_on_edge(to: &Vec3, a: &Vec3, b: &Vec3) -> EdgeFoot {
    let edge = b - a;
    let (along, length) = ((to - a).dot(&edge), edge.norm_squared());
    // False for coinciding ends too, which keep the first.
    let is_beyond_a = along > 0.0;
    if !is_beyond_a {
        (*a, 0b01)
    } else if along >= length {
        (*b, 0b10)
    } else {
        (a + edge * (along / length), 0b11)
    }
}

/// By Voronoi regions of the triangle; C. Ericson, *Real-Time Collision Detection*, 2005, §5.1.5.
fn foot_on_triangle(to: &Vec3, a: &Vec3, b: &Vec3, c: &Vec3) -> EdgeFoot {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(&ac);
    let beyond = |from: &Vec3, edge: &Vec3| normal.dot(&edge.cross(&(to - from)));
    let inside = beyond(a, &ab) > 0.0 && beyond(b, &(c - b)) > 0.0 && beyond(c, &-ac) > 0.0;
    if inside {
        let height = normal.dot(&(to - a)) / normal.norm_squared();
        return (to - normal * height, 0b111);
    }
    // On the border, which for an obtuse triangle need not be the edge whose plane is violated
    // most.
    let relabelled = |(point, corners): EdgeFoot, first: Corners, second: Corners| {
        let of = |bit: Corners, name: Corners| if corners & bit == 0 { 0 } else { name };
        (point, of(0b01, first) | of(0b10, second))
    };
    let feet = [
        relabelled(foot_on_edge(to, a, b), 0b001, 0b010),
        relabelled(foot_on_edge(to, b, c), 0b010, 0b100),
        relabelled(foot_on_edge(to, c, a), 0b100, 0b001),
    ];
    let distance = |foot: &EdgeFoot| (to - foot.0).norm_squared();
    let nearer = |best: EdgeFoot, next: EdgeFoot| {
        if distance(&next) < distance(&best) { next } else { best }
    };
    nearer(nearer(feet[0], feet[1]), feet[2])
}

/// Inside both edges where the lines come nearest, else at an end of one of them.
fn edge_to_edge([a, b]: [&Vec3; 2], [c, d]: [&Vec3; 2]) -> NearestPoints {
    let (u, v, w) = (b - a, d - c, c - a);
    let (uu, uv, vv) = (u.norm_squared(), u.dot(&v), v.norm_squared());
    let determinant = u.cross(&v).norm_squared();
    if determinant > PARALLEL_SINE_SQUARED * uu * vv {
        let (uw, vw) = (u.dot(&w), v.dot(&w));
        let s = (vv * uw - uv * vw) / determinant;
        let t = (uv * uw - uu * vw) / determinant;
        let is_inside = |x: f64| x > 0.0 && x < 1.0;
        if is_inside(s) && is_inside(t) {
            return NearestPoints::new((a + u * s, 0b11), (c + v * t, 0b11));
        }
    }
    let ends = [
        NearestPoints::new((*a, 0b01), foot_on_edge(a, c, d)),
        NearestPoints::new((*b, 0b10), foot_on_edge(b, c, d)),
        NearestPoints::new(foot_on_edge(c, a, b), (*c, 0b01)),
        NearestPoints::new(foot_on_edge(d, a, b), (*d, 0b10)),
    ];
    least(ends)
}

/// `None` when the edge pierces the triangle.
fn edge_to_triangle(
    [a, b]: [&Vec3; 2],
    triangle: &[Vec3],
    whole: Corners,
) -> Option<NearestPoints> {
    let &[c, d, e, ..] = triangle else { return None };
    let normal = (d - c).cross(&(e - c));
    let (above_a, above_b) = (normal.dot(&(a - c)), normal.dot(&(b - c)));
    if above_a * above_b < 0.0 {
        let crossing = a + (b - a) * (above_a / (above_a - above_b));
        if foot(&crossing, triangle).1 == whole {
            return None;
        }
    }
    let side = |k: usize, from: &Vec3, to: &Vec3| {
        let mut found = edge_to_edge([a, b], [from, to]);
        let (first, second) = (1 << k, 1 << ((k + 1) % 3));
        let of = |bit: Corners, name: Corners| if found.of_y & bit == 0 { 0 } else { name };
        found.of_y = of(0b01, first) | of(0b10, second);
        found
    };
    Some(least([
        side(0, &c, &d),
        side(1, &d, &e),
        side(2, &e, &c),
        NearestPoints::new((*a, 0b01), foot(a, triangle)),
        NearestPoints::new((*b, 0b10), foot(b, triangle)),
    ]))
}

/// The first of the least.
fn least<const N: usize>(candidates: [NearestPoints; N]) -> NearestPoints {
    candidates
        .into_iter()
        .reduce(|best, next| if next.squared < best.squared { next } else { best })
        .expect("there are some")
}
