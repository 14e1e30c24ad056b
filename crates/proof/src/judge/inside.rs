//! Whether a point is inside what a closed mesh bounds: by rays, exactly.

use super::exact::{Exact, minus, pay_for_vertex, scalar_product, vector_product};
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::number::interval::{self, IntervalVec};

/// Directions of rays, tried in this order until one meets no edge.
const RAYS: [[i32; 3]; 8] = [
    [97, 13, 29],
    [11, -89, 31],
    [-17, 23, 101],
    [-83, -41, 7],
    [43, 79, -19],
    [3, 37, -73],
    [-59, 61, 67],
    [71, -53, -47],
];

/// Whether a point is strictly inside a closed surface: a ray from it crosses the surface an odd
/// number of times. None if it is on the surface, or every ray meets an edge.
pub(super) fn is_inside(
    point: &Exact,
    corners: &[Exact],
    triangles: &[[u32; 3]],
    effort: &mut Effort<'_>,
) -> Result<Option<bool>, Stopped> {
    is_inside_beside(std::slice::from_ref(point), corners, triangles, effort)
}

/// Answers that question about a point next to the first of some points, beside the way from there
/// to the second one, and beside that towards the third: about `x(ε) = a + ε (b - a) + ε² (c - a)`
/// for every ε > 0 that is small enough.
///
/// Every sign that is asked for is that of a function f of x, affine in x, so it is that of f(a),
/// or where that is 0 of f(b), or where both are 0 of f(c).
pub(super) fn is_inside_beside(
    points: &[Exact],
    corners: &[Exact],
    triangles: &[[u32; 3]],
    effort: &mut Effort<'_>,
) -> Result<Option<bool>, Stopped> {
    let seen = |(v, corner)| {
        let from = |point: &Exact| SeenAlong::from(minus(corner, point));
        pay_for_vertex(v, effort).map(|()| points.iter().map(from).collect())
    };
    let corners: Vec<Vec<SeenAlong>> = (0..).zip(corners).map(seen).collect::<Result<_, _>>()?;
    for ray in &RAYS {
        let is_inside = is_crossed_oddly(ray, &corners, triangles, effort)?;
        if is_inside.is_some() {
            return Ok(is_inside);
        }
    }
    Ok(None)
}

/// Triangles that a ray looks at in one step.
const TRIANGLES_PER_STEP: usize = 1 << 10;

/// A corner seen from the point: exactly, and enclosed in f64 intervals, which nearly always tell a
/// sign.
struct SeenAlong {
    exact: Exact,
    enclosed: IntervalVec,
}

impl From<Exact> for SeenAlong {
    fn from(exact: Exact) -> Self {
        Self { enclosed: exact.each_ref().map(Dyadic::enclosed), exact }
    }
}

/// The sign of `a · (b x c)`.
fn volume([a, b, c]: [&SeenAlong; 3]) -> Sign {
    let enclosed = interval::dot(&a.enclosed, &interval::cross(&b.enclosed, &c.enclosed));
    enclosed
        .sign()
        .unwrap_or_else(|| scalar_product(&a.exact, &vector_product(&b.exact, &c.exact)).sign())
}

/// The first of the signs that is not zero.
fn first_sign(mut signs: impl Iterator<Item = Sign>) -> Sign {
    signs.find(|sign| *sign != Sign::Zero).unwrap_or(Sign::Zero)
}

fn is_crossed_oddly(
    ray: &[i32; 3],
    corners: &[Vec<SeenAlong>],
    triangles: &[[u32; 3]],
    effort: &mut Effort<'_>,
) -> Result<Option<bool>, Stopped> {
    let ray = SeenAlong::from(ray.map(|x| Dyadic::from(f64::from(x))));
    let mut is_odd = false;
    for (at, triangle) in triangles.iter().enumerate() {
        if at % TRIANGLES_PER_STEP == 0 {
            effort.spend_step()?;
        }
        let [a, b, c] = triangle.map(|v| &corners[v as usize]);
        let along_ray = |u: &SeenAlong, v: &SeenAlong| volume([&ray, u, v]);
        let turns = [[a, b], [b, c], [c, a]]
            .map(|[u, v]| first_sign(u.iter().zip(v).map(|(u, v)| along_ray(u, v))));
        let has = |sign: Sign| turns.contains(&sign);
        if has(Sign::Positive) && has(Sign::Negative) {
            continue;
        }
        // SeenAlong along the ray the point is on an edge's line, or in the triangle's plane.
        let ahead = first_sign(a.iter().zip(b).zip(c).map(|((a, b), c)| volume([a, b, c])));
        if has(Sign::Zero) || ahead == Sign::Zero {
            return Ok(None);
        }
        // The plane is met ahead if the determinants agree.
        is_odd ^= ahead == turns[0];
    }
    Ok(Some(is_odd))
}
