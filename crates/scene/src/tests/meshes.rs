//! Bodies with polyhedra: beside the same bodies as compounds of boxes, inside each other, and in
//! contact by a hair.

use super::*;
use crate::declared::question::Between;
use crate::pairs::report::PairReport;
use crate::{BodyChange, DeclarationError, Methods, Problem};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polyhedron::{Polyhedron, TriangleBody};
use clearance_geometry::until::Until;

fn mesh_of(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Part {
    let mesh = Polyhedron::new(vertices, triangles, &mut Effort::unlimited()).unwrap();
    Part::of_mesh(
        TriangleBody::Region(Arc::new(mesh)),
        Arc::new(convex_hull(vertices).unwrap().polytope),
    )
}

/// A channel along y: a floor from z = 0 to 1, and walls from x = 1 to 2 on either side, up to 3.
/// `inner` in place of 1 is where the walls begin.
pub(super) fn channel(inner: f64) -> Part {
    let profile = [
        [-2.0, 0.0],
        [2.0, 0.0],
        [2.0, 3.0],
        [inner, 3.0],
        [inner, 1.0],
        [-inner, 1.0],
        [-inner, 3.0],
        [-2.0, 3.0],
    ];
    let front = profile.map(|[x, z]| Vec3::new(x, -1.5, z));
    let back = profile.map(|[x, z]| Vec3::new(x, 1.5, z));
    let vertices: Vec<Vec3> = front.into_iter().chain(back).collect();
    let caps = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]];
    let mut triangles: Vec<[u32; 3]> = caps.to_vec();
    triangles.extend(caps.map(|[a, b, c]| [a + 8, c + 8, b + 8]));
    for i in 0..8 {
        let j = (i + 1) % 8;
        triangles.extend([[i, i + 8, j + 8], [i, j + 8, j]]);
    }
    mesh_of(&vertices, &triangles)
}

/// The same as three boxes.
pub(super) fn channel_of_boxes() -> Vec<Part> {
    let part = |half: [f64; 3], x: f64, z: f64| {
        let polytope = Arc::new(samples::cuboid(half[0], half[1], half[2]));
        Part { body_from_part: at(x, 0.0, z), ..Part::of(polytope) }
    };
    vec![
        part([2.0, 1.5, 0.5], 0.0, 0.5),
        part([0.5, 1.5, 1.5], -1.5, 1.5),
        part([0.5, 1.5, 1.5], 1.5, 1.5),
    ]
}

/// The box `[-outer, outer]^3` without the open box `(-inner, inner)^3`.
pub(super) fn shell(outer: f64, inner: f64) -> Part {
    let corners = |h: f64| {
        (0..8).map(move |i| {
            Vec3::from([0, 1, 2].map(|axis| if (i >> axis) & 1 == 1 { h } else { -h }))
        })
    };
    let outside = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];
    let inside = outside.map(|[a, b, c]| [a + 8, c + 8, b + 8]);
    let vertices: Vec<Vec3> = corners(outer).chain(corners(inner)).collect();
    let triangles: Vec<[u32; 3]> = outside.into_iter().chain(inside).collect();
    mesh_of(&vertices, &triangles)
}

pub(super) fn body(id: u32, parts: Vec<Part>) -> Body {
    Body { id: BodyId(id), parts, ..Body::without_parts() }
}

/// Two channels, a box, a ball of many corners and a capsule, near each other.
pub(super) fn crowd(channel: &[Part], random: &mut Random) -> Vec<Body> {
    let ball = Arc::new(samples::ball(30, 7));
    let segment = Arc::new(samples::hull(&[Vec3::zeros(), Vec3::new(0.0, 0.0, 1.5)]));
    let capsule = Part { radius: 0.3, ..Part::of(segment) };
    let bodies = [
        body(1, channel.to_vec()),
        body(2, channel.to_vec()),
        body(3, vec![Part::of(cube(0.6))]),
        body(4, vec![Part::of(ball)]),
        body(5, vec![capsule]),
    ];
    let place = |body: Body| {
        let place = random.vector() * 2.5;
        body.placed(random.pose(place))
    };
    bodies.map(place).into()
}

/// All that is answered about polyhedra.
pub(super) fn everything() -> Questions {
    Questions {
        distances: true,
        normals: true,
        impacts: true,
        between: Some(Between::default()),
        ..all()
    }
}

