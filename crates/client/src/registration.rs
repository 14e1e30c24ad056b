//! Bodies and robots, registered once and used by their ids.

use std::sync::Arc;

use prost::Message;
use prost::bytes::Bytes;

use crate::connection::Client;
use crate::error::Error;
use clearance_proof::Vec3;
use clearance_proto as api;

/// Polytopes of one message, at most.
const ITEMS_MAX: usize = 500;

/// Bytes of one message, about: a half of what servers take by default.
const BYTES_MAX: usize = 2 << 20;

/// A registered polytope.
#[derive(Clone, Debug)]
pub struct Registered {
    /// Its id: the same on every server.
    pub id: String,
    /// Its vertices in the order that certificates name them by; empty where the client gave a
    /// file, whose points the server has read.
    pub vertices: Arc<[Vec3]>,
    /// What the server reports of it.
    pub report: api::RegistrationReport,
}

impl Registered {
    /// It as a body of a question, with its origin at a place.
    pub fn at(&self, [x, y, z]: [f64; 3]) -> api::PlacedBody {
        let translation = Some(api::Vector3 { x, y, z });
        self.placed(api::Pose { translation, orientation: None })
    }

    /// It as a body of a question, in a pose.
    pub fn placed(&self, pose: api::Pose) -> api::PlacedBody {
        let source = Some(api::placed_body::Source::Id(self.id.clone()));
        api::PlacedBody { source, pose: Some(pose) }
    }

    /// It as a body of a session that has this number.
    pub fn body(&self, id: u32, pose: api::Pose) -> api::Body {
        let source = Some(api::placed_body::Source::Id(self.id.clone()));
        let parts = vec![api::PlacedBody { source, pose: None }];
        api::Body { id: Some(id), parts, pose: Some(pose), ..api::Body::default() }
    }
}

/// The specification of the hull of some points.
pub fn spec_of(points: &[[f64; 3]]) -> api::PolytopeSpec {
    let xyz = points.iter().flatten().copied().collect();
    let source = api::polytope_spec::Source::Vertices(api::Points { xyz });
    api::PolytopeSpec { source: Some(source), ..api::PolytopeSpec::default() }
}

impl Client {
    /// Registers the hull of some points.
    pub async fn register_points(&self, points: &[[f64; 3]]) -> Result<Registered, Error> {
        let mut registered = self.register(vec![spec_of(points)]).await?;
        registered.pop().ok_or(Error::Protocol("no polytope was registered"))
    }

    /// Registers polytopes, in several messages if they are many. Those of a message are registered
    /// all, or none on an error.
    pub async fn register(&self, specs: Vec<api::PolytopeSpec>) -> Result<Vec<Registered>, Error> {
        let mut registered = Vec::with_capacity(specs.len());
        for polytopes in pieces(specs) {
            let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
            let reports = self.register_polytopes(request.clone()).await?.reports;
            registered.extend(self.took(request.polytopes, reports)?);
        }
        Ok(registered)
    }

    /// Takes in what was registered, to register it again where a server has forgotten it.
    fn took(
        &self,
        specs: Vec<api::PolytopeSpec>,
        reports: Vec<api::RegistrationReport>,
    ) -> Result<Vec<Registered>, Error> {
        if reports.len() != specs.len() {
            return Err(Error::Protocol("not every polytope was registered"));
        }
        let mut registered = Vec::with_capacity(specs.len());
        for (spec, report) in specs.into_iter().zip(reports) {
            let polytope = report.polytope.as_ref();
            let id = polytope.map(|polytope| polytope.id.clone());
            let id = id.ok_or(Error::Protocol("not every polytope was registered"))?;
            let vertices = vertices(&spec, &report).ok_or(Error::Protocol(
                "the report of a registration names vertices that there are not",
            ))?;
            self.known().add_polytope(&id, vertices.clone(), spec);
            registered.push(Registered { id, vertices, report });
        }
        Ok(registered)
    }

