//! The boundary of the hull of points that span space, as a triangulated surface.
//!
//! Source: C. B. Barber, D. P. Dobkin, H. Huhdanpaa, *The quickhull algorithm for convex hulls*,
//! ACM TOMS 22 (1996), 469-483, here with exact predicates instead of merged facets.
//!
//! A facet is *visible* from a point strictly above its plane, as decided exactly. That gives:
//!
//! - every triangle is proper: a horizon edge has a visible facet on one side, so the new point is
//!   not in that facet's plane and hence not on the edge's line;
//! - the surface is always exactly the boundary of the hull of the points added so far, though
//!   neighbouring triangles may be coplanar and corners may lie inside a facet or an edge of the
//!   hull (`merge` removes those);
//! - the visible triangles form a disc: a projective map that sends the point to infinity turns
//!   them into the strictly upper part of a polytope, which projects one to one onto a convex
//!   polygon. So the horizon is one cycle through distinct corners;
//! - a point outside that loses its visible facet sees one of the new ones or is inside: if it
//!   still sees an old facet, some horizon edge lies between the two within what it sees, and it is
//!   above both facets at that edge, hence above the new facet, whose plane passes between theirs.
//!
//! So each point outside needs to be listed with one facet only, and the surface is right at the
//! end whatever order the points are taken in.

use std::collections::VecDeque;

use super::index_of;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::orientation::{Plane, Side, exact_side_of_plane};

/// Looks at a point from a facet that make a step: well below a millisecond, or some where exact
/// arithmetic has to decide all of them.
const LOOKS_PER_STEP: usize = 1 << 14;

/// No triangle, no point.
const NONE: u32 = u32::MAX;

/// A triangle of the finished surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triangle {
    /// Point indices, counter-clockwise from outside.
    pub(super) corners: [u32; 3],
    /// `across[k]` is the triangle beyond the edge from `corners[k]` to the next corner.
    pub(super) across: [u32; 3],
    /// The plane through the corners.
    pub(super) plane: Plane,
}

/// A triangle of the growing surface.
#[derive(Clone, Debug)]
struct Facet {
    triangle: Triangle,
    /// The first of the points listed as outside of this facet; the others follow in
    /// `Builder::next`.
    outside: u32,
    /// The listed point with the largest rounded height.
    farthest: u32,
    /// The last point whose view of the facet was decided, and whether it sees it.
    seen_by: (u32, bool),
    alive: bool,
    /// Whether the slot is in the queue, for this facet or for one that had it before: so the queue
    /// is never longer than there are slots.
    queued: bool,
}

/// A facet that was just made, while points are being listed with it: what that needs, side by
/// side.
#[derive(Clone, Copy, Debug)]
struct Fresh {
    index: u32,
    corners: [u32; 3],
    plane: Plane,
    outside: u32,
    farthest: u32,
    height: f64,
}

/// A directed edge with an unseen triangle beyond it; the new triangle will lie along it.
#[derive(Clone, Copy, Debug)]
struct HorizonEdge {
    from: u32,
    to: u32,
    beyond: u32,
}

struct Builder<'a, 'b> {
    points: &'a [Vec3],
    effort: &'a mut Effort<'b>,
    /// Since the last step.
    looks: usize,
    facets: Vec<Facet>,
    /// Facet slots that can be used again.
    free: Vec<u32>,
    /// For each point in a facet's list, the next one.
    next: Vec<u32>,
    /// For each corner on the current horizon, the new facet whose base starts there.
    facet_from: Vec<u32>,
    /// Facets that had points outside when they were made.
    waiting: VecDeque<u32>,
    /// Room for the sets of one step.
    visible: Vec<u32>,
    horizon: Vec<HorizonEdge>,
    fresh: Vec<Fresh>,
}

