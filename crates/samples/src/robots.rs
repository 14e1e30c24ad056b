//! Robots for the tests: of a text, and the Panda of `data/panda` among boxes.

use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::pose::Pose;
use clearance_samples::{Random, hull};

use crate::model::{BuildError, Robot, Sources};
use crate::parts::{MeshContent, MeshFiles, MeshTreatment};
use crate::still::StillBody;
use crate::urdf::DescriptionLimits;

/// Limits with room for any real robot.
pub const ROBOT_LIMITS: DescriptionLimits =
    DescriptionLimits { nodes_max: 100_000, links_max: 1_000, parts_max: 1_000, depth_max: 100 };

/// A robot of a URDF without meshes.
pub fn robot_of(urdf: &str) -> Result<Robot, BuildError> {
    let meshes = MeshFiles::new();
    let sources = Sources {
        urdf,
        srdf: None,
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::Hull,
    };
    Robot::build(&sources, &ROBOT_LIMITS, &mut Effort::unlimited())
}

/// The URDF of `data/panda`.
pub const PANDA: &str = include_str!("../../../data/panda/panda.urdf");
const PANDA_SRDF: &str = include_str!("../../../data/panda/panda.srdf");

/// The bytes of a mesh of `data/panda`.
macro_rules! panda_mesh {
    ($($name:literal),+) => {
        [$(($name, include_bytes!(concat!("../../../data/panda/collision/", $name)).as_slice())),+]
    };
}

/// The meshes of `data/panda`.
pub fn panda_meshes() -> MeshFiles {
    let files: [(&str, &[u8]); 9] = panda_mesh!(
        "link0.stl",
        "link1.stl",
        "link2.stl",
        "link3.stl",
        "link4.stl",
        "link5.stl",
        "link6.stl",
        "link7.stl",
        "hand.stl"
    );
    let read = |(name, bytes): (&str, &[u8])| {
        let mesh = crate::mesh::read(bytes, None, 100_000, &mut Effort::unlimited())
            .expect("files of the repository");
        (name.to_owned(), MeshContent::Mesh(Arc::new(mesh)))
    };
    files.into_iter().map(read).collect()
}

/// The Panda, with its SRDF.
pub fn panda() -> Robot {
    let sources = Sources {
        urdf: PANDA,
        srdf: Some(PANDA_SRDF),
        meshes: &panda_meshes(),
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::Hull,
    };
    Robot::build(&sources, &ROBOT_LIMITS, &mut Effort::unlimited())
        .expect("files of the repository")
}

/// A box with these half sizes.
pub fn still_box(half: Vec3) -> StillBody {
    let corner = |i: u32| Vec3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
    let polytope = Arc::new(hull(&(0..8).map(corner).collect::<Vec<_>>()));
    StillBody { body: polytope.into(), pose: Pose::identity() }
}

/// Boxes around the Panda, not in its base.
pub fn boxes(count: usize, random: &mut Random) -> Vec<StillBody> {
    let mut all = Vec::new();
    while all.len() < count {
        let centre =
            random.vector().component_mul(&Vec3::new(0.8, 0.8, 0.55)) + Vec3::new(0.0, 0.0, 0.55);
        if centre.xy().norm() < 0.38 {
            continue;
        }
        let half = random.vector().abs() * 0.08 + Vec3::repeat(0.02);
        all.push(StillBody { pose: random.pose(centre), ..still_box(half) });
    }
    all
}

/// Joint values of the Panda within its limits, the fingers a little open.
pub fn configurations(count: usize, random: &mut Random) -> Vec<f64> {
    let tree = panda().kinematics.tree().clone();
    let mut values = Vec::new();
    for _ in 0..count {
        for variable in &tree.variables {
            let share = 0.5 + 0.5 * random.signed();
            values.push(variable.lower + (variable.upper - variable.lower) * share);
        }
    }
    values
}
