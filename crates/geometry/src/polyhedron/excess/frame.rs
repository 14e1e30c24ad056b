//! Where everything is reckoned: around the middle of the points, on a scale by a power of two on
//! which their largest extent is between 1 and 2.

use crate::Vec3;
use crate::number::binary::exponent_of;
use crate::number::scale::PowerOfTwo;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(in crate::polyhedron) struct UnitFrame {
    middle: Vec3,
    exponent: i32,
}

impl UnitFrame {
    /// None where all points are one.
    pub(in crate::polyhedron) fn around<'a>(
        mut points: impl Iterator<Item = &'a Vec3>,
    ) -> Option<Self> {
        let first = *points.next()?;
        let (low, high) = points.fold((first, first), |(low, high), p| (low.inf(p), high.sup(p)));
        let exponent = exponent_of((high - low).max())?;
        // Halves first: coordinates may be near the greatest that are accepted.
        Some(Self { middle: low * 0.5 + high * 0.5, exponent })
    }

    /// A point, as this frame has it. Its coordinates err by less than two roundings of the extent,
    /// because a difference rounds by a part of itself.
    pub(in crate::polyhedron) fn inward(&self, p: &Vec3) -> Vec3 {
        (p - self.middle).map(|x| PowerOfTwo::new(-self.exponent).times(x))
    }

    /// An f64 point of the world near a point of this frame.
    pub(in crate::polyhedron) fn outward(&self, p: &Vec3) -> Vec3 {
        p.map(|x| self.length_outward(x)) + self.middle
    }

    /// A length of this frame, metres.
    pub(in crate::polyhedron) fn length_outward(&self, length: f64) -> f64 {
        PowerOfTwo::new(self.exponent).times(length)
    }

    /// A length of the world, as this frame has it.
    pub(in crate::polyhedron) fn length_inward(&self, length: f64) -> f64 {
        // Infinite lengths are no numbers to be split.
        if length.is_finite() { PowerOfTwo::new(-self.exponent).times(length) } else { length }
    }

    /// A volume of this frame, cubic metres.
    pub(in crate::polyhedron) fn volume_outward(&self, volume: f64) -> f64 {
        PowerOfTwo::new(3 * self.exponent).times(volume)
    }
}
