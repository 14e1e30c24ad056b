//! What proves an answer about a curved body and another one: the polytopes that both sides were
//! refined to, and what is answered about them, with its own proof. What of an answer rests on
//! which side is decided here; its judge is told it apart from this.

use std::sync::Arc;

use super::along::ask_along;
use super::cells::{answered, kinds};
use super::depth::{DepthQuestion, MeasuredDepth};
use super::distance::{DistanceAsked, MeasuredDistance, ask_distance};
use super::first_contact::{FirstContactAnswer, Motions, ask_first_contact};
use super::proof::{CurvedProof, SideAnswer, SideCourse, VerdictProof};
use super::refined::{Between, INNER, OUTER};
use super::row::Wanted;
use super::verdict::ask_verdict;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Span, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::Effort;

/// What is told of a margin.
pub(super) type ToldWithin = Option<(f64, bool)>;

/// What is told with a distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToldDistance {
    /// How the bodies stand.
    pub(super) verdict: Verdict,
    /// What is told of a margin.
    pub(super) within: ToldWithin,
    /// Beyond and below which distances it need not be exact.
    pub(super) stops: Stops,
}

/// What an answer rests on.
#[derive(Clone, Copy, Debug)]
struct Rests {
    /// Both sides, by number.
    on: [bool; 2],
    /// The margin that one of them is asked about, and by which.
    within: ToldWithin,
}

impl Rests {
    fn of(verdict: Verdict, within: ToldWithin) -> Self {
        let is_within = within.map(|(_, is_within)| is_within);
        let mut on = [false; 2];
        on[OUTER] = verdict != Verdict::Overlapping || is_within == Some(false);
        on[INNER] = verdict != Verdict::Separated || is_within == Some(true);
        Self { on, within }
    }

    /// And on both, if so.
    fn on_both_if(self, is_so: bool) -> Self {
        if is_so { Self { on: [true; 2], ..self } } else { self }
    }

    /// The margin that a side is asked about: those inside show that it is kept, those around that
    /// it is not.
    fn margin_of(&self, side: usize) -> Option<f64> {
        let (margin, is_within) = self.within?;
        (is_within == (side == INNER)).then_some(margin)
    }
}

impl Between {
    /// Asks the sides that an answer rests on.
    fn prove(
        &self,
        verdict: Verdict,
        rests: Rests,
        mut ask: impl FnMut(usize, Option<f64>) -> Result<SideAnswer, Unproven>,
    ) -> Result<CurvedProof, Unproven> {
        let mut of =
            |side: usize| rests.on[side].then(|| ask(side, rests.margin_of(side))).transpose();
        let (outer, inner) = (of(OUTER)?, of(INNER)?);
        Ok(CurvedProof { verdict, hulls: self.hulls(), outer, inner })
    }

