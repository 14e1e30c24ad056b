//! The certified search against the features' first meeting.

use std::f64::consts::PI;

use super::*;
use crate::claim::{FirstContact, Outcome, TIME_TOLERANCE, Verdict};
use crate::contact_time::first_contact;
use crate::effort::Effort;
use crate::hull::samples::{
    Random, cloud, cuboid, octahedron, polytope_of, prism, segment, sphere, tetrahedron,
};
use crate::pair::Pair;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::separation::{self, decide};
use crate::witness::Witness;

fn screw(pivot: Option<Vec3>, velocity: Vec3, axis: Vec3, angle: f64) -> Motion {
    Motion::Screw { pivot, velocity, axis, angle }
}

fn small_bodies() -> [Polytope; 8] {
    let cube = Vec3::repeat(1.0);
    [
        tetrahedron(0.8),
        cuboid(1.0, 0.7, 0.4),
        cuboid(1.6, 0.1, 0.3),
        octahedron(0.6),
        prism(3, 0.5, 0.9),
        cloud(8, cube, 1),
        cloud(10, cube, 2),
        cloud(12, Vec3::new(1.0, 0.6, 0.3), 3),
    ]
    .map(|points| polytope_of(&points))
}

fn random_pose(random: &mut Random, at: Vec3) -> Pose {
    let q = [(); 4].map(|()| random.between(-1.0, 1.0));
    Pose::from_quaternion(at, q).expect("not zero")
}

/// Of one of the kinds: a turn about an axis through the body or not, a screw, a translation
/// towards the other body, rest.
fn random_motion(random: &mut Random, at: &Vec3, towards: &Vec3, kind: u64) -> Motion {
    let angle = random.between(-1.0, 1.0) * [1.0, 3.0, 9.0][random.below(3) as usize];
    let (axis, pivot) = (random.direction(), at + random.in_ball());
    match kind {
        0 => screw(None, Vec3::zeros(), axis, angle),
        1 => screw(Some(pivot), Vec3::zeros(), axis, angle),
        2 => screw(Some(pivot), random.in_ball() * 1.5, axis, angle),
        3 => {
            let velocity = towards * random.between(0.0, 1.5) + random.in_ball() * 0.5;
            Motion::Linear { velocity }
        }
        _ => Motion::rest(),
    }
}

/// The answer of the certified search, if the bodies are apart at the start.
fn certified(question: &Question<'_>) -> Option<FirstContact> {
    let answer = first_contact(question, &mut Witness::default(), &mut Effort::unlimited());
    answer.ok().filter(|answer| answer.t_contact > 0.0)
}

/// What both say: free, in contact at a time, which the features know to `width`, or they are not
/// sure whether.
fn compare(question: &Question<'_>, answer: &FirstContact, width: f64) -> Option<bool> {
    match (first_meeting(question).expect("a motion of its kind"), answer.outcome) {
        (Meeting::Never, outcome) => {
            assert_eq!(outcome, Outcome::NoContact, "{question:?} {answer:?}");
            Some(false)
        }
        (Meeting::Between(from, Some(to)), outcome) => {
            assert_eq!(outcome, Outcome::Contact, "{question:?} {answer:?}");
            let meet = answer.t_free <= to && from <= answer.t_contact;
            assert!(meet, "[{from}, {to}] {question:?} {answer:?}");
            assert!(to - from <= width, "[{from}, {to}] {question:?}");
            Some(true)
        }
        (Meeting::Between(from, None), _) => {
            assert!(from <= answer.t_contact, "{from} {question:?} {answer:?}");
            None
        }
    }
}

