//! What a URDF or an SRDF says that was passed over once without a word: it is read, refused where
//! the robot would be another one, or noted.

use std::sync::Arc;

use super::samples::{ROBOT_LIMITS, robot_of};
use crate::model::{AllowedReason, BuildError, Robot, Sources};
use crate::parts::{MeshContent, MeshFiles, MeshTreatment};
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;

/// A robot of two links, the second with this in it.
fn with(head: &str, inside: &str) -> String {
    format!(
        "<robot name='r' {head}><link name='a'/><link name='b'>{inside}</link><joint name='j' \
         type='continuous'><parent link='a'/><child link='b'/></joint></robot>"
    )
}

fn boxed(origin: &str, size: &str) -> String {
    format!("<collision>{origin}<geometry>{size}</geometry></collision>")
}

fn refusal(urdf: &str) -> String {
    match robot_of(urdf) {
        Err(BuildError::Description(error)) => error.to_string(),
        other => panic!("{urdf}: {other:?}"),
    }
}

#[test]
fn what_would_make_another_robot_is_an_error() {
    let unit = "<box size='1 1 1'/>";
    let xacro = "xmlns:x='u'";
    for (urdf, problem) in [
        (with(xacro, "<xacro:arm prefix=''/>"), "robot/link[b]/arm: macros of xacro are left"),
        (with("", &boxed("<origin pos='9 0 0'/>", unit)), "an origin has no \"pos\""),
        (with("", &boxed("<origin rpx='0 0 0'/>", unit)), "an origin has no \"rpx\""),
        (with("", &boxed("<origin quat_xyzw='0 0 0 1'/>", unit)), "before version 1.1"),
        (with("version='1.1'", &boxed("<origin quat_xyzw='0 0 1'/>", unit)), "four numbers"),
        (with("version='1.1'", &boxed("<origin quat_xyzw='0 0 0 0'/>", unit)), "no length"),
        (
            with("version='1.1'", &boxed("<origin rpy='0 0 0' quat_xyzw='0 0 0 1'/>", unit)),
            "both rpy and quat_xyzw",
        ),
        (with("version='2.0'", ""), "version: \"2.0\" is neither 1.0 nor 1.1"),
        (with("", &boxed("", "<box size='1 1 1' scale='2 2 2'/>")), "a box has no scale"),
        (with("", &boxed("", "<sphere radius='1' length='2'/>")), "a sphere has no length"),
        (with("", &boxed("", &unit.repeat(2))), "a geometry has one shape"),
    ] {
        let said = refusal(&urdf);
        assert!(said.contains(problem), "{said}");
    }
}

/// A quarter turn about z as version 1.1 writes it: the bar along x lies along y then.
#[test]
fn an_origin_is_turned_by_a_quaternion_where_the_version_has_them() {
    let half = 0.5_f64.sqrt();
    let origin = format!("<origin xyz='1 2 3' quat_xyzw='0 0 {half} {half}'/>");
    let bar = boxed(&origin, "<box size='2 0.1 0.1'/>");
    let robot = robot_of(&with("version='1.1'", &bar)).unwrap();
    let pose = &robot.parts[0].link_from_part;
    let end = pose.apply_rounded(&Vec3::x());
    assert!((end - Vec3::new(1.0, 3.0, 3.0)).norm() < 1e-15, "{end:?}");
    assert!(robot.notes.is_empty(), "{:?}", robot.notes);
}

#[test]
fn what_is_passed_over_without_harm_is_noted() {
    let noted = |urdf: &str| robot_of(urdf).unwrap().notes;
    let notes = noted(&with("", &boxed("", "<box size='1 1 1' colour='red' x:y='z'/>")));
    assert!(notes.len() == 1 && notes[0].contains("\"colour\" is not read"), "{notes:?}");
    let follower = |upper: f64| {
        format!(
            "<robot name='r'><link name='a'/><link name='b'/><link name='c'/>\
             <joint name='lead' type='revolute'><parent link='a'/><child link='b'/>\
             <limit lower='0' upper='1'/></joint><joint name='follow' type='revolute'>\
             <parent link='a'/><child link='c'/><limit lower='0' upper='{upper}'/>\
             <mimic joint='lead' multiplier='2'/></joint></robot>"
        )
    };
    assert!(noted(&follower(2.0)).is_empty());
    let notes = noted(&follower(0.5));
    let wanted = "joint \"follow\": follows \"lead\" from 0 to 2, beyond its own limits, 0 to 0.5";
    assert!(notes.len() == 1 && notes[0].starts_with(wanted), "{notes:?}");
}

