//! Verdicts, distances and lists against brute force.

use super::*;
use crate::pairs::report::{PairReport, PartPair, PartProof};
use clearance_geometry::claim::{MarginClaim, StaticProof};
use clearance_geometry::distance::{Stops, measure};
use clearance_geometry::judge::judge_margin;

/// Boxes of edge 2 at integer places: they stand as their intervals say.
fn grid_verdict(a: &Pose, b: &Pose) -> Verdict {
    let farthest = (a.translation - b.translation).abs().max();
    if farthest > 2.0 {
        Verdict::Separated
    } else if farthest < 2.0 {
        Verdict::Overlapping
    } else {
        Verdict::Touching
    }
}

fn grid_place(random: &mut Random) -> Pose {
    let mut coordinate = || f64::from(random.below(9));
    at(coordinate(), coordinate(), coordinate())
}

fn grid_verdicts(scene: &Scene) -> BTreeMap<(u32, u32), Verdict> {
    let bodies: Vec<&Body> = scene.bodies().collect();
    let pairs = bodies.iter().enumerate().flat_map(|(index, p)| {
        bodies[index + 1..].iter().map(|q| ((p.id.0, q.id.0), grid_verdict(&p.pose, &q.pose)))
    });
    pairs.collect()
}

#[test]
fn boxes_on_a_grid_stand_as_their_intervals_say_in_every_frame() {
    let mut random = Random(11);
    let shape = cube(1.0);
    let bodies: Vec<Body> =
        (0..24).map(|id| Body::solid(id, shape.clone()).placed(grid_place(&mut random))).collect();
    let mut scene = open(bodies);
    let mut known = verdicts(&step(&mut scene, &frame(1, vec![]), &all()));
    let mut seen = [0_u64; 3];
    for id in 2..40 {
        let moves = (0..6).map(|k| moved(k * 4 + random.below(4), grid_place(&mut random)));
        // Now all pairs, now the changes, which must lead from one frame to the next.
        let questions = if id % 2 == 0 { Questions::default() } else { all() };
        let report = step(&mut scene, &frame(id, moves.collect()), &questions);
        if id % 2 == 0 {
            let changed = verdicts(&report);
            assert!(changed.iter().all(|(pair, verdict)| known[pair] != *verdict));
        }
        known.extend(verdicts(&report));
        let expected = grid_verdicts(&scene);
        assert_eq!(known, expected, "frame {id}");

        let count = |kind| expected.values().filter(|verdict| **verdict == kind).count() as u64;
        let counts = [Verdict::Separated, Verdict::Touching, Verdict::Overlapping].map(count);
        let tally = report.tally;
        assert_eq!([tally.separated, tally.touching, tally.overlapping], counts);
        (0..3).for_each(|kind| seen[kind] += counts[kind]);
    }
    assert!(seen.iter().all(|count| *count > 100), "too few of one kind: {seen:?}");
}

#[test]
fn tumbling_compounds_stand_as_brute_force_says() {
    let mut scene = open(tumbling(14, 5));
    let mut random = Random(6);
    let mut seen = [0_u32; 3];
    for id in 1..25 {
        let next = wander(&scene, id, &mut random);
        let report = step(&mut scene, &next, &all());
        let expected = brute_force(&scene);
        assert_eq!(verdicts(&report), expected, "frame {id}");
        expected.values().for_each(|verdict| seen[*verdict as usize] += 1);
    }
    assert!(seen[0] > 200 && seen[2] > 200, "too few of one kind: {seen:?}");
}

#[test]
fn a_box_gap_of_one_ulp_is_separated_and_none_is_touching() {
    let shape = cube(1.0);
    let bodies = vec![Body::solid(1, shape.clone()), Body::solid(2, shape)];
    let mut scene = open(bodies);
    let report =
        step(&mut scene, &frame(1, vec![moved(2, at(0.0, 2.0_f64.next_up(), 0.0))]), &all());
    assert_eq!(verdicts(&report)[&(1, 2)], Verdict::Separated);
    let report = step(&mut scene, &frame(2, vec![moved(2, at(0.0, 2.0, 0.0))]), &all());
    assert_eq!(verdicts(&report)[&(1, 2)], Verdict::Touching);
}

