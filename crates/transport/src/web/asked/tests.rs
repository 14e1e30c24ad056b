//! Requests in every form are the same bytes of gRPC, however they are cut.

use std::sync::Arc;

use http_body_util::{BodyExt, StreamBody};
use prost::Message;

use super::*;
use clearance_proto as api;
use clearance_runtime::memory::MemoryBudget;

const MESSAGE: &str = "clearance.v1.GetSessionRequest";

fn rules(memory_budget: &MemoryBudget, limits: Limits) -> AskedRules {
    let interface = Arc::new(Interface::of(&[api::FILE_DESCRIPTOR_SET]).unwrap());
    let quota = memory_budget.connection(std::net::IpAddr::from([10, 0, 0, 1]));
    AskedRules { interface, limits, quota }
}

fn in_pieces(bytes: &[u8], size: usize) -> impl Body<Data = Bytes, Error = Status> + Unpin + use<> {
    let pieces: Vec<_> = bytes
        .chunks(size)
        .map(|piece| Ok::<_, Status>(Frame::data(Bytes::copy_from_slice(piece))))
        .collect();
    StreamBody::new(tokio_stream::iter(pieces))
}

async fn asked(form: AskedForm, bytes: &[u8], size: usize) -> Result<Vec<u8>, Status> {
    let limits = Limits { memory_bytes_max: 64 << 20, ..Limits::default() };
    let rules = rules(&MemoryBudget::new(limits.memory_bytes_max()), limits);
    let body = WebRequestBody::new(in_pieces(bytes, size), form, rules);
    body.collect().await.map(|all| all.to_bytes().to_vec())
}

fn message() -> (Vec<u8>, Vec<u8>) {
    let asked = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let plain = asked.encode_to_vec();
    let prefixed = prefixed(&plain).unwrap().to_vec();
    (plain, prefixed)
}

#[tokio::test]
async fn a_request_in_every_form_is_the_same_bytes() {
    let interface = Interface::of(&[api::FILE_DESCRIPTOR_SET]).unwrap();
    let index = interface.message_named(MESSAGE).unwrap();
    let (plain, expected) = message();
    let json = br#"{"sessionId":"s"}"#.to_vec();
    let prefixed_json = prefixed(&json).unwrap().to_vec();
    let twice = [STANDARD.encode(&expected[..4]), STANDARD.encode(&expected[4..])].concat();
    for (form, bytes) in [
        (AskedForm::Prefixed, expected.clone()),
        (AskedForm::PrefixedText, STANDARD.encode(&expected).into_bytes()),
        (AskedForm::PrefixedText, twice.into_bytes()),
        (AskedForm::Whole, plain),
        (AskedForm::Json(index), json),
        (AskedForm::PrefixedJson(index), prefixed_json),
    ] {
        for size in 1..=bytes.len() {
            let found = asked(form, &bytes, size).await.unwrap();
            assert_eq!(found, expected, "{form:?} by {size}");
        }
    }
}

#[tokio::test]
async fn what_is_no_message_in_its_form_is_refused() {
    let interface = Interface::of(&[api::FILE_DESCRIPTOR_SET]).unwrap();
    let index = interface.message_named(MESSAGE).unwrap();
    for (form, bytes) in [
        (AskedForm::PrefixedText, &b"AAAA!AAA"[..]),
        (AskedForm::PrefixedText, b"AAAAA"),
        (AskedForm::Json(index), b"{"),
        (AskedForm::Json(index), b""),
        (AskedForm::PrefixedJson(index), b"{}"),
        (AskedForm::PrefixedJson(index), b"\x01\0\0\0\x02{}"),
        (AskedForm::PrefixedJson(index), b"\0\0\0\0\x03{}"),
        (AskedForm::PrefixedJson(index), b"\0\0\0\0\x02{}\0\0\0\0\x02{}"),
    ] {
        let status = asked(form, bytes, 3).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::InvalidArgument, "{form:?} {bytes:?}");
    }
}

/// A body without a length could be as long as its client liked.
#[tokio::test]
async fn a_body_that_is_too_long_ends_and_gives_its_memory_back() {
    let limits =
        Limits { memory_bytes_max: 64 << 20, message_bytes_max: 1 << 20, ..Limits::default() };
    let memory_budget = MemoryBudget::new(limits.memory_bytes_max());
    for form in [AskedForm::Whole, AskedForm::Json(0)] {
        let long = vec![b' '; (1 << 20) + 64];
        let body = WebRequestBody::new(
            in_pieces(&long, 4_096),
            form,
            rules(&memory_budget, limits.clone()),
        );
        let status = body.collect().await.map(drop).unwrap_err();
        assert_eq!(status.code(), tonic::Code::OutOfRange, "{form:?}");
        assert_eq!(memory_budget.total(), 0, "{form:?}");
    }
}
