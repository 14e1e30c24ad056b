//! The Panda: its files, as a client sends them, and the same files read here, to sample and to
//! draw what the server says of it.

use std::sync::Arc;

use super::DemoError;
use clearance_geometry::effort::Effort;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::{Mat3, Vec3};
use clearance_robot::Robot;
use clearance_robot::mesh;
use clearance_robot::model::Sources;
use clearance_robot::parts::{MeshContent, MeshFiles, MeshTreatment};
use clearance_robot::urdf::DescriptionLimits;

pub(crate) const URDF: &str = include_str!("../../../data/panda/panda.urdf");
pub(crate) const SRDF: &str = include_str!("../../../data/panda/panda.srdf");

/// The meshes of the collision elements, by the name that the URDF calls them.
pub(crate) const MESHES: [(&str, &[u8]); 9] = [
    ("link0.stl", include_bytes!("../../../data/panda/collision/link0.stl")),
    ("link1.stl", include_bytes!("../../../data/panda/collision/link1.stl")),
    ("link2.stl", include_bytes!("../../../data/panda/collision/link2.stl")),
    ("link3.stl", include_bytes!("../../../data/panda/collision/link3.stl")),
    ("link4.stl", include_bytes!("../../../data/panda/collision/link4.stl")),
    ("link5.stl", include_bytes!("../../../data/panda/collision/link5.stl")),
    ("link6.stl", include_bytes!("../../../data/panda/collision/link6.stl")),
    ("link7.stl", include_bytes!("../../../data/panda/collision/link7.stl")),
    ("hand.stl", include_bytes!("../../../data/panda/collision/hand.stl")),
];

/// The links that have parts: their indices in the URDF. Two frames for tools have none.
pub(crate) const LINKS: [usize; 11] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 12];

/// The files are the program's own; nothing that they hold comes near these limits.
const LIMITS: DescriptionLimits =
    DescriptionLimits { nodes_max: 100_000, links_max: 100, parts_max: 100, depth_max: 100 };

/// Likewise of each mesh.
const TRIANGLES_MAX: usize = 1_000_000;

/// The Panda.
#[derive(Clone, Debug)]
pub(crate) struct Panda {
    robot: Robot,
    /// Of [`LINKS`]: as in the URDF, without the robot's name in front.
    pub(crate) names: Vec<String>,
}

impl Panda {
    /// Reads its files.
    pub(crate) fn read() -> Result<Self, DemoError> {
        let wrong = |problem: String| DemoError::Robot(problem);
        let mut meshes = MeshFiles::new();
        for (name, bytes) in MESHES {
            let read = mesh::read(bytes, None, TRIANGLES_MAX, &mut Effort::unlimited());
            let read = read.map_err(|error| wrong(format!("{name}: {error}")))?;
            meshes.insert(name.to_owned(), MeshContent::Mesh(Arc::new(read)));
        }
        let sources = Sources {
            urdf: URDF,
            srdf: Some(SRDF),
            meshes: &meshes,
            gap_max: None,
            leave_out_missing: false,
            mesh_treatment: MeshTreatment::Hull,
        };
        let robot = Robot::build(&sources, &LIMITS, &mut Effort::unlimited())
            .map_err(|error| wrong(error.to_string()))?;
        let with_parts = robot.links.iter().enumerate();
        let with_parts = with_parts.filter(|(_, link)| !link.parts.is_empty());
        if !with_parts.map(|(index, _)| index).eq(LINKS) {
            return Err(wrong("the links with parts are others".to_owned()));
        }
        let name = |link: usize| robot.links[link].name.trim_start_matches("panda_").to_owned();
        Ok(Self { names: LINKS.map(name).into(), robot })
    }

    /// The library's view of it.
    pub(crate) fn robot(&self) -> &Robot {
        &self.robot
    }

    /// Where the parts of every one of [`LINKS`] are in the world, for these joint values.
    pub(crate) fn place(&self, values: &[f64]) -> Vec<Vec<(&Polytope, Pose)>> {
        let frames = self.robot.kinematics.place_one(values);
        let place = |link: usize| {
            let link = &self.robot.links[link];
            let carrier = link.frame.map_or_else(Pose::identity, |frame| frames[frame]);
            let parts = self.robot.parts[link.parts.clone()].iter();
            let placed =
                parts.map(|part| (&**part.body.hull(), carrier.compose(&part.frame_from_part)));
            placed.collect()
        };
        LINKS.map(place).into()
    }
}

/// The rotation about a unit axis (Rodrigues' formula).
pub(crate) fn turn(axis: &Vec3, angle: f64) -> Mat3 {
    let (sine, cosine) = angle.sin_cos();
    let cross = axis.cross_matrix();
    Mat3::identity() + cross * sine + cross * cross * (1.0 - cosine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_panda_has_eleven_links_of_seventeen_parts_and_eight_coordinates() {
        let panda = Panda::read().unwrap();
        let robot = panda.robot();
        assert_eq!((panda.names.len(), robot.parts.len()), (11, 17));
        assert_eq!((panda.names[0].as_str(), panda.names[10].as_str()), ("link0", "rightfinger"));
        let variables = &robot.kinematics.tree().variables;
        assert_eq!(variables.len(), 8);
        let joint = &variables[3];
        assert_eq!(joint.name, "panda_joint4");
        assert_eq!(format!("{:?}", [joint.lower, joint.upper]), "[-3.0718, -0.0698]");
    }

    /// The flange of the arm in its ready pose, from the manufacturer's table of Denavit-Hartenberg
    /// parameters evaluated by hand: joints 0, -45, 0, -135, 0, 90, 45 degrees put the hand's frame
    /// over x = 0.307 m, and the tool centre point 0.1034 m below the hand.
    #[test]
    fn the_ready_pose_has_the_hand_where_the_manufacturer_says() {
        use std::f64::consts::FRAC_PI_4;
        let panda = Panda::read().unwrap();
        let ready = [0.0, -FRAC_PI_4, 0.0, -3.0 * FRAC_PI_4, 0.0, 2.0 * FRAC_PI_4, FRAC_PI_4, 0.02];
        let placed = panda.place(&ready);
        let hand = panda.names.iter().position(|name| name == "hand").unwrap();
        let pose = placed[hand][0].1;
        let wanted = Vec3::new(0.306_891, 0.0, 0.590_282);
        assert!((pose.translation - wanted).norm() < 1e-5, "{}", pose.translation);
        // It points straight down, and the fingers open symmetrically along y.
        assert!((pose.rotation * Vec3::z() + Vec3::z()).norm() < 1e-12);
        let middle = |link: usize| {
            let part = &placed[link][0];
            part.1.apply_rounded(&part.0.bounds().centre)
        };
        let [left, right] = [hand + 1, hand + 2].map(middle);
        assert!((left.z - right.z).abs() < 1e-9 && (left.y + right.y).abs() < 1e-9);
    }
}
