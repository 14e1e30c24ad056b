//! Two parts that are asked about: polytopes, polytopes with balls around all their points, or
//! polyhedra. What a scene asks of two parts is asked here, and only here it matters which they
//! are. Of polyhedra the hulls are asked first, and their faces (`meshes`) where those do not tell.

use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::declared::body::Part;
use crate::methods::Chosen;
use crate::pairs::meshes::{
    DepthBracket, FacesMotion, MeshParts, PartsCompared, PartsProof, first_contact_of,
};
use crate::placed::visitor::{ScenePart, Visitor};
use clearance_bodies::table::Wanted;
use clearance_bodies::table::along::MeasuredRange;
use clearance_bodies::table::depth::MeasuredDepth;
use clearance_bodies::table::distance::{DistanceAnswer, MeasuredDistance};
use clearance_bodies::table::first_contact::{FirstContactAnswer, MotionProof, Motions};
use clearance_bodies::{Body, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{
    ConvexProof, Direction, FirstContact, Link, Outcome, Reach, Surface, Verdict,
};
use clearance_geometry::contact_time::{self, Backwards, LastContact};
use clearance_geometry::distance::{self, Compared, Distance, DistanceMethod, Stops};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::contact::FaceCourse;
use clearance_geometry::meeting::{self, Impact, unit_vector};
use clearance_geometry::number::dyadic::Dyadic;
use clearance_geometry::pair::{Pair, Placed, VertexPair};
use clearance_geometry::penetration::{
    self, ComparedDepth, Depth, DepthBound, RangeMethod, compare_decided,
};
use clearance_geometry::pose::Pose;
use clearance_geometry::rays::resting::RestingContact;
use clearance_geometry::rounded::{
    self, RoundedDepth, RoundedDistance, RoundedFirstContact, RoundedPair,
};
use clearance_geometry::separation::{self, CollisionMethod};
use clearance_geometry::witness::{Memory, Witness};
use clearance_robot::meeting::Met;

/// Two parts, and where they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwoParts<'a> {
    /// The polytopes, which may be rounded.
    pub(crate) cores: Pair<'a>,
    /// The radii of the balls around their points, metres; of a polytope 0.
    pub(crate) radii: [f64; 2],
    /// If one of them is a polyhedron: then the polytopes are their hulls.
    meshes: Option<MeshParts<'a>>,
}

/// How far apart two parts are.
#[derive(Clone, Debug)]
pub struct PartsDistance {
    /// How they stand, with its proof; of polyhedra that are apart that shows the distance, too.
    pub proof: PartsProof,
    /// At most the exact distance, metres; 0 unless separated.
    pub lower: f64,
    /// At least the exact distance, metres; 0 unless separated.
    pub upper: f64,
    /// What shows that, of the polytopes: see [`Distance`] and [`RoundedDistance`]. Of polyhedra:
    /// see `geometry::faces::distance::FaceDistance`.
    pub pairs: ArrayVec<VertexPair, 3>,
    /// Closest points in the world, rounded; when in contact, a common point up to rounding.
    pub closest_p: Vec3,
    /// See `closest_p`.
    pub closest_q: Vec3,
    /// Of separated parts that are not both convex: along which way P gets away from Q soonest.
    pub normal: Option<Vec3>,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

/// How deep two parts overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct PartsDepth {
    /// How they stand, with its proof; of parts that are not both convex without.
    pub proof: PartsProof,
    /// At most the exact depth, metres; 0 unless they overlap.
    pub lower: f64,
    /// At least the exact depth, metres; 0 unless they overlap.
    pub upper: f64,
    /// Unit vector, rounded: moving P along it by the depth separates. Zero unless they overlap. Of
    /// parts that are not both convex the upper bound separates, along it, their hulls.
    pub direction: Vec3,
    /// What shows the upper bound: see [`Depth`] and [`RoundedDepth`].
    pub face: Option<Direction>,
    /// On request, what shows the lower bound: see there.
    pub surface: Option<Surface>,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

/// When two parts first meet, and what proves it.
#[derive(Clone, Debug)]
pub struct PartsContact {
    /// Says whether they meet, and when.
    pub met: Met,
    /// How they stand at the start.
    pub initial: PartsProof,
    /// Of polyhedra that are apart there: what is proven of their faces. None where their hulls are
    /// enough, or where no proof was wanted or found.
    pub faces: Option<Box<FacesMotion>>,
    /// Of rounded parts that are apart there: what shows that they are beyond a margin, where no
    /// link does.
    pub start: ArrayVec<VertexPair, 3>,
    /// See [`FirstContact::chain`].
    pub links: Vec<Link>,
    /// Vertex pairs that prove the contact, if any.
    pub pairs: ArrayVec<VertexPair, 6>,
}

impl PartsContact {
    /// Of parts that are in contact at the start.
    pub(crate) fn at_start(initial: PartsProof) -> Self {
        let (outcome, stopped) = (Outcome::Contact, None);
        let met = Met { outcome, t_free: 0.0, t_contact: 0.0, stopped };
        let (start, pairs) = (ArrayVec::new(), ArrayVec::new());
        Self { met, initial, faces: None, start, links: Vec::new(), pairs }
    }

