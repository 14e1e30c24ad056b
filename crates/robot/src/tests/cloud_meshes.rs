//! Links that are meshes among clouds, against the convex pieces that they consist of.

use std::sync::Arc;

use super::solids::{Twice, ask, clearances};
use super::{solids, surfaces};
use crate::body::PartBody;
use crate::cell::{Cell, Instance};
use crate::check::{CheckMode, CheckQuestion, Checked};
use crate::cloud::BoxedCloud;
use crate::cloud_mesh::MeshBesideCloud;
use crate::edge::{EdgeAnswer, EdgeQuestion};
use crate::parts::MeshTreatment;
use crate::still::StillBody;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::cloud::{PlacedCloud, PointCloud};
use clearance_geometry::effort::Effort;
use clearance_geometry::pair::Placed;
use clearance_geometry::pose::Pose;
use clearance_samples::Random;

/// A cloud at each place: of points, of some of which there are several, or of balls.
fn still_clouds(poses: &[Pose]) -> [Vec<StillBody>; 2] {
    let random = &mut Random(61);
    let clouds = poses.iter().enumerate().map(|(at, pose)| {
        let mut points: Vec<Vec3> = (0..24).map(|_| random.vector() * 0.12).collect();
        points.extend_from_within(..4);
        let radius = if at % 3 == 0 { 0.0 } else { 0.015 };
        let cloud = PointCloud::new(points, radius, &Effort::unlimited()).unwrap();
        StillBody { body: PartBody::Cloud(BoxedCloud::new(Arc::new(cloud))), pose: *pose }
    });
    let clouds: Vec<StillBody> = clouds.collect();
    [clouds.clone(), clouds]
}

/// Links that are regions beside their boxes, and surfaces beside their triangles.
fn scenes(random: &mut Random) -> [Twice; 2] {
    [solids::hands(), surfaces::hands()]
        .map(|hands| Twice::of((hands, still_clouds, 1), 6, 2, random))
}

#[test]
fn links_that_are_meshes_stand_to_balls_as_their_pieces_do() {
    let random = &mut Random(62);
    for twice in scenes(random) {
        let values = twice.values(150, random);
        let [whole, in_pieces] = [0, 1].map(|of| twice.contacts(of, &values));
        let mut seen = [0; 2];
        for (at, (whole, in_pieces)) in whole.iter().zip(&in_pieces).enumerate() {
            assert_eq!(whole, in_pieces, "{at}");
            seen[usize::from(whole.is_empty())] += 1;
        }
        assert!(seen[0] > 40 && seen[1] > 30, "{seen:?}");
    }
}

#[test]
fn clearances_of_meshes_among_balls_are_those_of_their_pieces() {
    let random = &mut Random(63);
    for twice in scenes(random) {
        let values = twice.values(60, random);
        let question = CheckQuestion {
            mode: CheckMode::Clearance,
            with_gradient: true,
            ..CheckQuestion::default()
        };
        let [whole, in_pieces] = twice.cells.each_ref().map(|cell| {
            let checked = cell.check(question, &values, &mut Effort::unlimited());
            checked.iter().map(|one| clearances(one)[0].clone().unwrap()).collect::<Vec<_>>()
        });
        let mut seen = [0; 2];
        for (whole, in_pieces) in whole.iter().zip(&in_pieces) {
            assert_eq!(whole.verdict, in_pieces.verdict);
            // Boxes are where their own origins say, up to rounding.
            assert!(whole.lower <= in_pieces.upper + 1e-14, "{whole:?} {in_pieces:?}");
            assert!(in_pieces.lower <= whole.upper + 1e-14, "{whole:?} {in_pieces:?}");
            seen[usize::from(whole.verdict == Some(Verdict::Separated))] += 1;
            if whole.verdict != Some(Verdict::Separated) {
                assert!(whole.lower <= 0.0 && whole.upper <= 0.0, "{whole:?}");
                continue;
            }
            assert!(whole.upper - whole.lower <= 1e-12 * whole.upper, "{whole:?}");
            assert_eq!(whole.point, in_pieces.point);
            let [a, b] = [whole, in_pieces].map(|one| one.geometry.as_ref().unwrap());
            assert!((a.normal - b.normal).norm() < 1e-9, "{a:?} {b:?}");
            // Two links may be as near each other at many points.
            if whole.point.is_some() {
                assert!((a.first - b.first).norm() + (a.second - b.second).norm() < 1e-9);
            }
        }
        assert!(seen[0] > 10 && seen[1] > 10, "{seen:?}");
    }
}

