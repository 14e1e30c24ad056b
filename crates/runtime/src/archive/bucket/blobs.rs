//! Contents, sources and what was set aside: objects of their own, small ones of one change
//! together in one. None is ever written again under its name, so that whoever reads an old row
//! reads what it was written with, or nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::objects::{ObjectPart, RequestError};
use super::rows::{BlobPlace, Row, RowChange, is_blob};
use super::{BucketArchive, HEAD, SEGMENTS, random};
use crate::archive::shared::SharedArchive;
use crate::archive::{ArchiveError, Change, Key};

/// The prefix that names of blobs begin with.
const BLOBS: &str = "blobs";

/// Those up to this length share an object, bytes; it has so many at most.
const SMALL_BYTES: usize = 64 << 10;
const PACK_BYTES_MAX: usize = 8 << 20;

/// So many are read at once where all are, and so many bytes of them, or one.
pub(super) const READ_AT_ONCE: usize = 64;
pub(super) const BYTES_AT_ONCE: u64 = 64 << 20;

/// What no row needs is kept for so long: a server may be about to name it, or not know yet that it
/// is not needed any more.
pub(super) const UNNEEDED_FOR: Duration = Duration::from_secs(24 * 3600);

/// Between two looks for what is not needed.
pub(super) const BETWEEN_TIDYINGS: Duration = Duration::from_secs(6 * 3600);

/// So many objects are deleted one after the other before others are looked for.
const DELETED_AT_ONCE: usize = 1_000;

fn name_of(object: u128) -> String {
    format!("{BLOBS}/{object:032x}")
}

type Objects = Vec<(String, Vec<u8>)>;

/// Blobs that are there and that nobody has named, since another server was faster: whoever tries
/// again does not write them again.
#[derive(Debug, Default)]
pub(super) struct LeftBlobs(Mutex<HashMap<Key, LeftBlob>>);

#[derive(Clone, Copy, Debug)]
struct LeftBlob {
    place: BlobPlace,
    digest: blake3::Hash,
    written: Instant,
}

/// So many of them are known, for so long.
const LEFT_MAX: usize = 4_096;
const LEFT_FOR: Duration = Duration::from_secs(600);

impl LeftBlobs {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, LeftBlob>> {
        self.0.lock().expect("nothing panics while holding it")
    }

    /// Where these bytes of this key are, if they are there.
    fn take(&self, key: &Key, bytes: &[u8]) -> Option<BlobPlace> {
        let left = self.lock().remove(key)?;
        let is_so = left.digest == blake3::hash(bytes) && left.written.elapsed() < LEFT_FOR;
        is_so.then_some(left.place)
    }

    /// What a change has written as objects, and nobody needs yet.
    pub(super) fn keep(&self, changes: &[Change], rows: &[RowChange]) {
        let written = Instant::now();
        let places = rows.iter().filter_map(|change| match change.row {
            Some(Row::Blob(place)) => Some((&change.key, place)),
            Some(Row::Here(_)) | None => None,
        });
        let places: HashMap<&Key, BlobPlace> = places.collect();
        let mut left = self.lock();
        if left.len() + places.len() > LEFT_MAX {
            left.clear();
        }
        for change in changes {
            if let Change::Put(key, bytes) = change
                && let Some(place) = places.get(key).copied()
            {
                let digest = blake3::hash(bytes);
                left.insert(key.clone(), LeftBlob { place, digest, written });
            }
        }
    }

    /// What a change writes as objects, and what as rows.
    pub(super) fn split(
        &self,
        changes: &[Change],
    ) -> Result<(Objects, Vec<RowChange>), ArchiveError> {
        let (mut objects, mut rows) = (Objects::new(), Vec::new());
        let (mut pack, mut number) = (Vec::new(), random()?);
        for change in changes {
            let (key, row) = match change {
                Change::Expect(..) | Change::Seen(..) => continue,
                Change::Remove(key) => (key, None),
                Change::Put(key, bytes) if !is_blob(key.table) => {
                    (key, Some(Row::Here(bytes.clone())))
                }
                Change::Put(key, bytes) => {
                    let length = bytes.len() as u64;
                    let place = if let Some(left) = self.take(key, bytes) {
                        left
                    } else if bytes.len() > SMALL_BYTES {
                        let object = random()?;
                        objects.push((name_of(object), bytes.clone()));
                        BlobPlace { object, at: 0, length }
                    } else {
                        if pack.len() + bytes.len() > PACK_BYTES_MAX {
                            objects.push((name_of(number), std::mem::take(&mut pack)));
                            number = random()?;
                        }
                        let at = pack.len() as u64;
                        pack.extend(bytes);
                        BlobPlace { object: number, at, length }
                    };
                    (key, Some(Row::Blob(place)))
                }
            };
            rows.push(RowChange { key: key.clone(), row });
        }
        if !pack.is_empty() {
            objects.push((name_of(number), pack));
        }
        Ok((objects, rows))
    }
}

