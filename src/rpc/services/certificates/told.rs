//! A question and the answer that is claimed of it: what all kinds of claims begin with.

use crate::rpc::path::Path;
use crate::rpc::status::Failure;
use clearance_proto as api;

/// Both, and where they are in the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told<'a, Q, A> {
    pub(super) question: &'a Q,
    /// Leads to the question.
    pub(super) asked: Path<'a>,
    pub(super) answer: &'a A,
    /// Leads to the answer.
    pub(super) path: Path<'a>,
}

impl<'a, Q, A> Told<'a, Q, A> {
    /// What a claim at `path` consists of.
    pub(super) fn of(
        path: &'a Path<'a>,
        question: &'a Option<Q>,
        answer: &'a Option<A>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            question: required(path, "question", question.as_ref())?,
            asked: path.field("question"),
            answer: required(path, "answer", answer.as_ref())?,
            path: path.field("answer"),
        })
    }
}

/// The end of the bracket; without contact it does not matter.
pub(super) fn t_contact(
    path: &Path<'_>,
    wire: &api::FindFirstContactResponse,
) -> Result<f64, Failure> {
    match wire.outcome() {
        api::Outcome::Contact => required(path, "t_contact", wire.t_contact.as_ref()).copied(),
        api::Outcome::Unspecified | api::Outcome::NoContact | api::Outcome::Undecided => Ok(1.0),
    }
}

/// A field that has to be there.
pub(super) fn required<'a, T>(
    path: &Path<'_>,
    name: &'static str,
    wire: Option<&'a T>,
) -> Result<&'a T, Failure> {
    wire.ok_or_else(|| path.field(name).bad("is required").into())
}
