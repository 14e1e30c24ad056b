//! When two moving bodies first come into contact.

use super::question::{AskedAt, AskedOfTwo, Question, Run, prepare};
use clearance_bodies::table::first_contact::{FirstContactAnswer, FirstContactQuestion};
use clearance_geometry::claim::Outcome;
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_runtime::metrics::QuestionKind;
use clearance_wire::convert::body::{bodies, kinds, not_answered};
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::geometry::{
    outcome_to_wire, stopped_to_wire, vector_to_wire, verdict_to_wire,
};
use clearance_wire::convert::motions::motions;
use clearance_wire::convert::options::AnswerOptions;
use clearance_wire::convert::proofs::first_contact_certificate;
use clearance_wire::convert::solids::{meeting_to_wire, unproven_to_wire};
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// A question about the first contact, checked.
#[derive(Clone, Debug)]
pub(super) struct AskedFirstContact {
    common: AskedOfTwo,
    row: FirstContactQuestion,
    /// Whether it is also asked where and how they meet.
    impact: bool,
    at: AskedAt,
}

impl Question for AskedFirstContact {
    type Wire = api::FindFirstContactRequest;
    type Answer = api::FindFirstContactResponse;
    const KIND: QuestionKind = QuestionKind::FirstContact;

    fn convert(
        path: &Path<'_>,
        wire: &Self::Wire,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let (p, q) = bodies(path, wire.p.as_ref(), wire.q.as_ref(), catalogue)?;
        let (poses, motions) = ([p.pose(), q.pose()], motions(path, wire)?);
        let row = FirstContactQuestion::of(kinds(&p, &q), poses, motions);
        let row = row.map_err(|refused| not_answered(path, &refused))?;
        let options_path = path.field("options");
        let name = |index| row.method_name(index);
        let (options, method) = AnswerOptions::convert(&options_path, wire.options.as_ref(), name)?;
        let row = row.with_method(method).map_err(|why| options_path.field("method").bad(why))?;
        let at = AskedAt::of(path, row.needs());
        let common =
            AskedOfTwo::new([p, q], options, row.needs(), |vertices| row.nanoseconds(vertices));
        Ok(Self { common, row, impact: wire.impact, at })
    }

    fn common(&self) -> &AskedOfTwo {
        &self.common
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { common, row, impact, at } = self;
        let AskedOfTwo { bodies, options, .. } = common;
        let wanted = run.wanted(&options);
        let ready = |effort: &mut Effort<'_>| {
            row.prepare(prepare(bodies, effort)?).map_err(|refused| at.refuse(&refused))
        };
        let (found, cost) = run.measure(Self::KIND, ready, &options, |ready, effort| {
            ready.answer(impact, wanted, effort)
        })?;
        let mut answer = api::FindFirstContactResponse { cost: Some(cost), ..Default::default() };
        match found {
            Ok(found) => tell(&mut answer, &found, wanted.certificate),
            Err(stopped) => answer.set_stopped(stopped_to_wire(Some(stopped))),
        }
        Ok(answer)
    }
}

fn tell(
    answer: &mut api::FindFirstContactResponse,
    found: &FirstContactAnswer,
    is_proof_wanted: bool,
) {
    let impact = found.impact.as_ref();
    answer.point = impact.map(|met| vector_to_wire(&met.point));
    answer.normal = impact.and_then(|met| met.normal.as_ref()).map(vector_to_wire);
    answer.face_contact = found.meeting.as_ref().map(meeting_to_wire);
    answer.set_outcome(outcome_to_wire(found.outcome));
    answer.t_free = found.t_free;
    answer.t_contact = (found.outcome == Outcome::Contact).then_some(found.t_contact);
    answer.set_initial_verdict(verdict_to_wire(found.initial));
    answer.set_stopped(stopped_to_wire(found.stopped));
    match &found.proof {
        Ok(proof) => answer.certificate = is_proof_wanted.then(|| first_contact_certificate(proof)),
        Err(None) => {}
        Err(Some(why)) => {
            answer.uncertified = true;
            answer.set_uncertified_reason(unproven_to_wire(*why));
        }
    }
}
