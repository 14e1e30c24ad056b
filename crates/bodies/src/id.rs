//! Names of bodies that follow from their content, the same on every server.

use std::fmt;
use std::str::FromStr;

use crate::digest::DIGEST_BYTES;
use crate::kind::Kind;
use crate::kinds::cloud::HulledCloud;
use crate::kinds::curved::CurvedBody;
use crate::kinds::rounded::RoundedHull;
use crate::kinds::{cloud, curved, height_field, polyhedron, polytope, rounded, surface};
use clearance_geometry::polyhedron::{Polyhedron, TriangleSurface};
use clearance_geometry::shape::Shape;
use clearance_geometry::terrain::HeightField;

const HEX_DIGITS: usize = 2 * DIGEST_BYTES;

/// The BLAKE3-256 digest of what a body is made of, which the file of its kind lists: written as
/// the prefix of the kind (`p1-`, `m1-`, `r1-`, `s1-`, `c1-`, `h1-`,
/// `e1-`) and 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId {
    kind: Kind,
    digest: [u8; DIGEST_BYTES],
}

/// Why a text names no body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentIdError {
    /// It begins with the prefix of no kind.
    #[error("an id begins with {}", prefixes())]
    Prefix,
    /// Not 64 digits after the prefix.
    #[error("an id has 64 hex digits after its first three characters, not {found} bytes")]
    Length {
        /// Bytes after the prefix.
        found: usize,
    },
    /// A byte that is none of 0-9, a-f.
    #[error("byte {at} of an id is no lower-case hex digit")]
    Digit {
        /// Its place in the text.
        at: usize,
    },
}

impl ContentId {
    /// The id of a polytope.
    ///
    /// ```
    /// use clearance_bodies::ContentId;
    /// # use clearance_geometry::{Vec3, hull::convex_hull};
    /// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
    /// let body = convex_hull(&corners).unwrap().polytope;
    /// let again = convex_hull(&[corners[3], corners[2], corners[1], corners[0], corners[1]]);
    /// let again = ContentId::of_polytope(&again.unwrap().polytope);
    /// assert_eq!(ContentId::of_polytope(&body), again);
    /// assert!(again.to_string().starts_with("p1-"));
    /// ```
    pub fn of_polytope(polytope: &Shape) -> Self {
        Self { kind: Kind::Polytope, digest: polytope::digest(polytope) }
    }

    /// The id of a polyhedron.
    pub fn of_polyhedron(polyhedron: &Polyhedron) -> Self {
        Self { kind: Kind::Polyhedron, digest: polyhedron::digest(polyhedron) }
    }

    /// The id of a rounded polytope.
    pub fn of_rounded(body: &RoundedHull) -> Self {
        Self { kind: Kind::Rounded, digest: rounded::digest(body) }
    }

    /// The id of a surface.
    pub fn of_surface(surface: &TriangleSurface) -> Self {
        Self { kind: Kind::Surface, digest: surface::digest(surface) }
    }

    /// The id of a cloud.
    pub fn of_cloud(body: &HulledCloud) -> Self {
        Self { kind: Kind::Cloud, digest: cloud::digest(body) }
    }

    /// The id of a curved body.
    pub fn of_curved(body: &CurvedBody) -> Self {
        Self { kind: Kind::Curved, digest: curved::digest(body) }
    }

    /// The id of a height field.
    pub fn of_height_field(field: &HeightField) -> Self {
        Self { kind: Kind::HeightField, digest: height_field::digest(field) }
    }

    /// What has this id.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The 32 bytes of the digest.
    pub fn digest(&self) -> &[u8; DIGEST_BYTES] {
        &self.digest
    }
}

