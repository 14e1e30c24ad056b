//! Counters of what the server does, by question.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::geometry::effort::Cost;

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// How two bodies stand.
    Collision,
    /// How far apart.
    Distance,
    /// How far along a direction.
    DistanceAlong,
    /// How deep.
    Penetration,
    /// When.
    FirstContact,
    /// Which of several, and when.
    FirstCollision,
    /// All of that about the pairs of a session.
    Frame,
}

impl Asked {
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
    /// In full.
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
    /// Of these, left to exact arithmetic by the filter.
    pub exact_stages: AtomicU64,
    /// Of these, answered by a witness.
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
    /// In the order of [`Asked::ALL`].
    pub by_question: [QuestionMetrics; Asked::ALL.len()],
}

impl Metrics {
    /// Adds what a question or a frame cost.
    pub fn add(&self, asked: Asked, cost: &Cost) {
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
    pub fn count(&self, asked: Asked, ending: Ending) {
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
        for (place, asked) in Asked::ALL.into_iter().enumerate() {
            assert_eq!(asked as usize, place);
        }
    }
}
