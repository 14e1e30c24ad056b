//! Translation against the independent oracle, and where rounding is all there is.
#![expect(clippy::float_cmp, reason = "exact values are meant")]

use super::*;
use crate::claim::Verdict;
use crate::judge::{LinkSweep, exact_direction_of_link, gap_along, scalar_product};
use crate::motion::Motion;
use crate::number::dyadic::Dyadic;
use crate::pose::Pose;
use crate::samples::{Random, ball, cone, cuboid, globe, hull, polygon, prism};
use crate::separation::oracle::{
    Time, Whole, oracle, placed, random_pose, small_body, times, whole,
};

fn ask(pair: &Pair<'_>, velocity_p: Vec3, velocity_q: Vec3) -> FirstContact {
    let question = Question::new(
        *pair,
        Motion::Linear { velocity: velocity_p },
        Motion::Linear { velocity: velocity_q },
    );
    let mut effort = Effort::with_steps(100_000);
    super::super::first_contact(&question, &mut Witness::default(), &mut effort).unwrap()
}

/// The chain joins, covers `[0, end]`, and each link separates at both ends: the gap is linear.
fn check_chain(pair: &Pair<'_>, w: [&Vec3; 2], chain: &[Link], end: f64, story: &str) {
    let mut reached = 0.0;
    for link in chain {
        assert_eq!((link.t0, link.frame), (reached, Frame::World), "{story}");
        assert!(link.t1 >= link.t0, "{story}");
        reached = link.t1;
        let travel = [0, 1, 2].map(|k| &Dyadic::from(w[1][k]) - &Dyadic::from(w[0][k]));
        let sweep = LinkSweep { travel: &travel, during: [link.t0, link.t1] };
        let s = exact_direction_of_link(&pair.into(), &link.direction, Some(sweep)).unwrap();
        let gap = gap_along(&pair.into(), &s, &mut Effort::unlimited()).expect("no limit");
        let rate = scalar_product(&s, &travel);
        for t in [link.t0, link.t1] {
            let then = &gap + &(&rate * &Dyadic::from(t));
            assert_eq!(then.sign(), Sign::Positive, "{story}: {link:?}");
        }
    }
    assert_eq!(reached, end, "{story}");
}

fn compare(time: Time, t: f64) -> Ordering {
    Ratio::new(IBig::from(time.0), IBig::from(time.1), 0).compare(t)
}

/// The differences, moved to the exact time, hold the origin.
fn check_pairs(placed: [&[Whole]; 2], w: &Whole, toi: Time, pairs: &[VertexPair], story: &str) {
    assert!((1..=4).contains(&pairs.len()), "{story}");
    let moved: Vec<Whole> = pairs
        .iter()
        .map(|k| {
            let (p, q) = (placed[0][k.i as usize], placed[1][k.j as usize]);
            [0, 1, 2].map(|c| (q[c] - p[c]) * toi.1 + w[c] * toi.0)
        })
        .collect();
    assert_ne!(oracle(&[[0, 0, 0]], &moved), Verdict::Separated, "{story}: {pairs:?}");
}

