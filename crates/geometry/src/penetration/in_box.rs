//! How deep a solid is in a box, from every face of their difference M at once: floating point,
//! with a bound of all that is rounded.
//!
//! With u a unit vector, let `F(u)` be how far the solid reaches along u beyond the box's side that
//! looks against u: moving the solid by `-F(u) u` separates. The bodies overlap if and only if F is
//! positive everywhere, and their depth is its least value, which it takes at the normal of a face
//! of M: at that of a face of the solid, or of the box, or of an edge of each. An edge of the solid
//! makes a face with an edge of the box along the axis k where the normals of its two faces are on
//! different sides of the plane across k; its normal is the product of both edges.
//!
//! What is measured is an ideal pair: rotations made orthogonal. The rotation R of a pose is within
//! `δ = |RᵀR - I|` of one that is (its polar factor), so no point of the ideal bodies is farther
//! from the exact one than δ times its distance from the body's middle, F is off by no more along
//! any u, and so is its least value. Beside that:
//!
//! - F is Lipschitz with `ρ`, the greatest distance of a point of M from the origin: a normal that
//!   is known within e shifts its value by at most `ρ e`.
//! - A face of the solid is known to the error of its normal in [`FaceTable`] and of the rotation;
//!   the product of edges to twice the error of the rotated edge over the sine between the two.
//! - Whether normals are on different sides may be lost in rounding. Then one of them is within its
//!   error of the plane, the product within that error over the sine of that normal, and counting
//!   it as a face shifts nothing by more than ρ times that. If both are, the edges are parallel;
//!   along the arc between the normals the box's term of k is at most its half size times their
//!   distance from the plane, so leaving the face out shifts the least value by no more.
//!
//! Source: S. Gottschalk, M. C. Lin, D. Manocha, "OBBTree", SIGGRAPH 1996 (separating axes);
//!         D. Gregorius, "The Separating Axis Test", Game Developers Conference 2013 (edges of a
//!         difference by the Gauss map); bounds and the proof of overlap are our own.
//! Cost:   a pass over vertices, faces and edges, some microseconds for a hundred of each.

use crate::number::rounding::UNIT;
use crate::number::tolerance::{ARC_ENDS, DEPTH_WIDTH};
use crate::pair::{Pair, Placed};
use crate::polytope::{FaceTable, VectorBlock, WIDE};
use crate::pose::Pose;
use crate::{Mat3, Vec3, processor};

/// What a pass found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoxDepth {
    /// The bodies overlap, by a depth in this bracket; moving P by it along the unit vector
    /// separates, up to rounding.
    Deep {
        /// At most the exact depth, metres; more than zero.
        lower: f64,
        /// At least the exact depth, metres.
        upper: f64,
        /// The unit vector along which P leaves Q after that depth, rounded.
        direction: Vec3,
    },
    /// They do not overlap by more than what is of no interest.
    Shallow,
    /// Rounding leaves it open, or neither body is a box.
    Unknown,
}

/// The memory of a pass.
#[derive(Clone, Debug, Default)]
pub struct BoxDepthMemory {
    normals: Vec<VectorBlock>,
    /// Of each normal and axis, whether it is certainly on one side, and on the other, see
    /// [`signs_of`].
    signs: Vec<[u8; WIDE]>,
    points: Vec<VectorBlock>,
}

/// The vector with this index.
#[inline(always)]
fn vector(blocks: &[VectorBlock], index: usize) -> [f64; 3] {
    let block = &blocks[index / WIDE];
    [0, 1, 2].map(|k| block[k][index % WIDE])
}

/// Bits 0 to 2: a coordinate is more than the error; bits 3 to 5: less than minus that.
#[inline(always)]
fn signs_of(block: &VectorBlock, error: f64) -> [u8; WIDE] {
    std::array::from_fn(|lane| {
        (0..3).fold(0, |bits, k| {
            let x = block[k][lane];
            bits | u8::from(x > error) << k | u8::from(x < -error) << (k + 3)
        })
    })
}

/// All bits of one or the other side.
const EVERY_AXIS: u8 = 7;

