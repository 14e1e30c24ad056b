//! The interface by its descriptor: where the fields of a message are, and which of them a reply
//! refuses.

use std::collections::BTreeMap;

use clearance_proto as api;
use prost::Message;
use prost::encoding::decode_varint;
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FileDescriptorSet};
use tonic::Code;
use tonic_types::StatusExt;

use super::{Call, Client, METHODS, Reader, Shape, client, timed};
use crate::wire::raw::Raw;

/// The messages of the interface by their names, and what each method takes.
pub(super) struct Interface {
    pub(super) messages: BTreeMap<String, DescriptorProto>,
    pub(super) requests: BTreeMap<String, String>,
}

impl Interface {
    pub(super) fn new() -> Self {
        let files = FileDescriptorSet::decode(api::FILE_DESCRIPTOR_SET).expect("ours").file;
        let (mut messages, mut requests) = (BTreeMap::new(), BTreeMap::new());
        for file in files {
            let package = file.package().to_owned();
            for service in &file.service {
                for method in &service.method {
                    let path = format!("{}/{}", service.name(), method.name());
                    requests.insert(path, method.input_type().to_owned());
                }
            }
            for message in file.message_type {
                messages.insert(format!(".{package}.{}", message.name()), message);
            }
        }
        Self { messages, requests }
    }

    /// Where the f64 numbers of a message are, each with the name of its field.
    pub(super) fn numbers(
        &self,
        kind: &str,
        message: &[u8],
        from: usize,
        into: &mut Vec<(usize, String)>,
    ) {
        let Some(known) = self.messages.get(kind) else { return };
        let mut rest = message;
        while !rest.is_empty() {
            let tag = decode_varint(&mut rest).expect("a message");
            let at = |rest: &[u8]| from + message.len() - rest.len();
            let field = known.field.iter().find(|field| field.number() as u64 == tag >> 3);
            let field = field.expect("a field of the interface");
            let is_double = field.r#type() == Type::Double;
            match tag & 7 {
                0 => drop(decode_varint(&mut rest)),
                1 => {
                    if is_double {
                        into.push((at(rest), field.name().to_owned()));
                    }
                    rest = &rest[8..];
                }
                2 => {
                    let length = decode_varint(&mut rest).expect("a length") as usize;
                    let (inner, after) = rest.split_at(length);
                    if is_double {
                        let place = |k: usize| (at(rest) + k, field.name().to_owned());
                        into.extend((0..length).step_by(8).map(place));
                    } else if field.r#type() == Type::Message {
                        self.numbers(field.type_name(), inner, at(rest), into);
                    }
                    rest = after;
                }
                _ => rest = &rest[4..],
            }
        }
    }
}

/// What an answer says that is to be verified is judged, not refused.
pub(super) const JUDGED: &str = "judged";

/// The paths of the fields that were refused, of a call and of its items.
async fn refused(client: &mut Client, run: &[Call]) -> Vec<String> {
    let (name, shape, reader) = METHODS[usize::from(run[0].0)];
    let path = format!("/clearance.v1.{name}").parse().expect("a path");
    client.ready().await.expect("always ready");
    let messages: Vec<Vec<u8>> = run.iter().map(|(_, message)| message.clone()).collect();
    let (mut items, mut is_judged) = (Vec::new(), false);
    let ended = if shape == Shape::Unary {
        client.unary(timed(messages[0].clone()), path, Raw).await.map(|reply| {
            let reply = reply.into_inner();
            items.extend(reader(&reply).1);
            if name.ends_with("VerifyCertificate") {
                let reply = api::VerifyCertificateResponse::decode(&reply[..]);
                is_judged = !reply.expect("our own reply").valid;
            }
        })
    } else if shape == Shape::Upload {
        let messages = timed(tokio_stream::iter(messages));
        client.client_streaming(messages, path, Raw).await.map(drop)
    } else {
        streamed(client, messages, (path, reader), &mut items).await
    };
    let mut fields: Vec<String> = items.into_iter().map(|item| item.field).collect();
    if is_judged {
        fields.push(JUDGED.to_owned());
    }
    if let Err(status) = ended {
        assert_eq!(status.code(), Code::InvalidArgument, "{name}: {status:?}");
        let details = status.get_error_details();
        let violations = details.bad_request().map(|bad| bad.field_violations.clone());
        fields.extend(violations.into_iter().flatten().map(|violation| violation.field));
    }
    fields
}

async fn streamed(
    client: &mut Client,
    messages: Vec<Vec<u8>>,
    (path, reader): (http::uri::PathAndQuery, Reader),
    items: &mut Vec<api::ItemStatus>,
) -> Result<(), tonic::Status> {
    let messages = timed(tokio_stream::iter(messages));
    let mut replies = client.streaming(messages, path, Raw).await?.into_inner();
    while let Some(reply) = replies.message().await? {
        items.extend(reader(&reply).1);
    }
    Ok(())
}

/// What is refused of a script of which one message was changed, or the stream that it is in.
pub(super) async fn refused_of(calls: &[Call], changed: usize) -> Vec<String> {
    let mut client = client();
    let together = |a: &Call, b: &Call| a.0 == b.0 && METHODS[usize::from(a.0)].1 != Shape::Unary;
    let mut begun = 0;
    for run in calls.chunk_by(together) {
        let fields = if (begun..begun + run.len()).contains(&changed) {
            return refused(&mut client, run).await;
        } else {
            refused(&mut client, run).await
        };
        assert!(fields.is_empty(), "before the change: {fields:?}");
        begun += run.len();
    }
    unreachable!("the changed message is one of them")
}
