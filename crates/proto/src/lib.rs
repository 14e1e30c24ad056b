//! The messages and services of the API, generated from `proto/clearance/v1`; their documentation
//! is there.
//!
//! Beside them [`packed`], lists of numbers that are read where they were received, and [`codec`],
//! through which every message passes.

pub mod codec;
pub mod packed;

pub use self::generated::*;
pub use self::packed::{PackedCasts, PackedPoses, PackedRays};

#[expect(
    clippy::large_enum_variant,
    clippy::allow_attributes,
    reason = "generated; questions live for one call"
)]
mod generated {
    tonic::include_proto!("clearance.v1");
}

/// The descriptors of every file of the API with their comments, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clearance.bin"));

/// The fields that have an allocation of their own, `Message.field` or `Message.oneof.field`,
/// separated by spaces.
pub const BOXED_FIELDS: &str = env!("CLEARANCE_BOXED");
