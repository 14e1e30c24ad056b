//! Clouds that are registered: what they are kept as, what is answered about them and proven of
//! it, and where they may be: parts of bodies in sessions, obstacles of cells.

use api::polytope_spec::Source;
use api::robot_obstacle::Shape;
use api::upload_polytope_request::Part;
use api::{Outcome, Verdict};
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tokio_stream::iter;
use tonic::{Code, Status};

use crate::clouds::field;
use crate::polyhedra::{placed, register, with_channel};
use crate::polyhedron_sessions::{Followed, follow};
use crate::robots::{SLIDER, cell_of, check, robots, verdicts};
use crate::rounded_sessions::{opening, pose, rounded};
use crate::server::{Server, body, vector, verify};
use crate::sessions::{all_pairs, step};
use crate::solid_measures::of_distance;
use crate::solid_proofs::{of_collision, of_motion};

fn cloud(alias: &str, xyz: &[f64], radius: f64) -> api::PolytopeSpec {
    let cloud = api::PointCloud { xyz: xyz.to_vec(), xyz_single: vec![], radius };
    let source = Some(Source::Cloud(cloud));
    api::PolytopeSpec { source, alias: alias.to_owned(), ..Default::default() }
}

/// A channel and its slot's peg, and clouds: around the origin, with and without a radius.
async fn with_clouds() -> Server {
    let (server, _) = with_channel().await;
    let points = [0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 0.25, 0.5, 9.0, 9.0, 9.0];
    register(&server, cloud("balls", &points, 0.125)).await.unwrap();
    register(&server, cloud("points", &points[..9], 0.0)).await.unwrap();
    server
}

#[tokio::test]
async fn a_cloud_is_kept_under_one_id_however_its_points_come() {
    let server = Server::start().await;
    let given = [1.0, 0.0, 0.0, 0.0, -0.0, 0.5, 1.0, 0.0, 0.0];
    let report = register(&server, cloud("cloud", &given, 0.5)).await.unwrap();
    let described = report.polytope.unwrap();
    assert!(described.id.starts_with("c1-") && described.id.len() == 67, "{}", described.id);
    assert_eq!((report.points_given, report.points_dropped), (3, 1));
    assert_eq!(report.vertex_of_given, [1, 0, 1]);
    let counts = [described.vertex_count, described.edge_count, described.face_count];
    assert_eq!((counts, described.dimension), ([2, 0, 0], 3));
    assert_eq!(
        (described.bounds_low, described.bounds_high),
        (vector(-0.5, -0.5, -0.5), vector(1.5, 0.5, 1.0))
    );
    assert!((described.radius - 0.5).abs() <= 0.0);
    let single =
        api::PointCloud { xyz_single: vec![0.0, 0.0, 0.5, 1.0, 0.0, 0.0], ..Default::default() };
    let single = api::PointCloud { radius: 0.5, ..single };
    let again = api::PolytopeSpec { source: Some(Source::Cloud(single)), ..Default::default() };
    let again = register(&server, again).await.unwrap();
    assert!(again.already_registered);
    assert_eq!(again.polytope.unwrap().id, described.id);
    let listed = api::GetPolytopeRequest {
        key: Some(api::get_polytope_request::Key::Id(described.id.clone())),
        with_vertices: true,
        with_facets: true,
        ..Default::default()
    };
    let listed = server.polytopes().get_polytope(listed).await.unwrap().into_inner();
    assert_eq!(listed.vertices.unwrap().xyz, [0.0, 0.0, 0.5, 1.0, 0.0, 0.0]);
    assert!(listed.facets.is_empty());
    // By an upload whose header says the radius.
    let header = api::UploadHeader {
        content: api::UploadContent::PointsF64Le.into(),
        spec: Some(cloud("", &[], 0.5)),
        ..Default::default()
    };
    let bytes: Vec<u8> = given.iter().flat_map(|number| number.to_le_bytes()).collect();
    let parts = [Part::Header(header), Part::Chunk(bytes.into())];
    let parts = parts.map(|part| api::UploadPolytopeRequest { part: Some(part) });
    let reply = server.polytopes().upload_polytope(iter(parts)).await.unwrap().into_inner();
    assert_eq!(reply.report.unwrap().polytope.unwrap().id, described.id);
}

