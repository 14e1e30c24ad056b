//! SRDF: which pairs of links need no check and why, groups of joints, and named configurations.

use super::RobotError;
use super::xml::XmlFile;

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
    /// Whose.
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

/// Bytes of the names of joints of all groups: one that is named in a group is so again in every
/// group that holds this one, and a name may be as long as the file.
const MEMBER_BYTES_MAX: usize = 16 << 20;

impl Semantics {
    /// Reads an SRDF. Links that the URDF does not have are for [`super::model`] to notice.
    pub fn read(text: &str, nodes_max: u32) -> Result<Self, RobotError> {
        let file = XmlFile::parse("SRDF", text, nodes_max)?;
        let robot = file.robot()?;
        let (mut read, mut members, mut member_bytes) = (Self::default(), 0, 0);
        for element in robot.elements() {
            if read.disabled.len() + read.groups.len() + read.states.len() >= ENTRIES_MAX {
                return Err(element.bad(format!("more than {ENTRIES_MAX} entries")));
            }
            match element.tag() {
                "disable_collisions" => read.disabled.push(DisabledPair {
                    links: [element.required("link1")?, element.required("link2")?]
                        .map(str::to_owned),
                    reason: element.text("reason").unwrap_or_default().to_owned(),
                }),
                "group" => {
                    let name = element.required("name")?.to_owned();
                    let mut joints = Vec::new();
                    for joint in element.children("joint") {
                        joints.push(joint.required("name")?.to_owned());
                    }
                    for inner in element.children("group") {
                        let inner = inner.required("name")?;
                        // Groups come before those that hold them; another order names nothing.
                        let known = read.groups.iter().find(|group| group.name == inner);
                        let Some(known) = known else { continue };
                        member_bytes += known.joints.iter().map(String::len).sum::<usize>();
                        if members + joints.len() + known.joints.len() > ENTRIES_MAX {
                            let problem =
                                format!("groups of more than {ENTRIES_MAX} joints in all");
                            return Err(element.bad(problem));
                        }
                        if member_bytes > MEMBER_BYTES_MAX {
                            let problem =
                                format!("groups of more than {MEMBER_BYTES_MAX} bytes of names");
                            return Err(element.bad(problem));
                        }
                        joints.extend(known.joints.iter().cloned());
                    }
                    members += joints.len();
                    read.groups.push(Group { name, joints });
                }
                "group_state" => {
                    let mut values = Vec::new();
                    for joint in element.children("joint") {
                        let value = joint.number("value", None)?;
                        values.push((joint.required("name")?.to_owned(), value));
                    }
                    let name = element.required("name")?.to_owned();
                    let group = element.text("group").unwrap_or_default().to_owned();
                    read.states.push(NamedState { name, group, values });
                }
                _ => {}
            }
        }
        Ok(read)
    }
}
