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
use super::step::{Advance, StepStart, certify_until};
use crate::geometry::Vec3;
use crate::geometry::claim::Frame;
use crate::geometry::contact_time::rotating::bounds::moving::Moving;
use crate::geometry::contact_time::rotating::bounds::pair::{
    Heading, MeasuredHeading, MovingGap, Need,
};
use crate::geometry::contact_time::rotating::search::TurningSearch;
use crate::geometry::effort::Effort;
use crate::geometry::pair::VertexPair;

/// Newton's iterations at most. The error of a prediction is at most a tenth of itself where
/// features last; each iteration squares it, and twelve digits are enough.
const ITERATIONS_MAX: u32 = 5;
/// How far outside of its triangle the origin's foot may be when the plane comes to it, in sizes of
/// the triangle. Parallelograms and faces go on beyond one triangle, but not far.
const OUTSIDE: f64 = 0.15;
/// Features that are farther away than this, in sizes of their triangle, are rarely those that
/// meet. Then the step leaves [`LEFT_FAR`] of the way, and nothing has to be more exact than that.
const FAR: f64 = 0.04;
/// The part of the way to far features that is left.
const LEFT_FAR: f64 = 0.05;
/// How often the end of a step is drawn back before features that come in earlier.
const RETREATS: u32 = 2;
/// The part of the step that has to be left when its end is drawn back.
const RETREAT_MAX: f64 = 0.5;
/// The part of the features' height that a direction has to leave at the start of a step.
/// Otherwise the normal of an earlier time is taken, which leaves that much.
const KEPT: f64 = 0.4;
/// The earliest time whose normal is taken, as a part of the step.
const EARLY: f64 = 0.2;

/// The part of the gap that features may tilt into before the time whose normal is taken for a step
/// ahead of the tilt.
const LEAD: f64 = 0.7;

/// The plane through three corners of M at a time.
struct FeaturePlane {
    t: f64,
    corners: [Vec3; 3],
    /// The normal of length 1, away from the origin.
    normal: Vec3,
    height: f64,
    /// The weights of the corners at the origin's foot.
    weights: [f64; 3],
}

impl FeaturePlane {
    fn at(moving: &mut Moving<'_>, pairs: &[VertexPair; 3], t: f64, outwards: &Vec3) -> Self {
        let (pair, posed) = moving.posed(t);
        let at = |k: usize| posed.corner(pair, pairs[k]).at;
        Self::through([at(0), at(1), at(2)], t, outwards)
    }

    fn through(corners: [Vec3; 3], t: f64, outwards: &Vec3) -> Self {
        let [a, b, c] = corners;
        let across = (b - a).cross(&(c - a));
        let squared = across.norm_squared();
        let normal = across * (1f64.copysign(across.dot(outwards)) / squared.sqrt());
        let weights = [b.cross(&c), c.cross(&a), a.cross(&b)].map(|v| v.dot(&across) / squared);
        Self { t, corners, normal, height: normal.dot(&a), weights }
    }

    /// How fast the height changes, and how fast the corners' heights do along the normal, which is
    /// fixed in the world.
    fn rates(&self, moving: &mut Moving<'_>, pairs: &[VertexPair; 3]) -> (f64, [f64; 3]) {
        let (pair, posed) = moving.posed(self.t);
        let rates = posed.rates(pair, Frame::World, &self.normal);
        let of = |k: usize| rates.of(pair, pairs[k]);
        let (rates, [a, b, c]) = ([of(0), of(1), of(2)], self.weights);
        (a * rates[0] + b * rates[1] + c * rates[2], rates)
    }

    /// Whether the origin's foot is on the features, as far as three corners tell.
    fn lasts(&self) -> bool {
        self.weights.iter().all(|weight| *weight > -OUTSIDE)
    }

    fn size_squared(&self) -> f64 {
        let [a, b, c] = self.corners;
        (b - a).norm_squared().max((c - a).norm_squared())
    }

