//! Frames that come twice, late or wrong; bodies that come and go; rules.

use super::*;
use crate::declared::error::Problem;
use crate::pairs::report::MoveError;
use crate::{Applied, Between, FrameError, PairMargin, Rules, StepError, TooManyPairs};
use clearance_geometry::until::Until;

fn row(count: u32) -> Vec<Body> {
    let shape = cube(0.5);
    (0..count)
        .map(|id| Body::solid(id, shape.clone()).placed(at(f64::from(id) * 2.0, 0.0, 0.0)))
        .collect()
}

#[test]
fn a_repeated_frame_changes_nothing_and_gets_the_remembered_report() {
    let mut scene = open(row(2));
    let shoved = Frame { base: Some(0), ..frame(5, vec![moved(1, at(1.0, 0.0, 0.0))]) };
    let first = step(&mut scene, &shoved, &all());
    assert_eq!(first.events.len(), 1);
    let again = step(&mut scene, &frame(5, vec![moved(1, at(9.0, 0.0, 0.0))]), &all());
    assert_eq!(first, again);
    assert_eq!(scene.bodies().nth(1).unwrap().pose, at(1.0, 0.0, 0.0));
}

#[test]
fn late_frames_and_unknown_bases_are_refused_and_change_nothing() {
    let mut scene = open(row(2));
    step(&mut scene, &Frame { base: Some(0), ..frame(5, vec![]) }, &all());
    let push = |scene: &mut Scene, frame: Frame| scene.apply(&frame);
    let shove = vec![moved(1, at(1.0, 0.0, 0.0))];
    assert_eq!(push(&mut scene, frame(4, shove.clone())), Err(FrameError::Stale { last: 5 }));
    assert_eq!(push(&mut scene, frame(0, shove.clone())), Err(FrameError::NoId));
    let unknown = Frame { base: Some(3), ..frame(6, shove.clone()) };
    assert_eq!(push(&mut scene, unknown), Err(FrameError::KeyframeNeeded { last: 5 }));
    assert_eq!(scene.bodies().nth(1).unwrap().pose, at(2.0, 0.0, 0.0));

    let half = Frame { base: Some(3), keyframe: true, ..frame(6, shove.clone()) };
    assert!(matches!(push(&mut scene, half), Err(FrameError::Declaration(_))));
    let moves = vec![moved(0, at(0.0, 0.0, 0.0)), moved(1, at(1.0, 0.0, 0.0))];
    let whole = Frame { base: Some(3), keyframe: true, ..frame(6, moves) };
    assert_eq!(push(&mut scene, whole), Ok(Applied::Now(vec![])));
}

#[test]
fn a_wrong_move_is_refused_alone() {
    let mut scene = open(row(3));
    let moves = vec![
        moved(9, at(0.0, 0.0, 0.0)),
        moved(1, at(0.5, 0.0, 0.0)),
        moved(1, at(8.0, 0.0, 0.0)),
        Move { deviation: Some(f64::NAN), ..moved(2, at(0.0, 0.0, 0.0)) },
    ];
    let stepped = scene.step(&frame(1, moves), &all(), &Serial).unwrap();
    let expected =
        [(0, MoveError::UnknownBody), (2, MoveError::Repeated), (3, MoveError::Deviation)];
    assert_eq!(stepped.refused, expected);
    assert_eq!(events(&stepped.report), [(EventKind::Began, 0, 1)]);
}

#[test]
fn a_part_beyond_the_largest_coordinate_is_refused() {
    let mut bodies = row(1);
    let edge = clearance_geometry::pose::COORDINATE_MAX;
    bodies[0].parts[0].body_from_part = at(edge, 0.0, 0.0);
    let mut scene = open(bodies);
    let stepped = scene.step(&frame(1, vec![moved(0, at(edge, 0.0, 0.0))]), &all(), &Serial);
    assert_eq!(stepped.unwrap().refused, [(0, MoveError::TooFar)]);
}

#[test]
fn bodies_come_and_go_and_the_others_keep_their_contacts() {
    let mut scene = open(row(5));
    step(&mut scene, &frame(1, vec![moved(3, at(7.0, 0.0, 0.0))]), &all());
    assert_eq!(scene.contact_count(), 1); // 3 and 4
    let extra = Body::solid(2, cube(0.5)).placed(at(7.5, 0.0, 0.0));
    let next =
        Frame { removed: vec![BodyId(1), BodyId(2)], added: vec![extra], ..frame(2, vec![]) };
    let report = step(&mut scene, &next, &all());
    assert_eq!(verdicts(&report), brute_force(&scene));
    use EventKind::Began;
    assert_eq!(events(&report), [(Began, 2, 3), (Began, 2, 4)]);
    assert_eq!(scene.contact_count(), 3);
}

