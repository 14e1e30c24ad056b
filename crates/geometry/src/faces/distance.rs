//! How far apart two bodies are whose surfaces share no point: a bracket, and what shows it from
//! above. What shows it from below is a cover ([`super::prove_clear`]).

use arrayvec::ArrayVec;

use super::bound::{FEW, KnownDirection, LookAlong, gap_along, gap_between_middles};
use super::frontier::Frontier;
use super::{OuterPair, Surfaces, names, opened, opened_wide};
use crate::Vec3;
use crate::contact_time::polyhedra::proof::cover::halved;
use crate::distance::{self, METHODS, Stops};
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::meeting::normal_apart;
use crate::pair::{Pair, VertexPair};
use crate::polyhedron::groups::FaceGroups;
use crate::polyhedron::tree::Node;
use crate::rounded::{self, RoundedPair};
use crate::witness::Witness;

/// The distance of two bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceDistance {
    /// At most the exact distance, metres.
    pub lower: f64,
    /// At least the exact distance, metres.
    pub upper: f64,
    /// With v the point nearest the origin in the hull of their differences, |v| is at most `upper`
    /// and the radii. Those of P are of one face of it, and so are those of Q.
    pub pairs: ArrayVec<VertexPair, 3>,
    /// Closest points of P and Q in the world, rounded: for use, not for proof.
    pub closest: [Vec3; 2],
    /// The unit vector, rounded, from the closest point of Q to that of P.
    pub normal: Option<Vec3>,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

/// What is shown of all pairs of triangles is that they are no nearer than the nearest two less
/// this part of it: where many are equally near, directions that were rounded show that, too. It is
/// a quarter of what brackets may be wide.
const EASED: f64 = 1.0 - distance::WIDTH_MAX / 4.0;

/// Measures the distance. A step is a pair of groups.
///
/// ```
/// use clearance_geometry::Vec3;
/// use clearance_geometry::distance::Stops;
/// use clearance_geometry::effort::Effort;
/// use clearance_geometry::faces::{Surfaces, distance};
/// use clearance_geometry::hull::convex_hull;
/// use clearance_geometry::polyhedron::{HulledBody, Polyhedron};
/// use clearance_geometry::pose::Pose;
///
/// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// let effort = &mut Effort::unlimited();
/// let body = Polyhedron::new(&corners, &faces, effort).unwrap();
/// let hull = convex_hull(&corners).unwrap().polytope;
/// let at = |pose: Pose| HulledBody { body: &body, pose, hull: &hull, is_hull: false };
/// let (p, q) = (at(Pose::identity()), at(Pose::translation(0.0, 0.0, 3.0)));
/// let found = distance::measure(&Surfaces::new([&p, &q]), Stops::default(), effort).unwrap();
/// assert!(found.lower <= 2.0 && 2.0 <= found.upper && found.upper - found.lower < 1e-11);
/// ```
pub fn measure(
    surfaces: &Surfaces<'_>,
    stops: Stops,
    effort: &mut Effort<'_>,
) -> Result<FaceDistance, Stopped> {
    effort.one_question(|effort| Ok(NearestSearch::new(surfaces, stops)?.run(effort)))
}

/// The nearest two faces so far.
#[derive(Clone, Debug)]
struct Best {
    /// No two triangles that were looked at are nearer, metres.
    lower: f64,
    /// What is known of these two, with vertices as the bodies name them.
    near: Near,
}

struct NearestSearch<'a> {
    radii: [f64; 2],
    stops: Stops,
    groups: [FaceGroups<'a>; 2],
    open: Frontier,
    best: Best,
    /// At least the distance, metres, by triangles that were seen and not yet asked exactly.
    within: f64,
    /// The direction of the nearest two so far.
    known: Option<KnownDirection>,
}

impl<'a> NearestSearch<'a> {
    /// Begins with the distance of two vertices, which is no less.
    fn new(surfaces: &Surfaces<'a>, stops: Stops) -> Result<Self, Stopped> {
        let (groups, radii) = (surfaces.groups(), surfaces.radii);
        let first = surfaces.bodies.map(|body| body.vertices()[0]);
        let points = first.map(|point| convex_hull(&[point]).map(|hull| hull.polytope));
        let [Ok(p), Ok(q)] = points else { return Err(Stopped::Unresolved) };
        let [pose_p, pose_q] = surfaces.bodies.map(|body| body.pose);
        let pair = Pair::new(&p, pose_p, &q, pose_q);
        let near = Near::of(&pair, radii, Stops::default(), &mut Effort::unlimited())?;
        let within = near.upper;
        let best = Best { lower: f64::INFINITY, near };
        let open = Frontier::new(surfaces.triangle_count());
        Ok(Self { radii, stops, groups, open, best, within, known: None })
    }

