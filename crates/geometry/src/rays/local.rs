//! A ray in the frame of a body, and how far it may be off there.

use super::Ray;
use crate::Vec3;
use crate::number::rounding::{BOUND_SLACK, UNDERFLOW_FLOOR, gamma};
use crate::polyhedron::tree::Extent;
use crate::polyhedron::wide::{WIDTH, WideNode};
use crate::pose::Pose;

/// The segment from `from` at t = 0 to `from + by` at t = 1.
///
/// With y the difference of a place of the ray and the pose's translation, the place in the body's
/// frame is `R⁻¹ y`. With A the inverse as it is rounded and `E = I - A R`, which is worked out
/// within `γ₄` of products of entries of at most 1.01, it differs from `A y` by `E R⁻¹ y`, and no
/// coordinate of `R⁻¹ y` is larger than `1.01 |y|₁`.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalRay {
    pub(super) from: Vec3,
    pub(super) by: Vec3,
    /// One over each coordinate of `by`; of a coordinate that is zero, zero.
    inverse: Vec3,
    /// Every coordinate of a place of the exact ray is within this of that of `from + t by`, and
    /// the same with what rounding makes of its difference to a coordinate of the body, also where
    /// both are told from the middle of the body.
    pub(super) off: f64,
    /// Every coordinate of the exact way is within this of that of `by`.
    pub(super) by_off: f64,
}

/// A sum or product of several numbers that err relatively by a few roundings.
const LESS: f64 = 1.0 - gamma(16);
const MORE: f64 = 1.0 + gamma(16);

impl LocalRay {
    /// `reach`: the largest coordinate of the body. None where numbers are too large.
    pub(super) fn new(ray: &Ray<'_>, pose: &Pose, reach: f64) -> Option<Self> {
        let inverse = pose.rotation.try_inverse()?;
        let rest = (crate::Mat3::identity() - inverse * pose.rotation).abs();
        let share = 1.01 * (0..3).map(|row| rest.row(row).sum()).fold(0.0, f64::max) + gamma(64);
        let (from, by) = (inverse * (ray.from - pose.translation), inverse * ray.by);
        let way = ray.by.abs().sum();
        let places = ray.from.abs().sum() + pose.translation.abs().sum() + way;
        let by_off = share * way * (1.0 + BOUND_SLACK) + UNDERFLOW_FLOOR;
        let off = (share * places + gamma(16) * (reach + from.amax())) * (1.0 + BOUND_SLACK);
        Self::with(from, by, [off + UNDERFLOW_FLOOR, by_off])
    }

    fn with(from: Vec3, by: Vec3, [off, by_off]: [f64; 2]) -> Option<Self> {
        // One over each of the others is a number.
        let is_slow = |c: f64| c.abs() < UNDERFLOW_FLOOR;
        let steady = by.map(|c| if is_slow(c) { 0.0 } else { c });
        let inverse = steady.map(|c| if is_slow(c) { 0.0 } else { 1.0 / c });
        let (off, by_off) = (off + UNDERFLOW_FLOOR, by_off + UNDERFLOW_FLOOR);
        let is_plain = off.is_finite() && by_off.is_finite() && steady.amax().is_finite();
        is_plain.then_some(Self { from, by: steady, inverse, off, by_off })
    }

    /// The same, of which every place may be farther off by so much along each axis.
    pub(super) fn thickened(self, by: f64) -> Option<Self> {
        Self::with(self.from, self.by, [self.off + by, self.by_off])
    }

    /// At most the time at which it comes to a box; none: it certainly misses it up to `until`.
    #[inline(always)]
    pub(super) fn enters(&self, held: &Extent, until: f64) -> Option<f64> {
        let (mut enter, mut leave) = (0.0_f64, until);
        let mut misses = false;
        // Branches that a ray takes half of the time would cost more than what they spare: what it
        // has left behind before it starts has `leave` below 0.
        for k in 0..3 {
            let low = (held.low[k] - self.from[k]) - self.off;
            let high = (held.high[k] - self.from[k]) + self.off;
            if self.by[k] == 0.0 {
                misses |= low > 0.0 || high < 0.0;
                continue;
            }
            let (a, b) = (low * self.inverse[k], high * self.inverse[k]);
            let (first, last) = if self.inverse[k] > 0.0 { (a, b) } else { (b, a) };
            let (first, last) = (first * LESS, last * MORE);
            enter = if first > enter { first } else { enter };
            leave = if last < leave { last } else { leave };
        }
        if misses {
            return None;
        }
        (enter <= leave).then_some(enter)
    }

    /// The same of many boxes: at most the times at which it comes to them, and at least those at
    /// which it leaves them; what it certainly misses up to `until` it leaves before.
    #[inline(always)]
    pub(super) fn enters_of_many(
        &self,
        node: &WideNode,
        middle: &Vec3,
        until: f64,
    ) -> ([f64; WIDTH], [f64; WIDTH]) {
        let (mut enters, mut leaves) = ([0.0_f64; WIDTH], [until; WIDTH]);
        for axis in 0..3 {
            let (from, inverse) = (self.from[axis] - middle[axis], self.inverse[axis]);
            if self.by[axis] == 0.0 {
                for (lane, leave) in leaves.iter_mut().enumerate() {
                    let low = (f64::from(node.low[axis][lane]) - from) - self.off;
                    let high = (f64::from(node.high[axis][lane]) - from) + self.off;
                    let misses = low > 0.0 || high < 0.0;
                    *leave = if misses { f64::NEG_INFINITY } else { *leave };
                }
                continue;
            }
            let is_forward = inverse > 0.0;
            let (near, far) = if is_forward {
                (&node.low[axis], &node.high[axis])
            } else {
                (&node.high[axis], &node.low[axis])
            };
            let off = if is_forward { self.off } else { -self.off };
            for lane in 0..WIDTH {
                let first = (((f64::from(near[lane]) - from) - off) * inverse) * LESS;
                let last = (((f64::from(far[lane]) - from) + off) * inverse) * MORE;
                enters[lane] = if first > enters[lane] { first } else { enters[lane] };
                leaves[lane] = if last < leaves[lane] { last } else { leaves[lane] };
            }
        }
        (enters, leaves)
    }

    /// Rays from the same place out of a box along the axes, the shortest first. They are exactly
    /// what they are; the place is as far off as before. None from outside of the box.
    pub(super) fn ways_out(&self, whole: &Extent) -> impl Iterator<Item = Self> + use<> {
        let is_out = (0..3).any(|k| {
            self.from[k] < whole.low[k] - self.off || self.from[k] > whole.high[k] + self.off
        });
        let mut ways: Vec<(f64, Vec3)> = Vec::new();
        for axis in 0..3 {
            for (end, sign) in [(whole.low[axis], -1.0), (whole.high[axis], 1.0)] {
                let length = (end - self.from[axis]).abs() + 4.0 * self.off;
                let far = length + length * 0.5;
                ways.push((far, Vec3::from_fn(|k, _| if k == axis { sign * far } else { 0.0 })));
            }
        }
        ways.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        // One that leads away from the box at once says that its start is not inside.
        ways.truncate(if is_out { 1 } else { 6 });
        let (from, off) = (self.from, self.off);
        ways.into_iter().filter_map(move |(_, by)| Self::with(from, by, [off, 0.0]))
    }
}
