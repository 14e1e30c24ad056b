//! Between the messages of the API ([`clearance_proto`]) and the claims that [`clearance_proof`]
//! judges, one way for the server, for clients and for tools.
//!
//! [`geometry`] has points, poses, motions and directions, [`certificate`] the proofs; [`told`] is
//! a question with its answer, and [`hulls`] reads and judges what such an answer claims of two
//! convex bodies, [`rounded`] of two with round edges. Whatever is wrong with a field of a message
//! is said with its [`path`].

pub mod certificate;
pub mod geometry;
pub mod hulls;
pub mod path;
pub mod rounded;
pub mod told;
