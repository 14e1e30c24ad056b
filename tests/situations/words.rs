//! What is said to drivers and by them, as lines of JSON, and as messages of the interface.

use std::collections::BTreeMap;

use clearance_proto as api;
use serde_json::{Value, json};
use tonic::{Code, Status};
use tonic_types::StatusExt;

/// Names of shapes, with the ids under which they are registered.
pub(crate) type Shapes = BTreeMap<String, String>;

/// The numbers of a list.
pub(crate) fn floats(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

/// A list of a command; nothing if it is missing.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A number of 32 bits.
pub(crate) fn id(value: &Value) -> u32 {
    value.as_u64().and_then(|id| u32::try_from(id).ok()).unwrap_or_default()
}

/// A number of 64 bits, which is a text.
pub(crate) fn long(value: &Value) -> u64 {
    value.as_str().and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// A text; empty if it is missing.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn pose(at: &[f64]) -> api::Pose {
    let [x, y, z] = [0, 1, 2].map(|axis| at.get(axis).copied().unwrap_or_default());
    api::Pose { translation: Some(api::Vector3 { x, y, z }), orientation: None }
}

fn pair(value: &Value) -> api::BodyPair {
    api::BodyPair { a: Some(id(&value[0])), b: Some(id(&value[1])) }
}

/// The specification of a shape.
pub(crate) fn spec(command: &Value) -> api::PolytopeSpec {
    let xyz = list(command, "points").iter().flat_map(floats).collect();
    let source = api::polytope_spec::Source::Vertices(api::Points { xyz });
    api::PolytopeSpec { source: Some(source), ..Default::default() }
}

/// A placed body of a question.
pub(crate) fn placed(shapes: &Shapes, value: &Value) -> api::PlacedBody {
    let id = shapes.get(value["shape"].as_str().unwrap_or_default()).cloned().unwrap_or_default();
    api::PlacedBody {
        source: Some(api::placed_body::Source::Id(id)),
        pose: value.get("at").map(|at| pose(&floats(at))),
    }
}

/// A body of a scene.
pub(crate) fn body(shapes: &Shapes, value: &Value) -> api::Body {
    let part = json!({"shape": value["shape"]});
    api::Body {
        id: Some(id(&value["id"])),
        name: text(&value["name"]),
        parts: vec![placed(shapes, &part)],
        pose: Some(pose(&floats(&value["at"]))),
        groups: list(value, "groups").iter().map(text).collect(),
        fixed: value["fixed"].as_bool().unwrap_or_default(),
        margin: value["margin"].as_f64().unwrap_or_default(),
        ..Default::default()
    }
}

/// The request that an `open` stands for.
pub(crate) fn opening(shapes: &Shapes, command: &Value) -> api::OpenSessionRequest {
    let contact = |value: &Value| api::AnnouncedContact {
        pair: Some(pair(value)),
        began_frame_id: long(&value[2]),
    };
    let groups = |value: &Value| api::GroupPair { a: text(&value[0]), b: text(&value[1]) };
    let rules = api::PairRules {
        ignored_pairs: list(command, "ignored").iter().map(pair).collect(),
        checked_groups: list(command, "checked_groups").iter().map(groups).collect(),
        ..Default::default()
    };
    let state = api::SessionState {
        bodies: list(command, "bodies").iter().map(|value| body(shapes, value)).collect(),
        rules: Some(rules),
        frame_id: long(&command["frame_id"]),
        contacts: list(command, "contacts").iter().map(contact).collect(),
        release_margin: command["release_margin"].as_f64().unwrap_or_default(),
        ..Default::default()
    };
    let pairs = match command["pairs"].as_str() {
        Some("none") => api::PairSelection::None,
        Some("near") => api::PairSelection::Near,
        Some("all") => api::PairSelection::All,
        _ => api::PairSelection::Changed,
    };
    let report = api::ReportOptions {
        pairs: pairs.into(),
        distances: command["distances"].as_bool().unwrap_or_default(),
        first_contacts: command["first_contacts"].as_bool().unwrap_or_default(),
        reply_bytes_max: command["report_bytes"].as_u64().unwrap_or_default(),
        ..Default::default()
    };
    let seconds = command["idle_seconds"].as_i64();
    api::OpenSessionRequest {
        session_id: text(&command["session_id"]),
        session_key: text(&command["session_key"]),
        replace: command["replace"].as_bool().unwrap_or_default(),
        state: Some(state),
        report: Some(report),
        idle_timeout: seconds.map(|seconds| prost_types::Duration { seconds, nanos: 0 }),
        ..Default::default()
    }
}

/// The frame that a `frame` stands for, without its number.
pub(crate) fn frame(shapes: &Shapes, command: &Value) -> api::Frame {
    let jumped: Vec<u32> = list(command, "teleported").iter().map(id).collect();
    let moved = |value: &Value| {
        let numbers = floats(value);
        api::BodyPose {
            id: Some(id(&value[0])),
            pose: Some(pose(numbers.get(1..).unwrap_or_default())),
            teleported: jumped.contains(&id(&value[0])),
            ..Default::default()
        }
    };
    let margin = |value: &Value| api::BodyChange {
        id: Some(id(&value[0])),
        margin: value[1].as_f64(),
        ..Default::default()
    };
    let ignored: Vec<api::BodyPair> = list(command, "ignored").iter().map(pair).collect();
    let changes = api::RuleChanges { added_ignored_pairs: ignored.clone(), ..Default::default() };
    api::Frame {
        poses: list(command, "poses").iter().map(moved).collect(),
        added_bodies: list(command, "added").iter().map(|value| body(shapes, value)).collect(),
        removed_body_ids: list(command, "removed").iter().map(id).collect(),
        changed_bodies: list(command, "margins").iter().map(margin).collect(),
        rule_changes: (!ignored.is_empty()).then_some(changes.into()),
        ..Default::default()
    }
}

fn verdict(number: i32) -> Value {
    match api::Verdict::try_from(number) {
        Ok(known) => known.as_str_name().trim_start_matches("VERDICT_").to_lowercase().into(),
        Err(_) => number.to_string().into(),
    }
}

/// Events, in the order told.
pub(crate) fn events(events: &[api::ContactEvent]) -> Value {
    let kind = |number: i32| match api::ContactEventKind::try_from(number) {
        Ok(api::ContactEventKind::Began) => "began".to_owned(),
        Ok(api::ContactEventKind::Ended) => "ended".to_owned(),
        Ok(api::ContactEventKind::Undecided) => "undecided".to_owned(),
        Ok(api::ContactEventKind::Unspecified) | Err(_) => number.to_string(),
    };
    events.iter().map(|event| json!([kind(event.kind), event.a, event.b])).collect()
}

/// What a report says.
pub(crate) fn report(report: &api::FrameReport) -> Value {
    let pair = |pair: &api::PairReport| json!([pair.a, pair.b, verdict(pair.verdict)]);
    let counts = report.counts.unwrap_or_default();
    json!({
        "ok": true,
        "frame_id": report.frame_id.to_string(),
        "events": events(&report.events),
        "pairs": report.pairs.iter().map(pair).collect::<Value>(),
        "counts": [counts.separated, counts.touching, counts.overlapping, counts.undecided],
        "refused": report.refused_items.iter().map(item).collect::<Value>(),
        "cut": report.cut,
        "omitted": [report.omitted_pairs, report.omitted_events, report.omitted_items],
    })
}

fn item(status: &api::ItemStatus) -> Value {
    let reason = status.reason().as_str_name().trim_start_matches("ERROR_REASON_");
    json!({"code": code_name(status.code.into()), "reason": reason, "field": status.field})
}

/// The refusal of a whole frame.
pub(crate) fn refusal(status: &api::ItemStatus) -> Value {
    let mut error = item(status);
    error["info"] = json!({});
    json!({"ok": false, "error": error})
}

/// A call that failed.
pub(crate) fn failure(status: &Status) -> Value {
    let details = status.get_error_details();
    let info = details.error_info();
    let field =
        details.bad_request().and_then(|bad| Some(bad.field_violations.first()?.field.clone()));
    json!({"ok": false, "error": {
        "code": code_name(status.code()),
        "reason": info.map(|info| info.reason.clone()).unwrap_or_default(),
        "field": field.unwrap_or_default(),
        "info": info.map(|info| json!(info.metadata)).unwrap_or_else(|| json!({})),
    }})
}

/// What has no code of gRPC.
pub(crate) fn other_failure(code: &str, words: &str) -> Value {
    let none = json!({});
    json!({"ok": false,
        "error": {"code": code, "reason": "", "field": "", "info": none, "words": words}})
}

/// Whatever a client that is written in Rust fails with.
pub(crate) fn failed(error: &clearance_client::Error) -> Value {
    use clearance_client::Error;
    match error {
        Error::Status(status) => failure(status),
        Error::Connection(_) => other_failure("UNAVAILABLE", &error.to_string()),
        Error::TakenOver => {
            let said = json!({"code": "ABORTED", "reason": "TAKEN_OVER", "field": "", "info": {}});
            json!({"ok": false, "error": said})
        }
        Error::Address(_) | Error::Protocol(_) | Error::NotProven(_) => {
            other_failure("CLIENT", &error.to_string())
        }
    }
}

/// What is declared.
pub(crate) fn state(state: &api::SessionState) -> Value {
    let mut bodies: Vec<Value> = Vec::new();
    for body in &state.bodies {
        let at = body.pose.as_ref().and_then(|pose| pose.translation).unwrap_or_default();
        bodies.push(json!([body.id(), at.x, at.y, at.z]));
    }
    bodies.sort_by_key(|body| body[0].as_u64());
    let mut contacts: Vec<(u32, u32, String)> = Vec::new();
    for contact in &state.contacts {
        let pair = contact.pair.unwrap_or_default();
        contacts.push((pair.a(), pair.b(), contact.began_frame_id.to_string()));
    }
    contacts.sort();
    json!({
        "ok": true,
        "frame_id": state.frame_id.to_string(),
        "bodies": bodies,
        "contacts": contacts,
    })
}

/// A code as gRPC names it.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
