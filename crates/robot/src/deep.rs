//! How deep pairs overlap in a configuration, where their margins are below 0: such a pair counts
//! only where it is at least so deep.
//!
//! The depth of convex bodies changes by no more than their points move. That of others may grow at
//! once as soon as they touch and turn; their hulls are as deep at least.

use super::cell::BodyPair;
use super::clearances::clearance_of_cloud;
use super::stand::Stand;
use clearance_bodies::PlacedBody;
use clearance_bodies::table::depth::{DepthQuestion, MeasuredDepth};
use clearance_bodies::table::verdict::VerdictQuestion;
use clearance_bodies::table::{NotAnswered, Wanted};
use clearance_geometry::effort::{Effort, Stopped};

/// How deep two bodies overlap, metres; 0 where they are apart or touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct DepthBounds {
    /// Encloses the depth in the configuration at hand.
    pub(super) now: [f64; 2],
    /// No body gets deeper than this by more than the points of both move.
    pub(super) ahead: f64,
}

/// All kinds of bodies that cells and robots have are answered about beside each other, but for a
/// polytope without volume beside a region, which cells refuse.
fn known<T>(answer: Result<T, NotAnswered>) -> Result<T, Stopped> {
    answer.map_err(|_| Stopped::Unresolved)
}

impl Stand<'_> {
    /// How deep two bodies overlap that may be in contact; of a cloud its deepest ball.
    pub(super) fn depth_bounds(
        &mut self,
        pair: BodyPair,
        effort: &mut Effort<'_>,
    ) -> Result<DepthBounds, Stopped> {
        let is_convex = pair.iter().all(|body| self.cell.body(*body).mesh().is_none());
        if self.cloud(pair).is_some() {
            let found = clearance_of_cloud(self, pair, f64::INFINITY, effort)?;
            let now = found.map_or([0.0; 2], |found| [found.upper, found.lower]);
            let now = now.map(|clearance| (0.0 - clearance).max(0.0));
            let ahead = if is_convex { now[1] } else { f64::INFINITY };
            return Ok(DepthBounds { now, ahead });
        }
        let of_hulls = |stand: &mut Self, effort: &mut Effort<'_>| {
            let deep = stand.hull_depth(pair, effort)?;
            Ok::<_, Stopped>(deep.map_or([0.0; 2], |deep| [deep.lower, deep.upper]))
        };
        if is_convex && !self.is_curved(pair) {
            let now = of_hulls(self, effort)?;
            return Ok(DepthBounds { now, ahead: now[1] });
        }
        let now = self.depth_by_the_table(pair, effort)?;
        let ahead = if is_convex { now[1] } else { of_hulls(self, effort)?[1] };
        Ok(DepthBounds { now, ahead })
    }

    fn depth_by_the_table(
        &mut self,
        pair: BodyPair,
        effort: &mut Effort<'_>,
    ) -> Result<[f64; 2], Stopped> {
        let bodies = self.placed_bodies(pair);
        let question = known(DepthQuestion::of(bodies.each_ref().map(|one| one.body.kind())))?;
        let found = known(question.prepare(bodies))?.answer(false, effort)?;
        match found.stopped() {
            Some(why @ (Stopped::Deadline | Stopped::Steps)) => Err(why),
            Some(Stopped::Unresolved) | None => Ok(MeasuredDepth::bounds(&found)),
        }
    }

    /// Whether two bodies overlap at least so deep, metres, more than 0; of polytopes, with and
    /// without balls around their points, exactly. None: that is unresolved.
    pub(super) fn is_so_deep(
        &mut self,
        pair: BodyPair,
        depth: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<bool>, Stopped> {
        if self.cloud(pair).is_some() {
            let [lower, upper] = self.depth_bounds(pair, effort)?.now;
            return Ok(if lower >= depth { Some(true) } else { (upper < depth).then_some(false) });
        }
        let bodies = self.placed_bodies(pair);
        let kinds = bodies.each_ref().map(|one| one.body.kind());
        let question = known(VerdictQuestion::of(kinds, Some(0.0 - depth)))?;
        let answer = known(question.prepare(bodies))?.answer(Wanted::NO_PROOF, effort);
        match answer.compared {
            Ok(compared) => Ok(compared.map(|found| found.is_within)),
            Err(Stopped::Unresolved) => Ok(None),
            Err(why) => Err(why),
        }
    }

    fn placed_bodies(&mut self, pair: BodyPair) -> [PlacedBody; 2] {
        pair.map(|body| PlacedBody { body: self.cell.body(body).whole(), pose: self.pose(body) })
    }
}
