//! An exact check, with none of the code that makes pieces, that triangles are covered by convex
//! bodies: whatever is outside of a side of one has to be in the others. In integers: points have
//! four coordinates, of which the last is positive and divides the others.

use dashu_int::IBig;

use crate::Vec3;
use crate::number::binary::split;
use crate::polytope::Polytope;

type Numbers = [IBig; 4];

/// The points of a body are where all of these are no more than zero.
type Sides = Vec<Numbers>;

/// Whether every triangle is in the union of the bodies.
pub(super) fn uncovered(triangles: &[[Vec3; 3]], bodies: &[Polytope]) -> Vec<usize> {
    let points = triangles.iter().flatten().chain(bodies.iter().flat_map(|b| b.vertices()));
    let exponents = points.flat_map(|p| p.iter().map(|x| split(*x)).collect::<Vec<_>>());
    let least = exponents.filter(|part| part.0 != 0).map(|part| part.1).min().unwrap_or(0);
    let sides: Vec<Sides> = bodies.iter().map(|body| sides_of(body, least)).collect();
    let is_covered = |triangle: &[Vec3; 3]| {
        let polygon = triangle.map(|p| homogeneous(&integers(&p, least)));
        holds_all(polygon.to_vec(), &sides)
    };
    (0..triangles.len()).filter(|at| !is_covered(&triangles[*at])).collect()
}

fn integers(p: &Vec3, least: i32) -> [IBig; 3] {
    [0, 1, 2].map(|k| {
        let (mantissa, exponent) = split(p[k]);
        if mantissa == 0 { IBig::ZERO } else { IBig::from(mantissa) << (exponent - least) as usize }
    })
}

fn homogeneous([x, y, z]: &[IBig; 3]) -> Numbers {
    [x.clone(), y.clone(), z.clone(), IBig::ONE]
}

fn minus(a: &[IBig; 3], b: &[IBig; 3]) -> [IBig; 3] {
    [0, 1, 2].map(|k| &a[k] - &b[k])
}

fn cross(a: &[IBig; 3], b: &[IBig; 3]) -> [IBig; 3] {
    [0, 1, 2].map(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        &a[i] * &b[j] - &a[j] * &b[i]
    })
}

fn dot(a: &[IBig; 3], b: &[IBig; 3]) -> IBig {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

/// Through a point, with its outside where the normal points.
fn side(normal: &[IBig; 3], through: &[IBig; 3]) -> Numbers {
    let [x, y, z] = normal.clone();
    [x, y, z, -dot(normal, through)]
}

fn negated(a: &[IBig; 3]) -> [IBig; 3] {
    [0, 1, 2].map(|k| -&a[k])
}

fn sides_of(body: &Polytope, least: i32) -> Sides {
    let at = |i: u32| integers(body.vertex(i), least);
    let mut sides = Sides::new();
    let flat = |normal: &[IBig; 3], through: &[IBig; 3], sides: &mut Sides| {
        sides.extend([side(normal, through), side(&negated(normal), through)]);
    };
    match body.dimension() {
        3 => {
            for row in body.facets().rows() {
                let [a, b, c] = [0, 1, 2].map(|k| at(row[k]));
                sides.push(side(&cross(&minus(&b, &a), &minus(&c, &a)), &a));
            }
        }
        2 => {
            let row = body.facets().row(0);
            let [a, b, c] = [0, 1, 2].map(|k| at(row[k]));
            let normal = cross(&minus(&b, &a), &minus(&c, &a));
            flat(&normal, &a, &mut sides);
            for k in 0..row.len() {
                let [from, to] = [row[k], row[(k + 1) % row.len()]].map(at);
                sides.push(side(&cross(&minus(&to, &from), &normal), &from));
            }
        }
        1 => {
            let [from, to] = [0, 1].map(at);
            let way = minus(&to, &from);
            sides.extend([side(&way, &to), side(&negated(&way), &from)]);
            for k in 0..3 {
                let axis = [0, 1, 2].map(|l| if k == l { IBig::ONE } else { IBig::ZERO });
                flat(&cross(&way, &axis), &from, &mut sides);
            }
        }
        _ => {
            for k in 0..3 {
                let axis = [0, 1, 2].map(|l| if k == l { IBig::ONE } else { IBig::ZERO });
                flat(&axis, &at(0), &mut sides);
            }
        }
    }
    sides
}

fn height(p: &Numbers, side: &Numbers) -> IBig {
    (0..4).map(|k| &p[k] * &side[k]).sum()
}

fn holds_all(mut polygon: Vec<Numbers>, bodies: &[Sides]) -> bool {
    let Some((first, rest)) = bodies.split_first() else { return false };
    for side in first {
        let heights: Vec<IBig> = polygon.iter().map(|p| height(p, side)).collect();
        if heights.iter().all(|h| *h <= IBig::ZERO) {
            continue;
        }
        let (outside, inside) = halves(&polygon, &heights);
        if !holds_all(outside, rest) {
            return false;
        }
        if heights.iter().all(|h| *h > IBig::ZERO) {
            return true;
        }
        polygon = inside;
    }
    true
}

/// What of a convex polygon, or a segment, is outside and what is not.
fn halves(polygon: &[Numbers], heights: &[IBig]) -> (Vec<Numbers>, Vec<Numbers>) {
    let (mut outside, mut inside) = (Vec::new(), Vec::new());
    for (k, p) in polygon.iter().enumerate() {
        let l = (k + 1) % polygon.len();
        let (q, h, i) = (&polygon[l], &heights[k], &heights[l]);
        if *h >= IBig::ZERO {
            outside.push(p.clone());
        }
        if *h <= IBig::ZERO {
            inside.push(p.clone());
        }
        let is_crossed =
            (*h > IBig::ZERO && *i < IBig::ZERO) || (*h < IBig::ZERO && *i > IBig::ZERO);
        if is_crossed {
            let sign = if *h > IBig::ZERO { 1 } else { -1 };
            let crossing: Numbers = std::array::from_fn(|c| (&q[c] * h - &p[c] * i) * sign);
            outside.push(crossing.clone());
            inside.push(crossing);
        }
    }
    (outside, inside)
}
