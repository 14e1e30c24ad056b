//! The robots that clients registered, by id.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};

use super::memory::{MemoryKind, Purse, Reservation};
use super::settings::{Limit, Limits};
use crate::robot::Robot;

/// What the ids of robots begin with: the kind and the version of the digest.
pub const ID_PREFIX: &str = "r2-";

/// A robot with its name.
#[derive(Debug)]
pub struct RegisteredRobot {
    /// [`ID_PREFIX`] and the digest of everything that answers about it are made of: who asks by
    /// it, or keeps something under it, is answered alike whatever was registered before.
    pub id: String,
    /// It.
    pub robot: Arc<Robot>,
    /// Memory of its parts, estimated.
    bytes: u64,
    /// For as many bytes, once it is registered.
    memory: Option<Reservation>,
}

impl RegisteredRobot {
    /// A robot under this id.
    pub fn new(id: String, robot: Robot) -> Self {
        let parts = robot.parts.iter().map(|part| part.polytope.heap_bytes());
        let texts = (robot.links.len() + robot.joints.len() + robot.allowed.len()) * 256;
        let bytes = (parts.sum::<usize>() + texts) as u64;
        Self { id, robot: Arc::new(robot), bytes, memory: None }
    }
}

/// All of them.
#[derive(Debug, Default)]
pub struct RobotStore {
    robots: Mutex<BTreeMap<String, Arc<RegisteredRobot>>>,
}

impl RobotStore {
    /// Adds a robot, for which `purse` pays; returns the one that is kept, and whether it was there
    /// before. One address may have a share of the places and of the memory: it leaves some for
    /// others.
    pub fn register(
        &self,
        mut robot: RegisteredRobot,
        purse: &Purse,
        limits: &Limits,
    ) -> Result<(Arc<RegisteredRobot>, bool), Limit> {
        let mut robots = self.lock();
        if let Some(known) = robots.get(&robot.id) {
            return Ok((known.clone(), true));
        }
        let (kind, count) = (MemoryKind::Robots, robots.len() as u64);
        if count >= limits.robots_max || !purse.may_have_another(kind, count, limits.robots_max) {
            return Err(limits.robots_max());
        }
        let bytes: u64 = robots.values().map(|robot| robot.bytes).sum();
        if robot.bytes > purse.room_for(kind, bytes, limits.robot_bytes_max) {
            return Err(limits.robot_bytes_max());
        }
        robot.memory = Some(purse.lasting().reserve(kind, robot.bytes).map_err(|full| full.0)?);
        let robot = Arc::new(robot);
        robots.insert(robot.id.clone(), robot.clone());
        Ok((robot, false))
    }

    /// The robot with this id.
    pub fn get(&self, id: &str) -> Option<Arc<RegisteredRobot>> {
        self.lock().get(id).cloned()
    }

    /// Forgets a robot; whoever has it keeps it. Says whether it was there.
    pub fn delete(&self, id: &str) -> bool {
        self.lock().remove(id).is_some()
    }

    /// At most `size` robots after `after`, by id; and whether more follow.
    pub fn page(&self, after: &str, size: usize) -> (Vec<Arc<RegisteredRobot>>, bool) {
        let robots = self.lock();
        let start = (Bound::Excluded(after.to_owned()), Bound::Unbounded);
        let mut found = robots.range(start).map(|(_, robot)| robot.clone());
        let page = found.by_ref().take(size).collect();
        (page, found.next().is_some())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<RegisteredRobot>>> {
        self.robots.lock().expect("nothing panics while holding it")
    }
}
