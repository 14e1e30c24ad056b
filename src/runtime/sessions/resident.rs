//! What the registry has to know about a session, and what lists show of it.

use std::time::Duration;

use crate::geometry::effort::Cost;

/// What the registry has to know about a session.
pub trait Resident: Send + 'static {
    /// Memory it takes, estimated.
    fn bytes(&self) -> u64;
    /// Gives up what can be had again by computing.
    fn slim(&mut self);
    /// For lists.
    fn summary(&self) -> Summary;
}

/// A session without its bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The last frame applied.
    pub frame: u64,
    /// Number of bodies.
    pub bodies: u64,
    /// Number of pairs that are checked.
    pub checked_pairs: u64,
    /// Contacts announced and not ended.
    pub contacts: u64,
    /// Frames answered on this server.
    pub frames_answered: u64,
    /// What they cost.
    pub cost: Cost,
    /// Time spent on them.
    pub elapsed: Duration,
}
