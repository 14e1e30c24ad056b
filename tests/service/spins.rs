//! Bodies of sessions that say how they turned between two frames, and claims about that.

use api::verify_certificate_request::Claim;
use clearance_proto as api;
use tonic::Code;

use crate::compounds::compound;
use crate::server::{Server, body, vector, verify};
use crate::sessions::{all_pairs, started, step};

/// Turned by so much about the third axis.
fn turned(degrees: f64) -> Option<api::Pose> {
    let half = degrees.to_radians() / 2.0;
    let rotation = api::Quaternion { w: half.cos(), x: 0.0, y: 0.0, z: half.sin() };
    Some(api::Pose {
        translation: None,
        orientation: Some(api::pose::Orientation::Rotation(rotation)),
    })
}

/// A cube 2 m from the point that it turns about, and another one after 120 degrees.
fn arm() -> Vec<api::PlacedBody> {
    vec![body("cube", 2.0)]
}

fn post() -> api::PlacedBody {
    let at = 120_f64.to_radians();
    let pose =
        api::Pose { translation: vector(2.5 * at.cos(), 2.5 * at.sin(), 0.0), orientation: None };
    api::PlacedBody { pose: Some(pose), ..body("cube", 0.0) }
}

async fn opened(server: &Server) {
    let bodies = vec![
        api::Body { id: Some(1), parts: vec![post()], fixed: true, ..Default::default() },
        api::Body { id: Some(2), parts: arm(), ..Default::default() },
    ];
    let state = Some(api::SessionState { bodies, ..Default::default() });
    let open = api::OpenSessionRequest { session_id: "s".into(), state, ..Default::default() };
    server.sessions().open_session(open).await.unwrap();
}

fn spin(degrees: f64) -> Option<api::Vector3> {
    vector(0.0, 0.0, degrees.to_radians())
}

fn asked() -> Option<Box<api::ReportOptions>> {
    let report = all_pairs().unwrap();
    Some(Box::new(api::ReportOptions { certificates: true, first_contacts: true, ..report }))
}

#[tokio::test]
async fn a_turn_of_300_degrees_is_proven_by_its_spin_and_by_no_other_motion() {
    let server = started().await;
    opened(&server).await;
    let moved =
        api::BodyPose { id: Some(2), pose: turned(-60.0), spin: spin(300.0), ..Default::default() };
    let frame =
        api::Frame { frame_id: 1, poses: vec![moved], report: asked(), ..Default::default() };
    let told = step(&server, "s", vec![frame]).await.unwrap().remove(0);
    assert_eq!(told.events.len(), 2, "{told:?}");
    let found = told.pairs[0].first_contact.clone().unwrap();
    assert_eq!(found.outcome(), api::Outcome::Contact);
    let claim = |spin| {
        let to_pose = api::ToPoseMotion { end: turned(-60.0), pivot: None, spin };
        let question = api::FindFirstContactRequest {
            p: compound(&[post()], None),
            q: compound(&arm(), turned(0.0)),
            q_motion: Some(api::Motion { kind: Some(api::motion::Kind::ToPose(to_pose)) }),
            ..Default::default()
        };
        let answer = api::FindFirstContactResponse {
            outcome: found.outcome,
            t_free: found.t_free,
            t_contact: found.t_contact,
            certificate: found.certificate.clone(),
            ..Default::default()
        };
        Claim::FirstContact(api::FirstContactClaim {
            question: Some(question),
            answer: Some(answer),
        })
    };
    verify(&server, claim(spin(300.0))).await.unwrap();
    for other in [None, spin(-60.0), spin(301.0), spin(660.0)] {
        verify(&server, claim(other)).await.unwrap_err();
    }
}

