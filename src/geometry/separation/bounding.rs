//! What is around the bodies and inside them: balls, ellipsoids and boxes that often decide without
//! a look at any vertex, all along the direction from centre to centre, or from origin to origin.
//!
//! What is a function of `const PROVEN: bool` is the same without its error bound when that is
//! false: see `super::decide_unproven`.

use super::filter::PLAIN;
use crate::geometry::Vec3;
use crate::geometry::difference::sum_of_sizes;
use crate::geometry::number::rounding::gamma;
use crate::geometry::pair::Pair;
use crate::geometry::pose::STRETCH_MAX;

/// Whether s, the direction from the origin of P's frame to that of Q's, separates the balls around
/// these: proven. Of all that may separate it is known first, as it does not wait for a rotation.
///
/// With `L = STRETCH_MAX` no vertex v of P is farther along s than the translation by more than
/// `|s| L |v|`. s is the difference of the translations as rounded, each coordinate within u of
/// itself. So `gap >= |s|² (1 - 2u) - |s| L (r_P + r_Q)`, and what it takes to compute is in γ₁₆ as
/// in [`separates_balls`].
#[inline(always)]
pub(super) fn separates_balls_at_origins<const PROVEN: bool>(pair: &Pair<'_>, s: &Vec3) -> bool {
    let mut radii = pair.p.body.bounds().radius_at_origin + pair.q.body.bounds().radius_at_origin;
    if PROVEN {
        radii *= STRETCH_MAX * (1.0 + gamma(16));
    }
    is_longer(s, radii)
}

/// Whether s, the direction from centre to centre, separates the balls around the bodies' centres:
/// proven.
///
/// With `L = STRETCH_MAX` no vertex v of P is farther along s than the placed centre c by more than
/// `s·R(v - c) <= |s| L r`, r being the radius. So `gap >= s·w - |s| L (r_P + r_Q)`, where w is the
/// exact difference of the placed centres, and s is w as rounded: two rows (γ₃ each) and three
/// sums, so within `γ₅ (|R_P||c_P| + |R_Q||c_Q| + |d|)` and 6η in each coordinate, for the
/// difference d of the translations. As `d = w - R_Q c_Q + R_P c_P`, and `||R|c| <= √3 L |c|`, the
/// length of `s - w` is at most `e = γ₆ (|s| + 4 (|c_P| + |c_Q|)) + 12η`, and `s·w >= |s| (|s| -
/// e)`. Hence the gap is positive if `|s| (1 - γ₆) > L (r_P + r_Q) + 4 γ₆ (|c_P| + |c_Q|) + 12η`.
/// No coordinate of c is beyond `reach` but by roundings of itself, so `|c| <= 1.01 span`.
///
/// s is compared by its square: in the range of `PLAIN` that neither overflows nor underflows, and
/// 12η is less than a rounding of it; a sum of radii whose square underflows is far below s, and
/// one whose square overflows is not below it. γ₆ of s, γ₄ of either square, and what the right
/// side takes to compute, γ₆, are within γ₁₆ of the radii and of the span.
#[inline(always)]
pub(super) fn separates_balls<const PROVEN: bool>(pair: &Pair<'_>, s: &Vec3) -> bool {
    let (p, q) = (pair.p.body.bounds(), pair.q.body.bounds());
    let mut radii = p.radius + q.radius;
    if PROVEN {
        radii = radii * (STRETCH_MAX * (1.0 + gamma(16))) + gamma(32) * (p.span + q.span);
    }
    is_longer(s, radii)
}

/// Whether s is longer than that, and of a length whose square is in the range of `PLAIN`.
#[inline(always)]
fn is_longer(s: &Vec3, length: f64) -> bool {
    let squared = s.dot(s);
    // Written so that NaN is not separated.
    squared > length * length && PLAIN.contains(&squared)
}

