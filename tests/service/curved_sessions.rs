//! Cylinders, cones and ellipsoids in sessions: what reports say of them beside bodies of all kinds
//! is judged as answers of their own.

use api::rounded_shape::Core;
use api::static_certificate::Proof;
use api::verify_certificate_request::Claim;
use clearance_proto as api;
use tonic::Code;

use crate::curved::{cone, cylinder, ellipsoid};
use crate::curved_proofs::judge_range;
use crate::polyhedra::{channel, register, with_channel};
use crate::polyhedron_sessions::{Followed, follow};
use crate::rounded_sessions::{Claims, MARGIN, opening, pose, rounded};
use crate::server::{Server, body, check, vector, verify};
use crate::sessions::{all_pairs, step};
use crate::surfaces::surface;

fn part(alias: &str) -> api::PlacedBody {
    api::PlacedBody { pose: None, ..body(alias, 0.0) }
}

fn shape(core: Option<Core>, radius: f64) -> api::PlacedBody {
    api::PlacedBody { pose: None, ..rounded(core, radius, [0.0; 3]) }
}

/// With a channel and a peg, the channel as a surface, a cloud and a height field.
async fn with_all_kinds() -> Server {
    let (server, _) = with_channel().await;
    register(&server, surface("sheet", channel())).await.unwrap();
    let points = [0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 0.25, 0.5, 1.0, 1.0, 0.25];
    let cloud = api::PointCloud { xyz: points.to_vec(), radius: 0.125, ..Default::default() };
    let field = api::HeightField {
        rows: 3,
        columns: 4,
        spacing_x: 1.0,
        spacing_y: 1.0,
        heights: (0..12).map(|at| f32::from(at % 3 == 1) / 4.0).collect(),
        ..Default::default()
    };
    for (alias, source) in [
        ("dots", api::polytope_spec::Source::Cloud(cloud)),
        ("ground", api::polytope_spec::Source::HeightField(field)),
    ] {
        let (source, alias) = (Some(source), alias.to_owned());
        let spec = api::PolytopeSpec { source, alias, ..Default::default() };
        register(&server, spec).await.unwrap();
    }
    server
}

/// One of each form, one of them with a radius.
fn curved() -> [api::PlacedBody; 3] {
    [
        shape(Some(cylinder(0.25, 0.75)), 0.0),
        shape(Some(cone(0.375, 0.5)), 0.125),
        shape(Some(ellipsoid(0.25, 0.5, 0.375)), 0.0),
    ]
}

/// A body of each kind that a session takes.
fn others() -> Vec<api::PlacedBody> {
    let ball = shape(None, 0.25);
    let named = ["peg", "channel", "sheet", "dots", "ground"].map(part);
    [ball].into_iter().chain(named).chain(curved()).collect()
}

#[tokio::test]
async fn what_a_session_says_of_curved_bodies_beside_all_kinds_is_proven() {
    let server = with_all_kinds().await;
    let mut told = Followed::default();
    for (k, curved) in curved().into_iter().enumerate() {
        for (at, other) in others().into_iter().enumerate() {
            let mut parts = [vec![curved.clone()], vec![other]];
            if (k + at) % 2 == 0 {
                parts.reverse();
            }
            follow(&server, parts, &mut told).await;
        }
    }
    let Followed { seen, met, .. } = told;
    assert!(seen[0] == 0 && seen[1] > 60 && seen[3] > 30, "{seen:?}");
    assert!(met[1] > 20 && met[2] > 20, "{met:?}");
}

fn asked() -> api::ReportOptions {
    api::ReportOptions {
        certificates: true,
        distances: true,
        depths: true,
        first_contacts: true,
        ..all_pairs().unwrap()
    }
}

/// Two bodies, the second of which is put somewhere: what the report says, and its claims.
async fn told(server: &Server, parts: [api::PlacedBody; 2], places: &[[f64; 3]]) -> Vec<Claims> {
    let lists = parts.clone().map(|part| vec![part]);
    server.sessions().open_session(opening(&lists)).await.unwrap();
    let mut claims = Vec::new();
    for (frame_id, at) in (1..).zip(places) {
        let place = pose(*at, 0.0);
        let poses = vec![api::BodyPose { id: Some(2), pose: place.clone(), ..Default::default() }];
        let report = Some(Box::new(asked()));
        let frame = api::Frame { frame_id, poses, report, ..Default::default() };
        let report = step(server, "s", vec![frame]).await.unwrap().remove(0).pairs.remove(0);
        let [p, q] = parts.clone();
        let bodies = [Some(p), Some(api::PlacedBody { pose: place, ..q })];
        claims.push(Claims { bodies, report, margin: MARGIN });
    }
    claims
}

