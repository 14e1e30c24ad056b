//! What a scene says of its past, against what it said when that was the present.

use std::collections::BTreeMap;

use super::queries::{MANY, point};
use super::robots::{self, placed, to};
use super::*;
use crate::query::cast::Cast;
use crate::query::past::{Moment, NoPast};
use crate::query::place::Nearness;
use crate::query::{BodyFilter, HitSelection, QueryShape, SceneView};
use crate::{Attached, BodyChange, HistoryLimits, RobotChanges, RobotId, SceneRobot};
use clearance_bodies::table::Wanted;

const AMPLE: HistoryLimits = HistoryLimits { frames_max: 12, bytes_max: 64 << 20 };

fn at_frame(frame: u64) -> Moment {
    Moment { frame, fraction: 0.0 }
}

/// All that is answered to some questions of every sort, with the proofs.
fn told(view: &SceneView<'_>) -> String {
    let (dot, cube) = (point(), QueryShape::new(cube(0.7), 0.1));
    let (mut random, effort) = (Random(5), &mut Effort::unlimited());
    let mut told = String::new();
    for _ in 0..6 {
        let (from, by) = (random.vector() * 6.0, random.vector() * 12.0);
        let start = at(from.x, from.y, from.z);
        for shape in [&dot, &cube] {
            let wanted = Wanted { certificate: true, cover_steps_max: 1 << 14 };
            let cast = Cast::along(shape.at(start).wanting(wanted), by - from);
            let cast = Cast { time_tolerance: 1e-9, ..cast };
            let hits = view.cast(&cast, HitSelection::All, effort).unwrap();
            told += &format!("{hits:?}\n");
            let overlaps = view.overlaps(&cast.start, HitSelection::All, effort).unwrap();
            told += &format!("{overlaps:?}\n");
            let wanted = Nearness { count: Some(3), below: None };
            told += &format!("{:?}\n", view.nearest(&cast.start, wanted, effort).unwrap());
        }
    }
    told
}

fn told_now(scene: &Scene) -> String {
    told(&SceneView::new(scene, &BodyFilter::default(), MANY).unwrap())
}

fn told_of(scene: &Scene, moment: &Moment) -> Result<String, NoPast> {
    let past = scene.past(moment)?;
    let filter = BodyFilter::default();
    let view = SceneView::of_copy(&past, &filter, &Effort::unlimited()).unwrap();
    Ok(told(&view))
}

/// A frame in which bodies move, some by a quaternion and some by jumps, and sometimes come, go,
/// come again under the same id, and get other parts.
fn eventful(scene: &Scene, id: u64, random: &mut Random) -> Frame {
    let mut next = wander(scene, id, random);
    for one in &mut next.moves {
        if random.below(2) == 0 {
            let quaternion = [1.0, 0.3, f64::from(random.below(9)) * 0.1, -0.2];
            one.pose = Pose::from_quaternion(one.pose.translation, quaternion).unwrap();
            one.quaternion = Some(quaternion);
        }
        one.teleported = random.below(5) == 0;
    }
    let ids: Vec<BodyId> = scene.bodies().map(|body| body.id).collect();
    let any = |random: &mut Random| ids[random.below(ids.len() as u32) as usize];
    let place = random.vector() * 3.0;
    match random.below(5) {
        0 => next.removed = vec![any(random)],
        1 => {
            next.added = vec![Body::solid(1_000 + id as u32, cube(0.4)).placed(random.pose(place))]
        }
        2 => {
            let again = any(random);
            next.removed = vec![again];
            next.added = vec![Body::solid(again.0, cube(0.9)).placed(random.pose(place))];
        }
        3 => {
            let parts = Body::solid(1, cube(0.6)).parts;
            next.changed = vec![BodyChange { parts, ..super::changes::same(any(random).0) }];
        }
        _ => {}
    }
    next.moves.retain(|one| !next.removed.contains(&one.body));
    next
}

#[test]
fn a_past_frame_is_told_as_it_was_told_when_it_was_new() {
    let mut compared = 0;
    for seed in 0..6 {
        let mut random = Random(seed);
        let mut scene = open(tumbling(14, seed + 3));
        scene.keep_history(AMPLE);
        let mut when_new = BTreeMap::from([(0, told_now(&scene))]);
        for id in 1..30 {
            let next = eventful(&scene, id, &mut random);
            scene.step(&next, &Questions::default(), &Serial).unwrap();
            when_new.insert(id, told_now(&scene));
            for (frame, expected) in when_new.range(scene.oldest_frame()..) {
                let found = told_of(&scene, &at_frame(*frame)).unwrap();
                assert!(found == *expected, "seed {seed}: frame {frame} at {id}");
                compared += 1;
            }
        }
        assert_eq!((scene.past_frames(), scene.oldest_frame()), (12, 17));
        let gone = told_of(&scene, &at_frame(16));
        assert_eq!(gone, Err(NoPast::NotKept { oldest: 17 }));
        let to_come = told_of(&scene, &at_frame(30));
        assert_eq!(to_come, Err(NoPast::NotKept { oldest: 17 }));
    }
    assert!(compared > 1_500, "{compared}");
}

