//! What is known about two bodies in motion: where they are at a time, how wide the gap between
//! them is along a direction, and how fast that gap can change.
//!
//! Each file uses only those above it in this list.
//! - [`body`]: one body in motion, and its vertex that is farthest along a direction.
//! - [`pair`]: both bodies; headings, the gap along one as an interval, and how fast it can bend.
//! - [`supports`]: the vertices that very likely support both bodies along a direction.
//! - [`posed`]: the pair at one time in plain floating point.
//! - [`moving`]: what a search asks: headings, measured gaps and planes of corners at any time.
//! - [`unturned`]: heights that no rotation changes, exactly, and the plane that flat bodies share.

pub(super) mod body;
pub(super) mod moving;
pub(super) mod pair;
pub(super) mod posed;
pub(super) mod supports;
pub(super) mod unturned;
