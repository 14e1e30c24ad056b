//! Where the keys that tokens are signed with come from: a file, or the address of the provider's
//! list. A file is looked at like all others; an address is asked at the start, every minute, and
//! when a token names a key that the list does not have, but not more often than a stranger's
//! tokens may make a server ask.

#[cfg(feature = "s3")]
mod fetch;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

#[cfg(feature = "s3")]
pub(super) use self::fetch::ListAddress;
use super::KeysError;
use crate::fresh::{Fresh, LOOK};

/// Between two requests to a provider that answers. A key that it has taken out of its list is good
/// for so long at most.
const ASK: Duration = Duration::from_secs(60);

/// Between two requests to a provider that did not answer, or with something that is no list.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// Between two requests that are made because a token named a key that is not known.
const ASK_FOR_KEY: Duration = Duration::from_secs(10);

/// Where a list of keys is.
#[derive(Debug)]
pub(super) enum KeyList {
    File(PathBuf),
    #[cfg(feature = "s3")]
    Address(ListAddress),
}

impl KeyList {
    /// The list of this name: a URL, or a file.
    pub(super) fn named(name: &Path) -> Result<Self, KeysError> {
        match name.to_str().filter(|name| name.contains("://")) {
            Some(url) => Self::at(url),
            None => Ok(Self::File(name.to_owned())),
        }
    }

    #[cfg(feature = "s3")]
    fn at(url: &str) -> Result<Self, KeysError> {
        ListAddress::parse(url).map(Self::Address)
    }

    #[cfg(not(feature = "s3"))]
    fn at(url: &str) -> Result<Self, KeysError> {
        let problem = "is asked in a build with the feature s3 alone; name a file".to_owned();
        Err(KeysError::Address { url: url.to_owned(), problem })
    }

    /// What it says now. Of an address the thread waits, for a few seconds at most.
    pub(super) fn read(&self) -> Result<String, KeysError> {
        match self {
            Self::File(path) => super::read(path),
            #[cfg(feature = "s3")]
            Self::Address(address) => address.fetch(),
        }
    }

    /// Whether somebody has to be asked for it.
    pub(super) fn is_asked_for(&self) -> bool {
        !matches!(self, Self::File(_))
    }
}

/// When a provider is asked for its list, and how often it has answered.
#[derive(Debug, Default)]
pub(super) struct Asking {
    state: Mutex<AskingState>,
    wanted: Notify,
    answers: AtomicU64,
    failures: AtomicU64,
}

#[derive(Debug, Default)]
struct AskingState {
    /// A token has named a key that is not known, and the list that may have it is to come.
    is_wanted: bool,
    wanted_at: Option<Instant>,
    has_failed: bool,
}

/// What a request is for, from its beginning to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    serves_wanted: bool,
}

impl Asking {
    fn state(&self) -> MutexGuard<'_, AskingState> {
        self.state.lock().expect("nothing panics while holding it")
    }

    /// A token has named a key that is not known. Says whether the list is asked for now, so that
    /// the token may be good in a moment.
    pub(super) fn want(&self) -> bool {
        let mut state = self.state();
        if state.is_wanted {
            return true;
        }
        if state.wanted_at.is_some_and(|last| last.elapsed() < ASK_FOR_KEY) {
            return false;
        }
        (state.is_wanted, state.wanted_at) = (true, Some(Instant::now()));
        self.wanted.notify_one();
        true
    }

    /// Waits until the list is to be read again: a provider's when it is wanted, or was read long
    /// enough ago.
    pub(super) async fn until_due(&self, of: &KeyList) {
        if !of.is_asked_for() {
            return tokio::time::sleep(LOOK).await;
        }
        let pause = if self.state().has_failed { ASK_AGAIN } else { ASK };
        tokio::select! {
            () = self.wanted.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }

    /// A request begins. Whoever wants the list from now on wants that of a later one.
    pub(super) fn begin(&self) -> Request {
        Request { serves_wanted: self.state().is_wanted }
    }

    /// A request has ended, and what it brought is in force, if that could be used.
    pub(super) fn end(&self, request: Request, taken: &Result<Fresh, String>) {
        let mut state = self.state();
        state.is_wanted &= !request.serves_wanted;
        state.has_failed = match taken {
            Ok(Fresh::Changed) => false,
            // What cannot be used is told once.
            Ok(Fresh::AsBefore) => state.has_failed,
            Err(_) => true,
        };
        let count = if state.has_failed { &self.failures } else { &self.answers };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// How many requests have brought a list, and how many have not.
    pub(super) fn counts(&self) -> [u64; 2] {
        [&self.answers, &self.failures].map(|count| count.load(Ordering::Relaxed))
    }
}