    /// Proves how they stand, and whether they are within a margin.
    pub(super) fn prove_verdict(
        &self,
        verdict: Verdict,
        within: ToldWithin,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<VerdictProof, Unproven> {
        let ask = |side, margin| -> Result<SideAnswer, Unproven> {
            let answer = answered(ask_verdict(self.side(side), margin, wanted, effort))?;
            let (decided, compared) = (answer.decided?, answer.compared?);
            Ok(SideAnswer::Verdict(decided.proof.map_err(reason)?, compared))
        };
        self.prove(verdict, Rests::of(verdict, within), ask).map(of_curved)
    }

    /// Proves how far they are from each other, and tells the bracket that is proven.
    pub(super) fn prove_distance(
        &self,
        told: ToldDistance,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<(VerdictProof, [f64; 2]), Unproven> {
        let ToldDistance { verdict, within, stops } = told;
        let ask = |side, margin| -> Result<SideAnswer, Unproven> {
            let asked = DistanceAsked { stops, margin };
            let answer = answered(ask_distance(self.side(side), asked, wanted, effort))?;
            let (distance, compared) = (answer.distance?, answer.compared?);
            if let MeasuredDistance::OfFaces(found) = &distance {
                found.proof.as_ref().map_err(|why| reason(*why))?;
            }
            Ok(SideAnswer::Distance(distance, compared))
        };
        let rests = Rests::of(verdict, within).on_both_if(verdict == Verdict::Separated);
        let proof = self.prove(verdict, rests, ask)?;
        let bounds_of = |side: &Option<SideAnswer>| match side {
            Some(SideAnswer::Distance(distance, _)) => distance.bounds(),
            _ => [0.0; 2],
        };
        let (lower, upper) = (bounds_of(&proof.outer)[0], bounds_of(&proof.inner)[1]);
        Ok((of_curved(proof), [lower, upper.max(lower)]))
    }

    /// Proves how deep they overlap, by what was found of both sides, which shows the lower end
    /// only once it is found again with the surfaces for that.
    pub(super) fn prove_depth(
        &self,
        verdict: Verdict,
        found: &[MeasuredDepth; 2],
        with_surface: bool,
        effort: &mut Effort<'_>,
    ) -> Result<(VerdictProof, [f64; 2]), Unproven> {
        let mut bounds = [0.0; 2];
        let ask = |side: usize, _| -> Result<SideAnswer, Unproven> {
            let mut found = found[side].clone();
            if with_surface {
                let bodies = self.side(side);
                let question = answered(DepthQuestion::of(kinds(&bodies)))?;
                found = answered(question.prepare(bodies))?.answer(true, effort)?;
            }
            bounds[side] = found.bounds()[if side == INNER { 0 } else { 1 }];
            match found {
                MeasuredDepth::OfHulls(found) => Ok(SideAnswer::Depth(found)),
                MeasuredDepth::OfRounded(found) => Ok(SideAnswer::RoundedDepth(found)),
                MeasuredDepth::OfCurved(_) | MeasuredDepth::OfPieces(_) => Err(Unproven::NoWay),
            }
        };
        let rests = Rests::of(verdict, None).on_both_if(verdict == Verdict::Overlapping);
        let proof = self.prove(verdict, rests, ask)?;
        let is_deep = verdict == Verdict::Overlapping;
        let told = if is_deep { [bounds[INNER], bounds[OUTER]] } else { [0.0; 2] };
        Ok((of_curved(proof), told))
    }

    /// Proves for which t they are in contact along a direction, or that they never are, and tells
    /// the brackets that are proven.
    pub(super) fn prove_along(
        &self,
        verdict: Verdict,
        direction: &Vec3,
        is_met: bool,
        effort: &mut Effort<'_>,
    ) -> Result<(VerdictProof, Option<Span>), Unproven> {
        let ask = |side: usize, _| -> Result<SideAnswer, Unproven> {
            let found = answered(ask_along(self.side(side), direction, effort))??;
            // What is inside does not show that the bodies are in contact if it never is.
            let shows = found.span().is_some() == is_met && found.is_proven();
            if shows { Ok(SideAnswer::Range(found)) } else { Err(Unproven::NoWay) }
        };
        let proof = self.prove(verdict, Rests::of(verdict, None).on_both_if(is_met), ask)?;
        let span_of = |side: &Option<SideAnswer>| match side {
            Some(SideAnswer::Range(found)) => found.span(),
            _ => None,
        };
        let span = span_of(&proof.outer).zip(span_of(&proof.inner)).map(|(outer, inner)| Span {
            enter: [outer.enter[0], inner.enter[1]],
            exit: [inner.exit[0], outer.exit[1]],
        });
        let in_contact = verdict != Verdict::Separated;
        let span =
            span.map(|span| if in_contact { Span { enter: [0.0; 2], ..span } } else { span });
        Ok((of_curved(proof), span))
    }

    /// Proves when they first meet.
    pub(super) fn prove_first_contact(
        &self,
        found: &FirstContactAnswer,
        motions: &Motions,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<VerdictProof, Unproven> {
        let ask = |side: usize, _| -> Result<SideAnswer, Unproven> {
            let answer = ask_first_contact(self.side(side), *motions, false, wanted, effort);
            let FirstContactAnswer { initial, outcome, t_free, t_contact, proof, .. } =
                answered(answer)??;
            let proof = proof.map_err(reason)?;
            let course = SideCourse { initial, outcome, t_free, t_contact, proof };
            Ok(SideAnswer::FirstContact(course))
        };
        let mut rests = Rests::of(found.initial, None);
        rests.on[INNER] |= found.outcome == Outcome::Contact;
        self.prove(found.initial, rests, ask).map(of_curved)
    }
}

fn of_curved(proof: CurvedProof) -> VerdictProof {
    VerdictProof::OfCurved(Arc::new(proof))
}

/// What has no proof on one side has none, for its reason.
fn reason(why: Option<Unproven>) -> Unproven {
    why.unwrap_or(Unproven::TooLong)
}
