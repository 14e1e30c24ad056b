//! Small untruths of reports: each was told once, and is not any more.

use EventKind::{Began, Ended};

use super::*;
use crate::{Between, FrameError};
use clearance_geometry::claim::Outcome;
use clearance_geometry::contact_time::first_contact;
use clearance_geometry::judge::judge_first_contact;
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Question;

fn two_cubes(x: f64) -> Vec<Body> {
    vec![Body::solid(1, cube(1.0)), Body::solid(2, cube(1.0)).placed(at(x, 0.0, 0.0))]
}

/// The verdict of such a pair is what it was, and CHANGED left it out beside its event.
#[test]
fn a_pair_whose_contact_ends_is_listed_with_those_that_changed() {
    let bodies = two_cubes(2.0);
    let mut scene = declare(Declaration { bodies, release_margin: 0.5, ..Declaration::default() });
    let apart = frame(1, vec![moved(2, at(2.25, 0.0, 0.0))]);
    let report = step(&mut scene, &apart, &Questions::default());
    assert_eq!((events(&report), report.pairs.len()), (vec![], 1));
    let beyond = frame(2, vec![moved(2, at(3.0, 0.0, 0.0))]);
    let report = step(&mut scene, &beyond, &Questions::default());
    assert_eq!((events(&report), report.pairs.len()), (vec![(Ended, 1, 2)], 1));
}

/// The square root of 1 + 2^-104 rounds to 1 from below.
#[test]
fn a_pair_farther_apart_than_asked_by_less_than_rounding_is_not_listed() {
    let point = Arc::new(samples::hull(&[Vec3::zeros()]));
    let tiny = 2.0_f64.powi(-52);
    for (y, is_listed) in [(tiny, false), (0.0, true)] {
        let there = Body::solid(2, point.clone()).placed(at(1.0, y, 0.0));
        let mut scene = open(vec![Body::solid(1, point.clone()), there]);
        let questions =
            Questions { listed: Listed::Nothing, below: Some(1.0), ..Questions::default() };
        let report = step(&mut scene, &frame(1, vec![]), &questions);
        assert_eq!(report.pairs.len(), usize::from(is_listed), "{y}");
    }
}

/// Its announced contacts passed to the body that came in its place.
#[test]
fn contacts_end_with_a_body_that_is_replaced() {
    for (x, began) in [(9.0, false), (1.0, true)] {
        let mut scene = open(two_cubes(1.0));
        assert_eq!(scene.contact_count(), 1);
        let added = vec![Body::solid(2, cube(0.5)).placed(at(x, 0.0, 0.0))];
        let replaced = Frame { removed: vec![BodyId(2)], added, ..frame(1, vec![]) };
        let report = step(&mut scene, &replaced, &Questions::default());
        let mut told = events(&report);
        told.sort_unstable_by_key(|event| event.0 == Began);
        let expected = [(Ended, 1, 2), (Began, 1, 2)];
        assert_eq!(told, expected[..1 + usize::from(began)]);
        assert_eq!(scene.contact_count(), usize::from(began));
    }
}

/// What was said of the body that had its id was forgotten, and CHANGED left the pair out.
#[test]
fn a_pair_with_a_body_that_left_and_came_again_is_listed_if_anything_was_said_of_it() {
    for (x, verdict) in
        [(9.0, Verdict::Separated), (2.0, Verdict::Touching), (1.0, Verdict::Overlapping)]
    {
        let mut scene = open(two_cubes(1.0));
        let stays = step(&mut scene, &frame(1, vec![]), &Questions::default());
        assert!(stays.pairs.is_empty(), "{stays:?}");
        let added = vec![Body::solid(2, cube(1.0)).placed(at(x, 0.0, 0.0))];
        let replaced = Frame { removed: vec![BodyId(2)], added, ..frame(2, vec![]) };
        let report = step(&mut scene, &replaced, &Questions::default());
        let told: Vec<_> = report.pairs.iter().map(|pair| pair.verdict).collect();
        assert_eq!(told, [Some(verdict)], "{x}");
        let after = step(&mut scene, &frame(3, vec![]), &Questions::default());
        assert!(after.pairs.is_empty(), "{after:?}");
    }
}

