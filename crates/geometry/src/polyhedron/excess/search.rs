//! The largest distance of a point of the hull from the mesh, in a bracket: pieces of the hull are
//! halved, depth first, until none can hold a point that is farther than the farthest known one by
//! more than a goal. Goals get finer as long as pieces are few.

use super::flush::Flush;
use super::region::Region;
use super::surface::MeshSurface;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::BOUND_SLACK;

/// How wide the bracket may be, relative to the largest extent, which is between 1 and 2 here; and
/// pieces that may be looked at for that. The first goal is what is promised, and has no limit but
/// how small pieces get, and [`looks_max`].
const GOALS: [(f64, u64); 3] = [(0.04, u64::MAX), (0.01, 20_000), (0.002, 8_000)];

/// Pieces that are smaller than this part of the goal are not halved: only where no point of the
/// hull is found in f64.
const LEAST_PIECE: f64 = 0.01;

/// A point farther than the farthest known one by this part of the goal is worth proving.
const WORTH_PROVING: f64 = 0.1;

/// Boxes of both surfaces that may be looked at in all. A piece looks at some dozens; but where
/// thousands of slivers are as near as each other it looks at all of them (67 million boxes for a
/// comb of 4,000 triangles), and then the bracket stays as wide as it is when these are used up.
pub(super) fn looks_max(triangles: usize) -> u64 {
    const AT_LEAST: u64 = 20_000_000;
    const PER_TRIANGLE: u64 = 1_000;
    AT_LEAST.saturating_add(PER_TRIANGLE.saturating_mul(triangles as u64))
}

/// What is known of a piece.
struct Open<P> {
    piece: P,
    middle: Vec3,
    /// At least how far the middle is from the mesh.
    near: f64,
    /// At least how far any point of the piece is from what the mesh is.
    most: f64,
    /// No point of it is one that the mesh winds around.
    is_outside: bool,
}

/// The state of the search: what it has bounded, and what is left.
struct Search<'a, R> {
    surface: &'a MeshSurface,
    /// Whether points that the mesh winds around belong to it.
    closed: bool,
    region: &'a R,
    /// Where the hull is flush with the mesh, if that is looked at.
    flush: Option<&'a Flush<'a>>,
    /// At most the distance of the farthest known point.
    farthest: f64,
    /// At least that of any point.
    most: f64,
    /// Boxes that others had looked at before.
    looks_before: u64,
}

/// The bracket, in the frame; `most` is known to be no less than the distance.
pub(in crate::polyhedron) fn bracket<R: Region>(
    surface: &MeshSurface,
    closed: bool,
    region: &R,
    most: f64,
    effort: &mut Effort<'_>,
) -> Result<[f64; 2], Stopped> {
    Search::new(surface, closed, region, most).bracket(effort)
}

/// The bracket of a hull that may be flush with the mesh, which is closed.
pub(super) fn bracket_of_flush<R: Region>(
    surface: &MeshSurface,
    flush: Option<&Flush<'_>>,
    region: &R,
    effort: &mut Effort<'_>,
) -> Result<[f64; 2], Stopped> {
    Search { flush, ..Search::new(surface, true, region, f64::INFINITY) }.bracket(effort)
}

impl<'a, R: Region> Search<'a, R> {
    fn new(surface: &'a MeshSurface, closed: bool, region: &'a R, most: f64) -> Self {
        let looks_before = surface.looks().saturating_add(region.looks());
        Self { surface, closed, region, flush: None, farthest: 0.0, most, looks_before }
    }

    fn bracket(mut self, effort: &mut Effort<'_>) -> Result<[f64; 2], Stopped> {
        for (goal, pieces_max) in GOALS {
            if self.most - self.farthest <= goal {
                continue;
            }
            match self.pass(goal, pieces_max, effort) {
                Ok(Some(most)) => self.most = self.most.min(most),
                Ok(None) => break,
                // What is known so far is a bracket.
                Err(Stopped::Steps) if self.most.is_finite() => break,
                Err(why) => return Err(why),
            }
        }
        Ok([self.farthest, self.most.max(self.farthest)])
    }
}

