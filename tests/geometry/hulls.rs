//! Hulls: known shapes first.

use clearance::geometry::Vec3;
use clearance::geometry::hull::{HullError, convex_hull};

fn points(list: &[[f64; 3]]) -> Vec<Vec3> {
    list.iter().map(|&p| Vec3::from(p)).collect()
}

/// All `side^3` points with integer coordinates from 0 to `side - 1`.
fn grid(side: u32) -> Vec<Vec3> {
    let mut all = Vec::new();
    for x in 0..side {
        for y in 0..side {
            for z in 0..side {
                all.push(Vec3::new(f64::from(x), f64::from(y), f64::from(z)));
            }
        }
    }
    all
}

#[test]
#[expect(clippy::float_cmp, reason = "small integers are exact")]
fn a_grid_is_a_cube_with_six_square_facets() {
    let hull = convex_hull(&grid(20)).unwrap();
    let cube = &hull.polytope;
    assert_eq!((cube.dimension(), cube.vertices().len(), cube.facets().len()), (3, 8, 6));
    assert!(cube.facets().rows().all(|corners| corners.len() == 4));
    assert!((0..8).all(|i| cube.neighbours(i).len() == 3));
    assert_eq!(cube.volume(), 6859.0);
    assert_eq!(hull.vertex_of_given[0], Some(0));
    assert_eq!(hull.vertex_of_given[7999], Some(7));
    assert_eq!(hull.vertex_of_given.iter().flatten().count(), 8);
}

#[test]
fn lower_dimensions_are_recognised() {
    let point = convex_hull(&points(&[[0., -0., 1.], [-0., 0., 1.]])).unwrap();
    assert_eq!(point.polytope.dimension(), 0);
    assert_eq!(point.vertex_of_given, [Some(0), Some(0)]);

    let segment = convex_hull(&points(&[[1., 1., 1.], [3., 3., 3.], [2., 2., 2.]])).unwrap();
    assert_eq!(segment.polytope.dimension(), 1);
    assert_eq!(segment.vertex_of_given, [Some(0), Some(1), None]);
    assert_eq!(segment.polytope.neighbours(0), [1]);

    let square = [[0., 0., 5.], [1., 0., 5.], [0., 1., 5.], [1., 1., 5.], [0.5, 0., 5.]];
    let square = convex_hull(&points(&square)).unwrap();
    assert_eq!(square.polytope.dimension(), 2);
    assert_eq!(square.vertex_of_given[4], None);
    assert_eq!(square.polytope.facets().row(0), [0, 2, 3, 1]);
    assert_eq!(square.report().facets, 4);
    assert_eq!(square.report().dropped, 1);
    assert!(!square.report().was_convex);
}

#[test]
fn bad_points_are_refused_with_their_index() {
    assert_eq!(convex_hull(&[]).unwrap_err(), HullError::Empty);
    for bad in [f64::NAN, f64::INFINITY, -1e300] {
        let error = convex_hull(&points(&[[0., 0., 0.], [0., bad, 0.]])).unwrap_err();
        assert_eq!(error, HullError::BadPoint { index: 1 });
    }
}
