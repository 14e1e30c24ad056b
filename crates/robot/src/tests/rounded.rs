//! Links and obstacles with balls around all their points: balls, capsules and boxes, beside each
//! other, meshes and clouds.

use std::sync::Arc;

use super::samples::{robot_of, still_box};
use super::solids::{self, MESH_PART, Told, Twice, ask, clearances, pairs_of, polyhedron, urdf};
use crate::Robot;
use crate::body::PartBody;
use crate::cell::{Cell, Instance};
use crate::check::{CheckMode, CheckQuestion, Checked, SignedClearance};
use crate::claim::EdgeContactProof;
use crate::cloud::BoxedCloud;
use crate::edge::EdgeAnswer;
use crate::still::StillBody;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::cloud::PointCloud;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pose::Pose;
use clearance_samples::Random;

fn rounded(points: &[Vec3], radius: f64) -> PartBody {
    PartBody::from(Arc::new(convex_hull(points).unwrap().polytope)).rounded(radius)
}

fn ball(radius: f64) -> PartBody {
    rounded(&[Vec3::zeros()], radius)
}

fn capsule(half: f64, radius: f64) -> PartBody {
    rounded(&[Vec3::new(0.0, 0.0, -half), Vec3::new(0.0, 0.0, half)], radius)
}

fn at_origin(body: PartBody) -> StillBody {
    StillBody { body, pose: Pose::identity() }
}

/// A link of this shape that three sliding joints carry.
fn slider(shape: &str) -> Robot {
    let slide = |name: &str, parent: &str, child: &str, axis: &str| {
        format!(
            "<joint name='{name}' type='prismatic'><parent link='{parent}'/><child link='{child}'/>\
             <axis xyz='{axis}'/><limit lower='-99' upper='99' velocity='1'/></joint>"
        )
    };
    let urdf = format!(
        "<robot name='slider'><link name='base'/><link name='a'/><link name='b'/><link name='c'>\
         <collision><geometry>{shape}</geometry></collision></link>{}{}{}</robot>",
        slide("x", "base", "a", "1 0 0"),
        slide("y", "a", "b", "0 1 0"),
        slide("z", "b", "c", "0 0 1"),
    );
    robot_of(&urdf).unwrap()
}

fn among(robot: &Robot, still: Vec<StillBody>) -> Cell {
    Cell::new(&[Instance { robot, world_from_base: Pose::identity() }], still)
}

/// The verdict and the clearance in a configuration.
fn stand(cell: &Cell, at: [f64; 3]) -> (Verdict, SignedClearance) {
    let question = CheckQuestion {
        mode: CheckMode::Clearance,
        with_gradient: true,
        ..CheckQuestion::default()
    };
    let checked = cell.check(question, &at, &mut Effort::unlimited()).remove(0);
    let found = clearances(&checked)[0].clone().unwrap();
    let contacts = pairs_of(&ask(cell, CheckMode::AllPairs, &at)[0]);
    let verdict = contacts.first().map_or(Verdict::Separated, |(_, verdict)| *verdict);
    assert_eq!(found.verdict, Some(verdict));
    assert_eq!(ask(cell, CheckMode::FirstPair, &at)[0] == Checked::Free, contacts.is_empty());
    (verdict, found)
}

/// Whether a clearance encloses a number narrowly.
fn is_about(found: &SignedClearance, number: f64) -> bool {
    let room = 1e-12 * number.abs();
    found.lower <= number && number <= found.upper && found.upper - found.lower <= room
}

