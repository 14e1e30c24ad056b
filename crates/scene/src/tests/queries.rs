//! Questions to a scene as it stands, against exact slabs and against asking every body.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{at, cube, declare, frame, moved, open, step};
use crate::query::cast::{Cast, CastHit};
use crate::query::place::Nearness;
use crate::query::{BodyFilter, HitSelection, NoView, QueryShape, SceneView, UnknownName};
use crate::{Body, BodyId, Declaration, Part, Questions, Scene};
use clearance_bodies::table::Wanted;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::contact_time::first_contact;
use clearance_geometry::distance::{self, Stops};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::motion::{Motion, Turn};
use clearance_geometry::pair::Question;
use clearance_geometry::pair::{Pair, Placed};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::until::Until;
use clearance_geometry::witness::Witness;
use clearance_samples::{self as samples, Random};

/// Questions for which the tree of boxes is built that is as tight as boxes are.
pub(super) const MANY: usize = 1 << 20;

pub(super) fn point() -> QueryShape {
    QueryShape::new(Arc::new(samples::hull(&[Vec3::zeros()])), 0.0)
}

/// Unit cubes with integer corners, some of them in one body of two parts.
fn cubes_on_a_grid(random: &mut Random, count: u32) -> (Scene, Vec<(u32, u32, [i64; 3])>) {
    let half = cube(0.5);
    let (mut bodies, mut lows) = (Vec::new(), Vec::new());
    for id in 1..=count {
        let mut cell = || [0; 3].map(|_: i64| i64::from(random.below(12)));
        let parts: Vec<[i64; 3]> =
            if id.is_multiple_of(4) { vec![cell(), cell()] } else { vec![cell()] };
        let place = |low: &[i64; 3]| {
            let centre = low.map(|c| c as f64 + 0.5);
            Part {
                polytope: half.clone(),
                radius: 0.0,
                mesh: None,
                field: None,
                curved: None,
                body_from_part: at(centre[0], centre[1], centre[2]),
            }
        };
        bodies.push(Body {
            parts: parts.iter().map(place).collect(),
            ..Body::solid(id, half.clone())
        });
        lows.extend((0..).zip(parts).map(|(part, low)| (id, part, low)));
    }
    (open(bodies), lows)
}

/// The first t in [0, 1] at which `from + t way` is in the closed unit cube at `low`, as a
/// quotient.
fn entry(from: [i64; 3], way: [i64; 3], low: [i64; 3]) -> Option<(i64, i64)> {
    let (mut enter, mut leave) = ((0, 1), (1, 1));
    let less = |a: (i64, i64), b: (i64, i64)| a.0 * b.1 < b.0 * a.1;
    for k in 0..3 {
        let (near, far) = (low[k] - from[k], low[k] + 1 - from[k]);
        if way[k] == 0 {
            if near > 0 || far < 0 {
                return None;
            }
            continue;
        }
        let (mut first, mut last) = ((near, way[k]), (far, way[k]));
        if way[k] < 0 {
            (first, last) = ((-far, -way[k]), (-near, -way[k]));
        }
        enter = if less(enter, first) { first } else { enter };
        leave = if less(last, leave) { last } else { leave };
    }
    (!less(leave, enter)).then_some(enter)
}

/// With proofs.
pub(super) const PROVEN: Wanted = Wanted { certificate: true, cover_steps_max: 1 << 14 };

pub(super) fn cast(start: &QueryShape, pose: Pose, motion: Motion) -> Cast<'_> {
    let start = start.at(pose).wanting(PROVEN);
    Cast { motion, time_tolerance: 1e-9, ..Cast::along(start, Vec3::zeros()) }
}

