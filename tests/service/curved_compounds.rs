//! What sessions report of bodies of several parts of which some are curved, judged.

use api::placed_body::Source;
use api::rounded_shape::Core;
use api::static_certificate::Proof;
use api::verify_certificate_request::Claim;
use clearance_proto as api;

use crate::compounds::{MARGIN, compound};
use crate::curved::{cone, cylinder};
use crate::server::{Server, vector};
use crate::sessions::{all_pairs, started, step};

fn part(core: Core, radius: f64, [x, y, z]: [f64; 3]) -> api::PlacedBody {
    let shape = api::RoundedShape { core: Some(core), radius, scale: None };
    let pose = Some(api::Pose { translation: vector(x, y, z), orientation: None });
    api::PlacedBody { source: Some(Source::Rounded(shape)), pose }
}

fn at(place: [f64; 3], turn: f64) -> Option<api::Pose> {
    let [x, y, z] = place;
    let rotation = api::Quaternion { w: 1.0, x: 0.2 * turn, y: -0.3 * turn, z: turn };
    let orientation = Some(api::pose::Orientation::Rotation(rotation));
    Some(api::Pose { translation: vector(x, y, z), orientation })
}

/// A hammer of a cylinder and a box, and a cone with a capsule above it.
fn parts() -> [Vec<api::PlacedBody>; 2] {
    let boxed = Core::Box(api::Vector3 { x: 1.0, y: 0.5, z: 0.5 });
    [
        vec![part(cylinder(0.125, 2.0), 0.0, [0.0; 3]), part(boxed, 0.0, [0.0, 0.0, 1.25])],
        vec![
            part(cone(0.5, 1.0), 0.05, [0.0; 3]),
            part(Core::Length(0.5), 0.125, [0.0, 0.0, 0.875]),
        ],
    ]
}

/// The reports of some frames, each with where the second body is.
async fn reports(server: &Server) -> Vec<(Option<api::Pose>, api::PairReport)> {
    let bodies = (1..).zip(parts()).map(|(id, parts)| api::Body {
        id: Some(id),
        parts,
        margin: if id == 1 { MARGIN } else { 0.0 },
        pose: if id == 1 { None } else { at([20.0, 0.0, 0.0], 0.0) },
        ..Default::default()
    });
    let state = Some(api::SessionState { bodies: bodies.collect(), ..Default::default() });
    let opening = api::OpenSessionRequest { session_id: "s".into(), state, ..Default::default() };
    server.sessions().open_session(opening).await.unwrap();
    let straight = [[9.0, 0.0, 0.0], [0.75, 0.0, 0.1], [0.7, 0.0, 1.0], [0.3, 0.0, 0.0]];
    let turned = [([1.0, 0.2, 0.1], 0.4), ([0.2, 0.6, 0.4], 0.9), ([-0.9, 0.3, 0.9], 0.5)];
    let unturned = straight.into_iter().map(|place| at(place, 0.0));
    let mut all = Vec::new();
    for (frame_id, pose) in (1..).zip(unturned.chain(turned.map(|(place, turn)| at(place, turn)))) {
        let report = api::ReportOptions {
            certificates: true,
            first_contacts: true,
            distances: true,
            depths: true,
            ..all_pairs().unwrap()
        };
        let poses = vec![api::BodyPose { id: Some(2), pose: pose.clone(), ..Default::default() }];
        let report = Some(Box::new(report));
        let frame = api::Frame { frame_id, poses, report, ..Default::default() };
        let mut told = step(server, "s", vec![frame]).await.unwrap().remove(0);
        all.push((pose, told.pairs.remove(0)));
    }
    all
}

fn collision(at: Option<api::Pose>, report: &api::PairReport) -> api::CollisionClaim {
    let [p, q] = parts();
    let question = api::CheckCollisionRequest {
        p: compound(&p, None),
        q: compound(&q, at),
        margin: Some(MARGIN),
        options: None,
    };
    let answer = api::CheckCollisionResponse {
        verdict: report.verdict,
        within_margin: report.within_margin,
        certificate: report.certificate.clone(),
        ..Default::default()
    };
    api::CollisionClaim { question: Some(question), answer: Some(answer) }
}

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

