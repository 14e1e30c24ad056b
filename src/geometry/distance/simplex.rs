//! The point of a small simplex nearest the origin, in f64, for the search: fast, never surprised
//! by flat or coinciding corners, and right up to rounding. Proofs come later and elsewhere.

use arrayvec::ArrayVec;

use crate::geometry::Vec3;
use crate::geometry::pair::VertexPair;

/// A point of M and its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// Its name.
    pub(super) pair: VertexPair,
    /// `q_j - p_i`, rounded.
    pub(super) point: Vec3,
}

/// At most three corners with positive weights that sum to one up to rounding.
#[derive(Clone, Debug, Default)]
pub(super) struct Simplex {
    /// The corners and their weights.
    pub(super) corners: ArrayVec<(Corner, f64), 3>,
    /// The weighted sum.
    pub(super) nearest: Vec3,
}

impl Simplex {
    /// One corner.
    pub(super) fn point(corner: Corner) -> Self {
        Self { corners: ArrayVec::from_iter([(corner, 1.0)]), nearest: corner.point }
    }

    fn weighted(weighted: &[(Corner, f64)]) -> Self {
        let corners: ArrayVec<_, 3> =
            weighted.iter().copied().filter(|(_, weight)| *weight > 0.0).collect();
        let nearest = corners.iter().map(|(corner, weight)| corner.point * *weight).sum();
        Self { corners, nearest }
    }

    /// Whether the pair names one of the corners.
    pub(super) fn has(&self, pair: VertexPair) -> bool {
        self.corners.iter().any(|(corner, _)| corner.pair == pair)
    }

    /// The nearest simplex after adding `new`; `None` when the grown simplex seems to hold the
    /// origin inside.
    pub(super) fn grown(&self, new: Corner) -> Option<Self> {
        match self.corners.as_slice() {
            [] => Some(Self::point(new)),
            [(a, _)] => Some(segment(new, *a)),
            [(a, _), (b, _)] => Some(triangle(new, *a, *b)),
            [(a, _), (b, _), (c, _), ..] => tetrahedron(new, *a, *b, *c),
        }
    }

    /// The nearest simplex of the hull of up to three corners.
    pub(super) fn of(corners: &[Corner]) -> Option<Self> {
        match *corners {
            [] => None,
            [a] => Some(Self::point(a)),
            [a, b] => Some(segment(a, b)),
            [a, b, c, ..] => Some(triangle(a, b, c)),
        }
    }
}

fn segment(a: Corner, b: Corner) -> Simplex {
    let edge = b.point - a.point;
    let (along, length) = (-a.point.dot(&edge), edge.norm_squared());
    // False for coinciding points and NaN too, which keep the first one.
    let is_beyond_a = along > 0.0;
    if !is_beyond_a {
        Simplex::point(a)
    } else if along >= length {
        Simplex::point(b)
    } else {
        let weight = along / length;
        Simplex::weighted(&[(a, 1.0 - weight), (b, weight)])
    }
}

/// By Voronoi regions; C. Ericson, *Real-Time Collision Detection*, 2005, §5.1.5.
fn triangle(a: Corner, b: Corner, c: Corner) -> Simplex {
    let (ab, ac) = (b.point - a.point, c.point - a.point);
    let (d1, d2) = (-ab.dot(&a.point), -ac.dot(&a.point));
    if d1 <= 0.0 && d2 <= 0.0 {
        return Simplex::point(a);
    }
    let (d3, d4) = (-ab.dot(&b.point), -ac.dot(&b.point));
    if d3 >= 0.0 && d4 <= d3 {
        return Simplex::point(b);
    }
    let (d5, d6) = (-ab.dot(&c.point), -ac.dot(&c.point));
    if d6 >= 0.0 && d5 <= d6 {
        return Simplex::point(c);
    }
    let normal = ab.cross(&ac);
    let area = normal.norm_squared();
    let (of_c, of_b) = (normal.dot(&a.point.cross(&b.point)), normal.dot(&c.point.cross(&a.point)));
    let of_a = normal.dot(&b.point.cross(&c.point));
    if of_a > 0.0 && of_b > 0.0 && of_c > 0.0 && area > 0.0 {
        let sum = of_a + of_b + of_c;
        return Simplex::weighted(&[(a, of_a / sum), (b, of_b / sum), (c, of_c / sum)]);
    }
    // In an edge's region, or a sliver whose areas rounding has drowned.
    least([segment(a, b), segment(a, c), segment(b, c)].into_iter()).expect("three of them")
}

/// `new` is the corner added last, so the origin is on its side of the triangle of the others.
fn tetrahedron(new: Corner, a: Corner, b: Corner, c: Corner) -> Option<Simplex> {
    let faces = [(a, b, c), (b, c, a), (c, a, b)];
    let outside = faces.into_iter().filter(|(x, y, opposite)| {
        let normal = (x.point - new.point).cross(&(y.point - new.point));
        let (origin, other) = (-normal.dot(&new.point), normal.dot(&(opposite.point - new.point)));
        let same_side = origin * other > 0.0;
        !same_side
    });
    least(outside.map(|(x, y, _)| triangle(new, x, y)))
}

fn least(candidates: impl Iterator<Item = Simplex>) -> Option<Simplex> {
    candidates.min_by(|a, b| a.nearest.norm_squared().total_cmp(&b.nearest.norm_squared()))
}
