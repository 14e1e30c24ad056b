//! Bodies as judges see them.

use std::sync::Arc;

use clearance_certificates::path::{BadField, Path};
use clearance_certificates::shape;
use clearance_proof::Vec3;
use clearance_proof::claim::CurvedCore;
use clearance_proto as api;

/// A convex body, as judges see it.
#[derive(Clone, Debug)]
pub enum ConvexBody {
    /// A polytope by its vertices in canonical order (extreme points, without duplicates, by x,
    /// then y, then z), with balls of a radius around all its points, metres; 0: without.
    Points(Arc<[Vec3]>, f64),
    /// A curved body without its radius, and this.
    Curved(CurvedCore, f64),
}

impl ConvexBody {
    /// The body that a shape names by its sizes; none: it lists its points.
    pub fn named(path: &Path<'_>, shape: &api::RoundedShape) -> Result<Option<Self>, BadField> {
        if let Some((core, radius)) = shape::curved(path, shape)? {
            return Ok(Some(Self::Curved(core, radius)));
        }
        let points = shape::rounded(path, shape)?;
        Ok(points.map(|(points, radius)| Self::Points(points.into(), radius)))
    }

    /// What it is without its radius, and this, if it is curved.
    pub(crate) fn curved(&self) -> Option<(CurvedCore, f64)> {
        match self {
            Self::Points(..) => None,
            Self::Curved(core, radius) => Some((*core, *radius)),
        }
    }
}
