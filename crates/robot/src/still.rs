//! What stands still: placed bodies in a tree of boxes, asked for what is near a ball. The boxes
//! are those around their hulls.

mod field;

use self::field::SharedField;
use super::ball::{OuterBall, PlacedBox};
use super::body::PartBody;
use super::cloud::BoxedCloud;
use clearance_geometry::Vec3;
use clearance_geometry::number::rounding::BOUND_SLACK;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use std::convert::Infallible;

/// A body that stands still.
#[derive(Clone, Debug)]
pub struct StillBody {
    /// What it is.
    pub body: PartBody,
    /// Where it is.
    pub pose: Pose,
}

impl StillBody {
    /// A box that holds it.
    fn placed_box(&self) -> PlacedBox {
        let Self { body, pose } = self;
        PlacedBox::new(body.hull(), *pose, pose.skew()).rounded(body.radius())
    }

    /// A ball that holds it, in the world.
    fn ball(&self) -> OuterBall {
        OuterBall::of(self.body.hull(), &self.pose).rounded(self.body.radius())
    }
}

/// What the table of faces, which depths are measured with, takes for each vertex of a polytope: a
/// point, two faces and three edges.
const FACE_TABLE_BYTES: usize = 24 + 2 * 40 + 3 * 40;

/// Memory that a polytope takes, estimated, with all that questions of cells prepare.
pub(super) fn polytope_bytes(polytope: &Polytope) -> usize {
    let tables = polytope.vertices().len() * FACE_TABLE_BYTES;
    size_of::<Polytope>() + polytope.heap_bytes() + tables
}

/// Bodies of a leaf at most.
const LEAF_BODIES_MAX: usize = 2;

/// A node of the tree; its first child follows it.
#[derive(Clone, Copy, Debug)]
struct StillNode {
    middle: Vec3,
    half: Vec3,
    /// The first of its bodies in `order`, and how many; none: it has children.
    bodies: [u32; 2],
    /// The node after all below it.
    next: u32,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Still {
    bodies: Vec<StillBody>,
    boxes: Vec<PlacedBox>,
    /// In the world.
    balls: Vec<OuterBall>,
    /// Indices of clouds, which are in no leaf: each has a tree of its own.
    clouds: Vec<usize>,
    /// Indices of bodies, by leaf.
    order: Vec<u32>,
    nodes: Vec<StillNode>,
    field: SharedField,
}

impl Still {
    /// Builds the tree.
    pub fn new(bodies: Vec<StillBody>) -> Self {
        let boxes: Vec<PlacedBox> = bodies.iter().map(StillBody::placed_box).collect();
        let bounds: Vec<[Vec3; 2]> = boxes.iter().map(PlacedBox::world_bounds).collect();
        let balls = bodies.iter().map(StillBody::ball).collect();
        let small = |index: usize| u32::try_from(index).expect("limited at the door");
        let (clouds, others): (Vec<usize>, Vec<usize>) =
            (0..bodies.len()).partition(|index| bodies[*index].body.cloud().is_some());
        let order = others.into_iter().map(small).collect();
        let (nodes, field) = (Vec::new(), SharedField::default());
        let mut still = Self { bodies, boxes, balls, clouds, order, nodes, field };
        still.build(&bounds);
        still
    }

    /// The bodies, in the order that they were given.
    pub fn bodies(&self) -> &[StillBody] {
        &self.bodies
    }

    /// That of the pose of a body.
    #[inline(always)]
    pub(super) fn skew_of(&self, body: usize) -> f64 {
        self.boxes[body].pose_skew()
    }

    /// Indices of those that are clouds.
    pub(super) fn clouds(&self) -> &[usize] {
        &self.clouds
    }

    /// So many configurations are about to be asked about.
    pub(super) fn expect(&self, count: usize) {
        let around = |root: &StillNode| [root.middle - root.half, root.middle + root.half];
        self.field.expect(count, self.order.len(), self.nodes.first().map(around));
    }

    /// At most the distance of a point from all boxes.
    fn distance_at(&self, point: &Vec3) -> f64 {
        let mut least = f64::INFINITY;
        let Ok(()) = self.walk(point, 0.0, least, |_, clearance| {
            least = least.min(clearance);
            Ok::<f64, Infallible>(least)
        });
        least
    }

