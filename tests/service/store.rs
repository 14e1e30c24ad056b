//! What is registered outlives the process.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clearance_proto as api;
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::robot_mesh::Source as MeshSource;
use clearance_runtime::access::Role;
use clearance_runtime::settings::{Limits, Settings};
use tonic::Code;
use tonic::transport::Channel;
use tonic_types::StatusExt;

use crate::access::{KeyFile, keyed};
use crate::robots::{robots, slider};
use crate::server::{Server, cube, spec};

/// A directory for a store, which goes with it.
pub(crate) struct StoreDirectory(PathBuf);

impl StoreDirectory {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("clearance-store-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn settings(&self) -> Settings {
        Settings { store: Some(self.0.clone()), ..Settings::default() }
    }

    async fn server(&self) -> Server {
        Server::with_settings(self.settings()).await
    }
}

impl Drop for StoreDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn end(server: Server) {
    let (channel, serving) = server.stop();
    drop(channel);
    serving.await.unwrap().unwrap();
}

/// One of each kind that can be registered.
fn of_every_kind() -> Vec<api::PolytopeSpec> {
    use api::polytope_spec::Source;
    use api::rounded_shape::Core;
    let source = |source: Source| api::PolytopeSpec { source: Some(source), ..Default::default() };
    let points = || Some(api::Points { xyz: vec![0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.] });
    let mesh = |treatment: api::MeshTreatment| {
        let triangles = vec![0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2];
        let mesh = api::Mesh { vertices: points(), triangles };
        api::PolytopeSpec { treatment: treatment.into(), ..source(Source::Mesh(mesh)) }
    };
    let rounded = |core: Core, radius: f64| {
        source(Source::Rounded(api::RoundedShape { core: Some(core), radius, scale: None }))
    };
    let field = api::HeightField {
        rows: 2,
        columns: 3,
        spacing_x: 1.0,
        spacing_y: 0.5,
        heights: vec![0., 1., 2., 1., 0., -1.],
        holes: vec![1],
        diagonal: api::CellDiagonal::Falling.into(),
    };
    let cloud =
        api::PointCloud { xyz: vec![0., 0., 0., 5., 5., 5.], radius: 0.25, ..Default::default() };
    vec![
        spec("polytope", &cube()),
        mesh(api::MeshTreatment::Polyhedron),
        mesh(api::MeshTreatment::Surface),
        rounded(Core::Length(2.0), 0.5),
        rounded(Core::Cone(api::Cone { radius_xy: 1.0, length: 2.0 }), 0.0),
        source(Source::Cloud(cloud)),
        source(Source::HeightField(field)),
    ]
}

fn get(id: &str) -> api::GetPolytopeRequest {
    let key = Some(api::get_polytope_request::Key::Id(id.to_owned()));
    api::GetPolytopeRequest { key, ..Default::default() }
}

#[tokio::test]
async fn bodies_of_every_kind_robots_and_aliases_are_there_after_a_restart() {
    let directory = StoreDirectory::new("restart");
    let server = directory.server().await;
    let polytopes = of_every_kind();
    let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
    let reply = server.polytopes().register_polytopes(request.clone()).await.unwrap().into_inner();
    let before: Vec<api::Polytope> =
        reply.reports.into_iter().map(|report| report.polytope.unwrap()).collect();
    // One robot of its own files, and one whose mesh is a registered body that is deleted then.
    let cell = slider(&server).await;
    let mesh = api::RobotMesh {
        name: "box.stl".to_owned(),
        source: Some(MeshSource::Id(before[1].id.clone())),
    };
    let urdf = r#"<robot name="r"><link name="a"><collision><geometry><mesh filename="box.stl"/>
        </geometry></collision></link></robot>"#;
    let with_mesh = api::RegisterRobotRequest {
        urdf: urdf.to_owned(),
        meshes: vec![mesh],
        robot_key: "mine".to_owned(),
        ..Default::default()
    };
    let meshed = robots(&server).register_robot(with_mesh).await.unwrap().into_inner();
    let meshed = meshed.robot.unwrap();
    let key = Some(api::delete_polytope_request::Key::Id(before[1].id.clone()));
    let delete = api::DeletePolytopeRequest { key, ..Default::default() };
    server.polytopes().delete_polytope(delete).await.unwrap();
    end(server).await;

    let server = directory.server().await;
    let usage = server.usage().await;
    assert_eq!(usage.polytopes, 6, "without the one that was deleted");
    for (index, polytope) in before.iter().enumerate() {
        let again = server.polytopes().get_polytope(get(&polytope.id)).await;
        if index == 1 {
            assert_eq!(again.unwrap_err().code(), Code::NotFound);
        } else {
            assert_eq!(again.unwrap().into_inner().polytope.as_ref(), Some(polytope));
        }
    }
    let ids = before.iter().map(|polytope| polytope.id.clone()).collect();
    let missing = api::FindMissingPolytopesRequest { ids };
    let missing = server.polytopes().find_missing_polytopes(missing).await.unwrap().into_inner();
    assert_eq!(missing.missing_ids, [before[1].id.clone()]);
    let again = server.polytopes().register_polytopes(request).await.unwrap().into_inner();
    let known: Vec<bool> = again.reports.iter().map(|report| report.already_registered).collect();
    assert_eq!(known, [true, false, true, true, true, true, true]);
    // By its alias, in a question.
    let by_alias = api::GetPolytopeRequest {
        key: Some(api::get_polytope_request::Key::Alias("polytope".to_owned())),
        with_vertices: true,
        ..Default::default()
    };
    let vertices = server.polytopes().get_polytope(by_alias).await.unwrap().into_inner().vertices;
    assert_eq!(vertices.unwrap().xyz.len(), 24);
    let request = api::GetRobotRequest { id: meshed.id.clone() };
    let robot = robots(&server).get_robot(request).await.unwrap().into_inner().robot.unwrap();
    assert_eq!(robot, meshed, "whose mesh is not registered any more");
    let check = api::CheckConfigurationsRequest {
        cell: Some(cell),
        values: vec![0.0, 2.5],
        ..Default::default()
    };
    robots(&server).check_configurations(check).await.unwrap();
    // Whose it is, is kept, too.
    let delete = |robot_keys| api::DeleteRobotRequest {
        id: meshed.id.clone(),
        robot_keys,
        ..Default::default()
    };
    let refused = robots(&server).delete_robot(delete(vec![])).await.unwrap_err();
    assert_eq!(refused.get_error_details().error_info().unwrap().reason, "ROBOT_CLAIMED");
    robots(&server).delete_robot(delete(vec!["mine".to_owned()])).await.unwrap();
    end(server).await;
    let server = directory.server().await;
    let list = robots(&server).list_robots(api::ListRobotsRequest::default()).await.unwrap();
    assert_eq!(list.into_inner().total_size, 1);
    let list = server.polytopes().list_polytopes(api::ListPolytopesRequest::default()).await;
    assert_eq!(list.unwrap().into_inner().polytopes.len(), 7);
    end(server).await;
}

