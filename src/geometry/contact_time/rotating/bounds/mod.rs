//! What is known about two bodies in motion: where they are at a time, how wide the gap between
//! them is along a direction, and how fast that gap can change.
//!
//! Each file uses only those above it in this list.
//! - [`heading`]: a direction, the frame that it is fixed in, and the gap along it at a time.
//! - [`body`]: one body in motion, and its vertex that is farthest along a direction.
//! - [`enclosed`]: heights along a direction as intervals.
//! - [`pair`]: both bodies, how fast gaps bend, and the gap at a time as an interval.
//! - [`swept`]: the solids that the bodies sweep as they turn, which bound the gap for all angles.
//! - [`posed`]: both bodies at one time in plain floating point.
//! - [`moving`]: the pair with its places at the last few times, and the gap at any time.
//! - [`unturned`]: heights that no rotation changes, exactly, and the plane that flat bodies share.

pub(super) mod body;
mod enclosed;
pub(super) mod heading;
pub(super) mod moving;
pub(super) mod pair;
pub(super) mod posed;
pub(super) mod swept;
pub(super) mod unturned;