/// Along edges, through vertices and within faces as often as across: what a ray meets, and when,
/// is compared with slabs in integers.
#[test]
fn rays_meet_what_exact_slabs_say_grazes_included() {
    let (mut random, point) = (Random(20_261), point());
    let (mut hits_seen, mut grazes, mut inside, mut several) = (0, 0, 0, 0);
    let filter = BodyFilter::default();
    for _ in 0..12 {
        let (scene, lows) = cubes_on_a_grid(&mut random, 60);
        let view = SceneView::new(&scene, &filter, MANY).unwrap();
        for _ in 0..150 {
            let mut corner = || [0; 3].map(|_: i64| i64::from(random.below(13)));
            let (from, to) = (corner(), corner());
            let way: [i64; 3] = std::array::from_fn(|k| to[k] - from[k]);
            let [x, y, z] = from.map(|c| c as f64);
            let velocity = Vec3::from(way.map(|c| c as f64));
            let ray = cast(&point, at(x, y, z), Motion::Linear { velocity });
            let entries: Vec<(u32, u32, (i64, i64))> = lows
                .iter()
                .filter_map(|&(id, part, low)| Some((id, part, entry(from, way, low)?)))
                .collect();
            let effort = &mut Effort::unlimited();
            let all = view.cast(&ray, HitSelection::All, effort).unwrap();
            let met: BTreeSet<u32> = entries.iter().map(|entry| entry.0).collect();
            assert_eq!(all.iter().map(|hit| hit.body.0).collect::<BTreeSet<_>>(), met);
            for hit in &all {
                check_time(hit, &entries);
            }
            let time = |entry: &(u32, u32, (i64, i64))| entry.2.0 as f64 / entry.2.1 as f64;
            let earliest = entries.iter().map(time).fold(f64::INFINITY, f64::min);
            let first = view.cast(&ray, HitSelection::First, effort).unwrap();
            assert_eq!(first.is_empty(), entries.is_empty());
            for hit in &first {
                assert!(hit.time[0] <= earliest && earliest <= hit.time[1], "{hit:?}");
            }
            let firsts = entries.iter().filter(|entry| time(entry) <= earliest);
            let firsts: BTreeSet<u32> = firsts.map(|entry| entry.0).collect();
            let told: BTreeSet<u32> = first.iter().map(|hit| hit.body.0).collect();
            assert!(told.is_superset(&firsts), "{told:?} {firsts:?}");
            assert!(first.len() == 1 || first.iter().all(|hit| hit.is_unordered));
            let any = view.cast(&ray, HitSelection::Any, effort).unwrap();
            assert_eq!(any.is_empty(), entries.is_empty());
            hits_seen += all.len();
            several += usize::from(first.len() > 1);
            inside += usize::from(earliest <= 0.0);
            grazes += usize::from(first.iter().any(|hit| {
                let low =
                    lows.iter().find(|low| low.0 == hit.body.0 && low.1 == hit.part).unwrap().2;
                // Both ends and the way of a graze lie in the plane of a face.
                (0..3).any(|k| way[k] == 0 && (from[k] == low[k] || from[k] == low[k] + 1))
            }));
        }
    }
    let seen = [hits_seen, grazes, inside, several];
    assert!(hits_seen > 1500 && grazes > 40 && inside > 100 && several > 80, "{seen:?}");
}

#[track_caller]
fn check_time(hit: &CastHit, entries: &[(u32, u32, (i64, i64))]) {
    let of_body = entries.iter().filter(|entry| entry.0 == hit.body.0);
    let time = |entry: &(u32, u32, (i64, i64))| entry.2.0 as f64 / entry.2.1 as f64;
    let exact = of_body.map(time).fold(f64::INFINITY, f64::min);
    assert_eq!(hit.outcome, Outcome::Contact);
    assert!(hit.time[0] <= exact && exact <= hit.time[1], "{hit:?} at {exact}");
    assert!(hit.time[1] - hit.time[0] <= 4.0 * f64::EPSILON, "{hit:?}");
}

fn hull_of(random: &mut Random, points: u32, size: f64) -> Arc<Polytope> {
    let points: Vec<Vec3> = (0..points).map(|_| random.vector() * size).collect();
    Arc::new(samples::hull(&points))
}

