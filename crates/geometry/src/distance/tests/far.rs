//! Closest points of bodies that are far apart. Over a bracket of the contract's width they were
//! off along parallel faces by half an edge of a cube, from thirty million edges on.

use super::*;
use crate::hull::samples::{cloud, cuboid, polytope_of};

/// How far the difference of the closest points is from the exact one.
fn off(pair: &Pair<'_>) -> f64 {
    let nearest = wolfe::nearest(&Difference::new(pair), &[], &mut Effort::unlimited());
    let [p, q] = nearest.unwrap().unwrap().closest(&Difference::new(pair));
    let found = measured(pair);
    ((found.closest_q - found.closest_p) - (q - p)).norm()
}

#[test]
fn closest_points_of_far_bodies_are_as_accurate_as_those_of_near_ones() {
    let mut random = Random(3);
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let plate = polytope_of(&cuboid(100.0, 100.0, 1.0));
    for exponent in 0..10 {
        for case in 0..24 {
            let small = polytope_of(&cloud(20, Vec3::new(1.0, 1.0, 1.0), 100 * exponent + case));
            let (p, q, size, tilt) = match case % 4 {
                0 => (&cube, &cube, 1.0, 0.0),
                1 => (&plate, &small, 100.0, 1e-7),
                2 => (&plate, &cube, 100.0, 0.0),
                _ => (&small, &small, 1.0, 1.0),
            };
            let far = 10f64.powf(exponent as f64 + random.signed().abs());
            let at = Vec3::new(random.signed(), random.signed(), far + 2.0);
            let turn = random.vector() * tilt;
            let pose = Pose::from_quaternion(at, [1.0, turn.x, turn.y, turn.z]).unwrap();
            let pair = Pair::new(p, Pose::identity(), q, pose);
            // Whatever is reported is rounded where Q is.
            let error = off(&pair);
            assert!(error <= 1e-9 * size + 4.0 * f64::EPSILON * far, "{case} at {far}: {error}");
        }
    }
}
