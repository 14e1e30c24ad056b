//! How two bodies lie to each other, before a look at any vertex: from centre to centre, and what
//! ellipsoids of their sizes say of bodies that are oblong.
//!
//! With half extents h along the axes of its frame a body is about the ellipsoid `A = R diag(h²)
//! Rᵀ`, which reaches `√(nᵀAn)` along n. M is then about the ellipsoid `C = r_Q A_P + r_P A_Q` up
//! to a factor, with the bodies' radii for their reaches, around w from centre to centre; and it is
//! the direction `C⁻¹ w` along which that reaches to the origin, when w is just too short to
//! separate. From centre to centre may be off by tens of degrees. All of it is to search by, and
//! not to prove by.

use super::largest;
use super::probe::{inverse_power_of_two, tame};
use crate::Vec3;
use crate::pair::{Pair, Placed};
use crate::shape::Bounds;
use crate::symmetric::Symmetric;

/// Bodies are round whose inner balls have at least this part of the radius of the balls around
/// them: a cube's have 0.58, those of an ellipsoid 200 : 180 : 180 with 200 vertices 0.8.
const ROUND: f64 = 0.7;

/// See the module.
pub(crate) struct Layout {
    /// From P's centre to Q's.
    pub(crate) centres: Vec3,
    /// Where to look first: `centres`, or the direction that ellipsoids say, tame.
    pub(crate) towards: Vec3,
    /// The ellipsoid that M is like; none of balls and of bodies that are not like ellipsoids.
    pub(crate) shape: Option<LikeEllipsoid>,
}

/// The ellipsoid that M is like, in units of the bodies' sizes.
pub(crate) struct LikeEllipsoid {
    matrix: Symmetric,
    /// The inverse of the matrix times its determinant.
    cofactors: Symmetric,
}

impl Layout {
    /// The layout of bodies with this vector from centre to centre.
    #[inline(always)]
    pub(crate) fn new(pair: &Pair<'_>, centres: Vec3) -> Self {
        let (p, q) = (pair.p.body.bounds(), pair.q.body.bounds());
        // Between a ball and a needle that mean of the two would say less than their centres.
        let is_long = |of: &Bounds| of.is_ellipsoidal & (of.inner_radius < ROUND * of.radius);
        if !(is_long(p) & is_long(q)) {
            return Self::without_shape(centres);
        }
        let shape = LikeEllipsoid::of(pair);
        match tame(&shape.cofactors.times(&centres)) {
            // False for NaN, as for bodies whose sizes underflow.
            Some(towards) if towards.dot(&centres) > 0.0 => {
                Self { centres, towards, shape: Some(shape) }
            }
            _ => Self::without_shape(centres),
        }
    }

    /// The layout of bodies of which no more is known than their centres.
    #[inline(always)]
    pub(crate) fn without_shape(centres: Vec3) -> Self {
        Self { centres, towards: centres, shape: None }
    }

    /// The layout of the pair.
    pub(crate) fn of(pair: &Pair<'_>) -> Self {
        Self::new(pair, centre_to_centre(pair))
    }
}

/// From P's centre to Q's, rounded.
#[inline(always)]
pub(crate) fn centre_to_centre(pair: &Pair<'_>) -> Vec3 {
    let p = pair.p.pose.rotation * pair.p.body.bounds().centre;
    let q = pair.q.pose.rotation * pair.q.body.bounds().centre;
    (q - p) + (pair.q.pose.translation - pair.p.pose.translation)
}

/// Whether M is about a ball.
#[inline(always)]
pub(crate) fn is_round(pair: &Pair<'_>) -> bool {
    is_rounder(pair, ROUND)
}

/// Whether the ball inside M has at least this part of the radius of the ball around it, roughly.
#[inline(always)]
pub(crate) fn is_rounder(pair: &Pair<'_>, part: f64) -> bool {
    let (p, q) = (pair.p.body.bounds(), pair.q.body.bounds());
    p.inner_radius + q.inner_radius >= part * (p.radius + q.radius)
}

