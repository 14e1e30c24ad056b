//! A robot as the wire describes it.

use crate::convert::geometry::pose_to_wire;
use clearance_bodies::ContentId;
use clearance_proto as api;
use clearance_robot::Robot;
use clearance_robot::model::{AllowedPair, AllowedReason, ConstantPair, RobotJoint};
use clearance_robot::parts::{PartSource, RobotPart};
use clearance_robot::tree::{Unit, Variable};
use clearance_robot::urdf::JointKind;
use clearance_runtime::robots::{DescriptionBytes, RegisteredRobot};

/// All that is known of a robot.
pub fn describe(registered: &RegisteredRobot) -> api::Robot {
    let RegisteredRobot { id, robot, part_ids, .. } = registered;
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
        parts: robot.parts.iter().zip(part_ids).map(|(one, id)| part(one, id)).collect(),
        allowed_pairs: robot.allowed.iter().map(allowed_pair).collect(),
        groups: groups
            .map(|group| api::JointGroup { name: group.name.clone(), joints: group.joints.clone() })
            .collect(),
        states: states.collect(),
        notes: robot.notes.clone(),
        constant_pairs: told_constant_pairs(robot).map(constant_pair).collect(),
    }
}

/// Those of links that are checked against each other.
fn told_constant_pairs(robot: &Robot) -> impl Iterator<Item = &ConstantPair> {
    let link = |part: u32| robot.parts[part as usize].link;
    robot.constant.iter().filter(move |one| robot.is_checked(one.pair.map(link)))
}

fn constant_pair(one: &ConstantPair) -> api::ConstantPair {
    let ConstantPair { pair: [first, second], lower, upper, .. } = *one;
    api::ConstantPair { first, second, lower, upper }
}

/// What the description will take, found out without making it: an address may have hundreds of
/// robots, each of megabytes.
pub fn description_bytes(robot: &Robot) -> DescriptionBytes {
    let mut all = Sum::default();
    all.message::<api::Robot>(1);
    all.texts([&robot.name]);
    all.message::<api::RobotVariable>(robot.kinematics.tree().variables.len());
    all.texts(robot.kinematics.tree().variables.iter().map(|variable| &variable.name));
    all.message::<api::RobotJoint>(robot.joints.len());
    all.texts(robot.joints.iter().map(|joint| &joint.name));
    all.texts(robot.joints.iter().flat_map(|joint| &joint.mimic).map(|mimic| &mimic.joint));
    all.message::<api::RobotLink>(robot.links.len());
    all.texts(robot.links.iter().map(|link| &link.name));
    all.message::<api::RobotPart>(robot.parts.len());
    all.texts(robot.parts.iter().map(|part| &part.name));
    all.lists(robot.parts.len(), PART_BYTES * robot.parts.len());
    all.texts(robot.parts.iter().filter_map(|part| match &part.source {
        PartSource::Mesh { filename, .. }
        | PartSource::AsItIs { filename }
        | PartSource::Surface { filename }
        | PartSource::Piece { filename }
        | PartSource::Registered { filename } => Some(filename),
        PartSource::Box | PartSource::Round => None,
    }));
    all.message::<api::AllowedLinkPair>(robot.allowed.len());
    all.texts(robot.allowed.iter().filter_map(|pair| match &pair.reason {
        AllowedReason::Semantics(text) => Some(text),
        AllowedReason::Adjacent | AllowedReason::Rigid => None,
    }));
    all.message::<api::JointGroup>(robot.groups.len());
    for group in &robot.groups {
        all.texts([&group.name]);
        all.names(&group.joints);
    }
    all.message::<api::NamedConfiguration>(robot.states.len());
    for state in &robot.states {
        all.texts([&state.name, &state.group]);
        all.names(state.values.iter().map(|(joint, _)| joint));
        all.lists(1, size_of::<f64>() * state.values.len());
    }
    all.names(&robot.notes);
    all.message::<api::ConstantPair>(told_constant_pairs(robot).count());
    all.0
}

/// What the id of a part and its pose take.
const PART_BYTES: usize = 80 + 12 * 12;

/// Adds up what messages take.
#[derive(Default)]
struct Sum(DescriptionBytes);

