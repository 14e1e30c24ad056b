//! From the files of a request to a robot with its id.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::digested::Digested;
use crate::convert::catalogue::Catalogue;
use crate::convert::geometry::tolerance;
use crate::convert::robots::description::description_bytes;
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::table::place::Place;
use clearance_bodies::{Body, ContentId};
use clearance_geometry::effort::Effort;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_proto::robot_mesh::Source as Wire;
use clearance_robot::body::PartBody;
use clearance_robot::mesh::{self, MeshError, document_bytes};
use clearance_robot::model::{BuildError, Robot, Sources};
use clearance_robot::parts::{
    MeshContent, MeshFiles, MeshTreatment, PartSource, RobotPart, last_step,
};
use clearance_robot::room::reading_bytes;
use clearance_robot::shown;
use clearance_robot::urdf::DescriptionLimits;
use clearance_runtime::robots::{ID_PREFIX, RegisteredRobot, RobotWork, part_ids};
use clearance_runtime::settings::Limits;

/// A request whose meshes are read.
#[derive(Debug)]
pub struct AskedRobot {
    pub(super) request: api::RegisterRobotRequest,
    registered: MeshFiles,
    /// The registered bodies among its meshes, by their ids.
    pub(super) bodies: BTreeMap<String, Body>,
    mesh_treatment: MeshTreatment,
}

impl AskedRobot {
    /// Looks registered bodies up and checks what can be checked at once.
    pub fn convert(
        request: api::RegisterRobotRequest,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let body = |path: &Path<'_>, id: &str| Ok(catalogue.by_id(path, id)?.body.clone());
        Self::with_bodies(request, catalogue.limits, body)
    }