/// Whether s separates the bodies' bounding boxes or the ellipsoids around them, of each body
/// whichever reaches less far: proven. Of s it is known that it is w, from centre to centre as
/// rounded, or tame.
///
/// With `f = Rᵀs` no vertex v of P is farther along s than the placed centre c by more than `f·(v -
/// c)`. For the semi-axes a that is at most `|a∘f|` (Cauchy and Schwarz), and in the box at most `Σ
/// max(f_k (high - c)_k, f_k (low - c)_k)`. With h the smaller of the two and W for w before it was
/// rounded, `gap >= s·W - h_P - h_Q`. In the terms of [`separates_balls`] no coordinate of `W - w`
/// is beyond `γ₆ (|w| + 4 (|c_P| + |c_Q|)) + 12η`, and computing `s·w` costs `γ₃ |s|₁ |w|₁`.
///
/// For f as rounded to g, `|f_k - g_k| <= γ₃ L |s|₁ + 3η`, so `|a∘f| <= |a∘g| + (γ₃ L |s|₁ + 3η) Σ
/// a`. Computing `|a∘g|` costs γ₅ of it. In the box no `|v - c|_k` exceeds twice the reach but by
/// roundings: exchanging f for g costs `(γ₃ L |s|₁ + 3η) 2.01 span`, and computing the sum (a
/// difference, a product, two sums) `γ₄ L |s|₁ 2.01 span`. So γ₂₅ of `|s|₁ span` for the centres,
/// γ₁₅ for the boxes, γ₉ of `|s|₁ |w|₁`. γ₄₈ of each of the three terms is more than that and what
/// the right side takes to compute. With `s·w`, and so `|s|₁ |w|₁`, in the range of `PLAIN`, it is
/// also far more than what underflow takes from products and squares, 10^-161 times sizes that are
/// in the error too.
///
/// The boxes are looked at only if one of the bodies is more like its box: around round ones they
/// reach farther than the ellipsoids nearly everywhere.
#[inline(always)]
pub(super) fn separates_hulls<const PROVEN: bool>(pair: &Pair<'_>, s: &Vec3, w: &Vec3) -> bool {
    let (p, q) = (pair.p.body.bounds(), pair.q.body.bounds());
    let apart = s.dot(w);
    let (mut more, mut error) = (1.0, 0.0);
    if PROVEN {
        let axes = p.semi_axes + q.semi_axes;
        let size = (p.span + q.span) + (axes.x + axes.y + axes.z);
        (more, error) = (1.0 + gamma(48), gamma(48) * (sum_of_sizes(s) * (sum_of_sizes(w) + size)));
    }
    // Written so that NaN is not separated.
    let exceeds = |reaches: f64| apart > reaches * more + error && PLAIN.contains(&apart);
    let in_p = pair.p.pose.direction_to_body_rounded(s);
    let in_q = -pair.q.pose.direction_to_body_rounded(s);
    let (of_p, of_q) = (p.ellipsoid_along(&in_p), q.ellipsoid_along(&in_q));
    if exceeds(of_p + of_q) {
        return true;
    }
    if !(p.is_boxy | q.is_boxy) {
        return false;
    }
    let smaller = |a: f64, b: f64| if a < b { a } else { b };
    exceeds(smaller(p.box_along(&in_p), of_p) + smaller(q.box_along(&in_q), of_q))
}

