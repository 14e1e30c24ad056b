//! The search for the first contact of two bodies that are separated at t = 0.
//!
//! Complete, by this argument. Look along w, the velocity of Q relative to P: on each line along w
//! the bodies are finitely many intervals, and the least gap, over all lines, from the end of an
//! interval of Q to the start of one of P is the time of first contact. Such ends lie on triangles
//! that w does not lie in: where all triangles at a point hold the direction w, the surface there
//! is invariant along w, and no interval ends. For one such triangle of each body, the gap is a
//! linear function on the polygon in which both are seen together, so it is least at a corner of
//! it: where a vertex of one is seen in the other, or where an edge of one is seen to cross an edge
//! of the other. Those are the pairs of faces whose flats in space-time meet in a single point;
//! pairs that are partly parallel are skipped (Joseph, Plantinga 1987, Lemmas 2 and 5).

use dashu_int::IBig;

use super::Faces;
use super::shear::{Shear, Sighting};
use crate::Vec3;
use crate::contact_time::travel::{Travel, relative};
use crate::effort::{Effort, Stopped};
use crate::number::interval::Interval;
use crate::number::ratio::Ratio;
use crate::number::scaled::{Integers, cross, difference, dot, is_zero, sign};
use crate::number::{Sign, outward};
use crate::polyhedron::placed::{Corner, Placed, Stand, Whose};
use crate::polyhedron::tree::{Extent, Node, NodeBoxes};

/// Where and when two faces meet.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    pub(super) time: Ratio,
    pub(super) faces: Faces,
    /// On an edge of P: how far from its first end, as a part of its length, rounded.
    pub(super) along_edge: f64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Sweep<'a, 'b> {
    placed: &'b mut Placed<'a, 'b>,
    shear: Shear<'b, 'a>,
    pace: Pace,
    /// A numerator over a denominator is a time times two to minus this.
    exponent: i64,
    best: Option<Meeting>,
    /// Contacts later than this are of no interest: at least the best time.
    until: f64,
}

/// The velocity of Q relative to P.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// Exactly: times two to this exponent.
    exact: Integers,
    exponent: i64,
    /// Between neighbouring f64 numbers, or exactly.
    low: Vec3,
    high: Vec3,
}

impl Pace {
    pub(crate) fn new(p: &Travel, q: &Travel) -> Self {
        let (exact, exponent) = relative([p, q]);
        let brackets =
            exact.each_ref().map(|x| Ratio::new(x.clone(), IBig::ONE, exponent).bracket());
        Self {
            exact,
            exponent,
            low: Vec3::from_fn(|k, _| brackets[k][0]),
            high: Vec3::from_fn(|k, _| brackets[k][1]),
        }
    }

    /// A component, enclosed.
    pub(super) fn component(&self, k: usize) -> Interval {
        Interval::new(self.low[k], self.high[k])
    }

    /// Each component within a unit in the last place, and zero just if it is zero.
    pub(super) fn rounded(&self) -> Vec3 {
        Vec3::from_fn(|k, _| outward::approximate(&self.exact[k], self.exponent))
    }

    /// The least time from 0 to `until` at which the boxes meet, rounded down; none if they never
    /// do.
    pub(crate) fn entry(&self, p: &Extent, q: &Extent, until: f64) -> Option<f64> {
        let (mut enter, mut leave) = (0.0_f64, until);
        for k in 0..3 {
            let (low, high) = (self.low[k], self.high[k]);
            let (ahead, behind) = (p.low[k] - q.high[k], p.high[k] - q.low[k]);
            if low > 0.0 {
                // Q's upper end has to come `ahead` up, and its lower end may go `behind` up.
                enter = enter.max(quotient_below(ahead, high));
                leave = leave.min(quotient_above(behind, low));
            } else if high < 0.0 {
                enter = enter.max(quotient_below(-behind, -low));
                leave = leave.min(quotient_above(-ahead, -high));
            } else if ahead > 0.0 || behind < 0.0 {
                return None;
            }
        }
        (enter <= leave).then_some(enter)
    }
}