    /// The same, where `body` looks bodies up by their ids.
    pub(super) fn with_bodies(
        request: api::RegisterRobotRequest,
        limits: &Limits,
        body: impl Fn(&Path<'_>, &str) -> Result<Body, Failure>,
    ) -> Result<Self, Failure> {
        let list = Path::ROOT.field("meshes");
        list.within(limits.robot_parts_max(), request.meshes.len())?;
        if let Some(gap) = request.gap_max {
            tolerance(&Path::ROOT.field("gap_max"), gap)?;
        }
        let path = Path::ROOT.field("mesh_treatment");
        let mesh_treatment = match path.known(request.mesh_treatment)? {
            api::MeshTreatment::Unspecified => MeshTreatment::AsTheFileSays,
            api::MeshTreatment::Hull => MeshTreatment::Hull,
            api::MeshTreatment::Polyhedron => MeshTreatment::Polyhedron,
            api::MeshTreatment::Decompose => MeshTreatment::Pieces,
            api::MeshTreatment::Surface => MeshTreatment::Surface,
        };
        let (mut registered, mut names) = (MeshFiles::new(), HashSet::new());
        let mut bodies = BTreeMap::new();
        for (index, file) in request.meshes.iter().enumerate() {
            let path = list.index(index);
            if file.name.is_empty() {
                return Err(path.field("name").bad("is required").into());
            }
            if !names.insert(file.name.as_str()) {
                return Err(path.field("name").bad("another mesh has this name").into());
            }
            match &file.source {
                None => return Err(path.bad("needs content or id").into()),
                Some(Wire::Content(_)) => {}
                Some(Wire::Id(id)) => {
                    let path = path.field("id");
                    let whole = body(&path, id)?;
                    let part = PartBody::in_place(&whole, Place::RobotPart);
                    let part = part.map_err(|refused| path.not_implemented(refused.what))?;
                    registered.insert(file.name.clone(), MeshContent::Known(part));
                    bodies.insert(id.clone(), whole);
                }
            }
        }
        Ok(Self { request, registered, bodies, mesh_treatment })
    }

    /// Bytes of all files: what building it takes goes by them.
    pub fn size(&self) -> usize {
        size_of(&self.request)
    }

    /// Whether nothing is to be registered.
    pub fn validate_only(&self) -> bool {
        self.request.validate_only
    }

    /// What reading the files takes, bytes at most.
    pub fn reading_bytes(&self) -> u64 {
        Self::reading_bytes_of(&self.request)
    }

    /// The same of a request.
    pub(super) fn reading_bytes_of(request: &api::RegisterRobotRequest) -> u64 {
        /// A triangle of an OBJ file may be two bytes there, and twelve in a list that has room for
        /// twice as many.
        const MESH: usize = 14;
        let (urdf, srdf) = (request.urdf.as_str(), request.srdf.as_str());
        let meshes = size_of(request) - urdf.len() - srdf.len();
        let documents = request.meshes.iter().map(|file| match &file.source {
            Some(Wire::Content(bytes)) => document_bytes(bytes),
            Some(Wire::Id(_)) | None => 0,
        });
        let read = reading_bytes(urdf) + reading_bytes(srdf) + documents.sum::<usize>();
        (read + MESH * meshes) as u64
    }

    /// Builds the parts, as far as there is memory for them; takes a while.
    pub fn build(
        self,
        limits: &Limits,
        until: &Until,
        work: &RobotWork,
    ) -> Result<RegisteredRobot, Failure> {
        let Self { request, registered: mut meshes, mesh_treatment, bodies: _ } = self;
        let list = Path::ROOT.field("meshes");
        let effort = &mut Effort::until(u64::MAX, until);
        for (index, file) in request.meshes.iter().enumerate() {
            let Some(Wire::Content(bytes)) = &file.source else { continue };
            let path = list.index(index);
            let most = usize::try_from(limits.triangles_max).unwrap_or(usize::MAX);
            let refused = |error: MeshError| -> Failure {
                if let MeshError::Stopped(_) = error {
                    return Failure::Deadline;
                }
                let problem = format!("{:?}: {error}", shown(&file.name));
                path.field("content").bad(problem).into()
            };
            let mesh = mesh::read(bytes, None, most, effort).map_err(refused)?;
            meshes.insert(file.name.clone(), MeshContent::Mesh(Arc::new(mesh)));
        }
        let sources = Sources {
            urdf: &request.urdf,
            srdf: Some(request.srdf.as_str()).filter(|text| !text.is_empty()),
            meshes: &meshes,
            gap_max: request.gap_max,
            leave_out_missing: request.leave_out_missing,
            mesh_treatment,
        };
        let robot = Robot::build_within(&sources, &description_limits(limits), effort, work);
        let robot = robot.map_err(|error| refused(&error, &request.meshes, limits))?;
        let (id, description) = (id_of(&request, &robot), description_bytes(&robot));
        Ok(RegisteredRobot::new(id, robot, work, description))
    }
}

/// Bytes of all files of a request.
fn size_of(request: &api::RegisterRobotRequest) -> usize {
    let meshes = request.meshes.iter().map(|file| match &file.source {
        Some(Wire::Content(bytes)) => bytes.len(),
        Some(Wire::Id(_)) | None => 0,
    });
    request.urdf.len() + request.srdf.len() + meshes.sum::<usize>()
}

fn description_limits(limits: &Limits) -> DescriptionLimits {
    let room = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    DescriptionLimits {
        nodes_max: u32::try_from(limits.robot_xml_nodes_max).unwrap_or(u32::MAX),
        links_max: room(limits.robot_links_max),
        parts_max: room(limits.robot_parts_max),
        depth_max: room(limits.robot_depth_max),
    }
}

fn refused(error: &BuildError, meshes: &[api::RobotMesh], limits: &Limits) -> Failure {
    let field = match error {
        BuildError::Stopped(_) => return Failure::Deadline,
        BuildError::NoRoom => return limits.memory_bytes_max().reached().into(),
        BuildError::NotAPolyhedron { link, mesh, why } => {
            let field = field_of_mesh(meshes, mesh);
            let why = format!("{:?} of link {link:?}: {why}", shown(mesh));
            return Failure::NotAPolyhedron { field, why };
        }
        BuildError::MissingMeshes(_) => "meshes",
        BuildError::Description(error) if error.file == "SRDF" => "srdf",
        BuildError::Description(_) => "urdf",
    };
    Path::ROOT.field(field).bad(error.to_string()).into()
}

/// The field of the mesh file that a URDF calls by this name, or by its last step.
fn field_of_mesh(meshes: &[api::RobotMesh], filename: &str) -> String {
    let list = Path::ROOT.field("meshes");
    let by_name = meshes.iter().position(|file| file.name == filename);
    let is_last = |file: &api::RobotMesh| last_step(&file.name) == last_step(filename);
    let index = by_name.or_else(|| meshes.iter().position(is_last));
    index.map_or_else(|| list.to_string(), |index| list.index(index).to_string())
}

/// The digest of everything that answers about the robot are made of: the two texts, of which most
/// of it follows, what was made of the meshes, and what was left out. Two registrations have one id
/// just when they are described alike; so the order of the mesh files does not matter, and their
/// format only if it makes a difference to what is told of a part.
fn id_of(request: &api::RegisterRobotRequest, robot: &Robot) -> String {
    let Robot {
        // Follow from the texts and the parts.
        name: _,
        kinematics: _,
        joints: _,
        links: _,
        allowed: _,
        constant: _,
        groups: _,
        states: _,
        links_by_name: _,
        variables_by_name: _,
        parts,
        notes,
    } = robot;
    let texts = request.urdf.len() + request.srdf.len();
    let mut digested = Digested::with_capacity(texts + PART_BYTES * parts.len());
    digested.text("clearance robot 2");
    digested.text(&request.urdf);
    digested.text(&request.srdf);
    digested.tag(u8::from(request.gap_max.is_some()));
    digested.number(request.gap_max.unwrap_or(0.0));
    digested.size(parts.len());
    let ids = part_ids(parts);
    parts.iter().zip(&ids).for_each(|(part, id)| digest_part(&mut digested, part, id));
    digested.size(notes.len());
    notes.iter().for_each(|note| digested.text(note));
    format!("{ID_PREFIX}{}", digested.hash().to_hex())
}

/// Bytes of a part that are digested, but for its names: the id of its body and two poses are most.
const PART_BYTES: usize = 320;

/// A part: what it is, where it is, which file it came from, and how far it stands out of that.
fn digest_part(digested: &mut Digested, part: &RobotPart, id: &ContentId) {
    let RobotPart {
        // Says who pays for the body, and is in no answer.
        is_own: _,
        // Is digested by its id.
        body: _,
        link,
        name,
        link_from_part,
        frame_from_part,
        source,
        gap,
    } = part;
    digested.size(*link);
    digested.text(name);
    digested.content(id);
    digested.pose(link_from_part);
    digested.pose(frame_from_part);
    match source {
        PartSource::Box => digested.tag(0),
        PartSource::Round => digested.tag(1),
        PartSource::Mesh { filename, closed, convex } => {
            digested.tag(2);
            digested.text(filename);
            digested.tag(u8::from(*closed));
            digested.tag(u8::from(*convex));
        }
        PartSource::Registered { filename } => {
            digested.tag(3);
            digested.text(filename);
        }
        PartSource::AsItIs { filename } => {
            digested.tag(4);
            digested.text(filename);
        }
        PartSource::Surface { filename } => {
            digested.tag(5);
            digested.text(filename);
        }
        PartSource::Piece { filename } => {
            digested.tag(6);
            digested.text(filename);
        }
    }
    for end in [gap.lower, gap.upper] {
        digested.tag(u8::from(end.is_some()));
        digested.number(end.unwrap_or(0.0));
    }
}