/// The surface of the hull. `basis` names four affinely independent points; points are distinct.
pub(super) fn surface(
    points: &[Vec3],
    basis: [u32; 4],
    effort: &mut Effort<'_>,
) -> Result<Vec<Triangle>, Stopped> {
    let mut builder = Builder::new(points, basis, effort)?;
    while let Some(index) = builder.waiting.pop_front() {
        // The slot may have been given up, or used again, since the facet was queued.
        let facet = &mut builder.facets[index as usize];
        facet.queued = false;
        if facet.alive && facet.outside != NONE {
            let apex = facet.farthest;
            builder.add(apex, index)?;
        }
    }
    Ok(builder.finish())
}

impl<'a, 'b> Builder<'a, 'b> {
    fn new(
        points: &'a [Vec3],
        [a, b, c, d]: [u32; 4],
        effort: &'a mut Effort<'b>,
    ) -> Result<Self, Stopped> {
        let mut builder = Self {
            points,
            effort,
            looks: 0,
            facets: Vec::new(),
            free: Vec::new(),
            next: vec![NONE; points.len()],
            facet_from: vec![NONE; points.len()],
            waiting: VecDeque::new(),
            visible: Vec::new(),
            horizon: Vec::new(),
            fresh: Vec::new(),
        };
        let [pa, pb, pc, pd] = [a, b, c, d].map(|i| &points[i as usize]);
        // So that d is below the plane of the base.
        let (b, c) = match exact_side_of_plane(pa, pb, pc, pd) {
            Side::Above => (c, b),
            Side::Below | Side::On => (b, c),
        };
        // Facet k lies opposite d, c, a, b; edges in the order of the corners.
        for (corners, across) in [
            ([a, b, c], [1, 2, 3]),
            ([a, d, b], [3, 2, 0]),
            ([b, d, c], [1, 3, 0]),
            ([c, d, a], [2, 1, 0]),
        ] {
            builder.insert(corners, across);
        }
        for point in 0..index_of(points.len()) {
            if ![a, b, c, d].contains(&point) {
                builder.pay()?;
                builder.place(point);
            }
        }
        builder.settle_fresh();
        Ok(builder)
    }

    /// For the look at a point from all fresh facets, which is what nearly all of the time goes
    /// into.
    #[inline]
    fn pay(&mut self) -> Result<(), Stopped> {
        self.looks += self.fresh.len();
        if self.looks < LOOKS_PER_STEP {
            return Ok(());
        }
        self.looks = 0;
        self.effort.spend_step()
    }

    /// Adds the point `apex`, which sees facet `first`, to the hull.
    fn add(&mut self, apex: u32, first: u32) -> Result<(), Stopped> {
        self.find_horizon(apex, first);
        self.raise_cone(apex);
        self.pay()?;
        let visible = std::mem::take(&mut self.visible);
        for &index in &visible {
            let mut point = self.facets[index as usize].outside;
            while point != NONE {
                let next = self.next[point as usize];
                if point != apex {
                    self.pay()?;
                    self.place(point);
                }
                point = next;
            }
            self.facets[index as usize].alive = false;
            self.free.push(index);
        }
        self.visible = visible;
        self.settle_fresh();
        Ok(())
    }

    /// Fills `visible` with all facets that `apex` sees and `horizon` with the edges around them.
    fn find_horizon(&mut self, apex: u32, first: u32) {
        self.visible.clear();
        self.horizon.clear();
        self.facets[first as usize].seen_by = (apex, true);
        self.visible.push(first);
        let mut done = 0;
        while let Some(&index) = self.visible.get(done) {
            done += 1;
            let Triangle { corners, across, .. } = self.facets[index as usize].triangle;
            for (k, beyond) in across.into_iter().enumerate() {
                let (seen, is_new) = self.sees(apex, beyond);
                if !seen {
                    let (from, to) = (corners[k], corners[(k + 1) % 3]);
                    self.horizon.push(HorizonEdge { from, to, beyond });
                } else if is_new {
                    self.visible.push(beyond);
                }
            }
        }
    }

    /// Whether the point is strictly above the facet, and whether that was found out just now.
    fn sees(&mut self, point: u32, index: u32) -> (bool, bool) {
        let facet = &self.facets[index as usize];
        if facet.seen_by.0 == point {
            return (facet.seen_by.1, false);
        }
        let Triangle { corners, plane, .. } = &facet.triangle;
        let seen = height_above(self.points, corners, plane, point).is_some();
        self.facets[index as usize].seen_by = (point, seen);
        (seen, true)
    }

