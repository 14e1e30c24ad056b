//! Straight paths in the joint values: proven free, or the first contact in a bracket, along the
//! true motion of the chain.
//!
//! The path is cut and halved. In the middle of an interval of t no point of a link is farther from
//! where it is at any other time of it than [`super::speed`] says; a pair that is farther apart
//! than that, and than the rounding of the kinematics, is free on the whole closed interval, and
//! gone for its halves. Intervals are taken from the start on, so what is proven is a prefix of the
//! path. A middle in contact, exactly, is the end of the path: what comes after it does not matter.
//! The start is looked at as soon as the first piece is not free as a whole: many edges of a
//! planner end there. If any contact is an answer, the start and the end are looked at before all,
//! and the pieces are taken in an order that finds one sooner.
//!
//! Four edges are looked at side by side, each at its own next middle, since four configurations
//! are placed for the price of one. Each goes its own way, so company changes no answer.

mod faces;
mod search;

use self::search::EdgeSearch;
use super::cell::{BodyPair, Cell};
use super::kinematics::ConfigurationError;
use super::pairing::PairScope;
use super::speed::PathSpeeds;
use super::stand::{Block, LANES, Poses};
use clearance_geometry::effort::{Effort, Stopped};

/// What is asked of every edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EdgeQuestion {
    /// A pair that is within this distance counts as in contact, metres; below 0 one that overlaps
    /// at least so deep. See [`asked_margin`](super::claim::asked_margin) for pairs with their own.
    pub margin: f64,
    /// Width of the bracket of a contact, in t.
    pub tolerance: f64,
    /// Steps of the search for one edge, about: the one that is under way is ended.
    pub steps_max: u64,
    /// Which of the pairs that are checked are asked.
    pub scope: PairScope,
    /// Whether any contact on the way is an answer: it need not be the first one, and is not
    /// bracketed.
    pub any_contact: bool,
}

/// An end that places nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct BadEnd {
    /// 0 for the start, 1 for the end.
    pub end: usize,
    /// Why.
    pub error: ConfigurationError,
}

/// What became of an edge; t is 0 at its start and 1 at its end.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgeAnswer {
    /// No pair is within the margin at any t in [0, 1], along the true path.
    Free,
    /// Free on [0, `free_until`], and in contact at `contact_at` in the configuration rounded to
    /// f64; or at the start.
    Contact {
        /// See above; 0 if any contact is an answer.
        free_until: f64,
        /// At most a tolerance later, unless any contact is an answer.
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
    Bad(BadEnd),
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

impl EdgeAnswer {
    /// The same about bodies by their names, where whoever declared the cell has some.
    fn named(mut self, cell: &Cell) -> Self {
        match &mut self {
            Self::Contact { pair, .. } | Self::Undecided { pair, .. } => *pair = cell.named(*pair),
            Self::Free | Self::Bad(_) | Self::Turns | Self::Stopped { .. } => {}
        }
        self
    }
}

/// Configurations that an edge is looked at in, about.
const LOOKS_OF_EDGE: usize = 6;
/// Joint speeds of an edge, radians and metres in sum, that a first piece has at most.
const PIECE_LENGTH: f64 = 0.5;
/// First pieces of an edge at most.
const PIECES_MAX: f64 = 1024.0;

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
        let edges = from.chunks_exact(width).zip(to.chunks_exact(width));
        let mut edges = edges.map(|(from, to)| [from, to]).enumerate();
        let mut answers: Vec<Option<EdgeAnswer>> = vec![None; edges.len()];
        self.still.expect(LOOKS_OF_EDGE * edges.len());
        let (mut block, mut poses) = (Block::default(), Poses::default());
        let mut lanes: [EdgeLane<'_>; LANES] = std::array::from_fn(|_| EdgeLane {
            search: EdgeSearch::new(self, question),
            edge: None,
        });
        loop {
            for lane in &mut lanes {
                while lane.edge.is_none() {
                    let Some((index, ends)) = edges.next() else { break };
                    match self.begin(&mut lane.search, ends) {
                        Some(answer) => answers[index] = Some(answer),
                        None => lane.edge = Some(index),
                    }
                }
            }
            let Some(spare) = lanes.iter().position(|lane| lane.edge.is_some()) else { break };
            let busy = |lane: usize| if lanes[lane].edge.is_some() { lane } else { spare };
            let values = std::array::from_fn(|lane| lanes[busy(lane)].search.values());
            block.place(self, &values);
            for (at, lane) in lanes.iter_mut().enumerate() {
                let Some(index) = lane.edge else { continue };
                let mut stand = block.stand(self, at, &mut poses);
                stand.scope = question.scope;
                if let Some(answer) = lane.search.step(&mut stand, effort) {
                    answers[index] = Some(answer);
                    lane.edge = None;
                }
            }
        }
        answers.into_iter().flatten().map(|answer| answer.named(self)).collect()
    }

    /// Prepares the search; or says at once what is to be said.
    fn begin<'a>(&self, search: &mut EdgeSearch<'a>, ends: [&'a [f64]; 2]) -> Option<EdgeAnswer> {
        for (end, values) in ends.into_iter().enumerate() {
            if let Err(error) = self.kinematics.check(values) {
                return Some(EdgeAnswer::Bad(BadEnd { end, error }));
            }
        }
        match PathSpeeds::new(self, ends) {
            Some(speeds) => search.begin(ends, speeds),
            None => return Some(EdgeAnswer::Turns),
        }
        None
    }
}

/// A place for an edge.
struct EdgeLane<'a> {
    search: EdgeSearch<'a>,
    /// The index of the edge that is looked at; none: the place is free.
    edge: Option<usize>,
}

/// How many pieces a path is cut into at first.
pub(super) fn pieces_of(speeds: &PathSpeeds) -> f64 {
    (speeds.total() / PIECE_LENGTH).ceil().clamp(1.0, PIECES_MAX)
}

/// The joint value at t, each end exactly.
pub(super) fn value_at(from: f64, to: f64, t: f64) -> f64 {
    if t >= 1.0 { to } else { from + t * (to - from) }
}
