//! Servers that are about to stop, or ask to connect anew.

use clearance_proto as api;
use prost::Message;
use tonic::{Code, Status};

use crate::play::{Course, Outcome, Play, ensure};
use crate::script::{Act, At};
use crate::statuses::refusal;

fn draining() -> Status {
    refusal(Code::Unavailable, "DRAINING")
}

fn notice(notice: api::Notice) -> Act {
    let told = api::StreamSessionResponse { notice: notice.into(), ..Default::default() };
    Act::Before(told.encode_to_vec())
}

pub(crate) async fn a_server_that_drains(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(5).await?;
    play.proxies[0].drain();
    play.end().await?;
    let openings = play.proxies[1].script.openings();
    ensure!(openings >= 1, "the other server was not told");
    Ok(())
}

pub(crate) async fn a_notice_without_a_state(play: &mut Play) -> Outcome {
    play.once(At::Report(5), notice(api::Notice::Draining));
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn a_notice_to_connect_anew(play: &mut Play) -> Outcome {
    play.once(At::Report(5), notice(api::Notice::Reconnect));
    play.begin(Course::carts()).await?;
    play.end().await
}

pub(crate) async fn a_drain_with_a_frame_under_way(play: &mut Play) -> Outcome {
    play.begin(Course::carts()).await?;
    play.frames(5).await?;
    for at in [At::Frame(6), At::Call("GetSession"), At::Opening] {
        play.script().always(at, Act::Refuse(draining()));
    }
    play.end().await
}

pub(crate) async fn a_drain_while_a_session_is_opened(play: &mut Play) -> Outcome {
    // So the cube is registered at the other server, and the session opened where it is not.
    play.once(At::Call("RegisterPolytopes"), Act::Refuse(draining()));
    play.proxies[1].script.once(At::Opening, Act::Refuse(draining()));
    play.begin(Course::carts()).await?;
    play.end().await
}
