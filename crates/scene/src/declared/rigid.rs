//! Bodies that robots move as one: what a link carries, with all that moves as the link does. They
//! stay as they are to each other, so no pair of which one is carried needs a check.
//!
//! Twenty thousand bodies on one link are two hundred million such pairs: they are never listed.

use std::collections::BTreeMap;

use crate::declared::classes::Classes;
use crate::declared::robots::RobotId;
use crate::pair_key::PairKey;

/// What moves as one: a frame of a robot; none: its base.
pub(crate) type RigidFrame = (RobotId, Option<usize>);

/// How a body moves with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RigidBody {
    /// With all of the same number; 0: with none.
    set: u32,
    /// It is carried, and no link.
    is_carried: bool,
}

/// Which bodies of a scene robots move as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct RigidSets {
    /// By body; empty: none carries anything.
    bodies: Vec<RigidBody>,
}

impl RigidSets {
    /// Of `count` bodies: those, by their index, that move with a frame, and whether they are
    /// carried. Frames that carry nothing are left out.
    pub(crate) fn of(
        count: usize,
        moved: impl Iterator<Item = (u32, RigidFrame, bool)> + Clone,
    ) -> Self {
        let mut numbers: BTreeMap<RigidFrame, u32> = BTreeMap::new();
        for (_, frame, _) in moved.clone().filter(|(_, _, is_carried)| *is_carried) {
            let next = numbers.len() as u32 + 1;
            numbers.entry(frame).or_insert(next);
        }
        if numbers.is_empty() {
            return Self::default();
        }
        let mut bodies = vec![RigidBody::default(); count];
        for (body, frame, is_carried) in moved {
            if let Some(&set) = numbers.get(&frame) {
                bodies[body as usize] = RigidBody { set, is_carried };
            }
        }
        Self { bodies }
    }

    /// Whether the pair needs no check, since it moves as one.
    #[inline]
    pub(crate) fn exempts(&self, key: PairKey) -> bool {
        if self.bodies.is_empty() {
            return false;
        }
        let [p, q] = [key.p, key.q].map(|body| self.bodies[body as usize]);
        p.set != 0 && p.set == q.set && (p.is_carried || q.is_carried)
    }

    /// How many such pairs there are that the classes let meet.
    pub(crate) fn pairs(&self, classes: &Classes) -> u64 {
        let mut sets: BTreeMap<u32, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for (body, rigid) in (0..).zip(&self.bodies).filter(|(_, rigid)| rigid.set != 0) {
            let (all, links) = sets.entry(rigid.set).or_default();
            all.push(body);
            if !rigid.is_carried {
                links.push(body);
            }
        }
        let among = |bodies: &[u32]| classes.pairs_among(&classes.sizes(bodies.iter().copied()));
        sets.values().map(|(all, links)| among(all) - among(links)).sum()
    }

    /// How much memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bodies.len() * size_of::<RigidBody>()
    }
}
