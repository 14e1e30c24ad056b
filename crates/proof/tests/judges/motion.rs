//! Claims about motions that hold, and that do not: links, contacts, margins, effort.

use clearance_geometry::pair::Pair;
use clearance_geometry::pair::Question;
use clearance_proof::Vec3;
use clearance_proof::claim::*;
use clearance_proof::claim::{Direction, Frame, MotionClaim};
use clearance_proof::effort::{Effort, Stopped};
use clearance_proof::judge::*;
use clearance_proof::motion::Motion;
use clearance_proof::pose::Pose;
use clearance_proof::vertex_pair::VertexPair;
use clearance_samples::{ball, cuboid};

const X: Direction = Direction::Vector(Vec3::new(1.0, 0.0, 0.0));

/// A cube flies at another, whose face is 1 away, at 2 a step: contact at 0.5.
fn judged(outcome: Outcome, tamper: impl FnOnce(&mut MotionClaim<'_>)) -> Result<(), Refusal> {
    let cube = cuboid(1.0, 1.0, 1.0);
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
    let fly = Motion::Linear { velocity: Vec3::new(2.0, 0.0, 0.0) };
    let question = Question::new(pair, fly, Motion::rest());
    let link = Link { t0: 0.0, t1: 0.499, frame: Frame::World, direction: X };
    let meeting = [VertexPair { i: 4, j: 0 }];
    let mut claim = MotionClaim {
        outcome,
        t_free: 0.499,
        t_contact: 0.5,
        chain: &[link],
        pairs: &meeting,
        initial: None,
    };
    tamper(&mut claim);
    judge_motion(&(&question).into(), &claim, &mut Effort::unlimited())
}

#[test]
fn a_chain_proves_freedom_and_pairs_prove_contact_without_the_verdict_at_the_start() {
    assert_eq!(judged(Outcome::Contact, |_| {}), Ok(()));
    let late = judged(Outcome::Contact, |claim| claim.t_contact = 0.5f64.next_down());
    assert_eq!(late, Err(Refusal::OriginNotHeld));
    const FIVE: &[VertexPair] = &[VertexPair { i: 4, j: 0 }; 5];
    assert_eq!(judged(Outcome::Contact, |claim| claim.pairs = &FIVE[..4]), Ok(()));
    let refused = judged(Outcome::Contact, |claim| claim.pairs = FIVE);
    assert_eq!(refused, Err(Refusal::PairCount("one to four")));
}

/// One link a hundred thousand times is a chain that joins, and kept its judge at work on large
/// bodies for days, after whoever sent it had gone.
#[test]
fn a_chain_is_judged_no_longer_than_the_effort_lasts() {
    let link = Link { t0: 0.0, t1: 0.499, frame: Frame::World, direction: X };
    let chain = vec![link; 100_000];
    let cube = cuboid(1.0, 1.0, 1.0);
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
    let fly = Motion::Linear { velocity: Vec3::new(2.0, 0.0, 0.0) };
    let judged = |motion: Motion, chain: &[Link], steps: u64| {
        let question = Question::new(pair, motion, Motion::rest());
        let claim = MotionClaim {
            outcome: Outcome::Undecided,
            t_free: 0.499,
            t_contact: 1.0,
            chain,
            pairs: &[],
            initial: None,
        };
        judge_motion(&(&question).into(), &claim, &mut Effort::with_steps(steps))
    };
    assert_eq!(judged(fly, &chain, 10), Err(Refusal::Stopped(Stopped::Steps)));
    assert_eq!(judged(fly, &chain[..10], 10), Ok(()));
    // One link may be looked at many times if something turns.
    let turn = Motion::Screw {
        velocity: Vec3::new(2.0, 0.0, 0.0),
        axis: Vec3::x(),
        angle: 20.0,
        pivot: None,
    };
    let turning = [Link { frame: Frame::P, ..link }];
    assert_eq!(judged(turn, &turning, 3), Err(Refusal::Stopped(Stopped::Steps)));
    assert_eq!(judged(turn, &turning, 1_000), Ok(()));
}

/// Millions of vertices were made ready for a first link, and any deadline waited for that.
#[test]
fn the_vertices_of_bodies_in_motion_are_made_ready_no_longer_than_the_effort_lasts() {
    let ball = ball(5_000, 1);
    let pair = Pair::new(&ball, Pose::identity(), &ball, Pose::translation(3.0, 0.0, 0.0));
    let spin = Motion::Screw { velocity: Vec3::zeros(), axis: Vec3::x(), angle: 1.0, pivot: None };
    let question = Question::new(pair, spin, Motion::rest());
    let link = Link { t0: 0.0, t1: 1.0, frame: Frame::World, direction: X };
    let chain = &[link];
    let (outcome, t_free, t_contact) = (Outcome::NoContact, 1.0, 1.0);
    let claim = MotionClaim { outcome, t_free, t_contact, chain, pairs: &[], initial: None };
    let effort = &mut Effort::unlimited();
    assert_eq!(judge_motion(&(&question).into(), &claim, effort), Ok(()));
    assert!(effort.cost.steps >= 8, "{:?}", effort.cost);
    for steps in 0..effort.cost.steps {
        let judged = judge_motion(&(&question).into(), &claim, &mut Effort::with_steps(steps));
        assert_eq!(judged, Err(Refusal::Stopped(Stopped::Steps)), "{steps}");
    }
}

#[test]
fn an_empty_chain_proves_no_more_than_the_verdict_at_the_start_does() {
    let nothing = |claim: &mut MotionClaim<'_>| (claim.t_free, claim.chain) = (0.0, &[]);
    assert_eq!(judged(Outcome::Contact, nothing), Err(Refusal::ChainGap(0)));
    assert_eq!(judged(Outcome::Undecided, nothing), Err(Refusal::ChainGap(0)));
    const INITIAL: &StaticProof = &StaticProof::Separated { direction: X };
    let proven = judged(Outcome::Contact, |claim| {
        nothing(claim);
        claim.initial = Some(INITIAL);
    });
    assert_eq!(proven, Ok(()));
    let refused = judged(Outcome::NoContact, |_| {});
    assert_eq!(refused, Err(Refusal::BoundFails("no contact is free until the end")));
}

/// The start was once taken for free of coming within the margin because it is separated.
#[test]
fn with_a_margin_an_empty_chain_proves_only_a_start_that_is_farther_apart() {
    let cube = cuboid(1.0, 1.0, 1.0);
    // The faces are 1 apart, and meet at 0.5.
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
    let fly = Motion::Linear { velocity: Vec3::new(2.0, 0.0, 0.0) };
    let turn = Motion::Screw {
        pivot: None,
        velocity: Vec3::new(2.0, 0.0, 0.0),
        axis: Vec3::x(),
        angle: 1e-9,
    };
    let along = |x: f64| Direction::Vector(Vec3::new(1.0, x, 0.0));
    let judged = |motion, margin: f64, deviation_p, outcome, direction| {
        let question = Question {
            reach: margin.into(),
            deviation_p,
            ..Question::new(pair, motion, Motion::rest())
        };
        let initial = StaticProof::Separated { direction };
        let all: Vec<VertexPair> =
            [(4, 3), (5, 0), (6, 0), (0, 4)].map(|(i, j)| VertexPair { i, j }).into();
        let claim = MotionClaim {
            outcome,
            t_free: 0.0,
            t_contact: 0.6,
            chain: &[],
            pairs: &all,
            initial: Some(&initial),
        };
        judge_motion(&(&question).into(), &claim, &mut Effort::unlimited())
    };
    let fails = Err(Refusal::BoundFails("the start is farther apart than the margin"));
    for motion in [fly, turn] {
        let contact = |margin, deviation, direction| {
            judged(motion, margin, deviation, Outcome::Contact, direction)
        };
        // Within the margin, also by just nothing, there is contact at t = 0.
        for margin in [1.0, 1.5] {
            assert_eq!(contact(margin, 0.0, X), fails);
            // Who says neither claims no more than the verdict.
            assert_eq!(judged(motion, margin, 0.0, Outcome::Undecided, X), Ok(()));
        }
        assert_eq!(contact(1.0f64.next_down(), 0.0, X), Ok(()));
        // The direction separates, but by less than the margin.
        assert_eq!(contact(0.875, 0.0, along(0.25)), fails);
        assert_eq!(contact(0.0, 0.0, along(0.25)), Ok(()));
        // The start itself does not deviate.
        assert_eq!(contact(0.5, 2.0, X), Ok(()));
    }
}

#[test]
fn contact_at_the_start_is_proven_by_pairs_that_hold_the_origin_there() {
    let at_start = |claim: &mut MotionClaim<'_>| {
        (claim.t_free, claim.t_contact, claim.chain) = (0.0, 0.0, &[]);
    };
    assert_eq!(judged(Outcome::Contact, at_start), Err(Refusal::OriginNotHeld));
    let none = judged(Outcome::Contact, |claim| {
        at_start(claim);
        claim.pairs = &[];
    });
    assert_eq!(none, Err(Refusal::PairCount("one to six")));
    let nothing_free =
        judged(Outcome::Contact, |claim| (claim.t_free, claim.t_contact) = (0.0, 0.0));
    assert_eq!(nothing_free, Err(Refusal::ChainGap(0)));
}

