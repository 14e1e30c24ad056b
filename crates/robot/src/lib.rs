//! Robots: what a URDF describes, where joint values put its links, and questions about thousands
//! of configurations at a time.
//!
//! A robot is a tree of joints ([`tree`]) whose links carry parts ([`model`]): polytopes, and
//! polyhedra where meshes are taken as they are ([`body`]). The formula
//! by which joint values become the twelve numbers of every part is in [`kinematics`]; everything
//! that is said about a configuration is said about these numbers, exactly.

pub mod ball;
pub mod body;
pub mod cell;
mod certify;
pub mod check;
pub mod claim;
pub mod cloud;
pub mod edge;
pub mod error;
mod footprint;
pub mod gradient;
pub mod judge;
pub mod kinematics;
pub mod meeting;
pub mod mesh;
pub mod model;
pub mod parts;
pub mod path;
pub mod room;
pub mod round;
mod solids;
mod speed;
pub mod srdf;
mod stand;
pub mod still;
pub mod tree;
pub mod urdf;
mod xml;

pub use self::error::{RobotError, shown};
pub use self::model::Robot;

#[cfg(test)]
pub(crate) mod tests;
