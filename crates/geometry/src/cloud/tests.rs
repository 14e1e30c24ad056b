//! Clouds against every one of their balls asked alone, against closed forms in whole numbers, and
//! changed clouds against those that are built anew.

use super::ball::BallBeside;
use super::{CloudError, NearestBall, PlacedCloud, PointCloud};
use crate::Vec3;
use crate::claim::{Reach, Verdict};
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::hull::samples::Random;
use crate::pair::Placed;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::until::Until;

fn hull_of(points: &[Vec3]) -> Polytope {
    convex_hull(points).unwrap().polytope
}

fn cloud_of(points: &[Vec3], radius: f64) -> PointCloud {
    PointCloud::new(points.to_vec(), radius, &Effort::unlimited()).unwrap()
}

fn pose(random: &mut Random) -> Pose {
    let q = [0; 4].map(|_| random.between(-1.0, 1.0));
    Pose::from_quaternion(random.in_ball() * 0.3, q).unwrap()
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Separated => 0,
        Verdict::Touching => 1,
        Verdict::Overlapping => 2,
    }
}

/// How each ball stands alone.
fn one_by_one(hull: &Placed<'_>, cloud: &PointCloud, pose: &Pose, margin: f64) -> Vec<Verdict> {
    let reach = Reach::of_rounded([0.0, cloud.radius()], margin);
    let alone = |point: &Vec3| {
        BallBeside::new(hull, *point, pose).verdict(reach, &mut Effort::unlimited()).unwrap()
    };
    cloud.points().iter().map(alone).collect()
}

fn worst(verdicts: &[Verdict]) -> Verdict {
    verdicts.iter().copied().max_by_key(|one| rank(*one)).unwrap()
}

/// The nearest by asking every ball.
fn nearest_one_by_one(hull: &Placed<'_>, cloud: &PointCloud, pose: &Pose) -> NearestBall {
    let all = cloud.points().iter().enumerate().map(|(number, point)| {
        let ball = BallBeside::new(hull, *point, pose);
        let clearance = ball.clearance([0.0, cloud.radius()], &mut Effort::unlimited()).unwrap();
        NearestBall { point: u32::try_from(number).unwrap(), clearance }
    });
    all.min_by(|a, b| a.clearance.upper.total_cmp(&b.clearance.upper)).unwrap()
}

#[test]
fn a_cloud_stands_as_the_worst_of_its_balls() {
    let mut random = Random::new(1);
    let mut seen = [0; 3];
    for case in 0..600 {
        let count = 1 + random.below(if case % 10 == 0 { 3_000 } else { 60 }) as usize;
        let spread = if case % 3 == 0 { 0.4 } else { 1.5 };
        let points: Vec<Vec3> = (0..count).map(|_| random.in_ball() * spread).collect();
        let radius = [0.0, 0.01, 0.05, 1e-9][case % 4];
        let cloud = cloud_of(&points, radius);
        let corners: Vec<Vec3> = (0..4 + case % 20).map(|_| random.in_ball() * 0.2).collect();
        let (body, of_cloud) = (hull_of(&corners), pose(&mut random));
        let hull = Placed { body: &body, pose: pose(&mut random) };
        let placed = PlacedCloud::new(&cloud, of_cloud);
        let margin = if case % 5 == 0 { 0.02 } else { 0.0 };
        let alone = one_by_one(&hull, &cloud, &of_cloud, margin);
        let effort = &mut Effort::unlimited();
        let verdict = placed.verdict(&hull, hull.pose.skew(), margin, effort).unwrap();
        assert_eq!(verdict, worst(&alone), "case {case}");
        seen[usize::from(rank(verdict))] += 1;
    }
    assert!(seen[0] > 100 && seen[2] > 100, "{seen:?}");
}

