//! Rows in a bucket (`s3://BUCKET/PREFIX`), which several servers share.
//!
//! One object, the head, is written by every change, by compare-and-set ([`head`] says what is in
//! it): changes of all servers come one after the other, each with all rows that the one before
//! left, and whoever loses a race looks at what was written and tries again. Contents and sources
//! are objects of their own ([`blobs`]), which are there before a head names them. A change whose
//! writing was not answered is looked for in the head by its name.
//!
//! All rows but these are in memory; a look at the head, which costs one small request, says
//! whether there are others. While the bucket does not answer, one request a second asks whether
//! it does.

mod blobs;
mod head;
mod objects;
mod rows;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use self::blobs::LeftBlobs;
use self::head::{BucketHead, Commit, Segment};
use self::objects::{FoundObject, Objects, RequestError, Tag};
use self::rows::{NewsBoard, Row, RowChange, Rows, is_blob};
use super::shared::{PartNews, SharedArchive, TenantPart};
use super::{Archive, ArchiveError, BUCKET_SCHEME, Change, Key, OpenError, Table};

/// The name of the head.
const HEAD: &str = "head";

/// The prefix that names of segments begin with.
const SEGMENTS: &str = "segments";

/// What the head tells itself of the last changes, bytes; every change writes it.
const TAIL_BYTES_MAX: usize = 32 << 10;

/// So many segments with changes there are at most, and so many bytes of them, or half of those of
/// all rows: then all rows are written anew.
const DELTAS_MAX: usize = 128;
const DELTA_BYTES_LEAST: u64 = 1 << 20;

/// Between two requests to a bucket that does not answer.
const RETRY: Duration = Duration::from_secs(1);

/// A change is written within this time, or not.
const COMMIT_TIME: Duration = Duration::from_secs(20);

/// So often a request of it may fail that is no lost race.
const COMMIT_FAILURES_MAX: usize = 3;

/// So many threads wait for a look at the head.
const LOOKING_MAX: usize = 128;

/// Rows in a bucket.
pub struct BucketArchive {
    label: PathBuf,
    objects: Objects,
    state: Mutex<BucketState>,
    /// That of the head in there, for whoever only asks whether there is anything new.
    sequence: AtomicU64,
    /// Whoever asks for the head, or writes it, has this.
    turn: Mutex<()>,
    looking: AtomicUsize,
    tidied: Mutex<Instant>,
    left: LeftBlobs,
}

impl fmt::Debug for BucketArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What the library knows has keys of an account in it.
        write!(f, "BucketArchive({})", self.label.display())
    }
}

/// What was read last.
#[derive(Debug)]
struct BucketState {
    head: BucketHead,
    tag: Option<Tag>,
    rows: Rows,
    news: NewsBoard,
    /// All that had been written before this is known.
    known_until: Instant,
    failed_at: Option<Instant>,
    is_closed: bool,
}

impl BucketArchive {
    /// The store of this address, `s3://BUCKET/PREFIX`, which is made if it is not there.
    pub fn open(address: &str) -> Result<Self, OpenError> {
        let label = PathBuf::from(address);
        let unusable = |problem: String| OpenError::Unusable { path: label.clone(), problem };
        let place = address.strip_prefix(BUCKET_SCHEME).unwrap_or_default();
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        if bucket.is_empty() {
            return Err(unusable("names no bucket".to_owned()));
        }
        let objects = Objects::of_bucket(bucket, prefix.trim_matches('/')).map_err(unusable)?;
        Self::over(objects, label.clone()).map_err(|error| unusable(error.to_string()))
    }

    /// The store in what tests have in the place of a bucket, which has so long to answer.
    #[cfg(test)]
    pub(super) fn on(
        store: std::sync::Arc<dyn object_store::ObjectStore>,
        time: Duration,
    ) -> Result<Self, ArchiveError> {
        let objects = Objects::over(store, "of/tests").map_err(ArchiveError::Down)?;
        Self::over(objects.within(time), PathBuf::from("(no bucket)"))
    }

