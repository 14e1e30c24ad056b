//! Bodies with rounded parts in sessions: what reports say of them is judged as answers of their
//! own.

use api::placed_body::Source;
use api::rounded_shape::Core;
use api::verify_certificate_request::Claim;
use clearance_proto as api;

use crate::server::{Server, body, vector, verify};
use crate::sessions::{all_pairs, started, step};

pub(crate) const MARGIN: f64 = 0.25;

pub(crate) fn pose([x, y, z]: [f64; 3], turn: f64) -> Option<api::Pose> {
    let rotation = api::Quaternion { w: 1.0, x: 0.2 * turn, y: -0.3 * turn, z: turn };
    let orientation = Some(api::pose::Orientation::Rotation(rotation));
    Some(api::Pose { translation: vector(x, y, z), orientation })
}

pub(crate) fn rounded(core: Option<Core>, radius: f64, at: [f64; 3]) -> api::PlacedBody {
    let source = Some(Source::Rounded(api::RoundedShape { core, radius, ..Default::default() }));
    api::PlacedBody { source, pose: pose(at, 0.0) }
}

fn cube(at: [f64; 3]) -> api::PlacedBody {
    api::PlacedBody { pose: pose(at, 0.0), ..body("cube", 0.0) }
}

/// The parts of both bodies. One part and one: a cube of side 1 and a ball, or two capsules. Or
/// several, of which some are rounded.
fn scenes() -> Vec<[Vec<api::PlacedBody>; 2]> {
    let capsule = |at| rounded(Some(Core::Length(1.0)), 0.5, at);
    let sizes = api::Vector3 { x: 1.0, y: 0.5, z: 0.5 };
    let pill = rounded(Some(Core::Box(sizes)), 0.25, [0.0, 1.5, 0.0]);
    vec![
        [vec![cube([0.0; 3])], vec![rounded(None, 0.5, [0.0; 3])]],
        [vec![capsule([0.0; 3])], vec![capsule([0.0; 3])]],
        [vec![cube([0.0; 3]), pill.clone()], vec![rounded(None, 0.5, [0.0; 3])]],
        [vec![capsule([0.0; 3]), pill], vec![cube([0.0; 3]), rounded(None, 0.75, [0.5, 0.5, 2.0])]],
    ]
}

fn whole(parts: &[api::PlacedBody], at: Option<api::Pose>) -> Option<api::PlacedBody> {
    if let [only] = parts {
        return Some(api::PlacedBody { pose: at, ..only.clone() });
    }
    let source = Some(Source::Compound(api::Compound { parts: parts.to_vec() }));
    Some(api::PlacedBody { source, pose: at })
}

/// Where the second body is in each frame.
fn way() -> Vec<Option<api::Pose>> {
    let straight = [[9.0, 0.5, 0.0], [1.625, 0.5, 0.0], [1.5, 0.5, 0.0], [0.75, 0.5, 0.125]];
    let turned = [([4.0, 1.0, 0.2], 0.4), ([1.3, 0.6, 0.1], 0.9), ([-4.0, 0.3, 0.2], 0.5)];
    let unturned = straight.into_iter().map(|at| pose(at, 0.0));
    unturned.chain(turned.map(|(at, turn)| pose(at, turn))).collect()
}

pub(crate) fn opening(parts: &[Vec<api::PlacedBody>; 2]) -> api::OpenSessionRequest {
    let bodies = (1..).zip(parts).map(|(id, parts)| api::Body {
        id: Some(id),
        parts: parts.clone(),
        margin: if id == 1 { MARGIN } else { 0.0 },
        pose: if id == 1 { None } else { pose([20.0, 0.0, 0.0], 0.0) },
        ..Default::default()
    });
    let state = Some(api::SessionState { bodies: bodies.collect(), ..Default::default() });
    api::OpenSessionRequest { session_id: "s".into(), state, replace: true, ..Default::default() }
}

fn asked() -> api::ReportOptions {
    api::ReportOptions {
        certificates: true,
        first_contacts: true,
        distances: true,
        depths: true,
        normals: true,
        contact_polygons: true,
        ..all_pairs().unwrap()
    }
}

fn moved(frame_id: u64, at: Option<api::Pose>) -> api::Frame {
    let poses = vec![api::BodyPose { id: Some(2), pose: at, ..Default::default() }];
    api::Frame { frame_id, poses, report: Some(Box::new(asked())), ..Default::default() }
}

