//! Whether two closed triangles share a point, from orientation predicates alone.
//!
//! Triangles that go through each other's planes are compared on the line that the planes share.
//! Any others meet just when an edge of one meets the other triangle: where their intersection is a
//! segment its ends are on edges, and where it is a polygon so are its corners.

use crate::number::orientation::{Axis, Side, Turn};

/// Exact predicates on points that are only named.
pub(crate) trait Sight {
    /// The name of a point.
    type Point: Copy;

    /// On which side of the plane through `a`, `b`, `c` with normal `(b - a) x (c - a)` is `p`?
    fn side(&mut self, plane: [Self::Point; 3], p: Self::Point) -> Side;

    /// Which way the path turns, seen from the positive end of the axis.
    fn turn(&mut self, axis: Axis, path: [Self::Point; 3]) -> Turn;
}

/// How two closed triangles stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meet {
    /// They share no point.
    Apart,
    /// They share a point.
    Touch,
    /// Inner points of both are one, and their planes are not.
    Cross,
}

/// On which sides of each other's planes the corners of two triangles are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facing {
    /// Those of the first triangle.
    pub(crate) of_a: [Side; 3],
    /// Those of the second.
    pub(crate) of_b: [Side; 3],
}

impl Facing {
    /// None if one triangle is all on one side of the other's plane.
    pub(crate) fn of<S: Sight>(sight: &mut S, a: [S::Point; 3], b: [S::Point; 3]) -> Option<Self> {
        let of_b = b.map(|p| sight.side(a, p));
        if is_all_off(of_b) {
            return None;
        }
        let of_a = a.map(|p| sight.side(b, p));
        (!is_all_off(of_a)).then_some(Self { of_a, of_b })
    }

    /// Whether the triangles are in one plane.
    pub(crate) fn is_flat(&self) -> bool {
        self.of_a == [Side::On; 3]
    }

    /// How the triangles stand; neither is degenerate.
    pub(crate) fn meet<S: Sight>(&self, sight: &mut S, a: [S::Point; 3], b: [S::Point; 3]) -> Meet {
        if is_split(self.of_a) && is_split(self.of_b) {
            return along_common_line(sight, a, self.of_a, b, self.of_b);
        }
        let meets = (0..3).any(|k| {
            let l = (k + 1) % 3;
            seen_from(sight, [a[k], a[l]], [self.of_a[k], self.of_a[l]], b)
                || seen_from(sight, [b[k], b[l]], [self.of_b[k], self.of_b[l]], a)
        });
        if meets { Meet::Touch } else { Meet::Apart }
    }
}

/// Whether two triangles share a point; neither is degenerate.
pub(crate) fn triangles_meet<S: Sight>(sight: &mut S, a: [S::Point; 3], b: [S::Point; 3]) -> bool {
    Facing::of(sight, a, b).is_some_and(|facing| facing.meet(sight, a, b) != Meet::Apart)
}

/// Whether a segment meets a triangle; neither is degenerate.
pub(crate) fn segment_meets_triangle<S: Sight>(
    sight: &mut S,
    ends: [S::Point; 2],
    triangle: [S::Point; 3],
) -> bool {
    let sides = ends.map(|p| sight.side(triangle, p));
    seen_from(sight, ends, sides, triangle)
}

fn is_all_off(sides: [Side; 3]) -> bool {
    sides[0] != Side::On && sides.iter().all(|side| *side == sides[0])
}

fn is_split(sides: [Side; 3]) -> bool {
    sides.contains(&Side::Above) && sides.contains(&Side::Below)
}

