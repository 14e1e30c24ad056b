//! Bodies with polyhedra in sessions: what reports say of them is judged as answers of their own,
//! and what is not answered about them is refused with its field.

use api::placed_body::Source;
use api::verify_certificate_request::Claim;
use clearance_proto as api;
use tonic::{Code, Status};

use crate::polyhedra::{channel, keep, register, with_boxes, with_channel};
use crate::rounded_sessions::{Claims, MARGIN, opening, pose, rounded};
use crate::server::{Server, body, check, vector, verify};
use crate::sessions::{all_pairs, step};

fn asked() -> api::ReportOptions {
    api::ReportOptions {
        certificates: true,
        first_contacts: true,
        distances: true,
        closest_points: true,
        normals: true,
        impacts: true,
        ..all_pairs().unwrap()
    }
}

fn moved(frame_id: u64, at: Option<api::Pose>) -> api::Frame {
    let poses = vec![api::BodyPose { id: Some(2), pose: at, ..Default::default() }];
    api::Frame { frame_id, poses, report: Some(Box::new(asked())), ..Default::default() }
}

fn part(alias: &str) -> api::PlacedBody {
    api::PlacedBody { pose: None, ..body(alias, 0.0) }
}

/// Where the second body is in each frame: far away, in the slot, on its bottom, in a wall, turned.
fn way() -> Vec<Option<api::Pose>> {
    let straight = [
        [9.0, 0.5, 0.0],
        [1.25, 4.0, 0.0],
        [1.25, 1.5, 0.125],
        [1.25, 1.0, 0.0],
        [0.75, 1.5, 0.0],
        [1.25, 1.375, 0.0],
        [0.1, 0.2, 0.1],
        [1.25, 5.0, 0.25],
    ];
    let turned = [([1.25, 1.4, 0.1], 0.1), ([1.1, 1.3, 0.3], 0.3), ([4.0, 1.0, 0.2], 0.4)];
    let unturned = straight.into_iter().map(|at| pose(at, 0.0));
    unturned.chain(turned.map(|(at, turn)| pose(at, turn))).collect()
}

/// A channel beside a peg, another channel and a ball.
fn scenes() -> [[Vec<api::PlacedBody>; 2]; 4] {
    let ball = api::PlacedBody { pose: None, ..rounded(None, 0.25, [0.0; 3]) };
    [
        [vec![part("channel")], vec![part("peg")]],
        [vec![part("channel")], vec![part("channel")]],
        [vec![part("channel")], vec![ball.clone()]],
        [vec![part("peg")], vec![part("channel")]],
    ]
}

/// What was said of pairs on their way, by verdict and by outcome, and how many first contacts were
/// told by faces.
#[derive(Default)]
pub(crate) struct Followed {
    pub(crate) seen: [u32; 4],
    pub(crate) met: [u32; 4],
    pub(crate) by_faces: u32,
}

/// Two bodies of one part each, of which the second goes its way: all that is said is judged.
pub(crate) async fn follow(server: &Server, parts: [Vec<api::PlacedBody>; 2], told: &mut Followed) {
    server.sessions().open_session(opening(&parts)).await.unwrap();
    let mut before = (pose([20.0, 0.0, 0.0], 0.0), api::Verdict::Separated);
    for (frame_id, at) in (1..).zip(way()) {
        let frame = moved(frame_id, at.clone());
        let report = step(server, "s", vec![frame]).await.unwrap().remove(0).pairs.remove(0);
        told.seen[report.verdict as usize] += 1;
        let bodies = [
            Some(parts[0][0].clone()),
            Some(api::PlacedBody { pose: at.clone(), ..parts[1][0].clone() }),
        ];
        let claims = Claims { bodies, report, margin: MARGIN };
        judge(server, &claims).await;
        let mut claim = claims.first_contact(before.0).unwrap();
        let answer = claim.answer.as_mut().unwrap();
        // As the report before said.
        answer.set_initial_verdict(before.1);
        told.met[answer.outcome as usize] += 1;
        told.by_faces += u32::from(answer.certificate.as_ref().unwrap().solid.is_some());
        verify(server, Claim::FirstContact(claim.clone())).await.unwrap();
        let mut denied = claim;
        let answer = denied.answer.as_mut().unwrap();
        if answer.outcome() == api::Outcome::Contact {
            answer.set_outcome(api::Outcome::NoContact);
            (answer.t_free, answer.t_contact) = (1.0, None);
            verify(server, Claim::FirstContact(denied)).await.unwrap_err();
        }
        before = (at, claims.report.verdict());
    }
}

