//! One round of answers: which pairs are asked what, and which of them the report lists.

use std::collections::BTreeMap;

use super::answer::is_within;
use super::body::Entry;
use super::box_tree::BoxTree;
use super::broken::{Rule, is_broken};
use super::kept::{Said, Standing};
use super::methods::{CostOfEach, Methods};
use super::pairs::{Notes, PairKey, PairWork, Task, Witnesses};
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
    /// The places of the pairs to look at, sorted.
    places: Vec<u32>,
    /// These pairs, sorted, where the report may list any of them.
    keys: Vec<PairKey>,
    /// The pairs of which there is, was or may be more to say than that they are plainly separated,
    /// but those that stand as they were said to; sorted.
    pub(super) notable: Vec<PairKey>,
    /// The pairs listed, and whether with their distance.
    listed: BTreeMap<PairKey, bool>,
    pub(super) omitted: u64,
    pub(super) tally: Tally,
    pub(super) counters: Counters,
}

impl Scene {
    /// The places of the pairs to be looked at, sorted: of the near ones and those of which
    /// something was said before, all of whose answer something may have changed. The answer about
    /// a pair is a function of its poses and of the question; so a pair keeps it while neither body
    /// moves, and its verdict while they have not travelled as far as that has room.
    pub(super) fn pairs_to_look_at(
        &mut self,
        questions: &Questions,
    ) -> Result<Vec<u32>, TooManyPairs> {
        let pairs_max = self.limits.pairs_max;
        if self.has_changed {
            self.restate_said();
        }
        if questions.listed == Listed::All {
            if self.book.pairs_enabled > pairs_max as u64 {
                return Err(TooManyPairs { pairs_max });
            }
            // Nobody asks the boxes meanwhile, so they are not kept up to date.
            self.near.invalidate();
            let mut places = self.table.places_of(self.book.enabled_pairs());
            places.sort_unstable();
            return Ok(places);
        }
        self.find_near_pairs(questions.below.unwrap_or(0.0))?;
        let is_other_question = self.asked != Some(*questions);
        if self.has_changed || is_other_question || questions.is_about_all() {
            return Ok(self.table.places_of_all());
        }
        Ok(self.places_of_moved(questions))
    }

    /// The pairs of the bodies that moved far enough, those that were left open, and those that a
    /// report names as long as they stand as they do.
    fn places_of_moved(&mut self, questions: &Questions) -> Vec<u32> {
        let is_all = self.moved.len() * SCAN_SHARE > self.entries.len();
        let mut places = if is_all {
            self.table.places_awake(&self.travel, &self.has_moved)
        } else {
            self.table.places_awake_of(&self.moved, &self.travel)
        };
        if is_broken(Rule::Expiry) {
            places.pop();
        }
        let awake = places.len();
        let open = std::mem::take(&mut self.open);
        places.extend(self.table.places_of(open));
        let are_met =
            questions.listed != Listed::Nothing && (questions.between.is_some() || self.has_chosen);
        if questions.listed == Listed::Near || are_met {
            let named = self.contacts.keys().chain(self.noted.keys());
            let named = self.table.places_of(named.copied());
            let is_asked = |place: &u32| {
                let kept = self.table.at(*place);
                let [p, q] = [kept.key.p, kept.key.q].map(|at| &self.entries[at as usize].body);
                let is_met = are_met && questions.between_of(p, q).is_some();
                is_met || questions.listed == Listed::Near && !kept.is_simple
            };
            places.extend(named.into_iter().filter(is_asked));
        }
        if !is_all || places.len() > awake {
            places.sort_unstable();
            places.dedup();
        }
        places
    }

    /// Tells the pairs what was said of them, which they do not know after a change of structure.
    fn restate_said(&mut self) {
        let keys: Vec<PairKey> = self.contacts.keys().chain(self.noted.keys()).copied().collect();
        for key in keys {
            self.table.set_said(key, self.said_of(key));
        }
    }

    /// Whether the bodies of the pair at this place have used up the room of its verdict.
    fn has_expired(&self, place: u32) -> bool {
        let kept = self.table.at(place);
        let PairKey { p, q } = kept.key;
        kept.has_expired(self.travel[p as usize] + self.travel[q as usize])
    }

