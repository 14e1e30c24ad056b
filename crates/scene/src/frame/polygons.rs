//! Contact polygons of listed pairs, as far as a report has room for them.
//!
//! A body may have very many corners and stand in very many contacts: of 300 drums of 300 corners
//! in two layers the polygons took 600 MB, of which the report that was sent had 4. So they are
//! looked for from the first listed pair on, until they are more than whoever reads the report
//! takes; pairs beyond are omitted.

use crate::frame::scene::Scene;
use crate::frame::step::Round;
use crate::pair_key::PairKey;
use crate::pairs::state::Task;
use crate::waiting::Unanswered;
use clearance_geometry::Vec3;

/// Polygons of so many corners at most are looked for before it is counted how many they have.
const CORNERS_AT_ONCE: usize = 1 << 16;

impl Round<'_> {
    /// The polygons of listed pairs in their order, as far as there is room for them.
    pub(crate) fn look_for_polygons(
        &mut self,
        scene: &mut Scene,
    ) -> Result<Vec<Vec<Vec3>>, Unanswered> {
        let (waiting, numbers_max) = (self.work.waiting, self.work.questions.polygon_numbers_max);
        let keys: Vec<PairKey> =
            self.listed.keys().take(scene.limits.listed_max).copied().collect();
        let (mut polygons, mut numbers) = (Vec::new(), 0_usize);
        while polygons.len() < keys.len() && numbers <= numbers_max {
            waiting.go_on()?;
            let mut corners_max = 0_usize;
            let left = &keys[polygons.len()..];
            let more = left.iter().take_while(|key| {
                let has_room = corners_max < CORNERS_AT_ONCE;
                corners_max = corners_max.saturating_add(corners_at_most(scene, **key));
                has_room
            });
            let next = &left[..more.count()];
            let (distance, depth, normal, polygon) = (None, false, false, true);
            let task = Task::Detail { distance, depth, normal, polygon };
            let (counters, mut bytes) = (&mut self.counters, 0);
            scene.run(next, task, &self.work, |state| {
                counters.count(state);
                // The report keeps it; it is looked for anew each time.
                let known = state.answer.meeting.as_mut();
                let polygon = known.map(|known| std::mem::take(&mut known.polygon));
                bytes +=
                    polygon.as_ref().map_or(0, |polygon| polygon.capacity() * size_of::<Vec3>());
                if numbers <= numbers_max {
                    let polygon = polygon.unwrap_or_default();
                    numbers = numbers.saturating_add(polygon.iter().map(numbers_of).sum());
                    polygons.push(polygon);
                }
            })?;
            if !self.work.runner.has_room(bytes) {
                return Err(Unanswered::NoRoom);
            }
        }
        Ok(polygons)
    }
}

/// The coordinates that take any room in a report.
fn numbers_of(corner: &Vec3) -> usize {
    corner.iter().filter(|x| **x != 0.0).count()
}

/// So many corners a polygon of this pair has at most.
fn corners_at_most(scene: &Scene, key: PairKey) -> usize {
    let of = |index| {
        let parts = scene.entries[index as usize].body.parts.iter();
        parts.map(|part| part.polytope.vertices().len()).max().unwrap_or(0)
    };
    of(key.p).saturating_add(of(key.q))
}
