//! A server that is told to stop, stops within its time, whatever its clients do.

use std::time::Duration;

use clearance_proto as api;
use clearance_proto::stream_session_request::Start as StartOfStream;
use clearance_proto::upload_polytope_request::Part;
use tokio_stream::StreamExt;
use tonic::Request;

use crate::questions::{ball, exhaustive, register};
use crate::row::TURN;
use crate::server::{Client, Server, Start, slowness};

/// What the server is given for draining here, seconds.
const DRAIN: u64 = 2;

/// What it may take beyond that: to notice the signal, to end threads, to give memory back.
const BEYOND: Duration = Duration::from_secs(1);

/// A stream that opens a session and never ends; the first notice that comes over it.
async fn never_ending(client: Client) -> Option<api::Notice> {
    let start = Some(StartOfStream::Open(Box::default()));
    let first = api::StreamSessionRequest { start, ..Default::default() };
    let requests = tokio_stream::iter([first]).chain(tokio_stream::pending());
    let mut replies = client.sessions().stream_session(requests).await.ok()?.into_inner();
    while let Some(Ok(reply)) = replies.next().await {
        if reply.notice() != api::Notice::Unspecified {
            let notice = reply.notice();
            // Whoever was told and stays anyway.
            tokio::spawn(async move {
                let _replies = replies;
                std::future::pending::<()>().await;
            });
            return Some(notice);
        }
    }
    None
}

/// A session that as many watch as may, and take nothing of.
async fn watched(client: Client) {
    let opened = client.sessions().open_session(api::OpenSessionRequest::default()).await;
    let session_id = opened.unwrap().into_inner().session_id;
    for _ in 0..64 {
        let (mut sessions, session_id) = (client.sessions(), session_id.clone());
        tokio::spawn(async move {
            let request = api::WatchSessionRequest { session_id, ..Default::default() };
            let _news = sessions.watch_session(request).await;
            std::future::pending::<()>().await;
        });
    }
}

/// An upload that begins and never goes on.
async fn silent_upload(client: Client) {
    let header = api::UploadHeader { content: 1, ..Default::default() };
    let header = api::UploadPolytopeRequest { part: Some(Part::Header(header)) };
    let silent = tokio_stream::iter([header]).chain(tokio_stream::pending());
    // It never ends well.
    let _ = client.polytopes().upload_polytope(silent).await;
}

/// Sends SIGTERM `signals` times while everything that can keep a server busy does: streams,
/// uploads and searches.
fn stop_while_busy(signals: u32) -> (std::process::ExitStatus, Duration) {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let flags = vec!["--drain-seconds-max".to_owned(), DRAIN.to_string()];
    let mut server = Server::started(&Start { flags, ..Start::default() });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let notices = runtime.block_on(async {
        let client = server.connect().await;
        register(&client, "ball", ball(1_290)).await;
        let streams: Vec<_> = (0..20).map(|_| tokio::spawn(never_ending(client.clone()))).collect();
        for _ in 0..8 {
            tokio::spawn(silent_upload(client.clone()));
        }
        for _ in 0..4 {
            watched(server.connect().await).await;
        }
        let crowd = server.connect().await;
        for _ in 0..400 {
            let mut queries = crowd.queries();
            tokio::spawn(
                async move { queries.check_collision(Request::new(exhaustive("ball"))).await },
            );
        }
        let mut info = client.info();
        let info = info.get_server_info(api::GetServerInfoRequest {}).await.unwrap();
        assert_eq!(info.into_inner().usage.unwrap().polytopes, 1);
        tokio::time::sleep(Duration::from_millis(300)).await;
        for _ in 0..signals {
            server.terminate();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let mut notices = Vec::new();
        if signals == 1 {
            for stream in streams {
                let told = tokio::time::timeout(Duration::from_secs(DRAIN), stream).await;
                notices.push(told.expect("told before the end").unwrap());
            }
        }
        notices
    });
    assert!(notices.iter().all(|notice| *notice == Some(api::Notice::Draining)), "{notices:?}");
    let patience = Duration::from_secs(DRAIN) + BEYOND * slowness();
    let ended = server.ended(patience);
    runtime.shutdown_background();
    ended
}

/// Seventy-five seconds after SIGTERM it still ran.
#[test]
fn a_busy_server_stops_within_its_time_and_tells_its_streams_before() {
    let (status, time) = stop_while_busy(1);
    println!("{:44} ended {time:.2?} after the notices", "SIGTERM, 400 exhaustive");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_second_signal_ends_a_busy_server_at_once() {
    let (status, time) = stop_while_busy(2);
    println!("{:44} ended {time:.2?} later", "SIGTERM twice, 400 exhaustive");
    assert_eq!(status.code(), Some(1));
    assert!(time < Duration::from_secs(1), "{time:?}");
}
