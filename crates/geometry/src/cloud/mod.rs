//! Clouds: points with balls of one radius around them, as a camera or a scanner gives them.
//!
//! The body is the union of the balls; with radius 0, the points themselves. A hull and a cloud
//! overlap if the hull overlaps one of the balls, else they touch if it touches one. Their signed
//! distance is the least of those of the balls: the distance of the nearest, or minus the depth of
//! the deepest. Nothing that is answered depends on the tree: which ball is named is said by
//! numbers of points and by their own clearances.

mod ball;
mod forest;
mod leaves;
mod probe;

use std::cell::Cell;

use self::ball::BallBeside;
use self::forest::{Forest, Splice};
use self::leaves::{Corners, LEAF_POINTS, NumberedPoint, PointLeaf};
use self::probe::{HullProbe, SeenCloud, SeenPlane};
use crate::Vec3;
use crate::claim::{Reach, Verdict};
use crate::effort::{Effort, Stopped};
use crate::pair::Placed;
use crate::pose::{COORDINATE_MAX, Pose};
use crate::processor;
use arrayvec::ArrayVec;

pub use self::ball::BallClearance;

/// Largest absolute coordinate of a point of a cloud, and largest radius: so that the balls, too,
/// keep below [`COORDINATE_MAX`], in metres.
pub const CLOUD_REACH_MAX: f64 = COORDINATE_MAX / 8.0;

/// Points of a cloud at most: their numbers are of 32 bits.
pub const CLOUD_POINTS_MAX: usize = 1 << 28;

/// What is wrong with the numbers of a cloud, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloudError {
    /// A coordinate is NaN, infinite or beyond 2^957.
    #[error("point {index} must be finite and at most 2^957 in every coordinate")]
    BadPoint {
        /// Among those that were given.
        index: usize,
    },
    /// The radius is not a number from 0 to 2^957.
    #[error("radius must be finite, not negative and at most 2^957")]
    BadRadius,
    /// There are no points; a cloud has one at least.
    #[error("needs a point")]
    Empty,
    /// There are more points than numbers for them.
    #[error("has more than {CLOUD_POINTS_MAX} points")]
    TooMany,
    /// A change names points that are not there.
    #[error("names points up to {end} of {count}")]
    NoSuchPoints {
        /// One after the last that is named.
        end: usize,
        /// How many points there are.
        count: usize,
    },
    /// There was no time left.
    #[error("{0:?}")]
    Stopped(Stopped),
}

/// A cloud in its own frame, with a tree over its points.
#[derive(Clone, Debug)]
pub struct PointCloud {
    points: Vec<Vec3>,
    radius: f64,
    forest: Forest,
    corners: Corners,
}

fn check_points(points: &[Vec3]) -> Result<(), CloudError> {
    // Written so that NaN lands in the error.
    let is_good = |point: &Vec3| point.iter().all(|c| c.abs() <= CLOUD_REACH_MAX);
    match points.iter().position(|point| !is_good(point)) {
        Some(index) => Err(CloudError::BadPoint { index }),
        None => Ok(()),
    }
}

impl PointCloud {
    /// Balls of this radius, metres, around these points, which may be equal; builds the tree.
    ///
    /// ```
    /// use clearance_geometry::{Vec3, cloud::PointCloud, effort::Effort};
    ///
    /// let points = vec![Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0)];
    /// let cloud = PointCloud::new(points, 0.01, &Effort::unlimited()).unwrap();
    /// assert_eq!(cloud.points().len(), 2);
    /// assert!(PointCloud::new(vec![], 0.01, &Effort::unlimited()).is_err());
    /// ```
    pub fn new(points: Vec<Vec3>, radius: f64, effort: &Effort<'_>) -> Result<Self, CloudError> {
        if points.len() > CLOUD_POINTS_MAX {
            return Err(CloudError::TooMany);
        }
        if !(0.0..=CLOUD_REACH_MAX).contains(&radius) {
            return Err(CloudError::BadRadius);
        }
        check_points(&points)?;
        let forest = Forest::build(&points, effort).map_err(CloudError::Stopped)?;
        let corners = forest.corners().ok_or(CloudError::Empty)?;
        Ok(Self { points, radius, forest, corners })
    }

    /// Takes `removed` points from number `first` on out of the cloud and puts others in their
    /// place; those after them get other numbers where more or fewer come than go. What is kept of
    /// the other points stays. On an error the cloud is as it was.
    pub fn splice(
        &mut self,
        first: usize,
        removed: usize,
        come: &[Vec3],
        effort: &Effort<'_>,
    ) -> Result<(), CloudError> {
        let (count, end) = (self.points.len(), first.saturating_add(removed));
        if end > count {
            return Err(CloudError::NoSuchPoints { end, count });
        }
        if come.len() > CLOUD_POINTS_MAX - (count - removed) {
            return Err(CloudError::TooMany);
        }
        if removed == count && come.is_empty() {
            return Err(CloudError::Empty);
        }
        check_points(come)?;
        let splice = Splice { gone: first..end, come };
        self.forest.splice(&splice, effort).map_err(CloudError::Stopped)?;
        self.points.splice(first..end, come.iter().copied());
        self.corners = self.forest.corners().ok_or(CloudError::Empty)?;
        Ok(())
    }

