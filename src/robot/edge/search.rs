//! The search along one edge, a look at one configuration at a time.

use super::{EdgeAnswer, EdgeQuestion, pieces_of, value_at};
use crate::geometry::claim::Verdict;
use crate::geometry::distance::Stops;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::number::rounding::BOUND_SLACK;
use crate::robot::cell::{BodyPair, Cell};
use crate::robot::speed::{FrameVelocity, MotionBound, PathSpeeds, SeenMotion, common_frame};
use crate::robot::stand::Stand;

/// The part of the tolerance down to which intervals are halved. Just before a contact nothing is
/// proven free, for as much longer than an interval as the motion bound exceeds the true speed:
/// this leaves the tolerance room for a factor of about its inverse.
const FINEST: f64 = 1.0 / 64.0;

/// What is looked at next.
#[derive(Clone, Debug)]
enum Asked {
    /// The middle of an interval that is not proven yet, with the pairs that may meet on it; none:
    /// all pairs.
    Interval([f64; 2], Option<Vec<EdgePair>>),
    /// The start: contact there is contact at 0, exactly. Because there is contact later; or
    /// because nothing is proven free from the start on, for this pair.
    Start(Option<BodyPair>),
    /// The end of the widest bracket that begins at the first; the pair is too near before it.
    Last([f64; 2], BodyPair),
}

/// One edge on the way to its answer; what it takes is kept for the next edge.
pub(super) struct EdgeSearch<'a> {
    cell: &'a Cell,
    question: EdgeQuestion,
    ends: [&'a [f64]; 2],
    speeds: PathSpeeds,
    /// By link, seen from the world.
    links: Vec<MotionBound>,
    /// By pair of links, each seen from the frame that carries both; made when they are near.
    pairs: Vec<Option<[MotionBound; 2]>>,
    /// By pair of links: that frame.
    common: Vec<Option<usize>>,
    /// In the configuration at hand.
    velocities: Vec<FrameVelocity>,
    /// Intervals from the last one to the next.
    open: Vec<([f64; 2], Option<Vec<EdgePair>>)>,
    asked: Asked,
    values: Vec<f64>,
    contact: Option<(f64, BodyPair)>,
    /// The start was looked at, and is not in contact.
    is_start_free: bool,
    steps: u64,
}

/// A pair of bodies and what bounds their motion: a link, or a pair of links by its index.
#[derive(Clone, Copy, Debug)]
struct EdgePair {
    bodies: BodyPair,
    movers: EdgeMovers,
}

#[derive(Clone, Copy, Debug)]
enum EdgeMovers {
    Link(usize),
    LinkPair(usize),
}

/// What is seen in the middle of an interval.
enum Looked {
    /// All pairs are farther apart than they can move.
    Free,
    /// These pairs are not, and are not in contact either.
    Near(Vec<EdgePair>),
    /// This pair is in contact.
    Contact(BodyPair),
}

impl<'a> EdgeSearch<'a> {
    /// For edges of a cell.
    pub(super) fn new(cell: &'a Cell, question: EdgeQuestion) -> Self {
        let of = |pair: &[usize; 2]| common_frame(cell, pair.map(|link| &cell.links[link]));
        Self {
            cell,
            question,
            ends: [&[], &[]],
            speeds: PathSpeeds::default(),
            links: Vec::new(),
            pairs: Vec::new(),
            common: cell.link_pairs.iter().map(of).collect(),
            velocities: Vec::new(),
            open: Vec::new(),
            asked: Asked::Interval([0.0, 1.0], None),
            values: Vec::new(),
            contact: None,
            is_start_free: false,
            steps: 0,
        }
    }

    /// Takes an edge.
    pub(super) fn begin(&mut self, ends: [&'a [f64]; 2], speeds: PathSpeeds) {
        self.links.clear();
        let links = self.cell.links.iter();
        self.links.extend(links.map(|link| speeds.bound(self.cell, link, None)));
        self.pairs.clear();
        self.pairs.resize(self.cell.link_pairs.len(), None);
        let count = pieces_of(&speeds);
        self.open.clear();
        let mut piece = count;
        while piece > 1.0 {
            self.open.push(([(piece - 1.0) / count, piece / count], None));
            piece -= 1.0;
        }
        (self.ends, self.speeds) = (ends, speeds);
        (self.contact, self.is_start_free, self.steps) = (None, false, 0);
        self.ask(Asked::Interval([0.0, 1.0 / count], None));
    }

    /// The configuration that is to be looked at.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    fn ask(&mut self, asked: Asked) {
        let t = match asked {
            Asked::Interval([start, end], _) => start + 0.5 * (end - start),
            Asked::Start(_) => 0.0,
            Asked::Last([_, t], _) => t,
        };
        let [from, to] = self.ends;
        self.values.clear();
        self.values.extend(from.iter().zip(to).map(|(a, b)| value_at(*a, *b, t)));
        self.asked = asked;
    }

