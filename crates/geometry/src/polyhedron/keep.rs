//! What a mesh keeps of its groups once somebody has asked for it: the boxes of all nodes of its
//! tree in its own frame, and the hulls of some small ones.
//!
//! It changes what a question costs and nothing else. How much it may become is counted with the
//! mesh from the beginning.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::groups::GROUP_MAX;
use super::mesh::Polyhedron;
use super::tree::{Extent, Node};
use crate::Vec3;
use crate::hull::convex_hull;
use crate::polytope::Polytope;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Kept {
    boxes: OnceLock<Vec<Extent>>,
    /// By the places of their nodes.
    hulls: OnceLock<Vec<OnceLock<Box<Polytope>>>>,
    /// How many of these there are.
    count: AtomicUsize,
}

/// A copy of a mesh begins anew.
impl Clone for Kept {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The hull of one group in so many triangles may be kept.
const HULL_SHARE: usize = 16;
/// So many hulls may be kept of any mesh.
const HULLS_LEAST: usize = 64;
/// What a hull of so few triangles takes at most, bytes.
const HULL_BYTES: usize = 6_144;

impl Kept {
    fn hulls_max(triangles: usize) -> usize {
        HULLS_LEAST.min(2 * triangles) + triangles / HULL_SHARE
    }

    /// What may be kept of a mesh of so many triangles, bytes.
    pub(super) fn bytes_max(triangles: usize) -> usize {
        let for_node = size_of::<Extent>() + size_of::<OnceLock<Box<Polytope>>>();
        2 * triangles * for_node + Self::hulls_max(triangles) * HULL_BYTES
    }
}

impl Polyhedron {
    /// The boxes of all nodes of its tree in its own frame, exactly.
    pub(crate) fn boxes(&self) -> &[Extent] {
        let boxes = || self.tree().boxes(self.vertices(), self.triangles(), 0.0);
        self.kept().boxes.get_or_init(boxes)
    }

    /// The corners of the triangles of a group.
    pub(crate) fn corners_of(&self, node: Node) -> Vec<Vec3> {
        let corners = self.tree().triangles(node).iter().flat_map(|&at| self.triangle(at));
        corners.map(|vertex| self.vertices()[vertex as usize]).collect()
    }

    /// The hull of a small group; none: there is no room to keep it.
    pub(crate) fn kept_hull(&self, node: Node) -> Option<&Polytope> {
        debug_assert!(node.count <= GROUP_MAX);
        let kept = self.kept();
        let count = self.triangles().len();
        let hulls = kept.hulls.get_or_init(|| vec![OnceLock::new(); 2 * count - 1]);
        let place = &hulls[node.at as usize];
        if let Some(known) = place.get() {
            return Some(known);
        }
        if kept.count.load(Ordering::Relaxed) >= Kept::hulls_max(count) {
            return None;
        }
        // The vertices of a body are points that a hull can be built of.
        let built = Box::new(convex_hull(&self.corners_of(node)).ok()?.polytope);
        let mut is_new = false;
        let known = place.get_or_init(|| {
            is_new = true;
            built
        });
        if is_new {
            kept.count.fetch_add(1, Ordering::Relaxed);
        }
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::Effort;
    use crate::samples::{ball, grid_ball};

    /// All groups of a mesh are asked for, twice.
    #[test]
    fn what_is_kept_of_a_mesh_is_no_more_than_was_counted() {
        for polytope in [ball(4, 1), ball(60, 2), ball(700, 3), grid_ball(4)] {
            let mesh = Polyhedron::of_polytope(&polytope).unwrap().0;
            let mut open = vec![mesh.tree().root()];
            let (mut groups, mut kept) = (0, 0);
            for node in std::iter::from_fn(|| {
                let node = open.pop()?;
                open.extend(node.children().into_iter().flatten());
                Some(node)
            }) {
                if node.count <= GROUP_MAX {
                    groups += 1;
                    if let Some(hull) = mesh.kept_hull(node) {
                        kept += size_of::<Polytope>() + hull.heap_bytes();
                        hull.prepare_hierarchy(&Effort::unlimited()).unwrap();
                        assert!(std::ptr::eq(hull, mesh.kept_hull(node).unwrap()));
                    }
                }
            }
            let count = mesh.kept().count.load(Ordering::Relaxed);
            assert!(count > 0 && count <= Kept::hulls_max(mesh.triangles().len()).min(groups));
            let lists = size_of_val(mesh.boxes()) + groups.max(1) * 16;
            let most = Kept::bytes_max(mesh.triangles().len());
            assert!(kept + lists <= most, "{kept} and {lists} of {most}: {count} of {groups}");
        }
    }
}
