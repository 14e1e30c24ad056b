//! The triangles of the mesh: how far a point is from them, and how often they wind around it.

use std::cell::Cell;

use super::super::tree::{Extent, Tree};
use super::sheets::Sheet;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::orientation::{Axis, Side, Turn, side_of_plane, turn};
use crate::number::rounding::{BOUND_SLACK, unit};
use crate::number::tolerance::NEAREST_ROUGH;

/// See the module. Coordinates are at most about one.
pub(in crate::polyhedron) struct MeshSurface {
    triangles: Vec<[Vec3; 3]>,
    /// How often each winds around what is on its inner side.
    winds: Vec<i64>,
    tree: Tree,
    boxes: Vec<Extent>,
    /// Boxes that were looked at so far.
    looks: Cell<u64>,
}

impl MeshSurface {
    /// Over at least one sheet.
    pub(in crate::polyhedron) fn new(
        points: &[Vec3],
        sheets: &[Sheet],
        effort: &Effort<'_>,
    ) -> Result<Self, Stopped> {
        effort.look_at_clock()?;
        let triangles: Vec<[u32; 3]> = sheets.iter().map(|sheet| sheet.corners).collect();
        let tree = Tree::build(points, &triangles);
        effort.look_at_clock()?;
        let boxes = tree.boxes(points, &triangles, 0.0);
        let corners = |triangle: &[u32; 3]| triangle.map(|i| points[i as usize]);
        let triangles = triangles.iter().map(corners).collect();
        let winds = sheets.iter().map(|sheet| sheet.winds).collect();
        Ok(Self { triangles, winds, tree, boxes, looks: Cell::new(0) })
    }

    /// Boxes that were looked at so far, whatever was asked.
    pub(in crate::polyhedron) fn looks(&self) -> u64 {
        self.looks.get()
    }

    /// The triangles, each once.
    pub(in crate::polyhedron) fn triangles(&self) -> &[[Vec3; 3]] {
        &self.triangles
    }

    /// Six times the volume that the triangles wind around, rounded.
    pub(in crate::polyhedron) fn six_volumes(&self) -> f64 {
        let each = self.triangles.iter().zip(&self.winds);
        each.map(|([a, b, c], winds)| *winds as f64 * a.dot(&b.cross(c))).sum()
    }

    /// Around the distance of a point from the nearest triangle, given a number that is no less.
    pub(in crate::polyhedron) fn distance(&self, p: &Vec3, within: f64) -> [f64; 2] {
        let (mut lower, mut upper) = (within, within);
        self.visit(p, within, |triangle| {
            let [low, high] = distance_of(triangle, p);
            lower = lower.min(low);
            upper = upper.min(high);
            upper
        });
        [lower.min(upper) - BOUND_SLACK, upper + BOUND_SLACK]
    }

    /// The nearest point of the triangles, up to rounding.
    pub(in crate::polyhedron) fn nearest(&self, p: &Vec3) -> Vec3 {
        let (mut best, mut least) = (*p, f64::INFINITY);
        self.visit(p, least, |triangle| {
            let point = nearest_on(triangle, p);
            let distance = (point - p).norm();
            if distance < least {
                (best, least) = (point, distance);
            }
            least
        });
        best
    }

    /// Shows triangles that may be nearer than `within`, or than what was said of the last one.
    fn visit(&self, p: &Vec3, mut within: f64, mut look: impl FnMut(&[Vec3; 3]) -> f64) {
        let mut open = vec![(self.tree.root(), 0.0)];
        while let Some((node, least)) = open.pop() {
            self.looks.set(self.looks.get() + 1);
            if least > within * within {
                continue;
            }
            let Some(halves) = node.children() else {
                within = look(&self.triangles[self.tree.triangle(node) as usize]);
                continue;
            };
            let [first, second] = halves.map(|half| (half, self.box_distance(half.at, p)));
            if first.1 < second.1 {
                open.extend([second, first]);
            } else {
                open.extend([first, second]);
            }
        }
    }

    /// At least the distance of any point of a triangle from the mesh: the triangle of the mesh
    /// that is nearest to a point of it is convex, and so no point is farther from that than a
    /// corner.
    pub(super) fn at_most_of(&self, piece: &[Vec3; 3], middle: &Vec3) -> f64 {
        let (mut nearest, mut least) = (None, f64::INFINITY);
        self.visit(middle, least, |triangle| {
            let distance = (nearest_on(triangle, middle) - middle).norm();
            if distance < least {
                (nearest, least) = (Some(*triangle), distance);
            }
            least
        });
        let far = |p: &Vec3| nearest.map_or(f64::INFINITY, |found| distance_of(&found, p)[1]);
        piece.iter().map(far).fold(0.0, f64::max) + BOUND_SLACK
    }

