//! What each process makes for itself. After a fork the threads of the parent are not there, and
//! what they held stays locked: a child must neither use nor drop it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many forks lie between the first process and this one, as far as Python has told.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// This process was forked.
pub(crate) fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Which process it is. A number may come again once its process is gone, so forks are counted too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    number: u32,
    forks: u64,
}

impl Process {
    /// The one that runs.
    pub(crate) fn this() -> Self {
        Self { number: std::process::id(), forks: FORKS.load(Ordering::Relaxed) }
    }
}

/// A value of each process, made when it is first asked for.
#[derive(Debug)]
pub(crate) struct PerProcess<T> {
    whose: Process,
    value: OnceLock<T>,
    /// Those of its children. A parent never touches it, so no fork finds it half made.
    of_children: OnceLock<Box<Self>>,
}

impl<T> PerProcess<T> {
    /// None is made yet.
    pub(crate) fn new() -> Self {
        Self { whose: Process::this(), value: OnceLock::new(), of_children: OnceLock::new() }
    }

    /// That of this process.
    pub(crate) fn get_or_make<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        let this = Process::this();
        let mut own = self;
        while own.whose != this {
            own = own.of_children.get_or_init(|| Box::new(Self::new()));
        }
        if own.value.get().is_none() {
            // Where two threads make one, that of the first stays.
            let _ = own.value.set(make()?);
        }
        Ok(own.value.get().expect("it is there by now"))
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if self.whose != Process::this() {
            std::mem::forget(self.value.take());
        }
    }
}

/// A value of the process that made it, which is of no use in any other.
#[derive(Debug)]
pub(crate) struct Owned<T> {
    whose: Process,
    /// There until it is dropped.
    value: Option<T>,
}

impl<T> Owned<T> {
    /// That of this process.
    pub(crate) fn new(value: T) -> Self {
        Self { whose: Process::this(), value: Some(value) }
    }

    /// It, unless this process is another one.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.whose == Process::this())
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        if self.whose != Process::this() {
            std::mem::forget(self.value.take());
        }
    }
}
