//! What stood where at the last frames.
//!
//! Every frame leaves what it has changed: where bodies were before it, and bodies that it took
//! away or made others of. So the scene of a past frame is the present one with these changes taken
//! back, and a body that stays where it is costs nothing.
//!
//! A pose is kept as the numbers that it was made of, a quaternion and a translation, where it was
//! made of those: the pose that comes of them is the same to the last bit.

use std::collections::{BTreeMap, VecDeque};

use crate::broken::{Rule, is_broken};
use crate::declared::body::{Body, BodyId};
use crate::declared::robots::RobotId;
use crate::placed::entry::Entry;
use crate::placed::robot_way::RobotWay;
use clearance_geometry::Vec3;
use clearance_geometry::pose::Pose;

/// How much of its past a scene keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Past frames; 0: none.
    pub frames_max: usize,
    /// Bytes that they may take: the oldest frames go where they would take more.
    pub bytes_max: usize,
}

/// How a body went where a frame put it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    /// On the way between the two poses.
    Moved,
    /// It was put there: no motion is assumed.
    Teleported,
    /// A robot moved it, on the way of a chain of joints.
    Carried,
}

/// A body that a frame moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub(crate) body: BodyId,
    /// Where it was.
    pub(crate) from: Pose,
    pub(crate) departure: Departure,
    /// What the rotation was made of that it has now, if that is known.
    pub(crate) quaternion: Option<[f64; 4]>,
    /// How it turned on its way, if that is said.
    pub(crate) spin: Option<Vec3>,
}

/// Where a body was before a frame moved it, in the numbers that its pose was made of.
#[derive(Clone, Copy, Debug)]
struct TurnedBody {
    quaternion: [f64; 4],
    translation: Vec3,
    body: BodyId,
    departure: Departure,
}

/// The memory of a body that moves, for each frame that is kept.
const _: () = assert!(size_of::<TurnedBody>() <= 64);

/// The same of a pose that was made of a matrix, or by a robot.
#[derive(Clone, Copy, Debug)]
struct PosedBody {
    pose: Pose,
    body: BodyId,
    departure: Departure,
}

/// Bodies of before a frame that are others now, or gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replaced {
    /// They were taken away.
    pub(crate) removed: Vec<Entry>,
    /// They have other parts, groups or numbers, and stand where they stood.
    pub(crate) altered: Vec<Entry>,
    /// Those that came, sorted.
    pub(crate) added: Vec<BodyId>,
}

impl Replaced {
    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.altered.is_empty() && self.added.is_empty()
    }

    fn bytes(&self) -> usize {
        let bodies = self.removed.iter().chain(&self.altered);
        let bodies: usize = bodies.map(|entry| entry.body.bytes()).sum();
        bodies + self.added.capacity() * size_of::<BodyId>()
    }
}

/// What one frame has changed.
#[derive(Clone, Debug, Default)]
struct FrameChanges {
    /// The frame that was the last one until then.
    before: u64,
    frame: u64,
    /// No motion is assumed for any body.
    is_teleported: bool,
    turned: Vec<TurnedBody>,
    placed: Vec<PosedBody>,
    /// How bodies turned that said so.
    spins: Vec<(BodyId, Vec3)>,
    /// Robots that moved.
    robots: Vec<RobotWay>,
    replaced: Replaced,
}

impl FrameChanges {
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.turned.capacity() * size_of::<TurnedBody>()
            + self.placed.capacity() * size_of::<PosedBody>()
            + self.spins.capacity() * size_of::<(BodyId, Vec3)>()
            + self.robots.iter().map(RobotWay::bytes).sum::<usize>()
            + self.replaced.bytes()
    }

    /// Every body that moved, how, and where it was before.
    fn departures(&self) -> impl Iterator<Item = (BodyId, Departure, Pose)> + '_ {
        let of_frame = |one| if self.is_teleported { Departure::Teleported } else { one };
        let turned = self.turned.iter().map(move |one| {
            let pose = Pose::from_quaternion(one.translation, one.quaternion);
            (one.body, of_frame(one.departure), pose.expect("it was one before"))
        });
        let placed = self.placed.iter();
        turned.chain(placed.map(move |one| (one.body, of_frame(one.departure), one.pose)))
    }
}

