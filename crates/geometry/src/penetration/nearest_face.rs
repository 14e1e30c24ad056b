//! The face of M nearest the origin, by growing a shell where it is nearest.
//!
//! Every point of the shell is in M, so the depth is at least the distance of the shell's nearest
//! face; and when no vertex of M lies beyond that face's plane, the plane supports M and the depth
//! is its distance. Otherwise such a vertex becomes a corner, and the shell grows. M has finitely
//! many vertices, so it ends.
//!
//! Source: G. van den Bergen, "Proximity queries and penetration depth computation on 3D game
//!         objects", Game Developers Conference 2001 (the expanding polytope), here with exact
//!         orientation, exact supports and no tolerance.
//! Cost:   two supports and a handful of faces a step; the steps grow with the number of faces of M
//!         that are nearly as close as the nearest.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::depth_bound::DepthBound;
use super::shell::Shell;
use super::{Depth, rounded_shell};
use crate::Vec3;
use crate::claim::{Direction, Surface};
use crate::difference::bounded::BoundedView;
use crate::difference::exact::Difference;
use crate::effort::{Effort, Stopped};
use crate::number::outward;
use crate::number::scaled::{
    Integers, dot, integer_at, least_exponent, negated, rounded_direction,
};
use crate::number::tolerance::FACE_HEIGHT_WIDTH;
use crate::pair::{Pair, VertexPair};
use crate::separation::Decision;

/// A face in the queue: the nearest first, of equally near ones the oldest. The key is the bits of
/// a lower bound of its distance, which is not negative, so they are in the order of the numbers.
type Queued = Reverse<(u64, u32)>;

/// Measures a pair that overlaps; the origin is strictly inside the hull of the differences of
/// `pairs`.
pub(super) fn measure(
    pair: &Pair<'_>,
    decision: Decision,
    pairs: &[VertexPair],
    with_surface: bool,
    effort: &mut Effort<'_>,
) -> Depth {
    let (m, view) = (Difference::new(pair), BoundedView::new(pair));
    let mut shell = Shell::around(&m, &view, pairs).expect("the pairs enclose the origin");
    let nearest = FaceSearch::new(&mut shell, &m, &view).run(effort);
    let surface = with_surface.then(|| surface(&shell));
    let NearestFace { lower, upper, direction, unit, stopped } = nearest;
    Depth { decision, lower, upper, direction: unit, face: Some(direction), surface, stopped }
}

/// The unit normal of the face that is nearest as far as floating point tells: no vertex that is
/// found by climbing lies beyond its plane. None: coordinates are beyond what is safe to round, or
/// the face is too thin.
pub(super) fn rounded_normal(
    pair: &Pair<'_>,
    pairs: &[VertexPair],
    effort: &mut Effort<'_>,
) -> Result<Option<Vec3>, Stopped> {
    let view = BoundedView::new(pair);
    if !view.is_safe() {
        return Ok(None);
    }
    if let Some(normal) = rounded_shell::nearest_normal(&view, pairs, effort)? {
        return Ok(Some(normal));
    }
    let m = Difference::new(pair);
    let Some(mut shell) = Shell::around(&m, &view, pairs) else { return Ok(None) };
    let mut search = FaceSearch::new(&mut shell, &m, &view);
    while let Some((face, _)) = search.next() {
        effort.spend_step()?;
        if !search.grow_likely(face, effort) {
            let normal = search.shell.normal(face);
            let unit = normal / normal.norm();
            return Ok(unit.iter().all(|c| c.is_finite()).then_some(unit));
        }
    }
    Ok(None)
}

/// What the search ends with.
struct NearestFace {
    lower: f64,
    upper: f64,
    direction: Direction,
    unit: Vec3,
    stopped: Option<Stopped>,
}

/// The faces of a shell, the nearest first.
pub(super) struct FaceSearch<'s, 'a> {
    pub(super) shell: &'s mut Shell<'a>,
    m: &'a Difference<'a>,
    view: &'a BoundedView<'a>,
    queue: BinaryHeap<Queued>,
    /// Whether a face was left alone that is about as near as was asked.
    pub(super) has_left: bool,
}

impl<'s, 'a> FaceSearch<'s, 'a> {
    pub(super) fn new(
        shell: &'s mut Shell<'a>,
        m: &'a Difference<'a>,
        view: &'a BoundedView<'a>,
    ) -> Self {
        let mut queue = BinaryHeap::new();
        for face in (0..shell.face_count()).filter(|&face| shell.is_alive(face)) {
            queue.push(Reverse((shell.height(face)[0].to_bits(), face)));
        }
        Self { shell, m, view, queue, has_left: false }
    }

    /// The face that may be nearest of those not taken yet, and a lower bound of its distance; none
    /// is nearer than that.
    pub(super) fn next(&mut self) -> Option<(u32, f64)> {
        loop {
            let Reverse((key, face)) = self.queue.pop()?;
            if self.shell.is_alive(face) {
                return Some((face, f64::from_bits(key)));
            }
        }
    }

