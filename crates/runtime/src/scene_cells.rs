//! Cells of a session's scene that stay built: one for each list of its robots that is asked about.
//!
//! They are the session's, and in its memory. A cell goes when one of the same robots takes its
//! place, since a frame has changed more than their joint values, and with the session.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync;

use super::cells::BuiltCell;
use super::memory::Reservation;
use super::settings::Limits;
use clearance_scene::RobotId;
use clearance_scene::planning::{PlanningCell, PlanningVersion};

/// The robots that are asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedRobots {
    /// In the order of their joint values.
    pub ids: Vec<RobotId>,
    /// Whether links that a joint joins are asked about each other, too.
    pub adjacent_links: bool,
}

/// What a cell of a scene answers about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneCellKey {
    /// Whom it is about.
    pub asked: AskedRobots,
    /// How the scene stands.
    pub version: PlanningVersion,
}

/// A cell that is built, to be kept.
#[derive(Debug)]
pub struct NewSceneCell {
    /// What it answers about.
    pub key: SceneCellKey,
    /// The last frame that the scene had applied.
    pub frame_id: u64,
    /// The cell.
    pub planned: PlanningCell,
    /// The memory that the cell takes is reserved by this.
    pub memory: Reservation,
}

#[derive(Debug)]
struct KeptSceneCell {
    key: SceneCellKey,
    frame_id: u64,
    planned: PlanningCell,
    built: BuiltCell,
    last_asked: Instant,
}

/// The cells of one session.
#[derive(Debug, Default)]
pub struct SceneCells {
    kept: Mutex<Vec<KeptSceneCell>>,
    /// Whoever builds one has this: others wait and find it built.
    building: sync::Mutex<()>,
}

impl SceneCells {
    /// The cell, if it is there and the scene still stands so.
    pub fn get(&self, key: &SceneCellKey, now: Instant) -> Option<BuiltCell> {
        let mut kept = self.lock();
        let found = kept.iter_mut().find(|kept| kept.key == *key)?;
        found.last_asked = now;
        Some(found.built.clone())
    }

    /// The cell of these robots and the frame that it was built at, if that is this frame or a
    /// later one: what a call may have that came at this frame and waited for its turn, while
    /// frames come faster than cells are built.
    pub fn since(&self, asked: &AskedRobots, frame_id: u64) -> Option<(BuiltCell, u64)> {
        let kept = self.lock();
        let found = kept.iter().find(|kept| kept.key.asked == *asked)?;
        (found.frame_id >= frame_id).then(|| (found.built.clone(), found.frame_id))
    }

    /// The turn to build one.
    pub async fn turn(&self) -> sync::MutexGuard<'_, ()> {
        self.building.lock().await
    }

    /// What a new cell may take over from: the one of the same robots, or the one asked for last.
    pub fn before(&self, asked: &AskedRobots) -> Option<PlanningCell> {
        let kept = self.lock();
        let rank = |kept: &&KeptSceneCell| (kept.key.asked == *asked, kept.last_asked);
        kept.iter().max_by_key(rank).map(|kept| kept.planned.clone())
    }

    /// Keeps a cell in place of that of the same robots. Where too many lists of robots have been
    /// asked about lately it is not kept, which [`BuiltCell::is_kept`] tells.
    pub fn keep(&self, new: NewSceneCell, now: Instant, limits: &Limits) -> BuiltCell {
        let NewSceneCell { key, frame_id, planned, memory } = new;
        let of_one_call = BuiltCell::new(planned.cell.clone(), memory);
        let places = usize::try_from(limits.kept_cells_max).unwrap_or(usize::MAX);
        let idle = Duration::from_secs(limits.kept_cell_seconds_max);
        let mut kept = self.lock();
        kept.retain(|one| one.key.asked != key.asked);
        if kept.len() >= places {
            let is_idle =
                |one: &&KeptSceneCell| now.saturating_duration_since(one.last_asked) > idle;
            let oldest = kept.iter().filter(is_idle).map(|one| one.last_asked).min();
            kept.retain(|one| Some(one.last_asked) != oldest);
        }
        if kept.len() >= places {
            return of_one_call;
        }
        let built = of_one_call.kept();
        let (last_asked, handed) = (now, built.clone());
        kept.push(KeptSceneCell { key, frame_id, planned, built, last_asked });
        handed
    }

    fn lock(&self) -> MutexGuard<'_, Vec<KeptSceneCell>> {
        self.kept.lock().expect("nothing panics while holding it")
    }
}