    /// The least height of a corner along s, and of the fourth corner if the features are edges.
    fn least_height(&self, pairs: &[VertexPair; 3], s: &Vec3) -> f64 {
        let heights = self.corners.map(|corner| s.dot(&corner));
        with_fourth(pairs, heights).into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// A quantity that is linear in the corners: its values at these three and, if the features are
/// edges, at the fourth corner of their parallelogram.
fn with_fourth(pairs: &[VertexPair; 3], [a, b, c]: [f64; 3]) -> [f64; 4] {
    let joins = |k: usize, l: usize, m: usize| {
        pairs[k].i == pairs[l].i && pairs[k].j == pairs[m].j
            || pairs[k].j == pairs[l].j && pairs[k].i == pairs[m].i
    };
    let fourth = if joins(0, 1, 2) {
        b + c - a
    } else if joins(1, 0, 2) {
        a + c - b
    } else if joins(2, 0, 1) {
        a + b - c
    } else {
        a
    };
    [a, b, c, fourth]
}

/// A step to just before contact of the features that are nearest at the present time, if that is
/// where they lead.
pub(in super::super) fn aim(
    search: &mut TurningSearch<'_>,
    nearest: &NearestPoint,
    effort: &mut Effort<'_>,
) -> Option<Advance> {
    let [a, b, c] = nearest.corners.as_slice() else { return None };
    let pairs = [a.pair, b.pair, c.pair];
    let now = FeaturePlane::through([a.at, b.at, c.at], search.at.t, &nearest.point);
    let end = touching(search, &pairs, &now)?;
    let (heading, end) = lasting(search, &pairs, &now, &end)?;
    step_until(search, heading, end, effort)
}

/// A step along the normal that the features have a little later: as late as it leaves a part of
/// the gap at the start. It is a longer one where features tilt while they hardly close.
pub(super) fn ahead_of_tilt(
    search: &mut TurningSearch<'_>,
    effort: &mut Effort<'_>,
) -> Option<Advance> {
    let t = search.at.t;
    let (pairs, now) = features(search)?;
    let (rate, rates) = now.rates(&mut search.moving, &pairs);
    let most = with_fourth(&pairs, rates).into_iter().fold(rate, f64::max);
    let end = t + LEAD * (now.height - search.at.clear) / (most - rate);
    let is_ahead = end > t && end < 1.0;
    if !is_ahead {
        return None;
    }
    let then = FeaturePlane::at(&mut search.moving, &pairs, end, &now.normal);
    let heading = search.moving.pair.heading(Frame::World, &then.normal, end);
    step_until(search, heading, end, effort)
}

/// The nearest features at the present time; their corners are the seed then.
fn features(search: &mut TurningSearch<'_>) -> Option<([VertexPair; 3], FeaturePlane)> {
    let t = search.at.t;
    let pairs: [VertexPair; 3] = search.at.seed.as_slice().try_into().ok()?;
    let known = search.at.heading.as_ref()?;
    let outwards = search.moving.pair.world_of(&known.heading, t);
    Some((pairs, FeaturePlane::at(&mut search.moving, &pairs, t, &outwards)))
}

/// The step along a heading until `end`, or until a little earlier, if it is certain.
fn step_until(
    search: &mut TurningSearch<'_>,
    heading: Heading,
    end: f64,
    effort: &mut Effort<'_>,
) -> Option<Advance> {
    let t = search.at.t;
    let need = Need::along(&heading, search.at.clear);
    let (end, gap) = retreated(search, &heading, end, effort)?;
    let from = search.moving.gap(&heading, need, t, effort);
    let start = StepStart { heading: &heading, need, t, gap: &from };
    let step = certify_until(&start, end, gap)?;
    Some(Advance { known: MeasuredHeading { heading, gap: from }, step })
}

/// The plane at the time when it nearly touches the origin.
fn touching(
    search: &mut TurningSearch<'_>,
    pairs: &[VertexPair; 3],
    now: &FeaturePlane,
) -> Option<FeaturePlane> {
    let clear = search.at.clear;
    let (mut rate, _) = now.rates(&mut search.moving, pairs);
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
        let plane = FeaturePlane::at(&mut search.moving, pairs, end, &now.normal);
        if !plane.lasts() {
            return None;
        }
        let after = (end, plane.height - clear);
        if (after.1 - left).abs() < 0.5 * left {
            return Some(plane);
        }
        // The next rate is predicted as if the rate changed evenly.
        rate = 2.0 * (after.1 - before.1) / (after.0 - before.0) - rate;
        before = after;
    }
    None
}

/// The normal at the end as a heading that does not lose the features at the start, and until when
/// it serves. If there is none, the normal of an earlier time.
fn lasting(
    search: &mut TurningSearch<'_>,
    pairs: &[VertexPair; 3],
    now: &FeaturePlane,
    end: &FeaturePlane,
) -> Option<(Heading, f64)> {
    let kept = |least: f64| least > KEPT * now.height;
    let mut most = f64::NEG_INFINITY;
    for frame in [Frame::World, Frame::P, Frame::Q] {
        if !search.moving.pair.turns_with(frame) {
            continue;
        }
        let heading = search.moving.pair.heading(frame, &end.normal, end.t);
        let world = search.moving.pair.world_of(&heading, now.t);
        let least = now.least_height(pairs, &world);
        if kept(least) {
            return Some((heading, end.t));
        }
        most = most.max(if frame == Frame::World { least } else { f64::NEG_INFINITY });
    }
    let part = (1.0 - KEPT) * now.height / (now.height - most);
    if part.is_nan() || part < EARLY {
        return None;
    }
    let earlier = now.t + part * (end.t - now.t);
    let plane = FeaturePlane::at(&mut search.moving, pairs, earlier, &now.normal);
    Some((search.moving.pair.heading(Frame::World, &plane.normal, earlier), earlier))
}

/// The end of the step, drawn back before other features come in, and the gap then.
fn retreated(
    search: &mut TurningSearch<'_>,
    heading: &Heading,
    end: f64,
    effort: &mut Effort<'_>,
) -> Option<(f64, MovingGap)> {
    let need = Need::along(heading, search.at.clear);
    let (t, mut end) = (search.at.t, end);
    let least = t + RETREAT_MAX * (end - t);
    for _ in 0..=RETREATS {
        let gap = search.moving.gap(heading, need, end, effort);
        let surplus = need.surplus(&gap);
        if surplus > 0.0 {
            return Some((end, gap));
        }
        // Along a gap that does not close there is no earlier end.
        end += 1.05 * surplus / (-gap.rate).max(0.0);
        let is_ahead = end > least;
        if !is_ahead {
            return None;
        }
    }
    None
}
