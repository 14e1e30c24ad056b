//! How far apart, or how deep in each other, polytopes with balls around all their points are.
//!
//! Everything is said of the polytopes that are rounded, and of R, the exact sum of the radii: with
//! d the distance of the polytopes the bodies are `d - R` apart, or `R - d` deep in each other; of
//! polytopes that overlap the depth is theirs and R. Where d and R are near each other, their
//! difference is that of their squares over their sum, and the former is exact.

mod along;
mod at_least;
mod axes;
mod contact;
mod deep;
mod difference;
mod room;

pub use self::along::{RoundedRange, along, overlaps_along};
pub use self::at_least::compare_depth;
pub use self::contact::{
    RoundedFirstContact, contact_polygon, contact_polygon_within, first_contact, impact_of,
    impact_of_contact,
};
pub use self::deep::{RoundedDepth, measure_depth};
pub use self::room::{decide_with_room, room_of};

use std::cmp::Ordering;

use arrayvec::ArrayVec;

use self::difference::{length_less, less_length};
use crate::Vec3;
use crate::claim::{Reach, RoundedProof, StaticProof, Verdict};
use crate::difference::exact::Difference;
use crate::distance::segments::Segments;
use crate::distance::wolfe::{self, nearest_of_pairs};
use crate::distance::{
    Compared, Distance, DistanceMethod, METHODS, Stops, WIDTH_MAX, compare_with_reach,
    length_compared, measure_by,
};
use crate::effort::{Effort, Stopped};
use crate::meeting::normal_apart;
use crate::pair::{Pair, VertexPair};
use crate::witness::Witness;

/// The distance of rounded bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundedDistance {
    /// The verdict with its proof, whose pairs, of bodies that are apart, show the bracket, too.
    pub proof: RoundedProof,
    /// At most the exact distance, in metres; 0 unless separated.
    pub lower: f64,
    /// At least the exact distance, in metres; 0 unless separated.
    pub upper: f64,
    /// Closest points in the world, rounded: for use, not for proof. When in contact, a common
    /// point up to rounding.
    pub closest_p: Vec3,
    /// See `closest_p`.
    pub closest_q: Vec3,
    /// The unit vector, rounded, from the closest point of Q to that of P, of bodies that do not
    /// overlap.
    pub normal: Option<Vec3>,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

/// Two polytopes with balls of these radii around all their points.
#[derive(Clone, Copy, Debug)]
pub struct RoundedPair<'a> {
    /// The polytopes that are rounded.
    pub cores: Pair<'a>,
    /// Metres, finite and not negative; one of them is more than 0.
    pub radii: [f64; 2],
}

impl RoundedPair<'_> {
    fn reach(&self) -> Reach {
        Reach::of_rounded(self.radii, 0.0)
    }
}

