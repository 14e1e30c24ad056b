//! A pair that is asked about in detail. Most pairs of most frames are not: what is kept of all of
//! them is in `memory`.

use crate::methods::CostOfEach;
use crate::pair_key::PairKey;
use crate::pairs::answer::{ContactEnd, PairAnswer};
use crate::pairs::notes::{Notes, Witnesses};
use crate::pairs::report::Counters;
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::Cost;

/// What a round asks of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Task {
    /// How it stands now, and whether it met on the way.
    #[default]
    Stand,
    /// How far apart, or how deep. Follows on `Stand`.
    Detail {
        /// The distance, with these stops.
        distance: Option<Stops>,
        /// The depth.
        depth: bool,
        /// The normal, and the distance or the depth that it takes.
        normal: bool,
        /// The contact polygon of parts that touch.
        polygon: bool,
    },
    /// Where and how a contact on the way to this frame begins or ends. Follows on `Stand`.
    Impact(ContactEnd),
    /// The range of contact along the direction that the frame asks about. Follows on `Stand`.
    Along,
    /// What was found out so far, again and with its proofs. Follows on all others.
    Prove,
}

/// One pair of a scene that is asked about in detail: an independent piece of work that owns all it
/// changes.
#[derive(Clone, Debug)]
pub struct PairState {
    pub(crate) key: PairKey,
    /// Its place in the table.
    pub(crate) place: u32,
    /// What the table counts as its memory, bytes.
    pub(crate) bytes: usize,
    pub(crate) witnesses: Witnesses,
    /// To the last round's question, about the poses of these revisions.
    pub(crate) answer: PairAnswer,
    pub(crate) revisions: [u64; 2],
    /// The answered frame for which the verdict was last made sure of.
    pub(crate) stood_at: u64,
    /// What the last round cost.
    pub(crate) cost: Cost,
    /// The cost question by question, where methods were asked for by name.
    pub(crate) cost_of_each: Option<Box<CostOfEach>>,
    /// Whether the last round took the remembered answer.
    pub(crate) was_remembered: bool,
}

impl PairState {
    pub(crate) fn new(key: PairKey, place: u32) -> Self {
        Self {
            key,
            place,
            bytes: 0,
            witnesses: Witnesses::default(),
            answer: PairAnswer::default(),
            revisions: [0; 2],
            stood_at: 0,
            cost: Cost::default(),
            cost_of_each: None,
            was_remembered: false,
        }
    }

    pub(crate) fn measured_bytes(&self) -> usize {
        let of_each = self.cost_of_each.as_ref().map_or(0, |_| size_of::<CostOfEach>());
        size_of::<Self>() + self.witnesses.bytes() + of_each + self.answer.bytes_of_lists()
    }
}

impl PairState {
    /// Itself, and the notes that are made for its answer.
    pub(crate) fn with_notes(&mut self) -> (&mut PairAnswer, Notes<'_>) {
        let notes = Notes {
            witnesses: &mut self.witnesses,
            cost: &mut self.cost,
            cost_of_each: self.cost_of_each.as_deref_mut(),
        };
        (&mut self.answer, notes)
    }

    /// Whether it has more to remember than how the pair stands and one witness.
    pub(crate) fn is_worth_keeping(&self) -> bool {
        let answer = &self.answer;
        !self.witnesses.by_parts.is_empty()
            || !answer.is_plain()
            || answer.distance.is_some()
            || answer.along.is_some()
            || answer.proofs.is_some()
    }

    /// How many bytes more it takes than before it was worked on.
    pub fn growth(&self) -> usize {
        self.measured_bytes().saturating_sub(self.bytes)
    }

    /// Forgets its witnesses, which changes what it costs next time and nothing else.
    pub fn forget_witnesses(&mut self) {
        self.witnesses = Witnesses::default();
    }

    /// Forgets its proofs, which are made again where they are told.
    pub fn forget_proofs(&mut self) {
        self.answer.forget_proofs();
    }
}

impl Counters {
    /// Adds what the last round on a pair cost.
    pub(crate) fn count(&mut self, state: &PairState) {
        self.cost += state.cost;
        if let Some((sums, of_pair)) = self.cost_of_each.as_mut().zip(state.cost_of_each.as_ref()) {
            sums.iter_mut().zip(of_pair.iter()).for_each(|(sum, cost)| *sum += *cost);
        }
    }
}
