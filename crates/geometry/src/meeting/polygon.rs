//! The contact polygon: what two bodies that touch have in common.
//!
//! A plane that has them on its two sides holds all of it, so it is what a face of P and one of Q
//! in that plane share (each may also be an edge or a corner), and the same whichever plane that
//! is. Which vertices are in the plane is decided exactly; the corners that they make are clipped
//! and rounded in floating point.

use crate::Vec3;
use crate::claim::{Direction, StaticProof};
use crate::difference::exact::Difference;
use crate::difference::heading::unit_vector;
use crate::effort::{Effort, Stopped};
use crate::number::dyadic::Dyadic;
use crate::number::rounding::{UNIT, length};
use crate::number::scaled::{Integers, dot, negated};
use crate::number::tolerance::{CORNER_CLIPPED, CORNER_MERGED, LEVEL};
use crate::pair::{Pair, Placed};
use crate::penetration::{self, DepthBound, compare_decided};
use crate::separation::{METHODS, decide};
use crate::witness::Witness;

/// A point in the plane.
type Point2 = [f64; 2];

/// The corners of what two bodies that touch have in common, in the world: one point, the two ends
/// of a segment, or the corners of a polygon in order, counter-clockwise for whoever looks against
/// the normal out of Q. Each is within [`CORNER_MERGED`] times the larger body's size of the exact
/// one, and rounding of the coordinates. Corners closer than that are one, and corners that stand
/// out by less are none. Empty unless the bodies touch.
pub fn contact_polygon(pair: &Pair<'_>, effort: &mut Effort<'_>) -> Result<Vec<Vec3>, Stopped> {
    let decision = decide(pair, &METHODS[0], &mut Witness::default(), effort)?;
    let StaticProof::Touching { direction, .. } = &decision.proof else { return Ok(Vec::new()) };
    polygon_across(pair, direction, [0.0; 2], effort)
}

/// The same of bodies that touch or overlap, by less than a depth in metres, exactly. Of those that
/// overlap it is what their faces have in common that are farthest in each other along the shortest
/// way out, as seen along it, in the plane of Q's; where several ways out are equally short but for
/// rounding, along one of them. Empty of all others.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::effort::Effort;
/// use clearance_geometry::meeting::contact_polygon_within;
///
/// let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// // One lies on the other by a half, and is in it by a sixteenth.
/// let above = Pose::translation(0.5, 0.0, 0.9375);
/// let pair = Pair::new(&cube, above, &cube, Pose::identity());
/// let effort = &mut Effort::unlimited();
/// assert!(contact_polygon_within(&pair, 0.0625, effort).unwrap().is_empty());
/// let corners = contact_polygon_within(&pair, 0.125, effort).unwrap();
/// assert_eq!(corners.len(), 4);
/// assert!(corners.iter().all(|at| at.z == 1.0 && (at.x == 0.5 || at.x == 1.0)));
/// ```
pub fn contact_polygon_within(
    pair: &Pair<'_>,
    depth: f64,
    effort: &mut Effort<'_>,
) -> Result<Vec<Vec3>, Stopped> {
    let decision = decide(pair, &METHODS[0], &mut Witness::default(), effort)?;
    if !matches!(decision.proof, StaticProof::Overlapping { .. }) {
        return contact_polygon(pair, effort);
    }
    let bound = DepthBound::new(Dyadic::from(depth));
    if compare_decided(pair, &decision.proof, &bound, false, effort)?.compared.is_within {
        return Ok(Vec::new());
    }
    let found = penetration::measure(pair, false, &mut Witness::default(), effort)?;
    match (found.face, found.stopped) {
        (Some(out), None) => polygon_across(pair, &out.reversed(), [0.0; 2], effort),
        (_, Some(stopped)) => Err(stopped),
        (None, None) => Err(Stopped::Unresolved),
    }
}

/// The corners of what two bodies that touch have in common, which are polytopes with balls of
/// these radii around their points, metres: a direction is given to which their common plane is
/// square. Of those that overlap, of what they have in common as seen along it, in the plane of Q.
pub(crate) fn polygon_across(
    pair: &Pair<'_>,
    direction: &Direction,
    [radius_p, radius_q]: [f64; 2],
    effort: &mut Effort<'_>,
) -> Result<Vec<Vec3>, Stopped> {
    let Some(towards_q) = unit_vector(pair, direction) else { return Ok(Vec::new()) };
    effort.cost.exact_stages += 1;
    let [mut of_p, mut of_q] = faces(pair, direction, &towards_q, effort);
    // The surface is as far out of the plane of a face as the balls reach.
    of_p.iter_mut().for_each(|at| *at += towards_q * radius_p);
    of_q.iter_mut().for_each(|at| *at -= towards_q * radius_q);
    let Some(origin) = of_q.first() else { return Ok(Vec::new()) };
    let plane = ContactPlane::through(*origin, &towards_q, pair, radius_p.max(radius_q));
    let [of_p, of_q] = [plane.polygon(&of_p), plane.polygon(&of_q)];
    // The one with fewer corners is cut at the sides of the other one.
    let (subject, sides) = if of_p.len() < of_q.len() { (of_p, of_q) } else { (of_q, of_p) };
    let mut cut = subject;
    for side in plane.half_planes(&sides) {
        effort.spend_step()?;
        cut = side.cut(&cut);
    }
    Ok(plane.corners(&cut).iter().map(|at| plane.in_world(at)).collect())
}

