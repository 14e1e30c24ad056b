//! Statuses: which of them a repetition helps, and what they say.

use std::time::Duration;

use prost::Message;
use serde_json::json;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::lost::{answered, question};
use crate::play::{Course, Outcome, Play, ensure};
use crate::script::{Act, At};
use crate::words;

const ASKED: At = At::Call("CheckCollision");

fn details(reason: &str) -> ErrorDetails {
    let told = [("limit", "jobs_max"), ("value", "256"), ("role", "writer")];
    let told = told.map(|(key, value)| (key.to_owned(), value.to_owned()));
    ErrorDetails::with_error_info(reason, "clearance.v1", told)
}

/// A status of the service's, with its reason.
pub(crate) fn refusal(code: Code, reason: &str) -> Status {
    Status::with_error_details(code, "in words", details(reason))
}

/// The same, and when to try again.
fn later(code: Code, reason: &str, milliseconds: u64) -> Status {
    let mut details = details(reason);
    details.set_retry_info(Some(Duration::from_millis(milliseconds)));
    details.add_quota_failure_violation("tenants/a", "frames_per_second");
    Status::with_error_details(code, "in words", details)
}

/// The time between the first two calls, or messages, of those that arrived.
fn pause(
    play: &Play,
    is_it: impl Fn(&crate::script::ArrivedCall) -> bool,
) -> Result<Duration, String> {
    let arrivals = play.script().arrivals();
    let mut times = arrivals.iter().filter(|arrival| is_it(arrival)).map(|arrival| arrival.when);
    match (times.next(), times.next(), times.next()) {
        (Some(first), Some(second), None) => Ok(second - first),
        _ => Err("it has not arrived twice".to_owned()),
    }
}

pub(crate) async fn a_server_that_is_full(play: &mut Play) -> Outcome {
    play.connect().await?;
    play.once(ASKED, Act::Refuse(later(Code::ResourceExhausted, "BUSY", 700)));
    answered(play).await?;
    let paused = pause(play, |call| call.is_call && call.method == "CheckCollision")?;
    ensure!(paused >= Duration::from_millis(700), "it was asked again after {paused:?}");
    Ok(())
}

pub(crate) async fn a_tenant_that_has_more_than_it_may(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(4).await?;
    let quota = later(Code::ResourceExhausted, "QUOTA_EXCEEDED", 700);
    play.once(At::Frame(5), Act::Refuse(quota));
    play.end().await?;
    let paused = pause(play, |message| message.frames.contains(&5))?;
    ensure!(paused >= Duration::from_millis(700), "it was sent again after {paused:?}");
    Ok(())
}

pub(crate) async fn a_limit_that_time_does_not_change(play: &mut Play) -> Outcome {
    play.connect().await?;
    play.once(ASKED, Act::Refuse(refusal(Code::ResourceExhausted, "LIMIT_EXCEEDED")));
    let said = play.refused(question(), ["RESOURCE_EXHAUSTED", "LIMIT_EXCEEDED", ""]).await?;
    let info = &said["error"]["info"];
    ensure!(info["limit"] == "jobs_max" && info["value"] == "256", "the limit is not told: {info}");
    let calls = play.script().calls("CheckCollision");
    ensure!(calls == 1, "it was asked {calls} times");
    Ok(())
}

pub(crate) async fn a_field_that_is_wrong(play: &mut Play) -> Outcome {
    play.connect().await?;
    let mut details = details("BAD_FIELD");
    details.add_bad_request_violation("q.pose.rotation", "it is none");
    let status = Status::with_error_details(Code::InvalidArgument, "in words", details);
    play.once(ASKED, Act::Refuse(status));
    play.refused(question(), ["INVALID_ARGUMENT", "BAD_FIELD", "q.pose.rotation"]).await?;
    let calls = play.script().calls("CheckCollision");
    ensure!(calls == 1, "it was asked {calls} times");
    answered(play).await
}

pub(crate) async fn what_no_repetition_helps(play: &mut Play) -> Outcome {
    play.connect().await?;
    let hopeless = [
        (Code::Internal, "INTERNAL", "BUG"),
        (Code::Aborted, "ABORTED", "SESSION_ATTACHED"),
        (Code::DeadlineExceeded, "DEADLINE_EXCEEDED", "DEADLINE"),
        (Code::PermissionDenied, "PERMISSION_DENIED", "ROLE_TOO_LOW"),
        (Code::Unauthenticated, "UNAUTHENTICATED", "UNAUTHENTICATED"),
        (Code::FailedPrecondition, "FAILED_PRECONDITION", "POLYTOPE_IN_USE"),
        (Code::Unimplemented, "UNIMPLEMENTED", "NOT_IMPLEMENTED"),
    ];
    for (number, (code, name, reason)) in hopeless.into_iter().enumerate() {
        // When to try again helps nothing where the code says that it does not.
        play.once(ASKED, Act::Refuse(later(code, reason, 10)));
        let said = play.refused(question(), [name, reason, ""]).await?;
        ensure!(said["error"]["info"]["role"] == "writer", "what else was said is lost: {said}");
        let calls = play.script().calls("CheckCollision");
        ensure!(calls == number + 1, "{name}: it was asked {} times", calls - number);
    }
    answered(play).await
}

