//! Files as programs write them, and as strangers do.

use super::*;
use crate::mesh::{Format, document_bytes};
use clearance_geometry::Vec3;
use clearance_geometry::effort::Stopped;

/// A tetrahedron's four corners as a source, with normals that are nobody's business.
const SOURCES: &str = r##"
    <source id="p"><float_array id="pa" count="12">0 0 0  1 0 0  0 1 0  0 0 1</float_array>
      <technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
      <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
      </source>
    <source id="n"><float_array id="na" count="3">0 0 1</float_array></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>"##;

/// Each corner is followed by the index of a normal.
const FACES: &str = r##"<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
    <input semantic="NORMAL" source="#n" offset="1"/>
    <p>0 0 2 0 1 0  0 0 1 0 3 0  0 0 3 0 2 0  1 0 2 0 3 0</p></triangles>"##;

fn file(asset: &str, faces: &str, scene: &str) -> String {
    format!(
        r#"<?xml version="1.0"?><COLLADA version="1.4.1"><asset>{asset}</asset>
        <library_geometries><geometry id="g"><mesh>{SOURCES}{faces}</mesh></geometry>
        </library_geometries>{scene}</COLLADA>"#
    )
}

fn scene(nodes: &str) -> String {
    format!(
        r##"<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene>
        </library_visual_scenes>
        <scene><instance_visual_scene url="#s"/></scene>"##
    )
}

const SHOWN: &str = r##"<instance_geometry url="#g"/>"##;

fn read_text(text: &str) -> Result<MeshData, MeshError> {
    read(text.as_bytes(), 1_000, &mut Effort::unlimited())
}

fn problem(text: &str) -> String {
    read_text(text).unwrap_err().to_string()
}

/// Six times the volume that the triangles wind around.
fn volume(mesh: &MeshData) -> f64 {
    let of = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|corner| mesh.vertices[corner as usize]);
        a.cross(&b).dot(&c)
    };
    mesh.triangles.iter().map(of).sum()
}

