//! Why something could not be done, and what a status of the server's says to programs.

use clearance_certificates::path::BadField;
use clearance_proto::ErrorReason;
use tonic::Status;
use tonic_types::StatusExt;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This is no address.
    #[error("{0}")]
    Address(String),
    /// No server could be reached.
    #[error("{0}")]
    Connection(#[from] tonic::transport::Error),
    /// The server refused; where trying again helps that was done already.
    #[error("{}: {}", .0.code(), .0.message())]
    Status(Box<Status>),
    /// The server answered something else than what was asked for.
    #[error("{0}")]
    Protocol(&'static str),
    /// Another stream took the session over. [`crate::Session::take_back`] goes on with it.
    #[error("another stream took the session over")]
    TakenOver,
    /// An answer is not proven by its certificate.
    #[error("{0}")]
    NotProven(#[from] NotProven),
}

/// Why an answer is not proven.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotProven {
    /// A field of the question, or of the answer, is missing or wrong.
    #[error("{0}")]
    Field(#[from] BadField),
    /// The certificate does not prove what is claimed.
    #[error("{0}")]
    Refused(String),
    /// The vertices of a body are not known here: it was not registered through this client, or by
    /// a file.
    #[error("{0}: its vertices are not known here")]
    UnknownBody(&'static str),
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        Self::Status(Box::new(status))
    }
}

impl Error {
    /// The reason that the server gives, if it is its refusal and has one.
    pub fn reason(&self) -> Option<ErrorReason> {
        match self {
            Self::Status(status) => reason(status),
            Self::Address(_)
            | Self::Connection(_)
            | Self::Protocol(_)
            | Self::TakenOver
            | Self::NotProven(_) => None,
        }
    }
}

/// The domain of the reasons of this API.
const DOMAIN: &str = "clearance.v1";

/// The reason for programs that a status carries.
pub fn reason(status: &Status) -> Option<ErrorReason> {
    let details = status.get_error_details();
    let info = details.error_info().filter(|info| info.domain == DOMAIN)?;
    ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason))
}
