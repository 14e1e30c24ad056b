//! The bytes that the id of a body is the digest of, and the body that they say.
//!
//! What is kept of a body beyond the process are these bytes: whoever reads them can prove by the
//! id alone that they are whole, and what is built of them is what was registered.

use crate::body::Body;
use crate::id::ContentId;
use crate::kind::Kind;
use crate::kinds::curved::{COARSE_POINTS, CurvedCore, CurvedForm, HALF_SIZES};
use clearance_geometry::Vec3;
use clearance_geometry::cloud::CLOUD_REACH_MAX;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::{HullError, building_bytes_max, convex_hull_with};
use clearance_geometry::polyhedron::{Polyhedron, PolyhedronError, TriangleSurface};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::COORDINATE_MAX;
use clearance_geometry::terrain::{Diagonal, HeightField, Lattice};
use std::sync::Arc;

/// Why bytes are not the body that an id names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// Their digest is another one: a byte was changed or lost.
    #[error("the digest of the bytes is not that of the id")]
    Digest,
    /// They end too soon, go on too long, or say what no body is.
    #[error("the bytes say no body: {0}")]
    Malformed(String),
    /// The time was over before it was built.
    #[error("stopped before the body was built")]
    Stopped(Stopped),
}

impl From<HullError> for ContentError {
    fn from(error: HullError) -> Self {
        match error {
            HullError::Stopped(why) => Self::Stopped(why),
            HullError::Empty | HullError::BadPoint { .. } | HullError::TooMany { .. } => {
                malformed(&error)
            }
        }
    }
}

fn malformed(why: &(impl ToString + ?Sized)) -> ContentError {
    ContentError::Malformed(why.to_string())
}

/// What it takes to build a body of content of so many bytes, bytes at most.
pub fn building_bytes_of(content_bytes: u64) -> u64 {
    /// A point takes 24 there; beside its hull a triangle takes 12, and is looked up, checked and
    /// put into a tree; a height takes 4.
    const PER_BYTE: u64 = 44;
    let points = usize::try_from(content_bytes / 24).unwrap_or(usize::MAX);
    // What is curved is a few numbers, of which two polytopes are made.
    let points = points.max(2 * COARSE_POINTS);
    building_bytes_max(points).saturating_add(PER_BYTE.saturating_mul(content_bytes))
}

impl Body {
    /// The bytes that its id is the digest of.
    pub fn content(&self) -> Vec<u8> {
        let mut bytes = Writer(Vec::new());
        bytes.0.extend(self.kind().names().tag);
        match self {
            Self::Polytope(polytope) => bytes.points(polytope.vertices()),
            Self::Rounded(body) => {
                bytes.points(body.core.vertices());
                bytes.number(body.radius);
            }
            Self::Polyhedron(mesh) => bytes.triangles(mesh.polyhedron.surface()),
            Self::Surface(body) => bytes.triangles(&body.surface),
            Self::Cloud(body) => {
                bytes.points(body.points.vertices());
                // -0 is +0.
                bytes.number(body.radius + 0.0);
            }
            Self::HeightField(body) => bytes.field(&body.field),
            Self::Curved(body) => bytes.curved(body.core(), body.radius),
        }
        bytes.0
    }

    /// How many bytes that are.
    pub fn content_bytes(&self) -> u64 {
        const COUNT: u64 = 8;
        let points = |points: &[Vec3]| COUNT + 24 * points.len() as u64;
        let triangles = |surface: &TriangleSurface| {
            points(surface.vertices()) + COUNT + 12 * surface.triangles().len() as u64
        };
        let rest = match self {
            Self::Polytope(polytope) => points(polytope.vertices()),
            Self::Rounded(body) => points(body.core.vertices()) + 8,
            Self::Polyhedron(mesh) => triangles(mesh.polyhedron.surface()),
            Self::Surface(body) => triangles(&body.surface),
            Self::Cloud(body) => points(body.points.vertices()) + 8,
            Self::HeightField(body) => {
                let field = &body.field;
                25 + 4 * field.heights().len() as u64 + COUNT + 4 * field.hole_count()
            }
            Self::Curved(_) => 33,
        };
        self.kind().names().tag.len() as u64 + rest
    }