    /// Takes in what was registered by a call of bytes, if this was one.
    pub(crate) fn took_bytes(
        &self,
        method: &str,
        request: Bytes,
        reply: &Bytes,
    ) -> Result<(), Error> {
        let unread = |_| Error::Protocol("the reply to a registration cannot be read");
        match method {
            "/clearance.v1.PolytopeService/RegisterPolytopes" => {
                let request = api::RegisterPolytopesRequest::decode(request).map_err(unread)?;
                let reply =
                    api::RegisterPolytopesResponse::decode(reply.clone()).map_err(unread)?;
                if !request.validate_only {
                    self.took(request.polytopes, reply.reports)?;
                }
            }
            "/clearance.v1.RobotService/RegisterRobot" => {
                let request = api::RegisterRobotRequest::decode(request).map_err(unread)?;
                let reply = api::RegisterRobotResponse::decode(reply.clone()).map_err(unread)?;
                if let (false, Some(robot)) = (request.validate_only, reply.robot) {
                    self.known().add_robot(&robot.id, request);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Registers a robot.
    pub async fn register_robot(
        &self,
        request: api::RegisterRobotRequest,
    ) -> Result<api::Robot, Error> {
        let ask = async || self.robots().register_robot(request.clone()).await;
        let robot = self.retried(ask).await?.into_inner().robot;
        let robot = robot.ok_or(Error::Protocol("no robot was registered"))?;
        if !request.validate_only {
            self.known().add_robot(&robot.id, request);
        }
        Ok(robot)
    }

    /// Registers everything again that was registered: for a server that has forgotten it, or has
    /// never known it.
    pub async fn register_again(&self) -> Result<(), Error> {
        let (specs, robots) = self.known().all();
        self.register(specs).await?;
        for request in robots {
            self.register_robot(request).await?;
        }
        Ok(())
    }
}

/// Specifications in the order given, as many at once as one message takes.
fn pieces(specs: Vec<api::PolytopeSpec>) -> Vec<Vec<api::PolytopeSpec>> {
    let mut pieces: Vec<Vec<api::PolytopeSpec>> = Vec::new();
    let mut bytes = BYTES_MAX;
    for spec in specs {
        bytes += spec.encoded_len();
        match pieces.last_mut().filter(|piece| bytes <= BYTES_MAX && piece.len() < ITEMS_MAX) {
            Some(piece) => piece.push(spec),
            None => {
                bytes = spec.encoded_len();
                pieces.push(vec![spec]);
            }
        }
    }
    pieces
}

/// The vertices of what was registered, if the client knows its points; none if the report is
/// wrong.
fn vertices(spec: &api::PolytopeSpec, report: &api::RegistrationReport) -> Option<Arc<[Vec3]>> {
    use api::polytope_spec::Source;
    let xyz = match &spec.source {
        Some(Source::Vertices(points)) => &points.xyz,
        Some(Source::Mesh(mesh)) => match &mesh.vertices {
            Some(points) => &points.xyz,
            None => return Some([].into()),
        },
        // What a rounded shape is, its sizes say.
        Some(
            Source::File(_)
            | Source::Rounded(_)
            | Source::Cloud(_)
            | Source::HeightField(_)
            | Source::HeightPatch(_),
        )
        | None => {
            return Some([].into());
        }
    };
    let count = report.polytope.as_ref()?.vertex_count as usize;
    let (points, _) = xyz.as_chunks::<3>();
    let mut vertices = vec![None; count.min(points.len())];
    for (point, vertex) in points.iter().zip(&report.vertex_of_given) {
        // Less than zero: it is none.
        if let Ok(vertex) = usize::try_from(*vertex) {
            *vertices.get_mut(vertex)? = Some(Vec3::from(*point));
        }
    }
    let vertices: Option<Vec<Vec3>> = vertices.into_iter().collect();
    vertices.filter(|vertices| vertices.len() == count).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_stand_in_the_order_of_the_report() {
        let points = [[2.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3], [2.0, 0.0, 0.0]];
        let polytope = Some(api::Polytope { vertex_count: 2, ..Default::default() });
        let report = api::RegistrationReport {
            polytope,
            vertex_of_given: vec![1, -1, 0, 1],
            ..Default::default()
        };
        let found = vertices(&spec_of(&points), &report).unwrap();
        assert_eq!(*found, [Vec3::zeros(), Vec3::new(2.0, 0.0, 0.0)]);
        let wrong = api::RegistrationReport { vertex_of_given: vec![2; 4], ..report };
        assert_eq!(vertices(&spec_of(&points), &wrong), None);
    }

    #[test]
    fn many_polytopes_go_in_several_messages_in_their_order() {
        let large = spec_of(&vec![[1.0; 3]; 60_000]);
        let small = spec_of(&[[1.0; 3]]);
        let specs = [vec![small.clone(); 700], vec![large.clone(), large, small]].concat();
        let sizes: Vec<usize> = pieces(specs.clone()).iter().map(Vec::len).collect();
        assert_eq!(sizes, [500, 201, 2]);
        assert_eq!(pieces(specs.clone()).concat(), specs);
        assert!(pieces(Vec::new()).is_empty());
    }
}
