//! Who may call: keys, roles and tenants, over a real socket.

use std::path::PathBuf;
use std::time::Duration;

use clearance_proto as api;
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::robot_service_client::RobotServiceClient;
use clearance_proto::server_service_client::ServerServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_runtime::access::{METHODS, Role, RpcMethod, new_key_line};
use clearance_runtime::settings::Settings;
use http::{Request, Response};
use prost::Message;
use tonic::body::Body;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tower::{Service, ServiceExt};

use crate::server::{Server, cube, soon, spec};

/// A file of keys.
pub(crate) struct KeyFile {
    pub(crate) path: PathBuf,
    lines: Vec<String>,
}

impl KeyFile {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("clearance-{name}-{}", std::process::id()));
        Self { path, lines: Vec::new() }
    }

    /// Another key, which is in force once a server reads the file.
    pub(crate) fn add(&mut self, name: &str, tenant: &str, role: Role) -> String {
        let (key, line) = new_key_line(name, tenant, role).unwrap();
        self.lines.push(line.to_string());
        self.write();
        key
    }

    /// Takes out the line that was added so many after the first.
    fn remove(&mut self, index: usize) {
        self.lines.remove(index);
        self.write();
    }

    fn write(&self) {
        std::fs::write(&self.path, self.lines.join("\n")).unwrap();
    }

    async fn server(&self) -> Server {
        let api_keys = Some(self.path.clone());
        Server::with_settings(Settings { api_keys, ..Settings::default() }).await
    }
}

/// Brings a key with each call.
#[derive(Clone)]
pub(crate) struct Keyed(MetadataValue<Ascii>);

