//! `QueryService`: answers are right, and their proofs hold.

use api::verify_certificate_request::Claim;
use clearance_proto as api;
use tonic::Code;

use crate::server::{Server, body, check, cube, vector, verify, with_cube};

#[tokio::test]
async fn every_method_of_measuring_gives_the_same_distance() {
    let server = with_cube().await;
    let info = server.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
    let mut methods: Vec<String> =
        info.into_inner().distance_methods.into_iter().map(|method| method.name).collect();
    let slow = ["mutual_normals", "exhaustive"];
    for wanted in
        ["gjk", "h_walk", "h_walk_16", "surface_walk", "dobkin_kirkpatrick"].iter().chain(&slow)
    {
        assert!(methods.iter().any(|name| name == wanted), "{wanted} in {methods:?}");
    }
    methods.push("H_Walk".to_owned());
    for method in methods {
        let options = api::QueryOptions { method: method.clone(), ..Default::default() };
        let question = api::MeasureDistanceRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", 3.0)),
            options: Some(options),
            ..Default::default()
        };
        let answer = server.queries().measure_distance(question).await.unwrap().into_inner();
        let distance = answer.distance.unwrap();
        assert!(distance.lower <= 2.0 && 2.0 <= distance.upper, "{method}: {distance:?}");
        assert!(distance.upper - distance.lower <= 1e-12 * distance.lower, "{method}");
    }
}

#[tokio::test]
async fn verdicts_are_exact_and_their_proofs_hold() {
    let server = with_cube().await;
    let just_clear = 1.0_f64.next_up();
    let cases = [
        (3.0, api::Verdict::Separated),
        (just_clear, api::Verdict::Separated),
        (1.0, api::Verdict::Touching),
        (1.0_f64.next_down(), api::Verdict::Overlapping),
        (0.0, api::Verdict::Overlapping),
    ];
    let info = server.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
    let mut methods = vec![String::new(), "AUTO".to_owned()];
    methods.extend(info.into_inner().methods.into_iter().map(|method| method.name));
    assert!(methods.len() > 3, "{methods:?}");
    for (x, verdict) in cases {
        for method in &methods {
            let options = api::QueryOptions { method: method.clone(), ..Default::default() };
            let question = api::CheckCollisionRequest {
                p: Some(body("cube", 0.0)),
                q: Some(body("cube", x)),
                margin: Some(2.0),
                options: Some(options),
            };
            let answer = server.queries().check_collision(question.clone()).await.unwrap();
            let answer = answer.into_inner();
            assert_eq!(answer.verdict(), verdict, "{x} {method}");
            assert_eq!(answer.within_margin, Some(true));
            let claim = api::CollisionClaim {
                question: Some(question.clone()),
                answer: Some(answer.clone()),
            };
            verify(&server, Claim::Collision(claim.clone())).await.unwrap();
            // The same proof, said of bodies that stand elsewhere.
            let far = if verdict == api::Verdict::Separated { 0.5 } else { x + 5.0 };
            let elsewhere = api::CheckCollisionRequest { q: Some(body("cube", far)), ..question };
            let claim = api::CollisionClaim { question: Some(elsewhere), ..claim };
            verify(&server, Claim::Collision(claim)).await.unwrap_err();
        }
    }
}

