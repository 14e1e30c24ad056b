//! The still: robot and cell as they stand at a contact, and the contact as if through a
//! magnifying glass.

use std::collections::BTreeMap;
use std::fmt::{Result, Write};

use super::lens::{Lens, Screen};
use super::painter::{Planes, Sheet, paint_order};
use super::view::{PictureExtent, PictureView, SeenPoint, area, outline_of};
use clearance_geometry::Vec3;
use clearance_geometry::polytope::Polytope;

/// The cell at one time.
#[derive(Debug, Default)]
pub(crate) struct Still {
    /// Everything that is to be seen.
    pub(crate) solids: Vec<StillSolid>,
    /// The contact that it shows; none if there was none.
    pub(crate) contact: Option<Mark>,
}

/// A convex body to draw.
#[derive(Debug)]
pub(crate) struct StillSolid {
    /// Its vertices are in world coordinates.
    pub(crate) polytope: Polytope,
    /// Whether it is a link of the robot; else it is an obstacle.
    pub(crate) is_link: bool,
    /// Whether it takes part in the contact.
    pub(crate) is_in_contact: bool,
}

/// A contact to be marked.
#[derive(Debug)]
pub(crate) struct Mark {
    /// Where it is in the world.
    pub(crate) point: Vec3,
    /// What happens there, one line below the other.
    pub(crate) lines: Vec<String>,
}

/// Classes of the still's own elements.
pub(super) const STYLE: &str = ".face{fill:currentColor;stroke:currentColor;stroke-width:.5;\
stroke-linejoin:round}.rim{fill:none;stroke:#33434f;stroke-width:.9;stroke-linecap:round;\
stroke-linejoin:round}.edge{fill:none;stroke:#8d867b;stroke-width:.6;stroke-linejoin:round}\
.hit{fill:none;stroke:#b42318;stroke-width:1.2;stroke-linejoin:round}\
.round{fill:url(#round)}.hit.round{fill:url(#struck)}";

/// From here the cell is seen: over the conveyor, into the shelf.
const FROM: [f64; 2] = [-1.0, 0.62];

/// Where the light comes from.
const LIGHT: [f64; 3] = [-0.35, 0.45, 0.82];

/// The darkest and the lightest colour of a thing.
type Palette = [[f64; 3]; 2];
const LINK: Palette = [[84.0, 110.0, 130.0], [250.0, 252.0, 253.0]];
const LINK_IN_CONTACT: Palette = [[150.0, 40.0, 25.0], [255.0, 158.0, 128.0]];
const OBSTACLE: Palette = [[205.0, 198.0, 186.0], [252.0, 250.0, 246.0]];
const OBSTACLE_IN_CONTACT: Palette = [[240.0, 150.0, 130.0], [255.0, 214.0, 200.0]];

/// How light the dark side of something round is.
const ROUND_DARK: f64 = 0.25;

/// A facet of an obstacle is drawn by itself if it takes this part of the obstacle's outline. The
/// many small facets of what is round are not.
const LARGE_FACET: f64 = 0.05;

/// Width of the line around a link, metres in the scene: a little more than a pixel.
const RIM_M: f64 = 0.005;

/// An edge of an obstacle is drawn if the normals of its two facets have at most this cosine: 30
/// degrees, more than between two of the twelve sides of the thinnest rod.
const CREASE_COSINE: f64 = 0.85;

/// A polygon or a line of the drawing.
#[derive(Clone, Debug)]
struct Stroke {
    points: Vec<[f64; 2]>,
    ink: Ink,
}

