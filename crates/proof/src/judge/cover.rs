//! The judge of covers: exactly, from scratch.
//!
//! Where both bodies translate, the gap along a direction is linear in t, and looking at both ends
//! of an interval is looking at all of it; of bodies at rest there is one time. Bodies that turn,
//! or are to stay farther apart than that, are judged as convex ones are ([`super::motion`]). That
//! every pair of faces is covered needs no look: the steps walk down a tree whose leaves are all
//! pairs.

use super::direction::{LinkSweep, exact_direction, exact_direction_of_link};
use super::exact::{Exact, exact_point, minus, pay_for_vertex, scalar_product, vector_product};
use super::motion::is_free_on_course;
use super::refusal::Refusal;
use super::rounded::signed_compared;
use crate::claim::{Bodies, Cover, CoverStep, Frame, Link, Solid, SolidCourse, Solids, VISITS_MAX};
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::dyadic::Dyadic;
use crate::number::interval::{self, IntervalVec};

/// The time that a cover is about.
pub(super) struct Span {
    /// The travel of Q relative to P over the step, exactly.
    pub(super) travel: Exact,
    /// The time is from 0 to this.
    pub(super) until: f64,
    /// Whether the bodies may touch at the end.
    pub(super) may_touch_at_end: bool,
}

/// What a cover shows of all pairs of faces.
pub(super) enum CoverShows<'a> {
    /// They do not meet on a way.
    OnTheWay(Span),
    /// At rest they are at least so far apart, and farther than that.
    AtRest {
        /// Metres.
        least: Dyadic,
        /// Metres.
        more_than: Option<Dyadic>,
    },
    /// On a course they are free from t = 0 to this.
    OnCourse(&'a SolidCourse<'a>, f64),
}

/// No faces meet throughout, and neither body is within the other.
pub(super) fn judge_cover(
    solids: &Solids<'_>,
    shows: &CoverShows<'_>,
    cover: &Cover,
    payer: &mut Payer<'_, '_>,
) -> Result<(), Refusal> {
    let judge = CoverJudge {
        pair: Bodies { p: solids.p.points, q: solids.q.points },
        shows,
        p: CoverSide::new(&solids.p, &cover.order_p, payer.effort)?,
        q: CoverSide::new(&solids.q, &cover.order_q, payer.effort)?,
    };
    judge.walk(&cover.steps, payer)?;
    judge.p.is_outside(&judge.q, "P", payer)?;
    judge.q.is_outside(&judge.p, "Q", payer)
}

/// Who pays for looking at vertices, in all covers of a certificate: numbers of many digits take
/// ten times as long as most, so it is not enough to count.
pub(super) struct Payer<'a, 'b> {
    visits: u64,
    pub(super) effort: &'a mut Effort<'b>,
}

impl<'a, 'b> Payer<'a, 'b> {
    pub(super) fn new(effort: &'a mut Effort<'b>) -> Self {
        Self { visits: 0, effort }
    }

    /// For one look at so many.
    fn visit(&mut self, count: usize) -> Result<(), Refusal> {
        self.effort.spend_step()?;
        self.visits += count as u64;
        if self.visits > VISITS_MAX { Err(Refusal::CoverTooLong) } else { Ok(()) }
    }
}

/// A body at t = 0.
struct CoverSide<'a> {
    points: Vec<Exact>,
    triangles: Option<&'a [[u32; 3]]>,
    /// The triangles, if they bound a region.
    region: Option<&'a [[u32; 3]]>,
    /// The triangles in the order in which they are halved.
    order: Vec<u32>,
}

/// Neighbours in the order of the triangles of a body; all of a hull, which has none.
#[derive(Clone, Copy)]
struct Group {
    first: usize,
    count: usize,
}

impl Group {
    /// The halves, if there is more than one triangle.
    fn halves(self) -> Option<[Self; 2]> {
        let half = self.count / 2;
        (half > 0).then_some([
            Self { first: self.first, count: half },
            Self { first: self.first + half, count: self.count - half },
        ])
    }
}

impl<'a> CoverSide<'a> {
    fn new(solid: &Solid<'a>, order: &[u32], effort: &mut Effort<'_>) -> Result<Self, Refusal> {
        let count = solid.triangles().map_or(0, <[_]>::len);
        let mut order = order.to_vec();
        if order.is_empty() {
            order.extend((0..).take(count));
        }
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq((0..).take(count)) {
            return Err(Refusal::CoverGap(0));
        }
        let (triangles, region) = (solid.triangles(), solid.region());
        Ok(Self { points: exact_points(solid, effort)?, triangles, region, order })
    }

