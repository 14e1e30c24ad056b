//! A convex body beside a height field: boxes around it, and how far triangles are from it along
//! their own normals, which is all that most of them need.

use crate::Vec3;
use crate::motion::Motion;
use crate::number::rounding::{BOUND_SLACK, OUTWARD, UNDERFLOW_FLOOR, UNIT, gamma};
use crate::pair::Placed;
use crate::polyhedron::placed::{magnitude, placed_box, slack_of};
use crate::polyhedron::tree::Extent;
use crate::pose::{Pose, STRETCH_MAX};

/// A convex body where it is, with a ball around each of its points.
#[derive(Clone, Copy, Debug)]
pub struct ConvexPiece<'a> {
    /// What the balls are around.
    pub placed: Placed<'a>,
    /// Of the balls, metres; 0: there are none.
    pub radius: f64,
}

/// The points of a body in one pose or two, rounded; the body moves from the one to the other.
#[derive(Debug)]
pub(super) struct SeenPiece {
    /// A box that holds it on all of its way, without its balls.
    pub(super) extent: Extent,
    /// At least how far a point is at any time from the segment between its places, metres.
    pub(super) stray: f64,
    /// By pose.
    points: Vec<Vec3>,
    /// How far one of their coordinates may be off, metres.
    slack: f64,
    /// At least the largest coordinate of a point.
    reach: f64,
    /// Of the balls around the points of each pose: middles and their radius.
    middles: Vec<Vec3>,
    ball: f64,
}

/// Bodies of more points are not looked at point by point.
const SCANNED_MAX: usize = 512;

/// How high a triangle that is placed reaches along a direction.
#[derive(Clone, Copy, Debug)]
struct Reaching {
    /// Of any length: taken exactly as it is here.
    direction: Vec3,
    /// At least its length.
    length: f64,
    /// At least and at most, along the direction.
    low: f64,
    high: f64,
}

impl Reaching {
    /// Of corners that are rounded to within `slack`.
    fn along(direction: Vec3, corners: &[Vec3; 3], slack: f64) -> Self {
        let reach = corners.iter().map(nalgebra::Vector3::amax).fold(0.0, f64::max);
        let error = error_along(&direction, reach, slack);
        let length = direction.norm() * (1.0 + BOUND_SLACK);
        let (low, high) = span(corners, &direction);
        Self { direction, length, low: low - error, high: high + error }
    }
}

/// The point of a triangle that is nearest to another point, rounded: a direction to try, and no
/// proof (C. Ericson, Real-Time Collision Detection, 2005, 5.1.5).
fn nearest_point([a, b, c]: &[Vec3; 3], p: &Vec3) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    a + ab * (vb / sum) + ac * (vc / sum)
}

/// How far a rounded product of a vector and a point may be off; `slack`: what a coordinate of the
/// point may be off by. Three products and two sums, of which each rounds once, and the bound.
fn error_along(normal: &Vec3, reach: f64, slack: f64) -> f64 {
    let sum = normal.abs().sum();
    (gamma(8) * reach + slack) * sum * (1.0 + BOUND_SLACK) + UNDERFLOW_FLOOR
}

/// How a body moves, as far as its ways are bounded.
struct WayBound {
    /// Where it is at the start, and where at the end if that is known.
    poses: [Option<Pose>; 2],
    /// See [`SeenPiece::stray`].
    stray: f64,
    /// What rounding may add to a coordinate of the last pose, metres.
    slack: f64,
}

impl WayBound {
    /// `reach`: at least how far a point of the body is from its frame's origin, metres.
    ///
    /// On a turn by θ a point at w from the pivot has an acceleration of at most θ² |w|, so that it
    /// is within θ² |w| / 8 of the chord; what a motion to a pose adds beside is linear in t.
    fn of(start: &Pose, motion: &Motion, reach: f64) -> Self {
        let arm = |pivot: &Option<Vec3>| {
            let lever = pivot.map_or(0.0, |pivot| (start.translation - pivot).norm());
            (STRETCH_MAX * reach + lever) * (1.0 + BOUND_SLACK)
        };
        match motion {
            Motion::Linear { velocity } => {
                let end = Pose { translation: start.translation + velocity, ..*start };
                let slack = UNIT * end.translation.amax();
                Self { poses: [Some(*start), Some(end)], stray: 0.0, slack }
            }
            Motion::ToPose { end, pivot, turn } => {
                let angle = Motion::turn_to(start, end, turn).angle;
                let stray = angle * angle * arm(pivot) / 8.0 * (1.0 + BOUND_SLACK);
                Self { poses: [Some(*start), Some(*end)], stray, slack: 0.0 }
            }
            Motion::Screw { pivot, velocity, angle, .. } => {
                let stray = velocity.norm() + angle.abs().min(2.0) * arm(pivot);
                Self { poses: [Some(*start), None], stray: stray * (1.0 + BOUND_SLACK), slack: 0.0 }
            }
        }
    }
}

/// At least how far any point of a body comes from where it begins, metres; `corners`: of the box
/// around it in its own frame.
pub fn travel_of(corners: [Vec3; 2], start: &Pose, motion: &Motion) -> f64 {
    if is_rest(motion) {
        return 0.0;
    }
    let [low, high] = corners;
    let reach = low.abs().sup(&high.abs()).norm() * (1.0 + BOUND_SLACK);
    let WayBound { poses, stray, .. } = WayBound::of(start, motion, reach);
    let [Some(start), Some(end)] = poses else { return stray };
    let turned = (end.rotation - start.rotation).norm() * reach;
    let moved = (end.translation - start.translation).norm();
    let far = start.translation.amax() + end.translation.amax() + 4.0 * reach;
    let travel = (turned + moved) * (1.0 + BOUND_SLACK) + gamma(64) * far + stray;
    if travel.is_nan() { f64::INFINITY } else { travel }
}