/// What a past frame has changed, as those are told who watch.
#[derive(Clone, Debug)]
pub struct PastFrame {
    /// The frame that was the last one until then.
    pub before: u64,
    /// Its id.
    pub frame: u64,
    /// The bodies that it moved and that were there before as they were, by id.
    pub moved: Vec<PastMove>,
    /// Bodies that came, where they were then; no links of robots.
    pub added: Vec<Body>,
    /// Bodies that became others, where they were then.
    pub changed: Vec<Body>,
    /// Bodies that went.
    pub removed: Vec<BodyId>,
    /// Robots that moved: where their bases stood then, and their joint values.
    pub robots: Vec<(RobotId, Pose, Vec<f64>)>,
}

/// A body that a past frame moved.
#[derive(Clone, Copy, Debug)]
pub struct PastMove {
    /// The body.
    pub body: BodyId,
    /// Where it was then.
    pub pose: Pose,
    /// It was put there.
    pub teleported: bool,
    /// How it turned on its way, if that was said.
    pub spin: Option<Vec3>,
}

impl FrameChanges {
    /// What it changed, of a scene that had these bodies after it.
    fn told(&self, after: &[PastBody<'_>]) -> PastFrame {
        let Replaced { removed, altered, added } = &self.replaced;
        let spins: BTreeMap<BodyId, Vec3> = self.spins.iter().copied().collect();
        let is_whole = |id: &BodyId| {
            added.binary_search(id).is_ok() || altered.iter().any(|entry| entry.body.id == *id)
        };
        let mut moved = Vec::with_capacity(self.turned.len() + self.placed.len());
        for (body, departure, _) in self.departures().filter(|(id, ..)| !is_whole(id)) {
            let Some(at) = place_of(after, body, 0) else { continue };
            let teleported = departure == Departure::Teleported;
            let spin = spins.get(&body).copied().filter(|_| !teleported);
            moved.push(PastMove { body, pose: after[at].pose, teleported, spin });
        }
        moved.sort_by_key(|one| one.body);
        let whole = |id: &BodyId| Some(after[place_of(after, *id, 0)?].as_then());
        PastFrame {
            before: self.before,
            frame: self.frame,
            moved,
            added: added.iter().filter_map(whole).collect(),
            changed: altered.iter().filter_map(|entry| whole(&entry.body.id)).collect(),
            removed: removed.iter().map(|entry| entry.body.id).collect(),
            robots: self.robots.iter().map(RobotWay::end).collect(),
        }
    }
}

/// See the header of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    limits: HistoryLimits,
    /// The newest last.
    kept: VecDeque<FrameChanges>,
    /// What those take, but for the newest while its frame is being applied.
    bytes: usize,
    /// The lists of a frame that is kept no more, empty: the next one needs lists as long.
    spare: FrameChanges,
    /// By its place in the scene, what the rotation of a body was made of, if that is known.
    quaternions: Vec<Option<[f64; 4]>>,
}

/// A body of a past frame.
#[derive(Clone, Debug)]
pub(crate) struct PastBody<'a> {
    /// As it was, but for where.
    pub(crate) entry: &'a Entry,
    /// Where it was.
    pub(crate) pose: Pose,
    /// The frame that ended it; the largest number: none.
    ended: u64,
    is_found: bool,
    /// How the next frame moved it.
    pub(crate) departure: Option<Departure>,
    /// How it turned then, if that is said.
    pub(crate) spin: Option<Vec3>,
}

impl History {
    /// That of a scene of so many bodies.
    pub(crate) fn new(limits: HistoryLimits, bodies: usize) -> Self {
        let is_on = limits.frames_max > 0;
        let quaternions = if is_on { vec![None; bodies] } else { Vec::new() };
        Self { limits, quaternions, ..Self::default() }
    }

    /// Whether anything is kept.
    pub(crate) fn is_on(&self) -> bool {
        self.limits.frames_max > 0
    }

    /// How much may be.
    pub(crate) fn limits(&self) -> HistoryLimits {
        self.limits
    }

    /// Past frames that are kept.
    pub(crate) fn frames(&self) -> usize {
        self.kept.len()
    }

    /// The oldest frame that can be told of a scene at this one.
    pub(crate) fn oldest(&self, applied: u64) -> u64 {
        self.kept.front().map_or(applied, |changes| changes.before)
    }

    /// Memory that it takes, bytes.
    pub(crate) fn bytes(&self) -> usize {
        if !self.is_on() {
            return 0;
        }
        let spare = self.spare.bytes();
        self.bytes + spare + self.quaternions.capacity() * size_of::<Option<[f64; 4]>>()
    }

