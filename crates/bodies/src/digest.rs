//! Digests of content, the same on every server.

use clearance_geometry::Vec3;

/// Bytes of a digest.
pub(crate) const DIGEST_BYTES: usize = 32;

/// Vertices digested at a time.
const BLOCK_VERTICES: usize = 2048;

/// A digest that begins with the tag of a kind, the number of vertices as a little-endian u64, and
/// their coordinates as little-endian f64.
pub(crate) fn begun(tag: &[u8], vertices: &[Vec3]) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tag);
    hasher.update(&(vertices.len() as u64).to_le_bytes());
    // Many at a time: it digests whole blocks several times as fast.
    let mut bytes = Vec::with_capacity(BLOCK_VERTICES * 24);
    for block in vertices.chunks(BLOCK_VERTICES) {
        bytes.clear();
        let coordinates = block.iter().flat_map(|vertex| vertex.iter());
        bytes.extend(coordinates.flat_map(|coordinate| coordinate.to_le_bytes()));
        hasher.update(&bytes);
    }
    hasher
}
