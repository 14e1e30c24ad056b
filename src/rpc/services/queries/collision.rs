//! Whether two bodies are separated, touching or overlapping.

use std::time::Duration;

use arrayvec::ArrayVec;

use super::polyhedra::{self, Places};
use super::question::{Question, Run};
use crate::rpc::convert::body::{AskedBody, bodies};
use crate::rpc::convert::catalogue::Catalogue;
use crate::rpc::convert::certificate::proof_with_margin_to_wire;
use crate::rpc::convert::geometry::{margin, stopped_to_wire, verdict_to_wire};
use crate::rpc::convert::options::AnswerOptions;
use crate::rpc::path::Path;
use crate::rpc::status::Failure;
use crate::runtime::metrics::QuestionKind;
use clearance_geometry::distance::compare;
use clearance_geometry::pair::VertexPair;
use clearance_geometry::polytope::Tables;
use clearance_geometry::separation::{CollisionMethod, METHODS, decide};
use clearance_geometry::witness::Witness;
use clearance_proto as api;

/// A question about the verdict, checked.
#[derive(Clone, Debug)]
pub(super) struct CollisionQuestion {
    p: AskedBody,
    q: AskedBody,
    margin: Option<f64>,
    way: CollisionWay,
    options: AnswerOptions,
}

/// By what it is answered.
#[derive(Clone, Debug)]
enum CollisionWay {
    Polytopes(&'static CollisionMethod),
    Polyhedra(Places),
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
        let margin = margin(path, wire.margin)?;
        if let Some(places) = Places::of_polyhedra(path, &p, &q) {
            if margin.is_some() {
                return Err(path.field("margin").not_implemented("margins of polyhedra").into());
            }
            let options =
                AnswerOptions::of_polyhedra(&path.field("options"), wire.options.as_ref())?;
            return Ok(Self { p, q, margin, way: CollisionWay::Polyhedra(places), options });
        }
        let (options, method) =
            AnswerOptions::convert(&path.field("options"), wire.options.as_ref(), METHODS)?;
        Ok(Self { p, q, margin, way: CollisionWay::Polytopes(method), options })
    }

    fn bodies(&self) -> (&AskedBody, &AskedBody) {
        (&self.p, &self.q)
    }

    fn tables(&self) -> Tables {
        match &self.way {
            CollisionWay::Polytopes(method) => method.tables,
            CollisionWay::Polyhedra(_) => Tables::Nothing,
        }
    }

    fn options(&self) -> &AnswerOptions {
        &self.options
    }

    fn estimate(&self, p: u32, q: u32) -> Duration {
        let each = match self.way {
            CollisionWay::Polytopes(_) => Duration::from_nanos(50),
            CollisionWay::Polyhedra(_) => polyhedra::TIME_PER_VERTEX,
        };
        Duration::from_micros(20) + each * p.saturating_add(q)
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { p, q, margin, way, options } = self;
        let method = match way {
            CollisionWay::Polytopes(method) => method,
            CollisionWay::Polyhedra(places) => {
                return polyhedra::collision(run, [p, q], &places, &options);
            }
        };
        let (found, cost) = run.measure(Self::KIND, [p, q], &options, |pair, effort| {
            let mut witness = Witness::default();
            let decision = decide(pair, method, &mut witness, effort);
            let compared = margin.map(|margin| compare(pair, margin, &mut witness, effort));
            Ok((decision, compared.transpose()))
        })?;
        let (decision, compared) = found.unwrap_or_else(|why| (Err(why), Err(why)));
        let mut answer = api::CheckCollisionResponse { cost: Some(cost), ..Default::default() };
        let margin_pairs = compared.iter().flatten().flat_map(|found| found.pairs.clone());
        let margin_pairs: ArrayVec<VertexPair, 3> = margin_pairs.collect();
        match decision {
            Ok(decision) => {
                answer.set_verdict(verdict_to_wire(decision.verdict()));
                answer.certificate = (!options.omit_certificate)
                    .then(|| proof_with_margin_to_wire(&decision.proof, &margin_pairs));
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
