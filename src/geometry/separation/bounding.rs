//! What is around the bodies and inside them: balls and ellipsoids that often decide without a look at
//! any vertex, all along the direction from centre to centre.
//!
//! What is a function of `const PROVEN: bool` is the same without its error bound when that is false:
//! see `super::decide_unproven`.

use super::filter::{PLAIN, offset, span, sum_of_sizes};
use crate::geometry::Vec3;
use crate::geometry::number::rounding::gamma;
use crate::geometry::pair::{Pair, Placed};
use crate::geometry::pose::STRETCH_MAX;

/// Whether s, the direction from centre to centre, separates the balls around the bodies' centres: proven.
///
/// With `L = STRETCH_MAX` no vertex v of P is farther along s than the placed centre c by more than
/// `s·R(v - c) <= |s| L r`, r being the radius. So `gap >= s·w - |s| L (r_P + r_Q)`, where w is the
/// exact difference of the placed centres, and s is w as rounded: two rows (γ₃ each) and three sums,
/// so within `γ₅ (|R_P||c_P| + |R_Q||c_Q| + |d|)` and 6η in each coordinate, for the difference d of
/// the translations. As `d = w - R_Q c_Q + R_P c_P`, and `||R|c| <= √3 L |c|`, the length of `s - w` is
/// at most `e = γ₆ (|s| + 4 (|c_P| + |c_Q|)) + 12η`, and `s·w >= |s| (|s| - e)`. Hence the gap is
/// positive if `|s| (1 - γ₆) > L (r_P + r_Q) + 4 γ₆ (|c_P| + |c_Q|) + 12η`. No coordinate of c is beyond
/// `reach` but by roundings of itself, so `|c| <= 1.01 span`.
///
/// s is compared by its square: in the range of `PLAIN` that neither overflows nor underflows, and 12η
/// is less than a rounding of it; a sum of radii whose square underflows is far below s, and one whose
/// square overflows is not below it. γ₆ of s, γ₄ of either square, and what the right side takes to
/// compute, γ₆, are within γ₁₆ of the radii and of the span.
#[inline(always)]
pub(super) fn separates_balls<const PROVEN: bool>(pair: &Pair<'_>, s: &Vec3) -> bool {
    let (p, q) = (pair.p.body.bounds(), pair.q.body.bounds());
    let mut radii = p.radius + q.radius;
    if PROVEN {
        radii = radii * (STRETCH_MAX * (1.0 + gamma(16))) + gamma(32) * (p.span + q.span);
    }
    let squared = s.dot(s);
    // Written so that NaN is not separated.
    squared > radii * radii && PLAIN.contains(&squared)
}

/// Whether s, the direction from centre to centre, separates the ellipsoids around the bodies: proven.
///
/// With `f = Rᵀs` and the semi-axes a no vertex v of P is farther along s than the placed centre c by
/// more than `f·(v - c) <= |a∘f|` (Cauchy and Schwarz), so `gap >= s·w - |a_P∘f_P| - |a_Q∘f_Q|`. In the
/// terms of [`separates_balls`], `s·w >= |s|² (1 - γ₆) - |s| (4 γ₆ (|c_P| + |c_Q|) + 12η)`. For f as
/// rounded to g, `|f_k - g_k| <= γ₃ L |s|₁ + 3η`, so `|a∘f| <= |a∘g| + (γ₃ L |s|₁ + 3η) Σ a`. Computing
/// `|a∘g|` costs γ₅ of it, and `|s|²` γ₃. γ₃₂ of each of the three terms is more than that and what the
/// right side takes to compute. In the range of `PLAIN` it is also far more than what underflow takes
/// from squares, 10^-161.
#[inline(always)]
pub(super) fn separates_ellipsoids<const PROVEN: bool>(pair: &Pair<'_>, s: &Vec3) -> bool {
    let reach = |placed: &Placed<'_>| {
        let g = placed.pose.direction_to_body_rounded(s);
        g.component_mul(&placed.body.bounds().semi_axes).norm()
    };
    let mut reaches = reach(&pair.p) + reach(&pair.q);
    let squared = s.dot(s);
    if PROVEN {
        let axes = pair.p.body.bounds().semi_axes + pair.q.body.bounds().semi_axes;
        let size = (span(&pair.p) + span(&pair.q)) + (axes.x + axes.y + axes.z);
        let error = gamma(32) * (squared + sum_of_sizes(s) * size);
        reaches = reaches * (1.0 + gamma(32)) + error;
    }
    // Written so that NaN is not separated.
    squared > reaches && PLAIN.contains(&squared)
}

