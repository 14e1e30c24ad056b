//! The text's rules and its bound, counted; and what is kept between frames.

use super::*;
use crate::claim::Verdict;
use crate::penetration;
use crate::pose::Pose;
use crate::samples::{Random, cone, cuboid, ellipsoid, lattice, polygon};
use crate::separation::exhaustive::oracle;
use crate::separation::{METHODS, decide};

/// Pairs for the test of §6, unless the environment's `HARD_PAIRS` says how many.
const HARD_PAIRS: u32 = 5_000;

/// Small bodies near contact: thin ones, boxes, lattices, flat ones.
fn hard_body(random: &mut Random) -> crate::polytope::Polytope {
    let thin = 10f64.powi(-(random.below(4) as i32));
    match random.below(5) {
        0 => ellipsoid(8 + random.below(30), [1.0, thin, thin], u64::from(random.below(1000))),
        1 => ellipsoid(8 + random.below(30), [1.0, 1.0, thin], u64::from(random.below(1000))),
        2 => cuboid(1.0, thin, 0.3),
        3 => polygon(3 + random.below(9)),
        _ => lattice(random),
    }
}

/// What the candidates of searches came to.
#[derive(Debug, Default)]
struct Counts {
    candidates_max: usize,
    with_rule_2: u64,
    ended_by_pair: u64,
    /// Separated, overlapping, handed over.
    claims: [u64; 3],
}

impl Counts {
    /// Holds the order of the candidates against §6, from their pairs alone.
    fn look_at(
        &mut self,
        turns: &[(VertexPair, CandidateTurn)],
        claim: Option<Verdict>,
        story: &str,
    ) {
        let has_come = |k: usize| turns[..k].iter().any(|&(pair, _)| pair == turns[k].0);
        for (k, &(pair, turn)) in turns.iter().enumerate() {
            match turn {
                // A pair that has come leads to rule 2, a new one never does.
                CandidateTurn::Rule(1) | CandidateTurn::Tilted => {
                    assert!(!has_come(k), "{story}, {k}: {turns:?}")
                }
                CandidateTurn::Rule(_) => assert!(has_come(k), "{story}, {k}: {turns:?}"),
                CandidateTurn::End => assert_eq!(k + 1, turns.len(), "{story}: {turns:?}"),
            }
            let Some((before, by)) = k.checked_sub(1).map(|last| turns[last]) else { continue };
            // After rule 2 the pair is new, or the search ends.
            let is_end = turn == CandidateTurn::End && claim == Some(Verdict::Separated);
            let is_after_rule_2 = by == CandidateTurn::Rule(2);
            assert!(!is_after_rule_2 || !has_come(k) || is_end, "{story}, {k}: {turns:?}");
            // Theorem 5: the pair just before ends it, but where S·w is zero.
            if pair == before && by == CandidateTurn::Rule(1) {
                self.ended_by_pair += u64::from(is_end);
                let is_level = turn == CandidateTurn::Rule(2);
                assert!(is_end || is_level, "{story}, {k}: {turns:?}");
            }
        }
        self.candidates_max = self.candidates_max.max(turns.len());
        self.with_rule_2 +=
            u64::from(turns.iter().any(|&(_, turn)| turn == CandidateTurn::Rule(2)));
        let claim = claim.map(|verdict| usize::from(verdict != Verdict::Separated));
        self.claims[claim.unwrap_or(2)] += 1;
    }
}

