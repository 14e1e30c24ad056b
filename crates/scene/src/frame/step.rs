//! The step of a frame: list the pairs worth looking at, ask about each, say what began and what
//! ended.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::declared::body::BodyId;
use crate::declared::question::{Frame, Listed, Questions};
use crate::frame::apply::{Applied, FrameError};
use crate::frame::carry::way_on_chain;
use crate::frame::events::put_in_order;
use crate::frame::round::Round;
use crate::frame::scene::{Scene, SweptBodies};
use crate::memory::kept::{Batch, Standing};
use crate::memory::looks::Looking;
use crate::memory::runner::{PairWork, Runner};
use crate::near::near_pairs::ROOM;
use crate::pair_key::PairKey;
use crate::pairs::answer::{Asking, PairAnswer, PairParting};
use crate::pairs::report::{
    Aliased, Event, EventKind, MoveError, PairContact, PartPair, PlacedNumbers, Report,
};
use crate::pairs::state::{PairState, Task};
use crate::pairs::work::{are_proven_at_once, work};
use crate::placed::entry::{Entry, PairSide, PlacedPart};
use crate::placed::mounted::Mounted;
use crate::placed::travel::{farther, until};
use crate::waiting::{Unanswered, Waiting};
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::number::tolerance::QUARTER_TURN_NOISE;

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
    /// The answer.
    pub report: Arc<Report>,
}

/// What of an answer events are made of.
struct News {
    verdict: Option<Verdict>,
    deciding: Option<PartPair>,
    beyond_release: Option<bool>,
    way: Option<WayNews>,
    parting: Option<PairParting>,
}

/// What they are made of on the way to the frame.
#[derive(Clone, Copy)]
struct WayNews {
    outcome: Outcome,
    bracket: [f64; 2],
    parts: Option<PartPair>,
}

impl News {
    fn of(answer: &PairAnswer) -> Self {
        let of_way = |way: &PairContact| WayNews {
            outcome: way.outcome,
            bracket: [way.t_free, way.t_contact],
            parts: way.parts,
        };
        let &PairAnswer { verdict, deciding, beyond_release, .. } = answer;
        let parting = answer.meeting.as_ref().and_then(|known| known.parting);
        let way = answer.way().map(of_way);
        Self { verdict, deciding, beyond_release, way, parting }
    }
}

/// An event of which no more is known.
fn plain_event(
    kind: EventKind,
    [p, q]: [BodyId; 2],
    bracket: [f64; 2],
    verdict: Option<Verdict>,
) -> Event {
    Event { kind, p, q, parts: None, bracket, impact: None, unordered: false, verdict }
}

/// What a report announces, as it can be taken back.
#[derive(Default)]
struct Announced {
    /// Contacts that began or ended, and since which frame each was announced before.
    contacts: Vec<(PairKey, Option<u64>)>,
    /// Those that ended because a body left or the pair was no longer checked.
    ended: Vec<(BodyId, BodyId)>,
}

/// So many pairs are asked at once: in a fraction of a millisecond they are taken out and put back.
const PAIRS_AT_ONCE: usize = 4096;

impl Scene {
    /// How many pairs an answer to these questions looks at, at most. What is found out for it is
    /// kept: the answer does not find it out again.
    pub fn pairs_within_reach(&mut self, questions: &Questions) -> Result<u64, Unanswered> {
        let waiting = &Waiting::for_ever();
        self.sweep(questions, waiting)?;
        if questions.listed == Listed::All || questions.nearest > 0 {
            return Ok(self.book.pairs_enabled);
        }
        self.find_near_pairs(questions.below.unwrap_or(0.0).max(0.0), waiting)?;
        let all = self.table.len();
        if self.has_changed || self.asked != Some(*questions) || questions.is_about_all() {
            return Ok(all as u64);
        }
        let named = match questions.listed {
            Listed::Nothing => 0,
            Listed::Changed | Listed::Near | Listed::All => self.contacts.len() + self.noted.len(),
        };
        let of_moved: usize = self.moved.iter().map(|&body| self.table.partner_count(body)).sum();
        Ok((of_moved + self.open.len() + named).min(all + named) as u64)
    }

    /// Answers for where the bodies are now. The work on pairs goes through `runner`; `stop` may be
    /// set at any time by a deadline, and leaves the pairs not yet answered undecided.
    pub fn answer(
        &mut self,
        questions: &Questions,
        runner: &dyn Runner,
        stop: &AtomicBool,
    ) -> Result<Arc<Report>, Unanswered> {
        self.answer_while(questions, runner, Waiting::until(stop))
    }