/// Of convex bodies how deep they are is proven as well, as deep as the question about both says;
/// beside others there is no certificate of that.
#[tokio::test]
async fn depths_of_curved_bodies_in_sessions_are_proven() {
    let server = with_all_kinds().await;
    let mut deep = [0; 2];
    for curved in curved() {
        for other in others() {
            for claims in told(&server, [curved.clone(), other], &[[0.125, 0.25, 0.0]]).await {
                let Some(claim) = claims.depth() else { continue };
                let [p, q] = claims.bodies.clone();
                let question = api::MeasurePenetrationRequest { p, q, ..Default::default() };
                let answer = server.queries().measure_penetration(question).await.unwrap();
                let [a, b] = [claims.report.depth.unwrap(), answer.into_inner().depth.unwrap()];
                assert!(a.lower <= b.upper && b.lower <= a.upper, "{a:?} {b:?}");
                let is_proven = claims.report.depth_certificate.is_some();
                deep[usize::from(is_proven)] += 1;
                if !is_proven {
                    continue;
                }
                assert!(a.lower > 0.0 && a.upper - a.lower <= 1e-9 * a.upper, "{a:?}");
                verify(&server, Claim::Penetration(claim.clone())).await.unwrap();
                let mut shallow = claim;
                let bracket = shallow.answer.as_mut().unwrap().depth.as_mut().unwrap();
                *bracket = api::Bracket { lower: 0.0, upper: bracket.lower / 2.0 };
                verify(&server, Claim::Penetration(shallow)).await.unwrap_err();
            }
        }
    }
    assert!(deep[0] > 2 && deep[1] > 9, "{deep:?}");
}