    fn run(mut self, effort: &mut Effort<'_>) -> FaceDistance {
        let roots = self.groups.each_ref().map(FaceGroups::root);
        let stopped = self.dive(roots, effort).and_then(|()| self.descend(effort)).err();
        let Best { lower, near: Near { upper, pairs, closest, normal, .. } } = self.best;
        let least = self.open.least().map_or(lower, |left| lower.min(left));
        let wide_enough = upper * (1.0 - 0.9 * distance::WIDTH_MAX);
        let lower = (least * EASED).max(wide_enough).min(least).next_down().max(0.0);
        FaceDistance { lower, upper, pairs, closest, normal, stopped }
    }

    /// Goes straight to two triangles that are near: what is known to be no farther away than they
    /// are, and along which direction, spares looks at others.
    fn dive(&mut self, mut nodes: [Node; 2], effort: &mut Effort<'_>) -> Result<(), Stopped> {
        let mut bound = 0.0;
        loop {
            let pairs = self.opened(nodes);
            let bounds = pairs.iter().map(|pair| self.bound(*pair, effort));
            let bounds: Result<ArrayVec<Option<f64>, FEW>, Stopped> = bounds.collect();
            let bounds = bounds.inspect_err(|_| self.open.push(bound, nodes))?;
            let mut near: ArrayVec<(f64, [Node; 2]), FEW> = ArrayVec::new();
            for (bound, pair) in bounds.into_iter().zip(&pairs) {
                near.extend(bound.map(|bound| (bound, *pair)));
            }
            // Boxes that meet are equally near by their bounds.
            near.sort_by(|(a, m), (b, n)| {
                a.total_cmp(b).then_with(|| self.between(*m).total_cmp(&self.between(*n)))
            });
            near.drain(1.min(near.len())..).for_each(|(bound, pair)| self.open.push(bound, pair));
            let Some((nearest, pair)) = near.pop() else { return Ok(()) };
            if halved(&self.groups, pair).is_none() {
                self.open.push(nearest, pair);
                return Ok(());
            }
            (bound, nodes) = (nearest, pair);
        }
    }

    /// Whether one of the bodies is in one piece.
    fn has_piece(&self) -> bool {
        self.groups.iter().any(|of| of.boundary.mesh().is_none())
    }

    /// The pairs of groups that two groups fall into. Hulls of halves tell more of two meshes than
    /// single triangles beside large groups.
    fn opened(&self, nodes: [Node; 2]) -> ArrayVec<[Node; 2], FEW> {
        if self.has_piece() {
            return opened_wide(&self.groups, nodes);
        }
        opened(&self.groups, nodes).into_iter().collect()
    }

    /// About how far two groups are apart, metres: chooses where to look first, and decides
    /// nothing.
    fn between(&self, nodes: [Node; 2]) -> f64 {
        let [p, q] = [0, 1].map(|k| self.groups[k].middle(nodes[k]));
        (q - p).norm()
    }

    /// Looks into the groups that may be nearer than the nearest triangles so far, until nobody
    /// wants to know more.
    fn descend(&mut self, effort: &mut Effort<'_>) -> Result<(), Stopped> {
        loop {
            if self.stops.below.is_some_and(|below| self.best.near.upper < below) {
                return Ok(());
            }
            let is_far = |least: f64| self.stops.above.is_some_and(|above| least * EASED > above);
            if self.open.least().is_some_and(is_far) {
                return Ok(());
            }
            let Some(next) = self.open.pop_below(self.best.lower) else { return Ok(()) };
            let pairs = self.opened(next.nodes);
            let is_single = halved(&self.groups, next.nodes).is_none();
            for (at, nodes) in pairs.iter().enumerate() {
                let looked = if is_single {
                    self.look_at_single(*nodes, effort)
                } else {
                    self.bound(*nodes, effort).map(|bound| {
                        bound.into_iter().for_each(|bound| self.open.push(bound, *nodes));
                    })
                };
                if let Err(stopped) = looked {
                    // What was not looked at may be as near as what it is a part of.
                    pairs[at..].iter().for_each(|left| self.open.push(next.bound, *left));
                    return Err(stopped);
                }
            }
        }
    }

