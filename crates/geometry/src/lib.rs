//! From points to verdicts. Values and pure functions; no clock, no I/O, no threads.
//!
//! Reading order: [`number`] makes arithmetic trustworthy; [`pose`] and [`motion`] say where things
//! are; [`hull`] turns points into a [`polytope`], [`hierarchy`] and [`support`] search it;
//! [`pair`] places two of them; [`separation`], [`distance`], [`penetration`], [`rounded`] and
//! [`contact_time`] answer with what [`claim`] can state, [`meeting`] with what is for use only;
//! [`judge`] checks claims without sharing code with the searches.

pub use clearance_proof::{Mat3, Vec3, claim, effort, judge, motion, number, pose};

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

pub mod cloud;
pub mod contact_time;
pub(crate) mod difference;
pub mod distance;
pub mod faces;
pub mod meeting;
pub mod penetration;
pub mod rounded;
pub mod separation;

#[cfg(all(test, target_arch = "x86_64"))]
mod both_compilations;
#[cfg(test)]
#[path = "../../samples/src/shapes.rs"]
#[expect(unreachable_pub, dead_code, reason = "the other crates see and use them")]
pub(crate) mod samples;
