//! What is stated of a distance and a margin.

use crate::vertex_pair::VertexPair;

/// What is said of a margin, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginClaim<'a> {
    /// Finite and not negative.
    pub margin: f64,
    /// Whether the distance is at most that, or is more.
    pub is_within: bool,
    /// At most three, which show it.
    pub pairs: &'a [VertexPair],
}
