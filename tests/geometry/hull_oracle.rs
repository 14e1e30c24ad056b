//! Brute force for a dozen points with small integer coordinates, in integers, straight from the
//! definitions: a face is what a supporting plane touches.

use std::collections::BTreeSet;

use clearance_geometry::Vec3;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::hull::samples::Random;

type Point = [i64; 3];
type Set = BTreeSet<Point>;

fn minus(a: &Point, b: &Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: &Point, b: &Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: &Point, b: &Point) -> i64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

const ZERO: Point = [0; 3];

/// The dimension of the linear span.
fn rank(vectors: &[Point]) -> u8 {
    let Some(first) = vectors.iter().find(|v| **v != ZERO) else { return 0 };
    let Some(second) = vectors.iter().find(|v| cross(first, v) != ZERO) else { return 1 };
    let normal = cross(first, second);
    if vectors.iter().all(|v| dot(&normal, v) == 0) { 2 } else { 3 }
}

/// What brute force knows of a hull.
#[derive(Debug, PartialEq, Eq)]
struct Truth {
    dimension: u8,
    extreme: Set,
    edges: BTreeSet<Set>,
    facets: BTreeSet<Set>,
    six_volumes: i64,
}

/// The sets of points that the planes through some of them touch from one side, with the plane's
/// outward normal (for a flat set: normals within its plane).
fn supporting(points: &Set, dimension: u8) -> Vec<(Point, Set)> {
    let all: Vec<&Point> = points.iter().collect();
    let differences: Vec<Point> = all.iter().map(|p| minus(p, all[0])).collect();
    let mut normals = BTreeSet::new();
    for a in &all {
        for b in &all {
            let along = minus(b, a);
            if dimension == 2 {
                let up = differences.iter().flat_map(|d| differences.iter().map(|e| cross(d, e)));
                let up = up.into_iter().find(|n| *n != ZERO).expect("the set is a plane");
                normals.insert((**a, cross(&along, &up)));
            } else {
                normals.extend(all.iter().map(|c| (**a, cross(&along, &minus(c, a)))));
            }
        }
    }
    let mut found: Vec<(Point, Set)> = Vec::new();
    for (anchor, normal) in normals {
        let height = |p: &Point| dot(&normal, &minus(p, &anchor));
        if normal != ZERO && points.iter().all(|p| height(p) <= 0) {
            let touched: Set = points.iter().filter(|p| height(p) == 0).copied().collect();
            let spread: Vec<Point> = touched.iter().map(|p| minus(p, &anchor)).collect();
            let is_new = !found.iter().any(|(_, set)| *set == touched);
            if rank(&spread) + 1 == dimension && is_new {
                found.push((normal, touched));
            }
        }
    }
    found
}

fn truth(points: &Set) -> Truth {
    let first = points.first().expect("not empty");
    let differences: Vec<Point> = points.iter().map(|p| minus(p, first)).collect();
    let dimension = rank(&differences);
    if dimension < 2 {
        // Sorted points of a line: the ends come first and last.
        let extreme: Set = [*first, *points.last().expect("not empty")].into();
        let edges = if dimension == 1 { [extreme.clone()].into() } else { BTreeSet::new() };
        return Truth { dimension, extreme, edges, facets: BTreeSet::new(), six_volumes: 0 };
    }
    let faces = supporting(points, dimension);
    // The normals at a vertex span everything, those at an edge all but one dimension.
    let normals_at = |all: &[&Point]| -> Vec<Point> {
        let holds = |set: &Set| all.iter().all(|p| set.contains(*p));
        faces.iter().filter(|(_, set)| holds(set)).map(|(normal, _)| *normal).collect()
    };
    let extreme: Set =
        points.iter().filter(|p| rank(&normals_at(&[p])) == dimension).copied().collect();
    let mut edges = BTreeSet::new();
    for a in &extreme {
        for b in extreme.range(..*a) {
            if rank(&normals_at(&[a, b])) + 1 == dimension {
                edges.insert([*a, *b].into());
            }
        }
    }
    let corners = |set: &Set| -> Set { set.intersection(&extreme).copied().collect() };
    let facets = if dimension == 3 {
        faces.iter().map(|(_, set)| corners(set)).collect()
    } else {
        [extreme.clone()].into()
    };
    let six_volumes = if dimension == 3 { six_volumes(&faces, &edges, first) } else { 0 };
    Truth { dimension, extreme, edges, facets, six_volumes }
}

/// Cones from one point over each facet, each cut into tetrahedra over its edges.
fn six_volumes(faces: &[(Point, Set)], edges: &BTreeSet<Set>, top: &Point) -> i64 {
    let mut sum = 0;
    for (_, face) in faces {
        let corner = face.first().expect("a facet has corners");
        for edge in edges.iter().filter(|edge| edge.is_subset(face)) {
            let ends: Vec<Point> = edge.iter().map(|p| minus(p, corner)).collect();
            sum += dot(&cross(&ends[0], &ends[1]), &minus(top, corner)).abs();
        }
    }
    sum
}

/// The same figures from the builder.
fn built(points: &Set) -> Truth {
    let given: Vec<Vec3> = points.iter().map(|p| Vec3::from(p.map(|x| x as f64))).collect();
    let polytope = convex_hull(&given).expect("good points").polytope;
    assert_eq!(polytope.validate(&given), Ok(()), "{points:?}");
    let point = |i: u32| -> Point {
        let v = polytope.vertex(i);
        [v.x as i64, v.y as i64, v.z as i64]
    };
    let set = |row: &[u32]| -> Set { row.iter().map(|&i| point(i)).collect() };
    let all = 0..polytope.vertex_count();
    let edges = all
        .clone()
        .flat_map(|i| polytope.neighbours(i).iter().map(move |&j| (i, j)).collect::<Vec<_>>());
    Truth {
        dimension: polytope.dimension(),
        extreme: all.map(point).collect(),
        edges: edges.map(|(i, j)| set(&[i, j])).collect(),
        facets: polytope.facets().rows().map(set).collect(),
        six_volumes: (polytope.volume() * 6.0).round() as i64,
    }
}

#[test]
fn small_hulls_agree_with_the_definition() {
    let mut random = Random::new(20);
    let mut seen = [0; 4];
    for round in 0..3000 {
        let side = 1 + random.below(4);
        let count = 1 + random.below(12);
        let mut coordinate = || i64::try_from(random.below(side + 1)).unwrap() - 1;
        let points: Set = (0..count).map(|_| [coordinate(), coordinate(), coordinate()]).collect();
        let truth = truth(&points);
        seen[usize::from(truth.dimension)] += 1;
        assert_eq!(built(&points), truth, "round {round}: {points:?}");
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}
