//! How far two bodies are from each other.

use arrayvec::ArrayVec;

use super::below_zero::{compare_by_bracket, is_below_zero};
use super::boundaries::ReadyBoundaries;
use super::cells::{ReadyCells, answered, kinds};
use super::depth::DepthQuestion;
use super::hulls::ReadyHulls;
pub use super::proof::{MeasuredDistance, MeasuredFaces};
use super::radii::{self, AskedMargin};
use super::refined::ReadyBetween;
use super::row::{
    BETWEEN_NANOSECONDS, FACES_NANOSECONDS, HULLS_NANOSECONDS, Needs, NotAnswered, TableEntry,
    Wanted, Way, look_up,
};
use super::verdict::within_depth;
use crate::body::PlacedBody;
use crate::kind::Kind;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::contact_time::polyhedra;
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::distance::{Compared, DistanceMethod, METHODS, Stops, compare, measure_by};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::Clear;
use clearance_geometry::faces::distance::{FaceDistance, measure};
use clearance_geometry::meeting::normal_of;
use clearance_geometry::pair::Pair;
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::terrain::WorldBox;
use clearance_geometry::terrain::standing::FieldBeside;
use clearance_geometry::witness::Witness;

/// What answers it.
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

/// The question about two bodies of certain kinds.
#[derive(Clone, Copy, Debug)]
pub struct DistanceQuestion {
    kinds: [Kind; 2],
    way: Way,
    method: &'static DistanceMethod,
}

/// The question with its bodies.
#[derive(Clone, Debug)]
pub struct ReadyDistance {
    method: &'static DistanceMethod,
    bodies: DistanceOf,
    /// The bodies, where they are not both convex.
    placed: Option<Box<[PlacedBody; 2]>>,
}

#[derive(Clone, Debug)]
enum DistanceOf {
    Hulls(ReadyHulls),
    Radii(ReadyHulls),
    Faces(Box<ReadyBoundaries>),
    Cells(Box<ReadyCells>),
    Between(Box<ReadyBetween>),
}

/// What is asked beside the bodies.
#[derive(Clone, Copy, Debug, Default)]
pub struct DistanceAsked {
    /// Beyond and below which distances the answer need not be exact.
    pub stops: Stops,
    /// A margin that the distance is compared with.
    pub margin: Option<f64>,
}

/// What is answered: a distance may be found where there is no effort left for the margin.
#[derive(Clone, Debug)]
pub struct DistanceAnswer {
    /// The distance with its proof.
    pub distance: Result<MeasuredDistance, Stopped>,
    /// The direction from P to Q along which they are nearest.
    pub normal: Option<Vec3>,
    /// How the distance compares with the margin, if one was given.
    pub compared: Result<Option<Compared>, Stopped>,
}

impl DistanceQuestion {
    /// The question about bodies of these kinds, by the default method.
    pub fn of(kinds: [Kind; 2]) -> Result<Self, NotAnswered> {
        Ok(Self { kinds, way: look_up(kinds, entry)?, method: &METHODS[0] })
    }

