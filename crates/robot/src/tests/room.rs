//! Memory for robots: asked for before it is taken, and all of it counted.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::samples::ROBOT_LIMITS;
use super::solids::channel;
use crate::Robot;
use crate::model::{BuildError, Sources};
use crate::parts::{MeshContent, MeshFiles, MeshTreatment};
use crate::room::{BuildRoom, reading_bytes};
use clearance_geometry::effort::Effort;
use clearance_geometry::polytope::TableKeeper;

/// Has so much memory, and knows how much was asked for at most; counts tables.
#[derive(Debug, Default)]
struct Room {
    bytes_max: usize,
    asked: AtomicUsize,
    tables: Arc<Tables>,
}

#[derive(Debug, Default)]
struct Tables(AtomicUsize);

impl TableKeeper for Tables {
    fn kept(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl BuildRoom for Room {
    fn holds(&self, bytes: usize) -> bool {
        let fits = bytes <= self.bytes_max;
        if fits {
            self.asked.fetch_max(bytes, Ordering::Relaxed);
        }
        fits
    }

    fn keeper(&self) -> Option<Arc<dyn TableKeeper>> {
        Some(self.tables.clone())
    }
}

fn built(urdf: &str, srdf: Option<&str>, room: &Room) -> Result<Robot, BuildError> {
    let meshes = MeshFiles::new();
    let (gap_max, leave_out_missing) = (Some(1e-12), false);
    let sources = Sources {
        urdf,
        srdf,
        meshes: &meshes,
        gap_max,
        leave_out_missing,
        mesh_treatment: MeshTreatment::Hull,
    };
    Robot::build_within(&sources, &ROBOT_LIMITS, &mut Effort::unlimited(), room)
}

fn rods(radii: impl Iterator<Item = f64>) -> String {
    let mut urdf = String::from("<robot name='r'><link name='a'>");
    for radius in radii {
        write!(
            urdf,
            "<collision><geometry><cylinder radius='{radius}' length='1'/></geometry></collision>"
        )
        .unwrap();
    }
    urdf + "</link></robot>"
}

/// 133 KB of two thousand round shapes took gigabytes, of which nobody was asked for any.
#[test]
fn a_robot_asks_for_memory_before_every_part_and_ends_where_there_is_none() {
    let urdf = rods((1..=8).map(|k| 0.1 * f64::from(k)));
    let whole = Room { bytes_max: usize::MAX, ..Room::default() };
    let robot = built(&urdf, None, &whole).unwrap();
    let needed = whole.asked.into_inner();
    assert!(needed > robot.heap_bytes(), "{needed} for {}", robot.heap_bytes());
    assert!(robot.heap_bytes() > 8 * 512 * 100, "{}", robot.heap_bytes());
    for share in [2, 4, 16] {
        let room = Room { bytes_max: needed / share, ..Room::default() };
        assert_eq!(built(&urdf, None, &room).unwrap_err(), BuildError::NoRoom);
        assert!(room.asked.into_inner() <= needed / share);
    }
    // Whoever has the memory is told of the tables that methods build of the parts.
    assert_eq!(whole.tables.0.load(Ordering::Relaxed), 0);
    robot.parts[0].body.hull().hierarchy();
    assert!(whole.tables.0.load(Ordering::Relaxed) > 512 * 8);
}

#[test]
fn shapes_that_are_equal_are_one_polytope_and_counted_once() {
    let room = || Room { bytes_max: usize::MAX, ..Room::default() };
    let once = built(&rods([0.25].into_iter()), None, &room()).unwrap();
    let often = built(&rods(std::iter::repeat_n(0.25, 50)), None, &room()).unwrap();
    assert!(
        often.parts.iter().all(|part| Arc::ptr_eq(part.body.hull(), often.parts[0].body.hull()))
    );
    let more = often.heap_bytes() - once.heap_bytes();
    assert!(more < 50 * 1_024 && often.parts.len() == 50, "{more}");
}

/// 205 robots of 3.2 MB of group states each held 2.5 GB, where 256 bytes a link were said.
#[test]
fn what_files_say_of_groups_and_states_is_counted() {
    let urdf = "<robot name='r'><link name='a'/></robot>";
    let state = "<joint name='a' value='1'/>".repeat(10_000);
    let srdf = format!("<robot><group_state name='s' group='g'>{state}</group_state></robot>");
    let room = Room { bytes_max: usize::MAX, ..Room::default() };
    let bytes = built(urdf, Some(&srdf), &room).unwrap().heap_bytes();
    // A text and a number, and the letter of the text.
    assert!((10_000 * 64..10_000 * 128).contains(&bytes), "{bytes}");
    assert!(reading_bytes(&srdf) > bytes);
}

/// Nobody had tried: a name of a megabyte in a group, and forty thousand groups that hold it.
#[test]
fn groups_that_repeat_a_long_name_very_often_are_refused() {
    let urdf = "<robot name='r'><link name='a'/></robot>";
    let name = "n".repeat(100_000);
    let groups = |count: usize| {
        let one = "<group name='b'><group name='a'/></group>".repeat(count);
        format!("<robot><group name='a'><joint name='{name}'/></group>{one}</robot>")
    };
    let room = Room { bytes_max: usize::MAX, ..Room::default() };
    assert_eq!(built(urdf, Some(&groups(100)), &room).unwrap().groups.len(), 101);
    let refused = built(urdf, Some(&groups(1_000)), &room).unwrap_err().to_string();
    assert!(refused.contains("names of joints in groups of more than"), "{refused}");
}

/// What a mesh keeps of its groups is counted with it.
#[test]
fn a_mesh_that_is_taken_as_it_is_asks_for_its_memory_before_it_is_made() {
    let urdf = "<robot name='r'><link name='a'><collision><geometry><mesh filename='u.obj'/>\
                </geometry></collision></link></robot>";
    let mesh = MeshContent::Mesh(Arc::new(channel()));
    let meshes: MeshFiles = [("u.obj".to_owned(), mesh)].into();
    let build = |mesh_treatment, room: &Room| {
        let (gap_max, leave_out_missing) = (None, false);
        let srdf = None;
        let sources =
            Sources { urdf, srdf, meshes: &meshes, gap_max, leave_out_missing, mesh_treatment };
        Robot::build_within(&sources, &ROBOT_LIMITS, &mut Effort::unlimited(), room)
    };
    let room = |bytes_max| Room { bytes_max, ..Room::default() };
    let whole = room(usize::MAX);
    let robot = build(MeshTreatment::Polyhedron, &whole).unwrap();
    let needed = whole.asked.into_inner();
    let as_hull = build(MeshTreatment::Hull, &room(usize::MAX)).unwrap();
    let polyhedron = robot.parts[0].body.mesh().unwrap();
    assert!(needed > robot.heap_bytes(), "{needed} for {}", robot.heap_bytes());
    // But for the note that the hull stands for a mesh that is not convex.
    assert!(robot.heap_bytes() + 1024 > as_hull.heap_bytes() + polyhedron.bytes());
    assert!(polyhedron.bytes() > 16 << 10, "{}", polyhedron.bytes());
    let few = room(needed - 1);
    assert_eq!(build(MeshTreatment::Polyhedron, &few).unwrap_err(), BuildError::NoRoom);
    assert!(few.asked.into_inner() < needed);
}
