//! Against the convex methods, part by part, and by hand where that says nothing.
#![expect(clippy::float_cmp, reason = "exact values are meant")]

mod facets;
mod proofs;
mod several;
mod start;

use super::*;
use crate::claim::Outcome;
use crate::contact_time;
use crate::hull::convex_hull;
use crate::motion::Motion;
use crate::pair::Pair;
use crate::pair::Question;
use crate::polyhedron::{Polyhedron, PolyhedronError};
use crate::polytope::Polytope;
use crate::samples::{Random, ball, lattice};
use crate::witness::Witness;

/// A body with convex parts whose union it is.
struct Solid {
    name: &'static str,
    mesh: Polyhedron,
    parts: Vec<Polytope>,
}

fn build(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Polyhedron, PolyhedronError> {
    let vertices: Vec<Vec3> = points.iter().map(|&p| Vec3::from(p)).collect();
    Polyhedron::new(&vertices, triangles, &mut Effort::unlimited())
}

/// The surface of a convex solid.
fn surface(polytope: &Polytope) -> Result<Polyhedron, PolyhedronError> {
    let fan = |row: &[u32]| -> Vec<[u32; 3]> {
        row.windows(2).skip(1).map(|w| [row[0], w[0], w[1]]).collect()
    };
    let triangles: Vec<_> = polytope.facets().rows().flat_map(fan).collect();
    Polyhedron::new(polytope.vertices(), &triangles, &mut Effort::unlimited())
}

/// A polygon, counter-clockwise and cut into triangles, over heights from `low` to `high`.
fn extruded(polygon: &[[f64; 2]], cut: &[[u32; 3]], [low, high]: [f64; 2]) -> Polyhedron {
    let count = u32::try_from(polygon.len()).unwrap();
    let at = |z: f64| polygon.iter().map(move |&[x, y]| [x, y, z]);
    let points: Vec<[f64; 3]> = at(low).chain(at(high)).collect();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for &[a, b, c] in cut {
        triangles.push([a, c, b]);
        triangles.push([a + count, b + count, c + count]);
    }
    for i in 0..count {
        let next = (i + 1) % count;
        triangles.push([i, next, next + count]);
        triangles.push([i, next + count, i + count]);
    }
    build(&points, &triangles).unwrap()
}

fn cuboid([x0, x1]: [f64; 2], [y0, y1]: [f64; 2], z: [f64; 2]) -> Polyhedron {
    extruded(&[[x0, y0], [x1, y0], [x1, y1], [x0, y1]], &[[0, 1, 2], [0, 2, 3]], z)
}

fn block([x0, x1]: [f64; 2], [y0, y1]: [f64; 2], [z0, z1]: [f64; 2]) -> Polytope {
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let pick = |bit: u32, a: f64, b: f64| if i & bit == 0 { a } else { b };
            Vec3::new(pick(1, x0, x1), pick(2, y0, y1), pick(4, z0, z1))
        })
        .collect();
    convex_hull(&corners).unwrap().polytope
}

fn l_shape() -> Solid {
    let outline = [[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 2.], [0., 2.]];
    Solid {
        name: "L",
        mesh: extruded(&outline, &[[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]], [0., 1.]),
        parts: vec![block([0., 2.], [0., 1.], [0., 1.]), block([0., 1.], [0., 2.], [0., 1.])],
    }
}

/// Open towards +y; the slot is 1 wide and its bottom at y = 1.
fn u_shape() -> Solid {
    let outline = [[0., 0.], [3., 0.], [3., 3.], [2., 3.], [2., 1.], [1., 1.], [1., 3.], [0., 3.]];
    let cut = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]];
    Solid {
        name: "U",
        mesh: extruded(&outline, &cut, [0., 1.]),
        parts: vec![
            block([0., 3.], [0., 1.], [0., 1.]),
            block([0., 1.], [0., 3.], [0., 1.]),
            block([2., 3.], [0., 3.], [0., 1.]),
        ],
    }
}

