//! The ellipsoid that a polytope is like, for searches to guess with.
//!
//! Of all ellipsoids it is the one whose supporting points are those of the body in the mean of
//! directions. Where the ellipsoid is the unit ball, that is least squares of `d(w) - c - L(w)`
//! over unit vectors w, with the body's supporting points d(w), a centre c, and `L(w) = w + Mw -
//! (wᵀMw) w / 2`, which are the supporting points of the ellipsoid `{x : xᵀ(I + M)⁻¹x <= 1}` for
//! small symmetric M. The moments of uniform directions give `c = E d` and, with
//! `G = E (d - w) wᵀ - E (d·w - 1) wwᵀ / 2`, made symmetric, `M = 30/7 (G + 3/5 tr(G) I)`. That is
//! repeated in the coordinates in which the ellipsoid found is the ball, from the one that touches
//! the bounding box.
//!
//! A bounding box says little about a body that stands askew in its frame, and an ellipsoid that
//! touches it is too small for one that fills it. Where the ellipsoid found stands out of the box,
//! it is made smaller by a third of that, on a logarithmic scale: of rays that pass a body by,
//! fewer are then taken to hit it.

use crate::effort::{Effort, Stopped};
use crate::number::tolerance;
use crate::reach::{self, Reach};
use crate::shape::Shape;
use crate::{Mat3, Vec3};

/// See the module. To search by, not to prove by.
#[derive(Clone, Copy, Debug)]
pub struct Likeness {
    /// The ellipsoid's, metres.
    pub centre: Vec3,
    /// The map of the unit ball onto the ellipsoid about its centre.
    pub from_ball: Mat3,
    /// A mean of the half axes in which the shortest counts most, as a body is mostly hit on its
    /// broad sides. Zero of a point, and of what is too large or too small for products of three.
    pub thickness: f64,
}

/// Times that it is fitted; more of them would not change it by what could be felt.
const ROUNDS: u32 = 2;
/// Directions along an edge of a cube around the origin: over its faces they are spread.
const SIDE: u32 = 8;
/// No half axis starts as less than this part of the longest: flat bodies have normals, too.
const THINNEST: f64 = tolerance::HALF_AXIS_LEAST;
/// Largest half extents with which nothing here overflows or underflows; any others are of the box.
const PLAIN: std::ops::RangeInclusive<f64> =
    tolerance::EXTENT_LEAST..=1.0 / tolerance::EXTENT_LEAST;

impl Likeness {
    /// Takes a while of a body with facets of many corners: not beyond the deadline.
    pub(super) fn of(body: &Shape, reach: &Reach, effort: &Effort<'_>) -> Result<Self, Stopped> {
        let mut found = Self::of_bounds(body);
        if found.thickness <= 0.0 {
            return Ok(found);
        }
        let axes = found.from_ball.diagonal();
        for _ in 0..ROUNDS {
            found = found.fitted(body, reach, effort)?.unwrap_or(found);
        }
        let touches = |k: usize| axes[k] / found.from_ball.row(k).norm();
        let least = touches(0).min(touches(1)).min(touches(2));
        Ok(Self::new(found.centre, found.from_ball * least.cbrt()))
    }

    /// The ellipsoid that touches the bounding box: made at once.
    pub(super) fn of_bounds(body: &Shape) -> Self {
        let bounds = body.bounds();
        let half = (bounds.high - bounds.low) * 0.5;
        let longest = half.amax();
        let axes = half.map(|axis| axis.max(THINNEST * longest));
        let centre = (bounds.low + bounds.high) * 0.5;
        let from_ball = Mat3::from_diagonal(&axes);
        if PLAIN.contains(&longest) {
            return Self::new(centre, from_ball);
        }
        Self { centre, from_ball, thickness: 0.0 }
    }

    fn new(centre: Vec3, from_ball: Mat3) -> Self {
        let thickness = from_ball.try_inverse().map_or(0.0, |to_ball| 1.0 / to_ball.norm());
        Self { centre, from_ball, thickness }
    }