/// What a report says of the pair, as answers to questions about the two bodies.
pub(crate) struct Claims {
    pub(crate) bodies: [Option<api::PlacedBody>; 2],
    pub(crate) report: api::PairReport,
    pub(crate) margin: f64,
}

impl Claims {
    pub(crate) fn collision(&self) -> api::CollisionClaim {
        let [p, q] = self.bodies.clone();
        let question =
            api::CheckCollisionRequest { p, q, margin: Some(self.margin), options: None };
        let answer = api::CheckCollisionResponse {
            verdict: self.report.verdict,
            within_margin: self.report.within_margin,
            certificate: self.report.certificate.clone(),
            ..Default::default()
        };
        api::CollisionClaim { question: Some(question), answer: Some(answer) }
    }

    pub(crate) fn distance(&self) -> api::DistanceClaim {
        let [p, q] = self.bodies.clone();
        let question = api::MeasureDistanceRequest { p, q, ..Default::default() };
        let answer = api::MeasureDistanceResponse {
            verdict: self.report.verdict,
            distance: self.report.distance,
            certificate: self.report.distance_certificate.clone(),
            ..Default::default()
        };
        api::DistanceClaim { question: Some(question), answer: Some(answer) }
    }

    pub(crate) fn depth(&self) -> Option<api::PenetrationClaim> {
        let [p, q] = self.bodies.clone();
        let question = api::MeasurePenetrationRequest { p, q, ..Default::default() };
        let answer = api::MeasurePenetrationResponse {
            verdict: self.report.verdict,
            depth: Some(self.report.depth?),
            certificate: self.report.depth_certificate.clone(),
            ..Default::default()
        };
        Some(api::PenetrationClaim { question: Some(question), answer: Some(answer) })
    }

    /// Of a second body that was there before.
    pub(crate) fn first_contact(&self, from: Option<api::Pose>) -> Option<api::FirstContactClaim> {
        let [p, q] = self.bodies.clone();
        let report = self.report.first_contact.as_ref()?;
        let end = q.as_ref().and_then(|q| q.pose.clone());
        let to_pose = api::ToPoseMotion { end, pivot: None, spin: None };
        let question = api::FindFirstContactRequest {
            p,
            q: q.map(|q| api::PlacedBody { pose: from, ..q }),
            q_motion: Some(api::Motion { kind: Some(api::motion::Kind::ToPose(to_pose)) }),
            margin: self.margin,
            ..Default::default()
        };
        let answer = api::FindFirstContactResponse {
            outcome: report.outcome,
            t_free: report.t_free,
            t_contact: report.t_contact,
            certificate: report.certificate.clone(),
            ..Default::default()
        };
        Some(api::FirstContactClaim { question: Some(question), answer: Some(answer) })
    }
}

/// Makes the radii of rounded shapes larger, or smaller.
fn rescaled(body: &mut Option<api::PlacedBody>, by: f64) {
    let Some(api::PlacedBody { source: Some(source), .. }) = body else { return };
    match source {
        Source::Rounded(shape) => shape.radius *= by,
        Source::Compound(compound) => {
            for part in &mut compound.parts {
                if let Some(Source::Rounded(shape)) = &mut part.source {
                    shape.radius *= by;
                }
            }
        }
        Source::Id(_) | Source::Alias(_) | Source::Vertices(_) => {}
    }
}