#[track_caller]
pub(super) fn meet(a: [f64; 2], b: [f64; 2], what: &str) {
    let slack = 1e-12 * (1.0 + a[1].abs());
    assert!(a[0] <= b[1] + slack && b[0] <= a[1] + slack, "{what}: {a:?} {b:?}");
}

/// What two scenes say that hold the same bodies, whatever is remembered and whatever proves it.
#[track_caller]
pub(super) fn agree(a: &Report, b: &Report) {
    assert_eq!(verdicts(a), verdicts(b));
    let told = |report: &Report| {
        let mut told = report.events.clone();
        told.sort_by_key(|event| (event.kind, event.p, event.q));
        told
    };
    for (one, other) in told(a).iter().zip(&told(b)) {
        let what = format!("{one:?}\n{other:?}");
        assert_eq!((one.kind, one.p, one.q), (other.kind, other.p, other.q), "{what}");
        meet(one.bracket, other.bracket, &what);
    }
    assert_eq!(a.events.len(), b.events.len());
    for (one, other) in a.pairs.iter().zip(&b.pairs) {
        let what = format!("{one:?}\n{other:?}");
        assert_eq!(one.within_margin, other.within_margin, "{what}");
        let bracket = |pair: &PairReport| {
            pair.distance.as_ref().map_or([0.0; 2], |found| [found.lower, found.upper])
        };
        meet(bracket(one), bracket(other), &what);
        let way = |pair: &PairReport| {
            pair.first_contact.as_ref().map(|way| (way.outcome, [way.t_free, way.t_contact]))
        };
        assert_eq!(way(one).map(|way| way.0), way(other).map(|way| way.0), "{what}");
        if let Some((one, other)) = way(one).zip(way(other)) {
            meet(one.1, other.1, &what);
        }
    }
}

/// Verdicts, margins, distances, events and first contacts of a channel are those of the boxes that
/// it is made of, warm and cold, and whatever order the bodies are declared in.
#[test]
fn a_channel_is_answered_as_the_boxes_that_it_is_made_of() {
    let mut seen = BTreeMap::<Verdict, u32>::new();
    let (mut met_between, mut ended) = (0, 0);
    for seed in 0..3 {
        let bodies = |channel: &[Part]| {
            let mut bodies = crowd(channel, &mut Random(300 + seed));
            bodies.iter_mut().for_each(|body| body.margin = 0.1);
            bodies
        };
        let of_meshes = bodies(&[channel(1.0)]);
        let mut backwards = of_meshes.clone();
        backwards.reverse();
        let [mut warm, mut cold, mut reversed] =
            [of_meshes.clone(), of_meshes, backwards].map(open);
        let mut boxes = open(bodies(&channel_of_boxes()));
        let mut random = Random(40 + seed);
        for id in 1..16 {
            let next = wander(&warm, id, &mut random);
            let reports = [&mut warm, &mut boxes, &mut reversed]
                .map(|scene| step(scene, &next, &everything()));
            cold.forget_witnesses();
            let from_cold = step(&mut cold, &next, &Questions { canonical: true, ..everything() });
            let [of_meshes, of_boxes, of_reversed] = &reports;
            agree(of_meshes, of_boxes);
            agree(of_meshes, &from_cold);
            assert_eq!(of_meshes.pairs, of_reversed.pairs);
            verdicts(of_meshes)
                .values()
                .for_each(|verdict| *seen.entry(*verdict).or_default() += 1);
            // From when on the bodies are free is told as narrowly as of boxes.
            for event in of_meshes.events.iter().filter(|event| event.kind == EventKind::Ended) {
                let other = of_boxes
                    .events
                    .iter()
                    .find(|other| (other.kind, other.p, other.q) == (event.kind, event.p, event.q));
                let [end, expected] = [event.bracket[1], other.unwrap().bracket[1]];
                assert!((end - expected).abs() < 1e-8, "{event:?} {other:?}");
                ended += usize::from(end < 1.0);
            }
            let ways = of_meshes.pairs.iter().filter_map(|pair| pair.first_contact.as_ref());
            met_between += ways.filter(|way| way.has_met() && way.t_free > 0.0).count();
        }
    }
    assert!(seen[&Verdict::Separated] > 30 && seen[&Verdict::Overlapping] > 30, "{seen:?}");
    assert!(met_between > 4 && ended > 3, "{met_between} {ended}");
}

