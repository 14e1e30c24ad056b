//! Memory that a robot takes once it is built.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::body::CurvedPart;
use super::model::{AllowedReason, Robot, RobotJoint};
use super::parts::{PartSource, RobotPart};
use super::room::polytope_bytes;
use clearance_geometry::polyhedron::TriangleBody;

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
    /// Memory that it takes, bytes, with the bodies that were built for it: those that were
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
            + list(&self.constant)
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
        let body = |part: &RobotPart| {
            let hull = part.body.hull();
            let is_own = part.is_own && known.insert(Arc::as_ptr(hull) as usize);
            let mesh = part.body.mesh().map_or(0, TriangleBody::bytes);
            let curved = part.body.curved().map_or(0, CurvedPart::beside_hull_bytes);
            if is_own { polytope_bytes(hull) + mesh + curved } else { 0 }
        };
        let bodies: usize = self.parts.iter().map(body).sum();
        let named = |part: &RobotPart| {
            let of_source = match &part.source {
                PartSource::Box | PartSource::Round => 0,
                PartSource::Mesh { filename, .. }
                | PartSource::AsItIs { filename }
                | PartSource::Surface { filename }
                | PartSource::Piece { filename }
                | PartSource::Registered { filename } => text(filename),
            };
            text(&part.name) + of_source
        };
        list(&self.parts) + self.parts.iter().map(named).sum::<usize>() + bodies
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
