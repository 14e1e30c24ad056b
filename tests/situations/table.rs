//! The sixty situations: what each is called, and what it prevents.

use std::future::Future;
use std::pin::Pin;

use crate::play::{Outcome, Play};
use crate::{contents, draining, forgotten, lost, owners, statuses, watching};

/// What happens to clients, once.
pub(crate) struct Situation {
    pub(crate) name: &'static str,
    /// What a client would do that does not expect it.
    pub(crate) prevents: &'static str,
    /// How many servers there are.
    pub(crate) servers: usize,
    /// Whether it needs no network, so that an engine inside the process is asked, too.
    pub(crate) is_inside: bool,
    pub(crate) play: fn(&mut Play) -> Playing<'_>,
}

/// A situation under way.
pub(crate) type Playing<'a> = Pin<Box<dyn Future<Output = Outcome> + 'a>>;

macro_rules! situations {
    ($($servers:literal $is_inside:literal $room:ident::$name:ident: $prevents:literal;)+) => {
        /// All of them.
        pub(crate) const SITUATIONS: &[Situation] = &[$(Situation {
            name: stringify!($name),
            prevents: $prevents,
            servers: $servers,
            is_inside: $is_inside,
            play: |play| Box::pin($room::$name(play)),
        },)+];
    };
}

