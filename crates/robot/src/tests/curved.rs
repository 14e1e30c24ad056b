//! Cylinders, cones and ellipsoids as links and obstacles: beside closed forms, near contact, and
//! beside polytopes inside and around them.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_6, FRAC_PI_8};
use std::fmt::Write as _;
use std::sync::Arc;

use super::edge::QUESTION;
use super::samples::{ROBOT_LIMITS, robot_of, still_box};
use super::solids::{self, ask, clearances, pairs_of, polyhedron};
use crate::Robot;
use crate::body::PartBody;
use crate::cell::{Cell, Instance};
use crate::check::{CheckMode, CheckQuestion, Checked, SignedClearance};
use crate::cloud::BoxedCloud;
use crate::edge::{EdgeAnswer, EdgeQuestion};
use crate::parts::{Gap, MeshFiles, MeshTreatment, Sources};
use crate::still::StillBody;
use clearance_bodies::Body;
use clearance_bodies::kinds::curved::{CurvedCore, CurvedForm};
use clearance_bodies::table::place::Place;
use clearance_geometry::claim::Verdict::{self, Overlapping, Separated, Touching};
use clearance_geometry::cloud::PointCloud;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pose::Pose;
use clearance_geometry::{Mat3, Vec3};
use clearance_samples::Random;

pub(super) fn curved(form: CurvedForm, half: [f64; 3], radius: f64) -> PartBody {
    let core = CurvedCore { form, half: half.into() };
    let body = Body::of_curved(core, radius, &mut Effort::unlimited()).unwrap();
    PartBody::in_place(&body, Place::Obstacle).unwrap()
}

pub(super) fn at(body: PartBody, [x, y, z]: [f64; 3]) -> StillBody {
    StillBody { body, pose: Pose::translation(x, y, z) }
}

/// Turned about z, then moved.
pub(super) fn turned(body: PartBody, angle: f64, place: [f64; 3]) -> StillBody {
    let (sine, cosine) = angle.sin_cos();
    let rotation = Mat3::new(cosine, -sine, 0.0, sine, cosine, 0.0, 0.0, 0.0, 1.0);
    StillBody { body, pose: Pose { rotation, translation: place.into() } }
}

/// A link of these shapes on three joints that slide and one that turns about z.
fn mover_with(shapes: &[&str], gap_max: Option<f64>) -> Robot {
    let joint = |name: &str, kind: &str, parent: &str, child: &str, axis: &str| {
        format!(
            "<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>\
             <axis xyz='{axis}'/><limit lower='-99' upper='99' velocity='1'/></joint>"
        )
    };
    let mut parts = String::new();
    for shape in shapes {
        write!(parts, "<collision>{shape}</collision>").unwrap();
    }
    let urdf = format!(
        "<robot name='mover'><link name='base'/><link name='a'/><link name='b'/><link name='c'/>\
         <link name='d'>{parts}</link>{}{}{}{}</robot>",
        joint("x", "prismatic", "base", "a", "1 0 0"),
        joint("y", "prismatic", "a", "b", "0 1 0"),
        joint("z", "prismatic", "b", "c", "0 0 1"),
        joint("turn", "revolute", "c", "d", "0 0 1"),
    );
    let meshes = MeshFiles::new();
    let sources = Sources {
        urdf: &urdf,
        srdf: None,
        meshes: &meshes,
        gap_max,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::Hull,
    };
    Robot::build(&sources, &ROBOT_LIMITS, &mut Effort::unlimited()).unwrap()
}

pub(super) const TUBE: &str = "<geometry><cylinder radius='0.5' length='2'/></geometry>";

pub(super) fn mover(shape: &str) -> Robot {
    mover_with(&[shape], None)
}

pub(super) fn among(robot: &Robot, still: Vec<StillBody>) -> Cell {
    Cell::new(&[Instance { robot, world_from_base: Pose::identity() }], still)
}

