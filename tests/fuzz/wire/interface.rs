//! The interface by its descriptor: where the fields of a message are, and which of them a reply
//! refuses.

use std::collections::BTreeMap;

use clearance_proto as api;
use prost::Message;
use prost::encoding::decode_varint;
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};
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

    /// The fields of a message in their order, as they are on the wire.
    pub(super) fn fields<'a>(&'a self, kind: &str, message: &'a [u8]) -> Vec<WireField<'a>> {
        let Some(known) = self.messages.get(kind) else { return Vec::new() };
        let (mut rest, mut fields) = (message, Vec::new());
        while !rest.is_empty() {
            let tag = decode_varint(&mut rest).expect("a message");
            let about = known.field.iter().find(|field| field.number() as u64 == tag >> 3);
            let about = about.expect("a field of the interface");
            let mut after = rest;
            let length = match tag & 7 {
                0 => {
                    decode_varint(&mut after).expect("a number");
                    rest.len() - after.len()
                }
                1 => 8,
                2 => {
                    let length = decode_varint(&mut rest).expect("a length");
                    usize::try_from(length).expect("a length")
                }
                _ => 4,
            };
            let (content, after) = rest.split_at(length);
            fields.push(WireField { about, at: message.len() - rest.len(), content });
            rest = after;
        }
        fields
    }

    /// Where the f64 numbers of a message are, each with the name of its field.
    pub(super) fn numbers(
        &self,
        kind: &str,
        message: &[u8],
        from: usize,
        into: &mut Vec<(usize, String)>,
    ) {
        for WireField { about, at, content } in self.fields(kind, message) {
            if about.r#type() == Type::Double {
                let place = |k: usize| (from + at + k, about.name().to_owned());
                into.extend((0..content.len()).step_by(8).map(place));
            } else if about.r#type() == Type::Message {
                self.numbers(about.type_name(), content, from + at, into);
            }
        }
    }
}

/// A field of a message.
pub(super) struct WireField<'a> {
    pub(super) about: &'a FieldDescriptorProto,
    /// Where its content begins in the message: after its tag, and its length if it has one.
    pub(super) at: usize,
    pub(super) content: &'a [u8],
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
