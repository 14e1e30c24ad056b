//! Parts and obstacles that are surfaces, against the triangles that they are the union of.

use std::sync::Arc;

use super::samples::{ROBOT_LIMITS, still_box};
use super::solids::{
    MESH_PART, Told, Twice, among, ask, channel, clearances, cube, ends_alike, joined, pairs_of,
    polyhedron, robot, slider, urdf,
};
use crate::Robot;
use crate::body::PartBody;
use crate::check::CheckMode;
use crate::claim::{EdgeContactProof, GapProof};
use crate::edge::EdgeQuestion;
use crate::judge::EdgeRefusal;
use crate::mesh::MeshData;
use crate::model::Sources;
use crate::parts::{MeshContent, MeshFiles, MeshTreatment, PartSource};
use crate::still::StillBody;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{SolidProof, Verdict};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polyhedron::{TriangleBody, TriangleSurface};
use clearance_geometry::pose::Pose;
use clearance_samples::Random;

/// Triangles of the channel.
const TRIANGLES: usize = 28;

fn surface(mesh: &MeshData) -> PartBody {
    let surface = TriangleSurface::new(&mesh.vertices, &mesh.triangles).unwrap();
    let hull = convex_hull(surface.vertices()).unwrap().polytope;
    PartBody::new(Arc::new(hull), Some(TriangleBody::Surface(Arc::new(surface))))
}

/// Each triangle as a polytope without volume.
fn triangles(mesh: &MeshData) -> Vec<PartBody> {
    let of = |triangle: &[u32; 3]| {
        let corners = triangle.map(|corner| mesh.vertices[corner as usize]);
        PartBody::from(Arc::new(convex_hull(&corners).unwrap().polytope))
    };
    mesh.triangles.iter().map(of).collect()
}

/// The hand whose links are surfaces of channels, or all triangles of these.
pub(super) fn hands() -> [Robot; 2] {
    let whole = robot(&urdf(MESH_PART), &channel(), MeshTreatment::Surface).unwrap();
    let parts = (0..TRIANGLES).map(|k| MESH_PART.replace("u.obj", &format!("{k}.obj")));
    let known = |(k, body)| (format!("{k}.obj"), MeshContent::Known(body));
    let meshes: MeshFiles = triangles(&channel()).into_iter().enumerate().map(known).collect();
    let text = urdf(&parts.collect::<String>());
    let sources = Sources {
        urdf: &text,
        srdf: None,
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::default(),
    };
    let in_triangles = Robot::build(&sources, &ROBOT_LIMITS, &mut Effort::unlimited()).unwrap();
    [whole, in_triangles]
}

/// Surfaces of channels that stand still, and their triangles.
fn still_channels(poses: &[Pose]) -> [Vec<StillBody>; 2] {
    let (whole, pieces) = (surface(&channel()), triangles(&channel()));
    let at = |body: &PartBody, pose: &Pose| StillBody { body: body.clone(), pose: *pose };
    let in_pieces = poses.iter().flat_map(|pose| pieces.iter().map(move |body| at(body, pose)));
    [poses.iter().map(|pose| at(&whole, pose)).collect(), in_pieces.collect()]
}

fn twice(channels: usize, others: usize, random: &mut Random) -> Twice {
    Twice::of((hands(), still_channels, TRIANGLES), channels, others, random)
}

#[test]
fn links_and_obstacles_that_are_surfaces_stand_as_their_triangles_do() {
    let random = &mut Random(51);
    let twice = twice(6, 12, random);
    let values = twice.values(150, random);
    let [whole, in_triangles] = [0, 1].map(|of| twice.contacts(of, &values));
    let mut seen = [0; 2];
    for (at, (whole, in_triangles)) in whole.iter().zip(&in_triangles).enumerate() {
        assert_eq!(whole, in_triangles, "{at}");
        seen[usize::from(whole.is_empty())] += 1;
    }
    assert!(seen[0] > 40 && seen[1] > 30, "{seen:?}");
}

#[test]
fn clearances_of_surfaces_are_those_of_their_nearest_triangles() {
    let random = &mut Random(52);
    let twice = twice(5, 12, random);
    let values = twice.values(60, random);
    let [whole, in_triangles] =
        twice.cells.each_ref().map(|cell| ask(cell, CheckMode::Clearance, &values));
    let mut seen = [0; 2];
    for (whole, in_triangles) in whole.iter().zip(&in_triangles) {
        let [whole, in_triangles] =
            [whole, in_triangles].map(|one| clearances(one)[0].clone().unwrap());
        assert_eq!(whole.verdict, in_triangles.verdict);
        seen[usize::from(whole.verdict == Some(Verdict::Separated))] += 1;
        if whole.verdict == Some(Verdict::Separated) {
            assert!(whole.lower <= in_triangles.upper && in_triangles.lower <= whole.upper);
            assert!(whole.upper - whole.lower <= 1e-12 * whole.upper, "{whole:?}");
        } else {
            assert!(whole.lower < 0.0 && whole.upper <= 0.0, "{whole:?}");
        }
    }
    assert!(seen[0] > 20 && seen[1] > 20, "{seen:?}");
}

