//! Scenes: bodies, pairs, witnesses and the step of a frame. State, deterministic, no
//! clock, no I/O, no threads.
//!
//! Rooms, each of which uses only those before it:
//!
//! - `bounds`, `brackets`, `pair_key`, `waiting`, [`methods`]: boxes and balls, the names of pairs,
//!   who waits for an answer, which method answers what.
//! - `declared`: what a client states: bodies, robots, which pairs are checked, frames, questions.
//! - `placed`: where bodies and robots are, where they were, how far they have come.
//! - `near`: which bodies may be near each other.
//! - `pairs`: how a pair stands, and all else that may be asked about one.
//! - `memory`: what is remembered of pairs, and the look that most of them take.
//! - `frame`: [`Scene`], which applies frames and answers them.
//! - [`query`]: questions to a scene that stands still: rays, shape casts, overlaps, nearest
//!   bodies.
//! - [`planning`]: some of its robots in configurations of their own, among all else as it stands.
//!
//! Two kinds of state live here. *Declared state* (bodies, poses, announced contacts, the last
//! frame's id) decides the answers, and [`Scene::declaration`] states it whole, so another server
//! can go on from it. *Witnesses* only save time: clearing them changes no verdict and no event.
//!
//! A [`Frame`] is applied, or refused and nothing has changed; [`Questions`] say what its
//! [`Report`] tells. Work on pairs goes through a [`Runner`], which may be threads.
//!
//! ```
//! use std::sync::Arc;
//!
//! use clearance_geometry::{Vec3, hull::convex_hull, pose::Pose, separation::METHODS};
//! use clearance_geometry::until::Until;
//! use clearance_scene::{Between, Body, BodyId, Declaration, EventKind, Frame, Limits, Move};
//! use clearance_scene::{Questions, Scene, Serial};
//!
//! let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
//! let cube = Arc::new(convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope);
//! let (bodies_max, parts_max, classes_max, pairs_max, listed_max) = (9, 9, 9, 9, 9);
//! let limits = Limits { bodies_max, parts_max, classes_max, pairs_max, listed_max };
//! let at = |x| Pose::translation(x, 0.0, 0.0);
//! let bodies = vec![Body::solid(1, cube.clone()), Body::solid(2, cube).placed(at(4.0))];
//! let declared = Declaration { bodies, ..Default::default() };
//! let mut scene = Scene::open(declared, &METHODS[0], limits).unwrap();
//!
//! // Nothing tunnels: the second body passes through the first between two frames.
//! let questions = Questions { between: Some(Between::default()), ..Default::default() };
//! scene.answer(&questions, &Serial, Until::never()).unwrap();
//! let past = Move::new(BodyId(2), at(-4.0));
//! let frame = Frame { id: 1, moves: vec![past], ..Default::default() };
//! let report = scene.step(&frame, &questions, &Serial).unwrap().report;
//! assert_eq!(report.tally.separated, 1);
//! assert_eq!(report.events[0].kind, EventKind::Began);
//! ```

mod bounds;
mod brackets;
pub mod broken;
mod declared;
mod frame;
mod memory;
pub mod methods;
mod near;
mod pair_key;
mod pairs;
mod placed;
pub mod planning;
pub mod query;
mod unanswered;

pub use self::declared::body::{Body, BodyId, Part};
pub use self::declared::changes::{BodyChange, RuleChanges};
pub use self::declared::declaration::{Contact, Declaration};
pub use self::declared::error::{DeclarationError, Problem};
pub use self::declared::groups::Groups;
pub use self::declared::question::{Between, Frame, Listed, Move, Moves, Questions};
pub use self::declared::robots::{
    Attached, RobotChanges, RobotId, RobotMove, RobotMoveError, SceneRobot, rest_values,
};
pub use self::declared::rules::{PairMargin, Rules};
pub use self::declared::spin::SpinError;
pub use self::frame::apply::{Applied, FrameError};
pub use self::frame::scene::{Limits, Scene};
pub use self::frame::step::{StepError, Stepped};
pub use self::memory::kept::Batch;
pub use self::memory::runner::{Runner, Serial};
pub use self::methods::{Chosen, Methods};
pub use self::pair_key::PairKey;
pub use self::pairs::meshes::{DepthBracket, FacesMotion, FacesStand, PartsProof};
pub use self::pairs::report::{
    Aliased, Counters, Event, EventKind, MoveError, PairContact, PairDepth, PairDistance,
    PairRange, PairReport, PartChain, PartGap, PartPair, PartProof, PartReach, PartRow,
    PlacedNumbers, RankedPair, Report, Tally,
};
pub use self::pairs::state::PairState;
pub use self::pairs::two_parts::{PartsContact, PartsDepth, PartsDistance};
pub use self::placed::history::{HistoryLimits, PastFrame, PastMove};
pub use self::unanswered::{TooManyPairs, Unanswered};
pub use clearance_bodies::table::along::MeasuredRange;

#[cfg(test)]
mod tests;
