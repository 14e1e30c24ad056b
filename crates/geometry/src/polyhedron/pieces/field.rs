//! About how far points are from the mesh: a grid of distances, looked up instead of measured.
//!
//! It ranks cuts and pieces. Nothing that is told rests on it: how far pieces stand out is measured
//! once they are chosen. All of it is in the frame.

use super::mesh::DecomposedMesh;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::BOUND_SLACK;
use crate::number::tolerance::{COLUMN_BESIDE, STEP_SINGLE};
use crate::polytope::Polytope;

/// Steps of the grid along the longest extent, and nodes in all, at most.
const STEPS_MAX: f64 = 64.0;
const NODES_MAX: f64 = 80_000.0;

/// How often the farthest point that was seen is moved to a farther one, in ever shorter steps.
const CLIMBS: u32 = 4;

/// See the module.
pub(super) struct Field<'a> {
    mesh: &'a DecomposedMesh<'a>,
    low: Vec3,
    step: f64,
    counts: [usize; 3],
    /// By x, then y, then z: the distance from the mesh, negative where it winds around the node.
    values: Vec<f32>,
}

/// What is looked for in a hull: the farthest point.
struct Farthest {
    distance: f64,
    point: Vec3,
}

impl<'a> Field<'a> {
    /// Bytes of the grid at most.
    pub(super) const BYTES_MAX: usize = 2 * NODES_MAX as usize * size_of::<f32>();

    /// Over the box from `low` to `high`.
    pub(super) fn new(
        mesh: &'a DecomposedMesh<'a>,
        [low, high]: [Vec3; 2],
        effort: &Effort<'_>,
    ) -> Result<Self, Stopped> {
        let extent = high - low;
        let mut step = (extent.max() / STEPS_MAX).max(f64::MIN_POSITIVE);
        let count = |x: f64, step: f64| (x / step).ceil() + 1.0;
        while extent.iter().map(|x| count(*x, step)).product::<f64>() > NODES_MAX {
            step *= 1.1;
        }
        let counts = [0, 1, 2].map(|k| count(extent[k], step) as usize);
        let mut field = Self { mesh, low, step, counts, values: Vec::new() };
        field.values.reserve_exact(counts.iter().product());
        for i in 0..counts[0] {
            for j in 0..counts[1] {
                let mut within = f64::INFINITY;
                for k in 0..counts[2] {
                    let p = field.node([i, j, k]);
                    let [_, distance] = mesh.surface.distance(&p, within);
                    within = distance + step * (1.0 + BOUND_SLACK);
                    let is_wound = mesh.is_closed() && mesh.surface.winding(&p, effort)? != 0;
                    effort.look_at_clock()?;
                    field.values.push(if is_wound { -distance } else { distance } as f32);
                }
            }
        }
        Ok(field)
    }

    fn node(&self, [i, j, k]: [usize; 3]) -> Vec3 {
        self.low + Vec3::new(i as f64, j as f64, k as f64) * self.step
    }

    fn value(&self, [i, j, k]: [usize; 3]) -> f64 {
        f64::from(self.values[(i * self.counts[1] + j) * self.counts[2] + k])
    }

    /// The nodes along an axis that are between two coordinates.
    fn between(&self, axis: usize, [low, high]: [f64; 2]) -> std::ops::Range<usize> {
        let at = |x: f64| ((x - self.low[axis]) / self.step).max(0.0);
        let end = (at(high).floor() as usize + 1).min(self.counts[axis]);
        (at(low).ceil() as usize).min(end)..end
    }

    /// No less than the distance of a point, by the nearest node.
    fn at_most(&self, p: &Vec3) -> f64 {
        let nearest = |k: usize| {
            let at = ((p[k] - self.low[k]) / self.step).round().max(0.0) as usize;
            at.min(self.counts[k] - 1)
        };
        let node = [0, 1, 2].map(nearest);
        self.value(node) + (p - self.node(node)).norm()
    }

    /// The distance of a point, if it is more than `more_than`; else 0.
    pub(super) fn distance(
        &self,
        p: &Vec3,
        more_than: f64,
        effort: &Effort<'_>,
    ) -> Result<f64, Stopped> {
        let most = self.at_most(p);
        if most <= more_than {
            return Ok(0.0);
        }
        let [_, distance] = self.mesh.surface.distance(p, most * (1.0 + BOUND_SLACK) + STEP_SINGLE);
        if distance <= more_than {
            return Ok(0.0);
        }
        let is_wound = self.mesh.is_closed() && self.mesh.surface.winding(p, effort)? != 0;
        Ok(if is_wound { 0.0 } else { distance })
    }

    /// About how far the farthest point of a hull is from the mesh.
    pub(super) fn excess(&self, hull: &Polytope, effort: &Effort<'_>) -> Result<f64, Stopped> {
        let mut best = Farthest { distance: 0.0, point: *hull.vertex(0) };
        if hull.dimension() == 3 {
            self.look_inside(hull, &mut best);
        }
        for row in hull.facets().rows() {
            for pair in row[1..].windows(2) {
                let triangle = [row[0], pair[0], pair[1]].map(|i| *hull.vertex(i));
                self.look_at(&triangle, &mut best, effort)?;
            }
        }
        if let [a, b] = hull.vertices() {
            self.look_along([*a, *b], &mut best, effort)?;
        }
        self.climb(hull, &mut best, effort)?;
        Ok(best.distance)
    }