    /// None where f64 gave out.
    fn fitted(
        &self,
        body: &Shape,
        reach: &Reach,
        effort: &Effort<'_>,
    ) -> Result<Option<Self>, Stopped> {
        let Some(to_ball) = self.from_ball.try_inverse() else { return Ok(None) };
        let uncounted = &mut Effort::unlimited();
        let (mut weights, mut mean, mut gap) = (0.0, Vec3::zeros(), Mat3::zeros());
        for (w, weight) in directions() {
            effort.look_at_clock()?;
            let vertex = reach::search(body, reach, &to_ball.tr_mul(&w), None, uncounted).vertex;
            let d = to_ball * (body.vertex(vertex) - self.centre);
            weights += weight;
            mean += d * weight;
            let aside = d - w * (0.5 * (1.0 + d.dot(&w)));
            gap += aside * w.transpose() * weight;
        }
        let gap = (gap + gap.transpose()) * (0.5 / weights);
        let half_change = (gap + Mat3::from_diagonal_element(0.6 * gap.trace())) * (15.0 / 7.0);
        let change = Mat3::identity() + half_change;
        // It is far from singular, unless f64 gave out.
        let fitted = change.cholesky().map(|_| {
            Self::new(self.centre + self.from_ball * (mean / weights), self.from_ball * change)
        });
        Ok(fitted)
    }
}

/// Unit vectors to the middles of the cells of a cube's faces, with the solid angles, of some unit,
/// under which those are seen.
fn directions() -> impl Iterator<Item = (Vec3, f64)> {
    let place = |cell: u32| (2.0 * f64::from(cell) + 1.0) / f64::from(SIDE) - 1.0;
    let cells = (0..6 * SIDE * SIDE)
        .map(|number| [number / (SIDE * SIDE), number / SIDE % SIDE, number % SIDE]);
    cells.map(move |[face, row, column]| {
        let mut w = Vec3::zeros();
        let axis = (face / 2) as usize;
        w[axis] = if face % 2 == 0 { 1.0 } else { -1.0 };
        w[(axis + 1) % 3] = place(row);
        w[(axis + 2) % 3] = place(column);
        let length = w.norm();
        (w / length, 1.0 / (length * length * length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Random, ellipsoid, hull, zoo};
    use crate::until::Until;

    #[test]
    fn a_polytope_with_its_vertices_on_an_ellipsoid_is_like_that_one_however_it_stands() {
        let mut random = Random(41);
        for half in [[1.0, 1.0, 1.0], [3.0, 1.0, 0.5], [1.0, 0.1, 0.1]] {
            let pose = random.pose(Vec3::new(2.0, -1.0, 5.0));
            let body = ellipsoid(500, half, 1);
            let points: Vec<Vec3> = body.vertices().iter().map(|v| pose.apply_rounded(v)).collect();
            let like = *hull(&points).likeness(&Effort::unlimited()).unwrap();
            let round = Mat3::from_diagonal(&Vec3::from(half)).try_inverse().unwrap()
                * pose.rotation.transpose()
                * like.from_ball;
            let off = (round * round.transpose() - Mat3::identity()).amax();
            assert!(off < 0.1, "{half:?}: off by {off}");
            assert!((like.centre - pose.translation).amax() < 0.05, "{half:?}");
        }
    }

    #[test]
    fn a_body_of_any_dimension_is_like_some_ellipsoid() {
        for (name, body) in zoo() {
            let like = body.likeness(&Effort::unlimited()).unwrap();
            let numbers = like.centre.iter().chain(&like.from_ball).chain([&like.thickness]);
            assert!(numbers.clone().all(|number| number.is_finite()), "{name}: {like:?}");
            let of_box = (body.bounds().high - body.bounds().low) / 2.0;
            assert!(like.from_ball.amax() <= 1.5 * of_box.amax(), "{name}: {like:?}");
        }
    }
    /// The fit for a cone of 300,001 vertices took a sixth of a second of the first cast's time,
    /// whatever the deadline.
    #[test]
    fn a_fit_ends_at_the_deadline_and_is_not_kept_half_done() {
        let body = ellipsoid(100, [3.0, 1.0, 0.5], 1);
        let over = Until::expired();
        let stopped = body.likeness(&Effort::until(u64::MAX, &over));
        assert_eq!(stopped.map(|_| ()), Err(Stopped::Deadline));
        // It costs no steps: kept or not, the same budget is enough.
        let fitted = *body.likeness(&Effort::with_steps(0)).unwrap();
        assert!(
            (fitted.from_ball
                - Likeness::of(&body, body.reach(), &Effort::unlimited()).unwrap().from_ball)
                .amax()
                <= 0.0
        );
        assert!(body.likeness(&Effort::until(u64::MAX, &over)).is_ok());
    }
}
