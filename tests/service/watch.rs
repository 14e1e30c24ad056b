//! Those who follow a session without taking part in it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clearance_proto as api;
use clearance_proto::{ContactEventKind, Notice};
use clearance_runtime::settings::Limits;
use tonic::{Code, Status, Streaming};

use crate::server::{Server, check, soon};
use crate::sessions::{cube_at, pose, put, scene, started, started_with, step};

type News = Streaming<api::WatchSessionResponse>;

async fn watch(server: &Server, id: &str) -> Result<News, Status> {
    let request = api::WatchSessionRequest { session_id: id.to_owned(), ..Default::default() };
    Ok(server.sessions().watch_session(request).await?.into_inner())
}

async fn next(news: &mut News) -> api::WatchSessionResponse {
    soon(news.message()).await.unwrap().expect("more news")
}

/// What a watcher knows, from nothing but what it was told.
#[derive(Default)]
struct Mirror {
    bodies: BTreeMap<u32, api::Body>,
    rules: Option<api::PairRules>,
    frame_id: u64,
}

impl Mirror {
    fn of(state: api::SessionState) -> Self {
        let bodies = state.bodies.into_iter().map(|body| (body.id(), body)).collect();
        Self { bodies, rules: state.rules, frame_id: state.frame_id }
    }

    fn apply(&mut self, frame: api::WatchedFrame) {
        assert_eq!(frame.previous_frame_id, self.frame_id, "no frame is missing");
        self.frame_id = frame.frame_id;
        for id in frame.removed_body_ids {
            assert!(self.bodies.remove(&id).is_some(), "{id} was not there");
            let rules = self.rules.as_mut().unwrap();
            rules.ignored_pairs.retain(|pair| pair.a() != id && pair.b() != id);
        }
        for body in frame.added_bodies {
            assert!(self.bodies.insert(body.id(), body).is_none(), "was there already");
        }
        for body in frame.changed_bodies {
            assert!(self.bodies.insert(body.id(), body).is_some(), "was not there");
        }
        self.rules = frame.rules.or(self.rules.take());
        let poses = frame.packed_poses.unwrap();
        let placed = poses.translations.rows::<3>().zip(poses.rotation_matrices.rows::<9>());
        for (id, (translation, rows)) in poses.ids.iter().zip(placed) {
            let matrix = api::RotationMatrix { rows: rows.to_vec() };
            self.bodies.get_mut(&id).unwrap().pose = Some(api::Pose {
                translation: crate::server::vector(translation[0], translation[1], translation[2]),
                orientation: Some(api::pose::Orientation::RotationMatrix(matrix)),
            });
        }
    }

    async fn is_true(&self, server: &Server, id: &str) {
        let request = api::GetSessionRequest { session_id: id.to_owned(), ..Default::default() };
        let reply = server.sessions().get_session(request).await.unwrap().into_inner();
        let state = Self::of(reply.state.unwrap());
        assert_eq!(self.frame_id, state.frame_id);
        assert_eq!(self.bodies, state.bodies);
        assert_eq!(self.rules, state.rules);
    }
}

/// One pose of a frame that moves several bodies.
fn moved(id: u32, x: f64, teleported: bool) -> api::BodyPose {
    api::BodyPose { id: Some(id), pose: pose(x), teleported, ..Default::default() }
}

