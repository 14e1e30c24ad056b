//! Straight paths in the joint values: proven free, or the first contact in a bracket, along the
//! true motion of the chain.
//!
//! The path is cut and halved. In the middle of an interval of t no point of a link is farther from
//! where it is at any other time of it than [`super::speed`] says; a pair that is farther apart
//! than that, and than the rounding of the kinematics, is free on the whole closed interval, and
//! gone for its halves. Intervals are taken from the start on, so what is proven is a prefix of the
//! path. A middle in contact, exactly, is the end of the path: what comes after it does not matter.

use super::cell::{BodyPair, Cell, CellLink};
use super::kinematics::ConfigurationError;
use super::speed::{MotionBound, PathSpeeds, common_frame};
use super::stand::{Block, LANES, Poses, Stand};
use crate::geometry::claim::Verdict;
use crate::geometry::distance::Stops;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::number::rounding::BOUND_SLACK;

/// What is asked of every edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeQuestion {
    /// A pair within this distance counts as in contact, metres.
    pub margin: f64,
    /// Intervals of t that are shorter than this are not halved.
    pub tolerance: f64,
}

/// What became of an edge; t is 0 at its start and 1 at its end.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgeAnswer {
    /// No pair is within the margin at any t in [0, 1], along the true path.
    Free,
    /// Free on [0, `free_until`], and in contact at `contact_at` in the configuration rounded to
    /// f64; or at the start.
    Contact {
        /// See above.
        free_until: f64,
        /// At most a tolerance later.
        contact_at: f64,
        /// Which pair.
        pair: BodyPair,
    },
    /// Free on [0, `free_until`], and then nearer than the tolerance resolves.
    Undecided {
        /// See above.
        free_until: f64,
        /// A pair that is too near.
        pair: BodyPair,
    },
    /// An end places nothing.
    Bad(ConfigurationError),
    /// A quaternion of a floating joint changes: that is no straight path.
    Turns,
    /// The budget was spent or the time over; free on [0, `free_until`].
    Stopped {
        /// See above.
        free_until: f64,
        /// What ended it.
        why: Stopped,
    },
}

/// Joint speeds of an edge, radians and metres in sum, that a first piece has at most.
const PIECE_LENGTH: f64 = 0.5;
/// The part of the tolerance down to which intervals are halved. Just before a contact nothing is
/// proven free, for as much longer than an interval as the motion bound exceeds the true speed:
/// this leaves the tolerance room for a factor of about its inverse.
const FINEST: f64 = 1.0 / 64.0;
/// First pieces of an edge at most.
const PIECES_MAX: f64 = 1024.0;

/// Bounds of a link, or of a link seen from a frame.
#[derive(Clone, Copy, Debug)]
struct SeenLink {
    link: usize,
    seen_from: Option<usize>,
    bound: MotionBound,
}

/// One edge on the way to its answer.
struct EdgeSearch<'a> {
    cell: &'a Cell,
    ends: [&'a [f64]; 2],
    question: EdgeQuestion,
    speeds: PathSpeeds,
    /// Of every link, seen from the world.
    links: Vec<SeenLink>,
    /// Of every pair of links, each seen from the frame that carries both.
    link_pairs: Vec<[SeenLink; 2]>,
    values: Vec<f64>,
}

/// A part of the path that is not proven yet, with the pairs that may meet on it; none: all pairs.
struct OpenInterval {
    t: [f64; 2],
    pairs: Option<Vec<EdgePair>>,
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

impl Cell {
    /// Answers about every edge: from the configurations in `from` to those in `to`, each as many
    /// numbers as [`Cell::variable_count`] says.
    pub fn check_edges(
        &self,
        question: EdgeQuestion,
        [from, to]: [&[f64]; 2],
        effort: &mut Effort<'_>,
    ) -> Vec<EdgeAnswer> {
        let width = self.variable_count().max(1);
        let mut memory = (Block::default(), Poses::default());
        let edges = from.chunks_exact(width).zip(to.chunks_exact(width));
        edges.map(|(from, to)| self.check_edge(question, [from, to], &mut memory, effort)).collect()
    }

