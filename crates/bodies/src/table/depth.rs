//! How deep two bodies overlap.
//!
//! Of bodies that are not both convex the exact depth is between that of their deepest two pieces
//! and that of their hulls: a shift that takes the bodies apart takes these two apart, and one that
//! takes the hulls apart takes the bodies apart. Of a curved body beside one that is not convex the
//! pieces are asked of the polytopes in it and around it, and the hull beside it as any polytope.

use super::boundaries::ReadyBoundaries;
use super::cells::ReadyCells;
use super::hulls::ReadyHulls;
use super::refined::{CurvedDepth, ReadyBetween};
use super::row::{BETWEEN_NANOSECONDS, FACES_NANOSECONDS, Needs, NotAnswered, TableEntry, look_up};
use crate::body::PlacedBody;
use crate::kind::Kind;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::deep::{PieceDepth, deepest, depth_of};
use clearance_geometry::penetration::{Depth, measure};
use clearance_geometry::polytope::Tables;
use clearance_geometry::rounded::{RoundedDepth, measure_depth};
use clearance_geometry::witness::Witness;

/// By what the depth is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DepthWay {
    /// Of convex bodies, each its own hull.
    Hulls,
    /// Of the polytopes that are rounded, and the radii.
    Radii,
    /// Of the deepest two pieces, and of the hulls.
    Pieces,
    /// The same, by the triangles of a height field that are near.
    Cells,
    /// Of polytopes in and around a curved body.
    Between,
}

/// What answers it.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<DepthWay> {
    use Kind::{Cloud, Curved, HeightField, Polyhedron, Polytope, Rounded, Surface};
    match kinds {
        [Curved, _] | [_, Curved] => Ok(DepthWay::Between),
        [HeightField, _] | [_, HeightField] => Ok(DepthWay::Cells),
        [Polytope, Polytope] => Ok(DepthWay::Hulls),
        [Rounded, Polytope | Rounded] | [Polytope, Rounded] => Ok(DepthWay::Radii),
        [Cloud | Surface | Polyhedron, _] | [_, Cloud | Surface | Polyhedron] => {
            Ok(DepthWay::Pieces)
        }
    }
}

/// The question about two bodies of certain kinds. It has one method.
#[derive(Clone, Copy, Debug)]
pub struct DepthQuestion {
    way: DepthWay,
}

/// The question with its bodies.
#[derive(Clone, Debug)]
pub struct ReadyDepth {
    bodies: DepthOf,
}

#[derive(Clone, Debug)]
enum DepthOf {
    Hulls(ReadyHulls),
    Radii(ReadyHulls),
    Between(ReadyBetween),
    Pieces(Box<ReadyBoundaries>),
    Cells(Box<ReadyCells>),
}

/// A depth with its proof.
#[derive(Clone, Debug)]
pub enum MeasuredDepth {
    /// It is that of the hulls of the bodies.
    OfHulls(Depth),
    /// It is that of bodies of which one at least is rounded.
    OfRounded(RoundedDepth),
    /// It is that of bodies of which one at least is curved.
    OfCurved(CurvedDepth),
    /// It is that of bodies that are not both convex.
    OfPieces(Box<DepthOfPieces>),
}

/// The depth of bodies that are not both convex.
#[derive(Clone, Debug)]
pub struct DepthOfPieces {
    verdict: Verdict,
    bounds: [f64; 2],
    /// Takes the hulls apart.
    direction: Option<Vec3>,
    stopped: Option<Stopped>,
    pieces: Option<PieceDepth>,
}

impl MeasuredDepth {
    /// How the bodies stand; none: that is unresolved.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::OfHulls(found) => Some(found.decision.verdict()),
            Self::OfRounded(found) => Some(found.proof.verdict),
            Self::OfPieces(found) => Some(found.verdict),
            Self::OfCurved(found) => found.verdict,
        }
    }

    /// Encloses the exact depth, metres.
    pub fn bounds(&self) -> [f64; 2] {
        match self {
            Self::OfHulls(found) => [found.lower, found.upper],
            Self::OfRounded(found) => [found.lower, found.upper],
            Self::OfPieces(found) => found.bounds,
            Self::OfCurved(found) => found.bounds,
        }
    }

    /// Along which P leaves Q, if they overlap, rounded: within the upper bound of the depth.
    pub fn direction(&self) -> Option<Vec3> {
        let direction = match self {
            Self::OfHulls(found) => Some(found.direction),
            Self::OfRounded(found) => Some(found.direction),
            Self::OfPieces(found) => found.direction,
            // As long as that is open, along which they would leave each other is told as well.
            Self::OfCurved(found) => return found.direction,
        };
        direction.filter(|_| self.verdict() == Some(Verdict::Overlapping))
    }

    /// The deepest two pieces of bodies that overlap and are not both convex; none where no two
    /// overlap, as where one body is in the other.
    pub fn pieces(&self) -> Option<PieceDepth> {
        match self {
            Self::OfHulls(_) | Self::OfRounded(_) => None,
            Self::OfPieces(found) => found.pieces,
            Self::OfCurved(found) => found.pieces,
        }
    }

    /// Why the bracket is wider than it could be.
    pub fn stopped(&self) -> Option<Stopped> {
        match self {
            Self::OfHulls(found) => found.stopped,
            Self::OfRounded(found) => found.stopped,
            Self::OfPieces(found) => found.stopped,
            Self::OfCurved(found) => found.stopped,
        }
    }
}

