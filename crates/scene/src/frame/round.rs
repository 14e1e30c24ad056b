//! One round of answers: which pairs are asked what, and which of them the report lists.

use std::collections::{BTreeMap, BTreeSet};

use crate::broken::{Rule, is_broken};
use crate::declared::question::{Listed, Questions};
use crate::frame::scene::Scene;
use crate::memory::kept::{Noted, Said, Standing};
use crate::memory::runner::PairWork;
use crate::methods::{CostOfEach, Methods};
use crate::pair_key::PairKey;
use crate::pairs::answer::ContactEnd;
use crate::pairs::report::{Counters, Event, EventKind, Tally};
use crate::pairs::state::Task;
use crate::waiting::{TooManyPairs, Unanswered, Waiting};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::meeting::Impact;

/// What is to be remembered of a pair.
pub(crate) struct Remark {
    key: PairKey,
    /// What is noted of it from now on, where that changes.
    noted: Option<Option<Noted>>,
    /// The same for the table, and the pair's place there.
    said: Option<(u32, Said)>,
    is_open: bool,
}

/// What every pair counts as before anything is said of it.
const PLAIN: Noted = Noted { verdict: Verdict::Separated, within_margin: false };

/// The pairs that a frame ranks.
#[derive(Debug)]
pub(crate) struct Ranking {
    pub(crate) keys: BTreeSet<PairKey>,
    /// At most the signed clearance of every pair that is none of the nearest and may be ranked all
    /// the same.
    pub(crate) left_out: f64,
}

impl Default for Ranking {
    fn default() -> Self {
        Self { keys: BTreeSet::new(), left_out: f64::INFINITY }
    }
}

/// The work on one frame.
pub(crate) struct Round<'a> {
    pub(crate) work: PairWork<'a>,
    /// The places of the pairs to look at, sorted.
    places: Vec<u32>,
    /// These pairs, sorted, where the report may list any of them.
    pub(crate) keys: Vec<PairKey>,
    /// The pairs of which there is, was or may be more to say than that they are plainly separated,
    /// but those that stand as they were said to; sorted.
    pub(crate) notable: Vec<PairKey>,
    /// The pairs listed, and whether with their distance.
    pub(crate) listed: BTreeMap<PairKey, bool>,
    pub(crate) ranking: Ranking,
    pub(crate) omitted: u64,
    /// The polygons of the first pairs listed.
    pub(crate) polygons: Vec<Vec<Vec3>>,
    pub(crate) tally: Tally,
    pub(crate) counters: Counters,
}

