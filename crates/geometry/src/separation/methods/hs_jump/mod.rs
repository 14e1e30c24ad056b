//! HS-jump: a heuristic search for a separating vector.
//!
//! Source: Li, Meng, Wang, Wang, Chung, Yiu, *Detect Collision of Polytopes Using a Heuristic
//! Search for Separating Vectors*, 2001, §4-§8.
//!
//! A candidate S has the supporting pair (p, q) and the difference `w = q - p`. If `S·w > 0`, S
//! separates (Theorem 1). If not, w excludes every direction with `s·w <= 0`; what all differences
//! leave is a spherical polygon. The next candidate is
//! 1. the reflection `S - 2 (S·w)/(w·w) w`: for two balls it separates at once (Theorem 2), and it
//!    always turns towards every separating vector (Theorem 3);
//! 2. when the reflection is outside the polygon, a point just inside on the way to its middle.
//!
//! When nothing is left of the polygon, the bodies collide, by the four differences that emptied
//! it.
//!
//! Proves: nothing; it proposes a direction or four pairs, and hands over when rounding gives out.
//! Cost: a near or supporting pair and one cut of the polygon per candidate; two candidates suffice
//! for separated balls, four for overlapping ones; at most `2 |V(P)| |V(Q)|`. On ellipsoids of 200
//! and 2000 vertices, axes to 10:1, the means are 1.0 to 5.6; the tests hold every case to 40.
//!
//! Differs from the text:
//! - §6, §7: the text (step 7) takes rule 2 only after a supporting pair has reappeared. A
//!   candidate outside the polygon is known not to separate before its pair is searched, so it is
//!   not tried. Every candidate tried has `S·w_j > 0` for all recorded differences, by the same f64
//!   expression that judges it; so a reappearing pair, the immediately preceding one included
//!   (Theorem 5), is reported as separating, and each other candidate brings a new pair. That is
//!   within the bound of §6.
//! - §7, steps 1 and 5: any difference w with `S·w <= 0` shows that S does not separate, and
//!   theorem 3 holds for it. So the pair that the start tables name is tried before the supporting
//!   one is climbed to: for bodies that overlap that is all it takes, and no candidate waits for a
//!   climb.
//! - §7: with `S·w = 0` the text's step 7 can report a touching pair as separated; here the
//!   reflection S itself is outside the polygon then.
//! - §6: having exhausted all pairs proves nothing; the search hands over.
//! - Neither a tree of pairs (§8.2), since a pair that reappears separates, nor one of the
//!   polygon's corners (§8.3), of which its tests see six at most: see [`spherical_polygon`].
//! - Supporting vertices come from a hint or a table of starts. Those by the layers of a hierarchy
//!   (§8.1, and from a hint §8.4) are [`by_hierarchy`] and [`coherently`] in `support`: on 10,000
//!   vertices they look at 196, and from a hint 0.01 to 3 radians away at 21, 25, 41, 81, 174 and
//!   305, where hint and table look at 9, 14, 26, 31, 31 and 30 (its tests hold that).
//! - A separated pair (§8.4): a last direction that fails is forgotten, and the search begins from
//!   the layout, which costs less than going on from S.
//! - The colliding pair (§8.4): instead of all recorded candidates, the pairs that emptied the
//!   polygon last are tried first, as differences of M that need no supporting-vertex search.
//!
//! And where it adds to the text ([`plain`] is the text step by step):
//! - Rule 2 of the text allows any point of the polygon. Of a pair that nobody has asked about
//!   before it is the one just inside on the way from the reflection to the middle, see [`INSIDE`]:
//!   one that turns no farther than it must comes sooner to the end. Whoever asks again is better
//!   off with a vector that separates by more, and goes to the middle.
//! - The first candidate for bodies like ellipsoids is not from centre to centre but the direction
//!   that ellipsoids in their place say: see [`crate::difference::layout`].
//! - When the first difference shows that bodies which are about round or like ellipsoids overlap,
//!   and not only just, the next three candidates are chosen at once, around it, and none waits for
//!   another: see [`JumpSearch::height`] and [`JumpSearch::surround`].
//!
//! [`by_hierarchy`]: crate::support::by_hierarchy
//! [`coherently`]: crate::support::coherently

