//! Two parts that are asked about: polytopes, or polytopes with balls around all their points. What
//! a scene asks of two parts is asked here, and only here it matters which they are.

use arrayvec::ArrayVec;

use crate::declared::body::Part;
use crate::methods::Chosen;
use crate::placed::visitor::Visitor;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{
    ConvexProof, Direction, FirstContact, Link, Outcome, Reach, Surface, Verdict,
};
use clearance_geometry::contact_time;
use clearance_geometry::distance::{self, Compared, Distance, DistanceMethod, Stops};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::meeting::{self, Impact, unit_vector};
use clearance_geometry::pair::{Pair, Question, VertexPair};
use clearance_geometry::penetration::{self, Depth};
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{
    self, RoundedDepth, RoundedDistance, RoundedFirstContact, RoundedPair,
};
use clearance_geometry::separation::{self, CollisionMethod};
use clearance_geometry::witness::Witness;
use clearance_robot::meeting::Met;

/// Two parts, and where they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwoParts<'a> {
    /// The polytopes, which may be rounded.
    pub(crate) cores: Pair<'a>,
    /// The radii of the balls around their points, metres; of a polytope 0.
    pub(crate) radii: [f64; 2],
}

/// How far apart two parts are.
#[derive(Clone, Debug)]
pub struct PartsDistance {
    /// How they stand, with its proof.
    pub proof: ConvexProof,
    /// At most the exact distance, metres; 0 unless separated.
    pub lower: f64,
    /// At least the exact distance, metres; 0 unless separated.
    pub upper: f64,
    /// What shows that, of the polytopes: see [`Distance`] and [`RoundedDistance`].
    pub pairs: ArrayVec<VertexPair, 3>,
    /// Closest points in the world, rounded; when in contact, a common point up to rounding.
    pub closest_p: Vec3,
    /// See `closest_p`.
    pub closest_q: Vec3,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

/// How deep two parts overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct PartsDepth {
    /// How they stand, with its proof.
    pub proof: ConvexProof,
    /// At most the exact depth, metres; 0 unless they overlap.
    pub lower: f64,
    /// At least the exact depth, metres; 0 unless they overlap.
    pub upper: f64,
    /// Unit vector, rounded: moving P along it by the depth separates. Zero unless they overlap.
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
    pub initial: ConvexProof,
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
    pub(crate) fn at_start(initial: ConvexProof) -> Self {
        let (outcome, stopped) = (Outcome::Contact, None);
        let met = Met { outcome, t_free: 0.0, t_contact: 0.0, stopped };
        let (start, pairs) = (ArrayVec::new(), ArrayVec::new());
        Self { met, initial, start, links: Vec::new(), pairs }
    }

    /// Of what is found about their polytopes.
    pub(crate) fn of(found: FirstContact) -> Self {
        let FirstContact { outcome, t_free, t_contact, stopped, chain, pairs, initial } = found;
        let met = Met { outcome, t_free, t_contact, stopped };
        Self { met, initial: initial.into(), start: ArrayVec::new(), links: chain, pairs }
    }
}

impl From<RoundedFirstContact> for PartsContact {
    fn from(found: RoundedFirstContact) -> Self {
        let start = found.start_pairs().iter().copied().collect();
        let initial = found.initial.into();
        match found.later {
            Some(later) => Self { initial, start, ..Self::of(later) },
            None => Self::at_start(initial),
        }
    }
}

impl From<Depth> for PartsDepth {
    fn from(depth: Depth) -> Self {
        let Depth { decision, lower, upper, direction, face, surface, stopped, .. } = depth;
        let proof = decision.proof.into();
        Self { proof, lower, upper, direction, face, surface, stopped }
    }
}

impl From<RoundedDepth> for PartsDepth {
    fn from(depth: RoundedDepth) -> Self {
        let RoundedDepth { proof, lower, upper, direction, face, surface, stopped } = depth;
        Self { proof: proof.into(), lower, upper, direction, face, surface, stopped }
    }
}

impl From<Distance> for PartsDistance {
    fn from(distance: Distance) -> Self {
        let Distance { decision, lower, upper, pairs, closest_p, closest_q, stopped } = distance;
        let proof = decision.proof.into();
        Self { proof, lower, upper, pairs, closest_p, closest_q, stopped }
    }
}

impl From<RoundedDistance> for PartsDistance {
    fn from(distance: RoundedDistance) -> Self {
        let RoundedDistance { proof, lower, upper, closest_p, closest_q, stopped, .. } = distance;
        // Of parts in contact the verdict tells it all.
        let is_apart = proof.verdict == Verdict::Separated;
        let pairs = proof.pairs.iter().copied().filter(|_| is_apart).collect();
        let proof = proof.into();
        Self { proof, lower, upper, pairs, closest_p, closest_q, stopped }
    }
}

