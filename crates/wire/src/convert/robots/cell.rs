//! Cells as they are asked for, and built.

use std::sync::Arc;

use super::digested::Digested;
use super::obstacles::{AskedBody, OBSTACLE_BYTES, PointsLeft};
use super::rules::{AskedLoads, AskedRules, BuiltLoad, CellPairs};
use crate::convert::body::hull_bytes;
use crate::convert::catalogue::Catalogue;
use crate::convert::geometry::pose;
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::table::place::Place;
use clearance_geometry::cloud::PointCloud;
use clearance_geometry::effort::Effort;
use clearance_geometry::pose::Pose;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_robot::Robot;
use clearance_robot::cell::{BodyPair, Cell, Instance};
use clearance_robot::pairing::{HungBody, StandingBody, Surroundings};
use clearance_robot::still::StillBody;
use clearance_runtime::cells::CellKey;
use clearance_runtime::robots::{RegisteredRobot, RobotStore};
use clearance_runtime::store::Stored;

/// A cell as it was asked for; hulls are still to be built.
#[derive(Debug)]
pub struct AskedCell {
    robots: Vec<(Arc<RegisteredRobot>, Pose)>,
    obstacles: Vec<AskedBody>,
    /// What robots carry.
    loads: AskedLoads,
    rules: AskedRules,
}

impl AskedCell {
    /// Checks everything that can be wrong with it.
    pub fn convert(
        path: &Path<'_>,
        wire: &api::RobotCell,
        robots: &RobotStore,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let list = path.field("robots");
        list.within(catalogue.limits.robots_per_cell_max(), wire.robots.len())?;
        if wire.robots.is_empty() {
            return Err(list.bad("needs a robot").into());
        }
        let instance = |(index, instance): (usize, &api::RobotInstance)| {
            let path = list.index(index);
            let robot = robots.find(&instance.robot_id)?;
            let robot = robot.ok_or_else(|| Failure::UnknownRobot {
                field: path.field("robot_id").to_string(),
                id: instance.robot_id.chars().take(80).collect(),
            })?;
            Ok((robot, pose(&path.field("base"), instance.base.as_ref())?))
        };
        let robots: Result<Vec<_>, Failure> =
            wire.robots.iter().enumerate().map(instance).collect();
        let robots = robots?;
        let list = path.field("obstacles");
        list.within(catalogue.limits.obstacles_per_cell_max(), wire.obstacles.len())?;
        let mut left = PointsLeft::all(catalogue.limits);
        let mut obstacles = Vec::with_capacity(wire.obstacles.len());
        for (index, one) in wire.obstacles.iter().enumerate() {
            let path = list.index(index);
            obstacles.push(AskedBody::convert(&path, one, Place::Obstacle, catalogue, &mut left)?);
        }
        let known: Vec<&RegisteredRobot> = robots.iter().map(|(robot, _)| &**robot).collect();
        let loads = AskedLoads::convert(path, wire, &known, catalogue, &mut left)?;
        let rules = AskedRules::convert(path, wire, &known, catalogue.limits)?;
        Ok(Self { robots, obstacles, loads, rules })
    }

    /// A digest of every number and name that decides what is built. Robots and polytopes are named
    /// by their content, whatever alias was used.
    pub fn key(&self) -> CellKey {
        let mut digested = Digested::with_capacity(OBSTACLE_BYTES * self.obstacles.len());
        digested.size(self.robots.len());
        for (robot, base) in &self.robots {
            digested.text(&robot.id);
            digested.pose(base);
        }
        digested.size(self.obstacles.len());
        self.obstacles.iter().for_each(|one| one.digest_into(&mut digested));
        self.loads.digest_into(&mut digested);
        self.rules.digest_into(&mut digested);
        *digested.hash().as_bytes()
    }

    /// What stands still, and what robots carry.
    fn bodies(&self) -> impl Iterator<Item = &AskedBody> {
        self.obstacles.iter().chain(self.loads.bodies())
    }

    /// How many hulls there are to build, about.
    pub fn size(&self) -> usize {
        self.bodies().map(|one| one.shape.size()).sum::<usize>() + self.rules.size()
    }

    /// How many points its clouds have.
    pub fn cloud_points(&self) -> usize {
        self.bodies().map(|one| one.shape.cloud_points()).sum()
    }

    /// The first obstacle that is a cloud.
    pub fn first_cloud(&self) -> Option<usize> {
        self.obstacles.iter().position(|one| one.shape.cloud_points() > 0)
    }

    /// Whether it says more than which robots there are, and which obstacles.
    pub fn has_rules(&self) -> bool {
        let is_padded = |one: &AskedBody| one.padding.abs() > 0.0;
        self.loads.bodies().next().is_some()
            || !self.rules.is_empty()
            || self.obstacles.iter().any(is_padded)
    }

