//! Contacts that only exact numbers decide: in a plane that the bodies share, and at the end.

use super::*;

/// A regular polygon in the plane z = 0.
fn polygon(corners: u32, radius: f64) -> Polytope {
    let corner = |i: u32| {
        let (y, x) = (TAU * f64::from(i) / f64::from(corners)).sin_cos();
        Vec3::new(radius * x, radius * y, 0.0)
    };
    polytope_of(&(0..corners).map(corner).collect::<Vec<_>>())
}

/// The middle of the bracket of the same motion with both bodies made thick.
fn thick_time(p: &Polytope, q: &Polytope, up: Vec3, question: &Question<'_>) -> f64 {
    let thick = |body: &Polytope| {
        let both = |v: &Vec3| [-0.5, 0.5].map(|z| v + up * z);
        polytope_of(&body.vertices().iter().flat_map(both).collect::<Vec<_>>())
    };
    let (p, q) = (thick(p), thick(q));
    let pair = Pair::new(&p, question.pair.p.pose, &q, question.pair.q.pose);
    let answer = find(&Question { pair, ..*question });
    assert_eq!(answer.outcome, Outcome::Contact);
    0.5 * (answer.t_free + answer.t_contact)
}

#[test]
fn coplanar_plates_and_segments_that_turn_in_their_plane_meet_when_thick_ones_do() {
    let mut random = Random::new(31);
    let mut contacts = 0;
    for round in 0..100 {
        let bar = polytope_of(&segment(2.4));
        let corners = 3 + u32::try_from(random.below(9)).unwrap();
        let (p, q) = (polygon(corners, 1.0), polygon(3 + round % 5, 0.8));
        let (p, q) = if round % 4 == 0 { (bar, q) } else { (p, q) };
        let at = |random: &mut Random, far: f64| {
            let angle: f64 = random.between(0.0, 3.0);
            let turn = [angle.cos(), 0.0, 0.0, angle.sin()];
            let place = Vec3::new(far, random.between(-0.5, 0.5), 7.3);
            Pose::from_quaternion(place, turn).expect("a unit quaternion")
        };
        let (at_p, at_q) = (at(&mut random, 0.0), at(&mut random, 2.3));
        let spin = |random: &mut Random| Motion::Screw {
            pivot: None,
            velocity: Vec3::new(random.between(-1.0, 1.0), random.between(-0.4, 0.4), 0.25),
            axis: Vec3::new(0.0, 0.0, random.between(-3.0, 3.0)),
            angle: random.between(0.5, 6.0),
        };
        let pair = Pair::new(&p, at_p, &q, at_q);
        let question = Question::new(pair, spin(&mut random), spin(&mut random));
        let answer = find(&question);
        assert_ne!(answer.outcome, Outcome::Undecided, "{question:?} {answer:?}");
        if answer.outcome == Outcome::Contact && answer.t_contact > 0.0 {
            contacts += 1;
            assert!(answer.t_contact - answer.t_free < 1.1e-9, "{answer:?}");
            let time = thick_time(&p, &q, Vec3::z(), &question);
            assert!((answer.t_contact - time).abs() < 2e-9, "{answer:?} {time}");
            assert!((3..=6).contains(&answer.pairs.len()));
            // The same pairs prove nothing when the plane is left by the least amount.
            let mut off = question;
            off.pair.q.pose.translation.z = 7.3f64.next_up();
            assert!(judge_first_contact(&off, &answer).is_err());
        }
    }
    assert!(contacts > 12, "{contacts}");
}

/// A point of the plane x + y + z = 0, exactly.
fn slanted(x: f64, y: f64) -> Vec3 {
    let [x, y] = [x, y].map(|x| (x * 1_048_576.0).round() / 1_048_576.0);
    Vec3::new(x, y - x, -y)
}