#[test]
fn a_ball_of_a_urdf_touches_where_squares_are_equal_and_nowhere_else() {
    let (touching, apart, over) = (Verdict::Touching, Verdict::Separated, Verdict::Overlapping);
    let robot = slider("<sphere radius='2'/>");
    assert!(
        robot.parts[0].body.radius().to_bits() == 2.0_f64.to_bits()
            && robot.parts[0].gap.upper == Some(0.0)
    );
    let cell = among(&robot, vec![at_origin(ball(3.0))]);
    for at in [[3.0, 4.0, 0.0], [0.0, -3.0, 4.0], [5.0, 0.0, 0.0]] {
        assert_eq!(stand(&cell, at).0, touching, "{at:?}");
        for k in (0..3).filter(|k| at[*k] != 0.0) {
            let off = |by: fn(f64) -> f64| {
                let mut off = at;
                off[k] = by(at[k].abs()) * at[k].signum();
                stand(&cell, off).0
            };
            assert_eq!((off(f64::next_up), off(f64::next_down)), (apart, over), "{at:?}");
        }
    }
    let thicker = among(&robot, vec![at_origin(ball(3.0f64.next_up()))]);
    let thinner = among(&robot, vec![at_origin(ball(3.0f64.next_down()))]);
    assert_eq!(stand(&thicker, [3.0, 4.0, 0.0]).0, over);
    assert_eq!(stand(&thinner, [3.0, 4.0, 0.0]).0, apart);
}

#[test]
fn clearances_and_gradients_of_balls_are_those_of_their_middles_less_the_radii() {
    let cell = among(&slider("<sphere radius='0.5'/>"), vec![at_origin(ball(0.25))]);
    let (verdict, far) = stand(&cell, [6.0, 8.0, 0.0]);
    assert!(verdict == Verdict::Separated && is_about(&far, 9.25), "{far:?}");
    let geometry = far.geometry.unwrap();
    let towards = Vec3::new(-0.6, -0.8, 0.0);
    assert!((geometry.normal - towards).norm() < 1e-12);
    assert!((geometry.first - Vec3::new(5.7, 7.6, 0.0)).norm() < 1e-12);
    assert!((geometry.second - Vec3::new(0.15, 0.2, 0.0)).norm() < 1e-12);
    assert!((Vec3::from_column_slice(&geometry.gradient) + towards).norm() < 1e-12);
    let (verdict, deep) = stand(&cell, [0.3, 0.4, 0.0]);
    assert!(verdict == Verdict::Overlapping && is_about(&deep, -0.25), "{deep:?}");
    assert!((deep.geometry.unwrap().normal - towards).norm() < 1e-12);
    // One in the other, with one middle: either way out is as long.
    let (verdict, inner) = stand(&cell, [0.0; 3]);
    assert!(verdict == Verdict::Overlapping && is_about(&inner, -0.75), "{inner:?}");
    assert!((inner.geometry.unwrap().normal.norm() - 1.0).abs() < 1e-12);
}

#[test]
fn boxes_and_capsules_are_as_deep_as_their_polytopes_and_the_radii() {
    let boxed = among(&slider("<box size='2 2 2'/>"), vec![at_origin(capsule(1.0, 0.5))]);
    for (at, verdict, clearance) in [
        ([2.0, 0.0, 0.0], Verdict::Separated, 0.5),
        ([1.5, 0.0, 0.0], Verdict::Touching, 0.0),
        ([1.25, 0.0, 0.0], Verdict::Overlapping, -0.25),
        ([0.75, 0.0, 0.0], Verdict::Overlapping, -0.75),
        ([0.0, 0.0, 2.5], Verdict::Touching, 0.0),
    ] {
        let (found, measured) = stand(&boxed, at);
        assert!(found == verdict && is_about(&measured, clearance), "{at:?} {measured:?}");
    }
    let cube = still_box(Vec3::repeat(1.0));
    let padded = StillBody { body: cube.body.rounded(0.25), ..cube };
    let pill = among(&slider("<capsule radius='0.375' length='2'/>"), vec![padded]);
    assert_eq!(stand(&pill, [1.625, 0.0, 0.0]).0, Verdict::Touching);
    // Beyond an edge of the box: 3, 4 and 5 eighths.
    assert_eq!(stand(&pill, [1.375, 1.5, 0.0]).0, Verdict::Touching);
    assert_eq!(stand(&pill, [1.375, 1.5f64.next_up(), 0.0]).0, Verdict::Separated);
    assert_eq!(stand(&pill, [1.375f64.next_down(), 1.5, 0.0]).0, Verdict::Overlapping);
}

