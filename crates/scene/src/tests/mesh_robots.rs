//! Robots whose links are meshes, beside the same robots whose links are what these are the union
//! of.

use super::meshes::{body, channel, channel_of_boxes, meet, scaled};
use super::robots::{frame, on_the_way, placed, to};
use super::surfaces::{sides_of, triangles_of};
use super::*;
use clearance_geometry::polyhedron::{TriangleBody, TriangleSurface};
use clearance_robot::Robot;
use clearance_robot::body::PartBody;
use clearance_robot::model::Sources;
use clearance_robot::parts::{MeshContent, MeshFiles, MeshTreatment};

const ROBOT: u32 = 100;

/// A hand that goes everywhere and turns, of these parts, and a finger that turns on it.
pub(super) fn hand(parts: &[Part]) -> Robot {
    let known = |(k, part): (usize, &Part)| {
        let body = PartBody::new(part.polytope.clone(), part.mesh.clone()).rounded(part.radius);
        (format!("{k}.obj"), MeshContent::Known(body))
    };
    let meshes: MeshFiles = parts.iter().enumerate().map(known).collect();
    let collision = |(k, part): (usize, &Part)| {
        let [x, y, z]: [f64; 3] = part.body_from_part.translation.into();
        format!(
            "<collision><origin xyz='{x} {y} {z}'/><geometry><mesh filename='{k}.obj'/></geometry>\
             </collision>"
        )
    };
    let shape: String = parts.iter().enumerate().map(collision).collect();
    let joint = |name: &str, kind: &str, parent: &str, child: &str, rest: &str| {
        format!(
            "<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>\
             {rest}<limit lower='-9' upper='9' velocity='1'/></joint>"
        )
    };
    let urdf = format!(
        "<robot name='hand'><link name='base'/><link name='a'/><link name='b'/><link name='c'/>\
         <link name='palm'>{shape}</link><link name='arm'/><link name='finger'>{shape}</link>\
         {}{}{}{}{}{}</robot>",
        joint("x", "prismatic", "base", "a", "<axis xyz='1 0 0'/>"),
        joint("y", "prismatic", "a", "b", "<axis xyz='0 1 0'/>"),
        joint("z", "prismatic", "b", "c", "<axis xyz='0 0 1'/>"),
        joint("turn", "revolute", "c", "palm", "<axis xyz='0.6 0 0.8'/>"),
        joint("swing", "revolute", "palm", "arm", "<origin xyz='0.9 0 0'/><axis xyz='0 1 0'/>"),
        joint("curl", "revolute", "arm", "finger", "<origin xyz='0.3 0 0'/><axis xyz='1 0 0'/>"),
    );
    let sources = Sources {
        urdf: &urdf,
        srdf: None,
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::default(),
    };
    Robot::build(&sources, &samples::ROBOT_LIMITS, &mut Effort::unlimited()).unwrap()
}

/// Parts of another size.
fn shrunk(parts: &[Part], by: f64) -> Vec<Part> {
    let shrink = |part: &Part| {
        let points: Vec<Vec3> = part.polytope.vertices().iter().map(|v| v * by).collect();
        let at = part.body_from_part.translation * by;
        let body_from_part = Pose::translation(at.x, at.y, at.z);
        Part { body_from_part, ..Part::of(Arc::new(samples::hull(&points))) }
    };
    parts.iter().map(shrink).collect()
}

/// Scenes of a hand among a box, a capsule and a ball of many corners, which also move.
fn scene(parts: &[Part]) -> Scene {
    let segment = Arc::new(samples::hull(&[Vec3::zeros(), Vec3::new(0.0, 0.0, 0.6)]));
    let bodies = vec![
        Body { margin: 0.02, ..body(1, vec![Part::of(cube(0.2))]) },
        body(2, vec![Part { radius: 0.15, ..Part::of(segment) }]).placed(at(1.0, 0.5, 0.0)),
        body(3, vec![Part::of(Arc::new(samples::ball(30, 7)))]).placed(at(-1.5, -1.5, 0.0)),
    ];
    let robots = vec![placed(ROBOT, &Arc::new(hand(parts)))];
    declare(Declaration { bodies, robots, ..Declaration::default() })
}

/// Verdicts, events with their times, and first contacts on the true path of the joints are those
/// of the pieces.
fn agree_with_pieces(whole: &[Part], pieces: &[Part], seed: u64) {
    agree([whole, pieces].map(scene), seed);
}

