//! Flat bodies that pass through each other, and those that do not.

use super::*;
use crate::judge::Refusal;

fn point(x: f64, y: f64, z: f64) -> Polytope {
    polytope_of(&[Vec3::new(x, y, z)])
}

/// A triangle across the x axis.
fn triangle(size: f64) -> Polytope {
    let corners = [[-3.0, -3.0], [3.0, -3.0], [0.0, 3.0]];
    polytope_of(&corners.map(|[y, z]| Vec3::new(0.0, y, z) * size))
}

/// The point stayed undecided: it is never deeper in the triangle than the tolerance.
#[test]
fn a_point_that_turns_through_a_triangle_meets_it_on_the_way() {
    for size in [1e-6, 1.0, 1e3, 1e6] {
        let (hand, wall) = (point(size, 0.0, 0.0), triangle(size));
        for (angle, fraction) in [(1.0, 0.4f64), (-2.0, 0.25), (18.0, 0.02), (1e-6, 0.7)] {
            // The hand is half a radian from the x axis when it comes to the wall.
            let half = 0.5 * (0.5f64.copysign(angle) - angle * fraction);
            let start =
                Pose::from_quaternion(Vec3::zeros(), [half.cos(), 0.0, 0.0, half.sin()]).unwrap();
            let at = Pose::translation(size * f64::cos(0.5), 0.0, 0.0);
            let moving = turn([0.0, 0.0, 1.0], angle);
            let pair = Pair::new(&hand, start, &wall, at);
            for question in [
                Question::new(pair, moving, Motion::rest()),
                Question::new(Pair { p: pair.q, q: pair.p }, Motion::rest(), moving),
            ] {
                let answer = find(&question);
                assert_eq!(answer.outcome, Outcome::Contact, "{size} {angle}");
                let off = (answer.t_free - fraction).abs().max((answer.t_contact - fraction).abs());
                assert!(off * angle.abs() < 1e-9, "{size} {angle}: {answer:?}");
            }
        }
    }
}

#[test]
fn a_rod_that_turns_across_a_rod_meets_it_on_the_way() {
    let rod = polytope_of(&[Vec3::new(-1.0, 0.0, 0.0), Vec3::new(2.0, 0.0, 0.0)]);
    let pole = polytope_of(&[Vec3::new(0.0, 0.0, -1.0), Vec3::new(0.0, 0.0, 2.0)]);
    let at = Pose::translation(0.8, 0.6, 0.1);
    let question = Question::new(
        Pair::new(&rod, Pose::identity(), &pole, at),
        turn([0.0, 0.0, 1.0], 1.3),
        Motion::rest(),
    );
    let answer = find(&question);
    assert_eq!(answer.outcome, Outcome::Contact);
    let time = 0.6f64.atan2(0.8) / 1.3;
    assert!(answer.t_free < time && time < answer.t_contact, "{answer:?}");
    assert!(answer.t_contact - answer.t_free <= question.time_tolerance);
}

#[test]
fn a_point_that_passes_beside_a_triangle_is_free_and_one_that_turns_back_at_it_stays_undecided() {
    let hand = point(1.0, 0.0, 0.0);
    let wall = triangle(1.0);
    let moving = turn([0.0, 0.0, 1.0], 1.0);
    let ask = |at: Pose| {
        find(&Question::new(Pair::new(&hand, Pose::identity(), &wall, at), moving, Motion::rest()))
    };
    // Below its lower edge by 1e-9.
    let beside = ask(Pose::translation(0.8, 0.0, 3.0 + 1e-9));
    assert_eq!(beside.outcome, Outcome::NoContact);
    // The hand is at the height 1 at its highest, and the wall lies flat there.
    let corners = [[-3.0, -3.0], [3.0, -3.0], [0.0, 3.0]];
    let ceiling = polytope_of(&corners.map(|[x, z]| Vec3::new(x, 1.0, z)));
    let pair = Pair::new(&hand, Pose::identity(), &ceiling, Pose::identity());
    let graze = find(&Question::new(pair, turn([0.0, 0.0, 1.0], 3.0), Motion::rest()));
    assert_eq!(graze.outcome, Outcome::Undecided);
}

