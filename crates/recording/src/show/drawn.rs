//! What bodies look like: triangles, balls, boxes. Of curved bodies that have neither vertices nor
//! facets the box around them is drawn.

use clearance_geometry::Vec3;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pose as exact;
use clearance_proto as api;
use clearance_proto::rounded_shape::Core;

use super::place::at_place;
use crate::foxglove::{
    CubePrimitive, CylinderPrimitive, Point3, Pose, Quaternion, SceneEntity, SpherePrimitive,
    TriangleListPrimitive, Vector3,
};

/// A shape in its own frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    points: Vec<Point3>,
    indices: Vec<u32>,
    balls: Vec<([f64; 3], f64)>,
    /// Middle and full sizes.
    boxes: Vec<([f64; 3], [f64; 3])>,
    /// Along z: middle, radius and length.
    cylinders: Vec<([f64; 3], f64, f64)>,
}

/// Points of a cloud that are drawn as balls.
const BALLS_MAX: usize = 2_000;

impl Drawn {
    /// A registered shape by its description.
    pub(super) fn of(shape: &api::GetPolytopeResponse) -> Self {
        let described = shape.polytope.clone().unwrap_or_default();
        let xyz = shape.vertices.as_ref().map_or(&[] as &[f64], |points| &points.xyz);
        let points: Vec<[f64; 3]> = xyz.as_chunks().0.to_vec();
        let radius = described.radius;
        if !shape.facets.is_empty() {
            let loops = shape.facets.iter().map(|facet| facet.vertices.as_slice());
            return Self::of_facets(&points, loops);
        }
        if radius > 0.0 && !points.is_empty() {
            let balls = points.into_iter().take(BALLS_MAX).map(|at| (at, radius)).collect();
            return Self { balls, ..Self::default() };
        }
        let corner = |corner: Option<api::Vector3>| corner.map(|v| [v.x, v.y, v.z]);
        match corner(described.bounds_low).zip(corner(described.bounds_high)) {
            Some((low, high)) => Self::of_box(low, high),
            None => Self::default(),
        }
    }

    /// Points that are not registered: their hull.
    pub(super) fn of_points(xyz: &[f64]) -> Self {
        let points: Vec<Vec3> = xyz.as_chunks().0.iter().copied().map(Vec3::from).collect();
        let Ok(hull) = convex_hull(&points) else { return Self::default() };
        let vertices: Vec<[f64; 3]> =
            hull.polytope.vertices().iter().map(|vertex| [vertex.x, vertex.y, vertex.z]).collect();
        Self::of_facets(&vertices, hull.polytope.facets().rows())
    }

    /// A shape by name that is not registered. What has no place here is drawn as the box around
    /// it.
    pub(super) fn of_rounded(shape: &api::RoundedShape) -> Self {
        let scale = shape.scale.map_or([1.0; 3], |v| [v.x, v.y, v.z]);
        let radius = shape.radius;
        let around = |half: [f64; 3]| {
            let half: [f64; 3] = std::array::from_fn(|k| (half[k] * scale[k]).abs() + radius);
            Self::of_box(half.map(|x| -x), half)
        };
        match &shape.core {
            None => Self { balls: vec![([0.0; 3], radius)], ..Self::default() },
            Some(Core::Vertices(points)) if radius > 0.0 => {
                let scaled = |at: &[f64; 3]| std::array::from_fn(|k| at[k] * scale[k]);
                let balls = points.xyz.as_chunks().0.iter().take(BALLS_MAX);
                Self { balls: balls.map(|at| (scaled(at), radius)).collect(), ..Self::default() }
            }
            Some(Core::Vertices(points)) => {
                let scaled = points.xyz.iter().enumerate().map(|(k, x)| x * scale[k % 3]);
                Self::of_points(&scaled.collect::<Vec<f64>>())
            }
            Some(Core::Length(length)) => {
                let half = (length * scale[2]).abs() / 2.0;
                Self {
                    balls: [-half, half].map(|z| ([0.0, 0.0, z], radius)).into(),
                    cylinders: vec![([0.0; 3], radius, 2.0 * half)],
                    ..Self::default()
                }
            }
            Some(Core::Box(size)) => around([size.x / 2.0, size.y / 2.0, size.z / 2.0]),
            Some(Core::Ellipsoid(half)) => around([half.x, half.y, half.z]),
            Some(Core::Cylinder(api::Cylinder { radius_xy, length })) if shape.scale.is_none() => {
                Self { cylinders: vec![([0.0; 3], *radius_xy, *length)], ..Self::default() }
            }
            Some(Core::Cylinder(api::Cylinder { radius_xy, length }))
            | Some(Core::Cone(api::Cone { radius_xy, length })) => {
                around([*radius_xy, *radius_xy, length / 2.0])
            }
            // Ten metres of a plane.
            Some(Core::HalfSpace(_)) => Self::of_box([-5.0, -5.0, -0.01], [5.0, 5.0, 0.0]),
        }
    }

