//! How far a convex body is from a height field whose triangles it does not meet: the most
//! promising blocks of cells first, down to single triangles.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use arrayvec::ArrayVec;

use super::piece::{SeenPiece, between};
use super::pyramid::{Block, Pyramid};
use super::standing::{FieldBeside, triangle_body, triangles_of};
use crate::distance::{Stops, WIDTH_MAX};
use crate::effort::{Effort, Stopped};
use crate::faces::distance::{FaceDistance, Near};
use crate::polyhedron::tree::Extent;

/// A block, and at most how far any of its triangles is.
struct OpenBlock {
    bound: f64,
    block: Block,
    /// Counts up, so that of equal bounds the first comes first.
    rank: u64,
}

impl OpenBlock {
    fn order(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then(self.rank.cmp(&other.rank)).reverse()
    }
}

impl PartialEq for OpenBlock {
    fn eq(&self, other: &Self) -> bool {
        self.order(other) == Ordering::Equal
    }
}

impl Eq for OpenBlock {}

impl PartialOrd for OpenBlock {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The greatest is the one with the least bound: it is taken first.
impl Ord for OpenBlock {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order(other)
    }
}

/// The blocks that are still to be looked into, and the nearest triangle so far.
struct Nearest<'a, 'b> {
    beside: &'b FieldBeside<'a>,
    seen: SeenPiece,
    stops: Stops,
    open: BinaryHeap<OpenBlock>,
    rank: u64,
    /// No triangle that was looked at is nearer, metres.
    lower: f64,
    best: Option<Near>,
}

impl FieldBeside<'_> {
    /// Measures the distance of two that are separated; P is the field. The pairs are not named. A
    /// step is a block or a triangle.
    pub fn measure(&self, stops: Stops, effort: &mut Effort<'_>) -> Result<FaceDistance, Stopped> {
        effort.one_question(|effort| {
            let (seen, open) = (SeenPiece::still(&self.piece), BinaryHeap::new());
            let (lower, best) = (f64::INFINITY, None);
            let mut nearest = Nearest { beside: self, seen, stops, open, rank: 0, lower, best };
            nearest.push(self.field.field.pyramid().root());
            let stopped = nearest.descend(effort).err();
            let near = nearest.best.ok_or(stopped.unwrap_or(Stopped::Unresolved))?;
            let least =
                nearest.open.peek().map_or(nearest.lower, |left| left.bound.min(nearest.lower));
            let lower = least.min(near.upper).max(0.0);
            let Near { upper, closest, normal, .. } = near;
            Ok(FaceDistance { lower, upper, pairs: ArrayVec::new(), closest, normal, stopped })
        })
    }
}

impl Nearest<'_, '_> {
    fn push(&mut self, block: Block) {
        if let Some(extent) = self.beside.field.extent(block) {
            let bound = self.of_box(&extent);
            self.rank += 1;
            self.open.push(OpenBlock { bound, block, rank: self.rank });
        }
    }

    /// At most how far what is in a box is, metres.
    fn of_box(&self, extent: &Extent) -> f64 {
        (between(extent, &self.seen.extent) - self.beside.piece.radius).max(0.0)
    }

    fn upper(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |near| near.upper)
    }

    /// Until nobody wants to know more.
    fn descend(&mut self, effort: &mut Effort<'_>) -> Result<(), Stopped> {
        while let Some(next) = self.open.peek() {
            let is_found = next.bound >= self.lower;
            let is_near = self.stops.below.is_some_and(|below| self.upper() < below);
            let is_far = self.best.is_some()
                && self.stops.above.is_some_and(|above| next.bound.min(self.lower) > above);
            if is_found || is_near || is_far {
                return Ok(());
            }
            effort.spend_step()?;
            let block = next.block;
            match Pyramid::quarters(block) {
                Some(quarters) => {
                    self.open.pop();
                    quarters.into_iter().for_each(|quarter| self.push(quarter));
                }
                None => {
                    // It stays open until all of it was looked at.
                    self.look(block, effort)?;
                    let is_it = |open: &OpenBlock| open.block == block;
                    if self.open.peek().is_some_and(is_it) {
                        self.open.pop();
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks at the triangles of a block that may be nearer than the nearest so far.
    fn look(&mut self, block: Block, effort: &mut Effort<'_>) -> Result<(), Stopped> {
        let field = self.beside.field;
        for cell in field.cells_of(block) {
            let of_box = self.of_box(&cell.extent);
            if of_box >= self.lower {
                continue;
            }
            for (_, corners) in triangles_of(&field, &cell) {
                let radius = self.beside.piece.radius;
                let enough = self.lower + radius;
                let along = self.beside.gap(&self.seen, &corners, enough) - radius;
                if along >= self.lower {
                    continue;
                }
                effort.spend_step()?;
                let triangle = triangle_body(&corners)?;
                let above =
                    Some(self.upper() * (1.0 + WIDTH_MAX)).filter(|above| above.is_finite());
                let stops = Stops { above, below: None };
                let pair = self.beside.pair(&triangle);
                let near = Near::of(&pair, [0.0, radius], stops, effort)?;
                self.lower = self.lower.min(near.lower);
                if near.upper < self.upper() {
                    self.best = Some(near);
                }
            }
        }
        Ok(())
    }
}