mod plain;
mod spherical_polygon;

pub(super) use plain::PLAIN;

use arrayvec::ArrayVec;

use self::spherical_polygon::{Cut, SphericalPolygon, VECTORS_MAX};
use super::{CollisionMethod, Proposal};
use crate::Vec3;
use crate::difference::layout::{Layout, is_round, is_rounder};
use crate::difference::probe::{Ends, is_within_bounds, tame, tame_between};
use crate::difference::rounded::View;
use crate::effort::{Effort, Stopped};
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::processor;
use crate::separation::filter;
use crate::witness::Witness;

/// The row of the table.
pub(super) const METHOD: CollisionMethod = CollisionMethod {
    name: "hs_jump",
    source: "Li, Meng, Wang, Wang, Chung, Yiu 2001, §7",
    proves: "separation by a vector, overlap by four pairs",
    cost: "a supporting pair per candidate; 1 to 6 candidates in the mean on ellipsoids",
    tables: Tables::Nothing,
    continues: false,
    propose,
};

#[inline]
fn propose(
    pair: &Pair<'_>,
    layout: &Layout,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Proposal, Stopped> {
    processor::dispatch(
        #[inline(always)]
        || JumpSearch::new(pair).run(layout, witness, effort),
    )
}

/// Every candidate brings another pair, of which there are `|V(P)| |V(Q)|`; ellipsoids of 4,000
/// vertices take forty. Whoever takes so many hands over.
const CANDIDATES_MAX: u32 = 1 << 16;

/// The least depth of the origin, as a part of M's radius, at which four differences chosen at once
/// hold it more often than not. Ellipsoids 200 : 180 : 180 with 200 vertices that are no deeper, or
/// are separated, would take three looks in vain.
const DEEP: f64 = 0.005;

/// The least ratio of the inscribed to the circumscribed radius of M at which four supporting
/// differences are tried as a proof of overlap. A needle's and a ball's M has a half, a robot's
/// base against its finger has 0.37. At 0.1 to 0.3, as of a box against a cone or of two links,
/// hardly any four differences hold the origin.
const ROUNDNESS_MIN: f64 = 0.35;

/// How far the first difference may be off the line through the origin along the candidate, in the
/// terms of [`JumpSearch::height`]: a smaller value is safer, and gains less.
const OFF_MAX: f64 = 2.0;

/// A candidate goes this many times as far towards the polygon's middle as brings it inside. Values
/// from 1.02 to 1.2 make no difference.
const INSIDE: f64 = 1.1;

/// Once so many differences are recorded, candidates are taken from the polygon's middle, so that
/// each cuts about half of it away. Candidates just inside may cut off slivers; and each cut adds a
/// corner at most, so that the polygon's buffers hold.
const SHORT_MAX: usize = 16;

/// A candidate with the difference that excludes it, or shows that it separates.
struct Candidate {
    /// S of the text.
    s: Vec3,
    /// The pair that was found along s.
    pair: VertexPair,
    /// The pair's difference.
    w: Vec3,
    /// `S·w`
    value: f64,
}

/// One search.
struct JumpSearch<'a> {
    view: View<'a>,
    polygon: SphericalPolygon,
    /// The pairs of the polygon's vectors.
    pairs: ArrayVec<VertexPair, VECTORS_MAX>,
    /// Whether nobody has asked about the pair before, as far as the witness tells.
    is_cold: bool,
    /// Whether four differences have been tried at once.
    has_surrounded: bool,
    /// Directions across a difference that have been tried.
    tilts: usize,
    candidates_max: u32,
}

impl<'a> JumpSearch<'a> {
    #[inline(always)]
    fn new(pair: &'a Pair<'a>) -> Self {
        Self {
            view: View::new(pair),
            polygon: SphericalPolygon::default(),
            pairs: ArrayVec::new(),
            is_cold: false,
            has_surrounded: false,
            tilts: 0,
            candidates_max: CANDIDATES_MAX,
        }
    }

