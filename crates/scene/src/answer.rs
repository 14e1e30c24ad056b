//! One pair of bodies: how it stands. Asks geometry about pairs of parts and applies the rules of
//! compounds: OVERLAPPING if some pair of parts is, else TOUCHING if some pair is, else SEPARATED.
//! How far apart and how deep is `measures`' to say, for how long a way in contact `ranges`'.
//!
//! Parts are taken in the order of their indices, whatever is remembered, so the parts that decide
//! are the same ones on every machine.

use std::sync::atomic::AtomicBool;

use super::body::PairSide;
use super::bounds::Gap;
use super::contact::{between, parting};
use super::measures;
use super::meet::{self, PairMeeting};
use super::methods::{AskedOf, Chosen, CostOfEach, Methods};
use super::pairs::{Notes, PairState, Task};
use super::proofs::prove;
use super::question::{Between, Questions};
use super::ranges;
use super::report::{PairContact, PairDepth, PairDistance, PairRange, PartPair, PartProof};
use clearance_geometry::claim::{StaticProof, Verdict};
use clearance_geometry::distance::{self, Compared, Stops};
use clearance_geometry::effort::{Cost, Effort, Stopped};
use clearance_geometry::pair::Pair;
use clearance_geometry::separation::{self, Decision};
use clearance_geometry::witness::Witness;

/// Everything a pair is asked about; shared by all threads, changed by none.
pub(super) struct Asking<'a> {
    pub(super) p: PairSide<'a>,
    pub(super) q: PairSide<'a>,
    /// The pair's margin, metres.
    pub(super) margin: f64,
    /// Metres.
    pub(super) release_margin: f64,
    /// Whether and how finely to look at the way to this frame.
    pub(super) between: Option<Between>,
    /// Whether a contact of this pair is announced.
    pub(super) is_announced: bool,
    /// The number of this answer.
    pub(super) answers: u64,
    /// Whether proofs are kept of what is found out. Of bodies with many pairs of parts they are
    /// made only where a report has room for them: see `proofs`.
    pub(super) proves: bool,
    pub(super) questions: &'a Questions,
    pub(super) methods: &'a Methods,
    pub(super) stop: &'a AtomicBool,
}

/// What is known about a pair.
#[derive(Clone, Debug, Default)]
pub(super) struct PairAnswer {
    pub(super) verdict: Option<Verdict>,
    /// The first parts that overlap, else touch.
    pub(super) deciding: Option<PartPair>,
    /// Proven apart by the boxes of the two bodies alone.
    pub(super) by_boxes: bool,
    pub(super) within_margin: Option<bool>,
    /// While the supporting values of the bodies change by less than this, in all, the verdict and
    /// what is said of the margin stay the same, metres: see `geometry::separation::Roomy`.
    pub(super) room: f64,
    /// Separated by more than the release margin; asked only of announced contacts.
    pub(super) beyond_release: Option<bool>,
    /// Present when certificates were asked.
    pub(super) proofs: Option<Vec<PartProof>>,
    /// First contact within the pair's margin: what is reported.
    pub(super) contact: Option<Box<PairContact>>,
    /// First contact itself, when the margin makes that another question: what events are about.
    pub(super) met: Option<Box<PairContact>>,
    /// With the stops that it was asked with.
    pub(super) distance: Option<Box<(Stops, PairDistance)>>,
    pub(super) depth: Option<Box<PairDepth>>,
    pub(super) along: Option<Box<PairRange>>,
    /// In a box of their own, since few pairs have any.
    pub(super) meeting: Option<Box<PairMeeting>>,
    pub(super) stopped: Option<Stopped>,
}

impl PairAnswer {
    /// Whether something is not known that an answer about the same poses may yet tell.
    pub(super) fn is_open(&self) -> bool {
        self.verdict.is_none() || self.within_margin.is_none() || self.stopped.is_some()
    }

    /// Whether the bodies are separated by more than their margin and surely did not meet on the
    /// way.
    pub(super) fn is_plain(&self) -> bool {
        let met = |contact: &Option<Box<PairContact>>| {
            contact.as_ref().is_some_and(|contact| contact.may_have_met())
        };
        self.verdict == Some(Verdict::Separated)
            && self.within_margin == Some(false)
            && self.stopped.is_none()
            && !met(&self.contact)
            && !met(&self.met)
    }

    /// Whether the bodies met on the way to this frame, whatever the margin.
    pub(super) fn way(&self) -> Option<&PairContact> {
        self.met.as_deref().or(self.contact.as_deref())
    }
}

/// Does what the task says, with what the state remembers.
pub(super) fn work(asking: &Asking<'_>, task: Task, state: &mut PairState) {
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
            measure(asking, distance, depth || normal, answer, &mut notes);
            if normal {
                meet::look_for_normal(asking, answer, &mut notes);
            }
            if polygon && answer.verdict == Some(Verdict::Touching) {
                meet::look_for_polygon(asking, answer, &mut notes);
            }
        }
    }
}