/// How the bodies stand, exactly.
pub fn verdict(
    pair: &RoundedPair<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<RoundedProof, Stopped> {
    let apart = Segments::of(&pair.cores).and_then(|cores| cores.apart());
    if let Some(proof) = apart.and_then(|apart| axes::verdict(&apart, pair, witness)) {
        effort.cost.queries += 1;
        return Ok(proof);
    }
    Ok(compare_with_reach(&pair.cores, pair.reach(), witness, effort)?.proof())
}

/// Whether bodies that are apart are within a margin, exactly: radii and margin are summed exactly.
pub fn compare(
    pair: &RoundedPair<'_>,
    margin: f64,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Compared, Stopped> {
    let reach = Reach::of_rounded(pair.radii, margin);
    let found = compare_with_reach(&pair.cores, reach, witness, effort)?;
    // Of bodies that are apart no more than three pairs show it.
    let pairs = found.pairs.iter().copied().take(3).collect();
    Ok(Compared { is_within: found.order != Ordering::Greater, pairs, depth: None })
}

/// How far apart the polytopes are, and what that says of the bodies.
#[derive(Clone, Debug)]
struct CoreGap {
    verdict: Verdict,
    /// One to three show it; of polytopes in contact up to six.
    pairs: ArrayVec<VertexPair, 6>,
    /// Encloses `|d - R|` where the polytopes are apart.
    off: [f64; 2],
    /// What the distance of the polytopes is, if they are apart, with their closest points.
    cores: Distance,
}

/// Measures the distance of the bodies, that of their polytopes by `method`.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// use clearance_geometry::distance::{METHODS, Stops};
/// use clearance_geometry::rounded::{RoundedPair, measure};
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let cores = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
/// let balls = RoundedPair { cores, radii: [1.0, 1.5] };
/// let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
/// let found = measure(&balls, &METHODS[0], Stops::default(), witness, effort).unwrap();
/// assert!(found.lower <= 2.5 && 2.5 <= found.upper && found.upper - found.lower < 1e-12);
/// ```
pub fn measure(
    pair: &RoundedPair<'_>,
    method: &DistanceMethod,
    stops: Stops,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<RoundedDistance, Stopped> {
    let CoreGap { verdict, pairs, off, cores } = gap(pair, method, stops, witness, effort)?;
    let [lower, upper] = if verdict == Verdict::Separated { off } else { [0.0; 2] };
    let normal = (cores.upper > 0.0).then(|| normal_of_cores(&pair.cores, &cores)).flatten();
    let [closest_p, closest_q] = closest_points(pair, &cores, normal, verdict);
    let normal = normal.filter(|_| verdict != Verdict::Overlapping);
    let stopped = cores.stopped;
    let proof = RoundedProof { verdict, pairs };
    Ok(RoundedDistance { proof, lower, upper, closest_p, closest_q, normal, stopped })
}

/// Compares the polytopes' distance with R, and tells how far it is from it as narrowly as wanted.
fn gap(
    pair: &RoundedPair<'_>,
    method: &DistanceMethod,
    stops: Stops,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<CoreGap, Stopped> {
    let (reach, [least, most]) = (pair.reach(), pair.reach().bounds());
    let of_cores = Stops {
        above: stops.above.map(|above| (above + most).next_up()),
        below: stops.below.map(|below| (below + least).next_down()),
    };
    // A method that somebody asked for by its name shows its own work.
    let is_default = method.name == METHODS[0].name;
    let segments = Segments::of(&pair.cores).filter(|_| is_default);
    let apart = segments.and_then(|segments| segments.apart());
    let cores = match apart.and_then(|apart| axes::distance(apart, [least, most], witness)) {
        Some(known) => {
            effort.cost.queries += 1;
            known
        }
        None => measure_by(method, &pair.cores, of_cores, witness, effort)?,
    };
    let pairs = match &cores.decision.proof {
        StaticProof::Separated { .. } => cores.pairs.iter().copied().collect(),
        StaticProof::Touching { pairs, .. } => pairs.iter().copied().collect(),
        StaticProof::Overlapping { pairs } => pairs.clone(),
    };
    if cores.decision.verdict() != Verdict::Separated {
        return Ok(CoreGap { verdict: Verdict::Overlapping, pairs, off: [0.0; 2], cores });
    }
    if cores.lower > most {
        let off = beyond([cores.lower, cores.upper], [least, most]);
        let is_met = stops.above.is_some_and(|above| off[0] > above)
            || stops.below.is_some_and(|below| off[1] < below);
        if is_met || is_narrow(off) || cores.stopped.is_some() {
            return Ok(CoreGap { verdict: Verdict::Separated, pairs, off, cores });
        }
    } else if cores.upper < least {
        let off = beyond([least, most], [cores.lower, cores.upper]);
        if is_narrow(off) || cores.stopped.is_some() {
            return Ok(CoreGap { verdict: Verdict::Overlapping, pairs, off, cores });
        }
    }
    match cores.stopped {
        Some(why) => Err(why),
        None => exact_gap(pair, &reach, cores, effort),
    }
}

/// Encloses by how much a length is more than another one, of which it is known that it is.
fn beyond([lower, upper]: [f64; 2], [least, most]: [f64; 2]) -> [f64; 2] {
    [(lower - most).next_down().max(0.0), (upper - least).next_up()]
}

/// Whether a bracket is as narrow as the contract has distances.
fn is_narrow([lower, upper]: [f64; 2]) -> bool {
    lower > 0.0 && upper - lower <= WIDTH_MAX * lower
}

/// By the exact square of the polytopes' distance.
fn exact_gap(
    pair: &RoundedPair<'_>,
    reach: &Reach,
    cores: Distance,
    effort: &mut Effort<'_>,
) -> Result<CoreGap, Stopped> {
    effort.cost.exact_stages += 1;
    let m = Difference::new(&pair.cores);
    let nearest = wolfe::nearest(&m, &cores.pairs, effort)?
        .filter(|nearest| !nearest.is_origin())
        .expect("polytopes that are apart");
    let (reach, exponent) = (reach.exact(), m.exponent());
    let verdict = match length_compared(nearest.squared(), exponent, &reach) {
        Ordering::Less => Verdict::Overlapping,
        Ordering::Equal => Verdict::Touching,
        Ordering::Greater => Verdict::Separated,
    };
    let length = nearest.length(&m);
    let off = match verdict {
        Verdict::Separated => length_less(nearest.squared(), exponent, length, &reach),
        Verdict::Touching => [0.0; 2],
        Verdict::Overlapping => less_length(nearest.squared(), exponent, length, &reach),
    };
    let [closest_p, closest_q] = nearest.closest(&m);
    let [lower, upper] = length;
    let pairs = nearest.pairs.iter().copied().collect();
    let cores = Distance { lower, upper, pairs: nearest.pairs, closest_p, closest_q, ..cores };
    Ok(CoreGap { verdict, pairs, off, cores })
}

/// The unit vector out of Q towards P of polytopes that are apart, rounded.
fn normal_of_cores(pair: &Pair<'_>, cores: &Distance) -> Option<Vec3> {
    let closest = [cores.closest_p, cores.closest_q];
    normal_apart(pair, &cores.pairs, closest).or_else(|| {
        let nearest = nearest_of_pairs(&Difference::new(pair), &cores.pairs)?;
        let towards_q = nearest.unit_direction();
        (!nearest.is_origin()).then(|| -(towards_q / towards_q.norm()))
    })
}

/// The closest points of the polytopes, each moved to the surface; of bodies in contact, a point
/// of both between them.
fn closest_points(
    pair: &RoundedPair<'_>,
    cores: &Distance,
    normal: Option<Vec3>,
    verdict: Verdict,
) -> [Vec3; 2] {
    let points = [cores.closest_p, cores.closest_q];
    let Some(out_of_q) = normal else { return points };
    let [of_p, of_q] = pair.radii;
    if verdict == Verdict::Separated {
        return [points[0] - out_of_q * of_p, points[1] + out_of_q * of_q];
    }
    let length = cores.upper;
    let on_the_way = (of_p.min(length) + (length - of_q).max(0.0)) / 2.0;
    [points[0] - out_of_q * on_the_way; 2]
}

#[cfg(test)]
mod tests;
