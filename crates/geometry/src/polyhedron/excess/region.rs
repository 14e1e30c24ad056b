//! A hull in pieces that are halved: boxes that cover a solid one, triangles that make up a flat
//! one.

use super::facets::HullFacets;
use super::sheets::Sheet;
use super::surface::MeshSurface;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::BOUND_SLACK;
use crate::polytope::Polytope;

/// What a search looks through. All in the frame.
pub(in crate::polyhedron) trait Region {
    /// A piece.
    type Piece;
    /// Pieces that cover it.
    fn all(&self, effort: &mut Effort<'_>) -> Result<Vec<Self::Piece>, Stopped>;
    /// A ball around what of the hull is in a piece: its middle, which is of the hull up to
    /// rounding, and its radius.
    fn ball(piece: &Self::Piece) -> (Vec3, f64);
    /// The halves of a piece, but for what is outside of the hull.
    fn halves(
        &self,
        piece: &Self::Piece,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<Self::Piece>, Stopped>;
    /// The corners of a piece that is a triangle.
    fn triangle(piece: &Self::Piece) -> Option<&[Vec3; 3]>;
    /// Boxes of its own surface that were looked at so far.
    fn looks(&self) -> u64;
}

/// A hull with a volume.
pub(in crate::polyhedron) struct SolidHull {
    /// The facets as triangles.
    surface: MeshSurface,
    /// The box around it.
    middle: Vec3,
    half: Vec3,
}

/// A box that is not outside of the hull.
pub(in crate::polyhedron) struct BoxPiece {
    middle: Vec3,
    half: Vec3,
    ball: (Vec3, f64),
    /// All of it is inside.
    is_inside: bool,
}

impl SolidHull {
    /// The hull of these facets.
    pub(in crate::polyhedron) fn new(
        facets: &HullFacets<'_>,
        effort: &Effort<'_>,
    ) -> Result<Self, Stopped> {
        let corners = facets.corners;
        let first = (corners[0], corners[0]);
        let (low, high) = corners.iter().fold(first, |(l, h), p| (l.inf(p), h.sup(p)));
        let once = |corners| Sheet { corners, winds: 1 };
        let sheets: Vec<Sheet> = facets.triangles().into_iter().map(once).collect();
        let surface = MeshSurface::new(corners, &sheets, effort)?;
        let half = (high - low) * 0.5 + Vec3::repeat(BOUND_SLACK);
        Ok(Self { surface, middle: (low + high) * 0.5, half })
    }

    /// A box, unless it is outside. What of the hull is in a box whose middle is outside is no
    /// farther from the point of the hull that is nearest to the middle than from the middle, and
    /// by the square of the distance of the two less, squared: the hull is convex.
    fn part(
        &self,
        [middle, half]: [Vec3; 2],
        is_inside: bool,
        effort: &mut Effort<'_>,
    ) -> Result<Option<BoxPiece>, Stopped> {
        let radius = half.norm() * (1.0 + BOUND_SLACK);
        let whole = |is_inside| BoxPiece { middle, half, ball: (middle, radius), is_inside };
        if is_inside {
            return Ok(Some(whole(true)));
        }
        // The surface winds around what is inside; where the middle is on it, it is of the hull.
        let holds_middle = self.surface.winding(&middle, effort)? != 0;
        // Nothing that is farther matters.
        let [distance, _] = self.surface.distance(&middle, 2.0 * radius);
        let is_away = distance > radius + BOUND_SLACK;
        Ok(match (holds_middle, is_away) {
            (true, _) => Some(whole(is_away)),
            (false, true) => None,
            (false, false) => {
                let nearest = self.surface.nearest(&middle);
                let off = ((middle - nearest).norm() - BOUND_SLACK).max(0.0);
                let rest = ((radius - off) * (radius + off)).max(0.0).sqrt() + BOUND_SLACK;
                Some(BoxPiece { middle, half, ball: (nearest, rest), is_inside: false })
            }
        })
    }
}

impl Region for SolidHull {
    type Piece = BoxPiece;

    fn all(&self, effort: &mut Effort<'_>) -> Result<Vec<BoxPiece>, Stopped> {
        Ok(self.part([self.middle, self.half], false, effort)?.into_iter().collect())
    }

    fn ball(piece: &BoxPiece) -> (Vec3, f64) {
        piece.ball
    }

    fn halves(&self, piece: &BoxPiece, effort: &mut Effort<'_>) -> Result<Vec<BoxPiece>, Stopped> {
        let axis = piece.half.imax();
        let mut half = piece.half;
        half[axis] *= 0.5;
        let mut halves = Vec::new();
        for way in [-1.0, 1.0] {
            let mut middle = piece.middle;
            middle[axis] += way * half[axis];
            halves.extend(self.part([middle, half], piece.is_inside, effort)?);
        }
        Ok(halves)
    }

    fn triangle(_: &BoxPiece) -> Option<&[Vec3; 3]> {
        None
    }

    fn looks(&self) -> u64 {
        self.surface.looks()
    }
}

/// A hull without a volume, or with hardly any: the triangles of its surface.
pub(in crate::polyhedron) struct FlatHull {
    triangles: Vec<[Vec3; 3]>,
}

impl FlatHull {
    /// A point, a segment or a polygon, with these corners in the frame.
    pub(in crate::polyhedron) fn polygon(hull: &Polytope, corners: &[Vec3]) -> Self {
        let triangles = match hull.facets().rows().next() {
            None => vec![[corners[0], corners[corners.len() - 1], corners[0]]],
            Some(row) => {
                // Over the middle of its arc each time, so that few are thin.
                let (mut triangles, mut open) = (Vec::new(), vec![(0_usize, row.len() - 1)]);
                while let Some((from, to)) = open.pop() {
                    let middle = from.midpoint(to);
                    if middle > from {
                        triangles.push([from, middle, to].map(|k| corners[row[k] as usize]));
                        open.extend([(from, middle), (middle, to)]);
                    }
                }
                triangles
            }
        };
        Self { triangles }
    }

    /// All facets of a hull that is so thin that its surface stands for it.
    pub(in crate::polyhedron) fn surface(facets: &HullFacets<'_>) -> Self {
        let placed = |fan: [u32; 3]| fan.map(|corner| facets.corners[corner as usize]);
        Self { triangles: facets.triangles().into_iter().map(placed).collect() }
    }
}

impl Region for FlatHull {
    type Piece = [Vec3; 3];

    fn all(&self, _: &mut Effort<'_>) -> Result<Vec<[Vec3; 3]>, Stopped> {
        Ok(self.triangles.clone())
    }

    fn ball([a, b, c]: &[Vec3; 3]) -> (Vec3, f64) {
        let middle = (a + b + c) / 3.0;
        (middle, [a, b, c].map(|p| (p - middle).norm()).into_iter().fold(0.0, f64::max))
    }

    fn halves(&self, piece: &[Vec3; 3], _: &mut Effort<'_>) -> Result<Vec<[Vec3; 3]>, Stopped> {
        let length = |k: usize| (piece[k] - piece[(k + 1) % 3]).norm_squared();
        let longest = (0..3).max_by(|i, j| length(*i).total_cmp(&length(*j))).unwrap_or(0);
        let [a, b, c] = [0, 1, 2].map(|k| piece[(longest + k) % 3]);
        let middle = (a + b) * 0.5;
        Ok(vec![[a, middle, c], [middle, b, c]])
    }

    fn triangle(piece: &[Vec3; 3]) -> Option<&[Vec3; 3]> {
        Some(piece)
    }

    fn looks(&self) -> u64 {
        0
    }
}
