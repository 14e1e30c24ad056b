//! Cells, and questions about their configurations.

use std::sync::Arc;

use super::clouds::{AskedCloud, cloud_of};
use super::digested::Digested;
use crate::convert::body::{body_of_curved, hull_bytes};
use crate::convert::catalogue::Catalogue;
use crate::convert::curved::{self, CurvedShape};
use crate::convert::geometry::{points, pose, vector};
use crate::convert::rounded::RoundedPoints;
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::Body;
use clearance_bodies::table::place::{Place, cloud_of_body};
use clearance_geometry::Vec3;
use clearance_geometry::cloud::PointCloud;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::HullError;
use clearance_geometry::pose::Pose;
use clearance_geometry::until::Until;
use clearance_proto as api;
use clearance_proto::robot_obstacle::Shape as Wire;
use clearance_proto::rounded_shape::Core;
use clearance_robot::Robot;
use clearance_robot::body::PartBody;
use clearance_robot::cell::{BodyPair, Cell, Instance};
use clearance_robot::check::{CheckMode, CheckQuestion};
use clearance_robot::still::StillBody;
use clearance_runtime::cells::CellKey;
use clearance_runtime::robots::{RegisteredRobot, RobotStore};
use clearance_runtime::settings::{Limit, Limits};
use clearance_runtime::store::Stored;

/// A cell as it was asked for; hulls are still to be built.
#[derive(Debug)]
pub struct AskedCell {
    robots: Vec<(Arc<RegisteredRobot>, Pose)>,
    obstacles: Vec<(ObstacleShape, Pose)>,
}

#[derive(Debug)]
enum ObstacleShape {
    Registered(Arc<Stored>),
    Points(Vec<Vec3>),
    Rounded(RoundedPoints),
    Curved(CurvedShape),
    /// By its half sizes.
    Box(Vec3),
    Cloud(AskedCloud),
    RegisteredCloud(Arc<Stored>),
}

