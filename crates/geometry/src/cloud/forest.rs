//! The points of a cloud in blocks, each a small tree, and a tree over the blocks.
//!
//! A change of the cloud builds the blocks anew that it takes points from, and blocks of the points
//! that it adds; the others stay. Blocks that have become small are joined with what is added.
//! Once half as many points have changed as there are, all blocks are built anew: until then those
//! of different ages overlap in space, which costs time and changes no answer.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::leaves::{
    Below, CHILDREN, CloudNode, Corners, LEAF_POINTS, NumberedPoint, PointLeaf, around, cut, joined,
};
use crate::Vec3;
use crate::effort::{Effort, Stopped};

/// Points of a block at most: three levels of full nodes.
const BLOCK_POINTS: usize = 512;

/// Blocks of fewer points are joined with others at the next change.
const BLOCK_POINTS_LEAST: usize = 128;

/// A tree over some points.
#[derive(Clone, Debug)]
struct CloudBlock {
    /// The last one is the root.
    nodes: Vec<CloudNode>,
    leaves: Vec<PointLeaf>,
    corners: Corners,
    count: usize,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Forest {
    blocks: Vec<CloudBlock>,
    /// Over the blocks, the root last.
    top: Vec<CloudNode>,
    /// Points that came or went since all blocks were built.
    changed: usize,
}

/// A change: the points with numbers in `gone` go, and others take their place.
#[derive(Clone, Debug)]
pub(super) struct Splice<'a> {
    pub(super) gone: Range<usize>,
    pub(super) come: &'a [Vec3],
}

impl Splice<'_> {
    fn is_gone(&self, number: u32) -> bool {
        self.gone.contains(&(number as usize))
    }

    /// The number that a point has afterwards that stays.
    fn renumbered(&self, number: u32) -> u32 {
        if (number as usize) < self.gone.start {
            return number;
        }
        let after = number as usize - self.gone.len() + self.come.len();
        u32::try_from(after).expect("points are limited")
    }
}

impl CloudBlock {
    /// Of at least one point.
    fn build(points: &mut [NumberedPoint]) -> Self {
        let leaves = points.len().div_ceil(LEAF_POINTS);
        let mut block = Self {
            nodes: Vec::with_capacity(leaves.div_ceil(CHILDREN - 1) + 1),
            leaves: Vec::with_capacity(leaves + 1),
            corners: around(points),
            count: points.len(),
        };
        let (below, corners) = block.add(points);
        if let Below::End(_) = below {
            block.nodes.push(CloudNode::over(&[(below, corners)]));
        }
        block
    }

    /// Adds what holds these points: a leaf, or a node over four parts.
    fn add(&mut self, points: &mut [NumberedPoint]) -> (Below, Corners) {
        if points.len() <= LEAF_POINTS {
            let corners = around(points);
            self.leaves.push(PointLeaf::of(points));
            return (Below::End(index(self.leaves.len() - 1)), corners);
        }
        let mut children: Vec<(Below, Corners)> = Vec::with_capacity(CHILDREN);
        let (a, b) = cut(points, full_leaves(points.len()));
        for half in [a, b] {
            if half.len() <= LEAF_POINTS {
                children.push(self.add(half));
                continue;
            }
            let first = full_leaves(half.len());
            let (a, b) = cut(half, first);
            children.push(self.add(a));
            children.push(self.add(b));
        }
        let corners = children.iter().map(|child| child.1).reduce(joined).expect("not empty");
        self.nodes.push(CloudNode::over(&children));
        (Below::Node(index(self.nodes.len() - 1)), corners)
    }

    fn points(&self) -> impl Iterator<Item = NumberedPoint> + '_ {
        self.leaves.iter().flat_map(PointLeaf::points)
    }

    fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.nodes.capacity() * size_of::<CloudNode>()
            + self.leaves.capacity() * size_of::<PointLeaf>()
    }
}

/// How many of so many points, which are more than a leaf has, the first half takes so that leaves
/// are full.
fn full_leaves(count: usize) -> usize {
    LEAF_POINTS * count.div_ceil(2).div_ceil(LEAF_POINTS).next_power_of_two()
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than points, which are limited")
}

/// Cuts points into blocks.
fn blocks_of(
    points: &mut [NumberedPoint],
    blocks: &mut Vec<CloudBlock>,
    effort: &Effort<'_>,
) -> Result<(), Stopped> {
    effort.look_at_clock()?;
    if points.len() > BLOCK_POINTS {
        let half = BLOCK_POINTS * points.len().div_ceil(2).div_ceil(BLOCK_POINTS);
        let (a, b) = cut(points, half);
        blocks_of(a, blocks, effort)?;
        return blocks_of(b, blocks, effort);
    }
    if !points.is_empty() {
        blocks.push(CloudBlock::build(points));
    }
    Ok(())
}

