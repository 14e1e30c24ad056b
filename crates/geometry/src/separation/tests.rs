//! Verdicts against the independent oracle.

use super::methods::Propose;
use super::oracle::{oracle, placed, random_pose, small_body};
use super::*;
use crate::difference::exact::Difference;
use crate::difference::layout::centre_to_centre;
use crate::difference::probe::certified_gap;
use crate::judge::judge_static;
use crate::pair::VertexPair;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::{Random, ball, cone, ellipsoid, hull, lattice};

/// From cold, from the witness left behind and from a foreign one; every proof is judged.
fn decide_in_every_way(pair: &Pair<'_>, foreign: &Witness, want: Verdict, story: &str) -> Witness {
    let mut left = Witness::default();
    for method in METHODS {
        let mut witness = Witness::default();
        for round in ["cold", "warm", "foreign"] {
            let mut effort = Effort::with_steps(100_000);
            let decision = decide(pair, method, &mut witness, &mut effort).unwrap();
            assert_eq!(decision.verdict(), want, "{story} {} {round}", method.name);
            assert_eq!(
                judge_static(pair, &decision.proof),
                Ok(()),
                "{story} {} {round}: {decision:?}",
                method.name
            );
            if round == "warm" {
                left = std::mem::replace(&mut witness, foreign.clone());
            }
        }
    }
    let mut effort = Effort::with_steps(100_000);
    let proof = exact::prove(&mut Difference::new(pair), &mut effort).unwrap();
    assert_eq!(proof.verdict(), want, "{story} exact stage alone");
    assert_eq!(judge_static(pair, &proof), Ok(()), "{story} exact stage alone: {proof:?}");
    left
}

fn scaled(body: &Polytope, factor: f64) -> Polytope {
    hull(&body.vertices().iter().map(|v| v * factor).collect::<Vec<_>>())
}

#[test]
fn small_integer_bodies_of_every_dimension_get_the_verdict_of_the_oracle() {
    let mut counts = std::collections::BTreeMap::new();
    let mut foreign = Witness::default();
    for seed in 0..if cfg!(debug_assertions) { 1200 } else { 20_000 } {
        let mut random = Random(seed);
        let (p, q) = (small_body(&mut random), small_body(&mut random));
        let reach = random.below(6);
        let (pose_p, pose_q) = (random_pose(&mut random, reach), random_pose(&mut random, reach));
        let want = oracle(&placed(&p, &pose_p), &placed(&q, &pose_q));
        let pair = Pair::new(&p, pose_p, &q, pose_q);
        foreign = decide_in_every_way(&pair, &foreign, want, &format!("seed {seed}"));
        *counts.entry((want, p.dimension().max(q.dimension()))).or_insert(0) += 1;
    }
    for verdict in [Verdict::Separated, Verdict::Touching, Verdict::Overlapping] {
        assert!(counts.iter().any(|((v, _), n)| *v == verdict && *n > 20), "{counts:?}");
    }
    assert!((0..=3).all(|d| counts.contains_key(&(Verdict::Touching, d))), "{counts:?}");
}

#[test]
fn verdicts_do_not_change_when_everything_is_scaled_by_a_power_of_two() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let (p, q) = (lattice(&mut random), lattice(&mut random));
        let (pose_p, pose_q) = (random_pose(&mut random, 4), random_pose(&mut random, 4));
        let want = oracle(&placed(&p, &pose_p), &placed(&q, &pose_q));
        for exponent in [-1073, -1000, -540, -300, 300, 540, 950] {
            let factor = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
            let (p, q) = (scaled(&p, factor), scaled(&q, factor));
            let at = |pose: &Pose| Pose { translation: pose.translation * factor, ..*pose };
            let pair = Pair::new(&p, at(&pose_p), &q, at(&pose_q));
            let story = format!("seed {seed} times 2^{exponent}");
            decide_in_every_way(&pair, &Witness::default(), want, &story);
        }
    }
}

