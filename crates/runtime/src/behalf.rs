//! Whose call is being answered, and which: what goes along when work goes from task to task or
//! onto the threads of the pool.

use std::future::Future;

use super::client::Client;
use super::request::RequestId;
use super::spans::OpenSpan;

/// On whose behalf something is done.
#[derive(Clone, Debug)]
pub struct Behalf {
    /// Who calls.
    pub client: Client,
    /// Which call it is; none: it is none.
    pub call: Option<KnownCall>,
}

/// A call as the log and whoever collects traces know it; cheap to clone.
#[derive(Clone, Debug)]
pub struct KnownCall {
    /// Its id.
    pub id: RequestId,
    /// Its span, if it is collected.
    pub span: Option<OpenSpan>,
}

tokio::task_local! {
    static CURRENT: KnownCall;
}

impl KnownCall {
    /// The one that is being answered; none: none is.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    /// Does `work` as part of this call, here and now.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        CURRENT.sync_scope(self.clone(), work)
    }
}

impl Behalf {
    /// On whose behalf this is done.
    pub fn current() -> Self {
        Self { client: Client::current(), call: KnownCall::current() }
    }

    /// Lets `call` be answered on this behalf.
    pub async fn around<F: Future>(self, call: F) -> F::Output {
        let work = self.client.around(call);
        match self.call {
            Some(call) => CURRENT.scope(call, work).await,
            None => work.await,
        }
    }

    /// Does `work` on this behalf, here and now.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        match &self.call {
            Some(call) => call.during(|| self.client.during(work)),
            None => self.client.during(work),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_goes_elsewhere_is_done_for_the_same_call_and_client() {
        let client = Client::at("10.0.0.1:9".parse().unwrap());
        let id = RequestId::brought_or_new(Some(b"seven"));
        let call = Some(KnownCall { id: id.clone(), span: None });
        let behalf = Behalf { client, call }.around(async { Behalf::current() }).await;
        let here = || (KnownCall::current().map(|call| call.id), Client::current());
        let expected = (Some(id), client);
        let on_thread = behalf.clone();
        assert_eq!(std::thread::spawn(move || on_thread.during(here)).join().unwrap(), expected);
        assert_eq!(tokio::spawn(behalf.around(async move { here() })).await.unwrap(), expected);
        assert_eq!(here(), (None, Client::NOBODY));
        assert_eq!(Behalf::current().during(here), (None, Client::NOBODY));
    }
}
