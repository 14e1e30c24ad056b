//! Two chains, one of each polygon, and the lemma that says which part of one to discard.
//!
//! **The lemma** (Guibas, Hsu, Zhang 1999, Lemma 4, after Edelsbrunner 1985), derived here because
//! the paper gives no proof. Let n be the direction from the closest point of P to that of Q. By
//! convexity n makes less than a right angle with q - p, for every p of P and q of Q. Let p and q
//! be the pivots, and let directions be angles from q - p, those of Q's normals from p - q: so n is
//! an angle t in (-1, 1), in right angles. It is to be shown that
//!
//! `min(0, after p, after q) <= t <= max(0, before p, before q)`,
//!
//! where "after p" is the angle of the normal of the edge after p, counter-clockwise, and so on.
//!
//! Let w(t) be the gap between the supporting lines of P and Q across direction t. Its derivative
//! is the part of y(t) - x(t) to the left of t, x and y being the points that support. If t is
//! less than 0 and than the angles of both edges after the pivots, then q - p is to the left of t,
//! x(t) is at p or before it and y(t) at q or before it: the derivative is positive, and the
//! greatest gap, which is the distance, is at a greater t. So if the edge after p has the least
//! angle and it is negative, then the closest point is not before p. Likewise for q, and mirrored
//! for the edges before. If none of the four says so, p and q are the closest points.
//!
//! A pivot that has no normal in (-1, 1) faces away. Then the part of its chain is discarded that
//! has none there either. If both have one, or if the part to be discarded comes round to the other
//! side of the pivot, the chain has more than half of the polygon's normals. Then a look at its end
//! in place of the pivot says which part it is: what the chain lacks is next to the end, and no
//! closest point is there.

use super::super::nearest::nearest;
use super::ring::{NormalCone, Ring, cross, heading, least};
use crate::Vec3;
use crate::hierarchy::Feature;

/// How far from the first corner the first pivot is: the paper's s.
const FIRST_PIVOT: usize = 1;

/// Corners of a ring from `low` counter-clockwise to `high`, both included.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    low: usize,
    high: usize,
    /// The corner that the search starts from, one of the two ends at first.
    start: usize,
    is_clockwise: bool,
    /// In stage one, how far from the start the pivot is.
    reach: Option<usize>,
}

impl Chain {
    /// From a corner to the one opposite of it in the ring.
    pub(super) fn to_antipode(ring: &Ring<'_>, start: usize, is_clockwise: bool) -> Self {
        let (count, half) = (ring.len(), ring.len().div_ceil(2));
        let start = start % count + count;
        let (low, high) = if is_clockwise { (start - half, start) } else { (start, start + half) };
        let high = if count == 1 { low } else { high };
        Self { low, high, start, is_clockwise, reach: Some(FIRST_PIVOT) }
    }

    /// A corner inside the chain: stage one doubles the way, stage two halves the chain. None when
    /// the chain is an edge or a corner.
    fn pivot(&mut self) -> Option<usize> {
        if self.high - self.low < 2 {
            return None;
        }
        let far = self.reach.map(|reach| {
            let (back, on) = (self.start.saturating_sub(reach), self.start + reach);
            if self.is_clockwise { back } else { on }
        });
        match far {
            Some(pivot) if self.low < pivot && pivot < self.high => Some(pivot),
            Some(_) | None => {
                self.reach = None;
                Some(usize::midpoint(self.low, self.high))
            }
        }
    }

    fn discard_before(&mut self, pivot: usize) {
        self.low = pivot;
        self.go_on(self.is_clockwise);
    }

    fn discard_after(&mut self, pivot: usize) {
        self.high = pivot;
        self.go_on(!self.is_clockwise);
    }

    /// Twice as far, or to stage two if the far part was discarded.
    fn go_on(&mut self, was_far: bool) {
        self.reach = self.reach.filter(|_| !was_far).map(|reach| 2 * reach);
    }

    /// What is left of a chain that has no pivot.
    fn rest(&self, ring: &Ring<'_>) -> Feature {
        let Feature::Vertex(low) = ring.vertex(self.low) else { return ring.vertex(self.low) };
        if self.high > self.low { Feature::Edge(low) } else { Feature::Vertex(low) }
    }

