//! The distance of two polytopes.

use std::time::Duration;

use arrayvec::ArrayVec;

use super::question::{Question, Run};
use crate::rpc::convert::body::{AskedBody, polytopes};
use crate::rpc::convert::catalogue::Catalogue;
use crate::rpc::convert::certificate::distance_to_wire;
use crate::rpc::convert::geometry::{
    length, margin, stopped_to_wire, vector_to_wire, verdict_to_wire,
};
use crate::rpc::convert::options::AnswerOptions;
use crate::rpc::path::{BadField, Path};
use crate::rpc::status::Failure;
use crate::runtime::metrics::QuestionKind;
use clearance_geometry::distance::{DistanceMethod, METHODS, Stops, compare, measure_by};
use clearance_geometry::meeting::normal_of;
use clearance_geometry::pair::VertexPair;
use clearance_geometry::polytope::Tables;
use clearance_geometry::witness::Witness;
use clearance_proto as api;

/// A question about the distance, checked.
#[derive(Clone, Debug)]
pub(super) struct DistanceQuestion {
    p: AskedBody,
    q: AskedBody,
    margin: Option<f64>,
    stops: Stops,
    method: &'static DistanceMethod,
    options: AnswerOptions,
}

impl Question for DistanceQuestion {
    type Wire = api::MeasureDistanceRequest;
    type Answer = api::MeasureDistanceResponse;
    const KIND: QuestionKind = QuestionKind::Distance;

    fn convert(
        path: &Path<'_>,
        wire: &Self::Wire,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let (p, q) = polytopes(path, wire.p.as_ref(), wire.q.as_ref(), catalogue)?;
        let (options, method) =
            AnswerOptions::convert(&path.field("options"), wire.options.as_ref(), METHODS)?;
        let stop = |name, value: Option<f64>| -> Result<Option<f64>, BadField> {
            value.map(|value| length(&path.field(name), value)).transpose()
        };
        let stops = Stops {
            above: stop("stop_above", wire.stop_above)?,
            below: stop("stop_below", wire.stop_below)?,
        };
        Ok(Self { p, q, margin: margin(path, wire.margin)?, stops, method, options })
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
        Duration::from_micros(40) + Duration::from_nanos(50) * p.saturating_add(q)
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { p, q, margin, stops, method, options } = self;
        let (found, cost) = run.measure(Self::KIND, [p, q], &options, |pair, effort| {
            let mut witness = Witness::default();
            let distance = measure_by(method, pair, stops, &mut witness, effort);
            let normal = distance.as_ref().ok().and_then(|found| normal_of(pair, found, None));
            let compared = margin.map(|margin| compare(pair, margin, &mut witness, effort));
            Ok((distance, normal, compared.transpose()))
        })?;
        let (distance, normal, compared) = found.unwrap_or_else(|why| (Err(why), None, Err(why)));
        let mut answer = api::MeasureDistanceResponse { cost: Some(cost), ..Default::default() };
        let margin_pairs = compared.iter().flatten().flat_map(|found| found.pairs.clone());
        let margin_pairs: ArrayVec<VertexPair, 3> = margin_pairs.collect();
        match distance {
            Ok(distance) => {
                answer.set_verdict(verdict_to_wire(distance.decision.verdict()));
                answer.distance =
                    Some(api::Bracket { lower: distance.lower, upper: distance.upper });
                answer.closest_p = Some(vector_to_wire(&distance.closest_p));
                answer.closest_q = Some(vector_to_wire(&distance.closest_q));
                answer.normal = normal.as_ref().map(vector_to_wire);
                answer.certificate =
                    (!options.omit_certificate).then(|| distance_to_wire(&distance, &margin_pairs));
                answer.set_stopped(stopped_to_wire(distance.stopped));
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
