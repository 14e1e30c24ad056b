//! One layer of a placed body: where its features are, and which are next to each other.

use arrayvec::ArrayVec;

use crate::effort::Effort;
use crate::hierarchy::{Feature, Hierarchy, Layer, LayerFeatures};
use crate::pair::Placed;
use crate::polytope::Polytope;
use crate::{Mat3, Vec3};

/// A body and its place relative to the other one.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedBody<'a> {
    body: &'a Polytope,
    rotation: &'a Mat3,
    offset: Vec3,
}

/// A layer of a [`PlacedBody`].
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerSurface<'a> {
    side: PlacedBody<'a>,
    layer: &'a Layer,
    features: &'a LayerFeatures,
}

/// A neighbour towards which the distance falls, and how fast: the squared cosine of the angle
/// times the squared distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exit {
    pub(super) to: Feature,
    pub(super) rate: f64,
}

impl<'a> PlacedBody<'a> {
    pub(super) fn new(placed: &'a Placed<'a>, offset: Vec3) -> Self {
        Self { body: placed.body, rotation: &placed.pose.rotation, offset }
    }

    pub(super) fn hierarchy(&self) -> &'a Hierarchy {
        self.body.hierarchy()
    }

    pub(super) fn depth_max(&self) -> usize {
        self.hierarchy().height() - 1
    }

    /// A point of the body, up to rounding.
    pub(super) fn centre(&self) -> Vec3 {
        self.rotation * self.body.bounds().centre + self.offset
    }

    /// The layer at this depth, or the innermost one.
    pub(super) fn layer_at(&self, depth: usize) -> usize {
        depth.min(self.depth_max())
    }

    pub(super) fn surface(&self, depth: usize) -> LayerSurface<'a> {
        let layer = self.layer_at(depth);
        let hierarchy = self.hierarchy();
        let (layer, features) = (&hierarchy.layers()[layer], hierarchy.features(layer));
        LayerSurface { side: *self, layer, features }
    }

    pub(super) fn is_flat(&self) -> bool {
        self.body.dimension() < 3
    }
}

