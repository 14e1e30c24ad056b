//! How far P can move along a direction before it meets Q, and where it leaves Q again.

use std::time::Duration;

use super::question::{Question, Run};
use crate::rpc::convert::body::{AskedBody, polytopes};
use crate::rpc::convert::catalogue::Catalogue;
use crate::rpc::convert::geometry::{direction_vector, stopped_to_wire};
use crate::rpc::convert::options::AnswerOptions;
use crate::rpc::convert::ranges::answer_to_wire;
use crate::rpc::path::Path;
use crate::rpc::status::Failure;
use crate::runtime::metrics::QuestionKind;
use clearance_geometry::Vec3;
use clearance_geometry::penetration::{METHODS, RangeMethod, along_by};
use clearance_geometry::polytope::Tables;
use clearance_geometry::witness::Witness;
use clearance_proto as api;

/// A question about the distance along a direction, checked.
#[derive(Clone, Debug)]
pub(super) struct AlongQuestion {
    p: AskedBody,
    q: AskedBody,
    direction: Vec3,
    method: &'static RangeMethod,
    options: AnswerOptions,
}

impl Question for AlongQuestion {
    type Wire = api::MeasureDistanceAlongRequest;
    type Answer = api::MeasureDistanceAlongResponse;
    const KIND: QuestionKind = QuestionKind::DistanceAlong;

    fn convert(
        path: &Path<'_>,
        wire: &Self::Wire,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let (p, q) = polytopes(path, wire.p.as_ref(), wire.q.as_ref(), catalogue)?;
        let direction = direction_vector(&path.field("direction"), wire.direction.as_ref())?;
        let (options, method) =
            AnswerOptions::convert(&path.field("options"), wire.options.as_ref(), METHODS)?;
        Ok(Self { p, q, direction, method, options })
    }

    fn bodies(&self) -> (&AskedBody, &AskedBody) {
        (&self.p, &self.q)
    }

    fn tables(&self) -> Tables {
        self.method.tables
    }

    fn options(&self) -> &AnswerOptions {
        &self.options
    }

    fn estimate(&self, p: u32, q: u32) -> Duration {
        Duration::from_micros(100) + Duration::from_nanos(50) * p.saturating_add(q)
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { p, q, direction, method, options } = self;
        let (range, cost) = run.measure(Self::KIND, [p, q], &options, |pair, effort| {
            along_by(pair, &direction, method, &mut Witness::default(), effort)
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
