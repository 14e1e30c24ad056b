//! Rays beside the general search, which asks groups of triangles and knows nothing of this walk.

use std::sync::Arc;

use super::*;
use crate::faces::Surfaces;
use crate::faces::contact::{FaceCourse, find};
use crate::faces::standing::stand;
use crate::hull::convex_hull;
use crate::polyhedron::{Boundary, BoundaryKind, Polyhedron, TriangleSurface};
use crate::samples::{Random, ball, hull};
use crate::terrain::{Diagonal, Lattice};

/// What the general search says of the point as a cloud of one point.
fn general(ray: &Ray<'_>, body: &TriangleBody, pose: &Pose) -> RayAnswer {
    let effort = &mut Effort::unlimited();
    let of_body = convex_hull(body.surface().vertices()).unwrap().polytope;
    let dot = TriangleSurface::of_points(&[Vec3::zeros()]).unwrap();
    let from = Pose::translation(ray.from.x, ray.from.y, ray.from.z);
    let p = Boundary { kind: BoundaryKind::Surface(&dot), hull: ray.point, pose: from };
    let q = Boundary { kind: body.boundary_kind(), hull: &of_body, pose: *pose };
    let surfaces = Surfaces { bodies: [p, q], radii: [0.0; 2] };
    let initial = stand(&surfaces, effort).unwrap().verdict();
    if initial != Verdict::Separated {
        return at_start(initial);
    }
    let pair = Pair::new(ray.point, from, &of_body, *pose);
    let question = Question::new(pair, Motion::Linear { velocity: ray.by }, Motion::rest());
    let found = find(&surfaces, &FaceCourse { question: &question, margin: 0.0 }, effort);
    match found.outcome {
        Outcome::NoContact => RayAnswer::Free,
        Outcome::Contact => RayAnswer::Meets(RayHit {
            initial,
            time: [found.t_free, found.t_contact],
            normal: None,
        }),
        Outcome::Undecided => RayAnswer::Open,
    }
}

/// The same without what the general search does not tell.
fn bare(answer: RayAnswer) -> RayAnswer {
    match answer {
        RayAnswer::Meets(hit) => RayAnswer::Meets(RayHit { normal: None, ..hit }),
        other @ (RayAnswer::Free | RayAnswer::Open) => other,
    }
}

#[derive(Debug, Default)]
struct Counts {
    free: u32,
    later: u32,
    touching: u32,
    inside: u32,
    open: u32,
    normals: u32,
}

impl Counts {
    #[track_caller]
    fn compare(&mut self, ray: &Ray<'_>, body: &TriangleBody, pose: &Pose) {
        let found = meet_triangles(ray, body, pose, &mut Effort::unlimited()).unwrap();
        if found == RayAnswer::Open {
            self.open += 1;
            return;
        }
        assert_eq!(bare(found), general(ray, body, pose), "{ray:?} {pose:?}");
        match found {
            RayAnswer::Free => self.free += 1,
            RayAnswer::Meets(hit) if hit.initial == Verdict::Touching => self.touching += 1,
            RayAnswer::Meets(hit) if hit.initial == Verdict::Overlapping => self.inside += 1,
            RayAnswer::Meets(hit) => {
                self.later += 1;
                if let Some(normal) = hit.normal {
                    self.normals += 1;
                    assert!((normal.norm() - 1.0).abs() < 1e-12 && normal.dot(&ray.by) < 0.0);
                }
            }
            RayAnswer::Open => {}
        }
    }
}

fn dot() -> Polytope {
    hull(&[Vec3::zeros()])
}

/// A region and the surface of the same triangles.
fn both(region: Polyhedron) -> [TriangleBody; 2] {
    let surface = TriangleSurface::new(region.vertices(), region.triangles()).unwrap();
    [TriangleBody::Region(Arc::new(region)), TriangleBody::Surface(Arc::new(surface))]
}

