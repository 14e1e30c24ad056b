//! What the judge of first contacts accepts, and what it refuses with which reason.

use super::*;
use crate::distance::Stops;
use crate::judge::Refusal;

/// What the judge says to the answer changed by `tamper`.
fn judged(
    question: &Question<'_>,
    answer: &FirstContact,
    tamper: impl Fn(&mut FirstContact),
) -> Result<(), Refusal> {
    let mut changed = answer.clone();
    tamper(&mut changed);
    assert_ne!(&changed, answer);
    judge_first_contact(question, &changed)
}

#[test]
fn a_tampered_answer_is_refused_with_the_reason() {
    let (rod, wall) = rod_and_wall();
    let wheel = polytope_of(&sphere(40, 1.0));
    let question = |p, q, at| {
        let pair = Pair::new(p, Pose::identity(), q, at);
        let drift = Vec3::new(0.1, 0.3, -0.2);
        let motion = Motion::Screw {
            pivot: None,
            velocity: drift,
            axis: Vec3::new(0.2, 0.1, 1.0),
            angle: 2.0,
        };
        Question::new(pair, motion, turn([1.0, 0.2, 0.0], 0.7))
    };
    let mut refused = 0;
    for question in [
        question(&rod, &wall, Pose::translation(0.0, 2.5, 0.0)),
        question(&rod, &wheel, Pose::translation(0.9, 1.3, 0.1)),
        question(&wheel, &rod, Pose::translation(-0.3, 1.2, 0.1)),
    ] {
        let answer = find(&question);
        assert_eq!(answer.outcome, Outcome::Contact);
        let last = answer.chain.len() - 1;
        let check = |tamper: &dyn Fn(&mut FirstContact), wanted: Refusal| {
            assert_eq!(judged(&question, &answer, tamper), Err(wanted));
        };
        check(
            &|a| a.chain[0].direction = Direction::Vector(Vec3::new(-0.1, -1.0, 0.3)),
            Refusal::LinkFails(0),
        );
        check(&|a| a.chain[last].t1 = a.t_contact, Refusal::LinkFails(last));
        check(
            &|a| {
                a.chain.pop();
            },
            Refusal::ChainGap(last),
        );
        check(&|a| a.chain[0].t0 = 1e-12, Refusal::ChainGap(0));
        check(&|a| a.t_contact = a.t_free, Refusal::OriginNotHeld);
        check(
            &|a| a.t_free = a.t_contact + 1e-6,
            Refusal::BoundFails("0 <= t_free <= t_contact <= 1"),
        );
        check(
            &|a| a.outcome = Outcome::NoContact,
            Refusal::BoundFails("no contact is free until the end"),
        );
        check(&|a| (a.outcome, a.t_free) = (Outcome::NoContact, 1.0), Refusal::ChainGap(last + 1));
        check(
            &|a| {
                a.pairs.pop();
            },
            Refusal::OriginNotHeld,
        );
        check(&|a| a.pairs[0].i = 99, Refusal::NoSuchVertex(0));
        check(&|a| a.chain[0].direction = Direction::Vector(Vec3::zeros()), Refusal::NoDirection);
        for at in 0..answer.pairs.len() {
            let moved = judged(&question, &answer, |a| a.pairs[at].j = (a.pairs[at].j + 3) % 8);
            refused += usize::from(moved.is_err());
        }
        // Deviations that were not asked for are not proven either.
        let wider = Question { deviation_p: 1e-3, ..question };
        let said = judge_first_contact(&wider, &answer);
        assert!(matches!(said, Err(Refusal::LinkFails(_))), "{said:?}");
    }
    assert!(refused > 6, "{refused}");
}

#[test]
fn the_other_forms_of_a_direction_are_judged_too() {
    // Two boxes a unit apart along y: the normal of a face of the difference body, by vertex pairs.
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(0.0, 2.0, 0.0));
    let question = Question::new(pair, turn([0.0, 1.0, 0.0], 6.0), turn([0.0, 1.0, 0.0], -9.0));
    let answer = find(&question);
    assert_eq!(answer.outcome, Outcome::NoContact);
    let normal = |negative| {
        let pairs = [(0, 0), (0, 1), (0, 4)].map(|(i, j)| VertexPair { i, j });
        Direction::Normal { pairs, negative }
    };
    let edge = |negative| Direction::EdgeNormal {
        pairs: [(0, 0), (0, 1)].map(|(i, j)| VertexPair { i, j }),
        axis: crate::claim::Axis::X,
        negative,
    };
    let with = |direction| {
        let link = Link { t0: 0.0, t1: 1.0, frame: Frame::World, direction };
        judge_first_contact(&question, &FirstContact { chain: vec![link], ..answer.clone() })
    };
    for pair in [[normal(false), normal(true)], [edge(false), edge(true)]] {
        let mut said = pair.map(with);
        said.sort_by_key(Result::is_err);
        assert_eq!(said, [Ok(()), Err(Refusal::LinkFails(0))]);
    }
}

