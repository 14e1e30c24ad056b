//! Contacts at the start of a way, and where a way leaves what it meets: named cases, and random
//! ones beside exact verdicts a little farther on the way.
#![expect(clippy::float_cmp, reason = "numbers are the same to the last bit")]

use super::meshes::{channel, shell};
use super::queries::{MANY, point};
use super::*;
use crate::query::cast::{Cast, CastHit, StartContacts};
use crate::query::{BodyFilter, HitSelection, QueryShape, SceneView};
use clearance_geometry::polyhedron::{TriangleBody, TriangleSurface};

use StartContacts::{All, Deepening, Skipped};

fn placed(polytope: &Arc<Polytope>, pose: Pose) -> Part {
    Part { body_from_part: pose, ..Part::of(polytope.clone()) }
}

fn of_parts(id: u32, parts: Vec<Part>) -> Body {
    Body { parts, ..Body::solid(id, cube(1.0)) }
}

/// A floor up to y = 1, and a wall from x = 5 on: two parts of one body.
fn level() -> Body {
    let (floor, wall) = (samples::cuboid(5.0, 1.0, 5.0), samples::cuboid(1.0, 5.0, 5.0));
    let wall = placed(&Arc::new(wall), at(6.0, 4.0, 0.0));
    of_parts(1, vec![placed(&Arc::new(floor), Pose::identity()), wall])
}

/// The same floor and wall as the triangles of a grid, without an inside.
fn level_of_triangles() -> Body {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    let mut quad = |corners: [[i32; 3]; 4]| {
        let first = u32::try_from(vertices.len()).unwrap();
        vertices.extend(corners.map(|corner| Vec3::from(corner.map(f64::from))));
        triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    };
    for i in -5..5 {
        for j in -5..5 {
            quad([[i, 1, j], [i, 1, j + 1], [i + 1, 1, j + 1], [i + 1, 1, j]]);
            let up = j + 6;
            quad([[5, up, i], [5, up + 1, i], [5, up + 1, i + 1], [5, up, i + 1]]);
        }
    }
    let surface = TriangleSurface::new(&vertices, &triangles).unwrap();
    let hull = Arc::new(samples::hull(surface.vertices()));
    of_parts(1, vec![Part::of_mesh(TriangleBody::Surface(Arc::new(surface)), hull)])
}

/// What a shape meets first, and until when.
fn first(
    bodies: Vec<Body>,
    shape: &QueryShape,
    [from, by]: [[f64; 3]; 2],
    starts: StartContacts,
) -> Option<(CastHit, [f64; 2], Vec3)> {
    let scene = open(bodies);
    let filter = BodyFilter::default();
    let view = SceneView::new(&scene, &filter, MANY).unwrap();
    let start = shape.at(at(from[0], from[1], from[2]));
    let cast = Cast { starts, ..Cast::along(start, by.into()) };
    let effort = &mut Effort::unlimited();
    let hit = view.cast(&cast, HitSelection::First, effort).unwrap().into_iter().next()?;
    let leave = view.leave(&cast, &hit, effort).unwrap();
    let normal = view.impact(&cast, &hit, effort).unwrap().normal.unwrap_or_default();
    Some((hit, leave, normal))
}

fn rounded(points: &[[f64; 3]], radius: f64) -> QueryShape {
    let points: Vec<Vec3> = points.iter().map(|point| Vec3::from(*point)).collect();
    QueryShape::new(Arc::new(samples::hull(&points)), radius)
}

/// A box, a ball and a capsule of the same half height.
fn characters() -> [QueryShape; 3] {
    let high = [[0.0, -0.25, 0.0], [0.0, 0.25, 0.0]];
    [QueryShape::new(cube(0.5), 0.0), rounded(&[[0.0; 3]], 0.5), rounded(&high, 0.25)]
}

#[test]
fn what_rests_on_the_floor_of_a_body_is_not_kept_from_meeting_its_wall() {
    for body in [level(), level_of_triangles()] {
        for (at, shape) in characters().iter().enumerate() {
            let half = [0.5, 0.5, 0.25][at];
            let along = [[0.0, 1.5, 0.25], [6.0, 0.0, 0.0]];
            let start = first(vec![body.clone()], shape, along, All).unwrap();
            assert_eq!((start.0.time, start.0.part), ([0.0; 2], 0));
            for starts in [Deepening, Skipped] {
                let (hit, _, normal) = first(vec![body.clone()], shape, along, starts).unwrap();
                let time = (5.0 - half) / 6.0;
                let is_wall = body.parts.len() == 1 || hit.part == 1;
                assert!(is_wall && hit.time[0] <= time && time <= hit.time[1], "{hit:?} {time}");
                // Of rounded shapes the times of a first contact are as narrow as is asked for.
                assert!(hit.time[1] - hit.time[0] < 1e-8, "{hit:?}");
                assert!((normal + Vec3::x()).norm() < 1e-9, "{normal}");
            }
        }
    }
}

