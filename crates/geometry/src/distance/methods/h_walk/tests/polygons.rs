//! Polygons in one plane: steps as counts (Guibas, Hsu, Zhang 1999, §3, Theorem 5).

use std::fmt::Write as _;

use super::*;
use crate::distance::{Distance, Stops, measure};
use crate::hull::samples::{flat_polygon, on_circle, polytope_of};
use crate::samples::Random;

/// Theorem 5: O(log c) steps, whatever the size of the polygons. Seen: 30 for 16 features, 61 for
/// 256, 92 for 4096.
#[test]
fn polygons_in_one_plane_take_steps_logarithmic_in_the_way_walked() {
    let mut table = String::new();
    for sides in [1000, 16_000] {
        let body = polytope_of(&flat_polygon(sides, 1.0));
        let turned = |features: f64| turned(features / f64::from(sides), Vec3::new(2.5, 0.1, 0.0));
        let mut way = 1.0;
        while way <= f64::from(sides) / 2.0 {
            let mut witness = Witness::default();
            walked(
                &beside(&body, &body, turned(0.2)),
                StartLayer::Layer(0),
                &mut witness,
                &mut Effort::unlimited(),
            );
            let mut effort = Effort::unlimited();
            let pair = beside(&body, &body, turned(0.2 + way));
            let found = walked(&pair, StartLayer::Layer(0), &mut witness, &mut effort);
            assert_eq!(found.ending, Ending::Nearest);
            let (steps, most) = (effort.cost.steps as f64, 10.0 + 12.0 * way.log2());
            writeln!(table, "{sides} sides, {way} features away: {steps} steps").unwrap();
            assert!(steps <= most, "more than {most:.0}:\n{table}");
            way *= 4.0;
        }
    }
    eprintln!("{table}");
}

fn squeezed(sides: u32, by: f64) -> Polytope {
    let points = flat_polygon(sides, 1.0).into_iter().map(|v| Vec3::new(v.x, v.y * by, v.z));
    polytope_of(&points.collect::<Vec<_>>())
}

/// Corners at random places of a circle: as many features in a short stretch as in a long one.
fn uneven(sides: u32, random: &mut Random) -> Polytope {
    let points: Vec<_> = (0..sides)
        .map(|_| on_circle(f64::from(random.below(1 << 30)) / f64::from(1 << 30)))
        .map(|(x, y)| Vec3::new(x, y, 0.0))
        .collect();
    polytope_of(&points)
}

/// Turned by a part of a turn in its plane.
fn turned(turn: f64, at: Vec3) -> Pose {
    let (cos, sin) = on_circle(turn.rem_euclid(1.0) / 2.0);
    Pose::from_quaternion(at, [cos, 0.0, 0.0, sin]).unwrap()
}

/// Q's poses beside P, turned and gone around it by jumps of a few features to half of the whole,
/// at a gap of a hundredth.
fn jumps<'a>(p: &'a Polytope, q: &'a Polytope, random: &mut Random) -> Vec<Pair<'a>> {
    let (mut around, mut spin) = (0.1, 0.3);
    let mut jump = || {
        let size = 0.5f64.powi(1 + i32::try_from(random.below(12)).unwrap());
        around += size * random.signed();
        spin += size * random.signed();
        let (x, y) = on_circle(around.rem_euclid(1.0));
        let mut pose = turned(spin, Vec3::new(x, y, 0.0) * 2.5);
        let far = measured(&beside(p, q, pose));
        let way = (far.closest_q - far.closest_p) / far.lower;
        pose.translation -= way * (far.lower - 0.01);
        beside(p, q, pose)
    };
    (0..60).map(|_| jump()).collect()
}

/// The worst seen: 86 steps to an edge 1103 features away, while that of the other polygon stays.
#[test]
fn polygons_of_every_shape_take_steps_logarithmic_in_the_way_walked() {
    let mut random = Random(74);
    let bodies = [
        ("circle of 4096", squeezed(4096, 1.0)),
        ("1 : 0.1 of 2000", squeezed(2000, 0.1)),
        ("1 : 0.001 of 500", squeezed(500, 0.001)),
        ("uneven of 1000", uneven(1000, &mut random)),
        ("triangle", squeezed(3, 1.0)),
    ];
    let (mut asked, mut far) = (0, 0);
    for (name, p) in &bodies {
        for (other, q) in &bodies {
            let mut witness = Witness::default();
            let mut before: Option<[u32; 2]> = None;
            for pair in jumps(p, q, &mut random) {
                let mut effort = Effort::unlimited();
                let found = walked(&pair, StartLayer::Layer(0), &mut witness, &mut effort);
                let error = found.simplex.squared.sqrt() - measured(&pair).upper;
                let story = format!("{name}, {other}: {:?}, error {error}", found.ending);
                assert!(found.ending == Ending::Nearest && error.abs() < 1e-9, "{story}");
                let Memory::Features(memory) = &witness.memory else { panic!("it remembers") };
                let [f, g] = memory.closest[0];
                let now = [place_on_ring(p, f), place_on_ring(q, g)];
                let Some(before) = before.replace(now) else { continue };
                let ways = [way(p, before[0], now[0]), way(q, before[1], now[1])];
                let logs: f64 = ways.iter().map(|&way| f64::from(1 + way).log2()).sum();
                let (steps, most) = (effort.cost.steps as f64, 18.0 + 8.0 * logs);
                assert!(steps <= most, "{story}, {steps} steps, {ways:?} features away");
                asked += 1;
                far += u32::from(ways[0] + ways[1] > 100);
            }
        }
    }
    assert!(asked > 1000 && far > 300, "{asked} asked, {far} of them far");
}

/// Features between two places of a ring, the shorter way.
fn way(body: &Polytope, from: u32, to: u32) -> u32 {
    let there = from.abs_diff(to);
    there.min(2 * body.vertex_count() - there)
}

/// Of a feature of a polygon: its vertices have even places, the edges between them odd ones.
fn place_on_ring(body: &Polytope, feature: Feature) -> u32 {
    let ring = body.facets().row(0);
    let place = |vertex: u32| ring.iter().position(|&v| v == vertex).unwrap();
    let place = match feature {
        Feature::Vertex(vertex) => 2 * place(vertex),
        Feature::Edge(edge) => {
            let [a, b] = body.hierarchy().features(0).ends(edge).map(place);
            let first = if (a + 1) % ring.len() == b { a } else { b };
            2 * first + 1
        }
        Feature::Face(_) => panic!("no walk in a plane ends inside"),
    };
    u32::try_from(place).unwrap()
}

fn measured(pair: &Pair<'_>) -> Distance {
    let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
    measure(pair, Stops::default(), witness, effort).unwrap()
}
