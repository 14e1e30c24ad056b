//! A tree of boxes that is kept between frames: one leaf a body, and every inner node holds the
//! boxes of its two children.
//!
//! A body that left its box is taken out and put in again where the boxes grow least; the rest of
//! the tree stays. When bodies have been put in as often as twice their number, or a leaf lies far
//! deeper than in a balanced tree, [`BoxTree::is_worn`] says that building anew pays.
//!
//! Cost: `O(n log n)` to build; `O(log n)` to move a leaf and, with k boxes found,
//! `O(log n + k)` to look for those that meet a box, unless boxes crowd.

use crate::bounds::Box3;
use crate::pair_key::PairKey;
use crate::unanswered::{TooManyPairs, Unanswered, go_on};
use clearance_geometry::until::Until;

/// No node: the parent of the root, the children of a leaf.
const NONE: u32 = u32::MAX;

/// Depth beyond the twofold of a balanced tree's at which the tree counts as worn.
const DEPTH_SLACK: u32 = 16;

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Box3,
    parent: u32,
    /// Both [`NONE`] for a leaf.
    children: [u32; 2],
    /// The body of a leaf.
    body: u32,
}

impl Node {
    fn is_leaf(&self) -> bool {
        self.children[0] == NONE
    }
}

/// See the header of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoxTree {
    nodes: Vec<Node>,
    root: Option<u32>,
    /// The leaf of each body.
    leaf_of: Vec<u32>,
    /// Leaves put in since the tree was built.
    moves: usize,
    is_too_deep: bool,
}

/// Sum of a box's extents: how much a node costs to keep. Finite for all boxes that may be asked
/// about, unlike the area.
fn extent(bounds: &Box3) -> f64 {
    (0..3).map(|i| bounds.high[i] - bounds.low[i]).sum()
}

impl BoxTree {
    /// The tree of these boxes, balanced: halves at the median of the centres along the axis on
    /// which they spread most.
    pub(crate) fn build(boxes: &[Box3]) -> Self {
        let count = u32::try_from(boxes.len()).expect("bodies are limited");
        let mut tree = Self { leaf_of: vec![NONE; boxes.len()], ..Self::default() };
        tree.nodes.reserve_exact((2 * boxes.len()).saturating_sub(1));
        let mut bodies: Vec<u32> = (0..count).collect();
        if !bodies.is_empty() {
            tree.root = Some(tree.grow(boxes, &mut bodies, NONE));
        }
        tree
    }

    /// A subtree of these bodies.
    fn grow(&mut self, boxes: &[Box3], bodies: &mut [u32], parent: u32) -> u32 {
        let at = self.nodes.len() as u32;
        if let [body] = *bodies {
            let bounds = boxes[body as usize];
            self.nodes.push(Node { bounds, parent, children: [NONE; 2], body });
            self.leaf_of[body as usize] = at;
            return at;
        }
        let held = |body: &u32| boxes[*body as usize];
        let bounds = bodies.iter().map(held).reduce(|a, b| a.union(&b)).expect("not empty");
        self.nodes.push(Node { bounds, parent, children: [NONE; 2], body: NONE });
        let axis = Box3::widest_axis_of_centres(bodies.iter().map(|&body| &boxes[body as usize]));
        let centre = |body: u32| boxes[body as usize].centre(axis);
        let middle = bodies.len() / 2;
        // The index decides between equal centres, so the tree is the same on every machine.
        bodies.select_nth_unstable_by(middle, |&a, &b| {
            centre(a).total_cmp(&centre(b)).then(a.cmp(&b))
        });
        let (left, right) = bodies.split_at_mut(middle);
        let children = [self.grow(boxes, left, at), self.grow(boxes, right, at)];
        self.nodes[at as usize].children = children;
        at
    }

    /// Whether building anew pays: see the header.
    pub(crate) fn is_worn(&self) -> bool {
        self.is_too_deep || self.moves > 2 * self.leaf_of.len()
    }

    /// Gives a body another box.
    pub(crate) fn replace(&mut self, body: u32, bounds: Box3) {
        let leaf = self.leaf_of[body as usize];
        self.nodes[leaf as usize].bounds = bounds;
        self.moves += 1;
        if self.root == Some(leaf) {
            return;
        }
        let inner = self.take_out(leaf);
        self.put_in(leaf, inner);
    }

    /// Unlinks a leaf that is not the root. Its parent, which is left without use, is returned.
    fn take_out(&mut self, leaf: u32) -> u32 {
        let parent = self.nodes[leaf as usize].parent;
        let Node { children, parent: above, .. } = self.nodes[parent as usize];
        let sibling = if children[0] == leaf { children[1] } else { children[0] };
        self.nodes[sibling as usize].parent = above;
        if above == NONE {
            self.root = Some(sibling);
        } else {
            self.exchange_child(above, parent, sibling);
            self.tighten_from(above);
        }
        parent
    }

