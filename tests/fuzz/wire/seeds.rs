//! Scripts that use every method as it is meant to be used.

use clearance::rpc::pb;
use pb::motion::Kind;
use pb::placed_body::Source;
use prost::Message;

use super::{Call, method, write};

fn call(name: &str, message: &impl Message) -> Call {
    (method(name), message.encode_to_vec())
}

fn vector(x: f64, y: f64, z: f64) -> Option<pb::Vector3> {
    Some(pb::Vector3 { x, y, z })
}

fn pose(x: f64) -> Option<pb::Pose> {
    let turn = pb::Quaternion { w: 0.9, x: 0.1, y: -0.3, z: 0.2 };
    let orientation = Some(pb::pose::Orientation::Rotation(turn));
    Some(pb::Pose { translation: vector(x, 0.25, 0.0), orientation })
}

fn points() -> pb::Points {
    let xyz = vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    pb::Points { xyz }
}

fn given(x: f64) -> Option<pb::PlacedBody> {
    Some(pb::PlacedBody { source: Some(Source::Vertices(points())), pose: pose(x) })
}

fn named(x: f64) -> Option<pb::PlacedBody> {
    Some(pb::PlacedBody { source: Some(Source::Alias("a".to_owned())), pose: pose(x) })
}

fn register() -> Call {
    let spec = pb::PolytopeSpec {
        source: Some(pb::polytope_spec::Source::Vertices(points())),
        alias: "a".to_owned(),
        ..Default::default()
    };
    let request = pb::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
    call("RegisterPolytopes", &request)
}

/// One script or more for each kind of call.
pub(super) fn scripts() -> Vec<Vec<u8>> {
    let mut scripts = vec![vec![call("GetServerInfo", &pb::GetServerInfoRequest {})]];
    scripts.extend(polytopes());
    scripts.extend(queries());
    scripts.extend(sessions());
    scripts.iter().map(|calls| write(calls)).collect()
}

fn polytopes() -> Vec<Vec<Call>> {
    let alias = || "a".to_owned();
    let get = pb::GetPolytopeRequest {
        key: Some(pb::get_polytope_request::Key::Alias(alias())),
        with_vertices: true,
        with_facets: true,
    };
    let list = pb::ListPolytopesRequest { page_size: 1, ..Default::default() };
    let mesh =
        pb::Mesh { vertices: Some(points()), triangles: vec![0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3] };
    let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let file = pb::MeshFile {
        format: pb::MeshFormat::Obj.into(),
        content: obj.to_vec().into(),
        scale: Some(0.5),
    };
    let spec = |source| pb::PolytopeSpec { source: Some(source), ..Default::default() };
    let meshes = pb::RegisterPolytopesRequest {
        polytopes: vec![
            spec(pb::polytope_spec::Source::Mesh(mesh)),
            spec(pb::polytope_spec::Source::File(file)),
        ],
        validate_only: true,
    };
    let header = pb::UploadHeader {
        content: pb::UploadContent::PointsF64Le.into(),
        spec: Some(pb::PolytopeSpec { alias: alias(), ..Default::default() }),
        ..Default::default()
    };
    let part = |part| pb::UploadPolytopeRequest { part: Some(part) };
    let bytes: Vec<u8> = points().xyz.iter().flat_map(|x| x.to_le_bytes()).collect();
    let chunk = |range: std::ops::Range<usize>| {
        part(pb::upload_polytope_request::Part::Chunk(bytes[range].to_vec().into()))
    };
    let header = part(pb::upload_polytope_request::Part::Header(header));
    vec![
        vec![register(), call("GetPolytope", &get), call("ListPolytopes", &list)],
        vec![call("RegisterPolytopes", &meshes)],
        vec![
            call("UploadPolytope", &header),
            call("UploadPolytope", &chunk(0..50)),
            call("UploadPolytope", &chunk(50..bytes.len())),
            call("GetPolytope", &get),
        ],
        vec![register(), call("DeletePolytope", &pb::DeletePolytopeRequest::default())],
        vec![call("FindMissingPolytopes", &pb::FindMissingPolytopesRequest::default())],
    ]
}