    fn said_of(&self, key: PairKey) -> Said {
        let noted = self.noted.get(&key);
        Said {
            noted: noted.map(|noted| (noted.verdict, noted.within_margin)),
            is_announced: self.contacts.contains_key(&key),
        }
    }
}

/// When more than one body in so many has moved, what is watched of all pairs is read in order;
/// else the pairs of those bodies are looked up.
const SCAN_SHARE: usize = 8;

impl<'a> Round<'a> {
    pub(super) fn new(work: PairWork<'a>, places: Vec<u32>, methods: &Methods) -> Self {
        let cost_of_each = methods.are_named().then(CostOfEach::default);
        Self {
            work,
            places,
            keys: Vec::new(),
            notable: Vec::new(),
            listed: BTreeMap::new(),
            omitted: 0,
            tally: Tally::default(),
            counters: Counters { cost_of_each, ..Counters::default() },
        }
    }

    /// Asks how every pair stands.
    pub(super) fn stand(&mut self, scene: &mut Scene) {
        let questions = self.work.questions;
        let (mut looked_closely, mut remembered) = (0, 0);
        let places = std::mem::take(&mut self.places);
        let (simple, others): (Vec<u32>, Vec<u32>) =
            places.into_iter().partition(|place| scene.table.at(*place).is_simple);
        let mut keys: Vec<PairKey> = Vec::with_capacity(others.len());
        keys.extend(others.iter().map(|place| scene.table.at(*place).key));
        let has_expired = |place: &&u32| scene.has_expired(**place);
        self.counters.pairs_expired = others.iter().filter(has_expired).count() as u64;
        let is_near = |place: &&u32| scene.table.at(**place).is_near;
        let mut near = others.iter().filter(is_near).count() as u64;
        let (counters, notable) = (&mut self.counters, &mut self.notable);
        if questions.is_about_all() {
            keys.extend(simple.iter().map(|place| scene.table.at(*place).key));
            near = scene.table.near_count() as u64;
        } else {
            scene.look_at(&simple, &self.work, |batch| {
                counters.cost += batch.cost;
                counters.pairs_expired += batch.expired;
                near += batch.near;
                looked_closely += batch.looked_closely;
                notable.append(&mut batch.news);
                keys.append(&mut batch.left);
            });
        }
        keys.sort_unstable();
        let is_spoken_of: Vec<bool> =
            keys.iter().map(|key| scene.table.said(*key).is_anything()).collect();
        let mut is_spoken_of = is_spoken_of.into_iter();
        scene.run(&keys, Task::Stand, &self.work, |state| {
            if is_spoken_of.next() == Some(true) || !state.answer.is_plain() {
                notable.push(state.key);
            }
            counters.count(state);
            let is_by_boxes = state.answer.by_boxes;
            looked_closely += u64::from(!is_by_boxes && !state.was_remembered);
            remembered += u64::from(!is_by_boxes && state.was_remembered);
        });
        if questions.listed == Listed::Near {
            notable.extend(scene.contacts.keys().chain(scene.noted.keys()));
        }
        notable.sort_unstable();
        notable.dedup();
        self.keys = keys;
        self.count(scene, looked_closely);
        self.counters.pairs_asleep = (scene.table.near_count() as u64).saturating_sub(near);
        debug_assert!(remembered <= self.counters.pairs_remembered);
    }

    /// How all pairs stand, and how many of them took no look.
    fn count(&mut self, scene: &Scene, looked_closely: u64) {
        let counters = &mut self.counters;
        let [touching, overlapping, stopped, separated] =
            [Standing::Touching, Standing::Overlapping, Standing::Open, Standing::Separated]
                .map(|standing| scene.table.count(standing));
        let enabled = scene.book.pairs_enabled;
        let known = touching + overlapping + stopped + separated;
        counters.pairs_enabled = enabled;
        counters.pairs_skipped = enabled - known;
        counters.pairs_remembered = known - looked_closely;
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
            if self.is_listed(scene, *key) {
                self.listed.insert(*key, questions.distances);
            }
        }
        if questions.asks_details() && !self.listed.is_empty() {
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
        if questions.along.is_some() {
            let listed = self.listed.keys().take(scene.limits.listed_max);
            let keys: Vec<PairKey> = listed.copied().collect();
            let counters = &mut self.counters;
            scene.run(&keys, Task::Along, &self.work, |state| counters.count(state));
        }
        Ok(())
    }