/// Whether two triangles meet that go through each other's planes. Both cut the line that the
/// planes share in a segment; how the segments stand is told by which end comes first (Guigue,
/// Devillers, *Fast and robust triangle-triangle overlap test using orientation predicates*, 2003).
///
/// Turn both triangles so that their first corners are alone above the other's plane, and look at
/// the plane of `a` from its upper side, with `a[0]` on top:
///
/// ```text
///            a[0]
///            /  \\
///  ----[----i----j----]----   the common line; the ends of b are k on the right, l on the left
///      l   /      \\   k
///       a[1]      a[2]
/// ```
///
/// i is before k just when `b[1]` is below the plane through `a[0]`, `a[1]`, `b[0]`; in it, they
/// are one point. In the same way l is before j when `b[2]` is above that through `a[0]`, `a[2]`,
/// `b[0]`.
fn along_common_line<S: Sight>(
    sight: &mut S,
    a: [S::Point; 3],
    of_a: [Side; 3],
    b: [S::Point; 3],
    of_b: [Side; 3],
) -> Meet {
    let (a, side_a) = lone_corner_first(a, of_a);
    let (b, side_b) = lone_corner_first(b, of_b);
    // Seen from its other side, a triangle has what was below above.
    let a = if side_b == Side::Above { a } else { [a[0], a[2], a[1]] };
    let b = if side_a == Side::Above { b } else { [b[0], b[2], b[1]] };
    let i_and_k = sight.side([a[0], a[1], b[0]], b[1]);
    let l_and_j = sight.side([a[0], a[2], b[0]], b[2]);
    match (i_and_k, l_and_j) {
        (Side::Above, _) | (_, Side::Below) => Meet::Apart,
        (Side::Below, Side::Above) => Meet::Cross,
        (Side::On, _) | (_, Side::On) => Meet::Touch,
    }
}

/// The corners in the same sense of rotation from one on that is alone on its side of a plane.
fn lone_corner_first<P: Copy>(corners: [P; 3], sides: [Side; 3]) -> ([P; 3], Side) {
    let is_lone = |k: usize| {
        sides[k] != Side::On && sides[(k + 1) % 3] != sides[k] && sides[(k + 2) % 3] != sides[k]
    };
    let k = (0..3).find(|&k| is_lone(k)).expect("one of three on both sides is alone");
    ([corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]], sides[k])
}

/// Whether a segment meets a triangle, with the sides of the triangle's plane that its ends are on.
fn seen_from<S: Sight>(
    sight: &mut S,
    [p, q]: [S::Point; 2],
    sides: [Side; 2],
    triangle: [S::Point; 3],
) -> bool {
    match sides {
        [Side::On, Side::On] => within_plane(sight, [p, q], triangle),
        [Side::Above, Side::Above] | [Side::Below, Side::Below] => false,
        [Side::On | Side::Above | Side::Below, _] => {
            let round = sides_of(triangle).map(|[x, y]| sight.side([p, q, x], y));
            !(round.contains(&Side::Above) && round.contains(&Side::Below))
        }
    }
}

/// In one plane. The differences of a segment and a triangle are a polygon whose sides are parallel
/// to theirs; so, if they are apart, the line of one of their sides tells them apart.
fn within_plane<S: Sight>(sight: &mut S, [p, q]: [S::Point; 2], triangle: [S::Point; 3]) -> bool {
    let (axis, inner) = seen_flat(sight, triangle);
    let is_beyond = |turn: Turn| turn != Turn::Straight && turn != inner;
    for [x, y] in sides_of(triangle) {
        if is_beyond(sight.turn(axis, [x, y, p])) && is_beyond(sight.turn(axis, [x, y, q])) {
            return false;
        }
    }
    let across = triangle.map(|x| sight.turn(axis, [p, q, x]));
    across[0] == Turn::Straight || across.iter().any(|turn| *turn != across[0])
}

/// An axis that a triangle's plane is not parallel to, and how it turns seen along it.
pub(crate) fn seen_flat<S: Sight>(sight: &mut S, triangle: [S::Point; 3]) -> (Axis, Turn) {
    Axis::ALL
        .into_iter()
        .map(|axis| (axis, sight.turn(axis, triangle)))
        .find(|(_, turn)| *turn != Turn::Straight)
        .expect("a triangle is not degenerate")
}

pub(crate) fn sides_of<P: Copy>([a, b, c]: [P; 3]) -> [[P; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}
