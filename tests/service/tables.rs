//! Memory of what questions have built: tables of registered polytopes, which stay, and bodies that
//! are made for one question.

use clearance_proto as api;
use clearance_proto::verify_certificate_request::Claim;
use clearance_runtime::settings::Limits;
use tokio_stream::StreamExt;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::hostile::ball;
use crate::server::{Server, body, soon};

const MIB: u64 = 1 << 20;

/// What is in use of a kind.
pub(crate) async fn used(server: &Server, name: &str) -> u64 {
    let metrics = server.info().get_server_metrics(api::GetServerMetricsRequest {}).await.unwrap();
    let memory = metrics.into_inner().memory.unwrap();
    memory.kinds.iter().find(|kind| kind.kind == name).unwrap().bytes
}

async fn with_memory(mib: u64) -> Server {
    Server::with_limits(Limits { memory_bytes_max: mib * MIB, ..Limits::default() }).await
}

fn is_out_of_memory(status: &Status) {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    assert!(status.message().contains("memory_bytes_max"), "{}", status.message());
    assert!(status.get_error_details().retry_info().is_some(), "later there may be room");
}

fn by(method: &str) -> Option<api::QueryOptions> {
    Some(api::QueryOptions { method: method.to_owned(), ..Default::default() })
}

fn distance(alias: &str, method: &str) -> api::MeasureDistanceRequest {
    let (p, q) = (Some(body(alias, 0.0)), Some(body(alias, 3.0)));
    api::MeasureDistanceRequest { p, q, options: by(method), ..Default::default() }
}

/// Everything that named methods might build was counted from the start, five times what a polytope
/// takes that nobody asks about in such a way; or, of small bodies, not at all.
#[tokio::test]
async fn tables_are_counted_when_they_are_built_and_given_back_with_the_polytope() {
    let server = Server::start().await;
    let id = server.register("ball", &ball(600)).await;
    let before = used(&server, "polytopes").await;
    assert!(before < 600 * 500, "{before}");
    server.queries().measure_distance(distance("ball", "")).await.unwrap();
    assert_eq!(used(&server, "polytopes").await, before, "the default builds no tables");
    let mut last = before;
    server.queries().measure_distance(distance("ball", "h_walk")).await.unwrap();
    let mut has_grown = async |least: u64, why: &str| {
        let now = used(&server, "polytopes").await;
        assert!(now >= last + least, "{why}: {last} and then {now}");
        last = now;
    };
    has_grown(600 * 300, "the hierarchy with its features").await;
    let (p, q) = (Some(body("ball", 0.0)), Some(body("ball", 1.0)));
    let ask = api::CheckCollisionRequest { p, q, options: by("cd_dual"), ..Default::default() };
    server.queries().check_collision(ask).await.unwrap();
    has_grown(600 * 100, "the surface").await;
    let (p, q) = (Some(body("ball", 0.0)), Some(body("ball", 1.0)));
    let ask = api::MeasurePenetrationRequest { p, q, ..Default::default() };
    server.queries().measure_penetration(ask).await.unwrap();
    has_grown(0, "depths").await;
    let grown = last;
    server.queries().measure_distance(distance("ball", "h_walk")).await.unwrap();
    assert_eq!(used(&server, "polytopes").await, grown, "what is there is not built again");
    let key = Some(api::get_polytope_request::Key::Id(id.clone()));
    let request = api::GetPolytopeRequest { key, ..Default::default() };
    let told = server.polytopes().get_polytope(request).await.unwrap().into_inner();
    assert!(told.polytope.unwrap().memory_bytes > grown - 1_024);
    let key = Some(api::delete_polytope_request::Key::Id(id));
    let request = api::DeletePolytopeRequest { key, ..Default::default() };
    server.polytopes().delete_polytope(request).await.unwrap();
    assert_eq!(used(&server, "polytopes").await, 0);
}

