//! HS-jump step by step as its text has it, to compare with: `hs_jump_plain`.
//!
//! Source: Li, Meng, Wang, Wang, Chung, Yiu, *Detect Collision of Polytopes Using a Heuristic
//! Search for Separating Vectors*, 2001, §4-§8. The numbers of steps below are those of §7.
//!
//! Every candidate is searched for its supporting pair, by the layers of the hierarchy (§8.1). All
//! pairs that have come are kept in a balanced tree (§8.2). The reflection (rule 1) is tried
//! wherever it leads; a point of the spherical polygon (rule 2) is tried only when a pair has come
//! that had come before. If it is the pair just before, the candidate separates (Theorem 5). After
//! rule 2 either the pair is new or the candidate separates, so there are at most `2 |V(P)| |V(Q)|`
//! candidates (§6).
//!
//! A step is a candidate, but for the last frame's vector: that is looked at before the search, and
//! is a step of the last frame.
//!
//! Between frames (§8.4) a separated pair keeps its S with the supporting pair, a colliding one all
//! its candidates with their pairs; the next search begins with them, and looks for each supporting
//! vertex near the remembered one, through as few layers as it takes.
//!
//! Proves: nothing; it proposes a direction or four pairs.
//! Cost: a supporting pair, by the layers, for each candidate; 1 to 9 candidates in the mean on
//! ellipsoids up to 10:1, the thinner the more: 25 on 25:1, and at most 142 of those that the tests
//! ask. The text's forty for 4,000 vertices hold for bodies that are not thin.
//!
//! Differs from the text:
//! - §7, steps 2 and 7: with `S·w = 0` the reflection is S itself, and the same pair comes again;
//!   step 7 would report a touching pair as separated. Theorem 5 presumes `S·w < 0`, and only then
//!   separation is reported; otherwise rule 2 is taken.
//! - §6: that all pairs have been used up does not prove separation. The search hands over.
//! - §5: an empty polygon means collision. Four of the pairs that emptied it hold the origin, which
//!   is what the proof needs. If all that emptied it lie in a plane with the origin (as for
//!   touching bodies, or for two copies in one place, Theorem 4), no four do: other points of the
//!   polygon are tried, and then the search hands over to exact arithmetic.
//! - §8.2: the tree numbers the pair (i, j) as `i |V(Q)| + j`; the text's N, "the number of
//!   vertices of P", does not tell all pairs apart.
//! - §8.3: the polygon's corners are a list instead of a balanced tree, which pays for itself only
//!   beyond the few corners that the longest polygons have, see [`super::spherical_polygon`].
//! - §7, step 1 leaves the first vector open: it is from centre to centre.

use std::collections::BTreeSet;

use super::spherical_polygon::{Cut, EndlessPolygon};
use super::{CollisionMethod, METHOD, Proposal, leave};
use crate::Vec3;
use crate::difference::layout::Layout;
use crate::difference::probe::{tame, tame_between};
use crate::difference::rounded::View;
use crate::effort::{Effort, Stopped};
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::support::{by_hierarchy, coherently};
use crate::witness::{Memory, Tried, Witness};

/// The row of the table.
pub(in crate::separation::methods) const PLAIN: CollisionMethod = CollisionMethod {
    name: "hs_jump_plain",
    source: METHOD.source,
    proves: METHOD.proves,
    cost: "a supporting pair by the layers per candidate; 1 to 9 in the mean on ellipsoids",
    tables: Tables::Layers,
    continues: true,
    propose: |pair, layout, witness, effort| TextSearch::new(pair).run(layout, witness, effort),
};

/// Points of the polygon that are tried after differences in a plane with the origin.
const TILTS_MAX: usize = 3;

/// What came after a candidate, for the tests of §6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateTurn {
    /// The next candidate by rule 1, or by rule 2.
    Rule(u8),
    /// Another point of the polygon, after differences in a plane with the origin.
    Tilted,
    /// Nothing: the search ended with it.
    End,
}