/// Measures the distance, with these stops, and the depth of a pair that overlaps.
pub(super) fn measure(
    asking: &Asking<'_>,
    distance: Option<Stops>,
    depth: bool,
    answer: &mut PairAnswer,
    notes: &mut Notes<'_>,
) {
    if let Some(stops) = distance
        && answer.distance.as_ref().is_none_or(|known| known.0 != stops)
    {
        match measures::distance(asking, stops, notes) {
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
    let mut first_contact = |margin| between(asking, answer, margin, &mut notes).map(Box::new);
    let contact = first_contact(asking.margin);
    // What stays beyond the margin does not meet.
    let is_near = contact.as_ref().is_some_and(|found| found.may_have_met());
    let met = if asking.margin > 0.0 && is_near { first_contact(0.0) } else { None };
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

/// Whether an answer about the same poses can stand in: the verdict is a function of the poses.
fn is_enough(asking: &Asking<'_>, known: &PairAnswer) -> bool {
    !asking.questions.canonical && !known.is_open() && (known.proofs.is_some() || !asking.proves)
}

/// How the pair stands now.
pub(super) fn stand(asking: &Asking<'_>, notes: &mut Notes<'_>) -> PairAnswer {
    let mut answer = PairAnswer::default();
    let mut proofs = Vec::new();
    let keeps_proofs = asking.proves;
    if let Some(gap) = asking.p.now.bounds.gap(&asking.q.now.bounds) {
        answer.verdict = Some(Verdict::Separated);
        answer.by_boxes = true;
        answer.room = gap.lower;
        if keeps_proofs {
            proofs.push(PartProof::of(None, boxes_prove(&gap)));
        }
    } else {
        answer.verdict = decide_parts(asking, &mut answer, &mut proofs, notes);
    }
    match answer.verdict {
        None => {}
        Some(Verdict::Touching | Verdict::Overlapping) => answer.within_margin = Some(true),
        Some(Verdict::Separated) => {
            let shown = keeps_proofs.then_some(&mut proofs);
            match is_within(asking, asking.margin, notes, shown) {
                Ok(is_within) => answer.within_margin = Some(is_within),
                Err(stopped) => answer.stopped = Some(stopped),
            }
            // Nobody knows how long those within their margin stay so.
            answer.room -= asking.margin;
        }
    }
    answer.proofs = keeps_proofs.then_some(proofs);
    answer
}

/// How two parts stand, and how far they may move before that changes; zero where all pairs are
/// listed, so that none of them rests, and where somebody asked for the method by its name, who
/// wants to see it work.
fn decide_with_room(
    asking: &Asking<'_>,
    parts: PartPair,
    notes: &mut Notes<'_>,
) -> Result<(Decision, f64), Stopped> {
    let Chosen { method, is_named } = asking.methods.verdict;
    asking.ask(AskedOf::Verdict, parts, notes, |pair, witness, effort| {
        if is_named {
            return Ok((separation::decide_by_name(pair, method, witness, effort)?, 0.0));
        }
        let decision = separation::decide(pair, method, witness, effort)?;
        let is_listed = asking.questions.is_about_all();
        let room = if is_listed { 0.0 } else { separation::room_of(pair, &decision, witness) };
        Ok((decision, room))
    })
}

/// The verdict of a pair whose boxes meet; none when stopped.
fn decide_parts(
    asking: &Asking<'_>,
    answer: &mut PairAnswer,
    proofs: &mut Vec<PartProof>,
    notes: &mut Notes<'_>,
) -> Option<Verdict> {
    let keeps_proofs = asking.proves;
    let mut verdict = Verdict::Separated;
    answer.room = f64::INFINITY;
    for parts in asking.part_pairs() {
        if let Err(stopped) = asking.look_at_clock() {
            answer.stopped = Some(stopped);
            break;
        }
        if let Some(gap) = asking.gap(parts) {
            answer.room = answer.room.min(gap.lower);
            if keeps_proofs {
                proofs.push(PartProof::of(Some(parts), boxes_prove(&gap)));
            }
            continue;
        }
        let decision = match decide_with_room(asking, parts, notes) {
            Ok((decision, room)) => {
                let overlaps = decision.verdict() == Verdict::Overlapping;
                answer.room = if overlaps { room } else { answer.room.min(room) };
                decision
            }
            Err(stopped) => {
                answer.stopped = Some(stopped);
                continue;
            }
        };
        if decision.verdict() > verdict {
            verdict = decision.verdict();
            answer.deciding = Some(parts);
        }
        if verdict == Verdict::Overlapping {
            // Nothing else can change that, and this one proof is enough.
            answer.stopped = None;
            proofs.clear();
        }
        if keeps_proofs {
            proofs.push(PartProof::of(Some(parts), decision.proof));
        }
        if verdict == Verdict::Overlapping {
            break;
        }
    }
    if answer.stopped.is_some() {
        answer.deciding = None;
        return None;
    }
    Some(verdict)
}

/// Whether the distance of a separated pair is at most `margin`, exactly; the proofs of the
/// verdict, if given, are made to show it.
pub(super) fn is_within(
    asking: &Asking<'_>,
    margin: f64,
    notes: &mut Notes<'_>,
    mut proofs: Option<&mut Vec<PartProof>>,
) -> Result<bool, Stopped> {
    if margin <= 0.0 {
        return Ok(false);
    }
    let is_beyond = |gap: Option<Gap>| gap.is_some_and(|gap| gap.lower > margin);
    if is_beyond(asking.p.now.bounds.gap(&asking.q.now.bounds)) {
        return Ok(false);
    }
    if let Some(proofs) = proofs.as_deref_mut() {
        split_into_parts(asking, proofs);
    }
    let mut stop = None;
    for (at, parts) in asking.part_pairs().enumerate() {
        asking.look_at_clock()?;
        if is_beyond(asking.gap(parts)) {
            continue;
        }
        let compared = asking.ask(AskedOf::Other, parts, notes, |pair, witness, effort| {
            distance::compare(pair, margin, witness, effort)
        });
        match compared {
            Ok(Compared { is_within, pairs }) => {
                if let Some(proofs) = proofs.as_deref_mut() {
                    proofs[at].margin_pairs = pairs;
                }
                if is_within {
                    return Ok(true);
                }
            }
            Err(stopped) => stop = Some(stopped),
        }
    }
    stop.map_or(Ok(false), Err)
}

/// One proof for each pair of parts, in order, where one was about all of them: the boxes of the
/// bodies may be nearer than those of any parts, and then say too little of a margin.
fn split_into_parts(asking: &Asking<'_>, proofs: &mut Vec<PartProof>) {
    let [PartProof { parts: None, proof, .. }] = &proofs[..] else { return };
    let of_all = proof.clone();
    let split = asking.part_pairs().map(|parts| {
        let proof = asking.gap(parts).map_or_else(|| of_all.clone(), |gap| boxes_prove(&gap));
        PartProof::of(Some(parts), proof)
    });
    *proofs = split.collect();
}

/// The proof that two boxes are apart is one about what they hold.
pub(super) fn boxes_prove(gap: &Gap) -> StaticProof {
    StaticProof::Separated { direction: gap.direction() }
}

impl Asking<'_> {
    /// Every part of P with every part of Q, in order.
    pub(super) fn part_pairs(&self) -> impl Iterator<Item = PartPair> + use<> {
        let (count_p, count_q) = (self.p.now.parts.len() as u32, self.q.now.parts.len() as u32);
        (0..count_p).flat_map(move |p| (0..count_q).map(move |q| PartPair { p, q }))
    }

    /// Says whether the time for answers is over. Two bodies may have tens of thousands of pairs of
    /// parts, and a scene as many pairs of bodies.
    pub(super) fn look_at_clock(&self) -> Result<(), Stopped> {
        Effort::with_stop(u64::MAX, self.stop).look_at_clock()
    }

    /// Between the boxes of two parts.
    pub(super) fn gap(&self, parts: PartPair) -> Option<Gap> {
        let p = &self.p.now.parts[parts.p as usize];
        p.bounds.gap(&self.q.now.parts[parts.q as usize].bounds)
    }

    /// Asks about two parts where they are now, with their witness and a fresh budget.
    pub(super) fn ask<A>(
        &self,
        asked: AskedOf,
        parts: PartPair,
        notes: &mut Notes<'_>,
        query: impl FnOnce(&Pair<'_>, &mut Witness, &mut Effort<'_>) -> A,
    ) -> A {
        let (p, q) = (parts.p as usize, parts.q as usize);
        let pair = Pair::new(
            &self.p.body.parts[p].polytope,
            self.p.now.parts[p].pose,
            &self.q.body.parts[q].polytope,
            self.q.now.parts[q].pose,
        );
        self.spend(asked, parts, notes, |witness, effort| query(&pair, witness, effort))
    }

    /// Runs a query with the parts' witness (that of the question's method alone, if that was asked
    /// for by name; a cold one for canonical answers) and a fresh budget.
    pub(super) fn spend<A>(
        &self,
        asked: AskedOf,
        parts: PartPair,
        notes: &mut Notes<'_>,
        query: impl FnOnce(&mut Witness, &mut Effort<'_>) -> A,
    ) -> A {
        let mut effort = Effort::with_stop(self.questions.steps_max, self.stop);
        let mut cold = Witness::default();
        let alone = self.methods.is_named(asked).then_some(asked);
        let witness = if self.questions.canonical {
            &mut cold
        } else {
            notes.witnesses.of(parts.p, parts.q, alone)
        };
        let answer = query(witness, &mut effort);
        *notes.cost += effort.cost;
        if let Some(of_each) = &mut notes.cost_of_each {
            of_each[asked as usize] += effort.cost;
        }
        answer
    }
}
