//! How far apart and how deep sessions report bodies of several parts, judged.

use api::verify_certificate_request::Claim;
use clearance_proto as api;

use crate::compounds::{MARGIN, compound, parts, reports};
use crate::server::{vector, verify};
use crate::sessions::started;

fn distance(at: Option<api::Pose>, report: &api::PairReport) -> api::DistanceClaim {
    let [p, q] = parts();
    let question = api::MeasureDistanceRequest {
        p: compound(&p, None),
        q: compound(&q, at),
        margin: Some(MARGIN),
        ..Default::default()
    };
    let answer = api::MeasureDistanceResponse {
        verdict: report.verdict,
        distance: report.distance,
        within_margin: report.within_margin,
        certificate: report.distance_certificate.clone(),
        ..Default::default()
    };
    api::DistanceClaim { question: Some(question), answer: Some(answer) }
}

/// Distances of compounds were UNIMPLEMENTED to judge, and their certificates named pairs of the
/// nearest parts alone.
#[tokio::test]
async fn distances_of_compounds_are_proven_and_no_others_are() {
    let server = started().await;
    let (mut apart, mut by_boxes, mut of_rows) = (0, 0, 0);
    for ([_, at], report) in reports(&server).await {
        let claim = distance(at, &report);
        verify(&server, Claim::Distance(claim.clone())).await.unwrap();
        let tampered = |tamper: &dyn Fn(&mut api::MeasureDistanceResponse)| {
            let mut claim = claim.clone();
            tamper(claim.answer.as_mut().unwrap());
            verify(&server, Claim::Distance(claim))
        };
        let bracket = report.distance.unwrap();
        let stretched = |by: f64| {
            let bracket = api::Bracket { lower: bracket.lower + by, upper: bracket.upper + by };
            tampered(&move |answer| answer.distance = Some(bracket))
        };
        let width = bracket.upper - bracket.lower;
        let refusal = stretched(2.0 * width + 1e-9).await.unwrap_err();
        if report.verdict() != api::Verdict::Separated {
            assert!(refusal.contains("the bracket does not hold 0"), "{refusal}");
            continue;
        }
        assert!(refusal.starts_with("certificate.parts["), "{refusal}");
        let refusal = stretched(-2.0 * width - 1e-9).await.unwrap_err();
        assert!(refusal.contains("no entry shows the upper bound"), "{refusal}");
        let other = tampered(&|answer| answer.within_margin = report.within_margin.map(|w| !w));
        assert!(other.await.unwrap_err().starts_with("within_margin: "));
        let entries = &claim.answer.as_ref().unwrap().certificate.as_ref().unwrap().parts;
        assert!(!entries[0].pairs.is_empty());
        apart += 1;
        for (at, entry) in entries.iter().enumerate() {
            by_boxes += usize::from(entry.direction.is_some());
            of_rows += usize::from(entry.q_parts.len() > 1);
            let without = tampered(&|answer| {
                answer.certificate.as_mut().unwrap().parts.remove(at);
            });
            let refusal = without.await.unwrap_err();
            assert!(refusal.contains("no entry"), "{refusal}");
            let turned = tampered(&|answer| {
                let entry = &mut answer.certificate.as_mut().unwrap().parts[at];
                let form = api::direction::Form::Vector(vector(0.0, 0.0, 1.0).unwrap());
                entry.direction = Some(api::Direction { form: Some(form) });
                entry.pairs.clear();
            });
            turned.await.unwrap_err();
            let nobody = tampered(&|answer| {
                answer.certificate.as_mut().unwrap().parts[at].p_parts = vec![0, 0];
            });
            let refusal = nobody.await.unwrap_err();
            assert_eq!(refusal, format!("certificate.parts[{at}]: it names a part twice"));
        }
    }
    assert!(apart > 4 && by_boxes > 4 && of_rows > 0, "{apart} {by_boxes} {of_rows}");
}

