//! How much room a verdict on rounded bodies has: see [`crate::separation`]. Their supporting
//! values change by no more than those of the polytopes.
//!
//! Bodies whose polytopes are farther apart along a direction than R, the sum of the radii, stay
//! separated until the supporting values have changed by the difference. Bodies that overlap since
//! points of the polytopes are nearer than R stay so until these may be as far apart.

use super::{RoundedPair, verdict};
use crate::Vec3;
use crate::claim::{RoundedProof, Verdict};
use crate::difference::heading::unit_vector;
use crate::difference::layout::centre_to_centre;
use crate::difference::probe::{CertifiedGap, certified_gap};
use crate::distance::segments::{error_of_differences, place};
use crate::distance::towards;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::{BOUND_SLACK, length};
use crate::pair::VertexPair;
use crate::separation::Roomy;
use crate::witness::Witness;

/// Decides as [`verdict`] does, and says how much room that has. For bodies of which it is known
/// already that balls around them meet.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// use clearance_geometry::rounded::{RoundedPair, decide_with_room};
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let cores = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
/// let room = |radii| {
///     let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
///     decide_with_room(&RoundedPair { cores, radii }, witness, effort).unwrap().room
/// };
/// assert!((room([1.0, 3.0]) - 1.0).abs() < 1e-9);
/// assert!((room([4.0, 3.0]) - 2.0).abs() < 1e-9);
/// ```
pub fn decide_with_room(
    pair: &RoundedPair<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Roomy, Stopped> {
    let hint = witness.pairs.first().copied();
    if let Some(known) = witness.direction
        && let Some(roomy) = apart_along(pair, &known, hint, witness, effort)
    {
        effort.cost.queries += 1;
        effort.cost.witness_hits += 1;
        return Ok(roomy);
    }
    if let Some(roomy) = apart_along(pair, &centre_to_centre(&pair.cores), hint, witness, effort) {
        effort.cost.queries += 1;
        return Ok(roomy);
    }
    let first = VertexPair { i: 0, j: 0 };
    let room = room_within(pair, &[hint.filter(|hint| is_named(pair, hint)).unwrap_or(first)]);
    if room > 0.0 {
        effort.cost.queries += 1;
        return Ok(Roomy::new(Verdict::Overlapping, room));
    }
    let proof = verdict(pair, witness, effort)?;
    Ok(Roomy::new(proof.verdict, room_of(pair, &proof)))
}

/// The room of a verdict that was decided, metres; 0 if nothing is known.
pub fn room_of(pair: &RoundedPair<'_>, proof: &RoundedProof) -> f64 {
    match proof.verdict {
        Verdict::Touching => 0.0,
        Verdict::Overlapping => room_within(pair, &proof.pairs),
        Verdict::Separated => {
            let apart = unit_vector(&pair.cores, &towards(&proof.pairs));
            let hint = proof.pairs.first().copied();
            // What it costs is no part of the question.
            let gap = |s: Vec3| certified_gap(&pair.cores, &s, hint, &mut Effort::unlimited());
            apart.and_then(gap).map_or(0.0, |gap| room_beyond(pair, &gap).max(0.0))
        }
    }
}

/// Whether a direction shows that the bodies are separated: the witness then holds it.
fn apart_along(
    pair: &RoundedPair<'_>,
    s: &Vec3,
    hint: Option<VertexPair>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Option<Roomy> {
    let gap = certified_gap(&pair.cores, s, hint, effort)?;
    let room = room_beyond(pair, &gap);
    if room <= 0.0 {
        return None;
    }
    witness.direction = Some(gap.direction);
    witness.pairs.clear();
    witness.pairs.push(gap.pair);
    Some(Roomy { is_of_witness: true, ..Roomy::new(Verdict::Separated, room) })
}

/// By how much at least the polytopes are farther apart than R.
fn room_beyond(pair: &RoundedPair<'_>, gap: &CertifiedGap) -> f64 {
    (gap.per_length() - pair.reach().upper()).next_down()
}

fn is_named(pair: &RoundedPair<'_>, VertexPair { i, j }: &VertexPair) -> bool {
    let counts = [&pair.cores.p, &pair.cores.q].map(|placed| placed.body.vertex_count());
    *i < counts[0] && *j < counts[1]
}

/// By how much at least points of the polytopes are nearer than R: those between whose vertices
/// these pairs are, one or two at a time. 0 if none are.
///
/// What is between two differences of vertices is a difference of points of the polytopes.
fn room_within(pair: &RoundedPair<'_>, pairs: &[VertexPair]) -> f64 {
    let (p, q) = (&pair.cores.p, &pair.cores.q);
    let differences = pairs.iter().map(|at| place(q, at.j) - place(p, at.i));
    let nearest = differences.clone().enumerate().flat_map(|(k, a)| {
        differences.clone().take(k).map(move |b| nearest_between(&a, &b)).chain([a])
    });
    let nearest = nearest.map(|v| length(&v)).fold(f64::INFINITY, f64::min);
    let error = error_of_differences(&pair.cores);
    (pair.reach().lower() - (nearest + error) * (1.0 + BOUND_SLACK)).next_down().max(0.0)
}

/// A point between two that is about as near the origin as any.
fn nearest_between(a: &Vec3, b: &Vec3) -> Vec3 {
    let way = b - a;
    let t = -a.dot(&way) / way.norm_squared();
    // NaN where the two are one point.
    if t > 0.0 && t < 1.0 { a + way * t } else { *a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::Pair;
    use crate::pose::Pose;
    use crate::samples::{Random, cuboid, hull};

    /// Bodies are moved by as much as the room allows, any way, and stand as before; and most have
    /// room that is worth something.
    #[test]
    fn a_verdict_holds_while_the_supporting_values_change_by_less_than_its_room() {
        let mut random = Random(77);
        let bodies = [
            hull(&[Vec3::zeros()]),
            hull(&[Vec3::zeros(), Vec3::new(0.3, 0.1, 1.0)]),
            cuboid(0.4, 0.3, 0.2),
        ];
        let (mut counts, mut roomy) = ([0; 3], [0; 3]);
        for round in 0..3_000 {
            let (p, q) = (&bodies[round % 3], &bodies[round / 3 % 3]);
            let away = random.unit_vector() * (f64::from(round as u32 % 300) * 0.006);
            let cores = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(away));
            let radii = [[0.0, 0.7], [0.3, 0.4], [0.5, 0.0], [1e-3, 0.2]][round % 4];
            let mut pair = RoundedPair { cores, radii };
            let effort = &mut Effort::unlimited();
            let mut witness = Witness::default();
            let cold = verdict(&pair, &mut Witness::default(), effort).unwrap();
            for _ in 0..2 {
                let found = decide_with_room(&pair, &mut witness, effort).unwrap();
                assert_eq!(found.verdict, cold.verdict, "{pair:?}");
                assert!(found.room >= 0.0, "{found:?}");
                counts[found.verdict as usize] += 1;
                roomy[found.verdict as usize] += u32::from(found.room > 1e-6);
                for room in [found.room, room_of(&pair, &cold)] {
                    let stays = pair.cores.q.pose.translation;
                    for _ in 0..4 {
                        let by = random.unit_vector() * (room * (1.0 - 1e-9));
                        pair.cores.q.pose.translation = stays + by;
                        let moved = verdict(&pair, &mut Witness::default(), effort).unwrap();
                        let holds = room <= 0.0 || moved.verdict == cold.verdict;
                        assert!(holds, "{pair:?} {found:?}");
                    }
                    pair.cores.q.pose.translation = stays;
                }
            }
        }
        for k in [0, 2] {
            assert!(counts[k] > 500 && roomy[k] * 10 > counts[k] * 7, "{counts:?} {roomy:?}");
        }
    }

    /// Pairs of what no body has, and directions that are none.
    #[test]
    fn no_witness_changes_a_verdict() {
        let point = hull(&[Vec3::zeros()]);
        for (x, expected) in
            [(3.0, Verdict::Separated), (2.0, Verdict::Touching), (1.0, Verdict::Overlapping)]
        {
            let away = Pose::translation(x, 0.0, 0.0);
            let cores = Pair::new(&point, Pose::identity(), &point, away);
            let pair = RoundedPair { cores, radii: [0.5, 1.5] };
            for direction in
                [None, Some(Vec3::x()), Some(-Vec3::x()), Some(Vec3::new(f64::NAN, 1e308, 0.0))]
            {
                for at in [0, 1, u32::MAX] {
                    let pairs = [VertexPair { i: at, j: at }].into_iter().collect();
                    let mut witness = Witness { direction, pairs, ..Witness::default() };
                    let effort = &mut Effort::unlimited();
                    let found = decide_with_room(&pair, &mut witness, effort).unwrap();
                    assert_eq!(found.verdict, expected, "{x} {direction:?} {at}");
                }
            }
        }
    }
}
