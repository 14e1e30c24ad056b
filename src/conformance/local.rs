//! Answers by calling the library, each question cold and each behind its own guard: a question
//! that panics or stops is reported as unanswered, and the run goes on.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::answer::{
    CaseAnswer, CertificateOut, HullAnswer, Naming, Reply, outcome_word, verdict_word,
};
use super::cases::{Case, HullSet, Kind};
use super::{Options, Respondent, RunError};
use crate::geometry::Vec3;
use crate::geometry::certificate::{StaticProof, Verdict, judge};
use crate::geometry::contact_time::{self, FirstContact};
use crate::geometry::distance::{self, Distance, Stops};
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::hull::{Hull, convex_hull};
use crate::geometry::motion::Motion;
use crate::geometry::pair::Pair;
use crate::geometry::penetration::{self, Depth, Range};
use crate::geometry::pose::Pose;
use crate::geometry::separation::{self, Decision, METHODS, Method};
use crate::geometry::witness::Witness;

/// Steps that one question may take before it counts as hung; hundreds are usual.
const STEPS_PER_QUESTION: u64 = 2_000_000;

/// The library itself.
pub(super) struct Library {
    method: Option<&'static Method>,
    bodies: BTreeMap<u64, Result<Body, String>>,
}

/// A hull and the way back to the indices of the points it was made of.
struct Body {
    hull: Hull,
    given_of_vertex: Vec<u32>,
}

impl Body {
    fn build(points: &[[f64; 3]]) -> Result<Self, String> {
        let points: Vec<Vec3> = points.iter().map(|p| Vec3::from(*p)).collect();
        let hull = guarded("hull", || convex_hull(&points))?.map_err(|error| error.to_string())?;
        let mut given_of_vertex = vec![u32::MAX; hull.polytope.vertices().len()];
        for (given, vertex) in (0..).zip(&hull.vertex_of_given) {
            if let Some(vertex) = *vertex {
                let slot = &mut given_of_vertex[vertex as usize];
                *slot = given.min(*slot);
            }
        }
        Ok(Self { hull, given_of_vertex })
    }
}

impl Library {
    /// With the method that the options name, or the default.
    pub(super) fn new(options: &Options) -> Result<Self, RunError> {
        // A panic of a question is part of the report, not of the terminal.
        std::panic::set_hook(Box::new(|_| {}));
        let Some(name) = &options.method else {
            return Ok(Self { method: METHODS.first(), bodies: BTreeMap::new() });
        };
        let method = METHODS.iter().find(|method| method.name == name.as_str());
        if method.is_none() {
            let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
            return Err(RunError::UnknownMethod(name.clone(), names.join(", ")));
        }
        Ok(Self { method, bodies: BTreeMap::new() })
    }

    fn body(&self, id: u64) -> Result<&Body, String> {
        match self.bodies.get(&id) {
            Some(Ok(body)) => Ok(body),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(format!("hull {id} comes after its case, or never")),
        }
    }

    fn try_case(&self, case: &Case, reply: &mut Reply<CaseAnswer>) -> Result<CaseAnswer, String> {
        let (p, q) = (self.body(case.p)?, self.body(case.q)?);
        let pose =
            |t: [f64; 3], q| Pose::from_quaternion(t.into(), q).map_err(|error| error.to_string());
        let pair = Pair::new(
            &p.hull.polytope,
            pose(case.translation_p, case.quaternion_p)?,
            &q.hull.polytope,
            pose(case.translation_q, case.quaternion_q)?,
        );
        let naming = Naming { given_p: &p.given_of_vertex, given_q: &q.given_of_vertex };
        match case.kind {
            Kind::Static => self.static_answer(case, &pair, naming, reply),
            Kind::Linear | Kind::Screw => motion_answer(case, &pair, naming, reply),
        }
    }

    fn static_answer(
        &self,
        case: &Case,
        pair: &Pair<'_>,
        naming: Naming<'_>,
        reply: &mut Reply<CaseAnswer>,
    ) -> Result<CaseAnswer, String> {
        let method = self.method.ok_or("verdict: there is no method")?;
        let decision: Decision =
            ask(reply, "verdict", |w, e| separation::decide(pair, method, w, e))?;
        let verdict = decision.verdict();
        let mut answer = CaseAnswer {
            id: case.id.clone(),
            verdict: verdict_word(verdict),
            certificate: Some(naming.proof(&decision.proof)),
            ..CaseAnswer::default()
        };
        check_static(pair, &decision.proof, reply);
        match verdict {
            Verdict::Separated => add_distance(pair, naming, &mut answer, reply),
            Verdict::Overlapping => add_depth(pair, &mut answer, reply),
            Verdict::Touching => {}
        }
        if let Some(dir) = &case.dir {
            add_range(pair, dir.d.into(), verdict, &mut answer, reply);
        }
        Ok(answer)
    }
}

impl Respondent for Library {
    fn learn(&mut self, id: u64, points: &[[f64; 3]]) {
        self.bodies.insert(id, Body::build(points));
    }

    fn answer_case(&mut self, case: &Case) -> Reply<CaseAnswer> {
        let mut reply = Reply::empty();
        match self.try_case(case, &mut reply) {
            Ok(mut answer) => {
                answer.us = reply.elapsed.as_secs_f64() * 1e6;
                reply.answer = Some(answer);
            }
            Err(problem) => reply.missing.push(problem),
        }
        reply
    }