    /// The body of this id, whose content these bytes are; takes as long as to register it. Its
    /// hull is built anew, so nothing that is read is taken on trust.
    pub fn of_content(
        id: &ContentId,
        content: &[u8],
        effort: &mut Effort<'_>,
    ) -> Result<Self, ContentError> {
        if blake3::hash(content).as_bytes() != id.digest() {
            return Err(ContentError::Digest);
        }
        let kind = id.kind();
        let rest = content.strip_prefix(kind.names().tag);
        let mut reader = Reader(rest.ok_or_else(|| malformed("another kind"))?);
        let body = reader.body(kind, effort)?;
        if !reader.0.is_empty() {
            return Err(malformed("there are more"));
        }
        // Points in another order, say, would be another body.
        if body.id() != *id {
            return Err(malformed("they are not in the order of an id"));
        }
        Ok(body)
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: f64) {
        self.0.extend(number.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.0.extend((count as u64).to_le_bytes());
    }

    fn points(&mut self, points: &[Vec3]) {
        self.0.reserve_exact(8 + 24 * points.len() + 8);
        self.count(points.len());
        points.iter().flat_map(|point| point.iter()).for_each(|number| self.number(*number));
    }

    fn triangles(&mut self, surface: &TriangleSurface) {
        self.points(surface.vertices());
        self.0.reserve_exact(8 + 12 * surface.triangles().len());
        self.count(surface.triangles().len());
        let corners = surface.triangles().as_flattened().iter();
        corners.for_each(|corner| self.0.extend(corner.to_le_bytes()));
    }

    fn field(&mut self, field: &HeightField) {
        let Lattice { rows, columns, spacing, diagonal } = *field.lattice();
        self.0.reserve_exact(33 + 4 * field.heights().len());
        self.0.extend(rows.to_le_bytes());
        self.0.extend(columns.to_le_bytes());
        spacing.into_iter().for_each(|spacing| self.number(spacing));
        self.0.push(match diagonal {
            Diagonal::Rising => 0,
            Diagonal::Falling => 1,
        });
        field.heights().iter().for_each(|height| self.0.extend(height.to_le_bytes()));
        self.0.extend(field.hole_count().to_le_bytes());
        field.holes().for_each(|hole| self.0.extend(hole.to_le_bytes()));
    }

    fn curved(&mut self, core: &CurvedCore, radius: f64) {
        self.0.push(match core.form {
            CurvedForm::Cylinder => 0,
            CurvedForm::Cone => 1,
            CurvedForm::Ellipsoid => 2,
        });
        [core.half.x, core.half.y, core.half.z, radius].into_iter().for_each(|n| self.number(n));
    }
}

/// What is left to be read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn body(&mut self, kind: Kind, effort: &mut Effort<'_>) -> Result<Body, ContentError> {
        match kind {
            Kind::Polytope => Ok(Body::of_points(&self.points()?, effort)?),
            Kind::Rounded => {
                let (points, radius) = (self.points()?, self.length(COORDINATE_MAX)?);
                Ok(Body::of_rounded_points(&points, radius, effort)?)
            }
            Kind::Polyhedron => {
                let (vertices, triangles) = (self.points()?, self.triangles()?);
                let region = Polyhedron::new(&vertices, &triangles, effort);
                let region = region.map_err(|why| match &why {
                    PolyhedronError::Unchecked(stopped) => ContentError::Stopped(*stopped),
                    PolyhedronError::Count { .. }
                    | PolyhedronError::Coordinate { .. }
                    | PolyhedronError::NoVertex { .. }
                    | PolyhedronError::Degenerate { .. }
                    | PolyhedronError::EdgeTwice { .. }
                    | PolyhedronError::Open { .. }
                    | PolyhedronError::Intersecting { .. }
                    | PolyhedronError::InsideOut { .. } => malformed(&why),
                })?;
                let hull = hull_of(region.vertices(), effort)?;
                Ok(Body::of_polyhedron(region, hull))
            }
            Kind::Surface => {
                let (vertices, triangles) = (self.points()?, self.triangles()?);
                let surface =
                    TriangleSurface::new(&vertices, &triangles).map_err(|why| malformed(&why))?;
                let hull = hull_of(surface.vertices(), effort)?;
                Ok(Body::of_surface(surface, hull))
            }
            Kind::Cloud => {
                let (points, radius) = (self.points()?, self.length(CLOUD_REACH_MAX)?);
                if !points.iter().all(|point| point.amax() <= CLOUD_REACH_MAX) {
                    return Err(malformed("a point is too far away"));
                }
                let cloud = TriangleSurface::of_points(&points).map_err(|why| malformed(&why))?;
                let hull = hull_of(cloud.vertices(), effort)?;
                Ok(Body::of_cloud(cloud, hull, radius))
            }
            Kind::HeightField => self.field(effort),
            Kind::Curved => self.curved(effort),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ContentError> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or_else(too_short)?;
        self.0 = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<f64, ContentError> {
        self.take().map(f64::from_le_bytes)
    }

    /// A length that is finite and not negative.
    fn length(&mut self, most: f64) -> Result<f64, ContentError> {
        let length = self.number()?;
        // Written so that NaN is refused.
        if (0.0..=most).contains(&length) { Ok(length) } else { Err(malformed("a radius")) }
    }

    /// The bytes of so many entries: no more than there are.
    fn entries(&mut self, count: u64, each: usize) -> Result<&[u8], ContentError> {
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(each));
        let split = length.and_then(|length| self.0.split_at_checked(length));
        let (entries, rest) = split.ok_or_else(too_short)?;
        self.0 = rest;
        Ok(entries)
    }

