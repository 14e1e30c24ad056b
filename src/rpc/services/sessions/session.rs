//! A session: a scene, and what the wire needs beside it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::Receiver;

use super::news::{NewsCopy, Subscribers};
use super::past::{PastScene, PastScenes};
use super::refused::RefusedItems;
use super::work::{Aside, FrameWork, Steps};
use clearance_geometry::effort::{Cost, Effort};
use clearance_proto as api;
use clearance_runtime::memory::{MemoryQuota, Reservation};
use clearance_runtime::metrics::{Ending, QuestionKind};
use clearance_runtime::scene_cells::SharedSceneCells;
use clearance_runtime::sessions::{Resident, Summary};
use clearance_runtime::settings::Limits as WireLimits;
use clearance_scene::planning::claimed::PlanningOutline;
use clearance_scene::query::past::{Moment, NoPast};
use clearance_scene::{
    Applied, BodyId, Declaration, HistoryLimits, Limits, MoveError, Part, Report, RobotChanges,
    Scene,
};
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::geometry::length;
use clearance_wire::convert::options::budget;
use clearance_wire::convert::paging::reply_bytes;
use clearance_wire::convert::sessions::changes::{self, DeclaredChange};
use clearance_wire::convert::sessions::claimed::scene_cell;
use clearance_wire::convert::sessions::cut::cut;
use clearance_wire::convert::sessions::declare::{self, Declared, PartSource};
use clearance_wire::convert::sessions::frame::{
    AskedFrame, Defaults, failure, no_room, unanswered,
};
use clearance_wire::convert::sessions::inquiry::no_past;
use clearance_wire::convert::sessions::methods::methods;
use clearance_wire::convert::sessions::news::RefusedOf;
use clearance_wire::convert::sessions::pair::Bodies;
use clearance_wire::convert::sessions::plan::Plan;
use clearance_wire::convert::sessions::robots::{DeclaredRobot, KnownRobots, link_name};
use clearance_wire::convert::sessions::since::{ToldSince, since_to_wire};
use clearance_wire::convert::sessions::{names, news, report, robots, state};
use clearance_wire::path::{BadField, Path, WithinLimit};
use clearance_wire::status::Failure;

/// A scene with the shapes of its bodies, what its client asked for, and what it cost so far.
#[derive(Debug)]
pub struct Session {
    pub(super) scene: Scene,
    /// The shapes of each body's parts, as declared.
    shapes: BTreeMap<u32, Vec<PartSource>>,
    /// The robots, as they are registered.
    robots: KnownRobots,
    /// Memory of those that are not registered, bytes.
    given_bytes: u64,
    pub(super) defaults: Defaults,
    /// How long the answer to a frame may take.
    pub(super) time: Option<Duration>,
    /// Whether answers come from the default methods, which all estimates are about.
    pub(super) are_default_methods: bool,
    /// What the last report contains: a repetition gets that again, whatever it asks for.
    last_plan: Plan,
    /// The items of the last frame that were refused: a repetition gets them again.
    last_refused: RefusedItems,
    frames_answered: u64,
    cost: Cost,
    elapsed: Duration,
    /// Pairs that slept in the last answered frame.
    pairs_asleep: u64,
    /// Pairs that were looked at because the room of their verdict was used up.
    pairs_expired: u64,
    /// What the last frame took: the best guess for the next one.
    pub(super) last_elapsed: Duration,
    /// The most parts that any body has had so far.
    pub(super) parts_max: usize,
    /// The most vertices that any part has had so far.
    pub(super) vertices_max: u32,
    /// Tells those who watch.
    subscribers: Subscribers,
    /// What is built of the scene for questions about its robots.
    cells: SharedSceneCells,
    /// Past frames that were asked about lately.
    past: PastScenes,
}

