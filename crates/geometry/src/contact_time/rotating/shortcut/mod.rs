//! Answers that need no search of their own, or a search from another side.
//!
//! - [`swapped`]: an undecided question, asked with the bodies in each other's place.
//! - [`inter_frame`]: the hulls of both frames, disjoint by a linear program (a named method).

pub(in super::super) mod inter_frame;
pub(super) mod swapped;
