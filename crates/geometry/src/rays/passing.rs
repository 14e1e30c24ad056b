//! What a convex body that goes straight meets of a body that is not convex, face by face: for
//! which times each face is in contact, exactly, and whether the body is inside of what the faces
//! bound.
//!
//! All that is near the way is looked at: the way of the middle of the body, as far off as its
//! points are from there, walks down the same tree of boxes as a ray.

use super::local::LocalRay;
use super::mesh::MeshBoxes;
use super::sight::look;
use super::walk::RayTree;
use super::{Ray, is_inside};
use crate::Vec3;
use crate::claim::{Span, Verdict};
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::meeting::{Impact, impact_of};
use crate::number::rounding::gamma;
use crate::pair::{Pair, Placed};
use crate::penetration;
use crate::polyhedron::TriangleBody;
use crate::polyhedron::tree::Extent;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::rounded::{self, RoundedPair};
use crate::terrain::HeightField;
use crate::witness::Witness;

/// So many faces near a way are looked at; of more it is not told what is met.
pub const PASSED_FACES_MAX: usize = 4_096;

/// A convex body that goes straight.
#[derive(Clone, Copy, Debug)]
pub struct StraightBody<'a> {
    /// The polytope where it starts.
    pub start: Placed<'a>,
    /// The radius of balls around all its points, metres; 0: it is the polytope.
    pub radius: f64,
    /// How far and where to it comes until t = 1.
    pub by: Vec3,
}

/// A body that is not convex, where it is.
#[derive(Clone, Copy, Debug)]
pub struct PassedFaces<'a> {
    /// What the faces are, and whether they bound anything.
    pub of: FacesOf<'a>,
    /// The pose of their body.
    pub pose: Pose,
    /// The radius of balls around all their points, metres.
    pub radius: f64,
}

/// The faces of a body.
#[derive(Clone, Copy, Debug)]
pub enum FacesOf<'a> {
    /// Triangles, or points.
    Triangles(&'a TriangleBody),
    /// The triangles of a height field.
    Field(&'a HeightField),
}

/// When a face is in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacePassage {
    /// In the frame of the faces.
    pub(super) corners: [Vec3; 3],
    /// How the body and the face stand at the start.
    pub initial: Verdict,
    /// From when until when they are in contact; it may end after t = 1, and begins by then.
    pub span: Span,
}

