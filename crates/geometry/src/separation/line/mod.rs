//! Where a line through the origin meets M: guessed in floating point ([`cast`]), certified to the
//! last bit by error bounds ([`entry`]), or computed in exact arithmetic ([`crossing`], by the
//! refinement of a [`portal`]).

pub(crate) mod cast;
pub(crate) mod crossing;
pub(crate) mod entry;
pub(super) mod portal;
