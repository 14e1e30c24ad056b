//! Proofs of contact. Where turning bodies touch has no closed form, so a proof names a time at
//! which pairs of vertices surely hold the origin in the hull of their differences; or it is exact,
//! because no rotation matters to it.
//!
//! Each file uses only those above it in this list.
//! - [`in_plane`]: bodies that share a plane, which hold the origin strictly inside within it.
//! - [`widely`]: contact at one time, by pairs from all around.
//! - [`at_time`]: contact at one time, by pairs near the nearest point, and by others if need be;
//!   where the search probes for it, and how wide a bracket may be.
//! - [`deeper`]: contact after the free part, in steps that allow some depth, or at the end.
//! - [`closing`]: a gap that no rotation changes closes at an exact time.
//! - [`fixed_points`]: vertices that no rotation moves meet at an exact time.
//! - [`passing`]: flat bodies pass through each other within a bracket.

pub(super) mod at_time;
pub(super) mod closing;
pub(super) mod deeper;
pub(super) mod fixed_points;
mod in_plane;
pub(super) mod passing;
mod widely;
