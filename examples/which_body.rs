//! One mesh as its hull, as convex pieces and as itself, with a ball in its hollow: what each
//! answers, and a picture of the three.
//!
//! `cargo run --example which_body > docs/which_body.svg`
#![expect(clippy::print_stdout, reason = "the picture is what it prints")]

use std::error::Error;
use std::f64::consts::PI;
use std::fmt::Write as _;

use clearance_bodies::table::Wanted as WantedProof;
use clearance_bodies::table::verdict::VerdictQuestion;
use clearance_bodies::{Body, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polyhedron::Polyhedron;
use clearance_geometry::polyhedron::pieces::{Wanted, decompose, gaps};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;

/// Of the clamp's hollow and of its outside, metres.
const RADII: [f64; 2] = [0.6, 1.0];

/// How high the clamp is, metres.
const HEIGHT: f64 = 0.5;

/// Steps around the clamp, which is open over the last of ten.
const STEPS: u32 = 27;

/// The ball in the hollow, metres.
const BALL: f64 = 0.4;

/// Polygons with their corners in order, counterclockwise as seen from outside.
type Faces = Vec<Vec<Vec3>>;

fn main() -> Result<(), Box<dyn Error>> {
    let (points, triangles) = clamp();
    let effort = &mut Effort::unlimited();
    let hull = convex_hull(&points)?.polytope;
    let gap = gaps(&points, &triangles, std::slice::from_ref(&hull), effort)
        .map_err(|_| "an unlimited search was stopped")?[0];
    let wanted = Wanted { gap_max: Some(0.05), count_max: 32, settles: false };
    let pieces = decompose(&points, &triangles, wanted, effort, &mut |_| {})?;
    let region = Polyhedron::new(&points, &triangles, effort)?;
    let stands_out = pieces.iter().map(|piece| piece.gap[1]).fold(0.0, f64::max);

    let of_pieces: Vec<Body> = pieces.iter().map(|piece| piece.hull.clone().into()).collect();
    let itself = Body::of_polyhedron(region, hull.clone());
    let of_triangles = triangles.iter().map(|corners| corners.map(|i| points[i as usize]).to_vec());
    let panels = [
        Panel {
            title: "its hull",
            lines: [format!("stands out by {:.2} m", gap[1]), said(&[hull.clone().into()])],
            faces: faces_of(&hull),
        },
        Panel {
            title: "convex pieces",
            lines: [
                format!("{} pieces stand out by {stands_out:.3} m at most", pieces.len()),
                said(&of_pieces),
            ],
            faces: pieces.iter().flat_map(|piece| faces_of(&piece.hull)).collect(),
        },
        Panel {
            title: "itself",
            lines: [format!("{} triangles, nothing stands out", triangles.len()), said(&[itself])],
            faces: of_triangles.collect(),
        },
    ];
    println!("{}", picture(&panels));
    Ok(())
}

/// What is drawn and said of one of the three.
struct Panel {
    title: &'static str,
    lines: [String; 2],
    faces: Faces,
}

/// A clamp: a thick ring with an opening. Closed, and counterclockwise as seen from outside.
fn clamp() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let corner = |k: u32, radius: f64, z: f64| {
        let angle = PI * (0.1 + 1.8 * f64::from(k) / f64::from(STEPS));
        Vec3::new(radius * angle.cos(), radius * angle.sin(), z)
    };
    let section = |k| {
        let [inner, outer] = RADII;
        [(inner, 0.0), (outer, 0.0), (outer, HEIGHT), (inner, HEIGHT)].map(|(r, z)| corner(k, r, z))
    };
    let points: Vec<Vec3> = (0..=STEPS).flat_map(section).collect();
    let last = 4 * STEPS;
    let mut triangles = vec![[0, 1, 2], [0, 2, 3], [last, last + 2, last + 1]];
    triangles.push([last, last + 3, last + 2]);
    for k in 0..STEPS {
        for side in 0..4 {
            let (a, b) = (4 * k + side, 4 * k + (side + 1) % 4);
            triangles.extend([[a, a + 4, b + 4], [a, b + 4, b]]);
        }
    }
    (points, triangles)
}