fn shape_of(random: &mut Random, points: u32, size: f64) -> QueryShape {
    QueryShape::new(hull_of(random, points, size), 0.0)
}

fn anywhere(random: &mut Random, within: f64) -> Pose {
    let translation = random.vector() * within;
    random.any_pose(translation)
}

/// Hulls anywhere, some bodies of two parts.
fn hulls(random: &mut Random, count: u32) -> Scene {
    let shapes: Vec<Arc<Polytope>> = (0..6).map(|k| hull_of(random, 6 + 5 * k, 0.9)).collect();
    let bodies = (1..=count).map(|id| {
        let shape = |random: &mut Random| shapes[random.below(6) as usize].clone();
        let place = anywhere(random, 2.5);
        let second = Part {
            polytope: shape(random),
            radius: 0.0,
            mesh: None,
            field: None,
            curved: None,
            body_from_part: anywhere(random, 1.0),
        };
        let mut body = Body::solid(id, shape(random)).placed(place);
        if id.is_multiple_of(3) {
            body.parts.push(second);
        }
        body
    });
    open(bodies.collect())
}

/// The answer must be that of asking every body alone, which no tree of boxes does.
#[test]
fn shape_casts_meet_what_asking_every_body_alone_says() {
    let mut random = Random(77);
    let filter = BodyFilter::default();
    let (mut met, mut free, mut inside) = (0, 0, 0);
    let key = |hit: &CastHit| (hit.body, hit.part, hit.time.map(f64::to_bits), hit.is_unordered);
    for round in 0..40 {
        let scene = hulls(&mut random, 40);
        let view = SceneView::new(&scene, &filter, MANY).unwrap();
        let shape = shape_of(&mut random, 9, 0.5);
        let start = anywhere(&mut random, 4.0);
        let velocity = random.vector() * 5.0;
        let end = anywhere(&mut random, 6.0);
        let motion = match round % 3 {
            0 => Motion::Linear { velocity },
            1 => {
                let axis = random.vector();
                Motion::Screw { pivot: None, velocity, axis, angle: 2.0 }
            }
            _ => {
                let turn = Some(Turn::between(&start.rotation, &end.rotation));
                Motion::ToPose { end, pivot: Some(Vec3::new(0.5, 0.0, 0.0)), turn }
            }
        };
        let cast = cast(&shape, start, motion);
        let effort = &mut Effort::unlimited();
        let told = view.cast(&cast, HitSelection::All, effort).unwrap();
        let mut expected = Vec::new();
        for body in scene.bodies() {
            let contacts = body.parts.iter().filter_map(|part| {
                let pose = body.pose.compose(&part.body_from_part);
                let pair = Pair { p: cast.start.core, q: Placed { body: &part.polytope, pose } };
                let question = Question::new(pair, motion, Motion::rest());
                let found = first_contact(&question, &mut Witness::default(), effort).unwrap();
                (found.outcome == Outcome::Contact).then_some(found.t_contact)
            });
            expected.extend(contacts.reduce(f64::min).map(|time| (body.id, time)));
        }
        expected.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let contacts = told.iter().filter(|hit| hit.outcome == Outcome::Contact);
        let contacts: Vec<_> = contacts.map(|hit| (hit.body, hit.time[1])).collect();
        assert_eq!(contacts, expected, "round {round}");
        let first = view.cast(&cast, HitSelection::First, effort).unwrap();
        assert_eq!(first.first().map(|hit| hit.body), expected.first().map(|hit| hit.0));
        let soonest = expected.first().map_or(0.0, |hit| hit.1);
        let all_first = told.iter().filter(|hit| hit.time[0] <= soonest);
        assert!(all_first.map(key).eq(first.iter().map(key)), "round {round}");
        inside += usize::from(soonest <= 0.0 && first.len() > 1);
        for hit in first.iter().filter(|hit| hit.time[0] > 0.0) {
            check_impact(&scene, &view, &cast, hit);
        }
        met += expected.len();
        free += usize::from(expected.is_empty());
    }
    assert!(met > 60 && free > 1 && inside > 5, "{met} met, {free} free, {inside} inside");
}

