//! Questions about meshes kept as the solids that they bound, and where those are refused.

use api::face_contact::{PFace, QFace};
use api::polytope_spec::Source;
use api::{Outcome, Verdict};
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use clearance_runtime::settings::Limits;
use tonic::{Code, Status};

use crate::server::{Server, body, check, cube, vector};

/// A U, open towards +y: its slot is one wide, from x = 1 to 2, and its bottom is at y = 1.
pub(crate) fn channel() -> api::Mesh {
    let outline: [[f64; 2]; 8] =
        [[0., 0.], [3., 0.], [3., 3.], [2., 3.], [2., 1.], [1., 1.], [1., 3.], [0., 3.]];
    let cut = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]];
    let mut triangles = Vec::new();
    for [a, b, c] in cut {
        triangles.extend([a, c, b, a + 8, b + 8, c + 8]);
    }
    for i in 0..8 {
        let next = (i + 1) % 8;
        triangles.extend([i, next, next + 8, i, next + 8, i + 8]);
    }
    let at = |z: f64| outline.iter().flat_map(move |&[x, y]| [x, y, z]);
    api::Mesh { vertices: Some(api::Points { xyz: at(0.).chain(at(1.)).collect() }), triangles }
}

pub(crate) fn keep(alias: &str, mesh: api::Mesh) -> api::PolytopeSpec {
    api::PolytopeSpec {
        source: Some(Source::Mesh(mesh)),
        treatment: api::MeshTreatment::Polyhedron.into(),
        alias: alias.to_owned(),
        ..Default::default()
    }
}

pub(crate) async fn register(
    server: &Server,
    spec: api::PolytopeSpec,
) -> Result<api::RegistrationReport, Status> {
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
    Ok(server.polytopes().register_polytopes(request).await?.into_inner().reports.remove(0))
}

/// With a channel and a peg half as wide as its slot, from y = 0 to 1.
pub(crate) async fn with_channel() -> (Server, String) {
    let server = Server::start().await;
    let peg: Vec<f64> = cube().chunks(3).flat_map(|c| [c[0] * 0.5, c[1], c[2]]).collect();
    server.register("peg", &peg).await;
    let report = register(&server, keep("channel", channel())).await.unwrap();
    (server, report.polytope.unwrap().id)
}

/// With a channel, the three boxes that it is the union of, and a peg.
pub(crate) async fn with_boxes() -> Server {
    let (server, _) = with_channel().await;
    let block = |x: [f64; 2], y: [f64; 2]| -> Vec<f64> {
        cube()
            .chunks(3)
            .flat_map(|c| [x[0] + c[0] * (x[1] - x[0]), y[0] + c[1] * (y[1] - y[0]), c[2]])
            .collect()
    };
    server.register("floor", &block([0., 3.], [0., 1.])).await;
    server.register("left", &block([0., 1.], [0., 3.])).await;
    server.register("right", &block([2., 3.], [0., 3.])).await;
    server
}

pub(crate) fn placed(alias: &str, x: f64, y: f64) -> api::PlacedBody {
    let pose = api::Pose { translation: vector(x, y, 0.0), orientation: None };
    api::PlacedBody { pose: Some(pose), ..body(alias, 0.0) }
}

