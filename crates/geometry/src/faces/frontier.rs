//! Pairs of groups that are still to be looked into, the most promising first; where there are very
//! many, the latest first, of which there are never more than the trees are deep.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::polyhedron::tree::Node;

/// Two groups and the least that can be found in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// At most what any two of their triangles have; not negative.
    pub(super) bound: f64,
    pub(super) nodes: [Node; 2],
}

impl Open {
    /// By their bounds, and of equal ones by their places, so that the order is always the same.
    fn rank(&self, other: &Self) -> Ordering {
        let places = |open: &Self| open.nodes.map(|node| node.at);
        self.bound.total_cmp(&other.bound).then_with(|| places(self).cmp(&places(other)))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.rank(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The greatest is the one with the least bound: it is taken first.
impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        other.rank(self)
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Frontier {
    best_first: BinaryHeap<Open>,
    len_max: usize,
    /// What came when that was full.
    latest_first: Vec<Open>,
}

/// As many pairs of groups are kept in order, and as many for each triangle of both bodies, but no
/// more than [`OPEN_MAX`].
const OPEN_LEAST: usize = 64;
/// See [`OPEN_LEAST`].
const OPEN_FOR_TRIANGLE: usize = 8;
/// See [`OPEN_LEAST`].
const OPEN_MAX: usize = 1 << 18;

impl Frontier {
    /// Of two bodies that have so many triangles together.
    pub(super) fn new(triangles: usize) -> Self {
        let len_max = (OPEN_LEAST + OPEN_FOR_TRIANGLE * triangles).min(OPEN_MAX);
        Self { best_first: BinaryHeap::new(), len_max, latest_first: Vec::new() }
    }

    pub(super) fn push(&mut self, bound: f64, nodes: [Node; 2]) {
        let open = Open { bound, nodes };
        if self.best_first.len() < self.len_max {
            self.best_first.push(open);
        } else {
            self.latest_first.push(open);
        }
    }

    /// The next pair whose bound is below this; without one, nothing is left that is.
    pub(super) fn pop_below(&mut self, bound: f64) -> Option<Open> {
        while let Some(open) = self.latest_first.pop() {
            if open.bound < bound {
                return Some(open);
            }
        }
        let is_below = self.best_first.peek().is_some_and(|open| open.bound < bound);
        if is_below { self.best_first.pop() } else { None }
    }

    /// The least bound.
    pub(super) fn least(&self) -> Option<f64> {
        let kept = self.best_first.peek().into_iter().chain(&self.latest_first);
        kept.map(|open| open.bound).reduce(f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frontier_goes_deep_and_forgets_nothing() {
        let mut frontier = Frontier::new(0);
        let nodes = [Node::ONLY; 2];
        for k in 0..OPEN_LEAST + 5 {
            frontier.push(1_000.0 - k as f64, nodes);
        }
        let latest = 1_000.0 - (OPEN_LEAST + 4) as f64;
        assert!((frontier.least().unwrap() - latest).abs() < 0.5);
        let mut popped: Vec<f64> = Vec::new();
        while let Some(open) = frontier.pop_below(1_000.5) {
            popped.push(open.bound);
        }
        assert_eq!(popped.len(), OPEN_LEAST + 5);
        assert!((popped[0] - latest).abs() < 0.5, "the last of those that came too many");
        assert!(popped[5..].is_sorted(), "then the best first");
        assert!(frontier.least().is_none());
    }
}
