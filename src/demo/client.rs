//! The demo as a client: everything it asks, it asks over gRPC, as any other program would.

use std::time::Instant;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

use super::DemoError;
use super::cell::Obstacle;
use super::record::{RATE_HZ, Record};
use super::report::{link_id, obstacle_id};
use super::robot::{Robot, meshes};
use super::trajectory::Trajectory;
use crate::geometry::pose::Pose;
use crate::rpc::pb;
use pb::polytope_service_client::PolytopeServiceClient;
use pb::session_service_client::SessionServiceClient;

/// Messages that wait in the stream before the sender has to.
const STREAM_CAPACITY: usize = 4;

/// A connection to a server.
pub(super) struct Client {
    polytopes: PolytopeServiceClient<Channel>,
    sessions: SessionServiceClient<Channel>,
}

/// Ids of everything registered.
#[derive(Debug, Default)]
pub(super) struct Registered {
    /// One for each of [`meshes`].
    pub(super) meshes: Vec<pb::RegistrationReport>,
    /// One for each obstacle.
    pub(super) obstacles: Vec<pb::RegistrationReport>,
}

/// A session and its stream, opened.
pub(super) struct Run {
    frames: mpsc::Sender<pb::StreamSessionRequest>,
    reports: tonic::Streaming<pb::StreamSessionResponse>,
    /// Pairs of bodies that are checked in every frame.
    pub(super) checked_pairs: u64,
    session_id: String,
}

impl Client {
    /// Connects.
    pub(super) async fn connect(url: String) -> Result<Self, DemoError> {
        let channel = Channel::from_shared(url)
            .map_err(|error| DemoError::Protocol(error.to_string()))?
            .connect()
            .await?;
        Ok(Self {
            polytopes: PolytopeServiceClient::new(channel.clone()),
            sessions: SessionServiceClient::new(channel),
        })
    }

    /// Registers the ten hulls of the robot from the bytes of its STL files, and the obstacles by
    /// their points.
    pub(super) async fn register(
        &mut self,
        obstacles: &[Obstacle],
    ) -> Result<Registered, DemoError> {
        let file = |stl: &'static [u8]| pb::MeshFile {
            format: pb::MeshFormat::Stl.into(),
            content: stl.into(),
            scale: None,
        };
        let mesh_specs = meshes().map(|mesh| pb::PolytopeSpec {
            source: Some(pb::polytope_spec::Source::File(file(mesh.stl))),
            treatment: pb::MeshTreatment::Hull.into(),
            alias: format!("panda/{}", mesh.name),
            ..pb::PolytopeSpec::default()
        });
        let points =
            |o: &Obstacle| pb::Points { xyz: o.points.iter().flatten().copied().collect() };
        let obstacle_specs = obstacles.iter().map(|obstacle| pb::PolytopeSpec {
            source: Some(pb::polytope_spec::Source::Vertices(points(obstacle))),
            ..pb::PolytopeSpec::default()
        });
        Ok(Registered {
            meshes: self.register_specs(mesh_specs.into()).await?,
            obstacles: self.register_specs(obstacle_specs.collect()).await?,
        })
    }

    async fn register_specs(
        &mut self,
        polytopes: Vec<pb::PolytopeSpec>,
    ) -> Result<Vec<pb::RegistrationReport>, DemoError> {
        let wanted = polytopes.len();
        let request = pb::RegisterPolytopesRequest { polytopes, validate_only: false };
        let reports = self.polytopes.register_polytopes(request).await?.into_inner().reports;
        if reports.len() == wanted && reports.iter().all(|report| report.polytope.is_some()) {
            Ok(reports)
        } else {
            Err(DemoError::Protocol("not every polytope was registered".to_owned()))
        }
    }

    /// Opens a session with the whole scene on a stream.
    pub(super) async fn open(
        &mut self,
        robot: &Robot,
        motion: &Trajectory,
        obstacles: &[Obstacle],
        registered: &Registered,
    ) -> Result<Run, DemoError> {
        let (frames, receiver) = mpsc::channel(STREAM_CAPACITY);
        let open = pb::OpenSessionRequest {
            state: Some(scene(robot, motion, obstacles, registered)),
            report: Some(pb::ReportOptions {
                pairs: pb::PairSelection::All.into(),
                distances: true,
                first_contacts: true,
                packed: true,
                ..pb::ReportOptions::default()
            }),
            ..pb::OpenSessionRequest::default()
        };
        let first = pb::StreamSessionRequest {
            start: Some(pb::stream_session_request::Start::Open(open)),
            ..pb::StreamSessionRequest::default()
        };
        send(&frames, first).await?;
        let stream = self.sessions.stream_session(ReceiverStream::new(receiver)).await?;
        let mut reports = stream.into_inner();
        let opened = reports.message().await?.and_then(|message| message.opened);
        let opened =
            opened.ok_or_else(|| DemoError::Protocol("the session was not opened".to_owned()))?;
        let (checked_pairs, session_id) = (opened.checked_pairs, opened.session_id);
        Ok(Run { frames, reports, checked_pairs, session_id })
    }

    /// Ends the stream and closes the session.
    pub(super) async fn close(&mut self, run: Run) -> Result<(), DemoError> {
        let Run { frames, mut reports, session_id, .. } = run;
        drop(frames);
        while reports.message().await?.is_some() {}
        let request = pb::CloseSessionRequest { session_id, allow_missing: false };
        self.sessions.close_session(request).await?;
        Ok(())
    }
}

