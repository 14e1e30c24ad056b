//! Messages that Foxglove and Rerun read, generated from `proto/foxglove`.

#![allow(missing_docs, clippy::allow_attributes, reason = "generated")]

tonic::include_proto!("foxglove");

/// The descriptors of their files.
pub(crate) const FILE_DESCRIPTOR_SET: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/foxglove.bin"));
