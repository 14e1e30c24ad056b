//! The robots that clients registered, by id.

mod claims;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};

use self::claims::Claims;
use super::memory::{MemoryKind, Purse, Reservation};
use super::sessions::owner::KeyDigest;
use super::settings::{Limit, Limits};
use crate::robot::Robot;

/// A robot with its name.
#[derive(Debug)]
pub struct RegisteredRobot {
    /// `r1-` and a digest.
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
    /// Locked while `robots` are.
    claims: Mutex<Claims>,
}

/// Why a robot was not deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeleteError {
    /// It is not there.
    #[error("there is no such robot")]
    Unknown,
    /// It was claimed with a key that was not brought.
    #[error("it was claimed with a key that was not brought")]
    Claimed,
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

    /// Claims a robot, so that it is deleted by who brings this key, too, and by nobody else; says
    /// whether it is there. `purse` pays.
    pub fn claim(
        &self,
        id: &str,
        key: KeyDigest,
        purse: &Purse,
        limits: &Limits,
    ) -> Result<bool, Limit> {
        let robots = self.lock();
        if !robots.contains_key(id) {
            return Ok(false);
        }
        self.claims().add(id, key, purse, limits).map(|()| true)
    }

    /// Forgets a robot that nobody has claimed, or every claim on which one of these keys opens;
    /// whoever has it keeps it.
    pub fn delete(&self, id: &str, keys: &[KeyDigest]) -> Result<(), DeleteError> {
        let mut robots = self.lock();
        let mut claims = self.claims();
        if !claims.open_to(id, keys) {
            return Err(DeleteError::Claimed);
        }
        claims.forget(id);
        robots.remove(id).map(drop).ok_or(DeleteError::Unknown)
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

    fn claims(&self) -> MutexGuard<'_, Claims> {
        self.claims.lock().expect("nothing panics while holding it")
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<RegisteredRobot>>> {
        self.robots.lock().expect("nothing panics while holding it")
    }
}
