//! Servers that have forgotten what they were told.

use clearance_proto as api;
use prost::Message;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::play::{Course, Outcome, Play, ensure, sessions};
use crate::script::{Act, At, Rewrite};

pub(crate) async fn a_server_that_starts_anew(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(2).await?;
    play.proxies[0].restart().await;
    play.end().await
}

pub(crate) async fn a_start_anew_with_an_answer_under_way(play: &mut Play) -> Outcome {
    play.once(At::Report(4), Act::Restart);
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn a_start_anew_with_a_frame_under_way(play: &mut Play) -> Outcome {
    play.once(At::Frame(7), Act::Restart);
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn a_start_anew_while_the_session_is_opened_anew(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(5).await?;
    play.once(At::Opening, Act::Restart);
    play.proxies[0].restart().await;
    play.end().await
}

pub(crate) async fn a_contact_that_lasts_while_the_server_starts_anew(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(4).await?;
    let before = play.done(json!({"do": "state", "session": "s"})).await?;
    play.proxies[0].restart().await;
    // All of them last.
    play.frames(1).await?;
    play.agrees().await?;
    let after = play.done(json!({"do": "state", "session": "s"})).await?;
    let [before, after] = [&before["contacts"], &after["contacts"]];
    ensure!(before == after, "contacts that were {before} are {after}, so they began anew");
    // It ends with the next frame, once.
    play.proxies[0].restart().await;
    play.end().await
}

pub(crate) async fn bodies_that_came_and_went(play: &mut Play) -> Outcome {
    let alone = |x: f64| json!([[2, x, 0, 0]]);
    let new = json!([{"id": 4, "shape": "cube", "at": [0.5, 0.5, 0.0]}]);
    let course = Course::carts()
        .at_frame(3, "added", new)
        .at_frame(8, "removed", json!([3]))
        .at_frame(8, "poses", alone(0.75))
        .at_frame(9, "poses", alone(1.0))
        .at_frame(10, "poses", alone(1.25))
        .at_frame(11, "poses", alone(0.5))
        .at_frame(12, "poses", alone(4.0));
    play.begin(course).await?;
    play.frames(2).await?;
    // What comes now is of a shape that the server does not have any more.
    play.proxies[0].restart().await;
    play.frames(2).await?;
    play.proxies[0].restart().await;
    play.frames(4).await?;
    play.proxies[0].restart().await;
    play.end().await
}

pub(crate) async fn margins_that_were_changed(play: &mut Play) -> Outcome {
    let course =
        Course::carts().with("pairs", json!("near")).at_frame(2, "margins", json!([[2, 0.4]]));
    play.begin(course).await?;
    play.frames(5).await?;
    play.proxies[0].restart().await;
    play.end().await
}

pub(crate) async fn pairs_that_are_not_checked_any_more(play: &mut Play) -> Outcome {
    play.begin(Course::carts().at_frame(3, "ignored", json!([[2, 3]]))).await?;
    play.frames(5).await?;
    play.proxies[0].restart().await;
    play.end().await
}

pub(crate) async fn a_release_margin(play: &mut Play) -> Outcome {
    play.begin(Course::carts().with("release_margin", json!(0.4))).await?;
    // Separated by less than that: the contact lasts.
    play.frames(10).await?;
    play.proxies[0].restart().await;
    play.end().await
}

pub(crate) async fn groups_that_are_checked(play: &mut Play) -> Outcome {
    let bodies = json!([
        {"id": 1, "shape": "cube", "at": [0, 0, 0], "fixed": true, "groups": ["walls"]},
        {"id": 2, "shape": "cube", "at": [4, 0, 0], "groups": ["carts"]},
        {"id": 3, "shape": "cube", "at": [0, 4, 0], "groups": ["carts"]},
    ]);
    let groups = json!([["walls", "carts"]]);
    play.begin(Course::carts().with("bodies", bodies).with("checked_groups", groups)).await?;
    play.frames(7).await?;
    play.proxies[0].restart().await;
    play.end().await
}

pub(crate) async fn a_session_that_was_closed_meanwhile(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(5).await?;
    let (session_id, session_key) = play.named();
    let request = api::CloseSessionRequest { session_id, session_key, ..Default::default() };
    let closed = sessions(play.proxies[0].channel()).close_session(request).await;
    ensure!(closed.is_ok(), "it could not be closed: {closed:?}");
    play.end().await
}

/// Says that a frame builds on one that was never applied.
pub(crate) fn without_base() -> Rewrite {
    Arc::new(|method, bytes| {
        if method == "StepSession" {
            let mut step = api::StepSessionRequest::decode(&bytes[..]).unwrap_or_default();
            step.frames[0].base_frame_id = Some(999);
            *bytes = step.encode_to_vec();
        } else {
            let mut sent = api::StreamSessionRequest::decode(&bytes[..]).unwrap_or_default();
            if let Some(frame) = &mut sent.frame {
                frame.base_frame_id = Some(999);
            }
            *bytes = sent.encode_to_vec();
        }
    })
}

pub(crate) async fn a_frame_whose_base_is_missing(play: &mut Play) -> Outcome {
    play.once(At::Frame(5), Act::Rewrite(without_base()));
    play.begin(Course::carts()).await?;
    play.end().await
}

/// On its way from one side of the wall to the other it would meet the wall.
fn jumping() -> Course {
    Course::carts()
        .with("first_contacts", json!(true))
        .at_frame(2, "poses", json!([[2, -3, 0, 0]]))
        .at_frame(2, "teleported", json!([2]))
        .at_frame(3, "poses", json!([[2, -2, 0, 0]]))
        .at_frame(4, "poses", json!([[2, 4, 0, 0]]))
        .at_frame(4, "teleported", json!([2]))
}

pub(crate) async fn a_jump_whose_answer_is_lost(play: &mut Play) -> Outcome {
    play.once(At::Frame(2), Act::Rewrite(without_base()));
    play.once(At::Report(4), Act::Restart);
    play.begin(jumping()).await?;
    play.end().await
}

pub(crate) async fn a_way_between_frames_whose_answer_is_lost(play: &mut Play) -> Outcome {
    // The second body passes through the wall between two frames: a beginning and an end in one
    // report.
    let through = |number: usize, x: f64| (number, json!([[2, x, 0, 0]]));
    let mut course = Course::carts().with("first_contacts", json!(true));
    let ways: [(usize, Value); 4] =
        [through(3, 3.0), through(4, -3.0), through(5, 3.0), through(6, -3.0)];
    for (number, poses) in ways {
        course = course.at_frame(number, "poses", poses);
    }
    play.once(At::Report(4), Act::Cut);
    play.once(At::Report(5), Act::Restart);
    play.once(At::Frame(6), Act::Cut);
    play.begin(course).await?;
    play.end().await
}

pub(crate) async fn another_server_that_knows_nothing(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(5).await?;
    play.proxies[0].set_away(true);
    play.end().await?;
    let openings = play.proxies[1].script.openings();
    ensure!(openings >= 1, "the other server was not told");
    Ok(())
}
