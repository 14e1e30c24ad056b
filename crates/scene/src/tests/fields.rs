//! Bodies with height fields: beside the same bodies with surfaces of the same triangles.

use super::meshes::{agree, body, channel, everything};
use super::surfaces::sides_of;
use super::*;
use clearance_bodies::kinds::height_field::BoxedField;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polyhedron::TriangleBody;
use clearance_geometry::terrain::{Diagonal, HeightField, Lattice};

/// A field of so many rows and columns, with some holes.
pub(super) fn field(side: u32, random: &mut Random) -> HeightField {
    let diagonal = Diagonal::Falling;
    let lattice = Lattice { rows: side, columns: side, spacing: [0.5, 0.75], diagonal };
    let heights = (0..side * side).map(|_| 0.4 * random.signed() as f32).collect();
    HeightField::new(lattice, heights, &[1, 3, side + 2]).unwrap()
}

/// The field as it is, and as a surface.
pub(super) fn both(field: HeightField) -> [Part; 2] {
    let surface = field.surface();
    let hull = convex_hull(surface.vertices()).unwrap().polytope;
    let surface = Part::of_mesh(TriangleBody::Surface(Arc::new(surface)), Arc::new(hull));
    [Part::of_field(BoxedField::new(Arc::new(field)).unwrap()), surface]
}

/// The ground, and bodies of all kinds above and in it.
fn crowd(ground: &Part, random: &mut Random) -> Vec<Body> {
    let segment = Arc::new(samples::hull(&[Vec3::zeros(), Vec3::new(0.0, 0.0, 0.6)]));
    let capsule = Part { radius: 0.2, ..Part::of(segment) };
    let parts = [
        Part::of(cube(0.3)),
        Part::of(Arc::new(samples::ball(30, 7))),
        capsule,
        super::meshes::scaled(&channel(1.0), 0.2),
        Part::of(cube(0.2)),
    ];
    let mut bodies = vec![Body { fixed: true, ..body(1, vec![ground.clone()]) }];
    for (id, part) in (2..).zip(parts) {
        let place =
            Vec3::new(2.5, 3.5, 1.0) + random.vector().component_mul(&Vec3::new(2., 3., 1.));
        bodies.push(Body { margin: 0.1, ..body(id, vec![part]) }.placed(random.pose(place)));
    }
    bodies
}

/// With the proofs that are the surface's.
fn proven() -> Questions {
    Questions { certificates: true, ..everything() }
}

/// Verdicts, margins, distances, events and first contacts of a field are those of its triangles,
/// warm and cold, with proofs and without.
#[test]
fn a_field_is_answered_as_the_surface_of_its_triangles() {
    let mut seen = BTreeMap::<Verdict, u32>::new();
    let mut met_between = 0;
    for seed in 0..6 {
        let parts = both(field(9, &mut Random(seed)));
        let asked = if seed % 2 == 0 { everything() } else { proven() };
        let [of_field, of_surface] = parts.map(|ground| crowd(&ground, &mut Random(400 + seed)));
        let [mut warm, mut cold] = [of_field.clone(), of_field].map(open);
        let mut surface = open(of_surface);
        let mut random = Random(80 + seed);
        for id in 1..12 {
            let places: Vec<Pose> = warm.bodies().skip(1).map(|body| body.pose).collect();
            let movers: Vec<u32> = (2..7).filter(|_| random.below(3) > 0).collect();
            let moves = movers.into_iter().map(|body| {
                let start = places[body as usize - 2].translation;
                let by = random.vector() * 0.5;
                let pose = random.pose(start + by - 0.1 * Vec3::z());
                Move::new(BodyId(body), pose)
            });
            let next = frame(id, moves.collect());
            let [of_field, of_surface] =
                [&mut warm, &mut surface].map(|scene| step(scene, &next, &asked));
            cold.forget_witnesses();
            let from_cold = step(&mut cold, &next, &Questions { canonical: true, ..asked });
            agree(&of_field, &of_surface);
            agree(&of_field, &from_cold);
            verdicts(&of_field)
                .values()
                .for_each(|verdict| *seen.entry(*verdict).or_default() += 1);
            let ways = of_field.pairs.iter().filter_map(|pair| pair.first_contact.as_ref());
            met_between += ways.filter(|way| way.has_met() && way.t_free > 0.0).count();
        }
    }
    assert!(seen[&Verdict::Separated] > 20 && seen[&Verdict::Overlapping] > 20, "{seen:?}");
    assert!(met_between > 2, "{met_between}");
}

/// Two fields, one of which is turned over, and one beside a surface.
#[test]
fn fields_stand_to_each_other_as_surfaces_do() {
    let mut seen = BTreeMap::<Verdict, u32>::new();
    for seed in 0..8 {
        let of = |seed| both(field(5, &mut Random(seed)));
        let ([ground, as_surface], [lid, lid_as_surface]) = (of(seed), of(50 + seed));
        let shell = sides_of(&channel(1.0));
        let up = Vec3::new(1.0, 1.5, 0.8 * Random(seed).signed());
        let pose = Random(seed).pose(up);
        let bodies = |ground: &Part, lid: &Part| {
            let lid = body(2, vec![lid.clone()]).placed(pose);
            vec![body(1, vec![ground.clone()]), lid, body(3, vec![shell.clone()]).placed(pose)]
        };
        let still = frame(1, vec![]);
        let [a, b, c] =
            [(&ground, &lid), (&as_surface, &lid_as_surface), (&ground, &lid_as_surface)]
                .map(|(ground, lid)| step(&mut open(bodies(ground, lid)), &still, &everything()));
        agree(&a, &b);
        agree(&a, &c);
        verdicts(&a).values().for_each(|verdict| *seen.entry(*verdict).or_default() += 1);
    }
    assert!(seen.len() > 1, "{seen:?}");
}
