//! Along a direction: for which t >= 0 does P, moved by `t d`, meet Q? Computed, not iterated.
//!
//! P moved by `t d` moves M by `-t d`, so they meet when `t d` is in M: the line through M along d
//! has the first and the last t as exact quotients. (Separating and penetration distance along a
//! direction: Choi, Li, Wang, *Collision detection of convex polyhedra based on duality
//! transformation*, §6, moves Q instead.)

use super::{Range, Span};
use crate::geometry::Vec3;
use crate::geometry::certificate::Verdict;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::number::Sign;
use crate::geometry::number::ratio::Ratio;
use crate::geometry::number::rounding::{UNDERFLOW, gamma};
use crate::geometry::number::scaled::{Integers, integer_at, least_exponent};
use crate::geometry::pair::{Pair, VertexPair};
use crate::geometry::separation::cast::{Cast, cast};
use crate::geometry::separation::difference::Difference;
use crate::geometry::separation::entry::{Along, Entry, certify};
use crate::geometry::separation::filter::certified_gap;
use crate::geometry::separation::line::{Crossing, End, cross_line};
use crate::geometry::separation::{METHODS, decide};
use crate::geometry::witness::Witness;

/// See [`super::along`].
pub(super) fn along(
    pair: &Pair<'_>,
    direction: &Vec3,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Range, Stopped> {
    let decision = decide(pair, &METHODS[0], witness, effort)?;
    let in_contact = decision.verdict() != Verdict::Separated;
    let span = match quickly(pair, direction, in_contact, effort)? {
        Some(span) => span,
        None => {
            effort.cost.exact_stages += 1;
            exactly(pair, direction, in_contact, effort)?
        }
    };
    Ok(Range { decision, span })
}

/// The range in exact arithmetic.
fn exactly(
    pair: &Pair<'_>,
    direction: &Vec3,
    in_contact: bool,
    effort: &mut Effort<'_>,
) -> Result<Option<Span>, Stopped> {
    let mut m = Difference::new(pair);
    let scale = least_exponent(direction.iter()).unwrap_or(0);
    let d: Integers = std::array::from_fn(|k| integer_at(direction[k], scale));
    let Crossing::Meets(ends) = cross_line(&mut m, &d, effort)? else { return Ok(None) };
    let exponent = m.exponent() - scale;
    let at = |end: End| Ratio::new(end.numerator, end.denominator, exponent);
    let [first, last] = ends.map(at);
    if !in_contact && last.sign() == Sign::Negative {
        return Ok(None);
    }
    let enter = if in_contact { [0.0, 0.0] } else { first.bracket() };
    Ok(Some(Span { enter, exit: last.bracket() }))
}

/// The range where floating point finds and proves it.
fn quickly(
    pair: &Pair<'_>,
    direction: &Vec3,
    in_contact: bool,
    effort: &mut Effort<'_>,
) -> Result<Option<Option<Span>>, Stopped> {
    // The greatest t is the least one of the line the other way, with the other sign.
    let backwards = Along { high: -direction, low: Vec3::zeros() };
    let exit = match cast(pair, &backwards.high, f64::INFINITY, effort)? {
        Cast::Apart(s, hint) if !in_contact => {
            return Ok(misses(pair, direction, &s, hint, effort).then_some(None));
        }
        Cast::Enters(pairs, about) => certify(pair, &backwards, pairs, about, effort),
        Cast::Apart(..) | Cast::Lost => None,
    };
    let Some(Entry { between: [low, high], .. }) = exit else { return Ok(None) };
    let exit = [-high, -low];
    if in_contact {
        return Ok(Some(Some(Span { enter: [0.0, 0.0], exit })));
    }
    if exit[1] <= 0.0 {
        return Ok(Some(None));
    }
    let forwards = Along { high: *direction, low: Vec3::zeros() };
    let enter = match cast(pair, &forwards.high, f64::INFINITY, effort)? {
        Cast::Enters(pairs, about) => certify(pair, &forwards, pairs, about, effort),
        Cast::Apart(..) | Cast::Lost => None,
    };
    Ok(enter.map(|Entry { between, .. }| Some(Span { enter: between, exit })))
}

/// Whether M is on the positive side of the origin along `s`, or nearly, and never comes nearer: the
/// direction is turned a little away from d, so that the certain sign of `s·d` is negative.
///
/// `s·d` is computed within `γ₃ Σ |s_k d_k|` and the underflow of three products.
fn misses(pair: &Pair<'_>, d: &Vec3, s: &Vec3, hint: VertexPair, effort: &mut Effort<'_>) -> bool {
    let tilted = s - d * (s.norm() / d.norm() * 2f64.powi(-44));
    let Some(gap) = certified_gap(pair, &tilted, Some(hint), effort) else { return false };
    let terms = gap.direction.component_mul(d);
    let size = terms.x.abs() + terms.y.abs() + terms.z.abs();
    gap.lower > 0.0 && (terms.x + terms.y + terms.z) + gamma(4) * size + 4.0 * UNDERFLOW < 0.0
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are meant")]
mod tests {
    use super::*;
    use crate::geometry::samples::{Random, ball};
    use crate::geometry::separation::oracle::{
        oracle, placed, random_pose, small_body, times, whole,
    };
    use dashu_int::IBig;
    use std::cmp::Ordering;

    fn encloses([low, high]: [f64; 2], (numerator, denominator): (i128, i128)) -> bool {
        let exact = Ratio::new(IBig::from(numerator), IBig::from(denominator), 0);
        let tight = if exact.compare(low) == Ordering::Equal { low } else { low.next_up() };
        exact.compare(low) != Ordering::Less
            && exact.compare(high) != Ordering::Greater
            && tight.total_cmp(&high) == Ordering::Equal
    }

    #[test]
    fn ranges_of_small_integer_bodies_are_those_of_the_oracle() {
        let mut counts = [0u32; 3];
        for seed in 0..if cfg!(debug_assertions) { 1000 } else { 30_000 } {
            let mut random = Random(seed);
            let (p, q) = (small_body(&mut random), small_body(&mut random));
            let (pose_p, pose_q) = (random_pose(&mut random, 4), random_pose(&mut random, 4));
            let direction = random_pose(&mut random, 6).translation;
            if direction == Vec3::zeros() {
                continue;
            }
            let (at_p, at_q) = (placed(&p, &pose_p), placed(&q, &pose_q));
            let verdict = oracle(&at_p, &at_q);
            let pair = Pair::new(&p, pose_p, &q, pose_q);
            let mut effort = Effort::with_steps(100_000);
            let range = along(&pair, &direction, &mut Witness::default(), &mut effort).unwrap();
            assert_eq!(range.decision.verdict(), verdict, "seed {seed}");
            let want = times(&at_p, &at_q, &whole(&direction, 2.0)).filter(|[_, last]| last.0 >= 0);
            let Some([first, last]) = want else {
                assert_eq!(range.span, None, "seed {seed}");
                counts[0] += 1;
                continue;
            };
            let span = range.span.unwrap_or_else(|| panic!("seed {seed}"));
            assert!(encloses(span.exit, last), "seed {seed}");
            if verdict == Verdict::Separated {
                assert!(encloses(span.enter, first), "seed {seed}");
                counts[1] += 1;
            } else {
                assert_eq!(span.enter, [0.0, 0.0], "seed {seed}");
                counts[2] += 1;
            }
        }
        assert!(counts.iter().all(|n| *n > 10), "{counts:?}");
    }

    #[test]
    fn ranges_proven_in_floating_point_are_those_of_exact_arithmetic_to_the_last_bit() {
        let mut counts = [0u32; 4];
        for seed in 0..if cfg!(debug_assertions) { 300 } else { 20_000 } {
            let mut random = Random(seed);
            let (p, q) = (ball(5 + random.below(60), seed), ball(5 + random.below(60), seed + 9));
            let far = random.vector() * 10f64.powi(i32::try_from(random.below(5)).unwrap());
            let beside = far + random.vector() * 2.5;
            let (pose_p, pose_q) = (random.pose(far), random.pose(beside));
            let pair = Pair::new(&p, pose_p, &q, pose_q);
            let direction = random.vector() * 3.0;
            let mut effort = Effort::unlimited();
            let decision =
                decide(&pair, &METHODS[0], &mut Witness::default(), &mut effort).unwrap();
            let in_contact = decision.verdict() != Verdict::Separated;
            let quick = quickly(&pair, &direction, in_contact, &mut effort).unwrap();
            let exact = exactly(&pair, &direction, in_contact, &mut effort).unwrap();
            match &quick {
                None => counts[0] += 1,
                Some(None) => counts[1] += 1,
                Some(Some(_)) => counts[2 + usize::from(in_contact)] += 1,
            }
            assert!(quick.is_none_or(|span| span == exact), "seed {seed}: {quick:?} {exact:?}");
        }
        assert!(counts[0] <= 3 && counts[1..].iter().all(|n| *n > 10), "{counts:?}");
    }
}
