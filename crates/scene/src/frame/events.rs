//! Contacts that begin and end: which, their order, and how much of it is known.

use std::collections::BTreeMap;

use crate::declared::body::BodyId;
use crate::declared::question::Questions;
use crate::frame::scene::Scene;
use crate::pair_key::PairKey;
use crate::pairs::answer::{PairAnswer, PairParting};
use crate::pairs::report::{Event, EventKind, PairContact, PartPair};
use crate::unanswered::{Unanswered, go_on, sort_by};
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::until::Until;

/// Sorts by time, then by pair, and marks the events whose bracket meets another's: which of them
/// was first is not known. But contacts that ended because a body left, or the pair was no longer
/// checked, come before all others of their time: what begins under the same ids begins after them.
pub(crate) fn put_in_order(events: &mut [Event], until: &Until) -> Result<(), Unanswered> {
    let stays = |event: &Event| event.kind != EventKind::Ended || event.verdict.is_some();
    sort_by(until, events, |a, b| {
        let starts = a.bracket[0].total_cmp(&b.bracket[0]);
        starts
            .then(stays(a).cmp(&stays(b)))
            .then(a.bracket[1].total_cmp(&b.bracket[1]))
            .then(a.p.cmp(&b.p))
            .then(a.q.cmp(&b.q).then(a.kind.cmp(&b.kind)))
    })?;
    // In order of their starts, a bracket meets an earlier one if the latest end so far reaches it,
    // and a later one if it reaches the next start.
    let mut latest_end = f64::NEG_INFINITY;
    for index in 0..events.len() {
        let [start, end] = events[index].bracket;
        let next_start = events.get(index + 1).map_or(f64::INFINITY, |next| next.bracket[0]);
        events[index].unordered = latest_end >= start || next_start <= end;
        latest_end = latest_end.max(end);
    }
    Ok(())
}

/// What of an answer events are made of.
struct News {
    verdict: Option<Verdict>,
    deciding: Option<PartPair>,
    /// In contact, or near enough for a contact to begin.
    begins: bool,
    beyond_release: Option<bool>,
    way: Option<WayNews>,
    parting: Option<PairParting>,
}

/// What they are made of on the way to the frame.
#[derive(Clone, Copy)]
struct WayNews {
    outcome: Outcome,
    bracket: [f64; 2],
    parts: Option<PartPair>,
}

impl News {
    fn of(answer: &PairAnswer) -> Self {
        let of_way = |way: &PairContact| WayNews {
            outcome: way.outcome,
            bracket: [way.t_free, way.t_contact],
            parts: way.parts,
        };
        let &PairAnswer { verdict, deciding, within_begin, beyond_release, .. } = answer;
        let in_contact = matches!(verdict, Some(Verdict::Touching | Verdict::Overlapping));
        let begins = in_contact || within_begin == Some(true);
        let parting = answer.meeting.as_ref().and_then(|known| known.parting);
        let way = answer.way().map(of_way);
        Self { verdict, deciding, begins, beyond_release, way, parting }
    }
}

/// An event of which no more is known.
fn plain_event(
    kind: EventKind,
    [p, q]: [BodyId; 2],
    bracket: [f64; 2],
    verdict: Option<Verdict>,
) -> Event {
    Event { kind, p, q, parts: None, bracket, impact: None, unordered: false, verdict }
}

/// What a report announces, as it can be taken back.
#[derive(Default)]
pub(crate) struct Announced {
    /// Contacts that began or ended, and since which frame each was announced before.
    contacts: Vec<(PairKey, Option<u64>)>,
    /// Those that ended because a body left or the pair was no longer checked.
    ended: Vec<(BodyId, BodyId)>,
}

/// The contacts as they were before. One pass makes them: of a pile of bodies hundreds of thousands
/// were announced, and to take them out one by one took a third of a second.
fn restored(
    contacts: BTreeMap<PairKey, u64>,
    mut announced: Vec<(PairKey, Option<u64>)>,
) -> BTreeMap<PairKey, u64> {
    if announced.is_empty() {
        return contacts;
    }
    // All that there is was announced: as listed in order, it need not be sorted.
    let are_new = announced.iter().all(|(_, before)| before.is_none());
    if are_new && announced.iter().map(|(key, _)| key).eq(contacts.keys()) {
        return BTreeMap::new();
    }
    // Of a pair that is listed twice the first entry says what was there.
    announced.sort_by_key(|(key, _)| *key);
    announced.dedup_by_key(|(key, _)| *key);
    let mut changed = announced.iter().map(|(key, _)| key).peekable();
    let kept = contacts.into_iter().filter(|(key, _)| {
        while changed.next_if(|next| *next < key).is_some() {}
        changed.peek() != Some(&key)
    });
    let there = announced.iter().filter_map(|(key, frame)| Some((*key, (*frame)?)));
    kept.chain(there).collect()
}