    fn all(&self) -> Group {
        Group { first: 0, count: self.order.len() }
    }

    /// The vertices of a group, each once.
    fn vertices(&self, group: Group) -> Vec<u32> {
        let Some(triangles) = self.triangles else {
            return (0..).take(self.points.len()).collect();
        };
        let members = &self.order[group.first..group.first + group.count];
        let mut vertices: Vec<u32> =
            members.iter().flat_map(|&triangle| triangles[triangle as usize]).collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }

    /// Whether no part of this body's surface is inside the region that the other one may be, if
    /// the surfaces do not meet: then a part that is connected is all inside or all outside.
    fn is_outside(
        &self,
        other: &Self,
        name: &'static str,
        payer: &mut Payer<'_, '_>,
    ) -> Result<(), Refusal> {
        if other.region.is_none() {
            return Ok(());
        }
        let Some(own) = self.triangles else {
            // A hull within a region: one vertex tells.
            return self.is_vertex_outside(0, other, name, payer);
        };
        for vertex in one_of_each_part(self.points.len(), own) {
            self.is_vertex_outside(vertex, other, name, payer)?;
        }
        Ok(())
    }

    /// Whether a vertex of this body is outside of the other one.
    fn is_vertex_outside(
        &self,
        vertex: usize,
        other: &Self,
        name: &'static str,
        payer: &mut Payer<'_, '_>,
    ) -> Result<(), Refusal> {
        let Some(triangles) = other.region else { return Ok(()) };
        payer.visit(other.points.len())?;
        let point = &self.points[vertex];
        let is_beyond = (0..3).any(|k| {
            other.points.iter().all(|q| q[k] < point[k])
                || other.points.iter().all(|q| q[k] > point[k])
        });
        if is_beyond {
            return Ok(());
        }
        payer.visit(3 * triangles.len())?;
        match is_inside(point, &other.points, triangles, payer.effort)? {
            Some(false) => Ok(()),
            Some(true) | None => Err(Refusal::Within(name)),
        }
    }
}

/// All points of a body in the world.
pub(super) fn exact_points(
    solid: &Solid<'_>,
    effort: &mut Effort<'_>,
) -> Result<Vec<Exact>, Stopped> {
    let point = |v| pay_for_vertex(v, effort).map(|()| exact_point(&solid.points, v));
    (0..).take(solid.points.points.len()).map(point).collect()
}

struct CoverJudge<'a, 'b> {
    pair: Bodies<'a>,
    shows: &'b CoverShows<'b>,
    p: CoverSide<'a>,
    q: CoverSide<'a>,
}

impl CoverJudge<'_, '_> {
    fn walk(&self, steps: &[CoverStep], payer: &mut Payer<'_, '_>) -> Result<(), Refusal> {
        let mut open = vec![(self.p.all(), self.q.all())];
        for (at, step) in steps.iter().enumerate() {
            let (m, n) = open.pop().ok_or(Refusal::CoverGap(at))?;
            match step {
                CoverStep::SplitP => {
                    let [first, second] = m.halves().ok_or(Refusal::CoverGap(at))?;
                    open.extend([(second, n), (first, n)]);
                }
                CoverStep::SplitQ => {
                    let [first, second] = n.halves().ok_or(Refusal::CoverGap(at))?;
                    open.extend([(m, second), (m, first)]);
                }
                CoverStep::Apart(chain) => self.judge_apart(at, [m, n], chain, payer)?,
            }
        }
        if open.is_empty() { Ok(()) } else { Err(Refusal::CoverGap(steps.len())) }
    }

    fn judge_apart(
        &self,
        at: usize,
        [m, n]: [Group; 2],
        chain: &[Link],
        payer: &mut Payer<'_, '_>,
    ) -> Result<(), Refusal> {
        let left = Left { judge: self, groups: [self.p.vertices(m), self.q.vertices(n)] };
        for _ in chain {
            payer.visit(left.groups[0].len() + left.groups[1].len())?;
        }
        let is_apart = match self.shows {
            CoverShows::OnTheWay(span) => left.is_free(span, chain, payer.effort)?,
            CoverShows::AtRest { least, more_than } => {
                left.is_beyond(least, more_than.as_ref(), chain, payer.effort)?
            }
            CoverShows::OnCourse(course, until) => {
                is_free_on_course(course, &left.groups, *until, chain, payer.effort)?
            }
        };
        if is_apart { Ok(()) } else { Err(Refusal::CoverFails(at)) }
    }
}

