//! A point strictly inside two bodies of which no triangles cross: on some lines through the faces
//! that meet, in the middle of what both bodies have of the line.
//!
//! All of it is rounded, and what comes out is a proposal: exact arithmetic accepts it or not.

use crate::number::tolerance;
use crate::polyhedron::HulledBody;
use arrayvec::ArrayVec;

use super::{PROPOSALS_MAX, Unproven, is_accepted};
use crate::Vec3;
use crate::claim::{InnerPoint, SolidProof, StaticProof};
use crate::contact_time::polyhedra::Faces;
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::number::scale::PowerOfTwo;
use crate::pair::Pair;
use crate::pose::Pose;
use crate::separation::{METHODS, decide};
use crate::witness::Witness;

/// Tries the line through the middle of each face and of both, along each normal, between them and
/// a bit beside them, and the longest pieces of each first.
pub(super) fn prove(
    shapes: [&HulledBody<'_>; 2],
    faces: &Faces,
    effort: &mut Effort<'_>,
) -> Result<SolidProof, Unproven> {
    let (placed, unit) = to_size(shapes.map(corners));
    let triangle = |k: usize, i: u32| placed[k][i as usize];
    let named: ArrayVec<[Vec3; 3], 2> = match *faces {
        Faces::Triangles { of_p, of_q } => [triangle(0, of_p), triangle(1, of_q)].into(),
        Faces::PInQ { triangle: of_p } => [triangle(0, of_p)].into_iter().collect(),
        Faces::QInP { triangle: of_q } => [triangle(1, of_q)].into_iter().collect(),
        Faces::VertexAndTriangle { .. } | Faces::TriangleAndVertex { .. } | Faces::Edges { .. } => {
            return Err(Unproven::TooThin);
        }
    };
    let mut proposals = 0;
    // Where those tell nothing, what is shared may lie at any other face.
    for (from, along) in lines(&named).into_iter().chain(lines_anywhere(&placed)) {
        effort.spend_step()?;
        let [of_p, of_q] = placed.each_ref().map(|triangles| crossings(triangles, &from, &along));
        for middle in common(&of_p, &of_q).into_iter().take(PIECES_MAX) {
            let terms = [from, along * middle];
            if !terms.iter().flatten().all(|x| x.is_finite()) {
                continue;
            }
            let terms = terms.map(|term| term.map(|x| unit.times(x)));
            let around = shapes.map(|shape| around(shape, &terms, effort));
            let [Ok(Some(of_p)), Ok(Some(of_q))] = around else { continue };
            let proof = SolidProof::InnerPoint(InnerPoint { terms, vertices: [of_p, of_q] });
            if is_accepted(shapes, &proof, effort)? {
                return Ok(proof);
            }
            proposals += 1;
            if proposals >= PROPOSALS_MAX {
                return Err(Unproven::TooThin);
            }
        }
    }
    Err(Unproven::TooThin)
}

/// Pieces of one line that are tried.
const PIECES_MAX: usize = 2;

/// The corners of all triangles in the world, rounded.
fn corners(shape: &HulledBody<'_>) -> Vec<[Vec3; 3]> {
    let points: Vec<Vec3> =
        shape.body.vertices().iter().map(|v| shape.pose.apply_rounded(v)).collect();
    shape.body.triangles().iter().map(|corners| corners.map(|i| points[i as usize])).collect()
}

/// All of it in a unit in which products of three lengths neither overflow nor underflow, and the
/// unit.
fn to_size(placed: [Vec<[Vec3; 3]>; 2]) -> ([Vec<[Vec3; 3]>; 2], PowerOfTwo) {
    let corners = placed.iter().flatten().flatten();
    let largest = corners.map(nalgebra::Vector3::amax).fold(0.0, f64::max);
    let Some(scale) = PowerOfTwo::that_tames_length(largest) else {
        return (placed, PowerOfTwo::new(0));
    };
    let scaled = |corners: [Vec3; 3]| corners.map(|corner| corner.map(|x| scale.times(x)));
    let placed = placed.map(|triangles| triangles.into_iter().map(scaled).collect());
    (placed, PowerOfTwo::new(-scale.exponent()))
}

/// Added to the normals of faces: on a grid these run in the planes of other faces, where no line
/// tells inside from outside.
const TILTS: [[f64; 3]; 2] = [[0.31, -0.17, 0.23], [-0.19, 0.29, 0.37]];

/// Points and directions.
fn lines(triangles: &[[Vec3; 3]]) -> Vec<(Vec3, Vec3)> {
    let middle = |[a, b, c]: &[Vec3; 3]| a / 3.0 + b / 3.0 + c / 3.0;
    let normal = |[a, b, c]: &[Vec3; 3]| {
        let normal = (b - a).cross(&(c - a));
        if normal.amax() > 0.0 { normal / normal.amax() } else { normal }
    };
    let normals: Vec<Vec3> = triangles.iter().map(normal).collect();
    let sum: Vec3 = normals.iter().sum();
    let mut starts: Vec<Vec3> = triangles.iter().map(middle).collect();
    if let [a, b] = starts[..] {
        starts.push(a / 2.0 + b / 2.0);
    }
    // From close to each corner too: what is shared may be small.
    for triangle in triangles {
        let middle = middle(triangle);
        starts.extend(triangle.iter().map(|corner| corner + (middle - corner) / 64.0));
    }
    let tilted = TILTS.iter().flat_map(|tilt| normals.iter().map(|n| n + Vec3::from(*tilt)));
    let along = normals.iter().copied().chain([sum]).chain(tilted);
    let along: Vec<Vec3> = along.filter(|n| n.amax() > tolerance::NORMALS_CANCEL).collect();
    starts.iter().flat_map(|start| along.iter().map(move |n| (*start, *n))).collect()
}

/// Triangles of both bodies of which each is a place to look from: each look takes all of them.
const TRIANGLES_ANYWHERE_MAX: usize = 1_000;

/// A line through the middle of every triangle, tilted; none of bodies with many.
fn lines_anywhere(placed: &[Vec<[Vec3; 3]>; 2]) -> impl Iterator<Item = (Vec3, Vec3)> {
    let count = placed[0].len() + placed[1].len();
    let all = placed.iter().flatten().take(if count <= TRIANGLES_ANYWHERE_MAX { count } else { 0 });
    all.flat_map(|triangle| lines(std::slice::from_ref(triangle)).into_iter().take(LINES_AT_EACH))
}

/// How many of the lines at a triangle are tried: through its middle, along its normal (which is
/// the sum of normals, too) and tilted.
const LINES_AT_EACH: usize = 2 + TILTS.len();

/// How far along the line it crosses triangles, ascending.
fn crossings(triangles: &[[Vec3; 3]], from: &Vec3, along: &Vec3) -> Vec<f64> {
    let mut found: Vec<f64> = triangles
        .iter()
        .filter_map(|triangle| {
            let [a, b, c] = triangle.map(|corner| corner - from);
            let turns = [[&a, &b], [&b, &c], [&c, &a]].map(|[u, v]| along.dot(&u.cross(v)));
            let is_crossed = turns.iter().all(|t| *t > 0.0) || turns.iter().all(|t| *t < 0.0);
            let normal = (b - a).cross(&(c - a));
            let at = normal.dot(&a) / normal.dot(along);
            (is_crossed && at.is_finite()).then_some(at)
        })
        .collect();
    found.sort_unstable_by(f64::total_cmp);
    found
}

/// The middles of the pieces that both bodies have of a line, the longest first. A line may cross
/// all of both, so neither list is looked through for each piece of the other.
fn common(of_p: &[f64], of_q: &[f64]) -> Vec<f64> {
    let [mut of_p, mut of_q] = [of_p, of_q].map(|found| found.as_chunks::<2>().0);
    let mut both: Vec<[f64; 2]> = Vec::new();
    while let ([p, rest_p @ ..], [q, rest_q @ ..]) = (of_p, of_q) {
        let [low, high] = [p[0].max(q[0]), p[1].min(q[1])];
        if low < high {
            both.push([low, high]);
        }
        // What ends first meets nothing that comes later.
        if p[1] < q[1] {
            of_p = rest_p;
        } else {
            of_q = rest_q;
        }
    }
    both.sort_unstable_by(|a, b| (b[1] - b[0]).total_cmp(&(a[1] - a[0])));
    both.into_iter().map(|[low, high]| low / 2.0 + high / 2.0).collect()
}

/// Vertices of a hull with the point strictly inside; of a mesh none are asked for.
fn around(
    shape: &HulledBody<'_>,
    [at, offset]: &[Vec3; 2],
    effort: &mut Effort<'_>,
) -> Result<Option<ArrayVec<u32, 6>>, Stopped> {
    if !shape.is_hull {
        return Ok(Some(ArrayVec::new()));
    }
    let Ok(point) = convex_hull(&[*at]) else { return Ok(None) };
    let pose = Pose::translation(offset.x, offset.y, offset.z);
    let pair = Pair::new(&point.polytope, pose, shape.hull, shape.pose);
    let proof = decide(&pair, &METHODS[0], &mut Witness::default(), effort)?.proof;
    Ok(match proof {
        StaticProof::Overlapping { pairs } => Some(pairs.iter().map(|pair| pair.j).collect()),
        StaticProof::Separated { .. } | StaticProof::Touching { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each piece was compared with each: two stacks of some 100,000 plates took minutes, whatever
    /// the deadline.
    #[test]
    fn a_line_through_many_pieces_is_walked_once() {
        let of_p: Vec<f64> = (0..600_000).map(f64::from).collect();
        let of_q: Vec<f64> = of_p.iter().map(|at| at + 0.25).collect();
        let middles = common(&of_p, &of_q);
        // Plates of Q begin a quarter after those of P, and end so.
        assert_eq!(middles.len(), 300_000);
        assert!(middles.iter().all(|middle| (middle % 2.0 - 0.625).abs() < 1e-9));
    }

    #[test]
    fn pieces_of_both_are_found_the_longest_first() {
        let middles = common(&[0.0, 10.0, 11.0, 12.0, 13.0], &[-2.0, -1.0, 1.0, 2.0, 4.0, 11.5]);
        assert_eq!(middles, [7.0, 1.5, 11.25]);
        assert_eq!(common(&[0.0, 1.0], &[1.0, 2.0]), [0.0; 0]);
    }
}
