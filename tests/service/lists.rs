//! Every list of every message: sent twice as long, it takes about twice as long.
//!
//! The messages are made from the descriptor, so a new list is a new row by itself. Most of what is
//! sent means nothing and is refused, but not before it was looked through; what it is compared
//! with in a scene is in `crates/scene/src/tests/doubling.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use clearance_proto as api;
use http::Request;
use http_body::Frame;
use prost::Message;
use prost::bytes::Bytes;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};
use tonic::Status;
use tonic::body::Body;
use tower::{Service, ServiceExt};

use crate::server::Server;
use crate::sessions::started;

/// Entries of a list; then twice as many. Both are more than run where others wait.
const MANY: usize = 9_000;

/// The body of a request.
struct Sent(Option<Bytes>);

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// How long the answer to these bytes takes, whatever it is.
async fn time(server: &Server, method: &str, message: &[u8]) -> Duration {
    let mut bytes = vec![0];
    bytes.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    bytes.extend(message);
    let request = Request::post(format!("http://localhost{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("grpc-timeout", "20S")
        .body(Body::new(Sent(Some(bytes.into()))));
    let mut channel = server.channel.clone();
    let ready = channel.ready().await.unwrap();
    let begun = Instant::now();
    drop(ready.call(request.unwrap()).await.unwrap());
    begun.elapsed()
}

/// The messages of the interface by their names.
type Messages = BTreeMap<String, DescriptorProto>;

/// A list: the fields that lead to it from a request, each with the message that it is in.
#[derive(Clone)]
struct List {
    way: Vec<(String, FieldDescriptorProto)>,
}

/// Every list that a message can have, each field once, by the shortest way.
fn lists(messages: &Messages, root: &str) -> Vec<List> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    let mut open = VecDeque::from([(root.to_owned(), Vec::new())]);
    while let Some((name, way)) = open.pop_front() {
        let Some(message) = messages.get(&name).filter(|_| seen.insert(name.clone())) else {
            continue;
        };
        for field in &message.field {
            let mut way = way.clone();
            way.push((name.clone(), field.clone()));
            if field.label() == Label::Repeated {
                found.push(List { way: way.clone() });
            }
            if field.r#type() == Type::Message {
                open.push_back((field.type_name().to_owned(), way));
            }
        }
    }
    found
}

fn varint(mut value: u64, into: &mut Vec<u8>) {
    while value >= 0x80 {
        into.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// A field of bytes: a text, a message, or packed numbers.
fn put(field: &FieldDescriptorProto, content: &[u8], into: &mut Vec<u8>) {
    varint((field.number() as u64) << 3 | 2, into);
    varint(content.len() as u64, into);
    into.extend(content);
}

/// What a message needs so that what follows is looked at.
fn seed(message: &str, serial: u64) -> Vec<u8> {
    match message.rsplit('.').next().unwrap() {
        "Frame" => {
            api::Frame { frame_id: serial, keyframe: true, ..Default::default() }.encode_to_vec()
        }
        "QuerySceneRequest" => {
            api::QuerySceneRequest { session_id: "s".to_owned(), ..Default::default() }
                .encode_to_vec()
        }
        "StepSessionRequest" => {
            api::StepSessionRequest { session_id: "s".to_owned(), ..Default::default() }
                .encode_to_vec()
        }
        _ => Vec::new(),
    }
}

/// A request with so many entries in one list, and as little as may be beside.
fn request(list: &List, count: usize, serial: u64) -> Vec<u8> {
    let ((name, field), outer) = list.way.split_last().unwrap();
    let mut message = seed(name, serial);
    match field.r#type() {
        Type::String | Type::Bytes => {
            (0..count).for_each(|k| put(field, format!("n{k}").as_bytes(), &mut message));
        }
        Type::Message => (0..count).for_each(|_| put(field, &[], &mut message)),
        Type::Double | Type::Fixed64 => put(field, &vec![0; 8 * count], &mut message),
        Type::Float | Type::Fixed32 => put(field, &vec![0; 4 * count], &mut message),
        _ => put(field, &vec![0; count], &mut message),
    }
    for (name, field) in outer.iter().rev() {
        let inner = std::mem::replace(&mut message, seed(name, serial));
        put(field, &inner, &mut message);
    }
    message
}

/// Whether the longest list took far more than twice the time of that of half its length.
///
/// Times of some milliseconds tell nothing.
fn grows(least: &[Duration; 3]) -> bool {
    least[2] >= 3 * least[1].max(Duration::from_millis(6))
}

#[tokio::test]
async fn every_list_of_every_request_takes_about_twice_as_long_when_it_is_twice_as_long() {
    let server = started().await;
    let open = api::OpenSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    server.sessions().open_session(open).await.unwrap();
    let files = FileDescriptorSet::decode(api::FILE_DESCRIPTOR_SET).unwrap();
    let own = |name: &str| name.starts_with("clearance.");
    let files: Vec<_> = files.file.iter().filter(|file| own(file.package())).collect();
    let named = |file: &&prost_types::FileDescriptorProto| {
        let package = file.package().to_owned();
        let of_file = file.message_type.clone().into_iter();
        of_file.map(move |message| (format!(".{package}.{}", message.name()), message))
    };
    let messages: Messages = files.iter().flat_map(named).collect();
    let (mut serial, mut looked_at, mut offences) = (1, 0, Vec::new());
    let mut next = || {
        serial += 1;
        serial
    };
    for file in &files {
        for (service, method) in
            file.service.iter().flat_map(|one| one.method.iter().map(move |method| (one, method)))
        {
            let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
            for list in lists(&messages, method.input_type()) {
                let timed = async |which: usize, serial: u64| {
                    time(&server, &path, &request(&list, (MANY / 2) << which, serial)).await
                };
                let mut least = [Duration::MAX; 3];
                for round in 0..8 {
                    let which = 1 + round % 2;
                    least[which] = least[which].min(timed(which, next()).await);
                }
                // A list that outgrows a window or a buffer costs one step more, and others run
                // beside: what looks too long is measured again, and at half of the length.
                for _ in 0..if grows(&least) { 12 } else { 0 } {
                    for (which, least) in least.iter_mut().enumerate() {
                        *least = (*least).min(timed(which, next()).await);
                    }
                }
                looked_at += 1;
                if grows(&least) && least[1].as_secs_f64() >= 2.5 * least[0].as_secs_f64() {
                    let (message, field) = list.way.last().unwrap();
                    offences.push(format!("{path}: {message}.{}: {least:?}", field.name()));
                }
            }
        }
    }
    assert!(looked_at > 200, "{looked_at} lists are few");
    assert!(offences.is_empty(), "{offences:#?}");
}
