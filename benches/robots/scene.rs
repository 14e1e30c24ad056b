//! The Panda and what stands around it.

use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::{Random, polytope_of};
use clearance_geometry::pose::Pose;
use clearance_robot::Robot;
use clearance_robot::model::Sources;
use clearance_robot::parts::{MeshContent, MeshFiles, MeshTreatment};
use clearance_robot::still::StillBody;
use clearance_robot::urdf::DescriptionLimits;

/// Room for any of these.
pub(crate) const LIMITS: DescriptionLimits =
    DescriptionLimits { nodes_max: 100_000, links_max: 1_000, parts_max: 1_000, depth_max: 100 };

const MESHES: [&str; 9] =
    ["link0", "link1", "link2", "link3", "link4", "link5", "link6", "link7", "hand"];

/// The Panda of `data/panda` with its SRDF.
pub(crate) fn panda() -> Robot {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/panda");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it is there");
    let read = |name: &&str| {
        let file = format!("{name}.stl");
        let bytes = std::fs::read(folder.join("collision").join(&file)).expect("it is there");
        let mesh = clearance_robot::mesh::read(&bytes, None, 100_000, &mut Effort::unlimited())
            .expect("a mesh");
        (file, MeshContent::Mesh(Arc::new(mesh)))
    };
    let meshes: MeshFiles = MESHES.iter().map(read).collect();
    let (urdf, srdf) = (text("panda.urdf"), text("panda.srdf"));
    let sources = Sources {
        urdf: &urdf,
        srdf: Some(&srdf),
        meshes: &meshes,
        gap_max: None,
        leave_out_missing: false,
        mesh_treatment: MeshTreatment::Hull,
    };
    Robot::build(&sources, &LIMITS, &mut Effort::unlimited()).expect("a robot")
}

/// Boxes around the robot, not in its base.
pub(crate) fn boxes(count: usize, random: &mut Random) -> Vec<StillBody> {
    let mut all = Vec::new();
    while all.len() < count {
        let half = Vec3::from_fn(|_, _| random.between(0.02, 0.1));
        let centre = Vec3::new(
            random.between(-0.8, 0.8),
            random.between(-0.8, 0.8),
            random.between(0.0, 1.1),
        );
        let turn = [0; 4].map(|_| random.between(-1.0, 1.0));
        if centre.xy().norm() < 0.38 {
            continue;
        }
        let corner = |i: u32| Vec3::from_fn(|k, _| [-half[k], half[k]][(i >> k & 1) as usize]);
        let polytope = Arc::new(polytope_of(&(0..8).map(corner).collect::<Vec<_>>()));
        let pose = Pose::from_quaternion(centre, turn).expect("a legal pose");
        all.push(StillBody { body: polytope.into(), pose });
    }
    all
}
