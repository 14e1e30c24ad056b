//! The priority of threads that compute.
//!
//! A thread that speaks to clients works for some microseconds and sleeps again. When it wakes up
//! and as many threads as there are processors compute, all with the same priority, the scheduler
//! lets one of these go on for its slice first: milliseconds, for each of the ones before it in
//! line. With a lower priority of theirs it runs at once, nearly always.

/// How much lower: they get a third of the time of a thread that has the usual priority and never
/// sleeps. With much more, a thread that was interrupted while it held a lock of the allocator
/// would keep the others waiting for longer than its priority saves them.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

/// This thread is to compute: it gives way to others.
#[cfg(target_os = "linux")]
pub(super) fn give_way() {
    // On Linux each thread has a priority of its own. Whoever may not lower it is only slower to
    // answer others.
    let _ = rustix::process::nice(NICENESS);
}

/// Elsewhere the whole process would give way.
#[cfg(not(target_os = "linux"))]
pub(super) fn give_way() {}
