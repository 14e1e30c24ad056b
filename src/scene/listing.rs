//! One round of answers: which pairs are asked what, and which of them the report lists.

use std::collections::BTreeMap;

use super::answer::is_within;
use super::box_tree::BoxTree;
use super::pairs::{PairKey, PairState, PairWork, Standing, Task, Witnesses};
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
    work: PairWork<'a>,
    /// The pairs looked at, sorted.
    pub(super) keys: Vec<PairKey>,
    /// Those of them of which there is, was or may be more to say than that they are plainly
    /// separated; sorted.
    pub(super) notable: Vec<PairKey>,
    /// The pairs listed, and whether with their distance.
    listed: BTreeMap<PairKey, bool>,
    pub(super) omitted: u64,
    pub(super) tally: Tally,
    pub(super) counters: Counters,
}

impl Scene {
    /// The pairs to be looked at, sorted: of the near ones and those of which something was said
    /// before, all of whose answer something may have changed. The answer about a pair is a
    /// function of its poses and of the question; so a pair keeps it while neither body moves.
    pub(super) fn pairs_to_look_at(
        &mut self,
        questions: &Questions,
    ) -> Result<Vec<PairKey>, TooManyPairs> {
        let pairs_max = self.limits.pairs_max;
        if questions.listed == Listed::All {
            if self.book.pairs_enabled > pairs_max as u64 {
                return Err(TooManyPairs { pairs_max });
            }
            // Nobody asks the boxes meanwhile, so they are not kept up to date.
            self.near.invalidate();
            return Ok(self.book.enabled_pairs());
        }
        self.find_near_pairs(questions.below.unwrap_or(0.0))?;
        let is_other_question = self.asked != Some(*questions);
        let is_about_all = questions.canonical || questions.below.is_some();
        let mut keys = if self.has_changed || is_other_question || is_about_all {
            let mut keys = self.table.near_pairs();
            keys.extend(self.contacts.keys().chain(self.noted.keys()));
            keys
        } else {
            self.pairs_of_moved(questions)
        };
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// The pairs of the bodies that moved, those that were left open, and those that a report names
    /// as long as they stand as they do.
    fn pairs_of_moved(&self, questions: &Questions) -> Vec<PairKey> {
        let mut keys = self.open.clone();
        if questions.listed == Listed::Near
            || questions.between.is_some() && questions.listed != Listed::Nothing
        {
            keys.extend(self.contacts.keys().chain(self.noted.keys()));
        }
        for &body in &self.moved {
            let others = self.table.partners_to_look_at(body);
            keys.extend(others.map(|other| PairKey::new(body, other)));
        }
        keys
    }
}

impl<'a> Round<'a> {
    pub(super) fn new(work: PairWork<'a>, keys: Vec<PairKey>) -> Self {
        Self {
            work,
            keys,
            notable: Vec::new(),
            listed: BTreeMap::new(),
            omitted: 0,
            tally: Tally::default(),
            counters: Counters::default(),
        }
    }

    /// Asks how every pair stands.
    pub(super) fn stand(&mut self, scene: &mut Scene) {
        let (mut looked_closely, mut remembered) = (0, 0);
        let (counters, notable) = (&mut self.counters, &mut self.notable);
        // After a change of structure the pairs do not know yet what was said of them.
        let is_anything_notable = scene.has_changed;
        scene.run(&self.keys, Task::Stand, &self.work, |state| {
            if is_anything_notable || state.is_spoken_of || !state.answer.is_plain() {
                notable.push(state.key);
            }
            counters.cost += state.cost;
            let is_by_boxes = state.answer.by_boxes;
            looked_closely += u64::from(!is_by_boxes && !state.was_remembered);
            remembered += u64::from(!is_by_boxes && state.was_remembered);
        });
        let [touching, overlapping, stopped, separated] =
            [Standing::Touching, Standing::Overlapping, Standing::Open, Standing::Separated]
                .map(|standing| scene.table.count(standing));
        let enabled = scene.book.pairs_enabled;
        let known = touching + overlapping + stopped + separated;
        counters.pairs_enabled = enabled;
        counters.pairs_skipped = enabled - known;
        counters.pairs_remembered = known - looked_closely;
        debug_assert!(remembered <= counters.pairs_remembered);
        counters.bodies_moved = scene.moved.len() as u64;
        let in_contact_or_open = touching + overlapping + stopped;
        let separated = enabled - in_contact_or_open;
        self.tally = Tally { separated, touching, overlapping, stopped };
    }

