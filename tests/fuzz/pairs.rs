//! Pairs at rest: every question, by every method, cold, warm and from any witness, in both orders.

use clearance_geometry::claim::{RangeClaim, Verdict};
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::effort::Effort;
use clearance_geometry::judge::{judge_depth, judge_distance, judge_range, judge_static};
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::separation::{METHODS, decide, exhaustive};
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, penetration};

use crate::bodies::{Placing, vector, witness};
use crate::bytes::Bytes;
use crate::engine::{Behaviour, Target};

pub(crate) const TARGET: Target = Target { name: "pairs", seeds: Vec::new, reshape: None, check };

/// Edges of both bodies up to which brute force is asked too: its cost is their square.
const EDGES_MAX: usize = 16;

fn check(input: &[u8]) -> Behaviour {
    let bytes = &mut Bytes::new(input);
    let mut behaviour = Behaviour::default();
    let hostile = witness(bytes);
    let Some(direction) = Some(vector(bytes)).filter(|d| d.norm() > 0.0 && d.norm() < 1e200) else {
        return behaviour;
    };
    let Some(Placing { p, q, pose_p, pose_q }) = Placing::read(bytes, 16) else { return behaviour };
    let questions = Questions {
        pair: Pair::new(&p, pose_p, &q, pose_q),
        swapped: Pair::new(&q, pose_q, &p, pose_p),
        hostile,
    };
    let (verdict, exact_stages) = questions.stand();
    behaviour.note(verdict as u64, 3);
    behaviour.note(exact_stages.min(1), 2);
    behaviour.note(p.dimension().into(), 4);
    behaviour.note(q.dimension().into(), 4);
    behaviour.note(questions.measure(verdict), 3);
    behaviour.note(questions.along(verdict, &direction), 3);
    behaviour.amount(questions.depth(verdict));
    behaviour
}

struct Questions<'a> {
    pair: Pair<'a>,
    swapped: Pair<'a>,
    hostile: Witness,
}

/// Brackets of one number meet.
#[track_caller]
pub(crate) fn meet(a: [f64; 2], b: [f64; 2], what: &str) {
    assert!(a[0] <= b[1] && b[0] <= a[1], "{what}: {a:?} and {b:?} do not meet");
}

pub(crate) fn edges(body: &Polytope) -> usize {
    (0..body.vertex_count()).map(|v| body.neighbours(v).len()).sum::<usize>() / 2
}