impl LikeEllipsoid {
    #[inline(always)]
    fn of(pair: &Pair<'_>) -> Self {
        let (p, q) = (&pair.p, &pair.q);
        let (of_p, of_q) = (p.body.bounds().radius, q.body.bounds().radius);
        // So that no power of a size overflows.
        let unit = 1.0 / (of_p + of_q);
        let ellipsoid = |placed: &Placed<'_>| {
            let extents = placed.body.bounds().high - placed.body.bounds().low;
            Symmetric::of(&placed.pose.rotation, &(extents * unit))
        };
        let matrix = ellipsoid(p).scaled(of_q * unit).plus(&ellipsoid(q).scaled(of_p * unit));
        Self { matrix, cofactors: matrix.cofactors() }
    }

    /// Whether c is inside the ellipsoid, as much larger as it takes to reach `reach` along s.
    #[inline(always)]
    pub(crate) fn is_inside(&self, c: &Vec3, s: &Vec3, reach: f64) -> bool {
        let determinant = self.matrix.determinant(&self.cofactors);
        self.cofactors.product(c) * self.matrix.product(s) < reach * reach * determinant
    }

    /// The direction s and two more along which it reaches as far, all times the same factor and
    /// small enough for a probe. Each of the three looks at the middle of what the other two show:
    /// they are conjugate. d is on the side of the second.
    ///
    /// With `x = d - C s (s·d)/(sᵀCs)`, which is where s shows only the middle, `C⁻¹x` is conjugate
    /// to s, and `f = C s × x` to both. For the cofactors K and `e = K x`, `eᵀCe = det C e·x`; and
    /// since the product of two vectors times K is det C times C of their product, `s × e = C f`.
    #[inline(always)]
    pub(crate) fn conjugates(&self, s: &Vec3, d: &Vec3) -> [Vec3; 3] {
        let seen = self.matrix.times(s);
        let squared = s.dot(&seen);
        let x = d - seen * (s.dot(d) / squared);
        let e = self.cofactors.times(&x);
        let f = seen.cross(&x);
        let of_e = self.matrix.determinant(&self.cofactors) * e.dot(&x);
        let of_f = f.dot(&s.cross(&e));
        let (e, f) = (e * (squared / of_e).sqrt(), f * (squared / of_f).sqrt());
        let factor = inverse_power_of_two(largest(s).max(largest(&e)).max(largest(&f)));
        [s * factor, e * factor, f * factor]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::Pose;
    use crate::samples::{Random, ball, cuboid, ellipsoid, hull};

    #[test]
    fn between_balls_and_boxes_it_is_from_centre_to_centre() {
        let (round, boxy) = (ball(300, 1), cuboid(3.0, 1.0, 1.0));
        let long = ellipsoid(300, [1.0, 0.2, 0.1], 2);
        let mut random = Random(31);
        for [p, q] in [[&round, &round], [&boxy, &boxy], [&long, &boxy], [&round, &long]] {
            let place = random.unit_vector() * 3.0;
            let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(place));
            let layout = Layout::of(&pair);
            assert!(layout.shape.is_none() && layout.towards == layout.centres);
        }
    }

    /// Equal ellipsoids in the same attitude, for which C is their own shape.
    #[test]
    fn the_direction_between_ellipsoids_is_the_one_along_which_they_touch_first() {
        let body = ellipsoid(2000, [1.0, 0.3, 0.1], 1);
        let mut random = Random(32);
        for _ in 0..50 {
            let turned = random.pose(Vec3::zeros());
            let v = random.unit_vector();
            let w = turned.rotation * v.component_mul(&Vec3::new(2.0, 0.6, 0.2));
            let pair = Pair::new(&body, turned, &body, Pose { translation: w, ..turned });
            let layout = Layout::of(&pair);
            let normal = turned.rotation * v.component_div(&Vec3::new(1.0, 0.3, 0.1));
            assert!(layout.towards.angle(&normal) < 0.1, "{}", layout.towards.angle(&normal));
        }
    }

    #[test]
    fn conjugate_directions_reach_as_far_and_look_at_each_others_middles() {
        let bodies = [ellipsoid(100, [1.0, 0.2, 0.1], 1), ellipsoid(100, [1.0, 1.0, 0.05], 2)];
        let mut random = Random(33);
        for number in 0..100 {
            let (p, q) = (&bodies[number % 2], &bodies[number / 2 % 2]);
            let place = random.vector();
            let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(place));
            let shape = Layout::of(&pair).shape.expect("long");
            let d = random.unit_vector();
            let found = shape.conjugates(&random.unit_vector(), &d);
            let reach = shape.matrix.product(&found[0]);
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                let middle = found[a].dot(&shape.matrix.times(&found[b]));
                assert!(middle.abs() < 1e-9 * reach, "{number}");
                assert!((shape.matrix.product(&found[b]) / reach - 1.0).abs() < 1e-9, "{number}");
            }
            assert!(found.iter().all(|s| largest(s) < 2.0) && found[1].dot(&d) > 0.0);
        }
    }

    /// Sizes at both ends of f64, where radii overflow or powers of them vanish.
    #[test]
    fn bodies_of_any_size_have_a_finite_direction() {
        for exponent in [-1060, -600, -300, 0, 300, 600, 950] {
            let size = 2f64.powi(exponent);
            let unit = ellipsoid(60, [1.0, 0.1, 0.05], 1);
            let points: Vec<_> = unit.vertices().iter().map(|v| v * size).collect();
            let body = hull(&points);
            let place = Pose::translation(1.5 * size, 0.25 * size, 0.0);
            let layout = Layout::of(&Pair::new(&body, Pose::identity(), &body, place));
            assert!(layout.towards.iter().all(|c| c.is_finite()), "{exponent}");
            assert!(exponent != 0 || layout.shape.is_some());
        }
    }
}
