//! Bodies with polyhedra: beside the same bodies as compounds of boxes, inside each other, and in
//! contact by a hair.

use super::*;
use crate::declared::question::Between;
use crate::pairs::report::PairReport;
use crate::{DeclarationError, Methods, Problem};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polyhedron::Polyhedron;

fn mesh(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Part {
    let mesh = Polyhedron::new(vertices, triangles, &mut Effort::unlimited()).unwrap();
    Part::of_mesh(Arc::new(mesh), Arc::new(convex_hull(vertices).unwrap().polytope))
}

/// A channel along y: a floor from z = 0 to 1, and walls from x = 1 to 2 on either side, up to 3.
/// `inner` in place of 1 is where the walls begin.
fn channel(inner: f64) -> Part {
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
    mesh(&vertices, &triangles)
}

/// The same as three boxes.
fn channel_of_boxes() -> Vec<Part> {
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
fn shell(outer: f64, inner: f64) -> Part {
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
    mesh(&vertices, &triangles)
}

fn body(id: u32, parts: Vec<Part>) -> Body {
    Body { id: BodyId(id), parts, ..Body::without_parts() }
}

/// Two channels, a box, a ball of many corners and a capsule, near each other.
fn crowd(channel: &[Part], random: &mut Random) -> Vec<Body> {
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
fn everything() -> Questions {
    Questions {
        distances: true,
        normals: true,
        impacts: true,
        between: Some(Between::default()),
        ..all()
    }
}

#[track_caller]
fn meet(a: [f64; 2], b: [f64; 2], what: &str) {
    let slack = 1e-12 * (1.0 + a[1].abs());
    assert!(a[0] <= b[1] + slack && b[0] <= a[1] + slack, "{what}: {a:?} {b:?}");
}

/// What two scenes say that hold the same bodies, whatever is remembered and whatever proves it.
#[track_caller]
fn agree(a: &Report, b: &Report) {
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
            pair.distance.as_ref().map(|found| [found.lower, found.upper]).unwrap()
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
    mesh(hull.vertices(), &triangles)
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
