//! A parallel view of the cell, and the few facts of plane geometry that drawing it takes.
//!
//! All plane coordinates are metres on the picture's plane: x to the right and y downwards, as SVG
//! has them. The depth of a point grows towards the viewer.

use clearance_geometry::Vec3;

/// The direction from which the still is seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct PictureView {
    right: Vec3,
    down: Vec3,
    /// The unit vector from the scene to the viewer.
    pub(super) towards: Vec3,
}

/// A point of the scene as the viewer sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SeenPoint {
    /// The place on the picture's plane.
    pub(super) at: [f64; 2],
    /// How much nearer to the viewer it is than the origin of the world.
    pub(super) depth: f64,
}

impl PictureView {
    /// The view from the horizontal direction `[x, y]`, from so high that the three axes of the
    /// world appear equally long.
    pub(super) fn isometric([x, y]: [f64; 2]) -> Self {
        let horizontal = Vec3::new(x, y, 0.0).normalize();
        let towards = (horizontal * 2.0_f64.sqrt() + Vec3::z()).normalize();
        let right = Vec3::z().cross(&towards).normalize();
        Self { right, down: right.cross(&towards), towards }
    }

    /// Where a point of the world appears.
    pub(super) fn see(&self, point: &Vec3) -> SeenPoint {
        SeenPoint {
            at: [self.right.dot(point), self.down.dot(point)],
            depth: self.towards.dot(point),
        }
    }
}

/// A rectangle of the picture's plane with sides along its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PictureExtent {
    pub(super) low: [f64; 2],
    pub(super) high: [f64; 2],
}

impl PictureExtent {
    /// The least one around these points.
    pub(super) fn around(points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let mut extent = Self { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };
        for point in points {
            for (axis, coordinate) in point.into_iter().enumerate() {
                extent.low[axis] = extent.low[axis].min(coordinate);
                extent.high[axis] = extent.high[axis].max(coordinate);
            }
        }
        extent
    }

    /// Whether the two have an inner point in common.
    pub(super) fn meets(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.low[axis] < other.high[axis] && other.low[axis] < self.high[axis])
    }
}

/// Twice the signed area of the triangle; positive when a, b, c turn clockwise on the screen.
fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// The convex hull of points of the plane, clockwise on the screen (Andrew, "Another efficient
/// algorithm for convex hulls in two dimensions", 1979).
pub(super) fn outline_of(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    sorted.dedup();
    let mut outline: Vec<[f64; 2]> = Vec::new();
    let mut kept = 1;
    let there = sorted.iter();
    let back = sorted.iter().rev().skip(1);
    for (index, point) in there.chain(back).enumerate() {
        // The way back must leave alone what the way there has found.
        if index == sorted.len() {
            kept = outline.len();
        }
        while let [.., a, b] = outline[..]
            && outline.len() > kept
            && turn(a, b, *point) <= 0.0
        {
            outline.pop();
        }
        outline.push(*point);
    }
    outline.pop();
    outline
}

/// The signed area of a polygon; positive when it turns clockwise on the screen.
pub(super) fn area(polygon: &[[f64; 2]]) -> f64 {
    let Some(first) = polygon.first() else { return 0.0 };
    let fan = polygon.windows(2).map(|edge| turn(*first, edge[0], edge[1]));
    0.5 * fan.sum::<f64>()
}

/// The mean of a polygon's corners.
pub(super) fn middle(polygon: &[[f64; 2]]) -> [f64; 2] {
    let share = 1.0 / polygon.len() as f64;
    [0, 1].map(|axis| polygon.iter().map(|corner| corner[axis] * share).sum())
}

/// What two convex polygons that both turn clockwise have in common (Sutherland and Hodgman,
/// "Reentrant polygon clipping", 1974).
pub(super) fn common_part(a: &[[f64; 2]], b: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut part = a.to_vec();
    for (index, from) in b.iter().enumerate() {
        let to = b[(index + 1) % b.len()];
        let before = std::mem::take(&mut part);
        for (k, corner) in before.iter().enumerate() {
            let next = before[(k + 1) % before.len()];
            let (here, there) = (turn(*from, to, *corner), turn(*from, to, next));
            if here >= 0.0 {
                part.push(*corner);
            }
            if (here < 0.0) != (there < 0.0) {
                let share = here / (here - there);
                part.push([0, 1].map(|i| corner[i] + share * (next[i] - corner[i])));
            }
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axes_of_an_isometric_view_appear_equally_long() {
        let view = PictureView::isometric([-1.0, 1.0]);
        let lengths = [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| {
            let [x, y] = view.see(&axis).at;
            x.hypot(y)
        });
        assert!(lengths.iter().all(|length| (length - lengths[0]).abs() < 1e-12), "{lengths:?}");
        let up = view.see(&Vec3::z());
        assert!(up.at[0].abs() < 1e-12 && up.at[1] < 0.0 && up.depth > 0.0);
        // SeenPoint from -x and +y, what lies at -x is nearer than what lies at +x.
        assert!(view.see(&-Vec3::x()).depth > view.see(&Vec3::x()).depth);
    }

    #[test]
    fn an_outline_has_the_extreme_points_and_the_right_area() {
        let square = [[0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [1.0, 1.0], [0.0, 1.0], [0.5, 0.0]];
        let outline = outline_of(&square);
        assert_eq!(outline.len(), 4);
        assert!((area(&outline) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_common_part_of_two_squares_is_their_overlap() {
        let square = |x: f64, y: f64| [[x, y], [x + 1.0, y], [x + 1.0, y + 1.0], [x, y + 1.0]];
        let part = common_part(&square(0.0, 0.0), &square(0.75, 0.5));
        assert!((area(&part) - 0.125).abs() < 1e-15);
        assert!((middle(&part)[0] - 0.875).abs() < 1e-15);
        assert!(area(&common_part(&square(0.0, 0.0), &square(2.0, 0.0))).abs() < 1e-15);
    }
}
