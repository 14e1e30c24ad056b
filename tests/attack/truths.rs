//! Whether a server that is attacked still says the same: questions, and a session that is stepped,
//! each answered once before and then again and again; whatever is answered is word for word what
//! was answered before, and what a session says of a pair is what the pair is by itself.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use clearance_proto as api;
use clearance_proto::batch_query_answer::Answer;
use clearance_proto::batch_query_item::Question;

use crate::questions::{ball, cube, of_points};
use crate::server::Client;

/// Between two rounds of questions.
const INTERVAL: Duration = Duration::from_millis(20);

/// Bodies of the session, and its frames.
const BODIES: u32 = 8;
const FRAMES: u64 = 12;

/// What was answered before the attack.
#[derive(Debug)]
pub(crate) struct Truths {
    questions: Vec<api::BatchQueryItem>,
    answers: Vec<Answer>,
    reports: Vec<api::FrameReport>,
}

/// How often something was asked again, and answered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repeated {
    pub(crate) answered: u64,
    pub(crate) frames: u64,
    pub(crate) refused: u64,
}

/// Asks at work.
pub(crate) struct Asking {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Repeated>,
}

/// Where a body of the session is in a frame.
fn place(id: u32, frame: u64) -> api::Vector3 {
    let turn = f64::from(id) + 0.3 * frame as f64;
    api::Vector3 { x: 2.0 * turn.sin(), y: 1.5 * (1.3 * turn).cos(), z: 0.1 * f64::from(id) }
}

/// A body of the session.
fn shape(id: u32) -> Vec<f64> {
    if id.is_multiple_of(2) { cube(-0.5) } else { ball(20 + id) }
}

fn placed(id: u32, frame: u64) -> Option<api::PlacedBody> {
    let mut body = of_points(shape(id)).unwrap();
    body.pose = Some(api::Pose { translation: Some(place(id, frame)), orientation: None });
    Some(body)
}

/// Questions of every kind.
fn questions() -> Vec<api::BatchQueryItem> {
    let mut all = Vec::new();
    for id in 1..BODIES {
        for frame in 0..FRAMES {
            let (p, q) = (placed(0, frame), placed(id, frame));
            let velocity = Some(api::Vector3 { x: -1.0, y: 0.4, z: 0.1 });
            let axis = Some(api::Vector3 { x: 0.3, y: 1.0, z: 0.2 });
            let screw = api::ScrewMotion { pivot: None, velocity, axis, angle: 2.0 };
            let motion = Some(api::Motion { kind: Some(api::motion::Kind::Screw(screw)) });
            all.push(match frame % 4 {
                0 => Question::CheckCollision(api::CheckCollisionRequest {
                    p,
                    q,
                    ..Default::default()
                }),
                1 => Question::MeasureDistance(api::MeasureDistanceRequest {
                    p,
                    q,
                    ..Default::default()
                }),
                2 => Question::MeasurePenetration(api::MeasurePenetrationRequest {
                    p,
                    q,
                    ..Default::default()
                }),
                _ => Question::FindFirstContact(api::FindFirstContactRequest {
                    p,
                    q,
                    q_motion: motion,
                    ..Default::default()
                }),
            });
        }
    }
    all.into_iter().map(|question| api::BatchQueryItem { question: Some(question) }).collect()
}

/// What an answer says, without what it cost.
fn said(answer: Option<Answer>) -> Option<Answer> {
    let mut answer = answer?;
    match &mut answer {
        Answer::CheckCollision(answer) => answer.cost = None,
        Answer::MeasureDistance(answer) => answer.cost = None,
        Answer::MeasureDistanceAlong(answer) => answer.cost = None,
        Answer::MeasurePenetration(answer) => answer.cost = None,
        Answer::FindFirstContact(answer) => answer.cost = None,
        // Too much is asked of the server: it may say so.
        Answer::Status(_) => return None,
    }
    Some(answer)
}

fn open() -> api::OpenSessionRequest {
    let bodies = (0..BODIES).map(|id| api::Body {
        id: Some(id),
        parts: vec![of_points(shape(id)).unwrap()],
        pose: Some(api::Pose { translation: Some(place(id, 0)), orientation: None }),
        ..Default::default()
    });
    let report = api::ReportOptions {
        pairs: api::PairSelection::All.into(),
        distances: true,
        ..Default::default()
    };
    api::OpenSessionRequest {
        report: Some(report),
        // The answers do not depend on what was remembered, nor on when it was forgotten.
        canonical: true,
        ..crate::strikes::session(bodies.collect())
    }
}