/// The depth of a pair of which one is a box along its own axes. Depths up to `enough` are of no
/// interest.
pub fn depth_in_box(pair: &Pair<'_>, enough: f64, memory: &mut BoxDepthMemory) -> BoxDepth {
    let Some([p, q]) = pair.p.body.face_table().zip(pair.q.body.face_table()).map(<[_; 2]>::from)
    else {
        return BoxDepth::Unknown;
    };
    let (placed, sign) = match (q.is_box, p.is_box) {
        (true, _) => ([&pair.p, &pair.q], 1.0),
        (false, true) => ([&pair.q, &pair.p], -1.0),
        (false, false) => return BoxDepth::Unknown,
    };
    let table = if sign > 0.0 { p } else { q };
    processor::dispatch(
        #[inline(always)]
        || match Pass::new(table, placed).run(enough, memory) {
            BoxDepth::Deep { lower, upper, direction } => {
                let direction = placed[1].pose.rotation * (direction * -sign);
                BoxDepth::Deep { lower, upper, direction: direction.normalize() }
            }
            other @ (BoxDepth::Shallow | BoxDepth::Unknown) => other,
        },
    )
}

/// At least the depth of a pair, from the faces of each body and of the box around the other: what
/// separates a body from that box separates it from what the box holds. Infinite where a body has
/// no table of faces.
pub fn depth_at_most(pair: &Pair<'_>, memory: &mut BoxDepthMemory) -> f64 {
    let Some((p, q)) = pair.p.body.face_table().zip(pair.q.body.face_table()) else {
        return f64::INFINITY;
    };
    processor::dispatch(
        #[inline(always)]
        || {
            let mut bound = |table, placed| {
                let mut pass = Pass::new(table, placed);
                pass.faces_of_the_box(&mut memory.points);
                pass.faces_of_the_solid(memory);
                pass.least.upper + pass.base_error
            };
            bound(p, [&pair.p, &pair.q]).min(bound(q, [&pair.q, &pair.p]))
        },
    )
}

/// The solid in the frame of the box's middle.
struct Pass<'a> {
    table: &'a FaceTable,
    turn: Mat3,
    shift: Vec3,
    half: Vec3,
    /// At least the greatest distance of a point of M from the origin: ρ above.
    reach: f64,
    /// The error of the rotation between the frames.
    turn_error: f64,
    /// What every value errs by: the place, and how far the ideal bodies are from the exact ones.
    base_error: f64,
    least: Least,
}

/// The least value so far.
struct Least {
    lower: f64,
    upper: f64,
    value: f64,
    direction: [f64; 3],
}

impl Least {
    #[inline(always)]
    fn take(&mut self, value: f64, error: f64, direction: [f64; 3]) {
        self.lower = self.lower.min(value - error);
        self.upper = self.upper.min(value + error);
        if value < self.value {
            (self.value, self.direction) = (value, direction);
        }
    }
}

/// An edge of the solid and those of the box along one of its axes, in the box's frame.
#[derive(Clone, Copy)]
struct EdgePair<'a> {
    /// The axis: 0, 1 or 2.
    axis: usize,
    /// An end of the solid's edge.
    end: &'a [f64; 3],
    /// Along the solid's edge.
    along: [f64; 3],
    /// The sum of the normals of the two faces that the solid's edge is between.
    sum: [f64; 3],
}

/// At least `|RᵀR - I|`: three times its greatest entry, each of which rounds by less than 4u.
#[inline(always)]
fn skew(rotation: &Mat3) -> f64 {
    3.0 * ((rotation.tr_mul(rotation) - Mat3::identity()).amax() + 4.0 * UNIT)
}