#[test]
fn the_nearest_ball_is_the_nearest_of_all() {
    let mut random = Random::new(2);
    let (mut apart, mut deep) = (0, 0);
    for case in 0..200 {
        let count = 1 + random.below(if case % 10 == 0 { 2_000 } else { 80 }) as usize;
        let points: Vec<Vec3> = (0..count).map(|_| random.in_ball()).collect();
        let cloud = cloud_of(&points, [0.0, 0.01, 0.1][case % 3]);
        let corners: Vec<Vec3> = (0..5 + case % 20).map(|_| random.in_ball() * 0.3).collect();
        let (body, of_cloud) = (hull_of(&corners), pose(&mut random));
        let hull = Placed { body: &body, pose: pose(&mut random) };
        let placed = PlacedCloud::new(&cloud, of_cloud);
        let effort = &mut Effort::unlimited();
        let skew = hull.pose.skew();
        let found = placed.nearest(&hull, skew, f64::INFINITY, effort).unwrap().unwrap();
        let expected = nearest_one_by_one(&hull, &cloud, &of_cloud);
        assert_eq!(found.point, expected.point, "case {case}");
        let [found, expected] = [found.clearance, expected.clearance];
        assert_eq!(found.verdict, expected.verdict);
        assert_eq!(found.upper.to_bits(), expected.upper.to_bits());
        assert!(found.lower <= expected.lower && expected.lower - found.lower < 1e-11);
        let nearer = expected.lower - 1e-6;
        assert_eq!(placed.nearest(&hull, skew, nearer, effort).unwrap(), None, "case {case}");
        let farther = placed.nearest(&hull, skew, expected.upper + 1e-6, effort).unwrap();
        assert_eq!(farther.unwrap().clearance, found);
        *(if found.upper > 0.0 { &mut apart } else { &mut deep }) += 1;
    }
    assert!(apart > 30 && deep > 30, "{apart} {deep}");
}

