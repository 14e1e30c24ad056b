//! Bodies with surfaces: beside the same bodies as compounds of their triangles, and what is inside
//! a closed one.

use super::meshes::{agree, body, channel, crowd, everything};
use super::*;
use crate::{DeclarationError, Methods, Problem};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polyhedron::{TriangleBody, TriangleSurface};

/// The triangles of a polyhedron, and nothing beside them.
pub(super) fn sides_of(part: &Part) -> Part {
    let of = part.mesh.as_ref().unwrap().surface();
    let surface = TriangleSurface::new(of.vertices(), of.triangles()).unwrap();
    Part::of_mesh(TriangleBody::Surface(Arc::new(surface)), part.polytope.clone())
}

/// Each of them as a polytope without volume.
pub(super) fn triangles_of(part: &Part) -> Vec<Part> {
    let of = part.mesh.as_ref().unwrap().surface();
    let corners = of.triangles().iter().map(|triangle| {
        let corners = triangle.map(|corner| of.vertices()[corner as usize]);
        Part::of(Arc::new(convex_hull(&corners).unwrap().polytope))
    });
    corners.collect()
}

/// Verdicts, margins, distances, events and first contacts of the sides of a channel are those of
/// its triangles, warm and cold.
#[test]
fn a_surface_is_answered_as_the_triangles_that_it_is_made_of() {
    let mut seen = BTreeMap::<Verdict, u32>::new();
    let mut met_between = 0;
    for seed in 0..3 {
        let bodies = |channel: &[Part]| {
            let mut bodies = crowd(channel, &mut Random(700 + seed));
            bodies.iter_mut().for_each(|body| body.margin = 0.1);
            bodies
        };
        let of_sides = bodies(&[sides_of(&channel(1.0))]);
        let [mut warm, mut cold] = [of_sides.clone(), of_sides].map(open);
        let mut triangles = open(bodies(&triangles_of(&channel(1.0))));
        let mut random = Random(80 + seed);
        for id in 1..10 {
            let next = wander(&warm, id, &mut random);
            let [of_sides, of_triangles] =
                [&mut warm, &mut triangles].map(|scene| step(scene, &next, &everything()));
            cold.forget_witnesses();
            let from_cold = step(&mut cold, &next, &Questions { canonical: true, ..everything() });
            agree(&of_sides, &of_triangles);
            agree(&of_sides, &from_cold);
            verdicts(&of_sides)
                .values()
                .for_each(|verdict| *seen.entry(*verdict).or_default() += 1);
            let ways = of_sides.pairs.iter().filter_map(|pair| pair.first_contact.as_ref());
            met_between += ways.filter(|way| way.has_met() && way.t_free > 0.0).count();
        }
    }
    assert!(seen[&Verdict::Separated] > 20 && seen[&Verdict::Overlapping] > 20, "{seen:?}");
    assert!(met_between > 2, "{met_between}");
}

/// The floor of the channel is one thick, and only its sides are there; a polyhedron meets what is
/// in it, and a polytope without volume stands beside surfaces alone.
#[test]
fn what_is_within_a_surface_is_apart_and_a_surface_within_a_polyhedron_is_not() {
    let small = |half: f64| body(2, vec![Part::of(cube(half))]).placed(at(0.0, 0.0, 0.5));
    let sides = sides_of(&channel(1.0));
    for (half, verdict) in [
        (0.25, Verdict::Separated),
        (0.5, Verdict::Touching),
        (0.5_f64.next_up(), Verdict::Overlapping),
    ] {
        let mut scene = open(vec![body(1, vec![sides.clone()]), small(half)]);
        let report = step(&mut scene, &frame(1, vec![]), &everything());
        assert_eq!(report.pairs[0].verdict, Some(verdict), "{half}");
    }
    let corners = [[-0.25, 0.0, 0.25], [0.25, 0.0, 0.25], [0.0, 0.0, 0.75]].map(Vec3::from);
    let sheet = TriangleSurface::new(&corners, &[[0, 1, 2]]).unwrap();
    let hull = Arc::new(convex_hull(&corners).unwrap().polytope);
    let sheet = Part::of_mesh(TriangleBody::Surface(Arc::new(sheet)), hull.clone());
    for (channel, verdict) in
        [(channel(1.0), Verdict::Overlapping), (sides.clone(), Verdict::Separated)]
    {
        let mut scene = open(vec![body(1, vec![channel]), body(2, vec![sheet.clone()])]);
        let report = step(&mut scene, &frame(1, vec![]), &everything());
        assert_eq!(report.pairs[0].verdict, Some(verdict));
    }
    let flat = body(2, vec![Part::of(hull)]);
    let with = |part: Part| {
        let bodies = vec![body(1, vec![part]), flat.clone()];
        let declared = Declaration { bodies, ..Declaration::default() };
        Scene::open(declared, Methods::default(), LIMITS).map(drop)
    };
    assert!(with(sides).is_ok());
    let refused = DeclarationError::new("bodies[1].parts[0]".to_owned(), Problem::FlatBesideMesh);
    assert_eq!(with(channel(1.0)), Err(refused));
}
