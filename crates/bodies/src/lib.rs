//! What a body is. Nobody above this crate knows a kind of body: who holds a [`Body`] asks it for
//! its size, its identity and its facets, and asks the [`table`] who answers a question about two.
//!
//! Reading order:
//! - [`kind`] lists the kinds; each has its file in [`kinds`]: bounds, memory, identity, facets.
//! - [`id`] names a body by its content; [`body`] holds one of any kind, and places it.
//! - [`content`] writes a body as the bytes that its id is the digest of, and reads them back.
//! - [`solid`] is a body as its boundary: what questions about bodies that are not convex need.
//! - [`table`] has a file for each question, and in it what answers which two kinds.
//!
//! `docs/bodies.md` says how a kind is added.
//!
//! ```
//! use clearance_bodies::table::verdict::VerdictQuestion;
//! use clearance_bodies::table::{Topic, Wanted, topics_of};
//! use clearance_bodies::{Body, PlacedBody};
//! use clearance_geometry::claim::Verdict;
//! use clearance_geometry::{Vec3, effort::Effort, pose::Pose};
//!
//! let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
//! let effort = &mut Effort::unlimited();
//! let body = Body::of_points(&corners, effort).unwrap();
//! assert!(topics_of([body.kind(), body.kind()]).any(|topic| topic == Topic::Distance));
//!
//! let question = VerdictQuestion::of([body.kind(), body.kind()], None).unwrap();
//! let at = |x| PlacedBody { body: body.clone(), pose: Pose::translation(x, 0.0, 0.0) };
//! let ready = question.prepare([at(0.0), at(3.0)]).unwrap();
//! let wanted = Wanted { certificate: true, cover_steps_max: 1_000 };
//! let decided = ready.answer(wanted, effort).decided.unwrap();
//! assert_eq!(decided.verdict, Verdict::Separated);
//! ```

pub mod body;
pub mod content;
mod digest;
pub mod id;
pub mod kind;
pub mod kinds;
pub mod solid;
pub mod table;

pub use self::body::{Body, PlacedBody};
pub use self::id::ContentId;
pub use self::kind::Kind;
pub use clearance_geometry::contact_time::polyhedra::proof::Unproven;
pub use clearance_geometry::contact_time::polyhedra::{
    METHODS as FACE_METHODS, Method as FaceMethod,
};
pub use clearance_geometry::polytope::{TableKeeper, Tables};