impl<'a> Pass<'a> {
    #[inline(always)]
    fn new(table: &'a FaceTable, [solid, cuboid]: [&Placed<'_>; 2]) -> Self {
        let bounds = cuboid.body.bounds();
        let half = (bounds.high - bounds.low) * 0.5;
        let middle = bounds.low + half;
        let (a, b): (&Pose, &Pose) = (&solid.pose, &cuboid.pose);
        let to =
            (a.rotation * table.centre + a.translation) - (b.rotation * middle + b.translation);
        let (turn, shift) = (b.rotation.tr_mul(&a.rotation), b.rotation.tr_mul(&to));
        let skews = [skew(&a.rotation), skew(&b.rotation)];
        // Every coordinate that `to` is a sum of: it rounds by less than 8u of that, each of three.
        let size = table.centre.abs().sum() + bounds.low.abs().sum() + bounds.high.abs().sum();
        let size = size + a.translation.abs().sum() + b.translation.abs().sum();
        let shift_error = 16.0 * UNIT * size + (skews[1] + 8.0 * UNIT) * to.abs().sum();
        let ideal = skews[0] * table.radius + skews[1] * half.norm();
        let least = Least {
            lower: f64::INFINITY,
            upper: f64::INFINITY,
            value: f64::INFINITY,
            direction: [0.0; 3],
        };
        // One percent covers the rounding of bounds, which are small themselves.
        Self {
            table,
            turn,
            shift,
            half,
            reach: 1.01 * (table.radius + shift.norm() + half.norm()),
            // Each entry of the product rounds by 3u.
            turn_error: 1.01 * (skews[0] + skews[1]) + 10.0 * UNIT,
            base_error: 1.01 * (shift_error + ideal),
            least,
        }
    }

    #[inline(always)]
    fn run(mut self, enough: f64, memory: &mut BoxDepthMemory) -> BoxDepth {
        self.faces_of_the_box(&mut memory.points);
        if self.least.upper + self.base_error <= enough {
            return BoxDepth::Shallow;
        }
        self.faces_of_the_solid(memory);
        if self.least.upper + self.base_error <= enough {
            return BoxDepth::Shallow;
        }
        let Some(left_out) = self.pairs_of_edges(memory) else { return BoxDepth::Unknown };
        let lower = self.least.lower - self.base_error - left_out;
        let upper = self.least.upper + self.base_error;
        if upper <= enough {
            return BoxDepth::Shallow;
        }
        let size = self.table.radius.min(self.half.norm());
        // Written so that NaN is unknown.
        if !(lower > 0.0 && upper - lower <= DEPTH_WIDTH * size) {
            return BoxDepth::Unknown;
        }
        BoxDepth::Deep { lower, upper, direction: self.least.direction.into() }
    }

    #[inline(always)]
    fn turned(&self, v: &[f64; 3]) -> [f64; 3] {
        let m = &self.turn;
        [0, 1, 2].map(|i| (m[(i, 0)] * v[0] + m[(i, 1)] * v[1]) + m[(i, 2)] * v[2])
    }

    /// The vectors of a block, turned.
    #[inline(always)]
    fn turned_block(&self, [x, y, z]: &VectorBlock) -> VectorBlock {
        let m = &self.turn;
        [0, 1, 2].map(|i| {
            std::array::from_fn(|lane| {
                (m[(i, 0)] * x[lane] + m[(i, 1)] * y[lane]) + m[(i, 2)] * z[lane]
            })
        })
    }

    #[inline(always)]
    fn faces_of_the_box(&mut self, points: &mut Vec<VectorBlock>) {
        points.clear();
        let (mut low, mut high) = ([[f64::INFINITY; WIDE]; 3], [[f64::NEG_INFINITY; WIDE]; 3]);
        for block in &self.table.points {
            let turned = self.turned_block(block);
            for k in 0..3 {
                for lane in 0..WIDE {
                    let x = turned[k][lane];
                    low[k][lane] = if x < low[k][lane] { x } else { low[k][lane] };
                    high[k][lane] = if x > high[k][lane] { x } else { high[k][lane] };
                }
            }
            points.push(turned);
        }
        let error = self.reach * (self.turn_error + 8.0 * UNIT);
        for k in 0..3 {
            let low = low[k].into_iter().fold(f64::INFINITY, f64::min);
            let high = high[k].into_iter().fold(f64::NEG_INFINITY, f64::max);
            let mut axis = [0.0; 3];
            axis[k] = 1.0;
            self.least.take(high + self.shift[k] + self.half[k], error, axis);
            axis[k] = -1.0;
            self.least.take(self.half[k] - self.shift[k] - low, error, axis);
        }
    }

    #[inline(always)]
    fn faces_of_the_solid(&mut self, memory: &mut BoxDepthMemory) {
        let BoxDepthMemory { normals, signs, .. } = memory;
        normals.clear();
        signs.clear();
        let (shift, half, reach) = (self.shift, self.half, self.reach);
        let certain = self.turn_error + self.table.worst_error + 8.0 * UNIT;
        let [mut lower, mut upper, mut least] = [[f64::INFINITY; WIDE]; 3];
        let mut at = [0.0; WIDE];
        for (index, block) in self.table.faces.iter().enumerate() {
            let turned = self.turned_block(&block.normals);
            let [x, y, z] = &turned;
            let index = index as f64;
            for lane in 0..WIDE {
                let along = (x[lane] * shift.x + y[lane] * shift.y) + z[lane] * shift.z;
                let side =
                    (x[lane].abs() * half.x + y[lane].abs() * half.y) + z[lane].abs() * half.z;
                let error = reach * (self.turn_error + block.errors[lane] + 16.0 * UNIT);
                let value = (block.offsets[lane] + along) + side;
                let (low, high) = (value - error, value + error);
                lower[lane] = if low < lower[lane] { low } else { lower[lane] };
                upper[lane] = if high < upper[lane] { high } else { upper[lane] };
                at[lane] = if value < least[lane] { index } else { at[lane] };
                least[lane] = if value < least[lane] { value } else { least[lane] };
            }
            signs.push(signs_of(&turned, certain));
            normals.push(turned);
        }
        for lane in 0..WIDE {
            let of = &mut self.least;
            of.lower = of.lower.min(lower[lane]);
            of.upper = of.upper.min(upper[lane]);
            if least[lane] < of.value {
                let block = &normals[at[lane] as usize];
                (of.value, of.direction) = (least[lane], [0, 1, 2].map(|k| block[k][lane]));
            }
        }
    }

    /// By how much the faces that are left out can shift the least value; none: a sign is lost.
    #[inline(always)]
    fn pairs_of_edges(&mut self, memory: &BoxDepthMemory) -> Option<f64> {
        let mut left_out: f64 = 0.0;
        for edge in &self.table.edges {
            let faces = edge.faces.map(|face| face as usize);
            let [p, q] = faces.map(|face| memory.signs[face / WIDE][face % WIDE]);
            // Most edges are one-sided along every axis, which the signs tell.
            let both = p & q;
            if (both | both >> 3) & EVERY_AXIS == EVERY_AXIS {
                continue;
            }
            let [a, b] = faces.map(|face| vector(&memory.normals, face));
            let errors = faces.map(|face| self.table.faces[face / WIDE].errors[face % WIDE]);
            let error = self.turn_error + errors[0].max(errors[1]) + 8.0 * UNIT;
            for k in 0..3 {
                let is_one_sided =
                    (a[k] > error && b[k] > error) || (a[k] < -error && b[k] < -error);
                if is_one_sided {
                    continue;
                }
                let sum = [0, 1, 2].map(|i| a[i] + b[i]);
                if a[k].abs().max(b[k].abs()) <= error {
                    let length = ((sum[0] * sum[0] + sum[1] * sum[1]) + sum[2] * sum[2]).sqrt();
                    left_out = left_out.max(16.0 * self.half[k] * error / length);
                    continue;
                }
                // Where the pair may make no face, its product is within this of a normal beside
                // it.
                let is_certain = a[k].abs().min(b[k].abs()) > error;
                let error = if is_certain { 0.0 } else { 4.0 * error };
                let point = &vector(&memory.points, edge.end as usize);
                let along = self.turned(&edge.along);
                if !self.pair_of_edges(EdgePair { axis: k, end: point, along, sum }, error) {
                    return None;
                }
            }
        }
        Some(left_out)
    }

    /// The face of an edge of the solid and those of the box along the axis k; false: which of its
    /// sides is outside is lost.
    #[inline(always)]
    fn pair_of_edges(&mut self, edges: EdgePair<'_>, error: f64) -> bool {
        let EdgePair { axis: k, end: point, along, sum } = edges;
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let sine = (along[i] * along[i] + along[j] * along[j]).sqrt();
        let mut u = [0.0; 3];
        (u[i], u[j]) = (along[j] / sine, -along[i] / sine);
        let outward = u[i] * sum[i] + u[j] * sum[j];
        if outward.is_nan() || outward.abs() <= ARC_ENDS {
            return false;
        }
        if outward < 0.0 {
            (u[i], u[j]) = (-u[i], -u[j]);
        }
        let place = u[i] * (point[i] + self.shift[i]) + u[j] * (point[j] + self.shift[j]);
        let value = place + (u[i].abs() * self.half[i] + u[j].abs() * self.half[j]);
        let turned = 2.0 * (self.turn_error + 12.0 * UNIT) + error;
        let error = self.reach * (turned / sine + self.turn_error + 16.0 * UNIT);
        self.least.take(value, error, u);
        true
    }
}

#[cfg(test)]
mod tests;