#[test]
fn edges_of_meshes_among_balls_end_where_those_of_their_pieces_do() {
    let random = &mut Random(64);
    for twice in scenes(random) {
        let from = twice.values(40, random);
        let to: Vec<f64> = from.iter().map(|value| value + 0.1 * random.signed()).collect();
        let question = EdgeQuestion {
            margin: 0.0,
            tolerance: 1e-6,
            steps_max: u64::MAX,
            ..EdgeQuestion::default()
        };
        let [whole, in_pieces] = twice
            .cells
            .each_ref()
            .map(|cell| cell.check_edges(question, [&from, &to], &mut Effort::unlimited()));
        let mut seen = [0; 2];
        for (whole, in_pieces) in whole.iter().zip(&in_pieces) {
            // Two links graze each other.
            if let (EdgeAnswer::Undecided { .. }, EdgeAnswer::Undecided { .. }) = (whole, in_pieces)
            {
                continue;
            }
            let bracket = |answer: &EdgeAnswer| match answer {
                EdgeAnswer::Free => None,
                EdgeAnswer::Contact { free_until, contact_at, .. } => {
                    Some([*free_until, *contact_at])
                }
                EdgeAnswer::Undecided { .. }
                | EdgeAnswer::Bad(_)
                | EdgeAnswer::Turns
                | EdgeAnswer::Stopped { .. } => panic!("{answer:?}"),
            };
            let (a, b) = (bracket(whole), bracket(in_pieces));
            seen[usize::from(a.is_none())] += 1;
            assert_eq!(a.is_none(), b.is_none(), "{whole:?} {in_pieces:?}");
            let (Some(a), Some(b)) = (a, b) else { continue };
            assert!(a[0] <= b[1] && b[0] <= a[1], "{a:?} {b:?}");
        }
        assert!(seen[0] > 3 && seen[1] > 3, "{seen:?}");
    }
}

/// How deep a ball is in a mesh is not known: beside a pair that is a little deep it may be the
/// deepest, and the least clearance has to hold it.
#[test]
fn a_ball_in_a_mesh_may_be_deeper_than_what_is_known() {
    let body = solids::polyhedron(&solids::channel());
    let mesh = body.mesh().unwrap().surface();
    let corners = mesh.triangles()[0].map(|corner| mesh.vertices()[corner as usize]);
    let on_face = (corners[0] + corners[1] + corners[2]) / 3.0;
    let effort = &mut Effort::unlimited();
    let cloud = PointCloud::new(vec![on_face], 0.02, effort).unwrap();
    let beside = MeshBesideCloud {
        kind: body.boundary_kind(),
        hull: Placed { body: body.hull(), pose: Pose::identity() },
        skew: 0.0,
        cloud: PlacedCloud::new(&cloud, Pose::identity()),
    };
    let found = beside.nearest(-0.001, effort).unwrap().unwrap();
    assert!(found.clearance.lower < -0.01 && found.clearance.upper <= 0.0, "{found:?}");
    assert_eq!(beside.nearest(-1.0, effort).unwrap(), None);
}

/// One small ball at each place.
fn still_balls(poses: &[Pose]) -> [Vec<StillBody>; 2] {
    let cloud = PointCloud::new(vec![Vec3::zeros()], 0.002, &Effort::unlimited()).unwrap();
    let body = PartBody::Cloud(BoxedCloud::new(Arc::new(cloud)));
    let still: Vec<StillBody> =
        poses.iter().map(|pose| StillBody { body: body.clone(), pose: *pose }).collect();
    [still.clone(), still]
}

/// A ball in the hollow of a channel is free, whatever the hull of the channel is.
#[test]
fn hollows_of_links_are_free_for_clouds() {
    let random = &mut Random(65);
    let twice = Twice::of((solids::hands(), still_balls, 1), 6, 2, random);
    let values = twice.values(200, random);
    let treatment = MeshTreatment::Hull;
    let robot =
        solids::robot(&solids::urdf(solids::MESH_PART), &solids::channel(), treatment).unwrap();
    let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
    let of_hulls = Cell::new(&[instance], twice.cells[0].still.bodies().to_vec());
    let free = |cell| {
        let checked = ask(cell, CheckMode::FirstPair, &values);
        checked.iter().filter(|one| **one == Checked::Free).count()
    };
    let (of_hulls, of_meshes) = (free(&of_hulls), free(&twice.cells[0]));
    assert!(of_hulls + 5 < of_meshes, "{of_hulls} {of_meshes}");
}
