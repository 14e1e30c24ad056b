//! A robot as the wire describes it.

use crate::geometry::shape::PolytopeId;
use crate::robot::Robot;
use crate::robot::model::{AllowedPair, AllowedReason, RobotJoint};
use crate::robot::parts::{PartSource, RobotPart};
use crate::robot::tree::{Unit, Variable};
use crate::robot::urdf::JointKind;
use crate::rpc::api;
use crate::rpc::convert::geometry::pose_to_wire;
use crate::runtime::robots::RegisteredRobot;

/// All that is known of a robot.
pub fn describe(registered: &RegisteredRobot) -> api::Robot {
    let RegisteredRobot { id, robot, .. } = registered;
    let states = robot.states.iter().map(|state| api::NamedConfiguration {
        name: state.name.clone(),
        group: state.group.clone(),
        joints: state.values.iter().map(|(joint, _)| joint.clone()).collect(),
        values: state.values.iter().map(|(_, value)| *value).collect(),
    });
    let groups = robot.groups.iter();
    api::Robot {
        id: id.clone(),
        name: robot.name.clone(),
        variables: robot.kinematics.tree().variables.iter().map(variable).collect(),
        joints: robot.joints.iter().map(joint).collect(),
        links: links(robot),
        parts: robot.parts.iter().map(part).collect(),
        allowed_pairs: robot.allowed.iter().map(allowed_pair).collect(),
        groups: groups
            .map(|group| api::JointGroup { name: group.name.clone(), joints: group.joints.clone() })
            .collect(),
        states: states.collect(),
        notes: robot.notes.clone(),
    }
}

fn small(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn variable(variable: &Variable) -> api::RobotVariable {
    let unit = match variable.unit {
        Unit::Radians => api::JointUnit::Radians,
        Unit::Metres => api::JointUnit::Metres,
        Unit::Quaternion => api::JointUnit::Quaternion,
    };
    let limit = |value: f64| value.is_finite().then_some(value);
    api::RobotVariable {
        name: variable.name.clone(),
        unit: unit.into(),
        lower: limit(variable.lower),
        upper: limit(variable.upper),
        velocity: variable.velocity,
    }
}

fn joint(joint: &RobotJoint) -> api::RobotJoint {
    let kind = match joint.kind {
        JointKind::Revolute => api::JointType::Revolute,
        JointKind::Continuous => api::JointType::Continuous,
        JointKind::Prismatic => api::JointType::Prismatic,
        JointKind::Fixed => api::JointType::Fixed,
        JointKind::Planar => api::JointType::Planar,
        JointKind::Floating => api::JointType::Floating,
    };
    let mimic = joint.mimic.as_ref().map(|mimic| api::JointMimic {
        joint: mimic.joint.clone(),
        multiplier: mimic.multiplier,
        offset: mimic.offset,
    });
    api::RobotJoint {
        name: joint.name.clone(),
        r#type: kind.into(),
        parent: small(joint.parent),
        child: small(joint.child),
        first_variable: small(joint.variables.start),
        variable_count: small(joint.variables.len()),
        mimic,
    }
}

fn links(robot: &Robot) -> Vec<api::RobotLink> {
    let links = robot.links.iter().map(|link| api::RobotLink {
        name: link.name.clone(),
        first_part: small(link.parts.start),
        part_count: small(link.parts.len()),
        moves: link.frame.is_some(),
    });
    links.collect()
}

fn part(part: &RobotPart) -> api::RobotPart {
    let (mesh, closed, convex) = match &part.source {
        PartSource::Box | PartSource::Round => (String::new(), None, None),
        PartSource::Mesh { filename, closed, convex } => {
            (filename.clone(), Some(*closed), Some(*convex))
        }
        PartSource::Registered { filename } => (filename.clone(), None, None),
    };
    api::RobotPart {
        link: small(part.link),
        name: part.name.clone(),
        mesh,
        polytope_id: PolytopeId::of(&part.polytope).to_string(),
        pose: Some(pose_to_wire(&part.link_from_part)),
        gap: part.gap,
        closed,
        convex,
    }
}

fn allowed_pair(pair: &AllowedPair) -> api::AllowedLinkPair {
    let (reason, text) = match &pair.reason {
        AllowedReason::Adjacent => (api::AllowedPairReason::Adjacent, String::new()),
        AllowedReason::Rigid => (api::AllowedPairReason::Rigid, String::new()),
        AllowedReason::Semantics(text) => (api::AllowedPairReason::Srdf, text.clone()),
    };
    let [first, second] = pair.links.map(small);
    api::AllowedLinkPair { first, second, reason: reason.into(), text }
}