#[test]
fn a_passage_is_refused_where_the_bracket_or_the_triangle_is_another() {
    let (hand, wall) = (
        point(1.0, 0.0, 0.0),
        polytope_of(&[
            Vec3::new(0.0, -3.0, -3.0),
            Vec3::new(0.0, 3.0, -3.0),
            Vec3::new(0.0, 3.0, 3.0),
            Vec3::new(0.0, -3.0, 3.0),
        ]),
    );
    let start = Pose::identity();
    let at = Pose::translation(0.8, 0.4, 0.3);
    let question = Question::new(
        Pair::new(&hand, start, &wall, at),
        turn([0.0, 0.0, 1.0], 1.0),
        Motion::rest(),
    );
    let answer = find(&question);
    assert_eq!((answer.outcome, answer.pairs.len()), (Outcome::Contact, 3));
    let check = |tamper: &dyn Fn(&mut FirstContact)| {
        let mut changed = answer.clone();
        tamper(&mut changed);
        assert_eq!(judge_first_contact(&question, &changed), Err(Refusal::OriginNotHeld));
    };
    check(&|a| a.t_contact = a.t_free);
    check(&|a| (a.t_free, a.t_contact) = (a.t_free - 1e-6, a.t_free - 1e-9));
    check(&|a| a.pairs.truncate(2));
    check(&|a| a.pairs[0] = a.pairs[1]);
    // The wall's other triangle is beside the point.
    let other = (0..4).find(|j| answer.pairs.iter().all(|pair| pair.j != *j)).unwrap();
    let mut refused = 0;
    for k in 0..3 {
        let mut changed = answer.clone();
        changed.pairs[k].j = other;
        refused += u32::from(judge_first_contact(&question, &changed).is_err());
    }
    assert!(refused >= 2, "{refused}");
    // A bracket that begins earlier, as that of a body with other parts may, or ends later is true
    // as well.
    let earlier = FirstContact { t_free: 0.1, ..answer.clone() };
    assert_eq!(judge_first_contact(&question, &earlier), Ok(()));
    let later = FirstContact { t_contact: answer.t_contact + 1e-6, ..answer.clone() };
    assert_eq!(judge_first_contact(&question, &later), Ok(()));
}

/// The point goes by below the wall, and is before it again, behind it, at the end of a bracket
/// that is too wide.
#[test]
fn who_goes_around_a_triangle_does_not_pass_through_it() {
    let hand = point(1.0, 0.0, 0.0);
    let corners = [[0.7, -3.0], [0.7, 3.0], [4.0, 0.0]];
    let wall = polytope_of(&corners.map(|[y, z]| Vec3::new(0.0, y, z)));
    let pair = Pair::new(&hand, Pose::identity(), &wall, Pose::translation(0.8, 0.0, 0.0));
    let question = Question::new(pair, turn([0.0, 0.0, 1.0], 1.2), Motion::rest());
    let free = find(&question);
    assert_eq!(free.outcome, Outcome::NoContact);
    let claim = FirstContact {
        outcome: Outcome::Contact,
        t_free: 0.5,
        t_contact: 1.0,
        pairs: (0..3).map(|j| VertexPair { i: 0, j }).collect(),
        ..free
    };
    assert_eq!(judge_first_contact(&question, &claim), Err(Refusal::OriginNotHeld));
}

