//! Two parts of which one at least is a polyhedron: what is told of them by their faces, where
//! their hulls do not tell it. The table of bodies answers. Nothing is remembered of faces, so
//! every answer is that from cold.

use arrayvec::ArrayVec;

use crate::declared::body::Part;
use crate::placed::entry::Entry;
use clearance_bodies::table::along::{AlongQuestion, MeasuredRange};
use clearance_bodies::table::depth::{DepthQuestion, MeasuredDepth};
use clearance_bodies::table::distance::{DistanceAnswer, DistanceAsked, DistanceQuestion};
use clearance_bodies::table::first_contact::{
    FirstContactAnswer, FirstContactQuestion, Motions, ReadyFirstContact,
};
use clearance_bodies::table::proof_size::bytes_of_cover;
use clearance_bodies::table::verdict::{VerdictAnswer, VerdictProof, VerdictQuestion};
use clearance_bodies::table::{NotAnswered, Wanted};
use clearance_bodies::{Body, Kind, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{ConvexProof, Direction, SolidMotionProof, Verdict};
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::{self, Surfaces};
use clearance_geometry::pair::{Placed, VertexPair};
use clearance_geometry::polyhedron::{Boundary, BoundaryKind, TriangleBody};
use clearance_geometry::pose::Pose;
use clearance_geometry::rays::passing::{FacesOf, PassedFaces, StraightBody};
use clearance_geometry::rays::resting::{RestingContact, deepest_contact};
use clearance_geometry::terrain::standing::FieldBeside;
use clearance_geometry::terrain::{ConvexPiece, PlacedField};

/// The proof of how two parts stand.
#[derive(Clone, Debug, PartialEq)]
pub enum PartsProof {
    /// Of convex parts; or of the hulls of parts, which are apart.
    Convex(ConvexProof),
    /// Of parts of which one at least is a polyhedron.
    Faces(Box<FacesStand>),
}

/// How two parts stand of which one at least is a polyhedron, as their faces tell.
#[derive(Clone, Debug, PartialEq)]
pub struct FacesStand {
    /// The verdict.
    pub verdict: Verdict,
    /// What proves it; none: no proof was wanted, or none was found within the limits.
    pub proof: Option<VerdictProof>,
}

/// What is proven of two such parts that move and are apart where they start.
#[derive(Clone, Debug, PartialEq)]
pub struct FacesMotion {
    /// What is proven of their way.
    pub proof: SolidMotionProof,
    /// How they stand at the start, where that does not say it.
    pub start: Option<Box<VerdictProof>>,
}

impl From<ConvexProof> for PartsProof {
    fn from(proof: ConvexProof) -> Self {
        Self::Convex(proof)
    }
}

impl PartsProof {
    /// Of parts whose faces were asked.
    pub(crate) fn of_faces(verdict: Verdict, proof: Option<VerdictProof>) -> Self {
        Self::Faces(Box::new(FacesStand { verdict, proof }))
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Convex(proof) => proof.verdict(),
            Self::Faces(stand) => stand.verdict,
        }
    }

    /// Leaves of it what is said, where what shows that takes memory.
    pub(crate) fn forget(&mut self) {
        if let Self::Faces(stand) = self {
            stand.proof = None;
        }
    }

    /// The direction along which convex parts, or the hulls of parts, do not overlap.
    pub fn direction(&self) -> Option<Direction> {
        match self {
            Self::Convex(proof) => proof.direction(),
            Self::Faces(_) => None,
        }
    }
}

impl PartsProof {
    /// Memory that it takes beyond itself, bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Convex(_) => 0,
            Self::Faces(stand) => {
                let proof = stand.proof.as_ref();
                size_of_val(&**stand) + proof.map_or(0, VerdictProof::heap_bytes)
            }
        }
    }
}

impl FacesMotion {
    /// Memory that it takes, bytes.
    pub(crate) fn bytes(&self) -> usize {
        let of_start = |start: &VerdictProof| size_of_val(start) + start.heap_bytes();
        let start = self.start.as_deref().map_or(0, of_start);
        size_of_val(self) + bytes_of_cover(&self.proof.free) + start
    }
}

