//! Messages that Foxglove and Rerun read, generated from `proto/foxglove`.

#![expect(unreachable_pub, clippy::enum_variant_names, reason = "generated, for this crate alone")]

tonic::include_proto!("foxglove");

/// The descriptors of their files.
pub(crate) const FILE_DESCRIPTOR_SET: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/foxglove.bin"));
