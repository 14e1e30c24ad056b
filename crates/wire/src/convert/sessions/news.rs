//! What has changed with a frame, for those who watch.

use std::collections::{BTreeMap, BTreeSet};

use super::declare::PartSource;
use super::known::Known;
use super::report::{counts, event};
use super::robots::{KnownRobots, RobotDraft, link_name};
use super::state::{body_to_wire, rules_to_wire};
use crate::convert::geometry::matrix_rows;
use clearance_geometry::Vec3;
use clearance_geometry::pose::Pose;
use clearance_proto as api;
use clearance_scene::{Body, BodyId, Frame, Moves, Report, Scene};

/// What has changed since it was told last, by the ids of bodies.
#[derive(Debug, Default)]
pub struct Draft {
    moved: BTreeSet<u32>,
    teleported: BTreeSet<u32>,
    added: BTreeSet<u32>,
    removed: BTreeSet<u32>,
    changed: BTreeSet<u32>,
    /// How bodies have turned that said so, rotation vectors in the world, radians.
    spins: BTreeMap<u32, Vec3>,
    has_new_rules: bool,
    robots: RobotDraft,
}

/// What was refused of a frame, by its place in its list.
#[derive(Clone, Debug, Default)]
pub struct RefusedOf {
    /// Moves of bodies.
    pub moves: BTreeSet<usize>,
    /// Moves of robots.
    pub robots: BTreeSet<usize>,
    /// Removals of bodies.
    pub removals: BTreeSet<usize>,
}

impl Draft {
    /// Whether more has changed than where bodies and robots are.
    fn is_structural(&self) -> bool {
        let bodies = [&self.added, &self.removed, &self.changed];
        self.has_new_rules
            || bodies.into_iter().any(|ids| !ids.is_empty())
            || self.robots.is_structural()
    }

    /// Adds what a frame has changed but for what was refused of it. `joined` tells how a body has
    /// turned that more than one frame of this draft has moved, if that is known.
    pub fn note(
        &mut self,
        frame: &Frame,
        moves: &dyn Moves,
        refused: &RefusedOf,
        joined: &dyn Fn(BodyId) -> Option<Vec3>,
    ) {
        let RefusedOf { moves: refused, robots, removals } = refused;
        self.robots.note(frame, robots);
        let removed = frame.removed.iter().enumerate();
        for (_, id) in removed.filter(|(at, _)| !removals.contains(at)) {
            let id = id.0;
            if !self.added.remove(&id) {
                self.removed.insert(id);
            }
            self.moved.remove(&id);
            self.teleported.remove(&id);
            self.changed.remove(&id);
        }
        self.added.extend(frame.added.iter().map(|body| body.id.0));
        for id in frame.changed.iter().map(|change| change.id.0) {
            // Told as it is now, and where, like one that is new.
            if !self.added.contains(&id) {
                self.changed.insert(id);
                self.moved.remove(&id);
                self.teleported.remove(&id);
            }
        }
        self.has_new_rules |= frame.rules.is_some() || frame.rule_changes.is_some();
        moves.each(&mut |at, moved| {
            let id = moved.body.0;
            // A body that is new or changed is told with the pose that it has now.
            let is_told = self.added.contains(&id) || self.changed.contains(&id);
            if refused.contains(&at) || is_told {
                return;
            }
            let is_first = self.moved.insert(id);
            if moved.teleported || frame.teleported {
                self.teleported.insert(id);
            }
            let spin = if is_first { moved.spin } else { joined(moved.body) };
            self.spins.remove(&id);
            self.spins.extend(spin.map(|spin| (id, spin)));
        });
    }
}

/// A scene, and where the shapes and the robots in it come from.
#[derive(Clone, Copy)]
pub struct Sourced<'a> {
    /// The bodies and robots.
    pub scene: &'a Scene,
    /// By the ids of bodies.
    pub shapes: &'a BTreeMap<u32, Vec<PartSource>>,
    /// By the ids of robots.
    pub registered: &'a KnownRobots,
}

