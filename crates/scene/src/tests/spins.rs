//! Bodies that say how they turned: by more than half a turn, by whole turns, in several frames.

use super::*;
use crate::query::past::Moment;
use crate::{Between, HistoryLimits, MoveError, SpinError};
use EventKind::{Began, Ended};
use clearance_geometry::claim::Outcome;
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::motion::{Motion, Turn};

fn moving() -> Questions {
    Questions { listed: Listed::All, between: Some(Between::default()), ..Questions::default() }
}

fn turned(degrees: f64) -> Pose {
    let half = degrees.to_radians() / 2.0;
    Pose::from_quaternion(Vec3::zeros(), [half.cos(), 0.0, 0.0, half.sin()]).unwrap()
}

/// At this pose, after a turn about the third axis.
fn spun(body: u32, pose: Pose, degrees: f64) -> Move {
    Move { spin: Some(Vec3::z() * degrees.to_radians()), ..moved(body, pose) }
}

/// A block on an arm of 2 m, and a post where that is after so many degrees.
fn arm_and_post(degrees: f64) -> Scene {
    let arm = Part { body_from_part: at(2.0, 0.0, 0.0), ..Part::of(cube(0.1)) };
    let arm = Body { parts: vec![arm], ..Body::solid(1, cube(0.1)) };
    let there = turned(degrees).apply_rounded(&Vec3::new(2.0, 0.0, 0.0));
    let post = Body::solid(2, cube(0.1)).placed(at(there.x, there.y, there.z));
    open(vec![arm, Body { fixed: true, ..post }])
}

/// It turned by 300 degrees, was taken to have turned by 60 the other way, which nobody was told,
/// and missed what it hit.
#[test]
fn a_body_that_turns_by_300_degrees_meets_what_it_passes_and_not_what_the_short_way_does() {
    for (post, spin, expected) in [
        (120.0, Some(300.0), true),
        (120.0, Some(-60.0), false),
        (120.0, None, false),
        (-30.0, Some(300.0), false),
        (-30.0, Some(-60.0), true),
        (-30.0, None, true),
    ] {
        let mut scene = arm_and_post(post);
        let one = Move { spin: None, ..spun(1, turned(-60.0), 0.0) };
        let one = spin.map_or(one, |spin| spun(1, turned(-60.0), spin));
        let report = step(&mut scene, &frame(1, vec![one]), &moving());
        let told = events(&report);
        assert_eq!(!told.is_empty(), expected, "{post} {spin:?}");
        if expected && post > 0.0 {
            assert_eq!(told, [(Began, 1, 2), (Ended, 1, 2)]);
            let [began, ended] = [0, 1].map(|k| report.events[k].bracket);
            // Of blocks of 0.2 m, 2 m from there: within ten degrees of 120.
            assert!(began[0] > 110.0 / 300.0 && began[1] < 120.0 / 300.0, "{began:?}");
            assert!(ended[0] > 120.0 / 300.0 && ended[1] < 130.0 / 300.0, "{ended:?}");
        }
    }
}

/// Its pose is the one that it had, so it had not moved.
#[test]
fn a_body_that_turns_by_whole_turns_meets_what_is_in_its_way() {
    for turns in [1.0, -1.0, 3.0] {
        let mut scene = arm_and_post(200.0);
        let one = spun(1, turned(0.0), 360.0 * turns);
        let report = step(&mut scene, &frame(1, vec![one]), &moving());
        assert_eq!(events(&report), [(Began, 1, 2), (Ended, 1, 2)], "{turns}");
        let first = if turns > 0.0 { 200.0 } else { 160.0 } / 360.0 / turns.abs();
        let began = report.events[0].bracket;
        assert!(began[1] < first && began[0] > first - 0.03 / turns.abs(), "{turns} {began:?}");
        assert_eq!(report.aliased.count, 0);
    }
}

