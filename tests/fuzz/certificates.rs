//! Certificates from anybody: valid ones, valid ones with something changed, and inventions. A
//! judge never panics, and what it accepts is true.

use arrayvec::ArrayVec;
use clearance_geometry::claim::{
    Axis, Direction, FirstContact, Frame, Outcome, StaticProof, Verdict,
};
use clearance_geometry::contact_time::first_contact;
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{judge_depth, judge_distance, judge_first_contact, judge_static};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Question;
use clearance_geometry::pair::{Pair, VertexPair};
use clearance_geometry::separation::{METHODS, decide, exhaustive};
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, penetration};

use crate::bodies::{Placing, vector};
use crate::bytes::Bytes;
use crate::engine::{Behaviour, Target};
use crate::pairs::{edges, meet};

pub(crate) const TARGET: Target =
    Target { name: "certificates", seeds: Vec::new, reshape: None, check };

fn check(input: &[u8]) -> Behaviour {
    let bytes = &mut Bytes::new(input);
    let mut behaviour = Behaviour::default();
    let kind = bytes.below(4);
    let Some(placing) = Placing::read(bytes, 8) else { return behaviour };
    let Placing { p, q, pose_p, pose_q } = &placing;
    let pair = Pair::new(p, *pose_p, q, *pose_q);
    let brute = edges(p) + edges(q) <= 16;
    let verdict = if brute { exhaustive::oracle(&pair) } else { decided(&pair).verdict() };
    behaviour.note(kind as u64, 4);
    behaviour.note(verdict as u64, 3);
    match kind {
        0 => verdicts(bytes, &pair, verdict, &mut behaviour),
        1 => distances(bytes, &pair, &mut behaviour),
        2 => depths(bytes, &pair, verdict, &mut behaviour),
        _ => contacts(bytes, &pair, &mut behaviour),
    }
    behaviour
}

fn decided(pair: &Pair<'_>) -> StaticProof {
    let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
    decide(pair, &METHODS[0], &mut witness, &mut effort).expect("no limit").proof
}

fn verdicts(bytes: &mut Bytes<'_>, pair: &Pair<'_>, truth: Verdict, behaviour: &mut Behaviour) {
    let mut proof = match bytes.below(4) {
        0 => {
            let separated = StaticProof::Separated { direction: direction(bytes) };
            let touching =
                StaticProof::Touching { direction: direction(bytes), pairs: pairs(bytes) };
            let overlapping = StaticProof::Overlapping { pairs: pairs(bytes) };
            [separated, touching, overlapping][bytes.below(3)].clone()
        }
        _ => decided(pair),
    };
    let changes = bytes.below(3);
    for _ in 0..changes {
        change(bytes, &mut proof);
    }
    let judged = judge_static(pair, &proof);
    assert!(judged.is_err() || proof.verdict() == truth, "{truth:?}: {proof:?} of {pair:?}");
    behaviour.note(proof.verdict() as u64, 3);
    behaviour.note(u64::from(judged.is_ok()), 2);
    behaviour.note(changes as u64, 3);
}

fn distances(bytes: &mut Bytes<'_>, pair: &Pair<'_>, behaviour: &mut Behaviour) {
    let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
    let truth = distance::measure(pair, Stops::default(), &mut witness, &mut effort);
    let truth = truth.expect("no limit");
    let (mut lower, mut upper) = (truth.lower, truth.upper);
    let mut named: Vec<VertexPair> = truth.pairs.to_vec();
    match bytes.below(6) {
        0 => named = pairs::<6>(bytes).to_vec(),
        1 => shift(bytes, &mut named),
        2 => lower = bytes.number(),
        3 => upper = bytes.number(),
        4 => (lower, upper) = (lower.next_up(), upper.next_up()),
        _ => upper = upper.next_down(),
    }
    let judged = judge_distance(pair, lower, upper, &named);
    if judged.is_ok() {
        meet([lower, upper], [truth.lower, truth.upper], "an accepted distance");
    }
    behaviour.note(u64::from(judged.is_ok()), 2);
    behaviour.note(named.len().min(4) as u64, 5);
}

