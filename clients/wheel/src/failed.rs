//! Why a call failed, as an exception of Python.

use std::error::Error as _;
use std::fmt::Write;

use clearance_client::Error;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tonic::{Code, Status};
use tonic_types::StatusExt;

/// A call failed with this.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) Box<Status>);

impl From<Status> for Failed {
    fn from(status: Status) -> Self {
        Self(Box::new(status))
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        match error {
            Error::Status(status) => Self(status),
            Error::Address(why) => Status::invalid_argument(why).into(),
            Error::Connection(error) => Status::unavailable(with_causes(&error)).into(),
            Error::TakenOver => Status::aborted("another stream took the session over").into(),
            error @ (Error::Protocol(_) | Error::NotProven(_)) => {
                Status::internal(error.to_string()).into()
            }
        }
    }
}

/// A transport's error says little; what caused it says more.
fn with_causes(error: &tonic::transport::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        // Writing to a text does not fail.
        let _ = write!(words, ": {next}");
        cause = next.source();
    }
    words
}

impl From<Failed> for PyErr {
    fn from(failed: Failed) -> Self {
        Python::attach(|py| to_exception(py, &failed.0).unwrap_or_else(|error| error))
    }
}

/// `clearance.errors.of_status` makes it.
fn to_exception(py: Python<'_>, status: &Status) -> PyResult<PyErr> {
    let details = status.get_error_details();
    let metadata = PyDict::new(py);
    let mut reason = String::new();
    if let Some(info) = details.error_info() {
        reason.clone_from(&info.reason);
        for (name, value) in &info.metadata {
            metadata.set_item(name, value)?;
        }
    }
    let violations = details.bad_request().map(|bad| &bad.field_violations[..]).unwrap_or_default();
    let fields: Vec<(&str, &str)> =
        violations.iter().map(|one| (one.field.as_str(), one.description.as_str())).collect();
    let retry = details.retry_info().and_then(|info| info.retry_delay);
    let retry = retry.map(|delay| delay.as_secs_f64());
    if status.code() == Code::Aborted && reason.is_empty() && metadata.is_empty() {
        "TAKEN_OVER".clone_into(&mut reason);
    }
    let make = py.import("clearance.errors")?.getattr("of_status")?;
    let code = status.code() as i32;
    let made = make.call1((code, status.message(), reason, fields, metadata, retry))?;
    Ok(PyErr::from_value(made))
}
