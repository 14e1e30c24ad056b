//! First contacts with a margin below 0: when bodies are so deep in each other, by questions and by
//! casts.

use api::verify_certificate_request::Claim;
use clearance_proto as api;
use tonic::Code;

use crate::server::{body, check, vector};
use crate::sessions::{scene, started};

fn along_x(velocity: f64) -> Option<api::Motion> {
    let velocity = vector(velocity, 0.0, 0.0);
    Some(api::Motion { kind: Some(api::motion::Kind::Linear(api::LinearMotion { velocity })) })
}

fn question(margin: f64) -> api::FindFirstContactRequest {
    api::FindFirstContactRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("cube", 3.0)),
        q_motion: along_x(-4.0),
        margin,
        options: Some(api::QueryOptions::default()),
        ..Default::default()
    }
}

/// A margin below 0 was refused with its field.
#[tokio::test]
async fn a_first_contact_with_a_margin_below_zero_is_when_bodies_are_so_deep() {
    let server = started().await;
    let ask = async |margin: f64| {
        server.queries().find_first_contact(question(margin)).await.unwrap().into_inner()
    };
    for deep in [1e-3, 0.25, 0.75] {
        let answer = ask(-deep).await;
        assert_eq!(answer.outcome(), api::Outcome::Contact);
        let (met, time) = (answer.t_contact.unwrap(), (2.0 + deep) / 4.0);
        assert!(answer.t_free <= time && time <= met && met - answer.t_free <= 1e-9, "{answer:?}");
        assert_eq!(answer.initial_verdict(), api::Verdict::Separated);
        assert!(answer.certificate.is_none() && answer.uncertified);
        assert_eq!(answer.uncertified_reason(), api::UncertifiedReason::NoClaim);
    }
    assert_eq!(ask(-1.5).await.outcome(), api::Outcome::NoContact);
    // No proof speaks of it.
    let answer = Some(ask(-0.25).await);
    let claim = api::FirstContactClaim { question: Some(question(-0.25)), answer };
    let request = api::VerifyCertificateRequest { claim: Some(Claim::FirstContact(claim)) };
    let refused = server.queries().verify_certificate(request).await.unwrap_err();
    check(&refused, Code::InvalidArgument, "BAD_FIELD", "first_contact.question.margin");
    let none = api::FindFirstContactRequest { margin: f64::NAN, ..question(0.0) };
    let refused = server.queries().find_first_contact(none).await.unwrap_err();
    check(&refused, Code::InvalidArgument, "BAD_FIELD", "margin");
}

#[tokio::test]
async fn a_cast_with_a_margin_below_zero_goes_on_until_it_is_so_deep() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let ask = async |margin| {
        let cast = api::ShapeCast {
            body: Some(body("cube", 3.0)),
            motion: along_x(-4.0),
            margin,
            ..Default::default()
        };
        let kind = Some(api::scene_query::Kind::ShapeCast(cast));
        let queries = vec![api::SceneQuery { kind, ..Default::default() }];
        let session_id = "s".to_owned();
        let request = api::QuerySceneRequest { session_id, queries, ..Default::default() };
        server.sessions().query_scene(request).await.unwrap().into_inner().answers.remove(0)
    };
    let times = async |margin| ask(margin).await.hits.first().and_then(|hit| hit.time);
    let touching = times(0.0).await.unwrap();
    assert!(touching.lower <= 0.5 && 0.5 <= touching.upper);
    let deep = times(-0.25).await.unwrap();
    assert!(deep.lower <= 0.5625 && 0.5625 <= deep.upper && deep.upper - deep.lower <= 1e-9);
    assert_eq!(times(-1.25).await, None);
}
