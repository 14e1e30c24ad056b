//! Meshes of every kind against points all over their hulls, looked at one by one.

use std::f64::consts::TAU;

use super::region::Region;
use super::*;
use crate::hull::convex_hull;
use crate::hull::samples::Random;
use crate::until::Until;

/// A mesh with equal points made one.
struct Mesh {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Of triangles by their corners.
    fn of(soup: &[[Vec3; 3]]) -> Self {
        let (mut vertices, mut triangles) = (Vec::<Vec3>::new(), Vec::new());
        for triangle in soup {
            triangles.push(triangle.map(|p| {
                let known = vertices.iter().position(|v| *v == p);
                let index = known.unwrap_or(vertices.len());
                if index == vertices.len() {
                    vertices.push(p);
                }
                u32::try_from(index).unwrap()
            }));
        }
        Self { vertices, triangles }
    }

    fn corners(&self) -> Vec<[Vec3; 3]> {
        self.triangles.iter().map(|t| t.map(|i| self.vertices[i as usize])).collect()
    }

    fn measured(&self) -> Excess {
        let hull = convex_hull(&self.vertices).unwrap().polytope;
        measure(&self.vertices, &self.triangles, &hull, &mut Effort::unlimited()).unwrap()
    }

    /// The largest extent.
    fn size(&self) -> f64 {
        let first = self.vertices[0];
        let both = self.vertices.iter().fold([first; 2], |[l, h], p| [l.inf(p), h.sup(p)]);
        (both[1] - both[0]).max()
    }
}

