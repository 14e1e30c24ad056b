//! The types of the wire, generated from `proto/clearance/v1`; their documentation is there.

#![expect(
    clippy::large_enum_variant,
    clippy::allow_attributes,
    reason = "generated; questions live for one call"
)]

tonic::include_proto!("clearance.v1");

pub use super::packed::{PackedCasts, PackedPoses, PackedRays};

/// The descriptors of every file of the API with their comments, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clearance.bin"));