/// One search.
pub(super) struct TextSearch<'a> {
    view: View<'a>,
    /// The spherical convex polygon SCP of §5.
    pub(super) polygon: EndlessPolygon,
    /// The pairs of the polygon's vectors.
    pairs: Vec<VertexPair>,
    /// Numbers of all supporting pairs that have come (§8.2).
    seen: BTreeSet<u64>,
    /// All candidates that did not separate (§8.4).
    tried: Vec<Tried>,
    tilts: usize,
    /// The pairs of the candidates, in order, and what came after each.
    pub(super) turns: Vec<(VertexPair, CandidateTurn)>,
}

/// What became of a candidate.
enum Judged {
    /// The search ends with this.
    Ends(Proposal),
    /// Its difference was new and cut the polygon (steps 3 and 4).
    Cuts,
    /// Its pair had come before (step 7).
    Reappears,
    /// Its difference is in a plane with the origin and others.
    IsFlat(Vec3),
}

impl<'a> TextSearch<'a> {
    pub(super) fn new(pair: &'a Pair<'a>) -> Self {
        Self {
            view: View::new(pair),
            polygon: EndlessPolygon::default(),
            pairs: Vec::new(),
            seen: BTreeSet::new(),
            tried: Vec::new(),
            tilts: 0,
            turns: Vec::new(),
        }
    }

