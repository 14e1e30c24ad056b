//! What a session keeps of the frames that its scene has applied.

use super::{Session, given_bytes};
use crate::rpc::services::sessions::refused::RefusedItems;
use clearance_proto as api;
use clearance_scene::MoveError;
use clearance_scene::{BodyId, Part};
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::sessions::changes::{self, DeclaredChange};
use clearance_wire::convert::sessions::declare::{Declared, PartSource};
use clearance_wire::convert::sessions::frame::AskedFrame;
use clearance_wire::convert::sessions::robots::DeclaredRobot;
use clearance_wire::path::{BadField, Path, WithinLimit};
use clearance_wire::status::Failure;

impl Session {
    /// That no list of the session grows beyond its limit by a frame.
    pub(super) fn fits(
        &self,
        asked: &AskedFrame<'_>,
        path: &Path<'_>,
        catalogue: &Catalogue<'_>,
    ) -> Result<(), Failure> {
        if let Some(changed) = &asked.frame.rule_changes {
            let rules = asked.frame.rules.as_ref().unwrap_or(self.scene.rules());
            changes::fit(&path.field("rule_changes"), changed, rules, catalogue)?;
        }
        let robots = &asked.frame.robots;
        // Not more than there are can go.
        let stay = self.robots.len().saturating_sub(robots.removed.len());
        let limit = catalogue.limits.robots_per_session_max();
        Ok(path.field("added_robots").within(limit, stay + robots.added.len())?)
    }

    /// Keeps what a frame brought that the scene has applied, but for what was refused of it.
    pub(super) fn take_up(
        &mut self,
        wire: &api::Frame,
        asked: AskedFrame<'_>,
        refused: &[(usize, MoveError)],
    ) {
        if self.subscribers.is_read() {
            let is_robots = |error: &MoveError| matches!(error, MoveError::Robot(_));
            let refused_of = [false, true].map(|of_robots| {
                let of = refused.iter().filter(|(_, error)| is_robots(error) == of_robots);
                of.map(|(index, _)| *index).collect()
            });
            self.subscribers.note(&asked.frame, &asked.moves, &refused_of);
        }
        for gone in &wire.removed_body_ids {
            let shapes = self.shapes.remove(gone);
            self.given_bytes -= shapes.map_or(0, |shapes| given_bytes(&shapes));
        }
        for gone in &wire.removed_robots {
            self.robots.remove(gone);
        }
        asked.added_robots.into_iter().for_each(|robot| self.keep_robot(robot));
        for Declared { body, shapes } in asked.added {
            self.keep_shapes(body.id, &body.parts, shapes);
        }
        for DeclaredChange { change, shapes } in asked.changed {
            if !shapes.is_empty() {
                self.keep_shapes(change.id, &change.parts, shapes);
            }
        }
    }

    /// The robot is one of the session from now on.
    pub(super) fn keep_robot(&mut self, declared: DeclaredRobot) {
        let DeclaredRobot { robot, registered } = declared;
        let parts = robot.robot.parts.iter();
        let vertices = parts.map(|part| part.body.hull().vertex_count());
        self.vertices_max = vertices.fold(self.vertices_max, u32::max);
        let parts = robot.robot.links.iter().map(|link| link.parts.len());
        self.parts_max = parts.fold(self.parts_max, usize::max);
        self.robots.insert(robot.id.0, registered);
    }

    /// The body is made of these parts from now on.
    pub(super) fn keep_shapes(&mut self, id: BodyId, parts: &[Part], shapes: Vec<PartSource>) {
        let vertices = parts.iter().map(Part::vertex_count);
        self.vertices_max = vertices.fold(self.vertices_max, u32::max);
        self.parts_max = self.parts_max.max(parts.len());
        self.given_bytes += given_bytes(&shapes);
        let replaced = self.shapes.insert(id.0, shapes);
        self.given_bytes -= replaced.map_or(0, |shapes| given_bytes(&shapes));
    }
}

/// What was refused of a frame: poses that are none, and moves that the scene refused.
pub(super) fn refused_items(
    asked: &AskedFrame<'_>,
    path: &Path<'_>,
    refused: &[(usize, MoveError)],
    items_max: u64,
) -> RefusedItems {
    let mut items = RefusedItems::default();
    let bad_pose =
        |say: &dyn Fn() -> BadField| items.add(items_max, || Failure::from(say()).to_item());
    asked.moves.each_left_out(path, bad_pose);
    for (index, error) in refused {
        items.add(items_max, || asked.refused_move(path, *index, *error));
    }
    items.items.shrink_to_fit();
    items
}
