//! The step of a frame, from what was applied to the report: a round takes the pairs worth looking
//! at through its phases, in the order of this file.
//!
//! 1. `near` says which pairs are worth looking at.
//! 2. [`Round::stand`] asks how each stands: most need one look, others what `pairs::work` does.
//! 3. [`Round::detail`] chooses what is listed (`ranking` by clearance) and measures it.
//! 4. `events` says what began and what ended, [`Round::look_at_impacts`] how.
//! 5. `writing` writes the report, and what it says is remembered.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::declared::question::{Frame, Listed, Questions};
use crate::frame::apply::{Applied, FrameError};
use crate::frame::events::Announced;
use crate::frame::scene::{Scene, SweptBodies};
use crate::memory::kept::{Batch, Noted, Standing};
use crate::memory::looks::Looking;
use crate::memory::runner::{PairWork, Runner};
use crate::methods::{CostOfEach, Methods};
use crate::pair_key::PairKey;
use crate::pairs::answer::{Asking, ContactEnd, PairAnswer};
use crate::pairs::report::{
    Counters, Event, EventKind, MoveError, PartPair, RankedPair, Report, Tally,
};
use crate::pairs::state::{PairState, Task};
use crate::pairs::work::{are_proven_at_once, work};
use crate::placed::entry::{Entry, PairSide};
use crate::placed::mounted::Mounted;
use crate::placed::travel::until;
use crate::unanswered::{Unanswered, go_on, sort_by};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::meeting::Impact;
use clearance_geometry::rays::resting::BYTES_OF_NEAR_FACES;
use clearance_geometry::until::Until;

/// Why a frame was not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// It was refused.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// It was applied.
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
}

/// A frame that was applied and answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Stepped {
    /// Moves that were refused, by their index in the frame.
    pub refused: Vec<(usize, MoveError)>,
    /// What is known of the scene as the frame leaves it.
    pub report: Arc<Report>,
}

/// What every pair counts as before anything is said of it.
pub(crate) const PLAIN: Noted = Noted { verdict: Verdict::Separated, within_margin: false };

/// The pairs that a frame ranks.
#[derive(Debug)]
pub(crate) struct Ranking {
    pub(crate) keys: BTreeSet<PairKey>,
    /// At most the signed clearance of every pair that is none of the nearest and may be ranked all
    /// the same.
    pub(crate) left_out: f64,
    /// The pairs in their order, once they are measured.
    pub(crate) pairs: Vec<RankedPair>,
}

