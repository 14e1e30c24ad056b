//! Names of polytopes and polyhedra that follow from their content, the same on every server.

use std::fmt;
use std::str::FromStr;

use super::Shape;
use crate::Vec3;

/// What is named. The order is that of the written forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A mesh, convex or not.
    Polyhedron,
    /// The hull of points.
    Polytope,
}

impl Kind {
    /// Tells these digests from those of any other kind of content, or of a later version.
    const fn tag(self) -> &'static [u8] {
        match self {
            Self::Polyhedron => b"clearance polyhedron 1\n",
            Self::Polytope => b"clearance polytope 1\n",
        }
    }

    /// What the written form begins with: the kind and the version.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Polyhedron => "m1-",
            Self::Polytope => "p1-",
        }
    }
}

const DIGEST_BYTES: usize = 32;
const HEX_DIGITS: usize = 2 * DIGEST_BYTES;

/// The BLAKE3-256 digest of a polytope's vertices, or of a polyhedron's vertices and triangles.
/// Written `p1-` or `m1-` and 64 lower-case hex digits.
///
/// Of a polytope are digested a tag, the number of vertices as a little-endian u64, and the
/// coordinates of the vertices in their canonical order as little-endian f64. The vertices are the
/// exact extreme points without duplicates, sorted, `-0` as `+0`; so two sets of points have the
/// same id just when they have the same hull (short of a collision of BLAKE3). Of a polyhedron
/// likewise its vertices, and then the number of triangles as a u64 and their vertices as u32, in
/// their canonical order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolytopeId {
    kind: Kind,
    digest: [u8; DIGEST_BYTES],
}

/// Why a text names no polytope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolytopeIdError {
    /// It does not begin with `p1-` or `m1-`.
    #[error("an id begins with \"p1-\" (a polytope) or \"m1-\" (a polyhedron)")]
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

impl PolytopeId {
    /// The id of a polytope.
    ///
    /// ```
    /// use clearance_geometry::shape::PolytopeId;
    /// # use clearance_geometry::{Vec3, hull::convex_hull};
    /// let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
    /// let body = convex_hull(&corners).unwrap().polytope;
    /// let again = convex_hull(&[corners[3], corners[2], corners[1], corners[0], corners[1]]);
    /// assert_eq!(PolytopeId::of(&body), PolytopeId::of(&again.unwrap().polytope));
    /// assert!(PolytopeId::of(&body).to_string().starts_with("p1-"));
    /// ```
    pub fn of(polytope: &Shape) -> Self {
        Self::digested(Kind::Polytope, &digesting(Kind::Polytope, polytope.vertices()))
    }

    /// The id of a polyhedron with these vertices and triangles, in canonical order.
    pub(crate) fn of_mesh(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let mut hasher = digesting(Kind::Polyhedron, vertices);
        hasher.update(&(triangles.len() as u64).to_le_bytes());
        for corner in triangles.as_flattened() {
            hasher.update(&corner.to_le_bytes());
        }
        Self::digested(Kind::Polyhedron, &hasher)
    }

    fn digested(kind: Kind, hasher: &blake3::Hasher) -> Self {
        Self { kind, digest: *hasher.finalize().as_bytes() }
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

/// Vertices digested at a time.
const BLOCK_VERTICES: usize = 2048;

fn digesting(kind: Kind, vertices: &[Vec3]) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind.tag());
    hasher.update(&(vertices.len() as u64).to_le_bytes());
    // Many at a time: it digests whole blocks several times as fast.
    let mut bytes = Vec::with_capacity(BLOCK_VERTICES * 24);
    for block in vertices.chunks(BLOCK_VERTICES) {
        bytes.clear();
        let coordinates = block.iter().flat_map(|vertex| vertex.iter());
        bytes.extend(coordinates.flat_map(|coordinate| coordinate.to_le_bytes()));
        hasher.update(&bytes);
    }
    hasher
}

impl fmt::Display for PolytopeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.prefix())?;
        self.digest.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PolytopeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PolytopeId {
    type Err = PolytopeIdError;

    fn from_str(text: &str) -> Result<Self, PolytopeIdError> {
        let kinds = [Kind::Polyhedron, Kind::Polytope];
        let read = |kind: Kind| text.strip_prefix(kind.prefix()).map(|digits| (kind, digits));
        let (kind, digits) = kinds.into_iter().find_map(read).ok_or(PolytopeIdError::Prefix)?;
        let digits = digits.as_bytes();
        if digits.len() != HEX_DIGITS {
            return Err(PolytopeIdError::Length { found: digits.len() });
        }
        let nibble = |i: usize| match digits[i] {
            digit @ b'0'..=b'9' => Ok(digit - b'0'),
            digit @ b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(PolytopeIdError::Digit { at: kind.prefix().len() + i }),
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
    use crate::Vec3;
    use crate::hull::convex_hull;
    use crate::polyhedron::Polyhedron;

    fn id(points: &[[f64; 3]]) -> PolytopeId {
        let points: Vec<Vec3> = points.iter().map(|&p| Vec3::from(p)).collect();
        PolytopeId::of(&convex_hull(&points).unwrap().polytope)
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
        let id = polyhedron.id();
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
        assert!(id.to_string().starts_with("m1-") && id != PolytopeId::of(&solid));
        let by_text = id.to_string().cmp(&PolytopeId::of(&solid).to_string());
        assert_eq!(id.cmp(&PolytopeId::of(&solid)), by_text);
    }

    #[test]
    fn an_id_is_read_back_and_anything_else_is_refused() {
        let id = id(&[[3., 1., 2.]]);
        let text = id.to_string();
        assert_eq!(text.len(), 67);
        assert_eq!(text.parse(), Ok(id));
        let parse = |text: &str| text.parse::<PolytopeId>().unwrap_err();
        assert_eq!(parse("c1-00"), PolytopeIdError::Prefix);
        assert_eq!(parse("m1-00"), PolytopeIdError::Length { found: 2 });
        assert_eq!(parse(&text[..66]), PolytopeIdError::Length { found: 63 });
        assert_eq!(parse(&format!("{text}0")), PolytopeIdError::Length { found: 65 });
        let upper = format!("p1-A{}", &text[4..]);
        assert_eq!(parse(&upper), PolytopeIdError::Digit { at: 3 });
        assert_eq!(parse(&format!("p1-{}", "é".repeat(32))), PolytopeIdError::Digit { at: 3 });
    }
}
