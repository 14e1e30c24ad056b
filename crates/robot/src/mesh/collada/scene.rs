//! The scene of a file: its nodes, and the geometries that they put somewhere.

use std::collections::BTreeMap;

use super::super::{MeshData, MeshError};
use super::Named;
use super::sources::{Geometry, ReadLimits, numbers_of};
use crate::xml::Element;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::number::trig::RoundedTrig;
use nalgebra::Matrix3;

/// Nodes in nodes at most.
const DEPTH_MAX: usize = 64;

/// Nodes at most, each as often as it is shown.
const NODES_MAX: usize = 1 << 16;

/// Where a node puts what is in it: `x -> linear x + shift`.
#[derive(Clone, Copy)]
struct Placement {
    linear: Matrix3<f64>,
    shift: Vec3,
}

impl Placement {
    const NOWHERE_ELSE: Self = Self {
        linear: Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        shift: Vec3::new(0.0, 0.0, 0.0),
    };

    /// What is put by the other first.
    fn after(&self, inner: &Self) -> Self {
        Self { linear: self.linear * inner.linear, shift: self.linear * inner.shift + self.shift }
    }
}

/// The triangles of a scene, while they are gathered.
pub(super) struct SceneReader<'n, 'a> {
    named: &'n Named<'a>,
    /// Triangles and points at most, by the length of the file.
    shown_max: usize,
    limits: ReadLimits,
    nodes_left: usize,
    /// Those that have been read, by their ids: many files show one of them in many places.
    geometries: BTreeMap<&'a str, Geometry<'a>>,
    mesh: MeshData,
}

impl<'n, 'a> SceneReader<'n, 'a> {
    pub(super) fn new(named: &'n Named<'a>, triangles_max: usize, shown_max: usize) -> Self {
        let (geometries, mesh) = (BTreeMap::new(), MeshData::default());
        let limits = ReadLimits { triangles_max, points_left: shown_max };
        Self { named, shown_max, limits, nodes_left: NODES_MAX, geometries, mesh }
    }

    /// All that the scene shows, in metres; a file without a scene is its geometries.
    pub(super) fn read(
        mut self,
        root: Element<'a>,
        effort: &mut Effort<'_>,
    ) -> Result<MeshData, MeshError> {
        let place = Placement::NOWHERE_ELSE;
        let shown = root.child("scene").and_then(|scene| scene.child("instance_visual_scene"));
        if let Some(shown) = shown {
            let scene = self.named.linked(&shown, "url", "visual_scene")?;
            self.nodes(scene, &place, 0, effort)?;
        } else {
            let lists = root.children("library_geometries");
            for geometry in lists.flat_map(|list| list.children("geometry")) {
                let read = Geometry::read(self.named, geometry, &mut self.limits, effort)?;
                self.put(&read, &place, effort)?;
            }
        }
        let mut mesh = self.mesh;
        let unit = root.child("asset").and_then(|asset| asset.child("unit"));
        let meter = unit.map_or(Ok(1.0), |unit| unit.number("meter", Some(1.0)))?;
        if let Some(unit) = unit.filter(|_| meter <= 0.0) {
            return Err(unit.bad("meter must be positive").into());
        }
        mesh.scale(meter);
        Ok(mesh)
    }

    /// The nodes in a scene or in a node.
    fn nodes(
        &mut self,
        around: Element<'a>,
        place: &Placement,
        depth: usize,
        effort: &mut Effort<'_>,
    ) -> Result<(), MeshError> {
        for child in around.children("node") {
            self.node(child, place, depth + 1, effort)?;
        }
        Ok(())
    }

    fn node(
        &mut self,
        node: Element<'a>,
        around: &Placement,
        depth: usize,
        effort: &mut Effort<'_>,
    ) -> Result<(), MeshError> {
        effort.spend_step()?;
        if depth > DEPTH_MAX {
            return Err(node.bad("more than 64 nodes are inside each other").into());
        }
        let more = || node.bad("more than 65,536 nodes are shown");
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or_else(more)?;
        let mut place = *around;
        // The transforms come first, and the first of them is the outermost.
        for child in node.elements() {
            effort.spend_step()?;
            if let Some(inner) = transform(child, effort)? {
                place = place.after(&inner);
            }
        }
        for child in node.elements() {
            match child.tag() {
                "instance_geometry" => self.instance(child, &place, effort)?,
                "instance_node" => {
                    let other = self.named.linked(&child, "url", "node")?;
                    self.node(other, &place, depth + 1, effort)?;
                }
                "instance_controller" => {
                    return Err(child.bad("skins and morphs are not read").into());
                }
                _ => {}
            }
        }
        self.nodes(node, &place, depth, effort)
    }

