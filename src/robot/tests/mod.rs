//! Robots against numbers of others, and descriptions that are wrong.

mod certify;
pub(crate) mod check;
mod edge;
mod kinematics;
mod reading;
mod room;

use std::sync::Arc;

use super::model::{BuildError, Robot, Sources};
use super::parts::{MeshContent, MeshFiles};
use super::urdf::DescriptionLimits;
use crate::geometry::effort::Effort;

/// Limits with room for any real robot.
pub(super) const LIMITS: DescriptionLimits =
    DescriptionLimits { nodes_max: 100_000, links_max: 1_000, parts_max: 1_000, depth_max: 100 };

/// A robot of a URDF without meshes.
pub(crate) fn robot_of(urdf: &str) -> Result<Robot, BuildError> {
    let meshes = MeshFiles::new();
    let sources =
        Sources { urdf, srdf: None, meshes: &meshes, gap_max: None, leave_out_missing: false };
    Robot::build(&sources, &LIMITS, &mut Effort::unlimited())
}

/// The URDF of `data/panda`.
pub(super) const PANDA: &str = include_str!("../../../data/panda/panda.urdf");
const PANDA_SRDF: &str = include_str!("../../../data/panda/panda.srdf");

/// The bytes of a mesh of `data/panda`.
macro_rules! panda_mesh {
    ($($name:literal),+) => {
        [$(($name, include_bytes!(concat!("../../../data/panda/collision/", $name)).as_slice())),+]
    };
}

/// The meshes of `data/panda`.
pub(super) fn panda_meshes() -> MeshFiles {
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
        let mesh = crate::mesh::read(bytes, None, 100_000).unwrap();
        (name.to_owned(), MeshContent::Mesh(Arc::new(mesh)))
    };
    files.into_iter().map(read).collect()
}

/// The Panda, with its SRDF.
pub(crate) fn panda() -> Robot {
    let sources = Sources {
        urdf: PANDA,
        srdf: Some(PANDA_SRDF),
        meshes: &panda_meshes(),
        gap_max: None,
        leave_out_missing: false,
    };
    Robot::build(&sources, &LIMITS, &mut Effort::unlimited()).unwrap()
}
