//! Questions to the scene of a session: rays, shape casts, overlaps, nearest bodies, over a socket.

use clearance_proto as api;
use clearance_proto::scene_hit::Proof;
use clearance_proto::scene_query::Kind;
use clearance_proto::verify_certificate_request::Claim;
use clearance_proto::{HitSelection, Outcome, Verdict};
use clearance_runtime::settings::Limits;
use tonic::{Code, Status};

use crate::server::{Server, body, check, soon, vector, verify};
use crate::sessions::{cube_at, put, started, started_with, step};

/// Unit cubes with their low corners at x = 3, 6 and 9; the last two in the group `robot`.
async fn three_cubes(server: &Server) {
    let mut bodies = vec![cube_at(1, 3.0), cube_at(2, 6.0), cube_at(3, 9.0)];
    for body in &mut bodies[1..] {
        body.groups = vec!["robot".to_owned()];
    }
    let state = Some(api::SessionState { bodies, ..Default::default() });
    let session_id = "s".to_owned();
    let open = api::OpenSessionRequest { session_id, state, ..Default::default() };
    server.sessions().open_session(open).await.unwrap();
}

fn ray(from: [f64; 3], by: [f64; 3]) -> Kind {
    let [origin, displacement] = [from, by].map(|[x, y, z]| vector(x, y, z));
    Kind::Ray(api::Ray { origin, displacement })
}

fn request(kinds: Vec<Kind>) -> api::QuerySceneRequest {
    let queries = kinds
        .into_iter()
        .map(|kind| api::SceneQuery { kind: Some(kind), ..Default::default() })
        .collect();
    api::QuerySceneRequest { session_id: "s".to_owned(), queries, ..Default::default() }
}

async fn ask(
    server: &Server,
    request: api::QuerySceneRequest,
) -> Result<api::QuerySceneResponse, Status> {
    Ok(server.sessions().query_scene(request).await?.into_inner())
}

fn ids(answer: &api::SceneAnswer) -> Vec<u32> {
    answer.hits.iter().map(|hit| hit.body_id).collect()
}

#[tokio::test]
async fn every_kind_of_question_gets_its_answer_and_a_proof_that_verifies() {
    let server = started().await;
    three_cubes(&server).await;
    let turning = api::Motion {
        kind: Some(api::motion::Kind::Screw(api::ScrewMotion {
            velocity: vector(4.0, 0.0, 0.0),
            axis: vector(1.0, 1.0, 0.0),
            angle: 1.0,
            ..Default::default()
        })),
    };
    let cast = |motion: &api::Motion| api::ShapeCast {
        body: Some(body("cube", 0.0)),
        motion: Some(motion.clone()),
        ..Default::default()
    };
    let nearest =
        api::NearestQuery { body: Some(body("cube", 0.0)), count: 2, ..Default::default() };
    let kinds = vec![
        ray([0.0, 0.5, 0.5], [10.0, 0.0, 0.0]),
        Kind::ShapeCast(cast(&turning)),
        Kind::Overlap(body("cube", 5.5)),
        Kind::Point(vector(7.0, 0.5, 0.5).unwrap()),
        Kind::Nearest(nearest),
        ray([6.5, 0.5, 0.5], [0.0, 0.0, 1.0]),
    ];
    let asked = api::QuerySceneRequest { certificates: true, ..request(kinds) };
    let reply = ask(&server, asked).await.unwrap();
    let found: Vec<_> = reply.answers.iter().map(ids).collect();
    assert_eq!(found, [vec![1], vec![1], vec![2], vec![2], vec![1, 2], vec![2]]);
    let first = |at: usize| &reply.answers[at].hits[0];
    // The f64 number 0.3 is a little less than three tenths.
    assert_eq!(first(0).time, Some(api::Bracket { lower: 0.3, upper: 0.3_f64.next_up() }));
    is_near(first(0).point, [3.0, 0.5, 0.5]);
    assert_eq!(first(0).normal, vector(-1.0, 0.0, 0.0));
    assert_eq!(first(2).verdict(), Verdict::Overlapping);
    assert_eq!(first(3).verdict(), Verdict::Touching);
    let distance = first(4).distance.unwrap();
    assert!(distance.lower <= 2.0 && 2.0 <= distance.upper && distance.upper < 2.0 + 1e-12);
    assert_eq!(first(5).time, Some(api::Bracket { lower: 0.0, upper: 0.0 }));
    assert_eq!(first(5).verdict(), Verdict::Overlapping);

    let point = |x, y, z| api::PlacedBody {
        source: Some(api::placed_body::Source::Vertices(api::Points { xyz: vec![x, y, z] })),
        pose: None,
    };
    let along = api::Motion {
        kind: Some(api::motion::Kind::Linear(api::LinearMotion {
            velocity: vector(10.0, 0.0, 0.0),
        })),
    };
    for (p, motion, hit) in
        [(point(0.0, 0.5, 0.5), along, first(0)), (body("cube", 0.0), turning, first(1))]
    {
        moving_verifies(&server, [p, body("cube", 3.0)], motion, hit).await;
    }
    for (p, hit) in [(body("cube", 5.5), first(2)), (point(7.0, 0.5, 0.5), first(3))] {
        standing_verifies(&server, [p, body("cube", 6.0)], hit).await;
    }
}