/// How two parts compare with a margin.
#[derive(Clone, Debug)]
pub(crate) struct PartsCompared {
    pub(crate) is_within: bool,
    /// What shows it: of the hulls, or with a proof of those whose faces were asked.
    pub(crate) pairs: ArrayVec<VertexPair, 3>,
    /// Of parts whose faces were asked: how they stand and, if they are beyond the margin, that.
    pub(crate) by_faces: Option<PartsProof>,
}

/// Around how deep two parts overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthBracket {
    /// At most the exact depth, metres: of parts that are not both convex that of their deepest two
    /// pieces, or 0 where no two overlap.
    pub lower: f64,
    /// At least the exact depth, metres: of parts that are not both convex that of their hulls.
    pub upper: f64,
    /// Unit vector, rounded: the way of P out of Q, or of its deepest piece out of Q's.
    pub direction: Option<Vec3>,
}

/// Two parts of which one at least is a polyhedron.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeshParts<'a> {
    parts: [&'a Part; 2],
    wanted: Wanted,
}

impl<'a> MeshParts<'a> {
    /// None: both parts are convex.
    pub(crate) fn of(parts: [&'a Part; 2], wanted: Wanted) -> Option<Self> {
        parts.iter().any(|part| part.is_mesh()).then_some(Self { parts, wanted })
    }

    /// Whether one of them is a height field: then its hull, which holds most of what is above
    /// the ground, tells hardly anything.
    pub(crate) fn has_field(&self) -> bool {
        self.parts.iter().any(|part| part.field.is_some())
    }

    /// Whether both are convex, so that one of them is curved.
    pub(crate) fn are_convex(&self) -> bool {
        self.parts.iter().all(|part| part.is_convex())
    }

    /// Whether one of them is curved: then its hull is around it, and proves nothing to who has not
    /// got it.
    pub(crate) fn has_curved(&self) -> bool {
        self.parts.iter().any(|part| part.curved.is_some())
    }

    /// The field beside the other part, if that is convex and no proof is wanted.
    pub(crate) fn field_beside(&self, poses: [Pose; 2]) -> Option<FieldBeside<'a>> {
        if self.wanted.certificate {
            return None;
        }
        let at = self.parts.iter().position(|part| part.field.is_some())?;
        let (ground, other) = (self.parts[at], self.parts[1 - at]);
        let field = PlacedField::new(&ground.field.as_ref()?.field, poses[at]);
        let placed = Placed { body: &other.polytope, pose: poses[1 - at] };
        let piece = ConvexPiece { placed, radius: other.radius };
        (!other.is_mesh()).then_some(FieldBeside { field, piece })
    }

    /// Whether proofs are wanted.
    pub(crate) fn proves(&self) -> bool {
        self.wanted.certificate
    }

    /// The same, of which no proofs are wanted.
    pub(crate) fn without_proofs(self) -> Self {
        Self { wanted: Wanted { certificate: false, ..self.wanted }, ..self }
    }

    /// Decides how they stand.
    pub(crate) fn stand(
        &self,
        poses: [Pose; 2],
        effort: &mut Effort<'_>,
    ) -> Result<PartsProof, Stopped> {
        let VerdictAnswer { decided, .. } = self.decided(poses, None, effort)?;
        let decided = decided?;
        Ok(PartsProof::of_faces(decided.verdict, decided.proof.ok()))
    }

    /// How they compare with a margin, and how they stand.
    pub(crate) fn compare(
        &self,
        poses: [Pose; 2],
        margin: f64,
        effort: &mut Effort<'_>,
    ) -> Result<PartsCompared, Stopped> {
        let VerdictAnswer { decided, compared } = self.decided(poses, Some(margin), effort)?;
        let (decided, compared) = (decided?, compared?.ok_or(Stopped::Unresolved)?);
        let by_faces = PartsProof::of_faces(decided.verdict, decided.proof.ok());
        let (is_within, pairs) = (compared.is_within, compared.pairs);
        Ok(PartsCompared { is_within, pairs, by_faces: Some(by_faces) })
    }