/// What was said of the margin was accepted whatever it was, and later refused where it was true.
#[tokio::test]
async fn an_answer_with_a_margin_sent_back_unchanged_is_valid_and_its_contrary_is_not() {
    let server = with_cube().await;
    // Apart by x - 1. Closer than twice the margin, the pairs tell and the direction does not.
    let distances = [0.5, 1.0, 1.25, 3.0, 9.0, 1.0_f64.next_up()];
    let margins = [0.0, 0.25, 0.25_f64.next_down(), 2.0, 2.0_f64.next_up(), 1e280];
    // Below 0 they are deep by 1 - x.
    let deep = [-0.0, -0.5, -0.5_f64.next_down(), -0.25, -1e-300, -1e280];
    let margins: Vec<f64> = margins.into_iter().chain(deep).collect();
    for (x, margin) in
        distances.into_iter().flat_map(|x| margins.iter().map(move |margin| (x, *margin)))
    {
        let (p, q) = (Some(body("cube", 0.0)), Some(body("cube", x)));
        let question =
            api::CheckCollisionRequest { p, q, margin: Some(margin), ..Default::default() };
        let asked = server.queries().check_collision(question.clone()).await.unwrap();
        let answer = asked.into_inner();
        let is_within = x - 1.0 <= margin;
        assert_eq!(answer.within_margin, Some(is_within), "{x} {margin}");
        let judge = async |answer: api::CheckCollisionResponse| {
            let (question, answer) = (Some(question.clone()), Some(answer));
            verify(&server, Claim::Collision(api::CollisionClaim { question, answer })).await
        };
        assert_eq!(judge(answer.clone()).await, Ok(()), "{x} {margin}");
        let within_margin = Some(!is_within);
        let lie = judge(api::CheckCollisionResponse { within_margin, ..answer.clone() }).await;
        assert!(lie.unwrap_err().starts_with("within_margin: "), "{x} {margin}");
        if x < 1.0 && margin < 0.0 {
            // No vertices show how deep they are, and nothing that is said of another depth does.
            let bare = judge(with_margin_depth(answer.clone(), None)).await;
            assert!(bare.unwrap_err().starts_with("within_margin: "), "{x} {margin}");
            let form = api::direction::Form::Vector(vector(0.0, 1.0, 0.0).unwrap());
            let less = api::margin_depth::Shown::Less(api::Direction { form: Some(form) });
            let along = Some(api::MarginDepth { shown: Some(less) });
            let aside = judge(with_margin_depth(answer.clone(), along)).await;
            assert_eq!(aside.is_ok(), !is_within && margin < -1.0, "{x} {margin}");
        }
        if x > 1.0 && is_within {
            // Of what is near, nothing but pairs tells; and other pairs are farther away.
            let bare = judge(with_margin_pairs(answer.clone(), &[])).await;
            assert!(bare.unwrap_err().starts_with("within_margin: "), "{x} {margin}");
            let far = judge(with_margin_pairs(answer, &[(0, 7)])).await;
            assert_eq!(far.is_ok(), (x + 1.0).hypot(1.0).hypot(1.0) <= margin);
        }
    }
}

/// A search for the distance that stops as soon as it may says too little of a margin elsewhere.
#[tokio::test]
async fn a_distance_that_stopped_early_still_proves_what_it_says_of_a_margin() {
    let server = with_cube().await;
    for (margin, is_within) in [(1.5, false), (2.0_f64.next_down(), false), (2.0, true)] {
        let question = api::MeasureDistanceRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", 3.0)),
            margin: Some(margin),
            stop_above: Some(0.25),
            stop_below: Some(50.0),
            options: None,
        };
        let answer = server.queries().measure_distance(question.clone()).await.unwrap();
        let answer = answer.into_inner();
        assert_eq!(answer.within_margin, Some(is_within));
        let claim = api::DistanceClaim { question: Some(question), answer: Some(answer) };
        assert_eq!(verify(&server, Claim::Distance(claim)).await, Ok(()), "{margin}");
    }
}

#[tokio::test]
async fn what_is_said_of_no_margin_is_refused_where_it_is_said() {
    let server = with_cube().await;
    let (p, q) = (Some(body("cube", 0.0)), Some(body("cube", 3.0)));
    let question = api::CheckCollisionRequest { p, q, ..Default::default() };
    let answer = server.queries().check_collision(question.clone()).await.unwrap().into_inner();
    let judge = async |answer| {
        let claim = api::CollisionClaim { question: Some(question.clone()), answer: Some(answer) };
        let claim = Some(Claim::Collision(claim));
        server.queries().verify_certificate(api::VerifyCertificateRequest { claim }).await
    };
    let within_margin = Some(true);
    let said = judge(api::CheckCollisionResponse { within_margin, ..answer.clone() }).await;
    let field = "collision.answer.within_margin";
    check(&said.unwrap_err(), Code::InvalidArgument, "BAD_FIELD", field);
    let status = judge(with_margin_pairs(answer.clone(), &[(0, 0); 4])).await.unwrap_err();
    let field = "collision.answer.certificate.separated.margin_pairs";
    check(&status, Code::InvalidArgument, "BAD_FIELD", field);
    assert!(judge(answer).await.unwrap().into_inner().valid);
}

