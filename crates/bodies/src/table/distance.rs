//! How far two bodies are from each other.

use super::hulls::ReadyHulls;
use super::radii::{self, BESIDE_POLYHEDRA};
use super::row::{HULLS_NANOSECONDS, Needs, NotAnswered, TableEntry, look_up};
use crate::body::PlacedBody;
use crate::kind::Kind;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::{
    Compared, Distance, DistanceMethod, METHODS, Stops, compare, measure_by,
};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::meeting::normal_of;
use clearance_geometry::pair::Pair;
use clearance_geometry::rounded::{self, RoundedDistance, RoundedPair};
use clearance_geometry::witness::Witness;

/// By what the distance is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DistanceWay {
    /// Of convex bodies, each its own hull.
    Hulls,
    /// Of the polytopes that are rounded, less the radii.
    Radii,
}

/// What answers it.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<DistanceWay> {
    use Kind::{Polyhedron, Polytope, Rounded};
    match kinds {
        [Polytope, Polytope] => Ok(DistanceWay::Hulls),
        [Rounded, Polytope | Rounded] | [Polytope, Rounded] => Ok(DistanceWay::Radii),
        [Polytope, Polyhedron] | [Polyhedron, Polytope | Polyhedron] => {
            Err("this question about polyhedra")
        }
        [Rounded, Polyhedron] | [Polyhedron, Rounded] => Err(BESIDE_POLYHEDRA),
    }
}

/// The question about two bodies of certain kinds.
#[derive(Clone, Copy, Debug)]
pub struct DistanceQuestion {
    way: DistanceWay,
    method: &'static DistanceMethod,
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

/// A distance with its proof.
#[derive(Clone, Debug)]
pub enum MeasuredDistance {
    /// Of the hulls of the bodies.
    OfHulls(Distance),
    /// Of rounded bodies.
    OfRounded(RoundedDistance),
}

impl MeasuredDistance {
    /// How the bodies stand.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::OfHulls(found) => found.decision.verdict(),
            Self::OfRounded(found) => found.proof.verdict,
        }
    }

    /// Encloses the exact distance, metres.
    pub fn bounds(&self) -> [f64; 2] {
        match self {
            Self::OfHulls(found) => [found.lower, found.upper],
            Self::OfRounded(found) => [found.lower, found.upper],
        }
    }

    /// The closest points of P and Q, rounded.
    pub fn closest(&self) -> [Vec3; 2] {
        match self {
            Self::OfHulls(found) => [found.closest_p, found.closest_q],
            Self::OfRounded(found) => [found.closest_p, found.closest_q],
        }
    }

    /// Why the bracket is wider than it could be.
    pub fn stopped(&self) -> Option<Stopped> {
        match self {
            Self::OfHulls(found) => found.stopped,
            Self::OfRounded(found) => found.stopped,
        }
    }
}

impl DistanceQuestion {
    /// The question about bodies of these kinds, by the default method.
    pub fn of(kinds: [Kind; 2]) -> Result<Self, NotAnswered> {
        Ok(Self { way: look_up(kinds, entry)?, method: &METHODS[0] })
    }

    /// The name of a method that answers it, the default one first.
    pub fn method_name(&self, index: usize) -> Option<&'static str> {
        METHODS.get(index).map(|method| method.name)
    }

    /// By another method, if there is one by that index.
    pub fn with_method(self, index: usize) -> Self {
        METHODS.get(index).map_or(self, |method| Self { method, ..self })
    }

    /// What is built of the bodies.
    pub fn needs(&self) -> Needs {
        Needs::tables(self.method.tables)
    }

    /// How long the default method takes for bodies that are ready and have so many vertices
    /// together, nanoseconds: a generous guess.
    pub fn nanoseconds(&self, vertices: u32) -> u64 {
        40_000 + HULLS_NANOSECONDS * u64::from(vertices)
    }

    /// Makes of the bodies what the answer needs.
    pub fn prepare(self, bodies: [PlacedBody; 2]) -> ReadyHulls {
        ReadyHulls::new(bodies)
    }

    /// Answers it from cold.
    pub fn answer(
        self,
        bodies: &ReadyHulls,
        asked: DistanceAsked,
        effort: &mut Effort<'_>,
    ) -> DistanceAnswer {
        match self.way {
            DistanceWay::Hulls => self.of_hulls(&bodies.pair(), asked, effort),
            DistanceWay::Radii => self.of_rounded(&bodies.rounded(), asked, effort),
        }
    }

    fn of_hulls(
        self,
        pair: &Pair<'_>,
        asked: DistanceAsked,
        effort: &mut Effort<'_>,
    ) -> DistanceAnswer {
        let mut witness = Witness::default();
        let distance = measure_by(self.method, pair, asked.stops, &mut witness, effort);
        let normal = distance.as_ref().ok().and_then(|found| normal_of(pair, found, None));
        let compared = asked.margin.map(|margin| compare(pair, margin, &mut witness, effort));
        let distance = distance.map(MeasuredDistance::OfHulls);
        DistanceAnswer { distance, normal, compared: compared.transpose() }
    }

    fn of_rounded(
        self,
        pair: &RoundedPair<'_>,
        asked: DistanceAsked,
        effort: &mut Effort<'_>,
    ) -> DistanceAnswer {
        let mut witness = Witness::default();
        let distance = rounded::measure(pair, self.method, asked.stops, &mut witness, effort);
        let normal = distance.as_ref().ok().and_then(|found| found.normal);
        let verdict = distance.as_ref().map(|found| found.proof.verdict).map_err(|why| *why);
        let within = |margin| radii::within(pair, verdict?, margin, &mut witness, effort);
        let compared = asked.margin.map(within).transpose();
        let distance = distance.map(MeasuredDistance::OfRounded);
        DistanceAnswer { distance, normal, compared }
    }
}
