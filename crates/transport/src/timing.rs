//! How long a call may take: the least of its caller's deadline, the server's limit and the budget.

use std::time::Duration;

use http::HeaderMap;
use tonic::metadata::MetadataMap;

use clearance_runtime::deadline::Deadline;
use clearance_runtime::settings::Limits;
use clearance_wire::status::Failure;

/// The header with the caller's deadline.
const GRPC_TIMEOUT: &str = "grpc-timeout";

/// What there is for the whole call, if there is any: without, the deadline has passed.
pub fn call_time(limits: &Limits, headers: &HeaderMap) -> Result<Duration, Failure> {
    let deadline = headers.get(GRPC_TIMEOUT).and_then(|value| value.to_str().ok());
    let own = Duration::from_secs(limits.call_seconds_max);
    let time = deadline.and_then(parse_timeout).map_or(own, |deadline| deadline.min(own));
    if time.is_zero() { Err(Failure::Deadline) } else { Ok(time) }
}

/// Until when an answer is waited for, from now on: for as long as there is for the whole call,
/// less what it takes to reply, and no longer than its budget.
pub fn deadline(
    limits: &Limits,
    metadata: &MetadataMap,
    budget: Option<Duration>,
) -> Result<Deadline, Failure> {
    let time = call_time(limits, metadata.as_ref())?;
    // Part of the time is for the way back, so that the best bracket so far is not lost.
    let usable = time - (time / 20).min(Duration::from_millis(50));
    Ok(Deadline::after(budget.map_or(usable, |budget| budget.min(usable))))
}

/// At most eight digits and a unit, as gRPC has it.
fn parse_timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let value: u64 = digits.parse().ok().filter(|_| digits.len() <= 8)?;
    Some(match unit {
        "H" => Duration::from_secs(value * 3600),
        "M" => Duration::from_secs(value * 60),
        "S" => Duration::from_secs(value),
        "m" => Duration::from_millis(value),
        "u" => Duration::from_micros(value),
        "n" => Duration::from_nanos(value),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_read_as_grpc_writes_them() {
        assert_eq!(parse_timeout("15S"), Some(Duration::from_secs(15)));
        assert_eq!(parse_timeout("250m"), Some(Duration::from_millis(250)));
        assert_eq!(parse_timeout("2H"), Some(Duration::from_secs(7200)));
        for bad in ["", "S", "1", "1x", "123456789S", "-1S", "1é"] {
            assert_eq!(parse_timeout(bad), None, "{bad}");
        }
    }

    #[tokio::test]
    async fn the_budget_the_deadline_and_the_servers_limit_are_all_kept() {
        let limits = &Limits { call_seconds_max: 4, ..Limits::default() };
        let mut metadata = MetadataMap::new();
        let seconds = Duration::from_secs;
        let time_left = |metadata: &MetadataMap, budget| {
            deadline(limits, metadata, budget).map(|deadline| deadline.time())
        };
        assert_eq!(time_left(&metadata, Some(seconds(3))).unwrap(), seconds(3));
        assert_eq!(time_left(&metadata, None).unwrap(), Duration::from_millis(3950));
        metadata.insert("grpc-timeout", "2S".parse().unwrap());
        assert_eq!(time_left(&metadata, None).unwrap(), Duration::from_millis(1950));
        assert_eq!(time_left(&metadata, Some(seconds(1))).unwrap(), seconds(1));
        metadata.insert("grpc-timeout", "9S".parse().unwrap());
        assert_eq!(time_left(&metadata, None).unwrap(), Duration::from_millis(3950));
        metadata.insert("grpc-timeout", "0S".parse().unwrap());
        assert!(matches!(time_left(&metadata, None), Err(Failure::Deadline)));
    }
}
