//! Every bad input gets a clear status with the path of the field, and changes nothing.

use api::placed_body::Source;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tonic::Code;

use crate::server::{Server, body, check, cube, spec, vector, with_cube};

/// Asks about the cube and `q`; expects a refusal with this field.
async fn refused(server: &Server, q: api::PlacedBody, code: Code, reason: &str, field: &str) {
    let question =
        api::CheckCollisionRequest { p: Some(body("cube", 0.0)), q: Some(q), ..Default::default() };
    let status = server.queries().check_collision(question).await.unwrap_err();
    check(&status, code, reason, field);
}

#[tokio::test]
async fn numbers_that_are_none_are_refused_where_they_stand() {
    let server = with_cube().await;
    let bad = async |q, field: &str| {
        refused(&server, q, Code::InvalidArgument, "BAD_FIELD", field).await;
    };
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        let translation = vector(0.0, 0.0, number);
        let pose = Some(api::Pose { translation, orientation: None });
        bad(api::PlacedBody { pose, ..body("cube", 0.0) }, "q.pose.translation.z").await;
        let points = api::Points { xyz: vec![0.0, 0.0, 0.0, 0.0, number, 0.0] };
        let source = Some(Source::Vertices(points));
        bad(api::PlacedBody { source, pose: None }, "q.vertices.xyz[4]").await;
    }
    let turned = |orientation| api::PlacedBody {
        pose: Some(api::Pose { translation: None, orientation: Some(orientation) }),
        ..body("cube", 0.0)
    };
    for quaternion in [
        api::Quaternion::default(),
        api::Quaternion { w: f64::NAN, ..Default::default() },
        api::Quaternion { w: 1e-200, ..Default::default() },
        api::Quaternion { w: 1e200, ..Default::default() },
    ] {
        bad(turned(api::pose::Orientation::Rotation(quaternion)), "q.pose.rotation").await;
    }
    let matrix = |rows: &[f64]| {
        let matrix = api::RotationMatrix { rows: rows.to_vec() };
        turned(api::pose::Orientation::RotationMatrix(matrix))
    };
    bad(matrix(&[1.0]), "q.pose.rotation_matrix.rows").await;
    bad(matrix(&[0.0; 9]), "q.pose.rotation_matrix").await;
    bad(matrix(&[f64::NAN; 9]), "q.pose.rotation_matrix").await;
}

#[tokio::test]
async fn bodies_that_are_none_are_refused() {
    let server = with_cube().await;
    let source = |source| api::PlacedBody { source: Some(source), pose: None };
    let empty = source(Source::Vertices(api::Points::default()));
    let code = Code::InvalidArgument;
    refused(&server, empty, code, "BAD_FIELD", "q.vertices.xyz").await;
    refused(&server, api::PlacedBody::default(), code, "BAD_FIELD", "q").await;
    refused(&server, source(Source::Id("x".into())), code, "BAD_FIELD", "q.id").await;
    let unknown = format!("p1-{}", "0".repeat(64));
    let code = Code::NotFound;
    refused(&server, source(Source::Id(unknown)), code, "UNKNOWN_POLYTOPE", "q.id").await;
    let alias = source(Source::Alias("no".into()));
    refused(&server, alias, code, "UNKNOWN_POLYTOPE", "q.alias").await;
    let compound = source(Source::Compound(api::Compound::default()));
    refused(&server, compound, Code::Unimplemented, "NOT_IMPLEMENTED", "q.compound").await;
    for short in ["m1-00", "c1-00"] {
        let short = source(Source::Id(short.into()));
        refused(&server, short, Code::InvalidArgument, "BAD_FIELD", "q.id").await;
    }
    let unknown = source(Source::Id(format!("m1-{}", "0".repeat(64))));
    refused(&server, unknown, Code::NotFound, "UNKNOWN_POLYTOPE", "q.id").await;
    let status = server.queries().check_collision(api::CheckCollisionRequest::default()).await;
    check(&status.unwrap_err(), Code::InvalidArgument, "BAD_FIELD", "p");
}

#[tokio::test]
async fn options_that_are_none_are_refused() {
    let server = with_cube().await;
    let ask = async |options: api::QueryOptions, margin| {
        let question = api::MeasureDistanceRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", 3.0)),
            margin,
            options: Some(options),
            ..Default::default()
        };
        server.queries().measure_distance(question).await.unwrap_err()
    };
    let method = api::QueryOptions { method: "magic".into(), ..Default::default() };
    let status = ask(method, None).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "options.method");
    // The names of this question's own table, and no others.
    let message = status.message();
    assert!(message.contains("h_walk") && !message.contains("hs_jump"), "{message}");
    let time = Some(prost_types::Duration { seconds: -1, nanos: 0 });
    let budget = Some(api::Budget { steps: None, time });
    let status = ask(api::QueryOptions { budget, ..Default::default() }, None).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "options.budget.time");
    for margin in [-1e300, f64::NAN, f64::NEG_INFINITY] {
        let status = ask(api::QueryOptions::default(), Some(margin)).await;
        check(&status, Code::InvalidArgument, "BAD_FIELD", "margin");
    }
}

