//! The walk from features to neighbouring features on the surfaces of two layers.
//!
//! With x and y the nearest points of the current features F and G (and these the least features
//! that hold them): if y is in the Voronoi region of F and x in that of G, they are the closest
//! pair (Lin, Canny 1991; Guibas, Hsu, Zhang 1999, Theorem 1). Otherwise one of the two is left for
//! a neighbour, an edge at a vertex or a face at an edge, which is nearer to the other one.
//!
//! **It ends.** A move to a neighbour of higher dimension is made only if the squared distance, as
//! computed, gets less; a move to the least feature that holds the nearest point keeps it and
//! lowers the dimension. So (squared distance, sum of dimensions) falls strictly in lexicographic
//! order, by comparison of the very numbers, whatever their rounding. Features that tie are left
//! alone.

use super::nearest::{NearestPoints, nearest};
use super::surface::{Exit, LayerSurface};
use crate::effort::{Effort, Stopped};
use crate::hierarchy::Feature;

/// A feature of P and one of Q.
pub(super) type Pair = [Feature; 2];

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At the closest pair of the two layers.
    Closest,
    /// In an edge that pierces a face, or a vertex inside the other body.
    Contact,
    /// Behind a facet of this side: nothing next to it is nearer, and yet it is not the closest
    /// pair.
    Behind(usize),
    /// The steps ran out, or the escapes.
    Tired,
}

/// Where a walk is.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub(super) surfaces: [LayerSurface<'a>; 2],
    pub(super) pair: Pair,
    /// The nearest points of `pair`; none before the first look, or when the features pierce each
    /// other.
    pub(super) nearest: Option<NearestPoints>,
}

/// Escapes from behind a facet in one walk; then it hands over. Two have been seen.
const ESCAPES_MAX: u32 = 8;

impl<'a> Walk<'a> {
    /// Starts at a pair that the surfaces have, not both faces.
    pub(super) fn new(surfaces: [LayerSurface<'a>; 2], pair: Pair) -> Self {
        Self { surfaces, pair, nearest: None }
    }

    /// Walks at most `steps` steps.
    pub(super) fn run(&mut self, steps: u32, effort: &mut Effort<'_>) -> Result<End, Stopped> {
        let [p, q] = self.surfaces;
        let mut left = steps;
        let Some(mut here) = self.look(self.pair) else { return Ok(End::Contact) };
        loop {
            self.nearest = Some(here);
            let least = [p.part(self.pair[0], here.of_x), q.part(self.pair[1], here.of_y)];
            let there = if least == self.pair {
                let towards = here.y - here.x;
                let exits = [
                    p.exit(self.pair[0], &here.x, &towards, effort),
                    q.exit(self.pair[1], &here.y, &-towards, effort),
                ];
                match self.nearer(exits, here.squared) {
                    WalkStep::To(pair, nearest) => (pair, Some(nearest)),
                    WalkStep::Contact => return Ok(End::Contact),
                    WalkStep::Nowhere => return Ok(self.end(&here)),
                    WalkStep::Behind(side) => return Ok(End::Behind(side)),
                }
            } else {
                (least, None)
            };
            if left == 0 {
                return Ok(End::Tired);
            }
            left -= 1;
            effort.spend_step()?;
            self.pair = there.0;
            here = match there.1 {
                Some(nearest) => nearest,
                // These are the same points; their least features are now all of theirs.
                None => self.whole(here),
            };
        }
    }

    /// Walks to the closest pair, whatever it takes; from behind a facet it goes on from the facet
    /// that the other body's point is farthest outside of.
    pub(super) fn finish(&mut self, effort: &mut Effort<'_>) -> Result<End, Stopped> {
        for _ in 0..=ESCAPES_MAX {
            let end = self.run(u32::MAX, effort)?;
            let (End::Behind(side), Some(here)) = (end, self.nearest) else { return Ok(end) };
            effort.spend_step()?;
            let other = if side == 0 { here.y } else { here.x };
            let Some(facet) = self.surfaces[side].facing(&other, effort) else {
                return Ok(End::Contact);
            };
            self.pair[side] = facet;
        }
        Ok(End::Tired)
    }

    fn look(&self, pair: Pair) -> Option<NearestPoints> {
        let [p, q] = self.surfaces;
        nearest(&p.points(pair[0]), &q.points(pair[1]))
    }

    /// The points with the current features as the least ones.
    fn whole(&self, here: NearestPoints) -> NearestPoints {
        let [p, q] = self.surfaces;
        let all = |count: usize| (1u8 << count) - 1;
        let (of_x, of_y) = (all(p.corners(self.pair[0]).len()), all(q.corners(self.pair[1]).len()));
        NearestPoints { of_x, of_y, ..here }
    }

    /// The first of the exits, steepest first, that is nearer than `squared`.
    fn nearer(&self, exits: [Option<Exit>; 2], squared: f64) -> WalkStep {
        let rate = |exit: &Option<Exit>| exit.map_or(-1.0, |exit| exit.rate);
        let order = if rate(&exits[1]) > rate(&exits[0]) { [1, 0] } else { [0, 1] };
        for side in order {
            let Some(exit) = exits[side] else { continue };
            if self.surfaces[side].is_inside(exit.to) {
                return WalkStep::Behind(side);
            }
            let mut pair = self.pair;
            pair[side] = exit.to;
            match self.look(pair) {
                None => return WalkStep::Contact,
                Some(found) if found.squared < squared => return WalkStep::To(pair, found),
                Some(_) => {}
            }
        }
        WalkStep::Nowhere
    }

    fn end(&self, here: &NearestPoints) -> End {
        let towards = here.y - here.x;
        if self.surfaces[0].leads_inside(self.pair[0], &towards) {
            End::Behind(0)
        } else if self.surfaces[1].leads_inside(self.pair[1], &-towards) {
            End::Behind(1)
        } else if self.crosses(here) {
            End::Contact
        } else {
            End::Closest
        }
    }

    /// Whether two edges in one plane have their nearest points inside: they meet there.
    fn crosses(&self, here: &NearestPoints) -> bool {
        self.surfaces[0].is_flat() && here.of_x == 0b11 && here.of_y == 0b11
    }
}

/// One move.
enum WalkStep {
    To(Pair, NearestPoints),
    Contact,
    Nowhere,
    Behind(usize),
}