fn is_rest(motion: &Motion) -> bool {
    matches!(motion, Motion::Linear { velocity } if *velocity == Vec3::zeros())
}

impl SeenPiece {
    /// Where it stands.
    pub(super) fn still(piece: &ConvexPiece<'_>) -> Self {
        let way = WayBound { poses: [Some(piece.placed.pose), None], stray: 0.0, slack: 0.0 };
        Self::on(piece, &way)
    }

    /// On its way from where it stands.
    pub(super) fn moving(piece: &ConvexPiece<'_>, motion: &Motion) -> Self {
        if is_rest(motion) {
            return Self::still(piece);
        }
        let reach = piece.placed.body.bounds().radius_at_origin;
        Self::on(piece, &WayBound::of(&piece.placed.pose, motion, reach))
    }

    fn on(piece: &ConvexPiece<'_>, way: &WayBound) -> Self {
        let body = piece.placed.body;
        let bounds = body.bounds();
        let in_body = Extent { low: bounds.low, high: bounds.high };
        let is_scanned = body.vertices().len() <= SCANNED_MAX;
        let mut seen = Self {
            extent: in_body,
            stray: way.stray,
            points: Vec::new(),
            slack: 0.0,
            reach: 0.0,
            middles: Vec::new(),
            ball: bounds.radius * STRETCH_MAX * (1.0 + BOUND_SLACK),
        };
        let mut whole: Option<Extent> = None;
        for pose in way.poses.iter().flatten() {
            let magnitude = magnitude(&bounds.reach, pose);
            let slack = slack_of(magnitude, pose) + way.slack;
            let placed = placed_box(&in_body, pose, &pose.rotation.abs(), slack);
            whole = Some(whole.map_or(placed, |whole| whole.joined(&placed)));
            seen.slack = seen.slack.max(slack);
            seen.reach = seen.reach.max(magnitude + slack);
            seen.middles.push(pose.apply_rounded(&bounds.centre));
            if is_scanned {
                seen.points.extend(body.vertices().iter().map(|v| pose.apply_rounded(v)));
            }
        }
        seen.extent = whole.unwrap_or(in_body);
        seen
    }

    /// The box that holds all that is within a distance of it on its way.
    pub(super) fn within(&self, distance: f64) -> Extent {
        let by = (distance + self.stray) * OUTWARD;
        let Extent { low, high } = self.extent;
        Extent { low: low.map(|x| (x - by).next_down()), high: high.map(|x| (x + by).next_up()) }
    }

    /// At most how far it is from a triangle, on all of its way, metres; beyond `enough` it need
    /// not be the most that is known. Not positive where nothing is shown. The corners of the
    /// triangle are rounded to within `slack`.
    ///
    /// It is tried to tell them apart along the way from the triangle to the middle of the body,
    /// and along the normal of the triangle: first by the balls that hold the body, then by its
    /// points.
    pub(super) fn gap(&self, corners: &[Vec3; 3], slack: f64, enough: f64) -> f64 {
        let middle = self.middles.iter().sum::<Vec3>() / self.middles.len() as f64;
        let towards = Reaching::along(middle - nearest_point(corners, &middle), corners, slack);
        let of_ball = self.gap_of_ball(&towards);
        let is_enough = |gap: f64| gap > 0.0 && gap >= enough;
        if is_enough(of_ball) || self.points.is_empty() {
            return of_ball;
        }
        let [a, b, c] = corners;
        let across = Reaching::along((b - a).cross(&(c - a)), corners, slack);
        let along_normal = self.gap_along(&across, span(&self.points, &across.direction));
        let best = of_ball.max(along_normal);
        if is_enough(best) {
            return best;
        }
        best.max(self.gap_along(&towards, span(&self.points, &towards.direction)))
    }

    fn gap_of_ball(&self, triangle: &Reaching) -> f64 {
        let (low, high) = span(&self.middles, &triangle.direction);
        let spread = self.ball * triangle.length;
        self.gap_along(triangle, (low - spread, high + spread))
    }

    fn gap_along(&self, triangle: &Reaching, (low, high): (f64, f64)) -> f64 {
        let error = error_along(&triangle.direction, self.reach, self.slack);
        let between = (low - triangle.high).max(triangle.low - high) - error;
        // NaN, where sizes are too large or too small, shows nothing.
        if !(between > 0.0 && triangle.length > 0.0) {
            return 0.0;
        }
        between / triangle.length * (1.0 - BOUND_SLACK) - self.stray
    }
}

fn span(points: &[Vec3], along: &Vec3) -> (f64, f64) {
    points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), point| {
        let height = along.dot(point);
        (if height < low { height } else { low }, if height > high { height } else { high })
    })
}

/// At most how far two boxes are apart, metres.
pub(super) fn between(a: &Extent, b: &Extent) -> f64 {
    let apart = Vec3::from_fn(|k, _| (a.low[k] - b.high[k]).max(b.low[k] - a.high[k]).max(0.0));
    let norm = if apart.amax() > 0.0 { (apart / apart.amax()).norm() * apart.amax() } else { 0.0 };
    norm * (1.0 - BOUND_SLACK)
}
