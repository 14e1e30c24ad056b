//! Edges and configurations with margins below 0: by closed forms of how deep bodies are, and
//! beside the clearances at many configurations.

use super::curved::{TUBE, among, at, curved, mover};
use super::curved_edges::{cell_beside, random_edge};
use super::edge::QUESTION;
use super::samples::{robot_of, still_box};
use super::solids::{ask, clearances};
use crate::body::PartBody;
use crate::cell::{Cell, Instance};
use crate::check::CheckMode;
use crate::cloud::BoxedCloud;
use crate::edge::{EdgeAnswer, EdgeQuestion};
use crate::meeting::{Course, Rendezvous, Traveller, first_meeting};
use crate::pairing::{PairScope, StandingBody, Surroundings};
use crate::path::{BaseWay, ChainPath};
use crate::still::StillBody;
use clearance_bodies::kinds::curved::CurvedForm::Cylinder;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Outcome;
use clearance_geometry::cloud::PointCloud;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pose::Pose;
use clearance_samples::Random;
use std::sync::Arc;

const BALL: &str = "<geometry><sphere radius='0.5'/></geometry>";
const BOX: &str = "<geometry><box size='1 1 1'/></geometry>";

fn edge(cell: &Cell, margin: f64, ends: [[f64; 4]; 2]) -> EdgeAnswer {
    let question = EdgeQuestion { margin, ..QUESTION };
    let [from, to] = &ends;
    cell.check_edges(question, [from, to], &mut Effort::unlimited()).pop().unwrap()
}

fn cloud(points: &[Vec3], radius: f64) -> PartBody {
    let cloud = PointCloud::new(points.to_vec(), radius, &Effort::unlimited()).unwrap();
    PartBody::Cloud(BoxedCloud::new(Arc::new(cloud)))
}

/// What moves along x, whose surface is half a metre ahead, is so deep in a body that begins at 2.
#[test]
fn an_edge_ends_where_a_pair_is_so_deep_whatever_the_two_are() {
    let wall = || at(still_box(Vec3::new(1.0, 4.0, 4.0)).body, [3.0, 0.0, 0.0]);
    let ball = || at(PartBody::from(point()).rounded(1.0), [3.0, 0.0, 0.0]);
    let tube = || at(curved(Cylinder, [1.0, 1.0, 4.0], 0.0), [3.0, 0.0, 0.0]);
    let points = [Vec3::new(3.0, 0.0, 0.0), Vec3::new(3.5, 4.0, 0.0)];
    let beads = || at(cloud(&points, 1.0), [0.0; 3]);
    let others: [&dyn Fn() -> StillBody; 4] = [&wall, &ball, &tube, &beads];
    for (shape, other) in [BALL, BOX, TUBE].iter().flat_map(|shape| others.map(|it| (shape, it))) {
        let cell = among(&mover(shape), vec![other()]);
        for deep in [1e-4, 0.125, 0.5] {
            let answer = edge(&cell, -deep, [[0.0; 4], [4.0, 0.0, 0.0, 0.0]]);
            let EdgeAnswer::Contact { free_until, contact_at, .. } = answer else {
                panic!("{shape} {deep} {answer:?}")
            };
            let time = (1.5 + deep) / 4.0;
            assert!(free_until <= time && time <= contact_at, "{shape} {deep} {answer:?}");
            assert!(contact_at - free_until <= 1e-6, "{shape} {deep} {answer:?}");
        }
        // It stops a little before it is so deep, and begins where it is as deep.
        let answer = edge(&cell, -0.25, [[0.0; 4], [1.749, 0.0, 0.0, 0.0]]);
        assert_eq!(answer, EdgeAnswer::Free, "{shape}");
        let answer = edge(&cell, -0.25, [[1.751, 0.0, 0.0, 0.0], [0.0; 4]]);
        assert!(
            matches!(answer, EdgeAnswer::Contact { contact_at: 0.0, .. }),
            "{shape} {answer:?}"
        );
    }
    // Exactly so deep at the start is contact there.
    let cell = among(&mover(BOX), vec![wall()]);
    for (x, margin, is_contact) in
        [(1.75, -0.25, true), (1.75, (-0.25_f64).next_down(), false), (1.75, -0.3, false)]
    {
        let answer = edge(&cell, margin, [[x, 0.0, 0.0, 0.0], [0.0; 4]]);
        let found = matches!(answer, EdgeAnswer::Contact { contact_at: 0.0, .. });
        assert_eq!(found, is_contact, "{x} {margin} {answer:?}");
    }
}

