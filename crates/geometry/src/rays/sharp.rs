//! When a ray meets a triangle that it certainly meets, to the last bit: in numbers of twice the
//! precision, whose error bound nearly always tells between which two f64 numbers the time is.

use super::Ray;
use crate::Vec3;
use crate::number::double::{Double, Real, Triple, cross, dot};
use crate::number::rounding::CAST_LENGTHS;
use crate::pose::Pose;

/// Neighbours of the quotient of rounded numbers that are tried.
const TRIED: usize = 6;

/// The two neighbouring f64 numbers between which the time is strictly. None: that is not certain,
/// as where it is an f64 number itself.
///
/// With U the error of an operation and R a bound of the sum of sizes in a row of the rotation, the
/// coordinates of an edge e are known within `6 U R |e|`, and those of the way to a corner within
/// `8 U` of what they are sums of, which is at most M. So those of `N = u x v` are within
/// `32 U |u| |v| R²`; `N · corner` is within `200 U |u| |v| M R²` and `N · by` within
/// `160 U |u| |v| W R²`, with W the largest coordinate of the way. Twice that covers the rounding
/// of the bound, and underflow.
pub(super) fn time(ray: &Ray<'_>, corners: &[Vec3; 3], pose: &Pose) -> Option<[f64; 2]> {
    let row = 2.0;
    let edge = |at: usize| (corners[at] - corners[0]).amax();
    let area = edge(1) * edge(2) * row * row;
    let far = row * corners[0].amax() + pose.translation.amax() + ray.from.amax();
    let way = ray.by.amax();
    let are_plain = [edge(1), edge(2), far, way].iter().all(|size| CAST_LENGTHS.contains(size));
    if !are_plain {
        return None;
    }
    let (u, v) = (placed_edge(corners, 1, pose), placed_edge(corners, 2, pose));
    let normal = cross(&u, &v);
    let height = dot(&normal, &to_corner(ray, &corners[0], pose));
    let rate = dot(&normal, &[0, 1, 2].map(|k| Double::of(ray.by[k])));
    let (height, rate) = if rate.rounded() < 0.0 { (-height, -rate) } else { (height, rate) };
    let unit = <Double as Real>::UNIT;
    let (height_off, rate_off) = (400.0 * unit * area * far, 320.0 * unit * area * way);
    // Whether the time is later than this, or earlier.
    let is_later = |at: f64| {
        let rest = (height - rate * Double::of(at)).rounded();
        let sizes = height.rounded().abs() + (at * rate.rounded()).abs();
        let off = height_off + at.abs() * rate_off + 8.0 * unit * sizes;
        if rest > off {
            Some(true)
        } else if rest < -off {
            Some(false)
        } else {
            None
        }
    };
    let mut at = height.rounded() / rate.rounded();
    if !(at > 0.0 && at <= 1.0) {
        return None;
    }
    for _ in 0..TRIED {
        match (is_later(at)?, is_later(at.next_up())?) {
            (true, false) => return Some([at, at.next_up()]),
            (true, true) => at = at.next_up(),
            (false, _) => at = at.next_down(),
        }
    }
    None
}

/// An edge of a triangle from its first corner, in the world.
fn placed_edge(corners: &[Vec3; 3], at: usize, pose: &Pose) -> Triple<Double> {
    let edge = [0, 1, 2].map(|k| Double::difference(corners[at][k], corners[0][k]));
    [0, 1, 2].map(|row| {
        let turned = [0, 1, 2].map(|k| Double::of(pose.rotation[(row, k)]));
        dot(&turned, &edge)
    })
}

/// From the start of the ray to a corner.
fn to_corner(ray: &Ray<'_>, corner: &Vec3, pose: &Pose) -> Triple<Double> {
    [0, 1, 2].map(|row| {
        let product = |k: usize| Double::product(pose.rotation[(row, k)], corner[k]);
        let turned = (product(0) + product(1)) + product(2);
        turned + Double::difference(pose.translation[row], ray.from[row])
    })
}