#[test]
fn times_of_small_integer_bodies_are_those_of_the_oracle_and_every_chain_holds() {
    let mut counts = [0u32; 5];
    for seed in 0..if cfg!(debug_assertions) { 1500 } else { 30_000 } {
        let mut random = Random(seed);
        let (p, q) = (small_body(&mut random), small_body(&mut random));
        let (pose_p, pose_q) = (random_pose(&mut random, 5), random_pose(&mut random, 5));
        let mut velocity = || random_pose(&mut random, 12).translation;
        let (of_p, of_q) = (velocity(), velocity());
        let pair = Pair::new(&p, pose_p, &q, pose_q);
        let (at_p, at_q) = (placed(&p, &pose_p), placed(&q, &pose_q));
        let w = whole(&(of_q - of_p), 2.0);
        let against = w.map(|x| -x);
        let story = format!("seed {seed}");
        let answer = ask(&pair, of_p, of_q);
        let initial = oracle(&at_p, &at_q);
        assert_eq!(answer.initial.verdict(), initial, "{story}");
        if initial != Verdict::Separated {
            assert_eq!(answer.outcome, Outcome::Contact, "{story}");
            assert_eq!((answer.t_free, answer.t_contact), (0.0, 0.0), "{story}");
            check_pairs([&at_p, &at_q], &w, (0, 1), &answer.pairs, &story);
            counts[0] += 1;
            continue;
        }
        let range = if w == [0, 0, 0] { None } else { times(&at_p, &at_q, &against) };
        let during = range.filter(|[first, _]| first.0 >= 0 && first.0 <= first.1);
        let Some([toi, last]) = during else {
            assert_eq!(answer.outcome, Outcome::NoContact, "{story}");
            check_chain(&pair, [&of_p, &of_q], &answer.chain, 1.0, &story);
            counts[if range.is_none() { 1 } else { 2 }] += 1;
            continue;
        };
        assert_eq!(answer.outcome, Outcome::Contact, "{story}");
        assert_eq!(compare(toi, answer.t_free), Ordering::Greater, "{story}");
        assert_ne!(compare(toi, answer.t_contact), Ordering::Greater, "{story}");
        let exact = compare(toi, answer.t_contact) == Ordering::Equal;
        assert_eq!(answer.t_free, answer.t_contact.next_down(), "{story}");
        check_chain(&pair, [&of_p, &of_q], &answer.chain, answer.t_free, &story);
        check_pairs([&at_p, &at_q], &w, toi, &answer.pairs, &story);
        counts[if exact { 3 } else { 4 }] += 1;
        counts[2] += u32::from(toi == last);
    }
    assert!(counts.iter().all(|n| *n > 10), "{counts:?}");
}

/// Misses of small integer bodies, each with the passage and what was found out about it.
fn misses(mut see: impl FnMut(&Pair<'_>, &Vec3, Passage<'_>, Miss, &str)) {
    for seed in 0..1500 {
        let mut random = Random(seed);
        let (p, q) = (small_body(&mut random), small_body(&mut random));
        let (pose_p, pose_q) = (random_pose(&mut random, 5), random_pose(&mut random, 5));
        let velocity = random_pose(&mut random, 24).translation;
        let pair = Pair::new(&p, pose_p, &q, pose_q);
        let mut effort = Effort::with_steps(100_000);
        let mut passage = Passage::new(&pair, &Travel::by(&Vec3::zeros()), &Travel::by(&velocity));
        if is_zero(&passage.velocity) {
            continue;
        }
        let against = negated(&passage.velocity);
        let crossing = cross_line(&mut passage.m, &against, &mut effort).unwrap();
        let Crossing::Never(miss) = crossing else { continue };
        see(&pair, &velocity, passage, miss, &format!("seed {seed}"));
    }
}

#[test]
fn facets_alone_prove_a_miss_where_no_vector_would() {
    let mut links = [0u32; 5];
    misses(|pair, velocity, mut passage, mut miss, story| {
        if miss.tellings.len() > 1 {
            miss.tellings.remove(0);
        }
        let mut effort = Effort::with_steps(100_000);
        // None where the two facets change over between two times.
        let Some(chain) = passage.chain(&miss.tellings, &mut effort).unwrap() else {
            links[0] += 1;
            return;
        };
        check_chain(pair, [&Vec3::zeros(), velocity], &chain, 1.0, story);
        links[chain.len()] += 1;
    });
    assert!(links[1] > 100 && links[2] > 100 && links[0] < 20, "{links:?}");
}

#[test]
fn one_direction_named_by_the_travel_proves_every_miss_of_a_line() {
    let mut forms = [0u32; 3];
    misses(|pair, velocity, _, miss, story| {
        match miss.across {
            Direction::SweptNormal { .. } => forms[0] += 1,
            Direction::SweptAxis { .. } => forms[1] += 1,
            Direction::Vector(_)
            | Direction::Normal { .. }
            | Direction::EdgeNormal { .. }
            | Direction::Nearest { .. } => {
                forms[2] += 1;
            }
        }
        let chain = [link(0.0, 1.0, miss.across)];
        check_chain(pair, [&Vec3::zeros(), velocity], &chain, 1.0, story);
    });
    assert!(forms.iter().all(|n| *n > 4), "{forms:?}");
}

