//! Every pair of a scene that was ever worth looking at.
//!
//! A pair has a place in [`PairTable`] from then on. The table knows the partners of every body, so
//! the pairs of the bodies that moved are found without a look at any other; it counts how all of
//! them stand, so a report's counts cost nothing either; and it knows until when each of them
//! surely stands as it does. What a frame reads of all pairs lies in arrays of its own.

use std::collections::VecDeque;

use crate::broken::{Rule, is_broken};
use crate::memory::kept::{Batch, Kept, Said, Standing};
use crate::memory::runner::Runner;
use crate::pair_key::PairKey;
use crate::pairs::answer::PairAnswer;
use crate::pairs::state::PairState;
use crate::unanswered::{Unanswered, go_on};
use clearance_geometry::until::Until;
use clearance_geometry::witness::Witness;

/// A pair whose boxes no longer meet is forgotten after this many answers: bodies that part often
/// meet again soon, and after longer its witness would be stale anyway.
const KEPT_ANSWERS: u64 = 8;

/// When a pair has to be looked at: what a frame reads of all pairs.
#[derive(Clone, Copy, Debug)]
struct Watch {
    key: PairKey,
    /// The pair's `until`; infinity for those that nobody looks at.
    until: f64,
}

/// What a pair takes in the arrays, bytes.
const PLACE_BYTES: usize =
    size_of::<Kept>() + size_of::<Watch>() + size_of::<Option<Box<PairState>>>();

/// Its two entries with its partners, and room for growth.
const PARTNER_BYTES: usize = 4 * size_of::<(u32, u32)>();

/// What a pair takes that is given a place, where the arrays may have room for twice as many.
pub(crate) const PAIR_BYTES: usize = 2 * PLACE_BYTES + PARTNER_BYTES;

/// So many pairs of the table make a batch: a few tens of microseconds when all are looked at.
const BATCH: usize = 512;

/// Every pair remembered.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairTable {
    /// By place; those at vacant places mean nothing.
    kept: Vec<Kept>,
    watched: Vec<Watch>,
    /// By place, what is known beyond that; empty while it is being worked on, too.
    details: Vec<Option<Box<PairState>>>,
    vacant: Vec<u32>,
    /// For each body the other body of every pair, and the pair's place; sorted.
    partners: Vec<Vec<(u32, u32)>>,
    /// Which bodies have one part and no margins.
    simple: Vec<bool>,
    /// Pairs whose boxes meet.
    near: usize,
    /// How many pairs are counted as what.
    counts: [u64; Standing::ALL],
    /// Pairs to be forgotten, and from which answer on; in that order.
    leaving: VecDeque<(u64, PairKey)>,
    /// Sum of what the details are counted as, bytes.
    detail_bytes: usize,
}

impl PairTable {
    /// A table without any pair; `simple` says which bodies have one part and no margins.
    pub(crate) fn new(simple: Vec<bool>) -> Self {
        Self { partners: vec![Vec::new(); simple.len()], simple, ..Self::default() }
    }

    /// The pair's place. It is given one if it has none.
    pub(crate) fn admit(&mut self, key: PairKey) -> u32 {
        if let Some(place) = self.place_of(key) {
            return place;
        }
        let kept = Kept {
            key,
            until: f64::NEG_INFINITY,
            last_used: 0,
            witness: Witness::default(),
            standing: Standing::default(),
            said: Said::default(),
            is_simple: self.simple[key.p as usize] && self.simple[key.q as usize],
            is_near: false,
            is_leaving: false,
        };
        let watch = Watch { key, until: f64::INFINITY };
        let place = match self.vacant.pop() {
            Some(place) => {
                (self.kept[place as usize], self.watched[place as usize]) = (kept, watch);
                place
            }
            None => {
                self.kept.push(kept);
                self.watched.push(watch);
                self.details.push(None);
                u32::try_from(self.kept.len() - 1).expect("pairs are limited")
            }
        };
        self.counts[Standing::default() as usize] += 1;
        for (body, other) in [(key.p, key.q), (key.q, key.p)] {
            let partners = &mut self.partners[body as usize];
            let at = partners.partition_point(|(known, _)| *known < other);
            partners.insert(at, (other, place));
        }
        place
    }

    pub(crate) fn place_of(&self, key: PairKey) -> Option<u32> {
        let partners = &self.partners[key.p as usize];
        let at = partners.binary_search_by_key(&key.q, |(other, _)| *other).ok()?;
        Some(partners[at].1)
    }

    /// Looks at the pair only when that is of use.
    fn watch(&mut self, place: u32) {
        let kept = &self.kept[place as usize];
        let is_watched = kept.is_near || kept.said.is_anything();
        self.watched[place as usize].until = if is_watched { kept.until } else { f64::INFINITY };
    }

