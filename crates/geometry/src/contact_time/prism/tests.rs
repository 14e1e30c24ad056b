//! The prisms' answers against the walk and the exact line, and how their cost grows.

use super::*;
use crate::claim::Outcome;
use crate::contact_time::METHODS;
use crate::contact_time::first_contact_by;
use crate::motion::Motion;
use crate::pair::Question;
use crate::pose::Pose;
use crate::samples::{Random, ball, cuboid, ellipsoid, polygon, zoo};
use crate::witness::Witness;

fn prism() -> &'static Method {
    METHODS.iter().find(|row| row.name == "prism").unwrap()
}

/// What is proposed for Q moving by `travel`, and the cost.
fn ask(pair: &Pair<'_>, travel: Vec3) -> (Cast, Effort<'static>) {
    let mut effort = Effort::unlimited();
    (propose(pair, &-travel, 1.0, &mut effort).unwrap(), effort)
}

fn random_pair<'a>(p: &'a Polytope, q: &'a Polytope, random: &mut Random) -> (Pair<'a>, Vec3) {
    let size = p.bounds().radius + q.bounds().radius;
    let from = random.unit_vector() * (size * (1.05 + 0.5 * random.signed().abs()));
    let to = random.vector() * size;
    (Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(from)), to - from)
}

#[test]
fn whether_and_when_agree_with_the_other_method_for_bodies_of_every_kind() {
    let zoo = zoo();
    let mut random = Random(1);
    let mut seen = [0; 2];
    for (name_p, p) in &zoo {
        for (name_q, q) in &zoo {
            for _ in 0..2 {
                let (pair, travel) = random_pair(p, q, &mut random);
                let motion = Motion::Linear { velocity: travel };
                let question = Question::new(pair, Motion::rest(), motion);
                let [truth, found] = [&METHODS[0], prism()].map(|method| {
                    let mut effort = Effort::unlimited();
                    first_contact_by(method, &question, &mut Witness::default(), &mut effort)
                        .unwrap()
                });
                assert_eq!(found.outcome, truth.outcome, "{name_p}, {name_q}");
                let meet = found.t_free <= truth.t_contact && truth.t_free <= found.t_contact;
                assert!(meet, "{name_p}, {name_q}");
                seen[usize::from(found.outcome == Outcome::Contact)] += 1;
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}

/// Facets with four corners tie, and are left to exact arithmetic by either method.
#[test]
fn nearly_every_proposal_is_as_good_as_the_other_methods() {
    let bodies =
        [ball(200, 1), ellipsoid(300, [1.0, 0.4, 0.2], 2), cuboid(1.0, 0.5, 0.3), ball(8, 3)];
    let mut random = Random(2);
    let mut exact = [0; 2];
    for round in 0..400 {
        let (p, q) = (&bodies[round % 4], &bodies[random.below(4) as usize]);
        let (pair, travel) = random_pair(p, q, &mut random);
        let question = Question::new(pair, Motion::rest(), Motion::Linear { velocity: travel });
        for (count, method) in exact.iter_mut().zip([&METHODS[0], prism()]) {
            let mut effort = Effort::unlimited();
            first_contact_by(method, &question, &mut Witness::default(), &mut effort).unwrap();
            *count += effort.cost.exact_stages;
        }
    }
    assert!(exact[1] <= exact[0] + 20, "the default {}, prisms {}", exact[0], exact[1]);
}

/// Lemma 1, and the query's part of Algorithm 1: levels grow with the logarithm of the size, and
/// the steps on each are few.
#[test]
fn a_query_grows_much_less_than_the_bodies() {
    let mut random = Random(3);
    let mut growth = Vec::new();
    for count in [100, 1000, 10_000] {
        let (p, q) = (ball(count, 1), ball(count, 2));
        let visited: u64 = (0..40)
            .map(|_| {
                let (pair, travel) = random_pair(&p, &q, &mut random);
                ask(&pair, travel).1.cost.visited
            })
            .sum();
        growth.push(visited / 40);
    }
    let factor = growth[2] as f64 / growth[0] as f64;
    assert!(factor < 8.0, "visited at 100, 1000 and 10,000 vertices: {growth:?}");
}

/// Contact on an inner layer at time 0 is contact of the bodies. Such bodies were once taken for
/// lost on every layer and handed over, the deeper the more often and the dearer.
#[test]
#[expect(clippy::print_stdout, reason = "the counts are to be seen")]
fn bodies_that_overlap_at_the_start_are_answered_on_an_inner_layer() {
    for count in [100, 1000, 8000] {
        let (p, q) = (ball(count, 1), ball(count, 2));
        let mut random = Random(5);
        let mut flights = |between: f64| {
            let mut effort = Effort::unlimited();
            for _ in 0..60 {
                let at = random.unit_vector() * between;
                let pair = Pair::new(&p, random.pose(Vec3::zeros()), &q, random.pose(at));
                let motion = Motion::Linear { velocity: random.vector() * 3.0 };
                let question = Question::new(pair, Motion::rest(), motion);
                let witness = &mut Witness::default();
                let found = first_contact_by(prism(), &question, witness, &mut effort).unwrap();
                let is_at_start = found.outcome == Outcome::Contact && found.t_contact == 0.0;
                assert_eq!(is_at_start, between < 2.0, "{count}, {between}");
            }
            effort.cost
        };
        let apart = flights(4.0);
        // Balls of a hundred random points are not round enough to meet at 1.9.
        let first = usize::from(count < 1000);
        for between in &[1.9, 1.5, 1.0, 0.1][first..] {
            let between = *between;
            let overlapping = flights(between);
            let counts = [overlapping.visited, apart.visited].map(|visited| visited / 60);
            let lost = overlapping.handed_over;
            println!("{count}, {between} between: {counts:?} visited, {lost} of 60 handed over");
            assert_eq!(lost, 0, "{count}, {between}");
            assert!(counts[0] <= counts[1], "{count}, {between}: {counts:?}");
        }
    }
}

#[test]
fn flat_bodies_and_bodies_that_rest_are_lost_or_right_and_never_panic() {
    let (p, q) = (polygon(30), polygon(7));
    for travel in [Vec3::zeros(), Vec3::x(), Vec3::new(1e-200, 0.0, 0.0), Vec3::repeat(f64::NAN)] {
        for at in [0.0, 0.5, 3.0] {
            let pair = Pair::new(&p, Pose::identity(), &q, Pose::translation(at, 0.0, 0.0));
            let (cast, _) = ask(&pair, travel);
            assert!(!matches!(cast, Cast::Enters(..)) || at > 0.0, "{travel:?}, {at}: {cast:?}");
        }
    }
}

#[test]
fn a_search_without_steps_stops() {
    let body = ball(20, 5);
    let pair = Pair::new(&body, Pose::identity(), &body, Pose::translation(5.0, 0.0, 0.0));
    let outcome = propose(&pair, &Vec3::x(), 1.0, &mut Effort::with_steps(0));
    assert!(matches!(outcome, Err(Stopped::Steps)));
}
