//! First contact of translating bodies: computed, not iterated.
//!
//! With w the velocity of Q relative to P, the bodies meet at t when `q - p + t w = 0` for some
//! points, that is when `-t w` is in M. So the line through M along -w gives the exact first and
//! last time of contact, and its rounding outwards is the only error. The facet through which the
//! line enters M has the bodies on its two sides at every earlier time: one direction proves the
//! freedom of `[0, t_free]`. If the line misses M, one direction across it proves the whole step
//! free. That direction is a vector of f64 numbers if one is near enough. Otherwise two facets of M
//! prove it, one up to a time and the other from that time on, if an f64 number lies between the
//! times at which they change over; or a direction beside it does that is square to an edge. If all
//! of these fail, the direction is named by two pairs and the travel.

use std::cmp::Ordering;

use arrayvec::ArrayVec;
use dashu_int::IBig;

use super::method::Method;
use super::travel::{Travel, relative};
use crate::claim::{Direction, FirstContact, Frame, Link, Outcome, StaticProof};
use crate::difference::exact::{Difference, ExactCorner};
use crate::difference::probe::{CertifiedGap, certified_gap};
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::ratio::Ratio;
use crate::number::rounding::{UNDERFLOW, gamma};
use crate::number::scaled::{
    Integers, cross, difference, dot, is_zero, negated, rounded_direction, sign,
};
use crate::pair::Question;
use crate::pair::{Pair, VertexPair};
use crate::separation::exact::hold_origin_in_four;
use crate::separation::filter::certainly_encloses;
use crate::separation::line::cast::{Cast, cast};
use crate::separation::line::crossing::{
    Crossing, End, Miss, Telling, cross_line, edge_normals, least_end_in,
};
use crate::separation::line::entry::{Entry, LineDirection, certify};
use crate::separation::{METHODS, decide};
use crate::witness::Witness;
use crate::{Vec3, processor};

/// The first contact of bodies with two constant velocities, without margin and deviation.
pub(super) fn first_contact(
    method: &Method,
    question: &Question<'_>,
    [travel_p, travel_q]: [&Travel; 2],
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    let pair = &question.pair;
    let travel = RoundedTravel::new(travel_p, travel_q);
    let found = processor::dispatch(
        #[inline(always)]
        || travel.cast(method, pair, witness, effort),
    );
    match found? {
        Found::Free(gap) => return Ok(free_along(&gap, witness)),
        Found::Enters(entry) => return Ok(enters(&entry, witness)),
        Found::AtStart(four) => return Ok(overlap_at_start(pair, four, witness)),
        Found::Likely(pairs) => {
            effort.cost.exact_stages += 1;
            let mut passage = Passage::new(pair, travel_p, travel_q);
            let against = negated(&passage.velocity);
            let end = least_end_in(&mut passage.m, &against, pairs, effort);
            if let Some(answer) = end.and_then(|end| passage.enter_after_start(&end)) {
                return Ok(answer);
            }
        }
        Found::Nothing => {}
    }
    let initial = decide(pair, &METHODS[0], witness, effort)?.proof;
    let StaticProof::Separated { direction } = initial else {
        return Ok(contact_at_start(pair, initial, true));
    };
    if let Direction::Vector(s) = &direction
        && let Some(gap) = travel.stays_free(pair, s, witness.pairs.first().copied(), effort)
    {
        return Ok(free(vec![link(0.0, 1.0, Direction::Vector(gap.direction))], initial));
    }
    if let Some(answer) = travel.separating(pair, witness, effort)? {
        return Ok(answer);
    }
    effort.cost.exact_stages += 1;
    let mut passage = Passage::new(pair, travel_p, travel_q);
    if is_zero(&passage.velocity) {
        return Ok(free(vec![link(0.0, 1.0, direction)], initial));
    }
    let against = negated(&passage.velocity);
    match cross_line(&mut passage.m, &against, effort)? {
        Crossing::Meets(ends) => Ok(passage.meet(*ends, initial)),
        Crossing::Never(Miss { mut tellings, across }) => {
            let exact = passage.m.direction(&direction);
            tellings.push(Telling { direction, exact });
            if let Some(chain) = passage.chain(&tellings, effort)? {
                return Ok(free(chain, initial));
            }
            tellings.extend(passage.beside(&across));
            let chain = passage.chain(&tellings, effort)?;
            Ok(free(chain.unwrap_or_else(|| vec![link(0.0, 1.0, across)]), initial))
        }
    }
}

pub(super) fn link(t0: f64, t1: f64, direction: Direction) -> Link {
    Link { t0, t1, frame: Frame::World, direction }
}

