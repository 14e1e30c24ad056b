//! One suite for rows in memory, in a file and in a bucket, and what stores make of them.

#[cfg(feature = "s3")]
mod bucket;
mod faults;
mod moves;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::export::{Counts, ExportError, export, import};
use super::keeper::{Keeper, KeeperParts, NotKept, Shelf, ShelfIndex, Unread};
use super::*;
use crate::clock::ManualClock;
use crate::memory::{MemoryBudget, MemoryKind, MemoryQuota};
use crate::sessions::owner::KeyDigest;
use crate::settings::Limits;
use crate::store::{DeleteError, NewPolytope, PolytopeStore, RegisterError, Stored};
use clearance_bodies::{Body, ContentId};
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;

/// A directory of its own, which goes with it.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("clearance-archive-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Does the same with each.
fn with_each(test: impl Fn(Arc<dyn Archive>)) {
    test(Arc::new(MemoryArchive::default()));
    let directory = Directory::new();
    test(Arc::new(RedbArchive::open(&directory.0).unwrap()));
    #[cfg(feature = "s3")]
    bucket::each_new().into_iter().for_each(test);
}

fn row(name: &str) -> Key {
    Key::new(Table::Aliases, "acme", name)
}

/// What a server has, which begins anew each time it is made.
struct Server {
    keeper: Arc<Keeper>,
    bodies: PolytopeStore,
    clock: Arc<ManualClock>,
    budget: MemoryBudget,
    /// Of whoever registers.
    quota: MemoryQuota,
}

impl Server {
    fn on(archive: Arc<dyn Archive>) -> Self {
        Self::within(archive, Limits { memory_bytes_max: 1 << 30, ..Limits::default() })
    }

    fn within(archive: Arc<dyn Archive>, limits: Limits) -> Self {
        Self::opened(archive, limits).unwrap()
    }

    /// One whose archive may fail before all is read.
    fn begun(archive: Arc<dyn Archive>) -> Option<Self> {
        let limits = Limits { memory_bytes_max: 1 << 30, ..Limits::default() };
        Self::opened(archive, limits).ok()
    }

    fn opened(archive: Arc<dyn Archive>, limits: Limits) -> Result<Self, ArchiveError> {
        let (clock, budget) =
            (Arc::new(ManualClock::new()), MemoryBudget::new(limits.memory_bytes_max()));
        let memory_budget = budget.clone();
        let parts = KeeperParts { archive, memory_budget, limits, clock: clock.clone() };
        let (keeper, mut found) = Keeper::open(parts)?;
        let found: ShelfIndex = found.remove("acme").unwrap_or_default();
        let shelf = Arc::new(Shelf::new(keeper.clone(), "acme", &found));
        let (bodies, quota) = (PolytopeStore::on(shelf, found), MemoryQuota::of_nobody());
        Ok(Self { keeper, bodies, clock, budget, quota })
    }

    fn register(&self, new: Vec<NewPolytope>) -> Result<Vec<ContentId>, RegisterError> {
        let limits = Limits::default();
        let registered = self.bodies.register(new, &self.quota, &limits)?;
        Ok(registered.iter().map(|one| one.stored.id).collect())
    }
}

fn point(x: f64, alias: &str) -> NewPolytope {
    let effort = &mut Effort::unlimited();
    let body = Body::of_points(&[Vec3::new(x, 0.0, 0.0)], effort).unwrap();
    let alias = Some(alias.to_owned()).filter(|alias| !alias.is_empty());
    let stored = Stored::new(body, effort).unwrap();
    NewPolytope { stored, alias, move_alias: true, alias_key: None, made_key: None }
}

#[test]
fn all_of_it_is_written_or_nothing() {
    with_each(|archive| {
        let one = [Change::Put(row("a"), vec![1]), Change::Put(row("b"), vec![2])];
        archive.write(&one).unwrap();
        let wrong = [
            Change::Put(row("a"), vec![9]),
            Change::Expect(row("b"), Some(vec![3])),
            Change::Remove(row("b")),
        ];
        assert_eq!(archive.write(&wrong), Err(ArchiveError::Conflict(row("b"))));
        assert_eq!(archive.read(&row("a")), Ok(Some(vec![1])));
        let right = [
            Change::Expect(row("c"), None),
            Change::Expect(row("b"), Some(vec![2])),
            Change::Remove(row("b")),
        ];
        archive.write(&right).unwrap();
        assert_eq!(archive.read(&row("b")), Ok(None));
        let mut seen = Vec::new();
        archive.each(Table::Aliases, &mut |key, row| seen.push((key, row.to_vec()))).unwrap();
        assert_eq!(seen, [(row("a"), vec![1])]);
        archive.each(Table::Robots, &mut |_, _| panic!("there is none")).unwrap();
    });
}

