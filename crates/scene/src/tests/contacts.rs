//! Contacts begin, end, and are told once.

#![expect(clippy::float_cmp, reason = "the ends of a step are exact")]

use EventKind::{Began, Ended};

use super::*;
use crate::Between;
use clearance_geometry::until::Until;

fn two() -> Vec<Body> {
    let shape = cube(1.0);
    vec![Body::solid(7, shape.clone()), Body::solid(3, shape).placed(at(10.0, 0.0, 0.0))]
}

#[track_caller]
fn at_x(scene: &mut Scene, x: f64) -> Vec<(EventKind, u32, u32)> {
    let next = frame(scene.frame() + 1, vec![moved(3, at(x, 0.0, 0.0))]);
    events(&step(scene, &next, &Questions::default()))
}

#[test]
fn a_contact_begins_once_and_ends_once() {
    let mut scene = open(two());
    assert_eq!(at_x(&mut scene, 3.0), []);
    assert_eq!(at_x(&mut scene, 2.0), [(Began, 3, 7)]);
    assert_eq!(at_x(&mut scene, 1.0), []);
    assert_eq!(at_x(&mut scene, 2.0), []);
    assert_eq!(at_x(&mut scene, 2.0_f64.next_up()), [(Ended, 3, 7)]);
    assert_eq!(at_x(&mut scene, 50.0), []);
}

#[test]
fn a_contact_ends_when_the_distance_exceeds_the_release_margin_and_not_before() {
    let bodies = two();
    let mut scene = declare(Declaration { bodies, release_margin: 0.5, ..Declaration::default() });
    assert_eq!(at_x(&mut scene, 2.0), [(Began, 3, 7)]);
    assert_eq!(at_x(&mut scene, 2.5), []);
    assert_eq!(at_x(&mut scene, 2.0), []);
    assert_eq!(at_x(&mut scene, 2.5_f64.next_up()), [(Ended, 3, 7)]);
    // Near again, but not in contact.
    assert_eq!(at_x(&mut scene, 2.25), []);
    assert_eq!(at_x(&mut scene, 1.0), [(Began, 3, 7)]);
    // Far beyond the boxes in one leap.
    assert_eq!(at_x(&mut scene, 1e6), [(Ended, 3, 7)]);
}

fn sloppy() -> Scene {
    let (bodies, begin_margin, release_margin) = (two(), 0.25, 0.5);
    declare(Declaration { bodies, begin_margin, release_margin, ..Declaration::default() })
}

/// Exactly at the margins, whatever a pair reports; and what lies between them changes nothing.
#[test]
fn a_contact_begins_within_its_begin_margin_and_ends_beyond_its_release_margin() {
    let mut scene = sloppy();
    assert_eq!(at_x(&mut scene, 2.25_f64.next_up()), []);
    assert_eq!(at_x(&mut scene, 2.25), [(Began, 3, 7)]);
    for x in [2.5, 2.3, 1.0, 2.25, 2.5] {
        assert_eq!(at_x(&mut scene, x), [], "{x}");
    }
    assert_eq!(at_x(&mut scene, 2.5_f64.next_up()), [(Ended, 3, 7)]);
    assert_eq!(at_x(&mut scene, 2.3), []);
    assert_eq!(at_x(&mut scene, 1.0), [(Began, 3, 7)]);
    // A pair that sleeps with room that is no contact's wakes where a contact begins.
    let mut scene = sloppy();
    for k in 0..40 {
        let x = 4.0 - 0.05 * f64::from(k);
        let expected: &[_] = if k == 35 { &[(Began, 3, 7)] } else { &[] };
        assert_eq!(at_x(&mut scene, x), expected, "{x}");
    }
}

#[test]
fn what_comes_nearer_than_the_begin_margin_between_two_frames_is_told_with_when() {
    let pass = |y: f64| {
        let mut scene = sloppy();
        step(&mut scene, &frame(1, vec![moved(3, at(10.0, y, 0.0))]), &Questions::default());
        let asking = Questions { between: Some(Between::default()), ..Questions::default() };
        let next = frame(2, vec![moved(3, at(-10.0, y, 0.0))]);
        let report = step(&mut scene, &next, &asking);
        report.events.iter().map(|event| (event.kind, event.bracket)).collect::<Vec<_>>()
    };
    assert_eq!(pass(2.25_f64.next_up() + 1e-6), []);
    // Beside it at 0.125, the faces have to overlap for that, or nearly: by the root of 3/64.
    let told = pass(2.125);
    let near = 2.0 + (0.0625_f64 - 0.015_625).sqrt();
    let far = 2.0 + (0.25_f64 - 0.015_625).sqrt();
    let times = [(10.0 - near) / 20.0, (10.0 + far) / 20.0];
    assert_eq!(told.len(), 2, "{told:?}");
    for ((kind, bracket), (expected, time)) in
        told.into_iter().zip([Began, Ended].iter().zip(times))
    {
        assert_eq!(kind, *expected);
        assert!(bracket[0] <= time + 1e-9 && bracket[1] >= time - 1e-9, "{bracket:?} {time}");
        assert!(bracket[1] - bracket[0] < 1e-6, "{bracket:?}");
    }
}