#[test]
fn the_certified_bracket_meets_the_features_for_hundreds_of_small_bodies() {
    let bodies = small_bodies();
    let mut random = Random::new(1987);
    // Free, in contact, not sure.
    let mut counts = [0; 3];
    for round in 0..400 {
        let body = |random: &mut Random| &bodies[random.below(8) as usize];
        let (p, q) = (body(&mut random), body(&mut random));
        let far = random.in_ball() * [0.0, 100.0][round % 2];
        let apart = random.direction() * random.between(0.7, 1.6);
        let at_p = random_pose(&mut random, far);
        let at_q = random_pose(&mut random, far + apart);
        // One turns and the other does not, but for some rounds, in which both may.
        let kinds = match round % 6 {
            0 => (random.below(5), random.below(5)),
            1 => (3 + random.below(2), random.below(3)),
            _ => (random.below(3), 3 + random.below(2)),
        };
        let motion_p = random_motion(&mut random, &far, &apart, kinds.0);
        let motion_q = random_motion(&mut random, &(far + apart), &-apart, kinds.1);
        let question = Question::new(Pair::new(p, at_p, q, at_q), motion_p, motion_q);
        let Some(answer) = certified(&question) else { continue };
        match compare(&question, &answer, TIME_TOLERANCE) {
            Some(meets) => counts[usize::from(meets)] += 1,
            None => counts[2] += 1,
        }
    }
    assert!(counts[0] > 150 && counts[1] > 100 && counts[2] <= 1, "{counts:?}");
}

/// Moves Q along a line to where the bodies just graze, and from there a little to both sides.
#[test]
fn grazes_by_a_hair_are_told_alike() {
    let bodies = small_bodies();
    let mut random = Random::new(4);
    let mut counts = [0; 3];
    for round in 0..12 {
        let (p, q) = (&bodies[round % 5], &bodies[random.below(5) as usize]);
        let (at_p, turned) = (Pose::identity(), random_pose(&mut random, Vec3::zeros()));
        let (away, axis) = (random.direction(), random.direction());
        let angle = random.between(1.0, 4.0);
        let drift = random.in_ball();
        let asked = |far: f64| {
            let at_q = Pose { translation: away * far, ..turned };
            let motion_p = screw(None, Vec3::zeros(), axis, angle);
            let motion_q = Motion::Linear { velocity: drift };
            Question::new(Pair::new(p, at_p, q, at_q), motion_p, motion_q)
        };
        let meets = |far: f64| {
            let question = asked(far);
            let method = &separation::METHODS[0];
            let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
            let start = decide(&question.pair, method, &mut witness, &mut effort).unwrap();
            start.verdict() != Verdict::Separated
                || first_meeting(&question) != Some(Meeting::Never)
        };
        let (mut near, mut far) = (0.0, 4.0);
        for _ in 0..20 {
            let middle = 0.5 * (near + far);
            if meets(middle) { near = middle } else { far = middle }
        }
        for off in [-1e-3, -1e-5, 1e-5, 1e-3] {
            let question = asked(far + off);
            let Some(answer) = certified(&question) else { continue };
            // Where bodies slide by, much time passes within the oracle's resolution of distances.
            match compare(&question, &answer, 1e-4) {
                Some(meets) => counts[usize::from(meets)] += 1,
                None => counts[2] += 1,
            }
        }
    }
    assert!(counts[0] > 15 && counts[1] > 8 && counts[2] < 6, "{counts:?}");
}

#[test]
fn a_rod_meets_a_wall_at_the_arc_sine_and_misses_one_beyond_its_reach() {
    let rod = polytope_of(&cuboid(4.0, 0.2, 0.2));
    let wall = polytope_of(&cuboid(20.0, 2.0, 20.0));
    for height in [0.3, 1.0, 1.7, 1.999] {
        for angle in [1.6, 3.0, 12.0] {
            let pair =
                Pair::new(&rod, Pose::identity(), &wall, Pose::translation(0.0, height + 1.0, 0.0));
            let turn = screw(None, Vec3::zeros(), Vec3::z() * 3.0, angle);
            let found = first_meeting(&Question::new(pair, turn, Motion::rest()));
            let time = ((height / 4.01f64.sqrt()).asin() - (0.1f64 / 2.0).atan()) / angle;
            let Some(Meeting::Between(from, Some(to))) = found else { panic!("{found:?}") };
            assert!(from <= time && time <= to && to - from < 1e-9, "{found:?} {time}");
        }
    }
    let pair = Pair::new(&rod, Pose::identity(), &wall, Pose::translation(0.0, 3.01, 0.0));
    let turn = screw(None, Vec3::zeros(), Vec3::z(), 200.0 * PI);
    assert_eq!(first_meeting(&Question::new(pair, turn, Motion::rest())), Some(Meeting::Never));
}