/// A body that was replaced where it stood began its contact before the one of its predecessor
/// ended, in the order of the report: whoever followed the events lost the contact.
#[test]
fn the_contact_of_a_body_that_goes_ends_before_that_of_its_successor_begins() {
    let mut bodies = row(2);
    bodies[1].pose = at(0.5, 0.0, 0.0);
    let mut scene = open(bodies.clone());
    let (removed, added) = (vec![BodyId(1)], vec![bodies[1].clone()]);
    let report = step(&mut scene, &Frame { removed, added, ..frame(1, vec![]) }, &all());
    use EventKind::{Began, Ended};
    assert_eq!(events(&report), [(Ended, 0, 1), (Began, 0, 1)]);
    // The same of rules that change twice before an answer, of bodies that move meanwhile.
    let ignored_pairs = vec![[BodyId(0), BodyId(1)]];
    let rules = Some(Rules { ignored_pairs, ..Rules::default() });
    scene.apply(&Frame { rules, ..frame(2, vec![moved(1, at(0.6, 0.0, 0.0))]) }).unwrap();
    let next = Frame { rules: Some(Rules::default()), ..frame(3, vec![]) };
    let asking = Questions { between: Some(Between::default()), ..Questions::default() };
    let report = step(&mut scene, &next, &asking);
    assert_eq!(events(&report), [(Ended, 0, 1), (Began, 0, 1)]);
    let times: Vec<[f64; 2]> = report.events.iter().map(|event| event.bracket).collect();
    assert_eq!(times, [[0.0, 1.0], [0.0, 0.0]]);
}

#[track_caller]
fn refused(declaration: Declaration, path: &str, problem: Problem) {
    let error = Scene::open(declaration, &METHODS[0], LIMITS).unwrap_err();
    assert_eq!((error.path.as_str(), error.problem), (path, problem));
}

#[test]
fn a_wrong_declaration_is_refused_with_its_path() {
    let scene = |change: fn(&mut Declaration)| {
        let mut declaration = Declaration { bodies: row(3), ..Declaration::default() };
        change(&mut declaration);
        declaration
    };
    refused(scene(|d| d.bodies[2].id = BodyId(0)), "bodies[2].id", Problem::IdTaken);
    refused(scene(|d| d.bodies[1].parts.clear()), "bodies[1].parts", Problem::NoParts);
    refused(scene(|d| d.bodies[1].margin = f64::NAN), "bodies[1].margin", Problem::NotAMargin);
    let deep = scene(|d| d.bodies[1].margin = f64::NEG_INFINITY);
    refused(deep, "bodies[1].margin", Problem::NotAMargin);
    let nan = scene(|d| d.bodies[1].deviation = f64::NAN);
    refused(nan, "bodies[1].deviation", Problem::NotALength);
    refused(scene(|d| d.release_margin = f64::INFINITY), "release_margin", Problem::NotALength);
    refused(scene(|d| d.begin_margin = -0.5), "begin_margin", Problem::NotALength);
    let beyond = scene(|d| (d.begin_margin, d.release_margin) = (0.5, 0.25));
    refused(beyond, "begin_margin", Problem::BeyondRelease);
    let unknown = scene(|d| d.rules.ignored_pairs = vec![[BodyId(0), BodyId(7)]]);
    refused(unknown, "rules.ignored_pairs[0]", Problem::UnknownBody);
    let same = scene(|d| d.rules.checked_pairs = vec![[BodyId(1), BodyId(1)]]);
    refused(same, "rules.checked_pairs[0]", Problem::SameBody);
    let margin = scene(|d| {
        d.rules.margins = vec![PairMargin { pair: [BodyId(0), BodyId(1)], margin: -1e300 }];
    });
    refused(margin, "rules.margins[0].margin", Problem::NotAMargin);
    let contact = scene(|d| {
        d.rules.ignored_pairs = vec![[BodyId(0), BodyId(1)]];
        d.contacts = vec![crate::Contact { pair: [BodyId(0), BodyId(1)], began_frame: 1 }];
    });
    refused(contact, "contacts[0].pair", Problem::NotChecked);
}

