//! When two moving bodies first come into contact, and where.

use super::boundaries::{BodiesStand, ReadyBoundaries};
use super::cells::{ReadyCells, answered, box_of, kinds, only};
use super::course::at_start;
pub use super::course::{FirstContactAnswer, Motions};
use super::deep_contact::ReadyDeep;
use super::depth::DepthQuestion;
use super::distance::DistanceAsked;
use super::hulls::ReadyHulls;
pub use super::proof::MotionProof;
use super::proof::VerdictProof;
use super::refined::ReadyBetween;
use super::row::{
    BETWEEN_NANOSECONDS, FACES_NANOSECONDS, HULLS_NANOSECONDS, Needs, NotAnswered, TableEntry,
    Wanted, Way, look_up,
};
use crate::body::PlacedBody;
use crate::kind::Kind;
use crate::solid::{Meeting, ReadySolid};
use arrayvec::ArrayVec;
use clearance_geometry::claim::{self, Outcome, SolidMotionProof, Verdict};
use clearance_geometry::contact_time::polyhedra::proof::{Unproven, prove_motion};
use clearance_geometry::contact_time::{
    METHODS, Method, Travel, first_contact, first_contact_by, names_of_those_that_answer_all,
    polyhedra,
};
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::contact::{self, FaceContact, FaceCourse};
use clearance_geometry::faces::distance::measure;
use clearance_geometry::faces::{Clear, prove_clear, prove_solids};
use clearance_geometry::meeting::{Impact, impact_of_contact};
use clearance_geometry::motion::Motion;
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Tables;
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{self, RoundedFirstContact};
use clearance_geometry::terrain::standing::FieldBeside;
use clearance_geometry::terrain::travel_of;
use clearance_geometry::witness::Witness;

/// What answers it if nothing turns.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<Way> {
    use Kind::{Cloud, Curved, HeightField, Polyhedron, Polytope, Rounded, Surface};
    match kinds {
        [Curved, _] | [_, Curved] => Ok(Way::Between),
        [HeightField, _] | [_, HeightField] => Ok(Way::Cells),
        [Polytope, Polytope] => Ok(Way::Hulls),
        [Polytope, Polyhedron] | [Polyhedron, Polytope | Polyhedron] => Ok(Way::Faces),
        [Rounded, Polytope | Rounded] | [Polytope, Rounded] => Ok(Way::Radii),
        [Rounded, Polyhedron | Surface] | [Polyhedron | Surface, Rounded] => Ok(Way::RoundedFaces),
        [Cloud, _] | [_, Cloud] => Ok(Way::RoundedFaces),
        [Surface, Polytope | Polyhedron | Surface] | [Polytope | Polyhedron, Surface] => {
            Ok(Way::Pieces)
        }
    }
}

/// What answers it where one of the bodies turns.
pub(super) fn entry_turning(kinds: [Kind; 2]) -> TableEntry<Way> {
    entry(kinds)
}

/// What answers it within a margin or deviations.
pub(super) fn entry_with_slack(kinds: [Kind; 2]) -> TableEntry<Way> {
    entry(kinds)
}

/// The question about two bodies of certain kinds.
#[derive(Clone, Copy, Debug)]
pub struct FirstContactQuestion {
    motions: Motions,
    by: FirstContactBy,
}

#[derive(Clone, Copy, Debug)]
enum FirstContactBy {
    Hulls {
        method: &'static Method,
        travels: [Option<Travel>; 2],
    },
    /// Where nothing turns and contact is meant exactly, with how far the bodies come.
    Faces([Travel; 2]),
    /// By groups of faces, whatever the motions.
    FaceGroups,
    /// By the near triangles of a height field.
    Cells,
    /// By polytopes in and around a curved body.
    Between,
    /// By the depth, of bodies of any kinds.
    Deep,
    Radii {
        method: &'static Method,
    },
}

/// The question with its bodies.
#[derive(Clone, Debug)]
pub struct ReadyFirstContact {
    motions: Motions,
    bodies: FirstContactOf,
}

