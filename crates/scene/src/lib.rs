//! Scenes: bodies, pairs, witnesses and the step of a frame. State, deterministic, no
//! clock, no I/O, no threads.
//!
//! Reading order: [`body`] says what is declared and [`bounds`] where it surely is; `near` keeps
//! the pairs worth looking at, with a `box_tree` or, all at once, a `ball_grid`; `travel` bounds
//! how far bodies have moved, and so which of those pairs may sleep; [`question`] is what a frame
//! asks, [`report`] what it is told; `looks` finds how simple pairs stand, `answer`, `contact`,
//! `measures`, `meet` and `ranges` ask geometry all that may be asked about one; [`kept`] and
//! `table` keep what is remembered of pairs, [`pairs`] what a question in detail needs, and
//! [`methods`] says which method answers what; [`state`] is a scene, [`apply`] takes a frame in
//! ([`changes`] of bodies and rules by `structure`) and [`step`] answers it, with contacts that
//! begin and end put in order by [`events`] and pairs by `ranking`. [`query`] asks a scene that
//! stands still: rays, shape casts, overlaps, nearest bodies.
//!
//! Two kinds of state live here. *Declared state* (bodies, poses, announced contacts, the last
//! frame's id) decides the answers, and [`Scene::declaration`] states it whole, so another server
//! can go on from it. *Witnesses* only save time: clearing them changes no verdict and no event.

mod answer;
pub mod apply;
mod ball_grid;
pub mod body;
pub mod bounds;
mod box_tree;
pub mod broken;
mod carry;
pub mod changes;
mod classes;
mod contact;
pub mod declaration;
pub mod events;
pub mod groups;
pub mod kept;
mod listing;
mod looks;
mod measures;
mod meet;
pub mod methods;
mod mount;
mod near;
pub mod pairs;
mod polygons;
mod proofs;
pub mod query;
pub mod question;
mod ranges;
mod ranking;
pub mod report;
mod rigid;
pub mod robots;
pub mod rules;
pub mod state;
pub mod step;
mod structure;
mod table;
mod travel;
pub mod waiting;

pub use apply::{Applied, FrameError};
pub use body::{Body, BodyId, Part};
pub use changes::{BodyChange, RuleChanges};
pub use declaration::{Contact, Declaration, DeclarationError, PairMargin, Problem};
pub use groups::Groups;
pub use kept::Batch;
pub use methods::{Chosen, Methods};
pub use pairs::{PairKey, PairState, Runner, Serial};
pub use question::{Between, Frame, Listed, Move, Moves, Questions};
pub use report::{Event, EventKind, PairReport, RankedPair, Report};
pub use robots::{RobotChanges, RobotId, RobotMove, SceneRobot};
pub use rules::Rules;
pub use state::{Limits, Scene};
pub use step::{StepError, Stepped};
pub use waiting::{TooManyPairs, Unanswered, Waiting};

#[cfg(test)]
mod tests;