/// In a cavity the hulls overlap, and the bodies are apart until one reaches the wall.
#[test]
fn a_small_body_inside_a_hollow_one_is_apart_until_it_reaches_the_wall() {
    let hollow = body(1, vec![shell(3.0, 2.0)]);
    let small = Body::solid(2, cube(0.5));
    let mut scene = open(vec![hollow, small]);
    for (id, x, verdict, began) in [
        (1, 0.5, Verdict::Separated, 0),
        (2, 1.5, Verdict::Touching, 1),
        (3, 1.75, Verdict::Overlapping, 0),
        // All of it within the wall.
        (4, 2.5, Verdict::Overlapping, 0),
        (5, 4.0, Verdict::Separated, 0),
        // Back through the wall in one step.
        (6, 0.0, Verdict::Separated, 1),
    ] {
        let report = step(&mut scene, &frame(id, vec![moved(2, at(x, 0.0, 0.0))]), &everything());
        let [pair] = &report.pairs[..] else { panic!("one pair") };
        assert_eq!(pair.verdict, Some(verdict), "{x}");
        let expected = match verdict {
            Verdict::Separated => (1.5 - x).abs().min((x - 3.5).abs()),
            Verdict::Touching | Verdict::Overlapping => 0.0,
        };
        let found = pair.distance.as_ref().unwrap();
        meet([found.lower, found.upper], [expected; 2], "distance");
        let begins = report.events.iter().filter(|event| event.kind == EventKind::Began);
        assert_eq!(begins.clone().count(), began, "{x}: {:?}", report.events);
        if id == 5 {
            let [event] = &report.events[..] else { panic!("{:?}", report.events) };
            assert_eq!(event.kind, EventKind::Ended);
            let [lower, upper] = event.bracket;
            assert!(upper - lower < 1e-15, "what turns nothing leaves at a time that is known");
            meet(event.bracket, [1.0 / 1.5; 2], "the outer face of the wall is left last");
        }
        if id == 6 {
            let bracket = begins.map(|event| event.bracket).next().unwrap();
            meet(bracket, [0.125; 2], "the outer face of the wall is met first");
        }
        if verdict == Verdict::Separated {
            let normal = pair.normal.unwrap();
            assert!((normal.norm() - 1.0).abs() < 1e-12, "{normal}");
        } else {
            assert_eq!(pair.normal, None, "nobody knows how deep polyhedra are");
        }
    }
}

/// A peg that fills its slot touches both walls, and by an ulp more or less overlaps them or is
/// apart from them.
#[test]
fn a_peg_in_its_slot_touches_and_by_an_ulp_it_does_not() {
    let peg = |half: f64| vec![Part::of(Arc::new(samples::cuboid(half, 0.5, 0.5)))];
    for (half, verdict) in [
        (1.0, Verdict::Touching),
        (1.0_f64.next_down(), Verdict::Separated),
        (1.0_f64.next_up(), Verdict::Overlapping),
    ] {
        let peg = body(2, peg(half)).placed(at(0.0, 0.0, 2.0));
        let mut scene = open(vec![body(1, vec![channel(1.0)]), peg.clone()]);
        let report = step(&mut scene, &frame(1, vec![]), &everything());
        assert_eq!(report.pairs[0].verdict, Some(verdict), "{half}");
        // A polyhedron in the slot of another one.
        let mut scene =
            open(vec![body(1, vec![channel(1.0)]), body(2, vec![block(half)]).placed(peg.pose)]);
        let report = step(&mut scene, &frame(1, vec![]), &everything());
        assert_eq!(report.pairs[0].verdict, Some(verdict), "{half}");
        // Within a margin of nothing but an ulp, exactly.
        let far = verdict == Verdict::Separated;
        for (margin, is_within) in [(1.0 - half, true), ((1.0 - half) / 2.0, !far)] {
            if margin <= 0.0 {
                continue;
            }
            let bodies = vec![body(1, vec![channel(1.0)]), Body { margin, ..peg.clone() }];
            let report = step(&mut open(bodies), &frame(1, vec![]), &everything());
            assert_eq!(report.pairs[0].within_margin, Some(is_within), "{half} {margin}");
        }
    }
}

