//! Frames on their way through a session, what they are worked on with, and when that is given up.

use crate::rpc::shared::Shared;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_scene::Runner;
use clearance_wire::convert::sessions::plan::Plan;

/// Frames as they were received: each is moved a few times on its way.
pub(super) type Frames = Vec<Box<api::Frame>>;

/// Reports as they are sent.
pub(super) type Reports = Vec<Box<api::FrameReport>>;

/// What frames are worked on with.
#[derive(Clone, Copy)]
pub(super) struct FrameWork<'a> {
    pub(super) shared: &'a Shared,
    /// Until when somebody waits for the call: then no hull of what it declares is built any more.
    /// A budget is for answers; what is declared must not depend on the time that a machine takes.
    pub(super) call: &'a Until,
    /// Until when somebody waits for this answer: for the call, and within the budget.
    pub(super) answer: &'a Until,
    /// Looks at the pairs of the scene.
    pub(super) runner: &'a (dyn Runner + Sync),
    /// Whether it is done on the thread that read the frames, where others wait.
    pub(super) is_inline: bool,
    /// So many bytes a report may have in the reply that brings it, whatever its frame says.
    pub(super) reply_bytes: u64,
}

/// Frames on their way through a session, which may begin on one thread and go on on another.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) frames: Frames,
    /// Their place in a list of frames; none: there is no list.
    pub(super) index: Option<usize>,
    /// The first that is not applied.
    pub(super) next: usize,
    /// How many bytes larger sessions may become.
    pub(super) room: u64,
    /// What the last applied frame asks, if it is not answered and might be merged with the next.
    pub(super) unanswered: Option<Plan>,
    /// An answer that has to be given before anything else is done.
    pub(super) due: Option<Plan>,
    /// What is said of a frame that changed nothing, after that.
    pub(super) aside: Option<Aside>,
    pub(super) reports: Reports,
}

/// What is said of a frame that changed nothing.
#[derive(Debug)]
pub(super) enum Aside {
    /// Why it was refused.
    Refused(Box<api::FrameReport>),
    /// It was repeated, and asks this if there is no report of it.
    Repeated(u64, Plan),
}

impl Steps {
    /// None is applied yet; `room` is how many bytes larger sessions may become.
    pub(super) fn new(frames: Frames, index: Option<usize>, room: u64) -> Self {
        let reports = Vec::with_capacity(1);
        Self { frames, index, next: 0, room, unanswered: None, due: None, aside: None, reports }
    }

    /// One for each answer, when all is done.
    pub(super) fn into_reports(self) -> Reports {
        self.reports
    }
}
