//! What a digest is made of: numbers and texts one after the other, so that no two lists of them
//! are the same bytes.

use clearance_bodies::ContentId;
use clearance_geometry::Vec3;
use clearance_geometry::pose::Pose;

/// Bytes that are to be digested.
#[derive(Debug)]
pub(super) struct Digested(Vec<u8>);

impl Digested {
    /// Nothing yet, with room for so many bytes.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// One of a few cases.
    pub(super) fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    /// The length of a list, or an index.
    pub(super) fn size(&mut self, size: usize) {
        self.0.extend_from_slice(&(size as u64).to_le_bytes());
    }

    /// A text, after its length.
    pub(super) fn text(&mut self, text: &str) {
        self.size(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    /// A number, to the last bit.
    pub(super) fn number(&mut self, number: f64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Three numbers.
    pub(super) fn vector(&mut self, vector: &Vec3) {
        vector.iter().for_each(|x| self.number(*x));
    }

    /// Twelve numbers.
    pub(super) fn pose(&mut self, pose: &Pose) {
        pose.rotation.iter().for_each(|x| self.number(*x));
        self.vector(&pose.translation);
    }

    /// A body, by its id.
    pub(super) fn content(&mut self, id: &ContentId) {
        self.0.extend_from_slice(id.digest());
    }

    /// The digest of all of it.
    pub(super) fn hash(&self) -> blake3::Hash {
        blake3::hash(&self.0)
    }
}