#[derive(Clone, Debug)]
enum FirstContactOf {
    Hulls { method: &'static Method, pair: ReadyHulls },
    Faces { bodies: Box<ReadyBoundaries>, travels: Option<[Travel; 2]> },
    Radii { method: &'static Method, pair: ReadyHulls },
    Cells(Box<ReadyCells>),
    Between(Box<ReadyBetween>),
    Deep(Box<ReadyDeep>),
}

impl FirstContactQuestion {
    /// The question about bodies of these kinds in these poses, by the default method.
    pub fn of(kinds: [Kind; 2], poses: [&Pose; 2], motions: Motions) -> Result<Self, NotAnswered> {
        let refused = |field, what| NotAnswered { field, what, kinds };
        let way = look_up(kinds, entry)?;
        let [p_deviation, q_deviation] = motions.deviations;
        let slacks = [
            ("p_deviation", p_deviation),
            ("q_deviation", q_deviation),
            ("margin", motions.margin),
        ];
        if let Some((field, _)) = slacks.iter().find(|(_, slack)| *slack > 0.0) {
            entry_with_slack(kinds).map_err(|what| refused(field, what))?;
        }
        let travels = motions.travels(poses);
        for (travel, field) in travels.iter().zip(["p_motion", "q_motion"]) {
            if travel.is_none() {
                entry_turning(kinds).map_err(|what| refused(field, what))?;
            }
        }
        let is_exact = motions.without_slack().is_some();
        if motions.margin < 0.0 {
            DepthQuestion::of(kinds).map_err(|why| refused("margin", why.what))?;
            return Ok(Self { motions, by: FirstContactBy::Deep });
        }
        let by = match (way, travels) {
            (Way::Faces, [Some(of_p), Some(of_q)]) if is_exact => {
                FirstContactBy::Faces([of_p, of_q])
            }
            (Way::Cells, _) => FirstContactBy::Cells,
            (Way::Between, _) => FirstContactBy::Between,
            (Way::Faces | Way::RoundedFaces | Way::Pieces, _) => FirstContactBy::FaceGroups,
            (Way::Hulls, travels) => FirstContactBy::Hulls { method: &METHODS[0], travels },
            (Way::Radii, _) => FirstContactBy::Radii { method: &METHODS[0] },
        };
        Ok(Self { motions, by })
    }

    /// How the bodies move.
    pub fn motions(&self) -> &Motions {
        &self.motions
    }

    /// The name of a method that answers it, the default one first.
    pub fn method_name(&self, index: usize) -> Option<&'static str> {
        match self.by {
            FirstContactBy::Hulls { .. } | FirstContactBy::Radii { .. } => {
                METHODS.get(index).map(|method| method.name)
            }
            FirstContactBy::Between | FirstContactBy::Deep => [METHODS[0].name].get(index).copied(),
            FirstContactBy::Faces(_) | FirstContactBy::FaceGroups | FirstContactBy::Cells => {
                polyhedra::METHODS.get(index).map(|method| method.name)
            }
        }
    }

    /// By another method, if there is one by that index; in words why it does not answer these
    /// motions, and which methods do.
    pub fn with_method(self, index: usize) -> Result<Self, String> {
        let Some(method) = METHODS.get(index) else { return Ok(self) };
        let by = match self.by {
            FirstContactBy::Faces(_)
            | FirstContactBy::FaceGroups
            | FirstContactBy::Cells
            | FirstContactBy::Between
            | FirstContactBy::Deep => return Ok(self),
            FirstContactBy::Hulls { travels, .. } => {
                let translates = travels.iter().all(Option::is_some);
                let is_plain = translates && self.motions.without_slack().is_some();
                let by = FirstContactBy::Hulls { method, travels };
                (method.answers_all() || is_plain).then_some(by)
            }
            FirstContactBy::Radii { .. } => {
                method.answers_all().then_some(FirstContactBy::Radii { method })
            }
        };
        if let Some(by) = by {
            return Ok(Self { by, ..self });
        }
        Err(format!(
            "{} answers polytopes that only translate, without radii, margin and deviations; this \
             question is for {}",
            method.name,
            names_of_those_that_answer_all()
        ))
    }

    /// What is built of the bodies.
    pub fn needs(&self) -> Needs {
        match self.by {
            FirstContactBy::Hulls { method, .. } | FirstContactBy::Radii { method } => {
                Needs::tables(method.tables)
            }
            FirstContactBy::Faces(_)
            | FirstContactBy::FaceGroups
            | FirstContactBy::Cells
            | FirstContactBy::Between => Needs::SOLIDS,
            FirstContactBy::Deep => Needs::tables(Tables::Faces).and_solids(),
        }
    }

    /// How long the default method takes for bodies that are ready and have so many vertices
    /// together, nanoseconds: a generous guess.
    pub fn nanoseconds(&self, vertices: u32) -> u64 {
        let is_linear = |motion: &Motion| matches!(motion, Motion::Linear { .. });
        let (search, each) = match self.by {
            FirstContactBy::Faces(_) => (1_000_000, FACES_NANOSECONDS),
            FirstContactBy::FaceGroups | FirstContactBy::Cells => (20_000_000, FACES_NANOSECONDS),
            FirstContactBy::Between | FirstContactBy::Deep => {
                (10 * BETWEEN_NANOSECONDS, FACES_NANOSECONDS)
            }
            FirstContactBy::Hulls { .. } if self.motions.of_bodies.iter().all(is_linear) => {
                (100_000, HULLS_NANOSECONDS)
            }
            FirstContactBy::Hulls { .. } | FirstContactBy::Radii { .. } => {
                (2_000_000, HULLS_NANOSECONDS)
            }
        };
        search + each * u64::from(vertices)
    }

    /// Makes of the bodies what the answer needs.
    pub fn prepare(self, bodies: [PlacedBody; 2]) -> Result<ReadyFirstContact, NotAnswered> {
        let bodies = match self.by {
            FirstContactBy::Hulls { method, .. } => {
                FirstContactOf::Hulls { method, pair: ReadyHulls::new(bodies) }
            }
            FirstContactBy::Faces(travels) => {
                let bodies = Box::new(ReadyBoundaries::new(bodies)?);
                FirstContactOf::Faces { bodies, travels: Some(travels) }
            }
            FirstContactBy::Cells => FirstContactOf::Cells(Box::new(ReadyCells::new(bodies))),
            FirstContactBy::Between => FirstContactOf::Between(Box::new(ReadyBetween::new(bodies))),
            FirstContactBy::Deep => FirstContactOf::Deep(Box::new(ReadyDeep::new(bodies)?)),
            FirstContactBy::FaceGroups => {
                let bodies = Box::new(ReadyBoundaries::new(bodies)?);
                FirstContactOf::Faces { bodies, travels: None }
            }
            FirstContactBy::Radii { method } => {
                FirstContactOf::Radii { method, pair: ReadyHulls::new(bodies) }
            }
        };
        Ok(ReadyFirstContact { motions: self.motions, bodies })
    }
}

impl ReadyFirstContact {
    /// Answers it from cold, with the impact of hulls if that is wanted.
    pub fn answer(
        &self,
        with_impact: bool,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<FirstContactAnswer, Stopped> {
        match &self.bodies {
            FirstContactOf::Hulls { method, pair } => {
                let question = self.motions.about(pair.pair());
                let found = first_contact_by(method, &question, &mut Witness::default(), effort)?;
                let impact =
                    if with_impact { impact_of_contact(&question, &found, effort)? } else { None };
                Ok(FirstContactAnswer { impact, ..of_hulls(found) })
            }
            FirstContactOf::Cells(bodies) => {
                bodies.first_contact(&self.motions, with_impact, wanted, effort)
            }
            FirstContactOf::Between(bodies) => {
                bodies.first_contact(&self.motions, with_impact, wanted, effort)
            }
            FirstContactOf::Deep(bodies) => {
                bodies.first_contact(&self.motions, with_impact, wanted, effort)
            }
            FirstContactOf::Faces { bodies, travels } => {
                let asked = AskedFaces { motions: &self.motions, bodies, wanted };
                let found = asked.answer(*travels, effort)?;
                let impact = if with_impact && found.outcome == Outcome::Contact {
                    asked.impact(found.t_free, effort)?
                } else {
                    None
                };
                Ok(FirstContactAnswer { impact, ..found })
            }
            FirstContactOf::Radii { method, pair } => {
                let (pair, witness) = (pair.rounded(), &mut Witness::default());
                let question = self.motions.about_rounded(&pair);
                let found = rounded::first_contact(method, &question, &pair, witness, effort)?;
                let impact = if with_impact {
                    rounded::impact_of_contact(&question, &pair, &found, effort)?
                } else {
                    None
                };
                Ok(FirstContactAnswer { impact, ..of_rounded(found) })
            }
        }
    }
}

/// What is found of rounded bodies.
fn of_rounded(found: RoundedFirstContact) -> FirstContactAnswer {
    let later = found.later.as_ref();
    FirstContactAnswer {
        outcome: found.outcome(),
        t_free: later.map_or(0.0, |later| later.t_free),
        t_contact: later.map_or(0.0, |later| later.t_contact),
        initial: found.initial.verdict,
        stopped: later.and_then(|later| later.stopped),
        impact: None,
        meeting: None,
        proof: Ok(MotionProof::OfRounded(found)),
    }
}

/// What is found of hulls.
fn of_hulls(found: claim::FirstContact) -> FirstContactAnswer {
    FirstContactAnswer {
        outcome: found.outcome,
        t_free: found.t_free,
        t_contact: found.t_contact,
        initial: found.initial.verdict(),
        stopped: found.stopped,
        impact: None,
        meeting: None,
        proof: Ok(MotionProof::OfHulls(found)),
    }
}

/// The question about bodies one of which at least is a polyhedron.
struct AskedFaces<'a> {
    motions: &'a Motions,
    bodies: &'a ReadyBoundaries,
    wanted: Wanted,
}

impl AskedFaces<'_> {
    /// By the hulls, if these do not meet; in contact at t = 0 the verdict tells; else by the faces
    /// on their ways.
    fn answer(
        &self,
        travels: Option<[Travel; 2]>,
        effort: &mut Effort<'_>,
    ) -> Result<FirstContactAnswer, Stopped> {
        if let Some(free) = self.by_hulls(effort)? {
            return Ok(free);
        }
        if let (Some(solids), Some(travels)) = (self.bodies.solids(), travels) {
            return self.by_translation(solids, travels, effort);
        }
        let stand = self.bodies.stand(effort)?;
        if stand.verdict != Verdict::Separated {
            let prove = || self.bodies.prove(&stand, None, self.wanted, effort);
            let proof = self.wanted.proven(prove).map(MotionProof::AtStart);
            let meeting = self.bodies.meeting(&stand);
            return Ok(FirstContactAnswer { meeting, ..at_start(stand.verdict, proof) });
        }
        self.on_course(&stand, effort)
    }

