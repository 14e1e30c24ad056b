//! The scene of a session as certificates of edges are about it: a cell that says the same.

use super::declare::PartSource;
use super::news::Sourced;
use crate::convert::geometry::{points_to_wire, pose, pose_to_wire, vector_to_wire};
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::Body;
use clearance_geometry::claim::{CurvedCore, CurvedForm};
use clearance_geometry::pose::Pose;
use clearance_proto as api;
use clearance_proto::cell_body::Body as Named;
use clearance_proto::robot_obstacle::Shape;
use clearance_proto::rounded_shape::Core;
use clearance_runtime::settings::Limits;
use clearance_scene::planning::claimed::{OutlinedBody, PlanningOutline};
use clearance_scene::{BodyId, Part};

/// The cell, but for the pairs that it ignores; `path` leads to the scene that is asked about.
pub fn scene_cell(
    path: &Path<'_>,
    outline: &PlanningOutline,
    sourced: Sourced<'_>,
    limits: &Limits,
) -> Result<api::SceneCell, Failure> {
    let mut told =
        CellOnItsWay { path, sourced, cell: api::RobotCell::default(), body_ids: Vec::new() };
    for (id, base) in &outline.robots {
        let registered = sourced.registered.get(&id.0);
        told.cell.robots.push(api::RobotInstance {
            robot_id: registered.map_or_else(String::new, |known| known.id.clone()),
            base: Some(pose_to_wire(base)),
            ..Default::default()
        });
    }
    for (body, margin) in outline.bodies.iter().zip(&outline.own_margins) {
        told.add(outline, body, *margin)?;
    }
    let CellOnItsWay { mut cell, body_ids, .. } = told;
    cell.adjacent_links = outline.has_adjacent_links;
    let names = CellNumbers::new(outline);
    let margin = |(pair, margin): &([usize; 2], f64)| api::CellMargin {
        pair: Some(names.pair(*pair)),
        margin: *margin,
    };
    cell.pair_margins = outline.set_margins.iter().map(margin).collect();
    // What the server would not read it does not tell.
    let loads = cell.robots.iter().map(|robot| robot.attached.len()).sum();
    path.within(limits.obstacles_per_cell_max(), cell.obstacles.len())?;
    path.within(limits.attached_per_cell_max(), loads)?;
    path.within(limits.rules_per_cell_max(), cell.pair_margins.len())?;
    path.within(limits.inline_points_max(), inline_points(&cell))?;
    Ok(api::SceneCell { cell: Some(cell), body_ids, ..Default::default() })
}

/// Says that a cell ignores these pairs, by the numbers of their bodies.
pub fn ignore(
    told: &mut api::SceneCell,
    outline: &PlanningOutline,
    pairs: impl Iterator<Item = [usize; 2]>,
) {
    let names = CellNumbers::new(outline);
    if let Some(cell) = &mut told.cell {
        cell.ignored_pairs = pairs.map(|pair| names.pair(pair)).collect();
    }
}

/// What a pair that is ignored takes in a message, bytes at most, in memory and on the wire.
pub const IGNORED_BYTES: usize = 2 * (size_of::<api::CellPair>() + 64);

/// Points that are listed in a cell.
fn inline_points(cell: &api::RobotCell) -> usize {
    let loads = cell.robots.iter().flat_map(|robot| &robot.attached);
    let bodies = cell.obstacles.iter().chain(loads.filter_map(|load| load.body.as_ref()));
    let points = bodies.map(|body| match &body.shape {
        Some(Shape::Vertices(points)) => points.xyz.len() / 3,
        Some(Shape::Rounded(api::RoundedShape { core: Some(Core::Vertices(points)), .. })) => {
            points.xyz.len() / 3
        }
        _ => 0,
    });
    points.sum()
}

/// A cell on its way.
struct CellOnItsWay<'a> {
    path: &'a Path<'a>,
    sourced: Sourced<'a>,
    cell: api::RobotCell,
    body_ids: Vec<u32>,
}

