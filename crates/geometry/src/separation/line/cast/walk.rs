//! The walk: uphill over the normals of M.
//!
//! Directions along which one vertex of M is the least are a cell; there `f(s) = s·d` for that
//! vertex d, and grows fastest along what of d is across the ray. Cells meet in ridges, where an
//! edge of M is least, and ridges in the normals of facets. The maximum of f is at the facet that
//! has the ray's line in it; elsewhere there is a way up: through the cell to its border, then on
//! into the next cell, or along the ridge between the two, up to the next normal of a facet. That
//! is the simplex method on a linear program whose rows are the vertices of M, none of which is
//! looked at but the neighbours of d: an edge of M at d is an edge of P or of Q there.
//!
//! Ends where a facet has too many corners, or features of P and Q are parallel; then it may go
//! round, and gives up after some cells.

use std::hint::select_unpredictable;

use super::{Cast, Scene};
use crate::Vec3;
use crate::difference::RoundedCorner;
use crate::effort::{Effort, Stopped};
use crate::pair::VertexPair;
use crate::support::{Challenger, first_challenger};

/// Cells that a walk enters before it gives up.
const CELLS_MAX: u32 = 32;

/// A direction, in the world and along which each body has its supporting vertex.
#[derive(Clone, Copy)]
struct Gaze {
    s: Vec3,
    in_p: Vec3,
    in_q: Vec3,
}

impl Gaze {
    #[inline(always)]
    fn along(scene: &Scene<'_>, s: Vec3) -> Self {
        Self {
            s,
            in_p: scene.pair.p.pose.direction_to_body_rounded(&s),
            in_q: -scene.pair.q.pose.direction_to_body_rounded(&s),
        }
    }

    #[inline(always)]
    fn turned(&self, turn: &Self, by: f64) -> Self {
        Self {
            s: self.s + turn.s * by,
            in_p: self.in_p + turn.in_p * by,
            in_q: self.in_q + turn.in_q * by,
        }
    }
}

/// An edge of M at a corner.
#[derive(Clone, Copy)]
struct WalkEdge {
    /// Whether it is P's, not Q's.
    of_p: bool,
    /// The vertex of that body at its other end.
    to: u32,
    /// From the corner to its other end.
    span: Vec3,
    /// One over how much of the turn it takes until both ends are the least.
    inverse_time: f64,
}

impl WalkEdge {
    /// The corner at the other end.
    #[inline(always)]
    fn end(&self, from: &RoundedCorner) -> RoundedCorner {
        let VertexPair { i, j } = from.pair;
        let pair = VertexPair {
            i: if self.of_p { self.to } else { i },
            j: if self.of_p { j } else { self.to },
        };
        RoundedCorner { pair, point: from.point + self.span }
    }
}

/// The edge, other than `except`, that is first square to the direction as it turns.
#[inline(always)]
fn first_border(
    scene: &Scene<'_>,
    corner: &RoundedCorner,
    [gaze, turn]: [&Gaze; 2],
    except: Option<&WalkEdge>,
    effort: &mut Effort<'_>,
) -> Option<WalkEdge> {
    let (p, q) = (&scene.pair.p, &scene.pair.q);
    let VertexPair { i, j } = corner.pair;
    let not = |of_p: bool| except.filter(|edge| edge.of_p == of_p).map_or(u32::MAX, |edge| edge.to);
    let of_p = first_challenger(p.body, i, [&gaze.in_p, &turn.in_p], not(true), effort);
    let of_q = first_challenger(q.body, j, [&gaze.in_q, &turn.in_q], not(false), effort);
    // Which of them it is, is not predictable: so it is chosen, not asked for.
    let p_first = of_p.inverse_time > of_q.inverse_time;
    let placed = select_unpredictable(p_first, p, q);
    let from = select_unpredictable(p_first, i, j);
    let Challenger { vertex: to, inverse_time } = select_unpredictable(p_first, of_p, of_q);
    let sign = select_unpredictable(p_first, -1.0, 1.0);
    let span = placed.body.vertex(to) - placed.body.vertex(from);
    let edge =
        WalkEdge { of_p: p_first, to, span: placed.pose.rotation * (span * sign), inverse_time };
    Challenger { vertex: to, inverse_time }.exists().then_some(edge)
}

/// Walks from `s`, along which `corner` is the least; leaves both where it gives up.
#[inline(always)]
pub(super) fn walk(
    scene: &Scene<'_>,
    s: &mut Vec3,
    corner: &mut RoundedCorner,
    effort: &mut Effort<'_>,
) -> Result<Option<Cast>, Stopped> {
    let mut gaze = Gaze::along(scene, *s);
    let mut here = *corner;
    for _ in 0..CELLS_MAX {
        effort.spend_step()?;
        let start = gaze.s;
        let apart = |s: &Vec3| Some(Cast::Apart(within(scene, &here, [&start, s]), here.pair));
        // Uphill to the border of the cell.
        let aside = scene.across(&here.point);
        let turn = Gaze::along(scene, aside);
        let Some(first) = first_border(scene, &here, [&gaze, &turn], None, effort) else {
            return Ok(Some(Cast::Apart(aside, here.pair)));
        };
        gaze = gaze.turned(&turn, 1.0 / first.inverse_time);
        if scene.is_beyond(&gaze.s, &here) {
            return Ok(apart(&gaze.s));
        }
        // Where the ray is beside the edge: at its start if 0, at its end if 1. The product with u
        // is as long as u times what of the edge is across it, and soon known.
        let beside = scene.u.cross(&first.span);
        let share = -aside.dot(&first.span) * scene.u.norm_squared() / beside.norm_squared();
        if share > 1.0 {
            here = first.end(&here);
            continue;
        }
        // Along the ridge to the normal of a facet.
        let along_first = Gaze::along(scene, scene.across(&first.span));
        let turn = turn.turned(&along_first, share);
        let turning = [&gaze, &turn];
        let Some(second) = first_border(scene, &here, turning, Some(&first), effort) else {
            return Ok(Some(Cast::Apart(turn.s, here.pair)));
        };
        gaze = gaze.turned(&turn, 1.0 / second.inverse_time);
        if scene.is_beyond(&gaze.s, &here) {
            return Ok(apart(&gaze.s));
        }
        match pierce(scene, &here, &first, &second) {
            Pierced::Inside(pairs) => {
                let about = gaze.s.dot(&here.point) / gaze.s.dot(&scene.u);
                return Ok(Some(Cast::Enters(pairs, about)));
            }
            Pierced::Near(next) => here = next,
        }
    }
    (*s, *corner) = (gaze.s, here);
    Ok(None)
}

