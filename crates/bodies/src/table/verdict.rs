//! Separated, touching or overlapping; and whether within a margin.

use super::below_zero::{compare_by_bracket, is_below_zero, is_by_bracket};
use super::boundaries::{ReadyBoundaries, Within};
use super::cells::{ReadyCells, answered, kinds};
use super::depth::DepthQuestion;
use super::hulls::ReadyHulls;
pub use super::proof::VerdictProof;
use super::radii::{self, AskedMargin};
use super::refined::ReadyBetween;
use super::row::{
    BETWEEN_NANOSECONDS, FACES_NANOSECONDS, HULLS_NANOSECONDS, Needs, NotAnswered, TableEntry,
    Wanted, Way, look_up,
};
use crate::body::PlacedBody;
use crate::kind::Kind;
use crate::solid::Meeting;
use clearance_geometry::claim::{RoundedProof, StaticProof, Verdict};
use clearance_geometry::contact_time::polyhedra;
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::distance::{self, Compared, compare};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::number::dyadic::Dyadic;
use clearance_geometry::pair::Pair;
use clearance_geometry::penetration::{DepthBound, compare_decided};
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::separation::{CollisionMethod, METHODS, decide_by_name};
use clearance_geometry::terrain::standing::FieldBeside;
use clearance_geometry::witness::Witness;

/// What answers the verdict.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<Way> {
    use Kind::{Cloud, Curved, HeightField, Polyhedron, Polytope, Rounded, Surface};
    match kinds {
        [Curved, _] | [_, Curved] => Ok(Way::Between),
        [HeightField, _] | [_, HeightField] => Ok(Way::Cells),
        [Polytope, Polytope] => Ok(Way::Hulls),
        [Polytope, Polyhedron] | [Polyhedron, Polytope | Polyhedron] => Ok(Way::Faces),
        [Rounded, Polytope | Rounded] | [Polytope, Rounded] => Ok(Way::Radii),
        [Rounded, Polyhedron | Surface] | [Polyhedron | Surface, Rounded] => Ok(Way::RoundedFaces),
        [Cloud, _] | [_, Cloud] => Ok(Way::RoundedFaces),
        [Surface, Polytope | Polyhedron | Surface] | [Polytope | Polyhedron, Surface] => {
            Ok(Way::Pieces)
        }
    }
}

/// What answers whether the distance is within a margin.
pub(super) fn entry_with_margin(kinds: [Kind; 2]) -> TableEntry<Way> {
    entry(kinds)
}

/// The question about two bodies of certain kinds.
#[derive(Clone, Copy, Debug)]
pub struct VerdictQuestion {
    kinds: [Kind; 2],
    by: VerdictBy,
    /// A margin below 0 of bodies that are not both convex.
    deep: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
enum VerdictBy {
    Hulls { method: &'static CollisionMethod, margin: Option<f64> },
    Faces { margin: Option<f64> },
    Radii { margin: Option<f64> },
    Cells { margin: Option<f64> },
    Between { margin: Option<f64> },
}

/// The question with its bodies.
#[derive(Clone, Debug)]
pub struct ReadyVerdict {
    bodies: VerdictOf,
    /// The bodies, and how deep they are asked to overlap where these are not both convex.
    deep: Option<Box<([PlacedBody; 2], f64)>>,
}

#[derive(Clone, Debug)]
enum VerdictOf {
    Hulls { method: &'static CollisionMethod, margin: Option<f64>, pair: ReadyHulls },
    Faces { margin: Option<f64>, bodies: Box<ReadyBoundaries> },
    Radii { margin: Option<f64>, pair: ReadyHulls },
    Cells { margin: Option<f64>, bodies: Box<ReadyCells> },
    Between { margin: Option<f64>, bodies: Box<ReadyBetween> },
}

/// What is answered: a verdict may be found where there is no effort left for the margin.
#[derive(Clone, Debug)]
pub struct VerdictAnswer {
    /// The verdict.
    pub decided: Result<Decided, Stopped>,
    /// How the distance compares with the margin, if one was given.
    pub compared: Result<Option<Compared>, Stopped>,
}

/// A verdict, and what shows it.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The verdict.
    pub verdict: Verdict,
    /// Its proof; or why there is none, if one was wanted.
    pub proof: Result<VerdictProof, Option<Unproven>>,
    /// Where boundaries meet; of hulls it is not told.
    pub meeting: Option<Meeting>,
}

impl Decided {
    /// The same, where no claim speaks of what is said of a margin below 0: that of bodies which do
    /// not overlap follows from the verdict.
    fn without_claim(self, wanted: Wanted) -> Self {
        match self.verdict {
            Verdict::Overlapping if wanted.certificate => {
                Self { proof: Err(Some(Unproven::NoClaim)), ..self }
            }
            Verdict::Separated | Verdict::Touching | Verdict::Overlapping => self,
        }
    }
}

impl VerdictQuestion {
    /// The question about bodies of these kinds, by the default method.
    pub fn of(kinds: [Kind; 2], margin: Option<f64>) -> Result<Self, NotAnswered> {
        let way = look_up(kinds, entry)?;
        if margin.is_some() {
            let refused = |what| NotAnswered { field: "margin", what, kinds };
            entry_with_margin(kinds).map_err(refused)?;
        }
        let deep = margin.filter(|_| is_by_bracket(kinds, margin));
        let margin = if deep.is_some() { None } else { margin };
        let by = match way {
            Way::Hulls => VerdictBy::Hulls { method: &METHODS[0], margin },
            Way::Faces | Way::RoundedFaces | Way::Pieces => VerdictBy::Faces { margin },
            Way::Radii => VerdictBy::Radii { margin },
            Way::Cells => VerdictBy::Cells { margin },
            Way::Between => VerdictBy::Between { margin },
        };
        Ok(Self { kinds, by, deep })
    }

