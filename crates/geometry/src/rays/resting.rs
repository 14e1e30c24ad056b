//! With which faces of a body that is not convex a convex one is in contact where it stands, and
//! along which normal each of them takes it out.
//!
//! The normal of a face is the shortest way out of that triangle. Where it is no normal of the
//! surface ([`seams`](crate::seams)), or points into what the faces bound, the contact is left out:
//! its neighbours tell. Of a ball the nearest face is never left out. Of other bodies that are
//! deeper than they are wide, or triangles small, all may be: then contacts have the normals of
//! their faces in place of their own, where the body is at the face, that is, where what of it is
//! farthest in, against that normal, and the face meet as seen along it. All of that is decided
//! exactly.

use super::mesh::MeshBoxes;
use super::passing::{
    FacesOf, PASSED_FACES_MAX, PassedFaces, StraightBody, faces_near, is_rounded,
};
use super::walk::RayTree;
use crate::Vec3;
use crate::claim::{Direction, StaticProof, Verdict};
use crate::difference::exact::Difference;
use crate::difference::heading::unit_vector;
use crate::distance::towards;
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::meeting::farthest;
use crate::number::Sign;
use crate::number::scaled::{Integers, dot, negated, sign};
use crate::pair::{Pair, Placed, VertexPair};
use crate::penetration;
use crate::polytope::Polytope;
use crate::rounded::{self, RoundedPair};
use crate::seams::{BYTES_OF_TRIANGLE, FaceCorners, Surroundings};
use crate::separation::line::crossing::{Crossing, cross_line};
use crate::witness::Witness;

/// The contact of a convex body with a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestingContact {
    /// Touching or overlapping.
    pub verdict: Verdict,
    /// Unit vector in the world, rounded, out of the face towards the convex body.
    pub normal: Vec3,
    /// Around how far the convex body has to go along the normal, as it is told, to be out of the
    /// face, metres.
    pub depth: [f64; 2],
}

/// A contact at a normal leads so many times as far from the middle of the convex body as its own
/// points are: to a point of the face that is as deep in it as the whole body is wide at most.
const REACH: f64 = 3.0;

/// The deepest contact of a convex body, where it stands, with the faces of one that is not convex.
/// None: it is in contact with none. Where there are too many near it, that is
/// [`Stopped::Unresolved`].
///
/// ```
/// # use clearance_geometry::{Vec3, effort::Effort, hull::convex_hull, pair::Placed, pose::Pose};
/// use std::sync::Arc;
/// use clearance_geometry::polyhedron::{TriangleBody, TriangleSurface};
/// use clearance_geometry::rays::passing::{FacesOf, PassedFaces, StraightBody};
/// use clearance_geometry::rays::resting::deepest_contact;
///
/// let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// let square = [[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]];
/// let corners = square.map(|[x, y]| Vec3::new(x, y, 0.0));
/// let floor = TriangleSurface::new(&corners, &[[0, 1, 2], [0, 2, 3]]).unwrap();
/// let floor = TriangleBody::Surface(Arc::new(floor));
/// let faces = PassedFaces { of: FacesOf::Triangles(&floor), pose: Pose::identity(), radius: 0.0 };
/// let start = Placed { body: &cube, pose: Pose::translation(-0.5, 0.5, -0.125) };
/// let body = StraightBody { start, radius: 0.0, by: Vec3::zeros() };
/// let found = deepest_contact(&body, &faces, &mut Effort::unlimited()).unwrap().unwrap();
/// assert_eq!((found.normal, found.depth), (Vec3::z(), [0.125; 2]));
/// ```
pub fn deepest_contact(
    body: &StraightBody<'_>,
    faces: &PassedFaces<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<RestingContact>, Stopped> {
    let still = StraightBody { by: Vec3::zeros(), ..*body };
    effort.one_question(|effort| match faces.of {
        FacesOf::Triangles(triangles) => {
            let is_region = triangles.region().is_some();
            let resting = Resting { body: still, faces: *faces, is_region };
            resting.deepest(&MeshBoxes::new(triangles.surface()), effort)
        }
        FacesOf::Field(field) => {
            Resting { body: still, faces: *faces, is_region: false }.deepest(field, effort)
        }
    })
}

/// What is kept of the faces near a body while its contacts are looked for, bytes at most: a list
/// that grows.
pub const BYTES_OF_NEAR_FACES: usize = 2 * PASSED_FACES_MAX * BYTES_OF_TRIANGLE;

struct Resting<'a> {
    body: StraightBody<'a>,
    faces: PassedFaces<'a>,
    is_region: bool,
}