/// Whether the balls inside the bodies overlap along a direction, for bodies that are `w` apart from centre
/// to centre. Then it does not separate them, up to roundings: enough not to look.
#[inline(always)]
pub(super) fn cores_overlap_along(pair: &Pair<'_>, direction: &Vec3, w: &Vec3) -> bool {
    let radii = pair.p.body.bounds().inner_radius + pair.q.body.bounds().inner_radius;
    let apart = direction.dot(w);
    (apart <= 0.0) | (apart * apart < radii * radii * direction.dot(direction))
}

/// From P's centre to Q's, rounded.
#[inline(always)]
pub(super) fn centre_to_centre(pair: &Pair<'_>) -> Vec3 {
    let p = pair.p.pose.rotation * pair.p.body.bounds().centre;
    let q = pair.q.pose.rotation * pair.q.body.bounds().centre;
    (q - p) + offset(pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::certificate::judge::judge_static;
    use crate::geometry::certificate::{Direction, StaticProof};
    use crate::geometry::pose::Pose;
    use crate::geometry::samples::{Random, ellipsoid, zoo};

    /// At every distance, down to contact and below: whatever a bound says is separated, is.
    #[test]
    fn balls_and_ellipsoids_separate_only_what_is_separated() {
        let mut random = Random(11);
        let (mut by_balls, mut by_ellipsoids, mut by_neither) = (0, 0, 0);
        let mut bodies: Vec<_> = zoo().into_iter().map(|(_, body)| body).collect();
        bodies.push(ellipsoid(300, [1.0, 0.9, 0.9], 1));
        bodies.push(ellipsoid(300, [1.0, 0.5, 0.1], 2));
        for number in 0..600 {
            let p = &bodies[number % bodies.len()];
            let q = &bodies[(number / 2) % bodies.len()];
            let radii = p.bounds().radius + q.bounds().radius;
            let place = random.unit_vector() * (radii * (0.8 + 0.3 * random.signed()));
            let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(place));
            let s = centre_to_centre(&pair);
            let proof = StaticProof::Separated { direction: Direction::Vector(s) };
            let [balls, ellipsoids] =
                [separates_balls::<true>(&pair, &s), separates_ellipsoids::<true>(&pair, &s)];
            assert!(!(balls || ellipsoids) || judge_static(&pair, &proof) == Ok(()), "{number}");
            by_balls += u32::from(balls);
            by_ellipsoids += u32::from(ellipsoids && !balls);
            by_neither += u32::from(!(balls || ellipsoids));
        }
        let counts = [by_balls, by_ellipsoids, by_neither];
        assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
    }

    #[test]
    fn the_bounds_hold_every_vertex_and_the_inner_ball_is_inside() {
        for (name, body) in zoo() {
            let bounds = body.bounds();
            for v in body.vertices() {
                let d = v - bounds.centre;
                let scaled =
                    d.zip_map(&bounds.semi_axes, |d, a| if d == 0.0 { 0.0 } else { d / a });
                assert!(scaled.norm() < 1.0 + 1e-12, "{name}");
            }
            assert!(bounds.inner_radius <= bounds.semi_axes.min() * (1.0 + 1e-12), "{name}");
        }
    }

    /// Bodies of the size of the least f64 and of the largest coordinates.
    #[test]
    fn what_f64_cannot_compute_separates_nothing() {
        for exponent in [-1074, -400, 400, 950] {
            let size = 2f64.powi(exponent);
            let body = crate::geometry::samples::cuboid(size, size, size);
            let there = Pose::translation(0.5 * size, 0.25 * size, 0.0);
            let pair = Pair::new(&body, Pose::identity(), &body, there);
            let s = centre_to_centre(&pair);
            assert!(
                !separates_balls::<true>(&pair, &s) && !separates_ellipsoids::<true>(&pair, &s)
            );
        }
    }
}