/// The distance of a compound by brute force: the least bracket over its parts.
fn distance(p: &Body, q: &Body) -> [f64; 2] {
    let mut least = [f64::INFINITY; 2];
    for pair in parts(p, q) {
        let mut effort = Effort::unlimited();
        let witness = &mut Witness::default();
        let found = measure(&pair, Stops::default(), witness, &mut effort).unwrap();
        least = [least[0].min(found.lower), least[1].min(found.upper)];
    }
    least
}

#[test]
fn the_distance_of_compounds_is_the_least_of_their_parts() {
    let mut scene = open(tumbling(9, 15));
    let mut random = Random(16);
    let mut apart = 0;
    for id in 1..6 {
        let next = wander(&scene, id, &mut random);
        let report = step(&mut scene, &next, &Questions { distances: true, ..all() });
        let bodies: BTreeMap<u32, &Body> = scene.bodies().map(|b| (b.id.0, b)).collect();
        assert_eq!(report.pairs.len(), 36);
        for pair in &report.pairs {
            let [lower, upper] = distance(bodies[&pair.p.0], bodies[&pair.q.0]);
            let found = pair.distance.as_ref().unwrap();
            assert!(found.lower <= upper && lower <= found.upper, "{pair:?}");
            assert!(found.upper - found.lower <= 1e-11 * (1.0 + upper), "{pair:?}");
            assert_eq!(found.upper > 0.0, pair.verdict == Some(Verdict::Separated));
            apart += u32::from(found.upper > 0.0);
        }
    }
    assert!(apart > 50, "{apart}");
}

/// Those that were also asked for as pairs below some distance got a second, wide bracket if they
/// are farther away.
#[test]
fn the_distances_of_listed_pairs_are_as_narrow_when_near_ones_are_listed_too() {
    let mut scene = open(tumbling(9, 15));
    let mut random = Random(16);
    for id in 1..8 {
        let below = Some(0.25 * id as f64);
        let next = wander(&scene, id, &mut random);
        let questions = Questions { distances: true, below, canonical: true, ..all() };
        let report = step(&mut scene, &next, &questions);
        assert_eq!(report.pairs.len(), 36);
        for pair in &report.pairs {
            let found = pair.distance.as_ref().unwrap();
            assert!(found.upper - found.lower <= 1e-11 * (1.0 + found.upper), "{pair:?}");
        }
    }
}

/// What was measured while nobody asked for proofs was told again without them when somebody did,
/// if there was a proof of the verdict from before.
#[test]
fn what_was_measured_without_proofs_is_measured_again_when_proofs_are_asked() {
    let mut scene = open(tumbling(9, 15));
    let bare = Questions { distances: true, depths: true, ..all() };
    let proven = Questions { certificates: true, ..bare };
    step(&mut scene, &frame(1, vec![]), &Questions { certificates: true, ..all() });
    step(&mut scene, &frame(2, vec![]), &bare);
    let report = step(&mut scene, &frame(3, vec![]), &proven);
    let mut fresh = open(tumbling(9, 15));
    let expected = step(&mut fresh, &frame(1, vec![]), &proven);
    let [mut gaps, mut surfaces] = [0; 2];
    for (found, expected) in report.pairs.iter().zip(&expected.pairs) {
        let count = |pair: &PairReport| pair.distance.as_ref().unwrap().gaps.len();
        assert_eq!(count(found) > 0, count(expected) > 0, "{found:?}");
        gaps += count(found);
        let Some(found) = &found.depth else { continue };
        let expected = expected.depth.as_ref().unwrap();
        assert!(found.depth.surface.is_some(), "{found:?}");
        assert_eq!(found.others.len(), expected.others.len(), "{found:?}");
        surfaces += 1;
    }
    assert!(gaps > 20 && surfaces > 2, "{gaps} {surfaces}");
}

