//! Certificates and their judges: what an answer about bodies in motion asserts, and how to check
//! it from scratch, in exact arithmetic. There is no search here.
//!
//! Reading order: [`number`] makes arithmetic trustworthy; [`pose`] and [`motion`] say where things
//! are; [`claim`] is what can be stated about two bodies, with the proof that comes with it;
//! [`judge`] looks at every vertex and accepts or refuses. [`effort`] bounds what either may cost,
//! and [`until`] says when nobody waits for it any more.
//!
//! | you have | you call |
//! |---|---|
//! | how two convex bodies stand, and why | [`judge::judge_static`] |
//! | the same with balls around their points | [`judge::judge_rounded`] |
//! | how far apart they are, within a bracket | [`judge::judge_distance`] |
//! | how deep they overlap | [`judge::judge_depth`], along a direction [`judge::judge_range`] |
//! | when they first meet | [`judge::judge_first_contact`] |
//! | the same of bodies of several convex parts | [`judge::judge_compounds`] and its like |
//! | the same of bodies that are not convex | [`judge::judge_solids`] and its like |
//!
//! A judge sees points and where they are, and nothing of who found the proof. It answers `Ok`, or
//! a [`judge::Refusal`] that says what does not hold. Where a body is, are the twelve numbers of
//! [`pose::Pose`], taken as they are: no rotation is made of them, so there is nothing to round.
//!
//! ```
//! use clearance_proof::Vec3;
//! use clearance_proof::claim::{Bodies, Direction, Points, StaticProof};
//! use clearance_proof::judge::judge_static;
//! use clearance_proof::pose::Pose;
//!
//! let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
//! let at = |x| Points { points: &corners, pose: Pose::translation(x, 0.0, 0.0) };
//! let separated_along = |normal| StaticProof::Separated { direction: Direction::Vector(normal) };
//!
//! // Somebody claims that a plane across x separates the two. One unit in the last place decides.
//! let proof = separated_along(Vec3::new(1.0, 0.0, 0.0));
//! let bodies = |x| Bodies { p: at(0.0), q: at(x) };
//! assert!(judge_static(bodies(1.0_f64.next_up()), &proof).is_ok());
//! assert!(judge_static(bodies(1.0), &proof).is_err());
//! ```
//!
//! It builds wherever Rust does, for `wasm32-unknown-unknown`, too, and needs numbers only: see
//! `[dependencies]` in its manifest.

pub mod number;

pub mod effort;
pub mod motion;
pub mod pose;
pub mod until;

pub mod claim;
pub mod judge;
pub mod vertex_pair;

/// A point or vector of three coordinates, in metres unless its name says otherwise.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3x3 matrix of f64 entries.
pub type Mat3 = nalgebra::Matrix3<f64>;
