//! The first contact of small turning bodies by trying every vertex with every face and every edge
//! with every edge: an oracle for the tests of the certified search, with which it shares nothing
//! but what a motion means.
//!
//! Source: Joseph, Plantinga, *Efficient Algorithms for Polyhedron Collision Detection*, 1987, §4.
//!
//! Bodies that turn sweep no polytopes of space-time, but at the moment of collision two faces
//! still meet in a single point: a vertex and a face, or two edges. So, from disjoint bodies on,
//! the first contact is the first time at which a vertex is in the plane of a face, or two edges
//! are in one plane, and at which they meet there. With an axis a, the angle θ t and `z∥`, `z⊥` the
//! parts of a vector along and across a, one turning body makes either condition
//!
//! `A + B t + (C + D t) cos θt + (E + F t) sin θt = 0`
//!
//! (for a vertex w at the start, seen from the pivot, and the plane `n·x = h` of a body that
//! travels by d: `A = n·w∥ - h`, `B = -n·d`, `C = n·w⊥`, `E = n·(a × w)`); two turning bodies add
//! the products of their sines and cosines. Here the left side is evaluated as what it means, the
//! volume between the features at a time, and its roots are isolated by halving the step: a piece
//! of the step is done for a pair of features when a plane separates them by more than they can
//! move in it.
//!
//! Motions: either body or both may translate or move by a screw, about any pivots and by any
//! number of turns (to a million quarters). Both have to be solids, and there is no margin and no
//! deviation. About anything else this oracle says nothing.
//!
//! Proves: nothing that a checker could repeat, so it is no row of the methods' table, and compiled
//! for tests alone. What it says is derived with error bounds all the same: no contact before a
//! time, and contact by another.
//! Cost: every pair of features at first; the pairs that are left, a few, on each of 34 levels.
//!
//! Why it is no method: it also loses. Two balls of 50 vertices that turn and fly into each other
//! take 2.8 ms here and 3 µs by the certified search (the two timings in its tests).
//!
//! Differs from the text:
//! - Whether the features meet is not tested at a root, but decides what is looked into.
//! - Parallel edges, whose condition always holds, need no case: a plane separates them, or
//!   another pair of features meets at the same time.

use crate::Vec3;
use crate::motion::Motion;
use crate::number::rounding::gamma;
use crate::number::tolerance::CROSSING_SINE;
use crate::number::trig::RoundedTrig;
use crate::pair::Placed;
use crate::pair::Question;

/// When the first contact is, as far as the features tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meeting {
    /// There is no contact in the step.
    Never,
    /// Contact is not before the first time. It is by the second, if there is a time for which that
    /// can be shown.
    Between(f64, Option<f64>),
}

/// Pieces of the step are halved down to this length in t, a twentieth of the default time
/// tolerance.
const PIECE: f64 = 1.0 / (1u64 << 34) as f64;
/// How many pieces of this length are looked at. Features that stay together for longer than that
/// are given up.
const SHORTEST_MAX: u32 = 4096;
/// Features surely meet if, seen along their normal, they cross at this many times their move
/// during a piece from each other's ends: that is either feature's move, for each of the two ways
/// in which a move could shift the crossing.
const WELL_INSIDE: f64 = 4.0;

/// When bodies that are disjoint at the start first meet; `None` for motions that the module does
/// not treat.
pub(super) fn first_meeting(question: &Question<'_>) -> Option<Meeting> {
    let pair = &question.pair;
    let start = pair.q.pose.translation - pair.p.pose.translation;
    let p = FeatureBody::new(&pair.p, Vec3::zeros(), &question.motion_p)?;
    let q = FeatureBody::new(&pair.q, start, &question.motion_q)?;
    question.is_without_slack().then(|| FeatureSearch::new(p, q).run())
}

/// A pair of features, one from each body.
#[derive(Clone, Copy, Debug)]
enum Features {
    VertexFace(u32, u32),
    FaceVertex(u32, u32),
    EdgeEdge(u32, u32),
}

/// A body as it moves: `pivot + velocity t + Rot(axis, angle t) arm`, from P's place at the start.
struct FeatureBody {
    pivot: Vec3,
    velocity: Vec3,
    axis: Vec3,
    angle: f64,
    /// The vectors from the pivot to the vertices at the start.
    arms: Vec<Vec3>,
    edges: Vec<[u32; 2]>,
    faces: Vec<FeatureFace>,
}

