//! Height fields against the same triangles as a surface, beside polytopes and rounded ones: on a
//! grid, where most that meet do so at corners, along edges or in a plane, an ulp off it, turned,
//! and anyhow.

use super::field::{CellRange, Diagonal, HeightField, HeightFieldError, HeightPatch, Lattice};
use super::piece::ConvexPiece;
use super::placed::PlacedField;
use super::standing::FieldBeside;
use crate::Vec3;
use crate::claim::{Outcome, Verdict};
use crate::distance::Stops;
use crate::effort::{Effort, Stopped};
use crate::faces::contact::{FaceCourse, find};
use crate::faces::standing::stand;
use crate::faces::{Surfaces, distance, margin};
use crate::hull::convex_hull;
use crate::motion::Motion;
use crate::pair::{Pair, Placed, Question};
use crate::polyhedron::{Boundary, BoundaryKind, TriangleSurface};
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::Random;
use crate::witness::{Memory, Witness};

/// A field, the same as a surface, and a convex body.
struct Scene {
    field: HeightField,
    surface: TriangleSurface,
    hull: Polytope,
    body: Polytope,
    radius: f64,
    poses: [Pose; 2],
}

fn draw_field(random: &mut Random) -> HeightField {
    let [rows, columns] = [0; 2].map(|_| 2 + random.below(9));
    let diagonal = if random.below(2) == 0 { Diagonal::Rising } else { Diagonal::Falling };
    let lattice = Lattice { rows, columns, spacing: [0.5, 0.25], diagonal };
    let rough = random.below(3);
    let height = |random: &mut Random| match rough {
        0 => 0.0,
        1 => random.below(4) as f32 / 4.0,
        _ => random.signed() as f32,
    };
    let heights: Vec<f32> = (0..rows * columns).map(|_| height(random)).collect();
    let cells = (rows - 1) * (columns - 1);
    let holes: Vec<u32> = if random.below(2) == 0 {
        (1..cells).filter(|_| random.below(4) == 0).collect()
    } else {
        vec![]
    };
    HeightField::new(lattice, heights, &holes).unwrap()
}

fn draw_body(random: &mut Random) -> Polytope {
    let points = [1, 2, 3, 8, 20][random.below(5) as usize];
    let is_exact = random.below(2) == 0;
    let points: Vec<Vec3> = (0..points)
        .map(|_| {
            if is_exact {
                Vec3::from_fn(|_, _| f64::from(random.below(4)) / 4.0)
            } else {
                random.vector() * 0.6
            }
        })
        .collect();
    convex_hull(&points).unwrap().polytope
}

impl Scene {
    fn draw(seed: u64) -> Self {
        let random = &mut Random(seed);
        let (field, body) = (draw_field(random), draw_body(random));
        let surface = field.surface();
        let hull = convex_hull(surface.vertices()).unwrap().polytope;
        let [low, high] = field.bounds();
        let inside = |random: &mut Random| {
            low + Vec3::from_fn(|k, _| (high - low)[k] * (random.signed() + 1.0) / 2.0)
        };
        let mut way = inside(random).map(|x| (x * 4.0).round() / 4.0);
        if random.below(4) == 0 {
            let axis = random.below(3) as usize;
            way[axis] =
                if random.below(2) == 0 { way[axis].next_up() } else { way[axis].next_down() };
        }
        let (still, radius) = (Pose::identity(), f64::from(random.below(3)) / 8.0);
        let poses = match random.below(6) {
            0..=2 => [still, Pose { translation: way, ..still }],
            3 => {
                let way = inside(random);
                [random.any_pose(Vec3::zeros()), random.any_pose(way)]
            }
            4 => {
                let way = inside(random);
                [still, random.any_pose(way)]
            }
            _ => {
                let away = Vec3::new(1e6, -3e5, 0.125);
                let at = |shift: Vec3| Pose { translation: away + shift, ..still };
                [at(Vec3::zeros()), at(way)]
            }
        };
        Self { field, surface, hull, body, radius, poses }
    }

