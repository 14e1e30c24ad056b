//! A session as others see it: a watcher's messages, and the same as frames of coordinates
//! (`/tf`), as a scene of triangles (`/scene`) and as points (`/contacts`).

mod drawn;
mod place;
mod world;

use std::sync::Arc;

use clearance_proto as api;
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::robot_service_client::RobotServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use http::HeaderMap;
use tonic::metadata::MetadataMap;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use self::world::{UnknownShape, World};
use crate::file::now;
use crate::log::{Log, Watched};

/// Bytes of a message from the server.
const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Watches a session while it is recorded.
pub(crate) async fn watch(log: Arc<Log>, watched: Watched) {
    if let Err(status) = follow(&log, &watched).await {
        // A session that is closed, and a server that goes, end it.
        let is_end = [Code::NotFound, Code::Unavailable, Code::Cancelled].contains(&status.code());
        if !is_end {
            let what = format!("it is not watched: {}", status.message());
            log.flaw(&watched.session, &what);
        }
    }
}

async fn follow(log: &Log, watched: &Watched) -> Result<(), Status> {
    let bring = Bring(watched.headers.clone());
    let channel = InterceptedService::new(log.channel.clone(), bring);
    let request = api::WatchSessionRequest {
        session_id: watched.session.clone(),
        session_key: watched.key.clone(),
        incarnation: watched.incarnation,
        ..Default::default()
    };
    let sessions = SessionServiceClient::new(channel.clone());
    let mut sessions = sessions.max_decoding_message_size(MESSAGE_BYTES_MAX);
    let mut news = sessions.watch_session(request).await?.into_inner();
    let mut world = World::default();
    while let Some(told) = news.message().await? {
        if !log.has(&watched.session) {
            break;
        }
        fetch(log, &watched.session, &channel, &mut world, &told).await;
        let at = now();
        log.write(&watched.session, "/clearance/watch", &told, at);
        let seen = world.take(&told, at);
        if !seen.transforms.transforms.is_empty() {
            log.write(&watched.session, "/tf", &seen.transforms, at);
        }
        if !(seen.update.entities.is_empty() && seen.update.deletions.is_empty()) {
            log.write(&watched.session, "/scene", &seen.update, at);
        }
        if let Some(points) = &seen.contacts {
            log.write(&watched.session, "/contacts", points, at);
        }
    }
    Ok(())
}

type Opened = InterceptedService<Channel, Bring>;

/// Asks what new bodies are made of, and writes that down.
async fn fetch(
    log: &Log,
    session: &str,
    channel: &Opened,
    world: &mut World,
    told: &api::WatchSessionResponse,
) {
    let robots = RobotServiceClient::new(channel.clone());
    let mut robots = robots.max_decoding_message_size(MESSAGE_BYTES_MAX);
    for id in world.wanted_robots(told) {
        let reply = robots.get_robot(api::GetRobotRequest { id }).await;
        if let Ok(Some(robot)) = reply.map(|reply| reply.into_inner().robot) {
            log.write(session, "/clearance/robot", &robot, now());
            world.robots.insert(robot.id.clone(), robot);
        }
    }
    let bodies = PolytopeServiceClient::new(channel.clone());
    let mut bodies = bodies.max_decoding_message_size(MESSAGE_BYTES_MAX);
    for wanted in world.wanted_shapes(told) {
        if let Some(shape) = shape(&mut bodies, &wanted).await {
            log.write(session, "/clearance/shape", &shape, now());
            world.learn(wanted, &shape);
        }
    }
}

/// A shape with its lists, or, where it has none, without.
async fn shape(
    bodies: &mut PolytopeServiceClient<Opened>,
    wanted: &UnknownShape,
) -> Option<api::GetPolytopeResponse> {
    let plain = api::GetPolytopeRequest {
        key: Some(wanted.key.clone()),
        robot_id: wanted.robot_id.clone(),
        ..api::GetPolytopeRequest::default()
    };
    let whole = api::GetPolytopeRequest {
        with_vertices: true,
        with_facets: true,
        reply_bytes_max: MESSAGE_BYTES_MAX as u64,
        ..plain.clone()
    };
    match bodies.get_polytope(whole).await {
        Ok(reply) => Some(reply.into_inner()),
        Err(_) => bodies.get_polytope(plain).await.ok().map(tonic::Response::into_inner),
    }
}

/// Brings what the client brought.
#[derive(Clone)]
struct Bring(HeaderMap);

impl Interceptor for Bring {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let mut headers = std::mem::take(request.metadata_mut()).into_headers();
        headers.extend(self.0.clone());
        *request.metadata_mut() = MetadataMap::from_headers(headers);
        Ok(request)
    }
}