/// Pairs beyond three used to be refused where a margin is, and by the other judge accepted.
#[test]
fn contact_at_the_start_within_a_margin_is_proven_by_up_to_six_pairs() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
    let initial = StaticProof::Separated { direction: X };
    let face: Vec<VertexPair> = [(4, 0), (5, 1), (6, 2), (7, 3), (4, 3), (5, 2), (6, 1)]
        .map(|(i, j)| VertexPair { i, j })
        .into();
    let judged = |margin: f64, pairs| {
        let question = Question {
            reach: margin.into(),
            ..Question::new(pair, Motion::rest(), Motion::rest())
        };
        let claim = MotionClaim {
            outcome: Outcome::Contact,
            t_free: 0.0,
            t_contact: 0.0,
            chain: &[],
            pairs,
            initial: Some(&initial),
        };
        judge_motion(&(&question).into(), &claim, &mut Effort::unlimited())
    };
    for count in 1..=6 {
        assert_eq!(judged(1.0, &face[..count]), Ok(()), "{count}");
        let nearer = judged(1.0f64.next_down(), &face[..count]);
        assert_eq!(nearer, Err(Refusal::OriginNotHeld), "{count}");
    }
    assert_eq!(judged(1.0, &face), Err(Refusal::PairCount("one to six")));
}

