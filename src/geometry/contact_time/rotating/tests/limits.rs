//! Motions that the search gives up on, and says so.

use super::*;
use crate::geometry::Mat3;

fn ask(question: &Question<'_>, steps: u64) -> (FirstContact, Effort<'static>) {
    let mut effort = Effort::with_steps(steps);
    let answer = first_contact(question, &mut Witness::default(), &mut effort);
    let answer = answer.expect("the start is decided");
    assert_eq!(judge_first_contact(question, &answer), Ok(()));
    (answer, effort)
}

/// Sines are to be had of a million quarter turns. The search went there in millions of steps, and what
/// followed passed for a graze.
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
        assert!(effort.cost.steps <= u64::from(OUTLASTING_STEPS_MAX), "{:?}", effort.cost);
    }
}

/// Found by fuzzing: two plates, one of them thinner than rounding, slide on each other while one turns a
/// little. Each of hundreds of steps tried a proof of contact as wide as there is.
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
