//! A curved body and another one: each question is asked about the polytopes in both and about
//! those around both, as about any polytopes. What is apart around them is apart, what is in
//! contact inside them is in contact, and where the two do not tell the same, both are refined
//! around where the bodies are nearest. Two convex bodies are looked at by supporting points first,
//! which tell most that are not about to touch. What the finest do not tell is not told: the answer
//! then says that it is unresolved, with the bracket that both leave.

use arrayvec::ArrayVec;

use super::between_proof::ToldDistance;
use super::cells::{answered, kinds};
use super::course::at_start;
use super::depth::{DepthQuestion, MeasuredDepth};
use super::distance::{
    DistanceAnswer, DistanceAsked, MeasuredDistance, MeasuredFaces, ask_distance,
};
use super::first_contact::{FirstContactAnswer, MotionProof, Motions, ask_first_contact};
use super::refined::{Between, CurvedDepth, Guess, INNER, OUTER, ReadyBetween};
use super::row::{NotAnswered, Wanted};
use super::supports::{self, SeenPair};
use super::verdict::{Decided, VerdictAnswer, ask_verdict};
use crate::body::PlacedBody;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::distance::{Compared, Stops};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::deep::PieceDepth;
use clearance_geometry::meeting::Impact;
use clearance_geometry::pose::Pose;

/// How narrow a bracket is to be, as a part of its upper end; 1e-9 is promised.
pub(super) const NARROW: f64 = 4e-10;

/// What both sides tell of the verdict, if it is the same.
pub(super) fn agreed(inner: Verdict, outer: Verdict) -> Option<Verdict> {
    match (inner, outer) {
        (_, Verdict::Separated) => Some(Verdict::Separated),
        (Verdict::Overlapping, _) => Some(Verdict::Overlapping),
        (Verdict::Touching, Verdict::Touching) => Some(Verdict::Touching),
        (Verdict::Separated | Verdict::Touching, Verdict::Touching | Verdict::Overlapping) => None,
    }
}

/// What both sides tell of a margin, if it is the same.
fn agreed_within(inner: Option<&Compared>, outer: Option<&Compared>) -> Option<bool> {
    match (inner?.is_within, outer?.is_within) {
        (_, false) => Some(false),
        (true, _) => Some(true),
        (false, true) => None,
    }
}

fn is_narrow([lower, upper]: [f64; 2]) -> bool {
    upper - lower <= NARROW * upper
}

impl DistanceAsked {
    /// Whether a bracket of a distance is as narrow as is asked for where it is.
    fn is_beyond(&self, [lower, upper]: [f64; 2]) -> bool {
        self.stops.above.is_some_and(|above| lower > above)
            || self.stops.below.is_some_and(|below| upper < below)
    }
}

/// Where bodies of one side are nearest, or share a point.
pub(super) fn guess_of(answer: &DistanceAnswer) -> Guess {
    let points = answer.distance.as_ref().ok().and_then(MeasuredDistance::closest);
    Guess { towards_q: answer.normal.map(|normal| -normal), points }
}

fn depth_of(
    bodies: [PlacedBody; 2],
    effort: &mut Effort<'_>,
) -> Result<Result<MeasuredDepth, Stopped>, NotAnswered> {
    let question = DepthQuestion::of(kinds(&bodies))?;
    Ok(question.prepare(bodies)?.answer(false, effort))
}

