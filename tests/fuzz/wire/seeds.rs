//! Scripts that use every method as it is meant to be used.

use api::motion::Kind;
use api::placed_body::Source;
use clearance_proto as api;
use prost::Message;

use super::{Call, method, robot_seeds, write};

pub(super) fn call(name: &str, message: &impl Message) -> Call {
    (method(name), message.encode_to_vec())
}

pub(super) fn vector(x: f64, y: f64, z: f64) -> Option<api::Vector3> {
    Some(api::Vector3 { x, y, z })
}

pub(super) fn pose(x: f64) -> Option<api::Pose> {
    let turn = api::Quaternion { w: 0.9, x: 0.1, y: -0.3, z: 0.2 };
    let orientation = Some(api::pose::Orientation::Rotation(turn));
    Some(api::Pose { translation: vector(x, 0.25, 0.0), orientation })
}

pub(super) fn points() -> api::Points {
    let xyz = vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    api::Points { xyz }
}

fn given(x: f64) -> Option<api::PlacedBody> {
    Some(api::PlacedBody { source: Some(Source::Vertices(points())), pose: pose(x) })
}

/// A capsule.
fn rounded(x: f64) -> api::PlacedBody {
    let core = Some(api::rounded_shape::Core::Length(0.5));
    let scale = Some(api::Vector3 { x: 2.0, y: -1.0, z: 0.5 });
    let shape = api::RoundedShape { core, radius: 0.25, scale };
    api::PlacedBody { source: Some(Source::Rounded(shape)), pose: pose(x) }
}

/// Half spaces and what is curved.
fn named_shapes() -> impl Iterator<Item = api::RoundedShape> {
    use api::rounded_shape::Core;
    let cores = [
        Core::HalfSpace(api::HalfSpace { reach: 8.0 }),
        Core::Cylinder(api::Cylinder { radius_xy: 0.5, length: 1.0 }),
        Core::Cone(api::Cone { radius_xy: 0.5, length: 1.0 }),
        Core::Ellipsoid(api::Vector3 { x: 0.5, y: 0.25, z: 1.0 }),
    ];
    let shape = |core| api::RoundedShape { core: Some(core), radius: 0.125, ..Default::default() };
    cores.into_iter().map(shape)
}

fn named(x: f64) -> Option<api::PlacedBody> {
    Some(api::PlacedBody { source: Some(Source::Alias("a".to_owned())), pose: pose(x) })
}

fn register() -> Call {
    let spec = api::PolytopeSpec {
        source: Some(api::polytope_spec::Source::Vertices(points())),
        alias: "a".to_owned(),
        ..Default::default()
    };
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
    call("RegisterPolytopes", &request)
}

/// One script or more for each kind of call.
pub(super) fn scripts() -> Vec<Vec<u8>> {
    let mut scripts = vec![vec![call("GetServerInfo", &api::GetServerInfoRequest {})]];
    scripts.extend(polytopes());
    scripts.extend(queries());
    scripts.extend(sessions());
    scripts.extend(robot_seeds::scripts());
    scripts.iter().map(|calls| write(calls)).collect()
}

