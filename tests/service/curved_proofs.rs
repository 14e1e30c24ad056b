//! Proofs of what is said of cylinders, cones and ellipsoids, judged, and changed ones refused.

use api::Verdict::{Overlapping, Separated, Touching};
use api::placed_body::Source;
use api::rounded_shape::Core;
use api::static_certificate::Proof;
use api::verify_certificate_request::Claim;
use clearance_proto as api;

use crate::curved::{cone, cylinder, ellipsoid};
use crate::polyhedra::{channel, keep, register};
use crate::server::{Server, vector};

fn at(core: Core, radius: f64, [x, y, z]: [f64; 3]) -> Option<api::PlacedBody> {
    let shape = api::RoundedShape { core: Some(core), radius, scale: None };
    placed(Source::Rounded(shape), [x, y, z])
}

fn placed(source: Source, [x, y, z]: [f64; 3]) -> Option<api::PlacedBody> {
    // About an axis that is none of the body's.
    let rotation = api::Quaternion { w: 0.8, x: 0.0, y: 0.36, z: 0.48 };
    let orientation = Some(api::pose::Orientation::Rotation(rotation));
    let pose = Some(api::Pose { translation: vector(x, y, z), orientation });
    Some(api::PlacedBody { source: Some(source), pose })
}

fn upright(body: Option<api::PlacedBody>) -> Option<api::PlacedBody> {
    let body = body?;
    let pose = body.pose.map(|pose| api::Pose { orientation: None, ..pose });
    Some(api::PlacedBody { pose, ..body })
}

fn floor() -> Option<api::PlacedBody> {
    upright(at(Core::HalfSpace(api::HalfSpace { reach: 0.0 }), 0.0, [0.0; 3]))
}

/// What VerifyCertificate says of a claim: nothing, or why it refuses it, as one that is false or
/// as one that is none.
async fn verify(server: &Server, claim: Claim) -> Result<(), String> {
    let request = api::VerifyCertificateRequest { claim: Some(claim) };
    let reply = server.queries().verify_certificate(request).await;
    let reply = reply.map_err(|status| status.message().to_owned())?.into_inner();
    assert_eq!(reply.valid, reply.refusal.is_empty());
    if reply.valid { Ok(()) } else { Err(reply.refusal) }
}

/// Four curved bodies and what stands beside them in turn.
async fn pairs(server: &Server) -> Vec<[Option<api::PlacedBody>; 2]> {
    register(server, keep("channel", channel())).await.unwrap();
    let boxed = Core::Box(api::Vector3 { x: 1.0, y: 0.5, z: 0.75 });
    let others = [
        at(boxed.clone(), 0.0, [0.0; 3]),
        at(boxed, 0.125, [0.0; 3]),
        at(ellipsoid(0.4, 0.8, 0.3), 0.0, [0.0; 3]),
        at(cone(0.5, 1.0), 0.25, [0.0; 3]),
        upright(placed(Source::Alias("channel".into()), [0.0; 3])),
    ];
    let curved = [
        (cylinder(0.5, 1.5), 0.0),
        (cone(0.5, 1.5), 0.0),
        (ellipsoid(0.5, 0.25, 1.0), 0.0),
        (cylinder(0.5, 1.0), 0.25),
    ];
    let mut pairs = Vec::new();
    for (core, radius) in curved {
        for other in &others {
            for place in [[2.5, 0.25, 0.5], [0.25, 0.5, 0.25]] {
                pairs.push([at(core.clone(), radius, place), other.clone()]);
            }
        }
    }
    pairs
}

fn collision(question: &api::CheckCollisionRequest, answer: &api::CheckCollisionResponse) -> Claim {
    let (question, answer) = (Some(question.clone()), Some(answer.clone()));
    Claim::Collision(api::CollisionClaim { question, answer })
}

