//! Whose a session is, and which one of its id.

use std::sync::Arc;
use std::time::Duration;

use clearance_proto as api;
use clearance_proto::stream_session_request::Start;
use prost::Message;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use crate::play::{Course, Outcome, Play, ensure, registered, sessions};
use crate::script::{Act, At, Rewrite};
use crate::words;

/// Has the session told under another incarnation, and takes that one for it.
fn renumber(play: &Play, told: u64) {
    let real = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let order = std::sync::atomic::Ordering::SeqCst;
    let kept = real.clone();
    let hide: Rewrite = Arc::new(move |method, bytes| match method {
        "OpenSession" => {
            let mut opened = api::OpenSessionResponse::decode(&bytes[..]).unwrap_or_default();
            kept.store(opened.incarnation, order);
            opened.incarnation = told;
            *bytes = opened.encode_to_vec();
        }
        _ => {
            let mut reply = api::StreamSessionResponse::decode(&bytes[..]).unwrap_or_default();
            if let Some(opened) = &mut reply.opened {
                kept.store(opened.incarnation, order);
                opened.incarnation = told;
            }
            *bytes = reply.encode_to_vec();
        }
    });
    // Whoever says another number than was told means another session.
    let translate = move |said: &mut u64| {
        if *said != 0 {
            *said = if *said == told { real.load(order) } else { 1 };
        }
    };
    let find: Rewrite = Arc::new(move |method, bytes| {
        macro_rules! in_a {
            ($kind:ty) => {{
                let mut request = <$kind>::decode(&bytes[..]).unwrap_or_default();
                translate(&mut request.incarnation);
                *bytes = request.encode_to_vec();
            }};
        }
        match method {
            "StreamSession" => in_a!(api::StreamSessionRequest),
            "StepSession" => in_a!(api::StepSessionRequest),
            "GetSession" => in_a!(api::GetSessionRequest),
            "CloseSession" => in_a!(api::CloseSessionRequest),
            _ => {}
        }
    });
    play.script().always(At::Opened, Act::Rewrite(hide));
    play.script().always(At::AnyRequest, Act::Rewrite(find));
}

async fn numbered(play: &mut Play, incarnation: u64) -> Outcome {
    renumber(play, incarnation);
    play.begin(Course::carts()).await?;
    let said = &play.opened["incarnation"];
    ensure!(words::long(said) == incarnation, "incarnation {incarnation} is told as {said}");
    play.frames(5).await?;
    // What follows names the incarnation, in every language.
    play.proxies[0].cut();
    play.rest().await?;
    play.done(json!({"do": "close", "session": "s"})).await?;
    let (session_id, _) = play.named();
    let request = api::GetSessionRequest { session_id, ..Default::default() };
    let left = sessions(play.proxies[0].channel()).get_session(request).await;
    ensure!(left.is_err(), "the session was not closed");
    Ok(())
}

pub(crate) async fn an_incarnation_beyond_53_bits(play: &mut Play) -> Outcome {
    numbered(play, (1 << 53) + 1).await
}

pub(crate) async fn the_greatest_incarnation(play: &mut Play) -> Outcome {
    numbered(play, u64::MAX).await
}

/// A stream that another client attached: what it sends, and what it is told.
type TakenOver = (mpsc::Sender<api::StreamSessionRequest>, Streaming<api::StreamSessionResponse>);

/// Another client attaches a stream in the place of whoever has one.
async fn taken_over(play: &Play) -> Result<TakenOver, String> {
    let (session_id, session_key) = play.named();
    let (sender, receiver) = mpsc::channel(4);
    let first = api::StreamSessionRequest {
        start: Some(Start::SessionId(session_id)),
        session_key,
        take_over: true,
        ..Default::default()
    };
    sender.send(first).await.map_err(|error| error.to_string())?;
    let mut service = sessions(play.proxies[0].channel());
    let replies = service.stream_session(ReceiverStream::new(receiver)).await;
    let replies = replies.map_err(|status| status.to_string())?.into_inner();
    // Nothing says when it is attached.
    tokio::time::sleep(Duration::from_millis(200)).await;
    Ok((sender, replies))
}

