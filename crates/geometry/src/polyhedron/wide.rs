//! The tree of a mesh with up to eight boxes side by side, in single precision: what a ray walks
//! down. Three levels of halves are one of eighths, and a node is four cache lines.
//!
//! Boxes are told from the middle of the mesh, rounded outward, so that a mesh that is far from the
//! origin of its frame has boxes as tight as any.

use arrayvec::ArrayVec;

use super::tree::{Extent, Node, Tree};
use crate::Vec3;

/// Boxes beside each other.
pub(crate) const WIDTH: usize = 8;
/// A group of so many triangles has no boxes around parts of it: to look at a triangle costs little
/// more than to look at its box.
const LEAF_MAX: u32 = 4;

/// See the module.
#[derive(Debug)]
pub(crate) struct WideTree {
    /// What coordinates are told from.
    pub(crate) middle: Vec3,
    nodes: Vec<WideNode>,
    root: WideGroup,
    /// Of the triangles in the order of the leaves: those that are looked at together are together.
    corners: Vec<[Vec3; 3]>,
}

/// The boxes around the parts of a group; those that are not there are empty.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct WideNode {
    /// By axes.
    pub(crate) low: [[f32; WIDTH]; 3],
    pub(crate) high: [[f32; WIDTH]; 3],
    pub(crate) parts: [WideGroup; WIDTH],
}

const _: () = assert!(size_of::<WideNode>() == 256);

/// A group of triangles: a node, or a few leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideGroup {
    /// The number of the node, or the first leaf's place in the order of the tree.
    at: u32,
    /// How many leaves; 0 of a node.
    count: u32,
}

impl WideTree {
    /// Over the boxes of a tree; `corners` says where those of a triangle are.
    pub(crate) fn new(tree: &Tree, boxes: &[Extent], corners: impl Fn(u32) -> [Vec3; 3]) -> Self {
        let whole = tree.root();
        let Extent { low, high } = boxes[whole.at as usize];
        let mut made = Self {
            // Halves first: coordinates may be near the greatest that are accepted.
            middle: low * 0.5 + high * 0.5,
            nodes: Vec::with_capacity(nodes_of(whole)),
            root: WideGroup { at: 0, count: 0 },
            corners: tree.order().iter().map(|triangle| corners(*triangle)).collect(),
        };
        made.root = made.add(whole, boxes);
        made
    }

    /// Bytes that it takes for so many triangles, at most: a node has more than [`LEAF_MAX`], and
    /// the nodes above it are an eighth as many, and so on.
    pub(crate) const fn bytes_max(triangles: usize) -> usize {
        let nodes = 1 + triangles / (LEAF_MAX as usize + 1) * WIDTH / (WIDTH - 1);
        size_of::<Self>() + nodes * size_of::<WideNode>() + triangles * size_of::<[Vec3; 3]>()
    }

    pub(crate) fn root(&self) -> WideGroup {
        self.root
    }

    /// Of a group that is no leaves.
    #[inline]
    pub(crate) fn node(&self, group: WideGroup) -> Option<&WideNode> {
        (group.count == 0).then(|| &self.nodes[group.at as usize])
    }

    /// The triangles of a group of leaves, with their corners.
    #[inline]
    pub(crate) fn triangles<'a>(
        &'a self,
        group: WideGroup,
        tree: &'a Tree,
    ) -> impl Iterator<Item = (u32, &'a [Vec3; 3])> {
        let leaves = group.at as usize..(group.at + group.count) as usize;
        tree.order()[leaves.clone()].iter().copied().zip(&self.corners[leaves])
    }

    /// A group and all that it is made of. The depth is the logarithm of the number of triangles.
    fn add(&mut self, group: Node, boxes: &[Extent]) -> WideGroup {
        if group.count <= LEAF_MAX {
            return WideGroup { at: group.first(), count: group.count };
        }
        let at = self.nodes.len();
        let nothing = WideGroup { at: 0, count: 0 };
        self.nodes.push(WideNode {
            low: [[f32::INFINITY; WIDTH]; 3],
            high: [[f32::NEG_INFINITY; WIDTH]; 3],
            parts: [nothing; WIDTH],
        });
        for (lane, part) in eighths(group).into_iter().enumerate() {
            let Extent { low, high } = boxes[part.at as usize];
            let added = self.add(part, boxes);
            let (middle, node) = (self.middle, &mut self.nodes[at]);
            node.parts[lane] = added;
            for axis in 0..3 {
                node.low[axis][lane] = rounded_down((low[axis] - middle[axis]).next_down());
                node.high[axis][lane] = -rounded_down((middle[axis] - high[axis]).next_down());
            }
        }
        WideGroup { at: u32::try_from(at).expect("fewer than triangles"), count: 0 }
    }
}