    /// What it takes to build it, bytes: a generous guess.
    pub fn working_bytes(&self) -> u64 {
        /// What an obstacle takes beside its points: its hull, its place in the tree.
        const EACH: u64 = 1 << 10;
        let robots: Vec<&Robot> = self.robots.iter().map(|(known, _)| &*known.robot).collect();
        let of_rules = if self.has_rules() {
            let links = robots.iter().map(|robot| robot.links.len()).sum::<usize>();
            let loads = self.loads.bodies().count();
            let set = self.rules.margin_count();
            let pairs = [links + loads, self.obstacles.len() + loads, set];
            Cell::bytes_of_pairs(pairs) + self.rules.working_bytes(&robots)
        } else {
            0
        };
        EACH * self.bodies().count() as u64
            + hull_bytes(self.size())
            + Cell::bytes_of_robots(&robots) as u64
            + PointCloud::building_bytes(self.cloud_points()) as u64
            + self.solid_bytes(&robots)
            + of_rules as u64
    }

    /// What is made of polytopes that stand beside polyhedra, bytes at most.
    fn solid_bytes(&self, robots: &[&Robot]) -> u64 {
        let of_robots = || robots.iter().flat_map(|robot| &robot.parts).map(|part| &part.body);
        let registered: Vec<&Arc<Stored>> =
            self.bodies().filter_map(|one| one.shape.registered()).collect();
        let is_whole = |stored: &&Arc<Stored>| {
            Place::Obstacle.whole(&stored.body).is_ok_and(|whole| whole.mesh.is_some())
        };
        let any = registered.iter().any(is_whole) || of_robots().any(|body| body.mesh().is_some());
        if !any {
            return 0;
        }
        let vertices = registered.iter().map(|stored| stored.body.vertices().len());
        let of_bodies = vertices.sum::<usize>() + self.size();
        Cell::bytes_of_solids(of_robots(), of_bodies) as u64
    }

    /// Builds it; takes a while.
    pub fn build(self, until: &Until) -> Result<Cell, Failure> {
        let (has_rules, obstacles_count) = (self.has_rules(), self.obstacles.len());
        let Self { robots, obstacles, loads, rules } = self;
        let mut effort = Effort::until(u64::MAX, until);
        let (at, mut paddings) = (Path::ROOT.field("cell"), Vec::new());
        let list = at.field("obstacles");
        let mut still = Vec::with_capacity(obstacles.len());
        for (index, AskedBody { shape, pose, padding }) in obstacles.into_iter().enumerate() {
            let body = shape.build(&list.index(index), Place::Obstacle, &mut effort)?;
            still.push(StillBody { body, pose });
            paddings.push(padding);
        }
        let instances: Vec<Instance<'_>> = robots
            .iter()
            .map(|(robot, pose)| Instance { robot: &robot.robot, world_from_base: *pose })
            .collect();
        let cell = if has_rules {
            let mut standing: Vec<StandingBody> =
                still.into_iter().map(|one| StandingBody { parts: vec![one] }).collect();
            let mut pairs = CellPairs::new(&instances, &loads, &rules, &paddings);
            let (left_out, set_margins) =
                (std::mem::take(&mut pairs.left_out), std::mem::take(&mut pairs.margins));
            let mut hung: Vec<HungBody> = Vec::new();
            for built in loads.build(&at, &instances, &mut effort)? {
                match built {
                    BuiltLoad::Hung(body) => hung.push(body),
                    BuiltLoad::Standing(body) => standing.push(body),
                }
            }
            let surroundings = Surroundings {
                hung,
                standing,
                names: None,
                is_asked: &|pair| pairs.is_asked(pair),
                own_margins: pairs.paddings.clone(),
                set_margins,
                left_out,
            };
            Cell::within(&instances, surroundings, &effort).map_err(|_| Failure::Deadline)?
        } else {
            Cell::new(&instances, still)
        };
        let Some(pair) = cell.flat_beside_polyhedron() else { return Ok(cell) };
        Err(flat_beside_polyhedron(&cell, pair, obstacles_count))
    }
}

/// Refuses a pair of a polyhedron and a polytope without volume, by the obstacle of the two, if one
/// of so many is.
fn flat_beside_polyhedron(cell: &Cell, pair: BodyPair, obstacles: usize) -> Failure {
    let what = "a polytope without volume beside a polyhedron";
    let path = Path::ROOT.field("cell");
    let of_still = |body: u32| (body as usize).checked_sub(cell.part_count());
    let obstacle = pair.into_iter().find_map(of_still).filter(|index| *index < obstacles);
    match obstacle {
        Some(index) => path.field("obstacles").index(index).not_implemented(what).into(),
        None => path.field("robots").not_implemented(what).into(),
    }
}
