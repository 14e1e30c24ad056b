//! A geometry of a file: its points, and its polygons as triangles.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::MeshError;
use super::Named;
use crate::xml::Element;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;

/// The triangles of one geometry, in its own coordinates.
#[derive(Default)]
pub(super) struct Geometry<'a> {
    pub(super) points: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Which of the points are those of which source, by its id.
    of_sources: BTreeMap<&'a str, Range<usize>>,
}

/// What may still be read.
pub(super) struct ReadLimits {
    pub(super) triangles_max: usize,
    /// Points of all geometries, since each may name the same source.
    pub(super) points_left: usize,
}

/// A geometry that is being read.
struct GeometryReader<'n, 'a> {
    named: &'n Named<'a>,
    limits: &'n mut ReadLimits,
    geometry: Geometry<'a>,
}

/// What a list of polygons is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListKind {
    /// Three corners make a triangle.
    Triangles,
    /// Polygons, each with as many corners as `vcount` says.
    Counted,
    /// A polygon for each `p`; a fan is one, too.
    Polygons,
    /// A strip for each `p`: each corner makes a triangle with the two before it.
    Strips,
}

impl<'a> Geometry<'a> {
    /// Reads a `geometry` within some limits.
    pub(super) fn read(
        named: &Named<'a>,
        geometry: Element<'a>,
        limits: &mut ReadLimits,
        effort: &mut Effort<'_>,
    ) -> Result<Self, MeshError> {
        let mut reader = GeometryReader { named, limits, geometry: Self::default() };
        for child in geometry.elements() {
            match child.tag() {
                "mesh" => reader.mesh(child, effort)?,
                "asset" | "extra" => {}
                _ => return Err(child.bad("of geometries only meshes are read").into()),
            }
        }
        Ok(reader.geometry)
    }
}

impl<'a> GeometryReader<'_, 'a> {
    fn mesh(&mut self, mesh: Element<'a>, effort: &mut Effort<'_>) -> Result<(), MeshError> {
        for list in mesh.elements() {
            effort.spend_step()?;
            let kind = match list.tag() {
                "triangles" => ListKind::Triangles,
                "polylist" => ListKind::Counted,
                "polygons" | "trifans" => ListKind::Polygons,
                "tristrips" => ListKind::Strips,
                // Lines have no faces; the rest is what these lists name.
                _ => continue,
            };
            self.polygons(list, kind, effort)?;
        }
        Ok(())
    }

    /// Adds the polygons of one list, and the points that they name.
    fn polygons(
        &mut self,
        list: Element<'a>,
        kind: ListKind,
        effort: &mut Effort<'_>,
    ) -> Result<(), MeshError> {
        let Some((offset, stride, source)) = positions(self.named, list)? else { return Ok(()) };
        let of_source = self.source(source, effort)?;
        let points = Points { of_source, offset, stride };
        let mut counts = match kind {
            ListKind::Counted => {
                Some(numbers_of::<usize>(list.child("vcount"), effort)?.into_iter())
            }
            ListKind::Triangles | ListKind::Polygons | ListKind::Strips => None,
        };
        for child in list.elements() {
            effort.spend_step()?;
            if child.tag() == "ph" {
                return Err(child.bad("polygons with holes are not read").into());
            }
            if child.tag() != "p" {
                continue;
            }
            let of_list = Self::corners(child, &points, effort)?;
            let mut rest = of_list.as_slice();
            while !rest.is_empty() {
                let many = match (kind, &mut counts) {
                    (ListKind::Triangles, _) => 3,
                    (ListKind::Counted, Some(counts)) => counts.next().unwrap_or(0),
                    (ListKind::Counted | ListKind::Polygons | ListKind::Strips, _) => rest.len(),
                };
                let polygon = rest.split_at_checked(many).filter(|(corners, _)| corners.len() > 2);
                let few = || child.bad("its corners are not those of whole polygons");
                let (polygon, after) = polygon.ok_or_else(few)?;
                rest = after;
                if kind == ListKind::Strips {
                    self.strip(polygon, effort)?;
                } else {
                    self.fan(polygon, effort)?;
                }
                if self.geometry.triangles.len() > self.limits.triangles_max {
                    return Err(MeshError::TooManyTriangles { max: self.limits.triangles_max });
                }
            }
        }
        if counts.is_some_and(|mut counts| counts.any(|count| count > 0)) {
            return Err(list.bad("vcount announces more polygons than p has").into());
        }
        Ok(())
    }

    /// The places of a source's points, which are read when it is named for the first time.
    fn source(
        &mut self,
        source: Element<'a>,
        effort: &mut Effort<'_>,
    ) -> Result<Range<usize>, MeshError> {
        let id = source.required("id")?;
        if let Some(known) = self.geometry.of_sources.get(id) {
            return Ok(known.clone());
        }
        let points = points_of(self.named, source, effort)?;
        let left = self.limits.points_left.checked_sub(points.len());
        let often = || source.bad("the same positions are named by too many geometries");
        self.limits.points_left = left.ok_or_else(often)?;
        let places = self.geometry.points.len()..self.geometry.points.len() + points.len();
        self.geometry.points.extend(points);
        self.geometry.of_sources.insert(id, places.clone());
        Ok(places)
    }

    /// The points that the indices of a `p` name, of each corner the one of its position.
    fn corners(
        list: Element<'_>,
        points: &Points,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<u32>, MeshError> {
        let indices = numbers_of::<usize>(Some(list), effort)?;
        let (corners, rest) = (indices.chunks_exact(points.stride), indices.len() % points.stride);
        if rest != 0 {
            return Err(list.bad("its indices are not those of whole corners").into());
        }
        let place = |corner: &[usize]| {
            let Range { start, end } = points.of_source.clone();
            let index = corner.get(points.offset).filter(|index| **index < end - start)?;
            u32::try_from(start + index).ok()
        };
        let missing = || list.bad("a corner names a point that is not there");
        corners.map(|corner| place(corner).ok_or_else(|| missing().into())).collect()
    }

    fn fan(&mut self, polygon: &[u32], effort: &mut Effort<'_>) -> Result<(), MeshError> {
        for rest in polygon[1..].array_windows::<2>() {
            effort.look_at_clock()?;
            self.geometry.triangles.push([polygon[0], rest[0], rest[1]]);
        }
        Ok(())
    }

    /// Every second triangle of a strip turns the other way round.
    fn strip(&mut self, strip: &[u32], effort: &mut Effort<'_>) -> Result<(), MeshError> {
        for (place, [a, b, c]) in strip.array_windows().enumerate() {
            effort.look_at_clock()?;
            self.geometry.triangles.push(if place % 2 == 0 { [*a, *b, *c] } else { [*b, *a, *c] });
        }
        Ok(())
    }
}

