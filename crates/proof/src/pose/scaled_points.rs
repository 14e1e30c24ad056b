//! Exact placed coordinates as integers: `R v + t` times a power of two that all points of a
//! question share.

use super::Pose;
use crate::Vec3;
use crate::number::scaled::{Integers, dot, integer_at, least_exponent};

/// The placed points `R v + t` of one body as integers on a given exponent, converted when first
/// asked for.
#[derive(Clone, Debug)]
pub struct ScaledPoints<'a> {
    points: &'a [Vec3],
    /// Exponent of the body's own coordinates.
    local_exponent: i64,
    /// Rows of R on the common exponent less the local one.
    rotation: [Integers; 3],
    translation: Integers,
    /// Where in `placed` a point is, or [`NOT_YET`], by pages of which none is made before one of
    /// its points is kept: of a large body few are asked for.
    slots: Vec<Option<Box<[u32; PAGE]>>>,
    placed: Vec<Integers>,
}

const NOT_YET: u32 = u32::MAX;
/// Points in a page.
const PAGE: usize = 256;

/// What the numbers of one placed body need of a common exponent.
#[derive(Clone, Copy, Debug)]
pub struct Exponents {
    /// Least exponent of the body's own coordinates.
    local: i64,
    /// Least exponent of the placed points: of products `R v` and of t.
    pub placed: i64,
}

impl Exponents {
    /// Looks at every coordinate once.
    pub fn of(points: &[Vec3], pose: &Pose) -> Self {
        Self::of_looked_at(Self::least_of(points), pose)
    }

    /// The least exponent of the coordinates of points, which may be kept with these.
    pub fn least_of(points: &[Vec3]) -> i64 {
        least_exponent(points.iter().flat_map(Vec3::iter)).unwrap_or(0)
    }

    /// Of points with this least exponent.
    pub fn of_looked_at(local: i64, pose: &Pose) -> Self {
        let rotation = least_exponent(pose.rotation.iter()).unwrap_or(0);
        let products = local + rotation;
        let placed = least_exponent(pose.translation.iter()).map_or(products, |t| t.min(products));
        Self { local, placed }
    }
}

impl<'a> ScaledPoints<'a> {
    /// `exponent` is at most `exponents.placed`.
    pub fn new(points: &'a [Vec3], pose: &Pose, exponents: Exponents, exponent: i64) -> Self {
        let rotation = std::array::from_fn(|i| {
            std::array::from_fn(|k| integer_at(pose.rotation[(i, k)], exponent - exponents.local))
        });
        let translation = std::array::from_fn(|i| integer_at(pose.translation[i], exponent));
        Self {
            points,
            local_exponent: exponents.local,
            rotation,
            translation,
            slots: Vec::new(),
            placed: Vec::new(),
        }
    }

    /// Point `i` in the body's own frame, on an exponent of its own.
    pub fn local(&self, i: u32) -> Integers {
        let v = &self.points[i as usize];
        std::array::from_fn(|k| integer_at(v[k], self.local_exponent))
    }

    /// Placed point `i`, converted anew.
    pub fn place(&self, i: u32) -> Integers {
        let v = self.local(i);
        std::array::from_fn(|k| dot(&self.rotation[k], &v) + &self.translation[k])
    }

    /// Placed point `i`, which is kept.
    pub fn point(&mut self, i: u32) -> &Integers {
        if self.slots.is_empty() {
            self.slots.resize(self.points.len().div_ceil(PAGE), None);
        }
        let (page, at) = (i as usize / PAGE, i as usize % PAGE);
        let known = self.slots[page].as_ref().map_or(NOT_YET, |page| page[at]);
        if known != NOT_YET {
            return &self.placed[known as usize];
        }
        let new = self.placed.len();
        self.placed.push(self.place(i));
        let page = self.slots[page].get_or_insert_with(|| Box::new([NOT_YET; PAGE]));
        page[at] = u32::try_from(new).expect("as many as vertices");
        &self.placed[new]
    }

    /// `Rᵀ n` up to a positive factor: the functional `n·(R v + t)` as one of v.
    pub fn direction_in_body(&self, n: &Integers) -> Integers {
        std::array::from_fn(|k| {
            &self.rotation[0][k] * &n[0]
                + &self.rotation[1][k] * &n[1]
                + &self.rotation[2][k] * &n[2]
        })
    }
}

#[cfg(test)]
mod tests {
    use dashu_int::IBig;

    use super::*;
    use crate::Mat3;
    use crate::number::dyadic::Dyadic;

    fn dyadic(x: &IBig, exponent: i64) -> Dyadic {
        Dyadic::new(x.clone(), exponent)
    }

    #[test]
    fn placed_points_equal_the_same_sums_of_dyadic_numbers_at_every_scale() {
        let rotation = Mat3::new(0.36, 0.48, -0.8, -0.8, 0.6, 1e-17, 0.48, 0.64, 0.6);
        for scale in [1.0, 2f64.powi(-1060), 2f64.powi(900), 1e-30] {
            let pose = Pose { rotation, translation: Vec3::new(0.1, -3e7, 0.0) };
            let points =
                [Vec3::new(0.1, 0.2, -0.3) * scale, Vec3::new(1.0, -0.0, f64::from_bits(1))];
            let exponents = Exponents::of(&points, &pose);
            let exponent = exponents.placed - 3;
            let mut scaled = ScaledPoints::new(&points, &pose, exponents, exponent);
            for (i, v) in [(0u32, points[0]), (1, points[1]), (0, points[0])] {
                for (k, got) in scaled.point(i).clone().iter().enumerate() {
                    let mut want = Dyadic::from(pose.translation[k]);
                    for l in 0..3 {
                        let term = &Dyadic::from(pose.rotation[(k, l)]) * &Dyadic::from(v[l]);
                        want = &want + &term;
                    }
                    assert_eq!(dyadic(got, exponent), want, "scale {scale} row {k}");
                }
            }
        }
    }
}