/// Bytes of a box that are digested: a tag, its sizes and its pose.
const OBSTACLE_BYTES: usize = 1 + 15 * 8;

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
        let list = path.field("obstacles");
        list.within(catalogue.limits.obstacles_per_cell_max(), wire.obstacles.len())?;
        let mut points_left = catalogue.limits.inline_points_max();
        let mut cloud_points_left = catalogue.limits.cloud_points_max();
        let mut obstacles = Vec::with_capacity(wire.obstacles.len());
        for (index, obstacle) in wire.obstacles.iter().enumerate() {
            let path = list.index(index);
            let rounded = path.field("rounded");
            let inline = match &obstacle.shape {
                Some(Wire::Vertices(given)) => Some((path.field("vertices"), given)),
                Some(Wire::Rounded(api::RoundedShape {
                    core: Some(Core::Vertices(given)),
                    ..
                })) => Some((rounded.field("vertices"), given)),
                _ => None,
            };
            if let Some((path, given)) = inline {
                let count = given.xyz.len() / 3;
                path.within(points_left, count)?;
                points_left.value -= count as u64;
            }
            if let Some(Wire::Cloud(given)) = &obstacle.shape {
                let path = path.field("cloud");
                let cloud = cloud_of(&path, given, &mut cloud_points_left)?;
                let pose = pose(&list.index(index).field("pose"), obstacle.pose.as_ref())?;
                obstacles.push((ObstacleShape::Cloud(cloud), pose));
                continue;
            }
            let shape = obstacle_shape(&path, obstacle, catalogue, &mut cloud_points_left)?;
            obstacles.push((shape, pose(&path.field("pose"), obstacle.pose.as_ref())?));
        }
        Ok(Self { robots: robots?, obstacles })
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
        for (shape, pose) in &self.obstacles {
            match shape {
                ObstacleShape::Registered(stored) | ObstacleShape::RegisteredCloud(stored) => {
                    digested.tag(0);
                    digested.content(&stored.id);
                }
                ObstacleShape::Points(points) => {
                    digested.tag(1);
                    digested.size(points.len());
                    points.iter().for_each(|point| digested.vector(point));
                }
                ObstacleShape::Box(half) => {
                    digested.tag(2);
                    digested.vector(half);
                }
                ObstacleShape::Rounded(RoundedPoints { points, radius }) => {
                    digested.tag(4);
                    digested.number(*radius);
                    digested.size(points.len());
                    points.iter().for_each(|point| digested.vector(point));
                }
                ObstacleShape::Curved(curved) => {
                    digested.tag(5);
                    let (form, numbers) = curved.numbers();
                    digested.tag(form);
                    numbers.into_iter().for_each(|number| digested.number(number));
                }
                ObstacleShape::Cloud(cloud) => {
                    digested.tag(3);
                    digested.number(cloud.radius);
                    digested.size(cloud.points.len());
                    cloud.points.iter().for_each(|point| digested.vector(point));
                }
            }
            digested.pose(pose);
        }
        *digested.hash().as_bytes()
    }

    /// How many hulls there are to build, about.
    pub fn size(&self) -> usize {
        let points = self.obstacles.iter().map(|(shape, _)| match shape {
            ObstacleShape::Registered(_) => 1,
            ObstacleShape::Points(points) => points.len(),
            ObstacleShape::Rounded(rounded) => rounded.points.len(),
            ObstacleShape::Curved(_) => curved::POINTS,
            ObstacleShape::Box(_) => 8,
            ObstacleShape::Cloud(_) | ObstacleShape::RegisteredCloud(_) => 1,
        });
        points.sum()
    }

    /// How many points its clouds have.
    pub fn cloud_points(&self) -> usize {
        let points = self.obstacles.iter().map(|(shape, _)| match shape {
            ObstacleShape::Cloud(cloud) => cloud.points.len(),
            ObstacleShape::RegisteredCloud(stored) => stored.body.vertices().len(),
            ObstacleShape::Registered(_)
            | ObstacleShape::Points(_)
            | ObstacleShape::Rounded(_)
            | ObstacleShape::Curved(_)
            | ObstacleShape::Box(_) => 0,
        });
        points.sum()
    }

    /// The first obstacle that is a cloud.
    pub fn first_cloud(&self) -> Option<usize> {
        let is_cloud = |(shape, _): &(ObstacleShape, Pose)| {
            matches!(shape, ObstacleShape::Cloud(_) | ObstacleShape::RegisteredCloud(_))
        };
        self.obstacles.iter().position(is_cloud)
    }

    /// What it takes to build it, bytes: a generous guess.
    pub fn working_bytes(&self) -> u64 {
        /// What an obstacle takes beside its points: its hull, its place in the tree.
        const EACH: u64 = 1 << 10;
        let robots: Vec<&Robot> = self.robots.iter().map(|(known, _)| &*known.robot).collect();
        EACH * self.obstacles.len() as u64
            + hull_bytes(self.size())
            + Cell::bytes_of_robots(&robots) as u64
            + PointCloud::building_bytes(self.cloud_points()) as u64
            + self.solid_bytes(&robots)
    }

    /// What is made of polytopes that stand beside polyhedra, bytes at most.
    fn solid_bytes(&self, robots: &[&Robot]) -> u64 {
        let of_robots = || robots.iter().flat_map(|robot| &robot.parts).map(|part| &part.body);
        let registered = |(shape, _): &(ObstacleShape, Pose)| match shape {
            ObstacleShape::Registered(stored) => Some(stored.clone()),
            ObstacleShape::Points(_)
            | ObstacleShape::Rounded(_)
            | ObstacleShape::Curved(_)
            | ObstacleShape::Box(_)
            | ObstacleShape::Cloud(_)
            | ObstacleShape::RegisteredCloud(_) => None,
        };
        let registered: Vec<Arc<Stored>> = self.obstacles.iter().filter_map(registered).collect();
        let is_whole = |stored: &Arc<Stored>| {
            Place::Obstacle.whole(&stored.body).is_ok_and(|whole| whole.mesh.is_some())
        };
        let any = registered.iter().any(is_whole) || of_robots().any(|body| body.mesh().is_some());
        if !any {
            return 0;
        }
        let vertices = registered.iter().map(|stored| stored.body.vertices().len());
        let of_obstacles = vertices.sum::<usize>() + self.size();
        Cell::bytes_of_solids(of_robots(), of_obstacles) as u64
    }

    /// Builds it; takes a while.
    pub fn build(self, until: &Until) -> Result<Cell, Failure> {
        let mut effort = Effort::until(u64::MAX, until);
        let mut still = Vec::with_capacity(self.obstacles.len());
        for (index, (shape, pose)) in self.obstacles.into_iter().enumerate() {
            let list = Path::ROOT.field("cell");
            let list = list.field("obstacles");
            let path = list.index(index);
            let of_points = |points: &[Vec3], effort: &mut Effort<'_>| {
                Body::of_points(points, effort).map_err(|error| match error {
                    HullError::Stopped(_) => Failure::Deadline,
                    HullError::Empty | HullError::BadPoint { .. } | HullError::TooMany { .. } => {
                        path.bad(error.to_string()).into()
                    }
                })
            };
            let body = match shape {
                ObstacleShape::Cloud(cloud) => {
                    let body = cloud.build(&path.field("cloud"), &effort)?;
                    still.push(StillBody { body, pose });
                    continue;
                }
                ObstacleShape::RegisteredCloud(stored) => {
                    let body = AskedCloud::of_registered(&stored.body).build(&path, &effort)?;
                    still.push(StillBody { body, pose });
                    continue;
                }
                ObstacleShape::Registered(stored) => {
                    stored.body.prepare(&effort).map_err(|_| Failure::Deadline)?;
                    stored.body.clone()
                }
                ObstacleShape::Points(points) => of_points(&points, &mut effort)?,
                ObstacleShape::Box(half) => of_points(&corners(&half), &mut effort)?,
                ObstacleShape::Rounded(RoundedPoints { points, radius }) => {
                    of_points(&points, &mut effort)?.rounded(radius)
                }
                ObstacleShape::Curved(curved) => {
                    body_of_curved(&curved, &mut effort).map_err(Failure::from)?
                }
            };
            let body = PartBody::in_place(&body, Place::Obstacle);
            let body = body.map_err(|refused| path.not_implemented(refused.what))?;
            still.push(StillBody { body, pose });
        }
        let instance = |(registered, pose): &(Arc<RegisteredRobot>, Pose)| -> (Arc<_>, Pose) {
            (registered.clone(), *pose)
        };
        let robots: Vec<_> = self.robots.iter().map(instance).collect();
        let instances: Vec<Instance<'_>> = robots
            .iter()
            .map(|(robot, pose)| Instance { robot: &robot.robot, world_from_base: *pose })
            .collect();
        let cell = Cell::new(&instances, still);
        let Some(pair) = cell.flat_beside_polyhedron() else { return Ok(cell) };
        Err(flat_beside_polyhedron(&cell, pair))
    }
}

