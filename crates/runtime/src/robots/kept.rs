//! Robots that outlive the process: what is written of them, and how they are built again.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{ID_PREFIX, KnownRobot, RegisteredRobot, RobotStore, RobotWork};
use crate::archive::keeper::{Shelf, Unread};
use crate::archive::records::{self, RobotRow};
use crate::archive::shared::PartKind;
use crate::archive::{Change, Table};
use crate::memory::MemoryKind;
use crate::sessions::owner::KeyDigest;
use crate::settings::Limits;
use clearance_geometry::until::Until;

/// Why a robot was not built of what was kept of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbuilt {
    /// The time was over.
    #[error("the time was over before it was built")]
    Late,
    /// A limit is exceeded, which may be another one than when it was registered.
    #[error("{0}")]
    Limit(String),
    /// It says no robot.
    #[error("{0}")]
    Wrong(String),
}

/// Builds robots of what was kept of them.
pub trait RobotBuilder: fmt::Debug + Send + Sync {
    /// What reading it takes, bytes at most; none: it says no robot.
    fn reading_bytes(&self, source: &[u8]) -> Option<u64>;

    /// The robot, as it was registered.
    fn build(
        &self,
        source: &[u8],
        limits: &Limits,
        until: &Until,
        work: &RobotWork,
    ) -> Result<RegisteredRobot, Unbuilt>;
}

/// Where robots are kept, and what builds them again.
#[derive(Debug)]
pub(super) struct RobotShelf {
    pub(super) shelf: Arc<Shelf>,
    builder: Arc<dyn RobotBuilder>,
}

impl RobotStore {
    /// A store whose robots outlive the process, with those that are there already.
    pub fn on(
        shelf: Arc<Shelf>,
        builder: Arc<dyn RobotBuilder>,
        found: BTreeMap<String, RobotRow>,
    ) -> Self {
        let quota = shelf.keeper().quota().clone();
        let store = Self { shelf: Some(RobotShelf { shelf, builder }), ..Self::default() };
        let (mut robots, mut claims) = (store.lock(), store.claims());
        // What another version has named is left as it is.
        for (id, row) in found.into_iter().filter(|(id, _)| id.starts_with(ID_PREFIX)) {
            claims.become_those(&id, row.keys(), &quota);
            robots.insert(id, KnownRobot::of_row(&row));
        }
        drop((robots, claims));
        store.hear();
        store
    }

    /// Learns what other servers have changed, whatever they had been answered when the call began
    /// that is answered. Where the store does not answer, what is known goes on.
    pub fn follow(&self) {
        if let Some(RobotShelf { shelf, .. }) = &self.shelf {
            shelf.look();
            self.hear();
        }
    }

    /// Learns what other servers have changed as far as anybody here has asked.
    pub(super) fn hear(&self) {
        let Some(RobotShelf { shelf, .. }) = &self.shelf else { return };
        let Some(sequence) = shelf.sequence() else { return };
        if self.seen.load(Ordering::Acquire) == sequence {
            return;
        }
        let mut robots = self.lock();
        let Some(news) = shelf.news(PartKind::Robots) else { return };
        for key in &news.keys {
            self.confirm(&mut robots, &key.name);
        }
        self.version.store(news.version, Ordering::Release);
        self.seen.store(sequence, Ordering::Release);
    }

    /// Makes what is known of a robot what a shared store says of it.
    pub(super) fn confirm(&self, robots: &mut BTreeMap<String, KnownRobot>, id: &str) {
        let Some(RobotShelf { shelf, .. }) = &self.shelf else { return };
        // What another version has named is left as it is; what is being deleted here, to whoever
        // deletes it.
        let leaves = robots.get(id).is_some_and(|entry| entry.leaves);
        if shelf.sequence().is_none() || !id.starts_with(ID_PREFIX) || leaves {
            return;
        }
        let row = shelf.known::<RobotRow>(&shelf.key(Table::Robots, id));
        let Some(row) = row.filter(|row| row.deleted.is_none()) else {
            // Sessions that have it keep it.
            self.claims().forget(id);
            robots.remove(id);
            return;
        };
        self.claims().become_those(id, row.keys(), shelf.keeper().quota());
        robots.entry(id.to_owned()).or_insert_with(|| KnownRobot::of_row(&row));
    }

