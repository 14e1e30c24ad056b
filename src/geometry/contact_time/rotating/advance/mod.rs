//! Conservative advancement: which heading to take, and how far along it the bodies are surely
//! free of contact.
//!
//! Each file uses only those above it in this list.
//! - [`nearest`]: the point of M = Q - P nearest the origin, where directions come from.
//! - [`step`]: the certified step along one heading, from a bound of how its gap bends.
//! - [`along`]: a step of the search along the heading in use, and what it adds to the chain.
//! - [`headings`]: the heading with the largest gap, in the frame where gaps bend least.
//! - [`aim`]: steps that aim at contact, along the normal that the nearest features will have.
//! - [`further`]: other headings where all of those are slow.
//! - [`start`]: the first link or heading, from the bodies' places and sizes alone.

pub(super) mod aim;
pub(super) mod along;
pub(super) mod further;
pub(super) mod headings;
pub(super) mod nearest;
pub(super) mod start;
pub(super) mod step;
