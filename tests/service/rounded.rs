//! Bodies with round edges: balls, capsules, boxes and hulls with a radius, which is exact.

use api::placed_body::Source;
use api::rounded_shape::Core;
use api::static_certificate::Proof;
use api::verify_certificate_request::Claim;
use api::{RoundedShape, Verdict};
use clearance_proto as api;
use tonic::Code;

use crate::curved_proofs::judge_range;
use crate::polyhedra::{register, with_channel};
use crate::server::{Server, body, check, vector, verify, with_cube};

fn ball(radius: f64) -> RoundedShape {
    RoundedShape { radius, ..Default::default() }
}

fn capsule(length: f64, radius: f64) -> RoundedShape {
    RoundedShape { core: Some(Core::Length(length)), radius, scale: None }
}

fn rounded_box(sizes: [f64; 3], radius: f64) -> RoundedShape {
    let [x, y, z] = sizes;
    RoundedShape { core: Some(Core::Box(api::Vector3 { x, y, z })), radius, scale: None }
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

/// Half the size of a capsule that stands, and where it does.
const STANDING: [f64; 3] = [3.0, 4.0, 0.5];

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
    // A direction that separates the polytopes by less than the radii proves nothing.
    let refusal = verify(&server, claim(&round, &of_polytopes)).await.unwrap_err();
    assert_eq!(refusal, "the direction does not separate");
    let of_plain = claim(&plain, &of_round);
    round.p = Some(at(ball(0.0), ORIGIN));
    round.q = Some(at(ball(0.0), [1., 0., 0.]));
    let answer = ask(&server, &round).await;
    let is_plain = matches!(answer.certificate.unwrap().proof, Some(Proof::Separated(_)));
    assert!(is_plain, "without a radius a body is a polytope");
    let claim = api::VerifyCertificateRequest { claim: Some(of_plain) };
    let status = server.queries().verify_certificate(claim).await.unwrap_err();
    let field = "collision.answer.certificate.rounded";
    check(&status, Code::InvalidArgument, "BAD_FIELD", field);
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

/// Where a ball meets another one and leaves it again, between neighbours, with a proof that is of
/// these balls alone.
#[tokio::test]
async fn ranges_of_rounded_bodies_are_neighbours_and_proven() {
    let (server, _) = with_channel().await;
    let mut client = server.queries();
    let (p, q) = (Some(at(ball(2.0), ORIGIN)), Some(at(ball(3.0), [9.0, 3.0, 0.0])));
    let asked = api::MeasureDistanceAlongRequest {
        p,
        q,
        direction: vector(2.0, 0.0, 0.0),
        ..Default::default()
    };
    let answer = client.measure_distance_along(asked.clone()).await.unwrap().into_inner();
    for (told, exact) in [(answer.enter, 2.5), (answer.exit, 6.5)] {
        let told = told.unwrap();
        assert!(told.lower <= exact && exact <= told.upper, "{told:?}");
        assert!(told.upper <= told.lower.next_up(), "{told:?}");
    }
    assert_eq!((answer.verdict(), answer.range_certificate.is_some()), (Verdict::Separated, true));
    assert!(answer.certificate.is_some() && !answer.uncertified);
    judge_range(&server, &asked, &answer).await;
    let claim = |question: &api::MeasureDistanceAlongRequest| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        Claim::DistanceAlong(api::DistanceAlongClaim { question, answer })
    };
    for (radius, from) in [(2.000_001, 0.0), (1.999_999, 0.0), (2.0, 1e-9)] {
        let p = Some(at(ball(radius), [from, 0.0, 0.0]));
        let other = api::MeasureDistanceAlongRequest { p, ..asked.clone() };
        assert!(verify(&server, claim(&other)).await.is_err(), "{radius} {from}");
    }
    // A graze is one moment, and a miss by the last bit none; both are proven.
    for (y, is_met) in [(5.0, true), (5.0_f64.next_up(), false), (5.0_f64.next_down(), true)] {
        let q = Some(at(ball(3.0), [9.0, y, 0.0]));
        let asked = api::MeasureDistanceAlongRequest { q, ..asked.clone() };
        let answer = client.measure_distance_along(asked.clone()).await.unwrap().into_inner();
        assert_eq!((answer.enter.is_some(), answer.uncertified), (is_met, false), "{answer:?}");
        judge_range(&server, &asked, &answer).await;
    }
    // Away from it, without a wish for proofs; along nothing; and beside a mesh.
    let options = Some(api::QueryOptions { omit_certificate: true, ..Default::default() });
    let away = api::MeasureDistanceAlongRequest {
        direction: vector(-1.0, 0.0, 0.0),
        options,
        ..asked.clone()
    };
    let answer = client.measure_distance_along(away).await.unwrap().into_inner();
    assert_eq!((answer.enter, answer.exit, answer.uncertified), (None, None, false));
    for direction in [vector(0.0, 0.0, 0.0), vector(f64::NAN, 0.0, 0.0), None] {
        let wrong = api::MeasureDistanceAlongRequest { direction, ..asked.clone() };
        let status = client.measure_distance_along(wrong).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
    }
    let mesh = api::MeasureDistanceAlongRequest { q: Some(body("channel", 0.0)), ..asked };
    let status = client.measure_distance_along(mesh).await.unwrap_err();
    check(&status, Code::Unimplemented, "NOT_IMPLEMENTED", "q");
}

