//! The Panda: its links with their hulls, its joints, and where they put the links.

use std::io::Cursor;

use serde::Deserialize;
use urdf_rs::{Geometry, JointType};

use super::DemoError;
use crate::geometry::pose::Pose;
use crate::geometry::{Mat3, Vec3};

const URDF: &str = include_str!("../../data/panda/panda.urdf");
const SRDF: &str = include_str!("../../data/panda/panda.srdf");

/// The ten meshes, by the name that the URDF calls them.
const MESHES: [(&str, &[u8]); 10] = [
    ("link0", include_bytes!("../../data/panda/collision/link0.stl")),
    ("link1", include_bytes!("../../data/panda/collision/link1.stl")),
    ("link2", include_bytes!("../../data/panda/collision/link2.stl")),
    ("link3", include_bytes!("../../data/panda/collision/link3.stl")),
    ("link4", include_bytes!("../../data/panda/collision/link4.stl")),
    ("link5", include_bytes!("../../data/panda/collision/link5.stl")),
    ("link6", include_bytes!("../../data/panda/collision/link6.stl")),
    ("link7", include_bytes!("../../data/panda/collision/link7.stl")),
    ("hand", include_bytes!("../../data/panda/collision/hand.stl")),
    ("finger", include_bytes!("../../data/panda/collision/finger.stl")),
];

/// A mesh file of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mesh {
    /// For example `link3`.
    pub(super) name: &'static str,
    /// The bytes of the STL file.
    pub(super) stl: &'static [u8],
}

impl Mesh {
    /// The corners of its triangles, as the file has them: in f32, repeated.
    pub(super) fn corners(&self) -> Result<Vec<Vec3>, DemoError> {
        let mesh = stl_io::read_stl(&mut Cursor::new(self.stl))
            .map_err(|error| DemoError::Robot(format!("{}: {error}", self.name)))?;
        Ok(mesh.vertices.iter().map(|v| Vec3::from(v.0.map(f64::from))).collect())
    }
}

/// All ten meshes.
pub(super) fn meshes() -> [Mesh; 10] {
    MESHES.map(|(name, stl)| Mesh { name, stl })
}

/// A link that has a hull.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// As in the URDF, without the robot's name in front.
    pub(super) name: String,
    /// Its hull.
    pub(super) mesh: Mesh,
    /// Where the hull is in the link's frame.
    pub(super) link_from_mesh: Pose,
    /// Index of the link's frame among all frames.
    frame: usize,
}

/// How a joint moves its child.
#[derive(Clone, Copy, Debug)]
enum Freedom {
    /// Not at all.
    Fixed,
    /// About `axis` by the given coordinate, radians.
    Turn { axis: Vec3, coordinate: usize },
    /// Along `axis` by the given coordinate, metres.
    Slide { axis: Vec3, coordinate: usize },
}

/// A frame of the tree, placed by its parent's frame and one joint.
#[derive(Clone, Debug)]
struct JointFrame {
    parent: usize,
    parent_from_joint: Pose,
    freedom: Freedom,
}

/// A robot.
#[derive(Clone, Debug)]
pub(super) struct Robot {
    /// Links that have a hull, base first.
    pub(super) links: Vec<Link>,
    /// Pairs of `links` that need no check (adjacent, or never in contact).
    pub(super) ignored: Vec<[usize; 2]>,
    /// Names and limits of the joint coordinates, in the order that [`Robot::place`] takes them.
    pub(super) coordinates: Vec<Coordinate>,
    /// Every frame but the base's, parents first; frame `i + 1` is `frames[i]`.
    frames: Vec<JointFrame>,
}

/// A joint coordinate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Coordinate {
    /// As in the URDF.
    pub(super) name: String,
    /// Least and greatest value, radians or metres.
    pub(super) range: [f64; 2],
    /// Greatest speed, a second.
    pub(super) speed_max: f64,
}

#[derive(Deserialize)]
struct Srdf {
    #[serde(default)]
    disable_collisions: Vec<DisabledPair>,
}

#[derive(Deserialize)]
struct DisabledPair {
    #[serde(rename = "@link1")]
    a: String,
    #[serde(rename = "@link2")]
    b: String,
}