/// At most `distance / speed` where that is positive, for a distance that was rounded once.
fn quotient_below(distance: f64, speed: f64) -> f64 {
    if distance > 0.0 { (distance.next_down() / speed).next_down() } else { 0.0 }
}

/// At least `distance / speed`, for a distance that was rounded once; negative if the distance is.
fn quotient_above(distance: f64, speed: f64) -> f64 {
    if distance >= 0.0 { (distance.next_up() / speed).next_up() } else { -1.0 }
}

impl<'a, 'b> Sweep<'a, 'b> {
    /// None if neither moves relative to the other.
    pub(super) fn new(placed: &'b mut Placed<'a, 'b>, pace: Pace, until: f64) -> Option<Self> {
        if is_zero(&pace.exact) {
            return None;
        }
        let shear = Shear::new(placed.p, placed.q, &pace.rounded());
        let exponent = placed.exact().exponent - pace.exponent;
        Some(Self { placed, shear, pace, exponent, best: None, until })
    }

    /// The first meeting of two faces not after the given time.
    pub(super) fn run(mut self, effort: &mut Effort<'_>) -> Result<Option<Meeting>, Stopped> {
        let (p, q): (&Stand<'a>, &Stand<'a>) = (self.placed.p, self.placed.q);
        let entry = |sweep: &Self, m: Node, n: Node| {
            sweep.pace.entry(&p.extent(m), &q.extent(n), sweep.until)
        };
        let roots = (p.body.tree().root(), q.body.tree().root());
        let mut open = vec![(0.0, roots.0, roots.1)];
        while let Some((from, m, n)) = open.pop() {
            if from > self.until {
                continue;
            }
            effort.spend_step()?;
            let pairs = match (m.children(), n.children()) {
                (None, None) => {
                    effort.cost.visited += 1;
                    let (m, n) = (p.body.tree().triangle(m), q.body.tree().triangle(n));
                    self.meet_triangles(m, n, effort);
                    continue;
                }
                (Some(halves), None) => halves.map(|half| (half, n)),
                (Some(halves), Some(_)) if m.count >= n.count => halves.map(|half| (half, n)),
                (_, Some(halves)) => halves.map(|half| (m, half)),
            };
            let [first, second] = pairs.map(|(m, n)| entry(&self, m, n).map(|t| (t, m, n)));
            // The earlier one is looked at first: it is pushed last.
            let in_order = match (&first, &second) {
                (Some(a), Some(b)) if a.0 < b.0 => [second, first],
                _ => [first, second],
            };
            open.extend(in_order.into_iter().flatten());
        }
        Ok(self.best)
    }

    /// The vertices and edges that two triangles own, against the other triangle and each other.
    fn meet_triangles(&mut self, m: u32, n: u32, effort: &mut Effort<'_>) {
        let (p, q) = (self.placed.p.body, self.placed.q.body);
        let of_p = p.triangle(m).map(|i| (Whose::P, i));
        let of_q = q.triangle(n).map(|i| (Whose::Q, i));
        let (own_p, own_q) = (p.owned(m), q.owned(n));
        for k in 0..3 {
            if own_p.vertices[k] {
                self.try_vertex(of_p[k], of_q, n, effort);
            }
            if own_q.vertices[k] {
                self.try_vertex(of_q[k], of_p, m, effort);
            }
            if !own_p.edges[k] {
                continue;
            }
            for l in (0..3).filter(|&l| own_q.edges[l]) {
                self.try_edges([of_p[k], of_p[(k + 1) % 3]], [of_q[l], of_q[(l + 1) % 3]], effort);
            }
        }
    }

    /// Whether a sighting may matter; NaN may.
    fn may_matter(&self, sighting: Sighting) -> bool {
        match sighting {
            Sighting::Never => false,
            Sighting::Perhaps([from, to]) => !(from > self.until || to < 0.0),
        }
    }