#[test]
fn rules_check_exactly_the_pairs_they_name() {
    let mut bodies = row(8);
    for (index, body) in bodies.iter_mut().enumerate() {
        body.fixed = index < 3;
        body.groups = match index % 3 {
            0 => ["robot"].into(),
            1 => ["cell", "robot"].into(),
            _ => [].into(),
        };
    }
    let groups = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
    let rules = Rules {
        checked_groups: vec![groups("robot", "cell")],
        ignored_pairs: vec![[BodyId(3), BodyId(4)]],
        ..Rules::default()
    };
    let declaration =
        Declaration { bodies: bodies.clone(), rules: rules.clone(), ..Declaration::default() };
    let mut scene = declare(declaration);
    let report = step(&mut scene, &frame(1, vec![]), &all());
    let mut expected = Vec::new();
    for a in &bodies {
        for b in bodies.iter().filter(|b| a.id < b.id) {
            let has = |body: &Body, group: &str| body.groups.iter().any(|g| g == group);
            let groups = has(a, "robot") && has(b, "cell") || has(a, "cell") && has(b, "robot");
            let ignored = (a.id.0, b.id.0) == (3, 4);
            if groups && !ignored && !(a.fixed && b.fixed) {
                expected.push((a.id.0, b.id.0));
            }
        }
    }
    let found: Vec<(u32, u32)> = verdicts(&report).into_keys().collect();
    assert_eq!(found, expected);
    assert_eq!(scene.pairs_enabled(), expected.len() as u64);

    let only =
        Rules { checked_pairs: vec![[BodyId(4), BodyId(3)], [BodyId(7), BodyId(0)]], ..rules };
    let next = Frame { rules: Some(only), ..frame(2, vec![]) };
    let report = step(&mut scene, &next, &all());
    let found: Vec<(u32, u32)> = verdicts(&report).into_keys().collect();
    let expected: Vec<(u32, u32)> = expected.into_iter().filter(|p| *p == (0, 7)).collect();
    assert_eq!(found, expected);
    assert_eq!(scene.pairs_enabled(), 1);
}

/// Two cubes in one place reported nothing, since the rules named their group by a misspelt name.
#[test]
fn a_group_that_no_body_belongs_to_is_refused_unless_it_is_to_come() {
    let mut bodies = row(2);
    bodies[0].groups = ["arm"].into();
    bodies[1].groups = ["cell"].into();
    let rules = |to_come: &[&str]| Rules {
        checked_groups: vec![["arm".into(), "cell".into()], ["arm".into(), "cel".into()]],
        groups_to_come: to_come.iter().map(|&group| group.to_owned()).collect(),
        ..Rules::default()
    };
    let with = |rules| Declaration { bodies: bodies.clone(), rules, ..Declaration::default() };
    let refused = Scene::open(with(rules(&[])), &METHODS[0], LIMITS).unwrap_err();
    assert_eq!(
        (refused.path.as_str(), refused.problem),
        ("rules.checked_groups[1].b", Problem::UnknownGroup)
    );
    let mut scene = declare(with(rules(&["cel"])));
    let next = Frame { rules: Some(rules(&["sel"])), ..frame(1, vec![]) };
    assert!(scene.apply(&next).is_err(), "a frame's rules are checked likewise");
    // A body that goes takes its group with it; what remains can still be opened elsewhere.
    let gone = Frame { removed: vec![BodyId(1)], ..frame(1, vec![]) };
    scene.apply(&gone).unwrap();
    let declared = scene.declaration();
    assert_eq!(declared.rules.groups_to_come, ["cel", "cell"]);
    let elsewhere = declare(declared.clone());
    assert_eq!(elsewhere.declaration().rules, declared.rules);
}

