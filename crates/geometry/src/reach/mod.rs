//! What the search for supporting vertices needs of a body, and the search itself, in floating
//! point: every vertex beside its neighbours, and where to start to climb. [`super::support`]
//! proves what it finds.

mod start_table;

pub use start_table::StartTable;

use super::Vec3;
use super::effort::{Effort, Stopped};
use super::kernel::{self, Climb, Look, Ring};
use super::shape::Shape;

/// Rings that a climb from a hint may look at before the start table is asked. A hint that is good
/// is one or two moves away; from a stale one the climb would cross half the body.
const HINT_STEPS: u32 = 3;

/// What the search needs of a body: every vertex beside its neighbours, and where to start.
#[derive(Clone, Debug)]
pub enum Reach {
    /// All vertices of a small body: looking at them is cheaper than the table's lookup.
    Few(Ring),
    /// More than that.
    Many(Terrain),
}

/// The surface to climb on.
#[derive(Clone, Debug)]
pub struct Terrain {
    /// The ring of each vertex; more rings follow where a vertex has many neighbours.
    pub(super) rings: Box<[Ring]>,
    pub(super) table: StartTable,
}

impl Reach {
    /// Not beyond the deadline.
    pub(super) fn build(body: &Shape, effort: &Effort<'_>) -> Result<Self, Stopped> {
        if body.vertices().len() <= kernel::LANES {
            return Ok(Self::Few(Ring::of_few(body.vertices())));
        }
        let rings = Ring::around_all(body.vertices(), &body.neighbours, effort)?.into_boxed_slice();
        let table = StartTable::build(body.bounds(), body.vertex_count(), &rings, effort)?;
        Ok(Self::Many(Terrain { rings, table }))
    }

    /// Memory it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Few(ring) => size_of_val(ring),
            Self::Many(terrain) => size_of_val(&*terrain.rings) + terrain.table.bytes(),
        }
    }
}

/// A vertex to start from, near the supporting one as far as the hint or the start table tells.
#[derive(Clone, Copy, Debug)]
pub struct Near {
    /// The vertex; of a few, the farthest.
    pub vertex: u32,
    /// Its rounded value.
    pub value: f64,
    hinted: bool,
}

impl Terrain {
    #[inline(always)]
    pub(super) fn near(&self, body: &Shape, g: &Vec3, hint: Option<u32>) -> Near {
        let hint = hint.filter(|hint| *hint < body.vertex_count());
        let vertex = hint.unwrap_or_else(|| self.table.start(g));
        // Its ring would have the position too, but many more of the positions fit into a cache.
        let value = kernel::along(g, body.vertex(vertex));
        Near { vertex, value, hinted: hint.is_some() }
    }

    #[inline(always)]
    pub(super) fn look(&self, g: &Vec3, near: &Near) -> Look {
        kernel::look(g, &self.rings, near.vertex, near.value)
    }

    /// From the first vertex to the top, or, if that was a hint which turns out stale, from where
    /// the table says.
    #[inline(never)]
    pub(super) fn climb(&self, g: &Vec3, near: Near) -> Climb {
        let steps = if near.hinted { HINT_STEPS } else { u32::MAX };
        let found = kernel::climb(g, &self.rings, near.vertex, steps);
        if found.finished {
            return found;
        }
        let rest = kernel::climb(g, &self.rings, self.table.start(g), u32::MAX);
        Climb { visited: found.visited + rest.visited, ..rest }
    }
}

/// The floating-point search: hint, all of a few, or table.
#[inline]
pub(super) fn search(
    body: &Shape,
    reach: &Reach,
    g: &Vec3,
    hint: Option<u32>,
    effort: &mut Effort<'_>,
) -> Climb {
    let found = match reach {
        Reach::Few(all) => kernel::look_at_few(g, all).settled(),
        Reach::Many(terrain) => {
            let near = terrain.near(body, g, hint);
            let first = terrain.look(g, &near);
            if first.is_settled() { first.settled() } else { terrain.climb(g, near) }
        }
    };
    effort.cost.visited += u64::from(found.visited);
    found
}

/// Where to start: at the hint if it is a vertex, else where the table says; of a few vertices, at
/// the farthest.
#[inline(always)]
pub(super) fn near_in(body: &Shape, reach: &Reach, g: &Vec3, hint: Option<u32>) -> Near {
    match reach {
        Reach::Few(all) => {
            let (vertex, value) = kernel::farthest_of_few(g, all);
            Near { vertex, value, hinted: false }
        }
        Reach::Many(terrain) => terrain.near(body, g, hint),
    }
}

/// The look around the vertex to start from.
#[inline(always)]
pub(super) fn first_look(reach: &Reach, g: &Vec3, near: &Near) -> Look {
    match reach {
        Reach::Few(all) => Look::at_top(near.vertex, near.value, all.count()),
        Reach::Many(terrain) => terrain.look(g, near),
    }
}
