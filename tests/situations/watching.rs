//! Those who follow a session without taking part in it.

use clearance_proto as api;
use prost::Message;
use serde_json::{Value, json};

use crate::play::{Course, Outcome, Play, ensure, sessions};
use crate::script::{Act, At};

/// What the watcher was told up to a frame: the frames at which states came, and the numbers of
/// frames with events.
async fn told(play: &mut Play, until: u64) -> Result<Vec<Value>, String> {
    let command = json!({"do": "watched", "watch": "w", "until_frame": until.to_string()});
    let said = play.done(command).await?;
    ensure!(said["ended"] == false, "the watch has ended: {said}");
    said["news"].as_array().cloned().ok_or_else(|| format!("no news: {said}"))
}

async fn begin(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.done(json!({"do": "watch", "session": "s", "watch": "w"})).await?;
    let first = told(play, 0).await?;
    ensure!(first == [json!(["state", "0", 0])], "it began with {first:?}");
    Ok(())
}

pub(crate) async fn a_watch_whose_connection_is_lost(play: &mut Play) -> Outcome {
    begin(play).await?;
    play.frames(3).await?;
    let news = told(play, 3).await?;
    let ids: Vec<&Value> = news.iter().map(|one| &one[1]).collect();
    ensure!(ids == ["1", "2", "3"], "the frames told are {ids:?}");
    play.proxies[0].cut();
    play.frames(3).await?;
    let news = told(play, 6).await?;
    ensure!(news[0][0] == "state", "after a loss the state comes anew: {news:?}");
    play.frames(1).await?;
    let news = told(play, 7).await?;
    ensure!(news.len() == 1 && news[0][0] == "frame", "then frames: {news:?}");
    play.end().await
}

pub(crate) async fn a_watcher_that_falls_behind(play: &mut Play) -> Outcome {
    begin(play).await?;
    play.frames(2).await?;
    told(play, 2).await?;
    for frame in [3, 4, 5] {
        play.once(At::News(frame), Act::Drop);
    }
    play.frames(3).await?;
    let (session_id, session_key) = play.named();
    let asked = api::GetSessionRequest { session_id, session_key, ..Default::default() };
    let found = sessions(play.proxies[0].channel()).get_session(asked).await;
    let found = found.map_err(|status| status.to_string())?.into_inner();
    // As the server tells those who read too slowly.
    let anew = api::WatchSessionResponse {
        state: found.state,
        lost_frames: 3,
        incarnation: found.summary.unwrap_or_default().incarnation,
        ..Default::default()
    };
    play.once(At::News(6), Act::Before(anew.encode_to_vec()));
    play.frames(1).await?;
    let news = told(play, 6).await?;
    ensure!(news.first() == Some(&json!(["state", "5", 3])), "the loss was told as {news:?}");
    play.end().await
}

pub(crate) async fn a_session_that_is_closed_while_it_is_watched(play: &mut Play) -> Outcome {
    begin(play).await?;
    play.rest().await?;
    told(play, 12).await?;
    play.close().await?;
    let said = play.done(json!({"do": "watched", "watch": "w", "until_end": true})).await?;
    let is_over = said["ended"] == true && said["error"].is_null();
    ensure!(is_over, "the end of a watch was told as {said}");
    Ok(())
}
