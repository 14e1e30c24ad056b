//! What a report tells of verdicts, events and times, and where two runs differ.

use clearance_proto as api;

/// A pair of bodies.
pub(crate) type Pair = (u32, u32);

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) pair: Pair,
    pub(crate) kind: api::ContactEventKind,
    pub(crate) verdict: api::Verdict,
    /// The bracket.
    pub(crate) time: [f64; 2],
    unordered: bool,
}

impl Event {
    /// What is the same however it was found out.
    fn meaning(&self) -> (Pair, i32, i32) {
        (self.pair, self.kind.into(), self.verdict.into())
    }

    /// Everything, to the last bit.
    fn bits(&self) -> ((Pair, i32, i32), [u64; 2], bool) {
        (self.meaning(), self.time.map(f64::to_bits), self.unordered)
    }
}

/// What one report tells.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) frame: u64,
    /// How many pairs are separated, touching, overlapping and undecided.
    pub(crate) counts: [u64; 4],
    /// The pairs in contact, in the order of the report; missing: not asked for.
    pub(crate) contacts: Option<Vec<(Pair, u8)>>,
    /// In the order of the report.
    pub(crate) events: Vec<Event>,
}

/// How much of two runs has to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sameness {
    /// Verdicts and events; the brackets of their times have to meet.
    Meaning,
    /// All of it to the last bit, the order of events included.
    Bits,
}

impl Told {
    /// Reads a report that is whole.
    pub(crate) fn read(report: &api::FrameReport) -> Result<Self, String> {
        let frame = report.frame_id;
        if let Some(status) = &report.status {
            return Err(format!("frame {frame}: {status:?}"));
        }
        let is_whole = !report.cut
            && report.omitted_pairs == 0
            && report.refused_items.is_empty()
            && report.stopped() == api::Stopped::Unspecified;
        if !is_whole {
            return Err(format!("frame {frame}: the report is not whole"));
        }
        let counts = report.counts.unwrap_or_default();
        let contacts = report.packed_pairs.as_ref().map(|pairs| {
            let all = pairs.a.iter().zip(&pairs.b).zip(pairs.verdicts.iter());
            let all = all.map(|((a, b), verdict)| ((*a, *b), *verdict));
            all.filter(|(_, verdict)| i32::from(*verdict) != api::Verdict::Separated as i32)
                .collect()
        });
        let event = |event: &api::ContactEvent| Event {
            pair: (event.a, event.b),
            kind: event.kind(),
            verdict: event.verdict(),
            time: event.time.as_ref().map_or([0.0; 2], |time| [time.lower, time.upper]),
            unordered: event.unordered,
        };
        Ok(Self {
            frame,
            counts: [counts.separated, counts.touching, counts.overlapping, counts.undecided],
            contacts,
            events: report.events.iter().map(event).collect(),
        })
    }

    /// By pair; two events of one pair stay in their order.
    fn sorted(&self) -> Vec<Event> {
        let mut events = self.events.clone();
        events.sort_by_key(|event| event.pair);
        events
    }

    /// The first thing that differs.
    pub(crate) fn difference(&self, other: &Self, sameness: Sameness) -> Option<String> {
        let frame = self.frame;
        if self.frame != other.frame {
            return Some(format!("frame {frame} in place of {}", other.frame));
        }
        if let (Some(these), Some(those)) = (&self.contacts, &other.contacts)
            && these != those
        {
            let odd = these.iter().find(|one| !those.contains(one));
            let odd = odd.or_else(|| those.iter().find(|one| !these.contains(one)));
            return Some(format!("frame {frame}: the verdict of (pair, verdict) {odd:?}"));
        }
        let (these, those) = (self.sorted(), other.sorted());
        if these.len() != those.len()
            || these.iter().zip(&those).any(|(a, b)| a.meaning() != b.meaning())
        {
            let at = these.iter().zip(&those).position(|(a, b)| a.meaning() != b.meaning());
            let at = at.unwrap_or(these.len().min(those.len()));
            let (a, b) = (these.get(at), those.get(at));
            return Some(format!("frame {frame}: the event {a:?} in place of {b:?}"));
        }
        if self.counts != other.counts {
            return Some(format!("frame {frame}: counts {:?}, {:?}", self.counts, other.counts));
        }
        let are_apart = |a: &Event, b: &Event| a.time[0].max(b.time[0]) > a.time[1].min(b.time[1]);
        if let Some((a, b)) = these.iter().zip(&those).find(|(a, b)| are_apart(a, b)) {
            return Some(format!("frame {frame}: the times of {a:?} and {b:?} do not meet"));
        }
        if sameness == Sameness::Meaning {
            return None;
        }
        let mut both = self.events.iter().zip(&other.events);
        let (a, b) = both.find(|(a, b)| a.bits() != b.bits())?;
        Some(format!("frame {frame}: a time or the order of {a:?} in place of {b:?}"))
    }
}

/// The hashes of a run (FNV-1a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hashes {
    /// Of counts and events, without times.
    pub(crate) events: u64,
    /// Of the verdicts of listed pairs.
    pub(crate) verdicts: u64,
    /// Of events, their order and times, to the last bit.
    pub(crate) times: u64,
}

impl Hashes {
    /// Of these reports, one after the other.
    pub(crate) fn of(run: &[Told]) -> Self {
        let [mut events, mut verdicts, mut times] = [0xcbf2_9ce4_8422_2325; 3];
        for told in run {
            add(&mut events, told.counts);
            for event in told.sorted() {
                let ((a, b), kind, verdict) = event.meaning();
                add(&mut events, [told.frame, a.into(), b.into()]);
                add(&mut events, [kind, verdict].map(|name| u64::from(name.unsigned_abs())));
            }
            for ((a, b), verdict) in told.contacts.iter().flatten() {
                add(&mut verdicts, [told.frame, (*a).into(), (*b).into(), (*verdict).into()]);
            }
            for event in &told.events {
                let (((a, b), kind, _), time, unordered) = event.bits();
                let kind = u64::from(kind.unsigned_abs());
                add(&mut times, [told.frame, a.into(), b.into(), kind, time[0], time[1]]);
                add(&mut times, [unordered.into()]);
            }
        }
        Self { events, verdicts, times }
    }

    /// Puts those of another scene behind these.
    pub(crate) fn join(&mut self, other: Self) {
        add(&mut self.events, [other.events]);
        add(&mut self.verdicts, [other.verdicts]);
        add(&mut self.times, [other.times]);
    }

    /// All of them in one.
    pub(crate) fn one(self) -> u64 {
        let mut one = self.events;
        add(&mut one, [self.verdicts, self.times]);
        one
    }
}

fn add<const N: usize>(hash: &mut u64, numbers: [u64; N]) {
    for byte in numbers.iter().flat_map(|number| number.to_le_bytes()) {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}