impl BucketArchive {
    /// What these rows say; one whose object is not there any more says nothing at all.
    pub(super) fn blobs(&self, keys: &[Key]) -> Result<Vec<Option<Vec<u8>>>, ArchiveError> {
        let places = self.places(keys);
        let read = self.read_places(&places);
        let Err(RequestError::Missing) = read else { return self.answered(read) };
        // One of them may have been deleted elsewhere, or written anew.
        self.look(Instant::now())?;
        let (mut all, now) = (Vec::new(), self.places(keys));
        for place in now {
            all.push(match self.read_places(&[place]) {
                Ok(mut read) => read.pop().flatten(),
                // It should be there: whoever proves what is read finds that this is not it.
                Err(RequestError::Missing) => Some(Vec::new()),
                Err(error) => return self.answered(Err(error)),
            });
        }
        Ok(all)
    }

    fn places(&self, keys: &[Key]) -> Vec<Option<BlobPlace>> {
        let state = self.state();
        let place = |key| match state.rows.get(key)? {
            Row::Blob(place) => Some(*place),
            Row::Here(_) => None,
        };
        keys.iter().map(place).collect()
    }

    fn read_places(
        &self,
        places: &[Option<BlobPlace>],
    ) -> Result<Vec<Option<Vec<u8>>>, RequestError> {
        // An object without bytes has no part that could be asked for.
        let is_asked = |place: &&BlobPlace| place.length > 0;
        let parts = places.iter().flatten().filter(is_asked).map(|place| ObjectPart {
            name: name_of(place.object),
            range: place.at..place.at + place.length,
        });
        let mut read = self.objects.get(parts.collect())?.into_iter();
        let of = |place: &Option<BlobPlace>| {
            let place = place.as_ref()?;
            if place.length > 0 { read.next() } else { Some(Vec::new()) }
        };
        Ok(places.iter().map(of).collect())
    }

    fn answered<T>(&self, answer: Result<T, RequestError>) -> Result<T, ArchiveError> {
        self.noted(answer.map_err(|error| ArchiveError::Down(format!("a content: {error}"))))
    }

    /// Deletes objects that neither the head nor a row names and that are so much older than the
    /// head; says how many.
    pub(in crate::archive) fn sweep(&self, unneeded_for: Duration) -> Result<usize, ArchiveError> {
        self.look(Instant::now())?;
        // Both times are the bucket's, whose clock need not be ours.
        let Some(head) = self.answered(self.objects.get_if_other(HEAD, None))? else {
            return Ok(0);
        };
        let (needed, before) = {
            let state = self.state();
            let directory = &state.head.directory;
            let segments = directory.base.iter().chain(&directory.deltas);
            let segments = segments.map(|segment| format!("{SEGMENTS}/{}", segment.name));
            let blobs = state.rows.objects().into_iter().map(name_of);
            let needed: BTreeSet<String> = segments.chain(blobs).collect();
            (needed, head.written.saturating_sub_unsigned(unneeded_for.as_secs()))
        };
        let mut unneeded = Vec::new();
        for under in [SEGMENTS, BLOBS] {
            let found = self.answered(self.objects.list(under))?;
            let is_unneeded =
                |(name, written): &(String, i64)| *written <= before && !needed.contains(name);
            unneeded.extend(found.into_iter().filter(is_unneeded).map(|(name, _)| name));
        }
        for some in unneeded.chunks(DELETED_AT_ONCE) {
            self.answered(self.objects.delete(some.to_vec()))?;
        }
        Ok(unneeded.len())
    }
}
