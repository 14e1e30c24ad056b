//! What a URDF and an SRDF may say, and what is answered when they are wrong.

use std::sync::Arc;

use super::samples::{PANDA, ROBOT_LIMITS, panda, panda_meshes, robot_of};
use crate::model::{AllowedReason, BuildError, Robot, Sources};
use crate::parts::{Gap, MeshContent, MeshFiles, MeshTreatment, PartSource};
use crate::srdf::{Semantics, Subject};
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;

#[test]
fn the_panda_has_its_parts_and_the_pairs_that_need_no_check() {
    let robot = panda();
    assert_eq!((robot.links.len(), robot.joints.len()), (11 + 2, 12));
    // Nine hulls, and four boxes of each finger.
    assert_eq!(robot.parts.len(), 9 + 8);
    let left = robot.link("panda_leftfinger").unwrap();
    assert_eq!(robot.links[left].parts.len(), 4);
    assert_eq!(robot.kinematics.tree().variables.len(), 8);
    let reason = |a: &str, b: &str| {
        let [a, b] = [a, b].map(|name| robot.link(name).unwrap());
        let found = robot.allowed.iter().find(|pair| pair.links == [a.min(b), a.max(b)]);
        found.map(|pair| pair.reason.clone())
    };
    let said = |text: &str| Some(AllowedReason::Semantics(text.to_owned()));
    assert_eq!(reason("panda_link3", "panda_rightfinger"), said("Never"));
    assert_eq!(reason("panda_hand", "panda_link7"), said("Adjacent"));
    assert_eq!(reason("panda_link0", "panda_link5"), None);
    for part in &robot.parts {
        if let PartSource::Mesh { closed, .. } = part.source {
            assert!(closed && part.gap.upper.unwrap() < 0.08, "{:?}", part.gap);
        }
    }
    assert_eq!(robot.states[0].name, "default");
    assert_eq!(robot.groups[2].joints.len(), 8);
}

#[test]
fn meshes_that_are_missing_are_named_or_left_out_on_request() {
    let mut meshes = panda_meshes();
    meshes.remove("link3.stl");
    let build = |leave_out_missing| {
        let sources = Sources {
            urdf: PANDA,
            srdf: None,
            meshes: &meshes,
            gap_max: None,
            leave_out_missing,
            mesh_treatment: MeshTreatment::Hull,
        };
        Robot::build(&sources, &ROBOT_LIMITS, &mut Effort::unlimited())
    };
    let Err(BuildError::MissingMeshes(missing)) = build(false) else { panic!() };
    assert!(missing.len() == 1 && missing[0].ends_with("collision/link3.stl"));
    let robot = build(true).unwrap();
    assert_eq!(robot.parts.len(), 16);
    assert!(robot.notes[0].ends_with("collision/link3.stl"), "{:?}", robot.notes);
}

#[test]
fn a_mirrored_and_scaled_mesh_is_still_closed_and_convex() {
    let mesh = crate::mesh::read(
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
        None,
        10,
        &mut Effort::unlimited(),
    );
    let meshes: MeshFiles =
        [("a/t.obj".to_owned(), MeshContent::Mesh(Arc::new(mesh.unwrap())))].into();
    let urdf = r#"<robot name="r"><link name="l"><collision><geometry>
        <mesh filename="package://x/t.obj" scale="-2 1 0.5"/></geometry></collision></link>
        </robot>"#;
    let sources = Sources {
        urdf,
        srdf: None,
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::Hull,
    };
    let robot = Robot::build(&sources, &ROBOT_LIMITS, &mut Effort::unlimited()).unwrap();
    let part = &robot.parts[0];
    assert!(part.body.vertices().contains(&Vec3::new(-2.0, 0.0, 0.0)));
    assert!(matches!(part.source, PartSource::Mesh { closed: true, convex: true, .. }));
    assert_eq!(part.gap, Gap::NONE);
}

/// A robot of two links and this joint.
fn with_joint(joint: &str) -> String {
    format!("<robot name='r'>\n<link name='a'/>\n<link name='b'/>\n{joint}\n</robot>")
}