/// Whether the balls inside the bodies overlap along a direction, for bodies that are `w` apart
/// from centre to centre. Then it does not separate them, up to roundings: enough not to look.
#[inline(always)]
pub(super) fn cores_overlap_along(pair: &Pair<'_>, direction: &Vec3, w: &Vec3) -> bool {
    let radii = pair.p.body.bounds().inner_radius + pair.q.body.bounds().inner_radius;
    let apart = direction.dot(w);
    (apart <= 0.0) | (apart * apart < radii * radii * direction.dot(direction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::claim::{Direction, StaticProof};
    use crate::geometry::difference::layout::Layout;
    use crate::geometry::difference::{centre_to_centre, offset};
    use crate::geometry::judge::judge_static;
    use crate::geometry::pair::Placed;
    use crate::geometry::polytope::Polytope;
    use crate::geometry::pose::Pose;
    use crate::geometry::samples::{Random, cone, cuboid, ellipsoid, zoo};

    /// At every distance, down to contact and below: whatever a bound says is separated, is.
    #[test]
    fn balls_ellipsoids_and_boxes_separate_only_what_is_separated() {
        let mut random = Random(11);
        let (mut by_origins, mut by_balls, mut by_ellipsoids, mut by_boxes, mut by_none) =
            (0, 0, 0, 0, 0);
        let mut by_askew = 0;
        let mut bodies: Vec<_> = zoo().into_iter().map(|(_, body)| body).collect();
        bodies.push(ellipsoid(300, [1.0, 0.9, 0.9], 1));
        bodies.push(ellipsoid(300, [1.0, 0.5, 0.1], 2));
        bodies.push(ellipsoid(300, [0.2, 1.0, 0.2], 3));
        bodies.push(ellipsoid(300, [0.1, 0.4, 1.0], 4));
        for number in 0..900 {
            let p = &bodies[number % bodies.len()];
            let q = &bodies[(number / 2) % bodies.len()];
            let radii = p.bounds().radius + q.bounds().radius;
            let place = random.unit_vector() * (radii * (0.8 + 0.3 * random.signed()));
            let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(place));
            let s = centre_to_centre(&pair);
            let proof = StaticProof::Separated { direction: Direction::Vector(s) };
            let balls = separates_balls::<true>(&pair, &s);
            let between_origins = offset(&pair);
            let origins = separates_balls_at_origins::<true>(&pair, &between_origins);
            let by_these = StaticProof::Separated { direction: Direction::Vector(between_origins) };
            assert!(!origins || judge_static(&pair, &by_these) == Ok(()), "{number}");
            by_origins += u32::from(origins);
            let hulls = separates_hulls::<true>(&pair, &s, &s);
            assert!(!(balls || hulls) || judge_static(&pair, &proof) == Ok(()), "{number}");
            // Long bodies by the direction that their ellipsoids say.
            let towards = Layout::of(&pair).towards;
            let askew = separates_hulls::<true>(&pair, &towards, &s);
            let proof = StaticProof::Separated { direction: Direction::Vector(towards) };
            assert!(!askew || judge_static(&pair, &proof) == Ok(()), "{number}");
            by_askew += u32::from(askew && !(balls || hulls));
            let reach = |placed: &Placed<'_>| {
                placed.body.bounds().ellipsoid_along(&placed.pose.direction_to_body_rounded(&s))
            };
            let ellipsoids = s.norm_squared() > reach(&pair.p) + reach(&pair.q);
            by_balls += u32::from(balls);
            by_ellipsoids += u32::from(hulls && ellipsoids && !balls);
            by_boxes += u32::from(hulls && !ellipsoids);
            by_none += u32::from(!(balls || hulls));
        }
        let counts = [by_origins, by_balls, by_ellipsoids, by_boxes, by_none, 2 * by_askew];
        assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
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
            let mut random = Random(12);
            for _ in 0..20 {
                let g = random.unit_vector();
                let farthest = |v: &Vec3| g.dot(&(v - bounds.centre));
                let top = body.vertices().iter().map(farthest).fold(0.0, f64::max);
                assert!(bounds.box_along(&g) >= top - 1e-12 * bounds.span, "{name}");
                assert!(bounds.ellipsoid_along(&g) >= top - 1e-12 * bounds.span, "{name}");
            }
        }
    }

    #[test]
    fn boxes_and_cones_are_more_like_their_boxes_and_ellipsoids_are_not() {
        let is_boxy = |body: &Polytope| body.bounds().is_boxy;
        assert!(is_boxy(&cuboid(3.0, 2.0, 1.0)) && is_boxy(&cone(32)));
        for axes in [[1.0, 1.0, 1.0], [1.0, 0.5, 0.2], [1.0, 0.1, 0.1]] {
            assert!(!is_boxy(&ellipsoid(300, axes, 1)), "{axes:?}");
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
            assert!(!separates_balls::<true>(&pair, &s) && !separates_hulls::<true>(&pair, &s, &s));
            assert!(!separates_balls_at_origins::<true>(&pair, &offset(&pair)));
        }
    }
}
