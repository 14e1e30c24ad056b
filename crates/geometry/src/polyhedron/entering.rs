//! Whether a surface has points inside a region that none of its triangles crosses. Exact.
//!
//! Let no triangle T of the surface cross one of the region's (inner points of both are one, and
//! their planes are not). A piece of T inside the region either ends, within T, at a line: there an
//! edge of the region lies in T, and the region is on one of T's sides of it (`reaches_within`). Or
//! it is all of T but for single points, and then it is next to T's first corner and first edge,
//! too: a ray tells, unless a triangle that lies in T's plane covers that place. T may be a
//! segment: then its pieces end where it comes to planes and edges of triangles that it meets, and
//! the middle of each is asked about.
//!
//! A triangle that meets none of the region's is all inside or all outside, and so is what it
//! shares a vertex with, up to a triangle that meets one: so of a part of the surface that meets
//! nothing one vertex is asked about, and of other parts only the triangles that meet something.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use dashu_int::IBig;

use super::interiors::reaches_within;
use super::meeting::{Facing, Sight, seen_flat, sides_of};
use super::mesh::Polyhedron;
use super::placed::{Corner, Exact, Stand, Whose, slack};
use super::ray::{Start, around, crosses_odd};
use super::surface::TriangleSurface;
use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::orientation::{Side, Turn};
use crate::number::scaled::{Integers, cross, difference, dot, sign};
use crate::pose::Pose;

/// Where a surface is inside a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceEntry {
    /// A triangle of the surface.
    pub triangle: u32,
    /// A place in it.
    pub(crate) place: EntryPlace,
}

impl SurfaceEntry {
    /// At a triangle that is a single point.
    pub(crate) fn at_point(triangle: u32) -> Self {
        Self { triangle, place: EntryPlace::Corner(0) }
    }
}

/// A place in a triangle of the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum EntryPlace {
    /// A corner, by its place among the three.
    Corner(usize),
    /// Next to the first corner and the first edge.
    FirstCorner,
    /// Beside an edge of the region, on the side of a corner.
    Beside {
        /// Its ends, vertices of the region.
        edge: [u32; 2],
        /// The place of the corner among the three.
        towards: usize,
    },
    /// Of a degenerate triangle: at this part of the way from its first to its last corner.
    Along(f64),
}

/// A surface and a region where they are.
pub(crate) struct Entering<'a> {
    surface: &'a TriangleSurface,
    surface_is: Whose,
    /// The vertices of the surface, rounded, and how far a coordinate may be off.
    points: Vec<Vec3>,
    slack: f64,
    region: Stand<'a>,
    region_is: Whose,
    exact: Exact<'a>,
}

/// A part of the way along a segment, exactly: `over / under`, `under` positive.
#[derive(Clone, Debug)]
struct SegmentPart {
    over: IBig,
    under: IBig,
}

impl SegmentPart {
    /// None of what does not lie between the ends.
    fn between(over: IBig, under: IBig) -> Option<Self> {
        let (over, under) =
            if sign(&under) == Sign::Negative { (-over, -under) } else { (over, under) };
        let is_between = sign(&over) == Sign::Positive && over < under;
        is_between.then_some(Self { over, under })
    }

    fn middle(&self, other: &Self) -> Self {
        let over = &self.over * &other.under + &other.over * &self.under;
        Self { over, under: &self.under * &other.under * IBig::from(2) }
    }

    fn compare(&self, other: &Self) -> Ordering {
        (&self.over * &other.under).cmp(&(&other.over * &self.under))
    }

    /// Rounded.
    fn value(&self) -> f64 {
        let over = dashu_int::UBig::try_from(self.under.clone()).unwrap_or(dashu_int::UBig::ONE);
        crate::number::outward::ratio(&self.over, &over, 0)
    }
}

/// How far inside of each side of a triangle in whose plane a segment is the ends of this are.
type Sides = [[IBig; 2]; 3];