/// A square ring in the plane z = 0: from 1 to 2 beside its middle, half a unit high.
fn ring() -> Solid {
    let mut points = Vec::new();
    for z in [-0.25, 0.25] {
        for size in [2.0, 1.0] {
            points.extend([[-size, -size, z], [size, -size, z], [size, size, z], [-size, size, z]]);
        }
    }
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    let mut quad = |a, b, c, d| triangles.extend([[a, b, c], [a, c, d]]);
    for i in 0..4 {
        let next = (i + 1) % 4;
        quad(8 + i, 8 + next, 12 + next, 12 + i); // top
        quad(next, i, 4 + i, 4 + next); // bottom
        quad(i, next, 8 + next, 8 + i); // outside
        quad(4 + next, 4 + i, 12 + i, 12 + next); // inside
    }
    let z = [-0.25, 0.25];
    Solid {
        name: "ring",
        mesh: build(&points, &triangles).unwrap(),
        parts: vec![
            block([-2., 2.], [-2., -1.], z),
            block([-2., 2.], [1., 2.], z),
            block([-2., -1.], [-2., 2.], z),
            block([1., 2.], [-2., 2.], z),
        ],
    }
}

fn convex(polytope: Polytope) -> Solid {
    Solid { name: "convex", mesh: surface(&polytope).unwrap(), parts: vec![polytope] }
}

fn ask(p: &Moving<'_>, q: &Moving<'_>) -> FirstContact {
    first_contact(p, q, &mut Effort::unlimited()).unwrap()
}

fn at(body: &Polyhedron, translation: [f64; 3], velocity: [f64; 3]) -> Moving<'_> {
    let [x, y, z] = translation;
    let travel = Travel::by(&Vec3::from(velocity));
    Moving { body, pose: Pose::translation(x, y, z), travel }
}

/// What the convex method says of all pairs of parts: the first bracket, and the verdicts at t = 0.
fn by_parts(
    [p, q]: [&Solid; 2],
    poses: [Pose; 2],
    velocities: [Vec3; 2],
) -> (Option<[f64; 2]>, Vec<Verdict>) {
    let [velocity_p, velocity_q] = velocities.map(|velocity| Motion::Linear { velocity });
    let mut verdicts = Vec::new();
    let mut first: Option<[f64; 2]> = None;
    for part_p in &p.parts {
        for part_q in &q.parts {
            let pair = Pair::new(part_p, poses[0], part_q, poses[1]);
            let question = Question::new(pair, velocity_p, velocity_q);
            let mut effort = Effort::unlimited();
            let answer =
                contact_time::first_contact(&question, &mut Witness::default(), &mut effort)
                    .unwrap();
            verdicts.push(answer.initial.verdict());
            if answer.outcome == Outcome::Contact {
                let bracket = [answer.t_free, answer.t_contact];
                if first.is_none_or(|best| bracket < best) {
                    first = Some(bracket);
                }
            }
        }
    }
    (first, verdicts)
}

/// Holds an answer to that of the parts; which kind of answer it was.
fn compare(solids: [&Solid; 2], poses: [Pose; 2], velocities: [Vec3; 2], story: &str) -> usize {
    let story = format!("{story}: {} and {}", solids[0].name, solids[1].name);
    let moving = [0, 1].map(|k| Moving {
        body: &solids[k].mesh,
        pose: poses[k],
        travel: Travel::by(&velocities[k]),
    });
    let answer = ask(&moving[0], &moving[1]);
    let (first, verdicts) = by_parts(solids, poses, velocities);
    let bracket = answer.contact.map(|contact| [contact.t_free, contact.t_contact]);
    assert_eq!(bracket, first, "{story}: {answer:?}");
    assert_eq!(Some(answer.initial), verdicts.into_iter().max(), "{story}: {answer:?}");
    match answer.initial {
        Verdict::Separated => usize::from(answer.contact.is_some()),
        Verdict::Touching => 2,
        Verdict::Overlapping => 3,
    }
}

#[test]
fn surfaces_of_convex_solids_meet_when_the_convex_method_says_to_the_last_bit() {
    let mut counts = [0; 4];
    for seed in 0..if cfg!(debug_assertions) { 250 } else { 20_000 } {
        let mut random = Random(seed);
        let solids = [0, 1].map(|k| convex(ball(4 + random.below(40), 2 * seed + k)));
        let poses = [0, 1].map(|_| {
            let offset = random.vector() * 2.0;
            random.pose(offset)
        });
        let velocities = [0, 1].map(|_| random.vector() * 2.0);
        let kind = compare([&solids[0], &solids[1]], poses, velocities, &format!("seed {seed}"));
        counts[kind] += 1;
    }
    assert_eq!(counts[2], 0, "{counts:?}");
    assert!(counts[0] > 20 && counts[1] > 20 && counts[3] > 20, "{counts:?}");
}

