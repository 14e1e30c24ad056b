//! How far a point is from all that stands still, at least: a number for each cube of a grid.
//!
//! Most balls around links are far from everything, and a number that is read says so sooner than
//! a walk down a tree does. A number is the distance of the middle of the cube less half its
//! diagonal, rounded down, so it holds for every point of the cube. It is found when it is first
//! asked for, by the tree, and depends on nothing else: whoever asks without it sees the same
//! pairs.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use clearance_geometry::Vec3;
use clearance_geometry::number::rounding::BOUND_SLACK;

#[cfg(test)]
mod tests;

/// Cubes along each side.
const SIDE: usize = 64;
/// What a step of the kept numbers is of the side of a cube.
const STEP: f64 = 0.25;
/// A step less than the kept number is known; this says that no distance is.
const NOTHING_KNOWN: u8 = 1;
/// Configurations that are asked about before there is a grid: few are answered sooner without.
const ASKED_MIN: u32 = 1 << 10;
/// Bodies from which on there is one: a tree of few is walked as fast.
const BODIES_MIN: usize = 8;
/// Memory of a grid.
const BYTES: usize = SIDE * SIDE * SIDE;

/// A grid over all that stands still.
struct DistanceField {
    low: Vec3,
    /// The sides of a cube, metres.
    cube: Vec3,
    /// 0: not found yet.
    steps: Vec<AtomicU8>,
}

impl DistanceField {
    /// Over a box that is a little larger than this one; none: that is no box of a size.
    fn new([low, high]: [Vec3; 2]) -> Option<Self> {
        let room = (high - low).amax() / 8.0;
        let (low, high) = (low.add_scalar(-room), high.add_scalar(room));
        let cube = (high - low) / SIDE as f64;
        let is_good = |side: f64| side.is_normal() && (1.0 / side).is_normal();
        let steps = || (0..BYTES).map(|_| AtomicU8::new(0)).collect();
        cube.iter().all(|side| is_good(*side)).then(|| Self { low, cube, steps: steps() })
    }

    /// At most the distance of a point from everything; none: it is outside, or nothing is known.
    /// `distance_at` is at most that of another point.
    #[inline(always)]
    fn at_least(&self, point: &Vec3, distance_at: impl Fn(&Vec3) -> f64) -> Option<f64> {
        let place = (point - self.low).component_div(&self.cube);
        // Written so that NaN is outside.
        if !place.iter().all(|at| *at >= 0.0 && *at < SIDE as f64) {
            return None;
        }
        let [x, y, z] = [place.x as usize, place.y as usize, place.z as usize];
        let kept = &self.steps[(x * SIDE + y) * SIDE + z];
        let steps = match kept.load(Ordering::Relaxed) {
            0 => {
                let steps = self.steps_of([x, y, z], distance_at);
                kept.store(steps, Ordering::Relaxed);
                steps
            }
            known => known,
        };
        (steps > NOTHING_KNOWN).then(|| f64::from(steps - NOTHING_KNOWN) * self.step())
    }

    /// What is kept for a cube.
    #[cold]
    fn steps_of(&self, at: [usize; 3], distance_at: impl Fn(&Vec3) -> f64) -> u8 {
        let middle = self.low + Vec3::from_fn(|k, _| (at[k] as f64 + 0.5) * self.cube[k]);
        // A point is put into a cube by rounded numbers, so it may be a hair outside.
        let size = self.low.amax() + self.cube.amax() * SIDE as f64;
        let to_corner = 0.5 * self.cube.norm() * (1.0 + BOUND_SLACK) + size * BOUND_SLACK;
        let steps = ((distance_at(&middle) - to_corner) / self.step()) * (1.0 - BOUND_SLACK);
        // Casting to an integer rounds down, and stays within its bounds.
        (steps.floor() as u8).saturating_add(NOTHING_KNOWN)
    }

    fn step(&self) -> f64 {
        STEP * self.cube.amin()
    }
}

impl std::fmt::Debug for DistanceField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DistanceField").field("low", &self.low).field("cube", &self.cube).finish()
    }
}

/// A grid that is made once enough is asked; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedField(Arc<FieldOnce>);

#[derive(Debug, Default)]
struct FieldOnce {
    /// How many configurations were asked about.
    asked: AtomicU32,
    field: OnceLock<Option<DistanceField>>,
}

impl SharedField {
    /// Memory that the grid of so many bodies takes, bytes, made or not.
    pub(super) fn bytes(bodies: usize) -> usize {
        if bodies < BODIES_MIN { 0 } else { BYTES }
    }

    /// Counts configurations that are about to be asked about, among so many bodies in a box.
    pub(super) fn expect(&self, count: usize, bodies: usize, around: Option<[Vec3; 2]>) {
        let (Some(around), true) = (around, bodies >= BODIES_MIN) else { return };
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let add = |asked: u32| Some(asked.saturating_add(count));
        let before = self.0.asked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        if before.is_ok_and(|asked| asked.saturating_add(count) >= ASKED_MIN) {
            self.0.field.get_or_init(|| DistanceField::new(around));
        }
    }

    /// Whether all is farther from a point than this; `distance_at` is at most the distance of a
    /// point from all. False: that is not known.
    #[inline(always)]
    pub(super) fn is_beyond(
        &self,
        point: &Vec3,
        distance: f64,
        distance_at: impl Fn(&Vec3) -> f64,
    ) -> bool {
        let Some(Some(field)) = self.0.field.get() else { return false };
        field.at_least(point, distance_at).is_some_and(|at_least| at_least > distance)
    }
}