#[test]
fn what_is_registered_is_there_when_the_server_begins_anew() {
    with_each(|archive| {
        let key = Some(KeyDigest::of("mine"));
        let first = Server::on(archive.clone());
        let one = NewPolytope { alias_key: key, ..point(1.0, "it") };
        let ids = first.register(vec![one, point(2.0, "it"), point(3.0, "other")]);
        // Claimed within the same request: the second does not bring the key.
        assert_eq!(
            ids.unwrap_err().to_string(),
            "the alias \"it\" was claimed with a key that was \
            not brought"
        );
        let again = Server::on(archive.clone());
        assert_eq!(again.bodies.count(), 0, "all of it or nothing");
        let with_key = |x: f64| NewPolytope { alias_key: key, ..point(x, "it") };
        let ids = first.register(vec![with_key(1.0), with_key(2.0), point(3.0, "other")]).unwrap();
        let again = Server::on(archive.clone());
        assert_eq!((again.bodies.count(), again.bodies.resolve("it")), (3, Some(ids[1])));
        assert_eq!(again.bodies.memory_bytes(), first.bodies.memory_bytes());
        assert_eq!(again.keeper.metrics().loads.load(Ordering::Relaxed), 0, "nothing is read yet");
        assert_eq!(again.budget.used(MemoryKind::Robots), 0);
        for id in &ids {
            assert!(again.bodies.knows(id));
            assert_eq!(again.bodies.find(id).unwrap().unwrap().id, *id);
            assert!(again.bodies.lease(id).unwrap().is_some());
        }
        assert_eq!(again.keeper.metrics().loads.load(Ordering::Relaxed), 3, "each once");
        // Whose the alias is, is kept, too.
        let taken = again.register(vec![point(3.0, "it")]).unwrap_err();
        assert!(matches!(taken, RegisterError::AliasClaimed { .. }));
        assert_eq!(again.bodies.delete(&ids[1], &[]), Err(DeleteError::Claimed));
        assert_eq!(again.bodies.delete(&ids[1], &key.map_or(vec![], |key| vec![key])), Ok(()));
        let last = Server::on(archive);
        assert!(!last.bodies.knows(&ids[1]) && last.bodies.resolve("it").is_none());
        assert_eq!((last.bodies.count(), last.bodies.resolve("other")), (2, Some(ids[2])));
    });
}

#[test]
fn what_was_deleted_goes_from_the_store_a_day_later_unless_it_comes_back() {
    with_each(|archive| {
        let server = Server::on(archive.clone());
        let ids = server.register(vec![point(1.0, "a"), point(2.0, "b")]).unwrap();
        ids.iter().for_each(|id| server.bodies.delete(id, &[]).unwrap());
        server.register(vec![point(2.0, "")]).unwrap();
        let content = |id: &ContentId| archive.read(&Key::new(Table::Contents, "acme", id));
        assert_eq!(server.keeper.collect(), Ok(0));
        assert!(content(&ids[0]).unwrap().is_some());
        server.clock.advance(Duration::from_secs(24 * 3600 + 1));
        assert_eq!(server.keeper.collect(), Ok(1));
        assert_eq!(content(&ids[0]), Ok(None));
        assert!(content(&ids[1]).unwrap().is_some());
        assert_eq!(server.keeper.collect(), Ok(0));
        assert_eq!(Server::on(archive.clone()).bodies.count(), 1);
    });
}

