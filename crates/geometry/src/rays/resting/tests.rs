//! Contacts with floors, ridges and borders of triangles: named cases, and balls beside the nearest
//! points of all triangles.

use std::sync::Arc;

use super::*;
use crate::polyhedron::{Polyhedron, TriangleBody, TriangleSurface};
use crate::pose::Pose;
use crate::samples::{Random, cuboid, hull};
use crate::terrain::{Diagonal, HeightField, Lattice};

fn surface(vertices: &[Vec3], triangles: &[[u32; 3]]) -> TriangleBody {
    TriangleBody::Surface(Arc::new(TriangleSurface::new(vertices, triangles).unwrap()))
}

/// The triangles of a square grid of so many cells a side, each so long, around the origin.
fn grid(cells: u32, cell: f64, height: impl Fn(f64, f64) -> f64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let at = |k: u32| (f64::from(k) - 0.5 * f64::from(cells)) * cell;
    let points = (0..=cells).flat_map(|i| (0..=cells).map(move |j| (at(i), at(j))));
    let vertices = points.map(|(x, y)| Vec3::new(x, y, height(x, y))).collect();
    let corner = |i: u32, j: u32| i * (cells + 1) + j;
    let each = (0..cells).flat_map(|i| (0..cells).map(move |j| (i, j)));
    let halves = each.flat_map(|(i, j)| {
        let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    (vertices, halves.collect())
}

fn deepest(
    shape: (&Polytope, f64),
    at: Pose,
    of: FacesOf<'_>,
    pose: Pose,
) -> Option<RestingContact> {
    let start = Placed { body: shape.0, pose: at };
    let body = StraightBody { start, radius: shape.1, by: Vec3::zeros() };
    deepest_contact(&body, &PassedFaces { of, pose, radius: 0.0 }, &mut Effort::unlimited())
        .unwrap()
}

/// 10,000 frames of a ball that touches a floor, or is in it by a hair, a little, or half.
#[test]
fn a_ball_that_rolls_over_a_flat_floor_gets_only_normals_of_the_floor() {
    let (vertices, triangles) = grid(8, 1.0, |_, _| 0.0);
    let floor = surface(&vertices, &triangles);
    let (point, mut random) = (hull(&[Vec3::zeros()]), Random(5));
    let radius = 0.5;
    for frame in 0..10_000 {
        // Every tenth goes along an edge, every hundredth over a vertex.
        let along = f64::from(frame) * 6.0 / 10_000.0 - 3.0;
        let (x, y) = match frame % 100 {
            0 => (along.round(), along.round()),
            at if at % 10 == 0 => (along, along.round()),
            _ => (along, 3.0 * random.signed()),
        };
        let deep = [0.0, f64::EPSILON, 1e-9, 1e-3, 0.25][frame as usize % 5];
        let z = radius - deep;
        let at = Pose::translation(x, y, z);
        let found = deepest((&point, radius), at, FacesOf::Triangles(&floor), Pose::identity());
        let found = found.expect("it touches the floor");
        assert_eq!(found.normal, Vec3::z(), "{frame}");
        let exact = radius - z;
        assert!(found.depth[0] <= exact && exact <= found.depth[1], "{frame}: {found:?}");
        assert!(found.depth[1] - found.depth[0] < 1e-15, "{found:?}");
        let is_deep = found.verdict == Verdict::Overlapping;
        assert_eq!(is_deep, exact > 0.0, "{found:?}");
    }
}

/// Boxes of any size beside the cells: of cells that are smaller than how deep it is in them, too,
/// where every triangle alone is left soonest sideways.
#[test]
fn a_box_gets_the_normal_of_the_floor_however_fine_its_triangles_are() {
    let mut random = Random(7);
    for cell in [0.03, 0.1, 0.3, 1.0, 4.0] {
        let (vertices, triangles) = grid(16, cell, |_, _| 0.0);
        let floor = surface(&vertices, &triangles);
        let half = (5.0 * cell).min(0.5);
        let body = cuboid(half, half, half);
        for round in 0..20 {
            let sunk = [0.0, 1e-12, 0.01, 0.2 * half][round % 4];
            let [x, y] = [0; 2].map(|_| 2.0 * cell * random.signed());
            let (sin, cos) = random.signed().sin_cos();
            let at = Pose::from_quaternion(Vec3::new(x, y, half - sunk), [cos, 0.0, 0.0, sin]);
            let at = at.unwrap();
            let found = deepest((&body, 0.0), at, FacesOf::Triangles(&floor), Pose::identity());
            let found = found.unwrap_or_else(|| panic!("{cell} {round}"));
            assert!((found.normal - Vec3::z()).norm() < 1e-15, "{cell} {round}: {found:?}");
            let exact = half - (half - sunk);
            assert!((found.depth[0] - exact).abs() < 1e-12, "{cell} {round}: {found:?}");
        }
    }
}

/// The nearest point of a triangle: C. Ericson, "Real-Time Collision Detection", 2005, 5.1.5.
fn nearest_point(p: &Vec3, [a, b, c]: &FaceCorners) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    a + ab * (vb / sum) + ac * (vc / sum)
}

/// Over hills, with ridges and valleys: the deepest contact is that with the nearest point of all,
/// which no seam takes away.
#[test]
fn the_deepest_contact_of_a_ball_is_with_the_nearest_point_of_the_surface() {
    let (mut random, point) = (Random(11), hull(&[Vec3::zeros()]));
    let mut seen = [0_u32; 3];
    for round in 0..40 {
        let (mut vertices, triangles) = grid(6, 0.5, |_, _| 0.0);
        vertices.iter_mut().for_each(|vertex| vertex.z = 0.4 * random.signed());
        let body = surface(&vertices, &triangles);
        let pose = if round % 2 == 0 { Pose::identity() } else { random.pose(Vec3::zeros()) };
        for _ in 0..40 {
            let centre = Vec3::new(random.signed(), random.signed(), random.signed() * 0.5);
            let radius = 0.1 + 0.2 * random.signed().abs();
            let corners = triangles.iter().map(|t| t.map(|at| vertices[at as usize]));
            let nearest = corners.map(|of| nearest_point(&centre, &of));
            let by_distance =
                |a: &Vec3, b: &Vec3| (centre - a).norm().total_cmp(&(centre - b).norm());
            let nearest = nearest.min_by(by_distance).unwrap();
            let out = centre - nearest;
            let world = pose.apply_rounded(&centre);
            let at = Pose::translation(world.x, world.y, world.z);
            let found = deepest((&point, radius), at, FacesOf::Triangles(&body), pose);
            if (out.norm() - radius).abs() < 1e-9 {
                continue;
            }
            let Some(found) = found else {
                assert!(out.norm() > radius, "{centre} {radius}");
                seen[0] += 1;
                continue;
            };
            assert!((found.depth[0] - (radius - out.norm())).abs() < 1e-9, "{found:?} {out}");
            let off = pose.rotation * (out / out.norm()) - found.normal;
            assert!(off.norm() < 1e-6 || out.norm() < 1e-6, "{found:?} {out}");
            let is_vertex = vertices.iter().any(|v| (v - nearest).norm() < 1e-9);
            seen[1 + usize::from(is_vertex)] += 1;
        }
    }
    assert!(seen[0] > 100 && seen[1] > 100 && seen[2] > 3, "{seen:?}");
}

/// A ramp up to a ridge along y and down again: on the ridge the normals between those of the two
/// sides are kept, and at its foot, which is concave, none is but those of the faces.
#[test]
fn a_convex_ridge_keeps_its_normals_and_a_valley_has_none() {
    let point = hull(&[Vec3::zeros()]);
    for (fold, is_ridge) in [(-1.0, true), (1.0, false)] {
        let (vertices, triangles) = grid(8, 1.0, |x, _| fold * x.abs());
        let body = surface(&vertices, &triangles);
        let mut between = 0;
        for k in 0..400 {
            let x = f64::from(k) * 0.004 - 0.8;
            // So high that a ball of radius 1 is in one side or in the ridge by 0.1.
            let on_side = fold * x.abs() + 0.9 * 2f64.sqrt();
            let on_ridge = (0.81 - x * x).max(0.0).sqrt();
            let is_over = is_ridge && x.abs() < 0.9 * 0.5f64.sqrt();
            let z = if is_over { on_ridge } else { on_side };
            let at = Pose::translation(x, 0.25, z);
            let found = deepest((&point, 1.0), at, FacesOf::Triangles(&body), Pose::identity());
            let found = found.expect("it is in the ramp");
            let slope = found.normal.x / found.normal.z;
            assert!((found.depth[0] - 0.1).abs() < 1e-9 || !is_ridge, "{x}: {found:?}");
            let is_face = (slope.abs() - 1.0).abs() < 1e-12;
            assert!(is_face || is_ridge && (slope - x / z).abs() < 1e-9, "{x}: {found:?}");
            between += u32::from(!is_face);
        }
        assert_eq!(between > 200, is_ridge, "{between}");
    }
}

#[test]
fn an_open_border_keeps_its_edge_and_a_step_down_does_not_push_off() {
    let point = hull(&[Vec3::zeros()]);
    let (vertices, triangles) = grid(2, 1.0, |_, _| 0.0);
    let floor = surface(&vertices, &triangles);
    let beside = Pose::translation(1.25, 0.25, 0.0);
    let found = deepest((&point, 0.5), beside, FacesOf::Triangles(&floor), Pose::identity());
    assert_eq!(found.map(|found| found.normal), Some(Vec3::x()));
    // A cube as a region: near its upper edge, a ball or a box on top is pushed up alone.
    let (cube, _) = Polyhedron::of_polytope(&cuboid(1.0, 1.0, 1.0)).unwrap();
    let cube = TriangleBody::Region(Arc::new(cube));
    let block = cuboid(0.5, 0.5, 0.5);
    for x in [0.5, 0.9, 0.999, 1.0, 1.2] {
        for shape in [(&point, 0.5), (&block, 0.0)] {
            let on_top = Pose::translation(x, 0.125, 1.4375);
            let found =
                deepest(shape, on_top, FacesOf::Triangles(&cube), Pose::identity()).unwrap();
            let is_up = x <= 1.0 || shape.1 <= 0.0;
            assert_eq!(found.normal == Vec3::z(), is_up, "{x}: {found:?}");
            assert!(found.normal.z > 0.0 && found.normal.x >= 0.0, "{x}: {found:?}");
        }
    }
    // Beside it the normal points out of it, as deep as it may be.
    let aside = Pose::translation(1.25, 0.125, 0.25);
    let found = deepest((&block, 0.0), aside, FacesOf::Triangles(&cube), Pose::identity());
    let found = found.unwrap();
    assert_eq!((found.normal, found.depth), (Vec3::x(), [0.25; 2]));
}

/// Every triangle is left soonest across one of its seams: what is left is the way up.
#[test]
fn a_post_that_is_deep_in_a_floor_goes_up() {
    let (vertices, triangles) = grid(8, 1.0, |_, _| 0.0);
    let (floor, post) = (surface(&vertices, &triangles), cuboid(0.05, 0.05, 2.5));
    for [x, y] in [[0.25, 0.125], [0.5, 0.5], [0.0, 0.0], [0.0, 0.375]] {
        let at = Pose::translation(x, y, 1.5);
        let found = deepest((&post, 0.0), at, FacesOf::Triangles(&floor), Pose::identity());
        let found = found.map(|found| (found.normal, found.depth));
        assert_eq!(found, Some((Vec3::z(), [1.0; 2])), "{x} {y}");
    }
}

/// The same triangles twice are there once; and with needles along a seam nothing changes.
#[test]
fn what_is_drawn_twice_and_needles_change_nothing() {
    let (vertices, triangles) = grid(4, 1.0, |_, _| 0.0);
    let mut twice = triangles.clone();
    twice.extend(triangles.iter().map(|[a, b, c]| [*b, *a, *c]));
    // Where x is 0 a strip of triangles that are 2^-40 wide.
    let thin = 2f64.powi(-40);
    let (mut split, mut with_needles) = (vertices.clone(), triangles.clone());
    let side = 5;
    for j in 0..side {
        split.push(Vec3::new(thin, f64::from(j) - 2.0, 0.0));
    }
    let (old, new) = (|j: u32| 2 * side + j, |j: u32| 25 + j);
    for triangle in with_needles.iter_mut().filter(|of| of.iter().any(|at| *at >= 3 * side)) {
        for at in triangle.iter_mut().filter(|at| (2 * side..3 * side).contains(*at)) {
            *at = new(*at - 2 * side);
        }
    }
    for j in 0..side - 1 {
        with_needles.push([old(j), new(j), new(j + 1)]);
        with_needles.push([old(j), new(j + 1), old(j + 1)]);
    }
    let bodies = [
        surface(&vertices, &twice),
        surface(&split, &with_needles),
        surface(&vertices, &triangles),
    ];
    let (point, block, mut random) = (hull(&[Vec3::zeros()]), cuboid(0.5, 0.5, 0.5), Random(3));
    for round in 0..200 {
        let x = if round % 2 == 0 { thin * random.signed() } else { random.signed() };
        let at = Pose::translation(x, random.signed(), 0.5 - 0.125 * random.signed().abs());
        for shape in [(&point, 0.5), (&block, 0.0)] {
            for body in &bodies {
                let found = deepest(shape, at, FacesOf::Triangles(body), Pose::identity());
                assert_eq!(found.map(|found| found.normal), Some(Vec3::z()), "{round} {at:?}");
            }
        }
    }
}

/// A height field is the surface of its triangles.
#[test]
fn a_height_field_has_the_contacts_of_its_triangles() {
    let (mut random, point) = (Random(17), hull(&[Vec3::zeros()]));
    let block = cuboid(0.2, 0.3, 0.25);
    let lattice =
        Lattice { rows: 7, columns: 7, spacing: [0.5, 0.75], diagonal: Diagonal::Falling };
    let heights: Vec<f32> = (0..49).map(|_| 0.3 * random.signed() as f32).collect();
    let field = HeightField::new(lattice, heights, &[3, 8]).unwrap();
    let body = TriangleBody::Surface(Arc::new(field.surface()));
    let mut contacts = 0;
    for _ in 0..150 {
        let place = Vec3::new(1.5, 2.25, 0.1) + random.vector();
        for shape in [(&point, 0.3), (&block, 0.0)] {
            let at = random.pose(place);
            let [a, b] = [FacesOf::Field(&field), FacesOf::Triangles(&body)]
                .map(|of| deepest(shape, at, of, Pose::identity()));
            assert_eq!(a.map(|a| a.depth), b.map(|b| b.depth));
            contacts += u32::from(a.is_some());
        }
    }
    assert!(contacts > 60, "{contacts}");
}

/// Along the normal as it is told the body is out of the face after the upper end, and not before
/// the lower one.
#[test]
fn the_depth_is_that_along_the_normal_as_it_is_told() {
    let (mut random, block) = (Random(23), cuboid(0.4, 0.3, 0.5));
    let triangle = [Vec3::zeros(), Vec3::new(2.0, 0.1, 0.3), Vec3::new(0.2, 1.7, -0.4)];
    let body = surface(&triangle, &[[0, 1, 2]]);
    let face = hull(&triangle);
    let mut deep = 0;
    for _ in 0..200 {
        let (place, pose) = (random.vector() * 0.5, random.pose(Vec3::zeros()));
        let at = random.pose(place);
        let Some(found) = deepest((&block, 0.0), at, FacesOf::Triangles(&body), pose) else {
            continue;
        };
        deep += 1;
        for (by, is_out) in [(found.depth[0] - 1e-9, false), (found.depth[1] + 1e-9, true)] {
            let translation = at.translation + found.normal * by;
            let pair = Pair::new(&block, Pose { translation, ..at }, &face, pose);
            let witness = &mut Witness::default();
            let (method, effort) = (&crate::separation::METHODS[0], &mut Effort::unlimited());
            let stands = crate::separation::decide(&pair, method, witness, effort).unwrap();
            assert_eq!(stands.verdict() == Verdict::Separated, is_out, "{found:?}");
        }
    }
    assert!(deep > 50, "{deep}");
}