    /// The points, metres, in the order in which they were given.
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// That of every ball, metres.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The box around the points, metres, exactly.
    pub fn corners(&self) -> [Vec3; 2] {
        self.corners
    }

    /// Memory that it takes beyond its own size, bytes.
    pub fn heap_bytes(&self) -> usize {
        self.points.capacity() * size_of::<Vec3>() + self.forest.heap_bytes()
    }

    /// What it takes at most to build one of so many points, the points included, bytes.
    pub fn building_bytes(points: usize) -> usize {
        points * size_of::<Vec3>() + Forest::building_bytes(points)
    }
}

/// A cloud and where it is.
#[derive(Clone, Debug)]
pub struct PlacedCloud<'a> {
    cloud: &'a PointCloud,
    seen: SeenCloud,
    /// Of the balls around all points of the hull that it is asked about, metres.
    hull_radius: f64,
}

/// A hull, and how near to it balls are asked for.
#[derive(Clone, Copy, Debug)]
pub struct AroundHull<'h> {
    /// The hull, placed.
    pub hull: Placed<'h>,
    /// At least that of its pose ([`Pose::skew`]).
    pub skew: f64,
    /// Metres.
    pub within: f64,
}

/// The nearest ball of a cloud, or the deepest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestBall {
    /// The number of its point; of several that may be the nearest, by what is known of them, the
    /// one with the least upper end, and of these the first.
    pub point: u32,
    /// Of that ball; the lower end is at most the signed distance of any other.
    pub clearance: BallClearance,
}

/// Undecided points that are kept before they are looked at exactly: most bodies that overlap do so
/// at a point that is easily seen to.
const OPEN_MAX: usize = 64;

/// What ends a walk over leaves.
enum LookEnd {
    Overlap,
    Stopped(Stopped),
}

impl<'a> PlacedCloud<'a> {
    /// Places a cloud.
    pub fn new(cloud: &'a PointCloud, pose: Pose) -> Self {
        Self::with_skew(cloud, pose, pose.skew())
    }

    /// The same where the skew of the pose is known ([`Pose::skew`]).
    #[inline]
    pub fn with_skew(cloud: &'a PointCloud, pose: Pose, skew: f64) -> Self {
        let [low, high] = cloud.corners;
        let size = low.abs().sup(&high.abs()).sum();
        Self { cloud, seen: SeenCloud { pose, skew, size }, hull_radius: 0.0 }
    }

    /// The same beside hulls with balls of this radius, metres, around all their points: what is
    /// asked of a hull is answered of such a rounded one.
    #[must_use]
    #[inline]
    pub fn beside_rounded(self, hull_radius: f64) -> Self {
        Self { hull_radius, ..self }
    }

    /// That of every ball, metres.
    pub fn radius(&self) -> f64 {
        self.cloud.radius
    }

    /// That of the balls around the points of a hull, and that of the cloud's.
    fn radii(&self) -> [f64; 2] {
        [self.hull_radius, self.cloud.radius]
    }

    /// At least the sum of both.
    fn radii_above(&self) -> f64 {
        Reach::of_rounded(self.radii(), 0.0).upper()
    }

    /// Where a point is, rounded.
    pub fn place(&self, point: u32) -> Vec3 {
        self.seen.pose.apply_rounded(&self.cloud.points[point as usize])
    }

