//! Motions that the search gives up on, and says so.

use super::*;
use crate::Mat3;

fn ask(question: &Question<'_>, steps: u64) -> (FirstContact, Effort<'static>) {
    let mut effort = Effort::with_steps(steps);
    let answer = first_contact(question, &mut Witness::default(), &mut effort);
    let answer = answer.expect("the start is decided");
    assert_eq!(judge_first_contact(question, &answer), Ok(()));
    (answer, effort)
}

/// Sines are to be had of a million quarter turns. The search went there in millions of steps, and
/// what followed passed for a graze.
#[test]
fn a_body_that_turns_more_often_than_sines_are_to_be_had_of_is_given_up_soon() {
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let spin = |angle| turn([0.0, 0.0, 1.0], angle);
    let (mut eighth, rest) = (Pose::identity(), Motion::rest());
    let half_root = 0.5f64.sqrt();
    eighth.rotation =
        Mat3::new(half_root, -half_root, 0.0, half_root, half_root, 0.0, 0.0, 0.0, 1.0);
    for (at, other, outcome, stopped) in [
        // Wheels with four teeth each: the corner of one goes between the corners of the other.
        (1.35, spin(-1e9), Outcome::Undecided, Some(Stopped::Unresolved)),
        // What meets soon, or never does at any angle, is decided.
        (1.25, rest, Outcome::Contact, None),
        (1.5, rest, Outcome::NoContact, None),
    ] {
        eighth.translation.x = at;
        let pair = Pair::new(&cube, Pose::identity(), &cube, eighth);
        let (answer, effort) = ask(&Question::new(pair, spin(1e9), other), u64::MAX);
        assert_eq!((answer.outcome, answer.stopped), (outcome, stopped), "{at}: {answer:?}");
        assert!(effort.cost.steps <= u64::from(STEPS_BEYOND_SINE_RANGE_MAX), "{:?}", effort.cost);
    }
}

/// Found by fuzzing: two plates, one of them thinner than rounding, slide on each other while one
/// turns a little. Each of hundreds of steps tried a proof of contact as wide as there is.
#[test]
fn a_long_graze_does_not_try_to_prove_contact_at_every_step() {
    let plate = [[-2.0, 0.0, 0.0], [0.0, -2.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 0.0]];
    let (thin, thinner) = (3.330_669_073_875_469_6e-16, 1.110_223_024_625_156_5e-16);
    let sheet = [
        [-1.5, -thin, -1.5],
        [-1.5, -thinner, -0.5],
        [-1.5, thin, -1.5],
        [0.5, thinner, -1.5],
        [0.5, thinner, 0.5],
        [0.5, thin, -1.5],
    ];
    let [plate, sheet] = [&plate[..], &sheet]
        .map(|all| polytope_of(&all.iter().map(|v| Vec3::from(*v)).collect::<Vec<_>>()));
    let (a, b, c) =
        (0.999_982_313_400_165_1, 0.005_947_484_681_625_489, -1.768_659_983_489_864_6e-5);
    let tilted = Pose {
        rotation: Mat3::new(a, -b, c, b, 0.999_964_626_800_330_2, b, c, -b, a),
        translation: Vec3::new(1.500_017_686_599_835_1, -b, -0.499_982_313_400_165_1),
    };
    let velocity = Vec3::new(62.0, -57.0, -40.5);
    let turning =
        Motion::Screw { pivot: None, velocity, axis: Vec3::x(), angle: 0.001_281_738_281_25 };
    let pair = Pair::new(&plate, Pose::identity(), &sheet, tilted);
    let question = Question::new(pair, turning, Motion::Linear { velocity });
    let (answer, effort) = ask(&question, 600);
    assert_eq!(answer.outcome, Outcome::Undecided);
    // It was 48 a step.
    assert!(effort.cost.supports < 25 * effort.cost.steps, "{:?}", effort.cost);
}

fn body(points: &[[f64; 3]]) -> Polytope {
    polytope_of(&points.iter().map(|v| Vec3::from(*v)).collect::<Vec<_>>())
}