/// The point is on both bodies up to rounding, and the normal separates them there.
#[track_caller]
fn check_impact(scene: &Scene, view: &SceneView<'_>, cast: &Cast<'_>, hit: &CastHit) {
    let effort = &mut Effort::unlimited();
    let impact = view.impact(cast, hit, effort).unwrap();
    let entry = scene.entries.iter().find(|entry| entry.body.id == hit.body).unwrap();
    let part = &entry.body.parts[hit.part as usize];
    let place = entry.now().parts[hit.part as usize].pose;
    let normal = impact.normal.unwrap();
    assert!((normal.norm() - 1.0).abs() < 1e-12);
    let height = |v: &Vec3| normal.dot(&place.apply_rounded(v));
    let top = part.polytope.vertices().iter().map(height).fold(f64::MIN, f64::max);
    assert!((top - normal.dot(&impact.point)).abs() < 1e-6, "{top} {impact:?} {hit:?}");
    let pose = cast.motion.pose_rounded(&cast.start.core.pose, hit.time[1]);
    let vertices = cast.start.core.body.vertices().iter();
    let low = vertices.map(|v| normal.dot(&pose.apply_rounded(v))).fold(f64::MAX, f64::min);
    assert!((low - top).abs() < 1e-6, "{low} {top}");
}

#[test]
fn overlaps_and_nearest_are_what_asking_every_body_alone_says() {
    let mut random = Random(5);
    let filter = BodyFilter::default();
    let (mut overlapping, mut apart) = (0, 0);
    for _ in 0..40 {
        let scene = hulls(&mut random, 60);
        let view = SceneView::new(&scene, &filter, MANY).unwrap();
        let (shape, pose) = (shape_of(&mut random, 12, 0.8), anywhere(&mut random, 6.0));
        let placed = shape.at(pose);
        let effort = &mut Effort::unlimited();
        let mut expected = Vec::new();
        for body in scene.bodies() {
            let distances = body.parts.iter().map(|part| {
                let pose = body.pose.compose(&part.body_from_part);
                let pair = Pair { p: placed.core, q: Placed { body: &part.polytope, pose } };
                let stops = Stops::default();
                distance::measure(&pair, stops, &mut Witness::default(), effort).unwrap().upper
            });
            expected.push((distances.fold(f64::MAX, f64::min), body.id));
        }
        expected.sort_by(|a, b| a.0.total_cmp(&b.0));
        let in_contact: BTreeSet<BodyId> =
            expected.iter().filter(|hit| hit.0 <= 0.0).map(|hit| hit.1).collect();
        let told = view.overlaps(&placed, HitSelection::All, effort).unwrap();
        assert_eq!(told.iter().map(|hit| hit.body).collect::<BTreeSet<_>>(), in_contact);
        let any = view.overlaps(&placed, HitSelection::Any, effort).unwrap();
        assert_eq!(any.len(), usize::from(!in_contact.is_empty()));

        let wanted = Nearness { count: Some(7), below: None };
        let near = view.nearest(&placed, wanted, effort).unwrap();
        assert_eq!(near.len(), 7);
        let distances: Vec<f64> =
            near.iter().map(|hit| hit.signed_distance()[1].max(0.0)).collect();
        for (told, (distance, _)) in distances.iter().zip(&expected) {
            assert!((told - distance).abs() <= 1e-8 * distance, "{distances:?} {expected:?}");
        }
        assert!(near.is_sorted_by_key(|hit| hit.signed_distance()[1]));
        assert!(near.iter().all(|hit| hit.normal.is_some_and(|n| (n.norm() - 1.0).abs() < 1e-9)));
        let below = expected[4].0 * 1.001 + 0.01;
        let within = view.nearest(&placed, Nearness { count: None, below: Some(below) }, effort);
        let count = expected.iter().filter(|hit| hit.0 <= below).count();
        assert_eq!(within.unwrap().len(), count);
        overlapping += in_contact.len();
        apart += usize::from(in_contact.is_empty());
    }
    assert!(overlapping > 20 && apart > 5, "{overlapping} {apart}");
}