#[test]
fn margins_of_contacts_are_restated_and_whoever_goes_on_repeats_nothing() {
    let mut scene = sloppy();
    assert_eq!(at_x(&mut scene, 2.25), [(Began, 3, 7)]);
    let declared = scene.declaration();
    assert_eq!((declared.begin_margin, declared.release_margin), (0.25, 0.5));
    let mut again = declare(declared);
    assert_eq!(again.contact_count(), 1);
    assert_eq!(at_x(&mut again, 2.4), []);
    assert_eq!(at_x(&mut again, 2.75), [(Ended, 3, 7)]);
    // Where it is declared within the margin and not announced, it begins where it is opened.
    let bodies = scene.bodies().cloned().collect();
    let declared = Declaration { bodies, contacts: Vec::new(), ..scene.declaration() };
    let mut anew = Scene::open(declared, &METHODS[0], LIMITS).unwrap();
    let report = anew.answer(&Questions::default(), &Serial, Until::never()).unwrap();
    assert_eq!(events(&report), [(Began, 3, 7)]);
    assert_eq!(report.events[0].verdict, Some(Verdict::Separated));
}

#[test]
fn contacts_at_opening_are_told_at_time_zero_unless_announced() {
    let mut bodies = two();
    bodies[1].pose = at(1.0, 0.0, 0.0);
    let declaration = Declaration { bodies, ..Declaration::default() };
    let mut scene = Scene::open(declaration, &METHODS[0], LIMITS).unwrap();
    let report = scene.answer(&Questions::default(), &Serial, Until::never()).unwrap();
    assert_eq!(events(&report), [(Began, 3, 7)]);
    assert_eq!(report.events[0].bracket, [0.0, 0.0]);

    let mut again = Scene::open(scene.declaration(), &METHODS[0], LIMITS).unwrap();
    let report = again.answer(&Questions::default(), &Serial, Until::never()).unwrap();
    assert_eq!(events(&report), []);
    assert_eq!(again.contact_count(), 1);
}

#[test]
fn poses_of_skipped_frames_are_applied_and_no_contact_is_lost() {
    let mut scene = open(two());
    scene.apply(&frame(1, vec![moved(3, at(5.0, 0.0, 0.0))])).unwrap();
    scene.apply(&frame(2, vec![moved(3, at(2.0, 0.0, 0.0))])).unwrap();
    scene.apply(&Frame { base: Some(2), ..frame(4, vec![]) }).unwrap();
    let report = scene.answer(&Questions::default(), &Serial, Until::never()).unwrap();
    assert_eq!((report.frame, report.previous, report.frames_skipped), (4, 0, 2));
    assert_eq!(events(&report), [(Began, 3, 7)]);
}

#[test]
fn a_stopped_frame_is_undecided_and_the_next_one_tells_the_contact() {
    let mut bodies = two();
    let round = Arc::new(samples::ball(40, 3));
    bodies.iter_mut().for_each(|body| body.parts[0].polytope = round.clone());
    let mut scene = open(bodies);
    scene.apply(&frame(1, vec![moved(3, at(0.5, 0.0, 0.0))])).unwrap();
    let report = scene.answer(&Questions::default(), &Serial, &Until::expired()).unwrap();
    assert_eq!(events(&report), []);
    assert_eq!(report.tally.stopped, 1);
    let report = step(&mut scene, &frame(2, vec![]), &Questions::default());
    assert_eq!(events(&report), [(Began, 3, 7)]);
}

#[test]
fn a_removed_body_ends_its_contacts() {
    let mut scene = open(two());
    assert_eq!(at_x(&mut scene, 2.0), [(Began, 3, 7)]);
    let gone = Frame { removed: vec![BodyId(7)], ..frame(2, vec![]) };
    assert_eq!(events(&step(&mut scene, &gone, &Questions::default())), [(Ended, 3, 7)]);
    assert_eq!(events(&step(&mut scene, &frame(3, vec![]), &Questions::default())), []);
    assert_eq!(scene.contact_count(), 0);
}

#[test]
fn a_pair_that_is_no_longer_checked_ends_its_contact() {
    let mut scene = open(two());
    assert_eq!(at_x(&mut scene, 2.0), [(Began, 3, 7)]);
    let rules = crate::Rules { ignored_pairs: vec![[BodyId(7), BodyId(3)]], ..Default::default() };
    let changed = Frame { rules: Some(rules), ..frame(2, vec![]) };
    let report = step(&mut scene, &changed, &Questions::default());
    assert_eq!(events(&report), [(Ended, 3, 7)]);
    assert_eq!(report.counters.pairs_enabled, 0);
}