    fn is_listed(&self, scene: &Scene, key: PairKey) -> bool {
        let answer = scene.told(key);
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
                let ends = scene.contacts.contains_key(&key) && answer.beyond_release == Some(true);
                met || ends || says(*scene.noted.get(&key).unwrap_or(&PLAIN))
            }
        }
    }

    fn ask(&mut self, scene: &mut Scene, keys: &[PairKey], distance: Option<Stops>) {
        let task = Task::Detail { distance, depth: self.work.questions.depths };
        let counters = &mut self.counters;
        scene.run(keys, task, &self.work, |state| counters.count(state));
    }

    /// Lists the pairs at most `below` apart; when stopped, those that may be. What is listed with
    /// its distance keeps it: farther away than that, nothing narrow is found here.
    fn list_below(&mut self, scene: &mut Scene, below: f64) {
        let may_be_near = |key: &&PairKey| {
            let (p, q) = (&scene.entries[key.p as usize], &scene.entries[key.q as usize]);
            p.bounds().gap(&q.bounds()).is_none_or(|gap| gap.lower <= below)
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
                    let witnesses = &mut Witnesses::default();
                    let notes = &mut Notes { witnesses, cost, cost_of_each: None };
                    is_within(&asking, below, notes, None).unwrap_or(true)
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
        let Some(all) = scene.entries.iter().map(Entry::bounds).reduce(|a, b| a.union(&b)) else {
            return Ok(());
        };
        let span = (0..3).map(|i| all.high[i] - all.low[i]).fold(0.0, f64::max);
        // Coarse on purpose: a radius too large costs measurements, one too small another pass.
        let mut radius = span / 256.0;
        loop {
            let covers_all = radius >= 2.0 * span;
            let boxes: Vec<_> =
                scene.entries.iter().map(|e| e.bounds().inflated(radius / 2.0)).collect();
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
            .map(|(key, with_distance)| {
                let answer = scene.told(*key);
                let depth = answer.depth.as_deref().filter(|_| self.work.questions.depths);
                let distance = answer.distance.as_deref().filter(|_| *with_distance);
                let along = answer.along.as_deref().filter(|_| self.work.questions.along.is_some());
                let proofs = answer.proofs.as_ref().filter(|_| self.work.questions.certificates);
                PairReport {
                    p: scene.id_of(key.p),
                    q: scene.id_of(key.q),
                    verdict: answer.verdict,
                    deciding: answer.deciding,
                    within_margin: answer.within_margin,
                    margin: scene.book.margin(*key),
                    distance: distance.map(|(_, distance)| distance.clone()),
                    depth: depth.cloned(),
                    along: along.cloned(),
                    first_contact: answer.contact.as_deref().cloned(),
                    proofs: proofs.cloned().unwrap_or_default(),
                    stopped: answer.stopped,
                }
            })
            .collect()
    }

    /// Remembers what was said.
    pub(super) fn note(&self, scene: &mut Scene) {
        scene.open.clear();
        for &key in &self.notable {
            let answer = scene.told(key);
            let (is_open, known) = (answer.is_open(), answer.verdict.zip(answer.within_margin));
            if is_open {
                scene.open.push(key);
            }
            if let Some((verdict, within_margin)) = known {
                let noted = Noted { verdict, within_margin };
                if noted == PLAIN {
                    scene.noted.remove(&key);
                } else {
                    scene.noted.insert(key, noted);
                }
            }
            let said = scene.said_of(key);
            if said != scene.table.said(key) {
                scene.table.set_said(key, said);
            }
        }
    }
}

impl Scene {
    /// The distance bracket that the last round found.
    fn distance_of(&self, key: PairKey) -> Option<[f64; 2]> {
        let (_, distance) = self.table.details(key)?.answer.distance.as_deref()?;
        Some([distance.lower, distance.upper])
    }
}
