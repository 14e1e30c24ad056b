//! The vertices near each face of a body's bounding box (Akgunduz, Banerjee, Mehrotra 2005, §5.1).

use arrayvec::ArrayVec;

use crate::Vec3;

/// Faces of a box: `2 * axis` looks towards negative coordinates, `2 * axis + 1` towards positive.
pub(crate) const BOX_FACES: usize = 6;

/// Vertices in a group.
const GROUP_MAX: usize = 20;

/// For each face of the bounding box the vertices nearest to it, the nearest first.
#[derive(Clone, Debug)]
pub(super) struct BoxGroups {
    groups: [ArrayVec<u32, GROUP_MAX>; BOX_FACES],
}

impl BoxGroups {
    /// Linear in the number of vertices but for their order.
    pub(super) fn build(vertices: &[Vec3]) -> Self {
        let mut order: Vec<u32> = (0..vertices.len()).map(|i| i as u32).collect();
        let groups = std::array::from_fn(|face| {
            let along = |i: &u32| {
                let coordinate = vertices[*i as usize][face / 2];
                if face % 2 == 0 { coordinate } else { -coordinate }
            };
            let by_nearness = |a: &u32, b: &u32| along(a).total_cmp(&along(b)).then(a.cmp(b));
            let size = GROUP_MAX.min(order.len());
            if size < order.len() {
                order.select_nth_unstable_by(size, by_nearness);
            }
            order[..size].sort_unstable_by(by_nearness);
            order[..size].iter().copied().collect()
        });
        Self { groups }
    }

    /// The group of a face.
    pub(super) fn group(&self, face: usize) -> &[u32] {
        &self.groups[face]
    }
}
