//! How far two bodies are from each other.

use super::hulls::ReadyHulls;
use super::row::{HULLS_NANOSECONDS, Needs, NotAnswered, TableEntry, look_up};
use crate::body::PlacedBody;
use crate::kind::Kind;
use clearance_geometry::Vec3;
use clearance_geometry::distance::{
    Compared, Distance, DistanceMethod, METHODS, Stops, compare, measure_by,
};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::meeting::normal_of;
use clearance_geometry::witness::Witness;

/// What answers it.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<&'static [DistanceMethod]> {
    use Kind::{Polyhedron, Polytope, Rounded};
    match kinds {
        [Polytope, Polytope] => Ok(METHODS),
        [Polytope, Polyhedron] | [Polyhedron, Polytope | Polyhedron] => {
            Err("this question about polyhedra")
        }
        [Rounded, _] | [_, Rounded] => Err("this question about rounded polytopes"),
    }
}

/// The question about two bodies of certain kinds.
#[derive(Clone, Copy, Debug)]
pub struct DistanceQuestion {
    methods: &'static [DistanceMethod],
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
    pub distance: Result<Distance, Stopped>,
    /// The direction from P to Q along which they are nearest.
    pub normal: Option<Vec3>,
    /// How the distance compares with the margin, if one was given.
    pub compared: Result<Option<Compared>, Stopped>,
}

impl DistanceQuestion {
    /// The question about bodies of these kinds, by the default method.
    pub fn of(kinds: [Kind; 2]) -> Result<Self, NotAnswered> {
        let methods = look_up(kinds, entry)?;
        Ok(Self { methods, method: &methods[0] })
    }

    /// The name of a method that answers it, the default one first.
    pub fn method_name(&self, index: usize) -> Option<&'static str> {
        self.methods.get(index).map(|method| method.name)
    }

    /// By another method, if there is one by that index.
    pub fn with_method(self, index: usize) -> Self {
        self.methods.get(index).map_or(self, |method| Self { method, ..self })
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
        let (pair, mut witness) = (&bodies.pair(), Witness::default());
        let distance = measure_by(self.method, pair, asked.stops, &mut witness, effort);
        let normal = distance.as_ref().ok().and_then(|found| normal_of(pair, found, None));
        let compared = asked.margin.map(|margin| compare(pair, margin, &mut witness, effort));
        DistanceAnswer { distance, normal, compared: compared.transpose() }
    }
}
