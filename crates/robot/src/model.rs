//! A robot: its tree of joints, its links with their convex parts, and the pairs of links that need
//! no check.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::claim::LeftOutRule;
use super::error::{RobotError, shown};
use super::kinematics::Kinematics;
use super::parts::{PartBuilder, RobotPart};
use super::room::BuildRoom;
use super::srdf::{Group, NamedState, Semantics, Subject};
use super::tree::{Drive, Freedom, Tree, TreeFrame, Unit, Variable};
use super::urdf::{Description, DescriptionLimits, JointElement, JointKind, Mimic};
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::number::rounding::UNIT;
use clearance_geometry::pose::Pose;

pub use super::error::BuildError;
pub use super::parts::{RobotLink, Sources};

/// A joint and what moves it.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotJoint {
    /// The name that the URDF gives it.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// The link that carries it.
    pub parent: usize,
    /// The link that it moves.
    pub child: usize,
    /// Its values in a configuration; empty for fixed joints and for those that mimic.
    pub variables: Range<usize>,
    /// Whom it follows.
    pub mimic: Option<Mimic>,
}

/// Why a pair of links needs no check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedReason {
    /// A joint joins them.
    Adjacent,
    /// No joint between them moves: they are one body.
    Rigid,
    /// The SRDF says so, with this reason.
    Semantics(String),
}

/// Two links that may meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedPair {
    /// The indices of the two links, the lower one first.
    pub links: [usize; 2],
    /// Why they may meet.
    pub reason: AllowedReason,
}

impl AllowedPair {
    /// The rule that leaves the pair out; none: no joint changes it.
    pub fn rule(&self) -> Option<LeftOutRule> {
        match self.reason {
            AllowedReason::Adjacent => Some(LeftOutRule::Joined),
            AllowedReason::Semantics(_) => Some(LeftOutRule::Semantics),
            AllowedReason::Rigid => None,
        }
    }
}

/// Two parts of links that are apart, and stay as far apart whatever the joint values are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantPair {
    /// The numbers of the two parts, the lower one first.
    pub pair: [u32; 2],
    /// At most their clearance in any configuration, metres; more than 0.
    pub lower: f64,
    /// At least that.
    pub upper: f64,
    /// What a base that is no rotation stretches, metres: their clearance and the radii of balls
    /// around their points.
    pub stretched: f64,
}

impl ConstantPair {
    /// The same of a robot whose first part has that number, on a base.
    pub(super) fn on_base(&self, first_part: usize, base: &Pose) -> Self {
        let number = |part: u32| part + u32::try_from(first_part).unwrap_or(u32::MAX - part);
        let away = base.translation.norm();
        let slack = base.skew() * self.stretched + CONSTANT_ROUNDING * UNIT * away;
        let [lower, upper] = [self.lower - slack, self.upper + slack];
        Self { pair: self.pair.map(number), lower, upper, ..*self }
    }
}

/// More units of rounding, of how far a part is from the base or that from the origin, than a
/// place is off by: the deepest robot has a hundred frames of ten each.
pub(super) const CONSTANT_ROUNDING: f64 = 4096.0;

/// What an allowed pair takes while all of them are put in order, bytes.
const PAIR_BYTES: usize = 3 * size_of::<AllowedPair>();

/// A robot with its joints, links and parts, as its files describe it.
#[derive(Clone, Debug)]
pub struct Robot {
    /// The name that the URDF gives it.
    pub name: String,
    /// The joints that move, ready to be placed.
    pub kinematics: Kinematics,
    /// In the order of the URDF, which is that of the values of a configuration.
    pub joints: Vec<RobotJoint>,
    /// In the order of the URDF.
    pub links: Vec<RobotLink>,
    /// The parts of all links, ordered by link.
    pub parts: Vec<RobotPart>,
    /// Ordered by the links, each pair once.
    pub allowed: Vec<AllowedPair>,
    /// In order, of links that are checked against each other, or that a joint joins.
    pub constant: Vec<ConstantPair>,
    /// From the SRDF.
    pub groups: Vec<Group>,
    /// From the SRDF.
    pub states: Vec<NamedState>,
    /// What was not as expected, in words.
    pub notes: Vec<String>,
    /// The links, sorted by their names.
    pub links_by_name: Vec<u32>,
    /// The joint values, sorted by their names.
    pub variables_by_name: Vec<u32>,
}

