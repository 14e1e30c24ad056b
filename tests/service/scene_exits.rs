//! Where rays and shapes leave what they meet, and which contacts at their start are told.

use api::scene_query::Kind;
use clearance_proto as api;
use clearance_proto::{HitSelection, StartContacts};
use tonic::{Code, Status};

use crate::server::{Server, check, vector};
use crate::sessions::{cube_at, started};

/// The corners of a box.
fn corners(low: [f64; 3], high: [f64; 3]) -> api::Points {
    let corner =
        |k: usize| (0..3).map(move |axis| if k >> axis & 1 == 1 { high[axis] } else { low[axis] });
    api::Points { xyz: (0..8).flat_map(corner).collect() }
}

fn part(low: [f64; 3], high: [f64; 3]) -> api::PlacedBody {
    let source = Some(api::placed_body::Source::Vertices(corners(low, high)));
    api::PlacedBody { source, pose: None }
}

async fn open(server: &Server, bodies: Vec<api::Body>) {
    let state = Some(api::SessionState { bodies, ..Default::default() });
    let session_id = "s".to_owned();
    let open = api::OpenSessionRequest { session_id, state, replace: true, ..Default::default() };
    server.sessions().open_session(open).await.unwrap();
}

fn along(body: api::PlacedBody, [x, y, z]: [f64; 3]) -> Kind {
    let linear = api::LinearMotion { velocity: vector(x, y, z) };
    let motion = Some(api::Motion { kind: Some(api::motion::Kind::Linear(linear)) });
    Kind::ShapeCast(api::ShapeCast { body: Some(body), motion, ..Default::default() })
}

fn ray(from: [f64; 3], by: [f64; 3]) -> Kind {
    let [origin, displacement] = [from, by].map(|[x, y, z]| vector(x, y, z));
    Kind::Ray(api::Ray { origin, displacement })
}

fn request(kinds: Vec<Kind>) -> api::QuerySceneRequest {
    let query = |kind| api::SceneQuery { kind: Some(kind), ..Default::default() };
    let queries = kinds.into_iter().map(query).collect();
    api::QuerySceneRequest { session_id: "s".to_owned(), queries, ..Default::default() }
}

async fn ask(
    server: &Server,
    request: api::QuerySceneRequest,
) -> Result<api::QuerySceneResponse, Status> {
    Ok(server.sessions().query_scene(request).await?.into_inner())
}

fn bracket(lower: f64, upper: f64) -> Option<api::Bracket> {
    Some(api::Bracket { lower, upper })
}

/// Whoever shoots through a wall has to know how thick it is; nobody else pays for that.
#[tokio::test]
async fn rays_and_casts_tell_how_thick_walls_are_singly_and_packed() {
    let server = started().await;
    // Unit cubes with their low corners at x = 3 and 6.
    open(&server, vec![cube_at(1, 3.0), cube_at(2, 6.0)]).await;
    let (from, by) = ([0.0, 0.5, 0.5], [8.0, 0.0, 0.0]);
    let point = part([0.0; 3], [0.0; 3]);
    let asked = api::QuerySceneRequest {
        hits: HitSelection::All.into(),
        exits: true,
        packed_rays: Some(api::PackedRays {
            origins: from.to_vec().into(),
            displacements: by.to_vec().into(),
            ..Default::default()
        }),
        cast_bodies: vec![point],
        packed_casts: Some(api::PackedCasts {
            translations: from.to_vec().into(),
            displacements: by.to_vec().into(),
            ..Default::default()
        }),
        ..request(vec![ray(from, by)])
    };
    let told = ask(&server, asked.clone()).await.unwrap();
    let leaves: Vec<_> = told.answers[0].hits.iter().map(|hit| hit.leave).collect();
    assert_eq!(leaves, [bracket(0.5, 0.5), bracket(0.875, 0.875)]);
    for packed in [told.packed_hits.unwrap(), told.packed_cast_hits.unwrap()] {
        assert_eq!((packed.leave_lower, packed.leave_upper), (vec![0.5, 0.875], vec![0.5, 0.875]));
    }
    let told = ask(&server, api::QuerySceneRequest { exits: false, ..asked }).await.unwrap();
    assert!(told.answers[0].hits.iter().all(|hit| hit.leave.is_none()));
    assert_eq!(told.packed_hits.unwrap().leave_lower.len(), 0);
    // From inside, and where the way ends in it.
    let ways = vec![ray([3.5, 0.5, 0.5], [1.0, 0.0, 0.0]), ray([2.0, 0.5, 0.5], [1.5, 0.0, 0.0])];
    let told = ask(&server, api::QuerySceneRequest { exits: true, ..request(ways) }).await.unwrap();
    let leaves: Vec<_> = told.answers.iter().map(|answer| answer.hits[0].leave).collect();
    assert_eq!(leaves, [bracket(0.5, 0.5), bracket(1.0, 1.0)]);
}