impl Questions<'_> {
    /// Each pair with witnesses to ask it with.
    fn ways(&self) -> [(&Pair<'_>, Witness); 4] {
        let (cold, hostile) = (Witness::default(), self.hostile.clone());
        [
            (&self.pair, cold.clone()),
            (&self.pair, hostile.clone()),
            (&self.swapped, cold),
            (&self.swapped, hostile),
        ]
    }

    /// The verdict, and how often exact arithmetic gave it.
    fn stand(&self) -> (Verdict, u64) {
        let mut known = None;
        let mut effort = Effort::unlimited();
        for method in METHODS {
            for (pair, mut witness) in self.ways() {
                // And once more, from what the first answer left.
                for _ in 0..2 {
                    let decision =
                        decide(pair, method, &mut witness, &mut effort).expect("no limit");
                    let verdict = decision.verdict();
                    assert_eq!(*known.get_or_insert(verdict), verdict, "{} {pair:?}", method.name);
                    if let Err(refusal) = judge_static(pair, &decision.proof) {
                        panic!("{}: {refusal}: {:?} of {pair:?}", method.name, decision.proof);
                    }
                }
            }
        }
        let verdict = known.expect("there are methods");
        if edges(self.pair.p.body) + edges(self.pair.q.body) <= EDGES_MAX {
            assert_eq!(exhaustive::oracle(&self.pair), verdict, "brute force: {:?}", self.pair);
        }
        (verdict, effort.cost.exact_stages)
    }

    /// The distance; returns whether it is none, or in the range where its width is promised.
    fn measure(&self, verdict: Verdict) -> u64 {
        let mut known = [0.0, f64::INFINITY];
        let methods = distance::METHODS.iter();
        for (method, (pair, mut witness)) in
            methods.flat_map(|method| self.ways().map(|way| (method, way)))
        {
            let mut effort = Effort::unlimited();
            let stops = Stops::default();
            let found = distance::measure_by(method, pair, stops, &mut witness, &mut effort)
                .expect("no limit");
            assert_eq!(found.decision.verdict(), verdict, "{pair:?}");
            assert_eq!(judge_static(pair, &found.decision.proof), Ok(()), "{pair:?}");
            let bracket = [found.lower, found.upper];
            meet(known, bracket, "distances");
            known = bracket;
            if verdict != Verdict::Separated {
                assert!(found.upper <= 0.0, "{found:?} in contact: {pair:?}");
                continue;
            }
            assert!(0.0 <= found.lower && found.lower <= found.upper && found.upper > 0.0);
            let judged = judge_distance(pair, found.lower, found.upper, &found.pairs);
            assert_eq!(judged, Ok(()), "{found:?} of {pair:?}");
            if (2f64.powi(-1000)..2f64.powi(1000)).contains(&found.lower) {
                let width = found.upper - found.lower;
                assert!(width <= 1e-12 * found.upper, "{found:?} is too wide: {pair:?}");
            }
            for (margin, expected) in [(found.upper, true), (found.lower.next_down(), false)] {
                if margin.is_finite() && margin >= 0.0 {
                    let within = distance::is_within(pair, margin, &mut witness, &mut effort);
                    assert_eq!(within, Ok(expected), "within {margin:e}: {found:?} of {pair:?}");
                }
            }
        }
        if verdict != Verdict::Separated { 0 } else { 1 + u64::from(known[0] < 1e-9) }
    }

    /// The range of contact along a direction, and back again; returns whether there is one.
    fn along(&self, verdict: Verdict, direction: &Vec3) -> u64 {
        let mut known = None;
        for (at, (pair, mut witness)) in self.ways().into_iter().enumerate() {
            // Moving Q back is moving P on.
            let direction = if at < 2 { *direction } else { -direction };
            let mut effort = Effort::unlimited();
            let range = penetration::along(pair, &direction, &mut witness, &mut effort);
            let range = range.expect("no limit");
            assert_eq!(range.decision.verdict(), verdict, "{pair:?}");
            if let Some(span) = range.span {
                assert!(
                    0.0 <= span.enter[0] && span.enter[0] <= span.enter[1],
                    "{span:?} {pair:?}"
                );
                assert!(span.exit[0] <= span.exit[1] && span.enter[0] <= span.exit[1]);
            }
            assert!(verdict == Verdict::Separated || range.span.is_some(), "{pair:?}");
            let (span, proof) = (range.span, range.proof.as_ref());
            let claim = RangeClaim { along: direction, verdict, span, proof };
            let judged = judge_range(pair, &claim, &mut Effort::unlimited());
            assert_eq!(judged, Ok(()), "{direction:?} {range:?} of {pair:?}");
            // Computed exactly and rounded outwards: the same from everywhere.
            assert_eq!(*known.get_or_insert(range.span), range.span, "{direction:?} {pair:?}");
        }
        let span = known.flatten();
        span.map_or(0, |span| 1 + u64::from(span.enter[1] > 0.0))
    }

    /// The depth; returns the size of the lower bound's surface.
    fn depth(&self, verdict: Verdict) -> u64 {
        let mut known: Option<[f64; 2]> = None;
        let mut size = 0;
        for (pair, mut witness) in self.ways() {
            let mut effort = Effort::unlimited();
            let found = penetration::measure(pair, true, &mut witness, &mut effort);
            let found = found.expect("no limit");
            assert_eq!(found.decision.verdict(), verdict, "{pair:?}");
            let bracket = [found.lower, found.upper];
            meet(*known.get_or_insert(bracket), bracket, "depths");
            let Some(face) = &found.face else {
                assert!(verdict != Verdict::Overlapping && found.upper <= 0.0, "{found:?}");
                continue;
            };
            assert!(0.0 <= found.lower && found.lower <= found.upper, "{found:?} of {pair:?}");
            let surface = found.surface.as_ref();
            let judged = judge_depth(
                pair,
                [found.lower, found.upper],
                face,
                surface,
                &mut Effort::unlimited(),
            );
            assert_eq!(judged, Ok(()), "{found:?} of {pair:?}");
            if found.lower > 2f64.powi(-1000) {
                let width = found.upper - found.lower;
                assert!(width <= 1e-9 * found.upper, "{found:?} is too wide: {pair:?}");
            }
            size = surface.expect("it was asked for").triangles.len() as u64;
        }
        size
    }
}
