//! A convex polytope inside M that grows outward: its corners are vertices of M, its faces
//! triangles, and it is exactly convex at all times.
//!
//! A new corner removes the faces it lies strictly beyond and is joined to their rim. Whether it
//! lies beyond a face is the sign of a determinant: a floating-point value where its error bound
//! allows, integers otherwise. Faces in whose plane the corner lies stay; they may get coplanar
//! neighbours, never a fold: across an edge of the rim the corner is strictly beyond one face and
//! not beyond the other, so it is not on the edge's line, and the new triangle is a proper one.

use std::cell::OnceCell;
use std::cmp::Ordering;

use dashu_int::IBig;

use crate::Vec3;
use crate::difference::bounded::BoundedView;
use crate::difference::exact::Difference;
use crate::distance::length_compared;
use crate::number::dyadic::Dyadic;
use crate::number::rounding::{UNDERFLOW, gamma, length};
use crate::number::scaled::{Integers, cross, difference, dot, is_zero, sign};
use crate::number::{Sign, outward};
use crate::pair::VertexPair;

/// Error of the difference of two rounded corners in units of the error of one: two of them, and a
/// rounding of at most a quarter.
const EDGE_ERROR: f64 = 2.5;
/// Terms of a 3x3 determinant.
const TERMS: f64 = 6.0;

/// A vertex of M.
#[derive(Debug)]
struct ShellCorner {
    pair: VertexPair,
    /// Rounded, in the shell's unit.
    point: Vec3,
    exact: OnceCell<Integers>,
}

/// The plane of a face, `normal · x = offset`, in grid units.
#[derive(Clone, Debug)]
pub(super) struct FacePlane {
    /// The normal of the plane, which points outward.
    pub(super) normal: Integers,
    /// Positive once the origin is inside.
    pub(super) offset: IBig,
}

/// A triangle of the shell, with its exact plane.
#[derive(Debug)]
struct ShellFace {
    /// Counter-clockwise seen from outside.
    corners: [u32; 3],
    /// Across the edge from corner k to corner k + 1.
    neighbours: [u32; 3],
    is_alive: bool,
    /// Rounded, in the shell's unit.
    normal: Vec3,
    /// The bounds of its two edges' coordinates: sum and product.
    edges_sum: f64,
    edges_product: f64,
    plane: OnceCell<FacePlane>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Shell<'a> {
    m: &'a Difference<'a>,
    view: &'a BoundedView<'a>,
    /// The shell's unit is two to this metres.
    unit_exponent: i64,
    /// At least the error of every rounded corner's coordinates, in the shell's unit.
    error: f64,
    corners: Vec<ShellCorner>,
    faces: Vec<ShellFace>,
    /// For each corner, the new face that starts there at the rim; used within `add`.
    rim_face: Vec<u32>,
    /// Scratch of `add`.
    visible: Vec<u32>,
    rim: Vec<Rim>,
}

/// An edge between a visible and an invisible face, as the visible one runs through it.
#[derive(Clone, Copy, Debug)]
struct Rim {
    from: u32,
    to: u32,
    outside: u32,
}

const NONE: u32 = u32::MAX;

impl<'a> Shell<'a> {
    /// The hull of `pairs`, four to six, not all in a plane; `None` if they are.
    pub(super) fn around(
        m: &'a Difference<'a>,
        view: &'a BoundedView<'a>,
        pairs: &[VertexPair],
    ) -> Option<Self> {
        let largest = view.reach().amax();
        let (unit_exponent, error) = if view.is_safe() {
            (0, view.coordinate_error())
        } else {
            // Coordinates of at most 2 in this unit, rounded from exact integers.
            (i64::from(exponent_of(largest)), gamma(4))
        };
        let mut shell = Self {
            m,
            view,
            unit_exponent,
            error,
            corners: Vec::new(),
            faces: Vec::new(),
            rim_face: Vec::new(),
            visible: Vec::new(),
            rim: Vec::new(),
        };
        let all: Vec<u32> = pairs.iter().map(|&pair| shell.corner(pair)).collect();
        let first = shell.tetrahedron(&all)?;
        for corner in all.into_iter().filter(|corner| !first.contains(corner)) {
            let seen = (0..shell.face_count())
                .find(|&face| shell.is_alive(face) && shell.is_beyond(face, corner));
            if let Some(face) = seen {
                shell.join(face, corner, |_| {});
            }
        }
        Some(shell)
    }

