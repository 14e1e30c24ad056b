//! What a search asks about the moving pair at any time: a heading with its bend and its need, the
//! gap along it and by how much that exceeds the need, and planes through corners. Places are kept
//! for the last few times, in plain floating point ([`super::posed`]). Where plain numbers do not
//! settle the matter, the gap is enclosed by intervals.

use super::pair::{Heading, MovingGap, MovingPair};
use super::posed::PosedPair;
use super::supports::{MovingCorner, NearSupport};
use crate::claim::Frame;
use crate::effort::Effort;
use crate::number::rounding::UNIT;
use crate::number::scale::PowerOfTwo;
use crate::number::trig::RoundedTrig;
use crate::pair::Question;
use crate::pair::VertexPair;
use crate::{Vec3, processor};

/// A gap along a heading at a time that was compared with what the heading needs.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct MeasuredGap {
    pub(in super::super) gap: MovingGap,
    /// By how much the gap surely exceeds the heading's need.
    pub(in super::super) surplus: f64,
}

/// A heading with the gap along it at a time.
#[derive(Clone, Debug)]
pub(in super::super) struct MeasuredHeading {
    pub(in super::super) heading: Heading,
    pub(in super::super) now: MeasuredGap,
}

impl MeasuredHeading {
    /// By how much the gap surely exceeds the need, per unit of the heading's length.
    pub(in super::super) fn surplus(&self) -> f64 {
        self.now.surplus / self.heading.length
    }

    /// By how much the gap would surely exceed the need, per unit of the heading's length, if the
    /// bodies had to keep a distance of `clear`.
    pub(in super::super) fn surplus_over(&self, clear: f64) -> f64 {
        let need = need_along(&self.heading, clear);
        self.now.gap.surplus_over(need) / self.heading.length
    }

    /// Takes the place of the best heading if it leaves more. A tie keeps the old one, and with it
    /// the link.
    pub(in super::super) fn replace_if_better(self, best: &mut Option<Self>) {
        if best.as_ref().is_none_or(|best| self.surplus() > 1.01 * best.surplus()) {
            *best = Some(self);
        }
    }

    /// From now on the bodies have to keep a distance of `clear`.
    pub(in super::super) fn keep_clear(&mut self, clear: f64) {
        self.heading.need = need_along(&self.heading, clear);
        self.now.surplus = self.now.gap.surplus_over(self.heading.need);
    }
}

/// What a gap along this heading has to exceed for bodies that have to keep a distance of `clear`
/// (in the search's units).
pub(in super::super) fn need_along(heading: &Heading, clear: f64) -> f64 {
    let along = clear * heading.length;
    // Rounding goes up, towards "not clear".
    if along.abs() > 0.0 { along.next_up() } else { 0.0 }
}

/// A plain gap whose surplus is this many times the width of its bound is taken as it is. Below
/// that the gap is enclosed by intervals, which are several times tighter.
const SETTLED: f64 = 8.0;

/// How many times' places are kept. A step is aimed from one time by way of another to a third.
const TIMES_KEPT: usize = 3;

/// The pair in motion, and where it is at the times that were asked about last.
#[derive(Debug)]
pub(in super::super) struct Moving<'a> {
    pub(in super::super) pair: MovingPair<'a>,
    /// The distance that headings have to keep between the bodies now. In the free part of a search
    /// it is the distance that it is told; after that it is less than the margin by the depth that
    /// is allowed.
    pub(in super::super) clear: f64,
    /// The places, in turn.
    posed: [Option<PosedPair>; TIMES_KEPT],
    /// The index of the places that were asked for last.
    latest: usize,
}