/// §6, over hard pairs: rule 2 is taken when a pair has come again and only then; a pair that
/// equals the one before ends the search; and no search takes more than `2 |V(P)| |V(Q)|`
/// candidates. A hundred thousand take some minutes: `HARD_PAIRS=100000 cargo test
/// --lib candidates_are_within_the_bound -- --nocapture`.
#[test]
#[expect(clippy::print_stdout, reason = "the counts are to be seen")]
fn candidates_are_within_the_bound_and_rule_2_is_taken_only_for_pairs_that_reappear() {
    let mut random = Random(61);
    let asked = std::env::var("HARD_PAIRS").ok().and_then(|count| count.parse().ok());
    let hard_pairs: u32 = asked.unwrap_or(HARD_PAIRS);
    let (mut counts, mut closest_to_bound) = (Counts::default(), 0.0_f64);
    for number in 0..hard_pairs {
        let (p, q) = (hard_body(&mut random), hard_body(&mut random));
        let size = p.bounds().radius + q.bounds().radius;
        let offset = random.unit_vector() * (size * random.signed().abs());
        let pair = Pair::new(&p, random.pose(Vec3::zeros()), &q, random.pose(offset));
        let mut search = TextSearch::new(&pair);
        let start = (number % 2 == 0).then(|| random.unit_vector());
        let mut witness = Witness { direction: start, ..Witness::default() };
        let mut effort = Effort::unlimited();
        let proposal = search.run(&Layout::of(&pair), &mut witness, &mut effort).unwrap();
        let bound = 2 * u64::from(p.vertex_count()) * u64::from(q.vertex_count());
        assert!(effort.cost.candidates <= bound, "{number}: {} of {bound}", effort.cost.candidates);
        closest_to_bound = closest_to_bound.max(effort.cost.candidates as f64 / bound as f64);
        counts.look_at(&search.turns, proposal.claim(), &number.to_string());
    }
    println!("{hard_pairs} pairs: {counts:?}, at most {closest_to_bound} of the bound");
    let [separated, overlapping, _] = counts.claims;
    let some = u64::from(hard_pairs);
    assert!(200 * counts.with_rule_2 > some && 20 * counts.ended_by_pair > some, "{counts:?}");
    assert!(10 * separated > some && 10 * overlapping > some, "{counts:?}");
}

/// Questions of the test about needles for each set, unless the environment's `NEEDLES` says how
/// many.
const NEEDLES: u32 = 40;

/// §6: "when |V| are not over 4000, the number of the iteration is not over 40". On thin bodies it
/// is, and the polygon once took 64 differences, at which 6 of 600 questions about ellipsoids
/// 200 : 8 : 8 of 4,000 vertices were handed over. The two pairs kept here took 67 and more then.
#[test]
#[expect(clippy::print_stdout, reason = "the counts are to be seen")]
fn long_searches_on_needles_end_by_themselves() {
    let asked = std::env::var("NEEDLES").ok().and_then(|count| count.parse().ok());
    let needles: u32 = asked.unwrap_or(NEEDLES);
    let mut most_of_all = 0;
    for (count, minor) in [(4000, 20.0), (4000, 8.0), (10_000, 20.0), (10_000, 8.0)] {
        let axes = [200.0, minor, minor];
        let (p, q) = (ellipsoid(count, axes, 1), ellipsoid(count, axes, 2));
        let mut random = Random(63);
        let (mut most, mut sum, mut over_40) = (0, 0, 0);
        for number in 0..needles {
            let (at_rest, mut pose) = (random.pose(Vec3::zeros()), random.pose(Vec3::x() * 1000.0));
            let apart = Pair::new(&p, at_rest, &q, pose);
            let (of_way, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            let span = penetration::along(&apart, &Vec3::x(), of_way, effort).unwrap().span;
            let gap = if number % 2 == 0 { 0.02 } else { -0.02 };
            pose.translation.x -= span.unwrap().enter[0] - gap;
            let pair = Pair::new(&p, at_rest, &q, pose);
            let mut effort = Effort::unlimited();
            let proposal = plain().propose(&pair, &mut Witness::default(), &mut effort).unwrap();
            let verdict = if gap > 0.0 { Verdict::Separated } else { Verdict::Overlapping };
            assert_eq!(proposal.claim(), Some(verdict), "{count}, {minor}, {number}");
            most = most.max(effort.cost.candidates);
            sum += effort.cost.candidates;
            over_40 += u32::from(effort.cost.candidates > 40);
        }
        let mean = sum as f64 / f64::from(needles);
        println!("{count}, 200 : {minor}: {mean:.1} candidates, at most {most}; {over_40} over 40");
        most_of_all = most_of_all.max(most);
    }
    assert!(most_of_all > 40, "none of them was long: {most_of_all}");
}

fn plain() -> &'static CollisionMethod {
    METHODS.iter().find(|row| row.name == "hs_jump_plain").unwrap()
}

