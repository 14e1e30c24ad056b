//! Questions to scenes whose bodies are not convex: what is told is what the table of bodies tells
//! of the shape and each part alone, and rays along and through everything that is degenerate.
#![expect(clippy::float_cmp, reason = "numbers are the same to the last bit")]

use super::fields::{both, field};
use super::meshes::{body, channel, shell};
use super::queries::{MANY, PROVEN, cast, point};
use super::surfaces::sides_of;
use super::*;
use crate::query::cast::{Cast, CastHit};
use crate::query::place::Nearness;
use crate::query::{BodyFilter, HitSelection, QueryShape, SceneView, Visitor};
use clearance_bodies::kinds::curved::{CurvedCore, CurvedForm};
use clearance_bodies::table::Wanted;
use clearance_bodies::table::depth::{DepthQuestion, MeasuredDepth};
use clearance_bodies::table::distance::{DistanceAsked, DistanceQuestion, MeasuredDistance};
use clearance_bodies::table::first_contact::{FirstContactAnswer, FirstContactQuestion, Motions};
use clearance_bodies::table::verdict::VerdictQuestion;
use clearance_bodies::{self as bodies, PlacedBody};
use clearance_geometry::claim::Outcome;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::motion::Motion;
use clearance_geometry::polyhedron::{TriangleBody, TriangleSurface};

/// A part of each kind that is not convex, or curved, all about two metres large.
fn parts(random: &mut Random) -> Vec<Part> {
    let points: Vec<Vec3> = (0..40).map(|_| random.vector()).collect();
    let cloud = TriangleSurface::of_points(&points).unwrap();
    let hull = Arc::new(samples::hull(&points));
    let cloud = |radius| Part {
        radius,
        ..Part::of_mesh(TriangleBody::Surface(Arc::new(cloud.clone())), hull.clone())
    };
    let [ground, _] = both(field(7, random));
    let walls = channel(1.0);
    let core = CurvedCore { form: CurvedForm::Cylinder, half: Vec3::new(1.0, 0.75, 0.5) };
    let drum = bodies::Body::of_curved(core, 0.125, &mut Effort::unlimited()).unwrap();
    let drum = Part::of_curved(&drum).unwrap();
    vec![sides_of(&walls), walls, shell(2.0, 1.5), cloud(0.2), cloud(0.0), ground, drum]
}

/// A shape of each kind that a scene may be asked about.
fn shapes(random: &mut Random) -> Vec<(QueryShape, bodies::Body)> {
    let mut of = |points: u32, size: f64| -> Vec<Vec3> {
        (0..points).map(|_| random.vector() * size).collect()
    };
    let flat = [[0.0, 0.0], [0.5, 0.0], [0.6, 0.4], [0.1, 0.7]];
    let polygon: Vec<Vec3> = flat.map(|[x, y]| Vec3::new(x, y, 0.0)).into();
    let given = [
        (vec![Vec3::zeros()], 0.0),
        (vec![Vec3::zeros()], 0.3),
        (of(2, 0.6), 0.0),
        (of(2, 0.6), 0.2),
        (of(3, 0.6), 0.0),
        (polygon, 0.0),
        (of(9, 0.6), 0.0),
        (of(9, 0.4), 0.1),
    ];
    let shape = |(points, radius): (Vec<Vec3>, f64)| {
        let core = Arc::new(samples::hull(&points));
        let body = bodies::Body::from(core.clone()).rounded(radius);
        (QueryShape::new(core, radius), body)
    };
    let mut all: Vec<_> = given.map(shape).into();
    let core = CurvedCore { form: CurvedForm::Cone, half: Vec3::new(0.4, 0.5, 0.6) };
    let cone = bodies::Body::of_curved(core, 0.1, &mut Effort::unlimited()).unwrap();
    all.push((QueryShape::of_curved(&cone).unwrap(), cone));
    all
}