/// The pairs are those of a triangle 10¹² long and 177 wide, whose nearest point a judge that only
/// descends towards it never sees.
#[test]
fn pairs_of_needles_that_come_within_a_margin_are_accepted() {
    let bar = polytope_of(&cuboid(1.0, 177.0, 1.0));
    let cross = [(-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (1.0, 0.0)];
    let half = 549_755_813.888;
    let ends = cross.map(|(x, y)| [-half, half].map(|z| Vec3::new(x, y, z)));
    let needle = polytope_of(&ends.concat());
    let quarter = crate::Mat3::new(1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0);
    let start = Pose { rotation: quarter, translation: Vec3::new(-39.5, 0.0, 0.0) };
    let end = Pose::translation(-1.5, -1.5, -1.5);
    let pair = Pair::new(&bar, Pose::identity(), &needle, start);
    let question =
        Question::new(pair, Motion::rest(), Motion::ToPose { end, pivot: None, turn: None });
    let question = Question { reach: 31.0.into(), ..question };
    // `find` judges.
    let answer = find(&question);
    assert_eq!(answer.outcome, Outcome::Contact);
    // The needle's side comes within 31 of the bar's after 7 of the 38 on its way.
    assert!(answer.t_free <= 7.0 / 38.0 && 7.0 / 38.0 <= answer.t_contact, "{answer:?}");
    let closer = Question { reach: 30.999.into(), ..question };
    assert_eq!(judge_first_contact(&closer, &answer), Err(Refusal::OriginNotHeld));
}

/// An octahedron comes to within a few metres of a segment that is 10¹⁹ long and turns: along
/// headings at right angles to it, heights are known to a ten thousandth of a millionth of its
/// length only when they are taken in the segment's own frame.
#[test]
fn the_last_link_beside_an_endless_segment_is_accepted() {
    let length = 6.283_422_200_107_316e19;
    let needle = polytope_of(&[Vec3::zeros(), Vec3::new(-length, 0.0, 0.0)]);
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
    let ball = polytope_of(&[axes, axes.map(|v| -v)].concat());
    let (c, s, n) = (0.280_047_017_337_643_37, 0.950_337_937_114_310_8, 0.135_762_562_444_901_56);
    let (m, l) = (-0.294_446_076_990_890_1, 0.100_793_417_572_729_94);
    let rotation = crate::Mat3::new(c, s, n, s, m, l, n, l, -0.985_600_940_346_752_5);
    let home = Vec3::new(-1.5, -1.5, -1.5);
    let far = Pose::translation(0.0, 300_647_710_720.0, 0.0);
    let pair = Pair::new(&needle, Pose { rotation, translation: home }, &ball, far);
    let spin = Motion::Screw {
        pivot: None,
        velocity: Vec3::new(-62.5, 0.0, 0.0),
        axis: Vec3::z(),
        angle: 3.375,
    };
    let end = Pose { translation: home, ..Pose::identity() };
    // `find` judges.
    let answer = find(&Question::new(pair, spin, Motion::ToPose { end, pivot: None, turn: None }));
    assert!(answer.t_free > 0.999_999, "{answer:?}");
}

/// Where no link is certain, the start has to be proven farther apart than the margin, and was only
/// proven separated.
#[test]
fn a_start_just_beyond_the_margin_or_within_the_deviation_is_proven_to_be_there() {
    let mut random = Random::new(3);
    let (mut bare, mut count) = ([0usize; 2], 0);
    for round in 0..120u32 {
        let at = random.direction() * 3.0;
        let q = [(); 4].map(|()| random.between(-1.0, 1.0));
        let pose = Pose::from_quaternion(at, q).expect("not zero");
        let [p, q] = [1, 2]
            .map(|k| polytope_of(&cloud(4 + round % 9, Vec3::repeat(1.0), k * u64::from(round))));
        let pair = Pair::new(&p, Pose::identity(), &q, pose);
        let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
        let found = distance::measure(&pair, Stops::default(), &mut witness, &mut effort).unwrap();
        let (mut closer, mut farther) = (found.lower, found.upper);
        while closer.next_up() < farther {
            let middle = 0.5 * closer + 0.5 * farther;
            let within = distance::is_within(&pair, middle, &mut witness, &mut effort).unwrap();
            *(if within { &mut farther } else { &mut closer }) = middle;
        }
        let deviates = round % 2 == 1;
        let spin =
            Motion::Screw { pivot: None, velocity: -at, axis: random.direction(), angle: 0.5 };
        let question = Question {
            reach: if deviates { 0.75 * closer } else { closer }.into(),
            deviation_p: if deviates { farther } else { 0.0 },
            ..Question::new(pair, Motion::rest(), spin)
        };
        // `find` judges.
        let answer = find(&question);
        assert_eq!(answer.outcome, Outcome::Contact, "{round}");
        assert!(answer.t_contact > 0.0, "{round}");
        bare[usize::from(deviates)] += usize::from(answer.chain.is_empty());
        count += 1;
    }
    assert!(bare[0] > 10 && bare[1] == count / 2, "{bare:?}");
}

/// Contact of translating bodies is proven by four pairs at most; with a deviation, bodies that
/// started nearly touching were proven by up to six, as turning ones are, which the judge refuses,
/// or stayed undecided although the contact is exact.
#[test]
fn contacts_of_translating_bodies_with_deviations_are_proven_by_four_pairs() {
    let mut random = Random::new(11);
    let (p, q) = (polytope_of(&cuboid(1.0, 1.0, 1.0)), polytope_of(&cuboid(0.5, 0.75, 0.5)));
    let mut contacts = 0;
    for round in 0..200 {
        let height = 0.75 + 10f64.powf(random.between(-15.9, -9.0));
        let gap = height - 0.75;
        let (x, y) = if round % 2 == 0 { (0.0, 0.0) } else { (0.25, 0.125) };
        let at = Pose::translation(x, y, height);
        let drift = Vec3::new(random.between(-0.1, 0.1), random.between(-0.1, 0.1), -1.0);
        let velocity = drift * if round % 3 == 0 { 1.0 } else { gap * random.between(1.5, 3.0) };
        let motion = Motion::Linear { velocity };
        let question =
            Question::new(Pair::new(&p, Pose::identity(), &q, at), Motion::rest(), motion);
        let deviation_p = 10f64.powf(random.between(-16.0, -3.0));
        // `find` judges.
        let answer = find(&Question { deviation_p, ..question });
        assert_ne!(answer.outcome, Outcome::Undecided, "{round}");
        contacts += usize::from(answer.outcome == Outcome::Contact && answer.t_contact > 0.0);
        assert!(answer.outcome != Outcome::Contact || answer.pairs.len() <= 4, "{round}");
    }
    assert!(contacts > 150, "{contacts}");
}

/// The contact of translating bodies with deviations was cast after what is free before it had been
/// searched for: a budget that ran out in the cast lost what a smaller one had found.
#[test]
fn more_steps_lose_nothing_that_fewer_find_of_translating_bodies_with_deviations() {
    let (p, q) = (polytope_of(&sphere(60, 1.0)), polytope_of(&sphere(50, 0.5)));
    let mut partial = 0;
    for aside in [0.0, 0.3, 0.9, 2.0] {
        let pair = Pair::new(&p, Pose::identity(), &q, Pose::translation(aside, 0.1, 2.5));
        let motion = Motion::Linear { velocity: Vec3::new(0.1, 0.0, -2.0) };
        let question =
            Question { deviation_p: 1e-3, ..Question::new(pair, Motion::rest(), motion) };
        let (mut is_answered, mut is_contact) = (false, false);
        for steps in 0..60 {
            let mut effort = Effort::with_steps(steps);
            let answer =
                contact_time::first_contact(&question, &mut Witness::default(), &mut effort);
            assert!(answer.is_ok() || !is_answered, "{aside}: lost at {steps} steps");
            let Ok(answer) = answer else { continue };
            assert_eq!(judge_first_contact(&question, &answer), Ok(()), "{aside}, {steps}");
            let contact = answer.outcome == Outcome::Contact;
            assert!(contact || !is_contact, "{aside}: undecided at {steps} steps");
            partial += usize::from(answer.stopped.is_some());
            (is_answered, is_contact) = (true, contact);
        }
    }
    assert!(partial > 5, "{partial}");
}

/// A link that joined hundreds of thousands of steps was more than a judge looks at.
#[test]
fn links_join_no_more_steps_than_a_judge_can_follow() {
    let (rod, wall) = rod_and_wall();
    let pair = Pair::new(&rod, Pose::identity(), &wall, Pose::translation(0.0, 2.5, 0.0));
    let question = Question::new(pair, Motion::rest(), turn([1.0, 0.2, 0.0], 0.7));
    let mut search = TurningSearch::new(&question);
    let heading = search.moving.heading(Frame::World, &Vec3::y(), 0.0);
    let known = search.moving.measured(heading, 0.0, &mut Effort::unlimited());
    for step in 1..=2 * PIECES_A_LINK_MAX {
        let step = CertifiedStep {
            end: f64::from(step) * 1e-6,
            gap: MeasuredGap { surplus: 1.0, ..known.now },
        };
        take_step(&mut search, &Advance { known: known.clone(), step });
    }
    let chain = &search.proven.chain;
    assert_eq!(chain.len(), 2);
    assert_eq!(chain[0].t1.to_bits(), chain[1].t0.to_bits());
}

/// A cube that spins a hundred and sixty thousand times comes nearer. Until the solids that the
/// bodies sweep meet they are free for one reason, after that for another; one link had both, which
/// no judge could follow.
#[test]
fn a_link_that_ends_with_swept_solids_apart_joins_nothing_else() {
    let cube = polytope_of(&cuboid(1.0, 1.0, 1.0));
    let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.1, 0.2));
    let coming = Motion::Linear { velocity: Vec3::new(-2.0, 0.0, 0.0) };
    // `find` judges.
    let answer = find(&Question::new(pair, turn([0.0, 0.0, 1.0], 1e6), coming));
    assert_eq!(answer.outcome, Outcome::Contact);
    assert!(answer.chain.len() < 8, "{}", answer.chain.len());
}