#[tokio::test]
async fn what_is_said_of_a_verdict_a_margin_and_a_distance_is_proven_beside_all_kinds() {
    let server = Server::start().await;
    let mut verdicts = [0; 4];
    for [p, q] in pairs(&server).await {
        for (p, q) in [(p.clone(), q.clone()), (q, p)] {
            for margin in [None, Some(0.125), Some(4.0), Some(-0.03125), Some(-4.0)] {
                let (p, q) = (p.clone(), q.clone());
                let question = api::CheckCollisionRequest { p, q, margin, ..Default::default() };
                let answer = server.queries().check_collision(question.clone()).await;
                let answer = answer.unwrap().into_inner();
                if answer.certificate.is_none() && margin.is_some_and(|margin| margin < 0.0) {
                    // Beside what is not convex no claim is about depths.
                    let why = answer.uncertified_reason();
                    assert_eq!(why, api::UncertifiedReason::NoClaim, "{answer:?}");
                    continue;
                }
                assert!(answer.certificate.is_some(), "{question:?} {answer:?}");
                verdicts[answer.verdict() as usize] += 1;
                assert_eq!(verify(&server, collision(&question, &answer)).await, Ok(()));
                let mut other = answer.clone();
                other.set_verdict(if answer.verdict() == Separated { Touching } else { Separated });
                assert!(verify(&server, collision(&question, &other)).await.is_err());
                if let Some(within) = answer.within_margin {
                    let other = api::CheckCollisionResponse {
                        within_margin: Some(!within),
                        ..answer.clone()
                    };
                    assert!(verify(&server, collision(&question, &other)).await.is_err());
                }
            }
            let margin = Some(1.0);
            let question = api::MeasureDistanceRequest { p, q, margin, ..Default::default() };
            let answer = server.queries().measure_distance(question.clone()).await;
            let answer = answer.unwrap().into_inner();
            let told = answer.distance.unwrap();
            assert!(told.upper - told.lower <= 1e-9 * told.upper);
            let claim = |answer: &api::MeasureDistanceResponse| {
                let (question, answer) = (Some(question.clone()), Some(answer.clone()));
                Claim::Distance(api::DistanceClaim { question, answer })
            };
            assert_eq!(verify(&server, claim(&answer)).await, Ok(()), "{question:?}");
            let less = api::Bracket { lower: told.upper.next_up(), upper: told.upper.next_up() };
            let more = api::Bracket { lower: 0.0, upper: told.lower.next_down().max(0.0) };
            for distance in [less, more].into_iter().filter(|_| told.lower > 0.0).map(Some) {
                let other = api::MeasureDistanceResponse { distance, ..answer.clone() };
                assert!(verify(&server, claim(&other)).await.is_err());
            }
        }
    }
    assert!(verdicts[Separated as usize] > 50 && verdicts[Overlapping as usize] > 50);
}

#[tokio::test]
async fn what_touches_exactly_is_proven_to_touch() {
    let server = Server::start().await;
    for (core, radius, height) in [
        (cylinder(0.3, 1.5), 0.0, 0.75_f64),
        (cylinder(0.3, 1.5), 0.25, 1.0),
        (cone(0.3, 1.5), 0.0, 0.75),
        (ellipsoid(0.3, 2.0, 0.75), 0.0, 0.75),
    ] {
        let mut proven = Vec::new();
        for (z, expected) in
            [(height, Touching), (height.next_up(), Separated), (height.next_down(), Overlapping)]
        {
            let p = upright(at(core.clone(), radius, [7.0, -3.0, z]));
            let question = api::CheckCollisionRequest { p, q: floor(), ..Default::default() };
            let answer = server.queries().check_collision(question.clone()).await;
            let answer = answer.unwrap().into_inner();
            assert_eq!(answer.verdict(), expected);
            proven.push((question, answer));
        }
        // Each proof is one of its own place alone, an ulp from the others.
        for (question, _) in &proven {
            for (asked, answer) in &proven {
                let judged = verify(&server, collision(question, answer)).await;
                assert_eq!(judged.is_ok(), question == asked, "{core:?}: {judged:?}");
            }
        }
    }
}

