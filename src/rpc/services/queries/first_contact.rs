//! When two moving bodies first come into contact.

use std::time::Duration;

use super::polyhedra::{self, Places};
use super::question::{Question, Run};
use crate::rpc::convert::body::{AskedBody, bodies};
use crate::rpc::convert::catalogue::Catalogue;
use crate::rpc::convert::certificate::motion_to_wire;
use crate::rpc::convert::geometry::{
    outcome_to_wire, stopped_to_wire, vector_to_wire, verdict_to_wire,
};
use crate::rpc::convert::motions::Motions;
use crate::rpc::convert::options::AnswerOptions;
use crate::rpc::path::Path;
use crate::rpc::status::Failure;
use crate::runtime::metrics::QuestionKind;
use clearance_geometry::claim::Outcome;
use clearance_geometry::contact_time::{METHODS, Method, Travel, first_contact_by};
use clearance_geometry::meeting::impact_of_contact;
use clearance_geometry::motion::Motion;
use clearance_geometry::polytope::Tables;
use clearance_geometry::witness::Witness;
use clearance_proto as api;

/// A question about the first contact, checked.
#[derive(Clone, Debug)]
pub(super) struct FirstContactQuestion {
    p: AskedBody,
    q: AskedBody,
    /// What is asked, but for the bodies.
    pub(super) motions: Motions,
    way: FirstContactWay,
    /// Whether it is also asked where and how they meet.
    impact: bool,
    options: AnswerOptions,
}

/// By what it is answered.
#[derive(Clone, Debug)]
enum FirstContactWay {
    Polytopes(&'static Method),
    Polyhedra { places: Places, travels: [Travel; 2] },
}

impl Question for FirstContactQuestion {
    type Wire = api::FindFirstContactRequest;
    type Answer = api::FindFirstContactResponse;
    const KIND: QuestionKind = QuestionKind::FirstContact;

    fn convert(
        path: &Path<'_>,
        wire: &Self::Wire,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let (p, q) = bodies(path, wire.p.as_ref(), wire.q.as_ref(), catalogue)?;
        let (motions, impact) = (Motions::convert(path, wire)?, wire.impact);
        if let Some(places) = Places::of_polyhedra(path, &p, &q) {
            let travels = motions.travels(path, [&p, &q])?;
            let options =
                AnswerOptions::of_polyhedra(&path.field("options"), wire.options.as_ref())?;
            return Ok(Self {
                p,
                q,
                motions,
                way: FirstContactWay::Polyhedra { places, travels },
                impact,
                options,
            });
        }
        let at = path.field("options");
        let (options, method) = AnswerOptions::convert(&at, wire.options.as_ref(), METHODS)?;
        motions.check_method(&at.field("method"), method, [&p, &q])?;
        Ok(Self { p, q, motions, way: FirstContactWay::Polytopes(method), impact, options })
    }

    fn bodies(&self) -> (&AskedBody, &AskedBody) {
        (&self.p, &self.q)
    }

    fn tables(&self) -> Tables {
        match &self.way {
            FirstContactWay::Polytopes(method) => method.tables,
            FirstContactWay::Polyhedra { .. } => Tables::Nothing,
        }
    }

    fn options(&self) -> &AnswerOptions {
        &self.options
    }

    fn estimate(&self, p: u32, q: u32) -> Duration {
        if let FirstContactWay::Polyhedra { .. } = self.way {
            return Duration::from_millis(1) + polyhedra::TIME_PER_VERTEX * p.saturating_add(q);
        }
        let mut motions = self.motions.of_bodies().into_iter();
        let turns = motions.any(|motion| !matches!(motion, Motion::Linear { .. }));
        let search = if turns { 2_000 } else { 100 };
        Duration::from_micros(search) + Duration::from_nanos(50) * p.saturating_add(q)
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { p, q, motions, way, impact, options } = self;
        let method = match way {
            FirstContactWay::Polytopes(method) => method,
            FirstContactWay::Polyhedra { places, travels } => {
                let moving = polyhedra::Movers { bodies: [p, q], places, motions, travels };
                return polyhedra::first_meeting(run, moving, &options);
            }
        };
        let (found, cost) = run.measure(Self::KIND, [p, q], &options, |pair, effort| {
            let question = motions.about(*pair);
            let found = first_contact_by(method, &question, &mut Witness::default(), effort)?;
            let met = if impact { impact_of_contact(&question, &found, effort)? } else { None };
            Ok((found, met))
        })?;
        let mut answer = api::FindFirstContactResponse { cost: Some(cost), ..Default::default() };
        match found {
            Ok((found, met)) => {
                answer.point = met.map(|met| vector_to_wire(&met.point));
                answer.normal =
                    met.and_then(|met| met.normal).map(|normal| vector_to_wire(&normal));
                answer.set_outcome(outcome_to_wire(found.outcome));
                answer.t_free = found.t_free;
                answer.t_contact = (found.outcome == Outcome::Contact).then_some(found.t_contact);
                answer.set_initial_verdict(verdict_to_wire(found.initial.verdict()));
                answer.certificate = (!options.omit_certificate).then(|| motion_to_wire(&found));
                answer.set_stopped(stopped_to_wire(found.stopped));
            }
            Err(stopped) => answer.set_stopped(stopped_to_wire(Some(stopped))),
        }
        Ok(answer)
    }
}