/// The points with the numbers from `first` on.
fn numbered(points: &[Vec3], first: usize) -> impl Iterator<Item = NumberedPoint> + '_ {
    let numbered =
        move |(k, at): (usize, &Vec3)| NumberedPoint { at: *at, number: index(first + k) };
    points.iter().enumerate().map(numbered)
}

impl Forest {
    /// Builds the trees over these points.
    pub(super) fn build(points: &[Vec3], effort: &Effort<'_>) -> Result<Self, Stopped> {
        let mut all: Vec<NumberedPoint> = numbered(points, 0).collect();
        Self::of_numbered(&mut all, effort)
    }

    fn of_numbered(points: &mut [NumberedPoint], effort: &Effort<'_>) -> Result<Self, Stopped> {
        let mut blocks = Vec::with_capacity(points.len().div_ceil(BLOCK_POINTS) + 1);
        blocks_of(points, &mut blocks, effort)?;
        let mut built = Self { blocks, top: Vec::new(), changed: 0 };
        built.build_top();
        Ok(built)
    }

    /// What becomes of it with a change; out of time, nothing does.
    pub(super) fn splice(
        &mut self,
        splice: &Splice<'_>,
        effort: &Effort<'_>,
    ) -> Result<(), Stopped> {
        let changed = self.changed + splice.gone.len() + splice.come.len();
        let kept = self.point_count() - splice.gone.len();
        if changed > (kept + splice.come.len()) / 2 {
            let stay = self.blocks.iter().flat_map(CloudBlock::points);
            let mut all: Vec<NumberedPoint> = staying(stay, splice).collect();
            all.extend(numbered(splice.come, splice.gone.start));
            *self = Self::of_numbered(&mut all, effort)?;
            return Ok(());
        }
        let mut pool: Vec<NumberedPoint> = numbered(splice.come, splice.gone.start).collect();
        let (mut made, mut stays) = (Vec::new(), Vec::with_capacity(self.blocks.len()));
        for block in &self.blocks {
            effort.look_at_clock()?;
            let loses =
                block.leaves.iter().flat_map(|leaf| leaf.numbers).any(|n| splice.is_gone(n));
            let is_small = block.count < BLOCK_POINTS_LEAST;
            stays.push(!loses && !is_small);
            if !loses && !is_small {
                continue;
            }
            let mut left: Vec<NumberedPoint> = staying(block.points(), splice).collect();
            if left.len() < BLOCK_POINTS_LEAST {
                pool.append(&mut left);
            } else {
                made.push(CloudBlock::build(&mut left));
            }
        }
        blocks_of(&mut pool, &mut made, effort)?;
        // From here on nothing fails.
        let mut stays = stays.into_iter();
        self.blocks.retain(|_| stays.next().unwrap_or(false));
        if splice.gone.len() != splice.come.len() {
            let numbers = self.blocks.iter_mut().flat_map(|block| &mut block.leaves);
            for number in numbers.flat_map(|leaf| &mut leaf.numbers) {
                *number = splice.renumbered(*number);
            }
        }
        self.blocks.append(&mut made);
        self.changed = changed;
        self.build_top();
        Ok(())
    }

    fn point_count(&self) -> usize {
        self.blocks.iter().map(|block| block.count).sum()
    }

    fn build_top(&mut self) {
        self.top.clear();
        let mut all: Vec<BoxedBlock> =
            self.blocks.iter().enumerate().map(|(k, block)| (index(k), block.corners)).collect();
        if all.is_empty() {
            return;
        }
        let (below, corners) = self.add_top(&mut all);
        if let Below::End(_) = below {
            self.top.push(CloudNode::over(&[(below, corners)]));
        }
    }

    fn add_top(&mut self, blocks: &mut [BoxedBlock]) -> (Below, Corners) {
        if let [(block, corners)] = blocks {
            return (Below::End(*block), *corners);
        }
        let mut children: Vec<(Below, Corners)> = Vec::with_capacity(CHILDREN);
        let (a, b) = cut_blocks(blocks);
        for half in [a, b] {
            if half.len() == 1 {
                children.push(self.add_top(half));
                continue;
            }
            let (a, b) = cut_blocks(half);
            children.push(self.add_top(a));
            children.push(self.add_top(b));
        }
        let corners = children.iter().map(|child| child.1).reduce(joined).expect("not empty");
        self.top.push(CloudNode::over(&children));
        (Below::Node(index(self.top.len() - 1)), corners)
    }

