//! The point of a small simplex nearest the origin, in f64, for the search: fast, never surprised
//! by flat or coinciding corners, and right up to rounding. Proofs come later and elsewhere.
//!
//! When a corner is added that lies farther back than the nearest point so far, the new nearest
//! point lies on a face with that corner: of the seven faces of a triangle and the fifteen of a
//! tetrahedron four and eight remain (G. van den Bergen, "A fast and robust GJK implementation",
//! J. Graphics Tools 4(2), 1999).

use crate::Vec3;
use crate::difference::RoundedCorner;
use crate::pair::VertexPair;

/// At most three corners, the newest first, with positive weights that sum to one up to rounding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Simplex {
    corners: [RoundedCorner; 3],
    weights: [f64; 3],
    count: usize,
    /// The weighted sum.
    pub(super) nearest: Vec3,
    /// Its squared length.
    pub(super) squared: f64,
    /// Where it lies: a multiple of it, known sooner.
    pub(super) direction: Vec3,
}

/// How a simplex grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// Its nearest point is nearer.
    Nearer,
    /// Not even by a unit in the last place; the simplex is as it was.
    Stuck,
    /// With the new corner it seems to hold the origin inside; the simplex is as it was.
    HoldsOrigin,
}

/// A face with the newest corner: which of the others belong to it, and its nearest point.
#[derive(Clone, Copy)]
struct SimplexFace {
    others: [u8; 2],
    count: u8,
    weights: [f64; 2],
    nearest: Vec3,
    squared: f64,
    direction: Vec3,
}

impl Simplex {
    /// One corner.
    #[inline(always)]
    pub(super) fn point(a: RoundedCorner) -> Self {
        let (corners, weights) = ([a, a, a], [1.0, 0.0, 0.0]);
        let squared = a.point.norm_squared();
        Self { corners, weights, count: 1, nearest: a.point, squared, direction: a.point }
    }

    /// The corners, the newest first.
    #[inline]
    pub(super) fn corners(&self) -> &[RoundedCorner] {
        &self.corners[..self.count]
    }

    /// The corners' points; behind them, any.
    #[inline]
    pub(super) fn points(&self) -> [Vec3; 3] {
        self.corners.map(|corner| corner.point)
    }

    /// A weight for each corner.
    #[inline]
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights[..self.count]
    }

    /// Whether the pair names one of the corners.
    #[inline(always)]
    pub(super) fn has(&self, pair: VertexPair) -> bool {
        self.corners().iter().any(|corner| corner.pair == pair)
    }

    /// Adds `new`, which lies farther back than the nearest point, and drops what the new nearest
    /// point does not need. The simplex has a corner.
    #[inline(always)]
    pub(super) fn grow(&mut self, new: RoundedCorner) -> Growth {
        let [a, b, c] = self.corners.map(|corner| corner.point);
        let face = match self.count {
            1 => Some(segment(&new.point, &(a - new.point), 0)),
            2 => Some(triangle(&new.point, [&(a - new.point), &(b - new.point)], [0, 1])),
            _ => tetrahedron(&new.point, [&a, &b, &c].map(|x| x - new.point)),
        };
        let Some(face) = face else { return Growth::HoldsOrigin };
        // False for NaN too.
        let is_nearer = face.squared < self.squared;
        if !is_nearer {
            return Growth::Stuck;
        }
        self.become_face(new, &face);
        Growth::Nearer
    }

    #[inline(always)]
    fn become_face(&mut self, new: RoundedCorner, face: &SimplexFace) {
        let [b, c] = face.others.map(|other| self.corners[usize::from(other)]);
        let [of_b, of_c] = face.weights;
        self.corners = [new, b, c];
        self.weights = [1.0 - of_b - of_c, of_b, of_c];
        self.count = usize::from(face.count);
        self.nearest = face.nearest;
        self.squared = face.squared;
        self.direction = face.direction;
    }

    /// The nearest simplex of the hull of up to three corners; `None` of none.
    #[inline(always)]
    pub(super) fn of(corners: &[RoundedCorner]) -> Option<Self> {
        // The nearest point is on a face with the first corner, or with the second, or the third.
        let corners = &corners[..corners.len().min(3)];
        let (first, others) = corners.split_first()?;
        let mut best = Self::around(first, others);
        if best.count == corners.len() {
            return Some(best);
        }
        for at in 1..corners.len() {
            let other = Self::around(&corners[at], &corners[at + 1..]);
            if other.squared < best.squared {
                best = other;
            }
        }
        Some(best)
    }

    /// The nearest simplex among the faces with the first of at most three corners.
    #[inline(always)]
    pub(super) fn around(first: &RoundedCorner, others: &[RoundedCorner]) -> Self {
        let mut simplex = Self::point(*first);
        let edge = |k: usize| others[k].point - first.point;
        let face = match others.len() {
            0 => return simplex,
            1 => segment(&first.point, &edge(0), 0),
            _ => triangle(&first.point, [&edge(0), &edge(1)], [0, 1]),
        };
        for (corner, other) in simplex.corners.iter_mut().zip(others) {
            *corner = *other;
        }
        simplex.become_face(*first, &face);
        simplex
    }
}

