//! Polygons by chains: the lemma against every pair of edges, the answers against the exhaustive
//! method, the steps as counts.

use std::fmt::Write as _;

use super::super::METHOD;
use super::super::nearest::nearest;
use super::*;
use crate::Vec3;
use crate::claim::Verdict;
use crate::distance::{Distance, METHODS, Stops, measure, measure_by};
use crate::hull::samples::{flat_polygon, on_circle, polytope_of};
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::Random;

fn found(pair: &Pair<'_>, witness: &mut Witness, effort: &mut Effort<'_>) -> FoundSimplex {
    search(&BoundedView::new(pair), pair, witness, effort).expect("polygons in one plane")
}

fn beside<'a>(p: &'a Polytope, q: &'a Polytope, pose: Pose) -> Pair<'a> {
    Pair::new(p, Pose::identity(), q, pose)
}

fn measured(pair: &Pair<'_>) -> Distance {
    let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
    measure(pair, Stops::default(), witness, effort).unwrap()
}

fn flat(points: impl IntoIterator<Item = (f64, f64)>) -> Polytope {
    polytope_of(&points.into_iter().map(|(x, y)| Vec3::new(x, y, 0.0)).collect::<Vec<_>>())
}

fn squeezed(sides: u32, by: f64) -> Polytope {
    flat(flat_polygon(sides, 1.0).into_iter().map(|v| (v.x, v.y * by)))
}

fn part(random: &mut Random) -> f64 {
    f64::from(random.below(1 << 30)) / f64::from(1 << 30)
}

/// Most corners in a small part of a circle: half of the features have nearly all the normals.
fn crowded(sides: u32, random: &mut Random) -> Polytope {
    let turn = |random: &mut Random| part(random) * 0.5f64.powi(random.below(14).cast_signed());
    let turns: Vec<f64> = (0..sides).map(|_| turn(random)).collect();
    flat(turns.into_iter().map(on_circle))
}

/// Turned by a part of a turn in its plane.
fn turned(turn: f64, at: Vec3) -> Pose {
    let (cos, sin) = on_circle(turn.rem_euclid(1.0) / 2.0);
    Pose::from_quaternion(at, [cos, 0.0, 0.0, sin]).unwrap()
}

/// Q's poses beside P, turned and gone around it by jumps of a few features to half of the whole,
/// at gaps of a hundredth.
fn jumps<'a>(p: &'a Polytope, q: &'a Polytope, count: u32, random: &mut Random) -> Vec<Pair<'a>> {
    let (mut around, mut spin) = (0.1, 0.3);
    let mut jump = || {
        let size = 0.5f64.powi(1 + random.below(12).cast_signed());
        around += size * random.signed();
        spin += size * random.signed();
        let (x, y) = on_circle(around.rem_euclid(1.0));
        let mut pose = turned(spin, Vec3::new(x, y, 0.0) * 2.5);
        let far = measured(&beside(p, q, pose));
        pose.translation -= (far.closest_q - far.closest_p) * (1.0 - 0.01 / far.lower);
        beside(p, q, pose)
    };
    (0..count).map(|_| jump()).collect()
}

