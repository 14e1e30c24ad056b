//! Pairs by their signed clearance, beside all pairs measured from cold.

#![expect(clippy::float_cmp, reason = "the clearances of boxes are exact")]

use super::*;
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::penetration;

/// The signed clearance of two bodies, from cold: of all their parts the least distance, or minus
/// the greatest depth.
fn clearance(p: &Body, q: &Body) -> [f64; 2] {
    let of_parts = |pair: Pair<'_>| {
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let apart = distance::measure(&pair, Stops::default(), witness, effort).unwrap();
        let witness = &mut Witness::default();
        let deep = penetration::measure(&pair, false, witness, effort).unwrap();
        [apart.lower - deep.upper, apart.upper - deep.lower]
    };
    let all: Vec<[f64; 2]> = parts(p, q).map(of_parts).collect();
    [0, 1].map(|end| all.iter().map(|bracket| bracket[end]).fold(f64::INFINITY, f64::min))
}

fn all_clearances(scene: &Scene) -> BTreeMap<(BodyId, BodyId), [f64; 2]> {
    let bodies: Vec<&Body> = scene.bodies().collect();
    let mut found = BTreeMap::new();
    for (index, p) in bodies.iter().enumerate() {
        for q in &bodies[index + 1..] {
            found.insert((p.id, q.id), clearance(p, q));
        }
    }
    found
}

fn ranked(questions: Questions) -> Questions {
    Questions { listed: Listed::Nothing, ..questions }
}

/// Holds a report's ranking against all pairs measured from cold: in order, every bracket around
/// what it says, and nobody left out who comes before the last one.
fn check(report: &Report, scene: &Scene, is_full: impl Fn(usize, f64) -> bool) {
    let expected = all_clearances(scene);
    let of = |pair: &crate::RankedPair| (pair.p, pair.q);
    let mut last = f64::NEG_INFINITY;
    for pair in &report.ranking {
        let [lower, upper] = pair.clearance;
        let [least, most] = expected[&of(pair)];
        assert!(lower <= most && least <= upper, "{pair:?}: {least} {most}");
        assert!(upper - lower <= 1e-11 * upper.abs().max(1e-3), "{pair:?}");
        assert!(upper >= last, "{pair:?} comes before what is nearer");
        last = upper;
    }
    let told: BTreeMap<_, _> = report.ranking.iter().map(|pair| (of(pair), pair)).collect();
    assert_eq!(told.len(), report.ranking.len());
    for (key, [lower, upper]) in &expected {
        let is_missed = !told.contains_key(key) && *upper < last;
        assert!(!is_missed, "{key:?} is left out: {lower} {upper} before {last}");
    }
    let listed: Vec<_> = report.pairs.iter().map(|pair| (pair.p, pair.q)).collect();
    assert!(told.keys().all(|key| listed.contains(key)), "what is ranked is listed");
    for pair in &report.pairs {
        let is_deep = pair.verdict == Some(Verdict::Overlapping);
        assert_eq!(pair.depth.is_some(), is_deep, "{pair:?}");
    }
    assert!(is_full(report.ranking.len(), last), "{} {last}", report.ranking.len());
}

#[test]
fn tumbling_compounds_are_ranked_as_cold_measurements_say() {
    let mut scene = open(tumbling(16, 61));
    let mut random = Random(62);
    let mut overlapping = 0;
    for id in 1..9 {
        let next = wander(&scene, id, &mut random);
        let wanted = [1, 3, 20, 120][id as usize % 4];
        let report =
            step(&mut scene, &next, &ranked(Questions { nearest: wanted, ..Questions::default() }));
        check(&report, &scene, |count, _| count == wanted as usize);
        overlapping = overlapping.max(report.tally.overlapping);
        // The same frame again, with another question.
        for below in [-0.5, -0.05, 0.0, 0.4] {
            let mut again = scene.clone();
            let questions = ranked(Questions { below: Some(below), ..Questions::default() });
            let report = step(&mut again, &frame(id + 1, vec![]), &questions);
            let clearances = all_clearances(&again);
            let expected = clearances.values().filter(|bracket| bracket[1] <= below).count();
            check(&report, &again, |count, last| count == expected && last <= below);
        }
    }
    assert!(overlapping >= 15, "{overlapping}");
}

