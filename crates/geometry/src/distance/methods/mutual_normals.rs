//! The separation of two polyhedra by the feet of their faces' mutual normals.
//!
//! Source: Joseph, Plantinga, *Efficient Algorithms for Polyhedron Collision Detection*, 1987,
//! §3.2, Algorithm 2, in three dimensions.
//!
//! The flats of two faces that are not partly parallel, of three dimensions together at most, meet
//! in one point or have one mutual normal. If its feet lie in the faces, their distance is a
//! candidate, and the least candidate is the separation (Lemmas 3 to 6). Where an edge and a facet
//! meet in a point of both, the bodies do; and if no faces meet, one body may still be inside the
//! other, which the parity of a ray from a vertex tells (§3.3).
//!
//! Proves: nothing; the simplex of the two faces is proven nearest, or gone on from.
//! Cost:   a step for each face of P; with every vertex, edge and triangle of Q, so
//!         `O(I(P) I(Q))` as the text has it. Larger bodies are handed over.
//!
//! Differs from the text:
//! - §3.1: facets are fans of triangles, so that a foot is in a facet if it is in one of these.
//! - §3.2: a foot that rounding moves across the boundary of its face is found in the smaller face
//!   that it lies near, or not at all; what is then missed, error bounds or exact arithmetic find.
//! - §3.3: the ray has one of a few directions, the next where it passes near an edge. The text
//!   takes random ones.
//! - §3: the text asks of any polyhedra; here of convex ones, as the other distances. Whether
//!   general ones meet, and when, is the method `faces`.
//! - §3.5: prisms in four dimensions are swept over time by `faces`, and need no separation.

use arrayvec::ArrayVec;

use super::features::{FEATURE_PAIRS_MAX, Features};
use super::{DistanceMethod, Ending, FoundSimplex, Proposer};
use crate::Vec3;
use crate::difference::RoundedCorner;
use crate::difference::bounded::BoundedView;
use crate::distance::Stops;
use crate::distance::simplex::Simplex;
use crate::effort::{Effort, Stopped};
use crate::number::tolerance::RAY_BESIDE_EDGE;
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::witness::Witness;

/// The row of the table.
pub(super) const METHOD: DistanceMethod = DistanceMethod {
    name: "mutual_normals",
    source: "Joseph, Plantinga 1987, §3.2, Algorithm 2",
    proves: "nothing; the simplex that it ends with is proven nearest, or gone on from",
    cost: "the feet of the mutual normal of every two faces of three dimensions together",
    tables: Tables::Nothing,
    proposer: Proposer::By(propose),
};

/// Directions of the ray, none of which is likely to lie in a face.
const RAYS: [[f64; 3]; 4] = [
    [0.531, 0.743, 0.407],
    [-0.619, 0.283, 0.733],
    [0.211, -0.859, 0.467],
    [-0.347, -0.421, -0.838],
];

/// What the faces say of the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looked {
    /// No two faces meet.
    Apart,
    /// Two faces meet.
    Meeting,
}

struct FeetSearch<'a> {
    view: &'a BoundedView<'a>,
    best: Simplex,
}