/// Where curved bodies meet and part along a direction is what the question about both says, and
/// proven; beside what is not convex nobody says it.
#[tokio::test]
async fn ranges_of_curved_bodies_in_sessions_are_proven() {
    let server = with_all_kinds().await;
    let (mut seen, mut refused) = ([0; 3], 0);
    let direction = vector(1.0, 0.125, 0.0);
    for curved in curved() {
        for other in others() {
            let report = api::ReportOptions { along: direction, ..asked() };
            let parts = [vec![curved.clone()], vec![other.clone()]];
            let open = api::OpenSessionRequest { report: Some(report), ..opening(&parts) };
            let told = server.sessions().open_session(open).await;
            let Ok(told) = told else {
                let status = told.unwrap_err();
                check(&status, Code::Unimplemented, "NOT_IMPLEMENTED", "report.along");
                refused += 1;
                continue;
            };
            assert!(told.into_inner().report.is_some());
            for (frame_id, x) in (1..).zip([4.0, 0.125, -4.0]) {
                let place = pose([x, 0.25, 0.125], 0.0);
                let moved =
                    api::BodyPose { id: Some(2), pose: place.clone(), ..Default::default() };
                let frame = api::Frame { frame_id, poses: vec![moved], ..Default::default() };
                let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
                let range = report.pairs[0].along.clone().unwrap();
                let [p, q] = [curved.clone(), api::PlacedBody { pose: place, ..other.clone() }];
                let question = api::MeasureDistanceAlongRequest {
                    p: Some(p),
                    q: Some(q),
                    direction,
                    ..Default::default()
                };
                let answer = range.parts[0].answer.clone().unwrap();
                assert!(!answer.uncertified && answer.certificate.is_some(), "{answer:?}");
                assert_eq!((range.enter, range.exit), (answer.enter, answer.exit));
                seen[usize::from(answer.enter.is_some()) + usize::from(x < 1.0 && x > 0.0)] += 1;
                judge_range(&server, &question, &answer).await;
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 9) && refused == 12, "{seen:?} {refused}");
}

/// What rests on a floor, and an ulp above it and below it: each proof is of its own place alone.
#[tokio::test]
async fn what_touches_exactly_in_a_session_is_proven_to_touch() {
    use api::Verdict::{Overlapping, Separated, Touching};
    let server = Server::start().await;
    let floor = shape(Some(Core::HalfSpace(api::HalfSpace { reach: 0.0 })), 0.0);
    for (core, radius, height) in [
        (cylinder(0.3, 1.5), 0.0, 0.75_f64),
        (cone(0.3, 1.5), 0.25, 1.0),
        (ellipsoid(0.3, 2.0, 0.75), 0.0, 0.75),
    ] {
        let heights = [height, height.next_up(), height.next_down()];
        let places = heights.map(|z| [7.0, -3.0, z]);
        let claims = told(&server, [floor.clone(), shape(Some(core), radius)], &places).await;
        for (one, expected) in claims.iter().zip([Touching, Separated, Overlapping]) {
            assert_eq!(one.report.verdict(), expected);
        }
        for (k, place) in claims.iter().enumerate() {
            for (at, said) in claims.iter().enumerate() {
                let question = place.collision().question;
                let claim = api::CollisionClaim { question, ..said.collision() };
                let judged = verify(&server, Claim::Collision(claim)).await;
                assert_eq!(judged.is_ok(), k == at, "{judged:?}");
            }
        }
    }
}

/// A proof takes kilobytes, and a report has a limit: pairs beyond it are left out and counted, and
/// those that are told are proven.
#[tokio::test]
async fn proofs_of_curved_bodies_are_told_as_far_as_a_reply_has_room() {
    let server = Server::start().await;
    let tube = |id: u32| api::Body {
        id: Some(id),
        parts: vec![shape(Some(cylinder(0.5, 1.0)), 0.0)],
        pose: pose([0.25 * f64::from(id), 0.125 * f64::from(id), 0.0], 0.0),
        ..Default::default()
    };
    let state =
        Some(api::SessionState { bodies: (1..=12).map(tube).collect(), ..Default::default() });
    let open = |reply_bytes_max| api::OpenSessionRequest {
        session_id: "s".into(),
        state: state.clone(),
        replace: true,
        report: Some(api::ReportOptions {
            certificates: true,
            reply_bytes_max,
            ..all_pairs().unwrap()
        }),
        ..Default::default()
    };
    let told = async |bytes| {
        let opened = server.sessions().open_session(open(bytes)).await.unwrap().into_inner();
        opened.report.unwrap()
    };
    let (all, some) = (told(0).await, told(200_000).await);
    assert_eq!((all.pairs.len(), all.omitted_pairs), (66, 0));
    assert!(!some.pairs.is_empty() && some.pairs.len() < 66, "{}", some.pairs.len());
    assert_eq!(some.pairs.len() as u64 + some.omitted_pairs, 66);
    assert_eq!(some.pairs[..], all.pairs[..some.pairs.len()]);
    for pair in &some.pairs {
        let proof = pair.certificate.as_ref().and_then(|proof| proof.proof.as_ref());
        assert!(matches!(proof, Some(Proof::Curved(_))), "{pair:?}");
    }
}

/// Shapes that a scene is asked about, among curved bodies: each hit comes with its proof.
#[tokio::test]
async fn hits_of_curved_bodies_are_proven() {
    use api::scene_hit::Proof;
    use api::scene_query::Kind;
    let server = with_all_kinds().await;
    let [tube, ball] = [shape(Some(cylinder(0.25, 0.75)), 0.0), shape(None, 0.25)];
    for parts in [[tube.clone(), ball.clone()], [ball.clone(), tube.clone()]] {
        let (held, asked) = (parts[0].clone(), parts[1].clone());
        let stands = vec![vec![held.clone()], vec![part("peg")]];
        server.sessions().open_session(opening(&stands.try_into().unwrap())).await.unwrap();
        let at = |x| api::PlacedBody { pose: pose([x, 0.0, 0.0], 0.0), ..asked.clone() };
        let motion = api::LinearMotion { velocity: vector(-4.0, 0.0, 0.0) };
        let motion = Some(api::Motion { kind: Some(api::motion::Kind::Linear(motion)) });
        let cast = api::ShapeCast { body: Some(at(3.0)), motion, ..Default::default() };
        let near = api::NearestQuery { body: Some(at(2.0)), count: 1, ..Default::default() };
        let kinds = [Kind::ShapeCast(cast.clone()), Kind::Nearest(near), Kind::Overlap(at(0.25))];
        let query = api::QuerySceneRequest {
            session_id: "s".into(),
            queries: kinds
                .map(|kind| api::SceneQuery { kind: Some(kind), ..Default::default() })
                .to_vec(),
            certificates: true,
            ..Default::default()
        };
        let reply = server.sessions().query_scene(query).await.unwrap().into_inner();
        for (x, answer) in [3.0, 2.0, 0.25].into_iter().zip(&reply.answers) {
            let hit = &answer.hits[0];
            assert_eq!(hit.body_id, 1, "{answer:?}");
            let (p, q) = (Some(at(x)), Some(held.clone()));
            let claim = match hit.proof.clone().unwrap() {
                Proof::Motion(certificate) => {
                    let time = hit.time.unwrap();
                    let question = api::FindFirstContactRequest {
                        p,
                        q,
                        p_motion: cast.motion.clone(),
                        ..Default::default()
                    };
                    let answer = api::FindFirstContactResponse {
                        outcome: api::Outcome::Contact.into(),
                        t_free: time.lower,
                        t_contact: Some(time.upper),
                        initial_verdict: hit.verdict,
                        certificate: Some(certificate),
                        ..Default::default()
                    };
                    let (question, answer) = (Some(question), Some(answer));
                    Claim::FirstContact(api::FirstContactClaim { question, answer })
                }
                Proof::Separation(certificate) => {
                    let question = api::MeasureDistanceRequest { p, q, ..Default::default() };
                    let answer = api::MeasureDistanceResponse {
                        verdict: hit.verdict,
                        distance: hit.distance,
                        certificate: Some(certificate),
                        ..Default::default()
                    };
                    let (question, answer) = (Some(question), Some(answer));
                    Claim::Distance(api::DistanceClaim { question, answer })
                }
                Proof::Standing(certificate) => {
                    let question = api::CheckCollisionRequest { p, q, ..Default::default() };
                    let answer = api::CheckCollisionResponse {
                        verdict: hit.verdict,
                        certificate: Some(certificate),
                        ..Default::default()
                    };
                    let (question, answer) = (Some(question), Some(answer));
                    Claim::Collision(api::CollisionClaim { question, answer })
                }
            };
            verify(&server, claim).await.unwrap();
        }
    }
}