    fn beside(&self) -> FieldBeside<'_> {
        let placed = Placed { body: &self.body, pose: self.poses[1] };
        let piece = ConvexPiece { placed, radius: self.radius };
        FieldBeside { field: PlacedField::new(&self.field, self.poses[0]), piece }
    }

    fn surfaces(&self) -> Surfaces<'_> {
        let kind = BoundaryKind::Surface(&self.surface);
        let p = Boundary { kind, hull: &self.hull, pose: self.poses[0] };
        let q = Boundary { kind: BoundaryKind::Hull, hull: &self.body, pose: self.poses[1] };
        Surfaces { bodies: [p, q], radii: [0.0, self.radius] }
    }

    fn verdict(&self) -> Verdict {
        stand(&self.surfaces(), &mut Effort::unlimited()).unwrap().verdict()
    }
}

#[test]
fn a_field_stands_as_its_triangles_do() {
    let mut counts = [0; 3];
    let mut witness = Witness::default();
    for seed in 0..1500 {
        let scene = Scene::draw(seed);
        let (wanted, effort) = (scene.verdict(), &mut Effort::unlimited());
        counts[wanted as usize] += 1;
        let beside = scene.beside();
        let found = beside.stand(false, &mut Witness::default(), effort).unwrap();
        assert_eq!(found.verdict, wanted, "seed {seed}");
        assert_eq!(found.triangle.is_some(), wanted != Verdict::Separated, "seed {seed}");
        // What others left, and what this one did.
        for _ in 0..2 {
            let found = beside.stand(true, &mut witness, effort).unwrap();
            assert_eq!(found.verdict, wanted, "seed {seed} by what is remembered");
        }
        let stale = Memory::OfTriangle(seed as u32 % 200);
        let hostile =
            &mut Witness { direction: Some(Vec3::repeat(1e300)), memory: stale, ..witness.clone() };
        assert_eq!(beside.stand(true, hostile, effort).unwrap().verdict, wanted, "seed {seed}");
    }
    assert!(counts.iter().all(|count| *count > 30), "{counts:?}");
}

/// The body is moved by nearly as much as the room is.
#[test]
fn a_verdict_has_the_room_that_it_says() {
    let mut counts = [0; 3];
    for seed in 0..1500 {
        let mut scene = Scene::draw(seed);
        let effort = &mut Effort::unlimited();
        let found = scene.beside().stand(true, &mut Witness::default(), effort).unwrap();
        if found.room <= 0.0 {
            continue;
        }
        counts[found.verdict as usize] += 1;
        let random = &mut Random(seed);
        let start = scene.poses[1];
        for _ in 0..8 {
            let by = random.unit_vector() * (found.room * 0.999_999);
            scene.poses[1] = Pose { translation: start.translation + by, ..start };
            assert_eq!(scene.verdict(), found.verdict, "seed {seed}");
        }
    }
    assert!(counts[0] > 100 && counts[1] == 0 && counts[2] > 100, "{counts:?}");
}

#[test]
fn margins_and_distances_are_those_of_the_triangles() {
    let (mut within, mut beyond) = (0, 0);
    for seed in 0..1500 {
        let mut scene = Scene::draw(seed);
        let lift = f64::from(Random(seed).below(9)) / 8.0;
        scene.poses[1].translation.z += lift;
        if scene.verdict() != Verdict::Separated {
            continue;
        }
        let effort = &mut Effort::unlimited();
        let (beside, surfaces) = (scene.beside(), scene.surfaces());
        let wanted = distance::measure(&surfaces, Stops::default(), effort).unwrap();
        let found = beside.measure(Stops::default(), effort).unwrap();
        let is_one = found.lower <= wanted.upper && wanted.lower <= found.upper;
        assert!(is_one && found.lower > 0.0, "seed {seed}: {found:?} is not {wanted:?}");
        let wide = found.upper - found.lower;
        assert!(wide <= 1e-9 * (1.0 + scene.poses[1].translation.norm()), "seed {seed}: {wide}");
        for of in [0.125, 0.25, 0.5, found.lower, found.upper, found.upper.next_down()] {
            let wanted = margin::compare(&surfaces, of, effort).unwrap().is_within;
            assert_eq!(beside.is_within(of, effort).unwrap(), wanted, "seed {seed} of {of}");
            *(if wanted { &mut within } else { &mut beyond }) += 1;
        }
    }
    assert!(within > 500 && beyond > 500, "{within} {beyond}");
}