    /// Of what is found about their polytopes.
    pub(crate) fn of(found: FirstContact) -> Self {
        let FirstContact { outcome, t_free, t_contact, stopped, chain, pairs, initial } = found;
        let met = Met { outcome, t_free, t_contact, stopped };
        let (initial, start) = (ConvexProof::from(initial).into(), ArrayVec::new());
        Self { met, initial, faces: None, start, links: chain, pairs }
    }
}

impl From<RoundedFirstContact> for PartsContact {
    fn from(found: RoundedFirstContact) -> Self {
        let start = found.start_pairs().iter().copied().collect();
        let initial = PartsProof::from(ConvexProof::from(found.initial));
        match found.later {
            Some(later) => Self { initial, start, ..Self::of(later) },
            None => Self::at_start(initial),
        }
    }
}

impl From<Depth> for PartsDepth {
    fn from(depth: Depth) -> Self {
        let Depth { decision, lower, upper, direction, face, surface, stopped, .. } = depth;
        let proof = ConvexProof::from(decision.proof).into();
        Self { proof, lower, upper, direction, face, surface, stopped }
    }
}

/// Of curved parts of which it is open whether they overlap, the bounds hold all the same.
impl From<MeasuredDepth> for PartsDepth {
    fn from(found: MeasuredDepth) -> Self {
        let [lower, upper] = found.bounds();
        let verdict = found.verdict().unwrap_or(Verdict::Overlapping);
        let (direction, stopped) = (found.direction().unwrap_or_default(), found.stopped());
        let proof =
            if let MeasuredDepth::OfCurved(found) = found { found.proof.ok() } else { None };
        Self {
            proof: PartsProof::of_faces(verdict, proof),
            lower,
            upper,
            direction,
            face: None,
            surface: None,
            stopped,
        }
    }
}

impl From<RoundedDepth> for PartsDepth {
    fn from(depth: RoundedDepth) -> Self {
        let RoundedDepth { proof, lower, upper, direction, face, surface, stopped } = depth;
        let proof = ConvexProof::from(proof).into();
        Self { proof, lower, upper, direction, face, surface, stopped }
    }
}

impl From<Distance> for PartsDistance {
    fn from(distance: Distance) -> Self {
        let Distance { decision, lower, upper, pairs, closest_p, closest_q, stopped } = distance;
        let (proof, normal) = (ConvexProof::from(decision.proof).into(), None);
        Self { proof, lower, upper, pairs, closest_p, closest_q, normal, stopped }
    }
}

impl From<RoundedDistance> for PartsDistance {
    fn from(distance: RoundedDistance) -> Self {
        let RoundedDistance { proof, lower, upper, closest_p, closest_q, stopped, .. } = distance;
        // Of parts in contact the verdict tells it all.
        let is_apart = proof.verdict == Verdict::Separated;
        let pairs = proof.pairs.iter().copied().filter(|_| is_apart).collect();
        let (proof, normal) = (ConvexProof::from(proof).into(), None);
        Self { proof, lower, upper, pairs, closest_p, closest_q, normal, stopped }
    }
}

impl From<FirstContactAnswer> for PartsContact {
    fn from(found: FirstContactAnswer) -> Self {
        let FirstContactAnswer { outcome, t_free, t_contact, initial, stopped, proof, .. } = found;
        let by_faces = |faces, shown| Self {
            met: Met { outcome, t_free, t_contact, stopped },
            initial: PartsProof::of_faces(initial, shown),
            faces,
            start: ArrayVec::new(),
            links: Vec::new(),
            pairs: ArrayVec::new(),
        };
        match proof {
            Ok(MotionProof::OfHulls(found)) => Self::of(found),
            Ok(MotionProof::OfRounded(found)) => found.into(),
            Ok(MotionProof::AtStart(shown)) => by_faces(None, Some(shown)),
            Ok(MotionProof::OfSolids(proof, start)) => {
                by_faces(Some(Box::new(FacesMotion { proof, start })), None)
            }
            Err(_) => by_faces(None, None),
        }
    }
}

impl<'a> TwoParts<'a> {
    /// These parts, where they are; `wanted` is what polyhedra are to be answered with.
    pub(crate) fn new([p, q]: [&'a Part; 2], [pose_p, pose_q]: [Pose; 2], wanted: Wanted) -> Self {
        let cores = Pair::new(&p.polytope, pose_p, &q.polytope, pose_q);
        Self { cores, radii: [p.radius, q.radius], meshes: MeshParts::of([p, q], wanted) }
    }

    /// The same, without proofs of polyhedra.
    pub(crate) fn without_proofs(self) -> Self {
        Self { meshes: self.meshes.map(MeshParts::without_proofs), ..self }
    }

    /// Puts the same parts into other poses.
    pub(crate) fn at(self, [p, q]: [Pose; 2]) -> Self {
        let Pair { p: of_p, q: of_q } = self.cores;
        let cores = Pair { p: Placed { pose: p, ..of_p }, q: Placed { pose: q, ..of_q } };
        Self { cores, ..self }
    }

    /// Both as the table of bodies knows them, of convex parts that are not curved.
    fn bodies(&self) -> [PlacedBody; 2] {
        let Pair { p, q } = self.cores;
        let body =
            |core: Placed<'_>, radius| Body::from(Arc::new(core.body.clone())).rounded(radius);
        let [of_p, of_q] = self.radii;
        let [p, q] = [(p, of_p), (q, of_q)].map(|(core, radius)| (body(core, radius), core.pose));
        [p, q].map(|(body, pose)| PlacedBody { body, pose })
    }

    fn poses(&self) -> [Pose; 2] {
        [self.cores.p.pose, self.cores.q.pose]
    }

    /// A shape that a scene is asked about, and a part of a body.
    #[inline]
    pub(crate) fn beside(p: Visitor<'a>, q: ScenePart<'a>) -> Self {
        let cores = Pair { p: p.core, q: q.core };
        let known = || q.part.expect("what is asked about curved shapes keeps its parts");
        let asked = q.mesh.or_else(|| p.is_curved().then(known));
        let meshes = asked.and_then(|part| MeshParts::of([p.beside(part), part], p.wanted));
        Self { cores, radii: [p.radius, q.radius], meshes }
    }

    /// The two, if one at least is rounded.
    pub(crate) fn rounded(&self) -> Option<RoundedPair<'a>> {
        let &Self { cores, radii, .. } = self;
        radii.iter().any(|radius| *radius > 0.0).then_some(RoundedPair { cores, radii })
    }