fn propose(
    view: &BoundedView<'_>,
    pair: &Pair<'_>,
    _stops: Stops,
    _witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> FoundSimplex {
    let (p, q) = (pair.p.body, pair.q.body);
    let (of_p, of_q) = (Features::of(p), Features::of(q));
    if of_p.pairs_with(&of_q) > FEATURE_PAIRS_MAX {
        return FoundSimplex::hands_over();
    }
    let mut search = FeetSearch { view, best: Simplex::default() };
    let ending = match search.visit_all(&of_p, &of_q, effort) {
        Ok(Looked::Meeting) => Ending::HoldsOrigin,
        Ok(Looked::Apart) => {
            let is_inside = (q.dimension() == 3 && search.holds_vertex_of_p(&of_q))
                || (p.dimension() == 3 && search.holds_vertex_of_q(&of_p));
            if is_inside { Ending::HoldsOrigin } else { Ending::Nearest }
        }
        Err(why) => Ending::Stopped(why),
    };
    let latest = search.best.corners().first().map_or(VertexPair::default(), |c| c.pair);
    FoundSimplex { simplex: search.best, latest, ending }
}

impl FeetSearch<'_> {
    /// A step for each face of P.
    fn visit_all(
        &mut self,
        of_p: &Features,
        of_q: &Features,
        effort: &mut Effort<'_>,
    ) -> Result<Looked, Stopped> {
        let at = |i, j| VertexPair { i, j };
        let mut looked = Looked::Apart;
        for i in 0..of_p.vertices {
            effort.spend_step()?;
            (0..of_q.vertices).for_each(|j| self.of_vertices(at(i, j)));
            of_q.edges.iter().for_each(|edge| self.of_edge(edge.map(|j| at(i, j))));
            of_q.triangles.iter().for_each(|corners| self.of_triangle(corners.map(|j| at(i, j))));
        }
        for edge in &of_p.edges {
            effort.spend_step()?;
            (0..of_q.vertices).for_each(|j| self.of_edge(edge.map(|i| at(i, j))));
            of_q.edges.iter().for_each(|other| self.of_edges(edge, other));
            let difference = |i, j| self.view.difference(at(i, j));
            let way = difference(edge[0], 0) - difference(edge[1], 0);
            let meets = |corners: &[u32; 3]| {
                let seen = corners.map(|j| difference(edge[0], j));
                crossing(&seen, &way).is_some_and(|(t, _)| t <= 1.0)
            };
            if of_q.triangles.iter().any(meets) {
                looked = Looked::Meeting;
            }
        }
        for corners in &of_p.triangles {
            effort.spend_step()?;
            (0..of_q.vertices).for_each(|j| self.of_triangle(corners.map(|i| at(i, j))));
            let difference = |i, j| self.view.difference(at(i, j));
            let meets = |edge: &[u32; 2]| {
                let seen = corners.map(|i| -difference(i, edge[0]));
                let way = difference(0, edge[1]) - difference(0, edge[0]);
                crossing(&seen, &way).is_some_and(|(t, _)| t <= 1.0)
            };
            if of_q.edges.iter().any(meets) {
                looked = Looked::Meeting;
            }
        }
        Ok(looked)
    }

    fn of_vertices(&mut self, pair: VertexPair) {
        self.look_at(&[pair]);
    }

    /// A vertex and an edge: the foot on the edge.
    fn of_edge(&mut self, pairs: [VertexPair; 2]) {
        let [a, b] = pairs.map(|pair| self.view.difference(pair));
        let along = b - a;
        let t = -a.dot(&along);
        if (0.0..=along.norm_squared()).contains(&t) {
            self.look_at(&pairs);
        }
    }

    /// A vertex and a triangle: the foot in its plane.
    fn of_triangle(&mut self, pairs: [VertexPair; 3]) {
        let [a, b, c] = pairs.map(|pair| self.view.difference(pair));
        let normal = (b - a).cross(&(c - a));
        let inside = |from: &Vec3, to: &Vec3| normal.dot(&(to - from).cross(&-from)) >= 0.0;
        if inside(&a, &b) && inside(&b, &c) && inside(&c, &a) {
            self.look_at(&pairs);
        }
    }

    /// Two edges that are not parallel: the feet on both.
    fn of_edges(&mut self, [a, b]: &[u32; 2], [c, d]: &[u32; 2]) {
        let at = |i: &u32, j: &u32| VertexPair { i: *i, j: *j };
        let first = self.view.difference(at(a, c));
        // Where the difference goes when the foot goes along P's edge, and along Q's.
        let along_p = self.view.difference(at(b, c)) - first;
        let along_q = self.view.difference(at(a, d)) - first;
        let [pp, pq, qq] = [along_p.norm_squared(), along_p.dot(&along_q), along_q.norm_squared()];
        let [p, q] = [-first.dot(&along_p), -first.dot(&along_q)];
        let determinant = pp * qq - pq * pq;
        let (of_p, of_q) = (p * qq - q * pq, q * pp - p * pq);
        let on_both = 0.0..=determinant;
        if determinant <= 0.0 || !on_both.contains(&of_p) || !on_both.contains(&of_q) {
            return;
        }
        // The half of the parallelogram in which the point is.
        let middle = if of_p >= of_q { at(b, c) } else { at(a, d) };
        self.look_at(&[at(a, c), middle, at(b, d)]);
    }

    fn look_at(&mut self, pairs: &[VertexPair]) {
        let corner = |&pair: &VertexPair| RoundedCorner { pair, point: self.view.difference(pair) };
        let corners: ArrayVec<RoundedCorner, 3> = pairs.iter().map(corner).collect();
        let Some(simplex) = Simplex::of(&corners) else { return };
        if simplex.squared < self.best.squared || self.best.corners().is_empty() {
            self.best = simplex;
        }
    }

    fn holds_vertex_of_p(&self, of_q: &Features) -> bool {
        is_inside(of_q, |j| self.view.difference(VertexPair { i: 0, j }))
    }

    fn holds_vertex_of_q(&self, of_p: &Features) -> bool {
        is_inside(of_p, |i| -self.view.difference(VertexPair { i, j: 0 }))
    }
}

/// Whether the origin is inside the body, by the parity of a ray (§3.3); no if every ray passes
/// near an edge.
fn is_inside(body: &Features, place: impl Fn(u32) -> Vec3) -> bool {
    let odd = |ray: &[f64; 3]| {
        let ray = Vec3::from(*ray);
        let mut is_odd = false;
        for corners in &body.triangles {
            if let Some((_, least)) = crossing(&corners.map(&place), &ray) {
                if least < RAY_BESIDE_EDGE {
                    return None;
                }
                is_odd = !is_odd;
            }
        }
        Some(is_odd)
    };
    RAYS.iter().find_map(odd).unwrap_or(false)
}

