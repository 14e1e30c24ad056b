//! Claims of verdicts.

use clearance_geometry::pair::{Pair, VertexPair};
use clearance_geometry::polytope::Polytope;
use clearance_proof::Vec3;
use clearance_proof::claim::*;
use clearance_proof::claim::{
    Axis, Cover, CoverStep, Direction, Points, Solid, SolidProof, Solids,
};
use clearance_proof::effort::Effort;
use clearance_proof::effort::Stopped;
use clearance_proof::judge::*;
use clearance_proof::pose::Pose;
use clearance_samples::cuboid;

/// The vertex of the cube `[-1, 1]³` with these signs; vertices are sorted by x, y, z.
fn corner(x: u32, y: u32, z: u32) -> u32 {
    4 * x + 2 * y + z
}

fn cube_and_cube_at<'a>(cube: &'a Polytope, x: f64) -> Pair<'a> {
    Pair::new(cube, Pose::identity(), cube, Pose::translation(x, 0.0, 0.0))
}

fn separated(direction: Direction) -> StaticProof {
    StaticProof::Separated { direction }
}

fn touching(direction: Direction, pairs: &[VertexPair]) -> StaticProof {
    StaticProof::Touching { direction, pairs: pairs.iter().copied().collect() }
}

fn overlapping(pairs: &[VertexPair]) -> StaticProof {
    StaticProof::Overlapping { pairs: pairs.iter().copied().collect() }
}

const X: Direction = Direction::Vector(Vec3::new(1.0, 0.0, 0.0));

#[test]
fn a_direction_separates_only_if_no_vertex_crosses_the_plane() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let gap = cube_and_cube_at(&cube, 2.0f64.next_up());
    assert_eq!(judge_static(&gap, &separated(X)), Ok(()));
    let contact = cube_and_cube_at(&cube, 2.0);
    assert_eq!(judge_static(&contact, &separated(X)), Err(Refusal::NotSeparating));
    let back = Direction::Vector(-Vec3::x());
    assert_eq!(judge_static(&gap, &separated(back)), Err(Refusal::NotSeparating));
    let tilted = Direction::Vector(Vec3::new(1.0, 1e-15, 0.0));
    assert_eq!(judge_static(&gap, &separated(tilted)), Err(Refusal::NotSeparating));
}

#[test]
fn zero_infinite_and_missing_things_are_refused() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let pair = cube_and_cube_at(&cube, 3.0);
    for bad in [0.0, f64::NAN, f64::INFINITY] {
        let direction = Direction::Vector(Vec3::new(bad, 0.0, 0.0));
        assert_eq!(judge_static(&pair, &separated(direction)), Err(Refusal::NoDirection));
    }
    let k = |i, j| VertexPair { i, j };
    let same = Direction::Normal { pairs: [k(0, 0), k(1, 1), k(2, 1)], negative: false };
    assert_eq!(judge_static(&pair, &separated(same)), Err(Refusal::NoDirection));
    let absent = Direction::Normal { pairs: [k(0, 0), k(0, 8), k(2, 1)], negative: false };
    assert_eq!(judge_static(&pair, &separated(absent)), Err(Refusal::NoSuchVertex(1)));
    let touching_by_none = touching(X, &[]);
    assert!(matches!(judge_static(&pair, &touching_by_none), Err(Refusal::PairCount(_))));
    let three = overlapping(&[k(0, 0), k(1, 1), k(2, 2)]);
    assert!(matches!(judge_static(&pair, &three), Err(Refusal::PairCount(_))));
    let far = overlapping(&[k(0, 0), k(1, 1), k(2, 2), k(99, 2)]);
    assert_eq!(judge_static(&pair, &far), Err(Refusal::NoSuchVertex(3)));
}

#[test]
fn normals_by_vertex_pairs_mean_the_products_that_they_name() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let pair = cube_and_cube_at(&cube, 3.0);
    // With one vertex of P, differences move as the vertices of Q do.
    let q = |y, z| VertexPair { i: 0, j: corner(0, y, z) };
    let pairs = [q(0, 0), q(1, 0), q(0, 1)];
    let forwards = Direction::Normal { pairs, negative: false };
    assert_eq!(judge_static(&pair, &separated(forwards)), Ok(()));
    let backwards = Direction::Normal { pairs, negative: true };
    assert_eq!(judge_static(&pair, &separated(backwards)), Err(Refusal::NotSeparating));
    // y x z = x, but z x y = -x.
    let along_y = [q(0, 0), q(1, 0)];
    let edge = Direction::EdgeNormal { pairs: along_y, axis: Axis::Z, negative: false };
    assert_eq!(judge_static(&pair, &separated(edge)), Ok(()));
    let along_z = [q(0, 0), q(0, 1)];
    let edge = Direction::EdgeNormal { pairs: along_z, axis: Axis::Y, negative: false };
    assert_eq!(judge_static(&pair, &separated(edge)), Err(Refusal::NotSeparating));
    let none = Direction::EdgeNormal { pairs: along_z, axis: Axis::Z, negative: false };
    assert_eq!(judge_static(&pair, &separated(none)), Err(Refusal::NoDirection));
}

