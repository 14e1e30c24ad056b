//! From the files of a request to a robot with its id.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::geometry::effort::Effort;
use crate::geometry::shape::PolytopeId;
use crate::mesh;
use crate::robot::model::{BuildError, Robot, Sources};
use crate::robot::parts::{MeshContent, MeshFiles};
use crate::robot::room::reading_bytes;
use crate::robot::urdf::DescriptionLimits;
use crate::rpc::api;
use crate::rpc::api::robot_mesh::Source as Wire;
use crate::rpc::convert::catalogue::Catalogue;
use crate::rpc::convert::geometry::tolerance;
use crate::rpc::convert::robots::description::description_bytes;
use crate::rpc::path::Path;
use crate::rpc::status::Failure;
use crate::runtime::robots::{RegisteredRobot, RobotWork};
use crate::runtime::settings::Limits;
use crate::runtime::store::StoredSolid;

/// A request whose meshes are read.
#[derive(Debug)]
pub struct AskedRobot {
    request: api::RegisterRobotRequest,
    registered: MeshFiles,
}

impl AskedRobot {
    /// Looks registered polytopes up and checks what can be checked at once.
    pub fn convert(
        request: api::RegisterRobotRequest,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let list = Path::ROOT.field("meshes");
        list.within(catalogue.limits.robot_parts_max(), request.meshes.len())?;
        if let Some(gap) = request.gap_max {
            tolerance(&Path::ROOT.field("gap_max"), gap)?;
        }
        let mut registered = MeshFiles::new();
        for (index, file) in request.meshes.iter().enumerate() {
            let path = list.index(index);
            if file.name.is_empty() {
                return Err(path.field("name").bad("is required").into());
            }
            if request.meshes[..index].iter().any(|other| other.name == file.name) {
                return Err(path.field("name").bad("another mesh has this name").into());
            }
            match &file.source {
                None => return Err(path.bad("needs content or id").into()),
                Some(Wire::Content(_)) => {}
                Some(Wire::Id(id)) => {
                    let path = path.field("id");
                    match &catalogue.by_id(&path, id)?.solid {
                        StoredSolid::Polytope(polytope) => {
                            let content = MeshContent::Polytope(polytope.clone());
                            registered.insert(file.name.clone(), content);
                        }
                        StoredSolid::Polyhedron { .. } => {
                            let what = "polyhedra as parts of robots";
                            return Err(path.not_implemented(what).into());
                        }
                    }
                }
            }
        }
        Ok(Self { request, registered })
    }

    /// Bytes of all files: what building it takes goes by them.
    pub fn size(&self) -> usize {
        let meshes = self.request.meshes.iter().map(|file| match &file.source {
            Some(Wire::Content(bytes)) => bytes.len(),
            Some(Wire::Id(_)) | None => 0,
        });
        self.request.urdf.len() + self.request.srdf.len() + meshes.sum::<usize>()
    }

    /// Whether nothing is to be registered.
    pub fn validate_only(&self) -> bool {
        self.request.validate_only
    }

    /// What reading the files takes, bytes at most.
    pub fn reading_bytes(&self) -> u64 {
        /// A triangle of an OBJ file may be two bytes there, and twelve in a list that has room for
        /// twice as many.
        const MESH: usize = 14;
        let (urdf, srdf) = (self.request.urdf.as_str(), self.request.srdf.as_str());
        let meshes = self.size() - urdf.len() - srdf.len();
        (reading_bytes(urdf) + reading_bytes(srdf) + MESH * meshes) as u64
    }

    /// Builds the hulls, as far as there is memory for them; takes a while.
    pub fn build(
        self,
        limits: &Limits,
        stop: &AtomicBool,
        work: &RobotWork,
    ) -> Result<RegisteredRobot, Failure> {
        let Self { request, registered: mut meshes } = self;
        let list = Path::ROOT.field("meshes");
        for (index, file) in request.meshes.iter().enumerate() {
            let Some(Wire::Content(bytes)) = &file.source else { continue };
            let path = list.index(index);
            let most = usize::try_from(limits.triangles_max).unwrap_or(usize::MAX);
            let mesh = mesh::read(bytes, None, most);
            let problem = |error| path.field("content").bad(format!("{:?}: {error}", file.name));
            let mesh = mesh.map_err(problem)?;
            meshes.insert(file.name.clone(), MeshContent::Mesh(Arc::new(mesh)));
        }
        let sources = Sources {
            urdf: &request.urdf,
            srdf: Some(request.srdf.as_str()).filter(|text| !text.is_empty()),
            meshes: &meshes,
            gap_max: request.gap_max,
            leave_out_missing: request.leave_out_missing,
        };
        let mut effort = Effort::with_stop(u64::MAX, stop);
        let robot = Robot::build_within(&sources, &description_limits(limits), &mut effort, work);
        let robot = robot.map_err(|error| refused(&error, limits))?;
        let (id, description) = (id_of(&request, &robot), description_bytes(&robot));
        Ok(RegisteredRobot::new(id, robot, work, description))
    }
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

fn refused(error: &BuildError, limits: &Limits) -> Failure {
    let field = match error {
        BuildError::Stopped(_) => return Failure::Deadline,
        BuildError::NoRoom => return limits.memory_bytes_max().reached().into(),
        BuildError::MissingMeshes(_) => "meshes",
        BuildError::Description(error) if error.file == "SRDF" => "srdf",
        BuildError::Description(_) => "urdf",
    };
    Path::ROOT.field(field).bad(error.to_string()).into()
}

/// The digest of what the robot was made of: the two texts, the options, and the parts by their own
/// ids, so that the names and formats of mesh files do not matter.
fn id_of(request: &api::RegisterRobotRequest, robot: &Robot) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"clearance robot 1");
    for text in [&request.urdf, &request.srdf] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.update(&request.gap_max.unwrap_or(0.0).to_le_bytes());
    for part in &robot.parts {
        hasher.update(&(part.link as u64).to_le_bytes());
        hasher.update(PolytopeId::of(&part.polytope).digest());
    }
    format!("r1-{}", hasher.finalize().to_hex())
}
