//! Free pages between pieces in use, given back to the system.
//!
//! glibc gives back by itself what is free at the end of a heap. What is free below a piece in use
//! stays: with fifty small polytopes registered between large ones that came and went, 175 MiB
//! stayed where 14 were said. So it is told to look for whole free pages where the process holds
//! more than the memory budget says.

use std::time::Duration;

use super::{MemoryBudget, resident_bytes};

/// Between two looks at what is held.
const EVERY: Duration = Duration::from_secs(1);

/// It is looked for free pages where more is held than a quarter over what is said, and this.
const SLACK_BYTES: u64 = 8 << 20;

/// After a search so many looks go by, unless more is held by as much again: what is held beside
/// what is said may be in use.
const LOOKS_LATER: u32 = 30;

/// Gives free pages back, for as long as it is polled, where the process holds more than the
/// memory budget says. The search locks one heap after the other, so it is only made where there is
/// something to find.
pub async fn tidy(memory_budget: MemoryBudget) {
    let Some(own) = resident_bytes() else { return };
    let excess = || {
        let said = memory_budget.total();
        resident_bytes().unwrap_or(0).saturating_sub(own + said + said / 4)
    };
    let (mut left, mut looks) = (0, 0);
    loop {
        tokio::time::sleep(EVERY).await;
        looks += 1;
        if looks >= LOOKS_LATER {
            left = 0;
        }
        let before = excess();
        if before <= left + SLACK_BYTES {
            continue;
        }
        // It may take a while, and others wait on this thread.
        if tokio::task::spawn_blocking(give_free_pages_back).await.is_err() {
            return;
        }
        (left, looks) = (excess(), 0);
        tracing::debug!(before, left, "free pages were given back");
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no crate declares it as the safe function that it is")]
fn give_free_pages_back() {
    use std::ffi::c_int;

    // SAFETY: this is its declaration in glibc's malloc.h; it may be called from any thread at any
    // time (malloc_trim(3): MT-Safe).
    unsafe extern "C" {
        safe fn malloc_trim(pad: usize) -> c_int;
    }
    malloc_trim(0);
}

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_free_pages_back() {}
