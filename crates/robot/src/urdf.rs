//! URDF: the links and joints of a robot as the file states them, checked one by one. Whether they
//! make one tree is for [`super::model`] to find out.

use std::collections::BTreeMap;

use super::error::{BuildError, RobotError, shown};
use super::xml::{Element, LENGTH_MAX, XmlFile};
use clearance_geometry::effort::Effort;
use clearance_geometry::number::trig::RoundedTrig;
use clearance_geometry::pose::Pose;
use clearance_geometry::{Mat3, Vec3};

/// How much a description may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptionLimits {
    /// Nodes of the XML document: elements, texts, comments.
    pub nodes_max: u32,
    /// Links; joints are one fewer.
    pub links_max: usize,
    /// Collision elements of the whole robot.
    pub parts_max: usize,
    /// Joints between the base and a link.
    pub depth_max: usize,
}

/// What a collision element is.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// A box around the origin, by its full sizes.
    Box {
        /// The sizes along x, y and z, in metres.
        size: Vec3,
    },
    /// A ball around the origin.
    Sphere {
        /// The radius, in metres.
        radius: f64,
    },
    /// A cylinder along z around the origin.
    Cylinder {
        /// The radius, in metres.
        radius: f64,
        /// The length along z, in metres.
        length: f64,
    },
    /// A cylinder along z around the origin with half balls beyond its ends.
    Capsule {
        /// The radius, in metres.
        radius: f64,
        /// The length of the cylinder, metres.
        length: f64,
    },
    /// A mesh file.
    Mesh {
        /// As the file says it.
        filename: String,
        /// Along each axis; negative numbers mirror.
        scale: Vec3,
    },
}

impl Geometry {
    /// Whether one of its sizes is zero.
    fn has_no_volume(&self) -> bool {
        match self {
            Self::Box { size } => size.iter().any(|size| *size <= 0.0),
            Self::Sphere { radius } | Self::Capsule { radius, .. } => *radius <= 0.0,
            Self::Cylinder { radius, length } => *radius <= 0.0 || *length <= 0.0,
            Self::Mesh { .. } => false,
        }
    }
}

/// A `collision` element.
#[derive(Clone, Debug, PartialEq)]
pub struct CollisionElement {
    /// Its name, or nothing.
    pub name: String,
    /// Where it is in the link.
    pub link_from_shape: Pose,
    /// What it is.
    pub geometry: Geometry,
    /// Its line in the file.
    pub line: u32,
}

/// A `link` element.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkElement {
    /// The name, which no other element of its kind has.
    pub name: String,
    /// What can collide.
    pub collisions: Vec<CollisionElement>,
}

/// How a joint moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// About its axis, between limits.
    Revolute,
    /// About its axis, without limits.
    Continuous,
    /// Along its axis.
    Prismatic,
    /// Not at all.
    Fixed,
    /// Across its axis in two directions, and about it.
    Planar,
    /// In every way.
    Floating,
}

/// A joint that follows another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Mimic {
    /// The name of the joint that it follows.
    pub joint: String,
    /// The value is this times the value of that joint, plus the offset.
    pub multiplier: f64,
    /// What is added to that product, in radians or metres.
    pub offset: f64,
}

/// A `joint` element.
#[derive(Clone, Debug, PartialEq)]
pub struct JointElement {
    /// The name, which no other element of its kind has.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// Index of the link that carries it.
    pub parent: usize,
    /// Index of the link that it moves.
    pub child: usize,
    /// Where it is in the parent link.
    pub parent_from_joint: Pose,
    /// The axis of the joint, a unit vector in the frame of the joint.
    pub axis: Vec3,
    /// Least and greatest value; infinite: none.
    pub range: [f64; 2],
    /// The greatest speed, in radians or metres a second; 0: the file does not say.
    pub velocity: f64,
    /// Whom it follows.
    pub mimic: Option<Mimic>,
    /// Its line in the file.
    pub line: u32,
}

/// All of the file that matters here.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The name of the robot.
    pub name: String,
    /// In the order of the file.
    pub links: Vec<LinkElement>,
    /// In the order of the file.
    pub joints: Vec<JointElement>,
    /// What it says that nothing is made of, in words.
    pub notes: Vec<String>,
}

