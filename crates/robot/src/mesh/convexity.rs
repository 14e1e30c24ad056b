//! Whether a mesh is the surface of its convex hull, and how far its hull stands out of it.

use super::MeshData;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::number::tolerance;
use clearance_geometry::polyhedron::excess::{self, Excess};
use clearance_geometry::polytope::Polytope;

/// How far a hull may stand out of a mesh by default for this to count as convex, as a fraction of
/// its largest extent. Files have f32 coordinates: the faces of a convex solid stand out from each
/// other by up to about 1e-7 of its size after rounding.
pub const DEFAULT_TOLERANCE: f64 = tolerance::CONVEXITY;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convexity {
    /// Every edge has its opposite: the same two vertices in the other order.
    pub closed: bool,
    /// It is the surface of its hull, wound once; or it is closed and bounds a volume that its hull
    /// does not stand out of by more than the tolerance.
    pub convex: bool,
    /// It bounds a volume: closed, and not wound around more of it than its hull has.
    pub solid: bool,
    /// Around the largest distance of a point of the hull from the mesh, metres; from what the mesh
    /// winds around, too, where it is closed.
    pub gap: [f64; 2],
    /// Of a closed mesh: the volume that it winds around, each point as often as it does; cubic
    /// metres, positive if it is counter-clockwise seen from outside.
    pub volume: Option<f64>,
}

/// Measures a mesh with equal points welded, against its hull, as long as the effort lasts. The
/// tolerance is in metres; none: [`DEFAULT_TOLERANCE`] of the largest extent.
///
/// ```
/// use clearance_geometry::{effort::Effort, hull::convex_hull};
/// use clearance_robot::mesh::{convexity::measure, read};
///
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
/// let mesh = read(obj, None, 100, &mut Effort::unlimited()).unwrap();
/// let hull = convex_hull(&mesh.vertices).unwrap().polytope;
/// let found = measure(&mesh, &hull, None, &mut Effort::unlimited()).unwrap();
/// assert!(found.closed && found.convex && found.gap == [0.0; 2]);
/// ```
pub fn measure(
    mesh: &MeshData,
    hull: &Polytope,
    tolerance: Option<f64>,
    effort: &mut Effort<'_>,
) -> Result<Convexity, Stopped> {
    let found = excess::measure(&mesh.vertices, &mesh.triangles, hull, effort)?;
    let Excess { closed, is_hull, is_solid, lower, upper, volume } = found;
    let extent = (hull.bounds().high - hull.bounds().low).max();
    let tolerance = tolerance.unwrap_or(DEFAULT_TOLERANCE * extent);
    Ok(Convexity {
        closed,
        convex: is_hull || (is_solid && upper <= tolerance),
        solid: is_solid,
        gap: [lower, upper],
        volume: closed.then_some(volume),
    })
}

/// A bracket in metres as text, rounded outwards to four digits.
pub fn in_words([lower, upper]: [f64; 2]) -> String {
    let [lower, upper] =
        [lower * (1.0 - tolerance::TOLD_DIGITS), upper * (1.0 + tolerance::TOLD_DIGITS)];
    format!("{lower:.3e} to {upper:.3e} m")
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

    fn check(mesh: &MeshData, tolerance: Option<f64>) -> Convexity {
        let hull = convex_hull(&mesh.vertices).unwrap().polytope;
        measure(mesh, &hull, tolerance, &mut Effort::unlimited()).unwrap()
    }

    /// Twice the depth of the dent was told, and the test said so, too.
    #[test]
    fn a_cube_is_convex_a_dented_one_is_not() {
        for convex in [cube(1.0), cube(1.5)] {
            let found = check(&convex, None);
            assert!(found.closed && found.convex && found.gap[1].to_bits() == 0, "{found:?}");
        }
        // The farthest point of the hull is in the middle of the top, and nearest to it are planes
        // that go through an upper edge and the point (0, 0, 0.5).
        let (dented, right) = (cube(0.5), 0.5 / 1.25_f64.sqrt());
        let found = check(&dented, None);
        assert!(found.closed && found.solid && !found.convex, "{found:?}");
        assert!(found.gap[0] <= right && right <= found.gap[1], "{found:?}");
        assert!(found.gap[1] - found.gap[0] < 0.04, "{found:?}");
        let volume = found.volume.unwrap();
        assert!((volume - (8.0 - 4.0 * 0.5 / 3.0)).abs() < 1e-14, "{volume}");
        // The tolerance is compared with the upper end.
        assert!(check(&dented, Some(found.gap[1])).convex);
        assert!(!check(&dented, Some(found.gap[1].next_down())).convex);
    }

    #[test]
    fn a_mesh_with_a_hole_is_not_closed() {
        let mut mesh = cube(1.0);
        assert!(check(&mesh, None).closed);
        mesh.triangles.pop();
        let found = check(&mesh, Some(10.0));
        assert!(!found.closed && !found.convex && found.volume.is_none(), "{found:?}");
    }

    #[test]
    fn a_bracket_in_words_holds_the_bracket() {
        assert_eq!(in_words([0.49853, 0.50021]), "4.983e-1 to 5.005e-1 m");
        assert_eq!(in_words([0.0, 0.0]), "0.000e0 to 0.000e0 m");
    }
}
