//! Robots that were claimed with keys: only who brings all keys of a robot deletes it.
//!
//! A robot is named by its content, so several clients may have registered the same one, each with
//! a key of its own; none of them deletes what another relies on.

use std::collections::BTreeMap;

use crate::memory::{MemoryKind, MemoryQuota, Reservation};
use crate::sessions::owner::KeyDigest;
use crate::settings::{Limit, Limits};

/// What a claim takes.
const CLAIM_BYTES: u64 = 128;

/// The claims on robots, by their ids.
#[derive(Debug, Default)]
pub(super) struct Claims(BTreeMap<String, Vec<Claim>>);

#[derive(Debug)]
struct Claim {
    key: KeyDigest,
    paid: Reservation,
}

impl Claims {
    /// Claims a robot with a key; with one that has claimed it already nothing changes. Says
    /// whether something has.
    pub(super) fn add(
        &mut self,
        id: &str,
        key: KeyDigest,
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Result<bool, Limit> {
        let known = self.0.get(id).map_or(&[] as &[Claim], Vec::as_slice);
        if known.iter().any(|claim| claim.key == key) {
            return Ok(false);
        }
        // Those of others do not count: whoever comes first would have all of them for good.
        let own = known.iter().filter(|claim| claim.paid.is_of(quota)).count() as u64;
        if own >= limits.keys_per_robot_max {
            return Err(limits.keys_per_robot_max());
        }
        let paid = quota.lasting().reserve(MemoryKind::Aliases, CLAIM_BYTES);
        let paid = paid.map_err(|full| full.0)?;
        self.0.entry(id.to_owned()).or_default().push(Claim { key, paid });
        Ok(true)
    }

    /// Makes the claims on a robot those of these keys: what is new is no client's of this server.
    pub(super) fn become_those(&mut self, id: &str, keys: Vec<KeyDigest>, quota: &MemoryQuota) {
        let mut known = self.0.remove(id).unwrap_or_default();
        let claim = |key: KeyDigest| match known.iter().position(|claim| claim.key == key) {
            Some(place) => known.swap_remove(place),
            None => Claim { key, paid: quota.hold(MemoryKind::Aliases, CLAIM_BYTES) },
        };
        let claims: Vec<Claim> = keys.into_iter().map(claim).collect();
        if !claims.is_empty() {
            self.0.insert(id.to_owned(), claims);
        }
    }

    /// A claim that was not written after all.
    pub(super) fn take_back(&mut self, id: &str, key: KeyDigest) {
        if let Some(claims) = self.0.get_mut(id) {
            claims.retain(|claim| claim.key != key);
        }
    }

    /// The keys that have claimed a robot.
    pub(super) fn keys(&self, id: &str) -> Vec<KeyDigest> {
        self.0.get(id).into_iter().flatten().map(|claim| claim.key).collect()
    }

    /// Whether these keys open every claim on a robot. All are compared, so that the time tells
    /// nothing.
    pub(super) fn open_to(&self, id: &str, keys: &[KeyDigest]) -> bool {
        let opens = |claim: &Claim| keys.iter().fold(false, |open, key| open | (claim.key == *key));
        self.0.get(id).into_iter().flatten().fold(true, |open, claim| open & opens(claim))
    }

    /// The robot is gone.
    pub(super) fn forget(&mut self, id: &str) {
        self.0.remove(id);
    }
}
