//! First collisions among bodies of all kinds, against the pairs one by one and against closed
//! forms.

use super::first_collision::{FirstCollisionAnswer, answer, needs, ready};
use super::first_contact::{Motions, ask_first_contact};
use super::row::Wanted;
use super::tests::{at, cloud_of};
use crate::kinds::curved::{CurvedCore, CurvedForm};
use crate::{Body, Kind, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::contact_time::translation_of;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::samples::{Random, cuboid};
use clearance_geometry::motion::Motion;
use clearance_geometry::pose::Pose;

const WANTED: Wanted = Wanted { certificate: true, cover_steps_max: 1_000 };

type Mover = (PlacedBody, Vec3);

fn collide(movers: &[Mover], effort: &mut Effort<'_>) -> Result<FirstCollisionAnswer, Stopped> {
    let one = |(placed, velocity): &Mover| {
        let motion = Motion::Linear { velocity: *velocity };
        let travel = translation_of(&motion, &placed.pose).unwrap();
        ready(placed.clone(), motion, travel).unwrap()
    };
    let movers: Vec<_> = movers.iter().map(one).collect();
    answer(&movers, WANTED, effort)
}

fn first(movers: &[Mover]) -> FirstCollisionAnswer {
    collide(movers, &mut Effort::unlimited()).unwrap()
}

fn ball(radius: f64, [x, y, z]: [f64; 3], [u, v, w]: [f64; 3]) -> Mover {
    let point = Body::of_points(&[Vec3::zeros()], &mut Effort::unlimited()).unwrap();
    let pose = Pose::translation(x, y, z);
    (PlacedBody { body: point.rounded(radius), pose }, Vec3::new(u, v, w))
}

fn cube([x, y, z]: [f64; 3], [u, v, w]: [f64; 3]) -> Mover {
    let body = Body::of_points(&cuboid(1.0, 1.0, 1.0), &mut Effort::unlimited()).unwrap();
    (PlacedBody { body, pose: Pose::translation(x, y, z) }, Vec3::new(u, v, w))
}

#[test]
fn the_ball_that_arrives_first_is_named_with_its_bracket() {
    // Cubes of half a metre around their middles: they meet at 0.75, the ball is there at 0.5.
    let cubes = [cube([0.0; 3], [0.0; 3]), cube([4.0, 0.0, 0.0], [-4.0, 0.0, 0.0])];
    let of_cubes = first(&cubes);
    assert_eq!(of_cubes.first.map(|first| first.t_contact), Some(0.75));
    assert!(of_cubes.proof.unwrap().proof.is_some());
    let early = ball(0.5, [0.0, 0.0, 3.0], [0.0, 0.0, -4.0]);
    let found = first(&[cubes[0].clone(), cubes[1].clone(), early]);
    let met = found.first.unwrap();
    assert_eq!(
        (found.outcome, met.pair, met.initial),
        (Outcome::Contact, [0, 2], Verdict::Separated)
    );
    assert!(found.t_free < 0.5 && 0.5 <= met.t_contact && met.t_contact - found.t_free < 1e-8);
    assert!(found.tied.is_empty() && found.stopped.is_none());
    let proof = found.proof.unwrap();
    assert_eq!((proof.proof, proof.open, proof.why), (None, vec![[0, 2]], Some(Unproven::NoClaim)));
    // One that comes later leaves the cubes the first, with their faces; none meet before.
    let late = ball(0.5, [0.0, 0.0, 3.0], [0.0, 0.0, -2.5]);
    let found = first(&[late, cubes[0].clone(), cubes[1].clone()]);
    let met = found.first.unwrap();
    assert_eq!((met.pair, met.t_contact, found.meeting.is_some()), ([1, 2], 0.75, true));
    assert!(found.t_free < 0.75 && 0.75 <= found.t_free.next_up() && found.tied.is_empty());
}

#[test]
fn pairs_of_which_it_is_open_which_is_first_are_tied() {
    let cubes = [cube([0.0; 3], [0.0; 3]), cube([4.0, 0.0, 0.0], [-4.0, 0.0, 0.0])];
    let same = ball(0.5, [0.0, 0.0, 4.0], [0.0, 0.0, -4.0]);
    let found = first(&[cubes[0].clone(), cubes[1].clone(), same]);
    let named = found.first.unwrap();
    let mut pairs = vec![named.pair];
    pairs.extend(&found.tied);
    pairs.sort_unstable();
    // The ball meets the second cube at the same time, or nearly: by a corner, later.
    assert_eq!(pairs, [[0, 1], [0, 2]], "{found:?}");
    assert!(found.t_free < 0.75 && 0.75 <= named.t_contact);
    // In contact at t = 0 the first pair of the list counts, whatever meets later.
    let inside = ball(0.25, [0.0; 3], [9.0, 0.0, 0.0]);
    let found = first(&[cubes[1].clone(), inside.clone(), cubes[0].clone(), inside]);
    let met = found.first.unwrap();
    assert_eq!((met.pair, met.t_contact, found.t_free), ([1, 2], 0.0, 0.0));
    assert_eq!((met.initial, found.tied.len()), (Verdict::Overlapping, 0));
}

#[test]
fn grazes_meet_misses_do_not_and_nothing_moves_nowhere() {
    let still = ball(2.0, [7.0, 0.0, 0.0], [0.0; 3]);
    let pass = |y: f64| first(&[still.clone(), ball(3.0, [0.0, y, 0.0], [14.0, 0.0, 0.0])]);
    let graze = pass(5.0);
    let met = graze.first.unwrap();
    assert!(graze.t_free < 0.5 && 0.5 <= met.t_contact, "{graze:?}");
    let miss = pass(5f64.next_up());
    assert_eq!((miss.outcome, miss.t_free, miss.first), (Outcome::NoContact, 1.0, None));
    let rest = first(&[ball(1.0, [0.0; 3], [0.0; 3]), ball(1.0, [2.0, 0.0, 0.0], [0.0; 3])]);
    assert_eq!(rest.first.unwrap().initial, Verdict::Touching);
    // A curved body that grazes: whether they meet is open, or known, and never said without cause.
    let core = CurvedCore { form: CurvedForm::Ellipsoid, half: Vec3::repeat(2.0) };
    let body = Body::of_curved(core, 0.0, &mut Effort::unlimited()).unwrap();
    let curved = |y: f64| {
        (PlacedBody { body: body.clone(), pose: Pose::translation(7.0, y, 0.0) }, Vec3::zeros())
    };
    let passing = ball(3.0, [0.0; 3], [14.0, 0.0, 0.0]);
    let found = first(&[curved(5.0), passing.clone()]);
    match found.outcome {
        Outcome::Undecided => {
            assert_eq!((found.stopped, found.first), (Some(Stopped::Unresolved), None));
            assert_eq!(found.tied, [[0, 1]]);
        }
        Outcome::Contact | Outcome::NoContact => assert_eq!(found.stopped, None),
    }
    assert_eq!(first(&[curved(5.0 + 1e-6), passing.clone()]).outcome, Outcome::NoContact);
    assert_eq!(first(&[curved(5.0 - 1e-6), passing]).outcome, Outcome::Contact);
}

/// Bodies of all kinds: the first of all pairs, asked one by one.
#[test]
fn the_first_of_a_crowd_is_the_first_of_its_pairs() {
    let mut counts = [0_u32; 2];
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let mut movers: Vec<Mover> = Kind::ALL
            .into_iter()
            .map(|kind| {
                let mut vector =
                    |size: f64| Vec3::from([(); 3].map(|()| random.between(-size, size)));
                let (place, velocity) = (vector(5.0), vector(4.0));
                let PlacedBody { body, .. } = at(kind, 0.0);
                let pose = Pose::translation(place.x, place.y, place.z);
                (PlacedBody { body, pose }, velocity)
            })
            .collect();
        let points = [Vec3::zeros(), Vec3::new(0.5, 0.0, 0.0)];
        let cloud = cloud_of(&points, 0.125);
        movers
            .push((PlacedBody { body: cloud, pose: Pose::translation(-6.0, 0.0, 0.0) }, Vec3::x()));
        let found = first(&movers);
        let mut brackets = Vec::new();
        for q in 1..movers.len() {
            for p in 0..q {
                let two = [&movers[p], &movers[q]];
                let motions = two.map(|(_, velocity)| Motion::Linear { velocity: *velocity });
                let bodies = two.map(|(placed, _)| placed.clone());
                let effort = &mut Effort::unlimited();
                let alone = ask_first_contact(
                    bodies,
                    Motions::new(motions),
                    false,
                    Wanted::NO_PROOF,
                    effort,
                )
                .unwrap()
                .unwrap();
                if alone.outcome == Outcome::Contact {
                    brackets.push((alone.t_free, alone.t_contact, [p, q]));
                }
            }
        }
        brackets.sort_by(|a, b| a.1.total_cmp(&b.1));
        counts[usize::from(brackets.is_empty())] += 1;
        let Some(earliest) = brackets.first() else {
            assert_eq!((found.outcome, found.t_free), (Outcome::NoContact, 1.0), "seed {seed}");
            continue;
        };
        let met = found.first.unwrap();
        let story = format!("seed {seed}: {found:?} {brackets:?}");
        assert!((met.t_contact - earliest.1).abs() < 1e-8 && found.t_free <= earliest.1, "{story}");
        let before = brackets.iter().map(|bracket| bracket.0).fold(1.0, f64::min);
        assert!((found.t_free - before).abs() < 1e-8, "{story}");
        let known = brackets.iter().find(|bracket| bracket.2 == met.pair);
        assert!(known.is_some_and(|known| known.0 <= met.t_contact), "{story}");
    }
    assert!(counts[0] > 2, "{counts:?}");
}

#[test]
fn a_budget_ends_it_and_what_is_needed_is_asked_for() {
    let movers = [ball(0.5, [0.0; 3], [0.0; 3]), ball(0.5, [3.0, 0.0, 0.0], [-4.0, 0.0, 0.0])];
    assert_eq!(collide(&movers, &mut Effort::with_steps(0)).map(drop), Err(Stopped::Steps));
    assert!(needs(true).makes_solids() && needs(false).makes_solids());
}
