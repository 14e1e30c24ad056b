//! How near two groups may be, cheaply: along a direction that is found by their supporting points
//! alone, those of the boxes around them, of a few triangles, and of a body in one piece.

use std::sync::LazyLock;

use arrayvec::ArrayVec;

use crate::Vec3;
use crate::claim::Reach;
use crate::difference::RoundedCorner;
use crate::distance::{self, Stops, rough};
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::kernel;
use crate::number::rounding::length;
use crate::number::tolerance::BOX_ROUNDING;
use crate::pair::{Pair, Placed, VertexPair};
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
    /// At least how far apart they are, metres, less the radii of both; of groups that are held by
    /// boxes it says nothing. Known for bodies where they are, not for moved ones.
    pub(super) most: f64,
}

impl Bound {
    const NONE: Self = Self { gap: 0.0, along: None, most: f64::INFINITY };

    fn along(unit: Vec3, gap: f64) -> Self {
        if gap > 0.0 { Self { gap, along: Some(unit), ..Self::NONE } } else { Self::NONE }
    }
}

/// What is known of a group without a hull of it.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "two at a time, for as long as they are looked at")]
enum Outline {
    /// A body in one piece.
    Piece,
    /// The box around many triangles.
    Box(PlacedBox),
    /// The corners of one triangle, where they are.
    Triangle([Vec3; 3]),
    /// The corners of a few triangles, in the frame of their body.
    Corners(FewCorners),
}

/// Each once.
type FewCorners = ArrayVec<Vec3, { 3 * FEW }>;

/// Of so many triangles the corners tell more than the box around them, and are soon looked at.
pub(super) const FEW: usize = 8;

/// A group where it is.
struct SeenGroup<'a, 'g> {
    of: &'a FaceGroups<'g>,
    outline: Outline,
    /// The vertex of a body in one piece that was looked at last.
    latest: Option<u32>,
}

impl<'a, 'g> SeenGroup<'a, 'g> {
    fn new(of: &'a FaceGroups<'g>, node: Node, by_corners: bool) -> Self {
        let of_box = || of.placed_box(node).map_or(Outline::Piece, Outline::Box);
        let outline = match of.corners(node) {
            Some(corners) => {
                let place = |corner: &Vec3| of.boundary.pose.apply_rounded(corner);
                Outline::Triangle([place(&corners[0]), place(&corners[1]), place(&corners[2])])
            }
            None if by_corners => of.few_corners(node).map_or_else(of_box, Outline::Corners),
            None => of_box(),
        };
        Self { of, outline, latest: None }
    }

    /// A point of it, rounded, and the number by which it is known; the one that is farthest along
    /// the direction, very likely.
    #[inline(always)]
    fn farthest(&mut self, along: &Vec3, effort: &mut Effort<'_>) -> (Vec3, u32) {
        match &self.outline {
            Outline::Piece => {
                let found = self.of.likely_farthest(along, self.latest, effort);
                self.latest = Some(found.1);
                found
            }
            Outline::Box(placed) => placed.farthest(along),
            Outline::Triangle(corners) => {
                let (name, _) = kernel::farthest(along, corners);
                (corners[name as usize], name)
            }
            Outline::Corners(corners) => {
                let pose = &self.of.boundary.pose;
                let (name, _) = kernel::farthest(&pose.rotation.tr_mul(along), corners);
                (pose.apply_rounded(&corners[name as usize]), name)
            }
        }
    }

    /// At least how high it reaches along a unit vector.
    fn height(&self, unit: &Vec3, effort: &mut Effort<'_>) -> f64 {
        match &self.outline {
            Outline::Piece => self.of.height(unit, effort),
            Outline::Box(placed) => unit.dot(&placed.centre) + placed.reach(unit),
            Outline::Triangle(corners) => kernel::farthest(unit, corners).1 + 8.0 * self.of.blur(),
            Outline::Corners(corners) => self.of.height_of_points(corners, unit),
        }
    }

    /// A point in the middle of it, or anywhere in a body in one piece.
    fn middle(&self) -> Vec3 {
        match &self.outline {
            Outline::Piece => self.of.middle(Node::ONLY),
            Outline::Box(placed) => placed.centre,
            Outline::Triangle(corners) => corners[0],
            Outline::Corners(corners) => self.of.boundary.pose.apply_rounded(&corners[0]),
        }
    }
}

