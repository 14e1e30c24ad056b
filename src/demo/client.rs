//! The demo as a client: everything it asks, it asks over gRPC, as any other program would.

use std::time::Instant;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

use super::DemoError;
use super::cell::Obstacle;
use super::record::{RATE_HZ, Record};
use super::report::{ROBOT, link_id, obstacle_id};
use super::robot::{LINKS, MESHES, Panda, SRDF, URDF};
use super::trajectory::Trajectory;
use api::polytope_service_client::PolytopeServiceClient;
use api::robot_service_client::RobotServiceClient;
use api::session_service_client::SessionServiceClient;
use clearance_geometry::pose::Pose;
use clearance_proto as api;

/// Messages that wait in the stream before the sender has to.
const STREAM_CAPACITY: usize = 4;

/// A connection to a server.
pub(super) struct Client {
    polytopes: PolytopeServiceClient<Channel>,
    robots: RobotServiceClient<Channel>,
    sessions: SessionServiceClient<Channel>,
}

/// Ids of everything registered.
#[derive(Debug, Default)]
pub(super) struct Registered {
    /// The robot's id.
    pub(super) robot: String,
    /// Pairs of its links that need no check.
    pub(super) allowed_pairs: usize,
    /// One for each obstacle.
    pub(super) obstacles: Vec<api::RegistrationReport>,
}

/// A session and its stream, opened.
pub(super) struct Run {
    frames: mpsc::Sender<api::StreamSessionRequest>,
    reports: tonic::Streaming<api::StreamSessionResponse>,
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
            robots: RobotServiceClient::new(channel.clone()),
            sessions: SessionServiceClient::new(channel),
        })
    }

    /// Registers the robot by its URDF, its SRDF and the bytes of its STL files, and the obstacles
    /// by their points.
    pub(super) async fn register(
        &mut self,
        panda: &Panda,
        obstacles: &[Obstacle],
    ) -> Result<Registered, DemoError> {
        let mesh = |(name, stl): (&str, &'static [u8])| api::RobotMesh {
            name: name.to_owned(),
            source: Some(api::robot_mesh::Source::Content(stl.into())),
        };
        let request = api::RegisterRobotRequest {
            urdf: URDF.to_owned(),
            srdf: SRDF.to_owned(),
            meshes: MESHES.map(mesh).into(),
            ..api::RegisterRobotRequest::default()
        };
        let robot = self.robots.register_robot(request).await?.into_inner().robot;
        let robot = robot.ok_or_else(|| DemoError::Protocol("no robot was registered".into()))?;
        let is_known = LINKS.iter().zip(&panda.names).all(|(link, name)| {
            robot.links.get(*link).is_some_and(|link| link.name.ends_with(name.as_str()))
        });
        if !is_known {
            return Err(DemoError::Protocol("the robot's links are others".to_owned()));
        }
        let points =
            |o: &Obstacle| api::Points { xyz: o.points.iter().flatten().copied().collect() };
        let obstacle_specs = obstacles.iter().map(|obstacle| api::PolytopeSpec {
            source: Some(api::polytope_spec::Source::Vertices(points(obstacle))),
            ..api::PolytopeSpec::default()
        });
        Ok(Registered {
            allowed_pairs: robot.allowed_pairs.len(),
            robot: robot.id,
            obstacles: self.register_specs(obstacle_specs.collect()).await?,
        })
    }

    async fn register_specs(
        &mut self,
        polytopes: Vec<api::PolytopeSpec>,
    ) -> Result<Vec<api::RegistrationReport>, DemoError> {
        let wanted = polytopes.len();
        let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
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
        motion: &Trajectory,
        obstacles: &[Obstacle],
        registered: &Registered,
    ) -> Result<Run, DemoError> {
        let (frames, receiver) = mpsc::channel(STREAM_CAPACITY);
        let open = api::OpenSessionRequest {
            state: Some(scene(motion, obstacles, registered)),
            report: Some(api::ReportOptions {
                pairs: api::PairSelection::All.into(),
                distances: true,
                first_contacts: true,
                packed: true,
                ..api::ReportOptions::default()
            }),
            ..api::OpenSessionRequest::default()
        };
        let first = api::StreamSessionRequest {
            start: Some(api::stream_session_request::Start::Open(Box::new(open))),
            ..api::StreamSessionRequest::default()
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
        let request = api::CloseSessionRequest { session_id, ..Default::default() };
        self.sessions.close_session(request).await?;
        Ok(())
    }
}

