//! What contact costs where features tilt as they meet.

use super::*;

/// Along the normal of the moment, the gap of tumbling cubes falls to a fixed part of itself a step:
/// corners that swing ahead of the nearest points come in first. A time took tens of steps then, and
/// hundreds of supporting vertices.
#[test]
fn contact_of_tumbling_cubes_takes_a_handful_of_steps() {
    let cube = polytope_of(&cuboid(2.0, 2.0, 2.0));
    let mut random = Random::new(5);
    let (mut contacts, mut cost) = (0, crate::geometry::effort::Cost::default());
    for _ in 0..60 {
        let mut pose = |at: f64| {
            let turned = [(); 4].map(|()| random.between(-1.0, 1.0));
            Pose::from_quaternion(Vec3::new(at, 0.0, 0.0), turned).expect("not zero")
        };
        let pair = Pair::new(&cube, pose(0.0), &cube, pose(6.0));
        let mut tumbling = |speed: f64| {
            let velocity = Vec3::new(speed, 0.0, 0.0);
            Motion::Screw { pivot: None, velocity, axis: random.in_ball(), angle: 6.0 }
        };
        let question = Question::new(pair, tumbling(3.0), tumbling(-3.0));
        let mut effort = Effort::unlimited();
        let answer = first_contact(&question, &mut Witness::default(), &mut effort);
        let answer = answer.expect("no budget");
        assert_eq!(judge_first_contact(&question, &answer), Ok(()), "{answer:?}");
        contacts += u64::from(answer.outcome == Outcome::Contact);
        cost += effort.cost;
    }
    assert_eq!(contacts, 60);
    assert!(cost.steps < 8 * contacts, "{cost:?}");
    assert!(cost.supports < 120 * contacts, "{cost:?}");
}
