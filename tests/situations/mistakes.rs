//! Deliberate mistakes: what a wrong client would send, read or tell, in the place of what the Rust
//! client does.
//!
//! A suite that no wrong client fails proves nothing. Each of these has to fail the situations that
//! it names.

use clearance_proto as api;
use clearance_proto::stream_session_request::Start;
use prost::Message;
use serde_json::{Value, json};
use tonic::{Code, Status};
use tonic_types::StatusExt;

/// A client that is wrong in one way.
pub(crate) struct Mistake {
    /// What it does.
    pub(crate) name: &'static str,
    /// Changes what it sends.
    pub(crate) asks: Option<fn(&str, &mut Vec<u8>)>,
    /// Changes what it reads of a status.
    pub(crate) reads: Option<fn(Status) -> Status>,
    /// Changes what it is told to do.
    orders: Option<fn(&mut Value)>,
    /// Changes what it tells of what it was told.
    tells: Option<fn(&Value, &mut Value)>,
    /// The command that it gives itself after this answer, before it does again what was refused.
    again: Option<fn(&Value) -> Option<Value>>,
    /// Situations that it fails.
    pub(crate) caught_by: &'static [&'static str],
}

impl Mistake {
    /// What the client is told to do, as it understands it.
    pub(crate) fn understood(&self, command: &Value) -> Value {
        let mut command = command.clone();
        if let Some(order) = self.orders {
            order(&mut command);
        }
        command
    }

    /// What it does next in place of telling that something was refused.
    pub(crate) fn repeats(&self, said: &Value) -> Option<Value> {
        self.again.filter(|_| said["ok"] == false).and_then(|again| again(said))
    }

    /// What it tells.
    pub(crate) fn retold(&self, command: &Value, mut said: Value) -> Value {
        if let Some(tell) = self.tells {
            tell(command, &mut said);
        }
        said
    }
}

/// One that makes none, to begin with.
const NONE: Mistake = Mistake {
    name: "",
    asks: None,
    reads: None,
    orders: None,
    tells: None,
    again: None,
    caught_by: &[],
};

