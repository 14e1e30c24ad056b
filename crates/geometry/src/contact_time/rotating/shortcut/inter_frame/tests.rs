//! The inter-frame test against the default search, and at its limits.

use std::f64::consts::SQRT_2;

use super::*;
use crate::contact_time::{first_contact, first_contact_by};
use crate::hull::samples::{
    Random, cloud, cuboid, flat_polygon, polytope_of, segment, sphere, tetrahedron,
};
use crate::judge::judge_first_contact;
use crate::motion::{METRES, Motion, Plain, Track};
use crate::pair::Pair;
use crate::polytope::Polytope;
use crate::pose::Pose;

fn look(question: &Question<'_>) -> Option<FirstContact> {
    let found = first_look(question, &mut Witness::default(), &mut Effort::unlimited());
    let found = found.expect("no budget");
    if let Some(answer) = &found {
        assert_eq!(answer.outcome, Outcome::NoContact);
        assert_eq!(judge_first_contact(question, answer), Ok(()), "{question:?}");
    }
    found
}

fn random_pose(random: &mut Random, at: Vec3) -> Pose {
    let q = [(); 4].map(|()| random.between(-1.0, 1.0));
    Pose::from_quaternion(at, q).expect("not zero")
}

/// A motion of one of every kind, by at most half a turn and most of them by much less.
fn random_motion(random: &mut Random, start: &Pose) -> Motion {
    let angle = random.between(-1.0, 1.0) * [PI, 0.5, 1e-3][random.below(3) as usize];
    let pivot = (random.below(2) == 0).then(|| start.translation + random.in_ball() * 2.0);
    match random.below(4) {
        0 => Motion::Linear { velocity: random.in_ball() * 3.0 },
        1 | 2 => Motion::Screw {
            pivot,
            velocity: random.in_ball() * 2.0,
            axis: random.direction(),
            angle,
        },
        _ => {
            let turn = random.direction() * angle.abs().min(1.0);
            let rotation = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z])
                .expect("not zero")
                .rotation
                * start.rotation;
            Motion::ToPose {
                end: Pose { rotation, translation: start.translation + random.in_ball() },
                pivot,
                turn: None,
            }
        }
    }
}

#[test]
fn what_it_proves_free_is_free_by_the_default_too_and_the_rest_is_handed_over() {
    let mut random = Random::new(2005);
    let bodies = [
        polytope_of(&cuboid(2.0, 0.3, 0.7)),
        polytope_of(&cuboid(1.0, 1.0, 1.0)),
        polytope_of(&tetrahedron(1.0)),
        polytope_of(&cloud(12, Vec3::new(1.0, 1.0, 1.0), 3)),
        polytope_of(&sphere(80, 0.7)),
        polytope_of(&flat_polygon(7, 1.0)),
        polytope_of(&segment(2.0)),
    ];
    // Of the motions that meet, and of those that do not: handed over, proven.
    let mut counts = [[0; 2]; 2];
    for round in 0..1200 {
        let body = |random: &mut Random| &bodies[random.below(7) as usize];
        let (p, q) = (body(&mut random), body(&mut random));
        let offset = random.in_ball() * [0.0, 1e4][round % 2];
        let at_q = offset + random.direction() * random.between(0.8, 3.2);
        let (at_p, at_q) = (random_pose(&mut random, offset), random_pose(&mut random, at_q));
        let motions = [random_motion(&mut random, &at_p), random_motion(&mut random, &at_q)];
        let mut question = Question::new(Pair::new(p, at_p, q, at_q), motions[0], motions[1]);
        if round % 5 == 0 {
            question.reach = random.between(0.0, 0.2).into();
            question.deviation_q = random.between(0.0, 0.2);
        }
        let mut effort = Effort::unlimited();
        let truth = first_contact(&question, &mut Witness::default(), &mut effort).unwrap();
        let found = look(&question);
        let free = truth.outcome == Outcome::NoContact;
        assert!(free || found.is_none(), "round {round}: {question:?}");
        counts[usize::from(free)][usize::from(found.is_some())] += 1;
        let by =
            first_contact_by(&METHOD, &question, &mut Witness::default(), &mut effort).unwrap();
        assert_eq!(by.outcome, truth.outcome, "round {round}");
        assert!(by.t_free <= truth.t_contact && truth.t_free <= by.t_contact, "round {round}");
        if found.is_none() && matches!(motions, [Motion::Screw { .. }, Motion::Screw { .. }]) {
            assert_eq!(by, truth, "handed over, it is the default's answer: round {round}");
        }
    }
    assert!(counts[0][0] > 200, "{counts:?}");
    assert!(counts[1][1] > 4 * counts[1][0] && counts[1][0] > 20, "{counts:?}");
}

