//! Contact of vertices that no rotation moves: the tip that a top spins on, or all vertices of a
//! body that does not turn. They only translate, and the time at which they meet is computed
//! exactly.

use super::at_time::width_allowed;
use crate::Vec3;
use crate::claim::Outcome;
use crate::contact_time::linear;
use crate::contact_time::method::FACET_WALK;
use crate::contact_time::rotating::search::{ContactAt, TurningSearch};
use crate::contact_time::travel::{Travel, translation_of};
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull_with;
use crate::motion::Motion;
use crate::number::dyadic::Dyadic;
use crate::pair::Question;
use crate::pair::{Pair, Placed, VertexPair};
use crate::polytope::Polytope;
use crate::witness::Witness;

/// The part of a body that only translates.
struct FixedPart {
    body: Polytope,
    travel: Travel,
}

/// Contact after `free` of vertices that only translate.
#[cold]
#[inline(never)]
pub(in super::super) fn fixed_points(
    search: &mut TurningSearch<'_>,
    free: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<ContactAt>, Stopped> {
    let Question { pair: Pair { p, q }, motion_p, motion_q, .. } = search.told.question;
    if search.told.margin > 0.0 {
        return Ok(None);
    }
    let Some(of_p) = FixedPart::of(p, motion_p, effort) else { return Ok(None) };
    let Some(of_q) = FixedPart::of(q, motion_q, effort) else { return Ok(None) };
    let pair = Pair { p: Placed { body: &of_p.body, ..*p }, q: Placed { body: &of_q.body, ..*q } };
    let travels = [&of_p.travel, &of_q.travel];
    let question = Question { pair, ..*search.told.question };
    let none = &mut Witness::default();
    let met = linear::first_contact(&FACET_WALK, &question, travels, none, effort)?;
    let t = met.t_contact;
    // Deviations, which have to be kept clear, end the free part earlier.
    let is_narrow = search.told.clear > 0.0 || t - free <= width_allowed(search, free, t, effort);
    if met.outcome != Outcome::Contact || t <= free || !is_narrow {
        return Ok(None);
    }
    let pairs = met.pairs.iter().map(|pair| {
        let i = index_in(p.body, of_p.body.vertex(pair.i))?;
        Some(VertexPair { i, j: index_in(q.body, of_q.body.vertex(pair.j))? })
    });
    Ok(pairs.collect::<Option<_>>().map(|pairs| ContactAt { t, pairs }))
}

impl FixedPart {
    fn of(placed: &Placed<'_>, motion: &Motion, effort: &mut Effort<'_>) -> Option<Self> {
        if let Some(travel) = translation_of(motion, &placed.pose) {
            return Some(Self { body: placed.body.clone(), travel });
        }
        let Motion::Screw { pivot, velocity, axis, .. } = motion else { return None };
        let pivot = pivot.unwrap_or(placed.pose.translation);
        let is_on_axis = |v: &&Vec3| is_on_line(placed, v, &pivot, axis);
        let tips: Vec<Vec3> = placed.body.vertices().iter().filter(is_on_axis).copied().collect();
        let hull = convex_hull_with(&tips, effort).ok()?;
        Some(Self { body: hull.polytope, travel: Travel::by(velocity) })
    }
}

/// Whether the placed vertex is on the line through a point, exactly.
fn is_on_line(placed: &Placed<'_>, v: &Vec3, point: &Vec3, along: &Vec3) -> bool {
    let exact = |x: f64| Dyadic::from(x);
    let arm = |row: usize| {
        let start = &exact(placed.pose.translation[row]) - &exact(point[row]);
        (0..3).fold(start, |sum, k| &sum + &(&exact(placed.pose.rotation[(row, k)]) * &exact(v[k])))
    };
    let arm = [arm(0), arm(1), arm(2)];
    let product = |k: usize, l: usize| &arm[k] * &exact(along[l]);
    [(0, 1), (1, 2), (2, 0)].iter().all(|&(k, l)| product(k, l) == product(l, k))
}

fn index_in(body: &Polytope, vertex: &Vec3) -> Option<u32> {
    (0..body.vertex_count()).find(|&i| body.vertex(i) == vertex)
}
