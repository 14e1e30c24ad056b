//! The look at a pair of simple bodies, which have one part each and no margin: a verdict is all
//! that there is to know, and most of what a frame costs.
//!
//! Balls first, then [`separation::decide_with_room`]; what room the verdict has says until when
//! nobody needs to look again. Whatever takes more than a verdict is left to `answer`.

use std::sync::atomic::AtomicBool;

use super::body::Entry;
use super::kept::{Batch, Kept, Seen, Standing};
use super::question::Questions;
use super::state::Scene;
use super::travel::until;
use crate::geometry::claim::Verdict;
use crate::geometry::effort::{Cost, Effort};
use crate::geometry::pair::Pair;
use crate::geometry::separation::{self, CollisionMethod, Roomy};

/// What the looks of a frame have in common; shared by all threads, changed by none.
pub(super) struct Looking<'a> {
    entries: &'a [Entry],
    travel: &'a [f64],
    method: &'static CollisionMethod,
    questions: &'a Questions,
    stop: &'a AtomicBool,
    answers: u64,
    /// Whether contacts end at the first gap.
    ends_at_once: bool,
}

impl<'a> Looking<'a> {
    pub(super) fn new(scene: &'a Scene, questions: &'a Questions, stop: &'a AtomicBool) -> Self {
        Self {
            entries: &scene.entries,
            travel: &scene.travel,
            method: scene.method,
            questions,
            stop,
            answers: scene.answers,
            ends_at_once: scene.release_margin <= 0.0,
        }
    }

    /// Looks at every pair of the batch.
    pub(super) fn work(&self, batch: &mut Batch<'_>) {
        batch.for_each(|kept, cost| self.look(kept, cost));
    }

    fn look(&self, kept: &mut Kept, cost: &mut Cost) -> Seen {
        let (p, q) = (kept.key.p as usize, kept.key.q as usize);
        let (of_p, of_q) = (&self.entries[p], &self.entries[q]);
        let gap = gap_of_bounds(of_p, of_q);
        let known = if gap > 0.0 {
            let is_on_the_way = self.questions.between.is_some() && self.may_meet(of_p, of_q);
            (!is_on_the_way).then_some(Roomy { verdict: Verdict::Separated, room: gap })
        } else if self.questions.between.is_some() {
            None
        } else {
            let pair = Pair::new(&of_p.first, of_p.body.pose, &of_q.first, of_q.body.pose);
            let mut effort = Effort::with_stop(self.questions.steps_max, self.stop);
            let witness = &mut kept.witness;
            let decided = separation::decide_with_room(&pair, self.method, witness, &mut effort);
            *cost += effort.cost;
            decided.ok()
        };
        let Some(Roomy { verdict, room }) = known else { return Seen::Left };
        let is_separated = verdict == Verdict::Separated;
        if is_separated && kept.said.is_announced && !self.ends_at_once {
            return Seen::Left;
        }
        kept.last_used = self.answers;
        kept.until = until(self.travel[p] + self.travel[q], room);
        kept.standing = match verdict {
            Verdict::Separated if gap > 0.0 => Standing::ByBoxes,
            Verdict::Separated => Standing::Separated,
            Verdict::Touching => Standing::Touching,
            Verdict::Overlapping => Standing::Overlapping,
        };
        let noted = (!is_separated).then_some((verdict, true));
        let is_news = noted != kept.said.noted || kept.said.is_announced == is_separated;
        if is_news { Seen::News } else { Seen::Nothing }
    }

    /// Whether the bodies may meet on the way to this frame, or nobody can tell.
    fn may_meet(&self, p: &Entry, q: &Entry) -> bool {
        let held = |entry: &Entry| entry.swept.as_ref().map_or(entry.ball, |swept| swept.ball);
        held(p).may_meet(&held(q))
    }
}

/// At most the distance of the bodies, as balls around them tell, or boxes where these tell more,
/// metres; 0 if they may meet.
#[inline]
fn gap_of_bounds(p: &Entry, q: &Entry) -> f64 {
    let gap = p.ball.gap(&q.ball);
    if gap > 0.0 || !(p.first.bounds().is_boxy && q.first.bounds().is_boxy) {
        return gap;
    }
    p.bounds().gap(&q.bounds()).map_or(0.0, |gap| gap.lower)
}
