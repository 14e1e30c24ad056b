//! Scenes of past frames that stay for more questions.
//!
//! Shooters see a scene as many frames late as their messages take, each its own number: what one
//! asks about now, others have asked about before, or will. So each past frame is made once from
//! the history, and stays as long as there is room.

use std::sync::Arc;

use clearance_runtime::memory::Reservation;
use clearance_scene::Scene;
use clearance_scene::query::StillScene;
use clearance_scene::query::past::Moment;
use clearance_wire::convert::sessions::inquiry::no_past;
use clearance_wire::convert::sessions::since::PastShapes;
use clearance_wire::status::Failure;

/// A scene at a past moment.
#[derive(Debug)]
pub(super) struct PastScene {
    pub(super) scene: StillScene,
    /// How many parts its bodies have.
    pub(super) parts: usize,
    /// For what it takes, as long as anybody has it.
    pub(super) memory: Reservation,
}

/// One that stays.
#[derive(Debug)]
struct KeptScene {
    moment: Moment,
    past: Arc<PastScene>,
    /// When it was asked about last, in the order of questions.
    asked: u64,
}

/// Those of a session.
#[derive(Debug, Default)]
pub(super) struct PastScenes {
    kept: Vec<KeptScene>,
    /// Questions so far.
    asked: u64,
    /// Of bodies in the frames that are kept.
    pub(super) shapes: PastShapes,
    /// The last frame that brought robots or took them away, or changed what they carry.
    pub(super) remounted: u64,
}

impl PastScenes {
    /// The scene at that moment, if it is there and the session still keeps that frame.
    pub(super) fn get(&mut self, moment: &Moment, scene: &Scene) -> Option<Arc<PastScene>> {
        self.asked += 1;
        let oldest = scene.oldest_frame();
        self.kept.retain(|kept| kept.moment.frame >= oldest);
        let kept = self.kept.iter_mut().find(|kept| kept.moment == *moment)?;
        kept.asked = self.asked;
        Some(kept.past.clone())
    }

    /// The scene at that moment, of the session with this scene now, which is made; `memory` has
    /// room for it.
    pub(super) fn make(
        &mut self,
        moment: &Moment,
        scene: &Scene,
        mut memory: Reservation,
    ) -> Result<Arc<PastScene>, Failure> {
        let past = scene.past(moment).map_err(|why| no_past(moment, why, scene.frame()))?;
        memory.set(past.bytes() as u64);
        let past = Arc::new(PastScene { parts: past.parts(), scene: past, memory });
        self.kept.push(KeptScene { moment: *moment, past: past.clone(), asked: self.asked });
        let room = scene.history_limits().bytes_max.saturating_sub(scene.bytes_of_history());
        while self.bytes() > room as u64 && !self.kept.is_empty() {
            let oldest = self.kept.iter().map(|kept| kept.asked).min();
            self.kept.retain(|kept| Some(kept.asked) != oldest);
        }
        Ok(past)
    }

    /// Memory that they take, bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.kept.iter().map(|kept| kept.past.memory.bytes()).sum()
    }
}
