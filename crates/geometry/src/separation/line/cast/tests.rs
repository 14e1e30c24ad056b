//! The walk against the portal, which ends from anywhere, and what it costs.

use super::*;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::{Random, ball, cuboid, ellipsoid, zoo};

fn scene<'a>(pair: &'a Pair<'a>, u: Vec3, limit: f64) -> Scene<'a> {
    let offset = pair.q.pose.translation - pair.p.pose.translation;
    Scene::new(pair, offset, &u, limit, offset.amax().max(1.0))
}

/// By the portal alone, from one side.
fn by_portal(pair: &Pair<'_>, u: &Vec3, limit: f64) -> Cast {
    let effort = &mut Effort::unlimited();
    let scene = scene(pair, *u, limit);
    let first = scene.support(u, effort).unwrap();
    portal::search(&scene, u, first, effort).unwrap()
}

/// A pair, and a ray that often hits M.
fn random_question<'a>(p: &'a Polytope, q: &'a Polytope, random: &mut Random) -> (Pair<'a>, Vec3) {
    let size = p.bounds().radius + q.bounds().radius;
    let from = random.unit_vector() * (size * (1.0 + random.signed().abs()));
    let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(from));
    (pair, from + random.vector() * (0.5 * size))
}

#[test]
fn the_walk_finds_what_the_portal_finds_on_bodies_of_every_kind() {
    let zoo = zoo();
    let mut random = Random(21);
    let mut seen = [0; 2];
    for (name_p, p) in &zoo {
        for (name_q, q) in &zoo {
            let (pair, u) = random_question(p, q, &mut random);
            let found = cast(&pair, &u, 1.0, &mut Effort::unlimited()).unwrap();
            match (found, by_portal(&pair, &u, 1.0)) {
                (Cast::Enters(_, t), Cast::Enters(_, truth)) => {
                    assert!((t - truth).abs() < 1e-9, "{name_p}, {name_q}: {t}, {truth}");
                    seen[0] += 1;
                }
                (Cast::Apart(s, _), Cast::Apart(..)) => {
                    let scene = scene(&pair, u, 1.0);
                    let corner = scene.support(&s, &mut Effort::unlimited()).unwrap();
                    let across = s.dot(&u).abs() < 1e-9 * s.norm() * u.norm();
                    let beyond = s.dot(&corner.point) > 0.0 && across;
                    assert!(beyond || scene.is_beyond(&s, &corner), "{name_p}, {name_q}");
                    seen[1] += 1;
                }
                // Flat bodies whose planes the ray is in.
                (Cast::Lost, _) | (_, Cast::Lost) => {}
                (found, truth) => panic!("{name_p}, {name_q}: {found:?}, {truth:?}"),
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 40), "{seen:?}");
}

/// Supporting pairs and cells in the mean of a hundred rays. The portal takes nine to twenty pairs.
#[test]
fn a_cast_looks_at_few_vertices_whatever_the_bodies_shapes_and_frames() {
    let rod = |seed| ellipsoid(2000, [1.0, 0.1, 0.1], seed);
    let askew = |body: &Polytope, random: &mut Random| {
        let turn = random.pose(Vec3::new(3.0, 0.0, 0.0));
        let points: Vec<Vec3> = body.vertices().iter().map(|v| turn.apply_rounded(v)).collect();
        crate::samples::hull(&points)
    };
    let mut random = Random(22);
    let cases = [
        ("balls", ball(1000, 1), ball(1000, 2), [1.5, 3.5]),
        ("few", ball(8, 3), cuboid(1.0, 0.5, 0.2), [2.0, 3.0]),
        ("rods", rod(3), rod(4), [1.5, 3.0]),
        ("a rod askew in its frame", askew(&rod(5), &mut random), ball(300, 6), [1.5, 2.0]),
    ];
    for (name, p, q, [pairs_max, steps_max]) in cases {
        let mut effort = Effort::unlimited();
        for _ in 0..100 {
            let (pair, u) = random_question(&p, &q, &mut random);
            cast(&pair, &u, 1.0, &mut effort).unwrap();
        }
        let [pairs, steps] =
            [effort.cost.supports as f64 / 200.0, effort.cost.steps as f64 / 100.0];
        assert!(pairs < pairs_max && steps < steps_max, "{name}: {pairs} pairs, {steps} steps");
    }
}

#[test]
fn a_ray_across_points_segments_and_numbers_of_any_size_is_no_trouble() {
    let point = crate::samples::hull(&[Vec3::new(1.0, 2.0, 3.0)]);
    let segment = crate::samples::hull(&[Vec3::zeros(), Vec3::x()]);
    let body = ball(100, 4);
    for (p, q) in [(&point, &point), (&point, &segment), (&segment, &segment), (&segment, &body)] {
        for scale in [1e-50, 1.0, 1e50] {
            for u in [Vec3::x(), Vec3::new(1.0, -2.0, 0.5)] {
                let pair = Pair::new(p, Pose::identity(), q, Pose::translation(scale, 0.0, 0.0));
                cast(&pair, &(u * scale), 1.0, &mut Effort::unlimited()).unwrap();
                cast(&pair, &u, f64::INFINITY, &mut Effort::unlimited()).unwrap();
            }
        }
    }
}