#[test]
fn the_least_f64_decides_between_separated_touching_and_overlapping() {
    let mut random = Random(7);
    for seed in 0..12 {
        // On a grid of 2^-20 a body can be mirrored through its own vertex without rounding.
        let grid = 2f64.powi(20);
        let rounded = |v: &Vec3| (v * grid).map(f64::round) / grid;
        let p = hull(&ball(30, seed).vertices().iter().map(rounded).collect::<Vec<_>>());
        let top = *p.vertex(random.below(p.vertex_count()));
        let q = hull(&p.vertices().iter().map(|v| 2.0 * top - v).collect::<Vec<_>>());
        let pose = random.pose(Vec3::zeros());
        let least = (pose.rotation * top * 16.0).map(|c| c.round() * f64::from_bits(1));
        let there = Pose { translation: least, ..pose };
        let story = |what: &str| format!("seed {seed}, {what}");
        let check = |pose_p, pose_q, want, what: &str| {
            let pair = Pair::new(&p, pose_p, &q, pose_q);
            decide_in_every_way(&pair, &Witness::default(), want, &story(what));
        };
        check(pose, pose, Verdict::Touching, "mirrored");
        check(pose, there, Verdict::Separated, "moved away");
        check(there, pose, Verdict::Overlapping, "moved in");
    }
}

#[test]
fn hostile_witnesses_change_nothing() {
    let p = ball(50, 1);
    let far = VertexPair { i: u32::MAX, j: 77 };
    let directions = [f64::NAN, f64::INFINITY, 0.0, f64::from_bits(1), f64::MAX];
    for (offset, want) in [(2.5, Verdict::Separated), (1.5, Verdict::Overlapping)] {
        let pair = Pair::new(&p, Pose::identity(), &p, Pose::translation(offset, 0.1, 0.2));
        for x in directions {
            for count in 0..=6 {
                let mut witness = Witness {
                    direction: Some(Vec3::new(x, 0.0, -x)),
                    pairs: std::iter::repeat_n(far, count).collect(),
                    ..Witness::default()
                };
                let decision =
                    decide(&pair, &METHODS[0], &mut witness, &mut Effort::unlimited()).unwrap();
                assert_eq!(decision.verdict(), want);
                assert_eq!(judge_static(&pair, &decision.proof), Ok(()));
            }
        }
    }
}

#[test]
fn a_warm_pair_is_answered_by_two_supporting_vertices_and_no_search() {
    // The base of the one beside the apex of the other: all bounds of theirs meet.
    let p = cone(40);
    let mut witness = Witness::default();
    for step in 0..10 {
        let pose = Pose::translation(0.1, 1.3 + 0.01 * f64::from(step), 0.9);
        let pair = Pair::new(&p, Pose::identity(), &p, pose);
        let mut effort = Effort::unlimited();
        decide(&pair, &METHODS[0], &mut witness, &mut effort).unwrap();
        assert_eq!(effort.cost.exact_stages, 0);
        if step > 0 {
            assert_eq!((effort.cost.witness_hits, effort.cost.supports), (1, 2));
            assert_eq!(effort.cost.steps, 0);
        }
    }
}

/// Bounds along a direction that they had to look for: the next question does not look for it
/// again.
#[test]
fn a_direction_along_which_ellipsoids_are_separated_is_remembered() {
    let p = ellipsoid(200, [1.0, 0.3, 0.3], 3);
    let mut witness = Witness::default();
    for step in 0..10 {
        let pose = Pose::translation(1.3, 0.56 + 0.01 * f64::from(step), 0.0);
        let pair = Pair::new(&p, Pose::identity(), &p, pose);
        let mut effort = Effort::unlimited();
        decide(&pair, &METHODS[0], &mut witness, &mut effort).unwrap();
        let hits = u64::from(step > 0);
        assert_eq!((effort.cost.witness_hits, effort.cost.supports), (hits, 2 * hits));
    }
}

