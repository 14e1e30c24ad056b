//! One body in motion, and its vertex that is farthest along a direction.

use std::cell::Cell;

use crate::Vec3;
use crate::effort::Effort;
use crate::kernel::along;
use crate::motion::{Motion, Plain, Track, Units};
use crate::number::interval::{self, Interval, IntervalVec, dot_exact};
use crate::number::rounding::{UNDERFLOW, gamma};
use crate::number::scale::PowerOfTwo;
use crate::pair::Placed;
use crate::polytope::Polytope;
use crate::shape::extent::Extent;
use crate::support::{Along, Climb, is_level_top, supporting_vertex};

/// Bodies of at most this many vertices are searched by evaluating all of them. Ties, which faces
/// at right angles to a heading make, are then settled by an error bound instead of exact
/// arithmetic.
const VALUED_MAX: u32 = 48;
/// The squared cosine of 1.3 degrees. A direction that has turned by less mostly keeps its
/// supporting vertex, so that beginning there costs less than looking a new start up; a direction
/// that has turned by four degrees loses it as often as not.
const CLOSE: f64 = 0.9995;

/// The vertex that supported a body last, and the direction along which it did.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct LastSupport {
    vertex: u32,
    along: Vec3,
}

impl LastSupport {
    const NONE: Self = Self { vertex: 0, along: Vec3::new(0.0, 0.0, 0.0) };

    /// The vertex, if the direction g is close enough to the last one for it to be the better
    /// start.
    #[inline(always)]
    pub(in super::super) fn hint(&self, g: &Vec3) -> Option<u32> {
        let cosine = g.dot(&self.along);
        let lengths = g.norm_squared() * self.along.norm_squared();
        (cosine > 0.0 && cosine * cosine > CLOSE * lengths).then_some(self.vertex)
    }

    #[inline(always)]
    pub(in super::super) fn found(vertex: u32, g: &Vec3) -> Self {
        Self { vertex, along: *g }
    }
}

/// One body in motion.
#[derive(Debug)]
pub(in super::super) struct MovingBody<'a> {
    pub(in super::super) body: &'a Polytope,
    pub(in super::super) track: Track,
    pub(in super::super) plain: Plain,
    pub(in super::super) extent: Extent,
    pub(in super::super) last: Cell<LastSupport>,
}

impl<'a> MovingBody<'a> {
    pub(super) fn new(placed: &Placed<'a>, motion: &Motion, scale: Option<PowerOfTwo>) -> Self {
        let body = placed.body;
        let bounds = body.bounds();
        let track = Track::new(&placed.pose, motion, Units::of(&bounds.low, &bounds.high, scale));
        let plain = Plain::new(&track);
        let extent = Extent::new(&track, &plain, body);
        Self { body, track, plain, extent, last: Cell::new(LastSupport::NONE) }
    }

    /// How far the vertices reach from the track's local origin, per coordinate: see
    /// [`Track::reach`].
    pub(in super::super) fn reach(&self) -> Vec3 {
        self.track.reach(&self.body.bounds().low, &self.body.bounds().high)
    }

    /// Bounds the body by its vertices instead of its ball, if it has at most so many; says whether
    /// that was new.
    pub(super) fn bound_by_vertices(&mut self, vertices_max: u32) -> bool {
        let is_due = !self.extent.is_scanned && self.body.vertex_count() <= vertices_max;
        if is_due {
            self.extent = Extent::of_vertices(&self.track, &self.plain, self.body);
        }
        is_due
    }

    /// The largest `g·v` over the vertices as an interval, and a vertex where it nearly is.
    pub(super) fn farthest(&self, g: &IntervalVec, effort: &mut Effort<'_>) -> (u32, Interval) {
        let middle = interval::middle(g);
        let reach = self.reach();
        let (vertex, value) = self.farthest_rounded(&middle, effort);
        // Three products and two sums each round by at most u of the sum of sizes. That counts
        // twice, because the vertex with the largest rounded value need not have the largest exact
        // one.
        let at_middle = if self.body.vertex_count() <= VALUED_MAX {
            Interval::around(value, gamma(4) * along(&middle.abs(), &reach) + 8.0 * UNDERFLOW)
        } else {
            let local = self.track.local(self.body.vertex(vertex));
            dot_exact(&interval::point(&middle), &local)
        };
        // For any g of the intervals the maximum differs from the one for the middle by at most
        // the sum of |g - middle| reach.
        let spread = (0..3)
            .map(|k| Interval::point(g[k].radius()).scale(reach[k]))
            .fold(Interval::point(16.0 * self.track.slack()), |sum, part| sum + part)
            .high();
        (vertex, at_middle + Interval::new(-spread, spread))
    }

    /// The largest `g·v` over the vertices, rounded. For a small body this is the largest rounded
    /// value; for others it is the rounded value of the vertex that is farthest in exact
    /// arithmetic.
    #[inline]
    pub(in super::super) fn farthest_rounded(
        &self,
        g: &Vec3,
        effort: &mut Effort<'_>,
    ) -> (u32, f64) {
        let found = if self.body.vertex_count() <= VALUED_MAX {
            self.farthest_by_value(g, effort)
        } else {
            let vertex = supporting_vertex(self.body, g, self.last.get().hint(g), effort);
            (vertex, along(g, &self.track.local(self.body.vertex(vertex))))
        };
        self.last.set(LastSupport::found(found.0, g));
        found
    }

    /// The largest `g·v` over the vertices, rounded, from the top that a search just found. The top
    /// is it if the search proved that, or if no more than a few vertices tie with it, which is
    /// nearly always so; otherwise it is sought by [`Self::farthest_rounded`]. A rounded maximum is
    /// as good as the exact one: see [`Plain::error`].
    #[inline(always)]
    pub(in super::super) fn farthest_from(
        &self,
        g: &Vec3,
        top: &Climb,
        effort: &mut Effort<'_>,
    ) -> (u32, f64) {
        // The search did not notice whether the direction has to be scaled for its bound to hold.
        if let Some(known) = Along::plain(self.body, g)
            && (known.surely_beats(top.value, top.runner_up)
                // In other units than metres, values round differently from those that the search
                // compared.
                || self.track.is_in_metres() && is_level_top(self.body, &known, top, effort))
        {
            return (top.vertex, along(g, &self.track.local(self.body.vertex(top.vertex))));
        }
        self.farthest_rounded(g, effort)
    }

    fn farthest_by_value(&self, g: &Vec3, effort: &mut Effort<'_>) -> (u32, f64) {
        effort.cost.supports += 1;
        effort.cost.visited += u64::from(self.body.vertex_count());
        let mut best = (0, f64::NEG_INFINITY);
        for (index, v) in (0..).zip(self.body.vertices()) {
            let value = along(g, &self.track.local(v));
            if value > best.1 {
                best = (index, value);
            }
        }
        best
    }
}