/// The shape and the part as the table of bodies knows them.
fn alone(shape: &bodies::Body, part: &Part, poses: [Pose; 2]) -> [PlacedBody; 2] {
    let other = match (&part.field, &part.curved) {
        (Some(field), _) => bodies::Body::HeightField(field.clone()),
        (None, Some(curved)) => bodies::Body::Curved(curved.clone()),
        (None, None) => bodies::Body::of_whole(&part.polytope, part.mesh.as_ref(), part.radius),
    };
    let flat = if let bodies::Body::Polytope(flat) = shape
        && part.is_region()
    {
        let surface = bodies::Body::surface_of_flat(flat);
        surface.map(|surface| bodies::Body::of_whole(flat, Some(&surface), 0.0))
    } else {
        None
    };
    let body = flat.unwrap_or_else(|| shape.clone());
    [PlacedBody { body, pose: poses[0] }, PlacedBody { body: other, pose: poses[1] }]
}

fn kinds(bodies: &[PlacedBody; 2]) -> [bodies::Kind; 2] {
    bodies.each_ref().map(|placed| placed.body.kind())
}

fn verdict_alone(bodies: [PlacedBody; 2]) -> Verdict {
    let question = VerdictQuestion::of(kinds(&bodies), None).unwrap();
    let answer = question.prepare(bodies).unwrap().answer(PROVEN, &mut Effort::unlimited());
    answer.decided.unwrap().verdict
}

fn distance_alone(bodies: [PlacedBody; 2], wanted: Wanted) -> MeasuredDistance {
    let question = DistanceQuestion::of(kinds(&bodies)).unwrap();
    let ready = question.prepare(bodies).unwrap();
    let answer = ready.answer(DistanceAsked::default(), wanted, &mut Effort::unlimited());
    answer.distance.unwrap()
}

fn depth_alone(bodies: [PlacedBody; 2]) -> MeasuredDepth {
    let question = DepthQuestion::of(kinds(&bodies)).unwrap();
    question.prepare(bodies).unwrap().answer(false, &mut Effort::unlimited()).unwrap()
}

fn contact_alone(bodies: [PlacedBody; 2], cast: &Cast<'_>, wanted: Wanted) -> FirstContactAnswer {
    let motions = Motions {
        margin: cast.margin,
        time_tolerance: cast.time_tolerance,
        ..Motions::new([cast.motion, Motion::rest()])
    };
    let poses = bodies.each_ref().map(|placed| &placed.pose);
    let question = FirstContactQuestion::of(kinds(&bodies), poses, motions).unwrap();
    let ready = question.prepare(bodies).unwrap();
    ready.answer(false, wanted, &mut Effort::unlimited()).unwrap()
}

/// The views of a scene: by boxes that are kept, by boxes that are built, and of a copy.
#[track_caller]
fn everywhere<T: std::fmt::Debug>(scene: &Scene, ask: impl Fn(&SceneView<'_>) -> T) -> T {
    let filter = BodyFilter::default();
    let copy = scene.still_copy(true);
    let few = ask(&SceneView::new(scene, &filter, 0).unwrap());
    let many = ask(&SceneView::new(scene, &filter, MANY).unwrap());
    let copied = ask(&SceneView::of_copy(&copy, &filter, &Effort::unlimited()).unwrap());
    assert_eq!(format!("{few:?}"), format!("{many:?}"));
    assert_eq!(format!("{few:?}"), format!("{copied:?}"));
    many
}

fn all_hits(view: &SceneView<'_>, cast: &Cast<'_>) -> Vec<CastHit> {
    view.cast(cast, HitSelection::All, &mut Effort::unlimited()).unwrap()
}

fn casts<'a>(start: Visitor<'a>, random: &mut Random) -> Vec<Cast<'a>> {
    let velocity = -start.core.pose.translation * (1.5 + random.signed());
    let axis = random.vector();
    let straight = Cast { time_tolerance: 1e-9, ..Cast::along(start, velocity) };
    let screw = Motion::Screw { pivot: None, velocity, axis, angle: 1.0 };
    vec![straight, Cast { margin: 0.15, ..straight }, Cast { motion: screw, ..straight }]
}

/// How many answers of each sort there were.
#[derive(Debug, Default)]
struct Seen {
    verdicts: BTreeMap<Verdict, u32>,
    met_later: u32,
    met_at_start: u32,
    normals: u32,
    deep: u32,
}

