//! `clearance` answers geometric questions about convex polytopes in motion, and proves every
//! answer.
//!
//! `docs/contract.md` says what every answer promises, `docs/architecture.md` where everything is
//! and which way a question and a frame go; `examples/` shows the library in use.
//!
//! Five floors; each uses only the floors below it (`tests/architecture` holds them to it):
//!
//! ```text
//!  4  main.rs config.rs telemetry.rs     flags, signals, wiring only; the commands beside `serve`
//!  3  rpc/       wire <-> domain, services, one table from failure to status
//!  2  runtime/   the only owner of threads, clock, disk, metrics
//!  ============  cargo feature `server`: only above this line
//!  1  scene/     bodies, pairs, witnesses, the step of a session: state, no clock, no I/O
//!     robot/     kinematic chains, URDF and SRDF, configurations and joint paths in bulk
//!     mesh/      the bytes of STL and OBJ files -> triangles; how far from convex they are
//!  0  geometry/  numbers -> polytopes -> hierarchies -> queries -> verdicts: pure functions
//! ```

pub use clearance_geometry as geometry;
pub use clearance_robot as robot;
pub use clearance_robot::mesh;
pub use clearance_scene as scene;

pub mod config;
pub mod conformance;
pub mod demo;
pub mod rpc;
pub mod runtime;
pub mod telemetry;
pub mod verify;