    /// The name of a method that answers it, the default one first.
    pub fn method_name(&self, index: usize) -> Option<&'static str> {
        match self.by {
            VerdictBy::Hulls { .. } => METHODS.get(index).map(|method| method.name),
            VerdictBy::Faces { .. } | VerdictBy::Cells { .. } => {
                polyhedra::METHODS.get(index).map(|method| method.name)
            }
            VerdictBy::Radii { .. } | VerdictBy::Between { .. } => {
                [distance::METHODS[0].name].get(index).copied()
            }
        }
    }

    /// By another method, if there is one by that index.
    pub fn with_method(self, index: usize) -> Self {
        match (self.by, METHODS.get(index)) {
            (VerdictBy::Hulls { margin, .. }, Some(method)) => {
                Self { by: VerdictBy::Hulls { method, margin }, ..self }
            }
            (
                VerdictBy::Hulls { .. }
                | VerdictBy::Faces { .. }
                | VerdictBy::Radii { .. }
                | VerdictBy::Cells { .. }
                | VerdictBy::Between { .. },
                _,
            ) => self,
        }
    }

    /// What is built of the bodies.
    pub fn needs(&self) -> Needs {
        match self.by {
            VerdictBy::Hulls { method, .. } => Needs::tables(method.tables),
            VerdictBy::Faces { .. } | VerdictBy::Cells { .. } | VerdictBy::Between { .. } => {
                Needs::SOLIDS
            }
            VerdictBy::Radii { .. } => Needs::NOTHING,
        }
    }

    /// How long the default method takes for bodies that are ready and have so many vertices
    /// together, nanoseconds: a generous guess.
    pub fn nanoseconds(&self, vertices: u32) -> u64 {
        let (margin, each) = match self.by {
            VerdictBy::Between { .. } if self.deep.is_none() => return BETWEEN_NANOSECONDS,
            VerdictBy::Between { margin } => (margin, 0),
            VerdictBy::Hulls { margin, .. } | VerdictBy::Radii { margin } => {
                (margin, HULLS_NANOSECONDS)
            }
            VerdictBy::Faces { margin } | VerdictBy::Cells { margin } => {
                (margin, FACES_NANOSECONDS)
            }
        };
        let depth = DepthQuestion::of(self.kinds).ok();
        let depth = depth.filter(|_| self.deep.is_some() || is_below_zero(margin));
        let of_depth = depth.map_or(0, |depth| depth.nanoseconds(vertices));
        20_000 + each * u64::from(vertices) + of_depth
    }

