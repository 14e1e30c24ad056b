//! A pair that is asked about in detail, and who does the work. Most pairs of most frames are not:
//! what is kept of all of them is in `kept`, and the table of them in `table`.

use super::answer::PairAnswer;
use super::kept::Batch;
use super::meet::ContactEnd;
use super::methods::{AskedOf, CostOfEach};
use super::question::Questions;
use super::waiting::{Unanswered, Waiting};
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::Cost;
use clearance_geometry::witness::Witness;

/// Two bodies by their index in the scene (the order of their ids), `p < q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PairKey {
    /// The body with the lower id: P.
    pub p: u32,
    /// The other: Q.
    pub q: u32,
}

impl PairKey {
    /// In order, whichever way they are given.
    pub fn new(a: u32, b: u32) -> Self {
        Self { p: a.min(b), q: a.max(b) }
    }
}

/// What a round asks of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Task {
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

/// The witnesses of a pair of bodies: one for each pair of parts that was ever looked at closely,
/// in the order of the parts; then those of methods that were asked for by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Witnesses {
    /// That of the first parts, which are all that most bodies have. The table keeps it.
    pub(super) first: Witness,
    by_parts: Vec<(u64, Witness)>,
}

impl Witnesses {
    /// The witness of P's part `i` and Q's part `j` that all methods share, or that of the method
    /// of this question alone; a new one when there is none yet.
    pub(super) fn of(&mut self, i: u32, j: u32, alone: Option<AskedOf>) -> &mut Witness {
        // A body of so many parts that their number needs the highest bits fits no memory.
        let whose = alone.map_or(0, |asked| 1 + asked as u64);
        let key = whose << 61 | u64::from(i) << 32 | u64::from(j);
        if key == 0 {
            return &mut self.first;
        }
        let place = match self.by_parts.binary_search_by_key(&key, |(parts, _)| *parts) {
            Ok(place) => place,
            Err(place) => {
                self.by_parts.insert(place, (key, Witness::default()));
                place
            }
        };
        &mut self.by_parts[place].1
    }

    /// Every one there is.
    #[cfg(test)]
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Witness> {
        std::iter::once(&mut self.first).chain(self.by_parts.iter_mut().map(|(_, witness)| witness))
    }

    fn bytes(&self) -> usize {
        let beyond: usize =
            self.by_parts.iter().map(|(_, witness)| witness.memory.heap_bytes()).sum();
        beyond + self.by_parts.capacity() * size_of::<(u64, Witness)>()
    }
}

/// One pair of a scene that is asked about in detail: an independent piece of work that owns all it
/// changes.
#[derive(Clone, Debug)]
pub struct PairState {
    pub(super) key: PairKey,
    /// Its place in the table.
    pub(super) place: u32,
    /// What the table counts as its memory, bytes.
    pub(super) bytes: usize,
    pub(super) witnesses: Witnesses,
    /// To the last round's question, about the poses of these revisions.
    pub(super) answer: PairAnswer,
    pub(super) revisions: [u64; 2],
    /// The answered frame for which the verdict was last made sure of.
    pub(super) stood_at: u64,
    /// What the last round cost.
    pub(super) cost: Cost,
    /// The cost question by question, where methods were asked for by name.
    pub(super) cost_of_each: Option<Box<CostOfEach>>,
    /// Whether the last round took the remembered answer.
    pub(super) was_remembered: bool,
}

impl PairState {
    pub(super) fn new(key: PairKey, place: u32) -> Self {
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

    pub(super) fn measured_bytes(&self) -> usize {
        let of_each = self.cost_of_each.as_ref().map_or(0, |_| size_of::<CostOfEach>());
        size_of::<Self>() + self.witnesses.bytes() + of_each + self.answer.bytes_of_lists()
    }
}

/// What is remembered of a pair and what its answers have cost, while they are worked on.
pub(super) struct Notes<'a> {
    pub(super) witnesses: &'a mut Witnesses,
    pub(super) cost: &'a mut Cost,
    pub(super) cost_of_each: Option<&'a mut CostOfEach>,
}

impl PairState {
    /// Itself, and the notes that are made for its answer.
    pub(super) fn with_notes(&mut self) -> (&mut PairAnswer, Notes<'_>) {
        let notes = Notes {
            witnesses: &mut self.witnesses,
            cost: &mut self.cost,
            cost_of_each: self.cost_of_each.as_deref_mut(),
        };
        (&mut self.answer, notes)
    }

    /// Whether it has more to remember than how the pair stands and one witness.
    pub(super) fn is_worth_keeping(&self) -> bool {
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

/// Runs independent pieces of work, in any order, on any number of threads. The results are in the
/// items, so they cannot depend on the order.
pub trait Runner {
    /// Calls `work` once for every item.
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync));

    /// Calls `work` once for every batch.
    fn run_batches(&self, batches: &mut [Batch<'_>], work: &(dyn Fn(&mut Batch<'_>) + Sync));

    /// Whether there is memory for so many bytes of what comes of the work.
    fn has_room(&self, _bytes: usize) -> bool {
        true
    }

    /// So many of these bytes are not needed after all.
    fn give_back(&self, _bytes: usize) {}
}

/// What a frame asks of its pairs, who does the work, and what ends it early.
#[derive(Clone, Copy)]
pub(super) struct PairWork<'a> {
    pub(super) questions: &'a Questions,
    pub(super) runner: &'a dyn Runner,
    pub(super) waiting: Waiting<'a>,
}

/// One after the other, here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Runner for Serial {
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync)) {
        items.iter_mut().for_each(|state| work(state));
    }

    fn run_batches(&self, batches: &mut [Batch<'_>], work: &(dyn Fn(&mut Batch<'_>) + Sync)) {
        batches.iter_mut().for_each(work);
    }
}

impl PairWork<'_> {
    /// Says so where there is no memory for so many bytes more.
    pub(super) fn take_room(&self, bytes: usize) -> Result<(), Unanswered> {
        if self.runner.has_room(bytes) { Ok(()) } else { Err(Unanswered::NoRoom) }
    }
}