/// The places of some names, sorted by them.
fn by_name<'a>(names: impl Iterator<Item = &'a String>) -> Vec<u32> {
    let names: Vec<&String> = names.collect();
    let mut places: Vec<u32> = (0..).take(names.len()).collect();
    places.sort_by_key(|place| names[*place as usize]);
    places
}

/// The first place of a name in such a list.
fn place_of<'a>(places: &[u32], name: &str, at: impl Fn(usize) -> &'a String) -> Option<usize> {
    let first = places.partition_point(|place| at(*place as usize).as_str() < name);
    places.get(first).map(|place| *place as usize).filter(|place| at(*place) == name)
}

impl Robot {
    /// Reads a robot as far as there is memory for it; its constant pairs are still to be found.
    /// Also tells what its parts take, bytes.
    pub(super) fn read_within(
        sources: &Sources<'_>,
        limits: &DescriptionLimits,
        effort: &mut Effort<'_>,
        room: &dyn BuildRoom,
    ) -> Result<(Self, usize), BuildError> {
        let description = Description::read(sources.urdf, limits, effort)?;
        let semantics = match sources.srdf {
            Some(text) => {
                Semantics::read(text, limits.nodes_max, &Subject::of(&description), effort)?
            }
            None => Semantics::default(),
        };
        let (tree, joints, mut links) = assemble(&description, limits.depth_max, effort)?;
        let parts = PartBuilder::new(sources, effort, room, limits.parts_max);
        let parts = parts.all(&description, &mut links)?;
        // Links that no joint moves are pairs, each with each.
        let with_parts = links.iter().filter(|link| !link.parts.is_empty()).count();
        if !room.holds(parts.bytes + with_parts * with_parts / 2 * PAIR_BYTES) {
            return Err(BuildError::NoRoom);
        }
        let PartBuilder { built: parts, missing, notes: of_hulls, bytes, .. } = parts;
        let left_out = |name| format!("left out, since its mesh was not given: {}", shown(name));
        let mut notes: Vec<String> = missing.iter().map(|name| left_out(name)).collect();
        notes.extend(of_hulls);
        notes.extend(description.notes);
        let allowed = allowed_pairs(&joints, &links, &semantics, &mut notes, effort)?;
        let Semantics { groups, states, notes: of_semantics, .. } = semantics;
        notes.extend(of_semantics);
        let robot = Self {
            links_by_name: by_name(links.iter().map(|link| &link.name)),
            variables_by_name: by_name(tree.variables.iter().map(|variable| &variable.name)),
            name: description.name,
            kinematics: Kinematics::new(tree),
            joints,
            links,
            parts,
            allowed,
            constant: Vec::new(),
            groups,
            states,
            notes,
        };
        Ok((robot, bytes))
    }

    /// Whether two links, the lower index first, are checked against each other in any case.
    pub fn is_checked(&self, links: [usize; 2]) -> bool {
        self.allowed.binary_search_by_key(&links, |pair| pair.links).is_err()
    }

    /// Whether two links need no check for no other reason than that a joint moves the one on the
    /// other.
    pub fn is_joined(&self, links: [usize; 2]) -> bool {
        let known = self.allowed.binary_search_by_key(&links, |pair| pair.links);
        known.is_ok_and(|at| self.allowed[at].reason == AllowedReason::Adjacent)
            && self.links[links[0]].frame != self.links[links[1]].frame
    }

    /// The link with this name.
    pub fn link(&self, name: &str) -> Option<usize> {
        place_of(&self.links_by_name, name, |place| &self.links[place].name)
    }

