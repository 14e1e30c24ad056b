//! Random hulls of every nasty family, judged from scratch.

use clearance_bodies::ContentId;
use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::hull::{Hull, convex_hull};

use super::point_sets::FAMILIES;

/// Sets in the torture test, and points in a set; set the variables to run more.
const SETS_DEFAULT: u64 = 4000;
const POINTS_MOST: usize = 40;
/// The same for large sets.
const LARGE_SETS_DEFAULT: u64 = 54;
const LARGE_POINTS_MOST: usize = 800;
const SETS_VARIABLE: &str = "CLEARANCE_HULL_SETS";
const LARGE_SETS_VARIABLE: &str = "CLEARANCE_LARGE_HULL_SETS";
const SEED_VARIABLE: &str = "CLEARANCE_HULL_SEED";

/// Everything that holds for the hull of any set of points. The message names the defect.
pub(crate) fn check(points: &[Vec3]) -> Result<Hull, String> {
    let hull = convex_hull(points).map_err(|error| error.to_string())?;
    let polytope = &hull.polytope;
    polytope.validate(points).map_err(|defect| defect.to_string())?;
    for (point, vertex) in points.iter().zip(&hull.vertex_of_given) {
        let is = |i: u32| polytope.vertex(i) == point;
        let is_right = match vertex {
            Some(i) => is(*i),
            None => !(0..polytope.vertex_count()).any(is),
        };
        if !is_right {
            return Err(format!("{point} is said to be vertex {vertex:?}"));
        }
    }
    let report = hull.report();
    let distinct = report.given - report.duplicates;
    if report.was_convex != (report.extreme == distinct) || report.extreme > distinct {
        return Err(format!("{report:?}"));
    }
    Ok(hull)
}

/// The hull depends on the set of points alone.
fn check_order_does_not_matter(points: &[Vec3], hull: &Hull, random: &mut Random) {
    let mut shuffled = points.to_vec();
    for i in (1..shuffled.len()).rev() {
        shuffled.swap(i, random.below(i as u64 + 1) as usize);
    }
    shuffled.extend_from_slice(hull.polytope.vertices());
    let again = convex_hull(&shuffled).expect("good points").polytope;
    let first = &hull.polytope;
    assert_eq!(again.vertices(), first.vertices());
    assert_eq!(again.facets(), first.facets());
    assert!((0..first.vertex_count()).all(|i| again.neighbours(i) == first.neighbours(i)));
    assert_eq!(again.volume().to_bits(), first.volume().to_bits());
    assert_eq!(ContentId::of_polytope(&again), ContentId::of_polytope(first));
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a whole number"))
}

/// Draws and proves so many sets, each family in turn; counts them by dimension, and those with
/// points that are not extreme.
fn torture(sets: u64, most: usize) -> ([u64; 4], u64) {
    let seed = number(SEED_VARIABLE, 1);
    let (mut by_dimension, mut with_dropped) = ([0; 4], 0);
    for (round, (name, draw)) in (0..sets).zip(FAMILIES.iter().cycle()) {
        let mut random = Random::new(seed.wrapping_mul(1 << 40).wrapping_add(round));
        let points = draw(&mut random, most);
        let hull = check(&points).unwrap_or_else(|defect| {
            panic!("{name}, seed {seed}, round {round}: {defect}\n{points:?}")
        });
        if round % 7 == 0 {
            check_order_does_not_matter(&points, &hull, &mut random);
        }
        by_dimension[usize::from(hull.polytope.dimension())] += 1;
        with_dropped += u64::from(hull.report().dropped > 0);
    }
    (by_dimension, with_dropped)
}

#[test]
fn every_random_hull_is_proven() {
    let sets = number(SETS_VARIABLE, SETS_DEFAULT);
    let (by_dimension, with_dropped) = torture(sets, POINTS_MOST);
    // All dimensions, and both kinds of set, must have come up often.
    let rare = sets / 100;
    assert!(by_dimension.iter().all(|&count| count > rare), "{by_dimension:?}");
    assert!(with_dropped > 10 * rare && with_dropped < sets - 10 * rare, "{with_dropped}");
}

#[test]
fn every_large_random_hull_is_proven() {
    let sets = number(LARGE_SETS_VARIABLE, LARGE_SETS_DEFAULT);
    let (by_dimension, with_dropped) = torture(sets, LARGE_POINTS_MOST);
    assert!(by_dimension[3] > sets / 2, "{by_dimension:?}");
    assert!(with_dropped > sets / 10 && with_dropped < sets, "{with_dropped}");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn coordinate() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-3..4_i32).prop_map(f64::from),
            -1.0..1.0,
            (-4..4_i64).prop_map(|k| 1.0 + k as f64 * f64::EPSILON),
            any::<f64>().prop_filter("in range", |x| x.abs() <= 9e288),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_finite_points_have_a_proven_hull(
            points in prop::collection::vec([coordinate(), coordinate(), coordinate()], 1..24)
        ) {
            let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
            prop_assert_eq!(check(&points).map(|_| ()), Ok(()));
        }

        #[test]
        fn scaling_by_a_power_of_two_changes_nothing_but_size(
            points in prop::collection::vec([-4..4_i32, -4..4_i32, -4..4_i32], 1..24),
            exponent in -1070..950_i32,
        ) {
            let points: Vec<Vec3> =
                points.into_iter().map(|p| Vec3::from(p.map(f64::from))).collect();
            let factor = f64::from(exponent).exp2();
            let scaled: Vec<Vec3> = points.iter().map(|p| p * factor).collect();
            let (plain, scaled) = (check(&points).unwrap(), check(&scaled).unwrap());
            prop_assert_eq!(plain.vertex_of_given, scaled.vertex_of_given);
            prop_assert_eq!(plain.polytope.facets(), scaled.polytope.facets());
        }
    }
}
