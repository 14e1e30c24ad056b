//! What a mesh keeps of its groups once somebody has asked for it: the boxes of all nodes of its
//! tree in its own frame, also side by side for rays, and the hulls of some small ones.
//!
//! It changes what a question costs and nothing else. How much it may become is counted with the
//! mesh from the beginning.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::tree::{Extent, Node};
use super::wide::WideTree;
use crate::Vec3;
use crate::hull::convex_hull;
use crate::polytope::Polytope;

/// See the module.
#[derive(Debug)]
pub(super) struct KeptGroups {
    /// Hulls of groups may take so much for each triangle, bytes.
    hulls_for_each: usize,
    boxes: OnceLock<Vec<Extent>>,
    wide: OnceLock<WideTree>,
    least_exponent: OnceLock<i64>,
    /// By the places of their nodes.
    hulls: OnceLock<Vec<OnceLock<Box<Polytope>>>>,
    /// What these take, bytes.
    bytes: AtomicUsize,
}

/// A copy of a mesh begins anew.
impl Clone for KeptGroups {
    fn clone(&self) -> Self {
        Self::with(self.hulls_for_each)
    }
}

impl Default for KeptGroups {
    fn default() -> Self {
        Self::with(HULLS_FOR_TRIANGLE)
    }
}

/// Triangles of a group whose hull is built: with few, a hull is soon built, and with more than one
/// there are fewer pairs to list.
pub(super) const GROUP_MAX: u32 = 32;

/// Hulls of groups may take so much of any mesh, bytes.
const HULLS_LEAST: usize = 1 << 14;
/// And so much for each of its triangles.
const HULLS_FOR_TRIANGLE: usize = 512;
/// Or for each point of a cloud, which may be of millions, and where hulls are soon built: those of
/// a tenth of its groups.
const HULLS_FOR_POINT: usize = 64;

impl KeptGroups {
    fn with(hulls_for_each: usize) -> Self {
        let (boxes, wide, least_exponent, hulls) = Default::default();
        Self { hulls_for_each, boxes, wide, least_exponent, hulls, bytes: AtomicUsize::new(0) }
    }

    /// Of a mesh whose triangles are single points.
    pub(super) fn of_points() -> Self {
        Self::with(HULLS_FOR_POINT)
    }

    fn hull_bytes_max(&self, triangles: usize) -> usize {
        HULLS_LEAST + self.hulls_for_each * triangles
    }

    /// What may be kept of a mesh of so many triangles, bytes.
    pub(super) fn bytes_max(&self, triangles: usize) -> usize {
        let for_node = size_of::<Extent>() + size_of::<OnceLock<Box<Polytope>>>();
        2 * triangles * for_node + self.hull_bytes_max(triangles) + WideTree::bytes_max(triangles)
    }
}

impl KeptGroups {
    /// The boxes of all nodes, made when they are first asked for.
    pub(super) fn boxes(&self, make: impl FnOnce() -> Vec<Extent>) -> &[Extent] {
        self.boxes.get_or_init(make)
    }

    /// The boxes that rays walk down, made when they are first asked for.
    pub(super) fn wide(&self, make: impl FnOnce() -> WideTree) -> &WideTree {
        self.wide.get_or_init(make)
    }

    /// The least exponent of the coordinates, looked for when it is first asked for.
    pub(super) fn least_exponent(&self, look: impl FnOnce() -> i64) -> i64 {
        *self.least_exponent.get_or_init(look)
    }

    /// The hull of the corners of a group of a mesh of so many triangles; none: there is no room to
    /// keep it.
    pub(super) fn hull(
        &self,
        node: Node,
        triangles: usize,
        corners: impl FnOnce() -> Vec<Vec3>,
    ) -> Option<&Polytope> {
        debug_assert!(node.count <= GROUP_MAX);
        let hulls = self.hulls.get_or_init(|| vec![OnceLock::new(); 2 * triangles - 1]);
        let place = &hulls[node.at as usize];
        if let Some(known) = place.get() {
            return Some(known);
        }
        let taken = self.bytes.load(Ordering::Relaxed);
        let room = self.hull_bytes_max(triangles).checked_sub(taken).filter(|room| *room > 0)?;
        // The vertices of a body are points that a hull can be built of.
        let built = Box::new(convex_hull(&corners()).ok()?.polytope);
        built.guess_by_bounds();
        let bytes = size_of::<Polytope>() + built.heap_bytes();
        if bytes > room {
            // What is nearly full is full: else each question would build this one in vain.
            self.bytes.fetch_add(room, Ordering::Relaxed);
            return None;
        }
        let mut is_new = false;
        let known = place.get_or_init(|| {
            is_new = true;
            built
        });
        if is_new {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polyhedron::Polyhedron;
    use crate::samples::{ball, grid_ball};

    /// All groups of a mesh are asked for, twice.
    #[test]
    fn what_is_kept_of_a_mesh_is_no_more_than_was_counted() {
        for polytope in [ball(4, 1), ball(60, 2), ball(700, 3), grid_ball(4)] {
            let region = Polyhedron::of_polytope(&polytope).unwrap().0;
            let mesh = region.surface();
            let mut open = vec![mesh.tree().root()];
            let mut kept = 0;
            while let Some(node) = open.pop() {
                open.extend(node.children().into_iter().flatten());
                if let Some(hull) = Some(node)
                    .filter(|node| node.count <= GROUP_MAX)
                    .and_then(|node| mesh.kept_hull(node))
                {
                    kept += size_of::<Polytope>() + hull.heap_bytes();
                    assert!(std::ptr::eq(hull, mesh.kept_hull(node).unwrap()));
                }
            }
            let (count, of_mesh) = (mesh.triangles().len(), KeptGroups::default());
            assert!(kept > 0 && kept <= of_mesh.hull_bytes_max(count), "{kept} of {count}");
            let lists =
                size_of_val(mesh.boxes()) + (2 * count - 1) * size_of::<OnceLock<Box<Polytope>>>();
            assert!(kept + lists <= of_mesh.bytes_max(count), "{kept} and {lists} of {count}");
        }
    }
}