#[inline(always)]
pub(super) fn free(chain: Vec<Link>, initial: StaticProof) -> FirstContact {
    FirstContact {
        outcome: Outcome::NoContact,
        t_free: 1.0,
        t_contact: 1.0,
        chain,
        pairs: ArrayVec::new(),
        initial,
        stopped: None,
    }
}

/// No contact, proven by a vector, which the witness keeps.
#[inline(always)]
fn free_along(gap: &CertifiedGap, witness: &mut Witness) -> FirstContact {
    witness.direction = Some(gap.direction);
    witness.pairs.clear();
    witness.pairs.push(gap.pair);
    let direction = Direction::Vector(gap.direction);
    free(vec![link(0.0, 1.0, direction)], StaticProof::Separated { direction })
}

/// Contact at a proven time, or none if that is after the step. The facet separates the bodies
/// until then.
#[inline(always)]
fn enters(entry: &Entry, witness: &mut Witness) -> FirstContact {
    let Entry { pairs, negative, normal, between: [t_free, t_contact] } = *entry;
    let direction = Direction::Normal { pairs, negative };
    let initial = StaticProof::Separated { direction };
    witness.direction = Some(normal);
    witness.pairs.clear();
    witness.pairs.push(pairs[0]);
    if t_free >= 1.0 {
        return free(vec![link(0.0, 1.0, direction)], initial);
    }
    FirstContact {
        outcome: Outcome::Contact,
        t_free,
        t_contact,
        chain: vec![link(0.0, t_free, direction)],
        pairs: pairs.into_iter().collect(),
        initial,
        stopped: None,
    }
}

/// The answer about bodies that these pairs prove to overlap where they start.
fn overlap_at_start(pair: &Pair<'_>, four: [VertexPair; 4], witness: &mut Witness) -> FirstContact {
    witness.pairs = four.into_iter().collect();
    let initial = StaticProof::Overlapping { pairs: witness.pairs.clone() };
    contact_at_start(pair, initial, true)
}

/// The answer about bodies that are in contact where they start, of which `initial` is the proof;
/// with the pairs that prove the contact if that is wanted.
pub fn contact_at_start(
    pair: &Pair<'_>,
    initial: StaticProof,
    is_proof_wanted: bool,
) -> FirstContact {
    let pairs: ArrayVec<VertexPair, 6> = match &initial {
        _ if !is_proof_wanted => ArrayVec::new(),
        StaticProof::Separated { .. } => ArrayVec::new(),
        StaticProof::Touching { pairs, .. } => pairs.iter().copied().collect(),
        StaticProof::Overlapping { pairs } if pairs.len() <= 4 => pairs.clone(),
        StaticProof::Overlapping { pairs } => {
            let mut m = Difference::new(pair);
            let corners: ArrayVec<ExactCorner, 7> = pairs.iter().map(|&k| m.corner(k)).collect();
            hold_origin_in_four(&corners).iter().map(|corner| corner.pair).collect()
        }
    };
    FirstContact {
        outcome: Outcome::Contact,
        t_free: 0.0,
        t_contact: 0.0,
        chain: Vec::new(),
        pairs,
        initial,
        stopped: None,
    }
}

/// What floating point finds out about a travel.
enum Found {
    /// The bodies are proven to stay separated along this vector.
    Free(CertifiedGap),
    /// The ray is proven to enter M here, after the start.
    Enters(Entry),
    /// The bodies are proven to overlap where they start, by these pairs.
    AtStart([VertexPair; 4]),
    /// The ray probably enters M through this facet.
    Likely([VertexPair; 3]),
    /// The search came to nothing.
    Nothing,
}

/// The travel of Q relative to P in f64 numbers.
struct RoundedTravel {
    /// How M's origin moves: by minus the travel.
    against: LineDirection,
    /// The sum of the sizes of the numbers that the travel is the sum of, per coordinate.
    sizes: Vec3,
}

impl RoundedTravel {
    fn new(travel_p: &Travel, travel_q: &Travel) -> Self {
        let less = |a: f64, b: f64| {
            let difference = a - b;
            let of_b = a - difference;
            // The second number is what rounding lost (Knuth's two-sum).
            (difference, (a - (difference + of_b)) + (of_b - b))
        };
        let part = |k: usize| {
            let (p, p_lost) = less(travel_p.to[k], travel_p.from[k]);
            let (q, q_lost) = less(travel_q.to[k], travel_q.from[k]);
            let (high, lost) = less(p, q);
            (high, (p_lost - q_lost) + lost)
        };
        let [x, y, z] = [part(0), part(1), part(2)];
        let sum = |travel: &Travel| travel.from.abs() + travel.to.abs();
        Self {
            against: LineDirection {
                high: Vec3::new(x.0, y.0, z.0),
                low: Vec3::new(x.1, y.1, z.1),
            },
            sizes: sum(travel_p) + sum(travel_q),
        }
    }