#[track_caller]
fn is_near(point: Option<api::Vector3>, [x, y, z]: [f64; 3]) {
    let Some(told) = point else { panic!("no point") };
    let off = (told.x - x).abs().max((told.y - y).abs()).max((told.z - z).abs());
    assert!(off < 1e-14, "{told:?}");
}

async fn moving_verifies(
    server: &Server,
    [p, q]: [api::PlacedBody; 2],
    motion: api::Motion,
    hit: &api::SceneHit,
) {
    let Some(Proof::Motion(certificate)) = hit.proof.clone() else { panic!("no proof: {hit:?}") };
    let question = api::FindFirstContactRequest {
        p: Some(p),
        q: Some(q),
        p_motion: Some(motion),
        ..Default::default()
    };
    let time = hit.time.unwrap();
    let answer = |t_contact: f64| api::FindFirstContactResponse {
        outcome: Outcome::Contact.into(),
        t_free: time.lower,
        t_contact: Some(t_contact),
        initial_verdict: hit.verdict,
        certificate: Some(certificate.clone()),
        ..Default::default()
    };
    for (t_contact, is_true) in [(time.upper, true), (time.upper / 2.0, false)] {
        let question = Some(question.clone());
        let answer = Some(answer(t_contact));
        let claim = Claim::FirstContact(api::FirstContactClaim { question, answer });
        let verdict = verify(server, claim).await;
        assert_eq!(verdict.is_ok(), is_true, "{verdict:?} of {hit:?}");
    }
}

async fn standing_verifies(server: &Server, [p, q]: [api::PlacedBody; 2], hit: &api::SceneHit) {
    let Some(Proof::Standing(certificate)) = hit.proof.clone() else { panic!("no proof: {hit:?}") };
    let question = api::CheckCollisionRequest { p: Some(p), q: Some(q), ..Default::default() };
    let answer = api::CheckCollisionResponse {
        verdict: hit.verdict,
        certificate: Some(certificate),
        ..Default::default()
    };
    let (question, answer) = (Some(question), Some(answer));
    let claim = Claim::Collision(api::CollisionClaim { question, answer });
    verify(server, claim).await.unwrap();
}

#[tokio::test]
async fn packed_rays_say_what_single_rays_say() {
    let server = started().await;
    three_cubes(&server).await;
    let rays: Vec<[[f64; 3]; 2]> = (0..200)
        .map(|k| {
            let (y, z) = (f64::from(k % 14) / 10.0 - 0.1, f64::from(k / 14) / 10.0 - 0.1);
            [[f64::from(k % 3) * 3.5, y, z], [8.0, 0.25, -0.5]]
        })
        .collect();
    for hits in [HitSelection::First, HitSelection::All, HitSelection::Any] {
        let kinds = rays.iter().map(|&[from, by]| ray(from, by)).collect();
        let single = api::QuerySceneRequest { hits: hits.into(), ..request(kinds) };
        let single = ask(&server, single).await.unwrap();
        let packed_rays = Some(api::PackedRays {
            origins: rays.iter().flat_map(|ray| ray[0]).collect(),
            displacements: rays.iter().flat_map(|ray| ray[1]).collect(),
            ..Default::default()
        });
        let packed =
            api::QuerySceneRequest { hits: hits.into(), packed_rays, ..request(Vec::new()) };
        let packed = ask(&server, packed).await.unwrap().packed_hits.unwrap();
        let hits = same_hits(&packed, &single.answers);
        assert!(hits > 100, "{hits} hits");
    }
}