#[tokio::test]
async fn verdicts_in_the_slot_are_exact_and_name_faces_that_meet() {
    let (server, _) = with_channel().await;
    let ask = async |p: api::PlacedBody, q: api::PlacedBody| {
        let question = api::CheckCollisionRequest { p: Some(p), q: Some(q), ..Default::default() };
        server.queries().check_collision(question).await.unwrap().into_inner()
    };
    let hull_is_in_the_way = placed("peg", 1.25, 1.5);
    let answer = ask(placed("channel", 0., 0.), hull_is_in_the_way).await;
    assert_eq!((answer.verdict(), answer.face_contact), (Verdict::Separated, None));
    assert!(!answer.uncertified && answer.certificate.is_some());
    assert_eq!(answer.cost.unwrap().queries, 1);
    for (x, y, expected) in [
        (1.0, 1.5, Verdict::Touching),
        (1f64.next_down(), 1.5, Verdict::Overlapping),
        (1.25, 1.0, Verdict::Touching),
        (1.25, 1f64.next_down(), Verdict::Overlapping),
        (1.5, 1.5, Verdict::Touching),
        (0.25, 0.5, Verdict::Overlapping),
        (3.0, 0.0, Verdict::Touching),
        (3f64.next_up(), 0.0, Verdict::Separated),
    ] {
        let there = ask(placed("channel", 0., 0.), placed("peg", x, y)).await;
        let back = ask(placed("peg", x, y), placed("channel", 0., 0.)).await;
        assert_eq!((there.verdict(), back.verdict()), (expected, expected), "{x} {y}");
        assert_eq!(there.face_contact.is_some(), expected != Verdict::Separated);
        for answer in [there, back] {
            assert_eq!(
                (answer.uncertified, answer.certificate.is_some()),
                (false, true),
                "{x} {y}"
            );
        }
    }
    // Two channels, and one in the other's slot; a facet of the peg is one of its six.
    let own = ask(placed("channel", 0., 0.), placed("channel", 0., 0.)).await;
    assert_eq!(own.verdict(), Verdict::Overlapping);
    let contact = ask(placed("channel", 0., 0.), placed("peg", 1.0, 1.5)).await.face_contact;
    let Some(QFace::QFacet(facet)) = contact.unwrap().q_face else { panic!("{contact:?}") };
    assert!(facet < 6);
}

fn moving(
    p: api::PlacedBody,
    q: api::PlacedBody,
    to: api::motion::Kind,
) -> api::FindFirstContactRequest {
    let q_motion = Some(api::Motion { kind: Some(to) });
    api::FindFirstContactRequest { p: Some(p), q: Some(q), q_motion, ..Default::default() }
}

fn by(x: f64, y: f64) -> api::motion::Kind {
    api::motion::Kind::Linear(api::LinearMotion { velocity: vector(x, y, 0.0) })
}

#[tokio::test]
async fn a_peg_meets_the_bottom_of_the_slot_when_it_gets_there_and_not_before() {
    let (server, _) = with_channel().await;
    let ask = async |question: api::FindFirstContactRequest| {
        server.queries().find_first_contact(question).await.unwrap().into_inner()
    };
    let start = || [placed("channel", 0., 0.), placed("peg", 1.25, 5.)];
    let question = |kind| {
        let [p, q] = start();
        moving(p, q, kind)
    };
    let end = api::Pose { translation: vector(1.25, -3., 0.), orientation: None };
    let to_pose =
        api::motion::Kind::ToPose(api::ToPoseMotion { end: Some(end), pivot: None, spin: None });
    let screw = api::ScrewMotion { velocity: vector(0., -8., 0.), ..Default::default() };
    for kind in [by(0., -8.), to_pose, api::motion::Kind::Screw(screw)] {
        let answer = ask(question(kind)).await;
        assert_eq!((answer.outcome(), answer.t_contact), (Outcome::Contact, Some(0.5)));
        assert_eq!(answer.t_free, 0.5f64.next_down());
        assert!(!answer.uncertified && answer.certificate.is_some());
        assert_eq!(answer.initial_verdict(), Verdict::Separated);
        let contact = answer.face_contact.unwrap();
        assert_eq!(contact.point.unwrap().y, 1.0);
        assert!(contact.p_face.is_some() && contact.q_face.is_some(), "{contact:?}");
    }
    let short = ask(question(by(0., -3.5))).await;
    assert_eq!((short.outcome(), short.t_free, short.t_contact), (Outcome::NoContact, 1.0, None));
    assert!(!short.uncertified && short.certificate.is_some());
    let [p, q] = [placed("peg", 1.5, 1.5), placed("channel", 0., 0.)];
    let touching = ask(moving(p, q, by(0., 9.))).await;
    assert_eq!((touching.t_free, touching.t_contact), (0.0, Some(0.0)));
    assert_eq!(touching.initial_verdict(), Verdict::Touching);
    let Some(PFace::PFacet(_)) = touching.face_contact.unwrap().p_face else { panic!("a facet") };

    // A budget is kept, and says so.
    let budget = Some(api::Budget { steps: Some(2), time: None });
    let options = Some(api::QueryOptions { budget, ..Default::default() });
    let stopped = ask(api::FindFirstContactRequest { options, ..question(by(0., -8.)) }).await;
    assert_eq!((stopped.stopped(), stopped.outcome()), (api::Stopped::Steps, Outcome::Unspecified));
}