/// The deepest come first: of two bodies around a point that it is in the middle of.
#[test]
fn the_deepest_of_those_that_overlap_is_nearest() {
    let scene = open(vec![
        Body::solid(1, cube(1.0)),
        Body::solid(2, cube(3.0)),
        Body::solid(3, cube(1.0)).placed(at(5.0, 0.0, 0.0)),
    ]);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, MANY).unwrap();
    let (point, effort) = (point(), &mut Effort::unlimited());
    let placed = point.at(at(0.5, 0.0, 0.0));
    let near = view.nearest(&placed, Nearness::default(), effort).unwrap();
    let told: Vec<_> = near.iter().map(|hit| (hit.body.0, hit.signed_distance()[1])).collect();
    assert_eq!(told.iter().map(|hit| hit.0).collect::<Vec<_>>(), [2, 1, 3]);
    for ((_, told), exact) in told.iter().zip([-2.5, -0.5, 3.5]) {
        assert!((told - exact).abs() < 1e-9, "{told} {exact}");
    }
    assert_eq!(near[1].normal, Some(Vec3::new(1.0, 0.0, 0.0)));
    assert!(!near.iter().any(|hit| hit.is_unordered));
}

/// Two boxes side by side share the edge that the ray comes down on.
#[test]
fn what_may_be_first_is_told_with_the_first() {
    let scene = open(vec![
        Body::solid(7, cube(1.0)),
        Body::solid(4, cube(1.0)).placed(at(2.0, 0.0, 0.0)),
        Body::solid(2, cube(1.0)).placed(at(0.0, 0.0, -3.0)),
    ]);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, MANY).unwrap();
    let (point, effort) = (point(), &mut Effort::unlimited());
    let down = Motion::Linear { velocity: Vec3::new(0.0, 0.0, -10.0) };
    let ray = cast(&point, at(1.0, 0.0, 5.0), down);
    let first = view.cast(&ray, HitSelection::First, effort).unwrap();
    assert_eq!(first.iter().map(|hit| hit.body.0).collect::<Vec<_>>(), [4, 7]);
    for hit in &first {
        assert!(hit.is_unordered && hit.time[0] < 0.4 && hit.time[1] <= 0.4, "{hit:?}");
    }
    let impact = view.impact(&ray, &first[0], effort).unwrap();
    assert_eq!(impact.point, Vec3::new(1.0, 0.0, 1.0));
    assert_eq!(impact.normal, Some(Vec3::new(0.0, 0.0, 1.0)));
}

/// A few questions ask boxes with room to move in that are kept between frames.
#[test]
fn few_questions_get_the_answers_that_many_get() {
    let mut random = Random(91);
    let (filter, shape) = (BodyFilter::default(), shape_of(&mut random, 20, 0.7));
    let (mut kept, mut met) = (0, 0);
    for round in 0..12_u64 {
        let mut scene = hulls(&mut random, 60);
        let away = moved(5, at(0.5, 0.25, round as f64 / 8.0));
        step(&mut scene, &frame(1, vec![away]), &Questions::default());
        let few = SceneView::new(&scene, &filter, 0).unwrap();
        kept += usize::from(few.asks_kept_boxes());
        let many = SceneView::new(&scene, &filter, MANY).unwrap();
        let point = point();
        for _ in 0..60 {
            let (start, velocity) = (anywhere(&mut random, 3.0), random.vector() * 4.0);
            for body in [&point, &shape] {
                let cast = cast(body, start, Motion::Linear { velocity });
                for hits in [HitSelection::First, HitSelection::All] {
                    let ask = |view: &SceneView<'_>| {
                        view.cast(&cast, hits, &mut Effort::unlimited()).unwrap()
                    };
                    let (few, many) = (ask(&few), ask(&many));
                    assert_eq!(format!("{few:?}"), format!("{many:?}"));
                    met += many.len();
                }
            }
            let placed = shape.at(start);
            let ask = |view: &SceneView<'_>| {
                let effort = &mut Effort::unlimited();
                let near = Nearness { count: Some(3), below: None };
                let near = view.nearest(&placed, near, effort).unwrap();
                let overlaps = view.overlaps(&placed, HitSelection::All, effort).unwrap();
                format!("{near:?} {overlaps:?}")
            };
            assert_eq!(ask(&few), ask(&many));
        }
    }
    assert!(kept == 12 && met > 2000, "{kept} {met}");
}

