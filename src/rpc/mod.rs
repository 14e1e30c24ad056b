//! Floor 3: wire to domain and back.

#[expect(clippy::large_enum_variant, reason = "generated; questions live for one call")]
pub mod pb {
    //! Generated from `proto/clearance/v1`; the documentation is there.

    tonic::include_proto!("clearance.v1");

    /// The descriptors of every file of the API with their comments, for reflection.
    pub const FILE_DESCRIPTOR_SET: &[u8] =
        include_bytes!(concat!(env!("OUT_DIR"), "/clearance.bin"));
}
