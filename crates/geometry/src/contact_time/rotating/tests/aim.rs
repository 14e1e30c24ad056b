//! What contact costs where features tilt as they meet.

use super::*;
use crate::hull::samples::{flat_polygon, prism};

/// Along the normal of the moment, the gap of tumbling cubes falls to a fixed part of itself a
/// step: corners that swing ahead of the nearest points come in first. A time took tens of steps
/// then, and hundreds of supporting vertices.
#[test]
fn contact_of_tumbling_cubes_takes_a_handful_of_steps() {
    let cube = polytope_of(&cuboid(2.0, 2.0, 2.0));
    let mut random = Random::new(5);
    let (mut contacts, mut cost) = (0, crate::effort::Cost::default());
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

/// Two hexagonal prisms nearly touch and turn against each other about the line through their
/// centres. A heading that turns with one of them keeps them apart for long; the normals of a
/// moment later, which their corners tilt into, do so for a hundred thousandth of the step and led
/// to the next one of these: thousands of steps where tens are enough, and beside a needle more
/// than any budget.
#[test]
fn bodies_that_nearly_touch_and_turn_against_each_other_take_no_thousands_of_steps() {
    let nut = polytope_of(&prism(6, 1.0, 1.0));
    let (cube, needle) = (cuboid(1.0, 1.0, 1.0), cuboid(1e4, 1e-2, 1e-2));
    let (cube, needle) = (polytope_of(&cube), polytope_of(&needle));
    let mut random = Random::new(9);
    let mut slow = 0;
    for round in 0..24 {
        let (p, q) = if round % 2 == 0 { (&nut, &nut) } else { (&needle, &cube) };
        let way = random.direction();
        let mut turned = || [(); 4].map(|()| random.between(-1.0, 1.0));
        let (turned_p, turned_q) = (turned(), turned());
        let pose = |at, turned| Pose::from_quaternion(at, turned).expect("not zero");
        let pair =
            |at: f64| Pair::new(p, pose(Vec3::zeros(), turned_p), q, pose(way * at, turned_q));
        let (mut touching, mut apart) = (0.0, 2.0 * (p.bounds().radius + q.bounds().radius));
        for _ in 0..30 {
            let at = 0.5 * (touching + apart);
            let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
            let decided =
                separation::decide(&pair(at), &separation::METHODS[0], &mut witness, &mut effort);
            let is_apart = decided.expect("no budget").proof.verdict() == Verdict::Separated;
            *(if is_apart { &mut apart } else { &mut touching }) = at;
        }
        let angle = [0.5, 2.0][round % 2];
        let about = |angle| {
            let (pivot, velocity) = (Some(Vec3::zeros()), Vec3::zeros());
            Motion::Screw { pivot, velocity, axis: way, angle }
        };
        let question = Question::new(pair(apart), about(-angle), about(0.7 * angle));
        let mut effort = Effort::with_steps(3_000);
        let answer = first_contact(&question, &mut Witness::default(), &mut effort);
        answer.expect("the start is decided");
        slow += usize::from(effort.cost.steps > 500);
    }
    // Of 24; it was eight of them.
    assert!(slow < 4, "{slow}");
}

/// A heptagon of ten picometres turns beside an edge of a prism of a millimetre. Contact is proven
/// soon, in a bracket of millionths; to narrow it, steps of 5e-14 followed each other, each with
/// its own search for contact, until the budget ended.
#[test]
fn a_bracket_that_rounding_keeps_wide_is_given_up_and_says_so() {
    let [large, tiny] = [prism(40, 1.0, 0.5), flat_polygon(7, 1e-8)]
        .map(|points| polytope_of(&points.iter().map(|point| point * 1e-3).collect::<Vec<_>>()));
    let beside = Pose::translation(0.001_000_000_009_081_305_6, -2.307_981_619_846_617_3e-28, 0.0);
    let pair = Pair::new(&large, Pose::identity(), &tiny, beside);
    let axis = [-0.487_590_972_278_338_3, -0.098_313_238_987_862_83, -0.867_519_193_327_951_7];
    let question = Question::new(pair, turn([1.0, 0.0, 0.0], 0.5), turn(axis, 0.5));
    // A budget may end it before.
    for (steps, why) in [(60, Stopped::Steps), (5_000, Stopped::Unresolved)] {
        let mut effort = Effort::with_steps(steps);
        let answer = first_contact(&question, &mut Witness::default(), &mut effort);
        let answer = answer.expect("the start is decided");
        assert_eq!(judge_first_contact(&question, &answer), Ok(()));
        assert_eq!(answer.outcome, Outcome::Contact);
        assert_eq!(answer.stopped, Some(why));
        assert!(effort.cost.steps < 1_000, "{:?}", effort.cost);
    }
}