#[tokio::test]
async fn packed_spins_are_those_of_nested_poses_and_three_zeros_say_nothing() {
    let server = started().await;
    opened(&server).await;
    let packed = |frame_id, degrees: f64, spins: Vec<f64>| {
        let half = degrees.to_radians() / 2.0;
        let poses = api::PackedPoses {
            ids: vec![2].into(),
            translations: vec![0.0; 3].into(),
            rotations: vec![half.cos(), 0.0, 0.0, half.sin()].into(),
            spins: spins.into(),
            ..Default::default()
        };
        api::Frame { frame_id, packed_poses: Some(poses), report: asked(), ..Default::default() }
    };
    let z = |degrees: f64| vec![0.0, 0.0, degrees.to_radians()];
    let frames = vec![
        packed(1, -60.0, z(300.0)),
        packed(2, 0.0, vec![0.0; 3]),
        packed(3, -60.0, Vec::new()),
        packed(4, 0.0, z(-300.0)),
        packed(5, 0.0, z(20.0)),
        packed(6, 0.0, vec![0.0; 2]),
    ];
    let told = step(&server, "s", frames).await.unwrap();
    let counts: Vec<usize> = told.iter().map(|report| report.events.len()).collect();
    assert_eq!(counts, [2, 0, 0, 2, 0, 0]);
    let refused = &told[4].refused_items[0];
    let (code, field) = (refused.code, refused.field.as_str());
    let invalid = i32::from(Code::InvalidArgument);
    assert_eq!((code, field), (invalid, "frames[4].packed_poses.spins[0]"));
    let status = told[5].status.as_ref().unwrap();
    assert_eq!((status.code, status.field.as_str()), (invalid, "frames[5].packed_poses.spins"));
}

#[tokio::test]
async fn a_spin_that_leads_elsewhere_is_refused_with_its_path() {
    let server = started().await;
    opened(&server).await;
    let moved = |id, spin, teleported| api::BodyPose {
        id: Some(id),
        pose: turned(100.0),
        spin,
        teleported,
        ..Default::default()
    };
    for (frame_id, one) in (1..).zip([
        moved(2, spin(101.0), false),
        moved(2, spin(100.0 + 360.0 * 65.0), false),
        moved(2, vector(f64::INFINITY, 0.0, 0.0), false),
        moved(2, spin(100.0), true),
    ]) {
        let frame = api::Frame { frame_id, poses: vec![one], ..Default::default() };
        let told = step(&server, "s", vec![frame]).await.unwrap().remove(0);
        let fields: Vec<&str> = told.refused_items.iter().map(|item| item.field.as_str()).collect();
        assert_eq!(fields, ["frames[0].poses[0].spin"], "{told:?}");
    }
}

/// Those who watch hear how a body turned as it was said, to the last bit, and of no other one.
#[tokio::test]
async fn spins_are_told_to_those_who_watch() {
    let server = started().await;
    opened(&server).await;
    let request = api::WatchSessionRequest { session_id: "s".into(), ..Default::default() };
    let mut news = server.sessions().watch_session(request).await.unwrap().into_inner();
    assert!(news.message().await.unwrap().unwrap().state.is_some());
    let moved = |id, degrees, spin, teleported| api::BodyPose {
        id: Some(id),
        pose: turned(degrees),
        spin,
        teleported,
        ..Default::default()
    };
    let z = |degrees: f64| vec![0.0, 0.0, degrees.to_radians()];
    let none = Vec::new;
    let frames = [
        (vec![moved(2, -60.0, spin(300.0), false)], z(300.0)),
        (vec![moved(2, 0.0, None, false)], none()),
        (
            vec![moved(1, 30.0, None, false), moved(2, 10.0, spin(370.0), false)],
            [vec![0.0; 3], z(370.0)].concat(),
        ),
        // Refused: it leads elsewhere.
        (vec![moved(2, 50.0, spin(41.0), false)], none()),
        // Put there: no motion is assumed.
        (vec![moved(2, 90.0, None, true)], none()),
        // Where it stands, once around.
        (vec![moved(2, 90.0, spin(-360.0), false)], z(-360.0)),
    ];
    for (frame_id, (poses, expected)) in (1..).zip(frames) {
        let frame = api::Frame { frame_id, poses, ..Default::default() };
        step(&server, "s", vec![frame]).await.unwrap();
        let told = news.message().await.unwrap().unwrap().frame.unwrap();
        let spins: Vec<f64> = told.packed_poses.unwrap().spins.iter().collect();
        let bits = |numbers: &[f64]| numbers.iter().map(|one| one.to_bits()).collect::<Vec<u64>>();
        assert_eq!(bits(&spins), bits(&expected), "frame {frame_id}");
    }
}