#[test]
fn bodies_that_are_not_convex_meet_when_the_first_of_their_convex_parts_do() {
    let solids = [l_shape(), u_shape(), ring(), convex(ball(20, 5))];
    let mut counts = [0; 4];
    for seed in 0..if cfg!(debug_assertions) { 250 } else { 20_000 } {
        let mut random = Random(seed);
        let pair = [0, 1].map(|_| &solids[random.below(4) as usize]);
        let far = 10f64.powi(i32::try_from(random.below(6)).unwrap());
        let offset = random.vector() * far;
        let poses = [0, 1].map(|_| {
            let aside = offset + random.vector() * 3.0;
            random.pose(aside)
        });
        let velocities = [0, 1].map(|_| random.vector() * 6.0);
        counts[compare(pair, poses, velocities, &format!("seed {seed}"))] += 1;
    }
    assert!(counts[0] > 20 && counts[1] > 20 && counts[3] > 20, "{counts:?}");
}

/// Faces slide on faces, edges on edges, and vertices come to vertices: nothing is in general
/// position, and most pairs of faces that meet are partly parallel.
#[test]
fn bodies_on_a_grid_meet_when_the_first_of_their_convex_parts_do() {
    let solids = [l_shape(), u_shape(), ring()];
    let mut counts = [0; 4];
    for seed in 0..if cfg!(debug_assertions) { 500 } else { 50_000 } {
        let mut random = Random(seed);
        let pair = [0, 1].map(|_| &solids[random.below(3) as usize]);
        let grid = |random: &mut Random, unit: f64, size: u32| {
            Vec3::from_fn(|_, _| (f64::from(random.below(2 * size + 1)) - f64::from(size)) * unit)
        };
        let poses = [0, 1].map(|_| {
            let at = grid(&mut random, 0.5, 6);
            let quarter = crate::Mat3::new(0., -1., 0., 1., 0., 0., 0., 0., 1.);
            let cycle = crate::Mat3::new(0., 1., 0., 0., 0., 1., 1., 0., 0.);
            let rotation = (0..random.below(3)).fold(quarter, |turned, _| turned * cycle);
            Pose { rotation, translation: at }
        });
        let velocities = [0, 1].map(|_| grid(&mut random, 1.0, 2));
        counts[compare(pair, poses, velocities, &format!("seed {seed}"))] += 1;
    }
    assert!(counts.iter().all(|n| *n > 20), "{counts:?}");
}

#[test]
fn solids_of_small_integers_meet_when_the_convex_method_says() {
    let (mut counts, mut seed) = ([0; 4], 0);
    while counts.iter().sum::<i32>() < 500 {
        seed += 1;
        let mut random = Random(seed);
        let polytopes = [lattice(&mut random), lattice(&mut random)];
        if polytopes.iter().any(|polytope| polytope.dimension() < 3) {
            continue;
        }
        let solids = polytopes.map(convex);
        let grid = |random: &mut Random| Vec3::from_fn(|_, _| f64::from(random.below(9)) - 4.0);
        let poses = [0, 1].map(|_| Pose { translation: grid(&mut random), ..Pose::identity() });
        let velocities = [0, 1].map(|_| grid(&mut random));
        let kind = compare([&solids[0], &solids[1]], poses, velocities, &format!("seed {seed}"));
        counts[kind] += 1;
    }
    assert!(counts.iter().all(|n| *n > 10), "{counts:?}");
}

#[test]
fn numbers_of_any_size_are_decided() {
    let mut counts = [0; 4];
    for exponent in [-1060, -700, -510, -340, -300, 300, 340, 341, 510, 511, 700, 940] {
        let unit = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
        for seed in 0..12 {
            let mut random = Random(seed);
            let solids = [0, 1].map(|k| {
                let points: Vec<Vec3> =
                    ball(6, 100 + 2 * seed + k).vertices().iter().map(|v| v * unit).collect();
                convex(convex_hull(&points).unwrap().polytope)
            });
            let poses = [0, 1]
                .map(|_| Pose { translation: random.vector() * (2.0 * unit), ..Pose::identity() });
            let velocities = [0, 1].map(|_| random.vector() * (3.0 * unit));
            let story = format!("2^{exponent}, seed {seed}");
            counts[compare([&solids[0], &solids[1]], poses, velocities, &story)] += 1;
        }
    }
    assert!(counts[0] > 5 && counts[1] > 5, "{counts:?}");
}

