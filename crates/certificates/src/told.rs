//! A question and the answer that is claimed of it: what all kinds of claims begin with.

use crate::path::{BadField, Path};
use clearance_proto as api;

/// A question, an answer to it, and where both are in a message.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a, Q, A> {
    /// What was asked.
    pub question: &'a Q,
    /// Leads to the question.
    pub asked: Path<'a>,
    /// What is claimed.
    pub answer: &'a A,
    /// Leads to the answer.
    pub path: Path<'a>,
}

impl<'a, Q, A> Told<'a, Q, A> {
    /// What a claim at `path` consists of.
    pub fn of(
        path: &'a Path<'a>,
        question: &'a Option<Q>,
        answer: &'a Option<A>,
    ) -> Result<Self, BadField> {
        Ok(Self {
            question: required(path, "question", question.as_ref())?,
            asked: path.field("question"),
            answer: required(path, "answer", answer.as_ref())?,
            path: path.field("answer"),
        })
    }

    /// A question and an answer that are at hand, in no message.
    pub fn here(question: &'a Q, answer: &'a A) -> Self {
        let (asked, path) = (Path::ROOT.field("question"), Path::ROOT.field("answer"));
        Self { question, asked, answer, path }
    }
}

/// The end of the bracket; without contact it does not matter.
pub fn t_contact(path: &Path<'_>, wire: &api::FindFirstContactResponse) -> Result<f64, BadField> {
    match wire.outcome() {
        api::Outcome::Contact => required(path, "t_contact", wire.t_contact.as_ref()).copied(),
        api::Outcome::Unspecified | api::Outcome::NoContact | api::Outcome::Undecided => Ok(1.0),
    }
}

/// A field that has to be there.
pub fn required<'a, T>(
    path: &Path<'_>,
    name: &'static str,
    wire: Option<&'a T>,
) -> Result<&'a T, BadField> {
    wire.ok_or_else(|| path.field(name).bad("is required"))
}
