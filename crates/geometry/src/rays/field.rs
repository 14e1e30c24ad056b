//! A height field with its blocks, as a ray sees it.

use super::local::LocalRay;
use super::walk::{MetGroups, RayTree};
use crate::Vec3;
use crate::polyhedron::tree::Extent;
use crate::terrain::{FieldGroup, HeightField};

impl RayTree for HeightField {
    type Group = FieldGroup;

    #[inline(always)]
    fn root(&self, ray: &LocalRay, until: f64) -> Option<(f64, FieldGroup)> {
        enters(self, FieldGroup::root(self), ray, until)
    }

    #[inline(always)]
    fn parts(
        &self,
        group: FieldGroup,
        ray: &LocalRay,
        until: f64,
    ) -> Option<MetGroups<FieldGroup>> {
        let parts = group.parts(self)?;
        Some(parts.into_iter().filter_map(|part| enters(self, part, ray, until)).collect())
    }

    #[inline(always)]
    fn each(&self, group: FieldGroup, mut look: impl FnMut(u32, &[Vec3; 3])) {
        for number in group.triangles(self) {
            if let Some(corners) = self.triangle(number) {
                look(number, &corners);
            }
        }
    }

    fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangle(triangle).unwrap_or_default()
    }

    fn whole(&self) -> Extent {
        let [low, high] = self.held();
        Extent { low, high }
    }
}

/// A group with at most when a ray comes to it; none that it misses, or that is empty.
#[inline(always)]
fn enters(
    field: &HeightField,
    group: FieldGroup,
    ray: &LocalRay,
    until: f64,
) -> Option<(f64, FieldGroup)> {
    ray.enters(&group.extent(field)?, until).map(|from| (from, group))
}
