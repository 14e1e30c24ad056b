//! When bodies of all kinds first overlap so deep: by closed forms, and beside the verdicts with
//! that margin at many times.

use super::first_contact::{FirstContactAnswer, FirstContactQuestion, Motions};
use super::row::Wanted;
use super::tests::{at, pairs};
use super::verdict::VerdictQuestion;
use crate::{Body, PlacedBody, Unproven};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::samples::cuboid;
use clearance_geometry::motion::Motion;
use clearance_geometry::pose::Pose;

const WANTED: Wanted = Wanted { certificate: true, cover_steps_max: 1_000 };
const TOLERANCE: f64 = 1e-6;

fn asked(bodies: &[PlacedBody; 2], motions: Motions) -> FirstContactAnswer {
    let kinds = bodies.each_ref().map(|placed| placed.body.kind());
    let poses = bodies.each_ref().map(|placed| &placed.pose);
    let question = FirstContactQuestion::of(kinds, poses, motions).unwrap();
    let ready = question.prepare(bodies.clone()).unwrap();
    ready.answer(true, WANTED, &mut Effort::unlimited()).unwrap()
}

fn towards(q: Motion, margin: f64) -> Motions {
    Motions { margin, time_tolerance: TOLERANCE, ..Motions::new([Motion::rest(), q]) }
}

fn straight(x: f64) -> Motion {
    Motion::Linear { velocity: Vec3::new(x, 0.0, 0.0) }
}

fn placed(body: &Body, x: f64) -> PlacedBody {
    PlacedBody { body: body.clone(), pose: Pose::translation(x, 0.0, 0.0) }
}

fn cube() -> Body {
    Body::of_points(&cuboid(2.0, 2.0, 2.0), &mut Effort::unlimited()).unwrap()
}

fn ball(radius: f64) -> Body {
    Body::of_rounded_points(&[Vec3::zeros()], radius, &mut Effort::unlimited()).unwrap()
}

fn met_at(found: &FirstContactAnswer, time: f64) {
    assert_eq!(found.outcome, Outcome::Contact, "{found:?}");
    assert!(found.t_free <= time && time <= found.t_contact, "{time} {found:?}");
    assert!(found.t_contact - found.t_free <= TOLERANCE, "{found:?}");
    assert_eq!(found.stopped, None);
    assert_eq!(found.proof.as_ref().err(), Some(&Some(Unproven::NoClaim)));
}

/// Cubes and balls that go into each other are as deep as they have come closer since they touched.
#[test]
fn cubes_and_balls_are_so_deep_when_closed_forms_say_it() {
    for body in [cube(), ball(1.0)] {
        let bodies = [placed(&body, 0.0), placed(&body, 4.0)];
        for deep in [1e-6, 0.25, 0.5, 1.75] {
            let found = asked(&bodies, towards(straight(-4.0), -deep));
            met_at(&found, (2.0 + deep) / 4.0);
            assert_eq!(found.initial, Verdict::Separated);
            assert!(found.impact.is_some());
            // Of all motions within a deviation one is so deep sooner.
            let strayed = Motions { deviations: [0.05; 2], ..towards(straight(-4.0), -deep) };
            let strayed = asked(&bodies, strayed);
            assert_eq!(strayed.outcome, Outcome::Contact);
            assert!(strayed.t_free <= (2.0 + deep - 0.1) / 4.0, "{strayed:?}");
            assert!((2.0 + deep - 0.1001) / 4.0 <= strayed.t_free, "{strayed:?}");
        }
        let found = asked(&bodies, towards(straight(-4.0), -2.5));
        assert_eq!((found.outcome, found.t_free), (Outcome::NoContact, 1.0), "{found:?}");
        // They come to exactly this depth at the end, and rounding does not tell.
        let found = asked(&bodies, towards(straight(-4.0), -2.0));
        assert_ne!(found.outcome, Outcome::NoContact, "{found:?}");
        assert!(found.t_free > 0.999);
    }
    // What is so deep at the start is so then.
    let found = asked(&[placed(&cube(), 0.0), placed(&cube(), 1.5)], towards(straight(1.0), -0.5));
    assert_eq!((found.outcome, found.t_contact), (Outcome::Contact, 0.0));
    assert_eq!(found.initial, Verdict::Overlapping);
    let found = asked(&[placed(&cube(), 0.0), placed(&cube(), 1.5)], towards(straight(1.0), -0.6));
    assert_eq!(found.outcome, Outcome::NoContact);
}

/// Whether they are within the margin at a time; none: that is not told.
fn within(bodies: &[PlacedBody; 2], motions: &Motions, t: f64) -> Option<bool> {
    let there = [0, 1].map(|k| {
        let PlacedBody { body, pose } = &bodies[k];
        PlacedBody { body: body.clone(), pose: motions.of_bodies[k].pose_rounded(pose, t) }
    });
    let kinds = there.each_ref().map(|placed| placed.body.kind());
    let question = VerdictQuestion::of(kinds, Some(motions.margin)).unwrap();
    let ready = question.prepare(there).unwrap();
    match ready.answer(Wanted::NO_PROOF, &mut Effort::unlimited()).compared {
        Ok(compared) => Some(compared.unwrap().is_within),
        Err(Stopped::Unresolved) => None,
        Err(why) => panic!("{why:?}"),
    }
}

/// What is told to be free is never within the margin, and what is told to be in contact is.
#[test]
fn bodies_of_all_kinds_are_free_until_they_are_so_deep() {
    const TIMES: u32 = 24;
    let turning = Motion::Screw {
        pivot: Some(Vec3::new(2.0, 0.5, 0.25)),
        velocity: Vec3::new(-2.5, 0.125, 0.0),
        axis: Vec3::new(0.25, 1.0, 0.5),
        angle: 0.75,
    };
    let mut counts = [0; 3];
    for ([p, q], motion) in
        pairs().flat_map(|kinds| [straight(-2.0), turning].map(|it| (kinds, it)))
    {
        let (bodies, motions) = ([at(p, 0.0), at(q, 1.5)], towards(motion, -0.0625));
        let found = asked(&bodies, motions);
        let FirstContactAnswer { outcome, t_free, t_contact, .. } = found;
        let what = format!("{p:?} {q:?} {motion:?} {found:?}");
        counts[outcome as usize] += 1;
        assert!((0.0..=1.0).contains(&t_free) && t_free <= t_contact, "{what}");
        let is_free = outcome == Outcome::NoContact;
        for k in 0..=TIMES {
            let t = f64::from(k) / f64::from(TIMES);
            // What is so deep at the start is free nowhere.
            if t <= t_free && t_free > 0.0 || is_free {
                assert_ne!(within(&bodies, &motions, t), Some(true), "{t} {what}");
            }
        }
        if outcome == Outcome::Contact {
            assert_ne!(within(&bodies, &motions, t_contact), Some(false), "{what}");
            let is_convex = p.is_convex() && q.is_convex();
            assert!(!is_convex || t_contact - t_free <= TOLERANCE, "{what}");
        }
        assert_eq!(found.proof.err(), Some(Some(Unproven::NoClaim)), "{what}");
    }
    assert!(counts.iter().filter(|count| **count > 0).count() > 1, "{counts:?}");
}
