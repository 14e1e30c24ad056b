//! Robots that move, with everything that they carry.

use crate::declared::question::{Frame, Move};
use crate::declared::robots::{RobotMove, RobotMoveError};
use crate::frame::scene::Scene;
use crate::placed::entry::Entry;
use clearance_geometry::pose::COORDINATE_MAX;

impl Scene {
    /// Moves a robot: all that it carries, or nothing.
    pub(crate) fn move_robot(
        &mut self,
        to: &RobotMove,
        frame: &Frame,
    ) -> Result<(), RobotMoveError> {
        let at = self.robot_index(to.robot).ok_or(RobotMoveError::UnknownRobot)?;
        let mounted = &self.robots[at];
        if mounted.moved_by == frame.id {
            return Err(RobotMoveError::Repeated);
        }
        let moved = mounted.moved(to)?;
        if mounted.turns(&moved) && !(to.teleported || frame.teleported) {
            return Err(RobotMoveError::Turns);
        }
        let changes = mounted.changes(&moved);
        let mut places: Vec<(u32, Move)> = Vec::new();
        for &index in &mounted.carried {
            let entry = &self.entries[index as usize];
            let Some(carrier) = &entry.carrier else { continue };
            if !moved.moves(carrier, &changes) && !to.teleported {
                continue;
            }
            let pose = moved.pose_of(carrier);
            if !entry.fits(pose) {
                return Err(RobotMoveError::TooFar);
            }
            let (body, teleported) = (entry.body.id, to.teleported);
            places.push((index, Move { body, pose, teleported, deviation: None }));
        }
        for (index, one) in &places {
            self.put(*index, one, frame.id).map_err(|_| RobotMoveError::TooFar)?;
        }
        let mounted = &mut self.robots[at];
        mounted.put(moved);
        mounted.moved_by = frame.id;
        Ok(())
    }
}

impl Entry {
    /// Whether every part lies within the largest coordinate at that pose.
    fn fits(&self, pose: clearance_geometry::pose::Pose) -> bool {
        let within = pose.translation.iter().all(|c| c.abs() <= COORDINATE_MAX);
        within && self.body.place(pose).is_some()
    }
}