impl<'a> Moving<'a> {
    #[inline]
    pub(in super::super) fn new(
        question: &Question<'a>,
        scale: Option<PowerOfTwo>,
        clear: f64,
    ) -> Self {
        Self { pair: MovingPair::new(question, scale), clear, posed: [None; TIMES_KEPT], latest: 0 }
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
            None => self.pose(t),
        }
        let posed = self.posed[self.latest].as_ref();
        (&self.pair, posed.expect("just made, if it was not there"))
    }

    /// Finds out where the pair is at a time that was not asked about lately. Out of line, so that
    /// what is asked there is compiled without it.
    #[inline(never)]
    fn pose(&mut self, t: f64) {
        self.latest = (self.latest + 1) % TIMES_KEPT;
        let (pair, place) = (&self.pair, &mut self.posed[self.latest]);
        processor::dispatch(
            #[inline(always)]
            || *place = Some(PosedPair::new(pair, t)),
        );
    }

    /// Asks something about the pair where it is at time t, in the instructions of the processor at
    /// hand; `query` is an `#[inline(always)]` closure.
    #[inline(always)]
    pub(in super::super) fn ask_at<R>(
        &mut self,
        t: f64,
        query: impl FnOnce(&MovingPair<'a>, &PosedPair) -> R,
    ) -> R {
        let (pair, posed) = self.posed(t);
        processor::dispatch(
            #[inline(always)]
            || query(pair, posed),
        )
    }

    /// The heading fixed in `frame` that has the direction `world`, of length 1, at time t, with
    /// its bend and what a gap along it has to exceed now.
    pub(in super::super) fn heading(&self, frame: Frame, world: &Vec3, t: f64) -> Heading {
        let direction = match self.pair.turning(frame) {
            None => *world,
            Some(plain) => {
                let trig = plain.trig(t).unwrap_or(RoundedTrig::ZERO);
                world + plain.turned_back_less(&trig, world)
            }
        };
        let length = direction.norm() * (1.0 + 8.0 * UNIT);
        let mut heading = Heading { frame, direction, length, bend: f64::INFINITY, need: 0.0 };
        heading.bend = self.pair.bend(&heading);
        heading.need = need_along(&heading, self.clear);
        heading
    }

    /// The heading with the gap along it at time t.
    pub(in super::super) fn measured(
        &mut self,
        heading: Heading,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> MeasuredHeading {
        let now = self.gap(&heading, t, effort);
        MeasuredHeading { heading, now }
    }

    /// The heading fixed in the world along this direction, of length 1, with the gap along it at
    /// time t; `plain` is that gap in plain floating point, if the search came by it.
    pub(in super::super) fn measured_along(
        &mut self,
        world: &Vec3,
        plain: Option<MovingGap>,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> MeasuredHeading {
        let heading = self.heading(Frame::World, world, t);
        match plain {
            Some(_) => MeasuredHeading { now: self.settled(&heading, plain, t, effort), heading },
            None => self.measured(heading, t, effort),
        }
    }

    /// Fixes the heading, which is measured at time t, in a body instead of the world when that
    /// certifies more.
    pub(in super::super) fn choose_frame(
        &mut self,
        t: f64,
        known: &mut MeasuredHeading,
        effort: &mut Effort<'_>,
    ) {
        if known.heading.frame != Frame::World || self.travels_straight(t, known) {
            return;
        }
        let world = known.heading.direction;
        for (frame, bend) in self.pair.turning_bends() {
            // A shorter bend has to make up for the change of link.
            if bend < 0.5 * known.heading.bend {
                let turned = self.measured(self.heading(frame, &world, t), t, effort);
                if turned.surplus() > 0.9 * known.surplus() {
                    *known = turned;
                }
            }
        }
    }

    /// Whether the gap along a heading fixed in the world closes, or the motion ends, well before
    /// the gap bends, and the travel of the pivots closes it more than any turning does. Then no
    /// heading that turns is much better, and none has to be looked at.
    fn travels_straight(&self, t: f64, known: &MeasuredHeading) -> bool {
        let MeasuredHeading { heading, now: MeasuredGap { gap, surplus } } = known;
        let is_closing = gap.rate < 0.0;
        let closed = if is_closing { surplus / -gap.rate } else { f64::INFINITY };
        let by_travel = heading.direction.dot(&self.pair.relative_velocity);
        let by_turning = (gap.rate - by_travel).abs();
        heading.bend_limit(*surplus) > 2.0 * closed.min(1.0 - t)
            && (!is_closing || by_turning < 0.5 * -gap.rate)
    }

    /// The gap at time t along the direction of a support then: see [`PosedPair::gap_at`].
    pub(in super::super) fn gap_near(
        &mut self,
        support: &NearSupport<'_>,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> Option<MovingGap> {
        self.ask_at(
            t,
            #[inline(always)]
            |pair, posed| posed.gap_at(pair, support, effort),
        )
    }

    /// The gap along `heading` at time t: in plain floating point where that settles whether the
    /// heading's need is met, and otherwise enclosed as tightly as f64 numbers can.
    pub(in super::super) fn gap(
        &mut self,
        heading: &Heading,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> MeasuredGap {
        let plain = self.ask_at(
            t,
            #[inline(always)]
            |pair, posed| posed.gap(pair, heading, effort),
        );
        self.settled(heading, plain, t, effort)
    }

    /// The plain gap where it settles whether the need is met, otherwise the gap enclosed.
    #[inline]
    fn settled(
        &self,
        heading: &Heading,
        plain: Option<MovingGap>,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> MeasuredGap {
        let mut rate = 0.0;
        if let Some(gap) = plain {
            let surplus = gap.surplus_over(heading.need);
            let width = gap.value.high() - gap.value.low();
            if surplus > SETTLED * width || gap.value.high() < heading.need - width {
                return MeasuredGap { gap, surplus };
            }
            rate = gap.rate;
        }
        let gap = self.pair.enclosed_gap(heading, t, rate, effort);
        MeasuredGap { gap, surplus: gap.surplus_over(heading.need) }
    }
}

/// How far outside of its triangle the origin's foot may be when the plane comes to it, in sizes of
/// the triangle. Parallelograms and faces go on beyond one triangle, but not far.
const OUTSIDE: f64 = 0.15;

/// The part of the features' height that a direction has to leave at the start of a step.
/// Otherwise the normal of an earlier time is taken, which leaves that much.
const KEPT: f64 = 0.4;
/// The earliest time whose normal is taken, as a part of the step.
const EARLY: f64 = 0.2;

/// The plane through three corners of M at a time: of the features that are nearest the origin, a
/// vertex and a face or two edges.
pub(in super::super) struct FeaturePlane {
    pub(in super::super) t: f64,
    /// The pairs of vertices whose differences the corners are.
    pub(in super::super) pairs: [VertexPair; 3],
    corners: [Vec3; 3],
    /// The normal of length 1, away from the origin.
    pub(in super::super) normal: Vec3,
    pub(in super::super) height: f64,
    /// The weights of the corners at the origin's foot.
    weights: [f64; 3],
}

/// A heading, and the time that a step along it aims at.
pub(in super::super) struct AimedHeading {
    pub(in super::super) heading: Heading,
    pub(in super::super) end: f64,
}

/// How fast a plane of features changes its height, per step.
pub(in super::super) struct PlaneRates {
    /// The rate of its height.
    pub(in super::super) height: f64,
    /// The rates of its corners' heights along the normal, which is fixed in the world.
    corners: [f64; 3],
}

impl FeaturePlane {
    pub(in super::super) fn at(
        moving: &mut Moving<'_>,
        pairs: [VertexPair; 3],
        t: f64,
        outwards: &Vec3,
    ) -> Self {
        let (pair, posed) = moving.posed(t);
        let corner = |k: usize| posed.corner(pair, pairs[k]);
        Self::through(&[corner(0), corner(1), corner(2)], t, outwards)
    }

    pub(in super::super) fn through(corners: &[MovingCorner; 3], t: f64, outwards: &Vec3) -> Self {
        let [a, b, c] = [corners[0].at, corners[1].at, corners[2].at];
        let across = (b - a).cross(&(c - a));
        let squared = across.norm_squared();
        let normal = across * (1f64.copysign(across.dot(outwards)) / squared.sqrt());
        let weights = [b.cross(&c), c.cross(&a), a.cross(&b)].map(|v| v.dot(&across) / squared);
        let pairs = [corners[0].pair, corners[1].pair, corners[2].pair];
        Self { t, pairs, corners: [a, b, c], normal, height: normal.dot(&a), weights }
    }

    pub(in super::super) fn rates(&self, moving: &mut Moving<'_>) -> PlaneRates {
        let (pair, posed) = moving.posed(self.t);
        let rates = posed.rates(pair, Frame::World, &self.normal);
        let of = |k: usize| rates.of(pair, self.pairs[k]);
        let (corners, [a, b, c]) = ([of(0), of(1), of(2)], self.weights);
        PlaneRates { height: a * corners[0] + b * corners[1] + c * corners[2], corners }
    }

    /// How much faster than the plane the height of a corner grows, at most.
    pub(in super::super) fn tilt(&self, rates: &PlaneRates) -> f64 {
        let all = self.with_fourth(rates.corners).into_iter();
        all.fold(rates.height, f64::max) - rates.height
    }

    /// Whether the origin's foot is on the features, as far as three corners tell.
    pub(in super::super) fn lasts(&self) -> bool {
        self.weights.iter().all(|weight| *weight > -OUTSIDE)
    }

    pub(in super::super) fn size_squared(&self) -> f64 {
        let [a, b, c] = self.corners;
        (b - a).norm_squared().max((c - a).norm_squared())
    }

    /// The normal at a later time, `end`, as a heading that does not lose the features now. If
    /// there is none, the normal of an earlier time.
    pub(in super::super) fn heading_towards(
        &self,
        end: &Self,
        moving: &mut Moving<'_>,
    ) -> Option<AimedHeading> {
        let kept = |least: f64| least > KEPT * self.height;
        let mut most = f64::NEG_INFINITY;
        for frame in [Frame::World, Frame::P, Frame::Q] {
            if !moving.pair.turns_with(frame) {
                continue;
            }
            let heading = moving.heading(frame, &end.normal, end.t);
            let world = moving.pair.world_of(&heading, self.t);
            let least = self.least_height(&world);
            if kept(least) {
                return Some(AimedHeading { heading, end: end.t });
            }
            most = most.max(if frame == Frame::World { least } else { f64::NEG_INFINITY });
        }
        let part = (1.0 - KEPT) * self.height / (self.height - most);
        if part.is_nan() || part < EARLY {
            return None;
        }
        let earlier = self.t + part * (end.t - self.t);
        let plane = Self::at(moving, self.pairs, earlier, &self.normal);
        let heading = moving.heading(Frame::World, &plane.normal, earlier);
        Some(AimedHeading { heading, end: earlier })
    }

    /// The least height of a corner along s, and of the fourth corner if the features are edges.
    fn least_height(&self, s: &Vec3) -> f64 {
        let heights = self.corners.map(|corner| s.dot(&corner));
        self.with_fourth(heights).into_iter().fold(f64::INFINITY, f64::min)
    }

    /// A quantity that is linear in the corners: its values at these three and, if the features are
    /// edges, at the fourth corner of their parallelogram.
    fn with_fourth(&self, [a, b, c]: [f64; 3]) -> [f64; 4] {
        let pairs = &self.pairs;
        let joins = |k: usize, l: usize, m: usize| {
            pairs[k].i == pairs[l].i && pairs[k].j == pairs[m].j
                || pairs[k].j == pairs[l].j && pairs[k].i == pairs[m].i
        };
        let fourth = if joins(0, 1, 2) {
            b + c - a
        } else if joins(1, 0, 2) {
            a + c - b
        } else if joins(2, 0, 1) {
            a + b - c
        } else {
            a
        };
        [a, b, c, fourth]
    }
}
