//! What a scene keeps for each pair: witnesses, and the last answer while neither body moves.

use super::answer::PairAnswer;
use crate::geometry::distance::Stops;
use crate::geometry::effort::Cost;
use crate::geometry::witness::Witness;

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
    /// Nothing.
    #[default]
    Rest,
    /// How it stands now, and whether it met on the way.
    Stand,
    /// How far apart, or how deep. Follows on `Stand`.
    Detail {
        /// The distance, with these stops.
        distance: Option<Stops>,
        /// The depth.
        depth: bool,
    },
}

/// The witnesses of a pair of bodies: one for each pair of parts that was ever looked at closely,
/// in the order of the parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Witnesses {
    by_parts: Vec<(u64, Witness)>,
}

impl Witnesses {
    /// The witness of P's part `i` and Q's part `j`; the default when there is none yet.
    pub(super) fn of(&mut self, i: u32, j: u32) -> &mut Witness {
        let key = u64::from(i) << 32 | u64::from(j);
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
        self.by_parts.iter_mut().map(|(_, witness)| witness)
    }

    fn bytes(&self) -> usize {
        let beyond: usize =
            self.by_parts.iter().map(|(_, witness)| witness.memory.heap_bytes()).sum();
        beyond + self.by_parts.capacity() * size_of::<(u64, Witness)>()
    }
}

/// One pair's place in the dense array of a scene: an independent piece of work that owns all it
/// changes.
#[derive(Clone, Debug)]
pub struct PairState {
    pub(super) key: PairKey,
    pub(super) task: Task,
    pub(super) witnesses: Witnesses,
    /// To the last round's question, about the poses of these revisions.
    pub(super) answer: PairAnswer,
    pub(super) revisions: [u64; 2],
    /// The answered frame for which the verdict was last made sure of.
    pub(super) stood_at: u64,
    /// What the last round cost.
    pub(super) cost: Cost,
    /// Whether the last round took the remembered answer.
    pub(super) was_remembered: bool,
    /// The scene's count of answered frames when this pair was last looked at.
    pub(super) last_used: u64,
}

impl PairState {
    fn new(key: PairKey) -> Self {
        Self {
            key,
            task: Task::Rest,
            witnesses: Witnesses::default(),
            answer: PairAnswer::default(),
            revisions: [0; 2],
            stood_at: 0,
            cost: Cost::default(),
            was_remembered: false,
            last_used: 0,
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.witnesses.bytes()
    }
}

/// Runs independent pieces of work, in any order, on any number of threads. The results are in the
/// items, so they cannot depend on the order.
pub trait Runner {
    /// Calls `work` once for every item.
    fn run(&self, items: &mut [PairState], work: &(dyn Fn(&mut PairState) + Sync));
}

/// One after the other, here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Runner for Serial {
    fn run(&self, items: &mut [PairState], work: &(dyn Fn(&mut PairState) + Sync)) {
        items.iter_mut().for_each(work);
    }
}

/// A pair that no frame looked at for this many answers is forgotten. Long enough for bodies that
/// meet again and again; its witness would be stale anyway.
const KEPT_ANSWERS: u64 = 64;

/// Every pair remembered, sorted by key.
#[derive(Clone, Debug, Default)]
pub(super) struct PairTable {
    states: Vec<PairState>,
}

impl PairTable {
    /// Gives each of `keys` (sorted) a place if it has none.
    pub(super) fn admit(&mut self, keys: &[PairKey]) {
        let mut old = std::mem::take(&mut self.states).into_iter().peekable();
        let mut merged = Vec::with_capacity(old.len().max(keys.len()));
        for &key in keys {
            while let Some(state) = old.next_if(|state| state.key < key) {
                merged.push(state);
            }
            let known = old.next_if(|state| state.key == key);
            merged.push(known.unwrap_or_else(|| PairState::new(key)));
        }
        merged.extend(old);
        self.states = merged;
    }

    /// Gives each of `keys` (sorted, all admitted) its task, and every other pair none.
    pub(super) fn assign(&mut self, keys: &[PairKey], task: Task, now: u64) {
        let mut keys = keys.iter().peekable();
        for state in &mut self.states {
            state.task = Task::Rest;
            if keys.next_if_eq(&&state.key).is_some() {
                state.task = task;
                state.last_used = now;
            }
        }
        debug_assert!(keys.next().is_none(), "a pair was not admitted");
    }

    /// Keeps the pairs whose bodies are still there, under their new indices. The order of bodies
    /// does not change, so neither does that of pairs.
    pub(super) fn renumber(&mut self, new_index: impl Fn(u32) -> Option<u32>) {
        self.states.retain_mut(|state| {
            let Some((p, q)) = new_index(state.key.p).zip(new_index(state.key.q)) else {
                return false;
            };
            state.key = PairKey { p, q };
            true
        });
    }

    /// Forgets pairs unused for long, and, beyond `pairs_max`, those that this answer left alone.
    pub(super) fn trim(&mut self, now: u64, pairs_max: usize) {
        self.states.retain(|state| state.last_used + KEPT_ANSWERS > now);
        if self.states.len() > pairs_max {
            self.states.retain(|state| state.last_used == now);
        }
        // Answers live in the report; what is kept of them is only for pairs at rest.
        if self.states.capacity() > 2 * self.states.len() + 64 {
            self.states.shrink_to_fit();
        }
    }

    pub(super) fn states(&self) -> &[PairState] {
        &self.states
    }

    pub(super) fn states_mut(&mut self) -> &mut [PairState] {
        &mut self.states
    }

    pub(super) fn get(&self, key: PairKey) -> Option<&PairState> {
        let place = self.states.binary_search_by_key(&key, |state| state.key).ok()?;
        Some(&self.states[place])
    }

    /// Forgets every witness and every remembered answer.
    pub(super) fn clear(&mut self) {
        self.states.clear();
    }

    pub(super) fn bytes(&self) -> usize {
        self.states.iter().map(PairState::bytes).sum()
    }
}
