//! Whether two bodies are separated, touching or overlapping.

use super::question::{AskedAt, AskedOfTwo, Question, Run, prepare};
use clearance_bodies::table::Wanted;
use clearance_bodies::table::verdict::{Decided, VerdictAnswer, VerdictQuestion};
use clearance_geometry::distance::Compared;
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_runtime::metrics::QuestionKind;
use clearance_wire::convert::body::{bodies, kinds, not_answered};
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::geometry::{margin, stopped_to_wire, verdict_to_wire};
use clearance_wire::convert::options::AnswerOptions;
use clearance_wire::convert::proofs::stand_within_to_wire;
use clearance_wire::convert::solids::{meeting_to_wire, unproven_to_wire};
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// A question about the verdict, checked.
#[derive(Clone, Debug)]
pub(super) struct CollisionQuestion {
    common: AskedOfTwo,
    row: VerdictQuestion,
    at: AskedAt,
}

impl Question for CollisionQuestion {
    type Wire = api::CheckCollisionRequest;
    type Answer = api::CheckCollisionResponse;
    const KIND: QuestionKind = QuestionKind::Collision;

    fn convert(
        path: &Path<'_>,
        wire: &Self::Wire,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let (p, q) = bodies(path, wire.p.as_ref(), wire.q.as_ref(), catalogue)?;
        let row = VerdictQuestion::of(kinds(&p, &q), margin(path, wire.margin)?);
        let row = row.map_err(|refused| not_answered(path, &refused))?;
        let name = |index| row.method_name(index);
        let (options, method) =
            AnswerOptions::convert(&path.field("options"), wire.options.as_ref(), name)?;
        let at = AskedAt::of(path, row.needs());
        let row = row.with_method(method);
        let common =
            AskedOfTwo::new([p, q], options, row.needs(), |vertices| row.nanoseconds(vertices));
        Ok(Self { common, row, at })
    }

    fn common(&self) -> &AskedOfTwo {
        &self.common
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { common, row, at } = self;
        let AskedOfTwo { bodies, options, .. } = common;
        let wanted = run.wanted(&options);
        let ready = |effort: &mut Effort<'_>| {
            row.prepare(prepare(bodies, effort)?).map_err(|refused| at.refuse(&refused))
        };
        let (found, cost) = run.measure(Self::KIND, ready, &options, |ready, effort| {
            Ok(ready.answer(wanted, effort))
        })?;
        let VerdictAnswer { decided, compared } =
            found.unwrap_or_else(|why| VerdictAnswer { decided: Err(why), compared: Err(why) });
        let mut answer = api::CheckCollisionResponse { cost: Some(cost), ..Default::default() };
        match decided {
            Ok(decided) => tell(&mut answer, &decided, compared.as_ref().ok(), wanted),
            Err(stopped) => answer.set_stopped(stopped_to_wire(Some(stopped))),
        }
        match compared {
            Ok(compared) => answer.within_margin = compared.map(|found| found.is_within),
            Err(stopped) => answer.set_stopped(stopped_to_wire(Some(stopped))),
        }
        Ok(answer)
    }
}

/// Writes a verdict with its proof, into which goes what shows that a margin is kept or not.
fn tell(
    answer: &mut api::CheckCollisionResponse,
    decided: &Decided,
    compared: Option<&Option<Compared>>,
    wanted: Wanted,
) {
    answer.set_verdict(verdict_to_wire(decided.verdict));
    answer.face_contact = decided.meeting.as_ref().map(meeting_to_wire);
    match &decided.proof {
        Ok(proof) if wanted.certificate => {
            let compared = compared.and_then(Option::as_ref);
            answer.certificate = Some(stand_within_to_wire(proof, compared));
        }
        Ok(_) | Err(None) => {}
        Err(Some(why)) => {
            answer.uncertified = true;
            answer.set_uncertified_reason(unproven_to_wire(*why));
        }
    }
}
