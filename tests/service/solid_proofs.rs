//! Certificates of what is answered about polyhedra whose hulls meet: they are accepted as they
//! come, and refused when somebody has changed them or says them of something else.

use api::placed_body::Source;
use api::verify_certificate_request::Claim;
use api::{Outcome, UncertifiedReason, Verdict};
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tonic::Code;

use crate::polyhedra::{channel, keep, placed, register, with_channel};
use crate::server::{Server, body, check, cube, vector};

async fn verify(server: &Server, claim: Claim) -> api::VerifyCertificateResponse {
    let claim = api::VerifyCertificateRequest { claim: Some(claim) };
    server.queries().verify_certificate(claim).await.unwrap().into_inner()
}

pub(crate) fn of_collision(
    question: &api::CheckCollisionRequest,
    answer: &api::CheckCollisionResponse,
) -> Claim {
    let (question, answer) = (Some(question.clone()), Some(answer.clone()));
    Claim::Collision(api::CollisionClaim { question, answer })
}

pub(crate) fn of_motion(
    question: &api::FindFirstContactRequest,
    answer: &api::FindFirstContactResponse,
) -> Claim {
    let (question, answer) = (Some(question.clone()), Some(answer.clone()));
    Claim::FirstContact(api::FirstContactClaim { question, answer })
}

fn collision(p: api::PlacedBody, q: api::PlacedBody) -> api::CheckCollisionRequest {
    api::CheckCollisionRequest { p: Some(p), q: Some(q), ..Default::default() }
}

fn falling(x: f64, speed: f64) -> api::FindFirstContactRequest {
    let velocity = vector(0.0, -speed, 0.0);
    let kind = Some(api::motion::Kind::Linear(api::LinearMotion { velocity }));
    api::FindFirstContactRequest {
        p: Some(placed("channel", 0., 0.)),
        q: Some(placed("peg", x, 5.)),
        q_motion: Some(api::Motion { kind }),
        ..Default::default()
    }
}

fn solid(answer: &mut api::FindFirstContactResponse) -> &mut api::SolidMotionProof {
    answer.certificate.as_mut().unwrap().solid.as_mut().unwrap()
}

#[tokio::test]
async fn every_verdict_in_the_slot_comes_with_a_proof_of_it_and_of_no_other() {
    let (server, _) = with_channel().await;
    let mut client = server.queries();
    let mut all = Vec::new();
    for (x, y, expected) in [
        (1.25, 1.5, Verdict::Separated),
        (1.0, 1.5, Verdict::Touching),
        (1.25, 1.0, Verdict::Touching),
        (1.0, 1.0, Verdict::Touching),
        (1f64.next_down(), 1.5, Verdict::Overlapping),
        (0.25, 0.5, Verdict::Overlapping),
    ] {
        for is_turned in [false, true] {
            let (channel, peg) = (placed("channel", 0., 0.), placed("peg", x, y));
            let (p, q) = if is_turned { (peg, channel) } else { (channel, peg) };
            let question = collision(p, q);
            let answer = client.check_collision(question.clone()).await.unwrap().into_inner();
            assert_eq!((answer.verdict(), answer.uncertified), (expected, false), "{x} {y}");
            let judged = verify(&server, of_collision(&question, &answer)).await;
            assert!(judged.valid, "{x} {y}: {}", judged.refusal);
            all.push((question, answer));
        }
    }
    // No proof is one of anything that has another verdict, nor of the bodies exchanged.
    for (question, answer) in &all {
        for (other, truth) in &all {
            if truth.verdict() != answer.verdict() {
                assert!(!verify(&server, of_collision(other, answer)).await.valid);
                let mut lie = answer.clone();
                lie.verdict = truth.verdict;
                assert!(!verify(&server, of_collision(question, &lie)).await.valid);
            }
        }
        let swapped = api::CheckCollisionRequest {
            p: question.q.clone(),
            q: question.p.clone(),
            ..question.clone()
        };
        assert!(!verify(&server, of_collision(&swapped, answer)).await.valid, "{answer:?}");
    }
    judge_places(&server, &all).await;
    let options = Some(api::QueryOptions { omit_certificate: true, ..Default::default() });
    let brief = api::CheckCollisionRequest { options, ..all[0].0.clone() };
    let brief = client.check_collision(brief).await.unwrap().into_inner();
    assert_eq!((brief.uncertified, brief.certificate), (false, None));
}

