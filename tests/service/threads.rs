//! Answers do not depend on the number of compute threads.

use api::batch_query_answer::Answer;
use api::batch_query_item::Question;
use api::{Outcome, PairSelection, Verdict};
use clearance_geometry::hull::samples;
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use clearance_runtime::settings::Settings;

use crate::server::{Server, vector};

const THREADS: [usize; 3] = [1, 2, 8];

const SHAPES: [&str; 4] = ["box", "ball", "needle", "plate"];

/// A server with so many compute threads and a few shapes.
async fn started(compute_threads: usize) -> Server {
    let server = Server::with_settings(Settings { compute_threads, ..Settings::default() }).await;
    let shapes = [
        samples::cuboid(0.4, 0.3, 0.5),
        samples::sphere(14, 0.5),
        samples::needle(3, 1.5, 0.02),
        samples::flat_polygon(5, 0.6),
    ];
    for (alias, points) in SHAPES.iter().zip(shapes) {
        let xyz: Vec<f64> = points.iter().flat_map(|point| [point.x, point.y, point.z]).collect();
        server.register(alias, &xyz).await;
    }
    server
}

fn pose(random: &mut Random, reach: f64) -> Option<api::Pose> {
    let place = random.in_ball() * reach;
    let mut number = || random.between(-1.0, 1.0);
    let rotation = api::Quaternion { w: 1.5 + number(), x: number(), y: number(), z: number() };
    let orientation = Some(api::pose::Orientation::Rotation(rotation));
    Some(api::Pose { translation: vector(place.x, place.y, place.z), orientation })
}

fn placed(random: &mut Random, reach: f64) -> api::PlacedBody {
    let alias = SHAPES[random.below(4) as usize].to_owned();
    api::PlacedBody {
        source: Some(api::placed_body::Source::Alias(alias)),
        pose: pose(random, reach),
    }
}

/// More pairs than one thread is given at once.
const BODIES: u32 = 18;

/// Of the crowd, metres.
const REACH: f64 = 0.9;

/// A crowd in which about every tenth pair is in contact.
fn crowd(canonical: bool) -> api::OpenSessionRequest {
    let random = &mut Random::new(7);
    let body = |id: u32| api::Body {
        id: Some(id),
        parts: (0..1 + u32::from(id.is_multiple_of(6))).map(|_| placed(random, 0.3)).collect(),
        pose: pose(random, REACH),
        margin: 0.02 * f64::from(id % 3),
        ..Default::default()
    };
    let mut report = api::ReportOptions {
        distances: true,
        depths: true,
        first_contacts: true,
        certificates: true,
        closest_points: true,
        placed_parts: true,
        normals: true,
        impacts: true,
        contact_polygons: true,
        nearest_pairs: 25,
        pairs_below: Some(-0.05),
        ..Default::default()
    };
    report.set_pairs(PairSelection::All);
    api::OpenSessionRequest {
        session_id: "s".to_owned(),
        state: Some(api::SessionState {
            bodies: (1..=BODIES).map(body).collect(),
            ..Default::default()
        }),
        report: Some(report),
        canonical,
        ..Default::default()
    }
}

fn frames() -> Vec<api::Frame> {
    let random = &mut Random::new(8);
    let frame = |frame_id: u64| {
        let moves = (1..=BODIES).filter(|id| !(u64::from(*id) + frame_id).is_multiple_of(3));
        let poses = moves.map(|id| api::BodyPose {
            id: Some(id),
            pose: pose(random, REACH),
            ..Default::default()
        });
        api::Frame { frame_id, poses: poses.collect(), ..Default::default() }
    };
    (1..=2).map(frame).collect()
}

/// What the scene above is told, without what it cost.
async fn reports(threads: usize, canonical: bool) -> Vec<api::FrameReport> {
    let server = started(threads).await;
    let opened = server.sessions().open_session(crowd(canonical)).await.unwrap().into_inner();
    let request = api::StepSessionRequest {
        session_id: "s".to_owned(),
        frames: frames(),
        ..Default::default()
    };
    let mut reports = server.sessions().step_session(request).await.unwrap().into_inner().reports;
    reports.insert(0, opened.report.unwrap());
    for report in &mut reports {
        assert!(report.status.is_none() && report.refused_items.is_empty());
        let cost = report.cost.take().unwrap();
        assert!(cost.sum.unwrap().queries > 0);
    }
    reports
}

/// Every digit of every number, and the sign of zero.
fn bits(what: &impl std::fmt::Debug) -> String {
    format!("{what:?}")
}