/// Only planes across a coordinate axis were seen as common ones once, and the rest stayed
/// undecided.
#[test]
fn plates_that_turn_in_a_slanted_plane_meet_when_thick_ones_do() {
    let mut random = Random::new(32);
    let mut contacts = 0;
    let cycle = crate::Mat3::new(0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0);
    for round in 0..60 {
        let plate = |corners, radius| {
            let flat = polygon(corners, radius);
            polytope_of(&flat.vertices().iter().map(|v| slanted(v.x, v.y)).collect::<Vec<_>>())
        };
        let (p, q) = (plate(3 + round % 8, 1.0), plate(3 + round % 5, 0.8));
        let at = |random: &mut Random, far: f64| Pose {
            rotation: if random.below(2) == 0 { cycle } else { crate::Mat3::identity() },
            translation: slanted(far, random.between(-0.5, 0.5)) + Vec3::new(0.0, 7.25, 0.0),
        };
        let (at_p, at_q) = (at(&mut random, 0.0), at(&mut random, 2.4));
        let mut spin = |way: f64, turns: f64| Motion::Screw {
            pivot: None,
            velocity: slanted(way * random.between(0.0, 1.0), random.between(-0.4, 0.4))
                + Vec3::new(0.25, 0.0, 0.0),
            axis: Vec3::repeat(random.between(-3.0, 3.0)),
            angle: turns * random.between(0.5, 6.0),
        };
        let motion_q = spin(-1.0, f64::from(round % 3));
        let question = Question::new(Pair::new(&p, at_p, &q, at_q), spin(1.0, 1.0), motion_q);
        let answer = find(&question);
        assert_ne!(answer.outcome, Outcome::Undecided, "{question:?} {answer:?}");
        if answer.outcome == Outcome::Contact && answer.t_contact > 0.0 {
            contacts += 1;
            assert!(answer.t_contact - answer.t_free < 1.1e-9, "{answer:?}");
            let time = thick_time(&p, &q, Vec3::repeat(1.0), &question);
            assert!((answer.t_contact - time).abs() < 2e-9, "{answer:?} {time}");
            // Not when a plane, or an axis, is off by the least amount.
            let mut off = question;
            off.pair.q.pose.translation.y = off.pair.q.pose.translation.y.next_up();
            assert!(judge_first_contact(&off, &answer).is_err());
            let mut off = question;
            let Motion::Screw { axis, .. } = &mut off.motion_p else { panic!("a screw") };
            axis.x = axis.x.next_up();
            assert!(judge_first_contact(&off, &answer).is_err());
        }
    }
    assert!(contacts > 12, "{contacts}");
}

#[test]
fn contact_at_exactly_the_end_is_decided_by_the_exact_end_pose() {
    // A cube that turns a quarter and comes to lie exactly on, above and in the floor.
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let floor = polytope_of(&cuboid(8.0, 8.0, 1.0));
    let quarter = crate::Mat3::new(1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0);
    for (height, outcome) in
        [(1.0, Outcome::Contact), (1.0 + 1e-6, Outcome::NoContact), (1.0 - 1e-6, Outcome::Contact)]
    {
        let end = Pose { rotation: quarter, translation: Vec3::new(0.3, -0.2, height) };
        let pair = Pair::new(&cube, Pose::translation(0.0, 0.0, 3.0), &floor, Pose::identity());
        for pivot in [None, Some(Vec3::new(1.0, 0.2, 3.2))] {
            let question =
                Question::new(pair, Motion::ToPose { end, pivot, turn: None }, Motion::rest());
            let answer = find(&question);
            assert_eq!(answer.outcome, outcome, "{height}: {answer:?}");
            if (height - 1.0).abs() < 1e-9 {
                assert!(answer.t_contact >= 1.0);
                assert!(answer.t_free > 1.0 - 1e-9, "{answer:?}");
                // Pairs that prove nothing there are refused.
                let mut other = answer.clone();
                other.pairs.truncate(1);
                assert!(answer.pairs.len() > 1 || other == answer);
                other.pairs[0] = VertexPair { i: 0, j: 0 };
                assert!(judge_first_contact(&question, &other).is_err());
            }
        }
    }
}