fn first_contact(
    [from, to]: [Option<api::Pose>; 2],
    report: &api::FirstContact,
) -> api::FirstContactClaim {
    let [p, q] = parts();
    let to_pose = api::ToPoseMotion { end: to, ..Default::default() };
    let question = api::FindFirstContactRequest {
        p: compound(&p, None),
        q: compound(&q, from),
        q_motion: Some(api::Motion { kind: Some(api::motion::Kind::ToPose(to_pose)) }),
        margin: MARGIN,
        ..Default::default()
    };
    let answer = api::FindFirstContactResponse {
        outcome: report.outcome,
        t_free: report.t_free,
        t_contact: report.t_contact,
        certificate: report.certificate.clone(),
        ..Default::default()
    };
    api::FirstContactClaim { question: Some(question), answer: Some(answer) }
}

/// What is said of a claim: nothing, or why it is refused, as one that is false or as one that is
/// none.
async fn verify(server: &Server, claim: Claim) -> Result<(), String> {
    let request = api::VerifyCertificateRequest { claim: Some(claim) };
    let reply = server.queries().verify_certificate(request).await;
    let reply = reply.map_err(|status| status.message().to_owned())?.into_inner();
    if reply.valid { Ok(()) } else { Err(reply.refusal) }
}

fn entries(claim: &mut api::CollisionClaim) -> &mut Vec<api::PartProof> {
    let certificate = claim.answer.as_mut().unwrap().certificate.as_mut().unwrap();
    match certificate.proof.as_mut().unwrap() {
        Proof::Compound(compound) => &mut compound.entries,
        other => panic!("{other:?}"),
    }
}

fn curved_of(entry: &mut api::PartProof) -> Option<&mut api::CurvedProof> {
    match entry.certificate.as_mut()?.proof.as_mut()? {
        Proof::Curved(curved) => Some(curved),
        _ => None,
    }
}

#[tokio::test]
async fn what_a_session_says_of_curved_parts_is_valid_and_what_was_tampered_with_is_not() {
    let server = started().await;
    let (mut seen, mut near, mut tampered) = ([0; 4], [0; 2], 0);
    for (at, report) in reports(&server).await {
        let claim = collision(at, &report);
        verify(&server, Claim::Collision(claim.clone())).await.unwrap();
        seen[report.verdict as usize] += 1;
        near[usize::from(report.within_margin == Some(true))] += 1;
        for verdict in [api::Verdict::Separated, api::Verdict::Touching, api::Verdict::Overlapping]
        {
            let mut other = claim.clone();
            other.answer.as_mut().unwrap().set_verdict(verdict);
            let judged = verify(&server, Claim::Collision(other)).await;
            assert_eq!(judged.is_ok(), verdict == report.verdict(), "{verdict:?}: {judged:?}");
        }
        let mut other = claim.clone();
        other.answer.as_mut().unwrap().within_margin = report.within_margin.map(|within| !within);
        assert!(verify(&server, Claim::Collision(other)).await.is_err());
        for k in 0..entries(&mut claim.clone()).len() {
            let changed = async |change: &dyn Fn(&mut Vec<api::PartProof>)| {
                let mut other = claim.clone();
                change(entries(&mut other));
                verify(&server, Claim::Collision(other)).await
            };
            assert!(changed(&|all| drop(all.remove(k))).await.is_err());
            assert!(changed(&|all| all[k].q_parts = vec![7]).await.is_err());
            assert!(changed(&|all| all[k].certificate = None).await.is_err());
            if curved_of(&mut entries(&mut claim.clone())[k]).is_none() {
                continue;
            }
            tampered += 1;
            let moved = |all: &mut Vec<api::PartProof>| {
                let proof = curved_of(&mut all[k]).unwrap();
                // What is around a body is not any more, and what is in it is not either.
                for hulls in proof.p.iter_mut().chain(&mut proof.q) {
                    let outer = hulls.outer.iter_mut().map(|points| (points, 0.5));
                    let inner = hulls.inner.iter_mut().map(|points| (points, 2.0));
                    for (points, by) in outer.chain(inner) {
                        points.xyz.iter_mut().for_each(|x| *x *= by);
                    }
                }
            };
            assert!(changed(&moved).await.is_err());
            let none = |all: &mut Vec<api::PartProof>| {
                let proof = curved_of(&mut all[k]).unwrap();
                (proof.outer, proof.inner) = (vec![], vec![]);
            };
            assert!(changed(&none).await.is_err());
        }
    }
    assert!(seen[1] > 2 && seen[3] > 1 && near.iter().all(|count| *count > 0), "{seen:?} {near:?}");
    assert!(tampered > 5, "{tampered}");
}