    /// Chooses the pairs to list, and asks for their distances and depths.
    pub(super) fn detail(&mut self, scene: &mut Scene) -> Result<(), TooManyPairs> {
        let questions = self.work.questions;
        let candidates = match questions.listed {
            Listed::Nothing => &[],
            Listed::Changed | Listed::Near => &self.notable[..],
            Listed::All => &self.keys[..],
        };
        for key in candidates {
            if scene.table.get(*key).is_some_and(|state| self.is_listed(scene, state)) {
                self.listed.insert(*key, questions.distances);
            }
        }
        let is_detailed = questions.distances || questions.depths;
        if is_detailed && !self.listed.is_empty() {
            let keys: Vec<PairKey> = self.listed.keys().copied().collect();
            let distance = questions.distances.then_some(questions.stops);
            self.ask(scene, &keys, distance);
        }
        if let Some(below) = questions.below {
            self.list_below(scene, below);
        }
        if questions.nearest > 0 {
            self.list_nearest(scene)?;
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
        match self.work.questions.listed {
            Listed::Nothing => false,
            Listed::All => true,
            Listed::Near => met || says(PLAIN),
            Listed::Changed => {
                let ends =
                    scene.contacts.contains_key(&state.key) && answer.beyond_release == Some(true);
                met || ends || says(*scene.noted.get(&state.key).unwrap_or(&PLAIN))
            }
        }
    }

    fn ask(&mut self, scene: &mut Scene, keys: &[PairKey], distance: Option<Stops>) {
        let task = Task::Detail { distance, depth: self.work.questions.depths };
        let cost = &mut self.counters.cost;
        scene.run(keys, task, &self.work, |state| *cost += state.cost);
    }

    /// Lists the pairs at most `below` apart; when stopped, those that may be. What is listed with
    /// its distance keeps it: farther away than that, nothing narrow is found here.
    fn list_below(&mut self, scene: &mut Scene, below: f64) {
        let may_be_near = |key: &&PairKey| {
            let (p, q) = (&scene.entries[key.p as usize], &scene.entries[key.q as usize]);
            p.now.bounds.gap(&q.now.bounds).is_none_or(|gap| gap.lower <= below)
        };
        let is_open = |key: &&PairKey| !self.listed.get(*key).is_some_and(|measured| *measured);
        let keys: Vec<PairKey> =
            self.keys.iter().filter(is_open).filter(may_be_near).copied().collect();
        let stops = Stops { above: Some(below), below: None };
        self.ask(scene, &keys, Some(stops));
        for key in keys {
            let is_near = match scene.distance_of(key) {
                None => true,
                Some([lower, _]) if lower > below => false,
                Some([_, upper]) if upper <= below => true,
                // The bracket is rounded; what it leaves open is decided exactly.
                Some(_) => {
                    let asking = scene.asking(key, self.work.questions, self.work.stop);
                    let cost = &mut self.counters.cost;
                    is_within(&asking, below, &mut Witnesses::default(), cost, None).unwrap_or(true)
                }
            };
            if is_near {
                self.listed.insert(key, true);
            }
        }
    }

    /// Lists the nearest pairs: measures all that boxes do not prove to be farther than some
    /// radius, and tries a larger one until enough of them are within it.
    fn list_nearest(&mut self, scene: &mut Scene) -> Result<(), TooManyPairs> {
        let wanted = self.work.questions.nearest as usize;
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
            let pairs_max = scene.limits.pairs_max;
            let is_enabled = |key| scene.book.is_enabled(key);
            let keys = BoxTree::build(&boxes).pairs(&boxes, pairs_max, is_enabled)?;
            self.ask(scene, &keys, Some(Stops::default()));
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
                let depth = answer.depth.as_deref().filter(|_| self.work.questions.depths);
                let distance = answer.distance.as_deref().filter(|_| *with_distance);
                let proofs = answer.proofs.as_ref().filter(|_| self.work.questions.certificates);
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
        scene.open.clear();
        for &key in &self.notable {
            let Some(state) = scene.table.get(key) else { continue };
            let answer = &state.answer;
            if answer.is_open() {
                scene.open.push(key);
            }
            if let Some((verdict, within_margin)) = answer.verdict.zip(answer.within_margin) {
                let noted = Noted { verdict, within_margin };
                if noted == PLAIN {
                    scene.noted.remove(&key);
                } else {
                    scene.noted.insert(key, noted);
                }
            }
            let is_spoken_of = scene.noted.contains_key(&key) || scene.contacts.contains_key(&key);
            scene.table.set_spoken_of(key, is_spoken_of);
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