impl ReadyBetween {
    /// How they stand, and whether they are within a margin.
    pub(super) fn verdict(
        &self,
        margin: Option<f64>,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> VerdictAnswer {
        let mut between = Between::new(&self.bodies);
        match self.stand(&mut between, margin, wanted, effort) {
            Ok((verdict, within)) => {
                let told = margin.zip(within.ok().flatten());
                let decided = verdict.map(|verdict| Decided {
                    verdict,
                    proof: wanted.proven(|| between.prove_verdict(verdict, told, wanted, effort)),
                    meeting: None,
                });
                VerdictAnswer { decided, compared: within.map(|within| within.map(Compared::bare)) }
            }
            Err(why) => VerdictAnswer { decided: Err(why), compared: Err(why) },
        }
    }

    /// What supporting points tell of that, if they do; a proof is about polytopes.
    fn seen_to_stand(
        &self,
        margin: Option<f64>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<StandWithin>, Stopped> {
        let margin_above = margin.map(|margin| margin.max(0.0));
        let stops = Stops { above: Some(margin_above.unwrap_or(0.0)), below: margin_above };
        let seen = supports::look(&self.bodies, stops, NARROW, effort)?;
        let Some((Some(verdict), [lower, upper])) = seen.map(|seen| (seen.verdict, seen.bounds))
        else {
            return Ok(None);
        };
        let within = match margin {
            None => None,
            // How deep they overlap is not seen.
            Some(margin) if margin < 0.0 => match verdict {
                Verdict::Separated => Some(false),
                Verdict::Touching | Verdict::Overlapping => return Ok(None),
            },
            Some(margin) if lower > margin => Some(false),
            Some(margin) if upper <= margin => Some(true),
            Some(_) => return Ok(None),
        };
        Ok(Some((Ok(verdict), Ok(within))))
    }

    /// The same, leaving both as fine as it took, if a proof is wanted.
    pub(super) fn stand(
        &self,
        between: &mut Between,
        margin: Option<f64>,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<StandWithin, Stopped> {
        if !wanted.certificate
            && let Some(seen) = self.seen_to_stand(margin, effort)?
        {
            return Ok(seen);
        }
        loop {
            let ask = |side, effort: &mut Effort<'_>| {
                answered(ask_verdict(between.side(side), margin, Wanted::NO_PROOF, effort))
            };
            let outer = ask(OUTER, effort)?;
            let outer_verdict = outer.decided?.verdict;
            if outer_verdict == Verdict::Separated && margin.is_none() {
                return Ok((Ok(outer_verdict), Ok(None)));
            }
            let inner = ask(INNER, effort)?;
            let verdict = agreed(inner.decided?.verdict, outer_verdict);
            let (inner, outer) = (inner.compared?, outer.compared?);
            let within = agreed_within(inner.as_ref(), outer.as_ref());
            let is_known = verdict.is_some() && (margin.is_none() || within.is_some());
            if is_known || !refine_near(between, effort)? {
                let within = match (margin, within) {
                    (None, _) => Ok(None),
                    (Some(_), Some(within)) => Ok(Some(within)),
                    (Some(_), None) => Err(Stopped::Unresolved),
                };
                return Ok((verdict.ok_or(Stopped::Unresolved), within));
            }
        }
    }

    /// How far they are from each other.
    pub(super) fn distance(
        &self,
        asked: DistanceAsked,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> DistanceAnswer {
        let none = |why| DistanceAnswer { distance: Err(why), normal: None, compared: Err(why) };
        let mut between = Between::new(&self.bodies);
        let seen = if wanted.certificate { Ok(None) } else { self.seen(asked, effort) };
        let measured = seen.and_then(|seen| match seen {
            Some(found) => Ok(found),
            None => measure(&mut between, asked, effort),
        });
        let (mut found, normal) = match measured {
            Ok(found) => found,
            Err(why) => return none(why),
        };
        let within = match asked.margin {
            None => Ok(None),
            Some(_) => {
                let stand = self.stand(&mut between, asked.margin, wanted, effort);
                stand.and_then(|(_, within)| within)
            }
        };
        let told = asked.margin.zip(within.ok().flatten());
        let stops = asked.stops;
        found.proof = wanted.proven(|| {
            let verdict = found.verdict.ok_or(Unproven::Unresolved)?;
            let told = ToldDistance { verdict, within: told, stops };
            let (proof, bounds) = between.prove_distance(told, wanted, effort)?;
            // The margin may have taken finer polytopes.
            found.bounds = bounds;
            Ok(proof)
        });
        let compared = within.map(|within| within.map(Compared::bare));
        DistanceAnswer {
            distance: Ok(MeasuredDistance::OfFaces(Box::new(found))),
            normal,
            compared,
        }
    }

    /// What supporting points tell of how far they are from each other, if that is enough.
    fn seen(
        &self,
        asked: DistanceAsked,
        effort: &mut Effort<'_>,
    ) -> Result<Option<(MeasuredFaces, Option<Vec3>)>, Stopped> {
        let seen = supports::look(&self.bodies, asked.stops, NARROW, effort)?;
        Ok(seen.and_then(|SeenPair { verdict, bounds, closest, normal }| {
            let (closest, proof) = (Some(closest), Err(None));
            let (stopped, pairs) = (None, ArrayVec::new());
            let found = MeasuredFaces { verdict, bounds, closest, stopped, proof, pairs };
            (is_narrow(bounds) || asked.is_beyond(bounds)).then_some((found, normal))
        }))
    }

    /// How deep they overlap, with the surfaces that show the lower end if these are wanted.
    pub(super) fn depth(
        &self,
        with_surface: bool,
        effort: &mut Effort<'_>,
    ) -> Result<CurvedDepth, Stopped> {
        if kinds(&self.bodies).iter().all(|kind| kind.is_convex()) {
            return self.depth_of_convex(with_surface, effort);
        }
        let proof = Err(Unproven::NoClaim);
        let verdict = match self.verdict(None, Wanted::NO_PROOF, effort).decided {
            Ok(decided) => Some(decided.verdict),
            Err(Stopped::Unresolved) => None,
            Err(why) => return Err(why),
        };
        if matches!(verdict, Some(Verdict::Separated | Verdict::Touching)) {
            let (bounds, direction, pieces, stopped) = ([0.0; 2], None, None, None);
            return Ok(CurvedDepth { verdict, bounds, direction, pieces, stopped, proof });
        }
        let hulls = Self::new(self.bodies.each_ref().map(PlacedBody::with_its_hull));
        let hulls = hulls.depth_of_convex(false, effort)?;
        let (pieces, stopped) = self.deepest_pieces(effort)?;
        let lower = pieces.filter(|_| verdict.is_some()).map_or(0.0, |pieces| pieces.bounds[0]);
        Ok(CurvedDepth {
            verdict,
            bounds: [lower, hulls.bounds[1].max(lower)],
            direction: hulls.direction.filter(|_| verdict.is_some()),
            pieces: pieces.filter(|_| verdict.is_some()),
            stopped: verdict.is_none().then_some(Stopped::Unresolved).or(hulls.stopped).or(stopped),
            proof,
        })
    }

    /// The deepest two pieces of a curved body and one that is not convex: that of the bodies in
    /// them, which are at most as deep as those around them.
    fn deepest_pieces(
        &self,
        effort: &mut Effort<'_>,
    ) -> Result<(Option<PieceDepth>, Option<Stopped>), Stopped> {
        let mut between = Between::new(&self.bodies);
        loop {
            let ask =
                |side, effort: &mut Effort<'_>| answered(depth_of(between.side(side), effort))?;
            let (inner, outer) = (ask(INNER, effort)?, ask(OUTER, effort)?);
            let stopped = inner.stopped().or(outer.stopped());
            // No two pieces around them overlap, and so none in them do.
            let Some(around) = outer.pieces() else { return Ok((None, stopped)) };
            let found = inner.pieces().map(|pieces| {
                let [lower, upper] = [pieces.bounds[0], around.bounds[1]];
                PieceDepth { bounds: [lower, upper.max(lower)], ..pieces }
            });
            let is_done = found.is_some_and(|found| is_narrow(found.bounds));
            let is_finest = !is_done && stopped.is_none() && {
                let known = [Some(around), inner.pieces()].into_iter().flatten();
                let guess =
                    |pieces: PieceDepth| Guess { towards_q: Some(-pieces.direction), points: None };
                !between.refine_here(&known.map(guess).collect::<Vec<_>>(), effort)?
            };
            if is_done || is_finest || stopped.is_some() {
                return Ok((found, stopped.or(is_finest.then_some(Stopped::Unresolved))));
            }
        }
    }

    fn depth_of_convex(
        &self,
        with_surface: bool,
        effort: &mut Effort<'_>,
    ) -> Result<CurvedDepth, Stopped> {
        let mut between = Between::new(&self.bodies);
        loop {
            let ask =
                |side, effort: &mut Effort<'_>| answered(depth_of(between.side(side), effort))?;
            let (inner, outer) = (ask(INNER, effort)?, ask(OUTER, effort)?);
            let verdict = agreed(told(inner.verdict())?, told(outer.verdict())?);
            let bounds = match verdict {
                Some(Verdict::Separated | Verdict::Touching) => [0.0; 2],
                Some(Verdict::Overlapping) | None => [inner.bounds()[0], outer.bounds()[1]],
            };
            let is_done = verdict.is_some() && is_narrow(bounds);
            let stopped = inner.stopped().or(outer.stopped());
            let direction = outer.direction();
            let is_finest = !is_done && stopped.is_none() && {
                let away = [inner.direction(), outer.direction()].into_iter().flatten();
                let of_depths = away.map(|away| Guess { towards_q: Some(-away), points: None });
                let mut guesses: Vec<Guess> = of_depths.collect();
                if guesses.len() < 2 {
                    guesses.push(guess_of(&near(&between, INNER, effort)?));
                }
                !between.refine_here(&guesses, effort)?
            };
            if is_done || is_finest || stopped.is_some() {
                let stopped = stopped.or(is_finest.then_some(Stopped::Unresolved));
                let direction = direction.filter(|_| verdict == Some(Verdict::Overlapping));
                let found = [inner, outer];
                let prove = |verdict| between.prove_depth(verdict, &found, with_surface, effort);
                let (proof, bounds) = match verdict.ok_or(Unproven::Unresolved).and_then(prove) {
                    Ok((proof, bounds)) => (Ok(proof), bounds),
                    Err(why) => (Err(why), bounds),
                };
                let pieces = None;
                return Ok(CurvedDepth { verdict, bounds, direction, pieces, stopped, proof });
            }
        }
    }

    /// When they first meet.
    pub(super) fn first_contact(
        &self,
        motions: &Motions,
        with_impact: bool,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<FirstContactAnswer, Stopped> {
        let mut between = Between::new(&self.bodies);
        let margin = (motions.margin > 0.0).then_some(motions.margin);
        let (initial, within) = self.stand(&mut between, margin, wanted, effort)?;
        let (initial, within) = (initial?, within?);
        let mut found = if initial != Verdict::Separated || within == Some(true) {
            at_start(initial, Err(None))
        } else {
            let course = self.course(&mut between, motions, effort)?;
            FirstContactAnswer { initial, proof: Err(None), ..course }
        };
        found.proof = wanted.proven(|| {
            let proof = between.prove_first_contact(&found, motions, wanted, effort)?;
            Ok(MotionProof::AtStart(proof))
        });
        if with_impact && found.outcome == Outcome::Contact {
            let there = between.side_at(INNER, self.poses_at(motions, found.t_free));
            let asked = DistanceAsked::default();
            let met = answered(ask_distance(there, asked, Wanted::NO_PROOF, effort))?;
            let closest = met.distance?.closest();
            let impact = |[_, point]: [Vec3; 2]| Impact { point, normal: met.normal };
            found.impact = closest.map(impact);
        }
        Ok(found)
    }

    fn poses_at(&self, motions: &Motions, t: f64) -> [Pose; 2] {
        [0, 1].map(|k| motions.of_bodies[k].pose_rounded(&self.bodies[k].pose, t))
    }

    /// Of bodies that are apart at t = 0.
    fn course(
        &self,
        between: &mut Between,
        motions: &Motions,
        effort: &mut Effort<'_>,
    ) -> Result<FirstContactAnswer, Stopped> {
        loop {
            let ask = |side, effort: &mut Effort<'_>| {
                answered(ask_first_contact(
                    between.side(side),
                    *motions,
                    false,
                    Wanted::NO_PROOF,
                    effort,
                ))?
            };
            let outer = ask(OUTER, effort)?;
            if outer.outcome == Outcome::NoContact {
                return Ok(outer);
            }
            let inner = ask(INNER, effort)?;
            let is_met = inner.outcome == Outcome::Contact;
            let width = inner.t_contact - outer.t_free;
            // What each side leaves open itself no refining narrows.
            let open = if outer.outcome == Outcome::Contact {
                (outer.t_contact - outer.t_free) + (inner.t_contact - inner.t_free)
            } else {
                0.0
            };
            let is_done = is_met && width <= motions.time_tolerance + open;
            let stopped = outer.stopped.or(inner.stopped);
            let stopped = stopped.filter(|why| *why != Stopped::Unresolved);
            let is_finest = !is_done && stopped.is_none() && {
                let at = [outer.t_free, if is_met { inner.t_contact } else { outer.t_free }];
                !self.refine_on_course(between, motions, at, effort)?
            };
            if is_done || is_finest || stopped.is_some() {
                let outcome = if is_met { Outcome::Contact } else { Outcome::Undecided };
                return Ok(FirstContactAnswer {
                    outcome,
                    t_contact: inner.t_contact,
                    stopped: stopped.or(is_finest.then_some(Stopped::Unresolved)),
                    ..outer
                });
            }
        }
    }

    /// Refines both around where they are nearest at the times between which they first meet.
    fn refine_on_course(
        &self,
        between: &mut Between,
        motions: &Motions,
        times: [f64; 2],
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let mut guesses = ArrayVec::<Guess, 2>::new();
        for time in times {
            let there = between.side_at(INNER, self.poses_at(motions, time));
            let asked = DistanceAsked::default();
            guesses.push(guess_of(&answered(ask_distance(
                there,
                asked,
                Wanted::NO_PROOF,
                effort,
            ))?));
        }
        between.refine(&guesses, self.poses_at(motions, times[0]), effort)
    }
}

/// How far they are from each other, leaving both as fine as it took.
fn measure(
    between: &mut Between,
    asked: DistanceAsked,
    effort: &mut Effort<'_>,
) -> Result<(MeasuredFaces, Option<Vec3>), Stopped> {
    let asked = DistanceAsked { margin: None, ..asked };
    loop {
        let ask = |side, effort: &mut Effort<'_>| {
            answered(ask_distance(between.side(side), asked, Wanted::NO_PROOF, effort))
        };
        let answers = [ask(INNER, effort)?, ask(OUTER, effort)?];
        let guesses = answers.each_ref().map(guess_of);
        let [inner, outer] = answers;
        let normal = inner.normal.or(outer.normal);
        let (inner, outer) = (inner.distance?, outer.distance?);
        let verdict = agreed(told(inner.verdict())?, told(outer.verdict())?);
        let bounds = [outer.bounds()[0], inner.bounds()[1].max(outer.bounds()[0])];
        let is_done = verdict.is_some() && (is_narrow(bounds) || asked.is_beyond(bounds));
        let stopped = inner.stopped().or(outer.stopped());
        let is_finest = !is_done && stopped.is_none() && {
            let guesses = with_depths(between, guesses, effort)?;
            !between.refine_here(&guesses, effort)?
        };
        if is_done || is_finest || stopped.is_some() {
            let found = MeasuredFaces {
                verdict,
                bounds,
                closest: inner.closest(),
                stopped: stopped.or(is_finest.then_some(Stopped::Unresolved)),
                proof: Err(None),
                pairs: ArrayVec::new(),
            };
            return Ok((found, normal));
        }
    }
}

/// The verdict and whether they are within a margin, each if it could be resolved.
pub(super) type StandWithin = (Result<Verdict, Stopped>, Result<Option<bool>, Stopped>);

/// What polytopes tell is known.
fn told(verdict: Option<Verdict>) -> Result<Verdict, Stopped> {
    verdict.ok_or(Stopped::Unresolved)
}

/// How far bodies of one side are from each other.
fn near(
    between: &Between,
    side: usize,
    effort: &mut Effort<'_>,
) -> Result<DistanceAnswer, Stopped> {
    let asked = DistanceAsked::default();
    answered(ask_distance(between.side(side), asked, Wanted::NO_PROOF, effort))
}

/// Refines both where they are nearest. False: they are as fine as they get.
fn refine_near(between: &mut Between, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
    let [inner, outer] = [near(between, INNER, effort)?, near(between, OUTER, effort)?];
    let guesses = with_depths(between, [guess_of(&inner), guess_of(&outer)], effort)?;
    between.refine_here(&guesses, effort)
}

/// The guesses that have a normal, which bodies in contact have by their depth, if that is answered
/// about them; else all of them, for their points.
fn with_depths(
    between: &Between,
    guesses: [Guess; 2],
    effort: &mut Effort<'_>,
) -> Result<ArrayVec<Guess, 2>, Stopped> {
    let mut known = ArrayVec::new();
    let has_none = guesses.iter().all(|guess| guess.towards_q.is_none());
    for (side, mut guess) in guesses.into_iter().enumerate() {
        if has_none && let Ok(depth) = depth_of(between.side(side), effort) {
            guess.towards_q = depth?.direction().map(|away| -away);
        }
        known.push(guess);
    }
    let has_some = known.iter().any(|guess: &Guess| guess.towards_q.is_some());
    known.retain(|guess| !has_some || guess.towards_q.is_some());
    Ok(known)
}