    /// Four of the corners as a tetrahedron.
    fn tetrahedron(&mut self, corners: &[u32]) -> Option<[u32; 4]> {
        let exact = |corner: u32| self.exact(corner);
        let base = *corners.first()?;
        let edge = |to: u32| difference(exact(to), exact(base));
        let b = corners.iter().copied().find(|&c| !is_zero(&edge(c)))?;
        let c = corners.iter().copied().find(|&c| !is_zero(&cross(&edge(b), &edge(c))))?;
        let normal = cross(&edge(b), &edge(c));
        let side = |to: u32| sign(&dot(&normal, &edge(to)));
        let d = corners.iter().copied().find(|&d| side(d) != Sign::Zero)?;
        let (b, c) = if side(d) == Sign::Positive { (c, b) } else { (b, c) };
        // d is now below the face base, b, c.
        let loops = [[base, b, c], [base, d, b], [b, d, c], [c, d, base]];
        let neighbours = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]];
        for (corners, neighbours) in loops.into_iter().zip(neighbours) {
            let face = self.face(corners, neighbours);
            self.faces.push(face);
        }
        Some([base, b, c, d])
    }

    /// Number of faces ever made; dead ones keep their number.
    pub(super) fn face_count(&self) -> u32 {
        u32::try_from(self.faces.len()).expect("fewer than 2^32 faces")
    }

    /// Whether the face is still part of the shell.
    pub(super) fn is_alive(&self, face: u32) -> bool {
        self.faces[face as usize].is_alive
    }

    /// The pairs of a face's corners, counter-clockwise seen from outside.
    pub(super) fn pairs(&self, face: u32) -> [VertexPair; 3] {
        self.faces[face as usize].corners.map(|corner| self.corners[corner as usize].pair)
    }

    /// The corners of a face.
    pub(super) fn face_corners(&self, face: u32) -> [u32; 3] {
        self.faces[face as usize].corners
    }

    /// The name of a corner.
    pub(super) fn pair(&self, corner: u32) -> VertexPair {
        self.corners[corner as usize].pair
    }

    /// Number of corners, those that were swallowed included.
    pub(super) fn corner_count(&self) -> u32 {
        u32::try_from(self.corners.len()).expect("fewer than 2^32 corners")
    }

    /// The outward normal of a face, rounded, of any length.
    pub(super) fn normal(&self, face: u32) -> Vec3 {
        self.faces[face as usize].normal
    }

    /// The exact plane of a face.
    pub(super) fn plane(&self, face: u32) -> &FacePlane {
        let face = &self.faces[face as usize];
        face.plane.get_or_init(|| {
            let [a, b, c] = face.corners.map(|corner| self.exact(corner));
            let normal = cross(&difference(b, a), &difference(c, a));
            let offset = dot(&normal, a);
            FacePlane { normal, offset }
        })
    }

    /// `[lower, upper]` around the distance of the face's plane from the origin, in metres, exact
    /// up to the last bit.
    pub(super) fn exact_height(&self, face: u32) -> [f64; 2] {
        let plane = self.plane(face);
        let length = dot(&plane.normal, &plane.normal);
        let (_, squared) = (&plane.offset * &plane.offset).into_parts();
        let (_, length) = length.into_parts();
        outward::square_root(&squared, &length, self.m.exponent())
    }

    /// How the distance of the face's plane from the origin compares with a length, which is not
    /// negative, exactly.
    pub(super) fn height_compared(&self, face: u32, length: &Dyadic) -> Ordering {
        let plane = self.plane(face);
        let (_, squared) = (&plane.offset * &plane.offset).into_parts();
        let (_, of_normal) = dot(&plane.normal, &plane.normal).into_parts();
        length_compared((squared, of_normal), self.m.exponent(), length)
    }

    /// `[lower, upper]` around the distance of the face's plane from the origin, in metres, in
    /// floating point; `lower` is not negative.
    pub(super) fn height(&self, face: u32) -> [f64; 2] {
        let f = &self.faces[face as usize];
        let base = &self.corners[f.corners[0] as usize].point;
        let value = f.normal.dot(base);
        let error = self.determinant_error(f, base);
        // Each coordinate of the normal has two terms of two edges.
        let normal_error =
            2.0 * 2.0 * EDGE_ERROR * self.error * f.edges_sum + 2.0 * gamma(4) * f.edges_product;
        // The square of the normal is of the fourth degree in lengths, where all else is of the
        // third.
        let length = length(&f.normal);
        let outward = 1.0 + gamma(16);
        let lower = (value - error) / (length + 2.0 * normal_error) / outward;
        let shortest = length - 2.0 * normal_error;
        let upper =
            if shortest > 0.0 { (value + error) / shortest * outward } else { f64::INFINITY };
        let metres = outward::power_of_two(self.unit_exponent);
        let lower = if lower > 0.0 { lower } else { 0.0 };
        if self.unit_exponent == 0 {
            [lower, upper]
        } else {
            // Near the ends of f64 the product may round.
            [(lower * metres).next_down().max(0.0), (upper * metres).next_up()]
        }
    }

    /// Whether a pair's point lies strictly beyond a face, exactly; if so it becomes a corner, and
    /// `added` hears of every new face.
    pub(super) fn add_if_beyond(
        &mut self,
        face: u32,
        pair: VertexPair,
        added: impl FnMut(u32),
    ) -> bool {
        let corner = self.corner(pair);
        let is_beyond = self.is_beyond(face, corner);
        if is_beyond {
            self.join(face, corner, added);
        } else {
            self.corners.pop();
            self.rim_face.pop();
        }
        is_beyond
    }

    fn corner(&mut self, pair: VertexPair) -> u32 {
        let exact = OnceCell::new();
        let point = if self.view.is_safe() {
            self.view.difference(pair)
        } else {
            let point = self.m.at(pair);
            let scale = self.m.exponent() - self.unit_exponent;
            let rounded = Vec3::from_fn(|k, _| outward::approximate(&point[k], scale));
            exact.get_or_init(|| point);
            rounded
        };
        self.corners.push(ShellCorner { pair, point, exact });
        self.rim_face.push(NONE);
        self.corner_count() - 1
    }

    fn exact(&self, corner: u32) -> &Integers {
        let corner = &self.corners[corner as usize];
        corner.exact.get_or_init(|| self.m.at(corner.pair))
    }

    fn face(&self, corners: [u32; 3], neighbours: [u32; 3]) -> ShellFace {
        let [a, b, c] = corners.map(|corner| self.corners[corner as usize].point);
        let (e1, e2) = (b - a, c - a);
        let bound = |edge: &Vec3| edge.amax() + EDGE_ERROR * self.error;
        let (m1, m2) = (bound(&e1), bound(&e2));
        ShellFace {
            corners,
            neighbours,
            is_alive: true,
            normal: e1.cross(&e2),
            edges_sum: m1 + m2,
            edges_product: m1 * m2,
            plane: OnceCell::new(),
        }
    }

    /// At least the error of `normal · v` for a difference `v` of rounded corners (or a corner):
    /// the determinant has six terms, each off by the error of each factor times the others, and
    /// by at most six roundings.
    fn determinant_error(&self, face: &ShellFace, v: &Vec3) -> f64 {
        let m3 = v.amax() + EDGE_ERROR * self.error;
        let inherited = EDGE_ERROR * self.error * (face.edges_product + face.edges_sum * m3);
        let tiny = 64.0 * UNDERFLOW * (1.0 + m3);
        TERMS * (inherited + gamma(8) * face.edges_product * m3) * (1.0 + gamma(16)) + tiny
    }

    /// Whether a corner lies strictly beyond a face's plane: exact.
    fn is_beyond(&self, face: u32, corner: u32) -> bool {
        let f = &self.faces[face as usize];
        let v = self.corners[corner as usize].point - self.corners[f.corners[0] as usize].point;
        let value = f.normal.dot(&v);
        let error = self.determinant_error(f, &v);
        if value > error {
            true
        } else if value < -error {
            false
        } else {
            let plane = self.plane(face);
            dot(&plane.normal, self.exact(corner)) > plane.offset
        }
    }

    /// Makes `corner`, which lies beyond `start`, part of the shell.
    fn join(&mut self, start: u32, corner: u32, mut added: impl FnMut(u32)) {
        self.find_visible(start, corner);
        let first = self.face_count();
        for (count, edge) in (0..).zip(std::mem::take(&mut self.rim)) {
            let index = first + count;
            let face = self.face([edge.from, edge.to, corner], [edge.outside, NONE, NONE]);
            self.faces.push(face);
            self.rim_face[edge.from as usize] = index;
            let outside = &mut self.faces[edge.outside as usize];
            // The other side runs through the edge the other way.
            let slot = (0..3).find(|&k| outside.corners[k] == edge.to);
            outside.neighbours[slot.expect("the neighbour shares the edge")] = index;
        }
        for index in first..self.face_count() {
            let next = self.rim_face[self.faces[index as usize].corners[1] as usize];
            self.faces[index as usize].neighbours[1] = next;
            self.faces[next as usize].neighbours[2] = index;
        }
        for index in first..self.face_count() {
            added(index);
        }
    }

    /// Kills the faces that `corner` lies strictly beyond and collects the rim around them.
    ///
    /// They are connected: seen from the corner they are one patch of a convex surface.
    fn find_visible(&mut self, start: u32, corner: u32) {
        self.visible.clear();
        self.rim.clear();
        self.visible.push(start);
        self.faces[start as usize].is_alive = false;
        let mut next = 0;
        while next < self.visible.len() {
            let face = self.visible[next];
            next += 1;
            for k in 0..3 {
                let outside = self.faces[face as usize].neighbours[k];
                if !self.is_alive(outside) {
                    continue;
                }
                if self.is_beyond(outside, corner) {
                    self.faces[outside as usize].is_alive = false;
                    self.visible.push(outside);
                } else {
                    let corners = self.faces[face as usize].corners;
                    self.rim.push(Rim { from: corners[k], to: corners[(k + 1) % 3], outside });
                }
            }
        }
    }
}

/// The exponent of the leading bit of a positive number.
fn exponent_of(x: f64) -> i32 {
    let (mantissa, exponent) = crate::number::binary::split(x);
    exponent + (i64::BITS - 1 - mantissa.unsigned_abs().leading_zeros()).cast_signed()
}