#[tokio::test]
async fn a_ball_among_several_bodies_is_the_first_to_meet_and_no_claim_speaks_of_it() {
    let (server, _) = with_channel().await;
    let motion = |x: f64| {
        let velocity = vector(x, 0.0, 0.0);
        Some(api::Motion { kind: Some(api::motion::Kind::Linear(api::LinearMotion { velocity })) })
    };
    let moving = |body, x: f64| api::MovingBody { body: Some(body), motion: motion(x) };
    let bodies = vec![
        moving(at(ball(1.0), [20.0, 0.0, 0.0]), 0.0),
        moving(body("channel", 60.0), -1.0),
        moving(at(ball(1.0), [26.0, 0.0, 0.0]), -8.0),
    ];
    let asked = api::FindFirstCollisionRequest { bodies, ..Default::default() };
    let answer = server.queries().find_first_collision(asked.clone()).await.unwrap().into_inner();
    assert_eq!((answer.outcome(), answer.p, answer.q), (api::Outcome::Contact, Some(0), Some(2)));
    let [free, met] = [answer.t_free, answer.t_contact.unwrap()];
    assert!(free < 0.5 && 0.5 <= met && met - free < 1e-8, "{free} {met}");
    assert!(answer.uncertified && answer.certificate.is_none() && answer.tied_pairs.is_empty());
    assert_eq!(answer.uncertified_reason(), api::UncertifiedReason::NoClaim);
    assert_eq!(answer.uncertified_pairs, [api::PlacePair { p: 0, q: 2 }]);
    // A claim with any certificate is refused before it is judged: that speaks of polytopes.
    let certificate = Some(api::CollisionCertificate::default());
    let answer = Some(api::FindFirstCollisionResponse { certificate, ..answer });
    let claim = api::FirstCollisionClaim { question: Some(asked), answer };
    let claim = api::VerifyCertificateRequest { claim: Some(Claim::FirstCollision(claim)) };
    let status = server.queries().verify_certificate(claim).await.unwrap_err();
    let field = "first_collision.question.bodies[0].body";
    check(&status, Code::Unimplemented, "NOT_IMPLEMENTED", field);
}

