//! How far P can move along a direction before it meets Q, and where it leaves Q again.

use super::hulls::ReadyHulls;
use super::row::{
    CLOUDS, FIELDS, HULLS_NANOSECONDS, Needs, NotAnswered, SURFACES, TableEntry, look_up,
};
use crate::body::PlacedBody;
use crate::kind::Kind;
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::penetration::{METHODS, Range, RangeMethod, along_by};
use clearance_geometry::witness::Witness;

/// What answers it.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<&'static [RangeMethod]> {
    use Kind::{Cloud, HeightField, Polyhedron, Polytope, Rounded, Surface};
    match kinds {
        [HeightField, _] | [_, HeightField] => Err(FIELDS),
        [Polytope, Polytope] => Ok(METHODS),
        [Cloud, _] | [_, Cloud] => Err(CLOUDS),
        [Surface, _] | [_, Surface] => Err(SURFACES),
        [Polytope, Polyhedron] | [Polyhedron, Polytope | Polyhedron] => {
            Err("this question about polyhedra")
        }
        [Rounded, _] | [_, Rounded] => Err("this question about rounded polytopes"),
    }
}

/// The question about two bodies of certain kinds.
#[derive(Clone, Copy, Debug)]
pub struct AlongQuestion {
    methods: &'static [RangeMethod],
    method: &'static RangeMethod,
}

impl AlongQuestion {
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
        100_000 + HULLS_NANOSECONDS * u64::from(vertices)
    }

    /// Makes of the bodies what the answer needs.
    pub fn prepare(self, bodies: [PlacedBody; 2]) -> ReadyHulls {
        ReadyHulls::new(bodies)
    }

    /// Answers it from cold.
    pub fn answer(
        self,
        bodies: &ReadyHulls,
        direction: &Vec3,
        effort: &mut Effort<'_>,
    ) -> Result<Range, Stopped> {
        along_by(&bodies.pair(), direction, self.method, &mut Witness::default(), effort)
    }
}
