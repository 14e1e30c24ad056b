//! Volume and bounds of a polytope, rounded.

use crate::number::tolerance;
use std::f64::consts::PI;

use dashu_int::IBig;
use dashu_int::ops::BitTest;

use super::Bounds;
use crate::Vec3;
use crate::csr::Csr;
use crate::number::binary::{exponent_of, split};
use crate::number::dyadic::Dyadic;
use crate::number::orientation::Plane;
use crate::number::rounding::gamma;
use crate::number::scale::PowerOfTwo;

/// Relative error of a volume that comes from f64 arithmetic; past it, exact arithmetic takes over.
/// A thousandth of the 1e-9 that is promised, and a hundred times what well-shaped bodies reach.
const VOLUME_ERROR_MAX: f64 = gamma(8192);

/// The volume of a solid: the tetrahedra from vertex 0 over the triangles of the facets that do not
/// contain it. By convexity none is negative, so nothing cancels between them.
pub(super) fn volume(vertices: &[Vec3], facets: &Csr) -> f64 {
    let scale = PowerOfTwo::that_tames(vertices);
    let scaled = scale.map(|scale| scale.times_all(vertices));
    let (points, exponent) = match (scale, &scaled) {
        (Some(scale), Some(Some(scaled))) => (scaled.as_slice(), -3 * scale.exponent()),
        _ => (vertices, 0),
    };
    match rounded_volume(points, facets) {
        Some(volume) => PowerOfTwo::new(exponent).times(volume),
        None => exact_volume(vertices, facets),
    }
}

/// The triangles that [`volume`] is summed over.
fn far_triangles(facets: &Csr) -> impl Iterator<Item = [u32; 3]> + '_ {
    // Loops start with their lowest index, so a facet with vertex 0 starts with it.
    facets
        .rows()
        .filter(|corners| corners[0] != 0)
        .flat_map(|corners| corners[1..].windows(2).map(|edge| [corners[0], edge[0], edge[1]]))
}

/// The volume if its error bound is small enough.
fn rounded_volume(points: &[Vec3], facets: &Csr) -> Option<f64> {
    // Neumaier's compensated sum: the error does not grow with the number of facets.
    let (mut sum, mut compensation, mut error_sum) = (0.0_f64, 0.0_f64, 0.0_f64);
    for corners in far_triangles(facets) {
        let [a, b, c] = corners.map(|corner| &points[corner as usize]);
        let (value, error) = Plane::through(a, b, c).value(&points[0]);
        let term = -value;
        let next = sum + term;
        compensation +=
            if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
        error_sum += error;
    }
    let six_volumes = sum + compensation;
    (error_sum <= VOLUME_ERROR_MAX * six_volumes).then_some(six_volumes / 6.0)
}

/// The volume by integers, rounded at the end.
fn exact_volume(vertices: &[Vec3], facets: &Csr) -> f64 {
    let axes: [(Vec<IBig>, i64); 3] = std::array::from_fn(|k| {
        let parts: Vec<(i64, i32)> = vertices.iter().map(|v| split(v[k])).collect();
        let low = parts.iter().filter(|part| part.0 != 0).map(|part| part.1).min().unwrap_or(0);
        let integer = |&(m, e): &(i64, i32)| {
            let shift = if m == 0 { 0 } else { e - low };
            IBig::from(m) << usize::try_from(shift).expect("low is the smallest exponent")
        };
        (parts.iter().map(integer).collect(), i64::from(low))
    });
    let mut sum = IBig::ZERO;
    for corners in far_triangles(facets) {
        let [a, b, c] = corners.map(|corner| corner as usize);
        let edge = |k: usize, end: usize| &axes[k].0[end] - &axes[k].0[0];
        let minor = |i: usize, j: usize| edge(i, a) * edge(j, b) - edge(j, a) * edge(i, b);
        sum += minor(1, 2) * edge(0, c) + minor(2, 0) * edge(1, c) + minor(0, 1) * edge(2, c);
    }
    let exponent: i64 = axes.iter().map(|axis| axis.1).sum();
    // Divided after enough further bits that the rest does not matter.
    rounded(&Dyadic::new((sum << 128_usize) / IBig::from(6), exponent - 128))
}

/// The number to within an ulp; 0 or infinity beyond the range of f64.
fn rounded(x: &Dyadic) -> f64 {
    const KEPT_BITS: usize = 62;
    let magnitude = x.mantissa().clone();
    let length = magnitude.clone().into_parts().1.bit_len();
    let dropped = length.saturating_sub(KEPT_BITS);
    let top = i64::try_from(magnitude >> dropped).expect("62 bits and a sign");
    let exponent = x.exponent() + i64::try_from(dropped).expect("a length in memory");
    let exponent = i32::try_from(exponent.clamp(-5000, 5000)).expect("clamped");
    PowerOfTwo::new(exponent).times(top as f64)
}

/// A body that fills this part of the ellipsoid around it, or more, is like one. A box fills 0.37,
/// a cone less; the hull of 200 points of an ellipsoid 0.8.
const ELLIPSOIDAL: f64 = 0.5;

