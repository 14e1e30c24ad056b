//! First contacts between frames of the bodies that ask for them: nothing differs from a scene that
//! is asked about all pairs, nor, of other pairs, from one that is asked about none.

use super::*;
use crate::pairs::report::Event;
use crate::{Between, PairReport, Rules};

/// A fifth of the bodies asks for first contacts; all of them tumble, some about a point beside
/// them, some with a deviation; some are rounded.
fn fleet(count: u32, seed: u64) -> Vec<Body> {
    let mut random = Random(seed);
    let mut bodies = tumbling(count, seed);
    for body in &mut bodies {
        if random.below(3) > 0 {
            body.parts.truncate(1);
            body.parts[0].body_from_part = Pose::identity();
        }
        if random.below(3) == 0 {
            body.pivot = random.vector() * 1.5;
        }
        body.deviation = [0.0, 0.0, 0.05][random.below(3) as usize];
        body.margin = [0.0, 0.0, 0.1][random.below(3) as usize];
        body.continuous = body.id.0.is_multiple_of(5);
    }
    let mut random = Random(seed + 7_000);
    for part in bodies.iter_mut().flat_map(|body| &mut body.parts) {
        part.radius = [0.0, 0.0, 0.1, 0.3][random.below(4) as usize];
    }
    bodies
}

/// Some bodies rest, some creep, and some go through others.
fn dash(scene: &Scene, id: u64, random: &mut Random) -> Frame {
    let mut moves = Vec::new();
    for body in scene.bodies() {
        let (reach, turn) = match random.below(12) {
            0..3 => (1.5, 0.8),
            3..8 => (0.02, 0.02),
            8 => (0.0, 2.0),
            _ => continue,
        };
        let turn = random.vector() * turn;
        let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]).unwrap();
        let turned = turn.compose(&Pose { translation: Vec3::zeros(), ..body.pose });
        let back = body.pose.translation * -0.1;
        let translation = body.pose.translation + back * reach + random.vector() * reach;
        let teleported = random.below(20) == 0;
        moves.push(Move { teleported, ..moved(body.id.0, Pose { translation, ..turned }) });
    }
    frame(id, moves)
}

type Told = (EventKind, BodyId, BodyId, Option<Verdict>, [i64; 2]);

/// An event, its times to a millionth of the step.
fn told(event: &Event) -> Told {
    let Event { kind, p, q, verdict, bracket, .. } = *event;
    (kind, p, q, verdict, bracket.map(|t| (t * 1e6).round() as i64))
}

/// The events and pairs of one report, of the pairs of these bodies alone or of all others.
fn part(report: &Report, scene: &Scene, is_chosen: bool) -> (Vec<Told>, Vec<String>) {
    let asks = |id: BodyId| scene.body(id).unwrap().continuous;
    let is_kept = |p: BodyId, q: BodyId| (asks(p) || asks(q)) == is_chosen;
    let mut events: Vec<Told> =
        report.events.iter().filter(|event| is_kept(event.p, event.q)).map(told).collect();
    events.sort_by_key(|event| (event.1, event.2, event.0 as u8));
    let pair = |pair: &PairReport| {
        let way = pair.first_contact.as_ref().map(|way| (way.outcome, way.parts));
        format!("{:?} {:?} {:?} {:?} {way:?}", pair.p, pair.q, pair.verdict, pair.within_margin)
    };
    let pairs = report.pairs.iter().filter(|one| is_kept(one.p, one.q)).map(pair).collect();
    (events, pairs)
}

/// How many events lie between two frames, of the pairs of those that ask and of all.
fn check(seed: u64, listed: Listed) -> [usize; 2] {
    let chosen = open(fleet(16, seed));
    let mut plain_bodies = fleet(16, seed);
    plain_bodies.iter_mut().for_each(|body| body.continuous = false);
    let mut scenes = [chosen.clone(), chosen.clone(), chosen, open(plain_bodies)];
    let questions = Questions { listed, ..Questions::default() };
    let about_all = Questions { between: Some(Between::default()), ..questions };
    let asked = [questions, questions, about_all, questions];
    let (mut random, mut met) = (Random(seed), [0, 0]);
    for id in 1..30 {
        let next = dash(&scenes[0], id, &mut random);
        scenes[1].forget_witnesses();
        // Now and then two frames are answered as one, and the structure changes on the way.
        let is_skipped = id % 7 == 0;
        let rules = (id % 7 == 1).then(Rules::default);
        let next = Frame { rules, ..next };
        if is_skipped {
            scenes.iter_mut().for_each(|scene| {
                scene.apply(&next).unwrap();
            });
            continue;
        }
        let mut reports = Vec::new();
        for (scene, questions) in scenes.iter_mut().zip(&asked) {
            reports.push(step(scene, &next, questions));
        }
        let of = |at: usize, is_chosen| part(&reports[at], &scenes[0], is_chosen);
        for is_chosen in [true, false] {
            let expected = of(if is_chosen { 2 } else { 3 }, is_chosen);
            assert_eq!(of(0, is_chosen), expected, "seed {seed}, frame {id}, {listed:?}");
            assert_eq!(of(1, is_chosen), expected, "seed {seed}, frame {id}, {listed:?}, cold");
        }
        let between = |event: &&Event| event.bracket[1] < 1.0;
        met[0] += reports[0].events.iter().filter(between).count();
        met[1] += reports[2].events.iter().filter(between).count();
    }
    met
}

