//! Seams: edges and corners of a triangle beyond which the surface goes on, so that a contact there
//! may be one with the triangle alone and not with the surface.
//!
//! An edge is *inner* if exactly two triangles with an area have both of its corners, by equal
//! coordinates; three corners count once, in whatever order and however often they are drawn. A
//! contact with a triangle has a normal, out of it, and is at those of its corners that are
//! farthest along it: all three, the two of an edge, or one. It is one with the surface if no
//! corner of the triangles there rises beyond them along the normal: those that are reached from
//! the triangle over inner edges which have these corners. So at an inner edge that is convex the
//! normals between those of the two faces stay, and at one that is flat or concave none does; at an
//! edge with one triangle, or with three, nothing rises beyond it.
//!
//! Signs of heights are exact: nothing depends on how sharp an edge is, or how thin a triangle.

use std::collections::BTreeSet;

use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::orientation::are_collinear;
use crate::number::scaled::{Integers, difference, dot, integer_at, least_exponent, sign};

/// The corners of a triangle, in the frame of its body.
pub(crate) type FaceCorners = [Vec3; 3];

/// Triangles, and which of them have which edges.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    triangles: Vec<FaceCorners>,
    /// The edges of those with an area, each with its triangle, sorted.
    edges: Vec<([CornerBits; 2], u32)>,
}

/// The bits of the coordinates of a point; zero has one sign.
type CornerBits = [u64; 3];

/// What each triangle takes, bytes at most: lists that grow.
pub(crate) const BYTES_OF_TRIANGLE: usize =
    2 * (size_of::<FaceCorners>() + 3 * size_of::<([CornerBits; 2], u32)>());

impl Surroundings {
    /// Of triangles that are known by their places in this list.
    pub(crate) fn new(triangles: Vec<FaceCorners>) -> Self {
        let mut edges = Vec::with_capacity(3 * triangles.len());
        for (at, [a, b, c]) in (0..).zip(&triangles) {
            if !are_collinear(a, b, c) {
                edges.extend([[a, b], [b, c], [c, a]].map(|edge| (key(edge), at)));
            }
        }
        edges.sort_unstable();
        Self { triangles, edges }
    }

    /// All of them.
    pub(crate) fn triangles(&self) -> &[FaceCorners] {
        &self.triangles
    }

    /// Whether a contact of a triangle with a normal is one with the surface, too; see the module.
    /// The normal is a functional of the frame of the triangles, which are all that have corners
    /// where the contact is. A triangle that is looked at is a step.
    pub(crate) fn is_of_surface(
        &self,
        triangle: u32,
        normal: &Integers,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let corners = self.triangles[triangle as usize];
        let [a, b, c] = &corners;
        if are_collinear(a, b, c) {
            return Ok(true);
        }
        let is_top = |at: &&Vec3| corners.iter().all(|other| !rises(normal, at, other));
        let top: Vec<Vec3> = corners.iter().filter(is_top).copied().collect();
        let Some(base) = top.first() else { return Ok(true) };
        let mut reached = BTreeSet::from([triangle]);
        let mut open = vec![triangle];
        while let Some(one) = open.pop() {
            effort.spend_step()?;
            let corners = &self.triangles[one as usize];
            if corners.iter().any(|corner| rises(normal, base, corner)) {
                return Ok(false);
            }
            let [a, b, c] = corners;
            for edge in [[a, b], [b, c], [c, a]] {
                let is_there = top.iter().all(|at| edge.contains(&at));
                if is_there
                    && let Some(next) = self.beyond(one, edge)
                    && reached.insert(next)
                {
                    open.push(next);
                }
            }
        }
        Ok(true)
    }

    /// The triangle beyond an edge of another one, if the edge is inner.
    fn beyond(&self, triangle: u32, edge: [&Vec3; 2]) -> Option<u32> {
        let edge = key(edge);
        let first = self.edges.partition_point(|(known, _)| *known < edge);
        let all = self.edges[first..].iter().take_while(|(known, _)| *known == edge);
        let mut others = all.map(|(_, at)| *at).filter(|at| !self.is_same(*at, triangle));
        let other = others.next()?;
        others.all(|at| self.is_same(at, other)).then_some(other)
    }

    fn is_same(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|at| &self.triangles[at as usize]);
        a.iter().all(|corner| b.contains(corner)) && b.iter().all(|corner| a.contains(corner))
    }
}

fn key(edge: [&Vec3; 2]) -> [CornerBits; 2] {
    let [a, b]: [CornerBits; 2] = edge.map(|at| [0, 1, 2].map(|k| (at[k] + 0.0).to_bits()));
    [a.min(b), a.max(b)]
}

