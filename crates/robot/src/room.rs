//! Memory while a robot is built: a description of a hundred kilobytes may ask for polytopes of
//! gigabytes.

use std::fmt::Debug;
use std::sync::Arc;

use clearance_geometry::Vec3;
use clearance_geometry::hull::building_bytes_max;
use clearance_geometry::polytope::{Polytope, TableKeeper};

/// Who has memory for a robot that is being built.
pub trait BuildRoom: Debug {
    /// Whether there is memory for so many bytes in all, of what is built so far and what the next
    /// step takes. It is asked before the step.
    fn holds(&self, bytes: usize) -> bool;

    /// Who is told of the tables that are built of the robot's own polytopes.
    fn keeper(&self) -> Option<Arc<dyn TableKeeper>>;
}

/// As much as the machine has.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

impl BuildRoom for Unbounded {
    fn holds(&self, _bytes: usize) -> bool {
        true
    }

    fn keeper(&self) -> Option<Arc<dyn TableKeeper>> {
        None
    }
}

/// What a polytope of a robot takes beside its lists: itself, its bounds, and what is built of
/// every one on first use.
const POLYTOPE_BYTES: usize = size_of::<Polytope>() + 512;

/// Memory that a polytope of a robot takes, without tables that methods build of it.
pub(super) fn polytope_bytes(polytope: &Polytope) -> usize {
    POLYTOPE_BYTES + polytope.heap_bytes()
}

/// What building a hull of so many points takes at most, the points included.
pub(super) fn hull_bytes(points: usize) -> usize {
    let building = usize::try_from(building_bytes_max(points)).unwrap_or(usize::MAX);
    building.saturating_add(points.saturating_mul(2 * size_of::<Vec3>()))
}

/// What it takes to read a description of this text and to keep what it says, bytes at most, but
/// for the parts: the nodes and attributes of the document, which a `<` or a `=` each begin, in
/// lists that may have room for twice as many; and its names, which joints of several values
/// repeat.
pub fn reading_bytes(text: &str) -> usize {
    const NAMES: usize = 8;
    const NODE: usize = 400;
    const ATTRIBUTE: usize = 160;
    let count = |wanted: u8| text.bytes().filter(|byte| *byte == wanted).count();
    NAMES * text.len() + NODE * count(b'<') + ATTRIBUTE * count(b'=')
}
