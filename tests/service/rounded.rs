//! Bodies with round edges: balls, capsules, boxes and hulls with a radius, which is exact.

use api::placed_body::Source;
use api::rounded_shape::Core;
use api::static_certificate::Proof;
use api::verify_certificate_request::Claim;
use api::{RoundedShape, Verdict};
use clearance_proto as api;
use tonic::Code;

use crate::polyhedra::{register, with_channel};
use crate::server::{Server, body, check, vector, verify, with_cube};

fn ball(radius: f64) -> RoundedShape {
    RoundedShape { core: None, radius }
}

fn capsule(length: f64, radius: f64) -> RoundedShape {
    RoundedShape { core: Some(Core::Length(length)), radius }
}

fn rounded_box(sizes: [f64; 3], radius: f64) -> RoundedShape {
    let [x, y, z] = sizes;
    RoundedShape { core: Some(Core::Box(api::Vector3 { x, y, z })), radius }
}

fn at(shape: RoundedShape, [x, y, z]: [f64; 3]) -> api::PlacedBody {
    let pose = api::Pose { translation: vector(x, y, z), orientation: None };
    api::PlacedBody { source: Some(Source::Rounded(shape)), pose: Some(pose) }
}

fn question(p: api::PlacedBody, q: api::PlacedBody) -> api::CheckCollisionRequest {
    api::CheckCollisionRequest { p: Some(p), q: Some(q), ..Default::default() }
}

fn spec(alias: &str, shape: RoundedShape) -> api::PolytopeSpec {
    let source = Some(api::polytope_spec::Source::Rounded(shape));
    api::PolytopeSpec { source, alias: alias.to_owned(), ..Default::default() }
}

async fn ask(
    server: &Server,
    question: &api::CheckCollisionRequest,
) -> api::CheckCollisionResponse {
    server.queries().check_collision(question.clone()).await.unwrap().into_inner()
}

fn claim(question: &api::CheckCollisionRequest, answer: &api::CheckCollisionResponse) -> Claim {
    let (question, answer) = (Some(question.clone()), Some(answer.clone()));
    Claim::Collision(api::CollisionClaim { question, answer })
}

const ORIGIN: [f64; 3] = [0.0; 3];