fn queries() -> Vec<Vec<Call>> {
    let (p, q) = (given(0.0), given(1.5));
    let collision =
        pb::CheckCollisionRequest { p: p.clone(), q: q.clone(), margin: Some(0.5), options: None };
    let distance = pb::MeasureDistanceRequest {
        p: p.clone(),
        q: q.clone(),
        stop_above: Some(2.0),
        stop_below: Some(0.1),
        options: Some(pb::QueryOptions { canonical: true, ..Default::default() }),
        ..Default::default()
    };
    let along = pb::MeasureDistanceAlongRequest {
        p: p.clone(),
        q: q.clone(),
        direction: vector(1.0, 0.1, 0.0),
        options: None,
    };
    let depth = pb::MeasurePenetrationRequest {
        p: p.clone(),
        q: given(0.25),
        with_surface: true,
        options: None,
    };
    let linear = pb::LinearMotion { velocity: vector(-3.0, 0.0, 0.5) };
    let screw = pb::ScrewMotion {
        pivot: vector(1.0, 1.0, 1.0),
        velocity: vector(-1.0, 0.0, 0.0),
        axis: vector(0.0, 0.0, 1.0),
        angle: 2.0,
    };
    let to_pose = pb::ToPoseMotion { end: pose(-2.0), pivot: vector(0.0, 0.5, 0.0) };
    let moving = |kind: Kind| pb::FindFirstContactRequest {
        p: p.clone(),
        q: q.clone(),
        q_motion: Some(pb::Motion { kind: Some(kind) }),
        margin: 0.125,
        p_deviation: 0.01,
        time_tolerance: Some(1e-6),
        clearance_tolerance: Some(1e-9),
        ..Default::default()
    };
    let moves = [Kind::Linear(linear), Kind::Screw(screw), Kind::ToPose(to_pose)].map(moving);
    let item = |question| pb::BatchQueryItem { question: Some(question) };
    let batch = pb::BatchQueryRequest {
        items: vec![
            item(pb::batch_query_item::Question::CheckCollision(collision.clone())),
            item(pb::batch_query_item::Question::MeasureDistance(distance.clone())),
        ],
    };
    let direction = pb::Direction {
        form: Some(pb::direction::Form::Vector(pb::Vector3 { x: 1.0, y: 0.0, z: 0.0 })),
    };
    let separated = pb::SeparatedProof { direction: Some(direction), margin_pairs: Vec::new() };
    let proof = pb::static_certificate::Proof::Separated(separated);
    let mut answer = pb::CheckCollisionResponse {
        certificate: Some(pb::StaticCertificate { proof: Some(proof) }),
        ..Default::default()
    };
    answer.set_verdict(pb::Verdict::Separated);
    let claim = pb::CollisionClaim { question: Some(collision.clone()), answer: Some(answer) };
    let verify = pb::VerifyCertificateRequest {
        claim: Some(pb::verify_certificate_request::Claim::Collision(claim)),
    };
    let of_named = pb::CheckCollisionRequest { p: named(0.0), q: named(0.5), ..Default::default() };
    let mut scripts = vec![
        vec![call("CheckCollision", &collision)],
        vec![call("MeasureDistance", &distance)],
        vec![call("MeasureDistanceAlong", &along)],
        vec![call("MeasurePenetration", &depth)],
        vec![call("BatchQuery", &batch)],
        vec![call("VerifyCertificate", &verify)],
        vec![register(), call("CheckCollision", &of_named)],
    ];
    scripts.extend(moves.map(|question| vec![call("FindFirstContact", &question)]));
    scripts
}

fn sessions() -> Vec<Vec<Call>> {
    let body = |id: u32, x| pb::Body {
        id,
        parts: vec![given(0.0).expect("a body")],
        pose: pose(x),
        groups: vec!["g".to_owned()],
        margin: 0.1,
        ..Default::default()
    };
    let pair = || Some(pb::BodyPair { a: 1, b: 2 });
    let mut report = pb::ReportOptions {
        distances: true,
        depths: true,
        first_contacts: true,
        certificates: true,
        nearest_pairs: 1,
        ..Default::default()
    };
    report.set_pairs(pb::PairSelection::All);
    let state = pb::SessionState {
        bodies: vec![body(1, 0.0), body(2, 3.0), body(3, -4.0)],
        rules: Some(pb::PairRules {
            margins: vec![pb::PairMargin { pair: pair(), margin: 0.5 }],
            ..Default::default()
        }),
        release_margin: 0.25,
        ..Default::default()
    };
    let id = || "s".to_owned();
    let open = pb::OpenSessionRequest {
        session_id: id(),
        state: Some(state),
        report: Some(report),
        ..Default::default()
    };
    let nested = |frame_id: u64, x| pb::Frame {
        frame_id,
        poses: vec![pb::BodyPose { id: 2, pose: pose(x), ..Default::default() }],
        ..Default::default()
    };
    let packed = |frame_id| pb::Frame {
        frame_id,
        packed_poses: Some(pb::PackedPoses {
            ids: vec![1, 2],
            translations: vec![0.0, 0.0, 0.0, 0.5, 0.0, 0.0],
            rotations: vec![1.0, 0.0, 0.0, 0.0, 0.8, 0.6, 0.0, 0.0],
            teleported_ids: vec![1],
            ..Default::default()
        }),
        ..Default::default()
    };
    let changes = pb::Frame {
        frame_id: 5,
        added_bodies: vec![body(4, 1.0)],
        removed_body_ids: vec![3],
        rules: Some(pb::PairRules {
            ignored_pairs: pair().into_iter().collect(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let step = |frames| {
        call("StepSession", &pb::StepSessionRequest { session_id: id(), frames, take_over: false })
    };
    let start = pb::stream_session_request::Start::Open(open.clone());
    let first = pb::StreamSessionRequest {
        start: Some(start),
        latest_wins: true,
        frame: Some(nested(1, 2.0)),
        ..Default::default()
    };
    let next = |frame| pb::StreamSessionRequest { frame: Some(frame), ..Default::default() };
    let get = pb::GetSessionRequest { session_id: id() };
    let close = pb::CloseSessionRequest { session_id: id(), allow_missing: false };
    vec![
        vec![
            call("OpenSession", &open),
            step(vec![nested(1, 0.5), packed(2)]),
            step(vec![changes.clone()]),
            call("GetSession", &get),
            call("ListSessions", &pb::ListSessionsRequest::default()),
            call("CloseSession", &close),
        ],
        vec![
            call("StreamSession", &first),
            call("StreamSession", &next(packed(2))),
            call("StreamSession", &next(nested(3, -3.0))),
            call("StreamSession", &next(changes)),
        ],
    ]
}