impl Session {
    /// Opens a session and answers for the scene as it is, which may be stopped; or says what is
    /// wrong, and nothing is done.
    pub(super) fn open(
        path: &Path<'_>,
        request: &api::OpenSessionRequest,
        work: &FrameWork<'_>,
    ) -> Result<(Self, Box<api::FrameReport>), Failure> {
        let (limits, catalogue) = (work.shared.limits(), &work.shared.catalogue());
        let default = api::SessionState::default();
        let wire = request.state.as_ref().unwrap_or(&default);
        let (steps_max, time) = budget(&path.field("budget"), request.budget.as_ref())?;
        let canonical = request.canonical;
        let report = request.report.as_ref();
        let plan = Plan::convert(&path.field("report"), report, canonical, steps_max, limits)?;
        let methods = methods(path, request)?;
        let at = path.field("state");
        let effort = &mut Effort::until(u64::MAX, work.call);
        let declared = declare::bodies(&at.field("bodies"), &wire.bodies, catalogue, effort)?;
        let robots = robots::declared(&at.field("robots"), &wire.robots, catalogue)?;
        let declaration = Declaration {
            robots: robots.iter().map(|declared| declared.robot.clone()).collect(),
            bodies: declared.iter().map(|declared| declared.body.clone()).collect(),
            rules: declare::rules(&at.field("rules"), wire.rules.as_ref(), catalogue)?,
            begin_margin: length(&at.field("begin_margin"), wire.begin_margin)?,
            release_margin: length(&at.field("release_margin"), wire.release_margin)?,
            contacts: declare::contacts(&at.field("contacts"), &wire.contacts, catalogue)?,
            frame: wire.frame_id,
        };
        let mut scene = Scene::open(declaration, methods, scene_limits(limits))
            .map_err(|error| declare::failure(&at, &error, limits))?;
        scene.keep_history(history(path, request, limits)?);
        plan.check_meshes(path, scene.has_meshes(), || scene.are_convex())?;
        let mut session = Self {
            scene,
            shapes: BTreeMap::new(),
            robots: KnownRobots::new(),
            given_bytes: 0,
            defaults: Defaults { plan, canonical, steps_max },
            time,
            are_default_methods: methods.are_defaults(),
            last_plan: plan,
            last_refused: RefusedItems::default(),
            frames_answered: 0,
            cost: Cost::default(),
            elapsed: Duration::ZERO,
            pairs_asleep: 0,
            pairs_expired: 0,
            last_elapsed: Duration::ZERO,
            parts_max: 1,
            vertices_max: 1,
            subscribers: Subscribers::default(),
            cells: SharedSceneCells::default(),
            past: PastScenes::default(),
        };
        for Declared { body, shapes } in declared {
            session.keep_shapes(body.id, &body.parts, shapes);
        }
        robots.into_iter().for_each(|robot| session.keep_robot(robot));
        let (known, elapsed) = session.answer(&plan, work)?;
        let report = session.report(&known, &plan, elapsed, work);
        Ok((session, report))
    }

    /// Number of pairs of bodies that are checked.
    pub(super) fn pairs_enabled(&self) -> u64 {
        self.scene.pairs_enabled()
    }

    /// The scene as it stands.
    pub(super) fn scene(&self) -> &Scene {
        &self.scene
    }

    /// What is built of the scene for questions about its robots.
    pub(super) fn cells(&self) -> &SharedSceneCells {
        &self.cells
    }

    /// The scene at a past moment, if it was asked about lately.
    pub(super) fn known_past(&mut self, moment: &Moment) -> Option<Arc<PastScene>> {
        self.past.get(moment, &self.scene)
    }

    /// The same, which is made, for more questions about it, too; `memory` has room for it.
    pub(super) fn make_past(
        &mut self,
        moment: &Moment,
        memory: Reservation,
    ) -> Result<Arc<PastScene>, Failure> {
        self.past.make(moment, &self.scene, memory)
    }

    /// At most so many parts are in the scene.
    pub(super) fn parts(&self) -> usize {
        self.scene.bodies().len() * self.parts_max
    }

    /// How many bytes the client takes for the report of a frame.
    pub(super) fn reply_bytes(&self, frame: &api::Frame, limits: &WireLimits) -> u64 {
        let own = frame.report.as_ref().map(|report| report.reply_bytes_max);
        reply_bytes(own.unwrap_or(self.defaults.plan.reply_bytes), limits)
    }

    /// What the declared state takes for the wire, bytes, about: as much as the bodies themselves.
    pub(super) fn state_bytes(&self) -> u64 {
        self.given_bytes + self.scene.bytes_of_bodies() as u64
    }

    /// The declared state, for the wire.
    pub(super) fn state(&self) -> api::SessionState {
        state::to_wire(&self.scene.declaration(), &self.shapes, &self.robots)
    }

    /// The scene as certificates are about it, but for the pairs that are ignored there.
    pub(super) fn scene_cell(
        &self,
        path: &Path<'_>,
        outline: &PlanningOutline,
        limits: &WireLimits,
    ) -> Result<api::SceneCell, Failure> {
        let (scene, shapes, registered) = (&self.scene, &self.shapes, &self.robots);
        scene_cell(path, outline, news::Sourced { scene, shapes, registered }, limits)
    }

