//! A hull as seen by a cloud: what boxes and facets show of points, with bounds for all rounding.
//!
//! A point p of the cloud is at `x = C p + t` in the world, a point v of the hull at `R v + s`.
//! What is computed is `y = A p + b` with `A = Rᵀ C` and `b = Rᵀ (t - s)`, where the hull would see
//! the point if R were a rotation. With e the skew of R, `|RᵀR - I|`, and the polar factor
//! `R = Q P`, the exact signed distance is that of `P⁻¹ y` from `P H`: within `1.01 e (|y| + |H|)`
//! of that of y from H, for P and its inverse are within e of the identity. The skew of the cloud's
//! own pose is needed where the hull's box is seen from the cloud, through `Aᵀ` for the inverse of
//! A. Rounding is below 64 u times the sizes of all terms, and [`BOUND_SLACK`] is a hundred times
//! as much.
//!
//! The signed distance is that from the surface, negative inside. A box that holds the hull is no
//! farther from a point than the hull, and a facet's plane no farther than the hull: so both bound
//! it from below; and a point that is behind all planes is inside, by the least of its depths.

use super::leaves::{CHILDREN, CloudNode, LEAF_POINTS, PointLeaf};
use crate::number::rounding::{BOUND_SLACK, UNDERFLOW_FLOOR};
use crate::pair::Placed;
use crate::polytope::{FaceTable, WIDE};
use crate::pose::Pose;
use crate::{Mat3, Vec3};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct HullProbe<'a> {
    hull: Placed<'a>,
    /// None of a hull that is flat or has very many facets: of such a one boxes tell alone.
    faces: Option<&'a FaceTable>,
    turn: Mat3,
    turn_sizes: Mat3,
    /// From the middle of the hull's box.
    shift: Vec3,
    half: Vec3,
    /// From the middle of the box to what the facets are relative to.
    centre: Vec3,
    /// The hull's box as seen from the cloud, along the axes of its frame.
    seen_middle: Vec3,
    seen_half: Vec3,
    /// At least by how much a signed distance errs.
    error: f64,
    /// At least the error of a facet's normal.
    normal_error: f64,
}

/// Where the points of a leaf are as the hull sees them, from the middle of its box.
pub(super) type SeenPoints = [[f64; LEAF_POINTS]; 3];

/// The largest height of each point of a leaf above a facet's plane, metres.
pub(super) type Heights = [f64; LEAF_POINTS];

/// A plane of a facet that has shown some points to be far, as the cloud sees it: it may show the
/// same of whole nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenPlane {
    /// Where the facet is in the table.
    block: usize,
    normal: [f64; 3],
    /// The hull is behind this along the normal.
    offset: f64,
}

impl SeenPlane {
    /// None yet: behind it is everything.
    pub(super) const NONE: Self = Self { block: 0, normal: [0.0; 3], offset: f64::INFINITY };
}

/// A placed cloud, as far as a hull has to know it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenCloud {
    pub(super) pose: Pose,
    /// The skew of that pose is at most this.
    pub(super) skew: f64,
    /// At least the sum of the absolute coordinates of any point.
    pub(super) size: f64,
}

