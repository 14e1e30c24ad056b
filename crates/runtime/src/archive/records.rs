//! What rows say. Each but the content of a body, which its id proves, begins with a digest of the
//! rest and of where it is: a flipped byte is found, and a row that stands in another's place.
//!
//! They are JSON, in which a later version may find fields that it does not know, or miss some.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Key;

/// Bytes of the digest before a row.
const SEAL_BYTES: usize = 16;

/// What is known of a body without its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyRow {
    /// Memory that it takes as it is registered.
    pub memory_bytes: u64,
    /// Bytes of its content.
    pub content_bytes: u64,
    /// When it was deleted, seconds since 1970; none: it is registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<u64>,
}

/// What an alias names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AliasRow {
    /// The id of the body.
    pub id: String,
    /// The digest of the key that it belongs to; none: it is open to everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

/// What is known of a robot that is not built.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotRow {
    /// Memory that it takes as it is registered.
    pub memory_bytes: u64,
    /// What its description takes on the wire.
    pub wire_bytes: u64,
    /// Bytes of what it is built of.
    pub source_bytes: u64,
    /// Digests of the keys that have claimed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// When it was deleted, seconds since 1970; none: it is registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<u64>,
}

/// Bytes that stand in this place, with their digest.
pub fn sealed(key: &Key, bytes: &[u8]) -> Vec<u8> {
    let mut row = Vec::with_capacity(SEAL_BYTES + bytes.len());
    row.extend(seal(key, bytes));
    row.extend(bytes);
    row
}

/// What is sealed; none: it is not what was written there.
pub fn unsealed<'a>(key: &Key, row: &'a [u8]) -> Option<&'a [u8]> {
    let (found, bytes) = row.split_first_chunk::<SEAL_BYTES>()?;
    (*found == seal(key, bytes)).then_some(bytes)
}

fn seal(key: &Key, bytes: &[u8]) -> [u8; SEAL_BYTES] {
    let mut hasher = blake3::Hasher::new();
    for part in [key.table.name(), &key.tenant, &key.name] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.update(bytes);
    let mut seal = [0; SEAL_BYTES];
    hasher.finalize_xof().fill(&mut seal);
    seal
}

/// A row as it is written.
pub fn written(key: &Key, row: &impl Serialize) -> Vec<u8> {
    // Numbers, texts and lists of these are always JSON.
    sealed(key, &serde_json::to_vec(row).unwrap_or_default())
}

/// A row that was read; none: it is not what was written there.
pub fn read<R: DeserializeOwned>(key: &Key, row: &[u8]) -> Option<R> {
    serde_json::from_slice(unsealed(key, row)?).ok()
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::*;

    #[test]
    fn a_row_is_read_back_in_its_place_and_nowhere_else() {
        let key = Key::new(Table::Bodies, "acme", "p1-0");
        let row = BodyRow { memory_bytes: 7, content_bytes: 9, deleted: None };
        let bytes = written(&key, &row);
        assert_eq!(read::<BodyRow>(&key, &bytes), Some(row));
        for other in [
            Key::new(Table::Bodies, "acm", "ep1-0"),
            Key::new(Table::Robots, "acme", "p1-0"),
            Key::new(Table::Bodies, "acme", "p1-1"),
        ] {
            assert_eq!(read::<BodyRow>(&other, &bytes), None, "{other:?}");
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(read::<BodyRow>(&key, &flipped), None, "{at}");
            assert_eq!(read::<BodyRow>(&key, &bytes[..at]), None, "{at}");
        }
    }

    #[test]
    fn fields_of_other_versions_do_no_harm() {
        let key = Key::new(Table::Aliases, "", "it");
        let bytes = sealed(&key, br#"{"id": "p1-0", "of_tomorrow": [1]}"#);
        assert_eq!(read(&key, &bytes), Some(AliasRow { id: "p1-0".into(), owner: None }));
    }
}
