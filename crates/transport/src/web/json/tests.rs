//! What is read from JSON is what a generated type writes, and back.

use prost::Message;

use super::super::interface::Interface;
use super::{Metered, read, write};
use clearance_proto as api;
use clearance_runtime::memory::{MemoryBudget, MemoryQuota};
use clearance_runtime::settings::Limits;
use clearance_wire::status::Failure;

fn interface() -> Interface {
    Interface::of(&[api::FILE_DESCRIPTOR_SET, tonic_types::pb::FILE_DESCRIPTOR_SET]).unwrap()
}

fn index(interface: &Interface, name: &str) -> usize {
    let full = if name.contains('.') { name.to_owned() } else { format!("clearance.v1.{name}") };
    interface.message_named(&full).unwrap_or_else(|| panic!("no message {full}"))
}

fn text_of(name: &str, message: &impl Message) -> String {
    let interface = interface();
    let mut out = Metered::new(MemoryQuota::of_nobody());
    write(&interface, index(&interface, name), &message.encode_to_vec(), &mut out).unwrap();
    String::from_utf8(out.finish().0).unwrap()
}

fn message_of<M: Message + Default>(name: &str, text: &str) -> Result<M, Failure> {
    let interface = interface();
    let bytes = read(&interface, index(&interface, name), text.as_bytes())?;
    Ok(M::decode(&bytes[..]).unwrap())
}

fn question() -> api::CheckCollisionRequest {
    let points = |xyz: &[f64]| api::PlacedBody {
        source: Some(api::placed_body::Source::Vertices(api::Points { xyz: xyz.to_vec() })),
        pose: Some(api::Pose {
            translation: Some(api::Vector3 { x: 1.5, y: -0.25, z: 1e-300 }),
            orientation: None,
        }),
    };
    api::CheckCollisionRequest {
        p: Some(points(&[0.1, f64::MAX, f64::MIN_POSITIVE, 5e-324])),
        q: Some(points(&[1.0, 2.0, 3.0])),
        ..Default::default()
    }
}

/// A double that is rounded once is another question.
#[test]
fn numbers_are_the_same_there_and_back() {
    let text = text_of("CheckCollisionRequest", &question());
    let back: api::CheckCollisionRequest = message_of("CheckCollisionRequest", &text).unwrap();
    assert_eq!(back, question());
    let mut bits = 1_u64;
    for _ in 0..2_000 {
        // Every bit of a double is met (xorshift).
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        let x = f64::from_bits(bits);
        if x.is_nan() {
            continue;
        }
        let vector = api::Vector3 { x, y: -x, z: 1.0 };
        let text = text_of("Vector3", &vector);
        let back: api::Vector3 = message_of("Vector3", &text).unwrap();
        assert_eq!(back.x.to_bits(), bits, "{text}");
    }
}