struct FeatureFace {
    ring: Vec<u32>,
    /// The largest distance from the first corner to another.
    radius: f64,
}

impl FeatureBody {
    fn new(placed: &Placed<'_>, start: Vec3, motion: &Motion) -> Option<Self> {
        let Placed { body, pose } = placed;
        let (pivot, velocity, axis, angle) = match motion {
            Motion::Linear { velocity } => (None, *velocity, Vec3::zeros(), 0.0),
            Motion::Screw { pivot, velocity, axis, angle } => {
                let axis = axis / axis.amax();
                (*pivot, *velocity, axis.normalize(), *angle)
            }
            Motion::ToPose { .. } => return None,
        };
        if body.dimension() < 3 {
            return None;
        }
        RoundedTrig::of_product(angle, 1.0)?;
        let lever = pivot.map_or_else(Vec3::zeros, |c| pose.translation - c);
        let arms: Vec<Vec3> = body.vertices().iter().map(|v| pose.rotation * v + lever).collect();
        let rings = (0..body.vertex_count()).map(|i| (i, body.neighbours(i)));
        let edges = rings.flat_map(|(i, ring)| ring.iter().map(move |j| [i, *j]));
        Some(Self {
            pivot: start - lever,
            velocity,
            axis: if angle.abs() > 0.0 { axis } else { Vec3::zeros() },
            angle,
            edges: edges.filter(|[i, j]| i < j).collect(),
            faces: body.facets().rows().map(|ring| FeatureFace::new(ring, &arms)).collect(),
            arms,
        })
    }

    /// How fast turning moves a vertex at most.
    fn turning_speed(&self) -> f64 {
        let radii = self.arms.iter().map(|arm| self.axis.cross(arm).norm());
        self.angle.abs() * radii.fold(0.0, f64::max)
    }

    /// The sum of the sizes of the vectors that places are sums of.
    fn size(&self) -> f64 {
        let arms = self.arms.iter().map(Vec3::norm).fold(0.0, f64::max);
        self.pivot.norm() + self.velocity.norm() + arms
    }

    /// The vertices at time t.
    fn at(&self, t: f64) -> Vec<Vec3> {
        let trig = RoundedTrig::of_product(self.angle, t).unwrap_or(RoundedTrig::ZERO);
        let centre = self.pivot + self.velocity * t;
        let place = |arm: &Vec3| {
            let once = self.axis.cross(arm);
            centre + (arm + once * trig.sine + self.axis.cross(&once) * trig.versine)
        };
        self.arms.iter().map(place).collect()
    }
}

impl FeatureFace {
    fn new(ring: &[u32], arms: &[Vec3]) -> Self {
        let to = |k: &u32| (arms[*k as usize] - arms[ring[0] as usize]).norm();
        Self { ring: ring.to_vec(), radius: ring.iter().map(to).fold(0.0, f64::max) }
    }
}

/// The vertices of both bodies at a time.
struct Moment {
    p: Vec<Vec3>,
    q: Vec<Vec3>,
}

struct FeatureSearch {
    p: FeatureBody,
    q: FeatureBody,
    /// How fast two points can come closer.
    speed: f64,
    /// How much a place may be off by.
    error: f64,
}

impl FeatureSearch {
    /// A coordinate of a place is a sum of products of at most four factors, each known to a few u:
    /// entries of the rotation, the axis, the sine and the arm. 128 u of the sizes that enter is
    /// more than all of these errors.
    fn new(p: FeatureBody, q: FeatureBody) -> Self {
        let speed = (p.velocity - q.velocity).norm() + p.turning_speed() + q.turning_speed();
        let error = gamma(128) * (p.size() + q.size());
        Self { p, q, speed: speed * (1.0 + gamma(64)) + error, error }
    }

    fn at(&self, t: f64) -> Moment {
        Moment { p: self.p.at(t), q: self.q.at(t) }
    }

    fn all(&self) -> Vec<Features> {
        fn numbers<T>(items: &[T]) -> impl Iterator<Item = u32> + Clone {
            0..items.len() as u32
        }
        let (p, q) = (&self.p, &self.q);
        let of_vertices = numbers(&p.arms)
            .flat_map(|i| numbers(&q.faces).map(move |j| Features::VertexFace(i, j)));
        let of_faces = numbers(&p.faces)
            .flat_map(|i| numbers(&q.arms).map(move |j| Features::FaceVertex(i, j)));
        let of_edges = numbers(&p.edges)
            .flat_map(|i| numbers(&q.edges).map(move |j| Features::EdgeEdge(i, j)));
        of_vertices.chain(of_faces).chain(of_edges).collect()
    }

