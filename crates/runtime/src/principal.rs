//! Whose a call is: memory, places, turns, sessions, names and seats are shared between principals.
//!
//! A call gets its principal once its headers are there (`transport/caller.rs`), and everything
//! behind that asks for nothing else. Where keys are asked for it is a tenant, else an address.
//! What is taken before a header is there, as the place and the buffers of a connection, is its
//! peer's.

use std::net::{IpAddr, Ipv6Addr};

/// Shares are given to principals; cheap to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal(Name);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Name {
    /// Nobody at a network: tests, and the server itself.
    Nobody,
    /// Everybody whose addresses are assigned together.
    Neighbourhood(IpAddr),
    /// Whoever brings a key of this tenant, from wherever.
    Tenant(u32),
}

impl Principal {
    /// Whoever asks without a connection.
    pub const NOBODY: Self = Self(Name::Nobody);

    /// The tenant of this number; numbers are given by `access`.
    pub fn tenant(number: u32) -> Self {
        Self(Name::Tenant(number))
    }

    /// The number of the tenant; none: nobody was asked for a key.
    pub fn tenant_number(self) -> Option<u32> {
        match self.0 {
            Name::Tenant(number) => Some(number),
            Name::Nobody | Name::Neighbourhood(_) => None,
        }
    }

    /// Whoever asks from this address. Providers of IPv6 assign each customer 2^64 addresses, so
    /// these are one principal.
    pub fn at(address: IpAddr) -> Self {
        Self(Name::Neighbourhood(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            address @ IpAddr::V4(_) => address,
        }))
    }
}

impl From<IpAddr> for Principal {
    fn from(address: IpAddr) -> Self {
        Self::at(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_customer_of_ipv6_is_one_principal() {
        let at = |text: &str| Principal::at(text.parse().unwrap());
        assert_eq!(at("2001:db8:1:2:3::1"), at("2001:db8:1:2:ffff::2"));
        assert_ne!(at("2001:db8:1:2::1"), at("2001:db8:1:3::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
        assert_ne!(at("0.0.0.0"), Principal::NOBODY);
    }
}
