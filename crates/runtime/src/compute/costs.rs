//! How long one of everything takes that the server may do where others wait: one table.
//!
//! A job is small by a guess ([`JobSize`](super::JobSize)): how many of what, times a row of this
//! table. A guess that is too high costs a hand-over to another thread, 25 to 60 µs; one that is
//! too low keeps whoever else is on the thread waiting. So every row is an upper end, rounded up,
//! and none is exact; the command above a group of them times such work. What the mean says nothing
//! of goes by the worst case, [`HOLD_UP_MAX`].
//!
//! How long a question about two bodies takes depends on their kinds, and stands in the rows of
//! those (`crates/bodies/src/table`); of meshes and clouds in cells, with them (`crates/robot`).

use std::time::Duration;

/// So many, each of which takes so long.
pub fn times(each: Duration, count: usize) -> Duration {
    each.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

/// A guess by the last frame, or by the mean, may be wrong by any factor: a hostile client moves
/// nothing first and then everything. What might at worst hold up the other clients of a thread for
/// longer than this goes to the pool whatever the guess is.
pub const HOLD_UP_MAX: Duration = Duration::from_millis(20);

/// The same of questions to a scene, of which a call brings thousands.
pub const QUESTIONS_HOLD_UP_MAX: Duration = Duration::from_millis(2);

// ---- What is given and told: `cargo bench --bench hulls`, `cargo bench --bench wire`. ----

/// A hull is built, for each given point.
pub const HULL_POINT: Duration = Duration::from_micros(3);
/// A vertex of a polytope is copied for a reply.
pub const COPIED_VERTEX: Duration = Duration::from_nanos(5);
/// A facet of a polytope is copied for a reply.
pub const COPIED_FACET: Duration = Duration::from_nanos(50);
/// A robot is built, for each byte of its files.
pub const ROBOT_FILE_BYTE: Duration = Duration::from_nanos(100);
/// A robot is described, for each byte of its description.
pub const DESCRIBED_BYTE: Duration = Duration::from_nanos(5);

// ---- Sessions and their frames: `cargo bench --bench scenes`, `cargo bench --bench wire`. ----

/// A body is declared: placed, and checked.
pub const DECLARED_BODY: Duration = Duration::from_micros(10);
/// A robot is declared or moved: its links are placed.
pub const PLACED_ROBOT: Duration = Duration::from_micros(50);
/// A name or a pair is looked up among the bodies.
pub const DECLARED_ENTRY: Duration = Duration::from_micros(1);
/// What is declared is gone through anew, for each byte of it: a name of a few bytes is looked up
/// in some hundred nanoseconds.
pub const DECLARED_BYTE: Duration = Duration::from_nanos(5);
/// A body of one part is told as declared, on the wire.
pub const TOLD_PART: Duration = Duration::from_micros(2);
/// A body is put where a frame says.
pub const MOVED_BODY: Duration = Duration::from_nanos(250);
/// It is found out whether a body that moved is near another one.
pub const FOUND_BODY: Duration = Duration::from_nanos(20);
/// The tree of boxes is built anew in a scene of a hundred thousand bodies, for each of them.
pub const TREE_BODY: Duration = Duration::from_micros(1);
/// The verdict and the distance of a pair of parts that have moved, in a scene or in a cell.
pub const PAIR: Duration = Duration::from_micros(4);
/// The depth of two parts, or their first contact, for each vertex of one; or all that may be asked
/// of a polyhedron.
pub const DEAR_PAIR_VERTEX: Duration = Duration::from_micros(10);

// ---- Questions to a scene: `cargo bench --bench casts`. ----

/// One ray in a scene of some thousand bodies.
pub const RAY: Duration = Duration::from_micros(8);
/// A body, at worst, of one ray.
pub const RAY_BODY: Duration = Duration::from_micros(4);

// ---- Cells of robots: `cargo bench --bench robots`, `cargo bench --bench clouds`. ----

/// A configuration, in the mean.
pub const CONFIGURATION: Duration = Duration::from_micros(30);
/// An edge, in the mean.
pub const EDGE: Duration = Duration::from_micros(60);
/// The tree and the hulls of a cell are built, for each point.
pub const CELL_POINT: Duration = Duration::from_micros(5);
/// The tree of a cloud is built, for each point.
pub const CLOUD_POINT: Duration = Duration::from_nanos(250);
