//! Contacts that begin and end: their order, and how much of it is known.

use crate::pairs::report::{Event, EventKind};
use crate::waiting::{Unanswered, Waiting};

/// Sorts by time, then by pair, and marks the events whose bracket meets another's: which of them
/// was first is not known. But contacts that ended because a body left, or the pair was no longer
/// checked, come before all others of their time: what begins under the same ids begins after them.
pub(crate) fn put_in_order(events: &mut [Event], waiting: &Waiting<'_>) -> Result<(), Unanswered> {
    let stays = |event: &Event| event.kind != EventKind::Ended || event.verdict.is_some();
    waiting.sort_by(events, |a, b| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declared::body::BodyId;
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
        put_in_order(&mut events, &Waiting::for_ever()).unwrap();
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