/// The verdict, none where it is open, and the clearance; all ways of asking agree.
fn stand(cell: &Cell, values: [f64; 4]) -> (Option<Verdict>, SignedClearance) {
    let question = CheckQuestion {
        mode: CheckMode::Clearance,
        with_gradient: true,
        ..CheckQuestion::default()
    };
    let checked = cell.check(question, &values, &mut Effort::unlimited()).remove(0);
    let found = clearances(&checked)[0].clone().unwrap();
    let all = ask(cell, CheckMode::AllPairs, &values).remove(0);
    let first = ask(cell, CheckMode::FirstPair, &values).remove(0);
    let verdict = match &all {
        Checked::Open { contacts, pairs } => {
            assert!(contacts.is_empty() && !pairs.is_empty());
            assert!(matches!(first, Checked::Open { .. }), "{first:?}");
            None
        }
        Checked::Free
        | Checked::Contact(_)
        | Checked::Clearance(_)
        | Checked::Below(_)
        | Checked::Bad(_)
        | Checked::Stopped(_) => {
            let contacts = pairs_of(&all);
            assert_eq!(first == Checked::Free, contacts.is_empty());
            Some(contacts.first().map_or(Separated, |(_, verdict)| *verdict))
        }
    };
    assert!(found.lower <= found.upper, "{found:?}");
    (verdict, found)
}

/// Whether a clearance encloses a number, within 1e-9 of itself.
fn is_about(found: &SignedClearance, number: f64) -> bool {
    let room = 1e-9 * number.abs();
    let [lower, upper] = [found.lower - 1e-13, found.upper + 1e-13];
    lower <= number && number <= upper && found.upper - found.lower <= room
}

#[test]
fn a_cylinder_of_a_urdf_is_one_unless_a_polytope_is_asked_for() {
    let tube = &mover(TUBE).parts[0];
    assert!(tube.body.curved().is_some() && tube.gap == Gap::NONE && tube.is_own);
    assert!(tube.body.whole().id().to_string().starts_with("e1-"));
    let around = &mover_with(&[TUBE], Some(1e-3)).parts[0];
    assert!(around.body.polytope().is_some());
    let gap = around.gap.upper.unwrap();
    assert!(gap > 0.0 && gap <= 1e-3, "{gap}");
    // Below what curved bodies may measure a polytope stands for it.
    let thin = "<geometry><cylinder radius='1e-120' length='1'/></geometry>";
    assert!(mover(thin).parts[0].body.polytope().is_some());
}

#[test]
fn the_clearance_of_a_cylinder_is_that_of_its_formula() {
    let wall = || at(still_box(Vec3::new(1.0, 4.0, 4.0)).body, [3.0, 0.0, 0.0]);
    let cell = among(&mover(TUBE), vec![wall()]);
    let (verdict, far) = stand(&cell, [0.75, 0.25, 0.0, 0.3]);
    assert!(verdict == Some(Separated) && is_about(&far, 0.75), "{far:?}");
    let geometry = far.geometry.unwrap();
    assert!((geometry.normal - Vec3::x()).norm() < 1e-6, "{geometry:?}");
    assert!((geometry.first.x - 1.25).abs() < 1e-9 && (geometry.second.x - 2.0).abs() < 1e-9);
    assert!((geometry.gradient[0] + 1.0).abs() < 1e-6, "{geometry:?}");
    assert!(geometry.gradient[1].abs() < 1e-6 && geometry.gradient[3].abs() < 1e-6);
    let (verdict, deep) = stand(&cell, [1.75, 0.25, 0.0, 0.3]);
    assert!(verdict == Some(Overlapping) && is_about(&deep, -0.25), "{deep:?}");
    let geometry = deep.geometry.unwrap();
    assert!((geometry.normal - Vec3::x()).norm() < 1e-6, "{geometry:?}");
    assert!((geometry.gradient[0] + 1.0).abs() < 1e-6, "{geometry:?}");

    // Beside a ball across the side, and beyond the rim: 3, 4 and 5 quarters.
    let ball = |radius| {
        let core = PartBody::from(Arc::new(convex_hull(&[Vec3::zeros()]).unwrap().polytope));
        at(core.rounded(radius), [0.0; 3])
    };
    let cell = among(&mover(TUBE), vec![ball(0.25)]);
    let (_, side) = stand(&cell, [1.2, 1.6, 0.5, 0.0]);
    assert!(is_about(&side, 1.25), "{side:?}");
    let (_, rim) = stand(&cell, [1.25, 0.0, 2.0, 0.0]);
    assert!(is_about(&rim, 1.0), "{rim:?}");
    // Beside another cylinder, and a cone whose apex is up, with a ball around each point.
    let other = at(curved(CurvedForm::Cylinder, [0.25, 0.25, 1.0], 0.0), [0.0; 3]);
    let (_, two) = stand(&among(&mover(TUBE), vec![other]), [1.2, -1.6, 0.25, 1.0]);
    assert!(is_about(&two, 1.25), "{two:?}");
    let cone = at(curved(CurvedForm::Cone, [1.0, 1.0, 1.0], 0.125), [0.0; 3]);
    let (_, apex) = stand(&among(&mover(TUBE), vec![cone]), [0.25, 0.0, 2.5, 0.0]);
    assert!(is_about(&apex, 0.375), "{apex:?}");
}

