//! Connections and answers that are lost.

use std::time::Duration;

use clearance_proto as api;
use prost::Message;
use serde_json::json;
use tokio::net::TcpListener;

use crate::play::{Course, Outcome, Play, cube, ensure};
use crate::script::{Act, At};

/// How the two cubes of a question stand that touch.
pub(crate) fn question() -> serde_json::Value {
    let placed = |x: f64| json!({"shape": "cube", "at": [x, 0.25, 0.0]});
    json!({"do": "ask", "client": "c", "question": "collision", "p": placed(0.0), "q": placed(1.0)})
}

/// Asks it, and gets the truth.
pub(crate) async fn answered(play: &mut Play) -> Outcome {
    let said = play.done(question()).await?;
    ensure!(said["verdict"] == "touching", "two cubes side by side are {}", said["verdict"]);
    Ok(())
}

pub(crate) async fn a_frame_that_never_arrived(play: &mut Play) -> Outcome {
    play.once(At::Frame(5), Act::Cut);
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn an_answer_that_was_lost(play: &mut Play) -> Outcome {
    play.once(At::Report(4), Act::Cut);
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn every_answer_is_lost_once(play: &mut Play) -> Outcome {
    for frame in 1..=12 {
        play.once(At::Report(frame), Act::Cut);
    }
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn an_answer_that_is_cut_in_its_middle(play: &mut Play) -> Outcome {
    play.once(At::Report(4), Act::CutInside);
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn a_connection_that_is_lost_between_frames(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(5).await?;
    play.proxies[0].cut();
    play.done(json!({"do": "wait", "ms": 50})).await?;
    play.end().await
}

pub(crate) async fn a_server_that_is_away_for_a_moment(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(5).await?;
    let proxy = play.proxies[0].clone();
    proxy.set_away(true);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        proxy.set_away(false);
    });
    play.end().await
}

pub(crate) async fn a_connection_that_is_told_to_leave(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(5).await?;
    play.proxies[0].leave();
    play.end().await
}

pub(crate) async fn the_answer_to_an_opening_is_lost(play: &mut Play) -> Outcome {
    play.once(At::Opened, Act::Cut);
    let named = Course::carts().with("session_id", json!("own")).with("session_key", json!("mine"));
    play.begin(named).await?;
    play.end().await
}

pub(crate) async fn the_answer_to_a_registration_is_lost(play: &mut Play) -> Outcome {
    play.once(At::Reply("RegisterPolytopes"), Act::Cut);
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn the_answer_to_a_question_is_lost(play: &mut Play) -> Outcome {
    play.once(At::Reply("CheckCollision"), Act::Cut);
    play.connect().await?;
    answered(play).await?;
    let calls = play.script().calls("CheckCollision");
    ensure!(calls == 2, "the question was asked {calls} times");
    Ok(())
}

pub(crate) async fn the_answer_to_the_closing_is_lost(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.rest().await?;
    play.agrees().await?;
    play.once(At::Reply("CloseSession"), Act::Cut);
    play.done(json!({"do": "close", "session": "s"})).await?;
    ensure!(play.script().is_played(), "nothing was closed");
    Ok(())
}

pub(crate) async fn a_first_address_where_nobody_is(play: &mut Play) -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let unused = listener.local_addr().map_err(|error| error.to_string())?.to_string();
    drop(listener);
    let addresses = json!([unused, play.proxies[0].address.to_string()]);
    play.done(json!({"do": "connect", "client": "c", "addresses": addresses})).await?;
    play.done(cube("c")).await?;
    play.open(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn an_answer_that_is_told_twice(play: &mut Play) -> Outcome {
    play.once(At::Report(4), Act::Twice);
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn an_old_answer_that_comes_again(play: &mut Play) -> Outcome {
    let began = api::ContactEvent {
        kind: api::ContactEventKind::Began.into(),
        a: 1,
        b: 2,
        ..Default::default()
    };
    let old = api::FrameReport { frame_id: 2, events: vec![began], ..Default::default() };
    let old = api::StreamSessionResponse { report: Some(old.into()), ..Default::default() };
    play.once(At::Report(7), Act::Before(old.encode_to_vec()));
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn a_frame_that_is_answered_slowly(play: &mut Play) -> Outcome {
    play.once(At::Frame(4), Act::Hold(Duration::from_millis(900)));
    play.begin(Course::carts()).await?;
    play.end().await?;
    let sent = play.script().frames(4);
    ensure!(sent == 1, "the frame was sent {sent} times while it was worked on");
    Ok(())
}
