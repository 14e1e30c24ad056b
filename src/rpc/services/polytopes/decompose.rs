//! `DecomposeMesh`: convex pieces that hold a registered mesh, and how far their search has come.

use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use super::commit;
use crate::rpc::shared::Shared;
use clearance_bodies::Body;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::polyhedron::pieces::{
    self, ConvexPiece, Phase, PiecesError, PiecesProgress, Wanted,
};
use clearance_proto as api;
use clearance_proto::decompose_mesh_response::Told;
use clearance_runtime::behalf::Behalf;
use clearance_runtime::compute::JobSize;
use clearance_runtime::deadline::Deadline;
use clearance_runtime::memory::{MemoryKind, MemoryQuota, Reservation};
use clearance_runtime::store::{NewPolytope, Stored};
use clearance_transport::intake::Intake;
use clearance_wire::convert::body::hull_bytes;
use clearance_wire::convert::geometry::tolerance;
use clearance_wire::convert::polytope::BuiltPolytope;
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::Failure;

type PiecesReply = Result<api::DecomposeMeshResponse, Status>;

/// What goes to the client.
pub(super) type Pieces = Pin<Box<dyn Stream<Item = PiecesReply> + Send>>;

/// How many pieces there may be where the client does not say.
const PIECES_DEFAULT: u64 = 32;

/// Pieces that wait for a client that does not read: of more progress it is not told.
const REPLIES_MAX: usize = 4;

/// What was asked for, checked.
#[derive(Debug)]
pub(super) struct AskedPieces {
    mesh: Arc<Stored>,
    /// Where the mesh was named.
    field: &'static str,
    gap_max: Option<f64>,
    count_max: usize,
}

impl AskedPieces {
    pub(super) fn convert(
        shared: &Shared,
        wire: &api::DecomposeMeshRequest,
    ) -> Result<Self, Failure> {
        use api::decompose_mesh_request::Mesh;
        let (field, mesh) = match &wire.mesh {
            None => return Err(Path::ROOT.field("id").bad("needs id or alias").into()),
            Some(Mesh::Id(id)) => ("id", shared.catalogue().by_id(&Path::ROOT.field("id"), id)?),
            Some(Mesh::Alias(alias)) => {
                ("alias", shared.catalogue().by_alias(&Path::ROOT.field("alias"), alias)?)
            }
        };
        if mesh.body.as_mesh().is_none() {
            let why = "names what is neither a polyhedron nor a surface";
            return Err(Path::ROOT.field(field).bad(why).into());
        }
        let gap_path = Path::ROOT.field("gap_max");
        let gap_max = wire.gap_max.map(|gap| tolerance(&gap_path, gap)).transpose()?;
        let limit = shared.limits().mesh_pieces_max();
        let count = wire.pieces_max as usize;
        Path::ROOT.field("pieces_max").within(limit, count)?;
        let default = PIECES_DEFAULT.min(limit.value);
        let count_max = if count == 0 { usize::try_from(default).unwrap_or(1) } else { count };
        Ok(Self { mesh, field, gap_max, count_max })
    }

    /// What it takes to find them, bytes.
    fn working_bytes(&self) -> u64 {
        let (vertices, triangles) = self.mesh.body.as_mesh().unwrap_or_default();
        pieces::working_bytes(triangles.len()) as u64 + hull_bytes(vertices.len())
    }

    fn find(
        &self,
        effort: &mut Effort<'_>,
        listener: &mut pieces::Listener<'_>,
    ) -> Result<Vec<ConvexPiece>, Failure> {
        let (vertices, triangles) = self.mesh.body.as_mesh().unwrap_or_default();
        let (gap_max, count_max) = (self.gap_max, self.count_max);
        let wanted = Wanted { gap_max, count_max, settles: false };
        let found = pieces::decompose(vertices, triangles, wanted, effort, listener);
        found.map_err(|why| match why {
            PiecesError::Stopped(why) => stopped(why),
            PiecesError::Unreached { count, gap } => {
                Failure::GapUnreached { field: "gap_max".to_owned(), count, gap }
            }
        })
    }
}