#[test]
fn no_point_strays_from_its_chord_by_more_than_the_bound_and_the_middle_does_by_all_of_it() {
    let mut random = Random::new(7);
    let mut largest = 0.0f64;
    for round in 0..400 {
        let at = random.in_ball();
        let start = random_pose(&mut random, at);
        let motion = random_motion(&mut random, &start);
        let v = random.in_ball();
        let body = polytope_of(&[v]);
        let pair = Pair::new(&body, start, &body, start);
        let question = Question::new(pair, motion, motion);
        let look = TurningSearch::new(&question);
        let side = &look.moving.pair.p;
        let bound = if side.plain.turns() { off_chord(side) } else { 0.0 };
        let plain = Plain::new(&Track::new(&start, &motion, METRES));
        let at = |t: f64| plain.place_from_start(&plain.trig(t).expect("few turns"), t, &v);
        for i in 0..=64 {
            let t = f64::from(i) / 64.0;
            let off = (at(t) - (at(0.0) * (1.0 - t) + at(1.0) * t)).norm();
            assert!(off <= bound * (1.0 + 1e-9) + 1e-14, "round {round}, t {t}: {off} {bound}");
            if bound > 1e-3 {
                largest = largest.max(off / bound);
            }
        }
    }
    assert!(largest > 1.0 - 1e-9, "a bound, and not a loose one: {largest}");
}

/// The point (1, -1) turns by a quarter to (1, 1), bulging out to √2, and its hull, inflated by
/// √2 - 1 to all sides, reaches from 2 - √2 to √2. Walls a little nearer and farther on both sides.
#[test]
fn inflated_hulls_that_touch_are_handed_over() {
    let point = polytope_of(&[Vec3::new(1.0, -1.0, 0.0)]);
    let wall = polytope_of(&cuboid(2.0, 40.0, 40.0));
    let turn =
        Motion::Screw { pivot: None, velocity: Vec3::zeros(), axis: Vec3::z(), angle: PI / 2.0 };
    for (side, face) in [(1.0, SQRT_2), (-1.0, 2.0 - SQRT_2)] {
        for (gap, is_clear) in [(-1e-9, false), (0.0, false), (1e-9, true), (0.01, true)] {
            let place = Pose::translation(face + side * (gap + 1.0), 0.0, 0.0);
            let pair = Pair::new(&point, Pose::identity(), &wall, place);
            let question = Question::new(pair, turn, Motion::rest());
            let search = &mut TurningSearch::new(&question);
            let along = free_along(search, &(Vec3::x() * side), 0.0, &mut Effort::unlimited());
            assert_eq!(along.is_some(), is_clear, "side {side}, gap {gap}");
            assert_eq!(look(&question).is_some(), gap > 0.0, "side {side}, gap {gap}");
            let mut effort = Effort::unlimited();
            let truth = first_contact(&question, &mut Witness::default(), &mut effort).unwrap();
            let meets = side > 0.0 && gap <= 0.0;
            assert_eq!(truth.outcome == Outcome::NoContact, !meets, "side {side}, gap {gap}");
        }
    }
}

