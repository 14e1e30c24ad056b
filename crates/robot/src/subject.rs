//! A cell as certificates of its edges are about it: its bodies by their numbers, the pairs that
//! need a check, and those that the rules leave out.

use super::cell::{Cell, CellPart};
use super::claim::{EdgeSubject, LeftOutPair, LeftOutRule, SubjectPair, SubjectPart};
use super::pairing::PairScope;
use clearance_geometry::claim::{Points, Solid};

impl Cell {
    /// The numbers that a certificate of a question about these pairs is about.
    pub fn subject(&self, scope: PairScope) -> EdgeSubject<'_> {
        EdgeSubject { left_out: self.left_out(scope), ..self.subject_to_certify(scope) }
    }

    /// The same without the pairs that are left out: a certificate is made without them, and what
    /// an SRDF leaves out may be long.
    pub(super) fn subject_to_certify(&self, scope: PairScope) -> EdgeSubject<'_> {
        let mut parts = Vec::with_capacity(self.parts.len());
        for link in &self.links {
            for CellPart { body, frame_from_part: pose, .. } in &self.parts[link.parts.clone()] {
                let (frame, pose, points) = (link.frame, *pose, body.vertices());
                let (kind, radius) = (body.solid_kind(), body.radius());
                let curved = body.claimed_curved();
                parts.push(SubjectPart { frame, pose, points, kind, radius, curved });
            }
        }
        let still = self.still.bodies().iter().map(|still| {
            let points = Points { points: still.body.vertices(), pose: still.pose };
            Solid { points, kind: still.body.solid_kind() }
        });
        let still_radii = self.still.bodies().iter().map(|still| still.body.radius()).collect();
        let bodies = self.still.bodies().iter();
        let still_curved = bodies.map(|still| still.body.claimed_curved()).collect();
        let (tree, still) = (self.kinematics.tree(), still.collect());
        let (pairs, left_out) = (self.subject_pairs(scope), Vec::new());
        EdgeSubject { tree, parts, pairs, left_out, still, still_radii, still_curved }
    }

    /// The pairs of a scope that need a check, in order.
    fn subject_pairs(&self, scope: PairScope) -> Vec<SubjectPair> {
        let mut pairs = Vec::with_capacity(self.pair_count());
        let moving = self.links.iter().enumerate().filter(|(_, link)| link.frame.is_some());
        for (index, link) in moving.filter(|_| scope.has_world()) {
            for still in self.still_asked(index) {
                let body = number(self.parts.len() + still);
                let margin = self.margin_of([number(link.parts.start), body]);
                let of_part = |part| SubjectPair { bodies: [number(part), body], margin };
                pairs.extend(link.parts.clone().map(of_part));
            }
        }
        for (at, [a, b]) in self.link_pairs.iter().enumerate().filter(|_| scope.has_links()) {
            let margin = self.margin_of_links(at);
            for first in self.links[*a].parts.clone() {
                let with = |second| SubjectPair { bodies: [number(first), number(second)], margin };
                pairs.extend(self.links[*b].parts.clone().map(with));
            }
        }
        pairs.sort_unstable_by_key(|pair| pair.bodies);
        pairs
    }

    /// The pairs of a scope that a joint may change and that a rule leaves out, in order.
    pub fn left_out(&self, scope: PairScope) -> Vec<LeftOutPair> {
        let mut pairs = Vec::with_capacity(self.left_out_count(scope));
        for ([a, b], rule) in self.left_out_within(scope) {
            for first in self.parts_of(*a) {
                let with =
                    |second| LeftOutPair { bodies: [number(first), number(second)], rule: *rule };
                pairs.extend(self.parts_of(*b).map(with));
            }
        }
        pairs.sort_unstable_by_key(|pair| pair.bodies);
        pairs
    }

    /// How many these are.
    pub fn left_out_count(&self, scope: PairScope) -> usize {
        let of_pair = |[a, b]: &[usize; 2]| self.parts_of(*a).len() * self.parts_of(*b).len();
        self.left_out_within(scope).map(|(pair, _)| of_pair(pair)).sum()
    }

    fn left_out_within(
        &self,
        scope: PairScope,
    ) -> impl Iterator<Item = &([usize; 2], LeftOutRule)> + '_ {
        let is_asked = move |[_, b]: &[usize; 2]| {
            let is_still = *b >= self.links.len();
            if is_still { scope.has_world() } else { scope.has_links() }
        };
        self.left_out.iter().filter(move |(pair, _)| is_asked(pair))
    }

    /// The numbers of the parts of a link, or of what stands still, which comes after all links.
    fn parts_of(&self, body: usize) -> std::ops::Range<usize> {
        match self.links.get(body) {
            Some(link) => link.parts.clone(),
            None => {
                let still = self.parts.len() + body - self.links.len();
                still..still + 1
            }
        }
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