    /// The box around all points; none: there is no point.
    pub(super) fn corners(&self) -> Option<Corners> {
        self.blocks.iter().map(|block| block.corners).reduce(joined)
    }

    /// Memory that it takes, bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(CloudBlock::heap_bytes).sum::<usize>();
        blocks + self.top.capacity() * size_of::<CloudNode>()
    }

    /// What building it for so many points takes at most, bytes: themselves, numbered, the leaves
    /// and the nodes over them.
    pub(super) fn building_bytes(points: usize) -> usize {
        let leaves = points.div_ceil(LEAF_POINTS) + points.div_ceil(BLOCK_POINTS);
        size_of::<NumberedPoint>() * points
            + size_of::<PointLeaf>() * 2 * leaves
            + size_of::<CloudNode>() * (leaves + 1)
            + size_of::<CloudBlock>() * (points.div_ceil(BLOCK_POINTS_LEAST) + 1)
    }

    /// Calls `visit` with every leaf that is not shown to be farther than `within`, the near ones
    /// first, as far as boxes tell; goes on with what that returns. `bounds` says at least how far
    /// the children of a node are.
    #[inline(always)]
    pub(super) fn walk<E>(
        &self,
        mut within: f64,
        bounds: impl Fn(&CloudNode) -> [f64; CHILDREN],
        mut visit: impl FnMut(&PointLeaf) -> Result<f64, E>,
    ) -> Result<(), E> {
        /// Of the tree over blocks.
        const TOP: u32 = u32::MAX;
        let Some(root) = self.top.len().checked_sub(1) else { return Ok(()) };
        let mut open = OpenNodes::new();
        open.push((f64::NEG_INFINITY, TOP, Below::Node(index(root))));
        while let Some((bound, block, below)) = open.pop() {
            // A bound that is no number shows nothing.
            if bound > within {
                continue;
            }
            let (block, node) = match (below, block) {
                (Below::Nothing, _) => continue,
                (Below::Node(at), TOP) => (TOP, &self.top[at as usize]),
                (Below::End(into), TOP) => {
                    let nodes = &self.blocks[into as usize].nodes;
                    (into, &nodes[nodes.len() - 1])
                }
                (Below::Node(at), block) => {
                    (block, &self.blocks[block as usize].nodes[at as usize])
                }
                (Below::End(leaf), block) => {
                    within = visit(&self.blocks[block as usize].leaves[leaf as usize])?;
                    continue;
                }
            };
            push_far_first(&mut open, block, node, bounds(node), within);
        }
        Ok(())
    }
}

/// What a walk has still to look at: a bound, a block, and what is in it. Both trees are cut in
/// equal parts, so that there are at most eleven levels over the blocks of the largest cloud and
/// four in a block, with three nodes each that wait.
type OpenNodes = ArrayVec<(f64, u32, Below), 64>;

/// Adds the children of a node that may be within, the nearest last.
#[inline(always)]
fn push_far_first(
    open: &mut OpenNodes,
    block: u32,
    node: &CloudNode,
    bounds: [f64; CHILDREN],
    within: f64,
) {
    let first = open.len();
    for (lane, bound) in bounds.into_iter().enumerate() {
        if bound > within {
            continue;
        }
        let mut at = open.len();
        open.push((bound, block, node.below[lane]));
        while at > first && open[at - 1].0 < bound {
            open.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Those of these points that a change leaves, with their numbers afterwards.
fn staying<'a>(
    points: impl Iterator<Item = NumberedPoint> + 'a,
    splice: &'a Splice<'_>,
) -> impl Iterator<Item = NumberedPoint> + 'a {
    points
        .filter(|point| !splice.is_gone(point.number))
        .map(|point| NumberedPoint { number: splice.renumbered(point.number), ..point })
}

/// The number of a block and the box around its points.
type BoxedBlock = (u32, Corners);

/// Cuts blocks in two, across the axis along which their middles reach farthest.
fn cut_blocks(blocks: &mut [BoxedBlock]) -> (&mut [BoxedBlock], &mut [BoxedBlock]) {
    let middle = |block: &BoxedBlock| (block.1[0] + block.1[1]) * 0.5;
    let first = middle(&blocks[0]);
    let [low, high] = blocks.iter().fold([first; 2], |[low, high], block| {
        let middle = middle(block);
        [low.inf(&middle), high.sup(&middle)]
    });
    let (axis, half) = ((high - low).imax(), blocks.len() / 2);
    blocks.select_nth_unstable_by(half, |a, b| middle(a)[axis].total_cmp(&middle(b)[axis]));
    blocks.split_at_mut(half)
}