/// What a newer client asks for was taken for the default: a mesh to be treated in a way that is to
/// come was taken as convex, and reports listed other pairs than asked for.
#[tokio::test]
async fn values_of_enums_that_are_to_come_are_refused() {
    let server = with_cube().await;
    let code = Code::InvalidArgument;
    let spec = api::PolytopeSpec { treatment: 99, ..spec("", &cube()) };
    let polytopes = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: true };
    let status = server.polytopes().register_polytopes(polytopes).await.unwrap_err();
    check(&status, code, "BAD_FIELD", "polytopes[0].treatment");
    let file = api::MeshFile { format: -1, ..Default::default() };
    let source = Some(api::polytope_spec::Source::File(file));
    let polytopes = vec![api::PolytopeSpec { source, ..Default::default() }];
    let polytopes = api::RegisterPolytopesRequest { polytopes, validate_only: true };
    let status = server.polytopes().register_polytopes(polytopes).await.unwrap_err();
    check(&status, code, "BAD_FIELD", "polytopes[0].file.format");
    let header = api::UploadHeader { content: 99, ..Default::default() };
    let header = Some(api::upload_polytope_request::Part::Header(header));
    let upload = tokio_stream::iter([api::UploadPolytopeRequest { part: header }]);
    let status = server.polytopes().upload_polytope(upload).await.unwrap_err();
    check(&status, code, "BAD_FIELD", "header.content");
    let report = Some(api::ReportOptions { pairs: i32::MAX, ..Default::default() });
    let open = api::OpenSessionRequest { report, ..Default::default() };
    let status = server.sessions().open_session(open).await.unwrap_err();
    check(&status, code, "BAD_FIELD", "report.pairs");
    let nobody = api::GetSessionRequest { session_id: "nobody".into(), ..Default::default() };
    let status = server.sessions().get_session(nobody).await.unwrap_err();
    check(&status, Code::NotFound, "UNKNOWN_SESSION", "session_id");
    // Forgotten, it was looked for: "no session \"\" is open here".
    let status =
        server.sessions().get_session(api::GetSessionRequest::default()).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "session_id");
}

#[tokio::test]
async fn motions_that_are_none_are_refused() {
    use api::motion::Kind;
    let server = with_cube().await;
    let ask = async |kind, time_tolerance| {
        let question = api::FindFirstContactRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", 3.0)),
            q_motion: Some(api::Motion { kind: Some(kind) }),
            time_tolerance,
            ..Default::default()
        };
        server.queries().find_first_contact(question).await.unwrap_err()
    };
    let velocity = vector(f64::NAN, 0.0, 0.0);
    let status = ask(Kind::Linear(api::LinearMotion { velocity }), None).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "q_motion.linear.velocity.x");
    let no_axis = api::ScrewMotion { angle: 1.0, ..Default::default() };
    let status = ask(Kind::Screw(no_axis), None).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "q_motion.screw.axis");
    let orientation = Some(api::pose::Orientation::Rotation(api::Quaternion::default()));
    let end = Some(api::Pose { translation: None, orientation });
    let status = ask(Kind::ToPose(api::ToPoseMotion { end, pivot: None, spin: None }), None).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "q_motion.to_pose.end.rotation");
    let status = ask(Kind::Linear(api::LinearMotion::default()), Some(0.0)).await;
    check(&status, Code::InvalidArgument, "BAD_FIELD", "time_tolerance");
}

/// Sessions took a tolerance of zero, which questions refuse: no bracket is that narrow.
#[tokio::test]
async fn what_is_no_tolerance_is_refused_alike_by_questions_and_sessions() {
    let server = with_cube().await;
    for tolerance in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
        let time_tolerance = Some(tolerance);
        let question = api::FindFirstContactRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", 3.0)),
            time_tolerance,
            ..Default::default()
        };
        let asked = server.queries().find_first_contact(question).await.unwrap_err();
        check(&asked, Code::InvalidArgument, "BAD_FIELD", "time_tolerance");
        let report = Some(api::ReportOptions { time_tolerance, ..Default::default() });
        let open = api::OpenSessionRequest { report, ..Default::default() };
        let opened = server.sessions().open_session(open).await.unwrap_err();
        check(&opened, Code::InvalidArgument, "BAD_FIELD", "report.time_tolerance");
        assert_eq!(opened.message(), format!("report.{}", asked.message()));
    }
}

