//! The last contact beside what sampling the motion shows, and how far the way back may stray.

#![expect(clippy::float_cmp, reason = "exact values are meant")]

use super::*;
use crate::Mat3;
use crate::contact_time::METHODS;
use crate::distance::{self, Stops};
use crate::polytope::Polytope;
use crate::samples::{self, Random};

fn last(question: &Question<'_>) -> LastContact {
    let found = last_contact_by(&METHODS[0], question, &mut Effort::unlimited());
    found.expect("without a limit").expect("a motion between poses")
}

fn to(end: Pose) -> Motion {
    Motion::ToPose { end, pivot: None, turn: None }
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

/// The pair at time t, rounded.
fn posed<'a>(question: &Question<'a>, t: f64) -> Pair<'a> {
    let Pair { p, q } = question.pair;
    let pose = |placed: &Placed<'_>, motion: &Motion| motion.pose_rounded(&placed.pose, t);
    Pair::new(p.body, pose(&p, &question.motion_p), q.body, pose(&q, &question.motion_q))
}

/// How far apart they are then.
fn gap(question: &Question<'_>, t: f64) -> f64 {
    let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
    let pair = posed(question, t);
    distance::measure(&pair, Stops::default(), witness, effort).expect("no limit").lower
}

#[test]
fn a_box_that_slides_past_another_leaves_it_when_its_end_does() {
    let cube = samples::cuboid(1.0, 1.0, 1.0);
    let rest = Pair::new(&cube, at(0.0, 0.0, 0.0), &cube, at(-4.0, 0.5, 0.0));
    // From -4 to 12: in contact from -2 on, at 2/16, to 2, at 6/16.
    let question = Question::new(rest, Motion::rest(), to(at(12.0, 0.5, 0.0)));
    let [from, free] = last(&question).bracket;
    assert!(from <= 0.375 && 0.375 <= free && free - from < 1e-15, "{from} {free}");
    assert_eq!(last(&question).outcome, Outcome::Contact);
    // Within 2 metres of each other until it is at 4.
    let close = Question { reach: 2.0.into(), ..question };
    let [from, free] = last(&close).bracket;
    assert!(from <= 0.5 && 0.5 <= free && free - from < 1e-8, "{from} {free}");
    // Passing by at a distance, and never in contact.
    let free = Question::new(rest, Motion::rest(), to(at(-12.0, 0.5, 0.0)));
    assert_eq!((last(&free).bracket, last(&free).outcome), ([0.0; 2], Outcome::NoContact));
    // In contact at the end.
    let stays = Question::new(rest, Motion::rest(), to(at(2.0, 0.5, 0.0)));
    assert_eq!(last(&stays).bracket, [1.0, 1.0]);
    // Touching at the start only.
    let beside = Pair::new(&cube, at(0.0, 0.0, 0.0), &cube, at(2.0, 0.5, 0.0));
    let leaves = Question::new(beside, Motion::rest(), to(at(12.0, 0.5, 0.0)));
    let LastContact { bracket, outcome, .. } = last(&leaves);
    assert!(bracket[0] <= 0.0 && bracket[1] < 1e-15, "{bracket:?}");
    assert_eq!(outcome, Outcome::Contact);
}

/// Rotations as coordinates in single precision give them, which are none exactly: then the way
/// back differs from the way there by as much.
fn coarse(pose: &Pose, part: f64, random: &mut Random) -> Pose {
    Pose { rotation: pose.rotation + Mat3::from_fn(|_, _| part * random.signed()), ..*pose }
}

fn turning(random: &mut Random, coarseness: f64, body: &Polytope, ask: impl FnOnce(&Question<'_>)) {
    let ends = [0.0, 1.0].map(|_| {
        let away = random.unit_vector() * 2.5;
        [random.pose(Vec3::zeros()), random.pose(away)]
    });
    let [[p0, q0], [p1, q1]] = ends.map(|two| two.map(|pose| coarse(&pose, coarseness, random)));
    let pivot = Some(random.vector() * 3.0);
    let motion_q = Motion::ToPose { end: q1, pivot, turn: None };
    ask(&Question::new(Pair::new(body, p0, body, q0), to(p1), motion_q));
}

#[test]
fn after_the_bracket_turning_bodies_are_free_and_at_its_start_they_are_not() {
    let mut random = Random(19);
    let bodies = [samples::cuboid(1.0, 0.4, 0.7), samples::ball(20, 3), samples::cone(9)];
    let (mut met, mut coarse_ones, mut open) = (0, 0, 0);
    for round in 0..360 {
        let coarseness = [0.0, 1e-7][round % 2];
        let margin = [0.0, 0.0, 0.05][round % 3];
        turning(&mut random, coarseness, &bodies[round % 9 / 3], |question| {
            let question = &Question { reach: margin.into(), ..*question };
            if gap(question, 1.0) <= margin {
                return;
            }
            let LastContact { bracket: [contact, free], outcome, stopped } = last(question);
            assert_eq!(stopped, None);
            for part in 0..=40 {
                let t = free + (1.0 - free) * (f64::from(part) / 40.0).powi(4);
                let t = (t + 1e-12).min(1.0);
                assert!(gap(question, t) > margin, "{round}: in contact at {t} after {free}");
            }
            open += usize::from(outcome == Outcome::Undecided);
            if outcome == Outcome::Contact {
                met += 1;
                coarse_ones += usize::from(coarseness > 0.0);
                assert!(gap(question, contact) < margin + 1e-13, "{round}: free at {contact}");
                let width = if coarseness > 0.0 { 1e-4 } else { 1e-8 };
                assert!(free - contact < width, "{round}: {contact} {free}");
            }
        });
    }
    assert!(met > 120 && coarse_ones > 50 && open == 0, "{met} {coarse_ones} {open}");
}

/// The bound is what keeps the two ways together, and no more than a few times too wide.
#[test]
fn the_way_back_stays_as_close_as_is_said() {
    let mut random = Random(23);
    let body = samples::cuboid(1.0, 0.4, 0.7);
    let mut tightest = 0.0_f64;
    for _ in 0..60 {
        turning(&mut random, 1e-7, &body, |question| {
            let Placed { body, pose } = question.pair.q;
            let back = WayBack::of(&question.pair.q, &question.motion_q).expect("between poses");
            for part in 1..20 {
                let s = f64::from(part) / 20.0;
                let there = question.motion_q.pose_rounded(&pose, 1.0 - s);
                let here = back.motion.pose_rounded(&back.from, s);
                for v in body.vertices() {
                    let off = (there.apply_rounded(v) - here.apply_rounded(v)).norm();
                    assert!(off < back.off + 1e-14, "{off} {}", back.off);
                    tightest = tightest.max(off / back.off);
                }
            }
        });
    }
    assert!(tightest > 0.05, "{tightest}");
}
