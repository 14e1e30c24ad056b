//! How near two groups may be, cheaply: along the direction from one box to the other, or from a
//! box to the other body in one piece.

use std::sync::LazyLock;

use crate::Vec3;
use crate::claim::Reach;
use crate::distance::{self, Stops};
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::number::tolerance::BOX_ROUNDING;
use crate::pair::{Pair, Placed};
use crate::polyhedron::groups::{FaceGroups, PlacedBox};
use crate::polyhedron::tree::Node;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::witness::Witness;

/// The point at the origin: put elsewhere, the middle of a box.
static POINT: LazyLock<Polytope> =
    LazyLock::new(|| convex_hull(&[Vec3::zeros()]).expect("a point has a hull").polytope);

/// At most how far apart two groups are, and the direction that shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// Metres, less the radii of both; 0 where it shows nothing.
    pub(super) gap: f64,
    /// A unit vector from P to Q, rounded.
    pub(super) along: Option<Vec3>,
}

impl Bound {
    const NONE: Self = Self { gap: 0.0, along: None };

    fn along(unit: Vec3, gap: f64) -> Self {
        if gap > 0.0 { Self { gap, along: Some(unit) } } else { Self::NONE }
    }
}

/// A direction that keeps others apart: of bodies that are near each other in one place, most
/// groups are farther along it than the nearest two.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownDirection {
    /// A unit vector from P to Q, rounded.
    unit: Vec3,
    /// At least how high P reaches along it, and Q against it, if the body is in one piece.
    pieces: [Option<f64>; 2],
}

impl KnownDirection {
    /// `unit`: a unit vector from P to Q, rounded.
    pub(super) fn new(groups: &[FaceGroups<'_>; 2], unit: Vec3, effort: &mut Effort<'_>) -> Self {
        let pieces = [(0, unit), (1, -unit)].map(|(k, unit): (usize, Vec3)| {
            let is_piece = groups[k].boundary.mesh().is_none();
            is_piece.then(|| groups[k].height(&unit, effort))
        });
        Self { unit, pieces }
    }

    /// At most the distance of two groups, metres, by the boxes around them; less the radii of
    /// both. Not positive where it shows nothing.
    pub(super) fn gap_of_boxes(
        &self,
        groups: &[FaceGroups<'_>; 2],
        nodes: [Node; 2],
        radii: [f64; 2],
    ) -> f64 {
        let height = |k: usize, unit: Vec3| match groups[k].placed_box(nodes[k]) {
            Some(placed) => unit.dot(&placed.centre) + placed.reach(&unit),
            None => self.pieces[k].unwrap_or(f64::INFINITY),
        };
        self.gap(height, radii)
    }

    /// The same by the hulls of groups that have been prepared.
    pub(super) fn gap_of_hulls(
        &self,
        groups: &[FaceGroups<'_>; 2],
        nodes: [Node; 2],
        radii: [f64; 2],
    ) -> f64 {
        let height = |k: usize, unit: Vec3| {
            let of_vertices = || groups[k].height_of_hull(nodes[k], &unit);
            self.pieces[k].or_else(of_vertices).unwrap_or(f64::INFINITY)
        };
        self.gap(height, radii)
    }

    fn gap(&self, height: impl Fn(usize, Vec3) -> f64, radii: [f64; 2]) -> f64 {
        let rounded = Reach::of_rounded(radii, 0.0).upper();
        let gap = -height(1, -self.unit) - height(0, self.unit) - rounded;
        gap - gap.abs() * BOX_ROUNDING
    }
}

/// At most the distance of two groups of which one at least is of a mesh; beyond `above`, metres,
/// it need not be the best bound.
pub(super) fn least_gap(
    groups: &[FaceGroups<'_>; 2],
    nodes: [Node; 2],
    radii: [f64; 2],
    above: Option<f64>,
    effort: &mut Effort<'_>,
) -> Result<Bound, Stopped> {
    let rounded = Reach::of_rounded(radii, 0.0).upper();
    match [0, 1].map(|k| groups[k].placed_box(nodes[k])) {
        [Some(p), Some(q)] => {
            let Some((unit, length)) = unit_and_length(q.centre - p.centre) else {
                return Ok(Bound::NONE);
            };
            let apart = length * (1.0 - BOX_ROUNDING);
            Ok(Bound::along(unit, apart - p.reach(&unit) - q.reach(&unit) - rounded))
        }
        [Some(p), None] => of_box(&p, &groups[1], rounded, above, effort),
        [None, Some(q)] => {
            let found = of_box(&q, &groups[0], rounded, above, effort)?;
            Ok(Bound { along: found.along.map(|along| -along), ..found })
        }
        [None, None] => Ok(Bound::NONE),
    }
}

/// Of a box and a body in one piece, from the one to the other.
fn of_box(
    one: &PlacedBox,
    piece: &FaceGroups<'_>,
    rounded: f64,
    above: Option<f64>,
    effort: &mut Effort<'_>,
) -> Result<Bound, Stopped> {
    let [x, y, z] = one.centre.into();
    let middle = Placed { body: &POINT, pose: Pose::translation(x, y, z) };
    let placed = Placed { body: piece.boundary.hull, pose: piece.boundary.pose };
    let stops = Stops { above: above.map(|above| above + one.reach_at_most()), below: None };
    let pair = Pair { p: middle, q: placed };
    let found = distance::measure(&pair, stops, &mut Witness::default(), effort)?;
    let Some((unit, _)) = unit_and_length(found.closest_q - found.closest_p) else {
        return Ok(Bound::NONE);
    };
    // What counts is how far the piece is along the direction as it is rounded.
    let apart = piece.height(&-unit, effort) + unit.dot(&one.centre);
    Ok(Bound::along(unit, -apart - one.reach(&unit) - rounded))
}

/// A unit vector along a way, rounded, and how long this is; none of no way at all. Squares of the
/// largest lengths overflow, and those of the least vanish, so both are taken of a scaled one.
fn unit_and_length(way: Vec3) -> Option<(Vec3, f64)> {
    let scaled = way / way.amax();
    let norm = scaled.norm();
    let unit = scaled / norm;
    let length = way.amax() * norm;
    (unit.iter().all(|c| c.is_finite()) && length.is_finite()).then_some((unit, length))
}