/// Of rounded bodies of any number of parts, and of no others.
#[tokio::test]
async fn what_a_session_says_of_rounded_bodies_is_valid_and_what_was_tampered_with_is_not() {
    let server = started().await;
    let (mut seen, mut met, mut deep) = ([0; 4], [0; 4], [0; 2]);
    let margins = [MARGIN, -0.125, -0.75];
    for (parts, margin) in
        scenes().into_iter().flat_map(|parts| margins.map(|m| (parts.clone(), m)))
    {
        let mut open = opening(&parts);
        open.state.as_mut().unwrap().bodies[0].margin = margin;
        server.sessions().open_session(open).await.unwrap();
        let mut before = pose([20.0, 0.0, 0.0], 0.0);
        for (frame_id, at) in (1..).zip(way()) {
            let frame = moved(frame_id, at.clone());
            let report = step(&server, "s", vec![frame]).await.unwrap().remove(0).pairs.remove(0);
            seen[report.verdict as usize] += 1;
            let bodies = [whole(&parts[0], None), whole(&parts[1], at.clone())];
            deep[usize::from(report.within_margin())] += u32::from(margin < 0.0);
            let claims = Claims { bodies, report, margin };
            judge(&server, &claims).await;
            let first = claims.first_contact(before);
            // No claim speaks of how deep bodies get on their way.
            let is_shown = first.as_ref().is_some_and(|first| {
                first.answer.as_ref().is_some_and(|answer| answer.certificate.is_some())
            });
            assert_eq!(is_shown, first.is_some() && margin >= 0.0, "{margin}");
            if let Some(claim) = first.filter(|_| is_shown) {
                met[claim.answer.as_ref().unwrap().outcome as usize] += 1;
                verify(&server, Claim::FirstContact(claim.clone())).await.unwrap();
                let mut denied = claim;
                let answer = denied.answer.as_mut().unwrap();
                if answer.outcome() == api::Outcome::Contact {
                    answer.set_outcome(api::Outcome::NoContact);
                    (answer.t_free, answer.t_contact) = (1.0, None);
                } else {
                    rescaled(&mut denied.question.as_mut().unwrap().q, 1e3);
                    rescaled(&mut denied.question.as_mut().unwrap().p, 1e3);
                }
                verify(&server, Claim::FirstContact(denied)).await.unwrap_err();
            }
            before = at;
        }
    }
    assert!(seen[1] > 8 && seen[2] > 1 && seen[3] > 4, "{seen:?}");
    assert!(met[1] > 4 && met[2] > 4, "{met:?}");
    assert!(deep[0] > 4 && deep[1] > 4, "{deep:?}");
}

async fn judge(server: &Server, claims: &Claims) {
    let verdict = claims.report.verdict();
    let claim = claims.collision();
    verify(server, Claim::Collision(claim.clone())).await.unwrap();
    for other in [api::Verdict::Separated, api::Verdict::Touching, api::Verdict::Overlapping] {
        let mut claim = claim.clone();
        claim.answer.as_mut().unwrap().set_verdict(other);
        let judged = verify(server, Claim::Collision(claim)).await;
        assert_eq!(judged.is_ok(), other == verdict, "{judged:?}");
    }
    let mut other = claim.clone();
    let within = other.answer.as_ref().unwrap().within_margin.map(|within| !within);
    other.answer.as_mut().unwrap().within_margin = within;
    verify(server, Claim::Collision(other)).await.unwrap_err();
    // Much larger balls meet, and what proves the verdict of the smaller ones proves nothing then.
    if verdict == api::Verdict::Separated {
        let mut larger = claim;
        let question = larger.question.as_mut().unwrap();
        rescaled(&mut question.p, 1e3);
        rescaled(&mut question.q, 1e3);
        verify(server, Claim::Collision(larger)).await.unwrap_err();
    }
    let distance = claims.distance();
    verify(server, Claim::Distance(distance.clone())).await.unwrap();
    let mut far = distance;
    let bracket = far.answer.as_mut().unwrap().distance.as_mut().unwrap();
    *bracket = api::Bracket { lower: bracket.upper + 0.01, upper: bracket.upper + 0.02 };
    verify(server, Claim::Distance(far)).await.unwrap_err();
    if let Some(depth) = claims.depth() {
        verify(server, Claim::Penetration(depth.clone())).await.unwrap();
        let mut shallow = depth;
        let bracket = shallow.answer.as_mut().unwrap().depth.as_mut().unwrap();
        *bracket = api::Bracket { lower: 0.0, upper: bracket.lower / 2.0 };
        verify(server, Claim::Penetration(shallow)).await.unwrap_err();
    }
}