#[test]
fn a_peg_enters_a_slot_and_touches_its_bottom_at_the_very_end() {
    let slot = u_shape().mesh;
    let peg = cuboid([-0.25, 0.25], [0., 4.], [0.25, 0.75]);
    let still = at(&slot, [0.; 3], [0.; 3]);
    let answer = ask(&still, &at(&peg, [1.5, 4., 0.], [0., -3., 0.]));
    let contact = answer.contact.unwrap();
    assert_eq!((answer.initial, contact.t_contact), (Verdict::Separated, 1.0));
    assert_eq!(contact.t_free, 1f64.next_down());
    assert_eq!(contact.point.unwrap().y, 1.0);
    // A bit less far it stays free; off the middle it meets the rim when it gets there.
    let short = ask(&still, &at(&peg, [1.5, 4., 0.], [0., (-3f64).next_up(), 0.]));
    assert_eq!(short.contact, None);
    let aside = ask(&still, &at(&peg, [1.125, 4., 0.], [0., -4., 0.]));
    assert_eq!(aside.contact.unwrap().t_contact, 0.25);
    // Exactly as wide as the slot it grazes the rim at once, and is stopped there.
    let tight = cuboid([-0.5, 0.5], [0., 4.], [0.25, 0.75]);
    let graze = ask(&still, &at(&tight, [1.5, 4., 0.], [0., -4., 0.]));
    assert_eq!(graze.contact.unwrap().t_contact, 0.25);
    // A bit narrower on the right, it goes in if it drifts off the left side by the least number.
    let narrower = cuboid([-0.5, 0.5f64.next_down()], [0., 4.], [0.25, 0.75]);
    let sliding = |drift: f64| ask(&still, &at(&narrower, [1.5, 4., 0.], [drift, -2., 0.])).contact;
    assert_eq!(sliding(0.0).unwrap().t_contact, 0.5);
    assert_eq!(sliding(f64::from_bits(1)), None);
}

#[test]
fn a_graze_is_told_from_a_miss_by_the_least_number() {
    let body = l_shape().mesh;
    let still = at(&body, [0.; 3], [0.; 3]);
    let passing = |x: f64| ask(&still, &at(&body, [x, -4., 0.], [0., 8., 0.])).contact;
    assert_eq!(passing(2.0).unwrap().t_contact, 0.25);
    assert_eq!(passing(2f64.next_up()), None);
    // In the notch of the L: with y from 1 on only the upright arm is in the way.
    let into_notch = |y: f64| ask(&still, &at(&body, [4., y, 0.], [-4., 0., 0.])).contact;
    assert_eq!(into_notch(1f64.next_up()).unwrap().t_contact, 0.75);
    assert_eq!(into_notch(1.0).unwrap().t_contact, 0.5);
}

#[test]
fn linked_rings_part_only_as_far_as_the_link_lets_them() {
    let solid = ring();
    let upright = crate::Mat3::new(1., 0., 0., 0., 0., -1., 0., 1., 0.);
    let linked = |velocity: [f64; 3]| {
        let pose = Pose { rotation: upright, translation: Vec3::new(1.5, 0., 0.) };
        let travel = Travel::by(&Vec3::from(velocity));
        let other = Moving { body: &solid.mesh, pose, travel };
        ask(&at(&solid.mesh, [0.; 3], [0.; 3]), &other)
    };
    // The other ring reaches from x = -0.5 to 3.5, its hole from 0.5 to 2.5: half a unit to go.
    let apart = linked([4., 0., 0.]);
    assert_eq!((apart.initial, apart.contact.unwrap().t_contact), (Verdict::Separated, 0.125));
    assert_eq!(linked([0., 0., 0.5]).contact, None);
    // Unlinked and parallel, one goes through nothing.
    let beside = at(&solid.mesh, [4.5, 0., 2.], [0., 0., -4.]);
    assert_eq!(ask(&at(&solid.mesh, [0.; 3], [0.; 3]), &beside).contact, None);
    // A rod through the hole.
    let rod = cuboid([-0.75, 0.75], [-0.75, 0.75], [0., 5.]);
    let falling = at(&rod, [0., 0., 1.], [0., 0., -9.]);
    assert_eq!(ask(&at(&solid.mesh, [0.; 3], [0.; 3]), &falling).contact, None);
}