impl Run {
    /// Streams the motion frame by frame, each sent when the one before is answered. `progress` is
    /// told after every frame.
    pub(super) async fn stream(
        &mut self,
        robot: &Robot,
        motion: &Trajectory,
        progress: &mut dyn FnMut(&Record),
    ) -> Result<Record, DemoError> {
        let mut record = Record::new((1..robot.links.len()).map(link_id).collect());
        let frames = (motion.end_s() * RATE_HZ).round() as u64 + 1;
        for frame_id in 1..=frames {
            let poses = robot.place(&motion.at(super::record::seconds(frame_id)));
            let frame =
                pb::Frame { frame_id, packed_poses: Some(packed(&poses)), ..pb::Frame::default() };
            let sent = Instant::now();
            let request = pb::StreamSessionRequest { frame: Some(frame), ..Default::default() };
            send(&self.frames, request).await?;
            let report = self.next_report().await?;
            record.add(&report, sent.elapsed())?;
            progress(&record);
        }
        Ok(record)
    }

    async fn next_report(&mut self) -> Result<pb::FrameReport, DemoError> {
        loop {
            let message = self.reports.message().await?;
            let message = message
                .ok_or_else(|| DemoError::Protocol("the stream ended too early".to_owned()))?;
            if let Some(report) = message.report {
                return Ok(report);
            }
        }
    }
}

async fn send(
    frames: &mpsc::Sender<pb::StreamSessionRequest>,
    request: pb::StreamSessionRequest,
) -> Result<(), DemoError> {
    let ended = |_| DemoError::Protocol("the stream ended too early".to_owned());
    frames.send(request).await.map_err(ended)
}

/// Every body at the start of the motion, and the pairs of links that need no check.
fn scene(
    robot: &Robot,
    motion: &Trajectory,
    obstacles: &[Obstacle],
    registered: &Registered,
) -> pb::SessionState {
    let start = robot.place(&motion.at(0.0));
    let links = robot.links.iter().zip(&start).enumerate().map(|(index, (link, pose))| {
        let mesh = meshes().iter().position(|mesh| *mesh == link.mesh);
        let report = mesh.and_then(|mesh| registered.meshes.get(mesh));
        // The base is bolted to the table: it does not move, like all that stands around.
        body(link_id(index), &link.name, report, pose, index == 0)
    });
    let things = obstacles.iter().zip(&registered.obstacles).enumerate();
    let things = things.map(|(index, (obstacle, report))| {
        body(obstacle_id(index), &obstacle.name, Some(report), &obstacle.pose, true)
    });
    let ignored =
        robot.ignored.iter().map(|[a, b]| pb::BodyPair { a: link_id(*a), b: link_id(*b) });
    pb::SessionState {
        bodies: links.chain(things).collect(),
        rules: Some(pb::PairRules { ignored_pairs: ignored.collect(), ..pb::PairRules::default() }),
        ..pb::SessionState::default()
    }
}

fn body(
    id: u32,
    name: &str,
    report: Option<&pb::RegistrationReport>,
    pose: &Pose,
    fixed: bool,
) -> pb::Body {
    let polytope = report.and_then(|report| report.polytope.as_ref());
    let source = polytope.map(|polytope| pb::placed_body::Source::Id(polytope.id.clone()));
    let [x, y, z] = pose.translation.into();
    pb::Body {
        id,
        name: name.to_owned(),
        parts: vec![pb::PlacedBody { source, pose: None }],
        pose: Some(pb::Pose {
            translation: Some(pb::Vector3 { x, y, z }),
            orientation: Some(pb::pose::Orientation::RotationMatrix(pb::RotationMatrix {
                rows: rows(pose).collect(),
            })),
        }),
        fixed,
        ..pb::Body::default()
    }
}

/// The poses of all links but the base, in flat arrays.
fn packed(poses: &[Pose]) -> pb::PackedPoses {
    let moving = || poses.iter().enumerate().skip(1);
    pb::PackedPoses {
        ids: moving().map(|(index, _)| link_id(index)).collect(),
        translations: moving().flat_map(|(_, pose)| pose.translation.iter().copied()).collect(),
        rotation_matrices: moving().flat_map(|(_, pose)| rows(pose)).collect(),
        ..pb::PackedPoses::default()
    }
}

/// The nine numbers of the rotation, row by row.
fn rows(pose: &Pose) -> impl Iterator<Item = f64> + '_ {
    let rotation = &pose.rotation;
    (0..3).flat_map(move |i| (0..3).map(move |k| rotation[(i, k)]))
}
