//! Steps that aim at contact: to just before the features that are nearest now will touch, along
//! the normal that they will have then.
//!
//! The features are the three corners of M whose triangle has the nearest point: a vertex and a
//! face, or two edges. Their plane's distance from the origin is a smooth function of time, and
//! Newton's iteration finds where it is nearly zero without a search for supports. Features tilt
//! while they turn, so after the time at which a direction is their normal it becomes worse as fast
//! as it becomes better before. A direction that is their normal at the end of a step therefore
//! serves twice, and the last steps to contact converge quadratically instead of by a constant
//! part.

use super::nearest::NearestPoint;
use super::step::{Advance, CertifiedStep, is_certain_until};
use crate::claim::Frame;
use crate::contact_time::rotating::bounds::moving::{AimedHeading, FeaturePlane};
use crate::contact_time::rotating::search::TurningSearch;
use crate::effort::Effort;
use crate::pair::VertexPair;

/// Newton's iterations at most. The error of a prediction is at most a tenth of itself where
/// features last; each iteration squares it, and twelve digits are enough.
const ITERATIONS_MAX: u32 = 5;
/// Features that are farther away than this, in sizes of their triangle, are rarely those that
/// meet. Then the step leaves [`LEFT_FAR`] of the way, and nothing has to be more exact than that.
const FAR: f64 = 0.04;
/// The part of the way to far features that is left.
const LEFT_FAR: f64 = 0.05;
/// How often the end of a step is drawn back before features that come in earlier.
const RETREATS: u32 = 2;
/// The part of the step that has to be left when its end is drawn back.
const RETREAT_MAX: f64 = 0.5;
/// A step ahead of the tilt takes the normal of the time at which the features' tilt has used up
/// this share of the gap.
const TILT_SHARE: f64 = 0.7;

/// A step to just before contact of the features that are nearest at the present time, if that is
/// where they lead.
pub(in super::super) fn aim(
    search: &mut TurningSearch<'_>,
    nearest: &NearestPoint,
    effort: &mut Effort<'_>,
) -> Option<Advance> {
    let FeatureCourse { now, end } = touching(search, nearest)?;
    let aimed = now.heading_towards(&end, &mut search.moving)?;
    step_to(search, aimed, effort)
}

/// A step along the normal that the features have a little later: as late as it leaves a part of
/// the gap at the start. It is a longer one where features tilt while they hardly close.
pub(super) fn ahead_of_tilt(
    search: &mut TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> Option<Advance> {
    let t = search.at.t;
    let now = features(search)?;
    let rates = now.rates(&mut search.moving);
    let end = t + TILT_SHARE * (now.height - search.moving.clear) / now.tilt(&rates);
    let is_ahead = end > t && end < 1.0;
    if !is_ahead {
        return None;
    }
    let then = FeaturePlane::at(&mut search.moving, now.pairs, end, &now.normal);
    let heading = search.moving.heading(Frame::World, &then.normal, end);
    step_to(search, AimedHeading { heading, end }, effort)
}

/// The nearest features at the present time; their corners are the seed then.
fn features(search: &mut TurningSearch<'_>) -> Option<FeaturePlane> {
    let t = search.at.t;
    let pairs: [VertexPair; 3] = search.at.seed.as_slice().try_into().ok()?;
    let known = search.at.heading.as_ref()?;
    let outwards = search.moving.pair.world_of(&known.heading, t);
    Some(FeaturePlane::at(&mut search.moving, pairs, t, &outwards))
}

/// The step along a heading to the time that it aims at, or until a little earlier, if it is
/// certain.
fn step_to(
    search: &mut TurningSearch<'_>,
    aimed: AimedHeading,
    effort: &mut Effort<'_>,
) -> Option<Advance> {
    let t = search.at.t;
    let step = retreated(search, &aimed, effort)?;
    let known = search.moving.measured(aimed.heading, t, effort);
    is_certain_until(&known, t, &step).then_some(Advance { known, step })
}

/// The way of features to contact: their plane now, and when it nearly touches the origin.
struct FeatureCourse {
    now: FeaturePlane,
    end: FeaturePlane,
}

/// The way of the features that are nearest at the present time, if it leads to contact.
fn touching(search: &mut TurningSearch<'_>, nearest: &NearestPoint) -> Option<FeatureCourse> {
    let corners: &[_; 3] = nearest.corners.as_slice().try_into().ok()?;
    let now = FeaturePlane::through(corners, search.at.t, &nearest.point);
    let clear = search.moving.clear;
    let mut rate = now.rates(&mut search.moving).height;
    let height = now.height - clear;
    let is_far = height * height > FAR * FAR * now.size_squared();
    let mut before = (now.t, height);
    for _ in 0..ITERATIONS_MAX {
        let is_closing = rate < 0.0;
        if !is_closing {
            return None;
        }
        let left = if is_far { LEFT_FAR * height } else { 0.5 * search.told.probe_gap(-rate) };
        let end = before.0 + (before.1 - left) / -rate;
        let is_ahead = end > search.at.t && end < 1.0;
        if !is_ahead {
            return None;
        }
        let plane = FeaturePlane::at(&mut search.moving, now.pairs, end, &now.normal);
        if !plane.lasts() {
            return None;
        }
        let after = (end, plane.height - clear);
        if (after.1 - left).abs() < 0.5 * left {
            return Some(FeatureCourse { now, end: plane });
        }
        // The next rate is predicted as if the rate changed evenly.
        rate = 2.0 * (after.1 - before.1) / (after.0 - before.0) - rate;
        before = after;
    }
    None
}

/// The step to the time that the heading aims at, or until a little earlier, before other features
/// come in: whether it is certain in between is still open.
fn retreated(
    search: &mut TurningSearch<'_>,
    aimed: &AimedHeading,
    effort: &mut Effort<'_>,
) -> Option<CertifiedStep> {
    let AimedHeading { heading, end } = aimed;
    let (t, mut end) = (search.at.t, *end);
    let least = t + RETREAT_MAX * (end - t);
    for _ in 0..=RETREATS {
        let gap = search.moving.gap(heading, end, effort);
        if gap.surplus > 0.0 {
            return Some(CertifiedStep { end, gap });
        }
        // Along a gap that does not close there is no earlier end.
        end += 1.05 * gap.surplus / (-gap.gap.rate).max(0.0);
        let is_ahead = end > least;
        if !is_ahead {
            return None;
        }
    }
    None
}