#[test]
fn hulls_of_one_body_and_of_both_that_travel_past_each_other() {
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let go = |x: f64, y: f64| Motion::Linear { velocity: Vec3::new(x, y, 0.0) };
    let asked = |at: Vec3, p: Motion, q: Motion| {
        let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(at.x, at.y, at.z));
        look(&Question::new(pair, p, q)).is_some()
    };
    // One body flies past the other: above it, through its corner's place, and touching its face.
    assert!(asked(Vec3::new(-3.0, 1.5, 0.0), Motion::rest(), go(6.0, 0.0)));
    assert!(!asked(Vec3::new(-3.0, 0.5, 0.0), Motion::rest(), go(6.0, 0.0)));
    assert!(!asked(Vec3::new(-3.0, 1.0, 0.0), Motion::rest(), go(6.0, 0.0)));
    // One follows the other: their hulls in the world meet, seen from the first they do not.
    assert!(asked(Vec3::new(-2.0, 0.0, 0.0), go(6.0, 0.0), go(6.0, 0.0)));
    // One crosses where the other was before.
    assert!(asked(Vec3::new(2.0, -3.0, 0.0), go(-5.0, 0.0), go(0.0, 6.0)));
}

#[test]
fn more_than_half_a_turn_is_handed_over() {
    let rod = polytope_of(&cuboid(2.0, 0.2, 0.2));
    let pair = Pair::new(&rod, Pose::identity(), &rod, Pose::translation(9.0, 0.0, 0.0));
    for (angle, proven) in [(PI, true), (-PI, true), (PI.next_up(), false), (7.0, false)] {
        let velocity = Vec3::zeros();
        let turn = Motion::Screw { pivot: None, velocity, axis: Vec3::z(), angle };
        assert_eq!(look(&Question::new(pair, turn, Motion::rest())).is_some(), proven);
        assert_eq!(look(&Question::new(pair, Motion::rest(), turn)).is_some(), proven);
    }
}

#[test]
fn margins_and_deviations_are_kept_clear() {
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(-3.0, 1.5, 0.0));
    let fly = Motion::Linear { velocity: Vec3::new(6.0, 0.0, 0.0) };
    let question = Question::new(pair, Motion::rest(), fly);
    for (margin, deviation, proven) in
        [(0.4, 0.0, true), (0.6, 0.0, false), (0.2, 0.1, true), (0.3, 0.15, false)]
    {
        let [deviation_p, deviation_q] = [deviation; 2];
        let asked = Question { reach: margin.into(), deviation_p, deviation_q, ..question };
        assert_eq!(look(&asked).is_some(), proven, "{margin} {deviation}");
    }
}

#[test]
fn a_remembered_vector_answers_without_a_search_and_a_bad_one_changes_nothing() {
    let ball = polytope_of(&sphere(60, 1.0));
    // Their boxes meet, so that the program is asked.
    let pair = Pair::new(&ball, Pose::identity(), &ball, Pose::translation(1.5, 1.5, 1.5));
    let turn = Motion::Screw {
        pivot: None,
        velocity: Vec3::new(0.3, 0.2, 0.0),
        axis: Vec3::y(),
        angle: 0.5,
    };
    let question = Question::new(pair, turn, Motion::rest());
    let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
    let first = first_look(&question, &mut witness, &mut effort).unwrap();
    assert!(first.is_some() && effort.cost.witness_hits == 0);
    let mut effort = Effort::with_steps(0);
    let again = first_look(&question, &mut witness, &mut effort).unwrap();
    assert!(again.is_some() && effort.cost.witness_hits == 1);
    for bad in [Vec3::zeros(), -Vec3::x(), Vec3::repeat(f64::NAN), Vec3::repeat(-1e300)] {
        let mut hostile = Witness { direction: Some(bad), ..Witness::default() };
        hostile.pairs.push(crate::pair::VertexPair { i: 9999, j: 9999 });
        let found = first_look(&question, &mut hostile, &mut Effort::unlimited()).unwrap();
        assert_eq!(found, first);
    }
    let stopped = first_look(&question, &mut Witness::default(), &mut Effort::with_steps(0));
    assert!(matches!(stopped, Err(Stopped::Steps)));
}