/// Packed hits are those of single questions, to the last bit; says how many there are.
#[track_caller]
fn same_hits(packed: &api::PackedHits, single: &[api::SceneAnswer]) -> usize {
    let mut at = 0;
    for (ray, answer) in (0..).zip(single) {
        for hit in &answer.hits {
            assert_eq!((packed.rays[at], packed.body_ids[at]), (ray, hit.body_id));
            assert_eq!(packed.parts[at], hit.part);
            let [lower, upper] = [packed.time_lower[at], packed.time_upper[at]];
            assert_eq!(Some(api::Bracket { lower, upper }), hit.time);
            let of = |list: &[f64]| vector(list[3 * at], list[3 * at + 1], list[3 * at + 2]);
            assert_eq!((of(&packed.points), of(&packed.normals)), (hit.point, hit.normal));
            assert_eq!(i32::from(packed.verdicts[at]), hit.verdict);
            assert_eq!(packed.unordered[at] == 1, hit.unordered);
            at += 1;
        }
    }
    assert_eq!(at, packed.rays.len());
    at
}

/// Casts of two shapes, turned and not, that start in a cube, before it, and beside it.
#[tokio::test]
async fn packed_casts_say_what_single_casts_say() {
    let server = started().await;
    three_cubes(&server).await;
    let corners = [0.0, 0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 0.5];
    let sources = [
        api::placed_body::Source::Alias("cube".to_owned()),
        api::placed_body::Source::Vertices(api::Points { xyz: corners.to_vec() }),
    ];
    let bodies: Vec<api::PlacedBody> = sources
        .iter()
        .map(|source| api::PlacedBody { source: Some(source.clone()), pose: None })
        .collect();
    let ways = (0..240_u32).map(|k| {
        let (y, z) = (f64::from(k % 14) / 6.0 - 1.1, f64::from(k / 14 % 12) / 6.0 - 1.1);
        let turn = [1.0, f64::from(k % 5) / 7.0, 0.25, -f64::from(k % 3)];
        (k % 2, [f64::from(k % 4) * 1.75, y, z], turn, [8.0, 0.25, -0.5])
    });
    let ways: Vec<_> = ways.collect();
    for hits in [HitSelection::First, HitSelection::All, HitSelection::Any] {
        let single = ways.iter().map(|(body, [x, y, z], [w, i, j, k], [a, b, c])| {
            let turn = api::Quaternion { w: *w, x: *i, y: *j, z: *k };
            let pose = Some(api::Pose {
                translation: vector(*x, *y, *z),
                orientation: Some(api::pose::Orientation::Rotation(turn)),
            });
            let linear = api::LinearMotion { velocity: vector(*a, *b, *c) };
            Kind::ShapeCast(api::ShapeCast {
                body: Some(api::PlacedBody { pose, ..bodies[*body as usize].clone() }),
                motion: Some(api::Motion { kind: Some(api::motion::Kind::Linear(linear)) }),
                ..Default::default()
            })
        });
        let single = api::QuerySceneRequest { hits: hits.into(), ..request(single.collect()) };
        let single = ask(&server, single).await.unwrap();
        let casts = api::PackedCasts {
            bodies: ways.iter().map(|way| way.0).collect(),
            translations: ways.iter().flat_map(|way| way.1).collect(),
            rotations: ways.iter().flat_map(|way| way.2).collect(),
            displacements: ways.iter().flat_map(|way| way.3).collect(),
            ..Default::default()
        };
        let packed = api::QuerySceneRequest {
            hits: hits.into(),
            cast_bodies: bodies.clone(),
            packed_casts: Some(casts),
            ..request(Vec::new())
        };
        let packed = ask(&server, packed).await.unwrap();
        assert_eq!(packed.packed_hits, None);
        let packed = packed.packed_cast_hits.unwrap();
        let hits = same_hits(&packed, &single.answers);
        let inside = packed.verdicts.iter().filter(|&&at| i32::from(at) == OVERLAPPING).count();
        assert!(hits > 60 && inside > 15, "{hits} hits, {inside} from inside");
    }
}

const OVERLAPPING: i32 = Verdict::Overlapping as i32;

