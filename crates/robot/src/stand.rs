//! A cell in one configuration: where its links are, and how pairs of its bodies stand.

use std::cmp::Ordering;
use std::convert::Infallible;

use super::ball::{PlacedBox, length_at_most};
use super::cell::{BodyPair, Cell, CellPart};
use super::cloud::PartBesideCloud;
use super::kinematics::{PoseLanes, point_lanes, pose_of_lane};
use super::pairing::PairScope;
use super::solids::{PlacedOnce, SolidPair, Solids};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Reach, Verdict};
use clearance_geometry::cloud::PlacedCloud;
use clearance_geometry::distance::{
    Distance, DistanceSide, Stops, compare_beyond, compare_with_reach, measure,
};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::number::rounding::BOUND_SLACK;
use clearance_geometry::pair::{Pair, Placed};
use clearance_geometry::penetration::{
    self, BoxDepth, BoxDepthMemory, depth_at_most, depth_in_box,
};
use clearance_geometry::pose::Pose;
use clearance_geometry::processor;
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::witness::Witness;

/// Configurations that are placed at a time.
pub(super) const LANES: usize = 4;

/// Frames and balls of some configurations at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    values: Vec<[f64; LANES]>,
    frames: Vec<PoseLanes<LANES>>,
    centres: Vec<[[f64; LANES]; 3]>,
}

impl Block {
    /// Places the cell; all configurations are good.
    pub(super) fn place(&mut self, cell: &Cell, values: &[&[f64]; LANES]) {
        processor::dispatch(
            #[inline(always)]
            || {
                self.values.clear();
                let of = |variable: usize| std::array::from_fn(|lane| values[lane][variable]);
                self.values.extend((0..cell.variable_count()).map(of));
                cell.kinematics.place(values, &mut self.frames);
                self.centres.clear();
                for link in &cell.links {
                    let centre = &link.ball.centre;
                    self.centres.push(match link.frame {
                        Some(frame) => point_lanes(&self.frames[frame], centre),
                        None => [centre.x, centre.y, centre.z].map(|c| [c; LANES]),
                    });
                }
            },
        );
    }

    /// One of them.
    pub(super) fn stand<'a>(
        &'a self,
        cell: &'a Cell,
        lane: usize,
        poses: &'a mut Poses,
    ) -> Stand<'a> {
        poses.next(cell.parts.len());
        Stand { cell, scope: PairScope::All, skips_constant: false, block: self, lane, poses }
    }
}

/// Poses of parts that were asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Poses {
    known: Vec<(u64, Pose)>,
    /// Of parts that are solids.
    solids: Vec<(u64, PlacedOnce)>,
    round: u64,
    box_depth: BoxDepthMemory,
}

impl Poses {
    fn next(&mut self, parts: usize) {
        self.round += 1;
        self.known.resize(parts, (0, Pose::identity()));
    }
}

/// How deep two bodies overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deep {
    /// At most the exact depth, metres.
    pub(super) lower: f64,
    /// At least the exact depth, metres.
    pub(super) upper: f64,
    /// Moving the first body by the depth along this unit vector separates, up to rounding.
    pub(super) direction: Vec3,
}

/// A cell in a configuration.
pub(super) struct Stand<'a> {
    pub(super) cell: &'a Cell,
    /// Which pairs are asked.
    pub(super) scope: PairScope,
    /// Whether pairs are left out whose clearance no joint value changes.
    pub(super) skips_constant: bool,
    block: &'a Block,
    lane: usize,
    poses: &'a mut Poses,
}

impl<'a> Stand<'a> {
    /// Where a frame is.
    pub(super) fn frame(&self, frame: usize) -> Pose {
        pose_of_lane(&self.block.frames[frame], self.lane)
    }

    /// Four joint values in a row.
    pub(super) fn values(&self, first: usize) -> [f64; 4] {
        std::array::from_fn(|k| self.block.values[first + k][self.lane])
    }

    /// The ball around a link, in the world.
    #[inline(always)]
    pub(super) fn link_ball(&self, link: usize) -> (Vec3, f64) {
        let (centre, radius) = self.hulls_ball(link);
        (centre, with_balls(radius, self.cell.links[link].radius))
    }