fn frames() -> Vec<api::Frame> {
    let pose = |id, frame| api::BodyPose {
        id: Some(id),
        pose: Some(api::Pose { translation: Some(place(id, frame)), orientation: None }),
        ..Default::default()
    };
    let frame = |frame_id| api::Frame {
        frame_id,
        poses: (0..BODIES).map(|id| pose(id, frame_id)).collect(),
        ..Default::default()
    };
    (1..=FRAMES).map(frame).collect()
}

/// The reports of all frames of a new session, without what they cost; none if one was refused.
async fn stepped(client: &Client) -> Option<Vec<api::FrameReport>> {
    let opened = client.sessions().open_session(open()).await.ok()?.into_inner();
    let session_id = opened.session_id;
    let request = api::StepSessionRequest {
        session_id: session_id.clone(),
        frames: frames(),
        ..Default::default()
    };
    let reports = client.sessions().step_session(request).await;
    let close = api::CloseSessionRequest { session_id, allow_missing: true, ..Default::default() };
    // What the server has no time for expires.
    drop(client.sessions().close_session(close).await);
    let mut reports = reports.ok()?.into_inner().reports;
    reports.iter_mut().for_each(|report| report.cost = None);
    reports.iter().all(|report| report.status.is_none()).then_some(reports)
}

impl Truths {
    /// Asks everything of a server that is at rest, and checks the session's verdicts against
    /// those about the pairs alone.
    pub(crate) async fn of(client: &Client) -> Self {
        let questions = questions();
        let ask = api::BatchQueryRequest { items: questions.clone() };
        let answers = client.queries().batch_query(ask).await.unwrap().into_inner().answers;
        let answers: Vec<Answer> =
            answers.into_iter().map(|answer| said(answer.answer).expect("answered")).collect();
        let reports = stepped(client).await.expect("answered");
        let mut compared = 0;
        for report in &reports {
            for pair in &report.pairs {
                let (p, q) = (placed(pair.a, report.frame_id), placed(pair.b, report.frame_id));
                let ask = api::CheckCollisionRequest { p, q, ..Default::default() };
                let cold = client.queries().check_collision(ask).await.unwrap().into_inner();
                assert_eq!(cold.verdict(), pair.verdict(), "{pair:?} of {}", report.frame_id);
                compared += 1;
            }
        }
        assert_eq!(compared, u64::from(BODIES * (BODIES - 1) / 2) * FRAMES);
        Self { questions, answers, reports }
    }

    /// Asks again and again, until it is told to stop; a panic where anything is not as before.
    pub(crate) fn ask(self, address: SocketAddr) -> Asking {
        let over = Arc::new(AtomicBool::new(false));
        let until = over.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(self.repeat(address, &until))
        });
        Asking { over, thread }
    }

    async fn repeat(self, address: SocketAddr, over: &AtomicBool) -> Repeated {
        let client = Client::to(address).await;
        let mut repeated = Repeated::default();
        while !over.load(Ordering::Relaxed) {
            for (items, before) in self.questions.chunks(8).zip(self.answers.chunks(8)) {
                let ask = api::BatchQueryRequest { items: items.to_vec() };
                let Ok(reply) = client.queries().batch_query(ask).await else {
                    repeated.refused += 1;
                    continue;
                };
                for (answer, before) in reply.into_inner().answers.into_iter().zip(before) {
                    let Some(now) = said(answer.answer) else { continue };
                    assert_eq!(&now, before, "under attack");
                    repeated.answered += 1;
                }
            }
            match stepped(&client).await {
                None => repeated.refused += 1,
                Some(reports) => {
                    assert_eq!(reports, self.reports, "under attack");
                    repeated.frames += FRAMES;
                }
            }
            tokio::time::sleep(INTERVAL).await;
        }
        repeated
    }
}

impl Asking {
    /// Ends it; tells how often the same was answered.
    pub(crate) fn end(self) -> Repeated {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("nothing else was said")
    }
}