fn point() -> Arc<clearance_geometry::polytope::Polytope> {
    Arc::new(convex_hull(&[Vec3::zeros()]).unwrap().polytope)
}

/// Beside bodies of all kinds: no configuration that is said to be free is deeper by its clearance,
/// and one that is said to be in contact may be so deep.
#[test]
fn edges_are_no_deeper_than_they_say_beside_bodies_of_all_kinds() {
    const DEEP: f64 = 0.03;
    let random = &mut Random(101);
    let mut seen = [0; 3];
    for k in 0..42 {
        let cell = cell_beside(k % 7, random);
        let [from, to] = random_edge(random);
        let question = EdgeQuestion { margin: -DEEP, ..QUESTION };
        let answer = cell.check_edges(question, [&from, &to], &mut Effort::unlimited()).remove(0);
        let least = |t: f64| {
            let values: Vec<f64> = from.iter().zip(&to).map(|(a, b)| a + t * (b - a)).collect();
            let checked = ask(&cell, CheckMode::Clearance, &values).remove(0);
            clearances(&checked)[0].clone().unwrap()
        };
        let (until, became) = match answer {
            EdgeAnswer::Free => (1.0, 0),
            EdgeAnswer::Contact { free_until, contact_at, .. } => {
                assert!(least(contact_at).lower <= -DEEP + 1e-9, "{k} {answer:?}");
                assert!(contact_at - free_until <= 1e-6, "{k} {answer:?}");
                (free_until, 1)
            }
            EdgeAnswer::Undecided { free_until, .. } => {
                // Of what is convex it is known how deep it is.
                assert!([4, 5].contains(&(k % 7)), "{k} {answer:?}");
                (free_until, 2)
            }
            EdgeAnswer::Bad(_) | EdgeAnswer::Turns | EdgeAnswer::Stopped { .. } => {
                panic!("{k} {answer:?}")
            }
        };
        seen[became] += 1;
        // What is so deep at the start is free nowhere.
        for step in (0..=24).filter(|_| until > 0.0) {
            let t = until * f64::from(step) / 24.0;
            assert!(least(t).upper >= -DEEP - 1e-9, "{k} {t} {answer:?} {:?}", least(t));
        }
    }
    assert!(seen[0] > 3 && seen[1] > 3, "{seen:?}");
}

/// Two carts on a rail, a metre long each.
const TRAIN: &str = "<robot name='train'><link name='rail'/>\
    <link name='a'><collision><geometry><box size='1 1 1'/></geometry></collision></link>\
    <link name='b'><collision><geometry><box size='1 1 1'/></geometry></collision></link>\
    <joint name='to_a' type='prismatic'><parent link='rail'/><child link='a'/><axis xyz='1 0 0'/>\
    <limit lower='-9' upper='9' velocity='1'/></joint>\
    <joint name='to_b' type='prismatic'><parent link='rail'/><child link='b'/><axis xyz='1 0 0'/>\
    <limit lower='-9' upper='9' velocity='1'/></joint></robot>";

/// The carts, and a wall from 2 to 4, with these shares in margins, and of the first cart with the
/// wall this one.
fn train(own: [f64; 3], set: Option<f64>) -> Cell {
    let robot = robot_of(TRAIN).unwrap();
    let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
    let wall = at(still_box(Vec3::new(1.0, 4.0, 4.0)).body, [3.0, 0.0, 0.0]);
    let around = Surroundings {
        hung: Vec::new(),
        standing: vec![StandingBody { parts: vec![wall] }],
        names: None,
        is_asked: &|_| true,
        own_margins: own.to_vec(),
        set_margins: set.map(|margin| ([0, 2], margin)).into_iter().collect(),
        left_out: Vec::new(),
    };
    Cell::within(&[instance], around, &Effort::unlimited()).unwrap()
}

