//! The descriptors that the process may have: each connection takes one.
//!
//! Most systems give a process 1,024 at first and let it have many more when it asks; without
//! asking, about a thousand idle connections left none, and nobody was let in or sent away.

use super::settings::Limits;

/// For what is no connection: standard streams, listener, the runtime's own, files that are read,
/// and connections that are told to leave and have not left.
const RESERVED: u64 = 64;

/// Asks for as many as the process may have.
#[cfg(target_os = "linux")]
pub fn raise() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(%error, "cannot ask for more file descriptors");
    }
}

/// Elsewhere there are as many as there are.
#[cfg(not(target_os = "linux"))]
pub fn raise() {}

/// How many the process may have now; none: as many as it likes, or nobody knows.
#[cfg(target_os = "linux")]
fn allowed() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

/// Elsewhere nobody is asked.
#[cfg(not(target_os = "linux"))]
fn allowed() -> Option<u64> {
    None
}

/// Cuts `connections_max` to what the descriptors of the process allow, and says so in the log.
pub fn fit(limits: &mut Limits) {
    let Some(descriptors) = allowed() else { return };
    let most = connections_within(descriptors);
    let asked = limits.connections_max;
    if asked > most {
        tracing::warn!(
            connections_max = most,
            asked,
            descriptors,
            reserved = descriptors - most,
            "fewer connections than asked for: the process may not have more file descriptors"
        );
        limits.connections_max = most;
    }
}

/// How many connections so many descriptors are enough for.
fn connections_within(descriptors: u64) -> u64 {
    descriptors.saturating_sub(RESERVED).max(descriptors / 2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_what_is_none() {
        let of = [1_024, 256, 128, 100, 1, 0].map(connections_within);
        assert_eq!(of, [960, 192, 64, 50, 1, 1]);
    }

    #[test]
    fn connections_that_are_fewer_than_allowed_stay_as_many() {
        let mut limits = Limits { connections_max: 3, ..Limits::default() };
        fit(&mut limits);
        assert_eq!(limits.connections_max, 3);
    }
}