fn draw_motion(random: &mut Random, start: &Pose) -> Motion {
    let velocity = random.vector() * 2.0;
    match random.below(4) {
        0 => Motion::rest(),
        1 => Motion::Linear { velocity },
        2 => {
            let (axis, angle) = (random.unit_vector(), random.signed() * 2.0);
            Motion::Screw { pivot: None, velocity, axis, angle }
        }
        _ => {
            let end = random.pose(start.translation + velocity);
            Motion::ToPose { end, pivot: None, turn: None }
        }
    }
}

#[test]
fn first_contacts_are_those_of_the_triangles() {
    let (mut counts, mut clear) = ([0; 3], 0);
    for seed in 0..700 {
        let mut scene = Scene::draw(seed);
        scene.poses[1].translation.z += 0.5;
        let random = &mut Random(seed + 7);
        let motion_q = draw_motion(random, &scene.poses[1]);
        let rest = random.below(3) > 0;
        let motion_p = if rest { Motion::rest() } else { draw_motion(random, &scene.poses[0]) };
        let reach = f64::from(random.below(3)) / 16.0;
        let effort = &mut Effort::unlimited();
        let starts_within = scene.verdict() != Verdict::Separated
            || margin::compare(&scene.surfaces(), reach, effort).unwrap().is_within;
        if starts_within {
            continue;
        }
        let pair = Pair::new(&scene.hull, scene.poses[0], &scene.body, scene.poses[1]);
        let deviation_q = f64::from(random.below(2)) / 64.0;
        let question = Question { deviation_q, ..Question::new(pair, motion_p, motion_q) };
        let course = FaceCourse { question: &question, margin: reach };
        let wanted = find(&scene.surfaces(), &course, effort);
        let found = scene.beside().first_contact(&course, effort);
        if wanted.outcome != Outcome::Undecided && found.outcome != Outcome::Undecided {
            assert_eq!(found.outcome, wanted.outcome, "seed {seed}");
        }
        let is_one = found.t_free <= wanted.t_contact && wanted.t_free <= found.t_contact;
        assert!(is_one, "seed {seed}: {found:?} is not {wanted:?}");
        counts[found.outcome as usize] += 1;
        if scene.beside().stays_clear(&course, effort).unwrap() {
            clear += 1;
            assert_eq!(wanted.outcome, Outcome::NoContact, "seed {seed}");
        }
    }
    assert!(clear > 20, "{clear}");
    assert!(counts.iter().filter(|count| **count > 50).count() >= 2, "{counts:?}");
}

#[test]
fn what_is_told_of_a_field_is_told_of_its_triangles() {
    for seed in 0..300 {
        let field = draw_field(&mut Random(seed));
        let hull = field.held_by().unwrap();
        let bounds = hull.bounds();
        for vertex in field.surface().vertices() {
            assert!((0..3).all(|k| bounds.low[k] <= vertex[k] && vertex[k] <= bounds.high[k]));
        }
        assert_eq!(field.vertex_count(), field.surface().vertices().len(), "seed {seed}");
        assert_eq!(field.triangle_count() as usize, field.surface().triangles().len());
        assert_eq!(field.edge_count(), field.surface().edge_count(), "seed {seed}");
        assert_eq!(field.bounds(), field.surface().bounds(), "seed {seed}");
    }
}

#[test]
fn a_patched_field_is_the_one_that_is_made_anew() {
    for seed in 0..300 {
        let random = &mut Random(seed);
        let mut field = draw_field(random);
        let Lattice { rows, columns, .. } = *field.lattice();
        let at = [random.below(rows), random.below(columns)];
        let size = [1 + random.below(rows - at[0]), 1 + random.below(columns - at[1])];
        let heights: Vec<f32> =
            (0..size[0] * size[1]).map(|_| 3.0 * random.signed() as f32).collect();
        field.patch(&HeightPatch { at, size, heights }).unwrap();
        let holes: Vec<u32> = field.holes().collect();
        let anew = HeightField::new(*field.lattice(), field.heights().to_vec(), &holes).unwrap();
        let same = |a: &HeightField, b: &HeightField| format!("{a:?}") == format!("{b:?}");
        assert!(same(&field, &anew), "seed {seed}");
    }
}

