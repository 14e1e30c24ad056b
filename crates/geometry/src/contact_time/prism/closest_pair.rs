//! The point of a polytope of space-time nearest a point, in floating point.
//!
//! Wolfe's algorithm (P. Wolfe, *Finding the NearestEvent Point in a Polytope*, Mathematical
//! Programming 11, 1976) keeps affinely independent vertices with positive weights; in four
//! dimensions these are at most five, and five hold the point in their simplex.

use arrayvec::ArrayVec;
use nalgebra::{Matrix6, Vector4, Vector6};

use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::binary::power_of_two;
use crate::pair::VertexPair;

/// A place and a time.
pub(super) type Event = Vector4<f64>;

/// A vertex of the difference of two 4-prisms.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrismCorner {
    pub(super) pair: VertexPair,
    /// The times of Q's copy and of P's that it is made of: whether each is the one at the end.
    pub(super) at_end: [bool; 2],
    /// The difference at the start.
    pub(super) point: Vec3,
    pub(super) event: Event,
}

/// Vertices with positive weights that sum to one; their mean is the nearest point so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Corral {
    corners: ArrayVec<PrismCorner, 5>,
    weights: ArrayVec<f64, 5>,
}

/// The end of a search.
#[derive(Clone, Copy, Debug)]
pub(super) enum NearestEvent {
    /// From the target to the nearest point, and the corner that supports the plane across it.
    Apart(Event, PrismCorner),
    /// The target is inside, up to rounding.
    Inside,
    /// Rounding gave out.
    Lost,
}

/// Corners that a search in one layer looks at before it gives up. Each brings the point nearer;
/// only rounding errors lead in circles.
const CORNERS_MAX: u32 = 200;

/// Gain of a step, relative to the squared distance, below which the nearest point does not move
/// any more: some hundred roundings.
const GAIN: f64 = power_of_two(-43);

/// Largest weight that counts as zero. Weights sum to one, and the errors of a solved system of six
/// equations stay below this unless the corners are nearly dependent.
const WEIGHT_MIN: f64 = power_of_two(-40);

impl Corral {
    /// Corners of the smallest face known to hold the nearest point.
    pub(super) fn corners(&self) -> &[PrismCorner] {
        &self.corners
    }

    /// A corral of one corner.
    pub(super) fn of(corner: PrismCorner) -> Self {
        Self { corners: [corner].into_iter().collect(), weights: [1.0].into_iter().collect() }
    }

    /// Finds the point nearest to `target`, from the corners there are; `support` gives the corner
    /// that is least along a vector. Lengths below `noise` are zero.
    pub(super) fn nearest(
        &mut self,
        target: &Event,
        noise: f64,
        effort: &mut Effort<'_>,
        mut support: impl FnMut(&Event, &mut Effort<'_>) -> PrismCorner,
    ) -> Result<NearestEvent, Stopped> {
        // The weights were right for another target.
        if self.settle(target).is_none() {
            return Ok(NearestEvent::Lost);
        }
        for _ in 0..CORNERS_MAX {
            effort.spend_step()?;
            let x = self.mean() - target;
            if x.norm() <= noise {
                return Ok(NearestEvent::Inside);
            }
            let corner = support(&x, effort);
            let value = x.dot(&(corner.event - target));
            let is_known =
                self.corners.iter().any(|c| c.pair == corner.pair && c.at_end == corner.at_end);
            if is_known || x.norm_squared() - value <= x.norm() * (GAIN * x.norm() + noise) {
                return Ok(NearestEvent::Apart(x, corner));
            }
            if self.corners.is_full() {
                return Ok(NearestEvent::Lost);
            }
            self.corners.push(corner);
            self.weights.push(0.0);
            if self.settle(target).is_none() {
                return Ok(NearestEvent::Lost);
            }
        }
        Ok(NearestEvent::Lost)
    }

    fn mean(&self) -> Event {
        self.corners.iter().zip(&self.weights).map(|(corner, weight)| corner.event * *weight).sum()
    }

    /// Moves the weights to the nearest point of the corners' affine hull, dropping the corners
    /// that are in the way; none when they are not independent.
    fn settle(&mut self, target: &Event) -> Option<()> {
        while self.corners.len() > 1 {
            let wanted = self.affine_weights(target)?;
            if wanted.iter().all(|weight| *weight > WEIGHT_MIN) {
                self.weights = wanted;
                return Some(());
            }
            let part = |(now, then): (&f64, &f64)| now / (now - then);
            let falling = self.weights.iter().zip(&wanted).filter(|(_, then)| **then <= WEIGHT_MIN);
            let part = falling.map(part).fold(1.0, f64::min).clamp(0.0, 1.0);
            let mut least = (f64::INFINITY, 0);
            for (k, (now, then)) in self.weights.iter_mut().zip(&wanted).enumerate() {
                *now += part * (then - *now);
                if *then <= WEIGHT_MIN && *now < least.0 {
                    least = (*now, k);
                }
            }
            self.corners.remove(least.1);
            self.weights.remove(least.1);
        }
        self.weights[0] = 1.0;
        Some(())
    }

    /// The weights, of any sign, of the point of the affine hull nearest the target: least
    /// `|Σ w c|²` with `Σ w = 1`.
    fn affine_weights(&self, target: &Event) -> Option<ArrayVec<f64, 5>> {
        let n = self.corners.len();
        let mut system = Matrix6::identity();
        let mut right = Vector6::zeros();
        for i in 0..n {
            for k in 0..n {
                let (a, b) = (self.corners[i].event - target, self.corners[k].event - target);
                system[(i, k)] = a.dot(&b);
            }
            (system[(i, 5)], system[(5, i)]) = (1.0, 1.0);
        }
        system[(5, 5)] = 0.0;
        right[5] = 1.0;
        let solution = system.lu().solve(&right)?;
        let weights: ArrayVec<f64, 5> = solution.iter().copied().take(n).collect();
        weights.iter().all(|weight| weight.is_finite()).then_some(weights)
    }
}
