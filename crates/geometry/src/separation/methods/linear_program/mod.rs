//! Collision as a linear program.
//!
//! Source: Akgunduz, Banerjee, Mehrotra, *A Linear Programming Solution for Exact Collision
//! Detection*, Journal of Computing and Information Science in Engineering 5 (2005).
//!
//! Two bodies meet if non-negative weights, which sum to one in each body, give both the same mean.
//! [`interior_point`] solves that for at most twenty vertices and stops as soon as either side is
//! known; [`working_set`] chooses the vertices by slack and repairs the choice until all vertices
//! agree. The plane of the last frame is tried before any iteration (§4.1).
//!
//! Proves: nothing; it proposes a vector, or four pairs out of the weights of a common point.
//! Cost: a 5x5 factorisation and two passes over at most 21 columns an iteration; 1 to 3 iterations
//! for separated bodies and 2 to 5 for overlapping ones in the median, for each set. A cold
//! question solves a set more for each repair. None while the last plane separates; an overlap that
//! goes on takes 1 to 5 iterations in the mean where it takes 2 to 17 cold, by depth and turn.
//!
//! Differs from the text:
//! - §3, (4): `u` joins the *weighted* means, so that the weights of the last frame are feasible
//!   with `φ = 1`.
//! - §3.3, (16): the printed formula has lost a sign; the dual is feasible with `π4 = π5 = -η`.
//! - §4.1: the text sees no collision when the δ of (22) is negative, which it never is, being at
//!   least ε. Here the last plane separates when no slack is negative, as the text's Fig. 2 has it.
//! - §4.1, (21)-(24): the shift does not reach the slack of φ, in which π4 and π5 do not appear, so
//!   the last dual variables are first scaled to keep that positive. When the last plane is not the
//!   program's own but another proof's, it is moved to where it supports both bodies.
//! - §4.1, (19), (20): a set that met begins again with its vertices and weights, none below a part
//!   of an even share. The text takes (21) to (24) for the dual then, too; here it begins without a
//!   normal, as near as those weights are to a common point. After a repair the vertices that stay
//!   keep their weights.
//! - §4.2: with no plane yet there are no slacks; the first twenty vertices are those in the box
//!   groups of §5.1 that look at the other body.
//! - §4.3, step 3: the text ensures robustness by reducing a potential function, and refers for it
//!   to Mehrotra 1992. Here a step that can be taken for less than 0.3 of its length is taken again
//!   with the centring and second-order terms of that paper: 2.2 iterations in the mean and at most
//!   11 over 500 sets. Reducing the potential takes 4.9 to 11.2 of them, and with the shortest
//!   steps leaves half of the sets open after forty (`interior_point/potential.rs`).
//! - §4.3, step 5: a collision is not declared at `μ φ <= 1e-6`. The common point only proposes
//!   pairs, and what they do not prove is decided exactly. The same holds for planes.
//! - §4.3, the check of all vertices: a supporting-vertex search in each body finds the one with
//!   the least slack of all; so at most one of each body joins the set in a repair. The exchange of
//!   vertices can go round in circles; after 24 repairs the search hands over.
//! - §5: see `contact_time/rotating/inter_frame`.

mod common_point;
mod interior_point;
mod working_set;

use arrayvec::ArrayVec;

use self::working_set::search_and_count;
pub(crate) use self::working_set::{SetAnswer, VertexSets, known, search, sizes};
use super::{CollisionMethod, Proposal};
use crate::Vec3;
use crate::difference::layout::Layout;
use crate::difference::probe::{tame, tame_between};
use crate::difference::rounded::View;
use crate::effort::{Effort, Stopped};
use crate::pair::{Pair, VertexPair};
use crate::polytope::{BOX_FACES, Polytope, Tables};
use crate::witness::{DualVariables, Memory, SET_MAX, Witness, WorkingSet};

/// The row of the table.
pub(super) const METHOD: CollisionMethod = CollisionMethod {
    name: "linear_program",
    source: "Akgunduz, Banerjee, Mehrotra 2005",
    proves: "separation by a vector, overlap by four pairs",
    cost: "a 5x5 factorisation an iteration; 1 to 5 iterations on a set of twenty vertices",
    tables: Tables::Nothing,
    continues: true,
    propose,
};

/// A pair, as the program sees it; names are indices of vertices.
struct PlacedPair<'a> {
    pair: Pair<'a>,
    view: View<'a>,
    /// From P's to Q's.
    between_centres: Vec3,
}

/// At most `size` vertices near the face of the body's bounding box that looks along `direction`
/// most, the nearest first (§5.1).
pub(crate) fn group(body: &Polytope, direction: &Vec3, size: usize) -> ArrayVec<u32, SET_MAX> {
    let half = (body.bounds().high - body.bounds().low) * 0.5;
    let leaning = direction.component_mul(&half);
    let axis = leaning.iamax();
    let face = 2 * axis + usize::from(direction[axis] > 0.0);
    debug_assert!(face < BOX_FACES);
    body.box_group(face).iter().copied().take(size).collect()
}

