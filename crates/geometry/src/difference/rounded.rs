//! A pair as the floating-point searches see it: rounded differences of M in the world's axes, in a
//! unit in which nothing overflows.

use super::probe::{inverse_power_of_two, offset};
use crate::Vec3;
use crate::effort::Effort;
use crate::pair::{Pair, VertexPair};
use crate::support;
use crate::witness::Witness;

/// See the module.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pair: &'a Pair<'a>,
    /// From P's origin to Q's.
    offset: Vec3,
    /// The power of two by which differences are multiplied; about one over the size of the scene.
    unit: f64,
}

impl<'a> View<'a> {
    #[inline(always)]
    pub(crate) fn new(pair: &'a Pair<'a>) -> Self {
        let offset = offset(pair);
        let spans = pair.p.body.bounds().span + pair.q.body.bounds().span;
        let size = (offset.x.abs() + offset.y.abs()) + (offset.z.abs() + spans);
        Self { pair, offset, unit: inverse_power_of_two(size) }
    }

    /// P and Q.
    pub(crate) fn pair(&self) -> &'a Pair<'a> {
        self.pair
    }

    /// The power of two by which differences are multiplied.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// `q_j - p_i`, rounded, times the unit.
    #[inline(always)]
    pub(crate) fn difference(&self, pair: VertexPair) -> Vec3 {
        let p = self.pair.p.pose.rotation * self.pair.p.body.vertex(pair.i);
        let q = self.pair.q.pose.rotation * self.pair.q.body.vertex(pair.j);
        ((q - p) + self.offset) * self.unit
    }

    /// The likely vertices of P farthest along `s` and of Q farthest against it.
    #[inline]
    pub(crate) fn supporting_pair(
        &self,
        s: &Vec3,
        hint: Option<VertexPair>,
        effort: &mut Effort<'_>,
    ) -> VertexPair {
        let (p, q) = (&self.pair.p, &self.pair.q);
        let along_p = p.pose.direction_to_body_rounded(s);
        let against_q = -q.pose.direction_to_body_rounded(s);
        let hints = [hint.map(|pair| pair.i), hint.map(|pair| pair.j)];
        let found = support::likely_pair([p.body, q.body], [&along_p, &against_q], hints, effort);
        let [i, j] = found.map(|climb| climb.vertex);
        VertexPair { i, j }
    }

    /// The latest supporting pair, as a hint for the first candidate.
    pub(crate) fn hint(&self, witness: &Witness) -> Option<VertexPair> {
        witness.direction.and(witness.pairs.first().copied())
    }

    /// Whether the pair names vertices of these bodies.
    pub(crate) fn has(&self, pair: VertexPair) -> bool {
        pair.i < self.pair.p.body.vertex_count() && pair.j < self.pair.q.body.vertex_count()
    }
}