    /// The ball around the hulls of a link's parts, without balls around their points.
    #[inline(always)]
    pub(super) fn hulls_ball(&self, link: usize) -> (Vec3, f64) {
        let [x, y, z] = &self.block.centres[link];
        let centre = Vec3::new(x[self.lane], y[self.lane], z[self.lane]);
        (centre, self.cell.links[link].ball.radius_at(&centre))
    }

    /// The ball around a part, in the world.
    #[inline(always)]
    pub(super) fn part_ball(&self, link: usize, part: usize) -> (Vec3, f64) {
        let CellPart { ball, body, .. } = &self.cell.parts[part];
        let centre = match self.cell.links[link].frame {
            Some(frame) => {
                let w = &self.block.frames[frame];
                let row = |i: usize| {
                    let term = |k: usize| w[3 * i + k][self.lane] * ball.centre[k];
                    ((term(0) + term(1)) + term(2)) + w[9 + i][self.lane]
                };
                Vec3::new(row(0), row(1), row(2))
            }
            None => ball.centre,
        };
        (centre, with_balls(ball.radius_at(&centre), body.radius()))
    }

    /// Where a body is: its twelve numbers.
    pub(super) fn pose(&mut self, body: u32) -> Pose {
        let at = body as usize;
        let Some(part) = self.cell.parts.get(at) else {
            return self.cell.still.bodies()[at - self.cell.parts.len()].pose;
        };
        let (round, known) = self.poses.known[at];
        if round == self.poses.round {
            return known;
        }
        let frame = self.cell.link_of(body).and_then(|link| link.frame);
        let pose = match frame {
            Some(frame) => part.placed(&self.frame(frame)),
            None => part.frame_from_part,
        };
        self.poses.known[at] = (self.poses.round, pose);
        pose
    }

    /// The box around a body, in its own frame.
    pub(super) fn placed_box(&mut self, body: u32) -> PlacedBox {
        let (pose, cell) = (self.pose(body), self.cell);
        let skew = cell.parts.get(body as usize).map_or_else(|| pose.skew(), |part| part.skew);
        let body = cell.body(body);
        PlacedBox::new(body.hull(), pose, skew).rounded(body.radius())
    }

