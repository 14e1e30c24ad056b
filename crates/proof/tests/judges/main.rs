//! The judges on claims about real hulls: those that hold, and those that do not.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod depth;
mod distance;
mod motion;
#[expect(clippy::float_cmp, reason = "exact values are meant")]
mod range;
mod verdict;
