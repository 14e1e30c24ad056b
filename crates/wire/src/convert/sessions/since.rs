//! A scene as it was, and what has changed since, for those who watch from then on.

use std::collections::{BTreeMap, BTreeSet};

use super::declare::PartSource;
use super::news::{Sourced, packed, placed, with_spins};
use super::robots::robot_to_wire;
use super::state::body_to_wire;
use crate::convert::geometry::pose_to_wire;
use clearance_geometry::pose::Pose;
use clearance_proto as api;
use clearance_scene::query::past::Since;
use clearance_scene::{Body, BodyId, PastFrame, RobotId};

/// A past scene and the frames since, in messages.
#[derive(Debug)]
pub struct ToldSince {
    /// What stood where. Rules and contacts are not told of the past.
    pub state: api::SessionState,
    /// Where links were.
    pub links: api::PackedPoses,
    /// The frames since, the oldest first, without events and counts.
    pub frames: Vec<api::WatchedFrame>,
}

/// Shapes that bodies had before they were changed or taken away: each with the frame that ended
/// them, the oldest first.
pub type PastShapes = Vec<(u64, BodyId, Vec<PartSource>)>;

/// For the wire: a scene at this frame, and what has changed since.
pub fn since_to_wire(
    frame: u64,
    since: &Since,
    sourced: Sourced<'_>,
    past: &PastShapes,
) -> ToldSince {
    let whole = |body: &Body, at: u64| {
        let before = past.iter().find(|(ended, id, _)| *ended > at && *id == body.id);
        let now = || sourced.shapes.get(&body.id.0);
        let shapes = before.map(|(_, _, shapes)| shapes).or_else(now);
        body_to_wire(body, shapes.map_or(&[], Vec::as_slice))
    };
    let stances: BTreeMap<RobotId, (&Pose, &Vec<f64>)> =
        since.robots.iter().map(|(id, base, values)| (*id, (base, values))).collect();
    let robots = sourced.scene.robots().map(|robot| {
        let mut told = robot_to_wire(robot, sourced.registered);
        if let Some((base, values)) = stances.get(&robot.id) {
            (told.base, told.values) = (Some(pose_to_wire(base)), values.to_vec());
        }
        told
    });
    let state = api::SessionState {
        bodies: since.bodies.iter().map(|body| whole(body, frame)).collect(),
        frame_id: frame,
        robots: robots.collect(),
        ..Default::default()
    };
    let told = |changes: &PastFrame| api::WatchedFrame {
        added_bodies: changes.added.iter().map(|body| whole(body, changes.frame)).collect(),
        changed_bodies: changes.changed.iter().map(|body| whole(body, changes.frame)).collect(),
        ..moves_to_wire(changes)
    };
    let links: Vec<&Body> = since.links.iter().collect();
    let links = packed(&placed(&links), &BTreeSet::new());
    ToldSince { state, links, frames: since.frames.iter().map(told).collect() }
}

/// A past frame, but for the bodies that it brought or made others of.
fn moves_to_wire(changes: &PastFrame) -> api::WatchedFrame {
    let moved: Vec<(BodyId, Pose)> = changes.moved.iter().map(|one| (one.body, one.pose)).collect();
    let put = changes.moved.iter().filter(|one| one.teleported);
    let poses = packed(&moved, &put.map(|one| one.body.0).collect());
    let spins = changes.moved.iter().filter_map(|one| Some((one.body.0, one.spin?))).collect();
    let robot = |(id, base, values): &(RobotId, Pose, Vec<f64>)| api::RobotMove {
        id: Some(id.0),
        values: values.clone(),
        base: Some(pose_to_wire(base)),
        ..Default::default()
    };
    api::WatchedFrame {
        frame_id: changes.frame,
        previous_frame_id: changes.before,
        packed_poses: Some(with_spins(poses, &spins)),
        removed_body_ids: changes.removed.iter().map(|id| id.0).collect(),
        robot_moves: changes.robots.iter().map(robot).collect(),
        ..Default::default()
    }
}
