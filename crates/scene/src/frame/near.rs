//! Which pairs are worth looking at: the ways of what moved, the pairs that are near, and of these
//! the ones whose verdict may have changed.
//!
//! Every body has a *fat* box and ball: those that hold it, on its way to the frame too where that
//! is asked about, made larger by what its margins and the question reach, and by some room to
//! move in. The pairs whose fat boxes and balls meet are the *near* ones; all others are proven
//! separated by a gap between boxes or balls. A body that stays in both changes nothing; one that
//! leaves gets others, and a [`BoxTree`] says what meets its box now. Balls tell round bodies apart
//! that boxes cannot, and the other way round for plates and rods. Where many have left, all pairs
//! are found anew, by a [`ball_grid`], and the tree is built when somebody asks it again.

use std::sync::{Arc, OnceLock};

use crate::bounds::{Ball, Box3};
use crate::broken::{Rule, is_broken};
use crate::declared::question::{Listed, Questions};
use crate::frame::scene::{Scene, SweptBodies};
use crate::memory::kept::Said;
use crate::memory::runner::PairWork;
use crate::memory::table;
use crate::near::ball_grid;
use crate::near::box_tree::BoxTree;
use crate::near::near_pairs::{FRAMES_AHEAD, NearPairs, REBUILD_SHARE, ROOM};
use crate::pair_key::PairKey;
use crate::placed::entry::{Entry, Start, Swept};
use crate::placed::mounted::Mounted;
use crate::placed::spin::Spin;
use crate::placed::travel::{farther, is_beyond_quarter_turn};
use crate::unanswered::{TooManyPairs, Unanswered, go_on, sort_by};
use clearance_geometry::Vec3;
use clearance_geometry::number::rounding::BOUND_SLACK;
use clearance_geometry::until::Until;

/// When more than one body in so many has moved, what is watched of all pairs is read in order;
/// else the pairs of those bodies are looked up.
const SCAN_SHARE: usize = 8;

impl Scene {
    /// The places of the pairs to be looked at, if there is memory for what is kept of them.
    pub(crate) fn pairs_within_room(
        &mut self,
        work: &PairWork<'_>,
    ) -> Result<Vec<u32>, Unanswered> {
        let known = self.table.len();
        let places = self.pairs_to_look_at(work.questions, work.until)?;
        let new = self.table.len().saturating_sub(known);
        work.take_room(new * table::PAIR_BYTES)?;
        Ok(places)
    }