/// Verdicts, margins, distances and first contacts, each with a certificate about the two bodies.
#[tokio::test]
async fn what_a_session_says_of_polyhedra_is_valid_and_what_was_tampered_with_is_not() {
    let (server, _) = with_channel().await;
    let mut told = Followed::default();
    for parts in scenes() {
        follow(&server, parts, &mut told).await;
    }
    let Followed { seen, met, by_faces } = told;
    assert!(seen[1] > 8 && seen[2] > 2 && seen[3] > 8, "{seen:?}");
    assert!(met[1] > 4 && met[2] > 4 && by_faces > 4, "{met:?} {by_faces}");
}

async fn judge(server: &Server, claims: &Claims) {
    let verdict = claims.report.verdict();
    let claim = claims.collision();
    verify(server, Claim::Collision(claim.clone())).await.unwrap();
    for other in [api::Verdict::Separated, api::Verdict::Touching, api::Verdict::Overlapping] {
        let mut claim = claim.clone();
        claim.answer.as_mut().unwrap().set_verdict(other);
        let judged = verify(server, Claim::Collision(claim)).await;
        assert_eq!(judged.is_ok(), other == verdict, "{judged:?}");
    }
    let mut other = claim;
    let within = other.answer.as_ref().unwrap().within_margin.map(|within| !within);
    other.answer.as_mut().unwrap().within_margin = within;
    verify(server, Claim::Collision(other)).await.unwrap_err();
    let distance = claims.distance();
    verify(server, Claim::Distance(distance.clone())).await.unwrap();
    let mut far = distance;
    let bracket = far.answer.as_mut().unwrap().distance.as_mut().unwrap();
    *bracket = api::Bracket { lower: bracket.upper + 0.01, upper: bracket.upper + 0.02 };
    verify(server, Claim::Distance(far)).await.unwrap_err();
}

/// A pair that is neither of convex bodies nor of one part each is answered, and comes without
/// certificates; its answers are those about the boxes that a channel is made of.
#[tokio::test]
async fn a_channel_beside_a_body_of_several_parts_is_answered_without_certificates() {
    let server = with_boxes().await;
    let pegs = || {
        let aside = api::PlacedBody { pose: pose([2.0, 0.0, 0.0], 0.0), ..part("peg") };
        vec![part("peg"), aside]
    };
    let boxes = ["floor", "left", "right"].map(part).to_vec();
    let mut told = Vec::new();
    for parts in [[vec![part("channel")], pegs()], [boxes, pegs()]] {
        server.sessions().open_session(opening(&parts)).await.unwrap();
        let frames = (1..).zip(way()).map(|(frame_id, at)| moved(frame_id, at)).collect();
        let reports = step(&server, "s", frames).await.unwrap();
        let pairs: Vec<api::PairReport> =
            reports.into_iter().map(|mut report| report.pairs.remove(0)).collect();
        told.push(pairs);
    }
    for (of_mesh, of_boxes) in told[0].iter().zip(&told[1]) {
        assert_eq!(of_mesh.verdict, of_boxes.verdict);
        assert_eq!(of_mesh.within_margin, of_boxes.within_margin);
        let [a, b] = [of_mesh, of_boxes].map(|pair| pair.distance.unwrap());
        assert!(a.lower <= b.upper && b.lower <= a.upper, "{a:?} {b:?}");
        let [a, b] = [of_mesh, of_boxes].map(|pair| pair.first_contact.as_ref().unwrap());
        assert_eq!(a.outcome, b.outcome);
        assert!((a.t_contact.unwrap_or(1.0) - b.t_contact.unwrap_or(1.0)).abs() < 1e-8);
        assert!(of_boxes.certificate.is_some() && of_mesh.certificate.is_none());
        assert!(of_mesh.distance_certificate.is_none() && a.certificate.is_none());
    }
}

fn refused(status: &Status, field: &str) {
    check(status, Code::Unimplemented, "NOT_IMPLEMENTED", field);
}

