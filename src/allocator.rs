//! Floor 4: how the system's allocator is told to give memory back.
//!
//! The memory budget (`clearance_runtime::memory`) means something only if what was given back
//! there leaves the process, too. So it is glibc's allocator with settings: left alone, it raises
//! the size from which an allocation is a mapping of its own to 32 MiB as soon as a large one is
//! freed, and keeps what is freed below that.
//!
//! An allocator that is linked in would need no second start. mimalloc 0.1.52 was tried in its
//! place, as it is and with `MIMALLOC_PURGE_DELAY=0`: of the eleven memory rows of `tests/attack`
//! (`held`, `account`, `memory`, `watchers`) five and four fail. With no load it holds 59 and 44
//! MiB, where this holds 19; of requests whose last byte never comes 1,267 and 1,188 MiB, where
//! this holds 405 and may hold 682; and where address space is limited, allocations fail that the
//! budget had granted.
//!
//! Its caches of small pieces, one for each thread, are switched off. A heap ends at its last piece
//! in use, a cached piece is one in use, and seven of each size stay cached for as long as their
//! thread lives: so a heap stayed as high as it had once been. After five sessions of 44,850 pairs
//! were closed, 223 MiB stayed; without the caches 38, of which 13 are in use and 16 the program's
//! own. Four balls of 40,000 vertices with their tables, registered and deleted four times: 59, 87,
//! 112, 135 MiB; without the caches 19, 23, 23, 23. A question of 110 us costs 2 us more for that,
//! and a frame of two bodies 0.3 of 6 us. What is free in a heap below a piece in use is given back
//! by the page, when much is (`clearance_runtime::memory::tidy`).
//!
//! Its heaps are left as many as it likes, up to eight for each processor: so each thread has one.
//! Where threads share a heap, one that speaks to a client waits for one that was interrupted while
//! it computed and allocated, half a second at worst when there are more threads than processors.
//! But each heap takes 64 MiB of address space, so where that is limited they are fewer.
//!
//! glibc reads its settings before `main`. So the program starts itself once more, in the same
//! process, with them in its environment.

/// The settings, of which each is kept if the environment has it.
#[cfg(target_env = "gnu")]
const SETTINGS: &[(&str, &str)] = &[
    // Larger allocations are mappings of their own, and gone when they are freed. Smaller would
    // cost ordinary questions a system call for each list; a list of this size costs 64 of them.
    ("MALLOC_MMAP_THRESHOLD_", "262144"),
    // The end of a heap that is free is given back from this size on.
    ("MALLOC_TRIM_THRESHOLD_", "262144"),
    // No caches for threads.
    ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0"),
];

/// The most heaps that there may be.
#[cfg(target_env = "gnu")]
const HEAPS_MAX: &str = "MALLOC_ARENA_MAX";

/// The address space of a heap, bytes.
#[cfg(target_env = "gnu")]
const HEAP_BYTES: u64 = 64 << 20;

/// Of a limited address space heaps take one part in so many: half is what the budget gives out,
/// and most of that is in mappings of its own.
#[cfg(target_env = "gnu")]
const HEAPS_PART: u64 = 4;

/// The settings that the environment lacks: of an allocator that gives memory back, a program that
/// serves is to be started with them.
#[cfg(target_env = "gnu")]
pub fn missing_settings() -> Vec<(&'static str, String)> {
    use clearance_runtime::memory::address_space_max;

    let heaps = address_space_max().map(|bytes| (bytes / HEAPS_PART / HEAP_BYTES).max(1));
    let heaps = heaps.map(|count| (HEAPS_MAX, count.to_string()));
    let settings = SETTINGS.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let settings = settings.chain(heaps);
    settings.filter(|(name, _)| std::env::var_os(name).is_none()).collect()
}

/// Starts the program once more with an allocator that gives memory back, unless it is that
/// already. Returns if it is, or if that is not possible: then the answers are the same.
#[cfg(target_env = "gnu")]
pub fn give_memory_back() {
    use std::os::unix::process::CommandExt;

    let missing = missing_settings();
    let mut arguments = std::env::args_os();
    let (Ok(program), Some(name)) = (std::env::current_exe(), arguments.next()) else { return };
    if missing.is_empty() {
        return;
    }
    let mut command = std::process::Command::new(program);
    // It returns only if it fails.
    let _ = command.arg0(name).args(arguments).envs(missing).exec();
}

/// Other allocators are left as they are.
#[cfg(not(target_env = "gnu"))]
pub fn give_memory_back() {}

/// Other allocators have none.
#[cfg(not(target_env = "gnu"))]
pub fn missing_settings() -> Vec<(&'static str, String)> {
    Vec::new()
}
