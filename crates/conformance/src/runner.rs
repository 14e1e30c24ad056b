//! Puts every case of the file to a respondent and has our own judges look at the proofs.

use std::collections::BTreeMap;
use std::time::Instant;

use super::answer::{
    CaseAnswer, HullAnswer, Naming, Reply, WrittenCertificate, outcome_word, verdict_word,
};
use super::cases::{Case, HullSet, Kind};
use super::library::{build, given_of_vertex, guarded};
use super::respondent::{Asked, Respondent};
use clearance_geometry::claim::{Outcome, RangeClaim, Verdict};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::Hull;
use clearance_geometry::judge::{
    Refusal, judge_depth, judge_distance, judge_first_contact, judge_range, judge_static,
};
use clearance_geometry::pair::Pair;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::Decision;

/// Asks and judges.
pub(crate) struct Runner {
    respondent: Box<dyn Respondent>,
    bodies: BTreeMap<u64, Result<CaseBody, String>>,
}

/// A hull as built here, and the way back to the indices of the points it was made of.
struct CaseBody {
    hull: Hull,
    given_of_vertex: Vec<u32>,
}

impl Runner {
    /// Asking this respondent.
    pub(crate) fn new(respondent: Box<dyn Respondent>) -> Self {
        Self { respondent, bodies: BTreeMap::new() }
    }

    /// Takes in a point set that later cases name by `id`.
    pub(crate) fn learn(&mut self, id: u64, points: &[[f64; 3]]) {
        let body = self.respondent.learn(id, points).and_then(|()| {
            let hull = build(points)?;
            Ok(CaseBody { given_of_vertex: given_of_vertex(&hull), hull })
        });
        self.bodies.insert(id, body.map_err(|problem| format!("hull: {problem}")));
    }

    /// Answers for one hull.
    pub(crate) fn answer_hull(&mut self, set: &HullSet) -> Reply<HullAnswer> {
        let mut reply = Reply::empty();
        let start = Instant::now();
        let facts = self.respondent.hull(&set.points);
        reply.elapsed = start.elapsed();
        match facts {
            Ok(facts) => {
                let mut extreme: Vec<usize> =
                    facts.given_of_vertex.iter().map(|given| *given as usize).collect();
                extreme.sort_unstable();
                reply.answer = Some(HullAnswer {
                    id: set.id.clone(),
                    dim: facts.dimension,
                    facets: match facts.dimension {
                        3 => facts.faces,
                        2 => extreme.len(), // a polygon has as many edges as corners
                        _ => 0,
                    },
                    extreme,
                    volume: facts.volume,
                    us: reply.elapsed.as_secs_f64() * 1e6,
                });
            }
            Err(problem) => reply.missing.push(format!("hull: {problem}")),
        }
        reply
    }

    /// Answers one case about two sets learnt before.
    pub(crate) fn answer_case(&mut self, case: &Case) -> Reply<CaseAnswer> {
        let mut asking = Asking { respondent: &mut *self.respondent, reply: Reply::empty() };
        let answer = body(&self.bodies, case.p).and_then(|p| {
            let q = body(&self.bodies, case.q)?;
            let naming = Naming { given_p: &p.given_of_vertex, given_q: &q.given_of_vertex };
            let asked = Asked { case, pair: place(case, p, q)? };
            match case.kind {
                Kind::Static => asking.static_answer(&asked, naming),
                Kind::Linear | Kind::Screw => asking.motion_answer(&asked, naming),
            }
        });
        let mut reply = asking.reply;
        reply.cost = self.respondent.take_cost();
        match answer {
            Ok(mut answer) => {
                answer.us = reply.elapsed.as_secs_f64() * 1e6;
                reply.answer = Some(answer);
            }
            Err(problem) => reply.missing.push(problem),
        }
        reply
    }
}

fn body(bodies: &BTreeMap<u64, Result<CaseBody, String>>, id: u64) -> Result<&CaseBody, String> {
    match bodies.get(&id) {
        Some(Ok(body)) => Ok(body),
        Some(Err(problem)) => Err(problem.clone()),
        None => Err(format!("hull {id} comes after its case, or never")),
    }
}

fn place<'a>(case: &Case, p: &'a CaseBody, q: &'a CaseBody) -> Result<Pair<'a>, String> {
    let pose =
        |t: [f64; 3], q| Pose::from_quaternion(t.into(), q).map_err(|error| error.to_string());
    Ok(Pair::new(
        &p.hull.polytope,
        pose(case.translation_p, case.quaternion_p)?,
        &q.hull.polytope,
        pose(case.translation_q, case.quaternion_q)?,
    ))
}

/// One case being asked.
struct Asking<'a> {
    respondent: &'a mut dyn Respondent,
    reply: Reply<CaseAnswer>,
}

