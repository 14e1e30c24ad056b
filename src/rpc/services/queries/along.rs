//! How far P can move along a direction before it meets Q, and where it leaves Q again.

use super::question::{AskedOfTwo, Question, Run, prepare};
use clearance_bodies::table::along::AlongQuestion;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_runtime::metrics::QuestionKind;
use clearance_wire::convert::body::{bodies, kinds, not_answered};
use clearance_wire::convert::catalogue::Catalogue;
use clearance_wire::convert::geometry::{direction_vector, stopped_to_wire};
use clearance_wire::convert::options::AnswerOptions;
use clearance_wire::convert::ranges::answer_to_wire;
use clearance_wire::path::Path;
use clearance_wire::status::Failure;

/// A question about the distance along a direction, checked.
#[derive(Clone, Debug)]
pub(super) struct AskedAlong {
    common: AskedOfTwo,
    row: AlongQuestion,
    direction: Vec3,
}

impl Question for AskedAlong {
    type Wire = api::MeasureDistanceAlongRequest;
    type Answer = api::MeasureDistanceAlongResponse;
    const KIND: QuestionKind = QuestionKind::DistanceAlong;

    fn convert(
        path: &Path<'_>,
        wire: &Self::Wire,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let (p, q) = bodies(path, wire.p.as_ref(), wire.q.as_ref(), catalogue)?;
        let row = AlongQuestion::of(kinds(&p, &q));
        let row = row.map_err(|refused| not_answered(path, &refused))?;
        let direction = direction_vector(&path.field("direction"), wire.direction.as_ref())?;
        let name = |index| row.method_name(index);
        let (options, method) =
            AnswerOptions::convert(&path.field("options"), wire.options.as_ref(), name)?;
        let row = row.with_method(method);
        let common =
            AskedOfTwo::new([p, q], options, row.needs(), |vertices| row.nanoseconds(vertices));
        Ok(Self { common, row, direction })
    }

    fn common(&self) -> &AskedOfTwo {
        &self.common
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { common, row, direction } = self;
        let AskedOfTwo { bodies, options, .. } = common;
        let wanted = run.wanted(&options);
        let ready = |effort: &mut Effort<'_>| Ok(row.prepare(prepare(bodies, effort)?));
        let (range, cost) = run.measure(Self::KIND, ready, &options, |ready, effort| {
            ready.answer(&direction, wanted, effort)
        })?;
        let mut answer = match range {
            Ok(range) => answer_to_wire(&range, !options.omit_certificate),
            Err(stopped) => api::MeasureDistanceAlongResponse {
                stopped: stopped_to_wire(Some(stopped)).into(),
                ..Default::default()
            },
        };
        answer.cost = Some(cost);
        Ok(answer)
    }
}