/// A box of whole half sizes beside points of whole coordinates: the square of the distance is a
/// whole number, and radii are whole or next to it.
#[test]
fn verdicts_are_those_of_whole_numbers_and_of_radii_an_ulp_beside_them() {
    let mut random = Random::new(3);
    let mut seen = [0; 3];
    for case in 0..4_000 {
        let half = [0; 3].map(|_| 1 + random.below(6) as i64);
        let corner =
            |i: u32| Vec3::from_fn(|k, _| half[k] as f64 * f64::from(1 - (i >> k & 1) as i32 * 2));
        let body = hull_of(&(0..8).map(corner).collect::<Vec<_>>());
        let points: Vec<[i64; 3]> = (0..1 + random.below(30))
            .map(|_| [0; 3].map(|_| random.below(41) as i64 - 20))
            .collect();
        let squared = |p: &[i64; 3]| -> i64 {
            (0..3).map(|k| (p[k].abs() - half[k]).max(0)).map(|d| d * d).sum()
        };
        let is_inside = |p: &[i64; 3]| (0..3).all(|k| p[k].abs() < half[k]);
        let least = points.iter().map(squared).min().unwrap();
        let root = (least as f64).sqrt();
        let is_root = (root as i64) * (root as i64) == least;
        let (radius, side) = match case % 4 {
            0 => (0.0, 0),
            1 => (root.floor(), 0),
            2 => (root.floor().next_up(), 1),
            _ => (root.floor().next_down().max(0.0), -1),
        };
        let expected = if radius <= 0.0 {
            match (points.iter().any(is_inside), least) {
                (true, _) => Verdict::Overlapping,
                (false, 0) => Verdict::Touching,
                (false, _) => Verdict::Separated,
            }
        } else if is_root && root > 0.0 {
            [Verdict::Separated, Verdict::Touching, Verdict::Overlapping][(side + 1) as usize]
        } else if least == 0 {
            Verdict::Overlapping
        } else {
            // Not a square: the floor, or a neighbour of it, is less than the root.
            Verdict::Separated
        };
        let turned = [
            Pose::identity(),
            Pose::from_matrix(
                Vec3::new(3.0, -5.0, 7.0),
                [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            )
            .unwrap(),
        ][case / 4 % 2];
        let at: Vec<Vec3> = points.iter().map(|p| Vec3::from_fn(|k, _| p[k] as f64)).collect();
        let cloud = cloud_of(&at, radius);
        let hull = Placed { body: &body, pose: turned };
        let found = PlacedCloud::new(&cloud, turned)
            .verdict(&hull, turned.skew(), 0.0, &mut Effort::unlimited())
            .unwrap();
        assert_eq!(found, expected, "case {case}: {points:?} {half:?} {radius:e}");
        seen[usize::from(rank(found))] += 1;
    }
    assert!(seen.iter().all(|count| *count > 400), "{seen:?}");
}

#[test]
fn a_changed_cloud_answers_as_one_that_is_built_anew() {
    let mut random = Random::new(4);
    for round in 0..6 {
        let mut points: Vec<Vec3> = (0..2_500).map(|_| random.in_ball()).collect();
        let radius = if round % 2 == 0 { 0.01 } else { 0.0 };
        let mut changed = cloud_of(&points, radius);
        let body = hull_of(&(0..12).map(|_| random.in_ball() * 0.2).collect::<Vec<_>>());
        for _ in 0..40 {
            let first = random.below(points.len() as u64) as usize;
            let gone = random.below(400).min((points.len() - first) as u64) as usize;
            let come: Vec<Vec3> = (0..random.below(400)).map(|_| random.in_ball()).collect();
            changed.splice(first, gone, &come, &Effort::unlimited()).unwrap();
            points.splice(first..first + gone, come);
            assert_eq!(changed.points(), points);
            let anew = cloud_of(&points, radius);
            assert_eq!(changed.corners(), anew.corners());
            let of_cloud = pose(&mut random);
            let hull = Placed { body: &body, pose: pose(&mut random) };
            let effort = &mut Effort::unlimited();
            let skew = hull.pose.skew();
            let mut ask = |cloud: &PointCloud| {
                let placed = PlacedCloud::new(cloud, of_cloud);
                let verdict = placed.verdict(&hull, skew, 0.0, effort).unwrap();
                let nearest = placed.nearest(&hull, skew, f64::INFINITY, effort).unwrap();
                (verdict, nearest)
            };
            assert_eq!(ask(&changed), ask(&anew));
        }
    }
}

#[test]
fn what_is_wrong_with_a_cloud_is_said_and_changes_nothing() {
    let effort = &Effort::unlimited();
    let make = |points: &[Vec3], radius| PointCloud::new(points.to_vec(), radius, effort);
    let origin = Vec3::zeros();
    assert_eq!(make(&[], 1.0).unwrap_err(), CloudError::Empty);
    let bad = [origin, Vec3::new(0.0, f64::NAN, 0.0)];
    assert_eq!(make(&bad, 1.0).unwrap_err(), CloudError::BadPoint { index: 1 });
    for radius in [-1e-300, f64::NAN, f64::INFINITY] {
        assert_eq!(make(&[origin], radius).unwrap_err(), CloudError::BadRadius);
    }
    let mut cloud = cloud_of(&[origin; 3], 0.5);
    let beyond = CloudError::NoSuchPoints { end: 4, count: 3 };
    assert_eq!(cloud.splice(2, 2, &[], effort).unwrap_err(), beyond);
    assert_eq!(cloud.splice(0, 3, &[], effort).unwrap_err(), CloudError::Empty);
    let wrong = CloudError::BadPoint { index: 1 };
    assert_eq!(cloud.splice(0, 1, &bad, effort).unwrap_err(), wrong);
    assert_eq!(cloud.points(), [origin; 3]);
    let stop = Until::expired();
    let late = Effort::until(u64::MAX, &stop);
    let stopped = CloudError::Stopped(Stopped::Deadline);
    assert_eq!(cloud.splice(0, 1, &[origin], &late).unwrap_err(), stopped);
    assert_eq!(PointCloud::new(vec![origin], 1.0, &late).unwrap_err(), stopped);
}

#[test]
fn equal_points_are_one_point() {
    let mut points = vec![Vec3::new(0.5, 0.0, 0.0); 20_000];
    points.push(Vec3::new(0.0, 9.0, 0.0));
    let body = hull_of(&[Vec3::zeros(), Vec3::x() * 0.25, Vec3::y(), Vec3::z()]);
    for (radius, verdict) in
        [(0.25, Verdict::Touching), (0.2, Verdict::Separated), (0.3, Verdict::Overlapping)]
    {
        let cloud = cloud_of(&points, radius);
        let placed = PlacedCloud::new(&cloud, Pose::identity());
        let hull = Placed { body: &body, pose: Pose::identity() };
        let effort = &mut Effort::unlimited();
        assert_eq!(placed.verdict(&hull, 1e-15, 0.0, effort).unwrap(), verdict);
        let nearest = placed.nearest(&hull, 1e-15, f64::INFINITY, effort).unwrap().unwrap();
        assert_eq!(nearest.point, 0);
        assert!(effort.cost.exact_stages < 20, "{:?}", effort.cost);
        let bytes = cloud.heap_bytes();
        assert!(bytes < PointCloud::building_bytes(points.len()), "{bytes}");
    }
}
