//! Who makes a call. That is known once its headers are there, and decided here alone: what is
//! shared between principals asks the [`Caller`] of a call, and nobody asks its connection.

use http::Request;

use super::connection::Peer;
use super::limiter::ActiveCall;
use clearance_runtime::client::Client;
use clearance_runtime::memory::MemoryQuota;

/// Who makes a call, who pays for it, and that its connection is not idle meanwhile.
#[derive(Debug)]
pub(super) struct Caller {
    /// Whose turn in the pool the call awaits.
    pub(super) client: Client,
    /// From which the memory of the call is taken.
    pub(super) quota: MemoryQuota,
    /// None: there is no connection, as in tests.
    pub(super) busy: Option<ActiveCall>,
}

impl Caller {
    /// Of a request that the transport has put its peer into. Nothing in its headers tells callers
    /// apart yet, so the caller is whoever is at the other end of the connection.
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let Some(peer) = request.extensions().get::<Peer>() else { return Self::nobody() };
        let (client, busy) = (peer.client, Some(peer.begin()));
        Self { client, quota: peer.quota.for_call_of(client.principal()), busy }
    }

    /// Whoever asks without a connection, and without bounds.
    pub(super) fn nobody() -> Self {
        Self { client: Client::NOBODY, quota: MemoryQuota::of_nobody(), busy: None }
    }
}
