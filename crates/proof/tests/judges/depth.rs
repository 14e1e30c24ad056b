//! Claims of depths by surfaces.

use clearance_geometry::pair::{Pair, VertexPair};
use clearance_proof::Vec3;
use clearance_proof::claim::*;
use clearance_proof::effort::Effort;
use clearance_proof::effort::Stopped;
use clearance_proof::judge::*;
use clearance_proof::pose::Pose;
use clearance_samples::{cuboid, hull};

/// A point in the middle of a cube of edge 2: M is the cube.
fn check(test: impl FnOnce(&Pair<'_>, Surface)) {
    let point = hull(&[Vec3::zeros()]);
    let corners = [-1.0, 1.0];
    let cube: Vec<Vec3> = corners
        .into_iter()
        .flat_map(|x| corners.into_iter().flat_map(move |y| corners.map(|z| Vec3::new(x, y, z))))
        .collect();
    let cube = hull(&cube);
    let pair = Pair::new(&point, Pose::identity(), &cube, Pose::identity());
    // Vertices are sorted by x, y, z, so their bits are their coordinates.
    let quads =
        [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    let triangles = quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let corners = (0..8).map(|j| VertexPair { i: 0, j }).collect();
    test(&pair, Surface { corners, triangles });
}

/// Without limit.
fn judge_depth(
    pair: &Pair<'_>,
    lower: f64,
    upper: f64,
    face: &Direction,
    surface: Option<&Surface>,
) -> Result<(), Refusal> {
    clearance_proof::judge::judge_depth(
        pair,
        [lower, upper],
        face,
        surface,
        &mut Effort::unlimited(),
    )
}

const UP: Direction = Direction::Vector(Vec3::new(0.0, 0.0, 3.0));

#[test]
fn a_true_bracket_is_accepted_and_one_ulp_inside_refused() {
    check(|pair, surface| {
        assert_eq!(judge_depth(pair, 1.0, 1.0, &UP, Some(&surface)), Ok(()));
        assert!(judge_depth(pair, 1.0, 1.0f64.next_down(), &UP, Some(&surface)).is_err());
        assert!(judge_depth(pair, 1.0f64.next_up(), 1.1, &UP, Some(&surface)).is_err());
        assert_eq!(judge_depth(pair, 1.0, 1.0, &UP, None), Ok(()));
        let diagonal = Direction::Vector(Vec3::new(1.0, 1.0, 0.0));
        assert!(judge_depth(pair, 1.0, 1.41, &diagonal, None).is_err());
        assert_eq!(judge_depth(pair, 1.0, 1.42, &diagonal, None), Ok(()));
        assert!(judge_depth(pair, f64::NAN, 1.0, &UP, None).is_err());
        assert!(judge_depth(pair, 1.0, f64::NAN, &UP, None).is_err());
    });
}

#[test]
fn a_surface_with_a_hole_or_a_turned_triangle_is_refused() {
    check(|pair, surface| {
        let refused = |change: &dyn Fn(&mut Surface)| {
            let mut changed = surface.clone();
            change(&mut changed);
            judge_depth(pair, 1.0, 1.0, &UP, Some(&changed)).is_err()
        };
        assert!(!refused(&|_| {}));
        assert!(refused(&|s| s.triangles.truncate(11)));
        assert!(refused(&|s| s.triangles.clear()));
        assert!(refused(&|s| s.triangles[3].swap(0, 1)));
        assert!(refused(&|s| s.triangles.iter_mut().for_each(|t| t.swap(0, 1))));
        assert!(refused(&|s| s.triangles[0][0] = 8));
        assert!(refused(&|s| s.corners[0].j = 8));
        assert!(refused(&|s| s.corners.swap(0, 7)));
    });
}

/// However long the surface was, it was looked at to its end, whatever the deadline.
#[test]
fn a_surface_is_judged_no_longer_than_the_effort_lasts() {
    check(|pair, surface| {
        let judged = |steps: u64| {
            let effort = &mut Effort::with_steps(steps);
            clearance_proof::judge::judge_depth(pair, [1.0, 1.0], &UP, Some(&surface), effort)
        };
        // Eight corners and twelve triangles.
        for steps in [0, 7, 19] {
            assert_eq!(judged(steps), Err(Refusal::Stopped(Stopped::Steps)), "{steps}");
        }
        assert_eq!(judged(20), Ok(()));
    });
}

#[test]
fn a_face_on_the_wrong_side_of_the_origin_is_refused() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(0.0, 0.0, 9.0));
    let down = Direction::Vector(Vec3::new(0.0, 0.0, -1.0));
    assert!(judge_depth(&pair, 0.0, 100.0, &down, None).is_err());
    assert_eq!(judge_depth(&pair, 0.0, 100.0, &UP, None), Ok(()));
}
