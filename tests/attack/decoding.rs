//! Rows of messages that are within every limit and take long to read.

use std::time::{Duration, Instant};

use clearance_proto as api;
use prost::Message;
use prost::bytes::Bytes;
use tonic::Code;

use crate::memory::{MIB, bounds, call, framed, small, until_given_back};
use crate::row::row_on;
use crate::server::{Client, slowness};
use crate::watch::Bounds;

/// A message may have so many bytes.
const MESSAGE_BYTES: usize = 4 << 20;

/// Frames of one message: a frame may have 20,000 bodies and as many poses.
const FRAMES: usize = 3;

fn pose(k: u32) -> Option<api::Pose> {
    let translation = Some(api::Vector3 { x: f64::from(k), y: 1.0, z: 2.0 });
    let turned = api::Quaternion { w: 1.0, x: 0.5, y: 0.0, z: 0.0 };
    Some(api::Pose { translation, orientation: Some(api::pose::Orientation::Rotation(turned)) })
}

/// As many bodies and poses of bodies as a message may have, for a session that nobody has opened.
fn step() -> Bytes {
    let body = |id| api::Body { id: Some(id), pose: pose(id), ..Default::default() };
    let moved = |id| api::BodyPose { id: Some(id), pose: pose(id), ..Default::default() };
    let frame = |frame_id, count| api::Frame {
        frame_id,
        poses: (0..count).map(moved).collect(),
        added_bodies: (0..count).map(body).collect(),
        ..Default::default()
    };
    // Of a hundred thousandth body the number takes a byte more than of a thousandth.
    let each = frame(1, 1_000).encoded_len() / 1_000 + 3;
    let count = u32::try_from(MESSAGE_BYTES / FRAMES / each).unwrap();
    let frames = (1..=FRAMES as u64).map(|id| frame(id, count)).collect();
    let session_id = "nobodys".to_owned();
    let request = api::StepSessionRequest { session_id, frames, ..Default::default() };
    let message = request.encode_to_vec();
    let is_full = MESSAGE_BYTES * 9 / 10 < message.len() && message.len() <= MESSAGE_BYTES;
    assert!(is_full, "{} bytes", message.len());
    framed(&message, 0)
}

/// As many of each client are read at least, or nothing would have been in anybody's way.
const READ_MIN: u64 = 6;

/// Sends the message again and again. Returns how many were read: that there is no such session is
/// found only then.
async fn step_without_end(client: Client, message: Bytes, time: Duration) -> u64 {
    let (start, mut count) = (Instant::now(), 0);
    let is_over = |count: u64| {
        let enough = if count < READ_MIN { time * slowness() } else { time };
        start.elapsed() >= enough
    };
    while !is_over(count) {
        let message = message.clone();
        let status = call(&client.0, "SessionService/StepSession", message, true).await;
        let code = status.expect("refused").code();
        assert!(matches!(code, Code::NotFound | Code::ResourceExhausted), "{code:?}");
        count += u64::from(code == Code::NotFound);
    }
    count
}

/// Messages of bodies and poses were decoded on the threads that speak to clients: health took
/// 1.15 s.
#[test]
fn messages_that_take_long_to_decode_hold_nobody_up() {
    let bounds = Bounds {
        health_p99: Duration::from_millis(50),
        health_worst: Duration::from_millis(250),
        ..bounds()
    };
    row_on(&small(), "4 clients, bodies and poses of 4 MiB", bounds, async |server| {
        let time = Duration::from_secs(3);
        let (message, mut attacks) = (step(), tokio::task::JoinSet::new());
        for _ in 0..4 {
            attacks.spawn(step_without_end(server.connect().await, message.clone(), time));
        }
        let decoded: u64 = attacks.join_all().await.into_iter().sum();
        println!("  {decoded} messages were decoded");
        assert!(decoded > 20, "{decoded} messages were decoded");
        until_given_back(server, 8 * MIB, 200 * MIB).await;
    });
}
