//! The judge must refuse what is wrong: each test spoils a good polytope in one way.

use super::*;
use crate::csr::Csr;
use crate::hull::samples;

/// The defect found in the hull of `points` after `spoil`.
#[track_caller]
fn check(points: &[Vec3], spoil: impl FnOnce(&mut Shape), defect: &Defect) {
    let mut polytope = Shape::clone(&samples::polytope_of(points));
    assert_eq!(polytope.validate(points), Ok(()));
    spoil(&mut polytope);
    assert_eq!(polytope.validate(points).as_ref(), Err(defect));
}

/// As [`check`], for a defect that may be found in more than one place.
#[track_caller]
fn check_fails(points: &[Vec3], spoil: impl FnOnce(&mut Shape)) -> Defect {
    let mut polytope = Shape::clone(&samples::polytope_of(points));
    spoil(&mut polytope);
    polytope.validate(points).unwrap_err()
}

fn rows(csr: &Csr) -> Vec<Vec<u32>> {
    csr.rows().map(<[u32]>::to_vec).collect()
}

fn cube() -> Vec<Vec3> {
    samples::cuboid(1.0, 1.0, 1.0)
}

#[test]
fn vertices_must_ascend_without_negative_zero() {
    check(&cube(), |p| p.vertices.swap(2, 3), &Defect::Order { vertex: 3 });
    let origin = Defect::Order { vertex: 0 };
    check(&samples::point(), |p| p.vertices[0].y = -0.0, &origin);
    check(&cube(), |p| p.vertices[5] = p.vertices[4], &Defect::Order { vertex: 5 });
}

#[test]
fn vertices_must_have_been_given() {
    let spoil = |p: &mut Shape| p.vertices[7].z = p.vertices[7].z.next_up();
    check(&cube(), spoil, &Defect::Foreign { vertex: 7 });
}

#[test]
fn a_basis_must_be_independent_and_fit_the_dimension() {
    check(&cube(), |p| p.affine_basis = [0, 1, 2, 3].into(), &Defect::Basis);
    check(&cube(), |p| p.dimension = 2, &Defect::Basis);
    let flatten = |p: &mut Shape| {
        p.dimension = 2;
        p.affine_basis = [0, 1, 2].into_iter().collect();
    };
    check(&cube(), flatten, &Defect::Dimension { vertex: 4 });
}

#[test]
fn facets_must_be_whole_loops_in_canonical_form() {
    let with_first_facet = |change: fn(&mut Vec<u32>)| {
        move |p: &mut Shape| {
            let mut facets = rows(&p.facets);
            change(&mut facets[0]);
            p.facets = Csr::from_rows(facets);
        }
    };
    check(&cube(), with_first_facet(|row| row.rotate_left(1)), &Defect::FacetOrder);
    check(&cube(), with_first_facet(|row| row.swap(2, 3)), &Defect::Loop { facet: 0 });
    check(&cube(), with_first_facet(|row| row[2] = 7), &Defect::Loop { facet: 0 });
    check(&cube(), with_first_facet(|row| row.truncate(2)), &Defect::Loop { facet: 0 });
    check(&cube(), with_first_facet(|row| row[3] = 8), &Defect::Loop { facet: 0 });
    // A triangle instead of the square leaves its neighbours without a partner.
    let open = check_fails(&cube(), with_first_facet(|row| row.truncate(3)));
    assert!(matches!(open, Defect::Open { .. }), "{open:?}");
}

#[test]
fn the_surface_must_be_closed() {
    let open = |p: &mut Shape| {
        let mut facets = rows(&p.facets);
        facets.pop();
        p.facets = Csr::from_rows(facets);
    };
    let found = check_fails(&samples::octahedron(1.0), open);
    assert!(matches!(found, Defect::Open { .. }), "{found:?}");
}

#[test]
fn coplanar_facets_must_be_merged() {
    // A square pyramid whose base is left in two triangles, with adjacency to match.
    let pyramid = samples::cone(4, 1.0, 1.0);
    let split_base = |p: &mut Shape| {
        let mut facets = rows(&p.facets);
        let base = facets.iter().position(|row| row.len() == 4).unwrap();
        let [a, b, c, d] = facets[base][..] else { panic!("four corners") };
        facets.splice(base..=base, [vec![a, b, c], vec![a, c, d]]);
        facets.sort();
        p.facets = Csr::from_rows(facets);
        let mut neighbours = rows(&p.neighbours);
        for (v, before, new) in [(a, b, c), (c, d, a)] {
            let row = &mut neighbours[v as usize];
            let at = row.iter().position(|&w| w == before).unwrap();
            row.insert(at + 1, new);
            let lowest = row.iter().position(|w| w == row.iter().min().unwrap()).unwrap();
            row.rotate_left(lowest);
        }
        p.neighbours = Csr::from_rows(neighbours);
    };
    let found = check_fails(&pyramid, split_base);
    assert!(matches!(found, Defect::Reflex { .. }), "{found:?}");
}

