//! The robots that clients registered, by id. Where a store keeps them beyond the process, what is
//! not in memory is built when somebody needs it.

mod claims;
mod kept;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use self::claims::Claims;
use self::kept::RobotShelf;
pub use self::kept::{RobotBuilder, Unbuilt};
use super::archive::keeper::{NotKept, Unread, is_tried_again};
use super::memory::{MemoryKind, MemoryQuota, Reservation};
use super::sessions::owner::KeyDigest;
use super::settings::Limits;
use super::store::paid::PaidMemory;
use clearance_bodies::{Body, ContentId, TableKeeper};
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

    /// The body of the first part with this id.
    pub fn part(&self, id: &ContentId) -> Option<Body> {
        let at = self.part_ids.iter().position(|one| one == id)?;
        self.robot.parts.get(at).map(|part| part.body.whole())
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
    robots: Mutex<BTreeMap<String, KnownRobot>>,
    /// Locked while `robots` are.
    claims: Mutex<Claims>,
    /// Whoever changes something has it from the look at what there is until that is done.
    turn: Mutex<()>,
    /// Where they outlive the process; none: nowhere.
    shelf: Option<RobotShelf>,
    /// As many changes of the shelf as have been looked at here.
    seen: AtomicU64,
    /// Of the shelf, that all that is known is of. Written while `robots` are locked.
    version: AtomicU64,
}

/// What is registered, in memory or not.
#[derive(Debug)]
struct KnownRobot {
    /// None: it is still to be read.
    robot: Option<Arc<RegisteredRobot>>,
    /// See [`RegisteredRobot::bytes`].
    bytes: u64,
    /// What its description takes on the wire.
    wire_bytes: u64,
    /// Bytes of what it is built of.
    source_bytes: u64,
    /// It is being deleted: nobody finds it any more.
    leaves: bool,
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
    /// The store does not answer.
    #[error("the store does not answer")]
    Down,
}

/// Why a robot was not deleted yet.
enum NotDeleted {
    For(DeleteError),
    /// Another server has changed something: to be looked at again.
    Overtaken,
}

impl From<NotKept> for NotDeleted {
    fn from(why: NotKept) -> Self {
        match why {
            NotKept::Overtaken => Self::Overtaken,
            NotKept::Down | NotKept::Full(_) => Self::For(DeleteError::Down),
        }
    }
}

