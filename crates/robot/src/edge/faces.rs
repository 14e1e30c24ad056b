//! Bodies that move along a face of another one: the direction across it says that they stay apart,
//! however near they are.

use crate::cell::BodyPair;
use clearance_geometry::Vec3;

/// The greatest cosine of the angle between how a body moves and the axis about which it turns, of
/// one that moves along a plane. It is zero of joints that turn about one direction, and of most
/// other motions far from that.
const PLANAR: f64 = 1.0 / 16.0;

/// Whether a body moves along a plane, nearly: by the velocity of its middle, and how it turns.
pub(super) fn is_along_a_plane([velocity, spin]: &[Vec3; 2]) -> bool {
    velocity.dot(spin).abs() <= PLANAR * (velocity.norm() * spin.norm())
}

/// The direction along which a pair was found to be farthest apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum KnownFace {
    /// Nobody has looked for one.
    NotAsked,
    /// There is none: the hulls of the two meet.
    None,
    /// A unit vector from the first body to the second.
    Across(Vec3),
}

/// Directions along which pairs were found to be farthest apart, of one edge.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownFaces {
    found: Vec<(BodyPair, KnownFace)>,
    /// The last one that was found, of any pair: what moves along a plane is likely to have one.
    last: Option<Vec3>,
}

impl KnownFaces {
    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.last = None;
    }

    /// What is known of a pair.
    pub(super) fn of(&self, pair: BodyPair) -> KnownFace {
        let known = self.found.iter().find(|(of, _)| *of == pair);
        known.map_or(KnownFace::NotAsked, |(_, face)| *face)
    }

    /// A direction that is worth a look: that of the pair, or the last one.
    pub(super) fn likely(&self, pair: BodyPair) -> Option<Vec3> {
        match self.of(pair) {
            KnownFace::Across(along) => Some(along),
            KnownFace::NotAsked => self.last,
            KnownFace::None => None,
        }
    }

    /// Keeps what was found in place of what is known of the pair; none: its hulls meet.
    pub(super) fn keep(&mut self, pair: BodyPair, found: Option<Vec3>) {
        self.last = found.or(self.last);
        let face = found.map_or(KnownFace::None, KnownFace::Across);
        match self.found.iter_mut().find(|(of, _)| *of == pair) {
            Some((_, known)) => *known = face,
            None => self.found.push((pair, face)),
        }
    }
}
