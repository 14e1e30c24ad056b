//! First contact between two frames: nothing tunnels, and nothing moves that was put.

#![expect(clippy::float_cmp, reason = "the ends of a step are exact")]

use EventKind::{Began, Ended};

use super::*;
use crate::Between;
use clearance_geometry::claim::Outcome;

fn moving() -> Questions {
    Questions { between: Some(Between::default()), ..Questions::default() }
}

/// A thin plate in the plane x = 0, and a small box that passes it.
fn plate_and_box(from: f64) -> Scene {
    let plate = Arc::new(samples::cuboid(0.001, 5.0, 5.0));
    open(vec![Body::solid(1, plate), Body::solid(2, cube(0.25)).placed(at(from, 0.0, 0.0))])
}

#[test]
fn a_passage_between_two_frames_is_a_beginning_and_an_end() {
    let mut scene = plate_and_box(-2.0);
    let report = step(&mut scene, &frame(1, vec![moved(2, at(2.0, 0.0, 0.0))]), &moving());
    assert_eq!(events(&report), [(Began, 1, 2), (Ended, 1, 2)]);
    // They meet when the box has come 2 - 0.25 - 0.001 of 4 metres.
    let meets = (2.0 - 0.25 - 0.001) / 4.0;
    let [free, contact] = report.events[0].bracket;
    assert!(free <= meets + 1e-12 && meets - 1e-12 <= contact, "{free} {contact}");
    assert!(contact - free < 1e-8);
    assert_eq!(report.events[0].verdict, Some(Verdict::Separated));
    assert_eq!(scene.contact_count(), 0);
    let pair = &report.pairs[0];
    assert_eq!(pair.first_contact.as_ref().unwrap().outcome, Outcome::Contact);
}

#[test]
fn without_asking_for_motion_a_passage_goes_unseen() {
    let mut scene = plate_and_box(-2.0);
    let next = frame(1, vec![moved(2, at(2.0, 0.0, 0.0))]);
    assert_eq!(events(&step(&mut scene, &next, &Questions::default())), []);
}

#[test]
fn a_teleported_body_passes_nothing() {
    let mut scene = plate_and_box(-2.0);
    let put = Move { teleported: true, ..moved(2, at(2.0, 0.0, 0.0)) };
    let report = step(&mut scene, &frame(1, vec![put]), &moving());
    assert_eq!(events(&report), []);
    let all_put = Frame { teleported: true, ..frame(2, vec![moved(2, at(-2.0, 0.0, 0.0))]) };
    assert_eq!(events(&step(&mut scene, &all_put, &moving())), []);
    // Put into the plate: in contact, at no known time.
    let put = Move { teleported: true, ..moved(2, at(0.0, 0.0, 0.0)) };
    let report = step(&mut scene, &frame(3, vec![put]), &moving());
    assert_eq!(events(&report), [(Began, 1, 2)]);
    assert_eq!(report.events[0].bracket, [1.0, 1.0]);
}

#[test]
fn motion_starts_at_the_last_answered_frame() {
    let mut scene = plate_and_box(-2.0);
    // Around the plate and back, skipped; the motion assumed is from -2 to -1.
    scene.apply(&frame(1, vec![moved(2, at(2.0, 0.0, 0.0))])).unwrap();
    let report = step(&mut scene, &frame(2, vec![moved(2, at(-1.0, 0.0, 0.0))]), &moving());
    assert_eq!(events(&report), []);
    assert_eq!(report.previous, 0);
}

#[test]
fn contacts_of_one_frame_are_told_in_the_order_of_their_times() {
    let plate = Arc::new(samples::cuboid(0.001, 5.0, 5.0));
    let mut bodies = vec![Body::solid(0, cube(0.25)).placed(at(-1.0, 0.0, 0.0))];
    for (id, x) in [(1, 3.0), (2, 1.0), (3, 2.0), (4, 2.0)] {
        bodies.push(Body::solid(id, plate.clone()).placed(at(x, 0.0, 0.0)));
    }
    bodies[1..].iter_mut().for_each(|body| body.fixed = true);
    let mut scene = open(bodies);
    let report = step(&mut scene, &frame(1, vec![moved(0, at(9.0, 0.0, 0.0))]), &moving());
    let began: Vec<(u32, bool)> = report
        .events
        .iter()
        .filter(|event| event.kind == Began)
        .map(|event| (event.q.0, event.unordered))
        .collect();
    assert_eq!(began, [(2, false), (3, true), (4, true), (1, false)]);
}

#[test]
fn a_contact_at_the_very_end_of_the_frame_is_told_in_that_frame() {
    let shape = cube(1.0);
    let mut scene =
        open(vec![Body::solid(1, shape.clone()), Body::solid(2, shape).placed(at(5.0, 0.0, 0.0))]);
    let report = step(&mut scene, &frame(1, vec![moved(2, at(2.0, 0.0, 0.0))]), &moving());
    assert_eq!(events(&report), [(Began, 1, 2)]);
    assert_eq!(report.events[0].bracket[1], 1.0);
    let report = step(&mut scene, &frame(2, vec![]), &moving());
    assert_eq!(events(&report), []);
}

