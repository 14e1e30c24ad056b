//! How deep two bodies overlap.

use super::hulls::ReadyHulls;
use super::row::{CLOUDS, FIELDS, Needs, NotAnswered, SURFACES, TableEntry, look_up};
use crate::body::PlacedBody;
use crate::kind::Kind;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::penetration::{Depth, measure};
use clearance_geometry::polytope::Tables;
use clearance_geometry::rounded::{RoundedDepth, measure_depth};
use clearance_geometry::witness::Witness;

/// By what the depth is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DepthWay {
    /// Of convex bodies, each its own hull.
    Hulls,
    /// Of the polytopes that are rounded, and the radii.
    Radii,
}

/// What answers it.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<DepthWay> {
    use Kind::{Cloud, HeightField, Polyhedron, Polytope, Rounded, Surface};
    match kinds {
        [HeightField, _] | [_, HeightField] => Err(FIELDS),
        [Polytope, Polytope] => Ok(DepthWay::Hulls),
        [Rounded, Polytope | Rounded] | [Polytope, Rounded] => Ok(DepthWay::Radii),
        [Cloud, _] | [_, Cloud] => Err(CLOUDS),
        [Surface, _] | [_, Surface] => Err(SURFACES),
        [Polytope, Polyhedron] | [Polyhedron, Polytope | Polyhedron] => {
            Err("this question about polyhedra")
        }
        [Rounded, Polyhedron] | [Polyhedron, Rounded] => Err("this question about polyhedra"),
    }
}

/// The question about two bodies of certain kinds. It has one method.
#[derive(Clone, Copy, Debug)]
pub struct DepthQuestion {
    way: DepthWay,
}

/// A depth with its proof.
#[derive(Clone, Debug)]
pub enum MeasuredDepth {
    /// Of the hulls of the bodies.
    OfHulls(Depth),
    /// Of rounded bodies.
    OfRounded(RoundedDepth),
}

impl MeasuredDepth {
    /// How the bodies stand.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::OfHulls(found) => found.decision.verdict(),
            Self::OfRounded(found) => found.proof.verdict,
        }
    }

    /// Encloses the exact depth, metres.
    pub fn bounds(&self) -> [f64; 2] {
        match self {
            Self::OfHulls(found) => [found.lower, found.upper],
            Self::OfRounded(found) => [found.lower, found.upper],
        }
    }

    /// Along which P leaves Q soonest, if they overlap, rounded.
    pub fn direction(&self) -> Option<Vec3> {
        let direction = match self {
            Self::OfHulls(found) => found.direction,
            Self::OfRounded(found) => found.direction,
        };
        (self.verdict() == Verdict::Overlapping).then_some(direction)
    }

    /// Why the bracket is wider than it could be.
    pub fn stopped(&self) -> Option<Stopped> {
        match self {
            Self::OfHulls(found) => found.stopped,
            Self::OfRounded(found) => found.stopped,
        }
    }
}

impl DepthQuestion {
    /// The question about bodies of these kinds.
    pub fn of(kinds: [Kind; 2]) -> Result<Self, NotAnswered> {
        look_up(kinds, entry).map(|way| Self { way })
    }

    /// What is built of the bodies.
    pub fn needs(&self) -> Needs {
        Needs::tables(Tables::Faces)
    }

    /// How long it takes for bodies that are ready and have so many vertices together,
    /// nanoseconds: a generous guess. The surface of a deep pair grows to the size of M's.
    pub fn nanoseconds(&self, vertices: u32) -> u64 {
        200_000 + 2_000 * u64::from(vertices)
    }

    /// Makes of the bodies what the answer needs.
    pub fn prepare(self, bodies: [PlacedBody; 2]) -> ReadyHulls {
        ReadyHulls::new(bodies)
    }

    /// Answers it from cold, with the surface that proves the lower bound if that is wanted.
    pub fn answer(
        self,
        bodies: &ReadyHulls,
        with_surface: bool,
        effort: &mut Effort<'_>,
    ) -> Result<MeasuredDepth, Stopped> {
        let witness = &mut Witness::default();
        match self.way {
            DepthWay::Hulls => {
                let found = measure(&bodies.pair(), with_surface, witness, effort);
                found.map(MeasuredDepth::OfHulls)
            }
            DepthWay::Radii => {
                let found = measure_depth(&bodies.rounded(), with_surface, witness, effort);
                found.map(MeasuredDepth::OfRounded)
            }
        }
    }
}