#[test]
fn translating_boxes_meet_face_to_face_when_they_should() {
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let small = polytope_of(&cuboid(0.5, 0.5, 0.5));
    let pair = Pair::new(&cube, Pose::identity(), &small, Pose::translation(2.75, 0.1, 0.1));
    let fly = Motion::Linear { velocity: Vec3::new(-4.0, 0.0, 0.0) };
    let found = first_meeting(&Question::new(pair, Motion::rest(), fly));
    let Some(Meeting::Between(from, Some(to))) = found else { panic!("{found:?}") };
    assert!(from <= 0.5 && 0.5 <= to, "{found:?}");
    let past = Motion::Linear { velocity: Vec3::new(-2.0, 2.0, 0.0) };
    assert_eq!(first_meeting(&Question::new(pair, Motion::rest(), past)), Some(Meeting::Never));
}

#[test]
fn of_what_it_does_not_treat_it_says_nothing() {
    let (cube, rod) = (polytope_of(&cuboid(1.0, 1.0, 1.0)), polytope_of(&segment(2.0)));
    let place = Pose::translation(3.0, 0.0, 0.0);
    let pair = Pair::new(&cube, Pose::identity(), &cube, place);
    let turn = screw(None, Vec3::zeros(), Vec3::z(), 1.0);
    let question = Question::new(pair, turn, Motion::rest());
    assert_eq!(first_meeting(&question), Some(Meeting::Never));
    let end = Pose::identity();
    for other in [
        Question { reach: 0.1.into(), ..question },
        Question { deviation_q: 0.1, ..question },
        Question { motion_q: Motion::ToPose { end, pivot: None, turn: None }, ..question },
        Question { motion_q: screw(None, Vec3::zeros(), Vec3::z(), 1e9), ..question },
        Question { pair: Pair::new(&cube, Pose::identity(), &rod, place), ..question },
    ] {
        assert_eq!(first_meeting(&other), None, "{other:?}");
    }
}

/// Asks about balls of so many vertices that fly into each other and turn.
fn about_turning_balls(vertices: u32, rounds: u32, mut ask: impl FnMut(&Question<'_>)) {
    let mut random = Random::new(u64::from(vertices));
    let [p, q] = [1.0, 1.01].map(|radius| polytope_of(&sphere(vertices, radius)));
    for _ in 0..rounds {
        let mut turn =
            |velocity| screw(None, velocity, random.direction(), random.between(0.2, 1.0));
        let motions = [turn(Vec3::zeros()), turn(Vec3::x() * -4.0)];
        let pair = Pair::new(&p, Pose::identity(), &q, Pose::translation(4.0, 0.0, 0.0));
        ask(&Question::new(pair, motions[0], motions[1]));
    }
}

/// What §4 costs: the time of this test beside that of the next one, for the header. In a release
/// build: `cargo test --release --lib -- --ignored --exact` and its path.
#[test]
#[ignore = "a timing"]
fn a_thousand_turning_balls_by_all_features() {
    about_turning_balls(50, 1000, |question| assert!(first_meeting(question).is_some()));
}

/// See [`a_thousand_turning_balls_by_all_features`].
#[test]
#[ignore = "a timing"]
fn a_hundred_thousand_turning_balls_by_the_certified_search() {
    about_turning_balls(50, 100_000, |question| {
        let effort = &mut Effort::unlimited();
        let found = first_contact(question, &mut Witness::default(), effort).unwrap();
        assert_eq!(found.outcome, Outcome::Contact);
    });
}
