//! Contact polygons of boxes, by hand; of prisms that stand on each other, by what points are in
//! both.

use super::*;
use crate::pose::Pose;
use crate::samples::{Random, cuboid, prism};

fn polygon(pair: &Pair<'_>) -> Vec<Vec3> {
    contact_polygon(pair, &mut Effort::unlimited()).expect("without a limit")
}

/// Boxes `[-1, 1]^3`, one of them moved to there: the corners, whichever comes first.
#[track_caller]
fn check(to: [f64; 3], expected: &[[f64; 3]]) {
    let cube = cuboid(1.0, 1.0, 1.0);
    let far = Vec3::new(1000.0, -300.0, 20.0);
    let by = far + Vec3::from(to);
    let pair = Pair::new(
        &cube,
        Pose::translation(far.x, far.y, far.z),
        &cube,
        Pose::translation(by.x, by.y, by.z),
    );
    let found = polygon(&pair);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    let expected: Vec<Vec3> = expected.iter().map(|at| far + Vec3::from(*at)).collect();
    if expected.is_empty() {
        return;
    }
    let start = (0..found.len())
        .find(|at| (found[*at] - expected[0]).norm() < 1e-9)
        .unwrap_or_else(|| panic!("{found:?}"));
    for (at, expected) in expected.iter().enumerate() {
        let found = found[(start + at) % found.len()];
        assert!((found - expected).norm() < 1e-9, "{found} {expected}");
    }
}

#[test]
fn boxes_share_a_rectangle_a_segment_or_a_corner() {
    // The normal out of Q is -x: who looks along x sees y to the left of z.
    check(
        [2.0, 0.5, -0.25],
        &[[1.0, -0.5, -1.0], [1.0, -0.5, 0.75], [1.0, 1.0, 0.75], [1.0, 1.0, -1.0]],
    );
    check(
        [0.0, 0.0, -2.0],
        &[[1.0, 1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, -1.0], [1.0, -1.0, -1.0]],
    );
    check([2.0, 2.0, 0.5], &[[1.0, 1.0, -0.5], [1.0, 1.0, 1.0]]);
    check([2.0, 2.0, -2.0], &[[1.0, 1.0, -1.0]]);
    check([2.0 + 1e-13, 0.0, 0.0], &[]);
    check([1.5, 0.0, 0.0], &[]);
}

#[test]
fn an_edge_on_a_face_is_a_segment_and_a_corner_a_point() {
    let cube = cuboid(1.0, 1.0, 1.0);
    // Turned about y by numbers of few digits: its lowest edge is exactly level.
    let few = |x: f64| (x * 16_777_216.0).round() / 16_777_216.0;
    let (a, b) = (few(0.8), few(0.6));
    let turned = nalgebra::Matrix3::new(a, 0.0, -b, 0.0, 1.0, 0.0, b, 0.0, a);
    let edge = Vec3::new(b - a, 0.5, 1.0 + a + b);
    let found = polygon(&Pair::new(
        &cube,
        Pose::identity(),
        &cube,
        Pose { rotation: turned, translation: edge },
    ));
    assert_eq!(found.len(), 2, "{found:?}");
    for y in [-0.5, 1.0] {
        let corner = found.iter().find(|corner| (corner.y - y).abs() < 1e-9).copied();
        let corner = corner.unwrap_or_else(|| panic!("{y}: {found:?}"));
        assert!((corner - Vec3::new(2.0 * (b - a), y, 1.0)).norm() < 1e-9, "{corner}");
    }
    let tilted = turned * nalgebra::Matrix3::new(1.0, 0.0, 0.0, 0.0, a, -b, 0.0, b, a);
    let lowest = cube.vertices().iter().map(|v| (tilted * v).z).fold(f64::INFINITY, f64::min);
    let tip = Pose { rotation: tilted, translation: Vec3::new(0.0, 0.0, 1.0 - lowest) };
    assert_eq!(polygon(&Pair::new(&cube, Pose::identity(), &cube, tip)).len(), 1);
}

/// Prisms of many corners on each other, turned about their axes, which leaves the plane exactly
/// where it is: a point is in the polygon if it is in both faces.
#[test]
fn a_point_is_in_the_polygon_when_it_is_in_both_faces() {
    let mut random = Random(7);
    let shapes = [3, 4, 5, 12, 40].map(prism);
    let is_inside = |corners: &[Vec3], at: &Vec3, by: f64| {
        let next = corners.iter().cycle().skip(1);
        let beyond = |(a, b): (&Vec3, &Vec3)| (b - a).normalize().cross(&(at - a)).z;
        corners.iter().zip(next).map(beyond).fold(f64::INFINITY, f64::min) > by
    };
    let (mut inside, mut outside, mut most) = (0, 0, 0);
    for _ in 0..200 {
        let [p, q] = [0, 1].map(|_| &shapes[random.below(5) as usize]);
        let heights = |body: &crate::polytope::Polytope| {
            let z = |v: &Vec3| v.z;
            let low = body.vertices().iter().map(z).fold(f64::INFINITY, f64::min);
            (low, body.vertices().iter().map(z).fold(f64::NEG_INFINITY, f64::max))
        };
        let mut turned = |z: f64| {
            let q = [random.signed(), 0.0, 0.0, random.signed()];
            let at = Vec3::new(random.signed(), random.signed(), z);
            Pose::from_quaternion(at, q).expect("not zero")
        };
        let (below, above) = (turned(0.0), turned(heights(p).1 - heights(q).0));
        let pair = Pair::new(q, above, p, below);
        let found = polygon(&pair);
        let face = |placed: &Placed<'_>, z: f64| -> Vec<Vec3> {
            let of = placed.body.vertices().iter().filter(|v| (v.z - z).abs() < 1e-12);
            let mut face: Vec<Vec3> = of.map(|v| placed.pose.apply_rounded(v)).collect();
            let mean = face.iter().sum::<Vec3>() / face.len() as f64;
            face.sort_by(|a, b| {
                let angle = |v: &Vec3| (v.y - mean.y).atan2(v.x - mean.x);
                angle(a).total_cmp(&angle(b))
            });
            face
        };
        let faces = [face(&pair.q, heights(p).1), face(&pair.p, heights(q).0)];
        most = most.max(found.len());
        for _ in 0..50 {
            let at = Vec3::new(random.signed() * 2.0, random.signed() * 2.0, heights(p).1);
            if faces.iter().all(|face| is_inside(face, &at, 1e-9)) {
                assert!(is_inside(&found, &at, -2e-9), "{at} {found:?}");
                inside += 1;
            } else if !faces.iter().all(|face| is_inside(face, &at, -1e-9)) {
                assert!(found.len() < 3 || !is_inside(&found, &at, 2e-9), "{at} {found:?}");
                outside += 1;
            }
        }
    }
    assert!(inside > 300 && outside > 300 && most > 12, "{inside} {outside} {most}");
}
