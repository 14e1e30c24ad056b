//! Meshes in convex pieces: how far the search has come, what is registered, what is refused, and
//! what becomes of a search that nobody waits for.

use std::f64::consts::TAU;
use std::time::Duration;

use api::decompose_mesh_request::Mesh;
use api::decompose_mesh_response::Told;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tonic::{Code, Request, Status};

use crate::polyhedra::{keep, register, with_channel};
use crate::server::{Server, check, cube, soon};
use crate::surfaces::surface;

fn pieces_of(alias: &str, gap_max: Option<f64>, pieces_max: u32) -> api::DecomposeMeshRequest {
    api::DecomposeMeshRequest { mesh: Some(Mesh::Alias(alias.to_owned())), gap_max, pieces_max }
}

/// What is told on the way, and the pieces.
async fn decompose(
    server: &Server,
    request: impl tonic::IntoRequest<api::DecomposeMeshRequest>,
) -> Result<(Vec<api::DecompositionProgress>, Vec<api::MeshPiece>), Status> {
    let mut replies = server.polytopes().decompose_mesh(request).await?.into_inner();
    let mut on_the_way = Vec::new();
    while let Some(reply) = replies.message().await? {
        match reply.told.expect("something is told") {
            Told::Progress(progress) => on_the_way.push(progress),
            Told::Decomposition(found) => {
                assert_eq!(replies.message().await?, None, "the pieces are told at last");
                return Ok((on_the_way, found.pieces));
            }
        }
    }
    Err(Status::internal("no pieces"))
}

/// A ring with a hole and ripples, which no few convex pieces are near to.
fn rippled(around: u32, across: u32) -> api::Mesh {
    let point = |k: u32| {
        let u = TAU * f64::from(k / across) / f64::from(around);
        let v = TAU * f64::from(k % across) / f64::from(across);
        let small = 0.3 + 0.05 * (9.0 * u).sin() * (5.0 * v).cos();
        let radius = 1.0 + small * v.cos();
        [radius * u.cos(), radius * u.sin(), small * v.sin()]
    };
    let at = |i: u32, j: u32| (i % around) * across + j % across;
    let quads = (0..around).flat_map(|i| (0..across).map(move |j| (i, j)));
    let halves = |(i, j): (u32, u32)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [a, b, c, a, c, d]
    };
    let xyz = (0..around * across).flat_map(point).collect();
    let triangles = quads.flat_map(halves).collect();
    api::Mesh { vertices: Some(api::Points { xyz }), triangles }
}

async fn registered_count(server: &Server) -> u64 {
    let reply = server.polytopes().list_polytopes(api::ListPolytopesRequest::default()).await;
    reply.unwrap().into_inner().total_size
}

/// A U in three pieces: each is a polytope that can be asked about, and its slot stays free.
#[tokio::test]
async fn a_mesh_in_pieces_is_told_on_the_way_and_registered_at_last() {
    let (server, _) = with_channel().await;
    let (on_the_way, pieces) =
        decompose(&server, pieces_of("channel", Some(1e-3), 0)).await.unwrap();
    assert_eq!(pieces.len(), 3, "{pieces:?}");
    assert!(!on_the_way.is_empty());
    for progress in &on_the_way {
        assert_ne!(progress.phase(), api::DecompositionPhase::Unspecified);
        assert!(
            progress.pieces >= 1 && (0.0..3.0).contains(&progress.gap_estimate),
            "{progress:?}"
        );
    }
    let mut volume = 0.0;
    for piece in &pieces {
        let described = piece.polytope.clone().unwrap();
        assert!(described.id.starts_with("p1-") && !piece.already_registered, "{piece:?}");
        assert!(0.0 <= piece.gap_lower && piece.gap_lower <= piece.gap && piece.gap <= 1e-3);
        volume += described.volume;
        let place = api::Pose {
            translation: Some(api::Vector3 { x: 1.5, y: 2.0, z: 0.5 }),
            orientation: None,
        };
        let ball = api::RoundedShape { radius: 0.4375, ..Default::default() };
        let question = api::CheckCollisionRequest {
            p: Some(api::PlacedBody {
                source: Some(api::placed_body::Source::Id(described.id)),
                pose: None,
            }),
            q: Some(api::PlacedBody {
                source: Some(api::placed_body::Source::Rounded(ball)),
                pose: Some(place),
            }),
            ..Default::default()
        };
        let answer = server.queries().check_collision(question).await.unwrap().into_inner();
        assert_eq!(answer.verdict(), api::Verdict::Separated);
    }
    // They hold the U, whose volume is seven, and may hold some of it twice.
    assert!((7.0..7.5).contains(&volume), "{volume}");
    let (_, again) = decompose(&server, pieces_of("channel", Some(1e-3), 0)).await.unwrap();
    assert!(again.iter().all(|piece| piece.already_registered));
}