impl Robot {
    /// Reads the Panda's URDF and SRDF.
    pub(super) fn panda() -> Result<Self, DemoError> {
        let description = urdf_rs::read_from_string(URDF)
            .map_err(|error| DemoError::Robot(format!("URDF: {error}")))?;
        let srdf: Srdf = quick_xml::de::from_str(SRDF)
            .map_err(|error| DemoError::Robot(format!("SRDF: {error}")))?;
        let mut robot =
            Self { links: vec![], ignored: vec![], coordinates: vec![], frames: vec![] };
        let names = robot.add_frames(&description)?;
        for (frame, name) in names.iter().enumerate() {
            let link = description.links.iter().find(|link| &link.name == name);
            if let Some((mesh, link_from_mesh)) = link.and_then(hull_of) {
                let name = name.trim_start_matches("panda_").to_owned();
                robot.links.push(Link { name, mesh, link_from_mesh, frame });
            }
        }
        let index_of = |name: &str| {
            let name = name.trim_start_matches("panda_");
            robot.links.iter().position(|link| link.name == name)
        };
        robot.ignored = srdf
            .disable_collisions
            .iter()
            .filter_map(|pair| Some([index_of(&pair.a)?, index_of(&pair.b)?]))
            .collect();
        Ok(robot)
    }

    /// Adds every frame of the tree, parents first, and returns the names of their links.
    fn add_frames(&mut self, description: &urdf_rs::Robot) -> Result<Vec<String>, DemoError> {
        let is_child = |name: &str| description.joints.iter().any(|j| j.child.link == name);
        let root = description.links.iter().find(|link| !is_child(&link.name));
        let root = root.ok_or_else(|| DemoError::Robot("URDF: no base link".to_owned()))?;
        let mut names = vec![root.name.clone()];
        let mut coordinates = Vec::new();
        // A frame's children come after it, so one pass over the growing list visits all.
        let mut parent = 0;
        while let Some(name) = names.get(parent).cloned() {
            for joint in description.joints.iter().filter(|j| j.parent.link == name) {
                let freedom = self.freedom(joint, &mut coordinates);
                let parent_from_joint = pose_of(&joint.origin);
                self.frames.push(JointFrame { parent, parent_from_joint, freedom });
                names.push(joint.child.link.clone());
            }
            parent += 1;
        }
        Ok(names)
    }

    fn freedom(&mut self, joint: &urdf_rs::Joint, known: &mut Vec<String>) -> Freedom {
        let axis = Vec3::from(*joint.axis.xyz);
        let mut coordinate = || {
            // A mimic joint follows another one, here always one to one (the two fingers).
            let name = joint.mimic.as_ref().map_or(&joint.name, |mimic| &mimic.joint);
            known.iter().position(|other| other == name).unwrap_or_else(|| {
                known.push(name.clone());
                self.coordinates.push(Coordinate {
                    name: name.trim_start_matches("panda_").to_owned(),
                    range: [joint.limit.lower, joint.limit.upper],
                    speed_max: joint.limit.velocity,
                });
                known.len() - 1
            })
        };
        match joint.joint_type {
            JointType::Revolute | JointType::Continuous => {
                Freedom::Turn { axis, coordinate: coordinate() }
            }
            JointType::Prismatic => Freedom::Slide { axis, coordinate: coordinate() },
            JointType::Fixed | JointType::Floating | JointType::Planar | JointType::Spherical => {
                Freedom::Fixed
            }
        }
    }

    /// Where the hull of every link is in the world, for these joint coordinates.
    pub(super) fn place(&self, coordinates: &[f64]) -> Vec<Pose> {
        let mut world_from_frame = vec![Pose::identity()];
        for frame in &self.frames {
            let joint_from_child = match frame.freedom {
                Freedom::Fixed => Pose::identity(),
                Freedom::Turn { axis, coordinate } => {
                    Pose { rotation: turn(&axis, coordinates[coordinate]), ..Pose::identity() }
                }
                Freedom::Slide { axis, coordinate } => {
                    Pose { translation: axis * coordinates[coordinate], ..Pose::identity() }
                }
            };
            let parent_from_child = frame.parent_from_joint.compose(&joint_from_child);
            world_from_frame.push(world_from_frame[frame.parent].compose(&parent_from_child));
        }
        let place = |link: &Link| world_from_frame[link.frame].compose(&link.link_from_mesh);
        self.links.iter().map(place).collect()
    }
}

