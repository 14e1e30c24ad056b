//! Floor 3: wire to domain and back.
//!
//! A handler reads: convert (or say which field is wrong), admit, compute, convert back. Everything
//! that can go wrong is a [`status::Failure`], and one table there says what the client gets.

pub mod codec;
mod connection;
pub mod convert;
pub mod layer;
pub mod mesh;
pub mod polytopes;
pub mod queries;
pub mod serve;
pub mod server_info;
pub mod sessions;
pub mod shared;
pub mod status;
mod timing;
pub mod unsent;
pub mod uploads;
pub mod verify;

pub use serve::serve;

#[expect(
    clippy::large_enum_variant,
    clippy::allow_attributes,
    reason = "generated; questions live for one call"
)]
pub mod pb {
    //! Generated from `proto/clearance/v1`; the documentation is there.

    tonic::include_proto!("clearance.v1");

    /// The descriptors of every file of the API with their comments, for reflection.
    pub const FILE_DESCRIPTOR_SET: &[u8] =
        include_bytes!(concat!(env!("OUT_DIR"), "/clearance.bin"));
}
