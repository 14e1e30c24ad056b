//! Triangles in their tree, as a ray sees them.

use arrayvec::ArrayVec;

use super::local::LocalRay;
use super::walk::{MetGroups, RayTree};
use crate::Vec3;
use crate::polyhedron::TriangleSurface;
use crate::polyhedron::tree::Extent;
use crate::polyhedron::wide::{WIDTH, WideGroup, WideTree};

/// A mesh with the boxes of its tree, which it keeps.
pub(super) struct MeshBoxes<'a> {
    mesh: &'a TriangleSurface,
    wide: &'a WideTree,
}

impl<'a> MeshBoxes<'a> {
    pub(super) fn new(mesh: &'a TriangleSurface) -> Self {
        Self { mesh, wide: mesh.wide() }
    }
}

impl RayTree for MeshBoxes<'_> {
    type Group = WideGroup;

    #[inline(always)]
    fn root(&self, ray: &LocalRay, until: f64) -> Option<(f64, WideGroup)> {
        ray.enters(&self.whole(), until).map(|from| (from, self.wide.root()))
    }

    #[inline(always)]
    fn parts(&self, group: WideGroup, ray: &LocalRay, until: f64) -> Option<MetGroups<WideGroup>> {
        let node = self.wide.node(group)?;
        let (enters, leaves) = ray.enters_of_many(node, &self.wide.middle, until);
        let mut met = ArrayVec::new();
        for lane in 0..WIDTH {
            if enters[lane] <= leaves[lane] {
                met.push((enters[lane], node.parts[lane]));
            }
        }
        Some(met)
    }

    #[inline(always)]
    fn each(&self, group: WideGroup, mut look: impl FnMut(u32, &[Vec3; 3])) {
        for (triangle, corners) in self.wide.triangles(group, self.mesh.tree()) {
            look(triangle, corners);
        }
    }

    #[inline(always)]
    fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.mesh.triangle(triangle).map(|vertex| self.mesh.vertices()[vertex as usize])
    }

    #[inline(always)]
    fn whole(&self) -> Extent {
        let [low, high] = self.mesh.bounds();
        Extent { low, high }
    }
}
