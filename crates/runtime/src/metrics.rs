//! Counters of what the server does, by question.

mod calls;
mod times;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub use self::calls::CallMetrics;
pub use self::times::{FRAME_TIMES, Times};
use clearance_geometry::effort::Cost;
use clearance_scene::Counters;

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
    /// What a scene that stands still is asked.
    Scene,
    /// Configurations of a cell.
    Configurations,
    /// Edges of a cell.
    Edges,
    /// A path in a cell.
    Path,
    /// Whether a certificate shows what is claimed.
    Certificate,
}

impl Ending {
    /// What became of a question that was answered or refused; `has_stopped` looks at the answer.
    pub fn of<T, E>(answer: &Result<T, E>, has_stopped: impl FnOnce(&T) -> bool) -> Self {
        match answer {
            Err(_) => Self::Refused,
            Ok(answer) if has_stopped(answer) => Self::Stopped,
            Ok(_) => Self::Answered,
        }
    }
}

impl QuestionKind {
    /// Every question, in the order of [`Metrics::by_question`].
    pub const ALL: [Self; 12] = [
        Self::Collision,
        Self::Distance,
        Self::DistanceAlong,
        Self::Penetration,
        Self::FirstContact,
        Self::FirstCollision,
        Self::Frame,
        Self::Scene,
        Self::Configurations,
        Self::Edges,
        Self::Path,
        Self::Certificate,
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
            Self::Scene => "query_scene",
            Self::Configurations => "check_configurations",
            Self::Edges => "check_edges",
            Self::Path => "check_path",
            Self::Certificate => "verify_certificate",
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
    /// Searches: one for each body, configuration, edge or pair of which something is asked.
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

/// What the frames of all sessions came to, beside their searches.
#[derive(Debug, Default)]
pub struct FrameMetrics {
    /// Frames that were answered.
    pub frames: AtomicU64,
    /// Bodies that moved.
    pub bodies_moved: AtomicU64,
    /// Pairs that were looked at.
    pub pairs_looked_at: AtomicU64,
    /// Pairs of bodies near each other that slept: their verdicts had room left.
    pub pairs_asleep: AtomicU64,
    /// Pairs that were looked at because the room of their verdict was used up.
    pub pairs_expired: AtomicU64,
    /// Time spent on them, nanoseconds.
    pub nanoseconds: AtomicU64,
    /// Frames by the time that they took: at most so long as [`FRAME_TIMES`] says, and the rest.
    pub by_time: [AtomicU64; FRAME_TIMES.len() + 1],
}

impl FrameMetrics {
    /// Adds an answered frame.
    pub fn add(&self, counters: &Counters, elapsed: Duration) {
        let unseen = counters.pairs_skipped + counters.pairs_remembered;
        let sums = [
            (&self.frames, 1),
            (&self.bodies_moved, counters.bodies_moved),
            (&self.pairs_looked_at, counters.pairs_enabled.saturating_sub(unseen)),
            (&self.pairs_asleep, counters.pairs_asleep),
            (&self.pairs_expired, counters.pairs_expired),
            (&self.nanoseconds, u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)),
            (&self.by_time[FRAME_TIMES.partition_point(|time| *time < elapsed)], 1),
        ];
        add_all(sums);
    }
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
    /// The frames of sessions.
    pub frames: FrameMetrics,
    /// Calls by method, and connections.
    pub by_call: CallMetrics,
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
        add_all(sums);
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

/// Adds to each counter. Threads that add to the same one wait for each other, so it is left alone
/// where there is nothing to add.
fn add_all<const N: usize>(sums: [(&AtomicU64, u64); N]) {
    for (counter, amount) in sums.into_iter().filter(|(_, amount)| *amount > 0) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_counted_by_its_time_with_those_that_took_no_longer() {
        let metrics = FrameMetrics::default();
        let counters = Counters { pairs_enabled: 9, pairs_skipped: 4, ..Counters::default() };
        for micros in [0, 10, 11, 2_000_000] {
            metrics.add(&counters, Duration::from_micros(micros));
        }
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        assert_eq!(metrics.by_time.each_ref().map(read), [2, 1, 0, 0, 0, 0, 1]);
        assert_eq!((read(&metrics.frames), read(&metrics.pairs_looked_at)), (4, 20));
        assert_eq!(read(&metrics.nanoseconds), 2_000_021_000);
    }

    #[test]
    fn every_question_counts_in_its_own_place() {
        for (place, asked) in QuestionKind::ALL.into_iter().enumerate() {
            assert_eq!(asked as usize, place);
        }
    }

    /// Ignored, for a busy machine says anything: docs/sizing.md has the figure.
    #[test]
    #[ignore = "measures a time"]
    fn what_counting_a_frame_costs() {
        let (metrics, rounds) = (Metrics::default(), 1_000_000);
        let counters = Counters { bodies_moved: 1, pairs_enabled: 1, ..Counters::default() };
        let cost = Cost { queries: 1, steps: 2, supports: 4, ..Cost::default() };
        let begin = std::time::Instant::now();
        for k in 0..rounds {
            metrics.frames.add(&counters, Duration::from_nanos(k));
            metrics.add(QuestionKind::Frame, &cost);
            metrics.count(QuestionKind::Frame, Ending::Answered);
        }
        println!("{:?} a frame", begin.elapsed() / u32::try_from(rounds).unwrap());
        let begin = std::time::Instant::now();
        for k in 0..rounds {
            let path = "/clearance.v1.SessionService/StepSession";
            metrics.by_call.count(path, "OK", Duration::from_nanos(k));
        }
        println!("{:?} a call", begin.elapsed() / u32::try_from(rounds).unwrap());
    }
}