impl Sum {
    /// What a piece of a heap takes beside what is in it, at most.
    const PIECE: usize = 32;
    /// What a field takes on the wire beside its bytes, at most: a tag and a length.
    const FIELD: usize = 6;
    /// What the numbers of a message take on the wire, at most.
    const NUMBERS: usize = 64;

    fn add(&mut self, memory: usize, wire: usize) {
        self.0.memory += memory as u64;
        self.0.wire += wire as u64;
    }

    /// So many messages, without their texts and lists.
    fn message<T>(&mut self, count: usize) {
        self.add(count * size_of::<T>(), count * (Self::FIELD + Self::NUMBERS));
    }

    /// So many lists or texts of so many bytes in all.
    fn lists(&mut self, count: usize, bytes: usize) {
        self.add(count * Self::PIECE + bytes, count * Self::FIELD + bytes);
    }

    fn texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) {
        texts.into_iter().for_each(|text| self.lists(1, text.len()));
    }

    /// A list of texts.
    fn names<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) {
        for text in texts {
            self.add(size_of::<String>(), 0);
            self.lists(1, text.len());
        }
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

fn part(part: &RobotPart, id: &ContentId) -> api::RobotPart {
    let (mesh, closed, convex) = match &part.source {
        PartSource::Box | PartSource::Round => (String::new(), None, None),
        PartSource::Mesh { filename, closed, convex } => {
            (filename.clone(), Some(*closed), Some(*convex))
        }
        PartSource::AsItIs { filename } => (filename.clone(), Some(true), None),
        PartSource::Surface { filename }
        | PartSource::Piece { filename }
        | PartSource::Registered { filename } => (filename.clone(), None, None),
    };
    api::RobotPart {
        link: small(part.link),
        name: part.name.clone(),
        mesh,
        polytope_id: id.to_string(),
        pose: Some(pose_to_wire(&part.link_from_part)),
        gap: part.gap.upper,
        gap_lower: part.gap.lower,
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

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use clearance_geometry::effort::Effort;
    use clearance_robot::model::Sources;
    use clearance_robot::parts::{MeshFiles, MeshTreatment};
    use clearance_robot::urdf::DescriptionLimits;
    use clearance_runtime::memory::{MemoryKind, MemoryQuota};
    use clearance_runtime::robots::RobotWork;

    const URDF: &str = "<robot name='arm'><link name='base'><collision name='foot'><geometry>\
        <box size='1 1 1'/></geometry></collision></link><link name='hand'><collision><geometry>\
        <sphere radius='0.1'/></geometry></collision></link><joint name='elbow' type='floating'>\
        <parent link='base'/><child link='hand'/></joint></robot>";

    #[test]
    fn a_description_is_no_longer_than_was_said_before_it_was_made() {
        let state = "<joint name='a' value='-1.5'/>".repeat(100);
        let srdf = format!(
            "<robot><disable_collisions link1='base' link2='hand' reason='Never'/>\
             <disable_collisions link1='base' link2='tail'/><group name='g'><joint name='elbow'/>\
             </group><group_state name='s' group='g'>{state}</group_state></robot>"
        );
        for srdf in [None, Some(srdf.as_str())] {
            let meshes = MeshFiles::new();
            let (gap_max, leave_out_missing) = (None, false);
            let sources = Sources {
                urdf: URDF,
                srdf,
                meshes: &meshes,
                gap_max,
                leave_out_missing,
                mesh_treatment: MeshTreatment::Hull,
            };
            let limits =
                DescriptionLimits { nodes_max: 1_000, links_max: 9, parts_max: 9, depth_max: 9 };
            let robot = Robot::build(&sources, &limits, &mut Effort::unlimited()).unwrap();
            let work = RobotWork::new(MemoryQuota::of_nobody().hold(MemoryKind::Work, 0));
            let said = description_bytes(&robot);
            let known = RegisteredRobot::new("r1-".repeat(22), robot, &work, said);
            let bytes = describe(&known).encoded_len() as u64;
            assert!(bytes <= said.wire && said.wire <= 8 * bytes, "{bytes} of {said:?}");
            assert!(said.memory >= said.wire / 2, "{said:?}");
        }
    }
}
