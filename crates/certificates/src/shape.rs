//! Bodies by name: what a shape is that a question or a registration gives, as points with balls
//! around them, or as a curved body.

use std::fmt::Display;

use crate::geometry::{length, vector};
use crate::path::{BadField, Path};
use clearance_proof::Vec3;
use clearance_proof::claim::{CurvedCore, CurvedForm};
use clearance_proof::number::binary::power_of_two;
use clearance_proof::pose::COORDINATE_MAX;
use clearance_proto as api;
use clearance_proto::rounded_shape::Core;

/// The least and the largest half size of a curved body along an axis, metres: of these no square
/// overflows.
pub const HALF_SIZES: [f64; 2] = [power_of_two(-300), power_of_two(300)];

/// How far a half space reaches that does not say, metres: 2^20.
const DEFAULT_REACH: f64 = 1_048_576.0;

/// Three numbers, none of them 0, of at most 2^960, that coordinates are multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    factors: Vec3,
}

impl Scale {
    /// Checks a scale, if there is one.
    pub fn convert(path: &Path<'_>, wire: Option<&api::Vector3>) -> Result<Option<Self>, BadField> {
        let Some(wire) = wire else { return Ok(None) };
        let factors = vector(path, Some(wire))?;
        match ["x", "y", "z"].into_iter().zip(&factors).find(|(_, factor)| **factor == 0.0) {
            Some((name, _)) => Err(path.field(name).bad("must not be 0")),
            None => Ok(Some(Self { factors })),
        }
    }

    /// Multiplies all coordinates, each product rounded to the nearest f64; they may be `most`.
    /// More is the fault of `field`.
    pub fn apply(
        self,
        field: &dyn Display,
        points: &mut [Vec3],
        most: f64,
    ) -> Result<(), BadField> {
        for point in points {
            point.component_mul_assign(&self.factors);
            if point.amax() > most {
                let problem = format!("takes a coordinate beyond 2^{}", most.log2());
                return Err(BadField { field: field.to_string(), problem: problem.into() });
            }
        }
        Ok(())
    }

    /// Whether it turns left hands into right ones.
    pub fn is_mirroring(self) -> bool {
        self.factors.iter().filter(|factor| **factor < 0.0).count() % 2 == 1
    }

    /// Whether all it may do is mirror: each factor is 1 or -1, exactly.
    pub fn keeps_sizes(self) -> bool {
        self.factors.iter().all(|factor| factor.abs().to_bits() == 1.0_f64.to_bits())
    }
}

const OUT_OF_RANGE: &str = "must be at least 2^-299 and at most 2^300";

/// The curved body that a shape names, without its radius, and this, if it names one.
pub fn curved(
    path: &Path<'_>,
    wire: &api::RoundedShape,
) -> Result<Option<(CurvedCore, f64)>, BadField> {
    let (form, half) = match &wire.core {
        None | Some(Core::Vertices(_) | Core::Length(_) | Core::Box(_) | Core::HalfSpace(_)) => {
            return Ok(None);
        }
        Some(Core::Cylinder(api::Cylinder { radius_xy, length })) => {
            let path = path.field("cylinder");
            (CurvedForm::Cylinder, around_z(&path, *radius_xy, *length)?)
        }
        Some(Core::Cone(api::Cone { radius_xy, length })) => {
            (CurvedForm::Cone, around_z(&path.field("cone"), *radius_xy, *length)?)
        }
        Some(Core::Ellipsoid(api::Vector3 { x, y, z })) => {
            let path = path.field("ellipsoid");
            let half = |name, value| size(&path.field(name), value);
            (CurvedForm::Ellipsoid, Vec3::new(half("x", *x)?, half("y", *y)?, half("z", *z)?))
        }
    };
    let radius = length(&path.field("radius"), wire.radius)?;
    let scale_path = path.field("scale");
    let mut half = [half];
    if let Some(scale) = Scale::convert(&scale_path, wire.scale.as_ref())? {
        scale.apply(&scale_path, &mut half, HALF_SIZES[1])?;
    }
    let [mut half] = half;
    if half.abs().min() < HALF_SIZES[0] {
        return Err(scale_path.bad("takes a half size below 2^-300"));
    }
    // Only of a cone a mirrored one is another.
    let is_cone = form == CurvedForm::Cone;
    half = Vec3::new(half.x.abs(), half.y.abs(), if is_cone { half.z } else { half.z.abs() });
    Ok(Some((CurvedCore { form, half }, radius)))
}

/// Half sizes of what has a circle around z.
fn around_z(path: &Path<'_>, radius: f64, length: f64) -> Result<Vec3, BadField> {
    let radius = size(&path.field("radius_xy"), radius)?;
    Ok(Vec3::new(radius, radius, size(&path.field("length"), length)? / 2.0))
}

/// A size of which also the half may be one.
fn size(path: &Path<'_>, value: f64) -> Result<f64, BadField> {
    // Written so that NaN lands in the error.
    if (2.0 * HALF_SIZES[0]..=HALF_SIZES[1]).contains(&value) {
        Ok(value)
    } else {
        Err(path.bad(OUT_OF_RANGE))
    }
}