    /// Applies the frames, merges as many as may be into one answer, and answers. A frame that is
    /// wrong, repeated, or has items that are wrong gets a report of its own. Says whether all is
    /// done: what might hold up others is left to be gone on with elsewhere.
    pub(super) fn step(&mut self, steps: &mut Steps, work: &FrameWork<'_>) -> bool {
        let list = Path::ROOT.field("frames");
        let path = &steps.index.map_or(Path::ROOT.field("frame"), |index| list.index(index));
        loop {
            if let Some(plan) = steps.due {
                if self.holds_up(&plan, work) {
                    return false;
                }
                let report = self.answer_or_say_why(&plan, work);
                (steps.due, steps.unanswered) = (None, None);
                steps.reports.push(report);
            }
            match steps.aside.take() {
                Some(Aside::Refused(report)) => steps.reports.push(report),
                Some(Aside::Repeated(frame, plan)) => match self.scene.remembered_report(frame) {
                    Some(known) => {
                        let plan = Plan { reply_bytes: plan.reply_bytes, ..self.last_plan };
                        steps.reports.push(self.report(&known, &plan, Duration::ZERO, work));
                    }
                    None => {
                        steps.due = Some(plan);
                        continue;
                    }
                },
                None => {}
            }
            let Some(frame) = steps.frames.get(steps.next) else {
                match steps.unanswered {
                    None => return true,
                    last => steps.due = last,
                }
                continue;
            };
            steps.next += 1;
            match self.take(frame, path, work, &mut steps.room) {
                Ok((plan, false)) => {
                    steps.unanswered = Some(plan);
                    if !self.last_refused.items.is_empty() {
                        steps.due = Some(plan);
                    }
                    continue;
                }
                Ok((plan, true)) => {
                    steps.aside = Some(Aside::Repeated(frame.frame_id, plan));
                }
                Err(report) => steps.aside = Some(Aside::Refused(report)),
            }
            steps.due = steps.unanswered;
        }
    }

    fn answer_or_say_why(&mut self, plan: &Plan, work: &FrameWork<'_>) -> Box<api::FrameReport> {
        let answered = self.answer(plan, work);
        self.tell_watchers(answered.is_ok());
        match answered {
            Ok((known, elapsed)) => self.report(&known, plan, elapsed, work),
            Err(failure) => Box::new(api::FrameReport {
                frame_id: self.scene.frame(),
                status: Some(failure.to_item()),
                refused_items: self.last_refused.items.clone(),
                omitted_items: self.last_refused.omitted,
                ..Default::default()
            }),
        }
    }

    /// The news of this session, from now on, how many there were before, and where the links of
    /// its robots are; who opened the session pays for them.
    pub(super) fn watch(
        &mut self,
        limits: &WireLimits,
        quota: MemoryQuota,
        before: Option<Receiver<NewsCopy>>,
    ) -> Result<(Receiver<NewsCopy>, u64, api::PackedPoses), Failure> {
        let news = self.subscribers.subscribe(&self.scene, quota, before, limits);
        let (news, told) = news.map_err(|limit| limit.reached())?;
        Ok((news, told, news::link_poses(&self.scene)))
    }

    /// Tells those who watch what has changed, and what the answer says if there is one.
    fn tell_watchers(&mut self, is_answered: bool) {
        let Some(draft) = self.subscribers.take_draft() else { return };
        let report = self.scene.remembered_report(self.scene.frame()).filter(|_| is_answered);
        let (scene, shapes, registered) = (&self.scene, &self.shapes, &self.robots);
        let sourced = news::Sourced { scene, shapes, registered };
        let told = news::to_wire(sourced, &draft, report.as_deref(), &mut self.subscribers.known);
        self.subscribers.publish(told);
    }