#[test]
fn a_flipped_byte_is_refused_set_aside_and_counted() {
    for table in [Table::Contents, Table::Bodies, Table::Aliases] {
        let archive = Arc::new(MemoryArchive::default());
        let server = Server::on(archive.clone());
        let ids = server.register(vec![point(1.0, "it"), point(2.0, "other")]).unwrap();
        let name = if table == Table::Aliases { "it".to_owned() } else { ids[0].to_string() };
        let key = Key::new(table, "acme", name);
        archive.damage(&key, |row| row[20] ^= 4);
        let again = Server::on(archive.clone());
        let found = again.bodies.find(&ids[0]).unwrap();
        assert_eq!(found.is_some(), table == Table::Aliases, "{table:?}");
        assert!(again.keeper.metrics().set_aside.load(Ordering::Relaxed) >= 1, "{table:?}");
        assert_eq!(again.bodies.resolve("it"), None, "{table:?}");
        assert_eq!(archive.read(&key), Ok(None), "{table:?}");
        let mut aside = 0;
        archive.each(Table::Aside, &mut |_, _| aside += 1).unwrap();
        assert!(aside >= 1, "{table:?}");
        assert!(again.bodies.find(&ids[1]).unwrap().is_some(), "the other one is as it was");
        // Whoever has it registers it again.
        again.register(vec![point(1.0, "it")]).unwrap();
        let last = Server::on(archive);
        assert_eq!(last.bodies.resolve("it"), Some(ids[0]));
        assert!(last.bodies.find(&ids[0]).unwrap().is_some());
        assert_eq!(last.keeper.metrics().set_aside.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn while_the_store_is_down_what_is_in_memory_goes_on_and_nothing_is_registered() {
    let archive = Arc::new(MemoryArchive::default());
    let ids = Server::on(archive.clone()).register(vec![point(1.0, "a"), point(2.0, "b")]);
    let ids = ids.unwrap();
    let server = Server::on(archive.clone());
    assert!(server.bodies.find(&ids[0]).unwrap().is_some());
    archive.set_down(true);
    assert!(server.bodies.find(&ids[0]).unwrap().is_some(), "it is in memory");
    assert_eq!(server.bodies.find(&ids[1]).unwrap_err(), Unread::Down);
    assert_eq!(server.register(vec![point(3.0, "")]).unwrap_err(), RegisterError::Down);
    assert_eq!(server.bodies.delete(&ids[0], &[]), Err(DeleteError::Down));
    assert_eq!((server.bodies.count(), server.bodies.resolve("a")), (2, Some(ids[0])));
    assert!(server.bodies.find(&ids[0]).unwrap().is_some(), "it was not deleted");
    assert!(server.keeper.is_down());
    // What is registered already needs no store.
    assert_eq!(server.register(vec![point(1.0, "a")]).unwrap(), [ids[0]]);
    archive.set_down(false);
    assert!(server.bodies.find(&ids[1]).unwrap().is_some());
    server.register(vec![point(3.0, "")]).unwrap();
    assert!(!server.keeper.is_down());
}

#[test]
fn the_store_has_a_bound_and_memory_is_taken_before_anything_is_read() {
    let archive = Arc::new(MemoryArchive::default());
    let limits = Limits { memory_bytes_max: 1 << 30, store_bytes_max: 150, ..Limits::default() };
    let server = Server::within(archive.clone(), limits.clone());
    let one = server.register(vec![point(1.0, "")]).unwrap()[0];
    server.register(vec![point(2.0, "")]).unwrap();
    let full = server.register(vec![point(3.0, "")]).unwrap_err();
    assert_eq!(full, RegisterError::from(NotKept::Full(limits.store_bytes_max())));
    // An alias takes no room there.
    server.register(vec![point(1.0, "it")]).unwrap();
    let small = Limits { memory_bytes_max: 64 << 20, ..Limits::default() };
    let server = Server::within(archive, small);
    let others = server.budget.connection(std::net::IpAddr::from([10, 0, 0, 1]));
    let held = others.hold(MemoryKind::Work, 64 << 20);
    assert!(matches!(server.bodies.find(&one), Err(Unread::Memory(_))));
    drop(held);
    assert!(server.bodies.find(&one).unwrap().is_some());
    assert!(server.budget.used(MemoryKind::Polytopes) >= 1024);
}

#[test]
fn aliases_that_many_move_at_once_end_where_the_last_one_left_them() {
    with_each(|archive| {
        let server = Server::on(archive.clone());
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let server = &server;
                scope.spawn(move || {
                    for k in 0..25 {
                        server.register(vec![point(f64::from(k % 5), "it")]).unwrap();
                        let alias = format!("of-{writer}");
                        server.register(vec![point(f64::from(k), &alias)]).unwrap();
                    }
                });
            }
        });
        let again = Server::on(archive);
        let aliases = (0..8).map(|writer| format!("of-{writer}")).chain(["it".to_owned()]);
        for alias in aliases {
            let (now, then) = (server.bodies.resolve(&alias), again.bodies.resolve(&alias));
            assert!(now.is_some() && now == then, "{alias}");
        }
        assert_eq!((again.bodies.count(), server.bodies.count()), (25, 25));
    });
}