/// A state that is told opens the same session elsewhere, with shapes that were given and with
/// those that are registered.
#[tokio::test]
async fn the_state_of_a_session_with_rounded_bodies_opens_it_again() {
    let server = started().await;
    let spec = api::PolytopeSpec {
        source: Some(api::polytope_spec::Source::Rounded(api::RoundedShape {
            core: Some(Core::Length(1.0)),
            radius: 0.5,
            scale: None,
        })),
        ..Default::default()
    };
    let request = api::RegisterPolytopesRequest { polytopes: vec![spec], validate_only: false };
    let reply = server.polytopes().register_polytopes(request).await.unwrap().into_inner();
    let id = reply.reports[0].polytope.as_ref().unwrap().id.clone();
    assert!(id.starts_with("r1-"));
    let registered = api::PlacedBody { source: Some(Source::Id(id)), pose: None };
    let parts = [vec![registered], scenes().remove(3)[1].clone()];
    server.sessions().open_session(opening(&parts)).await.unwrap();
    let told = |report: &api::FrameReport| {
        let pair = &report.pairs[0];
        (pair.verdict, pair.distance, pair.within_margin, pair.first_contact.clone())
    };
    step(&server, "s", vec![moved(1, pose([2.0, 0.5, 0.0], 0.3))]).await.unwrap();
    let get = api::GetSessionRequest { session_id: "s".into(), ..Default::default() };
    let state = server.sessions().get_session(get).await.unwrap().into_inner().state;
    let next = moved(2, pose([1.0, 0.5, 0.0], 0.6));
    let expected = step(&server, "s", vec![next.clone()]).await.unwrap().remove(0);
    let open = api::OpenSessionRequest { session_id: "again".into(), state, ..Default::default() };
    server.sessions().open_session(open).await.unwrap();
    let found = step(&server, "again", vec![next]).await.unwrap().remove(0);
    assert_eq!(told(&found), told(&expected));
}

/// A cube beside a ball: the range is that of the question about the two, with its proof; packed it
/// is the same.
#[tokio::test]
async fn ranges_of_rounded_bodies_are_those_of_the_question_about_two() {
    let server = started().await;
    let parts = scenes().remove(0);
    let direction = vector(-1.0, 0.0, 0.0);
    let report = api::ReportOptions {
        along: vector(1.0, 0.0, 0.0),
        certificates: true,
        ..all_pairs().unwrap()
    };
    server.sessions().open_session(opening(&parts)).await.unwrap();
    let at = pose([4.0, 0.5, 0.25], 0.0);
    let asks = |frame_id: u64, packed: bool| api::Frame {
        frame_id,
        poses: vec![api::BodyPose { id: Some(2), pose: at.clone(), ..Default::default() }],
        report: Some(Box::new(api::ReportOptions { packed, ..report })),
        ..Default::default()
    };
    let told = step(&server, "s", vec![asks(1, false), asks(2, true)]).await.unwrap();
    let range = told[0].pairs[0].along.clone().unwrap();
    // From the ball's side of the cube, which goes from 0 to 1, to the far one.
    for (told, exact) in [(range.enter, 2.5), (range.exit, 4.5)] {
        let told = told.unwrap();
        assert!(told.lower <= exact && exact <= told.upper.next_up(), "{told:?}");
    }
    let alone = range.parts[0].answer.clone().unwrap();
    assert!(!alone.uncertified && alone.certificate.is_some());
    assert!(alone.range_certificate.is_some(), "{alone:?}");
    let question = api::MeasureDistanceAlongRequest {
        p: whole(&parts[0], pose([0.0; 3], 0.0)),
        q: whole(&parts[1], at.clone()),
        direction: direction.map(|way| api::Vector3 { x: -way.x, ..way }),
        ..Default::default()
    };
    let answer = server.queries().measure_distance_along(question).await.unwrap().into_inner();
    assert_eq!((answer.enter, answer.exit), (alone.enter, alone.exit));
    assert_eq!((range.enter, range.exit), (alone.enter, alone.exit));
    let packed = told[1].packed_pairs.clone().unwrap().along.unwrap();
    assert_eq!(packed.enter_lower, [range.enter.unwrap().lower]);
    assert_eq!(packed.exit_upper, [range.exit.unwrap().upper]);
}