    /// What is found of the hulls, if they do not meet.
    fn by_hulls(&self, effort: &mut Effort<'_>) -> Result<Option<FirstContactAnswer>, Stopped> {
        let witness = &mut Witness::default();
        let found = match self.bodies.rounded_hulls() {
            None => {
                let question = self.motions.about(self.bodies.hulls());
                of_hulls(first_contact(&question, witness, effort)?)
            }
            Some(pair) => {
                let question = self.motions.about_rounded(&pair);
                let method = &METHODS[0];
                of_rounded(rounded::first_contact(method, &question, &pair, witness, effort)?)
            }
        };
        let is_free = found.outcome == Outcome::NoContact && found.stopped.is_none();
        Ok(is_free.then_some(found))
    }

    /// Of bodies that turn nothing, where contact is meant exactly.
    fn by_translation(
        &self,
        solids: [&ReadySolid; 2],
        travels: [Travel; 2],
        effort: &mut Effort<'_>,
    ) -> Result<FirstContactAnswer, Stopped> {
        let [p, q] = [0, 1].map(|k| solids[k].moving(travels[k]));
        let found = polyhedra::first_contact(&p, &q, effort)?;
        let prove = || prove_first_contact(solids, travels, &found, self.wanted, effort);
        let proof = self.wanted.proven(prove);
        let contact = found.contact.as_ref();
        let meeting = contact.map(|found| Meeting::new(solids, &found.faces, found.point));
        Ok(FirstContactAnswer {
            outcome: contact.map_or(Outcome::NoContact, |_| Outcome::Contact),
            t_free: contact.map_or(1.0, |found| found.t_free),
            t_contact: contact.map_or(1.0, |found| found.t_contact),
            initial: found.initial,
            stopped: None,
            impact: None,
            meeting,
            proof,
        })
    }

