//! The loops of the kernel against what they are to do, one point at a time.

use super::*;

fn path(length: u32) -> Vec<Ring> {
    let points: Vec<_> = (0..length).map(|i| Vec3::new(f64::from(i), 0.0, 0.0)).collect();
    let rows = (0..length).map(|i| {
        let mut row = Vec::new();
        row.extend(i.checked_sub(1));
        row.extend((i + 1 < length).then_some(i + 1));
        row
    });
    Ring::around_all(&points, &Csr::from_rows(rows), &Effort::unlimited()).unwrap()
}

#[test]
fn a_climb_ends_at_the_top_or_says_that_its_steps_ran_out() {
    let rings = path(10);
    let g = Vec3::new(1.0, 0.0, 0.0);
    let top = climb(&g, &rings, 2, 100);
    assert_eq!((top.vertex, top.finished, top.runner_up), (9, true, 8.0));
    let cut = climb(&g, &rings, 2, 3);
    assert_eq!((cut.vertex, cut.finished), (5, false));
}

#[test]
fn a_climb_along_a_direction_that_overflows_ends() {
    let rings = path(5);
    let g = Vec3::new(f64::INFINITY, f64::NEG_INFINITY, 0.0);
    assert!(climb(&g, &rings, 1, u32::MAX).finished);
}

#[test]
fn a_point_without_neighbours_has_no_runner_up() {
    let g = Vec3::new(1.0, 0.0, 0.0);
    let top =
        Climb { vertex: 0, value: 0.0, runner_up: f64::NEG_INFINITY, visited: 1, finished: true };
    assert_eq!(look_at_few(&g, &Ring::of_few(&[Vec3::zeros()])).settled(), top);
}

#[test]
fn the_first_of_equal_points_is_the_farthest_and_the_other_is_the_runner_up() {
    let points = [1.0, 3.0, 3.0, 2.0].map(|x| Vec3::new(x, 0.0, 0.0));
    let g = Vec3::new(1.0, 0.0, 0.0);
    assert_eq!(farthest(&g, &points).0, 1);
    let few = look_at_few(&g, &Ring::of_few(&points)).settled();
    assert_eq!((few.vertex, few.value, few.runner_up), (1, 3.0, 3.0));
}

#[test]
fn a_ring_says_whether_others_than_those_named_reach_a_height() {
    let points = [0.0, 1.0, 3.0, 2.0].map(|x| Vec3::new(x, 0.0, 0.0));
    let ring = Ring::of_few(&points);
    let g = Vec3::new(1.0, 0.0, 0.0);
    let reaches = |g: &Vec3, limit: f64, but| reaches(&ring, &[], g, limit, but);
    assert!(reaches(&g, 2.0, &[2; 3]), "vertex 3 does");
    assert!(!reaches(&g, 2.0, &[2, 3, 2]), "both that do are named");
    assert!(!reaches(&g, 3.5, &[0; 3]));
    assert!(reaches(&(g * f64::NAN), 3.5, &[0; 3]), "nothing is known");
}

#[test]
fn all_neighbours_of_a_vertex_are_asked_whether_they_reach_a_height() {
    let g = Vec3::new(0.0, 0.0, 1.0);
    for count in [1u32, 8, 9, 16, 17, 40] {
        for top in 1..=count {
            let height = |i: u32| f64::from(u8::from(i == top));
            let points: Vec<_> = (0..=count).map(|i| Vec3::new(0.0, 0.0, height(i))).collect();
            let rim: Vec<u32> = (1..=count).collect();
            let rows = std::iter::once(rim).chain((0..count).map(|_| vec![0]));
            let rings =
                Ring::around_all(&points, &Csr::from_rows(rows), &Effort::unlimited()).unwrap();
            assert!(reaches(&rings[0], &rings, &g, 0.5, &[0; 3]), "{top} of {count}");
            assert!(!reaches(&rings[0], &rings, &g, 0.5, &[0, top, 0]), "{top} of {count}");
        }
    }
}

/// Along y, turning towards x: a vertex that is lower by a and ahead by b is level after a / b.
#[test]
fn the_first_challenger_is_the_neighbour_that_draws_level_first_in_rings_of_any_length() {
    let (up, aside) = (Vec3::y(), Vec3::x());
    for count in [1u32, 7, 8, 9, 20] {
        let ahead = |i: u32| f64::from(1 + (i * 7) % 23);
        let mut points = vec![Vec3::zeros()];
        points.extend((1..=count).map(|i| Vec3::new(ahead(i), -1.0, 0.0)));
        points.push(Vec3::new(-50.0, -1.0, 0.0));
        let rim: Vec<u32> = (1..=count + 1).collect();
        let rows = std::iter::once(rim).chain((0..=count).map(|_| vec![0]));
        let rings = Ring::around_all(&points, &Csr::from_rows(rows), &Effort::unlimited()).unwrap();
        let most = |except: u32| {
            (1..=count).filter(|i| *i != except).max_by(|a, b| ahead(*a).total_cmp(&ahead(*b)))
        };
        for except in [u32::MAX, most(u32::MAX).unwrap()] {
            let few = Ring::of_few(&points[..points.len().min(LANES)]);
            let of_few = first_challenger_of_few([&up, &aside], &few, &points[0], except);
            let is_few = points.len() <= LANES;
            let found = first_challenger([&up, &aside], &rings, 0, except);
            match most(except) {
                Some(i) => {
                    assert_eq!(found.vertex, i);
                    assert!((found.inverse_time - ahead(i)).abs() < 1e-12);
                    assert!(!is_few || of_few.vertex == i);
                }
                None => assert!(!found.exists() && !of_few.exists()),
            }
        }
    }
}

/// In a body of few vertices the ring of all points holds the vertex itself, which is level with
/// itself at inverse time zero; the number of its lane makes a subnormal number of that. Taken for
/// a challenger it sent casts of boxes past M to infinity.
#[test]
fn a_vertex_that_only_keeps_up_is_no_challenger() {
    let (up, aside) = (Vec3::y(), Vec3::x());
    let points = [-2.0, -1.0, -3.0, 0.0].map(|x| Vec3::new(x, x, 0.0));
    let found =
        first_challenger_of_few([&up, &aside], &Ring::of_few(&points), &points[3], u32::MAX);
    assert!(!found.exists(), "{found:?}");
}

/// The hub of a wheel has more neighbours than a ring has lanes.
#[test]
fn a_vertex_of_any_degree_is_compared_with_all_its_neighbours() {
    let g = Vec3::new(0.0, 0.0, 1.0);
    for count in [1u32, 7, 8, 9, 16, 17, 40] {
        for top in 1..=count {
            let height = |i: u32| if i == top { 2.0 } else { 1.0 / f64::from(i + 1) };
            let points: Vec<_> =
                (0..=count).map(|i| Vec3::new(0.0, 0.0, height(i) - 0.5)).collect();
            let rim: Vec<u32> = (1..=count).collect();
            let rows = std::iter::once(rim).chain((0..count).map(|_| vec![0]));
            let rings =
                Ring::around_all(&points, &Csr::from_rows(rows), &Effort::unlimited()).unwrap();
            let found = climb(&g, &rings, 0, u32::MAX);
            assert_eq!((found.vertex, found.runner_up), (top, 0.5));
            assert_eq!(found.visited, count + 2);
        }
    }
}