#[test]
fn the_polygons_of_a_file_are_its_triangles() {
    let mesh = read_text(&file("", FACES, "")).unwrap();
    assert_eq!(mesh.triangles.len(), 4);
    assert_eq!(mesh.vertices.len(), 4);
    assert!((volume(&mesh) - 1.0).abs() < 1e-15);
    assert_eq!(mesh.note, None);
    let with_input =
        |of: &str| format!(r##"{of}<input semantic="VERTEX" source="#v" offset="0"/>"##);
    for (list, triangles) in [
        // A quadrilateral and a triangle, a quadrilateral as a polygon, a fan, a strip, lines.
        (with_input("<polylist>") + "<vcount>4 3</vcount><p>0 1 2 3 0 1 2</p></polylist>", 3),
        (with_input("<polygons>") + "<p>0 1 2 3</p><p>1 2 3</p></polygons>", 3),
        (with_input("<trifans>") + "<p>0 1 2 3</p></trifans>", 2),
        (with_input("<tristrips>") + "<p>0 1 2 3</p><p>0 1 2</p></tristrips>", 3),
        (with_input("<lines>") + "<p>0 1 2 3</p></lines>", 0),
    ] {
        let mesh = read_text(&file("", &list, "")).unwrap();
        assert_eq!(mesh.triangles.len(), triangles, "{list}");
    }
    let strip = with_input("<tristrips>") + "<p>0 1 2 3</p></tristrips>";
    let mesh = read_text(&file("", &strip, "")).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
    // By its content, and nothing but the format is asked.
    let text = file("", FACES, "");
    for format in [None, Some(Format::Collada)] {
        let read = super::super::read(text.as_bytes(), format, 10, &mut Effort::unlimited());
        assert_eq!(read.unwrap().triangles.len(), 4);
    }
}

#[test]
fn nodes_put_what_is_in_them_and_the_first_transform_is_the_outermost() {
    let at = |nodes: &str| read_text(&file("", FACES, &scene(nodes))).unwrap();
    let mesh = at(&format!(
        "<node><translate>1 2 3</translate><rotate>0 0 2 90</rotate><scale>2 1 1</scale>{SHOWN}
        </node>"
    ));
    // (1, 0, 0) is scaled to (2, 0, 0), turned to (0, 2, 0), shifted to (1, 4, 3).
    let wanted = [[1.0, 2.0, 3.0], [0.0, 2.0, 3.0], [1.0, 4.0, 3.0], [1.0, 2.0, 4.0]];
    for corner in wanted {
        assert!(mesh.vertices.contains(&corner.into()), "{corner:?}: {:?}", mesh.vertices);
    }
    let shifted = at(&format!(
        "<node><matrix>1 0 0 5  0 1 0 6  0 0 1 7  0 0 0 1</matrix><node>{SHOWN}</node></node>"
    ));
    assert!(shifted.vertices.contains(&Vec3::new(6.0, 6.0, 7.0)));
    // A third of a turn about the diagonal takes each axis to the next.
    let turned = at(&format!("<node><rotate>1 1 1 120</rotate>{SHOWN}</node>"));
    let near = |wanted: Vec3| turned.vertices.iter().any(|one| (one - wanted).norm() < 1e-15);
    assert!(near(Vec3::x()) && near(Vec3::y()) && near(Vec3::z()), "{:?}", turned.vertices);
    // Shown twice, once in a mirror: both are seen from outside.
    let twice = at(&format!(
        "<node>{SHOWN}</node><node><matrix>-1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix>{SHOWN}</node>"
    ));
    assert_eq!(twice.triangles.len(), 8);
    assert!((volume(&twice) - 2.0).abs() < 1e-14);
    // What is in the library and not in the scene is not shown.
    assert_eq!(at("<node/>").triangles.len(), 0);
    let instance = format!(
        r##"<library_nodes><node id="k">{SHOWN}</node></library_nodes>{}"##,
        scene(r##"<node><translate>0 0 9</translate><instance_node url="#k"/></node>"##)
    );
    let mesh = read_text(&file("", FACES, &instance)).unwrap();
    assert!(mesh.vertices.contains(&Vec3::new(0.0, 0.0, 10.0)));
}

#[test]
fn lengths_are_metres_and_axes_are_left_alone_with_a_word() {
    let mesh =
        read_text(&file(r#"<unit meter="0.001" name="mm"/><up_axis>Y_UP</up_axis>"#, FACES, ""));
    let mesh = mesh.unwrap();
    assert!(mesh.vertices.contains(&Vec3::new(0.001, 0.0, 0.0)), "{:?}", mesh.vertices);
    assert_eq!(mesh.note, Some(NOT_Z_UP));
    let mesh = read_text(&file("<up_axis> Z_UP </up_axis>", FACES, "")).unwrap();
    assert_eq!(mesh.note, None);
    // Without a transform the numbers are those of the text, to the last bit.
    let digits = "0.1234567890123456789";
    let text = file("", FACES, &scene(&format!("<node>{SHOWN}</node>")));
    let mesh = read_text(&text.replace("1 0 0  0 1 0", &format!("{digits} 0 0  0 1 0"))).unwrap();
    assert!(mesh.vertices.contains(&Vec3::new(digits.parse().unwrap(), 0.0, 0.0)));
}

#[test]
fn what_would_change_the_shape_is_refused_with_its_line() {
    let shown = |nodes: &str| file("", FACES, &scene(nodes));
    for (text, wanted) in [
        (file("", FACES, "").replace("COLLADA", "Other"), "must be COLLADA"),
        (file("", &FACES.replace("3 0</p>", "9 0</p>"), ""), "a point that is not there"),
        (file("", &FACES.replace("3 0</p>", "-1 0</p>"), ""), "is no number"),
        (file("", &FACES.replace("3 0</p>", "3</p>"), ""), "whole corners"),
        (file("", &FACES.replace(" 1 0 2 0 3 0</p>", "1 0</p>"), ""), "whole polygons"),
        (file("", &FACES.replace("offset=\"1\"", "offset=\"64\""), ""), "from 0 to 63"),
        (file("", &FACES.replace("#v", "#w"), ""), "source names no vertices"),
        (file("", FACES, "").replace("0 0 1</float", "0 0 inf</float"), "not finite"),
        (file("", FACES, "").replace("0 0 1</float", "0 0</float"), "more positions than"),
        (file("", FACES, "").replace("stride=\"3\"", "stride=\"1\""), "at least 3"),
        (
            file("", FACES, "")
                .replace("count=\"4\" stride", "count=\"18446744073709551615\" stride"),
            "more positions than",
        ),
        (file("", FACES, "").replace("mesh>", "spline>"), "only meshes"),
        (file("<unit meter=\"0\"/>", FACES, ""), "must be positive"),
        (file("", &FACES.replace("<p>", "<ph/><p>"), ""), "holes"),
        (shown("<node><lookat>0 0 0 1 0 0 0 0 1</lookat></node>"), "not read"),
        (shown("<node><rotate>0 0 0 90</rotate></node>"), "needs an axis"),
        (shown("<node><scale>1 1</scale></node>"), "needs 3 finite numbers"),
        (shown("<node><matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 1 1</matrix></node>"), "last row"),
        (shown(r##"<node><instance_controller url="#c"/></node>"##), "skins"),
        (shown(r##"<node><instance_geometry url="other.dae#g"/></node>"##), "of this file"),
        (shown(r##"<node id="a"><instance_node url="#a"/></node>"##), "inside each other"),
    ] {
        let told = problem(&text);
        assert!(told.contains(wanted), "{wanted}: {told}");
        assert!(told.starts_with("COLLADA line "), "{told}");
    }
    let no_text = [b"<COLLADA>".as_slice(), &[0xff]].concat();
    let told = read(&no_text, 10, &mut Effort::unlimited()).unwrap_err().to_string();
    assert!(told.contains("UTF-8"), "{told}");
    let many = read(file("", FACES, "").as_bytes(), 3, &mut Effort::unlimited());
    assert_eq!(many, Err(MeshError::TooManyTriangles { max: 3 }));
}

/// Thirty nodes that each show the next one twice are a thousand million.
#[test]
fn a_small_file_shows_no_more_than_what_was_accounted() {
    let twice = |k: usize| format!(r##"<instance_node url="#k{k}"/>"##).repeat(2);
    let nodes: String =
        (0..30).map(|k| format!(r##"<node id="k{k}">{}</node>"##, twice(k + 1))).collect();
    let library = format!(
        r##"<library_nodes>{nodes}<node id="k30"/></library_nodes>{}"##,
        scene(r##"<node><instance_node url="#k0"/></node>"##)
    );
    let told = problem(&file("", FACES, &library));
    assert!(told.contains("more than 65,536 nodes"), "{told}");
    // A geometry of many triangles that is shown often, and a source that is named often.
    let faces = FACES.replace("</p>", &(" 0 0 1 0 2 0".repeat(2_000) + "</p>"));
    let text = file("", &faces, &scene(&format!("<node>{}</node>", SHOWN.repeat(60))));
    let told = read(text.as_bytes(), 10_000_000, &mut Effort::unlimited()).unwrap_err().to_string();
    assert!(told.contains("too often"), "{told}");
    let geometry = |k: usize| format!(r#"<geometry id="g{k}"><mesh>{FACES}</mesh></geometry>"#);
    let many: String = (0..40).map(geometry).collect();
    let points = " 0 0 0".repeat(4_000);
    let text = file("", FACES, "").replace("</geometry>", &format!("</geometry>{many}"));
    let text = text.replace("0 0 1</float_array>\n", &format!("0 0 1{points}</float_array>\n"));
    let text = text.replace("count=\"4\" stride", "count=\"4004\" stride");
    let told = problem(&text);
    assert!(told.contains("too many geometries"), "{told}");
    assert!(document_bytes(text.as_bytes()) > 40 * text.len());
}

#[test]
fn a_file_is_read_no_longer_than_the_effort_lasts() {
    let text = file("", FACES, &scene(&format!("<node>{SHOWN}</node>")));
    let mut steps = 0;
    loop {
        match read(text.as_bytes(), 10, &mut Effort::with_steps(steps)) {
            Ok(_) => break,
            Err(MeshError::Stopped(Stopped::Steps)) => steps += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(steps > 100, "{steps}");
}