#[test]
fn what_leaves_the_floor_or_slides_on_it_does_not_meet_it_and_what_sinks_does() {
    for body in [level(), level_of_triangles()] {
        for shape in &characters() {
            let told = |by: [f64; 3], starts| {
                first(vec![body.clone()], shape, [[0.0, 1.5, 0.25], by], starts)
                    .map(|hit| hit.0.time)
            };
            for by in [[1.0, 0.0, 0.0], [0.3, 0.0, -2.0], [0.0, 3.0, 0.0], [1.0, 5e-324, 0.0]] {
                assert_eq!(told(by, All), Some([0.0; 2]));
                assert_eq!(
                    [Deepening, Skipped].map(|starts| told(by, starts)),
                    [None; 2],
                    "{by:?}"
                );
            }
            for by in [[0.0, -1.0, 0.0], [1.0, -5e-324, 0.0]] {
                assert_eq!(told(by, Deepening), Some([0.0; 2]), "{by:?}");
                // With triangles it sinks through the next ones a little farther on.
                assert!(
                    told(by, Skipped).is_none_or(|time| time[0] > 0.0 && body.parts.len() == 1)
                );
            }
        }
    }
}

#[test]
fn a_shape_that_starts_in_a_body_goes_on_as_if_it_were_not_there() {
    let bodies =
        vec![Body::solid(1, cube(1.0)), Body::solid(2, cube(1.0)).placed(at(4.0, 0.0, 0.0))];
    let way = [[0.5, 0.0, 0.0], [10.0, 0.0, 0.0]];
    for shape in [&point(), &QueryShape::new(cube(0.25), 0.0)] {
        let told = |starts| first(bodies.clone(), shape, way, starts).map(|hit| hit.0.body.0);
        assert_eq!([All, Deepening, Skipped].map(told), [Some(1), Some(1), Some(2)]);
    }
}