/// What may be in a file by its version, and what was noticed in it.
struct Noticed {
    /// Whether an origin may be turned by a quaternion.
    has_quaternions: bool,
    notes: Vec<String>,
}

impl Description {
    /// Reads a URDF, as long as the effort lasts: a step is an element or an attribute.
    pub fn read(
        text: &str,
        limits: &DescriptionLimits,
        effort: &mut Effort<'_>,
    ) -> Result<Self, BuildError> {
        let file = XmlFile::parse("URDF", text, limits.nodes_max, effort)?;
        let robot = file.root("robot")?;
        if let Some(left_over) = file.with_prefix("xacro", effort)? {
            let problem = "macros of xacro are left: expand them first, with the command xacro";
            return Err(left_over.bad(problem).into());
        }
        let mut noticed = Noticed::in_robot(robot)?;
        noticed.elements(robot, &IN_ROBOT, effort)?;
        let (mut links, mut index_of, mut parts) = (Vec::new(), BTreeMap::new(), 0);
        for element in robot.children("link") {
            effort.spend_step()?;
            if links.len() == limits.links_max {
                return Err(element.bad(format!("more than {} links", limits.links_max)).into());
            }
            let link = read_link(element, &mut noticed, effort)?;
            parts += link.collisions.len();
            if parts > limits.parts_max {
                let problem = format!("more than {} collision elements", limits.parts_max);
                return Err(element.bad(problem).into());
            }
            if index_of.insert(link.name.clone(), links.len()).is_some() {
                return Err(element.bad("another link has this name").into());
            }
            links.push(link);
        }
        if links.is_empty() {
            return Err(robot.bad("there is no link").into());
        }
        let joints = read_joints(robot, &index_of, &mut noticed, effort)?;
        let name = robot.text("name").unwrap_or_default().to_owned();
        Ok(Self { name, links, joints, notes: noticed.notes })
    }
}

impl Noticed {
    /// By the version of the file. That of 1.1 turns origins by quaternions, too; what others mean
    /// nobody knows.
    fn in_robot(robot: Element<'_>) -> Result<Self, RobotError> {
        let version = robot.text("version").map_or("1.0", str::trim);
        if !["1", "1.0", "1.1"].contains(&version) {
            let version = shown(version);
            return Err(robot.bad(format!("version: {version:?} is neither 1.0 nor 1.1")));
        }
        Ok(Self { has_quaternions: version == "1.1", notes: Vec::new() })
    }

    /// Looks at the attributes of a shape: one that gives sizes to other shapes would give this one
    /// another size; of any other a note is made.
    fn shape(&mut self, shape: Element<'_>, known: &[&str]) -> Result<(), RobotError> {
        const SIZES: [&str; 4] = ["size", "radius", "length", "scale"];
        let Some(unknown) = shape.unknown_attribute(known) else { return Ok(()) };
        if SIZES.contains(&unknown) {
            let problem = format!("a {} has no {unknown}", shown(shape.tag()));
            return Err(shape.bad(problem));
        }
        self.note(shape.bad(format!("the attribute {:?} is not read", shown(unknown))).to_string());
        Ok(())
    }

    /// Notes each element that is neither read nor known to say nothing here: a misspelt one would
    /// be missing without a word. Those of another namespace are for somebody else.
    fn elements(
        &mut self,
        of: Element<'_>,
        known: &[&str],
        effort: &mut Effort<'_>,
    ) -> Result<(), BuildError> {
        for element in of.elements() {
            effort.spend_step()?;
            let tag = element.tag();
            if !known.contains(&tag) && !element.has_prefix() {
                let note = format!("the element {:?} is not read", shown(tag));
                self.note(of.bad(note).to_string());
            }
        }
        Ok(())
    }

    /// Makes a note, one of a kind in a row.
    fn note(&mut self, note: String) {
        if self.notes.len() < NOTES_MAX && self.notes.last() != Some(&note) {
            self.notes.push(note);
        }
    }
}

/// Notes about what is not read, at most.
const NOTES_MAX: usize = 100;