    /// Looks at pieces of the step in the order of time, each with the pairs of features that are
    /// left in it.
    fn run(&self) -> Meeting {
        let mut first = None;
        let mut shortest = 0;
        let mut open = vec![(0.0, 1.0, self.all())];
        while let Some((from, to, mut pairs)) = open.pop() {
            let middle = 0.5 * (from + to);
            let now = self.at(middle);
            // Half the piece either way, and twice what places may be off by.
            let reach = 0.5 * (to - from) * self.speed * (1.0 + gamma(8)) + 2.0 * self.error;
            pairs.retain(|pair| !self.are_separated(*pair, &now, reach));
            if pairs.is_empty() {
                continue;
            }
            if to - from > PIECE {
                open.push((middle, to, pairs.clone()));
                open.push((from, middle, pairs));
                continue;
            }
            let not_before = *first.get_or_insert(from);
            // The bracket is a piece wider on both sides, for roots at its ends.
            let (before, after) = ((from - PIECE).max(0.0), (to + PIECE).min(1.0));
            let wide = 2.0 * PIECE * self.speed + 2.0 * self.error;
            let ends = [self.at(before), self.at(after)];
            if pairs.iter().any(|pair| self.surely_meet(*pair, &now, &ends, wide)) {
                return Meeting::Between(not_before, Some(after));
            }
            shortest += 1;
            if shortest >= SHORTEST_MAX {
                break;
            }
        }
        first.map_or(Meeting::Never, |first| Meeting::Between(first, None))
    }

    fn edges(&self, i: u32, j: u32, now: &Moment) -> [[Vec3; 2]; 2] {
        let of = |edge: [u32; 2], points: &[Vec3]| edge.map(|k| points[k as usize]);
        [of(self.p.edges[i as usize], &now.p), of(self.q.edges[j as usize], &now.q)]
    }

    /// A vertex, and the corners of a face in order.
    fn vertex_and_face(&self, features: Features, now: &Moment) -> Option<(Vec3, Vec<Vec3>)> {
        let ring = |face: &FeatureFace, points: &[Vec3]| {
            face.ring.iter().map(|k| points[*k as usize]).collect::<Vec<_>>()
        };
        match features {
            Features::VertexFace(i, j) => {
                Some((now.p[i as usize], ring(&self.q.faces[j as usize], &now.q)))
            }
            Features::FaceVertex(i, j) => {
                Some((now.q[j as usize], ring(&self.p.faces[i as usize], &now.p)))
            }
            Features::EdgeEdge(..) => None,
        }
    }

    /// Whether a plane has the features on its two sides with more than `reach` between them. Any
    /// vector may be tried as its normal, so it does not matter how well it is known.
    fn are_separated(&self, features: Features, now: &Moment, reach: f64) -> bool {
        if let Features::EdgeEdge(i, j) = features {
            let [[a, b], [c, d]] = self.edges(i, j, now);
            let (e, g, between) = (b - a, d - c, c - a);
            // Balls around the edges: twice what is between the middles, and the diameters.
            if (between + (d - b)).norm() > e.norm() + g.norm() + 2.0 * reach {
                return true;
            }
            let normal = e.cross(&g);
            let across = between - e * (between.dot(&e) / e.norm_squared());
            return [normal, g.cross(&normal), e.cross(&normal), across, e]
                .iter()
                .any(|s| are_separated_along(s, &[a, b], &[c, d], reach));
        }
        if self.ball_is_separated(features, now, reach) {
            return true;
        }
        let Some((vertex, face)) = self.vertex_and_face(features, now) else { return false };
        let normal = normal_of(&face);
        are_separated_along(&normal, &[vertex], &face, reach)
            || sides(&face)
                .any(|side| are_separated_along(&normal.cross(&side), &[vertex], &face, reach))
    }