#[tokio::test]
async fn what_keeps_clear_of_the_hulls_is_certified_and_what_only_the_hulls_do_is_never() {
    let (server, _) = with_channel().await;
    let mut client = server.queries();
    let verify = async |claim: api::verify_certificate_request::Claim| {
        let claim = api::VerifyCertificateRequest { claim: Some(claim) };
        server.queries().verify_certificate(claim).await.unwrap().into_inner()
    };
    let collision = |question: &api::CheckCollisionRequest,
                     answer: &api::CheckCollisionResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        api::verify_certificate_request::Claim::Collision(api::CollisionClaim { question, answer })
    };
    let motion = |question: &api::FindFirstContactRequest,
                  answer: &api::FindFirstContactResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        api::verify_certificate_request::Claim::FirstContact(api::FirstContactClaim {
            question,
            answer,
        })
    };
    // Beside the channel by the least number: the hulls' vertices name the direction, or three
    // numbers.
    let question = api::CheckCollisionRequest {
        p: Some(placed("channel", 0., 0.)),
        q: Some(placed("peg", 3f64.next_up(), 0.)),
        ..Default::default()
    };
    let mut answer = client.check_collision(question.clone()).await.unwrap().into_inner();
    assert!(!answer.uncertified && answer.certificate.is_some());
    let judged = verify(collision(&question, &answer)).await;
    assert!(judged.valid, "{}", judged.refusal);
    // A false claim with the same proof.
    let inside =
        api::CheckCollisionRequest { q: Some(placed("peg", 0.25, 0.5)), ..question.clone() };
    assert!(!verify(collision(&inside, &answer)).await.valid);
    // No wish for a certificate is no lack of one.
    let options = Some(api::QueryOptions { omit_certificate: true, ..Default::default() });
    let brief = api::CheckCollisionRequest { options, ..question.clone() };
    let brief = client.check_collision(brief).await.unwrap().into_inner();
    assert!(!brief.uncertified && brief.certificate.is_none());

    // In the slot the hull overlaps and the channel does not: the hull's proof, which is what a
    // polytope of the channel's points is answered with, must not pass for the channel.
    let xyz = channel().vertices.unwrap().xyz;
    server.register("hull", &xyz).await;
    let [hull, real] = ["hull", "channel"].map(|p| api::CheckCollisionRequest {
        p: Some(placed(p, 0., 0.)),
        q: Some(placed("peg", 1.25, 1.5)),
        ..Default::default()
    });
    answer = client.check_collision(hull.clone()).await.unwrap().into_inner();
    assert_eq!(answer.verdict(), Verdict::Overlapping);
    assert!(verify(collision(&hull, &answer)).await.valid);
    let judged = verify(collision(&real, &answer)).await;
    assert!(!judged.valid && judged.refusal.contains("polyhedra"), "{}", judged.refusal);

    // Past the channel, and into the slot.
    let past = moving(placed("channel", 0., 0.), placed("peg", -2., 5.), by(0., -9.));
    let mut free = client.find_first_contact(past.clone()).await.unwrap().into_inner();
    assert_eq!((free.outcome(), free.t_free, free.uncertified), (Outcome::NoContact, 1.0, false));
    let judged = verify(motion(&past, &free)).await;
    assert!(judged.valid, "{}", judged.refusal);
    let into = moving(placed("channel", 0., 0.), placed("peg", 0.25, 5.), by(0., -9.));
    assert!(!verify(motion(&into, &free)).await.valid);
    let [hull, real] = ["hull", "channel"]
        .map(|p| moving(placed(p, 0., 0.), placed("peg", 1.25, 5.), by(0., -3.5)));
    free = client.find_first_contact(hull.clone()).await.unwrap().into_inner();
    assert_eq!(free.outcome(), Outcome::Contact);
    assert!(verify(motion(&hull, &free)).await.valid);
    assert!(!verify(motion(&real, &free)).await.valid);
}