    /// The two bodies, placed, without balls around their points; of a polyhedron its hull.
    pub(super) fn hulls(&mut self, [a, b]: BodyPair) -> Pair<'a> {
        let cell = self.cell;
        Pair::new(cell.hull(a), self.pose(a), cell.hull(b), self.pose(b))
    }

    /// The radii of the balls around all points of two bodies, metres.
    #[inline(always)]
    pub(super) fn radii(&self, pair: BodyPair) -> [f64; 2] {
        pair.map(|body| self.cell.body(body).radius())
    }

    /// The hulls with balls around their points; none: there are no balls.
    #[inline(always)]
    pub(super) fn rounded_hulls(&mut self, pair: BodyPair) -> Option<RoundedPair<'a>> {
        let radii = self.radii(pair);
        let is_rounded = radii.iter().any(|radius| *radius > 0.0);
        is_rounded.then(|| RoundedPair { cores: self.hulls(pair), radii })
    }

    /// A part and a cloud, placed; none: the second body is no cloud.
    #[inline(always)]
    pub(super) fn cloud(&mut self, [part, other]: BodyPair) -> Option<PartBesideCloud<'a>> {
        let cell = self.cell;
        let number = (other as usize).checked_sub(cell.parts.len())?;
        let still = cell.still.bodies().get(number)?;
        let cloud = still.body.cloud()?.cloud();
        let hull = Placed { body: cell.hull(part), pose: self.pose(part) };
        let CellPart { skew, body, .. } = &cell.parts[part as usize];
        Some(PartBesideCloud {
            hull,
            skew: *skew,
            mesh: body.mesh().map(|_| body.boundary_kind()),
            curved: body.curved().map(|curved| (curved.body(), curved.radius())),
            cloud: PlacedCloud::with_skew(cloud, still.pose, cell.still.skew_of(number))
                .beside_rounded(body.radius()),
        })
    }

    /// Calls `visit` with every pair of a part and a cloud; only with those of one link, if `only`
    /// names one.
    #[inline(always)]
    pub(super) fn with_clouds<E>(
        &mut self,
        only: Option<usize>,
        mut visit: impl FnMut(&mut Self, BodyPair) -> Result<(), E>,
    ) -> Result<(), E> {
        let cell = self.cell;
        let clouds = if self.scope.has_world() { cell.still.clouds() } else { &[] };
        for cloud in clouds {
            for (index, link) in cell.links.iter().enumerate() {
                if link.frame.is_none() || only.is_some_and(|only| only != index) {
                    continue;
                }
                for part in link.parts.clone().filter(|_| cell.asks(index, *cloud)) {
                    visit(self, Self::numbers(part, cell.parts.len() + cloud))?;
                }
            }
        }
        Ok(())
    }

    /// The two bodies, placed, by their faces; none: both are polytopes.
    #[inline(always)]
    pub(super) fn solids(&mut self, pair: BodyPair) -> Option<SolidPair<'a>> {
        let solids = self.cell.solids.as_ref()?;
        let bodies = pair.map(|body| body as usize);
        if !bodies.into_iter().any(|body| solids.is_mesh(body)) {
            return None;
        }
        let placed = bodies.map(|body| self.placed_once(solids, body));
        Some(solids.pair(bodies, self.hulls(pair), placed, self.radii(pair)))
    }

    /// Whether one of two bodies is curved.
    pub(super) fn is_curved(&self, pair: BodyPair) -> bool {
        pair.iter().any(|body| self.cell.body(*body).curved().is_some())
    }

    /// Where the points of a body are in the configuration at hand, once its faces are asked for.
    fn placed_once(&mut self, solids: &Solids, body: usize) -> PlacedOnce {
        if let Some(still) = solids.placed(body) {
            return still.clone();
        }
        let Poses { solids: known, round, .. } = &mut *self.poses;
        if known.len() <= body {
            known.resize_with(body + 1, Default::default);
        }
        let (known_in, placed) = &mut known[body];
        if known_in != round {
            (*known_in, *placed) = (*round, PlacedOnce::default());
        }
        placed.clone()
    }

    /// How two bodies stand, exactly.
    pub(super) fn verdict(
        &mut self,
        pair: BodyPair,
        effort: &mut Effort<'_>,
    ) -> Result<Verdict, Stopped> {
        if let Some(beside) = self.cloud(pair) {
            return beside.verdict(effort);
        }
        if let Some(solids) = self.solids(pair) {
            return solids.verdict(effort);
        }
        let witness = &mut Witness::default();
        if let Some(rounded) = self.rounded_hulls(pair) {
            return Ok(rounded::verdict(&rounded, witness, effort)?.verdict);
        }
        Ok(decide(&self.hulls(pair), &METHODS[0], witness, effort)?.verdict())
    }

    /// How a pair stands: in contact, which is to be no farther apart than a margin, or how far
    /// apart beside a distance that is no less. None: one is curved, and nearer to the margin than
    /// is resolved.
    pub(super) fn side(
        &mut self,
        pair: BodyPair,
        [margin, within]: [f64; 2],
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Option<DistanceSide>, Stopped> {
        if let Some(beside) = self.cloud(pair) {
            return beside.side(margin, within, effort);
        }
        let radii = self.radii(pair);
        let within_of_bodies = within;
        // Without the balls around their points they are farther apart by the radii.
        let within = match Reach::of_rounded(radii, 0.0).upper() {
            of_both if of_both > 0.0 => (within + of_both).next_up(),
            _ => within,
        };
        if let Some(solids) = self.solids(pair) {
            if let Some(curved) = solids.curved() {
                return curved.side(margin, [within_of_bodies, within], witness, effort);
            }
            return solids.side(margin, within, witness, effort).map(Some);
        }
        let placed = self.hulls(pair);
        let reach = Reach::of_rounded(radii, margin);
        if !reach.is_zero()
            && compare_with_reach(&placed, reach, witness, effort)?.order != Ordering::Greater
        {
            return Ok(Some(DistanceSide::Contact));
        }
        compare_beyond(&placed, within, witness, effort).map(Some)
    }

    /// How far apart two bodies are without balls around their points, or the hulls of polyhedra.
    pub(super) fn hull_distance(
        &mut self,
        pair: BodyPair,
        stops: Stops,
        effort: &mut Effort<'_>,
    ) -> Result<Distance, Stopped> {
        measure(&self.hulls(pair), stops, &mut Witness::default(), effort)
    }

    /// What one pass over the faces of two hulls says of their depth, beyond `enough`. No hull has
    /// balls around its points.
    pub(super) fn box_depth(&mut self, pair: BodyPair, enough: f64) -> BoxDepth {
        depth_in_box(&self.hulls(pair), enough, &mut self.poses.box_depth)
    }

    /// At least the depth of two hulls that have no balls around their points, metres.
    pub(super) fn depth_at_most(&mut self, pair: BodyPair) -> f64 {
        depth_at_most(&self.hulls(pair), &mut self.poses.box_depth)
    }

    /// How deep two hulls overlap, with the balls around their points; none: they touch, or are
    /// separated.
    pub(super) fn hull_depth(
        &mut self,
        pair: BodyPair,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Deep>, Stopped> {
        if let Some(rounded) = self.rounded_hulls(pair) {
            return rounded_depth(&rounded, effort);
        }
        if let BoxDepth::Deep { lower, upper, direction } = self.box_depth(pair, 0.0) {
            return Ok(Some(Deep { lower, upper, direction }));
        }
        self.exact_depth(pair, effort)
    }

    /// The same by the search in exact arithmetic, which takes ten times as long.
    pub(super) fn exact_depth(
        &mut self,
        pair: BodyPair,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Deep>, Stopped> {
        let measured =
            penetration::measure(&self.hulls(pair), false, &mut Witness::default(), effort)?;
        if let Some(why) = measured.stopped {
            return Err(why);
        }
        let is_deep = measured.decision.verdict() == Verdict::Overlapping;
        let penetration::Depth { lower, upper, direction, .. } = measured;
        Ok(is_deep.then_some(Deep { lower, upper, direction }))
    }

    /// Calls `visit` with every pair of which boxes and balls do not show a clearance of at least
    /// `within`, and with a lower bound of its signed clearance; goes on with what that returns.
    /// Only pairs of one link, if `only` names one.
    #[inline(always)]
    pub(super) fn candidates<E>(
        &mut self,
        mut within: f64,
        only: Option<usize>,
        mut visit: impl FnMut(&mut Self, BodyPair, f64) -> Result<f64, E>,
    ) -> Result<(), E> {
        let cell = self.cell;
        let first_still = cell.parts.len();
        for (index, link) in cell.links.iter().enumerate() {
            if link.frame.is_none()
                || only.is_some_and(|only| only != index)
                || !self.scope.has_world()
            {
                continue;
            }
            let (centre, radius) = self.link_ball(index);
            let is_single = link.parts.len() == 1;
            cell.still.near(&centre, radius, within, |body, of_link| {
                if !cell.asks(index, body) {
                    return Ok(within);
                }
                let other = number(first_still + body);
                for part in link.parts.clone() {
                    let clearance = if is_single {
                        of_link
                    } else {
                        let (centre, radius) = self.part_ball(index, part);
                        cell.still.box_of(body).clearance_from(&centre, radius)
                    };
                    if clearance < within {
                        within = visit(self, [number(part), other], clearance)?;
                    }
                }
                Ok(within)
            })?;
        }
        self.candidates_among_links(within, only, visit)
    }

    /// Calls `visit` with the pairs of a link and what stands still of which balls and boxes do not
    /// show a clearance of more than `within`.
    #[inline(always)]
    pub(super) fn near_still(&self, index: usize, within: f64, mut visit: impl FnMut(BodyPair)) {
        if !self.scope.has_world() {
            return;
        }
        let cell = self.cell;
        let link = &cell.links[index];
        let (centre, radius) = self.link_ball(index);
        // A bound of exactly `within` shows nothing.
        let within = within.next_up();
        let visited = cell.still.near(&centre, radius, within, |body, _| {
            for part in link.parts.clone().filter(|_| cell.asks(index, body)) {
                let other = cell.parts.len() + body;
                let (centre, radius) = self.part_ball(index, part);
                let is_near = || cell.still.box_of(body).clearance_from(&centre, radius) < within;
                if link.parts.len() == 1 || is_near() {
                    visit(Self::numbers(part, other));
                }
            }
            Ok::<f64, Infallible>(within)
        });
        let Ok(()) = visited;
    }

    /// A pair by the indices of its bodies.
    pub(super) fn numbers(first: usize, second: usize) -> BodyPair {
        [number(first), number(second)]
    }

    #[inline(always)]
    fn candidates_among_links<E>(
        &mut self,
        mut within: f64,
        only: Option<usize>,
        mut visit: impl FnMut(&mut Self, BodyPair, f64) -> Result<f64, E>,
    ) -> Result<(), E> {
        let cell = self.cell;
        if !self.scope.has_links() {
            return Ok(());
        }
        for [a, b] in &cell.link_pairs {
            if only.is_some_and(|only| only != *a && only != *b) {
                continue;
            }
            let ((p, r), (q, s)) = (self.link_ball(*a), self.link_ball(*b));
            let reach = r + s + within.max(0.0);
            if (p - q).norm_squared() > reach * reach {
                continue;
            }
            for i in cell.links[*a].parts.clone() {
                for k in cell.links[*b].parts.clone() {
                    let pair = [number(i), number(k)];
                    if self.skips_constant && cell.is_constant(pair) {
                        continue;
                    }
                    let clearance = self.clearance_of_parts([*a, *b], pair, within);
                    if clearance < within {
                        within = visit(self, pair, clearance)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A lower bound of the signed clearance of two bodies, of which the first is a part; once it
    /// is more than `within`, there is no better one.
    pub(super) fn bound_of(&mut self, [a, b]: BodyPair, within: f64) -> f64 {
        let cell = self.cell;
        let first = cell.link_index(a).unwrap_or_default();
        if let Some(second) = cell.link_index(b) {
            return self.clearance_of_parts([first, second], [a, b], within);
        }
        let (centre, radius) = self.part_ball(first, a as usize);
        let obstacle = b as usize - cell.parts.len();
        let of_ball = cell.still.box_of(obstacle).clearance_from(&centre, radius);
        if of_ball >= within {
            return of_ball;
        }
        let (centre, radius) = cell.still.ball_of(obstacle);
        of_ball.max(self.placed_box(a).clearance_from(&centre, radius))
    }

    /// A lower bound of the signed clearance of two parts: of the ball around either from the box
    /// around the other.
    fn clearance_of_parts(&mut self, links: [usize; 2], pair: BodyPair, within: f64) -> f64 {
        let (p, r) = self.part_ball(links[0], pair[0] as usize);
        let (q, s) = self.part_ball(links[1], pair[1] as usize);
        let balls = length_at_most(&(p - q)) - r - s;
        if balls >= within {
            return balls;
        }
        let first = self.placed_box(pair[1]).clearance_from(&p, r);
        if first >= within {
            return first;
        }
        first.max(self.placed_box(pair[0]).clearance_from(&q, s))
    }
}

/// At least the radius of a ball that holds another one and balls around all its points.
#[inline(always)]
fn with_balls(around: f64, radius: f64) -> f64 {
    if radius > 0.0 { (around + radius) * (1.0 + BOUND_SLACK) } else { around }
}

/// How deep two rounded polytopes overlap; none: they touch, or are separated.
fn rounded_depth(pair: &RoundedPair<'_>, effort: &mut Effort<'_>) -> Result<Option<Deep>, Stopped> {
    let found = rounded::measure_depth(pair, false, &mut Witness::default(), effort)?;
    if let Some(why) = found.stopped {
        return Err(why);
    }
    let rounded::RoundedDepth { proof, lower, upper, direction, .. } = found;
    let is_deep = proof.verdict == Verdict::Overlapping;
    Ok(is_deep.then_some(Deep { lower, upper, direction }))
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("bodies are limited at the door")
}