/// Refuses a pair of a polyhedron and a polytope without volume, by the obstacle of the two.
fn flat_beside_polyhedron(cell: &Cell, pair: BodyPair) -> Failure {
    let what = "a polytope without volume beside a polyhedron";
    let path = Path::ROOT.field("cell");
    let obstacle = pair.into_iter().find_map(|body| (body as usize).checked_sub(cell.part_count()));
    match obstacle {
        Some(index) => path.field("obstacles").index(index).not_implemented(what).into(),
        None => path.field("robots").not_implemented(what).into(),
    }
}

/// The corners of a box around the origin.
fn corners(half: &Vec3) -> Vec<Vec3> {
    let corner = |i: u32| Vec3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
    (0..8).map(corner).collect()
}

fn obstacle_shape(
    path: &Path<'_>,
    obstacle: &api::RobotObstacle,
    catalogue: &Catalogue<'_>,
    cloud_points_left: &mut Limit,
) -> Result<ObstacleShape, Failure> {
    let shape = obstacle.shape.as_ref();
    let stored =
        match shape.ok_or_else(|| path.bad("needs id, alias, vertices, box, rounded or cloud"))? {
            Wire::Vertices(given) => {
                return Ok(ObstacleShape::Points(points(&path.field("vertices"), given)?));
            }
            Wire::Box(size) => {
                let path = path.field("box");
                let size = vector(&path, Some(size))?;
                if !size.iter().all(|length| *length > 0.0) {
                    return Err(path.bad("needs three positive sizes").into());
                }
                return Ok(ObstacleShape::Box(size * 0.5));
            }
            Wire::Rounded(shape) => {
                let most = catalogue.limits.inline_points_max();
                let path = path.field("rounded");
                if let Some(curved) = CurvedShape::convert(&path, shape)? {
                    return Ok(ObstacleShape::Curved(curved));
                }
                let rounded = RoundedPoints::convert(&path, shape, most)?;
                return Ok(ObstacleShape::Rounded(rounded));
            }
            Wire::Cloud(_) => return Err(path.field("cloud").bad("is read on its own").into()),
            Wire::Id(id) => catalogue.by_id(&path.field("id"), id)?,
            Wire::Alias(alias) => catalogue.by_alias(&path.field("alias"), alias)?,
        };
    let taken = Place::Obstacle.takes(stored.body.kind());
    taken.map_err(|refused| path.not_implemented(refused.what))?;
    let Some((points, _)) = cloud_of_body(&stored.body) else {
        return Ok(ObstacleShape::Registered(stored));
    };
    path.within(*cloud_points_left, points.len())?;
    cloud_points_left.value -= points.len() as u64;
    Ok(ObstacleShape::RegisteredCloud(stored))
}