#[test]
fn bodies_that_ask_meet_when_they_meet_in_a_scene_asked_about_all() {
    let mut all = [0, 0];
    for (seed, listed) in (0..).zip([Listed::Nothing, Listed::Changed, Listed::Near]) {
        let met = check(seed, listed);
        all = [all[0] + met[0], all[1] + met[1]];
    }
    assert!(all[0] > 20 && all[0] < all[1], "{all:?}");
}

#[test]
fn only_the_pairs_of_a_body_that_asks_are_looked_at_on_the_way() {
    let plate = Arc::new(samples::cuboid(0.001, 5.0, 5.0));
    let mut bodies = vec![
        Body::solid(1, plate),
        Body::solid(2, cube(0.25)).placed(at(-2.0, 2.0, 0.0)),
        Body::solid(3, cube(0.25)).placed(at(-2.0, -2.0, 0.0)),
    ];
    bodies[1].continuous = true;
    let mut scene = open(bodies.clone());
    let next = frame(1, vec![moved(2, at(2.0, 2.0, 0.0)), moved(3, at(2.0, -2.0, 0.0))]);
    let report = step(&mut scene, &next, &Questions::default());
    assert_eq!(events(&report), [(EventKind::Began, 1, 2), (EventKind::Ended, 1, 2)]);
    // The body that asks may be the one that rests.
    bodies[1].continuous = false;
    bodies[0].continuous = true;
    let report = step(&mut open(bodies), &next, &Questions::default());
    assert_eq!(events(&report).len(), 4);
}

#[test]
fn a_way_begun_before_the_structure_changes_is_looked_at_to_its_end() {
    let plate = Arc::new(samples::cuboid(0.001, 5.0, 5.0));
    let bodies =
        vec![Body::solid(1, plate), Body::solid(2, cube(0.25)).placed(at(-90.0, 0.0, 0.0))];
    let asking = Questions { between: Some(Between::default()), ..Questions::default() };
    let mut scene = open(bodies);
    step(&mut scene, &frame(1, vec![moved(2, at(-2.0, 0.0, 0.0))]), &asking);
    scene.apply(&frame(2, vec![moved(2, at(2.0, 0.0, 0.0))])).unwrap();
    let added = vec![Body::solid(3, cube(0.25)).placed(at(0.0, 90.0, 0.0))];
    let report = step(&mut scene, &Frame { added, ..frame(3, Vec::new()) }, &asking);
    assert_eq!(events(&report), [(EventKind::Began, 1, 2), (EventKind::Ended, 1, 2)]);
}

/// Where pairs are asked when they met, most that did not are known by the ends of their way alone;
/// what is canonical is searched for.
#[test]
fn what_is_told_of_the_way_is_what_a_search_of_every_pair_tells() {
    let (mut met, mut looked_at) = (0, [0, 0]);
    for (seed, pace) in (60..).zip([0.03, 0.03, 0.1, 0.3, 1.0]) {
        let mut random = Random(seed);
        let mut bodies = fleet(24, seed);
        for body in &mut bodies {
            body.parts.truncate(1);
            body.parts[0].body_from_part = Pose::identity();
            body.margin = 0.0;
        }
        let mut scenes = [open(bodies.clone()), open(bodies)];
        let listed = Listed::Nothing;
        let questions = Questions { listed, between: Some(Between::default()), ..all() };
        let asked = [questions, Questions { canonical: true, ..questions }];
        for id in 1..40 {
            let moves = scenes[0].bodies().map(|body| {
                let turn = random.vector() * pace * 2.0;
                let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]);
                let here = Pose { translation: Vec3::zeros(), ..body.pose };
                let translation =
                    body.pose.translation * (1.0 - 0.1 * pace) + random.vector() * pace;
                moved(body.id.0, Pose { translation, ..turn.unwrap().compose(&here) })
            });
            let next = frame(id, moves.collect());
            let mut reports = Vec::new();
            for (scene, questions) in scenes.iter_mut().zip(&asked) {
                reports.push(step(scene, &next, questions));
            }
            let [found, expected] = [0, 1].map(|at| part(&reports[at], &scenes[0], true).0);
            assert_eq!(found, expected, "seed {seed}, frame {id}");
            let [found, expected] = [0, 1].map(|at| part(&reports[at], &scenes[0], false).0);
            assert_eq!(found, expected, "seed {seed}, frame {id}");
            assert_eq!(reports[0].tally, reports[1].tally);
            met += reports[0].events.iter().filter(|event| event.bracket[1] < 1.0).count();
            for (sum, report) in looked_at.iter_mut().zip(&reports) {
                *sum += report.counters.cost.supports;
            }
        }
    }
    assert!(met > 100 && looked_at[0] < looked_at[1], "{met} {looked_at:?}");
}
