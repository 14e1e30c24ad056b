//! The look at a pair of simple bodies, which have one part each, rounded or not, and no margin: a
//! verdict is all that there is to know, and most of what a frame costs.
//!
//! Balls first, then [`separation::decide_with_room`] or that of [`rounded`]; what room the verdict
//! has says until when nobody needs to look again. Whatever takes more than a verdict is left to
//! `answer`.

use crate::declared::question::{Between, Listed, Questions};
use crate::memory::kept::{Batch, Kept, Seen, Standing};
use crate::placed::entry::{Entry, Start};
use crate::placed::travel::until;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Reach, Verdict};
use clearance_geometry::contact_time::Chord;
use clearance_geometry::effort::{Cost, Effort};
use clearance_geometry::number::rounding::{BOUND_SLACK, unit};
use clearance_geometry::pair::Pair;
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::separation::{self, CollisionMethod, Roomy};
use clearance_geometry::until::Until;
use clearance_geometry::witness::Witness;

/// What the looks of a frame have in common; shared by all threads, changed by none.
pub(crate) struct Looking<'a> {
    pub(crate) entries: &'a [Entry],
    pub(crate) travel: &'a [f64],
    pub(crate) starts: &'a [Start],
    pub(crate) method: &'static CollisionMethod,
    pub(crate) questions: &'a Questions,
    pub(crate) until: &'a Until,
    pub(crate) answers: u64,
    /// Whether contacts end at the first gap.
    pub(crate) ends_at_once: bool,
    /// Whether some bodies ask for first contacts of their own.
    pub(crate) has_chosen: bool,
}

impl<'a> Looking<'a> {
    /// Looks at every pair of the batch, or at none when nobody waits for it.
    pub(crate) fn work(&self, batch: &mut Batch<'_>) {
        if self.until.is_cancelled() {
            return;
        }
        let (mut expired, mut near) = (0, 0);
        batch.for_each(|kept, cost| {
            let travelled = self.travel[kept.key.p as usize] + self.travel[kept.key.q as usize];
            expired += u64::from(kept.has_expired(travelled));
            near += u64::from(kept.is_near);
            self.look(kept, cost)
        });
        (batch.expired, batch.near) = (expired, near);
    }