/// The same of any two scenes with the hand.
fn agree([mut whole, mut pieces]: [Scene; 2], seed: u64) {
    let mut random = Random(seed);
    let (mut met, mut apart) = (0, 0);
    for id in 1..20 {
        let near = random.vector() * 0.5;
        let turns: [f64; 3] = random.vector().into();
        let values = [&[near.x, near.y, near.z][..], &turns].concat();
        let next = frame(id, vec![to(ROBOT, &values)]);
        let [of_whole, of_pieces] =
            [&mut whole, &mut pieces].map(|scene| step(scene, &next, &on_the_way()));
        assert_eq!(verdicts(&of_whole), verdicts(&of_pieces), "{id}");
        let told = |report: &Report| {
            let mut told = report.events.clone();
            told.sort_by_key(|event| (event.kind, event.p, event.q));
            told
        };
        let (ours, theirs) = (told(&of_whole), told(&of_pieces));
        assert_eq!(ours.len(), theirs.len(), "{id}: {ours:?} {theirs:?}");
        for (one, other) in ours.iter().zip(&theirs) {
            assert_eq!((one.kind, one.p, one.q), (other.kind, other.p, other.q), "{id}");
            assert_ne!(one.kind, EventKind::Undecided, "{id}");
            meet(one.bracket, other.bracket, "the way");
            met += 1;
        }
        let is_apart = |verdict: &&Verdict| **verdict == Verdict::Separated;
        apart += verdicts(&of_whole).values().filter(is_apart).count();
    }
    assert!(met > 8 && apart > 8, "{met} {apart}");
}

#[test]
fn a_robot_whose_links_are_channels_goes_as_one_of_their_boxes() {
    let whole = [scaled(&channel(1.0), 0.2)];
    agree_with_pieces(&whole, &shrunk(&channel_of_boxes(), 0.2), 31);
}

#[test]
fn a_robot_whose_links_are_surfaces_goes_as_one_of_their_triangles() {
    let whole = scaled(&channel(1.0), 0.2);
    agree_with_pieces(&[sides_of(&whole)], &triangles_of(&whole), 32);
}

#[test]
fn a_robot_beside_a_height_field_goes_as_beside_its_triangles() {
    let channels = vec![scaled(&channel(1.0), 0.2)];
    let padded = Part { radius: 0.08, ..Part::of(cube(0.05)) };
    let grounds = super::fields::both(super::fields::field(7, &mut Random(37)));
    for (hands, seed) in [(vec![Part::of(cube(0.1))], 38), (vec![padded], 39), (channels, 40)] {
        let scenes = grounds.each_ref().map(|ground| {
            let bodies = vec![
                body(1, vec![ground.clone()]).placed(at(-1.5, -2.0, -0.2)),
                body(2, vec![ground.clone()]).placed(at(0.5, -1.5, 0.3)),
            ];
            let robots = vec![placed(ROBOT, &Arc::new(hand(&hands)))];
            declare(Declaration { bodies, robots, ..Declaration::default() })
        });
        agree(scenes, seed);
    }
}

/// Balls of this radius as one cloud, and each as a part.
fn balls(radius: f64, random: &mut Random) -> [Vec<Part>; 2] {
    let points: Vec<Vec3> = (0..12).map(|_| random.vector() * 0.6).collect();
    let surface = TriangleSurface::of_points(&points).unwrap();
    let hull = Arc::new(samples::hull(surface.vertices()));
    let cloud = Part::of_mesh(TriangleBody::Surface(Arc::new(surface)), hull);
    let ball = |point: &Vec3| Part { radius, ..Part::of(Arc::new(samples::hull(&[*point]))) };
    [vec![Part { radius, ..cloud }], points.iter().map(ball).collect()]
}

#[test]
fn a_robot_beside_clouds_of_balls_goes_as_beside_each_ball() {
    let mut random = Random(33);
    let clouds = balls(0.1, &mut random);
    let channels = vec![scaled(&channel(1.0), 0.2)];
    let padded = Part { radius: 0.08, ..Part::of(cube(0.05)) };
    for (hands, seed) in [(vec![Part::of(cube(0.1))], 34), (vec![padded], 35), (channels, 36)] {
        let scenes = clouds.each_ref().map(|cloud| {
            let bodies = vec![
                Body { margin: 0.02, ..body(1, cloud.clone()) },
                body(2, cloud.clone()).placed(at(1.2, 0.7, 0.3)),
            ];
            let robots = vec![placed(ROBOT, &Arc::new(hand(&hands)))];
            declare(Declaration { bodies, robots, ..Declaration::default() })
        });
        agree(scenes, seed);
    }
}
