//! A heading is a direction that is fixed in the world or turns with one of the bodies. The gap
//! along it is what the search advances by.

use crate::geometry::Vec3;
use crate::geometry::claim::Frame;
use crate::geometry::number::interval::Interval;
use crate::geometry::number::rounding::SQUARES;
use crate::geometry::pair::VertexPair;

/// A direction and the frame in which it is fixed.
#[derive(Clone, Debug)]
pub(in super::super) struct Heading {
    pub(in super::super) frame: Frame,
    /// The direction at t = 0, of length 1 up to rounding.
    pub(in super::super) direction: Vec3,
    /// An upper bound of the direction's length.
    pub(in super::super) length: f64,
    /// An upper bound of the second derivative of `s·(x_q - x_p)` over [0, 1], for any two
    /// vertices.
    pub(in super::super) bend: f64,
}

/// The gap along a heading at a time: how far Q's lowest vertex is above P's highest.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct MovingGap {
    pub(in super::super) value: Interval,
    /// The gap's rate of change while its supporting vertices stay the same, rounded.
    pub(in super::super) rate: f64,
    /// The supporting vertices, or vertices that are as far but for rounding.
    pub(in super::super) pair: VertexPair,
}

/// What a gap has to exceed, in units of the heading's direction.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Need {
    pub(in super::super) clear: f64,
}

impl Need {
    /// The need along this heading for bodies that have to stay `clear` metres apart (in the
    /// search's units). A negative number allows them some depth.
    pub(in super::super) fn along(heading: &Heading, clear: f64) -> Self {
        let along = clear * heading.length;
        // Rounding goes up, towards "not clear".
        Self { clear: if along.abs() > 0.0 { along.next_up() } else { 0.0 } }
    }

    /// By how much the gap surely exceeds the need. The width of the gap's enclosure is taken off
    /// once more, so that a judge with looser enclosures still agrees.
    pub(in super::super) fn surplus(self, gap: &MovingGap) -> f64 {
        let width = gap.value.high() - gap.value.low();
        ((gap.value.low() - width).next_down() - self.clear).next_down()
    }
}

/// A heading with the gap along it at the time that the search is at.
#[derive(Clone, Debug)]
pub(in super::super) struct MeasuredHeading {
    pub(in super::super) heading: Heading,
    pub(in super::super) gap: MovingGap,
}

impl MeasuredHeading {
    /// By how much the gap surely exceeds `clear`, per unit of the heading's length.
    pub(in super::super) fn surplus(&self, clear: f64) -> f64 {
        Need::along(&self.heading, clear).surplus(&self.gap) / self.heading.length
    }
}

/// The vector of length 1 along v, unless v is zero or not finite.
pub(in super::super) fn unit(v: &Vec3) -> Option<Vec3> {
    let squared = v.norm_squared();
    // Nearly every vector is of this kind, and takes half as many divisions.
    if SQUARES.contains(&squared) {
        return Some(v / squared.sqrt());
    }
    let largest = v.amax();
    let direction = (v / largest).normalize();
    (largest > 0.0 && direction.iter().all(|c| c.is_finite())).then_some(direction)
}