#[test]
fn what_is_no_field_is_refused_with_its_place() {
    let lattice = Lattice { rows: 2, columns: 3, spacing: [1.0; 2], diagonal: Diagonal::Rising };
    let of = |lattice, heights: &[f32], holes: &[u32]| {
        HeightField::new(lattice, heights.to_vec(), holes).map(drop).unwrap_err()
    };
    let flat = [0.0; 6];
    assert_eq!(of(Lattice { rows: 1, ..lattice }, &flat, &[]), HeightFieldError::Rows(1));
    assert_eq!(of(Lattice { columns: 0, ..lattice }, &flat, &[]), HeightFieldError::Columns(0));
    let (rows, columns) = (1 << 31, 1 << 31);
    let many = Lattice { rows, columns, ..lattice };
    assert_eq!(of(many, &flat, &[]), HeightFieldError::Count { rows, columns });
    for wrong in [0.0, -1.0, f64::INFINITY, 1e300] {
        let spacing = [1.0, wrong];
        assert_eq!(
            of(Lattice { spacing, ..lattice }, &flat, &[]),
            HeightFieldError::Spacing(wrong)
        );
    }
    assert_eq!(of(lattice, &flat[1..], &[]), HeightFieldError::Heights { found: 5, expected: 6 });
    for wrong in [f32::NAN, f32::INFINITY, 1e300_f64 as f32] {
        let heights = [0.0, 0.0, wrong, 0.0, 0.0, 0.0];
        assert_eq!(of(lattice, &heights, &[]), HeightFieldError::Height { at: 2 });
    }
    let hole = HeightFieldError::Hole { at: 1, cell: 2, cells: 2 };
    assert_eq!(of(lattice, &flat, &[0, 2]), hole);
    assert_eq!(of(lattice, &flat, &[0, 1, 0]), HeightFieldError::Empty);
    let mut field = HeightField::new(lattice, flat.to_vec(), &[]).unwrap();
    let before = format!("{field:?}");
    for (at, size, heights) in
        [([0, 0], [0, 1], 0), ([1, 0], [2, 1], 2), ([0, 3], [1, 1], 1), ([0, 0], [1, 2], 1)]
    {
        assert!(field.patch(&HeightPatch { at, size, heights: vec![0.0; heights] }).is_err());
    }
    let wrong = HeightPatch { at: [0, 0], size: [1, 2], heights: vec![0.0, f32::NAN] };
    assert_eq!(field.patch(&wrong), Err(HeightFieldError::Height { at: 1 }));
    assert_eq!(format!("{field:?}"), before);
}

/// However large the field, what is looked at is what is under the body.
#[test]
fn a_look_at_a_large_field_costs_what_is_under_the_body() {
    let side = 1024;
    let lattice =
        Lattice { rows: side, columns: side, spacing: [0.5; 2], diagonal: Diagonal::Rising };
    let random = &mut Random(5);
    let heights: Vec<f32> = (0..side * side).map(|_| random.signed() as f32).collect();
    let field = HeightField::new(lattice, heights, &[]).unwrap();
    assert!(field.bytes() < 6 << 20, "{}", field.bytes());
    let body = crate::samples::ball(50, 3);
    for _ in 0..200 {
        let way = random.vector() * 200.0 + Vec3::new(256.0, 256.0, 0.0);
        let pose = Pose {
            translation: Vec3::new(way.x, way.y, 3.0 * random.signed()),
            ..Pose::identity()
        };
        let piece = ConvexPiece { placed: Placed { body: &body, pose }, radius: 0.0 };
        let beside = FieldBeside { field: PlacedField::new(&field, Pose::identity()), piece };
        let effort = &mut Effort::with_steps(300);
        beside.stand(true, &mut Witness::default(), effort).unwrap();
        let few = &mut Effort::with_steps(0);
        let stopped = beside.stand(true, &mut Witness::default(), few);
        assert_eq!(stopped.map(drop), Err(Stopped::Steps));
    }
    let all = CellRange { rows: 0..2, columns: 0..2 };
    assert_eq!(field.surface_of(&all).unwrap().triangles().len(), 8);
}
