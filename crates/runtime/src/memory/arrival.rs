//! Messages that have not come whole, which give way where memory is short.
//!
//! A message may take as long as it likes, within its time, and is refused only for what it still
//! wants. So 250 principals, each within its share when its message began, could hold everything.
//! When what is kept for rations is being used up, an unfinished message of the principal with most
//! of them, in bytes, is given up for whoever holds less (B. Suter et al., *Design considerations
//! for supporting TCP with per-flow queueing*, INFOCOM 1998, "longest queue drop").

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use super::{BudgetState, Holder, MemoryKind, MemoryQuota, OutOfMemory, Reservation};

/// The memory of a message of which some bytes have come.
#[derive(Debug)]
pub struct Arrival {
    memory: Reservation,
    unfinished: Arc<Unfinished>,
}

/// What others know of it.
#[derive(Debug)]
pub(super) struct Unfinished {
    held: Arc<Holder>,
    bytes: AtomicU64,
    has_to_give_way: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl MemoryQuota {
    /// Memory for a message of which so many bytes have come.
    pub fn arrival(&self, bytes: u64) -> Result<Arrival, OutOfMemory> {
        let memory = self.reserve(MemoryKind::Receiving, bytes)?;
        let unfinished = Arc::new(Unfinished {
            held: self.0.held.clone(),
            bytes: AtomicU64::new(bytes),
            has_to_give_way: AtomicBool::new(false),
            waker: Mutex::default(),
        });
        self.0.books.unfinished().push(unfinished.clone());
        Ok(Arrival { memory, unfinished })
    }
}

impl Arrival {
    /// So many bytes are taken.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes()
    }

    /// More bytes have come.
    pub fn grow_to(&mut self, bytes: u64) -> Result<(), OutOfMemory> {
        self.memory.grow_to(bytes)?;
        self.unfinished.bytes.store(self.memory.bytes(), Ordering::Relaxed);
        Ok(())
    }

    /// Some bytes have been read, and so many wait still.
    pub fn shrink_to(&mut self, bytes: u64) {
        self.memory.set(bytes.min(self.memory.bytes()));
        self.unfinished.bytes.store(self.memory.bytes(), Ordering::Relaxed);
    }

    /// Ready when the message has to give way.
    pub fn poll_given_up(&self, context: &mut Context<'_>) -> Poll<OutOfMemory> {
        let mut waker = self.unfinished.waker();
        if !waker.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            *waker = Some(context.waker().clone());
        }
        drop(waker);
        if !self.unfinished.has_to_give_way.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        let books = &self.memory.quota.0.books;
        books.refusals.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(OutOfMemory(books.limit))
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        // First: whoever looks at the list must not find neither.
        self.memory.set(0);
        let is_other = |other: &Arc<Unfinished>| !Arc::ptr_eq(other, &self.unfinished);
        self.memory.quota.0.books.unfinished().retain(is_other);
    }
}

impl Unfinished {
    fn held(&self) -> u64 {
        self.held.bytes.load(Ordering::Relaxed)
    }

    /// By how much its principal waits, and then itself.
    fn size(&self) -> (u64, u64) {
        let of_principal = &self.held.kinds[MemoryKind::Receiving as usize];
        (of_principal.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    fn waker(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().expect("nothing panics while holding it")
    }
}

impl BudgetState {
    /// Messages of those who hold more than this are given up, until so many bytes are on their way
    /// back.
    pub(super) fn make_room(&self, held: u64, bytes: u64) {
        let mut given_up = Vec::new();
        let unfinished = self.unfinished();
        let gives_way = |one: &Arc<Unfinished>| one.has_to_give_way.load(Ordering::Acquire);
        let mut coming: u64 =
            unfinished.iter().filter(|one| gives_way(one)).map(|one| one.size().1).sum();
        while coming < bytes {
            let others = unfinished.iter().filter(|one| !gives_way(one) && one.held() > held);
            let Some(most) = others.max_by_key(|one| one.size()) else { break };
            most.has_to_give_way.store(true, Ordering::Release);
            coming += most.size().1;
            given_up.push(most.clone());
        }
        // Outside the lock: whoever is woken may want it.
        drop(unfinished);
        for one in given_up {
            let waker = one.waker().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    fn unfinished(&self) -> MutexGuard<'_, Vec<Arc<Unfinished>>> {
        self.unfinished.lock().expect("nothing panics while holding it")
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::memory::MemoryBudget;
    use crate::settings::Limits;

    const MIB: u64 = 1 << 20;

    fn client(memory_budget: &MemoryBudget, last: u8) -> MemoryQuota {
        memory_budget.connection(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)))
    }

    fn is_given_up(arrival: &Arrival) -> bool {
        arrival.poll_given_up(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    /// Each was within its share when it began, and together they left nothing.
    #[test]
    fn unfinished_messages_of_many_principals_give_way_to_whoever_holds_less() {
        let limits = Limits { memory_bytes_max: 64 * MIB, ..Limits::default() };
        let memory_budget = MemoryBudget::new(limits.memory_bytes_max());
        let mut many: Vec<Arrival> = Vec::new();
        for last in 0..40 {
            let Ok(mut arrival) = client(&memory_budget, last).arrival(MIB) else { break };
            let _ = arrival.grow_to(4 * MIB);
            many.push(arrival);
        }
        assert!(memory_budget.total() > 60 * MIB);
        let newcomer = client(&memory_budget, 200);
        // What is kept may be used up; the next try finds what gave way.
        let mut held = Vec::new();
        for _ in 0..16 {
            held.extend(newcomer.reserve(MemoryKind::Work, MIB / 16));
            many.retain(|arrival| !is_given_up(arrival));
        }
        assert_eq!(held.len(), 16, "a ration");
        assert!(!many.is_empty(), "no more gave way than had to");
        // Whoever holds most gives way, not whoever came last.
        drop((many, held));
        let large = client(&memory_budget, 1).arrival(30 * MIB).unwrap();
        let small: Vec<_> =
            (2..30).map_while(|k| client(&memory_budget, k).arrival(MIB).ok()).collect();
        let more =
            (30..60).map_while(|k| client(&memory_budget, k).arrival(MIB).ok()).collect::<Vec<_>>();
        assert!(is_given_up(&large) && !small.iter().chain(&more).any(is_given_up));
    }
}
