//! A question and the answer that is claimed of it: what all kinds of claims begin with.

use super::compounds::PartsStatement;
use super::{Claim, PairClaim, required};
use crate::rpc::api;
use crate::rpc::convert::Path;
use crate::rpc::convert::body::{AskedBody, AskedParts};
use crate::rpc::services::queries::{bodies, polytopes};
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;

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

/// A question about two bodies, and how claims of an answer to it are read.
pub(super) trait AboutTwo: Sized {
    /// To this question.
    type Answer;
    /// Whether it can be asked about polyhedra, too.
    const TAKES_POLYHEDRA: bool;

    /// P and Q.
    fn bodies(&self) -> [Option<&api::PlacedBody>; 2];
    /// Of bodies of one part each.
    fn of_pair(
        told: &Told<'_, Self, Self::Answer>,
        bodies: [AskedBody; 2],
    ) -> Result<PairClaim, Failure>;
    /// Of bodies one of which at least is a compound.
    fn of_parts(
        told: &Told<'_, Self, Self::Answer>,
        bodies: [AskedParts; 2],
    ) -> Result<PartsStatement, Failure>;
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

impl<Q: AboutTwo> Told<'_, Q, Q::Answer> {
    /// The claim, everything checked that is wrong whatever the geometry.
    pub(super) fn about_two(&self, shared: &Shared) -> Result<Claim, Failure> {
        let [p, q] = self.question.bodies();
        if is_compound(p) || is_compound(q) {
            let parts = |name, body| AskedParts::convert(&self.asked.field(name), body, shared);
            let of_parts = Q::of_parts(self, [parts("p", p)?, parts("q", q)?])?;
            return Ok(Claim::OfParts(Box::new(of_parts)));
        }
        let convert = if Q::TAKES_POLYHEDRA { bodies } else { polytopes };
        let (p, q) = convert(&self.asked, p, q, shared)?;
        Ok(Claim::OfTwo(Box::new(Q::of_pair(self, [p, q])?)))
    }
}

fn is_compound(body: Option<&api::PlacedBody>) -> bool {
    let source = body.and_then(|body| body.source.as_ref());
    matches!(source, Some(api::placed_body::Source::Compound(_)))
}