/// A corner of a plate that turns slides by a corner, two thirds of 1e-15 beside it. The directions
/// that separate them do so for as short a time as they are apart: a million steps and links, none
/// of which told more.
#[test]
fn a_graze_of_corners_that_slide_by_each_other_is_given_up_soon() {
    let p = body(&[
        [-0.25, 0.3125, -0.6875],
        [0.03125, 0.046875, 0.46875],
        [0.953125, 0.328125, 0.046875],
        [0.0625, 0.046875, -0.046875],
    ]);
    let q = body(&[
        [-0.9922642377394681, -0.5292641029649566, 0.0],
        [1.7894682569010425, -0.12429411018665597, 0.0],
        [0.5660061543742619, -0.8346170334961586, 0.0],
        [1.1428750352953458, -1.014896036250929, 0.0],
        [0.3405331963738582, 0.38259130361378174, 0.0],
        [0.8348140610212843, -0.17292064388592426, 0.0],
    ]);
    let at = Pose::translation(-0.8763418396043432, 0.07109101557345787, -2.7326658432154476);
    let pair = Pair::new(&p, Pose::identity(), &q, at);
    let way_p = Vec3::new(1.4283827135390301, -4.056853104663229, 1.4798445024910882);
    let way_q = Vec3::new(2.0, -2.9729410676673482, 6.04366361604874);
    let turning =
        Motion::Screw { pivot: None, velocity: way_q, axis: Vec3::x(), angle: 7.617588493875445 };
    let question = Question::new(pair, Motion::Linear { velocity: way_p }, turning);
    let (answer, effort) = ask(&question, 100_000);
    assert_eq!((answer.outcome, answer.stopped), (Outcome::Undecided, Some(Stopped::Unresolved)));
    assert!(answer.chain.len() < 2 * CLOSE_STEPS_MAX as usize, "{}", answer.chain.len());
    assert!(effort.cost.steps < 80_000, "{:?}", effort.cost);
}

/// The same of a box, which gets deep a little later: with a tolerance of its own that search is a
/// short one.
#[test]
fn what_gets_deep_after_such_a_graze_is_in_contact() {
    let half = [0.9900458668417761, 0.6982034835705003, 0.542433918869251];
    let corner = |bits: u32| [0, 1, 2].map(|k| if bits >> k & 1 == 0 { -half[k] } else { half[k] });
    let p = body(&[0, 1, 2, 3, 4, 5, 6, 7].map(corner));
    let q = body(&[
        [1.0, -1.0, -1.0],
        [2.0, 2.0, 1.0],
        [0.0, -2.0, 2.0],
        [0.0, -1.0, -2.0],
        [-1.0, -1.0, 1.0],
        [1.0, 0.0, 2.0],
    ]);
    let at = Pose::translation(-2.451154758982522, -5.776614378116651, 1.3464204631305803);
    let pair = Pair::new(&p, Pose::identity(), &q, at);
    let turning = Motion::Screw {
        pivot: None,
        velocity: Vec3::new(3.31107216628177, 3.579113025092943, 3.0),
        axis: Vec3::new(-2.0, 0.0, 1.0),
        angle: PI,
    };
    let sliding = Motion::Linear { velocity: Vec3::new(1.0, -3.0, 2.0) };
    let mut question = Question::new(pair, sliding, turning);
    question.clearance_tolerance = Some(1e-8);
    let (answer, _) = ask(&question, 100_000);
    assert_eq!(answer.outcome, Outcome::Contact);
}

/// Separated bodies that are within the margin from the start were in contact, and yet were
/// searched once more in each other's place, at twice the cost.
#[test]
fn bodies_within_the_margin_from_the_start_are_searched_once() {
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(1.1, 0.2, 0.1));
    let moving = Question::new(pair, turn([0.0, 0.0, 1.0], 1.0), turn([1.0, 0.0, 0.0], -2.0));
    let mut effort = Effort::unlimited();
    let question = Question { reach: 0.3.into(), ..moving };
    let answer = contact_time::first_contact(&question, &mut Witness::default(), &mut effort)
        .expect("no budget");
    assert_eq!((answer.outcome, answer.t_contact), (Outcome::Contact, 0.0));
    assert!(effort.cost.steps <= 7, "a second search took four steps more: {:?}", effort.cost);
}
