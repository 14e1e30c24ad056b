//! No list of a frame or a filter takes more than its share of a scene: twice as long, it takes
//! about twice as long to be worked on, with all that it is compared with as long as it is.
//!
//! Names of a filter were compared with groups one by one, and so were those that a body leaves;
//! each change of a body copied all of its groups; and what hangs on one link made a list of all
//! its pairs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::METHODS;
use clearance_robot::Robot;
use clearance_robot::model::Sources;
use clearance_robot::parts::MeshTreatment;
use clearance_robot::urdf::DescriptionLimits;
use clearance_samples::assert_doubles;
use clearance_scene::query::{BodyFilter, SceneView};
use clearance_scene::{Attached, rest_values};
use clearance_scene::{
    Body, BodyChange, BodyId, Declaration, Frame, Limits, RobotChanges, RobotId, RuleChanges,
    Scene, SceneRobot,
};

const LIMITS: Limits = Limits {
    bodies_max: 40_000,
    parts_max: 40_000,
    classes_max: 4_096,
    pairs_max: 200_000,
    listed_max: 100_000,
};

fn declare(declaration: Declaration) -> Scene {
    Scene::open(declaration, &METHODS[0], LIMITS).unwrap()
}

fn frame(id: u64) -> Frame {
    Frame { id, ..Frame::default() }
}

fn same(id: u32) -> BodyChange {
    BodyChange {
        id: BodyId(id),
        parts: Vec::new(),
        left_groups: Vec::new(),
        joined_groups: Vec::new(),
        fixed: None,
        category: None,
        mask: None,
        margin: None,
        continuous: None,
    }
}

fn names(first: char, count: usize) -> Vec<String> {
    (0..count).map(|k| format!("{first}{k}")).collect()
}

/// Bodies far from each other, of which the first is in very many groups. None is checked against
/// another unless a list says so.
fn lonely(count: usize, groups: usize) -> Vec<Body> {
    let corner = |k: u32| Vec3::from([0, 1, 2].map(|axis| f64::from(k >> axis & 1)));
    let corners: Vec<Vec3> = (0..8).map(corner).collect();
    let shape = Arc::new(convex_hull(&corners).unwrap().polytope);
    let body = |id: u32| Body {
        groups: if id == 0 { names('g', groups).into() } else { names('h', 1).into() },
        fixed: true,
        ..Body::solid(id, shape.clone()).placed(Pose::translation(10.0 * f64::from(id), 0.0, 0.0))
    };
    (0..count as u32).map(body).collect()
}

fn lonely_scene(count: usize, groups: usize) -> Scene {
    declare(Declaration { bodies: lonely(count, groups), ..Declaration::default() })
}

fn applied(scene: &Scene, frame: &Frame) -> Duration {
    let mut scene = scene.clone();
    let begun = Instant::now();
    scene.apply(frame).unwrap();
    begun.elapsed()
}

const MANY: usize = 8_000;

#[test]
fn lists_of_names_take_twice_as_long_when_they_are_twice_as_long() {
    // Both lists grow: a body's groups, and those that are compared with them.
    let ask = |count: usize, filter: BodyFilter| {
        let scene = lonely_scene(4, count);
        let begun = Instant::now();
        let _ = SceneView::new(&scene, &filter, 1).unwrap();
        begun.elapsed()
    };
    assert_doubles("groups of a filter", MANY, |count| {
        ask(count, BodyFilter { groups: names('g', count), ..BodyFilter::default() })
    });
    assert_doubles("ignored groups of a filter", MANY, |count| {
        ask(count, BodyFilter { ignored_groups: names('g', count), ..BodyFilter::default() })
    });
    let with = |changed: Vec<BodyChange>| Frame { changed, ..frame(1) };
    assert_doubles("groups that a body leaves", MANY, |count| {
        let left_groups = names('g', count);
        applied(&lonely_scene(4, count), &with(vec![BodyChange { left_groups, ..same(0) }]))
    });
    assert_doubles("groups that a body joins", MANY, |count| {
        let joined_groups = names('j', count);
        applied(&lonely_scene(4, count), &with(vec![BodyChange { joined_groups, ..same(0) }]))
    });
    assert_doubles("changes of one body in many groups", MANY / 4, |count| {
        let join = |name: &String| BodyChange { joined_groups: vec![name.clone()], ..same(0) };
        applied(&lonely_scene(4, count), &with(names('j', count).iter().map(join).collect()))
    });
}

#[test]
fn lists_of_pairs_take_twice_as_long_when_they_are_twice_as_long() {
    // All are pairs of the last body, the others of which come from the last to the first.
    let pairs = |count: usize| -> Vec<[BodyId; 2]> {
        let last = BodyId(count as u32);
        (0..count as u32).rev().map(|id| [BodyId(id), last]).collect()
    };
    let ruled = |count: usize, changes: RuleChanges| {
        let frame = Frame { rule_changes: Some(changes), ..frame(1) };
        applied(&lonely_scene(count + 1, 1), &frame)
    };
    let count = MANY;
    assert_doubles("ignored pairs of one body", count, |count| {
        ruled(count, RuleChanges { added_ignored_pairs: pairs(count), ..RuleChanges::default() })
    });
    assert_doubles("checked pairs of one body", count, |count| {
        ruled(count, RuleChanges { added_checked_pairs: pairs(count), ..RuleChanges::default() })
    });
}

/// A cart on a rail.
const SLIDER: &str = r#"<robot name="slider"><link name="rail"/><link name="cart">
  <collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9" velocity="2"/></joint></robot>"#;

/// A cart among bodies that it is to carry.
fn with_cart(bodies: usize) -> (Scene, Frame) {
    let meshes = std::collections::BTreeMap::new();
    let sources = Sources {
        urdf: SLIDER,
        srdf: None,
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::Hull,
    };
    let limits = DescriptionLimits { nodes_max: 99, links_max: 9, parts_max: 9, depth_max: 9 };
    let robot = Robot::build(&sources, &limits, &mut Effort::unlimited()).unwrap();
    let robots = vec![SceneRobot {
        id: RobotId(50_000),
        name: String::new(),
        base: Pose::translation(0.0, 9.0, 0.0),
        values: rest_values(&robot),
        paddings: vec![0.0; robot.links.len()],
        robot: Arc::new(robot),
        traits: Body { fixed: true, ..Body::without_parts() },
        attached: Vec::new(),
    }];
    let scene =
        declare(Declaration { bodies: lonely(bodies, 1), robots, ..Declaration::default() });
    let on_cart = |id: u32| {
        let (body, link) = (BodyId(id), "cart".to_owned());
        let touch_links = vec!["rail".to_owned(), "cart".to_owned()];
        (RobotId(50_000), Attached { body, link, link_from_body: None, touch_links })
    };
    let attached = (0..bodies as u32).map(on_cart).collect();
    let robots = RobotChanges { attached, ..RobotChanges::default() };
    (scene, Frame { robots, ..frame(1) })
}

#[test]
fn what_hangs_on_one_link_takes_twice_as_long_when_it_is_twice_as_much() {
    assert_doubles("attached bodies", MANY / 2, |count| {
        let (scene, attach) = with_cart(count);
        applied(&scene, &attach)
    });
    assert_doubles("detached bodies", MANY / 2, |count| {
        let (mut scene, attach) = with_cart(count);
        scene.apply(&attach).unwrap();
        let detached = (0..count as u32).map(BodyId).collect();
        let robots = RobotChanges { detached, ..RobotChanges::default() };
        applied(&scene, &Frame { robots, ..frame(2) })
    });
}