/// What a frame moves is not met where it was, and what is built for questions is counted.
#[test]
fn what_is_built_for_questions_is_counted_and_goes_with_the_next_frame() {
    let mut scene = open((1..200).map(|id| Body::solid(id, cube(0.4))).collect());
    let (filter, before) = (BodyFilter::default(), scene.bytes());
    let _ = SceneView::new(&scene, &filter, MANY).unwrap();
    let built = scene.bytes() - before;
    assert!((199 * 60..199 * 200).contains(&built), "{built}");
    step(&mut scene, &frame(1, vec![moved(1, at(9.0, 0.0, 0.0))]), &Questions::default());
    assert_eq!(scene.still.bytes(), 0);
}

#[test]
fn a_ray_that_starts_inside_says_so_and_names_the_way_out() {
    let scene = open(vec![Body::solid(7, cube(1.0))]);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, MANY).unwrap();
    let (point, effort) = (point(), &mut Effort::unlimited());
    let ray = cast(&point, at(0.75, 0.0, 0.0), Motion::Linear { velocity: Vec3::x() });
    let first = view.cast(&ray, HitSelection::First, effort).unwrap();
    assert!(first[0].time[1] <= 0.0);
    assert_eq!(first[0].contact.initial.verdict(), Verdict::Overlapping);
    let impact = view.impact(&ray, &first[0], effort).unwrap();
    assert_eq!(impact.normal, Some(Vec3::x()));
}

#[test]
fn filters_leave_out_what_they_name_and_unknown_names_are_refused() {
    let grouped = |id, x, group: &str| Body {
        groups: [group].into(),
        ..Body::solid(id, cube(1.0)).placed(at(x, 0.0, 0.0))
    };
    let bodies = vec![grouped(1, 3.0, "wall"), grouped(2, 6.0, "robot"), grouped(3, 9.0, "robot")];
    let scene = declare(Declaration { bodies, ..Declaration::default() });
    let (point, effort) = (point(), &mut Effort::unlimited());
    let ray = cast(&point, Pose::identity(), Motion::Linear { velocity: Vec3::x() * 20.0 });
    let mut first = |filter: &BodyFilter| {
        let view = SceneView::new(&scene, filter, MANY)?;
        Ok(view.cast(&ray, HitSelection::First, effort).unwrap().first().map(|hit| hit.body.0))
    };
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let none = BodyFilter::default();
    assert_eq!(first(&none), Ok(Some(1)));
    assert_eq!(first(&BodyFilter { groups: names(&["robot"]), ..none.clone() }), Ok(Some(2)));
    assert_eq!(
        first(&BodyFilter { ignored_groups: names(&["wall"]), ..none.clone() }),
        Ok(Some(2))
    );
    let ignored = BTreeSet::from([BodyId(1), BodyId(2)]);
    assert_eq!(first(&BodyFilter { ignored, ..none.clone() }), Ok(Some(3)));
    let nobody = names(&["robot", "robto"]);
    let refused = first(&BodyFilter { groups: nobody.clone(), ..none.clone() });
    assert_eq!(refused, Err(NoView::Unknown(UnknownName::Group(1))));
    let refused = first(&BodyFilter { ignored_groups: nobody, ..none.clone() });
    assert_eq!(refused, Err(NoView::Unknown(UnknownName::IgnoredGroup(1))));
    let refused = first(&BodyFilter { ignored: BTreeSet::from([BodyId(9)]), ..none });
    assert_eq!(refused, Err(NoView::Unknown(UnknownName::Body(BodyId(9)))));
}