    /// How a hull stands beside the cloud with another margin around its balls, exactly: touching
    /// is to be as far from a point as the sum of radius and margin. `skew` is at least that of the
    /// hull's pose ([`Pose::skew`]).
    pub fn verdict(
        &self,
        hull: &Placed<'_>,
        skew: f64,
        margin: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Verdict, Stopped> {
        processor::dispatch(
            #[inline(always)]
            || self.verdict_inlined(hull, skew, margin, effort),
        )
    }

    #[inline(always)]
    fn verdict_inlined(
        &self,
        hull: &Placed<'_>,
        skew: f64,
        margin: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Verdict, Stopped> {
        let reach = Reach::of_rounded(self.radii(), margin);
        let within = reach.upper();
        let probe = HullProbe::new(hull, skew, &self.seen);
        let (mut open, mut touches, mut last) = (Vec::new(), false, None);
        let plane = Cell::new(SeenPlane::NONE);
        let mut settle = |open: &mut Vec<u32>, effort: &mut Effort<'_>| {
            for point in open.drain(..) {
                // Points may be equal, and a million of them may be.
                let at = self.cloud.points[point as usize];
                if last.replace(at) == Some(at) {
                    continue;
                }
                match self.ball(hull, point).verdict(reach, effort).map_err(LookEnd::Stopped)? {
                    Verdict::Overlapping => return Err(LookEnd::Overlap),
                    Verdict::Touching => touches = true,
                    Verdict::Separated => {}
                }
            }
            Ok(())
        };
        let walked = self.cloud.forest.walk(
            within,
            #[inline(always)]
            |node| probe.boxes(node, &plane.get()),
            #[inline(always)]
            |leaf| {
                effort.spend_step().map_err(LookEnd::Stopped)?;
                look_at(&probe, leaf, within, &plane, &mut open)?;
                if open.len() > OPEN_MAX {
                    settle(&mut open, effort)?;
                }
                Ok(within)
            },
        );
        match walked.and_then(|()| settle(&mut open, effort)) {
            Ok(()) if touches => Ok(Verdict::Touching),
            Ok(()) => Ok(Verdict::Separated),
            Err(LookEnd::Overlap) => Ok(Verdict::Overlapping),
            Err(LookEnd::Stopped(why)) => Err(why),
        }
    }

    /// Calls `visit` with every point whose ball is not shown to be farther from a hull than
    /// asked for, the near ones first as far as boxes tell; goes on with the distance, metres, that
    /// it returns. For who asks more about what the hull holds. Of neighbours that are equal one is
    /// visited.
    pub fn each_near(
        &self,
        around: &AroundHull<'_>,
        effort: &mut Effort<'_>,
        mut visit: impl FnMut(u32, &mut Effort<'_>) -> Result<f64, Stopped>,
    ) -> Result<(), Stopped> {
        let probe = HullProbe::new(&around.hull, around.skew, &self.seen);
        let radius = self.radii_above();
        let mut known = with_radius(around.within, radius);
        let mut last = None;
        self.cloud.forest.walk(
            known,
            |node| probe.boxes(node, &SeenPlane::NONE),
            |leaf| {
                effort.spend_step()?;
                for NumberedPoint { at, number } in leaf.points() {
                    if probe.are_beyond(&probe.see(leaf), known) {
                        break;
                    }
                    if last.replace(at) != Some(at) {
                        known = with_radius(visit(number, effort)?, radius);
                    }
                }
                Ok(known)
            },
        )
    }

    /// A point in the frame of the cloud.
    pub fn point(&self, number: u32) -> Vec3 {
        self.cloud.points[number as usize]
    }

    /// Whose frame to world the cloud is in.
    pub fn pose(&self) -> &Pose {
        &self.seen.pose
    }

    fn ball<'h>(&self, hull: &Placed<'h>, point: u32) -> BallBeside<'h> {
        BallBeside::new(hull, self.cloud.points[point as usize], &self.seen.pose)
    }