    /// The joint value with this name.
    pub fn variable(&self, name: &str) -> Option<usize> {
        let variables = &self.kinematics.tree().variables;
        place_of(&self.variables_by_name, name, |place| &variables[place].name)
    }
}

/// The tree, and the joints and links in it.
fn assemble(
    description: &Description,
    depth_max: usize,
    effort: &mut Effort<'_>,
) -> Result<(Tree, Vec<RobotJoint>, Vec<RobotLink>), BuildError> {
    let (mut tree, mut joints) = (Tree::default(), Vec::new());
    for joint in &description.joints {
        let first = tree.variables.len();
        if joint.mimic.is_none() {
            tree.variables.extend(variables(joint));
        }
        joints.push(RobotJoint {
            name: joint.name.clone(),
            kind: joint.kind,
            parent: joint.parent,
            child: joint.child,
            variables: first..tree.variables.len(),
            mimic: joint.mimic.clone(),
        });
    }
    let followed = followed(&joints);
    let mut below = vec![Vec::new(); description.links.len()];
    let mut is_root = vec![true; description.links.len()];
    for (index, joint) in description.joints.iter().enumerate() {
        below[joint.parent].push(index);
        is_root[joint.child] = false;
    }
    let root = single_root(description, &is_root)?;
    let mut places: Vec<Option<(Option<usize>, Pose)>> = vec![None; description.links.len()];
    places[root] = Some((None, Pose::identity()));
    let mut waiting = vec![(root, 0)];
    while let Some((link, depth)) = waiting.pop() {
        let (frame, frame_from_link) = places[link].expect("set when it was pushed");
        for index in below[link].iter().rev() {
            let joint = &description.joints[*index];
            if depth == depth_max {
                let problem = format!("more than {depth_max} joints between the base and a link");
                return Err(at_joint(joint, problem).into());
            }
            let Some(by) = driven_by(&joints, &followed, *index, effort)? else {
                return Err(at_joint(joint, "mimics itself by way of others").into());
            };
            let origin = frame_from_link.compose(&joint.parent_from_joint);
            places[joint.child] = Some(add_frames(&mut tree, joint, by, frame, origin));
            waiting.push((joint.child, depth + 1));
        }
    }
    let mut links = Vec::new();
    for (link, place) in description.links.iter().zip(places) {
        let Some((frame, frame_from_link)) = place else {
            let in_circle =
                |joint: &&JointElement| description.links[joint.child].name == link.name;
            let joint = description.joints.iter().find(in_circle).expect("it is no root");
            return Err(at_joint(joint, "this joint is part of a circle, or hangs on one").into());
        };
        links.push(RobotLink { name: link.name.clone(), frame, frame_from_link, parts: 0..0 });
    }
    Ok((tree, joints, links))
}

fn single_root(description: &Description, is_root: &[bool]) -> Result<usize, RobotError> {
    let whole = |problem: String| RobotError {
        file: "URDF",
        line: 0,
        place: String::new(),
        problem: problem.into(),
    };
    let mut roots = (0..is_root.len()).filter(|link| is_root[*link]);
    let name = |link: usize| shown(&description.links[link].name);
    match (roots.next(), roots.next()) {
        (Some(root), None) => Ok(root),
        (Some(one), Some(other)) => Err(whole(format!(
            "two links have no joint above them: {:?} and {:?}",
            name(one),
            name(other)
        ))),
        (None, _) => Err(whole("the joints form a circle: no link is the base".to_owned())),
    }
}

fn at_joint(
    joint: &JointElement,
    problem: impl Into<std::borrow::Cow<'static, str>>,
) -> RobotError {
    let place = format!("robot/joint[{}]: ", shown(&joint.name));
    RobotError { file: "URDF", line: joint.line, place, problem: problem.into() }
}