/// Four differences of plates need not stay in a plane, as those of a point and a plate do.
#[test]
fn a_quadrangle_of_plates_is_no_proof_of_passing() {
    let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let wall = polytope_of(&square.map(|[y, z]| Vec3::new(0.0, y, z)));
    let wing = [[1.0, 0.0], [1.5, 0.25], [1.5, -0.25]];
    let wing = polytope_of(&wing.map(|[x, z]| Vec3::new(x, 0.0, z)));
    let at = Pose::translation(0.5f64.cos(), 0.5f64.sin(), 0.0);
    let ask = |hand| {
        let pair = Pair::new(hand, Pose::identity(), &wall, at);
        Question::new(pair, turn([0.0, 0.0, 1.0], 1.0), Motion::rest())
    };
    let hand = point(1.0, 0.0, 0.0);
    let of_point = find(&ask(&hand));
    assert_eq!((of_point.outcome, of_point.pairs.len()), (Outcome::Contact, 4));
    let question = ask(&wing);
    let of_plate = find(&question);
    assert_contact_at(&of_plate, 0.5);
    // The wing's first vertex is the point.
    assert_eq!(*wing.vertex(0), Vec3::new(1.0, 0.0, 0.0));
    let (t_free, t_contact) = (of_plate.t_free, of_plate.t_contact.max(of_point.t_contact));
    let claim = FirstContact { pairs: of_point.pairs, t_free, t_contact, ..of_plate };
    assert_eq!(judge_first_contact(&question, &claim), Err(Refusal::OriginNotHeld));
}

/// Only triangles were tried, and no triangle of corners has the middle of a square strictly
/// inside.
#[test]
fn through_the_middle_of_a_square_and_across_the_middle_of_a_rod_there_is_contact_too() {
    let hand = point(1.0, 0.0, 0.0);
    let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let wall = polytope_of(&square.map(|[y, z]| Vec3::new(0.0, y, z)));
    let rod = polytope_of(&[Vec3::new(0.0, 0.0, 0.0), Vec3::new(2.0, 0.0, 0.0)]);
    let pole = polytope_of(&[Vec3::new(0.0, 0.0, -1.0), Vec3::new(0.0, 0.0, 1.0)]);
    // Both are hit at the angle 0.5, where the hand is at the wall's middle, and the rod's at the
    // pole's.
    let at = Pose::translation(0.5f64.cos(), 0.5f64.sin(), 0.0);
    for (moving, still) in [(&hand, &wall), (&rod, &pole)] {
        for angle in [1.0, 2.5, 20.0] {
            let pair = Pair::new(moving, Pose::identity(), still, at);
            let turning = turn([0.0, 0.0, 1.0], angle);
            let question = Question::new(pair, turning, Motion::rest());
            let answer = find(&question);
            assert_contact_at(&answer, 0.5 / angle);
            assert_eq!(answer.pairs.len(), 4, "{answer:?}");
            let back = Pair { p: pair.q, q: pair.p };
            assert_contact_at(&find(&Question::new(back, Motion::rest(), turning)), 0.5 / angle);
            // In another order they are no corners in order around; and one corner twice has no
            // foot inside.
            for (i, j) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
                let mut crossed = answer.clone();
                crossed.pairs.swap(i, j);
                let mut twice = answer.clone();
                twice.pairs[i] = twice.pairs[j];
                for changed in [crossed, twice] {
                    let ruling = judge_first_contact(&question, &changed);
                    assert_eq!(ruling, Err(Refusal::OriginNotHeld));
                }
            }
        }
    }
}

/// Of translations the judges know nothing of passing, and refused the answer: contact within a
/// margin that is hardly one is searched for as that of turning bodies is.
#[test]
fn a_translation_across_a_rod_within_next_to_no_margin_claims_no_passing() {
    let rod = polytope_of(&[Vec3::new(-1.0, 0.0, 0.0), Vec3::new(2.0, 0.0, 0.0)]);
    let pole = polytope_of(&[Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 2.0, 0.0)]);
    for height in [0.3, 0.125] {
        let pair = Pair::new(&rod, Pose::identity(), &pole, Pose::translation(0.1, 0.2, height));
        let falling = Motion::Linear { velocity: Vec3::new(0.0, 0.0, -0.7) };
        for margin in [1e-322, 1e-18] {
            let answer = find(&Question {
                reach: margin.into(),
                ..Question::new(pair, Motion::rest(), falling)
            });
            assert_ne!(answer.outcome, Outcome::NoContact);
        }
    }
}