impl Interceptor for Keyed {
    fn call(&mut self, mut request: tonic::Request<()>) -> Result<tonic::Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

pub(crate) fn keyed(server: &Server, key: &str) -> InterceptedService<Channel, Keyed> {
    let header = Keyed(format!("Bearer {key}").parse().unwrap());
    InterceptedService::new(server.channel.clone(), header)
}

/// The status of a call with an empty message; OK where it is answered.
async fn status_of(server: &Server, method: &str, header: Option<(&str, &str)>) -> Status {
    let mut request = Request::post(format!("http://localhost/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    let request = request.body(Body::new("\0\0\0\0\0".to_owned())).unwrap();
    let mut channel = server.channel.clone();
    let response: Response<Body> =
        soon(channel.ready().await.unwrap().call(request)).await.unwrap();
    Status::from_header_map(response.headers()).unwrap_or_else(|| Status::ok(""))
}

/// Every method of every service that the server lists has a row, and no row is about nothing.
#[test]
fn every_method_says_which_role_it_needs() {
    let mut served = Vec::new();
    for set in [
        api::FILE_DESCRIPTOR_SET,
        tonic_health::pb::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
    ] {
        for file in prost_types::FileDescriptorSet::decode(set).unwrap().file {
            for service in &file.service {
                let row = |method: &prost_types::MethodDescriptorProto| {
                    let name = format!("{}.{}/{}", file.package(), service.name(), method.name());
                    (name, method.client_streaming() || method.server_streaming())
                };
                served.extend(service.method.iter().map(row));
            }
        }
    }
    let mut listed: Vec<_> =
        METHODS.iter().map(|method| (method.name.to_owned(), method.streams)).collect();
    listed.sort_unstable();
    served.sort_unstable();
    served.dedup();
    assert_eq!(listed, served);
}

/// Whoever reached the port could call everything.
#[tokio::test]
async fn every_method_is_refused_to_whoever_may_not_call_it() {
    let mut file = KeyFile::new("roles");
    let roles = [Role::Query, Role::Write, Role::Admin];
    let keys = roles.map(|role| (role, file.add(role.name(), "t", role)));
    let server = file.server().await;
    for RpcMethod { name: method, needs: needed, .. } in METHODS {
        let check = async |header: Option<(&str, &str)>, expected: Code, why: &str| {
            let status = status_of(&server, method, header).await;
            let is_refused = [Code::Unauthenticated, Code::PermissionDenied];
            if expected == Code::Ok {
                assert!(!is_refused.contains(&status.code()), "{method}, {why}: {status:?}");
            } else {
                assert_eq!(status.code(), expected, "{method}, {why}: {status:?}");
            }
        };
        let stranger = if needed.is_some() { Code::Unauthenticated } else { Code::Ok };
        check(None, stranger, "no key").await;
        check(Some(("authorization", "Bearer ck-0")), stranger, "a wrong key").await;
        check(Some(("authorization", "Basic ck-0")), stranger, "another scheme").await;
        for (role, key) in &keys {
            let expected = if Some(*role) >= *needed { Code::Ok } else { Code::PermissionDenied };
            check(Some(("x-api-key", key)), expected, role.name()).await;
        }
    }
    let query = Some(("x-api-key", &*keys[0].1));
    for unknown in ["clearance.v1.QueryService/Nothing", "a/b", "x"] {
        assert_eq!(status_of(&server, unknown, query).await.code(), Code::PermissionDenied);
        assert_eq!(status_of(&server, unknown, None).await.code(), Code::Unauthenticated);
    }
}

fn registration(alias: &str) -> api::RegisterPolytopesRequest {
    api::RegisterPolytopesRequest { polytopes: vec![spec(alias, &cube())], validate_only: false }
}

/// What one tenant registers and opens is not there for another: not by id, by name or in a list,
/// and that it is there is not told by `already_registered`.
#[tokio::test]
async fn tenants_see_nothing_of_each_other() {
    let mut file = KeyFile::new("tenants");
    let [ours, theirs] = ["acme", "bolt"].map(|tenant| file.add(tenant, tenant, Role::Write));
    let server = file.server().await;
    let polytopes = |key: &str| PolytopeServiceClient::new(keyed(&server, key));
    let sessions = |key: &str| SessionServiceClient::new(keyed(&server, key));

    let register = async |key: &str| {
        let reply = polytopes(key).register_polytopes(registration("box")).await.unwrap();
        reply.into_inner().reports.remove(0)
    };
    let report = register(&ours).await;
    assert!(!report.already_registered);
    let id = report.polytope.unwrap().id;

    let by_id = api::get_polytope_request::Key::Id(id.clone());
    let by_alias = api::get_polytope_request::Key::Alias("box".to_owned());
    for key in [by_id, by_alias] {
        let request = api::GetPolytopeRequest { key: Some(key), ..Default::default() };
        assert!(polytopes(&ours).get_polytope(request.clone()).await.is_ok());
        let refused = polytopes(&theirs).get_polytope(request).await.unwrap_err();
        assert_eq!(refused.code(), Code::NotFound);
    }
    let listed = polytopes(&theirs).list_polytopes(api::ListPolytopesRequest::default()).await;
    let listed = listed.unwrap().into_inner();
    assert_eq!((listed.polytopes.len(), listed.total_size), (0, 0));
    let missing = api::FindMissingPolytopesRequest { ids: vec![id.clone()] };
    let missing = polytopes(&theirs).find_missing_polytopes(missing).await.unwrap().into_inner();
    assert_eq!(missing.missing_ids, std::slice::from_ref(&id));
    let delete = api::DeletePolytopeRequest {
        key: Some(api::delete_polytope_request::Key::Id(id)),
        ..Default::default()
    };
    let refused = polytopes(&theirs).delete_polytope(delete).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    assert!(!register(&theirs).await.already_registered, "theirs is another one");

    let open = api::OpenSessionRequest { session_id: "game".to_owned(), ..Default::default() };
    sessions(&ours).open_session(open.clone()).await.unwrap();
    let ask = api::GetSessionRequest { session_id: "game".to_owned(), ..Default::default() };
    let refused = sessions(&theirs).get_session(ask.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    sessions(&theirs).open_session(open).await.expect("the name is free there");
    let list = async |key: &str| {
        let list = api::ListSessionsRequest::default();
        sessions(key).list_sessions(list).await.unwrap().into_inner().sessions.len()
    };
    assert_eq!((list(&ours).await, list(&theirs).await), (1, 1));
    let close = api::CloseSessionRequest { session_id: "game".to_owned(), ..Default::default() };
    sessions(&theirs).close_session(close).await.unwrap();
    assert_eq!((list(&ours).await, list(&theirs).await), (1, 0));
    sessions(&ours).get_session(ask).await.expect("and ours is open still");

    let usage = async |key: &str| {
        let mut info = ServerServiceClient::new(keyed(&server, key));
        let info = info.get_server_info(api::GetServerInfoRequest {}).await.unwrap();
        let usage = info.into_inner().usage.unwrap();
        (usage.polytopes, usage.sessions)
    };
    assert_eq!((usage(&ours).await, usage(&theirs).await), ((1, 1), (1, 0)));
}

/// A robot is named by its content, so another tenant can make its id: and learns nothing from it.
#[tokio::test]
async fn robots_of_another_tenant_are_not_there() {
    let mut file = KeyFile::new("robots");
    let [ours, theirs] = ["acme", "bolt"].map(|tenant| file.add(tenant, tenant, Role::Write));
    let server = file.server().await;
    let robots = |key: &str| RobotServiceClient::new(keyed(&server, key));
    let urdf = r#"<robot name="r"><link name="a"><collision><geometry><box size="1 1 1"/></geometry>
        </collision></link></robot>"#;
    let register = api::RegisterRobotRequest { urdf: urdf.to_owned(), ..Default::default() };
    let reply = robots(&ours).register_robot(register.clone()).await.unwrap().into_inner();
    let id = reply.robot.unwrap().id;
    let get = api::GetRobotRequest { id: id.clone() };
    assert_eq!(robots(&theirs).get_robot(get).await.unwrap_err().code(), Code::NotFound);
    let list = robots(&theirs).list_robots(api::ListRobotsRequest::default()).await.unwrap();
    assert_eq!(list.into_inner().total_size, 0);
    let delete = api::DeleteRobotRequest { id, ..Default::default() };
    assert_eq!(robots(&theirs).delete_robot(delete).await.unwrap_err().code(), Code::NotFound);
    let again = robots(&theirs).register_robot(register).await.unwrap().into_inner();
    assert!(!again.already_registered);
}

/// A stream that was opened with a key that is taken away goes on for nobody.
#[tokio::test]
async fn streams_end_when_their_key_is_taken_away() {
    let mut file = KeyFile::new("revoked");
    let [stays, goes] = ["stays", "goes"].map(|name| file.add(name, "acme", Role::Write));
    let server = file.server().await;
    let sessions = |key: &str| SessionServiceClient::new(keyed(&server, key));
    let open = api::OpenSessionRequest { session_id: "game".to_owned(), ..Default::default() };
    sessions(&stays).open_session(open).await.unwrap();
    let watch = api::WatchSessionRequest { session_id: "game".to_owned(), ..Default::default() };
    let mut kept = sessions(&stays).watch_session(watch.clone()).await.unwrap().into_inner();
    let mut cut = sessions(&goes).watch_session(watch.clone()).await.unwrap().into_inner();
    for stream in [&mut kept, &mut cut] {
        soon(stream.message()).await.unwrap().expect("the state comes first");
    }
    file.remove(1);
    // The server waits for it: the process goes on.
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, rustix::process::Signal::HUP).unwrap();
    let ended = soon(cut.message()).await.unwrap_err();
    assert_eq!(ended.code(), Code::Unauthenticated);
    let refused = sessions(&goes).watch_session(watch).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    let quiet = tokio::time::timeout(Duration::from_millis(100), kept.message()).await;
    assert!(quiet.is_err(), "the other one goes on: {quiet:?}");
}

#[tokio::test]
async fn a_server_that_strangers_can_reach_asks_who_they_are() {
    for (settings, serves) in
        [(Settings::default(), false), (Settings { insecure: true, ..Settings::default() }, true)]
    {
        let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
        let served = clearance::rpc::serve(listener, std::future::pending(), settings);
        let served = tokio::time::timeout(Duration::from_millis(300), served).await;
        assert_eq!(served.is_err(), serves, "{served:?}");
    }
}
