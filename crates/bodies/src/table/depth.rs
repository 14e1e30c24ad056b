//! How deep two bodies overlap.

use super::hulls::ReadyHulls;
use super::row::{Needs, NotAnswered, TableEntry, look_up};
use crate::body::PlacedBody;
use crate::kind::Kind;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::penetration::{Depth, measure};
use clearance_geometry::polytope::Tables;
use clearance_geometry::witness::Witness;

/// What answers it.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<()> {
    use Kind::{Polyhedron, Polytope, Rounded};
    match kinds {
        [Polytope, Polytope] => Ok(()),
        [Polytope, Polyhedron] | [Polyhedron, Polytope | Polyhedron] => {
            Err("this question about polyhedra")
        }
        [Rounded, _] | [_, Rounded] => Err("this question about rounded polytopes"),
    }
}

/// The question about two bodies of certain kinds. It has one method.
#[derive(Clone, Copy, Debug)]
pub struct DepthQuestion(());

impl DepthQuestion {
    /// The question about bodies of these kinds.
    pub fn of(kinds: [Kind; 2]) -> Result<Self, NotAnswered> {
        look_up(kinds, entry).map(Self)
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
    ) -> Result<Depth, Stopped> {
        measure(&bodies.pair(), with_surface, &mut Witness::default(), effort)
    }
}
