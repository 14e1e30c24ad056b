//! Answers by asking a server over gRPC, one call a question.

use std::collections::BTreeMap;

use tokio::runtime::Runtime;

use super::Methods;
use super::cases::{Case, Kind};
use super::respondent::{Asked, HullFacts, Respondent};
use clearance_certificates::certificate::{at_most, chain, proof, range, surface};
use clearance_certificates::geometry::{direction, vector, vector_to_wire};
use clearance_certificates::path::Path;
use clearance_client::{Client, Registered, api, spec_of};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{FirstContact, Outcome, Span};
use clearance_geometry::distance::Distance;
use clearance_geometry::effort::Cost;
use clearance_geometry::penetration::{Depth, Range};
use clearance_geometry::separation::Decision;

/// A server, asked from this thread.
pub(crate) struct Server {
    runtime: Runtime,
    client: Client,
    methods: Methods,
    known: BTreeMap<u64, Registered>,
    cost: Cost,
}

impl Server {
    /// Connects.
    pub(crate) fn connect(url: &str, methods: Methods) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let client = runtime.block_on(Client::connect(url)).map_err(words)?;
        Ok(Self { client, methods, known: BTreeMap::new(), cost: Cost::default(), runtime })
    }

    fn bodies(&self, case: &Case) -> [Option<api::PlacedBody>; 2] {
        let body = |id, [x, y, z]: [f64; 3], [qw, qx, qy, qz]: [f64; 4]| {
            let rotation = api::Quaternion { w: qw, x: qx, y: qy, z: qz };
            let pose = api::Pose {
                translation: Some(api::Vector3 { x, y, z }),
                orientation: Some(api::pose::Orientation::Rotation(rotation)),
            };
            self.known.get(id).map(|polytope| polytope.placed(pose))
        };
        [
            body(&case.p, case.translation_p, case.quaternion_p),
            body(&case.q, case.translation_q, case.quaternion_q),
        ]
    }

    fn count(&mut self, cost: Option<api::Cost>) {
        let Some(cost) = cost else { return };
        self.cost += Cost {
            steps: cost.steps,
            supports: cost.supports,
            visited: cost.visited,
            exact_stages: cost.exact_stages,
            witness_hits: cost.witness_hits,
            queries: cost.queries,
            candidates: cost.candidates,
            layers: cost.layers,
            handed_over: cost.handed_over,
            by_bounds: cost.by_bounds,
            searches: 0, // The wire does not tell them.
        };
    }
}

/// The options that name a method.
fn searching_by(method: &str) -> Option<api::QueryOptions> {
    Some(api::QueryOptions { method: method.to_owned(), ..Default::default() })
}

/// One unary call of the query service.
macro_rules! call {
    ($self:ident.$method:ident($request:expr)) => {{
        let call = $self.client.$method($request);
        let response = $self.runtime.block_on(call).map_err(words)?;
        $self.count(response.cost);
        response
    }};
}

impl Respondent for Server {
    fn learn(&mut self, id: u64, points: &[[f64; 3]]) -> Result<(), String> {
        let call = self.client.register_points(points);
        self.known.insert(id, self.runtime.block_on(call).map_err(words)?);
        Ok(())
    }

    fn hull(&mut self, points: &[[f64; 3]]) -> Result<HullFacts, String> {
        let polytopes = vec![spec_of(points)];
        let request = api::RegisterPolytopesRequest { polytopes, validate_only: true };
        let call = self.client.register_polytopes(request);
        let report =
            self.runtime.block_on(call).map_err(words)?.reports.pop().ok_or("no report")?;
        let polytope = report.polytope.ok_or("no polytope")?;
        let mut given_of_vertex = vec![u32::MAX; polytope.vertex_count as usize];
        for (given, vertex) in (0..).zip(&report.vertex_of_given) {
            if let Ok(vertex) = usize::try_from(*vertex) {
                let slot = given_of_vertex.get_mut(vertex).ok_or("no such vertex")?;
                *slot = given.min(*slot);
            }
        }
        Ok(HullFacts {
            dimension: u8::try_from(polytope.dimension).map_err(|error| error.to_string())?,
            faces: polytope.face_count as usize,
            volume: polytope.volume,
            given_of_vertex,
        })
    }

    fn decide(&mut self, asked: &Asked<'_>) -> Result<Decision, String> {
        let ([p, q], options) =
            (self.bodies(asked.case), searching_by(self.methods.separation.name));
        let request = api::CheckCollisionRequest { p, q, margin: None, options };
        let response = call!(self.check_collision(request));
        decision(response.certificate.as_ref())
    }

