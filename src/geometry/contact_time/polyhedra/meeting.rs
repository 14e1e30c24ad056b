//! Whether two closed triangles share a point, from orientation predicates alone.
//!
//! Two triangles meet just when an edge of one meets the other triangle: where their intersection is
//! a segment its ends are on edges, and where it is a polygon so are its corners.

use crate::geometry::number::orientation::{Axis, Side, Turn};

/// Exact predicates on points that are only named.
pub(super) trait Sight {
    /// The name of a point.
    type Point: Copy;

    /// On which side of the plane through `a`, `b`, `c` with normal `(b - a) x (c - a)` is `p`?
    fn side(&mut self, plane: [Self::Point; 3], p: Self::Point) -> Side;

    /// Which way the path turns, seen from the positive end of the axis.
    fn turn(&mut self, axis: Axis, path: [Self::Point; 3]) -> Turn;
}

/// How two closed sets of points stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Meet {
    /// They share no point.
    Apart,
    /// They share a point.
    Touch,
    /// An edge goes through the inside of a triangle from one side to the other.
    Cross,
}

/// Whether two triangles meet; neither is degenerate.
pub(super) fn triangles_meet<S: Sight>(sight: &mut S, a: [S::Point; 3], b: [S::Point; 3]) -> Meet {
    let sides_b = b.map(|p| sight.side(a, p));
    if is_all_off(sides_b) {
        return Meet::Apart;
    }
    let sides_a = a.map(|p| sight.side(b, p));
    if is_all_off(sides_a) {
        return Meet::Apart;
    }
    let mut found = Meet::Apart;
    for k in 0..3 {
        let l = (k + 1) % 3;
        found = found.max(seen_from(sight, [a[k], a[l]], [sides_a[k], sides_a[l]], b));
        found = found.max(seen_from(sight, [b[k], b[l]], [sides_b[k], sides_b[l]], a));
        if found == Meet::Cross {
            break;
        }
    }
    found
}

/// Whether a segment meets a triangle; neither is degenerate.
pub(super) fn segment_meets_triangle<S: Sight>(
    sight: &mut S,
    ends: [S::Point; 2],
    triangle: [S::Point; 3],
) -> Meet {
    let sides = ends.map(|p| sight.side(triangle, p));
    seen_from(sight, ends, sides, triangle)
}

fn is_all_off(sides: [Side; 3]) -> bool {
    sides[0] != Side::On && sides.iter().all(|side| *side == sides[0])
}

/// With the sides of the triangle's plane that the ends are on.
fn seen_from<S: Sight>(
    sight: &mut S,
    [p, q]: [S::Point; 2],
    sides: [Side; 2],
    triangle: [S::Point; 3],
) -> Meet {
    match sides {
        [Side::On, Side::On] => within_plane(sight, [p, q], triangle),
        [Side::Above, Side::Above] | [Side::Below, Side::Below] => Meet::Apart,
        [Side::On | Side::Above | Side::Below, _] => {
            let [a, b, c] = triangle;
            let round = [[a, b], [b, c], [c, a]].map(|[x, y]| sight.side([p, q, x], y));
            if round.contains(&Side::Above) && round.contains(&Side::Below) {
                Meet::Apart
            } else if round.contains(&Side::On) || sides.contains(&Side::On) {
                Meet::Touch
            } else {
                Meet::Cross
            }
        }
    }
}

/// In one plane. The differences of a segment and a triangle are a polygon whose sides are parallel
/// to theirs; so, if they are apart, the line of one of their sides tells them apart.
fn within_plane<S: Sight>(sight: &mut S, [p, q]: [S::Point; 2], triangle: [S::Point; 3]) -> Meet {
    let seen = Axis::ALL.into_iter().find_map(|axis| match sight.turn(axis, triangle) {
        Turn::Straight => None,
        turn @ (Turn::Left | Turn::Right) => Some((axis, turn)),
    });
    let Some((axis, inner)) = seen else { return Meet::Touch };
    let [a, b, c] = triangle;
    let is_beyond = |turn: Turn| turn != Turn::Straight && turn != inner;
    for [x, y] in [[a, b], [b, c], [c, a]] {
        if is_beyond(sight.turn(axis, [x, y, p])) && is_beyond(sight.turn(axis, [x, y, q])) {
            return Meet::Apart;
        }
    }
    let across = triangle.map(|x| sight.turn(axis, [p, q, x]));
    if across[0] != Turn::Straight && across.iter().all(|turn| *turn == across[0]) {
        Meet::Apart
    } else {
        Meet::Touch
    }
}
