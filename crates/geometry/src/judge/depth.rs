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
/// # use clearance::geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance::geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance::geometry::judge::judge_depth;
/// use clearance::geometry::penetration::measure;
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
    surface.map_or(Ok(()), |surface| judge_surface(pair, lower, surface, effort))
}

/// Whether `along · x = level` is farther from the origin than `bound`; `level` is not negative.
pub(super) fn is_longer(level: &Dyadic, along: &Exact, bound: f64) -> bool {
    let bound = Dyadic::from(bound);
    level * level > &(&bound * &bound) * &scalar_product(along, along)
}

fn judge_surface(
    pair: &Bodies<'_>,
    lower: f64,
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
    if !is_closed(surface) {
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
        let bound = Dyadic::from(lower);
        if &height * &height < &(&bound * &bound) * &scalar_product(&normal, &normal) {
            return Err(Refusal::BoundFails("the surface comes closer than the lower bound"));
        }
    }
    Ok(())
}

/// Whether every directed edge is run through as often as its opposite.
fn is_closed(surface: &Surface) -> bool {
    let edges = |triangle: &[u32; 3]| {
        let [a, b, c] = *triangle;
        [(a, b), (b, c), (c, a)]
    };
    let mut there: Vec<(u32, u32)> = surface.triangles.iter().flat_map(edges).collect();
    let mut back: Vec<(u32, u32)> = there.iter().map(|&(from, to)| (to, from)).collect();
    there.sort_unstable();
    back.sort_unstable();
    there == back
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;
    use crate::effort::Stopped;
    use crate::pair::{Pair, VertexPair};
    use crate::pose::Pose;
    use crate::samples::{cuboid, hull};

    /// A point in the middle of a cube of edge 2: M is the cube.
    fn check(test: impl FnOnce(&Pair<'_>, Surface)) {
        let point = hull(&[Vec3::zeros()]);
        let corners = [-1.0, 1.0];
        let cube: Vec<Vec3> = corners
            .into_iter()
            .flat_map(|x| {
                corners.into_iter().flat_map(move |y| corners.map(|z| Vec3::new(x, y, z)))
            })
            .collect();
        let cube = hull(&cube);
        let pair = Pair::new(&point, Pose::identity(), &cube, Pose::identity());
        // Vertices are sorted by x, y, z, so their bits are their coordinates.
        let quads =
            [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
        let triangles = quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let corners = (0..8).map(|j| VertexPair { i: 0, j }).collect();
        test(&pair, Surface { corners, triangles });
    }

    /// Without limit.
    fn judge_depth(
        pair: &Pair<'_>,
        lower: f64,
        upper: f64,
        face: &Direction,
        surface: Option<&Surface>,
    ) -> Result<(), Refusal> {
        super::judge_depth(pair, [lower, upper], face, surface, &mut Effort::unlimited())
    }

    const UP: Direction = Direction::Vector(Vec3::new(0.0, 0.0, 3.0));

    #[test]
    fn a_true_bracket_is_accepted_and_one_ulp_inside_refused() {
        check(|pair, surface| {
            assert_eq!(judge_depth(pair, 1.0, 1.0, &UP, Some(&surface)), Ok(()));
            assert!(judge_depth(pair, 1.0, 1.0f64.next_down(), &UP, Some(&surface)).is_err());
            assert!(judge_depth(pair, 1.0f64.next_up(), 1.1, &UP, Some(&surface)).is_err());
            assert_eq!(judge_depth(pair, 1.0, 1.0, &UP, None), Ok(()));
            let diagonal = Direction::Vector(Vec3::new(1.0, 1.0, 0.0));
            assert!(judge_depth(pair, 1.0, 1.41, &diagonal, None).is_err());
            assert_eq!(judge_depth(pair, 1.0, 1.42, &diagonal, None), Ok(()));
            assert!(judge_depth(pair, f64::NAN, 1.0, &UP, None).is_err());
            assert!(judge_depth(pair, 1.0, f64::NAN, &UP, None).is_err());
        });
    }

    #[test]
    fn a_surface_with_a_hole_or_a_turned_triangle_is_refused() {
        check(|pair, surface| {
            let refused = |change: &dyn Fn(&mut Surface)| {
                let mut changed = surface.clone();
                change(&mut changed);
                judge_depth(pair, 1.0, 1.0, &UP, Some(&changed)).is_err()
            };
            assert!(!refused(&|_| {}));
            assert!(refused(&|s| s.triangles.truncate(11)));
            assert!(refused(&|s| s.triangles.clear()));
            assert!(refused(&|s| s.triangles[3].swap(0, 1)));
            assert!(refused(&|s| s.triangles.iter_mut().for_each(|t| t.swap(0, 1))));
            assert!(refused(&|s| s.triangles[0][0] = 8));
            assert!(refused(&|s| s.corners[0].j = 8));
            assert!(refused(&|s| s.corners.swap(0, 7)));
        });
    }

    /// However long the surface was, it was looked at to its end, whatever the deadline.
    #[test]
    fn a_surface_is_judged_no_longer_than_the_effort_lasts() {
        check(|pair, surface| {
            let judged = |steps: u64| {
                let effort = &mut Effort::with_steps(steps);
                super::judge_depth(pair, [1.0, 1.0], &UP, Some(&surface), effort)
            };
            // Eight corners and twelve triangles.
            for steps in [0, 7, 19] {
                assert_eq!(judged(steps), Err(Refusal::Stopped(Stopped::Steps)), "{steps}");
            }
            assert_eq!(judged(20), Ok(()));
        });
    }

    #[test]
    fn a_face_on_the_wrong_side_of_the_origin_is_refused() {
        let cube = cuboid(1.0, 1.0, 1.0);
        let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(0.0, 0.0, 9.0));
        let down = Direction::Vector(Vec3::new(0.0, 0.0, -1.0));
        assert!(judge_depth(&pair, 0.0, 100.0, &down, None).is_err());
        assert_eq!(judge_depth(&pair, 0.0, 100.0, &UP, None), Ok(()));
    }
}
