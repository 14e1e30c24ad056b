//! The client crate against a real server: what it verifies, and what it goes on with.

use std::time::Duration;

use clearance_client::{Client, ConnectOptions, Session, api};

use super::server::{Server, soon};

fn corners() -> Vec<[f64; 3]> {
    (0..8).map(|i| [0, 1, 2].map(|axis| f64::from(i >> axis & 1))).collect()
}

fn at(x: f64) -> api::Pose {
    api::Pose { translation: Some(api::Vector3 { x, y: 0.5, z: 0.0 }), orientation: None }
}

/// A cart in front of a wall.
async fn opened(client: &Client) -> Session {
    let cube = client.register_points(&corners()).await.unwrap();
    let wall = api::Body { fixed: true, ..cube.body(1, at(0.0)) };
    let bodies = vec![wall, cube.body(2, at(4.0))];
    let report = api::ReportOptions {
        pairs: api::PairSelection::All.into(),
        distances: true,
        certificates: true,
        ..Default::default()
    };
    let request = api::OpenSessionRequest {
        state: Some(api::SessionState { bodies, ..Default::default() }),
        report: Some(report),
        ..Default::default()
    };
    Session::open(client, request).await.unwrap()
}

fn moved(x: f64) -> api::Frame {
    let pose = api::BodyPose { id: Some(2), pose: Some(at(x)), ..Default::default() };
    api::Frame { poses: vec![pose], ..Default::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_verified_by_the_client_and_tampered_ones_refused() {
    let server = Server::start().await;
    let client = Client::connect(&format!("http://{}", server.address)).await.unwrap();
    let cube = client.register_points(&corners()).await.unwrap();
    for x in [1.5, 1.0, 0.5] {
        let question = api::CheckCollisionRequest {
            p: Some(cube.at([0.0; 3])),
            q: Some(cube.at([x, 0.25, 0.0])),
            ..Default::default()
        };
        let mut answer = client.check_collision(question.clone()).await.unwrap();
        client.verify(&question, &answer).unwrap();
        answer.set_verdict(match answer.verdict() {
            api::Verdict::Separated => api::Verdict::Overlapping,
            _ => api::Verdict::Separated,
        });
        assert!(client.verify(&question, &answer).is_err());
    }
}

/// A registered cube beside balls, capsules and curved bodies, by their sizes and by their ids.
#[tokio::test(flavor = "multi_thread")]
async fn answers_about_rounded_and_curved_bodies_are_verified_and_tampered_ones_refused() {
    use api::placed_body::Source;
    use api::rounded_shape::Core;
    let server = Server::start().await;
    let client = Client::connect(&format!("http://{}", server.address)).await.unwrap();
    let cube = client.register_points(&corners()).await.unwrap();
    let shape = |core, radius| api::RoundedShape { core, radius, scale: None };
    let shapes = [
        shape(None, 0.5),
        shape(Some(Core::Length(1.0)), 0.25),
        shape(Some(Core::Cylinder(api::Cylinder { radius_xy: 0.5, length: 1.0 })), 0.0),
        shape(Some(Core::Cone(api::Cone { radius_xy: 0.5, length: 1.0 })), 0.125),
        shape(Some(Core::Ellipsoid(api::Vector3 { x: 0.5, y: 0.25, z: 0.75 })), 0.0),
    ];
    let mut seen = [0; 4];
    for shape in shapes {
        let source = Some(api::polytope_spec::Source::Rounded(shape.clone()));
        let spec = api::PolytopeSpec { source, ..Default::default() };
        let registered = client.register(vec![spec]).await.unwrap().remove(0);
        for source in [Source::Rounded(shape.clone()), Source::Id(registered.id.clone())] {
            for x in [2.5, 0.75] {
                let pose = at(x);
                let (p, q) = (
                    Some(cube.at([0.0; 3])),
                    Some(api::PlacedBody { source: Some(source.clone()), pose: Some(pose) }),
                );
                let margin = Some(0.25);
                let asked = api::MeasureDistanceRequest {
                    p: p.clone(),
                    q: q.clone(),
                    margin,
                    ..Default::default()
                };
                let answer = client.measure_distance(asked.clone()).await.unwrap();
                client.verify(&asked, &answer).unwrap();
                seen[answer.verdict() as usize] += 1;
                let mut other = answer.clone();
                other.distance = Some(api::Bracket { lower: 0.0, upper: 1e-3 });
                other.within_margin = other.within_margin.map(|within| !within);
                assert!(client.verify(&asked, &other).is_err());
                let question = api::MeasureDistanceAlongRequest {
                    p: p.clone(),
                    q: q.clone(),
                    direction: Some(api::Vector3 { x: 1.0, y: 0.0, z: 0.0 }),
                    ..Default::default()
                };
                let answer = client.measure_distance_along(question.clone()).await.unwrap();
                client.verify(&question, &answer).unwrap();
                let mut other = answer.clone();
                other.exit = Some(api::Bracket { lower: 0.0, upper: 0.125 });
                assert!(client.verify(&question, &other).is_err());
                let question = api::MeasurePenetrationRequest {
                    p,
                    q,
                    with_surface: true,
                    ..Default::default()
                };
                let answer = client.measure_penetration(question.clone()).await.unwrap();
                client.verify(&question, &answer).unwrap();
                let mut other = answer;
                let upper = other.depth.unwrap().upper / 4.0;
                other.depth = Some(api::Bracket { lower: 0.0, upper });
                if other.verdict() == api::Verdict::Overlapping {
                    assert!(client.verify(&question, &other).is_err());
                }
            }
        }
    }
    assert!(seen[1] == 10 && seen[3] == 10, "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_session_says_of_curved_bodies_the_client_verifies() {
    use api::placed_body::Source;
    use api::rounded_shape::Core;
    let server = Server::start().await;
    let client = Client::connect(&format!("http://{}", server.address)).await.unwrap();
    let cube = client.register_points(&corners()).await.unwrap();
    let tube = Core::Cylinder(api::Cylinder { radius_xy: 0.5, length: 1.0 });
    let tube = api::RoundedShape { core: Some(tube), radius: 0.0, scale: None };
    let part = api::PlacedBody { source: Some(Source::Rounded(tube)), pose: Some(at(0.25)) };
    let body = api::Body { id: Some(2), parts: vec![part], margin: 0.5, ..Default::default() };
    let report = api::ReportOptions {
        pairs: api::PairSelection::All.into(),
        distances: true,
        depths: true,
        certificates: true,
        ..Default::default()
    };
    let bodies = vec![cube.body(1, at(0.0)), body];
    let request = api::OpenSessionRequest {
        state: Some(api::SessionState { bodies, ..Default::default() }),
        report: Some(report),
        ..Default::default()
    };
    let mut session = Session::open(&client, request).await.unwrap();
    for x in [3.0, 1.5, 0.5, -4.0] {
        let report = soon(session.step(moved(x))).await.unwrap();
        assert_eq!(session.verify(&report).unwrap().pairs, 1, "{report:?}");
        let mut lie = report.clone();
        let pair = &mut lie.pairs[0];
        pair.set_verdict(match pair.verdict() {
            api::Verdict::Separated => api::Verdict::Overlapping,
            _ => api::Verdict::Separated,
        });
        assert!(session.verify(&lie).is_err());
        let mut lie = report;
        let pair = &mut lie.pairs[0];
        pair.within_margin = pair.within_margin.map(|within| !within);
        assert!(session.verify(&lie).is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_on_another_server_with_all_that_it_has_declared() {
    let (first, second) = (Server::start().await, Server::start().await);
    let addresses = [first.address, second.address].map(|address| format!("http://{address}"));
    let addresses = addresses.each_ref().map(String::as_str);
    let client = Client::connect_with(&addresses, ConnectOptions::default()).await.unwrap();
    let mut session = opened(&client).await;
    let report = soon(session.step(moved(0.5))).await.unwrap();
    assert_eq!(report.events.len(), 1, "{report:?}");
    assert_eq!(session.verify(&report).unwrap().pairs, 1);
    let before = session.state();

    // Its channel is open still, and no call on it ends by itself.
    let (channel, serving) = first.stop();
    drop(channel);
    // The first frame may be answered before the server notices that it is to stop.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let report = soon(session.step(api::Frame::default())).await.unwrap();
    // The contact lasts and is not announced again.
    assert!(report.status.is_none() && report.events.is_empty(), "{report:?}");
    let report = soon(session.step(moved(3.0))).await.unwrap();
    assert_eq!(report.events.len(), 1, "{report:?}");
    assert_eq!((report.frame_id, report.previous_frame_id), (3, 2));
    assert_eq!(session.verify(&report).unwrap().pairs, 1);
    assert_eq!(session.state().bodies[0], before.bodies[0]);
    let there = Client::connect(addresses[1]).await.unwrap();
    let opened = session.opened().clone();
    let asked = api::GetSessionRequest {
        session_id: opened.session_id,
        session_key: opened.session_key,
        ..Default::default()
    };
    there.get_session(asked).await.expect("the session is on the second server");
    soon(session.close()).await.unwrap();
    soon(serving).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_whose_base_is_another_is_sent_again_as_a_keyframe() {
    let server = Server::start().await;
    let client = Client::connect(&format!("http://{}", server.address)).await.unwrap();
    let mut session = opened(&client).await;
    session.step(moved(3.0)).await.unwrap();
    // One that builds on a frame that the server never had.
    let frame = api::Frame { frame_id: 9, ..moved(2.0) };
    let report = soon(session.step(frame)).await.unwrap();
    assert!(report.status.is_none() && report.frame_id > 9, "{report:?}");
    assert_eq!(session.verify(&report).unwrap().pairs, 1);
    assert_eq!(session.state().bodies[1].pose, Some(at(2.0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_taken_over_can_be_taken_back() {
    let server = Server::start().await;
    let client = Client::connect(&format!("http://{}", server.address)).await.unwrap();
    let mut session = opened(&client).await;
    session.step(moved(3.0)).await.unwrap();
    let opened = session.opened().clone();
    let other = Session::attach(&client, &opened.session_id, &opened.session_key).await;
    let mut other = other.unwrap();
    other.step(moved(2.0)).await.unwrap();
    let refused = soon(session.step(moved(1.5))).await.unwrap_err();
    assert!(matches!(refused, clearance_client::Error::TakenOver), "{refused:?}");
    session.take_back().await.unwrap();
    assert_eq!(session.state().bodies[1].pose.as_ref().unwrap().translation, at(2.0).translation);
    let report = soon(session.step(moved(1.0))).await.unwrap();
    assert_eq!((report.frame_id, report.pairs[0].verdict()), (3, api::Verdict::Touching));
}