#[test]
fn a_ray_tells_how_thick_a_wall_is() {
    let ray = |parts: Vec<Part>, way, starts| {
        let (hit, leave, _) = first(vec![of_parts(1, parts)], &point(), way, starts).unwrap();
        assert!(hit.time[1] <= hit.time[0].next_up());
        (hit.time[1], leave)
    };
    let unit = cube(0.5);
    let way = [[-2.0, 0.125, 0.25], [8.0, 0.0, 0.0]];
    let one = placed(&unit, at(0.0, 0.0, 0.0));
    let flush = placed(&unit, at(1.0, 0.0, 0.0));
    let apart = placed(&unit, at(2.5, 0.0, 0.0));
    let (enters, second, third) = (1.5 / 8.0, [3.5 / 8.0; 2], [2.5 / 8.0; 2]);
    assert_eq!(ray(vec![one.clone()], way, All), (enters, third));
    // Flush boxes are one wall, and what begins farther on is another one.
    assert_eq!(ray(vec![one.clone(), flush.clone(), apart], way, All), (enters, second));
    // From inside, and where the way ends in it.
    let inside = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]];
    assert_eq!(ray(vec![one.clone()], inside, All), (0.0, [0.125; 2]));
    let short = [[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
    assert_eq!(ray(vec![one], short, All).1, [1.0; 2]);
}

#[test]
fn a_ray_tells_how_thick_the_walls_of_a_hollow_region_are() {
    // Walls from 1.5 to 2 around a hollow.
    let ray = |way, starts| {
        let body = of_parts(1, vec![shell(2.0, 1.5)]);
        first(vec![body], &point(), way, starts).map(|(hit, leave, _)| (hit.time, leave))
    };
    let near = |told: Option<([f64; 2], [f64; 2])>, enters: f64, leaves: f64| {
        let (time, leave) = told.unwrap();
        for ([low, high], exact) in [(time, enters), (leave, leaves)] {
            assert!(low <= exact && exact <= high && high <= low.next_up(), "{told:?}");
        }
    };
    near(ray([[-4.0, 0.1, 0.3], [8.0, 0.0, 0.0]], All), 0.25, 2.5 / 8.0);
    // From within the wall, from the hollow, and skewed.
    near(ray([[1.75, 0.1, 0.3], [1.0, 0.0, 0.0]], All), 0.0, 0.25);
    near(ray([[0.0, 0.1, 0.3], [3.0, 0.0, 0.0]], All), 0.5, 2.0 / 3.0);
    near(ray([[-4.0, 0.1, 0.3], [8.0, 0.8, 0.4]], All), 0.25, 2.5 / 8.0);
    // On the outside of a wall: inwards it is told, and outwards it is not.
    let on = [-2.0, 0.1, 0.3];
    near(ray([on, [1.0, 0.0, 0.0]], Deepening), 0.0, 0.5);
    assert_eq!(ray([on, [-1.0, 0.0, 0.0]], Deepening), None);
    assert_eq!(ray([on, [0.0, 1.0, 0.0]], Deepening), None);
    // From within the wall, as if the contact were not: the inner side of it, and then the hollow.
    near(ray([[1.75, 0.1, 0.3], [-1.0, 0.0, 0.0]], Skipped), 0.25, 0.25);
}

/// What is told is held against verdicts just before the end of a contact and just after it, and
/// where it is in contact all along, in between.
#[test]
fn ways_are_in_contact_until_they_leave_and_free_after_that() {
    let (mut random, mut counts) = (Random(77), [0; 3]);
    let effort = &mut Effort::unlimited();
    for round in 0..60 {
        let mut parts = Vec::new();
        for k in 0..1 + round % 3 {
            let place = random.vector() * 1.5;
            let pose = random.pose(place);
            parts.push(match (round + k) % 4 {
                0 => Part { body_from_part: pose, ..channel(0.6) },
                1 => Part { body_from_part: pose, ..shell(0.9, 0.7) },
                _ => placed(&Arc::new(samples::ball(20, round * 3 + k)), pose),
            });
        }
        let scene = open(vec![of_parts(1, parts)]);
        let filter = BodyFilter::default();
        let view = SceneView::new(&scene, &filter, MANY).unwrap();
        for shape in [&point(), &QueryShape::new(cube(0.2), 0.0), &rounded(&[[0.0; 3]], 0.3)] {
            for _ in 0..4 {
                let (from, to) = (random.vector() * 3.0, random.vector() * 3.0);
                let start = shape.at(at(from.x, from.y, from.z));
                let by = to - from;
                let cast = Cast::along(start, by);
                let hits = view.cast(&cast, HitSelection::All, effort).unwrap();
                let Some(hit) = hits.first() else { continue };
                let leave = view.leave(&cast, hit, effort).unwrap();
                let mut is_met = |t: f64| {
                    let place = from + by * t;
                    let there = shape.at(at(place.x, place.y, place.z));
                    !view.overlaps(&there, HitSelection::Any, effort).unwrap().is_empty()
                };
                let begin = hit.time[1];
                for share in [0.1, 0.3, 0.5, 0.7, 0.9] {
                    let t = begin + (leave[0] - begin) * share;
                    let is_long = leave[0] - begin > 1e-6;
                    assert!(!is_long || is_met(t), "round {round}: {hit:?} {leave:?} at {t}");
                }
                assert!(hit.time[0] <= leave[1] && leave[0] <= leave[1] && leave[1] <= 1.0);
                if leave[0] >= 1.0 {
                    counts[0] += 1;
                    assert!(is_met(1.0));
                } else {
                    assert!(leave[1] - leave[0] < 1e-14, "{leave:?}");
                    counts[1] += 1;
                    counts[2] += usize::from(!is_met(leave[1] + 1e-9));
                }
            }
        }
    }
    // Some meet another part right after the end.
    assert!(counts[0] > 10 && counts[1] > 100 && counts[2] + 5 > counts[1], "{counts:?}");
}

/// On a lattice whose steps are exact: a shape gets deeper if it overlaps a little farther on.
#[test]
fn a_touch_that_gets_deeper_is_told_from_one_that_does_not() {
    let (mut random, mut counts) = (Random(78), [0; 2]);
    let effort = &mut Effort::unlimited();
    let lattice = |random: &mut Random, size: u32| {
        Vec3::from_fn(|_, _| f64::from(random.below(2 * size + 1)) - f64::from(size))
    };
    while counts.iter().any(|count| *count < 60) {
        let corners: Vec<Vec3> = (0..6).map(|_| lattice(&mut random, 2)).collect();
        let Ok(hull) = clearance_geometry::hull::convex_hull(&corners) else { continue };
        let scene = open(vec![Body::solid(1, Arc::new(hull.polytope))]);
        let filter = BodyFilter::default();
        let view = SceneView::new(&scene, &filter, MANY).unwrap();
        let half = if random.below(3) > 0 { 1.0 } else { 0.0 };
        let shape = if half > 0.0 { QueryShape::new(cube(half), 0.0) } else { point() };
        let (from, by) = (lattice(&mut random, 4), lattice(&mut random, 2));
        let mut verdict = |place: Vec3| {
            let there = shape.at(at(place.x, place.y, place.z));
            let met = view.overlaps(&there, HitSelection::Any, effort).unwrap();
            met.first().map(|hit| hit.proof.verdict())
        };
        if verdict(from) != Some(Verdict::Touching) {
            continue;
        }
        let deeper = verdict(from + by / 1024.0) == Some(Verdict::Overlapping);
        counts[usize::from(deeper)] += 1;
        let start = shape.at(at(from.x, from.y, from.z));
        let cast = Cast { starts: Deepening, ..Cast::along(start, by) };
        let hits = view.cast(&cast, HitSelection::All, effort).unwrap();
        assert_eq!(!hits.is_empty(), deeper, "{corners:?} {from} {by} {half}");
    }
}
