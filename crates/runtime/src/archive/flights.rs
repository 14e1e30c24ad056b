//! What is not in memory is read once, however many ask for it: one of them reads, the others wait.
//!
//! So many are read at a time, and so many wait, of whom one tenant may be a share. Whoever is
//! beyond that is told to come again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use tokio::runtime::{Handle, RuntimeFlavor};

use super::Key;
use crate::share;

/// So many are read and built at a time.
const FLIGHTS_MAX: usize = 4;

/// So many threads wait for these, or for their own turn.
const WAITING_MAX: u64 = 64;

/// Too many wait already, or it took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowded;

/// What somebody needs, and until when.
#[derive(Clone, Copy, Debug)]
pub struct Needed<'a> {
    /// The key under which it is kept.
    pub key: &'a Key,
    /// Then nobody waits for it any more.
    pub until: Instant,
}

/// Who reads, and who waits.
#[derive(Debug, Default)]
pub struct Flights {
    state: Mutex<FlightBoard>,
    landed: Condvar,
}

#[derive(Debug, Default)]
struct FlightBoard {
    /// What is being read.
    keys: BTreeSet<Key>,
    /// How many wait, by tenant.
    waiting: BTreeMap<String, u64>,
}

/// What is being read, until this is dropped.
struct BoardedFlight<'a> {
    of: &'a Flights,
    key: &'a Key,
}

impl Flights {
    /// What `known` finds, or else what `read` makes of it: `read` is called by one at a time for
    /// each key.
    pub fn one<T, E: From<Crowded>>(
        &self,
        Needed { key, until }: Needed<'_>,
        known: impl Fn() -> Option<T>,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let mut state = self.state();
        while state.keys.contains(key) || state.keys.len() >= FLIGHTS_MAX {
            let total: u64 = state.waiting.values().sum();
            let own = state.waiting.get(&key.tenant).copied().unwrap_or(0);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || share::places(own, total, WAITING_MAX) == 0 {
                return Err(Crowded.into());
            }
            *state.waiting.entry(key.tenant.clone()).or_default() += 1;
            let waited = self.landed.wait_timeout(state, left);
            state = waited.expect("nothing panics while holding it").0;
            if let Some(count) = state.waiting.get_mut(&key.tenant) {
                *count -= 1;
                if *count == 0 {
                    state.waiting.remove(&key.tenant);
                }
            }
            if let Some(found) = known() {
                return Ok(found);
            }
        }
        if let Some(found) = known() {
            return Ok(found);
        }
        state.keys.insert(key.clone());
        drop(state);
        let _flight = BoardedFlight { of: self, key };
        read()
    }

    fn state(&self) -> MutexGuard<'_, FlightBoard> {
        self.state.lock().expect("nothing panics while holding it")
    }
}

impl Drop for BoardedFlight<'_> {
    fn drop(&mut self) {
        self.of.state().keys.remove(self.key);
        self.of.landed.notify_all();
    }
}

/// Does what may wait for the disk. A thread of the runtime gives its other tasks to another one
/// before that; threads that compute are not the runtime's.
pub fn may_wait<R>(work: impl FnOnce() -> R) -> R {
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(work)
        }
        Ok(_) | Err(_) => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use super::super::Table;
    use super::*;

    fn key(tenant: &str, name: u64) -> Key {
        Key::new(Table::Contents, tenant, name)
    }

    #[test]
    fn what_many_ask_for_at_once_is_read_once() {
        let (flights, kept, reads) = (Flights::default(), Mutex::new(None), AtomicU64::new(0));
        let until = Instant::now() + Duration::from_secs(30);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let found = flights.one(
                        Needed { key: &key("", 1), until },
                        || *kept.lock().unwrap(),
                        || {
                            reads.fetch_add(1, Ordering::Relaxed);
                            std::thread::sleep(Duration::from_millis(20));
                            *kept.lock().unwrap() = Some(7);
                            Ok::<_, Crowded>(7)
                        },
                    );
                    assert_eq!(found, Ok(7));
                });
            }
        });
        assert_eq!(reads.into_inner(), 1);
        assert!(flights.state().keys.is_empty() && flights.state().waiting.is_empty());
    }

    #[test]
    fn who_fails_or_panics_leaves_the_place_to_the_next() {
        let flights = Flights::default();
        let until = Instant::now() + Duration::from_secs(30);
        let fails = || Err::<u8, _>(Crowded);
        assert_eq!(flights.one(Needed { key: &key("", 1), until }, || None, fails), Err(Crowded));
        let panics = std::panic::AssertUnwindSafe(|| {
            let read = || -> Result<u8, Crowded> { panic!("a bug") };
            flights.one(Needed { key: &key("", 1), until }, || None, read)
        });
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(
            flights.one(Needed { key: &key("", 1), until }, || None, || Ok::<_, Crowded>(1)),
            Ok(1)
        );
    }

    #[test]
    fn one_tenant_does_not_take_all_places_to_wait() {
        let flights = Flights::default();
        let soon = Instant::now() + Duration::from_millis(300);
        let refused = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let read = || {
                std::thread::sleep(Duration::from_millis(600));
                Ok::<_, Crowded>(0)
            };
            for name in 0..FLIGHTS_MAX as u64 {
                let flights = &flights;
                scope.spawn(move || {
                    flights.one(Needed { key: &key("noisy", name), until: soon }, || None, read)
                });
            }
            std::thread::sleep(Duration::from_millis(50));
            for name in 0..WAITING_MAX {
                let (flights, refused) = (&flights, &refused);
                scope.spawn(move || {
                    let late = flights.one(
                        Needed { key: &key("noisy", 100 + name), until: soon },
                        || None,
                        read,
                    );
                    refused.fetch_add(u64::from(late.is_err()), Ordering::Relaxed);
                });
            }
            std::thread::sleep(Duration::from_millis(100));
            let noisy = flights.state().waiting.get("noisy").copied();
            assert!(noisy.is_some_and(|noisy| noisy < WAITING_MAX), "{noisy:?}");
            let until = Instant::now() + Duration::from_secs(30);
            let quiet = flights.one(
                Needed { key: &key("quiet", 1), until },
                || None,
                || Ok::<_, Crowded>(5),
            );
            assert_eq!(quiet, Ok(5));
        });
        assert_eq!(refused.into_inner(), WAITING_MAX, "their time was over");
    }
}