/// All kinds of shapes and of bodies, all questions: the verdict, the time to the last bit and the
/// distance to the last bit of the table of bodies.
#[test]
fn questions_about_what_is_not_convex_are_answered_as_the_table_answers_them() {
    let mut seen = Seen::default();
    for seed in 0..4 {
        let random = &mut Random(9_000 + seed);
        let shapes = shapes(random);
        for (number, part) in parts(random).into_iter().enumerate() {
            let centre = Vec3::new(0.3, -0.2, 0.1);
            let pose = if seed == 0 { at(0.3, -0.2, 0.1) } else { random.pose(centre) };
            let mut scene = open(vec![body(1, vec![part.clone()]).placed(pose)]);
            step(&mut scene, &frame(1, vec![moved(1, pose)]), &Questions::default());
            let pose = scene.entries[0].now().parts[0].pose;
            for (at_shape, (shape, as_body)) in shapes.iter().enumerate() {
                let what = format!("seed {seed}, part {number}, shape {at_shape}");
                let place = random.vector() * 3.0;
                let wanted = [Wanted::NO_PROOF, PROVEN][at_shape % 2];
                let visitor = shape.at(random.pose(place)).wanting(wanted);
                let poses = [visitor.core.pose, pose];
                let pair = || alone(as_body, &part, poses);
                check_place(&scene, &visitor, pair, &what, &mut seen);
                for cast in casts(visitor, random) {
                    let found = contact_alone(pair(), &cast, wanted);
                    check_cast(&scene, &cast, &found, &what, &mut seen);
                }
            }
        }
    }
    assert!(seen.verdicts[&Verdict::Overlapping] > 20, "{seen:?}");
    assert!(seen.verdicts[&Verdict::Separated] > 20, "{seen:?}");
    assert!(seen.met_later > 100 && seen.met_at_start > 50, "{seen:?}");
    assert!(seen.normals > 100 && seen.deep > 10, "{seen:?}");
}

#[track_caller]
fn check_place(
    scene: &Scene,
    visitor: &Visitor<'_>,
    pair: impl Fn() -> [PlacedBody; 2],
    what: &str,
    seen: &mut Seen,
) {
    let verdict = verdict_alone(pair());
    *seen.verdicts.entry(verdict).or_default() += 1;
    let overlaps = everywhere(scene, |view| {
        view.overlaps(visitor, HitSelection::All, &mut Effort::unlimited()).unwrap()
    });
    let told = overlaps.first().map_or(Verdict::Separated, |hit| hit.proof.verdict());
    assert_eq!(told, verdict, "{what}");
    let wanted = Nearness { count: None, below: None };
    let near =
        everywhere(scene, |view| view.nearest(visitor, wanted, &mut Effort::unlimited()).unwrap());
    let expected = distance_alone(pair(), visitor.wanted);
    let [hit] = &near[..] else { panic!("{what}: {near:?}") };
    assert_eq!(Some(hit.distance.proof.verdict()), expected.verdict(), "{what}");
    if verdict != Verdict::Overlapping {
        assert_eq!(hit.signed_distance(), expected.bounds(), "{what}");
        assert_eq!(hit.normal.is_some(), verdict == Verdict::Separated, "{what}: {hit:?}");
        return;
    }
    let depth = depth_alone(pair());
    let [lower, upper] = depth.bounds();
    assert_eq!(hit.signed_distance(), [-upper, -lower], "{what}");
    let normal = match &depth {
        MeasuredDepth::OfPieces(_) => depth.pieces().map(|pieces| pieces.direction),
        MeasuredDepth::OfHulls(_) | MeasuredDepth::OfRounded(_) | MeasuredDepth::OfCurved(_) => {
            depth.direction()
        }
    };
    assert_eq!(hit.normal, normal, "{what}");
    seen.deep += u32::from(lower > 0.0);
}