pub(crate) async fn a_session_that_another_takes_over(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(5).await?;
    let other = taken_over(play).await?;
    let said = play.say(play.next_frame()).await?;
    let error = &said["error"];
    let is_told = error["code"] == "ABORTED"
        && (error["reason"] == "TAKEN_OVER" || error["reason"] == "SESSION_ATTACHED");
    ensure!(said["ok"] == false && is_told, "it was taken over, and said {said}");
    play.done(json!({"do": "take_back", "session": "s"})).await?;
    play.end().await?;
    drop(other);
    Ok(())
}

/// Another client has a session of this id, and what it has there.
async fn others(play: &Play, session_id: &str, session_key: &str) -> Outcome {
    let channel = play.proxies[0].channel();
    let shapes = registered(channel.clone()).await?;
    let body = words::body(&shapes, &json!({"id": 99, "shape": "cube", "at": [9, 9, 9]}));
    let request = api::OpenSessionRequest {
        session_id: session_id.to_owned(),
        session_key: session_key.to_owned(),
        state: Some(api::SessionState { bodies: vec![body], ..Default::default() }),
        ..Default::default()
    };
    let opened = sessions(channel).open_session(request).await;
    opened.map(drop).map_err(|status| format!("the other's session: {status}"))
}

/// The other's session is as it was.
async fn is_untouched(play: &Play, session_id: &str, session_key: &str) -> Outcome {
    let request = api::GetSessionRequest {
        session_id: session_id.to_owned(),
        session_key: session_key.to_owned(),
        ..Default::default()
    };
    let found = sessions(play.proxies[0].channel()).get_session(request).await;
    let found = found.map_err(|status| format!("the other's session is gone: {status}"))?;
    let state = words::state(&found.into_inner().state.unwrap_or_default());
    let is_so = state["bodies"] == json!([[99, 9.0, 9.0, 9.0]]) && state["frame_id"] == "0";
    ensure!(is_so, "the other's session was changed: {state}");
    Ok(())
}

pub(crate) async fn another_session_of_the_same_id(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(5).await?;
    let (session_id, session_key) = play.named();
    let request = api::CloseSessionRequest {
        session_id: session_id.clone(),
        session_key,
        ..Default::default()
    };
    let closed = sessions(play.proxies[0].channel()).close_session(request).await;
    closed.map_err(|status| status.to_string())?;
    // Open to everybody, so nothing but the incarnation tells the two apart.
    others(play, &session_id, "").await?;
    play.refused(play.next_frame(), ["FAILED_PRECONDITION", "SESSION_REPLACED", "incarnation"])
        .await?;
    is_untouched(play, &session_id, "").await?;
    play.say(json!({"do": "close", "session": "s"})).await?;
    is_untouched(play, &session_id, "").await
}

pub(crate) async fn an_id_that_is_taken(play: &mut Play) -> Outcome {
    others(play, "own", "").await?;
    play.connect().await?;
    let course = Course::carts().with("session_id", json!("own"));
    let refused = crate::play::opening(&course);
    play.refused(refused, ["ALREADY_EXISTS", "SESSION_EXISTS", "session_id"]).await?;
    is_untouched(play, "own", "").await
}

pub(crate) async fn an_id_that_is_taken_while_the_server_starts_anew(play: &mut Play) -> Outcome {
    let course =
        Course::carts().with("session_id", json!("own")).with("session_key", json!("mine"));
    play.begin(course).await?;
    play.frames(5).await?;
    play.proxies[0].restart().await;
    others(play, "own", "yours").await?;
    let said = play.say(play.next_frame()).await?;
    ensure!(said["ok"] == false, "it went on in the other's session: {said}");
    let reason = &said["error"]["reason"];
    ensure!(reason == "SESSION_EXISTS", "the reason is {reason}");
    is_untouched(play, "own", "yours").await
}

pub(crate) async fn a_key_that_every_call_brings(play: &mut Play) -> Outcome {
    let course =
        Course::carts().with("session_id", json!("own")).with("session_key", json!("mine"));
    play.begin(course).await?;
    play.frames(3).await?;
    play.proxies[0].cut();
    play.frames(3).await?;
    play.proxies[0].restart().await;
    play.frames(3).await?;
    play.proxies[0].cut();
    play.end().await
}
