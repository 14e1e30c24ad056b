//! The vertices of both bodies that support them along a direction, as a search finds them: likely
//! ones, which a proof then begins with.

use super::body::LastSupport;
use super::pair::MovingPair;
use crate::Vec3;
use crate::effort::Effort;
use crate::pair::VertexPair;
use crate::support::{Climb, likely_pair};

/// A vertex of the difference body M = Q - P at a time.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct MovingCorner {
    pub(in super::super) at: Vec3,
    pub(in super::super) pair: VertexPair,
}

/// The vertices of P and Q at which a search for a support ended, with the values that a proof of
/// it takes from a [`Climb`]. They are kept number by number: a `Climb` has gaps between its
/// fields, and copied as a block it goes through memory in pieces and waits there.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct SupportTops {
    vertices: [u32; 2],
    values: [f64; 2],
    runners_up: [f64; 2],
}

impl SupportTops {
    #[inline(always)]
    pub(super) fn of([p, q]: &[Climb; 2]) -> Self {
        Self {
            vertices: [p.vertex, q.vertex],
            values: [p.value, q.value],
            runners_up: [p.runner_up, q.runner_up],
        }
    }

    /// The climb that ended there, without what it took.
    #[inline(always)]
    pub(super) fn climb(&self, side: usize) -> Climb {
        let (vertex, value) = (self.vertices[side], self.values[side]);
        Climb { vertex, value, runner_up: self.runners_up[side], visited: 0, finished: true }
    }
}

/// A support that a search for the nearest point ended at.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct NearSupport<'n> {
    /// The direction that it supports, fixed in the world and of any length.
    pub(in super::super) direction: &'n Vec3,
    pub(in super::super) tops: &'n SupportTops,
    /// The corners near the support: the direction is at right angles to their feature.
    pub(in super::super) corners: &'n [MovingCorner],
}

/// The vertices that are very likely farthest along these directions, in P and in Q.
#[inline(always)]
pub(super) fn likely_tops(
    pair: &MovingPair<'_>,
    g: &[Vec3; 2],
    effort: &mut Effort<'_>,
) -> [Climb; 2] {
    let (p, q) = (&pair.p, &pair.q);
    let hints = [p.last.get().hint(&g[0]), q.last.get().hint(&g[1])];
    let tops = likely_pair([p.body, q.body], [&g[0], &g[1]], hints, effort);
    p.last.set(LastSupport::found(tops[0].vertex, &g[0]));
    q.last.set(LastSupport::found(tops[1].vertex, &g[1]));
    tops
}