#[test]
fn a_part_turns_about_its_body_and_sweeps_what_is_between() {
    // A long arm with its only part at radius 4 turns a quarter about the origin, through a post.
    let arm = Part {
        polytope: cube(0.1),
        radius: 0.0,
        mesh: None,
        field: None,
        curved: None,
        body_from_part: at(4.0, 0.0, 0.0),
    };
    let mut body = Body::solid(1, cube(0.1));
    body.parts = vec![arm];
    let diagonal = 4.0 * std::f64::consts::FRAC_1_SQRT_2;
    let post = Body::solid(2, cube(0.2)).placed(at(diagonal, diagonal, 0.0));
    let mut scene = open(vec![body, post]);
    let half = std::f64::consts::FRAC_PI_4;
    let turned = Pose::from_quaternion(Vec3::zeros(), [half.cos(), 0.0, 0.0, half.sin()]).unwrap();
    let report = step(&mut scene, &frame(1, vec![moved(1, turned)]), &moving());
    assert_eq!(events(&report), [(Began, 1, 2), (Ended, 1, 2)]);
    let [free, contact] = report.events[0].bracket;
    assert!(0.4 < free && contact < 0.5, "{free} {contact}");
}

#[test]
fn every_contact_that_sampling_finds_is_found() {
    let mut scene = open(tumbling(8, 110));
    let mut random = Random(111);
    let mut met = 0;
    for id in 1..10 {
        let before: BTreeMap<BodyId, Pose> = scene.bodies().map(|b| (b.id, b.pose)).collect();
        // Translation only, so that sampling needs no screw: long steps.
        let moves: Vec<Move> = scene
            .bodies()
            .map(|body| {
                let mut pose = body.pose;
                pose.translation = random.vector() * 5.0;
                moved(body.id.0, pose)
            })
            .collect();
        let next = frame(id, moves);
        let questions = Questions { listed: Listed::All, ..moving() };
        let report = step(&mut scene, &next, &questions);
        let bodies: BTreeMap<BodyId, &Body> = scene.bodies().map(|b| (b.id, b)).collect();
        for pair in &report.pairs {
            let contact = pair.first_contact.as_ref().unwrap();
            for sample in 0..=20 {
                let t = f64::from(sample) / 20.0;
                let at_t = |id: BodyId| {
                    let mut body = bodies[&id].clone();
                    let start = before[&id].translation;
                    body.pose.translation = start + (body.pose.translation - start) * t;
                    body
                };
                let meets = stand(&at_t(pair.p), &at_t(pair.q)) == Verdict::Overlapping;
                if meets {
                    met += 1;
                    assert!(contact.has_met() && contact.t_free < t + 1e-9, "{t} {pair:?}");
                    break;
                }
            }
        }
    }
    assert!(met > 30, "{met}");
}

#[test]
fn a_translation_from_pose_to_pose_is_a_contact_and_proven_in_every_direction() {
    use clearance_geometry::contact_time::first_contact;
    use clearance_geometry::judge::judge_first_contact;
    use clearance_geometry::motion::Motion;
    use clearance_geometry::pair::Question;

    let plate = samples::cuboid(0.001, 5.0, 5.0);
    let small = samples::cuboid(0.25, 0.25, 0.25);
    let mut random = Random(120);
    let mut exact = 0;
    for _ in 0..40 {
        // Coarse numbers, whose differences are numbers, and fine ones, whose differences are not.
        let mut side = |sign: f64| match random.below(2) {
            0 => sign * f64::from(1 + random.below(7)),
            _ => sign * (1.0 + random.signed().abs() * 3.0),
        };
        let (left, right) = (side(-1.0), side(1.0));
        exact += u32::from((right - left) + left == right && (right - left).fract() == 0.0);
        for (from, to) in [(left, right), (right, left)] {
            let there = Motion::ToPose { end: at(to, 0.0, 0.0), pivot: None, turn: None };
            let (rest, start) = (Motion::rest(), at(from, 0.0, 0.0));
            let plate_first = Pair::new(&plate, Pose::identity(), &small, start);
            let small_first = Pair::new(&small, start, &plate, Pose::identity());
            for question in
                [Question::new(plate_first, rest, there), Question::new(small_first, there, rest)]
            {
                let witness = &mut Witness::default();
                let found = first_contact(&question, witness, &mut Effort::unlimited()).unwrap();
                assert_eq!(found.outcome, Outcome::Contact, "{from} to {to}: {found:?}");
                assert_eq!(judge_first_contact(&question, &found), Ok(()), "{from} to {to}");
            }
        }
    }
    assert!(exact > 3, "{exact}");
}

/// The bound of how far a body strays on its way took the arm of its turn from the pivot at the
/// start to the body at the *end*, where this one has none: so the pair counted as too far apart to
/// have met, and nothing was told of it.
#[test]
fn a_body_that_ends_where_its_pivot_began_meets_what_is_on_its_arc() {
    let far = 100.0;
    let mut body = Body::solid(1, cube(0.25));
    body.pivot = Vec3::new(far, 0.0, 0.0);
    // Half a turn about the pivot, which goes back by as much: halfway the body is beside both.
    let halfway = at(far / 2.0, -far, 0.0);
    let mut scene = open(vec![body, Body::solid(2, cube(0.25)).placed(halfway)]);
    let half_turn = Pose::from_quaternion(Vec3::new(far, 0.0, 0.0), [0.0, 0.0, 0.0, 1.0]).unwrap();
    let report = step(&mut scene, &frame(1, vec![moved(1, half_turn)]), &moving());
    assert_eq!(events(&report), [(Began, 1, 2), (Ended, 1, 2)]);
}
