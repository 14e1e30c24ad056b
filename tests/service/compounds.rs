//! What sessions report of bodies of several parts, judged as an answer of its own.

use api::verify_certificate_request::Claim;
use clearance_proto as api;
use tonic::Code;

use crate::server::{Server, body, check, vector, verify};
use crate::sessions::{all_pairs, started, step};

pub(crate) const MARGIN: f64 = 0.25;

fn pose(at: [f64; 3], turn: f64) -> Option<api::Pose> {
    let [x, y, z] = at;
    let rotation = api::Quaternion { w: 1.0, x: 0.2 * turn, y: -0.3 * turn, z: turn };
    Some(api::Pose {
        translation: vector(x, y, z),
        orientation: Some(api::pose::Orientation::Rotation(rotation)),
    })
}

fn part(at: [f64; 3], turn: f64) -> api::PlacedBody {
    api::PlacedBody { pose: pose(at, turn), ..body("cube", 0.0) }
}

/// Two cubes with a gap that a cube fits through; and two that are held apart behind each other.
pub(crate) fn parts() -> [Vec<api::PlacedBody>; 2] {
    [
        vec![part([0.0, 0.0, 0.0], 0.0), part([0.0, 2.5, 0.0], 0.0)],
        vec![part([0.0, 0.0, 0.0], 0.0), part([1.5, 0.5, 0.0], 0.1)],
    ]
}

pub(crate) fn compound(
    parts: &[api::PlacedBody],
    pose: Option<api::Pose>,
) -> Option<api::PlacedBody> {
    let parts = parts.to_vec();
    let source = Some(api::placed_body::Source::Compound(api::Compound { parts }));
    Some(api::PlacedBody { source, pose })
}

/// Where the second body is in each frame: it passes by, touches a face, goes in and through the
/// gap.
fn way() -> Vec<Option<api::Pose>> {
    let straight = [[9.0, 0.0, 0.0], [1.5, 0.0, 0.0], [1.2, 0.0, 0.0], [1.0, 0.0, 0.0]];
    let through = [[0.5, 0.0, 0.0], [3.0, 1.1, 0.0], [-6.0, 1.1, 0.0], [-6.0, 9.0, 0.0]];
    let turned = [([4.0, 1.0, 0.2], 0.4), ([1.3, 0.6, 0.1], 0.9), ([-4.0, 0.3, 0.2], 0.5)];
    let unturned = straight.into_iter().chain(through).map(|at| pose(at, 0.0));
    unturned.chain(turned.map(|(at, turn)| pose(at, turn))).collect()
}

/// The reports of all frames, each with the poses before and at it.
pub(crate) async fn reports(server: &Server) -> Vec<([Option<api::Pose>; 2], api::PairReport)> {
    reports_within(server, None).await
}

