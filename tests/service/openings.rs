//! Scenes that are opened in several messages.

use clearance_proto as api;
use clearance_proto::stream_session_request::Start;
use clearance_runtime::settings::Limits;
use tonic::{Code, Status};

use crate::server::{Server, check, soon};
use crate::sessions::{all_pairs, cube_at, put, started_with};

const CUBES: u32 = 10;

fn pair(a: u32, b: u32) -> Option<api::BodyPair> {
    Some(api::BodyPair { a: Some(a), b: Some(b) })
}

/// Cubes in a row, each of which overlaps the next; the last two pairs are not checked, and one has
/// a margin.
fn whole() -> api::SessionState {
    let margin = api::PairMargin { pair: pair(1, 3), margin: 0.7 };
    let rules = api::PairRules {
        ignored_pairs: vec![pair(8, 9).unwrap(), pair(9, 10).unwrap()],
        margins: vec![margin],
        ..Default::default()
    };
    let began = api::AnnouncedContact { pair: pair(4, 5), began_frame_id: 6 };
    api::SessionState {
        bodies: (1..=CUBES).map(|id| cube_at(id, 0.8 * f64::from(id))).collect(),
        rules: Some(rules),
        frame_id: 7,
        contacts: vec![began],
        ..Default::default()
    }
}

/// The same, some bodies, rules and contacts a message.
fn pieces() -> Vec<api::SessionState> {
    let state = whole();
    let rules = state.rules.unwrap();
    let mut pieces: Vec<api::SessionState> = (state.bodies.chunks(3))
        .map(|bodies| api::SessionState { bodies: bodies.to_vec(), ..Default::default() })
        .collect();
    pieces[0].frame_id = state.frame_id;
    let ignored = |k: usize| api::PairRules {
        ignored_pairs: vec![rules.ignored_pairs[k]],
        ..Default::default()
    };
    pieces[0].rules = Some(ignored(0));
    pieces[2].rules = Some(api::PairRules { margins: rules.margins.clone(), ..ignored(1) });
    pieces[3].contacts = state.contacts;
    pieces
}

fn opening(id: &str, state: api::SessionState) -> api::OpenSessionRequest {
    api::OpenSessionRequest {
        session_id: id.to_owned(),
        state: Some(state),
        report: all_pairs(),
        ..Default::default()
    }
}

/// A message for each piece; the last one opens.
fn messages(id: &str, pieces: Vec<api::SessionState>) -> Vec<api::StreamSessionRequest> {
    let last = pieces.len() - 1;
    let message = |(k, piece): (usize, api::SessionState)| api::StreamSessionRequest {
        start: (k == 0).then(|| Start::Open(Box::new(opening(id, piece.clone())))),
        more_state: (k > 0).then(|| Box::new(piece)),
        state_continues: k < last,
        ..Default::default()
    };
    pieces.into_iter().enumerate().map(message).collect()
}

async fn small() -> Server {
    started_with(Limits {
        bodies_per_message_max: 3,
        bodies_per_session_max: 10,
        ..Limits::default()
    })
    .await
}

async fn told(
    server: &Server,
    messages: Vec<api::StreamSessionRequest>,
) -> Result<Vec<api::StreamSessionResponse>, Status> {
    let replies = server.sessions().stream_session(tokio_stream::iter(messages)).await;
    let mut replies = replies?.into_inner();
    let mut told = Vec::new();
    while let Some(reply) = soon(replies.message()).await? {
        told.push(reply);
    }
    Ok(told)
}

async fn state(server: &Server, id: &str) -> api::SessionState {
    let request = api::GetSessionRequest { session_id: id.to_owned(), ..Default::default() };
    server.sessions().get_session(request).await.unwrap().into_inner().state.unwrap()
}