/// A question gets its turn between two frames, and sees the last one that was applied.
#[tokio::test]
async fn a_scene_is_asked_while_a_stream_is_attached_and_nothing_changes() {
    let server = started().await;
    three_cubes(&server).await;
    let (frames, received) = tokio::sync::mpsc::channel(4);
    let first = api::StreamSessionRequest {
        start: Some(api::stream_session_request::Start::SessionId("s".to_owned())),
        ..Default::default()
    };
    frames.send(first).await.unwrap();
    let requests = tokio_stream::wrappers::ReceiverStream::new(received);
    let mut replies = server.sessions().stream_session(requests).await.unwrap().into_inner();
    for (frame_id, x) in [(1, 4.5), (2, 1.5)] {
        let frame = Some(put(frame_id, x));
        frames
            .send(api::StreamSessionRequest { frame: frame.map(Box::new), ..Default::default() })
            .await
            .unwrap();
        while soon(replies.message()).await.unwrap().unwrap().report.is_none() {}
        let reply = ask(&server, request(vec![ray([0.0, 0.5, 0.5], [10.0, 0.0, 0.0])]));
        let reply = soon(reply).await.unwrap();
        assert_eq!(reply.frame_id, frame_id);
        let hit = &reply.answers[0].hits[0];
        assert_eq!(hit.body_id, if x < 3.0 { 2 } else { 1 });
        is_near(hit.point, [x.min(3.0), 0.5, 0.5]);
    }
    let frame = Some(put(3, 6.0));
    frames
        .send(api::StreamSessionRequest { frame: frame.map(Box::new), ..Default::default() })
        .await
        .unwrap();
    let report = soon(replies.message()).await.unwrap().unwrap().report.unwrap();
    assert_eq!((report.frame_id, report.status), (3, None));
}

#[tokio::test]
async fn what_is_wrong_is_named_with_its_path_and_spoils_nothing_else() {
    let server = started().await;
    three_cubes(&server).await;
    let good = ray([0.0, 0.5, 0.5], [10.0, 0.0, 0.0]);
    let kinds = vec![
        ray([f64::NAN, 0.0, 0.0], [1.0, 0.0, 0.0]),
        good.clone(),
        Kind::Overlap(body("nobody", 0.0)),
        Kind::ShapeCast(api::ShapeCast::default()),
        Kind::Nearest(api::NearestQuery { below: Some(-1.0), ..Default::default() }),
    ];
    let mut asked = request(kinds);
    asked.queries.push(api::SceneQuery::default());
    let reply = ask(&server, asked).await.unwrap();
    let fields: Vec<_> = reply
        .answers
        .iter()
        .map(|answer| answer.status.as_ref().map_or("", |status| &status.field))
        .collect();
    let expected = [
        "queries[0].ray.origin.x",
        "",
        "queries[2].overlap.alias",
        "queries[3].shape_cast.body",
        "queries[4].nearest.below",
        "queries[5]",
    ];
    assert_eq!(fields, expected);
    assert_eq!(ids(&reply.answers[1]), [1]);

    let filtered = |filter: api::SceneFilter| api::QuerySceneRequest {
        filter: Some(filter),
        ..request(vec![good.clone()])
    };
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let robots = api::SceneFilter { groups: names(&["robot"]), ..Default::default() };
    assert_eq!(ids(&ask(&server, filtered(robots)).await.unwrap().answers[0]), [2]);
    for (filter, field) in [
        (
            api::SceneFilter { groups: names(&["robot", "robto"]), ..Default::default() },
            "filter.groups[1]",
        ),
        (
            api::SceneFilter { ignored_body_ids: vec![1, 7], ..Default::default() },
            "filter.ignored_body_ids[1]",
        ),
    ] {
        let status = ask(&server, filtered(filter)).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    }
    let packed = |origins: Vec<f64>, displacements: Vec<f64>| {
        let (origins, displacements) = (origins.into(), displacements.into());
        let packed_rays = Some(api::PackedRays { origins, displacements, ..Default::default() });
        api::QuerySceneRequest { packed_rays, ..request(Vec::new()) }
    };
    for (asked, field) in [
        (packed(vec![0.0; 4], vec![0.0; 4]), "packed_rays.origins"),
        (packed(vec![0.0; 3], vec![0.0; 6]), "packed_rays.displacements"),
        (packed(vec![0.0; 3], vec![0.0, f64::INFINITY, 0.0]), "packed_rays.displacements[1]"),
    ] {
        let status = ask(&server, asked).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    }
    let cube = api::PlacedBody { pose: None, ..body("cube", 0.0) };
    let cast = |bodies: &[&api::PlacedBody], casts: api::PackedCasts| {
        let cast_bodies = bodies.iter().map(|&body| body.clone()).collect();
        api::QuerySceneRequest { cast_bodies, packed_casts: Some(casts), ..request(Vec::new()) }
    };
    let two = api::PackedCasts {
        translations: vec![0.0; 6].into(),
        displacements: vec![1.0; 6].into(),
        ..Default::default()
    };
    let placed = body("cube", 0.0);
    let unknown = api::PlacedBody { pose: None, ..body("cuboid", 0.0) };
    let bodies = |bodies: Vec<u32>| api::PackedCasts { bodies: bodies.into(), ..two.clone() };
    let (none, short) = (vec![0.0; 8], vec![1.0; 4]);
    let infinite = vec![0.0, 0.0, 0.0, 0.0, f64::NEG_INFINITY, 0.0];
    for (asked, reason, field) in [
        (cast(&[], two.clone()), "BAD_FIELD", "packed_casts.bodies"),
        (cast(&[&cube, &cube], two.clone()), "BAD_FIELD", "packed_casts.bodies"),
        (cast(&[&cube], bodies(vec![0])), "BAD_FIELD", "packed_casts.bodies"),
        (cast(&[&cube], bodies(vec![0, 1])), "BAD_FIELD", "packed_casts.bodies[1]"),
        (cast(&[&placed], two.clone()), "BAD_FIELD", "cast_bodies[0].pose"),
        (cast(&[&unknown], two.clone()), "UNKNOWN_POLYTOPE", "cast_bodies[0].alias"),
        (
            cast(&[&cube], api::PackedCasts { rotations: short.into(), ..two.clone() }),
            "BAD_FIELD",
            "packed_casts.rotations",
        ),
        (
            cast(&[&cube], api::PackedCasts { rotations: none.into(), ..two.clone() }),
            "BAD_FIELD",
            "packed_casts.rotations[0]",
        ),
        (
            cast(&[&cube], api::PackedCasts { displacements: infinite.into(), ..two.clone() }),
            "BAD_FIELD",
            "packed_casts.displacements[4]",
        ),
        (
            cast(&[&cube], api::PackedCasts { translations: vec![0.0; 5].into(), ..two.clone() }),
            "BAD_FIELD",
            "packed_casts.translations",
        ),
    ] {
        let status = ask(&server, asked).await.unwrap_err();
        let code = if reason == "BAD_FIELD" { Code::InvalidArgument } else { Code::NotFound };
        check(&status, code, reason, field);
    }
    let unknown = api::QuerySceneRequest { session_id: "t".to_owned(), ..request(vec![good]) };
    let status = ask(&server, unknown).await.unwrap_err();
    check(&status, Code::NotFound, "UNKNOWN_SESSION", "session_id");
}