#[derive(Clone, Copy, Debug)]
enum Ink {
    /// Filled with a colour.
    Face([u8; 3]),
    /// An open line of this class.
    Line(&'static str),
    /// A closed line of this class.
    Ring(&'static str),
}

/// A sheet and how it is drawn.
#[derive(Debug)]
struct Piece {
    sheet: Sheet,
    strokes: Vec<Stroke>,
}

/// A facet that faces the viewer.
struct FrontFacet {
    corners: Vec<u32>,
    seen: Vec<SeenPoint>,
    normal: Vec3,
}

/// The still, sorted and ready to be drawn at any size.
#[derive(Debug)]
pub(super) struct Drawing {
    view: PictureView,
    pieces: Vec<Piece>,
    /// Where on the plane there is something.
    extent: PictureExtent,
}

impl Drawing {
    pub(super) fn new(still: &Still) -> Self {
        let view = PictureView::isometric(FROM);
        let mut pieces: Vec<Piece> = Vec::new();
        for (index, solid) in still.solids.iter().enumerate() {
            if solid.is_link {
                pieces.extend(link_pieces(&view, index, solid));
            } else {
                pieces.extend(obstacle_piece(&view, index, solid));
            }
        }
        let bodies: Vec<Polytope> = still.solids.iter().map(|s| s.polytope.clone()).collect();
        let sheets: Vec<Sheet> = pieces.iter().map(|piece| piece.sheet.clone()).collect();
        let order = paint_order(&sheets, &mut Planes::new(&view, &bodies));
        let mut unsorted: Vec<Option<Piece>> = pieces.into_iter().map(Some).collect();
        let pieces = order.into_iter().filter_map(|index| unsorted[index].take()).collect();
        let corners = sheets.iter().flat_map(|sheet| sheet.outline.iter().copied());
        Self { view, pieces, extent: PictureExtent::around(corners) }
    }

    /// Draws the still into the part of the page from `low` to `high`, as large as fits, and the
    /// contact through a lens.
    pub(super) fn write(&self, svg: &mut String, still: &Still, page: &Page) -> Result {
        let size = [0, 1].map(|axis| self.extent.high[axis] - self.extent.low[axis]);
        let room = [0, 1].map(|axis| page.high[axis] - page.low[axis]);
        let pixels_per_m = (room[0] / size[0]).min(room[1] / size[1]);
        let origin = [0, 1].map(|axis| {
            page.low[axis] + 0.5 * (room[axis] - pixels_per_m * size[axis])
                - pixels_per_m * self.extent.low[axis]
        });
        let screen = Screen { pixels_per_m, origin };
        write_gradient(svg, "round", OBSTACLE)?;
        write_gradient(svg, "struck", OBSTACLE_IN_CONTACT)?;
        self.write_pieces(svg, &screen, None)?;
        let Some(mark) = &still.contact else { return Ok(()) };
        let lens = Lens::new(self.view.see(&mark.point).at, &screen, page.lens);
        lens.write_way(svg)?;
        self.write_pieces(svg, &lens.screen(), Some(lens.extent()))?;
        lens.write_rim(svg)?;
        lens.write_lines(svg, &mark.lines)
    }

    /// Everything, or what is within a rectangle of the plane.
    fn write_pieces(
        &self,
        svg: &mut String,
        screen: &Screen,
        within: Option<PictureExtent>,
    ) -> Result {
        for piece in &self.pieces {
            let extent = PictureExtent::around(piece.sheet.outline.iter().copied());
            if within.is_some_and(|within| !within.meets(&extent)) {
                continue;
            }
            for stroke in &piece.strokes {
                let path = screen.path(&stroke.points);
                match stroke.ink {
                    Ink::Face(colour) => writeln!(
                        svg,
                        "<path class=\"face\" color=\"{}\" d=\"{path}z\"/>",
                        hex(colour)
                    )?,
                    Ink::Line(class) => writeln!(svg, "<path class=\"{class}\" d=\"{path}\"/>")?,
                    Ink::Ring(class) => writeln!(svg, "<path class=\"{class}\" d=\"{path}z\"/>")?,
                }
            }
        }
        Ok(())
    }
}

/// Where on the page the still goes, pixels.
pub(super) struct Page {
    pub(super) low: [f64; 2],
    pub(super) high: [f64; 2],
    /// The middle of the lens.
    pub(super) lens: [f64; 2],
}

/// What is round is lit from the left, without facets.
fn write_gradient(svg: &mut String, name: &str, palette: Palette) -> Result {
    let [dark, light] = [ROUND_DARK, 1.0].map(|share| hex(shade(palette, share)));
    writeln!(
        svg,
        "<linearGradient id=\"{name}\"><stop offset=\".25\" stop-color=\"{light}\"/>\
         <stop offset=\"1\" stop-color=\"{dark}\"/></linearGradient>"
    )
}

/// Every facet of a link that faces the viewer, and every edge between such a facet and one that
/// faces away, each to be painted by itself.
fn link_pieces(view: &PictureView, index: usize, solid: &StillSolid) -> Vec<Piece> {
    let palette = if solid.is_in_contact { LINK_IN_CONTACT } else { LINK };
    let facets = facing(view, &solid.polytope);
    let is_front = |a: u32, b: u32| {
        facets.iter().any(|facet| ring_edges(&facet.corners).any(|edge| edge == [b, a]))
    };
    let mut pieces = Vec::new();
    for facet in &facets {
        let Some(sheet) = sheet_of(view, index, facet) else { continue };
        for ([a, b], ends) in ring_edges(&facet.corners).zip(ring_edges(&facet.seen)) {
            let points = ends.map(|end| end.at);
            if let Some(rim) = sheet.rim(points, RIM_M).filter(|_| !is_front(a, b)) {
                let line = Stroke { points: points.to_vec(), ink: Ink::Line("rim") };
                pieces.push(Piece { sheet: rim, strokes: vec![line] });
            }
        }
        let face = Stroke { points: sheet.outline.clone(), ink: Ink::Face(lit(palette, facet)) };
        pieces.push(Piece { sheet, strokes: vec![face] });
    }
    pieces
}

/// An obstacle as one piece: its outline, and those of its facets that are large.
fn obstacle_piece(view: &PictureView, index: usize, solid: &StillSolid) -> Option<Piece> {
    let palette = if solid.is_in_contact { OBSTACLE_IN_CONTACT } else { OBSTACLE };
    let [ground, edge] =
        if solid.is_in_contact { ["hit round", "hit"] } else { ["edge round", "edge"] };
    let seen: Vec<SeenPoint> = solid.polytope.vertices().iter().map(|v| view.see(v)).collect();
    let places: Vec<[f64; 2]> = seen.iter().map(|s| s.at).collect();
    let outline = outline_of(&places);
    if outline.len() < 3 {
        return None;
    }
    let depth = seen.iter().map(|s| s.depth).sum::<f64>() / seen.len() as f64;
    let depth = [0.0, 0.0, depth];
    let sheet = Sheet { body: index, outline: outline.clone(), depth, is_rim: false };
    let facets = facing(view, &solid.polytope);
    let parts = facets.iter().filter_map(|facet| Some((facet, sheet_of(view, index, facet)?)));
    let large = parts.filter(|(_, part)| area(&part.outline) > LARGE_FACET * area(&outline));
    let faces = large
        .map(|(facet, part)| Stroke { points: part.outline, ink: Ink::Face(lit(palette, facet)) });
    let ground = Stroke { points: outline.clone(), ink: Ink::Ring(ground) };
    let mut strokes: Vec<Stroke> = std::iter::once(ground).chain(faces).collect();
    strokes.extend(creases(&facets).map(|points| Stroke { points, ink: Ink::Line(edge) }));
    strokes.push(Stroke { points: outline, ink: Ink::Ring(edge) });
    Some(Piece { sheet, strokes })
}

/// The edges between two of these facets at which the surface turns sharply.
fn creases(facets: &[FrontFacet]) -> impl Iterator<Item = Vec<[f64; 2]>> + '_ {
    let mut sides: BTreeMap<[u32; 2], &FrontFacet> = BTreeMap::new();
    for facet in facets {
        sides.extend(ring_edges(&facet.corners).map(|edge| (edge, facet)));
    }
    facets.iter().flat_map(move |facet| {
        let edges = ring_edges(&facet.corners).zip(ring_edges(&facet.seen));
        let sharp = edges.filter(|([a, b], _)| {
            let across = sides.get(&[*b, *a]);
            a < b && across.is_some_and(|other| other.normal.dot(&facet.normal) < CREASE_COSINE)
        });
        sharp.map(|(_, [a, b])| vec![a.at, b.at]).collect::<Vec<_>>()
    })
}

fn sheet_of(view: &PictureView, body: usize, facet: &FrontFacet) -> Option<Sheet> {
    let normal = view.see(&facet.normal);
    Sheet::facet(body, &facet.seen, [normal.at[0], normal.at[1], normal.depth])
}

/// The facets that face the viewer, each counter-clockwise seen from outside.
fn facing(view: &PictureView, polytope: &Polytope) -> Vec<FrontFacet> {
    let vertices = polytope.vertices();
    let middle = vertices.iter().sum::<Vec3>() / vertices.len() as f64;
    let facet = |ring: &[u32]| {
        let first = polytope.vertex(*ring.first()?);
        let spokes: Vec<Vec3> = ring.iter().map(|i| polytope.vertex(*i) - first).collect();
        let normal: Vec3 = spokes.windows(2).map(|two| two[0].cross(&two[1])).sum();
        let is_outward = normal.dot(&(first - middle)) >= 0.0;
        let normal = if is_outward { normal } else { -normal }.normalize();
        let mut corners = ring.to_vec();
        if !is_outward {
            corners.reverse();
        }
        let seen = corners.iter().map(|i| view.see(polytope.vertex(*i))).collect();
        (normal.dot(&view.towards) > 0.0).then_some(FrontFacet { corners, seen, normal })
    };
    polytope.facets().rows().filter_map(facet).collect()
}

/// The edges of a closed ring, in order.
fn ring_edges<T: Copy>(ring: &[T]) -> impl Iterator<Item = [T; 2]> + '_ {
    (0..ring.len()).map(move |k| [ring[k], ring[(k + 1) % ring.len()]])
}

