//! Distances, margins and first contacts of polyhedra, turning ones too, and what of that is said
//! of rounded bodies beside them: each beside what the boxes answer whose union a channel is, with
//! proofs that are accepted as they come and refused when somebody has changed them.

use api::placed_body::Source;
use api::static_certificate::Proof;
use api::verify_certificate_request::Claim;
use api::{Outcome, Verdict};
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use clearance_runtime::settings::Limits;

use crate::polyhedra::{channel, keep, placed, register, with_boxes, with_channel};
use crate::server::{Server, body, cube, vector, verify};
use crate::solid_proofs::{of_collision, of_motion};

const BOXES: [&str; 3] = ["floor", "left", "right"];

/// Somewhere near the channel, mostly turned, and often in its slot.
fn pose(random: &mut Random) -> api::Pose {
    let sixteenths = |random: &mut Random, reach: u64| {
        (random.below(32 * reach + 1) as f64 - 16.0 * reach as f64) / 16.0
    };
    let at = [0.0, 1.0, 0.0].map(|middle| middle + sixteenths(random, 3));
    let turn = if random.below(3) == 0 { 0.0 } else { 1.0 };
    let mut part = || turn * sixteenths(random, 1);
    let rotation = api::Quaternion { w: 2.0, x: part(), y: part(), z: part() };
    api::Pose {
        translation: vector(at[0] + 1.0, at[1], at[2]),
        orientation: Some(api::pose::Orientation::Rotation(rotation)),
    }
}

fn ball(radius: f64) -> Source {
    Source::Rounded(api::RoundedShape { radius, ..Default::default() })
}

/// A peg, or every other time a ball.
fn other(random: &mut Random, is_ball: bool) -> api::PlacedBody {
    let peg = body("peg", 0.0).source;
    let radius = 0.125 * (1 + random.below(4)) as f64;
    let source = if is_ball { Some(ball(radius)) } else { peg };
    api::PlacedBody { source, pose: Some(pose(random)) }
}

pub(crate) fn of_distance(
    question: &api::MeasureDistanceRequest,
    answer: &api::MeasureDistanceResponse,
) -> Claim {
    let (question, answer) = (Some(question.clone()), Some(answer.clone()));
    Claim::Distance(api::DistanceClaim { question, answer })
}

/// In either order of the bodies.
fn ordered(
    is_turned: bool,
    p: api::PlacedBody,
    q: api::PlacedBody,
) -> [Option<api::PlacedBody>; 2] {
    if is_turned { [Some(q), Some(p)] } else { [Some(p), Some(q)] }
}

async fn distance(
    server: &Server,
    question: &api::MeasureDistanceRequest,
) -> api::MeasureDistanceResponse {
    server.queries().measure_distance(question.clone()).await.unwrap().into_inner()
}