#[tokio::test]
async fn hits_beyond_the_limits_are_counted() {
    let limits = Limits {
        scene_hits_max: 2,
        scene_reply_bytes_max: 400,
        scene_queries_max: 3,
        packed_rays_max: 2,
        ..Limits::default()
    };
    let server = started_with(limits).await;
    three_cubes(&server).await;
    let through = ray([0.0, 0.5, 0.5], [20.0, 0.0, 0.0]);
    let asked = |count: usize, packed: usize| api::QuerySceneRequest {
        hits: HitSelection::All.into(),
        packed_rays: Some(api::PackedRays {
            origins: [0.0, 0.5, 0.5].repeat(packed).into(),
            displacements: [20.0, 0.0, 0.0].repeat(packed).into(),
            ..Default::default()
        }),
        ..request(vec![through.clone(); count])
    };
    let reply = ask(&server, asked(1, 2)).await.unwrap();
    assert_eq!((ids(&reply.answers[0]), reply.answers[0].omitted_hits), (vec![1, 2], 1));
    let packed = reply.packed_hits.unwrap();
    assert_eq!((packed.rays, packed.omitted_hits), (vec![0, 0, 1], 3));
    let reply = ask(&server, asked(3, 1)).await.unwrap();
    let told = reply.answers.iter().map(|answer| (answer.hits.len(), answer.omitted_hits));
    // What four hundred bytes are enough for.
    assert_eq!(told.collect::<Vec<_>>(), [(2, 1), (2, 1), (1, 2)]);
    assert_eq!(reply.packed_hits.unwrap().omitted_hits, 3);
    let cube = api::PlacedBody { pose: None, ..body("cube", 0.0) };
    let casts = |bodies: usize, count: usize| api::QuerySceneRequest {
        cast_bodies: vec![cube.clone(); bodies],
        packed_casts: Some(api::PackedCasts {
            bodies: vec![0; count].into(),
            translations: vec![0.0; 3 * count].into(),
            displacements: vec![1.0; 3 * count].into(),
            ..Default::default()
        }),
        ..request(Vec::new())
    };
    for (asked, field) in [
        (asked(4, 0), "queries"),
        (asked(0, 3), "packed_rays.origins"),
        (casts(1, 3), "packed_casts.translations"),
        (casts(4, 1), "cast_bodies"),
    ] {
        let status = ask(&server, asked).await.unwrap_err();
        check(&status, Code::InvalidArgument, "LIMIT_EXCEEDED", field);
    }
    // The session is where it was, and takes frames.
    assert_eq!(step(&server, "s", vec![put(1, 5.0)]).await.unwrap()[0].status, None);
}

