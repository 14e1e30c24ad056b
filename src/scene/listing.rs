//! One round of answers: which pairs are asked what, and which of them the report lists.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use super::answer::Swept;
use super::broad_phase::candidates;
use super::pairs::{PairKey, PairState, Runner, Task};
use super::question::{Listed, Questions};
use super::report::{Counters, PairReport, Tally};
use super::state::Scene;
use super::step::TooManyPairs;
use crate::geometry::claim::Verdict;
use crate::geometry::distance::Stops;

/// What the last report said of a pair that is not plainly separated and beyond its margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    verdict: Verdict,
    within_margin: bool,
}

/// What every pair counts as before anything is said of it.
const PLAIN: Noted = Noted { verdict: Verdict::Separated, within_margin: false };

/// The work on one frame.
pub(super) struct Round<'a> {
    questions: &'a Questions,
    swept: Option<&'a [Swept]>,
    /// The pairs looked at, sorted.
    pub(super) keys: Vec<PairKey>,
    /// The pairs listed, and whether with their distance.
    listed: BTreeMap<PairKey, bool>,
    pub(super) omitted: u64,
    pub(super) tally: Tally,
    pub(super) counters: Counters,
}

impl Scene {
    /// The pairs that boxes do not prove apart, beyond their margin and whatever distance is asked,
    /// and those of which something was said before; sorted.
    pub(super) fn pairs_to_look_at(
        &self,
        questions: &Questions,
        swept: Option<&[Swept]>,
    ) -> Result<Vec<PairKey>, TooManyPairs> {
        let pairs_max = self.limits.pairs_max;
        let too_many = TooManyPairs { pairs_max };
        if questions.listed == Listed::All {
            if self.book.pairs_enabled > pairs_max as u64 {
                return Err(too_many);
            }
            return Ok(self.book.enabled_pairs());
        }
        let below = questions.below.unwrap_or(0.0) / 2.0;
        let boxes: Vec<_> = (self.entries.iter().enumerate())
            .map(|(index, entry)| {
                let held = swept.map_or(entry.now.bounds, |swept| swept[index].bounds);
                held.inflated(self.book.reaches[index] + below)
            })
            .collect();
        let mut keys =
            candidates(&boxes, pairs_max, |key| self.book.is_enabled(key)).map_err(|_| too_many)?;
        let spoken_of = self.contacts.keys().chain(self.noted.keys());
        let unseen: Vec<PairKey> =
            spoken_of.filter(|key| keys.binary_search(key).is_err()).copied().collect();
        keys.extend(unseen);
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }
}

impl<'a> Round<'a> {
    pub(super) fn new(
        questions: &'a Questions,
        swept: Option<&'a [Swept]>,
        keys: Vec<PairKey>,
    ) -> Self {
        Self {
            questions,
            swept,
            keys,
            listed: BTreeMap::new(),
            omitted: 0,
            tally: Tally::default(),
            counters: Counters::default(),
        }
    }

    /// Asks how every pair stands.
    pub(super) fn stand(&mut self, scene: &mut Scene, runner: &dyn Runner, stop: &AtomicBool) {
        scene.table.assign(&self.keys, Task::Stand, scene.answers);
        scene.run(self.questions, self.swept, runner, stop);
        let enabled = scene.book.pairs_enabled;
        self.counters.pairs_enabled = enabled;
        self.counters.pairs_skipped = enabled - self.keys.len() as u64;
        self.counters.bodies_moved =
            scene.entries.iter().filter(|entry| entry.before.is_some()).count() as u64;
        self.tally.separated = self.counters.pairs_skipped;
        for state in scene.table.states().iter().filter(|state| state.task != Task::Rest) {
            self.counters.cost += state.cost;
            self.counters.pairs_remembered += u64::from(state.was_remembered);
            self.counters.pairs_skipped +=
                u64::from(state.answer.by_boxes && !state.was_remembered);
            match state.answer.verdict {
                Some(Verdict::Separated) => self.tally.separated += 1,
                Some(Verdict::Touching) => self.tally.touching += 1,
                Some(Verdict::Overlapping) => self.tally.overlapping += 1,
                None => self.tally.stopped += 1,
            }
        }
    }

    /// Chooses the pairs to list, and asks for their distances and depths.
    pub(super) fn detail(
        &mut self,
        scene: &mut Scene,
        runner: &dyn Runner,
        stop: &AtomicBool,
    ) -> Result<(), TooManyPairs> {
        let questions = self.questions;
        for state in scene.table.states().iter().filter(|state| state.task != Task::Rest) {
            if self.is_listed(scene, state) {
                self.listed.insert(state.key, questions.distances);
            }
        }
        let is_detailed = questions.distances || questions.depths;
        if is_detailed && !self.listed.is_empty() {
            let keys: Vec<PairKey> = self.listed.keys().copied().collect();
            let distance = questions.distances.then_some(questions.stops);
            self.ask(scene, &keys, distance, runner, stop);
        }
        if let Some(below) = questions.below {
            self.list_below(scene, below, runner, stop);
        }
        if questions.nearest > 0 {
            self.list_nearest(scene, runner, stop)?;
        }
        Ok(())
    }

    fn is_listed(&self, scene: &Scene, state: &PairState) -> bool {
        let answer = &state.answer;
        let met = answer.contact.as_ref().is_some_and(|contact| contact.may_have_met());
        let says = |noted: Noted| {
            answer.verdict.is_none_or(|verdict| verdict != noted.verdict)
                || answer.within_margin.is_none_or(|within| within != noted.within_margin)
        };
        match self.questions.listed {
            Listed::Nothing => false,
            Listed::All => true,
            Listed::Near => met || says(PLAIN),
            Listed::Changed => met || says(*scene.noted.get(&state.key).unwrap_or(&PLAIN)),
        }
    }

