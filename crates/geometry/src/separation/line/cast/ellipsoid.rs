//! Where a ray would enter M if the bodies were ellipsoids.
//!
//! Each body is taken for the ellipsoid that it is like ([`Likeness`]). Their difference is no
//! ellipsoid; but for every direction s there is one around it that touches it there, the sum of
//! the shapes A and B in the ratio of their widths, `(a + b) (A/a + B/b)` with `a² = sᵀA s`, `b² =
//! sᵀB s` (Kurzhanski, Valyi, *Ellipsoidal Calculus for Estimation and Control*, 1997, §2.2). The
//! ray's entry into that one, a quadratic equation, gives the next s. What is around M has the
//! smaller f everywhere and the same f at s, so f grows with every such step.

use super::Scene;
use crate::Vec3;
use crate::difference::RoundedCorner;
use crate::effort::{Effort, Stopped};
use crate::number::tolerance::{CAST_GRAZING, CAST_THINNEST};
use crate::pair::Placed;
use crate::polytope::Likeness;
use crate::symmetric::Symmetric;

/// Ellipsoids around the difference that are tried.
const STEPS_MAX: u32 = 4;

/// Widths whose ratio changes by no more than the root of this have nothing to add: a step of the
/// walk takes no longer than another ellipsoid.
const CHANGE_MIN: f64 = 2.0;

/// Both bodies, in units of the sum of their radii.
pub(super) struct Ellipsoids<'a> {
    p: Symmetric,
    q: Symmetric,
    like: [&'a Likeness; 2],
    /// The middle of M as seen from the ray.
    across: Vec3,
    unit: f64,
}

/// `{x : xᵀ A⁻¹ x <= 1}` for the matrix A returned.
#[inline(always)]
fn shape(placed: &Placed<'_>, like: &Likeness, unit: f64) -> Symmetric {
    let axes = placed.pose.rotation * like.from_ball;
    Symmetric::of(&axes, &Vec3::repeat(unit)).plus_diagonal(CAST_THINNEST * CAST_THINNEST)
}

impl<'a> Ellipsoids<'a> {
    #[inline(always)]
    pub(super) fn new(scene: &Scene<'a>, effort: &Effort<'_>) -> Result<Self, Stopped> {
        let (p, q) = (&scene.pair.p, &scene.pair.q);
        let (of_p, of_q) = (p.body.bounds(), q.body.bounds());
        let (like_p, like_q) = (p.body.likeness(effort)?, q.body.likeness(effort)?);
        let unit = 1.0 / (of_p.radius + of_q.radius);
        let centre =
            (q.pose.rotation * like_q.centre - p.pose.rotation * like_p.centre) + scene.offset;
        let (p, q) = (shape(p, like_p, unit), shape(q, like_q, unit));
        Ok(Self { p, q, like: [like_p, like_q], across: scene.across(&centre) * unit, unit })
    }

    /// Where the ray would enter, the inward normal: of no particular length; `s·u > 0`.
    #[inline(always)]
    pub(super) fn first_normal(&self, scene: &Scene<'_>) -> Vec3 {
        let [thick_p, thick_q] =
            self.like.map(|like| (like.thickness * self.unit).max(CAST_THINNEST));
        let mut ratio = thick_q / thick_p;
        let mut s = scene.u;
        for _ in 0..STEPS_MAX {
            s = entry(scene, &self.around(ratio), &self.across);
            let [a, b] = [ratio * ratio * self.p.product(&s), self.q.product(&s)];
            if (b <= CHANGE_MIN * a) & (a <= CHANGE_MIN * b) {
                break;
            }
            // About the 3/4th power of b/a: that it is the root of, and more for what moves with
            // it.
            ratio *= (a + 7.0 * b) / (7.0 * a + b);
        }
        s
    }

    #[cold]
    #[inline(never)]
    /// The normal there if the ellipsoid that touches M along `s` touches it at `corner`.
    pub(super) fn normal_through(
        &self,
        scene: &Scene<'_>,
        corner: &RoundedCorner,
        s: &Vec3,
    ) -> Vec3 {
        let [p, q] = [self.p.times(s), self.q.times(s)];
        let [a, b] = [s.dot(&p).sqrt(), s.dot(&q).sqrt()];
        let centre = corner.point * self.unit + (p / a + q / b);
        entry(scene, &self.around(b / a), &scene.across(&centre))
    }

    /// The ellipsoid around the difference that touches it where the second body is `ratio` times
    /// as wide as the first.
    #[inline(always)]
    fn around(&self, ratio: f64) -> Symmetric {
        self.p.scaled(1.0 + ratio).plus(&self.q.scaled(1.0 + 1.0 / ratio))
    }
}

/// The inward normal where the ray's line enters the ellipsoid around `centre`; along the ray if
/// that comes out as no number.
#[inline(always)]
fn entry(scene: &Scene<'_>, ellipsoid: &Symmetric, centre: &Vec3) -> Vec3 {
    let u = &scene.u;
    let inverse = ellipsoid.cofactors();
    let determinant = ellipsoid.determinant(&inverse);
    let (of_u, of_centre) = (inverse.times(u), inverse.times(centre));
    // The roots of a t² - 2 b t + c = 0, times the determinant, as the inverse is.
    let (a, b) = (u.dot(&of_u), u.dot(&of_centre));
    let c = centre.dot(&of_centre) - determinant;
    let root = (b * b - a * c).max(CAST_GRAZING * a * determinant).sqrt();
    let normal = of_centre - of_u * ((b - root) / a);
    let usable = normal.dot(u) > 0.0 && normal.amax().is_finite();
    if usable { normal } else { *u }
}