#[tokio::test]
async fn each_tenant_finds_its_own_again_whatever_line_of_the_file_it_is_on() {
    let directory = StoreDirectory::new("tenants");
    let mut file = KeyFile::new("keys-of-tenants");
    let [ours, theirs] = ["acme", "bolt"].map(|tenant| file.add(tenant, tenant, Role::Write));
    let settings = Settings { api_keys: Some(file.path.clone()), ..directory.settings() };
    let server = Server::with_settings(settings).await;
    let polytopes = |server: &Server, key: &str| PolytopeServiceClient::new(keyed(server, key));
    let register = |x: f64| api::RegisterPolytopesRequest {
        polytopes: vec![spec("it", &[x, 0.0, 0.0])],
        validate_only: false,
    };
    let mut ids = Vec::new();
    for (key, x) in [(&ours, 1.0), (&theirs, 2.0)] {
        let reply = polytopes(&server, key).register_polytopes(register(x)).await.unwrap();
        ids.push(reply.into_inner().reports[0].polytope.clone().unwrap().id);
    }
    end(server).await;
    // Now in another order.
    let mut other = KeyFile::new("keys-of-tenants-again");
    let [theirs, ours] = ["bolt", "acme"].map(|tenant| other.add(tenant, tenant, Role::Write));
    let settings = Settings { api_keys: Some(other.path.clone()), ..directory.settings() };
    let server = Server::with_settings(settings).await;
    for (key, own, strange) in [(&ours, 0, 1), (&theirs, 1, 0)] {
        let mut client = polytopes(&server, key);
        let alias = Some(api::get_polytope_request::Key::Alias("it".to_owned()));
        let by_alias = api::GetPolytopeRequest { key: alias, ..Default::default() };
        let found = client.get_polytope(by_alias).await.unwrap().into_inner().polytope.unwrap();
        assert_eq!(found.id, ids[own]);
        let refused = client.get_polytope(get(&ids[strange])).await.unwrap_err();
        assert_eq!(refused.code(), Code::NotFound);
    }
    end(server).await;
}

#[tokio::test]
async fn a_store_is_one_servers_and_has_a_bound_that_is_told() {
    let directory = StoreDirectory::new("bound");
    let limits = Limits { store_bytes_max: 300, ..Limits::default() };
    let server = Server::with_settings(Settings { limits, ..directory.settings() }).await;
    server.register("", &cube()).await;
    let polytopes = vec![spec("", &[7.0, 0.0, 0.0])];
    let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
    server.polytopes().register_polytopes(request).await.unwrap();
    let polytopes = vec![spec("", &[8.0, 0.0, 0.0])];
    let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
    let full = server.polytopes().register_polytopes(request).await.unwrap_err();
    assert_eq!(full.code(), Code::ResourceExhausted);
    assert!(full.message().contains("store_bytes_max = 300"), "{}", full.message());
    assert!(full.get_error_details().retry_info().is_some());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let second = clearance::rpc::serve(listener, std::future::pending(), directory.settings());
    let refused = second.await.unwrap_err().to_string();
    assert!(refused.contains("another process has this store open"), "{refused}");
    end(server).await;
}