/// The values that a joint takes from a configuration.
fn variables(joint: &JointElement) -> Vec<Variable> {
    let variable = |suffix: &str, unit: Unit, [lower, upper]: [f64; 2]| Variable {
        name: format!("{}{suffix}", joint.name),
        unit,
        lower,
        upper,
        velocity: joint.velocity,
    };
    let free = [f64::NEG_INFINITY, f64::INFINITY];
    let along = |axis| variable(axis, Unit::Metres, free);
    match joint.kind {
        JointKind::Fixed => Vec::new(),
        JointKind::Revolute | JointKind::Continuous => {
            vec![variable("", Unit::Radians, joint.range)]
        }
        JointKind::Prismatic => vec![variable("", Unit::Metres, joint.range)],
        JointKind::Planar => {
            vec![along("/x"), along("/y"), variable("/theta", Unit::Radians, free)]
        }
        JointKind::Floating => {
            let turn = ["/qx", "/qy", "/qz", "/qw"];
            // It is normalised when it is used, so twice a quaternion is the same.
            let component = |name: &str| variable(name, Unit::Quaternion, free);
            let slides = ["/x", "/y", "/z"].into_iter().map(along);
            slides.chain(turn.into_iter().map(component)).collect()
        }
    }
}

/// The joint that each joint follows, by its name.
fn followed(joints: &[RobotJoint]) -> Vec<Option<usize>> {
    let index_of: BTreeMap<&str, usize> =
        joints.iter().enumerate().map(|(index, joint)| (joint.name.as_str(), index)).collect();
    let of = |mimic: &Mimic| *index_of.get(mimic.joint.as_str()).expect("checked by urdf");
    joints.iter().map(|joint| joint.mimic.as_ref().map(of)).collect()
}

/// The value that drives a joint; that of a joint that mimics is found through all whom it follows.
/// None: there is no end to them.
fn driven_by(
    joints: &[RobotJoint],
    followed: &[Option<usize>],
    index: usize,
    effort: &mut Effort<'_>,
) -> Result<Option<Drive>, Stopped> {
    let (mut at, mut by) = (index, Drive::direct(0));
    for _ in 0..=joints.len() {
        effort.spend_step()?;
        let (Some(mimic), Some(next)) = (&joints[at].mimic, followed[at]) else {
            return Ok(Some(Drive { variable: joints[at].variables.start, ..by }));
        };
        // multiplier (m q + o) + offset
        by.offset += by.multiplier * mimic.offset;
        by.multiplier *= mimic.multiplier;
        at = next;
    }
    Ok(None)
}

/// Adds the frames of a joint; returns where the link below it is.
fn add_frames(
    tree: &mut Tree,
    joint: &JointElement,
    by: Drive,
    parent: Option<usize>,
    origin: Pose,
) -> (Option<usize>, Pose) {
    let axis = joint.axis;
    let direct = |k: usize| Drive::direct(by.variable + k);
    let freedoms = match joint.kind {
        JointKind::Fixed => return (parent, origin),
        JointKind::Revolute | JointKind::Continuous => vec![Freedom::Turn { axis, by }],
        JointKind::Prismatic => vec![Freedom::Slide { axis, by }],
        JointKind::Planar => {
            let [u, v] = across(&axis);
            let slides = [(u, 0), (v, 1)];
            let slides = slides.map(|(axis, k)| Freedom::Slide { axis, by: direct(k) });
            slides.into_iter().chain([Freedom::Turn { axis, by: direct(2) }]).collect()
        }
        JointKind::Floating => {
            let slides = [(Vec3::x(), 0), (Vec3::y(), 1), (Vec3::z(), 2)];
            let slides = slides.map(|(axis, k)| Freedom::Slide { axis, by: direct(k) });
            slides.into_iter().chain([Freedom::Ball { variable: by.variable + 3 }]).collect()
        }
    };
    let (mut parent, mut parent_from_joint) = (parent, origin);
    for freedom in freedoms {
        tree.frames.push(TreeFrame { parent, parent_from_joint, freedom });
        (parent, parent_from_joint) = (Some(tree.frames.len() - 1), Pose::identity());
    }
    (parent, Pose::identity())
}