/// As boxes, whose union the channel is, by the way that polytopes go.
#[tokio::test]
async fn what_is_asked_of_a_channel_is_what_its_three_boxes_answer() {
    let server = with_boxes().await;
    let random = &mut Random::new(4);
    let mut met = 0;
    for _ in 0..60 {
        let eighths = |random: &mut Random, reach: u64| {
            (random.below(16 * reach + 1) as f64 - 8.0 * reach as f64) / 8.0
        };
        let q = placed("peg", 1.0 + eighths(random, 4), 1.0 + eighths(random, 4));
        let motion = by(eighths(random, 6), eighths(random, 6));
        let question = |p: &str| {
            api::batch_query_item::Question::FindFirstContact(moving(
                placed(p, 0., 0.),
                q.clone(),
                motion.clone(),
            ))
        };
        let items = ["channel", "floor", "left", "right"]
            .map(|p| api::BatchQueryItem { question: Some(question(p)) })
            .to_vec();
        let reply = server.queries().batch_query(api::BatchQueryRequest { items }).await.unwrap();
        let answers: Vec<_> = reply
            .into_inner()
            .answers
            .into_iter()
            .map(|answer| match answer.answer {
                Some(api::batch_query_answer::Answer::FindFirstContact(answer)) => answer,
                other => panic!("{other:?}"),
            })
            .collect();
        let parts = &answers[1..];
        let verdict = parts.iter().map(|part| part.initial_verdict).max().unwrap();
        assert_eq!(answers[0].initial_verdict, verdict, "{q:?} {motion:?}");
        let times = parts.iter().filter_map(|part| part.t_contact.map(|t| [part.t_free, t]));
        let first = times.reduce(|a, b| if b < a { b } else { a });
        assert_eq!(answers[0].t_contact.map(|t| [answers[0].t_free, t]), first, "{q:?} {motion:?}");
        met += usize::from(first.is_some());
    }
    assert!((10..50).contains(&met), "{met}");
}

#[tokio::test]
async fn of_several_bodies_those_collide_first_that_would_alone() {
    let (server, _) = with_channel().await;
    let mut client = server.queries();
    let random = &mut Random::new(8);
    let mut met = 0;
    for _ in 0..20 {
        let mut whole = |reach: u64| random.below(2 * reach + 1) as f64 - reach as f64;
        let bodies: Vec<api::MovingBody> = (0..5)
            .map(|k| {
                let alias = if k % 2 == 0 { "channel" } else { "peg" };
                let body = Some(placed(alias, 6.0 * f64::from(k) + whole(2), whole(6)));
                let motion = Some(api::Motion { kind: Some(by(whole(6), whole(6))) });
                api::MovingBody { body, motion }
            })
            .collect();
        let mut first: Option<(f64, [usize; 2], api::FindFirstContactResponse)> = None;
        for (p, q) in (0..5).flat_map(|p| (p + 1..5).map(move |q| (p, q))) {
            let question = api::FindFirstContactRequest {
                p: bodies[p].body.clone(),
                q: bodies[q].body.clone(),
                p_motion: bodies[p].motion.clone(),
                q_motion: bodies[q].motion.clone(),
                ..Default::default()
            };
            let alone = client.find_first_contact(question).await.unwrap().into_inner();
            let Some(t) = alone.t_contact else { continue };
            if first.as_ref().is_none_or(|(earliest, ..)| t < *earliest) {
                first = Some((t, [p, q], alone));
            }
        }
        let request = api::FindFirstCollisionRequest { bodies, options: None };
        let found = client.find_first_collision(request.clone()).await.unwrap().into_inner();
        assert!(!found.uncertified && found.cost.unwrap().queries == 1);
        judge_collision(&server, &request, &found).await;
        let Some((t, [p, q], alone)) = first else {
            assert_eq!((found.outcome(), found.t_free, found.p), (Outcome::NoContact, 1.0, None));
            continue;
        };
        met += 1;
        assert_eq!((found.t_contact, found.t_free), (Some(t), alone.t_free));
        assert_eq!([found.p, found.q], [p, q].map(|place| u32::try_from(place).ok()));
        assert_eq!(found.initial_verdict, alone.initial_verdict);
        assert_eq!(found.face_contact.unwrap().point, alone.face_contact.unwrap().point);
    }
    assert!((5..20).contains(&met), "{met}");
    let metrics = server.info().get_server_metrics(api::GetServerMetricsRequest {}).await.unwrap();
    let questions = metrics.into_inner().questions;
    let counted = questions.iter().find(|row| row.question == "find_first_collision").unwrap();
    assert_eq!(counted.answered, 20);
}