impl<'a> HullProbe<'a> {
    /// A hull, whose pose has this skew at most, beside a cloud.
    #[inline(always)]
    pub(super) fn new(hull: &Placed<'a>, skew: f64, cloud: &SeenCloud) -> Self {
        let bounds = hull.body.bounds();
        let half = (bounds.high - bounds.low) * 0.5;
        let middle = bounds.low + half;
        let away = cloud.pose.translation - hull.pose.translation;
        let turn = hull.pose.rotation.tr_mul(&cloud.pose.rotation);
        let turn_sizes = turn.map(f64::abs);
        let size = 4.0 * (cloud.size + bounds.span)
            + cloud.pose.translation.abs().sum()
            + hull.pose.translation.abs().sum();
        let in_hull = hull.pose.rotation.tr_mul(&away);
        let shift = in_hull - middle;
        let faces = hull.body.face_table();
        // Along a normal that is a little wrong another corner may be farther than the facet.
        let of_normals = faces.map_or(0.0, |table| 4.0 * table.radius * table.worst_error);
        let error = size * (BOUND_SLACK + 4.0 * (skew + cloud.skew)) + of_normals + UNDERFLOW_FLOOR;
        Self {
            hull: *hull,
            faces,
            turn,
            turn_sizes,
            shift,
            half,
            centre: faces.map_or_else(Vec3::zeros, |table| table.centre - middle),
            seen_middle: -turn.tr_mul(&shift),
            seen_half: turn_sizes.tr_mul(&half),
            error,
            normal_error: faces.map_or(0.0, |table| table.worst_error),
        }
    }