/// The vertices of P, and those of Q, that lie in the plane across the direction that has them on
/// its two sides, in the world.
fn faces(
    pair: &Pair<'_>,
    direction: &Direction,
    towards_q: &Vec3,
    effort: &mut Effort<'_>,
) -> [Vec<Vec3>; 2] {
    let mut m = Difference::new(pair);
    let exact = m.direction(direction);
    let m = &m;
    let of_p = |i: u32| m.vertex_of_p(i);
    let of_q = |j: u32| m.vertex_of_q(j);
    let place = |placed: &Placed<'_>, at: Vec<u32>| {
        at.into_iter()
            .map(|at| placed.pose.apply_rounded(&placed.body.vertices()[at as usize]))
            .collect()
    };
    [
        place(&pair.p, farthest(&pair.p, towards_q, &exact, &of_p, effort)),
        place(&pair.q, farthest(&pair.q, &-towards_q, &negated(&exact), &of_q, effort)),
    ]
}

/// The vertices that are exactly farthest along a direction.
pub(crate) fn farthest(
    placed: &Placed<'_>,
    rounded: &Vec3,
    exact: &Integers,
    vertex: &dyn Fn(u32) -> Integers,
    effort: &mut Effort<'_>,
) -> Vec<u32> {
    let places: Vec<Vec3> =
        placed.body.vertices().iter().map(|v| placed.pose.apply_rounded(v)).collect();
    effort.cost.visited += places.len() as u64;
    let heights: Vec<f64> = places.iter().map(|place| rounded.dot(place)).collect();
    let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let largest = places.iter().fold(0.0_f64, |largest, place| largest.max(place.amax()));
    let is_near = |height: &f64| highest - height <= LEVEL * largest;
    let near: Vec<(u32, dashu_int::IBig)> = (0..)
        .zip(&heights)
        .filter(|(_, height)| is_near(height))
        .map(|(at, _)| (at, dot(exact, &vertex(at))))
        .collect();
    let Some(top) = near.iter().map(|(_, height)| height).max().cloned() else {
        return Vec::new();
    };
    near.into_iter().filter(|(_, height)| *height == top).map(|(at, _)| at).collect()
}

/// The plane of the contact, with coordinates.
struct ContactPlane {
    origin: Vec3,
    /// Square to each other and to the normal out of Q, and with it right-handed.
    axes: [Vec3; 2],
    /// Corners closer than this are one, metres.
    merged: f64,
    /// How far beyond a side a point may be that is not cut off, metres.
    slack: f64,
}