#[test]
fn a_store_is_exported_and_imported_and_a_damaged_export_changes_nothing() {
    with_each(|archive| {
        let server = Server::on(archive.clone());
        let new = vec![point(1.0, "a"), point(2.0, "b"), point(3.0, "")];
        let ids = server.register(new).unwrap();
        server.bodies.delete(&ids[2], &[]).unwrap();
        let mut file = Vec::new();
        assert_eq!(export(&*archive, &mut file).unwrap(), Counts { rows: 6, known: 0 });
        let to: Arc<dyn Archive> = Arc::new(MemoryArchive::default());
        let read = |bytes: &[u8]| -> Result<Counts, ExportError> {
            let bytes = bytes.to_vec();
            import(&*to, || Ok(Box::new(std::io::Cursor::new(bytes.clone()))))
        };
        for at in 0..file.len() {
            let mut flipped = file.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(read(&flipped).is_err() && read(&file[..at]).is_err(), "{at}");
        }
        assert!(read(&[&file[..], &[0]].concat()).is_err());
        assert_eq!(Server::on(to.clone()).bodies.count(), 0);
        // What is there stays.
        let other = Server::on(to.clone());
        other.register(vec![point(9.0, "b")]).unwrap();
        assert_eq!(read(&file).unwrap(), Counts { rows: 6, known: 1 });
        assert_eq!(read(&file).unwrap(), Counts { rows: 6, known: 6 });
        let there = Server::on(to.clone());
        assert_eq!((there.bodies.count(), there.bodies.resolve("a")), (3, Some(ids[0])));
        assert!(there.bodies.find(&ids[1]).unwrap().is_some());
        assert!(there.bodies.resolve("b") != Some(ids[1]) && !there.bodies.knows(&ids[2]));
    });
}

#[test]
fn a_file_is_one_processs_and_one_of_another_format_is_refused() {
    let directory = Directory::new();
    let archive = RedbArchive::open(&directory.0).unwrap();
    let second = RedbArchive::open(&directory.0).unwrap_err().to_string();
    assert!(second.contains("another process has this store open"), "{second}");
    archive.write(&[Change::Put(row("a"), vec![1])]).unwrap();
    drop(archive);
    assert_eq!(RedbArchive::open(&directory.0).unwrap().read(&row("a")), Ok(Some(vec![1])));
    let path = directory.0.join(FILE_NAME);
    std::fs::write(&path, b"this is no store of anybody").unwrap();
    assert!(RedbArchive::open(&directory.0).is_err());
}

/// Ignored for its time: docs/backing-up.md has the figures, and how to take them anew.
#[test]
#[ignore = "writes a hundred thousand bodies"]
#[expect(clippy::print_stdout, reason = "the figure is what it is run for")]
fn a_hundred_thousand_bodies_are_known_again_at_once() {
    let directory = Directory::new();
    a_hundred_thousand_are_known_again(|_| Arc::new(RedbArchive::open(&directory.0).unwrap()));
    let bytes = std::fs::metadata(directory.0.join(FILE_NAME)).unwrap().len();
    println!("the file has {bytes} bytes");
}

/// Registers so many in the archive that is opened first, and looks how soon the one that is opened
/// second knows them.
#[expect(clippy::print_stdout, reason = "the figures are what it is run for")]
fn a_hundred_thousand_are_known_again(open: impl Fn(u32) -> Arc<dyn Archive>) {
    const COUNT: u32 = 100_000;
    let limits = || Limits { memory_bytes_max: 8 << 30, ..Limits::default() };
    let cube = |k: u32| {
        let size = 1.0 + f64::from(k);
        let corner = |i: u32| [i & 1, i >> 1 & 1, i >> 2].map(|bit| f64::from(bit) * size);
        let corners: Vec<Vec3> = (0..8).map(|i| Vec3::from(corner(i))).collect();
        let effort = &mut Effort::unlimited();
        let body = Body::of_points(&corners, effort).unwrap();
        let alias = Some(format!("cube-{k}")).filter(|_| k.is_multiple_of(10));
        let stored = Stored::new(body, effort).unwrap();
        NewPolytope { stored, alias, move_alias: true, alias_key: None, made_key: None }
    };
    let mut last = None;
    let server = Server::within(open(0), limits());
    for first in (0..COUNT).step_by(1_000) {
        last = server.register((first..first + 1_000).map(cube).collect()).unwrap().pop();
    }
    server.keeper.close();
    drop(server);
    let begin = std::time::Instant::now();
    let server = Server::within(open(1), limits());
    assert_eq!(server.bodies.count(), u64::from(COUNT));
    let opened = begin.elapsed();
    let begin = std::time::Instant::now();
    assert!(server.bodies.find(&last.unwrap()).unwrap().is_some());
    println!("opened in {opened:?}, the first body read in {:?}", begin.elapsed());
    assert!(opened < Duration::from_secs(10), "{opened:?}");
}