#[test]
fn contact_at_the_very_end_of_the_step_counts_and_an_ulp_later_does_not() {
    let cube = crate::samples::cuboid(1.0, 1.0, 1.0);
    let pair = |x: f64| Pair::new(&cube, Pose::identity(), &cube, Pose::translation(x, 0.5, 0.0));
    let at_end = ask(&pair(5.0), Vec3::new(3.0, 0.0, 0.0), Vec3::zeros());
    assert_eq!((at_end.outcome, at_end.t_contact), (Outcome::Contact, 1.0));
    let later = ask(&pair(5.0f64.next_up()), Vec3::new(3.0, 0.0, 0.0), Vec3::zeros());
    assert_eq!(later.outcome, Outcome::NoContact);
}

#[test]
fn slides_with_the_least_clearance_are_free_and_without_it_are_contacts() {
    for seed in 0..20 {
        let grid = 2f64.powi(20);
        let rounded = |v: &Vec3| (v * grid).map(f64::round) / grid;
        let p = hull(&ball(20, seed).vertices().iter().map(rounded).collect::<Vec<_>>());
        // Q is P mirrored in its top vertex, the last in x, and passes it along y.
        let top = p.vertex_count() - 1;
        let q = hull(&p.vertices().iter().map(|v| 2.0 * p.vertex(top) - v).collect::<Vec<_>>());
        let start = Pose::translation(0.0, -0.5, 0.0);
        let pair = Pair::new(&p, Pose::identity(), &q, start);
        let graze = ask(&pair, Vec3::zeros(), Vec3::new(0.0, 1.0, 0.0));
        assert_eq!((graze.outcome, graze.t_contact), (Outcome::Contact, 0.5), "{seed}");
        assert_eq!(graze.t_free, 0.5f64.next_down());
        let start = Pose::translation(f64::from_bits(1), -0.5, 0.0);
        let pair = Pair::new(&p, Pose::identity(), &q, start);
        let (still, moving) = (Vec3::zeros(), Vec3::new(0.0, 1.0, 0.0));
        let free = ask(&pair, still, moving);
        assert_eq!(free.outcome, Outcome::NoContact, "{seed}");
        check_chain(&pair, [&still, &moving], &free.chain, 1.0, "least clearance");
    }
}

/// Bodies of which one point of M passes the origin within an ulp or so of the translation: what
/// the verdict is depends on bits that no f64 sum keeps.
#[test]
fn passing_within_an_ulp_is_decided_and_proven_to_the_end() {
    let mut counts = [0u32; 3];
    for seed in 0..if cfg!(debug_assertions) { 300 } else { 20_000 } {
        let mut random = Random(seed);
        let (p, q) = (ball(4 + random.below(20), seed), ball(4 + random.below(20), seed + 77));
        let offset = random_offset(&mut random);
        let (pose_p, turned) = (random.pose(offset), random.pose(Vec3::zeros()));
        let w = random.vector() * 8.0;
        // A direction across w: the farthest difference along it is on the silhouette.
        let across = w.cross(&random.unit_vector());
        let mut effort = Effort::with_steps(100_000);
        let i =
            crate::support::by_scan(&p, &-pose_p.direction_to_body_rounded(&across), &mut effort);
        let j =
            crate::support::by_scan(&q, &turned.direction_to_body_rounded(&across), &mut effort);
        let time = f64::from(1 + random.below(7)) / 8.0;
        let translation =
            pose_p.apply_rounded(p.vertex(i)) - turned.rotation * q.vertex(j) - w * time;
        let pair = Pair::new(&p, pose_p, &q, Pose { translation, ..turned });
        let (still, story) = (Vec3::zeros(), format!("seed {seed}"));
        let answer = ask(&pair, still, w);
        match answer.outcome {
            Outcome::NoContact => {
                check_chain(&pair, [&still, &w], &answer.chain, 1.0, &story);
                counts[0] += 1;
                counts[2] += u32::from(answer.chain.len() > 1);
            }
            Outcome::Contact => {
                assert!(answer.t_contact.next_down() <= answer.t_free, "{story}");
                check_chain(&pair, [&still, &w], &answer.chain, answer.t_free, &story);
                counts[1] += 1;
            }
            Outcome::Undecided => panic!("{story}: free until {}", answer.t_free),
        }
    }
    assert!(counts.iter().all(|n| *n > 10), "{counts:?}");
}