    /// Looks for a proof in floating point: along the remembered direction, then by the method's
    /// ray.
    #[inline(always)]
    fn cast(
        &self,
        method: &Method,
        pair: &Pair<'_>,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Found, Stopped> {
        let hint = witness.pairs.first().copied();
        if let Some(s) = witness.direction
            && let Some(gap) = self.stays_free(pair, &s, hint, effort)
        {
            effort.cost.witness_hits += 1;
            return Ok(Found::Free(gap));
        }
        // The result is looked at where it is. Copied, it would be read in other pieces than it was
        // just written in, and the processor waits for that.
        let found = (method.cast)(pair, &self.against.high, 1.0, effort);
        let (pairs, about) = match &found {
            Ok(Cast::Apart(s, hint)) => {
                let gap = self.stays_free(pair, s, Some(*hint), effort);
                return Ok(gap.map_or(Found::Nothing, Found::Free));
            }
            Ok(Cast::Enters(pairs, about)) if *about > 0.0 => (pairs, *about),
            Ok(Cast::Enters(..) | Cast::AtStart(None)) => return Ok(Found::Nothing),
            Ok(Cast::AtStart(Some(four))) => {
                let holds = certainly_encloses(pair, four);
                return Ok(if holds { Found::AtStart(*four) } else { Found::Nothing });
            }
            Ok(Cast::Lost) => {
                effort.cost.handed_over += 1;
                return Ok(Found::Nothing);
            }
            Err(stopped) => return Err(*stopped),
        };
        let sharp = self.is_sharp();
        let entry = sharp.then(|| certify(pair, &self.against, pairs, about, effort)).flatten();
        Ok(entry.map_or(Found::Likely(*pairs), Found::Enters))
    }

    /// The answer by a direction along which the bodies, separated at the start, only move away
    /// from each other.
    fn separating(
        &self,
        pair: &Pair<'_>,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Option<FirstContact>, Stopped> {
        Ok(match cast(pair, &-self.against.high, 0.0, effort)? {
            Cast::Apart(s, hint) => {
                self.stays_free(pair, &s, Some(hint), effort).map(|gap| free_along(&gap, witness))
            }
            Cast::Enters(..) | Cast::AtStart(_) | Cast::Lost => None,
        })
    }

    /// Whether the sums have cancelled by at most twenty bits, so that `against` is as exact as
    /// [`LineDirection`] promises.
    fn is_sharp(&self) -> bool {
        self.sizes.amax() <= 1_048_576.0 * self.against.high.amax()
    }

    /// A vector near `s` that certainly separates over the whole step: the gap changes linearly, by
    /// `s·w` with `w = w_q - w_p`, which f64 arithmetic gives within `γ₅ Σ |s_k| (|w_q| + |w_p|)_k`
    /// and the underflow of three products; γ₉ covers the rounding of the bound.
    fn stays_free(
        &self,
        pair: &Pair<'_>,
        s: &Vec3,
        hint: Option<VertexPair>,
        effort: &mut Effort<'_>,
    ) -> Option<CertifiedGap> {
        let gap = certified_gap(pair, s, hint, effort)?;
        let terms = gap.direction.component_mul(&self.against.high);
        let sizes = gap.direction.abs().component_mul(&self.sizes);
        let error = gamma(9) * (sizes.x + sizes.y + sizes.z) + 8.0 * UNDERFLOW;
        let loss = (terms.x + terms.y + terms.z) + error;
        // A rounded sum of two f64 numbers has the sign of the exact one; NaN is not positive.
        (gap.lower > 0.0 && gap.lower - loss > 0.0).then_some(gap)
    }
}

/// The exact problem in integers.
struct Passage<'a> {
    m: Difference<'a>,
    /// The velocity of Q relative to P, times a power of two.
    velocity: Integers,
    /// A parameter of the line is a time multiplied by two to this power.
    exponent: i64,
}

/// The times at which a direction separates the moving M from the origin.
struct SeparatingTimes {
    direction: Direction,
    kind: TimesKind,
}

enum TimesKind {
    Always,
    Never,
    Before(Ratio),
    After(Ratio),
}

impl SeparatingTimes {
    fn holds_at(&self, t: f64) -> bool {
        match &self.kind {
            TimesKind::Always => true,
            TimesKind::Never => false,
            TimesKind::Before(end) => end.compare(t) == Ordering::Greater,
            TimesKind::After(start) => start.compare(t) == Ordering::Less,
        }
    }

    /// The greatest f64 up to 1 until which the direction separates, if it does at some earlier
    /// time.
    fn reach(&self) -> f64 {
        match &self.kind {
            TimesKind::Always | TimesKind::After(_) => 1.0,
            TimesKind::Never => f64::NEG_INFINITY,
            TimesKind::Before(end) => strictly_below(end).min(1.0),
        }
    }
}