    /// Whether the face's plane is at least so far from the origin, exactly.
    pub(super) fn is_at_least(&self, face: u32, bound: &DepthBound) -> bool {
        let ([lower, upper], [least, most]) = (self.shell.height(face), bound.bounds());
        if lower >= most || upper < least {
            return lower >= most;
        }
        self.shell.height_compared(face, bound.exact()) != Ordering::Less
    }

    fn run(mut self, effort: &mut Effort<'_>) -> NearestFace {
        loop {
            let (face, known) = self.next().expect("a closed surface has faces");
            let [lower, upper] = self.bracket(face, known);
            if lower > known {
                // Others may be nearer.
                self.queue.push(Reverse((lower.to_bits(), face)));
                continue;
            }
            if let Err(why) = effort.spend_step() {
                return self.stopped(face, known, why, effort);
            }
            if !self.grow(face, effort) {
                return self.found(face, known, upper);
            }
        }
    }

    /// A narrow bracket of the face's distance: in floating point when `known` is its lower bound
    /// there and that is good enough, else from integers.
    fn bracket(&self, face: u32, known: f64) -> [f64; 2] {
        let rough = self.shell.height(face);
        let is_rough_bound = known.to_bits() == rough[0].to_bits();
        if is_rough_bound && rough[1] - rough[0] <= FACE_HEIGHT_WIDTH * rough[0] {
            rough
        } else {
            self.shell.exact_height(face)
        }
    }

    /// No vertex of M lies beyond the face's plane, and no face is nearer than `lower`.
    fn found(&self, face: u32, lower: f64, upper: f64) -> NearestFace {
        NearestFace {
            lower,
            upper,
            direction: Direction::Normal { pairs: self.shell.pairs(face), negative: false },
            unit: rounded_direction(&self.shell.plane(face).normal).normalize(),
            stopped: None,
        }
    }

    /// Adds a vertex of M that lies strictly beyond the face's plane; whether there is one.
    pub(super) fn grow(&mut self, face: u32, effort: &mut Effort<'_>) -> bool {
        if self.view.is_safe() && self.grow_likely(face, effort) {
            return true;
        }
        let hint = self.shell.pairs(face)[0];
        let against = negated(&self.shell.plane(face).normal);
        let farthest = self.m.least_from(&against, hint, effort);
        self.add(face, farthest)
    }

    /// Adds the vertex of M that climbing finds, if it lies strictly beyond the face's plane.
    fn grow_likely(&mut self, face: u32, effort: &mut Effort<'_>) -> bool {
        let known = self.shell.pairs(face);
        let against = -self.shell.normal(face);
        let likely = self.view.likely_least_from(&against, Some(known[0]), effort);
        !known.contains(&likely) && self.add(face, likely)
    }

    fn add(&mut self, face: u32, pair: VertexPair) -> bool {
        let mut new = Vec::new();
        let is_beyond = self.shell.add_if_beyond(face, pair, |face| new.push(face));
        for face in new {
            self.queue.push(Reverse((self.shell.height(face)[0].to_bits(), face)));
        }
        is_beyond
    }

    /// The budget ran out at this nearest face: how far M reaches along its normal is an upper
    /// bound.
    fn stopped(&self, face: u32, lower: f64, why: Stopped, effort: &mut Effort<'_>) -> NearestFace {
        let vector = rounded_direction(&self.shell.plane(face).normal);
        let exponent = least_exponent(vector.iter()).unwrap_or(0);
        let normal: Integers = std::array::from_fn(|k| integer_at(vector[k], exponent));
        let hint = self.shell.pairs(face)[0];
        let farthest = self.m.least_from(&negated(&normal), hint, effort);
        let reach = dot(&normal, &self.m.at(farthest));
        let (_, squared) = (&reach * &reach).into_parts();
        let (_, length) = dot(&normal, &normal).into_parts();
        let [_, upper] = outward::square_root(&squared, &length, self.m.exponent());
        let direction = Direction::Vector(vector);
        NearestFace { lower, upper, direction, unit: vector.normalize(), stopped: Some(why) }
    }
}

/// The shell as it is.
pub(super) fn surface(shell: &Shell<'_>) -> Surface {
    let mut surface = Surface::default();
    let mut place = vec![u32::MAX; shell.corner_count() as usize];
    for face in (0..shell.face_count()).filter(|&face| shell.is_alive(face)) {
        let triangle = shell.face_corners(face).map(|corner| {
            let at = &mut place[corner as usize];
            if *at == u32::MAX {
                *at = u32::try_from(surface.corners.len()).expect("no more than corners");
                surface.corners.push(shell.pair(corner));
            }
            *at
        });
        surface.triangles.push(triangle);
    }
    surface
}