/// Box, reach, centre, radius and semi-axes, none too small; the inner radius; and what it is like.
///
/// The vertices of a body like an ellipsoid are where they happen to be, and their mean is off its
/// middle, more so the fewer they are: balls and ellipsoids around its centre of mass are closer to
/// it. A box's, a cone's or a machine part's crowd where its details are, and around their mean the
/// ball is the closer one.
pub(super) fn bounds(vertices: &[Vec3], facets: &Csr) -> Bounds {
    // At most 2^32 coordinates of at most 2^960: no overflow.
    let mean = vertices.iter().sum::<Vec3>() / vertices.len() as f64;
    let (centre, volume) = centre_of_mass(&mean, vertices, facets);
    let bounds = bounds_around(centre, vertices, facets);
    let of_ellipsoid = 4.0 / 3.0 * PI * bounds.semi_axes.product();
    // False for NaN.
    if volume > ELLIPSOIDAL * of_ellipsoid {
        return Bounds { is_ellipsoidal: true, ..bounds };
    }
    bounds_around(mean, vertices, facets)
}

fn bounds_around(centre: Vec3, vertices: &[Vec3], facets: &Csr) -> Bounds {
    let (mut low, mut high) = (vertices[0], vertices[0]);
    for vertex in vertices {
        low = low.inf(vertex);
        high = high.sup(vertex);
    }
    let centre = centre.sup(&low).inf(&high);
    let radius = vertices.iter().map(|v| length_above(&(v - centre))).fold(0.0, f64::max);
    let radius_at_origin = vertices.iter().map(length_above).fold(0.0, f64::max);
    let reach = low.abs().sup(&high.abs());
    let semi_axes = semi_axes(&centre, &((high - low) / 2.0), vertices);
    let inner_radius = inner_radius(&centre, vertices, facets);
    let span = reach.sum();
    let (is_boxy, is_ellipsoidal) = (false, false);
    let bounds = Bounds {
        low,
        high,
        reach,
        span,
        centre,
        radius,
        radius_at_origin,
        semi_axes,
        inner_radius,
        is_boxy,
        is_ellipsoidal,
    };
    Bounds { is_boxy: box_reaches_less_far(&bounds), ..bounds }
}

/// The centre of mass of the solid, rounded, with its volume: of the tetrahedra from the mean of
/// the vertices over the triangles of the facets. For a flat body, and where f64 gives out, the
/// mean.
fn centre_of_mass(mean: &Vec3, vertices: &[Vec3], facets: &Csr) -> (Vec3, f64) {
    let (mut volume, mut moment) = (0.0, Vec3::zeros());
    for corners in facets.rows() {
        for edge in corners[1..].windows(2) {
            let [a, b, c] = [corners[0], edge[0], edge[1]].map(|v| vertices[v as usize] - mean);
            let part = a.cross(&b).dot(&c).abs() / 6.0;
            volume += part;
            moment += (a + b + c) * part;
        }
    }
    let centre = mean + moment / (4.0 * volume);
    if centre.iter().all(|c| c.is_finite()) { (centre, volume) } else { (*mean, 0.0) }
}

/// Whether it does so, than the ellipsoid, in the mean of the directions to the middles of a cube's
/// faces and edges and to its corners.
fn box_reaches_less_far(bounds: &Bounds) -> bool {
    let (mut in_box, mut in_ellipsoid) = (0.0, 0.0);
    for number in 0..27_u8 {
        let [x, y, z] = [number % 3, number / 3 % 3, number / 9].map(|k| f64::from(k) - 1.0);
        let length = (x * x + y * y + z * z).sqrt();
        if length > 0.0 {
            let g = Vec3::new(x, y, z) / length;
            in_box += bounds.box_along(&g);
            in_ellipsoid += bounds.ellipsoid_along(&g);
        }
    }
    in_box < in_ellipsoid
}

/// The half extents, or a thousandth of the largest, times the least factor for which the ellipsoid
/// holds every vertex. A difference, a quotient, its square, two sums, a root and two products:
/// less than γ₁₂ of the factor, which is at least about one, so that what underflows is no part of
/// it.
fn semi_axes(centre: &Vec3, half_extents: &Vec3, vertices: &[Vec3]) -> Vec3 {
    let largest = half_extents.amax();
    if !(tolerance::EXTENT_LEAST..=1.0 / tolerance::EXTENT_LEAST).contains(&largest) {
        return Vec3::repeat(f64::INFINITY);
    }
    let shape = half_extents.map(|half| half.max(largest * tolerance::HALF_AXIS_LEAST));
    let squared = |v: &Vec3| (v - centre).component_div(&shape).norm_squared();
    let factor = vertices.iter().map(squared).fold(0.0, f64::max).sqrt();
    shape * (factor * (1.0 + gamma(16)))
}

/// The least distance from the centre to a facet's plane; 0 for a flat body, and where f64 gives
/// out.
fn inner_radius(centre: &Vec3, vertices: &[Vec3], facets: &Csr) -> f64 {
    let distance = |corners: &[u32]| {
        let [a, b, c] = [0, 1, 2].map(|k| vertices[corners[k] as usize]);
        let normal = (b - a).cross(&(c - a));
        (normal.dot(&(a - centre)) / normal.norm()).abs()
    };
    let least = facets.rows().map(distance).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 0.0 }
}

/// An upper bound of the length of the exact difference that was rounded to `d`.
///
/// Scaled to a largest component in [1, 2), the sum of squares neither over- nor underflows to any
/// effect; three roundings of `d`, three of the squares, two sums and a root come to less than
/// `γ_8`.
fn length_above(d: &Vec3) -> f64 {
    let Some(exponent) = exponent_of(d.amax()) else { return 0.0 };
    let down = PowerOfTwo::new(-exponent);
    let scaled = d.map(|x| down.times(x));
    let length = (scaled.x * scaled.x + scaled.y * scaled.y + scaled.z * scaled.z).sqrt();
    PowerOfTwo::new(exponent).times(length * (1.0 + gamma(8))).next_up()
}