#[track_caller]
fn check_cast(
    scene: &Scene,
    cast: &Cast<'_>,
    expected: &FirstContactAnswer,
    what: &str,
    seen: &mut Seen,
) {
    let hits = everywhere(scene, |view| all_hits(view, cast));
    if expected.outcome == Outcome::NoContact {
        assert!(hits.is_empty(), "{what}: {hits:?}");
        return;
    }
    let [hit] = &hits[..] else { panic!("{what}: {expected:?}") };
    assert_eq!(hit.outcome, expected.outcome, "{what}");
    assert_eq!(hit.time, [expected.t_free, expected.t_contact], "{what}");
    assert_eq!(hit.contact.initial.verdict(), expected.initial, "{what}");
    let impact =
        everywhere(scene, |view| view.impact(cast, hit, &mut Effort::unlimited()).unwrap());
    if hit.time[1] > 0.0 {
        seen.met_later += 1;
        seen.normals += u32::from(impact.normal.is_some());
    } else {
        seen.met_at_start += 1;
    }
}

/// The only hit of a ray.
#[track_caller]
fn met(scene: &Scene, from: [f64; 3], by: [f64; 3]) -> Option<(CastHit, Vec3, Option<Vec3>)> {
    let shape = point();
    let motion = Motion::Linear { velocity: by.into() };
    let proven = cast(&shape, at(from[0], from[1], from[2]), motion);
    let ray = Cast { start: proven.start.wanting(Wanted::NO_PROOF), ..proven };
    let mut hits = everywhere(scene, |view| all_hits(view, &ray));
    let with_proofs = everywhere(scene, |view| all_hits(view, &proven));
    let key = |hit: &CastHit| (hit.time.map(f64::to_bits), hit.contact.initial.verdict());
    assert!(hits.iter().map(key).eq(with_proofs.iter().map(key)), "{hits:?} {with_proofs:?}");
    let hit = hits.pop()?;
    let impact =
        everywhere(scene, |view| view.impact(&ray, &hit, &mut Effort::unlimited()).unwrap());
    Some((hit, impact.point, impact.normal))
}

/// What is told of a time that is an f64 number: until before it the ray is free.
fn exactly(time: f64) -> Option<[f64; 2]> {
    Some([time.next_down(), time])
}

#[track_caller]
fn meets_at(scene: &Scene, [from, by]: [[f64; 3]; 2], time: f64, normal: [f64; 3]) {
    let (hit, point, told) = met(scene, from, by).unwrap();
    assert!(hit.time[0] <= time && time <= hit.time[1], "{hit:?}, not {time}");
    assert!(hit.time[1] - hit.time[0] <= f64::EPSILON, "{hit:?}");
    assert_eq!(hit.contact.initial.verdict(), Verdict::Separated);
    let expected = Vec3::from(from) + Vec3::from(by) * time;
    assert!((point - expected).norm() < 1e-12, "{point:?}, not {expected:?}");
    let told = told.unwrap();
    assert!((told - Vec3::from(normal)).norm() < 1e-9, "{told:?}, not {normal:?}");
}

/// Within the hollow of a shell a ray is free until it comes to the wall, in the wall it is inside,
/// on its faces it touches.
#[test]
fn rays_tell_the_hollow_of_a_polyhedron_from_its_wall() {
    let scene = open(vec![body(1, vec![shell(2.0, 1.0)])]);
    meets_at(&scene, [[0.25, 0.5, 0.125], [4.0, 0.0, 0.0]], 0.1875, [-1.0, 0.0, 0.0]);
    meets_at(&scene, [[5.0, 0.5, 0.125], [-4.0, 0.0, 0.0]], 0.75, [1.0, 0.0, 0.0]);
    assert!(met(&scene, [0.0; 3], [0.5, 0.5, 0.5]).is_none(), "it ends within the hollow");
    assert!(met(&scene, [2.5, 0.0, 0.0], [0.0, 0.0, 1.0]).is_none());
    for (from, verdict) in [
        ([1.5, 0.25, 0.0], Verdict::Overlapping),
        ([0.0, 1.0_f64.next_up(), 0.0], Verdict::Overlapping),
        ([0.0, 1.0, 0.25], Verdict::Touching),
        ([1.0, 1.0, 1.0], Verdict::Touching),
        ([2.0, 2.0, 2.0], Verdict::Touching),
        ([2.0, 0.3, 0.2], Verdict::Touching),
    ] {
        for by in [[0.0; 3], [1.0, 0.0, 0.0], [0.1, -9.0, 0.5], [1e-300, 0.0, 0.0]] {
            let (hit, point, _) = met(&scene, from, by).unwrap();
            assert_eq!((hit.time, hit.contact.initial.verdict()), ([0.0; 2], verdict), "{from:?}");
            assert_eq!(point, Vec3::from(from));
        }
    }
    let beside = met(&scene, [0.0, 1.0_f64.next_down(), 0.0], [0.0, -0.5, 0.0]);
    assert!(beside.is_none(), "an ulp off the wall, and away from it");
}