#[tokio::test]
async fn a_scene_in_several_messages_is_the_scene_in_one() {
    let (large, small) = (started_with(Limits::default()).await, small().await);
    let opened = large.sessions().open_session(opening("s", whole())).await.unwrap().into_inner();
    let mut sent = messages("s", pieces());
    // The first frame may come with the last of the state, and more may follow.
    sent.last_mut().unwrap().frame = Some(Box::new(put(8, 20.0)));
    let frame = Some(put(9, 30.0));
    sent.push(api::StreamSessionRequest { frame: frame.map(Box::new), ..Default::default() });
    let told = told(&small, sent).await.unwrap();
    let first = told[0].opened.clone().unwrap();
    let bare = |report: Option<api::FrameReport>| {
        report.map(|report| api::FrameReport { cost: None, ..report })
    };
    assert_eq!(bare(first.report), bare(opened.report));
    assert_eq!(first.checked_pairs, 45 - 2);
    let frames: Vec<u64> =
        told[1..].iter().map(|told| told.report.as_ref().unwrap().frame_id).collect();
    assert_eq!(frames, [8, 9]);
    let steps = vec![put(8, 20.0), put(9, 30.0)];
    crate::sessions::step(&large, "s", steps).await.unwrap();
    assert_eq!(state(&small, "s").await, state(&large, "s").await);
}

/// Nothing is opened by a state that is wrong, too long, or ends in the middle, and the field that
/// is to blame is named as if all had come at once.
#[tokio::test]
async fn a_scene_that_does_not_come_whole_is_not_opened() {
    let server = small().await;
    let changed = |change: &dyn Fn(&mut Vec<api::StreamSessionRequest>)| {
        let mut sent = messages("s", pieces());
        change(&mut sent);
        sent
    };
    let more = |k: usize,
                sent: &mut Vec<api::StreamSessionRequest>,
                change: &dyn Fn(&mut api::SessionState)| {
        change(sent[k].more_state.as_mut().unwrap());
    };
    for (sent, field) in [
        (changed(&|sent| sent.truncate(2)), "more_state"),
        (changed(&|sent| sent[2].more_state = None), "more_state"),
        (changed(&|sent| sent[1].start = Some(Start::SessionId("s".to_owned()))), "start"),
        (changed(&|sent| sent[1].frame = Some(Box::new(put(8, 2.0)))), "frame"),
        (changed(&|sent| sent[0].frame = Some(Box::new(put(8, 2.0)))), "frame"),
        (changed(&|sent| more(1, sent, &|state| state.frame_id = 9)), "more_state.frame_id"),
        (
            changed(&|sent| more(1, sent, &|state| state.release_margin = 0.5)),
            "more_state.release_margin",
        ),
        (
            changed(&|sent| more(1, sent, &|state| state.begin_margin = 0.5)),
            "more_state.begin_margin",
        ),
        (
            changed(&|sent| {
                more(2, sent, &|state| state.bodies[1].pose = crate::sessions::pose(f64::NAN));
            }),
            "open.state.bodies[7].pose.translation.x",
        ),
        (
            changed(&|sent| more(3, sent, &|state| state.bodies.push(cube_at(11, 90.0)))),
            "open.state.bodies",
        ),
        (
            changed(&|sent| more(1, sent, &|state| state.bodies.push(cube_at(11, 90.0)))),
            "more_state.bodies",
        ),
        (
            changed(&|sent| sent[0].start = Some(Start::SessionId("s".to_owned()))),
            "state_continues",
        ),
        (changed(&|sent| sent[0].more_state = Some(Box::default())), "more_state"),
    ] {
        let status = told(&server, sent).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
        assert!(status.message().starts_with(field), "{field}: {}", status.message());
    }
    let get = api::GetSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let status = server.sessions().get_session(get).await.unwrap_err();
    check(&status, Code::NotFound, "UNKNOWN_SESSION", "session_id");

    // Once it is open, there is no more of its state.
    let mut sent = messages("s", pieces());
    sent.push(api::StreamSessionRequest { more_state: Some(Box::default()), ..Default::default() });
    sent.push(api::StreamSessionRequest {
        frame: Some(Box::new(put(8, 2.0))),
        state_continues: true,
        ..Default::default()
    });
    let told = told(&server, sent).await.unwrap();
    let fields: Vec<&str> = (told[1..].iter())
        .map(|told| told.report.as_ref().unwrap().status.as_ref().unwrap().field.as_str())
        .collect();
    assert_eq!(fields, ["more_state", "state_continues"]);
}
