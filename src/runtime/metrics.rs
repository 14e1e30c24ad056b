//! Counters of what the server does, by question.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::geometry::effort::Cost;

/// The kinds of question that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    /// Whether two bodies are separated, touching or overlapping.
    Collision,
    /// The distance of two bodies.
    Distance,
    /// The distance along a direction.
    DistanceAlong,
    /// The penetration depth.
    Penetration,
    /// The first contact of two moving bodies.
    FirstContact,
    /// The first contact among several moving bodies.
    FirstCollision,
    /// All of that about the pairs of a session, for one frame.
    Frame,
}

impl QuestionKind {
    /// Every question, in the order of [`Metrics::by_question`].
    pub const ALL: [Self; 7] = [
        Self::Collision,
        Self::Distance,
        Self::DistanceAlong,
        Self::Penetration,
        Self::FirstContact,
        Self::FirstCollision,
        Self::Frame,
    ];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collision => "check_collision",
            Self::Distance => "measure_distance",
            Self::DistanceAlong => "measure_distance_along",
            Self::Penetration => "measure_penetration",
            Self::FirstContact => "find_first_contact",
            Self::FirstCollision => "find_first_collision",
            Self::Frame => "session_frame",
        }
    }
}

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was answered in full.
    Answered,
    /// Its budget or deadline ran out, or it gave up; the answer says how far it came.
    Stopped,
    /// It got a status.
    Refused,
}

/// Counters of one question.
#[derive(Debug, Default)]
pub struct QuestionMetrics {
    /// Answered in full.
    pub answered: AtomicU64,
    /// Stopped by a budget or a deadline, or given up.
    pub stopped: AtomicU64,
    /// Refused with a status.
    pub refused: AtomicU64,
    /// Searches; a frame has one and more for each pair.
    pub queries: AtomicU64,
    /// Searches that the filter left to exact arithmetic.
    pub exact_stages: AtomicU64,
    /// Searches that a witness answered.
    pub witness_hits: AtomicU64,
    /// Steps of searches.
    pub steps: AtomicU64,
    /// Supporting-vertex searches.
    pub supports: AtomicU64,
}

/// Counters that only grow.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Calls that were answered with a status other than OK.
    pub failures: AtomicU64,
    /// Calls that were answered.
    pub calls: AtomicU64,
    /// In the order of [`QuestionKind::ALL`].
    pub by_question: [QuestionMetrics; QuestionKind::ALL.len()],
}

impl Metrics {
    /// Adds what a question or a frame cost.
    pub fn add(&self, asked: QuestionKind, cost: &Cost) {
        let counters = &self.by_question[asked as usize];
        let sums = [
            (&counters.queries, cost.queries),
            (&counters.exact_stages, cost.exact_stages),
            (&counters.witness_hits, cost.witness_hits),
            (&counters.steps, cost.steps),
            (&counters.supports, cost.supports),
        ];
        for (counter, amount) in sums {
            counter.fetch_add(amount, Ordering::Relaxed);
        }
    }

    /// Counts a question by what became of it.
    pub fn count(&self, asked: QuestionKind, ending: Ending) {
        let counters = &self.by_question[asked as usize];
        let counter = match ending {
            Ending::Answered => &counters.answered,
            Ending::Stopped => &counters.stopped,
            Ending::Refused => &counters.refused,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_counts_in_its_own_place() {
        for (place, asked) in QuestionKind::ALL.into_iter().enumerate() {
            assert_eq!(asked as usize, place);
        }
    }
}
