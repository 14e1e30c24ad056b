//! Judges of certificates: exact, from scratch, sharing nothing with the searches.

use super::bodies::{Bodies, Points};
use super::{Axis, Direction, StaticProof};
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::number::Sign;
use crate::geometry::number::dyadic::Dyadic;
use crate::geometry::pair::VertexPair;

/// Why a certificate is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A vertex index is out of range.
    #[error("vertex pair {0} names a vertex that does not exist")]
    NoSuchVertex(usize),
    /// The direction is zero or not finite.
    #[error("the direction is zero or not finite")]
    NoDirection,
    /// The direction does not separate the bodies.
    #[error("the direction does not separate")]
    NotSeparating,
    /// The direction does not support both bodies at a common plane.
    #[error("the direction does not touch")]
    NotTouching,
    /// The differences of the pairs do not hold the origin as they should.
    #[error("the vertex pairs do not hold the origin")]
    OriginNotHeld,
    /// Too few or too many vertex pairs.
    #[error("a certificate of this kind takes {0} vertex pairs")]
    PairCount(&'static str),
    /// Links do not join, or do not cover the interval.
    #[error("the chain does not cover the interval: link {0}")]
    ChainGap(usize),
    /// A link's direction does not separate throughout its interval.
    #[error("link {0} does not separate throughout its interval")]
    LinkFails(usize),
    /// Vertices are named that are no face of the body.
    #[error("the vertices named are no face of {0}")]
    NotAFace(&'static str),
    /// Faces that are said to share a point do not.
    #[error("the faces named do not meet as they should")]
    FacesApart,
    /// A point that is said to be strictly inside both bodies is not.
    #[error("the point is not strictly inside {0}")]
    NotInside(&'static str),
    /// A cover lists too little, too much, or what cannot be.
    #[error("the cover is not one of all pairs of faces: step {0}")]
    CoverGap(usize),
    /// A step of a cover does not separate.
    #[error("step {0} of the cover does not separate")]
    CoverFails(usize),
    /// A cover takes longer to judge than anything that the server makes.
    #[error("the cover looks at too many vertices")]
    CoverTooLong,
    /// The surfaces are separated, and one body is or may be within the other.
    #[error("a part of {0} may be inside the other body")]
    Within(&'static str),
    /// Of two of several bodies nothing is proven.
    #[error("nothing shows that the bodies {0} and {1} do not meet")]
    PairOpen(u32, u32),
    /// The proof about two of several bodies is refused.
    #[error("the bodies {0} and {1}: {2}")]
    PairFails(u32, u32, Box<Refusal>),
    /// The list of pairs names what is no pair, or the same twice, or is not in order.
    #[error("the pairs are not listed in order: {0}")]
    PairOrder(usize),
    /// An entry names a part that a body does not have.
    #[error("it names a part that does not exist")]
    NoSuchPart,
    /// An entry names a part of a body more than once.
    #[error("it names a part twice")]
    PartTwice,
    /// An entry about several parts of a body says what can only be said of one.
    #[error("of several parts together a proof is a vector that separates them")]
    SeveralParts,
    /// Of two parts nothing is proven.
    #[error("no entry is about part {0} of P and part {1} of Q")]
    PartsOpen(u32, u32),
    /// The proof about some parts is refused.
    #[error("entry {0}: {1}")]
    EntryFails(usize, Box<Refusal>),
    /// There was no effort left to look at all of it.
    #[error("stopped before all of the certificate was looked at")]
    Stopped(Stopped),
    /// A stated bound is not implied.
    #[error("the stated bound is not implied: {0}")]
    BoundFails(&'static str),
}

impl From<Stopped> for Refusal {
    fn from(why: Stopped) -> Self {
        Self::Stopped(why)
    }
}

/// Vertices that are looked at in exact arithmetic for each step, after the first so many.
const VERTICES_PER_STEP: u32 = 1 << 10;

/// Pays for the look at vertex `v` of a body, which comes after those before.
pub(super) fn pay_for_vertex(v: u32, effort: &mut Effort<'_>) -> Result<(), Stopped> {
    if v % VERTICES_PER_STEP == VERTICES_PER_STEP - 1 { effort.spend_step() } else { Ok(()) }
}

/// Proves the statement from scratch, in exact arithmetic, looking at every vertex.
pub fn judge_static<'a>(pair: impl Into<Bodies<'a>>, proof: &StaticProof) -> Result<(), Refusal> {
    judge_static_with(pair, proof, &mut Effort::unlimited())
}

/// The same, as long as the effort lasts: a step is a look at a thousand vertices.
pub fn judge_static_with<'a>(
    pair: impl Into<Bodies<'a>>,
    proof: &StaticProof,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    let pair = &pair.into();
    match proof {
        StaticProof::Separated { direction } => {
            let s = exact_direction(pair, direction)?;
            if gap_along(pair, &s, effort)?.sign() == Sign::Positive {
                Ok(())
            } else {
                Err(Refusal::NotSeparating)
            }
        }
        StaticProof::Touching { direction, pairs } => {
            if pairs.is_empty() {
                return Err(Refusal::PairCount("one to three"));
            }
            let s = exact_direction(pair, direction)?;
            if gap_along(pair, &s, effort)?.sign() != Sign::Zero {
                return Err(Refusal::NotTouching);
            }
            let held = holds_origin(&exact_differences(pair, pairs)?);
            if held { Ok(()) } else { Err(Refusal::OriginNotHeld) }
        }
        StaticProof::Overlapping { pairs } => {
            if pairs.len() < 4 {
                return Err(Refusal::PairCount("four to six"));
            }
            let held = holds_origin_strictly(&exact_differences(pair, pairs)?);
            if held { Ok(()) } else { Err(Refusal::OriginNotHeld) }
        }
    }
}

/// Whether a direction shows that the bodies are farther apart than a margin.
pub(super) fn shows_farther(
    pair: &Bodies<'_>,
    s: &Exact,
    margin: f64,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    let (gap, margin) = (gap_along(pair, s, effort)?, Dyadic::from(margin));
    let is_longer = &gap * &gap > &(&margin * &margin) * &scalar_product(s, s);
    Ok(gap.sign() == Sign::Positive && is_longer)
}

/// An exact point or vector of the world.
pub(crate) type Exact = [Dyadic; 3];

/// `R v + t` of vertex `v`, exactly.
pub(crate) fn exact_point(placed: &Points<'_>, v: u32) -> Exact {
    let vertex = &placed.points[v as usize];
    std::array::from_fn(|row| {
        let mut coordinate = Dyadic::from(placed.pose.translation[row]);
        for column in 0..3 {
            let entry = Dyadic::from(placed.pose.rotation[(row, column)]);
            coordinate = &coordinate + &(&entry * &Dyadic::from(vertex[column]));
        }
        coordinate
    })
}

/// `q_j - p_i` of each pair, exactly; refuses indices out of range.
pub(crate) fn exact_differences(
    pair: &Bodies<'_>,
    pairs: &[VertexPair],
) -> Result<Vec<Exact>, Refusal> {
    pairs
        .iter()
        .enumerate()
        .map(|(at, &VertexPair { i, j })| {
            if (i as usize) < pair.p.points.len() && (j as usize) < pair.q.points.len() {
                Ok(minus(&exact_point(&pair.q, j), &exact_point(&pair.p, i)))
            } else {
                Err(Refusal::NoSuchVertex(at))
            }
        })
        .collect()
}

/// The direction as exact numbers; refuses zero and what is not finite, and the forms that need a
/// motion.
pub(crate) fn exact_direction(pair: &Bodies<'_>, direction: &Direction) -> Result<Exact, Refusal> {
    exact_direction_of_link(pair, direction, None)
}

/// The same in a link of a chain, when Q travels so far relative to P (and nothing turns).
pub(crate) fn exact_direction_of_link(
    pair: &Bodies<'_>,
    direction: &Direction,
    travel: Option<&Exact>,
) -> Result<Exact, Refusal> {
    let (vector, negative) = match direction {
        Direction::Vector(v) => {
            if !v.iter().all(|c| c.is_finite()) {
                return Err(Refusal::NoDirection);
            }
            (std::array::from_fn(|k| Dyadic::from(v[k])), false)
        }
        Direction::Normal { pairs, negative } => {
            let d = exact_differences(pair, pairs)?;
            (vector_product(&minus(&d[1], &d[0]), &minus(&d[2], &d[0])), *negative)
        }
        Direction::EdgeNormal { pairs, axis, negative } => {
            let d = exact_differences(pair, pairs)?;
            (vector_product(&minus(&d[1], &d[0]), &unit_vector(*axis)), *negative)
        }
        Direction::SweptNormal { pairs, negative } => {
            let d = exact_differences(pair, pairs)?;
            let travel = travel.ok_or(Refusal::NoDirection)?;
            (vector_product(&minus(&d[1], &d[0]), travel), *negative)
        }
        Direction::SweptAxis { axis, negative } => {
            let travel = travel.ok_or(Refusal::NoDirection)?;
            (vector_product(travel, &unit_vector(*axis)), *negative)
        }
    };
    if vector.iter().all(|c| c.sign() == Sign::Zero) {
        return Err(Refusal::NoDirection);
    }
    Ok(if negative { vector.map(|c| -&c) } else { vector })
}

fn unit_vector(axis: Axis) -> Exact {
    let one_at = match axis {
        Axis::X => 0,
        Axis::Y => 1,
        Axis::Z => 2,
    };
    std::array::from_fn(|k| Dyadic::from(if k == one_at { 1.0 } else { 0.0 }))
}

/// `min over Q of s·y - max over P of s·x`, over all vertices.
pub(crate) fn gap_along(
    pair: &Bodies<'_>,
    s: &Exact,
    effort: &mut Effort<'_>,
) -> Result<Dyadic, Stopped> {
    let back = s.each_ref().map(|c| -c);
    let of_p = greatest_along(&pair.p, s, effort)?;
    Ok(-&(&greatest_along(&pair.q, &back, effort)? + &of_p))
}

/// `max over a body of s·x`, over all vertices.
pub(super) fn greatest_along(
    placed: &Points<'_>,
    s: &Exact,
    effort: &mut Effort<'_>,
) -> Result<Dyadic, Stopped> {
    let height = |v| scalar_product(s, &exact_point(placed, v));
    let mut greatest = height(0);
    for v in (0..).take(placed.points.len()).skip(1) {
        pay_for_vertex(v, effort)?;
        greatest = greatest.max(height(v));
    }
    Ok(greatest)
}

/// Whether the origin is in the closed hull: in a simplex of at most three of the points
/// (Carathéodory; four are never needed for a point of the boundary).
pub(super) fn holds_origin(points: &[Exact]) -> bool {
    let n = points.len();
    (0..n).any(|a| is_zero(&points[a]))
        || (0..n).any(|b| (0..b).any(|a| holds_between(&points[a], &points[b])))
        || (0..n).any(|c| {
            (0..c).any(|b| (0..b).any(|a| holds_in_triangle(&points[a], &points[b], &points[c])))
        })
}

/// The origin strictly between two points.
fn holds_between(a: &Exact, b: &Exact) -> bool {
    is_zero(&vector_product(a, b)) && scalar_product(a, b).sign() == Sign::Negative
}

/// The origin strictly inside a triangle: seen from there each side turns the same way.
fn holds_in_triangle(a: &Exact, b: &Exact, c: &Exact) -> bool {
    let (ab, bc, ca) = (vector_product(a, b), vector_product(b, c), vector_product(c, a));
    let agree = |x: &Exact, y: &Exact| scalar_product(x, y).sign() == Sign::Positive;
    scalar_product(&ab, c).sign() == Sign::Zero
        && agree(&ab, &bc)
        && agree(&bc, &ca)
        && agree(&ca, &ab)
}

/// Whether the origin is interior to the hull: no closed half-space through it holds all points.
/// If one did, and the points span the space, its normal could be turned until it is normal to two
/// independent points; so only those normals are tried, each on both sides at once.
pub(super) fn holds_origin_strictly(points: &[Exact]) -> bool {
    let mut tried = false;
    for (at, a) in points.iter().enumerate() {
        for b in &points[..at] {
            let normal = vector_product(a, b);
            if is_zero(&normal) {
                continue;
            }
            tried = true;
            let meets =
                |side: Sign| points.iter().any(|p| scalar_product(&normal, p).sign() == side);
            if !(meets(Sign::Positive) && meets(Sign::Negative)) {
                return false;
            }
        }
    }
    tried
}

/// Whether every coordinate is zero.
pub(super) fn is_zero(a: &Exact) -> bool {
    a.iter().all(|c| c.sign() == Sign::Zero)
}

/// `a - b`
pub(super) fn minus(a: &Exact, b: &Exact) -> Exact {
    std::array::from_fn(|k| &a[k] - &b[k])
}

/// `a · b`
pub(crate) fn scalar_product(a: &Exact, b: &Exact) -> Dyadic {
    &(&(&a[0] * &b[0]) + &(&a[1] * &b[1])) + &(&a[2] * &b[2])
}

/// `a x b`
pub(super) fn vector_product(a: &Exact, b: &Exact) -> Exact {
    std::array::from_fn(|k| {
        let (l, m) = ((k + 1) % 3, (k + 2) % 3);
        &(&a[l] * &b[m]) - &(&a[m] * &b[l])
    })
}

#[cfg(test)]
mod tests {
    use super::super::judge_solids::judge_solids;
    use super::super::solids::{Cover, CoverStep, Solid, SolidProof, Solids};
    use super::*;
    use crate::geometry::Vec3;
    use crate::geometry::pair::Pair;
    use crate::geometry::polytope::Polytope;
    use crate::geometry::pose::Pose;
    use crate::geometry::samples::cuboid;

    /// The vertex of the cube `[-1, 1]³` with these signs; vertices are sorted by x, y, z.
    fn corner(x: u32, y: u32, z: u32) -> u32 {
        4 * x + 2 * y + z
    }

    fn cube_and_cube_at<'a>(cube: &'a Polytope, x: f64) -> Pair<'a> {
        Pair::new(cube, Pose::identity(), cube, Pose::translation(x, 0.0, 0.0))
    }

    fn separated(direction: Direction) -> StaticProof {
        StaticProof::Separated { direction }
    }

    fn touching(direction: Direction, pairs: &[VertexPair]) -> StaticProof {
        StaticProof::Touching { direction, pairs: pairs.iter().copied().collect() }
    }

    fn overlapping(pairs: &[VertexPair]) -> StaticProof {
        StaticProof::Overlapping { pairs: pairs.iter().copied().collect() }
    }

    const X: Direction = Direction::Vector(Vec3::new(1.0, 0.0, 0.0));

    #[test]
    fn a_direction_separates_only_if_no_vertex_crosses_the_plane() {
        let cube = cuboid(1.0, 1.0, 1.0);
        let gap = cube_and_cube_at(&cube, 2.0f64.next_up());
        assert_eq!(judge_static(&gap, &separated(X)), Ok(()));
        let contact = cube_and_cube_at(&cube, 2.0);
        assert_eq!(judge_static(&contact, &separated(X)), Err(Refusal::NotSeparating));
        let back = Direction::Vector(-Vec3::x());
        assert_eq!(judge_static(&gap, &separated(back)), Err(Refusal::NotSeparating));
        let tilted = Direction::Vector(Vec3::new(1.0, 1e-15, 0.0));
        assert_eq!(judge_static(&gap, &separated(tilted)), Err(Refusal::NotSeparating));
    }

    #[test]
    fn zero_infinite_and_missing_things_are_refused() {
        let cube = cuboid(1.0, 1.0, 1.0);
        let pair = cube_and_cube_at(&cube, 3.0);
        for bad in [0.0, f64::NAN, f64::INFINITY] {
            let direction = Direction::Vector(Vec3::new(bad, 0.0, 0.0));
            assert_eq!(judge_static(&pair, &separated(direction)), Err(Refusal::NoDirection));
        }
        let k = |i, j| VertexPair { i, j };
        let same = Direction::Normal { pairs: [k(0, 0), k(1, 1), k(2, 1)], negative: false };
        assert_eq!(judge_static(&pair, &separated(same)), Err(Refusal::NoDirection));
        let absent = Direction::Normal { pairs: [k(0, 0), k(0, 8), k(2, 1)], negative: false };
        assert_eq!(judge_static(&pair, &separated(absent)), Err(Refusal::NoSuchVertex(1)));
        let touching_by_none = touching(X, &[]);
        assert!(matches!(judge_static(&pair, &touching_by_none), Err(Refusal::PairCount(_))));
        let three = overlapping(&[k(0, 0), k(1, 1), k(2, 2)]);
        assert!(matches!(judge_static(&pair, &three), Err(Refusal::PairCount(_))));
        let far = overlapping(&[k(0, 0), k(1, 1), k(2, 2), k(99, 2)]);
        assert_eq!(judge_static(&pair, &far), Err(Refusal::NoSuchVertex(3)));
    }

    #[test]
    fn normals_by_vertex_pairs_mean_the_products_that_they_name() {
        let cube = cuboid(1.0, 1.0, 1.0);
        let pair = cube_and_cube_at(&cube, 3.0);
        // With one vertex of P, differences move as the vertices of Q do.
        let q = |y, z| VertexPair { i: 0, j: corner(0, y, z) };
        let pairs = [q(0, 0), q(1, 0), q(0, 1)];
        let forwards = Direction::Normal { pairs, negative: false };
        assert_eq!(judge_static(&pair, &separated(forwards)), Ok(()));
        let backwards = Direction::Normal { pairs, negative: true };
        assert_eq!(judge_static(&pair, &separated(backwards)), Err(Refusal::NotSeparating));
        // y x z = x, but z x y = -x.
        let along_y = [q(0, 0), q(1, 0)];
        let edge = Direction::EdgeNormal { pairs: along_y, axis: Axis::Z, negative: false };
        assert_eq!(judge_static(&pair, &separated(edge)), Ok(()));
        let along_z = [q(0, 0), q(0, 1)];
        let edge = Direction::EdgeNormal { pairs: along_z, axis: Axis::Y, negative: false };
        assert_eq!(judge_static(&pair, &separated(edge)), Err(Refusal::NotSeparating));
        let none = Direction::EdgeNormal { pairs: along_z, axis: Axis::Z, negative: false };
        assert_eq!(judge_static(&pair, &separated(none)), Err(Refusal::NoDirection));
    }

    #[test]
    fn touching_needs_a_common_plane_and_pairs_around_the_origin() {
        let cube = cuboid(1.0, 1.0, 1.0);
        let pair = cube_and_cube_at(&cube, 2.0);
        let meeting = |y, z| VertexPair { i: corner(1, y, z), j: corner(0, y, z) };
        assert_eq!(judge_static(&pair, &touching(X, &[meeting(0, 1)])), Ok(()));
        let y = Direction::Vector(Vec3::y());
        assert_eq!(judge_static(&pair, &touching(y, &[meeting(0, 1)])), Err(Refusal::NotTouching));
        let skew = |a: u32, b: u32| VertexPair { i: corner(1, a, 0), j: corner(0, b, 0) };
        assert_eq!(judge_static(&pair, &touching(X, &[skew(0, 1), skew(1, 0)])), Ok(()));
        let one_sided = touching(X, &[skew(0, 1), skew(0, 1)]);
        assert_eq!(judge_static(&pair, &one_sided), Err(Refusal::OriginNotHeld));
        let around = [(0, 0, 1, 1), (1, 0, 0, 0), (1, 1, 0, 0)]
            .map(|(a, b, c, d)| VertexPair { i: corner(1, a, b), j: corner(0, c, d) });
        assert_eq!(judge_static(&pair, &touching(X, &around)), Ok(()));
        let apart = cube_and_cube_at(&cube, 2.0f64.next_up());
        assert_eq!(judge_static(&apart, &touching(X, &around)), Err(Refusal::NotTouching));
    }

    #[test]
    fn overlap_needs_the_origin_strictly_inside() {
        let cube = cuboid(1.0, 1.0, 1.0);
        let pair = cube_and_cube_at(&cube, 0.0);
        let pairs = |list: &[(u32, u32)]| -> Vec<VertexPair> {
            list.iter().map(|&(i, j)| VertexPair { i, j }).collect()
        };
        // Differences (±2, 0, 0), (0, ±2, 0), (0, 0, ±2).
        let six = pairs(&[(0, 4), (4, 0), (0, 2), (2, 0), (0, 1), (1, 0)]);
        assert_eq!(judge_static(&pair, &overlapping(&six)), Ok(()));
        for dropped in 0..6 {
            let mut five = six.clone();
            five.remove(dropped);
            let verdict = judge_static(&pair, &overlapping(&five));
            assert_eq!(verdict, Err(Refusal::OriginNotHeld), "on a face without {dropped}");
        }
        let flat = pairs(&[(0, 4), (4, 0), (0, 2), (2, 0)]);
        assert_eq!(judge_static(&pair, &overlapping(&flat)), Err(Refusal::OriginNotHeld));
    }

    /// Exact points of millions of vertices are built in seconds, which no deadline ended.
    #[test]
    fn many_vertices_are_looked_at_no_longer_than_the_effort_lasts() {
        let ball = crate::geometry::polytope::samples::sphere(1200, 1.0);
        let cube = cuboid(1.0, 1.0, 1.0);
        let apart = Pose::translation(3.0, 0.0, 0.0);
        let cover = Cover { steps: vec![CoverStep::Apart(vec![])], ..Cover::default() };
        let judged = |points: &[crate::geometry::Vec3], steps: u64| {
            let body = Points { points, pose: Pose::identity() };
            let bodies = Bodies { p: body, q: Points { points: cube.vertices(), pose: apart } };
            let solid = |points| Solid { points, triangles: None };
            let solids = Solids { p: solid(bodies.p), q: solid(bodies.q) };
            let proof = SolidProof::Separated(cover.clone());
            let effort = &mut Effort::with_steps(steps);
            [
                judge_static_with(bodies, &separated(X), effort),
                judge_solids(&solids, &proof, &mut Effort::with_steps(steps)),
            ]
        };
        let stopped = Err(Refusal::Stopped(Stopped::Steps));
        assert_eq!(judged(&ball, 0), [stopped.clone(), stopped]);
        // With enough of it, what is wrong is said; and small bodies cost nothing.
        let whole = [Ok(()), Err(Refusal::CoverFails(0))];
        assert_eq!(judged(&ball, 2), whole);
        assert_eq!(judged(&ball[..1000], 0), whole);
    }
}