fn polytopes() -> Vec<Vec<Call>> {
    let alias = || "a".to_owned();
    let get = api::GetPolytopeRequest {
        key: Some(api::get_polytope_request::Key::Alias(alias())),
        with_vertices: true,
        with_facets: true,
        reply_bytes_max: 1_000,
        ..Default::default()
    };
    let list = api::ListPolytopesRequest { page_size: 1, ..Default::default() };
    let mesh =
        api::Mesh { vertices: Some(points()), triangles: vec![0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3] };
    let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let file = api::MeshFile {
        format: api::MeshFormat::Obj.into(),
        content: obj.to_vec().into(),
        scale: Some(0.5),
    };
    let scene =
        br##"<COLLADA><asset><unit meter="0.5"/></asset><library_geometries><geometry id="g"><mesh>
        <source id="p"><float_array id="a">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
        <accessor source="#a" count="4" stride="3"/></technique_common></source>
        <vertices id="v"><input semantic="POSITION" source="#p"/></vertices><polylist>
        <input semantic="VERTEX" source="#v" offset="0"/><vcount>3 3 3 3</vcount>
        <p>0 2 1 0 1 3 1 2 3 2 0 3</p></polylist></mesh></geometry></library_geometries>
        <library_visual_scenes><visual_scene id="s"><node id="n"><rotate>0 0 1 30</rotate>
        <instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
        <scene><instance_visual_scene url="#s"/></scene></COLLADA>"##;
    let collada = api::MeshFile {
        format: api::MeshFormat::Collada.into(),
        content: scene.to_vec().into(),
        scale: None,
    };
    let spec = |source| api::PolytopeSpec { source: Some(source), ..Default::default() };
    let field = api::HeightField {
        rows: 2,
        columns: 3,
        spacing_x: 0.5,
        spacing_y: 0.25,
        heights: vec![0.0, 1.0, 0.5, 0.25, 0.0, 2.0],
        holes: vec![1],
        diagonal: api::CellDiagonal::Falling.into(),
    };
    let patch = api::HeightPatch {
        base: Some(api::height_patch::Base::Alias("field".to_owned())),
        row: 1,
        column: 0,
        rows: 1,
        columns: 2,
        heights: vec![0.75, -1.0],
    };
    let cloud = api::PointCloud { xyz: points().xyz, radius: 0.25, ..Default::default() };
    let meshes = api::RegisterPolytopesRequest {
        polytopes: vec![
            spec(api::polytope_spec::Source::Mesh(mesh)),
            spec(api::polytope_spec::Source::File(file)),
            spec(api::polytope_spec::Source::File(collada)),
            spec(api::polytope_spec::Source::HeightField(field.clone())),
            spec(api::polytope_spec::Source::Cloud(cloud)),
        ],
        validate_only: true,
    };
    let source = Some(api::polytope_spec::Source::HeightField(field));
    let field = api::PolytopeSpec {
        source,
        alias: "field".to_owned(),
        move_alias: true,
        ..Default::default()
    };
    let fields = api::RegisterPolytopesRequest { polytopes: vec![field], validate_only: false };
    let patches = api::RegisterPolytopesRequest {
        polytopes: vec![spec(api::polytope_spec::Source::HeightPatch(patch))],
        validate_only: true,
    };
    let header = api::UploadHeader {
        content: api::UploadContent::PointsF64Le.into(),
        spec: Some(api::PolytopeSpec { alias: alias(), ..Default::default() }),
        ..Default::default()
    };
    let part = |part| api::UploadPolytopeRequest { part: Some(part) };
    let bytes: Vec<u8> = points().xyz.iter().flat_map(|x| x.to_le_bytes()).collect();
    let chunk = |range: std::ops::Range<usize>| {
        part(api::upload_polytope_request::Part::Chunk(bytes[range].to_vec().into()))
    };
    let header = part(api::upload_polytope_request::Part::Header(header));
    vec![
        vec![register(), call("GetPolytope", &get), call("ListPolytopes", &list)],
        vec![call("RegisterPolytopes", &meshes)],
        vec![call("RegisterPolytopes", &fields), call("RegisterPolytopes", &patches)],
        vec![
            call("UploadPolytope", &header),
            call("UploadPolytope", &chunk(0..50)),
            call("UploadPolytope", &chunk(50..bytes.len())),
            call("GetPolytope", &get),
        ],
        vec![register(), call("DeletePolytope", &api::DeletePolytopeRequest::default())],
        vec![call("FindMissingPolytopes", &api::FindMissingPolytopesRequest::default())],
    ]
}