    fn check_edge(
        &self,
        question: EdgeQuestion,
        ends: [&[f64]; 2],
        memory: &mut (Block, Poses),
        effort: &mut Effort<'_>,
    ) -> EdgeAnswer {
        for end in ends {
            if let Err(error) = self.kinematics.check(end) {
                return EdgeAnswer::Bad(error);
            }
        }
        match PathSpeeds::new(self, ends) {
            Some(speeds) => EdgeSearch::new(self, ends, question, speeds).run(memory, effort),
            None => EdgeAnswer::Turns,
        }
    }
}

impl<'a> EdgeSearch<'a> {
    fn new(
        cell: &'a Cell,
        ends: [&'a [f64]; 2],
        question: EdgeQuestion,
        speeds: PathSpeeds,
    ) -> Self {
        let seen = |link: usize, seen_from: Option<usize>| {
            let bound = speeds.bound(cell, &cell.links[link], seen_from);
            SeenLink { link, seen_from, bound }
        };
        let links = (0..cell.links.len()).map(|link| seen(link, None)).collect();
        let pairs = cell.link_pairs.iter().map(|pair| {
            let of: [&CellLink; 2] = pair.map(|link| &cell.links[link]);
            let common = common_frame(cell, of);
            pair.map(|link| seen(link, common))
        });
        let link_pairs = pairs.collect();
        Self { cell, ends, question, speeds, links, link_pairs, values: Vec::new() }
    }

    fn run(mut self, memory: &mut (Block, Poses), effort: &mut Effort<'_>) -> EdgeAnswer {
        let pieces = pieces_of(&self.speeds);
        let mut open = Vec::new();
        let mut piece = pieces;
        while piece >= 1.0 {
            let t = [(piece - 1.0) / pieces, piece / pieces];
            open.push(OpenInterval { t, pairs: None });
            piece -= 1.0;
        }
        let mut contact: Option<(f64, BodyPair)> = None;
        while let Some(interval) = open.pop() {
            let [start, end] = interval.t;
            if let Err(why) = effort.spend_step() {
                return EdgeAnswer::Stopped { free_until: start, why };
            }
            let middle = start + 0.5 * (end - start);
            let half = (middle - start).max(end - middle);
            let looked = self.look(middle, half, interval.pairs, (memory, effort));
            let near = match looked {
                Ok(Looked::Free) => continue,
                Ok(Looked::Near(near)) => near,
                Ok(Looked::Contact(pair)) => {
                    contact = Some((middle, pair));
                    open.clear();
                    // All pairs may meet in the first half: the walk ended at the first contact.
                    open.push(OpenInterval { t: [start, middle], pairs: None });
                    if middle - start > self.question.tolerance * FINEST {
                        continue;
                    }
                    return self.ended([start, middle], contact, (pair, memory), effort);
                }
                Err(why) => return EdgeAnswer::Stopped { free_until: start, why },
            };
            if end - start <= self.question.tolerance * FINEST {
                return self.ended(interval.t, contact, (near[0].bodies, memory), effort);
            }
            open.push(OpenInterval { t: [middle, end], pairs: Some(near.clone()) });
            open.push(OpenInterval { t: [start, middle], pairs: Some(near) });
        }
        match contact {
            None => EdgeAnswer::Free,
            // The last middle in contact was proven free on its left up to the middle itself, which
            // a true path may be, within rounding of it.
            Some((at, pair)) => EdgeAnswer::Contact { free_until: at, contact_at: at, pair },
        }
    }

    /// The answer where an interval is too short to be halved.
    fn ended(
        &mut self,
        [start, end]: [f64; 2],
        contact: Option<(f64, BodyPair)>,
        (pair, memory): (BodyPair, &mut (Block, Poses)),
        effort: &mut Effort<'_>,
    ) -> EdgeAnswer {
        // Contact at the start is contact at 0, exactly.
        if start <= 0.0 {
            match self.look(0.0, 0.0, None, (memory, effort)) {
                Ok(Looked::Contact(pair)) => {
                    return EdgeAnswer::Contact { free_until: 0.0, contact_at: 0.0, pair };
                }
                Ok(Looked::Free | Looked::Near(_)) => {}
                Err(why) => return EdgeAnswer::Stopped { free_until: start, why },
            }
        }
        if let Some((at, pair)) = contact.filter(|(at, _)| at - start <= self.question.tolerance) {
            return EdgeAnswer::Contact { free_until: start, contact_at: at, pair };
        }
        // Rounded down, so that the bracket is no wider than the tolerance.
        let last = (start + self.question.tolerance).next_down().max(end).min(1.0);
        match self.look(last, 0.0, None, (memory, effort)) {
            Ok(Looked::Contact(pair)) => {
                EdgeAnswer::Contact { free_until: start, contact_at: last, pair }
            }
            Ok(Looked::Free | Looked::Near(_)) => EdgeAnswer::Undecided { free_until: start, pair },
            Err(why) => EdgeAnswer::Stopped { free_until: start, why },
        }
    }

    /// Looks at the configuration at t: which pairs may meet within `half` of it.
    fn look(
        &mut self,
        t: f64,
        half: f64,
        pairs: Option<Vec<EdgePair>>,
        ((block, poses), effort): (&mut (Block, Poses), &mut Effort<'_>),
    ) -> Result<Looked, Stopped> {
        let [from, to] = self.ends;
        self.values.clear();
        self.values.extend(from.iter().zip(to).map(|(a, b)| value_at(*a, *b, t)));
        block.place(self.cell, &[&self.values[..]; LANES]);
        let mut stand = block.stand(self.cell, 0, poses);
        let candidates = match pairs {
            Some(pairs) => pairs,
            None => self.all_candidates(&mut stand, half),
        };
        let mut near = Vec::new();
        for pair in candidates {
            let motion = self.motion(&stand, pair.movers, half);
            let within = (motion + self.question.margin) * (1.0 + BOUND_SLACK);
            if stand.bound_of(pair.bodies, within) > within {
                continue;
            }
            let stops = Stops { above: Some(within), below: None };
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
    fn all_candidates(&self, stand: &mut Stand<'_>, half: f64) -> Vec<EdgePair> {
        let of_link = |seen: &SeenLink| self.seen_motion(stand, seen, half);
        let by_link: Vec<f64> = self.links.iter().map(of_link).collect();
        let by_pair: Vec<f64> =
            self.link_pairs.iter().map(|[a, b]| of_link(a) + of_link(b)).collect();
        let margin = self.question.margin;
        let most = by_link.iter().chain(&by_pair).fold(0.0, |a: f64, b| a.max(*b));
        let mut found = Vec::new();
        let within = |motion: f64| (motion + margin) * (1.0 + BOUND_SLACK);
        let walked = stand.candidates(within(most), None, |stand, bodies, clearance| {
            let movers = self.movers(stand.cell, bodies);
            let motion = match movers {
                EdgeMovers::Link(link) => by_link[link],
                EdgeMovers::LinkPair(pair) => by_pair[pair],
            };
            if clearance <= within(motion) {
                found.push(EdgePair { bodies, movers });
            }
            Ok::<f64, Stopped>(within(most))
        });
        debug_assert!(walked.is_ok());
        found
    }

    fn movers(&self, cell: &Cell, [a, b]: BodyPair) -> EdgeMovers {
        let first = cell.link_index(a).unwrap_or_default();
        match cell.link_index(b) {
            None => EdgeMovers::Link(first),
            Some(second) => {
                let is_it = |pair: &[SeenLink; 2]| [pair[0].link, pair[1].link] == [first, second];
                EdgeMovers::LinkPair(self.link_pairs.iter().position(is_it).unwrap_or_default())
            }
        }
    }

    fn motion(&self, stand: &Stand<'_>, movers: EdgeMovers, half: f64) -> f64 {
        match movers {
            EdgeMovers::Link(link) => self.seen_motion(stand, &self.links[link], half),
            EdgeMovers::LinkPair(pair) => {
                let both = self.link_pairs[pair].iter();
                both.map(|seen| self.seen_motion(stand, seen, half)).sum()
            }
        }
    }

    /// How far any point of a link may be within `half` from where it is computed to be now.
    fn seen_motion(&self, stand: &Stand<'_>, seen: &SeenLink, half: f64) -> f64 {
        let bound = &seen.bound;
        if bound.speed <= 0.0 {
            return bound.rounding;
        }
        let now = self.speeds.speed_now(stand, seen.link, (seen.seen_from, bound));
        let second = half * (now + 0.5 * half * bound.acceleration);
        (half * bound.speed).min(second) * (1.0 + BOUND_SLACK) + bound.rounding
    }
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

/// How many pieces a path is cut into at first.
pub(super) fn pieces_of(speeds: &PathSpeeds) -> f64 {
    (speeds.total() / PIECE_LENGTH).ceil().clamp(1.0, PIECES_MAX)
}

/// The joint value at t, each end exactly.
pub(super) fn value_at(from: f64, to: f64, t: f64) -> f64 {
    if t >= 1.0 { to } else { from + t * (to - from) }
}