/// A box as a mesh.
fn block(half: f64) -> Part {
    let hull = samples::cuboid(half, 0.5, 0.5);
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for row in hull.facets().rows() {
        triangles.extend(row.windows(2).skip(1).map(|w| [row[0], w[0], w[1]]));
    }
    mesh_of(hull.vertices(), &triangles)
}

/// A rounded body inside a polyhedron, or beside it by a hair.
#[test]
fn a_ball_in_a_slot_is_told_by_its_radius() {
    let point = Arc::new(samples::hull(&[Vec3::zeros()]));
    for (radius, verdict) in [
        (1.0, Verdict::Touching),
        (1.0_f64.next_down(), Verdict::Separated),
        (1.0_f64.next_up(), Verdict::Overlapping),
    ] {
        let ball = body(2, vec![Part { radius, ..Part::of(point.clone()) }]);
        let bodies = vec![body(1, vec![channel(1.0)]), ball.placed(at(0.0, 0.0, 2.5))];
        let report = step(&mut open(bodies), &frame(1, vec![]), &everything());
        assert_eq!(report.pairs[0].verdict, Some(verdict), "{radius}");
    }
}

/// What nothing but a polytope with volume can be beside is refused where it is declared, whichever
/// comes first.
#[test]
fn what_is_not_answered_beside_polyhedra_is_refused_where_it_is_declared() {
    let flat = || Body::solid(2, Arc::new(samples::polygon(5)));
    let solid = || body(1, vec![channel(1.0)]);
    let refused = |declaration, methods: Methods| {
        Scene::open(declaration, methods, LIMITS).map(drop).unwrap_err()
    };
    let default = Methods::default();
    let declared = |bodies| Declaration { bodies, ..Declaration::default() };
    let wrong = |path: &str, problem| DeclarationError::new(path.to_owned(), problem);
    assert_eq!(
        refused(declared(vec![flat(), solid()]), default),
        wrong("bodies[0].parts[0]", Problem::FlatBesideMesh)
    );
    let added = |scene: &mut Scene, body: Body| {
        let next = Frame { added: vec![body], ..frame(1, vec![]) };
        scene.apply(&next).unwrap_err()
    };
    let problem = wrong("added_bodies[0].parts[0]", Problem::FlatBesideMesh);
    assert_eq!(added(&mut open(vec![solid()]), flat()), problem.clone().into());
    assert_eq!(added(&mut open(vec![flat()]), solid()), problem.into());
    let named = Methods::from(&METHODS[1]);
    assert_eq!(
        refused(declared(vec![solid()]), named),
        wrong("bodies[0].parts[0]", Problem::NotOfMeshes)
    );
}

/// Channels in their own frame, elsewhere in the body's, and with a box beside them; small bodies
/// in and around them.
fn mixed(random: &mut Random) -> Declaration {
    let channel = channel(1.0);
    let aside = Part { body_from_part: random.pose(Vec3::new(0.5, 0.0, -1.0)), ..channel.clone() };
    let knob = Part { body_from_part: at(0.0, 0.0, 3.5), ..Part::of(cube(0.4)) };
    let lists = [
        vec![channel.clone()],
        vec![aside],
        vec![channel, knob],
        vec![shell(1.5, 1.2)],
        vec![Part::of(cube(0.5))],
        vec![Part::of(Arc::new(samples::ball(20, 3)))],
        vec![Part { radius: 0.2, ..Part::of(cube(0.2)) }],
    ];
    let bodies = (1..).zip(lists).map(|(id, parts)| {
        let place = random.vector() * 2.0;
        let margin = [0.0, 0.1, -0.02][random.below(3) as usize];
        Body { margin, ..body(id, parts).placed(random.pose(place)) }
    });
    Declaration { bodies: bodies.collect(), release_margin: 0.02, ..Declaration::default() }
}

