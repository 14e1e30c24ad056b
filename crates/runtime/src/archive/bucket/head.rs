//! What stands in a bucket, as bytes.
//!
//! `head` says where everything is, and every change writes it anew, by compare-and-set: it names
//! one segment with all rows as of some change (the base), segments with what has changed since
//! (deltas), and has the last changes itself (the tail). So a change is one object, whatever it
//! changes, and a reader that knows the rows up to some change reads what came after it.

use serde::{Deserialize, Serialize};

use super::super::{Key, Table};
use super::rows::{BlobPlace, Row, RowChange};

const HEAD: &[u8] = b"clearance head 1\n";
const SEGMENT: &[u8] = b"clearance rows 1\n";

/// So many changes are told by their numbers, for whoever does not know whether one was written.
const RECENT: usize = 64;

/// Bits of the byte before a row, beside its table.
const IS_BLOB: u8 = 0x40;
const IS_GONE: u8 = 0x80;

/// An object with rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Segment {
    /// The number that is its name.
    pub(super) name: String,
    /// It brings rows to what they were after this change.
    pub(super) until: u64,
    /// How long it is.
    pub(super) bytes: u64,
}

/// The head, but for its tail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Directory {
    /// How many changes there have been.
    pub(super) sequence: u64,
    /// Names of the last of them, the last one at the end.
    pub(super) recent: Vec<String>,
    /// All rows as of some change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base: Option<Segment>,
    /// What has changed since, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) deltas: Vec<Segment>,
}

/// The head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BucketHead {
    pub(super) directory: Directory,
    /// Changes after those in segments, as [`push_change`] writes them.
    pub(super) tail: Vec<u8>,
}

/// Rows that were changed at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    /// Its place among all changes.
    pub(super) sequence: u64,
    pub(super) changes: Vec<RowChange>,
}

impl BucketHead {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Numbers, texts and lists of these are always JSON.
        let directory = serde_json::to_vec(&self.directory).unwrap_or_default();
        let mut body = (directory.len() as u64).to_le_bytes().to_vec();
        body.extend(directory);
        body.extend(&self.tail);
        digested(HEAD, &body)
    }

    /// Why it cannot be read, if it cannot.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, &'static str> {
        let body = undigested(HEAD, bytes)?;
        let (length, rest) = body.split_first_chunk().ok_or("it ends too soon")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (directory, tail) = rest.split_at_checked(length).ok_or("it ends too soon")?;
        let directory = serde_json::from_slice(directory).map_err(|_| "its directory is none")?;
        Ok(Self { directory, tail: tail.to_vec() })
    }

    /// One more change, of this name.
    pub(super) fn push(&mut self, name: &str, changes: &[RowChange]) {
        let Directory { sequence, recent, .. } = &mut self.directory;
        *sequence += 1;
        recent.push(name.to_owned());
        recent.drain(..recent.len().saturating_sub(RECENT));
        push_change(&mut self.tail, *sequence, changes);
    }

    pub(super) fn has_recent(&self, name: &str) -> bool {
        self.directory.recent.iter().any(|known| known == name)
    }
}

/// A segment of these changes.
pub(super) fn segment(changes: &[u8]) -> Vec<u8> {
    digested(SEGMENT, changes)
}

/// The changes of a segment; or why there are none.
pub(super) fn of_segment(bytes: &[u8]) -> Result<Vec<Commit>, &'static str> {
    commits(undigested(SEGMENT, bytes)?).ok_or("its rows are none")
}

/// Bytes after what says what they are, and their digest.
fn digested(kind: &[u8], body: &[u8]) -> Vec<u8> {
    [kind, blake3::hash(body).as_bytes(), body].concat()
}

fn undigested<'a>(kind: &[u8], bytes: &'a [u8]) -> Result<&'a [u8], &'static str> {
    let rest = bytes.strip_prefix(kind).ok_or("it is of another format, or none")?;
    let (digest, body) = rest.split_first_chunk::<32>().ok_or("it ends too soon")?;
    if blake3::hash(body) != blake3::Hash::from_bytes(*digest) {
        return Err("its digest is another");
    }
    Ok(body)
}