/// What a robot has that is read here, or says nothing of where its links are and what collides.
const IN_ROBOT: [&str; 5] = ["link", "joint", "material", "transmission", "gazebo"];
/// The same of a link.
const IN_LINK: [&str; 4] = ["collision", "visual", "inertial", "gazebo"];
/// The same of a joint.
const IN_JOINT: [&str; 10] = [
    "parent",
    "child",
    "origin",
    "axis",
    "limit",
    "mimic",
    "dynamics",
    "calibration",
    "safety_controller",
    "gazebo",
];
/// The same of a collision.
const IN_COLLISION: [&str; 3] = ["origin", "geometry", "gazebo"];

/// All joints, every name of which is known and every link of which has one joint above it.
fn read_joints(
    robot: Element<'_>,
    index_of: &BTreeMap<String, usize>,
    noticed: &mut Noticed,
    effort: &mut Effort<'_>,
) -> Result<Vec<JointElement>, BuildError> {
    let mut joints: Vec<JointElement> = Vec::new();
    let (mut names, mut above) = (BTreeMap::new(), BTreeMap::new());
    for element in robot.children("joint") {
        effort.spend_step()?;
        noticed.elements(element, &IN_JOINT, effort)?;
        let joint = read_joint(element, index_of, noticed)?;
        if names.insert(joint.name.clone(), joints.len()).is_some() {
            return Err(element.bad("another joint has this name").into());
        }
        if let Some(other) = above.insert(joint.child, joints.len()) {
            let other = shown(&joints[other].name);
            let problem = format!("its child is moved by the joint {other:?} already");
            return Err(element.bad(problem).into());
        }
        joints.push(joint);
    }
    settle_fixed(robot, &mut joints, &names, noticed)?;
    for (element, joint) in robot.children("joint").zip(&joints) {
        let Some(mimic) = &joint.mimic else { continue };
        let followed = names.get(&mimic.joint).map(|index| &joints[*index]);
        let followed = followed.ok_or_else(|| {
            element.bad(format!("mimics the joint {:?}, which is not there", shown(&mimic.joint)))
        })?;
        let moves_singly = matches!(
            followed.kind,
            JointKind::Revolute | JointKind::Continuous | JointKind::Prismatic
        );
        if !moves_singly || followed.name == joint.name {
            return Err(element.bad("mimics a joint that has not one value of its own").into());
        }
        let led = followed.range.map(|value| mimic.multiplier * value + mimic.offset);
        let [lower, upper] = [led[0].min(led[1]), led[0].max(led[1])];
        if lower < joint.range[0] || upper > joint.range[1] {
            noticed.note(format!(
                "joint {:?}: follows {:?} from {lower} to {upper}, beyond its own limits, {} to \
                 {}; only limits of the joint that it follows are kept",
                shown(&joint.name),
                shown(&mimic.joint),
                joint.range[0],
                joint.range[1],
            ));
        }
    }
    Ok(joints)
}

/// A fixed joint has no value: what it mimics says nothing. A joint that mimics a fixed one stays
/// where it is.
fn settle_fixed(
    robot: Element<'_>,
    joints: &mut [JointElement],
    names: &BTreeMap<String, usize>,
    noticed: &mut Noticed,
) -> Result<(), RobotError> {
    let fixed: Vec<bool> = joints.iter().map(|joint| joint.kind == JointKind::Fixed).collect();
    for (at, element) in robot.children("joint").enumerate() {
        let Some(mimic) = &joints[at].mimic else { continue };
        let follows_fixed = names.get(&mimic.joint).is_some_and(|index| fixed[*index]);
        let note = if fixed[at] {
            "a fixed joint has no value: its mimic is not read"
        } else if !follows_fixed {
            continue;
        } else if mimic.offset.abs() > 0.0 {
            let problem = "mimics a fixed joint with an offset: turn or move its origin instead";
            return Err(element.bad(problem));
        } else {
            joints[at].kind = JointKind::Fixed;
            "it mimics a fixed joint, and is fixed, too"
        };
        joints[at].mimic = None;
        noticed.note(element.bad(note).to_string());
    }
    Ok(())
}