/// Notes were empty for every public robot with hulls in place of what is not convex.
#[test]
fn a_mesh_that_becomes_its_hull_is_noted_with_its_link_its_file_and_by_how_much() {
    // An angle of sheet, 2 mm thick, with legs of a metre; and one end of it.
    let (t, one) = (0.002, 1.0);
    let ring = [[t, t], [t, one], [0.0, one], [0.0, 0.0], [one, 0.0], [one, t]];
    let mut obj = String::new();
    for z in [0.0, 1.0] {
        obj.extend(ring.iter().map(|[x, y]| format!("v {x} {y} {z}\n")));
    }
    for k in 0..6 {
        let next = (k + 1) % 6;
        obj += &format!("f {} {} {} {}\n", k + 1, next + 1, next + 7, k + 7);
    }
    obj += "f 7 8 9\nf 7 9 10\nf 7 10 11\nf 7 11 12\nf 1 3 2\nf 1 4 3\nf 1 5 4\nf 1 6 5\n";
    let effort = &mut Effort::unlimited();
    let mesh = |text: &str, effort: &mut Effort<'_>| {
        let mesh = crate::mesh::read(text.as_bytes(), None, 99, effort).unwrap();
        MeshContent::Mesh(Arc::new(mesh))
    };
    let cube = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    let meshes: MeshFiles = [
        ("angle.obj".to_owned(), mesh(&obj, effort)),
        ("solid.obj".to_owned(), mesh(cube, effort)),
    ]
    .into();
    let part = |name: &str| boxed("", &format!("<mesh filename='{name}'/>"));
    let inside = part("angle.obj").repeat(2) + &part("solid.obj");
    let urdf = with("", &inside);
    let sources = Sources {
        urdf: &urdf,
        srdf: None,
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::Hull,
    };
    let robot = Robot::build(&sources, &ROBOT_LIMITS, effort).unwrap();
    let [note] = &robot.notes[..] else { panic!("{:?}", robot.notes) };
    assert!(
        note.starts_with("link \"b\": the mesh \"angle.obj\" is not convex; its hull"),
        "{note}"
    );
    let [lower, upper] = [robot.parts[0].gap.lower.unwrap(), robot.parts[0].gap.upper.unwrap()];
    assert!((lower..=upper).contains(&0.499) && upper - lower < 0.05, "{lower} {upper}");
    assert!(note.contains(&crate::mesh::convexity::in_words([lower, upper])), "{note}");
}

/// Two packages have a mesh of one name, and one file came; and a part in millimetres.
#[test]
fn a_file_for_two_packages_and_a_size_in_millimetres_are_noted() {
    let effort = &mut Effort::unlimited();
    let cube = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    let mesh = crate::mesh::read(cube.as_bytes(), None, 99, effort).unwrap();
    let content = MeshContent::Mesh(Arc::new(mesh));
    let part = |name: &str| boxed("", &format!("<mesh filename='{name}'/>"));
    let inside = part("package://one/hand.obj") + &part("package://two/hand.obj");
    let large = boxed("", "<box size='0.1 350 0.1'/>");
    let urdf = with("", &(inside + &large));
    let notes = |names: &[&str]| {
        let meshes: MeshFiles =
            names.iter().map(|name| ((*name).to_owned(), content.clone())).collect();
        let sources = Sources {
            urdf: &urdf,
            srdf: None,
            meshes: &meshes,
            gap_max: None,
            leave_out_missing: false,
            mesh_treatment: MeshTreatment::Hull,
        };
        Robot::build(&sources, &ROBOT_LIMITS, &mut Effort::unlimited()).unwrap().notes
    };
    let said = notes(&["hand.obj"]);
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(said[0], "link \"b\": a shape is 350 m large: are these millimetres?");
    assert!(said[1].starts_with("one file, \"hand.obj\", stands for \"package://one/hand.obj\""));
    let said = notes(&["package://one/hand.obj", "package://two/hand.obj"]);
    assert_eq!(said.len(), 1, "{said:?}");
}

const ARM: &str = "<robot name='arm'><link name='base'><collision><geometry><box size='1 1 1'/>\
    </geometry></collision></link><link name='l1'><collision><geometry><box size='1 1 1'/>\
    </geometry></collision></link><link name='l2'><collision><geometry><box size='1 1 1'/>\
    </geometry></collision></link><link name='tool'><collision><geometry><box size='1 1 1'/>\
    </geometry></collision></link><joint name='j1' type='continuous'><parent link='base'/>\
    <child link='l1'/></joint><joint name='j2' type='continuous'><parent link='l1'/>\
    <child link='l2'/></joint><joint name='j3' type='continuous'><parent link='l2'/>\
    <child link='tool'/></joint></robot>";

fn arm(srdf: &str) -> Robot {
    let (meshes, srdf) = (MeshFiles::new(), Some(srdf));
    let sources = Sources {
        urdf: ARM,
        srdf,
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::Hull,
    };
    Robot::build(&sources, &ROBOT_LIMITS, &mut Effort::unlimited()).unwrap()
}