    /// Whether a vertex is outside of a ball around a face, about its first corner.
    fn ball_is_separated(&self, features: Features, now: &Moment, reach: f64) -> bool {
        let outside = |vertex: &Vec3, face: &FeatureFace, points: &[Vec3]| {
            (vertex - points[face.ring[0] as usize]).norm() > face.radius + reach
        };
        match features {
            Features::VertexFace(i, j) => {
                outside(&now.p[i as usize], &self.q.faces[j as usize], &now.q)
            }
            Features::FaceVertex(i, j) => {
                outside(&now.q[j as usize], &self.p.faces[i as usize], &now.p)
            }
            Features::EdgeEdge(..) => false,
        }
    }

    /// Whether the features surely meet between two moments, `now` in the middle: they are in one
    /// plane at some time, as a volume changes its sign; and seen along the normal of now they lie
    /// across each other at any time, as no point moves more than `reach`.
    fn surely_meet(
        &self,
        features: Features,
        now: &Moment,
        ends: &[Moment; 2],
        reach: f64,
    ) -> bool {
        let inside = WELL_INSIDE * reach;
        let meets_plane = |volumes: [f64; 2]| volumes[0] * volumes[1] < 0.0;
        if let Features::EdgeEdge(i, j) = features {
            let [[a, b], [c, d]] = self.edges(i, j, now);
            let (e, g) = (b - a, d - c);
            let normal = e.cross(&g);
            let is_split = |along: &Vec3, from: &Vec3, ends: [&Vec3; 2]| {
                let s = along.cross(&normal).normalize();
                let [low, high] = ends.map(|end| s.dot(&(end - from)));
                low.min(high) < -inside && low.max(high) > inside
            };
            return normal.norm() > CROSSING_SINE * e.norm() * g.norm()
                && is_split(&g, &c, [&a, &b])
                && is_split(&e, &a, [&c, &d])
                && meets_plane([0, 1].map(|k| {
                    let [[a, b], [c, d]] = self.edges(i, j, &ends[k]);
                    self.volume(&(b - a), &(d - c), &(c - a))
                }));
        }
        let Some((vertex, face)) = self.vertex_and_face(features, now) else { return false };
        let normal = normal_of(&face);
        let is_inside = |(at, side): (usize, Vec3)| {
            normal.cross(&side).normalize().dot(&(vertex - face[at])) > inside
        };
        sides(&face).enumerate().all(is_inside)
            && meets_plane([0, 1].map(|k| {
                let at_end = self.vertex_and_face(features, &ends[k]);
                at_end.map_or(0.0, |(vertex, face)| {
                    let third = face.len() / 3;
                    let [a, b, c] = [face[0], face[third], face[2 * third]];
                    self.volume(&(b - a), &(c - a), &(vertex - a))
                })
            }))
    }

    /// `x·(y × z)`, or zero where its sign is not sure: each vector is off by at most twice what
    /// places are, and the products round by a few u, which places are off by at least.
    fn volume(&self, x: &Vec3, y: &Vec3, z: &Vec3) -> f64 {
        let volume = x.dot(&y.cross(z));
        let [x, y, z] = [x, y, z].map(|v| v.norm() + 2.0 * self.error);
        let off = 4.0 * self.error * (x * y + y * z + z * x);
        if volume.abs() > off { volume } else { 0.0 }
    }
}

/// Whether the points are separated along s, of any length, by more than `reach`.
fn are_separated_along(s: &Vec3, a: &[Vec3], b: &[Vec3], reach: f64) -> bool {
    let range = |points: &[Vec3]| {
        let heights = points.iter().map(|x| s.dot(&(x - a[0])));
        heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| (low.min(h), high.max(h)))
    };
    let ((low_a, high_a), (low_b, high_b)) = (range(a), range(b));
    // A zero s separates nothing. The heights round by a few u of the lengths, which the reach has
    // room for.
    (low_b - high_a).max(low_a - high_b) > reach * s.norm()
}

/// The vectors from each corner to the next.
fn sides(ring: &[Vec3]) -> impl Iterator<Item = Vec3> + '_ {
    (0..ring.len()).map(|k| ring[(k + 1) % ring.len()] - ring[k])
}

/// A normal that sees the ring turn left; its length is twice the area.
fn normal_of(ring: &[Vec3]) -> Vec3 {
    let [first, rest @ ..] = ring else { return Vec3::zeros() };
    rest.windows(2).map(|two| (two[0] - first).cross(&(two[1] - first))).sum()
}

#[cfg(test)]
mod tests;
