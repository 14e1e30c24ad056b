//! Steps that aim at contact: to just before the features that are nearest now will touch, along
//! the normal that they will have then.
//!
//! The features are the three corners of the difference body whose triangle has the nearest point:
//! a vertex and a face, or two edges. Their plane's distance from the origin is a smooth function
//! of time that Newton's iteration takes to where it is nearly zero, without a search for supports.
//! Features tilt while they turn, so a direction loses its worth after the time it is normal at as
//! fast as it gains before: one that is normal at the end of a step serves twice, and the last
//! steps to contact converge quadratically instead of by a part at a time.

use super::Search;
use super::course::Course;
use super::moving::{Gap, Heading, Moving};
use super::nearest::Nearest;
use super::step::{Need, Step, certified};
use crate::geometry::Vec3;
use crate::geometry::claim::Frame;
use crate::geometry::effort::Effort;
use crate::geometry::pair::VertexPair;

/// Newton's iterations: the error of a prediction, a tenth of itself at most where features last,
/// is squared by each, and twelve digits are enough.
const ITERATIONS_MAX: u32 = 5;
/// How far outside of its triangle the origin's foot may be when the plane comes to it, in sizes of
/// the triangle: parallelograms and faces go on beyond one, but not far.
const OUTSIDE: f64 = 0.15;
/// Features that are farther than this, in sizes of their triangle, are rarely those that meet:
/// then only this part of the way is left, and no more than a part of that has to be exact.
const FAR: f64 = 0.04;
const LEFT_FAR: f64 = 0.05;
/// How often the end is drawn back before features that come in earlier, and to which part at
/// least.
const RETREATS: u32 = 2;
const RETREAT_MAX: f64 = 0.5;
/// A direction has to leave this part of the height at the start of a step, or one of an earlier
/// time is taken, that leaves it, ...
const KEPT: f64 = 0.4;
/// ... if that is not too early.
const EARLY: f64 = 0.2;

/// How much of the gap features may tilt into before the time whose normal is taken.
const LEAD: f64 = 0.7;

/// The plane through three corners at a time.
struct Plane {
    t: f64,
    corners: [Vec3; 3],
    /// Of length 1, away from the origin.
    normal: Vec3,
    height: f64,
    /// The weights of the corners at the origin's foot.
    weights: [f64; 3],
}