/// The same with so many steps for each frame.
async fn reports_within(
    server: &Server,
    steps: Option<u64>,
) -> Vec<([Option<api::Pose>; 2], api::PairReport)> {
    let bodies = (1..).zip(parts()).map(|(id, parts)| api::Body {
        id: Some(id),
        parts,
        margin: if id == 1 { MARGIN } else { 0.0 },
        pose: if id == 1 { None } else { pose([20.0, 0.0, 0.0], 0.0) },
        ..Default::default()
    });
    let state = Some(api::SessionState { bodies: bodies.collect(), ..Default::default() });
    let budget = steps.map(|steps| api::Budget { steps: Some(steps), time: None });
    let open = api::OpenSessionRequest {
        session_id: "s".into(),
        state,
        budget,
        replace: true,
        ..Default::default()
    };
    server.sessions().open_session(open).await.unwrap();
    let mut before = pose([20.0, 0.0, 0.0], 0.0);
    let mut all = Vec::new();
    for (frame_id, at) in (1..).zip(way()) {
        let report = api::ReportOptions {
            certificates: true,
            first_contacts: true,
            distances: true,
            depths: true,
            ..all_pairs().unwrap()
        };
        let poses = vec![api::BodyPose { id: Some(2), pose: at.clone(), ..Default::default() }];
        let frame =
            api::Frame { frame_id, poses, report: Some(Box::new(report)), ..Default::default() };
        let mut told = step(server, "s", vec![frame]).await.unwrap().remove(0);
        all.push(([before, at.clone()], told.pairs.remove(0)));
        before = at;
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

fn entries(answer: &mut api::CheckCollisionResponse) -> &mut Vec<api::PartProof> {
    match answer.certificate.as_mut().unwrap().proof.as_mut().unwrap() {
        api::static_certificate::Proof::Compound(compound) => &mut compound.entries,
        other => panic!("{other:?}"),
    }
}

/// Such reports were UNIMPLEMENTED to judge.
#[tokio::test]
async fn what_a_session_says_of_compounds_is_valid_and_what_was_tampered_with_is_not() {
    let server = started().await;
    let mut seen = [0; 4];
    for ([_, at], report) in reports(&server).await {
        let claim = collision(at, &report);
        verify(&server, Claim::Collision(claim.clone())).await.unwrap();
        seen[report.verdict as usize] += 1;
        let tampered = |tamper: &dyn Fn(&mut api::CheckCollisionResponse)| {
            let mut claim = claim.clone();
            tamper(claim.answer.as_mut().unwrap());
            verify(&server, Claim::Collision(claim))
        };
        for verdict in [api::Verdict::Separated, api::Verdict::Touching, api::Verdict::Overlapping]
        {
            let is_true = verdict == report.verdict();
            let judged = tampered(&|answer| answer.set_verdict(verdict)).await;
            assert_eq!(judged.is_ok(), is_true, "{verdict:?}: {judged:?}");
        }
        let other = tampered(&|answer| answer.within_margin = report.within_margin.map(|w| !w));
        let refusal = other.await.unwrap_err();
        assert!(refusal.starts_with("within_margin: "), "{refusal}");
        let nobody = tampered(&|answer| entries(answer)[0].q_parts = vec![7]).await.unwrap_err();
        let why = "certificate.compound.entries[0]: it names a part that does not exist";
        assert_eq!(nobody, why);
        if report.verdict() == api::Verdict::Overlapping {
            continue;
        }
        let fewer = tampered(&|answer| drop(entries(answer).pop())).await.unwrap_err();
        assert!(fewer.contains("no entry") || fewer.contains("another verdict"), "{fewer}");
        let last = entries(&mut claim.answer.clone().unwrap()).len() - 1;
        let turned = tampered(&|answer| {
            use api::static_certificate::Proof;
            let entry = &mut entries(answer)[last];
            let proof = entry.certificate.as_mut().unwrap().proof.as_mut().unwrap();
            let direction = match proof {
                Proof::Separated(separated) => &mut separated.direction,
                Proof::Touching(touching) => &mut touching.direction,
                other => panic!("{other:?}"),
            };
            let vector = vector(0.0, 0.0, 1.0).unwrap();
            *direction = Some(api::Direction { form: Some(api::direction::Form::Vector(vector)) });
        });
        let refusal = turned.await.unwrap_err();
        assert!(
            refusal.starts_with(&format!("certificate.compound.entries[{last}]: ")),
            "{refusal}"
        );
    }
    assert!(seen[1] > 2 && seen[2] > 0 && seen[3] > 0, "{seen:?}");
}

fn first_contact(
    way: [Option<api::Pose>; 2],
    report: &api::FirstContact,
) -> api::FirstContactClaim {
    let [p, q] = parts();
    let [from, to] = way;
    let to_pose = api::ToPoseMotion { end: to, pivot: None, spin: None };
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

#[tokio::test]
async fn what_a_session_says_of_compounds_on_their_way_is_valid_and_nothing_else_is() {
    let server = started().await;
    let mut seen = [0; 4];
    for (way, report) in reports(&server).await {
        let Some(report) = &report.first_contact else { continue };
        let claim = first_contact(way, report);
        verify(&server, Claim::FirstContact(claim.clone())).await.unwrap();
        seen[report.outcome as usize] += 1;
        let tampered = |tamper: &dyn Fn(&mut api::FindFirstContactResponse)| {
            let mut claim = claim.clone();
            tamper(claim.answer.as_mut().unwrap());
            verify(&server, Claim::FirstContact(claim))
        };
        if report.outcome() == api::Outcome::Contact {
            let denied = tampered(&|answer| {
                answer.set_outcome(api::Outcome::NoContact);
                (answer.t_free, answer.t_contact) = (1.0, None);
            });
            denied.await.unwrap_err();
            if report.t_free > 0.0 {
                let refusal = tampered(&|answer| answer.t_contact = Some(answer.t_free)).await;
                let refusal = refusal.unwrap_err();
                assert!(refusal.starts_with("certificate.parts["), "{refusal}");
                let initial =
                    tampered(&|answer| answer.set_initial_verdict(api::Verdict::Touching));
                let refusal = initial.await.unwrap_err();
                assert!(refusal.starts_with("initial_verdict: "), "{refusal}");
                let initial =
                    tampered(&|answer| answer.set_initial_verdict(api::Verdict::Separated));
                initial.await.unwrap();
            }
        } else {
            let claimed = tampered(&|answer| {
                answer.set_outcome(api::Outcome::Contact);
                answer.t_contact = Some(1.0);
            });
            let refusal = claimed.await.unwrap_err();
            assert!(refusal.contains("no entry shows the contact"), "{refusal}");
            let fewer = tampered(&|answer| {
                answer.certificate.as_mut().unwrap().parts.last_mut().unwrap().p_parts.pop();
            });
            let refusal = fewer.await.unwrap_err();
            assert!(refusal.contains("no entry is about part"), "{refusal}");
        }
    }
    assert!(seen[1] > 2 && seen[2] > 1, "{seen:?}");
}

/// Nothing is known of parts that the budget left no look at, and the judge asked for a proof of
/// these, too.
#[tokio::test]
async fn a_first_contact_that_was_stopped_is_judged_by_what_it_claims() {
    let server = started().await;
    let [mut open, mut met, mut unproven] = [0; 3];
    for steps in 0..40 {
        for (way, report) in reports_within(&server, Some(steps)).await {
            let Some(report) = &report.first_contact else { continue };
            let is_empty = report.certificate.as_ref().unwrap().parts.is_empty();
            let has_stopped = report.stopped() != api::Stopped::Unspecified;
            if is_empty || !has_stopped {
                continue;
            }
            let mut claim = first_contact(way, report);
            claim.answer.as_mut().unwrap().stopped = report.stopped;
            verify(&server, Claim::FirstContact(claim.clone())).await.unwrap();
            if report.t_free > 0.0 {
                continue;
            }
            open += 1;
            met += usize::from(report.outcome() == api::Outcome::Contact);
            let answer = claim.answer.as_mut().unwrap();
            answer.set_stopped(api::Stopped::Unspecified);
            let judged = verify(&server, Claim::FirstContact(claim.clone())).await;
            unproven += usize::from(judged.is_err());
            let answer = claim.answer.as_mut().unwrap();
            answer.stopped = report.stopped;
            answer.t_free = f64::from_bits(1);
            answer.set_outcome(api::Outcome::Undecided);
            verify(&server, Claim::FirstContact(claim)).await.unwrap_err();
        }
    }
    assert!(open > 5 && met > 0 && unproven > 5, "{open} {met} {unproven}");
}

/// Entries that named two parts again and again were ticked off pair by pair: a message of a
/// hundred kilobytes took the judge minutes, long after its caller had gone.
#[tokio::test]
async fn an_entry_that_names_a_part_twice_is_refused() {
    let server = started().await;
    let (way, report) = reports(&server).await.remove(0);
    let again = || [vec![0; 100], vec![1]].concat();
    let mut claim = collision(way[1].clone(), &report);
    let entry = &mut entries(claim.answer.as_mut().unwrap())[0];
    assert_eq!((entry.p_parts.len(), entry.q_parts.len()), (2, 2));
    (entry.p_parts, entry.q_parts) = (again(), again());
    let refusal = verify(&server, Claim::Collision(claim)).await.unwrap_err();
    assert_eq!(refusal, "certificate.compound.entries[0]: it names a part twice");
    let mut claim = first_contact(way, report.first_contact.as_ref().unwrap());
    let parts = &mut claim.answer.as_mut().unwrap().certificate.as_mut().unwrap().parts;
    parts[0].q_parts.push(0);
    let refusal = verify(&server, Claim::FirstContact(claim)).await.unwrap_err();
    assert_eq!(refusal, "certificate.parts[0]: it names a part twice");
}

/// Of contact at t = 0 one entry was judged, and anything could stand in the others.
#[tokio::test]
async fn every_entry_of_a_contact_at_the_start_is_judged() {
    let server = started().await;
    let is_at_start = |report: &api::FirstContact| report.t_contact == Some(0.0);
    let mut seen = 0;
    for (way, report) in reports(&server).await {
        let Some(report) = report.first_contact.filter(is_at_start) else { continue };
        seen += 1;
        let mut claim = first_contact(way, &report);
        let parts = &mut claim.answer.as_mut().unwrap().certificate.as_mut().unwrap().parts;
        let form = Some(api::direction::Form::Vector(vector(0.0, 0.0, 1.0).unwrap()));
        let separated =
            api::SeparatedProof { direction: Some(api::Direction { form }), margin_pairs: vec![] };
        let proof = Some(api::static_certificate::Proof::Separated(separated));
        let initial = Some(api::StaticCertificate { proof });
        parts.push(api::PartMotionProof {
            p_parts: vec![0],
            q_parts: vec![0],
            certificate: Some(api::MotionCertificate { initial, ..Default::default() }),
        });
        let path = format!("certificate.parts[{}]: ", parts.len() - 1);
        let refusal = verify(&server, Claim::FirstContact(claim)).await.unwrap_err();
        assert!(refusal.starts_with(&path), "{refusal}");
    }
    assert!(seen > 0);
}

/// That a start is in contact was taken as part of a claim that a search which was stopped knows
/// nothing.
#[tokio::test]
async fn a_start_in_contact_is_no_start_of_which_nothing_is_known() {
    let server = started().await;
    let is_touching = |part: &api::PartMotionProof| {
        let initial = part.certificate.as_ref().unwrap().initial.as_ref();
        let proof = initial.and_then(|initial| initial.proof.as_ref());
        proof.is_some_and(|proof| !matches!(proof, api::static_certificate::Proof::Separated(_)))
    };
    let mut seen = 0;
    for (way, report) in reports(&server).await {
        let Some(report) = report.first_contact else { continue };
        if !report.certificate.as_ref().unwrap().parts.iter().any(is_touching) {
            continue;
        }
        seen += 1;
        let mut claim = first_contact(way, &report);
        let answer = claim.answer.as_mut().unwrap();
        answer.set_stopped(api::Stopped::Steps);
        verify(&server, Claim::FirstContact(claim.clone())).await.unwrap();
        for (outcome, t_contact) in
            [(api::Outcome::Undecided, None), (api::Outcome::Contact, Some(0.5))]
        {
            let answer = claim.answer.as_mut().unwrap();
            (answer.outcome, answer.t_contact) = (outcome.into(), t_contact);
            let refusal = verify(&server, Claim::FirstContact(claim.clone())).await.unwrap_err();
            assert!(refusal.contains("in contact at t = 0"), "{refusal}");
        }
    }
    assert!(seen > 0);
}

/// No certificate of parts says which faces meet, and claims that said so passed unseen.
#[tokio::test]
async fn faces_that_are_said_to_meet_of_compounds_are_refused() {
    let server = started().await;
    let (way, report) = reports(&server).await.remove(1);
    let faces = || Some(api::FaceContact::default());
    let mut client = server.queries();
    let mut refused = async |claim| {
        let request = api::VerifyCertificateRequest { claim: Some(claim) };
        client.verify_certificate(request).await.unwrap_err()
    };
    let mut claim = collision(way[1].clone(), &report);
    claim.answer.as_mut().unwrap().face_contact = faces();
    let status = refused(Claim::Collision(claim)).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "collision.answer.face_contact");
    let mut claim = first_contact(way, report.first_contact.as_ref().unwrap());
    claim.answer.as_mut().unwrap().face_contact = faces();
    let status = refused(Claim::FirstContact(claim)).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "first_contact.answer.face_contact");
}

#[tokio::test]
async fn a_claim_about_compounds_that_is_wrong_is_refused_with_its_path() {
    let server = started().await;
    let ([_, at], report) = reports(&server).await.remove(1);
    let refused = |tamper: &dyn Fn(&mut api::CollisionClaim)| {
        let mut claim = collision(at.clone(), &report);
        tamper(&mut claim);
        let request = api::VerifyCertificateRequest { claim: Some(Claim::Collision(claim)) };
        let mut client = server.queries();
        async move { client.verify_certificate(request).await.unwrap_err() }
    };
    let status = refused(&|claim| {
        entries(claim.answer.as_mut().unwrap())[0].certificate = None;
    });
    let field = "collision.answer.certificate.compound.entries[0].certificate";
    check(&status.await, Code::InvalidArgument, "BAD_FIELD", field);
    let status = refused(&|claim| {
        claim.question.as_mut().unwrap().p = compound(&[], None);
    });
    let field = "collision.question.p.compound.parts";
    check(&status.await, Code::InvalidArgument, "BAD_FIELD", field);
    let status = refused(&|claim| {
        let inner = compound(&parts()[0], None).unwrap();
        claim.question.as_mut().unwrap().q = compound(&[inner], None);
    });
    let field = "collision.question.q.compound.parts[0].compound";
    check(&status.await, Code::Unimplemented, "NOT_IMPLEMENTED", field);
    // Of bodies of one part each there is nothing to list.
    let status = refused(&|claim| {
        let question = claim.question.as_mut().unwrap();
        (question.p, question.q) = (Some(body("cube", 0.0)), Some(body("cube", 3.0)));
    });
    let field = "collision.answer.certificate.compound";
    check(&status.await, Code::InvalidArgument, "BAD_FIELD", field);
}
