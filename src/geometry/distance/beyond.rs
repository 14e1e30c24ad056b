//! A direction that shows a pair to be farther apart than a margin, in a form that certificates
//! have.

use dashu_int::IBig;
use dashu_int::ops::UnsignedAbs;

use super::compare::is_at_most;
use super::wolfe::{self, Nearest};
use crate::geometry::claim::{Axis, Direction};
use crate::geometry::difference::exact::Difference;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::number::Sign;
use crate::geometry::number::scaled::{
    Integers, cross, difference, dot, integer_at, is_zero, least_exponent, negated,
    rounded_direction, sign, unit,
};
use crate::geometry::pair::Pair;

/// How many roundings of the nearest point's direction to try.
const ROUNDINGS: i32 = 32;

/// A direction along which the gap is wider than `margin`, exactly, of a pair that is farther
/// apart.
///
/// `None` if it is not, or if no direction found shows it: one towards an edge is not exactly any
/// that a certificate names, and the rounding may tilt the edge by more than there is beyond the
/// margin.
pub(in crate::geometry) fn direction_beyond(
    pair: &Pair<'_>,
    margin: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<Direction>, Stopped> {
    effort.cost.exact_stages += 1;
    let m = Difference::new(pair);
    let nearest = wolfe::nearest(&m, &[], effort)?;
    let Some(nearest) = nearest.filter(|nearest| !nearest.is_origin()) else { return Ok(None) };
    if is_at_most(nearest.squared(), &m, margin) {
        return Ok(None);
    }
    let mut shows = |s: &Integers| {
        let least = dot(s, &m.at(m.least_from(s, nearest.pairs[0], effort)));
        let (height, size) = (least.clone().unsigned_abs(), dot(s, s).unsigned_abs());
        sign(&least) == Sign::Positive && !is_at_most((&height * &height, size), &m, margin)
    };
    // Every multiple is rounded another way.
    for multiple in ROUNDINGS..2 * ROUNDINGS {
        let vector =
            rounded_direction(&nearest.direction.clone().map(|c| c * IBig::from(multiple)));
        let exponent = least_exponent(vector.iter()).expect("not the zero vector");
        if shows(&std::array::from_fn(|k| integer_at(vector[k], exponent))) {
            return Ok(Some(Direction::Vector(vector)));
        }
    }
    Ok(normals(&m, &nearest).into_iter().find_map(|(s, named)| shows(&s).then_some(named)))
}

/// The normals that the nearest face or edge names, on the side of the nearest point.
fn normals(m: &Difference<'_>, nearest: &Nearest) -> Vec<(Integers, Direction)> {
    let points: Vec<Integers> = nearest.pairs.iter().map(|pair| m.at(*pair)).collect();
    let towards = |normal: Integers| {
        let negative = sign(&dot(&normal, &points[0])) == Sign::Negative;
        (if negative { negated(&normal) } else { normal }, negative)
    };
    let mut found = Vec::new();
    match nearest.pairs[..] {
        [a, b, c] => {
            let [along, across] = [1, 2].map(|k| difference(&points[k], &points[0]));
            let (s, negative) = towards(cross(&along, &across));
            found.push((s, Direction::Normal { pairs: [a, b, c], negative }));
        }
        [a, b] => {
            let along = difference(&points[1], &points[0]);
            for (k, axis) in [Axis::X, Axis::Y, Axis::Z].into_iter().enumerate() {
                let (s, negative) = towards(cross(&along, &unit(k)));
                found.push((s, Direction::EdgeNormal { pairs: [a, b], axis, negative }));
            }
        }
        _ => {}
    }
    found.retain(|(s, _)| !is_zero(s));
    found
}