/// Corners come to (2, 3, 6) from each other at a third of the step and no nearer, which is 7.
#[test]
fn what_is_nearest_in_a_sweep_proves_a_miss_of_the_margin_by_an_ulp() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(1.0, 7.0, 8.0));
    let velocity = Vec3::new(9.0, -6.0, 0.0);
    let corner =
        |x: f64| cube.vertices().iter().position(|v| *v == Vec3::repeat(x)).unwrap() as u32;
    let corners = VertexPair { i: corner(1.0), j: corner(-1.0) };
    let nearest = |pairs, negative| Direction::Nearest { pairs, negative };
    let judged = |margin: f64, motion, direction, outcome, [t_free, t_contact]: [f64; 2]| {
        let question =
            Question { reach: margin.into(), ..Question::new(pair, Motion::rest(), motion) };
        let link = Link { t0: 0.0, t1: t_free, frame: Frame::World, direction };
        let (chain, pairs) = (&[link], &[corners]);
        let claim = MotionClaim { outcome, t_free, t_contact, chain, pairs, initial: None };
        judge_motion(&(&question).into(), &claim, &mut Effort::unlimited())
    };
    let linear = Motion::Linear { velocity };
    let towards = nearest([corners; 3], false);
    let (below, step) = (7.0f64.next_down(), [1.0, 1.0]);
    let misses =
        |margin, motion, direction| judged(margin, motion, direction, Outcome::NoContact, step);
    assert_eq!(misses(below, linear, towards), Ok(()));
    let fails = Err(Refusal::LinkFails(0));
    assert_eq!(misses(7.0, linear, towards), fails);
    assert_eq!(misses(below, linear, nearest([corners; 3], true)), fails);
    let other = VertexPair { i: corners.i, j: corners.j ^ 1 };
    assert_eq!(misses(below, linear, nearest([other; 3], false)), fails);
    let none = VertexPair { i: 8, j: 0 };
    let refused = misses(below, linear, nearest([corners, corners, none], false));
    assert_eq!(refused, Err(Refusal::NoSuchVertex(2)));
    // Of a motion that turns it is the one at the start, and the gap along that gets less.
    let turn = Motion::Screw { pivot: None, velocity, axis: Vec3::z(), angle: 1e-9 };
    assert_eq!(misses(below, turn, towards), fails);
    assert_eq!(misses(1.0, turn, towards), Ok(()));
    // Free until just before a third, in contact by just after.
    let third = 1.0 / 3.0;
    let meets = |times| judged(7.0, linear, towards, Outcome::Contact, times);
    assert_eq!(meets([third, third.next_up()]), Ok(()));
    assert_eq!(meets([third.next_up(), third.next_up().next_up()]), fails);
    assert_eq!(meets([third.next_down(), third]), Err(Refusal::OriginNotHeld));
}
