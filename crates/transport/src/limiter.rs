//! The limit of connections: who has one, and who gives way when they are short.
//!
//! A connection without calls costs its client nothing, and keep-alive pings keep it open for as
//! long as the client likes. So an address has a share of the permits (`runtime/share.rs`), and
//! beyond it, or when all are taken, a new connection takes the permit of one that has been without
//! calls for longest: of the address with most connections, where that has more than its own.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use tokio::sync::oneshot;

use clearance_runtime::principal::Principal;
use clearance_runtime::share;

/// A connection that has been without calls for so long is not about to have another one.
const SETTLED_MICROS: u64 = 1_000_000;

/// The limiter of all connections; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct ConnectionLimiter(Arc<LimiterState>);

#[derive(Debug)]
struct LimiterState {
    connections_max: u64,
    start: Instant,
    open: Mutex<BTreeMap<u64, OpenConnection>>,
    serial: AtomicU64,
}

/// A connection that has a permit.
#[derive(Debug)]
struct OpenConnection {
    address: Principal,
    activity: Arc<Activity>,
    /// Asks it to leave.
    eviction: oneshot::Sender<()>,
}

/// What a connection is doing.
#[derive(Debug)]
pub(crate) struct Activity {
    calls: AtomicUsize,
    /// Whether there was ever one.
    was_used: AtomicBool,
    /// Since when there have been no calls, in microseconds from the start.
    idle_since: AtomicU64,
    start: Instant,
}

/// The permit of one connection; given back when it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    limiter: ConnectionLimiter,
    number: u64,
    /// Counts its calls.
    pub(super) activity: Arc<Activity>,
    /// Comes when it has to leave; none: somebody waits for it.
    eviction: Option<oneshot::Receiver<()>>,
}

/// A call of a connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct ActiveCall(Arc<Activity>);

impl ConnectionLimiter {
    /// A limiter of so many connections.
    pub(super) fn new(connections_max: u64) -> Self {
        let (start, serial) = (Instant::now(), AtomicU64::new(0));
        Self(Arc::new(LimiterState { connections_max, start, open: Mutex::default(), serial }))
    }

    /// A permit for a connection from this address, if need be that of an idle one.
    pub(super) fn take(&self, address: IpAddr) -> Option<ConnectionPermit> {
        let address = Principal::at(address);
        let mut open = self.lock();
        let taken = open.len() as u64;
        let own = open.values().filter(|connection| connection.address == address).count() as u64;
        if share::places(own, taken, self.0.connections_max) == 0 {
            let number = self.to_leave(&open, address, own)?;
            let connection = open.remove(&number)?;
            // It may have gone by itself.
            let _ = connection.eviction.send(());
        }
        let number = self.0.serial.fetch_add(1, Ordering::Relaxed);
        let (sender, eviction) = oneshot::channel();
        let activity = Activity::new(self.0.start);
        let connection = OpenConnection { address, activity: activity.clone(), eviction: sender };
        open.insert(number, connection);
        drop(open);
        Some(ConnectionPermit { limiter: self.clone(), number, activity, eviction: Some(eviction) })
    }

    /// One idle connection of whoever has most is told to leave: the machine has no more for the
    /// next.
    pub(super) fn make_room(&self) {
        let mut open = self.lock();
        let idle = self.to_leave(&open, Principal::NOBODY, 0);
        if let Some(connection) = idle.and_then(|number| open.remove(&number)) {
            // It may have gone by itself.
            let _ = connection.eviction.send(());
        }
    }

