//! Where bodies and robots are, where they were, and how far they have come.

pub(crate) mod carrier;
pub(crate) mod entry;
pub(crate) mod history;
pub(crate) mod mounted;
pub(crate) mod robot_way;
pub(crate) mod spin;
pub(crate) mod travel;
pub(crate) mod visitor;
