//! Every stage against the determinant in exact dyadic numbers, on points that are hard for it.

use super::*;
use crate::number::dyadic::Dyadic;
use clearance_geometry::hull::samples::Random;

fn difference(a: &Vec3, b: &Vec3) -> [Dyadic; 3] {
    std::array::from_fn(|k| &Dyadic::from(b[k]) - &Dyadic::from(a[k]))
}

fn minor(e: &[Dyadic; 3], f: &[Dyadic; 3], (i, j): (usize, usize)) -> Dyadic {
    &(&e[i] * &f[j]) - &(&e[j] * &f[i])
}

fn true_side([a, b, c, p]: &[Vec3; 4]) -> Side {
    let (e, f, d) = (difference(a, b), difference(a, c), difference(a, p));
    let sum = Axis::ALL.iter().fold(Dyadic::zero(), |sum, axis| {
        &sum + &(&minor(&e, &f, axis.others()) * &d[axis.index()])
    });
    Side::from_sign(sum.sign())
}

fn true_turn(axis: Axis, [a, b, c, _]: &[Vec3; 4]) -> Turn {
    Turn::from_sign(minor(&difference(a, b), &difference(a, c), axis.others()).sign())
}

/// Four points: random, on a small grid, coplanar or nearly so, at any scale.
fn draw(random: &mut Random) -> [Vec3; 4] {
    let unit = match random.below(4) {
        0 => 1.0,
        1 => f64::from_bits(1),
        2 => 2f64.powi(950),
        _ => 10f64.powf(random.between(-320.0, 280.0)),
    };
    let grid = random.below(3);
    let mut coordinate = |side: f64| {
        let x = random.between(-side, side);
        let x = match grid {
            0 => x.round(),
            1 => x.round() * 0.1,
            _ => x,
        };
        x * unit
    };
    let mut points: [Vec3; 4] = std::array::from_fn(|_| {
        Vec3::from_fn(|_, _| coordinate(if grid == 2 { 1.0 } else { 4.0 }))
    });
    match random.below(4) {
        0 => points[3] = (points[0] + points[1] + points[2]) / 3.0,
        1 => points[2] = points[0] + (points[1] - points[0]) * 0.75,
        2 => {
            let (from, to) = (random.below(4), random.below(4));
            points[usize::try_from(to).unwrap()] = points[usize::try_from(from).unwrap()];
        }
        _ => {}
    }
    if random.below(3) == 0 {
        // One coordinate of quite another magnitude.
        let at = usize::try_from(random.below(12)).unwrap();
        points[at / 3][at % 3] *= 10f64.powf(random.between(-300.0, 0.0));
    }
    points
}

#[test]
fn predicates_have_the_exact_sign_at_every_scale() {
    let mut random = Random::new(3);
    let mut seen = [[0; 3]; 2];
    for round in 0..6000 {
        let points = draw(&mut random);
        let [a, b, c, p] = &points;
        let side = true_side(&points);
        assert_eq!(side_of_plane(a, b, c, p), side, "round {round}: {points:?}");
        assert_eq!(exact_side_of_plane(a, b, c, p), side, "round {round}: {points:?}");
        if let Some(filtered) = Plane::through(a, b, c).side(p) {
            assert_eq!(filtered, side, "round {round}: {points:?}");
        }
        seen[0][side as usize] += 1;
        let turns = Axis::ALL.map(|axis| true_turn(axis, &points));
        assert_eq!(Axis::ALL.map(|axis| turn(axis, a, b, c)), turns, "{points:?}");
        seen[1][turns[2] as usize] += 1;
        let collinear = turns == [Turn::Straight; 3];
        assert_eq!(are_collinear(a, b, c), collinear, "{points:?}");
        assert!(projection_axis(a, b, c).is_none_or(|k| turns[k.index()] != Turn::Straight));
    }
    assert!(seen.as_flattened().iter().all(|&count| count > 500), "{seen:?}");
}

#[test]
fn fixed_point_and_big_integers_agree_wherever_both_apply() {
    let mut random = Random::new(4);
    let mut fits = 0;
    for round in 0..6000 {
        let points = draw(&mut random);
        let axes: [[f64; 4]; 3] = std::array::from_fn(|k| points.map(|p| p[k]));
        let big = big_determinant(&axes.map(big_differences));
        if let [Some(x), Some(y), Some(z)] = axes.map(fixed_differences) {
            assert_eq!(fixed_determinant(&[x, y, z]), big, "round {round}: {points:?}");
            fits += 1;
        }
    }
    assert!(fits > 1000, "{fits}");
}

#[test]
fn the_widest_fixed_point_numbers_do_not_overflow() {
    let widest = (1_i64 << (FIXED_BITS + 1)) - 1;
    let signs = [widest, -widest];
    // Every combination of signs of the nine entries.
    for pattern in 0..512_usize {
        let entry = |k: usize| signs[pattern >> k & 1];
        let axes: [[i64; 3]; 3] =
            std::array::from_fn(|i| std::array::from_fn(|j| entry(3 * i + j)));
        let big = axes.map(|axis| axis.map(IBig::from));
        assert_eq!(fixed_determinant(&axes), big_determinant(&big), "{pattern}");
    }
}