    fn over(objects: Objects, label: PathBuf) -> Result<Self, ArchiveError> {
        let now = Instant::now();
        let state = BucketState {
            head: BucketHead::default(),
            tag: None,
            rows: Rows::default(),
            news: NewsBoard::default(),
            known_until: now,
            failed_at: None,
            is_closed: false,
        };
        let (state, turn) = (Mutex::new(state), Mutex::default());
        let (looking, tidied) = (AtomicUsize::new(0), Mutex::new(now));
        let sequence = AtomicU64::new(0);
        let left = LeftBlobs::default();
        let archive = Self { label, objects, state, sequence, turn, looking, tidied, left };
        match archive.reload() {
            Err(ReloadError::Missing) => archive.make()?,
            done => done.map_err(ArchiveError::from)?,
        }
        Ok(archive)
    }

    /// Writes the first head, if nobody else does.
    fn make(&self) -> Result<(), ArchiveError> {
        let head = BucketHead::default().to_bytes();
        let mut why = GONE.to_owned();
        for _ in 0..COMMIT_FAILURES_MAX {
            if let Err(error) = self.objects.put_if(HEAD, head.clone(), None) {
                why = format!("its head: {error}");
            }
            // It may have been written all the same, by this server or another one.
            match self.reload() {
                Err(ReloadError::Missing) => {}
                done => return Ok(done?),
            }
        }
        Err(ArchiveError::Down(why))
    }