/// Whatever moved since, applied but not answered too, bodies are met where they are.
#[test]
fn bodies_are_met_where_the_last_applied_frame_put_them() {
    let mut scene = open((1..40).map(|id| Body::solid(id, cube(0.4))).collect());
    let line = |x: f64| {
        (1..40).map(move |id| moved(id, at(x, 2.0 * f64::from(id), 0.0))).collect::<Vec<_>>()
    };
    let (point, filter) = (point(), BodyFilter::default());
    let check = |scene: &Scene, x: f64| {
        let view = SceneView::new(scene, &filter, MANY).unwrap();
        let velocity = Vec3::new(0.0, 100.0, 0.0);
        let ray = cast(&point, at(x, 0.0, 0.0), Motion::Linear { velocity });
        let effort = &mut Effort::unlimited();
        assert_eq!(view.cast(&ray, HitSelection::All, effort).unwrap().len(), 39);
        let beside = cast(&point, at(x + 0.5, 0.0, 0.0), Motion::Linear { velocity });
        assert_eq!(view.cast(&beside, HitSelection::All, effort).unwrap().len(), 0);
    };
    step(&mut scene, &frame(1, line(1.0)), &Questions::default());
    check(&scene, 1.0);
    step(&mut scene, &frame(2, line(1.05)), &Questions::default());
    check(&scene, 1.05);
    scene.apply(&frame(3, line(7.0))).unwrap();
    check(&scene, 7.0);
    scene.forget_witnesses();
    check(&scene, 7.0);
}

#[test]
fn a_budget_that_ends_is_told() {
    let mut random = Random(3);
    let scene = hulls(&mut random, 40);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, MANY).unwrap();
    let shape = shape_of(&mut random, 9, 3.0);
    let screw = Motion::Screw { pivot: None, velocity: Vec3::x(), axis: Vec3::z(), angle: 3.0 };
    let cast = cast(&shape, Pose::identity(), screw);
    let stopped = view.cast(&cast, HitSelection::All, &mut Effort::with_steps(3));
    assert_eq!(stopped.map(|hits| hits.len()), Err(Stopped::Steps));
}

/// A ray that starts where one part of a body touches it and another holds it was said to touch the
/// first.
#[test]
fn what_starts_in_contact_is_told_of_the_part_that_overlaps() {
    let cube = cube(1.0);
    let part = |x| Part {
        polytope: cube.clone(),
        radius: 0.0,
        mesh: None,
        field: None,
        curved: None,
        body_from_part: at(x, 0.0, 0.0),
    };
    let body = Body { parts: vec![part(0.0), part(1.0)], ..Body::solid(1, cube.clone()) };
    let scene = open(vec![body]);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, MANY).unwrap();
    let away = Motion::Linear { velocity: Vec3::new(0.0, 0.0, 9.0) };
    let ends = [-0.25, 0.25].map(|z| Vec3::new(0.0, 0.0, z));
    let segment = QueryShape::new(Arc::new(samples::hull(&ends)), 0.0);
    for shape in [point(), segment] {
        for hits in [HitSelection::First, HitSelection::All, HitSelection::Any] {
            let cast = cast(&shape, at(1.0, 0.0, 0.0), away);
            let effort = &mut Effort::unlimited();
            let found = view.cast(&cast, hits, effort).unwrap();
            assert_eq!((found.len(), found[0].part), (1, 1), "{hits:?}");
            assert_eq!(found[0].contact.initial.verdict(), Verdict::Overlapping);
            let impact = view.impact(&cast, &found[0], effort).unwrap();
            assert!(impact.normal.is_some(), "{impact:?}");
        }
    }
}

