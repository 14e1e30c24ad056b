//! The distance of two bodies.

use super::question::{AskedAt, AskedOfTwo, Question, Run, prepare};
use clearance_bodies::table::distance::{
    DistanceAnswer, DistanceAsked, DistanceQuestion, MeasuredDistance,
};
use clearance_geometry::distance::{Compared, Stops};
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_runtime::metrics::QuestionKind;
use clearance_wire::convert::body::{bodies, kinds, not_answered};
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::geometry::{
    length, margin, stopped_to_wire, vector_to_wire, verdict_to_wire,
};
use clearance_wire::convert::options::AnswerOptions;
use clearance_wire::convert::proofs::distance_certificate;
use clearance_wire::convert::solids::unproven_to_wire;
use clearance_wire::path::{BadField, Path};
use clearance_wire::status::Failure;

/// A question about the distance, checked.
#[derive(Clone, Debug)]
pub(super) struct AskedDistance {
    common: AskedOfTwo,
    row: DistanceQuestion,
    asked: DistanceAsked,
    at: AskedAt,
}

impl Question for AskedDistance {
    type Wire = api::MeasureDistanceRequest;
    type Answer = api::MeasureDistanceResponse;
    const KIND: QuestionKind = QuestionKind::Distance;

    fn convert(
        path: &Path<'_>,
        wire: &Self::Wire,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let (p, q) = bodies(path, wire.p.as_ref(), wire.q.as_ref(), catalogue)?;
        let row = DistanceQuestion::of(kinds(&p, &q));
        let row = row.map_err(|refused| not_answered(path, &refused))?;
        let name = |index| row.method_name(index);
        let (options, method) =
            AnswerOptions::convert(&path.field("options"), wire.options.as_ref(), name)?;
        let stop = |name, value: Option<f64>| -> Result<Option<f64>, BadField> {
            value.map(|value| length(&path.field(name), value)).transpose()
        };
        let stops = Stops {
            above: stop("stop_above", wire.stop_above)?,
            below: stop("stop_below", wire.stop_below)?,
        };
        let asked = DistanceAsked { stops, margin: margin(path, wire.margin)? };
        let at = AskedAt::of(path, row.needs());
        let row = row.with_method(method);
        let common = AskedOfTwo::new([p, q], options, row.needs(), |vertices| {
            row.nanoseconds(asked.margin, vertices)
        });
        Ok(Self { common, row, asked, at })
    }

    fn common(&self) -> &AskedOfTwo {
        &self.common
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { common, row, asked, at } = self;
        let AskedOfTwo { bodies, options, .. } = common;
        let wanted = run.wanted(&options);
        let ready = |effort: &mut Effort<'_>| {
            row.prepare(prepare(bodies, effort)?).map_err(|refused| at.refuse(&refused))
        };
        let (found, cost) = run.measure(Self::KIND, ready, &options, |ready, effort| {
            Ok(ready.answer(asked, wanted, effort))
        })?;
        let stopped = |why| DistanceAnswer { distance: Err(why), normal: None, compared: Err(why) };
        let DistanceAnswer { distance, normal, compared } = found.unwrap_or_else(stopped);
        let mut answer = api::MeasureDistanceResponse { cost: Some(cost), ..Default::default() };
        match distance {
            Ok(distance) => {
                let ([lower, upper], closest) = (distance.bounds(), distance.closest());
                answer.set_verdict(distance.verdict().map(verdict_to_wire).unwrap_or_default());
                answer.distance = Some(api::Bracket { lower, upper });
                answer.closest_p = closest.map(|[of_p, _]| vector_to_wire(&of_p));
                answer.closest_q = closest.map(|[_, of_q]| vector_to_wire(&of_q));
                answer.normal = normal.as_ref().map(vector_to_wire);
                if wanted.certificate {
                    prove(&mut answer, &distance, compared.as_ref().ok().and_then(Option::as_ref));
                }
                answer.set_stopped(stopped_to_wire(distance.stopped()));
            }
            Err(stopped) => answer.set_stopped(stopped_to_wire(Some(stopped))),
        }
        match compared {
            Ok(compared) => answer.within_margin = compared.map(|found| found.is_within),
            Err(stopped) => answer.set_stopped(stopped_to_wire(Some(stopped))),
        }
        Ok(answer)
    }
}

/// Adds the proof, or why there is none.
fn prove(
    answer: &mut api::MeasureDistanceResponse,
    found: &MeasuredDistance,
    compared: Option<&Compared>,
) {
    match distance_certificate(found, compared) {
        Ok(proof) => answer.certificate = Some(proof),
        Err(why) => {
            answer.uncertified = true;
            answer.set_uncertified_reason(why.map(unproven_to_wire).unwrap_or_default());
        }
    }
}