#[test]
fn edges_among_surfaces_end_as_those_among_their_triangles() {
    let random = &mut Random(53);
    let twice = twice(4, 10, random);
    let (from, step) = (twice.values(50, random), twice.values(50, random));
    let to: Vec<f64> = from.iter().zip(&step).map(|(a, b)| a + 0.2 * b).collect();
    for margin in [0.0, 0.01] {
        let question =
            EdgeQuestion { margin, tolerance: 1e-6, steps_max: 1 << 20, ..EdgeQuestion::default() };
        let [whole, in_triangles] = twice
            .cells
            .each_ref()
            .map(|cell| cell.check_edges(question, [&from, &to], &mut Effort::unlimited()));
        let seen = ends_alike(&whole, &in_triangles);
        assert!(seen.iter().all(|count| *count > 3), "{seen:?}");
    }
}

#[test]
fn edges_of_surfaces_are_certified_and_changed_certificates_refused() {
    let random = &mut Random(54);
    let twice = twice(4, 8, random);
    let (mut seen, mut covers) = ([0; 3], 0);
    for at in 0..40 {
        let (from, step) = (twice.values(1, random), twice.values(1, random));
        let to = from.iter().zip(&step).map(|(a, b)| a + 0.1 * b).collect();
        let mut told = Told::of(&twice.cells[0], [from, to], [0.0, 0.03][at % 2]);
        covers += told.covers();
        assert_eq!(told.judged(), Ok(()), "{at}");
        match &told.certificate.contact {
            None => seen[0] += 1,
            Some(EdgeContactProof::Near(_)) => seen[1] += 1,
            Some(_) => seen[2] += 1,
        }
        let pieces = told.certificate.pieces.clone();
        for (k, piece) in pieces.iter().enumerate() {
            for (g, gap) in piece.gaps.iter().enumerate() {
                let GapProof::Cover(cover) = &gap.shown else { continue };
                let mut short = cover.clone();
                short.steps.pop();
                told.certificate.pieces[k].gaps[g].shown = GapProof::Cover(short);
                assert!(matches!(told.judged(), Err(EdgeRefusal::Gap(piece, ..)) if piece == k));
                told.certificate.pieces[k].gaps[g] = gap.clone();
            }
        }
        if let Some(EdgeContactProof::Solids(SolidProof::OverlappingPieces(pairs))) =
            &mut told.certificate.contact
        {
            // Three points have no inside.
            pairs.truncate(3);
            assert!(matches!(told.judged(), Err(EdgeRefusal::Contact(_))));
        }
        if told.certificate.contact.take().is_some() {
            assert!(matches!(told.judged(), Err(EdgeRefusal::Contact(_))));
        }
    }
    assert!(covers > 20 && seen.iter().all(|count| *count > 1), "{covers} {seen:?}");
}

/// What is within a closed surface is apart from it; a region meets what is in it.
#[test]
fn a_link_within_a_closed_surface_is_free_and_a_surface_within_a_region_is_not() {
    let at = |cell: &crate::cell::Cell, x: f64| {
        let values = [x, 0.25, 0.0];
        let found = clearances(&ask(cell, CheckMode::Clearance, &values)[0])[0].clone().unwrap();
        let pairs = pairs_of(&ask(cell, CheckMode::AllPairs, &values)[0]);
        let verdict = found.verdict.unwrap();
        let is_free = verdict == Verdict::Separated;
        assert_eq!(pairs, if is_free { vec![] } else { vec![([0, 1], verdict)] });
        verdict
    };
    let cell = among(&slider(0.5), surface(&cube(2.0, false)));
    assert_eq!(at(&cell, 0.0), Verdict::Separated);
    assert_eq!(at(&cell, 1.75), Verdict::Touching);
    assert_eq!(at(&cell, 1.75_f64.next_down()), Verdict::Separated);
    assert_eq!(at(&cell, 1.75_f64.next_up()), Verdict::Overlapping);
    let hollow = joined(&cube(2.0, false), &cube(1.0, true));
    let robot = robot(&urdf(MESH_PART), &cube(0.25, false), MeshTreatment::Surface).unwrap();
    let cell = among(&robot, polyhedron(&hollow));
    let contact = |x: f64| {
        let told = ask(&cell, CheckMode::AllPairs, &[x, 0.0, 0.0, 0.0, 0.0, 0.0]);
        pairs_of(&told[0])
            .iter()
            .any(|(pair, verdict)| *pair == [0, 2] && *verdict == Verdict::Overlapping)
    };
    assert!(!contact(0.0) && contact(1.5) && !contact(-2.5));
    // The one point that a proof of that needs is inside.
    let told = Told::of(&cell, [vec![1.5, 0.0, 0.0, 0.0, 0.0, 0.0], vec![1.5; 6]], 0.0);
    let shown = &told.certificate.contact;
    assert!(matches!(shown, Some(EdgeContactProof::Solids(SolidProof::InnerPiece { .. }))));
    assert_eq!(told.judged(), Ok(()));
}

