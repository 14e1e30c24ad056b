//! Wavefront OBJ: vertices and faces; everything else in the file is passed over. Faces of more
//! than three vertices are cut into a fan.

use super::{MeshData, MeshError};
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;

/// Reads a file, as long as the effort lasts: a step is a line, a corner or a point.
pub fn read(
    bytes: &[u8],
    triangles_max: usize,
    effort: &mut Effort<'_>,
) -> Result<MeshData, MeshError> {
    let mut mesh = MeshData::default();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        effort.spend_step()?;
        let wrong = |problem| MeshError::Line { line: index + 1, problem };
        if !line.starts_with(b"v") && !line.starts_with(b"f") && !line.starts_with(b" ") {
            continue;
        }
        let line = std::str::from_utf8(line).map_err(|_| wrong("is no text"))?;
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
                let (Some(x), Some(y), Some(z)) = (number(), number(), number()) else {
                    return Err(wrong("a vertex needs three numbers"));
                };
                mesh.vertices.push(Vec3::new(x, y, z));
            }
            Some("f") => {
                let mut corners = Vec::new();
                for word in words {
                    effort.spend_step()?;
                    let corner = corner(word, mesh.vertices.len());
                    let missing = || wrong("a face names a vertex that is not there");
                    corners.push(corner.ok_or_else(missing)?);
                }
                let [first, rest @ ..] = corners.as_slice() else {
                    return Err(wrong("a face needs three vertices"));
                };
                if rest.len() < 2 {
                    return Err(wrong("a face needs three vertices"));
                }
                for [second, third] in rest.array_windows() {
                    effort.look_at_clock()?;
                    mesh.triangles.push([*first, *second, *third]);
                }
                if mesh.triangles.len() > triangles_max {
                    return Err(MeshError::TooManyTriangles { max: triangles_max });
                }
            }
            _ => {}
        }
    }
    Ok(mesh.welded(effort)?)
}

/// `7`, `7/1`, `7//3`, `7/1/3`: counted from one; negative: from the last vertex so far.
fn corner(word: &str, vertices: usize) -> Option<u32> {
    let number: i64 = word.split('/').next()?.parse().ok()?;
    let vertices = i64::try_from(vertices).ok()?;
    let index = if number < 0 { vertices + number } else { number - 1 };
    if (0..vertices).contains(&index) { u32::try_from(index).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8], triangles_max: usize) -> Result<MeshData, MeshError> {
        read(bytes, triangles_max, &mut Effort::unlimited())
    }

    #[test]
    fn faces_of_every_notation_are_read() {
        let text = "# a square\nmtllib x\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\n  v 0 1 0\nvn 0 0 1\n\
                    f 1/1/1 2//1 3/3 4\nf -1 -2 -3\n";
        let mesh = read_all(text.as_bytes(), 10).unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [3, 2, 1]]);
        assert_eq!(mesh.vertices.len(), 4);
    }

    #[test]
    fn a_face_that_names_no_vertex_is_refused_with_its_line() {
        for face in
            ["f 1 2 3", "f 0 1 1", "f 1 1 -2", "f 1 1", "f 1 1 x", "f 1 1 99999999999999999999"]
        {
            let text = format!("v 0 0 0\n{face}\n");
            let refused = read_all(text.as_bytes(), 10).unwrap_err();
            assert!(matches!(refused, MeshError::Line { line: 2, .. }), "{face}: {refused}");
        }
        let many = MeshError::TooManyTriangles { max: 1 };
        assert_eq!(read_all(b"v 0 0 0\nf 1 1 1 1\n", 1), Err(many));
    }
}
