//! Where the lengths of a moving body are counted from, and in which unit.

use super::{Motion, Track};
use crate::Vec3;
use crate::number::dyadic::Dyadic;
use crate::number::interval::{self, Interval, IntervalVec};
use crate::number::scale::PowerOfTwo;
use crate::number::tolerance;
use crate::pose::Pose;

/// Where a track's lengths are counted from, and in which unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// `m`, in the body.
    pub centre: Vec3,
    /// From metres.
    pub scale: Option<PowerOfTwo>,
}

/// Metres from the body's origin.
pub const METRES: Units = Units { centre: Vec3::new(0.0, 0.0, 0.0), scale: None };

impl Units {
    /// Metres from the body's origin, unless the points are far from it beside their extent, or the
    /// scene needs a scale.
    pub fn of(low: &Vec3, high: &Vec3, scale: Option<PowerOfTwo>) -> Self {
        let extent = (high - low).amax();
        let is_far = low.amax().min(high.amax()) > FAR * extent;
        let centre = Vec3::from_fn(|k, _| {
            let (a, b) = (low[k].abs(), high[k].abs());
            // Between halves and doubles of it, every difference is exact (Sterbenz).
            let is_on_one_side = low[k] > 0.0 || high[k] < 0.0;
            let is_exact = is_on_one_side && a.max(b) <= 2.0 * a.min(b);
            if is_far && is_exact { 0.5 * low[k] + 0.5 * high[k] } else { 0.0 }
        });
        Self { centre, scale }
    }

    /// `v` in these units, up to [`SCALING_SLACK`] per coordinate if there is a scale.
    #[inline]
    pub(super) fn local(&self, v: &Vec3) -> Vec3 {
        let from_centre = v - self.centre;
        self.scale.map_or(from_centre, |scale| from_centre.map(|x| scale.times(x)))
    }

    fn enclosed(&self, x: &Dyadic) -> Interval {
        let exponent = self.scale.map_or(0, |scale| i64::from(scale.exponent()));
        Dyadic::new(x.mantissa().clone(), x.exponent() + exponent).enclosed()
    }

    /// `to - from`, in this scale.
    pub(super) fn difference(&self, to: &Home, from: &Home) -> IntervalVec {
        std::array::from_fn(|k| self.enclosed(&(&to.coordinate(k) - &from.coordinate(k))))
    }
}

/// Points are far from their origin when it is at least this many extents away: closer, their
/// coordinates lose less than the rounding of rotations does.
const FAR: f64 = 4.0;

/// Where a body's centre is.
#[derive(Clone, Copy)]
pub(super) struct Home {
    pub(super) pose: Pose,
    pub(super) centre: Vec3,
}

impl Home {
    /// `(R m + t)_k`, exactly.
    fn coordinate(&self, k: usize) -> Dyadic {
        (0..3).filter(|&i| self.centre[i].abs() > 0.0).fold(
            Dyadic::from(self.pose.translation[k]),
            |sum, i| {
                let entry = Dyadic::from(self.pose.rotation[(k, i)]);
                &sum + &(&entry * &Dyadic::from(self.centre[i]))
            },
        )
    }
}

/// From P's centre to Q's at t = 0, in the scale that the two tracks share.
pub fn between(pose_p: &Pose, p: &Track, pose_q: &Pose, q: &Track) -> IntervalVec {
    match (p.units, q.units) {
        // Exact when the difference is an f64.
        (None, None) => {
            let (from, to) = (&pose_p.translation, &pose_q.translation);
            let along = |k: usize| Interval::difference(to[k], from[k]);
            [along(0), along(1), along(2)]
        }
        (of_p, of_q) => {
            let home = |pose: &Pose, units: Option<Units>| Home {
                pose: *pose,
                centre: units.unwrap_or(METRES).centre,
            };
            of_q.or(of_p).unwrap_or(METRES).difference(&home(pose_q, of_q), &home(pose_p, of_p))
        }
    }
}

/// What scaling may cost a coordinate.
pub(super) const SCALING_SLACK: f64 = tolerance::SCALING_LOSS;

/// A body's pose and motion, and a box around its points.
#[derive(Clone, Copy, Debug)]
pub struct Boxed<'a> {
    /// At t = 0.
    pub pose: &'a Pose,
    /// Over the step.
    pub motion: &'a Motion,
    /// The least coordinates, in the body.
    pub low: Vec3,
    /// The greatest.
    pub high: Vec3,
}

impl Boxed<'_> {
    /// Lengths of the body and of its motion: extents, levers, ways. Rounded.
    fn relative_lengths(&self) -> [Vec3; 4] {
        let units = Units::of(&self.low, &self.high, None);
        let home = Home { pose: *self.pose, centre: units.centre };
        let away = |to: &Home| interval::middle(&units.difference(to, &home));
        let pivot_or_start = |pivot: &Option<Vec3>| {
            let at = Pose { translation: pivot.unwrap_or(self.pose.translation), ..*self.pose };
            away(&Home { pose: at, centre: Vec3::zeros() })
        };
        let (lever, way) = match self.motion {
            Motion::Linear { velocity } => (Vec3::zeros(), *velocity),
            Motion::Screw { pivot, velocity, .. } => (pivot_or_start(pivot), *velocity),
            Motion::ToPose { end, pivot, .. } => {
                (pivot_or_start(pivot), away(&Home { pose: *end, ..home }))
            }
        };
        [units.local(&self.low), units.local(&self.high), lever, way]
    }
}

/// The factor that brings the largest of the lengths that matter near 1, if it is not: how large
/// the bodies are, how far from each other and from their pivots, how far they move. Where in the
/// world they are does not matter, and would make bodies of metres at 1e183 metres vanish beside
/// it.
pub fn scale_of(p: &Boxed<'_>, q: &Boxed<'_>) -> Option<PowerOfTwo> {
    let absolute = |body: &Boxed<'_>| {
        let of_place = body.low.amax().max(body.high.amax()).max(body.pose.translation.amax());
        of_place.max(body.motion.length_max())
    };
    let extent = (p.high - p.low).amax().max((q.high - q.low).amax());
    let is_tame = |length: f64| PowerOfTwo::that_tames_length(length).is_none();
    if extent > 0.0 && is_tame(absolute(p).max(absolute(q))) && is_tame(extent) {
        return None;
    }
    let home = |body: &Boxed<'_>| Home {
        pose: *body.pose,
        centre: Units::of(&body.low, &body.high, None).centre,
    };
    let mut relative = vec![interval::middle(&METRES.difference(&home(q), &home(p)))];
    relative.extend(p.relative_lengths());
    relative.extend(q.relative_lengths());
    PowerOfTwo::that_tames(&relative)
}