/// The hull of a link and where it is in the link's frame: its collision mesh; for the fingers,
/// whose collision shape in the URDF is a handful of boxes, the hull of the finger they show.
fn hull_of(link: &urdf_rs::Link) -> Option<(Mesh, Pose)> {
    let collision = link.collision.iter().map(|shape| (&shape.geometry, &shape.origin));
    let visual = link.visual.iter().map(|shape| (&shape.geometry, &shape.origin));
    collision.chain(visual).find_map(|(geometry, origin)| match geometry {
        Geometry::Mesh { filename, .. } => {
            let file = filename.rsplit('/').next()?;
            let stem = file.split('.').next()?;
            let mesh = meshes().into_iter().find(|mesh| mesh.name == stem)?;
            Some((mesh, pose_of(origin)))
        }
        Geometry::Box { .. }
        | Geometry::Cylinder { .. }
        | Geometry::Capsule { .. }
        | Geometry::Sphere { .. } => None,
    })
}

/// An origin of the URDF: roll about x, then pitch about y, then yaw about z, fixed axes.
fn pose_of(origin: &urdf_rs::Pose) -> Pose {
    let [roll, pitch, yaw] = *origin.rpy;
    let rotation = turn(&Vec3::z(), yaw) * turn(&Vec3::y(), pitch) * turn(&Vec3::x(), roll);
    Pose { rotation, translation: Vec3::from(*origin.xyz) }
}

/// The rotation about a unit axis (Rodrigues' formula).
pub(super) fn turn(axis: &Vec3, angle: f64) -> Mat3 {
    let (sine, cosine) = angle.sin_cos();
    let cross = axis.cross_matrix();
    Mat3::identity() + cross * sine + cross * cross * (1.0 - cosine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_panda_has_eleven_hulls_of_ten_meshes_and_eight_coordinates() {
        let robot = Robot::panda().unwrap();
        let names: Vec<&str> = robot.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names.len(), 11);
        assert_eq!(names[0], "link0");
        assert!(names.contains(&"leftfinger") && names.contains(&"rightfinger"));
        assert_eq!(robot.coordinates.len(), 8);
        assert_eq!(robot.coordinates[3].name, "joint4");
        assert_eq!(format!("{:?}", robot.coordinates[3].range), "[-3.0718, -0.0698]");
        // Adjacent links and links that cannot meet: what the SRDF lists.
        assert_eq!(robot.ignored.len(), 35);
        for mesh in meshes() {
            assert!(mesh.corners().unwrap().len() >= 18);
        }
    }

    /// The flange of the arm in its ready pose, from the manufacturer's table of Denavit-Hartenberg
    /// parameters evaluated by hand: joints 0, -45, 0, -135, 0, 90, 45 degrees put the hand's frame
    /// over x = 0.307 m, and the tool centre point 0.1034 m below the hand.
    #[test]
    fn the_ready_pose_has_the_hand_where_the_manufacturer_says() {
        use std::f64::consts::FRAC_PI_4;
        let robot = Robot::panda().unwrap();
        let ready = [0.0, -FRAC_PI_4, 0.0, -3.0 * FRAC_PI_4, 0.0, 2.0 * FRAC_PI_4, FRAC_PI_4, 0.02];
        let poses = robot.place(&ready);
        let hand = robot.links.iter().position(|link| link.name == "hand").unwrap();
        let wanted = Vec3::new(0.306_891, 0.0, 0.590_282);
        assert!((poses[hand].translation - wanted).norm() < 1e-5, "{}", poses[hand].translation);
        // It points straight down, and the fingers open symmetrically along y.
        assert!((poses[hand].rotation * Vec3::z() + Vec3::z()).norm() < 1e-12);
        let [left, right] = [hand + 1, hand + 2].map(|i| poses[i].translation);
        assert!((left + right - 2.0 * (wanted - Vec3::z() * 0.0584)).norm() < 1e-5);
        assert!(((left - right).norm() - 0.04).abs() < 1e-12);
    }
}