    /// Applies one frame; the report says why it was refused. What it adds is taken from `room`,
    /// bytes.
    fn take(
        &mut self,
        wire: &api::Frame,
        path: &Path<'_>,
        work: &FrameWork<'_>,
        room: &mut u64,
    ) -> Result<(Plan, bool), Box<api::FrameReport>> {
        let (limits, catalogue) = (work.shared.limits(), &work.shared.catalogue());
        let refuse = |failure: &Failure| {
            work.shared.metrics.count(QuestionKind::Frame, Ending::Refused);
            Box::new(api::FrameReport {
                frame_id: wire.frame_id,
                status: Some(failure.to_item()),
                ..Default::default()
            })
        };
        let effort = &mut Effort::until(u64::MAX, work.call);
        // Of a frame that was applied already, or is refused, names may mean something else.
        let named = match self.scene.follows(wire.frame_id, wire.base_frame_id, wire.keyframe) {
            Ok(true) => names::resolved(path, wire, &self.scene, limits),
            Ok(false) | Err(_) => Ok(Cow::Borrowed(wire)),
        };
        let named = named.map_err(|failure| refuse(&failure))?;
        let wire = &*named;
        let asked = AskedFrame::convert(path, wire, &self.defaults, catalogue, effort)
            .map_err(|failure| refuse(&failure))?;
        let are_meshes = self.scene.has_meshes() || asked.frame.has_meshes();
        let are_convex = || self.scene.are_convex() && asked.frame.is_convex();
        let checked = asked.plan.check_meshes(path, are_meshes, are_convex);
        checked.map_err(|refused| refuse(&refused.into()))?;
        let is_next = wire.frame_id > self.scene.frame();
        if is_next {
            self.fits(&asked, path, catalogue).map_err(|failure| refuse(&failure))?;
        }
        let left = room.checked_sub(asked.bytes());
        if is_next && left.is_none() {
            return Err(refuse(&no_room(limits)));
        }
        let applied = self
            .scene
            .apply_with(&asked.frame, &asked.moves)
            .map_err(|error| refuse(&failure(path, wire, &error, limits)))?;
        let plan = asked.plan;
        match applied {
            Applied::Repeated => Ok((plan, true)),
            Applied::Now(refused) => {
                *room = left.unwrap_or(0);
                self.last_refused = refused_items(&asked, path, &refused, limits.refused_items_max);
                self.take_up(wire, asked, &refused);
                Ok((plan, false))
            }
        }
    }

    /// That no list of the session grows beyond its limit by a frame.
    fn fits(
        &self,
        asked: &AskedFrame<'_>,
        path: &Path<'_>,
        catalogue: &Catalogue<'_>,
    ) -> Result<(), Failure> {
        if let Some(changed) = &asked.frame.rule_changes {
            let rules = asked.frame.rules.as_ref().unwrap_or(self.scene.rules());
            changes::fit(&path.field("rule_changes"), changed, rules, catalogue)?;
        }
        let robots = &asked.frame.robots;
        // Not more than there are can go.
        let stay = self.robots.len().saturating_sub(robots.removed.len());
        let limit = catalogue.limits.robots_per_session_max();
        Ok(path.field("added_robots").within(limit, stay + robots.added.len())?)
    }

    /// Keeps what a frame brought that the scene has applied, but for what was refused of it.
    fn take_up(
        &mut self,
        wire: &api::Frame,
        asked: AskedFrame<'_>,
        refused: &[(usize, MoveError)],
    ) {
        if self.subscribers.is_read() {
            let of = |is: fn(&MoveError) -> bool| -> BTreeSet<usize> {
                let of = refused.iter().filter(|(_, error)| is(error));
                of.map(|(index, _)| *index).collect()
            };
            let is_robots = |error: &MoveError| matches!(error, MoveError::Robot(_));
            let is_removal = |error: &MoveError| matches!(error, MoveError::NotThere);
            let moves = of(|error| !matches!(error, MoveError::Robot(_) | MoveError::NotThere));
            let refused = RefusedOf { moves, robots: of(is_robots), removals: of(is_removal) };
            self.subscribers.note(&asked.frame, &asked.moves, &refused, &self.scene);
        }
        let RobotChanges { removed, added, detached, attached, .. } = &asked.frame.robots;
        let has_remounted = !removed.is_empty()
            || !added.is_empty()
            || !detached.is_empty()
            || !attached.is_empty();
        if has_remounted {
            self.past.remounted = wire.frame_id;
        }
        self.forget_shapes();
        for gone in &wire.removed_body_ids {
            let shapes = self.shapes.remove(gone);
            self.leave_shapes(BodyId(*gone), shapes);
        }
        for gone in &wire.removed_robots {
            self.robots.remove(gone);
        }
        asked.added_robots.into_iter().for_each(|robot| self.keep_robot(robot));
        for Declared { body, shapes } in asked.added {
            self.keep_shapes(body.id, &body.parts, shapes);
        }
        for DeclaredChange { change, shapes } in asked.changed {
            if !shapes.is_empty() {
                self.keep_shapes(change.id, &change.parts, shapes);
            }
        }
    }