/// Every prefix with the kind that it stands for.
fn prefixes() -> String {
    let names = Kind::ALL.iter().rev().map(|kind| kind.names());
    let each = names.map(|names| format!("\"{}\" (a {})", names.prefix, names.name));
    each.collect::<Vec<_>>().join(" or ")
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.names().prefix)?;
        self.digest.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ContentId {
    type Err = ContentIdError;

    fn from_str(text: &str) -> Result<Self, ContentIdError> {
        let read = |kind: Kind| text.strip_prefix(kind.names().prefix).map(|digits| (kind, digits));
        let (kind, digits) = Kind::ALL.into_iter().find_map(read).ok_or(ContentIdError::Prefix)?;
        let digits = digits.as_bytes();
        if digits.len() != HEX_DIGITS {
            return Err(ContentIdError::Length { found: digits.len() });
        }
        let nibble = |i: usize| match digits[i] {
            digit @ b'0'..=b'9' => Ok(digit - b'0'),
            digit @ b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(ContentIdError::Digit { at: kind.names().prefix.len() + i }),
        };
        let mut digest = [0; DIGEST_BYTES];
        for (i, byte) in digest.iter_mut().enumerate() {
            *byte = nibble(2 * i)? << 4 | nibble(2 * i + 1)?;
        }
        Ok(Self { kind, digest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_geometry::Vec3;
    use clearance_geometry::hull::convex_hull;

    fn id(points: &[[f64; 3]]) -> ContentId {
        let points: Vec<Vec3> = points.iter().map(|&p| Vec3::from(p)).collect();
        ContentId::of_polytope(&convex_hull(&points).unwrap().polytope)
    }

    #[test]
    fn the_id_depends_on_the_hull_alone() {
        let plain = id(&[[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]]);
        let dressed =
            id(&[[0., 1., -0.], [1., 0., 0.], [0.5, 0.5, 0.], [-0., 0., 0.], [1., 0., 0.]]);
        assert_eq!(plain, dressed);
        assert_ne!(plain, id(&[[0., 0., 0.], [1., 0., 0.], [0., 1f64.next_up(), 0.]]));
    }

    #[test]
    fn the_digest_is_that_of_the_documented_bytes() {
        let mut bytes = b"clearance polytope 1\n".to_vec();
        bytes.extend(2_u64.to_le_bytes());
        for x in [-1.5, 0.0, 0.0, 2.0, 0.25, -7.0_f64] {
            bytes.extend(x.to_le_bytes());
        }
        let segment = id(&[[2., 0.25, -7.], [-1.5, -0., 0.]]);
        assert_eq!(segment.digest(), blake3::hash(&bytes).as_bytes());
    }

    #[test]
    fn a_polyhedron_is_digested_with_its_triangles_and_no_polytope_has_its_id() {
        let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]];
        let solid = convex_hull(&corners.map(Vec3::from)).unwrap().polytope;
        let (polyhedron, _) = Polyhedron::of_polytope(&solid).unwrap();
        let id = ContentId::of_polyhedron(&polyhedron);
        let mut bytes = b"clearance polyhedron 1\n".to_vec();
        bytes.extend(4_u64.to_le_bytes());
        for x in [[0., 0., 0.], [0., 0., 1.], [0., 1., 0.], [1., 0., 0_f64]].as_flattened() {
            bytes.extend(x.to_le_bytes());
        }
        bytes.extend(4_u64.to_le_bytes());
        for corner in [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2_u32]].as_flattened() {
            bytes.extend(corner.to_le_bytes());
        }
        assert_eq!(id.digest(), blake3::hash(&bytes).as_bytes());
        assert_eq!((id.to_string().parse(), id.kind()), (Ok(id), Kind::Polyhedron));
        assert!(id.to_string().starts_with("m1-") && id != ContentId::of_polytope(&solid));
        let by_text = id.to_string().cmp(&ContentId::of_polytope(&solid).to_string());
        assert_eq!(id.cmp(&ContentId::of_polytope(&solid)), by_text);
    }

    #[test]
    fn an_id_is_read_back_and_anything_else_is_refused() {
        let id = id(&[[3., 1., 2.]]);
        let text = id.to_string();
        assert_eq!(text.len(), 67);
        assert_eq!(text.parse(), Ok(id));
        let parse = |text: &str| text.parse::<ContentId>().unwrap_err();
        assert_eq!(parse("x1-00"), ContentIdError::Prefix);
        assert_eq!(parse("m1-00"), ContentIdError::Length { found: 2 });
        assert_eq!(parse(&text[..66]), ContentIdError::Length { found: 63 });
        assert_eq!(parse(&format!("{text}0")), ContentIdError::Length { found: 65 });
        let upper = format!("p1-A{}", &text[4..]);
        assert_eq!(parse(&upper), ContentIdError::Digit { at: 3 });
        assert_eq!(parse(&format!("p1-{}", "é".repeat(32))), ContentIdError::Digit { at: 3 });
    }
}
