//! Whether two bodies share inner points where two of their triangles touch, from orientation
//! predicates alone.
//!
//! Let no two triangles cross. If a piece of P's surface is inside Q, then (the twin statement
//! holds with P and Q exchanged) one of these finds it:
//!
//! 1. The piece ends, within a triangle of P, at a line. There an edge of Q lies in the triangle,
//!    and Q reaches below it: [`Wedge::reaches_below`].
//! 2. Else it is a triangle of P without single points, and so are its neighbours over every edge
//!    that is not all on Q's surface. Where an edge is on it, it runs through a triangle of Q,
//!    which is 1 with P and Q exchanged, or along an edge of Q: [`wedges_meet`].
//! 3. Else it is a whole shell without single points: any triangle of it tells (`start`).
//!
//! If inner points are shared and no piece of either surface is inside the other body, then what is
//! shared is bounded by pieces of both surfaces at once, flat on each other and with one outside.
//! Such a piece ends at an edge where one of the surfaces bends and which is on the other: 1 and 2
//! find that the bodies share what is next to it.

use super::meeting::{Facing, Sight, seen_flat, sides_of};
use crate::number::orientation::{Side, Turn};

/// A triangle of a body's surface and its neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch<P> {
    /// Counter-clockwise from outside.
    pub(crate) corners: [P; 3],
    /// Edge k leads from corner k to the next; the third corner of the triangle beyond it.
    pub(crate) across: [P; 3],
    /// Which edges are tested on this triangle's behalf and not its neighbour's.
    pub(crate) owned: [bool; 3],
}

/// A body near the inside of an edge.
#[derive(Clone, Copy, Debug)]
struct Wedge<P> {
    ends: [P; 2],
    /// The third corners of the triangles that have the edge forwards and backwards. Seen with the
    /// edge coming towards the eye, the body is counter-clockwise from the second to the first.
    apexes: [P; 2],
}

impl<P: Copy> Patch<P> {
    /// The edges it owns whose ends are in a plane that the corners are on these sides of.
    fn edges_within(&self, sides: [Side; 3]) -> impl Iterator<Item = Wedge<P>> + '_ {
        (0..3).filter_map(move |k| {
            let [l, m] = [(k + 1) % 3, (k + 2) % 3];
            let is_within = self.owned[k] && sides[k] == Side::On && sides[l] == Side::On;
            is_within.then(|| Wedge {
                ends: [self.corners[k], self.corners[l]],
                apexes: [self.corners[m], self.across[k]],
            })
        })
    }
}

/// Whether the bodies certainly share inner points where the insides of edges and triangles meet
/// that these two own, for triangles that do not cross.
pub(crate) fn overlap_at<S: Sight>(
    sight: &mut S,
    p: &Patch<S::Point>,
    q: &Patch<S::Point>,
    facing: &Facing,
) -> bool {
    q.edges_within(facing.of_b).any(|edge| edge.reaches_below(sight, p.corners))
        || p.edges_within(facing.of_a).any(|edge| edge.reaches_below(sight, q.corners))
        || p.edges_within(facing.of_a)
            .any(|e| q.edges_within(facing.of_b).any(|f| wedges_meet(sight, &e, &f)))
}

/// Whether two triangles in one plane share inner points.
pub(crate) fn is_laid_on<S: Sight>(sight: &mut S, a: [S::Point; 3], b: [S::Point; 3]) -> bool {
    // If not, the line of a side tells them apart: that of a triangle whose other side is empty.
    let mut parts = |a: [S::Point; 3], b: [S::Point; 3]| {
        let (axis, inner) = seen_flat(sight, a);
        sides_of(a).iter().any(|&[x, y]| b.iter().all(|&c| sight.turn(axis, [x, y, c]) != inner))
    };
    !parts(a, b) && !parts(b, a)
}

impl<P: Copy> Wedge<P> {
    /// For an edge in the plane of a triangle: whether it goes through the inside of the triangle,
    /// and the wedge has inner points below it.
    ///
    /// A half-plane below has the wedge on one of its sides. With both half-planes above, or in the
    /// plane, the wedge is above too unless it is more than half of the space. With both in the
    /// plane the surface does not bend here, and wherever it does tells.
    fn reaches_below<S: Sight<Point = P>>(&self, sight: &mut S, triangle: [P; 3]) -> bool {
        goes_through(sight, self.ends, triangle)
            && (self.apexes.iter().any(|&apex| sight.side(triangle, apex) == Side::Below)
                || self.is_reflex(sight))
    }

