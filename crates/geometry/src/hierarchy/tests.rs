//! Every layer is proven from scratch to be the hull of its vertices; height and size are measured.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::number::orientation::{Side, side_of_plane};
use crate::polytope::Polytope;
use crate::samples::{
    Random, ball, cone, cuboid, ellipsoid, grid_ball, lattice, polygon, prism, zoo,
};

/// Closed, oriented, Euler; no vertex above a face; no face degenerate.
fn check_solid_layer(name: &str, body: &Polytope, layer: &Layer) {
    let vertex = |v: u32| body.vertex(layer.body_vertex(v));
    let mut sides = BTreeSet::new();
    for face in layer.faces().rows() {
        let &[a, b, c] = face else { panic!("{name}: not a triangle") };
        assert!(!crate::number::orientation::are_collinear(vertex(a), vertex(b), vertex(c)));
        for side in [(a, b), (b, c), (c, a)] {
            assert!(sides.insert(side), "{name}: side twice");
        }
        // Against every vertex; in a large layer against the ring, which on a closed surface of a
        // sphere's Euler number is as good.
        let count = u32::try_from(layer.vertices().len()).unwrap();
        let ring = || face.iter().flat_map(|&corner| layer.neighbours(corner)).copied();
        let challengers: Vec<u32> =
            if count <= 200 { (0..count).collect() } else { ring().collect() };
        for v in challengers {
            let side = side_of_plane(vertex(a), vertex(b), vertex(c), vertex(v));
            assert_ne!(side, Side::Above, "{name}: not convex");
        }
    }
    assert!(sides.iter().all(|&(a, b)| sides.contains(&(b, a))), "{name}: not closed");
    let (v, e, f) = (layer.vertices().len(), layer.edge_count(), layer.faces().len());
    assert_eq!(sides.len(), 2 * e, "{name}");
    assert_eq!(v + f, e + 2, "{name}: Euler");
}

fn check_nesting(name: &str, outer: &Layer, inner: &Layer) {
    let count = u32::try_from(outer.vertices().len()).unwrap();
    let mut removed = 0;
    for vertex in 0..count {
        let inward = outer.vertex_inward(vertex).unwrap();
        match inner.find(outer.body_vertex(vertex)) {
            Some(copy) => assert_eq!(inward, copy, "{name}"),
            None => {
                removed += 1;
                let rim: Vec<_> =
                    outer.neighbours(vertex).iter().map(|&n| outer.body_vertex(n)).collect();
                assert!(rim.contains(&inner.body_vertex(inward)), "{name}: off the rim");
                assert!(rim.iter().all(|&n| inner.find(n).is_some()), "{name}: not independent");
                assert!(rim.len() <= build::DEGREE_MAX, "{name}: degree");
            }
        }
    }
    assert!(removed > 0 && inner.vertices().len() + removed == outer.vertices().len(), "{name}");
    for vertex in 0..u32::try_from(inner.vertices().len()).unwrap() {
        let outward = inner.vertex_outward(vertex).unwrap();
        assert_eq!(outer.body_vertex(outward), inner.body_vertex(vertex), "{name}");
    }
}

fn check(name: &str, body: &Polytope) {
    let hierarchy = body.hierarchy();
    let layers = hierarchy.layers();
    for layer in layers {
        assert!(layer.vertices().is_sorted());
        if body.dimension() == 3 {
            check_solid_layer(name, body, layer);
        }
    }
    for two in layers.windows(2) {
        check_nesting(name, &two[0], &two[1]);
    }
    assert_eq!(layers[0].vertices().len(), body.vertices().len());
    let innermost = layers.last().unwrap();
    assert_eq!(innermost.vertices().len(), usize::from(body.dimension()) + 1, "{name}");
    assert!(innermost.inward.is_empty() && layers[0].outward.is_empty());
    assert_eq!(hierarchy.inward(layers.len() - 1, Feature::Vertex(0)), None);
    assert_eq!(hierarchy.outward(0, Feature::Vertex(0)), None);
    // From layers of a few hundred vertices inwards: the checks are slower than what they check.
    let small = layers.iter().position(|layer| layer.vertices().len() <= 500).unwrap();
    for layer in small..layers.len() {
        check_features(name, hierarchy, layer);
    }
}

/// The body's vertices of a feature.
fn corners(hierarchy: &Hierarchy, layer: usize, feature: Feature) -> BTreeSet<u32> {
    let here = &hierarchy.layers()[layer];
    let local = match feature {
        Feature::Vertex(vertex) => vec![vertex],
        Feature::Edge(edge) => hierarchy.features(layer).ends(edge).to_vec(),
        Feature::Face(face) => here.faces().row(face).to_vec(),
    };
    local.into_iter().map(|vertex| here.body_vertex(vertex)).collect()
}

fn all_features(hierarchy: &Hierarchy, layer: usize) -> Vec<Feature> {
    let here = &hierarchy.layers()[layer];
    let numbers = |count: usize| 0..u32::try_from(count).unwrap();
    let mut all: Vec<_> = numbers(here.vertices().len()).map(Feature::Vertex).collect();
    all.extend(numbers(hierarchy.features(layer).edge_count()).map(Feature::Edge));
    all.extend(numbers(here.faces().len()).map(Feature::Face));
    all
}

