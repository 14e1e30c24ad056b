//! What is registered while somebody else writes: at once, as if one after the other.

use std::sync::Condvar;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::archive::keeper::{Keeper, KeeperParts, ShelfIndex};
use crate::archive::{Archive, ArchiveError, Change, Key, MemoryArchive, Table};
use crate::clock::ManualClock;
use crate::memory::MemoryBudget;
use crate::sessions::owner::KeyDigest;
use crate::store::Stored;
use clearance_bodies::{Body, ContentId};
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;

/// Rows whose first write ends when it is told to, and of which the second may fail.
#[derive(Debug, Default)]
struct Gated {
    rows: MemoryArchive,
    writes: AtomicUsize,
    fails_second: bool,
    is_open: Mutex<bool>,
    opens: Condvar,
}

impl Gated {
    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opens.notify_all();
    }
}

impl Archive for Gated {
    fn write(&self, changes: &[Change]) -> Result<(), ArchiveError> {
        let before = self.writes.fetch_add(1, Ordering::SeqCst);
        drop(self.opens.wait_while(self.is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
        if before == 1 && self.fails_second {
            return Err(ArchiveError::Down("it was told to".to_owned()));
        }
        self.rows.write(changes)
    }

    fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, ArchiveError> {
        self.rows.read(key)
    }

    fn each(&self, table: Table, take: &mut dyn FnMut(Key, &[u8])) -> Result<(), ArchiveError> {
        self.rows.each(table, take)
    }
}

fn store_on(rows: Arc<Gated>, limits: &Limits) -> PolytopeStore {
    let memory_budget = MemoryBudget::new(limits.memory_bytes_max());
    let clock = Arc::new(ManualClock::new());
    let parts = KeeperParts { archive: rows, memory_budget, limits: limits.clone(), clock };
    let (keeper, _) = Keeper::open(parts).unwrap();
    let found = ShelfIndex::default();
    PolytopeStore::on(Arc::new(Shelf::new(keeper, "acme", &found)), found)
}

fn point(x: f64, alias: &str) -> NewPolytope {
    let effort = &mut Effort::unlimited();
    let body = Body::of_points(&[Vec3::new(x, 0.0, 0.0)], effort).unwrap();
    let alias = Some(alias.to_owned()).filter(|alias| !alias.is_empty());
    let stored = Stored::new(body, effort).unwrap();
    NewPolytope { stored, alias, move_alias: true, alias_key: None, made_key: None }
}

fn id_of(x: f64) -> ContentId {
    point(x, "").stored.id
}

/// Registers a body at zero, and while it is written all of these, which come one after the other;
/// what they are answered.
fn beside_one(
    rows: Arc<Gated>,
    limits: &Limits,
    calls: Vec<(Vec<NewPolytope>, MemoryQuota)>,
) -> (PolytopeStore, Vec<Answer>) {
    let store = store_on(rows.clone(), limits);
    let until = |what: &dyn Fn() -> bool| {
        let begin = Instant::now();
        while !what() {
            assert!(begin.elapsed() < Duration::from_secs(10));
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let answers = std::thread::scope(|scope| {
        let one = scope
            .spawn(|| store.register(vec![point(0.0, "it")], &MemoryQuota::of_nobody(), limits));
        until(&|| rows.writes.load(Ordering::SeqCst) == 1);
        let mut others = Vec::new();
        for (count, (new, quota)) in calls.into_iter().enumerate() {
            let store = &store;
            others.push(scope.spawn(move || store.register(new, &quota, limits)));
            until(&|| store.waiting.lock().len() > count);
        }
        assert_eq!(store.named("it").map(|named| named.id), None, "nothing is told before");
        rows.open();
        one.join().unwrap().unwrap();
        others.into_iter().map(|call| call.join().unwrap()).collect()
    });
    (store, answers)
}

fn ids(answer: &Answer) -> Vec<ContentId> {
    answer.as_ref().unwrap().iter().map(|one| one.stored.id).collect()
}

#[test]
fn what_waits_is_written_at_once_and_an_alias_as_the_last_one_has_it() {
    let (rows, quota) = (Arc::new(Gated::default()), MemoryQuota::of_nobody());
    // The last one registers a body that another one of them does, too.
    let places = [1.0, 2.0, 3.0, 4.0, 2.0];
    let calls = places.map(|x| (vec![point(x, "it")], quota.clone()));
    let (store, answers) = beside_one(rows.clone(), &Limits::default(), calls.into());
    assert_eq!(rows.writes.load(Ordering::SeqCst), 2);
    for (x, answer) in places.iter().zip(&answers) {
        assert_eq!(ids(answer), [id_of(*x)]);
        assert!(store.knows(&id_of(*x)));
    }
    let already = answers.iter().map(|answer| answer.as_ref().unwrap()[0].already_registered);
    assert_eq!(already.collect::<Vec<_>>(), [false, false, false, false, true]);
    assert_eq!((store.count(), store.resolve("it")), (5, Some(id_of(2.0))));
    assert_eq!(store.aliases(&id_of(4.0)), [""; 0]);
}

/// Each is refused for what it would have been refused for had it come alone, in its own words.
#[test]
fn one_that_is_refused_takes_no_other_with_it() {
    let (rows, quota) = (Arc::new(Gated::default()), MemoryQuota::of_nobody());
    let mine = Some(KeyDigest::of("mine"));
    let claims = |x: f64| NewPolytope { alias_key: mine, ..point(x, "it") };
    let keeps = NewPolytope { move_alias: false, ..point(5.0, "other") };
    let calls = [
        vec![point(1.0, "other"), claims(2.0)],
        vec![point(3.0, ""), point(3.5, "it")],
        vec![keeps],
        vec![claims(6.0), point(7.0, "new")],
    ];
    let calls = calls.map(|new| (new, quota.clone()));
    let (store, answers) = beside_one(rows.clone(), &Limits::default(), calls.into());
    assert_eq!(rows.writes.load(Ordering::SeqCst), 2);
    let [first, second, third, last] = &answers[..] else { panic!() };
    assert_eq!(
        (ids(first), ids(last)),
        (vec![id_of(1.0), id_of(2.0)], vec![id_of(6.0), id_of(7.0)])
    );
    let claimed = RegisterError::AliasClaimed { index: 1, alias: "it".to_owned() };
    assert_eq!(second.as_ref().unwrap_err(), &claimed);
    let (alias, owner) = ("other".to_owned(), id_of(1.0));
    let taken = RegisterError::AliasTaken { index: 0, alias, owner };
    assert_eq!(third.as_ref().unwrap_err(), &taken);
    assert_eq!(store.resolve("it"), Some(id_of(6.0)));
    assert!(![3.0, 3.5, 5.0].iter().any(|x| store.knows(&id_of(*x))), "half of it");
    assert_eq!(store.count(), 5);
}

#[test]
fn each_principal_is_written_for_itself() {
    let rows = Arc::new(Gated::default());
    let (one, other) = (MemoryQuota::of_nobody(), MemoryQuota::of_nobody());
    let calls = [(1.0, &one), (2.0, &other), (3.0, &one), (4.0, &other)];
    let calls = calls.map(|(x, quota)| (vec![point(x, "it")], quota.clone()));
    let (store, answers) = beside_one(rows.clone(), &Limits::default(), calls.into());
    assert_eq!(rows.writes.load(Ordering::SeqCst), 3);
    assert!(answers.iter().all(Result::is_ok) && store.count() == 5);
}

#[test]
fn a_write_that_fails_fails_for_all_that_it_was_for() {
    let rows = Arc::new(Gated { fails_second: true, ..Gated::default() });
    let quota = MemoryQuota::of_nobody();
    let calls = [1.0, 2.0].map(|x| (vec![point(x, "it")], quota.clone()));
    let (store, answers) = beside_one(rows.clone(), &Limits::default(), calls.into());
    for answer in answers {
        assert_eq!(answer.unwrap_err(), RegisterError::Down);
    }
    assert_eq!((store.count(), store.resolve("it")), (1, Some(id_of(0.0))));
    assert_eq!(
        store.register(vec![point(1.0, "it")], &quota, &Limits::default()).unwrap().len(),
        1
    );
}

/// Together they are more than fits, and one after the other some are not.
#[test]
fn where_not_all_fit_those_that_do_are_registered() {
    let (rows, quota) = (Arc::new(Gated::default()), MemoryQuota::of_nobody());
    let one = point(1.0, "").stored.body.content_bytes();
    let limits = Limits { store_bytes_max: 3 * one, ..Limits::default() };
    let calls = [1.0, 2.0, 3.0].map(|x| (vec![point(x, "")], quota.clone()));
    let (store, answers) = beside_one(rows, &limits, calls.into());
    let full = Some(RegisterError::Full(limits.store_bytes_max()));
    let answers: Vec<_> = answers.into_iter().map(Result::err).collect();
    assert_eq!(answers, [None, None, full]);
    assert_eq!(store.count(), 3);
}
