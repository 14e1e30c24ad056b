//! Which of several bodies that turn nothing first come into contact.
//!
//! Polytopes and polyhedra are looked at together, by their faces, whose times are exact. Every
//! pair with another body is asked when it first meets, as two bodies are, the pairs first whose
//! boxes meet first, and none whose boxes meet after the first contact that is known. Their times
//! are brackets: of pairs whose brackets overlap it is open which comes first, and that whose
//! contact is proven by the least time counts.

use super::cells::{answered, box_of};
use super::first_contact::{FirstContactAnswer, Motions, ask_first_contact};
use super::row::{
    BETWEEN_NANOSECONDS, FACES_NANOSECONDS, FLAT, Needs, NotAnswered, TableEntry, Wanted,
};
use crate::body::PlacedBody;
use crate::kind::Kind;
use crate::solid::{Meeting, ReadySolid};
use clearance_geometry::claim::{CollisionProof, Outcome, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::{Several, Unproven, prove_collision};
use clearance_geometry::contact_time::polyhedra::{self, Collision, Moving, first_collision};
use clearance_geometry::contact_time::{METHODS, Travel};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::{Surfaces, prove_touching};
use clearance_geometry::motion::Motion;
use clearance_geometry::terrain::WorldBox;

pub use clearance_geometry::contact_time::polyhedra::proof::Found;

/// By what two of the bodies are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CollisionWay {
    /// By their faces, together with all others that are.
    Faces,
    /// As two bodies are.
    Pairwise,
}

/// By what two of the bodies are looked at.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<CollisionWay> {
    use Kind::{Cloud, Curved, HeightField, Polyhedron, Polytope, Rounded, Surface};
    match kinds {
        [Polytope | Polyhedron, Polytope | Polyhedron] => Ok(CollisionWay::Faces),
        [Rounded | Surface | Cloud | HeightField | Curved, _]
        | [_, Rounded | Surface | Cloud | HeightField | Curved] => Ok(CollisionWay::Pairwise),
    }
}

/// Whether bodies of a kind are looked at by their faces, and proofs speak of them.
pub fn is_by_faces(kind: Kind) -> bool {
    entry([kind; 2]) == Ok(CollisionWay::Faces)
}

/// What is built of a body of this kind, among others one of which at least is no solid or not.
pub fn needs(are_solids: bool) -> Needs {
    if are_solids { Needs::SOLIDS } else { Needs::tables(METHODS[0].tables).and_solids() }
}

/// The name of a method that answers it, the default one first.
pub fn method_name(index: usize) -> Option<&'static str> {
    polyhedra::METHODS.get(index).map(|method| method.name)
}

/// How long it takes for so many bodies that have so many vertices together, nanoseconds: a
/// generous guess. `others` of the bodies are neither polytopes nor polyhedra; each is near a few.
pub fn nanoseconds(bodies: usize, vertices: usize, others: usize) -> u64 {
    let pairs = (bodies as u64).saturating_mul(bodies as u64) / 2;
    100_000_u64
        .saturating_add(FACES_NANOSECONDS.saturating_mul(vertices as u64))
        .saturating_add(pairs.saturating_mul(200))
        .saturating_add(BETWEEN_NANOSECONDS.saturating_mul(others as u64))
}

/// One of the bodies, ready, and how far it comes.
#[derive(Clone, Debug)]
pub struct ReadyMover {
    placed: PlacedBody,
    /// Of a polytope or a polyhedron.
    solid: Option<ReadySolid>,
    motion: Motion,
    travel: Travel,
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct FirstCollisionAnswer {
    /// Whether any two bodies meet; undecided if that, of curved bodies, is open.
    pub outcome: Outcome,
    /// No two bodies share a point on the closed `[0, t_free]`.
    pub t_free: f64,
    /// Which bodies meet first, and by when.
    pub first: Option<FirstPair>,
    /// Other pairs that meet in the same bracket; of curved bodies also those of which it is open.
    pub tied: Vec<[usize; 2]>,
    /// Where they meet.
    pub meeting: Option<Meeting>,
    /// Its proof, of which parts may be missing; none: not wanted.
    pub proof: Option<Found>,
    /// Why less is told than could be.
    pub stopped: Option<Stopped>,
}

/// The bodies that meet first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstPair {
    /// Places in the list, ascending.
    pub pair: [usize; 2],
    /// They share a point at some time up to this one.
    pub t_contact: f64,
    /// How they stand at t = 0.
    pub initial: Verdict,
}

/// Makes of one of the bodies what the answer needs; it moves so, and that takes it so far.
pub fn ready(
    placed: PlacedBody,
    motion: Motion,
    travel: Travel,
) -> Result<ReadyMover, NotAnswered> {
    let kinds = [placed.body.kind(); 2];
    let way = entry(kinds).map_err(|what| NotAnswered { field: "body", what, kinds })?;
    let solid = match way {
        CollisionWay::Faces => {
            let refused = NotAnswered { field: "body", what: FLAT, kinds };
            Some(ReadySolid::new(placed.clone()).ok_or(refused)?)
        }
        CollisionWay::Pairwise => None,
    };
    Ok(ReadyMover { placed, solid, motion, travel })
}