#[tokio::test]
async fn how_far_a_channel_is_from_others_is_how_far_its_boxes_are() {
    let server = with_boxes().await;
    let random = &mut Random::new(11);
    let mut seen = [0; 4];
    for round in 0..80 {
        let q = other(random, round % 2 == 1);
        let margin = Some(0.0625 * random.below(16) as f64);
        let about = |p: &str| {
            let [p, q] = ordered(round % 3 == 0, placed(p, 0.0, 0.0), q.clone());
            api::MeasureDistanceRequest { p, q, margin, ..Default::default() }
        };
        let question = about("channel");
        let answer = distance(&server, &question).await;
        let (mut nearest, mut stands, mut within) = ([f64::MAX; 2], Verdict::Separated, false);
        for name in BOXES {
            let part = distance(&server, &about(name)).await;
            let bracket = part.distance.unwrap();
            nearest = [nearest[0].min(bracket.lower), nearest[1].min(bracket.upper)];
            stands = stands.max(part.verdict());
            within |= part.within_margin.unwrap();
        }
        assert_eq!(
            (answer.verdict(), answer.within_margin),
            (stands, Some(within)),
            "{question:?}"
        );
        let bracket = answer.distance.unwrap();
        assert!(bracket.lower <= nearest[1] && nearest[0] <= bracket.upper, "{question:?}");
        assert!(bracket.upper - bracket.lower <= 1e-12 * bracket.upper, "{question:?}");
        assert!(answer.closest_p.is_some() && answer.closest_q.is_some());
        seen[stands as usize] += 1;
        if answer.uncertified {
            seen[0] += 1;
            assert_ne!(stands, Verdict::Separated, "{question:?}");
            continue;
        }
        verify(&server, of_distance(&question, &answer)).await.unwrap();
        let collision = api::CheckCollisionRequest {
            p: question.p.clone(),
            q: question.q.clone(),
            margin,
            ..Default::default()
        };
        let stood = server.queries().check_collision(collision.clone()).await.unwrap().into_inner();
        assert_eq!((stood.verdict(), stood.within_margin), (stands, Some(within)));
        verify(&server, of_collision(&collision, &stood)).await.unwrap();
        // Nothing else is accepted with these proofs.
        let refused = async |tamper: &dyn Fn(&mut api::MeasureDistanceResponse)| {
            let mut lie = answer.clone();
            tamper(&mut lie);
            assert!(verify(&server, of_distance(&question, &lie)).await.is_err(), "{lie:?}");
        };
        let bound = |by: f64| {
            move |a: &mut api::MeasureDistanceResponse| {
                let bracket = a.distance.as_mut().unwrap();
                (bracket.lower, bracket.upper) = (bracket.lower + by, bracket.upper + by);
            }
        };
        refused(&bound(1e-6)).await;
        if bracket.lower > 2e-6 {
            refused(&bound(-1e-6)).await;
        }
        refused(&|a| a.within_margin = a.within_margin.map(|within| !within)).await;
        let mut lie = stood.clone();
        lie.within_margin = Some(!within);
        assert!(verify(&server, of_collision(&collision, &lie)).await.is_err(), "{lie:?}");
        for verdict in [Verdict::Separated, Verdict::Touching, Verdict::Overlapping] {
            if verdict != stands {
                refused(&|a| a.set_verdict(verdict)).await;
            }
        }
    }
    assert!(seen[1] > 20 && seen[3] > 5 && seen[0] < 4, "{seen:?}");
}

/// Beside a box, within the slot, touching a wall and inside of one.
#[tokio::test]
async fn a_ball_is_asked_about_beside_a_channel_as_beside_its_boxes() {
    let (server, _) = with_channel().await;
    let up = f64::next_up;
    for (radius, [x, y], expected) in [
        (0.5, [1.5, 2.0], Verdict::Touching),
        (0.5, [1.5, 1.5], Verdict::Touching),
        (up(0.5), [1.5, 2.0], Verdict::Overlapping),
        (0.5f64.next_down(), [1.5, 2.0], Verdict::Separated),
        (0.25, [1.5, 1.0], Verdict::Overlapping),
        (0.125, [0.5, 0.5], Verdict::Overlapping),
        (5.0, [6.0, 7.0], Verdict::Touching),
        (5.0, [6.0, up(7.0)], Verdict::Separated),
    ] {
        for is_turned in [false, true] {
            let pose = api::Pose { translation: vector(x, y, 0.5), orientation: None };
            let q = api::PlacedBody { source: Some(ball(radius)), pose: Some(pose) };
            let [p, q] = ordered(is_turned, placed("channel", 0.0, 0.0), q);
            let question = api::CheckCollisionRequest { p, q, ..Default::default() };
            let answer =
                server.queries().check_collision(question.clone()).await.unwrap().into_inner();
            assert_eq!(answer.verdict(), expected, "{radius} {x} {y}");
            verify(&server, of_collision(&question, &answer)).await.unwrap();
            let Some(Proof::Rounded(proof)) = answer.certificate.clone().unwrap().proof else {
                panic!("{answer:?}")
            };
            // In the middle of a wall nothing but a vertex inside tells.
            assert_eq!(proof.inner_vertex.is_some(), radius == 0.125, "{proof:?}");
            let changes: [fn(&mut api::RoundedProof); 4] = [
                |proof| proof.cover = None,
                |proof| proof.pairs.clear(),
                |proof| proof.set_verdict(Verdict::Overlapping),
                |proof| proof.inner_vertex = proof.inner_vertex.map(|_| 7),
            ];
            for tamper in changes {
                let mut changed = proof.clone();
                tamper(&mut changed);
                if changed == proof {
                    continue;
                }
                let mut lie = answer.clone();
                lie.set_verdict(changed.verdict());
                lie.certificate.as_mut().unwrap().proof = Some(Proof::Rounded(changed));
                let claim = Some(of_collision(&question, &lie));
                let request = api::VerifyCertificateRequest { claim };
                let judged = server.queries().verify_certificate(request).await;
                assert!(judged.is_err() || !judged.unwrap().into_inner().valid, "{lie:?}");
            }
        }
    }
}

