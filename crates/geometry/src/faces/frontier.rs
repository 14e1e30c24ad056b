//! Pairs of groups that are still to be looked into, the most promising first.

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
#[derive(Debug, Default)]
pub(super) struct Frontier(BinaryHeap<Open>);

impl Frontier {
    pub(super) fn push(&mut self, bound: f64, nodes: [Node; 2]) {
        self.0.push(Open { bound, nodes });
    }

    /// The most promising pair, if its bound is below this.
    pub(super) fn pop_below(&mut self, bound: f64) -> Option<Open> {
        self.least().filter(|least| *least < bound).and_then(|_| self.0.pop())
    }

    /// The least bound.
    pub(super) fn least(&self) -> Option<f64> {
        self.0.peek().map(|open| open.bound)
    }
}
