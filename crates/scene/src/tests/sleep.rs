//! Pairs that sleep while their bodies have not travelled as far as their verdict has room: nothing
//! that is told differs from what a scene tells that looks at all of them.

use super::*;
use crate::{Between, PairMargin, Rules};
use clearance_geometry::until::Until;

/// Solids and compounds that stand close, some with margins, some at matrices as far from rotations
/// as is let in, as are some parts in them; some are rounded.
fn crowd(count: u32, seed: u64, has_margins: bool) -> Declaration {
    let mut random = Random(seed);
    let mut bodies = tumbling(count, seed);
    let solid = |body: &mut Body| {
        body.parts.truncate(1);
        body.parts[0].body_from_part = Pose::identity();
    };
    bodies.iter_mut().filter(|body| body.id.0 % 2 == 0).for_each(solid);
    for body in &mut bodies {
        for part in body.parts.iter_mut().filter(|_| body.id.0 % 2 == 1) {
            part.body_from_part = random.any_pose(part.body_from_part.translation);
        }
        body.pose = random.any_pose(body.pose.translation);
    }
    let mut random = Random(seed + 7_000);
    for part in bodies.iter_mut().flat_map(|body| &mut body.parts) {
        part.radius = [0.0, 0.0, 0.1, 0.4][random.below(4) as usize];
    }
    let mut rules = Rules::default();
    if has_margins {
        bodies
            .iter_mut()
            .for_each(|body| body.margin = [0.0, 0.1, -0.15][random.below(3) as usize]);
        let pair = [bodies[0].id, bodies[1].id];
        rules.margins.push(PairMargin { pair, margin: 0.4 });
        let pair = [bodies[2].id, bodies[3].id];
        rules.margins.push(PairMargin { pair, margin: -0.05 });
    }
    Declaration { bodies, rules, release_margin: 0.02, ..Declaration::default() }
}

/// Moves some bodies by less than a hundredth of their size, and now and then one far.
fn creep(scene: &Scene, id: u64, random: &mut Random) -> Frame {
    let mut moves = Vec::new();
    for body in scene.bodies() {
        let reach = match random.below(40) {
            0 => 0.5,
            1..20 => 0.008,
            20..30 => 1e-7,
            _ => continue,
        };
        let turn = random.vector() * reach;
        let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]).unwrap();
        let turned = turn.compose(&Pose { translation: Vec3::zeros(), ..body.pose });
        let translation = body.pose.translation + random.vector() * reach;
        moves.push(moved(body.id.0, Pose { translation, ..turned }));
    }
    frame(id, moves)
}

/// What a report says, but for the last bits of brackets.
fn said(report: &Report) -> String {
    let pairs: Vec<_> = report
        .pairs
        .iter()
        .map(|pair| (pair.p, pair.q, pair.verdict, pair.deciding, pair.within_margin))
        .collect();
    let told: Vec<_> = report.events.iter().map(|e| (e.kind, e.p, e.q, e.verdict)).collect();
    format!("{:?} {pairs:?} {told:?}", report.tally)
}

/// How many pairs a scene looked at, and how many one that knows nothing.
fn check(declaration: Declaration, seed: u64, questions: &Questions) -> [u64; 2] {
    let mut warm = declare(declaration);
    let mut cold = warm.clone();
    let (mut random, mut looked_at) = (Random(seed), [0, 0]);
    for id in 1..60 {
        let next = creep(&warm, id, &mut random);
        cold.forget_witnesses();
        let reports = [&mut warm, &mut cold].map(|scene| step(scene, &next, questions));
        for (sum, report) in looked_at.iter_mut().zip(&reports) {
            let counters = &report.counters;
            *sum += counters.pairs_enabled - counters.pairs_skipped - counters.pairs_remembered;
        }
        let [found, expected] = reports.map(|report| said(&report));
        assert_eq!(found, expected, "seed {seed}, frame {id}, {questions:?}");
    }
    looked_at
}

