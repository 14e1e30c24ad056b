//! In which order the still is painted, so that what is nearer to the viewer covers what is behind
//! it.
//!
//! Two separated convex bodies have a plane between them, and the one on the viewer's side of it is
//! painted later: no point of it can be covered by the other. The planes are those that the
//! distance search finds. Neighbouring links of the robot overlap at their joints and have no such
//! plane; of two of their facets, the one that is nearer in the middle of what they both cover is
//! painted later. (Newell, Newell and Sancha, "A solution to the hidden surface problem", 1972,
//! sort by such tests.)

use std::collections::BTreeMap;

use super::view::{PictureExtent, PictureView, SeenPoint, area, common_part, middle};
use clearance_geometry::Vec3;
use clearance_geometry::distance::{Stops, measure};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;

/// Something that is painted at once: a facet, or the whole outline of a body.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    /// Index of the body that it belongs to.
    pub(super) body: usize,
    /// A convex polygon, clockwise on the screen.
    pub(super) outline: Vec<[f64; 2]>,
    /// The depth of its plane at [x, y] is `depth[0] x + depth[1] y + depth[2]`.
    pub(super) depth: [f64; 3],
    /// Whether it is a line at the rim of the body, which is painted after the body's facets.
    pub(super) is_rim: bool,
}

/// A facet whose plane is so nearly seen from its edge has no useful depth, and no area either.
const EDGE_ON: f64 = 1e-9;

/// Two sheets that have less than this in common, square metres, do not hide each other: it is the
/// thousandth part of a pixel.
const COMMON_AREA_MIN: f64 = 1e-8;

impl Sheet {
    /// The sheet of a facet; none if it is seen from its edge or from behind.
    pub(super) fn facet(
        body: usize,
        corners: &[SeenPoint],
        normal_in_view: [f64; 3],
    ) -> Option<Self> {
        let [x, y, z] = normal_in_view;
        let first = corners.first()?;
        // NaN counts as seen from its edge, too.
        let is_seen = z > EDGE_ON;
        if !is_seen {
            return None;
        }
        let mut outline: Vec<[f64; 2]> = corners.iter().map(|corner| corner.at).collect();
        if area(&outline) < 0.0 {
            outline.reverse();
        }
        let slope = [-x / z, -y / z];
        let at_zero = first.depth - slope[0] * first.at[0] - slope[1] * first.at[1];
        Some(Self { body, outline, depth: [slope[0], slope[1], at_zero], is_rim: false })
    }

    /// The sheet of a line of this width along an edge of the facet.
    pub(super) fn rim(&self, [from, to]: [[f64; 2]; 2], width: f64) -> Option<Self> {
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let length = dx.hypot(dy);
        let has_direction = length > 0.0;
        if !has_direction {
            return None;
        }
        let [x, y] = [0.5 * width * dx / length, 0.5 * width * dy / length];
        let corners = [
            [from[0] - x + y, from[1] - y - x],
            [to[0] + x + y, to[1] + y - x],
            [to[0] + x - y, to[1] + y + x],
            [from[0] - x - y, from[1] - y + x],
        ];
        Some(Self { outline: corners.to_vec(), is_rim: true, ..self.clone() })
    }

    fn depth_at(&self, [x, y]: [f64; 2]) -> f64 {
        self.depth[0] * x + self.depth[1] * y + self.depth[2]
    }
}

/// Which of two is painted first, if it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    AFirst,
    BFirst,
    /// They have no plane between them, or nothing in common on the screen.
    Open,
}

/// Knows which of two bodies is behind the other.
#[derive(Debug)]
pub(super) struct Planes<'a> {
    view: &'a PictureView,
    bodies: &'a [Polytope],
    known: BTreeMap<[usize; 2], Order>,
}

/// By this part of its size a body is made smaller when it has no distance from another one, so
/// that two that only touch have a plane between them, too.
const SHRINK: f64 = 2e-3;

impl<'a> Planes<'a> {
    /// For bodies whose vertices are in world coordinates.
    pub(super) fn new(view: &'a PictureView, bodies: &'a [Polytope]) -> Self {
        Self { view, bodies, known: BTreeMap::new() }
    }

    fn order(&mut self, a: usize, b: usize) -> Order {
        if let Some(order) = self.known.get(&[a, b]) {
            return *order;
        }
        let (p, q) = (&self.bodies[a], &self.bodies[b]);
        let across = across(p, q).or_else(|| across(&shrunk(p)?, &shrunk(q)?));
        let order = match across {
            Some(a_to_b) if a_to_b.dot(&self.view.towards) >= 0.0 => Order::AFirst,
            Some(_) => Order::BFirst,
            None => Order::Open,
        };
        self.known.insert([a, b], order);
        order
    }
}

/// The way from the point of `p` nearest to `q` to the point of `q` nearest to `p`: the plane
/// square to it through its middle separates the two. None if they have a common point.
fn across(p: &Polytope, q: &Polytope) -> Option<Vec3> {
    let pair = Pair::new(p, Pose::identity(), q, Pose::identity());
    let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
    let distance = measure(&pair, Stops::default(), &mut witness, &mut effort).ok()?;
    (distance.lower > 0.0).then(|| distance.closest_q - distance.closest_p)
}

fn shrunk(body: &Polytope) -> Option<Polytope> {
    let vertices = body.vertices();
    let middle = vertices.iter().sum::<Vec3>() / vertices.len() as f64;
    let points: Vec<Vec3> = vertices.iter().map(|v| v + (middle - v) * SHRINK).collect();
    Some(convex_hull(&points).ok()?.polytope)
}

