//! Places that are shared by address: those who watch one session.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use super::share;

/// Who has how many; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Seats(Arc<Mutex<BTreeMap<IpAddr, u64>>>);

/// A place, which is given back when it is dropped.
#[derive(Debug)]
pub struct Seat {
    seats: Seats,
    address: IpAddr,
}

impl Seats {
    /// A place for this address among so many; none: it has its share, or all are taken.
    pub fn take(&self, address: IpAddr, limit: u64) -> Option<Seat> {
        let mut held = self.lock();
        let own = held.get(&address).copied().unwrap_or(0);
        if share::places(own, held.values().sum(), limit) == 0 {
            return None;
        }
        held.insert(address, own + 1);
        Some(Seat { seats: self.clone(), address })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<IpAddr, u64>> {
        self.0.lock().expect("nothing panics while holding it")
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut held = self.seats.lock();
        if let Some(own) = held.get_mut(&self.address) {
            *own -= 1;
            if *own == 0 {
                held.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn one_address_leaves_seats_for_others_and_gives_its_own_back() {
        let (seats, address) = (Seats::default(), |last| Ipv4Addr::new(10, 0, 0, last).into());
        let greedy: Vec<Seat> = std::iter::from_fn(|| seats.take(address(1), 64)).collect();
        assert_eq!(greedy.len(), 36, "three quarters of three quarters");
        let others: Vec<Seat> = (2..18).filter_map(|last| seats.take(address(last), 64)).collect();
        assert_eq!(others.len(), 16);
        drop((greedy, others));
        assert!(seats.lock().is_empty());
    }
}
