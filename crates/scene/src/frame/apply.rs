//! Taking a frame in: bodies that come and go, rules, poses, and robots with all that they carry.
//! Nothing is answered yet.

use crate::broken::{Rule, is_broken};
use crate::declared::body::BodyId;
use crate::declared::error::{DeclarationError, Problem, is_length};
use crate::declared::question::{Frame, Move, Moves};
use crate::declared::robots::{RobotId, RobotMove, RobotMoveError};
use crate::declared::spin::{SpinError, check};
use crate::frame::scene::{Scene, SweptBodies};
use crate::frame::structure::Restructuring;
use crate::near::still::WhileStill;
use crate::pairs::report::MoveError;
use crate::placed::entry::{Entry, Start};
use crate::placed::history::{Departure, Leaving};
use crate::placed::robot_way::HungBody;
use crate::placed::spin::Spin;
use crate::placed::travel::farther;
use clearance_geometry::Vec3;
use clearance_geometry::pose::{COORDINATE_MAX, Pose};

/// Why a frame was refused; it has then changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Its id is not greater than 0.
    #[error("frame ids start at 1")]
    NoId,
    /// Its id is lower than that of the last frame applied.
    #[error("the frame is older than frame {last}, which has been applied")]
    Stale {
        /// The last frame applied.
        last: u64,
    },
    /// It builds on a frame that is not the last one applied; or it names none and is not the next
    /// one, so that a frame before it may be missing.
    #[error("the frame does not build on frame {last}, the last applied: send a keyframe")]
    KeyframeNeeded {
        /// The last frame applied.
        last: u64,
    },
    /// A removal, an addition, a rule or a keyframe is wrong.
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
}

/// What became of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It is applied, but for these moves and removals, by index.
    Now(Vec<(usize, MoveError)>),
    /// It was applied before; nothing has changed.
    Repeated,
}

impl Scene {
    /// Applies a frame: all of it but single moves that are wrong and removals of what is not
    /// there, or nothing.
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
    /// use clearance_scene::{Applied, FrameError};
    ///
    /// let frame = |id| Frame { id, ..Default::default() };
    /// assert_eq!(scene.apply(&frame(1)), Ok(Applied::Now(vec![])));
    /// assert_eq!(scene.apply(&frame(1)), Ok(Applied::Repeated));
    /// assert_eq!(scene.apply(&frame(9)), Err(FrameError::KeyframeNeeded { last: 1 }));
    /// assert_eq!(scene.apply(&Frame { base: Some(1), ..frame(9) }), Ok(Applied::Now(vec![])));
    /// assert_eq!(scene.apply(&frame(4)), Err(FrameError::Stale { last: 9 }));
    /// ```
    pub fn apply(&mut self, frame: &Frame) -> Result<Applied, FrameError> {
        self.apply_with(frame, &frame.moves)
    }

    /// Applies a frame with these moves in place of its own.
    pub fn apply_with(&mut self, frame: &Frame, moves: &dyn Moves) -> Result<Applied, FrameError> {
        if !self.follows(frame.id, frame.base, frame.keyframe)? {
            return Ok(Applied::Repeated);
        }
        if frame.keyframe {
            self.check_keyframe(frame, moves)?;
        }
        if frame.is_structural() || !is_broken(Rule::FreshBoxes) {
            WhileStill::renew(&mut self.still);
        }
        let unknown = |(_, id): &(usize, &BodyId)| self.index_of(**id).is_none();
        let missing = frame.removed.iter().enumerate().filter(unknown);
        let mut refused: Vec<(usize, MoveError)> =
            missing.map(|(index, _)| (index, MoveError::NotThere)).collect();
        self.history.begin(self.applied, frame.id);
        if frame.is_structural()
            && let Err(error) = self.restructure(Restructuring::of(frame))
        {
            self.history.give_up();
            return Err(error.into());
        }
        // Frames mostly name bodies in order, and a search is dearer than the move.
        let mut next = 0;
        moves.each(&mut |index, one| {
            let body = self.index_of_next(one.body, next);
            next = body.map_or(next, |body| body + 1);
            let placed = body.ok_or(MoveError::UnknownBody);
            if let Err(error) = placed.and_then(|body| self.place(body, one, frame)) {
                refused.push((index, error));
            }
        });
        for (index, one) in frame.robots.moves.iter().enumerate() {
            if let Err(error) = self.move_robot(one, frame) {
                refused.push((index, MoveError::Robot(error)));
            }
        }
        if frame.teleported {
            self.entries.iter_mut().for_each(|entry| entry.teleported = true);
            self.has_changed = true;
            self.swept = SweptBodies::None;
        }
        self.history.close(frame.teleported);
        self.applied = frame.id;
        self.skipped = self.skipped.saturating_add(1);
        Ok(Applied::Now(refused))
    }