/// A cube of side 4 with a hollow of side 2.
fn hollow() -> Polyhedron {
    let outer = cuboid([-2., 2.], [-2., 2.], [-2., 2.]);
    let inner = cuboid([-1., 1.], [-1., 1.], [-1., 1.]);
    let mut vertices = outer.vertices().to_vec();
    vertices.extend_from_slice(inner.vertices());
    let mut triangles = outer.triangles().to_vec();
    triangles.extend(inner.triangles().iter().map(|&[a, b, c]| [a + 8, c + 8, b + 8]));
    Polyhedron::new(&vertices, &triangles, &mut Effort::unlimited()).unwrap()
}

#[test]
fn a_body_in_a_hollow_meets_its_wall_from_inside() {
    let shell = hollow();
    assert_eq!(shell.shell_count(), 2);
    let still = at(&shell, [0.; 3], [0.; 3]);
    let small = cuboid([-0.25, 0.25], [-0.25, 0.25], [-0.25, 0.25]);
    let answer = ask(&still, &at(&small, [0.; 3], [1.5, 0., 0.]));
    assert_eq!((answer.initial, answer.contact.unwrap().t_contact), (Verdict::Separated, 0.5));
    assert_eq!(ask(&at(&small, [0.; 3], [0.1; 3]), &still).contact, None);
    // In the wall; around all; and on the wall.
    let in_wall = ask(&still, &at(&small, [1.5, 0., 0.], [0.; 3]));
    assert_eq!(in_wall.initial, Verdict::Overlapping);
    let contact = in_wall.contact.unwrap();
    assert!(matches!(contact.faces, Faces::QInP { .. }) && contact.t_contact == 0.0);
    let large = cuboid([-5., 5.], [-5., 5.], [-5., 5.]);
    assert_eq!(ask(&still, &at(&large, [0.; 3], [0.; 3])).initial, Verdict::Overlapping);
    assert_eq!(ask(&still, &at(&small, [0.75, 0., 0.], [0.; 3])).initial, Verdict::Touching);
    // A body that fills the hollow from wall to wall, or all but a bit of it.
    let filling = |x: f64| {
        let body = cuboid([-x, x], [-0.5, 0.5], [-0.5, 0.5]);
        ask(&still, &at(&body, [0.; 3], [0.; 3])).initial
    };
    assert_eq!(filling(1.0), Verdict::Touching);
    assert_eq!(filling(1f64.next_down()), Verdict::Separated);
}

