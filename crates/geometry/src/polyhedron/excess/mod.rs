//! How far the convex hull of a mesh stands out of what the mesh is: the largest distance of a
//! point of the hull from it, as a bracket.
//!
//! What a mesh is: its triangles, and where every edge has its opposite also the points that the
//! triangles wind around, once or more, either way. So a mesh that bounds a polyhedron is that
//! solid, crossing pieces are what they cover together, a mesh inside out is what it would be the
//! right way out, and a sheet drawn from both sides is a sheet.
//!
//! A point of the hull whose distance is known gives the lower end. The upper end comes from pieces
//! that cover the hull (`search`): no point of a piece is farther from the mesh than its centre by
//! more than its radius. Where the mesh is the hull's own surface an exact test says so (`facets`),
//! and where it nearly is, the hull drawn inwards by a little gives a narrow bracket (`nearly`).
//!
//! All of it is reckoned in f64 around the middle of the mesh, on a scale on which it is about one.
//! [`BOUND_SLACK`] of that scale covers what rounding can do, and widens the bracket at both ends.

pub(super) mod facets;
mod flush;
pub(super) mod frame;
mod nearly;
pub(super) mod region;
pub(super) mod search;
pub(super) mod sheets;
pub(super) mod surface;

use facets::HullFacets;
use flush::Flush;
use frame::UnitFrame;
use region::{FlatHull, SolidHull};
use surface::MeshSurface;

use crate::Vec3;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::BOUND_SLACK;
use crate::number::tolerance::THIN;
use crate::polytope::Polytope;

/// What was found of a mesh and its hull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excess {
    /// Every edge has its opposite: the same two vertices in the other order.
    pub closed: bool,
    /// The mesh is the surface of its hull, exactly, all of it wound one way, and once.
    pub is_hull: bool,
    /// It is closed and bounds a volume, not a greater one than its hull.
    pub is_solid: bool,
    /// At most the largest distance of a point of the hull from the mesh, metres.
    pub lower: f64,
    /// At least that distance, metres.
    pub upper: f64,
    /// Of a closed mesh: the volume that it winds around, each point as often as it does; cubic
    /// metres, positive if it is wound counter-clockwise seen from outside; rounded. Else 0.
    pub volume: f64,
}

/// Measures a mesh, with equal points made one, against the hull of its vertices. A step is a
/// triangle, a facet or a piece of the hull. Without steps left the bracket is as narrow as it got;
/// that there was no time left is an error.
///
/// ```
/// use clearance_geometry::{Vec3, effort::Effort, hull::convex_hull, polyhedron::excess};
///
/// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
/// let hull = convex_hull(&corners).unwrap().polytope;
/// let triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
/// let found = excess::measure(&corners, &triangles, &hull, &mut Effort::unlimited()).unwrap();
/// assert!(found.is_hull && found.upper == 0.0);
/// // Without its slanted side it is open: the middle of that is farthest from the others.
/// let open = [triangles[0], triangles[1], triangles[3]];
/// let found = excess::measure(&corners, &open, &hull, &mut Effort::unlimited()).unwrap();
/// assert!(!found.closed && found.lower <= 1.0 / 3.0 && 1.0 / 3.0 <= found.upper);
/// ```
pub fn measure(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    hull: &Polytope,
    effort: &mut Effort<'_>,
) -> Result<Excess, Stopped> {
    let sheets = sheets::of(triangles, effort)?;
    let closed = sheets::are_closed(&sheets, effort)?;
    let mut found =
        Excess { closed, is_hull: false, is_solid: false, lower: 0.0, upper: 0.0, volume: 0.0 };
    let named = triangles.as_flattened().iter().map(|&i| &vertices[i as usize]);
    let Some(frame) = UnitFrame::around(named.chain(hull.vertices())) else {
        // All points are one.
        return Ok(found);
    };
    let points: Vec<Vec3> = vertices.iter().map(|p| frame.inward(p)).collect();
    let corners: Vec<Vec3> = hull.vertices().iter().map(|p| frame.inward(p)).collect();
    let surface = MeshSurface::new(&points, &sheets, effort)?;
    let [lower, upper] = if hull.dimension() < 3 {
        of_flat(&surface, closed, hull, &corners, effort)?
    } else {
        let facets = HullFacets::new(hull, &corners, frame, effort)?;
        let mut most = f64::INFINITY;
        if closed {
            let six = surface.six_volumes();
            found.volume = frame.volume_outward(six / 6.0);
            found.is_solid =
                six.abs() > BOUND_SLACK && six.abs() <= facets.six_volumes() + BOUND_SLACK;
            let deep = facets.deepest(effort)?;
            // Only of a point that is certainly inside of the hull, and so off its surface.
            let is_inside = deep.radius > BOUND_SLACK;
            let winds = if is_inside { surface.winding(&deep.middle, effort)? } else { 0 };
            if winds.abs() == 1 && facets.hold_all(vertices, triangles, effort)? {
                found.is_hull = true;
                return Ok(found);
            }
            if winds != 0 {
                most = nearly::at_most(&facets, &deep, &surface, effort)?;
            }
        }
        of_solid(&surface, closed, &facets, most, effort)?
    };
    [found.lower, found.upper] = outward(frame, [lower, upper]);
    Ok(found)
}