    /// Whether something holds of all triangles that may be as near to a point as `within`, each
    /// with its place in the list.
    pub(super) fn all_within(
        &self,
        p: &Vec3,
        within: f64,
        mut holds: impl FnMut(usize, &[Vec3; 3]) -> Result<bool, Stopped>,
    ) -> Result<bool, Stopped> {
        let mut open = vec![self.tree.root()];
        while let Some(node) = open.pop() {
            self.looks.set(self.looks.get() + 1);
            if self.box_distance(node.at, p) > within * within {
                continue;
            }
            match node.children() {
                Some(halves) => open.extend(halves),
                None => {
                    let at = self.tree.triangle(node) as usize;
                    if !holds(at, &self.triangles[at])? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// The square of the distance from a box, rounded.
    #[inline]
    fn box_distance(&self, at: u32, p: &Vec3) -> f64 {
        let extent = &self.boxes[at as usize];
        let beyond = |k: usize| (extent.low[k] - p[k]).max(p[k] - extent.high[k]).max(0.0);
        // Written out: a closure over an array would be called for each of its elements.
        let (x, y, z) = (beyond(0), beyond(1), beyond(2));
        x * x + y * y + z * z
    }

    /// How often a closed mesh winds around a point that is on no triangle, exactly: the triangles
    /// that a ray along x leaves through, less those that it enters through. The ray is moved aside
    /// by `(0, ε, ε²)` for an ε smaller than every positive number, so it meets no edge. Each box
    /// is a step.
    pub(in crate::polyhedron) fn winding(
        &self,
        p: &Vec3,
        effort: &Effort<'_>,
    ) -> Result<i64, Stopped> {
        self.winding_by(p, effort, |triangle| crossed(triangle, p))
    }

    /// The sum, with their numbers, of what `crossed` says of the triangles that a ray along x from
    /// `p` may meet.
    fn winding_by(
        &self,
        p: &Vec3,
        effort: &Effort<'_>,
        crossed: impl Fn(&[Vec3; 3]) -> i64,
    ) -> Result<i64, Stopped> {
        let mut winding = 0;
        let mut open = vec![self.tree.root()];
        while let Some(node) = open.pop() {
            effort.look_at_clock()?;
            self.looks.set(self.looks.get() + 1);
            let extent = &self.boxes[node.at as usize];
            let may_meet = extent.high.x >= p.x
                && (1..3).all(|k| extent.low[k] <= p[k] && p[k] <= extent.high[k]);
            if !may_meet {
                continue;
            }
            match node.children() {
                Some(halves) => open.extend(halves),
                None => {
                    let at = self.tree.triangle(node) as usize;
                    winding += self.winds[at] * crossed(&self.triangles[at]);
                }
            }
        }
        Ok(winding)
    }
}

/// Which way a point is moved from where it is told, by less than any positive number: a sign for
/// each axis.
#[derive(Clone, Copy, Debug)]
pub(in crate::polyhedron) struct Toward(pub(in crate::polyhedron) [bool; 3]);

impl MeshSurface {
    /// [`Self::winding`] of a point beside `p`, which may be on triangles: moved along y by ε,
    /// along z by ε², along x by ε³, forward where `toward` says so, for an ε smaller than every
    /// positive number.
    pub(in crate::polyhedron) fn winding_beside(
        &self,
        p: &Vec3,
        toward: Toward,
        effort: &Effort<'_>,
    ) -> Result<i64, Stopped> {
        self.winding_by(p, effort, |triangle| crossed_beside(triangle, p, toward))
    }
}

/// [`crossed`] of a point that is moved.
fn crossed_beside([a, b, c]: &[Vec3; 3], p: &Vec3, Toward(ahead): Toward) -> i64 {
    let facing = turn(Axis::X, a, b, c);
    let is_within = || {
        [[a, b], [b, c], [c, a]].iter().all(|[u, v]| {
            let by = |k: usize, from: f64, to: f64| {
                let way = if ahead[k] { from.total_cmp(&to) } else { to.total_cmp(&from) };
                turn_of(way)
            };
            let moved = || [by(1, u.z, v.z), by(2, v.y, u.y)];
            let first = |turned: Turn| match turned {
                Turn::Straight => moved().into_iter().find(|s| *s != Turn::Straight),
                turned @ (Turn::Left | Turn::Right) => Some(turned),
            };
            first(turn(Axis::X, p, u, v)) == Some(facing)
        })
    };
    if facing == Turn::Straight || !is_within() {
        return 0;
    }
    // In the plane itself the normal says which side the moved point is on; it has an x.
    let on = || {
        let of = |axis: Axis| (axis.index(), turn(axis, a, b, c));
        let mut along = [Axis::Y, Axis::Z, Axis::X].map(of).into_iter();
        let (k, turned) = along.find(|(_, turned)| *turned != Turn::Straight)?;
        Some(if (turned == Turn::Left) == ahead[k] { Side::Above } else { Side::Below })
    };
    let side = match side_of_plane(a, b, c, p) {
        Side::On => on(),
        side @ (Side::Above | Side::Below) => Some(side),
    };
    match (facing, side) {
        (Turn::Left, Some(Side::Below)) => 1,
        (Turn::Right, Some(Side::Above)) => -1,
        (Turn::Left | Turn::Right | Turn::Straight, _) => 0,
    }
}

fn turn_of(sign: std::cmp::Ordering) -> Turn {
    match sign {
        std::cmp::Ordering::Less => Turn::Right,
        std::cmp::Ordering::Equal => Turn::Straight,
        std::cmp::Ordering::Greater => Turn::Left,
    }
}

/// One if the ray leaves through the triangle, minus one if it enters, else 0.
fn crossed([a, b, c]: &[Vec3; 3], p: &Vec3) -> i64 {
    let facing = turn(Axis::X, a, b, c);
    let is_within = || [[a, b], [b, c], [c, a]].iter().all(|[u, v]| seen(p, u, v) == facing);
    // Seen along x, the triangle is a segment, which the moved ray misses.
    if facing == Turn::Straight || !is_within() {
        return 0;
    }
    match (facing, side_of_plane(a, b, c, p)) {
        (Turn::Left, Side::Below) => 1,
        (Turn::Right, Side::Above) => -1,
        (Turn::Left | Turn::Right | Turn::Straight, Side::Above | Side::On | Side::Below) => 0,
    }
}

/// How the moved point, `u` and `v` turn seen from the end of x. `(u - p) x (v - p)` changes by
/// `-s x (v - u)` when p is moved by s.
fn seen(p: &Vec3, u: &Vec3, v: &Vec3) -> Turn {
    let steps = || [turn_of(u.z.total_cmp(&v.z)), turn_of(v.y.total_cmp(&u.y))];
    match turn(Axis::X, p, u, v) {
        Turn::Straight => {
            steps().into_iter().find(|s| *s != Turn::Straight).unwrap_or(Turn::Straight)
        }
        turned @ (Turn::Left | Turn::Right) => turned,
    }
}

/// Around the distance of a point from a triangle: a point of the triangle is no nearer, and no
/// corner is nearer than `lower` along the way to it.
fn distance_of(triangle: &[Vec3; 3], p: &Vec3) -> [f64; 2] {
    let along = |nearest: Vec3| -> [f64; 2] {
        let away = p - nearest;
        let high = away.norm();
        let Some(direction) = unit(&away) else { return [0.0, high] };
        let low = triangle.iter().map(|corner| direction.dot(&(p - corner))).fold(high, f64::min);
        [low.max(0.0), high]
    };
    let [low, high] = along(nearest_on(triangle, p));
    if low >= high * (1.0 - NEAREST_ROUGH) {
        return [low, high];
    }
    // A triangle too thin for its normal: its edges are as near as it is.
    let [a, b, c] = triangle;
    let edges = [[a, b], [b, c], [c, a]].map(|ends| along(nearest_on_segment(ends, p)));
    edges.iter().fold([low, high], |[low, high], edge| [low.max(edge[0]), high.min(edge[1])])
}

fn nearest_on_segment([a, b]: [&Vec3; 2], p: &Vec3) -> Vec3 {
    let way = b - a;
    let squared = way.norm_squared();
    // A segment without length is its end.
    let share = if squared > 0.0 { (p - a).dot(&way) / squared } else { 0.0 };
    a + way * share.clamp(0.0, 1.0)
}

/// The nearest point of a triangle, rounded, by the regions of its corners and edges (Ericson,
/// *Real-Time Collision Detection*, 2005, §5.1.5).
fn nearest_on([a, b, c]: &[Vec3; 3], p: &Vec3) -> Vec3 {
    let (ab, ac) = (b - a, c - a);
    let from = |corner: &Vec3| (ab.dot(&(p - corner)), ac.dot(&(p - corner)));
    let (d1, d2) = from(a);
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let (d3, d4) = from(b);
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let (d5, d6) = from(c);
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let of_c = d1 * d4 - d3 * d2;
    if of_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return nearest_on_segment([a, b], p);
    }
    let of_b = d5 * d2 - d1 * d6;
    if of_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return nearest_on_segment([a, c], p);
    }
    let of_a = d3 * d6 - d5 * d4;
    if of_a <= 0.0 && d4 >= d3 && d5 >= d6 {
        return nearest_on_segment([b, c], p);
    }
    let all = of_a + of_b + of_c;
    let (v, w) = ((of_b / all).clamp(0.0, 1.0), (of_c / all).clamp(0.0, 1.0));
    if v + w <= 1.0 { a + ab * v + ac * w } else { nearest_on_segment([b, c], p) }
}
