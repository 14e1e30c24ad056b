//! Where and along which normal two placed bodies meet, rounded: for use, not for proof.
//!
//! Everything here starts cold, so that it is a function of the poses alone: of bodies that touch
//! at a corner, or that are equally deep several ways, every answer names the same normal.

mod polygon;

pub use self::polygon::{contact_polygon, contact_polygon_within};
pub(crate) use self::polygon::{farthest, polygon_across};

use super::Vec3;
use super::difference::exact::Difference;
pub use super::difference::heading::unit_vector;
use super::distance::wolfe::nearest_of_pairs;
use super::distance::{self, Distance, Stops};
use super::effort::{Effort, Stopped};
use super::number::tolerance::APART_SHARP;
use super::pair::{Pair, VertexPair};
use super::penetration::{self, Depth};
use super::witness::Witness;
use crate::claim::{Direction, FirstContact, Outcome, StaticProof, Verdict};
use crate::pair::Question;

/// Where and how two bodies meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// A point of Q at which they meet, in the world; of bodies that are apart, the one nearest P.
    pub point: Vec3,
    /// Unit vector out of Q towards P: see [`normal_of`].
    pub normal: Option<Vec3>,
}

/// Where the two meet as they are placed, or are nearest.
pub fn impact_of(pair: &Pair<'_>, effort: &mut Effort<'_>) -> Result<Impact, Stopped> {
    let witness = &mut Witness::default();
    let distance = distance::measure(pair, Stops::default(), witness, effort)?;
    let overlaps = distance.decision.verdict() == Verdict::Overlapping;
    let depth = if overlaps {
        Some(penetration::measure(pair, false, &mut Witness::default(), effort)?)
    } else {
        None
    };
    let normal = normal_of(pair, &distance, depth.as_ref());
    Ok(Impact { point: distance.closest_q, normal })
}

/// Where two moving bodies meet: as they are at the time until which they are proven free, by a
/// hair before their first contact. None if they do not meet.
pub fn impact_of_contact(
    question: &Question<'_>,
    found: &FirstContact,
    effort: &mut Effort<'_>,
) -> Result<Option<Impact>, Stopped> {
    if found.outcome != Outcome::Contact {
        return Ok(None);
    }
    let Pair { p, q } = &question.pair;
    let pose_p = question.motion_p.pose_rounded(&p.pose, found.t_free);
    let pose_q = question.motion_q.pose_rounded(&q.pose, found.t_free);
    impact_of(&Pair::new(p.body, pose_p, q.body, pose_q), effort).map(Some)
}

/// The unit vector in the world, out of Q towards P, along which P gets away from Q soonest: from
/// the closest point of Q to that of P where they are separated, across a plane that has them on
/// its two sides where they touch, along the shortest way out where they overlap (for which the
/// depth has to be known).
pub fn normal_of(pair: &Pair<'_>, distance: &Distance, depth: Option<&Depth>) -> Option<Vec3> {
    let away = |towards_q: &Direction| unit_vector(pair, towards_q).map(|towards_q| -towards_q);
    match &distance.decision.proof {
        StaticProof::Separated { direction } => {
            let closest = [distance.closest_p, distance.closest_q];
            normal_apart(pair, &distance.pairs, closest).or_else(|| away(direction))
        }
        StaticProof::Touching { direction, .. } => away(direction),
        StaticProof::Overlapping { .. } => depth.map(|depth| depth.direction),
    }
}

/// The unit vector from the closest point of Q to that of P, of separated bodies: of the rounded
/// points while they are far enough apart for that, else of the exact ones, which the vertex pairs
/// of their distance name.
pub fn normal_apart(
    pair: &Pair<'_>,
    pairs: &[VertexPair],
    [closest_p, closest_q]: [Vec3; 2],
) -> Option<Vec3> {
    let rounded = closest_p - closest_q;
    if rounded.amax() > APART_SHARP * closest_p.amax().max(closest_q.amax()) {
        let scaled = rounded / rounded.amax();
        return Some(scaled / scaled.norm()).filter(|unit| unit.iter().all(|c| c.is_finite()));
    }
    let nearest = nearest_of_pairs(&Difference::new(pair), pairs)?;
    let towards_q = nearest.unit_direction();
    (!nearest.is_origin()).then(|| -(towards_q / towards_q.norm()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::Pose;
    use crate::samples::{Random, cuboid};

    fn normal(pair: &Pair<'_>) -> Vec3 {
        let impact = impact_of(pair, &mut Effort::unlimited()).expect("without a limit");
        impact.normal.expect("every pair has one")
    }

    #[test]
    fn two_boxes_have_the_normal_of_their_faces_however_they_stand() {
        let cube = cuboid(1.0, 1.0, 1.0);
        let gaps = [3.0, 1e-6, 1e-12, 4e-16, 0.0, -4e-16, -1e-9, -0.5];
        for gap in gaps {
            for (axis, sign) in [(0, 1.0), (1, -1.0), (2, 1.0)] {
                let mut by = Vec3::new(0.3, 0.2, -0.1);
                by[axis] = sign * (2.0 + gap);
                let pair =
                    Pair::new(&cube, Pose::identity(), &cube, Pose::translation(by.x, by.y, by.z));
                let mut expected = Vec3::zeros();
                expected[axis] = -sign;
                assert!((normal(&pair) - expected).norm() < 1e-15, "{gap} {axis}");
            }
        }
    }

    /// Half way along the normal the distance is a half, and half way out so is the depth.
    #[test]
    fn along_its_normal_a_body_gets_away_soonest() {
        let mut random = Random(71);
        let body = cuboid(1.0, 0.5, 0.7);
        let effort = &mut Effort::unlimited();
        for round in 0..400 {
            let p = random.pose(Vec3::zeros());
            let away = random.unit_vector() * (0.5 + 0.005 * f64::from(round));
            let q = random.pose(away);
            let mut pair = Pair::new(&body, p, &body, q);
            let mut stands = |pair: &Pair<'_>| {
                let (stops, witness) = (Stops::default(), &mut Witness::default());
                let apart = distance::measure(pair, stops, witness, effort).expect("no limit");
                let deep = penetration::measure(pair, false, witness, effort).expect("no limit");
                apart.upper - deep.upper
            };
            let (clearance, normal) = (stands(&pair), normal(&pair));
            assert!((normal.norm() - 1.0).abs() < 1e-15);
            pair.p.pose.translation -= normal * (0.5 * clearance);
            let left = stands(&pair);
            assert!((left - 0.5 * clearance).abs() < 1e-12, "{round}: {left} of {clearance}");
        }
    }

    #[test]
    fn bodies_that_touch_at_a_corner_have_a_normal_that_takes_them_apart() {
        let cube = cuboid(1.0, 1.0, 1.0);
        for to in [[2.0, 2.0, 2.0], [2.0, -2.0, 0.5], [-2.0, 0.0, 0.0], [2.0, 2.0, 0.0]] {
            let mut pair =
                Pair::new(&cube, Pose::identity(), &cube, Pose::translation(to[0], to[1], to[2]));
            pair.p.pose.translation += normal(&pair) * 1e-3;
            let witness = &mut Witness::default();
            let effort = &mut Effort::unlimited();
            let apart = distance::measure(&pair, Stops::default(), witness, effort);
            assert!(apart.expect("no limit").lower > 0.99e-3, "{to:?}");
        }
    }
}
