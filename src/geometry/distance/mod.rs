//! How far apart: a bracket that encloses the exact distance, with its certificate.

use arrayvec::ArrayVec;

use super::Vec3;
use super::effort::{Effort, Stopped};
use super::pair::{Pair, VertexPair};
use super::separation::Decision;
use super::witness::Witness;

/// When a distance search may stop early; the verdict stays exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stops {
    /// Stop once `lower` exceeds this, in metres.
    pub above: Option<f64>,
    /// Stop once `upper` is below this, in metres.
    pub below: Option<f64>,
}

/// The distance of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// The verdict with its proof.
    pub decision: Decision,
    /// At most the exact distance, in metres; 0 unless separated.
    pub lower: f64,
    /// At least the exact distance, in metres; 0 unless separated.
    pub upper: f64,
    /// With v the point nearest the origin in the hull of their differences, |v| is at most `upper`
    /// and the least of `v·y / |v|` over M at least `lower`.
    pub pairs: ArrayVec<VertexPair, 3>,
    /// Closest points in the world, rounded: for use, not for proof. When in contact, a common
    /// point up to rounding.
    pub closest_p: Vec3,
    /// See `closest_p`.
    pub closest_q: Vec3,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

/// Measures the distance of the pair.
pub fn measure(
    pair: &Pair<'_>,
    stops: Stops,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Distance, Stopped> {
    let _ = (pair, stops, witness, effort);
    todo!("distance")
}

/// Whether the distance is at most `margin`, exactly. `margin` is finite and not negative.
pub fn is_within(
    pair: &Pair<'_>,
    margin: f64,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    let _ = (pair, margin, witness, effort);
    todo!("margin")
}
