//! What proves that two bodies overlap no less than stated.

use crate::vertex_pair::VertexPair;

/// A closed, outward-oriented triangulated surface whose corners are differences of vertex pairs,
/// with the origin strictly on the inner side of every triangle's plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// The corners.
    pub corners: Vec<VertexPair>,
    /// Indices into `corners`, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}
