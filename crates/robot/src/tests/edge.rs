//! Edges against samples of them, and the bounds on motion against motion.

use super::check::panda_cell;
use super::samples::{configurations, robot_of, still_box};
use crate::cell::{Cell, Instance};
use crate::check::{CheckMode, CheckQuestion, Checked};
use crate::edge::{EdgeAnswer, EdgeQuestion};
use crate::pairing::PairScope;
use crate::speed::PathSpeeds;
use crate::still::StillBody;
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::pose::Pose;
use clearance_samples::Random;

pub(super) const QUESTION: EdgeQuestion = EdgeQuestion {
    margin: 0.0,
    tolerance: 1e-6,
    steps_max: u64::MAX,
    scope: PairScope::All,
    any_contact: false,
};

fn between(from: &[f64], to: &[f64], t: f64) -> Vec<f64> {
    from.iter().zip(to).map(|(a, b)| if t >= 1.0 { *b } else { a + t * (b - a) }).collect()
}

fn is_free(cell: &Cell, values: &[f64]) -> bool {
    let question = CheckQuestion {
        mode: CheckMode::FirstPair,
        with_gradient: false,
        ..CheckQuestion::default()
    };
    cell.check(question, values, &mut Effort::unlimited()) == [Checked::Free]
}

/// Ends of edges of at most this length in the sum of the joints.
pub(super) fn edges(count: usize, longest: f64, random: &mut Random) -> [Vec<f64>; 2] {
    let from = configurations(count, random);
    let mut to = Vec::new();
    for values in from.chunks_exact(8) {
        let way: Vec<f64> = (0..8).map(|_| random.signed()).collect();
        let length: f64 = way.iter().map(|d| d.abs()).sum();
        to.extend(values.iter().zip(&way).map(|(q, d)| q + d * longest / length));
    }
    [from, to]
}

#[test]
fn edges_are_free_where_they_are_said_to_be_and_end_in_a_contact() {
    let cell = panda_cell(10);
    let (mut free, mut contacts) = (0, 0);
    for (count, longest) in [(25, 1.0), (10, 5.0)] {
        let [from, to] = edges(count, longest, &mut Random(11));
        let answers = cell.check_edges(QUESTION, [&from, &to], &mut Effort::unlimited());
        for (at, answer) in answers.iter().enumerate() {
            let [a, b] = [&from, &to].map(|ends| &ends[8 * at..8 * at + 8]);
            let until = match answer {
                EdgeAnswer::Free => 1.0,
                EdgeAnswer::Contact { free_until, contact_at, .. } => {
                    contacts += 1;
                    assert!(!is_free(&cell, &between(a, b, *contact_at)), "{at}: {answer:?}");
                    assert!(contact_at - free_until <= 1e-6, "{at}: {answer:?}");
                    *free_until
                }
                EdgeAnswer::Undecided { .. }
                | EdgeAnswer::Bad(_)
                | EdgeAnswer::Turns
                | EdgeAnswer::Stopped { .. } => panic!("{at}: {answer:?}"),
            };
            free += usize::from(until >= 1.0);
            if until > 0.0 {
                for k in 0..=60 {
                    let t = until * f64::from(k) / 60.0;
                    assert!(is_free(&cell, &between(a, b, t)), "{at}: {answer:?} {t}");
                }
            }
        }
    }
    assert!(free >= 4 && contacts >= 4, "{free} {contacts}");
}

/// What is asked for does not change what is free: any contact is as good a refusal as the first.
#[test]
fn any_contact_refuses_the_edges_that_have_a_first_one() {
    let cell = panda_cell(10);
    let any = EdgeQuestion { any_contact: true, ..QUESTION };
    let (mut free, mut later) = (0, 0);
    for (count, longest) in [(60, 1.0), (40, 5.0)] {
        let [from, to] = edges(count, longest, &mut Random(13));
        let ask = |question| cell.check_edges(question, [&from, &to], &mut Effort::unlimited());
        for (at, (first, any)) in ask(QUESTION).iter().zip(&ask(any)).enumerate() {
            let [a, b] = [&from, &to].map(|ends| &ends[8 * at..8 * at + 8]);
            match (first, any) {
                (EdgeAnswer::Free, EdgeAnswer::Free) => free += 1,
                (
                    EdgeAnswer::Contact { contact_at: first, .. },
                    EdgeAnswer::Contact { free_until, contact_at, .. },
                ) => {
                    assert!(first <= contact_at, "{at}: {first} {contact_at}");
                    assert!(*free_until <= 0.0, "{at}: {free_until}");
                    assert!(!is_free(&cell, &between(a, b, *contact_at)), "{at}: {contact_at}");
                    later += usize::from(*first > 0.0);
                }
                _ => panic!("{at}: {first:?} {any:?}"),
            }
        }
    }
    assert!(free >= 10 && later >= 10, "{free} {later}");
}

