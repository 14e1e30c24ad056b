//! The questions to this project, in process, from cold or with what the last answer left behind.

use std::sync::Arc;

use clearance_bodies::table::Wanted;
use clearance_bodies::table::distance::{DistanceAsked, DistanceQuestion};
use clearance_bodies::table::first_contact::{FirstContactQuestion, Motions};
use clearance_bodies::table::verdict::VerdictQuestion;
use clearance_bodies::{Body, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Reach, Verdict};
use clearance_geometry::contact_time;
use clearance_geometry::distance::{METHODS, Stops};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::{Pair, Question};
use clearance_geometry::polyhedron::{Polyhedron, TriangleBody, TriangleSurface};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::rays::{Ray, RayAnswer, meet_triangles};
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::witness::Witness;

use crate::case::{Asked, Place, Row, Shape, ShapeKind};
use crate::timing::{Timed, time};

/// What a mesh is taken as, and what is kept between questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As its triangles, which is what peers take it as.
    Surface,
    /// As what they enclose.
    Region,
    /// Rounded bodies, with the witness of the place before.
    Kept,
}

pub struct Ours {
    surfaces: Vec<Body>,
    regions: Vec<Body>,
    cores: Vec<Arc<Polytope>>,
    radii: Vec<f64>,
    point: Polytope,
}

const NO_PROOF: Wanted = Wanted { certificate: false, cover_steps_max: 16_384 };

/// A mesh or hull with all that a registration makes of it, its name among it.
fn body(shape: &Shape, way: Way) -> Body {
    let hull = convex_hull(&shape.vertices).expect("points").polytope;
    let body = match (shape.kind, way) {
        (ShapeKind::Mesh, Way::Region) => {
            let effort = &mut Effort::unlimited();
            let mesh = Polyhedron::new(&shape.vertices, &shape.triangles, effort);
            Body::of_polyhedron(mesh.expect("closed, without crossings"), hull)
        }
        (ShapeKind::Mesh, _) => {
            let mesh = TriangleSurface::new(&shape.vertices, &shape.triangles);
            Body::of_surface(mesh.expect("triangles"), hull)
        }
        (ShapeKind::Hull | ShapeKind::Round, _) => Body::from(hull).rounded(shape.radius),
    };
    std::hint::black_box(body.id());
    body
}

fn motion(place: &Place) -> Motion {
    let (velocity, angle) = (place.velocity, place.spin.norm());
    if angle > 0.0 {
        return Motion::Screw { pivot: None, velocity, axis: place.spin / angle, angle };
    }
    Motion::Linear { velocity }
}

impl Ours {
    pub fn new(shapes: &[Shape]) -> Self {
        let all = |way| shapes.iter().map(|shape| body(shape, way)).collect();
        let core = |shape: &Shape| Arc::new(convex_hull(&shape.vertices).expect("points").polytope);
        Self {
            surfaces: all(Way::Surface),
            regions: all(Way::Region),
            cores: shapes.iter().map(core).collect(),
            radii: shapes.iter().map(|shape| shape.radius).collect(),
            point: convex_hull(&[Vec3::zeros()]).expect("a point").polytope,
        }
    }

    /// The answer, without its time.
    pub fn answer(&self, row: &Row, place: &Place, way: Way) -> f64 {
        let poses = [place.a.pose(), place.b.pose()];
        if self.are_rounded(row) {
            return self.of_rounded(row, place, poses, &mut Witness::default());
        }
        self.of_bodies(row, place, poses, way)
    }

    /// A round of a row.
    pub fn time(&self, row: &Row, shapes: &[Shape], way: Way) -> Timed {
        let poses: Vec<[Pose; 2]> =
            row.places.iter().map(|place| [place.a.pose(), place.b.pose()]).collect();
        if row.asked == Asked::Build {
            return time(row, |_| {
                std::hint::black_box(body(&shapes[row.shapes[1]], way));
                0.0
            });
        }
        let places = &row.places;
        if self.are_rounded(row) {
            let mut kept = Witness::default();
            return time(row, |at| {
                if way != Way::Kept {
                    kept = Witness::default();
                }
                self.of_rounded(row, &places[at], poses[at], &mut kept)
            });
        }
        time(row, |at| self.of_bodies(row, &places[at], poses[at], way))
    }