/// Where a segment is cut.
struct Cuts {
    /// In order, with both ends.
    parts: Vec<SegmentPart>,
    /// Of each triangle in whose plane it is.
    flat: Vec<Sides>,
}

/// Whether a triangle in whose plane a segment is has a point of this.
fn covers(sides: &Sides, at: &SegmentPart) -> bool {
    sides.iter().all(|[first, last]| {
        sign(&(first * &at.under + (last - first) * &at.over)) != Sign::Negative
    })
}

impl<'a> Entering<'a> {
    /// `surface_is` says which of P and Q the surface is.
    pub(crate) fn new(
        surface: &'a TriangleSurface,
        surface_pose: &Pose,
        region: &'a Polyhedron,
        region_pose: Pose,
        surface_is: Whose,
    ) -> Self {
        let of_surface = (surface, surface_pose);
        let of_region = (region.surface(), &region_pose);
        let (region_is, both) = match surface_is {
            Whose::P => (Whose::Q, [of_surface, of_region]),
            Whose::Q => (Whose::P, [of_region, of_surface]),
        };
        let points = surface.vertices().iter().map(|v| surface_pose.apply_rounded(v)).collect();
        Self {
            surface,
            surface_is,
            points,
            slack: slack(surface.vertices(), surface_pose),
            exact: Exact::new(both),
            region: Stand::on_demand(region, region_pose),
            region_is,
        }
    }

    /// A place inside of a triangle that touches these of the region, all that it touches. A step
    /// is one of them, or a box that a ray looks at.
    pub(crate) fn of_touching(
        &mut self,
        triangle: u32,
        others: &[u32],
        effort: &mut Effort<'_>,
    ) -> Result<Option<SurfaceEntry>, Stopped> {
        let place = if self.surface.is_degenerate(triangle) {
            self.along(triangle, others, effort)?
        } else {
            self.of_triangle(triangle, others, effort)?
        };
        Ok(place.map(|place| SurfaceEntry { triangle, place }))
    }