/// What is left of both bodies.
struct Left<'a, 'b> {
    judge: &'b CoverJudge<'a, 'b>,
    /// Vertices of P and of Q, ascending.
    groups: [Vec<u32>; 2],
}

impl Left<'_, '_> {
    /// Whether joined links separate it all the time.
    fn is_free(
        &self,
        span: &Span,
        chain: &[Link],
        effort: &mut Effort<'_>,
    ) -> Result<bool, Refusal> {
        let mut covered = 0.0;
        for (place, link) in chain.iter().enumerate() {
            let is_last = place + 1 == chain.len();
            let joins = 0.0 <= link.t0 && link.t0 <= covered && link.t0 <= link.t1;
            if !joins || link.t1 > 1.0 || link.frame != Frame::World {
                return Ok(false);
            }
            covered = link.t1.max(covered);
            if !self.separates(span, link, is_last, effort)? {
                return Ok(false);
            }
        }
        Ok(!chain.is_empty() && covered >= span.until)
    }

    /// Whether one link of bodies at rest keeps it at least so far apart, and farther than that.
    fn is_beyond(
        &self,
        least: &Dyadic,
        more_than: Option<&Dyadic>,
        chain: &[Link],
        effort: &mut Effort<'_>,
    ) -> Result<bool, Refusal> {
        let [link] = chain else { return Ok(false) };
        if !is_at_rest(link) {
            return Ok(false);
        }
        let s = exact_direction(&self.judge.pair, &link.direction)?;
        let gap = self.gap(&s, effort)?;
        let is_more = |most: &Dyadic| signed_compared(&gap, &s, most).is_gt();
        Ok(signed_compared(&gap, &s, least).is_ge() && more_than.is_none_or(is_more))
    }

    /// Least height of Q's vertices along s less the greatest of P's, at t = 0.
    fn gap(&self, s: &Exact, effort: &mut Effort<'_>) -> Result<Dyadic, Refusal> {
        let mut heights = |points: &[Exact], group: &[u32]| -> Result<Vec<Dyadic>, Stopped> {
            let height = |(at, v): (u32, &u32)| {
                pay_for_vertex(at, effort).map(|()| scalar_product(s, &points[*v as usize]))
            };
            (0..).zip(group).map(height).collect()
        };
        let [m, n] = &self.groups;
        let least = heights(&self.judge.q.points, n)?.into_iter().min();
        let greatest = heights(&self.judge.p.points, m)?.into_iter().max();
        match (least, greatest) {
            (Some(least), Some(greatest)) => Ok(&least - &greatest),
            _ => Err(Refusal::NoSuchPart),
        }
    }

    fn separates(
        &self,
        span: &Span,
        link: &Link,
        is_last: bool,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Refusal> {
        let travel = &span.travel;
        let sweep = LinkSweep { travel, during: [link.t0, link.t1] };
        let s = exact_direction_of_link(&self.judge.pair, &link.direction, Some(sweep))?;
        let (gap, rate) = (self.gap(&s, effort)?, scalar_product(&s, travel));
        let at = |t: f64| (&gap + &(&rate * &Dyadic::from(t))).sign();
        let may_touch = span.may_touch_at_end && is_last && link.t0 < link.t1;
        let end = at(link.t1);
        Ok(at(link.t0) == Sign::Positive
            && (end == Sign::Positive || (may_touch && end == Sign::Zero)))
    }
}

/// Whether a link is one of bodies at rest.
fn is_at_rest(link: &Link) -> bool {
    link.t0.abs() <= 0.0 && link.t1.abs() <= 0.0 && link.frame == Frame::World
}

/// A vertex of each part of a mesh that is connected.
fn one_of_each_part(vertex_count: usize, triangles: &[[u32; 3]]) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..vertex_count).collect();
    // Paths are halved on the way (Tarjan, van Leeuwen 1984); each step leads to a lower vertex.
    let mut root = |mut v: usize, join: Option<usize>| {
        while parent[v] != v {
            parent[v] = parent[parent[v]];
            v = parent[v];
        }
        if let Some(lower) = join {
            parent[v] = lower;
        }
        v
    };
    for corners in triangles {
        let roots = corners.map(|v| root(v as usize, None));
        let least = roots.into_iter().min().unwrap_or(0);
        for top in roots {
            root(top, Some(least));
        }
    }
    let mut named: Vec<usize> =
        triangles.as_flattened().iter().map(|&v| root(v as usize, None)).collect();
    named.sort_unstable();
    named.dedup();
    named
}