    /// Answers in the same way, and gives up when the caller leaves: the frame then counts as one
    /// that was applied and not answered.
    pub fn answer_while(
        &mut self,
        questions: &Questions,
        runner: &dyn Runner,
        waiting: Waiting<'_>,
    ) -> Result<Arc<Report>, Unanswered> {
        let mut announced = Announced::default();
        let work = PairWork { questions, runner, waiting };
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
        let &PairWork { questions, waiting, .. } = work;
        self.sweep(questions, &waiting)?;
        let places = self.pairs_within_room(work)?;
        self.answers += 1;

        let mut round = Round::new(*work, places, &self.methods);
        round.stand(self)?;
        round.detail(self)?;
        let mut events = self.events(&round.notable, questions, &waiting, announced)?;
        round.look_at_impacts(self, &mut events)?;
        let pairs = round.pairs(self)?;
        let ranking = round.ranked_pairs(self)?;
        let moved = if questions.placed { self.moved_parts() } else { Vec::new() };
        let r = round.remarks(self)?;
        self.take_note(r);
        Ok(Report {
            frame: self.applied,
            previous: self.answered,
            pairs,
            ranking,
            pairs_omitted: round.omitted,
            events,
            tally: round.tally,
            counters: round.counters,
            moved,
            frames_skipped: self.skipped.saturating_sub(1),
            aliased: self.aliased(questions),
        })
    }

    /// The frame is not answered: no contact began or ended in it that a later one will not tell.
    /// What the looks found out about pairs is remembered, and the next answer looks at all that a
    /// report might have named.
    fn take_back(&mut self, announced: Announced) {
        for (key, before) in announced.contacts.into_iter().rev() {
            match before {
                Some(began_frame) => self.contacts.insert(key, began_frame),
                None => self.contacts.remove(&key),
            };
        }
        if !announced.ended.is_empty() {
            self.ended = announced.ended;
        }
        self.asked = None;
        self.table.trim(self.answers, self.limits.pairs_max);
    }