/// The normal of a cast that starts within its margin was that of any plane between the two.
#[test]
fn what_starts_within_its_margin_is_told_the_nearest_normal() {
    let scene = open(vec![Body::solid(1, cube(1.0))]);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, MANY).unwrap();
    let dot = point();
    let still = Motion::Linear { velocity: Vec3::new(0.0, 0.0, 1.0) };
    let cast = Cast { margin: 2.0, ..cast(&dot, at(2.0, 1.5, 0.0), still) };
    let effort = &mut Effort::unlimited();
    let found = view.cast(&cast, HitSelection::First, effort).unwrap();
    let normal = view.impact(&cast, &found[0], effort).unwrap().normal.unwrap();
    let nearest = Vec3::new(2.0, 1.0, 0.0) / 5.0_f64.sqrt();
    assert!((normal - nearest).norm() < 1e-15, "{normal:?}");
}

/// The boxes of 200,000 bodies were put into a tree after whoever had asked was gone.
#[test]
fn nobody_builds_a_tree_for_who_has_left() {
    let body = |id: u32| Body::solid(id, cube(1.0)).placed(at(3.0 * f64::from(id), 0.0, 0.0));
    let scene = open((1..1_000).map(body).collect());
    let (filter, left) = (BodyFilter::default(), Until::expired());
    let effort = Effort::until(u64::MAX, &left);
    let gone = SceneView::within(&scene, &filter, MANY, &effort);
    assert!(matches!(gone, Err(NoView::Stopped(Stopped::Deadline))));
    assert!(scene.builds_boxes_for(MANY), "nothing is kept of it");
    let copy = scene.still_copy(false);
    assert!(SceneView::of_copy(&copy, &filter, &effort).is_err());
    SceneView::of_copy(&copy, &filter, &Effort::unlimited()).unwrap();
    assert!(!scene.builds_boxes_for(MANY));
}

/// Such rays took the exact stage at every box: 2,000 of them through 2,000 boxes took minutes.
#[test]
fn rays_along_a_row_of_boxes_need_no_exact_stage_and_meet_every_one() {
    for step in [1.5, 0.9, 1.1] {
        let count = 300;
        let place = |i: u32| at(0.0, 0.0, f64::from(i) * step);
        let bodies = (0..count).map(|i| Body::solid(i + 1, cube(0.5)).placed(place(i)));
        let scene = open(bodies.collect());
        let view = SceneView::new(&scene, &BodyFilter::default(), MANY).expect("no names");
        let point = point();
        for (x, y) in [(0.0, 0.0), (0.5, 0.0), (0.5, 0.5), (0.125, -0.25)] {
            let velocity = Vec3::z() * 900.0;
            let start = point.at(at(x, y, -5.0));
            let cast = Cast::along(start, velocity);
            let effort = &mut Effort::unlimited();
            let met = view.cast(&cast, HitSelection::All, effort).expect("no limit");
            assert_eq!(met.len(), count as usize, "{step}: {x} {y}");
            assert_eq!(effort.cost.exact_stages, 0, "{step}: {x} {y}");
            for (hit, i) in met.iter().zip(0..count) {
                assert_eq!(hit.body, BodyId(i + 1), "{step}: {x} {y}");
                let about = (f64::from(i) * step + 4.5) / 900.0;
                assert!((hit.time[1] - about).abs() < 1e-15, "{step}: {x} {y}");
                let impact = view.impact(&cast, hit, effort).expect("no limit");
                assert_eq!(impact.normal, Some(-Vec3::z()), "{step}: {x} {y}");
            }
        }
        let (until, velocity) = (Until::default(), Vec3::z() * 900.0);
        until.cancel();
        let start = point.at(at(0.0, 0.0, -5.0));
        let cast = Cast::along(start, velocity);
        let stopped = view.cast(&cast, HitSelection::All, &mut Effort::until(u64::MAX, &until));
        assert_eq!(stopped.map(|hits| hits.len()), Err(Stopped::Deadline));
    }
}