impl Scene {
    /// What began and what ended among `keys`; whatever `announced` says then can be taken back.
    pub(crate) fn events(
        &mut self,
        keys: &[PairKey],
        questions: &Questions,
        until: &Until,
        announced: &mut Announced,
    ) -> Result<Vec<Event>, Unanswered> {
        // At opening there is no way that led here.
        let end = if self.answers == 1 { [0.0, 0.0] } else { [1.0, 1.0] };
        let event = |kind, p, q, verdict| plain_event(kind, [p, q], end, verdict);
        // Of several frames that are answered as one, any may have ended it: sooner than a contact
        // of the same bodies that begins on the way.
        let has_ways = questions.between.is_some() || self.has_chosen;
        let gone = if has_ways && self.skipped > 1 { [0.0, 1.0] } else { end };
        let ended = |(p, q)| Event { bracket: gone, ..event(EventKind::Ended, p, q, None) };
        announced.ended = std::mem::take(&mut self.ended);
        let mut events: Vec<Event> = announced.ended.iter().copied().map(ended).collect();
        for key in until.each(keys) {
            let News { verdict, deciding, begins, beyond_release, way, parting } =
                News::of(&self.told(*key));
            let (p, q) = (self.id_of(key.p), self.id_of(key.q));
            let mut is_announced = self.contacts.contains_key(key);
            let has_met = way.is_some_and(|way| way.outcome == Outcome::Contact);
            if !is_announced && (begins || has_met) {
                events.push(Event {
                    parts: way.and_then(|way| way.parts).or(deciding),
                    bracket: way.map_or(end, |way| way.bracket),
                    ..event(EventKind::Began, p, q, verdict)
                });
                announced.contacts.push((*key, self.contacts.insert(*key, self.applied)));
                is_announced = true;
            }
            let unsure = way.filter(|way| way.outcome == Outcome::Undecided);
            if let Some(way) = unsure
                && !is_announced
                && verdict == Some(Verdict::Separated)
            {
                let bracket = [way.bracket[0], 1.0];
                events.push(Event { bracket, ..event(EventKind::Undecided, p, q, verdict) });
            }
            if is_announced && beyond_release == Some(true) {
                events.push(Event {
                    parts: parting.and_then(|parting| parting.parts),
                    bracket: parting.map_or(end, |parting| parting.bracket),
                    ..event(EventKind::Ended, p, q, verdict)
                });
                announced.contacts.push((*key, self.contacts.remove(key)));
            }
        }
        go_on(until)?;
        put_in_order(&mut events, until)?;
        Ok(events)
    }

    /// The frame is not answered: no contact began or ended in it that a later one will not tell.
    /// What the looks found out about pairs is remembered, and the next answer looks at all that a
    /// report might have named.
    pub(crate) fn take_back(&mut self, announced: Announced) {
        self.contacts = restored(std::mem::take(&mut self.contacts), announced.contacts);
        if !announced.ended.is_empty() {
            self.ended = announced.ended;
        }
        self.asked = None;
        self.table.trim(self.answers, self.limits.pairs_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declared::body::BodyId;

    /// In every order of what began, ended, and did both within a frame.
    #[test]
    fn what_was_announced_is_taken_back_as_if_entry_by_entry() {
        let key = |p: u32| PairKey { p, q: 9 };
        let contacts: BTreeMap<PairKey, u64> = [1, 3, 5].map(|p| (key(p), u64::from(p))).into();
        let lists: [&[(u32, Option<u64>)]; 6] = [
            &[],
            &[(5, None), (1, None), (3, None)],
            &[(0, None), (3, None), (7, None)],
            &[(2, Some(4)), (4, Some(2))],
            &[(3, None), (3, Some(8)), (6, None), (6, Some(8))],
            &[(2, Some(6)), (2, None), (5, None)],
        ];
        for list in lists {
            let announced: Vec<_> = list.iter().map(|(p, before)| (key(*p), *before)).collect();
            let mut expected = contacts.clone();
            for (key, before) in announced.iter().rev() {
                match before {
                    Some(frame) => expected.insert(*key, *frame),
                    None => expected.remove(key),
                };
            }
            assert_eq!(restored(contacts.clone(), announced), expected, "{list:?}");
        }
    }
    use crate::pairs::report::EventKind;

    fn began(p: u32, bracket: [f64; 2]) -> Event {
        Event {
            kind: EventKind::Began,
            p: BodyId(p),
            q: BodyId(100),
            parts: None,
            bracket,
            impact: None,
            unordered: false,
            verdict: None,
        }
    }

    #[track_caller]
    fn check(brackets: &[[f64; 2]], expected: &[(u32, bool)]) {
        let mut events: Vec<Event> =
            brackets.iter().enumerate().map(|(p, b)| began(p as u32, *b)).collect();
        put_in_order(&mut events, Until::never()).unwrap();
        let order: Vec<(u32, bool)> = events.iter().map(|e| (e.p.0, e.unordered)).collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn events_are_ordered_by_time() {
        check(&[[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]], &[(1, false), (2, false), (0, false)]);
    }

    #[test]
    fn events_of_one_instant_are_ordered_by_pair_and_marked() {
        check(&[[0.5, 0.5], [0.1, 0.1], [0.5, 0.5]], &[(1, false), (0, true), (2, true)]);
    }

    #[test]
    fn a_wide_bracket_is_unordered_with_all_it_meets_and_not_only_with_its_neighbour() {
        let brackets = [[0.0, 0.9], [0.1, 0.2], [0.3, 0.4], [0.95, 1.0]];
        check(&brackets, &[(0, true), (1, true), (2, true), (3, false)]);
    }
}