    /// Of bodies that are separated at t = 0.
    fn on_course(
        &self,
        stand: &BodiesStand,
        effort: &mut Effort<'_>,
    ) -> Result<FirstContactAnswer, Stopped> {
        let margin = self.motions.margin;
        if margin > 0.0 {
            let within = self.bodies.within(stand, margin, effort)?;
            if within.compared.is_within {
                let pairs = within.compared.pairs.into_iter().collect();
                let contact = SolidMotionProof { pairs, ..SolidMotionProof::default() };
                let prove = || self.with_start(stand, contact, effort);
                return Ok(at_start(stand.verdict, self.wanted.proven(prove)));
            }
        }
        let question = self.motions.about(self.bodies.hulls());
        let (surfaces, course) =
            (self.bodies.surfaces(), FaceCourse { question: &question, margin });
        let found = contact::find(&surfaces, &course, effort);
        let proof = self.wanted.proven(|| self.prove_course(stand, &course, &found, effort));
        let FaceContact { outcome, t_free, t_contact, stopped, .. } = found;
        Ok(FirstContactAnswer {
            outcome,
            t_free,
            t_contact,
            initial: stand.verdict,
            stopped,
            impact: None,
            meeting: None,
            proof,
        })
    }

    fn prove_course(
        &self,
        stand: &BodiesStand,
        course: &FaceCourse<'_>,
        found: &FaceContact,
        effort: &mut Effort<'_>,
    ) -> Result<MotionProof, Unproven> {
        let pairs = found.pairs.clone();
        if found.outcome == Outcome::Undecided && found.t_free <= 0.0 {
            let contact = SolidMotionProof { pairs, ..SolidMotionProof::default() };
            return self.with_start(stand, contact, effort);
        }
        let clear = if found.t_free > 0.0 {
            Clear::Until(course, found.t_free)
        } else {
            Clear::Beyond(course.margin)
        };
        let steps_max = self.wanted.cover_steps_max;
        let free = prove_clear(&self.bodies.surfaces(), clear, steps_max, effort)?;
        Ok(MotionProof::OfSolids(SolidMotionProof { free, faces: None, pairs }, None))
    }

