//! The name of a pair of bodies.

/// Two bodies by their index in the scene (the order of their ids), `p < q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PairKey {
    /// The body with the lower id: P.
    pub p: u32,
    /// The other: Q.
    pub q: u32,
}

impl PairKey {
    /// In order, whichever way they are given.
    pub fn new(a: u32, b: u32) -> Self {
        Self { p: a.min(b), q: a.max(b) }
    }
}