/// One change after the others: its number, how many rows, and each of them.
pub(super) fn push_change(to: &mut Vec<u8>, sequence: u64, changes: &[RowChange]) {
    to.extend(sequence.to_le_bytes());
    to.extend((changes.len() as u64).to_le_bytes());
    for RowChange { key, row } in changes {
        let kind = match row {
            None => IS_GONE,
            Some(Row::Blob(_)) => IS_BLOB,
            Some(Row::Here(_)) => 0,
        };
        to.push(key.table as u8 | kind);
        push_part(to, key.tenant.as_bytes());
        push_part(to, key.name.as_bytes());
        match row {
            None => {}
            Some(Row::Here(bytes)) => push_part(to, bytes),
            Some(Row::Blob(BlobPlace { object, at, length })) => {
                to.extend(object.to_le_bytes());
                to.extend(at.to_le_bytes());
                to.extend(length.to_le_bytes());
            }
        }
    }
}

fn push_part(to: &mut Vec<u8>, part: &[u8]) {
    // Names are short, and rows of JSON, too; contents are elsewhere.
    to.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
    to.extend(part);
}

/// All changes that stand there; none: they do not make sense.
pub(super) fn commits(bytes: &[u8]) -> Option<Vec<Commit>> {
    let (mut from, mut found) = (Reader(bytes), Vec::new());
    while !from.0.is_empty() {
        let sequence = from.number()?;
        let count = from.number()?;
        let mut changes = Vec::new();
        for _ in 0..count {
            changes.push(from.change()?);
        }
        found.push(Commit { sequence, changes });
    }
    Some(found)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*chunk)
    }

    fn number(&mut self) -> Option<u64> {
        self.chunk().map(u64::from_le_bytes)
    }

    fn part(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_le_bytes(self.chunk()?);
        let (part, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(part)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.part()?.to_vec()).ok()
    }

    fn change(&mut self) -> Option<RowChange> {
        let [kind] = self.chunk()?;
        let table = *Table::ALL.get(usize::from(kind & !(IS_BLOB | IS_GONE)))?;
        let key = Key { table, tenant: self.text()?, name: self.text()? };
        let row = if kind & IS_GONE != 0 {
            None
        } else if kind & IS_BLOB != 0 {
            let object = u128::from_le_bytes(self.chunk()?);
            Some(Row::Blob(BlobPlace { object, at: self.number()?, length: self.number()? }))
        } else {
            Some(Row::Here(self.part()?.to_vec()))
        };
        Some(RowChange { key, row })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> BucketHead {
        let mut head = BucketHead::default();
        let key = |table, name| Key::new(table, "acme", name);
        let place = BlobPlace { object: 7 << 70, at: 3, length: 9 };
        let changes = [
            RowChange { key: key(Table::Bodies, "p1-0"), row: Some(Row::Here(vec![1, 2])) },
            RowChange { key: key(Table::Contents, "p1-0"), row: Some(Row::Blob(place)) },
            RowChange { key: key(Table::Aliases, "it"), row: None },
        ];
        head.push("one", &changes);
        head.push("two", &changes[..1]);
        head.directory.base = Some(Segment { name: "a".into(), until: 0, bytes: 1 });
        head
    }

    #[test]
    fn a_head_is_read_back_and_one_with_a_flipped_byte_is_refused() {
        let (head, bytes) = (head(), head().to_bytes());
        assert_eq!(BucketHead::from_bytes(&bytes), Ok(head.clone()));
        let read = commits(&head.tail).unwrap();
        assert_eq!((read.len(), read[0].changes.len(), read[1].sequence), (2, 3, 2));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(BucketHead::from_bytes(&flipped).is_err(), "{at}");
            assert!(BucketHead::from_bytes(&bytes[..at]).is_err(), "{at}");
        }
        let segment = segment(&head.tail);
        assert_eq!(of_segment(&segment), Ok(read));
        assert!(of_segment(&bytes).is_err());
    }

    #[test]
    fn only_the_last_changes_are_told_by_name() {
        let mut head = BucketHead::default();
        for k in 0..100 {
            head.push(&k.to_string(), &[]);
        }
        assert!(head.has_recent("99") && head.has_recent("36") && !head.has_recent("35"));
        assert_eq!((head.directory.sequence, head.directory.recent.len()), (100, RECENT));
    }
}
