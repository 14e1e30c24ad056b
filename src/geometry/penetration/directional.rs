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
use crate::geometry::number::scaled::{Integers, integer_at, least_exponent};
use crate::geometry::pair::Pair;
use crate::geometry::separation::difference::Difference;
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
    effort.cost.exact_stages += 1;
    let mut m = Difference::new(pair);
    let scale = least_exponent(direction.iter()).unwrap_or(0);
    let d: Integers = std::array::from_fn(|k| integer_at(direction[k], scale));
    let Crossing::Meets(ends) = cross_line(&mut m, &d, effort)? else {
        return Ok(Range { decision, span: None });
    };
    let exponent = m.exponent() - scale;
    let at = |end: End| Ratio::new(end.numerator, end.denominator, exponent);
    let [first, last] = ends.map(at);
    let in_contact = decision.verdict() != Verdict::Separated;
    if !in_contact && last.sign() == Sign::Negative {
        return Ok(Range { decision, span: None });
    }
    let enter = if in_contact { [0.0, 0.0] } else { first.bracket() };
    Ok(Range { decision, span: Some(Span { enter, exit: last.bracket() }) })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are meant")]
mod tests {
    use super::*;
    use crate::geometry::samples::Random;
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
}