/// The same answer, with something else to show how deep the bodies are.
fn with_margin_depth(
    mut answer: api::CheckCollisionResponse,
    margin_depth: Option<api::MarginDepth>,
) -> api::CheckCollisionResponse {
    use api::static_certificate::Proof;
    let proof = answer.certificate.as_mut().and_then(|certificate| certificate.proof.as_mut());
    let Some(Proof::Overlapping(proof)) = proof else { panic!("{answer:?}") };
    proof.margin_depth = margin_depth;
    answer
}

/// The same answer, with other pairs to show what is said of the margin.
fn with_margin_pairs(
    mut answer: api::CheckCollisionResponse,
    pairs: &[(u32, u32)],
) -> api::CheckCollisionResponse {
    use api::static_certificate::Proof;
    let proof = answer.certificate.as_mut().and_then(|certificate| certificate.proof.as_mut());
    let Some(Proof::Separated(separated)) = proof else { panic!("{answer:?}") };
    separated.margin_pairs = pairs.iter().map(|&(i, j)| api::VertexPair { i, j }).collect();
    answer
}

#[tokio::test]
async fn a_distance_is_enclosed_and_its_proof_holds() {
    let server = with_cube().await;
    for (x, exact) in [(3.0, 2.0), (1.25, 0.25), (1.0, 0.0), (0.5, 0.0)] {
        let question = api::MeasureDistanceRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", x)),
            margin: Some(0.25),
            ..Default::default()
        };
        let answer = server.queries().measure_distance(question.clone()).await.unwrap();
        let answer = answer.into_inner();
        let bracket = answer.distance.unwrap();
        assert!(bracket.lower <= exact && exact <= bracket.upper, "{x}: {bracket:?}");
        assert!(bracket.upper - bracket.lower <= 1e-12 * exact);
        assert_eq!(answer.within_margin, Some(exact <= 0.25));
        let gap = answer.closest_q.unwrap().x - answer.closest_p.unwrap().x;
        assert!((gap - exact).abs() < 1e-12, "{gap}");
        let claim = api::DistanceClaim { question: Some(question), answer: Some(answer.clone()) };
        verify(&server, Claim::Distance(claim.clone())).await.unwrap();
        let mut lie = claim.clone();
        lie.answer.as_mut().unwrap().within_margin = Some(exact > 0.25);
        let said = verify(&server, Claim::Distance(lie)).await.unwrap_err();
        assert!(said.starts_with("within_margin: "), "{x}: {said}");
        let wrong = api::Bracket { lower: exact + 0.5, upper: exact + 1.0 };
        let answer = api::MeasureDistanceResponse { distance: Some(wrong), ..answer };
        let claim = api::DistanceClaim { answer: Some(answer), ..claim };
        verify(&server, Claim::Distance(claim)).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_depth_is_enclosed_and_its_proof_holds() {
    let server = with_cube().await;
    for (x, exact) in [(0.75, 0.25), (0.5, 0.5), (1.0, 0.0), (2.0, 0.0)] {
        let question = api::MeasurePenetrationRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", x)),
            with_surface: true,
            options: None,
        };
        let answer = server.queries().measure_penetration(question.clone()).await.unwrap();
        let answer = answer.into_inner();
        let bracket = answer.depth.unwrap();
        assert!(bracket.lower <= exact && exact <= bracket.upper, "{x}: {bracket:?}");
        assert!(bracket.upper - bracket.lower <= 1e-9 * exact, "{bracket:?}");
        if exact > 0.0 {
            assert!((answer.direction.unwrap().x + 1.0).abs() < 1e-9, "{:?}", answer.direction);
        }
        let claim =
            api::PenetrationClaim { question: Some(question), answer: Some(answer.clone()) };
        verify(&server, Claim::Penetration(claim.clone())).await.unwrap();
        let wrong = api::Bracket { lower: exact + 0.1, upper: exact + 0.2 };
        let answer = api::MeasurePenetrationResponse { depth: Some(wrong), ..answer };
        let claim = api::PenetrationClaim { answer: Some(answer), ..claim };
        verify(&server, Claim::Penetration(claim)).await.unwrap_err();
    }
}