fn read_link(
    element: Element<'_>,
    noticed: &mut Noticed,
    effort: &mut Effort<'_>,
) -> Result<LinkElement, BuildError> {
    let name = element.required("name")?.to_owned();
    noticed.elements(element, &IN_LINK, effort)?;
    let mut collisions = Vec::new();
    for collision in element.children("collision") {
        effort.spend_step()?;
        noticed.elements(collision, &IN_COLLISION, effort)?;
        collisions.push(read_collision(collision, noticed)?);
    }
    Ok(LinkElement { name, collisions })
}

fn read_collision(
    element: Element<'_>,
    noticed: &mut Noticed,
) -> Result<CollisionElement, RobotError> {
    let mut shapes = element.child("geometry").into_iter().flat_map(Element::elements);
    let shape = shapes.next().ok_or_else(|| element.bad("needs a geometry with a shape in it"))?;
    if let Some(other) = shapes.next() {
        return Err(other.bad("a geometry has one shape; another one needs its own collision"));
    }
    let (geometry, attributes): (Geometry, &[&str]) = match shape.tag() {
        "box" => (Geometry::Box { size: box_size(shape)? }, &["size"]),
        "sphere" => (Geometry::Sphere { radius: shape.length("radius")? }, &["radius"]),
        "cylinder" => {
            let [radius, length] = [shape.length("radius")?, shape.length("length")?];
            (Geometry::Cylinder { radius, length }, &["radius", "length"])
        }
        "capsule" => {
            let [radius, length] = [shape.length("radius")?, shape.length("length")?];
            (Geometry::Capsule { radius, length }, &["radius", "length"])
        }
        "mesh" => {
            let scale = shape.vector("scale", Vec3::repeat(1.0))?;
            if scale.iter().any(|s| s.abs() <= 0.0) {
                return Err(shape.bad("scale must not be zero along any axis"));
            }
            let filename = shape.required("filename")?.to_owned();
            (Geometry::Mesh { filename, scale }, &["filename", "scale"])
        }
        other => return Err(shape.bad(format!("no shape is called {:?}", shown(other)))),
    };
    noticed.shape(shape, attributes)?;
    if geometry.has_no_volume() {
        let problem = format!("this {} has no volume: it is a point or flat", shape.tag());
        noticed.note(shape.bad(problem).to_string());
    }
    Ok(CollisionElement {
        name: element.text("name").unwrap_or_default().to_owned(),
        link_from_shape: origin(element, noticed)?,
        geometry,
        line: element.line(),
    })
}

fn box_size(shape: Element<'_>) -> Result<Vec3, RobotError> {
    shape.required("size")?;
    let size = shape.vector("size", Vec3::zeros())?;
    if size.iter().all(|s| *s >= 0.0) {
        Ok(size)
    } else {
        Err(shape.bad("size must not be negative"))
    }
}

fn read_joint(
    element: Element<'_>,
    index_of: &BTreeMap<String, usize>,
    noticed: &Noticed,
) -> Result<JointElement, RobotError> {
    let kind = match element.required("type")? {
        "revolute" => JointKind::Revolute,
        "continuous" => JointKind::Continuous,
        "prismatic" => JointKind::Prismatic,
        "fixed" => JointKind::Fixed,
        "planar" => JointKind::Planar,
        "floating" => JointKind::Floating,
        other => return Err(element.bad(format!("no joint type is called {:?}", shown(other)))),
    };
    let link = |tag: &'static str| {
        let end = element.child(tag).ok_or_else(|| element.bad(format!("needs a {tag}")))?;
        let name = end.required("link")?;
        let index = index_of.get(name).copied();
        index.ok_or_else(|| end.bad(format!("the link {:?} is not there", shown(name))))
    };
    let (parent, child) = (link("parent")?, link("child")?);
    let (range, velocity) = limits(element, kind)?;
    let mimic = element.child("mimic").map(|mimic| {
        Ok(Mimic {
            joint: mimic.required("joint")?.to_owned(),
            multiplier: mimic.number("multiplier", Some(1.0))?,
            offset: mimic.number("offset", Some(0.0))?,
        })
    });
    Ok(JointElement {
        name: element.required("name")?.to_owned(),
        kind,
        parent,
        child,
        parent_from_joint: origin(element, noticed)?,
        axis: axis(element, kind)?,
        range,
        velocity,
        mimic: mimic.transpose()?,
        line: element.line(),
    })
}