impl Asking<'_> {
    /// Asks one question, and takes the time.
    fn ask<T>(
        &mut self,
        what: &str,
        question: impl FnOnce(&mut dyn Respondent) -> Result<T, String>,
    ) -> Result<T, String> {
        let start = Instant::now();
        let result = question(self.respondent);
        self.reply.elapsed += start.elapsed();
        result.map_err(|problem| format!("{what}: {problem}"))
    }

    /// Asks a question without which there is still an answer: a failure is noted, not returned.
    fn ask_also<T>(
        &mut self,
        what: &str,
        question: impl FnOnce(&mut dyn Respondent) -> Result<T, String>,
    ) -> Option<T> {
        self.ask(what, question).map_err(|problem| self.reply.missing.push(problem)).ok()
    }

    fn static_answer(
        &mut self,
        asked: &Asked<'_>,
        naming: Naming<'_>,
    ) -> Result<CaseAnswer, String> {
        let decision = self.ask("verdict", |r| r.decide(asked))?;
        let verdict = decision.verdict();
        let mut answer = CaseAnswer {
            id: asked.case.id.clone(),
            verdict: verdict_word(verdict).into(),
            certificate: Some(naming.proof(&decision.proof)),
            ..CaseAnswer::default()
        };
        self.judge(|| judge_static(&asked.pair, &decision.proof));
        match verdict {
            Verdict::Separated => self.add_distance(asked, naming, &mut answer),
            Verdict::Overlapping => self.add_depth(asked, naming, &mut answer),
            Verdict::Touching => {}
        }
        self.add_range(asked, naming, verdict, &mut answer);
        Ok(answer)
    }

    fn add_distance(&mut self, asked: &Asked<'_>, naming: Naming<'_>, answer: &mut CaseAnswer) {
        let Some(found) = self.ask_also("distance", |r| r.distance(asked)) else { return };
        self.agree("distance", Verdict::Separated, &found.decision);
        self.judge(|| judge_distance(&asked.pair, found.lower, found.upper, &found.pairs));
        answer.distance_lower = Some(found.lower);
        answer.distance_upper = Some(found.upper);
        answer.closest_p = Some(found.closest_p.into());
        answer.closest_q = Some(found.closest_q.into());
        let certificate = answer.certificate.get_or_insert_with(WrittenCertificate::default);
        certificate.distance_pairs = naming.pairs(&found.pairs);
    }

    fn add_depth(&mut self, asked: &Asked<'_>, naming: Naming<'_>, answer: &mut CaseAnswer) {
        let Some(found) = self.ask_also("depth", |r| r.depth(asked)) else { return };
        self.agree("depth", Verdict::Overlapping, &found.decision);
        let surface = found.surface.as_ref();
        self.judge(|| match &found.face {
            Some(face) => judge_depth(
                &asked.pair,
                [found.lower, found.upper],
                face,
                surface,
                &mut Effort::unlimited(),
            ),
            None => Err(Refusal::NoDirection),
        });
        answer.depth_lower = Some(found.lower);
        answer.depth_upper = Some(found.upper);
        let certificate = answer.certificate.get_or_insert_with(WrittenCertificate::default);
        naming.add_depth(&found, certificate);
    }

    fn add_range(
        &mut self,
        asked: &Asked<'_>,
        naming: Naming<'_>,
        verdict: Verdict,
        answer: &mut CaseAnswer,
    ) {
        let Some(dir) = &asked.case.dir else { return };
        let direction = dir.d.into();
        let Some(found) = self.ask_also("range", |r| r.along(asked, &direction)) else { return };
        self.agree("range", verdict, &found.decision);
        answer.enter = found.span.map(|span| span.enter[0]);
        answer.exit = found.span.map(|span| span.exit[1]);
        let (span, proof) = (found.span, found.proof.as_ref());
        let claim = RangeClaim { along: direction, verdict, span, proof };
        self.judge(|| judge_range(&asked.pair, &claim, &mut Effort::unlimited()));
        let certificate = answer.certificate.get_or_insert_with(WrittenCertificate::default);
        // JSON has no infinity.
        let is_finite = span.is_none_or(|span| span.exit[1] < f64::INFINITY);
        certificate.range = proof.filter(|_| is_finite).map(|proof| naming.range(span, proof));
    }

    fn motion_answer(
        &mut self,
        asked: &Asked<'_>,
        naming: Naming<'_>,
    ) -> Result<CaseAnswer, String> {
        let contact = self.ask("first contact", |r| r.first_contact(asked))?;
        self.judge(|| judge_first_contact(&asked.motion_question(), &contact));
        Ok(CaseAnswer {
            id: asked.case.id.clone(),
            verdict: outcome_word(contact.outcome).into(),
            t_free: Some(contact.t_free),
            t_contact: (contact.outcome == Outcome::Contact).then_some(contact.t_contact),
            certificate: Some(naming.motion(&contact)),
            ..CaseAnswer::default()
        })
    }

    /// Has a proof judged from scratch.
    fn judge(&mut self, judge: impl FnOnce() -> Result<(), Refusal>) {
        match guarded(judge) {
            Ok(Ok(())) => self.reply.certificates_accepted += 1,
            Ok(Err(refusal)) => self.reply.certificates_refused.push(refusal.to_string()),
            Err(problem) => self.reply.missing.push(format!("judge: {problem}")),
        }
    }

    /// Every question about one pair must come to the same verdict.
    fn agree(&mut self, what: &str, verdict: Verdict, decision: &Decision) {
        if decision.verdict() != verdict {
            let other = verdict_word(decision.verdict());
            let problem = format!("{what} says {other}, not {}", verdict_word(verdict));
            self.reply.certificates_refused.push(problem);
        }
    }
}