#[tokio::test]
async fn the_way_along_a_direction_is_enclosed() {
    let server = with_cube().await;
    let ask = async |direction| {
        let question = api::MeasureDistanceAlongRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", 3.0)),
            direction,
            options: None,
        };
        let answer = server.queries().measure_distance_along(question.clone()).await?.into_inner();
        let claim =
            api::DistanceAlongClaim { question: Some(question), answer: Some(answer.clone()) };
        verify(&server, Claim::DistanceAlong(claim.clone())).await.unwrap();
        // The same, said of another direction.
        let mut lie = claim.clone();
        lie.question.as_mut().unwrap().direction = vector(1.5, 0.5, 0.0);
        verify(&server, Claim::DistanceAlong(lie)).await.unwrap_err();
        let mut lie = claim.clone();
        lie.answer.as_mut().unwrap().range_certificate = None;
        verify(&server, Claim::DistanceAlong(lie)).await.unwrap_err();
        if answer.enter.is_some() {
            let mut lie = claim;
            let enter = lie.answer.as_mut().unwrap().enter.as_mut().unwrap();
            enter.lower = enter.upper.next_up();
            enter.upper = enter.lower;
            verify(&server, Claim::DistanceAlong(lie)).await.unwrap_err();
        }
        Ok::<_, tonic::Status>(answer)
    };
    let answer = ask(vector(2.0, 0.0, 0.0)).await.unwrap();
    assert_eq!(answer.verdict(), api::Verdict::Separated);
    let holds = |bracket: api::Bracket, exact: f64| {
        assert!(bracket.lower <= exact && exact <= bracket.upper, "{bracket:?}");
    };
    holds(answer.enter.unwrap(), 1.0);
    holds(answer.exit.unwrap(), 2.0);
    let never = ask(vector(-1.0, 0.0, 0.0)).await.unwrap();
    assert_eq!((never.enter, never.exit), (None, None));
    let status = ask(vector(0.0, 0.0, 0.0)).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "direction");
}

fn linear(x: f64) -> Option<api::Motion> {
    let linear = api::LinearMotion { velocity: vector(x, 0.0, 0.0) };
    Some(api::Motion { kind: Some(api::motion::Kind::Linear(linear)) })
}

#[tokio::test]
async fn first_contacts_are_found_for_every_kind_of_motion_and_their_proofs_hold() {
    let server = with_cube().await;
    // Shifted along y, so that no two corners of the cubes meet on the way round.
    let pose = Some(api::Pose { translation: vector(3.0, -0.25, 0.0), orientation: None });
    let q = api::PlacedBody { pose, ..body("cube", 0.0) };
    let ask = async |p_motion, q_motion| {
        let question = api::FindFirstContactRequest {
            p: Some(body("cube", 0.0)),
            q: Some(q.clone()),
            p_motion,
            q_motion,
            ..Default::default()
        };
        let answer = server.queries().find_first_contact(question.clone()).await.unwrap();
        let answer = answer.into_inner();
        let claim = api::FirstContactClaim {
            question: Some(question.clone()),
            answer: Some(answer.clone()),
        };
        let verified = verify(&server, Claim::FirstContact(claim.clone())).await;
        assert_eq!(verified, Ok(()), "{claim:?}");
        // The same proof, said of a motion that meets Q at once.
        let question = api::FindFirstContactRequest { p_motion: linear(300.0), ..question };
        let claim = api::FirstContactClaim { question: Some(question), ..claim };
        verify(&server, Claim::FirstContact(claim)).await.unwrap_err();
        answer
    };
    let answer = ask(linear(4.0), None).await;
    assert_eq!(answer.outcome(), api::Outcome::Contact);
    assert!(answer.t_free <= 0.5 && 0.5 <= answer.t_contact.unwrap(), "{answer:?}");
    assert!(!answer.certificate.unwrap().chain.is_empty());
    let answer = ask(linear(1.0), linear(-0.5)).await;
    assert_eq!((answer.outcome(), answer.t_contact), (api::Outcome::NoContact, None));

    let end = api::Pose { translation: vector(4.0, 0.0, 0.0), orientation: None };
    let to_pose = api::ToPoseMotion { end: Some(end), pivot: None, spin: None };
    let to_pose = api::Motion { kind: Some(api::motion::Kind::ToPose(to_pose)) };
    let answer = ask(Some(to_pose), None).await;
    assert_eq!(answer.outcome(), api::Outcome::Contact);
    assert!((answer.t_contact.unwrap() - 0.5).abs() < 1e-8, "{answer:?}");

    // Half a turn about the line x = 2, y = 0 carries the cube from [0, 1] to [3, 4] in x.
    let screw = api::ScrewMotion {
        pivot: vector(2.0, 0.0, 0.0),
        axis: vector(0.0, 0.0, 1.0),
        angle: -std::f64::consts::PI,
        velocity: None,
    };
    let screw = api::Motion { kind: Some(api::motion::Kind::Screw(screw)) };
    let answer = ask(Some(screw), None).await;
    assert_eq!(answer.outcome(), api::Outcome::Contact);
    // The corner at (-1, 1) from the axis, at radius sqrt 2, comes down on the top, y = 0.75, where
    // it is at asin(0.75 / sqrt 2), having begun at 3/4 pi.
    let exact = 0.75 - (0.75 / std::f64::consts::SQRT_2).asin() / std::f64::consts::PI;
    let (free, contact) = (answer.t_free, answer.t_contact.unwrap());
    assert!(exact - 1e-8 < free && free <= contact && contact < exact + 1e-8, "{free} {contact}");
}