#[test]
fn long_integers_are_texts_and_are_read_as_either() {
    let asked = api::GetSessionRequest {
        session_id: "s".to_owned(),
        incarnation: u64::MAX - 1,
        ..Default::default()
    };
    let text = text_of("GetSessionRequest", &asked);
    assert!(text.contains(r#""incarnation":"18446744073709551614""#), "{text}");
    for text in [
        text.as_str(),
        r#"{"session_id":"s","incarnation":18446744073709551614}"#,
        r#"{"sessionId":"s","incarnation":"18446744073709551614","sessionKey":null}"#,
    ] {
        let back: api::GetSessionRequest = message_of("GetSessionRequest", text).unwrap();
        assert_eq!(back, asked);
    }
    let float: api::GetSessionRequest =
        message_of("GetSessionRequest", r#"{"incarnation":1e3}"#).unwrap();
    assert_eq!(float.incarnation, 1_000);
}

#[test]
fn what_is_wrong_is_told_with_the_path_of_the_field() {
    for (text, field, words) in [
        (r#"{"p":{"vertices":{"xyz":[0,1,"x"]}}}"#, "p.vertices.xyz[2]", "a number"),
        (r#"{"p":{"vertices":{"xyz":[0,1,null]}}}"#, "p.vertices.xyz[2]", "null"),
        (r#"{"p":{"vertices":{"xyz":3}}}"#, "p.vertices.xyz", "a list of a number"),
        (r#"{"p":{"vertices":[]}}"#, "p.vertices", "an object, Points"),
        (r#"{"p":{"vertice":{}}}"#, "p.vertice", "there is no such field; there are"),
        (r#"{"r":{}}"#, "r", "there is no such field"),
        (r#"{"p":{"alias":"a","id":"b"}}"#, "p.", "already"),
        (r#"{"p":{},"p":{}}"#, "p", "given twice"),
        (r#"{"p":{"alias":7}}"#, "p.alias", "a text"),
        (r#"{"p":"x"}"#, "p", "an object, PlacedBody"),
    ] {
        let failure = message_of::<api::CheckCollisionRequest>("CheckCollisionRequest", text);
        let Failure::BadField(bad) = failure.unwrap_err() else { panic!("{text}") };
        assert!(bad.field.starts_with(field), "{text}: {bad}");
        assert!(bad.problem.contains(words), "{text}: {bad}");
    }
    for (text, field) in [
        (r#"{"incarnation":-1}"#, "incarnation"),
        (r#"{"incarnation":18446744073709551616}"#, "incarnation"),
        (r#"{"incarnation":1.5}"#, "incarnation"),
        (r#"{"incarnation":"0x1"}"#, "incarnation"),
        (r#"{"incarnation":true}"#, "incarnation"),
        (r#"{"incarnation":[1]}"#, "incarnation"),
    ] {
        let failure = message_of::<api::GetSessionRequest>("GetSessionRequest", text);
        let Failure::BadField(bad) = failure.unwrap_err() else { panic!("{text}") };
        assert_eq!(bad.field, field, "{text}");
    }
}

#[test]
fn what_is_no_json_is_malformed_and_says_where() {
    let deep = "[".repeat(100_000);
    for text in ["", "{", "[]", "null", "{}x", r#"{"p":{"alias":"a}"#, "{\"p\":\u{7f}}", &deep] {
        let failure = message_of::<api::CheckCollisionRequest>("CheckCollisionRequest", text);
        let Failure::Malformed(why) = failure.unwrap_err() else { panic!("{text:.20}") };
        assert!(why.contains("line 1"), "{text:.20}: {why}");
    }
    let cut = r#"{"p":{"vertices":{"xyz":[0,1"#;
    let failure = message_of::<api::CheckCollisionRequest>("CheckCollisionRequest", cut);
    assert!(failure.unwrap_err().to_string().contains("p.vertices.xyz"));
}

#[test]
fn durations_are_seconds() {
    let with = |seconds, nanos| api::OpenSessionRequest {
        idle_timeout: Some(prost_types::Duration { seconds, nanos }),
        ..Default::default()
    };
    for (text, seconds, nanos) in [
        ("0s", 0, 0),
        ("1.500s", 1, 500_000_000),
        ("0.000001s", 0, 1_000),
        ("0.000000001s", 0, 1),
        ("-2.500s", -2, -500_000_000),
        ("-0.500s", 0, -500_000_000),
    ] {
        let json = format!(r#"{{"idleTimeout":"{text}"}}"#);
        let read: api::OpenSessionRequest = message_of("OpenSessionRequest", &json).unwrap();
        assert_eq!(read, with(seconds, nanos), "{text}");
        assert_eq!(text_of("OpenSessionRequest", &read), json);
    }
    for bad in ["1", "s", "1.5", "1.0000000001s", "+1s", "1 s", "1e3s", "315576000001s", "--1s"] {
        let json = format!(r#"{{"idleTimeout":"{bad}"}}"#);
        let failure = message_of::<api::OpenSessionRequest>("OpenSessionRequest", &json);
        assert!(failure.unwrap_err().to_string().starts_with("idle_timeout: "), "{bad}");
    }
}

#[test]
fn points_in_time_are_dates() {
    let text = |seconds, nanos| {
        let time = prost_types::Timestamp { seconds, nanos };
        text_of("google.protobuf.Timestamp", &time)
    };
    assert_eq!(text(0, 0), "\"1970-01-01T00:00:00Z\"");
    assert_eq!(text(951_782_400, 5_000), "\"2000-02-29T00:00:00.000005Z\"");
    assert_eq!(text(1_709_251_199, 0), "\"2024-02-29T23:59:59Z\"");
    assert_eq!(text(4_107_542_400, 0), "\"2100-03-01T00:00:00Z\"");
    assert_eq!(text(-1, 999_000_000), "\"1969-12-31T23:59:59.999Z\"");
}

#[test]
fn enums_have_names_and_bytes_are_base64() {
    let reply = api::ItemStatus {
        code: 3,
        reason: api::ErrorReason::BadField.into(),
        ..Default::default()
    };
    let text = text_of("ItemStatus", &reply);
    assert!(text.contains(r#""reason":"ERROR_REASON_BAD_FIELD""#), "{text}");
    let back: api::ItemStatus = message_of("ItemStatus", &text).unwrap();
    assert_eq!(back, reply);
    let number: api::ItemStatus =
        message_of("ItemStatus", &format!(r#"{{"code":3,"reason":{}}}"#, reply.reason)).unwrap();
    assert_eq!(number, reply);
    let failure = message_of::<api::ItemStatus>("ItemStatus", r#"{"reason":"ERROR_REASON_BAD"}"#);
    assert!(failure.unwrap_err().to_string().contains("ERROR_REASON_BAD_FIELD"));
    for bytes in [&b""[..], b"a", b"ab", b"\xff\xfe\xfd", &[7; 10_000]] {
        let mesh = api::UploadPolytopeRequest {
            part: Some(api::upload_polytope_request::Part::Chunk(bytes.to_vec().into())),
        };
        let text = text_of("UploadPolytopeRequest", &mesh);
        for text in [&text, &text.replace('=', ""), &text.replace('+', "-").replace('/', "_")] {
            let back: api::UploadPolytopeRequest =
                message_of("UploadPolytopeRequest", text).unwrap();
            assert_eq!(back, mesh);
        }
    }
}

/// Values that stand for numbers which are none.
#[test]
fn numbers_that_are_none_have_names() {
    let vector = api::Vector3 { x: f64::INFINITY, y: f64::NEG_INFINITY, z: f64::NAN };
    let text = text_of("Vector3", &vector);
    assert_eq!(text, r#"{"x":"Infinity","y":"-Infinity","z":"NaN"}"#);
    let back: api::Vector3 = message_of("Vector3", &text).unwrap();
    assert!(back.x == f64::INFINITY && back.y == f64::NEG_INFINITY && back.z.is_nan());
    let text: api::Vector3 = message_of("Vector3", r#"{"x":"-1.5e3","y":7,"z":-0.0}"#).unwrap();
    assert!((text.x + 1500.0).abs() < f64::EPSILON);
    assert!(text.z.is_sign_negative());
    for bad in ["inf", "nan", "", "1_0", "1e999", "infinity", "0x10"] {
        let failure = message_of::<api::Vector3>("Vector3", &format!(r#"{{"x":"{bad}"}}"#));
        assert!(failure.is_err(), "{bad}");
    }
    assert!(message_of::<api::Vector3>("Vector3", r#"{"x":1e999}"#).is_err());
}

/// A text of six times the bytes took memory that nobody had counted.
#[test]
fn a_text_is_written_within_the_account_of_memory() {
    let limits = Limits { memory_bytes_max: 8 << 20, ..Limits::default() };
    let memory_budget = MemoryBudget::new(limits.memory_bytes_max());
    let quota = memory_budget.connection(std::net::IpAddr::from([10, 0, 0, 1]));
    let interface = interface();
    let points = api::Points { xyz: (0..300_000).map(|k| 1.0 / f64::from(k + 3)).collect() };
    let bytes = points.encode_to_vec();
    let index = index(&interface, "Points");
    let mut out = Metered::new(quota.clone());
    assert!(matches!(write(&interface, index, &bytes, &mut out), Err(Failure::Limit(_))));
    drop(out);
    assert_eq!(memory_budget.total(), 0);
    let few = api::Points { xyz: points.xyz[..10_000].to_vec() }.encode_to_vec();
    let mut out = Metered::new(quota);
    write(&interface, index, &few, &mut out).unwrap();
    let (text, memory) = out.finish();
    assert!(memory.is_some_and(|memory| memory.bytes() >= text.len() as u64));
}

/// Requests have no dates, whose texts are not read.
#[test]
fn every_message_of_a_call_is_known_and_no_request_has_a_date() {
    let interface = interface();
    let date = index(&interface, "google.protobuf.Timestamp");
    let mut methods = 0;
    for (path, method) in interface.paths() {
        methods += 1;
        let (mut to_do, mut seen) = (vec![method.asked], std::collections::BTreeSet::new());
        while let Some(index) = to_do.pop() {
            assert_ne!(index, date, "{path}");
            if seen.insert(index) {
                for field in &interface.message(index).fields {
                    if let super::super::interface::FieldKind::Message(inner) = field.kind {
                        to_do.push(inner);
                    }
                }
            }
        }
    }
    assert!(methods > 30, "{methods}");
}