/// A surface need not bound anything, and few pieces are as near as few can be.
#[tokio::test]
async fn few_pieces_stand_out_by_as_little_as_few_can() {
    let server = Server::start().await;
    let mut open = rippled(24, 12);
    open.triangles.truncate(open.triangles.len() / 2);
    register(&server, surface("open", open)).await.unwrap();
    let mut last = f64::INFINITY;
    for count in [1, 4, 12] {
        let (_, pieces) = decompose(&server, pieces_of("open", None, count)).await.unwrap();
        let worst = pieces.iter().map(|piece| piece.gap).fold(0.0, f64::max);
        assert!(pieces.len() <= count as usize && worst < last, "{count}: {worst} {last}");
        last = worst;
    }
}

#[tokio::test]
async fn what_cannot_be_decomposed_is_refused_with_its_field_and_nothing_is_registered() {
    let limits = Limits { mesh_pieces_max: 40, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    register(&server, keep("ring", rippled(24, 12))).await.unwrap();
    server.register("cube", &cube()).await;
    let before = registered_count(&server).await;
    let wrong = |change: fn(&mut api::DecomposeMeshRequest)| {
        let mut request = pieces_of("ring", Some(0.1), 8);
        change(&mut request);
        request
    };
    for (request, code, reason, field) in [
        (wrong(|it| it.mesh = None), Code::InvalidArgument, "BAD_FIELD", "id"),
        (pieces_of("nobody", None, 0), Code::NotFound, "UNKNOWN_POLYTOPE", "alias"),
        (pieces_of("cube", None, 0), Code::InvalidArgument, "BAD_FIELD", "alias"),
        (wrong(|it| it.gap_max = Some(0.0)), Code::InvalidArgument, "BAD_FIELD", "gap_max"),
        (wrong(|it| it.gap_max = Some(f64::NAN)), Code::InvalidArgument, "BAD_FIELD", "gap_max"),
        (wrong(|it| it.pieces_max = 41), Code::InvalidArgument, "LIMIT_EXCEEDED", "pieces_max"),
        (wrong(|it| it.gap_max = Some(1e-4)), Code::FailedPrecondition, "GAP_UNREACHED", "gap_max"),
    ] {
        let refused = decompose(&server, request).await.unwrap_err();
        check(&refused, code, reason, field);
    }
    let treatment = api::MeshTreatment::Decompose.into();
    let asked = api::PolytopeSpec { treatment, ..keep("one", rippled(24, 12)) };
    let refused = register(&server, asked).await.unwrap_err();
    check(&refused, Code::InvalidArgument, "BAD_FIELD", "polytopes[0].treatment");
    assert_eq!(registered_count(&server).await, before);
}

/// Who hangs up leaves the only place of the pool to others, and who waits too long gets a status.
#[tokio::test]
async fn a_search_ends_with_the_call() {
    let limits = Limits { jobs_max: 1, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    register(&server, surface("ring", rippled(200, 100))).await.unwrap();
    let before = registered_count(&server).await;
    let request = || pieces_of("ring", None, 200);
    let mut replies = server.polytopes().decompose_mesh(request()).await.unwrap().into_inner();
    drop(soon(replies.message()).await.unwrap().expect("it has begun"));
    drop(replies);
    let in_turn = async {
        while register(&server, keep("small", rippled(8, 6))).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(in_turn).await;
    let mut hurried = Request::new(request());
    hurried.set_timeout(Duration::from_millis(150));
    let refused = soon(decompose(&server, hurried)).await.unwrap_err();
    assert!(matches!(refused.code(), Code::DeadlineExceeded | Code::Cancelled), "{refused:?}");
    assert_eq!(registered_count(&server).await, before + 1);
}