/// A body that rests on the floor of a level is not kept from meeting the wall of the same body.
#[tokio::test]
async fn a_cast_from_rest_meets_the_wall_and_not_the_floor_that_it_stands_on() {
    let server = started().await;
    let level = api::Body {
        id: Some(1),
        parts: vec![
            part([-5.0, -1.0, -5.0], [5.0, 1.0, 5.0]),
            part([5.0, -1.0, -5.0], [7.0, 9.0, 5.0]),
        ],
        ..Default::default()
    };
    open(&server, vec![level]).await;
    let standing = part([-0.5, 1.0, -0.5], [0.5, 2.0, 0.5]);
    let shape = part([-0.5; 3], [0.5; 3]);
    let asked = |by: [f64; 3], starts: StartContacts| api::QuerySceneRequest {
        start_contacts: starts.into(),
        hits: HitSelection::All.into(),
        cast_bodies: vec![shape.clone()],
        packed_casts: Some(api::PackedCasts {
            translations: vec![0.0, 1.5, 0.0].into(),
            displacements: by.to_vec().into(),
            ..Default::default()
        }),
        ..request(vec![along(standing.clone(), by)])
    };
    // Along the floor, away from it, and down into it.
    for (by, starts, met) in [
        ([6.0, 0.0, 0.0], StartContacts::All, Some((0, 0.0))),
        ([6.0, 0.0, 0.0], StartContacts::Deepening, Some((1, 0.75))),
        ([6.0, 0.0, 0.0], StartContacts::Skipped, Some((1, 0.75))),
        ([0.0, 3.0, 0.0], StartContacts::Deepening, None),
        ([0.0, -3.0, 0.0], StartContacts::Deepening, Some((0, 0.0))),
        ([0.0, -3.0, 0.0], StartContacts::Skipped, None),
    ] {
        let told = ask(&server, asked(by, starts)).await.unwrap();
        let single = told.answers[0].hits.first().map(|hit| (hit.part, hit.time.unwrap().upper));
        assert_eq!(single, met, "{by:?} {starts:?}");
        let packed = told.packed_cast_hits.unwrap();
        let first = packed.parts.first().map(|part| (*part, packed.time_upper[0]));
        assert_eq!(first, met, "packed {by:?} {starts:?}");
    }
}

#[tokio::test]
async fn exits_and_choices_of_ways_that_turn_or_have_margins_are_refused_in_their_places() {
    let server = started().await;
    open(&server, vec![cube_at(1, 3.0)]).await;
    let shape = || part([0.0; 3], [0.5; 3]);
    let screw = api::ScrewMotion { angle: 1.0, axis: vector(0.0, 0.0, 1.0), ..Default::default() };
    let motion = Some(api::Motion { kind: Some(api::motion::Kind::Screw(screw)) });
    let turning =
        Kind::ShapeCast(api::ShapeCast { body: Some(shape()), motion, ..Default::default() });
    let Kind::ShapeCast(straight) = along(shape(), [8.0, 0.0, 0.0]) else { unreachable!() };
    let wide = Kind::ShapeCast(api::ShapeCast { margin: 0.5, ..straight.clone() });
    let kinds = || vec![turning.clone(), wide.clone(), Kind::ShapeCast(straight.clone())];
    for asked in [
        api::QuerySceneRequest { exits: true, ..request(kinds()) },
        api::QuerySceneRequest {
            start_contacts: StartContacts::Skipped.into(),
            ..request(kinds())
        },
    ] {
        let told = ask(&server, asked).await.unwrap();
        for at in [0, 1] {
            let status = told.answers[at].status.as_ref().unwrap();
            assert_eq!(status.field, format!("queries[{at}].shape_cast"));
        }
        assert_eq!(told.answers[2].hits.len(), 1);
    }
    let unknown = api::QuerySceneRequest { start_contacts: 9, ..request(kinds()) };
    let status = ask(&server, unknown).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "start_contacts");
}