fn random_offset(random: &mut Random) -> Vec3 {
    random.vector() * 10f64.powi(i32::try_from(random.below(7)).unwrap())
}

/// Numbers whose exponents differ by hundreds: no f64 vector is near most directions, and the times
/// at which facets stop to separate lie between two f64 numbers.
#[test]
fn translations_across_hundreds_of_binary_orders_are_decided_and_proven_to_the_end() {
    use crate::judge::judge_first_contact;
    let mut counts = [0u32; 3];
    for seed in 0..if cfg!(debug_assertions) { 600 } else { 40_000 } {
        let mut random = Random(seed);
        let spread = [3, 60, 800][random.below(3) as usize];
        let wild = |random: &mut Random| {
            let power = i32::try_from(random.below(spread)).unwrap() - (spread / 2).cast_signed();
            let zero = random.below(6) == 0;
            if zero { 0.0 } else { random.vector().x * 2f64.powi(power) }
        };
        let vector = |random: &mut Random| Vec3::from_fn(|_, _| wild(random));
        let body = |random: &mut Random| {
            let count = 1 + random.below(5);
            hull(&(0..count).map(|_| vector(random)).collect::<Vec<_>>())
        };
        let (p, q) = (body(&mut random), body(&mut random));
        let turned = random.below(2) == 0;
        let turn = |random: &mut Random| {
            if turned { random.pose(Vec3::zeros()) } else { Pose::identity() }
        };
        let (pose_p, pose_q) = (turn(&mut random), turn(&mut random));
        let velocity = vector(&mut random) * 8.0;
        // Some vertex of Q comes to one of P at half time, or beside it.
        let meeting = pose_p.apply_rounded(p.vertex(random.below(p.vertex_count())))
            - pose_q.apply_rounded(q.vertex(random.below(q.vertex_count())));
        let aside = if random.below(2) == 0 { vector(&mut random) } else { Vec3::zeros() };
        let pose_q = Pose { translation: meeting - velocity * 0.5 + aside, ..pose_q };
        let pair = Pair::new(&p, pose_p, &q, pose_q);
        let still = Motion::Linear { velocity: Vec3::zeros() };
        let question = Question::new(pair, still, Motion::Linear { velocity });
        let mut effort = Effort::unlimited();
        let answer =
            super::super::first_contact(&question, &mut Witness::default(), &mut effort).unwrap();
        assert_eq!(judge_first_contact(&question, &answer), Ok(()), "seed {seed}: {answer:?}");
        let swept = |link: &Link| {
            matches!(link.direction, Direction::SweptNormal { .. } | Direction::SweptAxis { .. })
        };
        match answer.outcome {
            Outcome::NoContact => counts[usize::from(answer.chain.iter().any(swept))] += 1,
            Outcome::Contact => counts[2] += 1,
            Outcome::Undecided => panic!("seed {seed}"),
        }
    }
    // Of free ones, those that only the travel names a direction for.
    let [free, swept, met] = counts;
    assert!(free > 5 && met > 5 && swept > 0 && 50 * swept < free, "{counts:?}");
}

