//! How near two bodies come that translate, between two times of a step: the distance of the origin
//! from all that M sweeps, which is the hull of its copies at these times. Exact, since the corners
//! are.

use std::cmp::Ordering;

use arrayvec::ArrayVec;
use dashu_int::IBig;

use super::beyond::towards;
use super::compare::{is_at_most, length_compared};
use super::wolfe::{ExactHull, NearestOrInside, search};
use crate::claim::Direction;
use crate::difference::exact::Difference;
use crate::effort::{Effort, Stopped};
use crate::number::binary::split;
use crate::number::dyadic::Dyadic;
use crate::number::scaled::{Integers, dot, is_zero, sum};
use crate::pair::{Pair, VertexPair};

/// Two bodies that translate.
pub(crate) struct Translating<'a> {
    m: Difference<'a>,
    /// The travel of Q relative to P over the step, in units of two to the exponent.
    travel: Integers,
    exponent: i64,
}

/// A corner of what M sweeps: at the start, or at the end of the sweep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SweptCorner {
    pair: VertexPair,
    is_at_end: bool,
}

/// The nearest that bodies come in a sweep.
pub(crate) struct SweptNearest {
    /// Corners of the sweep whose hull has the point nearest the origin.
    pub(crate) corners: ArrayVec<SweptCorner, 4>,
    /// Whether that is at most what was asked about.
    pub(crate) is_within: bool,
}

impl SweptNearest {
    /// The vertex pairs of the corners, each once.
    pub(crate) fn pairs(&self) -> ArrayVec<VertexPair, 4> {
        let mut pairs = ArrayVec::new();
        for SweptCorner { pair, .. } in &self.corners {
            if !pairs.contains(pair) {
                pairs.push(*pair);
            }
        }
        pairs
    }

    /// The direction of the nearest point, in a link of the time that was swept. The point is not
    /// the origin.
    pub(crate) fn direction(&self) -> Direction {
        towards(&self.pairs())
    }
}

impl<'a> Translating<'a> {
    pub(crate) fn new(pair: &Pair<'a>, travel: Integers, exponent: i64) -> Self {
        Self { m: Difference::new(pair), travel, exponent }
    }

    /// The nearest that the bodies come until `until`, a time of the step, and whether that is at
    /// most `bound`. The search begins with corners of any other sweep.
    pub(crate) fn nearest(
        &self,
        until: f64,
        bound: &Dyadic,
        start: &[SweptCorner],
        effort: &mut Effort<'_>,
    ) -> Result<SweptNearest, Stopped> {
        self.nearest_between([0.0, until], bound, start, effort)
    }

    /// The same from one time of the step to another, which may be the same.
    pub(crate) fn nearest_between(
        &self,
        times: [f64; 2],
        bound: &Dyadic,
        start: &[SweptCorner],
        effort: &mut Effort<'_>,
    ) -> Result<SweptNearest, Stopped> {
        let sweep = SweptHull::new(self, times);
        Ok(match search(&sweep, start, effort)? {
            NearestOrInside::Inside(corners) => SweptNearest { corners, is_within: true },
            NearestOrInside::Nearest(nearest) => {
                let is_within =
                    nearest.is_origin() || is_at_most(nearest.squared(), sweep.exponent, bound);
                SweptNearest { corners: nearest.pairs.into_iter().collect(), is_within }
            }
        })
    }

    /// Whether the bodies come nearer than `bound` until `until`, a time of the step.
    pub(crate) fn comes_nearer(
        &self,
        until: f64,
        bound: &Dyadic,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let sweep = SweptHull::new(self, [0.0, until]);
        Ok(match search(&sweep, &[], effort)? {
            NearestOrInside::Inside(_) => true,
            NearestOrInside::Nearest(nearest) => {
                let compared = length_compared(nearest.squared(), sweep.exponent, bound);
                nearest.is_origin() || compared == Ordering::Less
            }
        })
    }

    /// The points that vertex pairs name at the start, and the travel, as integers on one exponent
    /// that is at most `exponent`.
    pub(crate) fn at_start(
        &self,
        pairs: &[VertexPair],
        exponent: i64,
    ) -> (Vec<Integers>, Integers, i64) {
        let exponent = exponent.min(self.exponent).min(self.m.exponent());
        let points = pairs.iter().map(|pair| risen(self.m.at(*pair), self.m.exponent(), exponent));
        (points.collect(), risen(self.travel.clone(), self.exponent, exponent), exponent)
    }
}

/// A vector in units of two to a lower exponent.
fn risen(vector: Integers, from: i64, to: i64) -> Integers {
    let by = usize::try_from(from - to).expect("the lower of the exponents");
    vector.map(|x| x << by)
}

/// What M sweeps between two times.
struct SweptHull<'s, 'a> {
    m: &'s Difference<'a>,
    /// How far M has come at the first of them, and at the second.
    offsets: [Integers; 2],
    /// Points are integers in units of two to this.
    exponent: i64,
}

impl<'s, 'a> SweptHull<'s, 'a> {
    fn new(of: &'s Translating<'a>, times: [f64; 2]) -> Self {
        let ways = times.map(|time| {
            let (mantissa, power) = split(time);
            let by = of.travel.each_ref().map(|x| x * IBig::from(mantissa));
            (by, of.exponent + i64::from(power))
        });
        let of_ways = ways.iter().filter(|(by, _)| !is_zero(by)).map(|(_, exponent)| *exponent);
        let exponent = of_ways.fold(of.m.exponent(), i64::min);
        let offsets =
            ways.map(|(by, from)| if is_zero(&by) { by } else { risen(by, from, exponent) });
        Self { m: &of.m, offsets, exponent }
    }
}

impl ExactHull for SweptHull<'_, '_> {
    type Name = SweptCorner;

    fn at(&self, corner: SweptCorner) -> Integers {
        let point = risen(self.m.at(corner.pair), self.m.exponent(), self.exponent);
        sum(&point, &self.offsets[usize::from(corner.is_at_end)])
    }

    fn least_from(
        &self,
        direction: &Integers,
        hint: SweptCorner,
        effort: &mut Effort<'_>,
    ) -> SweptCorner {
        let pair = self.m.least_from(direction, hint.pair, effort);
        let [from, to] = self.offsets.each_ref().map(|offset| dot(direction, offset));
        SweptCorner { pair, is_at_end: to < from }
    }
}