#[tokio::test]
async fn distances_of_rounded_bodies_are_brackets_with_proofs_that_hold_no_other() {
    let server = with_cube().await;
    let ask = async |p, q| {
        let asked = api::MeasureDistanceRequest {
            p: Some(p),
            q: Some(q),
            margin: Some(2.5),
            ..Default::default()
        };
        let answer = server.queries().measure_distance(asked.clone()).await.unwrap().into_inner();
        (asked, answer)
    };
    let claim = |question: &api::MeasureDistanceRequest, answer: &api::MeasureDistanceResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        Claim::Distance(api::DistanceClaim { question, answer })
    };
    let (asked, answer) = ask(at(capsule(4.0, 1.0), ORIGIN), at(ball(1.5), STANDING)).await;
    let bracket = answer.distance.unwrap();
    assert!(bracket.lower <= 2.5 && 2.5 <= bracket.upper && bracket.upper - bracket.lower < 1e-12);
    assert_eq!((answer.verdict(), answer.within_margin), (Verdict::Separated, Some(true)));
    let normal = answer.normal.unwrap();
    assert!((normal.x + 0.6).abs() < 1e-12 && (normal.y + 0.8).abs() < 1e-12, "{normal:?}");
    let closest = answer.closest_p.unwrap();
    assert!((closest.x - 0.6).abs() < 1e-12 && (closest.z - 0.5).abs() < 1e-12, "{closest:?}");
    verify(&server, claim(&asked, &answer)).await.unwrap();
    for (lower, upper) in [(2.500_001, 2.6), (2.4, 2.499_999), (5.0, 5.0)] {
        let distance = Some(api::Bracket { lower, upper });
        let changed = api::MeasureDistanceResponse { distance, ..answer.clone() };
        verify(&server, claim(&asked, &changed)).await.unwrap_err();
    }
    // That their polytopes are apart is no proof of a distance of balls.
    let thin = ask(at(capsule(4.0, 0.0), ORIGIN), at(ball(0.0), STANDING)).await.1;
    let refusal = verify(&server, claim(&asked, &thin)).await.unwrap_err();
    assert!(refusal.contains("closer than the lower bound"), "{refusal}");
    let (asked, answer) = ask(at(ball(2.0), ORIGIN), at(ball(3.0), [3., 4., 0.])).await;
    assert_eq!(answer.verdict(), Verdict::Touching);
    assert_eq!(answer.distance, Some(api::Bracket::default()));
    assert!((answer.closest_p.unwrap().x - 1.2).abs() < 1e-12);
    verify(&server, claim(&asked, &answer)).await.unwrap();
}

#[tokio::test]
async fn depths_of_rounded_bodies_are_theirs_and_the_polytopes_together() {
    let server = with_cube().await;
    let claim = |question: &api::MeasurePenetrationRequest,
                 answer: &api::MeasurePenetrationResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        Claim::Penetration(api::PenetrationClaim { question, answer })
    };
    // Of polytopes that only touch there is no surface, and no lower bound beyond the radii is
    // proven.
    for (p, q, depth, way, is_bounded) in [
        // Balls whose middles are 5 apart.
        (at(ball(3.0), ORIGIN), at(ball(2.5), [3., 4., 0.]), 0.5, [-0.6, -0.8, 0.0], true),
        // The middle of the ball is 0.25 below the cube's upper face.
        (body("cube", 0.0), at(ball(0.5), [0.5, 0.5, 0.75]), 0.75, [0.0, 0.0, -1.0], true),
        // It is on the face.
        (body("cube", 0.0), at(ball(0.5), [0.5, 0.5, 1.0]), 0.5, [0.0, 0.0, -1.0], false),
    ] {
        let asked = api::MeasurePenetrationRequest {
            p: Some(p),
            q: Some(q),
            with_surface: true,
            ..Default::default()
        };
        let answer = server.queries().measure_penetration(asked.clone()).await.unwrap();
        let answer = answer.into_inner();
        let bracket = answer.depth.unwrap();
        assert_eq!(answer.verdict(), Verdict::Overlapping);
        assert!(bracket.lower <= depth && depth <= bracket.upper, "{answer:?}");
        assert!(bracket.upper - bracket.lower < 1e-12, "{answer:?}");
        let direction = answer.direction.unwrap();
        let off = [direction.x - way[0], direction.y - way[1], direction.z - way[2]];
        assert!(off.iter().all(|off| off.abs() < 1e-12), "{direction:?} {way:?}");
        verify(&server, claim(&asked, &answer)).await.unwrap();
        let tighter = [(0.0, depth - 1e-6), (depth + 1e-6, depth + 1.0)];
        for (lower, upper) in tighter.into_iter().take(if is_bounded { 2 } else { 1 }) {
            let depth = Some(api::Bracket { lower, upper });
            let changed = api::MeasurePenetrationResponse { depth, ..answer.clone() };
            verify(&server, claim(&asked, &changed)).await.unwrap_err();
        }
    }
}

