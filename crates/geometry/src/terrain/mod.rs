//! Height fields: terrain as heights over a grid, which is exactly the union of its triangles.
//!
//! A field of 1024 x 1024 heights has two million triangles. None of them is stored: the least and
//! greatest heights of blocks of cells are (`pyramid`), and a triangle is made when a body is near
//! it. So what is asked of a field and a body costs what is under the body.
//!
//! A field is a surface: it has no inside, and a body stands to it as to a
//! [`TriangleSurface`](crate::polyhedron::TriangleSurface) of the same triangles.
//!
//! Reading order: [`field`] is the heights, `placed` finds the cells near a box, [`standing`] tells
//! how a convex body stands to them, [`nearest`] how far it is from them, [`deep`] how deep it
//! is in them, and [`course`] when it meets them.

pub mod course;
pub mod deep;
pub mod field;
mod group;
pub mod nearest;
mod patch;
mod piece;
mod placed;
mod pyramid;
pub mod standing;
#[cfg(test)]
mod tests;

pub use self::field::{CellRange, Diagonal, HeightField, HeightFieldError, HeightPatch, Lattice};
pub(crate) use self::group::FieldGroup;
pub use self::patch::WorldBox;
pub use self::piece::{ConvexPiece, travel_of};
pub use self::placed::PlacedField;