#[test]
fn touching_needs_a_common_plane_and_pairs_around_the_origin() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let pair = cube_and_cube_at(&cube, 2.0);
    let meeting = |y, z| VertexPair { i: corner(1, y, z), j: corner(0, y, z) };
    assert_eq!(judge_static(&pair, &touching(X, &[meeting(0, 1)])), Ok(()));
    let y = Direction::Vector(Vec3::y());
    assert_eq!(judge_static(&pair, &touching(y, &[meeting(0, 1)])), Err(Refusal::NotTouching));
    let skew = |a: u32, b: u32| VertexPair { i: corner(1, a, 0), j: corner(0, b, 0) };
    assert_eq!(judge_static(&pair, &touching(X, &[skew(0, 1), skew(1, 0)])), Ok(()));
    let one_sided = touching(X, &[skew(0, 1), skew(0, 1)]);
    assert_eq!(judge_static(&pair, &one_sided), Err(Refusal::OriginNotHeld));
    let around = [(0, 0, 1, 1), (1, 0, 0, 0), (1, 1, 0, 0)]
        .map(|(a, b, c, d)| VertexPair { i: corner(1, a, b), j: corner(0, c, d) });
    assert_eq!(judge_static(&pair, &touching(X, &around)), Ok(()));
    let apart = cube_and_cube_at(&cube, 2.0f64.next_up());
    assert_eq!(judge_static(&apart, &touching(X, &around)), Err(Refusal::NotTouching));
}

#[test]
fn overlap_needs_the_origin_strictly_inside() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let pair = cube_and_cube_at(&cube, 0.0);
    let pairs = |list: &[(u32, u32)]| -> Vec<VertexPair> {
        list.iter().map(|&(i, j)| VertexPair { i, j }).collect()
    };
    // Differences (±2, 0, 0), (0, ±2, 0), (0, 0, ±2).
    let six = pairs(&[(0, 4), (4, 0), (0, 2), (2, 0), (0, 1), (1, 0)]);
    assert_eq!(judge_static(&pair, &overlapping(&six)), Ok(()));
    for dropped in 0..6 {
        let mut five = six.clone();
        five.remove(dropped);
        let verdict = judge_static(&pair, &overlapping(&five));
        assert_eq!(verdict, Err(Refusal::OriginNotHeld), "on a face without {dropped}");
    }
    let flat = pairs(&[(0, 4), (4, 0), (0, 2), (2, 0)]);
    assert_eq!(judge_static(&pair, &overlapping(&flat)), Err(Refusal::OriginNotHeld));
}

/// Exact points of millions of vertices are built in seconds, which no deadline ended.
#[test]
fn many_vertices_are_looked_at_no_longer_than_the_effort_lasts() {
    let ball = clearance_geometry::hull::samples::sphere(1200, 1.0);
    let cube = cuboid(1.0, 1.0, 1.0);
    let apart = Pose::translation(3.0, 0.0, 0.0);
    let cover = Cover { steps: vec![CoverStep::Apart(vec![])], ..Cover::default() };
    let judged = |points: &[clearance_proof::Vec3], steps: u64| {
        let body = Points { points, pose: Pose::identity() };
        let bodies = Bodies { p: body, q: Points { points: cube.vertices(), pose: apart } };
        let solid = |points| Solid { points, kind: SolidKind::Hull };
        let solids = Solids { p: solid(bodies.p), q: solid(bodies.q) };
        let proof = SolidProof::Separated(cover.clone());
        let effort = &mut Effort::with_steps(steps);
        [
            judge_static_with(bodies, &separated(X), effort),
            judge_solids(&solids, &proof, &mut Effort::with_steps(steps)),
        ]
    };
    let stopped = Err(Refusal::Stopped(Stopped::Steps));
    assert_eq!(judged(&ball, 0), [stopped.clone(), stopped]);
    // With enough of it, what is wrong is said; and small bodies cost nothing.
    let whole = [Ok(()), Err(Refusal::CoverFails(0))];
    assert_eq!(judged(&ball, 2), whole);
    assert_eq!(judged(&ball[..1000], 0), whole);
}