impl ContactPlane {
    fn through(origin: Vec3, towards_q: &Vec3, pair: &Pair<'_>, radius: f64) -> Self {
        let out = -towards_q;
        let mut least = Vec3::zeros();
        least[out.iamin()] = 1.0;
        let first = least.cross(&out).normalize();
        let of = |placed: &Placed<'_>| {
            let bounds = placed.body.bounds();
            let world = placed.pose.apply_rounded(&bounds.centre).amax();
            ((bounds.high - bounds.low).amax(), world)
        };
        let ((size_p, world_p), (size_q, world_q)) = (of(&pair.p), of(&pair.q));
        let (size, world) = (size_p.max(size_q), world_p.max(world_q).max(radius));
        let rounding = 64.0 * UNIT * (size + world);
        Self {
            origin,
            axes: [first, out.cross(&first)],
            merged: (CORNER_MERGED * size).max(4.0 * rounding),
            slack: (CORNER_CLIPPED * size).max(rounding),
        }
    }

    /// The corners of a face in order, counter-clockwise.
    fn polygon(&self, face: &[Vec3]) -> Vec<Point2> {
        let mut points: Vec<Point2> =
            face.iter().map(|at| self.axes.map(|axis| axis.dot(&(at - self.origin)))).collect();
        let count = points.len() as f64;
        let mean = [0, 1].map(|k| points.iter().map(|point| point[k]).sum::<f64>() / count);
        // Grows with the angle around the mean, in [-2, 2].
        let angle = |point: &Point2| {
            let [x, y] = [0, 1].map(|k| point[k] - mean[k]);
            let size = x.abs() + y.abs();
            if size > 0.0 { (1.0 - x / size).copysign(y) } else { 0.0 }
        };
        points.sort_by(|a, b| angle(a).total_cmp(&angle(b)).then(a[0].total_cmp(&b[0])));
        points
    }

    /// The half planes whose common part a polygon, a segment or a point is.
    fn half_planes(&self, corners: &[Point2]) -> Vec<HalfPlane> {
        let slack = self.slack;
        match corners {
            [] => Vec::new(),
            [point] => {
                let [x, y] = *point;
                let across = |out: Point2| HalfPlane::at([x, y], out, slack);
                [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]].map(across).into()
            }
            [a, b] => {
                let [x, y] = along(a, b);
                vec![
                    HalfPlane::at(*a, [y, -x], slack),
                    HalfPlane::at(*a, [-y, x], slack),
                    HalfPlane::at(*a, [-x, -y], slack),
                    HalfPlane::at(*b, [x, y], slack),
                ]
            }
            corners => {
                let next = corners.iter().cycle().skip(1);
                let side = |(a, b): (&Point2, &Point2)| {
                    let [x, y] = along(a, b);
                    HalfPlane::at(*a, [y, -x], slack)
                };
                corners.iter().zip(next).map(side).collect()
            }
        }
    }

    /// The corners that stand out, of points in order around.
    fn corners(&self, points: &[Point2]) -> Vec<Point2> {
        let Some(&start) = points.first() else { return Vec::new() };
        let farthest_from = |from: &Point2| {
            let far = |a: &&Point2, b: &&Point2| distance(from, a).total_cmp(&distance(from, b));
            points.iter().max_by(far).copied().unwrap_or(*from)
        };
        let a = farthest_from(&start);
        let b = farthest_from(&a);
        if distance(&a, &b) <= self.merged {
            return vec![a];
        }
        let [x, y] = along(&a, &b);
        let off = |point: &Point2| (x * (point[1] - a[1]) - y * (point[0] - a[0])).abs();
        if points.iter().all(|point| off(point) <= self.merged) {
            return vec![a, b];
        }
        let mut kept: Vec<Point2> = Vec::new();
        for point in points {
            if kept.last().is_none_or(|last| distance(last, point) > self.merged) {
                kept.push(*point);
            }
        }
        while kept.len() > 1 && distance(&kept[0], &kept[kept.len() - 1]) <= self.merged {
            kept.pop();
        }
        // One after the other: without a corner, its neighbours may stand out more.
        let mut at = 0;
        while kept.len() > 3 && at < kept.len() {
            let [before, next] =
                [at + kept.len() - 1, at + 1].map(|index| kept[index % kept.len()]);
            let [x, y] = along(&before, &next);
            let [dx, dy] = [kept[at][0] - before[0], kept[at][1] - before[1]];
            if y * dx - x * dy <= self.merged {
                kept.remove(at);
            } else {
                at += 1;
            }
        }
        kept
    }

    fn in_world(&self, at: &Point2) -> Vec3 {
        self.origin + self.axes[0] * at[0] + self.axes[1] * at[1]
    }
}

/// What is not beyond a line.
struct HalfPlane {
    /// Of length 1.
    out: Point2,
    level: f64,
    /// How far beyond a point may be that is not cut off.
    slack: f64,
}

impl HalfPlane {
    fn at(point: Point2, out: Point2, slack: f64) -> Self {
        Self { out, level: out[0] * point[0] + out[1] * point[1], slack }
    }

    fn beyond(&self, point: &Point2) -> f64 {
        self.out[0] * point[0] + self.out[1] * point[1] - self.level
    }

    /// What of a polygon is not beyond: I. Sutherland, G. Hodgman, "Reentrant polygon clipping",
    /// 1974.
    fn cut(&self, corners: &[Point2]) -> Vec<Point2> {
        let mut kept = Vec::with_capacity(corners.len() + 1);
        for (at, b) in corners.iter().enumerate() {
            let a = &corners[(at + corners.len() - 1) % corners.len()];
            let [from, to] = [self.beyond(a), self.beyond(b)];
            let [is_from_beyond, is_to_beyond] = [from, to].map(|by| by > self.slack);
            if is_from_beyond != is_to_beyond {
                let part = (from / (from - to)).clamp(0.0, 1.0);
                kept.push([0, 1].map(|k| a[k] + part * (b[k] - a[k])));
            }
            if !is_to_beyond {
                kept.push(*b);
            }
        }
        kept
    }
}

fn distance(a: &Point2, b: &Point2) -> f64 {
    length(&Vec3::new(b[0] - a[0], b[1] - a[1], 0.0))
}

/// The direction from a to b, of length 1.
fn along(a: &Point2, b: &Point2) -> Point2 {
    let length = distance(a, b);
    if length > 0.0 { [0, 1].map(|k| (b[k] - a[k]) / length) } else { [0.0, 0.0] }
}

#[cfg(test)]
mod overlap_tests;
#[cfg(test)]
mod tests;