    fn look(&self, kept: &mut Kept, cost: &mut Cost) -> Seen {
        let (p, q) = (kept.key.p as usize, kept.key.q as usize);
        let (of_p, of_q) = (&self.entries[p], &self.entries[q]);
        let between = match self.has_chosen {
            true => self.questions.between_of(&of_p.body, &of_q.body),
            false => self.questions.between,
        };
        let between = between.filter(|_| !(of_p.teleported | of_q.teleported));
        let is_moving = between.is_some();
        if is_moving && kept.said.is_anything() && self.questions.listed != Listed::Nothing {
            // What has been in contact is listed with when it was so.
            return Seen::Left;
        }
        let before = kept.witness.direction;
        let gap = gap_of_bounds(of_p, of_q);
        let known = if gap > 0.0 {
            Some(Roomy::new(Verdict::Separated, gap))
        } else {
            let pair = Pair::new(&of_p.first, of_p.body.pose, &of_q.first, of_q.body.pose);
            let mut effort = Effort::until(self.questions.steps_max, self.until);
            let witness = &mut kept.witness;
            let decided = match radii(of_p, of_q) {
                None => separation::decide_with_room(&pair, self.method, witness, &mut effort),
                Some(radii) => {
                    let pair = RoundedPair { cores: pair, radii };
                    rounded::decide_with_room(&pair, witness, &mut effort)
                }
            };
            *cost += effort.cost;
            decided.ok()
        };
        let Some(found) = known else { return Seen::Left };
        let Roomy { verdict, room, .. } = found;
        let is_separated = verdict == Verdict::Separated;
        let is_announced = kept.said.is_announced;
        if is_separated && is_announced && !self.ends_at_once {
            return Seen::Left;
        }
        let travel = [self.travel[p], self.travel[q]];
        let end = PairEnd { p: of_p, q: of_q, found, before, travel, is_separated, is_announced };
        if let Some(between) = between
            && !self.is_all_said(&end)
            && !self.is_free_by_its_ends(&end, &between, &kept.witness, cost)
        {
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
        let is_news = noted != kept.said.noted || is_announced == is_separated;
        if is_news { Seen::News } else { Seen::Nothing }
    }

    /// Whether the way to this frame adds nothing to how a pair stands at its end: its contact is
    /// announced and lasts; or it is separated, by more than the bodies have travelled on the way,
    /// and was so before. Back from where they are they cannot have met.
    fn is_all_said(&self, pair: &PairEnd<'_>) -> bool {
        if !pair.is_separated || pair.is_announced {
            return pair.is_announced && !pair.is_separated;
        }
        let way = |entry: &Entry, travel: f64| {
            entry.start_in(self.starts).map_or(0.0, |start| travel - start.travel)
        };
        let ways = way(pair.p, pair.travel[0]) + way(pair.q, pair.travel[1]);
        ways * (1.0 + BOUND_SLACK) < pair.found.room
    }

    /// Whether one direction shows, where the pair started and where it is, that it was separated
    /// all the way between: the one that does so now, or one halfway to that of the last look, or
    /// that from centre to centre where the bodies were not looked at closely.
    fn is_free_by_its_ends(
        &self,
        pair: &PairEnd<'_>,
        between: &Between,
        witness: &Witness,
        cost: &mut Cost,
    ) -> bool {
        let &PairEnd { p, q, found, before, .. } = pair;
        if !pair.is_separated || pair.is_announced {
            return false;
        }
        let starts = [p, q].map(|entry| entry.start_in(self.starts));
        let bow: f64 = starts.iter().flatten().map(|start| start.bow).sum();
        // The polytopes of rounded bodies have to stay apart by their radii.
        let reach = radii(p, q).map(|radii| Reach::of_rounded(radii, 0.0).upper());
        let deviation = p.deviation + q.deviation;
        let apart = reach.map_or(deviation, |reach| (deviation + reach).next_up());
        let size = p.ball.size().max(q.ball.size());
        let placed = |[at_p, at_q]: [&Pose; 2]| Pair::new(&p.first, *at_p, &q.first, *at_q);
        let now = [&p.body.pose, &q.body.pose];
        let then = std::array::from_fn(|k| starts[k].map_or(now[k], |start| &start.pose));
        let (start, end) = (placed(then), placed(now));
        let tolerance = between.clearance_tolerance;
        let chord = Chord::new([&start, &end], bow, apart, size, tolerance);
        let hint = witness.pairs.first().copied();
        let mut effort = Effort::until(self.questions.steps_max, self.until);
        let mut is_free =
            |s: Vec3, last: Option<f64>| chord.is_free_along(&s, last, hint, &mut effort);
        let room = reach.map_or(found.room, |reach| (found.room + reach).next_down());
        let last = found.is_of_witness.then_some(room);
        let now = witness.direction;
        let halfway = || Some(unit(&before?)? + unit(&now?)?);
        let centres = || Vec3::from(q.ball.centre) - Vec3::from(p.ball.centre);
        let is_free = now.is_some_and(|s| is_free(s, last))
            || before != now && halfway().is_some_and(|s| is_free(s, None))
            || last.is_none() && is_free(centres(), None);
        *cost += effort.cost;
        is_free
    }
}

/// How a pair stands at the end of the way to a frame, and stood before.
struct PairEnd<'a> {
    p: &'a Entry,
    q: &'a Entry,
    found: Roomy,
    /// The direction that its witness held before it was looked at.
    before: Option<Vec3>,
    /// How far each of them has travelled, metres.
    travel: [f64; 2],
    is_separated: bool,
    is_announced: bool,
}

/// The radii of two bodies of which one at least is rounded.
#[inline]
fn radii(p: &Entry, q: &Entry) -> Option<[f64; 2]> {
    (p.form.is_rounded | q.form.is_rounded).then(|| [p.radius(), q.radius()])
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
