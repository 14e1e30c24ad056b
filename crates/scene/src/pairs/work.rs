//! One pair of bodies: how it stands. Asks geometry about pairs of parts and applies the rules of
//! compounds: OVERLAPPING if some pair of parts is, else TOUCHING if some pair is, else SEPARATED.
//! How far apart and how deep is `measures`' to say, for how long a way in contact `ranges`'.
//!
//! Parts are taken in the order of their indices, whatever is remembered, so the parts that decide
//! are the same ones on every machine.

use crate::methods::CostOfEach;
use crate::pairs::answer::{Asking, PairAnswer};
use crate::pairs::contact::{between, parting};
use crate::pairs::notes::Notes;
use crate::pairs::report::{PairContact, PairDistance};
use crate::pairs::stand::{is_within, stand};
use crate::pairs::state::{PairState, Task};
use crate::pairs::{measures, meet, ranges};
use crate::placed::entry::Entry;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::Cost;

/// Does what the task says, with what the state remembers.
pub(crate) fn work(asking: &Asking<'_>, task: Task, state: &mut PairState) {
    state.cost = Cost::default();
    state.cost_of_each = asking.methods.are_named().then(|| Box::new(CostOfEach::default()));
    if task == Task::Stand || state.stood_at != asking.answers {
        stand_and_look_back(asking, state);
    }
    if task == Task::Prove {
        let proven = prove(asking, state);
        state.answer.meeting.get_or_insert_default().proven = Some(Box::new(proven));
        return;
    }
    let (answer, mut notes) = state.with_notes();
    match task {
        Task::Stand | Task::Prove => {}
        Task::Along => ranges::look_along(asking, answer, &mut notes),
        Task::Impact(end) => meet::look_for_impact(asking, end, answer, &mut notes),
        Task::Detail { distance, depth, normal, polygon } => {
            let is_apart = answer.verdict == Some(Verdict::Separated);
            let stops = asking.questions.stops;
            let is_known =
                |(known, found): &(Stops, PairDistance)| *known == stops || !found.is_rough(*known);
            let is_missing =
                normal && is_apart && !answer.distance.as_deref().is_some_and(is_known);
            let distance = distance.or(is_missing.then_some(stops));
            let is_deep = answer.verdict == Some(Verdict::Overlapping);
            let is_wanted = is_deep && asking.questions.polygon_depth > 0.0;
            measure(asking, distance, depth || normal || polygon && is_wanted, answer, &mut notes);
            if normal {
                meet::look_for_normal(asking, answer, &mut notes);
            }
            if polygon && (is_wanted || answer.verdict == Some(Verdict::Touching)) {
                meet::look_for_polygon(asking, answer, &mut notes);
            }
        }
    }
}

/// Measures the depth of a pair that overlaps, and the distance, with these stops; of a pair in
/// contact the points that it is about are those of the parts that are named: the deepest, or those
/// that decide.
pub(crate) fn measure(
    asking: &Asking<'_>,
    distance: Option<Stops>,
    depth: bool,
    answer: &mut PairAnswer,
    notes: &mut Notes<'_>,
) {
    let overlaps = answer.verdict == Some(Verdict::Overlapping);
    if depth && overlaps && answer.depth.is_none() {
        match measures::depth(asking, notes) {
            Ok(deepest) => {
                let stopped = deepest.as_ref().and_then(|deepest| deepest.depth.stopped);
                answer.stopped = answer.stopped.or(stopped);
                answer.depth = deepest.map(Box::new);
            }
            Err(stopped) => answer.stopped = Some(stopped),
        }
    }
    let named = answer.depth.as_ref().map(|deepest| deepest.parts).or(answer.deciding);
    let known = answer.distance.as_deref();
    let is_of_others = known.is_some_and(|known| named.is_some_and(|named| named != known.1.parts));
    let distance = distance.or_else(|| known.filter(|_| is_of_others).map(|known| known.0));
    if let Some(stops) = distance
        && (is_of_others || known.is_none_or(|known| known.0 != stops))
    {
        let measured = match named {
            Some(parts) => measures::common_point(asking, parts, notes),
            None => measures::distance(asking, stops, notes),
        };
        match measured {
            Ok(measured) => {
                answer.stopped = answer.stopped.or(measured.stopped);
                answer.distance = Some(Box::new((stops, measured)));
            }
            Err(stopped) => {
                answer.distance = None;
                answer.stopped = Some(stopped);
            }
        }
    }
}

