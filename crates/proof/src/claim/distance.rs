//! What is stated of a distance, or of a depth, and a margin.

use super::depth::Surface;
use super::direction::Direction;
use crate::vertex_pair::VertexPair;

/// What is said of a margin, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginClaim<'a> {
    /// Finite. One below 0 means a depth: bodies are within it that overlap at least so deep.
    pub margin: f64,
    /// Whether the distance, or minus the depth, is at most that, or is more.
    pub is_within: bool,
    /// At most three, which show it.
    pub pairs: &'a [VertexPair],
    /// Of a margin below 0 and bodies that overlap: what shows it where pairs do not.
    pub depth: Option<&'a DepthSide>,
}

/// On which side of a length the depth of two polytopes is, and what shows it. The depth of
/// polytopes that are apart is minus their distance.
#[derive(Clone, Debug, PartialEq)]
pub enum DepthSide {
    /// The depth is less: along this direction M reaches from the origin by less than the length.
    Less(Direction),
    /// The depth is at least that: the surface is in M around the origin, and nowhere nearer to it
    /// than the length.
    AtLeast(Surface),
}
