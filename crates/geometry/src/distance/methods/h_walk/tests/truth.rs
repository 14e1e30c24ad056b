//! What the walks find is held against the exhaustive method and the default.

use super::super::surface::LayerSurface;
use super::*;
use crate::claim::Verdict;
use crate::distance::{Distance, METHODS, Stops, WIDTH_MAX, measure, measure_by};
use crate::samples::{
    Random, ball, cone, cuboid, ellipsoid, grid_ball, lattice, polygon, prism, zoo,
};

const WALKS: [&DistanceMethod; 3] = [&METHOD, &SURFACE_WALK, &DOBKIN_KIRKPATRICK];

fn named(name: &str) -> &'static DistanceMethod {
    METHODS.iter().find(|row| row.name == name).unwrap()
}

/// The walk's answer is that of `expected`, within the widths of both.
fn check(
    method: &DistanceMethod,
    pair: &Pair<'_>,
    expected: &Distance,
    witness: &mut Witness,
    name: &str,
) -> u64 {
    let mut effort = Effort::unlimited();
    let found = measure_by(method, pair, Stops::default(), witness, &mut effort).unwrap();
    let name = format!("{name}, {}", method.name);
    assert_eq!(found.decision.verdict(), expected.decision.verdict(), "{name}");
    assert!(found.lower <= expected.upper && expected.lower <= found.upper, "{name}");
    assert!(found.upper - found.lower <= WIDTH_MAX * found.lower, "{name}");
    effort.cost.exact_stages
}

/// Every dimension, integer coordinates and poses: parallel faces and edges, level features and
/// coinciding ones are the rule here.
#[test]
fn the_walks_find_what_looking_at_every_pair_of_features_finds() {
    let mut random = Random(71);
    let (mut separated, mut in_contact, mut walkable) = (0, 0, 0);
    for round in 0..240 {
        let (a, b) = (lattice(&mut random), lattice(&mut random));
        let whole = |random: &mut Random| f64::from(random.below(7)) - 3.0;
        let at = Vec3::new(whole(&mut random), whole(&mut random), whole(&mut random));
        let turned = round % 3 == 0;
        let pose = if turned { random.pose(at) } else { Pose::translation(at.x, at.y, at.z) };
        let pair = beside(&a, &b, pose);
        let mut witness = Witness::default();
        let stops = Stops::default();
        let mut effort = Effort::unlimited();
        let expected =
            measure_by(named("exhaustive"), &pair, stops, &mut witness, &mut effort).unwrap();
        match expected.decision.verdict() {
            Verdict::Separated => separated += 1,
            Verdict::Touching | Verdict::Overlapping => in_contact += 1,
        }
        walkable += u32::from(is_walkable(&BoundedView::new(&pair), &pair));
        for method in WALKS.into_iter().chain([&FROM_LAYER_4]) {
            let mut witness = Witness::default();
            for _ in 0..2 {
                check(method, &pair, &expected, &mut witness, &format!("round {round}"));
            }
        }
    }
    let counts = format!("{separated} separated, {in_contact} in contact, {walkable} walkable");
    assert!(separated > 100 && in_contact > 30 && walkable > 60, "{counts}");
}

/// At gaps from the bodies' size to 1e-5 of it, one witness all the way. Seen: the exact stage is
/// asked as often as with the default method, to a few in a hundred.
#[test]
fn the_walks_measure_every_kind_of_body_at_every_gap() {
    let mut random = Random(72);
    let zoo = zoo();
    let (mut asked, mut exact) = (0, [0; WALKS.len()]);
    let mut exact_by_default = 0;
    for (round, (name, a)) in zoo.iter().enumerate() {
        for (other, b) in zoo.iter().skip(round % 4).step_by(4) {
            let size = a.bounds().radius + b.bounds().radius;
            if !(size > 1e-100 && size < 1e100) || a.vertex_count() + b.vertex_count() > 1400 {
                continue;
            }
            let mut pose = random.pose(Vec3::zeros());
            if round % 2 == 1 {
                pose = Pose::identity();
            }
            let way = random.unit_vector();
            pose.translation = a.bounds().centre - b.bounds().centre + way * (3.0 * size);
            let mut witnesses = WALKS.map(|_| Witness::default());
            for gap in [1.0, 1e-2, 1e-5] {
                let far = default_distance(&beside(a, b, pose)).0;
                if far.decision.verdict() != Verdict::Separated {
                    break;
                }
                let way = (far.closest_q - far.closest_p) / far.lower;
                pose.translation -= way * (far.lower - gap * size);
                let pair = beside(a, b, pose);
                let (expected, stages) = default_distance(&pair);
                exact_by_default += stages;
                asked += 1;
                for (k, method) in WALKS.into_iter().enumerate() {
                    let name = format!("{name}, {other}, gap {gap}");
                    exact[k] += check(method, &pair, &expected, &mut witnesses[k], &name);
                }
            }
        }
    }
    let counts = format!("{asked} asked, exact {exact:?}, by default {exact_by_default}");
    assert!(asked > 100, "{counts}");
    assert!(exact.iter().all(|&stages| stages <= exact_by_default + asked / 20), "{counts}");
}