/// A question about configurations, but for the cell.
#[derive(Debug)]
pub struct AskedCheck {
    /// What is asked.
    pub question: CheckQuestion,
    /// Joint values, one configuration after the other.
    pub values: Vec<f64>,
    /// Whether violated limits are listed, and no reason to refuse.
    pub report_limits: bool,
    /// Numbers that the answer about one configuration may have.
    pub entries_of_one: usize,
    /// What all answers take on the wire at least, bytes.
    pub bytes_at_least: u64,
}

impl AskedCheck {
    /// Checks everything that can be wrong with it in this cell.
    pub fn convert(
        path: &Path<'_>,
        request: api::CheckConfigurationsRequest,
        cell: &Cell,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let mode = match path.field("mode").known(request.mode)? {
            api::CheckMode::Unspecified | api::CheckMode::FirstPair => CheckMode::FirstPair,
            api::CheckMode::AllPairs => CheckMode::AllPairs,
            api::CheckMode::Clearance => CheckMode::Clearance,
            api::CheckMode::LinkClearance => CheckMode::LinkClearance,
        };
        let (list, width) = (path.field("values"), cell.variable_count());
        if width == 0 {
            let place = if request.scene.is_some() { "scene" } else { "cell" };
            return Err(path.field(place).bad("its robots have no joint that moves").into());
        }
        if !request.values.len().is_multiple_of(width) {
            let problem = format!("must have {width} numbers for each configuration");
            return Err(list.bad(problem).into());
        }
        let count = request.values.len() / width;
        list.within(limits.configurations_max(), count)?;
        let question = CheckQuestion { mode, with_gradient: request.with_gradient };
        let each = entries_of_one(cell, question);
        list.within(limits.configuration_entries_max(), count.saturating_mul(each))?;
        let report_limits = request.report_limits;
        let bytes_at_least = (count as u64).saturating_mul(bytes_of_one(cell, question));
        let values = request.values;
        Ok(Self { question, values, report_limits, entries_of_one: each, bytes_at_least })
    }
}

/// What the answer about one configuration takes on the wire at least, bytes: a verdict and, of
/// each clearance, two bounds, the numbers of two bodies and, with gradients, points, normal and
/// gradient.
fn bytes_of_one(cell: &Cell, question: CheckQuestion) -> u64 {
    let geometry = if question.with_gradient { 8 * (cell.variable_count() + 9) } else { 0 };
    let of_clearance = 18 + geometry as u64;
    match question.mode {
        CheckMode::FirstPair | CheckMode::AllPairs => 1,
        CheckMode::Clearance => 1 + of_clearance,
        CheckMode::LinkClearance => 1 + cell.moving_link_count() as u64 * of_clearance,
    }
}

/// Numbers that the answer about one configuration may have.
fn entries_of_one(cell: &Cell, question: CheckQuestion) -> usize {
    let geometry = if question.with_gradient { cell.variable_count() + 9 } else { 0 };
    match question.mode {
        CheckMode::FirstPair => 4,
        CheckMode::AllPairs => 4 * cell.pair_count(),
        CheckMode::Clearance => 4 + geometry,
        CheckMode::LinkClearance => cell.moving_link_count() * (4 + geometry),
    }
}
