//! The demo as a client: everything it asks, it asks over gRPC, as any other program would.

use std::time::Instant;

use super::DemoError;
use super::cell::{Obstacle, ObstacleForm};
use super::record::{RATE_HZ, Record};
use super::report::{ROBOT, link_id, obstacle_id};
use super::robot::{LINKS, MESHES, Panda, SRDF, URDF};
use super::trajectory::Trajectory;
use clearance_certificates::geometry::pose_to_wire;
use clearance_client::api::polytope_spec::Source;
use clearance_client::{Client, Registered, Session, api, spec_of};
use clearance_geometry::Vec3;

/// What is registered.
#[derive(Debug, Default)]
pub(crate) struct Registrations {
    /// The robot's id.
    pub(crate) robot: String,
    /// Pairs of its links that need no check.
    pub(crate) allowed_pairs: usize,
    /// One for each obstacle.
    pub(crate) obstacles: Vec<Registered>,
}

/// Registers the robot by its URDF, its SRDF and the bytes of its STL files, and the obstacles.
pub(crate) async fn register(
    client: &Client,
    panda: &Panda,
    obstacles: &[Obstacle],
) -> Result<Registrations, DemoError> {
    let mesh = |(name, stl): (&str, &'static [u8])| api::RobotMesh {
        name: name.to_owned(),
        source: Some(api::robot_mesh::Source::Content(stl.into())),
    };
    let request = api::RegisterRobotRequest {
        urdf: URDF.to_owned(),
        srdf: SRDF.to_owned(),
        meshes: MESHES.map(mesh).into(),
        mesh_treatment: api::MeshTreatment::Hull.into(),
        ..api::RegisterRobotRequest::default()
    };
    let robot = client.register_robot(request).await?;
    let is_known = LINKS.iter().zip(&panda.names).all(|(link, name)| {
        robot.links.get(*link).is_some_and(|link| link.name.ends_with(name.as_str()))
    });
    if !is_known {
        return Err(DemoError::Protocol("the robot's links are others".to_owned()));
    }
    Ok(Registrations {
        allowed_pairs: robot.allowed_pairs.len(),
        robot: robot.id,
        obstacles: client
            .register(obstacles.iter().map(|obstacle| spec(&obstacle.form)).collect())
            .await?,
    })
}

/// What a thing is made of, for its registration.
fn spec(form: &ObstacleForm) -> api::PolytopeSpec {
    let lists = |points: &[Vec3]| points.iter().map(|point| (*point).into()).collect::<Vec<_>>();
    let (source, treatment) = match form {
        ObstacleForm::Hull(points) => return spec_of(&lists(points)),
        ObstacleForm::Ball(radius) => {
            let shape = api::RoundedShape { radius: *radius, ..Default::default() };
            (Source::Rounded(shape), api::MeshTreatment::Unspecified)
        }
        ObstacleForm::Cloud(points, radius) => {
            let (xyz, radius) = (lists(points).concat(), *radius);
            let cloud = api::PointCloud { xyz, radius, ..api::PointCloud::default() };
            (Source::Cloud(cloud), api::MeshTreatment::Unspecified)
        }
        ObstacleForm::Mesh(walls) => {
            let (points, triangles) = walls.mesh();
            let xyz = lists(&points).concat();
            let vertices = Some(api::Points { xyz });
            let mesh = api::Mesh { vertices, triangles: triangles.concat() };
            (Source::Mesh(mesh), api::MeshTreatment::Polyhedron)
        }
    };
    api::PolytopeSpec {
        source: Some(source),
        treatment: treatment.into(),
        ..api::PolytopeSpec::default()
    }
}

/// Opens a session with the whole scene.
pub(crate) async fn open(
    client: &Client,
    motion: &Trajectory,
    obstacles: &[Obstacle],
    registered: &Registrations,
) -> Result<Session, DemoError> {
    let request = api::OpenSessionRequest {
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
    Ok(Session::open(client, request).await?)
}

/// Streams the motion frame by frame, each sent when the one before is answered. `progress` is
/// told after every frame.
pub(crate) async fn stream(
    session: &mut Session,
    motion: &Trajectory,
    progress: &mut dyn FnMut(&Record),
) -> Result<Record, DemoError> {
    let mut record = Record::new((1..LINKS.len()).map(link_id).collect());
    let frames = (motion.end_s() * RATE_HZ).round() as u64 + 1;
    for frame_id in 1..=frames {
        let values = motion.at(super::record::seconds(frame_id));
        let moved = api::RobotMove { id: Some(ROBOT), values, ..api::RobotMove::default() };
        let frame = api::Frame { frame_id, robot_moves: vec![moved], ..api::Frame::default() };
        let sent = Instant::now();
        let report = session.step(frame).await?;
        record.add(&report, sent.elapsed())?;
        progress(&record);
    }
    Ok(record)
}

/// The robot at the start of the motion, bolted to the table, and what stands around.
fn scene(
    motion: &Trajectory,
    obstacles: &[Obstacle],
    registered: &Registrations,
) -> api::SessionState {
    let robot = api::SessionRobot {
        id: Some(ROBOT),
        name: "panda".to_owned(),
        robot_id: registered.robot.clone(),
        values: motion.at(0.0),
        fixed_base: true,
        ..api::SessionRobot::default()
    };
    let things = obstacles.iter().zip(&registered.obstacles).enumerate();
    let things = things.map(|(index, (obstacle, polytope))| api::Body {
        name: obstacle.name.clone(),
        fixed: true,
        ..polytope.body(obstacle_id(index), pose_to_wire(&obstacle.pose))
    });
    api::SessionState {
        bodies: things.collect(),
        robots: vec![robot],
        ..api::SessionState::default()
    }
}