fn default_distance(pair: &Pair<'_>) -> (Distance, u64) {
    let mut effort = Effort::unlimited();
    let found = measure(pair, Stops::default(), &mut Witness::default(), &mut effort).unwrap();
    (found, effort.cost.exact_stages)
}

/// The features of a surface that a walk may start from.
fn starts(surface: &LayerSurface<'_>) -> Vec<Feature> {
    let kinds: [fn(u32) -> Feature; 3] = [Feature::Vertex, Feature::Edge, Feature::Face];
    let of_kind = |kind: fn(u32) -> Feature| {
        (0u32..).map(kind).take_while(|&feature| surface.has(feature)).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// From every pair of features there is, on bodies full of ties: the walk ends, and at the same
/// distance. Its order falls strictly by construction; here the steps are counted, too.
#[test]
fn from_every_start_the_walk_ends_at_the_same_distance() {
    let mut random = Random(73);
    let bodies = [
        ("box", cuboid(1.0, 2.0, 3.0)),
        ("flat box", cuboid(4.0, 4.0, 0.25)),
        ("prism", prism(5)),
        ("cone", cone(7)),
        ("grid ball", grid_ball(2)),
        ("ball", ball(12, 9)),
        ("needle", ellipsoid(10, [20.0, 0.1, 0.1], 9)),
        ("polygon", polygon(9)),
    ];
    let (mut walks, mut steps_max) = (0, 0);
    for (name, a) in &bodies {
        for (other, b) in &bodies {
            let in_plane = a.dimension() == 2;
            if a.dimension() != b.dimension() {
                continue;
            }
            for round in 0..3 {
                let way = if in_plane { Vec3::x() } else { random.unit_vector() };
                let at = way * (1.1 * (a.bounds().radius + b.bounds().radius));
                let turned = round > 0 && !in_plane;
                let mut pose = if turned { random.pose(at) } else { Pose::identity() };
                pose.translation = if round == 0 { Vec3::x() * at.norm() } else { at };
                let pair = beside(a, b, pose);
                let expected = default_distance(&pair).0.upper;
                let side_q = PlacedBody::new(&pair.q, pose.translation);
                let surfaces =
                    [PlacedBody::new(&pair.p, Vec3::zeros()), side_q].map(|s| s.surface(0));
                let [of_a, of_b] = surfaces.each_ref().map(starts);
                for (k, &f) in of_a.iter().enumerate() {
                    for &g in of_b.iter().skip(k % 16).step_by(16) {
                        if matches!((f, g), (Feature::Face(_), Feature::Face(_))) {
                            continue;
                        }
                        let mut effort = Effort::unlimited();
                        let mut walk = Walk::new(surfaces, [f, g]);
                        let end = walk.finish(&mut effort).unwrap();
                        let found = walk.nearest.unwrap().squared.sqrt();
                        let story = format!("{name}, {other}, round {round}, from {f:?} {g:?}");
                        assert_eq!(end, End::Closest, "{story}");
                        assert!((found - expected).abs() <= 1e-9 * expected, "{story}: {found}");
                        steps_max = steps_max.max(effort.cost.steps);
                        walks += 1;
                    }
                }
            }
        }
    }
    assert!(walks > 3000 && steps_max <= 60, "{walks} walks of at most {steps_max} steps");
}

#[test]
fn any_memory_gives_a_bracket_of_the_same_distance() {
    let (a, b) = (ball(200, 1), ball(60, 2));
    let (flat, strange) = (polygon(40), polygon(7));
    let mut random = Random(74);
    let in_plane = Pose::translation(2.5, 0.3, 0.0);
    let solid = random.pose(Vec3::new(2.2, 0.4, 0.3));
    for (p, q, pose) in [(&a, &b, solid), (&flat, &strange, in_plane)] {
        let pair = beside(p, q, pose);
        let expected = default_distance(&pair).0;
        let feature = |random: &mut Random| {
            let number = if random.below(4) == 0 { u32::MAX } else { random.below(400) };
            [Feature::Vertex(number), Feature::Edge(number), Feature::Face(number)]
                [random.below(3) as usize]
        };
        for round in 0..200 {
            let layers = random.below(30);
            let closest =
                (0..layers).map(|_| [feature(&mut random), feature(&mut random)]).collect();
            let start = if round % 5 == 0 { u32::MAX } else { random.below(20) };
            let memory = Memory::Features(Box::new(FeatureMemory { closest, start }));
            for method in [&METHOD, &SURFACE_WALK, &FROM_LAYER_4] {
                let mut witness = Witness { memory: memory.clone(), ..Witness::default() };
                check(method, &pair, &expected, &mut witness, &format!("round {round}"));
            }
        }
    }
}

#[test]
fn a_pair_that_stays_is_a_witness_hit_and_takes_no_step() {
    let (a, b) = (ball(200, 1), ball(60, 2));
    let pair = beside(&a, &b, Pose::translation(2.5, 0.4, 0.3));
    let mut witness = Witness::default();
    let mut costs = (0..2).map(|_| {
        let mut effort = Effort::unlimited();
        let found = walked(&pair, StartLayer::Layer(0), &mut witness, &mut effort);
        assert_eq!(found.ending, Ending::Nearest);
        (effort.cost.witness_hits, effort.cost.steps)
    });
    let (cold, warm) = (costs.next().unwrap(), costs.next().unwrap());
    assert!(cold.0 == 0 && cold.1 > 10, "{cold:?}");
    assert_eq!(warm, (1, 0));
}

/// An edge through a face or a vertex inside, on any layer. Nothing here relies on it: a belief in
/// contact is decided like everything else.
#[test]
fn penetration_is_recognised_and_only_there() {
    let mut random = Random(75);
    let (a, b) = (ball(300, 3), ball(300, 4));
    let (mut overlapping, mut separated) = (0, 0);
    for round in 0..60 {
        let reach = [0.0, 0.5, 1.9, 2.2][round % 4];
        let pair = beside(&a, &b, {
            let way = random.unit_vector();
            random.pose(way * reach)
        });
        let is_contact = default_distance(&pair).0.decision.verdict() != Verdict::Separated;
        for start in [StartLayer::Adaptive, StartLayer::Surface, StartLayer::Layer(4)] {
            let mut witness = Witness::default();
            let found = walked(&pair, start, &mut witness, &mut Effort::unlimited());
            let expected = if is_contact { Ending::HoldsOrigin } else { Ending::Nearest };
            assert_eq!(found.ending, expected, "round {round}, {start:?}");
        }
        *(if is_contact { &mut overlapping } else { &mut separated }) += 1;
    }
    assert!(overlapping > 30 && separated > 10, "{overlapping} overlapping, {separated} separated");
}

#[test]
fn bodies_that_the_paper_excludes_are_handed_over() {
    let solid = ball(20, 5);
    for (name, body) in zoo() {
        if body.dimension() == 3 {
            continue;
        }
        let at = Pose::translation(9.0, 0.0, 1.0);
        let found = walked(
            &beside(&solid, &body, at),
            StartLayer::Adaptive,
            &mut Witness::default(),
            &mut Effort::unlimited(),
        );
        assert_eq!(found.ending, Ending::HandsOver, "{name}");
    }
}

#[test]
fn a_budget_stops_a_walk_and_says_so() {
    let (a, b) = (ball(300, 3), ball(300, 4));
    let pair = beside(&a, &b, Pose::translation(2.5, 0.4, 0.3));
    let mut full = Effort::unlimited();
    walked(&pair, StartLayer::Adaptive, &mut Witness::default(), &mut full);
    for steps in 0..full.cost.steps {
        let mut effort = Effort::with_steps(steps);
        let found = walked(&pair, StartLayer::Adaptive, &mut Witness::default(), &mut effort);
        assert_eq!(found.ending, Ending::Stopped(Stopped::Steps), "{steps}");
    }
}