    fn points(&mut self) -> Result<Vec<Vec3>, ContentError> {
        let count = u64::from_le_bytes(self.take()?);
        let (numbers, _) = self.entries(count, 24)?.as_chunks::<8>();
        let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        Ok(numbers.as_chunks::<3>().0.iter().map(|&triple| triple.into()).collect())
    }

    fn triangles(&mut self) -> Result<Vec<[u32; 3]>, ContentError> {
        let count = u64::from_le_bytes(self.take()?);
        let corners = self.indices(count.checked_mul(3).ok_or_else(too_short)?)?;
        Ok(corners.as_chunks::<3>().0.to_vec())
    }

    fn indices(&mut self, count: u64) -> Result<Vec<u32>, ContentError> {
        let (indices, _) = self.entries(count, 4)?.as_chunks::<4>();
        Ok(indices.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    fn field(&mut self, effort: &Effort<'_>) -> Result<Body, ContentError> {
        let [rows, columns] = [u32::from_le_bytes(self.take()?), u32::from_le_bytes(self.take()?)];
        let spacing = [self.number()?, self.number()?];
        let diagonal = match self.take()? {
            [0] => Diagonal::Rising,
            [1] => Diagonal::Falling,
            _ => return Err(malformed("a diagonal")),
        };
        let lattice = Lattice { rows, columns, spacing, diagonal };
        let (heights, _) = {
            let count = lattice.vertices().map_err(|why| malformed(&why))?;
            self.entries(count as u64, 4)?.as_chunks::<4>()
        };
        let heights = heights.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let count = u64::from_le_bytes(self.take()?);
        let holes = self.indices(count)?;
        let field = HeightField::new(lattice, heights, &holes).map_err(|why| malformed(&why))?;
        effort.look_at_clock().map_err(ContentError::Stopped)?;
        Ok(Body::of_height_field(Arc::new(field))?)
    }

    fn curved(&mut self, effort: &mut Effort<'_>) -> Result<Body, ContentError> {
        let form = match self.take()? {
            [0] => CurvedForm::Cylinder,
            [1] => CurvedForm::Cone,
            [2] => CurvedForm::Ellipsoid,
            _ => return Err(malformed("a form")),
        };
        let half = Vec3::new(self.number()?, self.number()?, self.number()?);
        let radius = self.length(COORDINATE_MAX)?;
        let [least, most] = HALF_SIZES;
        let is_size = |size: &f64| (least..=most).contains(&size.abs());
        let may_be_negative = form == CurvedForm::Cone;
        let are_signs = half.x > 0.0 && half.y > 0.0 && (half.z > 0.0 || may_be_negative);
        if !half.iter().all(is_size) || !are_signs {
            return Err(malformed("a half size"));
        }
        Ok(Body::of_curved(CurvedCore { form, half }, radius, effort)?)
    }
}

fn too_short() -> ContentError {
    malformed("there are too few")
}

fn hull_of(points: &[Vec3], effort: &mut Effort<'_>) -> Result<Polytope, ContentError> {
    Ok(convex_hull_with(points, effort)?.polytope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_geometry::until::Until;

    /// One body of each kind, and of the forms that kinds have.
    fn bodies() -> Vec<Body> {
        let effort = &mut Effort::unlimited();
        let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.5]].map(Vec3::from);
        let hull = || convex_hull_with(&corners, &mut Effort::unlimited()).unwrap().polytope;
        let (region, _) = Polyhedron::of_polytope(&hull()).unwrap();
        let surface = TriangleSurface::new(&corners, &[[2, 0, 1], [3, 3, 0]]).unwrap();
        let flat = convex_hull_with(surface.vertices(), effort).unwrap().polytope;
        let cloud = TriangleSurface::of_points(&corners).unwrap();
        let field = |diagonal, holes: &[u32]| {
            let lattice = Lattice { rows: 3, columns: 4, spacing: [0.5, 0.25], diagonal };
            let heights = (0_u8..12).map(f32::from).map(|height| -height).collect();
            let field = HeightField::new(lattice, heights, holes).unwrap();
            Body::of_height_field(Arc::new(field)).unwrap()
        };
        let curved = |form, half: [f64; 3], radius| {
            let core = CurvedCore { form, half: half.into() };
            Body::of_curved(core, radius, &mut Effort::unlimited()).unwrap()
        };
        vec![
            Body::from(hull()),
            Body::of_points(&[Vec3::new(-0.0, 7.0, 5e-324)], effort).unwrap(),
            Body::from(hull()).rounded(0.125),
            Body::of_polyhedron(region, hull()),
            Body::of_surface(surface, flat),
            Body::of_cloud(cloud.clone(), hull(), 0.5),
            Body::of_cloud(cloud, hull(), -0.0),
            field(Diagonal::Rising, &[]),
            field(Diagonal::Falling, &[4, 0]),
            curved(CurvedForm::Cylinder, [1.0, 1.0, 2.0], 0.0),
            curved(CurvedForm::Cone, [1.0, 2.0, -3.0], 0.25),
            curved(CurvedForm::Ellipsoid, [1.0, 2.0, 3.0], 0.0),
        ]
    }

    #[test]
    fn the_content_of_every_kind_is_what_is_digested_and_is_read_back() {
        let bodies = bodies();
        for kind in Kind::ALL {
            assert!(bodies.iter().any(|body| body.kind() == kind), "{kind:?}");
        }
        for body in bodies {
            let (id, content) = (body.id(), body.content());
            assert_eq!(blake3::hash(&content).as_bytes(), id.digest(), "{id}");
            assert_eq!(content.len() as u64, body.content_bytes(), "{id}");
            let read = Body::of_content(&id, &content, &mut Effort::unlimited()).unwrap();
            assert_eq!((read.id(), read.kind()), (id, body.kind()));
            assert_eq!(read.vertices(), body.vertices());
            assert!(read.facets().eq(body.facets()));
            assert_eq!(format!("{:?}", read.outline()), format!("{:?}", body.outline()));
            assert!(building_bytes_of(content.len() as u64) >= read.bytes() / 8, "{id}");
        }
    }

    #[test]
    fn one_flipped_bit_anywhere_is_found() {
        for body in bodies() {
            let (id, content) = (body.id(), body.content());
            for at in 0..content.len() {
                let mut bytes = content.clone();
                bytes[at] ^= 1 << (at % 8);
                let read = Body::of_content(&id, &bytes, &mut Effort::unlimited());
                assert_eq!(read.unwrap_err(), ContentError::Digest, "{id} {at}");
            }
        }
    }

    /// Bytes that somebody made up, with the id that they have.
    fn made_up(kind: Kind, content: &[u8]) -> Result<Body, ContentError> {
        let hex = blake3::hash(content).to_hex();
        let id: ContentId = format!("{}{hex}", kind.names().prefix).parse().unwrap();
        Body::of_content(&id, content, &mut Effort::unlimited())
    }

    #[test]
    fn bytes_that_say_no_body_are_refused_whatever_their_id() {
        for body in bodies() {
            let (kind, content) = (body.kind(), body.content());
            for length in 0..content.len() {
                assert!(made_up(kind, &content[..length]).is_err(), "{kind:?} {length}");
            }
            let longer = [&content[..], &[0]].concat();
            assert!(made_up(kind, &longer).is_err(), "{kind:?}");
            // Counts of more than there is take no memory.
            let tag = kind.names().tag;
            for count in [u64::MAX, 1 << 61, 1 << 40] {
                let hostile = [tag, &count.to_le_bytes(), &[0; 64]].concat();
                assert!(made_up(kind, &hostile).is_err(), "{kind:?} {count}");
            }
            for number in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
                let mut wrong = content.clone();
                let at = wrong.len() - 8;
                wrong[at..].copy_from_slice(&number.to_le_bytes());
                let read = made_up(kind, &wrong);
                let has_radius = matches!(kind, Kind::Rounded | Kind::Cloud | Kind::Curved);
                assert!(read.is_err() || !has_radius, "{kind:?} {number}");
            }
        }
        // The same points in another order, and points that are not extreme.
        let tag = Kind::Polytope.names().tag;
        let points = |xs: &[f64]| {
            let numbers = xs.iter().flat_map(|x| [*x, 0.0, 0.0]).flat_map(f64::to_le_bytes);
            let count = (xs.len() as u64).to_le_bytes();
            [tag, &count, &numbers.collect::<Vec<u8>>()].concat()
        };
        assert!(made_up(Kind::Polytope, &points(&[0.0, 1.0])).is_ok());
        for wrong in [&[1.0, 0.0][..], &[0.0, 0.5, 1.0], &[0.0, 0.0], &[]] {
            assert!(made_up(Kind::Polytope, &points(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn whoever_waits_no_longer_gets_none() {
        for body in bodies() {
            let until = Until::expired();
            let effort = &mut Effort::until(u64::MAX, &until);
            match Body::of_content(&body.id(), &body.content(), effort) {
                // What is small is built before anybody looks at the clock.
                Ok(read) => assert_eq!(read.id(), body.id()),
                Err(why) => assert!(matches!(why, ContentError::Stopped(_)), "{why}"),
            }
        }
    }
}