/// The two triangles of a quadrilateral, counter-clockwise.
fn quad(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> [[Vec3; 3]; 2] {
    [[a, b, c], [a, c, d]]
}

/// A prism over a polygon that is seen whole from its first corner, closed, wound outwards.
fn prism(polygon: &[[f64; 2]], low: f64, high: f64) -> Vec<[Vec3; 3]> {
    let at = |k: usize, z: f64| Vec3::new(polygon[k][0], polygon[k][1], z);
    let mut soup = Vec::new();
    for k in 0..polygon.len() {
        let next = (k + 1) % polygon.len();
        soup.extend(quad(at(k, low), at(next, low), at(next, high), at(k, high)));
    }
    for k in 1..polygon.len() - 1 {
        soup.push([at(0, high), at(k, high), at(k + 1, high)]);
        soup.push([at(0, low), at(k + 1, low), at(k, low)]);
    }
    soup
}

fn cuboid(low: Vec3, high: Vec3) -> Vec<[Vec3; 3]> {
    let [x, y] = [[low.x, high.x], [low.y, high.y]];
    prism(&[[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]], low.z, high.z)
}

/// An angle of sheet of this thickness, with legs of one metre: from its inner corner every point
/// is seen.
fn angle(thick: f64) -> Vec<[Vec3; 3]> {
    let t = thick;
    prism(&[[t, t], [t, 1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, t]], 0.0, 1.0)
}

fn reversed(soup: &[[Vec3; 3]]) -> Vec<[Vec3; 3]> {
    soup.iter().map(|[a, b, c]| [*a, *c, *b]).collect()
}

/// A box open at the top with closed walls.
fn bin([x, y, z]: [f64; 3], wall: f64) -> Vec<[Vec3; 3]> {
    let outer = |px: f64, py: f64, pz: f64| Vec3::new(px * x, py * y, pz * z);
    let inner = |px: f64, py: f64, pz: f64| {
        let side = |p: f64, size: f64| wall + p * (size - 2.0 * wall);
        Vec3::new(side(px, x), side(py, y), if pz > 0.0 { z } else { wall })
    };
    let ring = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let mut soup = Vec::new();
    for k in 0..4 {
        let ([px, py], [qx, qy]) = (ring[k], ring[(k + 1) % 4]);
        let walls = |at: &dyn Fn(f64, f64, f64) -> Vec3| {
            quad(at(px, py, 0.0), at(qx, qy, 0.0), at(qx, qy, 1.0), at(px, py, 1.0))
        };
        soup.extend(walls(&outer));
        soup.extend(reversed(&walls(&inner)));
        soup.extend(quad(
            outer(px, py, 1.0),
            outer(qx, qy, 1.0),
            inner(qx, qy, 1.0),
            inner(px, py, 1.0),
        ));
    }
    let floor = |at: &dyn Fn(f64, f64, f64) -> Vec3| {
        quad(at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(1.0, 1.0, 0.0), at(0.0, 1.0, 0.0))
    };
    soup.extend(reversed(&floor(&outer)));
    soup.extend(floor(&inner));
    soup
}

/// Five walls without thickness, each triangle drawn from both sides.
fn double_bin([x, y, z]: [f64; 3]) -> Vec<[Vec3; 3]> {
    let walls: Vec<_> = cuboid(Vec3::zeros(), Vec3::new(x, y, z))
        .into_iter()
        .filter(|t| t.iter().any(|p| p.z < z))
        .collect();
    [reversed(&walls), walls].concat()
}

/// A cube of edge 2 around the origin with its top at `top` in the middle.
fn dented(top: f64) -> Vec<[Vec3; 3]> {
    let (one, apex) = (Vec3::repeat(1.0), Vec3::new(0.0, 0.0, top));
    let mut soup = cuboid(-one, one);
    soup.retain(|t| t.iter().any(|p| p.z < 0.0));
    let ring =
        [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| Vec3::new(x, y, 1.0));
    soup.extend((0..4).map(|k| [ring[k], ring[(k + 1) % 4], apex]));
    soup
}

/// Whether the bracket holds a number, and how wide it is.
#[track_caller]
fn check(soup: &[[Vec3; 3]], distance: f64) -> Excess {
    let mesh = Mesh::of(soup);
    let found = mesh.measured();
    assert!(found.lower <= distance && distance <= found.upper, "{found:?} {distance}");
    assert!(found.upper - found.lower <= 0.05 * mesh.size(), "{found:?}");
    found
}

/// Of every triangle the better side of its plane was taken: the thickness of a sheet was told for
/// how far its hull stands out, and twice the depth of a dent for the dent's.
#[test]
fn what_is_told_is_the_distance_of_the_hull_and_not_a_side_of_a_plane() {
    for thick in [0.5, 0.1, 0.01, 0.002] {
        let found = check(&angle(thick), 0.5 * (1.0 - thick));
        assert!(found.closed && found.is_solid && !found.is_hull, "{found:?}");
        let area = 2.0 * thick - thick * thick;
        assert!((found.volume - area).abs() < 1e-14, "{found:?}");
    }
    check(&bin([0.4, 0.3, 0.2], 0.01), 0.14);
    check(&dented(0.5), 0.5 / 1.25_f64.sqrt());
    let found = check(&double_bin([0.6, 0.4, 0.3]), 0.2);
    assert!(found.closed && !found.is_solid && !found.is_hull && found.volume.abs() < 1e-15);
    // Two faces of a tetrahedron, each drawn from both sides: closed, flat on the hull, no solid.
    let corner = |k: usize| Vec3::from_fn(|i, _| if i + 1 == k { 1.0 } else { 0.0 });
    let [o, x, y, z] = [0, 1, 2, 3].map(corner);
    let two = [[o, x, y], [o, y, x], [o, z, y], [o, y, z]];
    let found = check(&two, 0.5);
    assert!(found.closed && !found.is_hull && !found.is_solid, "{found:?}");
}

#[test]
fn only_the_hulls_own_surface_wound_once_and_one_way_is_convex() {
    let cube = cuboid(Vec3::zeros(), Vec3::repeat(1.0));
    for convex in [cube.clone(), reversed(&cube), dented(1.0), angle(1.0)] {
        let found = Mesh::of(&convex).measured();
        assert!(found.is_hull && found.is_solid && found.upper.to_bits() == 0, "{found:?}");
    }
    let twice = [cube.clone(), cube.clone()].concat();
    let both_ways = [cube.clone(), reversed(&cube)].concat();
    let mut one_turned = cube.clone();
    one_turned[3].swap(0, 1);
    let mut open = cube.clone();
    open.pop();
    let inside = Vec3::repeat(0.25);
    let with_another = [cube, cuboid(inside, inside * 2.0)].concat();
    for (soup, closed) in
        [(twice, true), (both_ways, true), (one_turned, false), (open, false), (with_another, true)]
    {
        let found = Mesh::of(&soup).measured();
        assert!(!found.is_hull && found.closed == closed, "{found:?}");
    }
}

/// Solids of files in single precision are their own hulls but for rounding, and count as convex by
/// a tolerance of a millionth.
#[test]
fn what_single_precision_makes_of_a_convex_solid_is_told_to_a_millionth() {
    let mut random = Random::new(7);
    let mut rounded = 0;
    for round in 0..60 {
        let size = [1.0, 0.3, 0.002][round % 3];
        let points: Vec<Vec3> = match round % 4 {
            0 => Mesh::of(&cuboid(Vec3::zeros(), Vec3::new(1.0, 0.7, size))).vertices,
            1 => {
                let side = |k: usize| {
                    let (sine, cosine) = (TAU * (k / 2) as f64 / 24.0).sin_cos();
                    Vec3::new(cosine, sine, if k.is_multiple_of(2) { size } else { 0.0 })
                };
                (0..48).map(side).collect()
            }
            _ => (0..40)
                .map(|_| random.direction().component_mul(&Vec3::new(1.0, 1.0, 0.5)))
                .collect(),
        };
        let turn = nalgebra::Rotation3::from_axis_angle(
            &nalgebra::Unit::new_normalize(random.direction()),
            random.between(0.0, TAU),
        );
        let exact = convex_hull(&points).unwrap().polytope;
        // Faces of the exact solid, as a modeller writes them.
        let fans = exact.facets().rows().flat_map(|row| {
            row[1..].windows(2).map(|pair| [row[0], pair[0], pair[1]]).collect::<Vec<_>>()
        });
        let single = |i: u32| (turn * exact.vertex(i)).map(|x| f64::from(x as f32));
        let soup: Vec<_> = fans.map(|fan| fan.map(single)).collect();
        let mesh = Mesh::of(&soup);
        let found = mesh.measured();
        assert!(found.closed && found.is_solid, "{found:?}");
        assert!(found.upper <= 1e-6 * mesh.size(), "{round}: {found:?}");
        rounded += usize::from(!found.is_hull);
    }
    assert!(rounded > 20, "{rounded}");
}

/// A dense look at a hull: the farthest of many of its points, by every triangle and by the solid
/// angles of all of them.
fn farthest(mesh: &Mesh, closed: bool, random: &mut Random, points: usize) -> f64 {
    let triangles = mesh.corners();
    let distance = |p: &Vec3| {
        let nearest = triangles.iter().map(|t| brute_distance(t, p)).fold(f64::INFINITY, f64::min);
        let angles: f64 = triangles.iter().map(|t| solid_angle(t, p)).sum();
        let is_inside =
            closed && nearest > 1e-9 * mesh.size() && (angles / (2.0 * TAU)).abs() > 0.5;
        if is_inside { 0.0 } else { nearest }
    };
    let mut best: Vec<(f64, Vec3)> = Vec::new();
    let hull = convex_hull(&mesh.vertices).unwrap().polytope;
    let whole: Vec<u32> = (0..hull.vertex_count()).collect();
    // Of two corners up to four, every other time of one facet: many points are on the surface.
    let any = |random: &mut Random| {
        let facets = hull.facets();
        let of_facet = facets.rows().nth(random.below(facets.len().max(1) as u64) as usize);
        let row = of_facet.filter(|_| random.below(2) == 0).unwrap_or(&whole);
        let weighted = (0..2 + random.below(3)).map(|_| {
            let corner = row[random.below(row.len() as u64) as usize];
            (random.unit() + 1e-3, *hull.vertex(corner))
        });
        let weighted: Vec<_> = weighted.collect();
        let sum: f64 = weighted.iter().map(|(weight, _)| weight).sum();
        weighted.iter().map(|(weight, v)| v * (weight / sum)).sum::<Vec3>()
    };
    for _ in 0..points {
        let p = any(random);
        best.push((distance(&p), p));
    }
    best.sort_by(|a, b| b.0.total_cmp(&a.0));
    best.truncate(6);
    // Each of the farthest walks towards other points of the hull as long as it gets farther.
    for (value, p) in &mut best {
        let mut share = 0.5;
        for _ in 0..points / 4 {
            let other = any(random);
            let moved = *p + (other - *p) * share * random.unit();
            let found = distance(&moved);
            if found > *value {
                (*value, *p) = (found, moved);
            } else {
                share = (share * 0.98).max(1e-3);
            }
        }
    }
    best.iter().map(|(value, _)| *value).fold(0.0, f64::max)
}

/// By projection on the plane, or by the three edges, whichever is right.
fn brute_distance([a, b, c]: &[Vec3; 3], p: &Vec3) -> f64 {
    let edge = |a: &Vec3, b: &Vec3| {
        let way = b - a;
        let share =
            if way.norm_squared() > 0.0 { (p - a).dot(&way) / way.norm_squared() } else { 0.0 };
        (a + way * share.clamp(0.0, 1.0) - p).norm()
    };
    let least = edge(a, b).min(edge(b, c)).min(edge(c, a));
    let normal = (b - a).cross(&(c - a));
    let is_over = [[a, b], [b, c], [c, a]]
        .iter()
        .all(|[u, v]| (*v - *u).cross(&(p - *u)).dot(&normal) >= 0.0);
    if is_over && normal.norm() > 0.0 {
        least.min((p - a).dot(&normal).abs() / normal.norm())
    } else {
        least
    }
}

/// Van Oosterom and Strackee 1983.
fn solid_angle([a, b, c]: &[Vec3; 3], p: &Vec3) -> f64 {
    let [a, b, c] = [a, b, c].map(|corner| corner - p);
    let [x, y, z] = [a.norm(), b.norm(), c.norm()];
    let below = x * y * z + a.dot(&b) * z + b.dot(&c) * x + c.dot(&a) * y;
    2.0 * a.dot(&b.cross(&c)).atan2(below)
}

/// A mesh of any kind, and what kind it is.
fn any_mesh(random: &mut Random) -> (&'static str, Vec<[Vec3; 3]>) {
    let part = |random: &mut Random| {
        let [p, q] = [random.in_ball(), random.in_ball()];
        cuboid(p.inf(&q), p.sup(&q) + Vec3::repeat(0.05))
    };
    let (kind, soup) = match random.below(9) {
        0 => ("triangles anywhere", {
            let count = 1 + random.below(8);
            (0..count).map(|_| [random.in_ball(), random.in_ball(), random.in_ball()]).collect()
        }),
        1 => ("an angle", angle(random.between(0.001, 0.5))),
        2 => ("a bin", {
            let sizes =
                [random.between(0.2, 1.0), random.between(0.2, 1.0), random.between(0.1, 1.0)];
            bin(sizes, random.between(0.001, 0.09))
        }),
        3 => ("a double bin", {
            double_bin([
                random.between(0.1, 1.0),
                random.between(0.1, 1.0),
                random.between(0.1, 1.0),
            ])
        }),
        4 => ("a dented cube", dented(random.between(-0.99, 1.0))),
        5 => ("crossing boxes", (0..2 + random.below(3)).flat_map(|_| part(random)).collect()),
        6 => ("a hollow", {
            let (half, hole) = (Vec3::repeat(1.0), Vec3::repeat(random.between(0.1, 0.9)));
            [cuboid(-half, half), reversed(&cuboid(-hole, hole))].concat()
        }),
        7 => ("an open box", {
            let mut soup = part(random);
            for _ in 0..1 + random.below(6) {
                soup.swap_remove(usize::try_from(random.below(soup.len() as u64)).unwrap());
            }
            soup
        }),
        _ => ("a flat one", {
            let flat = |p: Vec3| Vec3::new(p.x, p.y, 0.5 * p.x);
            let count = 1 + random.below(4);
            let any = |random: &mut Random| [(); 3].map(|()| flat(random.in_ball()));
            (0..count).map(|_| any(random)).collect()
        }),
    };
    (kind, soup)
}

/// Turned, mirrored (and so inside out), in single precision, far away, huge or tiny.
fn placed(mut soup: Vec<[Vec3; 3]>, random: &mut Random) -> Vec<[Vec3; 3]> {
    let turn = nalgebra::Rotation3::from_axis_angle(
        &nalgebra::Unit::new_normalize(random.direction()),
        random.between(0.0, TAU),
    );
    let (is_turned, is_single) = (random.below(2) == 0, random.below(3) == 0);
    let scale = [1.0, 1.0, 1e-3, 2f64.powi(-300), 2f64.powi(300)]
        [usize::try_from(random.below(5)).unwrap()];
    let away = if random.below(4) == 0 { Vec3::new(100.0, -50.0, 7.0) } else { Vec3::zeros() };
    let mirror = random.below(4) == 0;
    for triangle in &mut soup {
        for p in triangle.iter_mut() {
            if is_turned {
                *p = turn * *p;
            }
            if mirror {
                p.x = -p.x;
            }
            *p += away;
            if is_single {
                *p = p.map(|x| f64::from(x as f32));
            }
            *p *= scale;
        }
    }
    soup
}

/// How many meshes: `CLEARANCE_EXCESS_MESHES`, or a few.
#[test]
fn brackets_hold_what_a_dense_look_finds_and_are_narrow() {
    let count = std::env::var("CLEARANCE_EXCESS_MESHES").map_or(60, |text| text.parse().unwrap());
    let mut random = Random::new(2026);
    let mut widest: f64 = 0.0;
    let mut kinds = std::collections::BTreeMap::new();
    for round in 0..count {
        let (kind, soup) = any_mesh(&mut random);
        let mesh = Mesh::of(&placed(soup, &mut random));
        let found = mesh.measured();
        let size = mesh.size();
        // The dense look is for sizes of about one.
        let unit = 2f64.powi(crate::number::binary::exponent_of(size).unwrap());
        let vertices = mesh.vertices.iter().map(|p| p / unit).collect();
        let tame = Mesh { vertices, triangles: mesh.triangles.clone() };
        let seen = unit * farthest(&tame, found.closed, &mut random, 800);
        assert!(seen <= found.upper, "{round} {kind}: {found:?} {seen}");
        assert!(found.lower <= seen + 0.03 * size, "{round} {kind}: {found:?} {seen}");
        assert!(0.0 <= found.lower && found.lower <= found.upper, "{round} {kind}: {found:?}");
        let width = (found.upper - found.lower) / size;
        assert!(width <= 0.05, "{round} {kind}: {found:?}");
        widest = widest.max(width);
        *kinds.entry((kind, found.closed)).or_insert(0) += 1;
        assert!(!found.is_hull || found.upper.to_bits() == 0, "{found:?}");
    }
    assert!(count < 60 || kinds.len() >= 9, "{kinds:?}");
    assert!(widest > 0.0);
}

/// A comb whose teeth are all as near as each other to most points of its hull: 24,000 triangles
/// took 45 s of a request's time before the looks had a limit.
#[test]
fn a_comb_of_slivers_is_measured_in_a_bounded_time() {
    let tooth = |k: usize| {
        let y = 2e-5 * k as f64;
        let at = |x: f64, dy: f64, z: f64| Vec3::new(x, y + dy, z);
        let [a, b, c, tip] =
            [at(0.0, 0.0, 0.0), at(1e-6, 0.0, 0.0), at(1e-6, 1e-6, 0.0), at(1.0, 1.0, 1.0)];
        [[a, c, b], [a, b, tip], [b, c, tip], [a, tip, c]]
    };
    let mesh = Mesh::of(&(0..1_000).flat_map(tooth).collect::<Vec<_>>());
    let points: Vec<Vec3> = mesh.vertices.clone();
    let sheets = sheets::of(&mesh.triangles, &Effort::unlimited()).unwrap();
    let hull = convex_hull(&points).unwrap().polytope;
    let frame = UnitFrame::around(points.iter()).unwrap();
    let corners: Vec<Vec3> = hull.vertices().iter().map(|p| frame.inward(p)).collect();
    let effort = &mut Effort::unlimited();
    let facets = HullFacets::new(&hull, &corners, frame, effort).unwrap();
    let placed: Vec<Vec3> = points.iter().map(|p| frame.inward(p)).collect();
    let surface = MeshSurface::new(&placed, &sheets, effort).unwrap();
    let region = SolidHull::new(&facets, effort).unwrap();
    let of = search::bracket(&surface, true, &region, f64::INFINITY, effort);
    let [lower, upper] = of.unwrap();
    let seen = farthest(&mesh, true, &mut Random::new(7), 400) / frame.length_outward(1.0);
    assert!(lower <= upper && seen <= upper, "{lower} {seen} {upper}");
    // The last piece looks at all boxes a few times.
    let looks = surface.looks() + Region::looks(&region);
    assert!(looks <= search::looks_max(4_000) + 40 * 4_000, "{looks}");
}

/// The limit of looks is none of a usual mesh: 20,000 triangles with bumps and dents all over.
#[test]
fn a_large_bumpy_ball_is_measured_as_narrowly_as_is_promised() {
    const AROUND: u32 = 100;
    let at = |i: u32, j: u32| {
        let turn = |k: u32, of: f64| of * f64::from(k) / f64::from(AROUND);
        let (down, around) = (turn(i, TAU / 2.0), turn(j % AROUND, TAU));
        let out = 1.0 + 0.2 * (7.0 * down).sin() * (5.0 * around).cos();
        let wide = if i == 0 || i == AROUND { 0.0 } else { down.sin() };
        Vec3::new(wide * around.cos(), wide * around.sin(), down.cos()) * out
    };
    // All points of a pole are its first.
    let place = |i: u32, j: u32| if i.is_multiple_of(AROUND) { 0 } else { j % AROUND };
    let index = |i: u32, j: u32| i * AROUND + place(i, j);
    let places = (0..=AROUND).flat_map(|i| (0..AROUND).map(move |j| (i, j)));
    let vertices: Vec<Vec3> = places.clone().map(|(i, j)| at(i, j)).collect();
    let triangles = places.filter(|(i, _)| *i < AROUND).flat_map(|(i, j)| {
        let [a, b] = [index(i, j), index(i + 1, j)];
        let [c, d] = [index(i + 1, j + 1), index(i, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    let has_area = |[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
    let mesh = Mesh { vertices, triangles: triangles.filter(has_area).collect() };
    let found = mesh.measured();
    assert!(found.closed && found.is_solid, "{found:?}");
    assert!(found.lower > 0.05 && found.upper - found.lower <= 0.05 * mesh.size(), "{found:?}");
}

#[test]
fn steps_that_run_out_leave_a_bracket_and_a_deadline_is_an_error() {
    let mesh = Mesh::of(&bin([0.4, 0.3, 0.2], 0.01));
    let hull = convex_hull(&mesh.vertices).unwrap().polytope;
    let measured = |steps: u64| {
        measure(&mesh.vertices, &mesh.triangles, &hull, &mut Effort::with_steps(steps))
    };
    assert_eq!(measured(3), Err(Stopped::Steps));
    let (few, many) = (measured(2_000).unwrap(), measured(u64::MAX).unwrap());
    assert!(few.upper - few.lower >= many.upper - many.lower);
    assert!(few.lower <= 0.14 && 0.14 <= few.upper, "{few:?}");
    let has_passed = Until::expired();
    let late = &mut Effort::until(u64::MAX, &has_passed);
    let found = measure(&mesh.vertices, &mesh.triangles, &hull, late);
    assert_eq!(found, Err(Stopped::Deadline));
}
