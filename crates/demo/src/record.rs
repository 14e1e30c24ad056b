//! What the run was told, frame by frame: clearances, contacts, verdicts, cost and latency.

use std::collections::BTreeMap;
use std::time::Duration;

use clearance_client::api;

/// Frames a second.
pub(crate) const RATE_HZ: f64 = 100.0;

/// The first body id of an obstacle; links have lower ones.
pub(crate) const FIRST_OBSTACLE: u32 = 100;

/// A link and what it is near or in contact with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Couple {
    /// Body id of the link.
    pub(crate) link: u32,
    /// Body id of the obstacle, or of another link.
    pub(crate) other: u32,
}

/// A contact from its beginning to its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ContactSpan {
    pub(crate) couple: Couple,
    /// Frame at or before which it began.
    pub(crate) frame: u64,
    /// When it began, as a bracket in seconds.
    pub(crate) began_s: [f64; 2],
    /// When it was over, as far as frames tell; none: not before the end of the run.
    pub(crate) ended_s: Option<f64>,
    /// Separated in the frame before and in the frame after: sampling alone would have missed it.
    pub(crate) is_between_frames: bool,
}

/// How near the nearest thing is to a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clearance {
    /// From everything that stands around, metres.
    pub(crate) obstacles_m: f64,
    /// From the robot's other links, metres; infinite when none is checked.
    pub(crate) robot_m: f64,
}

/// The least clearance of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Least {
    pub(crate) clearance_m: f64,
    pub(crate) other: u32,
    pub(crate) time_s: f64,
}

/// Everything that the reports said.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// One row a frame: the least clearance of every link, by position in `links`.
    pub(crate) clearances: Vec<Vec<Clearance>>,
    /// By position in `links`.
    pub(crate) least: Vec<Option<Least>>,
    pub(crate) contacts: Vec<ContactSpan>,
    pub(crate) counts: api::VerdictCounts,
    pub(crate) cost: api::Cost,
    pub(crate) pairs_looked_at: u64,
    pub(crate) pairs_skipped: u64,
    pub(crate) latencies: Vec<Duration>,
    /// Body ids of the links that move.
    links: Vec<u32>,
    open: BTreeMap<Couple, usize>,
}

/// A report that does not say what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// The frame was refused.
    #[error("frame {0} was refused: {1}")]
    Refused(u64, String),
    /// The packed arrays do not agree.
    #[error("frame {0}: packed arrays of different lengths")]
    Lengths(u64),
}

impl Record {
    /// Nothing yet, for links with these body ids.
    pub(crate) fn new(links: Vec<u32>) -> Self {
        Self { least: vec![None; links.len()], links, ..Self::default() }
    }

    /// Takes in the report of one frame. Frame 1 is the start of the motion.
    pub(crate) fn add(
        &mut self,
        report: &api::FrameReport,
        latency: Duration,
    ) -> Result<(), Unreadable> {
        if let Some(status) = &report.status {
            return Err(Unreadable::Refused(report.frame_id, status.message.clone()));
        }
        let time_s = seconds(report.frame_id);
        self.add_clearances(report, time_s)?;
        for event in &report.events {
            self.add_event(report, event);
        }
        if let Some(counts) = &report.counts {
            self.counts.separated += counts.separated;
            self.counts.touching += counts.touching;
            self.counts.overlapping += counts.overlapping;
            self.counts.undecided += counts.undecided;
        }
        if let Some(cost) = &report.cost {
            self.pairs_looked_at += cost.pairs_looked_at;
            self.pairs_skipped += cost.pairs_skipped;
            if let Some(sum) = &cost.sum {
                self.cost.steps += sum.steps;
                self.cost.supports += sum.supports;
                self.cost.exact_stages += sum.exact_stages;
                self.cost.witness_hits += sum.witness_hits;
                self.cost.queries += sum.queries;
            }
        }
        self.latencies.push(latency);
        Ok(())
    }

    fn add_clearances(&mut self, report: &api::FrameReport, time_s: f64) -> Result<(), Unreadable> {
        let far = Clearance { obstacles_m: f64::INFINITY, robot_m: f64::INFINITY };
        let mut row = vec![far; self.links.len()];
        let empty = api::PackedPairs::default();
        let pairs = report.packed_pairs.as_deref().unwrap_or(&empty);
        if pairs.a.len() != pairs.b.len() || pairs.a.len() != pairs.distance_lower.len() {
            return Err(Unreadable::Lengths(report.frame_id));
        }
        for ((a, b), clearance_m) in pairs.a.iter().zip(&pairs.b).zip(&pairs.distance_lower) {
            for (body, other) in [(a, b), (b, a)] {
                let Ok(link) = self.links.binary_search(body) else { continue };
                let is_link = *other < FIRST_OBSTACLE;
                let Clearance { obstacles_m, robot_m } = &mut row[link];
                let least_m = if is_link { robot_m } else { obstacles_m };
                *least_m = least_m.min(*clearance_m);
                let is_less = self.least[link].is_none_or(|least| *clearance_m < least.clearance_m);
                if is_less {
                    self.least[link] =
                        Some(Least { clearance_m: *clearance_m, other: *other, time_s });
                }
            }
        }
        self.clearances.push(row);
        Ok(())
    }

