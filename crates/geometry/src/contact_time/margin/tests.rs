//! Translations that graze their margin, meet it at an end of the step, and miss it by an ulp. The
//! judge proves that a bracket holds the first moment; between neighbours nothing is left to know.
#![expect(clippy::float_cmp, reason = "exact values are meant")]

use dashu_int::IBig;

use super::*;
use crate::Vec3;
use crate::contact_time::first_contact;
use crate::hull::samples::{Random, cuboid, point, polytope_of};
use crate::judge::judge_first_contact;
use crate::motion::Motion;
use crate::number::scaled::integer_at;
use crate::pair::Pair;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::witness::Witness;

fn ask(question: &Question<'_>) -> FirstContact {
    let answer =
        first_contact(question, &mut Witness::default(), &mut Effort::unlimited()).unwrap();
    assert_eq!(judge_first_contact(question, &answer), Ok(()), "{question:?} {answer:?}");
    answer
}

/// A box by half its sizes.
fn boxed(half: [f64; 3]) -> Polytope {
    let [x, y, z] = half.map(|half| 2.0 * half);
    polytope_of(&cuboid(x, y, z))
}

/// Bodies of which the second flies past the first, which rests.
struct Flight<'a> {
    bodies: [&'a Polytope; 2],
    from: Vec3,
    by: Vec3,
}

impl Flight<'_> {
    /// When they first come within the margin.
    fn with(&self, margin: f64) -> FirstContact {
        let [p, q] = self.bodies;
        let from = Pose { translation: self.from, ..Pose::identity() };
        let pair = Pair::new(p, Pose::identity(), q, from);
        let velocity = self.by;
        let linear = Motion::Linear { velocity };
        ask(&Question { reach: margin.into(), ..Question::new(pair, Motion::rest(), linear) })
    }

    /// It comes within the margin first at a time that is between these neighbours, and not within
    /// an ulp less.
    fn grazes(&self, margin: f64, time: [f64; 2]) {
        let answer = self.with(margin);
        assert_eq!((answer.outcome, answer.stopped), (Outcome::Contact, None), "{answer:?}");
        assert_eq!([answer.t_free, answer.t_contact], time, "{answer:?}");
        let below = self.with(margin.next_down());
        assert_eq!((below.outcome, below.stopped), (Outcome::NoContact, None), "{below:?}");
        let above = self.with(margin.next_up());
        assert_eq!((above.outcome, above.stopped), (Outcome::Contact, None), "{above:?}");
        assert!(above.t_contact <= time[1] && above.t_free < above.t_contact, "{above:?}");
    }
}

/// The neighbours around a time that is no f64 number, given with more digits than there are.
fn around(time: [f64; 2]) -> [f64; 2] {
    assert_eq!(time[0].next_up(), time[1]);
    time
}

fn third() -> [f64; 2] {
    let third = 1.0 / 3.0;
    // In f64 a third is rounded down.
    around([third, f64::next_up(third)])
}

/// It once was undecided, beside `within_margin` that said that a pose on the way is within.
#[test]
fn corners_that_graze_at_exactly_the_margin_meet_then() {
    let cube = boxed([1.0; 3]);
    // The corners are (2, 3, 6) apart at a third of the step, and move across that.
    for unit in [1.0, 2f64.powi(400), 2f64.powi(-400), 2f64.powi(-1000)] {
        let cube = boxed([unit; 3]);
        let by = Vec3::new(9.0, -6.0, 0.0) * unit;
        let from = Vec3::new(4.0 - 3.0, 5.0 + 2.0, 8.0) * unit;
        Flight { bodies: [&cube; 2], from, by }.grazes(7.0 * unit, third());
    }
    // At a half, which is a number; its neighbour below is the last that is free.
    let from = Vec3::new(4.0 - 3.0, 5.0 + 2.0, 8.0);
    let flight = Flight { bodies: [&cube; 2], from, by: Vec3::new(6.0, -4.0, 0.0) };
    flight.grazes(7.0, [0.5f64.next_down(), 0.5]);
}

#[test]
fn edges_that_graze_at_exactly_the_margin_meet_then() {
    let cube = boxed([1.0; 3]);
    // Parallel ones, (3, 4) apart at a third.
    let from = Vec3::new(5.0 - 4.0, 6.0 + 3.0, 0.5);
    let flight = Flight { bodies: [&cube; 2], from, by: Vec3::new(12.0, -9.0, 0.0) };
    flight.grazes(5.0, third());
    // Crossing ones: a rod along x comes over one along y, at height 5, a third of the step after
    // it set out.
    let ends = |along: Vec3| polytope_of(&[-along, along]);
    let bodies = [&ends(Vec3::new(0.0, 2.0, 0.0)), &ends(Vec3::new(2.0, 0.0, 0.0))];
    let (from, by) = (Vec3::new(-5.0, 0.5, 5.0), Vec3::new(9.0, 0.0, 0.0));
    Flight { bodies, from, by }.grazes(5.0, third());
}