    fn decided(
        &self,
        poses: [Pose; 2],
        margin: Option<f64>,
        effort: &mut Effort<'_>,
    ) -> Result<VerdictAnswer, Stopped> {
        let bodies = self.bodies(poses);
        let question = VerdictQuestion::of(kinds(&bodies), margin).map_err(|why| refused(&why))?;
        Ok(question.prepare(bodies).map_err(|why| refused(&why))?.answer(self.wanted, effort))
    }

    /// How far apart they are, and how they stand.
    pub(crate) fn measure(
        &self,
        poses: [Pose; 2],
        stops: Stops,
        effort: &mut Effort<'_>,
    ) -> Result<DistanceAnswer, Stopped> {
        let bodies = self.bodies(poses);
        let question = DistanceQuestion::of(kinds(&bodies)).map_err(|why| refused(&why))?;
        let asked = DistanceAsked { stops, margin: None };
        Ok(question.prepare(bodies).map_err(|why| refused(&why))?.answer(
            asked,
            self.wanted,
            effort,
        ))
    }

    /// How deep they overlap: at least as deep as their deepest pieces, at most as their hulls.
    pub(crate) fn depth(
        &self,
        poses: [Pose; 2],
        effort: &mut Effort<'_>,
    ) -> Result<MeasuredDepth, Stopped> {
        let bodies = self.bodies(poses);
        let question = DepthQuestion::of(kinds(&bodies)).map_err(|why| refused(&why))?;
        // The surfaces show the lower end of what is proven.
        let with_surface = self.wanted.certificate;
        question.prepare(bodies).map_err(|why| refused(&why))?.answer(with_surface, effort)
    }

    /// For which t they are in contact when P is moved by t times a direction.
    pub(crate) fn along(
        &self,
        poses: [Pose; 2],
        direction: &Vec3,
        effort: &mut Effort<'_>,
    ) -> Result<MeasuredRange, Stopped> {
        let bodies = self.bodies(poses);
        let question = AlongQuestion::of(kinds(&bodies)).map_err(|why| refused(&why))?;
        question.prepare(bodies).answer(direction, self.wanted, effort)
    }

    /// Around how deep they overlap.
    pub(crate) fn bracket_depth(
        &self,
        poses: [Pose; 2],
        effort: &mut Effort<'_>,
    ) -> Result<DepthBracket, Stopped> {
        let found = self.without_proofs().depth(poses, effort)?;
        let [lower, upper] = found.bounds();
        let direction = match &found {
            MeasuredDepth::OfPieces(_) => found.pieces().map(|pieces| pieces.direction),
            MeasuredDepth::OfHulls(_)
            | MeasuredDepth::OfRounded(_)
            | MeasuredDepth::OfCurved(_) => found.direction(),
        };
        Ok(DepthBracket { lower, upper, direction })
    }

    /// The deepest contact of the one that is convex with a face of the other, with the normal out
    /// of Q; none where both are not convex, or they are in contact with no face.
    pub(crate) fn face_contact(
        &self,
        poses: [Pose; 2],
        effort: &mut Effort<'_>,
    ) -> Result<Option<RestingContact>, Stopped> {
        let [p, q] = self.parts.map(Part::is_convex);
        let at = match [p, q] {
            [false, false] => return Ok(None),
            [true, _] => 0,
            [false, true] => 1,
        };
        let (convex, other) = (self.parts[at], self.parts[1 - at]);
        let of = match (&other.field, &other.mesh) {
            (Some(field), _) => FacesOf::Field(&field.field),
            (None, Some(triangles)) => FacesOf::Triangles(triangles),
            (None, None) => return Err(Stopped::Unresolved),
        };
        if convex.curved.is_some() {
            return Err(Stopped::Unresolved);
        }
        let start = Placed { body: &convex.polytope, pose: poses[at] };
        let body = StraightBody { start, radius: convex.radius, by: Vec3::zeros() };
        let faces = PassedFaces { of, pose: poses[1 - at], radius: other.radius };
        let found = deepest_contact(&body, &faces, effort)?;
        let sign = if at == 0 { 1.0 } else { -1.0 };
        Ok(found.map(|found| RestingContact { normal: found.normal * sign, ..found }))
    }