/// Where bodies meet was accepted whatever was said of it.
async fn judge_places(
    server: &Server,
    all: &[(api::CheckCollisionRequest, api::CheckCollisionResponse)],
) {
    use api::face_contact::{PFace, QFace};
    let ask = async |question: &api::CheckCollisionRequest,
                     answer: &api::CheckCollisionResponse| {
        let claim = Some(of_collision(question, answer));
        server.queries().verify_certificate(api::VerifyCertificateRequest { claim }).await
    };
    let (mut tried, mut refused) = (0, 0);
    for (question, answer) in all {
        let Some(contact) = answer.face_contact else {
            let face_contact = all.iter().find_map(|(_, answer)| answer.face_contact);
            let lie = api::CheckCollisionResponse { face_contact, ..answer.clone() };
            let status = ask(question, &lie).await.unwrap_err();
            let field = "collision.answer.face_contact";
            check(&status, Code::InvalidArgument, "BAD_FIELD", field);
            continue;
        };
        // Some facets share a point with the one named, and others do not.
        for facet in 0..7 {
            let source = &question.p.as_ref().unwrap().source;
            let is_p = matches!(source, Some(Source::Alias(alias)) if alias == "peg");
            let mut other = contact;
            if is_p {
                other.p_face = Some(PFace::PFacet(facet));
            } else {
                other.q_face = Some(QFace::QFacet(facet));
            }
            let lie = api::CheckCollisionResponse { face_contact: Some(other), ..answer.clone() };
            let judged = ask(question, &lie).await.unwrap().into_inner();
            tried += 1;
            refused += usize::from(!judged.valid);
            assert_eq!(judged.valid, judged.refusal.is_empty());
            assert!(judged.valid || judged.refusal.starts_with("face_contact: "));
            assert!(facet < 6 || !judged.valid);
        }
        // Nothing of a body is inside one that it touches; of what overlaps, some facets are.
        let half = Some(api::FaceContact { p_face: None, ..contact });
        let lie = api::CheckCollisionResponse { face_contact: half, ..answer.clone() };
        let judged = ask(question, &lie).await.unwrap().into_inner();
        assert!(judged.valid || judged.refusal.starts_with("face_contact: "), "{judged:?}");
        assert!(!judged.valid || answer.verdict() == Verdict::Overlapping, "{judged:?}");
        let edge = Some(QFace::QEdge(api::EdgeEnds { from: 0, to: 1 }));
        let edge = Some(api::FaceContact { p_face: None, q_face: edge, ..contact });
        let lie = api::CheckCollisionResponse { face_contact: edge, ..answer.clone() };
        let status = ask(question, &lie).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", "collision.answer.face_contact");
    }
    assert!(refused > tried / 4 && refused < tried, "{refused} of {tried}");
}