/// Every entry was looked at for each pair of classes: one scene kept a thread at work for days.
#[test]
fn rules_about_very_many_groups_are_ready_at_once() {
    const GROUPS: usize = 12;
    let shape = cube(0.5);
    let bodies = (0..1u32 << GROUPS).map(|id| {
        let groups = (0..GROUPS).filter(|group| id >> group & 1 == 1);
        let groups = groups.map(|group| format!("g{group}")).collect();
        let place = at(2.0 * f64::from(id), 0.0, 0.0);
        Body { groups, ..Body::solid(id, shape.clone()).placed(place) }
    });
    let nobody = ["nobody".to_owned(), "g0".to_owned()];
    let mut checked_groups = vec![nobody; 200_000];
    checked_groups.push(["g0".to_owned(), "g1".to_owned()]);
    let groups_to_come = vec!["nobody".to_owned()];
    let rules = Rules { checked_groups, groups_to_come, ..Rules::default() };
    let bodies = bodies.collect();
    let scene = declare(Declaration { bodies, rules, ..Declaration::default() });
    // Half of all are in each group and a quarter in both: those among themselves, and with all the
    // others.
    assert_eq!(scene.pairs_enabled(), 1024 * 1023 / 2 + 1024 * 2048 + 1024 * 1024);
}

/// A few hundred kilobytes of groups made a table of 16 MB, which no limit knew of: a thousand
/// sessions of them would have taken the memory of the machine.
#[test]
fn what_groups_make_of_a_scene_is_counted_and_limited() {
    const CLASSES: u32 = 300;
    let mut bodies = row(CLASSES);
    for body in &mut bodies {
        body.groups = vec![body.id.0.to_string()].into();
        // So far from each other that no pair takes memory.
        body.pose = at(100.0 * f64::from(body.id.0), 0.0, 0.0);
    }
    let checked_groups = (0..CLASSES).map(|id| [id.to_string(), "0".to_owned()]).collect();
    let rules = Rules { checked_groups, ..Rules::default() };
    let told_apart = Declaration { bodies: bodies.clone(), rules, ..Declaration::default() };
    let alike = Declaration { bodies, ..Declaration::default() };
    let grown = declare(told_apart.clone()).bytes() - declare(alike).bytes();
    assert!(grown >= (CLASSES * CLASSES) as usize, "{grown}");
    let limits = Limits { classes_max: CLASSES as usize - 1, ..LIMITS };
    let refused = Scene::open(told_apart, &METHODS[0], limits).unwrap_err();
    assert_eq!(refused.problem, Problem::TooManyClasses);
    assert_eq!(refused.path, "rules.checked_groups");
}

#[test]
fn removing_the_last_checked_pair_is_refused_since_it_would_check_all() {
    let rules = Rules { checked_pairs: vec![[BodyId(0), BodyId(1)]], ..Rules::default() };
    let mut scene = declare(Declaration { bodies: row(4), rules, ..Declaration::default() });
    let gone = Frame { removed: vec![BodyId(1)], ..frame(1, vec![]) };
    assert!(matches!(scene.apply(&gone), Err(FrameError::Declaration(_))));
    let rules = Some(Rules { checked_pairs: vec![[BodyId(2), BodyId(3)]], ..Rules::default() });
    assert_eq!(scene.apply(&Frame { rules, ..gone }), Ok(Applied::Now(vec![])));
    assert_eq!(scene.pairs_enabled(), 1);
}

#[test]
fn a_frame_of_too_many_pairs_applies_its_poses_and_loses_no_event() {
    let limits = Limits { pairs_max: 5, ..LIMITS };
    let declaration = Declaration { bodies: row(5), ..Declaration::default() };
    let mut scene = Scene::open(declaration, &METHODS[0], limits).unwrap();
    scene.answer(&Questions::default(), &Serial, Until::never()).unwrap();
    let heap = (0..5).map(|id| moved(id, at(0.0, 0.0, 0.0))).collect();
    let crowded = scene.step(&frame(1, heap), &Questions::default(), &Serial);
    assert_eq!(crowded, Err(StepError::Unanswered(TooManyPairs { pairs_max: 5 }.into())));
    let apart = vec![moved(2, at(50.0, 0.0, 0.0)), moved(3, at(90.0, 0.0, 0.0))];
    let report = step(&mut scene, &frame(2, apart), &Questions::default());
    assert_eq!((report.previous, report.frames_skipped), (0, 1));
    use EventKind::Began;
    assert_eq!(events(&report), [(Began, 0, 1), (Began, 0, 4), (Began, 1, 4)]);
}

#[test]
fn pairs_that_do_not_move_are_answered_from_memory() {
    let mut scene = open(tumbling(10, 90));
    let report = step(&mut scene, &frame(1, vec![]), &Questions::default());
    assert_eq!(report.counters.cost.queries, 0);
    assert!(report.counters.pairs_remembered > 0);
    let mut random = Random(91);
    let body = scene.bodies().next().unwrap();
    let one = vec![moved(body.id.0, nudge(&mut random, &body.pose))];
    step(&mut scene, &frame(2, one), &Questions::default());
    let report = step(&mut scene, &frame(3, vec![]), &all());
    assert_eq!(verdicts(&report), brute_force(&scene));
}