    /// All nodes inside of a hull.
    fn look_inside(&self, hull: &Polytope, best: &mut Farthest) {
        let bounds = hull.bounds();
        let [across, along] = [0, 1].map(|k| self.between(k, [bounds.low[k], bounds.high[k]]));
        let width = along.len();
        let mut columns = vec![[f64::INFINITY, f64::NEG_INFINITY]; across.len() * width];
        for row in hull.facets().rows() {
            for pair in row[1..].windows(2) {
                let triangle = [row[0], pair[0], pair[1]].map(|i| *hull.vertex(i));
                self.raise(&triangle, [&across, &along], &mut columns);
            }
        }
        for (at, column) in columns.iter().enumerate() {
            let (i, j) = (across.start + at / width, along.start + at % width);
            for k in self.between(2, *column) {
                let value = self.value([i, j, k]);
                if value > best.distance {
                    *best = Farthest { distance: value, point: self.node([i, j, k]) };
                }
            }
        }
    }

    /// Where columns of nodes go through a triangle.
    fn raise(
        &self,
        [a, b, c]: &[Vec3; 3],
        [across, along]: [&std::ops::Range<usize>; 2],
        columns: &mut [[f64; 2]],
    ) {
        let (e, f) = (b - a, c - a);
        let area = e.x * f.y - e.y * f.x;
        if area.abs() <= 0.0 {
            return;
        }
        let (low, high) = (a.inf(b).inf(c), a.sup(b).sup(c));
        for i in self.between(0, [low.x, high.x]) {
            for j in self.between(1, [low.y, high.y]) {
                let d = self.node([i, j, 0]) - a;
                let (u, v) = ((d.x * f.y - d.y * f.x) / area, (e.x * d.y - e.y * d.x) / area);
                let is_over =
                    u >= -COLUMN_BESIDE && v >= -COLUMN_BESIDE && u + v <= 1.0 + COLUMN_BESIDE;
                if is_over && across.contains(&i) && along.contains(&j) {
                    let z = a.z + u * e.z + v * f.z;
                    let at = (i - across.start) * along.len() + (j - along.start);
                    let column = &mut columns[at];
                    *column = [column[0].min(z), column[1].max(z)];
                }
            }
        }
    }

    /// Points all over a triangle, about a step apart.
    fn look_at(
        &self,
        triangle: &[Vec3; 3],
        best: &mut Farthest,
        effort: &Effort<'_>,
    ) -> Result<(), Stopped> {
        let length = |k: usize| (triangle[k] - triangle[(k + 1) % 3]).norm();
        let longest = (0..3).max_by(|i, j| length(*i).total_cmp(&length(*j))).unwrap_or(0);
        let [a, b, c] = [0, 1, 2].map(|k| triangle[(longest + k) % 3]);
        let area = (b - a).cross(&(c - a)).norm();
        let rows = (area / length(longest).max(f64::MIN_POSITIVE) / self.step).ceil().max(1.0);
        for row in 0..rows as usize {
            let share = (row as f64 + 0.5) / rows;
            self.look_along([a + (c - a) * share, b + (c - b) * share], best, effort)?;
        }
        Ok(())
    }

    fn look_along(
        &self,
        [from, to]: [Vec3; 2],
        best: &mut Farthest,
        effort: &Effort<'_>,
    ) -> Result<(), Stopped> {
        let count = ((to - from).norm() / self.step).ceil().max(1.0);
        for at in 0..count as usize {
            let p = from + (to - from) * ((at as f64 + 0.5) / count);
            self.see(&p, best, effort)?;
        }
        Ok(())
    }

    fn see(&self, p: &Vec3, best: &mut Farthest, effort: &Effort<'_>) -> Result<bool, Stopped> {
        let distance = self.distance(p, best.distance, effort)?;
        if distance > best.distance {
            *best = Farthest { distance, point: *p };
            return Ok(true);
        }
        Ok(false)
    }

    /// Moves the farthest point towards vertices of the hull as long as it gets farther.
    fn climb(
        &self,
        hull: &Polytope,
        best: &mut Farthest,
        effort: &Effort<'_>,
    ) -> Result<(), Stopped> {
        if best.distance <= 0.0 {
            return Ok(());
        }
        let vertices = hull.vertices();
        let few = (vertices.len() / 32).max(1);
        for halving in 0..CLIMBS {
            let reach = self.step / f64::from(1_u32 << halving);
            let from = best.point;
            for towards in vertices.iter().step_by(few) {
                let way = towards - from;
                let length = way.norm();
                if length > 0.0 {
                    self.see(&(from + way * (reach / length).min(1.0)), best, effort)?;
                }
            }
        }
        Ok(())
    }
}