    /// Links a leaf beside the node with which the boxes grow least, below `inner`.
    fn put_in(&mut self, leaf: u32, inner: u32) {
        let bounds = self.nodes[leaf as usize].bounds;
        let (sibling, depth) = self.best_sibling(&bounds);
        let balanced = usize::BITS - self.leaf_of.len().leading_zeros();
        self.is_too_deep |= depth > 2 * balanced + DEPTH_SLACK;
        let above = self.nodes[sibling as usize].parent;
        self.nodes[inner as usize] = Node {
            bounds: self.nodes[sibling as usize].bounds.union(&bounds),
            parent: above,
            children: [sibling, leaf],
            body: NONE,
        };
        self.nodes[sibling as usize].parent = inner;
        self.nodes[leaf as usize].parent = inner;
        if above == NONE {
            self.root = Some(inner);
        } else {
            self.exchange_child(above, sibling, inner);
            self.tighten_from(above);
        }
    }

    /// The node beside which a new leaf adds least to the extents of all nodes, found by descent;
    /// and its depth.
    fn best_sibling(&self, bounds: &Box3) -> (u32, u32) {
        let mut at = self.root.expect("a leaf that is not the root has a sibling");
        let mut depth = 0;
        loop {
            let node = &self.nodes[at as usize];
            if node.is_leaf() {
                return (at, depth);
            }
            let joint = extent(&node.bounds.union(bounds));
            // What every node above a deeper place grows by.
            let inherited = joint - extent(&node.bounds);
            let [left, right] = node.children.map(|child| {
                let child = &self.nodes[child as usize];
                let grown = extent(&child.bounds.union(bounds));
                inherited + if child.is_leaf() { grown } else { grown - extent(&child.bounds) }
            });
            if joint < left.min(right) {
                return (at, depth);
            }
            at = node.children[usize::from(right < left)];
            depth += 1;
        }
    }

    fn exchange_child(&mut self, parent: u32, from: u32, to: u32) {
        let children = &mut self.nodes[parent as usize].children;
        children[usize::from(children[1] == from)] = to;
    }

    /// Makes the boxes from this inner node up to the root as small as their children allow; stops
    /// where nothing changes.
    fn tighten_from(&mut self, mut at: u32) {
        while at != NONE {
            let Node { children: [a, b], parent, bounds, .. } = self.nodes[at as usize];
            let held = self.nodes[a as usize].bounds.union(&self.nodes[b as usize].bounds);
            if held == bounds {
                return;
            }
            self.nodes[at as usize].bounds = held;
            at = parent;
        }
    }

    /// Calls `found` with every body whose box meets this one, in no particular order.
    pub(crate) fn meeting(
        &self,
        bounds: &Box3,
        pending: &mut Vec<u32>,
        mut found: impl FnMut(u32),
    ) {
        pending.clear();
        pending.extend(self.root);
        while let Some(at) = pending.pop() {
            let node = &self.nodes[at as usize];
            if !node.bounds.meets(bounds) {
                continue;
            }
            if node.is_leaf() {
                found(node.body);
            } else {
                pending.extend(node.children);
            }
        }
    }

    /// Visits bodies, those that are reached early first as far as that goes without sorting.
    /// `reach` bounds from below, in whatever is looked for, when something within a box is
    /// reached; none: never. `visit` answers up to where it still looks; boxes that are reached
    /// later are left out.
    pub(crate) fn visit_early_first<E>(
        &self,
        mut limit: f64,
        reach: impl Fn(&Box3) -> Option<f64>,
        mut visit: impl FnMut(u32) -> Result<f64, E>,
    ) -> Result<(), E> {
        let reached = |at: u32| reach(&self.nodes[at as usize].bounds).map(|bound| (bound, at));
        let mut pending: Vec<(f64, u32)> = self.root.and_then(reached).into_iter().collect();
        while let Some((bound, at)) = pending.pop() {
            let node = &self.nodes[at as usize];
            if bound > limit {
                continue;
            }
            if node.is_leaf() {
                limit = visit(node.body)?;
                continue;
            }
            let [a, b] = node.children.map(reached);
            let is_a_first = matches!((a, b), (Some(a), Some(b)) if a.0 < b.0);
            let (later, earlier) = if is_a_first { (b, a) } else { (a, b) };
            pending.extend(later);
            pending.extend(earlier);
        }
        Ok(())
    }