    fn add_event(&mut self, report: &api::FrameReport, event: &api::ContactEvent) {
        let [link, other] =
            if event.a < FIRST_OBSTACLE { [event.a, event.b] } else { [event.b, event.a] };
        let couple = Couple { link, other };
        // Time in an event is a fraction of the step from the frame answered before.
        let (from, to) = (seconds(report.previous_frame_id), seconds(report.frame_id));
        let at = |t: f64| from + t * (to - from);
        let time = event.time.unwrap_or(api::Bracket { lower: 1.0, upper: 1.0 });
        match event.kind() {
            api::ContactEventKind::Began => {
                self.open.insert(couple, self.contacts.len());
                self.contacts.push(ContactSpan {
                    couple,
                    frame: report.frame_id,
                    began_s: [at(time.lower), at(time.upper)],
                    ended_s: None,
                    is_between_frames: event.verdict() == api::Verdict::Separated,
                });
            }
            api::ContactEventKind::Ended => {
                if let Some(index) = self.open.remove(&couple) {
                    self.contacts[index].ended_s = Some(to);
                }
            }
            api::ContactEventKind::Undecided | api::ContactEventKind::Unspecified => {}
        }
    }

    /// The latency that this share of the frames stays below.
    pub(crate) fn latency(&self, share: f64) -> Duration {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
        sorted.get(rank.min(sorted.len()) - 1).copied().unwrap_or_default()
    }

    /// Pairs with a verdict, over all frames.
    pub(crate) fn verdicts(&self) -> u64 {
        self.counts.separated + self.counts.touching + self.counts.overlapping
    }

    /// Contacts that sampling alone would have missed.
    pub(crate) fn missed(&self) -> impl Iterator<Item = &ContactSpan> {
        self.contacts.iter().filter(|contact| contact.is_between_frames)
    }
}

/// The time of a frame; frame 1 is at 0.
pub(crate) fn seconds(frame_id: u64) -> f64 {
    frame_id.saturating_sub(1) as f64 / RATE_HZ
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: api::ContactEventKind, b: u32, t: f64, now: api::Verdict) -> api::ContactEvent {
        api::ContactEvent {
            kind: kind.into(),
            a: 5,
            b,
            time: Some(api::Bracket { lower: t, upper: t }),
            verdict: now.into(),
            ..api::ContactEvent::default()
        }
    }

    fn report(frame_id: u64, events: Vec<api::ContactEvent>, gap: f64) -> api::FrameReport {
        api::FrameReport {
            frame_id,
            previous_frame_id: frame_id - 1,
            events,
            packed_pairs: Some(Box::new(api::PackedPairs {
                a: vec![4, 5],
                b: vec![100, 101],
                distance_lower: vec![0.3, gap],
                ..api::PackedPairs::default()
            })),
            ..api::FrameReport::default()
        }
    }

    #[test]
    fn a_contact_with_both_frames_separated_counts_as_between_frames() {
        use api::{ContactEventKind as Kind, Verdict};
        let mut record = Record::new(vec![4, 5]);
        let mut add = |report| record.add(&report, Duration::from_millis(1)).unwrap();
        let graze = vec![
            event(Kind::Began, 101, 0.25, Verdict::Separated),
            event(Kind::Ended, 101, 0.5, Verdict::Separated),
        ];
        add(report(3, graze, 0.1));
        add(report(4, vec![event(Kind::Began, 101, 0.5, Verdict::Overlapping)], 0.0));
        add(report(5, vec![event(Kind::Ended, 101, 1.0, Verdict::Separated)], 0.2));
        assert_eq!(record.missed().count(), 1);
        let [first, second] = &record.contacts[..] else { panic!("two contacts") };
        assert!(first.is_between_frames && (first.began_s[0] - 0.0125).abs() < 1e-15);
        assert!(!second.is_between_frames && second.ended_s == Some(0.04));
        let rows: Vec<String> = record
            .clearances
            .iter()
            .map(|row| format!("{} {} {}", row[0].obstacles_m, row[1].obstacles_m, row[1].robot_m))
            .collect();
        assert_eq!(rows, ["0.3 0.1 inf", "0.3 0 inf", "0.3 0.2 inf"]);
        let least = record.least[1].unwrap();
        assert_eq!((least.other, least.clearance_m > 0.0), (101, false));
        assert_eq!(format!("{}", least.time_s), "0.03");
    }

    #[test]
    fn percentiles_are_ranks_of_what_was_measured() {
        let mut record = Record::new(Vec::new());
        record.latencies = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(record.latency(0.5), Duration::from_millis(50));
        assert_eq!(record.latency(0.99), Duration::from_millis(99));
        assert_eq!(record.latency(1.0), Duration::from_millis(100));
    }
}