#[test]
fn flat_caps_touch_exactly_and_one_step_to_either_side_they_do_not() {
    let table = still_box(Vec3::new(4.0, 4.0, 1.0));
    let cell = among(&mover(TUBE), vec![table]);
    for turn in [0.0, 0.7] {
        let verdict = |z| stand(&cell, [0.3, 0.1, z, turn]).0;
        assert_eq!(verdict(2.0), Some(Touching), "{turn}");
        assert_eq!(verdict(2.0f64.next_up()), Some(Separated), "{turn}");
        assert_eq!(verdict(2.0f64.next_down()), Some(Overlapping), "{turn}");
    }
}

/// Parallel cylinders that touch at 3, 4 and 5: no polytopes tell, and what is told is no guess.
#[test]
fn what_is_nearer_to_contact_than_the_finest_polytopes_tell_is_left_open() {
    let other = at(curved(CurvedForm::Cylinder, [4.5, 4.5, 1.0], 0.0), [0.0; 3]);
    let cell = among(&mover(TUBE), vec![other]);
    let (verdict, found) = stand(&cell, [3.0, 4.0, 0.0, 0.0]);
    assert!(verdict.is_none_or(|verdict| verdict == Touching), "{found:?}");
    assert!(found.lower <= 0.0 && 0.0 <= found.upper && found.verdict == verdict, "{found:?}");
    assert!(found.upper - found.lower < 1e-12, "{found:?}");
    let by = 1.0 + 1e-11;
    assert_eq!(stand(&cell, [3.0 * by, 4.0 * by, 0.0, 0.0]).0, Some(Separated));
    assert_eq!(stand(&cell, [3.0 / by, 4.0 / by, 0.0, 0.0]).0, Some(Overlapping));
    // A contact beside it is told all the same, and an edge that begins there is undecided.
    let both = [
        at(curved(CurvedForm::Cylinder, [4.5, 4.5, 1.0], 0.0), [0.0; 3]),
        at(still_box(Vec3::repeat(0.1)).body, [3.0, 4.0, 0.0]),
    ];
    let among_both = among(&mover(TUBE), both.to_vec());
    let first = ask(&among_both, CheckMode::FirstPair, &[3.0, 4.0, 0.0, 0.0]).remove(0);
    assert_eq!(first, Checked::Contact(vec![([0, 2], Overlapping)]));
    if verdict.is_none() {
        let ends = [&[3.0, 4.0, 0.0, 0.0][..], &[4.0, 5.0, 0.0, 0.0]];
        let answer = cell.check_edges(QUESTION, ends, &mut Effort::unlimited()).remove(0);
        let is_open =
            matches!(answer, EdgeAnswer::Undecided { free_until, .. } if free_until <= 0.0);
        assert!(is_open, "{answer:?}");
    }
}

fn answer(cell: &Cell, ends: [[f64; 4]; 2], margin: f64) -> EdgeAnswer {
    let question = EdgeQuestion { margin, ..QUESTION };
    cell.check_edges(question, [&ends[0], &ends[1]], &mut Effort::unlimited()).remove(0)
}