/// A motion of any kind that ends near the other side of the channel.
fn motion(random: &mut Random, kind: u64) -> Option<api::Motion> {
    let reach = |random: &mut Random| 0.125 * (random.below(65) as f64 - 32.0);
    let velocity = vector(reach(random), reach(random), 0.25 * reach(random));
    let kind = match kind % 3 {
        0 => api::motion::Kind::Linear(api::LinearMotion { velocity }),
        1 => {
            let (axis, angle) = (vector(0.5, reach(random), 1.0), reach(random));
            api::motion::Kind::Screw(api::ScrewMotion { pivot: None, velocity, axis, angle })
        }
        _ => {
            let end = Some(pose(random));
            api::motion::Kind::ToPose(api::ToPoseMotion { end, ..Default::default() })
        }
    };
    Some(api::Motion { kind: Some(kind) })
}

#[tokio::test]
async fn what_flies_and_turns_meets_a_channel_when_it_meets_its_boxes() {
    let server = with_boxes().await;
    let random = &mut Random::new(5);
    let mut seen = [0; 4];
    for round in 0..60 {
        let (q, is_turned) = (other(random, round % 2 == 1), round % 5 == 0);
        let way = motion(random, round / 2);
        let margin = if round % 7 == 0 { 0.0625 } else { 0.0 };
        let about = |p: &str| {
            let [p, q] = ordered(is_turned, placed(p, 0.0, 0.0), q.clone());
            let [p_motion, q_motion] =
                if is_turned { [way.clone(), None] } else { [None, way.clone()] };
            let impact = true;
            api::FindFirstContactRequest {
                p,
                q,
                p_motion,
                q_motion,
                margin,
                impact,
                ..Default::default()
            }
        };
        let question = about("channel");
        let ask = async |question: &api::FindFirstContactRequest| {
            server.queries().find_first_contact(question.clone()).await.unwrap().into_inner()
        };
        let answer = ask(&question).await;
        let (mut stands, mut bracket, mut meets) = (Verdict::Separated, [1.0_f64; 2], false);
        for name in BOXES {
            let part = ask(&about(name)).await;
            assert_ne!(part.outcome(), Outcome::Undecided);
            stands = stands.max(part.initial_verdict());
            if let Some(t_contact) = part.t_contact {
                meets = true;
                bracket = [bracket[0].min(part.t_free), bracket[1].min(t_contact)];
            }
        }
        let story = format!("{round} {question:?} {bracket:?}: {answer:?}");
        assert_eq!(answer.initial_verdict(), stands, "{story}");
        assert_eq!(answer.outcome() == Outcome::Contact, meets, "{story}");
        assert_eq!(answer.outcome() == Outcome::NoContact, !meets, "{story}");
        if meets {
            let t_contact = answer.t_contact.unwrap();
            assert!(answer.t_free <= bracket[1] && bracket[0] <= t_contact, "{story}");
            assert!(t_contact - answer.t_free < 1e-6, "{story}");
            assert!(answer.point.is_some(), "{story}");
        }
        seen[stands as usize] += 1;
        seen[0] += usize::from(meets && stands == Verdict::Separated);
        if answer.uncertified {
            assert_ne!(stands, Verdict::Separated, "{story}");
            continue;
        }
        verify(&server, of_motion(&question, &answer)).await.expect(&story);
        let refused = async |tamper: &dyn Fn(&mut api::FindFirstContactResponse)| {
            let mut lie = answer.clone();
            tamper(&mut lie);
            let claim = Some(of_motion(&question, &lie));
            let judged =
                server.queries().verify_certificate(api::VerifyCertificateRequest { claim }).await;
            assert!(judged.is_err() || !judged.unwrap().into_inner().valid, "{lie:?}");
        };
        if let Some(t_contact) = answer.t_contact.filter(|t| *t > 0.0 && *t < 0.99) {
            refused(&|a| (a.t_free, a.t_contact) = (t_contact + 0.004, Some(t_contact + 0.005)))
                .await;
            refused(&|a| (a.outcome, a.t_contact) = (Outcome::NoContact.into(), None)).await;
            refused(&|a| {
                let certificate = a.certificate.as_mut().unwrap();
                certificate.solid.as_mut().unwrap().free = None;
            })
            .await;
        }
    }
    assert!(seen[0] > 10 && seen[1] > 25, "{seen:?}");
}