/// Answers it.
pub fn answer(
    movers: &[ReadyMover],
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> Result<FirstCollisionAnswer, Stopped> {
    let solids: Vec<(usize, &ReadySolid)> = (0..)
        .zip(movers)
        .filter_map(|(place, mover)| Some((place, mover.solid.as_ref()?)))
        .collect();
    let collision = of_solids(movers, &solids, effort)?;
    if solids.len() == movers.len() {
        return Ok(exactly(movers, &solids, collision, wanted, effort));
    }
    let mut earliest = Earliest::default();
    if let Some(found) = &collision {
        let Collision { pair, initial, contact, tied } = found;
        earliest.met.extend(tied.iter().map(|pair| (*pair, contact.t_free)));
        earliest.take(MayMeet {
            pair: *pair,
            t_free: contact.t_free,
            t_contact: Some(contact.t_contact),
            initial: *initial,
            meeting: Some(meeting_of(movers, found)),
        });
    }
    pairwise(movers, &mut earliest, effort)?;
    Ok(earliest.answer(wanted))
}

/// The first collision of the polytopes and polyhedra among them.
fn of_solids(
    movers: &[ReadyMover],
    solids: &[(usize, &ReadySolid)],
    effort: &mut Effort<'_>,
) -> Result<Option<Collision>, Stopped> {
    let moving: Vec<Moving<'_>> =
        solids.iter().map(|(place, solid)| solid.moving(movers[*place].travel)).collect();
    let found = first_collision(&moving, effort)?;
    let placed = |pair: [usize; 2]| pair.map(|index| solids[index].0);
    Ok(found.map(|found| Collision {
        pair: placed(found.pair),
        tied: found.tied.iter().copied().map(placed).collect(),
        ..found
    }))
}

fn meeting_of(movers: &[ReadyMover], found: &Collision) -> Meeting {
    let solid = |place: usize| movers[place].solid.as_ref().expect("found among the solids");
    Meeting::new(found.pair.map(solid), &found.contact.faces, found.contact.point)
}

/// What is told where all are polytopes or polyhedra.
fn exactly(
    movers: &[ReadyMover],
    solids: &[(usize, &ReadySolid)],
    collision: Option<Collision>,
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> FirstCollisionAnswer {
    let meeting = collision.as_ref().map(|found| meeting_of(movers, found));
    let proof = wanted.certificate.then(|| {
        let bodies: Vec<Several<'_>> = solids
            .iter()
            .map(|(place, solid)| Several { shape: solid.shape(), travel: movers[*place].travel })
            .collect();
        prove(&bodies, collision.as_ref(), wanted.cover_steps_max, effort)
    });
    let first = collision.as_ref().map(|found| FirstPair {
        pair: found.pair,
        t_contact: found.contact.t_contact,
        initial: found.initial,
    });
    FirstCollisionAnswer {
        outcome: if first.is_some() { Outcome::Contact } else { Outcome::NoContact },
        t_free: collision.as_ref().map_or(1.0, |found| found.contact.t_free),
        first,
        tied: collision.map_or_else(Vec::new, |found| found.tied),
        meeting,
        proof,
        stopped: None,
    }
}

/// Two bodies that meet, or of which that is open.
#[derive(Clone, Debug)]
struct MayMeet {
    pair: [usize; 2],
    /// They share no point until then.
    t_free: f64,
    /// They do by then; none: that is open.
    t_contact: Option<f64>,
    initial: Verdict,
    meeting: Option<Meeting>,
}

/// The pairs that may be the first to meet.
#[derive(Clone, Debug, Default)]
struct Earliest {
    /// That whose contact is proven by the least time.
    best: Option<(f64, MayMeet)>,
    /// All that meet, as far as they were asked, with until when they share no point.
    met: Vec<([usize; 2], f64)>,
    /// Those of which it is open whether they meet.
    open: Vec<([usize; 2], f64)>,
}

impl Earliest {
    fn take(&mut self, candidate: MayMeet) {
        let Some(t_contact) = candidate.t_contact else {
            self.open.push((candidate.pair, candidate.t_free));
            return;
        };
        self.met.push((candidate.pair, candidate.t_free));
        let is_first = self.best.as_ref().is_none_or(|(known, best)| {
            t_contact.total_cmp(known).then(candidate.pair.cmp(&best.pair)).is_lt()
        });
        if is_first {
            self.best = Some((t_contact, candidate));
        }
    }

    /// Whether a pair need not be asked whose boxes meet at this time or later.
    fn is_past(&self, from: f64, pair: [usize; 2]) -> bool {
        let is_later =
            |(known, best): &(f64, MayMeet)| from > *known || (*known <= 0.0 && pair > best.pair);
        self.best.as_ref().is_some_and(is_later)
    }

    fn answer(self, wanted: Wanted) -> FirstCollisionAnswer {
        let Self { best, met, open } = self;
        let until = best.as_ref().map_or(1.0, |(t_contact, _)| *t_contact);
        let first_of = |best: &(f64, MayMeet)| FirstPair {
            pair: best.1.pair,
            t_contact: best.0,
            initial: best.1.initial,
        };
        let first = best.as_ref().map(first_of);
        // What begins later is not the first.
        let may_be_first = |(pair, before): &([usize; 2], f64)| {
            let is_other = first.is_none_or(|first| first.pair != *pair);
            (is_other && (*before < until || first.is_none())).then_some(*pair)
        };
        let open_before: Vec<[usize; 2]> = open.iter().filter_map(may_be_first).collect();
        let mut tied: Vec<[usize; 2]> = met.iter().filter_map(may_be_first).collect();
        tied.extend(&open_before);
        tied.sort_unstable();
        let frees = met.iter().chain(&open).map(|(_, before)| *before);
        let t_free = frees.fold(1.0, f64::min);
        let outcome = match (&first, open_before.is_empty()) {
            (Some(_), _) => Outcome::Contact,
            (None, true) => Outcome::NoContact,
            (None, false) => Outcome::Undecided,
        };
        let why = Some(Unproven::NoClaim);
        let named = first.map(|first| first.pair.map(|at| u32::try_from(at).unwrap_or(u32::MAX)));
        let proof = wanted.certificate.then(|| Found {
            proof: None,
            open: named.into_iter().collect(),
            why,
        });
        FirstCollisionAnswer {
            outcome,
            t_free,
            first,
            tied,
            meeting: best.and_then(|(_, best)| best.meeting),
            proof,
            stopped: (!open_before.is_empty()).then_some(Stopped::Unresolved),
        }
    }
}

/// Asks all pairs of which one at least is neither a polytope nor a polyhedron.
fn pairwise(
    movers: &[ReadyMover],
    earliest: &mut Earliest,
    effort: &mut Effort<'_>,
) -> Result<(), Stopped> {
    let boxes: Vec<WorldBox> = movers
        .iter()
        .map(|mover| {
            let PlacedBody { body, pose } = &mover.placed;
            WorldBox::around(box_of(body), pose).widened(body.radius())
        })
        .collect();
    let mut pairs: Vec<(f64, [usize; 2])> = Vec::new();
    for q in 1..movers.len() {
        for p in 0..q {
            effort.look_at_clock()?;
            if movers[p].solid.is_some() && movers[q].solid.is_some() {
                continue;
            }
            let travels = [&movers[p].travel, &movers[q].travel];
            if let Some(from) = boxes[p].entry(&boxes[q], travels) {
                pairs.push((from, [p, q]));
            }
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (from, pair) in pairs {
        if earliest.is_past(from, pair) {
            continue;
        }
        effort.spend_step()?;
        let two = pair.map(|place| &movers[place]);
        let motions = Motions::new(two.map(|mover| mover.motion));
        let bodies = two.map(|mover| mover.placed.clone());
        let asked = ask_first_contact(bodies, motions, false, Wanted::NO_PROOF, effort);
        match answered(asked)? {
            Ok(found) => {
                if let Some(candidate) = candidate(pair, &found)? {
                    earliest.take(candidate);
                }
            }
            // It is open how they stand at t = 0.
            Err(Stopped::Unresolved) => earliest.take(MayMeet {
                pair,
                t_free: 0.0,
                t_contact: None,
                initial: Verdict::Separated,
                meeting: None,
            }),
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

/// What two bodies are among several; none: they do not meet.
fn candidate(pair: [usize; 2], found: &FirstContactAnswer) -> Result<Option<MayMeet>, Stopped> {
    let &FirstContactAnswer { outcome, t_free, t_contact, initial, stopped, meeting, .. } = found;
    // A search that ran out of its budget left no answer.
    if let Some(why) = stopped.filter(|why| *why != Stopped::Unresolved) {
        return Err(why);
    }
    let t_contact = match outcome {
        Outcome::NoContact => return Ok(None),
        Outcome::Contact => Some(t_contact),
        Outcome::Undecided => None,
    };
    Ok(Some(MayMeet { pair, t_free, t_contact, initial, meeting }))
}

/// The proof by ways, or by pieces of two bodies that touch at t = 0 and have no way apart.
fn prove(
    bodies: &[Several<'_>],
    collision: Option<&Collision>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Found {
    let found = prove_collision(bodies, collision, steps_max, effort);
    let Some(collision) = collision.filter(|_| found.why == Some(Unproven::NoWay)) else {
        return found;
    };
    if collision.initial != Verdict::Touching {
        return found;
    }
    let surfaces = Surfaces::new(collision.pair.map(|place| &bodies[place].shape));
    match prove_touching(&surfaces, steps_max, effort) {
        Ok(proof) => {
            Found { proof: Some(CollisionProof::AtStart(proof)), open: Vec::new(), why: None }
        }
        Err(why) => Found { why: Some(why), ..found },
    }
}