/// Where a list of polygons has the points of its corners.
struct Points {
    /// Their places among all of the geometry.
    of_source: Range<usize>,
    /// Which index of a corner names its point.
    offset: usize,
    /// How many indices a corner has.
    stride: usize,
}

/// Of a list of polygons, which index of how many names the position, and the source of these.
/// None: it has no input, and so no polygon.
fn positions<'a>(
    named: &Named<'a>,
    list: Element<'a>,
) -> Result<Option<(usize, usize, Element<'a>)>, MeshError> {
    /// A corner has a position, a normal, a few texture coordinates and colours.
    const OFFSET_MAX: usize = 63;
    let (mut vertex, mut stride) = (None, 0);
    for input in list.children("input") {
        let offset = input.required("offset")?;
        let offset = offset.trim().parse().ok().filter(|offset| *offset <= OFFSET_MAX);
        let offset = offset.ok_or_else(|| input.bad("offset must be a number from 0 to 63"))?;
        stride = stride.max(offset + 1);
        if input.required("semantic")? == "VERTEX" {
            vertex = Some((offset, named.linked(&input, "source", "vertices")?));
        }
    }
    let Some((offset, vertices)) = vertex else {
        let is_empty = list.child("p").is_none();
        return if is_empty { Ok(None) } else { Err(list.bad("needs an input VERTEX").into()) };
    };
    let mut inputs = vertices.children("input");
    let position = inputs.find(|input| input.text("semantic") == Some("POSITION"));
    let position = position.ok_or_else(|| vertices.bad("needs an input POSITION"))?;
    Ok(Some((offset, stride, named.linked(&position, "source", "source")?)))
}

/// The points of a `source`, as its accessor says.
fn points_of<'a>(
    named: &Named<'a>,
    source: Element<'a>,
    effort: &mut Effort<'_>,
) -> Result<Vec<Vec3>, MeshError> {
    let common = source.child("technique_common");
    let accessor = common.and_then(|common| common.child("accessor"));
    let accessor = accessor.ok_or_else(|| source.bad("needs an accessor"))?;
    let array = named.linked(&accessor, "source", "float_array")?;
    let numbers = numbers_of::<f64>(Some(array), effort)?;
    if numbers.iter().any(|number| !number.is_finite()) {
        return Err(array.bad("a number is not finite").into());
    }
    let count = |name: &str, default: usize| match accessor.text(name) {
        None => Ok(default),
        Some(text) => {
            let number = text.trim().parse::<usize>();
            number.map_err(|_| accessor.bad(format!("{name} must be a whole number")))
        }
    };
    let (first, stride) = (count("offset", 0)?, count("stride", 1)?);
    let many = count("count", 0)?;
    if stride < 3 {
        return Err(accessor.bad("the stride of positions must be at least 3").into());
    }
    // The names of the three are X, Y and Z; a parameter without a name is passed over.
    let params: Vec<&str> =
        accessor.children("param").map(|param| param.text("name").unwrap_or("")).collect();
    let axis = |name: &str, default: usize| {
        if params.is_empty() { Some(default) } else { params.iter().position(|one| *one == name) }
    };
    let axes = [axis("X", 0), axis("Y", 1), axis("Z", 2)];
    let [Some(x), Some(y), Some(z)] = axes else {
        return Err(accessor.bad("needs parameters X, Y and Z").into());
    };
    let of_one = numbers.get(first..).unwrap_or_default().chunks(stride).take(many);
    let points: Option<Vec<Vec3>> =
        of_one.map(|one| Some(Vec3::new(*one.get(x)?, *one.get(y)?, *one.get(z)?))).collect();
    let short = || accessor.bad("announces more positions than its array has");
    Ok(points.filter(|points| points.len() == many).ok_or_else(short)?)
}

/// The numbers that stand in an element, apart from each other by space; none: there is none.
pub(super) fn numbers_of<N: std::str::FromStr>(
    element: Option<Element<'_>>,
    effort: &mut Effort<'_>,
) -> Result<Vec<N>, MeshError> {
    let Some(element) = element else { return Ok(Vec::new()) };
    let mut numbers = Vec::new();
    for word in element.content().split_ascii_whitespace() {
        effort.spend_step()?;
        let number = word.parse();
        numbers.push(number.map_err(|_| element.bad("something in it is no number"))?);
    }
    Ok(numbers)
}