#[test]
fn whatever_is_wrong_is_said_with_its_line_and_place() {
    let between = "<parent link='a'/><child link='b'/>";
    let circle = "<robot><link name='a'/><link name='b'/><link name='c'/>
        <joint name='j' type='fixed'><parent link='b'/><child link='c'/></joint>
        <joint name='k' type='fixed'><parent link='c'/><child link='b'/></joint></robot>";
    let mimics = "<joint name='j' type='continuous'><parent link='a'/><child link='b'/>
        <mimic joint='k'/></joint><joint name='k' type='continuous'><parent link='b'/>
        <child link='c'/><mimic joint='j'/></joint><link name='c'/>";
    let cases = [
        ("<robot>\n<link name='a'>\n</robot>".to_owned(), 3, "link"),
        ("<machine/>".to_owned(), 1, "must be robot"),
        ("<sdf version='1.9'/>".to_owned(), 1, "SDF is not read"),
        ("<mujoco/>".to_owned(), 1, "MJCF is not read"),
        ("<robot><link name='a'/>\n<link name='a'/></robot>".to_owned(), 2, "has this name"),
        ("<robot name='r'/>".to_owned(), 1, "no link"),
        (with_joint(""), 0, "\"a\" and \"b\""),
        (circle.to_owned(), 3, "circle"),
        (with_joint(mimics), 4, "mimics itself"),
        (with_joint("<joint name='j' type='fixed'><parent link='a'/></joint>"), 4, "needs a child"),
        (
            with_joint(
                "<joint name='j' type='fixed'><parent link='a'/>\n<child link='z'/></joint>",
            ),
            5,
            "robot/joint[j]/child: the link \"z\" is not there",
        ),
        (with_joint(&format!("<joint name='j' type='ball'>{between}</joint>")), 4, "\"ball\""),
        (
            with_joint(&format!("<joint name='j' type='revolute'>{between}</joint>")),
            4,
            "needs a limit",
        ),
        (
            with_joint(&format!(
                "<joint name='j' type='continuous'>{between}\n<axis xyz='0 NaN 1'/></joint>"
            )),
            5,
            "robot/joint[j]/axis: xyz: \"NaN\" is no finite number",
        ),
        (
            with_joint(&format!(
                "<joint name='j' type='continuous'>{between}<axis xyz='0 0 0'/></joint>"
            )),
            4,
            "must not be zero",
        ),
        (
            with_joint(&format!(
                "<joint name='j' type='continuous'>{between}<mimic joint='z'/></joint>"
            )),
            4,
            "mimics the joint \"z\"",
        ),
        (
            "<robot><link name='a'><collision><geometry><box size='1 -1 1'/></geometry>\
             </collision></link></robot>"
                .to_owned(),
            1,
            "size must not be negative",
        ),
    ];
    for (urdf, line, problem) in cases {
        let Err(BuildError::Description(error)) = robot_of(&urdf) else { panic!("{urdf}") };
        assert!(error.to_string().contains(problem), "{error}");
        assert_eq!(error.line, line, "{error}");
    }
}

/// What is no XML is refused with its line; what is, is read whatever its names and spaces.
#[test]
fn a_text_is_read_as_xml_and_refused_with_its_line_where_it_is_none() {
    let link = "<link name='a'/>";
    for (text, line, problem) in [
        (String::new(), 1, "no element"),
        ("robot".to_owned(), 1, "outside"),
        (format!("<robot>{link}\n"), 1, "\"robot\" is not closed"),
        (format!("<robot>{link}</robot>\n<robot/>"), 2, "more than one"),
        (format!("<robot>{link}</robot>\n&lt;"), 2, "outside"),
        (format!("<robot>\n<1/>{link}</robot>"), 2, "no name"),
        (format!("<robot>\n< link/>{link}</robot>"), 2, "no name"),
        (format!("<robot>\n<<link/>{link}</robot>"), 2, ""),
        (format!("<robot>\n<>{link}</robot>"), 2, ""),
        (format!("<robot>\n<a b/>{link}</robot>"), 2, ""),
        (format!("<robot>\n<a b=c/>{link}</robot>"), 2, ""),
        (format!("<robot>\n<a//>{link}</robot>"), 2, "no name"),
        (format!("<robot>\n<a b='1' c='' b='2'/>{link}</robot>"), 2, "\"b\" is there twice"),
        (format!("<robot>\n<a b='<'/>{link}</robot>"), 2, "has a <"),
        (format!("<robot>\n<a b='&c;'/>{link}</robot>"), 2, "`c`"),
        (format!("<robot>\n&c;{link}</robot>"), 2, "&c; is not known"),
        (format!("<robot>\n<!-- a -- b -->{link}</robot>"), 2, "`--`"),
        (format!("<robot>\n<!-- a{link}</robot>"), 2, "comment"),
        (format!("<robot>\n<a b='{link}</robot>"), 2, "not closed"),
        (format!("<!DOCTYPE robot>\n<robot>{link}</robot>"), 1, "DTD"),
    ] {
        let Err(BuildError::Description(error)) = robot_of(&text) else { panic!("{text}") };
        assert!(error.to_string().contains(problem), "{text}: {error}");
        assert_eq!(error.line, line, "{text}: {error}");
    }
    let text = "\u{feff}<?xml version='1.0'?><!-- \u{e9} -->\n\
                <x:robot xmlns:x='u' y:z='1' name = 'r&#65;\n&quot;'><?p q?>\u{e9}&lt;<![CDATA[<]]>\
                <link\n\tname='a' x:name='b' ></link ></x:robot>\n";
    let robot = robot_of(text).unwrap();
    assert_eq!((robot.name.as_str(), robot.links[0].name.as_str()), ("rA \"", "a"));
}

