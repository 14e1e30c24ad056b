//! What a scene keeps for each pair: witnesses, and the last answer while neither body moves.
//!
//! A pair has a place in [`PairTable`] from when it is first worth looking at. The table knows the
//! partners of every body, so the pairs of the bodies that moved are found without a look at any
//! other; and it counts how all of them stand, so a report's counts cost nothing either.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use super::answer::PairAnswer;
use super::question::Questions;
use crate::geometry::claim::Verdict;
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
    /// How it stands now, and whether it met on the way.
    #[default]
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

/// What a pair is counted as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Standing {
    /// Separated, as boxes tell; every pair that was not looked at yet.
    #[default]
    ByBoxes,
    /// Separated, as a search told.
    Separated,
    /// In contact, without common inner points.
    Touching,
    /// With common inner points.
    Overlapping,
    /// Looked at, but stopped before everything asked was known.
    Open,
}

impl Standing {
    const ALL: usize = 5;

    fn of(answer: &PairAnswer) -> Self {
        match answer.verdict {
            None => Self::Open,
            Some(Verdict::Separated) if answer.by_boxes => Self::ByBoxes,
            Some(Verdict::Separated) => Self::Separated,
            Some(Verdict::Touching) => Self::Touching,
            Some(Verdict::Overlapping) => Self::Overlapping,
        }
    }
}

/// One pair of a scene: an independent piece of work that owns all it changes.
#[derive(Clone, Debug)]
pub struct PairState {
    pub(super) key: PairKey,
    /// Its place in the table.
    place: u32,
    /// Whether the boxes that the broad phase keeps for the two bodies meet.
    is_near: bool,
    /// Whether the pair waits to be forgotten: it does so once, however often it is looked at.
    is_leaving: bool,
    /// What the table counts it as.
    standing: Standing,
    /// What the table counts as its memory, bytes.
    bytes: usize,
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
    /// Whether a report said of this pair more than that it is plainly separated: its contact is
    /// announced, or the scene notes how it stood.
    pub(super) is_spoken_of: bool,
}

impl PairState {
    fn new(key: PairKey, place: u32) -> Self {
        Self {
            key,
            place,
            is_near: false,
            is_leaving: false,
            standing: Standing::default(),
            bytes: 0,
            task: Task::Stand,
            witnesses: Witnesses::default(),
            answer: PairAnswer::default(),
            revisions: [0; 2],
            stood_at: 0,
            cost: Cost::default(),
            was_remembered: false,
            last_used: 0,
            is_spoken_of: false,
        }
    }

    fn measured_bytes(&self) -> usize {
        size_of::<Self>() + self.witnesses.bytes()
    }
}

/// Runs independent pieces of work, in any order, on any number of threads. The results are in the
/// items, so they cannot depend on the order.
pub trait Runner {
    /// Calls `work` once for every item.
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync));
}

/// What a frame asks of its pairs, who does the work, and what ends it early.
#[derive(Clone, Copy)]
pub(super) struct PairWork<'a> {
    pub(super) questions: &'a Questions,
    pub(super) runner: &'a dyn Runner,
    /// May be set at any time by a deadline.
    pub(super) stop: &'a AtomicBool,
}

/// One after the other, here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Runner for Serial {
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync)) {
        items.iter_mut().for_each(|state| work(state));
    }
}

/// A pair whose boxes no longer meet is forgotten after this many answers: bodies that part often
/// meet again soon, and after longer its witness would be stale anyway.
const KEPT_ANSWERS: u64 = 8;

/// Every pair remembered.
#[derive(Clone, Debug, Default)]
pub(super) struct PairTable {
    /// By place; empty where a pair was forgotten, or is being worked on.
    states: Vec<Option<Box<PairState>>>,
    vacant: Vec<u32>,
    /// For each body the other body of every pair, and the pair's place; sorted.
    partners: Vec<Vec<(u32, u32)>>,
    /// Pairs whose boxes meet.
    near: usize,
    /// How many pairs are counted as what.
    counts: [u64; Standing::ALL],
    /// Pairs to be forgotten, and from which answer on; in that order.
    leaving: VecDeque<(u64, PairKey)>,
    /// Sum of what the pairs are counted as, bytes.
    bytes: usize,
}

impl PairTable {
    /// A table without any pair, for a scene of this many bodies.
    pub(super) fn new(bodies: usize) -> Self {
        Self { partners: vec![Vec::new(); bodies], ..Self::default() }
    }