/// On a lattice rays go through vertices, along edges and within faces as often as across; the
/// placed ones do so up to rounding.
#[test]
fn rays_on_a_lattice_meet_what_the_general_search_says() {
    let (random, dot, mut counts) = (&mut Random(11), dot(), Counts::default());
    for round in 0..30 {
        let corners: Vec<Vec3> =
            (0..9).map(|_| Vec3::from_fn(|_, _| f64::from(random.below(5)))).collect();
        let Ok(found) = convex_hull(&corners) else { continue };
        let Some((region, _)) = Polyhedron::of_polytope(&found.polytope) else { continue };
        let pose = match round % 3 {
            0 => Pose::identity(),
            1 => Pose::translation(1.0, -2.0, 0.5),
            _ => random.pose(Vec3::new(0.1, 0.2, 0.3)),
        };
        for body in both(region) {
            for _ in 0..60 {
                let mut place = || Vec3::from_fn(|_, _| f64::from(random.below(9)) - 2.0);
                let (from, to) = (place(), place());
                let from = pose.apply_rounded(&from);
                let by = pose.apply_rounded(&to) - from;
                counts.compare(&Ray { point: &dot, from, by }, &body, &pose);
            }
        }
    }
    let Counts { free, later, touching, inside, open, normals } = counts;
    assert!(free > 400 && later > 400 && touching > 40 && inside > 25, "{counts:?}");
    assert!(open < 30 && normals > 200, "{counts:?}");
}

/// Triangles that cross each other, come twice, are degenerate or far away; rays of all lengths.
#[test]
fn rays_at_soups_of_triangles_meet_what_the_general_search_says() {
    let (random, dot, mut counts) = (&mut Random(12), dot(), Counts::default());
    for round in 0..40 {
        let size = [1.0, 1e-6, 1e8, 1e-30][round % 4];
        let vertices: Vec<Vec3> = (0..40).map(|_| random.vector() * size).collect();
        let mut triangles: Vec<[u32; 3]> =
            (0..60).map(|_| [0; 3].map(|_: u32| random.below(40))).collect();
        triangles.push([3, 3, 3]);
        let surface = TriangleSurface::new(&vertices, &triangles).unwrap();
        let body = TriangleBody::Surface(Arc::new(surface));
        let centre = random.vector() * size * [0.0, 1.0, 1e3][round % 3];
        let pose = if round % 2 == 0 { random.skewed_pose(centre) } else { random.pose(centre) };
        for at in 0..40 {
            let from = pose.apply_rounded(&(random.vector() * size * 2.0));
            let target = match at % 3 {
                0 => vertices[random.below(40) as usize],
                1 => (vertices[1] + vertices[2]) * 0.5,
                _ => random.vector() * size,
            };
            let by = (pose.apply_rounded(&target) - from) * [0.5, 1.0, 2.0, 1e3][at % 4];
            counts.compare(&Ray { point: &dot, from, by }, &body, &pose);
        }
    }
    assert!(counts.free > 100 && counts.later > 400 && counts.open < 10, "{counts:?}");
}

/// Of a ball of many triangles, from within, from outside, and by an ulp beside its vertices.
#[test]
fn rays_at_a_round_body_meet_what_the_general_search_says() {
    let (random, dot, mut counts) = (&mut Random(13), dot(), Counts::default());
    let (region, _) = Polyhedron::of_polytope(&ball(200, 5)).unwrap();
    let vertices = region.vertices().to_vec();
    for body in both(region) {
        for pose in [Pose::identity(), random.pose(Vec3::new(3.0, 1.0, -2.0))] {
            for at in 0..150 {
                let vertex = vertices[random.below(200) as usize % vertices.len()];
                let local = match at % 4 {
                    0 => vertex,
                    1 => vertex.map(f64::next_up),
                    2 => random.vector() * 0.9,
                    _ => random.vector() * 3.0,
                };
                let from = pose.apply_rounded(&local);
                let by = random.vector() * [0.1, 1.0, 9.0][at % 3];
                counts.compare(&Ray { point: &dot, from, by }, &body, &pose);
            }
        }
    }
    assert!(counts.inside > 30 && counts.later > 50 && counts.free > 30, "{counts:?}");
    // Of those that start an ulp beside a vertex it is left open whether they start inside.
    assert!(counts.open < 150 && counts.touching > 50, "{counts:?}");
}

