//! Solids that need not be convex, given by the triangles that bound them, and how two of them
//! stand where they are. When moving ones meet is asked in [`super::contact_time::polyhedra`].
//!
//! Reading order: `mesh` says what a body is and `canonical` in which order, `tree` finds near
//! triangles, `meeting` tells whether two triangles meet; `placed` puts bodies where they are,
//! `ray` and `interiors` tell whether their insides share a point; `groups` has polytopes around
//! neighbouring triangles, of which a mesh keeps some (`keep`). `excess` measures any mesh,
//! whatever it bounds, against its hull.

mod canonical;
pub mod excess;
pub(super) mod groups;
pub(super) mod interiors;
mod keep;
pub(super) mod meeting;
mod mesh;
pub(super) mod placed;
pub(super) mod ray;
pub(super) mod tree;

pub use groups::{Boundary, HulledBody};
pub use mesh::{Polyhedron, PolyhedronError};
pub use placed::PlacedPoints;
