//! What the registry of sessions asks of one.

use super::Session;
use clearance_runtime::sessions::{Resident, Summary};

impl Resident for Session {
    fn bytes(&self) -> u64 {
        let fixed = self.scene.bytes() + self.shapes.len() * 64 + self.last_refused.bytes();
        self.given_bytes + fixed as u64
    }

    fn slim(&mut self) {
        self.scene.forget_witnesses();
    }

    fn summary(&self) -> Summary {
        Summary {
            frame: self.scene.frame(),
            bodies: self.scene.bodies().len() as u64,
            checked_pairs: self.scene.pairs_enabled(),
            contacts: self.scene.contact_count() as u64,
            frames_answered: self.frames_answered,
            cost: self.cost,
            elapsed: self.elapsed,
            pairs_known: self.scene.pairs_known() as u64,
            pairs_asleep: self.pairs_asleep,
            pairs_expired: self.pairs_expired,
            body_bytes: self.given_bytes + self.scene.bytes_of_bodies() as u64,
            pair_bytes: self.scene.bytes_of_pairs() as u64,
        }
    }
}