#[test]
fn neighbours_must_be_complete_and_in_order() {
    let with_row = |vertex: usize, change: fn(&mut Vec<u32>)| {
        move |p: &mut Shape| {
            let mut neighbours = rows(&p.neighbours);
            change(&mut neighbours[vertex]);
            p.neighbours = Csr::from_rows(neighbours);
        }
    };
    let cube = cube();
    check(&cube, with_row(3, |row| row.swap(1, 2)), &Defect::Neighbours { vertex: 3 });
    check(&cube, with_row(3, |row| row.rotate_left(1)), &Defect::Neighbours { vertex: 3 });
    check(&cube, with_row(5, |row| row.truncate(2)), &Defect::Neighbours { vertex: 5 });
    check(&cube, with_row(5, |row| row.push(0)), &Defect::Neighbours { vertex: 5 });
    let square = samples::flat_polygon(4, 1.0);
    check(&square, with_row(1, |row| row.reverse()), &Defect::Neighbours { vertex: 1 });
    check(&samples::segment(1.0), with_row(0, Vec::clear), &Defect::Neighbours { vertex: 0 });
}

#[test]
fn bounds_must_be_tight_and_outward() {
    check(&cube(), |p| p.bounds.low.x = -0.6, &Defect::Bounds);
    check(&cube(), |p| p.bounds.reach.y = 0.4, &Defect::Bounds);
    check(&cube(), |p| p.bounds.span = 1.4, &Defect::Bounds);
    check(&cube(), |p| p.bounds.radius = 0.75_f64.sqrt().next_down(), &Defect::Bounds);
    check(&cube(), |p| p.bounds.radius = f64::NAN, &Defect::Bounds);
}

#[test]
fn points_outside_are_found_in_every_dimension_and_size() {
    let point_outside = |points: &[Vec3], p: Vec3| {
        let polytope = Shape::clone(&samples::polytope_of(points));
        let mut given = points.to_vec();
        given.push(p);
        polytope.validate(&given) == Err(Defect::Outside { index: points.len() })
    };
    let on = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
    assert!(point_outside(&samples::point(), on(f64::from_bits(1), 0.0, 0.0)));
    assert!(point_outside(&samples::segment(1.0), on(0.5_f64.next_up(), 0.0, 0.0)));
    assert!(point_outside(&samples::segment(1.0), on(0.1, f64::from_bits(1), 0.0)));
    let disc = samples::flat_polygon(100, 1.0);
    assert!(point_outside(&disc, on(0.9999, 0.03, 0.0)));
    assert!(point_outside(&disc, on(0.9, 0.03, f64::from_bits(1))));
    assert!(!point_outside(&disc, on(0.9, 0.03, 0.0)));
    // So many facets that the judge walks along rays.
    let ball = samples::sphere(3000, 1.0);
    let polytope = samples::polytope_of(&ball);
    for row in polytope.facets().rows().step_by(997) {
        let middle = row.iter().map(|&i| polytope.vertex(i)).sum::<Vec3>() / 3.0;
        assert!(point_outside(&ball, middle * (1.0 + 1e-12)));
        assert!(!point_outside(&ball, middle * (1.0 - 1e-12)));
    }
}

#[test]
fn a_surface_that_wraps_twice_is_refused() {
    // A pentagram's five tips taken in star order are strictly convex at every corner.
    let pentagon = samples::flat_polygon(5, 1.0);
    let spoil = |p: &mut Shape| {
        let ring = p.facets.row(0).to_vec();
        let star: Vec<u32> = (0..5).map(|k| ring[2 * k % 5]).collect();
        let neighbour = |v: u32, step: usize| {
            let at = star.iter().position(|&w| w == v).unwrap();
            star[(at + step) % 5]
        };
        let row = |v: u32| {
            let (a, b) = (neighbour(v, 1), neighbour(v, 4));
            [a.min(b), a.max(b)]
        };
        p.neighbours = Csr::from_rows((0..5).map(row));
        p.facets = Csr::from_rows([star]);
    };
    check(&pentagon, spoil, &Defect::Loop { facet: 0 });
}