    /// The robot is one of the session from now on.
    fn keep_robot(&mut self, declared: DeclaredRobot) {
        let DeclaredRobot { robot, registered } = declared;
        let parts = robot.robot.parts.iter();
        let vertices = parts.map(|part| part.body.hull().vertex_count());
        self.vertices_max = vertices.fold(self.vertices_max, u32::max);
        let parts = robot.robot.links.iter().map(|link| link.parts.len());
        self.parts_max = parts.fold(self.parts_max, usize::max);
        self.robots.insert(robot.id.0, registered);
    }

    /// The body is made of these parts from now on.
    fn keep_shapes(&mut self, id: BodyId, parts: &[Part], shapes: Vec<PartSource>) {
        let vertices = parts.iter().map(Part::vertex_count);
        self.vertices_max = vertices.fold(self.vertices_max, u32::max);
        self.parts_max = self.parts_max.max(parts.len());
        self.given_bytes += given_bytes(&shapes);
        let replaced = self.shapes.insert(id.0, shapes);
        self.leave_shapes(id, replaced);
    }

    /// A body has these shapes no more, but in frames that are kept.
    fn leave_shapes(&mut self, id: BodyId, shapes: Option<Vec<PartSource>>) {
        let Some(shapes) = shapes else { return };
        if self.scene.past_frames() > 0 {
            self.past.shapes.push((self.scene.frame(), id, shapes));
        } else {
            self.given_bytes -= given_bytes(&shapes);
        }
    }

    /// Gives up the shapes of frames that are not kept any more.
    fn forget_shapes(&mut self) {
        let oldest = self.scene.oldest_frame();
        let gone = self.past.shapes.partition_point(|(ended, ..)| *ended <= oldest);
        for (_, _, shapes) in self.past.shapes.drain(..gone) {
            self.given_bytes -= given_bytes(&shapes);
        }
    }

    /// The scene as it was at a moment, and what has changed since.
    pub(super) fn since(&self, moment: &Moment) -> Result<ToldSince, Failure> {
        let (scene, shapes, registered) = (&self.scene, &self.shapes, &self.robots);
        if moment.frame < self.past.remounted {
            let why = NoPast::NotKept { oldest: self.past.remounted.max(scene.oldest_frame()) };
            return Err(no_past(moment, why, scene.frame()));
        }
        let since = scene.since(moment).map_err(|why| no_past(moment, why, scene.frame()))?;
        let sourced = news::Sourced { scene, shapes, registered };
        Ok(since_to_wire(moment.frame, &since, sourced, &self.past.shapes))
    }

    /// What is known of the scene as it stands, and how long it took to find out.
    fn answer(
        &mut self,
        plan: &Plan,
        work: &FrameWork<'_>,
    ) -> Result<(Arc<Report>, Duration), Failure> {
        let FrameWork { shared, runner, answer, .. } = *work;
        let start = shared.clock.now();
        let opened = self.scene.is_new().then_some("state.bodies");
        let report = self
            .scene
            .answer(&plan.questions, runner, answer)
            .map_err(|error| unanswered(error, shared.limits(), opened))?;
        let elapsed = shared.clock.now().duration_since(start);
        self.last_plan = *plan;
        self.frames_answered += 1;
        self.cost += report.counters.cost;
        self.elapsed += elapsed;
        self.last_elapsed = elapsed;
        let ending = if report.tally.stopped > 0 { Ending::Stopped } else { Ending::Answered };
        shared.metrics.count(QuestionKind::Frame, ending);
        shared.metrics.add(QuestionKind::Frame, &report.counters.cost);
        shared.metrics.frames.add(&report.counters, elapsed);
        self.pairs_asleep = report.counters.pairs_asleep;
        self.pairs_expired += report.counters.pairs_expired;
        Ok((report, elapsed))
    }

