//! The judge of a penetration depth: exact, from scratch, sharing nothing with the search.

use super::direction::exact_direction;
use super::distance::judge_bounds;
use super::exact::{Exact, exact_differences, gap_along, minus, scalar_product, vector_product};
use super::refusal::Refusal;
use crate::claim::{Bodies, Direction, Surface};
use crate::effort::Effort;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;

/// Proves that the depth of the pair is at most `upper` and, given a surface, at least `lower`.
///
/// Upper: M reaches from the origin along `face` by at most `upper`, so a translation of P by that
/// much along it separates. Lower: every triangle of the surface, made of points of M, has the
/// origin strictly inside its plane and at least `lower` away; as the surface is closed, every ray
/// from the origin meets it, no nearer than `lower`, so the ball of that radius is in M. Looks at
/// every vertex and every triangle. A step is a look at a corner or a triangle of the surface.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::judge::judge_depth;
/// use clearance_geometry::penetration::measure;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(0.75, 0.0, 0.0));
/// let depth = measure(&pair, true, &mut witness, &mut effort).unwrap();
/// let (face, surface) = (depth.face.unwrap(), depth.surface.as_ref());
/// assert!(judge_depth(&pair, [depth.lower, depth.upper], &face, surface, &mut effort).is_ok());
/// assert!(judge_depth(&pair, [0.3, 0.4], &face, surface, &mut effort).is_err());
/// ```
pub fn judge_depth<'a>(
    pair: impl Into<Bodies<'a>>,
    [lower, upper]: [f64; 2],
    face: &Direction,
    surface: Option<&Surface>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    judge_bounds([lower, upper])?;
    let pair = &pair.into();
    let outward = exact_direction(pair, face)?;
    let reach = -&gap_along(pair, &outward.each_ref().map(|c| -c), effort)?;
    if reach.sign() == Sign::Negative {
        return Err(Refusal::BoundFails("the origin is beyond the face"));
    }
    if is_longer(&reach, &outward, upper) {
        return Err(Refusal::BoundFails("M reaches beyond the upper bound"));
    }
    let lower = Dyadic::from(lower);
    surface.map_or(Ok(()), |surface| judge_surface(pair, &lower, surface, effort))
}

/// Whether `along · x = level` is farther from the origin than `bound`; `level` is not negative.
fn is_longer(level: &Dyadic, along: &Exact, bound: f64) -> bool {
    let bound = Dyadic::from(bound);
    level * level > &(&bound * &bound) * &scalar_product(along, along)
}

/// That a surface in M surrounds the origin and comes no closer to it than `lower`, which is not
/// negative.
pub(super) fn judge_surface(
    pair: &Bodies<'_>,
    lower: &Dyadic,
    surface: &Surface,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let mut corners: Vec<Exact> = Vec::new();
    for (at, named) in surface.corners.iter().enumerate() {
        effort.spend_step()?;
        let one = exact_differences(pair, std::slice::from_ref(named));
        corners.extend(one.map_err(|_| Refusal::NoSuchVertex(at))?);
    }
    let count = surface.corners.len();
    let exist = |triangle: &[u32; 3]| triangle.iter().all(|&corner| (corner as usize) < count);
    if surface.triangles.is_empty() || !surface.triangles.iter().all(exist) {
        return Err(Refusal::BoundFails("the surface has triangles, of its corners"));
    }
    if !is_closed(&surface.triangles) {
        return Err(Refusal::BoundFails("the surface is not closed"));
    }
    for triangle in &surface.triangles {
        effort.spend_step()?;
        let [a, b, c] = triangle.map(|corner| &corners[corner as usize]);
        let normal = vector_product(&minus(b, a), &minus(c, a));
        let height = scalar_product(&normal, a);
        if height.sign() != Sign::Positive {
            return Err(Refusal::BoundFails("the origin is not strictly inside the surface"));
        }
        if &height * &height < &(lower * lower) * &scalar_product(&normal, &normal) {
            return Err(Refusal::BoundFails("the surface comes closer than the lower bound"));
        }
    }
    Ok(())
}

/// Whether every directed edge is run through as often as its opposite.
pub(super) fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let edges = |triangle: &[u32; 3]| {
        let [a, b, c] = *triangle;
        [(a, b), (b, c), (c, a)]
    };
    let mut there: Vec<(u32, u32)> = triangles.iter().flat_map(edges).collect();
    let mut back: Vec<(u32, u32)> = there.iter().map(|&(from, to)| (to, from)).collect();
    there.sort_unstable();
    back.sort_unstable();
    there == back
}