/// What nobody answers about polyhedra is refused with the field that asks for it, where the
/// session is opened, and where a frame asks.
#[tokio::test]
async fn what_sessions_do_not_answer_about_polyhedra_is_refused_with_the_field() {
    let (server, _) = with_channel().await;
    let parts = &scenes()[0];
    let asks: [(&str, api::ReportOptions); 2] = [
        ("contact_polygons", api::ReportOptions { contact_polygons: true, ..Default::default() }),
        ("along", api::ReportOptions { along: vector(1.0, 0.0, 0.0), ..Default::default() }),
    ];
    for (field, report) in &asks {
        let open = api::OpenSessionRequest { report: Some(*report), ..opening(parts) };
        let status = server.sessions().open_session(open).await.unwrap_err();
        refused(&status, &format!("report.{field}"));
    }
    server.sessions().open_session(opening(parts)).await.unwrap();
    for (field, report) in asks {
        let frame =
            api::Frame { frame_id: 1, report: Some(Box::new(report)), ..Default::default() };
        let told = step(&server, "s", vec![frame]).await.unwrap().remove(0).status.unwrap();
        assert!(format!("{told:?}").contains(&format!("report.{field}")), "{told:?}");
    }
    // The session stands as it stood.
    let report = step(&server, "s", vec![moved(1, way()[2].clone())]).await.unwrap().remove(0);
    assert_eq!(report.pairs[0].verdict(), api::Verdict::Separated);
}

/// A peg in the bottom and in the walls of a channel: the depth is that of the question about the
/// two, and so is the way out; there is no certificate of it. Without depths nothing is measured.
#[tokio::test]
async fn depths_of_polyhedra_are_those_of_the_question_about_two() {
    let (server, _) = with_channel().await;
    let parts = &scenes()[0];
    server.sessions().open_session(opening(parts)).await.unwrap();
    let mut overlapping = 0;
    for (frame_id, at) in (1..).zip(way()) {
        let report = api::ReportOptions { depths: true, ..asked() };
        let frame = api::Frame { report: Some(Box::new(report)), ..moved(frame_id, at.clone()) };
        let pair = step(&server, "s", vec![frame]).await.unwrap().remove(0).pairs.remove(0);
        let question = api::MeasurePenetrationRequest {
            p: Some(parts[0][0].clone()),
            q: Some(api::PlacedBody { pose: at, ..parts[1][0].clone() }),
            ..Default::default()
        };
        let answer = server.queries().measure_penetration(question).await.unwrap().into_inner();
        assert_eq!((pair.verdict, pair.depth_certificate.is_none()), (answer.verdict, true));
        if pair.verdict() == api::Verdict::Overlapping {
            assert_eq!((pair.depth, pair.depth_direction), (answer.depth, answer.direction));
            assert!(pair.depth.unwrap().upper > 0.0 && pair.normal.is_none());
            overlapping += 1;
        } else {
            assert_eq!((pair.depth, pair.depth_direction), (None, None));
        }
    }
    assert!(overlapping > 2, "{overlapping}");
}

/// A method by its name, and a plate without thickness beside a polyhedron, whichever comes first.
#[tokio::test]
async fn methods_by_name_and_flat_bodies_are_refused_beside_polyhedra() {
    let (server, _) = with_channel().await;
    server.register("plate", &[0., 0., 0., 1., 0., 0., 0., 1., 0.]).await;
    let open = api::OpenSessionRequest { method: "gjk".into(), ..opening(&scenes()[0]) };
    let status = server.sessions().open_session(open).await.unwrap_err();
    refused(&status, "state.bodies[0].parts[0]");
    let flat = [vec![part("channel")], vec![part("plate")]];
    let status = server.sessions().open_session(opening(&flat)).await.unwrap_err();
    refused(&status, "state.bodies[1].parts[0]");
    server.sessions().open_session(opening(&scenes()[0])).await.unwrap();
    let plate = api::Body { id: Some(3), parts: vec![part("plate")], ..Default::default() };
    let frame = api::Frame { frame_id: 1, added_bodies: vec![plate], ..Default::default() };
    let told = step(&server, "s", vec![frame]).await.unwrap().remove(0).status.unwrap();
    assert!(format!("{told:?}").contains("added_bodies[0].parts[0]"), "{told:?}");
}

