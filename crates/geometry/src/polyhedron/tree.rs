//! A hierarchy of boxes over the triangles of a mesh, so that only near pairs of faces are looked
//! at (Joseph, Plantinga 1987, §5: a hierarchical representation may improve the expected time).
//!
//! The triangles are split at the median along the longest extent of their middles, down to single
//! triangles. A node of `count` triangles has `2 count - 1` nodes in preorder from itself on, so
//! the order of the triangles is all that is stored; the boxes are a list beside it, one for each
//! place that the body is put.

use std::cmp::Ordering;

use crate::Vec3;
use crate::effort::{Effort, Stopped};

/// The order of the triangles in the leaves; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    order: Vec<u32>,
}

/// A node: its place in the list of boxes, and its leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) at: u32,
    first: u32,
    /// Number of triangles.
    pub(crate) count: u32,
}

impl Node {
    /// That of a body in one piece.
    pub(crate) const ONLY: Self = Self { at: 0, first: 0, count: 1 };

    /// The place of its first triangle in the order of the leaves.
    pub(crate) fn first(self) -> u32 {
        self.first
    }

    /// The halves; none of a leaf.
    #[inline]
    pub(crate) fn children(self) -> Option<[Self; 2]> {
        let left = self.count / 2;
        (left > 0).then(|| {
            [
                Self { at: self.at + 1, first: self.first, count: left },
                Self { at: self.at + 2 * left, first: self.first + left, count: self.count - left },
            ]
        })
    }
}

/// A closed box along the axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) low: Vec3,
    pub(crate) high: Vec3,
}

impl Extent {
    pub(crate) fn joined(&self, other: &Self) -> Self {
        Self { low: self.low.inf(&other.low), high: self.high.sup(&other.high) }
    }

    /// Whether the closed boxes share a point.
    #[inline]
    pub(crate) fn meets(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }
}

impl Tree {
    /// Over at least one triangle.
    pub(crate) fn build(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        // Thirds first: coordinates may be near the greatest that are accepted.
        let middle = |t: &[u32; 3]| t.iter().map(|&i| vertices[i as usize] / 3.0).sum();
        let mut middles: Vec<(Vec3, u32)> = triangles.iter().map(middle).zip(0..).collect();
        let mut open = vec![(0, middles.len())];
        while let Some((start, end)) = open.pop() {
            if end - start < 2 {
                continue;
            }
            let leaves = &mut middles[start..end];
            let axis = longest_axis(leaves);
            let half = leaves.len() / 2;
            leaves.select_nth_unstable_by(half, |(a, i), (b, j)| {
                a[axis].total_cmp(&b[axis]).then(i.cmp(j))
            });
            open.push((start, start + half));
            open.push((start + half, end));
        }
        Self { order: middles.into_iter().map(|(_, triangle)| triangle).collect() }
    }

    /// The node of all triangles.
    pub(crate) fn root(&self) -> Node {
        let count = u32::try_from(self.order.len()).expect("limited at the door");
        Node { at: 0, first: 0, count }
    }

    /// The triangles in the order of the leaves. A node's are neighbours in it, and its halves are
    /// those of the list.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The triangles of a node.
    pub(crate) fn triangles(&self, node: Node) -> &[u32] {
        let first = node.first as usize;
        &self.order[first..first + node.count as usize]
    }

    /// The triangle of a leaf.
    #[inline]
    pub(crate) fn triangle(&self, leaf: Node) -> u32 {
        debug_assert_eq!(leaf.count, 1);
        self.order[leaf.first as usize]
    }

    /// The boxes of all nodes for these points, each known within `slack` in every coordinate.
    pub(crate) fn boxes(&self, points: &[Vec3], triangles: &[[u32; 3]], slack: f64) -> Vec<Extent> {
        let empty = Extent { low: Vec3::zeros(), high: Vec3::zeros() };
        let mut boxes = vec![empty; 2 * self.order.len() - 1];
        let leaf = |node: Node| {
            let [a, b, c] = triangles[self.triangle(node) as usize].map(|i| points[i as usize]);
            let (low, high) = (a.inf(&b).inf(&c), a.sup(&b).sup(&c));
            if slack > 0.0 {
                let widened = |x: f64, by: f64| x + by;
                Extent {
                    low: low.map(|x| widened(x, -slack).next_down()),
                    high: high.map(|x| widened(x, slack).next_up()),
                }
            } else {
                Extent { low, high }
            }
        };
        fill(self.root(), &leaf, &mut boxes);
        boxes
    }
}