/// A bracket that a budget left wide was told, and kept while nothing moved, as if it were all
/// there is to know.
#[test]
fn a_distance_that_is_wider_than_it_could_be_says_why() {
    let mut scene = open(tumbling(9, 15));
    let (mut wide, mut narrow) = (0, 0);
    let told = |report: &Report| report.pairs.iter().filter(|p| p.distance.is_some()).count();
    for steps_max in 1..12 {
        let questions = Questions { distances: true, steps_max, ..all() };
        let report = step(&mut scene, &frame(steps_max, vec![]), &questions);
        assert!(told(&report) > 0);
        for pair in &report.pairs {
            let Some(found) = &pair.distance else { continue };
            let is_wide = found.upper - found.lower > 1e-11 * (1.0 + found.upper);
            assert!(pair.stopped.is_some() || !is_wide, "{pair:?}");
            wide += u32::from(is_wide);
            narrow += u32::from(!is_wide);
        }
    }
    assert!(wide > 9 && narrow > 9, "{wide} {narrow}");
    let report = step(&mut scene, &frame(12, vec![]), &Questions { distances: true, ..all() });
    assert_eq!(told(&report), report.pairs.len());
    assert!(report.pairs.iter().all(|pair| pair.stopped.is_none()));
}

#[test]
fn the_nearest_pairs_are_the_nearest() {
    let mut random = Random(21);
    let shape = cube(0.25);
    let bodies: Vec<Body> =
        (0..30).map(|id| Body::solid(id, shape.clone()).placed(drift(&mut random))).collect();
    let mut scene = open(bodies);
    let questions = Questions { listed: Listed::Nothing, nearest: 7, ..Questions::default() };
    for id in 1..5 {
        let next = wander(&scene, id, &mut random);
        let report = step(&mut scene, &next, &questions);
        let bodies: Vec<&Body> = scene.bodies().collect();
        let mut every: Vec<(f64, u32, u32)> = Vec::new();
        for (index, p) in bodies.iter().enumerate() {
            for q in &bodies[index + 1..] {
                every.push((distance(p, q)[1], p.id.0, q.id.0));
            }
        }
        every.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut expected: Vec<(u32, u32)> = every[..7].iter().map(|e| (e.1, e.2)).collect();
        expected.sort_unstable();
        let found: Vec<(u32, u32)> = report.pairs.iter().map(|p| (p.p.0, p.q.0)).collect();
        assert_eq!(found, expected);
        assert!(report.pairs.iter().all(|pair| pair.distance.is_some()));
    }
}

#[test]
fn asking_for_more_nearest_pairs_than_there_are_gives_all() {
    let shape = cube(0.25);
    let far = at(1e6, 0.0, 0.0);
    let mut scene = open(vec![
        Body::solid(1, shape.clone()),
        Body::solid(2, shape.clone()).placed(at(3.0, 0.0, 0.0)),
        Body::solid(3, shape).placed(far),
    ]);
    let questions = Questions { listed: Listed::Nothing, nearest: 10, ..Questions::default() };
    assert_eq!(step(&mut scene, &frame(1, vec![]), &questions).pairs.len(), 3);
}

#[test]
fn pairs_below_a_distance_are_listed_and_no_others() {
    let mut random = Random(31);
    let shape = cube(0.25);
    let bodies: Vec<Body> =
        (0..20).map(|id| Body::solid(id, shape.clone()).placed(drift(&mut random))).collect();
    let mut scene = open(bodies);
    let questions = Questions { listed: Listed::Nothing, below: Some(1.0), ..Questions::default() };
    let report = step(&mut scene, &frame(1, vec![]), &questions);
    let bodies: Vec<&Body> = scene.bodies().collect();
    let mut expected = Vec::new();
    for (index, p) in bodies.iter().enumerate() {
        for q in &bodies[index + 1..] {
            if distance(p, q)[0] <= 1.0 {
                expected.push((p.id.0, q.id.0));
            }
        }
    }
    let found: Vec<(u32, u32)> = report.pairs.iter().map(|p| (p.p.0, p.q.0)).collect();
    assert!(expected.len() > 5 && expected.len() < 100, "{}", expected.len());
    assert_eq!(found, expected);
}

