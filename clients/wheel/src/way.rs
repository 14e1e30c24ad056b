//! Both ways to the services: those of this process, and those of a server.

use std::sync::Arc;
use std::time::Duration;

use clearance::rpc::door::Door;
use clearance_client::Client;
use prost::bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use crate::failed::Failed;

/// Where calls go.
#[derive(Debug)]
pub(crate) enum Way {
    /// To the services in this process.
    Inside(Door),
    /// To a server.
    Remote(Client),
}

/// A call under way with messages in both directions. Dropped, it is given up.
#[derive(Debug)]
pub(crate) struct Talk {
    /// One message waits until it is taken.
    pub(crate) requests: mpsc::Sender<Bytes>,
    /// What comes, and at last why no more does, if that is an error.
    pub(crate) replies: mpsc::Receiver<Result<Bytes, Failed>>,
    /// Gives it up, whoever waits for what comes.
    pub(crate) task: AbortHandle,
}

impl Way {
    /// One message in each direction.
    pub(crate) async fn call(
        &self,
        method: &str,
        request: Bytes,
        time: Option<Duration>,
    ) -> Result<Bytes, Failed> {
        Ok(match self {
            Self::Inside(door) => door.call(method, request, time).await?,
            Self::Remote(client) => client.call_bytes(method, request, time).await?,
        })
    }

    /// Begins a call with any number of messages in either direction.
    pub(crate) fn talk(self: &Arc<Self>, method: String, time: Option<Duration>) -> Talk {
        let (requests, outgoing) = mpsc::channel(1);
        let (incoming, replies) = mpsc::channel(1);
        let way = self.clone();
        let task = tokio::spawn(async move {
            let late = async {
                match time {
                    Some(time) => tokio::time::sleep(time).await,
                    None => std::future::pending().await,
                }
            };
            let ended = tokio::select! {
                ended = way.carry(&method, outgoing, &incoming, time) => ended,
                () = incoming.closed() => return,
                // Servers leave the time of a stream to whoever began it.
                () = late => Err(Status::deadline_exceeded("the time for the call is over").into()),
            };
            if let Err(failed) = ended {
                // Nobody may wait for it any more.
                let _ = incoming.send(Err(failed)).await;
            }
        });
        Talk { requests, replies, task: task.abort_handle() }
    }

    async fn carry(
        &self,
        method: &str,
        outgoing: mpsc::Receiver<Bytes>,
        incoming: &mpsc::Sender<Result<Bytes, Failed>>,
        time: Option<Duration>,
    ) -> Result<(), Failed> {
        match self {
            Self::Inside(door) => {
                let mut reply = door.stream(method, outgoing, time).await?;
                while let Some(message) = reply.next().await? {
                    if incoming.send(Ok(message)).await.is_err() {
                        break;
                    }
                }
            }
            Self::Remote(client) => {
                let outgoing = ReceiverStream::new(outgoing);
                let mut reply = client.stream_bytes(method, outgoing, time).await?;
                while let Some(message) = reply.message().await? {
                    if incoming.send(Ok(message)).await.is_err() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.task.abort();
    }
}
