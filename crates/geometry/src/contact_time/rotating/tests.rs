//! First contact of turning bodies against known times, dense sampling, and at its limits.

use std::f64::consts::{PI, TAU};

use arrayvec::ArrayVec;

use super::advance::step::{Advance, CertifiedStep};
use super::advance::step::{PIECES_A_LINK_MAX, take_step};
use super::bounds::moving::MeasuredGap;
use super::machine::{CLOSE_STEPS_MAX, STEPS_BEYOND_SINE_RANGE_MAX};
use super::*;
use crate::claim::{Frame, Link, Verdict};
use crate::contact_time;
use crate::hull::samples::{Random, cloud, cuboid, polytope_of, segment, sphere};
use crate::judge::judge_first_contact;
use crate::motion::Motion;
use crate::pair::{Pair, VertexPair};
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::{Vec3, distance};

mod aim;
mod exact;
mod judged;
mod limits;
mod many;
mod passing;
mod posed;
mod skewed;
mod still;
mod widths;

fn turn(axis: [f64; 3], angle: f64) -> Motion {
    let (velocity, axis) = (Vec3::zeros(), Vec3::from(axis));
    Motion::Screw { pivot: None, velocity, axis, angle }
}

fn find(question: &Question<'_>) -> FirstContact {
    let answer =
        contact_time::first_contact(question, &mut Witness::default(), &mut Effort::unlimited())
            .expect("no budget");
    assert_eq!(judge_first_contact(question, &answer), Ok(()), "{answer:?}");
    answer
}

fn assert_contact_at(answer: &FirstContact, time: f64) {
    assert_eq!(answer.outcome, Outcome::Contact, "{answer:?}");
    assert!(answer.t_contact - answer.t_free <= crate::claim::TIME_TOLERANCE, "{answer:?}");
    assert!(answer.t_free <= time + 1e-13 && time - 1e-13 <= answer.t_contact, "{answer:?} {time}");
}

/// A rod of half length 2 and half width 0.1 about z, and a wall whose near face is at y = `at`.
fn rod_and_wall() -> (Polytope, Polytope) {
    (polytope_of(&cuboid(4.0, 0.2, 0.2)), polytope_of(&cuboid(20.0, 2.0, 20.0)))
}

/// The angle at which the rod's corner (2, 0.1) reaches the height.
fn corner_reaches(height: f64) -> f64 {
    (height / 4.01f64.sqrt()).asin() - (0.1f64 / 2.0).atan()
}

#[test]
fn a_rod_turning_into_a_wall_meets_it_at_the_arc_sine() {
    let (rod, wall) = rod_and_wall();
    for height in [0.3, 1.0, 1.7, 1.999] {
        for angle in [1.6, 3.0, 12.0] {
            let pair =
                Pair::new(&rod, Pose::identity(), &wall, Pose::translation(0.0, height + 1.0, 0.0));
            let question = Question::new(pair, turn([0.0, 0.0, 1.0], angle), Motion::rest());
            assert_contact_at(&find(&question), corner_reaches(height) / angle);
            let swapped = Pair { p: pair.q, q: pair.p };
            let question = Question::new(swapped, Motion::rest(), turn([0.0, 0.0, 1.0], angle));
            assert_contact_at(&find(&question), corner_reaches(height) / angle);
        }
    }
}

#[test]
fn a_pivot_far_away_loses_no_precision() {
    // The pivot is 10^6 below the rod, so that a tiny turn is nearly a translation along -x.
    let (rod, wall) = rod_and_wall();
    let far = 1e6;
    let angle = 2e-6;
    let pair = Pair::new(&rod, Pose::identity(), &wall, Pose::translation(-13.0, 0.0, 0.0));
    let motion = Motion::Screw {
        pivot: Some(Vec3::new(0.0, -far, 0.0)),
        velocity: Vec3::zeros(),
        axis: Vec3::z(),
        angle,
    };
    let answer = find(&Question::new(pair, motion, Motion::rest()));
    // Corner (-2, 0.1): x = -2 cos φ - (far + 0.1) sin φ reaches -3.
    let solve = |x: f64| {
        let radius = (far + 0.1).hypot(2.0);
        (x / radius).asin() - (2.0 / (far + 0.1)).atan()
    };
    // The arc sine of this small number has an error of 1e-16 relative to 3e-6 / 2e-6.
    assert_contact_at(&answer, solve(3.0) / angle);
    assert!(answer.chain.len() < 6);
}