impl LayerSurface<'_> {
    /// Whether all is in one plane.
    pub(super) fn is_flat(&self) -> bool {
        self.side.is_flat()
    }

    /// Whether the feature is the inside of a polygon, which no walk in its plane goes to.
    pub(super) fn is_inside(&self, feature: Feature) -> bool {
        self.is_flat() && matches!(feature, Feature::Face(_))
    }

    /// Where a vertex is.
    #[inline]
    pub(super) fn point(&self, vertex: u32) -> Vec3 {
        let local = self.side.body.vertex(self.layer.body_vertex(vertex));
        self.side.rotation * local + self.side.offset
    }

    /// The layer's vertices of a feature; the first three of a polygon.
    pub(super) fn corners(&self, feature: Feature) -> ArrayVec<u32, 3> {
        match feature {
            Feature::Vertex(vertex) => ArrayVec::from_iter([vertex]),
            Feature::Edge(edge) => ArrayVec::from_iter(self.features.ends(edge)),
            Feature::Face(face) => self.layer.faces().row(face).iter().take(3).copied().collect(),
        }
    }

    /// Where they are.
    pub(super) fn points(&self, feature: Feature) -> ArrayVec<Vec3, 3> {
        self.corners(feature).into_iter().map(|corner| self.point(corner)).collect()
    }

    /// The body's numbers of the feature's vertices.
    pub(super) fn body_vertices(&self, feature: Feature) -> ArrayVec<u32, 3> {
        self.corners(feature).into_iter().map(|corner| self.layer.body_vertex(corner)).collect()
    }

    /// Whether there is such a feature and a walk can start from it; remembered ones may be
    /// anything.
    pub(super) fn has(&self, feature: Feature) -> bool {
        let is_below = |number: u32, count: usize| (number as usize) < count;
        match feature {
            Feature::Vertex(vertex) => is_below(vertex, self.layer.vertices().len()),
            Feature::Edge(edge) => is_below(edge, self.features.edge_count()),
            Feature::Face(face) => !self.is_flat() && is_below(face, self.layer.faces().len()),
        }
    }

    /// The feature of some corners of a feature, in the order of [`Self::corners`].
    pub(super) fn part(&self, feature: Feature, corners: u8) -> Feature {
        let named = self.corners(feature);
        match (feature, corners) {
            (Feature::Face(face), 0b011 | 0b110 | 0b101) => {
                let side = match corners {
                    0b011 => 0,
                    0b110 => 1,
                    _ => 2,
                };
                Feature::Edge(self.features.edges_of(face)[side])
            }
            (Feature::Face(_) | Feature::Edge(_) | Feature::Vertex(_), 0b001) => {
                Feature::Vertex(named[0])
            }
            (Feature::Face(_) | Feature::Edge(_), 0b010) => Feature::Vertex(named[1]),
            (Feature::Face(_), 0b100) => Feature::Vertex(named[2]),
            (Feature::Face(_) | Feature::Edge(_) | Feature::Vertex(_), _) => feature,
        }
    }

    /// From the feature's point `at`, the neighbour of one dimension more along which one comes
    /// nearest to the other body fastest, which lies in direction `towards`; none when `at +
    /// towards` is in the feature's Voronoi region, or the feature is a face.
    pub(super) fn exit(
        &self,
        feature: Feature,
        at: &Vec3,
        towards: &Vec3,
        effort: &mut Effort<'_>,
    ) -> Option<Exit> {
        let mut best: Option<Exit> = None;
        let mut offer = |to: Feature, way: Vec3| {
            let along = way.dot(towards);
            let rate = along * along / way.norm_squared();
            let is_steeper = along > 0.0 && best.is_none_or(|best| rate > best.rate);
            if is_steeper {
                best = Some(Exit { to, rate });
            }
        };
        match feature {
            Feature::Vertex(vertex) => {
                let neighbours = self.layer.neighbours(vertex);
                effort.cost.visited += neighbours.len() as u64;
                for (&other, &edge) in neighbours.iter().zip(self.features.edges_at(vertex)) {
                    offer(Feature::Edge(edge), self.point(other) - at);
                }
            }
            Feature::Edge(edge) => {
                for face in self.features.faces_at(edge) {
                    effort.cost.visited += 1;
                    offer(Feature::Face(face), self.inward_of(edge, face));
                }
            }
            Feature::Face(_) => {}
        }
        best
    }

    /// In the plane of the face, perpendicular to its edge, to the inner side.
    fn inward_of(&self, edge: u32, face: u32) -> Vec3 {
        let ends = self.features.ends(edge);
        let third = self.layer.faces().row(face).iter().find(|corner| !ends.contains(corner));
        let [a, b] = ends.map(|end| self.point(end));
        let (along, across) = (b - a, third.map_or(Vec3::zeros(), |&third| self.point(third) - a));
        across - along * (across.dot(&along) / along.norm_squared())
    }

    /// A vector out of the body at right angles to a face.
    fn normal(&self, face: u32) -> Vec3 {
        let points = self.points(Feature::Face(face));
        (points[1] - points[0]).cross(&(points[2] - points[0]))
    }

    /// Whether the direction from a feature leads into the body: then nothing next to it is nearer,
    /// and yet it is not the nearest of the body.
    pub(super) fn leads_inside(&self, feature: Feature, towards: &Vec3) -> bool {
        let is_below = |face: u32| self.normal(face).dot(towards) < 0.0;
        match feature {
            Feature::Vertex(_) => false,
            Feature::Edge(edge) => {
                let mut faces = self.features.faces_at(edge).peekable();
                !self.side.is_flat() && faces.peek().is_some() && faces.all(is_below)
            }
            Feature::Face(face) => is_below(face),
        }
    }

    /// The facet that a point is farthest outside of, by looking at each; none when the point is in
    /// the body (Mirtich 1998, §3.4).
    pub(super) fn facing(&self, point: &Vec3, effort: &mut Effort<'_>) -> Option<Feature> {
        let mut best: Option<(Feature, f64)> = None;
        let mut offer = |facet: Feature, outward: Vec3, base: Vec3| {
            let above = outward.dot(&(point - base)) / outward.norm();
            if above > 0.0 && best.is_none_or(|(_, most)| above > most) {
                best = Some((facet, above));
            }
        };
        let numbers = |count: usize| 0..u32::try_from(count).expect("fewer than 2^32 features");
        if self.side.is_flat() {
            effort.cost.visited += self.features.edge_count() as u64;
            for edge in numbers(self.features.edge_count()) {
                let base = self.point(self.features.ends(edge)[0]);
                offer(Feature::Edge(edge), -self.inward_of(edge, 0), base);
            }
        } else {
            effort.cost.visited += self.layer.faces().len() as u64;
            for face in numbers(self.layer.faces().len()) {
                let base = self.point(self.layer.faces().row(face)[0]);
                offer(Feature::Face(face), self.normal(face), base);
            }
        }
        best.map(|(facet, _)| facet)
    }

    /// The vertex farthest along a world direction, by looking at each.
    pub(super) fn farthest(&self, along: &Vec3, effort: &mut Effort<'_>) -> Feature {
        effort.cost.visited += self.layer.vertices().len() as u64;
        let count = u32::try_from(self.layer.vertices().len()).expect("fewer than 2^32 vertices");
        let value = |vertex: &u32| self.point(*vertex).dot(along);
        let farther = |a: &u32, b: &u32| value(a).total_cmp(&value(b)).then(b.cmp(a));
        Feature::Vertex((0..count).max_by(farther).unwrap_or(0))
    }
}
