//! The messages and services of the API, generated from `proto/clearance/v1`; their documentation
//! is there.
//!
//! Beside them [`packed`], lists of numbers that are read where they were received, and [`codec`],
//! through which every message passes.
//!
//! Clients and servers of `tonic` are in modules named after the services
//! ([`query_service_client`], [`session_service_server`] and so on). `clearance-client` is a client
//! with retries, sessions that outlive their connection, and certificates that are checked; this
//! crate is for whoever writes another one.
//!
//! ```
//! use clearance_proto::{PackedPoses, Vector3};
//! use prost::Message;
//!
//! let up = Vector3 { x: 0.0, y: 0.0, z: 1.0 };
//! let bytes = up.encode_to_vec();
//! assert_eq!(Vector3::decode(&bytes[..]), Ok(up));
//! assert!(PackedPoses::default().ids.is_empty());
//! assert!(clearance_proto::FILE_DESCRIPTOR_SET.len() > bytes.len());
//! ```

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