    /// The hull.
    pub(super) fn hull(&self) -> &Placed<'a> {
        &self.hull
    }

    /// At least by how much a signed distance errs, metres.
    pub(super) fn error(&self) -> f64 {
        self.error
    }

    /// At most the signed distances of all points below the children of a node, metres.
    #[inline(always)]
    pub(super) fn boxes(&self, node: &CloudNode, plane: &SeenPlane) -> [f64; CHILDREN] {
        let mut bounds = [f64::NEG_INFINITY; CHILDREN];
        let (m, h) = (&node.middles, &node.halves);
        for k in 0..3 {
            let [x, y, z] = [0, 1, 2].map(|j| self.turn[(k, j)]);
            let [u, v, w] = [0, 1, 2].map(|j| self.turn_sizes[(k, j)]);
            for lane in 0..CHILDREN {
                let middle = x * m[0][lane] + y * m[1][lane] + z * m[2][lane] + self.shift[k];
                let half = u * h[0][lane] + v * h[1][lane] + w * h[2][lane];
                let of_hull = middle.abs() - half - self.half[k];
                let seen =
                    (m[k][lane] - self.seen_middle[k]).abs() - h[k][lane] - self.seen_half[k];
                bounds[lane] = larger(larger(bounds[lane], of_hull), seen);
            }
        }
        let [x, y, z] = plane.normal;
        let [u, v, w] = plane.normal.map(f64::abs);
        for lane in 0..CHILDREN {
            let middle = x * m[0][lane] + y * m[1][lane] + z * m[2][lane];
            let half = u * h[0][lane] + v * h[1][lane] + w * h[2][lane];
            bounds[lane] = larger(middle - half - plane.offset, bounds[lane]) - self.error;
        }
        bounds
    }

    /// Where the hull sees the points of a leaf.
    #[inline(always)]
    pub(super) fn see(&self, leaf: &PointLeaf) -> SeenPoints {
        let [x, y, z] = &leaf.at;
        let mut seen = [[0.0; LEAF_POINTS]; 3];
        for (k, row) in seen.iter_mut().enumerate() {
            let [a, b, c] = [0, 1, 2].map(|j| self.turn[(k, j)]);
            for lane in 0..LEAF_POINTS {
                row[lane] = a * x[lane] + b * y[lane] + c * z[lane] + self.shift[k];
            }
        }
        seen
    }

    /// Whether all of these points are farther than `within` from the hull's box.
    #[inline(always)]
    pub(super) fn are_beyond(&self, seen: &SeenPoints, within: f64) -> bool {
        let within = within + self.error;
        let [x, y, z] = seen;
        let mut all = true;
        for lane in 0..LEAF_POINTS {
            let beyond = |value: f64, k: usize| value.abs() - self.half[k] > within;
            all &= beyond(x[lane], 0) | beyond(y[lane], 1) | beyond(z[lane], 2);
        }
        all
    }

    /// How high the points are above the planes of the facets, unless all are higher than `within`
    /// above one: then as far as that shows. `plane` is where to begin, and is left where it
    /// showed. None: there are no planes to tell.
    #[inline(always)]
    pub(super) fn heights(
        &self,
        seen: &SeenPoints,
        within: f64,
        plane: &mut SeenPlane,
    ) -> Option<Heights> {
        let table = self.faces?;
        let within = within + self.error;
        let mut at = *seen;
        for (k, row) in at.iter_mut().enumerate() {
            row.iter_mut().for_each(|value| *value -= self.centre[k]);
        }
        let mut tops = [f64::NEG_INFINITY; LEAF_POINTS];
        let count = table.faces.len();
        // Where the last leaf was shown to be far, then where this one is farthest, then all.
        let guesses = [plane.block.min(count - 1), usize::MAX];
        for (step, guess) in guesses.into_iter().chain(0..count).enumerate() {
            let block = if step == 1 { highest_block(table, &at) } else { guess };
            let face = &table.faces[block];
            for k in 0..WIDE {
                let [x, y, z] = [0, 1, 2].map(|j| face.normals[j][k]);
                let offset = face.offsets[k];
                for lane in 0..LEAF_POINTS {
                    let along = x * at[0][lane] + y * at[1][lane] + z * at[2][lane];
                    tops[lane] = larger(tops[lane], along - offset);
                }
            }
            let are_beyond = tops.iter().fold(true, |all, top| all & (*top > within));
            if are_beyond {
                *plane = self.plane(table, block, &at);
                break;
            }
        }
        Some(tops)
    }

    /// The plane in this block above which all of these points are the highest.
    #[inline(always)]
    fn plane(&self, table: &FaceTable, block: usize, at: &SeenPoints) -> SeenPlane {
        let face = &table.faces[block];
        let (mut best, mut highest) = (0, f64::NEG_INFINITY);
        for k in 0..WIDE {
            let [x, y, z] = [0, 1, 2].map(|j| face.normals[j][k]);
            let mut lowest = f64::INFINITY;
            let [xs, ys, zs] = at;
            for lane in 0..LEAF_POINTS {
                let along = x * xs[lane] + y * ys[lane] + z * zs[lane];
                lowest = if along < lowest { along } else { lowest };
            }
            if lowest - face.offsets[k] > highest {
                (best, highest) = (k, lowest - face.offsets[k]);
            }
        }
        let normal = Vec3::from_fn(|j, _| face.normals[j][best]);
        let offset = face.offsets[best] - normal.dot(&(self.shift - self.centre));
        SeenPlane { block, normal: self.turn.tr_mul(&normal).into(), offset }
    }

    /// At least by how much the height of a point that is inside says its depth wrongly, metres;
    /// what is lower than minus that is inside. A normal that is a little wrong shifts a height by
    /// as much of the way from a corner of the facet to the point.
    #[inline(always)]
    pub(super) fn depth_error(&self, seen: &SeenPoints, lane: usize) -> f64 {
        let radius = self.faces.map_or(0.0, |table| table.radius);
        let away = (0..3).map(|k| (seen[k][lane] - self.centre[k]).abs()).sum::<f64>();
        self.error + self.normal_error * 2.0 * (away + radius)
    }
}

/// The facets with the plane that is farthest below the middle of these points, up to rounding.
#[inline(always)]
fn highest_block(table: &FaceTable, at: &SeenPoints) -> usize {
    let [x, y, z] = at.map(|row| row.iter().sum::<f64>() / LEAF_POINTS as f64);
    let (mut best, mut top) = (0, f64::NEG_INFINITY);
    for (block, face) in table.faces.iter().enumerate() {
        let [a, b, c] = &face.normals;
        let mut heights = [0.0; WIDE];
        for k in 0..WIDE {
            heights[k] = x * a[k] + y * b[k] + z * c[k] - face.offsets[k];
        }
        let [a, b, c, d] = heights;
        let height = larger(larger(a, b), larger(c, d));
        if height > top {
            (best, top) = (block, height);
        }
    }
    best
}

/// The larger; of a NaN and anything, the second.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