#[test]
fn a_polytope_without_volume_beside_a_surface_is_answered() {
    let flat = still_box(Vec3::new(1.0, 1.0, 0.0));
    let robot = robot(&urdf(MESH_PART), &channel(), MeshTreatment::Surface).unwrap();
    let cell = among(&robot, flat.body);
    assert_eq!(cell.flat_beside_polyhedron(), None);
    let pairs = |z: f64| pairs_of(&ask(&cell, CheckMode::AllPairs, &[0.0, 0.0, z, 0., 0., 0.])[0]);
    assert!(pairs(0.05).contains(&([0, 2], Verdict::Overlapping)));
    assert!(pairs(0.125).contains(&([0, 2], Verdict::Touching)));
    assert!(!pairs(0.126).iter().any(|(pair, _)| *pair == [0, 2]));
}

#[test]
fn a_mesh_is_what_its_file_says_and_a_note_names_each_that_is_not_convex() {
    let text = urdf(MESH_PART);
    let told = |mesh: &MeshData| {
        let robot = robot(&text, mesh, MeshTreatment::default()).unwrap();
        (robot.parts[0].clone(), robot.notes)
    };
    let (part, notes) = told(&cube(0.5, false));
    assert!(part.body.polytope().is_some() && notes.is_empty(), "{notes:?}");
    assert!(matches!(part.source, PartSource::Mesh { convex: true, closed: true, .. }));
    let filename = "package://hand/u.obj".to_owned();
    let (part, notes) = told(&channel());
    assert!(part.body.is_region() && part.gap.upper == Some(0.0));
    assert_eq!(part.source, PartSource::AsItIs { filename: filename.clone() });
    let begins = "link \"palm\": the mesh \"package://hand/u.obj\" is not convex and is taken as \
                  it is, the region that it bounds; its hull would stand out by ";
    assert!(notes.len() == 2 && notes[0].starts_with(begins), "{notes:?}");
    assert!(notes[1].starts_with("link \"finger\""), "{notes:?}");
    let mut open = channel();
    open.triangles.pop();
    let (part, notes) = told(&open);
    assert!(part.body.mesh().is_some() && !part.body.is_region());
    assert_eq!(part.source, PartSource::Surface { filename });
    let says =
        ["bounds no region (the mesh is open at the edge", "; its surface is taken as it is"];
    assert!(says.iter().all(|words| notes[0].contains(words)), "{notes:?}");
    // A convex one with a hole is no hull either.
    let mut bowl = cube(0.5, false);
    bowl.triangles.pop();
    assert!(told(&bowl).0.body.mesh().is_some_and(|mesh| mesh.region().is_none()));
}

#[test]
fn surfaces_are_scaled_and_shared_and_counted() {
    let text = urdf(&MESH_PART.replace("u.obj'/>", "u.obj' scale='-1 1 2'/>"));
    let robot = robot(&text, &channel(), MeshTreatment::Surface).unwrap();
    let meshes: Vec<&TriangleBody> =
        robot.parts.iter().map(|part| part.body.mesh().unwrap()).collect();
    assert!(meshes.len() == 2 && meshes[0].address() == meshes[1].address());
    let [low, high] = meshes[0].surface().bounds();
    assert!((high.z - low.z - 0.5).abs() < 1e-15);
    let bytes = meshes[0].bytes();
    assert!(robot.heap_bytes() > bytes && robot.heap_bytes() < 2 * bytes);
    let cell = among(&robot, surface(&channel()));
    assert!(cell.heap_bytes() > 2 * bytes && cell.bytes_of_question() >= 2 * 16 * 2048);
}