/// Around 0 any two numbers passed, negative and infinite ones, too; and of a depth without a
/// surface a lower bound above the upper one, which is proven.
#[tokio::test]
async fn brackets_that_are_none_are_refused_whatever_is_shown() {
    let server = started().await;
    let none = [
        [-1.0, 0.0],
        [f64::NEG_INFINITY, 0.0],
        [0.0, f64::INFINITY],
        [0.0, f64::NAN],
        [f64::NAN, 0.0],
        [1e3, 10.0],
    ];
    let [mut in_contact, mut deep] = [0; 2];
    for ([_, at], report) in reports(&server).await {
        if report.verdict() == api::Verdict::Separated {
            continue;
        }
        in_contact += 1;
        let mut claim = distance(at.clone(), &report);
        let mut judged = async |lower, upper| {
            claim.answer.as_mut().unwrap().distance = Some(api::Bracket { lower, upper });
            verify(&server, Claim::Distance(claim.clone())).await
        };
        judged(0.0, 1.0).await.unwrap();
        for [lower, upper] in none {
            judged(lower, upper).await.unwrap_err();
        }
        if report.depth.is_none() {
            continue;
        }
        deep += 1;
        let mut claim = penetration(at, &report);
        claim.answer.as_mut().unwrap().certificate.as_mut().unwrap().surface = None;
        let mut judged = async |lower, upper| {
            claim.answer.as_mut().unwrap().depth = Some(api::Bracket { lower, upper });
            verify(&server, Claim::Penetration(claim.clone())).await
        };
        judged(0.0, 10.0).await.unwrap();
        for [lower, upper] in none {
            judged(lower, upper).await.unwrap_err();
        }
    }
    assert!(in_contact > 1 && deep > 1, "{in_contact} {deep}");
}

fn penetration(at: Option<api::Pose>, report: &api::PairReport) -> api::PenetrationClaim {
    let [p, q] = parts();
    let question = api::MeasurePenetrationRequest {
        p: compound(&p, None),
        q: compound(&q, at),
        ..Default::default()
    };
    let answer = api::MeasurePenetrationResponse {
        verdict: report.verdict,
        depth: report.depth,
        certificate: report.depth_certificate.clone(),
        ..Default::default()
    };
    api::PenetrationClaim { question: Some(question), answer: Some(answer) }
}

/// As were depths, of which nothing showed that no other parts overlap deeper.
#[tokio::test]
async fn depths_of_compounds_are_proven_and_no_others_are() {
    let server = started().await;
    let [mut deep, mut with_others] = [0; 2];
    for ([_, at], report) in reports(&server).await {
        let Some(bracket) = report.depth else { continue };
        let claim = penetration(at, &report);
        let tampered = |tamper: &dyn Fn(&mut api::MeasurePenetrationResponse)| {
            let mut claim = claim.clone();
            tamper(claim.answer.as_mut().unwrap());
            verify(&server, Claim::Penetration(claim))
        };
        tampered(&|_| ()).await.unwrap();
        deep += 1;
        let by = 2.0 * (bracket.upper - bracket.lower) + 1e-9;
        let above = api::Bracket { lower: bracket.lower + by, upper: bracket.upper + by };
        let refusal = tampered(&|answer| answer.depth = Some(above)).await.unwrap_err();
        assert!(refusal.contains("the surface comes closer than the lower bound"), "{refusal}");
        let below = api::Bracket { lower: 0.0, upper: bracket.upper - by };
        let refusal = tampered(&|answer| answer.depth = Some(below)).await.unwrap_err();
        assert!(refusal.contains("upper bound"), "{refusal}");
        let certificate = report.depth_certificate.as_ref().unwrap();
        for (at, entry) in certificate.parts.iter().enumerate() {
            with_others += 1;
            let without = tampered(&|answer| {
                answer.certificate.as_mut().unwrap().parts.remove(at);
            });
            let refusal = without.await.unwrap_err();
            let open = format!("part {} of P and part {} of Q", entry.p_parts[0], entry.q_parts[0]);
            assert_eq!(refusal, format!("no entry is about {open}"));
        }
        // Of another pair of parts neither the face nor the surface is.
        let other = tampered(&|answer| {
            let verdict = answer.certificate.as_mut().unwrap().verdict.as_mut().unwrap();
            let Some(api::static_certificate::Proof::Compound(compound)) = &mut verdict.proof
            else {
                panic!("{verdict:?}")
            };
            compound.entries[0].p_parts[0] ^= 1;
        });
        other.await.unwrap_err();
    }
    assert!(deep > 1 && with_others > 4, "{deep} {with_others}");
}