impl Run {
    /// Streams the motion frame by frame, each sent when the one before is answered. `progress` is
    /// told after every frame.
    pub(super) async fn stream(
        &mut self,
        motion: &Trajectory,
        progress: &mut dyn FnMut(&Record),
    ) -> Result<Record, DemoError> {
        let mut record = Record::new((1..LINKS.len()).map(link_id).collect());
        let frames = (motion.end_s() * RATE_HZ).round() as u64 + 1;
        for frame_id in 1..=frames {
            let values = motion.at(super::record::seconds(frame_id));
            let moved = api::RobotMove { id: ROBOT, values, ..api::RobotMove::default() };
            let frame = api::Frame { frame_id, robot_moves: vec![moved], ..api::Frame::default() };
            let sent = Instant::now();
            let frame = Some(Box::new(frame));
            let request = api::StreamSessionRequest { frame, ..Default::default() };
            send(&self.frames, request).await?;
            let report = self.next_report().await?;
            record.add(&report, sent.elapsed())?;
            progress(&record);
        }
        Ok(record)
    }

    async fn next_report(&mut self) -> Result<api::FrameReport, DemoError> {
        loop {
            let message = self.reports.message().await?;
            let message = message
                .ok_or_else(|| DemoError::Protocol("the stream ended too early".to_owned()))?;
            if let Some(report) = message.report {
                return Ok(*report);
            }
        }
    }
}

async fn send(
    frames: &mpsc::Sender<api::StreamSessionRequest>,
    request: api::StreamSessionRequest,
) -> Result<(), DemoError> {
    let ended = |_| DemoError::Protocol("the stream ended too early".to_owned());
    frames.send(request).await.map_err(ended)
}

/// The robot at the start of the motion, bolted to the table, and what stands around.
fn scene(
    motion: &Trajectory,
    obstacles: &[Obstacle],
    registered: &Registered,
) -> api::SessionState {
    let robot = api::SessionRobot {
        id: ROBOT,
        name: "panda".to_owned(),
        robot_id: registered.robot.clone(),
        values: motion.at(0.0),
        fixed_base: true,
        ..api::SessionRobot::default()
    };
    let things = obstacles.iter().zip(&registered.obstacles).enumerate();
    let things = things.map(|(index, (obstacle, report))| {
        body(obstacle_id(index), &obstacle.name, report, &obstacle.pose)
    });
    api::SessionState {
        bodies: things.collect(),
        robots: vec![robot],
        ..api::SessionState::default()
    }
}

fn body(id: u32, name: &str, report: &api::RegistrationReport, pose: &Pose) -> api::Body {
    let source = report.polytope.as_ref();
    let source = source.map(|polytope| api::placed_body::Source::Id(polytope.id.clone()));
    let [x, y, z] = pose.translation.into();
    api::Body {
        id,
        name: name.to_owned(),
        parts: vec![api::PlacedBody { source, pose: None }],
        pose: Some(api::Pose {
            translation: Some(api::Vector3 { x, y, z }),
            orientation: Some(api::pose::Orientation::RotationMatrix(api::RotationMatrix {
                rows: rows(pose).collect(),
            })),
        }),
        fixed: true,
        ..api::Body::default()
    }
}

/// The nine numbers of the rotation, row by row.
fn rows(pose: &Pose) -> impl Iterator<Item = f64> + '_ {
    let rotation = &pose.rotation;
    (0..3).flat_map(move |i| (0..3).map(move |k| rotation[(i, k)]))
}
