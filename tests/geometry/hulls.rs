//! Hulls of known shapes.

use std::cmp::Ordering;

use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::{HullError, convex_hull, convex_hull_with, samples};
use clearance_geometry::shape::validate::Defect;

use super::hull_torture::check;

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

/// It was built to its end, whatever the deadline of who registered it.
#[test]
fn a_hull_is_built_no_longer_than_the_effort_lasts() {
    let given = samples::sphere(4_000, 1.0);
    let unlimited = &mut Effort::unlimited();
    let whole = convex_hull_with(&given, unlimited).unwrap();
    let steps = unlimited.cost.steps;
    assert!(steps > 20, "{steps}");
    let within = |steps| convex_hull_with(&given, &mut Effort::with_steps(steps));
    for few in [0, 1, steps / 2, steps - 1] {
        assert_eq!(within(few).unwrap_err(), HullError::Stopped(Stopped::Steps), "{few}");
    }
    let again = within(steps).unwrap();
    assert_eq!(again.polytope.vertices(), whole.polytope.vertices());
    // Of points that are not on the surface, too, and if all exactness is asked for.
    let few = &mut Effort::with_steps(3);
    assert!(convex_hull_with(&grid(24), few).is_err());
}

/// What the hull of these points must be: vertices, facets, volume.
#[track_caller]
fn check_solid(given: &[Vec3], vertices: u32, facets: usize, volume: f64) {
    let hull = check(given).expect("a proven hull");
    let polytope = &hull.polytope;
    assert_eq!((polytope.dimension(), polytope.vertex_count()), (3, vertices));
    assert_eq!(polytope.facets().len(), facets);
    let error = (polytope.volume() - volume).abs();
    assert!(error <= 1e-14 * volume, "{} is not {volume}", polytope.volume());
}

#[test]
fn slivers_are_boxes_wherever_they_are() {
    for [x, y, z] in [[2000.0, 2000.0, 0.5], [1.0, 1.0, 1e-6], [1e8, 1e-8, 1.0]] {
        check_solid(&samples::cuboid(x, y, z), 8, 6, x * y * z);
    }
    // An ulp thick, a thousand kilometres away.
    let far = 1_048_576.0;
    let top = far + 1.0 / f64::from(1 << 30);
    let plate: Vec<Vec3> = (0..8)
        .map(|i| [i & 1, i >> 1 & 1].map(|bit| far + f64::from(bit)))
        .zip([far, far, far, far, top, top, top, top])
        .map(|([x, y], z)| Vec3::new(x, y, z))
        .collect();
    check_solid(&plate, 8, 6, top - far);
}

#[test]
fn size_does_not_matter_from_the_smallest_number_to_the_largest() {
    for exponent in [-1074, -1060, -498, 0, 498, 940] {
        let unit = f64::from(exponent).exp2();
        let cube: Vec<Vec3> = grid(4).into_iter().map(|p| p * unit).collect();
        let hull = check(&cube).unwrap().polytope;
        assert_eq!((hull.vertex_count(), hull.facets().len()), (8, 6), "2^{exponent}");
        let volume = 27.0 * unit * unit * unit; // 0 or infinite at the ends
        assert_eq!(hull.volume().total_cmp(&volume), Ordering::Equal, "2^{exponent}");
    }
    for unit in [1e-150, 1e150] {
        let ball: Vec<Vec3> = samples::sphere(300, 1.0).into_iter().map(|p| p * unit).collect();
        assert_eq!(check(&ball).unwrap().polytope.vertex_count(), 300);
    }
}

#[test]
fn twenty_thousand_points_on_a_sphere_are_all_extreme() {
    let ball = samples::sphere(20_000, 1.0);
    let hull = check(&ball).unwrap().polytope;
    assert_eq!((hull.vertex_count(), hull.facets().len()), (20_000, 39_996));
    let volume = 4.0 / 3.0 * std::f64::consts::PI;
    assert!(hull.volume() < volume && hull.volume() > 0.999 * volume);
}

#[test]
fn points_in_faces_and_edges_are_not_extreme_however_many_facets_they_touch() {
    // Every integer point of a truncated shape, of which the planes pass through many points.
    let octahedron: Vec<Vec3> =
        grid(13).into_iter().map(|p| p.add_scalar(-6.0)).filter(|p| p.abs().sum() <= 6.0).collect();
    check_solid(&octahedron, 6, 8, 288.0);
    let cuboctahedron: Vec<Vec3> = grid(13)
        .into_iter()
        .map(|p| p.add_scalar(-6.0))
        .filter(|p| p.abs().sum() <= 12.0)
        .collect();
    check_solid(&cuboctahedron, 12, 14, 1440.0);
}

#[test]
fn one_point_an_ulp_off_a_disc_makes_a_solid() {
    for sides in [3, 4, 57, 400] {
        let mut disc = samples::flat_polygon(sides, 1.0);
        disc.push(Vec3::new(0.25, 0.0, f64::from_bits(1)));
        let hull = check(&disc).unwrap().polytope;
        assert_eq!((hull.dimension(), hull.vertex_count()), (3, sides + 1));
        assert_eq!(hull.facets().len(), sides as usize + 1);
    }
}

#[test]
fn the_judge_finds_a_point_outside() {
    let cube = samples::cuboid(1.0, 1.0, 1.0);
    let polytope = samples::polytope_of(&cube);
    let outside = |p: Vec3| {
        let mut given = cube.clone();
        given.push(p);
        polytope.validate(&given)
    };
    assert_eq!(outside(Vec3::new(0.5, 0.1, 0.2)), Ok(()));
    let above = Vec3::new(0.5_f64.next_up(), 0.1, 0.2);
    assert_eq!(outside(above), Err(Defect::Outside { index: 8 }));
}
