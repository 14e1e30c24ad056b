//! What slides a little in a floor of triangles.

use std::sync::Arc;

use super::*;
use crate::claim::Verdict;
use crate::pair::Placed;
use crate::polyhedron::{TriangleBody, TriangleSurface};
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::rays::passing::FacesOf;
use crate::samples::{cuboid, hull};

/// A strip along x of squares of two triangles with these heights at x = 0, 1, and so on, from y =
/// -2 to 2.
fn strip(heights: &[f64]) -> TriangleBody {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (x, z) in heights.iter().enumerate() {
        vertices.extend((0..5).map(|y| Vec3::new(x as f64, f64::from(y) - 2.0, *z)));
    }
    let columns = u32::try_from(heights.len()).unwrap() - 1;
    for (i, j) in (0..columns).flat_map(|i| (0..4).map(move |j| (i, j))) {
        let [a, b, c, d] = [5 * i + j, 5 * i + 5 + j, 5 * i + 6 + j, 5 * i + 1 + j];
        triangles.extend([[a, b, c], [a, c, d]]);
    }
    TriangleBody::Surface(Arc::new(TriangleSurface::new(&vertices, &triangles).unwrap()))
}

/// How each face is met that is not in contact at the start and is not only grazed.
fn later(
    body: &TriangleBody,
    shape: (&Polytope, f64),
    from: [f64; 3],
    by: Vec3,
) -> Vec<SeamContact> {
    let start = Placed { body: shape.0, pose: Pose::translation(from[0], from[1], from[2]) };
    let straight = StraightBody { start, radius: shape.1, by };
    let of = FacesOf::Triangles(body);
    let faces = PassedFaces { of, pose: Pose::identity(), radius: 0.0 };
    let effort = &mut Effort::unlimited();
    let all = straight.passages(&faces, effort).unwrap().unwrap();
    let (mut met, each) = (Vec::new(), MetFaces::new(&all));
    for (at, passage) in (0..).zip(&all) {
        let is_later = passage.initial == Verdict::Separated;
        if is_later && straight.gets_through(&faces, passage, effort).unwrap() {
            met.push(straight.across_seam(&faces, &each, at, effort).unwrap());
        }
    }
    met
}

/// A box, a ball and a capsule that reach half a metre down.
fn shapes() -> [(Polytope, f64); 3] {
    let stick = hull(&[Vec3::new(0.0, 0.0, 0.25), Vec3::new(0.0, 0.0, -0.25)]);
    [(cuboid(0.5, 0.5, 0.5), 0.0), (hull(&[Vec3::zeros()]), 0.5), (stick, 0.25)]
}

#[test]
fn next_triangles_of_a_flat_floor_are_left_out_unless_the_way_leads_down() {
    let floor = strip(&[0.0; 7]);
    for (shape, radius) in &shapes() {
        for deep in [1e-12, 1e-6, 0.01] {
            let from = [1.0, 0.125, 0.5 - deep];
            for (down, expected) in [
                (0.0, SeamContact::LeftOut),
                (5e-324, SeamContact::LeftOut),
                (-5e-324, SeamContact::OnFace(Vec3::z())),
                (-1e-3, SeamContact::OnFace(Vec3::z())),
            ] {
                let met = later(&floor, (shape, *radius), from, Vec3::new(4.0, 0.0, down));
                assert!(met.len() > 5, "{met:?}");
                // What has come deep enough meets a triangle in its middle, too.
                let is_told = |one: &SeamContact| {
                    *one == expected || down < 0.0 && *one == SeamContact::Surface
                };
                assert!(met.iter().all(is_told), "{deep} {down} {met:?}");
            }
        }
    }
}

/// From a floor up a ramp of one in two, over its top and down a step: the ramp is met with its own
/// normal, and what falls away is not.
#[test]
fn a_ramp_is_met_and_what_falls_away_is_not() {
    let up = strip(&[0.0, 0.0, 0.0, 0.5, 1.0]);
    let down = strip(&[0.0, 0.0, 0.0, -0.5, -1.0]);
    let slope = Vec3::new(-0.5, 0.0, 1.0).normalize();
    for (shape, radius) in &shapes() {
        let from = [0.75, 0.125, 0.5 - 1e-6];
        let met = later(&up, (shape, *radius), from, Vec3::new(3.0, 0.0, 0.0));
        let is_ramp = |one: &&SeamContact| match one {
            SeamContact::OnFace(normal) => (normal - slope).norm() < 1e-15,
            SeamContact::Surface => true,
            SeamContact::LeftOut => false,
        };
        assert!(met.iter().filter(is_ramp).count() > 2, "{met:?}");
        let met = later(&down, (shape, *radius), from, Vec3::new(3.0, 0.0, 0.0));
        assert!(met.iter().all(|one| *one == SeamContact::LeftOut), "{met:?}");
    }
}

/// The edge of a plate that stands in the way is no seam.
#[test]
fn an_open_border_is_met() {
    let plate = strip(&[0.0; 3]);
    for (shape, radius) in &shapes() {
        let met = later(&plate, (shape, *radius), [-2.0, 0.125, 0.25], Vec3::new(3.0, 0.0, 0.0));
        let of_border = met.iter().filter(|one| **one == SeamContact::Surface).count();
        let left_out = met.iter().filter(|one| **one == SeamContact::LeftOut).count();
        assert!(of_border >= 1 && of_border + left_out == met.len(), "{met:?}");
    }
}