/// How far any hull stands out of a mesh: around the largest distance of a point of it from that,
/// metres. The surface is that of the mesh in the frame, and the hull about as large.
pub(in crate::polyhedron) fn beyond(
    surface: &MeshSurface,
    closed: bool,
    frame: UnitFrame,
    hull: &Polytope,
    effort: &mut Effort<'_>,
) -> Result<[f64; 2], Stopped> {
    let corners: Vec<Vec3> = hull.vertices().iter().map(|p| frame.inward(p)).collect();
    let bracket = if hull.dimension() < 3 {
        of_flat(surface, closed, hull, &corners, effort)?
    } else {
        let facets = HullFacets::new(hull, &corners, frame, effort)?;
        if closed && facets.width() > THIN {
            let flush = Flush::new(&facets, surface, effort)?;
            let region = SolidHull::new(&facets, effort)?;
            search::bracket_of_flush(surface, flush.as_ref(), &region, effort)?
        } else {
            of_solid(surface, closed, &facets, f64::INFINITY, effort)?
        }
    };
    Ok(outward(frame, bracket))
}

/// The bracket of a hull without a volume, in the frame.
fn of_flat(
    surface: &MeshSurface,
    closed: bool,
    hull: &Polytope,
    corners: &[Vec3],
    effort: &mut Effort<'_>,
) -> Result<[f64; 2], Stopped> {
    let polygon = FlatHull::polygon(hull, corners);
    search::bracket(surface, closed, &polygon, f64::INFINITY, effort)
}

/// That of one with a volume, or hardly any; `most` is no less than the distance.
fn of_solid(
    surface: &MeshSurface,
    closed: bool,
    facets: &HullFacets<'_>,
    most: f64,
    effort: &mut Effort<'_>,
) -> Result<[f64; 2], Stopped> {
    let width = facets.width();
    if width > THIN {
        return search::bracket(surface, closed, &SolidHull::new(facets, effort)?, most, effort);
    }
    // Every point of the hull is as near to its surface.
    let [lower, upper] =
        search::bracket(surface, closed, &FlatHull::surface(facets), most, effort)?;
    Ok([lower - width, upper + width])
}

/// A bracket of the frame, metres.
fn outward(frame: UnitFrame, [lower, upper]: [f64; 2]) -> [f64; 2] {
    // The frame itself rounds every coordinate, of the mesh and of the hull.
    let lower = frame.length_outward((lower - BOUND_SLACK).max(0.0)).next_down().max(0.0);
    [lower, frame.length_outward(upper + BOUND_SLACK).next_up()]
}

#[cfg(test)]
mod tests;
