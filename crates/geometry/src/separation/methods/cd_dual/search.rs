//! The searches: over the faces of P (SEARCH-FV), over those of Q (SEARCH-VF), over pairs of edges
//! (SEARCH-EE), each from face to neighbouring face while the objective grows.

use super::bodies::{DualBodies, DualBody, DualFacet, DualSide, FaceKind};
use super::facet::{PARALLEL, Supports};
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::hierarchy::Feature;
use crate::pair::VertexPair;
use crate::support;

/// Faces of M that a search may look at: a hundred times what the elongated bodies of the tests
/// take. The objective grows with every move, so only rounding errors could lead a search so far.
const FACES_MAX: u64 = 1 << 18;

/// How many faces of M each search has looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DualWork {
    /// Faces of P with a vertex of Q.
    pub fv: u64,
    /// Faces of Q with a vertex of P.
    pub vf: u64,
    /// Pairs of edges, whether or not they make a face.
    pub ee: u64,
}

/// How a search ended.
pub(super) enum DualFound {
    /// At a face that the origin is beyond; the first such, not the best.
    Beyond(DualFacet),
    /// At the best face, which the ray passes in this triangle.
    Best(DualFacet, [(VertexPair, f64); 3]),
    /// Nowhere: rounding led it astray.
    Lost,
}

/// Why a search gives up.
pub(super) enum Halt {
    Stopped(Stopped),
    Lost,
}

impl From<Stopped> for Halt {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

/// A search from c along a ray.
pub(super) struct DualSearch<'a> {
    pub(super) bodies: DualBodies<'a>,
    /// Whether a face that the origin is beyond is enough.
    until_beyond: bool,
    pub(super) work: DualWork,
    /// The faces that it has moved to, if somebody wants to see them.
    pub(super) way: Option<Vec<DualFacet>>,
}

/// The arc of an edge of P on the Gaussian sphere, in Q's frame: from the normal of the face on its
/// left to the one on its right.
struct Arc {
    left: Vec3,
    right: Vec3,
    /// The edge as a vector.
    along: Vec3,
}

impl<'a> DualSearch<'a> {
    pub(super) fn new(bodies: DualBodies<'a>, until_beyond: bool) -> Self {
        Self { bodies, until_beyond, work: DualWork::default(), way: None }
    }

    /// Searches from a face of P. `hint` is a vertex of Q that may support M there.
    pub(super) fn run(
        &mut self,
        first: u32,
        hint: Option<u32>,
        effort: &mut Effort<'_>,
    ) -> Result<DualFound, Stopped> {
        match self.best_face(first, hint, effort) {
            Ok(found) => Ok(found),
            Err(Halt::Lost) => Ok(DualFound::Lost),
            Err(Halt::Stopped(stopped)) => Err(stopped),
        }
    }

    /// The face of P whose normal is most along the ray (§4.2), found at the vertex farthest along
    /// it and by climbing on from there.
    pub(super) fn first_face(&self, effort: &mut Effort<'_>) -> u32 {
        let (side, ray) = (&self.bodies.p, &self.bodies.ray);
        let vertex = support::likely_vertex(side.body, ray, None, effort);
        let mut face = side.face_at(vertex, ray);
        // No more moves than faces: the product with the ray grows with each.
        for _ in 0..side.surface.face_count() {
            let around = side.incidence().edges_of(face).iter();
            let faces = around.flat_map(|&edge| side.incidence().faces_at(edge));
            match side.nearest(faces, ray) {
                Some(next) if next != face => face = next,
                Some(_) | None => break,
            }
        }
        face
    }

