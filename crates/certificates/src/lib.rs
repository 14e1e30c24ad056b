//! Between the messages of the API ([`clearance_proto`]) and the claims that [`clearance_proof`]
//! judges, one way for the server, for clients and for tools.
//!
//! [`geometry`] has points, poses, motions and directions, [`certificate`] the proofs, [`shape`]
//! bodies by name; [`told`] is a question with its answer, and [`hulls`] reads and judges what such
//! an answer claims of two convex bodies, [`rounded`] of two with round edges, [`curved`] of two of
//! which one is a cylinder, a cone or an ellipsoid. Whatever is wrong with a field of a message is
//! said with its [`path`].
//!
//! A reader takes the path that leads to a message and the message, and gives a value or says which
//! field is wrong; a writer's name ends in `to_wire`.
//!
//! ```
//! use clearance_certificates::geometry::{vector, vector_to_wire};
//! use clearance_certificates::path::Path;
//! use clearance_proof::Vec3;
//!
//! let up = Vec3::new(0.0, 0.0, 1.0);
//! let mut message = vector_to_wire(&up);
//! let path = Path::ROOT.field("direction");
//! assert_eq!(vector(&path, Some(&message)), Ok(up));
//!
//! message.y = f64::NAN;
//! assert_eq!(vector(&path, Some(&message)).unwrap_err().field, "direction.y");
//! ```

pub mod certificate;
pub mod curved;
pub mod geometry;
pub mod hulls;
pub mod path;
pub mod rounded;
pub mod shape;
pub mod told;