#[tokio::test]
async fn a_watcher_knows_the_scene_after_every_frame_from_what_it_was_told() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    step(&server, "s", vec![put(1, 0.25)]).await.unwrap();
    let mut news = watch(&server, "s").await.unwrap();
    let first = next(&mut news).await;
    assert!(first.incarnation > 0 && first.lost_frames == 0 && first.frame.is_none());
    let mut mirror = Mirror::of(first.state.unwrap());
    assert_eq!(mirror.frame_id, 1, "a late joiner starts with what there is");
    mirror.is_true(&server, "s").await;

    let rules = api::PairRules {
        ignored_pairs: vec![api::BodyPair { a: Some(2), b: Some(7) }],
        ..Default::default()
    };
    let frame = |frame_id| api::Frame { frame_id, ..Default::default() };
    let frames = vec![
        put(2, 9.0),
        // The pose of a body that is not there is refused, and that of the other one is not.
        api::Frame { poses: vec![moved(99, 1.0, false), moved(2, 4.5, true)], ..frame(3) },
        api::Frame {
            added_bodies: vec![cube_at(7, 4.0)],
            rules: Some(Box::new(rules)),
            poses: vec![moved(7, 4.25, false)],
            ..frame(4)
        },
        // The same body goes and comes.
        api::Frame { removed_body_ids: vec![7], added_bodies: vec![cube_at(7, 30.0)], ..frame(5) },
        api::Frame { removed_body_ids: vec![7], poses: vec![moved(1, 4.0, false)], ..frame(6) },
        frame(7),
        // Refused as a whole: nothing is told of it.
        frame(7),
        api::Frame {
            changed_bodies: vec![api::BodyChange {
                id: Some(1),
                parts: [cube_at(1, 0.0).parts, cube_at(1, 0.0).parts].concat(),
                joined_groups: vec!["arm".to_owned()],
                mask: Some(3),
                ..Default::default()
            }],
            rule_changes: Some(Box::new(api::RuleChanges {
                added_ignored_pairs: vec![api::BodyPair { a: Some(2), b: Some(1) }],
                ..Default::default()
            })),
            poses: vec![moved(1, 5.0, false), moved(2, 6.0, false)],
            ..frame(8)
        },
    ];
    for one in frames {
        let refused = one.frame_id <= mirror.frame_id;
        let report = step(&server, "s", vec![one.clone()]).await.unwrap().remove(0);
        if refused {
            continue;
        }
        let told = next(&mut news).await.frame.unwrap();
        assert_eq!(told.frame_id, one.frame_id);
        assert_eq!((&told.events, &told.counts), (&report.events, &report.counts));
        let teleported: &[u32] = if one.frame_id == 3 { &[2] } else { &[] };
        let told_ids = told.packed_poses.as_ref().unwrap().teleported_ids.iter();
        assert_eq!(told_ids.collect::<Vec<u32>>(), teleported);
        mirror.apply(told);
        mirror.is_true(&server, "s").await;
    }
    assert_eq!(mirror.frame_id, 8);
}

/// Events are told whatever the session's own reports contain.
#[tokio::test]
async fn a_watcher_is_told_events_that_the_session_does_not_ask_for() {
    let server = started().await;
    let mut request = scene("s");
    request.report = Some(api::ReportOptions { events: Some(false), ..Default::default() });
    server.sessions().open_session(request).await.unwrap();
    let mut news = watch(&server, "s").await.unwrap();
    next(&mut news).await;
    let report = step(&server, "s", vec![put(1, 0.5)]).await.unwrap().remove(0);
    assert_eq!(report.events, []);
    let told = next(&mut news).await.frame.unwrap();
    let kinds: Vec<_> = told.events.iter().map(api::ContactEvent::kind).collect();
    assert_eq!(kinds, [ContactEventKind::Began]);
}

