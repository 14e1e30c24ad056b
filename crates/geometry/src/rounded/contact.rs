//! When moving rounded bodies first come into contact: when their polytopes come within the sum of
//! the radii, and of a margin.

use super::{RoundedPair, compare_depth, measure, verdict};
use crate::Vec3;
use crate::claim::{Direction, FirstContact, Outcome, RoundedProof, StaticProof, Verdict};
use crate::contact_time::{Method, first_contact_by};
use crate::distance::{METHODS, Stops, towards};
use crate::effort::{Effort, Stopped};
use crate::meeting::{Impact, polygon_across};
use crate::pair::{Pair, Question, VertexPair};
use crate::witness::Witness;

/// The first contact of rounded bodies, with everything proven on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundedFirstContact {
    /// How they stand at t = 0, with its proof.
    pub initial: RoundedProof,
    /// What is proven of the polytopes' distance after that; none where the bodies are in contact
    /// at t = 0.
    pub later: Option<FirstContact>,
}

impl RoundedFirstContact {
    /// Whether they meet.
    pub fn outcome(&self) -> Outcome {
        self.later.as_ref().map_or(Outcome::Contact, |later| later.outcome)
    }

    /// Pairs that show that the bodies are farther apart than the margin at t = 0, where nothing
    /// later shows it and the verdict does not; as those of a [`crate::claim::MarginClaim`] do.
    pub fn start_pairs(&self) -> &[VertexPair] {
        match &self.later {
            Some(FirstContact {
                chain,
                initial: StaticProof::Separated { direction: Direction::Nearest { pairs, .. } },
                ..
            }) if chain.is_empty() => pairs,
            _ => &[],
        }
    }
}

/// Finds the first contact over the step, searching with a method that answers margins. The
/// question is about the polytopes, and its reach is the sum of the radii and of a margin.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose, motion::Motion};
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// use clearance_geometry::claim::Reach;
/// use clearance_geometry::contact_time::METHODS;
/// use clearance_geometry::pair::Question;
/// use clearance_geometry::rounded::{RoundedPair, first_contact};
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let cores = Pair::new(&point, Pose::identity(), &point, Pose::translation(5.0, 0.0, 0.0));
/// let balls = RoundedPair { cores, radii: [1.0, 2.0] };
/// let nearing = Motion::Linear { velocity: Vec3::new(-4.0, 0.0, 0.0) };
/// let question = Question {
///     reach: Reach::of_rounded(balls.radii, 0.0),
///     ..Question::new(cores, Motion::rest(), nearing)
/// };
/// let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
/// let found = first_contact(&METHODS[0], &question, &balls, witness, effort).unwrap();
/// let later = found.later.unwrap();
/// assert!(later.t_free < 0.5 && 0.5 <= later.t_contact && later.t_contact - later.t_free < 1e-9);
/// ```
pub fn first_contact(
    method: &Method,
    question: &Question<'_>,
    pair: &RoundedPair<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<RoundedFirstContact, Stopped> {
    let initial = verdict(pair, &mut Witness::default(), effort)?;
    let later = match initial.verdict {
        Verdict::Touching | Verdict::Overlapping => None,
        Verdict::Separated => Some(first_contact_by(method, question, witness, effort)?),
    };
    Ok(RoundedFirstContact { initial, later })
}

/// Where two moving bodies meet: as they are at the time until which they are proven free, by a
/// hair before their first contact. None if they do not meet.
pub fn impact_of_contact(
    question: &Question<'_>,
    pair: &RoundedPair<'_>,
    found: &RoundedFirstContact,
    effort: &mut Effort<'_>,
) -> Result<Option<Impact>, Stopped> {
    if found.outcome() != Outcome::Contact {
        return Ok(None);
    }
    let t = found.later.as_ref().map_or(0.0, |later| later.t_free);
    let Pair { p, q } = &pair.cores;
    let pose_p = question.motion_p.pose_rounded(&p.pose, t);
    let pose_q = question.motion_q.pose_rounded(&q.pose, t);
    let cores = Pair::new(p.body, pose_p, q.body, pose_q);
    impact_of(&RoundedPair { cores, ..*pair }, effort).map(Some)
}

/// The corners of what two bodies that touch have in common: see
/// [`crate::meeting::contact_polygon`]. Empty unless they touch.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::effort::Effort;
/// use clearance_geometry::rounded::{RoundedPair, contact_polygon};
///
/// let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// let stick = convex_hull(&[Vec3::zeros(), Vec3::new(4.0, 0.0, 0.0)]).unwrap().polytope;
/// // A capsule of radius 0.5 lies on the cube, half of it in the air.
/// let above = Pose::translation(0.5, 0.25, 1.5);
/// let cores = Pair::new(&cube, Pose::identity(), &stick, above);
/// let pair = RoundedPair { cores, radii: [0.0, 0.5] };
/// let mut ends = contact_polygon(&pair, &mut Effort::unlimited()).unwrap();
/// ends.sort_by(|a, b| a.x.total_cmp(&b.x));
/// assert_eq!(ends, [Vec3::new(0.5, 0.25, 1.0), Vec3::new(1.0, 0.25, 1.0)]);
/// ```
pub fn contact_polygon(
    pair: &RoundedPair<'_>,
    effort: &mut Effort<'_>,
) -> Result<Vec<Vec3>, Stopped> {
    let proof = verdict(pair, &mut Witness::default(), effort)?;
    if proof.verdict != Verdict::Touching {
        return Ok(Vec::new());
    }
    let direction = towards(&proof.pairs);
    polygon_across(&pair.cores, &direction, pair.radii, effort)
}

/// The same of bodies that touch or overlap, by less than a depth in metres, exactly: see
/// [`crate::meeting::contact_polygon_within`].
pub fn contact_polygon_within(
    pair: &RoundedPair<'_>,
    depth: f64,
    effort: &mut Effort<'_>,
) -> Result<Vec<Vec3>, Stopped> {
    if verdict(pair, &mut Witness::default(), effort)?.verdict != Verdict::Overlapping {
        return contact_polygon(pair, effort);
    }
    let compared = compare_depth(pair, -depth, false, &mut Witness::default(), effort)?.compared;
    if compared.is_within {
        return Ok(Vec::new());
    }
    let found = super::measure_depth(pair, false, &mut Witness::default(), effort)?;
    match (found.face, found.stopped) {
        (Some(out), None) => polygon_across(&pair.cores, &out.reversed(), pair.radii, effort),
        (_, Some(stopped)) => Err(stopped),
        (None, None) => Err(Stopped::Unresolved),
    }
}

/// Where the two meet as they are placed, or are nearest.
pub fn impact_of(pair: &RoundedPair<'_>, effort: &mut Effort<'_>) -> Result<Impact, Stopped> {
    let witness = &mut Witness::default();
    let found = measure(pair, &METHODS[0], Stops::default(), witness, effort)?;
    let normal = match found.proof.verdict {
        Verdict::Separated | Verdict::Touching => found.normal,
        Verdict::Overlapping => {
            let deep = super::measure_depth(pair, false, &mut Witness::default(), effort)?;
            Some(deep.direction)
        }
    };
    Ok(Impact { point: found.closest_q, normal })
}
