//! Conservative advancement: which heading to take, and how far along it the bodies are surely
//! free of contact.
//!
//! Each file uses only those above it in this list.
//! - [`nearest`]: the point of M = Q - P nearest the origin, where directions come from.
//! - [`step`]: the certified step along one heading, and what it adds to the chain.
//! - [`headings`]: the heading to begin with, and later the one with the largest gap, in the frame
//!   where gaps bend least.
//! - [`aim`]: steps that aim at contact, along the normal that the nearest features will have.
//! - [`further`]: other headings where all of those are slow.

pub(super) mod aim;
pub(super) mod further;
pub(super) mod headings;
pub(super) mod nearest;
pub(super) mod step;