/// What is said is valid, and nothing else is: neither later, nor of another pair, nor without a
/// part of the proof.
async fn judge_collision(
    server: &Server,
    question: &api::FindFirstCollisionRequest,
    answer: &api::FindFirstCollisionResponse,
) {
    let is_valid = async |answer: &api::FindFirstCollisionResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        let claim = api::FirstCollisionClaim { question, answer };
        let claim = Some(api::verify_certificate_request::Claim::FirstCollision(claim));
        let request = api::VerifyCertificateRequest { claim };
        server.queries().verify_certificate(request).await.map(|judged| judged.into_inner().valid)
    };
    assert!(is_valid(answer).await.unwrap());
    let mut lie = answer.clone();
    let Some(t) = answer.t_contact else {
        lie.q = Some(1);
        let status = is_valid(&lie).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", "first_collision.answer.q");
        lie.q = None;
        lie.set_outcome(Outcome::Contact);
        lie.set_initial_verdict(Verdict::Separated);
        let status = is_valid(&lie).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", "first_collision.answer.p");
        return;
    };
    lie.t_contact = Some(t.next_up());
    lie.t_free = t;
    assert!(!is_valid(&lie).await.unwrap());
    lie.clone_from(answer);
    (lie.p, lie.q) = (Some(answer.q.unwrap() - 1), answer.q);
    assert_eq!(is_valid(&lie).await.unwrap(), lie.p == answer.p);
    lie.clone_from(answer);
    lie.certificate.as_mut().unwrap().contact = None;
    assert!(!is_valid(&lie).await.unwrap());
    lie.certificate = None;
    let status = is_valid(&lie).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "first_collision.answer.certificate");
}

