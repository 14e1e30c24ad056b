//! The point of a small simplex nearest the origin, in f64, for the search: fast, never surprised
//! by flat or coinciding corners, and right up to rounding. Proofs come later and elsewhere.
//!
//! When a corner is added that lies farther back than the nearest point so far, the new nearest
//! point lies on a face with that corner: of the seven faces of a triangle and the fifteen of a
//! tetrahedron four and eight remain (G. van den Bergen, "A fast and robust GJK implementation",
//! J. Graphics Tools 4(2), 1999).

use crate::geometry::Vec3;
use crate::geometry::pair::VertexPair;

/// A point of M and its name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corner {
    /// Its name.
    pub(super) pair: VertexPair,
    /// `q_j - p_i`, rounded.
    pub(super) point: Vec3,
}

/// At most three corners, the newest first, with positive weights that sum to one up to rounding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Simplex {
    corners: [Corner; 3],
    weights: [f64; 3],
    count: usize,
    /// The weighted sum.
    pub(super) nearest: Vec3,
    /// Its squared length.
    pub(super) squared: f64,
}

impl Simplex {
    /// One corner.
    #[inline]
    pub(super) fn point(a: Corner) -> Self {
        Self::weighted([a, a, a], [1.0, 0.0, 0.0], 1, a.point)
    }

    #[inline]
    fn weighted(corners: [Corner; 3], weights: [f64; 3], count: usize, nearest: Vec3) -> Self {
        Self { corners, weights, count, nearest, squared: nearest.norm_squared() }
    }

    /// The corners, the newest first.
    #[inline]
    pub(super) fn corners(&self) -> &[Corner] {
        &self.corners[..self.count]
    }

    /// A weight for each corner.
    #[inline]
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights[..self.count]
    }

    /// Whether the pair names one of the corners.
    #[inline]
    pub(super) fn has(&self, pair: VertexPair) -> bool {
        self.corners().iter().any(|corner| corner.pair == pair)
    }

    /// The nearest simplex after adding `new`, which lies farther back than the nearest point;
    /// `None` when the grown simplex seems to hold the origin inside.
    #[inline]
    pub(super) fn grown(&self, new: Corner) -> Option<Self> {
        let [a, b, c] = self.corners;
        match self.count {
            0 => Some(Self::point(new)),
            1 => Some(segment(new, a)),
            2 => Some(triangle(new, a, b)),
            _ => tetrahedron(new, a, b, c),
        }
    }

    /// The nearest simplex of the hull of up to three corners; `None` of none.
    pub(super) fn of(corners: &[Corner]) -> Option<Self> {
        // The nearest point is on a face with the first corner, or with the second, or the third.
        let around = |at: usize| match *corners {
            [a] => Self::point(a),
            [a, b] => [segment(a, b), Self::point(b)][at],
            [a, b, c, ..] => [triangle(a, b, c), segment(b, c), Self::point(c)][at],
            [] => Self::default(),
        };
        (0..corners.len().min(3)).map(around).min_by(|x, y| x.squared.total_cmp(&y.squared))
    }
}

/// Of `a` or the segment from it to `b`.
#[inline]
fn segment(a: Corner, b: Corner) -> Simplex {
    let edge = b.point - a.point;
    let (along, length) = (-a.point.dot(&edge), edge.norm_squared());
    let weight = along / length;
    // False for coinciding points and NaN too, which keep the first one.
    if weight > 0.0 && weight < 1.0 {
        let nearest = a.point + edge * weight;
        Simplex::weighted([a, b, b], [1.0 - weight, weight, 0.0], 2, nearest)
    } else {
        Simplex::point(a)
    }
}

/// Of `a`, the segments from it, or the triangle.
#[inline]
fn triangle(a: Corner, b: Corner, c: Corner) -> Simplex {
    let (ab, ac) = (b.point - a.point, c.point - a.point);
    facet(a, b, c, &ab, &ac, &ab.cross(&ac))
}

/// The same, with the edges from `a` and their cross product.
#[inline]
fn facet(a: Corner, b: Corner, c: Corner, ab: &Vec3, ac: &Vec3, normal: &Vec3) -> Simplex {
    let area = normal.norm_squared();
    // Weights of b and c times the area; each says on which side of the other edge the origin is.
    let of_b = -a.point.cross(ac).dot(normal);
    let of_c = -ab.cross(&a.point).dot(normal);
    let beyond_ac = of_b <= 0.0;
    let beyond_ab = of_c <= 0.0;
    let is_inside = !beyond_ac && !beyond_ab && of_b + of_c < area;
    if is_inside {
        let (b_weight, c_weight) = (of_b / area, of_c / area);
        // Along the normal: right also where the edges are much shorter than the distance.
        let nearest = normal * (normal.dot(&a.point) / area);
        Simplex::weighted([a, b, c], [1.0 - b_weight - c_weight, b_weight, c_weight], 3, nearest)
    } else if beyond_ab && !beyond_ac {
        segment(a, b)
    } else if beyond_ac && !beyond_ab {
        segment(a, c)
    } else {
        // Behind a, or a sliver whose areas rounding has drowned.
        nearer(segment(a, b), segment(a, c))
    }
}

/// Of the faces with `a`; the origin is on its side of the triangle of the others.
#[inline]
fn tetrahedron(a: Corner, b: Corner, c: Corner, d: Corner) -> Option<Simplex> {
    let (ab, ac, ad) = (b.point - a.point, c.point - a.point, d.point - a.point);
    let (abc, acd, adb) = (ab.cross(&ac), ac.cross(&ad), ad.cross(&ab));
    let volume = abc.dot(&ad);
    // True also for a flat tetrahedron and for NaN.
    let sees = |normal: &Vec3| {
        let same_side = -normal.dot(&a.point) * volume > 0.0;
        !same_side
    };
    let mut best: Option<Simplex> = None;
    let mut offer = |candidate: Simplex| {
        best = Some(best.map_or(candidate, |best| nearer(best, candidate)));
    };
    if sees(&abc) {
        offer(facet(a, b, c, &ab, &ac, &abc));
    }
    if sees(&acd) {
        offer(facet(a, c, d, &ac, &ad, &acd));
    }
    if sees(&adb) {
        offer(facet(a, d, b, &ad, &ab, &adb));
    }
    best
}

#[inline]
fn nearer(a: Simplex, b: Simplex) -> Simplex {
    if b.squared < a.squared { b } else { a }
}