fn is_at(answer: &EdgeAnswer, time: f64) -> bool {
    let EdgeAnswer::Contact { free_until, contact_at, .. } = answer else { return false };
    let room = 1e-12;
    free_until - room <= time && time <= contact_at + room && contact_at - free_until <= 1e-6
}

#[test]
fn a_turning_cylinder_meets_a_wall_when_its_side_does_and_when_its_rim_does() {
    let high = "<origin xyz='1 0 0'/><geometry><cylinder radius='0.25' length='1'/></geometry>";
    let wall = at(still_box(Vec3::new(3.0, 1.0, 2.0)).body, [0.0, 1.75, 0.0]);
    let cell = among(&mover(high), vec![wall]);
    // sin t + 1/4 = 3/4.
    let found = answer(&cell, [[0.0; 4], [0.0, 0.0, 0.0, 1.0]], 0.0);
    assert!(is_at(&found, FRAC_PI_6), "{found:?}");
    // Within a margin of 1/4 where sin t = 1/4.
    let found = answer(&cell, [[0.0; 4], [0.0, 0.0, 0.0, 1.0]], 0.25);
    assert!(is_at(&found, 0.25f64.asin()), "{found:?}");

    // Along x: the rim, where 2 sin t + cos t / 4 = 1.
    let long = format!(
        "<origin xyz='1 0 0' rpy='0 {FRAC_PI_2} 0'/>\
         <geometry><cylinder radius='0.25' length='2'/></geometry>"
    );
    let wall = at(still_box(Vec3::new(3.0, 1.0, 2.0)).body, [0.0, 2.0, 0.0]);
    let cell = among(&mover(&long), vec![wall]);
    let at_rim = (1.0 / 4.0625f64.sqrt()).asin() - 0.25f64.atan2(2.0);
    let found = answer(&cell, [[0.0; 4], [0.0, 0.0, 0.0, 1.0]], 0.0);
    assert!(is_at(&found, at_rim), "{found:?}");
}

/// Along a wall at which the corners of a polytope of 16, and of 32 sides stand out by more.
#[test]
fn an_edge_is_free_where_polytopes_around_a_cylinder_are_not() {
    for angle in [FRAC_PI_8 / 2.0, FRAC_PI_8] {
        let normal = Vec3::new(angle.cos(), angle.sin(), 0.0);
        let place = normal * (1.0 + 0.5 + 1e-3);
        let wall = turned(still_box(Vec3::new(1.0, 9.0, 4.0)).body, angle, place.into());
        let along = Vec3::new(-angle.sin(), angle.cos(), 0.0);
        let ends = [-0.02, 0.02].map(|by| [along.x * by, along.y * by, 0.0, 0.0]);
        let cell = among(&mover(TUBE), vec![wall.clone()]);
        assert_eq!(answer(&cell, ends, 0.0), EdgeAnswer::Free, "{angle}");
        let in_contact = answer(&cell, ends, 2e-3);
        assert!(matches!(in_contact, EdgeAnswer::Contact { .. }), "{in_contact:?}");
    }
}

#[test]
fn a_cylinder_beside_a_cloud_is_as_near_as_its_nearest_ball() {
    let points = [[1.2, 1.6, 0.5], [0.0, 0.0, 9.0], [-4.0, 0.0, 0.0], [1.25, 0.0, -2.0]];
    let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
    let cloud = PointCloud::new(points, 0.25, &Effort::unlimited()).unwrap();
    let cloud = at(PartBody::Cloud(BoxedCloud::new(Arc::new(cloud))), [0.0; 3]);
    let cell = among(&mover(TUBE), vec![cloud]);
    let (verdict, near) = stand(&cell, [0.0; 4]);
    assert!(verdict == Some(Separated) && is_about(&near, 1.0), "{near:?}");
    assert_eq!(near.point, Some(3));
    let geometry = near.geometry.unwrap();
    let towards = Vec3::new(0.6, 0.0, -0.8);
    assert!((geometry.normal - towards).norm() < 1e-6, "{geometry:?}");
    let (verdict, side) = stand(&cell, [0.3, 0.4, 0.5, 0.0]);
    assert!(verdict == Some(Separated) && is_about(&side, 0.75), "{side:?}");
    assert_eq!(side.point, Some(0));
    let (verdict, deep) = stand(&cell, [0.9, 1.2, 0.5, 0.0]);
    assert!(verdict == Some(Overlapping) && deep.point == Some(0), "{deep:?}");
    assert!(deep.lower <= -0.25 && (-0.25 - 1e-9..=-0.25 + 1e-9).contains(&deep.upper));
    let (verdict, touching) = stand(&cell, [0.0, 0.0, 7.75, 0.0]);
    assert!(verdict == Some(Touching), "{touching:?}");
    let met = answer(&cell, [[0.0; 4], [0.0, 0.0, 10.0, 0.0]], 0.0);
    assert!(is_at(&met, 0.775), "{met:?}");
}

