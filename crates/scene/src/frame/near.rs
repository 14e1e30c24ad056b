//! Which pairs are worth looking at, kept between frames.
//!
//! Every body has a *fat* box and ball: those that hold it, on its way to the frame too where that
//! is asked about, made larger by what its margins and the question reach, and by some room to
//! move in. The pairs whose fat boxes and balls meet are the *near* ones; all others are proven
//! separated by a gap between boxes or balls. A body that stays in both changes nothing; one that
//! leaves gets others, and a [`BoxTree`] says what meets its box now. Balls tell round bodies apart
//! that boxes cannot, and the other way round for plates and rods. Where many have left, all pairs
//! are found anew, by a [`ball_grid`], and the tree is built when somebody asks it again.

use std::sync::OnceLock;

use crate::bounds::{Ball, Box3};
use crate::declared::question::Questions;
use crate::frame::scene::{Scene, SweptBodies};
use crate::near::ball_grid;
use crate::near::box_tree::BoxTree;
use crate::near::near_pairs::{FRAMES_AHEAD, NearPairs, REBUILD_SHARE, ROOM};
use crate::pair_key::PairKey;
use crate::placed::entry::Entry;
use crate::waiting::{Unanswered, Waiting};
use clearance_geometry::Vec3;
use clearance_geometry::number::rounding::BOUND_SLACK;

impl Scene {
    /// How many bodies have to be looked for among all others before it is known which pairs an
    /// answer to these questions looks at.
    pub fn bodies_to_find(&mut self, questions: &Questions) -> usize {
        let reach = questions.below.unwrap_or(0.0).max(0.0) / 2.0;
        if self.sweep(questions, &Waiting::for_ever()).is_err() || !self.has_bounds(reach) {
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
    pub(crate) fn find_near_pairs(
        &mut self,
        below: f64,
        waiting: &Waiting<'_>,
    ) -> Result<(), Unanswered> {
        let reach = below / 2.0;
        if !self.has_bounds(reach) {
            return self.find_near_pairs_anew(reach, waiting);
        }
        let left: Vec<u32> = self.left(reach).collect();
        if left.len() * REBUILD_SHARE > self.entries.len() {
            return self.find_near_pairs_anew(reach, waiting);
        }
        // All boxes before any question: a pair is found from either side.
        let bounds = left.iter().map(|&body| {
            let (fat, ball) = self.fat_bounds(body, reach);
            (body, fat, ball)
        });
        let bounds: Vec<(u32, Box3, Ball)> = bounds.collect();
        self.near.replace(&bounds);
        self.ask_tree(&left, waiting)?;
        if self.table.near_count() > self.limits.pairs_max {
            return self.find_near_pairs_without_room(reach, waiting);
        }
        Ok(())
    }

    fn find_near_pairs_anew(
        &mut self,
        reach: f64,
        waiting: &Waiting<'_>,
    ) -> Result<(), Unanswered> {
        let bodies = 0..self.entries.len() as u32;
        let (fat, balls) = waiting.each(bodies).map(|body| self.fat_bounds(body, reach)).unzip();
        waiting.go_on()?;
        match self.put_in_bounds(fat, balls, reach, waiting) {
            Err(Unanswered::TooManyPairs(_)) => self.find_near_pairs_without_room(reach, waiting),
            found => found,
        }
    }

    /// The room to move in is for speed: what counts against the limit are pairs whose bounds meet
    /// without it.
    fn find_near_pairs_without_room(
        &mut self,
        reach: f64,
        waiting: &Waiting<'_>,
    ) -> Result<(), Unanswered> {
        let bodies = 0..self.entries.len() as u32;
        let needed = waiting.each(bodies).map(|body| self.needed_bounds(body, reach));
        let (needed, balls) = needed.unzip();
        waiting.go_on()?;
        self.put_in_bounds(needed, balls, reach, waiting)
    }

    /// Keeps these bounds for the bodies, and finds all near pairs.
    fn put_in_bounds(
        &mut self,
        fat: Vec<Box3>,
        balls: Vec<Ball>,
        reach: f64,
        waiting: &Waiting<'_>,
    ) -> Result<(), Unanswered> {
        let (tree, pairs) = self.pairs_within(&fat, &balls, waiting);
        self.near = NearPairs { fat, balls, tree, reach, is_stale: true };
        self.table.set_all_near(&pairs?, self.answers, waiting)?;
        self.near.is_stale = false;
        Ok(())
    }

    /// The pairs that may be near as these bounds tell; and the tree of the boxes, if it was asked.
    fn pairs_within(
        &self,
        fat: &[Box3],
        balls: &[Ball],
        waiting: &Waiting<'_>,
    ) -> (OnceLock<BoxTree>, Result<Vec<PairKey>, Unanswered>) {
        let pairs_max = self.limits.pairs_max;
        let is_near = |key: PairKey| {
            fat[key.p as usize].meets(&fat[key.q as usize]) && self.book.is_enabled(key)
        };
        let pairs = ball_grid::pairs_of(balls, pairs_max, waiting, is_near).transpose();
        if let Some(pairs) = pairs {
            return (OnceLock::new(), pairs);
        }
        let tree = BoxTree::build(fat);
        let pairs = tree.pairs(fat, pairs_max, waiting, |key| {
            balls[key.p as usize].may_meet(&balls[key.q as usize]) && self.book.is_enabled(key)
        });
        (tree.into(), pairs)
    }

    /// Finds the near pairs of these bodies.
    fn ask_tree(&mut self, bodies: &[u32], waiting: &Waiting<'_>) -> Result<(), Unanswered> {
        let (mut others, mut pending) = (Vec::new(), Vec::new());
        for &body in waiting.each(bodies) {
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
        let told = waiting.go_on();
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

/// Holds the body throughout the motion to this frame, if that is asked about; else where it is.
fn held(entry: &Entry) -> Box3 {
    entry.swept.as_ref().map_or_else(|| entry.bounds(), |swept| swept.bounds)
}

/// Holds the body in the same way.
#[inline]
fn held_in_ball(entry: &Entry) -> &Ball {
    entry.swept.as_ref().map_or(&entry.ball, |swept| &swept.ball)
}