/// Between two directions along which the corner is the least, the second beyond the ray: one that
/// is beyond it by half as much, and not, like the second, square to an edge.
#[inline(always)]
fn within(scene: &Scene<'_>, corner: &RoundedCorner, [from, to]: [&Vec3; 2]) -> Vec3 {
    let excess = |s: &Vec3| {
        let value = s.dot(&corner.point);
        value.min(value - scene.limit * s.dot(&scene.u))
    };
    let (low, high) = (excess(from).min(0.0), excess(to));
    to + (from - to) * (0.5 * high / (high - low))
}

/// Where the ray's line pierces the plane of two edges at a corner.
enum Pierced {
    /// Between these corners of the facet.
    Inside([VertexPair; 3]),
    /// Outside of the facet, nearest to this of its corners.
    Near(RoundedCorner),
}

#[inline(always)]
fn pierce(
    scene: &Scene<'_>,
    corner: &RoundedCorner,
    first: &WalkEdge,
    second: &WalkEdge,
) -> Pierced {
    // `u · (a x b)` for all pairs of the edges and the corner.
    let (of_first, of_corner) = (scene.u.cross(&first.span), scene.u.cross(&corner.point));
    let turn = of_first.dot(&second.span);
    let sign = if turn < 0.0 { -1.0 } else { 1.0 };
    // The line is at corner + a first + b second, both times `whole`, which is not negative.
    let whole = sign * turn;
    let a = -sign * of_corner.dot(&second.span);
    let b = -sign * of_first.dot(&corner.point);
    let inside = (a >= 0.0) & (b >= 0.0);
    let (by_first, by_second) = (first.end(corner), second.end(corner));
    if first.of_p == second.of_p {
        return if !inside {
            Pierced::Near(by_second)
        } else if a + b <= whole {
            Pierced::Inside([corner.pair, by_first.pair, by_second.pair])
        } else {
            pierce_beyond(scene, *corner, [*first, *second])
        };
    }
    let opposite = second.end(&by_first);
    if !(inside & (a <= whole) & (b <= whole)) {
        return Pierced::Near(if a > 0.5 * whole { opposite } else { by_second });
    }
    // A parallelogram: halved by the diagonal that is farther from the line.
    let pairs = if (whole - a - b).abs() >= (a - b).abs() {
        let third = if a + b <= whole { corner } else { &opposite };
        [third.pair, by_first.pair, by_second.pair]
    } else {
        let third = if a > b { by_first } else { by_second };
        [corner.pair, third.pair, opposite.pair]
    };
    Pierced::Inside(pairs)
}

/// Where the line pierces a facet of one body that may have more corners, if the line is between
/// the two edges and beyond the line through their ends: which of the triangles at the corner it is
/// in.
#[inline(never)]
fn pierce_beyond(scene: &Scene<'_>, corner: RoundedCorner, edges: [WalkEdge; 2]) -> Pierced {
    let of_p = edges[0].of_p;
    let (body, hub) =
        if of_p { (scene.pair.p.body, corner.pair.i) } else { (scene.pair.q.body, corner.pair.j) };
    let ring = body.neighbours(hub);
    let follow = |a: u32, b: u32| {
        let after = ring.iter().cycle().skip(1);
        ring.iter().zip(after).any(|(x, y)| (*x, *y) == (a, b))
    };
    // The facet is on the left of the edge that comes before the other counter-clockwise.
    let [start, end] = edges;
    let [start, end] = if follow(start.to, end.to) { [start, end] } else { [end, start] };
    let area = |a: &Vec3, b: &Vec3| scene.u.dot(&a.cross(b));
    let turn = area(&start.span, &end.span).signum();
    let mut last = start.end(&corner);
    for vertex in body.along_facet(hub, start.to).skip(1) {
        let next = if of_p {
            scene.corner(VertexPair { i: vertex, ..corner.pair })
        } else {
            scene.corner(VertexPair { j: vertex, ..corner.pair })
        };
        let is_between = turn * area(&(next.point - corner.point), &corner.point) >= 0.0;
        if is_between {
            let is_inside = turn * area(&(next.point - last.point), &last.point) <= 0.0;
            if is_inside {
                return Pierced::Inside([corner.pair, last.pair, next.pair]);
            }
            let far = |corner: &RoundedCorner| scene.across(&corner.point).norm_squared();
            return Pierced::Near(if far(&last) < far(&next) { last } else { next });
        }
        last = next;
    }
    Pierced::Near(edges[1].end(&corner))
}
