//! Messages as JSON and back, as the third version of Protobuf writes them (proto3 JSON mapping).
//!
//! Nothing stands between the text and the bytes: what is read is written as it is met, and what
//! goes wrong is told with the path of the field. So a message takes the memory of its text and of
//! its bytes, whatever is in it; a tree of values would take some thirty times as much.

mod metered;
mod read;
mod write;

pub(super) use self::metered::Metered;
pub(super) use self::read::read;
pub(super) use self::write::{write, write_text};

#[cfg(test)]
mod tests;
