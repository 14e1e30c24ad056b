//! The judge of covers: exactly, from scratch.
//!
//! Where both bodies translate, the gap along a direction is linear in t, and looking at both ends
//! of an interval is looking at all of it; of bodies at rest there is one time. Bodies that turn,
//! or are to stay farther apart than that, are judged as convex ones are ([`super::motion`]). That
//! every pair of faces is covered needs no look: the steps walk down a tree whose leaves are all
//! pairs.

use super::direction::{LinkSweep, exact_direction, exact_direction_of_link};
use super::exact::{Exact, exact_point, pay_for_vertex, scalar_product};
use super::inside::is_inside;
use super::motion::is_free_on_course;
use super::refusal::Refusal;
use super::rounded::signed_compared;
use crate::claim::{Bodies, Cover, CoverStep, Frame, Link, Solid, SolidCourse, Solids, VISITS_MAX};
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::dyadic::Dyadic;

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
    let judge = CoverJudge::new(solids, shows, cover, payer)?;
    judge.walk(&cover.steps, payer, |_, _| Ok(()))?;
    judge.p.is_outside(&judge.q, "P", payer)?;
    judge.q.is_outside(&judge.p, "Q", payer)
}

/// Two bodies of which no two faces have inner points in common, and where they may touch.
pub(super) struct Touching<'a> {
    pub(super) p: CoverSide<'a>,
    pub(super) q: CoverSide<'a>,
    /// A triangle of P and one of Q: all pairs that share a point are listed, if one of the bodies
    /// is a region.
    pub(super) pairs: Vec<[u32; 2]>,
}

/// Along each direction of a cover, all at rest, what is left of one body is not beyond what is
/// left of the other. Triangles that touch reach the plane between.
pub(super) fn judge_touching<'a>(
    solids: &Solids<'a>,
    cover: &Cover,
    payer: &mut Payer<'_, '_>,
) -> Result<Touching<'a>, Refusal> {
    let shows = CoverShows::AtRest { least: Dyadic::zero(), more_than: None };
    let judge = CoverJudge::new(solids, &shows, cover, payer)?;
    let mut pairs = Vec::new();
    let is_beside_region = judge.p.region.is_some() || judge.q.region.is_some();
    judge.walk(&cover.steps, payer, |leaf, payer| {
        if !is_beside_region {
            return Ok(());
        }
        let [of_p, of_q] = judge.at_the_plane(leaf, payer)?;
        for &m in &of_p {
            payer.visit(of_q.len())?;
            let may_touch = |n: &u32| judge.p.meets_box(m, &judge.q, *n);
            pairs.extend(of_q.iter().filter(|n| may_touch(n)).map(|&n| [m, n]));
        }
        Ok(())
    })?;
    Ok(Touching { p: judge.p, q: judge.q, pairs })
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
    pub(super) fn visit(&mut self, count: usize) -> Result<(), Refusal> {
        self.effort.spend_step()?;
        self.visits += count as u64;
        if self.visits > VISITS_MAX { Err(Refusal::CoverTooLong) } else { Ok(()) }
    }
}

/// A body at t = 0.
pub(super) struct CoverSide<'a> {
    pub(super) points: Vec<Exact>,
    pub(super) triangles: Option<&'a [[u32; 3]]>,
    /// The triangles, if they bound a region.
    pub(super) region: Option<&'a [[u32; 3]]>,
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

    /// Whether the boxes around two triangles share a point, if both exist.
    fn meets_box(&self, own: u32, other: &Self, its: u32) -> bool {
        let corners = |side: &Self, triangle: u32| {
            side.triangles.map(|all| all[triangle as usize].map(|v| v as usize))
        };
        let (Some(own), Some(its)) = (corners(self, own), corners(other, its)) else {
            return false;
        };
        (0..3).all(|k| {
            let is_above = |x: &usize| its.iter().all(|y| self.points[*x][k] > other.points[*y][k]);
            let is_below = |x: &usize| its.iter().all(|y| self.points[*x][k] < other.points[*y][k]);
            !own.iter().all(is_above) && !own.iter().all(is_below)
        })
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
        for vertex in one_of_each(&parts_of(self.points.len(), own), own) {
            self.is_vertex_outside(vertex, other, name, payer)?;
        }
        Ok(())
    }

    /// Whether a vertex of this body is outside of the other one.
    pub(super) fn is_vertex_outside(
        &self,
        vertex: usize,
        other: &Self,
        name: &'static str,
        payer: &mut Payer<'_, '_>,
    ) -> Result<(), Refusal> {
        let is_outside = other.is_beyond(&self.points[vertex], payer)?;
        if is_outside { Ok(()) } else { Err(Refusal::Within(name)) }
    }

    /// Whether a point is certainly outside of the region that this body may be.
    pub(super) fn is_beyond(
        &self,
        point: &Exact,
        payer: &mut Payer<'_, '_>,
    ) -> Result<bool, Refusal> {
        let Some(triangles) = self.region else { return Ok(true) };
        payer.visit(self.points.len())?;
        let is_past_all = (0..3).any(|k| {
            self.points.iter().all(|q| q[k] < point[k])
                || self.points.iter().all(|q| q[k] > point[k])
        });
        if is_past_all {
            return Ok(true);
        }
        payer.visit(3 * triangles.len())?;
        let is_inside = is_inside(point, &self.points, triangles, payer.effort)?;
        Ok(is_inside == Some(false))
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

/// All that one step of a cover is about.
struct Leaf<'c> {
    groups: [Group; 2],
    chain: &'c [Link],
}