#[tokio::test]
async fn what_is_wrong_with_a_cloud_is_named() {
    let limits = Limits { points_max: 4, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    for (spec, name) in [
        (cloud("", &[0.0, f64::NAN, 0.0], 0.5), "cloud.xyz[1]"),
        (cloud("", &[0.0, 0.0, 1e300], 0.5), "cloud.xyz[2]"),
        (cloud("", &[0.0; 4], 0.5), "cloud.xyz"),
        (cloud("", &[0.0; 15], 0.5), "cloud.xyz"),
        (cloud("", &[], 0.5), "cloud"),
        (cloud("", &[0.0; 3], -1.0), "cloud.radius"),
        (cloud("", &[0.0; 3], f64::NAN), "cloud.radius"),
        (
            api::PolytopeSpec {
                treatment: api::MeshTreatment::Surface.into(),
                ..cloud("", &[0.0; 3], 0.5)
            },
            "treatment",
        ),
    ] {
        let refused = register(&server, spec).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{name}: {refused:?}");
        assert_eq!(field(&refused), format!("polytopes[0].{name}"));
    }
}

#[tokio::test]
async fn what_is_answered_of_clouds_is_proven_and_lies_are_refused() {
    let server = with_clouds().await;
    let ball = rounded(None, 0.25, [0.0; 3]);
    let mut seen = [0; 4];
    for (x, y) in [(1.5, 1.5), (1.125, 1.5), (0.5, 0.5), (1.25, 1.125), (-4.0, 0.5), (2.5, 2.0)] {
        for (own, other) in [
            ("balls", placed("channel", 0.0, 0.0)),
            ("points", placed("channel", 0.0, 0.0)),
            ("balls", placed("peg", 1.0, 1.0)),
            ("balls", api::PlacedBody { pose: placed("peg", 1.0, 1.5).pose, ..ball.clone() }),
            ("points", placed("balls", 1.25, 1.5)),
        ] {
            let at = api::Pose { translation: vector(x, y, 0.25), orientation: None };
            let own = api::PlacedBody { pose: Some(at), ..body(own, 0.0) };
            for [p, q] in [[own.clone(), other.clone()], [other.clone(), own.clone()]] {
                let verdict = judged(&server, p, q).await;
                seen[verdict as usize] += 1;
            }
        }
    }
    assert!(seen[1..].iter().all(|count| *count > 3), "{seen:?}");
}

/// All questions about two bodies: every answer is proven, and every other verdict refused.
async fn judged(server: &Server, p: api::PlacedBody, q: api::PlacedBody) -> Verdict {
    let (p, q, margin) = (Some(p), Some(q), Some(0.25));
    let question = api::CheckCollisionRequest { p: p.clone(), q: q.clone(), margin, options: None };
    let answer = server.queries().check_collision(question.clone()).await.unwrap().into_inner();
    let stands = answer.verdict();
    for said in [Verdict::Separated, Verdict::Touching, Verdict::Overlapping] {
        let mut answer = answer.clone();
        answer.set_verdict(said);
        let judged = verify(server, of_collision(&question, &answer)).await;
        assert_eq!(judged.is_ok(), said == stands, "{said:?} {judged:?} {question:?} {answer:?}");
    }
    let asked =
        api::MeasureDistanceRequest { p: p.clone(), q: q.clone(), margin, ..Default::default() };
    let far = server.queries().measure_distance(asked.clone()).await.unwrap().into_inner();
    assert_eq!((far.verdict(), far.within_margin), (stands, answer.within_margin));
    verify(server, of_distance(&asked, &far)).await.unwrap();
    let mut lie = far.clone();
    let bracket = lie.distance.as_mut().unwrap();
    *bracket = api::Bracket { lower: bracket.upper + 0.01, upper: bracket.upper + 0.02 };
    assert!(verify(server, of_distance(&asked, &lie)).await.is_err());
    let velocity = vector(0.0, 3.0, 0.0);
    for kind in [
        api::motion::Kind::Linear(api::LinearMotion { velocity }),
        api::motion::Kind::Screw(api::ScrewMotion {
            velocity,
            axis: vector(0.0, 0.0, 1.0),
            angle: 1.0,
            pivot: None,
        }),
    ] {
        let asked = api::FindFirstContactRequest {
            p: p.clone(),
            q: q.clone(),
            p_motion: Some(api::Motion { kind: Some(kind) }),
            ..Default::default()
        };
        let met = server.queries().find_first_contact(asked.clone()).await.unwrap().into_inner();
        assert_eq!(met.initial_verdict(), stands);
        verify(server, of_motion(&asked, &met)).await.unwrap();
        let mut lie = met;
        let other =
            if lie.outcome() == Outcome::Contact { Outcome::NoContact } else { Outcome::Contact };
        lie.set_outcome(other);
        (lie.t_free, lie.t_contact) = (1.0, (other == Outcome::Contact).then_some(1.0));
        assert!(verify(server, of_motion(&asked, &lie)).await.is_err(), "{lie:?}");
    }
    stands
}

#[tokio::test]
async fn what_is_not_answered_about_clouds_is_refused_with_its_field() {
    let server = with_clouds().await;
    let (p, q) = (Some(placed("balls", 0.0, 0.0)), Some(placed("peg", 0.0, 0.0)));
    let depth = api::MeasurePenetrationRequest { p: p.clone(), q: q.clone(), ..Default::default() };
    assert!(server.queries().measure_penetration(depth).await.is_ok());
    let direction = vector(1.0, 0.0, 0.0);
    let along = api::MeasureDistanceAlongRequest {
        p: p.clone(),
        q: q.clone(),
        direction,
        ..Default::default()
    };
    let refused = server.queries().measure_distance_along(along).await.unwrap_err();
    assert_eq!((refused.code(), &*field_of(&refused)), (Code::Unimplemented, "p"));
    let ranges = api::FindFirstContactRequest { p: q, q: p, ..Default::default() };
    assert!(server.queries().find_first_contact(ranges).await.is_ok());
}

/// The field that a refusal in words begins with.
fn field_of(status: &Status) -> String {
    status.message().split(':').next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_cloud_in_a_session_is_told_of_as_in_questions() {
    let server = with_clouds().await;
    let part = |alias: &str| vec![api::PlacedBody { pose: None, ..body(alias, 0.0) }];
    let ball = vec![api::PlacedBody { pose: None, ..rounded(None, 0.25, [0.0; 3]) }];
    let mut told = Followed::default();
    for parts in [
        [part("channel"), part("balls")],
        [part("channel"), part("points")],
        [part("balls"), part("peg")],
        [part("balls"), part("balls")],
        [part("points"), ball],
    ] {
        follow(&server, parts, &mut told).await;
    }
    let Followed { seen, met, by_faces } = told;
    assert!(seen[1] > 8 && seen[2] > 0 && seen[3] > 4, "{seen:?}");
    assert!(met[1] > 4 && met[2] > 4 && by_faces > 4, "{met:?} {by_faces}");
}

/// As a camera's picture is followed by the next one: the new points in place of the old ones.
#[tokio::test]
async fn a_cloud_in_a_session_gives_way_to_another_one() {
    let server = with_clouds().await;
    let part = |alias: &str| vec![api::PlacedBody { pose: None, ..body(alias, 0.0) }];
    let opened = opening(&[part("channel"), part("balls")]);
    server.sessions().open_session(opened).await.unwrap();
    for (frame_id, alias) in (1..).zip(["balls", "points", "balls", "far"]) {
        if alias == "far" {
            register(&server, cloud("far", &[0.0, 0.0, 9.0], 0.5)).await.unwrap();
        }
        let changed = api::BodyChange { id: Some(2), parts: part(alias), ..Default::default() };
        // The second ball of three touches a wall, and its point without a radius does not.
        let at = pose([1.625, 1.5, 0.25], 0.0);
        let frame = api::Frame {
            frame_id,
            poses: vec![api::BodyPose { id: Some(2), pose: at.clone(), ..Default::default() }],
            changed_bodies: vec![changed],
            report: all_pairs().map(Box::new),
            ..Default::default()
        };
        let report = step(&server, "s", vec![frame]).await.unwrap().remove(0);
        let question = api::CheckCollisionRequest {
            p: Some(placed("channel", 0.0, 0.0)),
            q: Some(api::PlacedBody { pose: at, ..body(alias, 0.0) }),
            ..Default::default()
        };
        let answer = server.queries().check_collision(question).await.unwrap().into_inner();
        let expected = if alias == "balls" { Verdict::Touching } else { Verdict::Separated };
        assert_eq!(answer.verdict(), expected, "{alias}");
        let told = report.pairs.first().map_or(Verdict::Separated, api::PairReport::verdict);
        assert_eq!(told, expected, "{alias}");
    }
}

/// The cart is a cube of side 1 whose middle is at the value of its joint.
#[tokio::test]
async fn a_registered_cloud_is_an_obstacle_as_if_its_points_were_given() {
    let server = Server::start().await;
    let points = [4.0, 0.0, 0.0, 3.0, 0.0, 0.0, 3.0, 0.0, 0.0, -30.0, 0.0, 0.0];
    let id = register(&server, cloud("near", &points, 0.25)).await.unwrap().polytope.unwrap().id;
    let values = [0.0, 2.25, 2.25_f64.next_up(), 3.0];
    for shape in [Shape::Id(id), Shape::Alias("near".to_owned())] {
        let obstacle = api::RobotObstacle { shape: Some(shape), pose: None, ..Default::default() };
        let cell = cell_of(&server, SLIDER, vec![obstacle]).await;
        let asked = check(&cell, api::CheckMode::FirstPair, &values);
        let answer = robots(&server).check_configurations(asked).await.unwrap().into_inner();
        let expected =
            [Verdict::Separated, Verdict::Touching, Verdict::Overlapping, Verdict::Overlapping];
        assert_eq!(verdicts(&answer), expected);
        let asked = check(&cell, api::CheckMode::Clearance, &values);
        let answer = robots(&server).check_configurations(asked).await.unwrap().into_inner();
        // Of the points as the cloud lists them.
        assert_eq!(answer.clearance_points, [1; 4]);
        assert!((answer.clearance_lowers[0] - 2.25).abs() < 1e-9, "{answer:?}");
    }
}