/// The indices of the sheets in the order in which to paint them.
pub(super) fn paint_order(sheets: &[Sheet], planes: &mut Planes<'_>) -> Vec<usize> {
    let extents: Vec<PictureExtent> =
        sheets.iter().map(|sheet| PictureExtent::around(sheet.outline.iter().copied())).collect();
    // For every sheet, those that must be painted after it, and how many must be painted before it.
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); sheets.len()];
    let mut before: Vec<usize> = vec![0; sheets.len()];
    for b in 0..sheets.len() {
        for a in 0..b {
            if !extents[a].meets(&extents[b]) {
                continue;
            }
            match order_of(&sheets[a], &sheets[b], planes) {
                Order::AFirst => {
                    after[a].push(b);
                    before[b] += 1;
                }
                Order::BFirst => {
                    after[b].push(a);
                    before[a] += 1;
                }
                Order::Open => {}
            }
        }
    }
    sorted(sheets, &after, before)
}

fn order_of(a: &Sheet, b: &Sheet, planes: &mut Planes<'_>) -> Order {
    if a.body == b.body {
        // Facets of one convex body that face the viewer do not cover each other.
        return match (a.is_rim, b.is_rim) {
            (false, true) => Order::AFirst,
            (true, false) => Order::BFirst,
            (true, true) | (false, false) => Order::Open,
        };
    }
    let common = common_part(&a.outline, &b.outline);
    if area(&common) < COMMON_AREA_MIN {
        return Order::Open;
    }
    let by_plane = match a.body < b.body {
        true => planes.order(a.body, b.body),
        false => match planes.order(b.body, a.body) {
            Order::AFirst => Order::BFirst,
            Order::BFirst => Order::AFirst,
            Order::Open => Order::Open,
        },
    };
    if by_plane != Order::Open {
        return by_plane;
    }
    let middle = middle(&common);
    if a.depth_at(middle) <= b.depth_at(middle) { Order::AFirst } else { Order::BFirst }
}

/// A topological sort. Sheets that cover each other in a ring have no right order; then the one
/// that is farthest away goes first.
fn sorted(sheets: &[Sheet], after: &[Vec<usize>], mut before: Vec<usize>) -> Vec<usize> {
    let depth_of = |sheet: &Sheet| sheet.depth_at(middle(&sheet.outline));
    let mut waiting: Vec<usize> = (0..sheets.len()).collect();
    waiting.sort_by(|a, b| depth_of(&sheets[*a]).total_cmp(&depth_of(&sheets[*b])));
    let mut order = Vec::with_capacity(sheets.len());
    while !waiting.is_empty() {
        let free = waiting.iter().position(|sheet| before[*sheet] == 0).unwrap_or(0);
        let sheet = waiting.remove(free);
        for later in &after[sheet] {
            before[*later] = before[*later].saturating_sub(1);
        }
        order.push(sheet);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_geometry::hull::samples::{cuboid, polytope_of};

    fn cube(at: Vec3) -> Polytope {
        let points: Vec<Vec3> = cuboid(1.0, 1.0, 1.0).iter().map(|p| p + at).collect();
        polytope_of(&points)
    }

    fn sheets(view: &PictureView, bodies: &[Polytope]) -> Vec<Sheet> {
        let outline = |body: &Polytope| -> Vec<[f64; 2]> {
            let points: Vec<_> = body.vertices().iter().map(|v| view.see(v).at).collect();
            super::super::view::outline_of(&points)
        };
        let sheet = |(body, polytope)| Sheet {
            body,
            outline: outline(polytope),
            depth: [0.0; 3],
            is_rim: false,
        };
        bodies.iter().enumerate().map(sheet).collect()
    }

    /// The order must come from the planes: all sheets here claim one depth.
    #[test]
    fn a_row_of_touching_cubes_is_painted_from_the_back_to_the_front() {
        let view = PictureView::isometric([1.0, 1.0]);
        let places = [2.0, 0.0, 3.0, 1.0];
        let bodies = places.map(|x| cube(Vec3::new(x, 0.0, 0.0)));
        let order = paint_order(&sheets(&view, &bodies), &mut Planes::new(&view, &bodies));
        assert_eq!(order, [1, 3, 0, 2]);
    }

    #[test]
    fn a_small_thing_on_a_large_one_is_painted_after_it() {
        let view = PictureView::isometric([-1.0, 1.0]);
        let floor: Vec<Vec3> = cuboid(20.0, 20.0, 0.1);
        let bodies = [cube(Vec3::new(6.0, -6.0, 0.551)), polytope_of(&floor)];
        let order = paint_order(&sheets(&view, &bodies), &mut Planes::new(&view, &bodies));
        assert_eq!(order, [1, 0]);
    }

    #[test]
    fn facets_of_bodies_that_overlap_are_sorted_by_depth_where_both_are_seen() {
        let view = PictureView::isometric([-1.0, 1.0]);
        let bodies = [cube(Vec3::zeros()), cube(Vec3::new(0.1, 0.1, 0.1))];
        let mut sheets = sheets(&view, &bodies);
        sheets[0].depth = [0.0, 0.0, 1.0];
        let order = paint_order(&sheets, &mut Planes::new(&view, &bodies));
        assert_eq!(order, [1, 0]);
    }
}