/// Uploads that go on until they are aborted, and hold so much together.
async fn hold(server: &Server, mib: u64) -> tokio::task::JoinSet<()> {
    let part = |part| api::UploadPolytopeRequest { part: Some(part) };
    let header = api::UploadHeader { content: 1, ..Default::default() };
    let header = part(api::upload_polytope_request::Part::Header(header));
    let chunk = part(api::upload_polytope_request::Part::Chunk(vec![0; MIB as usize].into()));
    let (mut holding, mut held) = (tokio::task::JoinSet::new(), 0);
    // What an upload has room for doubles as it grows.
    for size in (0..6).rev().map(|power| 1 << power).filter(|size| mib & size > 0) {
        let parts = [header.clone()].into_iter().chain((0..size).map(|_| chunk.clone()));
        let endless = tokio_stream::iter(parts.collect::<Vec<_>>()).chain(tokio_stream::pending());
        let mut polytopes = server.polytopes();
        holding.spawn(async move {
            let _ = polytopes.upload_polytope(endless).await;
        });
        held += size;
        soon(async {
            while used(server, "uploads").await != held * MIB {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        })
        .await;
    }
    holding
}

#[tokio::test]
async fn tables_are_not_begun_where_there_is_no_memory_for_them() {
    let server = with_memory(24).await;
    server.register("ball", &ball(3_000)).await;
    let before = used(&server, "polytopes").await;
    let mut holding = hold(&server, 15).await;
    let status = server.queries().measure_distance(distance("ball", "h_walk")).await.unwrap_err();
    is_out_of_memory(&status);
    // What builds none is answered meanwhile.
    server.queries().measure_distance(distance("ball", "")).await.unwrap();
    server.queries().measure_distance(distance("ball", "gjk")).await.unwrap();
    assert_eq!(used(&server, "polytopes").await, before, "nothing was built");
    holding.shutdown().await;
}

#[tokio::test]
async fn a_session_with_methods_by_name_takes_memory_for_their_tables_before_it_opens() {
    let server = with_memory(24).await;
    server.register("ball", &ball(3_000)).await;
    let before = used(&server, "polytopes").await;
    let open = |distance: &str| {
        let bodies = (0..2).map(|id| api::Body {
            id: Some(id),
            parts: vec![body("ball", 3.0 * f64::from(id))],
            ..Default::default()
        });
        let state = api::SessionState { bodies: bodies.collect(), ..Default::default() };
        let distance = distance.to_owned();
        let report = api::ReportOptions {
            pairs: api::PairSelection::All.into(),
            distances: true,
            ..Default::default()
        };
        api::OpenSessionRequest {
            state: Some(state),
            methods: Some(api::SessionMethods { distance, ..Default::default() }),
            report: Some(report),
            ..Default::default()
        }
    };
    let mut holding = hold(&server, 15).await;
    let status = server.sessions().open_session(open("h_walk")).await.unwrap_err();
    is_out_of_memory(&status);
    assert_eq!(used(&server, "polytopes").await, before, "nothing was built");
    server.sessions().open_session(open("")).await.unwrap();
    holding.shutdown().await;
    soon(async {
        while used(&server, "uploads").await > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
    server.sessions().open_session(open("h_walk")).await.unwrap();
    assert!(used(&server, "polytopes").await > before + 3_000 * 300);
}

/// What a claim names by its points was built with memory that nobody had counted.
#[tokio::test]
async fn a_claim_takes_memory_before_it_is_judged() {
    let server = with_memory(24).await;
    let body = |count: u32, x: f64| {
        let source = api::placed_body::Source::Vertices(api::Points { xyz: ball(count) });
        let translation = Some(api::Vector3 { x, y: 0.0, z: 0.0 });
        let pose = Some(api::Pose { translation, orientation: None });
        Some(api::PlacedBody { source: Some(source), pose })
    };
    let ask = |count| api::CheckCollisionRequest {
        p: body(count, 0.0),
        q: body(count, 3.0),
        ..Default::default()
    };
    let few = server.queries().check_collision(ask(20)).await.unwrap().into_inner();
    let verify = |count| {
        let (question, answer) = (Some(ask(count)), Some(few.clone()));
        let claim = Claim::Collision(api::CollisionClaim { question, answer });
        api::VerifyCertificateRequest { claim: Some(claim) }
    };
    let judged = server.queries().verify_certificate(verify(20)).await.unwrap().into_inner();
    assert!(judged.valid, "{}", judged.refusal);
    let status = server.queries().verify_certificate(verify(12_000)).await.unwrap_err();
    is_out_of_memory(&status);
    assert_eq!(used(&server, "work").await, 0);
}

/// How many questions were answered so far.
async fn answered(server: &Server) -> u64 {
    let metrics = server.info().get_server_metrics(api::GetServerMetricsRequest {}).await.unwrap();
    metrics.into_inner().questions.iter().map(|kind| kind.answered).sum()
}

/// A batch was answered to its end and then refused for the size of its reply.
#[tokio::test]
async fn questions_whose_answers_find_no_room_in_the_reply_are_not_begun() {
    let limits = Limits { unsent_bytes_max: 192 << 10, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    server.register("ball", &ball(200)).await;
    let (p, q) = (Some(body("ball", 0.0)), Some(body("ball", 0.1)));
    let ask = api::MeasurePenetrationRequest { p, q, with_surface: true, ..Default::default() };
    let question = Some(api::batch_query_item::Question::MeasurePenetration(ask));
    let request = api::BatchQueryRequest { items: vec![api::BatchQueryItem { question }; 100] };
    let answers = server.queries().batch_query(request).await.unwrap().into_inner().answers;
    let is_refused = |answer: &&api::BatchQueryAnswer| {
        matches!(answer.answer, Some(api::batch_query_answer::Answer::Status(_)))
    };
    let refused = answers.iter().filter(is_refused).count() as u64;
    assert!((1..100).contains(&refused), "{refused} refused");
    let begun = answered(&server).await;
    assert!(begun < 100 && begun >= 100 - refused, "{begun} of 100 begun, {refused} refused");
}
