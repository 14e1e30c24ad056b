//! SRDF: which pairs of links need no check and why, groups of joints, and named configurations.

use std::collections::BTreeMap;

use super::error::{BuildError, RobotError, shown};
use super::urdf::Description;
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

/// A `group` element: joints that are planned for together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name that the file gives it.
    pub name: String,
    /// Joints by name, those of groups and chains in it too.
    pub joints: Vec<String>,
}

/// A `group_state` element: values of the joints of a group, under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedState {
    /// The name that the file gives it.
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
    /// Names of links that need no check against any other, but for the pairs that are enabled.
    pub disabled_links: Vec<String>,
    /// Pairs of links that are checked in spite of that.
    pub enabled: Vec<[String; 2]>,
    /// In the order of the file.
    pub groups: Vec<Group>,
    /// In the order of the file.
    pub states: Vec<NamedState>,
    /// What the file says that nothing is made of, in words.
    pub notes: Vec<String>,
}

/// The robot that the file speaks about: what its groups are made of.
#[derive(Debug, Default)]
pub struct Subject<'a> {
    /// The name in the URDF.
    name: &'a str,
    /// For each link with a joint above it: the joint, and the link that carries this.
    above: BTreeMap<&'a str, [&'a str; 2]>,
}

impl<'a> Subject<'a> {
    /// The robot of a URDF.
    pub fn of(description: &'a Description) -> Self {
        let link = |index: usize| description.links[index].name.as_str();
        let joints = description.joints.iter();
        let above = joints.map(|joint| (link(joint.child), [&*joint.name, link(joint.parent)]));
        Self { name: &description.name, above: above.collect() }
    }

    /// The joints from a link to one that it hangs on, as a chain has them: from the base on. None
    /// if it does not.
    fn chain(&self, base: &str, tip: &str) -> Option<Vec<&'a str>> {
        let (mut joints, mut at) = (Vec::new(), tip);
        while at != base {
            let [joint, carrier] = self.above.get(at)?;
            // Joints in a circle lead nowhere; that they do so is told of the URDF.
            if joints.len() == self.above.len() {
                return None;
            }
            joints.push(*joint);
            at = carrier;
        }
        joints.reverse();
        Some(joints)
    }
}

/// Entries that a file may have in all; a robot of 500 links has at most 125,000 pairs.
const ENTRIES_MAX: usize = 200_000;

/// Notes at most.
const NOTES_MAX: usize = 100;

/// Bytes of the names of joints in all groups together, each group's for itself. A group that names
/// others repeats theirs, so that a text of a few megabytes could ask for terabytes.
const MEMBER_BYTES_MAX: usize = 16 << 20;

impl Semantics {
    /// Reads an SRDF about a robot, as long as the effort lasts: a step is an element, an attribute
    /// or a joint of a group. Links that the URDF does not have are for [`super::model`] to notice.
    pub fn read(
        text: &str,
        nodes_max: u32,
        subject: &Subject<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Self, BuildError> {
        let file = XmlFile::parse("SRDF", text, nodes_max, effort)?;
        let (mut read, mut groups) = (Self::default(), Groups::new(subject));
        let robot = file.root("robot")?;
        let name = robot.text("name").unwrap_or_default();
        if !name.is_empty() && name != subject.name {
            let [name, other] = [name, subject.name].map(shown);
            read.notes.push(format!("the SRDF is of {name:?}, and the URDF of {other:?}"));
        }
        for element in robot.elements() {
            effort.spend_step()?;
            if read.entries() + groups.all.len() >= ENTRIES_MAX {
                return Err(element.bad(format!("more than {ENTRIES_MAX} entries")).into());
            }
            match element.tag() {
                "disable_collisions" => read.disabled.push(disabled_pair(element)?),
                "disable_default_collisions" => {
                    read.disabled_links.push(element.required("link")?.to_owned());
                }
                "enable_collisions" => read.enabled.push(
                    [element.required("link1")?, element.required("link2")?].map(str::to_owned),
                ),
                "group" => groups.add(element, effort)?,
                "group_state" => read.states.push(named_state(element, effort)?),
                "virtual_joint" => groups.notes.push(
                    element
                        .bad("is not obeyed: the base stands where RobotInstance.base says")
                        .to_string(),
                ),
                _ => {}
            }
            groups.notes.truncate(NOTES_MAX);
        }
        read.groups = groups.all;
        read.notes.extend(groups.notes);
        Ok(read)
    }

    /// Entries so far, but for groups.
    fn entries(&self) -> usize {
        let Self { disabled, disabled_links, enabled, states, .. } = self;
        disabled.len() + disabled_links.len() + enabled.len() + states.len()
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
struct Groups<'a> {
    subject: &'a Subject<'a>,
    notes: Vec<String>,
    all: Vec<Group>,
    /// The first of each name.
    index_of: BTreeMap<&'a str, usize>,
    /// Joints of all groups, each group's for itself, and the bytes of their names.
    members: usize,
    member_bytes: usize,
}

impl<'a> Groups<'a> {
    /// No group of this robot yet.
    fn new(subject: &'a Subject<'a>) -> Self {
        let (notes, all, index_of) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { subject, notes, all, index_of, members: 0, member_bytes: 0 }
    }

    /// Adds a group with its joints, those above the links that it names, those of its chains, and
    /// those of the groups that it names.
    fn add(&mut self, element: Element<'a>, effort: &mut Effort<'_>) -> Result<(), BuildError> {
        let name = element.required("name")?;
        let mut joints = Vec::new();
        for joint in element.children("joint") {
            self.member(element, joint.required("name")?.to_owned(), &mut joints, effort)?;
        }
        for link in element.children("link") {
            match self.subject.above.get(link.required("name")?) {
                Some([joint, _]) => {
                    self.member(element, (*joint).to_owned(), &mut joints, effort)?;
                }
                // The base has no joint, and is named in many groups.
                None => effort.spend_step()?,
            }
        }
        for chain in element.children("chain") {
            effort.spend_step()?;
            let [base, tip] = [chain.required("base_link")?, chain.required("tip_link")?];
            let Some(found) = self.subject.chain(base, tip) else {
                let problem = "is left out: the tip does not hang on the base";
                self.notes.push(chain.bad(problem).to_string());
                continue;
            };
            for joint in found {
                self.member(element, joint.to_owned(), &mut joints, effort)?;
            }
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