situations! {
    1 false lost::a_frame_that_never_arrived: "a frame is lost with its connection";
    1 false lost::an_answer_that_was_lost: "events are lost with the connection that carried them";
    1 false lost::every_answer_is_lost_once: "one loss is survived, and the next one not";
    1 false lost::an_answer_that_is_cut_in_its_middle:
        "a piece of an answer is taken for an answer";
    1 false lost::a_connection_that_is_lost_between_frames: "the next call fails on what is gone";
    1 false lost::a_server_that_is_away_for_a_moment: "the client gives up at the first refusal";
    1 false lost::a_connection_that_is_told_to_leave: "GOAWAY is taken for an error";
    1 false lost::the_answer_to_an_opening_is_lost:
        "the client stands before its own session as before another's";
    1 false lost::the_answer_to_a_registration_is_lost: "a registration fails that was made";
    1 false lost::the_answer_to_a_question_is_lost: "a question fails that can be asked again";
    1 false lost::the_answer_to_the_closing_is_lost: "closing fails since it has succeeded";
    1 false lost::a_first_address_where_nobody_is: "the other addresses are not tried";
    1 false lost::an_answer_that_is_told_twice: "events are told twice";
    1 false lost::an_old_answer_that_comes_again: "an old answer is taken for the next one";
    1 false lost::a_frame_that_is_answered_slowly: "patience ends, and the frame is sent again";
    1 false forgotten::a_server_that_starts_anew: "the scene is gone with the server";
    1 false forgotten::a_start_anew_with_an_answer_under_way: "a frame is lost that was applied";
    1 false forgotten::a_start_anew_with_a_frame_under_way: "a frame is lost that was not applied";
    1 false forgotten::a_start_anew_while_the_session_is_opened_anew:
        "one attempt to open it anew is all";
    1 false forgotten::a_contact_that_lasts_while_the_server_starts_anew:
        "contacts are announced twice, or never end";
    1 false forgotten::bodies_that_came_and_went: "the scene is opened anew as it was at first";
    1 false forgotten::margins_that_were_changed: "changes of bodies are forgotten";
    1 false forgotten::pairs_that_are_not_checked_any_more: "changes of rules are forgotten";
    1 false forgotten::a_release_margin: "how the session was opened is forgotten";
    1 false forgotten::groups_that_are_checked: "rules are forgotten";
    1 false forgotten::a_session_that_was_closed_meanwhile:
        "a session that has expired is an error";
    1 false forgotten::a_frame_whose_base_is_missing: "KEYFRAME_NEEDED is an error of the caller's";
    1 false forgotten::a_jump_whose_answer_is_lost:
        "a body that is put somewhere meets all on its way";
    1 false forgotten::a_way_between_frames_whose_answer_is_lost:
        "what happened between two frames is not seen";
    1 false contents::a_scene_of_many_bodies: "only small scenes are opened anew";
    2 false forgotten::another_server_that_knows_nothing:
        "the other server is asked about what it does not know";
    2 false draining::a_server_that_drains: "the client stays until it is cut off";
    2 false draining::a_notice_without_a_state: "the state of a notice is counted on";
    1 false draining::a_notice_to_connect_anew: "a notice is an error, or an answer";
    2 false draining::a_drain_with_a_frame_under_way:
        "a frame is lost between two servers, or applied twice";
    2 false draining::a_drain_while_a_session_is_opened:
        "the first call is not made at another server";
    1 false statuses::a_server_that_is_full:
        "a full server is asked at once, and so is never less full";
    1 false statuses::a_tenant_that_has_more_than_it_may: "the same of a stream";
    1 false statuses::a_limit_that_time_does_not_change:
        "what is too large is sent again and again";
    1 false statuses::a_field_that_is_wrong:
        "what is wrong is sent again, and nobody learns which field it is";
    1 false statuses::what_no_repetition_helps: "what is refused is sent again";
    1 false statuses::a_server_that_is_never_there: "a server is called for ever, or once only";
    1 false statuses::a_frame_that_is_refused_too_often:
        "a frame is sent for ever, or its events are told to nobody";
    1 false statuses::a_store_that_does_not_answer:
        "a server's own trouble is an error of the caller's";
    1 false statuses::a_status_without_details: "a status of somebody else's is not understood";
    1 false statuses::details_that_are_none: "a header ends the program";
    1 false statuses::a_reason_of_a_newer_server: "a reason that is not known is none";
    1 false statuses::a_page_in_place_of_an_answer: "a balancer's page is an answer";
    1 false owners::an_incarnation_beyond_53_bits: "64 bits are rounded to a double";
    1 false owners::the_greatest_incarnation: "64 bits are taken for a number with a sign";
    1 false owners::a_session_that_another_takes_over:
        "two clients take a session from each other for ever";
    1 false owners::another_session_of_the_same_id: "frames go to somebody else's session";
    1 false owners::an_id_that_is_taken: "somebody else's session is replaced";
    1 false owners::an_id_that_is_taken_while_the_server_starts_anew:
        "it is replaced by opening anew";
    1 false owners::a_key_that_every_call_brings: "the key is left behind with the connection";
    1 true contents::contacts_from_the_beginning: "contacts of the opening are not told";
    1 true contents::contacts_that_were_announced:
        "contacts are announced twice; long numbers of frames are rounded";
    1 true contents::ids_at_both_ends: "an id of 0 is none, or one of 32 bits is negative";
    1 true contents::items_that_are_refused:
        "what was refused is taken for done, or all for refused";
    1 true contents::a_frame_that_is_refused: "a frame that was refused is taken for applied";
    1 true contents::a_frame_without_changes: "a frame of nothing is not sent";
    1 true contents::a_report_that_is_cut: "a piece is taken for all";
    1 false contents::an_answer_longer_than_defaults: "long answers fail";
    1 false contents::fields_of_a_newer_server: "a newer server is not understood";
    1 false contents::events_of_a_newer_server: "what is not known is taken for what is";
    1 false contents::a_question_that_is_given_up:
        "what was given up is waited for, or asked again";
    1 false contents::an_answer_beyond_the_deadline:
        "deadlines are not kept, or what came too late is asked again";
    1 false watching::a_watch_whose_connection_is_lost: "a watch ends with its connection";
    1 false watching::a_watcher_that_falls_behind: "lost frames are not told";
    1 false watching::a_session_that_is_closed_while_it_is_watched:
        "the end of a session is an error";
}