/// Three points that rounding left nearly in a line pass three others within 1e-290 of them. The
/// two facets change over between two times and the rounded normal cuts a body, so the direction
/// was named by the travel, which is more than a checker of static directions reads; one square to
/// an edge and an axis proves it, too.
#[test]
fn a_miss_by_next_to_nothing_is_proven_without_the_travel_where_an_edge_and_an_axis_do() {
    let p = hull(&[-1.0, -2.0, 1.0].map(|k| Vec3::new(0.0001, 0.0002, 0.0003) * k));
    let far = 60_000_000_000_000.01;
    let q = hull(&[
        Vec3::new(0.0001, far, 0.0003),
        Vec3::new(0.000_150_000_000_000_000_01, far, 0.0006),
        Vec3::new(0.300_000_000_000_000_04, 60_000_000_000_000.61, 0.899_999_999_999_999_9),
    ]);
    let pair = Pair::new(&p, Pose::identity(), &q, Pose::identity());
    let of_p = Vec3::new(0.0, -1.0, -2.0);
    let of_q = Vec3::new(-1.500_000_000_000_000_3e-304, -60_000_000_000_001.02, -2.0);
    let free = ask(&pair, of_p, of_q);
    assert_eq!(free.outcome, Outcome::NoContact);
    check_chain(&pair, [&of_p, &of_q], &free.chain, 1.0, "next to nothing");
    let is_static = |link: &Link| matches!(link.direction, Direction::EdgeNormal { .. });
    assert!(free.chain.iter().all(is_static), "{:?}", free.chain);
}

/// Bodies of many shapes and sizes that meet somewhere on the way, far from the origin or near it.
fn meeting(random: &mut Random, seed: u64) -> (crate::polytope::Polytope, Pose, Vec3) {
    let stretch = [1.0, 0.1, 30.0][random.below(3) as usize];
    let flat = Vec3::new(1.0, stretch, 1.0);
    let points: Vec<Vec3> = ball(4 + random.below(120), seed)
        .vertices()
        .iter()
        .map(|v| v.component_mul(&flat))
        .collect();
    let offset = random_offset(random);
    (hull(&points), random.pose(offset), random.vector() * 3.0)
}

/// What is found of the entry along `way`: 0 none, 1 one without proof, 2 one that is proven in
/// floating point, to be then what exact arithmetic says.
fn proof_of_entry(pair: &Pair<'_>, way: &Vec3, name: &str) -> usize {
    let (travel_p, travel_q) = (Travel::by(&(way * -0.25)), Travel::by(&(way * 0.75)));
    let course = RoundedTravel::new(&travel_p, &travel_q);
    let mut effort = Effort::with_steps(100_000);
    let found = cast(pair, &course.against.high, 1.0, &mut effort).unwrap();
    let Cast::Enters(pairs, about) = found else { return 0 };
    let mut passage = Passage::new(pair, &travel_p, &travel_q);
    let against = negated(&passage.velocity);
    let Some(entry) = certify(pair, &course.against, &pairs, about, &mut effort) else { return 1 };
    let crossing = cross_line(&mut passage.m, &against, &mut effort).unwrap();
    let Crossing::Meets(ends) = crossing else { panic!("{name}: it misses") };
    let [first, _] = *ends;
    let exact = passage.time(first.numerator, first.denominator);
    assert_eq!(entry.between, exact.bracket(), "{name}");
    assert_eq!(strictly_below(&exact), entry.between[0], "{name}");
    2
}

#[test]
fn entries_proven_in_floating_point_are_those_of_exact_arithmetic_to_the_last_bit() {
    let mut counts = [0u32; 3];
    for seed in 0..if cfg!(debug_assertions) { 300 } else { 20_000 } {
        let mut random = Random(seed);
        let (p, pose_p, aside) = meeting(&mut random, seed);
        let (q, pose_q, _) = meeting(&mut random, seed + 1000);
        let way = random.unit_vector() * 10f64.powi(i32::try_from(random.below(4)).unwrap());
        let time = 0.1 + f64::from(random.below(80)) / 100.0;
        let translation = pose_p.translation + aside - way * time;
        let pair = Pair::new(&p, pose_p, &q, Pose { translation, ..pose_q });
        counts[proof_of_entry(&pair, &way, &format!("seed {seed}"))] += 1;
    }
    assert!(counts[2] > 100 * counts[1] && counts[0] > 10, "{counts:?}");
}

