//! How much memory there is, and how much the process has: what Linux says in its files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::settings::Limits;

/// The memory budget gives out one part in so many of what there is: the rest is for the program
/// itself, for what the allocator cannot give back at once, and for whatever else runs there.
const PART: u64 = 2;

/// Where nothing tells how much there is.
const FALLBACK_BYTES: u64 = 4 << 30;

/// A part of what the process may have: of the machine's memory, of the limits of its control
/// groups, and of its address space.
pub fn default_bytes_max() -> u64 {
    let machine = read("/proc/meminfo").and_then(|text| of_meminfo(&text));
    let least = limits_of_process().chain(machine).min();
    least.map_or(FALLBACK_BYTES, |bytes| bytes / PART)
}

/// What ends a process that holds more: its control groups and its address space.
fn limits_of_process() -> impl Iterator<Item = u64> {
    groups().into_iter().chain(address_space_max())
}

/// Cuts `memory_bytes_max` to the part that may be given out of what the process may hold, and
/// says so in the log. With 4 GiB to give out of an address space of 1 GiB, one request ended the
/// server.
pub fn fit(limits: &mut Limits) {
    let Some(most) = limits_of_process().min().map(|bytes| bytes / PART) else { return };
    let asked = limits.memory_bytes_max;
    if asked > most {
        tracing::warn!(
            memory_bytes_max = most,
            asked,
            "less memory than asked for: the process would be ended if it held more"
        );
        limits.memory_bytes_max = most;
    }
}

/// The address space that the process may have, if that is limited.
pub fn address_space_max() -> Option<u64> {
    read("/proc/self/limits").and_then(|text| of_limits(&text))
}

/// The memory that the process holds now, if anything tells.
pub fn resident_bytes() -> Option<u64> {
    let text = read("/proc/self/status")?;
    kib_after(&text, "VmRSS:")
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn of_meminfo(text: &str) -> Option<u64> {
    kib_after(text, "MemTotal:")
}

/// `Max address space         629145600            unlimited            bytes`
fn of_limits(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn kib_after(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1 << 10)
}

/// The limits of the control groups that the process is in, of both versions, and of those around
/// them.
fn groups() -> Vec<u64> {
    let root = Path::new("/sys/fs/cgroup");
    let mut limits = Vec::new();
    for line in read("/proc/self/cgroup").unwrap_or_default().lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let (top, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            "memory" => (root.join("memory"), "memory.limit_in_bytes"),
            _ => continue,
        };
        let inner: PathBuf = top.join(group.trim_start_matches('/'));
        let around = inner.ancestors().take_while(|path| path.starts_with(&top));
        limits.extend(around.filter_map(|path| read(path.join(file))?.trim().parse::<u64>().ok()));
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_is_read_as_it_writes() {
        assert_eq!(
            of_meminfo("MemTotal:       24684000 kB\nMemFree: 1 kB\n"),
            Some(24_684_000 << 10)
        );
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max address space         629145600            unlimited            bytes\n";
        assert_eq!(of_limits(limits), Some(629_145_600));
        assert_eq!(of_limits(&limits.replace("629145600", "unlimited")), None);
        let max = default_bytes_max();
        assert!(max >= 16 << 20, "{max}");
        assert!(resident_bytes().is_none_or(|bytes| bytes > 1 << 20));
    }
}