    /// The ball of the cloud with the least signed distance from the hull; none: all are farther
    /// than `above`.
    pub fn nearest(
        &self,
        hull: &Placed<'_>,
        skew: f64,
        above: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<NearestBall>, Stopped> {
        processor::dispatch(
            #[inline(always)]
            || self.nearest_inlined(hull, skew, above, effort),
        )
    }

    #[inline(always)]
    fn nearest_inlined(
        &self,
        hull: &Placed<'_>,
        skew: f64,
        above: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<NearestBall>, Stopped> {
        let probe = HullProbe::new(hull, skew, &self.seen);
        let mut search = BallSearch::new(above, self.radii_above());
        let plane = Cell::new(SeenPlane::NONE);
        self.cloud.forest.walk(
            search.known,
            #[inline(always)]
            |node| probe.boxes(node, &plane.get()),
            #[inline(always)]
            |leaf| {
                effort.spend_step()?;
                search.plane = plane.get();
                self.measure_leaf(&mut search, &probe, leaf, effort)?;
                plane.set(search.plane);
                Ok::<f64, Stopped>(search.known)
            },
        )?;
        search.found.retain(|one| one.lower <= search.known);
        self.nearest_of(hull, &search.found, above, effort)
    }

    /// Adds the points of a leaf that may be the nearest, the lowest first.
    #[inline(always)]
    fn measure_leaf(
        &self,
        search: &mut BallSearch,
        probe: &HullProbe<'_>,
        leaf: &PointLeaf,
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        let seen = probe.see(leaf);
        if probe.are_beyond(&seen, search.known) {
            return Ok(());
        }
        let heights = probe.heights(&seen, search.known, &mut search.plane);
        let tops = heights.unwrap_or([f64::NEG_INFINITY; LEAF_POINTS]);
        let mut lanes: ArrayVec<usize, LEAF_POINTS> = (0..leaf.count as usize).collect();
        lanes.sort_unstable_by(|a, b| tops[*a].total_cmp(&tops[*b]));
        for lane in lanes {
            let (point, lower) = (leaf.numbers[lane], tops[lane] - probe.error());
            if lower > search.known {
                break;
            }
            if let Some(last) = search.found.last_mut().filter(|last| self.are_one(last, point)) {
                last.point = last.point.min(point);
                continue;
            }
            let depth_error = probe.depth_error(&seen, lane);
            let is_inside = heights.is_some() && tops[lane] < -depth_error;
            let (upper, exact) = if is_inside {
                (tops[lane] + depth_error, None)
            } else {
                let exact = self.ball(probe.hull(), point).clearance(self.radii(), effort)?;
                (with_radius(exact.upper, self.radii_above()), Some(exact))
            };
            search.add(BallCandidate { lower, point, exact }, upper);
        }
        Ok(())
    }

    /// Whether a point is where a candidate is.
    fn are_one(&self, candidate: &BallCandidate, point: u32) -> bool {
        let [a, b] = [candidate.point, point].map(|point| &self.cloud.points[point as usize]);
        a == b
    }

    /// The nearest of these, of which one is.
    fn nearest_of(
        &self,
        hull: &Placed<'_>,
        found: &[BallCandidate],
        above: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<NearestBall>, Stopped> {
        let mut best: Option<NearestBall> = None;
        let mut lower = f64::INFINITY;
        for BallCandidate { point, exact, .. } in found.iter().copied() {
            let clearance = match exact {
                Some(known) => known,
                None => self.ball(hull, point).clearance(self.radii(), effort)?,
            };
            lower = lower.min(clearance.lower);
            let is_first = best.is_none_or(|best| {
                let known = best.clearance.upper;
                clearance.upper < known || clearance.upper <= known && point < best.point
            });
            if is_first {
                best = Some(NearestBall { point, clearance });
            }
        }
        let best = best.map(|best| {
            let clearance = BallClearance { lower, ..best.clearance };
            NearestBall { clearance, ..best }
        });
        Ok(best.filter(|best| best.clearance.lower <= above))
    }
}

/// A point that may be the nearest.
#[derive(Clone, Copy, Debug)]
struct BallCandidate {
    /// At most its signed distance, of the point and not of the ball, metres.
    lower: f64,
    point: u32,
    /// That of the ball, where it is known already.
    exact: Option<BallClearance>,
}

/// A search for the nearest ball.
#[derive(Debug)]
struct BallSearch {
    found: Vec<BallCandidate>,
    /// So many may be found before those are left out that are no candidates any more.
    room: usize,
    /// At least the signed distance of the nearest point, metres.
    known: f64,
    /// What to look at first.
    plane: SeenPlane,
}

impl BallSearch {
    /// For a ball of this radius that is no farther than `above`.
    fn new(above: f64, radius: f64) -> Self {
        let known = with_radius(above, radius);
        Self { found: Vec::new(), room: OPEN_MAX, known, plane: SeenPlane::NONE }
    }

    fn add(&mut self, candidate: BallCandidate, upper: f64) {
        self.known = self.known.min(upper);
        self.found.push(candidate);
        if self.found.len() > self.room {
            self.found.retain(|one| one.lower <= self.known);
            self.room = 2 * self.found.len().max(OPEN_MAX);
        }
    }
}

/// At least the signed distance of a point whose ball has this one: a sum rounds once.
fn with_radius(clearance: f64, radius: f64) -> f64 {
    (clearance + radius).next_up()
}

/// Looks at the points of a leaf: those that are neither farther than `within` for certain nor
/// inside the hull are left open.
#[inline(always)]
fn look_at(
    probe: &HullProbe<'_>,
    leaf: &PointLeaf,
    within: f64,
    plane: &Cell<SeenPlane>,
    open: &mut Vec<u32>,
) -> Result<(), LookEnd> {
    let seen = probe.see(leaf);
    if probe.are_beyond(&seen, within) {
        return Ok(());
    }
    let mut last = plane.get();
    let heights = probe.heights(&seen, within, &mut last);
    plane.set(last);
    let Some(heights) = heights else {
        open.extend_from_slice(&leaf.numbers[..leaf.count as usize]);
        return Ok(());
    };
    let beyond = within + probe.error();
    for (lane, top) in heights.into_iter().enumerate().take(leaf.count as usize) {
        if top < 0.0 && top < -probe.depth_error(&seen, lane) {
            return Err(LookEnd::Overlap);
        }
        let is_beyond = top > beyond;
        if !is_beyond {
            open.push(leaf.numbers[lane]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