/// Groups by chains and links had no joints.
#[test]
fn groups_have_the_joints_of_their_chains_and_links() {
    let robot =
        arm("<robot name='arm'><group name='a'><chain base_link='base' tip_link='l2'/></group>\
         <group name='b'><link name='base'/><link name='tool'/><link name='l1'/></group>\
         <group name='c'><joint name='j2'/><group name='b'/></group>\
         <group name='d'><chain base_link='tool' tip_link='base'/></group></robot>");
    let groups: Vec<_> = robot.groups.iter().map(|group| group.joints.join(" ")).collect();
    assert_eq!(groups, ["j1 j2", "j3 j1", "j2 j3 j1", ""]);
    let [note] = &robot.notes[..] else { panic!("{:?}", robot.notes) };
    assert!(note.contains("robot/group[d]/chain: is left out"), "{note}");
}

#[test]
fn what_an_srdf_disables_by_default_is_but_for_what_it_enables() {
    let robot = arm("<robot name='arm'><disable_default_collisions link='base'/>\
         <disable_default_collisions link='nowhere'/>\
         <enable_collisions link1='tool' link2='base'/></robot>");
    let told: Vec<_> = robot.allowed.iter().map(|pair| (pair.links, &pair.reason)).collect();
    let default = AllowedReason::Semantics("Default".to_owned());
    let adjacent = AllowedReason::Adjacent;
    let wanted = [([0, 1], &default), ([0, 2], &default), ([1, 2], &adjacent), ([2, 3], &adjacent)];
    assert_eq!(told, wanted);
    assert!(robot.notes.len() == 1 && robot.notes[0].contains("\"nowhere\""), "{:?}", robot.notes);
}

#[test]
fn an_srdf_of_another_robot_and_a_virtual_joint_are_noted() {
    let robot =
        arm("<robot name='leg'><virtual_joint name='odom' type='planar' parent_frame='world' \
         child_link='base'/></robot>");
    assert_eq!(robot.notes.len(), 2, "{:?}", robot.notes);
    assert!(robot.notes[0].contains("the SRDF is of \"leg\", and the URDF of \"arm\""));
    assert!(robot.notes[1].contains("robot/virtual_joint[odom]: is not obeyed"));
    assert!(arm("<robot name='arm'/>").notes.is_empty() && arm("<robot/>").notes.is_empty());
}

/// Such robots were refused, and 26 public ones with balls and boxes of no size as well.
#[test]
fn a_mimic_that_is_left_at_a_fixed_joint_and_shapes_without_size_are_noted() {
    let joint = |name: &str, kind: &str, child: &str, mimic: &str| {
        format!(
            "<joint name='{name}' type='{kind}'><parent link='a'/><child link='{child}'/>\n\
             <limit lower='-1' upper='1'/>{mimic}</joint>\n"
        )
    };
    let ball = "<collision><geometry><sphere radius='0'/></geometry></collision>";
    let plate = "<collision><geometry><box size='1 0 2'/></geometry></collision>";
    let urdf = format!(
        "<robot name='r'><link name='a'>{ball}</link>\n<link name='b'>{plate}</link><link \
         name='c'/>\n{}{}</robot>",
        joint("stuck", "fixed", "b", "<mimic joint='loose'/>"),
        joint("loose", "revolute", "c", "<mimic joint='stuck' multiplier='3'/>"),
    );
    let model = robot_of(&urdf).unwrap();
    let notes = model.notes.join("\n");
    for note in [
        "this sphere has no volume",
        "this box has no volume",
        "its mimic is not read",
        "it mimics a fixed joint, and is fixed, too",
    ] {
        assert!(notes.contains(note), "{notes}");
    }
    let offset = urdf.replace("multiplier='3'", "offset='3'");
    let Err(BuildError::Description(error)) = robot_of(&offset) else { panic!("taken") };
    assert!(error.to_string().contains("with an offset"), "{error}");
}

/// A misspelt `<colision>` left a link without shapes, and nothing was said. What is known to say
/// nothing here, and what is of another namespace, is passed over still.
#[test]
fn elements_that_nobody_reads_are_noted_where_they_stand() {
    let unit = "<geometry><box size='1 1 1'/></geometry>";
    let notes = |urdf: &str| robot_of(urdf).unwrap().notes;
    let misspelt = with("", &format!("<colision>{unit}</colision>"));
    let said = notes(&misspelt);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("robot/link[b]: the element \"colision\" is not read"), "{said:?}");
    let outside = misspelt.replace("colision", "collision").replace("</robot>", "<mimic/></robot>");
    assert!(notes(&outside)[0].contains("robot: the element \"mimic\" is not read"));
    let of_joint = with("", "").replace("<parent link='a'/>", "<parent link='a'/><axes/>");
    assert!(notes(&of_joint)[0].contains("joint[j]: the element \"axes\" is not read"));
    let of_collision = with("", &format!("<collision><orign/>{unit}</collision>"));
    assert!(notes(&of_collision)[0].contains("collision: the element \"orign\" is not read"));
    let known = "<visual/><inertial/><drake:proximity/>";
    assert_eq!(notes(&with("", known)), Vec::<String>::new());
}
