//! Who asks: a connection, and the address that it comes from.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::memory::neighbourhood;

/// What shares are given to: each connection is a client, and the connections of one address share
/// what the address gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Client {
    address: IpAddr,
    /// The port at the other end: no two open connections of an address have the same.
    port: u16,
}

tokio::task_local! {
    static CURRENT: Client;
}

impl Client {
    /// Whoever asks without a connection: tests, and the server itself.
    pub const NOBODY: Self = Self { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), port: 0 };

    /// The client at the other end of a connection.
    pub fn at(peer: SocketAddr) -> Self {
        let address = neighbourhood(peer.ip());
        Self { address, port: peer.port() }
    }

    /// The one whose call is being answered.
    pub fn current() -> Self {
        CURRENT.try_with(|client| *client).unwrap_or(Self::NOBODY)
    }

    /// Lets `call` be answered for this client.
    pub fn around<F: Future>(self, call: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, call)
    }

    /// Does `work` for this client, here and now.
    pub fn during<R>(self, work: impl FnOnce() -> R) -> R {
        CURRENT.sync_scope(self, work)
    }

    /// Its address, which may have other connections too.
    pub fn address(&self) -> IpAddr {
        self.address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_customer_of_ipv6_has_one_address() {
        let at = |text: &str| Client::at(text.parse().unwrap()).address();
        assert_eq!(at("[2001:db8:1:2:3::1]:7"), at("[2001:db8:1:2:ffff::2]:9"));
        assert_ne!(at("[2001:db8:1:2::1]:7"), at("[2001:db8:1:3::1]:7"));
        assert_eq!(at("[::ffff:10.0.0.1]:7"), at("10.0.0.1:9"));
    }

    #[tokio::test]
    async fn a_call_knows_its_client_and_nobody_elses() {
        let client = Client::at("10.0.0.1:9".parse().unwrap());
        assert_eq!(client.around(async { Client::current() }).await, client);
        assert_eq!(client.during(Client::current), client);
        assert_eq!(Client::current(), Client::NOBODY);
    }
}