/// Why there are no pieces where the search ended before.
fn stopped(why: Stopped) -> Failure {
    match why {
        Stopped::Deadline | Stopped::Steps => Failure::Deadline,
        Stopped::Unresolved => Failure::Bug("a registered mesh has no hull".to_owned()),
    }
}

/// Looks for the pieces until they are registered, or the client hangs up.
pub(super) fn start(
    shared: Shared,
    asked: AskedPieces,
    deadline: Deadline,
    intake: &Intake,
) -> Result<Pieces, Failure> {
    shared.refuse_while_draining()?;
    let quota = intake.quota().clone();
    // Taken before anything is begun, and held until all is done.
    let work = quota.reserve(MemoryKind::Work, asked.working_bytes())?;
    let (replies, receiver) = mpsc::channel(REPLIES_MAX);
    tokio::spawn(Behalf::current().around(async move {
        let (in_job, told) = (shared.clone(), replies.clone());
        let until = deadline.until().clone();
        let job = move || {
            let effort = &mut Effort::until(u64::MAX, &until);
            let mut tell = |progress: PiecesProgress| {
                // Whoever does not read is told of the end alone.
                let _ = told.try_send(Ok(in_progress(progress)));
            };
            let found = asked.find(effort, &mut tell)?;
            let found = built(found, asked.field, effort)?;
            registered(&in_job, found, work, &quota)
        };
        // Hanging up drops the deadline with the rest, and that stops the search.
        tokio::select! {
            ended = shared.compute.run(JobSize::UNKNOWN, job) => {
                let ended = ended.map_err(Failure::from).and_then(|ended| ended);
                let _ = replies.send(ended.map_err(Status::from)).await;
            }
            () = replies.closed() => {}
        }
        drop(deadline);
    }));
    Ok(Box::pin(ReceiverStream::new(receiver)))
}

/// For the store, each with how far it stands out.
fn built(
    found: Vec<ConvexPiece>,
    field: &str,
    effort: &Effort<'_>,
) -> Result<Vec<(BuiltPolytope, [f64; 2])>, Failure> {
    let one = |piece: ConvexPiece| {
        let stored = Stored::new(Body::from(piece.hull), effort).map_err(stopped)?;
        let new =
            NewPolytope { stored, alias: None, move_alias: false, alias_key: None, made_key: None };
        let report = api::RegistrationReport::default();
        Ok((BuiltPolytope { new, report, field: field.to_owned() }, piece.gap))
    };
    found.into_iter().map(one).collect()
}

fn registered(
    shared: &Shared,
    found: Vec<(BuiltPolytope, [f64; 2])>,
    work: Reservation,
    quota: &MemoryQuota,
) -> Result<api::DecomposeMeshResponse, Failure> {
    let (built, gaps): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    // What was built is counted as registered from here on.
    drop(work);
    let reports = commit(shared, built, false, quota)?;
    let piece = |(report, [gap_lower, gap]): (api::RegistrationReport, [f64; 2])| api::MeshPiece {
        polytope: report.polytope,
        gap_lower,
        gap,
        already_registered: report.already_registered,
    };
    let pieces = reports.into_iter().zip(gaps).map(piece).collect();
    let told = Some(Told::Decomposition(api::Decomposition { pieces }));
    Ok(api::DecomposeMeshResponse { told })
}

fn in_progress(progress: PiecesProgress) -> api::DecomposeMeshResponse {
    let phase = match progress.phase {
        Phase::Cutting => api::DecompositionPhase::Cutting,
        Phase::Joining => api::DecompositionPhase::Joining,
        Phase::Mending => api::DecompositionPhase::Mending,
        Phase::Measuring => api::DecompositionPhase::Measuring,
    };
    let told = Some(Told::Progress(api::DecompositionProgress {
        phase: phase.into(),
        pieces: u32::try_from(progress.count).unwrap_or(u32::MAX),
        gap_estimate: progress.worst,
    }));
    api::DecomposeMeshResponse { told }
}