/// Whether the second point is farther along the normal than the first, exactly.
fn rises(normal: &Integers, from: &Vec3, to: &Vec3) -> bool {
    let exponent = least_exponent(from.iter().chain(to.iter())).unwrap_or(0);
    let exact = |at: &Vec3| -> Integers { std::array::from_fn(|k| integer_at(at[k], exponent)) };
    sign(&dot(normal, &difference(&exact(to), &exact(from)))) == Sign::Positive
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::scaled::exact_vector;

    /// Two triangles along the y axis, which fall away from it by so much on each side.
    fn roof(left: f64, right: f64) -> [FaceCorners; 2] {
        let [from, to] = [Vec3::zeros(), Vec3::y()];
        [[from, to, Vec3::new(-1.0, 0.5, -left)], [from, to, Vec3::new(1.0, 0.5, -right)]]
    }

    #[track_caller]
    fn check(triangle: &FaceCorners, normal: [f64; 3], near: &[FaceCorners], expected: bool) {
        let normal = exact_vector(&Vec3::from(normal));
        let around = Surroundings::new(near.to_vec());
        let at = near.iter().position(|one| one == triangle).expect("it is one of them");
        let found = around.is_of_surface(at as u32, &normal, &mut Effort::unlimited());
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn at_an_inner_edge_the_normals_between_those_of_the_faces_stay() {
        let ridge = roof(1.0, 0.5);
        for (triangle, normal, expected) in [
            (0, [-1.0, 0.0, 1.0], true),
            (0, [-0.9, 0.0, 1.0], true),
            (0, [0.5, 0.0, 1.0], true),
            (0, [0.5_f64.next_up(), 0.0, 1.0], false),
            (1, [-1.0, 0.0, 1.0], true),
            (1, [(-1.0_f64).next_up(), 0.0, 1.0], true),
            (1, [(-1.0_f64).next_down(), 0.0, 1.0], false),
        ] {
            check(&ridge[triangle], normal, &ridge, expected);
        }
    }

    #[test]
    fn at_a_flat_or_concave_inner_edge_no_normal_stays_but_that_of_the_face() {
        let flat = roof(0.0, 0.0);
        check(&flat[0], [0.0, 0.0, 1.0], &flat, true);
        check(&flat[0], [5e-324, 0.0, 1.0], &flat, false);
        check(&flat[1], [-5e-324, 0.0, 1.0], &flat, false);
        let valley = roof(-0.25, -0.5);
        check(&valley[0], [0.25, 0.0, 1.0], &valley, true);
        check(&valley[0], [0.25_f64.next_up(), 0.0, 1.0], &valley, false);
        check(&valley[1], [-0.5, 0.0, 1.0], &valley, true);
        check(&valley[1], [0.0, 0.0, 1.0], &valley, true);
        check(&valley[1], [-0.6, 0.0, 1.0], &valley, false);
    }

    #[test]
    fn an_open_border_and_an_edge_of_three_triangles_keep_all_normals() {
        let flat = roof(0.0, 0.0);
        check(&flat[0], [1.0, 0.0, 0.0], &flat[..1], true);
        let fin = [Vec3::zeros(), Vec3::y(), Vec3::new(0.0, 0.5, 1.0)];
        check(&flat[0], [1.0, 0.0, 0.0], &[flat[0], flat[1], fin], true);
        // What has no area is nobody's neighbour, and what is drawn twice counts once.
        let [from, to] = [Vec3::zeros(), Vec3::y()];
        let sliver = [from, to, Vec3::y() * 0.5];
        let turned = [flat[1][2], flat[1][1], flat[1][0]];
        check(&flat[0], [1.0, 0.0, 0.0], &[flat[0], sliver, flat[1], turned], false);
        check(&sliver, [1.0, 0.0, 0.0], &[flat[0], sliver, flat[1]], true);
    }

    /// A pyramid keeps its tip for all normals that its four faces leave, and a fan of flat ones
    /// keeps none but their own; also where it is cut open at one edge, since the others lead on.
    #[test]
    fn at_a_corner_all_triangles_count_that_inner_edges_lead_to() {
        let fan = |height: f64| -> Vec<FaceCorners> {
            let rim = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
                .map(|[x, y]| Vec3::new(x, y, -height));
            (0..4).map(|k| [Vec3::zeros(), rim[k], rim[(k + 1) % 4]]).collect()
        };
        let (tip, flat) = (fan(1.0), fan(0.0));
        check(&tip[0], [-1.0, 0.0, 1.0], &tip, true);
        check(&tip[0], [(-1.0_f64).next_down(), 0.0, 1.0], &tip, false);
        check(&flat[0], [-5e-324, -5e-324, 1.0], &flat, false);
        // The first and the last are not joined any more.
        let mut cut = flat.clone();
        cut[3][2] = Vec3::new(1.0, -1e-3, 0.0);
        check(&flat[0], [-0.5, -1.0, 1.0], &cut, false);
        check(&flat[0], [-0.5, -1.0, 1.0], &cut[..1], true);
    }

    /// A needle whose neighbours it hardly parts from.
    #[test]
    fn thin_triangles_and_large_numbers_are_told_exactly() {
        let far = 2f64.powi(40);
        let [a, b] = [Vec3::new(far, 0.0, 0.0), Vec3::new(far, far, 0.0)];
        let needle = [a, b, Vec3::new(far.next_up(), 0.5, 0.0)];
        let wide = [a, b, Vec3::new(0.0, 0.5, 1e-300)];
        check(&needle, [-1.0, 0.0, 1.0], &[needle, wide], false);
        check(&needle, [-5e-324, 0.0, 1.0], &[needle, wide], false);
        check(&needle, [0.0, 0.0, 1.0], &[needle, wide], true);
        check(&wide, [0.0, 0.0, 1.0], &[needle, wide], true);
        check(&wide, [1e-300, 0.0, 1.0], &[needle, wide], false);
    }
}