impl SimplexFace {
    #[inline(always)]
    fn point(a: &Vec3) -> Self {
        let squared = a.norm_squared();
        Self { others: [0, 0], count: 1, weights: [0.0, 0.0], nearest: *a, squared, direction: *a }
    }

    #[inline(always)]
    fn nearer_of(self, other: Self) -> Self {
        if other.squared < self.squared { other } else { self }
    }
}

/// The nearest point of `a` or of the segment from it along `edge`.
#[inline(always)]
fn segment(a: &Vec3, edge: &Vec3, other: u8) -> SimplexFace {
    let weight = -a.dot(edge) / edge.norm_squared();
    // False for coinciding points and NaN too, which keep the first one.
    if weight > 0.0 && weight < 1.0 {
        let nearest = a + edge * weight;
        let squared = nearest.norm_squared();
        SimplexFace {
            others: [other, other],
            count: 2,
            weights: [weight, 0.0],
            nearest,
            squared,
            direction: nearest,
        }
    } else {
        SimplexFace::point(a)
    }
}

/// The nearest point of `a`, of the segments from it along the edges, or of their triangle.
#[inline(always)]
fn triangle(a: &Vec3, edges: [&Vec3; 2], others: [u8; 2]) -> SimplexFace {
    facet(a, edges, &edges[0].cross(edges[1]), others)
}

/// The nearest point as [`triangle`] finds it, given the cross product of the edges.
#[inline(always)]
fn facet(a: &Vec3, [ab, ac]: [&Vec3; 2], normal: &Vec3, others: [u8; 2]) -> SimplexFace {
    let area = normal.norm_squared();
    // Weights of b and c times the area; each says on which side of the other edge the origin is.
    let of_b = -a.cross(ac).dot(normal);
    let of_c = -ab.cross(a).dot(normal);
    let beyond_ac = of_b <= 0.0;
    let beyond_ab = of_c <= 0.0;
    let is_inside = !beyond_ac && !beyond_ab && of_b + of_c < area;
    if is_inside {
        let inverse = 1.0 / area;
        // Along the normal: right also where the edges are much shorter than the distance.
        let level = normal.dot(a);
        let nearest = normal * (level * inverse);
        let weights = [of_b * inverse, of_c * inverse];
        let direction = normal * 1f64.copysign(level);
        SimplexFace {
            others,
            count: 3,
            weights,
            nearest,
            squared: nearest.norm_squared(),
            direction,
        }
    } else if beyond_ab && !beyond_ac {
        segment(a, ab, others[0])
    } else if beyond_ac && !beyond_ab {
        segment(a, ac, others[1])
    } else {
        // Behind a, or a sliver whose areas rounding has drowned.
        segment(a, ab, others[0]).nearer_of(segment(a, ac, others[1]))
    }
}

/// The nearest point of the faces with `a`; the origin is on its side of the triangle of the
/// others.
#[inline(always)]
fn tetrahedron(a: &Vec3, [ab, ac, ad]: [Vec3; 3]) -> Option<SimplexFace> {
    let (abc, acd, adb) = (ab.cross(&ac), ac.cross(&ad), ad.cross(&ab));
    let volume = abc.dot(&ad);
    // True also for a flat tetrahedron and for NaN.
    let sees = |normal: &Vec3| {
        let same_side = -normal.dot(a) * volume > 0.0;
        !same_side
    };
    let mut best: Option<SimplexFace> = None;
    let candidates =
        [([&ab, &ac], &abc, [0, 1]), ([&ac, &ad], &acd, [1, 2]), ([&ad, &ab], &adb, [2, 0])];
    for (edges, normal, others) in candidates {
        if sees(normal) {
            let face = facet(a, edges, normal, others);
            if face.count == 3 {
                // Its plane has the origin on one side and the rest on the other.
                return Some(face);
            }
            best = Some(best.map_or(face, |best| best.nearer_of(face)));
        }
    }
    best
}