    /// With the proof that the bodies are separated at t = 0.
    fn with_start(
        &self,
        stand: &BodiesStand,
        contact: SolidMotionProof,
        effort: &mut Effort<'_>,
    ) -> Result<MotionProof, Unproven> {
        let start = self.bodies.prove(stand, None, self.wanted, effort)?;
        Ok(MotionProof::OfSolids(contact, Some(Box::new(start))))
    }

    /// Where they meet: as they are at the time until which they are proven free.
    fn impact(&self, t_free: f64, effort: &mut Effort<'_>) -> Result<Option<Impact>, Stopped> {
        let Pair { p, q } = self.bodies.hulls();
        let [of_p, of_q] = &self.motions.of_bodies;
        let poses = [of_p.pose_rounded(&p.pose, t_free), of_q.pose_rounded(&q.pose, t_free)];
        let there = self.bodies.moved_to(poses);
        let stand = there.stand(effort)?;
        if stand.verdict == Verdict::Separated {
            let found = measure(&there.surfaces(), Stops::default(), effort)?;
            return Ok(Some(Impact { point: found.closest[1], normal: found.normal }));
        }
        let common = there.common_points(&stand, effort)?;
        Ok(common.map(|[_, point]| Impact { point, normal: None }))
    }
}

/// In contact at t = 0, the verdict there is all that there is to prove.
fn prove_first_contact(
    solids: [&ReadySolid; 2],
    travels: [Travel; 2],
    found: &polyhedra::FirstContact,
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> Result<MotionProof, Unproven> {
    let contact = found.contact.as_ref();
    let [p, q] = solids;
    let shapes = [&p.shape(), &q.shape()];
    let steps_max = wanted.cover_steps_max;
    if found.initial != Verdict::Separated {
        let faces = contact.map(|contact| &contact.faces);
        let proof = prove_solids(shapes, found.initial, faces, steps_max, effort)?;
        return Ok(MotionProof::AtStart(VerdictProof::OfSolids(proof)));
    }
    let proof = prove_motion(shapes, travels, contact, steps_max, effort)?;
    Ok(MotionProof::OfSolids(proof, None))
}

/// Of a height field and another body.
impl ReadyCells {
    /// When they first meet.
    pub(super) fn first_contact(
        &self,
        motions: &Motions,
        with_impact: bool,
        wanted: Wanted,
        effort: &mut Effort<'_>,
    ) -> Result<FirstContactAnswer, Stopped> {
        if let Some(bodies) = self.spelled(wanted) {
            return answered(ask_first_contact(bodies, *motions, with_impact, wanted, effort))?;
        }
        let none = wanted.proven(|| Err(Unproven::TooLong));
        if let Some((k, beside)) = self.beside() {
            let question = ordered(motions, k).about(only(&beside));
            let course = FaceCourse { question: &question, margin: motions.margin };
            if beside.stays_clear(&course, effort)? {
                let start = at_start(Verdict::Separated, none);
                let (outcome, t_free, t_contact) = (Outcome::NoContact, 1.0, 1.0);
                return Ok(FirstContactAnswer { outcome, t_free, t_contact, ..start });
            }
        }
        let margin = (motions.margin > 0.0).then_some(motions.margin);
        let stands = self.verdict(margin, Wanted::NO_PROOF, effort);
        let initial = stands.decided?.verdict;
        let is_within = stands.compared?.is_some_and(|found| found.is_within);
        let mut found = if initial != Verdict::Separated || is_within {
            at_start(initial, none)
        } else {
            let found = match self.beside() {
                Some((k, beside)) => course_beside(&beside, k, motions, effort),
                None => self.course_by_tiles(motions, effort)?,
            };
            let FaceContact { outcome, t_free, t_contact, stopped, .. } = found;
            let proof = none;
            FirstContactAnswer {
                outcome,
                t_free,
                t_contact,
                stopped,
                proof,
                ..at_start(initial, Err(None))
            }
        };
        if with_impact && found.outcome == Outcome::Contact {
            found.impact = self.impact(motions, found.t_free, effort)?;
        }
        Ok(found)
    }

    fn course_by_tiles(
        &self,
        motions: &Motions,
        effort: &mut Effort<'_>,
    ) -> Result<FaceContact, Stopped> {
        let mut all = FaceContact {
            outcome: Outcome::NoContact,
            t_free: 1.0,
            t_contact: 1.0,
            pairs: ArrayVec::new(),
            stopped: None,
        };
        let travels = [0, 1].map(|k| {
            let PlacedBody { body, pose } = &self.bodies[k];
            travel_of(box_of(body), pose, &motions.of_bodies[k]) + motions.deviations[k]
        });
        let Some((k, _)) = self.field() else { return Err(Stopped::Unresolved) };
        let near = self.around(1 - k, travels[0] + travels[1] + motions.margin);
        for (_, cells) in self.tiles(&near, effort)? {
            effort.spend_step()?;
            let Some(bodies) = self.with_cells(&cells)? else { continue };
            let found =
                answered(ask_first_contact(bodies, *motions, false, Wanted::NO_PROOF, effort))??;
            merge(&mut all, &found);
        }
        Ok(all)
    }

    /// Where they meet: as they are at the time until which they are free.
    fn impact(
        &self,
        motions: &Motions,
        t_free: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Impact>, Stopped> {
        let moved = |k: usize| {
            let PlacedBody { body, pose } = &self.bodies[k];
            let pose: Pose = motions.of_bodies[k].pose_rounded(pose, t_free);
            PlacedBody { body: body.clone(), pose }
        };
        let there = Self::new([moved(0), moved(1)]);
        let found = there.distance(DistanceAsked::default(), Wanted::NO_PROOF, effort);
        let closest = found.distance?.closest();
        Ok(closest.map(|[_, point]| Impact { point, normal: found.normal }))
    }
}

fn course_beside(
    beside: &FieldBeside<'_>,
    field: usize,
    motions: &Motions,
    effort: &mut Effort<'_>,
) -> FaceContact {
    let question = ordered(motions, field).about(only(beside));
    beside.first_contact(&FaceCourse { question: &question, margin: motions.margin }, effort)
}

/// The same motions with that of the field first.
fn ordered(motions: &Motions, field: usize) -> Motions {
    let mut ordered = *motions;
    if field == 1 {
        ordered.of_bodies.swap(0, 1);
        ordered.deviations.swap(0, 1);
    }
    ordered
}

/// The field is met when the first of its cells is, and free as long as all are.
fn merge(all: &mut FaceContact, found: &FirstContactAnswer) {
    match found.outcome {
        Outcome::NoContact => return,
        Outcome::Undecided if all.outcome == Outcome::NoContact => all.outcome = Outcome::Undecided,
        Outcome::Undecided => {}
        Outcome::Contact => {
            if all.outcome != Outcome::Contact || found.t_contact < all.t_contact {
                all.t_contact = found.t_contact;
            }
            all.outcome = Outcome::Contact;
        }
    }
    all.t_free = all.t_free.min(found.t_free);
    all.stopped = all.stopped.or(found.stopped);
}

/// Answers the question about any two bodies.
pub(super) fn ask_first_contact(
    bodies: [PlacedBody; 2],
    motions: Motions,
    with_impact: bool,
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> Result<Result<FirstContactAnswer, Stopped>, NotAnswered> {
    let poses = bodies.each_ref().map(|placed| &placed.pose);
    let question = FirstContactQuestion::of(kinds(&bodies), poses, motions)?;
    Ok(question.prepare(bodies)?.answer(with_impact, wanted, effort))
}