fn depths(bytes: &mut Bytes<'_>, pair: &Pair<'_>, truth: Verdict, behaviour: &mut Behaviour) {
    let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
    let depth = penetration::measure(pair, true, &mut witness, &mut effort).expect("no limit");
    let (mut lower, mut upper) = (depth.lower, depth.upper);
    let mut face = depth.face.unwrap_or_else(|| direction(bytes));
    let mut surface = depth.surface.clone().unwrap_or_default();
    match bytes.below(8) {
        0 => change_direction(bytes, &mut face),
        1 => face = direction(bytes),
        2 => lower = lower.next_up() + bytes.number().abs(),
        3 => upper = bytes.number(),
        4 => shift(bytes, &mut surface.corners),
        5 if !surface.triangles.is_empty() => {
            let at = bytes.below(surface.triangles.len().min(256));
            if bytes.flag() {
                surface.triangles.swap_remove(at);
            } else {
                surface.triangles[at].swap(0, 1);
            }
        }
        6 if !surface.triangles.is_empty() => {
            let at = bytes.below(surface.triangles.len().min(256));
            surface.triangles[at][bytes.below(3)] = u32::from(bytes.byte());
        }
        _ => {}
    }
    let judged = judge_depth(pair, [lower, upper], &face, Some(&surface), &mut Effort::unlimited());
    if judged.is_ok() {
        if truth == Verdict::Overlapping {
            meet([lower, upper], [depth.lower, depth.upper], "an accepted depth");
        } else {
            assert!(lower <= 0.0, "a depth of at least {lower} where there is none: {pair:?}");
        }
    }
    behaviour.note(u64::from(judged.is_ok()), 2);
    behaviour.amount(surface.triangles.len() as u64);
}

fn contacts(bytes: &mut Bytes<'_>, pair: &Pair<'_>, behaviour: &mut Behaviour) {
    let mut motion = || Motion::Linear { velocity: vector(bytes) };
    let question = Question::new(*pair, motion(), motion());
    let is_allowed = |v: &Vec3| v.iter().all(|x| x.abs() <= 2f64.powi(960));
    if question_velocities(&question).iter().any(|v| !is_allowed(v)) {
        return;
    }
    let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
    let truth = first_contact(&question, &mut witness, &mut effort).expect("no limit");
    let mut claim = truth.clone();
    for _ in 0..bytes.below(3) {
        change_contact(bytes, &mut claim);
    }
    let judged = judge_first_contact(&question, &claim);
    if judged.is_ok() {
        let is_true = match (claim.outcome, truth.outcome) {
            (Outcome::Contact, Outcome::Contact) => {
                claim.t_free <= truth.t_contact && truth.t_free <= claim.t_contact
            }
            (Outcome::NoContact, Outcome::NoContact) => true,
            (Outcome::Undecided, Outcome::Contact) => claim.t_free <= truth.t_contact,
            (Outcome::Undecided, _) => true,
            (Outcome::Contact | Outcome::NoContact, _) => false,
        };
        assert!(is_true, "accepted: {claim:?} and not {truth:?} of {question:?}");
    }
    behaviour.note(u64::from(judged.is_ok()), 2);
    behaviour.note(claim.outcome as u64, 3);
    behaviour.note(truth.outcome as u64, 3);
    behaviour.amount(claim.chain.len() as u64);
}

fn question_velocities(question: &Question<'_>) -> Vec<Vec3> {
    let motions = [question.motion_p, question.motion_q];
    let velocity = |motion| match motion {
        Motion::Linear { velocity } | Motion::Screw { velocity, .. } => Some(velocity),
        Motion::ToPose { .. } => None,
    };
    motions.into_iter().filter_map(velocity).collect()
}

fn change_contact(bytes: &mut Bytes<'_>, claim: &mut FirstContact) {
    let link = bytes.below(claim.chain.len().clamp(1, 256));
    let changed = claim.chain.get_mut(link);
    match bytes.below(10) {
        0 => claim.t_free = bytes.number(),
        1 => claim.t_contact = bytes.number(),
        2 => claim.t_free = claim.t_free.next_up(),
        3 => claim.t_contact = claim.t_contact.next_down(),
        4 => claim.outcome = bytes.of(&[Outcome::Contact, Outcome::NoContact, Outcome::Undecided]),
        5 => claim.pairs = pairs(bytes),
        6 => change(bytes, &mut claim.initial),
        7 => drop(claim.chain.pop()),
        8 => {
            if let Some(link) = changed {
                if bytes.flag() {
                    link.direction = direction(bytes);
                } else {
                    change_direction(bytes, &mut link.direction);
                }
                link.frame = bytes.of(&[Frame::World, Frame::P, Frame::Q]);
            }
        }
        _ => {
            if let Some(link) = changed {
                link.t1 = bytes.of(&[link.t1.next_down(), link.t1.next_up(), 1.0, f64::NAN]);
            }
        }
    }
}