    fn state(&self) -> MutexGuard<'_, BucketState> {
        self.state.lock().expect("nothing panics while holding it")
    }

    /// Says whether the bucket did not answer when it was asked last; fails if that was just now.
    fn is_worth_asking(&self) -> Result<bool, ArchiveError> {
        let down = |why: &str| Err(ArchiveError::Down(why.to_owned()));
        let state = self.state();
        if state.is_closed {
            return down("it is closed");
        }
        if state.failed_at.is_some_and(|failed| failed.elapsed() < RETRY) {
            return down("it has failed a moment ago");
        }
        Ok(state.failed_at.is_some())
    }

    /// The turn to ask for the head; while the bucket is down nobody waits for whoever asks it.
    fn turn(&self) -> Result<MutexGuard<'_, ()>, ArchiveError> {
        let down = |why: &str| Err(ArchiveError::Down(why.to_owned()));
        if !self.is_worth_asking()? {
            return Ok(self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        }
        match self.turn.try_lock() {
            Ok(turn) => Ok(turn),
            Err(TryLockError::Poisoned(turn)) => Ok(turn.into_inner()),
            Err(TryLockError::WouldBlock) => down("it is being asked whether it answers"),
        }
    }

    /// Notes whether the bucket answers.
    fn noted<T>(&self, answer: Result<T, ArchiveError>) -> Result<T, ArchiveError> {
        match &answer {
            Ok(_) => {
                if self.state().failed_at.take().is_some() {
                    tracing::info!(store = %self.label.display(), "the store answers again");
                }
            }
            Err(ArchiveError::Down(_)) => self.state().failed_at = Some(Instant::now()),
            Err(ArchiveError::Conflict(_) | ArchiveError::Overtaken(_)) => {}
        }
        answer
    }

    /// Asks for the head, and reads what it has that is not known. Whoever calls this has the turn.
    fn reload(&self) -> Result<(), ReloadError> {
        /// A segment may go while it is asked for: then there is another head.
        const TRIES: usize = 3;
        let mut last = ReloadError::Missing;
        for _ in 0..TRIES {
            let (begin, tag) = (Instant::now(), self.state().tag.clone());
            let found = match self.objects.get_if_other(HEAD, tag.as_ref()) {
                Ok(None) => {
                    self.state().known_until = begin;
                    return Ok(());
                }
                Ok(Some(found)) => found,
                Err(RequestError::Missing) if tag.is_none() => return Err(ReloadError::Missing),
                Err(error) => return Err(ReloadError::Failed(format!("its head: {error}"))),
            };
            match self.take(found, begin) {
                Err(ReloadError::Missing) => last = ReloadError::Failed(GONE.to_owned()),
                done => return done,
            }
        }
        Err(last)
    }

    /// Takes over what a head says.
    fn take(&self, found: FoundObject, begin: Instant) -> Result<(), ReloadError> {
        let damaged = |why: &str| ReloadError::Failed(format!("its head is damaged: {why}"));
        let head = BucketHead::from_bytes(&found.bytes).map_err(damaged)?;
        let known = self.state().head.directory.sequence;
        if head.directory.sequence < known {
            return Err(ReloadError::Failed("its head is older than what is known".to_owned()));
        }
        let (base, commits) = self.fetch(&head, known)?;
        let reaches = commits.last().map_or(known, |commit| commit.sequence);
        let reaches = base.as_ref().map_or(reaches, |base| base.sequence.max(reaches));
        if reaches != head.directory.sequence {
            return Err(damaged("changes are missing"));
        }
        let mut state = self.state();
        let BucketState { rows, news, .. } = &mut *state;
        if let Some(base) = base {
            let mut all = Rows::default();
            base.changes.iter().for_each(|change| all.apply(change));
            news.note(&rows.differing(&all));
            *rows = all;
        }
        for Commit { changes, .. } in &commits {
            changes.iter().for_each(|change| rows.apply(change));
            news.note(changes.iter().map(|change| &change.key));
        }
        self.sequence.store(head.directory.sequence, Ordering::Release);
        state.head = head;
        state.tag = Some(found.tag);
        state.known_until = begin;
        Ok(())
    }

    /// What a head has that whoever knows so many changes does not: all rows, or none where its own
    /// are enough, and changes after these.
    fn fetch(
        &self,
        head: &BucketHead,
        known: u64,
    ) -> Result<(Option<Commit>, Vec<Commit>), ReloadError> {
        let is_new = |segment: &&Segment| segment.until > known;
        let base = head.directory.base.iter().find(is_new);
        let deltas = head.directory.deltas.iter().filter(is_new);
        let names = base.into_iter().chain(deltas);
        let names = names.map(|one| (format!("{SEGMENTS}/{}", one.name), one.bytes)).collect();
        let segments = self.objects.get_whole(names).map_err(|error| match error {
            RequestError::Missing => ReloadError::Missing,
            RequestError::Raced | RequestError::Failed(_) => {
                ReloadError::Failed(format!("its rows: {error}"))
            }
        })?;
        let damaged = |why: &str| ReloadError::Failed(format!("its rows are damaged: {why}"));
        let mut read = Vec::new();
        for segment in segments {
            read.push(head::of_segment(&segment).map_err(damaged)?);
        }
        let mut read = read.into_iter();
        let all = if base.is_some() { read.next() } else { None };
        let all = all.and_then(|commits| commits.into_iter().next());
        let known = all.as_ref().map_or(known, |all| all.sequence);
        let tail = head::commits(&head.tail).ok_or_else(|| damaged("the last changes"))?;
        let commits = read.flatten().chain(tail).filter(|commit| commit.sequence > known);
        Ok((all, commits.collect()))
    }

    /// Why these may not be written now, if they may not.
    fn check(state: &BucketState, changes: &[Change]) -> Result<(), ArchiveError> {
        for change in changes {
            match change {
                Change::Expect(key, expected) => {
                    let is_so = match state.rows.get(key) {
                        Some(Row::Here(found)) => expected.as_ref() == Some(found),
                        // Contents are compared by nobody: what is known of them is.
                        Some(Row::Blob(_)) => expected.is_some(),
                        None => expected.is_none(),
                    };
                    if !is_so {
                        return Err(ArchiveError::Conflict(key.clone()));
                    }
                }
                Change::Seen(part, version) => {
                    if state.news.version(part) != *version {
                        return Err(ArchiveError::Overtaken(part.clone()));
                    }
                }
                Change::Put(..) | Change::Remove(_) => {}
            }
        }
        Ok(())
    }

    /// Writes a change of this name into the head. Whoever calls this has the turn.
    fn commit(
        &self,
        name: &str,
        changes: &[Change],
        rows: &[RowChange],
    ) -> Result<(), ArchiveError> {
        let (begin, mut failures, mut losses) = (Instant::now(), 0, 0_u32);
        loop {
            let (mut head, tag) = {
                let state = self.state();
                Self::check(&state, changes)?;
                (state.head.clone(), state.tag.clone())
            };
            head.push(name, rows);
            self.shorten(&mut head, rows)?;
            let asked = Instant::now();
            let error = match self.objects.put_if(HEAD, head.to_bytes(), tag.as_ref()) {
                Ok(tag) => {
                    self.committed(head, tag, rows, asked);
                    return Ok(());
                }
                Err(error) => error,
            };
            // It may have been written all the same: by a request whose answer was lost.
            self.reload()?;
            if self.state().head.has_recent(name) {
                return Ok(());
            }
            // Whoever has to look again does so at once: it is behind whoever has won already.
            Self::check(&self.state(), changes)?;
            if error == RequestError::Raced {
                losses += 1;
                // Servers that lose to each other again and again do not come at the same time.
                std::thread::sleep(pause(losses)?);
            } else {
                failures += 1;
            }
            if failures == COMMIT_FAILURES_MAX || begin.elapsed() > COMMIT_TIME {
                return Err(ArchiveError::Down(format!("its head: {error}")));
            }
        }
    }

    fn committed(&self, head: BucketHead, tag: Tag, rows: &[RowChange], asked: Instant) {
        let mut state = self.state();
        rows.iter().for_each(|change| state.rows.apply(change));
        state.news.note(rows.iter().map(|change| &change.key));
        self.sequence.store(head.directory.sequence, Ordering::Release);
        state.head = head;
        // A bucket that does not say which one it is now is asked the next time.
        state.tag = Some(tag);
        state.known_until = asked;
    }

    /// Moves the tail of a head into a segment where it is long, and all segments into one with all
    /// rows where there are many.
    fn shorten(&self, head: &mut BucketHead, rows: &[RowChange]) -> Result<(), ArchiveError> {
        if head.tail.len() <= TAIL_BYTES_MAX {
            return Ok(());
        }
        let directory = &head.directory;
        let (until, base) = (directory.sequence, directory.base.as_ref());
        let bytes: u64 = directory.deltas.iter().map(|delta| delta.bytes).sum();
        let bytes = bytes + head.tail.len() as u64;
        let most = (base.map_or(0, |base| base.bytes) / 2).max(DELTA_BYTES_LEAST);
        let is_base = bytes > most || directory.deltas.len() == DELTAS_MAX;
        let body =
            if is_base { self.all_rows(until, rows) } else { std::mem::take(&mut head.tail) };
        let body = head::segment(&body);
        let name = random_name()?;
        let segment = Segment { name: name.clone(), until, bytes: body.len() as u64 };
        let down = |error: RequestError| ArchiveError::Down(format!("its rows: {error}"));
        self.objects.put(vec![(format!("{SEGMENTS}/{name}"), body)]).map_err(down)?;
        head.tail.clear();
        if is_base {
            head.directory.base = Some(segment);
            head.directory.deltas.clear();
        } else {
            head.directory.deltas.push(segment);
        }
        Ok(())
    }

    /// All rows as they are after one more change, as one change.
    fn all_rows(&self, sequence: u64, last: &[RowChange]) -> Vec<u8> {
        let mut all = Rows::default();
        let state = self.state();
        let now = state.rows.all().map(|(key, row)| RowChange { key, row: Some(row.clone()) });
        now.for_each(|change| all.apply(&change));
        drop(state);
        last.iter().for_each(|change| all.apply(change));
        let all: Vec<_> =
            all.all().map(|(key, row)| RowChange { key, row: Some(row.clone()) }).collect();
        let mut body = Vec::new();
        head::push_change(&mut body, sequence, &all);
        body
    }
}