    fn distance(&mut self, asked: &Asked<'_>) -> Result<Distance, String> {
        let ([p, q], options) = (self.bodies(asked.case), searching_by(self.methods.distance.name));
        let request = api::MeasureDistanceRequest { p, q, options, ..Default::default() };
        let response = call!(self.measure_distance(request));
        let certificate = response.certificate.unwrap_or_default();
        let bracket = response.distance.ok_or("no bracket")?;
        Ok(Distance {
            decision: decision(certificate.verdict.as_ref())?,
            lower: bracket.lower,
            upper: bracket.upper,
            pairs: at_most(&Path::ROOT, &certificate.pairs).map_err(words)?,
            closest_p: vector(&Path::ROOT, response.closest_p.as_ref()).map_err(words)?,
            closest_q: vector(&Path::ROOT, response.closest_q.as_ref()).map_err(words)?,
            stopped: None,
        })
    }

    fn depth(&mut self, asked: &Asked<'_>) -> Result<Depth, String> {
        let [p, q] = self.bodies(asked.case);
        let request = api::MeasurePenetrationRequest { p, q, with_surface: true, options: None };
        let response = call!(self.measure_penetration(request));
        let certificate = response.certificate.unwrap_or_default();
        let bracket = response.depth.ok_or("no bracket")?;
        let face = certificate.face.as_ref();
        let face = face.map(|face| direction(&Path::ROOT, Some(face))).transpose();
        let shell = certificate.surface.as_ref().map(|wire| surface(&Path::ROOT, wire));
        Ok(Depth {
            decision: decision(certificate.verdict.as_ref())?,
            lower: bracket.lower,
            upper: bracket.upper,
            direction: vector(&Path::ROOT, response.direction.as_ref()).map_err(words)?,
            face: face.map_err(words)?,
            surface: shell.transpose().map_err(words)?,
            stopped: None,
        })
    }

    fn along(&mut self, asked: &Asked<'_>, along: &Vec3) -> Result<Range, String> {
        let ([p, q], options) = (self.bodies(asked.case), searching_by(self.methods.along.name));
        let direction = Some(vector_to_wire(along));
        let request = api::MeasureDistanceAlongRequest { p, q, direction, options };
        let response = call!(self.measure_distance_along(request));
        let ends = |bracket: api::Bracket| [bracket.lower, bracket.upper];
        let (enter, exit) = (response.enter.map(ends), response.exit.map(ends));
        let proof = response.range_certificate.map(|wire| range(&Path::ROOT, &wire));
        Ok(Range {
            decision: decision(response.certificate.as_ref())?,
            proof: proof.transpose().map_err(words)?,
            span: enter.zip(exit).map(|(enter, exit)| Span { enter, exit }),
        })
    }

    fn first_contact(&mut self, asked: &Asked<'_>) -> Result<FirstContact, String> {
        let method = self.methods.first_contact_of(&asked.motion_question());
        let ([p, q], options) = (self.bodies(asked.case), searching_by(method.name));
        let [p_motion, q_motion] = motions(asked.case);
        let request = api::FindFirstContactRequest {
            p,
            q,
            p_motion,
            q_motion,
            p_deviation: asked.case.deviation,
            margin: asked.case.contact_margin,
            options,
            ..Default::default()
        };
        let response = call!(self.find_first_contact(request));
        let outcome = match response.outcome() {
            api::Outcome::Contact => Outcome::Contact,
            api::Outcome::NoContact => Outcome::NoContact,
            api::Outcome::Undecided => Outcome::Undecided,
            api::Outcome::Unspecified => return Err("no outcome".to_owned()),
        };
        let certificate = response.certificate.unwrap_or_default();
        Ok(FirstContact {
            outcome,
            t_free: response.t_free,
            t_contact: response.t_contact.unwrap_or(1.0),
            chain: chain(&Path::ROOT, &certificate.chain).map_err(words)?,
            pairs: at_most(&Path::ROOT, &certificate.contact_pairs).map_err(words)?,
            initial: decision(certificate.initial.as_ref())?.proof,
            stopped: None,
        })
    }

    fn take_cost(&mut self) -> Cost {
        std::mem::take(&mut self.cost)
    }
}

fn motions(case: &Case) -> [Option<api::Motion>; 2] {
    let vector = |[x, y, z]: [f64; 3]| Some(api::Vector3 { x, y, z });
    let motion = |velocity, axis, angle| {
        let kind = match case.kind {
            Kind::Static | Kind::Linear => {
                api::motion::Kind::Linear(api::LinearMotion { velocity: vector(velocity) })
            }
            Kind::Screw => api::motion::Kind::Screw(api::ScrewMotion {
                pivot: None,
                velocity: vector(velocity),
                axis: vector(axis),
                angle,
            }),
        };
        Some(api::Motion { kind: Some(kind) })
    };
    [
        motion(case.velocity_p, case.axis_p, case.angle_p),
        motion(case.velocity_q, case.axis_q, case.angle_q),
    ]
}

fn decision(certificate: Option<&api::StaticCertificate>) -> Result<Decision, String> {
    Ok(Decision { proof: proof(&Path::ROOT, certificate).map_err(words)? })
}

fn words<E: std::fmt::Display>(error: E) -> String {
    error.to_string()
}