    /// The places of the pairs to be looked at, sorted: of the near ones and those of which
    /// something was said before, all of whose answer something may have changed. The answer about
    /// a pair is a function of its poses and of the question; so a pair keeps it while neither body
    /// moves, and its verdict while they have not travelled as far as that has room.
    pub(crate) fn pairs_to_look_at(
        &mut self,
        questions: &Questions,
        until: &Until,
    ) -> Result<Vec<u32>, Unanswered> {
        let pairs_max = self.limits.pairs_max;
        if self.has_changed {
            self.restate_said(until)?;
        }
        if questions.listed == Listed::All {
            if self.book.pairs_enabled > pairs_max as u64 {
                return Err(TooManyPairs { pairs_max }.into());
            }
            // Nobody asks the boxes meanwhile, so they are not kept up to date.
            self.near.invalidate();
            let mut places = self.table.places_of(until.each(self.book.enabled_pairs()));
            go_on(until)?;
            sort_by(until, &mut places, u32::cmp)?;
            return Ok(places);
        }
        self.find_near_pairs(questions.below.unwrap_or(0.0).max(0.0), until)?;
        let is_other_question = self.asked != Some(*questions);
        if self.has_changed || is_other_question || questions.is_about_all() {
            let mut places = self.table.places_of_all();
            let watched = places.len();
            if self.asked.is_none() {
                places.extend(until.each(self.table.places_unsaid()));
            }
            // Those that are no longer near, too.
            places.extend(self.table.places_of(until.each(self.open.iter().copied())));
            if places.len() > watched {
                go_on(until)?;
                sort_by(until, &mut places, u32::cmp)?;
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
    fn restate_said(&mut self, until: &Until) -> Result<(), Unanswered> {
        let keys: Vec<PairKey> = self.contacts.keys().chain(self.noted.keys()).copied().collect();
        for key in until.each(keys) {
            self.table.set_said(key, self.said_of(key));
        }
        go_on(until)
    }

    fn said_of(&self, key: PairKey) -> Said {
        let noted = self.noted.get(&key);
        Said {
            noted: noted.map(|noted| (noted.verdict, noted.within_margin)),
            is_announced: self.contacts.contains_key(&key),
        }
    }

    /// Boxes of the motions to this frame, where these are asked about.
    pub(crate) fn sweep(&mut self, questions: &Questions, until: &Until) -> Result<(), Unanswered> {
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
        self.turned_far.clear();
        for &body in until.each(&self.moved) {
            let entry = &mut self.entries[body as usize];
            let Some(start) = entry.start.map(|at| &mut self.starts[at as usize]) else { continue };
            let travel = &mut self.travel[body as usize];
            if let Some(swept) = way_on_chain(&self.robots, entry, start) {
                start.bow = f64::INFINITY;
                *travel = farther(*travel, swept.stray());
                entry.swept = Some(Box::new(swept));
                continue;
            }
            start.bow = entry.bow(start);
            *travel = farther(*travel, start.bow + entry.deviation);
            let is_far = is_beyond_quarter_turn(&start.pose.rotation, &entry.body.pose.rotation);
            let is_guess = match start.spin {
                Spin::Unsaid => is_far,
                Spin::Said(_) => false,
                Spin::Lost => true,
            };
            if is_guess {
                self.turned_far.push(body);
            }
            let is_asked = wanted == SweptBodies::All || entry.body.continuous;
            // What has come no farther than the room that its bounds have anyway needs none of its
            // way: they are made larger by as much.
            let is_far = *travel - start.travel > ROOM * entry.ball.radius;
            if is_asked && is_far {
                entry.swept = Some(Box::new(entry.way(start)));
            }
        }
        go_on(until)?;
        self.swept = wanted;
        Ok(())
    }

    /// The paths of the robots that have moved since the last answered frame.
    pub(crate) fn find_paths(&mut self) {
        for mounted in &mut self.robots {
            if mounted.path.is_none() {
                mounted.path = mounted.way().map(Arc::new);
            }
        }
    }

    /// How many pairs an answer to these questions looks at, at most. What is found out for it is
    /// kept: the answer does not find it out again.
    pub fn pairs_within_reach(&mut self, questions: &Questions) -> Result<u64, Unanswered> {
        let until = Until::never();
        self.sweep(questions, until)?;
        if questions.listed == Listed::All || questions.nearest > 0 {
            return Ok(self.book.pairs_enabled);
        }
        self.find_near_pairs(questions.below.unwrap_or(0.0).max(0.0), until)?;
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

    /// How many bodies have to be looked for among all others before it is known which pairs an
    /// answer to these questions looks at.
    pub fn bodies_to_find(&mut self, questions: &Questions) -> usize {
        let reach = questions.below.unwrap_or(0.0).max(0.0) / 2.0;
        if self.sweep(questions, Until::never()).is_err() || !self.has_bounds(reach) {
            return self.entries.len();
        }
        self.left(reach).count()
    }

    /// Whether bounds are kept for all bodies that serve up to this reach.
    fn has_bounds(&self, reach: f64) -> bool {
        let are_there = !self.near.is_stale && self.near.fat.len() == self.entries.len();
        are_there && reach <= self.near.reach
    }

    /// The bodies that have moved out of what is kept for them.
    fn left(&self, reach: f64) -> impl Iterator<Item = u32> + '_ {
        self.moved.iter().copied().filter(move |&body| self.has_left(body, reach))
    }

    /// Brings the near pairs up to date with where the bodies are; `below` is the distance up to
    /// which pairs are asked for, metres.
    pub(crate) fn find_near_pairs(&mut self, below: f64, until: &Until) -> Result<(), Unanswered> {
        let reach = below / 2.0;
        if !self.has_bounds(reach) {
            return self.find_near_pairs_anew(reach, until);
        }
        let left: Vec<u32> = self.left(reach).collect();
        if left.len() * REBUILD_SHARE > self.entries.len() {
            return self.find_near_pairs_anew(reach, until);
        }
        // All boxes before any question: a pair is found from either side.
        let bounds = left.iter().map(|&body| {
            let (fat, ball) = self.fat_bounds(body, reach);
            (body, fat, ball)
        });
        let bounds: Vec<(u32, Box3, Ball)> = bounds.collect();
        self.near.replace(&bounds);
        self.ask_tree(&left, until)?;
        if self.table.near_count() > self.limits.pairs_max {
            return self.find_near_pairs_without_room(reach, until);
        }
        Ok(())
    }

    fn find_near_pairs_anew(&mut self, reach: f64, until: &Until) -> Result<(), Unanswered> {
        let bodies = 0..self.entries.len() as u32;
        let (fat, balls) = until.each(bodies).map(|body| self.fat_bounds(body, reach)).unzip();
        go_on(until)?;
        match self.put_in_bounds(fat, balls, reach, until) {
            Err(Unanswered::TooManyPairs(_)) => self.find_near_pairs_without_room(reach, until),
            found => found,
        }
    }

    /// The room to move in is for speed: what counts against the limit are pairs whose bounds meet
    /// without it.
    fn find_near_pairs_without_room(
        &mut self,
        reach: f64,
        until: &Until,
    ) -> Result<(), Unanswered> {
        let bodies = 0..self.entries.len() as u32;
        let needed = until.each(bodies).map(|body| self.needed_bounds(body, reach));
        let (needed, balls) = needed.unzip();
        go_on(until)?;
        self.put_in_bounds(needed, balls, reach, until)
    }

    /// Keeps these bounds for the bodies, and finds all near pairs.
    fn put_in_bounds(
        &mut self,
        fat: Vec<Box3>,
        balls: Vec<Ball>,
        reach: f64,
        until: &Until,
    ) -> Result<(), Unanswered> {
        let (tree, pairs) = self.pairs_within(&fat, &balls, until);
        self.near = NearPairs { fat, balls, tree, reach, is_stale: true };
        self.table.set_all_near(&pairs?, self.answers, until)?;
        self.near.is_stale = false;
        Ok(())
    }

    /// The pairs that may be near as these bounds tell; and the tree of the boxes, if it was asked.
    fn pairs_within(
        &self,
        fat: &[Box3],
        balls: &[Ball],
        until: &Until,
    ) -> (OnceLock<BoxTree>, Result<Vec<PairKey>, Unanswered>) {
        let pairs_max = self.limits.pairs_max;
        let is_near = |key: PairKey| {
            fat[key.p as usize].meets(&fat[key.q as usize]) && self.book.is_enabled(key)
        };
        let pairs = ball_grid::pairs_of(balls, pairs_max, until, is_near).transpose();
        if let Some(pairs) = pairs {
            return (OnceLock::new(), pairs);
        }
        let tree = BoxTree::build(fat);
        let pairs = tree.pairs(fat, pairs_max, until, |key| {
            balls[key.p as usize].may_meet(&balls[key.q as usize]) && self.book.is_enabled(key)
        });
        (tree.into(), pairs)
    }

    /// Finds the near pairs of these bodies.
    fn ask_tree(&mut self, bodies: &[u32], until: &Until) -> Result<(), Unanswered> {
        let (mut others, mut pending) = (Vec::new(), Vec::new());
        for &body in until.each(bodies) {
            others.clear();
            let (book, near) = (&self.book, &self.near);
            let ball = &near.balls[body as usize];
            near.tree().meeting(&near.fat[body as usize], &mut pending, |other| {
                if other != body
                    && ball.may_meet(&near.balls[other as usize])
                    && book.is_enabled(PairKey::new(body, other))
                {
                    others.push(other);
                }
            });
            others.sort_unstable();
            self.table.set_near(body, &others, self.answers);
        }
        let told = go_on(until);
        self.near.is_stale |= told.is_err();
        told
    }

    /// Whether the body may be outside of what is kept for it. A round body's box holds its ball.
    #[inline]
    fn has_left(&self, body: u32, reach: f64) -> bool {
        let (at, entry) = (body as usize, &self.entries[body as usize]);
        let by = self.reach_of(body, reach);
        if !self.near.balls[at].holds(&held_in_ball(entry).inflated(by)) {
            return true;
        }
        !entry.form.is_round && !self.near.fat[at].holds(&held(entry).inflated(by))
    }

    /// How far beyond its bounds a body has to be looked for: its margins and the question, and,
    /// where somebody asks when bodies met and it has no bounds of its way, as far as it has come
    /// from where it was.
    #[inline]
    fn reach_of(&self, body: u32, reach: f64) -> f64 {
        let at = body as usize;
        let by = (self.book.reaches[at] + reach).next_up();
        if self.swept == SweptBodies::None {
            return by;
        }
        let entry = &self.entries[at];
        if entry.swept.is_some() || entry.teleported {
            return by;
        }
        let start = entry.start_in(&self.starts);
        let way = start.map_or(0.0, |start| self.travel[at] - start.travel);
        (by + way * (1.0 + BOUND_SLACK)).next_up()
    }

    /// Where a body has to be looked for: the boxes of two bodies meet, and so do their balls,
    /// whenever the bodies, on their way to this frame if that is asked about, are within the
    /// pair's margin or twice `reach`.
    fn needed_bounds(&self, body: u32, reach: f64) -> (Box3, Ball) {
        let by = self.reach_of(body, reach);
        let entry = &self.entries[body as usize];
        let ball = held_in_ball(entry).inflated(by);
        let around = Box3::around(&ball);
        (if entry.form.is_round { around } else { held(entry).inflated(by) }, ball)
    }

    /// The bounds to keep for a body: those needed with room to move in, more of it ahead.
    fn fat_bounds(&self, body: u32, reach: f64) -> (Box3, Ball) {
        let (needed, ball) = self.needed_bounds(body, reach);
        let room = ROOM * ball.radius;
        let (mut fat, mut fat_ball) = (needed.inflated(room), ball.inflated(room));
        let entry = &self.entries[body as usize];
        if let Some(start) = entry.start_in(&self.starts).filter(|_| !entry.teleported) {
            let before = entry.form.ball_at(&start.pose);
            let moved = Vec3::from(entry.ball.centre) - Vec3::from(before.centre);
            let ahead = (moved * FRAMES_AHEAD).map(|c| c.clamp(-room, room));
            for i in 0..3 {
                fat.low[i] += ahead[i].min(0.0);
                fat.high[i] += ahead[i].max(0.0);
            }
            // Shifted by no more than the room, along no axis, so it still holds the body.
            let shift = ahead * 0.5;
            fat_ball.centre = std::array::from_fn(|i| fat_ball.centre[i] + shift[i]);
        }
        if entry.form.is_round { (Box3::around(&fat_ball), fat_ball) } else { (fat, fat_ball) }
    }
}

/// The way of a body that a robot moves, from where it was at the last answered frame.
fn way_on_chain(robots: &[Mounted], entry: &Entry, start: &Start) -> Option<Swept> {
    let carrier = entry.carrier.as_ref()?;
    let at = robots.binary_search_by_key(&carrier.robot, |robot| robot.declared.id).ok()?;
    Some(entry.way_on(&start.pose, robots[at].path.as_ref()?, carrier))
}

/// Holds the body throughout the motion to this frame, if that is asked about; else where it is.
fn held(entry: &Entry) -> Box3 {
    entry.swept.as_ref().map_or_else(|| entry.bounds(), |swept| swept.bounds)
}

/// Holds the body in the same way.
#[inline]
fn held_in_ball(entry: &Entry) -> &Ball {
    entry.swept.as_ref().map_or(&entry.ball, |swept| &swept.ball)
}
