//! Curved bodies beside all other kinds: by closed forms, near contact, and where only rounding
//! tells.

use super::depth::DepthQuestion;
use super::distance::{DistanceAnswer, DistanceAsked, DistanceQuestion};
use super::first_contact::{FirstContactAnswer, FirstContactQuestion, Motions};
use super::proof::{CurvedHulls, VerdictProof};
use super::row::Wanted;
use super::tests::at;
use super::verdict::{VerdictAnswer, VerdictQuestion};
use crate::kinds::curved::{CurvedCore, CurvedForm};
use crate::{Body, Kind, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::convex_hull;
use clearance_geometry::hull::samples::{Random, cuboid};
use clearance_geometry::judge::{judge_around, judge_inside};
use clearance_geometry::motion::Motion;
use clearance_geometry::polyhedron::TriangleSurface;
use clearance_geometry::pose::Pose;

use CurvedForm::{Cone, Cylinder, Ellipsoid};
use Verdict::{Overlapping, Separated, Touching};

const WANTED: Wanted = Wanted { certificate: true, cover_steps_max: 1_000 };

fn curved(form: CurvedForm, half: [f64; 3], radius: f64) -> Body {
    let core = CurvedCore { form, half: half.into() };
    Body::of_curved(core, radius, &mut Effort::unlimited()).unwrap()
}

fn cube(half: [f64; 3]) -> Body {
    let [x, y, z] = half.map(|half| 2.0 * half);
    Body::of_points(&cuboid(x, y, z), &mut Effort::unlimited()).unwrap()
}

fn placed(body: Body, pose: Pose) -> PlacedBody {
    PlacedBody { body, pose }
}

fn here(body: Body) -> PlacedBody {
    placed(body, Pose::identity())
}

fn there(body: Body, [x, y, z]: [f64; 3]) -> PlacedBody {
    placed(body, Pose::translation(x, y, z))
}

fn verdict(bodies: [PlacedBody; 2], margin: Option<f64>) -> VerdictAnswer {
    let kinds = bodies.each_ref().map(|placed| placed.body.kind());
    let question = VerdictQuestion::of(kinds, margin).unwrap();
    question.prepare(bodies).unwrap().answer(WANTED, &mut Effort::unlimited())
}

/// That the polytopes of a proof are around the bodies and in them.
fn judge_hulls(proof: &VerdictProof, bodies: [&PlacedBody; 2]) {
    let VerdictProof::OfCurved(proof) = proof else { panic!("of curved bodies: {proof:?}") };
    let effort = &mut Effort::unlimited();
    for (placed, hulls) in bodies.into_iter().zip(&proof.hulls) {
        let core = placed.body.curved_core();
        assert_eq!(core.is_some(), hulls.is_some());
        let (Some(core), Some(hulls)) = (core, hulls) else { continue };
        let CurvedHulls { outer, inner } = hulls;
        assert_eq!(judge_inside(&core, inner.vertices(), effort), Ok(()));
        assert_eq!(judge_around(&core, outer.vertices(), &outer.boundary(), effort), Ok(()));
        assert!(judge_around(&core, inner.vertices(), &inner.boundary(), effort).is_err());
        assert!(judge_inside(&core, outer.vertices(), effort).is_err());
    }
}

/// How they stand, in both orders; none: that is unresolved.
fn stand(p: &PlacedBody, q: &PlacedBody) -> Option<Verdict> {
    let [one, other] = [[p, q], [q, p]].map(|[p, q]| {
        let decided = verdict([p.clone(), q.clone()], None).decided;
        match decided {
            Ok(decided) => {
                let proof = decided.proof.expect("what is told is proven");
                assert_eq!(proof.verdict(), decided.verdict);
                judge_hulls(&proof, [p, q]);
                Some(decided.verdict)
            }
            Err(why) => {
                assert_eq!(why, Stopped::Unresolved);
                None
            }
        }
    });
    assert_eq!(one, other, "in the other order");
    one
}

fn distance(p: &PlacedBody, q: &PlacedBody) -> DistanceAnswer {
    let question = DistanceQuestion::of([p.body.kind(), q.body.kind()]).unwrap();
    let ready = question.prepare([p.clone(), q.clone()]).unwrap();
    ready.answer(DistanceAsked::default(), WANTED, &mut Effort::unlimited())
}

fn depth(p: &PlacedBody, q: &PlacedBody) -> [f64; 2] {
    let question = DepthQuestion::of([p.body.kind(), q.body.kind()]).unwrap();
    let ready = question.prepare([p.clone(), q.clone()]);
    ready.unwrap().answer(false, &mut Effort::unlimited()).unwrap().bounds()
}

fn meet(bodies: [PlacedBody; 2], motions: Motions) -> FirstContactAnswer {
    let kinds = bodies.each_ref().map(|placed| placed.body.kind());
    let poses = [&bodies[0].pose, &bodies[1].pose];
    let question = FirstContactQuestion::of(kinds, poses, motions).unwrap();
    question.prepare(bodies).unwrap().answer(true, WANTED, &mut Effort::unlimited()).unwrap()
}

#[track_caller]
fn holds([lower, upper]: [f64; 2], exact: f64, relative: f64) {
    let slack = 4e-15 * exact.abs().max(1.0);
    assert!(lower <= exact + slack && exact - slack <= upper, "{lower} {exact} {upper}");
    assert!(upper - lower <= relative * upper, "{lower} {exact} {upper}");
}

fn any_pose(random: &mut Random, at: Vec3) -> Pose {
    let turn = [(); 4].map(|()| random.between(-1.0, 1.0));
    Pose::from_quaternion(at, turn).unwrap()
}

#[test]
fn caps_and_ends_of_axes_that_rest_on_a_plane_touch_it_exactly() {
    let floor = there(cube([8.0, 8.0, 1.0]), [0.0, 0.0, -1.0]);
    for (body, height) in [
        (curved(Cylinder, [0.3, 0.2, 0.7], 0.0), 0.7_f64),
        (curved(Cone, [0.3, 0.2, 0.7], 0.0), 0.7),
        (curved(Cone, [0.3, 0.2, -0.7], 0.0), 0.7),
        (curved(Ellipsoid, [0.3, 0.2, 0.7], 0.0), 0.7),
        (curved(Cylinder, [0.3, 0.2, 0.5], 0.25), 0.75),
    ] {
        for (z, expected) in
            [(height, Touching), (height.next_up(), Separated), (height.next_down(), Overlapping)]
        {
            let body = there(body.clone(), [0.1, -0.7, z]);
            assert_eq!(stand(&body, &floor), Some(expected), "{z}");
        }
    }
    // Lying on its side, exactly, by a quarter turn.
    let lying = Pose::from_matrix(Vec3::zeros(), [1., 0., 0., 0., 0., -1., 0., 1., 0.]).unwrap();
    let body = curved(Cylinder, [0.5, 0.25, 2.0], 0.0);
    for (z, expected) in
        [(0.25, Some(Touching)), (0.25 + 1e-12, Some(Separated)), (0.25 - 1e-12, Some(Overlapping))]
    {
        let pose = Pose { translation: Vec3::new(1.0, 2.0, z), ..lying };
        assert_eq!(stand(&placed(body.clone(), pose), &floor), expected, "{z}");
    }
}

/// A ball as an ellipsoid beside corners, edges and faces of boxes in any pose, from any side.
#[test]
fn balls_that_are_ellipsoids_are_told_near_contact_as_balls_are() {
    let mut random = Random::new(5);
    for round in 0..60 {
        let radius = random.between(0.3, 2.0);
        let size = [0.4, 0.7, 0.5];
        let place = 3.0 * random.in_ball();
        let pose = any_pose(&mut random, place);
        // A point of the box, and the way out from there.
        let way = [round % 3, round / 3 % 3, round / 9 % 3].map(|k| k as f64 - 1.0);
        let out = Vec3::from(way);
        let out = if out.norm() > 0.0 { out.normalize() } else { Vec3::x() };
        let corner = Vec3::from_fn(|k, _| {
            if out[k] == 0.0 {
                random.between(-0.9, 0.9) * size[k]
            } else {
                out[k].signum() * size[k]
            }
        });
        for (gap, expected) in [(1e-8, Separated), (1e-12, Separated), (-1e-12, Overlapping)] {
            let middle = corner + out * (radius + gap * radius);
            let ball = curved(Ellipsoid, [radius; 3], 0.0);
            let middle = pose.rotation * middle + pose.translation;
            let ball = placed(ball, any_pose(&mut random, middle));
            let box_ = placed(cube(size), pose);
            assert_eq!(stand(&ball, &box_), Some(expected), "{round} {gap}");
        }
        let middle = pose.rotation * (corner + out * (radius + 0.25)) + pose.translation;
        let ball = placed(curved(Ellipsoid, [radius; 3], 0.0), any_pose(&mut random, middle));
        let found = distance(&ball, &placed(cube(size), pose));
        let found = found.distance.unwrap();
        assert_eq!((found.verdict(), found.stopped()), (Some(Separated), None));
        holds(found.bounds(), 0.25, 1e-9);
    }
}

/// Two ellipsoids, two cylinders with parallel axes, and a rounded one, from any side.
#[test]
fn two_curved_bodies_are_told_near_contact() {
    let mut random = Random::new(9);
    for round in 0..40 {
        let [a, b] = [random.between(0.3, 2.0), random.between(0.3, 2.0)];
        let way = random.direction();
        let balls = [curved(Ellipsoid, [a; 3], 0.0), curved(Ellipsoid, [b; 3], 0.125)];
        let flat = Vec3::new(way.x, way.y, 0.0).normalize();
        let tubes = [curved(Cylinder, [a, a, 1.0], 0.0), curved(Cylinder, [b, b, 0.5], 0.125)];
        for ([p, q], way) in [(balls, way), (tubes, flat)] {
            let sum = a + b + 0.125;
            for (gap, expected) in [(1e-8, Separated), (1e-12, Separated), (-1e-12, Overlapping)] {
                let at = way * (sum * (1.0 + gap));
                let q = there(q.clone(), at.into());
                assert_eq!(stand(&here(p.clone()), &q), Some(expected), "{round} {gap}");
            }
            let q_far = there(q.clone(), (way * (sum + 1.5)).into());
            let found = distance(&here(p.clone()), &q_far).distance.unwrap();
            holds(found.bounds(), 1.5, 1e-9);
            for (margin, is_within) in [(1.5 - 1e-10, false), (1.5 + 1e-10, true)] {
                let found = verdict([here(p.clone()), q_far.clone()], Some(margin));
                assert_eq!(found.compared.unwrap().unwrap().is_within, is_within, "{round}");
            }
        }
    }
}

#[test]
fn an_ellipsoid_stands_to_a_plane_by_its_support() {
    let mut random = Random::new(3);
    let half = Vec3::new(0.5, 1.25, 2.0);
    for round in 0..40 {
        let pose = any_pose(&mut random, Vec3::zeros());
        // The row of the matrix is the normal z in the body's frame.
        let support = pose.rotation.row(2).transpose().component_mul(&half).norm();
        let floor = there(cube([9.0, 9.0, 2.0]), [0.0, 0.0, -2.0]);
        let body = curved(Ellipsoid, half.into(), 0.0);
        for (gap, expected) in [(1e-10, Separated), (-1e-10, Overlapping)] {
            let up = Pose { translation: Vec3::new(0.5, 0.25, support + gap), ..pose };
            assert_eq!(stand(&placed(body.clone(), up), &floor), Some(expected), "{round}");
        }
        let deep = Pose { translation: Vec3::new(0.5, 0.25, support - 0.25), ..pose };
        holds(depth(&placed(body, deep), &floor), 0.25, 1e-8);
    }
}

#[test]
fn bodies_that_touch_at_no_end_of_an_axis_are_unresolved_and_never_told_to_be_free() {
    let floor = there(cube([9.0, 9.0, 2.0]), [0.0, 0.0, -2.0]);
    // Turned by the angle of 3, 4 and 5 about y: exactly, in real numbers, it touches.
    let turned = [0.8, 0.0, 0.6, 0.0, 1.0, 0.0, -0.6, 0.0, 0.8];
    let pose = Pose::from_matrix(Vec3::new(0.0, 0.0, 1.0), turned).unwrap();
    let ball = placed(curved(Ellipsoid, [1.0; 3], 0.0), pose);
    assert_ne!(stand(&ball, &floor), Some(Touching));
    let found = distance(&ball, &floor).distance.unwrap();
    let [lower, upper] = found.bounds();
    assert!(lower <= 1e-15 && upper < 1e-12, "{lower} {upper}");
    assert_eq!(found.stopped(), Some(Stopped::Unresolved));
}

/// The ball is centred on the axis through the middles of two sides.
#[test]
fn curved_bodies_stand_beside_every_other_kind() {
    for kind in Kind::ALL {
        // All of them reach to x = -0.25 or less, or to 0, and the ball of radius 0.5 is before it.
        let other = at(kind, 0.0);
        let ball = curved(Ellipsoid, [0.5; 3], 0.0);
        let reach = match kind {
            Kind::Cloud | Kind::Rounded => -0.25,
            Kind::Curved => -1.0,
            Kind::HeightField | Kind::Polyhedron | Kind::Polytope | Kind::Surface => 0.0,
        };
        let middle = if kind == Kind::Curved || kind == Kind::Cloud { 0.0 } else { 0.25 };
        let z = if kind == Kind::HeightField || kind == Kind::Rounded { 0.0 } else { middle };
        for (gap, expected) in [(1e-9, Separated), (-1e-9, Overlapping)] {
            let ball = there(ball.clone(), [reach - 0.5 - gap, middle, z]);
            assert_eq!(stand(&ball, &other), Some(expected), "{kind:?} {gap}");
        }
        let away = there(ball.clone(), [reach - 2.5, middle, z]);
        holds(distance(&away, &other).distance.unwrap().bounds(), 2.0, 1e-9);
        let velocity = Vec3::new(4.0, 0.0, 0.0);
        let straight = Motion::Linear { velocity };
        let turning = Motion::Screw { pivot: None, velocity, axis: Vec3::y(), angle: 2.0 };
        for motion in [straight, turning] {
            let motions = Motions::new([motion, Motion::rest()]);
            let found = meet([away.clone(), other.clone()], motions);
            assert_eq!((found.outcome, found.initial), (Outcome::Contact, Separated), "{kind:?}");
            assert!(found.t_free <= 0.5 && 0.5 - 1e-14 <= found.t_contact, "{kind:?} {found:?}");
            assert!(found.t_contact - found.t_free < 1e-8, "{kind:?} {motion:?} {found:?}");
            let back = Motion::Linear { velocity: -velocity };
            let motions = Motions::new([back, Motion::rest()]);
            assert_eq!(meet([away.clone(), other.clone()], motions).outcome, Outcome::NoContact);
        }
    }
}

#[test]
fn a_cone_is_its_apex_its_rim_and_its_side() {
    let cone = || curved(Cone, [1.0, 1.0, 1.0], 0.0);
    let floor = there(cube([9.0, 9.0, 2.0]), [0.0, 0.0, -2.0]);
    // With its side, which is sloped by 2 to 1, towards a plane: the normal is (2, 0, 1).
    let slope = 5f64.sqrt();
    let rows = [1.0 / slope, 0.0, -2.0 / slope, 0.0, 1.0, 0.0, 2.0 / slope, 0.0, 1.0 / slope];
    let turned = Pose::from_matrix(Vec3::zeros(), rows).unwrap();
    // Upside down: the plane is below, so that the body is mirrored at it.
    let support = 1.0 / slope;
    for (gap, expected) in [(1e-10, Separated), (-1e-10, Overlapping)] {
        let down = turned.rotation.map(|x| x);
        let pose = Pose { rotation: down, translation: Vec3::new(0.0, 0.0, -support - gap) };
        let ceiling = there(cube([9.0, 9.0, 2.0]), [0.0, 0.0, 2.0]);
        assert_eq!(stand(&placed(cone(), pose), &ceiling), Some(expected), "{gap}");
    }
    // Its apex and its rim are as exact as corners.
    let upside = there(curved(Cone, [1.0, 1.0, -1.0], 0.0), [0.0, 0.0, 1.0]);
    assert_eq!(stand(&upside, &floor), Some(Touching));
    let wall = there(cube([1.0, 9.0, 9.0]), [2.0, 0.0, 0.0]);
    assert_eq!(stand(&here(cone()), &wall), Some(Touching));
}

#[test]
fn a_search_stops_with_the_effort() {
    let bodies =
        || [here(curved(Ellipsoid, [1.0, 2.0, 3.0], 0.0)), there(cube([1.0; 3]), [2.0, 0.1, 0.2])];
    let kinds = [Kind::Curved, Kind::Polytope];
    for steps in [0, 1, 5] {
        let ready = VerdictQuestion::of(kinds, None).unwrap().prepare(bodies()).unwrap();
        let found = ready.answer(WANTED, &mut Effort::with_steps(steps));
        assert_eq!(found.decided.map(|decided| decided.verdict).ok().unwrap_or(Touching), Touching);
    }
}

#[test]
fn ids_tell_forms_half_sizes_and_radii_apart() {
    let all = [
        curved(Cylinder, [1.0, 2.0, 3.0], 0.0),
        curved(Cone, [1.0, 2.0, 3.0], 0.0),
        curved(Cone, [1.0, 2.0, -3.0], 0.0),
        curved(Ellipsoid, [1.0, 2.0, 3.0], 0.0),
        curved(Ellipsoid, [1.0, 2.0, 3.0], 0.5),
    ];
    let ids: std::collections::BTreeSet<String> =
        all.iter().map(|body| body.id().to_string()).collect();
    assert_eq!(ids.len(), 5);
    let mut bytes = b"clearance curved 1\n\0".to_vec();
    bytes.extend([1.0, 2.0, 3.0, 0.0_f64].iter().flat_map(|number| number.to_le_bytes()));
    assert_eq!(all[0].id().digest(), blake3::hash(&bytes).as_bytes());
    assert!(ids.iter().all(|id| id.starts_with("e1-")));
    assert!((all[0].outline().volume - 12.0 * std::f64::consts::PI).abs() < 1e-12);
    assert_eq!(all[4].outline().bounds[1], Vec3::new(1.5, 2.5, 3.5));
}

/// A ball at a corner of bodies that are not convex: as deep as the exact ball, whose pieces and
/// hulls are the same.
#[test]
fn depths_beside_bodies_that_are_not_convex_are_those_of_the_exact_ball() {
    let curved_ball = curved(Ellipsoid, [0.5; 3], 0.0);
    let point = Body::of_points(&[Vec3::zeros()], &mut Effort::unlimited()).unwrap();
    let exact_ball = point.rounded(0.5);
    let mut counts = [0_u32; 2];
    for kind in [Kind::Polyhedron, Kind::Surface, Kind::Cloud, Kind::HeightField] {
        for place in [[-0.25, 0.3, 0.2], [0.3, 0.3, 0.3], [-0.9, 0.0, 0.0], [0.6, 0.5, 0.4]] {
            let measured = |ball: &Body, is_first: bool| {
                let two = [there(ball.clone(), place), at(kind, 0.0)];
                let [ball, other] = two;
                let two = if is_first { [ball, other] } else { [other, ball] };
                let kinds = two.each_ref().map(|placed: &PlacedBody| placed.body.kind());
                let ready = DepthQuestion::of(kinds).unwrap().prepare(two).unwrap();
                ready.answer(false, &mut Effort::unlimited()).unwrap()
            };
            let exact = measured(&exact_ball, true);
            for is_first in [true, false] {
                let found = measured(&curved_ball, is_first);
                let story = format!("{kind:?} {place:?} {found:?} {exact:?}");
                assert_eq!(found.verdict(), exact.verdict(), "{story}");
                for end in [0, 1] {
                    let [found, exact] = [found.bounds()[end], exact.bounds()[end]];
                    assert!((found - exact).abs() < 1e-8, "{story}");
                }
                assert!(found.bounds()[0] <= exact.bounds()[1] + 1e-12, "{story}");
                let overlaps = found.verdict() == Some(Overlapping);
                assert_eq!(found.direction().is_some(), overlaps, "{story}");
                assert_eq!(found.pieces().is_some(), exact.pieces().is_some(), "{story}");
                counts[usize::from(overlaps)] += 1;
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 3), "{counts:?}");
}

/// A polytope refined near one of several points that are about as near told too little of the
/// others, and what was asked about all of them stayed open or without a proof.
#[test]
fn a_curved_body_near_several_points_at_once_is_refined_near_each() {
    let bodies = [curved(Cylinder, [1.0, 1.0, 2.0], 0.0), curved(Ellipsoid, [1.0, 1.0, 1.0], 0.0)];
    for (body, radius) in bodies.iter().flat_map(|body| [0.0, 0.0625].map(|radius| (body, radius)))
    {
        // All are a quarter away, but for less than a bracket may be wide.
        let point = |k: u32| {
            let (sine, cosine) = (1.25 * f64::from(k) + 0.375).sin_cos();
            let far = 1.25 + radius + 1e-11 * f64::from(k);
            Vec3::new(far * cosine, far * sine, 0.0)
        };
        let points: Vec<Vec3> = (0..5).map(point).collect();
        let surface = TriangleSurface::of_points(&points).unwrap();
        let hull = convex_hull(surface.vertices()).unwrap().polytope;
        let bodies = [here(body.clone()), here(Body::of_cloud(surface, hull, radius))];
        let kinds = bodies.each_ref().map(|placed| placed.body.kind());
        let ready = DistanceQuestion::of(kinds).unwrap().prepare(bodies.clone()).unwrap();
        let asked = DistanceAsked::default();
        let found = ready.answer(asked, WANTED, &mut Effort::unlimited()).distance.unwrap();
        let [lower, upper] = found.bounds();
        assert!(lower <= 0.25 && 0.25 <= upper + 1e-10, "{found:?}");
        assert!(upper - lower <= 1e-9 * upper && found.stopped().is_none(), "{found:?}");
        for (margin, is_within) in [(0.25 - 1e-8, false), (0.25 + 1e-8, true)] {
            let answer = verdict(bodies.clone(), Some(margin));
            let decided = answer.decided.unwrap();
            assert_eq!(decided.verdict, Separated);
            assert!(decided.proof.is_ok(), "{margin} {decided:?}");
            assert_eq!(answer.compared.unwrap().unwrap().is_within, is_within);
        }
    }
}