/// Distances of compounds with curved parts were UNIMPLEMENTED to judge, and had no certificates.
#[tokio::test]
async fn distances_of_curved_parts_are_proven_and_no_others_are() {
    let server = started().await;
    let (mut apart, mut touched) = (0, 0);
    for (at, report) in reports(&server).await {
        let claim = distance(at, &report);
        verify(&server, Claim::Distance(claim.clone())).await.unwrap();
        let bracket = report.distance.unwrap();
        let stretched = |by: f64| {
            let mut claim = claim.clone();
            let bracket = api::Bracket { lower: bracket.lower + by, upper: bracket.upper + by };
            claim.answer.as_mut().unwrap().distance = Some(bracket);
            verify(&server, Claim::Distance(claim))
        };
        let by = 2.0 * (bracket.upper - bracket.lower) + 1e-9;
        stretched(by).await.unwrap_err();
        if report.verdict() != api::Verdict::Separated {
            touched += 1;
            continue;
        }
        apart += 1;
        let refusal = stretched(-by).await.unwrap_err();
        assert!(refusal.contains("no entry shows the upper bound"), "{refusal}");
        let mut other = claim.clone();
        let answer = other.answer.as_mut().unwrap();
        answer.within_margin = report.within_margin.map(|within| !within);
        verify(&server, Claim::Distance(other)).await.unwrap_err();
        let count = match claim.answer.as_ref().unwrap().certificate.as_ref().unwrap() {
            api::DistanceCertificate { verdict: Some(verdict), .. } => match &verdict.proof {
                Some(Proof::Compound(compound)) => compound.entries.len(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        for k in 0..count {
            let mut other = claim.clone();
            let certificate = other.answer.as_mut().unwrap().certificate.as_mut().unwrap();
            let Some(Proof::Compound(compound)) =
                certificate.verdict.as_mut().unwrap().proof.as_mut()
            else {
                panic!()
            };
            let Some(curved) = curved_of(&mut compound.entries[k]) else { continue };
            curved.outer[0].bracket.as_mut().unwrap().lower += by;
            verify(&server, Claim::Distance(other)).await.unwrap_err();
        }
    }
    assert!(apart > 2 && touched > 0, "{apart} {touched}");
}

#[tokio::test]
async fn depths_of_curved_parts_are_proven_and_no_others_are() {
    let server = started().await;
    let mut deep = 0;
    for (at, report) in reports(&server).await {
        let Some(bracket) = report.depth else { continue };
        let claim = penetration(at, &report);
        verify(&server, Claim::Penetration(claim.clone())).await.unwrap();
        deep += 1;
        let by = 2.0 * (bracket.upper - bracket.lower) + 1e-9;
        for [lower, upper] in [[bracket.lower + by, bracket.upper + by], [0.0, bracket.upper - by]]
        {
            let mut other = claim.clone();
            other.answer.as_mut().unwrap().depth = Some(api::Bracket { lower, upper });
            verify(&server, Claim::Penetration(other)).await.unwrap_err();
        }
        let mut other = claim.clone();
        let certificate = other.answer.as_mut().unwrap().certificate.as_mut().unwrap();
        let Some(Proof::Compound(compound)) = certificate.verdict.as_mut().unwrap().proof.as_mut()
        else {
            panic!()
        };
        compound.entries.pop();
        verify(&server, Claim::Penetration(other)).await.unwrap_err();
    }
    assert!(deep > 1, "{deep}");
}

#[tokio::test]
async fn first_contacts_of_curved_parts_are_proven_and_no_others_are() {
    let server = started().await;
    let mut from = at([20.0, 0.0, 0.0], 0.0);
    let mut seen = [0; 4];
    for (to, report) in reports(&server).await {
        let way = [std::mem::replace(&mut from, to.clone()), to];
        let Some(found) = &report.first_contact else { continue };
        let claim = first_contact(way, found);
        verify(&server, Claim::FirstContact(claim.clone())).await.unwrap();
        seen[found.outcome as usize] += 1;
        let tampered = |tamper: &dyn Fn(&mut api::FindFirstContactResponse)| {
            let mut claim = claim.clone();
            tamper(claim.answer.as_mut().unwrap());
            verify(&server, Claim::FirstContact(claim))
        };
        let fewer = tampered(&|answer| {
            let parts = &mut answer.certificate.as_mut().unwrap().parts;
            parts.clear();
        });
        fewer.await.unwrap_err();
        if found.outcome() != api::Outcome::Contact {
            let claimed = tampered(&|answer| {
                answer.set_outcome(api::Outcome::Contact);
                answer.t_contact = Some(1.0);
            });
            claimed.await.unwrap_err();
            continue;
        }
        let denied = tampered(&|answer| {
            answer.set_outcome(api::Outcome::NoContact);
            (answer.t_free, answer.t_contact) = (1.0, None);
        });
        denied.await.unwrap_err();
        if found.t_free > 0.0 {
            tampered(&|answer| answer.t_contact = Some(answer.t_free)).await.unwrap_err();
            let late = tampered(&|answer| answer.t_free = answer.t_contact.unwrap());
            late.await.unwrap_err();
        }
    }
    assert!(seen[1] > 1 && seen[1] + seen[2] > 4, "{seen:?}");
}

/// A proof of the coarse polytope around a part is none of the part.
#[tokio::test]
async fn proofs_of_other_kinds_and_other_claims_about_curved_parts_are_refused() {
    let server = started().await;
    let [p, q] = parts();
    let question = api::CheckCollisionRequest {
        p: compound(&p, None),
        q: compound(&q, at([9.0, 0.0, 0.0], 0.0)),
        ..Default::default()
    };
    let direction = Some(api::Direction {
        form: Some(api::direction::Form::Vector(vector(1.0, 0.0, 0.0).unwrap())),
    });
    let certificate = Some(api::StaticCertificate {
        proof: Some(Proof::Separated(api::SeparatedProof { direction, ..Default::default() })),
    });
    let entry = api::PartProof { p_parts: vec![0, 1], q_parts: vec![0, 1], certificate };
    let proof = Proof::Compound(api::CompoundProof { entries: vec![entry] });
    let answer = api::CheckCollisionResponse {
        verdict: api::Verdict::Separated.into(),
        certificate: Some(api::StaticCertificate { proof: Some(proof) }),
        ..Default::default()
    };
    let claim = api::CollisionClaim { question: Some(question), answer: Some(answer) };
    let refused = verify(&server, Claim::Collision(claim)).await.unwrap_err();
    assert!(refused.contains("one of the parts is curved"), "{refused}");
    let question = api::MeasureDistanceRequest {
        p: compound(&p, None),
        q: compound(&q, None),
        ..Default::default()
    };
    // A direction between the polytopes around curved parts is none between these.
    let direction = Some(api::Direction {
        form: Some(api::direction::Form::Vector(vector(1.0, 0.0, 0.0).unwrap())),
    });
    let part = api::PartDistanceProof {
        p_parts: vec![0, 1],
        q_parts: vec![0, 1],
        direction,
        ..Default::default()
    };
    let answer = api::MeasureDistanceResponse {
        verdict: api::Verdict::Separated.into(),
        distance: Some(api::Bracket { lower: 1.0, upper: 1.0 }),
        certificate: Some(api::DistanceCertificate { parts: vec![part], ..Default::default() }),
        ..Default::default()
    };
    let claim = api::DistanceClaim { question: Some(question), answer: Some(answer) };
    verify(&server, Claim::Distance(claim)).await.unwrap_err();
}
