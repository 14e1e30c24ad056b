//! The name of a point of the Minkowski difference.

/// The point `q_j - p_i` of the Minkowski difference: `i` indexes P's vertices, `j` Q's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VertexPair {
    /// Index of a vertex of P.
    pub i: u32,
    /// Index of a vertex of Q.
    pub j: u32,
}