/// A direction that keeps others apart: of bodies that are near each other in one place, most
/// groups are farther along it than the nearest two.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownDirection {
    /// A unit vector from P to Q, rounded.
    pub(super) unit: Vec3,
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

    /// At most the distance of two groups, metres, by the boxes around them, or by their corners
    /// where they are single triangles; less the radii of both. Not positive where it shows
    /// nothing.
    pub(super) fn gap(
        &self,
        groups: &[FaceGroups<'_>; 2],
        nodes: [Node; 2],
        radii: [f64; 2],
    ) -> f64 {
        let height = |k: usize, unit: Vec3| match self.pieces[k] {
            Some(known) => known,
            None => match groups[k].corners(nodes[k]) {
                Some(corners) => groups[k].height_of_points(&corners, &unit),
                None => groups[k]
                    .placed_box(nodes[k])
                    .map_or(f64::INFINITY, |placed| unit.dot(&placed.centre) + placed.reach(&unit)),
            },
        };
        gap_of([height(0, self.unit), height(1, -self.unit)], radii)
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
        gap_of([height(0, self.unit), height(1, -self.unit)], radii)
    }
}

/// By how high P reaches along a unit vector, and Q against it.
fn gap_of([of_p, of_q]: [f64; 2], radii: [f64; 2]) -> f64 {
    let gap = -of_q - of_p - Reach::of_rounded(radii, 0.0).upper();
    gap - gap.abs() * BOX_ROUNDING
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
        [Some(_), Some(_)] => Ok(gap_between_middles(groups, nodes, radii)),
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
    let Some(unit) = unit_of(found.closest_q - found.closest_p) else {
        return Ok(Bound::NONE);
    };
    // What counts is how far the piece is along the direction as it is rounded.
    let apart = piece.height(&-unit, effort) + unit.dot(&one.centre);
    Ok(Bound::along(unit, -apart - one.reach(&unit) - rounded))
}

/// The same along the line through the middles of two boxes.
pub(super) fn gap_between_middles(
    groups: &[FaceGroups<'_>; 2],
    nodes: [Node; 2],
    radii: [f64; 2],
) -> Bound {
    let [Some(p), Some(q)] = [0, 1].map(|k| groups[k].placed_box(nodes[k])) else {
        return Bound::NONE;
    };
    let Some(unit) = unit_of(q.centre - p.centre) else { return Bound::NONE };
    let heights = [(&p, unit), (&q, -unit)]
        .map(|(placed, unit)| unit.dot(&placed.centre) + placed.reach(&unit));
    Bound::along(unit, gap_of(heights, radii))
}

/// Where a search for the direction begins, and when it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LookAlong {
    /// A direction from P to Q that was good for others.
    pub(super) from: Option<Vec3>,
    /// Beyond this, metres, it need not be the best bound.
    pub(super) above: Option<f64>,
    /// How far Q is moved, metres.
    pub(super) moved: Vec3,
    /// Whether a few triangles are told by their corners, which tell more than the box around them
    /// and take longer.
    pub(super) by_corners: bool,
}

/// At most the distance of two groups, by a search for the direction that shows most.
pub(super) fn gap_along(
    groups: &[FaceGroups<'_>; 2],
    nodes: [Node; 2],
    radii: [f64; 2],
    look: LookAlong,
    effort: &mut Effort<'_>,
) -> Result<Bound, Stopped> {
    effort.look_at_clock()?;
    let mut p = SeenGroup::new(&groups[0], nodes[0], look.by_corners);
    let mut q = SeenGroup::new(&groups[1], nodes[1], look.by_corners);
    let rounded = Reach::of_rounded(radii, 0.0);
    let between = || unit_of(q.middle() + look.moved - p.middle());
    let Some(start) = look.from.or_else(between) else { return Ok(Bound::NONE) };
    // A little more than is asked for, so that rounding does not take it away.
    let above = look.above.map_or(f64::INFINITY, |above| {
        (above + rounded.upper()) * (1.0 + 4.0 * BOX_ROUNDING)
            + 32.0 * (groups[0].blur() + groups[1].blur())
    });
    let found = rough::search(&start, above, |along| {
        let (of_q, j) = q.farthest(&-along, effort);
        let (of_p, i) = p.farthest(along, effort);
        RoundedCorner { pair: VertexPair { i, j }, point: (of_q - of_p) + look.moved }
    });
    let blurs = 16.0 * (groups[0].blur() + groups[1].blur());
    let most = length(&found.nearest) * (1.0 + BOX_ROUNDING) + blurs - rounded.lower();
    let most = if most.is_nan() { f64::INFINITY } else { most.max(0.0) };
    let Some(unit) = unit_of(found.along) else { return Ok(Bound { most, ..Bound::NONE }) };
    let of_q = q.height(&-unit, effort) - unit.dot(&look.moved);
    let gap = gap_of([p.height(&unit, effort), of_q], radii);
    Ok(Bound { most, ..Bound::along(unit, gap) })
}

/// A unit vector along a way, rounded; none of no way at all. Squares of the largest lengths
/// overflow, and those of the least vanish, so it is scaled first.
fn unit_of(way: Vec3) -> Option<Vec3> {
    let scaled = way / way.amax();
    let unit = scaled / scaled.norm();
    unit.iter().all(|c| c.is_finite()).then_some(unit)
}
