//! How two bodies stand: by their boxes, else part by part, and whether within a distance.

use crate::bounds::Gap;
use crate::methods::AskedOf;
use crate::pairs::answer::{Asking, PairAnswer, boxes_prove};
use crate::pairs::meshes::{PartsCompared, PartsProof};
use crate::pairs::notes::Notes;
use crate::pairs::report::{PartPair, PartProof};
use crate::placed::travel::Form;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::Compared;
use clearance_geometry::effort::Stopped;

/// How the pair stands now.
pub(crate) fn stand(asking: &Asking<'_>, notes: &mut Notes<'_>) -> PairAnswer {
    let mut answer = PairAnswer::default();
    let mut proofs = Vec::new();
    let keeps_proofs = asking.proves;
    if let Some(gap) = asking.p.now.bounds.gap(&asking.q.now.bounds) {
        answer.verdict = Some(Verdict::Separated);
        answer.by_boxes = true;
        answer.room = gap.lower;
        if keeps_proofs {
            prove_apart(asking, None, &gap, &mut proofs, notes);
        }
    } else {
        answer.verdict = decide_parts(asking, &mut answer, &mut proofs, notes);
    }
    let room = answer.room;
    match answer.verdict {
        None => {}
        Some(Verdict::Overlapping) if asking.margin < 0.0 => {
            let shown = keeps_proofs.then_some(&mut proofs);
            match deep_enough(asking, notes, shown) {
                Ok(found) => {
                    answer.within_margin = Some(found.is_within);
                    answer.room = answer.room.min(found.room);
                }
                Err(stopped) => answer.stopped = Some(stopped),
            }
        }
        // Nobody knows how long those that do not overlap stay so.
        Some(Verdict::Touching) if asking.margin < 0.0 => {
            (answer.within_margin, answer.room) = (Some(false), 0.0);
        }
        Some(Verdict::Separated) if asking.margin < 0.0 => answer.within_margin = Some(false),
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
    if answer.verdict == Some(Verdict::Separated) {
        // Nor of those that are near enough for a contact to begin.
        answer.room = answer.room.min(room - asking.begin_margin);
    }
    answer.proofs = keeps_proofs.then_some(proofs);
    answer
}

/// Adds the proof that boxes with a gap hold what is apart, of two parts or of all; none where
/// curved bodies, of which each pair of parts is proven by itself, have none.
fn prove_apart(
    asking: &Asking<'_>,
    parts: Option<PartPair>,
    gap: &Gap,
    proofs: &mut Vec<PartProof>,
    notes: &mut Notes<'_>,
) {
    if asking.is_proven_by_boxes() {
        proofs.push(PartProof::of(parts, boxes_prove(gap)));
        return;
    }
    let mut prove = |parts: PartPair| {
        let decided = asking.ask(AskedOf::Verdict, parts, notes, |two, witness, effort| {
            two.decide(asking.methods.verdict, false, witness, effort)
        });
        let apart = decided.ok().filter(|(proof, _)| proof.verdict() == Verdict::Separated);
        proofs.extend(apart.map(|(proof, _)| PartProof::of(Some(parts), proof)));
    };
    match parts {
        Some(parts) => prove(parts),
        None => asking.part_pairs().for_each(prove),
    }
}

/// How two parts stand, and how far they may move before that changes; zero where all pairs are
/// listed, so that none of them rests, and where somebody asked for the method by its name, who
/// wants to see it work.
fn decide_with_room(
    asking: &Asking<'_>,
    parts: PartPair,
    notes: &mut Notes<'_>,
) -> Result<(PartsProof, f64), Stopped> {
    let wants_room = !asking.questions.is_about_all();
    let decided = asking.ask(AskedOf::Verdict, parts, notes, |two, witness, effort| {
        two.decide(asking.methods.verdict, wants_room, witness, effort)
    });
    let (proof, room) = decided?;
    let room = match &proof {
        PartsProof::Convex(_) => room,
        PartsProof::Faces(_) => Form::room_of_points([&asking.p.form, &asking.q.form], room),
    };
    Ok((proof, room))
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
                prove_apart(asking, Some(parts), &gap, proofs, notes);
            }
            continue;
        }
        let proof = match decide_with_room(asking, parts, notes) {
            Ok((proof, room)) => {
                let overlaps = proof.verdict() == Verdict::Overlapping;
                answer.room = if overlaps { room } else { answer.room.min(room) };
                proof
            }
            Err(stopped) => {
                answer.stopped = Some(stopped);
                continue;
            }
        };
        if proof.verdict() > verdict {
            verdict = proof.verdict();
            answer.deciding = Some(parts);
        }
        if verdict == Verdict::Overlapping {
            // Nothing else can change that, and this one proof is enough.
            answer.stopped = None;
            proofs.clear();
        }
        if keeps_proofs {
            proofs.push(PartProof::of(Some(parts), proof));
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
pub(crate) fn is_within(
    asking: &Asking<'_>,
    margin: f64,
    notes: &mut Notes<'_>,
    mut proofs: Option<&mut Vec<PartProof>>,
) -> Result<bool, Stopped> {
    if margin <= 0.0 {
        return Ok(false);
    }
    let is_beyond = |gap: Option<Gap>| gap.is_some_and(|gap| gap.lower > margin);
    // What boxes do not prove is asked all the same.
    let is_shown_apart = proofs.is_some() && !asking.is_proven_by_boxes();
    let are_far = is_beyond(asking.p.now.bounds.gap(&asking.q.now.bounds));
    if are_far && !is_shown_apart {
        return Ok(false);
    }
    if let Some(proofs) = proofs.as_deref_mut() {
        split_into_parts(asking, proofs);
    }
    let mut stop = None;
    for (at, parts) in asking.part_pairs().enumerate() {
        asking.look_at_clock()?;
        let is_known = are_far || is_beyond(asking.gap(parts));
        if is_known && !is_shown_apart {
            continue;
        }
        let is_shown = proofs.is_some();
        let compared = asking.ask(AskedOf::Other, parts, notes, |two, witness, effort| {
            let two = if is_shown { *two } else { two.without_proofs() };
            two.compare(margin, witness, effort)
        });
        match compared {
            Ok(PartsCompared { is_within, pairs, by_faces }) => {
                let shown = proofs.as_deref_mut().and_then(|all| all.get_mut(at));
                // Where one before it has no proof, the place is that of another.
                let is_its = |one: &&mut PartProof| one.parts.is_none_or(|its| its == parts);
                if let Some(shown) = shown.filter(is_its) {
                    shown.margin_pairs = pairs;
                    // The cover of a verdict says nothing of a margin.
                    if let Some(proof) = by_faces {
                        shown.proof = proof;
                    }
                }
                if is_within {
                    return Ok(true);
                }
            }
            Err(_) if is_known => {}
            Err(stopped) => stop = Some(stopped),
        }
    }
    stop.map_or(Ok(false), Err)
}

/// How bodies that overlap compare with a margin below 0.
struct DeepEnough {
    is_within: bool,
    /// As long as supporting values change by less than this in all, they are within it. None of
    /// those beyond it: what is kept of pairs that rest says that those in contact are within.
    room: f64,
}

/// Whether a pair that overlaps does so at least as deep as its margin below 0 says, exactly: if
/// two parts do. The proofs of the verdict, if given, are made to show it: one if it is so, else
/// one for every pair of parts.
fn deep_enough(
    asking: &Asking<'_>,
    notes: &mut Notes<'_>,
    mut proofs: Option<&mut Vec<PartProof>>,
) -> Result<DeepEnough, Stopped> {
    let (mut stop, mut shown) = (None, Vec::new());
    for parts in asking.part_pairs() {
        asking.look_at_clock()?;
        if let Some(gap) = asking.gap(parts) {
            if proofs.is_some() {
                prove_apart(asking, Some(parts), &gap, &mut shown, notes);
            }
            continue;
        }
        let is_shown = proofs.is_some();
        let compared = asking.ask(AskedOf::Other, parts, notes, |two, witness, effort| {
            two.compare_depth(asking.margin, is_shown, witness, effort)
        });
        let (proof, found) = match compared {
            Ok(compared) => compared,
            Err(stopped) => {
                stop = Some(stopped);
                continue;
            }
        };
        let Compared { is_within, pairs: margin_pairs, depth: margin_depth } = found.compared;
        let parts = Some(parts);
        if is_within {
            shown.clear();
        }
        if is_shown {
            shown.push(PartProof { parts, proof, margin_pairs, margin_depth });
        }
        if is_within {
            if let Some(proofs) = proofs.as_deref_mut() {
                *proofs = shown;
            }
            return Ok(DeepEnough { is_within, room: found.room });
        }
    }
    match (stop, proofs) {
        (Some(stopped), _) => return Err(stopped),
        (None, Some(proofs)) => *proofs = shown,
        (None, None) => {}
    }
    Ok(DeepEnough { is_within: false, room: 0.0 })
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