/// What is said of a ball in the middle of the hollow.
fn said(bodies: &[Body]) -> String {
    let ball = Body::from(convex_hull(&[Vec3::zeros()]).expect("a point").polytope).rounded(BALL);
    let wanted = WantedProof { certificate: false, cover_steps_max: 0 };
    let meets = |body: &Body| {
        let question = VerdictQuestion::of([body.kind(), ball.kind()], None).expect("is answered");
        let at = |body: &Body, z| PlacedBody {
            body: body.clone(),
            pose: Pose::translation(0.0, 0.0, z),
        };
        let ready = question.prepare([at(body, 0.0), at(&ball, HEIGHT / 2.0)]);
        let decided = ready.expect("is answered").answer(wanted, &mut Effort::unlimited()).decided;
        decided.expect("an unlimited search ends").verdict != Verdict::Separated
    };
    let is_met = bodies.iter().any(meets);
    if is_met { "a ball in the hollow: in contact" } else { "a ball in the hollow: free" }
        .to_owned()
}

fn faces_of(hull: &Polytope) -> Faces {
    let corners = hull.vertices();
    let face = |row: &[u32]| row.iter().map(|&i| corners[i as usize]).collect();
    hull.facets().rows().map(face).collect()
}

/// The three beside each other, seen from above and from the opening.
fn picture(panels: &[Panel]) -> String {
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 330\" \
         font-family=\"sans-serif\" font-size=\"14\">\n\
         <rect width=\"900\" height=\"330\" fill=\"#fff\"/>\n",
    );
    for (k, panel) in panels.iter().enumerate() {
        let middle = 150.0 + 300.0 * k as f64;
        for path in painted(&panel.faces, [middle, 165.0]) {
            let _ = writeln!(svg, "{path}");
        }
        let text = |y: u32, style: &str, line: &str| {
            format!("<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\" {style}>{line}</text>\n")
        };
        svg += &text(28, "font-weight=\"600\" font-size=\"16\"", panel.title);
        svg += &text(290, "fill=\"#52606d\"", &panel.lines[0]);
        svg += &text(312, "fill=\"#52606d\"", &panel.lines[1]);
    }
    svg + "</svg>"
}

/// The faces that are turned to whoever looks, the farthest first.
fn painted(faces: &Faces, [x, y]: [f64; 2]) -> Vec<String> {
    let towards = Vec3::new(0.75, -0.45, 0.9).normalize();
    let right = Vec3::z().cross(&towards).normalize();
    let up = towards.cross(&right);
    let light = Vec3::new(0.1, -0.5, 0.85).normalize();
    let mut seen: Vec<(f64, String)> = Vec::new();
    for face in faces {
        let normal = (face[1] - face[0]).cross(&(face[2] - face[0])).normalize();
        if normal.dot(&towards) <= 0.0 {
            continue;
        }
        let middle = face.iter().sum::<Vec3>() / face.len() as f64;
        let shade = 120.0 + 125.0 * (0.5 + 0.5 * normal.dot(&light));
        let [red, green, blue] = [0.86, 0.94, 1.0].map(|part: f64| (part * shade).round());
        let at =
            |p: &Vec3| format!("{:.1},{:.1}", x + 118.0 * p.dot(&right), y - 118.0 * p.dot(&up));
        let points: Vec<String> = face.iter().map(at).collect();
        let path = format!(
            "<polygon points=\"{}\" fill=\"rgb({red},{green},{blue})\" stroke=\"#5b6b78\" \
             stroke-width=\"0.7\" stroke-linejoin=\"round\"/>",
            points.join(" ")
        );
        seen.push((middle.dot(&towards), path));
    }
    seen.sort_by(|a, b| a.0.total_cmp(&b.0));
    seen.into_iter().map(|(_, path)| path).collect()
}