#[tokio::test]
async fn bodies_that_are_made_to_touch_do_and_every_verdict_comes_with_a_proof_of_no_other() {
    let server = with_cube().await;
    let up = f64::next_up;
    for (p, q, expected) in [
        (at(ball(2.0), ORIGIN), at(ball(3.0), [3., 4., 0.]), Verdict::Touching),
        (at(ball(2.0), ORIGIN), at(ball(up(3.0)), [3., 4., 0.]), Verdict::Overlapping),
        (at(ball(2.0), ORIGIN), at(ball(3.0), [up(3.0), 4., 0.]), Verdict::Separated),
        (at(ball(9.0), ORIGIN), at(ball(1.0), [1., 0., 0.]), Verdict::Overlapping),
        (at(capsule(4., 1.), ORIGIN), at(capsule(4., 1.5), [2.5, 0., 1.]), Verdict::Touching),
        (at(capsule(4., 1.), ORIGIN), at(ball(1.), [0., 0., 4.]), Verdict::Touching),
        (
            at(rounded_box([2., 4., 6.], 0.5), ORIGIN),
            at(ball(4.5), [4., 6., 3.]),
            Verdict::Touching,
        ),
        (body("cube", 0.0), at(ball(7.0), [3., 4., 7.]), Verdict::Touching),
        (body("cube", 0.0), at(ball(7.0), [3., 4., up(7.0)]), Verdict::Separated),
        (at(capsule(1.0, 1e-300), ORIGIN), body("cube", 0.0), Verdict::Overlapping),
    ] {
        for question in [question(p.clone(), q.clone()), question(q, p)] {
            let answer = ask(&server, &question).await;
            assert_eq!(answer.verdict(), expected, "{question:?}");
            assert!(matches!(
                answer.certificate.as_ref().and_then(|told| told.proof.as_ref()),
                Some(Proof::Rounded(_))
            ));
            verify(&server, claim(&question, &answer)).await.unwrap();
            for other in [Verdict::Separated, Verdict::Touching, Verdict::Overlapping] {
                let mut changed = answer.clone();
                changed.set_verdict(other);
                if let Some(Proof::Rounded(proof)) =
                    &mut changed.certificate.as_mut().unwrap().proof
                {
                    proof.set_verdict(other);
                }
                let is_accepted = verify(&server, claim(&question, &changed)).await.is_ok();
                assert_eq!(is_accepted, other == expected, "{other:?} {question:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_margin_is_added_to_the_radii_exactly() {
    let server = with_cube().await;
    let mut asked = question(at(ball(1.0), ORIGIN), at(ball(1.0), [3., 4., 0.]));
    for (margin, within) in [(3.0, true), (3.0_f64.next_down(), false), (0.0, false)] {
        asked.margin = Some(margin);
        let answer = ask(&server, &asked).await;
        assert_eq!((answer.verdict(), answer.within_margin), (Verdict::Separated, Some(within)));
        verify(&server, claim(&asked, &answer)).await.unwrap();
        let other = api::CheckCollisionResponse { within_margin: Some(!within), ..answer };
        let refused = verify(&server, claim(&asked, &other)).await.unwrap_err();
        assert!(refused.starts_with("within_margin: "), "{refused}");
    }
    asked.p = Some(at(ball(4.0), ORIGIN));
    let answer = ask(&server, &asked).await;
    assert_eq!((answer.verdict(), answer.within_margin), (Verdict::Touching, Some(true)));
    verify(&server, claim(&asked, &answer)).await.unwrap();
}

/// A proof about the polytopes alone was one about the hulls of bodies until there were radii.
#[tokio::test]
async fn a_proof_about_the_polytopes_proves_nothing_of_rounded_bodies_and_the_other_way_round() {
    let server = with_cube().await;
    let plain = question(body("cube", 0.0), body("cube", 3.0));
    let of_polytopes = ask(&server, &plain).await;
    let mut round = question(body("cube", 0.0), at(rounded_box([1.0; 3], 4.0), [3.5, 0.5, 0.5]));
    let of_round = ask(&server, &round).await;
    assert_eq!(of_round.verdict(), Verdict::Overlapping);
    let claims = [claim(&round, &of_polytopes), claim(&plain, &of_round)];
    round.p = Some(at(ball(0.0), ORIGIN));
    round.q = Some(at(ball(0.0), [1., 0., 0.]));
    let answer = ask(&server, &round).await;
    let is_plain = matches!(answer.certificate.unwrap().proof, Some(Proof::Separated(_)));
    assert!(is_plain, "without a radius a body is a polytope");
    for claim in claims {
        let claim = api::VerifyCertificateRequest { claim: Some(claim) };
        let status = server.queries().verify_certificate(claim).await.unwrap_err();
        let field = "collision.answer.certificate.rounded";
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    }
}

#[tokio::test]
async fn a_rounded_body_is_registered_described_and_asked_about_by_name() {
    let server = with_cube().await;
    let described = register(&server, spec("pill", capsule(4.0, 0.5))).await.unwrap();
    let described = described.polytope.unwrap();
    assert!(described.id.starts_with("r1-") && described.id.len() == 67, "{}", described.id);
    assert_eq!((described.radius, described.dimension, described.vertex_count), (0.5, 3, 2));
    let sizes = (described.bounds_low, described.bounds_high);
    assert_eq!(sizes, (vector(-0.5, -0.5, -2.5), vector(0.5, 0.5, 2.5)));
    let volume = std::f64::consts::PI * (0.25 * 4.0 + 0.125 * 4.0 / 3.0);
    assert!((described.volume - volume).abs() < 1e-12, "{}", described.volume);
    let key = Some(api::get_polytope_request::Key::Id(described.id.clone()));
    let request = api::GetPolytopeRequest { key, with_vertices: true, ..Default::default() };
    let shown = server.polytopes().get_polytope(request).await.unwrap().into_inner();
    assert_eq!(shown.vertices.unwrap().xyz, [0., 0., -2., 0., 0., 2.]);
    let again = register(&server, spec("again", capsule(4.0, 0.5))).await.unwrap();
    assert!(again.already_registered);
    let thicker = register(&server, spec("thick", capsule(4.0, 0.5_f64.next_up()))).await.unwrap();
    assert!(!thicker.already_registered && thicker.polytope.unwrap().id != described.id);

    let asked = question(body("pill", 0.0), body("pill", 1.0));
    let answer = ask(&server, &asked).await;
    assert_eq!(answer.verdict(), Verdict::Touching);
    verify(&server, claim(&asked, &answer)).await.unwrap();

    let plain = register(&server, spec("flat", rounded_box([1.0, 1.0, 0.0], 0.0))).await.unwrap();
    let plain = plain.polytope.unwrap();
    assert!(plain.id.starts_with("p1-") && plain.radius == 0.0 && plain.dimension == 2);
}

#[tokio::test]
async fn radii_and_sizes_that_are_none_are_refused_with_their_field() {
    let server = with_cube().await;
    let beyond = 2f64.powi(960).next_up();
    for wrong in [-1.0, -1e-300, f64::NAN, f64::INFINITY, 1e300, beyond] {
        for (shape, field) in [
            (ball(wrong), "radius"),
            (capsule(wrong, 1.0), "length"),
            (rounded_box([1.0, wrong, 1.0], 1.0), "box.y"),
        ] {
            let asked = question(at(shape.clone(), ORIGIN), body("cube", 0.0));
            let status = server.queries().check_collision(asked).await.unwrap_err();
            check(&status, Code::InvalidArgument, "BAD_FIELD", &format!("p.rounded.{field}"));
            let status = register(&server, spec("wrong", shape)).await.unwrap_err();
            let field = format!("polytopes[0].rounded.{field}");
            check(&status, Code::InvalidArgument, "BAD_FIELD", &field);
        }
    }
    let largest = 2f64.powi(960);
    let asked =
        question(at(ball(largest), [-largest, 0., 0.]), at(ball(largest), [largest, 0., 0.]));
    let answer = ask(&server, &asked).await;
    assert_eq!(answer.verdict(), Verdict::Touching);
    verify(&server, claim(&asked, &answer)).await.unwrap();
}

#[tokio::test]
async fn what_is_not_answered_of_rounded_bodies_is_refused_with_its_field() {
    let (server, _) = with_channel().await;
    let mut client = server.queries();
    let (p, q) = (Some(body("peg", 0.0)), Some(at(ball(1.0), ORIGIN)));
    let unimplemented = |status: &tonic::Status, field: &str| {
        check(status, Code::Unimplemented, "NOT_IMPLEMENTED", field);
        assert!(status.message().contains("rounded polytopes"), "{}", status.message());
    };
    let asked = question(body("channel", 0.0), q.clone().unwrap());
    unimplemented(&client.check_collision(asked).await.unwrap_err(), "q");
    let asked = api::MeasureDistanceRequest { p: p.clone(), q: q.clone(), ..Default::default() };
    unimplemented(&client.measure_distance(asked).await.unwrap_err(), "q");
    let asked = api::MeasurePenetrationRequest { p: q.clone(), q: p.clone(), ..Default::default() };
    unimplemented(&client.measure_penetration(asked).await.unwrap_err(), "p");
    let direction = vector(1.0, 0.0, 0.0);
    let asked = api::MeasureDistanceAlongRequest {
        p: p.clone(),
        q: q.clone(),
        direction,
        ..Default::default()
    };
    unimplemented(&client.measure_distance_along(asked).await.unwrap_err(), "q");
    let asked = api::FindFirstContactRequest { p: p.clone(), q: q.clone(), ..Default::default() };
    unimplemented(&client.find_first_contact(asked).await.unwrap_err(), "q");
    let moving = |body| api::MovingBody { body, ..Default::default() };
    let bodies = vec![moving(p), moving(q.clone())];
    let asked = api::FindFirstCollisionRequest { bodies, ..Default::default() };
    unimplemented(&client.find_first_collision(asked).await.unwrap_err(), "bodies[1].body");

    let parts = vec![q.unwrap()];
    let state = api::SessionState {
        bodies: vec![api::Body { id: 1, parts, ..Default::default() }],
        ..Default::default()
    };
    let open = api::OpenSessionRequest {
        session_id: "round".to_owned(),
        state: Some(state),
        ..Default::default()
    };
    let status = server.sessions().open_session(open).await.unwrap_err();
    unimplemented(&status, "state.bodies[0].parts[0].rounded");
}
