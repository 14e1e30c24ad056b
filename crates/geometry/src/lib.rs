//! From points to verdicts. Values and pure functions; no clock, no I/O, no threads.
//!
//! Reading order: [`number`] makes arithmetic trustworthy; [`pose`] and [`motion`] say where things
//! are; [`hull`] turns points into a [`polytope`], [`hierarchy`] and [`support`] search it;
//! [`pair`] places two of them; [`separation`], [`distance`], [`penetration`], [`rounded`] and
//! [`contact_time`] answer with what [`claim`] can state, [`meeting`] with what is for use only;
//! [`judge`] checks claims without sharing code with the searches.
//!
//! | question about two bodies | function |
//! |---|---|
//! | separated, touching or overlapping, exactly | [`separation::decide`] |
//! | how far apart | [`distance::measure`] |
//! | how deep, and along a direction | [`penetration::measure`] |
//! | when they first meet on their ways | [`contact_time::first_contact`] |
//! | the same of polytopes with balls around all their points | [`rounded`] |
//! | the same of bodies that are not convex | [`faces`], [`contact_time::polyhedra`] |
//!
//! Every question is a function of the question itself, of a [`witness::Witness`] and of an
//! [`effort::Effort`]. The witness is what the last question about the pair left behind: it saves
//! time and changes no answer. The effort is a budget, and counts what was done; a function that
//! uses it up says so and decides nothing. An answer carries its proof.
//!
//! ```
//! use clearance_geometry::claim::Verdict;
//! use clearance_geometry::effort::Effort;
//! use clearance_geometry::hull::convex_hull;
//! use clearance_geometry::judge::judge_static;
//! use clearance_geometry::pair::Pair;
//! use clearance_geometry::pose::Pose;
//! use clearance_geometry::separation::{METHODS, decide};
//! use clearance_geometry::{Vec3, distance, witness::Witness};
//!
//! let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
//! let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
//! let beside = Pose::translation(1.0_f64.next_up(), 0.0, 0.0);
//! let pair = Pair::new(&cube, Pose::identity(), &cube, beside);
//!
//! let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
//! let decision = decide(&pair, &METHODS[0], witness, effort).unwrap();
//! assert_eq!(decision.verdict(), Verdict::Separated);
//! assert!(judge_static(&pair, &decision.proof).is_ok());
//!
//! let gap = distance::measure(&pair, distance::Stops::default(), witness, effort).unwrap();
//! assert!(gap.lower <= f64::EPSILON && f64::EPSILON <= gap.upper);
//! ```

pub use clearance_proof::{Mat3, Vec3, claim, effort, judge, motion, number, pose, until};

pub mod csr;
pub mod kernel;
pub mod processor;
mod symmetric;

pub mod hierarchy;
pub mod hull;
pub mod polyhedron;
pub mod polytope;
pub mod reach;
pub mod shape;
pub mod support;

pub mod pair;
pub mod witness;

mod aligned;

pub mod cloud;
pub mod contact_time;
pub(crate) mod difference;
pub mod distance;
pub mod faces;
pub mod meeting;
pub mod penetration;
pub mod rays;
pub mod rounded;
mod seams;
pub mod separation;
pub mod terrain;

#[cfg(all(test, target_arch = "x86_64"))]
mod both_compilations;
#[cfg(test)]
#[path = "../../samples/src/shapes.rs"]
#[expect(unreachable_pub, reason = "the other crates see and use them")]
pub(crate) mod samples;