#[test]
fn a_cylinder_in_the_hollow_of_a_mesh_is_free() {
    let shell = solids::joined(&solids::cube(3.0, false), &solids::cube(2.0, true));
    let cell = among(&mover(TUBE), vec![at(polyhedron(&shell), [0.0; 3])]);
    let (verdict, found) = stand(&cell, [1.25, 0.25, 0.0, 0.3]);
    assert!(verdict == Some(Separated) && is_about(&found, 0.25), "{found:?}");
    assert_eq!(stand(&cell, [0.0, 0.0, 1.0, 0.3]).0, Some(Touching));
    let (verdict, found) = stand(&cell, [1.75, 0.25, 0.0, 0.3]);
    assert!(verdict == Some(Overlapping) && found.upper <= 0.0, "{found:?}");
}

/// A polytope around a cylinder is no farther than the cylinder, and nearer by its gap at most.
#[test]
fn clearances_of_cylinders_are_between_those_of_polytopes_in_and_around_them() {
    let tilted = "<origin xyz='0.1 0 0.2' rpy='0.4 0.3 0'/>\
                  <geometry><cylinder radius='0.3' length='0.9'/></geometry>";
    let shapes = [TUBE, tilted];
    let [exact, around] = [None, Some(1e-4)].map(|gap| mover_with(&shapes, gap));
    let gap = around.parts.iter().filter_map(|part| part.gap.upper).fold(0.0, f64::max);
    let random = &mut Random(17);
    let still: Vec<StillBody> = (0..4)
        .map(|k| {
            let body = still_box(Vec3::repeat(0.2) + random.vector().abs() * 0.3).body;
            let place = random.vector() * 2.0;
            turned(body.rounded(if k == 1 { 0.1 } else { 0.0 }), random.signed(), place.into())
        })
        .collect();
    let [exact, around] = [exact, around].map(|robot| among(&robot, still.clone()));
    let mut seen = [0; 2];
    for _ in 0..12 {
        let place = random.vector() * 1.5;
        let values = [place.x, place.y, place.z, 3.0 * random.signed()];
        let [(verdict, inner), (_, outer)] = [&exact, &around].map(|cell| stand(cell, values));
        assert!(inner.upper >= outer.lower, "{inner:?} {outer:?}");
        assert!(inner.lower <= outer.upper + gap, "{inner:?} {outer:?}");
        assert!(inner.upper - inner.lower <= 1e-9 * inner.upper.abs(), "{inner:?}");
        seen[usize::from(verdict == Some(Separated))] += 1;
    }
    assert!(seen[0] > 1 && seen[1] > 1, "{seen:?}");
}

#[test]
fn a_curved_body_takes_memory_that_is_counted() {
    let robot = mover(TUBE);
    let with_polytope = mover_with(&[TUBE], Some(0.1));
    assert!(robot.heap_bytes() > with_polytope.heap_bytes());
    let cell = among(&robot, vec![still_box(Vec3::repeat(1.0))]);
    assert!(cell.bytes_of_question() >= 8 << 20, "{}", cell.bytes_of_question());
    assert!(cell.nanoseconds_of_faces() > 0);
    assert!(cell.flat_beside_polyhedron().is_none());
    assert!(robot_of("<robot name='r'><link name='a'/></robot>").is_ok());
}