/// Moves every body a little, most by less than what their verdicts have room for.
fn creep(scene: &Scene, id: u64, random: &mut Random) -> Frame {
    let mut moves = Vec::new();
    for body in scene.bodies() {
        let reach = match random.below(40) {
            0 => 0.3,
            1..30 => 0.02,
            _ => 1e-6,
        };
        let turn = random.vector() * reach;
        let turn = Pose::from_quaternion(Vec3::zeros(), [1.0, turn.x, turn.y, turn.z]).unwrap();
        let mut pose = turn.compose(&Pose { translation: Vec3::zeros(), ..body.pose });
        pose.translation = body.pose.translation + random.vector() * reach;
        moves.push(moved(body.id.0, pose));
    }
    frame(id, moves)
}

/// What is remembered, and who sleeps, changes nothing that is told.
#[test]
fn a_scene_with_polyhedra_tells_the_same_whatever_it_remembers() {
    let (mut told, mut slept) = (0, 0);
    for (seed, between) in [(1, None), (2, Some(Between::default())), (3, None)] {
        let declared = mixed(&mut Random(seed));
        let [mut warm, mut cold] = [declare(declared.clone()), declare(declared)];
        let questions = Questions { between, distances: true, ..Questions::default() };
        let mut random = Random(60 + seed);
        for id in 1..60 {
            let next = creep(&warm, id, &mut random);
            let remembered = step(&mut warm, &next, &questions);
            cold.forget_witnesses();
            let from_cold = step(&mut cold, &next, &questions);
            assert_eq!(remembered.tally, from_cold.tally, "{seed} {id}");
            agree(&remembered, &from_cold);
            told += remembered.events.len();
            slept += remembered.counters.pairs_asleep;
            if id % 6 > 0 {
                continue;
            }
            let all = step(&mut open_as(&warm), &frame(id + 1, vec![]), &all());
            let in_contact = verdicts(&all).values().filter(|v| **v != Verdict::Separated).count();
            let tally = remembered.tally;
            assert_eq!((tally.touching + tally.overlapping) as usize, in_contact, "{seed} {id}");
        }
    }
    assert!(told > 10 && slept > 20, "{told} {slept}");
}

/// What only faces keep apart sleeps, too, while no point of it has moved as far as these are
/// apart; a long body is looked at sooner when it turns.
#[test]
fn a_body_in_a_cavity_sleeps_until_it_may_have_reached_the_wall() {
    let rod = Body::solid(2, Arc::new(samples::cuboid(1.5, 0.1, 0.1)));
    let mut scene = open(vec![body(1, vec![shell(3.0, 2.0)]), rod]);
    let mut looked_at = 0;
    for id in 1..=40 {
        let next = frame(id, vec![moved(2, at(0.01 * id as f64, 0.0, 0.0))]);
        let report = step(&mut scene, &next, &Questions::default());
        assert_eq!((report.tally.separated, report.events.len()), (1, 0));
        looked_at += 1 - report.counters.pairs_asleep;
    }
    assert!(looked_at < 8, "{looked_at}");
    // By a quarter turn it is as far from the walls again; by less its end is nearer to an edge.
    let mut told = Vec::new();
    for id in 41..=80 {
        let angle = f64::from(id as u32 - 40) * 0.02;
        let turned = Pose::from_quaternion(
            Vec3::new(0.55, 0.55, 0.0),
            [(angle / 2.0).cos(), 0.0, 0.0, (angle / 2.0).sin()],
        );
        let report =
            step(&mut scene, &frame(id, vec![moved(2, turned.unwrap())]), &Questions::default());
        let stands = verdicts(&step(&mut open_as(&scene), &frame(id + 1, vec![]), &all()));
        let touches = stands[&(1, 2)] != Verdict::Separated;
        assert_eq!(report.tally.separated == 0, touches, "{angle}");
        told.push(touches);
    }
    assert!(told.contains(&true) && told.contains(&false), "{told:?}");
}

/// The same scene, opened anew.
fn open_as(scene: &Scene) -> Scene {
    declare(scene.declaration())
}

/// A budget that ends before the faces have told leaves the pair open, and the next frame tells it.
#[test]
fn a_pair_that_a_budget_left_open_is_told_later() {
    let bodies = vec![
        body(1, vec![channel(1.0)]),
        body(2, vec![shell(0.5, 0.25)]).placed(at(0.0, 0.0, 2.0)),
    ];
    let mut scene = open(bodies);
    let next = frame(1, vec![moved(2, at(0.125, 0.0, 2.0))]);
    let report = step(&mut scene, &next, &Questions { steps_max: 1, ..all() });
    assert_eq!((report.pairs[0].verdict, report.tally.stopped), (None, 1));
    assert!(report.pairs[0].stopped.is_some());
    let report = step(&mut scene, &frame(2, vec![]), &Questions::default());
    assert_eq!((report.tally.stopped, report.tally.separated), (0, 1));
}

