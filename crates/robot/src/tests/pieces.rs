//! Links whose meshes are convex pieces, against the boxes that the meshes are the union of.

use super::samples::ROBOT_LIMITS;
use super::solids::{MESH_PART, ask, channel, cube, hands, robot, urdf};
use crate::cell::{Cell, Instance};
use crate::check::{CheckMode, Checked};
use crate::mesh::MeshData;
use crate::model::{BuildError, Sources};
use crate::parts::{MeshContent, MeshFiles, MeshTreatment, PIECES_MAX, PartSource};
use crate::still::StillBody;
use crate::urdf::DescriptionLimits;
use crate::{Robot, tests::samples::still_box};
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::pose::Pose;
use clearance_samples::Random;

fn built(limits: &DescriptionLimits, effort: &mut Effort<'_>) -> Result<Robot, BuildError> {
    let mesh = MeshContent::Mesh(std::sync::Arc::new(channel()));
    let meshes: MeshFiles = [("u.obj".to_owned(), mesh)].into();
    let urdf = urdf(MESH_PART);
    let sources = Sources {
        urdf: &urdf,
        srdf: None,
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::Pieces,
    };
    Robot::build(&sources, limits, effort)
}

#[test]
fn a_channel_in_pieces_is_free_where_its_boxes_are() {
    let in_pieces = built(&ROBOT_LIMITS, &mut Effort::unlimited()).unwrap();
    // Two links have it.
    assert_eq!(in_pieces.parts.len(), 6);
    for part in &in_pieces.parts {
        assert!(matches!(part.source, PartSource::Piece { .. }) && part.is_own);
        let (lower, upper) = (part.gap.lower.unwrap(), part.gap.upper.unwrap());
        assert!(0.0 <= lower && lower <= upper && upper < 0.01, "{:?}", part.gap);
        assert_eq!(part.body.polytope().unwrap().vertices().len(), 8);
    }
    let note = "is not convex; 3 convex pieces that hold it stand for it, and stand out by ";
    assert!(
        in_pieces.notes.len() == 2 && in_pieces.notes[0].contains(note),
        "{:?}",
        in_pieces.notes
    );
    let [_, in_boxes] = hands();
    let random = &mut Random(35);
    let still: Vec<StillBody> = (0..24)
        .map(|_| {
            let half = random.vector().abs() * 0.05 + Vec3::repeat(0.005);
            let centre = random.vector();
            StillBody { pose: random.pose(centre), ..still_box(half) }
        })
        .collect();
    let cell = |robot: &Robot| {
        Cell::new(&[Instance { robot, world_from_base: Pose::identity() }], still.clone())
    };
    let one = |random: &mut Random| {
        let body = &still[(random.signed().abs() * still.len() as f64) as usize % still.len()];
        let at = body.pose.translation + random.vector() * 0.15;
        [at.x, at.y, at.z, 3.0 * random.signed(), 3.0 * random.signed(), 3.0 * random.signed()]
    };
    let values: Vec<f64> = (0..400).flat_map(|_| one(random)).collect();
    let free = |robot: &Robot| -> Vec<bool> {
        let checked = ask(&cell(robot), CheckMode::FirstPair, &values);
        checked.iter().map(|one| *one == Checked::Free).collect()
    };
    let (of_pieces, of_boxes) = (free(&in_pieces), free(&in_boxes));
    assert_eq!(of_pieces, of_boxes);
    let count = of_pieces.iter().filter(|free| **free).count();
    assert!((20..380).contains(&count), "{count}");
}

#[test]
fn what_is_convex_is_its_hull_and_what_is_open_is_held() {
    let convex = robot(&urdf(MESH_PART), &cube(0.25, false), MeshTreatment::Pieces).unwrap();
    assert_eq!(convex.parts.len(), 2);
    assert!(matches!(convex.parts[0].source, PartSource::Mesh { convex: true, .. }));
    let mut open = channel();
    open.triangles.truncate(20);
    let MeshData { vertices, triangles, .. } = &open;
    let held = robot(&urdf(MESH_PART), &open, MeshTreatment::Pieces).unwrap();
    assert!(held.parts.len() <= 2 * PIECES_MAX && held.parts.len() > 2);
    for corner in triangles.as_flattened() {
        let p = vertices[*corner as usize];
        let is_in = |part: &crate::parts::RobotPart| {
            let within = part.body.hull().bounds();
            (0..3).all(|k| within.low[k] <= p[k] && p[k] <= within.high[k])
        };
        assert!(held.parts.iter().any(is_in), "{p:?}");
    }
}

#[test]
fn pieces_count_as_parts_and_are_given_up_with_their_caller() {
    let few = DescriptionLimits { parts_max: 5, ..ROBOT_LIMITS };
    let refused = built(&few, &mut Effort::unlimited()).unwrap_err();
    assert!(refused.to_string().contains("more than 5 parts"), "{refused}");
    let refused = built(&ROBOT_LIMITS, &mut Effort::with_steps(200)).unwrap_err();
    assert_eq!(refused, BuildError::Stopped(Stopped::Steps));
}
