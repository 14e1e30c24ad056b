//! What messages for watchers take in memory while they wait: a body that is declared takes some
//! times its bytes on the wire, and packed numbers take just these.

use prost::Message;

use clearance_proto as api;
use clearance_proto::placed_body::Source;

/// What a small message takes for each byte that it takes on the wire; of these there are few.
const SMALL_FACTOR: usize = 4;

/// What the allocator adds to each piece, at most.
const PIECE_BYTES: usize = 16;

/// What a state takes.
pub fn state_bytes(state: &api::SessionState) -> u64 {
    let api::SessionState { bodies, rules, contacts, robots, .. } = state;
    let rules = rules.as_ref().map_or(0, Message::encoded_len);
    let robots: usize = robots.iter().map(Message::encoded_len).sum();
    let contacts: usize = contacts.iter().map(Message::encoded_len).sum();
    (bodies_bytes(bodies) + SMALL_FACTOR * (rules + robots + contacts)) as u64
}

/// What the news of a frame take, but for their packed poses.
pub fn news_bytes(frame: &api::WatchedFrame) -> u64 {
    let bodies = [&frame.added_bodies, &frame.changed_bodies];
    let declared: usize = bodies.iter().map(|bodies| bodies_bytes(bodies)).sum();
    let on_wire = |bodies: &Vec<api::Body>| bodies.iter().map(Message::encoded_len).sum::<usize>();
    let others = frame.encoded_len() - poses(frame) - bodies.map(on_wire).iter().sum::<usize>();
    (declared + SMALL_FACTOR * others) as u64
}

/// What their packed poses take, which all copies share.
pub fn poses_bytes(frame: &api::WatchedFrame) -> u64 {
    poses(frame) as u64
}

fn poses(frame: &api::WatchedFrame) -> usize {
    frame.packed_poses.as_ref().map_or(0, Message::encoded_len)
}

fn bodies_bytes(bodies: &[api::Body]) -> usize {
    let of_part = |part: &api::PlacedBody| {
        let source = match &part.source {
            Some(Source::Id(text) | Source::Alias(text)) => PIECE_BYTES + text.len(),
            Some(Source::Vertices(points)) => PIECE_BYTES + size_of_val(points.xyz.as_slice()),
            Some(Source::Rounded(shape)) => SMALL_FACTOR * shape.encoded_len(),
            Some(Source::Compound(compound)) => SMALL_FACTOR * compound.encoded_len(),
            None => 0,
        };
        size_of::<api::PlacedBody>() + source
    };
    let of_group = |group: &String| size_of::<String>() + PIECE_BYTES + group.len();
    let of_body = |body: &api::Body| {
        let parts: usize = body.parts.iter().map(of_part).sum();
        let groups: usize = body.groups.iter().map(of_group).sum();
        size_of::<api::Body>() + PIECE_BYTES + body.name.len() + parts + groups
    };
    bodies.iter().map(of_body).sum()
}