#[tokio::test]
async fn a_fall_into_the_slot_is_proven_and_no_other_fall_by_its_proof() {
    let (server, _) = with_channel().await;
    let mut client = server.queries();
    let question = falling(1.25, 8.0);
    let answer = client.find_first_contact(question.clone()).await.unwrap().into_inner();
    assert_eq!((answer.outcome(), answer.t_contact), (Outcome::Contact, Some(0.5)));
    let judged = verify(&server, of_motion(&question, &answer)).await;
    assert!(judged.valid, "{}", judged.refusal);
    let short = falling(1.25, 3.5);
    let free = client.find_first_contact(short.clone()).await.unwrap().into_inner();
    assert_eq!(free.outcome(), Outcome::NoContact);
    let judged = verify(&server, of_motion(&short, &free)).await;
    assert!(judged.valid, "{}", judged.refusal);

    let refused = async |question: &api::FindFirstContactRequest,
                         tamper: &dyn Fn(&mut api::FindFirstContactResponse)| {
        let mut answer = answer.clone();
        tamper(&mut answer);
        let judged = verify(&server, of_motion(question, &answer)).await;
        assert!(!judged.valid);
        judged.refusal
    };
    // Times, faces, steps; the verdict at the start.
    let early = refused(&question, &|a| (a.t_free, a.t_contact) = (0.25, Some(0.375))).await;
    assert!(early.contains("faces"), "{early}");
    let late = refused(&question, &|a| (a.t_free, a.t_contact) = (0.75, Some(0.875))).await;
    assert!(!late.is_empty());
    let face = refused(&question, &|a| solid(a).contact.as_mut().unwrap().p = vec![0]).await;
    assert!(face.contains("faces"), "{face}");
    let face = refused(&question, &|a| solid(a).contact = None).await;
    assert!(face.contains("faces"), "{face}");
    for vertex in [1, 99] {
        let name = |a: &mut api::FindFirstContactResponse| {
            let p_face = Some(api::face_contact::PFace::PVertex(vertex));
            a.face_contact = Some(api::FaceContact { p_face, ..a.face_contact.unwrap() });
        };
        let place = refused(&question, &name).await;
        assert!(place.starts_with("face_contact: "), "{place}");
    }
    let step = refused(&question, &|a| drop(solid(a).free.as_mut().unwrap().steps.pop())).await;
    assert!(step.contains("cover"), "{step}");
    let start = refused(&question, &|a| a.set_initial_verdict(Verdict::Touching)).await;
    assert!(start.contains("another verdict"), "{start}");
    // Another fall: beside the slot, onto its wall, farther than free, with a margin; and the
    // bodies exchanged.
    assert!(!refused(&falling(0.25, 8.0), &|_| ()).await.is_empty());
    assert!(!refused(&falling(1.25, 9.0), &|_| ()).await.is_empty());
    let margin = api::FindFirstContactRequest { margin: 0.125, ..question.clone() };
    assert!(refused(&margin, &|_| ()).await.contains("vertex pairs"));
    let swapped = api::FindFirstContactRequest {
        p: question.q.clone(),
        q: question.p.clone(),
        p_motion: question.q_motion.clone(),
        q_motion: None,
        ..question.clone()
    };
    assert!(!refused(&swapped, &|_| ()).await.is_empty());
    assert!(!verify(&server, of_motion(&falling(1.25, 4.5), &free)).await.valid);

    // Contact at no time at all was taken for contact by the end of the step.
    let never = api::FindFirstContactResponse { t_contact: None, ..answer.clone() };
    let claim = api::VerifyCertificateRequest { claim: Some(of_motion(&question, &never)) };
    let status = client.verify_certificate(claim).await.unwrap_err();
    assert!(status.message().contains("first_contact.answer.t_contact"), "{}", status.message());

    // In contact at the start.
    let mut at_start = falling(1.25, 1.0);
    at_start.q = Some(placed("peg", 1.0, 1.5));
    let contact = client.find_first_contact(at_start.clone()).await.unwrap().into_inner();
    assert_eq!((contact.t_contact, contact.uncertified), (Some(0.0), false));
    let judged = verify(&server, of_motion(&at_start, &contact)).await;
    assert!(judged.valid, "{}", judged.refusal);
    let mut later = contact.clone();
    later.t_contact = Some(0.5);
    assert!(!verify(&server, of_motion(&at_start, &later)).await.valid);
    at_start.q = Some(placed("peg", 1.25, 1.5));
    assert!(!verify(&server, of_motion(&at_start, &contact)).await.valid);
}

#[tokio::test]
async fn an_answer_whose_proof_would_be_too_long_goes_without_and_says_why() {
    let server = Server::with_limits(Limits { cover_steps_max: 4, ..Limits::default() }).await;
    register(&server, keep("channel", channel())).await.unwrap();
    let peg: Vec<f64> =
        crate::server::cube().chunks(3).flat_map(|c| [c[0] * 0.5, c[1], c[2]]).collect();
    server.register("peg", &peg).await;
    let mut client = server.queries();
    let question = collision(placed("channel", 0., 0.), placed("peg", 1.25, 1.5));
    let answer = client.check_collision(question).await.unwrap().into_inner();
    assert_eq!((answer.verdict(), answer.certificate.as_ref()), (Verdict::Separated, None));
    assert!(answer.uncertified);
    assert_eq!(answer.uncertified_reason(), UncertifiedReason::TooLong);
    let answer = client.find_first_contact(falling(1.25, 8.0)).await.unwrap().into_inner();
    assert_eq!((answer.t_contact, answer.uncertified), (Some(0.5), true));
    assert_eq!(answer.uncertified_reason(), UncertifiedReason::TooLong);
}

