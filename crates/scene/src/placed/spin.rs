//! What is said of how bodies have turned since the last answered frame.

use crate::declared::spin::{check, turn_of};
use clearance_geometry::motion::Turn;
use clearance_geometry::{Mat3, Vec3};

/// What is said of the turn of a body since the last answered frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Spin {
    /// Nothing: it is the shortest one.
    #[default]
    Unsaid,
    /// It is this one, radians.
    Said(Vec3),
    /// It was said, but of frames that are answered as one and turn about different axes: no one
    /// turn is what they say.
    Lost,
}

impl Spin {
    /// The turn from one rotation to another.
    pub(crate) fn turn(&self, [from, to]: [&Mat3; 2]) -> Turn {
        match self {
            Self::Said(spin) => turn_of(spin),
            Self::Unsaid | Self::Lost => Turn::between(from, to),
        }
    }

    /// That of a body which began at the first of these rotations, had come to the second, and
    /// goes on to the third, in a frame that is answered with those before it. Turns about one axis
    /// add up.
    pub(crate) fn joined(self, [start, from, to]: [&Mat3; 3], spin: Option<Vec3>) -> Self {
        let so_far = match (self, spin) {
            (Self::Lost, _) | (Self::Unsaid, None) => return self,
            (Self::Said(spin), _) => spin,
            (Self::Unsaid, Some(_)) => shortest(start, from),
        };
        let spin = so_far + spin.unwrap_or_else(|| shortest(from, to));
        if check(&spin, [start, to]).is_ok() { Self::Said(spin) } else { Self::Lost }
    }
}

/// The shortest turn between two rotations as a spin, rounded.
fn shortest(from: &Mat3, to: &Mat3) -> Vec3 {
    let Turn { axis, angle } = Turn::between(from, to);
    axis.try_normalize(0.0).map_or_else(Vec3::zeros, |axis| axis * angle)
}