/// The greatest f64 strictly below an exact quotient.
pub(super) fn strictly_below(end: &Ratio) -> f64 {
    let [low, high] = end.bracket();
    if low < high { low } else { low.next_down() }
}

impl<'a> Passage<'a> {
    fn new(pair: &'a Pair<'a>, travel_p: &Travel, travel_q: &Travel) -> Self {
        let m = Difference::new(pair);
        let (velocity, scale) = relative([travel_p, travel_q]);
        let exponent = m.exponent() - scale;
        Self { m, velocity, exponent }
    }

    fn time(&self, numerator: IBig, denominator: IBig) -> Ratio {
        Ratio::new(numerator, denominator, self.exponent)
    }

    /// The answer if the line meets M, be it before the start, during the step, or after it.
    fn meet(&self, [first, last]: [End; 2], initial: StaticProof) -> FirstContact {
        // The bodies are separated at the start, so time zero is outside of [enter, leave].
        let during = self.enter_after_start(&first);
        let during = during.unwrap_or_else(|| {
            free(
                vec![link(0.0, 1.0, last.inward)],
                StaticProof::Separated { direction: last.inward },
            )
        });
        FirstContact { initial, ..during }
    }

    /// The answer if the line enters M here, after the start; until then the end's direction
    /// separates.
    fn enter_after_start(&self, end: &End) -> Option<FirstContact> {
        let enter = self.time(end.numerator.clone(), end.denominator.clone());
        if enter.sign() != Sign::Positive {
            return None;
        }
        let initial = StaticProof::Separated { direction: end.inward };
        if enter.compare(1.0) == Ordering::Greater {
            return Some(free(vec![link(0.0, 1.0, end.inward)], initial));
        }
        let t_free = strictly_below(&enter);
        Some(FirstContact {
            outcome: Outcome::Contact,
            t_free,
            t_contact: enter.bracket()[1],
            chain: vec![link(0.0, t_free, end.inward)],
            pairs: end.pairs.iter().copied().collect(),
            initial,
            stopped: None,
        })
    }

    /// When the direction separates the moving M from the origin: its least value over M changes
    /// linearly in time.
    fn times(&mut self, telling: &Telling, effort: &mut Effort<'_>) -> SeparatingTimes {
        let direction = telling.direction;
        if is_zero(&telling.exact) {
            return SeparatingTimes { direction, kind: TimesKind::Never };
        }
        let (least, _) = self.m.least_along(&telling.exact, effort);
        let rate = dot(&telling.exact, &self.velocity);
        let kind = match sign(&rate) {
            Sign::Zero if sign(&least) == Sign::Positive => TimesKind::Always,
            Sign::Zero => TimesKind::Never,
            Sign::Negative => TimesKind::Before(self.time(-least, rate)),
            Sign::Positive => TimesKind::After(self.time(-least, rate)),
        };
        SeparatingTimes { direction, kind }
    }

    /// Directions beside the one that is named by the travel, which are named without it: those
    /// square to its edge and to an axis, and its roundings with one coordinate exact.
    fn beside(&mut self, across: &Direction) -> Vec<Telling> {
        let Direction::SweptNormal { pairs, .. } = across else { return Vec::new() };
        let [a, b] = pairs.map(|pair| self.m.corner(pair));
        let vector = rounded_direction(&cross(&difference(&b.point, &a.point), &self.velocity));
        let scaled = (0..3).map(|k| vector / vector[k]).filter(|v| v.iter().all(|x| x.is_finite()));
        let vectors = scaled.map(Telling::vector);
        let each: Vec<Telling> = edge_normals(&a, &b).into_iter().chain(vectors).collect();
        each.into_iter().flat_map(|telling| [telling.opposite(), telling]).collect()
    }

    /// Joins directions to a chain over the step, each time by the one that reaches farthest;
    /// `None` if they change over at a time between two f64 numbers.
    fn chain(
        &mut self,
        tellings: &[Telling],
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<Link>>, Stopped> {
        let times: Vec<_> = tellings.iter().map(|one| self.times(one, effort)).collect();
        let mut chain = Vec::new();
        let mut t = 0.0;
        while t < 1.0 {
            effort.spend_step()?;
            let best = times
                .iter()
                .filter(|times| times.holds_at(t))
                .map(|times| (times.reach(), times.direction))
                .max_by(|a, b| a.0.total_cmp(&b.0))
                .filter(|(reach, _)| *reach > t);
            let Some((reach, direction)) = best else { return Ok(None) };
            chain.push(link(t, reach, direction));
            t = reach;
        }
        Ok(Some(chain))
    }
}

#[cfg(test)]
mod tests;