#[test]
fn turning_away_and_spinning_a_hundred_times_beside_a_wall_is_free_and_cheap() {
    let (rod, wall) = rod_and_wall();
    let beside = Pose::translation(0.0, 1.0 + 2.01, 0.0);
    let pair = Pair::new(&rod, Pose::identity(), &wall, beside);
    for angle in [-PI / 3.0, 200.0 * PI, -200.0 * PI] {
        let answer = find(&Question::new(pair, turn([0.0, 0.0, 1.0], angle), Motion::rest()));
        assert_eq!(answer.outcome, Outcome::NoContact, "{answer:?}");
        assert_eq!(answer.chain.len(), 1, "{:?}", answer.chain);
    }
}

#[test]
fn a_hundred_turns_towards_a_wall_meet_it_in_the_right_turn() {
    let (rod, wall) = rod_and_wall();
    let pair = Pair::new(&rod, Pose::identity(), &wall, Pose::translation(0.0, 5.0, 0.0));
    let velocity = Vec3::new(0.0, 3.0, 0.0);
    let motion = Motion::Screw { pivot: None, velocity, axis: Vec3::z(), angle: 200.0 * PI };
    let answer = find(&Question::new(pair, motion, Motion::rest()));
    // The highest corner is at 3 t + max over the four of the turned corner: first root by search.
    let top = |t: f64| {
        let (s, c) = (200.0 * PI * t).sin_cos();
        3.0 * t + 2.0 * s.abs() + 0.1 * c.abs() - 4.0
    };
    let mut first = 0.0;
    while top(first) < 0.0 {
        first += 1e-6;
    }
    assert_eq!(answer.outcome, Outcome::Contact);
    assert!((answer.t_contact - first).abs() < 2e-6, "{} {first}", answer.t_contact);
    assert!(top(answer.t_free).abs() < 1e-5);
}

#[test]
fn a_thin_plate_that_swings_through_a_thin_post_between_samples_is_caught() {
    let plate = polytope_of(&cuboid(2.0, 1e-6, 1.0));
    let post = polytope_of(&cuboid(1e-6, 1e-6, 4.0));
    // The plate starts along x; the post stands on the y axis, 0.7 from the pivot.
    let pair = Pair::new(&plate, Pose::identity(), &post, Pose::translation(0.0, 0.7, 0.0));
    let answer = find(&Question::new(pair, turn([0.0, 0.0, 1.0], 3.0), Motion::rest()));
    assert_eq!(answer.outcome, Outcome::Contact);
    // The post is of half width 5e-7, as is the plate.
    assert!((answer.t_contact * 3.0 - PI / 2.0).abs() < 2e-6, "{answer:?}");
    let short = polytope_of(&cuboid(1.39, 1e-6, 1.0));
    let pair = Pair { p: crate::pair::Placed { body: &short, ..pair.p }, ..pair };
    let answer = find(&Question::new(pair, turn([0.0, 0.0, 1.0], 3.0), Motion::rest()));
    assert_eq!(answer.outcome, Outcome::NoContact);
}

#[test]
fn grazing_by_a_hair_is_decided_both_ways_and_an_exact_graze_is_undecided() {
    let (_, wall) = rod_and_wall();
    // The tip is at exactly 2 from the pivot and goes over the top at a quarter turn.
    let needle = polytope_of(&segment(4.0));
    let start = Pose::identity();
    for (gap, outcome) in [
        (1e-8, Outcome::NoContact),
        (1e-11, Outcome::NoContact),
        (0.0, Outcome::Undecided),
        (-1e-11, Outcome::Contact),
        (-1e-8, Outcome::Contact),
    ] {
        let pose = Pose::translation(0.0, 3.0 + gap, 0.0);
        let pair = Pair::new(&needle, start, &wall, pose);
        let answer = find(&Question::new(pair, turn([0.1, 0.0, 2.0], 3.0), Motion::rest()));
        // The axis is tilted a little, so the tip's highest point is a little lower.
        assert_eq!(answer.outcome, Outcome::NoContact);
        let answer = find(&Question::new(pair, turn([0.0, 0.0, 2.0], 3.0), Motion::rest()));
        assert_eq!(answer.outcome, outcome, "gap {gap}: {answer:?}");
        assert_eq!(answer.stopped, None);
        if outcome == Outcome::Contact {
            let time = ((2.0 + gap) / 2.0).asin() / 3.0;
            assert!(answer.t_free <= time && time <= answer.t_contact + 1e-15, "{answer:?} {time}");
            // The closing speed is 6 cos(asin(..)); the clearance tolerance is 1e-12 here.
            let speed = 6.0 * (1.0 - ((2.0 + gap) / 2.0).powi(2)).sqrt();
            assert!(answer.t_contact - answer.t_free <= 1e-9 + 2e-12 / speed, "{answer:?}");
        }
    }
}