    fn ask(
        &mut self,
        scene: &mut Scene,
        keys: &[PairKey],
        distance: Option<Stops>,
        runner: &dyn Runner,
        stop: &AtomicBool,
    ) {
        let depth = self.questions.depths;
        scene.table.assign(keys, Task::Detail { distance, depth }, scene.answers);
        scene.run(self.questions, self.swept, runner, stop);
        for state in scene.table.states().iter().filter(|state| state.task != Task::Rest) {
            self.counters.cost += state.cost;
        }
    }

    /// Lists the pairs at most `below` apart; when stopped, those that may be. What is listed with
    /// its distance keeps it: farther away than that, nothing narrow is found here.
    fn list_below(
        &mut self,
        scene: &mut Scene,
        below: f64,
        runner: &dyn Runner,
        stop: &AtomicBool,
    ) {
        let may_be_near = |key: &&PairKey| {
            let (p, q) = (&scene.entries[key.p as usize], &scene.entries[key.q as usize]);
            p.now.bounds.gap(&q.now.bounds).is_none_or(|gap| gap.lower <= below)
        };
        let is_open = |key: &&PairKey| !self.listed.get(*key).is_some_and(|measured| *measured);
        let keys: Vec<PairKey> =
            self.keys.iter().filter(is_open).filter(may_be_near).copied().collect();
        let stops = Stops { above: Some(below), below: None };
        self.ask(scene, &keys, Some(stops), runner, stop);
        for key in keys {
            let distance = scene.distance_of(key);
            if distance.is_none_or(|distance| distance[0] <= below) {
                self.listed.insert(key, true);
            }
        }
    }

    /// Lists the nearest pairs: measures all that boxes do not prove to be farther than some
    /// radius, and tries a larger one until enough of them are within it.
    fn list_nearest(
        &mut self,
        scene: &mut Scene,
        runner: &dyn Runner,
        stop: &AtomicBool,
    ) -> Result<(), TooManyPairs> {
        let too_many = TooManyPairs { pairs_max: scene.limits.pairs_max };
        let wanted = self.questions.nearest as usize;
        let Some(all) = scene.entries.iter().map(|e| e.now.bounds).reduce(|a, b| a.union(&b))
        else {
            return Ok(());
        };
        let span = (0..3).map(|i| all.high[i] - all.low[i]).fold(0.0, f64::max);
        // Coarse on purpose: a radius too large costs measurements, one too small another pass.
        let mut radius = span / 256.0;
        loop {
            let covers_all = radius >= 2.0 * span;
            let boxes: Vec<_> =
                scene.entries.iter().map(|e| e.now.bounds.inflated(radius / 2.0)).collect();
            let keys = candidates(&boxes, scene.limits.pairs_max, |key| scene.book.is_enabled(key))
                .map_err(|_| too_many)?;
            scene.table.admit(&keys);
            self.ask(scene, &keys, Some(Stops::default()), runner, stop);
            let mut measured: Vec<([f64; 2], PairKey)> =
                keys.iter().filter_map(|key| Some((scene.distance_of(*key)?, *key))).collect();
            measured.sort_by(|a, b| a.0[1].total_cmp(&b.0[1]).then(a.1.cmp(&b.1)));
            let within = measured.iter().filter(|(bounds, _)| bounds[1] <= radius).count();
            if within >= wanted || covers_all {
                self.listed.extend(measured.iter().take(wanted).map(|(_, key)| (*key, true)));
                return Ok(());
            }
            radius *= 4.0;
        }
    }

    /// What the report says of the listed pairs.
    pub(super) fn pairs(&mut self, scene: &Scene) -> Vec<PairReport> {
        let listed_max = scene.limits.listed_max;
        self.omitted = self.listed.len().saturating_sub(listed_max) as u64;
        let listed = self.listed.iter().take(listed_max);
        listed
            .filter_map(|(key, with_distance)| {
                let answer = &scene.table.get(*key)?.answer;
                let depth = answer.depth.as_deref().filter(|_| self.questions.depths);
                let distance = answer.distance.as_deref().filter(|_| *with_distance);
                let proofs = answer.proofs.as_ref().filter(|_| self.questions.certificates);
                Some(PairReport {
                    p: scene.id_of(key.p),
                    q: scene.id_of(key.q),
                    verdict: answer.verdict,
                    deciding: answer.deciding,
                    within_margin: answer.within_margin,
                    margin: scene.book.margin(*key),
                    distance: distance.map(|(_, distance)| distance.clone()),
                    depth: depth.cloned(),
                    first_contact: answer.contact.as_deref().cloned(),
                    proofs: proofs.cloned().unwrap_or_default(),
                    stopped: answer.stopped,
                })
            })
            .collect()
    }

    /// Remembers what was said.
    pub(super) fn note(&self, scene: &mut Scene) {
        for key in &self.keys {
            let Some(state) = scene.table.get(*key) else { continue };
            let answer = &state.answer;
            let Some((verdict, within_margin)) = answer.verdict.zip(answer.within_margin) else {
                continue;
            };
            let noted = Noted { verdict, within_margin };
            if noted == PLAIN {
                scene.noted.remove(key);
            } else {
                scene.noted.insert(*key, noted);
            }
        }
    }
}

impl Scene {
    /// The distance bracket that the last round found.
    fn distance_of(&self, key: PairKey) -> Option<[f64; 2]> {
        let (_, distance) = self.table.get(key)?.answer.distance.as_deref()?;
        Some([distance.lower, distance.upper])
    }
}
