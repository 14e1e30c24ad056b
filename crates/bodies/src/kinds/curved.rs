//! Cylinders, cones and ellipsoids, along the axes of their own frame, with balls around all their
//! points if they have a radius. No polytope is such a body: it stands between two of them, both
//! made of unit points ([`UnitPoints`]), which are refined where a question needs it.

use std::f64::consts::PI;
use std::sync::Arc;

use super::rounded::sum_above;
use super::tangents::UnitPoints;
use super::{Figures, KindNames, Outline};
use crate::digest::DIGEST_BYTES;
use clearance_geometry::Vec3;
use clearance_geometry::claim;
use clearance_geometry::effort::Effort;
use clearance_geometry::hierarchy::HierarchyReport;
use clearance_geometry::hull::{HullError, convex_hull_with};
use clearance_geometry::number::binary::power_of_two;
use clearance_geometry::polytope::Polytope;

pub use clearance_geometry::claim::CurvedForm;

/// What the kind is called.
pub(crate) const NAMES: KindNames =
    KindNames { name: "curved", prefix: "e1-", tag: b"clearance curved 1\n" };

/// The least and the largest half size along an axis, metres: of these no square overflows, and
/// what rounding does near zero is far less than what is allowed for it.
pub const HALF_SIZES: [f64; 2] = [power_of_two(-300), power_of_two(300)];

/// Points that building one is like building the hulls of, for guesses of time and memory.
pub const COARSE_POINTS: usize = 512;

/// A form with its half sizes a, b and c along the axes, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvedCore {
    /// Says which formula the half sizes go into.
    pub form: CurvedForm,
    /// Positive, but for c of a cone; their absolute values are in [`HALF_SIZES`].
    pub half: Vec3,
}

impl CurvedCore {
    /// As judges see it.
    pub(crate) fn claimed(&self) -> claim::CurvedCore {
        claim::CurvedCore { form: self.form, half: self.half }
    }

    /// Whether its round part is a circle's, and not a ball's.
    pub(crate) fn is_of_circle(&self) -> bool {
        match self.form {
            CurvedForm::Cylinder | CurvedForm::Cone => true,
            CurvedForm::Ellipsoid => false,
        }
    }

    /// The points that unit points stand for. Their hull is in the body if these are in the ball,
    /// and holds the body if the hull of these holds the ball.
    pub(crate) fn points(&self, units: &[Vec3]) -> Vec<Vec3> {
        let Self { form, half } = self;
        let stretched = units.iter().map(|unit| unit.component_mul(half));
        let raised = |z: f64| stretched.clone().map(move |point| Vec3::new(point.x, point.y, z));
        match form {
            CurvedForm::Ellipsoid => stretched.collect(),
            CurvedForm::Cylinder => raised(-half.z).chain(raised(half.z)).collect(),
            CurvedForm::Cone => {
                raised(-half.z).chain(std::iter::once(Vec3::new(0.0, 0.0, half.z))).collect()
            }
        }
    }

    /// The unit point at which a plane with this normal touches the round part, about.
    pub(crate) fn unit_of_normal(&self, normal: &Vec3) -> Vec3 {
        self.flattened(normal.component_mul(&self.half.abs()))
    }

    /// The unit point that a point near the round part belongs to, about.
    pub(crate) fn unit_of_point(&self, point: &Vec3) -> Vec3 {
        self.flattened(point.component_div(&self.half.abs()))
    }

    fn flattened(&self, direction: Vec3) -> Vec3 {
        if self.is_of_circle() { Vec3::new(direction.x, direction.y, 0.0) } else { direction }
    }

    fn volume(&self) -> f64 {
        let around = PI * self.half.x * self.half.y * self.half.z.abs();
        match self.form {
            CurvedForm::Cylinder => 2.0 * around,
            CurvedForm::Cone => 2.0 / 3.0 * around,
            CurvedForm::Ellipsoid => 4.0 / 3.0 * around,
        }
    }
}

/// A curved body with the coarse polytopes that it is between.
#[derive(Clone, Debug)]
pub struct CurvedBody {
    /// The body without its radius.
    pub(crate) core: CurvedCore,
    /// Of the balls around all its points, metres; 0: there are none.
    pub(crate) radius: f64,
    /// What both polytopes are made of.
    pub(crate) units: Arc<UnitPoints>,
    /// In the core.
    pub(crate) inner: Arc<Polytope>,
    /// Holds the core.
    pub(crate) outer: Arc<Polytope>,
}

impl CurvedBody {
    /// A body whose half sizes were checked. The radius is finite and not negative.
    pub(crate) fn new(
        core: CurvedCore,
        radius: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Self, HullError> {
        let units = UnitPoints::coarse(core.is_of_circle());
        let [inner, outer] = polytopes(&core, &units, effort)?;
        Ok(Self { core, radius, units: Arc::new(units), inner, outer })
    }

    /// The body without its radius.
    pub fn core(&self) -> &CurvedCore {
        &self.core
    }
}

/// The polytope in a core and the one that holds it, by these unit points.
pub(crate) fn polytopes(
    core: &CurvedCore,
    units: &UnitPoints,
    effort: &mut Effort<'_>,
) -> Result<[Arc<Polytope>; 2], HullError> {
    let around = units.corners_around(effort).map_err(HullError::Stopped)?;
    let mut hull = |units: &[Vec3]| -> Result<_, HullError> {
        let polytope = convex_hull_with(&core.points(units), effort)?.polytope;
        polytope.prepare_reach(effort)?;
        Ok(Arc::new(polytope))
    };
    Ok([hull(units.all())?, hull(&around)?])
}

/// The digest of the form as a byte (0 cylinder, 1 cone, 2 ellipsoid), the half sizes and the
/// radius as f64, all little-endian.
pub(crate) fn digest(body: &CurvedBody) -> [u8; DIGEST_BYTES] {
    let CurvedCore { form, half } = body.core;
    let mut hasher = blake3::Hasher::new();
    hasher.update(NAMES.tag);
    hasher.update(&[match form {
        CurvedForm::Cylinder => 0,
        CurvedForm::Cone => 1,
        CurvedForm::Ellipsoid => 2,
    }]);
    for number in [half.x, half.y, half.z, body.radius] {
        hasher.update(&number.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// The volume of what has a radius is not told.
pub(crate) fn outline(body: &CurvedBody) -> Outline {
    let high = body.core.half.map(|half| sum_above(half.abs(), body.radius));
    Outline {
        vertex_count: 0,
        face_count: 0,
        dimension: 3,
        volume: if body.radius > 0.0 { 0.0 } else { body.core.volume() },
        bounds: [-high, high],
        shell_count: 0,
    }
}

pub(crate) fn figures() -> Figures {
    Figures { edge_count: 0, hierarchy: HierarchyReport::default() }
}

/// Memory that it takes with its polytopes, bytes.
pub(crate) fn bytes(body: &CurvedBody) -> u64 {
    let CurvedBody { units, inner, outer, .. } = body;
    (units.heap_bytes() + inner.heap_bytes() + outer.heap_bytes()) as u64
}
