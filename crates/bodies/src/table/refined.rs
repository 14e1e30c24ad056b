//! One of two bodies of a question between two polytopes: of a curved body one in it and one that
//! holds it, refined where the question needs it; any other body is both itself.

use std::sync::Arc;

use super::proof::CurvedHulls;
use super::proof::VerdictProof;
use crate::body::{Body, PlacedBody};
use crate::kinds::curved::{CurvedBody, CurvedCore, polytopes};
use crate::kinds::tangents::UnitPoints;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::deep::PieceDepth;
use clearance_geometry::hull::HullError;
use clearance_geometry::pose::Pose;

/// The body in a body.
pub(super) const INNER: usize = 0;
/// The body that holds it.
pub(super) const OUTER: usize = 1;

/// The angle around a place that the coarse points leave open.
const COARSE_ANGLE: f64 = 0.4;
/// Finer than this, points are apart by little more than their own rounding: the polytopes then
/// differ there by some 1e-14 of the body's size.
const FINEST_ANGLE: f64 = 1.0 / 4_194_304.0;
/// How often a body is refined at most: usually it takes five to eight rounds.
const ROUNDS_MAX: u32 = 32;
/// What the angle becomes in a round, as a part of itself, at least.
const SHRINK_MOST: f64 = 1.0 / 16.0;
/// The angle around several guesses, as a part of the one between them.
const AROUND_GUESSES: f64 = 2.0;
/// So many places are refined apart from each other at most.
const PLACES_MAX: usize = 8;
/// Points of a ring around a place, as cosine and sine.
const RING: [[f64; 2]; 8] = {
    const H: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [[1.0, 0.0], [H, H], [0.0, 1.0], [-H, H], [-1.0, 0.0], [-H, -H], [0.0, -1.0], [H, -H]]
};

/// Where two bodies are nearest, or in contact, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guess {
    /// A vector from P to Q across which they are nearest.
    pub(super) towards_q: Option<Vec3>,
    /// The nearest points of P and Q, or a common one.
    pub(super) points: Option<[Vec3; 2]>,
}

/// A body between two.
#[derive(Clone, Debug)]
pub(super) struct Refined {
    sides: [Body; 2],
    curved: Option<Refining>,
}

#[derive(Clone, Debug)]
struct Refining {
    core: CurvedCore,
    radius: f64,
    units: Arc<UnitPoints>,
    /// Where it was refined, the last one at the end; at least one.
    places: Vec<RefinedPlace>,
    /// How often it may still be refined.
    rounds_left: u32,
}

/// A unit point around which a body was refined, and the angle around it that was left open.
#[derive(Clone, Copy, Debug)]
struct RefinedPlace {
    unit: Vec3,
    angle: f64,
}

/// Unit points that guesses mean, which are about one place.
#[derive(Debug)]
struct MeantPlace {
    units: Vec<Vec3>,
    /// None: they mean none.
    middle: Option<Vec3>,
    /// At most how far any is from the middle.
    spread: f64,
}

impl MeantPlace {
    fn of(units: Vec<Vec3>) -> Self {
        let sum: Vec3 = units.iter().sum();
        let middle = unit(&sum).or_else(|| units.first().copied());
        let from = |middle: Vec3| units.iter().map(move |unit| (unit - middle).norm());
        let spread = middle.map_or(0.0, |middle| from(middle).fold(0.0, f64::max));
        Self { units, middle, spread }
    }
}

impl Refined {
    /// With the coarse polytopes of a curved body.
    pub(super) fn new(body: &Body) -> Self {
        let Some(CurvedBody { core, radius, units, inner, outer }) = body.curved() else {
            return Self { sides: [body.clone(), body.clone()], curved: None };
        };
        let side = |polytope| Body::from(polytope).rounded(*radius);
        let sides = [side(inner.clone()), side(outer.clone())];
        Self {
            sides,
            curved: Some(Refining {
                core: *core,
                radius: *radius,
                units: units.clone(),
                places: vec![RefinedPlace { unit: Vec3::z(), angle: COARSE_ANGLE }],
                rounds_left: ROUNDS_MAX,
            }),
        }
    }

    /// The body in it, or that holds it.
    pub(super) fn side(&self, side: usize) -> &Body {
        &self.sides[side]
    }

    /// Whether it is as fine as it gets where these guesses say that it is nearest.
    fn is_finest(&self, guesses: &[Guess], is_q: bool, pose: &Pose) -> bool {
        self.curved.as_ref().is_none_or(|round| {
            let meant = round.meant(guesses, is_q, pose);
            let is_fine = |one: &MeantPlace| {
                let known = round.place_of(one, meant.len() == 1);
                known.is_some_and(|at| round.places[at].angle <= FINEST_ANGLE)
            };
            round.rounds_left == 0 || meant.iter().all(is_fine)
        })
    }