    /// At most how near two groups are; none: they are farther apart than others.
    fn bound(&mut self, nodes: [Node; 2], effort: &mut Effort<'_>) -> Result<Option<f64>, Stopped> {
        effort.spend_step()?;
        let nearest = self.within.min(self.best.near.upper);
        let gap_along_known = |known: &KnownDirection| known.gap(&self.groups, nodes, self.radii);
        let by_known = self.known.as_ref().map_or(0.0, gap_along_known);
        if by_known > nearest {
            return Ok(None);
        }
        let is_single = halved(&self.groups, nodes).is_none();
        if !self.has_piece() && !is_single {
            let bound = self.bound_of_meshes(nodes, nearest, effort)?.max(by_known);
            return Ok(Some(bound).filter(|bound| *bound <= nearest));
        }
        let from = self.known.as_ref().map(|known| known.unit);
        let look =
            LookAlong { from, above: Some(nearest), by_corners: true, ..LookAlong::default() };
        let found = gap_along(&self.groups, nodes, self.radii, look, effort)?;
        let bound = found.gap.max(by_known);
        if bound > nearest {
            return Ok(None);
        }
        if is_single && found.most < self.within {
            self.within = found.most;
            self.know(found.along, effort);
        }
        Ok(Some(bound))
    }

    /// At most how near two groups of two meshes are: by their hulls, if these are small and boxes
    /// show too little.
    fn bound_of_meshes(
        &mut self,
        nodes: [Node; 2],
        nearest: f64,
        effort: &mut Effort<'_>,
    ) -> Result<f64, Stopped> {
        let by_boxes = gap_between_middles(&self.groups, nodes, self.radii);
        if by_boxes.gap > nearest || !(0..2).all(|k| self.groups[k].has_hull(nodes[k])) {
            return Ok(by_boxes.gap);
        }
        OuterPair::prepare(&mut self.groups, nodes);
        let between = by_boxes.along.map(|unit| KnownDirection::new(&self.groups, unit, effort));
        for along in self.known.into_iter().chain(between) {
            let gap = along.gap_of_hulls(&self.groups, nodes, self.radii);
            if gap > nearest {
                return Ok(gap);
            }
        }
        let outer = OuterPair::of(&self.groups, nodes).ok_or(Stopped::Unresolved)?;
        let stops = Stops { above: Some(nearest), below: None };
        let Near { lower, normal, .. } = Near::of(&outer.pair, self.radii, stops, effort)?;
        // That of whole bodies is a good one to begin with.
        if self.known.is_none() && lower > 0.0 {
            self.know(normal.map(|normal| -normal), effort);
        }
        Ok(lower)
    }

    /// Finds out how near two triangles are.
    fn look_at_single(&mut self, nodes: [Node; 2], effort: &mut Effort<'_>) -> Result<(), Stopped> {
        effort.spend_step()?;
        OuterPair::prepare(&mut self.groups, nodes);
        let outer = OuterPair::of(&self.groups, nodes).ok_or(Stopped::Unresolved)?;
        let near = Near::of(&outer.pair, self.radii, Stops::default(), effort)?;
        self.best.lower = self.best.lower.min(near.lower);
        if near.upper < self.best.near.upper {
            let (pairs, normal) = (names(&self.groups, &outer.pair, &near.pairs), near.normal);
            self.best.near = Near { pairs, ..near };
            self.know(normal.map(|normal| -normal), effort);
        }
        Ok(())
    }

    /// Tries the direction of the nearest two on the others; `unit`: from P to Q.
    fn know(&mut self, unit: Option<Vec3>, effort: &mut Effort<'_>) {
        let new = unit.map(|unit| KnownDirection::new(&self.groups, unit, effort));
        self.known = new.or(self.known);
    }
}

/// How near two convex bodies are.
#[derive(Clone, Debug)]
pub(crate) struct Near {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) pairs: ArrayVec<VertexPair, 3>,
    pub(crate) closest: [Vec3; 2],
    pub(crate) normal: Option<Vec3>,
}

impl Near {
    pub(crate) fn of(
        pair: &Pair<'_>,
        radii: [f64; 2],
        stops: Stops,
        effort: &mut Effort<'_>,
    ) -> Result<Self, Stopped> {
        let witness = &mut Witness::default();
        if radii.iter().all(|radius| *radius <= 0.0) {
            let found = distance::measure(pair, stops, witness, effort)?;
            let closest = [found.closest_p, found.closest_q];
            let normal = normal_apart(pair, &found.pairs, closest);
            let (lower, upper, pairs) = (found.lower, found.upper, found.pairs);
            return found.stopped.map_or(Ok(Self { lower, upper, pairs, closest, normal }), Err);
        }
        let pair = RoundedPair { cores: *pair, radii };
        let found = rounded::measure(&pair, &METHODS[0], stops, witness, effort)?;
        let pairs = found.proof.pairs.iter().copied().take(3).collect();
        let (lower, upper, normal) = (found.lower, found.upper, found.normal);
        let closest = [found.closest_p, found.closest_q];
        found.stopped.map_or(Ok(Self { lower, upper, pairs, closest, normal }), Err)
    }
}
