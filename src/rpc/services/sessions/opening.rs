//! A scene that is opened in several messages of a stream, where one would be too large.

use clearance_proto as api;
use clearance_runtime::settings::Limits;
use clearance_wire::path::{BadField, Path, WithinLimit};
use clearance_wire::status::Failure;

/// What a message that may not open a session says of one.
pub(super) fn misplaced(
    message: &api::StreamSessionRequest,
) -> Option<(&'static str, &'static str)> {
    if message.start.is_some() {
        Some(("start", "may only be in the first message of the stream"))
    } else if message.more_state.is_some() {
        Some(("more_state", "may only follow a message whose state continues"))
    } else if message.state_continues {
        Some(("state_continues", "may only be with open, or with more of its state"))
    } else {
        None
    }
}

/// Adds the next message to the state that `open` began with.
pub(super) fn add(
    request: &mut api::OpenSessionRequest,
    message: &mut api::StreamSessionRequest,
    limits: &Limits,
) -> Result<(), Failure> {
    let wrong = |field: &'static str, problem: &'static str| -> Result<(), Failure> {
        Err(Path::ROOT.field(field).bad(problem).into())
    };
    if message.start.is_some() {
        return wrong("start", "may only be in the first message of the stream");
    }
    let Some(more) = message.more_state.take() else {
        return wrong("more_state", "is required: the state of the message before continues");
    };
    check_no_frame(message)?;
    let api::SessionState {
        bodies,
        rules,
        frame_id,
        contacts,
        release_margin,
        begin_margin,
        robots,
    } = *more;
    let path = Path::ROOT.field("more_state");
    let said = [
        ("frame_id", frame_id != 0),
        ("release_margin", release_margin != 0.0),
        ("begin_margin", begin_margin != 0.0),
    ];
    if let Some((field, _)) = said.into_iter().find(|(_, is_said)| *is_said) {
        return Err(path.field(field).bad("is said with open").into());
    }
    let state = request.state.get_or_insert_default();
    let open = Path::ROOT.field("open");
    let open = open.field("state");
    let count = state.bodies.len() + bodies.len();
    open.field("bodies").within(limits.bodies_per_session_max(), count)?;
    state.bodies.extend(bodies);
    state.contacts.extend(contacts);
    state.robots.extend(robots);
    if let Some(rules) = rules {
        add_rules(state.rules.get_or_insert_default(), rules);
    }
    Ok(())
}

/// That the first message of a stream says nothing of a state that it does not open.
pub(super) fn check_first(message: &api::StreamSessionRequest) -> Result<(), Failure> {
    let opens = matches!(message.start, Some(api::stream_session_request::Start::Open(_)));
    let path = Path::ROOT;
    if message.more_state.is_some() {
        return Err(path.field("more_state").bad("the first message has its state in open").into());
    }
    if message.state_continues && !opens {
        return Err(path.field("state_continues").bad("needs open, which the state is of").into());
    }
    Ok(check_no_frame(message)?)
}

/// That a message has no frame, if its state continues: nothing is there yet to move.
fn check_no_frame(message: &api::StreamSessionRequest) -> Result<(), BadField> {
    if message.frame.is_none() || !message.state_continues {
        return Ok(());
    }
    Err(Path::ROOT.field("frame").bad("comes with the last of the state, or after it"))
}

fn add_rules(rules: &mut api::PairRules, more: api::PairRules) {
    let api::PairRules { checked_groups, checked_pairs, ignored_pairs, margins, groups_to_come } =
        more;
    rules.checked_groups.extend(checked_groups);
    rules.checked_pairs.extend(checked_pairs);
    rules.ignored_pairs.extend(ignored_pairs);
    rules.margins.extend(margins);
    rules.groups_to_come.extend(groups_to_come);
}