    /// Leaves in the witness the last candidate with its supporting pair, or the pairs of an
    /// overlap.
    #[inline(always)]
    fn run(
        &mut self,
        layout: &Layout,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Proposal, Stopped> {
        if witness.pairs.len() >= 4
            && let Some(holding) = self.recall(witness)
        {
            return Ok(holding);
        }
        self.is_cold = witness.direction.is_none() && witness.pairs.is_empty();
        let Some(mut s) = self.start(layout, witness) else {
            return Ok(Proposal::HandOver);
        };
        let mut hint = self.view.hint(witness);
        for _ in 0..self.candidates_max {
            effort.spend_step()?;
            let ends = Ends::new(self.view.pair(), &s, hint.take());
            let mut pair = ends.pair();
            if ends.value() > 0.0 {
                let probe = ends.climbed(self.view.pair(), effort);
                if let Some(evidence) = filter::proves_separation(self.view.pair(), &probe, witness)
                {
                    return Ok(Proposal::Proven(evidence));
                }
                pair = probe.pair();
            } else {
                effort.cost.supports += 2;
            }
            let w = self.view.difference(pair);
            let failed = Candidate { s, pair, w, value: s.dot(&w) };
            if failed.value > 0.0 {
                leave(witness, s, &[pair]);
                return Ok(Proposal::Separating(s));
            }
            debug_assert!(!self.pairs.contains(&pair), "a pair reappears only as separating");
            let next = match self.polygon.cut(w) {
                Cut::Left => {
                    self.pairs.push(pair);
                    if let Some(found) = self.try_three(layout, &failed, witness, effort)? {
                        return Ok(found);
                    }
                    self.next_candidate(&failed).or_else(|| self.turned_back(&w))
                }
                Cut::Empty(three) => return Ok(self.holding(&failed, three, witness)),
                Cut::Flat => self.tilted(&w),
                Cut::Lost => None,
            };
            let Some(next) = next else {
                leave(witness, s, &[pair]);
                return Ok(Proposal::HandOver);
            };
            s = next;
        }
        Ok(Proposal::HandOver)
    }

    /// Three more differences at once, where they are promising, and what is known by them.
    #[inline(always)]
    fn try_three(
        &mut self,
        layout: &Layout,
        failed: &Candidate,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Proposal>, Stopped> {
        let Some(height) = self.height_of_three(layout, failed) else { return Ok(None) };
        for _ in 0..3 {
            effort.spend_step()?;
        }
        effort.cost.supports += 6;
        if let Some(evidence) = self.surround(layout, failed, height, witness) {
            return Ok(Some(Proposal::Proven(evidence.by_numbers())));
        }
        Ok(self.recall(witness))
    }

    /// After the first difference, where three more at once are promising: how high above it they
    /// are to be, in radii of M.
    ///
    /// This is done once. Four differences in a plane with the origin may leave nothing to go on
    /// from; of symmetric bodies in one place so may the next four, and the first again.
    #[inline(always)]
    fn height_of_three(&mut self, layout: &Layout, first: &Candidate) -> Option<f64> {
        if self.pairs.len() != 1 || self.has_surrounded {
            return None;
        }
        let height = self.height(layout, first)?;
        self.has_surrounded = true;
        Some(height)
    }

    /// How high above the first difference, in radii of M, the next three are to be, for
    /// [`Self::surround`]; none if they would hardly hold the origin. The difference d has this
    /// value along s.
    ///
    /// Twice as high as the origin where M is about a ball or an ellipsoid, three times where it is
    /// only half round. Then it also has to be seen that d is not far off the line through the
    /// origin along s. At the depth t in a ball of radius R that line is `√(3tR/2)` inside the
    /// triangle's edges, and what d is off counts twice there.
    #[inline(always)]
    fn height(&self, layout: &Layout, first: &Candidate) -> Option<f64> {
        let Candidate { s, w: d, value, .. } = first;
        let pair = self.view.pair();
        let is_like_ball = layout.shape.is_some() || is_round(pair);
        if !(is_like_ball || (self.is_cold && is_rounder(pair, ROUNDNESS_MIN))) {
            return None;
        }
        let centre = layout.centres * self.view.unit();
        let along = s.dot(&centre);
        // Times the length of s.
        let radius = along - value;
        let inner = (1.0 - DEEP) * radius;
        let squared = s.dot(s);
        let is_promising = match &layout.shape {
            Some(shape) => shape.is_inside(&centre, s, inner),
            None if is_like_ball => centre.dot(&centre) * squared < inner * inner,
            None => d.dot(d) * squared - value * value < OFF_MAX * (-value * radius),
        };
        let times = if is_like_ball { 2.0 } else { 3.0 };
        is_promising.then(|| (times * -value / radius).min(4.0 / 3.0))
    }

    /// After the first difference d, found along s: three more that do not wait for one another,
    /// and mostly hold the origin with it. Leaves the four in the witness.
    ///
    /// M's centre and the origin are on the same side of d. Were M a ball of radius R, a triangle
    /// across s at the height h from d would have the radius `√(h (2R - h))`; at some times the
    /// depth of the origin both the triangle and the tetrahedron around the origin are large.
    /// Higher than in a regular tetrahedron it need not be. One of its corners is on the side to
    /// which the origin is off the line from d along s. Of an ellipsoid all that holds for
    /// conjugate directions instead of square ones.
    ///
    /// Out of line, and so for any processor: in vectors of four it takes a seventh longer.
    #[inline(never)]
    fn surround(
        &mut self,
        layout: &Layout,
        first: &Candidate,
        height: f64,
        witness: &mut Witness,
    ) -> Option<filter::Evidence> {
        let (along, across) = (1.0 - height, (height * (2.0 - height)).sqrt());
        let [s, e, f] = match &layout.shape {
            Some(shape) => shape.conjugates(&first.s, &first.w),
            None => across_ball(&first.s, &first.w),
        };
        let (half, rest) = (0.5 * across, across * 0.75_f64.sqrt());
        let directions = [
            s * along + e * across,
            s * along - e * half + f * rest,
            s * along - e * half - f * rest,
        ];
        // Not when there is no such side.
        if !directions.iter().all(is_within_bounds) {
            return None;
        }
        let pairs = directions.each_ref().map(|s| Ends::new(self.view.pair(), s, None).pair());
        let [a, b, c] = pairs.map(|pair| self.view.difference(pair));
        let four = [self.pairs[0], pairs[0], pairs[1], pairs[2]];
        leave(witness, s, &four);
        filter::proves_overlap(&self.view, &four, &[first.w, a, b, c])
    }

    /// Nothing is left of the polygon: by the difference of the last candidate and the three with
    /// these numbers.
    #[inline(always)]
    fn holding(&self, last: &Candidate, three: [u32; 3], witness: &mut Witness) -> Proposal {
        let [a, b, c] = three.map(|number| number as usize);
        let four = [last.pair, self.pairs[a], self.pairs[b], self.pairs[c]];
        leave(witness, last.s, &four);
        let vector = |number| *self.polygon.vector(number);
        let corners = [last.w, vector(a), vector(b), vector(c)];
        match filter::proves_overlap(&self.view, &four, &corners) {
            Some(evidence) => Proposal::Proven(evidence),
            None => Proposal::Holding(witness.pairs.clone()),
        }
    }

    /// Only rounding errors are left of the polygon: as good as empty, but without four pairs.
    #[cold]
    fn turned_back(&mut self, w: &Vec3) -> Option<Vec3> {
        self.polygon.undo();
        self.pairs.pop();
        self.tilted(w)
    }

    /// Rule 1, else rule 2; none when rounding leaves no direction.
    #[inline(always)]
    fn next_candidate(&self, failed: &Candidate) -> Option<Vec3> {
        let Candidate { s, w, value, .. } = failed;
        // As long as s but for roundings, unless the square of w's length underflows.
        let reflected = s - w * (2.0 * value / w.dot(w));
        let towards = self.polygon.middle()?;
        let lack = self.polygon.lack(&reflected, &towards);
        if lack > 0.0 && !(self.is_cold && self.pairs.len() < SHORT_MAX) {
            return self.middle();
        }
        // Also when it lacks nothing: which of the two it is, is not predictable.
        let next = reflected + towards * (INSIDE * lack);
        let next = if is_within_bounds(&next) { Some(next) } else { tame(&next) };
        match next {
            Some(next) if self.polygon.contains(&next) => Some(next),
            _ => self.middle(),
        }
    }

    /// A direction in the middle of the polygon.
    #[inline(always)]
    fn middle(&self) -> Option<Vec3> {
        let middle = tame(&self.polygon.middle()?)?;
        self.polygon.contains(&middle).then_some(middle)
    }

    /// After a difference that holds the origin in a line or plane with the known ones, as
    /// symmetric bodies give (a ball and its copy in the same place, Theorem 4): another direction
    /// of the polygon. While that is a hemisphere, one nearly across its vector, the more so the
    /// longer it takes, because a needle shows its sides only to directions across it.
    #[cold]
    fn tilted(&mut self, w: &Vec3) -> Option<Vec3> {
        let number = self.tilts;
        self.tilts += 1;
        let weight = [1.0 / 16.0, 1.0 / 1024.0, 1.0 / 65536.0].get(number)?;
        let next = match self.polygon.aside(number) {
            Some(aside) => tame(&aside)?,
            None => {
                let across = w.cross(&[Vec3::x(), Vec3::y(), Vec3::z()][number]);
                tame(&across)? + tame(&self.polygon.middle()?)? * *weight
            }
        };
        self.polygon.contains(&next).then_some(next)
    }

    /// Records the pairs in the witness, of the last overlap or of three looks at once: where they
    /// are now. Out of line, so that searches which never come here do not pay for its registers.
    #[inline(never)]
    fn recall(&mut self, witness: &mut Witness) -> Option<Proposal> {
        for pair in witness.pairs.clone() {
            // A difference that comes again cuts nothing.
            if !self.view.has(pair) || self.pairs.contains(&pair) {
                continue;
            }
            let w = self.view.difference(pair);
            match self.polygon.cut(w) {
                Cut::Left => self.pairs.push(pair),
                Cut::Empty(three) => {
                    let s = witness.direction.unwrap_or_default();
                    let last = Candidate { s, pair, w, value: s.dot(&w) };
                    return Some(self.holding(&last, three, witness));
                }
                // Not taken: it is only forgotten here.
                Cut::Flat | Cut::Lost => {}
            }
        }
        // What is left may be too thin to go on from.
        if self.polygon.middle().is_some() && self.middle().is_none() {
            self.polygon = SphericalPolygon::default();
            self.pairs.clear();
        }
        None
    }

    /// The first candidate: the remembered direction, else where the layout says; in the polygon if
    /// pairs were recalled.
    #[inline(always)]
    fn start(&self, layout: &Layout, witness: &Witness) -> Option<Vec3> {
        let remembered = witness.direction.and_then(|direction| tame(&direction));
        let first = remembered.unwrap_or_else(|| tame_between(&layout.towards));
        if self.polygon.contains(&first) {
            return Some(first);
        }
        self.middle()
    }
}

/// The direction s and two more as long, across it and each other; d is on the side of the second.
#[inline(always)]
fn across_ball(s: &Vec3, d: &Vec3) -> [Vec3; 3] {
    let squared = s.dot(s);
    let off = d - s * (s.dot(d) / squared);
    let e = off * (squared / off.dot(&off)).sqrt();
    [*s, e, s.cross(&e) * (1.0 / squared.sqrt())]
}

#[inline(always)]
fn leave(witness: &mut Witness, direction: Vec3, pairs: &[VertexPair]) {
    witness.direction = Some(direction);
    witness.pairs.clear();
    witness.pairs.extend(pairs.iter().copied());
}

#[cfg(test)]
mod findings;
#[cfg(test)]
mod tests;
