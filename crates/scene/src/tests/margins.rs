//! First contact within a margin, and motions that nobody can decide.

#![expect(clippy::float_cmp, reason = "the ends of a step are exact")]

use EventKind::{Began, Ended};

use super::*;
use crate::{Between, PairMargin, Rules};
use clearance_geometry::claim::{Course, MotionClaim, Outcome};
use clearance_geometry::judge::judge_motion;
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Question;

fn moving() -> Questions {
    Questions { between: Some(Between::default()), ..Questions::default() }
}

/// A box of half a metre that passes a thin plate in the plane x = 0 at the height z.
fn plate_and_box(margin: f64, from: [f64; 3]) -> Declaration {
    let plate = Arc::new(samples::cuboid(0.25, 5.0, 5.0));
    let [x, y, z] = from;
    let mut bodies = vec![Body::solid(1, plate), Body::solid(2, cube(0.25)).placed(at(x, y, z))];
    bodies[0].margin = margin / 4.0;
    bodies[1].margin = margin - margin / 4.0;
    Declaration { bodies, ..Declaration::default() }
}

/// The bracket of the first contact of the only pair that the report lists.
#[track_caller]
fn first_contact(report: &Report) -> (Outcome, [f64; 2]) {
    let [pair] = &report.pairs[..] else { panic!("{:?}", report.pairs) };
    let found = pair.first_contact.as_ref().expect("motion was asked");
    (found.outcome, [found.t_free, found.t_contact])
}

#[track_caller]
fn holds(bracket: [f64; 2], t: f64) {
    let [free, contact] = bracket;
    assert!(free <= t && t <= contact + 1e-12 && contact - free < 1e-8, "{bracket:?} and {t}");
}

#[test]
fn first_contact_is_when_the_margin_is_reached_and_the_event_when_the_bodies_are() {
    let mut scene = declare(plate_and_box(1.0, [-4.5, 0.0, 0.0]));
    // The gap closes from 4 at 8 a step.
    let report = step(&mut scene, &frame(1, vec![moved(2, at(3.5, 0.0, 0.0))]), &moving());
    let (outcome, bracket) = first_contact(&report);
    assert_eq!(outcome, Outcome::Contact);
    holds(bracket, 3.0 / 8.0);
    assert_eq!(events(&report), [(Began, 1, 2), (Ended, 1, 2)]);
    holds(report.events[0].bracket, 4.0 / 8.0);
}

#[test]
fn a_margin_of_the_pair_takes_the_place_of_the_sum_of_its_bodies() {
    let mut declaration = plate_and_box(1.0, [-4.5, 0.0, 0.0]);
    let own = PairMargin { pair: [BodyId(2), BodyId(1)], margin: 2.0 };
    declaration.rules = Rules { margins: vec![own], ..Rules::default() };
    let mut scene = declare(declaration);
    let report = step(&mut scene, &frame(1, vec![moved(2, at(3.5, 0.0, 0.0))]), &moving());
    holds(first_contact(&report).1, 2.0 / 8.0);
}

#[test]
fn a_passage_within_the_margin_is_reported_and_is_no_contact_event() {
    // Past the edge of the plate at y = 5, half a metre away: only the margin is reached.
    let mut scene = declare(plate_and_box(0.75, [-4.5, 5.75, 0.0]));
    let there = frame(1, vec![moved(2, at(3.5, 5.75, 0.0))]);
    let report = step(&mut scene, &there, &moving());
    assert_eq!(first_contact(&report).0, Outcome::Contact);
    assert_eq!(report.pairs[0].within_margin, Some(false));
    assert_eq!(events(&report), []);
    assert_eq!(scene.contact_count(), 0);

    let mut scene = declare(plate_and_box(0.25, [-4.5, 5.75, 0.0]));
    let report = step(&mut scene, &there, &Questions { listed: Listed::All, ..moving() });
    assert_eq!(first_contact(&report), (Outcome::NoContact, [1.0, 1.0]));
}