impl DepthQuestion {
    /// The question about bodies of these kinds.
    pub fn of(kinds: [Kind; 2]) -> Result<Self, NotAnswered> {
        look_up(kinds, entry).map(|way| Self { way })
    }

    /// What is built of the bodies.
    pub fn needs(&self) -> Needs {
        match self.way {
            DepthWay::Hulls | DepthWay::Radii => Needs::tables(Tables::Faces),
            DepthWay::Between => Needs::tables(Tables::Faces).and_solids(),
            DepthWay::Pieces | DepthWay::Cells => Needs::SOLIDS,
        }
    }

    /// How long it takes for bodies that are ready and have so many vertices together,
    /// nanoseconds: a generous guess. The surface of a deep pair grows to the size of M's.
    pub fn nanoseconds(&self, vertices: u32) -> u64 {
        let each = match self.way {
            DepthWay::Hulls | DepthWay::Radii => 2_000,
            DepthWay::Pieces | DepthWay::Cells => 2_000 + 10 * FACES_NANOSECONDS,
            // Once convex, once by the pieces of what is beside it.
            DepthWay::Between => {
                return 2 * BETWEEN_NANOSECONDS + 10 * FACES_NANOSECONDS * u64::from(vertices);
            }
        };
        200_000 + each * u64::from(vertices)
    }

    /// Makes of the bodies what the answer needs.
    pub fn prepare(self, bodies: [PlacedBody; 2]) -> Result<ReadyDepth, NotAnswered> {
        let bodies = match self.way {
            DepthWay::Hulls => DepthOf::Hulls(ReadyHulls::new(bodies)),
            DepthWay::Radii => DepthOf::Radii(ReadyHulls::new(bodies)),
            DepthWay::Between => DepthOf::Between(ReadyBetween::new(bodies)),
            DepthWay::Pieces => DepthOf::Pieces(Box::new(ReadyBoundaries::new(bodies)?)),
            DepthWay::Cells => DepthOf::Cells(Box::new(ReadyCells::new(bodies))),
        };
        Ok(ReadyDepth { bodies })
    }
}

impl ReadyDepth {
    /// Answers it from cold, with the surface that proves the lower bound of convex bodies if that
    /// is wanted.
    pub fn answer(
        &self,
        with_surface: bool,
        effort: &mut Effort<'_>,
    ) -> Result<MeasuredDepth, Stopped> {
        let witness = &mut Witness::default();
        match &self.bodies {
            DepthOf::Hulls(bodies) => {
                let found = measure(&bodies.pair(), with_surface, witness, effort);
                found.map(MeasuredDepth::OfHulls)
            }
            DepthOf::Radii(bodies) => {
                let found = measure_depth(&bodies.rounded(), with_surface, witness, effort);
                found.map(MeasuredDepth::OfRounded)
            }
            DepthOf::Pieces(bodies) => of_pieces(bodies, effort),
            DepthOf::Cells(bodies) => bodies.depth(effort),
            DepthOf::Between(bodies) => {
                bodies.depth(with_surface, effort).map(MeasuredDepth::OfCurved)
            }
        }
    }
}

/// By how the bodies stand, then by their deepest pieces and by their hulls.
fn of_pieces(bodies: &ReadyBoundaries, effort: &mut Effort<'_>) -> Result<MeasuredDepth, Stopped> {
    let verdict = bodies.stand(effort)?.verdict;
    if verdict != Verdict::Overlapping {
        return Ok(of_none(verdict));
    }
    let surfaces = bodies.surfaces();
    let hulls = depth_of(&bodies.hulls(), surfaces.radii, effort)?;
    Ok(between(deepest(&surfaces, effort), hulls))
}

/// Of bodies that do not overlap.
pub(super) fn of_none(verdict: Verdict) -> MeasuredDepth {
    let (bounds, direction, stopped, pieces) = ([0.0; 2], None, None, None);
    MeasuredDepth::OfPieces(Box::new(DepthOfPieces { verdict, bounds, direction, stopped, pieces }))
}

/// Of bodies that overlap.
pub(super) fn between(
    pieces: Result<Option<PieceDepth>, Stopped>,
    hulls: PieceDepth,
) -> MeasuredDepth {
    let (pieces, stopped) = match pieces {
        Ok(pieces) => (pieces, pieces.and_then(|pieces| pieces.stopped)),
        Err(stopped) => (None, Some(stopped)),
    };
    let lower = pieces.map_or(0.0, |pieces| pieces.bounds[0]);
    MeasuredDepth::OfPieces(Box::new(DepthOfPieces {
        verdict: Verdict::Overlapping,
        bounds: [lower, hulls.bounds[1].max(lower)],
        direction: Some(hulls.direction),
        stopped: stopped.or(hulls.stopped),
        pieces,
    }))
}