    /// Whether a normal after the pivot, up to the end of the chain, is in (-1, 1).
    fn faces_after(&self, ring: &Ring<'_>, pivot: usize, towards: &Vec3) -> bool {
        let from = heading(&ring.normal(pivot), towards);
        let to = heading(&ring.normal(self.high), towards);
        is_facing(to) || (self.high - pivot > 1 && since_facing(to) < since_facing(from))
    }

    /// Whether a normal before the pivot is.
    fn faces_before(&self, ring: &Ring<'_>, pivot: usize, towards: &Vec3) -> bool {
        let from = heading(&ring.normal(ring.before(pivot)), towards);
        let to = heading(&ring.normal(ring.before(self.low)), towards);
        is_facing(to) || (pivot - self.low > 1 && since_facing(to) > since_facing(from))
    }

    /// Whether the part before the pivot (or after it) has more than half of all normals, and so
    /// comes round to those that are in (-1, 1) on the other side of the pivot's.
    fn comes_round(&self, ring: &Ring<'_>, pivot: usize, is_after: bool, towards: &Vec3) -> bool {
        let NormalCone { before, after } = ring.cone(pivot, towards);
        let seen = |edge: usize| heading(&ring.normal(edge), towards);
        // The normals at one end turn by less than half, so past what faces away they come only
        // from within it.
        if is_after {
            let end = seen(self.high);
            (self.high - pivot > 1 || !is_facing(after)) && is_facing(end) && end < before
        } else {
            let end = seen(ring.before(self.low));
            (pivot - self.low > 1 || !is_facing(before)) && is_facing(end) && end > after
        }
    }
}

fn is_facing(heading: f64) -> bool {
    heading.abs() < 1.0
}

/// How far a heading that faces away is past the last one that does not.
fn since_facing(heading: f64) -> f64 {
    (heading - 1.0).rem_euclid(4.0)
}

/// What a look at the pivots came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refined {
    /// A part was discarded.
    Further,
    /// These are closest if the chains hold the closest pair.
    Found([Feature; 2]),
    /// The chains do not hold the closest pair.
    Nothing,
}

/// Where one chain is looked at.
#[derive(Clone, Copy, Debug)]
struct PivotLook {
    /// Inside the chain; none when it is an edge or a corner.
    pivot: Option<usize>,
    /// The direction from the pivot to the other one, when the closest point could be in either
    /// part of the chain as seen from there: then it is the end that is looked at.
    first: Option<Vec3>,
}

impl PivotLook {
    /// The corner that is looked at.
    fn corner(&self, chain: &Chain) -> Option<usize> {
        if self.first.is_some() { Some(chain.high) } else { self.pivot }
    }
}

/// What the looks see.
#[derive(Clone, Copy, Debug)]
struct PivotsSeen {
    features: [Feature; 2],
    /// From each to the other.
    towards: [Vec3; 2],
    /// The cones of those with a corner that faces the other.
    cones: [Option<NormalCone>; 2],
    /// One with a corner that does not.
    away: Option<usize>,
}