/// Through edges and vertices that triangles share, along faces and edges, by an ulp beside them.
#[test]
fn rays_through_edges_and_vertices_and_along_faces_are_told_exactly() {
    for part in [shell(2.0, 1.0), sides_of(&shell(2.0, 1.0))] {
        let scene = open(vec![body(1, vec![part])]);
        // The diagonal of a face, its middle, and a corner of the box from ahead.
        meets_at(&scene, [[0.5, -0.5, 4.0], [0.0, 0.0, -4.0]], 0.5, [0.0, 0.0, 1.0]);
        meets_at(&scene, [[0.0, 0.0, 4.0], [0.0, 0.0, -4.0]], 0.5, [0.0, 0.0, 1.0]);
        let time = |from, by| met(&scene, from, by).map(|(hit, ..)| hit.time);
        assert_eq!(time([4.0, 4.0, 4.0], [-4.0, -4.0, -4.0]), exactly(0.5));
        // Along an edge, along a face, and an ulp beside both.
        assert_eq!(time([4.0, 2.0, 2.0], [-8.0, 0.0, 0.0]), exactly(0.25));
        assert_eq!(time([4.0, 0.25, 2.0], [-8.0, 0.0, 0.0]), exactly(0.25));
        assert_eq!(time([4.0, 2.0_f64.next_up(), 2.0], [-8.0, 0.0, 0.0]), None);
        assert_eq!(time([4.0, 0.25, 2.0_f64.next_up()], [-8.0, 0.0, 0.0]), None);
        assert_eq!(time([4.0, 0.25, 2.0_f64.next_down()], [-8.0, 0.0, 0.0]), exactly(0.25));
        // It ends exactly there, an ulp before, and where it is far.
        assert_eq!(time([4.0, 0.25, 0.5], [-2.0, 0.0, 0.0]), exactly(1.0));
        assert_eq!(time([4.0, 0.25, 0.5], [-2.0_f64.next_down(), 0.0, 0.0]), None);
        assert_eq!(time([4e30, 0.25, 0.5], [-1.0, 0.0, 0.0]), None);
        assert_eq!(time([0.25, 0.5, 9e12], [0.0, 0.0, -9e12]).map(|t| t[1] < 1.0), Some(true));
    }
}

