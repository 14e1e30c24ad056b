//! The frames of a session, followed by somebody who takes no part in it.

use tonic::{Code, Status, Streaming};

use crate::connection::{Client, Current};
use crate::credentials::routed;
use crate::error::{Error, reason};
use crate::retry::Remedy;
use clearance_proto as api;
use clearance_proto::ErrorReason;

/// What the frames of a session do, from its state on. It outlives connections and servers: after
/// each of them the session's state comes anew, and what was known before is to be forgotten.
#[derive(Debug)]
pub struct Watching {
    client: Client,
    request: api::WatchSessionRequest,
    news: Option<Streaming<api::WatchSessionResponse>>,
    /// The connection of that stream.
    connection: Current,
    /// Attempts since something came.
    attempts: u32,
    has_ended: bool,
}

impl Watching {
    pub(super) fn new(client: &Client, request: api::WatchSessionRequest) -> Self {
        let connection = client.current();
        Self {
            client: client.clone(),
            request,
            news: None,
            connection,
            attempts: 0,
            has_ended: false,
        }
    }

    /// The next news; none once the session is closed or replaced.
    ///
    /// A session that a server has forgotten is waited for: whoever steps it opens it anew. It is
    /// an error when that takes longer than the client's attempts.
    pub async fn next(&mut self) -> Result<Option<api::WatchSessionResponse>, Error> {
        while !self.has_ended {
            match self.news_once().await {
                Ok(Some(news)) => {
                    self.attempts = 0;
                    self.has_ended = news.notice() == api::Notice::Closed;
                    return Ok(Some(news));
                }
                // A server that drains ends it so.
                Ok(None) => self.go_on(&Status::unavailable("the stream has ended")).await?,
                Err(status) => self.go_on(&status).await?,
            }
        }
        Ok(None)
    }

    async fn news_once(&mut self) -> Result<Option<api::WatchSessionResponse>, Status> {
        if let Some(news) = &mut self.news {
            return news.message().await;
        }
        self.connection = self.client.current();
        let id = self.request.session_id.clone();
        let asked = routed(&id, self.request.clone());
        let news = self.client.sessions().watch_session(asked).await?.into_inner();
        self.news.insert(news).message().await
    }

    /// Pauses before another attempt, if that may help.
    async fn go_on(&mut self, status: &Status) -> Result<(), Error> {
        self.news = None;
        self.attempts += 1;
        let is_gone = reason(status) == Some(ErrorReason::UnknownSession);
        // Whoever steps it has opened it anew, or will.
        let is_other = reason(status) == Some(ErrorReason::SessionReplaced);
        let cause = if is_gone || is_other {
            self.request.incarnation = 0;
            Status::new(Code::Unavailable, "the session is not there yet")
        } else {
            status.clone()
        };
        let after = self.client.options().retry.after(self.attempts, &cause);
        let Some((remedy, pause)) = after else {
            self.has_ended = true;
            return Err(status.clone().into());
        };
        tokio::time::sleep(pause).await;
        if remedy == Remedy::Reconnect && !is_gone && !is_other {
            self.client.move_on(&self.connection);
        }
        Ok(())
    }
}
