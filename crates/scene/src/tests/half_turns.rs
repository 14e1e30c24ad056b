//! Bodies that turn by half a turn, or nearly, between two frames: one motion for all their parts.

use super::*;
use crate::Between;
use crate::placed::entry::PairSide;
use clearance_geometry::Mat3;
use clearance_geometry::claim::Outcome;
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::motion::Motion;
use clearance_geometry::until::Until;

fn moving() -> Questions {
    Questions { listed: Listed::All, between: Some(Between::default()), ..Questions::default() }
}

/// Each part chose the axis of a half turn from its own rounded matrix, whose sign rounding
/// decides: some parts of a body turned one way and some the other. A point that met this hull at
/// 0.156252809 when its part had no rotation, which cannot matter to a point, was said to miss it,
/// and the proof of that was accepted.
#[test]
fn a_points_own_rotation_does_not_change_when_a_half_turn_makes_it_meet() {
    let corners = [[-9.0, 1.0, -9.0], [9.0, 1.0, -9.0], [0.0, 1.0, 9.0], [0.0, 4.0, 0.0]];
    let hull = Arc::new(samples::hull(&corners.map(Vec3::from)));
    let point = Arc::new(samples::hull(&[Vec3::zeros()]));
    let half_turn =
        Pose::from_matrix(Vec3::zeros(), [0.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0]).unwrap();
    let beside = Vec3::new(3.0, 0.0, 0.0);
    for quaternion in [[1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 1.0, 0.0]] {
        let body_from_part = Pose::from_quaternion(beside, quaternion).unwrap();
        let mut body = Body::solid(2, point.clone());
        body.parts = vec![Part {
            polytope: point.clone(),
            radius: 0.0,
            mesh: None,
            field: None,
            curved: None,
            body_from_part,
        }];
        let mut scene = open(vec![Body::solid(1, hull.clone()), body]);
        let report = step(&mut scene, &frame(1, vec![moved(2, half_turn)]), &moving());
        let found = report.pairs[0].first_contact.as_ref().unwrap();
        assert_eq!(found.outcome, Outcome::Contact, "{quaternion:?}");
        assert!(found.t_free <= 0.156_252_809 + 1e-9, "{quaternion:?}: {found:?}");
        assert!(found.t_contact >= 0.156_252_809 - 1e-9, "{quaternion:?}: {found:?}");
    }
}

