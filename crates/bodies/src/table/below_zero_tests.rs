//! Margins below 0 of bodies of all kinds: as the brackets of their depths tell.

use super::depth::DepthQuestion;
use super::distance::{DistanceAsked, DistanceQuestion};
use super::row::Wanted;
use super::tests::{at, pairs};
use super::verdict::{VerdictAnswer, VerdictQuestion};
use crate::{Kind, PlacedBody};
use clearance_geometry::claim::Verdict;
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::distance::Compared;
use clearance_geometry::effort::{Effort, Stopped};

const WANTED: Wanted = Wanted { certificate: true, cover_steps_max: 1_000 };

fn kinds(bodies: &[PlacedBody; 2]) -> [Kind; 2] {
    bodies.each_ref().map(|placed| placed.body.kind())
}

/// What is said of a margin, by both questions.
fn asked(bodies: &[PlacedBody; 2], margin: f64) -> (VerdictAnswer, Result<bool, Stopped>) {
    let effort = &mut Effort::unlimited();
    let question = VerdictQuestion::of(kinds(bodies), Some(margin)).unwrap();
    let answer = question.prepare(bodies.clone()).unwrap().answer(WANTED, effort);
    let told = |compared: &Result<Option<Compared>, Stopped>| {
        let found = compared.as_ref().map_err(|why| *why)?;
        Ok(found.as_ref().is_some_and(|found| found.is_within))
    };
    let within = told(&answer.compared);
    let question = DistanceQuestion::of(kinds(bodies)).unwrap();
    let ready = question.prepare(bodies.clone()).unwrap();
    let asked = DistanceAsked { margin: Some(margin), ..DistanceAsked::default() };
    let by_distance = ready.answer(asked, WANTED, effort);
    assert_eq!(told(&by_distance.compared), within, "{:?} {margin}", kinds(bodies));
    (answer, within)
}

#[test]
fn bodies_of_all_kinds_compare_with_a_margin_below_zero_as_their_depths_do() {
    let mut counts = [[0; 3]; 2];
    for ([p, q], x) in pairs().flat_map(|kinds| [3.0, 0.25].map(|x| (kinds, x))) {
        let bodies = [at(p, 0.0), at(q, x)];
        let depth = DepthQuestion::of([p, q]).unwrap().prepare(bodies.clone()).unwrap();
        let depth = depth.answer(false, &mut Effort::unlimited()).unwrap();
        let (verdict, [lower, upper]) = (depth.verdict(), depth.bounds());
        let are_convex = p.is_convex() && q.is_convex();
        let between = lower + (upper - lower) / 2.0;
        for deep in [1e-300, lower, between, upper.next_up(), 1e280] {
            if deep <= 0.0 {
                continue;
            }
            let (answer, within) = asked(&bodies, -deep);
            let what = format!("{p:?} {q:?} {x} {deep} {depth:?} {within:?}");
            let is_deep = verdict == Some(Verdict::Overlapping);
            match within {
                Ok(true) => assert!(is_deep && deep <= upper, "{what}"),
                Ok(false) => assert!(!is_deep || deep > lower, "{what}"),
                // What is nearer to contact than rounding tells of curved bodies, and what is
                // between the deepest pieces and the hulls.
                Err(Stopped::Unresolved) if lower < deep && deep <= upper && !are_convex => {}
                Err(why) => {
                    let is_curved = p == Kind::Curved || q == Kind::Curved;
                    assert!(is_curved && why == Stopped::Unresolved, "{what}");
                }
            }
            let known = within.map_or(2, usize::from);
            counts[usize::from(are_convex)][known] += u32::from(is_deep);
            let [b, a] = bodies.clone();
            // Brackets of depths that are not exact are others in the other order.
            let swapped = asked(&[a, b], -deep).1;
            let is_curved = p == Kind::Curved || q == Kind::Curved;
            let is_open = (!are_convex || is_curved) && (within.is_err() || swapped.is_err());
            assert!(is_open || swapped == within, "in the other order {swapped:?}: {what}");
            let Ok(decided) = answer.decided else { continue };
            let is_claimed = are_convex || decided.verdict != Verdict::Overlapping;
            if within.is_ok() && !is_claimed {
                assert_eq!(decided.proof.unwrap_err(), Some(Unproven::NoClaim), "{what}");
            } else if is_claimed
                && within.is_ok()
                && p != Kind::HeightField
                && q != Kind::HeightField
            {
                assert!(decided.proof.is_ok(), "{what}");
            }
        }
    }
    assert!(counts[1][0] > 10 && counts[1][1] > 10, "{counts:?}");
    assert!(counts[0].iter().all(|count| *count > 5), "{counts:?}");
}
