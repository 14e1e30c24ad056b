//! The Minkowski difference M = {q - p} of a placed pair, as those who search it see it: exactly, in
//! integers ([`exact`], [`grid`]); rounded, in a unit in which nothing overflows ([`rounded`]); and
//! rounded with error bounds that make something certain of it ([`bounded`]).
//!
//! How the bodies lie to each other before a look at any vertex says where to look first
//! ([`layout`], [`ellipsoids`]).

pub(crate) mod bounded;
pub(crate) mod ellipsoids;
pub(crate) mod exact;
pub(crate) mod grid;
pub(crate) mod layout;
pub(crate) mod rounded;

use super::Vec3;
use super::pair::{Pair, VertexPair};

/// A vertex of M: its name and where it is, rounded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundedCorner {
    /// Its name.
    pub(crate) pair: VertexPair,
    /// `q_j - p_i`, rounded.
    pub(crate) point: Vec3,
}

/// From the origin of P's frame to that of Q's, rounded.
#[inline(always)]
pub(crate) fn offset(pair: &Pair<'_>) -> Vec3 {
    pair.q.pose.translation - pair.p.pose.translation
}

/// From P's centre to Q's, rounded.
#[inline(always)]
pub(crate) fn centre_to_centre(pair: &Pair<'_>) -> Vec3 {
    let p = pair.p.pose.rotation * pair.p.body.bounds().centre;
    let q = pair.q.pose.rotation * pair.q.body.bounds().centre;
    (q - p) + offset(pair)
}

/// `max |v_k|`; of a NaN, anything.
#[inline(always)]
pub(crate) fn largest(v: &Vec3) -> f64 {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    larger(larger(v.x.abs(), v.y.abs()), v.z.abs())
}

/// `Σ |v_k|`
#[inline(always)]
pub(crate) fn sum_of_sizes(v: &Vec3) -> f64 {
    (v.x.abs() + v.y.abs()) + v.z.abs()
}
