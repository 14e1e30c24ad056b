//! Taking a frame in: bodies that come and go, rules, poses. Nothing is answered yet.

use std::collections::{BTreeMap, BTreeSet};

use super::body::{Body, BodyId, Entry, Start};
use super::broken::{Rule, is_broken};
use super::declaration::{DeclarationError, Problem, check_body, is_length};
use super::listing::Noted;
use super::pairs::PairKey;
use super::question::{Frame, Move, Moves};
use super::report::MoveError;
use super::rules::{RuleBook, Rules};
use super::state::{Scene, SweptBodies};
use super::travel::farther;

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
    /// It is applied, but for these moves, by index.
    Now(Vec<(usize, MoveError)>),
    /// It was applied before; nothing has changed.
    Repeated,
}

impl Scene {
    /// Applies a frame: all of it but single moves that are wrong, or nothing.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use clearance::geometry::{Vec3, hull::convex_hull, pose::Pose, separation::METHODS};
    /// # use clearance::scene::{Body, BodyId, Declaration, Limits, Scene, Serial};
    /// # use clearance::scene::{Frame, Move, Questions};
    /// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
    /// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
    /// # let cube = Arc::new(cube);
    /// # let (bodies_max, parts_max, classes_max, pairs_max, listed_max) = (9, 9, 9, 9, 9);
    /// # let limits = Limits { bodies_max, parts_max, classes_max, pairs_max, listed_max };
    /// let far = Pose::translation(4.0, 0.0, 0.0);
    /// let bodies = vec![Body::solid(1, cube.clone()), Body::solid(2, cube).placed(far)];
    /// let declared = Declaration { bodies, ..Default::default() };
    /// let mut scene = Scene::open(declared, &METHODS[0], limits).unwrap();
    /// use clearance::scene::{Applied, FrameError};
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
        let last = self.applied;
        if frame.id == 0 {
            return Err(FrameError::NoId);
        }
        if frame.id == last {
            return Ok(Applied::Repeated);
        }
        if frame.id < last {
            return Err(FrameError::Stale { last });
        }
        let builds_on_last = frame.base.unwrap_or(frame.id - 1) == last;
        let builds_on_last = builds_on_last || is_broken(Rule::BaseFrame);
        if !frame.keyframe && !builds_on_last {
            return Err(FrameError::KeyframeNeeded { last });
        }
        if frame.keyframe {
            self.check_keyframe(frame, moves)?;
        }
        if !frame.removed.is_empty() || !frame.added.is_empty() || frame.rules.is_some() {
            self.restructure(
                &frame.removed,
                frame.added.clone(),
                "added_bodies",
                frame.rules.clone(),
            )?;
        }
        let mut refused = Vec::new();
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
        if frame.teleported {
            self.entries.iter_mut().for_each(|entry| entry.teleported = true);
            self.has_changed = true;
            self.swept = SweptBodies::None;
        }
        self.applied = frame.id;
        self.skipped = self.skipped.saturating_add(1);
        Ok(Applied::Now(refused))
    }

    fn check_keyframe(&self, frame: &Frame, moves: &dyn Moves) -> Result<(), FrameError> {
        let mut moved: Vec<BodyId> = Vec::new();
        moves.each(&mut |_, one| moved.push(one.body));
        moved.extend(frame.added.iter().map(|body| body.id));
        moved.extend(&frame.removed);
        moved.sort_unstable();
        let is_whole = self.bodies().all(|body| moved.binary_search(&body.id).is_ok());
        if is_whole {
            return Ok(());
        }
        Err(DeclarationError::new("poses".into(), Problem::KeyframeIncomplete).into())
    }

    /// Moves one body.
    fn place(&mut self, index: u32, one: &Move, frame: &Frame) -> Result<(), MoveError> {
        let Frame { id: frame, teleported, .. } = *frame;
        let answers_all = self.methods.first_contact.method.answers_all();
        let entry = &mut self.entries[index as usize];
        if entry.moved_by == frame {
            return Err(MoveError::Repeated);
        }
        if one.deviation.is_some_and(|deviation| !is_length(deviation)) {
            return Err(MoveError::Deviation);
        }
        let has_way = !(teleported || one.teleported || entry.teleported);
        let start = entry.start_in(&self.starts).map_or(&entry.body.pose, |start| &start.pose);
        let turns = || one.pose.rotation != start.rotation;
        let deviates = one.deviation.is_some_and(|deviation| deviation > 0.0);
        if !answers_all && has_way && (deviates || turns()) {
            return Err(MoveError::NotAnswered);
        }
        // A keyframe restates the poses of bodies that stay where they are.
        let stays = one.pose == entry.body.pose && !one.teleported && one.deviation.is_none();
        if stays && entry.start.is_none() {
            entry.moved_by = frame;
            return Ok(());
        }
        self.swept = SweptBodies::None;
        let left = Start { pose: entry.body.pose, travel: self.travel[index as usize] };
        entry.swept = None;
        let travel = entry.put(one.pose).ok_or(MoveError::TooFar)?;
        self.travel[index as usize] = farther(self.travel[index as usize], travel);
        self.revision += 1;
        entry.revision = self.revision;
        entry.moved_by = frame;
        if entry.start.is_none() {
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

    /// Takes bodies away, adds others, replaces the rules; all or nothing.
    pub(super) fn restructure(
        &mut self,
        removed: &[BodyId],
        added: Vec<Body>,
        added_path: &str,
        rules: Option<Rules>,
    ) -> Result<(), DeclarationError> {
        for (index, id) in removed.iter().enumerate() {
            if self.index_of(*id).is_none() {
                let path = format!("removed_body_ids[{index}]");
                return Err(DeclarationError::new(path, Problem::UnknownBody));
            }
        }
        let mut gone: Vec<BodyId> = removed.to_vec();
        gone.sort_unstable();
        let is_gone = |id: BodyId| gone.binary_search(&id).is_ok();

        let newcomers = self.newcomers(added, added_path, &is_gone)?;
        let staying = self.entries.iter().filter(|entry| !is_gone(entry.body.id));
        let mut bodies: Vec<&Body> =
            staying.map(|entry| &entry.body).chain(newcomers.iter().map(|e| &e.body)).collect();
        bodies.sort_unstable_by_key(|body| body.id);
        for (index, entry) in rules.iter().flat_map(|rules| rules.margins.iter().enumerate()) {
            self.check_slack(entry.margin, || format!("rules.margins[{index}].margin"))?;
        }
        rules.as_ref().map_or(Ok(()), |rules| rules.check_groups(&bodies))?;
        let margins_change = rules.is_some();
        let new_rules = match rules {
            Some(rules) => rules,
            None => self.rules.without(&gone)?,
        };
        let book = RuleBook::compile(&bodies, &new_rules, "rules", self.limits.classes_max)?;

        // Nothing can fail from here on.
        self.rewind_travel();
        let old_ids: Vec<BodyId> = self.bodies().map(|body| body.id).collect();
        self.entries.retain(|entry| !is_gone(entry.body.id));
        self.entries.extend(newcomers);
        self.entries.sort_by_key(|entry| entry.body.id);
        self.revision += 1;
        for entry in self.entries.iter_mut().filter(|e| margins_change || e.revision == 0) {
            // A new body, or perhaps a new margin: what is remembered is no longer to the point.
            entry.revision = self.revision;
        }
        self.rules = new_rules;
        self.book = book;
        self.renumber(&old_ids, &gone);
        self.body_bytes = self.bodies().map(Body::bytes).sum();
        self.near.invalidate();
        // Where bodies are listed they have other numbers now.
        self.has_moved = self.entries.iter().map(|entry| entry.start.is_some()).collect();
        self.moved =
            (0..self.entries.len() as u32).filter(|&body| self.has_moved[body as usize]).collect();
        self.travel = vec![0.0; self.entries.len()];
        self.has_chosen = self.entries.iter().any(|entry| entry.body.continuous);
        self.open.clear();
        self.has_changed = true;
        self.swept = SweptBodies::None;
        Ok(())
    }

    /// Nothing is known any more of when to look again, so travel counts from 0; but how far bodies
    /// have travelled since the last answered frame still does.
    fn rewind_travel(&mut self) {
        for (entry, travel) in self.entries.iter().zip(&self.travel) {
            if let Some(at) = entry.start {
                self.starts[at as usize].travel -= travel;
            }
        }
    }

    /// That the method of first contacts answers a margin or a deviation of this size.
    fn check_slack(
        &self,
        metres: f64,
        path: impl FnOnce() -> String,
    ) -> Result<(), DeclarationError> {
        if metres > 0.0 && !self.methods.first_contact.method.answers_all() {
            return Err(DeclarationError::new(path(), Problem::NotAnswered));
        }
        Ok(())
    }

    /// The bodies to add, placed; or what is wrong with one.
    fn newcomers(
        &self,
        added: Vec<Body>,
        path: &str,
        is_gone: &dyn Fn(BodyId) -> bool,
    ) -> Result<Vec<Entry>, DeclarationError> {
        let mut taken: BTreeSet<BodyId> =
            self.bodies().map(|body| body.id).filter(|id| !is_gone(*id)).collect();
        let mut parts: usize = self.entries.iter().map(|entry| entry.body.parts.len()).sum();
        let mut newcomers = Vec::with_capacity(added.len());
        for (index, body) in added.into_iter().enumerate() {
            let at = format!("{path}[{index}]");
            check_body(&body, &at)?;
            self.check_slack(body.margin, || format!("{at}.margin"))?;
            self.check_slack(body.deviation, || format!("{at}.deviation"))?;
            if !taken.insert(body.id) {
                return Err(DeclarationError::new(format!("{at}.id"), Problem::IdTaken));
            }
            if taken.len() > self.limits.bodies_max {
                return Err(DeclarationError::new(path.into(), Problem::TooManyBodies));
            }
            parts += body.parts.len();
            if parts > self.limits.parts_max {
                return Err(DeclarationError::new(at, Problem::TooManyParts));
            }
            let Some(entry) = Entry::new(body) else {
                return Err(DeclarationError::new(format!("{at}.pose"), Problem::TooFar));
            };
            newcomers.push(entry);
        }
        Ok(newcomers)
    }

    /// After bodies came and went: what is known of pairs, under the new indices. `gone` is sorted;
    /// a body that is replaced by another one with its id is gone, too.
    fn renumber(&mut self, old_ids: &[BodyId], gone: &[BodyId]) {
        let stays = |id: &BodyId| gone.binary_search(id).is_err();
        let new_index: Vec<Option<u32>> =
            old_ids.iter().map(|id| self.index_of(*id).filter(|_| stays(id))).collect();
        let renumbered = |key: &PairKey| {
            let p = new_index[key.p as usize]?;
            let q = new_index[key.q as usize]?;
            Some(PairKey { p, q }).filter(|key| self.book.is_enabled(*key))
        };
        let mut contacts = BTreeMap::new();
        for (key, began) in &self.contacts {
            match renumbered(key) {
                Some(key) => {
                    contacts.insert(key, *began);
                }
                None => self.ended.push((old_ids[key.p as usize], old_ids[key.q as usize])),
            }
        }
        let noted: BTreeMap<PairKey, Noted> =
            self.noted.iter().filter_map(|(key, noted)| Some((renumbered(key)?, *noted))).collect();
        self.contacts = contacts;
        self.noted = noted;
        let simple = self.simple_bodies();
        self.table.renumber(simple, |index| new_index[index as usize]);
    }
}