    fn try_vertex(&mut self, v: Corner, face: [Corner; 3], index: u32, effort: &mut Effort<'_>) {
        if !self.may_matter(self.shear.vertex_and_triangle(v, face)) {
            return;
        }
        effort.cost.exact_stages += 1;
        let [x, a, b, c] = self.exact([v, face[0], face[1], face[2]]);
        let w = &self.pace.exact;
        let weights = [[&b, &c], [&c, &a], [&a, &b]].map(|[u, v]| turn_along(w, &x, u, v));
        let Some(whole) = one_sign(&weights) else { return };
        let normal = cross(&difference(&b, &a), &difference(&c, &a));
        let rise = dot(&normal, &difference(&x, &a));
        let (rise, faces) = match v.0 {
            Whose::P => (rise, Faces::VertexAndTriangle { vertex: v.1, triangle: index }),
            Whose::Q => (-rise, Faces::TriangleAndVertex { triangle: index, vertex: v.1 }),
        };
        self.propose(rise, whole, faces, || 0.0);
    }

    fn try_edges(&mut self, of_p: [Corner; 2], of_q: [Corner; 2], effort: &mut Effort<'_>) {
        if !self.may_matter(self.shear.edges(of_p, of_q)) {
            return;
        }
        effort.cost.exact_stages += 1;
        let [a, b, c, d] = self.exact([of_p[0], of_p[1], of_q[0], of_q[1]]);
        let w = &self.pace.exact;
        let of_ends = [turn_along(w, &b, &c, &d), turn_along(w, &a, &d, &c)];
        let of_other = [turn_along(w, &d, &b, &a), turn_along(w, &c, &a, &b)];
        // Both sums are the velocity times the normal of both edges, up to sign.
        let Some(whole) = one_sign(&of_ends) else { return };
        if one_sign(&of_other).is_none() {
            return;
        }
        let normal = cross(&difference(&b, &a), &difference(&d, &c));
        let (rise, speed) = (dot(&normal, &difference(&a, &c)), dot(&normal, w));
        let faces = Faces::Edges { of_p: [of_p[0].1, of_p[1].1], of_q: [of_q[0].1, of_q[1].1] };
        let part = of_ends[1].clone();
        self.propose(rise, speed, faces, || {
            let (turned, whole) = whole.into_parts();
            outward::ratio(&(part * turned), &whole, 0)
        });
    }

    fn exact<const N: usize>(&mut self, corners: [Corner; N]) -> [Integers; N] {
        let exact = self.placed.exact();
        corners.map(|corner| exact.point(corner).clone())
    }

    /// Keeps the meeting at `rise / speed` if it is the first so far and not before the start.
    fn propose(&mut self, rise: IBig, speed: IBig, faces: Faces, along: impl FnOnce() -> f64) {
        let time = Ratio::new(rise, speed, self.exponent);
        let is_later = match &self.best {
            Some(best) => time.compare_with(&best.time).is_ge(),
            None => time.compare(self.until).is_gt(),
        };
        if time.sign() == Sign::Negative || is_later {
            return;
        }
        self.until = self.until.min(time.bracket()[1]);
        self.best = Some(Meeting { time, faces, along_edge: along() });
    }
}

/// `w · (u - x) x (v - x)`: how x, u, v turn seen along w.
fn turn_along(w: &Integers, x: &Integers, u: &Integers, v: &Integers) -> IBig {
    dot(w, &cross(&difference(u, x), &difference(v, x)))
}

/// The sum of numbers none of which is of the other sign than another; none if it is zero too.
fn one_sign(weights: &[IBig]) -> Option<IBig> {
    let signs = || weights.iter().map(sign);
    let is_mixed = signs().any(|s| s == Sign::Positive) && signs().any(|s| s == Sign::Negative);
    let whole: IBig = weights.iter().sum();
    (!is_mixed && whole != IBig::ZERO).then_some(whole)
}
