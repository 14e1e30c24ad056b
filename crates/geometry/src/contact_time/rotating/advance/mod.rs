//! Conservative advancement: which heading to take, and how far along it the bodies are surely
//! free of contact.
//!
//! Each file uses only those above it in this list.
//! - [`simplex`]: the point of a small hull nearest the origin.
//! - [`nearest`]: the point of M = Q - P nearest the origin at a time, and directions towards it.
//! - [`step`]: the certified step along one heading, and what it adds to the chain.
//! - [`headings`]: the heading with the largest gap along the direction of the nearest point.
//! - [`start`]: the first link and the first heading, from the bodies' places and sizes.
//! - [`aim`]: steps that aim at contact, along the normal that the nearest features will have.
//! - [`further`]: other headings where all of those are slow.

pub(super) mod aim;
pub(super) mod further;
pub(super) mod headings;
pub(super) mod nearest;
mod simplex;
pub(super) mod start;
pub(super) mod step;