#[tokio::test]
async fn what_is_beyond_a_limit_is_refused_with_the_limit() {
    let limits = Limits {
        points_max: 10,
        inline_points_max: 4,
        batch_items_max: 2,
        polytopes_max: 2,
        message_bytes_max: 64 << 10,
        registration_items_max: 3,
        upload_bytes_max: 1000,
        ..Limits::default()
    };
    let server = Server::with_limits(limits).await;
    server.register("cube", &cube()).await;
    let code = Code::InvalidArgument;
    let register = |polytopes| api::RegisterPolytopesRequest { polytopes, validate_only: false };
    let mut client = server.polytopes();

    let many = register(vec![spec("", &[1.0; 33])]);
    let status = client.register_polytopes(many).await.unwrap_err();
    check(&status, code, "LIMIT_EXCEEDED", "polytopes[0].vertices");
    let items = register(vec![spec("", &[1.0; 3]); 4]);
    let status = client.register_polytopes(items).await.unwrap_err();
    check(&status, code, "LIMIT_EXCEEDED", "polytopes");
    let full = register(vec![spec("", &[1.0; 3]), spec("", &[2.0; 3])]);
    let status = client.register_polytopes(full).await.unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "");
    let words = "more than the limit polytopes_max = 2 of this server; delete polytopes that \
                 nobody uses any more";
    assert_eq!(status.message(), words, "of no field, so it does not begin with one");

    let large = register(vec![spec("", &[1.0; 30_000])]);
    let status = client.register_polytopes(large).await.unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "message");

    let source = Some(Source::Vertices(api::Points { xyz: vec![0.0; 15] }));
    let q = api::PlacedBody { source, pose: None };
    refused(&server, q, code, "LIMIT_EXCEEDED", "q.vertices").await;
    let items = vec![api::BatchQueryItem::default(); 3];
    let status = server.queries().batch_query(api::BatchQueryRequest { items }).await.unwrap_err();
    check(&status, code, "LIMIT_EXCEEDED", "items");

    let part = |part| api::UploadPolytopeRequest { part: Some(part) };
    let header = api::UploadHeader { content: 1, ..Default::default() };
    let messages = [
        part(api::upload_polytope_request::Part::Header(header)),
        part(api::upload_polytope_request::Part::Chunk(vec![0; 1001].into())),
    ];
    let status = client.upload_polytope(tokio_stream::iter(messages)).await.unwrap_err();
    check(&status, code, "LIMIT_EXCEEDED", "chunk");
}

/// Streams name their methods themselves: a misspelt one would get the words for small messages.
#[tokio::test]
async fn messages_that_are_too_long_are_told_the_way_out_of_their_method() {
    let limits = Limits { message_bytes_max: 64 << 10, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    let told = |status: &tonic::Status, way: &str| {
        check(status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "message");
        assert!(status.message().ends_with(way), "{status:?}");
    };
    let xyz = vec![1.0; 30_000];
    let polytopes = vec![spec("", &xyz)];
    let asked = api::RegisterPolytopesRequest { polytopes, validate_only: false };
    let status = server.polytopes().register_polytopes(asked).await.unwrap_err();
    told(&status, "; send fewer polytopes at once, and large ones by UploadPolytope");

    let part = Some(api::upload_polytope_request::Part::Chunk(vec![0; 70_000].into()));
    let parts = tokio_stream::iter([api::UploadPolytopeRequest { part }]);
    let status = server.polytopes().upload_polytope(parts).await.unwrap_err();
    told(&status, "; send the polytope in more parts");

    let values = Some(api::CheckConfigurationsRequest { values: xyz, ..Default::default() });
    let asked = tokio_stream::iter([api::StreamConfigurationsRequest {
        check: values,
        ..Default::default()
    }]);
    let mut robots = crate::robots::robots(&server);
    let mut answers = robots.stream_configurations(asked).await.unwrap().into_inner();
    let way = "; send the values in more messages, or what is in a large cell as a session, by \
               OpenSession and frames, and its scene in place of the cell";
    told(&answers.message().await.unwrap_err(), way);

    let open = api::OpenSessionRequest { session_id: "x".repeat(70_000), ..Default::default() };
    let start = Some(api::stream_session_request::Start::Open(open.into()));
    let asked = tokio_stream::iter([api::StreamSessionRequest { start, ..Default::default() }]);
    let status = match server.sessions().stream_session(asked).await {
        Err(status) => status,
        Ok(reports) => reports.into_inner().message().await.unwrap_err(),
    };
    told(&status, "; send some of the bodies in the next frame");
}
