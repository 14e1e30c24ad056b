//! A status as Connect tells it: an object with the code, the words and the details
//! (<https://connectrpc.com/docs/protocol#error-codes>).

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http::StatusCode;
use prost::Message;
use tonic::{Code, Status};

use super::interface::Interface;
use super::json::{Metered, write, write_text};
use clearance_runtime::memory::MemoryQuota;

/// The code in Connect's words, and the status of HTTP that goes with it.
pub(super) fn code(code: Code) -> (&'static str, StatusCode) {
    // A client that has gone; no status of HTTP is about that, so proxies have made one.
    let gone = StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST);
    match code {
        Code::Ok => ("ok", StatusCode::OK),
        Code::Cancelled => ("canceled", gone),
        Code::Unknown => ("unknown", StatusCode::INTERNAL_SERVER_ERROR),
        Code::InvalidArgument => ("invalid_argument", StatusCode::BAD_REQUEST),
        Code::DeadlineExceeded => ("deadline_exceeded", StatusCode::GATEWAY_TIMEOUT),
        Code::NotFound => ("not_found", StatusCode::NOT_FOUND),
        Code::AlreadyExists => ("already_exists", StatusCode::CONFLICT),
        Code::PermissionDenied => ("permission_denied", StatusCode::FORBIDDEN),
        Code::ResourceExhausted => ("resource_exhausted", StatusCode::TOO_MANY_REQUESTS),
        Code::FailedPrecondition => ("failed_precondition", StatusCode::BAD_REQUEST),
        Code::Aborted => ("aborted", StatusCode::CONFLICT),
        Code::OutOfRange => ("out_of_range", StatusCode::BAD_REQUEST),
        Code::Unimplemented => ("unimplemented", StatusCode::NOT_IMPLEMENTED),
        Code::Internal => ("internal", StatusCode::INTERNAL_SERVER_ERROR),
        Code::Unavailable => ("unavailable", StatusCode::SERVICE_UNAVAILABLE),
        Code::DataLoss => ("data_loss", StatusCode::INTERNAL_SERVER_ERROR),
        Code::Unauthenticated => ("unauthenticated", StatusCode::UNAUTHORIZED),
    }
}

/// A status as an object.
pub(super) fn error(interface: &Interface, status: &Status) -> Vec<u8> {
    // A status is short: its parts are cut where it is made.
    let mut out = Metered::new(MemoryQuota::of_nobody());
    match write_error(interface, status, &mut out) {
        Some(()) => out.finish().0,
        None => b"{\"code\":\"internal\"}".to_vec(),
    }
}

fn write_error(interface: &Interface, status: &Status, out: &mut Metered) -> Option<()> {
    out.write_all(b"{\"code\":").ok()?;
    write_text(code(status.code()).0, out).ok()?;
    if !status.message().is_empty() {
        out.write_all(b",\"message\":").ok()?;
        write_text(status.message(), out).ok()?;
    }
    let details = tonic_types::pb::Status::decode(status.details()).map(|all| all.details);
    let details = details.unwrap_or_default();
    for (index, detail) in details.iter().enumerate() {
        let before = if index == 0 { ",\"details\":[" } else { "," };
        out.write_all(before.as_bytes()).ok()?;
        let name = detail.type_url.rsplit('/').next().unwrap_or_default();
        out.write_all(b"{\"type\":").ok()?;
        write_text(name, out).ok()?;
        out.write_all(b",\"value\":").ok()?;
        write_text(&STANDARD_NO_PAD.encode(&detail.value), out).ok()?;
        if let Some(message) = interface.message_named(name) {
            out.write_all(b",\"debug\":").ok()?;
            write(interface, message, &detail.value, out).ok()?;
        }
        out.write_all(b"}").ok()?;
    }
    if !details.is_empty() {
        out.write_all(b"]").ok()?;
    }
    out.write_all(b"}").ok()
}
