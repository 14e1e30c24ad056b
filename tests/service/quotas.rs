//! What each tenant may have, over a real socket.

use std::path::PathBuf;
use std::time::Duration;

use clearance_proto as api;
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::robot_service_client::RobotServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_runtime::access::Role;
use clearance_runtime::settings::Settings;
use tokio_stream::StreamExt;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::access::{KeyFile, keyed};
use crate::robots::SLIDER;
use crate::server::{Server, cube, spec};

/// A server whose tenants may have what these lines say, and the keys of two of them.
async fn server(name: &str, lines: &str) -> (Server, [String; 2]) {
    let mut keys = KeyFile::new(&format!("quotas-{name}"));
    let both = ["acme", "bolt"].map(|tenant| keys.add(tenant, tenant, Role::Write));
    let quotas = quota_file(name);
    std::fs::write(&quotas, lines).unwrap();
    let (api_keys, quotas) = (Some(keys.path.clone()), Some(quotas));
    (Server::with_settings(Settings { api_keys, quotas, ..Settings::default() }).await, both)
}

fn quota_file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("clearance-quotas-{name}-{}.txt", std::process::id()))
}

/// Which quota a status says is exceeded, and when to come back.
fn exceeded(status: &Status) -> (String, Duration) {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    let details = status.get_error_details();
    let info = details.error_info().unwrap();
    assert_eq!(info.reason, "QUOTA_EXCEEDED");
    let violation = &details.quota_failure().unwrap().violations[0];
    assert_eq!(violation.subject, "tenant:acme");
    let retry = details.retry_info().unwrap().retry_delay.unwrap();
    (info.metadata["quota"].clone(), retry)
}

#[tokio::test]
async fn bodies_bytes_and_sessions_of_a_tenant_have_a_bound_and_others_go_on() {
    let (server, [ours, theirs]) = server("places", "acme bodies=2 sessions=1\n").await;
    let register = |x: f64| api::RegisterPolytopesRequest {
        polytopes: vec![spec("", &[x, 0.0, 0.0])],
        validate_only: false,
    };
    let mut polytopes = PolytopeServiceClient::new(keyed(&server, &ours));
    for x in [1.0, 2.0, 1.0] {
        polytopes.register_polytopes(register(x)).await.unwrap();
    }
    let refused = polytopes.register_polytopes(register(3.0)).await.unwrap_err();
    assert_eq!(exceeded(&refused).0, "bodies");
    let open =
        |id: &str| api::OpenSessionRequest { session_id: id.to_owned(), ..Default::default() };
    let mut sessions = SessionServiceClient::new(keyed(&server, &ours));
    sessions.open_session(open("one")).await.unwrap();
    let refused = sessions.open_session(open("two")).await.unwrap_err();
    assert_eq!(exceeded(&refused).0, "sessions");
    let close = api::CloseSessionRequest { session_id: "one".to_owned(), ..Default::default() };
    sessions.close_session(close).await.unwrap();
    sessions.open_session(open("two")).await.unwrap();
    let mut polytopes = PolytopeServiceClient::new(keyed(&server, &theirs));
    for x in 0..5 {
        polytopes.register_polytopes(register(f64::from(x))).await.unwrap();
    }
    let mut sessions = SessionServiceClient::new(keyed(&server, &theirs));
    for id in ["one", "two", "three"] {
        sessions.open_session(open(id)).await.unwrap();
    }
    std::fs::remove_file(quota_file("places")).unwrap();
}

