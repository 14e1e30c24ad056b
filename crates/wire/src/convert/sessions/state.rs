//! The declared state of a session, for the wire.

use std::collections::BTreeMap;

use super::declare::PartSource;
use super::robots::{KnownRobots, robot_to_wire};
use crate::convert::geometry::{pose_to_wire, vector_to_wire};
use clearance_proto as api;
use clearance_scene::{Body, BodyId, Contact, Declaration, PairMargin, Part, Rules};

/// Fit for opening the session elsewhere: aliases are replaced by ids, rotations by matrices, which
/// are exact.
pub fn to_wire(
    declaration: &Declaration,
    shapes: &BTreeMap<u32, Vec<PartSource>>,
    registered: &KnownRobots,
) -> api::SessionState {
    let body = |body: &Body| {
        let shapes = shapes.get(&body.id.0).map_or(&[] as &[PartSource], Vec::as_slice);
        body_to_wire(body, shapes)
    };
    api::SessionState {
        bodies: declaration.bodies.iter().map(body).collect(),
        rules: Some(rules_to_wire(&declaration.rules)),
        frame_id: declaration.frame,
        contacts: declaration.contacts.iter().map(contact_to_wire).collect(),
        release_margin: declaration.release_margin,
        begin_margin: declaration.begin_margin,
        robots: declaration.robots.iter().map(|one| robot_to_wire(one, registered)).collect(),
    }
}

/// A body where it is now.
pub fn body_to_wire(body: &Body, shapes: &[PartSource]) -> api::Body {
    let part = |(part, shape): (&Part, &PartSource)| {
        use api::placed_body::Source;
        let source = match shape {
            PartSource::Registered(lease) => Source::Id(lease.stored().id.to_string()),
            PartSource::Given(source, _) => Source::clone(source),
        };
        api::PlacedBody { source: Some(source), pose: Some(pose_to_wire(&part.body_from_part)) }
    };
    api::Body {
        id: Some(body.id.0),
        name: body.name.clone(),
        parts: body.parts.iter().zip(shapes).map(part).collect(),
        pose: Some(pose_to_wire(&body.pose)),
        groups: body.groups.to_vec(),
        fixed: body.fixed,
        margin: body.margin,
        pivot: Some(vector_to_wire(&body.pivot)),
        deviation: body.deviation,
        continuous: body.continuous,
        category: (body.category != Body::CATEGORY).then_some(body.category),
        mask: (body.mask != Body::MASK).then_some(body.mask),
    }
}

fn pair_to_wire([a, b]: &[BodyId; 2]) -> api::BodyPair {
    api::BodyPair { a: Some(a.0), b: Some(b.0) }
}

/// Which pairs are checked.
pub fn rules_to_wire(rules: &Rules) -> api::PairRules {
    let group = |[a, b]: &[String; 2]| api::GroupPair { a: a.clone(), b: b.clone() };
    let margin = |entry: &PairMargin| api::PairMargin {
        pair: Some(pair_to_wire(&entry.pair)),
        margin: entry.margin,
    };
    api::PairRules {
        checked_groups: rules.checked_groups.iter().map(group).collect(),
        checked_pairs: rules.checked_pairs.iter().map(pair_to_wire).collect(),
        ignored_pairs: rules.ignored_pairs.iter().map(pair_to_wire).collect(),
        margins: rules.margins.iter().map(margin).collect(),
        groups_to_come: rules.groups_to_come.clone(),
    }
}

fn contact_to_wire(contact: &Contact) -> api::AnnouncedContact {
    api::AnnouncedContact {
        pair: Some(pair_to_wire(&contact.pair)),
        began_frame_id: contact.began_frame,
    }
}
