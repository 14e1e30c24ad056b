//! Two bodies over a step: where they start, how they move, and what counts as contact.

use super::bodies::Bodies;
use super::reach::Reach;
use crate::motion::Motion;
use crate::number::tolerance;

/// The least clearance tolerance that turning bodies honour, relative to the larger of size and
/// world.
pub const CLEARANCE_TOLERANCE_MIN: f64 = tolerance::CLEARANCE_LEAST;

/// How wide the bracket of a first contact may be in t, where nothing else is asked.
pub const TIME_TOLERANCE: f64 = tolerance::BRACKET_WIDTH;

/// Two bodies as they move, and what counts as free and as contact.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The bodies at t = 0.
    pub bodies: Bodies<'a>,
    /// How P moves.
    pub motion_p: Motion,
    /// How Q moves.
    pub motion_q: Motion,
    /// Contact means distance at most this.
    pub reach: Reach,
    /// Freedom holds for every motion of P within this of the stated one, metres.
    pub deviation_p: f64,
    /// Proofs of freedom hold for every motion of Q within this of the stated one, metres.
    pub deviation_q: f64,
}