#[test]
fn a_corner_that_slides_over_a_face_at_exactly_the_margin_meets_it_at_the_border() {
    let (cube, dot) = (boxed([1.0; 3]), polytope_of(&point()));
    let flight =
        Flight { bodies: [&cube, &dot], from: Vec3::new(-2.0, 0.25, 3.0), by: 3.0 * Vec3::x() };
    flight.grazes(2.0, third());
    // Down to it at the end of the step, and no farther.
    let down = Vec3::new(0.5, -0.5, -2.0);
    let flight = Flight { bodies: [&cube, &dot], from: Vec3::new(0.25, 0.25, 5.0), by: down };
    flight.grazes(2.0, [1.0f64.next_down(), 1.0]);
}

/// At the margin from the start, and away.
#[test]
fn bodies_at_exactly_their_margin_at_the_start_meet_there_and_an_ulp_beyond_never() {
    let cube = boxed([1.0; 3]);
    let from = Vec3::new(4.0, 5.0, 8.0);
    for by in [Vec3::new(1.0, 0.0, 0.0), Vec3::new(3.0, -2.0, 0.0), Vec3::zeros()] {
        let flight = Flight { bodies: [&cube; 2], from, by };
        let answer = flight.with(7.0);
        let times = (answer.t_free, answer.t_contact);
        assert_eq!((answer.outcome, times), (Outcome::Contact, (0.0, 0.0)), "{answer:?}");
        assert_eq!(flight.with(7.0f64.next_down()).outcome, Outcome::NoContact);
    }
    // An ulp nearer: soon, but not at the start.
    let by = Vec3::new(-1.0, 0.0, 0.0);
    let answer = Flight { bodies: [&cube; 2], from, by }.with(7.0f64.next_down());
    assert_eq!(answer.outcome, Outcome::Contact);
    assert!(answer.t_contact > 0.0 && answer.t_contact < 1e-9, "{answer:?}");
}

/// A margin of which the step covers more than an ulp of a time: the whole sweep holds the origin.
#[test]
fn a_body_that_goes_through_another_between_two_times_comes_within_the_margin_between_them() {
    let cube = boxed([1.0; 3]);
    for (from, by) in [(-1e20, 3e20), (-4e280, 9e280)] {
        let (from, by) = (Vec3::new(from, 0.5, 0.25), Vec3::new(by, 0.0, 0.0));
        let answer = Flight { bodies: [&cube; 2], from, by }.with(1e-9);
        assert_eq!(answer.outcome, Outcome::Contact, "{answer:?}");
        assert!(answer.t_contact - answer.t_free < 1e-9, "{answer:?}");
    }
}

/// The least square of the distance of two boxes over the step, as a quotient: they move by whole
/// numbers, so of each time at which a coordinate changes sides the rest is quadratic.
fn least_squared(gap: [[i64; 2]; 3], by: [i64; 3]) -> (i64, i64) {
    // A time is n / d. Low and high of the difference at time t are gap + by t.
    let mut times = vec![(0i64, 1i64), (1, 1)];
    for k in (0..3).filter(|k| by[*k] != 0) {
        for end in gap[k] {
            let (n, d) = if by[k] < 0 { (end, -by[k]) } else { (-end, by[k]) };
            if 0 < n && n < d {
                times.push((n, d));
            }
        }
    }
    let active = |(n, d): (i64, i64)| {
        // Twice the middle of a piece decides which ends count there.
        [0, 1, 2].map(|k| {
            let [low, high] = gap[k].map(|end| end * d + by[k] * n);
            if low > 0 {
                Some(gap[k][0])
            } else if high < 0 {
                Some(gap[k][1])
            } else {
                None
            }
        })
    };
    let at = |ends: [Option<i64>; 3], (n, d): (i64, i64)| {
        let term = |k: usize| ends[k].map_or(0, |end| end * d + by[k] * n);
        ((0..3).map(|k| term(k) * term(k)).sum::<i64>(), d * d)
    };
    let less = |a: (i64, i64), b: (i64, i64)| {
        i128::from(a.0) * i128::from(b.1) < i128::from(b.0) * i128::from(a.1)
    };
    times.sort_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)));
    let mut least = at(active(times[0]), times[0]);
    for piece in times.windows(2) {
        let [a, b] = [piece[0], piece[1]];
        let ends = active((a.0 * b.1 + b.0 * a.1, 2 * a.1 * b.1));
        let mut offer = vec![at(ends, a), at(ends, b)];
        let sum = |f: &dyn Fn(usize, i64) -> i64| -> i64 {
            (0..3).filter_map(|k| ends[k].map(|end| f(k, end))).sum()
        };
        let (rate, square) = (sum(&|k, end| -end * by[k]), sum(&|k, _| by[k] * by[k]));
        let lowest = (rate, square);
        let is_inside = square > 0 && !less((rate, square), a) && !less(b, (rate, square));
        if is_inside {
            offer.push(at(ends, lowest));
        }
        for one in offer {
            if less(one, least) {
                least = one;
            }
        }
    }
    least
}

/// Whether the square of a margin is at least a quotient.
fn reaches(margin: f64, (numerator, denominator): (i64, i64)) -> bool {
    let margin = integer_at(margin, -1074);
    &margin * &margin * IBig::from(denominator) >= IBig::from(numerator) << 2148
}

