//! Along a direction: for which t >= 0 does P, moved by `t d`, meet Q? Computed, not iterated.
//!
//! P moved by `t d` moves M by `-t d`, so they meet when `t d` is in M: the line through M along d
//! has the first and the last t as exact quotients. (Separating and penetration distance along a
//! direction: Choi, Li, Wang, Cameron, *Collision Detection of Convex Polyhedra Based on Duality
//! Transformation*, §6, moves Q instead.) A method finds and proves the range, or hands over to
//! exact arithmetic. The default is here:
//!
//! Source: a portal towards the line in floating point, see
//!         [`crate::separation::line::cast`].
//! Proves: each end to the last bit, or that the line misses, by error bounds.
//! Cost:   a supporting pair for every portal, some ten for each end; exact arithmetic in its stead
//!         where bodies are flat or features parallel.

use super::Range;
use super::method::{ProvenSpan, RangeMethod};
use crate::Vec3;
use crate::claim::{Direction, RangeEnd, RangeProof, Span, Verdict};
use crate::difference::exact::Difference;
use crate::difference::probe::certified_gap;
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::ratio::Ratio;
use crate::number::rounding::{UNDERFLOW, gamma};
use crate::number::scaled::{Integers, integer_at, least_exponent};
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::separation::line::cast::{Cast, cast};
use crate::separation::line::crossing::{Crossing, End, cross_line};
use crate::separation::line::entry::{Entry, LineDirection, certify};
use crate::separation::{self, decide};
use crate::witness::Witness;

/// The row of the table.
pub(super) const METHOD: RangeMethod = RangeMethod {
    name: "line",
    source: "a portal towards the line in floating point",
    proves: "each end to the last bit, or that the line misses, by error bounds",
    cost: "a supporting pair for every portal, some ten for each end",
    tables: Tables::Nothing,
    span: quickly,
};

