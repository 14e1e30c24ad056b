//! One round of answers: which pairs are asked what, and which of them the report lists.

use std::collections::BTreeMap;

use super::broken::{Rule, is_broken};
use super::kept::{Said, Standing};
use super::meet::ContactEnd;
use super::methods::{CostOfEach, Methods};
use super::pairs::{PairKey, PairWork, Task};
use super::question::{Listed, Questions};
use super::ranking::Ranking;
use super::report::{Counters, Event, EventKind, PairReport, Tally};
use super::state::Scene;
use super::step::TooManyPairs;
use crate::geometry::claim::Verdict;
use crate::geometry::meeting::Impact;

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
    pub(super) work: PairWork<'a>,
    /// The places of the pairs to look at, sorted.
    places: Vec<u32>,
    /// These pairs, sorted, where the report may list any of them.
    pub(super) keys: Vec<PairKey>,
    /// The pairs of which there is, was or may be more to say than that they are plainly separated,
    /// but those that stand as they were said to; sorted.
    pub(super) notable: Vec<PairKey>,
    /// The pairs listed, and whether with their distance.
    pub(super) listed: BTreeMap<PairKey, bool>,
    pub(super) ranking: Ranking,
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
        self.find_near_pairs(questions.below.unwrap_or(0.0).max(0.0))?;
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
            ranking: Ranking::default(),
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
            let &Questions { depths: depth, normals: normal, polygons: polygon, .. } = questions;
            self.ask(scene, &keys, Task::Detail { distance, depth, normal, polygon });
        }
        self.rank(scene)?;
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

    pub(super) fn ask(&mut self, scene: &mut Scene, keys: &[PairKey], task: Task) {
        let counters = &mut self.counters;
        scene.run(keys, task, &self.work, |state| counters.count(state));
    }

    /// Finds out where and how the contacts of these events begin and end, if that is asked.
    pub(super) fn look_at_impacts(&mut self, scene: &mut Scene, events: &mut [Event]) {
        if !self.work.questions.impacts {
            return;
        }
        for (kind, end) in
            [(EventKind::Began, ContactEnd::First), (EventKind::Ended, ContactEnd::Last)]
        {
            let key_of = |scene: &Scene, event: &Event| {
                let is_asked = event.kind == kind && event.verdict.is_some();
                let [p, q] = [event.p, event.q].map(|id| scene.index_of(id));
                is_asked.then_some(()).and_then(|()| Some(PairKey::new(p?, q?)))
            };
            let mut keys: Vec<PairKey> =
                events.iter().filter_map(|event| key_of(scene, event)).collect();
            keys.sort_unstable();
            let mut impacts: BTreeMap<PairKey, Impact> = BTreeMap::new();
            let counters = &mut self.counters;
            scene.run(&keys, Task::Impact(end), &self.work, |state| {
                counters.count(state);
                let known = state.answer.meeting.as_ref().and_then(|known| known.impact);
                impacts.extend(known.map(|impact| (state.key, impact)));
            });
            for event in events.iter_mut() {
                let key = key_of(scene, event);
                event.impact = event.impact.or(key.and_then(|key| impacts.get(&key).copied()));
            }
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
                let with_depth = self.work.questions.depths || self.ranking.keys.contains(key);
                let depth = answer.depth.as_deref().filter(|_| with_depth);
                let distance = answer.distance.as_deref().filter(|_| *with_distance);
                let along = answer.along.as_deref().filter(|_| self.work.questions.along.is_some());
                let proofs = answer.proofs.as_ref().filter(|_| self.work.questions.certificates);
                let normal = answer.meeting.as_ref().and_then(|known| known.normal);
                let normal = normal.filter(|_| self.work.questions.normals);
                let polygon = answer.meeting.as_ref().map(|known| &known.polygon);
                let polygon = polygon.filter(|_| self.work.questions.polygons);
                PairReport {
                    p: scene.id_of(key.p),
                    q: scene.id_of(key.q),
                    verdict: answer.verdict,
                    deciding: normal.map(|normal| normal.parts).or(answer.deciding),
                    within_margin: answer.within_margin,
                    margin: scene.book.margin(*key),
                    distance: distance.map(|(_, distance)| distance.clone()),
                    depth: depth.cloned(),
                    normal: normal.map(|normal| normal.normal),
                    polygon: polygon.cloned().unwrap_or_default(),
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