#[test]
fn boxes_come_within_the_margins_around_their_least_distance_as_whole_numbers_say() {
    let mut random = Random::new(77);
    let (mut counts, mut exact) = ([0u32; 2], 0);
    for case in 0..400 {
        let mut whole = |most: u64| i64::try_from(random.below(most)).unwrap();
        let halves = [0; 6].map(|_| whole(3));
        let from = [0; 3].map(|_| whole(41) - 20);
        let by = [0; 3].map(|_| whole(61) - 30);
        let vector = |x: [i64; 3]| Vec3::from(x.map(|x| x as f64));
        let [a, b, c, d, e, f] = halves;
        let (p, q) = (boxed(vector([a, b, c]).into()), boxed(vector([d, e, f]).into()));
        let reach = |k: usize| halves[k] + halves[3 + k];
        let gap = [0, 1, 2].map(|k| [from[k] - reach(k), from[k] + reach(k)]);
        let least = least_squared(gap, by);
        if least.0 == 0 {
            continue;
        }
        let flight = Flight { bodies: [&p, &q], from: vector(from), by: vector(by) };
        let near = (least.0 as f64 / least.1 as f64).sqrt();
        exact += u32::from(reaches(near, least) && !reaches(near.next_down(), least));
        for margin in [near.next_down(), near, near.next_up(), 1.25 * near] {
            let is_met = reaches(margin, least);
            let answer = flight.with(margin);
            let expected = if is_met { Outcome::Contact } else { Outcome::NoContact };
            assert_eq!((answer.outcome, answer.stopped), (expected, None), "{case} {answer:?}");
            assert!(!is_met || answer.t_contact - answer.t_free <= 1e-9, "{case} {answer:?}");
            counts[usize::from(is_met)] += 1;
        }
    }
    assert!(counts.iter().all(|n| *n > 200) && exact > 20, "{counts:?} {exact}");
}

/// Freedom for what deviates, contact for what is stated; open is only what lies between.
#[test]
fn with_deviations_only_what_comes_between_the_two_distances_is_undecided() {
    let cube = boxed([1.0; 3]);
    let from = Pose::translation(4.0 - 3.0, 5.0 + 2.0, 8.0);
    let pair = Pair::new(&cube, Pose::identity(), &cube, from);
    let velocity = Vec3::new(9.0, -6.0, 0.0);
    let ask = |margin: f64, deviation_p: f64, deviation_q: f64| {
        let motion = Motion::Linear { velocity };
        let question = Question::new(pair, Motion::rest(), motion);
        ask(&Question { reach: margin.into(), deviation_p, deviation_q, ..question })
    };
    let below = 7.0f64.next_down();
    for (margin, deviations, expected) in [
        (7.0, [0.5, 0.25], Outcome::Contact),
        (below, [0.5, 0.0], Outcome::Undecided),
        (6.0, [0.5, 0.5], Outcome::Undecided),
        (6.0, [0.5, 0.5f64.next_down()], Outcome::NoContact),
        (0.0, [3.5, 3.5], Outcome::Undecided),
        (0.0, [3.5, 3.5f64.next_down()], Outcome::NoContact),
        (0.0, [below, 0.0], Outcome::NoContact),
        (0.0, [7.0, 0.0], Outcome::Undecided),
    ] {
        let answer = ask(margin, deviations[0], deviations[1]);
        assert_eq!((answer.outcome, answer.stopped), (expected, None), "{margin} {deviations:?}");
    }
}

/// The exact stage needs tens of looks at most, also where corners change: at a body that is round.
#[test]
fn a_round_body_is_timed_to_neighbours_within_a_budget() {
    let mut random = Random::new(3);
    let ball =
        |random: &mut Random| polytope_of(&(0..60).map(|_| random.direction()).collect::<Vec<_>>());
    for _ in 0..20 {
        let (p, q) = (ball(&mut random), ball(&mut random));
        let from = random.direction() * 6.0;
        let by = -from * 2.0 + random.in_ball() * 6.0;
        let flight = Flight { bodies: [&p, &q], from, by };
        let pair =
            Pair::new(&p, Pose::identity(), &q, Pose { translation: from, ..Pose::identity() });
        let (travel, exponent) = relative([&Travel::by(&Vec3::zeros()), &Travel::by(&by)]);
        let bodies = Translating::new(&pair, travel, exponent);
        let effort = &mut Effort::with_steps(3_000);
        let margin = Dyadic::from(0.125);
        let start = bodies.nearest(0.0, &margin, &[], effort).unwrap();
        let found = first_within(&bodies, &margin, 1.0, start, effort).unwrap();
        let answer = flight.with(0.125);
        match found {
            Approach::Never(_) => assert_eq!(answer.outcome, Outcome::NoContact),
            Approach::Within(Nearing { before: (before, _), by: (by, _) }) => {
                assert_eq!(before.next_up(), by);
                assert!(answer.t_free <= before && by <= answer.t_contact, "{before} {answer:?}");
            }
        }
    }
}