    /// Whether such a frame follows the last one that was applied; if not, it is that one again.
    pub fn follows(&self, id: u64, base: Option<u64>, keyframe: bool) -> Result<bool, FrameError> {
        let last = self.applied;
        if id == 0 {
            return Err(FrameError::NoId);
        }
        if id < last {
            return Err(FrameError::Stale { last });
        }
        let builds_on_last = keyframe || base.unwrap_or(id - 1) == last;
        if id > last && !builds_on_last && !is_broken(Rule::BaseFrame) {
            return Err(FrameError::KeyframeNeeded { last });
        }
        Ok(id > last)
    }

    fn check_keyframe(&self, frame: &Frame, moves: &dyn Moves) -> Result<(), FrameError> {
        let mut moved: Vec<BodyId> = Vec::new();
        moves.each(&mut |_, one| moved.push(one.body));
        moved.extend(frame.added.iter().map(|body| body.id));
        moved.extend(&frame.removed);
        moved.sort_unstable();
        let mut bodies = self.entries.iter().filter(|entry| entry.carrier.is_none());
        if !bodies.all(|entry| moved.binary_search(&entry.body.id).is_ok()) {
            return Err(DeclarationError::new("poses".into(), Problem::KeyframeIncomplete).into());
        }
        let is_moved = |id: RobotId| {
            let mut moves = frame.robots.moves.iter();
            let moved = |to: &RobotMove| to.robot == id && to.base.is_some() && to.values.is_some();
            moves.any(moved) || frame.robots.removed.contains(&id)
        };
        if !self.robots.iter().all(|robot| is_moved(robot.declared.id)) {
            let path = "robot_moves".into();
            return Err(DeclarationError::new(path, Problem::KeyframeWithoutRobot).into());
        }
        Ok(())
    }

    /// Moves one body.
    fn place(&mut self, index: u32, one: &Move, frame: &Frame) -> Result<(), MoveError> {
        let Frame { id: frame, teleported, .. } = *frame;
        let answers_all = self.methods.first_contact.method.answers_all();
        let entry = &mut self.entries[index as usize];
        if entry.moved_by == frame {
            return Err(MoveError::Repeated);
        }
        if entry.carrier.is_some() {
            return Err(MoveError::Carried);
        }
        if one.deviation.is_some_and(|deviation| !is_length(deviation)) {
            return Err(MoveError::Deviation);
        }
        let has_way = !(teleported || one.teleported || entry.teleported);
        let start = entry.start_in(&self.starts).map_or(&entry.body.pose, |start| &start.pose);
        let turns = || one.pose.rotation != start.rotation;
        let deviates = one.deviation.is_some_and(|deviation| deviation > 0.0);
        if let Some(spin) = &one.spin {
            let is_put = one.teleported;
            let ends = [&entry.body.pose.rotation, &one.pose.rotation];
            let checked = if is_put { Err(SpinError::Teleported) } else { check(spin, ends) };
            checked?;
        }
        let spins = one.spin.is_some_and(|spin| spin != Vec3::zeros());
        if !answers_all && has_way && (deviates || spins || turns()) {
            return Err(MoveError::NotAnswered);
        }
        // A keyframe restates the poses of bodies that stay where they are.
        let stays =
            one.pose == entry.body.pose && !one.teleported && !spins && one.deviation.is_none();
        if stays && entry.start.is_none() {
            entry.moved_by = frame;
            return Ok(());
        }
        let moves = one.pose != entry.body.pose;
        self.put(index, one, frame)?;
        self.changes.placements += u64::from(moves);
        Ok(())
    }

