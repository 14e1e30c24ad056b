//! Whatever the volumes around two bodies separate is separated, at every distance and size.

use super::*;
use crate::claim::{Direction, StaticProof};
use crate::difference::layout::Layout;
use crate::difference::layout::centre_to_centre;
use crate::difference::probe::offset;
use crate::judge::judge_static;
use crate::pair::Placed;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::{Random, cone, cuboid, ellipsoid, zoo};

/// At every distance, down to contact and below: whatever a bound says is separated, is.
#[test]
fn balls_ellipsoids_and_boxes_separate_only_what_is_separated() {
    let mut random = Random(11);
    let (mut by_origins, mut by_balls, mut by_ellipsoids, mut by_boxes, mut by_none) =
        (0, 0, 0, 0, 0);
    let mut by_askew = 0;
    let mut bodies: Vec<_> = zoo().into_iter().map(|(_, body)| body).collect();
    bodies.push(ellipsoid(300, [1.0, 0.9, 0.9], 1));
    bodies.push(ellipsoid(300, [1.0, 0.5, 0.1], 2));
    bodies.push(ellipsoid(300, [0.2, 1.0, 0.2], 3));
    bodies.push(ellipsoid(300, [0.1, 0.4, 1.0], 4));
    for number in 0..900 {
        let p = &bodies[number % bodies.len()];
        let q = &bodies[(number / 2) % bodies.len()];
        let radii = p.bounds().radius + q.bounds().radius;
        let place = random.unit_vector() * (radii * (0.8 + 0.3 * random.signed()));
        let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(place));
        let s = centre_to_centre(&pair);
        let proof = StaticProof::Separated { direction: Direction::Vector(s) };
        let balls = separates_balls(&pair, &s);
        let between_origins = offset(&pair);
        let origins = separates_balls_at_origins(&pair, &between_origins);
        let by_these = StaticProof::Separated { direction: Direction::Vector(between_origins) };
        assert!(!origins || judge_static(&pair, &by_these) == Ok(()), "{number}");
        by_origins += u32::from(origins);
        let hulls = separates_hulls(&pair, &s, &s);
        assert!(!(balls || hulls) || judge_static(&pair, &proof) == Ok(()), "{number}");
        // Long bodies by the direction that their ellipsoids say.
        let towards = Layout::of(&pair).towards;
        let askew = separates_hulls(&pair, &towards, &s);
        let proof = StaticProof::Separated { direction: Direction::Vector(towards) };
        assert!(!askew || judge_static(&pair, &proof) == Ok(()), "{number}");
        by_askew += u32::from(askew && !(balls || hulls));
        let reach = |placed: &Placed<'_>| {
            placed.body.bounds().ellipsoid_along(&placed.pose.direction_to_body_rounded(&s))
        };
        let ellipsoids = s.norm_squared() > reach(&pair.p) + reach(&pair.q);
        by_balls += u32::from(balls);
        by_ellipsoids += u32::from(hulls && ellipsoids && !balls);
        by_boxes += u32::from(hulls && !ellipsoids);
        by_none += u32::from(!(balls || hulls));
    }
    let counts = [by_origins, by_balls, by_ellipsoids, by_boxes, by_none, 2 * by_askew];
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn the_bounds_hold_every_vertex_and_the_inner_ball_is_inside() {
    for (name, body) in zoo() {
        let bounds = body.bounds();
        for v in body.vertices() {
            let d = v - bounds.centre;
            let scaled = d.zip_map(&bounds.semi_axes, |d, a| if d == 0.0 { 0.0 } else { d / a });
            assert!(scaled.norm() < 1.0 + 1e-12, "{name}");
        }
        assert!(bounds.inner_radius <= bounds.semi_axes.min() * (1.0 + 1e-12), "{name}");
        let mut random = Random(12);
        for _ in 0..20 {
            let g = random.unit_vector();
            let farthest = |v: &Vec3| g.dot(&(v - bounds.centre));
            let top = body.vertices().iter().map(farthest).fold(0.0, f64::max);
            assert!(bounds.box_along(&g) >= top - 1e-12 * bounds.span, "{name}");
            assert!(bounds.ellipsoid_along(&g) >= top - 1e-12 * bounds.span, "{name}");
        }
    }
}

#[test]
fn boxes_and_cones_are_more_like_their_boxes_and_ellipsoids_are_not() {
    let is_boxy = |body: &Polytope| body.bounds().is_boxy;
    assert!(is_boxy(&cuboid(3.0, 2.0, 1.0)) && is_boxy(&cone(32)));
    for axes in [[1.0, 1.0, 1.0], [1.0, 0.5, 0.2], [1.0, 0.1, 0.1]] {
        assert!(!is_boxy(&ellipsoid(300, axes, 1)), "{axes:?}");
    }
}

/// Bodies of the size of the least f64 and of the largest coordinates.
#[test]
fn what_f64_cannot_compute_separates_nothing() {
    for exponent in [-1074, -400, 400, 950] {
        let size = 2f64.powi(exponent);
        let body = crate::samples::cuboid(size, size, size);
        let there = Pose::translation(0.5 * size, 0.25 * size, 0.0);
        let pair = Pair::new(&body, Pose::identity(), &body, there);
        let s = centre_to_centre(&pair);
        assert!(!separates_balls(&pair, &s) && !separates_hulls(&pair, &s, &s));
        assert!(!separates_balls_at_origins(&pair, &offset(&pair)));
    }
}