#[tokio::test]
async fn depths_and_first_contacts_are_proven_from_both_sides() {
    let server = Server::start().await;
    let body = at(ellipsoid(1.0, 2.0, 0.5), 0.25, [0.0, 0.0, 0.5]);
    let question = api::MeasurePenetrationRequest {
        p: body.clone(),
        q: floor(),
        with_surface: true,
        ..Default::default()
    };
    let answer = server.queries().measure_penetration(question.clone()).await.unwrap().into_inner();
    let told = answer.depth.unwrap();
    assert!(told.lower > 0.0 && told.upper - told.lower < 1e-9 * told.upper, "{told:?}");
    for (by, holds) in [([0.0, 0.0], true), ([1e-6, 1e-6], false), ([-1e-6, -1e-6], false)] {
        let depth = Some(api::Bracket { lower: told.lower + by[0], upper: told.upper + by[1] });
        let answer = api::MeasurePenetrationResponse { depth, ..answer.clone() };
        let (question, answer) = (Some(question.clone()), Some(answer));
        let claim = Claim::Penetration(api::PenetrationClaim { question, answer });
        assert_eq!(verify(&server, claim).await.is_ok(), holds, "{by:?}");
    }
    let linear = |z| api::motion::Kind::Linear(api::LinearMotion { velocity: vector(0.1, 0.0, z) });
    let turning = |z| {
        let (axis, pivot) = (vector(0.0, 0.6, 0.8), None);
        api::motion::Kind::Screw(api::ScrewMotion {
            velocity: vector(0.0, 0.1, z),
            axis,
            angle: 2.0,
            pivot,
        })
    };
    let mut outcomes = Vec::new();
    for kind in [linear(-4.0), turning(-4.0), linear(-0.5), turning(-0.5), linear(4.0)] {
        for (core, radius) in [(cone(0.5, 1.5), 0.0), (ellipsoid(0.5, 0.25, 1.0), 0.125)] {
            for start in [3.0, 0.25] {
                for margin in [0.0, 0.25] {
                    let question = api::FindFirstContactRequest {
                        p: at(core.clone(), radius, [0.0, 0.0, start]),
                        q: floor(),
                        p_motion: Some(api::Motion { kind: Some(kind.clone()) }),
                        margin,
                        ..Default::default()
                    };
                    outcomes.push(judge_course(&server, question).await);
                }
            }
        }
    }
    for outcome in [api::Outcome::Contact, api::Outcome::NoContact] {
        assert!(outcomes.iter().filter(|found| **found == outcome).count() >= 8);
    }
}

/// Has what is said of a range judged, and other ranges with the same proof, which are refused.
pub(crate) async fn judge_range(
    server: &Server,
    question: &api::MeasureDistanceAlongRequest,
    answer: &api::MeasureDistanceAlongResponse,
) {
    let claim = |answer: &api::MeasureDistanceAlongResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        Claim::DistanceAlong(api::DistanceAlongClaim { question, answer })
    };
    assert_eq!(verify(server, claim(answer)).await, Ok(()), "{question:?} {answer:?}");
    let mut others = Vec::new();
    let mut other = |change: &dyn Fn(&mut api::MeasureDistanceAlongResponse)| {
        let mut changed = answer.clone();
        change(&mut changed);
        others.push(changed);
    };
    other(&|answer| {
        answer.set_verdict(if answer.verdict() == Separated { Touching } else { Separated });
    });
    other(&|answer| answer.certificate = None);
    if let (Some(enter), Some(exit)) = (answer.enter, answer.exit) {
        other(&|answer| (answer.enter, answer.exit) = (None, None));
        other(&|answer| answer.enter = None);
        let beyond = Some(api::Bracket { lower: exit.upper * 2.0, upper: exit.upper * 3.0 });
        other(&|answer| answer.exit = beyond);
        let before = exit.lower / 2.0;
        other(&|answer| answer.exit = Some(api::Bracket { lower: 0.0, upper: before }));
        if enter.lower > 0.0 {
            let before = Some(api::Bracket { lower: 0.0, upper: enter.lower.next_down() });
            other(&|answer| answer.enter = before);
            let later = enter.upper.next_up();
            other(&|answer| answer.enter = Some(api::Bracket { lower: later, upper: later }));
        }
    } else {
        let some = Some(api::Bracket { lower: 1.0, upper: 2.0 });
        other(&|answer| (answer.enter, answer.exit) = (some, some));
    }
    for other in others {
        assert!(verify(server, claim(&other)).await.is_err(), "{question:?} {other:?}");
    }
}