fn queries() -> Vec<Vec<Call>> {
    let (p, q) = (given(0.0), given(1.5));
    let collision =
        api::CheckCollisionRequest { p: p.clone(), q: q.clone(), margin: Some(0.5), options: None };
    let distance = api::MeasureDistanceRequest {
        p: p.clone(),
        q: q.clone(),
        stop_above: Some(2.0),
        stop_below: Some(0.1),
        options: Some(api::QueryOptions { canonical: true, ..Default::default() }),
        ..Default::default()
    };
    let along = api::MeasureDistanceAlongRequest {
        p: p.clone(),
        q: q.clone(),
        direction: vector(1.0, 0.1, 0.0),
        options: None,
    };
    let depth = api::MeasurePenetrationRequest {
        p: p.clone(),
        q: given(0.25),
        with_surface: true,
        options: None,
    };
    let linear = api::LinearMotion { velocity: vector(-3.0, 0.0, 0.5) };
    let screw = api::ScrewMotion {
        pivot: vector(1.0, 1.0, 1.0),
        velocity: vector(-1.0, 0.0, 0.0),
        axis: vector(0.0, 0.0, 1.0),
        angle: 2.0,
    };
    let to_pose = api::ToPoseMotion { end: pose(-2.0), pivot: vector(0.0, 0.5, 0.0), spin: None };
    let moving = |kind: Kind| api::FindFirstContactRequest {
        p: p.clone(),
        q: q.clone(),
        q_motion: Some(api::Motion { kind: Some(kind) }),
        margin: 0.125,
        p_deviation: 0.01,
        time_tolerance: Some(1e-6),
        clearance_tolerance: Some(1e-9),
        ..Default::default()
    };
    let moves = [Kind::Linear(linear), Kind::Screw(screw), Kind::ToPose(to_pose)].map(moving);
    let item = |question| api::BatchQueryItem { question: Some(question) };
    let batch = api::BatchQueryRequest {
        items: vec![
            item(api::batch_query_item::Question::CheckCollision(collision.clone())),
            item(api::batch_query_item::Question::MeasureDistance(distance.clone())),
        ],
    };
    let direction = api::Direction {
        form: Some(api::direction::Form::Vector(api::Vector3 { x: 1.0, y: 0.0, z: 0.0 })),
    };
    let separated = api::SeparatedProof { direction: Some(direction), margin_pairs: Vec::new() };
    let proof = api::static_certificate::Proof::Separated(separated);
    let mut answer = api::CheckCollisionResponse {
        certificate: Some(api::StaticCertificate { proof: Some(proof) }),
        ..Default::default()
    };
    answer.set_verdict(api::Verdict::Separated);
    let claim = api::CollisionClaim { question: Some(collision.clone()), answer: Some(answer) };
    let verify = api::VerifyCertificateRequest {
        claim: Some(api::verify_certificate_request::Claim::Collision(claim)),
    };
    let of_named =
        api::CheckCollisionRequest { p: named(0.0), q: named(0.5), ..Default::default() };
    let of_shapes = named_shapes().map(|shape| api::CheckCollisionRequest {
        p: Some(api::PlacedBody { source: Some(Source::Rounded(shape)), pose: pose(0.0) }),
        q: given(0.5),
        ..Default::default()
    });
    let mut scripts: Vec<Vec<Call>> =
        of_shapes.map(|question| vec![call("CheckCollision", &question)]).collect();
    scripts.extend([
        vec![call("CheckCollision", &collision)],
        vec![call("MeasureDistance", &distance)],
        vec![call("MeasureDistanceAlong", &along)],
        vec![call("MeasurePenetration", &depth)],
        vec![call("BatchQuery", &batch)],
        vec![call("VerifyCertificate", &verify)],
        vec![register(), call("CheckCollision", &of_named)],
    ]);
    let several = api::FindFirstCollisionRequest {
        bodies: moves
            .iter()
            .map(|asked| api::MovingBody { body: asked.q.clone(), motion: asked.q_motion.clone() })
            .take(1)
            .chain([api::MovingBody { body: given(-4.0), motion: None }])
            .collect(),
        options: None,
    };
    scripts.push(vec![call("FindFirstCollision", &several)]);
    scripts.extend(moves.map(|question| vec![call("FindFirstContact", &question)]));
    scripts
}