/// A million times the body, and so large that squares are infinite.
#[test]
fn balls_of_any_size_stand_exactly() {
    let robot = slider("<box size='2 2 2'/>");
    for radius in [1e-300, 1e6, 1e150, 1e200, 2f64.powi(959)] {
        let verdict = |[x, y, z]: [f64; 3]| {
            let still = StillBody { body: ball(radius), pose: Pose::translation(x, y, z) };
            stand(&among(&robot, vec![still]), [0.0; 3]).0
        };
        let at = radius + 1.0;
        // The other sums are rounded down.
        let is_exact = radius.total_cmp(&1e6).is_eq();
        let expected = if is_exact { Verdict::Touching } else { Verdict::Overlapping };
        assert_eq!(verdict([at, 0.0, 0.0]), expected, "{radius}");
        assert_eq!(verdict([0.0; 3]), Verdict::Overlapping, "{radius}");
        assert_eq!(verdict([2.0 * radius + 9.0, 0.0, 0.0]), Verdict::Separated, "{radius}");
        assert_eq!(verdict([0.0, radius / 2.0, 0.5]), Verdict::Overlapping, "{radius}");
    }
}

#[test]
fn a_ball_is_a_cloud_of_one_point_beside_links_of_every_kind() {
    let random = &mut Random(71);
    let pill = "<collision><geometry><capsule radius='0.1' length='0.2'/></geometry></collision>";
    let padded = format!("{MESH_PART}{pill}");
    let treatment = crate::parts::MeshTreatment::Polyhedron;
    let robot = solids::robot(&urdf(&padded), &solids::channel(), treatment).unwrap();
    let points: Vec<Vec3> = (0..8).map(|_| random.vector() * 0.9).collect();
    let mut seen = [0; 2];
    for point in points {
        let cloud = PointCloud::new(vec![point], 0.125, &Effort::unlimited()).unwrap();
        let cells = [rounded(&[point], 0.125), PartBody::Cloud(BoxedCloud::new(Arc::new(cloud)))]
            .map(|body| among(&robot, vec![at_origin(body)]));
        let values: Vec<f64> = (0..12)
            .flat_map(|_| {
                let at = point + random.vector() * 0.5;
                [at.x, at.y, at.z, 3.0 * random.signed(), 3.0 * random.signed(), random.signed()]
            })
            .collect();
        let [a, b] = cells.each_ref().map(|cell| ask(cell, CheckMode::AllPairs, &values));
        assert_eq!(a, b);
        seen[0] += a.iter().filter(|one| **one == Checked::Free).count();
        seen[1] += a.iter().filter(|one| **one != Checked::Free).count();
        let [a, b] = cells.each_ref().map(|cell| ask(cell, CheckMode::LinkClearance, &values));
        for (a, b) in a.iter().zip(&b) {
            for (a, b) in clearances(a).iter().flatten().zip(clearances(b).iter().flatten()) {
                assert_eq!(a.verdict, b.verdict);
                assert!(a.lower <= b.upper && b.lower <= a.upper, "{a:?} {b:?}");
            }
        }
    }
    assert!(seen[0] > 10 && seen[1] > 10, "{seen:?}");
}

/// Capsules at each place.
fn still_capsules(poses: &[Pose]) -> [Vec<StillBody>; 2] {
    let still = |pose: &Pose| StillBody { body: capsule(0.1, 0.05), pose: *pose };
    let all: Vec<StillBody> = poses.iter().map(still).collect();
    [all.clone(), all]
}

