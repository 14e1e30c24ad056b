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
        /// Metres.
        size: Vec3,
    },
    /// A ball around the origin.
    Sphere {
        /// Metres.
        radius: f64,
    },
    /// A cylinder along z around the origin.
    Cylinder {
        /// Metres.
        radius: f64,
        /// Metres.
        length: f64,
    },
    /// A cylinder along z around the origin with half balls beyond its ends.
    Capsule {
        /// Metres.
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
    /// Unique.
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
    /// Whom.
    pub joint: String,
    /// Times that one's value ...
    pub multiplier: f64,
    /// ... plus this.
    pub offset: f64,
}

/// A `joint` element.
#[derive(Clone, Debug, PartialEq)]
pub struct JointElement {
    /// Unique.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// Index of the link that carries it.
    pub parent: usize,
    /// Index of the link that it moves.
    pub child: usize,
    /// Where it is in the parent link.
    pub parent_from_joint: Pose,
    /// A unit vector.
    pub axis: Vec3,
    /// Least and greatest value; infinite: none.
    pub range: [f64; 2],
    /// Greatest speed, a second; 0: not said.
    pub velocity: f64,
    /// Whom it follows.
    pub mimic: Option<Mimic>,
    /// Its line in the file.
    pub line: u32,
}

/// All of the file that matters here.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The robot's.
    pub name: String,
    /// In the order of the file.
    pub links: Vec<LinkElement>,
    /// In the order of the file.
    pub joints: Vec<JointElement>,
}

impl Description {
    /// Reads a URDF, as long as the effort lasts: a step is an element or an attribute.
    pub fn read(
        text: &str,
        limits: &DescriptionLimits,
        effort: &mut Effort<'_>,
    ) -> Result<Self, BuildError> {
        let file = XmlFile::parse("URDF", text, limits.nodes_max, effort)?;
        let robot = file.robot()?;
        let (mut links, mut index_of, mut parts) = (Vec::new(), BTreeMap::new(), 0);
        for element in robot.children("link") {
            effort.spend_step()?;
            if links.len() == limits.links_max {
                return Err(element.bad(format!("more than {} links", limits.links_max)).into());
            }
            let link = read_link(element, effort)?;
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
        let joints = read_joints(robot, &index_of, effort)?;
        let name = robot.text("name").unwrap_or_default().to_owned();
        Ok(Self { name, links, joints })
    }
}

/// All joints, every name of which is known and every link of which has one joint above it.
fn read_joints(
    robot: Element<'_>,
    index_of: &BTreeMap<String, usize>,
    effort: &mut Effort<'_>,
) -> Result<Vec<JointElement>, BuildError> {
    let mut joints: Vec<JointElement> = Vec::new();
    let (mut names, mut above) = (BTreeMap::new(), BTreeMap::new());
    for element in robot.children("joint") {
        effort.spend_step()?;
        let joint = read_joint(element, index_of)?;
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
    }
    Ok(joints)
}

fn read_link(element: Element<'_>, effort: &mut Effort<'_>) -> Result<LinkElement, BuildError> {
    let name = element.required("name")?.to_owned();
    let mut collisions = Vec::new();
    for collision in element.children("collision") {
        effort.spend_step()?;
        collisions.push(read_collision(collision)?);
    }
    Ok(LinkElement { name, collisions })
}

fn read_collision(element: Element<'_>) -> Result<CollisionElement, RobotError> {
    let shape = element.child("geometry").and_then(|geometry| geometry.elements().next());
    let shape = shape.ok_or_else(|| element.bad("needs a geometry with a shape in it"))?;
    let geometry = match shape.tag() {
        "box" => Geometry::Box { size: box_size(shape)? },
        "sphere" => Geometry::Sphere { radius: shape.length("radius")? },
        "cylinder" => {
            Geometry::Cylinder { radius: shape.length("radius")?, length: shape.length("length")? }
        }
        "capsule" => {
            Geometry::Capsule { radius: shape.length("radius")?, length: shape.length("length")? }
        }
        "mesh" => {
            let scale = shape.vector("scale", Vec3::repeat(1.0))?;
            if scale.iter().any(|s| s.abs() <= 0.0) {
                return Err(shape.bad("scale must not be zero along any axis"));
            }
            Geometry::Mesh { filename: shape.required("filename")?.to_owned(), scale }
        }
        other => return Err(shape.bad(format!("no shape is called {:?}", shown(other)))),
    };
    Ok(CollisionElement {
        name: element.text("name").unwrap_or_default().to_owned(),
        link_from_shape: origin(element)?,
        geometry,
        line: element.line(),
    })
}

fn box_size(shape: Element<'_>) -> Result<Vec3, RobotError> {
    shape.required("size")?;
    let size = shape.vector("size", Vec3::zeros())?;
    if size.iter().all(|s| *s > 0.0) { Ok(size) } else { Err(shape.bad("size must be positive")) }
}

fn read_joint(
    element: Element<'_>,
    index_of: &BTreeMap<String, usize>,
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
        parent_from_joint: origin(element)?,
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
/// matrix is `Rz (Ry Rx)`, products of rows and columns from left to right.
fn origin(element: Element<'_>) -> Result<Pose, RobotError> {
    let Some(origin) = element.child("origin") else { return Ok(Pose::identity()) };
    let translation = origin.vector("xyz", Vec3::zeros())?;
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