/// Discards a part of one chain or of both.
pub(super) fn refine(rings: &[Ring<'_>; 2], chains: &mut [Chain; 2]) -> Refined {
    let pivots = [chains[0].pivot(), chains[1].pivot()];
    let mut looks = pivots.map(|pivot| PivotLook { pivot, first: None });
    // Each chain's look may move to its end once.
    for _ in 0..3 {
        let seen = look_at(rings, chains, &looks);
        let Some(k) = seen.away else {
            if let Some(refined) = by_angles(rings, chains, &mut looks, &seen) {
                return refined;
            }
            continue;
        };
        let (Some(pivot), ring) = (looks[k].pivot, &rings[k]) else { return Refined::Nothing };
        let towards = &seen.towards[k];
        if let Some(first) = &looks[k].first {
            // What is left of the directions is all on one side of the end's.
            discard(&mut chains[k], pivot, cross(first, towards) > 0.0);
            return Refined::Further;
        }
        let is_before = chains[k].faces_before(ring, pivot, towards);
        let is_after = chains[k].faces_after(ring, pivot, towards);
        match (is_before, is_after) {
            (true, true) => looks[k].first = Some(*towards),
            (false, false) => return Refined::Nothing,
            (true, false) | (false, true) => {
                discard(&mut chains[k], pivot, is_before);
                return Refined::Further;
            }
        }
    }
    Refined::Nothing
}

/// From a chain without a pivot the look is from what is nearest to the other one's.
fn look_at(rings: &[Ring<'_>; 2], chains: &[Chain; 2], looks: &[PivotLook; 2]) -> PivotsSeen {
    let corners = [0, 1].map(|k| looks[k].corner(&chains[k]));
    let wide = [0, 1].map(|k| match corners[k] {
        Some(place) => rings[k].vertex(place),
        None => chains[k].rest(&rings[k]),
    });
    let points = [0, 1].map(|k| rings[k].points(wide[k]));
    let mut seen =
        PivotsSeen { features: wide, towards: [Vec3::zeros(); 2], cones: [None; 2], away: None };
    let Some(found) = nearest(&points[0], &points[1]) else { return seen };
    seen.features = [least(&rings[0], wide[0], found.of_x), least(&rings[1], wide[1], found.of_y)];
    seen.towards = [found.y - found.x, found.x - found.y];
    for k in 0..2 {
        let Some(corner) = corners[k] else { continue };
        let cone = rings[k].cone(corner, &seen.towards[k]);
        if is_facing(cone.before) || is_facing(cone.after) {
            seen.cones[k] = Some(within(&cone));
        } else {
            seen.away = seen.away.or(Some(k));
        }
    }
    seen
}

/// A normal outside of (-1, 1) is beyond all that count.
fn within(cone: &NormalCone) -> NormalCone {
    let or = |heading: f64, beyond: f64| if is_facing(heading) { heading } else { beyond };
    NormalCone { before: or(cone.before, -1.0), after: or(cone.after, 1.0) }
}

fn discard(chain: &mut Chain, pivot: usize, is_after: bool) {
    if is_after { chain.discard_after(pivot) } else { chain.discard_before(pivot) }
}

/// The rule of the lemma for pivots that face each other. What is to be looked at again is said to
/// `looks`.
fn by_angles(
    rings: &[Ring<'_>; 2],
    chains: &mut [Chain; 2],
    looks: &mut [PivotLook; 2],
    seen: &PivotsSeen,
) -> Option<Refined> {
    let known = || seen.cones.iter().flatten();
    let least = known().map(|cone| cone.after).fold(0.0, f64::min);
    let greatest = known().map(|cone| cone.before).fold(0.0, f64::max);
    if least >= 0.0 && greatest <= 0.0 {
        return Some(Refined::Found(seen.features));
    }
    let (mut refined, mut unclear) = (None, None);
    for k in 0..2 {
        let (Some(cone), Some(pivot)) = (seen.cones[k], looks[k].pivot) else { continue };
        let is_after = if least < 0.0 && cone.after <= least {
            false
        } else if greatest > 0.0 && cone.before >= greatest {
            true
        } else {
            continue;
        };
        let is_far = match &looks[k].first {
            None if chains[k].comes_round(&rings[k], pivot, is_after, &seen.towards[k]) => {
                unclear = Some(k);
                continue;
            }
            None => is_after,
            // After the end of a chain comes its beginning; and before it the rest, unless the end
            // alone has the normals that face away there.
            Some(first) => {
                let last = rings[k].normal(rings[k].before(chains[k].high));
                !is_after || !is_facing(heading(&last, first))
            }
        };
        discard(&mut chains[k], pivot, is_far);
        refined = Some(Refined::Further);
    }
    if let (None, Some(k)) = (refined, unclear) {
        looks[k].first = Some(seen.towards[k]);
    }
    refined
}

#[cfg(test)]
impl Chain {
    /// So many edges from a corner on, in stage two.
    pub(super) fn between(low: usize, edges: usize) -> Self {
        Self { low, high: low + edges, start: low, is_clockwise: false, reach: None }
    }

    /// Whether it has an edge, or an end of it.
    pub(super) fn has(&self, ring: &Ring<'_>, edge: usize) -> bool {
        (self.low..self.high).any(|place| place % ring.len() == edge % ring.len())
    }
}

#[cfg(test)]
impl PartialEq for Chain {
    fn eq(&self, other: &Self) -> bool {
        [self.low, self.high] == [other.low, other.high]
    }
}