#[test]
fn the_first_collision_is_that_of_the_first_pair_and_ties_go_to_the_lowest() {
    let cube = cuboid([0., 1.], [0., 1.], [0., 1.]);
    let collide =
        |bodies: &[Moving<'_>]| first_collision(bodies, &mut Effort::unlimited()).unwrap();
    let row = |x: f64, v: f64| at(&cube, [x, 0., 0.], [v, 0., 0.]);
    let first = collide(&[row(0., 0.), row(9., -4.), row(3., 4.), row(-8., 4.)]).unwrap();
    assert_eq!((first.pair, first.contact.t_contact), ([1, 2], 0.625));
    let tied = collide(&[row(9., 0.), row(0., 1.), row(1.5, 0.), row(-2., 0.), row(-3.5, 1.)]);
    let tied = tied.unwrap();
    assert_eq!((tied.pair, tied.contact.t_contact), ([1, 2], 0.5));
    // It was not said that others meet then.
    assert_eq!((tied.tied, first.tied), (vec![[3, 4]], vec![]));
    assert_eq!(collide(&[row(0., 0.), row(3., 0.), row(6., 5.)]), None);
    assert_eq!(collide(&[]), None);
    let at_once = collide(&[row(0., 0.), row(1.5, -4.), row(5., 0.), row(6., 0.)]).unwrap();
    assert_eq!((at_once.pair, at_once.initial), ([2, 3], Verdict::Touching));
}

#[test]
fn the_first_of_many_random_bodies_is_the_least_over_all_pairs() {
    let solids = [l_shape(), u_shape(), ring(), convex(ball(12, 1))];
    let mut met = 0;
    for seed in 0..20 {
        let mut random = Random(seed);
        let bodies: Vec<Moving<'_>> = (0..8)
            .map(|_| {
                let body = &solids[random.below(4) as usize].mesh;
                let offset = random.vector() * 12.0;
                Moving {
                    body,
                    pose: random.pose(offset),
                    travel: Travel::by(&(random.vector() * 6.0)),
                }
            })
            .collect();
        let mut least: Option<(f64, [usize; 2])> = None;
        for second in 1..bodies.len() {
            for first in 0..second {
                if let Some(contact) = ask(&bodies[first], &bodies[second]).contact {
                    let found = (contact.t_contact, [first, second]);
                    least =
                        Some(least.map_or(found, |best| if found < best { found } else { best }));
                }
            }
        }
        let found = first_collision(&bodies, &mut Effort::unlimited()).unwrap();
        let told = found.as_ref().map(|c| (c.contact.t_contact, c.pair));
        assert_eq!(told, least, "seed {seed}");
        met += u32::from(found.is_some());
    }
    assert!((5..20).contains(&met), "{met}");
}

#[test]
fn a_mesh_that_bounds_nothing_is_refused_with_its_reason() {
    let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]];
    let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    assert!(build(&corners, &faces).is_ok());
    let refuse =
        |points: &[[f64; 3]], triangles: &[[u32; 3]]| build(points, triangles).unwrap_err();
    assert_eq!(refuse(&corners, &faces[..3]), PolyhedronError::Count { found: 3 });
    let inverted = faces.map(|[a, b, c]| [a, c, b]);
    assert_eq!(refuse(&corners, &inverted), PolyhedronError::InsideOut { triangle: 0 });
    let turned = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 2, 3]];
    assert_eq!(refuse(&corners, &turned), PolyhedronError::EdgeTwice { from: 0, to: 2 });
    let mut open = l_shape().mesh.triangles().to_vec();
    let [a, b, _] = open.pop().unwrap();
    let points = l_shape().mesh.vertices().to_vec();
    let error = Polyhedron::new(&points, &open, &mut Effort::unlimited()).unwrap_err();
    assert!(matches!(error, PolyhedronError::Open { .. }), "{error} near {a} {b}");
    let far = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., f64::NAN]];
    assert_eq!(refuse(&far, &faces), PolyhedronError::Coordinate { vertex: 3 });
    let flat = [[0., 0., 0.], [1., 0., 0.], [2., 0., 0.], [0., 0., 1.]];
    assert_eq!(refuse(&flat, &faces), PolyhedronError::Degenerate { triangle: 0 });
    let missing = [[0, 2, 1], [0, 1, 4], [1, 2, 3], [0, 3, 2]];
    assert_eq!(refuse(&corners, &missing), PolyhedronError::NoVertex { triangle: 1, vertex: 4 });
    let coplanar = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0.25, 0.25, 0.]];
    assert!(matches!(refuse(&coplanar, &faces), PolyhedronError::Intersecting { .. }));
}

/// Two boxes as one mesh, the second moved.
fn two_boxes(offset: [f64; 3], inverted: bool) -> Result<Polyhedron, PolyhedronError> {
    let one = cuboid([0., 2.], [0., 2.], [0., 2.]);
    let mut vertices = one.vertices().to_vec();
    vertices.extend(one.vertices().iter().map(|v| v * 0.5 + Vec3::from(offset)));
    let mut triangles = one.triangles().to_vec();
    triangles.extend(
        one.triangles()
            .iter()
            .map(|&[a, b, c]| if inverted { [a + 8, c + 8, b + 8] } else { [a + 8, b + 8, c + 8] }),
    );
    Polyhedron::new(&vertices, &triangles, &mut Effort::unlimited())
}

#[test]
fn shells_must_not_meet_and_must_face_the_right_way() {
    assert!(two_boxes([3., 0., 0.], false).is_ok());
    assert!(matches!(two_boxes([3., 0., 0.], true), Err(PolyhedronError::InsideOut { .. })));
    assert!(two_boxes([0.5; 3], true).is_ok());
    assert!(matches!(two_boxes([0.5; 3], false), Err(PolyhedronError::InsideOut { .. })));
    for touching in [[2., 0.5, 0.5], [2., 2., 2.], [1.5, 0.25, 0.5], [1., 1., 1.], [2., 1., 2.]] {
        let error = two_boxes(touching, false).unwrap_err();
        assert!(matches!(error, PolyhedronError::Intersecting { .. }), "{touching:?}");
    }
    assert!(two_boxes([2f64.next_up(), 2., 2.], false).is_ok());
}
