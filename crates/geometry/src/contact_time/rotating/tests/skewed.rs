//! Bodies whose poses are matrices as far from rotations as is let in: what moves is longer than
//! its numbers, and ends a millionth of its size from contact.

use super::*;
use crate::samples::Random as Drawn;
use crate::separation::{METHODS, decide};

/// How the two stand at a time: exactly at the end of a motion to a pose, rounded in between.
fn stands(question: &Question<'_>, t: f64) -> Verdict {
    let pose = |motion: &Motion, start: &Pose| {
        if let Motion::ToPose { end, .. } = motion
            && t >= 1.0
        {
            return *end;
        }
        motion.pose_rounded(start, t)
    };
    let Question { pair, motion_p, motion_q, .. } = question;
    let pair = Pair::new(
        pair.p.body,
        pose(motion_p, &pair.p.pose),
        pair.q.body,
        pose(motion_q, &pair.q.pose),
    );
    let effort = &mut Effort::unlimited();
    decide(&pair, &METHODS[0], &mut Witness::default(), effort).unwrap().verdict()
}

/// From where the body is to a pose where it ends a sliver from another, or in it.
fn motion(random: &mut Drawn, body: &Polytope, other: &[Vec3], start: &Pose) -> Motion {
    let place = random.vector();
    let end = match random.below(3) {
        // Without a turn, and with the same matrix.
        0 => Pose { translation: place, ..*start },
        _ => random.skewed_pose(place),
    };
    let way = (end.translation - start.translation).normalize();
    let farthest = |points: &mut dyn Iterator<Item = Vec3>, s: &Vec3| {
        points.max_by(|a, b| a.dot(s).total_cmp(&b.dot(s))).unwrap()
    };
    let top = farthest(&mut body.vertices().iter().map(|v| end.apply_rounded(v)), &way);
    let base = farthest(&mut other.iter().copied(), &-way);
    let sliver = random.signed() * 10f64.powf(-8.5 + 3.0 * (0.5 + 0.5 * random.signed()));
    let shift = base - top - way * sliver;
    let end = Pose { translation: end.translation + shift, ..end };
    match random.below(3) {
        0 if end.rotation == start.rotation => {
            Motion::Linear { velocity: end.translation - start.translation }
        }
        _ => Motion::ToPose { end, pivot: None, turn: None },
    }
}

#[test]
fn no_motion_of_a_body_that_stretches_is_said_to_be_free_into_contact() {
    let (mut free, mut contacts, mut at_end) = (0, 0, 0);
    for seed in 0..400 {
        let mut random = Drawn(seed);
        let shape = |random: &mut Drawn| {
            let half = random.vector().abs() * 0.6 + Vec3::repeat(0.02);
            let centre = random.vector();
            let box_of = cuboid(2.0 * half.x, 2.0 * half.y, 2.0 * half.z);
            polytope_of(&box_of.iter().map(|v| v + centre).collect::<Vec<_>>())
        };
        let (p, q) = (shape(&mut random), shape(&mut random));
        let place = random.vector();
        let pose_q = random.skewed_pose(place);
        let other: Vec<Vec3> = q.vertices().iter().map(|v| pose_q.apply_rounded(v)).collect();
        let away = random.vector() * 3.0;
        let start = random.skewed_pose(away);
        let motion = motion(&mut random, &p, &other, &start);
        let pair = Pair::new(&p, start, &q, pose_q);
        let question = Question::new(pair, motion, Motion::rest());
        let answer = find(&question);
        if answer.t_contact <= 0.0 {
            continue;
        }
        let touches_at_end = stands(&question, 1.0) != Verdict::Separated;
        at_end += usize::from(touches_at_end);
        match answer.outcome {
            Outcome::NoContact => {
                free += 1;
                assert!(!touches_at_end, "seed {seed}: {answer:?}");
            }
            Outcome::Contact => contacts += 1,
            Outcome::Undecided => {}
        }
        for k in 0..40 {
            let t = answer.t_free * (1.0 - 0.7f64.powi(k));
            assert_eq!(stands(&question, t), Verdict::Separated, "seed {seed} at {t}: {answer:?}");
        }
    }
    assert!(free > 60 && contacts > 60 && at_end > 60, "{free} {contacts} {at_end}");
}