    /// What is told of a frame, without what its client does not take, and without pairs where
    /// there is no memory for them: the frame may be sent again.
    fn report(
        &self,
        known: &Arc<Report>,
        plan: &Plan,
        elapsed: Duration,
        work: &FrameWork<'_>,
    ) -> Box<api::FrameReport> {
        let of_link = |id| self.scene.body(id).map_or(1, |body| body.parts.len());
        let has_links = self.scene.robots().len() > 0;
        let link = |id| if has_links { link_name(&self.scene, id) } else { String::new() };
        let bodies = Bodies {
            parts: &|id| self.shapes.get(&id.0).map_or_else(|| of_link(id), Vec::len),
            link: &link,
            has_links,
        };
        let mut report = report::to_wire(known, plan, &link, elapsed, work.answer);
        if !work.answer.is_cancelled() {
            let pairs = report::fitting(known, plan, bodies, bytes_taken(plan, work));
            if work.runner.has_room(report::bytes_of_messages(pairs, plan, bodies)) {
                report::add_pairs(&mut report, pairs, plan, bodies, work.answer);
                report::add_ranking(&mut report, known, plan, pairs.len());
            } else {
                report::omit_pairs(&mut report, known);
            }
            report.refused_items.clone_from(&self.last_refused.items);
            report.omitted_items = self.last_refused.omitted;
        }
        cut_to_fit(&mut report, plan, work);
        report
    }
}

impl Resident for Session {
    fn bytes(&self) -> u64 {
        let fixed = self.scene.bytes() + self.shapes.len() * 64 + self.last_refused.bytes();
        self.given_bytes + fixed as u64
    }

    fn slim(&mut self) {
        self.scene.forget_witnesses();
        self.scene.forget_history();
        self.past = PastScenes::default();
    }

    fn summary(&self) -> Summary {
        Summary {
            frame: self.scene.frame(),
            bodies: self.scene.bodies().len() as u64,
            checked_pairs: self.scene.pairs_enabled(),
            contacts: self.scene.contact_count() as u64,
            frames_answered: self.frames_answered,
            cost: self.cost,
            elapsed: self.elapsed,
            pairs_known: self.scene.pairs_known() as u64,
            pairs_asleep: self.pairs_asleep,
            pairs_expired: self.pairs_expired,
            body_bytes: self.given_bytes + self.scene.bytes_of_bodies() as u64,
            pair_bytes: self.scene.bytes_of_pairs() as u64,
            past_frames: self.scene.past_frames() as u64,
            oldest_frame: self.scene.oldest_frame(),
            history_bytes: self.scene.bytes_of_history() as u64 + self.past.bytes(),
        }
    }
}

/// What was refused of a frame: poses that are none, and moves that the scene refused.
fn refused_items(
    asked: &AskedFrame<'_>,
    path: &Path<'_>,
    refused: &[(usize, MoveError)],
    items_max: u64,
) -> RefusedItems {
    let mut items = RefusedItems::default();
    let bad_pose =
        |say: &dyn Fn() -> BadField| items.add(items_max, || Failure::from(say()).to_item());
    asked.each_left_out(path, bad_pose);
    for (index, error) in refused {
        items.add(items_max, || asked.refused_move(path, *index, *error));
    }
    items.items.shrink_to_fit();
    items
}

/// Leaves out of a report what its client does not take.
fn cut_to_fit(report: &mut api::FrameReport, plan: &Plan, work: &FrameWork<'_>) {
    if !work.answer.is_cancelled() {
        cut(report, bytes_taken(plan, work));
    }
}

/// How many bytes the client takes for a report.
fn bytes_taken(plan: &Plan, work: &FrameWork<'_>) -> u64 {
    reply_bytes(plan.reply_bytes, work.shared.limits()).min(work.reply_bytes)
}

/// How much of its past a scene keeps.
fn history(
    path: &Path<'_>,
    request: &api::OpenSessionRequest,
    limits: &WireLimits,
) -> Result<HistoryLimits, Failure> {
    let frames_max = request.history_frames as usize;
    path.field("history_frames").within(limits.history_frames_max(), frames_max)?;
    let bytes_max = usize::try_from(limits.history_bytes_max).unwrap_or(usize::MAX);
    Ok(HistoryLimits { frames_max, bytes_max })
}

/// How large a scene may be.
fn scene_limits(limits: &WireLimits) -> Limits {
    let room = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    Limits {
        bodies_max: room(limits.bodies_per_session_max),
        parts_max: room(limits.parts_per_session_max),
        classes_max: room(limits.classes_per_session_max),
        pairs_max: room(limits.pairs_per_frame_max),
        listed_max: room(limits.pairs_per_report_max),
    }
}

/// Memory of the shapes that are not registered, bytes.
fn given_bytes(shapes: &[PartSource]) -> u64 {
    shapes.iter().map(PartSource::bytes).sum()
}
