//! Whether a mesh is the surface of its convex hull.
//!
//! It is, when it is closed and the plane of every triangle leaves the hull on one side. By how
//! much the hull stands out beyond the plane of a triangle is the gap of that triangle. Measured in
//! f64: this describes the input; no proof rests on it.

use std::collections::HashMap;

use super::MeshData;
use clearance_geometry::Vec3;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::number::tolerance;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::support::supporting_vertex;

/// How far from convex a mesh may be by default and still count as convex, as a fraction of its
/// largest extent. Files have f32 coordinates: the faces of a convex solid stand out from each
/// other by up to about 1e-7 of its size after rounding.
pub const DEFAULT_TOLERANCE: f64 = tolerance::CONVEXITY;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convexity {
    /// Every edge has its opposite: the same two vertices in the other order.
    pub closed: bool,
    /// The greatest gap of a triangle, metres.
    pub gap: f64,
}

/// Measures a mesh with equal points welded, against its hull, as long as the effort lasts. A step
/// is a triangle: of one in a facet of many corners, all of which are level, it is a look at all of
/// these.
///
/// ```
/// use clearance_geometry::{effort::Effort, hull::convex_hull};
/// use clearance_robot::mesh::{convexity::measure, read};
///
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
/// let mesh = read(obj, None, 100, &mut Effort::unlimited()).unwrap();
/// let hull = convex_hull(&mesh.vertices).unwrap().polytope;
/// let found = measure(&mesh, &hull, &mut Effort::unlimited()).unwrap();
/// assert!(found.closed && found.gap == 0.0);
/// ```
pub fn measure(
    mesh: &MeshData,
    hull: &Polytope,
    effort: &mut Effort<'_>,
) -> Result<Convexity, Stopped> {
    let mut gap: f64 = 0.0;
    for triangle in &mesh.triangles {
        effort.spend_step()?;
        let [a, b, c] = triangle.map(|i| mesh.vertices[i as usize]);
        let normal = (b - a).cross(&(c - a));
        let length = normal.norm();
        // A triangle without area has no plane; its corners are judged with its neighbours.
        if !(length.is_finite() && length > 0.0) {
            continue;
        }
        let unit = normal / length;
        let mut beyond = |side: Vec3| {
            let farthest = supporting_vertex(hull, &side, None, effort);
            (hull.vertex(farthest) - a).dot(&side)
        };
        // A mesh that is wound inside out has the same surface.
        gap = gap.max(beyond(unit).min(beyond(-unit)));
    }
    Ok(Convexity { closed: is_closed(mesh, effort)?, gap })
}

fn is_closed(mesh: &MeshData, effort: &Effort<'_>) -> Result<bool, Stopped> {
    let mut open: HashMap<(u32, u32), i64> = HashMap::new();
    for [a, b, c] in &mesh.triangles {
        effort.look_at_clock()?;
        // A triangle of two equal corners has no area and closes nothing.
        if a == b || b == c || c == a {
            continue;
        }
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (key, step) = if from < to { ((*from, *to), 1) } else { ((*to, *from), -1) };
            *open.entry(key).or_default() += step;
        }
    }
    Ok(open.values().all(|balance| *balance == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_geometry::hull::convex_hull;

    /// A cube of edge 2 around the origin as twelve triangles, with its top at `top` in the middle.
    fn cube(top: f64) -> MeshData {
        let mut text = String::new();
        for corner in 0..8 {
            let coordinate = |bit: i32| if corner & (1 << bit) == 0 { -1 } else { 1 };
            text += &format!("v {} {} {}\n", coordinate(0), coordinate(1), coordinate(2));
        }
        text += &format!("v 0 0 {top}\n");
        text += "f 1 3 4 2\nf 1 2 6 5\nf 2 4 8 6\nf 4 3 7 8\nf 3 1 5 7\n";
        text += "f 5 6 9\nf 6 8 9\nf 8 7 9\nf 7 5 9\n";
        super::super::obj::read(text.as_bytes(), 100, &mut Effort::unlimited()).unwrap()
    }

    fn check(mesh: &MeshData) -> Convexity {
        let points: Vec<Vec3> = mesh.vertices.clone();
        let hull = convex_hull(&points).unwrap().polytope;
        measure(mesh, &hull, &mut Effort::unlimited()).unwrap()
    }

    #[test]
    fn a_cube_is_convex_a_dented_one_is_not() {
        assert_eq!(check(&cube(1.0)), Convexity { closed: true, gap: 0.0 });
        assert!(check(&cube(1.5)).gap <= 0.0);
        // The planes of the dent go through an upper edge and the point (0, 0, 0.5); of the
        // opposite upper edge, at distance 2 in x and 0 in z, they have distance 2 * 0.5 /
        // sqrt(1.25).
        let gap = check(&cube(0.5)).gap;
        assert!((gap - 1.0 / 1.25_f64.sqrt()).abs() < 1e-12, "{gap}");
    }

    /// In a facet of many corners every triangle is a look at all of these: a drum of a million
    /// points took hours of a thread, long after whoever registered it had gone.
    #[test]
    fn a_mesh_is_not_measured_beyond_what_may_be_spent() {
        let mesh = cube(1.0);
        let hull = convex_hull(&mesh.vertices).unwrap().polytope;
        let count = mesh.triangles.len() as u64;
        let measured = |steps: u64| measure(&mesh, &hull, &mut Effort::with_steps(steps));
        assert_eq!(measured(count - 1), Err(Stopped::Steps));
        assert!(measured(count).is_ok());
    }

    #[test]
    fn a_mesh_with_a_hole_is_not_closed() {
        let mut mesh = cube(1.0);
        assert!(check(&mesh).closed);
        mesh.triangles.pop();
        assert!(!check(&mesh).closed);
    }
}