/// The convex body and one of the faces.
struct FacePair<'a> {
    cores: Pair<'a>,
    radii: [f64; 2],
    verdict: Verdict,
    /// Vertices of the face, which are the corners of the triangle in its own order; none of a
    /// triangle without area.
    corners: Option<[u32; 3]>,
}

impl Resting<'_> {
    fn deepest(
        &self,
        tree: &impl RayTree,
        effort: &mut Effort<'_>,
    ) -> Result<Option<RestingContact>, Stopped> {
        let way = self.body.wide_way(&self.faces, tree.reach(), REACH);
        let way = way.ok_or(Stopped::Unresolved)?;
        let near = faces_near(&way, tree, effort)?.ok_or(Stopped::Unresolved)?;
        let near = Surroundings::new(near);
        let mut deepest: Option<RestingContact> = None;
        for (at, _) in (0..).zip(near.triangles()) {
            effort.spend_step()?;
            let found = self.contact(at, &near, effort)?;
            deepest = better(deepest, found, |a, b| a.depth[0] > b.depth[0]);
        }
        if deepest.is_some() {
            return Ok(deepest);
        }
        // The least of these: of a floor's it is the way up, and not that along its side.
        let mut nearest: Option<RestingContact> = None;
        for corners in near.triangles() {
            effort.spend_step()?;
            let found = self.contact_on_face(corners, effort)?;
            nearest = better(nearest, found, |a, b| a.depth[1] < b.depth[1]);
        }
        Ok(nearest)
    }

    /// With one face, if there is one that is also with the surface.
    fn contact(
        &self,
        triangle: u32,
        near: &Surroundings,
        effort: &mut Effort<'_>,
    ) -> Result<Option<RestingContact>, Stopped> {
        let corners = &near.triangles()[triangle as usize];
        let face = convex_hull(corners).map_err(|_| Stopped::Unresolved)?.polytope;
        let Some((pair, out)) = self.beside(&face, corners, effort)? else { return Ok(None) };
        let mut m = Difference::new(&pair.cores);
        let exact = m.direction(&out);
        let is_inward = self.is_region
            && pair.normals().is_some_and(|[outward, _]| {
                sign(&dot(&m.direction(&outward), &exact)) == Sign::Negative
            });
        let local = m.direction_in_q(&exact);
        let is_own = !is_inward && near.is_of_surface(triangle, &local, effort)?;
        if is_own { pair.along(&out, effort).map(Some) } else { Ok(None) }
    }

    /// With one face, with its normal in place of that of the contact, if the body is there.
    fn contact_on_face(
        &self,
        corners: &FaceCorners,
        effort: &mut Effort<'_>,
    ) -> Result<Option<RestingContact>, Stopped> {
        let face = convex_hull(corners).map_err(|_| Stopped::Unresolved)?.polytope;
        let Some((pair, out)) = self.beside(&face, corners, effort)? else { return Ok(None) };
        let exact = Difference::new(&pair.cores).direction(&out);
        pair.on_face(self.is_region, &exact, effort)
    }

    /// The body and a face that it is in contact with, and its shortest way out of that.
    fn beside<'q>(
        &'q self,
        face: &'q Polytope,
        corners: &FaceCorners,
        effort: &mut Effort<'_>,
    ) -> Result<Option<(FacePair<'q>, Direction)>, Stopped> {
        let (cores, radii) = self.body.beside(&self.faces, face);
        let found = way_out(&cores, radii, effort)?;
        let corners = corners_of(face, corners);
        Ok(found.map(|(verdict, out)| (FacePair { cores, radii, verdict, corners }, out)))
    }
}

/// The second one, if there is no first one or it is better.
fn better(
    known: Option<RestingContact>,
    found: Option<RestingContact>,
    is_better: impl Fn(&RestingContact, &RestingContact) -> bool,
) -> Option<RestingContact> {
    match (known, found) {
        (Some(known), Some(found)) if !is_better(&found, &known) => Some(known),
        (known, None) => known,
        (_, found) => found,
    }
}

