//! Recordings of sessions: MCAP files of the messages of the interface, and of what other tools
//! show.
//!
//! `clearance record` stands between clients and a server, passes every call on ([`proxy`], whose
//! bodies [`tap`] cuts into messages), and keeps what sessions are asked and answered ([`log`]) in
//! a file each ([`mod@file`], whose schemas are from [`descriptors`]). Beside that it watches them,
//! and tells [`show`] where bodies are, for Foxglove and Rerun, whose messages are in [`foxglove`].
//! `clearance replay` sends the frames of a file to a server again and compares every answer
//! ([`mod@replay`]).

mod descriptors;
mod file;
mod foxglove;
mod log;
mod proxy;
mod replay;
mod show;
mod tap;

use std::io;

pub use self::proxy::{RecordOptions, record, record_until};
pub use self::replay::{ReplayOptions, replay};

/// Why nothing was recorded, or nothing could be played.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file, or an address, cannot be used.
    #[error("{what}: {error}")]
    Io {
        /// Its name.
        what: String,
        /// What the system says.
        error: io::Error,
    },
    /// A file is no recording, or one that cannot be played.
    #[error("{what}: {why}")]
    File {
        /// Its name.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// An address is none.
    #[error("{what}: {error}")]
    Connection {
        /// The address.
        what: String,
        /// Why.
        error: tonic::transport::Error,
    },
    /// The server refused what was recorded.
    #[error("{what}: {status}")]
    Refused {
        /// The request that was refused.
        what: String,
        /// What the server said.
        status: Box<tonic::Status>,
    },
}

impl Error {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |error| Self::Io { what, error }
    }

    fn file(what: impl Into<String>, why: &dyn std::fmt::Display) -> Self {
        Self::File { what: what.into(), why: why.to_string() }
    }

    fn refused(what: impl Into<String>) -> impl FnOnce(tonic::Status) -> Self {
        let what = what.into();
        |status| Self::Refused { what, status: Box::new(status) }
    }
}