#[test]
fn a_margin_is_met_at_the_time_that_the_distance_is_and_deviation_shortens_the_free_part() {
    let (rod, wall) = rod_and_wall();
    let pair = Pair::new(&rod, Pose::identity(), &wall, Pose::translation(0.0, 2.5, 0.0));
    let question = Question::new(pair, turn([0.0, 0.0, 1.0], 1.5), Motion::rest());
    let answer = find(&Question { reach: 0.25.into(), ..question });
    assert_contact_at(&answer, corner_reaches(1.25) / 1.5);
    let answer = find(&Question { deviation_p: 0.1, deviation_q: 0.05, ..question });
    assert_eq!(answer.outcome, Outcome::Contact);
    let (kept, met) = (corner_reaches(1.35) / 1.5, corner_reaches(1.5) / 1.5);
    assert!((answer.t_free - kept).abs() < 1e-9 && answer.t_free < kept, "{answer:?}");
    assert!((answer.t_contact - met).abs() < 1e-9 && answer.t_contact > met, "{answer:?}");
    let answer = find(&Question { reach: 1.5.into(), ..question });
    assert_eq!((answer.outcome, answer.t_free, answer.t_contact), (Outcome::Contact, 0.0, 0.0));
    assert!(answer.chain.is_empty() && !answer.pairs.is_empty());
}

#[test]
fn contact_at_the_start_is_decided_exactly_and_has_no_chain() {
    let (_, wall) = rod_and_wall();
    let rod = polytope_of(&cuboid(4.0, 0.25, 0.25));
    let pair = Pair::new(&rod, Pose::identity(), &wall, Pose::translation(0.0, 1.125, 0.0));
    let answer = find(&Question::new(pair, turn([1.0, 0.0, 0.0], 3.0), Motion::rest()));
    assert_eq!(answer.initial.verdict(), Verdict::Touching);
    assert_eq!((answer.outcome, answer.t_free, answer.t_contact), (Outcome::Contact, 0.0, 0.0));
    assert!(answer.chain.is_empty());
}

#[test]
fn sizes_near_the_ends_of_the_range_of_numbers_change_nothing() {
    for exponent in [-1000, -700, 0, 300, 940] {
        let unit = 2f64.powi(exponent);
        let scaled =
            |points: Vec<Vec3>| polytope_of(&points.iter().map(|p| p * unit).collect::<Vec<_>>());
        let rod = scaled(cuboid(4.0, 0.25, 0.25));
        let wall = scaled(cuboid(20.0, 2.0, 20.0));
        let place = Pose::translation(0.0, 2.5 * unit, 0.0);
        let pair = Pair::new(&rod, Pose::identity(), &wall, place);
        let answer = find(&Question::new(pair, turn([0.0, 0.0, 1.0], 1.5), Motion::rest()));
        let time = (1.5 / 2.0f64.hypot(0.125)).asin() - (0.125f64 / 2.0).atan();
        assert_contact_at(&answer, time / 1.5);
    }
}

#[test]
fn a_budget_ends_the_search_with_what_is_proven() {
    let (rod, wall) = rod_and_wall();
    let pair = Pair::new(&rod, Pose::identity(), &wall, Pose::translation(0.0, 2.99, 0.0));
    let question = Question::new(pair, turn([0.0, 0.1, 1.0], 1.6), Motion::rest());
    let mut best = -1.0;
    for steps in 1..200 {
        let mut effort = Effort::with_steps(steps);
        let mut witness = Witness::default();
        let Ok(answer) = contact_time::first_contact(&question, &mut witness, &mut effort) else {
            continue;
        };
        assert!(answer.t_free >= best);
        best = answer.t_free;
        if answer.stopped.is_none() {
            assert!(best > 0.5 && answer.outcome == Outcome::Contact, "{answer:?}");
            assert!(steps > 3);
            return;
        }
        assert_eq!((answer.outcome, answer.t_contact), (Outcome::Undecided, 1.0));
        assert_eq!(answer.stopped, Some(Stopped::Steps));
    }
    panic!("two hundred steps were not enough");
}

