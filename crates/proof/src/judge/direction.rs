//! What a certificate's direction is, in exact numbers.

use super::exact::{Exact, exact_differences, minus, vector_product};
use super::nearest::nearest_point;
use super::refusal::Refusal;
use crate::claim::{Axis, Bodies, Direction};
use crate::number::Sign;
use crate::number::dyadic::Dyadic;

/// The direction as exact numbers; refuses zero and what is not finite, and the forms that need a
/// motion.
pub(super) fn exact_direction(pair: &Bodies<'_>, direction: &Direction) -> Result<Exact, Refusal> {
    exact_direction_of_link(pair, direction, None)
}

/// How Q moves relative to P while a direction is used, where nothing turns.
#[derive(Clone, Copy)]
pub struct LinkSweep<'a> {
    /// The travel of Q relative to P over the step.
    pub travel: &'a Exact,
    /// From when to when the direction is used, as fractions of the step.
    pub during: [f64; 2],
}

impl<'a> LinkSweep<'a> {
    /// Where a direction is used at the start alone.
    pub fn at_start(travel: &'a Exact) -> Self {
        Self { travel, during: [0.0, 0.0] }
    }

    /// Where a difference is at both ends of that time.
    fn ends_of(self, point: &Exact) -> impl Iterator<Item = Exact> {
        self.during.into_iter().map(move |t| {
            let t = Dyadic::from(t);
            std::array::from_fn(|k| &point[k] + &(&self.travel[k] * &t))
        })
    }
}

/// The exact direction of a link of a chain, where Q moves so relative to P (and
/// nothing turns).
pub fn exact_direction_of_link(
    pair: &Bodies<'_>,
    direction: &Direction,
    sweep: Option<LinkSweep<'_>>,
) -> Result<Exact, Refusal> {
    let (vector, negative) = match direction {
        Direction::Vector(v) => {
            if !v.iter().all(|c| c.is_finite()) {
                return Err(Refusal::NoDirection);
            }
            (std::array::from_fn(|k| Dyadic::from(v[k])), false)
        }
        Direction::Normal { pairs, negative } => {
            let d = exact_differences(pair, pairs)?;
            (vector_product(&minus(&d[1], &d[0]), &minus(&d[2], &d[0])), *negative)
        }
        Direction::EdgeNormal { pairs, axis, negative } => {
            let d = exact_differences(pair, pairs)?;
            (vector_product(&minus(&d[1], &d[0]), &unit_vector(*axis)), *negative)
        }
        Direction::Nearest { pairs, negative } => {
            let d = exact_differences(pair, pairs)?;
            let swept = match sweep {
                // Mixing the differences at both ends mixes the times as well.
                Some(sweep) => d.iter().flat_map(|d| sweep.ends_of(d)).collect(),
                None => d,
            };
            (nearest_point(&swept).along, *negative)
        }
        Direction::SweptNormal { pairs, negative } => {
            let d = exact_differences(pair, pairs)?;
            let travel = sweep.ok_or(Refusal::NoDirection)?.travel;
            (vector_product(&minus(&d[1], &d[0]), travel), *negative)
        }
        Direction::SweptAxis { axis, negative } => {
            let travel = sweep.ok_or(Refusal::NoDirection)?.travel;
            (vector_product(travel, &unit_vector(*axis)), *negative)
        }
    };
    if vector.iter().all(|c| c.sign() == Sign::Zero) {
        return Err(Refusal::NoDirection);
    }
    Ok(if negative { vector.map(|c| -&c) } else { vector })
}

fn unit_vector(axis: Axis) -> Exact {
    let one_at = match axis {
        Axis::X => 0,
        Axis::Y => 1,
        Axis::Z => 2,
    };
    std::array::from_fn(|k| Dyadic::from(if k == one_at { 1.0 } else { 0.0 }))
}