#[test]
fn a_direction_that_no_longer_separates_is_dropped_at_the_cost_of_nothing() {
    let p = cone(40);
    let at = |x, y| Pair::new(&p, Pose::identity(), &p, Pose::translation(x, y, 0.9));
    let mut witness = Witness::default();
    decide(&at(0.1, 1.3), &METHODS[0], &mut witness, &mut Effort::unlimited()).unwrap();
    assert!(witness.direction.is_some());
    let mut effort = Effort::unlimited();
    decide(&at(0.1, -1.3), &METHODS[0], &mut witness, &mut effort).unwrap();
    let mut cold = Effort::unlimited();
    decide(&at(0.1, -1.3), &METHODS[0], &mut Witness::default(), &mut cold).unwrap();
    assert_eq!(effort.cost, cold.cost);
}

#[test]
fn bodies_whose_balls_or_ellipsoids_are_separated_are_answered_without_a_supporting_vertex() {
    for axes in [[1.0, 1.0, 1.0], [1.5, 1.0, 1.0]] {
        let p = ellipsoid(200, axes, 3);
        let pair = Pair::new(&p, Pose::identity(), &p, Pose::translation(1.0, 2.2, 0.1));
        let mut effort = Effort::unlimited();
        let decision = decide(&pair, &METHODS[0], &mut Witness::default(), &mut effort).unwrap();
        assert_eq!(judge_static(&pair, &decision.proof), Ok(()));
        assert_eq!((effort.cost.supports, decision.verdict()), (0, Verdict::Separated));
    }
}

/// A box that stands square to the direction has four vertices as far as each other, and no
/// neighbour beaten: the exact stage's search for the supporting vertex took as long as the rest of
/// the query.
#[test]
fn of_a_box_square_to_the_direction_no_vertex_has_to_be_told_from_the_others() {
    let p = crate::samples::cuboid(1.0, 1.0, 1.0);
    let q = ball(100, 3);
    let pair = Pair::new(&p, Pose::identity(), &q, Pose::translation(2.02, 0.0, 0.0));
    let mut witness = Witness { direction: Some(Vec3::new(1.0, 0.0, 0.0)), ..Witness::default() };
    let mut effort = Effort::unlimited();
    let decision = decide(&pair, &METHODS[0], &mut witness, &mut effort).unwrap();
    assert_eq!(judge_static(&pair, &decision.proof), Ok(()));
    assert_eq!((effort.cost.witness_hits, effort.cost.supports), (1, 2));
}

/// Two segments in one line reach as far as the balls around them, so the ball test has no room for
/// an error; and a matrix that stretches by what is allowed moves their ends beyond the radius.
#[test]
fn segments_end_to_end_are_separated_by_an_ulp_and_not_by_their_balls() {
    let mut counts = std::collections::BTreeMap::new();
    for seed in 0..300 {
        let mut random = Random(seed);
        let stretch = 1.0 + 4e-7 * f64::from(random.below(3)) - 4e-7;
        let mut turned = random.pose(Vec3::zeros());
        let axes = if seed % 3 == 0 { 1 } else { 3 };
        if axes == 1 {
            turned = Pose::identity();
        }
        turned.rotation *= stretch;
        let half = Vec3::new(1.0 + f64::from(random.below(5)), 0.0, 0.0);
        let p = hull(&[half, -half]);
        // Q's end comes to P's end, up to the rounding of the translation.
        let end = turned.rotation * half * 2.0;
        let mut translation = end;
        for k in 0..axes {
            for _ in 0..random.below(3) {
                translation[k] = translation[k].next_up();
            }
        }
        let pair = Pair::new(&p, turned, &p, Pose { translation, ..turned });
        let mut effort = Effort::unlimited();
        let first = decide(&pair, &METHODS[0], &mut Witness::default(), &mut effort).unwrap();
        let story = format!("seed {seed}");
        decide_in_every_way(&pair, &Witness::default(), first.verdict(), &story);
        *counts.entry(first.verdict()).or_insert(0) += 1;
    }
    assert!(counts[&Verdict::Separated] > 20 && counts[&Verdict::Touching] > 20, "{counts:?}");
}

