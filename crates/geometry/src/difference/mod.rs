//! The Minkowski difference M = {q - p} of a placed pair, as those who search it see it: exactly,
//! in integers ([`exact`]); rounded, in a unit in which nothing overflows ([`rounded`]); and
//! rounded with error bounds that make something certain of it ([`bounded`]). Along one direction:
//! its supporting vertices, and what is certain of how far they are ([`probe`]). The point nearest
//! the origin in the hull of a few of its vertices: [`nearest`].
//!
//! A certificate's direction becomes a rounded vector in [`heading`].
//!
//! How the bodies lie to each other before a look at any vertex says where to look first
//! ([`layout`], [`ellipsoids`]).

pub(crate) mod bounded;
pub(crate) mod ellipsoids;
pub(crate) mod exact;
pub(crate) mod heading;
pub(crate) mod layout;
pub(crate) mod nearest;
pub(crate) mod probe;
pub(crate) mod rounded;
pub(crate) mod roundness;

use super::Vec3;
use super::pair::VertexPair;

/// A vertex of M: its name and where it is, rounded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundedCorner {
    /// The vertices of Q and P whose difference it is, by which it is named.
    pub(crate) pair: VertexPair,
    /// `q_j - p_i`, rounded.
    pub(crate) point: Vec3,
}

/// `max |v_k|`; of a NaN, anything.
#[inline(always)]
pub(crate) fn largest(v: &Vec3) -> f64 {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    larger(larger(v.x.abs(), v.y.abs()), v.z.abs())
}