    /// Changes a cloud by `change`; none: that body is none. Its box is made anew.
    pub(super) fn change_cloud<T>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut BoxedCloud) -> T,
    ) -> Option<T> {
        let still = self.bodies.get_mut(index)?;
        let PartBody::Cloud(cloud) = &mut still.body else { return None };
        let changed = change(cloud);
        self.boxes[index] = still.placed_box();
        self.balls[index] = still.ball();
        Some(changed)
    }

    /// Memory that it takes, estimated, with the polytopes and the hulls of polyhedra.
    pub(super) fn heap_bytes(&self) -> usize {
        let bodies: usize = self.bodies.iter().map(|still| polytope_bytes(still.body.hull())).sum();
        let lists = size_of_val(self.boxes.as_slice())
            + size_of_val(self.balls.as_slice())
            + size_of_val(self.nodes.as_slice())
            + SharedField::bytes(self.order.len());
        let clouds: usize = self
            .bodies
            .iter()
            .filter_map(|still| still.body.cloud())
            .map(|one| one.heap_bytes())
            .sum();
        bodies + clouds + lists + self.bodies.len() * (size_of::<StillBody>() + size_of::<u32>())
    }

    /// The ball around a body: its centre and radius.
    #[inline(always)]
    pub fn ball_of(&self, body: usize) -> (Vec3, f64) {
        let ball = &self.balls[body];
        (ball.centre, ball.radius_at(&ball.centre))
    }

    /// The box around a body.
    #[inline(always)]
    pub fn box_of(&self, body: usize) -> &PlacedBox {
        &self.boxes[body]
    }

    fn build(&mut self, bounds: &[[Vec3; 2]]) {
        // Ranges of `order` that wait for their node.
        let mut waiting = vec![(0, self.order.len())];
        while let Some((first, end)) = waiting.pop() {
            if first == end {
                continue;
            }
            let inside = &mut self.order[first..end];
            let corner = |k: usize, pick: fn(f64, f64) -> f64| {
                let all = inside.iter().map(|body| bounds[*body as usize][k]);
                all.reduce(|a, b| a.zip_map(&b, pick)).expect("not empty")
            };
            let (low, high) = (corner(0, f64::min), corner(1, f64::max));
            let small = |index: usize| u32::try_from(index).expect("limited at the door");
            let is_leaf = inside.len() <= LEAF_BODIES_MAX;
            let bodies = if is_leaf { [small(first), small(end - first)] } else { [0, 0] };
            let half = (high - low) * 0.5;
            self.nodes.push(StillNode { middle: low + half, half, bodies, next: u32::MAX });
            if !is_leaf {
                let axis = half.imax();
                let middle = |body: &u32| bounds[*body as usize].map(|c| c[axis]);
                inside.sort_by(|a, b| {
                    let [a, b] = [middle(a), middle(b)];
                    (a[0] + a[1]).total_cmp(&(b[0] + b[1]))
                });
                let cut = first + (end - first) / 2;
                waiting.push((cut, end));
                waiting.push((first, cut));
            }
        }
        self.link();
    }

    /// Sets the node after each one's descendants: nodes stand in the order of a walk from above.
    fn link(&mut self) {
        let count = u32::try_from(self.nodes.len()).expect("limited at the door");
        // The number of leaves below is not kept: walk back, where children are known already.
        for at in (0..self.nodes.len()).rev() {
            let node = self.nodes[at];
            let small = |index: usize| u32::try_from(index).expect("limited at the door");
            self.nodes[at].next = if node.bodies[1] > 0 {
                small(at + 1)
            } else {
                let left = self.nodes[at + 1].next;
                self.nodes[left as usize].next
            };
        }
        debug_assert!(self.nodes.first().is_none_or(|root| root.next == count));
    }

    /// Calls `visit` with every body whose box may be nearer to the ball than `within`, and with
    /// the lower bound of its clearance; goes on with what that returns as `within`.
    #[inline(always)]
    pub fn near<E>(
        &self,
        centre: &Vec3,
        radius: f64,
        within: f64,
        visit: impl FnMut(usize, f64) -> Result<f64, E>,
    ) -> Result<(), E> {
        let reach = (radius + within.max(0.0)) * (1.0 + BOUND_SLACK);
        if self.field.is_beyond(centre, reach, |point| self.distance_at(point)) {
            return Ok(());
        }
        self.walk(centre, radius, within, visit)
    }

    /// The same by the tree alone.
    #[inline(always)]
    fn walk<E>(
        &self,
        centre: &Vec3,
        radius: f64,
        mut within: f64,
        mut visit: impl FnMut(usize, f64) -> Result<f64, E>,
    ) -> Result<(), E> {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            let beyond = (centre - node.middle).abs() - node.half;
            let outside = Vec3::new(beyond.x.max(0.0), beyond.y.max(0.0), beyond.z.max(0.0));
            let reach = radius + within.max(0.0);
            if outside.norm_squared() > reach * reach {
                at = node.next as usize;
                continue;
            }
            let [first, count] = node.bodies.map(|n| n as usize);
            for body in &self.order[first..first + count] {
                let body = *body as usize;
                let clearance = self.boxes[body].clearance_from(centre, radius);
                if clearance < within {
                    within = visit(body, clearance)?;
                }
            }
            at += 1;
        }
        Ok(())
    }
}