    /// Makes of the bodies what the answer needs.
    pub fn prepare(self, bodies: [PlacedBody; 2]) -> Result<ReadyVerdict, NotAnswered> {
        let deep = self.deep.map(|margin| Box::new((bodies.clone(), margin)));
        let bodies = match self.by {
            VerdictBy::Hulls { method, margin } => {
                VerdictOf::Hulls { method, margin, pair: ReadyHulls::new(bodies) }
            }
            VerdictBy::Faces { margin } => {
                VerdictOf::Faces { margin, bodies: Box::new(ReadyBoundaries::new(bodies)?) }
            }
            VerdictBy::Cells { margin } => {
                VerdictOf::Cells { margin, bodies: Box::new(ReadyCells::new(bodies)) }
            }
            VerdictBy::Radii { margin } => {
                VerdictOf::Radii { margin, pair: ReadyHulls::new(bodies) }
            }
            VerdictBy::Between { margin } => {
                VerdictOf::Between { margin, bodies: Box::new(ReadyBetween::new(bodies)) }
            }
        };
        Ok(ReadyVerdict { bodies, deep })
    }
}

impl ReadyVerdict {
    /// Answers it from cold.
    pub fn answer(&self, wanted: Wanted, effort: &mut Effort<'_>) -> VerdictAnswer {
        let answer = self.answer_itself(wanted, effort);
        let Some((bodies, margin)) = self.deep.as_deref() else { return answer };
        let compared = match &answer.decided {
            Ok(decided) => compare_by_bracket(bodies, Some(decided.verdict), *margin, effort),
            Err(why) => Err(*why),
        };
        let decided = answer.decided.map(|decided| match &compared {
            Ok(_) => decided.without_claim(wanted),
            Err(_) => decided,
        });
        VerdictAnswer { decided, compared: compared.map(Some) }
    }