    /// The idle connection that gives way to an address that has `own`: of the address with most
    /// connections, where that has more, else one of its own. One that was used just now is about
    /// to be used again, and gives way only to who has none, if there is no other: after those over
    /// which nobody has called yet.
    fn to_leave(
        &self,
        open: &BTreeMap<u64, OpenConnection>,
        to: Principal,
        own: u64,
    ) -> Option<u64> {
        let now = micros_since(self.0.start);
        let mut counts: BTreeMap<Principal, (u64, bool)> = BTreeMap::new();
        for connection in open.values() {
            let (count, is_settled) = counts.entry(connection.address).or_default();
            *count += 1;
            let idle = now.saturating_sub(connection.activity.idle_since.load(Ordering::Relaxed));
            *is_settled |= connection.activity.is_idle() && idle >= SETTLED_MICROS;
        }
        let more = counts.iter().filter(|(_, (count, is_settled))| *is_settled && *count > own);
        let most = more.max_by_key(|(_, (count, _))| *count).map(|(address, _)| *address);
        longest_idle(open, now, |address| match most {
            Some(most) => address == most,
            None => own == 0 || address == to,
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, OpenConnection>> {
        self.0.open.lock().expect("nothing panics while holding it")
    }
}

/// The connection that has been without calls for longest, of those from such addresses. Where none
/// is settled, those without any call so far go first: hundreds that are opened within a few
/// milliseconds are all younger than the last call of somebody who calls fifty times a second.
fn longest_idle(
    open: &BTreeMap<u64, OpenConnection>,
    now: u64,
    from: impl Fn(Principal) -> bool,
) -> Option<u64> {
    let idle = open
        .iter()
        .filter(|(_, connection)| from(connection.address) && connection.activity.is_idle());
    let order = |connection: &OpenConnection| {
        let since = connection.activity.idle_since.load(Ordering::Relaxed);
        let is_settled = now.saturating_sub(since) >= SETTLED_MICROS;
        let was_used = connection.activity.was_used.load(Ordering::Relaxed);
        (!is_settled, !is_settled && was_used, since)
    };
    idle.min_by_key(|(_, connection)| order(connection)).map(|(number, _)| *number)
}

fn micros_since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}

impl Activity {
    /// Of a connection without calls so far.
    pub(super) fn new(start: Instant) -> Arc<Self> {
        let idle_since = AtomicU64::new(micros_since(start));
        let (calls, was_used) = (AtomicUsize::new(0), AtomicBool::new(false));
        Arc::new(Self { calls, was_used, idle_since, start })
    }

    /// A call has begun.
    pub(crate) fn begin(self: &Arc<Self>) -> ActiveCall {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.was_used.store(true, Ordering::Relaxed);
        ActiveCall(self.clone())
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.calls.load(Ordering::Relaxed) == 0
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        let Activity { calls, idle_since, start, .. } = &*self.0;
        idle_since.store(micros_since(*start), Ordering::Relaxed);
        calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ConnectionPermit {
    /// Waits until another connection gets this permit.
    pub(super) fn has_to_leave(&mut self) -> impl Future<Output = ()> + use<> {
        let eviction = self.eviction.take();
        async move {
            match eviction {
                Some(eviction) => drop(eviction.await),
                None => std::future::pending().await,
            }
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.limiter.lock().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEDY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn has_to_leave(permit: &mut ConnectionPermit) -> bool {
        permit.eviction.as_mut().is_some_and(|eviction| eviction.try_recv().is_ok())
    }

    /// 1,024 idle connections kept everybody else out for as long as they answered pings.
    #[test]
    fn idle_connections_give_way_and_busy_ones_do_not() {
        let limiter = ConnectionLimiter::new(16);
        let mut held: Vec<ConnectionPermit> =
            (0..9).map(|_| limiter.take(GREEDY).unwrap()).collect();
        assert!(held.iter_mut().all(|permit| !has_to_leave(permit)), "so many are its share");
        let calls: Vec<ActiveCall> =
            held[..8].iter().map(|permit| permit.activity.begin()).collect();
        let next = limiter.take(GREEDY).expect("in the permit of its own idle one");
        assert!(has_to_leave(&mut held[8]));
        let _busy = next.activity.begin();
        assert!(limiter.take(GREEDY).is_none(), "all of its own are busy");
        assert!(limiter.take(OTHER).is_some(), "there is room for others");
        drop(calls);
        assert!(limiter.take(GREEDY).is_some());
        assert_eq!(
            held.iter_mut().filter_map(|permit| has_to_leave(permit).then_some(())).count(),
            1
        );
    }

    #[test]
    fn when_all_places_are_taken_the_one_with_most_idle_ones_gives_way() {
        let limiter = ConnectionLimiter::new(4);
        let mut greedy: Vec<ConnectionPermit> =
            (0..3).map(|_| limiter.take(GREEDY).unwrap()).collect();
        let mut other = limiter.take(OTHER).unwrap();
        let third = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 3));
        let new = limiter.take(third).expect("an idle one gives way");
        assert!(has_to_leave(&mut greedy[0]) && !has_to_leave(&mut other));
        drop((new, greedy));
        assert!(limiter.take(third).is_some());
    }

    /// Five addresses had all permits, and calls on each of them.
    #[test]
    fn busy_connections_of_many_addresses_leave_places_for_others() {
        let limiter = ConnectionLimiter::new(1_024);
        let mut calls = Vec::new();
        for last in 0..250 {
            let address = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 1, last));
            let mut got = 0;
            while let Some(permit) = limiter.take(address) {
                calls.push((permit.activity.begin(), permit));
                got += 1;
            }
            assert!(got > 0, "{last}");
        }
    }

    #[test]
    fn whoever_has_fewer_takes_idle_ones_of_whoever_has_more() {
        let limiter = ConnectionLimiter::new(16);
        let mut greedy: Vec<ConnectionPermit> =
            (0..9).map(|_| limiter.take(GREEDY).unwrap()).collect();
        let three: Vec<ConnectionPermit> = (0..3).map(|_| limiter.take(OTHER).unwrap()).collect();
        // Nobody's were idle for long: it takes from itself.
        let mut own = limiter.take(OTHER).unwrap();
        assert!(greedy.iter_mut().all(|permit| !has_to_leave(permit)));
        std::thread::sleep(std::time::Duration::from_micros(SETTLED_MICROS + 1_000));
        let others: Vec<ConnectionPermit> = (0..2).map(|_| limiter.take(OTHER).unwrap()).collect();
        assert!(!has_to_leave(&mut own));
        assert_eq!(greedy.iter_mut().filter_map(|one| has_to_leave(one).then_some(())).count(), 2);
        drop((three, others));
        limiter.make_room();
        assert_eq!(greedy.iter_mut().filter_map(|one| has_to_leave(one).then_some(())).count(), 1);
    }

    #[test]
    fn the_one_that_was_used_last_goes_last() {
        let limiter = ConnectionLimiter::new(4);
        let mut held: Vec<ConnectionPermit> =
            (0..3).map(|_| limiter.take(GREEDY).unwrap()).collect();
        std::thread::sleep(std::time::Duration::from_millis(2));
        drop(held[0].activity.begin());
        let _new = limiter.take(GREEDY).unwrap();
        assert!(!has_to_leave(&mut held[0]) && has_to_leave(&mut held[1]));
    }

    /// Somebody who asked every 20 ms was sent away, and a call was lost, when 300 connections were
    /// opened within 40 ms by addresses that had none.
    #[test]
    fn who_calls_stays_while_newcomers_have_not_called_yet() {
        let limiter = ConnectionLimiter::new(4);
        let mut caller = limiter.take(OTHER).unwrap();
        drop(caller.activity.begin());
        std::thread::sleep(std::time::Duration::from_millis(2));
        let mut burst: Vec<ConnectionPermit> = (0..32)
            .map(|last| limiter.take(IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 2, last))).unwrap())
            .collect();
        assert!(!has_to_leave(&mut caller));
        assert_eq!(burst.iter_mut().filter_map(|one| has_to_leave(one).then_some(())).count(), 29);
    }
}