#[tokio::test]
async fn frames_and_configurations_are_charged_where_they_are_read() {
    let lines =
        "* frames_per_second=5 configurations_per_second=50\nbolt frames_per_second=100000\n";
    let (server, [ours, theirs]) = server("rates", lines).await;
    let mut sessions = SessionServiceClient::new(keyed(&server, &ours));
    let open = api::OpenSessionRequest { session_id: "game".to_owned(), ..Default::default() };
    sessions.open_session(open.clone()).await.unwrap();
    let frame = |frame_id: u64| api::Frame { frame_id, ..Default::default() };
    let step = |ids: std::ops::Range<u64>| api::StepSessionRequest {
        session_id: "game".to_owned(),
        frames: ids.map(frame).collect(),
        ..Default::default()
    };
    // Ten at once are more than a second allows: they are answered, and the next ones wait.
    let reports = sessions.step_session(step(1..11)).await.unwrap().into_inner().reports;
    assert!(reports.iter().all(|report| report.status.is_none()), "{reports:?}");
    let refused = sessions.step_session(step(11..12)).await.unwrap_err();
    let (quota, retry) = exceeded(&refused);
    assert_eq!(quota, "frames_per_second");
    assert!(retry > Duration::from_millis(100) && retry < Duration::from_secs(2), "{retry:?}");
    // In a stream a frame is refused in its place, and the stream goes on.
    let first = api::StreamSessionRequest {
        start: Some(api::stream_session_request::Start::SessionId("game".to_owned())),
        frame: Some(Box::new(frame(11))),
        ..Default::default()
    };
    let (sender, receiver) = tokio::sync::mpsc::channel(4);
    sender.send(first).await.unwrap();
    let requests = tokio_stream::wrappers::ReceiverStream::new(receiver);
    let mut replies = sessions.stream_session(requests).await.unwrap().into_inner();
    let report = replies.next().await.unwrap().unwrap().report.unwrap();
    let status = report.status.unwrap();
    assert_eq!(status.reason(), api::ErrorReason::QuotaExceeded);
    tokio::time::sleep(retry + Duration::from_millis(50)).await;
    let again =
        api::StreamSessionRequest { frame: Some(Box::new(frame(11))), ..Default::default() };
    sender.send(again).await.unwrap();
    let report = replies.next().await.unwrap().unwrap().report.unwrap();
    assert!(report.status.is_none(), "{report:?}");
    let mut others = SessionServiceClient::new(keyed(&server, &theirs));
    others.open_session(open).await.unwrap();
    for k in 0..5 {
        others.step_session(step(10 * k + 1..10 * k + 11)).await.unwrap();
    }

    let mut robots = RobotServiceClient::new(keyed(&server, &ours));
    let request = api::RegisterRobotRequest { urdf: SLIDER.to_owned(), ..Default::default() };
    let robot = robots.register_robot(request).await.unwrap().into_inner().robot.unwrap();
    let check = |count: usize| api::CheckConfigurationsRequest {
        cell: Some(api::RobotCell {
            robots: vec![api::RobotInstance { robot_id: robot.id.clone(), ..Default::default() }],
            ..Default::default()
        }),
        values: vec![0.5; count],
        ..Default::default()
    };
    robots.check_configurations(check(100)).await.unwrap();
    let refused = robots.check_configurations(check(1)).await.unwrap_err();
    assert_eq!(exceeded(&refused).0, "configurations_per_second");
    std::fs::remove_file(quota_file("rates")).unwrap();
}

#[tokio::test]
async fn jobs_of_a_tenant_have_a_bound() {
    let (server, [ours, theirs]) = server("jobs", "acme jobs=0\n").await;
    // Enough points that it is done in the pool.
    let many: Vec<f64> = (0..6_000).map(|k| f64::from(k * k % 977)).collect();
    let register = |xyz: &[f64]| api::RegisterPolytopesRequest {
        polytopes: vec![spec("", xyz)],
        validate_only: false,
    };
    let mut polytopes = PolytopeServiceClient::new(keyed(&server, &ours));
    polytopes.register_polytopes(register(&cube()[..3])).await.expect("it needs no job");
    let refused = polytopes.register_polytopes(register(&many)).await.unwrap_err();
    assert_eq!(exceeded(&refused).0, "jobs");
    let mut polytopes = PolytopeServiceClient::new(keyed(&server, &theirs));
    polytopes.register_polytopes(register(&many)).await.unwrap();
    std::fs::remove_file(quota_file("jobs")).unwrap();
}

#[tokio::test]
async fn quotas_need_tenants_and_a_file_that_can_be_read() {
    let serve = async |settings: Settings| {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let served = clearance::rpc::serve(listener, std::future::ready(()), settings).await;
        served.unwrap_err().to_string()
    };
    let quotas = Some(PathBuf::from("/nowhere/quotas"));
    let without = serve(Settings { quotas: quotas.clone(), ..Settings::default() }).await;
    assert_eq!(without, "quotas needs api_keys or jwt_jwks, too");
    let mut keys = KeyFile::new("quotas-unread");
    keys.add("acme", "acme", Role::Write);
    let api_keys = Some(keys.path.clone());
    let unread = serve(Settings { api_keys, quotas, ..Settings::default() }).await;
    assert!(unread.starts_with("quotas: /nowhere/quotas: "), "{unread}");
}