    /// Looks at the configuration asked for; the answer, when there is one.
    pub(super) fn step(
        &mut self,
        stand: &mut Stand<'_>,
        effort: &mut Effort<'_>,
    ) -> Option<EdgeAnswer> {
        let asked = std::mem::replace(&mut self.asked, Asked::Start(None));
        let (free_until, half) = match asked {
            Asked::Interval([start, end], _) => {
                let middle = start + 0.5 * (end - start);
                (start, (middle - start).max(end - middle))
            }
            Asked::Start(_) => (0.0, 0.0),
            Asked::Last([start, _], _) => (start, 0.0),
        };
        let (asked, pairs) = match asked {
            Asked::Interval(t, pairs) => (Asked::Interval(t, None), pairs),
            Asked::Start(_) | Asked::Last(..) => (asked, None),
        };
        let before = effort.cost.steps;
        let looked = match self.steps < self.question.steps_max {
            true => effort.spend_step().and_then(|()| self.look(stand, half, pairs, effort)),
            false => Err(Stopped::Steps),
        };
        self.steps += effort.cost.steps - before;
        match looked {
            Ok(looked) => self.told(asked, looked),
            Err(why) => Some(EdgeAnswer::Stopped { free_until, why }),
        }
    }

    /// What follows from a look.
    fn told(&mut self, asked: Asked, looked: Looked) -> Option<EdgeAnswer> {
        match (asked, looked) {
            (Asked::Interval(..), Looked::Free) => {}
            (Asked::Interval([start, end], _), Looked::Contact(pair)) => {
                let middle = start + 0.5 * (end - start);
                self.contact = Some((middle, pair));
                self.open.clear();
                // All pairs may meet in the first half: the walk ended at the first contact.
                self.open.push(([start, middle], None));
                if !self.is_start_free {
                    self.ask(Asked::Start(None));
                    return None;
                }
            }
            (Asked::Interval([start, end], _), Looked::Near(near)) => {
                if end - start <= self.question.tolerance * FINEST {
                    return self.ended([start, end], near[0].bodies);
                }
                let middle = start + 0.5 * (end - start);
                self.open.push(([middle, end], Some(near.clone())));
                self.open.push(([start, middle], Some(near)));
            }
            (Asked::Start(_), Looked::Contact(pair)) => {
                return Some(EdgeAnswer::Contact { free_until: 0.0, contact_at: 0.0, pair });
            }
            (Asked::Start(too_near), Looked::Free | Looked::Near(_)) => {
                self.is_start_free = true;
                if let Some(pair) = too_near {
                    self.ask(Asked::Last([0.0, self.last_of(0.0)], pair));
                    return None;
                }
            }
            (Asked::Last([free_until, contact_at], _), Looked::Contact(pair)) => {
                return Some(EdgeAnswer::Contact { free_until, contact_at, pair });
            }
            (Asked::Last([free_until, _], pair), Looked::Free | Looked::Near(_)) => {
                return Some(EdgeAnswer::Undecided { free_until, pair });
            }
        }
        self.advance()
    }

    /// Goes on to the next interval, unless the contact is found as finely as is asked.
    fn advance(&mut self) -> Option<EdgeAnswer> {
        let Some(([start, end], pairs)) = self.open.pop() else {
            return Some(match self.contact {
                None => EdgeAnswer::Free,
                // The last middle in contact was proven free on its left up to the middle itself,
                // which a true path may be, within rounding of it.
                Some((at, pair)) => EdgeAnswer::Contact { free_until: at, contact_at: at, pair },
            });
        };
        match self.near_contact(start) {
            Some((contact_at, pair)) => {
                return Some(EdgeAnswer::Contact { free_until: start, contact_at, pair });
            }
            None => self.ask(Asked::Interval([start, end], pairs)),
        }
        None
    }

    /// The contact that is known, if it is no more than a tolerance after `start`.
    fn near_contact(&self, start: f64) -> Option<(f64, BodyPair)> {
        self.contact.filter(|(at, _)| at - start <= self.question.tolerance)
    }

    /// The end of the widest bracket, rounded down, so that it is no wider than the tolerance.
    fn last_of(&self, start: f64) -> f64 {
        (start + self.question.tolerance).next_down().max(start).min(1.0)
    }

    /// An interval is too short to be halved.
    fn ended(&mut self, [start, end]: [f64; 2], pair: BodyPair) -> Option<EdgeAnswer> {
        if start <= 0.0 && !self.is_start_free {
            self.ask(Asked::Start(Some(pair)));
        } else {
            self.ask(Asked::Last([start, self.last_of(start).max(end)], pair));
        }
        None
    }

