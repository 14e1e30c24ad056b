//! The robots that clients registered, by id.

mod claims;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};

use self::claims::Claims;
use super::memory::{MemoryKind, MemoryQuota, Reservation};
use super::sessions::owner::KeyDigest;
use super::settings::{Limit, Limits};
use super::store::paid::PaidMemory;
use clearance_bodies::{ContentId, TableKeeper};
use clearance_geometry::polyhedron::TriangleBody;
use clearance_robot::Robot;
use clearance_robot::parts::RobotPart;
use clearance_robot::room::BuildRoom;

/// What the ids of robots begin with: the kind and the version of the digest.
pub const ID_PREFIX: &str = "r2-";

/// A robot with its name.
#[derive(Debug)]
pub struct RegisteredRobot {
    /// [`ID_PREFIX`] and the digest of everything that answers about it are made of: who asks by
    /// it, or keeps something under it, is answered alike whatever was registered before.
    pub id: String,
    /// The robot, which is shared between cells and sessions.
    pub robot: Arc<Robot>,
    /// The ids of its parts.
    pub part_ids: Vec<ContentId>,
    /// What its description takes.
    pub description: DescriptionBytes,
    /// Memory that it takes, without tables that methods build of its parts.
    bytes: u64,
    /// For as many bytes and those tables, once it is registered: as long as anybody has one of its
    /// parts.
    memory: Arc<PaidMemory>,
}

/// The ids of parts. A body that thousands of parts are is digested once.
pub fn part_ids(parts: &[RobotPart]) -> Vec<ContentId> {
    let mut known = HashMap::new();
    let id_of = |part: &RobotPart| {
        let mesh = part.body.mesh().map(TriangleBody::address);
        let (hull, radius) = (part.body.hull(), part.body.radius());
        let id = known.entry((Arc::as_ptr(hull), mesh, radius.to_bits()));
        *id.or_insert_with(|| part.body.whole().id())
    };
    parts.iter().map(id_of).collect()
}

/// What the description of a robot takes, bytes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DescriptionBytes {
    /// As messages in memory.
    pub memory: u64,
    /// On the wire.
    pub wire: u64,
}

impl RegisteredRobot {
    /// A robot under this id, which was built in `work`.
    pub fn new(id: String, robot: Robot, work: &RobotWork, description: DescriptionBytes) -> Self {
        let part_ids = part_ids(&robot.parts);
        let own = size_of::<Self>() + id.len() + size_of_val(&*part_ids);
        let bytes = (own + robot.heap_bytes()) as u64;
        let memory = work.paid.clone();
        Self { id, robot: Arc::new(robot), part_ids, description, bytes, memory }
    }

    /// Memory that it takes, without tables that methods build of its parts.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Memory for a robot while it is built.
#[derive(Debug)]
pub struct RobotWork {
    memory: Mutex<Reservation>,
    /// For the reading of its files.
    reading: u64,
    /// Counts the tables that methods build of its polytopes.
    paid: Arc<PaidMemory>,
}

impl RobotWork {
    /// With memory for the reading of its files.
    pub fn new(memory: Reservation) -> Self {
        let reading = memory.bytes();
        Self { memory: Mutex::new(memory), reading, paid: Arc::default() }
    }

    /// Keeps only as much as the robot takes, which is built.
    pub fn settle(&self, robot: &RegisteredRobot) {
        self.memory.lock().expect("nothing panics while holding it").set(robot.bytes);
    }
}

impl BuildRoom for RobotWork {
    fn holds(&self, bytes: usize) -> bool {
        let wanted = self.reading.saturating_add(bytes as u64);
        let mut memory = self.memory.lock().expect("nothing panics while holding it");
        if wanted < memory.bytes() {
            memory.set(wanted);
        }
        memory.grow_to(wanted).is_ok()
    }

    fn keeper(&self) -> Option<Arc<dyn TableKeeper>> {
        Some(self.paid.clone())
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
    /// Adds a robot, for which `quota` pays; returns the one that is kept, and whether it was there
    /// before. One principal may have a share of the places and of the memory: it leaves some for
    /// others.
    pub fn register(
        &self,
        robot: Arc<RegisteredRobot>,
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Result<(Arc<RegisteredRobot>, bool), Limit> {
        let mut robots = self.lock();
        if let Some(known) = robots.get(&robot.id) {
            return Ok((known.clone(), true));
        }
        let (kind, count) = (MemoryKind::Robots, robots.len() as u64);
        if count >= limits.robots_max || !quota.may_have_another(kind, count, limits.robots_max) {
            return Err(limits.robots_max());
        }
        let bytes: u64 = robots.values().map(|robot| robot.bytes).sum();
        if robot.bytes > quota.room_for(kind, bytes, limits.robot_bytes_max) {
            return Err(limits.robot_bytes_max());
        }
        let memory = quota.lasting().reserve(kind, robot.bytes).map_err(|full| full.0)?;
        robot.memory.begin(memory);
        robots.insert(robot.id.clone(), robot.clone());
        Ok((robot, false))
    }

    /// The robot with this id.
    pub fn get(&self, id: &str) -> Option<Arc<RegisteredRobot>> {
        self.lock().get(id).cloned()
    }

    /// Claims a robot, so that it is deleted by who brings this key, too, and by nobody else; says
    /// whether it is there. `quota` pays.
    pub fn claim(
        &self,
        id: &str,
        key: KeyDigest,
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Result<bool, Limit> {
        let robots = self.lock();
        if !robots.contains_key(id) {
            return Ok(false);
        }
        self.claims().add(id, key, quota, limits).map(|()| true)
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

    /// At most `size` robots after `after`, by id, whose descriptions take no more than so many
    /// bytes on the wire, or one; and whether more follow.
    pub fn page(
        &self,
        after: &str,
        size: usize,
        bytes_max: u64,
    ) -> (Vec<Arc<RegisteredRobot>>, bool) {
        let robots = self.lock();
        let start = (Bound::Excluded(after.to_owned()), Bound::Unbounded);
        let mut found = robots.range(start).map(|(_, robot)| robot).peekable();
        let (mut page, mut bytes) = (Vec::new(), 0_u64);
        while let Some(next) = found.peek() {
            bytes = bytes.saturating_add(next.description.wire);
            let is_full = page.len() == size || bytes > bytes_max && !page.is_empty();
            if is_full {
                break;
            }
            page.extend(found.next().cloned());
        }
        (page, found.peek().is_some())
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