#[test]
fn a_spin_that_leads_elsewhere_or_is_none_moves_nothing() {
    let mut scene = arm_and_post(200.0);
    let there = turned(100.0);
    let put = Move { teleported: true, ..spun(1, there, 100.0) };
    let not_a_number = Move { spin: Some(Vec3::new(f64::NAN, 0.0, 0.0)), ..moved(1, there) };
    let cases = [
        (spun(1, there, 99.999), SpinError::Elsewhere),
        (spun(1, there, -100.0), SpinError::Elsewhere),
        (spun(1, there, 0.0), SpinError::Elsewhere),
        (Move { spin: Some(Vec3::x()), ..moved(1, at(0.0, 0.0, 0.0)) }, SpinError::Elsewhere),
        (spun(1, there, 100.0 + 360.0 * 64.0), SpinError::TooLong),
        (not_a_number, SpinError::TooLong),
        (put, SpinError::Teleported),
    ];
    for (id, (one, expected)) in (1..).zip(cases) {
        let stepped = scene.step(&frame(id, vec![one]), &moving(), &Serial).unwrap();
        assert_eq!(stepped.refused, [(0, MoveError::Spin(expected))], "{one:?}");
        assert_eq!(stepped.report.events.len(), 0);
    }
    let good = frame(8, vec![spun(1, there, 100.0 + 360.0 * 60.0)]);
    assert_eq!(events(&step(&mut scene, &good, &moving())), [(Began, 1, 2), (Ended, 1, 2)]);
}

#[test]
fn spins_of_frames_that_are_answered_as_one_add_up() {
    let mut scene = arm_and_post(300.0);
    scene.apply(&frame(1, vec![spun(1, turned(200.0), 200.0)])).unwrap();
    let report = step(&mut scene, &frame(2, vec![spun(1, turned(40.0), 200.0)]), &moving());
    assert_eq!(events(&report), [(Began, 1, 2), (Ended, 1, 2)]);
    assert_eq!(report.previous, 0);
    // One that says nothing counts as the shortest turn.
    let mut scene = arm_and_post(300.0);
    scene.apply(&frame(1, vec![moved(1, turned(50.0))])).unwrap();
    let report = step(&mut scene, &frame(2, vec![spun(1, turned(40.0), 350.0)]), &moving());
    assert_eq!(events(&report), [(Began, 1, 2), (Ended, 1, 2)]);
    assert_eq!(report.aliased.count, 0);
    // Turns about two axes are none about one: what is assumed then is told to be doubtful.
    let mut scene = arm_and_post(300.0);
    scene.apply(&frame(1, vec![spun(1, turned(200.0), 200.0)])).unwrap();
    let end = turned(200.0);
    let about_x = Pose::from_quaternion(Vec3::zeros(), [0.0, 1.0, 0.0, 0.0]).unwrap();
    let half =
        Move { spin: Some(Vec3::x() * std::f64::consts::PI), ..moved(1, about_x.compose(&end)) };
    let report = step(&mut scene, &frame(2, vec![half]), &moving());
    assert_eq!(report.aliased.count, 1);
}

#[test]
fn between_two_past_frames_a_body_is_on_the_turn_that_it_said() {
    let mut scene = arm_and_post(300.0);
    scene.keep_history(HistoryLimits { frames_max: 4, bytes_max: 1 << 20 });
    step(&mut scene, &frame(1, vec![spun(1, turned(-60.0), 300.0)]), &Questions::default());
    let past = scene.past(&Moment { frame: 0, fraction: 0.5 }).unwrap();
    let there = past.poses().next().unwrap().1.rotation * Vec3::x();
    let expected = turned(150.0).rotation * Vec3::x();
    assert!((there - expected).norm() < 1e-12, "{there}");
}

