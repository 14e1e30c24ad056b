//! Cells that were built lately, by what they are made of: a planner asks about the same one
//! thousands of times, often with one configuration a call.
//!
//! Whoever had a cell built pays for it, as long as it is kept. Each principal has a share of the
//! places and of the memory; beyond that its own cells make way, those not asked for longest first.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::client::Client;
use super::memory::{MemoryKind, MemoryQuota, Reservation};
use super::settings::Limits;
use clearance_robot::cell::Cell;

/// A digest of everything that a cell is made of: equal digests are equal cells.
pub type CellKey = [u8; 32];

/// A cell with the memory that it takes; cheap to clone.
#[derive(Clone, Debug)]
pub struct BuiltCell {
    /// The cell, which is shared between calls.
    pub cell: Arc<Cell>,
    /// Whether it stays built for the next call.
    pub is_kept: bool,
    memory: Arc<Reservation>,
}

impl BuiltCell {
    /// A cell for one call, and what is paid for it.
    pub fn new(cell: Arc<Cell>, memory: Reservation) -> Self {
        Self { cell, is_kept: false, memory: Arc::new(memory) }
    }

    /// The same, which stays built.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { is_kept: true, ..self }
    }
}

#[derive(Debug)]
struct KeptCell {
    /// Who had it built: that one has asked about a cell is not for others to find out.
    tenant: Option<u32>,
    key: CellKey,
    built: BuiltCell,
    last_asked: Instant,
}

impl KeptCell {
    /// Whether it is the caller's with this key.
    fn is(&self, key: &CellKey) -> bool {
        self.key == *key && self.tenant == Client::current_tenant()
    }
}

/// The cells that are kept, the one asked for last at the end.
#[derive(Debug, Default)]
pub struct KeptCells(Mutex<Vec<KeptCell>>);

impl KeptCells {
    /// The cell with this key, if it is still kept.
    pub fn get(&self, key: &CellKey, now: Instant) -> Option<BuiltCell> {
        let mut all = self.lock();
        let at = all.iter().rposition(|kept| kept.is(key))?;
        let mut found = all.remove(at);
        found.last_asked = now;
        let built = found.built.clone();
        all.push(found);
        Some(built)
    }

    /// Keeps a cell, for which `quota` pays; none: it is too large, or there is no memory.
    pub fn keep(
        &self,
        key: CellKey,
        cell: &Arc<Cell>,
        payer: Payer<'_>,
        limits: &Limits,
    ) -> Option<BuiltCell> {
        let (kind, bytes) = (MemoryKind::Cells, cell.heap_bytes() as u64);
        let (places, room) = (limits.kept_cells_max, limits.kept_cell_bytes_max);
        let quota = payer.quota.lasting();
        let fits = |all: &[KeptCell]| {
            let taken: u64 = all.iter().map(|kept| kept.built.memory.bytes()).sum();
            quota.may_have_another(kind, all.len() as u64, places)
                && bytes <= quota.room_for(kind, taken, room)
        };
        let mut all = self.lock();
        all.retain(|kept| !kept.is(&key));
        // What would not fit even alone makes nobody's cells go.
        if places == 0 || bytes > room / 2 {
            return None;
        }
        while !fits(&all) {
            let own = all.iter().position(|kept| kept.built.memory.is_of(&quota));
            // Cells that are in use still count: then there may be none left to give up.
            if all.is_empty() {
                return None;
            }
            all.remove(own.unwrap_or(0));
        }
        let of_one_call = BuiltCell::new(cell.clone(), quota.reserve(kind, bytes).ok()?);
        let built = of_one_call.kept();
        let tenant = Client::current_tenant();
        all.push(KeptCell { tenant, key, built: built.clone(), last_asked: payer.now });
        Some(built)
    }

    /// Forgets cells that nobody has asked for lately.
    pub fn expire(&self, now: Instant, limits: &Limits) {
        let most = Duration::from_secs(limits.kept_cell_seconds_max);
        self.lock().retain(|kept| now.saturating_duration_since(kept.last_asked) <= most);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<KeptCell>> {
        self.0.lock().expect("nothing panics while holding it")
    }
}

/// Who has a cell kept, and when.
#[derive(Clone, Copy, Debug)]
pub struct Payer<'a> {
    /// Whose memory the cell is counted in.
    pub quota: &'a MemoryQuota,
    /// The time at which it is asked for.
    pub now: Instant,
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::clock::{Clock, ManualClock};
    use crate::memory::MemoryBudget;
    use clearance_geometry::pose::Pose;
    use clearance_robot::still::StillBody;
    use clearance_samples::cuboid;