#[test]
fn bodies_at_rest_within_their_margin_are_so_from_the_start() {
    for certificates in [false, true] {
        let questions = Questions { listed: Listed::All, certificates, ..moving() };
        for (x, expected) in [(1.5, Outcome::Contact), (1.5f64.next_up(), Outcome::NoContact)] {
            let mut scene = declare(plate_and_box(1.0, [x, 0.0, 0.0]));
            let report = step(&mut scene, &frame(1, vec![]), &questions);
            let (outcome, [free, contact]) = first_contact(&report);
            assert_eq!(outcome, expected, "{x}");
            let edge = if expected == Outcome::Contact { 0.0 } else { 1.0 };
            assert_eq!([free, contact], [edge, edge], "{x}");
        }
    }
}

#[test]
fn the_proofs_of_motion_with_a_margin_are_accepted_by_the_judge() {
    let mut random = Random(130);
    let questions = Questions { listed: Listed::All, certificates: true, ..moving() };
    let mut counts = [0; 3];
    for _ in 0..60 {
        let margin = random.signed().abs();
        let from = random.vector() * 3.0;
        let mut scene = declare(plate_and_box(margin, [from.x, from.y, from.z]));
        let to = random.vector() * 3.0;
        let end = random.pose(to);
        let still = random.below(4) == 0;
        let moves = if still { Vec::new() } else { vec![moved(2, end)] };
        let report = step(&mut scene, &frame(1, moves), &questions);
        let found = report.pairs[0].first_contact.as_ref().unwrap();
        counts[found.outcome as usize] += 1;
        let bodies: Vec<&Body> = scene.bodies().collect();
        let start = at(from.x, from.y, from.z);
        let pair = Pair::new(
            &bodies[0].parts[0].polytope,
            Pose::identity(),
            &bodies[1].parts[0].polytope,
            start,
        );
        let way = Motion::ToPose { end, pivot: Some(start.translation), turn: None };
        let motion = if still { Motion::rest() } else { way };
        let question =
            Question { reach: margin.into(), ..Question::new(pair, Motion::rest(), motion) };
        let [chain] = &found.chains[..] else { panic!("{found:?}") };
        let claim = MotionClaim {
            outcome: found.outcome,
            t_free: found.t_free,
            t_contact: found.t_contact,
            chain: &chain.links,
            pairs: &chain.pairs,
            initial: chain.initial.as_ref().map(of_polytopes),
        };
        assert_eq!(
            judge_motion(&Course::from(&question), &claim, &mut Effort::unlimited()),
            Ok(()),
            "{found:?}"
        );
    }
    assert!(counts[0] > 10 && counts[1] > 10, "{counts:?}");
}

/// A cube whose upright edge passes, while it turns, as near a wall as rounding lets it.
fn grazing() -> Scene {
    let wall = Arc::new(samples::cuboid(1.0, 5.0, 5.0));
    let x = 1.0 + 2f64.sqrt();
    open(vec![Body::solid(1, cube(1.0)), Body::solid(2, wall).placed(at(x, 0.0, 0.0))])
}

fn quarter_turn() -> Frame {
    let turned = Pose::from_quaternion(Vec3::zeros(), [1.0, 0.0, 0.0, 1.0]).unwrap();
    frame(1, vec![moved(1, turned)])
}

#[test]
fn a_graze_that_cannot_be_decided_is_an_event_and_listed_and_begins_no_contact() {
    let mut scene = grazing();
    let report = step(&mut scene, &quarter_turn(), &moving());
    assert_eq!(first_contact(&report).0, Outcome::Undecided);
    assert_eq!(events(&report), [(EventKind::Undecided, 1, 2)]);
    let [free, end] = report.events[0].bracket;
    assert!(0.49 < free && free < 0.5 && end == 1.0, "{free} {end}");
    assert_eq!(scene.contact_count(), 0);
    let report = step(&mut scene, &frame(2, vec![]), &moving());
    assert_eq!(events(&report), []);
}

#[test]
fn a_motion_that_the_budget_did_not_suffice_for_is_an_undecided_event() {
    let mut scene = grazing();
    let report = step(&mut scene, &quarter_turn(), &Questions { steps_max: 3, ..moving() });
    assert_eq!(events(&report), [(EventKind::Undecided, 1, 2)]);
    let found = report.pairs[0].first_contact.as_ref().unwrap();
    assert!(found.stopped.is_some(), "{found:?}");
    assert_eq!(report.events[0].bracket, [found.t_free, 1.0]);
}