    /// Refines it wherever others of the same body were refined.
    fn refine_as(&mut self, others: &[&Self], effort: &mut Effort<'_>) -> Result<(), Stopped> {
        let Some(round) = &mut self.curved else { return Ok(()) };
        let units = Arc::make_mut(&mut round.units);
        for other in others.iter().filter_map(|other| other.curved.as_ref()) {
            for unit in other.units.all() {
                effort.look_at_clock()?;
                units.add(unit);
            }
        }
        self.build(effort)
    }

    /// Makes the polytopes anew.
    fn build(&mut self, effort: &mut Effort<'_>) -> Result<(), Stopped> {
        let Some(round) = &self.curved else { return Ok(()) };
        let made = polytopes(&round.core, &round.units, effort).map_err(|error| match error {
            HullError::Stopped(why) => why,
            HullError::Empty | HullError::BadPoint { .. } | HullError::TooMany { .. } => {
                Stopped::Unresolved
            }
        })?;
        self.sides = made.map(|polytope| Body::from(polytope).rounded(round.radius));
        Ok(())
    }

    /// Refines it around where these guesses say that it is nearest to the other body; it is P or
    /// Q, and in this pose.
    pub(super) fn refine(
        &mut self,
        guesses: &[Guess],
        is_q: bool,
        pose: &Pose,
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        let Some(round) = &mut self.curved else { return Ok(()) };
        round.rounds_left = round.rounds_left.saturating_sub(1);
        round.add_around(guesses, is_q, pose);
        self.build(effort)
    }
}

impl Refining {
    /// Adds the unit points of all guesses and a ring around each place that they mean, nearer than
    /// the last one there.
    fn add_around(&mut self, guesses: &[Guess], is_q: bool, pose: &Pose) {
        let meant = self.meant(guesses, is_q, pose);
        let is_only = meant.len() == 1;
        meant.iter().for_each(|meant| self.add_at(meant, is_only));
    }

    /// The places that guesses mean: one, unless what one guess means is no nearer to what the
    /// other does than was left open around it. Bodies in what is curved and those around it may be
    /// nearest to different balls of several that are about as far, and each has to be refined.
    fn meant(&self, guesses: &[Guess], is_q: bool, pose: &Pose) -> Vec<MeantPlace> {
        let of = |guesses: &[Guess]| {
            let units = guesses.iter().flat_map(|guess| self.units_of(guess, is_q, pose));
            MeantPlace::of(units.collect())
        };
        let all = of(guesses);
        let known = self.place_of(&all, true).map_or(COARSE_ANGLE, |at| self.places[at].angle);
        if AROUND_GUESSES * all.spread < known || self.places.len() >= PLACES_MAX {
            return vec![all];
        }
        let each = guesses.iter().map(|guess| of(std::slice::from_ref(guess)));
        let mut each: Vec<MeantPlace> = each.filter(|meant| meant.middle.is_some()).collect();
        if each.len() < 2 {
            each = vec![all];
        }
        each
    }

    /// The known place that is meant, or, of the only one, the last.
    fn place_of(&self, meant: &MeantPlace, is_only: bool) -> Option<usize> {
        let last = is_only.then(|| self.places.len() - 1);
        let Some(middle) = meant.middle else { return Some(self.places.len() - 1) };
        let is_near =
            |place: &RefinedPlace| (place.unit - middle).norm() <= AROUND_GUESSES * place.angle;
        self.places.iter().rposition(is_near).or(last)
    }

    fn add_at(&mut self, meant: &MeantPlace, is_only: bool) {
        let at = self.place_of(meant, is_only);
        let mut place = match at {
            Some(at) => self.places.remove(at),
            None => RefinedPlace { unit: Vec3::z(), angle: COARSE_ANGLE },
        };
        let Some(middle) = meant.middle else {
            self.places.push(RefinedPlace { angle: place.angle * SHRINK_MOST, ..place });
            return;
        };
        let angle = (AROUND_GUESSES * meant.spread).clamp(SHRINK_MOST * place.angle, COARSE_ANGLE);
        place = RefinedPlace { unit: middle, angle };
        self.places.push(place);
        let units = Arc::make_mut(&mut self.units);
        meant.units.iter().for_each(|unit| _ = units.add(unit));
        units.add(&middle);
        let [across, along] = if units.is_flat() {
            [Vec3::new(-middle.y, middle.x, 0.0), Vec3::zeros()]
        } else {
            let across = middle.cross(&Vec3::ith(middle.iamin(), 1.0)).normalize();
            [across, middle.cross(&across)]
        };
        for share in if units.is_flat() { [1.0, 0.25] } else { [1.0, 0.0] } {
            for [cosine, sine] in RING {
                units.add(&(middle + (across * cosine + along * sine) * (angle * share)));
            }
        }
    }