/// Two unit vectors across a unit axis, in right-handed order with it: x and y for the axis z.
fn across(axis: &Vec3) -> [Vec3; 2] {
    let start = if axis.x.abs() < 0.9 { Vec3::x() } else { Vec3::y() };
    let u = (start - axis * axis.dot(&start)).normalize();
    [u, axis.cross(&u)]
}

/// Links that need no check against each other, each pair once.
fn allowed_pairs(
    joints: &[RobotJoint],
    links: &[RobotLink],
    semantics: &Semantics,
    notes: &mut Vec<String>,
    effort: &mut Effort<'_>,
) -> Result<Vec<AllowedPair>, Stopped> {
    let mut reasons: BTreeMap<[usize; 2], AllowedReason> = BTreeMap::new();
    let index_of: BTreeMap<&str, usize> =
        links.iter().enumerate().map(|(index, link)| (link.name.as_str(), index)).collect();
    for name in &semantics.disabled_links {
        effort.spend_step()?;
        if !index_of.contains_key(name.as_str()) {
            notes.push(format!("the SRDF names a link that is not there: {:?}", shown(name)));
        }
    }
    for pair in &semantics.disabled {
        effort.spend_step()?;
        let known = [0, 1].map(|k| index_of.get(pair.links[k].as_str()).copied());
        let [Some(a), Some(b)] = known else {
            let names = [0, 1].map(|k| shown(&pair.links[k]));
            notes.push(format!("the SRDF names a link that is not there: {names:?}"));
            continue;
        };
        if a != b {
            let reason = AllowedReason::Semantics(pair.reason.clone());
            reasons.insert([a.min(b), a.max(b)], reason);
        }
    }
    disable_links(&index_of, links, semantics, &mut reasons, effort)?;
    for joint in joints {
        let [a, b] = [joint.parent, joint.child];
        reasons.entry([a.min(b), a.max(b)]).or_insert(AllowedReason::Adjacent);
    }
    let mut together: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (index, link) in links.iter().enumerate().filter(|(_, link)| !link.parts.is_empty()) {
        together.entry(link.frame).or_default().push(index);
    }
    for links in together.values() {
        for (at, a) in links.iter().enumerate() {
            for b in &links[at + 1..] {
                effort.spend_step()?;
                reasons.entry([*a, *b]).or_insert(AllowedReason::Rigid);
            }
        }
    }
    let pairs = reasons.into_iter().map(|(links, reason)| AllowedPair { links, reason });
    Ok(pairs.collect())
}

/// Pairs of links that the SRDF disables by one of them, unless it enables the pair. Only links
/// with parts: memory was taken for as many pairs as these are.
fn disable_links(
    index_of: &BTreeMap<&str, usize>,
    links: &[RobotLink],
    semantics: &Semantics,
    reasons: &mut BTreeMap<[usize; 2], AllowedReason>,
    effort: &mut Effort<'_>,
) -> Result<(), Stopped> {
    let place = |name: &String| index_of.get(name.as_str()).copied();
    let enabled = semantics.enabled.iter().filter_map(|[one, other]| {
        let [a, b] = [place(one)?, place(other)?];
        Some([a.min(b), a.max(b)])
    });
    let enabled: BTreeSet<[usize; 2]> = enabled.collect();
    let disabled: BTreeSet<usize> = semantics.disabled_links.iter().filter_map(place).collect();
    let has_parts = |link: &usize| !links[*link].parts.is_empty();
    for link in disabled.into_iter().filter(has_parts) {
        for other in (0..links.len()).filter(|other| *other != link && has_parts(other)) {
            effort.spend_step()?;
            let pair = [link.min(other), link.max(other)];
            if !enabled.contains(&pair) {
                let reason = || AllowedReason::Semantics("Default".to_owned());
                reasons.entry(pair).or_insert_with(reason);
            }
        }
    }
    Ok(())
}
