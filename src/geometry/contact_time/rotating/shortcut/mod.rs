//! Answers that need no search of their own, or a search from another side.
//!
//! - [`common_rotation`]: bodies that turn by the same angle about one axis only translate to each
//!   other.
//! - [`swapped`]: an undecided question, asked with the bodies in each other's place.
//! - [`inter_frame`]: the hulls of both frames, disjoint by a linear program (a named method).

pub(super) mod common_rotation;
pub(in super::super) mod inter_frame;
pub(super) mod swapped;