impl Default for Ranking {
    fn default() -> Self {
        Self { keys: BTreeSet::new(), left_out: f64::INFINITY, pairs: Vec::new() }
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

/// Polygons of so many corners at most are looked for before it is counted how many they have.
const CORNERS_AT_ONCE: usize = 1 << 16;

/// So many pairs are asked at once: in a fraction of a millisecond they are taken out and put back.
const PAIRS_AT_ONCE: usize = 4096;

impl Scene {
    /// Answers for where the bodies are now. The work on pairs goes through `runner`. When the time
    /// is over, the pairs not yet answered stay undecided. When the caller has gone, every stage
    /// ends within about a millisecond, what was announced is taken back, and the frame counts as
    /// one that was applied and not answered.
    pub fn answer(
        &mut self,
        questions: &Questions,
        runner: &dyn Runner,
        until: &Until,
    ) -> Result<Arc<Report>, Unanswered> {
        let mut announced = Announced::default();
        let work = PairWork { questions, runner, until };
        let answered = self.report(&work, &mut announced);
        match answered {
            Ok(report) => {
                self.asked = Some(*questions);
                self.settle();
                let report = Arc::new(report);
                self.last_report = Some(report.clone());
                Ok(report)
            }
            Err(unanswered) => {
                self.take_back(announced);
                Err(unanswered)
            }
        }
    }

    /// The report for where the bodies are now; what it announces is remembered, too.
    fn report(
        &mut self,
        work: &PairWork<'_>,
        announced: &mut Announced,
    ) -> Result<Report, Unanswered> {
        let &PairWork { questions, until, .. } = work;
        self.sweep(questions, until)?;
        let places = self.pairs_within_room(work)?;
        self.answers += 1;

        let mut round = Round::new(*work, places, &self.methods);
        round.stand(self)?;
        round.detail(self)?;
        let mut events = self.events(&round.notable, questions, until, announced)?;
        round.look_at_impacts(self, &mut events)?;
        round.written(self, events)
    }

    /// Applies and answers in one go, here and now.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use clearance_geometry::{Vec3, hull::convex_hull, pose::Pose, separation::METHODS};
    /// # use clearance_geometry::until::Until;
    /// # use clearance_scene::{Body, BodyId, Declaration, Limits, Scene, Serial};
    /// # use clearance_scene::{Frame, Move, Questions};
    /// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
    /// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
    /// # let cube = Arc::new(cube);
    /// # let (bodies_max, parts_max, classes_max, pairs_max, listed_max) = (9, 9, 9, 9, 9);
    /// # let limits = Limits { bodies_max, parts_max, classes_max, pairs_max, listed_max };
    /// let far = Pose::translation(4.0, 0.0, 0.0);
    /// let bodies = vec![Body::solid(1, cube.clone()), Body::solid(2, cube).placed(far)];
    /// let declared = Declaration { bodies, ..Default::default() };
    /// let mut scene = Scene::open(declared, &METHODS[0], limits).unwrap();
    /// scene.answer(&Questions::default(), &Serial, Until::never()).unwrap();
    /// let pose = Pose::translation(1.0, 0.0, 0.0);
    /// let moves = vec![Move::new(BodyId(2), pose)];
    /// let frame = Frame { id: 1, moves, ..Default::default() };
    /// let report = scene.step(&frame, &Questions::default(), &Serial).unwrap().report;
    /// assert_eq!(report.tally.touching, 1);
    /// assert_eq!(report.events.len(), 1);
    /// ```
    pub fn step(
        &mut self,
        frame: &Frame,
        questions: &Questions,
        runner: &dyn Runner,
    ) -> Result<Stepped, StepError> {
        let refused = match self.apply(frame)? {
            Applied::Now(refused) => refused,
            Applied::Repeated => {
                if let Some(report) = self.remembered_report(frame.id) {
                    return Ok(Stepped { refused: Vec::new(), report });
                }
                Vec::new()
            }
        };
        let report = self.answer(questions, runner, Until::never())?;
        Ok(Stepped { refused, report })
    }
}

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
        let PairWork { questions, until, .. } = self.work;
        let (mut looked_closely, mut remembered) = (0, 0);
        let places = std::mem::take(&mut self.places);
        let (simple, others): (Vec<u32>, Vec<u32>) =
            until.each(places).partition(|place| scene.table.at(*place).is_simple);
        let mut keys: Vec<PairKey> = Vec::with_capacity(others.len());
        keys.extend(until.each(&others).map(|place| scene.table.at(*place).key));
        let has_expired = |place: &&u32| scene.has_expired(**place);
        self.counters.pairs_expired = until.each(&others).filter(has_expired).count() as u64;
        let is_near = |place: &&u32| scene.table.at(**place).is_near;
        let mut near = until.each(&others).filter(is_near).count() as u64;
        go_on(until)?;
        let (counters, notable) = (&mut self.counters, &mut self.notable);
        if questions.is_about_all() {
            keys.extend(until.each(&simple).map(|place| scene.table.at(*place).key));
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
        sort_by(until, &mut keys, PairKey::cmp)?;
        let is_spoken_of: Vec<bool> =
            until.each(&keys).map(|key| scene.table.said(*key).is_anything()).collect();
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
        sort_by(until, notable, PairKey::cmp)?;
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
        let PairWork { questions, until, .. } = self.work;
        let candidates = match questions.listed {
            Listed::Nothing => &[],
            Listed::Changed | Listed::Near => &self.notable[..],
            Listed::All => &self.keys[..],
        };
        for key in until.each(candidates) {
            if self.is_listed(scene, *key) {
                self.listed.insert(*key, questions.distances);
            }
        }
        go_on(until)?;
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

    /// The polygons of listed pairs in their order, as far as there is room for them.
    ///
    /// A body may have very many corners and stand in very many contacts: of 300 drums of 300
    /// corners in two layers the polygons took 600 MB, of which the report that was sent had 4. So
    /// they are looked for from the first listed pair on, until they are more than whoever reads
    /// the report takes; pairs beyond are omitted.
    fn look_for_polygons(&mut self, scene: &mut Scene) -> Result<Vec<Vec<Vec3>>, Unanswered> {
        let (until, numbers_max) = (self.work.until, self.work.questions.polygon_numbers_max);
        let keys: Vec<PairKey> =
            self.listed.keys().take(scene.limits.listed_max).copied().collect();
        let (mut polygons, mut numbers) = (Vec::new(), 0_usize);
        while polygons.len() < keys.len() && numbers <= numbers_max {
            go_on(until)?;
            let mut corners_max = 0_usize;
            let left = &keys[polygons.len()..];
            let more = left.iter().take_while(|key| {
                let has_room = corners_max < CORNERS_AT_ONCE;
                corners_max = corners_max.saturating_add(corners_at_most(scene, **key));
                has_room
            });
            let next = &left[..more.count()];
            let (distance, depth, normal, polygon) = (None, false, false, true);
            let task = Task::Detail { distance, depth, normal, polygon };
            let (counters, mut bytes) = (&mut self.counters, 0);
            scene.run(next, task, &self.work, |state| {
                counters.count(state);
                // The report keeps it; it is looked for anew each time.
                let known = state.answer.meeting.as_mut();
                let polygon = known.map(|known| std::mem::take(&mut known.polygon));
                bytes +=
                    polygon.as_ref().map_or(0, |polygon| polygon.capacity() * size_of::<Vec3>());
                if numbers <= numbers_max {
                    let polygon = polygon.unwrap_or_default();
                    numbers = numbers.saturating_add(polygon.iter().map(numbers_of).sum());
                    polygons.push(polygon);
                }
            })?;
            if !self.work.runner.has_room(bytes) {
                return Err(Unanswered::NoRoom);
            }
        }
        Ok(polygons)
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
        let PairWork { questions, until, .. } = self.work;
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
                until.each(&*events).filter_map(|event| key_of(scene, event)).collect();
            sort_by(until, &mut keys, PairKey::cmp)?;
            let mut impacts: BTreeMap<PairKey, Impact> = BTreeMap::new();
            let counters = &mut self.counters;
            scene.run(&keys, Task::Impact(end), &self.work, |state| {
                counters.count(state);
                let known = state.answer.meeting.as_ref().and_then(|known| known.impact);
                impacts.extend(known.map(|impact| (state.key, impact)));
            })?;
            for event in until.each(events.iter_mut()) {
                let key = key_of(scene, event);
                event.impact = event.impact.or(key.and_then(|key| impacts.get(&key).copied()));
            }
        }
        go_on(until)
    }
}

impl Scene {
    /// Everything that one pair is asked about.
    pub(crate) fn asking<'a>(
        &'a self,
        key: PairKey,
        questions: &'a Questions,
        until: &'a Until,
    ) -> Asking<'a> {
        let (p, q) = (&self.entries[key.p as usize], &self.entries[key.q as usize]);
        let between = questions.between_of(&p.body, &q.body);
        let starts = between.map(|_| &self.starts[..]);
        Asking {
            p: PairSide::new(p, starts),
            q: PairSide::new(q, starts),
            between,
            margin: self.book.margin(key),
            begin_margin: self.begin_margin,
            release_margin: self.release_margin,
            is_announced: self.contacts.contains_key(&key),
            answers: self.answers,
            proves: questions.certificates && are_proven_at_once(p, q),
            questions,
            methods: &self.methods,
            until,
        }
    }

    /// What a look at the contacts with faces takes while it lasts, bytes at most.
    fn bytes_of_faces(&self, questions: &Questions) -> usize {
        let is_asked = questions.face_normals && self.look_bytes > 0;
        if is_asked { BYTES_OF_NEAR_FACES } else { 0 }
    }

    /// Runs a task for each of `keys`, and tells `look` of every pair what came of it; some at a
    /// time, as long as somebody waits.
    pub(crate) fn run(
        &mut self,
        keys: &[PairKey],
        task: Task,
        on: &PairWork<'_>,
        mut look: impl FnMut(&mut PairState),
    ) -> Result<(), Unanswered> {
        for keys in keys.chunks(PAIRS_AT_ONCE) {
            go_on(on.until)?;
            let of_a_look = self.look_bytes.saturating_add(self.bytes_of_faces(on.questions));
            let at_once = of_a_look.saturating_mul(on.runner.at_once(keys.len()));
            if at_once > 0 {
                on.take_room(at_once)?;
            }
            self.run_at_once(keys, task, on, &mut look);
            on.runner.give_back(at_once);
            on.take_room(0)?;
        }
        go_on(on.until)
    }

    fn run_at_once(
        &mut self,
        keys: &[PairKey],
        task: Task,
        on: &PairWork<'_>,
        look: &mut impl FnMut(&mut PairState),
    ) {
        let mut states = self.table.take(keys, self.answers);
        on.runner.run(&mut states, &|state| {
            let mut asking = self.asking(state.key, on.questions, on.until);
            asking.proves |= task == Task::Prove;
            work(&asking, task, state);
        });
        states.iter_mut().for_each(|state| look(state));
        let keeps_all = on.questions.is_about_all() || on.questions.nearest > 0;
        let (travel, contacts) = (&self.travel, &self.contacts);
        self.table.put_back(states, keeps_all, |state| {
            let answer = &state.answer;
            let is_separated = answer.verdict == Some(Verdict::Separated);
            // When a contact ends is no matter of the verdict alone.
            if answer.is_open() || is_separated && contacts.contains_key(&state.key) {
                return f64::NEG_INFINITY;
            }
            let PairKey { p, q } = state.key;
            until(travel[p as usize] + travel[q as usize], answer.room)
        });
    }

    /// Looks at the pairs at these places (sorted) as far as a verdict goes.
    pub(crate) fn look_at(
        &mut self,
        places: &[u32],
        on: &PairWork<'_>,
        done: impl FnMut(&mut Batch<'_>),
    ) -> Result<(), Unanswered> {
        let mut table = std::mem::take(&mut self.table);
        let looking = Looking {
            entries: &self.entries,
            travel: &self.travel,
            starts: &self.starts,
            method: self.methods.verdict.method,
            questions: on.questions,
            until: on.until,
            answers: self.answers,
            ends_at_once: self.release_margin <= 0.0,
            has_chosen: self.has_chosen,
        };
        table.look_at(places, on.runner, &|batch| looking.work(batch), done);
        self.table = table;
        go_on(on.until)
    }

    /// How the pair stands, of which nothing more is known if it was not asked in this answer.
    pub(crate) fn told(&self, key: PairKey) -> Cow<'_, PairAnswer> {
        let details = self.table.details(key).filter(|state| state.stood_at == self.answers);
        if let Some(state) = details {
            return Cow::Borrowed(&state.answer);
        }
        let kept = self.table.get(key).expect("every pair that is told of has a place");
        let verdict = kept.standing.verdict();
        let in_contact = verdict.map(|verdict| verdict != Verdict::Separated);
        let deciding = in_contact.filter(|is| *is).map(|_| PartPair { p: 0, q: 0 });
        // With a release margin, whoever ends a contact has looked at the pair in detail.
        let ends_at_once = self.release_margin <= 0.0;
        let ended = ends_at_once && kept.said.is_announced && in_contact == Some(false);
        Cow::Owned(PairAnswer {
            verdict,
            deciding,
            by_boxes: kept.standing == Standing::ByBoxes,
            within_margin: in_contact,
            beyond_release: ended.then_some(true),
            ..PairAnswer::default()
        })
    }

    /// Whether the bodies of the pair at this place have used up the room of its verdict.
    fn has_expired(&self, place: u32) -> bool {
        let kept = self.table.at(place);
        let PairKey { p, q } = kept.key;
        kept.has_expired(self.travel[p as usize] + self.travel[q as usize])
    }

    /// The next motion starts here.
    fn settle(&mut self) {
        if self.has_changed {
            self.entries.iter_mut().for_each(Entry::settle);
        } else {
            self.moved.iter().for_each(|&body| self.entries[body as usize].settle());
        }
        for body in self.moved.drain(..) {
            self.has_moved[body as usize] = false;
        }
        self.starts.clear();
        self.turned_far.clear();
        self.robots.iter_mut().for_each(Mounted::settle);
        self.has_changed = false;
        self.swept = SweptBodies::None;
        self.answered = self.applied;
        self.skipped = 0;
        self.table.trim(self.answers, self.limits.pairs_max);
    }
}

/// The coordinates that take any room in a report.
fn numbers_of(corner: &Vec3) -> usize {
    corner.iter().filter(|x| **x != 0.0).count()
}

/// So many corners a polygon of this pair has at most.
fn corners_at_most(scene: &Scene, key: PairKey) -> usize {
    let of = |index| {
        let parts = scene.entries[index as usize].body.parts.iter();
        parts.map(|part| part.polytope.vertices().len()).max().unwrap_or(0)
    };
    of(key.p).saturating_add(of(key.q))
}