    /// The pairs of bodies whose boxes meet and that `is_enabled`, in order; at most `pairs_max`.
    /// `boxes` are those of the tree.
    pub(crate) fn pairs(
        &self,
        boxes: &[Box3],
        pairs_max: usize,
        until: &Until,
        is_enabled: impl Fn(PairKey) -> bool,
    ) -> Result<Vec<PairKey>, Unanswered> {
        let (mut pairs, mut pending) = (Vec::new(), Vec::new());
        for (p, bounds) in until.each((0u32..).zip(boxes)) {
            let first = pairs.len();
            self.meeting(bounds, &mut pending, |q| {
                let key = PairKey { p, q };
                if p < q && pairs.len() <= pairs_max && is_enabled(key) {
                    pairs.push(key);
                }
            });
            if pairs.len() > pairs_max {
                return Err(TooManyPairs { pairs_max }.into());
            }
            pairs[first..].sort_unstable();
        }
        go_on(until)?;
        Ok(pairs)
    }

    /// Memory that it takes, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.leaf_of.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of equally spread numbers in [0, 1), the same on every machine.
    fn spread(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        ((*state >> 40) as f64) / ((1_u64 << 24) as f64)
    }

    /// On a coarse grid, so that faces coincide often; one in ten is as large as everything.
    fn random_box(state: &mut u64) -> Box3 {
        let low: [f64; 3] = std::array::from_fn(|_| (spread(state) * 12.0).floor());
        let size = if spread(state) < 0.1 { 12.0 } else { 1.0 };
        Box3 { low, high: low.map(|c| c + size) }
    }

    #[track_caller]
    fn check(tree: &BoxTree, boxes: &[Box3], asked: &Box3) -> usize {
        let mut found = Vec::new();
        tree.meeting(asked, &mut Vec::new(), |body| found.push(body));
        found.sort_unstable();
        let meets = |body: &u32| boxes[*body as usize].gap(asked).is_none();
        let expected: Vec<u32> = (0..boxes.len() as u32).filter(meets).collect();
        assert_eq!(found, expected);
        found.len()
    }

    #[test]
    fn exactly_the_boxes_that_meet_are_found_whatever_was_moved_before() {
        let (mut met, mut worn) = (0, 0);
        for seed in 1..20 {
            let mut state = seed * 7919;
            let mut boxes: Vec<Box3> = (0..seed * 7 - 6).map(|_| random_box(&mut state)).collect();
            let mut tree = BoxTree::build(&boxes);
            for _ in 0..300 {
                let body = (spread(&mut state) * boxes.len() as f64) as usize;
                boxes[body] = random_box(&mut state);
                tree.replace(body as u32, boxes[body]);
                met += check(&tree, &boxes, &random_box(&mut state));
                if tree.is_worn() {
                    worn += 1;
                    tree = BoxTree::build(&boxes);
                }
            }
        }
        assert!(met > 5000 && worn > 20, "the cases are too easy: {met} met, {worn} times worn");
    }

    #[test]
    fn exactly_the_pairs_whose_boxes_meet_are_found() {
        let mut met = 0;
        for seed in 1..40 {
            let mut state = seed * 7919;
            let boxes: Vec<Box3> = (0..60).map(|_| random_box(&mut state)).collect();
            let is_enabled = |key: PairKey| !key.p.is_multiple_of(5);
            let found = BoxTree::build(&boxes)
                .pairs(&boxes, usize::MAX, Until::never(), is_enabled)
                .unwrap();
            let all = (0..60_u32).flat_map(|p| (p + 1..60).map(move |q| PairKey { p, q }));
            let meets = |key: &PairKey| {
                is_enabled(*key) && boxes[key.p as usize].gap(&boxes[key.q as usize]).is_none()
            };
            met += found.len();
            assert_eq!(found, all.filter(meets).collect::<Vec<_>>(), "seed {seed}");
        }
        assert!(met > 500, "the cases are too easy: {met}");
    }

    #[test]
    fn one_pair_beyond_the_limit_is_refused() {
        let boxes = [Box3 { low: [0.0; 3], high: [1.0; 3] }; 4];
        let tree = BoxTree::build(&boxes);
        assert_eq!(tree.pairs(&boxes, 6, Until::never(), |_| true).map(|found| found.len()), Ok(6));
        assert_eq!(
            tree.pairs(&boxes, 5, Until::never(), |_| true),
            Err(TooManyPairs { pairs_max: 5 }.into())
        );
    }

    #[test]
    fn no_body_is_found_in_an_empty_tree() {
        check(&BoxTree::build(&[]), &[], &Box3 { low: [0.0; 3], high: [1.0; 3] });
    }

    #[test]
    fn boxes_in_one_place_leave_the_tree_shallow_enough_or_worn() {
        let same = Box3 { low: [0.0; 3], high: [1.0; 3] };
        let mut tree = BoxTree::build(&[same; 1000]);
        for body in 0..1000 {
            tree.replace(body, same);
            let (_, depth) = tree.best_sibling(&same);
            assert!(depth <= 2 * 10 + DEPTH_SLACK + 1 || tree.is_worn(), "{depth}");
        }
    }
}