#[test]
fn no_point_of_a_link_moves_farther_than_its_bound() {
    let cell = panda_cell(1);
    let [from, to] = edges(40, 3.0, &mut Random(12));
    let mut tightest: f64 = 0.0;
    for at in 0..40 {
        let [a, b] = [&from, &to].map(|ends| &ends[8 * at..8 * at + 8]);
        let speeds = PathSpeeds::new(&cell, [a, b]).unwrap();
        let place = |t: f64| cell.kinematics().place_one(&between(a, b, t));
        let (middle, step) = (place(0.5), 1e-3);
        let (before, after) = (place(0.5 - step), place(0.5 + step));
        for link in cell.links.iter().filter(|link| link.frame.is_some()) {
            let frame = link.frame.unwrap();
            let bound = speeds.bound(&cell, link, None);
            for part in &cell.parts[link.parts.clone()] {
                for vertex in part.body.hull().vertices() {
                    let point = part.frame_from_part.apply_rounded(vertex);
                    let [p, q, r] =
                        [&before, &middle, &after].map(|all| all[frame].apply_rounded(&point));
                    let speed = (r - p).norm() / (2.0 * step);
                    let acceleration = (r - q * 2.0 + p).norm() / (step * step);
                    assert!(speed <= bound.speed, "{speed} {bound:?}");
                    assert!(acceleration <= bound.acceleration + 1e-6, "{acceleration} {bound:?}");
                    tightest = tightest.max(speed / bound.speed);
                }
            }
            assert!(bound.rounding < 1e-11, "{bound:?}");
        }
    }
    assert!(tightest > 0.2, "{tightest}");
}

const SLIDER: &str = r#"<robot name="slider"><link name="rail"/><link name="cart"><collision>
  <geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9"/></joint></robot>"#;

#[test]
fn thin_sheets_are_not_missed_and_margins_are_kept() {
    let robot = robot_of(SLIDER).unwrap();
    let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
    let half = Vec3::new(1e-9, 1.0, 1.0);
    let sheet = StillBody { pose: Pose::translation(3.0, 0.0, 0.0), ..still_box(half) };
    let cell = Cell::new(&[instance], vec![sheet]);
    let ask = |question: EdgeQuestion, from: f64, to: f64| {
        let mut answers = cell.check_edges(question, [&[from], &[to]], &mut Effort::unlimited());
        answers.pop().unwrap()
    };
    // Both ends are free, and so are most samples.
    let EdgeAnswer::Contact { free_until, contact_at, pair } = ask(QUESTION, -6.0, 8.5) else {
        panic!()
    };
    let exact = (2.5 - 1e-9 + 6.0) / 14.5;
    assert!(
        free_until <= exact && exact <= contact_at && contact_at - free_until <= 1e-6,
        "{free_until} {exact} {contact_at}"
    );
    assert_eq!(pair, [0, 1]);
    assert_eq!(ask(QUESTION, -6.0, 2.499), EdgeAnswer::Free);
    let margin = EdgeQuestion { margin: 0.5, ..QUESTION };
    assert_eq!(ask(margin, -6.0, 1.999), EdgeAnswer::Free);
    let EdgeAnswer::Contact { free_until, contact_at, .. } = ask(margin, -6.0, 2.4) else {
        panic!()
    };
    let exact = (2.0 - 1e-9 + 6.0) / 8.4;
    assert!(
        free_until <= exact && exact <= contact_at && contact_at - free_until <= 1e-6,
        "{free_until} {exact} {contact_at}"
    );
    // In contact from the start on.
    let EdgeAnswer::Contact { free_until, contact_at, .. } = ask(QUESTION, 2.7, 0.0) else {
        panic!()
    };
    assert!(free_until <= 0.0 && contact_at <= 0.0);
    // A path that ends a hair before the sheet is nearer than its rounding shows.
    let EdgeAnswer::Undecided { free_until, .. } = ask(QUESTION, 0.0, 2.5 - 1e-9 - 1e-15) else {
        panic!()
    };
    assert!(free_until > 0.999);
    let answers = cell.check_edges(QUESTION, [&[0.0], &[2.7]], &mut Effort::with_steps(3));
    assert!(matches!(answers[0], EdgeAnswer::Stopped { why: Stopped::Steps, .. }));
    assert!(matches!(ask(QUESTION, f64::NAN, 1.0), EdgeAnswer::Bad(_)));
}

#[test]
fn a_pair_too_near_to_tell_hides_no_contact_elsewhere_where_any_is_an_answer() {
    let robot = robot_of(SLIDER).unwrap();
    let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
    let sheet = |x| StillBody {
        pose: Pose::translation(x, 0.0, 0.0),
        ..still_box(Vec3::new(1e-9, 1.0, 1.0))
    };
    let cell = Cell::new(&[instance], vec![sheet(3.0), sheet(-3.0)]);
    let ask = |any_contact, from: f64, to: f64| {
        let mut effort = Effort::unlimited();
        let question = EdgeQuestion { any_contact, ..QUESTION };
        let mut answers = cell.check_edges(question, [&[from], &[to]], &mut effort);
        (answers.pop().unwrap(), effort.cost.steps)
    };
    // From a hair before one sheet through the other one; no end is in contact.
    let near = 2.5 - 1e-9 - 1e-15;
    for [from, to] in [[near, -8.0], [-8.0, near]] {
        let (any, steps) = ask(true, from, to);
        let EdgeAnswer::Contact { free_until, contact_at, pair } = any else { panic!("{any:?}") };
        assert!(free_until <= 0.0 && pair == [0, 2], "{free_until} {pair:?}");
        let at = from + contact_at * (to - from);
        assert!((-3.5 - 1e-9..=-2.5 + 1e-9).contains(&at), "{at}");
        assert!(steps < 200, "{steps}");
    }
    // The first contact is asked for: what comes before it stays open.
    let (first, _) = ask(false, near, -8.0);
    assert!(matches!(first, EdgeAnswer::Undecided { .. }), "{first:?}");
    // Nothing else is in contact: that stays open, too, and does not take the whole budget.
    for [from, to] in [[near, -2.0], [-2.0, near]] {
        let (any, steps) = ask(true, from, to);
        assert!(matches!(any, EdgeAnswer::Undecided { pair: [0, 1], .. }), "{any:?}");
        assert!(steps < 400, "{steps}");
    }
}
