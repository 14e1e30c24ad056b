//! Oriented bounding boxes in both frames: whether the hulls of each body's two boxes are apart.
//!
//! Source: Akgunduz, Banerjee, Mehrotra 2005, §5.1, step 1.
//!
//! A body's box is the one along its own axes. Extended over the step it is the hull of the box in
//! both frames, and what turning and the margin add is added to all sides. Directions that are
//! tried are those of the separating axes of two boxes that travel: normals of faces, and products
//! of two edges, the way of each body being an edge of its extended box. If both bodies also turn,
//! there may be others; then the boxes leave to the program what they could have answered.
//!
//! Proves: nothing; the caller proves the vector on the bodies themselves.
//! Cost: at most 34 directions, each with the middles and half sizes of at most four boxes.

use arrayvec::ArrayVec;

use super::{Frames, frames, off_chord};
use crate::contact_time::rotating::bounds::body::MovingBody;
use crate::contact_time::rotating::search::TurningSearch;
use crate::number::rounding::unit;
use crate::{Mat3, Vec3};

/// Three axes, and the way from the start to the end.
const EDGES_MAX: usize = 4;

/// A body's boxes in both frames, seen from P's pivot.
struct ExtendedBox {
    frames: Frames,
    /// Middle and half sizes in the body's frame.
    middle: Vec3,
    half: Vec3,
    /// What is added to all sides.
    inflation: f64,
}

/// The unit vector along which Q's extended box is farthest beyond P's, rounded; none if they meet.
pub(super) fn separating(look: &TurningSearch<'_>) -> Option<Vec3> {
    let pair = &look.moving.pair;
    let drift = -pair.p.plain.velocity;
    let p = ExtendedBox::new(&pair.p, Vec3::zeros(), drift, 0.0);
    let q = ExtendedBox::new(&pair.q, pair.between_rounded, drift, look.told.clear.max(0.0));
    let (of_p, of_q) = (p.edges(), q.edges());
    let products = of_p.iter().flat_map(|a| of_q.iter().map(move |b| a.cross(b)));
    let own = |body: &ExtendedBox| body.way().map(|way| body.axes(0).map(|a| way.cross(&a)));
    let travelled = own(&p).into_iter().chain(own(&q)).flatten();
    let normals = p.normals().chain(q.normals()).chain(travelled).chain(products);
    let mut widest = (0.0, None);
    for s in normals.filter_map(|normal| unit(&normal)).flat_map(|s| [s, -s]) {
        let gap = -q.reach(&-s) - p.reach(&s);
        if gap > widest.0 {
            widest = (gap, Some(s));
        }
    }
    widest.1
}

impl ExtendedBox {
    fn new(side: &MovingBody<'_>, start: Vec3, drift: Vec3, clear: f64) -> Self {
        let bounds = side.body.bounds();
        let [low, high] = [bounds.low, bounds.high].map(|corner| side.track.local(&corner));
        let bulge = if side.plain.turns() { off_chord(side) } else { 0.0 };
        Self {
            frames: frames(side, start, drift),
            middle: (low + high) * 0.5,
            half: (high - low) * 0.5,
            inflation: bulge + clear,
        }
    }

    /// The greatest value along s, of unit length.
    fn reach(&self, s: &Vec3) -> f64 {
        let of_frame = |(rotation, place): &(Mat3, Vec3)| {
            let local = rotation.tr_mul(s);
            s.dot(place) + local.dot(&self.middle) + local.abs().dot(&self.half)
        };
        self.frames.iter().map(of_frame).fold(f64::NEG_INFINITY, f64::max) + self.inflation
    }

    fn axes(&self, frame: usize) -> [Vec3; 3] {
        let (rotation, _) = &self.frames[frame];
        std::array::from_fn(|k| rotation.column(k).into_owned())
    }

    fn normals(&self) -> impl Iterator<Item = Vec3> + '_ {
        (0..self.frames.len()).flat_map(|frame| self.axes(frame))
    }

    /// From the box at the start to that at the end.
    fn way(&self) -> Option<Vec3> {
        let middle = |(rotation, place): &(Mat3, Vec3)| rotation * self.middle + place;
        Some(middle(self.frames.get(1)?) - middle(&self.frames[0]))
    }

    /// Of the first frame, and the way.
    fn edges(&self) -> ArrayVec<Vec3, EDGES_MAX> {
        self.axes(0).into_iter().chain(self.way()).collect()
    }
}