#[test]
fn two_thousand_bodies_cost_what_is_near_and_not_all_their_pairs() {
    let mut random = Random(95);
    let shape = cube(0.5);
    let mut place = || {
        let mut coordinate = || (random.signed() + 1.0) * 16.0;
        at(coordinate(), coordinate(), coordinate())
    };
    let bodies: Vec<Body> =
        (0..2000).map(|id| Body::solid(id, shape.clone()).placed(place())).collect();
    let mut scene = open(bodies);
    let moves = (0..2000).map(|id| moved(id, place())).collect();
    let report = step(&mut scene, &frame(1, moves), &Questions::default());
    let pairs = 2000 * 1999 / 2;
    assert_eq!(report.counters.pairs_enabled, pairs);
    assert!(report.counters.pairs_skipped > pairs - 5000, "{:?}", report.counters);
    assert!(report.tally.overlapping > 100, "{:?}", report.tally);
    // Aligned boxes: the broad phase decides all that is separated.
    assert!(report.counters.cost.queries <= report.tally.overlapping + report.tally.touching + 50);
}

/// The boxes of every pair used to be sorted anew in every frame, so a scene at rest cost half as
/// much as one in motion.
#[test]
fn a_frame_looks_at_the_pairs_of_what_moved_alone() {
    let shape = cube(0.5);
    let place = |i: u32| at(f64::from(i % 10) * 0.9, f64::from(i / 10) * 0.9, 0.0);
    let bodies = (0..100).map(|i| Body::solid(i, shape.clone()).placed(place(i))).collect();
    let mut scene = open(bodies);
    let mut looked_at = |id: u64, moves: Vec<Move>| {
        let counters = step(&mut scene, &frame(id, moves), &Questions::default()).counters;
        counters.pairs_enabled - counters.pairs_skipped - counters.pairs_remembered
    };
    looked_at(1, vec![]);
    assert_eq!(looked_at(2, vec![]), 0);
    // Each cube overlaps its eight neighbours by a tenth. Those at its faces are known to by four
    // corners, within which there is less room.
    assert_eq!(looked_at(3, vec![moved(44, at(3.68, 3.6, 0.0))]), 4);
    assert_eq!(looked_at(4, vec![]), 0);
    assert!(looked_at(5, vec![moved(11, at(0.9 + 1e-6, 0.9, 0.0))]) < 4, "most overlap by more");
}

/// Bodies that wander stay in the boxes kept for them for some frames, leave them in others, come
/// and go: what is kept between frames finds every pair that a look at all of them finds.
#[test]
fn no_pair_that_meets_is_missed_however_long_the_scene_remembers() {
    let mut scene = open(tumbling(30, 71));
    let (mut random, mut met) = (Random(72), 0);
    for id in 1..150 {
        let frame = Frame { moves: wander(&scene, id, &mut random).moves, ..frame(id, vec![]) };
        let some: Vec<Move> = frame.moves.into_iter().filter(|_| random.below(3) == 0).collect();
        let frame = Frame { moves: some, ..super::frame(id, vec![]) };
        let report = step(&mut scene, &frame, &Questions::default());
        let brute = brute_force(&scene);
        let in_contact = brute.values().filter(|verdict| **verdict != Verdict::Separated).count();
        assert_eq!(report.tally.touching + report.tally.overlapping, in_contact as u64, "{id}");
        met += in_contact;
    }
    assert!(met > 300, "the cases are too easy: {met}");
}

/// Every look at a pair whose boxes do not meet used to queue it once more to be forgotten: a
/// session that lists all pairs grew by each of them in every frame.
#[test]
fn a_scene_that_lists_all_pairs_does_not_grow_from_frame_to_frame() {
    let mut scene = open(row(12));
    let mut bytes_after = |frames: std::ops::Range<u64>| {
        for id in frames {
            let x = (id % 2) as f64 / 64.0;
            step(&mut scene, &frame(id, vec![moved(5, at(10.0 + x, 0.0, 0.0))]), &all());
        }
        scene.bytes()
    };
    let early = bytes_after(1..40);
    assert_eq!(bytes_after(40..400), early);
}