/// The points, not scaled, whose hull the core of a shape is that names its sizes; none: it lists
/// its points, or is curved.
pub fn core_points(path: &Path<'_>, core: Option<&Core>) -> Result<Option<Vec<Vec3>>, BadField> {
    Ok(Some(match core {
        None => vec![Vec3::zeros()],
        Some(Core::Length(size)) => {
            let half = length(&path.field("length"), *size)? / 2.0;
            vec![Vec3::new(0.0, 0.0, -half), Vec3::new(0.0, 0.0, half)]
        }
        Some(Core::Box(sizes)) => {
            let path = path.field("box");
            let half = |name, size| length(&path.field(name), size).map(|size| size / 2.0);
            let [x, y, z] = [half("x", sizes.x)?, half("y", sizes.y)?, half("z", sizes.z)?];
            corners(x, y, [-z, z])
        }
        Some(Core::HalfSpace(half_space)) => {
            let path = path.field("half_space");
            let path = path.field("reach");
            let reach = match length(&path, half_space.reach)? {
                0.0 => DEFAULT_REACH,
                reach if reach > COORDINATE_MAX / 2.0 => {
                    return Err(path.bad("must be at least 0 and at most 2^959"));
                }
                reach => reach,
            };
            corners(reach, reach, [-2.0 * reach, 0.0])
        }
        Some(Core::Vertices(_) | Core::Cylinder(_) | Core::Cone(_) | Core::Ellipsoid(_)) => {
            return Ok(None);
        }
    }))
}

fn corners(x: f64, y: f64, z: [f64; 2]) -> Vec<Vec3> {
    let ends = |half: f64| [-half, half];
    let along_z = |x: f64, y: f64| z.map(|z| Vec3::new(x, y, z));
    ends(x).iter().flat_map(|x| ends(y).map(|y| along_z(*x, y))).flatten().collect()
}

/// The vertices of a shape that names its sizes, in canonical order, with balls of a radius around
/// them; none: it lists its points, or is curved.
pub fn rounded(
    path: &Path<'_>,
    wire: &api::RoundedShape,
) -> Result<Option<(Vec<Vec3>, f64)>, BadField> {
    let Some(mut points) = core_points(path, wire.core.as_ref())? else { return Ok(None) };
    let radius = length(&path.field("radius"), wire.radius)?;
    let scale_path = path.field("scale");
    if let Some(scale) = Scale::convert(&scale_path, wire.scale.as_ref())? {
        scale.apply(&scale_path, &mut points, COORDINATE_MAX)?;
    }
    // -0 is 0.
    points.iter_mut().for_each(|point| *point += Vec3::zeros());
    points.sort_by(|a, b| a.iter().partial_cmp(b.iter()).unwrap_or(std::cmp::Ordering::Equal));
    points.dedup();
    Ok(Some((points, radius)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(core: Option<Core>) -> api::RoundedShape {
        api::RoundedShape { core, radius: 0.5, scale: None }
    }

    #[test]
    fn shapes_by_sizes_are_points_in_canonical_order_and_others_are_not() {
        let read = |core| rounded(&Path::ROOT, &shape(core)).unwrap();
        assert_eq!(read(None), Some((vec![Vec3::zeros()], 0.5)));
        let (ends, _) = read(Some(Core::Length(2.0))).unwrap();
        assert_eq!(ends, [-Vec3::z(), Vec3::z()]);
        let flat = api::Vector3 { x: 2.0, y: 4.0, z: 0.0 };
        let (corners, _) = read(Some(Core::Box(flat))).unwrap();
        let expected = [[-1.0, -2.0], [-1.0, 2.0], [1.0, -2.0], [1.0, 2.0]];
        assert_eq!(corners, expected.map(|[x, y]| Vec3::new(x, y, 0.0)));
        assert_eq!(read(Some(Core::Vertices(api::Points::default()))), None);
        assert_eq!(read(Some(Core::Cone(api::Cone::default()))), None);
    }

    #[test]
    fn curved_shapes_have_half_sizes_and_only_a_cone_is_mirrored() {
        let sizes = || (1.0, 3.0);
        let cone = |(radius_xy, length)| Core::Cone(api::Cone { radius_xy, length });
        let tube = |(radius_xy, length)| Core::Cylinder(api::Cylinder { radius_xy, length });
        let scale = Some(api::Vector3 { x: -2.0, y: 1.0, z: -1.0 });
        let read = |core, scale| {
            let shape = api::RoundedShape { scale, ..shape(Some(core)) };
            curved(&Path::ROOT, &shape).unwrap().unwrap().0.half
        };
        assert_eq!(read(cone(sizes()), scale), Vec3::new(2.0, 1.0, -1.5));
        assert_eq!(read(tube(sizes()), scale), Vec3::new(2.0, 1.0, 1.5));
        let wrong = shape(Some(cone((0.0, 1.0))));
        assert_eq!(curved(&Path::ROOT, &wrong).unwrap_err().field, "cone.radius_xy");
        assert_eq!(curved(&Path::ROOT, &shape(None)), Ok(None));
    }
}
