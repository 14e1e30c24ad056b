//! The bodies and how they stand.

use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::hull::{convex_hull, samples};

use crate::case::{Asked, Place, Placing, Row, Shape, ShapeKind};
use crate::ours::{Ours, Way};

const PLACES: usize = 60;
const RAYS: usize = 2_000;
const ROUND_PLACES: usize = 500;

/// A ball with bumps, of radius 0.74 to 1.2: not convex, closed, and of exactly so many triangles.
fn bumpy(triangles: u32) -> Shape {
    let hull = convex_hull(&samples::sphere(triangles / 2 + 2, 1.0)).expect("points").polytope;
    let bumps = |v: &Vec3| v * (0.97 + 0.23 * (7.0 * v.x).sin() * (5.0 * v.y).cos());
    let fan = |row: &[u32]| -> Vec<[u32; 3]> {
        row.windows(2).skip(1).map(|pair| [row[0], pair[0], pair[1]]).collect()
    };
    Shape {
        name: format!("mesh {triangles}"),
        kind: ShapeKind::Mesh,
        radius: 0.0,
        vertices: hull.vertices().iter().map(bumps).collect(),
        triangles: hull.facets().rows().flat_map(fan).collect(),
    }
}

/// A hull of 50 vertices, a mesh of each size, a ball and a capsule.
pub fn shapes(sizes: &[u32]) -> Vec<Shape> {
    let plain = |name: &str, kind, radius, vertices| {
        let triangles = Vec::new();
        Shape { name: name.to_owned(), kind, radius, vertices, triangles }
    };
    let mut shapes = vec![plain("hull", ShapeKind::Hull, 0.0, samples::sphere(50, 0.3))];
    shapes.extend(sizes.iter().map(|size| bumpy(*size)));
    shapes.push(plain("ball", ShapeKind::Round, 0.5, vec![Vec3::zeros()]));
    let ends = vec![Vec3::z() * 0.5, Vec3::z() * -0.5];
    shapes.push(plain("capsule", ShapeKind::Round, 0.25, ends));
    shapes
}

fn turn(random: &mut Random) -> [f64; 4] {
    let turn = [0; 4].map(|_| random.between(-1.0, 1.0));
    let length = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
    turn.map(|x| x / length)
}

/// What makes rows of two of the bodies.
struct Maker<'a> {
    ours: &'a Ours,
    shapes: [usize; 2],
    random: &'a mut Random,
}

impl Maker<'_> {
    fn distance(&self, place: &Place) -> f64 {
        let row = self.row(Asked::Distance, "", Vec::new());
        self.ours.answer(&row, place, Way::Surface)
    }

    fn row(&self, asked: Asked, regime: &'static str, places: Vec<Place>) -> Row {
        Row { asked, shapes: self.shapes, regime, places }
    }

    /// The first body, turned, this far from the second one, which is at the origin.
    fn apart(&mut self, gap: f64) -> Place {
        let [a, b] = [turn(self.random), turn(self.random)];
        let way = self.random.direction();
        self.along(way, [a, b], gap)
    }

    fn along(&self, way: Vec3, turns: [[f64; 4]; 2], gap: f64) -> Place {
        let at = |far: f64| Place {
            a: Placing { at: way * far, turn: turns[0] },
            b: Placing { at: Vec3::zeros(), turn: turns[1] },
            velocity: Vec3::zeros(),
            spin: Vec3::zeros(),
            right: 0.0,
        };
        let mut far = 6.0;
        // The distance falls by at most a step, so that steps of it never go too far.
        for _ in 0..200 {
            let left = self.distance(&at(far)) - gap;
            far -= left;
            if left < 1e-12 {
                break;
            }
        }
        at(far)
    }

    /// Places in which the first body stands that far out of the second one.
    fn places(&mut self, count: usize, gap: [f64; 2]) -> Vec<Place> {
        let one = |maker: &mut Self| {
            let gap = maker.random.between(gap[0], gap[1]);
            let mut place = maker.apart(gap.max(0.0));
            place.a.at += place.a.at.normalize() * gap.min(0.0);
            place
        };
        (0..count).map(|_| one(self)).collect()
    }

    /// Places in which it is wholly inside.
    fn inside(&mut self, count: usize) -> Vec<Place> {
        let one = |random: &mut Random| Place {
            a: Placing { at: random.direction() * random.between(0.0, 0.1), turn: turn(random) },
            b: Placing { at: Vec3::zeros(), turn: turn(random) },
            velocity: Vec3::zeros(),
            spin: Vec3::zeros(),
            right: 0.0,
        };
        (0..count).map(|_| one(self.random)).collect()
    }

    /// The same with a motion towards the other one, and past it now and then.
    fn moving(&mut self, places: &[Place], angle: f64) -> Vec<Place> {
        let one = |place: &Place, random: &mut Random| Place {
            velocity: random.direction() * 0.5 - place.a.at.normalize() * 0.6,
            spin: random.direction() * angle,
            ..*place
        };
        places.iter().map(|place| one(place, self.random)).collect()
    }

    fn rays(&mut self) -> Vec<Place> {
        let one = |random: &mut Random| {
            let from = random.direction() * 2.0;
            let to = random.direction() * random.between(0.0, 1.25);
            Place {
                a: Placing { at: from, turn: [1.0, 0.0, 0.0, 0.0] },
                b: Placing { at: Vec3::zeros(), turn: [0.5, 0.5, 0.5, 0.5] },
                velocity: (to - from).normalize() * random.between(1.8, 3.0),
                spin: Vec3::zeros(),
                right: 0.0,
            }
        };
        (0..RAYS).map(|_| one(self.random)).collect()
    }

    /// Places of which each is a small step from the one before.
    fn walk(&mut self, gap: f64) -> Vec<Place> {
        let mut turns = [turn(self.random), turn(self.random)];
        let mut way = self.random.direction();
        let mut places = Vec::new();
        for _ in 0..ROUND_PLACES {
            way = (way + self.random.direction() * 0.01).normalize();
            for turn in &mut turns {
                for x in turn.iter_mut() {
                    *x += self.random.between(-0.01, 0.01);
                }
                let length = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
                *turn = turn.map(|x| x / length);
            }
            places.push(self.along(way, turns, gap));
        }
        places
    }
}