impl<R: Region> Search<'_, R> {
    /// At least the distance of any point of the hull; at most by the goal more than that of the
    /// farthest known point, if pieces could be made small enough before too many boxes were
    /// looked at. None if there are too many pieces.
    fn pass(
        &mut self,
        goal: f64,
        pieces_max: u64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<f64>, Stopped> {
        let (mut most, mut pieces) = (0.0_f64, 0);
        let mut open = Vec::new();
        for piece in self.region.all(effort)? {
            open.extend(self.look(piece, None, goal, effort)?);
        }
        while let Some(next) = open.pop() {
            let (_, radius) = R::ball(&next.piece);
            let is_enough = next.most <= self.farthest + goal || radius <= LEAST_PIECE * goal;
            if is_enough || self.has_looked_enough() {
                most = most.max(next.most);
                continue;
            }
            let mut halves = Vec::new();
            for half in self.region.halves(&next.piece, effort)? {
                pieces += 1;
                if pieces > pieces_max {
                    return Ok(None);
                }
                halves.extend(self.look(half, Some(&next), goal, effort)?);
            }
            // The one that may hold the farther point is looked at first.
            halves.sort_by(|a, b| a.most.total_cmp(&b.most));
            open.extend(halves);
        }
        Ok(Some(most.max(self.farthest)))
    }

    /// Whether what is known has to do.
    fn has_looked_enough(&self) -> bool {
        let looks = self.surface.looks().saturating_add(self.region.looks());
        looks - self.looks_before >= looks_max(self.surface.triangles().len())
    }

    /// Around the distance of a point from the mesh, given a number that is no less; a wide bracket
    /// after enough was looked at.
    fn distance(&self, point: &Vec3, within: f64) -> [f64; 2] {
        if !self.has_looked_enough() {
            return self.surface.distance(point, within);
        }
        let [corner, ..] = &self.surface.triangles()[0];
        [0.0, within.min((point - corner).norm() + BOUND_SLACK)]
    }

    /// What a piece may hold; none if the mesh winds around all of it.
    fn look(
        &mut self,
        piece: R::Piece,
        whole: Option<&Open<R::Piece>>,
        goal: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Open<R::Piece>>, Stopped> {
        effort.spend_step()?;
        let (middle, radius) = R::ball(&piece);
        let within = whole.map_or(f64::INFINITY, |whole| {
            whole.near + (middle - whole.middle).norm() + BOUND_SLACK
        });
        let [low, near] = self.distance(&middle, within);
        let mut is_outside = !self.closed || whole.is_some_and(|whole| whole.is_outside);
        if !is_outside && low > radius + BOUND_SLACK {
            if self.surface.winding(&middle, effort)? != 0 {
                return Ok(None);
            }
            is_outside = true;
        }
        let most = near + radius * (1.0 + BOUND_SLACK);
        let mut most = whole.map_or(most, |whole| most.min(whole.most));
        if let Some(triangle) = R::triangle(&piece).filter(|_| most > self.farthest + goal) {
            most = most.min(self.surface.at_most_of(triangle, &middle));
        }
        if let Some(flush) = self.flush.filter(|_| most > self.farthest + goal) {
            most = flush.at_most(&middle, radius, effort)?.map_or(most, |little| most.min(little));
        }
        // The middle is of the hull, but perhaps not of the piece: whether the mesh winds around it
        // has to be asked.
        let is_worth_proving = low > self.farthest + WORTH_PROVING * goal;
        if is_worth_proving && (!self.closed || self.is_free(&middle, effort)?) {
            self.farthest = low;
        }
        Ok(Some(Open { piece, middle, near, most, is_outside }))
    }

    /// Whether the mesh does not wind around a point.
    fn is_free(&self, point: &Vec3, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
        Ok(self.surface.winding(point, effort)? == 0)
    }
}