/// A server in a process of its own.
struct Process(Child, Channel);

impl Process {
    async fn start(directory: &StoreDirectory) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clearance"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "error", "--store"]);
        command.arg(&directory.0).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(' ').next());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}")).to_owned();
        let uri = format!("http://{address}");
        let channel = Channel::from_shared(uri).unwrap().connect().await.unwrap();
        Self(child, channel)
    }

    fn polytopes(&self) -> PolytopeServiceClient<Channel> {
        PolytopeServiceClient::new(self.1.clone())
    }

    /// SIGKILL.
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whatever was answered is there, however often and whenever the process dies.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_has_lost_nothing_that_it_acknowledged() {
    const ROUNDS: u64 = 12;
    let directory = StoreDirectory::new("killed");
    let mut known: Vec<(String, u32)> = Vec::new();
    let mut last_alias = None;
    for round in 0..ROUNDS {
        let server = Process::start(&directory).await;
        let ids = known.iter().map(|(id, _)| id.clone()).collect();
        let missing = api::FindMissingPolytopesRequest { ids };
        let missing = server.polytopes().find_missing_polytopes(missing).await.unwrap();
        assert_eq!(missing.into_inner().missing_ids, Vec::<String>::new(), "round {round}");
        if let Some((id, _)) = known.iter().rev().nth(2) {
            let found = server.polytopes().get_polytope(get(id)).await.unwrap().into_inner();
            assert_eq!(found.polytope.unwrap().id, *id);
        }
        // The alias names what it was moved to last, or what was asked for when the process died.
        if let Some((answered, asked)) = last_alias.take() {
            let key = Some(api::get_polytope_request::Key::Alias("last".to_owned()));
            let by_alias = api::GetPolytopeRequest { key, ..Default::default() };
            let found = server.polytopes().get_polytope(by_alias).await.unwrap().into_inner();
            let x = found.polytope.unwrap().bounds_low.unwrap().x;
            assert!([answered, asked].contains(&x), "round {round}: {x} {answered} {asked}");
        }
        let patience = Duration::from_micros(round * 37_411 % 250_000);
        let begin = Instant::now();
        let mut client = server.polytopes();
        let talk = async {
            let mut answered = Vec::new();
            for k in 0.. {
                let x = f64::from(u32::try_from(round * 10_000).unwrap() + k);
                let one = api::PolytopeSpec { move_alias: true, ..spec("last", &[x, 0.0, 0.0]) };
                let two = spec("", &[x, 1.0, 0.0]);
                let polytopes = vec![one, two];
                let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
                match client.register_polytopes(request).await {
                    Ok(reply) => answered.push((x, reply.into_inner().reports)),
                    Err(_) => return (answered, x),
                }
            }
            unreachable!("it goes on until the process dies")
        };
        let killing = async {
            tokio::time::sleep(patience.saturating_sub(begin.elapsed())).await;
            tokio::task::block_in_place(|| server.kill());
        };
        let ((answered, asked), ()) = tokio::join!(talk, killing);
        for (x, reports) in &answered {
            let [one, two] = &reports[..] else { panic!("two reports") };
            for report in [one, two] {
                known.push((report.polytope.clone().unwrap().id, 1));
            }
            last_alias = Some((*x, asked));
        }
    }
    assert!(known.len() > 20, "{}", known.len());
}

#[tokio::test]
async fn a_store_is_exported_and_imported_by_the_command() {
    let [from, to] = ["from", "to"].map(StoreDirectory::new);
    let server = from.server().await;
    let id = server.register("cube", &cube()).await;
    let run = |arguments: &[&str], of: &StoreDirectory| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clearance"));
        let output = command.arg("store").args(arguments).arg("--store").arg(&of.0).output();
        let output = output.unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    };
    let file = std::env::temp_dir().join(format!("clearance-export-{}", std::process::id()));
    let name = file.to_str().unwrap();
    let (done, text) = run(&["export", name], &from);
    assert!(!done && text.contains("another process has this store open"), "{text}");
    end(server).await;
    assert!(!run(&["export", name], &to).0, "there is no store");
    assert_eq!(run(&["export", name], &from), (true, format!("3 rows in {name}\n")));
    let (done, text) = run(&["import", name], &to);
    assert_eq!((done, &*text), (true, "3 rows, of which 0 were there already\n"));
    let (done, text) = run(&["list"], &to);
    assert_eq!((done, &*text), (true, "(everybody): 1 bodies, 1 aliases, 0 robots\n"));
    std::fs::remove_file(&file).unwrap();
    let server = to.server().await;
    let found = server.polytopes().get_polytope(get(&id)).await.unwrap().into_inner();
    assert_eq!(found.polytope.unwrap().aliases, ["cube"]);
    end(server).await;
}