impl Scene {
    /// The places of the pairs to be looked at, sorted: of the near ones and those of which
    /// something was said before, all of whose answer something may have changed. The answer about
    /// a pair is a function of its poses and of the question; so a pair keeps it while neither body
    /// moves, and its verdict while they have not travelled as far as that has room.
    pub(crate) fn pairs_to_look_at(
        &mut self,
        questions: &Questions,
        waiting: &Waiting<'_>,
    ) -> Result<Vec<u32>, Unanswered> {
        let pairs_max = self.limits.pairs_max;
        if self.has_changed {
            self.restate_said(waiting)?;
        }
        if questions.listed == Listed::All {
            if self.book.pairs_enabled > pairs_max as u64 {
                return Err(TooManyPairs { pairs_max }.into());
            }
            // Nobody asks the boxes meanwhile, so they are not kept up to date.
            self.near.invalidate();
            let mut places = self.table.places_of(waiting.each(self.book.enabled_pairs()));
            waiting.go_on()?;
            waiting.sort_by(&mut places, u32::cmp)?;
            return Ok(places);
        }
        self.find_near_pairs(questions.below.unwrap_or(0.0).max(0.0), waiting)?;
        let is_other_question = self.asked != Some(*questions);
        if self.has_changed || is_other_question || questions.is_about_all() {
            let mut places = self.table.places_of_all();
            let watched = places.len();
            if self.asked.is_none() {
                places.extend(waiting.each(self.table.places_unsaid()));
            }
            // Those that are no longer near, too.
            places.extend(self.table.places_of(waiting.each(self.open.iter().copied())));
            if places.len() > watched {
                waiting.go_on()?;
                waiting.sort_by(&mut places, u32::cmp)?;
                places.dedup();
            }
            return Ok(places);
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
        places.extend(self.table.places_of(self.open.iter().copied()));
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
    fn restate_said(&mut self, waiting: &Waiting<'_>) -> Result<(), Unanswered> {
        let keys: Vec<PairKey> = self.contacts.keys().chain(self.noted.keys()).copied().collect();
        for key in waiting.each(keys) {
            self.table.set_said(key, self.said_of(key));
        }
        waiting.go_on()
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
    pub(crate) fn new(work: PairWork<'a>, places: Vec<u32>, methods: &Methods) -> Self {
        let cost_of_each = methods.are_named().then(CostOfEach::default);
        Self {
            work,
            places,
            keys: Vec::new(),
            notable: Vec::new(),
            listed: BTreeMap::new(),
            ranking: Ranking::default(),
            omitted: 0,
            polygons: Vec::new(),
            tally: Tally::default(),
            counters: Counters { cost_of_each, ..Counters::default() },
        }
    }

    /// Asks how every pair stands.
    pub(crate) fn stand(&mut self, scene: &mut Scene) -> Result<(), Unanswered> {
        let PairWork { questions, waiting, .. } = self.work;
        let (mut looked_closely, mut remembered) = (0, 0);
        let places = std::mem::take(&mut self.places);
        let (simple, others): (Vec<u32>, Vec<u32>) =
            waiting.each(places).partition(|place| scene.table.at(*place).is_simple);
        let mut keys: Vec<PairKey> = Vec::with_capacity(others.len());
        keys.extend(waiting.each(&others).map(|place| scene.table.at(*place).key));
        let has_expired = |place: &&u32| scene.has_expired(**place);
        self.counters.pairs_expired = waiting.each(&others).filter(has_expired).count() as u64;
        let is_near = |place: &&u32| scene.table.at(**place).is_near;
        let mut near = waiting.each(&others).filter(is_near).count() as u64;
        waiting.go_on()?;
        let (counters, notable) = (&mut self.counters, &mut self.notable);
        if questions.is_about_all() {
            keys.extend(waiting.each(&simple).map(|place| scene.table.at(*place).key));
            near = scene.table.near_count() as u64;
        } else {
            scene.look_at(&simple, &self.work, |batch| {
                counters.cost += batch.cost;
                counters.pairs_expired += batch.expired;
                near += batch.near;
                looked_closely += batch.looked_closely;
                notable.append(&mut batch.news);
                keys.append(&mut batch.left);
            })?;
        }
        waiting.sort_by(&mut keys, PairKey::cmp)?;
        let is_spoken_of: Vec<bool> =
            waiting.each(&keys).map(|key| scene.table.said(*key).is_anything()).collect();
        let mut is_spoken_of = is_spoken_of.into_iter();
        scene.run(&keys, Task::Stand, &self.work, |state| {
            if is_spoken_of.next() == Some(true) || !state.answer.is_plain() {
                notable.push(state.key);
            }
            counters.count(state);
            let is_by_boxes = state.answer.by_boxes;
            looked_closely += u64::from(!is_by_boxes && !state.was_remembered);
            remembered += u64::from(!is_by_boxes && state.was_remembered);
        })?;
        if questions.listed == Listed::Near {
            notable.extend(scene.contacts.keys().chain(scene.noted.keys()));
        }
        waiting.sort_by(notable, PairKey::cmp)?;
        notable.dedup();
        self.keys = keys;
        self.count(scene, looked_closely);
        self.counters.pairs_asleep = (scene.table.near_count() as u64).saturating_sub(near);
        debug_assert!(remembered <= self.counters.pairs_remembered);
        Ok(())
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
    pub(crate) fn detail(&mut self, scene: &mut Scene) -> Result<(), Unanswered> {
        let PairWork { questions, waiting, .. } = self.work;
        let candidates = match questions.listed {
            Listed::Nothing => &[],
            Listed::Changed | Listed::Near => &self.notable[..],
            Listed::All => &self.keys[..],
        };
        for key in waiting.each(candidates) {
            if self.is_listed(scene, *key) {
                self.listed.insert(*key, questions.distances);
            }
        }
        waiting.go_on()?;
        if questions.asks_details() && !self.listed.is_empty() {
            let keys: Vec<PairKey> = self.listed.keys().copied().collect();
            let distance = questions.distances.then_some(questions.stops);
            let &Questions { depths: depth, normals: normal, .. } = questions;
            let polygon = false;
            self.ask(scene, &keys, Task::Detail { distance, depth, normal, polygon })?;
        }
        self.rank(scene)?;
        if questions.polygons {
            self.polygons = self.look_for_polygons(scene)?;
        }
        if questions.along.is_some() {
            let listed = self.listed.keys().take(scene.limits.listed_max);
            let keys: Vec<PairKey> = listed.copied().collect();
            let counters = &mut self.counters;
            scene.run(&keys, Task::Along, &self.work, |state| counters.count(state))?;
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

    pub(crate) fn ask(
        &mut self,
        scene: &mut Scene,
        keys: &[PairKey],
        task: Task,
    ) -> Result<(), Unanswered> {
        let counters = &mut self.counters;
        scene.run(keys, task, &self.work, |state| counters.count(state))
    }

    /// Finds out where and how the contacts of these events begin and end, if that is asked.
    pub(crate) fn look_at_impacts(
        &mut self,
        scene: &mut Scene,
        events: &mut [Event],
    ) -> Result<(), Unanswered> {
        let PairWork { questions, waiting, .. } = self.work;
        if !questions.impacts {
            return Ok(());
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
                waiting.each(&*events).filter_map(|event| key_of(scene, event)).collect();
            waiting.sort_by(&mut keys, PairKey::cmp)?;
            let mut impacts: BTreeMap<PairKey, Impact> = BTreeMap::new();
            let counters = &mut self.counters;
            scene.run(&keys, Task::Impact(end), &self.work, |state| {
                counters.count(state);
                let known = state.answer.meeting.as_ref().and_then(|known| known.impact);
                impacts.extend(known.map(|impact| (state.key, impact)));
            })?;
            for event in waiting.each(events.iter_mut()) {
                let key = key_of(scene, event);
                event.impact = event.impact.or(key.and_then(|key| impacts.get(&key).copied()));
            }
        }
        waiting.go_on()
    }

    /// What is to be remembered of what is said.
    pub(crate) fn remarks(&self, scene: &Scene) -> Result<Vec<Remark>, Unanswered> {
        let waiting = self.work.waiting;
        let remark = |&key: &PairKey| {
            let answer = scene.told(key);
            let known = answer.verdict.zip(answer.within_margin);
            let known = known.map(|(verdict, within_margin)| Noted { verdict, within_margin });
            let before = scene.noted.get(&key).copied();
            let noted = known.map_or(before, |noted| Some(noted).filter(|noted| *noted != PLAIN));
            let said = Said {
                noted: noted.map(|noted| (noted.verdict, noted.within_margin)),
                is_announced: scene.contacts.contains_key(&key),
            };
            let place = scene.table.place_of(key);
            let is_other = |place: &u32| scene.table.at(*place).said != said;
            Remark {
                key,
                noted: (noted != before).then_some(noted),
                said: place.filter(is_other).map(|place| (place, said)),
                is_open: answer.is_open(),
            }
        };
        let says_something =
            |remark: &Remark| remark.is_open || remark.noted.is_some() || remark.said.is_some();
        let remarks = waiting.each(&self.notable).map(remark).filter(says_something).collect();
        waiting.go_on()?;
        Ok(remarks)
    }
}

impl Scene {
    /// Remembers what is said.
    pub(crate) fn take_note(&mut self, remarks: Vec<Remark>) {
        self.open.clear();
        for Remark { key, noted, said, is_open } in remarks {
            if is_open {
                self.open.push(key);
            }
            match noted {
                None => {}
                Some(None) => drop(self.noted.remove(&key)),
                Some(Some(noted)) => drop(self.noted.insert(key, noted)),
            }
            if let Some((place, said)) = said {
                self.table.set_said_at(place, said);
            }
        }
    }
}
