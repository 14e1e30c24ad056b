//! Bodies, and rows of questions about two of them; and the file in which peers read both.
//!
//! The file is little-endian: `CLP1`; u32 shapes, each u32 kind, f64 radius, u32 vertices and three
//! f64 of each, u32 triangles and three u32 of each; u32 rows, each u32 what is asked, u32 and u32
//! the shapes, u32 places, of each 20 f64 (two placings, velocity, spin), then the
//! right answer of each as f64.

use std::io::Write;

use clearance_geometry::Vec3;
use clearance_geometry::pose::Pose;

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeKind {
    Hull = 0,
    /// Triangles, as a surface.
    Mesh = 1,
    /// One vertex, or two, with a radius.
    Round = 2,
}

pub struct Shape {
    pub name: String,
    pub kind: ShapeKind,
    pub radius: f64,
    pub vertices: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

/// What is asked about two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Whether they have a point in common.
    Verdict = 0,
    Distance = 1,
    /// When they first meet, where the first one goes straight.
    Straight = 2,
    /// The same where it turns by a radian meanwhile.
    Turning = 3,
    /// The same of a point.
    Ray = 4,
    /// Making the second body ready.
    Build = 5,
}

impl Asked {
    pub fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Distance => "distance",
            Self::Straight => "first contact, straight",
            Self::Turning => "first contact, turning",
            Self::Ray => "ray",
            Self::Build => "build",
        }
    }
}

/// Where a body is: a place and a unit quaternion, w first.
#[derive(Clone, Copy, Debug)]
pub struct Placing {
    pub at: Vec3,
    pub turn: [f64; 4],
}

impl Placing {
    pub fn pose(&self) -> Pose {
        Pose::from_quaternion(self.at, self.turn).expect("a unit quaternion")
    }
}

/// A question: where both are, and how the first one moves until t = 1.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub a: Placing,
    pub b: Placing,
    pub velocity: Vec3,
    pub spin: Vec3,
    /// 0 or 1 of a verdict, metres of a distance, a time of a first contact, infinity if there is
    /// none: by the exact library.
    pub right: f64,
}

pub struct Row {
    pub asked: Asked,
    pub shapes: [usize; 2],
    /// How the bodies stand.
    pub regime: &'static str,
    pub places: Vec<Place>,
}

/// Writes them down for the peers.
pub fn write(path: &str, shapes: &[Shape], rows: &[Row]) -> std::io::Result<()> {
    let mut bytes: Vec<u8> = b"CLP1".to_vec();
    let word = |bytes: &mut Vec<u8>, n: usize| {
        bytes.extend(u32::try_from(n).expect("small").to_le_bytes());
    };
    let numbers = |bytes: &mut Vec<u8>, numbers: &[f64]| {
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    };
    word(&mut bytes, shapes.len());
    for shape in shapes {
        word(&mut bytes, shape.kind as usize);
        numbers(&mut bytes, &[shape.radius]);
        word(&mut bytes, shape.vertices.len());
        for v in &shape.vertices {
            numbers(&mut bytes, v.as_slice());
        }
        word(&mut bytes, shape.triangles.len());
        for index in shape.triangles.iter().flatten() {
            word(&mut bytes, *index as usize);
        }
    }
    word(&mut bytes, rows.len());
    for row in rows {
        for n in [row.asked as usize, row.shapes[0], row.shapes[1], row.places.len()] {
            word(&mut bytes, n);
        }
        for place in &row.places {
            for placing in [place.a, place.b] {
                numbers(&mut bytes, placing.at.as_slice());
                numbers(&mut bytes, &placing.turn);
            }
            numbers(&mut bytes, place.velocity.as_slice());
            numbers(&mut bytes, &[place.spin.x, place.spin.y, place.spin.z]);
        }
        let right: Vec<f64> = row.places.iter().map(|place| place.right).collect();
        numbers(&mut bytes, &right);
    }
    std::fs::File::create(path)?.write_all(&bytes)
}