fn check_features(name: &str, hierarchy: &Hierarchy, layer: usize) {
    let (here, features) = (&hierarchy.layers()[layer], hierarchy.features(layer));
    assert_eq!(features.edge_count(), here.edge_count());
    for face in 0..u32::try_from(here.faces().len()).unwrap() {
        let row = here.faces().row(face);
        for (k, &edge) in features.edges_of(face).iter().enumerate() {
            let (a, b) = (row[k], row[(k + 1) % row.len()]);
            assert_eq!(features.ends(edge), [a.min(b), a.max(b)]);
            assert!(features.faces_at(edge).any(|other| other == face));
        }
    }
    for vertex in 0..u32::try_from(here.vertices().len()).unwrap() {
        for (&other, &edge) in here.neighbours(vertex).iter().zip(features.edges_at(vertex)) {
            assert_eq!(features.ends(edge), [vertex.min(other), vertex.max(other)]);
        }
    }
    if layer + 1 < hierarchy.height() {
        check_pointers(name, hierarchy, [layer, layer + 1], Hierarchy::inward);
        check_pointers(name, hierarchy, [layer + 1, layer], Hierarchy::outward);
    }
}

/// A feature that the other layer has too points to its copy; another to a feature that shares a
/// vertex with it, or for a removed vertex with its edges.
fn check_pointers(
    name: &str,
    hierarchy: &Hierarchy,
    [from, to]: [usize; 2],
    follow: fn(&Hierarchy, usize, Feature) -> Option<Feature>,
) {
    let there: BTreeMap<_, _> =
        all_features(hierarchy, to).into_iter().map(|f| (corners(hierarchy, to, f), f)).collect();
    for feature in all_features(hierarchy, from) {
        let target = follow(hierarchy, from, feature).unwrap();
        let here = corners(hierarchy, from, feature);
        let target_corners = corners(hierarchy, to, target);
        match there.get(&here) {
            Some(copy) => assert_eq!(target, *copy, "{name}: {feature:?}"),
            None if matches!(feature, Feature::Vertex(_)) => {}
            None => assert!(!here.is_disjoint(&target_corners), "{name}: {feature:?}"),
        }
    }
}

#[test]
fn every_layer_is_the_hull_of_its_vertices_and_inside_the_one_before() {
    for (name, body) in zoo() {
        check(name, &body);
    }
}

#[test]
fn every_layer_of_small_lattice_bodies_is_the_hull_of_its_vertices() {
    let mut random = Random(41);
    for _ in 0..500 {
        check("lattice", &lattice(&mut random));
    }
}

/// Seen: height at most 2.03 log2 n (balls), 1.00 log2 n (cones, polygons); size at most 22.0 n.
#[test]
fn the_height_is_logarithmic_and_the_size_linear() {
    const HEIGHT: f64 = 2.5;
    const SIZE: f64 = 24.0;
    for (name, body) in [
        ("ball", ball(100, 1)),
        ("ball", ball(1000, 1)),
        ("ball", ball(10_000, 1)),
        ("needle", ellipsoid(2000, [100.0, 1.0, 1.0], 2)),
        ("disc", ellipsoid(2000, [1.0, 1.0, 1e-4], 3)),
        ("cone", cone(2000)),
        ("prism", prism(1000)),
        ("grid ball", grid_ball(20)),
        ("box", cuboid(1.0, 1.0, 1.0)),
        ("polygon", polygon(1000)),
    ] {
        let n = f64::from(body.vertex_count());
        let (height, size) = (body.hierarchy().height() as f64, body.hierarchy().size() as f64);
        let (per_log, per_vertex) = (height / n.log2(), size / n);
        assert!(
            per_log <= HEIGHT && per_vertex <= SIZE,
            "{name} of {n}: height {height} = {per_log:.2} log2 n, size {size} = {per_vertex:.1} n"
        );
    }
}

/// What is built is what was counted, but for the pointers that the outermost and the innermost
/// layer lack. Seen: 263 bytes a vertex for the layers of a ball, 692 for the features.
#[test]
fn the_memory_of_layers_and_features_is_counted_before_it_is_taken() {
    for (name, body) in
        [("ball", ball(1000, 1)), ("grid ball", grid_ball(7)), ("polygon", polygon(500))]
    {
        let hierarchy = body.hierarchy();
        let counted = hierarchy.feature_bytes();
        let built: usize =
            (0..hierarchy.height()).map(|layer| hierarchy.features(layer).bytes()).sum();
        let ends = [0, hierarchy.height() - 1].map(|layer| {
            size_of::<Feature>()
                * (hierarchy.layers()[layer].edge_count() + hierarchy.layers()[layer].faces().len())
        });
        assert_eq!(built + ends[0] + ends[1], counted, "{name}");
        let per_vertex = |bytes: usize| bytes as f64 / f64::from(body.vertex_count());
        let figures = format!(
            "{name}: {:.0} and {:.0}",
            per_vertex(hierarchy.layer_bytes()),
            per_vertex(counted)
        );
        assert!(
            per_vertex(hierarchy.layer_bytes()) < 300.0 && per_vertex(counted) < 900.0,
            "{figures}"
        );
    }
}