#[test]
fn pairs_with_a_margin_below_zero_are_within_it_where_they_are_so_deep() {
    let ask = |cell: &Cell, values: &[f64], scope| {
        let found = cell.are_within_margins(scope, values, &mut Effort::unlimited());
        found.into_iter().map(Result::unwrap).collect::<Vec<bool>>()
    };
    let all = |cell: &Cell, values: &[f64]| ask(cell, values, PairScope::All);
    let cell = train([-0.125, 0.0, -0.125], None);
    assert!(cell.has_deep_margins() && cell.asks_depths(0.0) && !cell.asks_depths(0.25));
    // Of the first cart and the wall -0.25, of the carts, and of the second one and the wall,
    // -0.125.
    let values =
        [1.5, -5.0, 1.75, -5.0, 1.75_f64.next_down(), -5.0, 0.0, 0.875, 0.0, 0.9, 5.0, 1.6];
    assert_eq!(all(&cell, &values), [false, true, false, true, false, false]);
    assert_eq!(ask(&cell, &values[6..8], PairScope::World), [false]);
    // A margin of its own takes the place of the sum.
    let own = train([-0.125, 0.0, -0.125], Some(-0.5));
    assert_eq!(all(&own, &[1.75, -5.0, 2.0, -5.0]), [false, true]);
    // What is below 0 is so for the pairs that say so: others are within theirs where they touch.
    let mixed = train([0.0; 3], Some(-0.5));
    assert_eq!(all(&mixed, &[1.75, -5.0, -5.0, 1.5, 0.0, 1.0]), [false, true, true]);

    let edge = |cell: &Cell, margin: f64, ends: [[f64; 2]; 2]| {
        let question = EdgeQuestion { margin, ..QUESTION };
        let [from, to] = &ends;
        cell.check_edges(question, [from, to], &mut Effort::unlimited()).pop().unwrap()
    };
    let met = |answer: EdgeAnswer, time: f64| {
        let EdgeAnswer::Contact { free_until, contact_at, .. } = answer else {
            panic!("{answer:?}")
        };
        assert!(free_until <= time && time <= contact_at, "{time} {answer:?}");
        assert!(contact_at - free_until <= 1e-6, "{answer:?}");
    };
    // Their own margin where the question says none, else the greater one.
    met(edge(&cell, 0.0, [[0.0, -5.0], [4.0, -5.0]]), 1.75 / 4.0);
    met(edge(&cell, -0.125, [[0.0, -5.0], [4.0, -5.0]]), 1.625 / 4.0);
    met(edge(&cell, 0.25, [[0.0, -5.0], [4.0, -5.0]]), 1.25 / 4.0);
    met(edge(&own, 0.0, [[0.0, -5.0], [4.0, -5.0]]), 2.0 / 4.0);
    // The carts, which are seen from the rail.
    met(edge(&cell, 0.0, [[-4.0, 0.0], [0.0, 0.0]]), (4.0 - 0.875) / 4.0);
    met(edge(&train([0.0; 3], None), -0.25, [[-4.0, 0.0], [0.0, 0.0]]), (4.0 - 0.75) / 4.0);
    assert_eq!(edge(&cell, 0.0, [[-4.0, 0.0], [-0.876, 0.0]]), EdgeAnswer::Free);
}

/// A cube that goes its own way and one that stands.
#[test]
fn parts_that_travel_are_so_deep_after_they_touch() {
    let cube = PartBody::from(Arc::new(
        convex_hull(&clearance_geometry::hull::samples::cuboid(1.0, 1.0, 1.0)).unwrap().polytope,
    ));
    let end = Pose::translation(0.5, 0.25, 0.0);
    let start = Pose::translation(-4.0, 0.0, 0.0);
    let path = Arc::new(ChainPath::of_body(&BaseWay::between([start, end])).unwrap());
    let hanging = path.hanging(None, &Pose::identity());
    let moving = Traveller { body: cube.clone(), course: Course::On(path, hanging) };
    let still = Traveller { body: cube, course: Course::Still(Pose::identity()) };
    let asked = |margin| Rendezvous { margin, tolerance: 1e-9, deviation: 0.0 };
    let meet = |margin| first_meeting([&moving, &still], asked(margin), &mut Effort::unlimited());
    let mut last = meet(0.0);
    for deep in [1e-6, 0.125, 0.25, 0.4] {
        let met = meet(-deep);
        assert_eq!(met.outcome, Outcome::Contact, "{deep} {met:?}");
        // Cubes that turn nothing are as deep along x as they have come closer.
        let time = (4.0 - 1.0 + deep) / 4.5;
        assert!(met.t_free <= time && time <= met.t_contact, "{deep} {met:?}");
        assert!(last.t_contact < met.t_free && met.t_contact - met.t_free <= 1e-9, "{met:?}");
        last = met;
    }
    assert_eq!(meet(-0.9).outcome, Outcome::NoContact);
}