/// What a look at many faces takes is asked for before, and where it is not there, the frame is not
/// answered.
#[test]
fn a_frame_without_room_to_look_at_faces_is_not_answered() {
    use super::meet::Cramped;
    use crate::Unanswered;
    let peg = Body::solid(2, cube(0.5)).placed(at(0.0, 0.0, 2.0));
    let mut scene = open(vec![body(1, vec![channel(1.0)]), peg]);
    scene.apply(&frame(1, vec![moved(2, at(0.25, 0.0, 2.0))])).unwrap();
    let refused = scene.answer(&all(), &Cramped, Until::never());
    assert!(matches!(refused, Err(Unanswered::NoRoom)), "{refused:?}");
    let report = scene.answer(&all(), &Serial, Until::never()).unwrap();
    assert_eq!(verdicts(&report)[&(1, 2)], Verdict::Separated);
}

/// A body that becomes what it was as other parts keeps its contacts.
#[test]
fn a_body_that_changes_from_boxes_to_a_mesh_keeps_its_contacts() {
    let peg = Body::solid(2, cube(0.5)).placed(at(0.0, 0.0, 1.25));
    let mut scene = open(vec![body(1, channel_of_boxes()), peg]);
    let change = |parts| BodyChange { parts, ..super::changes::same(1) };
    for (id, parts) in [(1, vec![channel(1.0)]), (2, channel_of_boxes()), (3, vec![channel(1.0)])] {
        let next = Frame { changed: vec![change(parts)], ..frame(id, vec![]) };
        let report = step(&mut scene, &next, &everything());
        assert_eq!(report.pairs[0].verdict, Some(Verdict::Overlapping));
        assert_eq!(report.events, [], "{id}");
    }
    // In the slot, where the hull of what it was would meet it.
    let next = frame(4, vec![moved(2, at(0.0, 0.0, 2.0))]);
    let report = step(&mut scene, &next, &everything());
    assert_eq!(events(&report), [(EventKind::Ended, 1, 2)]);
}

/// A part of another size.
pub(super) fn scaled(part: &Part, by: f64) -> Part {
    let mesh = part.mesh.as_ref().unwrap();
    let vertices: Vec<Vec3> = mesh.surface().vertices().iter().map(|v| v * by).collect();
    mesh_of(&vertices, mesh.surface().triangles())
}

/// Beside what a robot moves, the ways are looked at by faces, too: a channel is met when its boxes
/// are.
#[test]
fn a_robot_in_a_channel_stands_and_goes_as_among_its_boxes() {
    use super::robots::{frame, on_the_way, placed, to};
    const ROBOT: u32 = 100;
    let robot = Arc::new(samples::panda());
    let scene = |parts: Vec<Part>| {
        let place = at(0.45, 0.0, 0.1);
        let bodies = vec![Body { fixed: true, ..body(1, parts).placed(place) }];
        let robots = vec![placed(ROBOT, &robot)];
        declare(Declaration { bodies, robots, ..Declaration::default() })
    };
    let small = |half: [f64; 3], x: f64, z: f64| {
        let polytope = Arc::new(samples::cuboid(half[0], half[1], half[2]));
        Part { body_from_part: at(x, 0.0, z), ..Part::of(polytope) }
    };
    let boxes = vec![
        small([0.4, 0.3, 0.1], 0.0, 0.1),
        small([0.1, 0.3, 0.3], -0.3, 0.3),
        small([0.1, 0.3, 0.3], 0.3, 0.3),
    ];
    let (mut of_mesh, mut of_boxes) = (scene(vec![scaled(&channel(1.0), 0.2)]), scene(boxes));
    let mut met = 0;
    for (k, values) in samples::configurations(8, &mut Random(5)).chunks_exact(8).enumerate() {
        let next = frame(1 + k as u64, vec![to(ROBOT, values)]);
        let [mesh, boxes] =
            [&mut of_mesh, &mut of_boxes].map(|scene| step(scene, &next, &on_the_way()));
        let stand = |report: &Report| {
            let pairs = report.pairs.iter().filter(|pair| pair.verdict != Some(Verdict::Separated));
            pairs.map(|pair| (pair.p, pair.q, pair.verdict)).collect::<Vec<_>>()
        };
        assert_eq!(stand(&mesh), stand(&boxes), "{k}");
        for event in &boxes.events {
            let of_pair = mesh.events.iter().filter(|e| (e.p, e.q) == (event.p, event.q));
            let told = of_pair.clone().find(|other| other.kind == event.kind);
            let Some(told) = told else { panic!("{event:?} of {k} is missing: {:?}", mesh.events) };
            meet(told.bracket, event.bracket, "the way");
            met += 1;
        }
        assert_eq!(mesh.events.len(), boxes.events.len(), "{k}");
    }
    assert!(met > 4, "{met}");
}