    /// The unit points that a guess means, by its normal and by its point.
    fn units_of(&self, guess: &Guess, is_q: bool, pose: &Pose) -> impl Iterator<Item = Vec3> {
        let outward = guess.towards_q.map(|normal| if is_q { -normal } else { normal });
        let outward = outward.and_then(|normal| unit(&pose.rotation.tr_mul(&normal)));
        let point = guess.points.map(|points| {
            let at = pose.rotation.tr_mul(&(points[usize::from(is_q)] - pose.translation));
            // The point of the core below that of the ball around it.
            at - outward.unwrap_or_default() * self.radius
        });
        let of_normal = outward.map(|normal| self.core.unit_of_normal(&normal));
        let of_point = point.map(|point| self.core.unit_of_point(&point));
        [of_normal, of_point].into_iter().flatten().filter_map(|direction| unit(&direction))
    }
}

/// The unit vector along a vector, if there is one.
fn unit(vector: &Vec3) -> Option<Vec3> {
    let size = vector.amax();
    // Written so that NaN has none.
    if size > 0.0 && size.is_finite() { Some((vector / size).normalize()) } else { None }
}

/// Two bodies of which one at least is curved, ready.
#[derive(Clone, Debug)]
pub(super) struct ReadyBetween {
    pub(super) bodies: [PlacedBody; 2],
}

/// How deep they overlap.
#[derive(Clone, Debug)]
pub struct CurvedDepth {
    /// How they stand; none: that is unresolved.
    pub(super) verdict: Option<Verdict>,
    /// Encloses the depth, metres.
    pub(super) bounds: [f64; 2],
    /// Along which P leaves Q soonest, rounded.
    pub(super) direction: Option<Vec3>,
    /// The deepest two pieces, beside a body that is not convex.
    pub(super) pieces: Option<PieceDepth>,
    /// Why the bracket is wider than it could be.
    pub(super) stopped: Option<Stopped>,
    /// What proves it; or why nothing does.
    pub proof: Result<VerdictProof, Unproven>,
}

impl ReadyBetween {
    pub(super) fn new(bodies: [PlacedBody; 2]) -> Self {
        Self { bodies }
    }
}

/// Two bodies between others.
#[derive(Clone, Debug)]
pub(super) struct Between {
    bodies: [Refined; 2],
    poses: [Pose; 2],
}

impl Between {
    /// With coarse polytopes.
    pub(super) fn new(bodies: &[PlacedBody; 2]) -> Self {
        let refined = bodies.each_ref().map(|placed| Refined::new(&placed.body));
        Self { bodies: refined, poses: bodies.each_ref().map(|placed| placed.pose) }
    }

    /// Both bodies of one side.
    pub(super) fn side(&self, side: usize) -> [PlacedBody; 2] {
        self.side_at(side, self.poses)
    }

    /// The polytopes around and in those of both that are curved.
    pub(super) fn hulls(&self) -> [Option<CurvedHulls>; 2] {
        self.bodies.each_ref().map(|body| {
            let [inner, outer] = &body.sides;
            let hulls = || CurvedHulls { outer: outer.clone(), inner: inner.clone() };
            body.curved.as_ref().map(|_| hulls())
        })
    }

    /// Both bodies of one side, in other poses.
    pub(super) fn side_at(&self, side: usize, poses: [Pose; 2]) -> [PlacedBody; 2] {
        [0, 1].map(|k| PlacedBody { body: self.bodies[k].side(side).clone(), pose: poses[k] })
    }

    /// Refines both wherever others of the same bodies were refined.
    pub(super) fn refine_as(
        &mut self,
        others: &[&Self],
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        for (k, body) in self.bodies.iter_mut().enumerate() {
            let others: Vec<&Refined> = others.iter().map(|other| &other.bodies[k]).collect();
            body.refine_as(&others, effort)?;
        }
        Ok(())
    }

    /// Refines both where these guesses say that they are nearest, in these poses. False: they are
    /// as fine as they get.
    pub(super) fn refine(
        &mut self,
        guesses: &[Guess],
        poses: [Pose; 2],
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let is_finest = |k: usize| self.bodies[k].is_finest(guesses, k == 1, &poses[k]);
        if [0, 1].into_iter().all(is_finest) {
            return Ok(false);
        }
        effort.spend_step()?;
        for (k, body) in self.bodies.iter_mut().enumerate() {
            body.refine(guesses, k == 1, &poses[k], effort)?;
        }
        Ok(true)
    }

    /// The same in the poses of the question.
    pub(super) fn refine_here(
        &mut self,
        guesses: &[Guess],
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        self.refine(guesses, self.poses, effort)
    }
}
