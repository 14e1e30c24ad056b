//! What the plain places at one time are not good for.

use super::*;
use crate::contact_time::rotating::bounds::posed::PosedPair;
use crate::contact_time::rotating::proof::at_time::{ContactProbe, prove};
use crate::support::{likely, supporting_vertex};

/// A body that has turned by more than a million quarters could be anywhere around its axis. Its
/// plain place is then that at the start, in which these cubes overlap: taken for a proof, that was
/// contact.
#[test]
fn places_whose_sines_are_not_to_be_had_prove_no_contact() {
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(0.5, 0.2, 0.1));
    for (angle, margin, is_met) in [(1e9, 0.0, false), (1e9, 0.3, false), (1.0, 0.0, true)] {
        // The pivot is so far that other angles take P far away.
        let spin = Motion::Screw {
            pivot: Some(Vec3::new(0.0, 50.0, 0.0)),
            velocity: Vec3::zeros(),
            axis: Vec3::z(),
            angle,
        };
        let question = Question::new(pair, spin, Motion::rest());
        let mut search = TurningSearch::new(&question);
        let mut effort = Effort::unlimited();
        let t = if is_met { 1e-3 } else { 0.5 };
        let (good_enough, world, seed) = (1e-6, &Vec3::x(), &mut ArrayVec::new());
        let probe = ContactProbe { t, margin, good_enough, world, seed };
        let found = prove(&mut search.moving, probe, |_| None, &mut effort);
        assert_eq!(found.is_some(), is_met, "{angle} {margin}");
    }
}

/// Nor do they have a gap: the enclosure at such a time allows every angle.
#[test]
fn places_whose_sines_are_not_to_be_had_have_no_plain_gap() {
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(1.6, 0.0, 0.0));
    let question = Question::new(pair, turn([0.0, 0.0, 1.0], 1e9), Motion::rest());
    let mut search = TurningSearch::new(&question);
    let mut effort = Effort::unlimited();
    let heading = search.moving.heading(Frame::World, &Vec3::x(), 0.0);
    let posed = PosedPair::new(&search.moving.pair, 0.5);
    assert!(posed.gap(&search.moving.pair, &heading, &mut effort).is_none());
    // Some angle brings the cube's edge to 0.707, others its face to 0.5: the other cube's is at
    // 1.1.
    let gap = search.moving.gap(&heading, 0.5, &mut effort).gap.value;
    assert!(gap.low() <= 1.1 - 0.5f64.sqrt() && gap.high() >= 0.6, "{gap:?}");
}

/// Along (1, -1) times 1e308 the far corner's value is 2e307, and comes out infinite, as 1.9e308 is
/// no number; others reach 1.4e308. What a search finds along such a direction proves nothing.
#[test]
fn the_top_along_a_direction_that_overflows_is_sought_again() {
    let far = Vec3::new(1.9, 1.7, 0.0);
    let ball = sphere(80, 1.0);
    let body = polytope_of(&[ball, vec![far]].concat());
    let index = (0..).zip(body.vertices()).find(|(_, v)| **v == far).expect("a vertex").0;
    let pair = Pair::new(&body, Pose::identity(), &body, Pose::translation(50.0, 0.0, 0.0));
    let question = Question::new(pair, turn([0.0, 0.0, 1.0], 1.0), Motion::rest());
    let search = TurningSearch::new(&question);
    let mut effort = Effort::unlimited();
    for (length, is_misled) in [(1.0, false), (1e308, true)] {
        let g = Vec3::new(1.0, -1.0, 0.0) * length;
        let top = likely(&body, &g, Some(index), &mut effort);
        assert_eq!(top.vertex == index, is_misled);
        let found = search.moving.pair.p.farthest_from(&g, &top, &mut effort).0;
        assert_eq!(found, supporting_vertex(&body, &g, None, &mut effort));
        assert_ne!(found, index);
    }
}

/// The poses of a few times are kept: whichever are, every time has its own.
#[test]
fn places_are_those_of_the_time_that_is_asked_about_whatever_was_asked_before() {
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(1.6, 0.0, 0.0));
    let question = Question::new(pair, turn([0.0, 0.6, 0.8], 2.0), turn([1.0, 0.0, 0.0], -1.0));
    let mut search = TurningSearch::new(&question);
    for t in [0.0, 0.5, 0.6, 0.0, 0.6, 0.5, 0.7, 0.0, -0.0, 0.8, 0.6, 0.9, 1.0, 0.0] {
        let corner = VertexPair { i: 1, j: 6 };
        let anew = PosedPair::new(&search.moving.pair, t).corner(&search.moving.pair, corner);
        let (moving, posed) = search.moving.posed(t);
        assert_eq!(posed.corner(moving, corner).at, anew.at, "{t}");
    }
}
