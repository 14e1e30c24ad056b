//! What the registry has to know about a session, and what lists show of it.

use std::time::Duration;

use clearance_geometry::effort::Cost;

/// What the registry has to know about a session.
pub trait Resident: Send + 'static {
    /// Memory it takes, estimated.
    fn bytes(&self) -> u64;
    /// Gives up what can be had again by computing.
    fn slim(&mut self);
    /// What lists of sessions say of it.
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
    /// Pairs of which something is remembered.
    pub pairs_known: u64,
    /// Those that slept in the last answered frame.
    pub pairs_asleep: u64,
    /// Pairs that were looked at because the room of their verdict was used up.
    pub pairs_expired: u64,
    /// Memory of the bodies, bytes, estimated.
    pub body_bytes: u64,
    /// Memory of what is remembered of pairs, bytes, estimated.
    pub pair_bytes: u64,
    /// Past frames that are kept.
    pub past_frames: u64,
    /// The oldest frame that can be asked about.
    pub oldest_frame: u64,
    /// Memory of the past frames, bytes.
    pub history_bytes: u64,
}

impl Summary {
    /// The sizes of both together; nothing else is added up.
    #[must_use]
    pub fn with_sizes_of(self, other: &Self) -> Self {
        Self {
            bodies: self.bodies + other.bodies,
            checked_pairs: self.checked_pairs.saturating_add(other.checked_pairs),
            contacts: self.contacts + other.contacts,
            pairs_known: self.pairs_known + other.pairs_known,
            pairs_asleep: self.pairs_asleep + other.pairs_asleep,
            body_bytes: self.body_bytes + other.body_bytes,
            pair_bytes: self.pair_bytes + other.pair_bytes,
            past_frames: self.past_frames + other.past_frames,
            history_bytes: self.history_bytes + other.history_bytes,
            ..self
        }
    }
}
