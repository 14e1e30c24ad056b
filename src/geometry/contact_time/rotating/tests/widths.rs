//! Brackets are as narrow as the tolerances say, however the bodies' points are given.

use super::*;

/// The larger of the bodies' extents and of the coordinates of their vertices in the world.
fn size_and_world(pair: &Pair<'_>) -> f64 {
    let one = |placed: &Placed<'_>| {
        let Pose { rotation, translation } = placed.pose;
        let bounds = placed.body.bounds();
        let vertices = placed.body.vertices().iter();
        let world = vertices.map(|v| (rotation * v + translation).amax()).fold(0.0, f64::max);
        world.max((bounds.high - bounds.low).amax())
    };
    one(&pair.p).max(one(&pair.q))
}

/// How fast the gap along the last link's direction closes over the bracket.
fn closing_rate(question: &Question<'_>, answer: &FirstContact) -> f64 {
    let pair = &question.pair;
    let (p, q) = ((&pair.p, &question.motion_p), (&pair.q, &question.motion_q));
    let mut moving = Moving::new(p, q, scale_of(question));
    let link = answer.chain.last().expect("free at first");
    let Direction::Vector(direction) = &link.direction else { panic!("{link:?}") };
    let heading = moving.heading(link.frame, direction, 0.0);
    let world = moving.world_of(&heading, answer.t_free);
    let heading = moving.heading(Frame::World, &world, answer.t_free);
    let [before, after] = [answer.t_free, answer.t_contact].map(|t| {
        moving.course(heading.clone(), 0.0, t, &mut Effort::unlimited()).gap.value.middle()
    });
    (before - after) / (answer.t_contact - answer.t_free)
}

/// A body's points were once rounded relative to its own origin, and the world was taken to reach as
/// far: brackets of points a kilometre from there were hundreds of times as wide as they may be.
#[test]
fn brackets_of_bodies_whose_points_lie_far_from_their_origin_are_no_wider_than_of_others() {
    let mut random = Random::new(5);
    let mut contacts = [0; 3];
    let shapes = [
        cuboid(1.0, 1.0, 1.0),
        cuboid(2.0, 0.3, 0.7),
        cloud(12, Vec3::new(1.0, 1.0, 1.0), 3),
        cloud(60, Vec3::new(1.0, 0.2, 0.5), 4),
    ];
    for round in 0..450 {
        let offset = random.direction() * 10f64.powf(random.between(2.0, 6.0));
        let mut pose = |at: Vec3| {
            let q = [(); 4].map(|()| random.between(-1.0, 1.0));
            Pose::from_quaternion(at, q).expect("not zero")
        };
        let (mut at_p, at_q) = (pose(Vec3::zeros()), pose(Vec3::zeros()));
        let apart = random.in_ball() + random.direction() * 2.0;
        let mut shape = |by: Vec3| {
            let shape = &shapes[random.below(4) as usize];
            polytope_of(&shape.iter().map(|v| v + by).collect::<Vec<_>>())
        };
        // Far from the body's origin, turning about it; about a far pivot; in a far part of the world.
        let kind = round % 3;
        let (p, q) = (shape(if kind == 0 { offset } else { Vec3::zeros() }), shape(Vec3::zeros()));
        match kind {
            0 => at_p.translation = -(at_p.rotation * offset),
            1 => {}
            _ => at_p.translation = offset,
        }
        let centre = if kind == 2 { offset } else { Vec3::zeros() };
        let at_q = Pose { translation: centre + apart, ..at_q };
        // Close to each other: the time of contact leaves no room beside the tolerances.
        let towards = -apart.normalize();
        let fly = |speed: f64| Motion::Linear { velocity: towards * speed };
        let found = find(&Question::new(Pair::new(&p, at_p, &q, at_q), Motion::rest(), fly(4.0)));
        if found.outcome != Outcome::Contact {
            continue;
        }
        let speed = 10f64.powf(random.between(-6.0, 0.0));
        let way = 4.0 * found.t_free - speed * random.between(0.2, 0.8);
        let at_q = Pose { translation: at_q.translation + towards * way, ..at_q };
        let spin = Motion::Screw {
            pivot: (kind == 1).then_some(offset),
            velocity: Vec3::zeros(),
            axis: random.direction(),
            angle: 10f64.powf(random.between(-9.0, -3.0)),
        };
        let question = Question::new(Pair::new(&p, at_p, &q, at_q), spin, fly(speed));
        let answer = find(&question);
        if answer.outcome != Outcome::Contact || answer.t_contact <= 0.0 {
            assert_ne!(answer.outcome, Outcome::Undecided, "{round}: {question:?} {answer:?}");
            continue;
        }
        contacts[kind] += 1;
        let rate = closing_rate(&question, &answer);
        let allowed = 1e-9 + 1e-13 * size_and_world(&question.pair) / rate;
        let width = answer.t_contact - answer.t_free;
        assert!(rate > 0.0 && width <= allowed, "{round}: {width:e} of {allowed:e}, rate {rate:e}");
    }
    assert!(contacts.iter().all(|n| *n > 50), "{contacts:?}");
}
