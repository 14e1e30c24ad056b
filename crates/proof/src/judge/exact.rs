//! Exact points and differences of the world, and what a judge asks of them: all from scratch,
//! looking at every vertex.

use std::cmp::Ordering;

use super::refusal::Refusal;
use crate::claim::{Bodies, Points};
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::vertex_pair::VertexPair;

/// Vertices that are looked at in exact arithmetic for each step, after the first so many.
const VERTICES_PER_STEP: u32 = 1 << 10;

/// Pays for the look at vertex `v` of a body, which comes after those before.
pub(super) fn pay_for_vertex(v: u32, effort: &mut Effort<'_>) -> Result<(), Stopped> {
    if v % VERTICES_PER_STEP == VERTICES_PER_STEP - 1 { effort.spend_step() } else { Ok(()) }
}

/// Whether a direction shows that the bodies are farther apart than a margin.
pub(super) fn shows_farther(
    pair: &Bodies<'_>,
    s: &Exact,
    margin: &Dyadic,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    Ok(gap_compared(pair, s, margin, effort)? == Ordering::Greater)
}

/// How the gap between the bodies along a direction, by its length, compares with a length that is
/// not negative. Along no direction there is no gap.
pub(super) fn gap_compared(
    pair: &Bodies<'_>,
    s: &Exact,
    length: &Dyadic,
    effort: &mut Effort<'_>,
) -> Result<Ordering, Stopped> {
    let gap = gap_along(pair, s, effort)?;
    Ok(match gap.sign() {
        Sign::Negative => Ordering::Less,
        Sign::Zero => gap.cmp(length),
        Sign::Positive => (&gap * &gap).cmp(&(&(length * length) * &scalar_product(s, s))),
    })
}

/// An exact point or vector of the world.
pub(super) type Exact = [Dyadic; 3];

/// `R v + t` of vertex `v`, exactly.
pub(super) fn exact_point(placed: &Points<'_>, v: u32) -> Exact {
    let vertex = &placed.points[v as usize];
    std::array::from_fn(|row| {
        let mut coordinate = Dyadic::from(placed.pose.translation[row]);
        for column in 0..3 {
            let entry = Dyadic::from(placed.pose.rotation[(row, column)]);
            coordinate = &coordinate + &(&entry * &Dyadic::from(vertex[column]));
        }
        coordinate
    })
}

/// `q_j - p_i` of each pair, exactly; refuses indices out of range.
pub(super) fn exact_differences(
    pair: &Bodies<'_>,
    pairs: &[VertexPair],
) -> Result<Vec<Exact>, Refusal> {
    pairs
        .iter()
        .enumerate()
        .map(|(at, &VertexPair { i, j })| {
            if (i as usize) < pair.p.points.len() && (j as usize) < pair.q.points.len() {
                Ok(minus(&exact_point(&pair.q, j), &exact_point(&pair.p, i)))
            } else {
                Err(Refusal::NoSuchVertex(at))
            }
        })
        .collect()
}

/// `min over Q of s·y - max over P of s·x`, over all vertices.
pub fn gap_along(pair: &Bodies<'_>, s: &Exact, effort: &mut Effort<'_>) -> Result<Dyadic, Stopped> {
    let back = s.each_ref().map(|c| -c);
    let of_p = greatest_along(&pair.p, s, effort)?;
    Ok(-&(&greatest_along(&pair.q, &back, effort)? + &of_p))
}

/// `max over a body of s·x`, over all vertices.
pub(super) fn greatest_along(
    placed: &Points<'_>,
    s: &Exact,
    effort: &mut Effort<'_>,
) -> Result<Dyadic, Stopped> {
    let height = |v| scalar_product(s, &exact_point(placed, v));
    let mut greatest = height(0);
    for v in (0..).take(placed.points.len()).skip(1) {
        pay_for_vertex(v, effort)?;
        greatest = greatest.max(height(v));
    }
    Ok(greatest)
}

/// Whether the origin is in the closed hull: in a simplex of at most three of the points
/// (Carathéodory; four are never needed for a point of the boundary).
pub(super) fn holds_origin(points: &[Exact]) -> bool {
    let n = points.len();
    (0..n).any(|a| is_zero(&points[a]))
        || (0..n).any(|b| (0..b).any(|a| holds_between(&points[a], &points[b])))
        || (0..n).any(|c| {
            (0..c).any(|b| (0..b).any(|a| holds_in_triangle(&points[a], &points[b], &points[c])))
        })
}

/// The origin strictly between two points.
fn holds_between(a: &Exact, b: &Exact) -> bool {
    is_zero(&vector_product(a, b)) && scalar_product(a, b).sign() == Sign::Negative
}

/// The origin strictly inside a triangle: seen from there each side turns the same way.
fn holds_in_triangle(a: &Exact, b: &Exact, c: &Exact) -> bool {
    let (ab, bc, ca) = (vector_product(a, b), vector_product(b, c), vector_product(c, a));
    let agree = |x: &Exact, y: &Exact| scalar_product(x, y).sign() == Sign::Positive;
    scalar_product(&ab, c).sign() == Sign::Zero
        && agree(&ab, &bc)
        && agree(&bc, &ca)
        && agree(&ca, &ab)
}

/// Whether the origin is interior to the hull: no closed half-space through it holds all points.
/// If one did, and the points span the space, its normal could be turned until it is normal to two
/// independent points; so only those normals are tried, each on both sides at once.
pub(super) fn holds_origin_strictly(points: &[Exact]) -> bool {
    let mut tried = false;
    for (at, a) in points.iter().enumerate() {
        for b in &points[..at] {
            let normal = vector_product(a, b);
            if is_zero(&normal) {
                continue;
            }
            tried = true;
            let meets =
                |side: Sign| points.iter().any(|p| scalar_product(&normal, p).sign() == side);
            if !(meets(Sign::Positive) && meets(Sign::Negative)) {
                return false;
            }
        }
    }
    tried
}

/// Whether every coordinate is zero.
pub(super) fn is_zero(a: &Exact) -> bool {
    a.iter().all(|c| c.sign() == Sign::Zero)
}

/// `a - b`
pub(super) fn minus(a: &Exact, b: &Exact) -> Exact {
    std::array::from_fn(|k| &a[k] - &b[k])
}

/// `a · b`
pub fn scalar_product(a: &Exact, b: &Exact) -> Dyadic {
    &(&(&a[0] * &b[0]) + &(&a[1] * &b[1])) + &(&a[2] * &b[2])
}

/// `a x b`
pub(super) fn vector_product(a: &Exact, b: &Exact) -> Exact {
    std::array::from_fn(|k| {
        let (l, m) = ((k + 1) % 3, (k + 2) % 3);
        &(&a[l] * &b[m]) - &(&a[m] * &b[l])
    })
}
