//! Convex pieces of meshes beside those that somebody else made: how far both stand out, and how
//! long ours took.
//!
//! ```text
//! cargo bench --bench pieces -- FILE
//! ```
//!
//! A line of the file is a mesh with its name, its pieces as lists of points and the seconds that
//! they took, as `pieces.py` writes it. Ours are at most as many. Of the pieces of each mesh the
//! bracket of the worst is told, as a part of the mesh's largest extent, and the sum over all of
//! the upper ends.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod clock;

use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polyhedron::pieces::{self, Wanted};
use clearance_geometry::polytope::Polytope;
use serde_json::Value;

use clock::thread_time;

/// A mesh, and what somebody else made of it.
struct Compared {
    name: String,
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    hulls: Vec<Polytope>,
    seconds: f64,
}

fn points(list: &Value) -> Vec<Vec3> {
    let point = |point: &Value| Vec3::from_fn(|k, _| point[k].as_f64().expect("a coordinate"));
    list.as_array().expect("points").iter().map(point).collect()
}

fn read(line: &str) -> Compared {
    let row: Value = serde_json::from_str(line).expect("a row");
    let corner = |corner: &Value| corner.as_u64().and_then(|corner| u32::try_from(corner).ok());
    let triangle = |of: &Value| [0, 1, 2].map(|k| corner(&of[k]).expect("a vertex"));
    let hull = |of: &Value| convex_hull(&points(of)).expect("a hull").polytope;
    Compared {
        name: row["name"].as_str().expect("a name").to_owned(),
        vertices: points(&row["vertices"]),
        triangles: row["triangles"].as_array().expect("triangles").iter().map(triangle).collect(),
        hulls: row["hulls"].as_array().expect("pieces").iter().map(hull).collect(),
        seconds: row["seconds"].as_f64().expect("seconds"),
    }
}

/// Around the gap of the worst, and the sum of the upper ends, as parts of an extent.
fn told(gaps: &[[f64; 2]], extent: f64) -> [f64; 3] {
    let worst = |end: usize| gaps.iter().map(|gap| gap[end]).fold(0.0, f64::max) / extent;
    [worst(0), worst(1), gaps.iter().map(|gap| gap[1]).sum::<f64>() / extent]
}

fn compare(row: &Compared) -> [[f64; 3]; 2] {
    let Compared { name, vertices, triangles, hulls, seconds } = row;
    let effort = &mut Effort::unlimited();
    let whole = convex_hull(vertices).expect("a hull").polytope;
    let extent = (whole.bounds().high - whole.bounds().low).max();
    let theirs = pieces::gaps(vertices, triangles, hulls, effort).expect("no limit");
    let wanted = Wanted { gap_max: None, count_max: hulls.len(), settles: true };
    let start = thread_time();
    let made = pieces::decompose(vertices, triangles, wanted, effort, &mut |_| {}).expect("pieces");
    let took = (thread_time() - start).as_secs_f64();
    let ours: Vec<[f64; 2]> = made.iter().map(|piece| piece.gap).collect();
    let both = [told(&theirs, extent), told(&ours, extent)];
    let shown = |[lower, upper, sum]: [f64; 3]| format!("{lower:.4} to {upper:.4}, sum {sum:.3}");
    println!(
        "| {name} | {} | {}: {}; {seconds:.1} s | {}: {}; {took:.1} s |",
        triangles.len(),
        hulls.len(),
        shown(both[0]),
        made.len(),
        shown(both[1]),
    );
    both
}

fn main() {
    let files = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let mut sums = [[0.0; 3]; 2];
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file that is there");
        for line in text.lines() {
            let both = compare(&read(line));
            for (sums, told) in sums.iter_mut().zip(both) {
                sums.iter_mut().zip(told).for_each(|(sum, told)| *sum += told);
            }
        }
    }
    println!("sums: theirs {:.3?}, ours {:.3?}", sums[0], sums[1]);
}
