//! The moving pair with its places at the last few times, and the gap along a heading at any time:
//! in plain floating point where that settles the matter, otherwise as an interval.

use super::heading::{Heading, MeasuredHeading, MovingGap, Need};
use super::pair::MovingPair;
use super::posed::PosedPair;
use crate::geometry::effort::Effort;
use crate::geometry::motion::Motion;
use crate::geometry::number::scale::PowerOfTwo;
use crate::geometry::pair::Placed;
use crate::geometry::processor;

/// A plain gap whose surplus is this many times the width of its bound is taken as it is. Below
/// that the gap is enclosed by intervals, which are several times tighter.
const SETTLED: f64 = 8.0;

/// How many times' places are kept. A step is aimed from one time by way of another to a third.
const TIMES_KEPT: usize = 3;

/// The pair in motion, and where it is at the times that were asked about last.
#[derive(Debug)]
pub(in super::super) struct Moving<'a> {
    pub(in super::super) pair: MovingPair<'a>,
    /// The places, in turn.
    posed: [Option<PosedPair>; TIMES_KEPT],
    /// The index of the places that were asked for last.
    latest: usize,
}

/// A gap that is asked for: along a heading, at a time, and what it has to exceed.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct GapSought<'h> {
    pub(in super::super) heading: &'h Heading,
    pub(in super::super) need: Need,
    pub(in super::super) t: f64,
}

impl<'a> Moving<'a> {
    #[inline]
    pub(in super::super) fn new(
        p: (&Placed<'a>, &Motion),
        q: (&Placed<'a>, &Motion),
        scale: Option<PowerOfTwo>,
    ) -> Self {
        Self { pair: MovingPair::new(p, q, scale), posed: [None; TIMES_KEPT], latest: 0 }
    }

    /// The pair, and where it is at time t.
    #[inline(always)]
    pub(in super::super) fn posed(&mut self, t: f64) -> (&MovingPair<'a>, &PosedPair) {
        let is_at_t = |posed: &PosedPair| posed.t().to_bits() == t.to_bits();
        let known = |place: &usize| self.posed[*place].as_ref().is_some_and(is_at_t);
        let before = (self.latest + TIMES_KEPT - 1) % TIMES_KEPT;
        let after = (self.latest + 1) % TIMES_KEPT;
        match [self.latest, before, after].into_iter().find(known) {
            Some(place) => self.latest = place,
            None => {
                self.latest = after;
                self.posed[self.latest] = Some(PosedPair::new(&self.pair, t));
            }
        }
        let posed = self.posed[self.latest].as_ref();
        (&self.pair, posed.expect("just made, if it was not there"))
    }

    /// The heading with the gap along it at time t; `clear` is how far the bodies have to stay
    /// apart, metres.
    pub(in super::super) fn measured(
        &mut self,
        heading: Heading,
        clear: f64,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> MeasuredHeading {
        let gap = self.gap(&heading, Need::along(&heading, clear), t, effort);
        MeasuredHeading { heading, gap }
    }

    /// The gap along `heading` at time t: in plain floating point where that settles whether `need`
    /// is met, and otherwise enclosed as tightly as f64 numbers can.
    pub(in super::super) fn gap(
        &mut self,
        heading: &Heading,
        need: Need,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> MovingGap {
        let plain = processor::dispatch(
            #[inline(always)]
            || {
                let (pair, posed) = self.posed(t);
                posed.gap(pair, heading, effort)
            },
        );
        let Some(plain) = plain else {
            return self.pair.enclosed_gap(heading, t, 0.0, effort);
        };
        self.settled(&GapSought { heading, need, t }, plain, effort)
    }

    /// The plain gap where it settles whether the need is met, otherwise the gap enclosed.
    #[inline]
    pub(in super::super) fn settled(
        &self,
        sought: &GapSought<'_>,
        plain: MovingGap,
        effort: &mut Effort<'_>,
    ) -> MovingGap {
        let GapSought { heading, need, t } = *sought;
        let width = plain.value.high() - plain.value.low();
        let is_settled =
            need.surplus(&plain) > SETTLED * width || plain.value.high() < need.clear - width;
        if is_settled {
            return plain;
        }
        self.pair.enclosed_gap(heading, t, plain.rate, effort)
    }
}