/// Whatever order the pairs are looked at in, proofs included; and who asks for proofs is told the
/// same as who does not.
#[test]
fn answers_about_polyhedra_are_bit_identical_in_any_order_of_the_pairs() {
    use super::laws::Reversed;
    let declared = mixed(&mut Random(9));
    let [mut serial, mut reversed, mut unproven] = [0; 3].map(|_| declare(declared.clone()));
    let proven = Questions { certificates: true, ..everything() };
    let mut random = Random(99);
    let (mut of_faces, mut left_out) = (0, 0);
    for id in 1..12 {
        let next = creep(&serial, id, &mut random);
        let report = step(&mut serial, &next, &proven);
        let other = reversed.step(&next, &proven, &Reversed).unwrap().report;
        assert_eq!((&report.pairs, &report.events), (&other.pairs, &other.events), "{id}");
        agree(&report, &step(&mut unproven, &next, &everything()));
        for pair in &report.pairs {
            let by_faces = |proof: &PartsProof| matches!(proof, PartsProof::Faces(_));
            of_faces += pair.proofs.iter().filter(|one| by_faces(&one.proof)).count();
            left_out += usize::from(pair.is_beyond_proof);
            assert!(!pair.is_beyond_proof || pair.proofs.is_empty());
        }
    }
    assert!(of_faces > 20 && left_out > 20, "{of_faces} {left_out}");
}

/// Pairs that are ranked by their clearance: what is apart is ranked as boxes are, and of what
/// overlaps it is told how deep it may be at most.
#[test]
fn pairs_with_polyhedra_are_ranked_as_far_as_their_clearance_is_known() {
    let bodies = |channel: &[Part]| crowd(channel, &mut Random(77));
    let (mut of_mesh, mut of_boxes) =
        (open(bodies(&[channel(1.0)])), open(bodies(&channel_of_boxes())));
    let mut random = Random(78);
    let (mut apart, mut overlapping) = (0, 0);
    for id in 1..10 {
        let next = wander(&of_mesh, id, &mut random);
        let below = [None, Some(0.75), Some(-0.1)][id as usize % 3];
        let nearest = if below.is_none() { 10 } else { 0 };
        let questions = Questions { nearest, below, ..Questions::default() };
        let reports = [&mut of_mesh, &mut of_boxes].map(|scene| step(scene, &next, &questions));
        let ranked = |report: &Report| {
            let each = report.ranking.iter().map(|pair| ((pair.p.0, pair.q.0), pair.clearance));
            each.collect::<BTreeMap<_, _>>()
        };
        let [mesh, boxes] = reports.each_ref().map(|report| ranked(report));
        for (pair, clearance) in &boxes {
            assert!(mesh.contains_key(pair), "{pair:?} {clearance:?} in {mesh:?}");
            meet(mesh[pair], *clearance, "clearance");
            apart += usize::from(clearance[0] > 0.0);
            overlapping += usize::from(clearance[1] < 0.0);
        }
        for (pair, clearance) in &mesh {
            let is_open = clearance[0] < 0.0;
            assert!(boxes.contains_key(pair) || is_open, "{pair:?} {clearance:?} in {boxes:?}");
        }
    }
    assert!(apart > 5 && overlapping > 5, "{apart} {overlapping}");
}