impl<'a> TwoParts<'a> {
    /// These parts, where they are.
    pub(crate) fn new([p, q]: [&'a Part; 2], [pose_p, pose_q]: [Pose; 2]) -> Self {
        let cores = Pair::new(&p.polytope, pose_p, &q.polytope, pose_q);
        Self { cores, radii: [p.radius, q.radius] }
    }

    /// Two polytopes where they are, with their radii.
    pub(crate) fn beside(p: Visitor<'a>, q: Visitor<'a>) -> Self {
        Self { cores: Pair { p: p.core, q: q.core }, radii: [p.radius, q.radius] }
    }

    /// The two, if one at least is rounded.
    pub(crate) fn rounded(&self) -> Option<RoundedPair<'a>> {
        let &Self { cores, radii } = self;
        radii.iter().any(|radius| *radius > 0.0).then_some(RoundedPair { cores, radii })
    }

    /// How near their polytopes are if they are within a margin of each other.
    pub(crate) fn reach(&self, margin: f64) -> Reach {
        Reach::of_rounded(self.radii, margin)
    }

    /// How they stand, and if wanted how far they may move before that changes. A method that
    /// somebody asked for by its name shows its own work; none of them answers rounded parts, which
    /// are refused where they are declared.
    pub(crate) fn decide(
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
    ) -> Result<Compared, Stopped> {
        match self.rounded() {
            Some(pair) => rounded::compare(&pair, margin, witness, effort),
            None => distance::compare(&self.cores, margin, witness, effort),
        }
    }

    /// How far apart they are.
    pub(crate) fn measure(
        &self,
        method: &DistanceMethod,
        stops: Stops,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<PartsDistance, Stopped> {
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
        let witness = &mut Witness::default();
        match self.rounded() {
            Some(pair) => Ok(rounded::measure_depth(&pair, with_surface, witness, effort)?.into()),
            None => Ok(penetration::measure(&self.cores, with_surface, witness, effort)?.into()),
        }
    }

    /// Where they meet as they are placed, or are nearest.
    pub(crate) fn impact(&self, effort: &mut Effort<'_>) -> Result<Impact, Stopped> {
        match self.rounded() {
            Some(pair) => rounded::impact_of(&pair, effort),
            None => meeting::impact_of(&self.cores, effort),
        }
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
        match self.rounded() {
            Some(pair) => Ok(rounded::impact_of(&pair, effort)?.normal),
            None => Ok(meeting::normal_apart(&self.cores, pairs, closest)),
        }
    }

    /// The corners of what parts that touch have in common.
    pub(crate) fn contact_polygon(&self, effort: &mut Effort<'_>) -> Result<Vec<Vec3>, Stopped> {
        match self.rounded() {
            Some(pair) => rounded::contact_polygon(&pair, effort),
            None => meeting::contact_polygon(&self.cores, effort),
        }
    }

    /// When they first meet on their way from here: `question` is about their polytopes.
    pub(crate) fn first_contact(
        &self,
        method: &contact_time::Method,
        question: &Question<'_>,
        witness: &mut Witness,
        effort: &mut Effort<'_>,
    ) -> Result<PartsContact, Stopped> {
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

    /// What is found of parts that are in contact where they start, as `initial` proves; with the
    /// pairs that prove the contact if that is wanted.
    pub(crate) fn contact_at_start(
        &self,
        initial: ConvexProof,
        is_proof_wanted: bool,
    ) -> PartsContact {
        match initial {
            ConvexProof::Polytopes(initial) => {
                let found = contact_time::contact_at_start(&self.cores, initial, is_proof_wanted);
                PartsContact::of(found)
            }
            ConvexProof::Rounded(_) => PartsContact::at_start(initial),
        }
    }

    /// The proof that they are in contact where their way begins, if they are. What is remembered
    /// of where they are now stays as it is.
    pub(crate) fn contact(
        &self,
        known: &Witness,
        effort: &mut Effort<'_>,
    ) -> Result<Option<ConvexProof>, Stopped> {
        let mut witness = Witness { pairs: known.pairs.clone(), ..Witness::default() };
        let method = Chosen::default_of(separation::METHODS);
        let (proof, _) = self.decide(method, false, &mut witness, effort)?;
        Ok(Some(proof).filter(|proof| proof.verdict() != Verdict::Separated))
    }
}
