//! Eight points side by side, four boxes side by side, and how points are cut into such groups.

use crate::Vec3;

/// Points of a leaf at most.
pub(super) const LEAF_POINTS: usize = 8;

/// Boxes of a node at most.
pub(super) const CHILDREN: usize = 4;

/// A point with its number in the cloud.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberedPoint {
    pub(super) at: Vec3,
    pub(super) number: u32,
}

/// Some points by coordinates; the lanes behind the last one repeat it.
#[derive(Clone, Debug)]
pub(super) struct PointLeaf {
    pub(super) at: [[f64; LEAF_POINTS]; 3],
    pub(super) numbers: [u32; LEAF_POINTS],
    pub(super) count: u32,
}

impl PointLeaf {
    /// Of one to eight points.
    pub(super) fn of(points: &[NumberedPoint]) -> Self {
        let point = |lane: usize| &points[lane.min(points.len() - 1)];
        Self {
            at: std::array::from_fn(|k| std::array::from_fn(|lane| point(lane).at[k])),
            numbers: std::array::from_fn(|lane| point(lane).number),
            count: u32::try_from(points.len()).expect("at most eight"),
        }
    }

    /// Its points.
    pub(super) fn points(&self) -> impl Iterator<Item = NumberedPoint> {
        let point = |lane: usize| NumberedPoint {
            at: Vec3::from_fn(|k, _| self.at[k][lane]),
            number: self.numbers[lane],
        };
        (0..self.count as usize).map(point)
    }
}

/// What is below a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Below {
    /// Nothing.
    Nothing,
    /// The node with this index.
    Node(u32),
    /// The leaf with this index; of the tree over blocks, the block.
    End(u32),
}

/// A box by its corners.
pub(super) type Corners = [Vec3; 2];

/// The boxes of up to four children, each around all points below.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct CloudNode {
    pub(super) middles: [[f64; CHILDREN]; 3],
    /// Rounded up; minus infinity where there is no child, so that nothing is near it.
    pub(super) halves: [[f64; CHILDREN]; 3],
    pub(super) below: [Below; CHILDREN],
}

impl CloudNode {
    /// Over one to four children.
    pub(super) fn over(children: &[(Below, Corners)]) -> Self {
        let mut node = Self {
            middles: [[0.0; CHILDREN]; 3],
            halves: [[f64::NEG_INFINITY; CHILDREN]; 3],
            below: [Below::Nothing; CHILDREN],
        };
        for (lane, (below, [low, high])) in children.iter().enumerate() {
            node.below[lane] = *below;
            for k in 0..3 {
                let middle = low[k] + (high[k] - low[k]) * 0.5;
                // Each difference rounds once.
                let half = (high[k] - middle).max(middle - low[k]).next_up();
                node.middles[k][lane] = middle;
                node.halves[k][lane] = half.max(0.0);
            }
        }
        node
    }
}

/// The box around points; there is one.
pub(super) fn around(points: &[NumberedPoint]) -> Corners {
    let first = points[0].at;
    points.iter().fold([first; 2], |[low, high], point| [low.inf(&point.at), high.sup(&point.at)])
}

/// The box around both.
pub(super) fn joined([a, b]: Corners, [c, d]: Corners) -> Corners {
    [a.inf(&c), b.sup(&d)]
}

/// Cuts points in two, across the axis along which they reach farthest, the first part of so many.
pub(super) fn cut(
    points: &mut [NumberedPoint],
    first: usize,
) -> (&mut [NumberedPoint], &mut [NumberedPoint]) {
    let [low, high] = around(points);
    let axis = (high - low).imax();
    points.select_nth_unstable_by(first, |a, b| a.at[axis].total_cmp(&b.at[axis]));
    points.split_at_mut(first)
}