    /// A frame is to be applied after another one.
    pub(crate) fn begin(&mut self, before: u64, frame: u64) {
        if !self.is_on() {
            return;
        }
        // As many bodies move as before, most likely.
        let last = self.kept.back();
        let [many_turned, many_placed] =
            last.map_or([0; 2], |last| [last.turned.len(), last.placed.len()]);
        let spare = std::mem::take(&mut self.spare);
        let turned = ready(spare.turned, many_turned);
        let placed = ready(spare.placed, many_placed);
        self.kept.push_back(FrameChanges { before, frame, turned, placed, ..Default::default() });
    }

    /// The frame that was begun is not applied after all.
    pub(crate) fn give_up(&mut self) {
        self.kept.pop_back();
    }

    /// The frame that was begun took bodies away and others in; `place_of` says where in the scene
    /// the body is that was here.
    pub(crate) fn replace(
        &mut self,
        replaced: Replaced,
        bodies: usize,
        place_of: impl Fn(usize) -> Option<u32>,
    ) {
        let Some(changes) = self.kept.back_mut() else { return };
        let mut quaternions = vec![None; bodies];
        for (at, quaternion) in self.quaternions.iter().enumerate() {
            if let Some(place) = place_of(at) {
                quaternions[place as usize] = *quaternion;
            }
        }
        self.quaternions = quaternions;
        if is_broken(Rule::PastBodies) {
            return;
        }
        changes.replaced = replaced;
    }

    /// The frame that was begun moved the body at this place.
    #[inline]
    pub(crate) fn note(&mut self, place: u32, left: Leaving) {
        let Some(changes) = self.kept.back_mut() else { return };
        if is_broken(Rule::PastPoses) {
            return;
        }
        let Leaving { body, from, departure, quaternion, spin } = left;
        changes.spins.extend(spin.map(|spin| (body, spin)));
        match std::mem::replace(&mut self.quaternions[place as usize], quaternion) {
            Some(quaternion) => {
                let translation = from.translation;
                changes.turned.push(TurnedBody { quaternion, translation, body, departure });
            }
            None => changes.placed.push(PosedBody { pose: from, body, departure }),
        }
    }

    /// The frame that was begun moved a robot.
    pub(crate) fn note_robot(&mut self, way: RobotWay) {
        if let Some(changes) = self.kept.back_mut() {
            changes.robots.push(way);
        }
    }

