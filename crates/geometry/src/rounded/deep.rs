//! How deep rounded bodies overlap: by R less the distance of the polytopes, or, where these
//! overlap, by their depth and R.

use super::{CoreGap, RoundedPair, gap};
use crate::Vec3;
use crate::claim::{Direction, RoundedProof, StaticProof, Surface, Verdict};
use crate::difference::heading::unit_vector;
use crate::distance::{METHODS, Stops, towards};
use crate::effort::{Effort, Stopped};
use crate::penetration;
use crate::witness::Witness;

/// The penetration depth of rounded bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundedDepth {
    /// The verdict with its proof.
    pub proof: RoundedProof,
    /// At most the exact depth, in metres; 0 unless overlapping.
    pub lower: f64,
    /// At least the exact depth, in metres; 0 unless overlapping.
    pub upper: f64,
    /// Unit vector, rounded: moving P along it by the depth separates. Zero unless overlapping.
    pub direction: Vec3,
    /// Along which M reaches from the origin by at most `upper` less R, which is negative where the
    /// polytopes are apart; none unless overlapping.
    pub face: Option<Direction>,
    /// On request, of polytopes that overlap: a surface in M around the origin, at least `lower`
    /// less R from it.
    pub surface: Option<Surface>,
    /// Why the bracket is wider than it could be.
    pub stopped: Option<Stopped>,
}

/// Measures how deep the bodies overlap. `with_surface` asks for what proves the lower bound of
/// polytopes that overlap themselves.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// use clearance_geometry::rounded::{RoundedPair, measure_depth};
///
/// let point = convex_hull(&[Vec3::zeros()]).unwrap().polytope;
/// let cores = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
/// let balls = RoundedPair { cores, radii: [4.0, 1.5] };
/// let effort = &mut Effort::unlimited();
/// let found = measure_depth(&balls, false, &mut Witness::default(), effort).unwrap();
/// assert!(found.lower <= 0.5 && 0.5 <= found.upper && found.upper - found.lower < 1e-12);
/// ```
pub fn measure_depth(
    pair: &RoundedPair<'_>,
    with_surface: bool,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<RoundedDepth, Stopped> {
    let found = gap(pair, &METHODS[0], Stops::default(), witness, effort)?;
    let of_cores = found.cores.decision.verdict();
    match (found.verdict, of_cores) {
        (Verdict::Separated | Verdict::Touching, _) => Ok(nothing(found)),
        (Verdict::Overlapping, Verdict::Separated) => Ok(of_cores_apart(pair, found)),
        (Verdict::Overlapping, _) => of_cores_in_contact(pair, found, with_surface, effort),
    }
}

fn nothing(CoreGap { verdict, pairs, cores, .. }: CoreGap) -> RoundedDepth {
    RoundedDepth {
        proof: RoundedProof { verdict, pairs },
        lower: 0.0,
        upper: 0.0,
        direction: Vec3::zeros(),
        face: None,
        surface: None,
        stopped: cores.stopped,
    }
}

/// The shortest way out is away from each other.
fn of_cores_apart(pair: &RoundedPair<'_>, found: CoreGap) -> RoundedDepth {
    let face = towards(&found.cores.pairs).reversed();
    let direction = unit_vector(&pair.cores, &face).unwrap_or_default();
    let [lower, upper] = found.off;
    RoundedDepth { lower, upper, direction, face: Some(face), ..nothing(found) }
}

/// The shortest way out of polytopes in contact leads out of the rounded ones, too.
fn of_cores_in_contact(
    pair: &RoundedPair<'_>,
    found: CoreGap,
    with_surface: bool,
    effort: &mut Effort<'_>,
) -> Result<RoundedDepth, Stopped> {
    let [least, most] = pair.reach().bounds();
    if let StaticProof::Touching { direction: towards_q, .. } = &found.cores.decision.proof {
        let face = towards_q.reversed();
        let direction = unit_vector(&pair.cores, &face).unwrap_or_default();
        let face = Some(face);
        return Ok(RoundedDepth { lower: least, upper: most, direction, face, ..nothing(found) });
    }
    let witness = &mut Witness::default();
    let of_cores = penetration::measure(&pair.cores, with_surface, witness, effort)?;
    let sum = |depth: f64, radius: f64, outward: fn(f64) -> f64| {
        if depth > 0.0 { outward(depth + radius) } else { radius }
    };
    Ok(RoundedDepth {
        lower: sum(of_cores.lower, least, f64::next_down),
        upper: sum(of_cores.upper, most, f64::next_up),
        direction: of_cores.direction,
        face: of_cores.face,
        surface: of_cores.surface,
        stopped: of_cores.stopped,
        ..nothing(found)
    })
}
