//! Twenty vertices in place of all: chosen by slack, repaired until all vertices agree.
//!
//! Source: Akgunduz, Banerjee, Mehrotra 2005, §4.1-§4.3, and §5.1 for the first set.

use arrayvec::ArrayVec;

use super::interior_point::{DualStart, Program, SetWeights, Solved, solve};
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::witness::{DualVariables, SET_MAX, WorkingSet};

/// Sets that are tried. Each repair brings the vertices that are farthest on the wrong side.
const REPAIRS_MAX: u32 = 24;

/// The least weight that a remembered vertex begins with, as a part of an even share: inside the
/// feasible region, not at its edge. With a tenth the means of the bodies move so far apart that an
/// overlap takes a quarter more iterations, and with a thousandth some come to nothing.
const SHARE_MIN: f64 = 0.003;

/// The vertices of both bodies, named by numbers of the implementor's choice.
pub(crate) trait VertexSets {
    /// A vertex of P, in units of about the size of the scene.
    fn of_p(&self, name: u32) -> Vec3;
    /// A vertex of Q.
    fn of_q(&self, name: u32) -> Vec3;
    /// All vertices of P, then of Q.
    fn counts(&self) -> [u32; 2];
    /// P's vertex farthest along the vector, and Q's farthest against it.
    fn supporting(&self, s: &Vec3, effort: &mut Effort<'_>) -> [u32; 2];
    /// The vertices to begin with: of both bodies together at most [`SET_MAX`].
    fn first(&self) -> [ArrayVec<u32, SET_MAX>; 2];
}

/// How the search ended.
pub(crate) enum SetAnswer {
    /// This vector separates, as far as floating point can say, by these two vertices; found from
    /// this set.
    Separated(Vec3, [u32; 2], Box<WorkingSet>),
    /// The weighted means of the set coincide.
    Meeting(Box<WorkingSet>),
    /// The program did not decide it, and another method has to.
    HandOver,
}

/// Solves and repairs until all vertices agree with what the set says.
pub(crate) fn search(
    bodies: &impl VertexSets,
    plane: Option<Vec3>,
    last: &WorkingSet,
    effort: &mut Effort<'_>,
) -> Result<SetAnswer, Stopped> {
    search_and_count(bodies, plane, last, &mut 0, effort)
}

/// The same, and counts how often vertices joined the set.
pub(super) fn search_and_count(
    bodies: &impl VertexSets,
    plane: Option<Vec3>,
    last: &WorkingSet,
    repairs: &mut u32,
    effort: &mut Effort<'_>,
) -> Result<SetAnswer, Stopped> {
    let [count_p, count_q] = bodies.counts();
    // A set that met in the last frame goes on as it is, with its weights: (19) and (20).
    let met = if last.dual.is_none() { known(last, [count_p, count_q]) } else { None };
    let mut dual = match (&met, last.dual, plane) {
        (Some(_), ..) => DualStart::NearWeights,
        (None, Some(dual), _) => DualStart::Planes(dual),
        (None, None, Some(plane)) => DualStart::Planes(supporting_planes(bodies, plane, effort)),
        (None, None, None) => DualStart::Farthest,
    };
    let [mut names_p, mut names_q] = match (met, plane) {
        (Some(met), _) => met,
        (None, Some(plane)) if (count_p + count_q) as usize > SET_MAX => {
            by_slack(bodies, &plane, effort)
        }
        (None, _) => bodies.first(),
    };
    let (mut weights_p, mut weights_q) = (last.p.clone(), last.q.clone());
    for _ in 0..REPAIRS_MAX {
        let p: ArrayVec<Vec3, SET_MAX> = names_p.iter().map(|name| bodies.of_p(*name)).collect();
        let q: ArrayVec<Vec3, SET_MAX> = names_q.iter().map(|name| bodies.of_q(*name)).collect();
        let mut weights = SetWeights::new();
        weights.extend(weighted(&names_p, &weights_p));
        weights.extend(weighted(&names_q, &weights_q));
        let (found, weights) = match solve(&Program { p: &p, q: &q }, &weights, dual, effort)? {
            Solved::Separated(dual, weights) => (dual, weights),
            Solved::Meeting(weights) => {
                let set = WorkingSet::new([&names_p, &names_q], &weights, None);
                return Ok(SetAnswer::Meeting(Box::new(set)));
            }
            Solved::Stuck => return Ok(SetAnswer::HandOver),
        };
        let s = found.normal;
        let [i, j] = bodies.supporting(&s, effort);
        let set = WorkingSet::new([&names_p, &names_q], &weights, Some(found));
        if s.dot(&(bodies.of_q(j) - bodies.of_p(i))) > 0.0 {
            return Ok(SetAnswer::Separated(s, [i, j], Box::new(set)));
        }
        let (is_new_p, is_new_q) = (!names_p.contains(&i), !names_q.contains(&j));
        if !is_new_p && !is_new_q {
            return Ok(SetAnswer::HandOver);
        }
        make_room(&mut names_p, &mut names_q, bodies, &s, [is_new_p, is_new_q]);
        names_p.extend(is_new_p.then_some(i));
        names_q.extend(is_new_q.then_some(j));
        *repairs += 1;
        dual = DualStart::Planes(found);
        (weights_p, weights_q) = (set.p, set.q);
    }
    Ok(SetAnswer::HandOver)
}

/// The set's vertices, each once, if there are some of both bodies.
pub(crate) fn known(set: &WorkingSet, counts: [u32; 2]) -> Option<[ArrayVec<u32, SET_MAX>; 2]> {
    let room = sizes(counts.map(|count| count as usize));
    let known = |weighted: &[(u32, f64)], count: u32, room: usize| {
        let mut names = ArrayVec::<u32, SET_MAX>::new();
        for (name, _) in weighted.iter().filter(|(name, _)| *name < count).take(room) {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        names
    };
    let found = [known(&set.p, counts[0], room[0]), known(&set.q, counts[1], room[1])];
    found.iter().all(|names| !names.is_empty()).then_some(found)
}

/// The planes across this vector that support both bodies: no slack is negative.
fn supporting_planes(
    bodies: &impl VertexSets,
    normal: Vec3,
    effort: &mut Effort<'_>,
) -> DualVariables {
    let [i, j] = bodies.supporting(&normal, effort);
    let offsets = [-normal.dot(&bodies.of_p(i)), normal.dot(&bodies.of_q(j))];
    DualVariables { normal, offsets }
}

/// Remembered weights, no smaller than a part of an even share, that sum to one; a vertex of which
/// nothing is remembered has an even share.
fn weighted<'a>(names: &'a [u32], last: &'a [(u32, f64)]) -> impl Iterator<Item = f64> + 'a {
    let even = 1.0 / names.len() as f64;
    let weight = move |name: &u32| {
        let known = last.iter().find(|(known, _)| known == name).map(|(_, weight)| *weight);
        // Whatever a witness says, NaN included, is held to what a weight can be.
        known.unwrap_or(even).max(SHARE_MIN * even).min(1.0)
    };
    let sum: f64 = names.iter().map(weight).sum();
    names.iter().map(move |name| weight(name) / sum)
}

/// The vertices with the least slack, half of the set for each body unless one has fewer (§4.2).
fn by_slack(
    bodies: &impl VertexSets,
    plane: &Vec3,
    effort: &mut Effort<'_>,
) -> [ArrayVec<u32, SET_MAX>; 2] {
    let counts = bodies.counts().map(|count| count as usize);
    effort.cost.visited += (counts[0] + counts[1]) as u64;
    let sizes = sizes(counts);
    let least = |count: usize, size: usize, slack: &dyn Fn(u32) -> f64| {
        let mut best: ArrayVec<(f64, u32), SET_MAX> = ArrayVec::new();
        for name in 0..count as u32 {
            let value = slack(name);
            let place = best.partition_point(|(other, _)| *other <= value);
            if place < size {
                if best.len() == size {
                    best.pop();
                }
                best.insert(place, (value, name));
            }
        }
        best.into_iter().map(|(_, name)| name).collect()
    };
    [
        least(counts[0], sizes[0], &|name| -plane.dot(&bodies.of_p(name))),
        least(counts[1], sizes[1], &|name| plane.dot(&bodies.of_q(name))),
    ]
}

/// How many vertices each body gets of a set.
pub(crate) fn sizes([of_p, of_q]: [usize; 2]) -> [usize; 2] {
    let half = SET_MAX / 2;
    let p = of_p.min(half.max(SET_MAX - of_q.min(half)));
    [p, of_q.min(SET_MAX - p)]
}

/// Drops the vertices with the largest slack until the new ones fit.
fn make_room(
    names_p: &mut ArrayVec<u32, SET_MAX>,
    names_q: &mut ArrayVec<u32, SET_MAX>,
    bodies: &impl VertexSets,
    s: &Vec3,
    news: [bool; 2],
) {
    let coming = news.into_iter().filter(|is_new| *is_new).count();
    while names_p.len() + names_q.len() + coming > SET_MAX {
        let largest = |names: &[u32], value: &dyn Fn(u32) -> f64| {
            let values = names.iter().map(|name| value(*name)).enumerate();
            let least = values.clone().map(|(_, v)| v).fold(f64::INFINITY, f64::min);
            let far = values.max_by(|a, b| a.1.total_cmp(&b.1));
            far.map(|(at, v)| (at, v - least))
        };
        let p = largest(names_p, &|name| -s.dot(&bodies.of_p(name)));
        let q = largest(names_q, &|name| s.dot(&bodies.of_q(name)));
        match (p, q) {
            (Some((at, far)), Some((_, other))) if names_p.len() > 1 && far >= other => {
                names_p.remove(at);
            }
            (_, Some((at, _))) if names_q.len() > 1 => {
                names_q.remove(at);
            }
            (Some((at, _)), _) => {
                names_p.remove(at);
            }
            (None, _) => return,
        }
    }
}
