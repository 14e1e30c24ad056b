//! Claims of ranges along a direction.

use clearance_geometry::pair::{Pair, VertexPair};
use clearance_geometry::penetration::{METHODS, Range, along_by};
use clearance_geometry::witness::Witness;
use clearance_proof::Vec3;
use clearance_proof::claim::Direction;
use clearance_proof::claim::*;
use clearance_proof::effort::Effort;
use clearance_proof::effort::Stopped;
use clearance_proof::judge::*;
use clearance_proof::pose::Pose;
use clearance_samples::{Random, ball, cuboid, zoo};

fn asked(pair: &Pair<'_>, along: Vec3, number: usize) -> Range {
    let effort = &mut Effort::unlimited();
    along_by(pair, &along, &METHODS[number], &mut Witness::default(), effort).unwrap()
}

fn judged(pair: &Pair<'_>, along: Vec3, range: &Range) -> Result<(), Refusal> {
    let Range { decision, span, proof } = range;
    let (verdict, proof) = (decision.verdict(), proof.as_ref());
    let claim = RangeClaim { along, verdict, span: *span, proof };
    judge_range(pair, &claim, &mut Effort::unlimited())
}

/// Bodies of all dimensions, aligned and not, apart and in contact; by every method.
#[test]
fn every_range_is_proven_and_by_no_proof_a_narrower_one() {
    let mut random = Random(5);
    let mut bodies: Vec<_> = zoo().into_iter().map(|(_, body)| body).collect();
    bodies.extend([ball(30, 1), cuboid(1.0, 2.0, 0.5)]);
    let mut counts = [0u32; 4];
    for round in 0..if cfg!(debug_assertions) { 400 } else { 20_000 } {
        let count = u32::try_from(bodies.len()).unwrap();
        let mut any = || &bodies[random.below(count) as usize];
        let (p, q) = (any(), any());
        let (whole, place) = (random.below(2) == 0, random.vector() * 2.5);
        let place = if whole { place.map(f64::round) } else { place };
        let along = random.vector() * 3.0;
        let along = if whole { along.map(f64::round) } else { along };
        let pose =
            if whole { Pose::translation(place.x, place.y, place.z) } else { random.pose(place) };
        let pair = Pair::new(p, Pose::identity(), q, pose);
        for number in 0..METHODS.len() {
            let range = asked(&pair, along, number);
            let story = format!("{round}: {along:?} {range:?}");
            assert_eq!(judged(&pair, along, &range), Ok(()), "{story}");
            let Some(Span { enter, exit }) = range.span else {
                counts[0] += 1;
                continue;
            };
            counts[1 + usize::from(exit[0] < exit[1])] += 1;
            if along == Vec3::zeros() {
                continue;
            }
            let refuses = |span: Span| {
                let range = Range { span: Some(span), ..range.clone() };
                assert!(judged(&pair, along, &range).is_err(), "{story} as {span:?}");
            };
            refuses(Span { enter, exit: [exit[0], exit[0].next_down()] });
            refuses(Span { enter, exit: [exit[1].next_up(), exit[1].next_up()] });
            if exit[0] < exit[1] {
                refuses(Span { enter, exit: [exit[0], exit[0]] });
                refuses(Span { enter, exit: [exit[1], exit[1]] });
            }
            if enter[1] > 0.0 {
                counts[3] += 1;
                refuses(Span { enter: [enter[1].next_up(), enter[1].next_up()], exit });
                refuses(Span { enter: [enter[0].next_down(), enter[0].next_down()], exit });
            }
            let never = Range { span: None, ..range.clone() };
            assert!(judged(&pair, along, &never).is_err(), "{story}");
        }
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

fn cubes(x: f64, test: impl FnOnce(&Pair<'_>)) {
    let cube = cuboid(1.0, 1.0, 1.0);
    test(&Pair::new(&cube, Pose::identity(), &cube, Pose::translation(x, 0.0, 0.0)));
}

#[test]
fn a_proof_of_another_answer_is_refused() {
    cubes(5.0, |pair| {
        let (there, back, up) = (Vec3::x(), -Vec3::x(), Vec3::z());
        let meets = asked(pair, there, 0);
        let never = asked(pair, up, 0);
        assert_eq!(meets.span, Some(Span { enter: [3.0, 3.0], exit: [7.0, 7.0] }));
        assert!(judged(pair, there, &meets).is_ok() && judged(pair, up, &never).is_ok());
        for other in [back, up, there * 2.0, Vec3::zeros()] {
            assert!(judged(pair, other, &meets).is_err(), "{other:?}");
        }
        for other in [there, -up + there, Vec3::zeros() - back] {
            assert!(judged(pair, other, &never).is_err(), "{other:?}");
        }
        let mixed = Range { proof: never.proof.clone(), ..meets.clone() };
        assert!(judged(pair, there, &mixed).is_err());
        let none = Range { proof: None, ..meets.clone() };
        assert!(judged(pair, there, &none).is_err());
        let Some(RangeProof::Meets { enter, exit }) = meets.proof.clone() else { panic!() };
        let with =
            |enter, exit| Range { proof: Some(RangeProof::Meets { enter, exit }), ..meets.clone() };
        assert!(judged(pair, there, &with(None, exit.clone())).is_err());
        let swapped = with(Some(exit.clone()), enter.clone().unwrap());
        assert!(judged(pair, there, &swapped).is_err());
        let mut far = exit.clone();
        far.pairs[0] = VertexPair { i: 8, j: 0 };
        assert!(judged(pair, there, &with(enter.clone(), far)).is_err());
        let mut few = exit;
        few.pairs.clear();
        assert!(judged(pair, there, &with(enter, few)).is_err());
    });
}

/// P is in Q at t = 5, which shows neither that it comes there first nor that it is the last
/// time.
#[test]
fn a_range_that_goes_on_beyond_what_is_claimed_is_refused() {
    cubes(5.0, |pair| {
        let range = asked(pair, Vec3::x(), 0);
        let Some(RangeProof::Meets { enter, exit }) = range.proof.clone() else { panic!() };
        let inside = |end: &RangeEnd| RangeEnd {
            pairs: [VertexPair { i: 0, j: 0 }].into_iter().collect(),
            ..end.clone()
        };
        let (enter, span) = (enter.unwrap(), range.span.unwrap());
        let early = RangeProof::Meets { enter: Some(enter.clone()), exit: inside(&exit) };
        let late = RangeProof::Meets { enter: Some(inside(&enter)), exit };
        for (proof, span) in
            [(early, Span { exit: [5.0, 5.0], ..span }), (late, Span { enter: [5.0, 5.0], ..span })]
        {
            let claim = Range { span: Some(span), proof: Some(proof), ..range.clone() };
            let outside = Refusal::BoundFails("they meet outside of the bracket");
            assert_eq!(judged(pair, Vec3::x(), &claim), Err(outside));
        }
    });
}

/// In contact now: a direction away from the body proves no `never`, and nothing begins later.
#[test]
fn bodies_in_contact_have_a_range_that_begins_at_once() {
    cubes(2.0, |pair| {
        for along in [Vec3::x(), -Vec3::x(), Vec3::y()] {
            let range = asked(pair, along, 0);
            assert_eq!(judged(pair, along, &range), Ok(()), "{along:?}");
            let direction = Direction::Vector(Vec3::x());
            let proof = Some(RangeProof::Never { direction });
            let never = Range { span: None, proof, ..range.clone() };
            assert!(judged(pair, along, &never).is_err(), "{along:?}");
            let span = range.span.map(|span| Span { enter: [0.0, 1e-9], ..span });
            assert!(judged(pair, along, &Range { span, ..range }).is_err(), "{along:?}");
        }
    });
}

#[test]
fn along_next_to_nothing_the_range_ends_beyond_every_number() {
    cubes(3.0e10, |pair| {
        let along = Vec3::new(1e-305, 0.0, 0.0);
        let range = asked(pair, along, 0);
        assert_eq!(range.span.unwrap().exit, [f64::MAX, f64::INFINITY]);
        assert_eq!(judged(pair, along, &range), Ok(()));
    });
}

#[test]
fn a_range_is_judged_no_longer_than_the_effort_lasts() {
    let (p, q) = (ball(3000, 1), ball(3000, 2));
    let pair = Pair::new(&p, Pose::identity(), &q, Pose::translation(4.0, 0.0, 0.0));
    let along = Vec3::new(1.0, 0.01, 0.02);
    let Range { decision, span, proof } = asked(&pair, along, 0);
    let (verdict, proof) = (decision.verdict(), proof.as_ref());
    let claim = RangeClaim { along, verdict, span, proof };
    let judged = judge_range(&pair, &claim, &mut Effort::with_steps(2));
    assert_eq!(judged, Err(Refusal::Stopped(Stopped::Steps)));
}