#[test]
fn decisions_are_the_oracles_with_any_memory() {
    let mut random = Random(62);
    let mut witness = Witness::default();
    let mut seen = [0; 3];
    for round in 0..400 {
        let (p, q) = (lattice(&mut random), lattice(&mut random));
        let offset = Vec3::from_fn(|_, _| f64::from(random.below(5)) - 2.0);
        let pair = if round % 2 == 0 {
            Pair::new(&p, Pose::identity(), &q, Pose::translation(offset.x, offset.y, offset.z))
        } else {
            Pair::new(&p, random.pose(Vec3::zeros()), &q, random.pose(offset))
        };
        // Candidates of other pairs, of no pair, and that are no numbers.
        let any = VertexPair { i: random.below(9), j: random.below(u32::MAX) };
        if round % 3 == 0 {
            let direction = Vec3::new(f64::NAN, 1.0, 0.0);
            let tried = [random.vector(), Vec3::zeros(), direction];
            let tried = tried.map(|direction| Tried { direction, pair: any });
            witness.memory = Memory::Candidates(tried.into_iter().cycle().take(200).collect());
        }
        let decision = decide(&pair, plain(), &mut witness, &mut Effort::unlimited()).unwrap();
        let truth = oracle(&pair);
        assert_eq!(decision.verdict(), truth, "{round}");
        seen[truth as usize] += 1;
    }
    assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
}

/// Candidates of the searches of one motion, and in how many frames there was one: a slab turns a
/// degree a frame, close beside a cone.
fn turning(mut forget: impl FnMut(&mut Witness)) -> [u64; 2] {
    let (p, q) = (cone(64), cuboid(2.0, 1.0, 0.2));
    let mut witness = Witness::default();
    let [mut steps, mut searches] = [0; 2];
    for frame in 0..360 {
        let (sin, cos) = (0.5 * f64::from(frame).to_radians()).sin_cos();
        let axis = Vec3::new(1.0, 2.0, 3.0).normalize() * sin;
        let far = Vec3::x() * 10.0;
        let pose_q = Pose::from_quaternion(far, [cos, axis.x, axis.y, axis.z]).unwrap();
        let pair = Pair::new(&p, Pose::identity(), &q, pose_q);
        let (of_way, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let span = penetration::along(&pair, &Vec3::x(), of_way, effort).unwrap().span.unwrap();
        let pose_q = Pose { translation: far - Vec3::x() * (span.enter[0] - 0.02), ..pose_q };
        let pair = Pair::new(&p, Pose::identity(), &q, pose_q);
        forget(&mut witness);
        let mut effort = Effort::unlimited();
        let decision = decide(&pair, plain(), &mut witness, &mut effort).unwrap();
        assert_eq!(decision.verdict(), Verdict::Separated, "{frame}");
        steps += effort.cost.steps;
        searches += u64::from(effort.cost.steps > 0);
    }
    [steps, searches]
}

/// §8.4: the search goes on from S, and mostly ends at the next candidate.
#[test]
#[expect(clippy::print_stdout, reason = "the counts are to be seen")]
fn the_search_goes_on_from_the_last_vector() {
    let warm = turning(|_| {});
    let anew = turning(|witness| witness.direction = None);
    println!("candidates and frames with a search: from S {warm:?}, from the centres {anew:?}");
    assert!(4 * warm[0] < anew[0] && warm[0] < 2 * warm[1], "{warm:?} {anew:?}");
}