    /// Whether the body is more than half of the space around the edge.
    fn is_reflex<S: Sight<Point = P>>(&self, sight: &mut S) -> bool {
        let ([u, v], [first, second]) = (self.ends, self.apexes);
        sight.side([u, v, first], second) == Side::Above
    }
}

/// For an edge of a region in the plane of a triangle, with its apexes: a corner of the triangle,
/// by its place, on whose side of the edge the region is where the edge goes through the inside of
/// the triangle.
pub(crate) fn reaches_within<S: Sight>(
    sight: &mut S,
    ends: [S::Point; 2],
    [first, second]: [S::Point; 2],
    triangle: [S::Point; 3],
) -> Option<usize> {
    if !goes_through(sight, ends, triangle) {
        return None;
    }
    let (axis, _) = seen_flat(sight, triangle);
    let [u, v] = ends;
    (0..3).find(|&k| {
        let corner = triangle[k];
        sight.turn(axis, [u, v, corner]) != Turn::Straight
            && Around::between(sight, ends, second, corner) != Around::Same
            && starts_within(sight, ends, corner, [second, first])
    })
}

/// In one plane: whether a segment goes through the inside of a triangle.
fn goes_through<S: Sight>(sight: &mut S, [p, q]: [S::Point; 2], triangle: [S::Point; 3]) -> bool {
    let (axis, inner) = seen_flat(sight, triangle);
    let is_level = sides_of(triangle).iter().all(|&[x, y]| {
        sight.turn(axis, [x, y, p]) == inner || sight.turn(axis, [x, y, q]) == inner
    });
    is_level && {
        let across = triangle.map(|x| sight.turn(axis, [p, q, x]));
        across.contains(&Turn::Left) && across.contains(&Turn::Right)
    }
}

/// Whether two edges share inner points along a line, and the wedges there do too.
///
/// The ends of `f` are in the plane of `e` and its first apex.
fn wedges_meet<S: Sight>(sight: &mut S, e: &Wedge<S::Point>, f: &Wedge<S::Point>) -> bool {
    let ([u, v], [g, h], apex) = (e.ends, f.ends, e.apexes[0]);
    let (axis, forwards) = seen_flat(sight, [u, v, apex]);
    let mut turn = |path: [S::Point; 3]| sight.turn(axis, path);
    let is_on_line = turn([u, v, g]) == Turn::Straight && turn([u, v, h]) == Turn::Straight;
    // From the apex, points farther along the line are farther around.
    let is_shared = is_on_line
        && (turn([apex, u, g]) == forwards || turn([apex, u, h]) == forwards)
        && (turn([apex, g, v]) == forwards || turn([apex, h, v]) == forwards);
    if !is_shared {
        return false;
    }
    let [s, t] = f.apexes;
    let of_f = if turn([apex, g, h]) == forwards { [t, s] } else { [s, t] };
    let of_e = [e.apexes[1], e.apexes[0]];
    // Where two sectors share inner points, one of them begins in the other.
    starts_within(sight, [u, v], of_f[0], of_e) || starts_within(sight, [u, v], of_e[0], of_f)
}

/// Where a half-plane is, seen with their common edge coming towards the eye: how far
/// counter-clockwise from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Around {
    /// The two directions are equal.
    Same,
    /// Less than half a turn.
    Less,
    /// Half a turn.
    Half,
    /// More than half a turn.
    More,
}

impl Around {
    /// From the half-plane of `from` to that of `to`, both bounded by the line through two points.
    fn between<S: Sight>(
        sight: &mut S,
        [u, v]: [S::Point; 2],
        from: S::Point,
        to: S::Point,
    ) -> Self {
        match sight.side([u, v, from], to) {
            Side::Above => Self::Less,
            Side::Below => Self::More,
            Side::On => {
                let (axis, turn) = seen_flat(sight, [u, v, from]);
                if sight.turn(axis, [u, v, to]) == turn { Self::Same } else { Self::Half }
            }
        }
    }
}

/// Whether the half-plane of `x` is in the sector counter-clockwise from that of `from`, which
/// counts, to that of `to`, which does not.
fn starts_within<S: Sight>(
    sight: &mut S,
    line: [S::Point; 2],
    x: S::Point,
    [from, to]: [S::Point; 2],
) -> bool {
    let at = Around::between(sight, line, from, x);
    let end = Around::between(sight, line, from, to);
    match at.cmp(&end) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Greater => false,
        // Within the same half turn.
        std::cmp::Ordering::Equal => {
            matches!(at, Around::Less | Around::More)
                && Around::between(sight, line, x, to) == Around::Less
        }
    }
}
