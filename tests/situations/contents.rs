//! What messages say: contacts from the beginning, unusual ids, what is refused, what is long, what
//! is newer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clearance_proto as api;
use prost::Message;
use serde_json::{Value, json};

use crate::lost::{answered, question};
use crate::play::{Course, Outcome, Play, ensure};
use crate::script::{Act, At, Rewrite};

pub(crate) async fn contacts_from_the_beginning(play: &mut Play) -> Outcome {
    let bodies = json!([
        {"id": 1, "shape": "cube", "at": [0, 0, 0], "fixed": true},
        {"id": 2, "shape": "cube", "at": [0.5, 0, 0]},
        {"id": 3, "shape": "cube", "at": [0, 1, 0]},
    ]);
    play.begin(Course::carts().with("bodies", bodies)).await?;
    let events = play.opened["events"].as_array().map(Vec::len).unwrap_or_default();
    ensure!(events >= 2, "{events} contacts were told of the opening");
    play.frames(1).await?;
    if let Some(proxy) = play.server() {
        proxy.restart().await;
    }
    play.end().await
}

pub(crate) async fn contacts_that_were_announced(play: &mut Play) -> Outcome {
    let bodies = json!([
        {"id": 1, "shape": "cube", "at": [0, 0, 0], "fixed": true},
        {"id": 2, "shape": "cube", "at": [0.5, 0, 0]},
        {"id": 3, "shape": "cube", "at": [0, 3, 0]},
    ]);
    let course = Course::carts()
        .with("bodies", bodies)
        .with("frame_id", json!("9007199254740995"))
        .with("contacts", json!([[1, 2, "9007199254740993"]]));
    play.begin(course).await?;
    let events = &play.opened["events"];
    ensure!(events == &json!([]), "what was announced is announced again: {events}");
    let known = play.done(json!({"do": "state", "session": "s"})).await?;
    let expected = json!([[1, 2, "9007199254740993"]]);
    ensure!(known["contacts"] == expected, "{} are known", known["contacts"]);
    play.end().await
}

pub(crate) async fn ids_at_both_ends(play: &mut Play) -> Outcome {
    let bodies = json!([
        {"id": 0, "shape": "cube", "at": [0, 0, 0], "fixed": true},
        {"id": 2, "shape": "cube", "at": [0, 1, 0]},
        {"id": u32::MAX, "shape": "cube", "at": [0, 4, 0]},
    ]);
    let mut course = Course::carts().with("bodies", bodies);
    for frame in &mut course.frames {
        for pose in frame["poses"].as_array_mut().into_iter().flatten() {
            if pose[0] == 3 {
                pose[0] = u32::MAX.into();
            }
        }
    }
    play.begin(course).await?;
    play.frames(5).await?;
    if let Some(proxy) = play.server() {
        proxy.restart().await;
    }
    play.end().await
}

pub(crate) async fn items_that_are_refused(play: &mut Play) -> Outcome {
    let poses = json!([[2, 0.5, 0, 0], [77, 1, 1, 1], [3, 0, 0.5, 0]]);
    let course = Course::carts().at_frame(4, "poses", poses).at_frame(6, "removed", json!([88]));
    play.begin(course).await?;
    play.frames(4).await?;
    if let Some(proxy) = play.server() {
        proxy.restart().await;
    }
    play.frames(2).await?;
    play.agrees().await?;
    play.end().await
}

pub(crate) async fn a_frame_that_is_refused(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(4).await?;
    let mut wrong = play.next_frame();
    wrong["added"] = json!([{"id": 2, "shape": "cube", "at": [9, 9, 9]}]);
    play.refused(wrong, ["INVALID_ARGUMENT", "BAD_FIELD", "added_bodies[0].id"]).await?;
    play.agrees().await?;
    play.frames(2).await?;
    if let Some(proxy) = play.server() {
        proxy.restart().await;
    }
    play.end().await
}

pub(crate) async fn a_frame_without_changes(play: &mut Play) -> Outcome {
    let mut course = Course::carts();
    course.frames[4] = json!({});
    course.frames[5] = json!({"poses": []});
    play.begin(course).await?;
    play.end().await
}

/// A scene of so many cubes in a row, each beside the next one, of which one moves.
fn row(count: u32) -> Course {
    let body = |id: u32| json!({"id": id, "shape": "cube", "at": [id, 0, 0]});
    let bodies: Value = (1..=count).map(body).collect();
    let frame = |k: u32| json!({"poses": [[1, 1.0 + f64::from(k % 3) / 4.0, 0, 0]]});
    let opening = json!({"bodies": bodies, "pairs": "all"});
    Course { opening, frames: (1..=6).map(frame).collect() }
}