/// Directions of rays, tried in this order until one meets no edge.
const RAYS: [[i32; 3]; 8] = [
    [97, 13, 29],
    [11, -89, 31],
    [-17, 23, 101],
    [-83, -41, 7],
    [43, 79, -19],
    [3, 37, -73],
    [-59, 61, 67],
    [71, -53, -47],
];

/// Whether a point is strictly inside a closed surface: a ray from it crosses the surface an odd
/// number of times. None if it is on the surface, or every ray meets an edge.
pub(super) fn is_inside(
    point: &Exact,
    corners: &[Exact],
    triangles: &[[u32; 3]],
    effort: &mut Effort<'_>,
) -> Result<Option<bool>, Stopped> {
    is_inside_beside(std::slice::from_ref(point), corners, triangles, effort)
}

/// Answers that question about a point next to the first of some points, beside the way from there
/// to the second one, and beside that towards the third: about `x(ε) = a + ε (b - a) + ε² (c - a)`
/// for every ε > 0 that is small enough.
///
/// Every sign that is asked for is that of a function f of x, affine in x, so it is that of f(a),
/// or where that is 0 of f(b), or where both are 0 of f(c).
pub(super) fn is_inside_beside(
    points: &[Exact],
    corners: &[Exact],
    triangles: &[[u32; 3]],
    effort: &mut Effort<'_>,
) -> Result<Option<bool>, Stopped> {
    let seen = |(v, corner)| {
        let from = |point: &Exact| SeenAlong::from(minus(corner, point));
        pay_for_vertex(v, effort).map(|()| points.iter().map(from).collect())
    };
    let corners: Vec<Vec<SeenAlong>> = (0..).zip(corners).map(seen).collect::<Result<_, _>>()?;
    for ray in &RAYS {
        let is_inside = is_crossed_oddly(ray, &corners, triangles, effort)?;
        if is_inside.is_some() {
            return Ok(is_inside);
        }
    }
    Ok(None)
}

/// Triangles that a ray looks at in one step.
const TRIANGLES_PER_STEP: usize = 1 << 10;

/// A corner seen from the point: exactly, and enclosed in f64 intervals, which nearly always tell a
/// sign.
struct SeenAlong {
    exact: Exact,
    enclosed: IntervalVec,
}

impl From<Exact> for SeenAlong {
    fn from(exact: Exact) -> Self {
        Self { enclosed: exact.each_ref().map(Dyadic::enclosed), exact }
    }
}

/// The sign of `a · (b x c)`.
fn volume([a, b, c]: [&SeenAlong; 3]) -> Sign {
    let enclosed = interval::dot(&a.enclosed, &interval::cross(&b.enclosed, &c.enclosed));
    enclosed
        .sign()
        .unwrap_or_else(|| scalar_product(&a.exact, &vector_product(&b.exact, &c.exact)).sign())
}

/// The first of the signs that is not zero.
fn first_sign(mut signs: impl Iterator<Item = Sign>) -> Sign {
    signs.find(|sign| *sign != Sign::Zero).unwrap_or(Sign::Zero)
}

fn is_crossed_oddly(
    ray: &[i32; 3],
    corners: &[Vec<SeenAlong>],
    triangles: &[[u32; 3]],
    effort: &mut Effort<'_>,
) -> Result<Option<bool>, Stopped> {
    let ray = SeenAlong::from(ray.map(|x| Dyadic::from(f64::from(x))));
    let mut is_odd = false;
    for (at, triangle) in triangles.iter().enumerate() {
        if at % TRIANGLES_PER_STEP == 0 {
            effort.spend_step()?;
        }
        let [a, b, c] = triangle.map(|v| &corners[v as usize]);
        let along_ray = |u: &SeenAlong, v: &SeenAlong| volume([&ray, u, v]);
        let turns = [[a, b], [b, c], [c, a]]
            .map(|[u, v]| first_sign(u.iter().zip(v).map(|(u, v)| along_ray(u, v))));
        let has = |sign: Sign| turns.contains(&sign);
        if has(Sign::Positive) && has(Sign::Negative) {
            continue;
        }
        // SeenAlong along the ray the point is on an edge's line, or in the triangle's plane.
        let ahead = first_sign(a.iter().zip(b).zip(c).map(|((a, b), c)| volume([a, b, c])));
        if has(Sign::Zero) || ahead == Sign::Zero {
            return Ok(None);
        }
        // The plane is met ahead if the determinants agree.
        is_odd ^= ahead == turns[0];
    }
    Ok(Some(is_odd))
}
