//! Where and along which normal bodies meet, and when their contacts end.

#![expect(clippy::float_cmp, reason = "the ends of a step are exact")]

use EventKind::{Began, Ended};

use super::*;
use crate::memory::runner::Runner;
use crate::pairs::report::PartPair;
use crate::{Batch, Between, PairState, Unanswered};
use clearance_geometry::until::Until;

fn normals() -> Questions {
    Questions { normals: true, ..all() }
}

fn impacts() -> Questions {
    let between = Some(Between::default());
    Questions { impacts: true, between, listed: Listed::Nothing, ..Questions::default() }
}

fn two_cubes_at(x: f64) -> Scene {
    let shape = cube(1.0);
    open(vec![Body::solid(1, shape.clone()), Body::solid(2, shape).placed(at(x, 0.25, 0.0))])
}

#[test]
fn every_listed_pair_has_a_normal_out_of_b_towards_a() {
    let mut scene = two_cubes_at(3.0);
    for (id, x, verdict) in [
        (1, 2.5, Verdict::Separated),
        (2, 2.0, Verdict::Touching),
        (3, 1.5, Verdict::Overlapping),
        (4, -2.0, Verdict::Touching),
        (5, -1e6, Verdict::Separated),
    ] {
        let next = frame(id, vec![moved(2, at(x, 0.25, 0.0))]);
        let report = step(&mut scene, &next, &normals());
        let pair = &report.pairs[0];
        assert_eq!(pair.verdict, Some(verdict));
        assert_eq!(pair.normal, Some(Vec3::new(-f64::signum(x), 0.0, 0.0)), "{x}");
        // What was measured for it and not asked for is not told.
        assert!(pair.distance.is_none() && pair.depth.is_none());
    }
    let next = frame(6, vec![moved(2, at(2.0, 0.25, 0.0))]);
    assert_eq!(step(&mut scene, &next, &all()).pairs[0].normal, None);
}

#[test]
fn the_normal_of_a_compound_is_that_of_its_nearest_or_deepest_parts() {
    let part = |x: f64, y: f64| Part {
        polytope: cube(1.0),
        radius: 0.0,
        mesh: None,
        field: None,
        curved: None,
        body_from_part: at(x, y, 0.0),
    };
    let mut pair_of_cubes = Body::solid(1, cube(1.0));
    pair_of_cubes.parts = vec![part(0.0, 0.0), part(10.0, 0.0)];
    let other = Body::solid(2, cube(1.0)).placed(at(10.0, 3.0, 0.0));
    let mut scene = open(vec![pair_of_cubes, other]);
    let second = Some(PartPair { p: 1, q: 0 });
    for (id, to, normal) in [
        (1, at(10.0, 3.5, 0.0), -Vec3::y()),
        (2, at(10.0, 2.0, 0.0), -Vec3::y()),
        (3, at(10.25, -1.5, 0.0), Vec3::y()),
    ] {
        let report = step(&mut scene, &frame(id, vec![moved(2, to)]), &normals());
        let pair = &report.pairs[0];
        assert_eq!((pair.normal, pair.deciding), (Some(normal), second), "frame {id}");
    }
}

#[test]
fn a_passage_says_where_it_began_and_where_and_when_it_ended() {
    let plate = Arc::new(samples::cuboid(0.5, 5.0, 5.0));
    let bullet = Body::solid(2, cube(0.25)).placed(at(-4.0, 1.0, 0.0));
    let mut scene = open(vec![Body::solid(1, plate), bullet]);
    let report = step(&mut scene, &frame(1, vec![moved(2, at(4.0, 1.0, 0.0))]), &impacts());
    assert_eq!(events(&report), [(Began, 1, 2), (Ended, 1, 2)]);
    let [began, ended] = [&report.events[0], &report.events[1]];
    // The box's centre is at -0.75 when they meet, and at 0.75 when they part.
    for (event, t, x, normal) in
        [(began, 3.25 / 8.0, -0.5, Vec3::x()), (ended, 4.75 / 8.0, 0.5, -Vec3::x())]
    {
        assert!(event.bracket[0] <= t && t <= event.bracket[1], "{event:?}");
        assert!(event.bracket[1] - event.bracket[0] < 1e-15 && !event.unordered, "{event:?}");
        let impact = event.impact.unwrap();
        assert!((impact.normal.unwrap() - normal).norm() < 1e-15, "{impact:?}");
        assert!((impact.point.x - x).abs() < 1e-12, "{impact:?}");
        assert!((impact.point.y - 1.0).abs() <= 0.25 && impact.point.z.abs() <= 0.25);
    }
}