/// The changes of `draft` as the scene stands now, with what its report says, if it was answered.
pub fn to_wire(
    sourced: Sourced<'_>,
    draft: &Draft,
    report: Option<&Report>,
    known: &mut Known,
) -> api::WatchedFrame {
    let Sourced { scene, shapes, registered } = sourced;
    let before = draft.is_structural().then(|| std::mem::replace(known, Known::of(scene)));
    let other_groups = |before: &Known| before.groups_to_come != known.groups_to_come;
    let has_new_rules = draft.has_new_rules || before.as_ref().is_some_and(other_groups);
    let (mut moved, mut teleported) = (draft.moved.clone(), draft.teleported.clone());
    draft.robots.bodies_into(scene, &mut moved, &mut teleported);
    let is_whole = |id: &u32| draft.added.contains(id) || draft.changed.contains(id);
    moved.retain(|id| !is_whole(id));
    teleported.retain(|id| moved.contains(id));
    let whole = |body: &Body| {
        let shapes = shapes.get(&body.id.0).map_or(&[] as &[PartSource], Vec::as_slice);
        body_to_wire(body, shapes)
    };
    let bodies = |ids: &BTreeSet<u32>| -> Vec<&Body> {
        ids.iter().filter_map(|id| scene.body(BodyId(*id))).collect()
    };
    let link = |id| link_name(scene, id);
    let mut told = api::WatchedFrame {
        frame_id: scene.frame(),
        previous_frame_id: 0,
        packed_poses: Some(with_spins(packed(&placed(&bodies(&moved)), &teleported), &draft.spins)),
        added_bodies: bodies(&draft.added).into_iter().map(whole).collect(),
        changed_bodies: bodies(&draft.changed).into_iter().map(whole).collect(),
        removed_body_ids: draft.removed.iter().copied().collect(),
        rules: has_new_rules.then(|| rules_to_wire(&scene.declared_rules())),
        events: report.map_or_else(Vec::new, |report| {
            report.events.iter().map(|one| event(one, &link)).collect()
        }),
        counts: report.map(|report| counts(&report.tally)),
        ..Default::default()
    };
    draft.robots.tell(scene, registered, before.as_ref(), &mut told);
    told
}

/// Where the links of all robots of a scene are.
pub fn link_poses(scene: &Scene) -> api::PackedPoses {
    let carried = scene.robots().flat_map(|robot| scene.moved_with(robot.id));
    let links: BTreeSet<BodyId> = carried.filter(|id| scene.link_of(*id).is_some()).collect();
    let links: Vec<&Body> = links.into_iter().filter_map(|id| scene.body(id)).collect();
    packed(&placed(&links), &BTreeSet::new())
}

/// The same with how bodies turned that said so, and that were not put where they are.
pub(super) fn with_spins(
    mut told: api::PackedPoses,
    spins: &BTreeMap<u32, Vec3>,
) -> api::PackedPoses {
    let teleported: BTreeSet<u32> = told.teleported_ids.iter().collect();
    let spin = |id: u32| spins.get(&id).filter(|_| !teleported.contains(&id));
    if told.ids.iter().any(|id| spin(id).is_some()) {
        let numbers = |id| spin(id).map_or([0.0; 3], |spin| [spin.x, spin.y, spin.z]);
        told.spins = told.ids.iter().flat_map(numbers).collect::<Vec<f64>>().into();
    }
    told
}

/// Where bodies are.
pub(super) fn placed(bodies: &[&Body]) -> Vec<(BodyId, Pose)> {
    bodies.iter().map(|body| (body.id, body.pose)).collect()
}

/// Bodies and where they are now.
pub(super) fn packed(moved: &[(BodyId, Pose)], teleported: &BTreeSet<u32>) -> api::PackedPoses {
    let numbers = |of: fn(&Pose) -> Vec<f64>| -> Vec<f64> {
        moved.iter().flat_map(|(_, pose)| of(pose)).collect()
    };
    let ids: Vec<u32> = moved.iter().map(|(id, _)| id.0).collect();
    let teleported: Vec<u32> = teleported.iter().copied().collect();
    api::PackedPoses {
        ids: ids.into(),
        translations: numbers(|pose| pose.translation.iter().copied().collect()).into(),
        rotation_matrices: numbers(|pose| matrix_rows(&pose.rotation).to_vec()).into(),
        teleported_ids: teleported.into(),
        ..Default::default()
    }
}