    /// At most how far apart they are if they are separated; as far as half of the smaller one is
    /// far enough. A pair that surfaces keep apart stays so while no point moves that far.
    pub(crate) fn gap(&self, poses: [Pose; 2], effort: &mut Effort<'_>) -> f64 {
        let [p, q] = self.parts.map(|part| part.polytope.bounds().radius + part.radius);
        let stops = Stops { above: Some(p.min(q) / 2.0), below: None };
        if self.has_field() {
            let found = self.without_proofs().measure(poses, stops, effort);
            return found.and_then(|found| found.distance).map_or(0.0, |found| found.bounds()[0]);
        }
        let bodies = [0, 1].map(|k| {
            let Part { mesh, polytope, .. } = self.parts[k];
            let kind = mesh.as_ref().map_or(BoundaryKind::Hull, TriangleBody::boundary_kind);
            Boundary { kind, hull: polytope, pose: poses[k] }
        });
        let surfaces = Surfaces { bodies, radii: self.parts.map(|part| part.radius) };
        let found = faces::distance::measure(&surfaces, stops, effort);
        found.map_or(0.0, |found| found.lower)
    }

    /// When they first meet on their way from these poses.
    pub(crate) fn first_contact(
        &self,
        poses: [Pose; 2],
        motions: Motions,
        effort: &mut Effort<'_>,
    ) -> Result<FirstContactAnswer, Stopped> {
        let ready = ready_to_meet(self.bodies(poses), motions)?;
        ready.answer(false, self.wanted, effort)
    }

    fn bodies(&self, poses: [Pose; 2]) -> [PlacedBody; 2] {
        [0, 1].map(|k| PlacedBody { body: body_of(self.parts[k]), pose: poses[k] })
    }
}

/// When two bodies first meet on their way from where they are, without a proof.
pub(crate) fn first_contact_of(
    bodies: [PlacedBody; 2],
    motions: Motions,
    effort: &mut Effort<'_>,
) -> Result<FirstContactAnswer, Stopped> {
    ready_to_meet(bodies, motions)?.answer(false, Wanted::NO_PROOF, effort)
}

fn ready_to_meet(bodies: [PlacedBody; 2], motions: Motions) -> Result<ReadyFirstContact, Stopped> {
    let poses = bodies.each_ref().map(|placed| &placed.pose);
    let question = FirstContactQuestion::of(kinds(&bodies), poses, motions);
    question.map_err(|why| refused(&why))?.prepare(bodies).map_err(|why| refused(&why))
}

/// What a look at the faces of any two parts of these bodies takes while it lasts, bytes at most;
/// 0 where all parts are convex.
pub(crate) fn bytes_of_a_look(entries: &[Entry]) -> usize {
    if !entries.iter().any(Entry::has_mesh) {
        return 0;
    }
    let parts = entries.iter().flat_map(|entry| &entry.body.parts);
    2 * parts.map(bytes_of_look).max().unwrap_or(0)
}

/// What is made of a part while its faces are looked at beside those of another one, bytes at most.
fn bytes_of_look(part: &Part) -> usize {
    let body = body_of(part);
    let needs = VerdictQuestion::of([body.kind(), Kind::Polyhedron], None).map(|it| it.needs());
    let bytes = needs.map_or(0, |needs| needs.bytes_made(body.kind(), body.vertices().len()));
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn kinds(bodies: &[PlacedBody; 2]) -> [Kind; 2] {
    bodies.each_ref().map(|placed| placed.body.kind())
}

/// What a session holds is checked where it is declared: see `Problem::FlatBesideMesh`.
fn refused(why: &NotAnswered) -> Stopped {
    debug_assert!(false, "declared and not answered: {why}");
    Stopped::Unresolved
}

/// A part as the table knows it.
pub(crate) fn body_of(part: &Part) -> Body {
    if let Some(field) = &part.field {
        return Body::HeightField(field.clone());
    }
    if let Some(curved) = &part.curved {
        return Body::Curved(curved.clone());
    }
    Body::of_whole(&part.polytope, part.mesh.as_ref(), part.radius)
}
