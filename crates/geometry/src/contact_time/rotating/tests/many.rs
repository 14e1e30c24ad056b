//! Chains found in plain floating point, judged by the thousand.

use super::*;
use crate::hull::samples::prism;

/// A motion of one of many kinds: far pivots, tiny and large angles, many turns, along an axis.
fn motion(random: &mut Random) -> Motion {
    let kind = random.below(8);
    let far = [1.0, 30.0, 1e4][random.below(3) as usize];
    let angle = [0.0, 1e-7, 0.01, 1.0, 3.0, 60.0][random.below(6) as usize];
    let axis = if kind.is_multiple_of(2) { random.direction() } else { Vec3::new(0.0, 0.0, -2.0) };
    match kind {
        0..5 => Motion::Screw {
            pivot: (kind > 1).then(|| random.in_ball() * far),
            velocity: random.in_ball() * 3.0,
            axis,
            angle,
        },
        5 => Motion::Linear { velocity: random.in_ball() * 3.0 },
        _ => {
            let pivot = (kind == 6).then(|| random.in_ball() * far);
            Motion::ToPose { end: random_pose(random, 2.0), pivot, turn: None }
        }
    }
}

#[test]
fn the_judge_accepts_every_chain_of_thousands_of_motions() {
    let mut random = Random::new(99);
    let bodies = [
        polytope_of(&cuboid(2.0, 0.3, 0.7)),
        polytope_of(&cuboid(1.0, 1.0, 1.0)),
        polytope_of(&cloud(12, Vec3::new(1.0, 1.0, 1.0), 3)),
        polytope_of(&cloud(70, Vec3::new(1.0, 0.2, 0.5), 4)),
        polytope_of(&cloud(9, Vec3::new(2.0, 1e-3, 0.02), 4)),
        polytope_of(&segment(3.0)),
    ];
    let mut counts = [0, 0, 0];
    for round in 0..2500 {
        let body = |random: &mut Random| &bodies[random.below(6) as usize];
        let (p, q) = (body(&mut random), body(&mut random));
        let offset = random.in_ball() * [0.0, 10.0, 1e5][round % 3];
        let mut at = [random_pose(&mut random, 1.8), random_pose(&mut random, 1.8)];
        for pose in &mut at {
            pose.translation += offset;
        }
        let pair = Pair::new(p, at[0], q, at[1]);
        let mut question = Question::new(pair, motion(&mut random), motion(&mut random));
        if round % 10 == 0 {
            question.reach = random.between(0.0, 0.1).into();
        }
        // `find` judges.
        match find(&question).outcome {
            Outcome::Contact => counts[0] += 1,
            Outcome::NoContact => counts[1] += 1,
            Outcome::Undecided => {
                // Two segments that cross meet for an instant: M is flat, and nothing gets deeper.
                assert!(p.dimension() + q.dimension() == 2, "{question:?}");
                counts[2] += 1;
            }
        }
    }
    assert!(counts[0] > 400 && counts[1] > 200 && counts[2] < 20, "{counts:?}");
}

/// In units of the fastest motion everything else is so small that its squares vanish; bounds made
/// of them once let a false direction pass.
#[test]
fn a_turning_body_beside_one_that_leaves_at_any_speed_gets_a_chain_that_holds() {
    let point = polytope_of(&[Vec3::new(0.0, -9.0, -10.0)]);
    let plate = polytope_of(&prism(10, 1.0, 0.001));
    let turned = Pose {
        rotation: crate::Mat3::new(
            -0.976_065_656_686_270_9,
            0.215_507_025_072_365_9,
            0.029_198_561_301_157_056,
            -0.108_826_209_558_238,
            -0.367_764_349_315_167_66,
            -0.923_529_230_444_807_2,
            -0.188_288_847_122_672_8,
            -0.904_602_733_534_036,
            0.382_414_963_791_906_1,
        ),
        translation: Vec3::new(0.5, 1.5, 1.5),
    };
    let spin = Motion::Screw {
        pivot: Some(Vec3::new(-11.5, 43.0, 40.0 / 3.0)),
        velocity: Vec3::new(4e-8, 53.0, 4e-90),
        axis: Vec3::new(35.5, 17.5, -22.5),
        angle: -55.195_312_5,
    };
    for exponent in [10, 80, 150, 170, 214, 250, 288] {
        let leaving = Motion::Linear { velocity: Vec3::new(50.0, 63.5, 10f64.powi(exponent)) };
        let pose =
            Pose::translation(-2.040_565_833_037_811, 30.594_114_932_920_75, 5.816_774_963_887_264);
        let question = Question::new(Pair::new(&point, turned, &plate, pose), spin, leaving);
        let answer = find(&question);
        assert_eq!(answer.outcome, Outcome::NoContact, "{exponent}");
        assert!(answer.chain.len() <= 2, "{exponent}: {answer:?}");
    }
}