pub(crate) async fn a_report_that_is_cut(play: &mut Play) -> Outcome {
    play.begin(row(30).with("report_bytes", json!(700))).await?;
    ensure!(play.opened["cut"] == true, "the report was not cut: {}", play.opened);
    play.frames(3).await?;
    if let Some(proxy) = play.server() {
        proxy.restart().await;
    }
    play.end().await
}

pub(crate) async fn a_scene_of_many_bodies(play: &mut Play) -> Outcome {
    let course = row(300).with("pairs", json!("near"));
    play.begin(course).await?;
    play.frames(3).await?;
    play.proxies[0].restart().await;
    play.end().await
}

/// The head of a field of a newer interface, with so many bytes.
fn newer(bytes: usize) -> Vec<u8> {
    let mut field = Vec::new();
    prost::encoding::encode_key(5_000, prost::encoding::WireType::LengthDelimited, &mut field);
    prost::encoding::encode_varint(bytes as u64, &mut field);
    field.resize(field.len() + bytes, 0);
    field
}

fn lengthened(bytes: usize) -> Act {
    let rewrite: Rewrite = Arc::new(move |_, message| message.extend(newer(bytes)));
    Act::Rewrite(rewrite)
}

pub(crate) async fn an_answer_longer_than_defaults(play: &mut Play) -> Outcome {
    play.once(At::Report(4), lengthened(5 << 20));
    play.begin(Course::carts().with("report_bytes", json!(8_000_000))).await?;
    play.end().await
}

pub(crate) async fn fields_of_a_newer_server(play: &mut Play) -> Outcome {
    play.script().always(At::AnyReply, lengthened(9));
    play.begin(Course::carts()).await?;
    play.frames(6).await?;
    play.proxies[0].restart().await;
    play.rest().await?;
    answered(play).await?;
    play.end().await
}

pub(crate) async fn events_of_a_newer_server(play: &mut Play) -> Outcome {
    let event = api::ContactEvent { kind: 9, a: 1, b: 2, ..Default::default() };
    let add: Rewrite = Arc::new(move |method, bytes| {
        if method == "StepSession" {
            let mut reply = api::StepSessionResponse::decode(&bytes[..]).unwrap_or_default();
            reply.reports[0].events.push(event.clone());
            *bytes = reply.encode_to_vec();
        } else {
            let mut reply = api::StreamSessionResponse::decode(&bytes[..]).unwrap_or_default();
            if let Some(report) = &mut reply.report {
                report.events.push(event.clone());
            }
            *bytes = reply.encode_to_vec();
        }
    });
    // In the seventh frame these two are separated: no contact has begun.
    play.once(At::Report(7), Act::Rewrite(add));
    play.begin(Course::carts()).await?;
    play.frames(6).await?;
    let mut said = play.done(play.next_frame()).await?;
    let events = said["events"].as_array_mut().ok_or("there are no events")?;
    let last = events.pop();
    ensure!(last == Some(json!(["9", 1, 2])), "what is not known is told as {last:?}");
    play.took(&said)?;
    play.agrees().await?;
    play.proxies[0].restart().await;
    play.end().await
}

pub(crate) async fn a_question_that_is_given_up(play: &mut Play) -> Outcome {
    play.connect().await?;
    play.once(At::Call("CheckCollision"), Act::Hold(Duration::from_secs(3)));
    let mut command = question();
    command["cancel_ms"] = 100.into();
    let start = Instant::now();
    play.refused(command, ["CANCELLED", "", ""]).await?;
    let taken = start.elapsed();
    ensure!(taken < Duration::from_millis(2_000), "it was given up after {taken:?}");
    answered(play).await?;
    let calls = play.script().calls("CheckCollision");
    ensure!(calls == 2, "what was given up was asked again: {calls} calls");
    Ok(())
}

pub(crate) async fn an_answer_beyond_the_deadline(play: &mut Play) -> Outcome {
    play.connect().await?;
    play.once(At::Call("CheckCollision"), Act::Hold(Duration::from_secs(3)));
    let mut command = question();
    command["deadline_ms"] = 200.into();
    let start = Instant::now();
    play.refused(command, ["DEADLINE_EXCEEDED", "", ""]).await?;
    let taken = start.elapsed();
    ensure!(taken < Duration::from_millis(2_000), "the time was over after {taken:?}");
    answered(play).await?;
    let calls = play.script().calls("CheckCollision");
    ensure!(calls == 2, "what came too late was asked again: {calls} calls");
    Ok(())
}