    fn best_face(
        &mut self,
        first: u32,
        hint: Option<u32>,
        effort: &mut Effort<'_>,
    ) -> Result<DualFound, Halt> {
        let start = self.look(DualBody::P, first, hint, effort)?;
        let fv = self.over_faces(start, effort)?;
        if self.is_beyond(&fv) {
            return Ok(DualFound::Beyond(fv));
        }
        let supports = self.bodies.supports(&fv);
        if let Some(triangle) = self.bodies.passed(&fv.normal, &supports) {
            return Ok(DualFound::Best(fv, triangle));
        }
        let against = self.bodies.outward(DualBody::Q, &fv.normal);
        let near = self.bodies.q.face_at(fv.pair.j, &against);
        let start = self.look(DualBody::Q, near, Some(fv.pair.i), effort)?;
        let vf = self.over_faces(start, effort)?;
        let mut best = if vf.value > fv.value { vf } else { fv };
        // Each round ends at a better face.
        loop {
            if self.is_beyond(&best) {
                return Ok(DualFound::Beyond(best));
            }
            let supports = self.bodies.supports(&best);
            if let Some(triangle) = self.bodies.passed(&best.normal, &supports) {
                return Ok(DualFound::Best(best, triangle));
            }
            best = match self.better_edges(&best, &supports, effort)? {
                Some(better) => self.move_to(better),
                None => match self.better_face(&best, &supports, effort)? {
                    Some(better) => self.over_faces(better, effort)?,
                    None => return Err(Halt::Lost),
                },
            };
        }
    }

    fn move_to(&mut self, facet: DualFacet) -> DualFacet {
        if let Some(way) = &mut self.way {
            way.push(facet);
        }
        facet
    }

    fn is_beyond(&self, facet: &DualFacet) -> bool {
        self.until_beyond && facet.value > 1.0
    }

    /// Looks at one face of P or Q with the other's supporting vertex.
    fn look(
        &mut self,
        body: DualBody,
        face: u32,
        hint: Option<u32>,
        effort: &mut Effort<'_>,
    ) -> Result<DualFacet, Halt> {
        match body {
            DualBody::P => self.work.fv += 1,
            DualBody::Q => self.work.vf += 1,
        }
        self.spend(effort)?;
        Ok(self.bodies.of_face(body, face, hint, effort))
    }

    fn spend(&self, effort: &mut Effort<'_>) -> Result<(), Halt> {
        effort.spend_step()?;
        let looked_at = self.work.fv + self.work.vf + self.work.ee;
        if looked_at > FACES_MAX { Err(Halt::Lost) } else { Ok(()) }
    }

    /// SEARCH-FV and SEARCH-VF: from a face to its best neighbour on the same body.
    pub(super) fn over_faces(
        &mut self,
        start: DualFacet,
        effort: &mut Effort<'_>,
    ) -> Result<DualFacet, Halt> {
        let mut here = self.move_to(start);
        let mut came_from = None;
        loop {
            let FaceKind::Face(body, face) = here.kind else { return Ok(here) };
            if self.is_beyond(&here) {
                return Ok(here);
            }
            let hint = match body {
                DualBody::P => here.pair.j,
                DualBody::Q => here.pair.i,
            };
            let surface = self.bodies.side(body).surface;
            let mut best = here;
            for &edge in surface.incidence().edges_of(face) {
                let Some(next) = surface.across(edge, face) else { continue };
                if came_from == Some(next) {
                    continue;
                }
                let facet = self.look(body, next, Some(hint), effort)?;
                if facet.value > best.value {
                    best = facet;
                }
            }
            if best.kind == here.kind {
                return Ok(here);
            }
            came_from = Some(face);
            here = self.move_to(best);
        }
    }