fn random_pose(random: &mut Random, far: f64) -> Pose {
    let q = [(); 4].map(|()| random.between(-1.0, 1.0));
    let t = random.in_ball() * far;
    Pose::from_quaternion(t, q).expect("not zero")
}

fn random_motion(random: &mut Random, kind: u64) -> Motion {
    let velocity = random.in_ball() * 2.0;
    match kind {
        0 => Motion::Linear { velocity },
        1 => turn(random.direction().into(), random.between(-7.0, 7.0)),
        2 => Motion::Screw {
            pivot: Some(random.in_ball() * 5.0),
            velocity,
            axis: random.direction() * 3.0,
            angle: random.between(-4.0, 4.0),
        },
        3 => Motion::ToPose { end: random_pose(random, 3.0), pivot: None, turn: None },
        _ => Motion::ToPose {
            end: random_pose(random, 3.0),
            pivot: Some(random.in_ball() * 2.0),
            turn: None,
        },
    }
}

fn separated_at(question: &Question<'_>, t: f64) -> bool {
    let mut pair = question.pair;
    pair.p.pose = question.motion_p.pose_rounded(&pair.p.pose, t);
    pair.q.pose = question.motion_q.pose_rounded(&pair.q.pose, t);
    let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
    let decision = separation::decide(&pair, &separation::METHODS[0], &mut witness, &mut effort);
    decision.expect("no budget").verdict() == Verdict::Separated
}

#[test]
fn random_motions_of_all_kinds_agree_with_dense_sampling() {
    let mut random = Random::new(7);
    let bodies = [
        polytope_of(&cuboid(2.0, 0.3, 0.7)),
        polytope_of(&cloud(20, Vec3::new(1.0, 1.0, 1.0), 3)),
        polytope_of(&cloud(9, Vec3::new(2.0, 0.1, 0.02), 4)),
        polytope_of(&sphere(60, 0.8)),
    ];
    let mut counts = [0, 0, 0];
    for _ in 0..150 {
        let p = &bodies[random.below(4) as usize];
        let q = &bodies[random.below(4) as usize];
        let pair = Pair::new(p, random_pose(&mut random, 1.5), q, random_pose(&mut random, 1.5));
        let kinds = (random.below(5), random.below(5));
        let motion_p = random_motion(&mut random, kinds.0);
        let motion_q = random_motion(&mut random, kinds.1);
        let question = Question::new(pair, motion_p, motion_q);
        if !separated_at(&question, 0.0) {
            continue;
        }
        let answer = find(&question);
        assert_eq!(answer.stopped, None);
        let free_until = match answer.outcome {
            Outcome::Contact => {
                counts[0] += 1;
                assert!(answer.t_contact - answer.t_free < 1.1e-9, "{answer:?}");
                assert!(!separated_at(&question, answer.t_contact), "{question:?} {answer:?}");
                answer.t_free
            }
            Outcome::NoContact => {
                counts[1] += 1;
                1.0
            }
            Outcome::Undecided => {
                counts[2] += 1;
                answer.t_free
            }
        };
        for i in 0..=300 {
            let t = f64::from(i) / 300.0;
            if t < free_until {
                assert!(separated_at(&question, t), "at {t}: {question:?} {answer:?}");
            }
        }
    }
    assert!(counts[0] > 20 && counts[1] > 50 && counts[2] == 0, "{counts:?}");
}

#[test]
fn bodies_that_turn_together_stay_as_they_are_along_one_heading() {
    let (rod, wall) = rod_and_wall();
    let pair = Pair::new(&rod, Pose::identity(), &wall, Pose::translation(0.0, 1.2, 0.0));
    let motion = Motion::Screw {
        pivot: Some(Vec3::new(0.3, -0.2, 0.1)),
        velocity: Vec3::new(1.0, 2.0, 3.0),
        axis: Vec3::new(1.0, 1.0, 5.0),
        angle: 50.0 * TAU,
    };
    let answer = find(&Question::new(pair, motion, motion));
    assert_eq!(answer.outcome, Outcome::NoContact);
    assert!(answer.chain.len() <= 2, "{}", answer.chain.len());
}

