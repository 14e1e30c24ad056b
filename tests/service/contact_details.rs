//! Normals, points, polygons and rankings over a socket.

use clearance_proto as api;
use clearance_proto::{ContactEventKind, PairSelection, Verdict};

use crate::server::{body, check, vector, with_cube};
use crate::sessions::{cube_at, kinds, put, scene, started, step};

const TOWARDS_LESS: Option<api::Vector3> = Some(api::Vector3 { x: -1.0, y: 0.0, z: 0.0 });

fn asked(options: api::ReportOptions) -> Option<api::ReportOptions> {
    let mut report = api::ReportOptions { normals: true, ..options };
    report.set_pairs(PairSelection::All);
    Some(report)
}

fn bracket(at: f64) -> Option<api::Bracket> {
    Some(api::Bracket { lower: at, upper: at })
}

#[tokio::test]
async fn every_pair_of_a_report_has_its_normal_and_a_touch_its_polygon() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    for (id, x, verdict, corners) in [
        (1, 3.0, Verdict::Separated, 0),
        (2, 1.0, Verdict::Touching, 4),
        (3, 0.75, Verdict::Overlapping, 0),
    ] {
        let mut frame = put(id, x);
        frame.report = asked(api::ReportOptions { contact_polygons: true, ..Default::default() })
            .map(Box::new);
        let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
        let pair = &report.pairs[0];
        assert_eq!((pair.verdict(), pair.normal), (verdict, TOWARDS_LESS));
        assert_eq!(pair.contact_polygon.len(), corners, "{pair:?}");
        assert!(pair.contact_polygon.iter().all(|corner| (corner.x - 1.0).abs() < 1e-9));
        assert!(pair.distance.is_none() && pair.depth.is_none(), "{pair:?}");
    }
}

#[tokio::test]
async fn a_passage_tells_when_and_where_it_ended() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let mut frame = put(1, -10.0);
    let options = api::ReportOptions { first_contacts: true, impacts: true, ..Default::default() };
    frame.report = asked(options).map(Box::new);
    let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
    assert_eq!(kinds(&report), [ContactEventKind::Began, ContactEventKind::Ended]);
    // From 10 to -10: they meet when the one that moves is at 1, and part when it is at -1.
    for (event, at, x, normal) in
        [(&report.events[0], 0.45, 1.0, -1.0), (&report.events[1], 0.55, 0.0, 1.0)]
    {
        let time = event.time.unwrap();
        assert!(time.lower <= at && at <= time.upper && time.upper - time.lower < 1e-15);
        assert!((event.point.unwrap().x - x).abs() < 1e-9, "{event:?}");
        assert_eq!(event.normal, vector(normal, 0.0, 0.0));
        assert!(!event.unordered);
    }
}

#[tokio::test]
async fn the_deepest_pairs_come_first_nested_and_packed() {
    let server = started().await;
    let mut request = scene("s");
    // Overlaps by 0.75 and 0.25, then gaps.
    let bodies = [(1, 0.0), (2, 0.25), (3, 1.0), (4, 3.0)].map(|(id, x)| cube_at(id, x));
    request.state.as_mut().unwrap().bodies = bodies.into();
    server.sessions().open_session(request).await.unwrap();
    let report = |options: api::ReportOptions| {
        let mut options = options;
        options.set_pairs(PairSelection::None);
        Some(options)
    };
    let ask = async |id, options| {
        let frame = api::Frame {
            frame_id: id,
            report: report(options).map(Box::new),
            ..Default::default()
        };
        step(&server, "s", vec![frame]).await.unwrap().remove(0)
    };
    let nearest = api::ReportOptions { nearest_pairs: 3, ..Default::default() };
    let told = ask(1, nearest).await;
    let of = |pair: &api::RankedPair| (pair.a, pair.b, pair.clearance, pair.unordered);
    let expected =
        [(1, 2, bracket(-0.75), false), (2, 3, bracket(-0.25), false), (1, 3, bracket(0.0), false)];
    assert_eq!(told.ranked_pairs.iter().map(of).collect::<Vec<_>>(), expected);
    let depths: Vec<_> = told.pairs.iter().map(|pair| (pair.a, pair.b, pair.depth)).collect();
    assert_eq!(depths, [(1, 2, bracket(0.75)), (1, 3, None), (2, 3, bracket(0.25))]);

    let told = ask(2, api::ReportOptions { packed: true, ..nearest }).await;
    let ranking = told.packed_ranking.unwrap();
    assert!(told.ranked_pairs.is_empty());
    assert_eq!((ranking.a, ranking.b), (vec![1, 2, 1], vec![2, 3, 3]));
    assert_eq!(ranking.clearance_lower, [-0.75, -0.25, 0.0]);
    assert_eq!(ranking.clearance_upper, [-0.75, -0.25, 0.0]);
    assert_eq!(ranking.unordered, vec![0, 0, 0]);

    let deep = api::ReportOptions { pairs_below: Some(-0.5), ..Default::default() };
    let told = ask(3, deep).await;
    assert_eq!(told.ranked_pairs.iter().map(of).collect::<Vec<_>>(), expected[..1]);
    assert_eq!(told.pairs.len(), 1);

    let nan = api::ReportOptions { pairs_below: Some(f64::NAN), ..Default::default() };
    let told = ask(4, nan).await;
    let status = told.status.unwrap();
    assert_eq!(status.field, "frames[0].report.pairs_below", "{status:?}");
}