#[test]
fn a_scene_that_sleeps_tells_what_one_that_looks_at_all_tells() {
    let lists = [Listed::Nothing, Listed::Changed, Listed::Near];
    let mut all = [0, 0];
    for seed in 0..4 {
        for listed in lists {
            for between in [None, Some(Between::default())] {
                let questions = Questions { listed, between, ..Questions::default() };
                let looked_at = check(crowd(14, 200 + seed, seed % 2 == 1), seed, &questions);
                all = [all[0] + looked_at[0], all[1] + looked_at[1]];
            }
        }
    }
    assert!(all[0] * 2 < all[1], "hardly any pair sleeps: {all:?}");
}

#[test]
fn a_pair_that_sleeps_is_looked_at_when_its_proof_is_asked_for() {
    let bodies =
        vec![Body::solid(1, cube(0.5)), Body::solid(2, cube(0.5)).placed(at(0.3, 0.0, 0.0))];
    let mut scene = open(bodies);
    let questions = Questions {
        listed: Listed::Near,
        certificates: true,
        distances: true,
        ..Questions::default()
    };
    for id in 1..5 {
        let next = frame(id, vec![moved(2, at(0.3 + id as f64 * 1e-6, 0.0, 0.0))]);
        let report = step(&mut scene, &next, &questions);
        assert_eq!(report.pairs.len(), 1);
        assert_eq!(report.pairs[0].proofs.len(), 1, "frame {id}");
    }
    // The body is somewhere else: what slept must not be told of where it was.
    let report = step(&mut scene, &frame(5, vec![moved(2, at(5.0, 0.0, 0.0))]), &questions);
    assert_eq!(events(&report), [(EventKind::Ended, 1, 2)]);
}

/// Frames of large scenes went to the pool for every body that moved, as if each were looked for
/// among all others.
#[test]
fn bodies_that_move_within_their_room_are_not_looked_for() {
    let questions = Questions { listed: Listed::Nothing, ..Questions::default() };
    let mut scene = Scene::open(crowd(30, 400, false), &METHODS[0], LIMITS).unwrap();
    scene.answer(&questions, &Serial, Until::never()).unwrap();
    let mut random = Random(5);
    let mut found = Vec::new();
    for id in 1..60 {
        scene.apply(&creep(&scene, id, &mut random)).unwrap();
        let count = scene.bodies_to_find(&questions);
        found.push(count);
        scene.pairs_within_reach(&questions).unwrap();
        assert_eq!(scene.bodies_to_find(&questions), 0, "frame {id}: {count} were found just now");
        scene.answer(&questions, &Serial, Until::never()).unwrap();
    }
    let few = found[1..].iter().filter(|&&count| count < 10).count();
    assert!(few > 40, "most stay within their room: {found:?}");
    let far = crowd(30, 400, false).bodies[0].id;
    scene.apply(&frame(60, vec![moved(far.0, at(500.0, 0.0, 0.0))])).unwrap();
    assert!(scene.bodies_to_find(&questions) > 0, "it is somewhere else");
}

#[test]
fn how_many_pairs_are_within_reach_is_said_before_they_are_looked_at() {
    let mut closest = f64::INFINITY;
    for between in [None, Some(Between::default())] {
        let questions = Questions { listed: Listed::Nothing, between, ..Questions::default() };
        let mut scene = declare(crowd(30, 400, false));
        let mut random = Random(5);
        for id in 1..60 {
            let next = creep(&scene, id, &mut random);
            let mut twin = scene.clone();
            let expected = step(&mut twin, &next, &questions);
            scene.apply(&next).unwrap();
            let bound = scene.pairs_within_reach(&questions).unwrap();
            let report = scene.answer(&questions, &Serial, Until::never()).unwrap();
            assert_eq!(report, expected, "frame {id}: asking first changes nothing");
            let counters = &report.counters;
            let unseen = counters.pairs_skipped + counters.pairs_remembered;
            let looked_at = counters.pairs_enabled - unseen;
            assert!(looked_at <= bound, "frame {id}: {looked_at} of {bound}");
            closest = closest.min(bound as f64 / looked_at.max(1) as f64);
        }
    }
    assert!(closest < 3.0, "the bound is far too large: {closest}");
}