/// What is said of a margin came without a proof.
#[test]
fn what_is_said_of_a_margin_is_shown_by_the_proofs_of_the_pair() {
    let mut random = Random(71);
    let mut bodies = tumbling(9, 72);
    bodies.iter_mut().for_each(|body| body.margin = random.signed().abs());
    let mut scene = open(bodies);
    let questions = Questions { certificates: true, ..all() };
    let [mut near, mut far] = [0; 2];
    for id in 1..6 {
        let next = wander(&scene, id, &mut random);
        let report = step(&mut scene, &next, &questions);
        let bodies: BTreeMap<u32, &Body> = scene.bodies().map(|b| (b.id.0, b)).collect();
        let apart = |pair: &&PairReport| pair.verdict == Some(Verdict::Separated);
        for pair in report.pairs.iter().filter(apart) {
            let [p, q] = [pair.p, pair.q].map(|body| bodies[&body.0]);
            let beside: Vec<Pair<'_>> = parts(p, q).collect();
            let shows = |entry: &PartProof, of: usize, is_within: bool| {
                let proof = of_polytopes(&entry.proof);
                let StaticProof::Separated { direction } = proof else { return false };
                let pairs = &entry.margin_pairs;
                let claim = MarginClaim { margin: pair.margin, is_within, pairs, depth: None };
                judge_margin(&beside[of], direction, &claim, &mut Effort::unlimited()).is_ok()
            };
            let place = |parts: PartPair| parts.p as usize * q.parts.len() + parts.q as usize;
            let all = 0..beside.len();
            let within = pair
                .proofs
                .iter()
                .any(|entry| entry.parts.is_some_and(|parts| shows(entry, place(parts), true)));
            let beyond = all.clone().all(|of| {
                let covers = |entry: &PartProof| entry.parts.is_none_or(|parts| place(parts) == of);
                pair.proofs.iter().any(|entry| covers(entry) && shows(entry, of, false))
            });
            let is_within = pair.within_margin.unwrap();
            assert_eq!([within, beyond], [is_within, !is_within], "{pair:?}");
            near += u32::from(is_within);
            far += u32::from(!is_within && pair.proofs.iter().any(|e| !e.margin_pairs.is_empty()));
        }
    }
    assert!(near > 9 && far > 9, "{near} {far}");
}

/// Contact is told as always; within a margin below 0 are those that overlap at least so deep.
#[test]
fn within_a_margin_below_zero_are_bodies_that_are_so_deep() {
    let mut deep = Body::solid(1, cube(0.5));
    deep.margin = -0.5;
    let mut other = Body::solid(2, cube(0.5)).placed(at(3.0, 0.0, 0.0));
    other.margin = 0.25;
    let mut scene = open(vec![deep, other]);
    let questions = Questions { listed: Listed::Near, ..Questions::default() };
    let expected = [
        (1.0f64.next_up(), Verdict::Separated, false, vec![]),
        (1.0, Verdict::Touching, false, vec![(EventKind::Began, 1, 2)]),
        (0.75f64.next_up(), Verdict::Overlapping, false, vec![]),
        (0.75, Verdict::Overlapping, true, vec![]),
        (0.75, Verdict::Overlapping, true, vec![]),
        (0.7, Verdict::Overlapping, true, vec![]),
        (0.8, Verdict::Overlapping, false, vec![]),
        (3.0, Verdict::Separated, false, vec![(EventKind::Ended, 1, 2)]),
    ];
    for (id, (x, verdict, is_within, told)) in (1..).zip(expected) {
        let report = step(&mut scene, &frame(id, vec![moved(2, at(x, 0.1, 0.0))]), &questions);
        assert_eq!(events(&report), told, "{x}");
        if verdict == Verdict::Separated {
            assert!(report.pairs.is_empty(), "{x}");
            continue;
        }
        let pair = &report.pairs[0];
        assert_eq!((pair.verdict, pair.within_margin), (Some(verdict), Some(is_within)), "{x}");
    }
}

#[test]
fn within_margin_is_exact_at_the_margin() {
    let shape = cube(1.0);
    let mut near = Body::solid(1, shape.clone());
    near.margin = 0.25;
    let mut other = Body::solid(2, shape);
    other.margin = 0.5;
    let mut scene = open(vec![near, other]);
    for (id, x, expected) in
        [(1, 2.75, true), (2, 2.75_f64.next_up(), false), (3, 2.75_f64.next_down(), true)]
    {
        let report = step(&mut scene, &frame(id, vec![moved(2, at(x, 0.0, 0.0))]), &all());
        assert_eq!(report.pairs[0].within_margin, Some(expected), "{x}");
        assert_eq!(report.pairs[0].verdict, Some(Verdict::Separated));
    }
}