/// Of many ways, with pivots and translations, against the motion itself at many times.
#[test]
fn what_is_told_of_spinning_bodies_is_what_samples_of_their_ways_show() {
    let (mut random, mut counts) = (Random(71), [0; 2]);
    for round in 0..300_u64 {
        let shape = Arc::new(samples::ball(8, round));
        let place = random.vector();
        let start = random.pose(place);
        let mut body = Body::solid(1, shape.clone()).placed(start);
        body.pivot = random.vector() * [0.0, 0.5, 2.0][random.below(3) as usize];
        if random.below(2) == 0 {
            let beside = random.vector();
            body.parts.push(Part { body_from_part: random.pose(beside), ..Part::of(shape) });
        }
        let spin = random.unit_vector() * (random.signed() * 14.0);
        let turn = Turn { axis: spin, angle: spin.norm() };
        let screw = Motion::Screw {
            pivot: Some(start.apply_rounded(&body.pivot)),
            velocity: random.vector() * 2.0,
            axis: spin,
            angle: turn.angle,
        };
        let end = screw.pose_rounded(&start, 1.0);
        let way = random.vector() * 3.0;
        let post = Body::solid(2, cube(0.4)).placed(at(way.x, way.y, way.z));
        if stand(&body, &post) != Verdict::Separated {
            continue;
        }
        let mut scene = open(vec![body.clone(), post.clone()]);
        let one = Move { spin: Some(spin), ..moved(1, end) };
        let report = step(&mut scene, &frame(1, vec![one]), &moving());
        let pivot = Some(start.apply_rounded(&body.pivot));
        let motion = Motion::ToPose { end, pivot, turn: Some(turn) };
        let at_time = |t: f64| body.clone().placed(motion.pose_rounded(&start, t));
        let met = (0..=600)
            .map(|k| f64::from(k) / 600.0)
            .find(|t| stand(&at_time(*t), &post) != Verdict::Separated);
        let found = report.pairs[0].first_contact.clone();
        match found.as_ref().map(|found| found.outcome) {
            Some(Outcome::Contact) => {
                let found = found.unwrap();
                assert!(met.is_none_or(|t| found.t_free < t), "{round}: {met:?} {found:?}");
                let there = at_time(found.t_contact);
                let gap = parts(&there, &post).map(|pair| {
                    let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
                    distance::measure(&pair, Stops::default(), witness, effort).unwrap().lower
                });
                assert!(gap.fold(f64::MAX, f64::min) < 1e-12, "{round}: {found:?}");
                counts[1] += 1;
            }
            Some(Outcome::NoContact) | None => {
                assert_eq!(met, None, "{round}: {found:?}");
                counts[0] += 1;
            }
            Some(Outcome::Undecided) => panic!("{round}: {found:?}"),
        }
    }
    assert!(counts.iter().all(|count| *count > 30), "{counts:?}");
}

/// What those who watch are told of frames that are answered as one.
#[test]
fn turns_of_frames_that_are_not_answered_add_up_about_one_axis() {
    let mut scene = arm_and_post(120.0);
    let apply = |scene: &mut Scene, id: u64, one: Move| {
        scene.apply(&frame(id, vec![one])).unwrap();
        scene.spin_so_far(BodyId(1))
    };
    let step_by = |scene: &mut Scene, id: u64| step(scene, &frame(id, vec![]), &moving());
    step_by(&mut scene, 1);
    assert!(scene.is_answered() && scene.spin_so_far(BodyId(1)).is_none());
    let so_far = apply(&mut scene, 2, spun(1, turned(-60.0), 300.0));
    assert_eq!((so_far, scene.is_answered()), (Some(Vec3::z() * 300_f64.to_radians()), false));
    // Without a spin it goes the short way on.
    let so_far = apply(&mut scene, 3, moved(1, turned(-50.0))).unwrap();
    assert!((so_far - Vec3::z() * 310_f64.to_radians()).norm() < 1e-12, "{so_far}");
    let so_far = apply(&mut scene, 4, spun(1, turned(-40.0), 370.0)).unwrap();
    assert!((so_far - Vec3::z() * 680_f64.to_radians()).norm() < 1e-12, "{so_far}");
    // About another axis there is no one turn; and none of what was put somewhere.
    let half = std::f64::consts::FRAC_PI_4;
    let tilted = Pose::from_quaternion(Vec3::zeros(), [half.cos(), half.sin(), 0.0, 0.0]).unwrap();
    let there = tilted.compose(&turned(-40.0));
    let tilting = Move { spin: Some(Vec3::x() * (2.0 * half)), ..moved(1, there) };
    assert_eq!(apply(&mut scene, 5, tilting), None);
    step_by(&mut scene, 6);
    assert_eq!(scene.spin_so_far(BodyId(1)), None);
    let put = Move { teleported: true, ..moved(1, turned(0.0)) };
    assert_eq!(apply(&mut scene, 7, put), None);
    assert_eq!(apply(&mut scene, 8, spun(1, turned(90.0), 90.0)), None);
}