    fn cell(bodies: usize) -> Arc<Cell> {
        let polytope = Arc::new(cuboid(1.0, 1.0, 1.0));
        let body = StillBody { body: polytope.into(), pose: Pose::identity() };
        Arc::new(Cell::new(&[], vec![body; bodies]))
    }

    fn client(memory_budget: &MemoryBudget, last: u8) -> MemoryQuota {
        memory_budget.connection(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)))
    }

    fn memory_budget(mib: u64) -> MemoryBudget {
        let limits = Limits { memory_bytes_max: mib << 20, ..Limits::default() };
        MemoryBudget::new(limits.memory_bytes_max())
    }

    fn are_kept(kept: &KeptCells, keys: std::ops::Range<u8>, now: Instant) -> Vec<u8> {
        keys.filter(|key| kept.get(&[*key; 32], now).is_some()).collect()
    }

    #[test]
    fn the_cells_asked_for_last_are_kept_within_a_principals_share_of_the_places() {
        let (memory_budget, clock, kept, one) =
            (memory_budget(64), ManualClock::new(), KeptCells::default(), cell(1));
        let limits = Limits { kept_cells_max: 4, ..Limits::default() };
        let (greedy, other, now) =
            (client(&memory_budget, 1), client(&memory_budget, 2), clock.now());
        for key in 0..3 {
            assert!(kept.keep([key; 32], &one, Payer { quota: &greedy, now }, &limits).is_some());
        }
        assert!(kept.get(&[0; 32], now).is_some_and(|found| Arc::ptr_eq(&found.cell, &one)));
        // Three of four are a share; the second was not asked for since.
        kept.keep([3; 32], &one, Payer { quota: &greedy, now }, &limits);
        assert_eq!(are_kept(&kept, 0..4, now), [0, 2, 3]);
        kept.keep([4; 32], &one, Payer { quota: &other, now }, &limits);
        kept.keep([5; 32], &one, Payer { quota: &other, now }, &limits);
        assert_eq!(are_kept(&kept, 0..6, now), [0, 2, 3, 5], "its own made way");
        assert_eq!(memory_budget.used(MemoryKind::Cells), 4 * one.heap_bytes() as u64);
    }

    #[test]
    fn cells_are_bounded_in_bytes_and_given_back_when_nobody_asks() {
        let (memory_budget, clock, kept) =
            (memory_budget(64), ManualClock::new(), KeptCells::default());
        let (one, large, quota) = (cell(1), cell(60), client(&memory_budget, 1));
        let each = one.heap_bytes() as u64;
        let limits = Limits {
            kept_cell_bytes_max: 6 * each,
            kept_cell_seconds_max: 10,
            ..Limits::default()
        };
        let payer = |quota| Payer { quota, now: clock.now() };
        for key in 0..4 {
            assert!(kept.keep([key; 32], &one, payer(&quota), &limits).is_some());
        }
        assert_eq!(are_kept(&kept, 0..4, clock.now()), [1, 2, 3], "its share of the bytes");
        assert!(kept.keep([4; 32], &large, payer(&quota), &limits).is_none());
        assert_eq!(are_kept(&kept, 0..5, clock.now()), [1, 2, 3]);
        let in_use = kept.get(&[1; 32], clock.now());
        clock.advance(Duration::from_secs(8));
        assert!(kept.get(&[2; 32], clock.now()).is_some());
        clock.advance(Duration::from_secs(8));
        kept.expire(clock.now(), &limits);
        assert_eq!(are_kept(&kept, 0..5, clock.now()), [2]);
        assert_eq!(memory_budget.used(MemoryKind::Cells), 2 * each, "one is in use still");
        drop(in_use);
        assert_eq!(memory_budget.used(MemoryKind::Cells), each);
        let none = Limits { kept_cells_max: 0, ..limits.clone() };
        assert!(kept.keep([5; 32], &one, payer(&quota), &none).is_none());
        // A memory budget without room keeps nothing.
        let full = client(&self::memory_budget(1), 1);
        let _held = full.hold(MemoryKind::Work, 1 << 20);
        assert!(kept.keep([6; 32], &one, payer(&full), &limits).is_none());
    }
}