impl PlacedPair<'_> {
    /// P's vertex 0, from which the program sees both bodies.
    fn origin(&self) -> Vec3 {
        let p = &self.pair.p;
        p.pose.apply_rounded(p.body.vertex(0))
    }

    /// Planes of the world in the program's units, seen from its origin.
    fn in_scene(&self, dual: &DualVariables) -> DualVariables {
        let DualVariables { normal, offsets: [of_p, of_q] } = *dual;
        let moved = normal.dot(&self.origin());
        let normal = normal / self.view.unit();
        DualVariables { normal, offsets: [of_p + moved, of_q - moved] }
    }

    /// Planes of the program in the world.
    fn in_world(&self, dual: &DualVariables) -> DualVariables {
        let DualVariables { normal, offsets: [of_p, of_q] } = *dual;
        let normal = normal * self.view.unit();
        let moved = normal.dot(&self.origin());
        DualVariables { normal, offsets: [of_p - moved, of_q + moved] }
    }
}

impl VertexSets for PlacedPair<'_> {
    fn of_p(&self, name: u32) -> Vec3 {
        // Both bodies are seen from P's vertex 0.
        self.view.difference(VertexPair { i: 0, j: 0 })
            - self.view.difference(VertexPair { i: name, j: 0 })
    }

    fn of_q(&self, name: u32) -> Vec3 {
        self.view.difference(VertexPair { i: 0, j: name })
    }

    fn counts(&self) -> [u32; 2] {
        [self.pair.p.body.vertex_count(), self.pair.q.body.vertex_count()]
    }

    fn supporting(&self, s: &Vec3, effort: &mut Effort<'_>) -> [u32; 2] {
        let pair = self.view.supporting_pair(s, None, effort);
        [pair.i, pair.j]
    }

    fn first(&self) -> [ArrayVec<u32, SET_MAX>; 2] {
        let towards = tame_between(&self.between_centres);
        let [of_p, of_q] = sizes(self.counts().map(|count| count as usize));
        let (p, q) = (&self.pair.p, &self.pair.q);
        [
            group(p.body, &p.pose.direction_to_body_rounded(&towards), of_p),
            group(q.body, &-q.pose.direction_to_body_rounded(&towards), of_q),
        ]
    }
}

fn propose(
    pair: &Pair<'_>,
    layout: &Layout,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Proposal, Stopped> {
    propose_and_count(pair, layout, witness, &mut 0, effort)
}

/// Proposes, and says how often vertices joined the set that it began with (§4.3).
pub fn propose_with_repairs(
    pair: &Pair<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<(Proposal, u32), Stopped> {
    let mut repairs = 0;
    let found = propose_and_count(pair, &Layout::of(pair), witness, &mut repairs, effort)?;
    Ok((found, repairs))
}

fn propose_and_count(
    pair: &Pair<'_>,
    layout: &Layout,
    witness: &mut Witness,
    repairs: &mut u32,
    effort: &mut Effort<'_>,
) -> Result<Proposal, Stopped> {
    let bodies = PlacedPair { pair: *pair, view: View::new(pair), between_centres: layout.centres };
    let plane = witness.direction.and_then(|direction| tame(&direction));
    if let Some(s) = plane {
        let [i, j] = bodies.supporting(&s, effort);
        if s.dot(&bodies.view.difference(VertexPair { i, j })) > 0.0 {
            return Ok(separating(s, [i, j], witness));
        }
    }
    let mut last = if let Memory::WorkingSet(set) = std::mem::take(&mut witness.memory) {
        *set
    } else {
        WorkingSet::default()
    };
    last.dual = last.dual.map(|dual| bodies.in_scene(&dual));
    match search_and_count(&bodies, plane, &last, repairs, effort)? {
        SetAnswer::Separated(s, names, mut set) => match tame(&s) {
            Some(s) => {
                set.dual = set.dual.map(|dual| bodies.in_world(&dual));
                witness.memory = Memory::WorkingSet(set);
                Ok(separating(s, names, witness))
            }
            None => Ok(Proposal::HandOver),
        },
        SetAnswer::Meeting(set) => {
            let four = common_point::four_pairs(&set, |pair| bodies.view.difference(pair));
            witness.memory = Memory::WorkingSet(set);
            Ok(four.map_or(Proposal::HandOver, |four| {
                witness.pairs = four.into_iter().collect();
                Proposal::Holding(witness.pairs.clone())
            }))
        }
        SetAnswer::HandOver => Ok(Proposal::HandOver),
    }
}

fn separating(s: Vec3, [i, j]: [u32; 2], witness: &mut Witness) -> Proposal {
    witness.direction = Some(s);
    witness.pairs.clear();
    witness.pairs.push(VertexPair { i, j });
    Proposal::Separating(s)
}

#[cfg(test)]
mod tests;