    fn answer_hull(&mut self, set: &HullSet) -> Reply<HullAnswer> {
        let mut reply = Reply::empty();
        let start = Instant::now();
        let body = Body::build(&set.points);
        reply.elapsed = start.elapsed();
        match body {
            Ok(body) => {
                let polytope = &body.hull.polytope;
                let mut extreme: Vec<usize> =
                    body.given_of_vertex.iter().map(|given| *given as usize).collect();
                extreme.sort_unstable();
                reply.answer = Some(HullAnswer {
                    id: set.id.clone(),
                    dim: polytope.dimension(),
                    facets: match polytope.dimension() {
                        3 => polytope.facets().len(),
                        2 => extreme.len(), // a polygon has as many edges as corners
                        _ => 0,
                    },
                    extreme,
                    volume: polytope.volume(),
                    us: reply.elapsed.as_secs_f64() * 1e6,
                });
            }
            Err(problem) => reply.missing.push(problem),
        }
        reply
    }
}

fn add_distance(
    pair: &Pair<'_>,
    naming: Naming<'_>,
    answer: &mut CaseAnswer,
    reply: &mut Reply<CaseAnswer>,
) {
    let asked = ask(reply, "distance", |w, e| distance::measure(pair, Stops::default(), w, e));
    let found: Distance = match asked {
        Ok(found) => found,
        Err(problem) => return reply.missing.push(problem),
    };
    agree("distance", Verdict::Separated, &found.decision, reply);
    answer.distance_lower = Some(found.lower);
    answer.distance_upper = Some(found.upper);
    answer.closest_p = Some(found.closest_p.into());
    answer.closest_q = Some(found.closest_q.into());
    let certificate = answer.certificate.get_or_insert_with(CertificateOut::default);
    certificate.distance_pairs = naming.pairs(&found.pairs);
}

fn add_depth(pair: &Pair<'_>, answer: &mut CaseAnswer, reply: &mut Reply<CaseAnswer>) {
    match ask(reply, "depth", |w, e| penetration::measure(pair, false, w, e)) {
        Ok(found) => {
            let found: Depth = found;
            agree("depth", Verdict::Overlapping, &found.decision, reply);
            answer.depth_lower = Some(found.lower);
            answer.depth_upper = Some(found.upper);
        }
        Err(problem) => reply.missing.push(problem),
    }
}

fn add_range(
    pair: &Pair<'_>,
    direction: Vec3,
    verdict: Verdict,
    answer: &mut CaseAnswer,
    reply: &mut Reply<CaseAnswer>,
) {
    match ask(reply, "range", |w, e| penetration::along(pair, &direction, w, e)) {
        Ok(found) => {
            let found: Range = found;
            agree("range", verdict, &found.decision, reply);
            answer.enter = found.span.map(|span| span.enter[0]);
            answer.exit = found.span.map(|span| span.exit[1]);
        }
        Err(problem) => reply.missing.push(problem),
    }
}

fn motion_answer(
    case: &Case,
    pair: &Pair<'_>,
    naming: Naming<'_>,
    reply: &mut Reply<CaseAnswer>,
) -> Result<CaseAnswer, String> {
    let motion = |velocity: [f64; 3], axis: [f64; 3], angle| match case.kind {
        Kind::Static | Kind::Linear => Motion::Linear { velocity: velocity.into() },
        Kind::Screw => {
            Motion::Screw { pivot: None, velocity: velocity.into(), axis: axis.into(), angle }
        }
    };
    let question = contact_time::Question::new(
        *pair,
        motion(case.velocity_p, case.axis_p, case.angle_p),
        motion(case.velocity_q, case.axis_q, case.angle_q),
    );
    let contact: FirstContact =
        ask(reply, "first contact", |w, e| contact_time::first_contact(&question, w, e))?;
    check_static(pair, &contact.initial, reply);
    let is_contact = contact.outcome == contact_time::Outcome::Contact;
    Ok(CaseAnswer {
        id: case.id.clone(),
        verdict: outcome_word(contact.outcome),
        t_free: Some(contact.t_free),
        t_contact: is_contact.then_some(contact.t_contact),
        certificate: Some(naming.motion(&contact)),
        ..CaseAnswer::default()
    })
}

/// Asks one question with a cold witness, counts what it cost and how long it took.
fn ask<A, T>(
    reply: &mut Reply<A>,
    what: &str,
    question: impl FnOnce(&mut Witness, &mut Effort<'_>) -> Result<T, Stopped>,
) -> Result<T, String> {
    let mut effort = Effort::with_steps(STEPS_PER_QUESTION);
    let start = Instant::now();
    let result = guarded(what, || question(&mut Witness::default(), &mut effort));
    reply.elapsed += start.elapsed();
    reply.cost += effort.cost;
    result?.map_err(|stopped| format!("{what}: stopped: {stopped:?}"))
}

/// Judges the proof of a static verdict from scratch.
fn check_static<A>(pair: &Pair<'_>, proof: &StaticProof, reply: &mut Reply<A>) {
    match guarded("judge", || judge::judge_static(pair, proof)) {
        Ok(Ok(())) => reply.certificates_accepted += 1,
        Ok(Err(refusal)) => reply.certificates_refused.push(refusal.to_string()),
        Err(problem) => reply.missing.push(problem),
    }
}

/// Every question about one pair must come to the same verdict.
fn agree<A>(what: &str, verdict: Verdict, decision: &Decision, reply: &mut Reply<A>) {
    if decision.verdict() != verdict {
        let other = verdict_word(decision.verdict());
        reply.certificates_refused.push(format!("{what} says {other}, not {verdict:?}"));
    }
}

/// Runs `work`; a panic becomes an error that says what it was about.
fn guarded<T>(what: &str, work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        format!("{what}: panicked: {}", message.unwrap_or_default())
    })
}
