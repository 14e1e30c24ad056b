//! Polytopes in chunks, beyond what fits into one message.
//!
//! The bytes of an upload stay in pieces until all have come. To put 256 MiB together and to read
//! them takes a second, which is spent where geometry is.

use tonic::Streaming;

use super::arrival::{Arrival, joined};
use crate::rpc::shared::Shared;
use clearance_geometry::Vec3;
use clearance_proto as api;
use clearance_proto::upload_polytope_request::Part;
use clearance_runtime::compute::JobSize;
use clearance_runtime::deadline::Deadline;
use clearance_transport::intake::Intake;
use clearance_wire::convert::geometry;
use clearance_wire::convert::height_field::AskedField;
use clearance_wire::convert::polytope::{AskedPolytope, AskedSource, file_source};
use clearance_wire::convert::robots::clouds::{cloud_points, cloud_radius};
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::Failure;

/// The method, as its URI names it.
const METHOD: &str = "/clearance.v1.PolytopeService/UploadPolytope";

const POINT_BYTES: usize = 24;

/// Receives one upload and registers it.
pub(super) async fn receive(
    shared: &Shared,
    mut chunks: Streaming<api::UploadPolytopeRequest>,
    deadline: &Deadline,
    intake: &Intake,
) -> Result<api::RegistrationReport, Failure> {
    // Held until the polytope is registered: the bytes of an upload are in memory until then.
    let mut arrival = Arrival::begin(shared, intake)?;
    let first = next(shared, &mut chunks).await?;
    let Some(Part::Header(header)) = first else {
        return Err(Path::ROOT.field("header").bad("must be the first message").into());
    };
    let pieces = collect(shared, &header, &mut chunks, intake, &mut arrival).await?;
    arrival.begin_to_copy()?;
    let (in_job, of_job) = (shared.clone(), header.clone());
    let reading = move || assemble(&in_job, of_job, joined(pieces));
    let asked = shared.compute.run(JobSize::UNKNOWN, reading).await??;
    arrival.end_copying();
    let mut reports = crate::rpc::services::polytopes::register(
        shared,
        vec![asked],
        header.validate_only,
        deadline,
        intake,
    )
    .await?;
    reports.pop().ok_or_else(|| Failure::Bug("no report of an upload".to_owned()))
}

async fn next(
    shared: &Shared,
    chunks: &mut Streaming<api::UploadPolytopeRequest>,
) -> Result<Option<Part>, Failure> {
    let message = Arrival::next(shared, chunks, METHOD).await?;
    match message {
        Some(api::UploadPolytopeRequest { part: Some(part) }) => Ok(Some(part)),
        Some(_) => Err(Path::ROOT.field("chunk").bad("a message needs a header or a chunk").into()),
        None => Ok(None),
    }
}

/// Everything that follows the header, in pieces.
async fn collect(
    shared: &Shared,
    header: &api::UploadHeader,
    chunks: &mut Streaming<api::UploadPolytopeRequest>,
    intake: &Intake,
    arrival: &mut Arrival,
) -> Result<Vec<Vec<u8>>, Failure> {
    let mut pieces = Vec::new();
    while let Some(part) = next(shared, chunks).await? {
        let Part::Chunk(chunk) = part else {
            return Err(Path::ROOT.field("header").bad("must come once only").into());
        };
        arrival.take(shared, &mut pieces, &chunk).await?;
        intake.settle();
    }
    let length = arrival.length();
    let total = Path::ROOT.field("header");
    let total = total.field("total_bytes");
    match header.total_bytes {
        Some(announced) if announced != length as u64 => {
            Err(total.bad(format!("{announced} bytes were announced, {length} came")).into())
        }
        _ => Ok(pieces),
    }
}

fn assemble(
    shared: &Shared,
    header: api::UploadHeader,
    bytes: Vec<u8>,
) -> Result<AskedPolytope, Failure> {
    let path = Path::ROOT.field("header");
    let content = path.field("content").known(header.content)?;
    let spec_path = path.field("spec");
    let spec = header.spec.unwrap_or_default();
    let source = match content {
        api::UploadContent::PointsF64Le => {
            return of_points(shared, &spec, &bytes);
        }
        api::UploadContent::MeshFile => {
            use api::polytope_spec::Source;
            let default = api::MeshFile::default();
            let file = match &spec.source {
                None => &default,
                Some(Source::File(file)) if file.content.is_empty() => file,
                Some(
                    Source::File(_)
                    | Source::Vertices(_)
                    | Source::Mesh(_)
                    | Source::Rounded(_)
                    | Source::Cloud(_)
                    | Source::HeightField(_)
                    | Source::HeightPatch(_),
                ) => {
                    let why = "must be left out, or be a file without content";
                    return Err(spec_path.field("source").bad(why).into());
                }
            };
            let file = api::MeshFile { content: bytes.into(), ..file.clone() };
            file_source(&spec_path.field("file"), &file)?
        }
        api::UploadContent::HeightsF32Le => {
            let Some(api::polytope_spec::Source::HeightField(field)) = &spec.source else {
                let why = "must be a height field without heights";
                return Err(spec_path.field("source").bad(why).into());
            };
            let path = spec_path.field("height_field");
            let heights = heights(&Path::ROOT.field("chunk"), &bytes)?;
            let asked = AskedField::convert(&path, field, Some(heights), shared.limits())?;
            AskedSource::HeightField(asked)
        }
        api::UploadContent::Unspecified => {
            return Err(path.field("content").bad("is required").into());
        }
    };
    AskedPolytope::with_source(&spec_path, &spec, source)
}

/// Points, whose hull is meant, or those of a cloud.
fn of_points(
    shared: &Shared,
    spec: &api::PolytopeSpec,
    bytes: &[u8],
) -> Result<AskedPolytope, Failure> {
    use api::polytope_spec::Source;
    let spec_path = Path::ROOT.field("header");
    let spec_path = spec_path.field("spec");
    let path = Path::ROOT.field("chunk");
    let radius = match &spec.source {
        None => None,
        Some(Source::Cloud(cloud)) if cloud.xyz.is_empty() && cloud.xyz_single.is_empty() => {
            Some(cloud_radius(&spec_path.field("cloud"), cloud.radius)?)
        }
        Some(_) => {
            let why = "must be left out, or be a cloud without points";
            return Err(spec_path.field("source").bad(why).into());
        }
    };
    path.within(shared.limits().points_max(), bytes.len() / POINT_BYTES)?;
    let points = points(&path, bytes)?;
    let Some(radius) = radius else {
        return AskedPolytope::with_source(&spec_path, spec, AskedSource::Points(points));
    };
    cloud_points(&path, &points)?;
    let asked = AskedPolytope::with_source(&spec_path, spec, AskedSource::Cloud(points))?;
    Ok(asked.with_radius(radius))
}

fn heights(path: &Path<'_>, bytes: &[u8]) -> Result<Vec<f32>, Failure> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(path.bad("must be 4 bytes for each height").into());
    }
    Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

fn points(path: &Path<'_>, bytes: &[u8]) -> Result<Vec<Vec3>, Failure> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() || !numbers.len().is_multiple_of(3) || numbers.is_empty() {
        return Err(path.bad("must be 24 bytes for each point, and at least one point").into());
    }
    let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    for (index, number) in numbers.iter().enumerate() {
        geometry::coordinate(&path.index(index), *number)?;
    }
    Ok(numbers.as_chunks::<3>().0.iter().map(|&triple| triple.into()).collect())
}
