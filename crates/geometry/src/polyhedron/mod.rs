//! Solids that need not be convex, given by the triangles that bound them, and surfaces that bound
//! nothing; and how two solids stand where they are. When moving ones meet is asked in
//! [`super::contact_time::polyhedra`].
//!
//! Reading order: `surface` is triangles as they are, `mesh` says which of them bound a region and
//! `closed` checks that, by what is beyond each edge (`edges`); `canonical` says in which order
//! they are, `tree` finds near triangles, `meeting` tells whether two triangles meet; `placed` puts
//! bodies where they are, `ray` and `interiors` tell whether their insides share a point; `groups`
//! has polytopes around neighbouring triangles, of which a mesh keeps some (`keep`), as it does the
//! boxes that rays walk down (`wide`). `excess` measures any mesh, whatever it bounds, against its
//! hull, and `pieces` makes of it several convex bodies that hold it.

mod canonical;
mod closed;
mod edges;
pub(super) mod entering;
pub mod excess;
pub(super) mod groups;
pub(super) mod interiors;
mod keep;
pub(super) mod meeting;
mod mesh;
pub mod pieces;
pub(super) mod placed;
pub(super) mod ray;
mod refused;
mod surface;
pub(super) mod tree;
mod triangle_body;
pub(super) mod wide;

pub use entering::SurfaceEntry;
pub use groups::{Boundary, BoundaryKind, HulledBody};
pub use mesh::Polyhedron;
pub use placed::PlacedPoints;
pub use refused::PolyhedronError;
pub use surface::{SurfaceError, TriangleSurface};
pub use triangle_body::TriangleBody;