/// Where the ray from the origin along `way` meets a triangle, as a multiple of it, and the least
/// weight of a corner there; none if it does not, or is parallel to it (§3.4).
fn crossing([a, b, c]: &[Vec3; 3], way: &Vec3) -> Option<(f64, f64)> {
    let (of_a, of_b, of_c) = (b.cross(c).dot(way), c.cross(a).dot(way), a.cross(b).dot(way));
    let sum = of_a + of_b + of_c;
    let height = (b - a).cross(&(c - a)).dot(a);
    let weights = [of_a / sum, of_b / sum, of_c / sum];
    let least = weights.into_iter().fold(f64::INFINITY, f64::min);
    let t = height / sum;
    // False for NaN, too.
    let meets = sum != 0.0 && least >= 0.0 && t >= 0.0;
    meets.then_some((t, least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Verdict;
    use crate::distance::{measure, measure_by};
    use crate::polytope::Polytope;
    use crate::pose::Pose;
    use crate::samples::{Random, ball, cuboid, ellipsoid, polygon};

    fn proposed(pair: &Pair<'_>) -> FoundSimplex {
        let view = BoundedView::new(pair);
        let mut effort = Effort::unlimited();
        propose(&view, pair, Stops::default(), &mut Witness::default(), &mut effort)
    }

    fn bodies() -> Vec<Polytope> {
        let mut bodies = vec![cuboid(1.0, 0.7, 0.5), ellipsoid(40, [1.0, 0.5, 0.3], 7)];
        bodies.extend([4, 8, 20, 60].map(|n| ball(n, n.into())));
        bodies.push(polygon(7));
        bodies
    }

    /// What the method finds is the separation, without going on from it; and it sees every overlap
    /// in which both bodies have an inside.
    #[test]
    fn the_least_distance_of_feet_in_their_faces_is_the_separation() {
        let bodies = bodies();
        let mut random = Random(1987);
        let (mut apart, mut meeting) = (0, 0);
        for round in 0..400 {
            let p = &bodies[round % bodies.len()];
            let q = &bodies[random.below(bodies.len() as u32) as usize];
            let at = random.unit_vector() * (0.2 + f64::from(random.below(300)) / 100.0);
            let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(at));
            let effort = &mut Effort::unlimited();
            let truth = measure(&pair, Stops::default(), &mut Witness::default(), effort).unwrap();
            let found = proposed(&pair);
            if truth.decision.verdict() == Verdict::Separated {
                apart += 1;
                assert_eq!(found.ending, Ending::Nearest, "round {round}");
                let [lower, upper] = [truth.lower, truth.upper];
                let distance = found.simplex.squared.sqrt();
                let is_it = lower * (1.0 - 1e-9) <= distance && distance <= upper * (1.0 + 1e-9);
                assert!(is_it, "round {round}: {distance} of [{lower}, {upper}]");
            } else if p.dimension() == 3 && q.dimension() == 3 {
                meeting += 1;
                assert_eq!(found.ending, Ending::HoldsOrigin, "round {round}");
            }
            let by = measure_by(&METHOD, &pair, Stops::default(), &mut Witness::default(), effort)
                .unwrap();
            assert_eq!(by.decision.verdict(), truth.decision.verdict(), "round {round}");
        }
        assert!(apart > 150 && meeting > 50, "{apart} {meeting}");
    }

    /// Faces of two boxes that face each other are partly parallel: their corners realise the
    /// separation (Lemma 5). And no two faces meet of a body inside another.
    #[test]
    fn parallel_faces_are_skipped_and_a_body_inside_another_is_seen() {
        let (cube, small) = (cuboid(1.0, 1.0, 1.0), cuboid(0.2, 0.2, 0.2));
        let at = |x: f64| Pose::translation(x, 0.0, 0.0);
        let apart = Pair::new(&cube, Pose::identity(), &cube, at(3.0));
        let found = proposed(&apart);
        let far = found.simplex.squared.sqrt();
        let effort = &mut Effort::unlimited();
        let truth = measure(&apart, Stops::default(), &mut Witness::default(), effort).unwrap();
        assert_eq!(found.ending, Ending::Nearest);
        assert!(truth.lower <= far && far <= truth.upper, "{far}");
        for pair in [
            Pair::new(&cube, Pose::identity(), &small, at(0.1)),
            Pair::new(&small, at(0.1), &cube, Pose::identity()),
        ] {
            assert_eq!(proposed(&pair).ending, Ending::HoldsOrigin);
        }
    }

    #[test]
    fn large_bodies_are_handed_over() {
        let large = ball(2000, 1);
        let pair = Pair::new(&large, Pose::identity(), &large, Pose::translation(3.0, 0.0, 0.0));
        assert_eq!(proposed(&pair).ending, Ending::HandsOver);
    }
}