/// See [`super::along`].
pub(super) fn along(
    pair: &Pair<'_>,
    direction: &Vec3,
    method: &RangeMethod,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Range, Stopped> {
    let decision = decide(pair, &separation::METHODS[0], witness, effort)?;
    let in_contact = decision.verdict() != Verdict::Separated;
    if *direction == Vec3::zeros() {
        // P stays: always in contact, or never.
        let always = Span { enter: [0.0, 0.0], exit: [f64::INFINITY, f64::INFINITY] };
        return Ok(Range { decision, span: in_contact.then_some(always), proof: None });
    }
    let (span, proof) = match (method.span)(pair, direction, in_contact, witness, effort)? {
        Some(found) => found,
        None => {
            effort.cost.handed_over += 1;
            effort.cost.exact_stages += 1;
            exactly(pair, direction, in_contact, effort)?
        }
    };
    Ok(Range { decision, span, proof: Some(proof) })
}

/// The range in exact arithmetic.
fn exactly(
    pair: &Pair<'_>,
    direction: &Vec3,
    in_contact: bool,
    effort: &mut Effort<'_>,
) -> Result<ProvenSpan, Stopped> {
    let mut m = Difference::new(pair);
    let scale = least_exponent(direction.iter()).unwrap_or(0);
    let d: Integers = std::array::from_fn(|k| integer_at(direction[k], scale));
    let ends = match cross_line(&mut m, &d, effort)? {
        Crossing::Meets(ends) => ends,
        Crossing::Never(miss) => return Ok((None, RangeProof::Never { direction: miss.across })),
    };
    let exponent = m.exponent() - scale;
    let at = |end: End| {
        let proof = RangeEnd { direction: end.inward, pairs: end.pairs };
        (Ratio::new(end.numerator, end.denominator, exponent), proof)
    };
    Ok(ahead(ends.map(at), in_contact))
}

/// What of the line's part in M is at `t >= 0`.
pub(super) fn ahead(
    [(first, enter), (last, exit)]: [(Ratio, RangeEnd); 2],
    in_contact: bool,
) -> ProvenSpan {
    if in_contact {
        let span = Span { enter: [0.0, 0.0], exit: last.bracket() };
        return (Some(span), RangeProof::Meets { enter: None, exit });
    }
    if last.sign() == Sign::Negative {
        return (None, RangeProof::Never { direction: exit.direction });
    }
    let span = Span { enter: first.bracket(), exit: last.bracket() };
    (Some(span), RangeProof::Meets { enter: Some(enter), exit })
}

/// The range where floating point finds and proves it.
fn quickly(
    pair: &Pair<'_>,
    direction: &Vec3,
    in_contact: bool,
    _: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Option<ProvenSpan>, Stopped> {
    // The greatest t is the least one of the line the other way, with the other sign.
    let backwards = LineDirection { high: -direction, low: Vec3::zeros() };
    let exit = match cast(pair, &backwards.high, f64::INFINITY, effort)? {
        Cast::Apart(s, hint) if !in_contact => {
            let never = |direction| (None, RangeProof::Never { direction });
            return Ok(misses(pair, direction, &s, hint, effort).map(never));
        }
        Cast::Enters(pairs, about) => certify(pair, &backwards, &pairs, about, effort),
        Cast::Apart(..) | Cast::AtStart(_) | Cast::Lost => None,
    };
    let Some(last) = exit else { return Ok(None) };
    let exit = last.between.map(|t| -t);
    let exit = [exit[1], exit[0]];
    if in_contact {
        let span = Span { enter: [0.0, 0.0], exit };
        return Ok(Some((Some(span), RangeProof::Meets { enter: None, exit: end(&last) })));
    }
    if exit[1] <= 0.0 {
        return Ok(Some((None, RangeProof::Never { direction: end(&last).direction })));
    }
    let forwards = LineDirection { high: *direction, low: Vec3::zeros() };
    let enter = match cast(pair, &forwards.high, f64::INFINITY, effort)? {
        Cast::Enters(pairs, about) => certify(pair, &forwards, &pairs, about, effort),
        Cast::Apart(..) | Cast::AtStart(_) | Cast::Lost => None,
    };
    Ok(enter.map(|first| {
        let proof = RangeProof::Meets { enter: Some(end(&first)), exit: end(&last) };
        (Some(Span { enter: first.between, exit }), proof)
    }))
}

/// What proves where a line enters M.
fn end(entry: &Entry) -> RangeEnd {
    let &Entry { pairs, negative, .. } = entry;
    let direction = Direction::Normal { pairs, negative };
    RangeEnd { direction, pairs: pairs.into_iter().collect() }
}

/// A direction, `s` or nearly, on whose positive side of the origin M is, and never comes nearer:
/// it is turned a little away from d, so that the certain sign of `s·d` is negative.
///
/// `s·d` is computed within `γ₃ Σ |s_k d_k|` and the underflow of three products.
fn misses(
    pair: &Pair<'_>,
    d: &Vec3,
    s: &Vec3,
    hint: VertexPair,
    effort: &mut Effort<'_>,
) -> Option<Direction> {
    let tilted = s - d * (s.norm() / d.norm() * 2f64.powi(-44));
    let gap = certified_gap(pair, &tilted, Some(hint), effort)?;
    let terms = gap.direction.component_mul(d);
    let size = terms.x.abs() + terms.y.abs() + terms.z.abs();
    let recedes = (terms.x + terms.y + terms.z) + gamma(4) * size + 4.0 * UNDERFLOW < 0.0;
    (gap.lower > 0.0 && recedes).then_some(Direction::Vector(gap.direction))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are meant")]
mod tests {
    use std::cmp::Ordering;

    use dashu_int::IBig;

    use super::*;
    use crate::penetration::METHODS;
    use crate::pose::Pose;
    use crate::samples::{Random, ball};
    use crate::separation::oracle::{oracle, placed, random_pose, small_body, times, whole};

    fn encloses([low, high]: [f64; 2], (numerator, denominator): (i128, i128)) -> bool {
        let exact = Ratio::new(IBig::from(numerator), IBig::from(denominator), 0);
        let tight = if exact.compare(low) == Ordering::Equal { low } else { low.next_up() };
        exact.compare(low) != Ordering::Less
            && exact.compare(high) != Ordering::Greater
            && tight.total_cmp(&high) == Ordering::Equal
    }

    #[test]
    fn along_no_direction_bodies_meet_always_or_never() {
        let body = crate::samples::cuboid(1.0, 1.0, 1.0);
        let span = |x: f64| {
            let (pose_p, pose_q) = (Pose::identity(), Pose::translation(x, 0.0, 0.0));
            let pair = Pair::new(&body, pose_p, &body, pose_q);
            let mut effort = Effort::unlimited();
            let range =
                along(&pair, &-Vec3::zeros(), &METHODS[0], &mut Witness::default(), &mut effort);
            range.unwrap().span
        };
        let always = Some(Span { enter: [0.0, 0.0], exit: [f64::INFINITY, f64::INFINITY] });
        assert_eq!([span(1.0), span(2.0), span(2.5)], [always, always, None]);
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
            let want = times(&at_p, &at_q, &whole(&direction, 2.0)).filter(|[_, last]| last.0 >= 0);
            for method in METHODS {
                let story = format!("seed {seed} {}", method.name);
                let mut effort = Effort::with_steps(100_000);
                let mut witness = Witness::default();
                let range = along(&pair, &direction, method, &mut witness, &mut effort).unwrap();
                assert_eq!(range.decision.verdict(), verdict, "{story}");
                let Some([first, last]) = want else {
                    assert_eq!(range.span, None, "{story}");
                    counts[0] += 1;
                    continue;
                };
                let span = range.span.unwrap_or_else(|| panic!("{story}"));
                assert!(encloses(span.exit, last), "{story}");
                if verdict == Verdict::Separated {
                    assert!(encloses(span.enter, first), "{story}");
                    counts[1] += 1;
                } else {
                    assert_eq!(span.enter, [0.0, 0.0], "{story}");
                    counts[2] += 1;
                }
            }
        }
        assert!(counts.iter().all(|n| *n > 10), "{counts:?}");
    }

    #[test]
    fn ranges_of_every_method_are_those_of_exact_arithmetic_to_the_last_bit() {
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
            let first = &separation::METHODS[0];
            let decision = decide(&pair, first, &mut Witness::default(), &mut effort).unwrap();
            let in_contact = decision.verdict() != Verdict::Separated;
            let exact = exactly(&pair, &direction, in_contact, &mut effort).unwrap();
            for method in METHODS {
                let witness = &mut Witness::default();
                let found =
                    (method.span)(&pair, &direction, in_contact, witness, &mut effort).unwrap();
                match &found {
                    None => counts[0] += 1,
                    Some((None, _)) => counts[1] += 1,
                    Some((Some(_), _)) => counts[2 + usize::from(in_contact)] += 1,
                }
                let story = format!("seed {seed} {}: {found:?} {exact:?}", method.name);
                assert!(found.is_none_or(|(span, _)| span == exact.0), "{story}");
            }
        }
        // Handed over to exact arithmetic: 14 of 40,000 (release).
        let few = 1 + counts.iter().sum::<u32>() / 1000;
        assert!(counts[0] <= few && counts[1..].iter().all(|n| *n > 10), "{counts:?}");
    }
}