    fn instance(
        &mut self,
        instance: Element<'a>,
        place: &Placement,
        effort: &mut Effort<'_>,
    ) -> Result<(), MeshError> {
        let element = self.named.linked(&instance, "url", "geometry")?;
        let id = element.text("id").unwrap_or_default();
        let geometry = match self.geometries.remove(id) {
            Some(known) => known,
            None => Geometry::read(self.named, element, &mut self.limits, effort)?,
        };
        let shown = [
            self.mesh.vertices.len() + geometry.points.len(),
            self.mesh.triangles.len() + geometry.triangles.len(),
        ];
        if shown.into_iter().any(|shown| shown > self.shown_max) {
            return Err(instance.bad("the same geometries are shown too often").into());
        }
        self.put(&geometry, place, effort)?;
        self.geometries.insert(id, geometry);
        Ok(())
    }

    /// Adds a geometry where a node puts it. One that is mirrored has its triangles turned round:
    /// they are still seen from outside as before.
    fn put(
        &mut self,
        geometry: &Geometry<'_>,
        place: &Placement,
        effort: &mut Effort<'_>,
    ) -> Result<(), MeshError> {
        let Geometry { points, triangles, .. } = geometry;
        if self.mesh.triangles.len() + triangles.len() > self.limits.triangles_max {
            return Err(MeshError::TooManyTriangles { max: self.limits.triangles_max });
        }
        let many = MeshError::TooManyTriangles { max: self.limits.triangles_max };
        let first = u32::try_from(self.mesh.vertices.len()).map_err(|_| many.clone())?;
        let last = u32::try_from(self.mesh.vertices.len() + points.len());
        last.map_err(|_| many)?;
        for point in points {
            effort.spend_step()?;
            self.mesh.vertices.push(place.linear * point + place.shift);
        }
        let is_mirrored = place.linear.determinant() < 0.0;
        for triangle in triangles {
            effort.look_at_clock()?;
            let [a, b, c] = triangle.map(|corner| first + corner);
            self.mesh.triangles.push(if is_mirrored { [a, c, b] } else { [a, b, c] });
        }
        Ok(())
    }
}

/// What an element of a node does to what is in the node; none: it is no transform.
fn transform(
    element: Element<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<Placement>, MeshError> {
    let place = Placement::NOWHERE_ELSE;
    let placed = match element.tag() {
        "matrix" => {
            let [a, b, c, x, d, e, f, y, g, h, i, z, last @ ..] = numbers::<16>(element, effort)?;
            let is_affine =
                last.iter().zip([0.0, 0.0, 0.0, 1.0]).all(|(a, b)| (a - b).abs() <= 0.0);
            if !is_affine {
                return Err(element.bad("the last row of a matrix must be 0 0 0 1").into());
            }
            let linear = Matrix3::new(a, b, c, d, e, f, g, h, i);
            Placement { linear, shift: Vec3::new(x, y, z) }
        }
        "translate" => Placement { shift: numbers::<3>(element, effort)?.into(), ..place },
        "scale" => {
            let scale: Vec3 = numbers::<3>(element, effort)?.into();
            Placement { linear: Matrix3::from_diagonal(&scale), ..place }
        }
        "rotate" => {
            let [x, y, z, degrees] = numbers::<4>(element, effort)?;
            let turned = turned(&Vec3::new(x, y, z), degrees);
            let linear = turned.ok_or_else(|| element.bad("needs an axis and an angle"))?;
            Placement { linear, ..place }
        }
        "lookat" | "skew" => return Err(element.bad("is a transform that is not read").into()),
        _ => return Ok(None),
    };
    Ok(Some(placed))
}

/// A rotation about an axis, which needs no length; none if there is no axis or the angle is too
/// large. Quarter turns about an axis of coordinates are exact.
fn turned(axis: &Vec3, degrees: f64) -> Option<Matrix3<f64>> {
    let size = axis.amax();
    // Written so that NaN has none.
    let unit = if size > 0.0 { (axis / size).normalize() } else { return None };
    let cross = unit.cross_matrix();
    let turned =
        |sine: f64, versine: f64| Matrix3::identity() + cross * sine + cross * cross * versine;
    const QUARTERS: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 1.0], [0.0, 2.0], [-1.0, 1.0]];
    for (degrees_of, [sine, versine]) in [0.0, 90.0, 180.0, 270.0].into_iter().zip(QUARTERS) {
        if (degrees - degrees_of) % 360.0 == 0.0 {
            return Some(turned(sine, versine));
        }
    }
    let trig = RoundedTrig::of_product(degrees, std::f64::consts::PI / 180.0)?;
    Some(turned(trig.sine, trig.versine))
}

/// Reads just so many numbers, all finite, from the text of an element.
fn numbers<const N: usize>(
    element: Element<'_>,
    effort: &mut Effort<'_>,
) -> Result<[f64; N], MeshError> {
    let numbers: Vec<f64> = numbers_of(Some(element), effort)?;
    let fit = <[f64; N]>::try_from(numbers).ok();
    let fit = fit.filter(|numbers| numbers.iter().all(|number| number.is_finite()));
    Ok(fit.ok_or_else(|| element.bad(format!("needs {N} finite numbers")))?)
}
