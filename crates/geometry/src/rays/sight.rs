//! How a ray and a triangle stand in one frame, as far as f64 arithmetic can tell.

use super::local::LocalRay;
use crate::Vec3;
use crate::number::rounding::{UNDERFLOW_FLOOR, gamma};

/// How a ray comes through a triangle's plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Facing {
    /// Against its normal: from outside of what it bounds.
    Against,
    /// Along its normal: from inside.
    Along,
}

/// What is seen of a triangle that a ray may meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct TriangleSight {
    /// At most when it meets the triangle.
    pub(super) from: f64,
    /// At least when it meets the triangle, or its plane; infinite where that is not known.
    pub(super) until: f64,
    /// How it comes through the plane, if that is certain.
    pub(super) facing: Option<Facing>,
    /// It certainly passes within all three edges; where the times are within t from 0 to 1, it
    /// certainly meets the triangle.
    pub(super) is_within: bool,
}

/// Looks at a triangle; none: the ray certainly misses it up to `limit`.
///
/// Seen from the start of the ray the corners are p, q, r, each off by at most `off` in every
/// coordinate, and d is the way, off by `by_off`. The ray passes within the edges if the three
/// products `d · (p x q)` and so on have one sign: six terms each, of which one is off by at most
/// `by_off P² + 2 D off P` for coordinates of at most P and D, the errors included, and by a few
/// roundings. With `N = (q - p) x (r - p)`, whose corners are exact, the time is `N · p / N · d`.
/// Of edges of coordinates of at most A and B no coordinate of N is more than 2 A B, and each is
/// within `6 u A B`, so that `N · p` is within `36 u A B P` for all roundings.
#[inline(always)]
pub(super) fn look(ray: &LocalRay, corners: &[Vec3; 3], limit: f64) -> Option<TriangleSight> {
    let (d, way) = (ray.by, ray.by.amax() + ray.by_off);
    let [a, b, c] = corners;
    let (p, q, r) = (a - ray.from, b - ray.from, c - ray.from);
    let reach = p.amax().max(q.amax()).max(r.amax()) + ray.off;
    let (u, v) = (corners[1] - corners[0], corners[2] - corners[0]);
    let area = u.amax() * v.amax();
    let normal = u.cross(&v);
    // What is below the plane at t = 0, and how much of that the ray goes.
    let (height, rate) = (normal.dot(&p), normal.dot(&d));
    let size = 3.0 * (normal.amax() + gamma(16) * area);
    let height_off = size * ray.off + gamma(64) * area * reach + UNDERFLOW_FLOOR;
    let rate_off = size * ray.by_off + gamma(64) * area * way + UNDERFLOW_FLOOR;
    let both_off = height_off + rate_off + gamma(4) * (height.abs() + rate.abs());
    if height > height_off && height - rate > both_off
        || height < -height_off && height - rate < -both_off
    {
        return None;
    }
    let products = [p.cross(&q).dot(&d), q.cross(&r).dot(&d), r.cross(&p).dot(&d)];
    let off = 12.0 * (ray.by_off * reach * reach + 2.0 * way * ray.off * reach)
        + gamma(32) * 6.0 * way * reach * reach
        + UNDERFLOW_FLOOR;
    let (is_left, is_right) =
        (products.iter().any(|x| *x > off), products.iter().any(|x| *x < -off));
    if is_left && is_right {
        return None;
    }
    let is_within = products.iter().all(|x| *x > off) || products.iter().all(|x| *x < -off);
    let facing = if rate > rate_off {
        Some(Facing::Along)
    } else if rate < -rate_off {
        Some(Facing::Against)
    } else {
        None
    };
    let (from, until) = times(facing, [height, height_off], [rate, rate_off]);
    (from <= limit && until >= 0.0).then_some(TriangleSight { from, until, facing, is_within })
}

/// Around `height / rate`.
fn times(
    facing: Option<Facing>,
    [height, height_off]: [f64; 2],
    [rate, off]: [f64; 2],
) -> (f64, f64) {
    let (height, rate) = match facing {
        None => return (0.0, f64::INFINITY),
        Some(Facing::Along) => (height, rate),
        Some(Facing::Against) => (-height, -rate),
    };
    let (low, high) = (height - height_off, height + height_off);
    let (slow, fast) = (rate - off, rate + off);
    let from = low / if low > 0.0 { fast } else { slow };
    let until = high / if high > 0.0 { slow } else { fast };
    let (from, until) = (from - from.abs() * gamma(16), until + until.abs() * gamma(16));
    if from.is_nan() || until.is_nan() { (0.0, f64::INFINITY) } else { (from.max(0.0), until) }
}