impl CellOnItsWay<'_> {
    fn add(
        &mut self,
        outline: &PlanningOutline,
        body: &OutlinedBody,
        margin: f64,
    ) -> Result<(), Failure> {
        match body {
            OutlinedBody::Link { robot, link } => {
                let id = outline.robots[*robot].0;
                let known = self.sourced.scene.robot(id).map(|declared| &declared.robot);
                let known = known.map(|known| &known.links[*link]);
                let known = known.ok_or_else(|| Failure::Bug("a robot left".to_owned()))?;
                self.body_ids.extend(known.parts.clone().map(|_| id.0 + *link as u32));
                if margin.abs() > 0.0 {
                    let padding = api::LinkPadding { link: known.name.clone(), padding: margin };
                    self.cell.robots[*robot].paddings.push(padding);
                }
            }
            OutlinedBody::Load { robot, attached } => {
                let (body, at) =
                    (attached.body, attached.link_from_body.unwrap_or_else(Pose::identity));
                let shape = self.declared(body, 0)?;
                let body = self.obstacle(body, shape, &at, margin)?;
                self.cell.robots[*robot].attached.push(api::CarriedBody {
                    link: attached.link.clone(),
                    body: Some(body),
                    touch_links: attached.touch_links.clone(),
                });
            }
            OutlinedBody::Standing { body, index, pose, part, is_link } => {
                let shape =
                    if *is_link { self.link(*body, part)? } else { self.declared(*body, *index)? };
                let obstacle = self.obstacle(*body, shape, pose, margin)?;
                self.cell.obstacles.push(obstacle);
            }
        }
        Ok(())
    }

    fn obstacle(
        &mut self,
        body: BodyId,
        shape: Shape,
        at: &Pose,
        padding: f64,
    ) -> Result<api::RobotObstacle, Failure> {
        let told = pose_to_wire(at);
        // Two rotations that are nearly so may make one that is not.
        if pose(self.path, Some(&told)).is_err() {
            let what = "certificates of edges where two poses together are too far from a rotation";
            return Err(self.not_told(body, what));
        }
        self.body_ids.push(body.0);
        let (shape, pose) = (Some(shape), Some(told));
        Ok(api::RobotObstacle { shape, pose, padding, ..Default::default() })
    }

    fn not_told(&self, body: BodyId, what: &str) -> Failure {
        self.path.not_implemented(format!("{what}, as body {} of the session is", body.0)).into()
    }

    /// A part as it was declared.
    fn declared(&self, body: BodyId, index: usize) -> Result<Shape, Failure> {
        use api::placed_body::Source;
        let source = self.sourced.shapes.get(&body.0).and_then(|shapes| shapes.get(index));
        match source {
            Some(PartSource::Registered(lease)) => Ok(Shape::Id(lease.stored().id.to_string())),
            Some(PartSource::Given(source, _)) => match &**source {
                Source::Vertices(points) => Ok(Shape::Vertices(points.clone())),
                Source::Rounded(shape) => Ok(Shape::Rounded(shape.clone())),
                Source::Id(_) | Source::Alias(_) | Source::Compound(_) => Err(no_source()),
            },
            None => Err(no_source()),
        }
    }

    /// A part of a link of a robot that stands still.
    fn link(&self, body: BodyId, part: &Part) -> Result<Shape, Failure> {
        if let Some(curved) = &part.curved
            && let Some(core) = Body::Curved(curved.clone()).curved_core()
        {
            return Ok(Shape::Rounded(curved_shape(&core, part.radius)));
        }
        if !part.is_convex() {
            let what = "certificates of edges beside a link that is taken as its mesh is, of a \
                        robot that is not asked about";
            return Err(self.not_told(body, what));
        }
        let points = points_to_wire(part.polytope.vertices());
        Ok(if part.is_rounded() {
            let (core, radius) = (Some(Core::Vertices(points)), part.radius);
            Shape::Rounded(api::RoundedShape { core, radius, ..Default::default() })
        } else {
            Shape::Vertices(points)
        })
    }
}

fn no_source() -> Failure {
    Failure::Bug("a part of a session without the shape that it was declared by".to_owned())
}

/// A curved body by name: one of half sizes 1 that is scaled, exactly.
fn curved_shape(core: &CurvedCore, radius: f64) -> api::RoundedShape {
    let (radius_xy, length) = (1.0, 2.0);
    let named = match core.form {
        CurvedForm::Cylinder => Core::Cylinder(api::Cylinder { radius_xy, length }),
        CurvedForm::Cone => Core::Cone(api::Cone { radius_xy, length }),
        CurvedForm::Ellipsoid => Core::Ellipsoid(api::Vector3 { x: 1.0, y: 1.0, z: 1.0 }),
    };
    let scale = Some(vector_to_wire(&core.half));
    api::RoundedShape { core: Some(named), radius, scale }
}

/// How a cell calls the bodies with these numbers.
struct CellNumbers(Vec<api::CellBody>);

impl CellNumbers {
    fn new(outline: &PlanningOutline) -> Self {
        let mut loads = vec![0; outline.robots.len()];
        let mut obstacles = 0..;
        let named = outline.bodies.iter().map(|body| match body {
            OutlinedBody::Link { robot, link } => (*robot, Named::LinkIndex(*link as u32)),
            OutlinedBody::Load { robot, .. } => {
                loads[*robot] += 1;
                (*robot, Named::AttachedIndex(loads[*robot] - 1))
            }
            OutlinedBody::Standing { .. } => {
                (0, Named::ObstacleIndex(obstacles.next().unwrap_or_default()))
            }
        });
        let body =
            |(robot, body): (usize, Named)| api::CellBody { robot: robot as u32, body: Some(body) };
        Self(named.map(body).collect())
    }

    fn pair(&self, [a, b]: [usize; 2]) -> api::CellPair {
        api::CellPair { first: Some(self.0[a].clone()), second: Some(self.0[b].clone()) }
    }
}