#[test]
fn sizes_near_the_ends_of_the_range_of_numbers_change_nothing() {
    let unit_cube = cuboid(1.0, 1.0, 1.0);
    for exponent in [-1000, -500, 0, 500, 940] {
        let unit = 2f64.powi(exponent);
        let cube: Polytope = polytope_of(&unit_cube.iter().map(|v| v * unit).collect::<Vec<_>>());
        let place = Pose::translation(-3.0 * unit, 1.9 * unit, 0.0);
        let motion = |angle| Motion::Screw {
            pivot: None,
            velocity: Vec3::new(6.0 * unit, 0.0, 0.0),
            axis: Vec3::z(),
            angle,
        };
        let pair = Pair::new(&cube, Pose::identity(), &cube, place);
        let near = Question::new(pair, Motion::rest(), motion(1.5));
        assert!(look(&near).is_some(), "2^{exponent}");
        let flies_in =
            Pair::new(&cube, Pose::identity(), &cube, Pose::translation(-3.0 * unit, 0.0, 0.0));
        assert!(look(&Question { pair: flies_in, ..near }).is_none(), "2^{exponent}");
    }
}

/// Lies on z = 0 from below or, with `side` 1, from above: with a face, an edge or next to a point.
/// Some are thin or narrow.
fn lying_on_the_plane(random: &mut Random, side: f64) -> Polytope {
    let points = cloud(10, Vec3::new(1.0, 1.0, 1.0), random.below(1 << 30));
    let shape = random.below(3);
    let [narrow, thin] =
        [[1.0, 1e-3, 1e-7], [1.0, 1e-3, 1e-6]].map(|of| of[random.below(3) as usize]);
    let placed = |v: &Vec3| {
        let v = Vec3::new(v.x, v.y * narrow, v.z * thin);
        if v.z * side > 0.0 {
            return v;
        }
        match shape {
            0 => Vec3::new(v.x, v.y, 0.0),
            1 => Vec3::new(v.x, 0.1 * v.x, 0.0),
            _ => Vec3::new(0.1 * v.x, 0.1 * v.y, 0.0),
        }
    };
    polytope_of(&points.iter().map(placed).collect::<Vec<_>>())
}

/// A remembered plane once proved motions free that pass the other body at a few roundings, where a
/// cold search knows no plane as good and says undecided: what was answered depended on what was
/// remembered.
#[test]
fn motions_that_nearly_graze_are_answered_alike_whatever_plane_is_remembered() {
    let mut random = Random::new(2024);
    let (mut undecided, mut hits) = (0, 0);
    for round in 0..600 {
        let (p, q) = (lying_on_the_plane(&mut random, -1.0), lying_on_the_plane(&mut random, 1.0));
        let turned = [Pose::identity(), random_pose(&mut random, Vec3::zeros())][round % 2];
        let [x, z] = [0, 2].map(|k| turned.rotation.column(k).into_owned());
        let world = random.in_ball() * [0.0, 10.0, 1e4][random.below(3) as usize];
        let gap = 10f64.powf(random.between(-16.0, -11.5)) * (1.0 + world.norm());
        let at_p = Pose { translation: world, ..turned };
        let beside = world + x * random.between(-0.5, 0.5);
        let mut at_q = Pose { translation: beside + z * gap, ..turned };
        let angle = random.between(-3.1, 3.1);
        let velocity = x * random.between(-3.0, 3.0);
        let spin = |velocity, angle| Motion::Screw { pivot: None, velocity, axis: z, angle };
        let mut margin = 0.0;
        let [motion_p, motion_q] = match round % 5 {
            0 => [spin(Vec3::zeros(), angle), Motion::rest()],
            1 => [Motion::Linear { velocity }, spin(Vec3::zeros(), angle)],
            2 => [spin(velocity, angle), spin(Vec3::zeros(), -0.3 * angle)],
            3 => {
                margin = gap;
                at_q.translation += z * gap;
                let end = Pose { translation: at_q.translation + velocity, ..at_q };
                [Motion::rest(), Motion::ToPose { end, pivot: None, turn: None }]
            }
            _ => [Motion::rest(), spin(z * gap, angle)],
        };
        let pair = Pair::new(&p, at_p, &q, at_q);
        let question = Question { reach: margin.into(), ..Question::new(pair, motion_p, motion_q) };
        let mut ask = |direction: Option<Vec3>| {
            // Some grazes take many more, and stay undecided.
            let mut effort = Effort::with_steps(2000);
            let mut witness = Witness { direction, ..Witness::default() };
            let found = first_contact_by(&METHOD, &question, &mut witness, &mut effort);
            hits += effort.cost.witness_hits;
            found.map_or(Outcome::Undecided, |answer| answer.outcome)
        };
        let cold = ask(None);
        undecided += u32::from(cold == Outcome::Undecided);
        for plane in [z, -z, x] {
            assert_eq!(ask(Some(plane)), cold, "round {round}: {question:?}");
        }
    }
    assert!(undecided > 20 && hits > 100, "{undecided} {hits}");
}