#[tokio::test]
async fn a_session_is_told_the_same_on_any_number_of_threads() {
    let mut verdicts = Vec::new();
    for canonical in [true, false] {
        let expected = reports(THREADS[0], canonical).await;
        let pairs = || expected.iter().flat_map(|report| &report.pairs);
        assert_eq!(expected[1].pairs.len(), (BODIES * (BODIES - 1) / 2) as usize);
        let is_separated = |pair: &&api::PairReport| pair.verdict() == Verdict::Separated;
        assert!(pairs().filter(is_separated).count() > 50);
        assert!(pairs().filter(|pair| !is_separated(pair)).count() > 50);
        let outcomes = pairs().filter_map(|pair| pair.first_contact.as_ref());
        assert!(outcomes.filter(|found| found.outcome() == Outcome::Contact).count() > 50);
        // With witnesses too: whatever runs them, pairs do not depend on each other.
        for threads in &THREADS[1..] {
            let found = reports(*threads, canonical).await;
            for (found, expected) in found.iter().zip(&expected) {
                let what = format!("{threads} threads, frame {}", expected.frame_id);
                for (a, b) in found.pairs.iter().zip(&expected.pairs) {
                    assert_eq!(bits(a), bits(b), "{what}");
                }
                assert!(bits(found) == bits(expected), "{what}");
            }
        }
        let verdict = |pair: &api::PairReport| {
            (
                pair.a,
                pair.b,
                pair.verdict(),
                pair.within_margin,
                pair.first_contact.as_ref().map(|f| f.outcome()),
            )
        };
        verdicts.push(pairs().map(verdict).collect::<Vec<_>>());
    }
    assert_eq!(verdicts[0], verdicts[1], "canonical or not");
}

/// Questions of every kind.
fn batch() -> api::BatchQueryRequest {
    let random = &mut Random::new(9);
    let options = || Some(api::QueryOptions { canonical: true, ..Default::default() });
    let item = |index: u64| {
        let (p, q) = (Some(placed(random, 0.5)), Some(placed(random, 0.5)));
        let direction = random.in_ball();
        let direction = vector(direction.x, direction.y, direction.z);
        let options = options();
        let question = match index % 5 {
            0 => Question::CheckCollision(api::CheckCollisionRequest {
                p,
                q,
                options,
                ..Default::default()
            }),
            1 => Question::MeasureDistance(api::MeasureDistanceRequest {
                p,
                q,
                options,
                ..Default::default()
            }),
            2 => Question::MeasureDistanceAlong(api::MeasureDistanceAlongRequest {
                p,
                q,
                direction,
                options,
            }),
            3 => {
                let with_surface = true;
                Question::MeasurePenetration(api::MeasurePenetrationRequest {
                    p,
                    q,
                    with_surface,
                    options,
                })
            }
            _ => {
                let end = api::ToPoseMotion { end: pose(random, 0.5), ..Default::default() };
                let p_motion = Some(api::Motion { kind: Some(api::motion::Kind::ToPose(end)) });
                Question::FindFirstContact(api::FindFirstContactRequest {
                    p,
                    q,
                    p_motion,
                    options,
                    ..Default::default()
                })
            }
        };
        api::BatchQueryItem { question: Some(question) }
    };
    api::BatchQueryRequest { items: (0..60).map(item).collect() }
}

/// The answers to these questions, without what they cost.
async fn answers(threads: usize) -> Vec<api::BatchQueryAnswer> {
    let server = started(threads).await;
    let reply = server.queries().batch_query(batch()).await.unwrap().into_inner();
    let mut answers = reply.answers;
    for answer in &mut answers {
        let cost = match answer.answer.as_mut().unwrap() {
            Answer::Status(status) => panic!("{status:?}"),
            Answer::CheckCollision(answer) => &mut answer.cost,
            Answer::MeasureDistance(answer) => &mut answer.cost,
            Answer::MeasureDistanceAlong(answer) => &mut answer.cost,
            Answer::MeasurePenetration(answer) => &mut answer.cost,
            Answer::FindFirstContact(answer) => &mut answer.cost,
        };
        assert_eq!(cost.take().unwrap().queries, 1);
    }
    answers
}

#[tokio::test]
async fn a_batch_is_told_the_same_on_any_number_of_threads() {
    let expected = answers(THREADS[0]).await;
    assert_eq!(expected.len(), 60);
    for threads in &THREADS[1..] {
        for (index, (a, b)) in answers(*threads).await.iter().zip(&expected).enumerate() {
            assert_eq!(bits(a), bits(b), "{threads} threads, question {index}");
        }
    }
}