    /// The robot with this id; what is not in memory is built again.
    pub fn find(&self, id: &str) -> Result<Option<Arc<RegisteredRobot>>, Unread> {
        self.hear();
        let known = || self.loaded(&self.lock(), id);
        if let Some(robot) = known() {
            return Ok(Some(robot));
        }
        match &self.shelf {
            Some(on) if self.knows_at_last(id) => {
                let key = on.shelf.key(Table::Sources, id);
                on.shelf.load(&key, || known().map(Some), |until| self.read(on, id, until))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Whether there is a robot, after a look at what others have registered if it has to be.
    fn knows_at_last(&self, id: &str) -> bool {
        self.knows(id) || {
            self.follow();
            self.knows(id)
        }
    }

    fn read(
        &self,
        RobotShelf { shelf, builder }: &RobotShelf,
        id: &str,
        until: &Until,
    ) -> Result<Option<Arc<RegisteredRobot>>, Unread> {
        let Some(source_bytes) = self.lock().get(id).map(|entry| entry.source_bytes) else {
            return Ok(None);
        };
        let (quota, limits) = (shelf.keeper().quota(), shelf.keeper().limits());
        let _source = quota.reserve(MemoryKind::Work, source_bytes.saturating_mul(2))?;
        let key = shelf.key(Table::Sources, id);
        let row = shelf.read(&key)?.unwrap_or_default();
        let source = records::unsealed(&key, &row);
        let read = source.and_then(|source| Some((source, builder.reading_bytes(source)?)));
        let Some((source, reading)) = read else { return self.set_aside(shelf, id) };
        let work = RobotWork::new(quota.reserve(MemoryKind::Work, reading)?);
        let built = match builder.build(source, limits, until, &work) {
            Ok(built) if built.id == id => built,
            Err(Unbuilt::Late) => return Err(Unread::Late),
            Err(Unbuilt::Limit(_)) => {
                let full = limits.memory_bytes_max();
                return Err(Unread::Memory(crate::memory::OutOfMemory(full)));
            }
            Ok(_) | Err(Unbuilt::Wrong(_)) => return self.set_aside(shelf, id),
        };
        work.settle(&built);
        drop(work);
        let memory = quota.reserve(MemoryKind::Robots, built.bytes)?;
        let mut robots = self.lock();
        // Somebody may have deleted it meanwhile, or registered it again.
        let Some(entry) = robots.get_mut(id).filter(|entry| !entry.leaves) else { return Ok(None) };
        if entry.robot.is_none() {
            built.memory.begin(memory);
            entry.robot = Some(Arc::new(built));
        }
        Ok(entry.robot.clone())
    }

    /// A robot whose source is not what was written goes out of the way, and is registered no more.
    fn set_aside(&self, shelf: &Shelf, id: &str) -> Result<Option<Arc<RegisteredRobot>>, Unread> {
        let _turn = self.turn();
        if let Some(robot) = self.loaded(&self.lock(), id) {
            return Ok(Some(robot));
        }
        shelf.set_aside(&[shelf.key(Table::Sources, id), shelf.key(Table::Robots, id)])?;
        let mut robots = self.lock();
        self.claims().forget(id);
        robots.remove(id);
        self.confirm(&mut robots, id);
        Ok(None)
    }
}

impl RobotRow {
    /// The keys that have claimed it. One that is none was never written: the row is sealed.
    fn keys(&self) -> Vec<KeyDigest> {
        self.keys.iter().filter_map(|key| KeyDigest::from_hex(key)).collect()
    }
}

impl KnownRobot {
    /// One that is still to be read.
    fn of_row(row: &RobotRow) -> Self {
        let RobotRow { memory_bytes: bytes, wire_bytes, source_bytes, .. } = *row;
        Self { robot: None, bytes, wire_bytes, source_bytes, leaves: false }
    }
}

/// Nothing is written if another server has changed robots since this version.
pub(super) fn seen(shelf: &Shelf, version: u64) -> Change {
    Change::Seen(shelf.part(PartKind::Robots), version)
}

fn row_of(entry: &KnownRobot) -> RobotRow {
    let KnownRobot { bytes: memory_bytes, wire_bytes, source_bytes, .. } = *entry;
    RobotRow { memory_bytes, wire_bytes, source_bytes, keys: Vec::new(), deleted: None }
}

/// What registering a robot changes.
pub(super) fn registering(
    shelf: &Shelf,
    id: &str,
    entry: &KnownRobot,
    source: &[u8],
) -> Vec<Change> {
    let [row, of_source] = [shelf.key(Table::Robots, id), shelf.key(Table::Sources, id)];
    let written = records::written(&row, &row_of(entry));
    let sealed = records::sealed(&of_source, source);
    vec![Change::Put(row, written), Change::Put(of_source, sealed)]
}

/// What a new claim changes.
pub(super) fn claiming(
    shelf: &Shelf,
    id: &str,
    entry: &KnownRobot,
    keys: Vec<KeyDigest>,
) -> Vec<Change> {
    let key = shelf.key(Table::Robots, id);
    let keys = keys.into_iter().map(KeyDigest::to_hex).collect();
    let row = records::written(&key, &RobotRow { keys, ..row_of(entry) });
    vec![Change::Put(key, row)]
}

/// What deleting a robot changes: it leaves a row that says when.
pub(super) fn leaving(shelf: &Shelf, id: &str, entry: &KnownRobot) -> Vec<Change> {
    let key = shelf.key(Table::Robots, id);
    let row = RobotRow { deleted: Some(shelf.keeper().now()), ..row_of(entry) };
    let row = records::written(&key, &row);
    vec![Change::Put(key, row)]
}
