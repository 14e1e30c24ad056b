//! Symmetric 3x3 matrices in six numbers: the shapes of ellipsoids, with which searches guess.

use super::{Mat3, Vec3};

/// Its diagonal, and what is beside it.
#[derive(Clone, Copy)]
pub(super) struct Symmetric {
    diagonal: Vec3,
    /// Entries (1, 2), (0, 2) and (0, 1).
    others: Vec3,
}

impl Symmetric {
    /// `R diag(h²) Rᵀ`: of the ellipsoid with half axes h along the columns of R. (Of any matrix R
    /// it is the ellipsoid onto which that and h map the unit ball.)
    #[inline(always)]
    pub(super) fn of(rotation: &Mat3, half: &Vec3) -> Self {
        let mut sum = Self { diagonal: Vec3::zeros(), others: Vec3::zeros() };
        for (k, half) in half.iter().enumerate() {
            let axis = rotation.column(k) * *half;
            sum.diagonal += axis.component_mul(&axis);
            sum.others += Vec3::new(axis.y * axis.z, axis.x * axis.z, axis.x * axis.y);
        }
        sum
    }

    #[inline(always)]
    pub(super) fn scaled(&self, by: f64) -> Self {
        Self { diagonal: self.diagonal * by, others: self.others * by }
    }

    #[inline(always)]
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self { diagonal: self.diagonal + other.diagonal, others: self.others + other.others }
    }

    #[inline(always)]
    pub(super) fn plus_diagonal(&self, by: f64) -> Self {
        Self { diagonal: self.diagonal.add_scalar(by), others: self.others }
    }

    #[inline(always)]
    pub(super) fn times(&self, v: &Vec3) -> Vec3 {
        let (d, o) = (&self.diagonal, &self.others);
        Vec3::new(
            d.x * v.x + o.z * v.y + o.y * v.z,
            o.z * v.x + d.y * v.y + o.x * v.z,
            o.y * v.x + o.x * v.y + d.z * v.z,
        )
    }

    /// `vᵀ A v`
    #[inline(always)]
    pub(super) fn product(&self, v: &Vec3) -> f64 {
        v.dot(&self.times(v))
    }

    /// The inverse times the determinant.
    #[inline(always)]
    pub(super) fn cofactors(&self) -> Self {
        let (d, o) = (&self.diagonal, &self.others);
        Self {
            diagonal: Vec3::new(
                d.y * d.z - o.x * o.x,
                d.x * d.z - o.y * o.y,
                d.x * d.y - o.z * o.z,
            ),
            others: Vec3::new(o.y * o.z - o.x * d.x, o.x * o.z - o.y * d.y, o.x * o.y - o.z * d.z),
        }
    }

    /// The determinant, given the cofactors.
    #[inline(always)]
    pub(super) fn determinant(&self, cofactors: &Self) -> f64 {
        self.diagonal.x * cofactors.diagonal.x
            + self.others.y * cofactors.others.y
            + self.others.z * cofactors.others.z
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Random;

    #[test]
    fn an_ellipsoid_s_matrix_does_what_the_full_matrices_would() {
        let mut random = Random(5);
        for _ in 0..20 {
            let rotation = random.pose(Vec3::zeros()).rotation;
            let (half, v) = (random.vector().abs().add_scalar(0.1), random.vector());
            let full = rotation * Mat3::from_diagonal(&half.component_mul(&half));
            let full = full * rotation.transpose();
            let short = Symmetric::of(&rotation, &half);
            let cofactors = short.cofactors();
            assert!((short.times(&v) - full * v).amax() < 1e-14);
            assert!((short.product(&v) - v.dot(&(full * v))).abs() < 1e-14);
            let determinant = short.determinant(&cofactors);
            assert!((determinant - full.determinant()).abs() < 1e-14);
            assert!((full * cofactors.times(&v) - v * determinant).amax() < 1e-14);
        }
    }
}
