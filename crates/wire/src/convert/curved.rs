//! Cylinders, cones and ellipsoids by name.

use crate::path::Path;
use crate::status::Failure;
use clearance_bodies::kinds::curved::{CurvedCore, CurvedForm, HALF_SIZES};
use clearance_bodies::{Body, Kind};
use clearance_certificates::shape;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::HullError;
use clearance_proto as api;

const _: () = assert!(
    HALF_SIZES[0].to_bits() == shape::HALF_SIZES[0].to_bits()
        && HALF_SIZES[1].to_bits() == shape::HALF_SIZES[1].to_bits(),
    "whoever reads a curved body takes what can be built"
);

/// A curved body as it was asked for; the polytopes that it is between are still to be built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvedShape {
    core: CurvedCore,
    radius: f64,
}

impl CurvedShape {
    /// The curved body that a shape names, if it names one.
    pub fn convert(path: &Path<'_>, wire: &api::RoundedShape) -> Result<Option<Self>, Failure> {
        let named = shape::curved(path, wire)?;
        Ok(named.map(|(claimed, radius)| {
            let core = CurvedCore { form: claimed.form, half: claimed.half };
            Self { core, radius }
        }))
    }

    /// What it is without its radius, as judges see it.
    pub fn core(&self) -> clearance_geometry::claim::CurvedCore {
        clearance_geometry::claim::CurvedCore { form: self.core.form, half: self.core.half }
    }

    /// Its radius, metres.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        Kind::of_curved()
    }

    /// What it is: its form as a number, its half sizes and its radius.
    pub fn numbers(&self) -> (u8, [f64; 4]) {
        let CurvedCore { form, half } = self.core;
        let form = match form {
            CurvedForm::Cylinder => 0,
            CurvedForm::Cone => 1,
            CurvedForm::Ellipsoid => 2,
        };
        (form, [half.x, half.y, half.z, self.radius])
    }

    /// Builds the polytopes that it is between; takes a while.
    pub fn build(&self, effort: &mut Effort<'_>) -> Result<Body, HullError> {
        Body::of_curved(self.core, self.radius, effort)
    }
}

pub use clearance_bodies::kinds::curved::COARSE_POINTS as POINTS;
