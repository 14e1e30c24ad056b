//! SRDF: which pairs of links need no check and why, groups of joints, and named configurations.

use std::collections::BTreeMap;

use super::error::{BuildError, RobotError};
use super::xml::{Element, XmlFile};
use clearance_geometry::effort::Effort;

/// A pair of links that may meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisabledPair {
    /// Names of links.
    pub links: [String; 2],
    /// What the file says: `Adjacent`, `Never`, `Default` ...
    pub reason: String,
}

/// A `group`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Joints by name, those of groups and chains in it too.
    pub joints: Vec<String>,
}

/// A `group_state`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedState {
    /// Its name.
    pub name: String,
    /// The group that the state is of.
    pub group: String,
    /// Joints with their values.
    pub values: Vec<(String, f64)>,
}

/// All of the file that matters here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Semantics {
    /// Pairs that need no check.
    pub disabled: Vec<DisabledPair>,
    /// In the order of the file.
    pub groups: Vec<Group>,
    /// In the order of the file.
    pub states: Vec<NamedState>,
}

/// Entries that a file may have in all; a robot of 500 links has at most 125,000 pairs.
const ENTRIES_MAX: usize = 200_000;

/// Bytes of the names of joints in all groups together, each group's for itself. A group that names
/// others repeats theirs, so that a text of a few megabytes could ask for terabytes.
const MEMBER_BYTES_MAX: usize = 16 << 20;

impl Semantics {
    /// Reads an SRDF, as long as the effort lasts: a step is an element, an attribute or a joint of
    /// a group. Links that the URDF does not have are for [`super::model`] to notice.
    pub fn read(text: &str, nodes_max: u32, effort: &mut Effort<'_>) -> Result<Self, BuildError> {
        let file = XmlFile::parse("SRDF", text, nodes_max, effort)?;
        let (mut read, mut groups) = (Self::default(), Groups::default());
        for element in file.robot()?.elements() {
            effort.spend_step()?;
            if read.disabled.len() + groups.all.len() + read.states.len() >= ENTRIES_MAX {
                return Err(element.bad(format!("more than {ENTRIES_MAX} entries")).into());
            }
            match element.tag() {
                "disable_collisions" => read.disabled.push(disabled_pair(element)?),
                "group" => groups.add(element, effort)?,
                "group_state" => read.states.push(named_state(element, effort)?),
                _ => {}
            }
        }
        read.groups = groups.all;
        Ok(read)
    }
}

fn disabled_pair(element: Element<'_>) -> Result<DisabledPair, RobotError> {
    Ok(DisabledPair {
        links: [element.required("link1")?, element.required("link2")?].map(str::to_owned),
        reason: element.text("reason").unwrap_or_default().to_owned(),
    })
}

fn named_state(element: Element<'_>, effort: &mut Effort<'_>) -> Result<NamedState, BuildError> {
    let mut values = Vec::new();
    for joint in element.children("joint") {
        effort.spend_step()?;
        let value = joint.number("value", None)?;
        values.push((joint.required("name")?.to_owned(), value));
    }
    let name = element.required("name")?.to_owned();
    let group = element.text("group").unwrap_or_default().to_owned();
    Ok(NamedState { name, group, values })
}

/// The groups so far.
#[derive(Default)]
struct Groups<'a> {
    all: Vec<Group>,
    /// The first of each name.
    index_of: BTreeMap<&'a str, usize>,
    /// Joints of all groups, each group's for itself, and the bytes of their names.
    members: usize,
    member_bytes: usize,
}

impl<'a> Groups<'a> {
    /// Adds a group with its joints, and those of the groups that it names.
    fn add(&mut self, element: Element<'a>, effort: &mut Effort<'_>) -> Result<(), BuildError> {
        let name = element.required("name")?;
        let mut joints = Vec::new();
        for joint in element.children("joint") {
            self.member(element, joint.required("name")?.to_owned(), &mut joints, effort)?;
        }
        for inner in element.children("group") {
            effort.spend_step()?;
            // Groups come before those that hold them; another order names nothing.
            let Some(&known) = self.index_of.get(inner.required("name")?) else { continue };
            for k in 0..self.all[known].joints.len() {
                let joint = self.all[known].joints[k].clone();
                self.member(element, joint, &mut joints, effort)?;
            }
        }
        self.index_of.entry(name).or_insert(self.all.len());
        self.all.push(Group { name: name.to_owned(), joints });
        Ok(())
    }

    /// Adds a joint to those of a group, if there may be another one.
    fn member(
        &mut self,
        element: Element<'a>,
        joint: String,
        joints: &mut Vec<String>,
        effort: &mut Effort<'_>,
    ) -> Result<(), BuildError> {
        effort.spend_step()?;
        self.members += 1;
        self.member_bytes += joint.len();
        if self.members > ENTRIES_MAX {
            let problem = format!("groups of more than {ENTRIES_MAX} joints in all");
            return Err(element.bad(problem).into());
        }
        if self.member_bytes > MEMBER_BYTES_MAX {
            let problem =
                format!("names of joints in groups of more than {MEMBER_BYTES_MAX} bytes");
            return Err(element.bad(problem).into());
        }
        joints.push(joint);
        Ok(())
    }
}