/// How the two stand, and the shortest way of P out of Q; none: they are apart.
fn way_out(
    cores: &Pair<'_>,
    radii: [f64; 2],
    effort: &mut Effort<'_>,
) -> Result<Option<(Verdict, Direction)>, Stopped> {
    let witness = &mut Witness::default();
    let (verdict, out, stopped) = if is_rounded(radii) {
        let found =
            rounded::measure_depth(&RoundedPair { cores: *cores, radii }, false, witness, effort)?;
        let out = match found.proof.verdict {
            Verdict::Touching => Some(towards(&found.proof.pairs).reversed()),
            Verdict::Separated | Verdict::Overlapping => found.face,
        };
        (found.proof.verdict, out, found.stopped)
    } else {
        let found = penetration::measure(cores, false, witness, effort)?;
        let out = match &found.decision.proof {
            StaticProof::Touching { direction, .. } => Some(direction.reversed()),
            StaticProof::Separated { .. } | StaticProof::Overlapping { .. } => found.face,
        };
        (found.decision.verdict(), out, found.stopped)
    };
    if verdict == Verdict::Separated {
        return Ok(None);
    }
    match (out, stopped) {
        (Some(out), None) => Ok(Some((verdict, out))),
        (_, Some(stopped)) => Err(stopped),
        (None, None) => Err(Stopped::Unresolved),
    }
}

fn corners_of(face: &Polytope, corners: &FaceCorners) -> Option<[u32; 3]> {
    let of = |corner: &Vec3| face.vertices().iter().position(|vertex| vertex == corner);
    let [a, b, c] = corners.each_ref().map(of);
    let found = [a?, b?, c?];
    let is_one = found[0] != found[1] && found[1] != found[2] && found[2] != found[0];
    let found = found.map(|at| u32::try_from(at).ok());
    let [a, b, c] = found;
    is_one.then_some([a?, b?, c?])
}

impl FacePair<'_> {
    /// The two normals of the face; the first one is that which its corners turn around.
    fn normals(&self) -> Option<[Direction; 2]> {
        let pairs = self.corners?.map(|j| VertexPair { i: 0, j });
        Some([false, true].map(|negative| Direction::Normal { pairs, negative }))
    }

    /// The contact along a way out.
    fn along(&self, out: &Direction, effort: &mut Effort<'_>) -> Result<RestingContact, Stopped> {
        let normal = unit_vector(&self.cores, out).ok_or(Stopped::Unresolved)?;
        let witness = &mut Witness::default();
        let span = if is_rounded(self.radii) {
            let pair = RoundedPair { cores: self.cores, radii: self.radii };
            rounded::along(&pair, &normal, witness, effort)?.span
        } else {
            penetration::along(&self.cores, &normal, witness, effort)?.span
        };
        let depth = span.map_or([0.0; 2], |span| span.exit);
        Ok(RestingContact { verdict: self.verdict, normal, depth })
    }

    /// The contact along the normal of the face in place of another one, if the body is there: on
    /// the outer side of a region, else on the side that the other one points to, and where it
    /// points to neither on that which is nearer.
    fn on_face(
        &self,
        is_region: bool,
        other: &Integers,
        effort: &mut Effort<'_>,
    ) -> Result<Option<RestingContact>, Stopped> {
        let Some([front, back]) = self.normals() else { return Ok(None) };
        let towards = Difference::new(&self.cores).direction(&front);
        let sides = match sign(&dot(&towards, other)) {
            Sign::Negative if !is_region => [Some(back), None],
            Sign::Zero if !is_region => [Some(front), Some(back)],
            Sign::Negative | Sign::Zero | Sign::Positive => [Some(front), None],
        };
        let mut nearest: Option<RestingContact> = None;
        for out in sides.into_iter().flatten() {
            if self.is_above(&out, effort)? {
                let found = Some(self.along(&out, effort)?);
                nearest = better(nearest, found, |a, b| a.depth[1] < b.depth[1]);
            }
        }
        Ok(nearest)
    }

    /// Whether what of the body is farthest against a normal of the face meets the face as seen
    /// along the normal, exactly.
    fn is_above(&self, normal: &Direction, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
        let mut m = Difference::new(&self.cores);
        let out = m.direction(normal);
        let Some(rounded) = unit_vector(&self.cores, normal) else { return Ok(false) };
        let Pair { p, q } = self.cores;
        let vertex = |i: u32| m.vertex_of_p(i);
        let lowest = farthest(&p, &-rounded, &negated(&out), &vertex, effort);
        let places: Vec<Vec3> =
            lowest.into_iter().map(|at| p.body.vertices()[at as usize]).collect();
        let lowest = convex_hull(&places).map_err(|_| Stopped::Unresolved)?.polytope;
        let pair = Pair { p: Placed { body: &lowest, pose: p.pose }, q };
        let crossing = cross_line(&mut Difference::new(&pair), &out, effort)?;
        Ok(matches!(crossing, Crossing::Meets(_)))
    }
}

#[cfg(test)]
mod tests;
