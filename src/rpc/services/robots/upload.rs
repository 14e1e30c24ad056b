//! Robots whose mesh files do not fit into one message: the robot first, then each file in chunks.

use prost::Message;
use tonic::Streaming;

use super::register::{ArrivedRobot, register};
use crate::rpc::services::polytopes::arrival::{Arrival, joined};
use crate::rpc::shared::Shared;
use clearance_proto as api;
use clearance_proto::robot_mesh::Source;
use clearance_proto::upload_robot_request::Part;
use clearance_runtime::compute::JobSize;
use clearance_runtime::deadline::Deadline;
use clearance_transport::intake::Intake;
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::Failure;

/// The method, as its URI names it.
const METHOD: &str = "/clearance.v1.RobotService/UploadRobot";

/// What a message takes in memory for each byte that it has on the wire, where its texts and files
/// are copied.
const MESSAGE_FACTOR: usize = 2;

/// What a file takes beside its bytes and its name, bytes.
const FILE_BYTES: usize = 256;

/// A file that has come, or is coming.
struct ArrivedFile {
    name: String,
    pieces: Vec<Vec<u8>>,
}

/// Receives one robot and registers it.
pub(super) async fn receive(
    shared: &Shared,
    mut messages: Streaming<api::UploadRobotRequest>,
    deadline: &Deadline,
    intake: &Intake,
) -> Result<api::RegisterRobotResponse, Failure> {
    // Held until the robot is registered: its files are in memory until then.
    let mut arrival = Arrival::begin(shared, intake)?;
    let Some(Part::Robot(mut request)) = next(shared, &mut messages).await? else {
        return Err(Path::ROOT.field("robot").bad("must be the first message").into());
    };
    arrival.count(shared, "robot", MESSAGE_FACTOR.saturating_mul(request.encoded_len()))?;
    let mut files: Vec<ArrivedFile> = Vec::new();
    while let Some(part) = next(shared, &mut messages).await? {
        match part {
            Part::Robot(_) => {
                return Err(Path::ROOT.field("robot").bad("must come once only").into());
            }
            Part::File(name) => {
                let count = request.meshes.len() + files.len() + 1;
                Path::ROOT.field("file").within(shared.limits().robot_parts_max(), count)?;
                arrival.count(shared, "file", FILE_BYTES.saturating_add(name.len()))?;
                files.push(ArrivedFile { name, pieces: Vec::new() });
            }
            Part::Chunk(chunk) => {
                let Some(file) = files.last_mut() else {
                    return Err(Path::ROOT.field("chunk").bad("must come after its file").into());
                };
                arrival.take(shared, &mut file.pieces, &chunk).await?;
            }
        }
        intake.settle();
    }
    arrival.begin_to_copy()?;
    let joining = move || files.into_iter().map(mesh).collect::<Vec<_>>();
    request.meshes.extend(shared.compute.run(JobSize::UNKNOWN, joining).await?);
    arrival.end_copying();
    register(shared, ArrivedRobot { request, extent: None }, deadline, intake).await
}

fn mesh(file: ArrivedFile) -> api::RobotMesh {
    let content = joined(file.pieces);
    api::RobotMesh { name: file.name, source: Some(Source::Content(content.into())) }
}

async fn next(
    shared: &Shared,
    messages: &mut Streaming<api::UploadRobotRequest>,
) -> Result<Option<Part>, Failure> {
    match Arrival::next(shared, messages, METHOD).await? {
        Some(api::UploadRobotRequest { part: Some(part) }) => Ok(Some(part)),
        Some(_) => {
            Err(Path::ROOT.field("chunk").bad("a message needs a robot, a file or a chunk").into())
        }
        None => Ok(None),
    }
}