    /// Takes note that of all bodies just these (sorted) have boxes that meet the body's; `now` is
    /// the number of the answer that is being given.
    pub(crate) fn set_near(&mut self, body: u32, others: &[u32], now: u64) {
        let known = &self.partners[body as usize];
        let left = known.iter().filter(|(other, _)| others.binary_search(other).is_err());
        for place in left.map(|(_, place)| *place).collect::<Vec<u32>>() {
            self.part(place, now);
        }
        for &other in others {
            self.bring_near(PairKey::new(body, other));
        }
    }

    /// Takes note that just these pairs have boxes that meet.
    pub(crate) fn set_all_near(
        &mut self,
        keys: &[PairKey],
        now: u64,
        until: &Until,
    ) -> Result<(), Unanswered> {
        let mut has_parted: Vec<bool> = self.kept.iter().map(|kept| kept.is_near).collect();
        for &key in until.each(keys) {
            let place = self.bring_near(key);
            if let Some(has_parted) = has_parted.get_mut(place as usize) {
                *has_parted = false;
            }
        }
        go_on(until)?;
        for place in (0..).zip(has_parted).filter_map(|(place, has)| has.then_some(place)) {
            self.part(place, now);
        }
        Ok(())
    }

    /// Takes note that the pair's boxes meet, and says its place.
    fn bring_near(&mut self, key: PairKey) -> u32 {
        let place = self.admit(key);
        if is_broken(Rule::Readmission) && self.kept[place as usize].is_leaving {
            return place;
        }
        if !std::mem::replace(&mut self.kept[place as usize].is_near, true) {
            self.near += 1;
            self.watch(place);
        }
        place
    }

    fn part(&mut self, place: u32, now: u64) {
        let kept = &mut self.kept[place as usize];
        if !std::mem::take(&mut kept.is_near) {
            return;
        }
        self.near -= 1;
        if !std::mem::replace(&mut kept.is_leaving, true) {
            self.leaving.push_back((now + KEPT_ANSWERS, kept.key));
        }
        if kept.standing == Standing::Separated {
            kept.standing = Standing::ByBoxes;
            self.counts[Standing::Separated as usize] -= 1;
            self.counts[Standing::ByBoxes as usize] += 1;
        }
        self.watch(place);
    }

    /// Number of pairs whose boxes meet.
    pub(crate) fn near_count(&self) -> usize {
        self.near
    }

    /// The places of all pairs that are near or spoken of, sorted.
    pub(crate) fn places_of_all(&self) -> Vec<u32> {
        let watched = (0u32..).zip(&self.watched);
        watched.filter(|(_, watch)| watch.until < f64::INFINITY).map(|(place, _)| place).collect()
    }

    /// The places, sorted, of the watched pairs of which a body has moved and whose verdict has
    /// expired by how far the bodies have travelled. Reads what is watched of all pairs, in order.
    pub(crate) fn places_awake(&self, travel: &[f64], has_moved: &[bool]) -> Vec<u32> {
        let mut places = Vec::with_capacity(self.near);
        for (place, watch) in (0u32..).zip(&self.watched) {
            let (p, q) = (watch.key.p as usize, watch.key.q as usize);
            let is_awake = travel[p] + travel[q] >= watch.until;
            if is_awake & (has_moved[p] | has_moved[q]) {
                places.push(place);
            }
        }
        places
    }

    /// Finds the same from the few bodies that have moved; not sorted, and some of them twice.
    pub(crate) fn places_awake_of(&self, moved: &[u32], travel: &[f64]) -> Vec<u32> {
        let mut places = Vec::new();
        for &body in moved {
            let own = travel[body as usize];
            let partners = self.partners[body as usize].iter();
            let awake = partners.filter(|(other, place)| {
                own + travel[*other as usize] >= self.watched[*place as usize].until
            });
            places.extend(awake.map(|(_, place)| *place));
        }
        places
    }

    /// The places of these pairs; those that have none are given one.
    pub(crate) fn places_of(&mut self, keys: impl IntoIterator<Item = PairKey>) -> Vec<u32> {
        keys.into_iter().map(|key| self.admit(key)).collect()
    }

    /// How many pairs of the body are remembered.
    pub(crate) fn partner_count(&self, body: u32) -> usize {
        self.partners[body as usize].len()
    }

    /// What is kept of the pair at this place.
    pub(crate) fn at(&self, place: u32) -> &Kept {
        &self.kept[place as usize]
    }