fn index(bytes: &mut Bytes<'_>) -> u32 {
    match bytes.byte() {
        255 => u32::MAX,
        small => u32::from(small) % 9,
    }
}

fn pairs<const N: usize>(bytes: &mut Bytes<'_>) -> ArrayVec<VertexPair, N> {
    (0..bytes.below(N + 1)).map(|_| VertexPair { i: index(bytes), j: index(bytes) }).collect()
}

pub(crate) fn direction(bytes: &mut Bytes<'_>) -> Direction {
    let mut pair = || VertexPair { i: index(bytes), j: index(bytes) };
    let (three, two) = ([pair(), pair(), pair()], [pair(), pair()]);
    let negative = bytes.flag();
    match bytes.below(5) {
        0 => Direction::Vector(vector(bytes)),
        1 => Direction::Normal { pairs: three, negative },
        2 => Direction::EdgeNormal { pairs: two, axis: bytes.of(&Axis::ALL), negative },
        3 => Direction::SweptNormal { pairs: two, negative },
        _ if bytes.flag() => Direction::Nearest { pairs: three, negative },
        _ => Direction::SweptAxis { axis: bytes.of(&Axis::ALL), negative },
    }
}

/// One index more or less.
fn shift(bytes: &mut Bytes<'_>, pairs: &mut [VertexPair]) {
    if pairs.is_empty() {
        return;
    }
    let pair = &mut pairs[bytes.below(pairs.len().min(256))];
    let index = if bytes.flag() { &mut pair.i } else { &mut pair.j };
    *index = if bytes.flag() { index.wrapping_add(1) } else { index.wrapping_sub(1) };
}

pub(crate) fn change_direction(bytes: &mut Bytes<'_>, direction: &mut Direction) {
    match direction {
        Direction::Vector(v) => {
            let at = bytes.below(3);
            v[at] = bytes.of(&[v[at].next_up(), v[at].next_down(), -v[at], 0.0, f64::NAN]);
        }
        Direction::Normal { pairs, negative } | Direction::Nearest { pairs, negative } => {
            *negative ^= bytes.flag();
            shift(bytes, pairs);
        }
        Direction::EdgeNormal { pairs, axis, negative } => {
            *negative ^= bytes.flag();
            *axis = bytes.of(&Axis::ALL);
            shift(bytes, pairs);
        }
        Direction::SweptNormal { pairs, negative } => {
            *negative ^= bytes.flag();
            shift(bytes, pairs);
        }
        Direction::SweptAxis { axis, negative } => {
            *negative ^= bytes.flag();
            *axis = bytes.of(&Axis::ALL);
        }
    }
}

fn change(bytes: &mut Bytes<'_>, proof: &mut StaticProof) {
    let becomes = bytes.below(6);
    match proof {
        StaticProof::Separated { direction } if becomes == 0 => {
            *proof = StaticProof::Touching { direction: *direction, pairs: pairs(bytes) };
        }
        StaticProof::Touching { direction, .. } if becomes == 0 => {
            *proof = StaticProof::Separated { direction: *direction };
        }
        StaticProof::Touching { pairs, .. } if becomes == 1 => {
            *proof = StaticProof::Overlapping { pairs: pairs.iter().copied().collect() };
        }
        StaticProof::Touching { pairs, .. } if becomes == 2 => drop(pairs.pop()),
        StaticProof::Overlapping { pairs } if becomes == 0 => drop(pairs.pop()),
        StaticProof::Overlapping { pairs } => shift(bytes, pairs),
        StaticProof::Touching { pairs, .. } if becomes == 3 => shift(bytes, pairs),
        StaticProof::Separated { direction } | StaticProof::Touching { direction, .. } => {
            change_direction(bytes, direction);
        }
    }
}