    /// The pair's place. It is given one if it has none.
    pub(super) fn admit(&mut self, key: PairKey) -> u32 {
        if let Some(place) = self.place_of(key) {
            return place;
        }
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.states.push(None);
            u32::try_from(self.states.len() - 1).expect("pairs are limited")
        });
        let mut state = Box::new(PairState::new(key, place));
        state.bytes = state.measured_bytes();
        self.bytes += state.bytes;
        self.counts[state.standing as usize] += 1;
        self.states[place as usize] = Some(state);
        for (body, other) in [(key.p, key.q), (key.q, key.p)] {
            let partners = &mut self.partners[body as usize];
            let at = partners.partition_point(|(known, _)| *known < other);
            partners.insert(at, (other, place));
        }
        place
    }

    fn place_of(&self, key: PairKey) -> Option<u32> {
        let partners = &self.partners[key.p as usize];
        let at = partners.binary_search_by_key(&key.q, |(other, _)| *other).ok()?;
        Some(partners[at].1)
    }

    /// Takes note that of all bodies just these (sorted) have boxes that meet the body's; `now` is
    /// the number of the answer that is being given.
    pub(super) fn set_near(&mut self, body: u32, others: &[u32], now: u64) {
        let known = &self.partners[body as usize];
        let left = known.iter().filter(|(other, _)| others.binary_search(other).is_err());
        for place in left.map(|(_, place)| *place).collect::<Vec<u32>>() {
            self.part(place, now);
        }
        for &other in others {
            self.bring_near(PairKey::new(body, other));
        }
    }

    /// Takes note that just these pairs (sorted) have boxes that meet.
    pub(super) fn set_all_near(&mut self, keys: &[PairKey], now: u64) {
        for key in self.near_pairs() {
            if keys.binary_search(&key).is_err() {
                self.part(self.place_of(key).expect("a near pair has a place"), now);
            }
        }
        for &key in keys {
            self.bring_near(key);
        }
    }

    fn bring_near(&mut self, key: PairKey) {
        let place = self.admit(key);
        let state = self.states[place as usize].as_mut().expect("no pair is being worked on");
        self.near += usize::from(!std::mem::replace(&mut state.is_near, true));
    }

    fn part(&mut self, place: u32, now: u64) {
        let state = self.states[place as usize].as_mut().expect("no pair is being worked on");
        if !std::mem::take(&mut state.is_near) {
            return;
        }
        self.near -= 1;
        if !std::mem::replace(&mut state.is_leaving, true) {
            self.leaving.push_back((now + KEPT_ANSWERS, state.key));
        }
        if state.standing == Standing::Separated {
            self.counts[Standing::Separated as usize] -= 1;
            self.counts[Standing::ByBoxes as usize] += 1;
            state.standing = Standing::ByBoxes;
        }
    }

    /// Number of pairs whose boxes meet.
    pub(super) fn near_count(&self) -> usize {
        self.near
    }

    /// The pairs whose boxes meet, in order.
    pub(super) fn near_pairs(&self) -> Vec<PairKey> {
        let mut pairs = Vec::with_capacity(self.near);
        for (p, partners) in (0u32..).zip(&self.partners) {
            let above = partners.partition_point(|(q, _)| *q <= p);
            let near = partners[above..].iter().filter(|(_, place)| self.is_near(*place));
            pairs.extend(near.map(|&(q, _)| PairKey { p, q }));
        }
        pairs
    }

    /// The other bodies of the body's pairs that are near or spoken of.
    pub(super) fn partners_to_look_at(&self, body: u32) -> impl Iterator<Item = u32> {
        let known = self.partners[body as usize].iter();
        let looked_at = known.filter(|(_, place)| {
            let state = self.states[*place as usize].as_ref();
            state.is_some_and(|state| state.is_near || state.is_spoken_of)
        });
        looked_at.map(|(other, _)| *other)
    }

    /// Takes note of whether a report said more of the pair than that it is plainly separated.
    pub(super) fn set_spoken_of(&mut self, key: PairKey, is_spoken_of: bool) {
        let place = self.place_of(key);
        if let Some(state) = place.and_then(|place| self.states[place as usize].as_mut()) {
            state.is_spoken_of = is_spoken_of;
        }
    }

    fn is_near(&self, place: u32) -> bool {
        self.states[place as usize].as_ref().is_some_and(|state| state.is_near)
    }

    /// Takes out the pairs of `keys` to be worked on; those that have no place are given one.
    #[expect(clippy::vec_box, reason = "a pair is large, and goes back to its place")]
    pub(super) fn take(&mut self, keys: &[PairKey], task: Task, now: u64) -> Vec<Box<PairState>> {
        let mut taken = Vec::with_capacity(keys.len());
        for &key in keys {
            let place = self.admit(key);
            let mut state = self.states[place as usize].take().expect("keys are different");
            (state.task, state.last_used) = (task, now);
            taken.push(state);
        }
        taken
    }

    /// Puts back what was taken out, and counts it as what it is now.
    #[expect(clippy::vec_box, reason = "a pair is large, and goes back to its place")]
    pub(super) fn put_back(&mut self, worked_on: Vec<Box<PairState>>) {
        for mut state in worked_on {
            let (standing, bytes) = (Standing::of(&state.answer), state.measured_bytes());
            self.counts[state.standing as usize] -= 1;
            self.counts[standing as usize] += 1;
            self.bytes = self.bytes - state.bytes + bytes;
            (state.standing, state.bytes) = (standing, bytes);
            if !state.is_near && !std::mem::replace(&mut state.is_leaving, true) {
                self.leaving.push_back((state.last_used + KEPT_ANSWERS, state.key));
            }
            let place = state.place as usize;
            self.states[place] = Some(state);
        }
    }

    /// How many pairs are counted as this.
    pub(super) fn count(&self, standing: Standing) -> u64 {
        self.counts[standing as usize]
    }

    /// Number of pairs remembered.
    pub(super) fn len(&self) -> usize {
        self.states.len() - self.vacant.len()
    }

    /// Keeps the pairs whose bodies are still there, under their new indices. What is near is to be
    /// found anew.
    pub(super) fn renumber(&mut self, bodies: usize, new_index: impl Fn(u32) -> Option<u32>) {
        let old = std::mem::replace(self, Self::new(bodies));
        for mut state in old.states.into_iter().flatten() {
            let Some((p, q)) = new_index(state.key.p).zip(new_index(state.key.q)) else { continue };
            let key = PairKey::new(p, q);
            let place = self.admit(key);
            (state.key, state.place) = (key, place);
            (state.is_near, state.is_leaving) = (false, true);
            (state.standing, state.bytes) = (Standing::default(), size_of::<PairState>());
            self.states[place as usize] = Some(state);
            self.leaving.push_back((0, key));
        }
    }

    /// Forgets pairs that are not near and unused for long, and, beyond `pairs_max`, those that
    /// this answer left alone; never one that is spoken of.
    pub(super) fn trim(&mut self, now: u64, pairs_max: usize) {
        for _ in 0..self.leaving.len() {
            let Some(&(until, key)) = self.leaving.front() else { break };
            let is_due = until <= now || self.len() > pairs_max;
            if !is_due {
                break;
            }
            self.leaving.pop_front();
            let Some(place) = self.place_of(key) else { continue };
            let len = self.len();
            let state = self.states[place as usize].as_mut().expect("no pair is being worked on");
            state.is_leaving = false;
            if state.is_near {
                continue;
            }
            let is_in_use = state.last_used + KEPT_ANSWERS > now && len <= pairs_max;
            if is_in_use || state.last_used == now || state.is_spoken_of {
                state.is_leaving = true;
                self.leaving.push_back((now + KEPT_ANSWERS, key));
            } else {
                self.forget(place);
            }
        }
    }

    fn forget(&mut self, place: u32) {
        let state = self.states[place as usize].take().expect("no pair is being worked on");
        self.counts[state.standing as usize] -= 1;
        self.bytes -= state.bytes;
        self.vacant.push(place);
        for (body, other) in [(state.key.p, state.key.q), (state.key.q, state.key.p)] {
            let partners = &mut self.partners[body as usize];
            if let Ok(at) = partners.binary_search_by_key(&other, |(known, _)| *known) {
                partners.remove(at);
            }
        }
    }

    pub(super) fn get(&self, key: PairKey) -> Option<&PairState> {
        self.states[self.place_of(key)? as usize].as_deref()
    }

    /// Every witness and every remembered answer.
    #[cfg(test)]
    pub(super) fn states_mut(&mut self) -> impl Iterator<Item = &mut PairState> {
        self.states.iter_mut().flatten().map(|state| &mut **state)
    }

    pub(super) fn bytes(&self) -> usize {
        // A pair's place, two entries with its partners, and room for growth.
        const PLACE: usize = 4 * size_of::<(u32, u32)>();
        self.bytes
            + self.states.len() * PLACE
            + self.leaving.capacity() * size_of::<(u64, PairKey)>()
            + self.partners.len() * size_of::<Vec<u32>>()
    }
}