#[tokio::test]
async fn inline_vertices_need_no_registration() {
    let server = Server::start().await;
    let points = |xyz: &[f64]| api::PlacedBody {
        source: Some(api::placed_body::Source::Vertices(api::Points { xyz: xyz.to_vec() })),
        pose: None,
    };
    let question = api::CheckCollisionRequest {
        p: Some(points(&cube())),
        q: Some(points(&[0.5, 0.5, 0.5])),
        ..Default::default()
    };
    let answer = server.queries().check_collision(question.clone()).await.unwrap().into_inner();
    assert_eq!(answer.verdict(), api::Verdict::Overlapping);
    assert_eq!(answer.within_margin, None);
    let claim = api::CollisionClaim { question: Some(question), answer: Some(answer) };
    verify(&server, Claim::Collision(claim)).await.unwrap();
}

#[tokio::test]
async fn an_error_in_one_question_of_a_batch_stays_there() {
    use api::batch_query_answer::Answer;
    use api::batch_query_item::Question;
    let server = with_cube().await;
    let collision = |alias: &str, x| {
        Question::CheckCollision(api::CheckCollisionRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body(alias, x)),
            ..Default::default()
        })
    };
    let questions = [Some(collision("cube", 0.5)), Some(collision("none", 0.0)), None]
        .into_iter()
        .chain((0..200).map(|k| Some(collision("cube", f64::from(k)))));
    let items = questions.map(|question| api::BatchQueryItem { question }).collect();
    let reply = server.queries().batch_query(api::BatchQueryRequest { items }).await.unwrap();
    let answers = reply.into_inner().answers;
    assert_eq!(answers.len(), 203);
    let status = |k: usize| match answers[k].answer.as_ref().unwrap() {
        Answer::Status(status) => Some(status.clone()),
        _ => None,
    };
    let verdict = |k: usize| match answers[k].answer.as_ref().unwrap() {
        Answer::CheckCollision(answer) => answer.verdict(),
        other => panic!("{other:?}"),
    };
    assert_eq!(verdict(0), api::Verdict::Overlapping);
    let unknown = status(1).unwrap();
    assert_eq!(unknown.field, "items[1].check_collision.q.alias");
    assert_eq!(unknown.reason(), api::ErrorReason::UnknownPolytope);
    assert_eq!(unknown.code, i32::from(Code::NotFound));
    assert_eq!(status(2).unwrap().field, "items[2]");
    assert_eq!(verdict(3), api::Verdict::Overlapping);
    assert_eq!(verdict(4), api::Verdict::Touching);
    assert!((5..203).all(|k| verdict(k) == api::Verdict::Separated));
}

#[tokio::test]
async fn a_budget_of_no_steps_stops_without_a_verdict() {
    let server = with_cube().await;
    let budget = api::Budget { steps: Some(0), time: None };
    let question = api::MeasureDistanceRequest {
        p: Some(body("cube", 0.0)),
        q: Some(body("cube", 3.0)),
        options: Some(api::QueryOptions { budget: Some(budget), ..Default::default() }),
        ..Default::default()
    };
    let answer = server.queries().measure_distance(question).await.unwrap().into_inner();
    assert_eq!(answer.stopped(), api::Stopped::Steps);
}