#[test]
fn the_deepest_overlap_comes_first_and_equals_say_so() {
    let shape = cube(1.0);
    // Along x: overlaps by 1.5 and 0.25, a touch, gaps of 0.5 and 3.
    let places = [0.0, 0.5, 2.25, 4.25, 6.75, 11.75];
    let body = |(id, x): (u32, f64)| Body::solid(id, shape.clone()).placed(at(x, 0.0, 0.0));
    let mut scene = open((1..).zip(places).map(body).collect());
    let nearest = |nearest| ranked(Questions { nearest, ..Questions::default() });
    let told = |report: &Report| -> Vec<(u32, u32, [f64; 2], bool)> {
        let one = |pair: &crate::RankedPair| (pair.p.0, pair.q.0, pair.clearance, pair.unordered);
        report.ranking.iter().map(one).collect()
    };
    let report = step(&mut scene, &frame(1, vec![]), &nearest(4));
    let first =
        [(1, 2, [-1.5, -1.5], false), (2, 3, [-0.25, -0.25], false), (3, 4, [0.0, 0.0], false)];
    assert_eq!(told(&report)[..3], first);
    // The first and the third cube are 0.25 apart.
    assert_eq!((told(&report)[3].0, told(&report)[3].1), (1, 3));
    let report = step(&mut scene, &frame(2, vec![]), &nearest(1));
    assert_eq!(told(&report), first[..1]);
    // Two overlaps of one depth: the second one is left out, and may as well be the first.
    let equal = frame(3, vec![moved(3, at(2.0, 0.0, 0.0)), moved(4, at(3.5, 0.0, 0.0))]);
    step(&mut scene, &equal, &nearest(1));
    let report = step(&mut scene, &frame(4, vec![moved(2, at(0.5, 1.5, 0.0))]), &nearest(1));
    let cold = all_clearances(&scene);
    let deepest = cold.values().map(|bracket| bracket[1]).fold(f64::INFINITY, f64::min);
    let equals = cold.values().filter(|bracket| bracket[1] == deepest).count();
    assert!(equals > 1, "{cold:?}");
    assert_eq!(told(&report)[0].2, [deepest; 2]);
    assert!(told(&report)[0].3, "{report:?}");
}

/// Remembered, or asked anew; on one thread or on several batches: one ranking.
#[test]
fn rankings_are_those_of_a_cold_scene() {
    let mut warm = open(tumbling(20, 71));
    let mut random = Random(72);
    for id in 1..10 {
        let before = warm.declaration();
        let next = wander(&warm, id, &mut random);
        let questions =
            ranked(Questions { nearest: 15, below: Some(-0.1), ..Questions::default() });
        let report = step(&mut warm, &next, &questions);
        let expected = step(&mut declare(before), &next, &questions);
        let of = |report: &Report| -> Vec<(BodyId, BodyId, bool)> {
            report.ranking.iter().map(|pair| (pair.p, pair.q, pair.unordered)).collect()
        };
        assert_eq!(of(&report), of(&expected), "frame {id}");
    }
}

/// Pairs that are ranked since they are below the distance are not left out by the number of the
/// nearest: with points at 0, 1 and 3, the second and the third pair were said to be unordered.
#[test]
fn what_is_asked_for_by_its_distance_is_not_left_out_by_the_number() {
    let dot = clearance_geometry::hull::convex_hull(&[Vec3::zeros()]).unwrap().polytope;
    let dot = Arc::new(dot);
    let body = |(id, x)| Body::solid(id, dot.clone()).placed(at(x, 0.0, 0.0));
    let mut scene = open([(1, 0.0), (2, 1.0), (3, 3.0)].map(body).to_vec());
    let questions = Questions { nearest: 1, below: Some(10.0), ..Questions::default() };
    let report = step(&mut scene, &frame(1, vec![]), &ranked(questions));
    let told = report.ranking.iter().map(|pair| (pair.p.0, pair.q.0, pair.unordered));
    let told: Vec<_> = told.collect();
    assert_eq!(told, [(1, 2, false), (2, 3, false), (1, 3, false)]);
    // Beyond the distance somebody is left out who is as near as the last one.
    let questions = Questions { nearest: 1, below: Some(0.5), ..Questions::default() };
    let moves = vec![moved(2, at(1.5, 0.0, 0.0))];
    let report = step(&mut scene, &frame(2, moves), &ranked(questions));
    assert!(report.ranking.len() == 1 && report.ranking[0].unordered, "{report:?}");
}