    /// Makes a new facet on every horizon edge and links them to each other and to the rest.
    fn raise_cone(&mut self, apex: u32) {
        self.fresh.clear();
        let horizon = std::mem::take(&mut self.horizon);
        for &HorizonEdge { from, to, beyond } in &horizon {
            let index = self.insert([from, to, apex], [beyond, NONE, NONE]);
            self.facet_from[from as usize] = index;
            let beyond = &mut self.facets[beyond as usize].triangle;
            let side = beyond.corners.iter().position(|&corner| corner == to);
            beyond.across[side.expect("the facets beyond and before share the edge")] = index;
        }
        self.horizon = horizon;
        for &Fresh { index, corners: [_, to, _], .. } in &self.fresh {
            let following = self.facet_from[to as usize];
            self.facets[index as usize].triangle.across[1] = following;
            self.facets[following as usize].triangle.across[2] = index;
        }
    }

    /// Makes a facet and counts it among the fresh ones.
    fn insert(&mut self, corners: [u32; 3], across: [u32; 3]) -> u32 {
        let [a, b, c] = corners.map(|corner| &self.points[corner as usize]);
        let plane = Plane::through(a, b, c);
        let facet = Facet {
            triangle: Triangle { corners, across, plane },
            outside: NONE,
            farthest: NONE,
            seen_by: (NONE, false),
            alive: true,
            queued: false,
        };
        let index = if let Some(index) = self.free.pop() {
            let slot = &mut self.facets[index as usize];
            *slot = Facet { queued: slot.queued, ..facet };
            index
        } else {
            self.facets.push(facet);
            index_of(self.facets.len() - 1)
        };
        let (outside, farthest, height) = (NONE, NONE, f64::NEG_INFINITY);
        self.fresh.push(Fresh { index, corners, plane, outside, farthest, height });
        index
    }

    /// Lists the point with the first new facet that it sees. One that sees none is inside.
    #[inline]
    fn place(&mut self, point: u32) {
        for fresh in &mut self.fresh {
            if let Some(height) = height_above(self.points, &fresh.corners, &fresh.plane, point) {
                self.next[point as usize] = fresh.outside;
                fresh.outside = point;
                // The first is taken whatever its height: beyond overflow that may be a NaN.
                if fresh.farthest == NONE || height > fresh.height {
                    (fresh.farthest, fresh.height) = (point, height);
                }
                return;
            }
        }
    }

    /// Gives the fresh facets their lists, and queues those that have any.
    fn settle_fresh(&mut self) {
        for fresh in &self.fresh {
            if fresh.outside != NONE {
                let facet = &mut self.facets[fresh.index as usize];
                (facet.outside, facet.farthest) = (fresh.outside, fresh.farthest);
                if !std::mem::replace(&mut facet.queued, true) {
                    self.waiting.push_back(fresh.index);
                }
            }
        }
    }

    /// The living triangles, numbered anew without gaps.
    fn finish(self) -> Vec<Triangle> {
        let mut number = vec![NONE; self.facets.len()];
        let mut count = 0;
        for (slot, facet) in number.iter_mut().zip(&self.facets) {
            if facet.alive {
                *slot = count;
                count += 1;
            }
        }
        let alive = self.facets.iter().filter(|facet| facet.alive);
        alive
            .map(|Facet { triangle, .. }| Triangle {
                across: triangle.across.map(|index| number[index as usize]),
                ..*triangle
            })
            .collect()
    }
}

/// The rounded height of a point strictly above the plane of the corners; none for any other point.
#[inline]
fn height_above(points: &[Vec3], corners: &[u32; 3], plane: &Plane, point: u32) -> Option<f64> {
    let p = &points[point as usize];
    let (value, error) = plane.value(p);
    if value > error {
        return Some(value);
    }
    if value < -error {
        return None;
    }
    let [a, b, c] = corners.map(|corner| &points[corner as usize]);
    (exact_side_of_plane(a, b, c, p) == Side::Above).then_some(value)
}
