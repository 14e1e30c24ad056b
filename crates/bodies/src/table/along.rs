//! How far P can move along a direction before it meets Q, and where it leaves Q again.

use super::hulls::ReadyHulls;
pub use super::proof::MeasuredRange;
use super::refined::ReadyBetween;
use super::row::{
    BETWEEN_NANOSECONDS, HULLS_NANOSECONDS, Needs, NotAnswered, TableEntry, Wanted, look_up,
};
use crate::body::PlacedBody;
use crate::kind::Kind;
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::penetration::{METHODS, RangeMethod, along_by};
use clearance_geometry::rounded;
use clearance_geometry::witness::Witness;

/// By what the range is found.
#[derive(Clone, Copy, Debug)]
pub(super) enum AlongWay {
    /// By one of the methods for convex bodies.
    Hulls(&'static [RangeMethod]),
    /// By the distance of the polytopes that are rounded, against the sum of the radii.
    Radii,
    /// By polytopes in and around a curved body.
    Between,
}

/// What answers it.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<AlongWay> {
    use Kind::{Cloud, Curved, HeightField, Polyhedron, Polytope, Rounded, Surface};
    match kinds {
        [HeightField, _] | [_, HeightField] => Err("this question about height fields"),
        [Cloud, _] | [_, Cloud] => Err("this question about clouds"),
        [Surface, _] | [_, Surface] => Err("this question about surfaces"),
        [Polyhedron, _] | [_, Polyhedron] => Err("this question about polyhedra"),
        [Curved, _] | [_, Curved] => Ok(AlongWay::Between),
        [Polytope, Polytope] => Ok(AlongWay::Hulls(METHODS)),
        [Rounded, Polytope | Rounded] | [Polytope, Rounded] => Ok(AlongWay::Radii),
    }
}

/// The question about two bodies of certain kinds.
#[derive(Clone, Copy, Debug)]
pub struct AlongQuestion {
    by: AlongBy,
}

#[derive(Clone, Copy, Debug)]
enum AlongBy {
    Hulls { methods: &'static [RangeMethod], method: &'static RangeMethod },
    Radii,
    Between,
}

/// The question with its bodies.
#[derive(Clone, Debug)]
pub struct ReadyAlong {
    bodies: AlongOf,
}

#[derive(Clone, Debug)]
enum AlongOf {
    Hulls(&'static RangeMethod, ReadyHulls),
    Radii(ReadyHulls),
    Between(ReadyBetween),
}

impl AlongQuestion {
    /// The question about bodies of these kinds, by the default method.
    pub fn of(kinds: [Kind; 2]) -> Result<Self, NotAnswered> {
        let by = match look_up(kinds, entry)? {
            AlongWay::Hulls(methods) => AlongBy::Hulls { methods, method: &methods[0] },
            AlongWay::Radii => AlongBy::Radii,
            AlongWay::Between => AlongBy::Between,
        };
        Ok(Self { by })
    }

    /// The name of a method that answers it, the default one first. What is rounded or curved has
    /// one.
    pub fn method_name(&self, index: usize) -> Option<&'static str> {
        match self.by {
            AlongBy::Hulls { methods, .. } => methods.get(index).map(|method| method.name),
            AlongBy::Radii | AlongBy::Between => [METHODS[0].name].get(index).copied(),
        }
    }

    /// By another method, if there is one by that index.
    pub fn with_method(self, index: usize) -> Self {
        match self.by {
            AlongBy::Hulls { methods, .. } => methods
                .get(index)
                .map_or(self, |method| Self { by: AlongBy::Hulls { methods, method } }),
            AlongBy::Radii | AlongBy::Between => self,
        }
    }

    /// What is built of the bodies.
    pub fn needs(&self) -> Needs {
        match self.by {
            AlongBy::Hulls { method, .. } => Needs::tables(method.tables),
            AlongBy::Radii | AlongBy::Between => Needs::NOTHING,
        }
    }

    /// How long the default method takes for bodies that are ready and have so many vertices
    /// together, nanoseconds: a generous guess.
    pub fn nanoseconds(&self, vertices: u32) -> u64 {
        let search = match self.by {
            AlongBy::Hulls { .. } => 100_000,
            AlongBy::Radii => 2_000_000,
            AlongBy::Between => 10 * BETWEEN_NANOSECONDS,
        };
        search + HULLS_NANOSECONDS * u64::from(vertices)
    }

    /// Makes of the bodies what the answer needs.
    pub fn prepare(self, bodies: [PlacedBody; 2]) -> ReadyAlong {
        let bodies = match self.by {
            AlongBy::Hulls { method, .. } => AlongOf::Hulls(method, ReadyHulls::new(bodies)),
            AlongBy::Radii => AlongOf::Radii(ReadyHulls::new(bodies)),
            AlongBy::Between => AlongOf::Between(ReadyBetween::new(bodies)),
        };
        ReadyAlong { bodies }
    }
}

impl ReadyAlong {
    /// Answers it from cold.
    pub fn answer(
        &self,
        direction: &Vec3,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<MeasuredRange, Stopped> {
        let witness = &mut Witness::default();
        match &self.bodies {
            AlongOf::Hulls(method, bodies) => {
                let found = along_by(&bodies.pair(), direction, method, witness, effort);
                found.map(MeasuredRange::OfHulls)
            }
            AlongOf::Radii(bodies) => {
                let found = rounded::along(&bodies.rounded(), direction, witness, effort);
                found.map(MeasuredRange::OfRounded)
            }
            AlongOf::Between(bodies) => {
                bodies.along(direction, wanted, effort).map(MeasuredRange::OfCurved)
            }
        }
    }
}

/// Answers the question about any two bodies.
pub(super) fn ask_along(
    bodies: [PlacedBody; 2],
    direction: &Vec3,
    effort: &mut Effort<'_>,
) -> Result<Result<MeasuredRange, Stopped>, NotAnswered> {
    let question = AlongQuestion::of(bodies.each_ref().map(|placed| placed.body.kind()))?;
    Ok(question.prepare(bodies).answer(direction, Wanted::NO_PROOF, effort))
}