    /// SEARCH-EE, one round: a better face among the pairs of an edge of the one body's supporting
    /// feature and an edge at the other's.
    fn better_edges(
        &mut self,
        facet: &DualFacet,
        supports: &Supports,
        effort: &mut Effort<'_>,
    ) -> Result<Option<DualFacet>, Halt> {
        let (edges_p, around_p) = edges_of_and_around(&self.bodies.p, supports.p);
        let (edges_q, around_q) = edges_of_and_around(&self.bodies.q, supports.q);
        for (of_p, of_q) in [(edges_p, around_q), (around_p, edges_q)] {
            if of_q.is_empty() {
                continue;
            }
            for edge_p in of_p {
                let arc = self.arc(edge_p);
                for &edge_q in &of_q {
                    self.work.ee += 1;
                    self.spend(effort)?;
                    let Some(positive) = self.crosses(&arc, edge_q) else { continue };
                    let pair = [edge_p, edge_q];
                    let found = self.bodies.of_edges(pair, positive, facet.value, effort);
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(None)
    }

    /// A better face among those at the ends of the arcs: the neighbours that pairs of edges leave.
    fn better_face(
        &mut self,
        facet: &DualFacet,
        supports: &Supports,
        effort: &mut Effort<'_>,
    ) -> Result<Option<DualFacet>, Halt> {
        for (body, feature) in [(DualBody::P, supports.p), (DualBody::Q, supports.q)] {
            let side = *self.bodies.side(body);
            let hint = match body {
                DualBody::P => facet.pair.j,
                DualBody::Q => facet.pair.i,
            };
            for edge in side.edges(feature) {
                for face in side.incidence().faces_at(edge) {
                    let next = self.look(body, face, Some(hint), effort)?;
                    if next.value > facet.value {
                        return Ok(Some(next));
                    }
                }
            }
        }
        Ok(None)
    }

    fn arc(&self, edge: u32) -> Arc {
        let side = &self.bodies.p;
        let [a, b] = side.incidence().ends(edge);
        let mut faces = side.incidence().faces_at(edge);
        let mut next = || {
            let face = faces.next().expect("two faces meet at an edge of a solid");
            self.bodies.functional_to_q(side.surface.normal(face))
        };
        let (left, right) = (next(), next());
        let along = self.bodies.vector_to_q(&(side.body.vertex(b) - side.body.vertex(a)));
        Arc { left, right, along }
    }

    #[cfg(test)]
    pub(super) fn arcs_cross(&self, edge_p: u32, edge_q: u32) -> Option<bool> {
        self.crosses(&self.arc(edge_p), edge_q)
    }

    /// Whether the arcs of an edge of P and one of -Q cross or touch (§4.3), and then whether the
    /// common normal is the cross product of the edges or its opposite.
    ///
    /// Let a, b be the normals left and right of the edge e of P, so that `a x b` is along e, and
    /// c, d the same for the edge f of -Q, which is along f in Q, where the normals are -c and -d.
    /// With `x = e x f` one finds `x ~ -(b·f) a + (a·f) b` and `x ~ (d·e) c - (c·e) d`, up to
    /// positive factors. So x is on both arcs if `a·f`, `d·e` >= 0 >= `b·f`, `c·e`, and -x if it is
    /// the other way round: the paper's determinants, divided by the lengths of the edges.
    fn crosses(&self, arc: &Arc, edge_q: u32) -> Option<bool> {
        let side = &self.bodies.q;
        let [a, b] = side.incidence().ends(edge_q);
        let along = side.body.vertex(b) - side.body.vertex(a);
        let slack = PARALLEL * along.abs().sum();
        let (left, right) = (arc.left.dot(&along), arc.right.dot(&along));
        if left.min(right) > slack || left.max(right) < -slack {
            return None;
        }
        let mut faces = side.incidence().faces_at(edge_q);
        // The normals -c and -d.
        let mut next = || faces.next().map(|face| side.surface.normal(face).dot(&arc.along));
        let (c, d) = (next()?, next()?);
        let slack_of_p = PARALLEL * arc.along.abs().sum();
        let is = |sign: f64| {
            sign * left >= -slack
                && sign * right <= slack
                && sign * c >= -slack_of_p
                && sign * d <= slack_of_p
        };
        if is(1.0) {
            Some(true)
        } else if is(-1.0) {
            Some(false)
        } else {
            None
        }
    }
}

/// The edges of a feature, and those at its vertices.
fn edges_of_and_around(side: &DualSide<'_>, feature: Feature) -> (Vec<u32>, Vec<u32>) {
    let around = |vertex: &u32| side.incidence().edges_at(*vertex).iter().copied();
    (side.edges(feature), side.corners(feature).iter().flat_map(around).collect())
}