#[tokio::test]
async fn a_watcher_that_does_not_read_loses_frames_and_the_session_does_not_wait() {
    const FRAMES: u64 = 400;
    let limits = Limits { watch_frames_max: 4, ..Limits::default() };
    let server = started_with(limits).await;
    let mut request = scene("s");
    // News of two hundred kilobytes: what flow control takes in is soon full.
    let state = request.state.as_mut().unwrap();
    state.bodies.extend((10..2_000).map(|id| cube_at(id, 10.0 * f64::from(id))));
    let ids: Vec<u32> = (10..2_000).collect();
    server.sessions().open_session(request).await.unwrap();
    let mut news = watch(&server, "s").await.unwrap();
    let mut mirror = Mirror::of(next(&mut news).await.state.unwrap());
    let start = Instant::now();
    for frame_id in 1..=FRAMES {
        let places = ids.iter().flat_map(|id| [10.0 * f64::from(*id), frame_id as f64, 0.0]);
        let packed = api::PackedPoses {
            ids: ids.clone().into(),
            translations: places.collect(),
            ..Default::default()
        };
        let packed_poses = Some(packed);
        let frame = api::Frame { frame_id, packed_poses, ..Default::default() };
        step(&server, "s", vec![frame]).await.unwrap();
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    let (mut told, mut lost) = (0, 0);
    while mirror.frame_id < FRAMES {
        let reply = next(&mut news).await;
        match (reply.state, reply.frame) {
            (Some(state), None) => {
                lost += reply.lost_frames;
                mirror = Mirror::of(state);
            }
            (None, Some(frame)) => {
                told += 1;
                mirror.apply(frame);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(told + lost, mirror.frame_id, "each frame is told or counted as lost");
    }
    assert!(lost > FRAMES / 2, "{told} told, {lost} lost");
    mirror.is_true(&server, "s").await;
    // Up to date, it loses nothing.
    step(&server, "s", vec![put(FRAMES + 1, 3.0)]).await.unwrap();
    mirror.apply(next(&mut news).await.frame.unwrap());
    mirror.is_true(&server, "s").await;
}

#[tokio::test]
async fn watchers_are_counted_and_told_of_the_end() {
    let limits = Limits { watchers_per_session_max: 3, ..Limits::default() };
    let server = started_with(limits).await;
    let status = watch(&server, "s").await.unwrap_err();
    check(&status, Code::NotFound, "UNKNOWN_SESSION", "session_id");
    server.sessions().open_session(scene("s")).await.unwrap();
    let mut first = watch(&server, "s").await.unwrap();
    let second = watch(&server, "s").await.unwrap();
    // One of three is kept for another address.
    let status = watch(&server, "s").await.unwrap_err();
    check(&status, Code::ResourceExhausted, "LIMIT_EXCEEDED", "");
    assert!(status.message().contains("watchers_per_session_max"), "{}", status.message());
    drop(second);
    let mut third = soon(async {
        loop {
            match watch(&server, "s").await {
                Ok(news) => break news,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    })
    .await;
    let replaced = api::OpenSessionRequest { replace: true, ..scene("s") };
    server.sessions().open_session(replaced).await.unwrap();
    for news in [&mut first, &mut third] {
        assert!(next(news).await.state.is_some());
        assert_eq!(next(news).await.notice(), Notice::Closed);
        assert!(soon(news.message()).await.unwrap().is_none(), "the stream ends");
    }
}

#[tokio::test]
async fn a_watcher_is_told_that_the_server_is_about_to_stop() {
    let server = started().await;
    server.sessions().open_session(scene("s")).await.unwrap();
    let mut news = watch(&server, "s").await.unwrap();
    next(&mut news).await;
    let (_channel, _stopping) = server.stop();
    assert_eq!(next(&mut news).await.notice(), Notice::Draining);
}

/// The last body of a checked group went, and the frame did not say that the group is to come: what
/// its followers knew could not be opened elsewhere.
#[tokio::test]
async fn a_group_whose_last_body_goes_is_told_to_come() {
    let server = started().await;
    let grouped =
        |id, x, group: &str| api::Body { groups: vec![group.to_owned()], ..cube_at(id, x) };
    let pair = api::GroupPair { a: "arms".to_owned(), b: "tools".to_owned() };
    let bodies = vec![grouped(1, 0.0, "arms"), grouped(2, 5.0, "tools"), grouped(3, 9.0, "tools")];
    let rules = Some(api::PairRules { checked_groups: vec![pair], ..Default::default() });
    let state = api::SessionState { bodies, rules, ..Default::default() };
    let open = |id: &str, state| api::OpenSessionRequest {
        session_id: id.to_owned(),
        state: Some(state),
        ..Default::default()
    };
    server.sessions().open_session(open("s", state)).await.unwrap();
    let mut news = watch(&server, "s").await.unwrap();
    let mut mirror = Mirror::of(next(&mut news).await.state.unwrap());
    let without =
        |frame_id, id| api::Frame { frame_id, removed_body_ids: vec![id], ..Default::default() };
    let back =
        |frame_id, body| api::Frame { frame_id, added_bodies: vec![body], ..Default::default() };
    for (frame, is_told) in [
        (without(1, 3), false),
        (without(2, 2), true),
        (back(3, grouped(4, 7.0, "tools")), true),
        (back(4, grouped(5, 8.0, "tools")), false),
    ] {
        step(&server, "s", vec![frame]).await.unwrap();
        let told = next(&mut news).await.frame.unwrap();
        assert_eq!(told.rules.is_some(), is_told, "{told:?}");
        mirror.apply(told);
        mirror.is_true(&server, "s").await;
        let bodies = mirror.bodies.values().cloned().collect();
        let state = api::SessionState { bodies, rules: mirror.rules.clone(), ..Default::default() };
        let elsewhere = format!("elsewhere-{}", mirror.frame_id);
        server.sessions().open_session(open(&elsewhere, state)).await.unwrap();
    }
}