/// What fills the slot from wall to wall comes there on no short straight way that is free. It went
/// without a proof; that no pieces overlap, and nothing is inside both, is one.
#[tokio::test]
async fn what_fills_a_slot_is_proven_to_touch_it_by_pieces() {
    let (server, _) = with_channel().await;
    let block: Vec<f64> = cube().chunks(3).flat_map(|c| [c[0], c[1] * 0.5, c[2]]).collect();
    server.register("block", &block).await;
    let mut client = server.queries();
    let ask = |x: f64| collision(placed("channel", 0., 0.), placed("block", x, 1.0));
    let question = ask(1.0);
    let answer = client.check_collision(question.clone()).await.unwrap().into_inner();
    assert_eq!((answer.verdict(), answer.uncertified), (Verdict::Touching, false));
    assert!(answer.face_contact.is_some());
    let Some(api::static_certificate::Proof::Solid(proof)) =
        answer.certificate.as_ref().and_then(|certificate| certificate.proof.as_ref())
    else {
        panic!("{answer:?}");
    };
    assert!(matches!(proof.proof, Some(api::solid_proof::Proof::TouchingPieces(_))), "{proof:?}");
    assert!(verify(&server, of_collision(&question, &answer)).await.valid);
    for x in [1f64.next_up(), 1f64.next_down(), 0.0, 3.0] {
        assert!(!verify(&server, of_collision(&ask(x), &answer)).await.valid, "{x}");
    }
}

/// Which of them is first the server knows exactly, but no certificate orders what is in one
/// bracket.
#[tokio::test]
async fn pairs_that_meet_in_the_same_bracket_as_the_first_are_named() {
    let server = Server::start().await;
    server.register("cube", &cube()).await;
    let moving = |x: f64, speed: f64| {
        let linear = api::LinearMotion { velocity: vector(speed, 0.0, 0.0) };
        let motion = Some(api::Motion { kind: Some(api::motion::Kind::Linear(linear)) });
        api::MovingBody { body: Some(body("cube", x)), motion }
    };
    let bodies = vec![moving(0.0, 0.0), moving(2.0, -4.0), moving(-3.0, 8.0), moving(9.0, 0.0)];
    let request = api::FindFirstCollisionRequest { bodies, options: None };
    let found = server.queries().find_first_collision(request).await.unwrap().into_inner();
    assert_eq!((found.p, found.q, found.t_contact), (Some(0), Some(1), Some(0.25)));
    assert_eq!(found.tied_pairs, [api::PlacePair { p: 0, q: 2 }]);
}

/// Beside a proof that no bodies meet, one of contact at t = 0 was taken for the whole proof and
/// the answer refused for it; one of contact later was overlooked. Neither belongs to no contact.
#[tokio::test]
async fn a_proof_of_contact_is_refused_where_no_bodies_meet() {
    let server = Server::start().await;
    server.register("cube", &cube()).await;
    let bodies = [0.0, 4.0].map(|x| api::MovingBody { body: Some(body("cube", x)), motion: None });
    let question = api::FindFirstCollisionRequest { bodies: bodies.to_vec(), options: None };
    let found = server.queries().find_first_collision(question.clone()).await.unwrap().into_inner();
    assert_eq!(found.outcome(), Outcome::NoContact);
    let claim = |answer: &api::FindFirstCollisionResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        Claim::FirstCollision(api::FirstCollisionClaim { question, answer })
    };
    assert!(verify(&server, claim(&found)).await.valid);
    let crossing = api::FacePair { p: vec![0, 1, 2], q: vec![0, 1, 2] };
    let proof = Some(api::solid_proof::Proof::Crossing(crossing));
    let proof = api::SolidProof { proof, margin_pairs: Vec::new() };
    let proof = Some(api::static_certificate::Proof::Solid(proof));
    let at_start = api::MotionCertificate {
        initial: Some(api::StaticCertificate { proof }),
        ..Default::default()
    };
    let solid = api::SolidMotionProof { free: Some(Default::default()), ..Default::default() };
    let later = api::MotionCertificate { solid: Some(solid), ..Default::default() };
    for contact in [at_start, later] {
        let mut answer = found.clone();
        answer.certificate.as_mut().unwrap().contact = Some(contact);
        let request = api::VerifyCertificateRequest { claim: Some(claim(&answer)) };
        let status = server.queries().verify_certificate(request).await.unwrap_err();
        let field = "first_collision.answer.certificate.contact";
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    }
}

