//! The same questions to parry, in f64.

use parry3d_f64::glamx::DRot3;
use parry3d_f64::math::{Pose, Vector};
use parry3d_f64::query::{self, NonlinearRigidMotion, Ray, ShapeCastOptions};
use parry3d_f64::shape::{Ball, Capsule, ConvexPolyhedron, Shape as ParryShape, TriMesh};

use clearance_geometry::Vec3;

use crate::case::{Asked, Placing, Row, Shape, ShapeKind};
use crate::timing::{Timed, time};

pub struct Parry {
    shapes: Vec<Box<dyn ParryShape>>,
}

fn vector(v: &Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn pose(p: &Placing) -> Pose {
    let [w, x, y, z] = p.turn;
    Pose::from_parts(vector(&p.at), DRot3::from_xyzw(x, y, z, w))
}

fn made(shape: &Shape) -> Box<dyn ParryShape> {
    let points: Vec<Vector> = shape.vertices.iter().map(vector).collect();
    match (shape.kind, &points[..]) {
        (ShapeKind::Mesh, _) => {
            Box::new(TriMesh::new(points, shape.triangles.clone()).expect("triangles"))
        }
        (ShapeKind::Round, [_]) => Box::new(Ball::new(shape.radius)),
        (ShapeKind::Round, [a, b]) => Box::new(Capsule::new(*a, *b, shape.radius)),
        (ShapeKind::Round | ShapeKind::Hull, _) => {
            Box::new(ConvexPolyhedron::from_convex_hull(&points).expect("a hull"))
        }
    }
}

impl Parry {
    pub fn new(shapes: &[Shape]) -> Self {
        Self { shapes: shapes.iter().map(made).collect() }
    }

    /// None: it does not answer this, or takes longer than anybody waits.
    pub fn time(&self, row: &Row, all: &[Shape]) -> Option<Timed> {
        let [a, b] = row.shapes.map(|shape| &*self.shapes[shape]);
        let triangles = row.shapes.map(|shape| all[shape].triangles.len());
        let slow = triangles.iter().all(|count| *count > 20_000);
        let poses: Vec<[Pose; 2]> =
            row.places.iter().map(|place| [pose(&place.a), pose(&place.b)]).collect();
        let velocities: Vec<Vector> =
            row.places.iter().map(|place| vector(&place.velocity)).collect();
        let options = ShapeCastOptions {
            max_time_of_impact: 1.0,
            stop_at_penetration: true,
            ..ShapeCastOptions::default()
        };
        let timed = match row.asked {
            Asked::Build => time(row, |_| {
                std::hint::black_box(made(&all[row.shapes[1]]));
                0.0
            }),
            Asked::Verdict => time(row, |at| {
                let met = query::intersection_test(&poses[at][0], a, &poses[at][1], b);
                f64::from(u8::from(met.expect("answered").intersecting))
            }),
            Asked::Distance if slow => return None,
            Asked::Distance => time(row, |at| {
                let far = query::distance(&poses[at][0], a, &poses[at][1], b);
                far.expect("answered").distance
            }),
            Asked::Straight if slow => return None,
            Asked::Straight => time(row, |at| {
                let ([p, q], still) = (&poses[at], Vector::ZERO);
                query::cast_shapes(p, velocities[at], a, q, still, b, options)
                    .expect("answered")
                    .map_or(f64::INFINITY, |hit| hit.time_of_impact)
            }),
            Asked::Turning if triangles.iter().any(|count| *count > 20_000) => return None,
            Asked::Turning => time(row, |at| {
                let ([p, q], zero) = (poses[at], Vector::ZERO);
                let spin = vector(&row.places[at].spin);
                let of_a = NonlinearRigidMotion::new(p, zero, velocities[at], spin);
                let of_b = NonlinearRigidMotion::constant_position(q);
                query::cast_shapes_nonlinear(&of_a, a, &of_b, b, 0.0, 1.0, true)
                    .expect("answered")
                    .map_or(f64::INFINITY, |hit| hit.time_of_impact)
            }),
            Asked::Ray => time(row, |at| {
                let ray = Ray::new(poses[at][0].translation, velocities[at]);
                b.cast_ray(&poses[at][1], &ray, 1.0, false).unwrap_or(f64::INFINITY)
            }),
        };
        Some(timed)
    }
}
