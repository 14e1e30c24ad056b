//! Whether a closed mesh bounds a polyhedron: no two of its triangles share more than they have in
//! common, and every shell has its outside on the right side. Exact: f64 arithmetic with an error
//! bound tells nearly all, and what it cannot tell is asked in integers.

use std::cell::OnceCell;

use dashu_int::{IBig, UBig};

use super::edges::shells;
use super::meeting::{Sight, segment_meets_triangle, triangles_meet};
use super::ray::{Start, around, crosses_odd};
use super::refused::PolyhedronError;
use super::surface::TriangleSurface;
use super::tree::{BoxedTree, any_meeting_pair};
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::double::{self, Double, Real};
use crate::number::orientation::{Axis, Side, Turn, side_of_plane, turn};
use crate::number::rounding::CAST_LENGTHS;
use crate::number::scaled::{Integers, cross, dot};
use crate::number::{Sign, outward, scaled};
use crate::pose::Pose;
use crate::pose::scaled_points::{Exponents, ScaledPoints};

/// See the module. In canonical order.
pub(super) struct ClosedMesh<'a> {
    pub(super) surface: &'a TriangleSurface,
    /// The triangle beyond the edge from each corner of a triangle to the next.
    pub(super) beyond: &'a [[u32; 3]],
    /// Where each triangle is given: errors name these places.
    pub(super) given: &'a [u32],
}

impl ClosedMesh<'_> {
    fn boxed(&self) -> BoxedTree<'_> {
        BoxedTree { tree: self.surface.tree(), boxes: self.surface.boxes() }
    }

    /// Each pair of boxes is a step.
    pub(super) fn check_intersections(
        &self,
        effort: &mut Effort<'_>,
    ) -> Result<(), PolyhedronError> {
        let mut sight = Given(self.surface.vertices());
        let mut found = None;
        let walked = any_meeting_pair(&self.boxed(), effort, |first, second| {
            let [a, b] = [first, second].map(|at| self.surface.triangle(at));
            if intersect(&mut sight, a, b) {
                found = Some([first, second].map(|at| self.given[at as usize]));
            }
            found.is_some()
        });
        match (walked, found) {
            (Err(stopped), _) => Err(PolyhedronError::Unchecked(stopped)),
            (Ok(_), Some([a, b])) => {
                Err(PolyhedronError::Intersecting { first: a.min(b), second: a.max(b) })
            }
            (Ok(_), None) => Ok(()),
        }
    }

    /// A point of a shell is in an even number of other shells if and only if the shell encloses a
    /// volume, and in an odd number if it encloses a hollow. The volume in all, rounded. Each box
    /// that a ray looks at is a step.
    pub(super) fn check_shells(&self, effort: &mut Effort<'_>) -> Result<f64, PolyhedronError> {
        let (shell_of, firsts) = shells(self.beyond);
        let volumes = Volumes::of(self.surface, &shell_of, firsts.len());
        let inside = self.are_inside(&shell_of, &firsts, effort);
        let inside = inside.map_err(PolyhedronError::Unchecked)?;
        let is_wrong = |shell: usize| {
            let wanted = if inside[shell] { Sign::Negative } else { Sign::Positive };
            volumes.sign(shell) != wanted
        };
        let mut lowest = vec![u32::MAX; firsts.len()];
        for (shell, given) in shell_of.iter().zip(self.given) {
            let lowest = &mut lowest[*shell as usize];
            *lowest = (*lowest).min(*given);
        }
        let wrong = (0..firsts.len()).filter(|shell| is_wrong(*shell));
        match wrong.map(|shell| lowest[shell]).min() {
            Some(triangle) => Err(PolyhedronError::InsideOut { triangle }),
            None => Ok(volumes.whole()),
        }
    }

    /// Whether each shell is inside an odd number of others.
    fn are_inside(
        &self,
        shell_of: &[u32],
        firsts: &[u32],
        effort: &mut Effort<'_>,
    ) -> Result<Vec<bool>, Stopped> {
        if firsts.len() == 1 {
            return Ok(vec![false]);
        }
        let (vertices, pose) = (self.surface.vertices(), Pose::identity());
        let exponents = Exponents::of_looked_at(self.surface.least_exponent(), &pose);
        let mut points = ScaledPoints::new(vertices, &pose, exponents, exponents.placed);
        let mut corners = |triangle: u32| -> [Integers; 3] {
            self.surface.triangle(triangle).map(|i| points.point(i).clone())
        };
        let is_inside = |(shell, &triangle): (u32, &u32)| {
            let first = &vertices[self.surface.triangle(triangle)[0] as usize];
            let start = Start::beside(corners(triangle), around(first, 0.0));
            crosses_odd(&start, &self.boxed(), effort, |other| {
                (shell_of[other as usize] != shell).then(|| corners(other))
            })
        };
        (0..).zip(firsts).map(is_inside).collect()
    }
}