pub(crate) async fn a_server_that_is_never_there(play: &mut Play) -> Outcome {
    let addresses = play.addresses();
    let connect = json!({"do": "connect", "client": "c", "addresses": addresses, "attempts": 3});
    play.done(connect).await?;
    play.done(crate::play::cube("c")).await?;
    answered(play).await?;
    let before = play.script().calls("CheckCollision");
    play.script().always(ASKED, Act::Refuse(refusal(Code::Unavailable, "DRAINING")));
    play.refused(question(), ["UNAVAILABLE", "DRAINING", ""]).await?;
    let calls = play.script().calls("CheckCollision") - before;
    ensure!(calls == 3, "of three attempts there were {calls}");
    Ok(())
}

pub(crate) async fn a_frame_that_is_refused_too_often(play: &mut Play) -> Outcome {
    let addresses = play.addresses();
    let connect = json!({"do": "connect", "client": "c", "addresses": addresses, "attempts": 3});
    play.done(connect).await?;
    play.done(crate::play::cube("c")).await?;
    play.open(Course::carts()).await?;
    play.frames(5).await?;
    play.script().times(3, At::Frame(6), Act::Refuse(refusal(Code::Unavailable, "DRAINING")));
    play.refused(play.next_frame(), ["UNAVAILABLE", "DRAINING", ""]).await?;
    let sent = play.script().frames(6);
    ensure!(sent == 3, "of three attempts there were {sent}");
    // The same frame, once the server takes it.
    play.end().await
}

pub(crate) async fn a_store_that_does_not_answer(play: &mut Play) -> Outcome {
    let status = later(Code::Unavailable, "STORE_UNAVAILABLE", 50);
    play.once(At::Call("RegisterPolytopes"), Act::Refuse(status));
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn a_status_without_details(play: &mut Play) -> Outcome {
    play.connect().await?;
    play.once(ASKED, Act::Refuse(Status::failed_precondition("in words")));
    play.refused(question(), ["FAILED_PRECONDITION", "", ""]).await?;
    answered(play).await
}

pub(crate) async fn details_that_are_none(play: &mut Play) -> Outcome {
    play.connect().await?;
    // No base 64; no message; a message that ends too early; one whose detail has other bytes than
    // its type says.
    for details in ["!!!!", "/////w==", "CAUSZA==", "CAMaFgoNZ29vZ2xlLnJwYy5Gb28SBf////8P"] {
        let before = play.script().calls("CheckCollision");
        play.once(ASKED, Act::Details(3, details));
        let said = play.say(question()).await?;
        // Whoever cannot get over the header may say so in place of the code.
        let code = words::text(&said["error"]["code"]);
        let is_told = ["INVALID_ARGUMENT", "DATA_LOSS"].contains(&code.as_str());
        ensure!(said["ok"] == false && is_told, "{details} was told as {said}");
        let calls = play.script().calls("CheckCollision") - before;
        ensure!(calls == 1, "it was asked {calls} times");
    }
    answered(play).await
}

/// `google.rpc.Status`, whose details may be of any type.
#[derive(Clone, PartialEq, Message)]
struct AnyStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<prost_types::Any>,
}

pub(crate) async fn a_reason_of_a_newer_server(play: &mut Play) -> Outcome {
    play.connect().await?;
    let known = refusal(Code::FailedPrecondition, "WORN_OUT");
    let mut status = AnyStatus::decode(known.details()).map_err(|error| error.to_string())?;
    let type_url = "type.googleapis.com/clearance.v9.Unheard".to_owned();
    status.details.insert(0, prost_types::Any { type_url, value: vec![0xff; 7] });
    let details = status.encode_to_vec();
    let newer = Status::with_details(Code::FailedPrecondition, "in words", details.into());
    play.once(ASKED, Act::Refuse(newer));
    play.refused(question(), ["FAILED_PRECONDITION", "WORN_OUT", ""]).await?;
    let calls = play.script().calls("CheckCollision");
    ensure!(calls == 1, "it was asked {calls} times");
    answered(play).await
}

pub(crate) async fn a_page_in_place_of_an_answer(play: &mut Play) -> Outcome {
    play.connect().await?;
    play.once(ASKED, Act::Page(503));
    answered(play).await?;
    play.open(Course::carts()).await?;
    play.frames(3).await?;
    // A stream goes on, too: its connection is lost, and a balancer answers in the server's place.
    for method in ["GetSession", "StepSession", "StreamSession"] {
        play.script().once(At::Call(method), Act::Page(503));
    }
    play.proxies[0].cut();
    play.rest().await?;
    play.agrees().await
}