/// A field with holes, beside the surface of its triangles.
#[test]
fn rays_at_a_height_field_meet_what_they_meet_of_its_triangles() {
    let (random, dot) = (&mut Random(14), dot());
    let (mut met, mut free, mut open) = (0, 0, 0);
    for round in 0..12 {
        let [rows, columns] = [3 + 5 * (round % 4), 2 + 7 * (round % 3)];
        let diagonal = if round % 2 == 0 { Diagonal::Rising } else { Diagonal::Falling };
        let lattice = Lattice { rows, columns, spacing: [0.5, 0.25], diagonal };
        let heights = (0..rows * columns).map(|_| (random.below(5) as f32) * 0.25).collect();
        let field = HeightField::new(lattice, heights, &[0]).unwrap();
        let surface = TriangleBody::Surface(Arc::new(field.surface()));
        let pose = if round < 6 { Pose::identity() } else { random.pose(Vec3::x()) };
        for at in 0..150 {
            let mut place = |up: f64| {
                let [x, y] = [columns, rows].map(|count| f64::from(random.below(4 * count)) / 4.0);
                pose.apply_rounded(&Vec3::new(x * 0.5, y * 0.25, up))
            };
            let from = place([1.5, 0.5, -0.5][at % 3]);
            let ray = Ray { point: &dot, from, by: place([-0.5, 0.25, 1.0][at / 3 % 3]) - from };
            let effort = &mut Effort::unlimited();
            let of_field = meet_field(&ray, &field, &pose, effort).unwrap();
            let of_surface = meet_triangles(&ray, &surface, &pose, effort).unwrap();
            open += i32::from(of_field == RayAnswer::Open);
            if of_field == RayAnswer::Open || of_surface == RayAnswer::Open {
                continue;
            }
            assert_eq!(bare(of_field), bare(of_surface), "{ray:?}");
            assert_eq!(bare(of_field), general(&ray, &surface, &pose), "{ray:?}");
            let has_met = matches!(of_field, RayAnswer::Meets(_));
            met += i32::from(has_met);
            free += i32::from(!has_met);
        }
    }
    assert!(met > 300 && free > 300 && open < 10, "{met} {free} {open}");
}

/// Coordinates near the largest that are let in, and near the smallest.
#[test]
fn rays_of_extreme_numbers_are_told_rightly_or_left_open() {
    let (dot, mut counts) = (dot(), Counts::default());
    for scale in [1e-320, 1e-200, 1e-100, 1e100, 1e200, 2f64.powi(959)] {
        let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]].map(|p| Vec3::from(p) * scale);
        let surface = TriangleSurface::new(&corners, &[[0, 1, 2]]).unwrap();
        let body = TriangleBody::Surface(Arc::new(surface));
        for (from, by) in [
            ([0.25, 0.25, 1.0], [0.0, 0.0, -2.0]),
            ([0.25, 0.25, 0.0], [0.0, 0.0, -2.0]),
            ([0.25, 0.25, 1.0], [0.0, 0.0, -0.5]),
            ([0.5, 0.5, 1.0], [0.0, 0.0, -2.0]),
            ([-1.0, 0.0, 0.0], [2.0, 0.0, 0.0]),
        ] {
            let (from, by) = (Vec3::from(from) * scale, Vec3::from(by) * scale);
            counts.compare(&Ray { point: &dot, from, by }, &body, &Pose::identity());
        }
    }
    assert!(counts.later > 10 && counts.free > 5, "{counts:?}");
}
