//! What is remembered of pairs from frame to frame, and the look that most of them take.

pub(crate) mod kept;
pub(crate) mod looks;
pub(crate) mod runner;
pub(crate) mod table;