#[test]
fn a_joint_that_moves_about_no_axis_may_say_that_it_is_zero() {
    for kind in ["fixed", "floating"] {
        let urdf = format!(
            "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='{kind}'>\
             <parent link='a'/><child link='b'/><axis xyz='0 0 0'/></joint></robot>"
        );
        assert!(robot_of(&urdf).is_ok(), "{kind}");
    }
}

#[test]
fn bombs_are_refused_before_they_grow() {
    let refused = |urdf: &str| match robot_of(urdf) {
        Err(BuildError::Description(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let bomb = "<!DOCTYPE r [<!ENTITY a 'aaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]>\
        <robot name='&b;'><link name='a'/></robot>";
    assert!(refused(bomb).contains("DTD"), "{}", refused(bomb));
    let links: String = (0..100_000).map(|i| format!("<link name='l{i}'/>")).collect();
    assert!(refused(&format!("<robot>{links}</robot>")).contains("node"), "nodes");
    let links: String = (0..2_000).map(|i| format!("<link name='l{i}'/>")).collect();
    assert!(refused(&format!("<robot>{links}</robot>")).contains("more than 1000 links"));
    let chain: String = (0..200)
        .map(|i| {
            format!(
                "<link name='l{i}'/><joint name='j{i}' type='continuous'><parent link='l{i}'/>\
                 <child link='l{}'/></joint>",
                i + 1
            )
        })
        .collect();
    let deep = refused(&format!("<robot>{chain}<link name='l200'/></robot>"));
    assert!(deep.contains("more than 100 joints"), "{deep}");
    // Each group holds the one before twice: the last would have 2^60 joints.
    let groups: String = (1..60)
        .map(|i| {
            format!("<group name='g{i}'><group name='g{0}'/><group name='g{0}'/></group>", i - 1)
        })
        .collect();
    let srdf = format!("<robot><group name='g0'><joint name='j'/></group>{groups}</robot>");
    let error = Semantics::read(&srdf, 100_000, &Subject::default(), &mut Effort::unlimited())
        .unwrap_err()
        .to_string();
    assert!(error.contains("200000 joints"), "{error}");
    // A name of megabytes, repeated by each group that names the one that has it.
    let named = "<group name='g'/>".repeat(1_000);
    let long = "j".repeat(1 << 20);
    let first = format!("<group name='g'><joint name='{long}'/></group>");
    let srdf = format!("<robot>{first}<group name='h'>{named}</group></robot>");
    let error = Semantics::read(&srdf, 100_000, &Subject::default(), &mut Effort::unlimited())
        .unwrap_err()
        .to_string();
    assert!(error.contains("16777216 bytes"), "{error}");
    // Elements in each other without end cost a stack in a parser that calls itself.
    let nested = format!("<robot>{}{}</robot>", "<a>".repeat(50_000), "</a>".repeat(50_000));
    assert!(refused(&nested).contains("no link"), "{}", refused(&nested));
}
