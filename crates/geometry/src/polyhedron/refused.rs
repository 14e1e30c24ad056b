//! Why triangles bound no polyhedron.

use crate::effort::Stopped;

/// Why a mesh bounds no polyhedron. Triangles and vertices are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolyhedronError {
    /// Fewer than four triangles, or 2^31 or more.
    #[error("a polyhedron has at least four triangles and fewer than 2^31, not {found}")]
    Count {
        /// How many triangles were given.
        found: usize,
    },
    /// A coordinate is not finite, or beyond 2^960.
    #[error("vertex {vertex} has a coordinate that is not finite or beyond 2^960")]
    Coordinate {
        /// The index of the vertex in the given list.
        vertex: u32,
    },
    /// A triangle names a vertex that is not given.
    #[error("triangle {triangle} names vertex {vertex}, which is not given")]
    NoVertex {
        /// The index of the triangle in the given list.
        triangle: u32,
        /// The index that it names.
        vertex: u32,
    },
    /// The three corners are on a line.
    #[error("the corners of triangle {triangle} are on one line")]
    Degenerate {
        /// The index of the triangle in the given list.
        triangle: u32,
    },
    /// Two triangles have one edge in the same direction.
    #[error("more than one triangle has the edge from {from} to {to}")]
    EdgeTwice {
        /// Its first vertex.
        from: u32,
        /// Its second vertex.
        to: u32,
    },
    /// No triangle is on the other side of an edge.
    #[error("the mesh is open at the edge from {from} to {to}: no triangle has it backwards")]
    Open {
        /// Its first vertex.
        from: u32,
        /// Its second vertex.
        to: u32,
    },
    /// Two triangles share more than the vertex or edge that they have in common.
    #[error("triangles {first} and {second} intersect")]
    Intersecting {
        /// The lower one.
        first: u32,
        /// The higher one.
        second: u32,
    },
    /// A shell has its outside inside.
    #[error("the shell of triangle {triangle} is inside out")]
    InsideOut {
        /// Its lowest triangle.
        triangle: u32,
    },
    /// The check was stopped.
    #[error(
        "the mesh could not be checked within the steps allowed: too many triangles are close \
         together"
    )]
    Unchecked(Stopped),
}
