//! Configurations without end: one message after the other, each with its answer.
//!
//! While a message is answered, and while an answer waits for a slow client, nothing is read, and
//! HTTP/2 flow control holds the client back. A client that goes away stops what runs for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::check::{answer, build_cell};
use crate::robot::cell::Cell;
use crate::rpc::api;
use crate::rpc::path::Path;
use crate::rpc::shared::Shared;
use crate::rpc::status::{Failure, of_transport};
use crate::runtime::deadline::StopGuard;

type StreamedAnswer = Result<api::StreamConfigurationsResponse, Status>;

/// Serves one client until it hangs up or sends what is wrong.
pub(super) fn start(
    shared: Shared,
    requests: Streaming<api::StreamConfigurationsRequest>,
) -> ReceiverStream<StreamedAnswer> {
    let room = usize::try_from(shared.limits().waiting_reports_max).unwrap_or(1).max(1);
    let (replies, receiver) = mpsc::channel(room);
    tokio::spawn(async move {
        // When the client goes away, the receiver is dropped: then the talk is dropped, and with it
        // the guard that stops its search.
        tokio::select! {
            ended = talk(&shared, requests, &replies) => {
                if let Err(failure) = ended {
                    let _ = replies.send(Err(failure.into())).await;
                }
            }
            () = replies.closed() => {}
        }
    });
    ReceiverStream::new(receiver)
}

async fn talk(
    shared: &Shared,
    mut requests: Streaming<api::StreamConfigurationsRequest>,
    replies: &mpsc::Sender<StreamedAnswer>,
) -> Result<(), Failure> {
    let mut cell: Option<Arc<Cell>> = None;
    let mut first_index = 0;
    let path = Path::ROOT.field("check");
    while let Some(request) = requests.next().await {
        let request = request.map_err(|status| of_transport(status, shared.limits()))?;
        let check = request.check.ok_or_else(|| path.bad("is required"))?;
        let time = Duration::from_secs(shared.limits().call_seconds_max);
        let guard = StopGuard::after(Some(time));
        if let Some(wire) = &check.cell {
            cell = Some(build_cell(shared, &path.field("cell"), wire, &guard).await?);
        }
        let here = cell.clone().ok_or_else(|| path.field("cell").bad("is required at first"))?;
        let answered = answer(shared, &path, (here, check), &guard).await?;
        let count = u64::from(answered.count);
        let reply = api::StreamConfigurationsResponse { first_index, answer: Some(answered) };
        if replies.send(Ok(reply)).await.is_err() {
            return Ok(());
        }
        first_index += count;
        shared.refuse_while_draining()?;
    }
    Ok(())
}
