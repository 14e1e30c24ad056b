//! Reports beside what a model says.

use super::cold::{self, Way};
use super::model::{Answer, Asked, Model, Pair, Stands, Told};
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_proto as api;
use clearance_scene::EventKind;
use clearance_wire::convert::sessions::packed_pairs::unpack;

/// What is wrong.
pub(super) type Wrong = String;

/// Holds a report on frames that were applied against the model, which goes on from it.
pub(super) fn check(
    model: &mut Model,
    asked: &Asked,
    report: &api::FrameReport,
) -> Result<(), Wrong> {
    let frame = model.applied;
    let wrong = |what: &str, told: &dyn std::fmt::Debug, expected: &dyn std::fmt::Debug| {
        Err(format!("frame {frame}: {what}: told {told:?}, expected {expected:?}"))
    };
    if let Some(status) = &report.status {
        return wrong("status", status, &"an answer");
    }
    let told = [report.frame_id, report.previous_frame_id, u64::from(report.skipped_frames)];
    let skipped = u64::from(model.skipped.saturating_sub(1));
    let expected = [frame, model.answered, skipped];
    if told != expected {
        return wrong("frame, previous, skipped", &told, &expected);
    }
    let answer = model.answer(asked);
    // Where pairs are not listed, only events tell that their ways were not looked at to the end.
    let is_partial = report.stopped != 0 || asked.steps.is_some();
    counts(&answer, report, is_partial)
        .or_else(|(told, expected)| wrong("counts", &told, &expected))?;
    let events = events(&answer, report, is_partial)
        .map_err(|(told, expected)| format!("frame {frame}: event {told}, expected {expected}"))?;
    let unpacked = report.packed_pairs.as_deref().map(unpack);
    if unpacked.is_some() != asked.is_packed {
        return wrong("packed", &report.packed_pairs, &asked.is_packed);
    }
    let listed = unpacked.as_deref().unwrap_or(&report.pairs);
    pairs(model, asked, &answer, listed, is_partial)
        .map_err(|what| format!("frame {frame}: {what}"))?;
    model.note(&answer, &events, is_partial);
    Ok(())
}

type Counts = [u64; 4];

fn counts(
    answer: &Answer,
    report: &api::FrameReport,
    is_partial: bool,
) -> Result<(), (Counts, Counts)> {
    let mut expected = [0; 4];
    for stands in answer.pairs.values() {
        expected[stands.verdict as usize] += 1;
    }
    let told = report.counts.unwrap_or_default();
    let told = [told.separated, told.touching, told.overlapping, told.undecided];
    let sum = |counts: &Counts| counts.iter().sum::<u64>();
    let is_less = told.iter().zip(&expected).take(3).all(|(told, expected)| told <= expected);
    let is_right = if is_partial { is_less } else { told == expected };
    if is_right && sum(&told) == sum(&expected) { Ok(()) } else { Err((told, expected)) }
}

/// The events told, each of them expected and, unless the answer is a partial one, none missing.
fn events(
    answer: &Answer,
    report: &api::FrameReport,
    is_partial: bool,
) -> Result<Vec<Told>, (String, String)> {
    let mut missing = answer.events.clone();
    let mut told = Vec::new();
    let mut latest = f64::NEG_INFINITY;
    for event in &report.events {
        let time = event.time.unwrap_or_default();
        if time.lower < latest {
            return Err((format!("{event:?}"), "events in the order of their times".into()));
        }
        latest = time.lower;
        let one = Told {
            pair: [event.a, event.b],
            kind: match event.kind() {
                api::ContactEventKind::Began => EventKind::Began,
                api::ContactEventKind::Ended => EventKind::Ended,
                api::ContactEventKind::Unspecified | api::ContactEventKind::Undecided => {
                    EventKind::Undecided
                }
            },
            verdict: verdict(event.verdict),
            bracket: [time.lower, time.upper],
        };
        let fits = |other: &Told| {
            let is_open = is_partial && one.verdict.is_none() && one.kind != EventKind::Ended;
            (other.pair, other.kind) == (one.pair, one.kind)
                && (is_open || other.verdict == one.verdict)
                && meet(other.bracket, one.bracket)
        };
        match missing.iter().position(fits) {
            Some(at) => drop(missing.remove(at)),
            // What was stopped may say so of any pair that is separated.
            None if is_partial && one.kind == EventKind::Undecided => {}
            None => return Err((format!("{one:?}"), format!("one of {missing:?}"))),
        }
        told.push(one);
    }
    // What is no longer checked takes no search.
    missing.retain(|one| !is_partial || one.verdict.is_none());
    if missing.is_empty() { Ok(told) } else { Err(("none".into(), format!("{missing:?}"))) }
}