impl Plane {
    fn at(moving: &mut Moving<'_>, pairs: &[VertexPair; 3], t: f64, outwards: &Vec3) -> Self {
        let (moving, posed) = moving.posed(t);
        let at = |k: usize| posed.corner(moving, pairs[k]).at;
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

    /// How fast the height changes, and the corners' along the normal, fixed in the world.
    fn rates(&self, moving: &mut Moving<'_>, pairs: &[VertexPair; 3]) -> (f64, [f64; 3]) {
        let (moving, posed) = moving.posed(self.t);
        let rates = posed.rates(moving, Frame::World, &self.normal);
        let of = |k: usize| rates.of(moving, pairs[k]);
        let (rates, [a, b, c]) = ([of(0), of(1), of(2)], self.weights);
        (a * rates[0] + b * rates[1] + c * rates[2], rates)
    }

    /// Whether the origin's foot is on the features, as far as that can be told.
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

/// What is linear in the corners, at these and at the fourth corner if the features are edges.
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

impl Search<'_> {
    /// A step to just before contact of the features that are nearest at the present time, and its
    /// course, if that is where they lead.
    pub(super) fn aim(
        &mut self,
        nearest: &Nearest,
        clear: f64,
        effort: &mut Effort<'_>,
    ) -> Option<(Course, Step)> {
        let [a, b, c] = nearest.corners.as_slice() else { return None };
        let pairs = [a.pair, b.pair, c.pair];
        let now = Plane::through([a.at, b.at, c.at], self.t, &nearest.point);
        let end = self.touching(clear, &pairs, &now)?;
        let (heading, end) = self.lasting(&pairs, &now, &end)?;
        self.along_until(heading, clear, end, effort)
    }

    /// A step along the normal that the features have a little later, which is a longer one where
    /// they tilt while they hardly close: as late as it leaves a part of the gap at the start.
    pub(super) fn ahead_of_tilt(
        &mut self,
        clear: f64,
        effort: &mut Effort<'_>,
    ) -> Option<(Course, Step)> {
        let (pairs, now) = self.features()?;
        let (rate, rates) = now.rates(&mut self.moving, &pairs);
        let most = with_fourth(&pairs, rates).into_iter().fold(rate, f64::max);
        let end = self.t + LEAD * (now.height - clear) / (most - rate);
        let is_ahead = end > self.t && end < 1.0;
        if !is_ahead {
            return None;
        }
        let then = Plane::at(&mut self.moving, &pairs, end, &now.normal);
        let heading = self.moving.heading(Frame::World, &then.normal, end);
        self.along_until(heading, clear, end, effort)
    }

    /// The nearest features at the present time, whose corners are the `seed` then.
    fn features(&mut self) -> Option<([VertexPair; 3], Plane)> {
        let pairs: [VertexPair; 3] = self.seed.as_slice().try_into().ok()?;
        let course = self.course.as_ref()?;
        let outwards = self.moving.world_of(&course.heading, self.t);
        Some((pairs, Plane::at(&mut self.moving, &pairs, self.t, &outwards)))
    }

    /// The step until then, or until a little earlier, if it is certain.
    fn along_until(
        &mut self,
        heading: Heading,
        clear: f64,
        end: f64,
        effort: &mut Effort<'_>,
    ) -> Option<(Course, Step)> {
        let need = Need::along(&heading, clear);
        let (end, gap) = self.retreated(&heading, need, end, effort)?;
        let from = self.moving.gap(&heading, need, self.t, effort);
        let step = certified(&heading, need, (self.t, &from), (end, gap))?;
        Some((Course { heading, gap: from }, step))
    }

    /// The plane when it nearly touches.
    fn touching(&mut self, clear: f64, pairs: &[VertexPair; 3], now: &Plane) -> Option<Plane> {
        let (mut rate, _) = now.rates(&mut self.moving, pairs);
        let height = now.height - clear;
        let is_far = height * height > FAR * FAR * now.size_squared();
        let mut before = (now.t, height);
        for _ in 0..ITERATIONS_MAX {
            let is_closing = rate < 0.0;
            if !is_closing {
                return None;
            }
            let left = if is_far { LEFT_FAR * height } else { 0.5 * self.near(-rate) };
            let end = before.0 + (before.1 - left) / -rate;
            let is_ahead = end > self.t && end < 1.0;
            if !is_ahead {
                return None;
            }
            let plane = Plane::at(&mut self.moving, pairs, end, &now.normal);
            if !plane.lasts() {
                return None;
            }
            let after = (end, plane.height - clear);
            if (after.1 - left).abs() < 0.5 * left {
                return Some(plane);
            }
            // As if the rate changed evenly.
            rate = 2.0 * (after.1 - before.1) / (after.0 - before.0) - rate;
            before = after;
        }
        None
    }

    /// The normal at the end as a heading that does not lose the features at the start, and until
    /// when; if there is none, the normal of an earlier time.
    fn lasting(
        &mut self,
        pairs: &[VertexPair; 3],
        now: &Plane,
        end: &Plane,
    ) -> Option<(Heading, f64)> {
        let kept = |least: f64| least > KEPT * now.height;
        let mut most = f64::NEG_INFINITY;
        for frame in [Frame::World, Frame::P, Frame::Q] {
            if !self.moving.turns_with(frame) {
                continue;
            }
            let heading = self.moving.heading(frame, &end.normal, end.t);
            let world = self.moving.world_of(&heading, now.t);
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
        let plane = Plane::at(&mut self.moving, pairs, earlier, &now.normal);
        Some((self.moving.heading(Frame::World, &plane.normal, earlier), earlier))
    }

    /// The end of the step, before other features come in.
    fn retreated(
        &mut self,
        heading: &Heading,
        need: Need,
        end: f64,
        effort: &mut Effort<'_>,
    ) -> Option<(f64, Gap)> {
        let (t, mut end) = (self.t, end);
        let least = t + RETREAT_MAX * (end - t);
        for _ in 0..=RETREATS {
            let gap = self.moving.gap(heading, need, end, effort);
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
}