/// A frame without a base was applied to whatever came last: of two that changed their places on
/// the way the later one was refused, and what it said was missing from then on.
#[test]
fn a_frame_that_does_not_build_on_the_last_one_applied_is_refused() {
    let mut scene = open(two_cubes(5.0));
    let moves = vec![moved(2, at(6.0, 0.0, 0.0))];
    let mut refused = |id: u64, base: Option<u64>, last: u64| {
        let late = Frame { base, ..frame(id, moves.clone()) };
        assert_eq!(scene.apply(&late), Err(FrameError::KeyframeNeeded { last }), "{id} {base:?}");
        let keyframe = [1, 2].map(|body| moved(body, at(f64::from(9 * body), 0.0, 0.0)));
        let next = match base {
            None => Frame { keyframe: true, ..frame(id, keyframe.to_vec()) },
            Some(_) => Frame { base: Some(last), ..frame(id, moves.clone()) },
        };
        scene.apply(&next).unwrap();
    };
    refused(2, None, 0);
    refused(4, Some(1), 2);
    refused(5, Some(3), 4);
    refused(7, None, 5);
    scene.apply(&frame(8, moves.clone())).unwrap();
    scene.apply(&Frame { base: Some(8), ..frame(80, moves) }).unwrap();
}

/// Such a body counted as one that moved, from its pose to the same, with its deviation.
#[test]
fn a_pose_that_is_restated_is_no_motion() {
    let mut random = Random(681);
    let questions = Questions {
        listed: Listed::All,
        between: Some(Between::default()),
        certificates: true,
        distances: true,
        canonical: true,
        ..Questions::default()
    };
    for round in 0..40 {
        let mut bodies = tumbling(5, 1000 + round);
        bodies.iter_mut().for_each(|body| {
            body.deviation = f64::from(random.below(2)) * 0.05;
            body.margin = f64::from(random.below(2)) * 0.2;
        });
        let mut scenes = [open(bodies.clone()), open(bodies)];
        for id in 1..3 {
            let delta = wander(&scenes[0], id, &mut random);
            let mut keyframe = Frame { keyframe: true, ..delta.clone() };
            for body in scenes[0].bodies() {
                if delta.moves.iter().all(|one| one.body != body.id) {
                    keyframe.moves.push(moved(body.id.0, body.pose));
                }
            }
            let [of_delta, of_keyframe] = &mut scenes;
            let told = step(of_delta, &delta, &questions);
            assert_eq!(step(of_keyframe, &keyframe, &questions), told, "{round}");
        }
    }
}

/// It was undecided, beside `within_margin` that said it is within.
#[test]
fn a_translation_that_ends_exactly_at_the_margin_is_in_contact_there() {
    let (p, q) = (samples::cuboid(0.5, 0.5, 0.5), samples::ball(30, 4));
    let reach = q.vertices().iter().map(|v| -v.x).fold(0.0, f64::max);
    for margin in [0.25, 0.125, 1.0] {
        // Cubes; and a corner that comes towards a face, in numbers without rounding.
        let ends = [(&p, 1.0 + margin), (&q, 0.5 + margin + reach)];
        for (body, x) in
            ends.into_iter().filter(|(_, x)| (x - 0.5 - margin - reach).abs() <= 0.0 || *x < 2.5)
        {
            let (start, end) = (at(x + 2.0, 0.25, 0.125), at(x, 0.25, 0.125));
            let to_pose = Motion::ToPose { end, pivot: None, turn: None };
            // The cube's velocity leads to numbers of that pose exactly.
            let velocity = Vec3::new(-2.0, 0.0, 0.0);
            let linear = [Motion::Linear { velocity }];
            let motions = linear.into_iter().filter(|_| body.vertex_count() == 8);
            for motion in motions.chain([to_pose]) {
                let pair = Pair::new(&p, Pose::identity(), body, start);
                let question = Question {
                    reach: margin.into(),
                    ..Question::new(pair, Motion::rest(), motion)
                };
                let mut effort = Effort::unlimited();
                let found = first_contact(&question, &mut Witness::default(), &mut effort).unwrap();
                let within = {
                    let pair = Pair::new(&p, Pose::identity(), body, end);
                    let mut witness = Witness::default();
                    let effort = &mut Effort::unlimited();
                    clearance_geometry::distance::is_within(&pair, margin, &mut witness, effort)
                };
                let expected = if within.unwrap() { Outcome::Contact } else { Outcome::NoContact };
                assert_eq!(found.outcome, expected, "{margin} {x} {motion:?}");
                assert_eq!(judge_first_contact(&question, &found), Ok(()));
            }
        }
    }
}
