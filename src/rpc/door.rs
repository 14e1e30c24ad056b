//! The door inside a process: calls as bytes, without a socket, through the same services and what
//! surrounds them. So limits, the account of memory, time limits and statuses are those of a server
//! that listens; its one caller is taken for another one of the loopback interface, who needs no
//! key.
//!
//! Whoever opens it brings a runtime of tokio with several threads. A small question is answered on
//! the thread that asks; a large one on the pool.

use std::time::Duration;

use prost::bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tonic::Status;
use tower::Layer;

use crate::rpc::routes::services;
use crate::rpc::services::robots;
use crate::rpc::services::sessions::{SessionHost, sweep};
use crate::rpc::shared::Shared;
use clearance_runtime::latch::{Latch, LatchSetter};
use clearance_runtime::memory::tidy;
use clearance_runtime::settings::Settings;
use clearance_transport::connection::Peer;
use clearance_transport::http2::AllServices;
use clearance_transport::inside::{InsideCall, InsideReply, ask, talk};

/// Why the door could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// The compute pool could not be made.
    #[error("cannot start the compute pool: {0}")]
    Pool(#[from] rayon::ThreadPoolBuildError),
    /// The descriptors cannot be served.
    #[error("cannot serve the descriptors: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// All services in this process. Dropped, it takes no new calls, and streams end.
#[derive(Debug)]
pub struct Door {
    services: AllServices,
    peer: Peer,
    drain: LatchSetter,
    sweeping: [JoinHandle<()>; 3],
}

impl Door {
    /// Opens it, within a runtime of several threads. Of the settings those count that are about
    /// answers; nothing is listened on, and nobody is asked for a key.
    pub fn open(settings: Settings) -> Result<Self, DoorError> {
        let (drain, draining) = Latch::new();
        let mut shared = Shared::new(settings, draining)?;
        shared.leaves_open = true;
        let sessions = SessionHost::new(shared.clone());
        let services = shared.surround().layer(services(&shared, &sessions)?);
        let sweeping = [
            tokio::spawn(sweep(sessions.registry.clone())),
            tokio::spawn(robots::sweep(shared.clone())),
            tokio::spawn(tidy(shared.memory_budget.clone())),
        ];
        let peer = Peer::inside(&shared.memory_budget);
        Ok(Self { services, peer, drain, sweeping })
    }

    /// Calls a method with one message in each direction. The method is named as its URI does,
    /// `/clearance.v1.ServerService/GetServerInfo`; given up when the future is dropped.
    pub async fn call(
        &self,
        method: &str,
        request: Bytes,
        time: Option<Duration>,
    ) -> Result<Bytes, Status> {
        ask(self.services.clone(), self.inside(method, time), request).await
    }

    /// Calls a method whose messages come from a channel, in either or both directions. What is in
    /// the channel has not been taken yet, so one of a single place is the way to be held back.
    pub async fn stream(
        &self,
        method: &str,
        requests: mpsc::Receiver<Bytes>,
        time: Option<Duration>,
    ) -> Result<InsideReply, Status> {
        talk(self.services.clone(), self.inside(method, time), requests).await
    }

    fn inside<'a>(&self, method: &'a str, time: Option<Duration>) -> InsideCall<'a> {
        InsideCall { method, time, peer: self.peer.clone() }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.drain.set();
        self.sweeping.iter().for_each(JoinHandle::abort);
    }
}
