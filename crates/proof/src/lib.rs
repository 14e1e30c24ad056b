//! Certificates and their judges: what an answer about bodies in motion asserts, and how to check
//! it from scratch, in exact arithmetic. There is no search here.
//!
//! Reading order: [`number`] makes arithmetic trustworthy; [`pose`] and [`motion`] say where things
//! are; [`claim`] is what can be stated about two bodies, with the proof that comes with it;
//! [`judge`] looks at every vertex and accepts or refuses. [`effort`] bounds what either may cost.

pub mod number;

pub mod effort;
pub mod motion;
pub mod pose;

pub mod claim;
pub mod judge;
pub mod vertex_pair;

/// A point or vector of three coordinates, in metres unless its name says otherwise.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3x3 matrix of f64 entries.
pub type Mat3 = nalgebra::Matrix3<f64>;