/// The halves of the halves of its halves, as far as there are any; of a group of more than one.
fn eighths(group: Node) -> ArrayVec<Node, WIDTH> {
    let mut parts: ArrayVec<Node, WIDTH> = [group].into_iter().collect();
    for _ in 0..WIDTH.ilog2() {
        let halved = |part: Node| match part.children() {
            Some(halves) => ArrayVec::<Node, 2>::from(halves),
            None => [part].into_iter().collect(),
        };
        parts = parts.into_iter().flat_map(halved).collect();
    }
    parts
}

/// How many nodes it has.
fn nodes_of(group: Node) -> usize {
    if group.count <= LEAF_MAX {
        return 0;
    }
    1 + eighths(group).into_iter().map(nodes_of).sum::<usize>()
}

/// The largest number in single precision that is no more than this.
#[expect(clippy::cast_possible_truncation, reason = "what is lost is given back")]
fn rounded_down(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) > x { near.next_down() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polyhedron::Polyhedron;
    use crate::samples::ball;

    /// Of small meshes and large ones, wherever and however large they are.
    #[test]
    fn every_triangle_is_in_one_group_and_in_all_boxes_above_it() {
        for (count, scale, away) in
            [(4, 1.0, 0.0), (7, 1e-30, 0.0), (40, 1e200, 0.0), (300, 1.0, 1e9), (900, 1e39, 1.0)]
        {
            let ball = ball(count, 5);
            let (region, _) = Polyhedron::of_polytope(&ball).unwrap();
            let points: Vec<Vec3> =
                region.vertices().iter().map(|v| v * scale + Vec3::new(away, -away, 0.0)).collect();
            let triangles = region.triangles();
            let tree = Tree::build(&points, triangles);
            let boxes = tree.boxes(&points, triangles, 0.0);
            let corners_of = |at: u32| triangles[at as usize].map(|i| points[i as usize]);
            let wide = WideTree::new(&tree, &boxes, corners_of);
            let taken =
                size_of::<WideTree>() + size_of_val(&*wide.nodes) + size_of_val(&*wide.corners);
            assert!(taken <= WideTree::bytes_max(triangles.len()));
            let mut seen = vec![0; triangles.len()];
            let mut open: Vec<(WideGroup, Vec<(WideGroup, usize)>)> =
                vec![(wide.root(), Vec::new())];
            while let Some((group, above)) = open.pop() {
                if let Some(node) = wide.node(group) {
                    let is_there = |lane: &usize| node.low[0][*lane] < f32::INFINITY;
                    open.extend((0..WIDTH).filter(is_there).map(|lane| {
                        let mut path = above.clone();
                        path.push((group, lane));
                        (node.parts[lane], path)
                    }));
                    continue;
                }
                for (triangle, corners) in wide.triangles(group, &tree) {
                    seen[triangle as usize] += 1;
                    assert_eq!(*corners, corners_of(triangle));
                    for (group, lane) in &above {
                        let node = wide.node(*group).unwrap();
                        for axis in 0..3 {
                            let low = f64::from(node.low[axis][*lane]);
                            let high = f64::from(node.high[axis][*lane]);
                            for corner in corners {
                                let x = corner[axis] - wide.middle[axis];
                                assert!(low <= x && x <= high, "{low} {x} {high}");
                            }
                        }
                    }
                }
            }
            assert!(seen.iter().all(|times| *times == 1), "{count}");
        }
    }
}
