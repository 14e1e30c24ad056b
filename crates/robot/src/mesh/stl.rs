//! STL, binary and ASCII. Only the corners matter: normals and attributes are not looked at.

use super::{MeshData, MeshError, Welder};
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;

const HEADER_BYTES: usize = 84;
const TRIANGLE_BYTES: usize = 50;

/// Whether the length is what the count in the header says. (A binary file may begin with "solid".)
pub fn is_binary(bytes: &[u8]) -> bool {
    announced(bytes)
        .is_some_and(|count| count as usize == room(bytes) && bytes.len() == whole(bytes))
}

fn announced(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(80..HEADER_BYTES)?.try_into().ok()?))
}

fn room(bytes: &[u8]) -> usize {
    bytes.len().saturating_sub(HEADER_BYTES) / TRIANGLE_BYTES
}

fn whole(bytes: &[u8]) -> usize {
    HEADER_BYTES + room(bytes) * TRIANGLE_BYTES
}

/// Reads either kind. What a header announces is believed only as far as the file is long.
/// A step of the effort is a triangle or a line.
pub fn read(
    bytes: &[u8],
    triangles_max: usize,
    effort: &mut Effort<'_>,
) -> Result<MeshData, MeshError> {
    if !is_binary(bytes) && bytes.trim_ascii_start().starts_with(b"solid") {
        return read_ascii(bytes, triangles_max, effort);
    }
    let announced = announced(bytes).ok_or(MeshError::UnknownFormat)?;
    if announced as usize > room(bytes) {
        return Err(MeshError::StlLength { announced, room: room(bytes) });
    }
    if announced as usize > triangles_max {
        return Err(MeshError::TooManyTriangles { max: triangles_max });
    }
    let mut welder = Welder::default();
    let records = bytes[HEADER_BYTES..].chunks_exact(TRIANGLE_BYTES).take(announced as usize);
    let number = |record: &[u8], k: usize| {
        // Twelve bytes of normal, then three corners of three f32 each.
        let at = 12 + 4 * k;
        f64::from(f32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]))
    };
    let mut triangles = Vec::with_capacity(announced as usize);
    for record in records {
        effort.spend_step()?;
        triangles.push(std::array::from_fn(|corner| {
            let [x, y, z] = std::array::from_fn(|axis| number(record, 3 * corner + axis));
            welder.index(Vec3::new(x, y, z))
        }));
    }
    Ok(MeshData::new(welder.vertices, triangles))
}

fn read_ascii(
    bytes: &[u8],
    triangles_max: usize,
    effort: &mut Effort<'_>,
) -> Result<MeshData, MeshError> {
    let mut welder = Welder::default();
    let (mut triangles, mut corners) = (Vec::new(), Vec::new());
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        effort.spend_step()?;
        let wrong = |problem| MeshError::Line { line: index + 1, problem };
        let line = std::str::from_utf8(line).map_err(|_| wrong("is no text"))?;
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("vertex") => {
                let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
                let (Some(x), Some(y), Some(z)) = (number(), number(), number()) else {
                    return Err(wrong("a vertex needs three numbers"));
                };
                if corners.len() == 3 {
                    return Err(wrong("a facet has more than three vertices"));
                }
                corners.push(welder.index(Vec3::new(x, y, z)));
            }
            Some("endfacet") => {
                let triangle = corners.as_slice().try_into();
                triangles
                    .push(triangle.map_err(|_| wrong("a facet has fewer than three vertices"))?);
                corners.clear();
                if triangles.len() > triangles_max {
                    return Err(MeshError::TooManyTriangles { max: triangles_max });
                }
            }
            _ => {}
        }
    }
    if !corners.is_empty() {
        let line = bytes.split(|byte| *byte == b'\n').count();
        return Err(MeshError::Line { line, problem: "the last facet does not end" });
    }
    Ok(MeshData::new(welder.vertices, triangles))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn read_all(bytes: &[u8], triangles_max: usize) -> Result<MeshData, MeshError> {
        read(bytes, triangles_max, &mut Effort::unlimited())
    }

    /// A binary STL of these triangles.
    pub(crate) fn binary(triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
        let mut bytes = vec![b' '; 80];
        bytes.extend(u32::try_from(triangles.len()).unwrap().to_le_bytes());
        for triangle in triangles {
            bytes.extend([0; 12]);
            for number in triangle.iter().flatten() {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend([0; 2]);
        }
        bytes
    }

    const TRIANGLE: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.0]];

    #[test]
    fn binary_and_ascii_give_the_same_mesh() {
        let from_binary = read_all(&binary(&[TRIANGLE, TRIANGLE]), 10).unwrap();
        assert_eq!(from_binary.triangles, [[0, 1, 2], [0, 1, 2]]);
        let facet = "facet normal 0 0 0\n outer loop\n vertex 0 0 0\r\n vertex 1e0 0 0\n \
                     vertex -0 .5 0\n endloop\nendfacet\n";
        let text = format!("solid x\n{facet}{facet}endsolid x\n");
        assert_eq!(read_all(text.as_bytes(), 10).unwrap(), from_binary);
    }

    #[test]
    fn a_header_that_announces_billions_of_triangles_is_refused_at_once() {
        let mut bytes = binary(&[TRIANGLE]);
        bytes[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        let refused = read_all(&bytes, usize::MAX).unwrap_err();
        assert_eq!(refused, MeshError::StlLength { announced: u32::MAX, room: 1 });
    }

    #[test]
    fn a_binary_file_that_begins_with_solid_is_binary() {
        let mut bytes = binary(&[TRIANGLE]);
        bytes[..5].copy_from_slice(b"solid");
        assert_eq!(read_all(&bytes, 10).unwrap().triangles.len(), 1);
    }

    #[test]
    fn a_broken_text_is_refused_with_its_line() {
        let check = |text: &str, line: usize| {
            let refused = read_all(text.as_bytes(), 10).unwrap_err();
            let MeshError::Line { line: found, .. } = refused else { panic!("{refused}") };
            assert_eq!(found, line, "{text}");
        };
        check("solid\nvertex 1 2\n", 2);
        check("solid\nfacet\nvertex 1 2 3\nendfacet", 4);
        check("solid\nvertex 1 2 3", 2);
        assert_eq!(read_all(&[], 10), Err(MeshError::UnknownFormat));
    }
}