/// Frames are named by their clients and may leave numbers out: one that never was is not told as
/// another one.
#[test]
fn a_frame_that_never_was_is_not_kept() {
    let mut scene = open(vec![Body::solid(1, cube(0.5))]);
    scene.keep_history(AMPLE);
    for (id, base) in [(3, 0), (7, 3), (8, 7)] {
        let moves = vec![moved(1, at(id as f64, 0.0, 0.0))];
        let next = Frame { base: Some(base), ..frame(id, moves) };
        step(&mut scene, &next, &Questions::default());
    }
    for id in 0..12 {
        let is_told = scene.past(&at_frame(id)).is_ok();
        assert_eq!(is_told, [0, 3, 7, 8].contains(&id), "{id}");
    }
}

/// A frame that was refused had taken the oldest one with it.
#[test]
fn a_refused_frame_leaves_the_past_as_it_is() {
    let mut scene = open(vec![Body::solid(1, cube(0.5))]);
    scene.keep_history(HistoryLimits { frames_max: 2, ..AMPLE });
    for id in 1..=3 {
        let moves = vec![moved(1, at(id as f64, 0.0, 0.0))];
        step(&mut scene, &frame(id, moves), &Questions::default());
    }
    let kept: Vec<_> = (1..=3).map(|id| told_of(&scene, &at_frame(id)).unwrap()).collect();
    let wrong = Frame { added: vec![Body::solid(1, cube(0.5))], ..frame(4, vec![]) };
    assert!(scene.step(&wrong, &Questions::default(), &Serial).is_err());
    let after: Vec<_> = (1..=3).map(|id| told_of(&scene, &at_frame(id)).unwrap()).collect();
    assert_eq!(kept, after);
}

#[test]
fn the_past_of_two_thousand_bodies_takes_64_bytes_a_body_and_frame() {
    let (count, frames) = (2_000_u32, 64);
    let place = |id: u32, x: f64| Vec3::new(x, 2.0 * f64::from(id), 0.0);
    let body = |id| {
        let from = place(id, 0.0);
        Body::solid(id, cube(0.5)).placed(at(from.x, from.y, from.z))
    };
    let mut scene = open((0..count).map(body).collect());
    scene.keep_history(HistoryLimits { frames_max: frames, bytes_max: 1 << 30 });
    let turned = [1.0, 0.1, 0.0, 0.0];
    for id in 1..=(2 * frames as u64 + 1) {
        let to = |body| {
            let pose = Pose::from_quaternion(place(body, id as f64), turned).unwrap();
            Move { quaternion: Some(turned), ..Move::new(BodyId(body), pose) }
        };
        scene.apply(&frame(id, (0..count).map(to).collect())).unwrap();
    }
    let each = scene.bytes_of_history() as f64 / f64::from(count) / frames as f64;
    // The numbers of now, and lists that are ready for the next frame, are shared by all frames.
    assert!(each < 64.0 * (1.0 + 1.0 / frames as f64) + 1.0, "{each}");
    // Less room than that: fewer frames.
    scene.keep_history(HistoryLimits { frames_max: frames, bytes_max: 1_300_000 });
    for id in 200..220 {
        let to = |body| {
            let pose = Pose::from_quaternion(place(body, id as f64), turned).unwrap();
            Move { quaternion: Some(turned), ..Move::new(BodyId(body), pose) }
        };
        let moves = (0..count).map(to).collect();
        let base = Some(if id == 200 { 129 } else { id - 1 });
        scene.apply(&Frame { base, ..frame(id, moves) }).unwrap();
        assert!(scene.bytes_of_history() < 1_600_000, "{}", scene.bytes_of_history());
    }
    assert!((5..=10).contains(&scene.past_frames()), "{}", scene.past_frames());
}

