//! The penetration depth of two bodies.

use super::question::{AskedAt, AskedOfTwo, Question, Run, prepare};
use clearance_bodies::table::depth::{DepthQuestion, MeasuredDepth};
use clearance_geometry::effort::Effort;
use clearance_geometry::faces::deep::PieceDepth;
use clearance_proto as api;
use clearance_runtime::metrics::QuestionKind;
use clearance_wire::convert::body::{bodies, kinds, not_answered};
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::geometry::{stopped_to_wire, vector_to_wire, verdict_to_wire};
use clearance_wire::convert::options::AnswerOptions;
use clearance_wire::convert::proofs::depth_certificate;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// A question about the depth, checked.
#[derive(Clone, Debug)]
pub(super) struct PenetrationQuestion {
    common: AskedOfTwo,
    row: DepthQuestion,
    with_surface: bool,
    at: AskedAt,
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
        let at = AskedAt::of(path, row.needs());
        let common =
            AskedOfTwo::new([p, q], options, row.needs(), |vertices| row.nanoseconds(vertices));
        Ok(Self { common, row, with_surface, at })
    }

    fn common(&self) -> &AskedOfTwo {
        &self.common
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { common, row, with_surface, at } = self;
        let AskedOfTwo { bodies, options, .. } = common;
        let ready = |effort: &mut Effort<'_>| {
            row.prepare(prepare(bodies, effort)?).map_err(|refused| at.refuse(&refused))
        };
        let (depth, cost) = run.measure(Self::KIND, ready, &options, |ready, effort| {
            ready.answer(with_surface, effort)
        })?;
        let mut answer = api::MeasurePenetrationResponse { cost: Some(cost), ..Default::default() };
        match depth {
            Ok(depth) => {
                let [lower, upper] = depth.bounds();
                answer.set_verdict(depth.verdict().map(verdict_to_wire).unwrap_or_default());
                answer.depth = Some(api::Bracket { lower, upper });
                answer.direction = depth.direction().as_ref().map(vector_to_wire);
                if !options.omit_certificate {
                    prove(&mut answer, &depth);
                }
                answer.deepest_pieces = depth.pieces().as_ref().map(pieces_to_wire);
                answer.set_stopped(stopped_to_wire(depth.stopped()));
            }
            Err(stopped) => answer.set_stopped(stopped_to_wire(Some(stopped))),
        }
        Ok(answer)
    }
}

/// Adds the proof, or why there is none.
fn prove(answer: &mut api::MeasurePenetrationResponse, found: &MeasuredDepth) {
    match depth_certificate(found) {
        Ok(proof) => answer.certificate = Some(proof),
        Err(why) => {
            answer.uncertified = true;
            answer.set_uncertified_reason(why);
        }
    }
}

fn pieces_to_wire(found: &PieceDepth) -> api::PieceDepth {
    let ([p_piece, q_piece], [lower, upper]) = (found.pieces, found.bounds);
    let depth = Some(api::Bracket { lower, upper });
    let direction = Some(vector_to_wire(&found.direction));
    api::PieceDepth { p_piece, q_piece, depth, direction }
}
