//! One of everything for each tenant: what one registers is not there for any other, and nothing
//! that another does is told by what a call answers or how long it takes to.

use std::sync::OnceLock;

use super::client::Client;

/// Lists of one, two, four ... tenants: enough for every number that there is.
const BUCKETS: usize = 32;

/// A `T` for everybody who is asked for no key, and one for each tenant.
#[derive(Debug)]
pub struct OfTenants<T> {
    everybody: OnceLock<T>,
    /// Made on first use. None is ever moved or taken away, so that they are read without a lock.
    buckets: [OnceLock<Box<[OnceLock<T>]>>; BUCKETS],
}

impl<T> Default for OfTenants<T> {
    fn default() -> Self {
        Self { everybody: OnceLock::new(), buckets: [const { OnceLock::new() }; BUCKETS] }
    }
}

impl<T> OfTenants<T> {
    /// The one of whoever's call is being answered, which `make` makes where there is none yet: of
    /// the tenant of a number, or of everybody.
    pub fn of_caller(&self, make: impl FnOnce(Option<u32>) -> T) -> &T {
        match Client::current_tenant() {
            Some(number) => self.of_tenant(number, || make(Some(number))),
            None => self.everybody.get_or_init(|| make(None)),
        }
    }

    fn of_tenant(&self, number: u32, make: impl FnOnce() -> T) -> &T {
        // Numbers are given one by one, for lines of a file: the last one is never reached.
        let place = number.saturating_add(1);
        let bucket = place.ilog2();
        let size = 1_usize << bucket;
        let bucket = self.buckets[bucket as usize]
            .get_or_init(|| (0..size).map(|_| OnceLock::new()).collect());
        bucket[place as usize - size].get_or_init(make)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::principal::Principal;

    #[test]
    fn each_tenant_has_its_own_and_finds_it_again() {
        let all: OfTenants<Mutex<Vec<Option<u32>>>> = OfTenants::default();
        let tenants = || std::iter::once(None).chain((0..100).map(Some));
        for round in 1..=2 {
            for tenant in tenants() {
                let of = tenant.map_or(Client::NOBODY, |n| Client::NOBODY.of(Principal::tenant(n)));
                of.during(|| all.of_caller(|_| Mutex::default()).lock().unwrap().push(tenant));
                let held =
                    of.during(|| all.of_caller(|_| Mutex::default()).lock().unwrap().clone());
                assert_eq!(held, vec![tenant; round]);
            }
        }
    }
}