/// Those of a session, which calls have that go on while it is in its place.
pub type SharedSceneCells = Arc<SceneCells>;

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::clock::{Clock, ManualClock};
    use crate::memory::{MemoryBudget, MemoryKind};
    use clearance_geometry::effort::Effort;
    use clearance_geometry::pose::Pose;
    use clearance_geometry::separation::METHODS;
    use clearance_scene::{Body, Declaration, Frame, RobotChanges, RobotMove, Scene, SceneRobot};

    const SLIDER: &str = "<robot name='s'><link name='rail'/><link name='cart'><collision>\
        <geometry><box size='1 1 1'/></geometry></collision></link><joint name='slide' \
        type='prismatic'><parent link='rail'/><child link='cart'/><axis xyz='1 0 0'/>\
        <limit lower='-9' upper='9' velocity='2'/></joint></robot>";

    /// Three sliders.
    fn scene() -> Scene {
        let robot = Arc::new(clearance_samples::robot_of(SLIDER).unwrap());
        let placed = |id: u32| SceneRobot {
            id: RobotId(10 * id),
            name: String::new(),
            robot: robot.clone(),
            base: Pose::translation(0.0, 3.0 * f64::from(id), 0.0),
            values: vec![0.0],
            paddings: vec![0.0; 2],
            traits: Body::without_parts(),
            attached: Vec::new(),
        };
        let declared = Declaration { robots: (1..4).map(placed).collect(), ..Default::default() };
        let [bodies_max, parts_max, classes_max, pairs_max, listed_max] = [100; 5];
        let limits =
            clearance_scene::Limits { bodies_max, parts_max, classes_max, pairs_max, listed_max };
        Scene::open(declared, &METHODS[0], limits).unwrap()
    }

    fn asked(robots: &[u32]) -> AskedRobots {
        let ids = robots.iter().map(|id| RobotId(*id)).collect();
        AskedRobots { ids, adjacent_links: false }
    }

    fn slide(scene: &mut Scene, robot: u32, value: f64) {
        let (values, joints) = (Some(vec![value]), Vec::new());
        let one =
            RobotMove { robot: RobotId(robot), values, joints, base: None, teleported: false };
        let robots = RobotChanges { moves: vec![one], ..Default::default() };
        scene.apply(&Frame { id: scene.frame() + 1, robots, ..Default::default() }).unwrap();
    }

    #[test]
    fn a_cell_stays_until_another_of_its_robots_takes_its_place_or_one_asked_for_lately_needs_it() {
        let budget = MemoryBudget::new(
            Limits { memory_bytes_max: 64 << 20, ..Limits::default() }.memory_bytes_max(),
        );
        let quota = budget.connection(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)));
        let (clock, cells, mut scene) = (ManualClock::new(), SceneCells::default(), scene());
        let limits = Limits { kept_cells_max: 2, kept_cell_seconds_max: 10, ..Limits::default() };
        let key = |scene: &Scene, robots: &[u32]| {
            let asked = asked(robots);
            let version = scene.planning_version(&asked.ids).unwrap();
            SceneCellKey { asked, version }
        };
        let keep = |scene: &Scene, robots: &[u32]| {
            let key = key(scene, robots);
            let copy = scene.planning_copy(&key.asked.ids).unwrap();
            let planned = copy.build(None, &Effort::unlimited()).unwrap();
            let memory = quota.reserve(MemoryKind::Sessions, 1000).unwrap();
            let new = NewSceneCell { key, frame_id: scene.frame(), planned, memory };
            cells.keep(new, clock.now(), &limits).is_kept
        };
        let is_there =
            |scene: &Scene, robots: &[u32]| cells.get(&key(scene, robots), clock.now()).is_some();
        assert!(keep(&scene, &[10]) && keep(&scene, &[20, 10]));
        assert!(is_there(&scene, &[10]) && is_there(&scene, &[20, 10]));
        assert!(!is_there(&scene, &[10, 20]), "another order is of other values");
        assert!(!keep(&scene, &[30]), "there are two lists");
        // Its own joints leave a cell as it is; those of another robot do not.
        slide(&mut scene, 10, 1.0);
        assert!(is_there(&scene, &[10]) && is_there(&scene, &[20, 10]));
        slide(&mut scene, 20, 1.0);
        assert!(!is_there(&scene, &[10]) && is_there(&scene, &[20, 10]));
        assert!(keep(&scene, &[10]) && is_there(&scene, &[10]), "in place of its own");
        assert_eq!(budget.used(MemoryKind::Sessions), 2000);
        clock.advance(Duration::from_secs(8));
        assert!(is_there(&scene, &[10]));
        clock.advance(Duration::from_secs(8));
        assert!(keep(&scene, &[30]), "nobody has asked for the other one lately");
        assert!(is_there(&scene, &[10]) && !is_there(&scene, &[20, 10]));
        assert!(cells.before(&asked(&[7])).is_some());
        let since = |robot, frame_id| cells.since(&asked(&[robot]), frame_id).map(|it| it.1);
        assert_eq!([since(30, 1), since(30, 2), since(30, 3)], [Some(2), Some(2), None]);
        assert_eq!(since(7, 0), None);
    }
}