    /// Applies and answers in one go, here and now.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use clearance_geometry::{Vec3, hull::convex_hull, pose::Pose, separation::METHODS};
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
    /// scene.answer(&Questions::default(), &Serial, &false.into()).unwrap();
    /// let pose = Pose::translation(1.0, 0.0, 0.0);
    /// let moves = vec![Move { body: BodyId(2), pose, teleported: false, deviation: None }];
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
        let report = self.answer(questions, runner, &AtomicBool::new(false))?;
        Ok(Stepped { refused, report })
    }

    /// Boxes of the motions to this frame, where these are asked about.
    pub(crate) fn sweep(
        &mut self,
        questions: &Questions,
        waiting: &Waiting<'_>,
    ) -> Result<(), Unanswered> {
        // In order, so that whatever follows meets the bodies in the order of their places.
        self.moved.sort_unstable();
        let wanted = match (questions.between, self.has_chosen) {
            (Some(_), _) => SweptBodies::All,
            (None, true) => SweptBodies::Chosen,
            (None, false) => SweptBodies::None,
        };
        if wanted <= self.swept {
            return Ok(());
        }
        self.find_paths();
        for &body in waiting.each(&self.moved) {
            let entry = &mut self.entries[body as usize];
            let Some(start) = entry.start.map(|at| &mut self.starts[at as usize]) else { continue };
            let travel = &mut self.travel[body as usize];
            if let Some(swept) = way_on_chain(&self.robots, entry, start) {
                start.bow = f64::INFINITY;
                *travel = farther(*travel, swept.stray());
                entry.swept = Some(Box::new(swept));
                continue;
            }
            start.bow = entry.bow(&start.pose);
            *travel = farther(*travel, start.bow + entry.deviation);
            let is_asked = wanted == SweptBodies::All || entry.body.continuous;
            // What has come no farther than the room that its bounds have anyway needs none of its
            // way: they are made larger by as much.
            let is_far = *travel - start.travel > ROOM * entry.ball.radius;
            if is_asked && is_far {
                entry.swept = Some(Box::new(entry.way(&start.pose)));
            }
        }
        waiting.go_on()?;
        self.swept = wanted;
        Ok(())
    }

    /// Everything that one pair is asked about.
    pub(crate) fn asking<'a>(
        &'a self,
        key: PairKey,
        questions: &'a Questions,
        stop: &'a AtomicBool,
    ) -> Asking<'a> {
        let (p, q) = (&self.entries[key.p as usize], &self.entries[key.q as usize]);
        let between = questions.between_of(&p.body, &q.body);
        let starts = between.map(|_| &self.starts[..]);
        Asking {
            p: PairSide::new(p, starts),
            q: PairSide::new(q, starts),
            between,
            margin: self.book.margin(key),
            release_margin: self.release_margin,
            is_announced: self.contacts.contains_key(&key),
            answers: self.answers,
            proves: questions.certificates && are_proven_at_once(p, q),
            questions,
            methods: &self.methods,
            stop,
        }
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
            on.waiting.go_on()?;
            let at_once = self.look_bytes.saturating_mul(on.runner.at_once(keys.len()));
            if at_once > 0 {
                on.take_room(at_once)?;
            }
            self.run_at_once(keys, task, on, &mut look);
            on.runner.give_back(at_once);
            on.take_room(0)?;
        }
        on.waiting.go_on()
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
            let mut asking = self.asking(state.key, on.questions, on.waiting.stop);
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
            waiting: on.waiting,
            answers: self.answers,
            ends_at_once: self.release_margin <= 0.0,
            has_chosen: self.has_chosen,
        };
        table.look_at(places, on.runner, &|batch| looking.work(batch), done);
        self.table = table;
        on.waiting.go_on()
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

    /// What began and what ended among `keys`; whatever `announced` says then can be taken back.
    fn events(
        &mut self,
        keys: &[PairKey],
        questions: &Questions,
        waiting: &Waiting<'_>,
        announced: &mut Announced,
    ) -> Result<Vec<Event>, Unanswered> {
        // At opening there is no way that led here.
        let end = if self.answers == 1 { [0.0, 0.0] } else { [1.0, 1.0] };
        let event = |kind, p, q, verdict| plain_event(kind, [p, q], end, verdict);
        // Of several frames that are answered as one, any may have ended it: sooner than a contact
        // of the same bodies that begins on the way.
        let has_ways = questions.between.is_some() || self.has_chosen;
        let gone = if has_ways && self.skipped > 1 { [0.0, 1.0] } else { end };
        let ended = |(p, q)| Event { bracket: gone, ..event(EventKind::Ended, p, q, None) };
        announced.ended = std::mem::take(&mut self.ended);
        let mut events: Vec<Event> = announced.ended.iter().copied().map(ended).collect();
        for key in waiting.each(keys) {
            let News { verdict, deciding, beyond_release, way, parting } =
                News::of(&self.told(*key));
            let (p, q) = (self.id_of(key.p), self.id_of(key.q));
            let in_contact = matches!(verdict, Some(Verdict::Touching | Verdict::Overlapping));
            let mut is_announced = self.contacts.contains_key(key);
            let has_met = way.is_some_and(|way| way.outcome == Outcome::Contact);
            if !is_announced && (in_contact || has_met) {
                events.push(Event {
                    parts: way.and_then(|way| way.parts).or(deciding),
                    bracket: way.map_or(end, |way| way.bracket),
                    ..event(EventKind::Began, p, q, verdict)
                });
                announced.contacts.push((*key, self.contacts.insert(*key, self.applied)));
                is_announced = true;
            }
            let unsure = way.filter(|way| way.outcome == Outcome::Undecided);
            if let Some(way) = unsure
                && !is_announced
                && verdict == Some(Verdict::Separated)
            {
                let bracket = [way.bracket[0], 1.0];
                events.push(Event { bracket, ..event(EventKind::Undecided, p, q, verdict) });
            }
            if is_announced && beyond_release == Some(true) {
                events.push(Event {
                    parts: parting.and_then(|parting| parting.parts),
                    bracket: parting.map_or(end, |parting| parting.bracket),
                    ..event(EventKind::Ended, p, q, verdict)
                });
                announced.contacts.push((*key, self.contacts.remove(key)));
            }
        }
        waiting.go_on()?;
        put_in_order(&mut events, waiting)?;
        Ok(events)
    }

    /// The bodies that turned by more than a quarter turn on a way that is asked about. Robots turn
    /// what they carry as their joints say.
    fn aliased(&self, questions: &Questions) -> Aliased {
        let mut aliased = Aliased::default();
        if questions.between.is_none() && !self.has_chosen {
            return aliased;
        }
        for &body in &self.moved {
            let entry = &self.entries[body as usize];
            let is_asked = questions.between.is_some() || entry.body.continuous;
            let Some(start) = entry.start_in(&self.starts) else { continue };
            if !is_asked || entry.teleported || entry.carrier.is_some() {
                continue;
            }
            // The trace of a rotation is 1 and twice the cosine of its angle.
            let trace = start.pose.rotation.component_mul(&entry.body.pose.rotation).sum();
            if trace < 1.0 - QUARTER_TURN_NOISE {
                aliased.count += 1;
                if aliased.first.len() < Aliased::NAMED_MAX {
                    aliased.first.push(entry.body.id);
                }
            }
        }
        aliased
    }

    /// The twelve numbers of every part that has moved, or is new, since the last answer.
    fn moved_parts(&self) -> Vec<PlacedNumbers> {
        let is_new = |entry: &&Entry| entry.start.is_some() || entry.teleported;
        let entries: Vec<&Entry> = if self.has_changed {
            self.entries.iter().filter(is_new).collect()
        } else {
            self.moved.iter().map(|&body| &self.entries[body as usize]).collect()
        };
        entries
            .into_iter()
            .flat_map(|entry| {
                let numbers = |(part, placed): (usize, &PlacedPart)| PlacedNumbers {
                    body: entry.body.id,
                    part: part as u32,
                    pose: placed.pose,
                };
                entry.now().parts.iter().enumerate().map(numbers).collect::<Vec<_>>()
            })
            .collect()
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
        self.robots.iter_mut().for_each(Mounted::settle);
        self.has_changed = false;
        self.swept = SweptBodies::None;
        self.answered = self.applied;
        self.skipped = 0;
        self.table.trim(self.answers, self.limits.pairs_max);
    }
}