    /// The name of a method that answers it, the default one first.
    pub fn method_name(&self, index: usize) -> Option<&'static str> {
        match self.way {
            Way::Hulls | Way::Radii => METHODS.get(index).map(|method| method.name),
            Way::Between => [METHODS[0].name].get(index).copied(),
            Way::Faces | Way::RoundedFaces | Way::Pieces | Way::Cells => {
                polyhedra::METHODS.get(index).map(|method| method.name)
            }
        }
    }

    /// By another method, if there is one by that index.
    pub fn with_method(self, index: usize) -> Self {
        match self.way {
            Way::Hulls | Way::Radii => {
                METHODS.get(index).map_or(self, |method| Self { method, ..self })
            }
            Way::Faces | Way::RoundedFaces | Way::Pieces | Way::Cells | Way::Between => self,
        }
    }

    /// What is built of the bodies.
    pub fn needs(&self) -> Needs {
        match self.way {
            Way::Hulls | Way::Radii => Needs::tables(self.method.tables),
            Way::Faces | Way::RoundedFaces | Way::Pieces | Way::Cells | Way::Between => {
                Needs::SOLIDS
            }
        }
    }

    /// How long the default method takes for bodies that are ready and have so many vertices
    /// together, nanoseconds: a generous guess. A margin below 0 takes a depth as well.
    pub fn nanoseconds(&self, margin: Option<f64>, vertices: u32) -> u64 {
        let depth = DepthQuestion::of(self.kinds).ok().filter(|_| is_below_zero(margin));
        let of_depth = depth.map_or(0, |depth| depth.nanoseconds(vertices));
        of_depth + self.nanoseconds_of_distance(vertices)
    }

    fn nanoseconds_of_distance(&self, vertices: u32) -> u64 {
        match self.way {
            Way::Between => BETWEEN_NANOSECONDS,
            Way::Hulls | Way::Radii => 40_000 + HULLS_NANOSECONDS * u64::from(vertices),
            Way::Faces | Way::RoundedFaces | Way::Pieces | Way::Cells => {
                1_000_000 + FACES_NANOSECONDS * u64::from(vertices)
            }
        }
    }

    /// Makes of the bodies what the answer needs.
    pub fn prepare(self, bodies: [PlacedBody; 2]) -> Result<ReadyDistance, NotAnswered> {
        let are_convex = self.kinds.iter().all(|kind| kind.is_convex());
        let placed = (!are_convex).then(|| Box::new(bodies.clone()));
        let bodies = match self.way {
            Way::Hulls => DistanceOf::Hulls(ReadyHulls::new(bodies)),
            Way::Radii => DistanceOf::Radii(ReadyHulls::new(bodies)),
            Way::Cells => DistanceOf::Cells(Box::new(ReadyCells::new(bodies))),
            Way::Between => DistanceOf::Between(Box::new(ReadyBetween::new(bodies))),
            Way::Faces | Way::RoundedFaces | Way::Pieces => {
                DistanceOf::Faces(Box::new(ReadyBoundaries::new(bodies)?))
            }
        };
        Ok(ReadyDistance { method: self.method, bodies, placed })
    }
}

