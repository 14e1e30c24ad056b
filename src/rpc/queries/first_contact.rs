//! When two moving bodies first come into contact.

use std::time::Duration;

use super::{Question, Run, bodies};
use crate::geometry::contact_time::{
    self, METHODS, Method, Outcome, TIME_TOLERANCE, first_contact_by,
};
use crate::geometry::motion::Motion;
use crate::geometry::pair::Pair;
use crate::geometry::witness::Witness;
use crate::rpc::convert::body::AskedBody;
use crate::rpc::convert::certificate::motion_to_wire;
use crate::rpc::convert::geometry::{
    length, motion, outcome_to_wire, stopped_to_wire, verdict_to_wire,
};
use crate::rpc::convert::options::Options;
use crate::rpc::convert::{BadField, Path};
use crate::rpc::pb;
use crate::rpc::shared::Shared;
use crate::rpc::status::Failure;
use crate::runtime::metrics::Asked;

/// See the module.
#[derive(Clone, Debug)]
pub struct FirstContactQuestion {
    p: AskedBody,
    q: AskedBody,
    /// What is asked, but for the bodies.
    pub motions: Motions,
    method: &'static Method,
    options: Options,
}

/// How the bodies move, and how finely to look.
#[derive(Clone, Copy, Debug)]
pub struct Motions {
    motion_p: Motion,
    motion_q: Motion,
    deviation_p: f64,
    deviation_q: f64,
    margin: f64,
    time_tolerance: f64,
    clearance_tolerance: Option<f64>,
}

impl Motions {
    /// Checks everything that can be wrong with it.
    pub fn convert(path: &Path<'_>, wire: &pb::FindFirstContactRequest) -> Result<Self, BadField> {
        let deviation = |name, value| length(&path.field(name), value);
        let tolerance = |name, value: Option<f64>| {
            let value = value.map(|value| length(&path.field(name), value)).transpose()?;
            match value {
                Some(value) if value <= 0.0 => Err(path.field(name).bad("must be positive")),
                other => Ok(other),
            }
        };
        Ok(Self {
            motion_p: motion(&path.field("p_motion"), wire.p_motion.as_ref())?,
            motion_q: motion(&path.field("q_motion"), wire.q_motion.as_ref())?,
            deviation_p: deviation("p_deviation", wire.p_deviation)?,
            deviation_q: deviation("q_deviation", wire.q_deviation)?,
            margin: deviation("margin", wire.margin)?,
            time_tolerance: tolerance("time_tolerance", wire.time_tolerance)?
                .unwrap_or(TIME_TOLERANCE),
            clearance_tolerance: tolerance("clearance_tolerance", wire.clearance_tolerance)?,
        })
    }

    /// The question about a pair.
    pub fn about<'a>(&self, pair: Pair<'a>) -> contact_time::Question<'a> {
        contact_time::Question {
            pair,
            motion_p: self.motion_p,
            motion_q: self.motion_q,
            deviation_p: self.deviation_p,
            deviation_q: self.deviation_q,
            margin: self.margin,
            time_tolerance: self.time_tolerance,
            clearance_tolerance: self.clearance_tolerance,
        }
    }
}

impl Question for FirstContactQuestion {
    type Wire = pb::FindFirstContactRequest;
    type Answer = pb::FindFirstContactResponse;
    const ASKED: Asked = Asked::FirstContact;

    fn convert(path: &Path<'_>, wire: &Self::Wire, shared: &Shared) -> Result<Self, Failure> {
        let (p, q) = bodies(path, wire.p.as_ref(), wire.q.as_ref(), shared)?;
        let (options, method) =
            Options::convert(&path.field("options"), wire.options.as_ref(), METHODS)?;
        Ok(Self { p, q, motions: Motions::convert(path, wire)?, method, options })
    }

    fn bodies(&self) -> (&AskedBody, &AskedBody) {
        (&self.p, &self.q)
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn estimate(&self, p: u32, q: u32) -> Duration {
        let turns = [self.motions.motion_p, self.motions.motion_q]
            .iter()
            .any(|motion| !matches!(motion, Motion::Linear { .. }));
        let search = if turns { 2_000 } else { 100 };
        Duration::from_micros(search) + Duration::from_nanos(50) * p.saturating_add(q)
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != pb::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { p, q, motions, method, options } = self;
        let (found, cost) = run.measure(Self::ASKED, [p, q], &options, |pair, effort| {
            first_contact_by(method, &motions.about(*pair), &mut Witness::default(), effort)
        })?;
        let mut answer = pb::FindFirstContactResponse { cost: Some(cost), ..Default::default() };
        match found {
            Ok(found) => {
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