#[test]
fn without_a_way_events_say_where_bodies_meet_now() {
    let mut scene = two_cubes_at(3.0);
    let questions = Questions { impacts: true, ..Questions::default() };
    for (id, x, kind, point) in [(1, 2.0, Began, 1.0), (2, 2.5, Ended, 1.5)] {
        let report = step(&mut scene, &frame(id, vec![moved(2, at(x, 0.25, 0.0))]), &questions);
        assert_eq!(events(&report), [(kind, 1, 2)]);
        assert_eq!(report.events[0].bracket, [1.0, 1.0]);
        let impact = report.events[0].impact.unwrap();
        assert_eq!((impact.point.x, impact.normal), (point, Some(-Vec3::x())));
    }
    // A body that leaves is nowhere.
    step(&mut scene, &frame(3, vec![moved(2, at(2.0, 0.0, 0.0))]), &questions);
    let gone = Frame { removed: vec![BodyId(2)], ..frame(4, vec![]) };
    let report = step(&mut scene, &gone, &questions);
    assert_eq!((events(&report), report.events[0].impact), (vec![(Ended, 1, 2)], None));
}

#[test]
fn a_contact_ends_when_its_last_parts_are_beyond_the_release_margin() {
    let part = |x: f64| Part {
        polytope: cube(0.5),
        radius: 0.0,
        mesh: None,
        field: None,
        curved: None,
        body_from_part: at(x, 0.0, 0.0),
    };
    let mut train = Body::solid(1, cube(0.5));
    train.parts = vec![part(0.0), part(-4.0)];
    let gate = Body::solid(2, cube(0.5));
    let bodies = vec![train.placed(at(0.5, 0.0, 0.0)), gate];
    let mut scene = declare(Declaration { bodies, release_margin: 0.25, ..Declaration::default() });
    // The last wagon's rear is at x - 4.5, and beyond 0.75 once x is 5.25: half way.
    let report = step(&mut scene, &frame(1, vec![moved(1, at(10.0, 0.0, 0.0))]), &impacts());
    assert_eq!(events(&report), [(Ended, 1, 2)]);
    let event = &report.events[0];
    assert!(event.bracket[0] <= 0.5 && 0.5 <= event.bracket[1], "{event:?}");
    assert!(event.bracket[1] - event.bracket[0] < 2e-9, "{event:?}");
    assert_eq!(event.parts, Some(PartPair { p: 1, q: 0 }));
    let impact = event.impact.unwrap();
    assert!((impact.point.x - 0.5).abs() < 1e-12 && impact.normal == Some(Vec3::x()));
}

#[test]
fn touching_parts_say_what_they_have_in_common() {
    let part = |x: f64| Part {
        polytope: cube(1.0),
        radius: 0.0,
        mesh: None,
        field: None,
        curved: None,
        body_from_part: at(x, 0.0, 0.0),
    };
    let mut two = Body::solid(1, cube(1.0));
    two.parts = vec![part(0.0), part(10.0)];
    let mut scene = open(vec![two, Body::solid(2, cube(1.0)).placed(at(10.5, 0.0, 3.0))]);
    let questions = Questions { polygons: true, normals: true, ..all() };
    let polygon = |scene: &mut Scene, id, z| {
        let next = frame(id, vec![moved(2, at(10.5, 0.0, z))]);
        step(scene, &next, &questions).pairs[0].clone()
    };
    assert!(polygon(&mut scene, 1, 2.5).polygon.is_empty());
    let pair = polygon(&mut scene, 2, 2.0);
    assert_eq!(pair.deciding, Some(PartPair { p: 1, q: 0 }));
    assert_eq!(pair.polygon.len(), 4);
    let around = |a: &Vec3, b: &Vec3| {
        (a - Vec3::new(10.25, 0.0, 1.0)).cross(&(b - Vec3::new(10.25, 0.0, 1.0)))
    };
    let area: Vec3 = (0..4).map(|k| around(&pair.polygon[k], &pair.polygon[(k + 1) % 4])).sum();
    // Half the cross products of corners: 1.5 by 2 metres, around the normal.
    assert!((area * 0.5 - pair.normal.unwrap() * 3.0).norm() < 1e-9, "{pair:?}");
    assert!(polygon(&mut scene, 3, 1.75).polygon.is_empty());
}