impl RobotStore {
    /// Adds a robot, for which `quota` pays; returns the one that is kept, and whether it was there
    /// before. One principal may have a share of the places and of the memory: it leaves some for
    /// others. `source` is what it is built of again, where it outlives the process.
    pub fn register(
        &self,
        robot: &Arc<RegisteredRobot>,
        source: &[u8],
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Result<(Arc<RegisteredRobot>, bool), NotKept> {
        let _turn = self.turn();
        self.follow();
        let begin = Instant::now();
        loop {
            let registered = self.try_register(robot, source, quota, limits);
            match registered {
                Err(NotKept::Overtaken) if is_tried_again(begin) => self.hear(),
                done => return done,
            }
        }
    }

    fn try_register(
        &self,
        robot: &Arc<RegisteredRobot>,
        source: &[u8],
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Result<(Arc<RegisteredRobot>, bool), NotKept> {
        let version = self.version();
        let robots = self.lock();
        let is_there = robots.get(&robot.id).is_some_and(|entry| !entry.leaves);
        if let Some(known) = self.loaded(&robots, &robot.id) {
            return Ok((known, true));
        }
        if !is_there {
            let (kind, count) = (MemoryKind::Robots, robots.len() as u64);
            let places = quota.may_have_another(kind, count, limits.robots_max);
            if count >= limits.robots_max || !places {
                return Err(NotKept::Full(limits.robots_max()));
            }
            let bytes: u64 = robots.values().map(|entry| entry.bytes).sum();
            if robot.bytes > quota.room_for(kind, bytes, limits.robot_bytes_max) {
                return Err(NotKept::Full(limits.robot_bytes_max()));
            }
        }
        drop(robots);
        let memory = quota.lasting().reserve(MemoryKind::Robots, robot.bytes);
        let memory = memory.map_err(|full| NotKept::Full(full.0))?;
        let entry = KnownRobot::of(robot, source);
        if let Some(RobotShelf { shelf, .. }) = self.shelf.as_ref().filter(|_| !is_there) {
            let room = quota.reserve(MemoryKind::Work, 2 * source.len() as u64);
            let _room = room.map_err(|full| NotKept::Full(full.0))?;
            let mut changes = kept::registering(shelf, &robot.id, &entry, source);
            changes.push(kept::seen(shelf, version));
            shelf.write(&changes)?;
        }
        let mut robots = self.lock();
        // Somebody may have read it meanwhile.
        if let Some(known) = self.loaded(&robots, &robot.id) {
            return Ok((known, true));
        }
        robot.memory.begin(memory);
        match robots.get_mut(&robot.id) {
            Some(entry) => entry.robot = Some(robot.clone()),
            None => drop(robots.insert(robot.id.clone(), entry)),
        }
        self.confirm(&mut robots, &robot.id);
        Ok((robot.clone(), is_there))
    }

    /// The robot with this id, if there is one and it can be read.
    pub fn get(&self, id: &str) -> Option<Arc<RegisteredRobot>> {
        self.find(id).ok().flatten()
    }

    /// Whether there is a robot with this id. Nothing is read for that.
    pub fn knows(&self, id: &str) -> bool {
        self.hear();
        self.lock().get(id).is_some_and(|entry| !entry.leaves)
    }

    /// The robot if it is in memory.
    fn loaded(
        &self,
        robots: &BTreeMap<String, KnownRobot>,
        id: &str,
    ) -> Option<Arc<RegisteredRobot>> {
        robots.get(id).filter(|entry| !entry.leaves)?.robot.clone()
    }

    /// Whether robots outlive the process.
    pub fn is_kept(&self) -> bool {
        self.shelf.is_some()
    }

    /// Claims a robot, so that it is deleted by who brings this key, too, and by nobody else; says
    /// whether it is there. `quota` pays.
    pub fn claim(
        &self,
        id: &str,
        key: KeyDigest,
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Result<bool, NotKept> {
        let _turn = self.turn();
        self.follow();
        let begin = Instant::now();
        loop {
            match self.try_claim(id, key, quota, limits) {
                Err(NotKept::Overtaken) if is_tried_again(begin) => self.hear(),
                done => return done,
            }
        }
    }

    fn try_claim(
        &self,
        id: &str,
        key: KeyDigest,
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Result<bool, NotKept> {
        let version = self.version();
        let robots = self.lock();
        let Some(entry) = robots.get(id).filter(|entry| !entry.leaves) else { return Ok(false) };
        let mut claims = self.claims();
        let is_new = claims.add(id, key, quota, limits).map_err(NotKept::Full)?;
        let on = self.shelf.as_ref().filter(|_| is_new);
        let Some(RobotShelf { shelf, .. }) = on else { return Ok(true) };
        let mut changes = kept::claiming(shelf, id, entry, claims.keys(id));
        changes.push(kept::seen(shelf, version));
        drop((claims, robots));
        if let Err(why) = shelf.write(&changes) {
            self.claims().take_back(id, key);
            return Err(why);
        }
        self.confirm(&mut self.lock(), id);
        Ok(true)
    }

    /// Forgets a robot that nobody has claimed, or every claim on which one of these keys opens;
    /// whoever has it keeps it.
    pub fn delete(&self, id: &str, keys: &[KeyDigest]) -> Result<(), DeleteError> {
        let _turn = self.turn();
        self.follow();
        let begin = Instant::now();
        loop {
            match self.try_delete(id, keys) {
                Err(NotDeleted::Overtaken) if is_tried_again(begin) => self.hear(),
                Err(NotDeleted::Overtaken) => return Err(DeleteError::Down),
                Err(NotDeleted::For(why)) => return Err(why),
                Ok(()) => return Ok(()),
            }
        }
    }

    fn try_delete(&self, id: &str, keys: &[KeyDigest]) -> Result<(), NotDeleted> {
        let version = self.version();
        let mut robots = self.lock();
        if !self.claims().open_to(id, keys) {
            return Err(NotDeleted::For(DeleteError::Claimed));
        }
        let Some(entry) = robots.get_mut(id) else {
            return Err(NotDeleted::For(DeleteError::Unknown));
        };
        if let Some(RobotShelf { shelf, .. }) = &self.shelf {
            entry.leaves = true;
            let mut changes = kept::leaving(shelf, id, entry);
            changes.push(kept::seen(shelf, version));
            drop(robots);
            let written = shelf.write(&changes);
            robots = self.lock();
            if let Err(why) = written {
                robots.get_mut(id).into_iter().for_each(|entry| entry.leaves = false);
                return Err(why.into());
            }
        }
        self.claims().forget(id);
        robots.remove(id);
        self.confirm(&mut robots, id);
        Ok(())
    }

    /// At most `size` robots after `after`, by id, whose descriptions take no more than so many
    /// bytes on the wire, or one; and after which one more follow, if they do.
    pub fn page(&self, after: &str, size: usize, bytes_max: u64) -> Result<RobotPage, Unread> {
        self.follow();
        let robots = self.lock();
        let start = (Bound::Excluded(after.to_owned()), Bound::Unbounded);
        let mut found = robots.range(start).filter(|(_, entry)| !entry.leaves).peekable();
        let (mut ids, mut bytes) = (Vec::new(), 0_u64);
        while let Some((id, next)) = found.peek() {
            bytes = bytes.saturating_add(next.wire_bytes);
            let is_full = ids.len() == size || bytes > bytes_max && !ids.is_empty();
            if is_full {
                break;
            }
            ids.push((*id).clone());
            found.next();
        }
        let has_more = found.peek().is_some();
        drop(found);
        // Whoever reads from the store does not keep others from what is in memory.
        drop(robots);
        let read = ids.iter().map(|id| self.find(id)).collect::<Result<Vec<_>, _>>()?;
        let last = ids.pop().filter(|_| has_more);
        // What was deleted meanwhile, or is damaged, is left out.
        Ok(RobotPage { robots: read.into_iter().flatten().collect(), last })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Memory of all of them, estimated.
    pub fn bytes(&self) -> u64 {
        self.lock().values().map(|entry| entry.bytes).sum()
    }

    /// The version that all that is known is of: whoever writes says which one was looked at, and
    /// this is read before that.
    fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claims(&self) -> MutexGuard<'_, Claims> {
        self.claims.lock().expect("nothing panics while holding it")
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, KnownRobot>> {
        self.robots.lock().expect("nothing panics while holding it")
    }
}

/// Some robots one after the other.
#[derive(Debug)]
pub struct RobotPage {
    /// By ascending id.
    pub robots: Vec<Arc<RegisteredRobot>>,
    /// After this one more of them follow; none: these are the last.
    pub last: Option<String>,
}

impl KnownRobot {
    fn of(robot: &Arc<RegisteredRobot>, source: &[u8]) -> Self {
        Self {
            robot: Some(robot.clone()),
            bytes: robot.bytes,
            wire_bytes: robot.description.wire,
            source_bytes: source.len() as u64,
            leaves: false,
        }
    }
}