/// Half of the way between two frames a body is half way; what jumps, comes or goes does so at the
/// end of it.
#[test]
fn between_two_frames_bodies_are_on_their_ways() {
    let body = |id: u32| Body::solid(id, cube(0.5)).placed(at(0.0, 4.0 * f64::from(id), 0.0));
    let mut scene = open((1..=4).map(body).collect());
    scene.keep_history(AMPLE);
    let half_turn = Pose::from_quaternion(Vec3::new(0.0, 4.0, 0.0), [0.0, 0.0, 0.0, 1.0]).unwrap();
    let jump = Move { teleported: true, ..moved(2, at(8.0, 8.0, 0.0)) };
    let moves = vec![moved(1, half_turn), jump, moved(3, at(8.0, 12.0, 0.0))];
    let next = Frame { removed: vec![BodyId(4)], added: vec![body(5)], ..frame(1, moves) };
    step(&mut scene, &next, &Questions::default());
    step(&mut scene, &frame(2, vec![moved(3, at(9.0, 12.0, 0.0))]), &Questions::default());
    let past = scene.past(&Moment { frame: 0, fraction: 0.25 }).unwrap();
    let poses: Vec<(u32, [f64; 3])> =
        past.poses().map(|(id, pose)| (id.0, pose.translation.into())).collect();
    assert_eq!(
        poses,
        [(1, [0.0, 4.0, 0.0]), (2, [0.0, 8.0, 0.0]), (3, [2.0, 12.0, 0.0]), (4, [0.0, 16.0, 0.0])]
    );
    let turned = past.poses().next().unwrap().1.rotation * Vec3::x();
    let eighth = Vec3::new(0.5_f64.sqrt(), 0.5_f64.sqrt(), 0.0);
    assert!((turned - eighth).norm() < 1e-12, "{turned}");
    // At the last frame there is no way to go on.
    let last = scene.past(&Moment { frame: 2, fraction: 0.5 });
    assert_eq!(last.err(), Some(NoPast::NoNext));
}

/// Between two frames nothing was told of links, and of what they carry.
#[test]
fn links_of_robots_are_told_as_they_were_at_frames_and_on_their_ways_between_them() {
    let robot = Arc::new(clearance_samples::panda());
    let tool = Attached {
        body: BodyId(2),
        link: "panda_hand".to_owned(),
        link_from_body: Some(at(0.0, 0.1, 0.2)),
        touch_links: Vec::new(),
    };
    let load = tool.clone();
    let still = Body::solid(1, cube(0.2)).placed(at(0.5, 0.0, 0.4));
    let declared = Declaration {
        bodies: vec![still, Body::solid(2, cube(0.05))],
        robots: vec![SceneRobot { attached: vec![tool], ..placed(10, &robot) }],
        ..Declaration::default()
    };
    let mut scene = declare(declared);
    scene.keep_history(AMPLE);
    let mut when_new = vec![told_now(&scene)];
    for id in 1..6 {
        let mut values = scene.robot(RobotId(10)).unwrap().values.clone();
        values[0] += 0.2;
        values[3] -= 0.05;
        step(&mut scene, &robots::frame(id, vec![to(10, &values)]), &Questions::default());
        when_new.push(told_now(&scene));
    }
    for (frame, expected) in (0..).zip(&when_new) {
        assert!(told_of(&scene, &at_frame(frame)).unwrap() == *expected, "{frame}");
    }
    // A quarter of the way is where a quarter of the change of the joints leads.
    let between = scene.past(&Moment { frame: 2, fraction: 0.25 }).unwrap();
    let now = scene.robot(RobotId(10)).unwrap().values.clone();
    let (mut values, ahead) = (now, 2.75);
    values[0] -= 0.2 * ahead;
    values[3] += 0.05 * ahead;
    // What has been let go since was carried then.
    let robots = RobotChanges { detached: vec![BodyId(2)], ..Default::default() };
    step(&mut scene, &Frame { id: 6, robots, ..Frame::default() }, &Questions::default());
    let again = scene.past(&Moment { frame: 2, fraction: 0.25 }).unwrap();
    assert!(between.poses().map(|(_, pose)| pose).eq(again.poses().map(|(_, pose)| pose)));
    let robots = RobotChanges { attached: vec![(RobotId(10), load)], ..Default::default() };
    step(&mut scene, &Frame { id: 7, robots, ..Frame::default() }, &Questions::default());
    step(&mut scene, &robots::frame(8, vec![to(10, &values)]), &Questions::default());
    for (id, pose) in between.poses() {
        let expected = scene.body(id).unwrap().pose;
        let off = (pose.rotation - expected.rotation).amax();
        let aside = (pose.translation - expected.translation).amax();
        assert!(off < 1e-12 && aside < 1e-12, "{id:?}: {off} {aside}");
    }
}

/// What a link takes up is put there. At the frames before, it was told where it was put.
#[test]
fn what_is_attached_was_where_it_was_before() {
    let robot = Arc::new(clearance_samples::panda());
    let bodies = vec![Body::solid(1, cube(0.2)).placed(at(3.0, 0.0, 0.0))];
    let robots = vec![placed(10, &robot)];
    let mut scene = declare(Declaration { bodies, robots, ..Declaration::default() });
    scene.keep_history(AMPLE);
    let before = told_now(&scene);
    let load = Attached {
        body: BodyId(1),
        link: "panda_hand".to_owned(),
        link_from_body: Some(at(0.0, 0.1, 0.2)),
        touch_links: Vec::new(),
    };
    let attached = vec![(RobotId(10), load)];
    let robots = RobotChanges { attached, ..RobotChanges::default() };
    step(&mut scene, &Frame { id: 1, robots, ..Frame::default() }, &Questions::default());
    assert!(told_of(&scene, &at_frame(0)).unwrap() == before);
    assert!(told_of(&scene, &at_frame(1)).unwrap() == told_now(&scene));
}