    /// A place inside of the parts of the surface that have none of the triangles which touch the
    /// region. A step is a box that a ray looks at.
    pub(crate) fn of_parts(
        &mut self,
        touching: impl Iterator<Item = u32>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<SurfaceEntry>, Stopped> {
        let lowest = self.surface.lowest_of_parts();
        let part_of = |corners: [u32; 3]| lowest[corners[0] as usize];
        let mut met: BTreeSet<u32> =
            touching.map(|triangle| part_of(self.surface.triangle(triangle))).collect();
        for (triangle, &corners) in (0..).zip(self.surface.triangles()) {
            // The first triangle that has a part's lowest vertex begins with it.
            if met.insert(part_of(corners)) && self.is_vertex_inside(corners[0], effort)? {
                return Ok(Some(SurfaceEntry { triangle, place: EntryPlace::Corner(0) }));
            }
        }
        Ok(None)
    }

    fn corners(&self, triangle: u32) -> [Corner; 3] {
        self.surface.triangle(triangle).map(|i| (self.surface_is, i))
    }

    fn corners_of_region(&self, triangle: u32) -> [Corner; 3] {
        self.region.body.triangle(triangle).map(|i| (self.region_is, i))
    }

    /// A vertex that is on no triangle of the region.
    fn is_vertex_inside(&mut self, vertex: u32, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
        let within = around(&self.points[vertex as usize], self.slack);
        let point = self.exact.point((self.surface_is, vertex)).clone();
        self.is_inside(&Start::at(point, within), &IBig::ONE, effort)
    }

    /// Whether a ray from the start, whose coordinates are `unit` times as large, begins inside.
    fn is_inside(
        &mut self,
        start: &Start,
        unit: &IBig,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        let (region, whose, exact) = (&self.region, self.region_is, &mut self.exact);
        if !region.whole().meets(start.within()) {
            return Ok(false);
        }
        crosses_odd(start, region, effort, |triangle| {
            let corner = |i: u32| exact.point((whose, i)).each_ref().map(|x| x * unit);
            Some(region.body.triangle(triangle).map(corner))
        })
    }

    /// A place of a triangle that has an area.
    fn of_triangle(
        &mut self,
        triangle: u32,
        others: &[u32],
        effort: &mut Effort<'_>,
    ) -> Result<Option<EntryPlace>, Stopped> {
        let corners = self.corners(triangle);
        let mut is_covered = false;
        for &other in others {
            effort.spend_step()?;
            let around = self.corners_of_region(other);
            let Some(facing) = Facing::of(&mut self.exact, corners, around) else { continue };
            if facing.is_flat() && self.covers_first_corner(corners, around) {
                is_covered = true;
            }
            for k in 0..3 {
                let l = (k + 1) % 3;
                if facing.of_b[k] != Side::On || facing.of_b[l] != Side::On {
                    continue;
                }
                let ends = [around[k], around[l]];
                let across = self.region.body.across(other)[k];
                let apexes = [around[(k + 2) % 3], (self.region_is, across)];
                let towards = reaches_within(&mut self.exact, ends, apexes, corners);
                if let Some(towards) = towards {
                    let edge = ends.map(|(_, vertex)| vertex);
                    return Ok(Some(EntryPlace::Beside { edge, towards }));
                }
            }
        }
        if is_covered {
            return Ok(None);
        }
        let first = self.surface.triangle(triangle)[0];
        let within = around(&self.points[first as usize], self.slack);
        let start = Start::beside(corners.map(|at| self.exact.point(at).clone()), within);
        let is_inside = self.is_inside(&start, &IBig::ONE, effort)?;
        Ok(is_inside.then_some(EntryPlace::FirstCorner))
    }

    /// In one plane: whether a triangle covers the place next to the first corner and first edge of
    /// another. What is said of that place is said of the first corner, or else of the second, or
    /// else of the third.
    fn covers_first_corner(&mut self, corners: [Corner; 3], around: [Corner; 3]) -> bool {
        let (axis, inner) = seen_flat(&mut self.exact, around);
        sides_of(around).iter().all(|&[x, y]| {
            let turns = corners.map(|corner| self.exact.turn(axis, [x, y, corner]));
            turns.into_iter().find(|turn| *turn != Turn::Straight) == Some(inner)
        })
    }

    /// A place of a segment.
    fn along(
        &mut self,
        triangle: u32,
        others: &[u32],
        effort: &mut Effort<'_>,
    ) -> Result<Option<EntryPlace>, Stopped> {
        let [first, _, last] = self.surface.triangle(triangle);
        if first == last {
            return Ok(None); // a point that is on the region's surface
        }
        let [a, c] = [first, last].map(|i| self.exact.point((self.surface_is, i)).clone());
        let Cuts { parts, flat } = self.cuts([&a, &c], others, effort)?;
        let along = difference(&c, &a);
        let ends = [first, last].map(|i| around(&self.points[i as usize], self.slack));
        for two in parts.array_windows::<2>() {
            let middle = two[0].middle(&two[1]);
            let is_empty = two[0].compare(&two[1]) == Ordering::Equal;
            if is_empty || flat.iter().any(|sides| covers(sides, &middle)) {
                continue;
            }
            let point: Integers =
                std::array::from_fn(|k| &a[k] * &middle.under + &along[k] * &middle.over);
            let start = Start::at(point, ends[0].joined(&ends[1]));
            if self.is_inside(&start, &middle.under, effort)? {
                return Ok(Some(EntryPlace::Along(middle.value())));
            }
        }
        Ok(None)
    }

    /// Where a segment comes to planes of triangles that it meets and, in such a plane, to lines of
    /// their edges.
    fn cuts(
        &mut self,
        ends: [&Integers; 2],
        others: &[u32],
        effort: &mut Effort<'_>,
    ) -> Result<Cuts, Stopped> {
        let end = |over: IBig| SegmentPart { over, under: IBig::ONE };
        let (mut parts, mut flat) = (vec![end(IBig::ZERO), end(IBig::ONE)], Vec::new());
        for &other in others {
            effort.spend_step()?;
            let corners = self.corners_of_region(other).map(|at| self.exact.point(at).clone());
            let normal = normal_of(&corners);
            let above = ends.map(|end| dot(&normal, &difference(end, &corners[0])));
            if above[0] != above[1] {
                parts.extend(crossing(above));
            } else if sign(&above[0]) == Sign::Zero {
                let sides: Sides = sides_of([0, 1, 2]).map(|[k, l]| {
                    let outward = cross(&difference(&corners[l], &corners[k]), &normal);
                    ends.map(|end| -dot(&outward, &difference(end, &corners[k])))
                });
                parts.extend(sides.iter().cloned().filter_map(crossing));
                flat.push(sides);
            }
        }
        parts.sort_by(SegmentPart::compare);
        Ok(Cuts { parts, flat })
    }

    /// The corners of the triangle of an entry.
    pub(crate) fn triangle(&self, entry: &SurfaceEntry) -> [u32; 3] {
        self.surface.triangle(entry.triangle)
    }

    /// Places in the triangle of an entry, as weights of its corners: proposals for a proof, the
    /// likely ones first.
    pub(crate) fn proposals(&self, entry: &SurfaceEntry) -> Vec<[f64; 3]> {
        match entry.place {
            EntryPlace::Corner(k) => vec![std::array::from_fn(|at| f64::from(u8::from(at == k)))],
            EntryPlace::Along(t) => vec![[1.0 - t, 0.0, t]],
            EntryPlace::FirstCorner => {
                let near = |step: f64| [1.0 - step - step * step, step, step * step];
                std::iter::once([1.0; 3]).chain(STEPS.map(near)).collect()
            }
            EntryPlace::Beside { edge, towards } => self.beside(entry.triangle, edge, towards),
        }
    }

    /// From the middle of what an edge of the region has of the triangle towards a corner.
    fn beside(&self, triangle: u32, edge: [u32; 2], towards: usize) -> Vec<[f64; 3]> {
        let [a, b, c] = self.surface.triangle(triangle).map(|i| self.points[i as usize]);
        let size = (b - a).amax().max((c - a).amax());
        let (u, v) = ((b - a) / size, (c - a) / size);
        let normal = u.cross(&v);
        let area = normal.norm_squared();
        let weights = |vertex: u32| {
            let way = (self.region.point(vertex) - a) / size;
            let of_b = way.cross(&v).dot(&normal) / area;
            let of_c = u.cross(&way).dot(&normal) / area;
            [1.0 - of_b - of_c, of_b, of_c]
        };
        let ends = edge.map(weights);
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        for (&start, end) in ends[0].iter().zip(ends[1]) {
            let zero = start / (start - end);
            if start < 0.0 {
                from = from.max(zero);
            } else if end < 0.0 {
                to = to.min(zero);
            }
        }
        let at = f64::midpoint(from, to);
        let middle: [f64; 3] = std::array::from_fn(|k| ends[0][k] + (ends[1][k] - ends[0][k]) * at);
        let moved = |step: f64| {
            std::array::from_fn(|k| {
                let corner = f64::from(u8::from(k == towards));
                (middle[k] + (corner - middle[k]) * step).max(0.0)
            })
        };
        STEPS.map(moved).into_iter().filter(is_finite).collect()
    }
}

fn is_finite(weights: &[f64; 3]) -> bool {
    weights.iter().all(|weight| weight.is_finite())
}

/// How far from a corner or an edge a place is looked for, as a part of the triangle.
const STEPS: [f64; 6] = [1.0 / 4.0, 1.0 / 64.0, 1.0 / 4096.0, 1.0 / 1e6, 1.0 / 1e9, 1.0 / 1e12];

fn normal_of([a, b, c]: &[Integers; 3]) -> Integers {
    cross(&difference(b, a), &difference(c, a))
}

/// Where an affine function is zero that has these values at the ends.
fn crossing([at_a, at_c]: [IBig; 2]) -> Option<SegmentPart> {
    let under = &at_a - at_c;
    SegmentPart::between(at_a, under)
}