/// A ray that starts in its own shooter was told of nobody else, and one filter is for all rays of
/// a call: 64 shooters needed 64 calls.
#[tokio::test]
async fn each_ray_and_cast_leaves_out_its_own_shooter_and_what_its_bits_say() {
    let server = started().await;
    three_cubes(&server).await;
    let one = |kind: Kind, filter: api::OwnFilter| api::SceneQuery {
        kind: Some(kind),
        filter: Some(filter),
    };
    let without =
        |ids: &[u32]| api::OwnFilter { ignored_body_ids: ids.to_vec(), ..Default::default() };
    let shot = || ray([3.5, 0.5, 0.5], [10.0, 0.0, 0.0]);
    let nearest = api::NearestQuery { body: Some(body("cube", 3.0)), ..Default::default() };
    let queries = vec![
        one(shot(), without(&[])),
        one(shot(), without(&[1])),
        one(shot(), without(&[2, 1])),
        one(shot(), api::OwnFilter { mask: Some(2), ..Default::default() }),
        one(shot(), api::OwnFilter { category: Some(0), ..Default::default() }),
        one(Kind::Nearest(nearest), without(&[1])),
        one(Kind::Overlap(body("cube", 3.5)), without(&[1])),
        one(shot(), without(&[1, 77])),
    ];
    let asked = api::QuerySceneRequest { queries, ..request(Vec::new()) };
    let answer = ask(&server, asked).await.unwrap();
    let found: Vec<Vec<u32>> = answer.answers.iter().map(ids).collect();
    assert_eq!(found[..7], [vec![1], vec![2], vec![3], vec![], vec![], vec![2], vec![]]);
    let refused = answer.answers[7].status.as_ref().unwrap();
    assert_eq!(refused.field, "queries[7].filter.ignored_body_ids[1]", "{refused:?}");

    // The same packed: who fired, nobody, who is beside.
    let packed = |ignored: [u32; 3]| api::PackedRays {
        origins: [3.5, 0.5, 0.5].repeat(3).into(),
        displacements: [10.0, 0.0, 0.0].repeat(3).into(),
        ignored_bodies: ignored.to_vec().into(),
        ..Default::default()
    };
    let casts = api::PackedCasts {
        translations: [3.5, 0.0, 0.0].repeat(3).into(),
        displacements: [10.0, 0.0, 0.0].repeat(3).into(),
        ignored_bodies: vec![1, u32::MAX, 2].into(),
        masks: vec![1, 1, 0].into(),
        ..Default::default()
    };
    let asked = |rays| api::QuerySceneRequest {
        packed_rays: Some(rays),
        packed_casts: Some(casts.clone()),
        cast_bodies: vec![api::PlacedBody { pose: None, ..body("cube", 0.0) }],
        ..request(Vec::new())
    };
    let answer = ask(&server, asked(packed([1, u32::MAX, 2]))).await.unwrap();
    let rays = answer.packed_hits.unwrap();
    assert_eq!(rays.body_ids[..], [2, 1, 1]);
    let casts = answer.packed_cast_hits.unwrap();
    assert_eq!((&casts.rays[..], &casts.body_ids[..]), (&[0, 1][..], &[2, 1][..]));
    // What is not there, and lists that are too short.
    let unknown = ask(&server, asked(packed([1, 9, 2]))).await.unwrap_err();
    check(&unknown, Code::InvalidArgument, "BAD_FIELD", "packed_rays.ignored_bodies[1]");
    let short = api::PackedRays { masks: vec![1].into(), ..packed([1, 2, 3]) };
    let short = ask(&server, asked(short)).await.unwrap_err();
    check(&short, Code::InvalidArgument, "BAD_FIELD", "packed_rays.masks");
}