/// The tetrahedron 0, x, y, z of this edge with its corner there, as a closed mesh.
fn tetrahedron(at: f64, edge: f64) -> api::Mesh {
    let mut xyz = vec![at; 12];
    for k in 0..3 {
        xyz[3 * (k + 1) + k] += edge;
    }
    let triangles = vec![0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    api::Mesh { vertices: Some(api::Points { xyz }), triangles }
}

/// One facet alone is named where one body is inside the other's material, and our own answers were
/// refused for it: 4,464 of 52,375 about solids.
#[tokio::test]
async fn a_facet_inside_the_other_body_is_judged_and_no_other_facet_passes_for_it() {
    use api::face_contact::{PFace, QFace};
    let server = Server::start().await;
    let mut client = server.queries();
    register(&server, keep("outer", tetrahedron(0.0, 8.0))).await.unwrap();
    register(&server, keep("inner", tetrahedron(1.0, 1.0))).await.unwrap();
    let points = tetrahedron(1.0, 1.0).vertices.unwrap().xyz;
    server.register("inner_hull", &points).await;
    server.register("outer_hull", &tetrahedron(0.0, 8.0).vertices.unwrap().xyz).await;
    let mut named = 0;
    for (outer, inner) in
        [("outer", "inner"), ("outer", "inner_hull"), ("outer_hull", "inner"), ("outer", "outer")]
    {
        for (x, is_turned) in [(0.0, false), (0.0, true), (-1.0, false), (-1.0, true)] {
            let two = [placed(outer, 0., 0.), placed(inner, x, 0.)];
            let [p, q] = if is_turned { [1, 0] } else { [0, 1] }.map(|k| two[k].clone());
            let question = collision(p.clone(), q.clone());
            let answer = client.check_collision(question.clone()).await.unwrap().into_inner();
            assert_eq!(answer.verdict(), Verdict::Overlapping);
            let judged = verify(&server, of_collision(&question, &answer)).await;
            assert!(judged.valid, "{outer} {inner} {x} {is_turned}: {}", judged.refusal);
            let motion = api::FindFirstContactRequest { p: Some(p), q: Some(q), ..falling(0., 1.) };
            let found = client.find_first_contact(motion.clone()).await.unwrap().into_inner();
            let judged = verify(&server, of_motion(&motion, &found)).await;
            assert!(judged.valid, "{outer} {inner} {x} {is_turned}: {}", judged.refusal);
            let contact = answer.face_contact.unwrap();
            if contact.p_face.is_some() == contact.q_face.is_some() {
                continue;
            }
            named += 1;
            // A facet of the outer body is not inside the inner one.
            let other = api::FaceContact {
                p_face: contact.p_face.is_none().then_some(PFace::PFacet(0)),
                q_face: contact.q_face.is_none().then_some(QFace::QFacet(0)),
                point: None,
            };
            for face_contact in
                [other, api::FaceContact { q_face: Some(QFace::QFacet(4)), ..other }]
            {
                let face_contact = Some(face_contact);
                let lie = api::CheckCollisionResponse { face_contact, ..answer.clone() };
                let judged = verify(&server, of_collision(&question, &lie)).await;
                assert!(judged.refusal.starts_with("face_contact: "), "{judged:?}");
            }
        }
    }
    assert_eq!(named, 6);
}