/// Six times the volume that each shell encloses.
struct Volumes<'a> {
    surface: &'a TriangleSurface,
    shell_of: &'a [u32],
    /// How many shells there are.
    count: usize,
    /// In numbers of twice the precision; empty where these overflow or underflow.
    rounded: Vec<Double>,
    /// At most how far all of them together are off.
    off: f64,
    exact: OnceCell<ExactVolumes>,
}

/// The same as integers times a power of two.
struct ExactVolumes {
    of_shells: Vec<IBig>,
    exponent: i64,
}

impl<'a> Volumes<'a> {
    /// Of triangles that are seen from one of the vertices. A product of three coordinates is at
    /// most `M^3` for an extent of M, a determinant has six of them, each with at most eight
    /// roundings, and a sum of n determinants rounds n times, each time by a part of at most all of
    /// it: `6 (8 + n) n U M^3`, and twice that for the rounding of the bound, and underflow.
    fn of(surface: &'a TriangleSurface, shell_of: &'a [u32], count: usize) -> Self {
        let [low, high] = surface.bounds();
        let extent = (high - low).max();
        let (mut rounded, mut off) = (Vec::new(), f64::INFINITY);
        if CAST_LENGTHS.contains(&extent) {
            rounded = vec![Double::of(0.0); count];
            let from = &surface.vertices()[0];
            let seen = |i: u32| {
                let v = &surface.vertices()[i as usize];
                [0, 1, 2].map(|k| Double::difference(v[k], from[k]))
            };
            for (corners, &shell) in surface.triangles().iter().zip(shell_of) {
                let [a, b, c] = corners.map(seen);
                let sum = &mut rounded[shell as usize];
                *sum = *sum + double::dot(&a, &double::cross(&b, &c));
            }
            let n = shell_of.len() as f64;
            let cube = extent * extent * extent;
            off = 12.0 * (8.0 + n) * n * <Double as Real>::UNIT * cube;
        }
        Self { surface, shell_of, count, rounded, off, exact: OnceCell::new() }
    }

    fn sign(&self, shell: usize) -> Sign {
        match self.rounded.get(shell).map(|volume| volume.rounded()) {
            Some(volume) if volume > 2.0 * self.off => Sign::Positive,
            Some(volume) if volume < -2.0 * self.off => Sign::Negative,
            _ => scaled::sign(&self.exact().of_shells[shell]),
        }
    }

    /// The volume in all, rounded down.
    fn whole(&self) -> f64 {
        self.whole_by_filter().unwrap_or_else(|| {
            let ExactVolumes { of_shells, exponent } = self.exact();
            outward::ratio(&of_shells.iter().sum(), &UBig::from(6_u8), *exponent)
        })
    }