/// Edges whose nearest points are as near as any, up to rounding.
fn closest_edges(rings: &[Ring<'_>; 2]) -> Vec<[usize; 2]> {
    let edge = |k: usize, edge: usize| [edge, edge + 1].map(|place| rings[k].corner(place));
    let all = (0..rings[0].len()).flat_map(|i| (0..rings[1].len()).map(move |j| [i, j]));
    let squared = |&[i, j]: &[usize; 2]| nearest(&edge(0, i), &edge(1, j)).unwrap().squared;
    let measured: Vec<_> = all.map(|pair| (squared(&pair), pair)).collect();
    let least = measured.iter().map(|&(squared, _)| squared).fold(f64::INFINITY, f64::min);
    let ties = measured.into_iter().filter(|&(squared, _)| squared <= least * (1.0 + 1e-9));
    ties.map(|(_, pair)| pair).collect()
}

/// Lemma 4, held against every pair of edges, for chains of any length but a whole polygon's: also
/// those that have more than half of the normals, where a pivot can face away while both parts of
/// its chain do not.
#[test]
fn what_the_lemma_discards_never_holds_the_last_closest_pair() {
    let mut random = Random(181);
    let bodies = [
        crowded(24, &mut random),
        crowded(9, &mut random),
        squeezed(16, 1.0),
        squeezed(12, 0.05),
        squeezed(3, 1.0),
        squeezed(4, 1.0),
    ];
    let (mut asked, mut ended) = (0, 0);
    for p in &bodies {
        for q in &bodies {
            for pair in jumps(p, q, 12, &mut random) {
                let rings = rings(&BoundedView::new(&pair), &pair).unwrap();
                let closest_ones = closest_edges(&rings);
                for round in 0..60 {
                    let [i, j] = closest_ones[round % closest_ones.len()];
                    let mut chain = |ring: &Ring<'_>, edge: usize| {
                        let count = u32::try_from(ring.len()).unwrap();
                        let edges = 1 + random.below(count - 1) as usize;
                        let before = random.below(u32::try_from(edges).unwrap()) as usize;
                        Chain::between(edge + ring.len() - before, edges)
                    };
                    let mut chains = [chain(&rings[0], i), chain(&rings[1], j)];
                    let was = chains;
                    let refined = refine(&rings, &mut chains);
                    let story = format!("{was:?} to {chains:?} of {i}, {j}");
                    let holds = |chain: &Chain, ring: &Ring<'_>, edge| chain.has(ring, edge);
                    let is_left = closest_ones.iter().any(|&[i, j]| {
                        holds(&chains[0], &rings[0], i) && holds(&chains[1], &rings[1], j)
                    });
                    match refined {
                        Refined::Further => assert!(is_left && was != chains, "{story}"),
                        Refined::Found(features) => {
                            assert!(closest(&rings, features).is_some(), "{story}");
                            ended += 1;
                        }
                        Refined::Nothing => panic!("{story}"),
                    }
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 20_000 && ended > 1000, "{asked} asked, {ended} at the end");
}

/// Integer coordinates and poses: parallel edges, level corners and contacts are the rule.
#[test]
fn chains_find_what_looking_at_every_pair_of_features_finds() {
    let mut random = Random(182);
    let exhaustive = METHODS.iter().find(|row| row.name == "exhaustive").unwrap();
    let (mut separated, mut in_contact, mut points) = (0, 0, 0);
    for round in 0..1500 {
        let mut body = || {
            let count = 1 + random.below(9);
            let whole = |random: &mut Random| f64::from(random.below(6)) - 2.5;
            flat((0..count).map(|_| (whole(&mut random), whole(&mut random))))
        };
        let (p, q) = (body(), body());
        let mut at = || f64::from(random.below(11)) - 5.0;
        let at = Vec3::new(at(), at(), 0.0);
        let pose = if round % 3 == 0 { turned(part(&mut random), at) } else { turned(0.0, at) };
        let pair = beside(&p, &q, pose);
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let Some(found) = search(&BoundedView::new(&pair), &pair, witness, effort) else {
            continue;
        };
        let ask = |method, witness: &mut Witness| {
            measure_by(method, &pair, Stops::default(), witness, &mut Effort::unlimited()).unwrap()
        };
        let expected = ask(exhaustive, &mut Witness::default());
        let ours = ask(&METHOD, witness);
        let story = format!("round {round}: {found:?}, {ours:?}, {expected:?}");
        assert_eq!(ours.decision.verdict(), expected.decision.verdict(), "{story}");
        assert!(ours.lower <= expected.upper && expected.lower <= ours.upper, "{story}");
        let is_separated = expected.decision.verdict() == Verdict::Separated;
        // Corners that touch may be seen a rounding apart.
        let is_touching = found.simplex.squared < 1e-24;
        assert!((found.ending == Ending::Nearest) == is_separated || is_touching, "{story}");
        if is_separated {
            let error = found.simplex.squared.sqrt() - expected.upper;
            assert!(error.abs() < 1e-12, "{error}, {story}");
        }
        *(if is_separated { &mut separated } else { &mut in_contact }) += 1;
        points += u32::from(p.dimension() + q.dimension() < 4);
    }
    let counts = format!("{separated} separated, {in_contact} in contact, {points} with a point");
    assert!(separated > 400 && in_contact > 100 && points > 50, "{counts}");
}

/// Features between two of a ring of `count` corners, the shorter way, and one more.
fn way(count: u32, from: Feature, to: Feature) -> f64 {
    let place = |feature| match feature {
        Feature::Vertex(place) | Feature::Face(place) => 2 * place,
        Feature::Edge(place) => 2 * place + 1,
    };
    let there = place(from).abs_diff(place(to));
    f64::from(1 + there.min(2 * count - there))
}

fn remembered(witness: &Witness) -> [Feature; 2] {
    let Memory::OfPolygons(features) = witness.memory else { panic!("it remembers") };
    features
}

/// Theorem 5, for every shape and way: the four searches together take at most 4 steps and 8 for
/// each doubling of either way. Theorem 3, for a point: two searches.
#[test]
fn steps_are_logarithmic_in_the_way_from_the_last_closest_features() {
    let mut random = Random(183);
    let point = flat([(0.0, 0.0)]);
    let bodies = [
        ("circle of 4096", squeezed(4096, 1.0)),
        ("1 : 0.1 of 2000", squeezed(2000, 0.1)),
        ("1 : 0.001 of 500", squeezed(500, 0.001)),
        ("crowded", crowded(1000, &mut random)),
        ("triangle", squeezed(3, 1.0)),
        ("point", point),
    ];
    let (mut asked, mut far, mut most) = (0, 0, 0.0_f64);
    for (name, p) in &bodies {
        for (other, q) in &bodies {
            if p.dimension() + q.dimension() == 0 {
                continue;
            }
            let mut witness = Witness::default();
            for (round, pair) in jumps(p, q, 60, &mut random).iter().enumerate() {
                let before = remembered_or_first(&witness);
                let mut effort = Effort::unlimited();
                let found = found(pair, &mut witness, &mut effort);
                let error = found.simplex.squared.sqrt() - measured(pair).upper;
                let story = format!("{name}, {other}, {round}: {:?}, {error}", found.ending);
                assert!(found.ending == Ending::Nearest && error.abs() < 1e-9, "{story}");
                let now = remembered(&witness);
                let counts = [p.vertex_count(), q.vertex_count()];
                let ways = [0, 1].map(|k| way(counts[k], before[k], now[k]));
                let (steps, doublings) = (effort.cost.steps as f64, ways.map(f64::log2));
                let searches = if counts.contains(&1) { 2.0 } else { 4.0 };
                let bound = searches * (3.0 + 2.0 * (doublings[0] + doublings[1]));
                assert!(steps <= bound, "{story}: {steps} steps, {ways:?} features");
                most = most.max(steps / bound);
                asked += 1;
                far += u32::from(ways[0] + ways[1] > 100.0);
            }
        }
    }
    assert!(asked > 1500 && far > 300, "{asked} asked, {far} far");
    assert!(most > 0.3, "the bound is loose: {most}");
}

fn remembered_or_first(witness: &Witness) -> [Feature; 2] {
    if let Memory::OfPolygons(features) = witness.memory { features } else { FIRST }
}

const FIRST: [Feature; 2] = [Feature::Vertex(0); 2];

/// From 10 to 1,000,000 corners, from cold, in every direction.
#[test]
fn steps_grow_with_the_logarithm_to_a_million_corners() {
    let mut table = String::new();
    for exponent in 1..=6 {
        let corners = 10_u32.pow(exponent);
        let body = squeezed(corners, 1.0);
        let worst = (0..64).map(|k| {
            let (x, y) = on_circle(f64::from(k) / 64.0);
            let pose = turned(f64::from(k) * 0.377, Vec3::new(x, y, 0.0) * 2.01);
            let pair = beside(&body, &body, pose);
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            assert_eq!(found(&pair, witness, effort).ending, Ending::Nearest);
            effort.cost.steps
        });
        let worst = worst.max().unwrap();
        writeln!(table, "{corners} corners: at most {worst} steps").unwrap();
        let bound = 16.0 * f64::from(corners).log2();
        assert!(worst as f64 <= bound, "more than {bound:.0}:\n{table}");
    }
    eprintln!("{table}");
}

#[test]
fn hostile_memory_costs_no_more_than_a_cold_start_and_changes_nothing() {
    let mut random = Random(184);
    let (p, q) = (squeezed(400, 0.3), crowded(100, &mut random));
    let features = [Feature::Vertex(u32::MAX), Feature::Edge(7), Feature::Face(u32::MAX)];
    for pair in jumps(&p, &q, 20, &mut random) {
        let cold = found(&pair, &mut Witness::default(), &mut Effort::unlimited());
        for f in features {
            for g in features {
                let memory = Memory::OfPolygons([f, g]);
                let mut witness = Witness { memory, ..Witness::default() };
                let mut effort = Effort::unlimited();
                let warm = found(&pair, &mut witness, &mut effort);
                assert!((warm.simplex.squared - cold.simplex.squared).abs() < 1e-12);
                assert!(effort.cost.steps <= 150, "{}", effort.cost.steps);
            }
        }
    }
}

/// A budget that runs out says so, and the answer never pretends.
#[test]
fn a_search_without_steps_stops() {
    let body = squeezed(1000, 1.0);
    let pair = beside(&body, &body, turned(0.3, Vec3::new(0.5, 2.5, 0.0)));
    let found = found(&pair, &mut Witness::default(), &mut Effort::with_steps(5));
    assert_eq!(found.ending, Ending::Stopped(Stopped::Steps));
}