    fn are_rounded(&self, row: &Row) -> bool {
        row.shapes.iter().all(|shape| self.radii[*shape] > 0.0)
    }

    fn of_bodies(&self, row: &Row, place: &Place, poses: [Pose; 2], way: Way) -> f64 {
        let all = if way == Way::Region { &self.regions } else { &self.surfaces };
        let effort = &mut Effort::unlimited();
        if row.asked == Asked::Ray {
            let ray = Ray { point: &self.point, from: place.a.at, by: place.velocity };
            let mesh = match &all[row.shapes[1]] {
                Body::Polyhedron(mesh) => TriangleBody::Region(mesh.polyhedron.clone()),
                Body::Surface(mesh) => TriangleBody::Surface(mesh.surface.clone()),
                other => panic!("a ray at a {:?}", other.kind()),
            };
            return match meet_triangles(&ray, &mesh, &poses[1], effort).expect("no limit") {
                RayAnswer::Free => f64::INFINITY,
                RayAnswer::Meets(hit) => hit.time[0],
                RayAnswer::Open => f64::NAN,
            };
        }
        let body = |k: usize| PlacedBody { body: all[row.shapes[k]].clone(), pose: poses[k] };
        let bodies = [body(0), body(1)];
        let kinds = [bodies[0].body.kind(), bodies[1].body.kind()];
        match row.asked {
            Asked::Verdict => {
                let question = VerdictQuestion::of(kinds, None).expect("answered");
                let ready = question.prepare(bodies).expect("answered");
                let found = ready.answer(NO_PROOF, effort).decided.expect("no limit");
                f64::from(u8::from(found.verdict != Verdict::Separated))
            }
            Asked::Distance => {
                let question = DistanceQuestion::of(kinds).expect("answered");
                let ready = question.prepare(bodies).expect("answered");
                let found = ready.answer(DistanceAsked::default(), NO_PROOF, effort);
                found.distance.expect("no limit").bounds()[0]
            }
            Asked::Straight | Asked::Turning => {
                let motions = Motions::new([motion(place), Motion::rest()]);
                let question =
                    FirstContactQuestion::of(kinds, poses.each_ref(), motions).expect("answered");
                let ready = question.prepare(bodies).expect("answered");
                let found = ready.answer(false, NO_PROOF, effort).expect("no limit");
                if found.outcome == Outcome::NoContact { f64::INFINITY } else { found.t_free }
            }
            Asked::Ray | Asked::Build => unreachable!("answered above"),
        }
    }

    fn of_rounded(&self, row: &Row, place: &Place, poses: [Pose; 2], witness: &mut Witness) -> f64 {
        let effort = &mut Effort::unlimited();
        let [p, q] = row.shapes.map(|shape| &*self.cores[shape]);
        let radii = row.shapes.map(|shape| self.radii[shape]);
        let pair = RoundedPair { cores: Pair::new(p, poses[0], q, poses[1]), radii };
        match row.asked {
            Asked::Verdict => {
                let found = rounded::verdict(&pair, witness, effort).expect("no limit");
                f64::from(u8::from(found.verdict != Verdict::Separated))
            }
            Asked::Distance => {
                let found = rounded::measure(&pair, &METHODS[0], Stops::default(), witness, effort);
                found.expect("no limit").lower
            }
            Asked::Straight | Asked::Turning | Asked::Ray | Asked::Build => {
                let question = Question {
                    reach: Reach::of_rounded(radii, 0.0),
                    ..Question::new(pair.cores, motion(place), Motion::rest())
                };
                let method = &contact_time::METHODS[0];
                let found = rounded::first_contact(method, &question, &pair, witness, effort);
                let found = found.expect("no limit");
                match &found.later {
                    None => 0.0,
                    Some(later) if later.outcome == Outcome::NoContact => f64::INFINITY,
                    Some(later) => later.t_free,
                }
            }
        }
    }
}