#[test]
fn no_budget_is_an_answer_of_its_own() {
    let p = ball(200, 3);
    let pair = Pair::new(&p, Pose::identity(), &p, Pose::translation(1.9, 0.3, 0.1));
    let stopped = decide(&pair, &METHODS[0], &mut Witness::default(), &mut Effort::with_steps(0));
    assert_eq!(stopped, Err(Stopped::Steps));
}

/// Turned bodies whose supporting vertices, edges or facets come within rounding of each other. No
/// f64 sum knows how they stand; the judge, who shares no code with the searches, confirms each.
#[test]
fn turned_bodies_within_an_ulp_of_contact_get_a_verdict_that_the_judge_confirms() {
    let mut counts = std::collections::BTreeMap::new();
    for seed in 0..if cfg!(debug_assertions) { 400 } else { 20_000 } {
        let mut random = Random(seed);
        let (p, q) = (ball(4 + random.below(20), seed), ball(4 + random.below(20), seed + 99));
        let offset = random.vector() * 10f64.powi(i32::try_from(random.below(8)).unwrap());
        let (pose_p, turned) = (random.pose(offset), random.pose(Vec3::zeros()));
        // A random point of a random facet of each, rounded, is brought together along P's normal.
        let mut corner_of = |body: &Polytope| -> Vec<Vec3> {
            let facet =
                body.facets().row(random.below(u32::try_from(body.facets().len()).unwrap()));
            facet.iter().take(3).map(|&v| *body.vertex(v)).collect()
        };
        let (on_p, on_q) = (corner_of(&p), corner_of(&q));
        let weights = [random.below(3), random.below(3), 1 + random.below(2)].map(f64::from);
        let point = |corners: &[Vec3]| {
            let total: f64 = weights.iter().sum();
            corners.iter().zip(weights).map(|(v, w)| v * (w / total)).sum::<Vec3>()
        };
        let normal = (on_p[1] - on_p[0]).cross(&(on_p[2] - on_p[0]));
        let s = pose_p.rotation * normal;
        let mut effort = Effort::unlimited();
        let against_q = turned.direction_to_body_rounded(&-s);
        let met = crate::support::by_scan(&q, &against_q, &mut effort);
        let meeting = if random.below(2) == 0 { *q.vertex(met) } else { point(&on_q) };
        let translation = pose_p.apply_rounded(&point(&on_p)) - turned.rotation * meeting;
        let pair = Pair::new(&p, pose_p, &q, Pose { translation, ..turned });
        let first = decide(&pair, &METHODS[0], &mut Witness::default(), &mut effort).unwrap();
        let story = format!("seed {seed}");
        decide_in_every_way(&pair, &Witness::default(), first.verdict(), &story);
        *counts.entry((first.verdict(), effort.cost.exact_stages > 0)).or_insert(0) += 1;
    }
    for verdict in [Verdict::Separated, Verdict::Overlapping] {
        assert!(counts.get(&(verdict, true)).is_some_and(|n| *n > 20), "{counts:?}");
    }
}

/// Their turned coordinates are rounded to one of a few multiples of the least f64.
#[test]
fn turned_bodies_of_a_few_least_f64s_get_a_verdict_that_the_judge_confirms() {
    let mut counts = std::collections::BTreeMap::new();
    for seed in 0..if cfg!(debug_assertions) { 2000 } else { 20_000 } {
        let mut random = Random(seed);
        let unit = f64::from_bits(1 << random.below(8));
        let mut body = || {
            let corners = 4 + random.below(5);
            let mut coordinate = || (f64::from(random.below(7)) - 3.0) * unit;
            let mut corner = |_| Vec3::from_fn(|_, _| coordinate());
            hull(&(0..corners).map(&mut corner).collect::<Vec<_>>())
        };
        let (p, q) = (body(), body());
        let (pose_p, pose_q) =
            (random.pose(Vec3::zeros()), random.pose(Vec3::new(unit, unit, 0.0)));
        let pair = Pair::new(&p, pose_p, &q, pose_q);
        let mut effort = Effort::with_steps(100_000);
        let decision = decide(&pair, &METHODS[0], &mut Witness::default(), &mut effort).unwrap();
        assert_eq!(judge_static(&pair, &decision.proof), Ok(()), "seed {seed}: {decision:?}");
        *counts.entry(decision.verdict()).or_insert(0) += 1;
    }
    for verdict in [Verdict::Separated, Verdict::Overlapping] {
        assert!(counts.get(&verdict).is_some_and(|n| *n > 100), "{counts:?}");
    }
}

