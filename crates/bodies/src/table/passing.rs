//! A curved body and another convex one, of which P is moved along a direction: for which t they
//! are in contact. It is between the range of the bodies in them and that of those around them.
//! What is around them and never meets shows that they do not; what is in them and meets, that they
//! do. Each end is refined for itself, where the bodies are nearest at about that time.

use arrayvec::ArrayVec;

use super::along::ask_along;
use super::between::{NARROW, guess_of};
use super::cells::answered;
use super::distance::{DistanceAsked, ask_distance};
use super::proof::CurvedRange;
use super::refined::{Between, Guess, INNER, OUTER, ReadyBetween};
use super::row::Wanted;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Span, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::pose::{COORDINATE_MAX, Pose};

impl ReadyBetween {
    /// For which t P, moved by t times the direction, is in contact with Q.
    pub(super) fn along(
        &self,
        direction: &Vec3,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<CurvedRange, Stopped> {
        let mut refined = ArrayVec::new();
        let mut found = range_of(self, direction, &mut refined, effort)?;
        found.proof = wanted.proven(|| {
            let verdict = found.verdict.ok_or(Unproven::Unresolved)?;
            if found.span.is_none() && found.stopped.is_some() {
                return Err(Unproven::Unresolved);
            }
            // One pair of polytopes for each body shows all.
            let mut between = Between::new(&self.bodies);
            self.stand(&mut between, None, wanted, effort)?.0?;
            between.refine_as(&refined.iter().collect::<Vec<_>>(), effort)?;
            let (proof, span) =
                between.prove_along(verdict, direction, found.span.is_some(), effort)?;
            found.span = span;
            Ok(proof)
        });
        Ok(found)
    }
}

/// The range, leaving what it took to refine the bodies at both ends.
fn range_of(
    bodies: &ReadyBetween,
    direction: &Vec3,
    refined: &mut ArrayVec<Between, 2>,
    effort: &mut Effort<'_>,
) -> Result<CurvedRange, Stopped> {
    let (verdict, mut stopped) = match bodies.verdict(None, Wanted::NO_PROOF, effort).decided {
        Ok(decided) => (Some(decided.verdict), None),
        Err(Stopped::Unresolved) => (None, Some(Stopped::Unresolved)),
        Err(why) => return Err(why),
    };
    let range = |verdict, span, stopped| CurvedRange { verdict, span, stopped, proof: Err(None) };
    let passing = Passing { bodies, direction };
    let enter = if verdict.is_some_and(|verdict| verdict != Verdict::Separated) {
        [0.0; 2]
    } else {
        let (beginning, between) = passing.enter(effort)?;
        refined.push(between);
        match beginning {
            Beginning::Never => return Ok(range(Some(Verdict::Separated), None, None)),
            Beginning::Open => return Ok(range(verdict, None, Some(Stopped::Unresolved))),
            Beginning::At(enter, is_narrow) => {
                stopped = stopped.or((!is_narrow).then_some(Stopped::Unresolved));
                enter
            }
        }
    };
    let (exit, is_narrow, between) = passing.exit(enter[0], effort)?;
    refined.push(between);
    stopped = stopped.or((!is_narrow).then_some(Stopped::Unresolved));
    Ok(range(verdict, Some(Span { enter, exit }), stopped))
}

/// What is found of the beginning of the range.
enum Beginning {
    /// There is none.
    Never,
    /// Whether there is one, is open.
    Open,
    /// It is in this bracket, and whether that is as narrow as promised.
    At([f64; 2], bool),
}

struct Passing<'a> {
    bodies: &'a ReadyBetween,
    direction: &'a Vec3,
}

impl Passing<'_> {
    fn enter(&self, effort: &mut Effort<'_>) -> Result<(Beginning, Between), Stopped> {
        let mut between = Between::new(&self.bodies.bodies);
        loop {
            let Some(outer) = self.span(&between, OUTER, effort)? else {
                return Ok((Beginning::Never, between));
            };
            let inner = self.span(&between, INNER, effort)?;
            let bracket = inner.map(|inner| [outer.enter[0], inner.enter[1].max(outer.enter[0])]);
            let is_done = bracket.is_some_and(is_narrow);
            let at = bracket.unwrap_or([halfway(&outer); 2]);
            if is_done || !self.refine(&mut between, at, effort)? {
                let at = |bracket| Beginning::At(bracket, is_done);
                return Ok((bracket.map_or(Beginning::Open, at), between));
            }
        }
    }

    /// Of bodies that are in contact at some t that is at least `from`: the bracket, whether it is
    /// as narrow as promised, and what that took.
    fn exit(
        &self,
        from: f64,
        effort: &mut Effort<'_>,
    ) -> Result<([f64; 2], bool, Between), Stopped> {
        let mut between = Between::new(&self.bodies.bodies);
        loop {
            let inner = self.span(&between, INNER, effort)?;
            // The bodies around them are in contact at that t.
            let outer = self.span(&between, OUTER, effort)?.ok_or(Stopped::Unresolved)?;
            let low = inner.map_or(from, |inner| inner.exit[0].max(from));
            let bracket = [low, outer.exit[1].max(low)];
            let is_done = is_narrow(bracket);
            let at = if inner.is_some() { bracket } else { [halfway(&outer); 2] };
            if is_done || !self.refine(&mut between, at, effort)? {
                return Ok((bracket, is_done, between));
            }
        }
    }

    /// The range of the bodies of one side.
    fn span(
        &self,
        between: &Between,
        side: usize,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Span>, Stopped> {
        let found = answered(ask_along(between.side(side), self.direction, effort))??;
        Ok(found.span())
    }

    /// Refines both where they are nearest when P has come so far. False: they are as fine as they
    /// get.
    fn refine(
        &self,
        between: &mut Between,
        at: [f64; 2],
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let mut guesses = ArrayVec::<Guess, 2>::new();
        for t in at {
            let there = between.side_at(INNER, self.poses_at(t));
            let asked = DistanceAsked::default();
            let found = answered(ask_distance(there, asked, Wanted::NO_PROOF, effort))?;
            guesses.push(guess_of(&found));
        }
        // Bodies in contact have no normal, and what they have in common is not where they part.
        let has_some = guesses.iter().any(|guess| guess.towards_q.is_some());
        guesses.retain(|guess| !has_some || guess.towards_q.is_some());
        between.refine(&guesses, self.poses_at(at[0]), effort)
    }

    /// With P moved by t times the direction, rounded, as far as numbers go.
    fn poses_at(&self, t: f64) -> [Pose; 2] {
        let [mut p, q] = self.bodies.bodies.each_ref().map(|placed| placed.pose);
        let moved = p.translation + self.direction * t;
        if moved.iter().all(|x| x.abs() <= COORDINATE_MAX) {
            p.translation = moved;
        }
        [p, q]
    }
}

/// A time at which bodies that all but graze each other are about as near as they get.
fn halfway(span: &Span) -> f64 {
    span.enter[0].midpoint(span.exit[1])
}

/// Whether a bracket is as narrow as promised, or one number.
fn is_narrow([lower, upper]: [f64; 2]) -> bool {
    upper <= lower || upper - lower <= NARROW * upper
}
