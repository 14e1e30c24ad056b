//! The penetration depth of two bodies.

use super::question::{Question, Run, prepare};
use clearance_bodies::table::Needs;
use clearance_bodies::table::depth::{DepthQuestion, MeasuredDepth};
use clearance_certificates::rounded::rounded_depth_to_wire;
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_runtime::metrics::QuestionKind;
use clearance_wire::convert::body::{AskedBody, bodies, kinds, not_answered};
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::certificate::depth_to_wire;
use clearance_wire::convert::geometry::{stopped_to_wire, vector_to_wire, verdict_to_wire};
use clearance_wire::convert::options::AnswerOptions;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// A question about the depth, checked.
#[derive(Clone, Debug)]
pub(super) struct PenetrationQuestion {
    p: AskedBody,
    q: AskedBody,
    row: DepthQuestion,
    with_surface: bool,
    options: AnswerOptions,
}

impl Question for PenetrationQuestion {
    type Wire = api::MeasurePenetrationRequest;
    type Answer = api::MeasurePenetrationResponse;
    const KIND: QuestionKind = QuestionKind::Penetration;

    fn convert(
        path: &Path<'_>,
        wire: &Self::Wire,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let (p, q) = bodies(path, wire.p.as_ref(), wire.q.as_ref(), catalogue)?;
        let row = DepthQuestion::of(kinds(&p, &q));
        let row = row.map_err(|refused| not_answered(path, &refused))?;
        let options = AnswerOptions::without_method(&path.field("options"), wire.options.as_ref())?;
        let with_surface = wire.with_surface && !options.omit_certificate;
        Ok(Self { p, q, row, with_surface, options })
    }

    fn bodies(&self) -> (&AskedBody, &AskedBody) {
        (&self.p, &self.q)
    }

    fn needs(&self) -> Needs {
        self.row.needs()
    }

    fn options(&self) -> &AnswerOptions {
        &self.options
    }

    fn nanoseconds(&self, vertices: u32) -> u64 {
        self.row.nanoseconds(vertices)
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { p, q, row, with_surface, options } = self;
        let ready = |effort: &mut Effort<'_>| Ok(row.prepare(prepare([p, q], effort)?));
        let (depth, cost) = run.measure(Self::KIND, ready, &options, |ready, effort| {
            row.answer(ready, with_surface, effort)
        })?;
        let mut answer = api::MeasurePenetrationResponse { cost: Some(cost), ..Default::default() };
        match depth {
            Ok(depth) => {
                let [lower, upper] = depth.bounds();
                answer.set_verdict(verdict_to_wire(depth.verdict()));
                answer.depth = Some(api::Bracket { lower, upper });
                answer.direction = depth.direction().as_ref().map(vector_to_wire);
                answer.certificate = (!options.omit_certificate).then(|| certificate(&depth));
                answer.set_stopped(stopped_to_wire(depth.stopped()));
            }
            Err(stopped) => answer.set_stopped(stopped_to_wire(Some(stopped))),
        }
        Ok(answer)
    }
}

fn certificate(found: &MeasuredDepth) -> api::PenetrationCertificate {
    match found {
        MeasuredDepth::OfHulls(found) => depth_to_wire(found),
        MeasuredDepth::OfRounded(found) => {
            rounded_depth_to_wire(&found.proof, found.face.as_ref(), found.surface.as_ref())
        }
    }
}