impl StraightBody<'_> {
    /// When each face is in contact that is so at some time; none: there are too many near the way,
    /// or numbers are too large to tell which.
    pub fn passages(
        &self,
        faces: &PassedFaces<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<FacePassage>>, Stopped> {
        effort.one_question(|effort| match faces.of {
            FacesOf::Triangles(body) => {
                self.passages_of(faces, &MeshBoxes::new(body.surface()), effort)
            }
            FacesOf::Field(field) => self.passages_of(faces, field, effort),
        })
    }

    fn passages_of(
        &self,
        faces: &PassedFaces<'_>,
        tree: &impl RayTree,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<FacePassage>>, Stopped> {
        let Some(way) = self.thick_way(faces, tree.reach()) else { return Ok(None) };
        let Some(near) = faces_near(&way, tree, effort)? else { return Ok(None) };
        let mut met = Vec::new();
        for corners in near {
            effort.spend_step()?;
            met.extend(self.passage(faces, corners, effort)?);
        }
        Ok(Some(met))
    }

    /// The way of the middle of the body in the frame of the faces, as far off as the points of the
    /// body are, and those of balls around the faces.
    fn thick_way(&self, faces: &PassedFaces<'_>, reach: f64) -> Option<LocalRay> {
        self.wide_way(faces, reach, 1.0)
    }

    /// The same, so many times as far off as the points of both are.
    pub(super) fn wide_way(
        &self,
        faces: &PassedFaces<'_>,
        reach: f64,
        times: f64,
    ) -> Option<LocalRay> {
        let bounds = self.start.body.bounds();
        let middle = (bounds.low + bounds.high) * 0.5;
        let from = self.start.pose.apply_rounded(&middle);
        let ray = Ray { point: self.start.body, from, by: self.by };
        let half = (bounds.high - bounds.low).norm() * 0.5;
        // Poses stretch by less than a hundredth, both that of the body and that of the faces.
        let thick = 1.03 * times * (half + self.radius + faces.radius);
        let sizes = middle.abs().sum() + self.start.pose.translation.abs().sum();
        LocalRay::new(&ray, &faces.pose, reach)?.thickened(thick + gamma(32) * sizes)
    }

    /// When one face is in contact, if it is by t = 1.
    fn passage(
        &self,
        faces: &PassedFaces<'_>,
        corners: [Vec3; 3],
        effort: &mut Effort<'_>,
    ) -> Result<Option<FacePassage>, Stopped> {
        let face = convex_hull(&corners).map_err(|_| Stopped::Unresolved)?.polytope;
        let (cores, radii) = self.beside(faces, &face);
        let witness = &mut Witness::default();
        let (initial, span) = if is_rounded(radii) {
            let found = rounded::along(&RoundedPair { cores, radii }, &self.by, witness, effort)?;
            (found.proof.verdict, found.span)
        } else {
            let found = penetration::along(&cores, &self.by, witness, effort)?;
            (found.decision.verdict(), found.span)
        };
        // Its ends are neighbours, between which no t = 1 is.
        let span = span.filter(|span| span.enter[1] <= 1.0);
        Ok(span.map(|span| FacePassage { corners, initial, span }))
    }

    pub(super) fn beside<'q>(
        &'q self,
        faces: &PassedFaces<'_>,
        face: &'q Polytope,
    ) -> (Pair<'q>, [f64; 2]) {
        let q = Placed { body: face, pose: faces.pose };
        (Pair { p: self.start, q }, [self.radius, faces.radius])
    }

    /// Whether the body gets beyond touching that face: it overlaps it, or where both are so flat
    /// that it never does, goes across it.
    pub fn gets_through(
        &self,
        faces: &PassedFaces<'_>,
        passage: &FacePassage,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let overlaps = self.overlaps_on_way(faces, passage, effort)?;
        // What goes across a flat face is in contact with it at a single moment.
        Ok(overlaps.unwrap_or(passage.span.enter[1] >= passage.span.exit[0]))
    }

    /// Whether the body, which does not overlap that face at the start, does so later; none: the
    /// two are so flat that they never do.
    pub fn overlaps_on_way(
        &self,
        faces: &PassedFaces<'_>,
        passage: &FacePassage,
        effort: &mut Effort<'_>,
    ) -> Result<Option<bool>, Stopped> {
        let face = convex_hull(&passage.corners).map_err(|_| Stopped::Unresolved)?.polytope;
        let (cores, radii) = self.beside(faces, &face);
        if is_rounded(radii) {
            let pair = RoundedPair { cores, radii };
            return rounded::overlaps_along(&pair, &self.by, effort).map(Some);
        }
        penetration::overlaps_along(&cores, &self.by, effort)
    }

    /// Where the body meets that face, and across what.
    pub fn impact_on(
        &self,
        faces: &PassedFaces<'_>,
        passage: &FacePassage,
        effort: &mut Effort<'_>,
    ) -> Result<Impact, Stopped> {
        let face = convex_hull(&passage.corners).map_err(|_| Stopped::Unresolved)?.polytope;
        let (cores, radii) = self.beside(faces, &face);
        let mut met: Option<Impact> = None;
        for t in [passage.span.enter[0], passage.span.enter[0] * (1.0 - gamma(1 << 20))] {
            let mut pose = self.start.pose;
            pose.translation += self.by * t;
            let cores = Pair { p: Placed { pose, ..cores.p }, ..cores };
            let found = if is_rounded(radii) {
                rounded::impact_of(&RoundedPair { cores, radii }, effort)?
            } else {
                impact_of(&cores, effort)?
            };
            let first = *met.get_or_insert(found);
            if found.normal.is_some_and(|normal| normal.dot(&self.by) < 0.0) {
                return Ok(Impact { normal: found.normal, ..first });
            }
        }
        met.ok_or(Stopped::Unresolved)
    }

    /// Whether the body is inside of what the faces bound at a time at which it is clear of them;
    /// none: that is too close to call. Most faces bound nothing.
    pub fn is_inside_at(
        &self,
        faces: &PassedFaces<'_>,
        t: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<bool>, Stopped> {
        let FacesOf::Triangles(body) = faces.of else { return Ok(Some(false)) };
        if body.region().is_none() {
            return Ok(Some(false));
        }
        let tree = MeshBoxes::new(body.surface());
        let vertex = &self.start.body.vertices()[0];
        let from = self.start.pose.apply_rounded(vertex) + self.by * t;
        let places = [vertex, &self.start.pose.translation, &self.by];
        let sizes: f64 = places.iter().map(|place| place.abs().sum()).sum();
        let ray = Ray { point: self.start.body, from, by: Vec3::zeros() };
        let local = LocalRay::new(&ray, &faces.pose, tree.reach());
        match local.and_then(|local| local.thickened(gamma(32) * sizes)) {
            Some(local) => effort.one_question(|effort| is_inside(&local, &tree, effort)),
            None => Ok(None),
        }
    }
}

pub(super) fn is_rounded(radii: [f64; 2]) -> bool {
    radii.iter().any(|radius| *radius > 0.0)
}

/// The faces that a way certainly does not miss; none: they are too many.
pub(super) fn faces_near<T: RayTree>(
    way: &LocalRay,
    tree: &T,
    effort: &mut Effort<'_>,
) -> Result<Option<Vec<[Vec3; 3]>>, Stopped> {
    let mut near = Vec::new();
    let mut open: Vec<T::Group> = tree.root(way, 1.0).map(|(_, group)| group).into_iter().collect();
    while let Some(group) = open.pop() {
        effort.spend_step()?;
        if let Some(parts) = tree.parts(group, way, 1.0) {
            open.extend(parts.into_iter().map(|(_, part)| part));
            continue;
        }
        tree.each(group, |_, corners| {
            let [a, b, c] = corners;
            let held = Extent { low: a.inf(b).inf(c), high: a.sup(b).sup(c) };
            if way.enters(&held, 1.0).is_some() && look(way, corners, 1.0).is_some() {
                near.push(*corners);
            }
        });
        if near.len() > PASSED_FACES_MAX {
            return Ok(None);
        }
    }
    Ok(Some(near))
}