#[tokio::test]
async fn rounded_bodies_that_fly_and_turn_first_meet_where_their_radii_do() {
    let server = with_cube().await;
    let claim = |question: &api::FindFirstContactRequest,
                 answer: &api::FindFirstContactResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        Claim::FirstContact(api::FirstContactClaim { question, answer })
    };
    let straight = |velocity: [f64; 3]| {
        let [x, y, z] = velocity;
        let linear = api::LinearMotion { velocity: vector(x, y, z) };
        Some(api::Motion { kind: Some(api::motion::Kind::Linear(linear)) })
    };
    let turning = {
        let screw = api::ScrewMotion { axis: vector(1., 0., 0.), angle: 3.0, ..Default::default() };
        Some(api::Motion { kind: Some(api::motion::Kind::Screw(screw)) })
    };
    // A capsule that stands at the origin, 2 to both sides, turns about x towards a ball at
    // y = 2.25: its end comes within 0.5 of that.
    let turned = ((4.0 + 2.25 * 2.25 - 0.25) / 9.0_f64).asin();
    for (p, p_motion, q, q_motion, margin, time) in [
        (at(ball(1.), ORIGIN), None, at(ball(2.), [7., 0., 0.]), straight([-8., 0., 0.]), 0.0, 0.5),
        (at(ball(1.), ORIGIN), None, at(ball(2.), [8., 0., 0.]), straight([-8., 0., 0.]), 1.0, 0.5),
        // They graze: the way is 3 off.
        (at(ball(1.), ORIGIN), None, at(ball(2.), [-4., 3., 0.]), straight([8., 0., 0.]), 0.0, 0.5),
        (
            at(capsule(4., 0.25), ORIGIN),
            turning,
            at(ball(0.25), [0., 2.25, 0.]),
            None,
            0.0,
            turned / 3.0,
        ),
        (at(ball(1.), ORIGIN), None, at(ball(2.), [1., 0., 0.]), straight([9., 0., 0.]), 0.0, 0.0),
    ] {
        let asked = api::FindFirstContactRequest {
            p: Some(p),
            q: Some(q),
            p_motion,
            q_motion,
            margin,
            impact: true,
            ..Default::default()
        };
        let answer = server.queries().find_first_contact(asked.clone()).await.unwrap();
        let answer = answer.into_inner();
        assert_eq!(answer.outcome(), api::Outcome::Contact, "{answer:?}");
        let met = answer.t_contact.unwrap();
        assert!(answer.t_free <= time + 1e-6 && time - 1e-6 <= met, "{time}: {answer:?}");
        assert!(answer.normal.is_some() && answer.point.is_some(), "{answer:?}");
        verify(&server, claim(&asked, &answer)).await.unwrap();
        let later = api::FindFirstContactResponse {
            t_free: answer.t_free + 0.01,
            t_contact: Some(met + 0.02),
            ..answer.clone()
        };
        verify(&server, claim(&asked, &later)).await.unwrap_err();
        if time > 0.0 {
            let smaller = api::FindFirstContactRequest { p: Some(at(ball(1e-3), ORIGIN)), ..asked };
            assert!(verify(&server, claim(&smaller, &answer)).await.is_err());
        }
    }
}