/// A few vertices take no longer to look at than what is around them. Before that was made use of,
/// eight points on a ball that turned by 90 degrees a frame, close to eight others, took as long as
/// other libraries' search.
#[test]
fn bodies_of_few_vertices_apart_along_the_line_between_their_centres_need_no_search() {
    let (p, q) = (ball(8, 1), ball(7, 2));
    let mut random = Random(9);
    let (mut apart, mut searched) = (0, 0);
    for _ in 0..2000 {
        let way = random.unit_vector();
        let distance = 1.7 + 0.3 * random.signed();
        let pose_q = random.pose(way * distance);
        let pair = Pair::new(&p, random.pose(Vec3::zeros()), &q, pose_q);
        let s = centre_to_centre(&pair);
        let mut effort = Effort::unlimited();
        let found = certified_gap(&pair, &s, None, &mut effort);
        let is_apart = found.is_some_and(|gap| gap.lower > 0.0);
        let mut effort = Effort::unlimited();
        decide(&pair, &METHODS[0], &mut Witness::default(), &mut effort).unwrap();
        assert!(!is_apart || effort.cost.steps == 0, "{:?}", effort.cost);
        apart += u32::from(is_apart);
        searched += u32::from(effort.cost.steps > 0);
    }
    assert!(apart > 300 && searched > 300, "{apart} and {searched}");
}

/// What another search proves of the pair when Q is three metres further along x, handed over as if
/// it were of the pair itself.
fn proves_another_pair(
    pair: &Pair<'_>,
    _: &Layout,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Proposal, Stopped> {
    let mut other = *pair;
    other.q.pose.translation.x += 3.0;
    METHODS[0].propose(&other, witness, effort)
}

/// And what it proves when Q is three metres nearer.
fn proves_a_nearer_pair(
    pair: &Pair<'_>,
    _: &Layout,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Proposal, Stopped> {
    let mut other = *pair;
    other.q.pose.translation.x -= 3.0;
    METHODS[0].propose(&other, witness, effort)
}

#[test]
fn evidence_of_another_pair_proves_nothing() {
    let (p, q) = (ball(200, 1), ball(200, 2));
    let mut handed_over = 0;
    for (x, propose) in [(0.25, proves_another_pair as Propose), (3.25, proves_a_nearer_pair)] {
        let method = CollisionMethod { propose, ..METHODS[0] };
        for y in 0..20 {
            let place = Pose::translation(x, 0.05 * f64::from(y), 0.1);
            let pair = Pair::new(&p, Pose::identity(), &q, place);
            let unlimited = || Effort::unlimited();
            let claimed = method.propose(&pair, &mut Witness::default(), &mut unlimited()).unwrap();
            let verdict = if x < 1.0 { Verdict::Overlapping } else { Verdict::Separated };
            let is_proven = matches!(claimed, Proposal::Proven(_));
            handed_over += u32::from(is_proven && claimed.claim() != Some(verdict));
            // As it comes to `decide` where no first look answers.
            let layout = Layout::of(&pair).towards;
            let witness = &mut Witness::default();
            let found = search(&pair, layout, &method, witness, &mut unlimited()).unwrap();
            assert_eq!(found.verdict(), verdict, "{x} {y}: {found:?}");
            assert_eq!(judge_static(&pair, &found.proof), Ok(()), "{x} {y}: {found:?}");
        }
    }
    assert!(handed_over > 20, "{handed_over}");
}