    /// Puts a body where a move says.
    #[inline]
    pub(crate) fn put(&mut self, index: u32, one: &Move, frame: u64) -> Result<(), MoveError> {
        let entry = &mut self.entries[index as usize];
        self.swept = SweptBodies::None;
        let travel = self.travel[index as usize];
        let spin = one.spin.map_or(Spin::Unsaid, Spin::Said);
        let left = Start { pose: entry.body.pose, travel, bow: f64::INFINITY, spin };
        entry.swept = None;
        let travel = entry.put(one.pose).ok_or(MoveError::TooFar)?;
        if self.history.is_on() {
            let departure = match (&entry.carrier, one.teleported) {
                (_, true) => Departure::Teleported,
                (Some(_), false) => Departure::Carried,
                (None, false) => Departure::Moved,
            };
            let (body, from, quaternion) = (entry.body.id, left.pose, one.quaternion);
            let spin = one.spin;
            self.history.note(index, Leaving { body, from, departure, quaternion, spin });
        }
        self.travel[index as usize] = farther(self.travel[index as usize], travel);
        self.revision += 1;
        entry.revision = self.revision;
        entry.moved_by = frame;
        if let Some(at) = entry.start {
            let start = &mut self.starts[at as usize];
            let places = [&start.pose, &left.pose, &one.pose].map(|pose| &pose.rotation);
            start.spin = start.spin.joined(places, one.spin);
        } else {
            entry.start = Some(self.starts.len() as u32);
            self.starts.push(left);
            self.moved.push(index);
            self.has_moved[index as usize] = true;
        }
        entry.teleported |= one.teleported;
        // Over merged frames, the widest.
        let deviation = one.deviation.unwrap_or(entry.body.deviation);
        entry.deviation = entry.deviation.max(deviation);
        Ok(())
    }
}

impl Scene {
    /// Moves a robot: all that it carries, or nothing.
    pub(crate) fn move_robot(
        &mut self,
        to: &RobotMove,
        frame: &Frame,
    ) -> Result<(), RobotMoveError> {
        let at = self.robot_index(to.robot).ok_or(RobotMoveError::UnknownRobot)?;
        let mounted = &self.robots[at];
        if mounted.moved_by == frame.id {
            return Err(RobotMoveError::Repeated);
        }
        let moved = mounted.moved(to)?;
        if mounted.turns(&moved) && !(to.teleported || frame.teleported) {
            return Err(RobotMoveError::Turns);
        }
        let changes = mounted.changes(&moved);
        let mut places: Vec<(u32, Move)> = Vec::new();
        for &index in &mounted.carried {
            let entry = &self.entries[index as usize];
            let Some(carrier) = &entry.carrier else { continue };
            let stays = !moved.moves(carrier, &changes) && !to.teleported;
            if stays || !carrier.is_link() && is_broken(Rule::Loads) {
                continue;
            }
            let pose = moved.pose_of(carrier);
            if !entry.fits(pose) {
                return Err(RobotMoveError::TooFar);
            }
            let (body, teleported) = (entry.body.id, to.teleported);
            places.push((index, Move { teleported, ..Move::new(body, pose) }));
        }
        for (index, one) in &places {
            self.put(*index, one, frame.id).map_err(|_| RobotMoveError::TooFar)?;
        }
        let mounted = &mut self.robots[at];
        let from = (mounted.declared.base, mounted.declared.values.clone());
        mounted.put(moved);
        mounted.moved_by = frame.id;
        if self.history.is_on() {
            let entries = &self.entries;
            let hung = |index: &u32| {
                let Entry { body, carrier, .. } = &entries[*index as usize];
                carrier.as_ref().map(|by| HungBody::new(body.id, by))
            };
            let way = mounted.way_from(from, |carried| carried.iter().filter_map(hung).collect());
            self.history.note_robot(way);
        }
        Ok(())
    }
}

impl Entry {
    /// Whether every part lies within the largest coordinate at that pose.
    fn fits(&self, pose: Pose) -> bool {
        let within = pose.translation.iter().all(|c| c.abs() <= COORDINATE_MAX);
        within && self.body.place(pose).is_some()
    }
}