/// Two triangles with a gap of one cell between them, and rays down at corners, edges and the hole.
#[test]
fn rays_fall_through_the_holes_of_a_height_field_and_onto_its_corners() {
    use clearance_bodies::kinds::height_field::BoxedField;
    use clearance_geometry::terrain::{Diagonal, HeightField, Lattice};
    let lattice = Lattice { rows: 5, columns: 5, spacing: [1.0, 1.0], diagonal: Diagonal::Rising };
    let heights: Vec<f32> = (0..25).map(|at| [0.0, 0.5][at % 2]).collect();
    let field = HeightField::new(lattice, heights, &[6]).unwrap();
    let [ground, surface] = both(field);
    assert!(BoxedField::new(ground.field.as_ref().unwrap().field.clone()).is_ok());
    for part in [ground, surface] {
        let scene = open(vec![body(1, vec![part])]);
        let down = |x: f64, y: f64| {
            let hit = met(&scene, [x, y, 2.0], [0.0, 0.0, -4.0]);
            hit.map(|(hit, ..)| hit.time)
        };
        assert_eq!(down(2.5, 1.5), None, "cell 6 is a hole");
        assert_eq!(down(2.25, 1.75), None);
        assert_eq!(down(3.0, 1.0), exactly(0.5), "a corner of the hole");
        assert_eq!(down(2.0, 1.0), exactly(0.375));
        assert_eq!(down(2.5, 1.0), exactly(0.4375), "an edge of the hole");
        assert_eq!(down(2.5, 1.0_f64.next_up()), None);
        assert_eq!(down(4.0, 4.0), exactly(0.5));
        assert_eq!(down(4.0_f64.next_up(), 4.0), None);
        assert_eq!(down(-0.5, 0.5), None);
        // Flat over the ground, under it, and through the hole.
        let along = met(&scene, [-1.0, 2.5, 1.0], [9.0, 0.0, 0.0]);
        assert!(along.is_none());
        let through = met(&scene, [2.5, 1.5, -1.0], [0.0, 0.0, 9.0]);
        assert!(through.is_none());
        let (_, _, normal) = met(&scene, [1.75, 2.5, -1.0], [0.0, 0.0, 9.0]).unwrap();
        assert!(normal.unwrap().z < 0.0, "from below the normal points down");
    }
}

/// Of several bodies the first, and which is first where that is not known.
#[test]
fn what_is_met_first_is_told_among_meshes_and_polytopes() {
    let triangle = [Vec3::zeros(), Vec3::new(4.0, 0.0, 0.0), Vec3::new(0.0, 4.0, 0.0)];
    let surface = TriangleSurface::new(&triangle, &[[0, 1, 2]]).unwrap();
    let hull = Arc::new(convex_hull(&triangle).unwrap().polytope);
    let floor = Part::of_mesh(TriangleBody::Surface(Arc::new(surface)), hull);
    let scene = open(vec![
        body(3, vec![floor.clone()]),
        Body::solid(4, cube(0.5)).placed(at(1.0, 1.0, 2.0)),
        body(5, vec![floor]).placed(at(0.0, 0.0, 2.5)),
    ]);
    let shape = point();
    let ray = cast(&shape, at(1.0, 1.25, 5.0), Motion::Linear { velocity: -8.0 * Vec3::z() });
    for selection in [HitSelection::First, HitSelection::All, HitSelection::Any] {
        let hits = everywhere(&scene, |view| {
            view.cast(&ray, selection, &mut Effort::unlimited()).unwrap()
        });
        let ids: Vec<u32> = hits.iter().map(|hit| hit.body.0).collect();
        match selection {
            HitSelection::First => assert_eq!(ids, [4, 5]),
            HitSelection::All => assert_eq!(ids, [4, 5, 3]),
            HitSelection::Any => assert_eq!(ids.len(), 1),
        }
    }
}

/// How deep they are is between what the deepest pieces tell and what the hulls do, and a question
/// ends when its steps do.
#[test]
fn depths_have_true_brackets_and_every_question_ends_with_its_steps() {
    let scene = open(vec![body(1, vec![channel(1.0)])]);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, MANY).unwrap();
    let shape = QueryShape::new(cube(0.25), 0.0);
    let visitor = shape.at(at(0.0, 0.0, 1.0));
    let near = view.nearest(&visitor, Nearness::default(), &mut Effort::unlimited()).unwrap();
    let [lower, upper] = near[0].signed_distance();
    // A quarter of a metre up, and it is out of the floor; out of the hull it is five down.
    assert!((lower + 1.25).abs() < 1e-9 && (upper + 0.25).abs() < 1e-9, "{near:?}");
    assert_eq!(near[0].normal, Some(Vec3::z()));
    let ray = cast(&shape, at(0.0, 0.0, 9.0), Motion::Linear { velocity: -9.0 * Vec3::z() });
    let mut refused = 0;
    for steps in 0..40 {
        refused += u32::from(
            view.cast(&ray, HitSelection::First, &mut Effort::with_steps(steps)).is_err(),
        );
    }
    assert!(refused > 0, "a question without steps is not answered");
}