    fn of_box(low: [f64; 3], high: [f64; 3]) -> Self {
        let middle = std::array::from_fn(|k| f64::midpoint(low[k], high[k]));
        let size = std::array::from_fn(|k| high[k] - low[k]);
        Self { boxes: vec![(middle, size)], ..Self::default() }
    }

    /// Facets as fans of triangles. An index beyond the points is left out with its triangle.
    fn of_facets<'a>(points: &[[f64; 3]], loops: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut indices = Vec::new();
        for corners in loops {
            let Some((first, rest)) = corners.split_first() else { continue };
            let fan = rest.windows(2).map(|pair| [*first, pair[0], pair[1]]);
            let is_there =
                |triangle: &[u32; 3]| triangle.iter().all(|k| (*k as usize) < points.len());
            indices.extend(fan.filter(is_there).flatten());
        }
        let points = points.iter().map(|[x, y, z]| Point3 { x: *x, y: *y, z: *z }).collect();
        Self { points, indices, ..Self::default() }
    }

    /// Adds it to an entity, placed there.
    pub(super) fn add_to(&self, entity: &mut SceneEntity, placed: &Place, color: [f64; 4]) {
        let color = Some(color_of(color));
        if !self.indices.is_empty() {
            entity.triangles.push(TriangleListPrimitive {
                pose: Some(placed.pose([0.0; 3])),
                points: self.points.clone(),
                indices: self.indices.clone(),
                color,
                colors: Vec::new(),
            });
        }
        let even = |x: f64| Some(Vector3 { x, y: x, z: x });
        entity.spheres.extend(self.balls.iter().map(|(at, radius)| SpherePrimitive {
            pose: Some(placed.pose(*at)),
            size: even(2.0 * radius),
            color,
        }));
        entity.cubes.extend(self.boxes.iter().map(|(at, [x, y, z])| CubePrimitive {
            pose: Some(placed.pose(*at)),
            size: Some(Vector3 { x: *x, y: *y, z: *z }),
            color,
        }));
        entity.cylinders.extend(self.cylinders.iter().map(|(at, radius, length)| {
            CylinderPrimitive {
                pose: Some(placed.pose(*at)),
                size: Some(Vector3 { x: 2.0 * radius, y: 2.0 * radius, z: *length }),
                bottom_scale: 1.0,
                top_scale: 1.0,
                color,
            }
        }));
    }
}

fn color_of([r, g, b, a]: [f64; 4]) -> crate::foxglove::Color {
    crate::foxglove::Color { r, g, b, a }
}

/// Where a part is in its body.
#[derive(Clone, Debug)]
pub(super) struct Place {
    exact: exact::Pose,
    turn: Quaternion,
}

impl Place {
    /// That of a pose, which may be missing.
    pub(super) fn of(pose: Option<&api::Pose>) -> Self {
        let told = super::place::pose(pose);
        let at = told.position.unwrap_or_default();
        let turn = told.orientation.unwrap_or_default();
        let parts = [turn.w, turn.x, turn.y, turn.z];
        let exact = exact::Pose::from_quaternion(Vec3::new(at.x, at.y, at.z), parts);
        // What is no pose the server has refused.
        Self { exact: exact.unwrap_or_else(|_| exact::Pose::identity()), turn }
    }

    /// The pose in the body of what is unturned at a point of the part.
    fn pose(&self, point: [f64; 3]) -> Pose {
        let at = self.exact.apply_rounded(&Vec3::from(point));
        at_place([at.x, at.y, at.z], self.turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_facet_is_two_triangles_and_a_wrong_index_none() {
        let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let square = Drawn::of_facets(&points, [&[0, 1, 2, 3][..], &[0, 1, 9], &[]].into_iter());
        assert_eq!(square.indices, [0, 1, 2, 0, 2, 3]);
    }

    #[test]
    fn a_part_is_placed_turned_about_its_own_origin() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let rotation = api::Quaternion { w: half, x: 0.0, y: 0.0, z: half };
        let pose = api::Pose {
            translation: Some(api::Vector3 { x: 5.0, y: 0.0, z: 0.0 }),
            orientation: Some(api::pose::Orientation::Rotation(rotation)),
        };
        let at = Place::of(Some(&pose)).pose([1.0, 0.0, 0.0]).position.unwrap();
        assert!((at.x - 5.0).abs() < 1e-15 && (at.y - 1.0).abs() < 1e-15 && at.z == 0.0);
    }

    #[test]
    fn points_that_are_not_registered_are_drawn_as_their_hull() {
        let cube: Vec<f64> =
            (0..8).flat_map(|k| [k & 1, k >> 1 & 1, k >> 2].map(f64::from)).collect();
        let drawn = Drawn::of_points(&cube);
        assert_eq!((drawn.points.len(), drawn.indices.len()), (8, 36));
    }
}