#[test]
fn margins_deviations_and_many_turns_of_random_bodies_are_proven_either_way() {
    let mut random = Random::new(23);
    let bodies = [
        polytope_of(&cuboid(2.0, 0.05, 0.7)),
        polytope_of(&cloud(60, Vec3::new(1.0, 0.6, 0.3), 3)),
        polytope_of(&segment(3.0)),
    ];
    let mut counts = [0, 0];
    for round in 0..40 {
        let p = &bodies[random.below(3) as usize];
        let q = &bodies[random.below(3) as usize];
        let (at_p, at_q) = (random_pose(&mut random, 1.6), random_pose(&mut random, 1.6));
        let turns = if round % 4 == 0 { random.between(100.0, 600.0) } else { 6.0 };
        let spin = Motion::Screw {
            pivot: None,
            velocity: random.in_ball() * 2.0,
            axis: random.direction(),
            angle: turns,
        };
        let other = random_motion(&mut random, round % 5);
        let question = Question {
            reach: random.between(0.0, 0.2).into(),
            deviation_p: if round % 2 == 0 { 0.0 } else { 1e-3 },
            ..Question::new(Pair::new(p, at_p, q, at_q), spin, other)
        };
        // The judge inside `find` is the point of this test.
        match find(&question).outcome {
            Outcome::Contact => counts[0] += 1,
            Outcome::NoContact => counts[1] += 1,
            Outcome::Undecided => panic!("{question:?}"),
        }
    }
    assert!(counts.iter().all(|n| *n > 8), "{counts:?}");
}

#[test]
fn a_wheel_of_a_thousand_vertices_spins_beside_a_wall_as_cheaply_as_one_of_ten() {
    // Large bodies are bounded by their balls at first. The ball of a wheel sticks out of the
    // cylinder that it turns in, so the swept solids met, and each of the 500 teeth that pass the
    // wall in each of the 100 turns took its own steps: seconds instead of microseconds.
    let wheel = |teeth: u32| {
        let rim = (0..teeth).flat_map(|i| {
            let (y, x) = (TAU * f64::from(i) / f64::from(teeth)).sin_cos();
            [-0.15, 0.15].map(|z| Vec3::new(x, y, z))
        });
        polytope_of(&rim.collect::<Vec<_>>())
    };
    let wall = polytope_of(&cuboid(6.0, 1.0, 6.0));
    for teeth in [10, 500] {
        let wheel = wheel(teeth);
        let pair =
            Pair::new(&wheel, Pose::identity(), &wall, Pose::translation(0.0, -1.5 - 1e-4, 0.0));
        let question = Question::new(pair, turn([0.0, 0.0, 1.0], 100.0 * TAU), Motion::rest());
        let mut effort = Effort::unlimited();
        let answer =
            contact_time::first_contact(&question, &mut Witness::default(), &mut effort).unwrap();
        assert_eq!(judge_first_contact(&question, &answer), Ok(()), "{answer:?}");
        assert_eq!(answer.outcome, Outcome::NoContact);
        assert!(effort.cost.supports < 2_000, "{:?}", effort.cost);
    }
}

#[test]
fn the_last_link_before_a_turning_plate_meets_a_point_in_its_plane_is_not_refused() {
    // The last link turns with the plate and has a gap of 1e-15. The judge computed the height of
    // the plate's own vertices from the turned direction and back, loose by as much, and refused.
    let plate = polytope_of(
        &[[-1.0, -0.2], [1.0, -0.2], [1.0, 0.2], [-1.0, 0.2]].map(|[x, y]| Vec3::new(x, y, 0.0)),
    );
    let point = polytope_of(&[Vec3::new(0.1, 0.0, 0.0)]);
    for (x, y, angle) in [
        (-0.17337920071858684, 0.8689332444086082, 2.3986673247436148),
        (0.2641044510054354, 0.502974054903004, 1.8955168095039392),
        (-0.1, 0.7, 2.0),
        (0.05, 0.6, 1.1),
    ] {
        let pair = Pair::new(&plate, Pose::identity(), &point, Pose::translation(x, y, 0.0));
        let question = Question::new(pair, turn([0.0, 0.0, 1.0], angle), Motion::rest());
        let answer = find(&question);
        assert!(answer.t_free > 0.0 && !answer.chain.is_empty());
    }
}
