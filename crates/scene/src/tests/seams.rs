//! Contacts with surfaces without their seams: normals from frame to frame, and ways that begin in
//! a floor.

use super::meshes::{body, channel};
use super::queries::MANY;
use super::*;
use crate::query::cast::{Cast, StartContacts};
use crate::query::{BodyFilter, HitSelection, QueryShape, SceneView};
use clearance_bodies::kinds::height_field::BoxedField;
use clearance_geometry::polyhedron::{TriangleBody, TriangleSurface};
use clearance_geometry::terrain::{Diagonal, HeightField, Lattice};

/// A floor from 0 to 8 along both axes, as a height field and as its triangles.
fn floors() -> [Part; 2] {
    let lattice = Lattice { rows: 9, columns: 9, spacing: [1.0; 2], diagonal: Diagonal::default() };
    let field = HeightField::new(lattice, vec![0.0; 81], &[]).unwrap();
    let surface = field.surface();
    let hull = Arc::new(samples::hull(surface.vertices()));
    let surface = Part::of_mesh(TriangleBody::Surface(Arc::new(surface)), hull);
    [Part::of_field(BoxedField::new(Arc::new(field)).unwrap()), surface]
}

fn ball(radius: f64) -> Part {
    Part { radius, ..Part::of(Arc::new(samples::hull(&[Vec3::zeros()]))) }
}

fn asked() -> Questions {
    Questions { normals: true, face_normals: true, ..all() }
}

/// A ball and a box go a thousand frames over a floor, a little in it or touching: whichever of the
/// two has the lower id.
#[test]
fn what_goes_over_a_floor_of_triangles_gets_only_its_normals() {
    for (floor, ground_first) in floors().into_iter().zip([true, false]) {
        let (ground, movers) = if ground_first { (1, [2, 3]) } else { (3, [1, 2]) };
        let fixed = Body { fixed: true, ..body(ground, vec![floor]) };
        let mut scene = open(vec![
            fixed,
            body(movers[0], vec![ball(0.5)]),
            body(movers[1], vec![Part::of(cube(0.5))]),
        ]);
        let out = if ground_first { -Vec3::z() } else { Vec3::z() };
        for id in 1..=1_000 {
            let along = 1.0 + 6.0 * f64::from(u32::try_from(id).unwrap()) / 1_000.0;
            let deep = [0.0, 1e-9, 0.125][id as usize % 3];
            let y = [1.0, 2.0, 2.25][id as usize % 3];
            let places = [at(along, y, 0.5 - deep), at(along, y + 3.0, 0.5 - deep)];
            let moves = movers.iter().zip(places).map(|(body, pose)| moved(*body, pose));
            let report = step(&mut scene, &frame(id, moves.collect()), &asked());
            let met = report.pairs.iter().filter(|pair| pair.p.0 == ground || pair.q.0 == ground);
            let mut count = 0;
            for pair in met {
                assert_eq!(pair.normal, Some(out), "{id}: {pair:?}");
                let [lower, upper] = pair.face_depth.expect("of a contact with a face");
                let exact = 0.5 - (0.5 - deep);
                assert!(lower <= exact && exact <= upper && upper - lower < 1e-15, "{pair:?}");
                count += 1;
            }
            assert_eq!(count, 2);
        }
    }
}

/// Without being asked for nothing changes, and of what is inside of another body there is none.
#[test]
fn face_normals_are_told_on_request_and_of_contacts_with_faces() {
    let [_, floor] = floors();
    let stick = Arc::new(samples::hull(&[Vec3::zeros(), Vec3::z()]));
    let bodies = vec![
        Body { fixed: true, ..body(1, vec![floor]) },
        body(2, vec![Part { radius: 0.25, ..Part::of(stick) }]).placed(at(2.5, 2.5, 0.125)),
        body(3, vec![channel(1.0)]).placed(at(20.0, 0.0, 0.0)),
        body(4, vec![ball(0.125)]).placed(at(20.0, 0.0, 0.5)),
        body(5, vec![Part::of(cube(0.5)), ball(0.25)]).placed(at(22.25, 0.0, 2.0)),
    ];
    let mut scene = open(bodies);
    let plain = step(&mut scene, &frame(1, vec![]), &Questions { normals: true, ..all() });
    let told = step(&mut scene, &frame(2, vec![]), &asked());
    let of = |report: &Report, p: u32, q: u32| {
        let pair = report.pairs.iter().find(|pair| (pair.p.0, pair.q.0) == (p, q));
        let pair = pair.expect("every pair is listed");
        (pair.verdict, pair.normal, pair.face_depth)
    };
    let overlaps = Some(Verdict::Overlapping);
    assert_eq!(of(&plain, 1, 2), (overlaps, None, None));
    assert_eq!(of(&told, 1, 2).1, Some(-Vec3::z()));
    // A ball wholly inside the floor of the channel is in contact with none of its faces.
    assert_eq!(of(&told, 3, 4), (overlaps, None, None));
    // The box is 0.25 deep in the outer side of a wall.
    assert_eq!(of(&told, 3, 5), (overlaps, Some(-Vec3::x()), Some([0.25; 2])));
}

/// A shape that starts a little in the floor meets the next triangles, unless seams are left out;
/// then it meets the wall.
#[test]
fn ways_that_begin_in_a_floor_pass_its_seams_and_meet_its_wall() {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..8_u32 {
        let (x, z) = if i < 7 { (f64::from(i), 0.0) } else { (6.0, 3.0) };
        vertices.extend([Vec3::new(x, -2.0, z), Vec3::new(x, 0.1, z), Vec3::new(x, 2.0, z)]);
    }
    for i in 0..7 {
        for k in [3 * i, 3 * i + 1] {
            triangles.extend([[k, k + 3, k + 4], [k, k + 4, k + 1]]);
        }
    }
    let surface = TriangleSurface::new(&vertices, &triangles).unwrap();
    let hull = Arc::new(samples::hull(surface.vertices()));
    let part = Part::of_mesh(TriangleBody::Surface(Arc::new(surface)), hull);
    let scene = open(vec![body(1, vec![part])]);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, MANY).unwrap();
    let shapes = [
        QueryShape::new(cube(0.5), 0.0),
        QueryShape::new(Arc::new(samples::hull(&[Vec3::zeros()])), 0.5),
    ];
    for shape in &shapes {
        let way = Vec3::new(8.0, 0.0, 0.0);
        for without_seams in [false, true] {
            let start = shape.at(at(1.0, 0.0, 0.5 - 1e-6));
            let starts = StartContacts::Skipped;
            let cast = Cast { starts, without_seams, ..Cast::along(start, way) };
            let effort = &mut Effort::unlimited();
            let found = view.cast(&cast, HitSelection::First, effort).unwrap();
            let (hit, wall) = (&found[0], (6.0 - 1.5) / 8.0);
            assert_eq!((hit.time[1] - wall).abs() < 1e-6, without_seams, "{hit:?}");
            if without_seams {
                let normal = view.impact(&cast, hit, effort).unwrap().normal.unwrap();
                assert!((normal + Vec3::x()).norm() < 1e-9, "{normal}");
                let leave = view.leave(&cast, hit, effort).unwrap();
                assert!(leave[0] > hit.time[1], "{leave:?}");
            }
        }
    }
}