    /// Takes note of what was said of the pair.
    pub(crate) fn set_said(&mut self, key: PairKey, said: Said) {
        let place = self.admit(key);
        self.set_said_at(place, said);
    }

    /// Takes note of what was said of the pair at this place.
    pub(crate) fn set_said_at(&mut self, place: u32, said: Said) {
        self.kept[place as usize].said = said;
        self.watch(place);
        if !self.kept[place as usize].is_near {
            self.let_go(place);
        }
    }

    /// What was said of the pair.
    pub(crate) fn said(&self, key: PairKey) -> Said {
        self.get(key).map_or_else(Said::default, |kept| kept.said)
    }

    /// The pair waits to be forgotten.
    fn let_go(&mut self, place: u32) {
        let kept = &mut self.kept[place as usize];
        if !std::mem::replace(&mut kept.is_leaving, true) {
            self.leaving.push_back((kept.last_used + KEPT_ANSWERS, kept.key));
        }
    }

    /// Looks at the pairs at these places (sorted), and hands what came of each batch to `done`.
    pub(crate) fn look_at(
        &mut self,
        places: &[u32],
        runner: &dyn Runner,
        work: &(dyn Fn(&mut Batch<'_>) + Sync),
        mut done: impl FnMut(&mut Batch<'_>),
    ) {
        for &place in places {
            self.counts[self.kept[place as usize].standing as usize] -= 1;
        }
        let mut rest = places;
        let mut batches: Vec<Batch<'_>> = Vec::with_capacity(self.kept.len().div_ceil(BATCH));
        for (index, kept) in self.kept.chunks_mut(BATCH).enumerate() {
            let first = (index * BATCH) as u32;
            let end = rest.partition_point(|place| *place < first + BATCH as u32);
            let (own, others) = rest.split_at(end);
            rest = others;
            if !own.is_empty() {
                batches.push(Batch::new(first, kept, own));
            }
        }
        runner.run_batches(&mut batches, work);
        batches.iter_mut().for_each(&mut done);
        for &place in places {
            self.counts[self.kept[place as usize].standing as usize] += 1;
            self.watch(place);
        }
    }

    /// Takes out the pairs of `keys` to be worked on; those that have no place are given one.
    #[expect(clippy::vec_box, reason = "a pair is large, and goes back to its place")]
    pub(crate) fn take(&mut self, keys: &[PairKey], now: u64) -> Vec<Box<PairState>> {
        let mut taken = Vec::with_capacity(keys.len());
        for &key in keys {
            let place = self.admit(key);
            let known = self.details[place as usize].take();
            let mut state = known.unwrap_or_else(|| Box::new(PairState::new(key, place)));
            self.detail_bytes -= state.bytes;
            let kept = &mut self.kept[place as usize];
            kept.last_used = now;
            state.witnesses.first = std::mem::take(&mut kept.witness);
            taken.push(state);
        }
        taken
    }

    /// Puts back what was taken out, and counts it as what it is now. The details of plain pairs
    /// are dropped, unless `keeps_all`.
    #[expect(clippy::vec_box, reason = "a pair is large, and goes back to its place")]
    pub(crate) fn put_back(
        &mut self,
        worked_on: Vec<Box<PairState>>,
        keeps_all: bool,
        until: impl Fn(&PairState) -> f64,
    ) {
        for mut state in worked_on {
            let place = state.place;
            let kept = &mut self.kept[place as usize];
            kept.witness = std::mem::take(&mut state.witnesses.first);
            self.counts[kept.standing as usize] -= 1;
            kept.standing = Standing::of(&state.answer);
            self.counts[kept.standing as usize] += 1;
            kept.until = until(&state);
            let kept_said = kept.said;
            if !kept.is_near {
                self.let_go(place);
            }
            self.watch(place);
            if keeps_all || kept_said.is_anything() || state.is_worth_keeping() {
                state.bytes = state.measured_bytes();
                self.detail_bytes += state.bytes;
                self.details[place as usize] = Some(state);
            }
        }
    }

    /// How many pairs are counted as this.
    pub(crate) fn count(&self, standing: Standing) -> u64 {
        self.counts[standing as usize]
    }

    /// Number of pairs remembered.
    pub(crate) fn len(&self) -> usize {
        self.kept.len() - self.vacant.len()
    }

    /// Keeps the pairs whose bodies are still there, under their new indices. What is near, what
    /// was said and how long verdicts hold is to be found anew.
    pub(crate) fn renumber(&mut self, simple: Vec<bool>, new_index: impl Fn(u32) -> Option<u32>) {
        let old = std::mem::replace(self, Self::new(simple));
        let mut is_vacant = vec![false; old.kept.len()];
        old.vacant.iter().for_each(|place| is_vacant[*place as usize] = true);
        for ((kept, mut state), is_vacant) in old.kept.into_iter().zip(old.details).zip(is_vacant) {
            if is_vacant {
                continue;
            }
            let Some((p, q)) = new_index(kept.key.p).zip(new_index(kept.key.q)) else { continue };
            let key = PairKey::new(p, q);
            let place = self.admit(key);
            let renewed = &mut self.kept[place as usize];
            (renewed.witness, renewed.last_used) = (kept.witness, kept.last_used);
            renewed.is_leaving = true;
            self.leaving.push_back((0, key));
            if let Some(state) = &mut state {
                (state.key, state.place) = (key, place);
                self.detail_bytes += state.bytes;
            }
            self.details[place as usize] = state;
        }
    }

    /// Forgets pairs that are not near and unused for long, and, beyond `pairs_max`, those that
    /// this answer left alone; never one that is spoken of.
    pub(crate) fn trim(&mut self, now: u64, pairs_max: usize) {
        for _ in 0..self.leaving.len() {
            let Some(&(until, key)) = self.leaving.front() else { break };
            let is_due = until <= now || self.len() > pairs_max;
            if !is_due {
                break;
            }
            self.leaving.pop_front();
            let Some(place) = self.place_of(key) else { continue };
            let len = self.len();
            let kept = &mut self.kept[place as usize];
            kept.is_leaving = false;
            if kept.is_near {
                continue;
            }
            let is_in_use = kept.last_used + KEPT_ANSWERS > now && len <= pairs_max;
            if is_in_use || kept.last_used == now || kept.said.is_anything() {
                kept.is_leaving = true;
                self.leaving.push_back((now + KEPT_ANSWERS, key));
            } else {
                self.forget(place);
            }
        }
    }

    fn forget(&mut self, place: u32) {
        let kept = &mut self.kept[place as usize];
        kept.witness = Witness::default();
        let key = kept.key;
        self.counts[std::mem::take(&mut kept.standing) as usize] -= 1;
        self.watched[place as usize].until = f64::INFINITY;
        if let Some(state) = self.details[place as usize].take() {
            self.detail_bytes -= state.bytes;
        }
        self.vacant.push(place);
        for (body, other) in [(key.p, key.q), (key.q, key.p)] {
            let partners = &mut self.partners[body as usize];
            if let Ok(at) = partners.binary_search_by_key(&other, |(known, _)| *known) {
                partners.remove(at);
            }
        }
    }

    /// The places of the pairs that do not count as separated, and of which no report has said so.
    pub(crate) fn places_unsaid(&self) -> impl Iterator<Item = u32> {
        let is_plain = |kept: &Kept| {
            matches!(kept.standing, Standing::ByBoxes | Standing::Separated)
                || kept.said.is_anything()
        };
        (0u32..).zip(&self.kept).filter(move |(_, kept)| !is_plain(kept)).map(|(place, _)| place)
    }

    /// What is known of the pair beyond how it stands, if that was asked.
    pub(crate) fn details(&self, key: PairKey) -> Option<&PairState> {
        self.details[self.place_of(key)? as usize].as_deref()
    }

    /// What was proven of the pair, once.
    pub(crate) fn take_proven(&mut self, key: PairKey) -> Option<Box<PairAnswer>> {
        let place = self.place_of(key)?;
        self.details[place as usize].as_mut()?.answer.meeting.as_mut()?.proven.take()
    }

    /// What is kept of the pair.
    pub(crate) fn get(&self, key: PairKey) -> Option<&Kept> {
        Some(&self.kept[self.place_of(key)? as usize])
    }

    /// Every pair remembered, with its details, which are made if there are none.
    #[cfg(test)]
    pub(crate) fn rewrite(&mut self, mut change: impl FnMut(&mut PairState)) {
        let vacant = &self.vacant;
        let all = (0u32..).zip(&self.kept).filter(|(place, _)| !vacant.contains(place));
        let keys: Vec<PairKey> = all.map(|(_, kept)| kept.key).collect();
        for key in keys {
            let place = self.admit(key) as usize;
            let state = self.details[place]
                .get_or_insert_with(|| Box::new(PairState::new(key, place as u32)));
            state.witnesses.first = std::mem::take(&mut self.kept[place].witness);
            change(state);
            self.kept[place].witness = std::mem::take(&mut state.witnesses.first);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.detail_bytes
            + self.kept.capacity() * PLACE_BYTES
            + self.len() * PARTNER_BYTES
            + self.leaving.capacity() * size_of::<(u64, PairKey)>()
            + self.partners.len() * (size_of::<Vec<u32>>() + 1)
    }
}