    fn answer_itself(&self, wanted: Wanted, effort: &mut Effort<'_>) -> VerdictAnswer {
        match &self.bodies {
            VerdictOf::Hulls { method, margin, pair } => {
                by_hulls(&pair.pair(), method, *margin, wanted, effort)
            }
            VerdictOf::Cells { margin, bodies } => bodies.verdict(*margin, wanted, effort),
            VerdictOf::Between { margin, bodies } => bodies.verdict(*margin, wanted, effort),
            VerdictOf::Faces { margin, bodies } => by_faces(bodies, *margin, wanted, effort),
            VerdictOf::Radii { margin, pair } => by_radii(&pair.rounded(), *margin, wanted, effort),
        }
    }
}

/// By the methods for convex bodies.
fn by_hulls(
    pair: &Pair<'_>,
    method: &CollisionMethod,
    margin: Option<f64>,
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> VerdictAnswer {
    let mut witness = Witness::default();
    let decision = decide_by_name(pair, method, &mut witness, effort);
    let compared = margin.map(|margin| match &decision {
        _ if margin >= 0.0 => compare(pair, margin, &mut witness, effort),
        Ok(decision) => within_depth(pair, &decision.proof, margin, wanted, effort),
        Err(why) => Err(*why),
    });
    let decided = |proof: StaticProof| Decided {
        verdict: proof.verdict(),
        proof: Ok(VerdictProof::OfHulls(proof)),
        meeting: None,
    };
    VerdictAnswer {
        decided: decision.map(|decision| decided(decision.proof)),
        compared: compared.transpose(),
    }
}

/// How polytopes that stand so compare with a margin below 0.
pub(super) fn within_depth(
    pair: &Pair<'_>,
    proof: &StaticProof,
    margin: f64,
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> Result<Compared, Stopped> {
    if proof.verdict() != Verdict::Overlapping {
        return Ok(Compared::bare(false));
    }
    let bound = DepthBound::new(-&Dyadic::from(margin));
    let found = compare_decided(pair, proof, &bound, wanted.certificate, effort)?;
    Ok(found.compared)
}

/// By the distance of the polytopes: exactly, since radii and margin are summed exactly.
fn by_radii(
    pair: &RoundedPair<'_>,
    margin: Option<f64>,
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> VerdictAnswer {
    let witness = &mut Witness::default();
    let proof = rounded::verdict(pair, witness, effort);
    let verdict = proof.as_ref().map(|proof| proof.verdict);
    let within = |margin| {
        let asked = AskedMargin { margin, is_certified: wanted.certificate };
        radii::within(pair, verdict.map_err(|why| *why)?, asked, witness, effort)
    };
    let compared = margin.map(within).transpose();
    let decided = |proof: RoundedProof| Decided {
        verdict: proof.verdict,
        proof: Ok(VerdictProof::OfRounded(proof)),
        meeting: None,
    };
    VerdictAnswer { compared, decided: proof.map(decided) }
}

/// By the hulls if those are separated, which proves it of the bodies, else by the faces.
fn by_faces(
    bodies: &ReadyBoundaries,
    margin: Option<f64>,
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> VerdictAnswer {
    let stand = match bodies.stand(effort) {
        Ok(stand) => stand,
        Err(stopped) => return VerdictAnswer { decided: Err(stopped), compared: Err(stopped) },
    };
    let within = margin.map(|margin| Ok((margin, bodies.within(&stand, margin, effort)?)));
    let within: Result<Option<(f64, Within)>, Stopped> = within.transpose();
    let known = within.as_ref().ok().and_then(Option::as_ref);
    let proof = if wanted.certificate {
        let known = known.map(|(margin, found)| (*margin, found));
        bodies.prove(&stand, known, wanted, effort).map_err(Some)
    } else {
        Err(None)
    };
    let decided = Decided { verdict: stand.verdict, proof, meeting: bodies.meeting(&stand) };
    let compared = within.map(|within| within.map(|(_, found)| found.compared));
    VerdictAnswer { decided: Ok(decided), compared }
}

/// Of a height field and another body.
impl ReadyCells {
    /// How they stand, and whether they are within a margin.
    pub(super) fn verdict(
        &self,
        margin: Option<f64>,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> VerdictAnswer {
        if let Some(bodies) = self.spelled(wanted) {
            return match answered(ask_verdict(bodies, margin, wanted, effort)) {
                Ok(answer) => answer,
                Err(why) => VerdictAnswer { decided: Err(why), compared: Err(why) },
            };
        }
        let found = match self.beside() {
            Some((_, beside)) => stand_beside(&beside, margin, effort),
            None => self.stand_by_tiles(margin, effort),
        };
        let (verdict, is_within) = match found {
            Ok(found) => found,
            Err(why) => return VerdictAnswer { decided: Err(why), compared: Err(why) },
        };
        let proof = wanted.proven(|| Err(Unproven::TooLong));
        let decided = Ok(Decided { verdict, proof, meeting: None });
        VerdictAnswer { decided, compared: is_within.map(|found| found.map(Compared::bare)) }
    }

    fn stand_by_tiles(
        &self,
        margin: Option<f64>,
        effort: &mut Effort<'_>,
    ) -> Result<FieldStands, Stopped> {
        let (mut verdict, mut is_within) = (Verdict::Separated, margin.map(|_| false));
        let Some((k, _)) = self.field() else { return Err(Stopped::Unresolved) };
        let near = self.around(1 - k, margin.unwrap_or(0.0));
        for (_, cells) in self.tiles(&near, effort)? {
            let Some(bodies) = self.with_cells(&cells)? else { continue };
            let answer = answered(ask_verdict(bodies, margin, Wanted::NO_PROOF, effort))?;
            verdict = verdict.max(answer.decided?.verdict);
            if let Some(found) = answer.compared? {
                is_within = Some(is_within == Some(true) || found.is_within);
            }
            if verdict == Verdict::Overlapping {
                break;
            }
        }
        Ok((verdict, Ok(is_within)))
    }
}

/// How they stand, and whether they are within a margin, if one is asked for.
type FieldStands = (Verdict, Result<Option<bool>, Stopped>);

fn stand_beside(
    beside: &FieldBeside<'_>,
    margin: Option<f64>,
    effort: &mut Effort<'_>,
) -> Result<FieldStands, Stopped> {
    let found = beside.stand(false, &mut Witness::default(), effort)?;
    let within = |margin| match found.verdict {
        Verdict::Separated => beside.is_within(margin, effort),
        Verdict::Touching | Verdict::Overlapping => Ok(true),
    };
    Ok((found.verdict, margin.map(within).transpose()))
}

/// Answers the question about any two bodies.
pub(super) fn ask_verdict(
    bodies: [PlacedBody; 2],
    margin: Option<f64>,
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> Result<VerdictAnswer, NotAnswered> {
    let question = VerdictQuestion::of(kinds(&bodies), margin)?;
    Ok(question.prepare(bodies)?.answer(wanted, effort))
}