fn sessions() -> Vec<Vec<Call>> {
    let body = |id: u32, x| api::Body {
        id: Some(id),
        parts: match id {
            2 => vec![given(0.0).expect("a body"), rounded(0.5)],
            4 => vec![rounded(0.0)],
            _ => vec![given(0.0).expect("a body")],
        },
        pose: pose(x),
        groups: vec!["g".to_owned()],
        margin: 0.1,
        ..Default::default()
    };
    let pair = || Some(api::BodyPair { a: Some(1), b: Some(2) });
    let mut report = api::ReportOptions {
        distances: true,
        depths: true,
        first_contacts: true,
        certificates: true,
        nearest_pairs: 1,
        pairs_below: Some(-0.5),
        normals: true,
        impacts: true,
        contact_polygons: true,
        contact_polygon_depth: 0.25,
        face_normals: true,
        ..Default::default()
    };
    report.set_pairs(api::PairSelection::All);
    let state = api::SessionState {
        bodies: vec![body(1, 0.0), body(2, 3.0), body(3, -4.0)],
        rules: Some(api::PairRules {
            margins: vec![api::PairMargin { pair: pair(), margin: 0.5 }],
            ..Default::default()
        }),
        release_margin: 0.25,
        begin_margin: 0.125,
        ..Default::default()
    };
    let id = || "s".to_owned();
    let open = api::OpenSessionRequest {
        session_id: id(),
        state: Some(state),
        report: Some(report),
        ..Default::default()
    };
    let nested = |frame_id: u64, x| api::Frame {
        frame_id,
        poses: vec![api::BodyPose { id: Some(2), pose: pose(x), ..Default::default() }],
        ..Default::default()
    };
    let packed = |frame_id| api::Frame {
        frame_id,
        packed_poses: Some(api::PackedPoses {
            ids: vec![1, 2].into(),
            translations: vec![0.0, 0.0, 0.0, 0.5, 0.0, 0.0].into(),
            rotations: vec![1.0, 0.0, 0.0, 0.0, 0.8, 0.6, 0.0, 0.0].into(),
            teleported_ids: vec![1].into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let changes = api::Frame {
        frame_id: 5,
        added_bodies: vec![body(4, 1.0)],
        removed_body_ids: vec![3],
        rules: Some(Box::new(api::PairRules {
            ignored_pairs: pair().into_iter().collect(),
            ..Default::default()
        })),
        ..Default::default()
    };
    let step = |frames| {
        call(
            "StepSession",
            &api::StepSessionRequest { session_id: id(), frames, ..Default::default() },
        )
    };
    let start = api::stream_session_request::Start::Open(Box::new(open.clone()));
    let first = api::StreamSessionRequest {
        start: Some(start),
        latest_wins: true,
        frame: Some(Box::new(nested(1, 2.0))),
        ..Default::default()
    };
    let next =
        |frame| api::StreamSessionRequest { frame: Some(Box::new(frame)), ..Default::default() };
    let get = api::GetSessionRequest { session_id: id(), ..Default::default() };
    let close = api::CloseSessionRequest { session_id: id(), ..Default::default() };
    let asked = scene_questions(id());
    vec![
        vec![call("OpenSession", &open), call("QueryScene", &asked)],
        vec![
            call("OpenSession", &open),
            step(vec![nested(1, 0.5), packed(2)]),
            step(vec![changes.clone()]),
            call("GetSession", &get),
            call("ListSessions", &api::ListSessionsRequest::default()),
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

fn scene_questions(session_id: String) -> api::QuerySceneRequest {
    use api::scene_query::Kind as Asked;
    let ray = api::Ray { origin: vector(-9.0, 0.25, 0.0), displacement: vector(20.0, 0.0, 0.5) };
    let linear = api::LinearMotion { velocity: vector(-3.0, 0.0, 0.5) };
    let cast = api::ShapeCast {
        body: given(8.0),
        motion: Some(api::Motion { kind: Some(Kind::Linear(linear)) }),
        margin: 0.125,
        time_tolerance: Some(1e-6),
    };
    let nearest = api::NearestQuery { body: given(6.0), count: 2, below: Some(9.0) };
    let kinds = [
        Asked::Ray(ray),
        Asked::ShapeCast(cast),
        Asked::Overlap(given(0.5).expect("a body")),
        Asked::Overlap(rounded(0.5)),
        Asked::Point(api::Vector3 { x: 0.5, y: 0.25, z: 0.0 }),
        Asked::Nearest(nearest),
    ];
    let own = Some(api::OwnFilter { ignored_body_ids: vec![1], category: Some(1), mask: Some(3) });
    api::QuerySceneRequest {
        session_id,
        moment: Some(api::SceneMoment { frame_id: Some(0), fraction: 0.0 }),
        queries: kinds.map(|kind| api::SceneQuery { kind: Some(kind), filter: own.clone() }).into(),
        packed_rays: Some(api::PackedRays {
            origins: vec![-9.0, 0.25, 0.0].into(),
            displacements: vec![20.0, 0.0, 0.5].into(),
            ignored_bodies: vec![1].into(),
            categories: vec![1].into(),
            masks: vec![1].into(),
        }),
        packed_casts: Some(api::PackedCasts {
            translations: vec![8.0, 0.0, 0.0].into(),
            rotations: vec![1.0, 0.0, 0.0, 0.0].into(),
            displacements: vec![-20.0, 0.0, 0.5].into(),
            ..Default::default()
        }),
        cast_bodies: given(0.0)
            .map(|body| api::PlacedBody { pose: None, ..body })
            .into_iter()
            .collect(),
        ..Default::default()
    }
}