/// The unit vector along the axis: each coordinate divided by the rounded length. Joints that move
/// about none often say that theirs is zero.
fn axis(element: Element<'_>, kind: JointKind) -> Result<Vec3, RobotError> {
    let Some(axis) = element.child("axis") else { return Ok(Vec3::x()) };
    let vector = axis.vector("xyz", Vec3::x())?;
    let largest = vector.amax();
    if matches!(kind, JointKind::Fixed | JointKind::Floating) {
        return Ok(Vec3::x());
    }
    if largest <= 1.0 / LENGTH_MAX {
        return Err(axis.bad("the axis must not be zero"));
    }
    let length = ((vector.x * vector.x + vector.y * vector.y) + vector.z * vector.z).sqrt();
    Ok(Vec3::new(vector.x / length, vector.y / length, vector.z / length))
}

fn limits(element: Element<'_>, kind: JointKind) -> Result<([f64; 2], f64), RobotError> {
    let free = [f64::NEG_INFINITY, f64::INFINITY];
    let is_limited = matches!(kind, JointKind::Revolute | JointKind::Prismatic);
    let Some(limit) = element.child("limit") else {
        return if is_limited && element.child("mimic").is_none() {
            Err(element.bad("a revolute or prismatic joint needs a limit"))
        } else {
            Ok((free, 0.0))
        };
    };
    let velocity = limit.number("velocity", Some(0.0))?;
    if !is_limited {
        return Ok((free, velocity));
    }
    let range = [limit.number("lower", Some(0.0))?, limit.number("upper", Some(0.0))?];
    if range[0] > range[1] {
        return Err(limit.bad("lower is more than upper"));
    }
    Ok((range, velocity))
}

/// An `origin`: roll about x, then pitch about y, then yaw about z, all about fixed axes; the
/// matrix is `Rz (Ry Rx)`, products of rows and columns from left to right. Or a quaternion, which
/// is normalised. Whatever else it says would be a place that nobody reads.
fn origin(element: Element<'_>, noticed: &Noticed) -> Result<Pose, RobotError> {
    let Some(origin) = element.child("origin") else { return Ok(Pose::identity()) };
    let known: &[&str] = match noticed.has_quaternions {
        true => &["xyz", "rpy", "quat_xyzw"],
        false => &["xyz", "rpy"],
    };
    if let Some(unknown) = origin.unknown_attribute(known) {
        let hint = if unknown == "quat_xyzw" { " before version 1.1" } else { "" };
        return Err(origin.bad(format!("an origin has no {:?}{hint}", shown(unknown))));
    }
    let translation = origin.vector("xyz", Vec3::zeros())?;
    if let Some([x, y, z, w]) = origin.numbers::<4>("quat_xyzw", "four")? {
        if origin.text("rpy").is_some() {
            return Err(origin.bad("has both rpy and quat_xyzw"));
        }
        let pose = Pose::from_quaternion(translation, [w, x, y, z]);
        return pose.map_err(|_| origin.bad("quat_xyzw has no length"));
    }
    let angles = origin.vector("rpy", Vec3::zeros())?;
    let turn = |axis: usize| {
        let trig = RoundedTrig::of_product(angles[axis], 1.0);
        let trig = trig.ok_or_else(|| origin.bad("rpy: an angle is too large"))?;
        Ok::<_, RobotError>(Pose { rotation: turned(axis, &trig), translation: Vec3::zeros() })
    };
    let rotation = turn(2)?.compose(&turn(1)?.compose(&turn(0)?)).rotation;
    Ok(Pose { rotation, translation })
}

/// The rotation about a coordinate axis.
fn turned(axis: usize, trig: &RoundedTrig) -> Mat3 {
    let (sine, cosine) = (trig.sine, 1.0 - trig.versine);
    let (i, k) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut matrix = Mat3::identity();
    matrix[(i, i)] = cosine;
    matrix[(k, k)] = cosine;
    matrix[(i, k)] = -sine;
    matrix[(k, i)] = sine;
    matrix
}
