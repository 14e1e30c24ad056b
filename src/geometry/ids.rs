//! Names of polytopes that follow from their content, the same on every server.

use std::fmt;
use std::str::FromStr;

use super::polytope::Polytope;

/// Tells these digests from those of any other kind of content, or of a later version.
const TAG: &[u8] = b"clearance polytope 1\n";
/// What the written form begins with: the kind (a polytope) and the version.
const PREFIX: &str = "p1-";
const DIGEST_BYTES: usize = 32;
const HEX_DIGITS: usize = 2 * DIGEST_BYTES;

/// The BLAKE3-256 digest of a polytope's vertices. Written `p1-` and 64 lower-case hex digits.
///
/// Digested are a tag, the number of vertices as a little-endian u64, and the coordinates of the
/// vertices in their canonical order as little-endian f64. The vertices are the exact extreme points
/// without duplicates, sorted, `-0` as `+0`; so two sets of points have the same id just when they
/// have the same hull (short of a collision of BLAKE3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolytopeId([u8; DIGEST_BYTES]);

/// Why a text names no polytope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolytopeIdError {
    /// It does not begin with `p1-`.
    #[error("a polytope id begins with \"p1-\"")]
    Prefix,
    /// Not 64 digits after the prefix.
    #[error("a polytope id has 64 hex digits after \"p1-\", not {found} bytes")]
    Length {
        /// Bytes after the prefix.
        found: usize,
    },
    /// A byte that is none of 0-9, a-f.
    #[error("byte {at} of a polytope id is no lower-case hex digit")]
    Digit {
        /// Its place in the text.
        at: usize,
    },
}

impl PolytopeId {
    /// The id of a polytope.
    pub fn of(polytope: &Polytope) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(TAG);
        hasher.update(&u64::from(polytope.vertex_count()).to_le_bytes());
        for vertex in polytope.vertices() {
            for coordinate in vertex.iter() {
                hasher.update(&coordinate.to_le_bytes());
            }
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// The 32 bytes of the digest.
    pub fn digest(&self) -> &[u8; DIGEST_BYTES] {
        &self.0
    }
}

impl fmt::Display for PolytopeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
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
        let digits = text.strip_prefix(PREFIX).ok_or(PolytopeIdError::Prefix)?.as_bytes();
        if digits.len() != HEX_DIGITS {
            return Err(PolytopeIdError::Length { found: digits.len() });
        }
        let nibble = |i: usize| match digits[i] {
            digit @ b'0'..=b'9' => Ok(digit - b'0'),
            digit @ b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(PolytopeIdError::Digit { at: PREFIX.len() + i }),
        };
        let mut digest = [0; DIGEST_BYTES];
        for (i, byte) in digest.iter_mut().enumerate() {
            *byte = nibble(2 * i)? << 4 | nibble(2 * i + 1)?;
        }
        Ok(Self(digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Vec3;
    use crate::geometry::hull::convex_hull;

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
    fn an_id_is_read_back_and_anything_else_is_refused() {
        let id = id(&[[3., 1., 2.]]);
        let text = id.to_string();
        assert_eq!(text.len(), 67);
        assert_eq!(text.parse(), Ok(id));
        let parse = |text: &str| text.parse::<PolytopeId>().unwrap_err();
        assert_eq!(parse("m1-00"), PolytopeIdError::Prefix);
        assert_eq!(parse(&text[..66]), PolytopeIdError::Length { found: 63 });
        assert_eq!(parse(&format!("{text}0")), PolytopeIdError::Length { found: 65 });
        let upper = format!("p1-A{}", &text[4..]);
        assert_eq!(parse(&upper), PolytopeIdError::Digit { at: 3 });
        assert_eq!(parse(&format!("p1-{}", "é".repeat(32))), PolytopeIdError::Digit { at: 3 });
    }
}
