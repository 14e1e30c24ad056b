//! Who asks: a principal, over one of its connections.

use std::future::Future;
use std::net::SocketAddr;

use super::principal::Principal;

/// Turns are given to clients: each connection of a principal is one, and they share what the
/// principal gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Client {
    principal: Principal,
    /// The port at the other end: no two open connections of an address have the same. Two of a
    /// tenant may, from two addresses: they are one client then.
    port: u16,
}

tokio::task_local! {
    static CURRENT: Client;
}

impl Client {
    /// Whoever asks without a connection: tests, and the server itself.
    pub const NOBODY: Self = Self { principal: Principal::NOBODY, port: 0 };

    /// The client at the other end of a connection, as long as nothing but its address is known.
    pub fn at(peer: SocketAddr) -> Self {
        Self { principal: peer.ip().into(), port: peer.port() }
    }

    /// The same connection, when it is known whose call it is.
    pub fn of(self, principal: Principal) -> Self {
        Self { principal, ..self }
    }

    /// The one whose call is being answered.
    pub fn current() -> Self {
        CURRENT.try_with(|client| *client).unwrap_or(Self::NOBODY)
    }

    /// The tenant whose call is being answered; none: nobody is asked for a key, or nobody calls.
    pub fn current_tenant() -> Option<u32> {
        Self::current().principal.tenant_number()
    }

    /// Lets `call` be answered for this client.
    pub fn around<F: Future>(self, call: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, call)
    }

    /// Does `work` for this client, here and now.
    pub fn during<R>(self, work: impl FnOnce() -> R) -> R {
        CURRENT.sync_scope(self, work)
    }

    /// Whose the call is; it may have other connections too.
    pub fn principal(&self) -> Principal {
        self.principal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_knows_its_client_and_nobody_elses() {
        let client = Client::at("10.0.0.1:9".parse().unwrap());
        assert_eq!(client.around(async { Client::current() }).await, client);
        assert_eq!(client.during(Client::current), client);
        assert_eq!(Client::current(), Client::NOBODY);
    }
}