    /// All of the frame that was begun is applied; the oldest ones go that there is no room for.
    pub(crate) fn close(&mut self, is_teleported: bool) {
        let Some(changes) = self.kept.back_mut() else { return };
        changes.is_teleported = is_teleported;
        self.bytes += changes.bytes();
        while self.kept.len() > self.limits.frames_max || self.bytes > self.limits.bytes_max {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.bytes());
            let FrameChanges { mut turned, mut placed, .. } = oldest;
            turned.clear();
            placed.clear();
            self.spare = FrameChanges { turned, placed, ..Default::default() };
        }
    }

    /// The bodies of a past frame, by id, of a scene that has these now, by id, and stands at the
    /// frame `applied`; none: the frame is not kept.
    pub(crate) fn bodies_at<'a>(
        &'a self,
        frame: u64,
        entries: &'a [Entry],
        applied: u64,
    ) -> Option<Vec<PastBody<'a>>> {
        let first = self.kept.partition_point(|changes| changes.before < frame);
        let is_kept = match self.kept.get(first) {
            Some(changes) => changes.before == frame,
            None => frame == applied,
        };
        if !is_kept {
            return None;
        }
        let mut bodies: Vec<PastBody<'a>> =
            entries.iter().map(|entry| PastBody::lasting(entry, u64::MAX)).collect();
        let since = || self.kept.range(first..);
        for changes in since().rev().filter(|changes| !changes.replaced.is_empty()) {
            bodies = before_replacement(bodies, changes);
        }
        let mut left = bodies.len();
        for (ahead, changes) in since().enumerate() {
            let mut next = 0;
            for (id, departure, pose) in changes.departures() {
                let Some(at) = place_of(&bodies, id, next) else { continue };
                next = at + 1;
                let body = &mut bodies[at];
                if body.is_found || changes.frame >= body.ended {
                    continue;
                }
                (body.pose, body.is_found) = (pose, true);
                body.departure = (ahead == 0).then_some(departure);
                left -= 1;
            }
            for (id, spin) in changes.spins.iter().filter(|_| ahead == 0) {
                if let Some(at) = place_of(&bodies, *id, 0) {
                    bodies[at].spin = Some(*spin);
                }
            }
            if left == 0 {
                break;
            }
        }
        Some(bodies)
    }

    /// What each frame after a past one has changed, the oldest first, of a scene that has these
    /// bodies now, by id, and stands at the frame `applied`; none: the frame is not kept.
    pub(crate) fn since(
        &self,
        frame: u64,
        entries: &[Entry],
        applied: u64,
    ) -> Option<Vec<PastFrame>> {
        let first = self.kept.partition_point(|changes| changes.before < frame);
        let is_kept = match self.kept.get(first) {
            Some(changes) => changes.before == frame,
            None => frame == applied,
        };
        if !is_kept {
            return None;
        }
        let mut bodies: Vec<PastBody<'_>> =
            entries.iter().map(|entry| PastBody::lasting(entry, u64::MAX)).collect();
        let mut frames = Vec::new();
        for changes in self.kept.range(first..).rev() {
            frames.push(changes.told(&bodies));
            if !changes.replaced.is_empty() {
                bodies = before_replacement(bodies, changes);
            }
            for (id, _, pose) in changes.departures() {
                let at = place_of(&bodies, id, 0);
                // One that ends with this frame is another body of the same id.
                let at = at.filter(|at| changes.frame < bodies[*at].ended);
                at.into_iter().for_each(|at| bodies[at].pose = pose);
            }
        }
        frames.reverse();
        Some(frames)
    }

    /// The ways of robots to the frame that came after this one.
    pub(crate) fn robot_ways(&self, frame: u64) -> &[RobotWay] {
        let first = self.kept.partition_point(|changes| changes.before < frame);
        self.kept.get(first).map_or(&[], |changes| &changes.robots)
    }

    /// Those to all frames that came after this one, the oldest first.
    pub(crate) fn all_robot_ways(&self, frame: u64) -> impl Iterator<Item = &RobotWay> {
        let first = self.kept.partition_point(|changes| changes.before < frame);
        self.kept.range(first..).flat_map(|changes| &changes.robots)
    }

    /// The frame that came after this one, if it is kept.
    pub(crate) fn next_after(&self, frame: u64) -> Option<u64> {
        let first = self.kept.partition_point(|changes| changes.before < frame);
        self.kept.get(first).filter(|changes| changes.before == frame).map(|next| next.frame)
    }
}

impl<'a> PastBody<'a> {
    /// It until this frame ends it.
    fn lasting(entry: &'a Entry, ended: u64) -> Self {
        let (pose, is_found) = (entry.body.pose, false);
        Self { entry, pose, ended, is_found, departure: None, spin: None }
    }

    pub(crate) fn id(&self) -> BodyId {
        self.entry.body.id
    }

    /// As it was declared, where it was.
    pub(crate) fn as_then(&self) -> Body {
        Body { pose: self.pose, ..self.entry.body.clone() }
    }
}

/// An empty list for so many entries: this one, if it is not much too large.
fn ready<T>(spare: Vec<T>, count: usize) -> Vec<T> {
    if (count..=count + count / 8).contains(&spare.capacity()) {
        return spare;
    }
    Vec::with_capacity(count)
}

/// Where a body of this id is listed, most likely next.
fn place_of(bodies: &[PastBody<'_>], id: BodyId, next: usize) -> Option<usize> {
    if bodies.get(next).is_some_and(|body| body.id() == id) {
        return Some(next);
    }
    bodies.binary_search_by_key(&id, PastBody::id).ok()
}

/// The bodies before a frame that replaced some of them.
fn before_replacement<'a>(
    bodies: Vec<PastBody<'a>>,
    changes: &'a FrameChanges,
) -> Vec<PastBody<'a>> {
    let Replaced { removed, altered, added } = &changes.replaced;
    let mut before: Vec<PastBody<'a>> =
        bodies.into_iter().filter(|body| added.binary_search(&body.id()).is_err()).collect();
    for entry in altered {
        // It stands where the other one stands, and ends with it.
        if let Some(at) = place_of(&before, entry.body.id, 0) {
            before[at] =
                PastBody { pose: before[at].pose, ..PastBody::lasting(entry, before[at].ended) };
        }
    }
    before.extend(removed.iter().map(|entry| PastBody::lasting(entry, changes.frame)));
    before.sort_by_key(PastBody::id);
    before
}