struct CoverJudge<'a, 'b> {
    pair: Bodies<'a>,
    shows: &'b CoverShows<'b>,
    p: CoverSide<'a>,
    q: CoverSide<'a>,
}

impl<'a, 'b> CoverJudge<'a, 'b> {
    fn new(
        solids: &Solids<'a>,
        shows: &'b CoverShows<'b>,
        cover: &Cover,
        payer: &mut Payer<'_, '_>,
    ) -> Result<Self, Refusal> {
        let pair = Bodies { p: solids.p.points, q: solids.q.points };
        let p = CoverSide::new(&solids.p, &cover.order_p, payer.effort)?;
        let q = CoverSide::new(&solids.q, &cover.order_q, payer.effort)?;
        Ok(Self { pair, shows, p, q })
    }

    /// Judges every step, and hands over each that separates.
    fn walk<'e>(
        &self,
        steps: &[CoverStep],
        payer: &mut Payer<'_, 'e>,
        mut take: impl FnMut(&Leaf<'_>, &mut Payer<'_, 'e>) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
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
                CoverStep::Apart(chain) => {
                    self.judge_apart(at, [m, n], chain, payer)?;
                    take(&Leaf { groups: [m, n], chain }, payer)?;
                }
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

    /// The triangles of both bodies that reach a plane that both groups of a leaf touch; none of
    /// groups that are apart, and of a hull, which has no triangles.
    fn at_the_plane(
        &self,
        leaf: &Leaf<'_>,
        payer: &mut Payer<'_, '_>,
    ) -> Result<[Vec<u32>; 2], Refusal> {
        let ([m, n], [link]) = (leaf.groups, leaf.chain) else { return Ok([vec![], vec![]]) };
        let s = exact_direction(&self.pair, &link.direction)?;
        let left = Left { judge: self, groups: [self.p.vertices(m), self.q.vertices(n)] };
        payer.visit(left.groups[0].len() + left.groups[1].len())?;
        if left.gap(&s, payer.effort)?.sign() != Sign::Zero {
            return Ok([vec![], vec![]]);
        }
        let height = |side: &CoverSide<'_>, v: u32| scalar_product(&s, &side.points[v as usize]);
        let plane = left.groups[0].iter().map(|&v| height(&self.p, v)).max();
        let reach = |side: &CoverSide<'_>, group: Group| -> Vec<u32> {
            let is_there = |v: u32| Some(height(side, v)) == plane;
            let members = side.order[group.first..group.first + group.count].iter().copied();
            let corners = |triangle: u32| side.triangles.map(|all| all[triangle as usize]);
            members
                .filter(|&triangle| {
                    corners(triangle).is_some_and(|abc| abc.map(is_there) != [false; 3])
                })
                .collect()
        };
        Ok([reach(&self.p, m), reach(&self.q, n)])
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

/// For each vertex of a mesh the least one of those that it is connected with.
pub(super) fn parts_of(vertex_count: usize, triangles: &[[u32; 3]]) -> Vec<usize> {
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
    (0..vertex_count).map(|v| root(v, None)).collect()
}

/// A vertex of each part that has a triangle, ascending.
pub(super) fn one_of_each(parts: &[usize], triangles: &[[u32; 3]]) -> Vec<usize> {
    let mut named: Vec<usize> =
        triangles.as_flattened().iter().map(|&v| parts[v as usize]).collect();
    named.sort_unstable();
    named.dedup();
    named
}
