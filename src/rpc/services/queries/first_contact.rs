//! When two moving bodies first come into contact.

use std::time::Duration;

use super::polyhedra::{self, Places};
use super::{Question, Run, bodies};
use crate::geometry::claim;
use crate::geometry::claim::{Outcome, TIME_TOLERANCE};
use crate::geometry::contact_time::{METHODS, Method, Travel, first_contact_by, translation_of};
use crate::geometry::motion::Motion;
use crate::geometry::pair::Pair;
use crate::geometry::witness::Witness;
use crate::rpc::api;
use crate::rpc::convert::body::AskedBody;
use crate::rpc::convert::certificate::motion_to_wire;
use crate::rpc::convert::geometry::{
    length, motion, outcome_to_wire, stopped_to_wire, tolerance, verdict_to_wire,
};
use crate::rpc::convert::options::Options;
use crate::rpc::convert::{BadField, Path};
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
    way: Way,
    options: Options,
}

/// How it is answered.
#[derive(Clone, Debug)]
enum Way {
    Polytopes(&'static Method),
    Polyhedra { places: Places, travels: [Travel; 2] },
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
    pub fn convert(path: &Path<'_>, wire: &api::FindFirstContactRequest) -> Result<Self, BadField> {
        let deviation = |name, value| length(&path.field(name), value);
        let finely = |name, value: Option<f64>| {
            value.map(|value| tolerance(&path.field(name), value)).transpose()
        };
        Ok(Self {
            motion_p: motion(&path.field("p_motion"), wire.p_motion.as_ref())?,
            motion_q: motion(&path.field("q_motion"), wire.q_motion.as_ref())?,
            deviation_p: deviation("p_deviation", wire.p_deviation)?,
            deviation_q: deviation("q_deviation", wire.q_deviation)?,
            margin: deviation("margin", wire.margin)?,
            time_tolerance: finely("time_tolerance", wire.time_tolerance)?
                .unwrap_or(TIME_TOLERANCE),
            clearance_tolerance: finely("clearance_tolerance", wire.clearance_tolerance)?,
        })
    }

    /// How far polyhedra come, which are asked about only without slack and where nothing turns.
    fn travels(&self, path: &Path<'_>, [p, q]: [&AskedBody; 2]) -> Result<[Travel; 2], Failure> {
        let slacks = [
            ("p_deviation", self.deviation_p),
            ("q_deviation", self.deviation_q),
            ("margin", self.margin),
        ];
        if let Some((field, _)) = slacks.iter().find(|(_, slack)| *slack > 0.0) {
            let what = "margins and deviations of polyhedra";
            return Err(polyhedra::refuse(&path.field(field), what));
        }
        let travel = |field: &'static str, motion: &Motion, body: &AskedBody| {
            let turns = || polyhedra::refuse(&path.field(field), "polyhedra that turn");
            translation_of(motion, body.pose()).ok_or_else(turns)
        };
        Ok([travel("p_motion", &self.motion_p, p)?, travel("q_motion", &self.motion_q, q)?])
    }

    /// How P and Q move.
    pub fn of_bodies(&self) -> [&Motion; 2] {
        [&self.motion_p, &self.motion_q]
    }

    /// The motions, if contact is meant exactly: no margin and no deviation.
    pub fn without_slack(&self) -> Option<[&Motion; 2]> {
        let slacks = [self.margin, self.deviation_p, self.deviation_q];
        let has_none = slacks.iter().all(|slack| *slack <= 0.0);
        has_none.then_some([&self.motion_p, &self.motion_q])
    }

    /// The question about a pair.
    pub fn about<'a>(&self, pair: Pair<'a>) -> claim::Question<'a> {
        claim::Question {
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
    type Wire = api::FindFirstContactRequest;
    type Answer = api::FindFirstContactResponse;
    const ASKED: Asked = Asked::FirstContact;

    fn convert(path: &Path<'_>, wire: &Self::Wire, shared: &Shared) -> Result<Self, Failure> {
        let (p, q) = bodies(path, wire.p.as_ref(), wire.q.as_ref(), shared)?;
        let motions = Motions::convert(path, wire)?;
        if let Some(places) = Places::of_polyhedra(path, &p, &q) {
            let travels = motions.travels(path, [&p, &q])?;
            let options = polyhedra::options(path, wire.options.as_ref())?;
            return Ok(Self { p, q, motions, way: Way::Polyhedra { places, travels }, options });
        }
        let (options, method) =
            Options::convert(&path.field("options"), wire.options.as_ref(), METHODS)?;
        Ok(Self { p, q, motions, way: Way::Polytopes(method), options })
    }

    fn bodies(&self) -> (&AskedBody, &AskedBody) {
        (&self.p, &self.q)
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn estimate(&self, p: u32, q: u32) -> Duration {
        if let Way::Polyhedra { .. } = self.way {
            return Duration::from_millis(1) + polyhedra::TIME_PER_VERTEX * p.saturating_add(q);
        }
        let turns = [self.motions.motion_p, self.motions.motion_q]
            .iter()
            .any(|motion| !matches!(motion, Motion::Linear { .. }));
        let search = if turns { 2_000 } else { 100 };
        Duration::from_micros(search) + Duration::from_nanos(50) * p.saturating_add(q)
    }

    fn has_stopped(answer: &Self::Answer) -> bool {
        answer.stopped() != api::Stopped::Unspecified
    }

    fn answer(self, run: &Run) -> Result<Self::Answer, Failure> {
        let Self { p, q, motions, way, options } = self;
        let method = match way {
            Way::Polytopes(method) => method,
            Way::Polyhedra { places, travels } => {
                return polyhedra::first_meeting(run, [p, q], &motions, travels, &places, &options);
            }
        };
        let (found, cost) = run.measure(Self::ASKED, [p, q], &options, |pair, effort| {
            first_contact_by(method, &motions.about(*pair), &mut Witness::default(), effort)
        })?;
        let mut answer = api::FindFirstContactResponse { cost: Some(cost), ..Default::default() };
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