    /// How near their polytopes are if they are within a margin of each other.
    pub(crate) fn reach(&self, margin: f64) -> Reach {
        Reach::of_rounded(self.radii, margin)
    }

    /// How they stand, and if wanted how far they may move before that changes. A method that
    /// somebody asked for by its name shows its own work; none of them answers rounded parts and
    /// polyhedra, which are refused where they are declared. The room of parts whose faces were
    /// asked is how far their points may move.
    pub(crate) fn decide(
        &self,
        method: Chosen<CollisionMethod>,
        wants_room: bool,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<(PartsProof, f64), Stopped> {
        if let Some(meshes) = self.meshes.filter(MeshParts::has_curved) {
            let proof = meshes.stand(self.poses(), effort)?;
            let has_room = wants_room && proof.verdict() == Verdict::Separated;
            let gap = if has_room { self.gap_of_hulls(effort) } else { 0.0 };
            return Ok((proof, gap));
        }
        if let Some(meshes) = self.meshes.filter(MeshParts::has_field) {
            return self.decide_field(&meshes, wants_room, witness, effort);
        }
        let (of_hulls, room) = self.decide_hulls(method, wants_room, witness, effort)?;
        match &self.meshes {
            Some(meshes) if of_hulls.verdict() != Verdict::Separated => {
                let proof = meshes.stand(self.poses(), effort)?;
                let has_room = wants_room && proof.verdict() == Verdict::Separated;
                let gap = if has_room { meshes.gap(self.poses(), effort) } else { 0.0 };
                Ok((proof, gap))
            }
            _ => Ok((of_hulls.into(), room)),
        }
    }

    /// The same of a height field: by the triangles that are near, of which the witness holds the
    /// last that was met.
    fn decide_field(
        &self,
        meshes: &MeshParts<'_>,
        wants_room: bool,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<(PartsProof, f64), Stopped> {
        if let Some(beside) = meshes.field_beside(self.poses()) {
            let found = beside.stand(wants_room, witness, effort)?;
            return Ok((PartsProof::of_faces(found.verdict, None), found.room));
        }
        let proof = meshes.stand(self.poses(), effort)?;
        let has_room = wants_room && proof.verdict() == Verdict::Separated;
        let gap = if has_room { meshes.gap(self.poses(), effort) } else { 0.0 };
        Ok((proof, gap))
    }

    /// At most how far apart they are, as their hulls tell, which hold them; 0 where these meet.
    fn gap_of_hulls(&self, effort: &mut Effort<'_>) -> f64 {
        let (witness, stops) = (&mut Witness::default(), Stops::default());
        let lower = match self.rounded() {
            Some(pair) => {
                let method = &distance::METHODS[0];
                rounded::measure(&pair, method, stops, witness, effort).map(|found| found.lower)
            }
            None => distance::measure(&self.cores, stops, witness, effort).map(|it| it.lower),
        };
        lower.unwrap_or(0.0)
    }

    fn decide_hulls(
        &self,
        Chosen { method, is_named }: Chosen<CollisionMethod>,
        wants_room: bool,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<(ConvexProof, f64), Stopped> {
        if let Some(pair) = self.rounded() {
            let proof = rounded::verdict(&pair, witness, effort)?;
            let room = if wants_room { rounded::room_of(&pair, &proof) } else { 0.0 };
            return Ok((proof.into(), room));
        }
        if is_named {
            let decision = separation::decide_by_name(&self.cores, method, witness, effort)?;
            return Ok((decision.proof.into(), 0.0));
        }
        let decision = separation::decide(&self.cores, method, witness, effort)?;
        let room = || separation::room_of(&self.cores, &decision, witness);
        let room = if wants_room { room() } else { 0.0 };
        Ok((decision.proof.into(), room))
    }

    /// Whether separated parts are within a margin, exactly.
    pub(crate) fn compare(
        &self,
        margin: f64,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<PartsCompared, Stopped> {
        if let Some(meshes) = self.meshes.filter(|it| it.has_field() || it.has_curved()) {
            return meshes.compare(self.poses(), margin, effort);
        }
        let Compared { is_within, pairs, .. } = match self.rounded() {
            Some(pair) => rounded::compare(&pair, margin, witness, effort)?,
            None => distance::compare(&self.cores, margin, witness, effort)?,
        };
        match &self.meshes {
            Some(meshes) if is_within => meshes.compare(self.poses(), margin, effort),
            _ => Ok(PartsCompared { is_within, pairs, by_faces: None }),
        }
    }

    /// How they stand, and whether they overlap at least as deep as a margin below 0 says; of parts
    /// that are not both convex as far as the bracket of their depth tells. What shows it is named
    /// where that is wanted.
    pub(crate) fn compare_depth(
        &self,
        margin: f64,
        wants_proof: bool,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<(PartsProof, ComparedDepth), Stopped> {
        let bare = |is_within| ComparedDepth { compared: Compared::bare(is_within), room: 0.0 };
        if let Some(meshes) = &self.meshes {
            let compared = meshes.compare(self.poses(), margin, effort)?;
            let PartsCompared { is_within, by_faces, .. } = compared;
            return Ok((by_faces.ok_or(Stopped::Unresolved)?, bare(is_within)));
        }
        if let Some(pair) = self.rounded() {
            let proof = rounded::verdict(&pair, witness, effort)?;
            let found = match proof.verdict {
                Verdict::Separated | Verdict::Touching => bare(false),
                Verdict::Overlapping => {
                    rounded::compare_depth(&pair, margin, wants_proof, witness, effort)?
                }
            };
            return Ok((ConvexProof::from(proof).into(), found));
        }
        let method = &separation::METHODS[0];
        let proof = separation::decide(&self.cores, method, witness, effort)?.proof;
        let found = match proof.verdict() {
            Verdict::Separated | Verdict::Touching => bare(false),
            Verdict::Overlapping => {
                let bound = DepthBound::new(-&Dyadic::from(margin));
                compare_decided(&self.cores, &proof, &bound, wants_proof, effort)?
            }
        };
        Ok((ConvexProof::from(proof).into(), found))
    }

    /// How far apart they are.
    pub(crate) fn measure(
        &self,
        method: &DistanceMethod,
        stops: Stops,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<PartsDistance, Stopped> {
        if let Some(meshes) = &self.meshes {
            return of_faces(meshes.measure(self.poses(), stops, effort)?);
        }
        match self.rounded() {
            Some(pair) => Ok(rounded::measure(&pair, method, stops, witness, effort)?.into()),
            None => Ok(distance::measure_by(method, &self.cores, stops, witness, effort)?.into()),
        }
    }

    /// How deep they overlap, from cold: of ways out that are equally short, always the same one.
    pub(crate) fn measure_depth(
        &self,
        with_surface: bool,
        effort: &mut Effort<'_>,
    ) -> Result<PartsDepth, Stopped> {
        if let Some(meshes) = &self.meshes {
            let mut depth = PartsDepth::from(meshes.depth(self.poses(), effort)?);
            if !meshes.proves() {
                depth.proof.forget();
            }
            return Ok(depth);
        }
        let witness = &mut Witness::default();
        match self.rounded() {
            Some(pair) => Ok(rounded::measure_depth(&pair, with_surface, witness, effort)?.into()),
            None => Ok(penetration::measure(&self.cores, with_surface, witness, effort)?.into()),
        }
    }

    /// Whether both are polytopes, and no more than that.
    pub(crate) fn are_polytopes(&self) -> bool {
        self.meshes.is_none() && self.rounded().is_none()
    }

    /// For which t they are in contact when P is moved by t times a direction. Whoever asks that of
    /// parts that are not convex is refused before.
    pub(crate) fn along(
        &self,
        method: &RangeMethod,
        direction: &Vec3,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<MeasuredRange, Stopped> {
        if let Some(meshes) = &self.meshes {
            return meshes.along(self.poses(), direction, effort);
        }
        if let Some(pair) = self.rounded() {
            let found = rounded::along(&pair, direction, witness, effort)?;
            return Ok(MeasuredRange::OfRounded(found));
        }
        let found = penetration::along_by(&self.cores, direction, method, witness, effort)?;
        Ok(MeasuredRange::OfHulls(found))
    }

    /// Whether P, moved by t times a direction, overlaps Q for some t > 0, exactly, of convex parts
    /// that do not at t = 0; none: of curved ones nobody knows.
    pub(crate) fn overlaps_along(
        &self,
        direction: &Vec3,
        effort: &mut Effort<'_>,
    ) -> Result<Option<bool>, Stopped> {
        if self.meshes.is_some() {
            return Ok(None);
        }
        if let Some(pair) = self.rounded() {
            return rounded::overlaps_along(&pair, direction, effort).map(Some);
        }
        let found = penetration::overlaps_along(&self.cores, direction, effort)?;
        // What is so flat that it never overlaps gets no deeper.
        Ok(Some(found.unwrap_or(false)))
    }

    /// Around how deep they overlap, from cold.
    pub(crate) fn bracket_depth(&self, effort: &mut Effort<'_>) -> Result<DepthBracket, Stopped> {
        if let Some(meshes) = &self.meshes {
            return meshes.bracket_depth(self.poses(), effort);
        }
        let PartsDepth { lower, upper, direction, .. } = self.measure_depth(false, effort)?;
        Ok(DepthBracket { lower, upper, direction: Some(direction) })
    }

    /// Where they meet as they are placed, or are nearest. Polyhedra that are in contact have no
    /// normal there.
    pub(crate) fn impact(&self, effort: &mut Effort<'_>) -> Result<Impact, Stopped> {
        if let Some(meshes) = &self.without_proofs().meshes {
            let found = meshes.measure(self.poses(), Stops::default(), effort)?;
            let PartsDistance { closest_q: point, normal, .. } = of_faces(found)?;
            return Ok(Impact { point, normal });
        }
        match self.rounded() {
            Some(pair) => rounded::impact_of(&pair, effort),
            None => meeting::impact_of(&self.cores, effort),
        }
    }

    /// The deepest contact with a face of which one is not convex; of convex ones the shortest way
    /// out. None: there is none; see [`MeshParts::face_contact`].
    pub(crate) fn face_contact(
        &self,
        effort: &mut Effort<'_>,
    ) -> Result<Option<RestingContact>, Stopped> {
        if let Some(meshes) = self.meshes.filter(|meshes| !meshes.are_convex()) {
            return meshes.face_contact(self.poses(), effort);
        }
        let (method, witness) = (Chosen::default_of(separation::METHODS), &mut Witness::default());
        let (proof, _) = self.decide(method, false, witness, effort)?;
        let verdict = proof.verdict();
        let (normal, depth) = match verdict {
            Verdict::Separated => return Ok(None),
            Verdict::Touching => (self.impact(effort)?.normal, [0.0; 2]),
            Verdict::Overlapping => {
                let found = self.bracket_depth(effort)?;
                (found.direction, [found.lower, found.upper])
            }
        };
        Ok(normal.map(|normal| RestingContact { verdict, normal, depth }))
    }

    /// Along which way P gets away from Q soonest, where the distance is known and of parts that
    /// overlap the depth.
    pub(crate) fn normal(
        &self,
        distance: &PartsDistance,
        depth: Option<&PartsDepth>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec3>, Stopped> {
        match distance.proof.verdict() {
            Verdict::Overlapping => Ok(depth.map(|depth| depth.direction)),
            Verdict::Touching => {
                let towards_q = distance.proof.direction();
                Ok(towards_q.and_then(|s| unit_vector(&self.cores, &s)).map(|s| -s))
            }
            Verdict::Separated if distance.normal.is_some() => Ok(distance.normal),
            Verdict::Separated => {
                let points = [distance.closest_p, distance.closest_q];
                let found = self.normal_apart(&distance.pairs, points, effort)?;
                let towards_q = distance.proof.direction();
                let by_proof = || towards_q.and_then(|s| unit_vector(&self.cores, &s)).map(|s| -s);
                Ok(found.or_else(by_proof))
            }
        }
    }

    /// Along which way separated parts, whose distance is known, get away from each other soonest.
    pub(crate) fn normal_apart(
        &self,
        pairs: &[VertexPair],
        closest: [Vec3; 2],
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec3>, Stopped> {
        if let Some(meshes) = &self.without_proofs().meshes {
            return Ok(meshes.measure(self.poses(), Stops::default(), effort)?.normal);
        }
        match self.rounded() {
            Some(pair) => Ok(rounded::impact_of(&pair, effort)?.normal),
            None => Ok(meeting::normal_apart(&self.cores, pairs, closest)),
        }
    }

    /// The corners of what parts have in common that touch, or overlap by less than a depth,
    /// metres. Of polyhedra nobody knows.
    pub(crate) fn contact_polygon(
        &self,
        depth: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<Vec3>, Stopped> {
        if self.meshes.is_some() {
            return Err(Stopped::Unresolved);
        }
        match self.rounded() {
            Some(pair) => rounded::contact_polygon_within(&pair, depth, effort),
            None => meeting::contact_polygon_within(&self.cores, depth, effort),
        }
    }

    /// When they first meet on their way from here: the question is about their polytopes.
    pub(crate) fn first_contact(
        &self,
        method: &contact_time::Method,
        &FaceCourse { question, margin }: &FaceCourse<'_>,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<PartsContact, Stopped> {
        if self.meshes.is_some() || margin < 0.0 {
            let motions = Motions {
                of_bodies: [question.motion_p, question.motion_q],
                deviations: [question.deviation_p, question.deviation_q],
                margin,
                time_tolerance: question.time_tolerance,
                clearance_tolerance: question.clearance_tolerance,
            };
            return match &self.meshes {
                Some(meshes) => Ok(meshes.first_contact(self.poses(), motions, effort)?.into()),
                None => Ok(first_contact_of(self.bodies(), motions, effort)?.into()),
            };
        }
        match self.rounded() {
            Some(pair) => {
                Ok(rounded::first_contact(method, question, &pair, witness, effort)?.into())
            }
            None => {
                let found = contact_time::first_contact_by(method, question, witness, effort)?;
                Ok(PartsContact::of(found))
            }
        }
    }

    /// When they last meet on the same way. Of polyhedra that turn it is told from when on they are
    /// free, and not that they were in contact before.
    pub(crate) fn last_contact(
        &self,
        method: &contact_time::Method,
        course: &FaceCourse<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<LastContact>, Stopped> {
        let question = course.question;
        if self.meshes.is_none() {
            return contact_time::last_contact_by(method, question, effort);
        }
        let Some(back) = Backwards::of(question) else { return Ok(None) };
        let Pair { p, q } = back.question.pair;
        let there = self.at([p.pose, q.pose]).without_proofs();
        let course = FaceCourse { question: &back.question, ..*course };
        let found = there.first_contact(method, &course, &mut Witness::default(), effort)?;
        let Met { outcome, t_free, t_contact, stopped } = found.met;
        Ok(Some(back.last_contact(outcome, [t_free, t_contact], stopped)))
    }

    /// What is found of parts that are in contact where they start, as `initial` proves; with the
    /// pairs that prove the contact if that is wanted.
    pub(crate) fn contact_at_start(
        &self,
        initial: PartsProof,
        is_proof_wanted: bool,
    ) -> PartsContact {
        match initial {
            PartsProof::Convex(ConvexProof::Polytopes(initial)) => {
                let found = contact_time::contact_at_start(&self.cores, initial, is_proof_wanted);
                PartsContact::of(found)
            }
            PartsProof::Convex(ConvexProof::Rounded(_)) | PartsProof::Faces(_) => {
                PartsContact::at_start(initial)
            }
        }
    }

    /// The proof that they are in contact where their way begins, if they are. What is remembered
    /// of where they are now stays as it is.
    pub(crate) fn contact(
        &self,
        known: &Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Option<PartsProof>, Stopped> {
        let memory = if let Memory::OfTriangle(triangle) = known.memory {
            Memory::OfTriangle(triangle)
        } else {
            Memory::None
        };
        let mut witness = Witness { pairs: known.pairs.clone(), memory, ..Witness::default() };
        let method = Chosen::default_of(separation::METHODS);
        let (proof, _) = self.decide(method, false, &mut witness, effort)?;
        Ok(Some(proof).filter(|proof| proof.verdict() != Verdict::Separated))
    }
}

/// What is told of the distance of two parts by their faces.
fn of_faces(found: DistanceAnswer) -> Result<PartsDistance, Stopped> {
    let (found, normal) = (found.distance?, found.normal);
    let ([lower, upper], verdict) = (found.bounds(), found.verdict().ok_or(Stopped::Unresolved)?);
    let stopped = found.stopped();
    let [closest_p, closest_q] = found.closest().ok_or(Stopped::Unresolved)?;
    let MeasuredDistance::OfFaces(found) = found else { return Err(Stopped::Unresolved) };
    let proof = PartsProof::of_faces(verdict, found.proof.ok());
    let pairs = found.pairs;
    Ok(PartsDistance { proof, lower, upper, pairs, closest_p, closest_q, normal, stopped })
}
