//! What watchers know beyond what frames name.

use std::collections::BTreeMap;

use clearance_scene::{Attached, RobotId, Scene, SceneRobot};

/// What watchers know of what a frame may change without naming it: a body that goes takes itself
/// off the robot that carries it, and may leave a checked group to come.
#[derive(Debug, Default)]
pub struct Known {
    loads: BTreeMap<RobotId, Vec<Attached>>,
    pub(super) groups_to_come: Vec<String>,
}

impl Known {
    /// All of it, as whoever is told the state knows it.
    pub fn of(scene: &Scene) -> Self {
        let loads = scene.robots().map(|robot| (robot.id, robot.attached.clone()));
        let groups_to_come = scene.declared_rules().groups_to_come;
        Self { loads: loads.collect(), groups_to_come }
    }

    /// Whether a robot carries something else than watchers know.
    pub fn has_other_load(&self, robot: &SceneRobot) -> bool {
        self.loads.get(&robot.id).is_some_and(|known| *known != robot.attached)
    }
}