/// Bodies of all convex kinds, in contact or apart, moved towards each other, past and away.
#[tokio::test]
async fn ranges_along_a_direction_are_proven_beside_all_convex_kinds() {
    let server = Server::start().await;
    let mut seen = [0; 3];
    for [p, q] in pairs(&server).await {
        if matches!(q.as_ref().unwrap().source, Some(Source::Alias(_))) {
            continue;
        }
        for way in [[-1.0, 0.0, 0.0], [-0.5, -0.0625, -0.125], [0.25, 1.0, 0.0]] {
            let direction = vector(way[0], way[1], way[2]);
            for (p, q) in [(p.clone(), q.clone()), (q.clone(), p.clone())] {
                let question =
                    api::MeasureDistanceAlongRequest { p, q, direction, ..Default::default() };
                let answer = server.queries().measure_distance_along(question.clone()).await;
                let answer = answer.unwrap().into_inner();
                assert!(!answer.uncertified && answer.certificate.is_some(), "{answer:?}");
                for end in [answer.enter, answer.exit].into_iter().flatten() {
                    assert!(end.upper - end.lower <= 1e-9 * end.upper, "{end:?}");
                }
                seen[match answer.enter {
                    None => 0,
                    Some(enter) if enter.upper > 0.0 => 1,
                    Some(_) => 2,
                }] += 1;
                judge_range(&server, &question, &answer).await;
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 12), "{seen:?}");
}

/// A cylinder that slides along a floor touches it all the way, an ulp above it never, and a ball
/// that comes down on it meets and leaves it at times that are numbers.
#[tokio::test]
async fn ranges_that_are_grazes_and_exact_are_proven() {
    let server = Server::start().await;
    let (reach, mut met) = (64.0, 0);
    let floor = || upright(at(Core::HalfSpace(api::HalfSpace { reach }), 0.0, [0.0; 3]));
    let tube = |z| upright(at(cylinder(0.5, 1.5), 0.0, [0.0, 0.0, z]));
    for (z, direction, expected) in [
        (0.75, [1.0, 0.0, 0.0], Some((0.0, 64.5))),
        (0.75_f64.next_up(), [1.0, 0.0, 0.0], None),
        (2.75, [0.0, 0.0, -2.0], Some((1.0, 65.75))),
        (2.75, [0.0, 0.0, 2.0], None),
    ] {
        let question = api::MeasureDistanceAlongRequest {
            p: tube(z),
            q: floor(),
            direction: vector(direction[0], direction[1], direction[2]),
            ..Default::default()
        };
        let answer = server.queries().measure_distance_along(question.clone()).await;
        let answer = answer.unwrap().into_inner();
        assert_eq!(answer.enter.is_some(), expected.is_some(), "{z} {answer:?}");
        if let Some((enter, exit)) = expected {
            for (told, exact) in [(answer.enter, enter), (answer.exit, exit)] {
                let told = told.unwrap();
                assert!(told.lower <= exact && exact <= told.upper, "{told:?} {exact}");
            }
            met += 1;
        }
        judge_range(&server, &question, &answer).await;
    }
    assert_eq!(met, 2);
}

/// Asks when they meet, and has the answer judged, and false ones.
async fn judge_course(server: &Server, question: api::FindFirstContactRequest) -> api::Outcome {
    let answer = server.queries().find_first_contact(question.clone()).await;
    let answer = answer.unwrap().into_inner();
    let claim = |answer: &api::FindFirstContactResponse| {
        let (question, answer) = (Some(question.clone()), Some(answer.clone()));
        Claim::FirstContact(api::FirstContactClaim { question, answer })
    };
    assert!(answer.certificate.is_some(), "{question:?} {answer:?}");
    assert_eq!(verify(server, claim(&answer)).await, Ok(()), "{question:?} {answer:?}");
    let mut other = answer.clone();
    match answer.outcome() {
        api::Outcome::Contact => {
            other.set_outcome(api::Outcome::NoContact);
            other.t_contact = None;
        }
        _ => {
            other.set_outcome(api::Outcome::Contact);
            other.t_contact = Some(1.0);
        }
    }
    assert!(verify(server, claim(&other)).await.is_err());
    if let Some(t_contact) = answer.t_contact.filter(|t| *t > 0.0) {
        for (t_free, t_contact) in
            [(t_contact, t_contact), (answer.t_free, answer.t_free), (f64::NAN, t_contact)]
        {
            let t_contact = Some(t_contact);
            let other = api::FindFirstContactResponse { t_free, t_contact, ..answer.clone() };
            assert!(verify(server, claim(&other)).await.is_err(), "{t_free} {t_contact:?}");
        }
    }
    answer.outcome()
}

/// What a change does to a proof about curved bodies.
type Change = fn(&mut api::CurvedProof);

#[tokio::test]
async fn polytopes_that_are_not_around_or_not_inside_are_refused() {
    let server = Server::start().await;
    let ask = async |z: f64| {
        let p = upright(at(cylinder(0.5, 1.5), 0.0, [0.0, 0.0, z]));
        let question = api::CheckCollisionRequest { p, q: floor(), ..Default::default() };
        let answer = server.queries().check_collision(question.clone()).await;
        (question, answer.unwrap().into_inner())
    };
    let (apart, deep) = (ask(1.0).await, ask(0.5).await);
    fn scaled(points: &mut Option<api::Points>, by: f64) {
        points.as_mut().unwrap().xyz.iter_mut().for_each(|x| *x *= by);
    }
    fn p(proof: &mut api::CurvedProof) -> &mut api::CurvedHulls {
        proof.p.as_mut().unwrap()
    }
    let of_apart: [(Change, &str); 8] = [
        (|proof| scaled(&mut p(proof).outer, 0.99), "beyond a triangle"),
        (|proof| p(proof).outer_triangles.reverse(), "beyond a triangle"),
        (|proof| drop(p(proof).outer_triangles.drain(..3)), "not closed"),
        (|proof| p(proof).outer_triangles.clear(), "no area"),
        (|proof| p(proof).outer_triangles[0] = 1_000_000, "of its vertices"),
        (|proof| proof.outer.clear(), "does not show"),
        (|proof| std::mem::swap(&mut proof.outer, &mut proof.inner), "needs the polytopes"),
        (|proof| p(proof).outer.as_mut().unwrap().xyz.extend([0.0; 3]), "not in order"),
    ];
    let of_deep: [(Change, &str); 3] = [
        (|proof| scaled(&mut p(proof).inner, 1.01), "not in the curved body"),
        (|proof| proof.inner.clear(), "does not show"),
        (|proof| p(proof).inner.as_mut().unwrap().xyz.extend([0.0; 3]), "not in order"),
    ];
    for ((question, answer), changes) in [(apart, &of_apart[..]), (deep, &of_deep[..])] {
        assert_eq!(verify(&server, collision(&question, &answer)).await, Ok(()));
        for (k, (change, why)) in changes.iter().enumerate() {
            let mut changed = answer.clone();
            let proof = changed.certificate.as_mut().unwrap().proof.as_mut();
            let Some(Proof::Curved(proof)) = proof else { panic!("{answer:?}") };
            change(proof);
            let refused = verify(&server, collision(&question, &changed)).await.unwrap_err();
            assert!(refused.contains(why), "{k}: {refused}");
        }
    }
}

#[tokio::test]
async fn a_proof_of_another_body_or_of_another_kind_is_refused() {
    let server = Server::start().await;
    let p = at(ellipsoid(0.5, 0.25, 1.0), 0.0, [0.0, 0.0, 2.0]);
    let question = api::CheckCollisionRequest { p, q: floor(), ..Default::default() };
    let answer = server.queries().check_collision(question.clone()).await.unwrap().into_inner();
    assert_eq!(verify(&server, collision(&question, &answer)).await, Ok(()));
    for core in [ellipsoid(0.5, 0.5, 1.0), cylinder(0.5, 2.0), cone(0.5, 3.0)] {
        let p = at(core, 0.0, [0.0, 0.0, 2.0]);
        let other = api::CheckCollisionRequest { p, ..question.clone() };
        assert!(verify(&server, collision(&other, &answer)).await.is_err());
    }
    // A radius makes its polytopes larger as well.
    let wide = at(ellipsoid(0.5, 0.25, 1.0), 1.5, [0.0, 0.0, 2.0]);
    let other = api::CheckCollisionRequest { p: wide, ..question.clone() };
    assert!(verify(&server, collision(&other, &answer)).await.is_err());
    // Of bodies that are not curved it says nothing, and without one nothing is said of those.
    let polytope = at(Core::Length(1.0), 0.5, [0.0, 0.0, 2.0]);
    let other = api::CheckCollisionRequest { p: polytope, ..question.clone() };
    assert!(verify(&server, collision(&other, &answer)).await.is_err());
    let Some(Proof::Curved(proof)) = answer.certificate.as_ref().unwrap().proof.clone() else {
        panic!("{answer:?}")
    };
    let Some(api::curved_side::Certificate::Collision(of_side)) =
        proof.outer[0].certificate.clone()
    else {
        panic!("{answer:?}")
    };
    let bare = api::CheckCollisionResponse { certificate: Some(of_side), ..answer.clone() };
    assert!(verify(&server, collision(&question, &bare)).await.is_err());
    // A side that is proven by a proof about curved bodies again.
    let mut nested = proof.clone();
    let again = api::StaticCertificate { proof: Some(Proof::Curved(proof)) };
    nested.outer[0].certificate = Some(api::curved_side::Certificate::Collision(again));
    let certificate = Some(api::StaticCertificate { proof: Some(Proof::Curved(nested)) });
    let nested = api::CheckCollisionResponse { certificate, ..answer };
    assert!(verify(&server, collision(&question, &nested)).await.is_err());
}