    /// The greatest number of which six are no more than what is known within `off`, if that is
    /// certain.
    fn whole_by_filter(&self) -> Option<f64> {
        let sum = self.rounded.iter().copied().reduce(|a, b| a + b)?;
        let is_below = |sixth: f64| {
            let left = (sum - Double::product(6.0, sixth)).rounded();
            if left > 2.0 * self.off {
                Some(true)
            } else if left < -2.0 * self.off {
                Some(false)
            } else {
                None
            }
        };
        let near = sum.rounded() / 6.0;
        let candidates = [near.next_down(), near, near.next_up()];
        let is_largest = |at: &f64| {
            *at > 0.0 && is_below(*at) == Some(true) && is_below(at.next_up()) == Some(false)
        };
        candidates.into_iter().find(is_largest)
    }

    /// Of all shells at once, since one that f64 arithmetic cannot tell is seldom alone.
    fn exact(&self) -> &ExactVolumes {
        self.exact.get_or_init(|| {
            let (vertices, pose) = (self.surface.vertices(), Pose::identity());
            let exponents = Exponents::of_looked_at(self.surface.least_exponent(), &pose);
            let mut points = ScaledPoints::new(vertices, &pose, exponents, exponents.placed);
            let mut of_shells = vec![IBig::ZERO; self.count];
            for (corners, &shell) in self.surface.triangles().iter().zip(self.shell_of) {
                let [a, b, c] = corners.map(|i| points.point(i).clone());
                of_shells[shell as usize] += dot(&a, &cross(&b, &c));
            }
            ExactVolumes { of_shells, exponent: 3 * exponents.placed }
        })
    }
}

/// Predicates on the given vertices themselves.
struct Given<'a>(&'a [Vec3]);

impl Sight for Given<'_> {
    type Point = u32;

    fn side(&mut self, plane: [u32; 3], p: u32) -> Side {
        let [a, b, c] = plane.map(|i| &self.0[i as usize]);
        side_of_plane(a, b, c, &self.0[p as usize])
    }

    fn turn(&mut self, axis: Axis, path: [u32; 3]) -> Turn {
        let [a, b, c] = path.map(|i| &self.0[i as usize]);
        turn(axis, a, b, c)
    }
}

/// Whether two triangles of a mesh share more than their common vertices and edges.
fn intersect(sight: &mut Given<'_>, a: [u32; 3], b: [u32; 3]) -> bool {
    let is_shared = a.map(|i| b.contains(&i));
    match is_shared.iter().filter(|shared| **shared).count() {
        0 => triangles_meet(sight, a, b),
        1 => {
            // A ray from the common vertex inside both leaves one of them first: through the side
            // opposite to the vertex.
            let opposite = |of: [u32; 3], other: [u32; 3]| {
                let at = of.iter().position(|i| other.contains(i)).unwrap_or(0);
                [of[(at + 1) % 3], of[(at + 2) % 3]]
            };
            let [of_a, of_b] = [opposite(a, b), opposite(b, a)];
            // One that is all on one side of the other's plane, but for the common vertex, shares
            // no more with it.
            let is_off = |sight: &mut Given<'_>, ends: [u32; 2], plane: [u32; 3]| {
                let [first, second] = ends.map(|end| sight.side(plane, end));
                first != Side::On && first == second
            };
            if is_off(sight, of_a, b) || is_off(sight, of_b, a) {
                return false;
            }
            segment_meets_triangle(sight, of_a, b) || segment_meets_triangle(sight, of_b, a)
        }
        2 => {
            let fold = is_shared.iter().position(|shared| !shared).unwrap_or(0);
            let apex = b.iter().find(|i| !a.contains(i)).copied().unwrap_or(b[0]);
            let [c, x, y] = [a[fold], a[(fold + 1) % 3], a[(fold + 2) % 3]];
            // In one plane, and both on one side of the common edge.
            sight.side(a, apex) == Side::On
                && Axis::ALL.into_iter().any(|axis| {
                    let turn = sight.turn(axis, [x, y, c]);
                    turn != Turn::Straight && turn == sight.turn(axis, [x, y, apex])
                })
        }
        _ => true,
    }
}