/// The depth is the logarithm of the number of triangles.
fn fill(node: Node, leaf: &impl Fn(Node) -> Extent, boxes: &mut [Extent]) -> Extent {
    let extent = match node.children() {
        None => leaf(node),
        Some([left, right]) => fill(left, leaf, boxes).joined(&fill(right, leaf, boxes)),
    };
    boxes[node.at as usize] = extent;
    extent
}

fn longest_axis(leaves: &[(Vec3, u32)]) -> usize {
    let first = leaves[0].0;
    let (low, high) =
        leaves.iter().fold((first, first), |(low, high), (m, _)| (low.inf(m), high.sup(m)));
    let extent = high - low;
    let longer =
        |&a: &usize, &b: &usize| extent[a].partial_cmp(&extent[b]).unwrap_or(Ordering::Equal);
    (0..3).max_by(longer).expect("three axes")
}

/// A tree of triangles that has a box around each of its nodes.
pub(crate) trait NodeBoxes {
    fn tree(&self) -> &Tree;

    /// A box around all of a node, in one frame for all of them.
    fn extent(&self, node: Node) -> Extent;
}

/// A tree of triangles, with a list of the boxes around its nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxedTree<'a> {
    pub(crate) tree: &'a Tree,
    /// By node, in one frame.
    pub(crate) boxes: &'a [Extent],
}

impl NodeBoxes for BoxedTree<'_> {
    fn tree(&self) -> &Tree {
        self.tree
    }

    #[inline]
    fn extent(&self, node: Node) -> Extent {
        self.boxes[node.at as usize]
    }
}

/// Calls `leaves` with every pair of leaves whose boxes meet, until it returns true; whether it
/// did. Each pair of boxes is a step.
pub(crate) fn any_meeting_leaves(
    [a, b]: [&impl NodeBoxes; 2],
    effort: &mut Effort<'_>,
    mut leaves: impl FnMut(u32, u32) -> bool,
) -> Result<bool, Stopped> {
    let mut open = vec![(a.tree().root(), b.tree().root())];
    while let Some((m, n)) = open.pop() {
        effort.spend_step()?;
        if !a.extent(m).meets(&b.extent(n)) {
            continue;
        }
        match opened(m, n) {
            Some(halves) => open.extend(halves),
            None => {
                effort.cost.visited += 1;
                if leaves(a.tree().triangle(m), b.tree().triangle(n)) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// The same of one tree: calls `leaves` with every two leaves of it, once.
pub(crate) fn any_meeting_pair(
    boxed: &impl NodeBoxes,
    effort: &mut Effort<'_>,
    mut leaves: impl FnMut(u32, u32) -> bool,
) -> Result<bool, Stopped> {
    let mut wholes = vec![boxed.tree().root()];
    let mut open: Vec<(Node, Node)> = Vec::new();
    while let Some(whole) = wholes.pop() {
        let Some([left, right]) = whole.children() else { continue };
        wholes.extend([left, right]);
        open.push((left, right));
        while let Some((m, n)) = open.pop() {
            effort.spend_step()?;
            if !boxed.extent(m).meets(&boxed.extent(n)) {
                continue;
            }
            match opened(m, n) {
                Some(halves) => open.extend(halves),
                None => {
                    effort.cost.visited += 1;
                    if leaves(boxed.tree().triangle(m), boxed.tree().triangle(n)) {
                        return Ok(true);
                    }
                }
            }
        }
    }
    Ok(false)
}

/// Two nodes as two pairs, of which the larger one is in halves; none of two leaves.
fn opened(m: Node, n: Node) -> Option<[(Node, Node); 2]> {
    match (m.children(), n.children()) {
        (None, None) => None,
        (Some(halves), None) => Some(halves.map(|half| (half, n))),
        (Some(halves), Some(_)) if m.count >= n.count => Some(halves.map(|half| (half, n))),
        (_, Some(halves)) => Some(halves.map(|half| (m, half))),
    }
}
