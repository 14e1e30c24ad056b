//! What comes in: looked at before it is decoded.

mod scan;
mod structures;

use std::future::Future;
use std::sync::Arc;

use prost::Name;
use tonic::Status;

use self::scan::{Refusal, scan};
use self::structures::Structures;
use crate::rpc::status::Failure;
use crate::runtime::settings::Settings;

/// What the messages of one call are held to.
#[derive(Clone, Debug)]
pub(in crate::rpc) struct Intake {
    settings: Arc<Settings>,
}

tokio::task_local! {
    /// That of the call which is being polled. The decoders are made inside the generated services,
    /// where nothing can be handed to them.
    static CURRENT: Intake;
}

impl Intake {
    /// Within these limits.
    pub(in crate::rpc) fn new(settings: Arc<Settings>) -> Self {
        Self { settings }
    }

    /// Lets the decoders that `call` makes find this.
    pub(in crate::rpc) fn around<F: Future>(self, call: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, call)
    }

    /// That of the call which is being polled; none: this is a client.
    pub(super) fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Refuses a message that is too large in memory, or has too many elements.
    pub(super) fn admit<T: Name>(&self, bytes: &[u8]) -> Result<(), Status> {
        let index = Structures::of_api().index_of(T::NAME);
        let Some(index) = index else { return Ok(()) };
        match scan(index, bytes, &self.settings.limits) {
            Ok(_) => Ok(()),
            Err(Refusal::Limit(exceeded)) => Err(exceeded.into()),
            Err(Refusal::Malformed(why)) => Err(Failure::Malformed(why.to_owned()).into()),
        }
    }
}
