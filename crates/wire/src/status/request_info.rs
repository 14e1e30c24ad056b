//! A status that says to which request it is the answer (`google.rpc.RequestInfo`).

use tonic::Status;
use tonic_types::StatusExt;

/// The same status, with the id of the request among its details.
#[must_use]
pub fn with_request_id(status: &Status, request_id: &str) -> Status {
    let mut details = status.get_error_details();
    details.set_request_info(request_id, "");
    Status::with_error_details_and_metadata(
        status.code(),
        status.message(),
        details,
        status.metadata().clone(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Failure;

    #[test]
    fn what_a_status_says_stays_beside_the_id() {
        let mut status = Status::from(Failure::Busy);
        status.metadata_mut().insert("other", "kept".parse().unwrap());
        let named = with_request_id(&status, "seven");
        assert_eq!((named.code(), named.message()), (status.code(), status.message()));
        assert_eq!(named.metadata().get("other").unwrap(), "kept");
        let details = named.get_error_details();
        assert_eq!(details.request_info().unwrap().request_id, "seven");
        assert_eq!(details.error_info().unwrap().reason, "BUSY");
        assert!(details.retry_info().unwrap().retry_delay.is_some());
    }
}
