//! How many may watch one session, shared between principals.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::principal::Principal;
use super::share;

/// Who has how many; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SubscriptionLimit(Arc<Mutex<BTreeMap<Principal, u64>>>);

/// One of them; given back when it is dropped.
#[derive(Debug)]
pub struct Subscription {
    limit_of: SubscriptionLimit,
    principal: Principal,
}

impl SubscriptionLimit {
    /// One of `limit` for this principal; none: it has its share, or all are taken.
    pub fn take(&self, principal: Principal, limit: u64) -> Option<Subscription> {
        let mut held = self.lock();
        let own = held.get(&principal).copied().unwrap_or(0);
        if share::places(own, held.values().sum(), limit) == 0 {
            return None;
        }
        held.insert(principal, own + 1);
        Some(Subscription { limit_of: self.clone(), principal })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Principal, u64>> {
        self.0.lock().expect("nothing panics while holding it")
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut held = self.limit_of.lock();
        if let Some(own) = held.get_mut(&self.principal) {
            *own -= 1;
            if *own == 0 {
                held.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    #[test]
    fn one_principal_leaves_seats_for_others_and_gives_its_own_back() {
        let at = |address| Principal::at(IpAddr::V4(address));
        let (limit_of, principal) =
            (SubscriptionLimit::default(), |last| at(Ipv4Addr::new(10, 0, 0, last)));
        let greedy: Vec<Subscription> =
            std::iter::from_fn(|| limit_of.take(principal(1), 64)).collect();
        assert_eq!(greedy.len(), 36, "three quarters of three quarters");
        let others: Vec<Subscription> =
            (2..18).filter_map(|last| limit_of.take(principal(last), 64)).collect();
        assert_eq!(others.len(), 16);
        drop((greedy, others));
        assert!(limit_of.lock().is_empty());
    }
}
