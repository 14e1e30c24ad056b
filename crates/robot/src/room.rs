//! Memory while a robot is built, and what a robot takes once it is: a description of a hundred
//! kilobytes may ask for polytopes of gigabytes.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use super::model::{AllowedReason, Robot, RobotJoint};
use super::parts::{PartSource, RobotPart};
use clearance_geometry::Vec3;
use clearance_geometry::hull::building_bytes_max;
use clearance_geometry::polytope::{Polytope, TableKeeper};

/// Who has memory for a robot that is being built.
pub trait BuildRoom: Debug {
    /// Whether there is memory for so many bytes in all, of what is built so far and what the next
    /// step takes. It is asked before the step.
    fn holds(&self, bytes: usize) -> bool;

    /// Who is told of the tables that are built of the robot's own polytopes.
    fn keeper(&self) -> Option<Arc<dyn TableKeeper>>;
}

/// As much as the machine has.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

impl BuildRoom for Unbounded {
    fn holds(&self, _bytes: usize) -> bool {
        true
    }

    fn keeper(&self) -> Option<Arc<dyn TableKeeper>> {
        None
    }
}

/// What a polytope of a robot takes beside its lists: itself, its bounds, and what is built of
/// every one on first use.
const POLYTOPE_BYTES: usize = size_of::<Polytope>() + 512;

/// Memory that a polytope of a robot takes, without tables that methods build of it.
pub(super) fn polytope_bytes(polytope: &Polytope) -> usize {
    POLYTOPE_BYTES + polytope.heap_bytes()
}

/// What building a hull of so many points takes at most, the points included.
pub(super) fn hull_bytes(points: usize) -> usize {
    let building = usize::try_from(building_bytes_max(points)).unwrap_or(usize::MAX);
    building.saturating_add(points.saturating_mul(2 * size_of::<Vec3>()))
}

/// What it takes to read a description of this text and to keep what it says, bytes at most, but
/// for the parts: the nodes and attributes of the document, which a `<` or a `=` each begin, in
/// lists that may have room for twice as many; and its names, which joints of several values
/// repeat.
pub fn reading_bytes(text: &str) -> usize {
    const NAMES: usize = 8;
    const NODE: usize = 400;
    const ATTRIBUTE: usize = 160;
    let count = |wanted: u8| text.bytes().filter(|byte| *byte == wanted).count();
    NAMES * text.len() + NODE * count(b'<') + ATTRIBUTE * count(b'=')
}

/// What an allowed pair takes while all of them are put in order, bytes.
pub(super) const PAIR_BYTES: usize = 3 * size_of::<super::model::AllowedPair>();

/// What so many bytes of a heap take there: its pieces have a word before them and are whole
/// multiples of two words.
fn piece(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { (bytes + 8).next_multiple_of(16).max(32) }
}

fn text(text: &str) -> usize {
    piece(text.len())
}

fn list<T>(list: &Vec<T>) -> usize {
    piece(list.capacity() * size_of::<T>())
}

fn texts<'a>(all: impl IntoIterator<Item = &'a String>) -> usize {
    all.into_iter().map(|one| text(one)).sum()
}

impl Robot {
    /// Memory that it takes, bytes, with the polytopes that were built for it: those that were
    /// registered already are whoever's who registered them.
    pub fn heap_bytes(&self) -> usize {
        let tree = self.kinematics.tree();
        let variables = texts(tree.variables.iter().map(|variable| &variable.name));
        // A frame has matrices beside it, which take twice as much.
        let chain = list(&tree.variables) + 3 * list(&tree.frames) + variables;
        size_of::<Self>()
            + chain
            + list(&self.joints)
            + self.joints.iter().map(joint_bytes).sum::<usize>()
            + list(&self.links)
            + texts(self.links.iter().map(|link| &link.name))
            + self.part_bytes()
            + list(&self.allowed)
            + self.allowed.iter().map(|pair| reason_bytes(&pair.reason)).sum::<usize>()
            + self.said_bytes()
    }

    /// What its files say of groups and configurations, and what was not as expected.
    fn said_bytes(&self) -> usize {
        let groups = self.groups.iter();
        let groups = groups.map(|one| text(&one.name) + list(&one.joints) + texts(&one.joints));
        let states = self.states.iter().map(|one| {
            let joints = texts(one.values.iter().map(|(joint, _)| joint));
            text(&one.name) + text(&one.group) + list(&one.values) + joints
        });
        text(&self.name)
            + list(&self.groups)
            + groups.sum::<usize>()
            + list(&self.states)
            + states.sum::<usize>()
            + list(&self.notes)
            + texts(&self.notes)
    }

    fn part_bytes(&self) -> usize {
        let mut known = BTreeSet::new();
        let polytope = |part: &RobotPart| {
            let is_own = part.is_own && known.insert(Arc::as_ptr(&part.polytope) as usize);
            if is_own { polytope_bytes(&part.polytope) } else { 0 }
        };
        let polytopes: usize = self.parts.iter().map(polytope).sum();
        let named = |part: &RobotPart| {
            let of_source = match &part.source {
                PartSource::Box | PartSource::Round => 0,
                PartSource::Mesh { filename, .. } | PartSource::Registered { filename } => {
                    text(filename)
                }
            };
            text(&part.name) + of_source
        };
        list(&self.parts) + self.parts.iter().map(named).sum::<usize>() + polytopes
    }
}

fn joint_bytes(joint: &RobotJoint) -> usize {
    text(&joint.name) + joint.mimic.as_ref().map_or(0, |mimic| text(&mimic.joint))
}

fn reason_bytes(reason: &AllowedReason) -> usize {
    match reason {
        AllowedReason::Adjacent | AllowedReason::Rigid => 0,
        AllowedReason::Semantics(why) => text(why),
    }
}
