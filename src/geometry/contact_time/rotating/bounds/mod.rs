//! What is known about two bodies in motion: where they are at a time, how wide the gap between
//! them is along a direction, and how fast that gap can change.
//!
//! Each file uses only those above it in this list.
//! - [`body`]: one body in motion, and its vertex that is farthest along a direction.
//! - [`pair`]: both bodies; headings, the gap along one as an interval, and how fast it can bend.
//! - [`moving`]: the pair at the last few times in plain floating point, and the gap at any time.
//! - [`unturned`]: heights that no rotation changes, exactly, and the plane that flat bodies share.

pub(super) mod body;
pub(super) mod moving;
pub(super) mod pair;
pub(super) mod unturned;