fn meet([a, b]: [f64; 2], [c, d]: [f64; 2]) -> bool {
    a.max(c) <= b.min(d)
}

fn verdict(wire: i32) -> Option<Verdict> {
    match api::Verdict::try_from(wire) {
        Ok(api::Verdict::Separated) => Some(Verdict::Separated),
        Ok(api::Verdict::Touching) => Some(Verdict::Touching),
        Ok(api::Verdict::Overlapping) => Some(Verdict::Overlapping),
        Ok(api::Verdict::Unspecified) | Err(_) => None,
    }
}

/// That just the pairs are listed that are to be, if that is known.
fn list(answer: &Answer, told: &[Pair], is_partial: bool) -> Result<(), Wrong> {
    if is_partial || !answer.is_list_known {
        return Ok(());
    }
    let listed = answer.pairs.iter().filter(|(_, stands)| stands.is_listed);
    let expected: Vec<Pair> = listed.map(|(pair, _)| *pair).collect();
    if told == expected {
        return Ok(());
    }
    Err(format!("pairs listed: told {told:?}, expected {expected:?}"))
}

fn pairs(
    model: &Model,
    asked: &Asked,
    answer: &Answer,
    listed: &[api::PairReport],
    is_partial: bool,
) -> Result<(), Wrong> {
    let ids: Vec<Pair> = listed.iter().map(|pair| [pair.a, pair.b]).collect();
    list(answer, &ids, is_partial)?;
    for (told, pair) in listed.iter().zip(&ids) {
        let Some(stands) = answer.pairs.get(pair) else {
            return Err(format!("{pair:?} is listed and not checked"));
        };
        if told.stopped != 0 {
            continue;
        }
        let expected = (Some(stands.verdict), stands.is_within);
        let said = (verdict(told.verdict), told.within_margin);
        if said != expected {
            return Err(format!("{pair:?}: told {said:?}, expected {expected:?}"));
        }
        first_contact(told, stands).map_err(|what| format!("{pair:?}: {what}"))?;
        if asked.distances {
            let [p, q] = pair.map(|id| &model.bodies[&id].body);
            let expected = match stands.verdict {
                Verdict::Separated => cold::distance(p, q),
                Verdict::Touching | Verdict::Overlapping => [0.0; 2],
            };
            let said = told.distance.map(|bracket| [bracket.lower, bracket.upper]);
            if !said.is_some_and(|said| meet(said, expected)) {
                return Err(format!("distance of {pair:?}: {said:?}, expected {expected:?}"));
            }
        }
    }
    Ok(())
}

fn first_contact(told: &api::PairReport, stands: &Stands) -> Result<(), Wrong> {
    // One that was stopped says less.
    let found = told.first_contact.as_ref().filter(|found| found.stopped == 0);
    let said = found.map(|found| Way {
        outcome: match found.outcome() {
            api::Outcome::Contact => Outcome::Contact,
            api::Outcome::NoContact => Outcome::NoContact,
            api::Outcome::Unspecified | api::Outcome::Undecided => Outcome::Undecided,
        },
        bracket: [found.t_free, found.t_contact.unwrap_or(1.0)],
    });
    // How a pair met that is in contact all along need not be told.
    let expected = stands.first_contact();
    let is_right = match (said, expected) {
        (Some(said), Some(way)) => said.outcome == way.outcome && meet(said.bracket, way.bracket),
        (None, _) => true,
        (Some(_), None) => false,
    };
    if is_right { Ok(()) } else { Err(format!("way: told {said:?}, expected {expected:?}")) }
}
