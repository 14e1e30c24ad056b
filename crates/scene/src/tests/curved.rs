//! Bodies with curved parts: ellipsoids that are balls beside the same bodies with exact balls.

use super::meshes::{agree, body, channel, everything, scaled};
use super::*;
use clearance_bodies::kinds::curved::{CurvedCore, CurvedForm};
use clearance_geometry::effort::Effort;

/// A ball as an ellipsoid, and as a point with a radius.
fn both(radius: f64) -> [Part; 2] {
    let core = CurvedCore { form: CurvedForm::Ellipsoid, half: Vec3::repeat(radius) };
    let curved = clearance_bodies::Body::of_curved(core, 0.0, &mut Effort::unlimited());
    let point = Arc::new(samples::hull(&[Vec3::zeros()]));
    [Part::of_curved(&curved.unwrap()).unwrap(), Part { radius, ..Part::of(point) }]
}

/// Two balls beside bodies of all kinds, near each other.
fn crowd(ball: &Part, random: &mut Random) -> Vec<Body> {
    let segment = Arc::new(samples::hull(&[Vec3::zeros(), Vec3::new(0.0, 0.0, 0.6)]));
    let parts = [
        ball.clone(),
        ball.clone(),
        Part::of(cube(0.3)),
        Part { radius: 0.2, ..Part::of(segment) },
        scaled(&channel(1.0), 0.2),
    ];
    let place = |(id, part)| {
        let place = random.vector();
        Body { margin: 0.1, ..body(id, vec![part]) }.placed(random.pose(place))
    };
    (1..).zip(parts).map(place).collect()
}

/// Verdicts, margins, distances, events and first contacts are those of the balls, warm and cold,
/// with proofs wanted, of which there are none, and without.
#[test]
fn a_ball_that_is_an_ellipsoid_is_answered_as_the_ball() {
    let mut seen = BTreeMap::<Verdict, u32>::new();
    let mut met_between = 0;
    for seed in 0..2 {
        let asked = Questions { certificates: seed % 2 == 1, ..everything() };
        let [curved, exact] = both(0.4).map(|ball| crowd(&ball, &mut Random(700 + seed)));
        let [mut warm, mut cold] = [curved.clone(), curved].map(open);
        let mut exact = open(exact);
        let mut random = Random(90 + seed);
        for id in 1..5 {
            let places: Vec<Pose> = warm.bodies().map(|body| body.pose).collect();
            let movers: Vec<u32> = (1..6).filter(|_| random.below(3) > 0).collect();
            let moves = movers.into_iter().map(|body| {
                let start = places[body as usize - 1].translation;
                let by = random.vector() * 0.6;
                let pose = random.pose(0.7 * start + by);
                Move::new(BodyId(body), pose)
            });
            let next = frame(id, moves.collect());
            let [of_curved, of_exact] =
                [&mut warm, &mut exact].map(|scene| step(scene, &next, &asked));
            cold.forget_witnesses();
            let from_cold = step(&mut cold, &next, &Questions { canonical: true, ..asked });
            agree(&of_curved, &of_exact);
            agree(&of_curved, &from_cold);
            let all = verdicts(&of_curved);
            all.values().for_each(|verdict| *seen.entry(*verdict).or_default() += 1);
            let ways = of_curved.pairs.iter().filter_map(|pair| pair.first_contact.as_ref());
            met_between += ways.filter(|way| way.has_met() && way.t_free > 0.0).count();
        }
    }
    assert!(seen[&Verdict::Separated] > 5 && seen[&Verdict::Overlapping] > 5, "{seen:?}");
    assert!(met_between > 0, "{met_between}");
}