#[test]
fn links_that_are_meshes_stand_to_capsules_as_their_pieces_do() {
    let random = &mut Random(72);
    let twice = Twice::of((solids::hands(), still_capsules, 1), 8, 2, random);
    let values = twice.values(120, random);
    let [whole, in_boxes] = [0, 1].map(|of| twice.contacts(of, &values));
    let mut seen = [0; 2];
    for (at, (whole, in_boxes)) in whole.iter().zip(&in_boxes).enumerate() {
        assert_eq!(whole, in_boxes, "{at}");
        seen[usize::from(whole.is_empty())] += 1;
    }
    assert!(seen[0] > 30 && seen[1] > 20, "{seen:?}");
    let [whole, in_boxes] =
        twice.cells.each_ref().map(|cell| ask(cell, CheckMode::Clearance, &values));
    for (whole, in_boxes) in whole.iter().zip(&in_boxes) {
        let [a, b] = [whole, in_boxes].map(|one| clearances(one)[0].clone().unwrap());
        assert_eq!(a.verdict == Some(Verdict::Separated), b.verdict == Some(Verdict::Separated));
        assert!(a.lower <= b.upper + 1e-14 && b.lower <= a.upper + 1e-14, "{a:?} {b:?}");
    }
}

/// A robot of balls and capsules, of which some turn about others.
fn round_hand() -> Robot {
    let part = "<collision><origin xyz='0.02 0 0' rpy='0.3 0.2 0.1'/><geometry>\
                <capsule radius='0.06' length='0.3'/></geometry></collision>\
                <collision><geometry><sphere radius='0.1'/></geometry></collision>";
    robot_of(&urdf(part)).unwrap()
}

#[test]
fn edges_of_round_bodies_are_certified_and_thicker_ones_refused() {
    let random = &mut Random(73);
    let robot = round_hand();
    let mut forms = [0; 3];
    for at in 0..60 {
        let middle = random.vector() * 0.6;
        let body = match at % 3 {
            0 => ball(0.15),
            1 => polyhedron(&solids::channel()),
            _ => still_box(Vec3::new(0.1, 0.2, 0.05)).body.rounded(0.03),
        };
        let cell = among(&robot, vec![StillBody { body, pose: random.pose(middle) }]);
        let one = |random: &mut Random| {
            let at = random.vector() * 1.1;
            vec![at.x, at.y, at.z, 2.0 * random.signed(), 2.0 * random.signed(), random.signed()]
        };
        let told = Told::of(&cell, [one(random), one(random)], [0.0, 0.02][at % 2]);
        if let EdgeAnswer::Undecided { .. } = told.answer {
            continue;
        }
        assert_eq!(told.judged(), Ok(()), "{at}");
        forms[match &told.certificate.contact {
            None => 0,
            Some(EdgeContactProof::Near(_)) => 1,
            Some(EdgeContactProof::Rounded(_)) => 2,
            other => panic!("{other:?}"),
        }] += 1;
        // What is proven of these is not proven of thicker ones, nor a contact of thinner ones.
        let is_free = told.certificate.contact.is_none();
        assert!(told.judged_with_radii(if is_free { 1.0 } else { -0.06 }).is_err(), "{at}");
    }
    assert!(forms.iter().all(|count| *count > 3), "{forms:?}");
}

#[test]
fn an_edge_past_a_ball_is_free_up_to_where_the_radii_are() {
    let cell = among(&slider("<sphere radius='1'/>"), vec![at_origin(ball(1.0))]);
    let told = |from: [f64; 3], to: [f64; 3]| Told::of(&cell, [from.to_vec(), to.to_vec()], 0.0);
    let past = told([-4.0, 2.001, 0.0], [4.0, 2.001, 0.0]);
    assert!(past.answer == EdgeAnswer::Free && past.judged() == Ok(()));
    let into = told([-4.0, 0.0, 0.0], [4.0, 0.0, 0.0]);
    let EdgeAnswer::Contact { free_until, contact_at, .. } = into.answer else { panic!() };
    assert!(free_until <= 0.25 && 0.25 <= contact_at && contact_at - free_until <= 1e-6);
    assert_eq!(into.judged(), Ok(()));
}