#[test]
fn every_change_of_verdict_is_told_whatever_moves() {
    // Boxes on a grid: the events, replayed, must give the contacts that brute force finds.
    let mut scene = open(tumbling(12, 40));
    let mut contacts: std::collections::BTreeSet<(u32, u32)> = brute_force(&scene)
        .into_iter()
        .filter(|(_, v)| *v != Verdict::Separated)
        .map(|e| e.0)
        .collect();
    let mut random = Random(41);
    let mut told = [0, 0];
    for id in 1..40 {
        let next = wander(&scene, id, &mut random);
        for (kind, p, q) in events(&step(&mut scene, &next, &Questions::default())) {
            told[kind as usize] += 1;
            match kind {
                Began => assert!(contacts.insert((p, q)), "told twice: {p} {q}"),
                Ended => assert!(contacts.remove(&(p, q)), "never began: {p} {q}"),
                EventKind::Undecided => panic!("nothing was asked about motion: {p} {q}"),
            }
        }
        let expected: std::collections::BTreeSet<(u32, u32)> = brute_force(&scene)
            .into_iter()
            .filter(|(_, verdict)| *verdict != Verdict::Separated)
            .map(|entry| entry.0)
            .collect();
        assert_eq!(contacts, expected, "frame {id}");
    }
    assert!(told[0] > 10 && told[1] > 10, "{told:?}");
}

/// A pair that rests within its release margin was not looked at, and was told to have ended.
#[test]
fn a_contact_lasts_while_its_bodies_rest_within_the_release_margin() {
    let bodies =
        vec![Body::solid(1, cube(0.5)), Body::solid(2, cube(0.5)).placed(at(0.9, 0.0, 0.0))];
    let declaration = Declaration { bodies, release_margin: 0.05, ..Declaration::default() };
    let mut scene = declare(declaration);
    for listed in [Listed::Near, Listed::Changed, Listed::Nothing, Listed::All, Listed::Near] {
        let questions = Questions { listed, ..Questions::default() };
        let id = scene.frame() + 1;
        let report = step(&mut scene, &frame(id, vec![moved(2, at(1.03, 0.0, 0.0))]), &questions);
        assert_eq!(events(&report), []);
        for rest in 1..4 {
            let report = step(&mut scene, &frame(id + rest, vec![]), &questions);
            assert_eq!((events(&report), scene.contact_count()), (vec![], 1), "{listed:?}");
        }
    }
    let near = Questions { listed: Listed::Near, ..Questions::default() };
    let id = scene.frame() + 1;
    let report = step(&mut scene, &frame(id, vec![moved(2, at(1.06, 0.0, 0.0))]), &near);
    assert_eq!(events(&report), [(EventKind::Ended, 1, 2)]);
}

/// The lower end of the time at which a contact ended was that by which it had begun, which is
/// rounded up: an ulp after the only contact of two points.
#[test]
fn brackets_of_events_enclose_the_times_of_bodies_that_pass_through_each_other() {
    let point = Arc::new(clearance_geometry::hull::convex_hull(&[Vec3::zeros()]).unwrap().polytope);
    let mut touched_once = 0;
    // Bodies of this half extent pass each other from `from` to `to`, and meet within the sum.
    for (shape, half) in [(point, 0.0), (cube(0.25), 0.25), (cube(0.125), 0.125)] {
        for (from, to) in (1..13).flat_map(|a| (1..13).map(move |b| (f64::from(a), f64::from(b)))) {
            let fast = Body { continuous: true, ..Body::solid(2, shape.clone()) };
            let bodies = vec![Body::solid(1, shape.clone()), fast.placed(at(-from, 0.0, 0.0))];
            let mut scene = open(bodies);
            let next = frame(1, vec![moved(2, at(to, 0.0, 0.0))]);
            let report = step(&mut scene, &next, &Questions::default());
            assert_eq!(events(&report), [(Began, 1, 2), (Ended, 1, 2)], "{from} {to} {half}");
            for (event, entered) in report.events.iter().zip([-2.0 * half, 2.0 * half]) {
                // The time t is where t (from + to) = from + entered; a fused product has the sign
                // of the difference, since the right side is a double.
                let right = from + entered;
                let sign = |time: f64| time.mul_add(from + to, -right);
                let [lower, upper] = event.bracket;
                assert!(sign(lower) <= 0.0 && sign(upper) >= 0.0, "{from} {to} {half}: {event:?}");
                assert!(upper - lower <= 1e-6, "{event:?}");
                touched_once += u32::from(half == 0.0);
            }
        }
    }
    assert_eq!(touched_once, 288);
}
