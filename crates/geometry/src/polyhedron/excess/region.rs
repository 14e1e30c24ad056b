//! A hull in pieces that are halved: boxes that cover a solid one, triangles that make up a flat
//! one.

use std::rc::Rc;

use super::facets::HullFacets;
use super::frame::Frame;
use super::surface::Surface;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::BOUND_SLACK;
use crate::polytope::Polytope;

/// What a search looks through. All in the frame.
pub(super) trait Region {
    /// A piece.
    type Piece;
    /// Pieces that cover it.
    fn all(&self) -> Vec<Self::Piece>;
    /// A ball around a piece: its middle and radius.
    fn ball(piece: &Self::Piece) -> (Vec3, f64);
    /// The halves of a piece, but for what is outside of the hull.
    fn halves(&self, piece: &Self::Piece) -> Vec<Self::Piece>;
    /// A point of the hull, up to rounding, near the middle of a piece.
    fn point(&self, piece: &Self::Piece) -> Vec3;
}

/// A hull with a volume.
pub(super) struct Solid<'a> {
    facets: &'a HullFacets<'a>,
    /// The facets as triangles.
    surface: Surface,
    frame: &'a Frame,
    /// A point inside.
    middle: Vec3,
}

/// A box, and the facets whose planes cut it.
pub(super) struct BoxPiece {
    middle: Vec3,
    half: Vec3,
    cut_by: Rc<[u32]>,
}

/// How far a point that may be just outside is drawn towards the middle, as a part of the way: far
/// enough for any rounding.
const DRAWN_IN: f64 = 1.0 / (1 << 26) as f64;

/// Rounds of bringing a point back behind the plane that it is farthest beyond.
const ROUNDS_BACK: usize = 8;

impl<'a> Solid<'a> {
    /// The hull of these facets.
    pub(super) fn new(
        facets: &'a HullFacets<'a>,
        frame: &'a Frame,
        effort: &Effort<'_>,
    ) -> Result<Self, Stopped> {
        let sum: Vec3 = facets.corners.iter().sum();
        let surface = Surface::new(facets.corners, &facets.triangles(), effort)?;
        Ok(Self { facets, surface, frame, middle: sum / facets.corners.len() as f64 })
    }

    /// A part of a box; none if it is outside.
    fn part(&self, middle: Vec3, half: Vec3, cut_by: &Rc<[u32]>) -> Option<BoxPiece> {
        let (mut kept, mut is_beyond) = (Vec::new(), false);
        for facet in cut_by.iter() {
            let (normal, height) = self.facets.planes[*facet as usize];
            let (above, reach) = (normal.dot(&middle) - height, normal.abs().dot(&half));
            if above - reach > BOUND_SLACK {
                return None;
            }
            if above + reach > -BOUND_SLACK {
                kept.push(*facet);
            }
            is_beyond |= above > BOUND_SLACK;
        }
        if is_beyond && self.is_away(&middle, half.norm()) {
            return None;
        }
        let cut_by = if kept.len() == cut_by.len() { cut_by.clone() } else { kept.into() };
        Some(BoxPiece { middle, half, cut_by })
    }

    /// Whether a box whose middle is outside is so altogether: it holds no point of a facet. No
    /// single plane may say so where two of them meet in a sharp edge.
    fn is_away(&self, middle: &Vec3, radius: f64) -> bool {
        // Nothing that is farther matters.
        let within = 2.0 * radius;
        self.surface.distance(middle, within)[0] > radius + BOUND_SLACK
    }
}

impl Region for Solid<'_> {
    type Piece = BoxPiece;

    fn all(&self) -> Vec<BoxPiece> {
        let corners = self.facets.corners;
        let first = (corners[0], corners[0]);
        let (low, high) = corners.iter().fold(first, |(l, h), p| (l.inf(p), h.sup(p)));
        let widened = Vec3::repeat(BOUND_SLACK);
        let all = (0..).take(self.facets.planes.len()).collect();
        vec![BoxPiece {
            middle: (low + high) * 0.5,
            half: (high - low) * 0.5 + widened,
            cut_by: all,
        }]
    }

    fn ball(piece: &BoxPiece) -> (Vec3, f64) {
        (piece.middle, piece.half.norm())
    }

    fn halves(&self, piece: &BoxPiece) -> Vec<BoxPiece> {
        let axis = piece.half.imax();
        let mut half = piece.half;
        half[axis] *= 0.5;
        let moved = |way: f64| {
            let mut middle = piece.middle;
            middle[axis] += way * half[axis];
            self.part(middle, half, &piece.cut_by)
        };
        [moved(-1.0), moved(1.0)].into_iter().flatten().collect()
    }

    fn point(&self, piece: &BoxPiece) -> Vec3 {
        let mut p = piece.middle;
        for _ in 0..ROUNDS_BACK {
            let beyond = piece.cut_by.iter().map(|facet| {
                let (normal, height) = self.facets.planes[*facet as usize];
                (normal.dot(&p) - height, normal)
            });
            let worst = beyond.max_by(|a, b| a.0.total_cmp(&b.0));
            match worst.filter(|(above, _)| *above > -BOUND_SLACK) {
                Some((above, normal)) => p -= normal * (above + BOUND_SLACK),
                None => break,
            }
        }
        let world = self.frame.outward(&(p + (self.middle - p) * DRAWN_IN));
        if self.facets.hold(&world) {
            return self.frame.inward(&world);
        }
        // A hull may be so thin that no f64 point is inside. Points of facets are of it up to
        // rounding, as mean values of its corners are.
        self.surface.nearest(&piece.middle)
    }
}

/// A hull without a volume, or with hardly any: the triangles of its surface.
pub(super) struct Flat {
    triangles: Vec<[Vec3; 3]>,
}

impl Flat {
    /// A point, a segment or a polygon, with these corners in the frame.
    pub(super) fn polygon(hull: &Polytope, corners: &[Vec3]) -> Self {
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
    pub(super) fn surface(facets: &HullFacets<'_>) -> Self {
        let placed = |fan: [u32; 3]| fan.map(|corner| facets.corners[corner as usize]);
        Self { triangles: facets.triangles().into_iter().map(placed).collect() }
    }
}

impl Region for Flat {
    type Piece = [Vec3; 3];

    fn all(&self) -> Vec<[Vec3; 3]> {
        self.triangles.clone()
    }

    fn ball([a, b, c]: &[Vec3; 3]) -> (Vec3, f64) {
        let middle = (a + b + c) / 3.0;
        (middle, [a, b, c].map(|p| (p - middle).norm()).into_iter().fold(0.0, f64::max))
    }

    fn halves(&self, piece: &[Vec3; 3]) -> Vec<[Vec3; 3]> {
        let length = |k: usize| (piece[k] - piece[(k + 1) % 3]).norm_squared();
        let longest = (0..3).max_by(|i, j| length(*i).total_cmp(&length(*j))).unwrap_or(0);
        let [a, b, c] = [0, 1, 2].map(|k| piece[(longest + k) % 3]);
        let middle = (a + b) * 0.5;
        vec![[a, middle, c], [middle, b, c]]
    }

    fn point(&self, piece: &[Vec3; 3]) -> Vec3 {
        Self::ball(piece).0
    }
}