fn of_meshes(maker: &mut Maker<'_>, is_hull: bool) -> Vec<Row> {
    let far = maker.places(PLACES, [1.5, 3.0]);
    let near = maker.places(PLACES, [0.04, 0.24]);
    let touch = maker.places(PLACES, [-0.45, -0.02]);
    let mut rows = vec![
        maker.row(Asked::Verdict, "far", far.clone()),
        maker.row(Asked::Verdict, "near", near.clone()),
        maker.row(Asked::Verdict, "touch", touch.clone()),
        maker.row(Asked::Distance, "far", far),
        maker.row(Asked::Distance, "near", near.clone()),
    ];
    if is_hull {
        let inside = maker.inside(PLACES);
        rows.push(maker.row(Asked::Verdict, "inside", inside.clone()));
        rows.push(maker.row(Asked::Distance, "inside", inside));
    }
    for (asked, angle) in [(Asked::Straight, 0.0), (Asked::Turning, 1.0)] {
        let moving = maker.moving(&near, angle);
        rows.push(maker.row(asked, "near", moving));
    }
    if is_hull {
        let rays = maker.rays();
        rows.push(maker.row(Asked::Ray, "", rays));
        let build = maker.places(1, [1.0, 1.0]);
        rows.push(maker.row(Asked::Build, "", build));
    }
    rows
}

fn of_rounded(maker: &mut Maker<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (regime, gap) in [("apart", 0.1), ("touching", 0.0), ("deep", -0.1)] {
        let places = maker.places(ROUND_PLACES, [gap, gap]);
        rows.push(maker.row(Asked::Verdict, regime, places.clone()));
        rows.push(maker.row(Asked::Distance, regime, places.clone()));
        if gap > 0.0 {
            let moving = maker.moving(&places, 0.0);
            rows.push(maker.row(Asked::Straight, regime, moving));
        }
    }
    let walk = maker.walk(0.1);
    rows.push(maker.row(Asked::Verdict, "walking", walk.clone()));
    rows.push(maker.row(Asked::Distance, "walking", walk.clone()));
    let moving = walk.iter().map(|place| Place { velocity: place.a.at * -0.5, ..*place });
    rows.push(maker.row(Asked::Straight, "walking", moving.collect()));
    rows
}

/// All rows, with the right answers; `round`: those of balls and capsules, too.
pub fn rows(ours: &Ours, shapes: &[Shape], round: bool) -> Vec<Row> {
    let at = |kind| (0..shapes.len()).filter(move |k| shapes[*k].kind == kind);
    let random = &mut Random::new(23);
    let mut rows = Vec::new();
    for mesh in at(ShapeKind::Mesh) {
        for first in [0, mesh] {
            let maker = &mut Maker { ours, shapes: [first, mesh], random };
            rows.extend(of_meshes(maker, first == 0));
        }
    }
    for b in at(ShapeKind::Round).filter(|_| round) {
        for a in at(ShapeKind::Round).filter(|a| *a <= b) {
            rows.extend(of_rounded(&mut Maker { ours, shapes: [a, b], random }));
        }
    }
    let answers: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let answer = |place| match row.asked {
                Asked::Build => 0.0,
                _ => ours.answer(row, place, Way::Surface),
            };
            row.places.iter().map(answer).collect()
        })
        .collect();
    for (row, answers) in rows.iter_mut().zip(answers) {
        for (place, answer) in row.places.iter_mut().zip(answers) {
            place.right = answer;
        }
    }
    rows
}