/// A box that met a cone took three times as long as two hulls of 200 vertices: of four corners of
/// a facet, three make a plane in which the fourth is as far, and so, it seemed, perhaps farther.
#[test]
fn entries_through_facets_of_many_corners_are_proven_in_floating_point() {
    let bodies = [
        ("cuboid", cuboid(1.0, 0.5, 0.2)),
        ("prism", prism(25)),
        ("cone", cone(25)),
        ("polygon", polygon(9)),
        ("ball", ball(60, 1)),
    ];
    let mut random = Random(31);
    for (name_p, p) in &bodies {
        for (name_q, q) in &bodies {
            let mut counts = [0u32; 3];
            for _ in 0..20 {
                let from = random.unit_vector() * (1.5 * (p.bounds().radius + q.bounds().radius));
                let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(from));
                let way = random.vector() * 0.2 - from;
                counts[proof_of_entry(&pair, &way, &format!("{name_p}, {name_q}"))] += 1;
            }
            assert!(counts[1] == 0 && counts[2] > 5, "{name_p}, {name_q}: {counts:?}");
        }
    }
}

/// A needle with quadrangles of a hundred parallels met a ball in a microsecond, and in a quarter
/// of a millisecond where the search took the other diagonal of one than the hull.
#[test]
fn entries_through_facets_in_a_plane_but_for_rounding_are_proven_in_floating_point() {
    let globe = globe(12, 7);
    let others = [("small ball", ball(60, 1)), ("cuboid", cuboid(0.1, 0.2, 0.3))];
    let mut random = Random(37);
    for (name, other) in &others {
        for flip in [false, true] {
            let (p, q) = if flip { (other, &globe) } else { (&globe, other) };
            let mut counts = [0u32; 3];
            for _ in 0..300 {
                let from = random.unit_vector() * (1.5 * (p.bounds().radius + q.bounds().radius));
                let pair = Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(from));
                let way = random.vector() * 0.2 - from;
                counts[proof_of_entry(&pair, &way, name)] += 1;
            }
            assert!(counts[1] == 0 && counts[2] > 100, "{name}: {counts:?}");
        }
    }
}

/// Both bodies travel so far that what their travels differ by is mostly what rounding drops of
/// each; that alone decides whether the point passes inside or outside of the edge.
#[test]
fn what_rounding_drops_of_two_long_travels_decides_a_graze() {
    let q = hull(
        &[[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.3, 0.0, 1.0]].map(Vec3::from),
    );
    let p = hull(&[Vec3::zeros()]);
    let grain = 2f64.powi(-35);
    let mut counts = [0u32; 2];
    for seed in 0..2000 {
        let mut random = Random(seed);
        let x = 0.25 + 0.5 * random.signed().abs();
        let aside = f64::from(random.below(33)) / 32.0 - 0.5;
        let far = 140_000.0 + f64::from(random.below(4000)) * grain;
        let ends = |x: f64, z: f64| Vec3::new(x, 0.1, z);
        let start = random.signed() - 1.5;
        let travel_p = Travel { from: ends(x, start), to: ends(far, 0.7) };
        let steps = f64::from(random.below(5)) - 2.0;
        let travel_q =
            Travel { from: ends(x + aside * grain, 0.0), to: ends(far + steps * grain, 0.0) };
        let at = |travel: &Travel| Pose { translation: travel.from, ..Pose::identity() };
        let to = |travel: &Travel| Motion::ToPose {
            end: Pose { translation: travel.to, ..Pose::identity() },
            pivot: None,
            turn: None,
        };
        let pair = Pair::new(&p, at(&travel_p), &q, at(&travel_q));
        let question = Question::new(pair, to(&travel_p), to(&travel_q));
        let mut effort = Effort::with_steps(100_000);
        let found =
            super::super::first_contact(&question, &mut Witness::default(), &mut effort).unwrap();
        let mut passage = Passage::new(&pair, &travel_p, &travel_q);
        let against = negated(&passage.velocity);
        let meets = matches!(
            cross_line(&mut passage.m, &against, &mut effort).unwrap(),
            Crossing::Meets(_)
        );
        assert_eq!(found.outcome == Outcome::Contact, meets, "seed {seed}");
        counts[usize::from(meets)] += 1;
    }
    assert!(counts.iter().all(|n| *n > 200), "{counts:?}");
}