    /// Looks at a configuration: which pairs may meet within `half` of it.
    fn look(
        &mut self,
        stand: &mut Stand<'_>,
        half: f64,
        pairs: Option<Vec<EdgePair>>,
        effort: &mut Effort<'_>,
    ) -> Result<Looked, Stopped> {
        self.speeds.velocities(stand, &mut self.velocities);
        let candidates = match pairs {
            Some(pairs) => pairs,
            None => self.all_candidates(stand, half),
        };
        let mut near = Vec::new();
        for pair in candidates {
            let within = self.reach(stand, pair.movers, half);
            if stand.bound_of(pair.bodies, within) > within {
                continue;
            }
            // Nothing but the verdict is asked of a pair that is nearer; a margin needs more.
            let below = (self.question.margin <= 0.0).then_some(within);
            let stops = Stops { above: Some(within), below };
            let distance = stand.distance(pair.bodies, stops, effort)?;
            let is_separated = distance.decision.verdict() == Verdict::Separated;
            if is_separated && distance.lower > within {
                continue;
            }
            if let (true, Some(why)) = (is_separated, distance.stopped) {
                return Err(why);
            }
            if !is_separated || distance.upper <= self.question.margin {
                return Ok(Looked::Contact(pair.bodies));
            }
            near.push(pair);
        }
        Ok(if near.is_empty() { Looked::Free } else { Looked::Near(near) })
    }

    /// Every pair that the bounds of bodies and of their motion leave.
    fn all_candidates(&mut self, stand: &mut Stand<'_>, half: f64) -> Vec<EdgePair> {
        let cell = self.cell;
        let mut found = Vec::new();
        let mut motions = Vec::with_capacity(cell.links.len());
        for link in 0..cell.links.len() {
            let motion = self.link_motion(stand, link, half);
            motions.push(motion);
            if cell.links[link].frame.is_some() {
                let movers = EdgeMovers::Link(link);
                stand.near_still(link, self.within(motion), |bodies| {
                    found.push(EdgePair { bodies, movers });
                });
            }
        }
        for (index, [a, b]) in cell.link_pairs.iter().enumerate() {
            let ((p, r), (q, s)) = (stand.link_ball(*a), stand.link_ball(*b));
            let squared = (p - q).norm_squared();
            let is_apart = |within: f64| squared > (r + s + within) * (r + s + within);
            if is_apart(self.within(motions[*a] + motions[*b])) {
                continue;
            }
            let movers = EdgeMovers::LinkPair(index);
            let within = self.reach(stand, movers, half);
            if is_apart(within) {
                continue;
            }
            for i in cell.links[*a].parts.clone() {
                for k in cell.links[*b].parts.clone() {
                    let bodies = Stand::numbers(i, k);
                    if stand.bound_of(bodies, within) <= within {
                        found.push(EdgePair { bodies, movers });
                    }
                }
            }
        }
        found
    }

    fn within(&self, motion: f64) -> f64 {
        (motion + self.question.margin) * (1.0 + BOUND_SLACK)
    }

    /// How far apart two bodies have to be, in the middle of an interval, to be free on all of it.
    fn reach(&mut self, stand: &Stand<'_>, movers: EdgeMovers, half: f64) -> f64 {
        let motion = match movers {
            EdgeMovers::Link(link) => self.link_motion(stand, link, half),
            EdgeMovers::LinkPair(index) => {
                let two = self.cell.link_pairs[index];
                let common = self.common[index];
                let (cell, speeds) = (self.cell, &self.speeds);
                let bounds = *self.pairs[index].get_or_insert_with(|| {
                    two.map(|link| speeds.bound(cell, &cell.links[link], common))
                });
                let seen = [(two[0], bounds[0]), (two[1], bounds[1])];
                let of = |(link, bound): &(usize, MotionBound)| {
                    self.motion(stand, *link, SeenMotion { seen_from: common, bound }, half)
                };
                seen.iter().map(of).sum()
            }
        };
        self.within(motion)
    }

    fn link_motion(&self, stand: &Stand<'_>, link: usize, half: f64) -> f64 {
        self.motion(stand, link, SeenMotion { seen_from: None, bound: &self.links[link] }, half)
    }

    /// How far any point of a link may be within `half` from where it is computed to be now, as
    /// seen from a frame.
    fn motion(&self, stand: &Stand<'_>, link: usize, seen: SeenMotion<'_>, half: f64) -> f64 {
        let SeenMotion { seen_from, bound } = seen;
        let frame = match self.cell.links[link].frame {
            Some(frame) if bound.speed > 0.0 => frame,
            _ => return bound.rounding,
        };
        let (centre, radius) = stand.link_ball(link);
        let mut seen = self.velocities[frame].at(&centre);
        if let Some(other) = seen_from {
            let carrier = self.velocities[other].at(&centre);
            seen = [seen[0] - carrier[0], seen[1] - carrier[1]];
        }
        // The velocities round by less than this part of the greatest speed in the world.
        let rounding = self.links[link].speed * BOUND_SLACK;
        let now = seen[0].norm() + seen[1].norm() * radius + rounding;
        let second = half * (now + 0.5 * half * bound.acceleration);
        (half * bound.speed).min(second) * (1.0 + BOUND_SLACK) + bound.rounding
    }
}