/// A segment was not there any more, time and again.
const GONE: &str = "what its head names is not there";

/// Why the head, or what it names, was not read.
#[derive(Debug)]
enum ReloadError {
    /// It is not there.
    Missing,
    /// Something else.
    Failed(String),
}

impl From<ReloadError> for ArchiveError {
    fn from(error: ReloadError) -> Self {
        match error {
            ReloadError::Missing => Self::Down("its head is gone".to_owned()),
            ReloadError::Failed(why) => Self::Down(why),
        }
    }
}

/// Random bits.
fn random() -> Result<u128, ArchiveError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| ArchiveError::Down(error.to_string()))?;
    Ok(u128::from_le_bytes(bytes))
}

/// A name that nobody else has made.
fn random_name() -> Result<String, ArchiveError> {
    Ok(format!("{:032x}", random()?))
}

/// How long whoever has lost so many races waits before the next.
fn pause(losses: u32) -> Result<Duration, ArchiveError> {
    const MICROSECONDS_MAX: u128 = 50_000;
    let most = (1_000_u128 << losses.min(8)).min(MICROSECONDS_MAX);
    Ok(Duration::from_micros(u64::try_from(random()? % most).unwrap_or(0)))
}

/// Counts whoever looks, until it is dropped.
struct CountedLook<'a>(&'a AtomicUsize);

