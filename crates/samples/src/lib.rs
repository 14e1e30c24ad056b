//! Bodies, directions, poses and robots for the tests of every crate: random ones under a seed, and
//! the nasty ones. Not published.
//!
//! The unit tests of a crate cannot use what is made of the same crate built a second time, so
//! those of `clearance-geometry` take the file `shapes.rs` itself, and those of `clearance-robot`
//! `robots.rs`. These name what they need by `crate::`, which is here what these imports say.

extern crate self as clearance_samples;

use clearance_geometry::{Mat3, Vec3, hull, polytope, pose};
use clearance_robot::{mesh, model, parts, still, urdf};

mod doubling;
mod robots;
mod shapes;

pub use self::doubling::assert_doubles;
pub use self::robots::*;
pub use self::shapes::*;