    /// Leaves in the witness the separating candidate with its pair, or the four pairs of an
    /// overlap and all candidates.
    pub(super) fn run(
        &mut self,
        layout: &Layout,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Proposal, Stopped> {
        let Pair { p, q } = self.view.pair();
        p.body.prepare_hierarchy(effort)?;
        q.body.prepare_hierarchy(effort)?;
        if let Memory::Candidates(tried) = std::mem::take(&mut witness.memory)
            && let Some(proposal) = self.recall(&tried, witness, effort)?
        {
            return Ok(proposal);
        }
        // Step 1.
        let remembered = witness.direction.and_then(|direction| tame(&direction));
        let hint = remembered.and(self.view.hint(witness)).filter(|hint| self.view.has(*hint));
        let mut s = remembered.unwrap_or_else(|| tame_between(&layout.centres));
        let mut pair = self.supporting(&s, hint, effort);
        // That the last frame's vector does not separate any more was found out before the search.
        let mut is_tried = remembered.is_some();
        for _ in 0..self.candidates_max() {
            if !std::mem::take(&mut is_tried) {
                effort.spend_step()?;
            }
            let (turn, next) = match self.judge(&s, pair, witness) {
                Judged::Ends(proposal) => {
                    self.turns.push((pair, CandidateTurn::End));
                    return Ok(proposal);
                }
                Judged::Cuts => (CandidateTurn::Rule(1), self.reflected(&s, pair)),
                Judged::Reappears => (CandidateTurn::Rule(2), self.middle()),
                Judged::IsFlat(w) => (CandidateTurn::Tilted, self.tilted(&w)),
            };
            let Some(next) = next else { break };
            // Step 5.
            self.turns.push((pair, turn));
            s = next;
            pair = self.supporting(&s, None, effort);
        }
        leave(witness, s, &[pair]);
        Ok(Proposal::HandOver)
    }

    /// §6. The number of pairs is exact unless it is beyond what anybody would wait for.
    fn candidates_max(&self) -> u64 {
        let pair = self.view.pair();
        let pairs = u64::from(pair.p.body.vertex_count()) * u64::from(pair.q.body.vertex_count());
        pairs.saturating_mul(2)
    }

    /// §8.1 from cold, §8.4 from a hint.
    fn supporting(
        &self,
        s: &Vec3,
        hint: Option<VertexPair>,
        effort: &mut Effort<'_>,
    ) -> VertexPair {
        effort.cost.candidates += 1;
        let Pair { p, q } = self.view.pair();
        let along_p = p.pose.direction_to_body_rounded(s);
        let against_q = -q.pose.direction_to_body_rounded(s);
        match hint {
            Some(hint) => VertexPair {
                i: coherently(p.body, &along_p, hint.i, effort),
                j: coherently(q.body, &against_q, hint.j, effort),
            },
            None => VertexPair {
                i: by_hierarchy(p.body, &along_p, effort),
                j: by_hierarchy(q.body, &against_q, effort),
            },
        }
    }

    /// Steps 2, 3, 6 and 7 for a candidate and its supporting pair.
    fn judge(&mut self, s: &Vec3, pair: VertexPair, witness: &mut Witness) -> Judged {
        let w = self.view.difference(pair);
        if s.dot(&w) > 0.0 {
            // Step 2; and step 7, since the pair just before separates by Theorem 5.
            leave(witness, *s, &[pair]);
            return Judged::Ends(Proposal::Separating(*s));
        }
        let count = u64::from(self.view.pair().q.body.vertex_count());
        if !self.seen.insert(u64::from(pair.i) * count + u64::from(pair.j)) {
            return Judged::Reappears;
        }
        self.tried.push(Tried { direction: *s, pair });
        match self.polygon.cut(w) {
            Cut::Left => {
                self.pairs.push(pair);
                Judged::Cuts
            }
            Cut::Empty(three) => Judged::Ends(self.holding(s, pair, three, witness)),
            Cut::Flat => Judged::IsFlat(w),
            Cut::Lost => {
                leave(witness, *s, &[pair]);
                Judged::Ends(Proposal::HandOver)
            }
        }
    }

    /// Step 3: nothing is left of the polygon, by this pair and the three with these numbers.
    fn holding(
        &mut self,
        s: &Vec3,
        pair: VertexPair,
        three: [u32; 3],
        witness: &mut Witness,
    ) -> Proposal {
        let [a, b, c] = three.map(|number| self.pairs[number as usize]);
        leave(witness, *s, &[pair, a, b, c]);
        witness.memory = Memory::Candidates(std::mem::take(&mut self.tried));
        Proposal::Holding(witness.pairs.clone())
    }

    /// Step 4, rule 1; none when rounding leaves no direction.
    fn reflected(&self, s: &Vec3, pair: VertexPair) -> Option<Vec3> {
        let w = self.view.difference(pair);
        tame(&(s - w * (2.0 * s.dot(&w) / w.dot(&w))))
    }

    /// Step 7, rule 2: a point of the polygon.
    fn middle(&self) -> Option<Vec3> {
        let middle = tame(&self.polygon.middle()?)?;
        self.polygon.contains(&middle).then_some(middle)
    }

    /// Another point of the polygon, after differences in a plane with the origin; while half of
    /// all directions are left, one nearly across the difference.
    fn tilted(&mut self, w: &Vec3) -> Option<Vec3> {
        let number = self.tilts;
        self.tilts += 1;
        if number >= TILTS_MAX {
            return None;
        }
        let next = match self.polygon.aside(number) {
            Some(aside) => tame(&aside)?,
            None => {
                let across = w.cross(&[Vec3::x(), Vec3::y(), Vec3::z()][number]);
                tame(&across)? + tame(&self.polygon.middle()?)? * 0.0625
            }
        };
        self.polygon.contains(&next).then_some(next)
    }

    /// §8.4: the candidates of a frame in which the bodies collided, each with its supporting pair
    /// as it is now. None if they leave something of the polygon.
    fn recall(
        &mut self,
        tried: &[Tried],
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Proposal>, Stopped> {
        for Tried { direction, pair } in tried {
            let Some(s) = tame(direction) else { continue };
            if !self.view.has(*pair) {
                continue;
            }
            effort.spend_step()?;
            let pair = self.supporting(&s, Some(*pair), effort);
            match self.judge(&s, pair, witness) {
                Judged::Ends(Proposal::HandOver) => return Ok(None),
                Judged::Ends(proposal) => return Ok(Some(proposal)),
                Judged::Cuts | Judged::Reappears | Judged::IsFlat(_) => {}
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