/// Two cubes far apart, two that fly past each other, and a cube and a ball whose extended boxes
/// meet although their hulls do not.
#[test]
fn extended_boxes_answer_first_and_only_where_they_are_apart() {
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let ball = polytope_of(&sphere(60, 1.0));
    let go = |x: f64, y: f64| Motion::Linear { velocity: Vec3::new(x, y, 0.0) };
    let turn = Motion::Screw {
        pivot: None,
        velocity: Vec3::new(1.0, 0.0, 0.0),
        axis: Vec3::new(1.0, 2.0, 3.0),
        angle: 0.3,
    };
    let asked = |body: &Polytope, at: Vec3, motion: Motion| {
        let pair = Pair::new(&cube, Pose::identity(), body, Pose::translation(at.x, at.y, at.z));
        let question = Question::new(pair, Motion::rest(), motion);
        let (mut effort, mut witness) = (Effort::unlimited(), Witness::default());
        let found = first_look(&question, &mut witness, &mut effort).unwrap();
        (found.is_some(), effort.cost.by_bounds, effort.cost.steps > 0)
    };
    assert_eq!(asked(&cube, Vec3::new(9.0, 0.0, 0.0), turn), (true, 1, false));
    assert_eq!(asked(&cube, Vec3::new(-3.0, 1.5, 0.0), go(6.0, 0.0)), (true, 1, false));
    // Across an edge of the extended box, where no normal of either box separates.
    assert_eq!(asked(&cube, Vec3::new(1.2, -1.0, 0.0), go(1.0, 1.0)), (true, 1, false));
    assert_eq!(asked(&cube, Vec3::new(-3.0, 0.9, 0.0), go(6.0, 0.0)), (false, 0, true));
    assert_eq!(asked(&ball, Vec3::repeat(1.3), go(0.1, 0.0)), (true, 0, true));
}

/// How many of the steps that are proven free the boxes answer, over bodies of the size of their
/// box that start at most three boxes apart and travel up to three.
#[test]
fn extended_boxes_answer_most_of_what_the_program_would() {
    let mut random = Random::new(51);
    let bodies = [
        polytope_of(&cuboid(1.0, 0.7, 0.5)),
        polytope_of(&cloud(12, Vec3::new(1.0, 1.0, 1.0), 3)),
        polytope_of(&cloud(60, Vec3::new(1.0, 0.6, 0.4), 5)),
        polytope_of(&sphere(80, 0.7)),
    ];
    let (mut free, mut by_boxes) = (0, 0);
    for _ in 0..2000 {
        let body = |random: &mut Random| &bodies[random.below(4) as usize];
        let (p, q) = (body(&mut random), body(&mut random));
        let at = random.direction() * random.between(1.5, 4.5);
        let (at_p, at_q) = (random_pose(&mut random, Vec3::zeros()), random_pose(&mut random, at));
        let motions = [&at_p, &at_q].map(|start| random_motion(&mut random, start));
        let question = Question::new(Pair::new(p, at_p, q, at_q), motions[0], motions[1]);
        let mut effort = Effort::unlimited();
        let found = first_look(&question, &mut Witness::default(), &mut effort).unwrap();
        free += u64::from(found.is_some());
        by_boxes += effort.cost.by_bounds;
    }
    eprintln!("extended boxes answer {by_boxes} of {free}");
    assert!(by_boxes * 10 > free * 7 && by_boxes < free, "{by_boxes} of {free}");
}