/// Changes each request that names an incarnation.
fn incarnations(method: &str, bytes: &mut Vec<u8>, change: fn(&mut u64)) {
    macro_rules! in_a {
        ($kind:ty) => {{
            let mut request = <$kind>::decode(&bytes[..]).unwrap_or_default();
            change(&mut request.incarnation);
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
}

/// Changes the opening of a session that was open before, or of each.
fn openings(method: &str, bytes: &mut Vec<u8>, change: fn(&mut api::OpenSessionRequest)) {
    if method != "StreamSession" {
        return;
    }
    let mut request = api::StreamSessionRequest::decode(&bytes[..]).unwrap_or_default();
    if let Some(Start::Open(open)) = &mut request.start {
        change(open);
        *bytes = request.encode_to_vec();
    }
}

/// Changes the state with which a session is opened anew.
fn restated(method: &str, bytes: &mut Vec<u8>, change: fn(&mut api::SessionState)) {
    if method != "StreamSession" {
        return;
    }
    let mut request = api::StreamSessionRequest::decode(&bytes[..]).unwrap_or_default();
    if let Some(Start::Open(open)) = &mut request.start
        && open.replace
        && let Some(state) = &mut open.state
    {
        change(state);
        *bytes = request.encode_to_vec();
    }
}

fn frames(method: &str, bytes: &mut Vec<u8>, change: fn(&mut api::Frame)) {
    if method != "StreamSession" {
        return;
    }
    let mut request = api::StreamSessionRequest::decode(&bytes[..]).unwrap_or_default();
    if let Some(frame) = &mut request.frame {
        change(frame);
        *bytes = request.encode_to_vec();
    }
}

/// What was refused is to be done again, whatever the reason, once.
fn whatever(said: &Value) -> Option<Value> {
    let code = said["error"]["code"].as_str().unwrap_or_default();
    let is_hopeless = matches!(code, "INVALID_ARGUMENT" | "INTERNAL" | "RESOURCE_EXHAUSTED");
    is_hopeless.then(|| json!({"do": "wait", "ms": 1}))
}

fn rounded(incarnation: &mut u64) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the mistake")]
    #[expect(clippy::cast_precision_loss, reason = "the mistake")]
    let wrong = *incarnation as f64 as u64;
    *incarnation = wrong;
}

/// All of them.
pub(crate) static MISTAKES: [Mistake; 22] = [
    Mistake {
        name: "ignores the incarnation",
        asks: Some(|method, bytes| incarnations(method, bytes, |said| *said = 0)),
        caught_by: &["another_session_of_the_same_id"],
        ..NONE
    },
    Mistake {
        name: "rounds the incarnation to a double",
        asks: Some(|method, bytes| incarnations(method, bytes, rounded)),
        caught_by: &["an_incarnation_beyond_53_bits"],
        ..NONE
    },
    Mistake {
        name: "tells the incarnation as a number with a sign",
        tells: Some(|command, said| {
            if command["do"] == "open" && said["ok"] == true {
                let number = crate::words::long(&said["incarnation"]).cast_signed();
                said["incarnation"] = number.to_string().into();
            }
        }),
        caught_by: &["the_greatest_incarnation"],
        ..NONE
    },
    Mistake {
        name: "opens the session anew without its scene",
        asks: Some(|method, bytes| restated(method, bytes, |state| *state = Default::default())),
        caught_by: &["a_server_that_starts_anew", "another_server_that_knows_nothing"],
        ..NONE
    },
    Mistake {
        name: "opens the session anew without the contacts that were announced, so events are \
               doubled",
        asks: Some(|method, bytes| restated(method, bytes, |state| state.contacts.clear())),
        caught_by: &["a_contact_that_lasts_while_the_server_starts_anew"],
        ..NONE
    },
    Mistake {
        name: "opens the session anew without its rules",
        asks: Some(|method, bytes| restated(method, bytes, |state| state.rules = None)),
        caught_by: &["pairs_that_are_not_checked_any_more", "groups_that_are_checked"],
        ..NONE
    },
    Mistake {
        name: "opens the session anew without its release margin",
        asks: Some(|method, bytes| restated(method, bytes, |state| state.release_margin = 0.0)),
        caught_by: &["a_release_margin"],
        ..NONE
    },
    Mistake {
        name: "opens the session anew without the margins of bodies",
        asks: Some(|method, bytes| {
            restated(method, bytes, |state| {
                state.bodies.iter_mut().for_each(|body| body.margin = 0.0);
            });
        }),
        caught_by: &["margins_that_were_changed"],
        ..NONE
    },
    Mistake {
        name: "replaces whatever session has the id",
        asks: Some(|method, bytes| openings(method, bytes, |open| open.replace = true)),
        caught_by: &["an_id_that_is_taken"],
        ..NONE
    },
    Mistake {
        name: "leaves the key of the session behind",
        asks: Some(|method, bytes| {
            if method == "StreamSession" {
                let mut request = api::StreamSessionRequest::decode(&bytes[..]).unwrap_or_default();
                request.session_key.clear();
                *bytes = request.encode_to_vec();
            }
        }),
        caught_by: &["a_key_that_every_call_brings"],
        ..NONE
    },
    Mistake {
        name: "forgets that a body was put where it is",
        asks: Some(|method, bytes| {
            frames(method, bytes, |frame| {
                if frame.keyframe || frame.frame_id >= 4 {
                    frame.poses.iter_mut().for_each(|pose| pose.teleported = false);
                }
            });
        }),
        caught_by: &["a_jump_whose_answer_is_lost"],
        ..NONE
    },
    Mistake {
        name: "tries again what no repetition helps",
        again: Some(whatever),
        caught_by: &[
            "what_no_repetition_helps",
            "a_field_that_is_wrong",
            "a_limit_that_time_does_not_change",
        ],
        ..NONE
    },
    Mistake {
        name: "takes back at once what another has taken over",
        again: Some(|said| {
            let is_lost = said["error"]["code"] == "ABORTED";
            is_lost.then(|| json!({"do": "take_back", "session": "s"}))
        }),
        caught_by: &["a_session_that_another_takes_over"],
        ..NONE
    },
    Mistake {
        name: "tries a dozen times whatever it is told",
        orders: Some(|command| {
            if command["do"] == "connect" {
                command["attempts"] = 12.into();
            }
        }),
        caught_by: &["a_server_that_is_never_there"],
        ..NONE
    },
    Mistake {
        name: "tries nothing again",
        orders: Some(|command| {
            if command["do"] == "connect" {
                command["attempts"] = 1.into();
            }
        }),
        caught_by: &[
            "an_answer_that_was_lost",
            "a_server_that_is_full",
            "a_server_that_is_never_there",
        ],
        ..NONE
    },
    Mistake {
        name: "does not wait for as long as the server says",
        reads: Some(|status| {
            let mut details = status.get_error_details();
            if details.retry_info().is_some() {
                details.set_retry_info(Some(std::time::Duration::ZERO));
            }
            Status::with_error_details(status.code(), status.message(), details)
        }),
        caught_by: &["a_server_that_is_full", "a_tenant_that_has_more_than_it_may"],
        ..NONE
    },
    Mistake {
        name: "does not read the details of a status",
        reads: Some(|status| Status::new(status.code(), status.message())),
        caught_by: &["a_field_that_is_wrong", "a_server_that_is_full", "what_no_repetition_helps"],
        ..NONE
    },
    Mistake {
        name: "takes every refusal of a stream for a lost connection",
        reads: Some(|status| {
            let is_full = status.code() == Code::ResourceExhausted;
            if is_full { Status::unavailable("lost") } else { status }
        }),
        caught_by: &["a_tenant_that_has_more_than_it_may", "a_limit_that_time_does_not_change"],
        ..NONE
    },
    Mistake {
        name: "drops the contacts of the opening",
        tells: Some(|command, said| {
            if command["do"] == "open" && said["ok"] == true {
                said["events"] = json!([]);
            }
        }),
        caught_by: &["contacts_from_the_beginning"],
        ..NONE
    },
    Mistake {
        name: "says nothing of items that were refused, or left out",
        tells: Some(|_, said| {
            if said.get("refused").is_some() {
                said["refused"] = json!([]);
                said["cut"] = false.into();
                said["omitted"] = json!([0, 0, 0]);
            }
        }),
        caught_by: &["items_that_are_refused", "a_report_that_is_cut"],
        ..NONE
    },
    Mistake {
        name: "takes an id of 0 for none",
        tells: Some(|_, said| {
            if let Some(events) = said.get_mut("events").and_then(Value::as_array_mut) {
                events.retain(|event| event[1] != 0 && event[2] != 0);
            }
        }),
        caught_by: &["ids_at_both_ends"],
        ..NONE
    },
    Mistake {
        name: "takes an event that it does not know for a beginning",
        tells: Some(|_, said| {
            let events = said.get_mut("events").and_then(Value::as_array_mut);
            for event in events.into_iter().flatten() {
                if event[0] == "9" {
                    event[0] = "began".into();
                }
            }
        }),
        caught_by: &["events_of_a_newer_server"],
        ..NONE
    },
];