/// Makes sure of the verdict, of what happened on the way, and of whether a contact has ended.
fn stand_and_look_back(asking: &Asking<'_>, state: &mut PairState) {
    let revisions = [asking.p.revision, asking.q.revision];
    state.was_remembered = state.revisions == revisions && is_enough(asking, &state.answer);
    if !state.was_remembered {
        let (answer, mut notes) = state.with_notes();
        *answer = stand(asking, &mut notes);
    } else if !asking.proves {
        // What is measured now comes without proofs: whoever asks for these again is answered anew.
        state.answer.proofs = None;
    }
    state.revisions = revisions;
    state.stood_at = asking.answers;

    let (answer, mut notes) = state.with_notes();
    look_whether_it_begins(asking, answer, &mut notes);
    let mut first_contact = |margin| between(asking, answer, margin, &mut notes).map(Box::new);
    let (told, of_events) = (asking.margin, asking.begin_margin);
    let contact = first_contact(told);
    // What stays beyond the larger margin does not come within the smaller one.
    let is_near = contact.as_ref().is_some_and(|found| found.may_have_met());
    let is_another = of_events > told || of_events < told && is_near;
    let met = if is_another { first_contact(of_events) } else { None };
    (answer.contact, answer.met) = (contact, met);
    let may_have_ended = asking.is_announced || answer.way().is_some_and(PairContact::has_met);
    if may_have_ended
        && answer.verdict == Some(Verdict::Separated)
        && answer.beyond_release.is_none()
    {
        match is_within(asking, asking.release_margin, &mut notes, None) {
            Ok(is_within) => answer.beyond_release = Some(!is_within),
            Err(stopped) => answer.stopped = Some(stopped),
        }
    }
    let has_ended = may_have_ended && answer.beyond_release == Some(true);
    let parting = if has_ended { parting(asking, answer, &mut notes) } else { None };
    if parting.is_some() || answer.meeting.is_some() {
        answer.meeting.get_or_insert_default().parting = parting;
    }
}

/// Finds out of a pair that is separated whether its contact begins all the same.
fn look_whether_it_begins(asking: &Asking<'_>, answer: &mut PairAnswer, notes: &mut Notes<'_>) {
    let is_asked = asking.begin_margin > 0.0 && answer.within_begin.is_none();
    if !is_asked || answer.verdict != Some(Verdict::Separated) {
        return;
    }
    match is_within(asking, asking.begin_margin, notes, None) {
        Ok(is_within) => answer.within_begin = Some(is_within),
        Err(stopped) => answer.stopped = Some(stopped),
    }
}

/// Whether an answer about the same poses can stand in: the verdict is a function of the poses.
fn is_enough(asking: &Asking<'_>, known: &PairAnswer) -> bool {
    !asking.questions.canonical && !known.is_open() && (known.proofs.is_some() || !asking.proves)
}

/// What is known of the pair, found out again with all that proves it.
pub(crate) fn prove(asking: &Asking<'_>, state: &mut PairState) -> PairAnswer {
    let (known, mut notes) = state.with_notes();
    let mut proven = stand(asking, &mut notes);
    if known.contact.is_some() {
        proven.contact = between(asking, &proven, asking.margin, &mut notes).map(Box::new);
    }
    let distance = known.distance.as_ref().map(|known| known.0);
    measure(asking, distance, known.depth.is_some(), &mut proven, &mut notes);
    if known.along.is_some() {
        ranges::look_along(asking, &mut proven, &mut notes);
    }
    proven
}

/// Bodies with no more pairs of parts are proven as they are answered.
const PROVEN_AT_ONCE: usize = 16;

/// Whether two bodies are proven as they are answered.
pub(crate) fn are_proven_at_once(p: &Entry, q: &Entry) -> bool {
    part_pairs(p, q) <= PROVEN_AT_ONCE && can_be_proven(p, q)
}

/// Whether certificates are made of two bodies: of several parts one of which is a polyhedron there
/// are none, nor of very many pairs of parts where some are curved.
pub(crate) fn can_be_proven(p: &Entry, q: &Entry) -> bool {
    !(p.has_mesh() || q.has_mesh()) || part_pairs(p, q) == 1 || has_curved_parts(p, q)
}

/// Certificates of bodies some of whose parts are curved are made of so many pairs of parts at
/// most: each has polytopes of its own.
const CURVED_PAIRS_MAX: usize = 64;

/// What the proof of two parts takes of which one is curved, bytes: a generous guess.
const CURVED_PROOF_BYTES: usize = 1 << 16;

/// Whether bodies have several parts, of which some are curved and all convex, and no more pairs
/// than are proven.
pub(crate) fn has_curved_parts(p: &Entry, q: &Entry) -> bool {
    let is_convex = |body: &Entry| {
        body.body.parts.iter().all(|part| part.mesh.is_none() && part.field.is_none())
    };
    (2..=CURVED_PAIRS_MAX).contains(&part_pairs(p, q))
        && (p.has_mesh() || q.has_mesh())
        && is_convex(p)
        && is_convex(q)
}

/// What such proofs take beside others, bytes.
pub(crate) fn bytes_of_curved_proofs(p: &Entry, q: &Entry) -> usize {
    if has_curved_parts(p, q) { CURVED_PROOF_BYTES * part_pairs(p, q) } else { 0 }
}

/// How many pairs of parts two bodies have.
pub(crate) fn part_pairs(p: &Entry, q: &Entry) -> usize {
    p.body.parts.len() * q.body.parts.len()
}
