//! Families of point sets that are hard on hull builders, under a seed.

use clearance_geometry::Vec3;
use clearance_geometry::hull::samples;
use clearance_geometry::hull::samples::Random;

/// A family: its name and how to draw a set of it, of about so many points at most.
pub(crate) type Family = (&'static str, fn(&mut Random, usize) -> Vec<Vec3>);

/// All of them.
pub(crate) const FAMILIES: &[Family] = &[
    ("small grid", small_grid),
    ("random", random),
    ("flat", flat),
    ("sliver", sliver),
    ("sheared grid", sheared_grid),
    ("lattice sphere", lattice_sphere),
    ("quadric", quadric),
    ("clusters", clusters),
    ("disc and outlier", disc_and_outlier),
    ("near planar", near_planar),
    ("moment curve", moment_curve),
    ("degenerate", degenerate),
    ("box points", box_points),
    ("offset", offset),
    ("turned", turned),
    ("midpoints", midpoints),
    ("quantised", quantised),
    ("extreme range", extreme_range),
];

fn index(random: &mut Random, count: usize) -> usize {
    usize::try_from(random.below(count as u64)).expect("below a usize")
}

/// An integer from `low` to `high`.
fn integer(random: &mut Random, low: i32, high: i32) -> f64 {
    let count = u64::from((high - low + 1).unsigned_abs());
    f64::from(low) + random.below(count) as f64
}

fn size(random: &mut Random, most: usize) -> usize {
    1 + index(random, most)
}

fn many(random: &mut Random, most: usize, mut point: impl FnMut(&mut Random) -> Vec3) -> Vec<Vec3> {
    (0..size(random, most)).map(|_| point(random)).collect()
}

/// `steps` representable numbers up or down; zero becomes a subnormal.
fn ulps(x: f64, steps: i32) -> f64 {
    (0..steps.abs()).fold(x, |x, _| if steps > 0 { x.next_up() } else { x.next_down() })
}

fn blurred(random: &mut Random, p: Vec3, most: i32) -> Vec3 {
    p.map(|x| {
        let steps = integer(random, -most, most) as i32;
        ulps(x, steps)
    })
}

fn in_cube(random: &mut Random) -> Vec3 {
    Vec3::from_fn(|_, _| random.between(-1.0, 1.0))
}

fn small_grid(random: &mut Random, most: usize) -> Vec<Vec3> {
    let sides = Vec3::from_fn(|_, _| integer(random, 0, 3));
    many(random, most, |r| sides.map(|side| integer(r, 0, side as i32)))
}

fn random(random: &mut Random, most: usize) -> Vec<Vec3> {
    match random.below(3) {
        0 => many(random, most, in_cube),
        1 => many(random, most, Random::in_ball),
        _ => many(random, most, Random::direction),
    }
}

/// Exactly in a plane, with coordinates that are not small integers.
fn flat(random: &mut Random, most: usize) -> Vec<Vec3> {
    let [a, b, o] = [(); 3].map(|()| Vec3::from_fn(|_, _| integer(random, -9, 9)));
    let unit = [1.0, 0.125, 1e-3, 1e150][index(random, 4)];
    many(random, most, |r| (o + a * integer(r, -5, 5) + b * integer(r, -5, 5)) * unit)
}

fn sliver(random: &mut Random, most: usize) -> Vec<Vec3> {
    let thin = [0.5e-3, 1e-6, 1e-9, 1e-15, 1e-17][index(random, 5)];
    let size = if random.below(2) == 0 { 1.0 } else { 2000.0 };
    let axis = index(random, 3);
    many(random, most, |r| {
        let mut p = in_cube(r) * size;
        p[axis] *= thin;
        p
    })
}

fn sheared_grid(random: &mut Random, most: usize) -> Vec<Vec3> {
    let unit = [1.0, 0.1, 1.0 / 3.0, 1e-3][index(random, 4)];
    let side = if most < 100 { 4 } else { 9 };
    let shear = [0.0, 1.0, 0.3][index(random, 3)];
    many(random, most, |r| {
        let p = Vec3::from_fn(|_, _| integer(r, 0, side));
        Vec3::new(p.x + shear * p.y, p.y + shear * p.z, p.z) * unit
    })
}

fn lattice_sphere(random: &mut Random, most: usize) -> Vec<Vec3> {
    let norms_squared: &[i32] =
        if most < 100 { &[3, 6, 9, 14, 17, 26, 29] } else { &[50, 101, 146] };
    let norm_squared = norms_squared[index(random, norms_squared.len())];
    let unit = [1.0, 0.1, 1.0 / 3.0][index(random, 3)];
    let shift = if random.below(2) == 0 { 0.0 } else { 1e3 };
    let mut points = Vec::new();
    let range = -13..=13_i32;
    for x in range.clone() {
        for y in range.clone() {
            for z in range.clone() {
                if x * x + y * y + z * z == norm_squared {
                    let p = Vec3::new(f64::from(x), f64::from(y), f64::from(z));
                    points.push((p * unit).add_scalar(shift));
                }
            }
        }
    }
    points
}

fn quadric(random: &mut Random, most: usize) -> Vec<Vec3> {
    let sides = 3 + u32::try_from(index(random, most / 3)).expect("small");
    let mut points = match random.below(4) {
        0 => samples::prism(sides, 1.0, 2.0),
        1 => samples::cone(sides, 1.0, 0.3),
        2 => (0..49)
            .map(|k| (f64::from(k % 7) - 3.0, f64::from(k / 7) - 3.0))
            .map(|(x, y)| Vec3::new(x, y, x * x + y * y))
            .collect(),
        _ => samples::sphere(4 * sides, 1.0),
    };
    let squeeze = [1.0, 1e-6, 1e-13][index(random, 3)];
    points.iter_mut().for_each(|p| p.z *= squeeze);
    points
}

fn clusters(random: &mut Random, most: usize) -> Vec<Vec3> {
    let count = 1 + index(random, 12);
    let mut centres: Vec<Vec3> = (0..count).map(|_| in_cube(random)).collect();
    if random.below(3) == 0 {
        centres[0] = Vec3::zeros();
    }
    let blur = 1 + i32::try_from(random.below(3)).expect("small");
    many(random, most, |r| {
        let centre = centres[index(r, count)];
        blurred(r, centre, blur)
    })
}

fn disc_and_outlier(random: &mut Random, most: usize) -> Vec<Vec3> {
    let sides = 3 + u32::try_from(index(random, most)).expect("small");
    let mut points = samples::flat_polygon(sides, 1.0);
    let height = integer(random, -4, 4);
    points.iter_mut().for_each(|p| p.z = height);
    points.extend(
        (0..random.below(9))
            .map(|_| Vec3::new(random.between(-0.6, 0.6), random.between(-0.6, 0.6), height)),
    );
    let mut outlier = points[index(random, points.len())];
    match random.below(4) {
        0 => outlier.z = ulps(outlier.z, 1),
        1 => outlier.z += 1e-9,
        2 => outlier.x = ulps(outlier.x, 2),
        _ => return points,
    }
    points.push(outlier);
    points
}

fn near_planar(random: &mut Random, most: usize) -> Vec<Vec3> {
    let [a, b, o] = [(); 3].map(|()| in_cube(random));
    let blur = i32::try_from(random.below(3)).expect("small");
    let lined = random.below(3) == 0;
    many(random, most, |r| {
        let along = b * if lined { 0.0 } else { r.between(-1.0, 1.0) };
        let p = o + a * r.between(-1.0, 1.0) + along;
        blurred(r, p, blur)
    })
}

fn moment_curve(random: &mut Random, most: usize) -> Vec<Vec3> {
    let count = size(random, most);
    let single = random.below(2) == 0;
    (0..count)
        .map(|k| {
            let t = k as f64 / count as f64 - 0.25;
            let p = Vec3::new(t, t * t, t * t * t);
            if single { p.map(|x| f64::from(x as f32)) } else { p }
        })
        .collect()
}

fn degenerate(random: &mut Random, most: usize) -> Vec<Vec3> {
    let [a, o] = [(); 2].map(|()| Vec3::from_fn(|_, _| integer(random, -2, 2)));
    let zero = |r: &mut Random, x: f64| if x == 0.0 && r.below(2) == 0 { -0.0 } else { x };
    let points = match random.below(3) {
        0 => many(random, most, |_| o),
        1 => many(random, most, |r| o + a * integer(r, -6, 6)),
        _ => {
            many(random, most, |r| Vec3::new(integer(r, 0, 1), integer(r, 0, 1), integer(r, -1, 0)))
        }
    };
    points.into_iter().map(|p| p.map(|x| zero(random, x))).collect()
}

fn box_points(random: &mut Random, most: usize) -> Vec<Vec3> {
    let scales = [[1.0, 1.0, 1.0], [2000.0, 2000.0, 0.5], [1.0, 1.0, 1e-6], [1e8, 1.0, 1e-8]];
    let scale = Vec3::from(scales[index(random, 4)]);
    let mut points = samples::cuboid(scale.x, scale.y, scale.z);
    for _ in 0..index(random, most) {
        let mut p = in_cube(random).component_mul(&scale) / 2.0;
        for _ in 0..=random.below(2) {
            let axis = index(random, 3);
            p[axis] = scale[axis] / 2.0 * if random.below(2) == 0 { 1.0 } else { -1.0 };
        }
        let blur = i32::from(random.below(4) == 0);
        points.push(blurred(random, p, blur));
    }
    points
}

fn offset(random: &mut Random, most: usize) -> Vec<Vec3> {
    let far = [1e3, 1e6, 1e9, 1e12][index(random, 4)];
    let centre = random.direction() * far;
    many(random, most, |r| centre + r.in_ball())
}

/// Any of the sets before, turned in f64: what was flat is flat to rounding only.
fn turned(random: &mut Random, most: usize) -> Vec<Vec3> {
    let points = FAMILIES[index(random, 14)].1(random, most);
    let [x, y] = [(); 2].map(|()| random.direction());
    let z = x.cross(&y).normalize();
    let y = z.cross(&x);
    points.into_iter().map(|p| x * p.x + y * p.y + z * p.z).collect()
}

/// Points with rounded points of their segments and triangles.
fn midpoints(random: &mut Random, most: usize) -> Vec<Vec3> {
    let mut points = many(random, most, Random::direction);
    let given = points.len();
    for _ in 0..index(random, most) {
        let [a, b, c] = [(); 3].map(|()| points[index(random, given)]);
        points.push(if random.below(2) == 0 { (a + b) / 2.0 } else { (a + b + c) / 3.0 });
    }
    points
}

fn quantised(random: &mut Random, most: usize) -> Vec<Vec3> {
    let step = [0.25, 0.1, 1e-3][index(random, 3)];
    many(random, most, |r| r.direction().map(|x| (x / step).round() * step))
}

/// Exponents from the subnormal numbers to the largest that are accepted.
fn extreme_range(random: &mut Random, most: usize) -> Vec<Vec3> {
    let power = |exponent: f64| exponent.exp2();
    match random.below(4) {
        0 => {
            let unit = power(-1074.0);
            many(random, most, |r| Vec3::from_fn(|_, _| integer(r, -9, 9)) * unit)
        }
        1 => many(random, most, |r| in_cube(r) * power(959.0)),
        2 => {
            let unit = power(integer(random, -1070, 955));
            many(random, most, |r| Vec3::from_fn(|_, _| integer(r, -3, 3)) * unit)
        }
        _ => many(random, most, |r| {
            Vec3::from_fn(|_, _| r.between(-1.0, 1.0) * power(integer(r, -1060, 950)))
        }),
    }
}