/// A start and a half turn from there, or nearly one: by matrices of whole numbers, by quaternions
/// without a real part, by products of quaternions.
fn half_turn(random: &mut Random) -> [Pose; 2] {
    const WHOLE: [[f64; 9]; 4] = [
        [0.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, -1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0],
        [-1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
        [-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0],
    ];
    let place = random.vector() * 0.2;
    let from = random.below(2) * random.below(4);
    let start = match from {
        0 => Pose { translation: place, ..Pose::identity() },
        _ => random.pose(place),
    };
    let axis = random.unit_vector();
    let small = [0.0, 1e-16, -1e-16, 1e-12, -1e-9][random.below(5) as usize];
    let turn = match random.below(3) {
        0 => Pose::from_matrix(Vec3::zeros(), WHOLE[random.below(4) as usize]),
        1 => Pose::from_quaternion(Vec3::zeros(), [0.0, axis.x, axis.y, axis.z]),
        _ => Pose::from_quaternion(Vec3::zeros(), [small, axis.x, axis.y, axis.z]),
    }
    .unwrap();
    let mut end = turn.compose(&start);
    end.translation = start.translation + random.vector() * 0.2;
    [start, end]
}

fn rotation_between(from: &Pose, to: &Pose) -> Mat3 {
    from.rotation.tr_mul(&to.rotation)
}

/// 126 of 599 such bodies came apart on the way.
#[test]
fn the_parts_of_a_body_stay_together_on_a_half_turn_and_meet_what_they_pass() {
    let mut random = Random(17);
    let mut counts = [0, 0];
    for round in 0..600_u64 {
        let [start, end] = half_turn(&mut random);
        let shape = Arc::new(samples::ball(8, round));
        let mut body = Body::solid(1, shape.clone()).placed(start);
        body.pivot = if round % 2 == 0 { Vec3::zeros() } else { random.vector() };
        body.parts = (0..2)
            .map(|_| {
                let place = random.unit_vector() * 2.5;
                Part {
                    polytope: shape.clone(),
                    radius: 0.0,
                    mesh: None,
                    field: None,
                    curved: None,
                    body_from_part: random.pose(place),
                }
            })
            .collect();
        let way = random.unit_vector() * 3.5;
        let post = Body::solid(2, Arc::new(samples::cuboid(0.4, 0.5, 0.3)))
            .placed(at(way.x, way.y, way.z));
        if stand(&body, &post) != Verdict::Separated {
            continue;
        }
        let of_body =
            Motion::ToPose { end, pivot: Some(start.apply_rounded(&body.pivot)), turn: None };
        let mut scene = open(vec![body.clone(), post.clone()]);
        scene.apply(&frame(1, vec![moved(1, end)])).unwrap();
        scene.sweep(&moving(), Until::never()).unwrap();
        let side = PairSide::new(&scene.entries[0], Some(&scene.starts));
        let starts = [0, 1].map(|part| side.at_start().parts[part].pose);
        let motions = [0, 1].map(|part| side.motion_of(part));
        let places = |t: f64| [0, 1].map(|part| motions[part].pose_rounded(&starts[part], t));
        let report = scene.answer(&moving(), &Serial, Until::never()).unwrap();
        let found = report.pairs[0].first_contact.clone().unwrap();
        let mut met = None;
        for sample in 0..=40 {
            let t = f64::from(sample) / 40.0;
            let [a, b] = places(t);
            let turned = rotation_between(&a, &b) - rotation_between(&starts[0], &starts[1]);
            let beside = |a: &Pose, b: &Pose| a.rotation.tr_mul(&(b.translation - a.translation));
            let drifted = beside(&a, &b) - beside(&starts[0], &starts[1]);
            let off = turned.amax().max(drifted.amax());
            assert!(off < 1e-14, "body {round}: parts are {off} off at {t}");
            let there = body.clone().placed(of_body.pose_rounded(&start, t));
            if met.is_none() && stand(&there, &post) != Verdict::Separated {
                met = Some(t);
            }
        }
        match found.outcome {
            Outcome::Contact => {
                let there = body.clone().placed(of_body.pose_rounded(&start, found.t_contact));
                let gap = parts(&there, &post).map(|pair| {
                    let mut witness = Witness::default();
                    let effort = &mut Effort::unlimited();
                    distance::measure(&pair, Stops::default(), &mut witness, effort).unwrap().lower
                });
                assert!(gap.fold(f64::MAX, f64::min) < 1e-12, "body {round}: {found:?}");
                assert!(met.is_none_or(|t| found.t_free < t), "body {round}: {met:?} {found:?}");
                counts[1] += 1;
            }
            Outcome::NoContact => {
                assert_eq!(met, None, "body {round}: {found:?}");
                counts[0] += 1;
            }
            Outcome::Undecided => panic!("body {round}: {found:?}"),
        }
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}

/// A body that turned by 190 or 400 degrees in a frame went the short way back, and nobody was
/// told.
#[test]
fn turns_beyond_a_quarter_are_told_where_the_way_is_asked_about() {
    let turned = |degrees: f64| {
        let half = degrees.to_radians() / 2.0;
        Pose::from_quaternion(Vec3::zeros(), [half.cos(), 0.0, half.sin(), 0.0]).unwrap()
    };
    for (degrees, is_aliased) in
        [(0.0, false), (89.0, false), (90.0, false), (91.0, true), (190.0, true), (300.0, false)]
    {
        let mut scene = open((1..=20).map(|id| Body::solid(id, cube(1.0))).collect());
        // What is teleported makes no motion.
        let moves = (1..=20).map(|id| Move { teleported: id == 20, ..moved(id, turned(degrees)) });
        let report = step(&mut scene, &frame(1, moves.collect()), &moving());
        let count = if is_aliased { 19 } else { 0 };
        assert_eq!(report.aliased.count, count, "{degrees}");
        let named: Vec<u32> = report.aliased.first.iter().map(|id| id.0).collect();
        assert_eq!(named, (1..=count.min(16) as u32).collect::<Vec<_>>());
        // From there on nothing turns; and of what is not asked nothing is told.
        let report = step(&mut scene, &frame(2, vec![moved(1, turned(degrees))]), &moving());
        assert_eq!(report.aliased.count, 0);
        let still = Questions::default();
        let report = step(&mut scene, &frame(3, vec![moved(1, turned(degrees + 180.0))]), &still);
        assert_eq!(report.aliased.count, 0);
    }
}
