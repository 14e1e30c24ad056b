//! Pairs in motion: first contact of translations and of turning bodies, in both orders and from
//! any witness, judged, and held against the verdicts at both ends.

use clearance_geometry::claim::{FirstContact, Outcome, Verdict};
use clearance_geometry::contact_time::first_contact;
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::judge_first_contact;
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Pair;
use clearance_geometry::pair::Question;
use clearance_geometry::pose::{COORDINATE_MAX, Pose};
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, distance};

use crate::bodies::{Placing, pose, vector, witness};
use crate::bytes::Bytes;
use crate::engine::{Behaviour, Target};
use crate::pairs::meet;

pub(crate) const TARGET: Target = Target { name: "motions", seeds: Vec::new, reshape: None, check };

/// Steps for one search. What it has not found by then it has to say.
const STEPS_MAX: u64 = 600;

fn check(input: &[u8]) -> Behaviour {
    let bytes = &mut Bytes::new(input);
    let mut behaviour = Behaviour::default();
    let hostile = witness(bytes);
    let margin = if bytes.below(4) == 3 { bytes.number().abs() } else { 0.0 };
    if !(0.0..=COORDINATE_MAX).contains(&margin) {
        return behaviour;
    }
    let moves = [bytes.below(8), bytes.below(8)];
    let motions = moves.map(|kind| motion(bytes, kind));
    let [Some(of_p), Some(of_q)] = motions else { return behaviour };
    let motions = [of_p, of_q];
    let Some(Placing { p, q, pose_p, pose_q }) = Placing::read(bytes, 8) else { return behaviour };
    let question = |swapped: bool| {
        let pair = Pair::new(&p, pose_p, &q, pose_q);
        let back = Pair::new(&q, pose_q, &p, pose_p);
        let question = if swapped {
            Question::new(back, motions[1], motions[0])
        } else {
            Question::new(pair, motions[0], motions[1])
        };
        Question { reach: margin.into(), ..question }
    };
    let forth = ask(&question(false), &hostile);
    let back = ask(&question(true), &hostile);
    let Some((forth, back)) = forth.zip(back) else { return behaviour };
    agree(&forth, &back);
    check_ends(&question(false), &forth);
    behaviour.note(forth.outcome as u64, 3);
    behaviour.note(forth.initial.verdict() as u64, 3);
    behaviour.note(u64::from(margin > 0.0), 2);
    behaviour.note(u64::from(forth.stopped.is_some()), 2);
    behaviour.note(motions.iter().map(kind_of).sum(), 5);
    behaviour.note(p.dimension().into(), 4);
    behaviour.note(q.dimension().into(), 4);
    behaviour.amount(forth.chain.len() as u64);
    behaviour
}

fn kind_of(motion: &Motion) -> u64 {
    match motion {
        Motion::Linear { .. } => 0,
        Motion::Screw { .. } => 1,
        Motion::ToPose { .. } => 2,
    }
}

fn motion(bytes: &mut Bytes<'_>, kind: usize) -> Option<Motion> {
    let is_allowed = |v: &Vec3| v.iter().all(|x| x.abs() <= COORDINATE_MAX);
    let velocity = Some(vector(bytes)).filter(is_allowed)?;
    let pivot = bytes.flag().then(|| vector(bytes)).filter(is_allowed);
    Some(match kind {
        0..4 => Motion::Linear { velocity },
        4 | 5 => {
            let axis = Some(vector(bytes)).filter(|v| is_allowed(v) && v.norm() > 1e-100)?;
            let angle = bytes.signed() * bytes.of(&[0.0, 1.0, 4.0, 60.0]);
            Motion::Screw { pivot, velocity, axis, angle }
        }
        _ => Motion::ToPose { end: pose(bytes)?, pivot, turn: None },
    })
}

/// The answer from cold and from a hostile witness, which must be the same and proven. None when it
/// takes too long to begin.
fn ask(question: &Question<'_>, hostile: &Witness) -> Option<FirstContact> {
    let mut cold = None;
    for mut witness in [Witness::default(), hostile.clone()] {
        let mut effort = Effort::with_steps(STEPS_MAX);
        let found = first_contact(question, &mut witness, &mut effort).ok()?;
        if let Err(refusal) = judge_first_contact(question, &found) {
            panic!("{refusal}: {found:?} of {question:?}");
        }
        let is_turning = [question.motion_p, question.motion_q].iter().any(|m| kind_of(m) > 0);
        if !is_turning && question.reach.is_zero() {
            assert!(found.stopped.is_some() || found.outcome != Outcome::Undecided, "{question:?}");
        }
        match &cold {
            None => cold = Some(found),
            Some(known) => {
                agree(known, &found);
                if known.stopped.is_none() && found.stopped.is_none() {
                    assert_eq!(known.outcome, found.outcome, "the witness decides: {question:?}");
                }
            }
        }
    }
    cold
}

/// What one answer proves, the other does not deny.
fn agree(a: &FirstContact, b: &FirstContact) {
    assert_eq!(a.initial.verdict(), b.initial.verdict());
    let [met_a, met_b] = [a, b].map(|found| found.outcome == Outcome::Contact);
    if met_a && met_b {
        meet([a.t_free, a.t_contact], [b.t_free, b.t_contact], "times of contact");
    }
    for (met, other) in [(met_a.then_some(a), b), (met_b.then_some(b), a)] {
        let Some(met) = met else { continue };
        assert!(other.t_free <= met.t_contact, "free at the time of contact: {met:?} {other:?}");
        assert!(other.outcome != Outcome::NoContact, "{met:?} and {other:?}");
    }
}

/// Contact at the beginning and at a given end pose is contact on the way.
fn check_ends(question: &Question<'_>, found: &FirstContact) {
    let within = |pair: &Pair<'_>| {
        let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
        let verdict = decide(pair, &METHODS[0], &mut witness, &mut effort).expect("no limit");
        verdict.verdict() != Verdict::Separated
            || !question.reach.is_zero()
                && distance::is_within(pair, question.reach.lower(), &mut witness, &mut effort)
                    .expect("no limit")
    };
    let at_once = found.outcome == Outcome::Contact && found.t_contact <= 0.0;
    assert_eq!(at_once, within(&question.pair), "{found:?} of {question:?}");
    let end = |start: &Pose, motion: &Motion| match motion {
        Motion::ToPose { end, .. } => Some(*end),
        Motion::Linear { velocity } if *velocity == Vec3::zeros() => Some(*start),
        Motion::Linear { .. } | Motion::Screw { .. } => None,
    };
    let Pair { p, q } = question.pair;
    let ends = end(&p.pose, &question.motion_p).zip(end(&q.pose, &question.motion_q));
    if let Some((end_p, end_q)) = ends
        && within(&Pair::new(p.body, end_p, q.body, end_q))
    {
        assert!(found.outcome != Outcome::NoContact, "in contact at the end: {question:?}");
    }
}