/// Questions to a scene are answered about polyhedra, unless the filter leaves these out; the point
/// of a ray is in the claim a cloud of one point, of radius 0.
#[tokio::test]
async fn questions_to_a_scene_are_answered_about_polyhedra_with_proofs() {
    let (server, _) = with_channel().await;
    server.sessions().open_session(opening(&scenes()[0])).await.unwrap();
    let ray = api::Ray { origin: vector(0.5, 9.0, 0.5), displacement: vector(0.0, -20.0, 0.0) };
    let kind = Some(api::scene_query::Kind::Ray(ray));
    let query = |filter| api::QuerySceneRequest {
        session_id: "s".into(),
        queries: vec![api::SceneQuery { kind: kind.clone(), ..Default::default() }],
        filter,
        certificates: true,
        ..Default::default()
    };
    let reply = server.sessions().query_scene(query(None)).await.unwrap().into_inner();
    let [hit] = &reply.answers[0].hits[..] else { panic!("{reply:?}") };
    assert_eq!((hit.body_id, hit.outcome(), hit.verdict()), HIT);
    meets(&server, hit, ray).await;
    let filter = api::SceneFilter { ignored_body_ids: vec![1], ..Default::default() };
    let reply = server.sessions().query_scene(query(Some(filter))).await.unwrap().into_inner();
    assert!(reply.answers[0].hits.is_empty(), "the peg is elsewhere");
}

const HIT: (u32, api::Outcome, api::Verdict) = (1, api::Outcome::Contact, api::Verdict::Separated);

/// The proof of a ray that meets the channel, as that of a claim about a cloud of one point.
async fn meets(server: &Server, hit: &api::SceneHit, ray: api::Ray) {
    let Some(api::scene_hit::Proof::Motion(certificate)) = hit.proof.clone() else {
        panic!("no proof: {hit:?}")
    };
    let origin = ray.origin.unwrap();
    let xyz = vec![origin.x, origin.y, origin.z];
    let cloud = api::PointCloud { xyz, ..Default::default() };
    let source = Some(api::polytope_spec::Source::Cloud(cloud));
    let spec = api::PolytopeSpec { source, alias: "dot".into(), ..Default::default() };
    register(server, spec).await.unwrap();
    let linear = api::LinearMotion { velocity: ray.displacement };
    let motion = api::Motion { kind: Some(api::motion::Kind::Linear(linear)) };
    let question = api::FindFirstContactRequest {
        p: Some(body("dot", 0.0)),
        q: Some(part("channel")),
        p_motion: Some(motion),
        ..Default::default()
    };
    let time = hit.time.unwrap();
    let answer = api::FindFirstContactResponse {
        outcome: api::Outcome::Contact.into(),
        t_free: time.lower,
        t_contact: Some(time.upper),
        initial_verdict: hit.verdict,
        certificate: Some(certificate),
        ..Default::default()
    };
    let claim = api::FirstContactClaim { question: Some(question), answer: Some(answer) };
    verify(server, Claim::FirstContact(claim)).await.unwrap();
}

/// A state that is told opens the same session elsewhere, and a mesh that a session uses stays.
#[tokio::test]
async fn the_state_of_a_session_with_polyhedra_opens_it_again() {
    let (server, id) = with_channel().await;
    register(&server, keep("other", channel())).await.unwrap();
    server.sessions().open_session(opening(&scenes()[1])).await.unwrap();
    step(&server, "s", vec![moved(1, way()[2].clone())]).await.unwrap();
    let get = api::GetSessionRequest { session_id: "s".into(), ..Default::default() };
    let state = server.sessions().get_session(get).await.unwrap().into_inner().state;
    let named = state.as_ref().unwrap().bodies[0].parts[0].source.clone();
    assert_eq!(named, Some(Source::Id(id.clone())));
    let next = moved(2, way()[4].clone());
    let expected = step(&server, "s", vec![next.clone()]).await.unwrap().remove(0);
    let open = api::OpenSessionRequest { session_id: "again".into(), state, ..Default::default() };
    server.sessions().open_session(open).await.unwrap();
    let found = step(&server, "again", vec![next]).await.unwrap().remove(0);
    assert_eq!(found.pairs, expected.pairs);
    let key = Some(api::delete_polytope_request::Key::Id(id));
    let delete = api::DeletePolytopeRequest { key, ..Default::default() };
    let status = server.polytopes().delete_polytope(delete).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
}
