//! What a client sends is read in time that grows with its length: each list of a file, made twice
//! as long, costs less than three times as much, in steps and in the processor's time.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use crate::mesh;
use crate::model::{BuildError, Robot, Sources};
use crate::parts::{MeshContent, MeshFiles, MeshTreatment};
use crate::srdf::{Semantics, Subject};
use crate::urdf::DescriptionLimits;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::until::Until;
use clearance_samples::{assert_doubles, cuboid};

/// Room for whatever is read here.
const LIMITS: DescriptionLimits = DescriptionLimits {
    nodes_max: u32::MAX,
    links_max: usize::MAX,
    parts_max: usize::MAX,
    depth_max: usize::MAX,
};

/// The processor's time of this thread.
fn time_now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

/// Compares the cost of `count` of something with that of twice as many.
fn check<T>(
    name: &str,
    count: usize,
    made: impl Fn(usize) -> T,
    read: impl Fn(&T, &mut Effort<'_>),
) {
    let (one, two) = (made(count), made(2 * count));
    let [steps, steps_of_two] = [&one, &two].map(|content| {
        let mut effort = Effort::unlimited();
        read(content, &mut effort);
        effort.cost.steps
    });
    assert!(steps_of_two < 3 * steps, "{name}: {steps} and {steps_of_two} steps");
    assert_doubles(name, count, |size| {
        let content = if size == count { &one } else { &two };
        let (start, mut effort) = (time_now(), Effort::unlimited());
        read(content, &mut effort);
        time_now() - start
    });
}

/// A text around so many pieces.
fn around(before: &str, count: usize, piece: impl Fn(usize) -> String, after: &str) -> String {
    let mut text = before.to_owned();
    (0..count).for_each(|k| text.push_str(&piece(k)));
    text + after
}

/// A robot whose one link is beside what else the file says.
fn with(count: usize, piece: impl Fn(usize) -> String) -> String {
    around("<robot name='r'><link name='l'/>\n", count, piece, "</robot>")
}

/// Links one after the other or all beside the first, each moved by a joint that says `more`.
fn of_links(count: usize, is_chain: bool, more: impl Fn(usize) -> String) -> String {
    with(count, |k| {
        let parent = match (k, is_chain) {
            (0, _) | (_, false) => "l".to_owned(),
            (k, true) => format!("l{}", k - 1),
        };
        format!(
            "<link name='l{k}'/>\n<joint name='j{k}' type='continuous'><parent link='{parent}'/>\
             <child link='l{k}'/>{}</joint>\n",
            more(k)
        )
    })
}

/// Builds a robot whose missing meshes are left out.
fn build(urdf: &str, meshes: &MeshFiles, effort: &mut Effort<'_>) -> Result<Robot, BuildError> {
    let sources = Sources {
        urdf,
        srdf: None,
        meshes,
        gap_max: None,
        leave_out_missing: true,
        mesh_treatment: MeshTreatment::Hull,
    };
    Robot::build(&sources, &LIMITS, effort)
}

fn check_urdf(name: &str, count: usize, text: impl Fn(usize) -> String) {
    check(name, count, text, |text, effort| {
        build(text, &MeshFiles::new(), effort).unwrap();
    });
}

fn collisions(count: usize) -> String {
    let collision =
        |k| format!("<collision><geometry><mesh filename='p/m{k}.stl'/></geometry></collision>\n");
    around("<robot name='r'><link name='l'>", count, collision, "</link></robot>")
}

/// 180,000 attributes of one element took 47 s, and 150,000 namespaces 18 s, long after whoever
/// sent them had gone. The line of an element was looked for from the start of the file, a mesh
/// among all that were given, and whom a joint follows among all joints.
#[test]
fn a_urdf_with_twice_as_much_of_anything_takes_less_than_three_times_as_long() {
    check_urdf("links in a star", 2_000, |n| of_links(n, false, |_| String::new()));
    check_urdf("links in a chain", 2_000, |n| of_links(n, true, |_| String::new()));
    check_urdf("joints that mimic one", 2_000, |n| {
        let mimic = |k: usize| if k == 0 { "" } else { "<mimic joint='j0'/>" };
        of_links(n, false, |k| mimic(k).to_owned())
    });
    check_urdf("collisions", 2_000, collisions);
    check(
        "collisions and their meshes",
        1_000,
        |n| {
            let cube = Arc::new(cuboid(1.0, 1.0, 1.0));
            let mesh = |k| (format!("q/m{k}.stl"), MeshContent::Known(cube.clone().into()));
            (collisions(n), (0..n).map(mesh).collect::<MeshFiles>())
        },
        |(text, meshes), effort| {
            assert!(!build(text, meshes, effort).unwrap().parts.is_empty());
        },
    );
    check_urdf("attributes", 8_000, |n| {
        let attributes = around("<a ", n, |k| format!("a{k}='' "), "/>");
        with(1, |_| attributes.clone())
    });
    check_urdf("namespaces", 8_000, |n| {
        let declared = around("<a ", n, |k| format!("xmlns:a{k}='u{k}' "), "/>");
        with(1, |_| declared.clone())
    });
    check_urdf("namespaces in each other", 5_000, |n| {
        let nested = around("", n, |k| format!("<a{k}:a xmlns:a{k}='u{k}'>"), "");
        let closed = around("", n, |k| format!("</a{}:a>", n - 1 - k), "");
        with(1, |_| nested.clone() + &closed)
    });
    check_urdf("elements in each other", 10_000, |n| {
        with(1, |_| "<a>".repeat(n) + &"</a>".repeat(n))
    });
    check_urdf("comments, texts and references", 5_000, |n| {
        with(n, |k| format!("<!-- {k} -->text &lt;&#65;<![CDATA[{k}]]>"))
    });
    check_urdf("entities of one attribute", 100_000, |n| {
        with(1, |_| format!("<a b='{}'/>", "&amp;\n".repeat(n)))
    });
}

fn check_srdf(name: &str, count: usize, text: impl Fn(usize) -> String) {
    let whole = |n| format!("<robot>{}</robot>", text(n));
    check(name, count, whole, |text, effort| {
        Semantics::read(text, u32::MAX, &Subject::default(), effort).unwrap();
    });
}

/// 80,000 groups, of which 65,000 were named again, took 24 s: each name was looked for among all.
#[test]
fn an_srdf_with_twice_as_much_of_anything_takes_less_than_three_times_as_long() {
    check_srdf("groups", 10_000, |n| {
        around("", n, |k| format!("<group name='g{k}'><joint name='j'/></group>"), "")
    });
    check_srdf("groups that are named again", 10_000, |n| {
        let groups = around("", n, |k| format!("<group name='g{k}'><joint name='j'/></group>"), "");
        around(&groups, n, |k| format!("<group name='h{k}'><group name='g{k}'/></group>"), "")
    });
    check_srdf("groups of one group", 20_000, |n| {
        around("<group name='g'>", n, |k| format!("<group name='g{k}'/>"), "</group>")
    });
    check_srdf("joints of a group", 20_000, |n| {
        around("<group name='g'>", n, |k| format!("<joint name='j{k}'/>"), "</group>")
    });
    check_srdf("states", 10_000, |n| {
        around("", n, |k| format!("<group_state name='s{k}' group='g'/>"), "")
    });
    check_srdf("values of a state", 20_000, |n| {
        let value = |k| format!("<joint name='j{k}' value='{k}'/>");
        around("<group_state name='s' group='g'>", n, value, "</group_state>")
    });
    check_srdf("attributes", 8_000, |n| around("<a ", n, |k| format!("a{k}='' "), "/>"));
    let links = of_links(500, false, |_| String::new());
    let pairs = |n: usize| {
        let pair = |k: usize| {
            let (a, b) = (k % 499, k / 499 % 499);
            format!("<disable_collisions link1='l{a}' link2='l{b}' reason='Never'/>")
        };
        around("<robot>", n, pair, "</robot>")
    };
    check("disabled pairs", 10_000, pairs, |srdf, effort| {
        let meshes = MeshFiles::new();
        let srdf = Some(srdf.as_str());
        let urdf = links.as_str();
        let sources = Sources {
            urdf,
            srdf,
            meshes: &meshes,
            gap_max: None,
            leave_out_missing: false,
            mesh_treatment: MeshTreatment::Hull,
        };
        Robot::build(&sources, &LIMITS, effort).unwrap();
    });
}

fn check_mesh(name: &str, count: usize, bytes: impl Fn(usize) -> Vec<u8>) {
    check(name, count, bytes, |bytes, effort| {
        mesh::read(bytes, None, usize::MAX, effort).unwrap();
    });
}

#[test]
fn a_mesh_file_twice_as_long_takes_less_than_three_times_as_long() {
    let triangle = |k: usize| {
        let x = k as f32;
        [[x, 0.0, 0.0], [x, 1.0, 0.0], [x, 0.0, 1.0]]
    };
    check_mesh("triangles of a binary STL", 20_000, |n| {
        mesh::stl::tests::binary(&(0..n).map(triangle).collect::<Vec<_>>())
    });
    check_mesh("facets of an ASCII STL", 10_000, |n| {
        let mut text = String::from("solid x\n");
        for [a, b, c] in (0..n).map(triangle) {
            text += "facet\n";
            for [x, y, z] in [a, b, c] {
                writeln!(text, "vertex {x} {y} {z}").unwrap();
            }
            text += "endfacet\n";
        }
        text.into_bytes()
    });
    let vertices = |n| around("", n, |k| format!("v {k} 0 {k}\n"), "");
    check_mesh("vertices of an OBJ", 20_000, |n| (vertices(n) + "f 1 2 3\n").into_bytes());
    check_mesh("faces of an OBJ", 20_000, |n| (vertices(3) + &"f 1 2 3\n".repeat(n)).into_bytes());
    check_mesh("corners of a face of an OBJ", 20_000, |n| {
        around(&(vertices(n) + "f"), n, |k| format!(" {}", k + 1), "\n").into_bytes()
    });
    check_mesh("other lines of an OBJ", 50_000, |n| {
        (vertices(3) + &"# \n".repeat(n) + "f 1 2 3\n").into_bytes()
    });
}

/// Whoever has gone is not read for: neither file was given up before it was read.
#[test]
fn files_are_read_no_longer_than_the_effort_lasts() {
    let has_gone = Until::expired();
    let gone = || Effort::until(u64::MAX, &has_gone);
    let stopped = BuildError::Stopped(Stopped::Deadline);
    let urdf = of_links(3, false, |_| String::new());
    assert_eq!(build(&urdf, &MeshFiles::new(), &mut gone()).unwrap_err(), stopped);
    let srdf = "<robot><group name='g'><joint name='j'/></group></robot>";
    assert_eq!(Semantics::read(srdf, 100, &Subject::default(), &mut gone()).unwrap_err(), stopped);
    let mut effort = Effort::unlimited();
    build(&urdf, &MeshFiles::new(), &mut effort).unwrap();
    for steps in 0..effort.cost.steps {
        let stopped = build(&urdf, &MeshFiles::new(), &mut Effort::with_steps(steps)).unwrap_err();
        assert_eq!(stopped, BuildError::Stopped(Stopped::Steps), "{steps}");
    }
    let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".as_slice();
    let stl = b"solid\nfacet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendfacet\n".as_slice();
    let binary = mesh::stl::tests::binary(&[[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
    for bytes in [obj, stl, binary.as_slice()] {
        let refused = mesh::read(bytes, None, 10, &mut gone()).unwrap_err();
        assert_eq!(refused, mesh::MeshError::Stopped(Stopped::Deadline));
        let mut effort = Effort::unlimited();
        mesh::read(bytes, None, 10, &mut effort).unwrap();
        for steps in 0..effort.cost.steps {
            let refused = mesh::read(bytes, None, 10, &mut Effort::with_steps(steps)).unwrap_err();
            assert_eq!(refused, mesh::MeshError::Stopped(Stopped::Steps), "{steps}");
        }
    }
}