/// The colour of a facet in the light.
fn lit(palette: Palette, facet: &FrontFacet) -> [u8; 3] {
    let light = Vec3::from(LIGHT).normalize();
    // Half of the light comes from everywhere, so that no side is black.
    shade(palette, 0.5 + 0.5 * facet.normal.dot(&light))
}

/// A colour between the darkest and the lightest.
fn shade(palette: Palette, share: f64) -> [u8; 3] {
    let share = share.clamp(0.0, 1.0);
    [0, 1, 2].map(|i| (palette[0][i] + share * (palette[1][i] - palette[0][i])).round() as u8)
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_geometry::hull::samples::{cuboid, polytope_of, sphere};

    fn still() -> Still {
        let solid = |points: Vec<Vec3>, x: f64, is_link| StillSolid {
            polytope: polytope_of(&points.iter().map(|p| p + Vec3::x() * x).collect::<Vec<_>>()),
            is_link,
            is_in_contact: is_link,
        };
        Still {
            solids: vec![
                solid(cuboid(1.0, 1.0, 1.0), 0.0, true),
                solid(sphere(300, 0.5), 1.0, false),
            ],
            contact: Some(Mark {
                point: Vec3::new(0.5, 0.0, 0.0),
                lines: vec!["cube & ball".to_owned()],
            }),
        }
    }

    #[test]
    fn the_still_is_drawn_twice_small_and_in_the_lens() {
        let (still, mut svg) = (still(), String::new());
        let page = Page { low: [300.0, 0.0], high: [600.0, 300.0], lens: [120.0, 120.0] };
        Drawing::new(&still).write(&mut svg, &still, &page).unwrap();
        let svg = format!("<svg>{svg}</svg>");
        let mut reader = quick_xml::Reader::from_str(&svg);
        while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
        // A cube shows three of its faces and a rim of six edges, which are beyond the lens; the
        // ball is one shape.
        assert_eq!(svg.matches("class=\"face\"").count(), 6);
        assert_eq!(svg.matches("class=\"rim\"").count(), 6);
        assert_eq!(svg.matches("class=\"edge round\"").count(), 2);
        assert!(svg.contains("cube &amp; ball"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