/// Balls that are cast, put somewhere and asked for what is nearest, among balls and cubes: each
/// hit is proven.
#[tokio::test]
async fn a_scene_is_asked_about_rounded_shapes_and_proves_what_it_says() {
    use api::scene_hit::Proof;
    use api::scene_query::Kind;
    let server = started().await;
    let bodies = vec![
        api::Body { id: Some(1), parts: vec![cube([0.0; 3])], ..Default::default() },
        api::Body {
            id: Some(2),
            parts: vec![rounded(None, 1.0, [0.0; 3])],
            pose: pose([5.0, 0.5, 0.5], 0.0),
            ..Default::default()
        },
    ];
    let state = Some(api::SessionState { bodies: bodies.clone(), ..Default::default() });
    let open = api::OpenSessionRequest {
        session_id: "s".into(),
        state,
        replace: true,
        ..Default::default()
    };
    server.sessions().open_session(open).await.unwrap();
    let visitor = rounded(None, 0.5, [2.5, 0.5, 0.5]);
    let motion = |x: f64| api::Motion {
        kind: Some(api::motion::Kind::Linear(api::LinearMotion { velocity: vector(x, 0.0, 0.0) })),
    };
    let cast = |x: f64| {
        let (body, motion) = (Some(visitor.clone()), Some(motion(x)));
        Kind::ShapeCast(api::ShapeCast { body, motion, ..Default::default() })
    };
    let body = Some(visitor.clone());
    let nearest = api::NearestQuery { body, below: Some(10.0), ..Default::default() };
    let touching = rounded(None, 1.5, [2.5, 0.5, 0.5]);
    let kinds =
        vec![cast(-2.0), cast(2.0), Kind::Nearest(nearest), Kind::Overlap(touching.clone())];
    let asked = api::QuerySceneRequest {
        session_id: "s".into(),
        queries: kinds
            .into_iter()
            .map(|kind| api::SceneQuery { kind: Some(kind), ..Default::default() })
            .collect(),
        hits: api::HitSelection::All.into(),
        certificates: true,
        ..Default::default()
    };
    let answers = server.sessions().query_scene(asked).await.unwrap().into_inner().answers;
    let placed = |id: u32| {
        let body = &bodies[id as usize - 1];
        let part = api::PlacedBody { pose: None, ..body.parts[0].clone() };
        Some(api::PlacedBody { pose: body.pose.clone(), ..part })
    };
    // The cube is a metre away at x = 1, the ball a metre away at x = 4.
    for (answer, x, body) in [(&answers[0], -2.0, 1), (&answers[1], 2.0, 2)] {
        let [hit] = &answer.hits[..] else { panic!("{answer:?}") };
        let time = hit.time.unwrap();
        assert!(time.lower <= 0.5 && 0.5 <= time.upper && time.upper - time.lower < 1e-9);
        assert_eq!(hit.body_id, body);
        let Some(Proof::Motion(certificate)) = hit.proof.clone() else { panic!("{hit:?}") };
        let question = api::FindFirstContactRequest {
            p: Some(visitor.clone()),
            q: placed(body),
            p_motion: Some(motion(x)),
            ..Default::default()
        };
        let answer = api::FindFirstContactResponse {
            outcome: hit.outcome,
            t_free: time.lower,
            t_contact: Some(time.upper),
            initial_verdict: hit.verdict,
            certificate: Some(certificate),
            ..Default::default()
        };
        let (question, answer) = (Some(question), Some(answer));
        let claim = api::FirstContactClaim { question, answer };
        verify(&server, Claim::FirstContact(claim.clone())).await.unwrap();
        let mut early = claim;
        let answer = early.answer.as_mut().unwrap();
        (answer.t_free, answer.t_contact) = (0.0, Some(0.25));
        verify(&server, Claim::FirstContact(early)).await.unwrap_err();
    }
    assert_eq!(answers[2].hits.len(), 2);
    for hit in &answers[2].hits {
        let bracket = hit.distance.unwrap();
        assert!(bracket.lower <= 1.0 && 1.0 <= bracket.upper, "{hit:?}");
        let Some(Proof::Separation(certificate)) = hit.proof.clone() else { panic!("{hit:?}") };
        let (p, q) = (Some(visitor.clone()), placed(hit.body_id));
        let question = api::MeasureDistanceRequest { p, q, ..Default::default() };
        let answer = api::MeasureDistanceResponse {
            verdict: hit.verdict,
            distance: hit.distance,
            certificate: Some(certificate),
            ..Default::default()
        };
        let (question, answer) = (Some(question), Some(answer));
        verify(&server, Claim::Distance(api::DistanceClaim { question, answer })).await.unwrap();
    }
    // Of a radius that is a number of f64 touching is touching.
    assert_eq!(answers[3].hits.len(), 2);
    for hit in &answers[3].hits {
        assert_eq!(hit.verdict(), api::Verdict::Touching);
        let Some(Proof::Standing(certificate)) = hit.proof.clone() else { panic!("{hit:?}") };
        let (p, q) = (Some(touching.clone()), placed(hit.body_id));
        let question = api::CheckCollisionRequest { p, q, ..Default::default() };
        let answer = api::CheckCollisionResponse {
            verdict: hit.verdict,
            certificate: Some(certificate),
            ..Default::default()
        };
        let (question, answer) = (Some(question), Some(answer));
        verify(&server, Claim::Collision(api::CollisionClaim { question, answer })).await.unwrap();
    }
}