/// A sliver of 20,000 km by a tenth of a micrometre turns into a tetrahedron: rounding leaves
/// little of it to prove a contact with on the way, and although it ends in the tetrahedron,
/// exactly, that stayed undecided.
#[test]
fn a_sliver_that_is_nearly_lost_in_rounding_is_in_contact_by_the_end() {
    let points =
        |all: &[[f64; 3]]| polytope_of(&all.iter().map(|v| Vec3::from(*v)).collect::<Vec<_>>());
    let third = 1.0 / 3.0;
    let sliver = points(&[
        [1e7, 0.0, -(third + f64::EPSILON / 4.0)],
        [-1e7, 0.0, -third],
        [0.0, 1e-7, -third - 1e-7],
    ]);
    let tetrahedron =
        points(&[[0.0, 0.0, -third], [-1.0, 1.0, third], [1.0, 1.0, third], [0.0, -2.0, third]]);
    let turned = |q: [f64; 4]| Pose::from_quaternion(Vec3::zeros(), q).expect("not zero");
    let at_p =
        turned([-1.464786254985026, -0.5014575802970096, 1.4918155109370985, -0.3906079794217221]);
    let at_q =
        turned([1.4813125766566126, -0.8242987892683099, -0.6649565388327975, 0.5179500460517016]);
    let end_p = turned([
        -1.5690095999347007,
        -0.1184456300841843,
        -0.05059151517401629,
        0.5900627573894804,
    ]);
    let end_q =
        turned([-1.6661017206108097, 1.1454651064759003, 1.215641830561499, -1.3668411837069305]);
    let to = |end: Pose| Motion::ToPose { end, pivot: None, turn: None };
    let pair = Pair::new(&sliver, at_p, &tetrahedron, at_q);
    let answer = find(&Question::new(pair, to(end_p), to(end_q)));
    assert_eq!(answer.outcome, Outcome::Contact, "{answer:?}");
    assert!(answer.t_free > 0.5 && answer.t_contact > answer.t_free, "{answer:?}");
}

#[test]
fn slow_and_face_on_contacts_have_brackets_as_narrow_as_the_tolerances_say() {
    // Cubes that meet face on while they turn a little, and hardly close at all.
    let mut contacts = 0;
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    for turn in [1e-12, 1e-9, 1e-6, 1e-3, 0.3] {
        for speed in [1e-6, 1e-3, 1.0] {
            for axis in [Vec3::z(), Vec3::new(0.1, 0.9, 0.3)] {
                let start = 1.0 + 0.6 * speed;
                let tilt: f64 = 0.5 * turn;
                let q = [tilt.cos(), 0.0, 0.0, -tilt.sin()];
                let at = Pose::from_quaternion(Vec3::zeros(), q).expect("a unit quaternion");
                let pair = Pair::new(&cube, at, &cube, Pose::translation(start, 0.1, 0.2));
                let velocity = Vec3::new(speed, 0.0, 0.0);
                let motion = Motion::Screw { pivot: None, velocity, axis, angle: turn };
                let question = Question::new(pair, motion, Motion::rest());
                let mut effort = Effort::unlimited();
                let answer =
                    contact_time::first_contact(&question, &mut Witness::default(), &mut effort)
                        .expect("no budget");
                assert_eq!(
                    judge_first_contact(&question, &answer),
                    Ok(()),
                    "{question:?} {answer:?}"
                );
                if answer.t_contact <= 0.0 {
                    continue;
                }
                assert_eq!(answer.outcome, Outcome::Contact, "{question:?} {answer:?}");
                contacts += 1;
                // The world is 2 in size.
                let allowed = 1e-9 + 2e-13 / speed;
                let width = answer.t_contact - answer.t_free;
                assert!(width <= allowed, "{turn} {speed} {axis:?}: {width} > {allowed}");
                assert!(effort.cost.supports < 3_000, "{turn} {speed} {axis:?}: {:?}", effort.cost);
            }
        }
    }
    assert!(contacts > 20, "{contacts}");
}

/// Any direction but the common axis soon fails, and that one turns with neither body.
#[test]
fn plates_that_turn_in_planes_a_hair_apart_cost_a_few_steps() {
    let p = [[-0.7175408344453607, 0.0, 0.11885701362646794], [-1.0, 0.0, 0.0], [0.0, 0.0, -2.0]];
    let q = [
        [0.0633161151721604, 0.0, -0.8333574985264143],
        [-0.4648195291477246, 0.0, -0.2385922037241075],
        [-1.0, 0.0, 0.0],
    ];
    let (p, q) = (polytope_of(&p.map(Vec3::from)), polytope_of(&q.map(Vec3::from)));
    let to_q = Pose::translation(-0.627439846229791, 1e-16, 1.9979659282751978);
    let spin = |angle: f64| Motion::Screw {
        pivot: None,
        velocity: Vec3::zeros(),
        axis: Vec3::new(0.0, 2.0, 0.0),
        angle,
    };
    let pair = Pair::new(&p, Pose::identity(), &q, to_q);
    let mut effort = Effort::with_steps(2000);
    let question = Question::new(pair, spin(40.0), spin(-5.0));
    let answer = first_contact(&question, &mut Witness::default(), &mut effort).unwrap();
    assert_eq!((answer.outcome, answer.stopped), (Outcome::NoContact, None), "{answer:?}");
    judge_first_contact(&question, &answer).unwrap();
}