/// Three steps are too few for a cover of what a channel has around a peg in its slot.
#[tokio::test]
async fn what_is_too_long_to_prove_of_a_distance_goes_without_and_says_why() {
    let limits = Limits { cover_steps_max: 3, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    register(&server, keep("channel", channel())).await.unwrap();
    let peg: Vec<f64> = cube().chunks(3).flat_map(|c| [c[0] * 0.5, c[1], c[2]]).collect();
    server.register("peg", &peg).await;
    let [p, q] = [Some(placed("channel", 0., 0.)), Some(placed("peg", 1.25, 1.5))];
    let question = api::MeasureDistanceRequest { p, q, ..Default::default() };
    let answer = distance(&server, &question).await;
    let bracket = answer.distance.unwrap();
    assert!(bracket.lower <= 0.25 && 0.25 <= bracket.upper);
    assert!(answer.uncertified && answer.certificate.is_none());
    assert_eq!(answer.uncertified_reason(), api::UncertifiedReason::TooLong);
    let options = Some(api::QueryOptions { omit_certificate: true, ..Default::default() });
    let answer = distance(&server, &api::MeasureDistanceRequest { options, ..question }).await;
    assert!(!answer.uncertified && answer.certificate.is_none());
}

/// One separating vector is enough, and is all that there is room for.
#[tokio::test]
async fn hulls_that_are_farther_apart_than_the_margin_prove_it_themselves() {
    let limits = Limits { cover_steps_max: 0, ..Limits::default() };
    let server = Server::with_limits(limits).await;
    register(&server, keep("channel", channel())).await.unwrap();
    server.register("cube", &cube()).await;
    let [p, q] = [Some(placed("channel", 0., 0.)), Some(placed("cube", 5., 1.5))];
    let margin = Some(1.5);
    let question = api::CheckCollisionRequest { p, q, margin, ..Default::default() };
    let answer = server.queries().check_collision(question.clone()).await.unwrap().into_inner();
    assert_eq!((answer.verdict(), answer.within_margin), (Verdict::Separated, Some(false)));
    assert!(!answer.uncertified);
    let proof = answer.certificate.as_ref().unwrap().proof.as_ref().unwrap();
    assert!(matches!(proof, Proof::Separated(_)), "{proof:?}");
    verify(&server, of_collision(&question, &answer)).await.unwrap();
}