/// Polygons were found and kept of all pairs, whatever a report had room for.
#[test]
fn polygons_are_told_until_there_are_as_many_as_a_report_has_room_for() {
    // Each touches the next along a square of side two, 12 numbers that are not zero.
    let tower =
        (0..9).map(|k| Body::solid(k, cube(1.0)).placed(at(0.0, 0.0, 1.0 + 2.0 * f64::from(k))));
    let mut scene = open(tower.collect());
    let near = Questions { polygons: true, listed: Listed::Near, ..Questions::default() };
    let corners = |scene: &mut Scene, id, polygon_numbers_max| {
        let questions = Questions { polygon_numbers_max, ..near };
        let report = step(scene, &frame(id, vec![]), &questions);
        assert_eq!(report.pairs.len() as u64 + report.pairs_omitted, 8);
        report.pairs.iter().map(|pair| pair.polygon.len()).collect::<Vec<_>>()
    };
    assert_eq!(corners(&mut scene, 1, usize::MAX), [4; 8]);
    assert_eq!(corners(&mut scene, 2, 96), [4; 8]);
    assert_eq!(corners(&mut scene, 3, 24), [4; 3]);
    assert_eq!(corners(&mut scene, 4, usize::MAX), [4; 8]);
}

/// Has no memory for what comes of the work.
pub(super) struct Cramped;

impl Runner for Cramped {
    fn run(&self, items: &mut [Box<PairState>], work: &(dyn Fn(&mut PairState) + Sync)) {
        Serial.run(items, work);
    }

    fn run_batches(&self, batches: &mut [Batch<'_>], work: &(dyn Fn(&mut Batch<'_>) + Sync)) {
        Serial.run_batches(batches, work);
    }

    fn has_room(&self, bytes: usize) -> bool {
        bytes == 0
    }
}

#[test]
fn an_answer_without_room_for_polygons_is_not_given_and_loses_no_event() {
    let questions = Questions { polygons: true, listed: Listed::Near, ..Questions::default() };
    let up = |z| vec![moved(1, at(0.0, 0.0, z))];
    let fresh = || {
        let mut scene = open(vec![
            Body::solid(1, cube(1.0)).placed(at(0.0, 0.0, 5.0)),
            Body::solid(2, cube(1.0)).placed(at(0.0, 0.0, -1.0)),
        ]);
        step(&mut scene, &frame(1, up(4.0)), &questions);
        scene
    };
    let (mut scene, mut other) = (fresh(), fresh());
    scene.apply(&frame(2, up(1.0))).unwrap();
    let refused = scene.answer(&questions, &Cramped, Until::never());
    assert_eq!(refused, Err(Unanswered::NoRoom));
    let (told, expected) = (
        scene.answer(&questions, &Serial, Until::never()).unwrap(),
        step(&mut other, &frame(2, up(1.0)), &questions),
    );
    assert_eq!((&told.events, &told.pairs), (&expected.events, &expected.pairs));
    assert_eq!((told.events.len(), told.pairs[0].polygon.len()), (1, 4));
}

/// In scenes that tumble, whatever is remembered: the same normals, points and times as of a scene
/// that knows nothing.
#[test]
fn normals_and_impacts_are_those_of_a_cold_scene() {
    let mut warm = open(tumbling(24, 41));
    let mut random = samples::Random(42);
    let (mut told, mut ended) = (0, 0);
    for id in 1..12 {
        let before = warm.declaration();
        let moves: Vec<Move> = warm
            .bodies()
            .map(|body| {
                let mut pose = body.pose;
                pose.translation += random.vector() * 0.4;
                moved(body.id.0, random.pose(pose.translation))
            })
            .collect();
        let questions = Questions { normals: true, listed: Listed::Near, ..impacts() };
        let next = frame(id, moves);
        let report = step(&mut warm, &next, &questions);
        let mut cold = declare(before);
        let expected = step(&mut cold, &next, &questions);
        assert_eq!(report.events, expected.events, "frame {id}");
        assert_eq!(report.pairs.len(), expected.pairs.len(), "frame {id}");
        for (pair, expected) in report.pairs.iter().zip(&expected.pairs) {
            assert_eq!(
                (pair.p, pair.q, pair.deciding),
                (expected.p, expected.q, expected.deciding)
            );
            let off = pair.normal.zip(expected.normal).map(|(a, b)| (a - b).norm());
            // Distances may differ in their last bits.
            assert!(off.is_some_and(|off| off < 1e-12), "frame {id}: {pair:?} {expected:?}");
        }
        told += report.pairs.iter().filter(|pair| pair.normal.is_some()).count();
        assert!(report.events.iter().all(|event| event.impact.is_some_and(|i| i.normal.is_some())));
        ended += report.events.iter().filter(|event| event.kind == Ended).count();
    }
    assert!(told > 50 && ended > 20, "{told} {ended}");
}