#[tokio::test]
async fn single_questions_tell_normals_and_where_bodies_meet() {
    let server = with_cube().await;
    for x in [3.0, 1.0 + 1e-9, 1.0, 0.5] {
        let question = api::MeasureDistanceRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", x)),
            ..Default::default()
        };
        let answer = server.queries().measure_distance(question).await.unwrap().into_inner();
        assert_eq!(answer.normal, TOWARDS_LESS.filter(|_| x >= 1.0), "{x}");
    }
    let linear = api::LinearMotion { velocity: vector(4.0, 0.0, 0.0) };
    let question = api::FindFirstContactRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("cube", 3.0)),
        p_motion: Some(api::Motion { kind: Some(api::motion::Kind::Linear(linear)) }),
        impact: true,
        ..Default::default()
    };
    let ask = async |question: &api::FindFirstContactRequest| {
        server.queries().find_first_contact(question.clone()).await.unwrap().into_inner()
    };
    let answer = ask(&question).await;
    assert_eq!(answer.normal, TOWARDS_LESS);
    assert!((answer.point.unwrap().x - 3.0).abs() < 1e-12, "{answer:?}");
    let answer = ask(&api::FindFirstContactRequest { impact: false, ..question.clone() }).await;
    assert_eq!((answer.point, answer.normal), (None, None));
    let away = api::FindFirstContactRequest { p_motion: None, ..question };
    let answer = ask(&away).await;
    assert_eq!((answer.outcome(), answer.point), (api::Outcome::NoContact, None));
}

#[tokio::test]
async fn pairs_below_no_length_at_all_are_refused_with_their_path() {
    let server = started().await;
    let mut request = scene("s");
    let report = api::ReportOptions { pairs_below: Some(f64::INFINITY), ..Default::default() };
    request.report = Some(report);
    let status = server.sessions().open_session(request).await.unwrap_err();
    check(&status, tonic::Code::InvalidArgument, "BAD_FIELD", "report.pairs_below");
}

/// A body of two cubes, at x and at x + 3, of which the second is lower in the list of parts.
fn two_cubes(id: u32, x: f64) -> api::Body {
    let parts = vec![body("cube", 3.0), body("cube", 0.0)];
    let pose = api::Pose { translation: vector(x, 0.0, 0.0), orientation: None };
    api::Body { id: Some(id), parts, pose: Some(pose), ..Default::default() }
}

/// They were 0 and 0 for separated bodies, whichever parts were nearest.
#[tokio::test]
async fn parts_are_named_where_one_decides_and_nowhere_else() {
    let server = with_cube().await;
    for is_packed in [false, true] {
        for (x, asks, expected) in [
            (9.0, api::ReportOptions::default(), None),
            // The right one of the first body and the left one of the second.
            (9.0, api::ReportOptions { distances: true, ..Default::default() }, Some([0, 1])),
            (9.0, api::ReportOptions { normals: true, ..Default::default() }, Some([0, 1])),
            (4.0, api::ReportOptions::default(), Some([0, 1])),
            (3.5, api::ReportOptions::default(), Some([0, 1])),
        ] {
            let mut report = api::ReportOptions { packed: is_packed, certificates: true, ..asks };
            report.set_pairs(PairSelection::All);
            let state = api::SessionState {
                bodies: vec![two_cubes(1, 0.0), two_cubes(2, x)],
                ..Default::default()
            };
            let open = api::OpenSessionRequest {
                session_id: "s".to_owned(),
                state: Some(state),
                report: Some(report),
                replace: true,
                ..Default::default()
            };
            server.sessions().open_session(open).await.unwrap();
            let report = step(&server, "s", vec![api::Frame { frame_id: 1, ..Default::default() }])
                .await
                .unwrap()
                .remove(0);
            let told = if is_packed {
                let packed = report.packed_pairs.unwrap();
                let part = |parts: &[u32]| parts.first().copied().unwrap_or(0);
                // Where none decides, the arrays are about nothing.
                expected.map(|_| [part(&packed.a_parts), part(&packed.b_parts)])
            } else {
                let pair = &report.pairs[0];
                pair.a_part.zip(pair.b_part).map(|(a, b)| [a, b])
            };
            assert_eq!(told, expected, "{x} {report:?}", report = asks);
        }
    }
}