impl Drop for CountedLook<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SharedArchive for BucketArchive {
    fn look(&self, since: Instant) -> Result<(), ArchiveError> {
        if self.looking.fetch_add(1, Ordering::Relaxed) >= LOOKING_MAX {
            drop(CountedLook(&self.looking));
            return Err(ArchiveError::Down("too many wait for it".to_owned()));
        }
        let _looking = CountedLook(&self.looking);
        let _turn = self.turn()?;
        {
            let state = self.state();
            // Somebody else may have asked while this one waited.
            if state.failed_at.is_none() && state.known_until >= since {
                return Ok(());
            }
        }
        self.noted(self.reload().map_err(ArchiveError::from))
    }

    fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::Acquire)
    }

    fn news(&self, part: &TenantPart, reader: u64) -> PartNews {
        let BucketState { rows, news, .. } = &mut *self.state();
        news.read(part, reader, rows)
    }

    fn known_row(&self, key: &Key) -> Option<Vec<u8>> {
        match self.state().rows.get(key)? {
            Row::Here(bytes) => Some(bytes.clone()),
            Row::Blob(_) => None,
        }
    }

    fn kept_bytes(&self) -> u64 {
        self.state().rows.kept_bytes()
    }

    fn memory_bytes(&self) -> u64 {
        let state = self.state();
        state.rows.memory_bytes() + state.head.tail.len() as u64
    }

    fn tidy(&self) -> Result<(), ArchiveError> {
        let mut tidied = self.tidied.lock().unwrap_or_else(PoisonError::into_inner);
        if tidied.elapsed() < blobs::BETWEEN_TIDYINGS {
            return Ok(());
        }
        *tidied = Instant::now();
        drop(tidied);
        self.sweep(blobs::UNNEEDED_FOR)?;
        Ok(())
    }
}

impl Archive for BucketArchive {
    fn write(&self, changes: &[Change]) -> Result<(), ArchiveError> {
        self.is_worth_asking()?;
        Self::check(&self.state(), changes)?;
        let (blobs, rows) = self.left.split(changes)?;
        if rows.is_empty() {
            return Ok(());
        }
        // What the head will name is there before it does.
        let down = |error: RequestError| ArchiveError::Down(format!("a content: {error}"));
        self.noted(self.objects.put(blobs).map_err(down))?;
        let turn = self.turn()?;
        let written = self.commit(&random_name()?, changes, &rows);
        drop(turn);
        if let Err(ArchiveError::Conflict(_) | ArchiveError::Overtaken(_)) = &written {
            self.left.keep(changes, &rows);
        }
        self.noted(written)
    }

    fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, ArchiveError> {
        if !is_blob(key.table) {
            return Ok(self.known_row(key));
        }
        Ok(self.blobs(std::slice::from_ref(key))?.pop().flatten())
    }

    fn close(&self) {
        self.state().is_closed = true;
    }

    fn shared(&self) -> Option<&dyn SharedArchive> {
        Some(self)
    }

    fn each(&self, table: Table, take: &mut dyn FnMut(Key, &[u8])) -> Result<(), ArchiveError> {
        let (mut here, mut places) = (Vec::new(), Vec::new());
        for (key, row) in self.state().rows.of_table(table) {
            match row {
                Row::Here(bytes) => here.push((key, bytes.clone())),
                Row::Blob(place) => places.push((key, place.length)),
            }
        }
        here.into_iter().for_each(|(key, row)| take(key, &row));
        let mut rest = &places[..];
        while let [(_, first), ..] = rest {
            let (mut count, mut bytes) = (1, *first);
            while let Some((_, next)) = rest.get(count)
                && count < blobs::READ_AT_ONCE
                && bytes + next <= blobs::BYTES_AT_ONCE
            {
                bytes += next;
                count += 1;
            }
            let (some, others) = rest.split_at(count);
            rest = others;
            let keys: Vec<Key> = some.iter().map(|(key, _)| key.clone()).collect();
            for (key, row) in keys.iter().zip(self.blobs(&keys)?) {
                // What was removed meanwhile is told by nobody.
                row.into_iter().for_each(|row| take(key.clone(), &row));
            }
        }
        Ok(())
    }
}