/// One peg is in the slot, and the others are far from everything.
#[tokio::test]
async fn what_is_not_proven_of_several_bodies_is_named_with_the_reason() {
    let limits = Limits { cover_steps_max: 4, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    register(&server, keep("channel", channel())).await.unwrap();
    let peg: Vec<f64> = cube().chunks(3).flat_map(|c| [c[0] * 0.5, c[1], c[2]]).collect();
    server.register("peg", &peg).await;
    let bodies = [("peg", 90., 0.), ("channel", 0., 0.), ("peg", 1.25, 1.5), ("peg", -9., 9.)];
    let still = |(alias, x, y)| api::MovingBody { body: Some(placed(alias, x, y)), motion: None };
    let bodies = bodies.map(still).to_vec();
    let ask = async |omit_certificate| {
        let options = Some(api::QueryOptions { omit_certificate, ..Default::default() });
        let request = api::FindFirstCollisionRequest { bodies: bodies.clone(), options };
        server.queries().find_first_collision(request).await.unwrap().into_inner()
    };
    let found = ask(false).await;
    assert_eq!(found.uncertified_pairs, [api::PlacePair { p: 1, q: 2 }]);
    assert!(found.uncertified && found.certificate.is_some());
    assert_eq!(found.uncertified_reason(), api::UncertifiedReason::TooLong);
    let found = ask(true).await;
    assert_eq!((found.uncertified, found.certificate), (false, None));
}

#[tokio::test]
async fn several_bodies_are_refused_with_the_field_of_the_one_that_is_wrong() {
    let limits =
        Limits { collision_bodies_max: 3, collision_vertices_max: 40, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    register(&server, keep("channel", channel())).await.unwrap();
    let still = |body| api::MovingBody { body: Some(body), motion: None };
    let channel = || still(placed("channel", 0., 0.));
    let ask = async |bodies: Vec<api::MovingBody>| {
        let request = api::FindFirstCollisionRequest { bodies, options: None };
        server.queries().find_first_collision(request).await.unwrap_err()
    };
    for few in [vec![], vec![channel()]] {
        check(&ask(few).await, Code::InvalidArgument, "BAD_FIELD", "bodies");
    }
    // Four are too many, and three have more than forty vertices.
    for count in [4, 3] {
        let many = vec![channel(); count];
        check(&ask(many).await, Code::InvalidArgument, "LIMIT_EXCEEDED", "bodies");
    }
    let none = api::MovingBody { body: None, motion: None };
    check(&ask(vec![channel(), none]).await, Code::InvalidArgument, "BAD_FIELD", "bodies[1].body");
    let screw = api::ScrewMotion { axis: vector(0., 0., 1.), angle: 0.5, ..Default::default() };
    let motion = Some(api::Motion { kind: Some(api::motion::Kind::Screw(screw)) });
    let turning = api::MovingBody { motion, ..channel() };
    let status = ask(vec![channel(), turning]).await;
    check(&status, Code::Unimplemented, "NOT_IMPLEMENTED", "bodies[1].motion");
    let point = api::placed_body::Source::Vertices(api::Points { xyz: vec![1., 2., 3.] });
    let point = still(api::PlacedBody { source: Some(point), pose: None });
    let status = ask(vec![channel(), point]).await;
    check(&status, Code::Unimplemented, "NOT_IMPLEMENTED", "bodies[1].body");
}

#[tokio::test]
async fn what_polyhedra_cannot_be_asked_is_refused_with_the_field_that_asks() {
    let (server, _) = with_channel().await;
    let refused = |status: Status, field: &str| {
        check(&status, Code::Unimplemented, "NOT_IMPLEMENTED", field);
    };
    let [p, q] = [Some(placed("peg", 9., 9.)), Some(placed("channel", 0., 0.))];
    let mut client = server.queries();
    let (p, q) = (|| p.clone(), || q.clone());
    let direction = vector(1., 0., 0.);
    let question =
        api::MeasureDistanceAlongRequest { p: p(), q: q(), direction, ..Default::default() };
    refused(client.measure_distance_along(question).await.unwrap_err(), "q");
    let collision = api::CheckCollisionRequest { p: p(), q: q(), ..Default::default() };
    let claim = api::PenetrationClaim {
        question: Some(api::MeasurePenetrationRequest { p: p(), q: q(), ..Default::default() }),
        answer: Some(api::MeasurePenetrationResponse::default()),
    };
    let claim = Some(api::verify_certificate_request::Claim::Penetration(claim));
    let status = client.verify_certificate(api::VerifyCertificateRequest { claim }).await;
    refused(status.unwrap_err(), "penetration.question.q");

    // A flat plate, given by points.
    let plate = api::Points { xyz: vec![0., 0., 0., 1., 0., 0., 0., 1., 0.] };
    let source = Some(api::placed_body::Source::Vertices(plate));
    let plate = Some(api::PlacedBody { source, pose: None });
    let question = api::CheckCollisionRequest { p: plate.clone(), ..collision.clone() };
    refused(client.check_collision(question).await.unwrap_err(), "p");
    let question = api::MeasureDistanceRequest { p: plate, q: q(), ..Default::default() };
    refused(client.measure_distance(question).await.unwrap_err(), "p");
    // A method of another table.
    let options =
        |method: &str| Some(api::QueryOptions { method: method.to_owned(), ..Default::default() });
    let question = api::CheckCollisionRequest { options: options("gjk"), ..collision.clone() };
    let status = client.check_collision(question).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "options.method");
    let question = api::CheckCollisionRequest { options: options("faces"), ..collision };
    client.check_collision(question).await.unwrap();
    let info = server.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
    let methods = info.into_inner().polyhedron_methods;
    assert_eq!(methods.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["faces"]);
}

/// A peg that is a quarter of a metre in the bottom of the slot: that is how deep it is in a facet
/// of the bottom, and the hull, which has no slot, is as thick as the channel. Within a wall no two
/// pieces overlap.
#[tokio::test]
async fn how_deep_bodies_that_are_not_convex_are_is_told_by_their_deepest_pieces_and_their_hulls() {
    let (server, _) = with_channel().await;
    let question = |x: f64, y: f64| api::MeasurePenetrationRequest {
        p: Some(placed("peg", x, y)),
        q: Some(placed("channel", 0.0, 0.0)),
        ..Default::default()
    };
    let ask = async |question: api::MeasurePenetrationRequest| {
        server.queries().measure_penetration(question).await.unwrap().into_inner()
    };
    let around = |told: Option<api::Bracket>, [lower, upper]: [f64; 2]| {
        let told = told.unwrap();
        assert!(told.lower <= lower && lower < told.lower + 1e-12, "{told:?}");
        assert!(upper <= told.upper && told.upper < upper + 1e-12, "{told:?}");
    };
    let in_bottom = ask(question(1.25, 0.75)).await;
    assert_eq!(in_bottom.verdict(), Verdict::Overlapping);
    around(in_bottom.depth, [0.25, 1.0]);
    let pieces = in_bottom.deepest_pieces.unwrap();
    around(pieces.depth, [0.25, 0.25]);
    assert_eq!((pieces.p_piece, pieces.direction), (0, vector(0.0, 1.0, 0.0)));
    let key = Some(api::get_polytope_request::Key::Alias("channel".to_owned()));
    let get = api::GetPolytopeRequest {
        key,
        with_vertices: true,
        with_facets: true,
        ..Default::default()
    };
    let listed = server.polytopes().get_polytope(get).await.unwrap().into_inner();
    let (points, facets) = (listed.vertices.unwrap().xyz, listed.facets);
    let facet = &facets[pieces.q_piece as usize];
    let heights: Vec<f64> = facet.vertices.iter().map(|v| points[3 * *v as usize + 1]).collect();
    assert_eq!(heights, [1.0; 3], "a triangle of the bottom");
    assert!(in_bottom.certificate.is_none() && in_bottom.uncertified);
    assert_eq!(in_bottom.uncertified_reason(), api::UncertifiedReason::NotConvex);

    let in_wall = ask(question(0.25, 1.5)).await;
    assert_eq!(in_wall.verdict(), Verdict::Overlapping);
    assert!(in_wall.deepest_pieces.is_none());
    around(in_wall.depth, [0.0, 0.75]);
    let beside = ask(question(9.0, 0.0)).await;
    assert_eq!((beside.verdict(), beside.direction), (Verdict::Separated, None));
    around(beside.depth, [0.0, 0.0]);
    let turned = api::MeasurePenetrationRequest {
        p: question(1.25, 0.75).q,
        q: question(1.25, 0.75).p,
        ..Default::default()
    };
    let found = ask(turned.clone()).await.deepest_pieces.unwrap();
    assert_eq!((found.p_piece, found.q_piece), (pieces.q_piece, 0));
    assert_eq!(found.direction, vector(-0.0, -1.0, -0.0));

    let answer = api::MeasurePenetrationResponse {
        certificate: Some(api::PenetrationCertificate::default()),
        ..in_bottom
    };
    let claim = api::PenetrationClaim { question: Some(turned), answer: Some(answer) };
    let claim = api::verify_certificate_request::Claim::Penetration(claim);
    let request = api::VerifyCertificateRequest { claim: Some(claim) };
    let refused = server.queries().verify_certificate(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented);
}