impl ReadyDistance {
    /// Answers it from cold.
    pub fn answer(
        &self,
        asked: DistanceAsked,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> DistanceAnswer {
        let deep = asked.margin.filter(|margin| *margin < 0.0).zip(self.placed.as_deref());
        let Some((margin, bodies)) = deep else { return self.answer_itself(asked, wanted, effort) };
        let mut answer =
            self.answer_itself(DistanceAsked { margin: None, ..asked }, wanted, effort);
        let verdict = answer.distance.as_ref().map(MeasuredDistance::verdict);
        answer.compared = match verdict {
            Ok(verdict) => compare_by_bracket(bodies, verdict, margin, effort).map(Some),
            Err(why) => Err(*why),
        };
        if answer.compared.is_ok() && wanted.certificate {
            answer.distance = answer.distance.map(MeasuredDistance::without_claim);
        }
        answer
    }

    fn answer_itself(
        &self,
        asked: DistanceAsked,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> DistanceAnswer {
        match &self.bodies {
            DistanceOf::Hulls(bodies) => self.of_hulls(&bodies.pair(), asked, wanted, effort),
            DistanceOf::Radii(bodies) => self.of_rounded(&bodies.rounded(), asked, wanted, effort),
            DistanceOf::Cells(bodies) => bodies.distance(asked, wanted, effort),
            DistanceOf::Between(bodies) => bodies.distance(asked, wanted, effort),
            DistanceOf::Faces(bodies) => of_faces(bodies, asked, wanted, effort),
        }
    }

    fn of_hulls(
        &self,
        pair: &Pair<'_>,
        asked: DistanceAsked,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> DistanceAnswer {
        let mut witness = Witness::default();
        let distance = measure_by(self.method, pair, asked.stops, &mut witness, effort);
        let normal = distance.as_ref().ok().and_then(|found| normal_of(pair, found, None));
        let compared = asked.margin.map(|margin| match &distance {
            _ if margin >= 0.0 => compare(pair, margin, &mut witness, effort),
            Ok(found) => within_depth(pair, &found.decision.proof, margin, wanted, effort),
            Err(why) => Err(*why),
        });
        let distance = distance.map(MeasuredDistance::OfHulls);
        DistanceAnswer { distance, normal, compared: compared.transpose() }
    }

    fn of_rounded(
        &self,
        pair: &RoundedPair<'_>,
        asked: DistanceAsked,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> DistanceAnswer {
        let mut witness = Witness::default();
        let distance = rounded::measure(pair, self.method, asked.stops, &mut witness, effort);
        let normal = distance.as_ref().ok().and_then(|found| found.normal);
        let verdict = distance.as_ref().map(|found| found.proof.verdict).map_err(|why| *why);
        let within = |margin| {
            let asked = AskedMargin { margin, is_certified: wanted.certificate };
            radii::within(pair, verdict?, asked, &mut witness, effort)
        };
        let compared = asked.margin.map(within).transpose();
        let distance = distance.map(MeasuredDistance::OfRounded);
        DistanceAnswer { distance, normal, compared }
    }
}

/// By how the bodies stand, then by the nearest of their faces.
fn of_faces(
    bodies: &ReadyBoundaries,
    asked: DistanceAsked,
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> DistanceAnswer {
    let none = |why| DistanceAnswer { distance: Err(why), normal: None, compared: Err(why) };
    let stand = match bodies.stand(effort) {
        Ok(stand) => stand,
        Err(stopped) => return none(stopped),
    };
    let within = asked.margin.map(|margin| bodies.within(&stand, margin, effort)).transpose();
    let compared = within.map(|within| within.map(|found| found.compared));
    if stand.verdict != Verdict::Separated {
        let proof = wanted.proven(|| bodies.prove(&stand, None, wanted, effort));
        let closest = bodies.common_points(&stand, effort).ok().flatten();
        let found = MeasuredFaces {
            verdict: Some(stand.verdict),
            bounds: [0.0; 2],
            closest,
            stopped: None,
            proof,
            pairs: ArrayVec::new(),
        };
        let distance = Ok(MeasuredDistance::OfFaces(Box::new(found)));
        return DistanceAnswer { distance, normal: None, compared };
    }
    let found = match measure(&bodies.surfaces(), asked.stops, effort) {
        Ok(found) => found,
        Err(stopped) => return DistanceAnswer { compared, ..none(stopped) },
    };
    // Beyond a margin that is no less than the lower bound, what shows the one shows the other.
    let beyond = compared.as_ref().ok().and_then(Option::as_ref).filter(|found| !found.is_within);
    let farther = beyond.and(asked.margin).unwrap_or(0.0);
    let clear =
        if farther >= found.lower { Clear::Beyond(farther) } else { Clear::AtLeast(found.lower) };
    let proof = wanted.proven(|| bodies.prove_apart(clear, wanted, effort));
    let FaceDistance { lower, upper, pairs, closest, normal, stopped } = found;
    let (verdict, bounds) = (Some(Verdict::Separated), [lower, upper]);
    let closest = Some(closest);
    let found = MeasuredFaces { verdict, bounds, closest, stopped, proof, pairs };
    let distance = Ok(MeasuredDistance::OfFaces(Box::new(found)));
    DistanceAnswer { distance, normal, compared }
}

/// Of a height field and another body.
impl ReadyCells {
    /// How far they are from each other.
    pub(super) fn distance(
        &self,
        asked: DistanceAsked,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> DistanceAnswer {
        let none = |why| DistanceAnswer { distance: Err(why), normal: None, compared: Err(why) };
        if let Some(bodies) = self.spelled(wanted) {
            return answered(ask_distance(bodies, asked, wanted, effort)).unwrap_or_else(none);
        }
        let found = match self.beside() {
            Some((k, beside)) => measure_beside(&beside, k, asked, effort),
            None => self.measure_by_tiles(asked, effort),
        };
        let NearestCells { verdict, bounds, closest, normal, stopped } = match found {
            Ok(found) => found,
            Err(why) => return none(why),
        };
        let compared = match asked.margin {
            None => Ok(None),
            Some(margin) => self.verdict(Some(margin), Wanted::NO_PROOF, effort).compared,
        };
        let proof = wanted.proven(|| Err(Unproven::TooLong));
        let (pairs, verdict) = (ArrayVec::new(), Some(verdict));
        let found = MeasuredFaces { verdict, bounds, closest, stopped, proof, pairs };
        let distance = Ok(MeasuredDistance::OfFaces(Box::new(found)));
        DistanceAnswer { distance, normal, compared }
    }

    /// Of the nearest cells, whose boxes are asked in the order of their distances.
    fn measure_by_tiles(
        &self,
        asked: DistanceAsked,
        effort: &mut Effort<'_>,
    ) -> Result<NearestCells, Stopped> {
        let mut best: Option<NearestCells> = None;
        let mut lower = f64::INFINITY;
        for (bound, cells) in self.tiles(&WorldBox::everything(), effort)? {
            // Where the boxes meet, a later tile may overlap where an earlier one touches.
            if bound >= lower && bound > 0.0 {
                break;
            }
            effort.spend_step()?;
            let Some(bodies) = self.with_cells(&cells)? else { continue };
            let above = best.as_ref().map(|best| best.bounds[1]).or(asked.stops.above);
            let stops = Stops { above, below: asked.stops.below };
            let asked = DistanceAsked { stops, margin: None };
            let answer = answered(ask_distance(bodies, asked, Wanted::NO_PROOF, effort))?;
            let normal = answer.normal;
            let found = answer.distance?;
            let (bounds, stopped) = (found.bounds(), found.stopped());
            let verdict = found.verdict().ok_or(Stopped::Unresolved)?;
            lower = lower.min(bounds[0]);
            let upper = best.as_ref().map_or(f64::INFINITY, |best| best.bounds[1]);
            let is_met = best.as_ref().is_some_and(|best| best.verdict >= verdict);
            if verdict == Verdict::Separated && bounds[1] >= upper
                || verdict != Verdict::Separated && is_met
            {
                continue;
            }
            best =
                Some(NearestCells { verdict, bounds, closest: found.closest(), normal, stopped });
            if verdict == Verdict::Overlapping {
                break;
            }
        }
        let best = best.ok_or(Stopped::Unresolved)?;
        let bounds = [lower.min(best.bounds[1]), best.bounds[1]];
        Ok(NearestCells { bounds, ..best })
    }
}

/// What is found of the distance of the nearest triangles.
struct NearestCells {
    verdict: Verdict,
    bounds: [f64; 2],
    closest: Option<[Vec3; 2]>,
    normal: Option<Vec3>,
    stopped: Option<Stopped>,
}

fn measure_beside(
    beside: &FieldBeside<'_>,
    field: usize,
    asked: DistanceAsked,
    effort: &mut Effort<'_>,
) -> Result<NearestCells, Stopped> {
    let stands = beside.stand(false, &mut Witness::default(), effort)?;
    let in_order = |[of_field, of_other]: [Vec3; 2]| {
        if field == 0 { [of_field, of_other] } else { [of_other, of_field] }
    };
    let verdict = stands.verdict;
    if let Some(triangle) = stands.triangle {
        let closest = beside.common_points(triangle, effort).ok().flatten().map(in_order);
        return Ok(NearestCells {
            verdict,
            bounds: [0.0; 2],
            closest,
            normal: None,
            stopped: None,
        });
    }
    let found = beside.measure(asked.stops, effort)?;
    let (bounds, closest) = ([found.lower, found.upper], Some(in_order(found.closest)));
    let normal = found.normal.map(|normal| if field == 0 { normal } else { -normal });
    Ok(NearestCells { verdict, bounds, closest, normal, stopped: found.stopped })
}

/// Answers the question about any two bodies.
pub(super) fn ask_distance(
    bodies: [PlacedBody; 2],
    asked: DistanceAsked,
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> Result<DistanceAnswer, NotAnswered> {
    let question = DistanceQuestion::of(kinds(&bodies))?;
    Ok(question.prepare(bodies)?.answer(asked, wanted, effort))
}
