//! HS-jump's rules and proposals, against the oracle.

use std::fmt::Write as _;

use super::*;
use crate::claim::{StaticProof, Verdict};
use crate::difference::layout::Layout;
use crate::judge::judge_static;
use crate::penetration;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::{Random, ball, cone, cuboid, ellipsoid, hull, lattice, polygon, prism, zoo};
use crate::separation::METHODS;
use crate::separation::exhaustive::oracle;

pub(super) fn propose(
    pair: &Pair<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Proposal, Stopped> {
    METHOD.propose(pair, witness, effort)
}

/// Proposes from cold; with the number of candidates.
pub(super) fn cold(pair: &Pair<'_>) -> (Proposal, u64) {
    cold_by(&METHOD, pair)
}

pub(super) fn cold_by(method: &CollisionMethod, pair: &Pair<'_>) -> (Proposal, u64) {
    let mut effort = Effort::unlimited();
    let proposal = method.propose(pair, &mut Witness::default(), &mut effort).unwrap();
    (proposal, effort.cost.steps)
}

/// Two bodies with random turns, the second at `offset`.
pub(super) fn placed<'a>(
    p: &'a Polytope,
    q: &'a Polytope,
    offset: Vec3,
    random: &mut Random,
) -> Pair<'a> {
    Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(offset))
}

/// Three candidates at once instead of one after the other: of round and of long bodies from far to
/// hardly apart, of half round ones where the first difference is well placed, and of boxy ones
/// never.
#[test]
fn four_differences_chosen_at_once_hold_the_origin_deep_in_round_and_long_bodies() {
    let round = [ellipsoid(200, [1.0, 0.9, 0.9], 1), ball(100, 2)];
    let long = [ellipsoid(200, [1.0, 0.2, 0.2], 1), ellipsoid(300, [0.1, 1.0, 0.4], 2)];
    let half = [ball(100, 1), ellipsoid(200, [1.0, 0.05, 0.05], 2)];
    let boxy = [cuboid(3.0, 1.0, 1.0), cone(32)];
    let sets =
        [(&round, 1.9, 250, 9), (&long, 0.5, 250, 9), (&half, 1.0, 250, 8), (&boxy, 0.5, 0, 0)];
    let mut random = Random(27);
    for (bodies, distance, least, tenths) in sets {
        let (mut tried, mut held) = (0, 0);
        for number in 0..400 {
            let apart = random.unit_vector() * (distance * random.signed().abs());
            let (p, q) = (&bodies[number % 2], &bodies[number / 2 % 2]);
            let deep = surrounds(&placed(p, q, apart, &mut random));
            tried += u32::from(deep.is_some());
            held += u32::from(deep == Some(true));
        }
        assert!(held >= least && held * 10 >= tried * tenths, "{held} of {tried}");
        assert!(least > 0 || tried == 0, "{tried}");
    }
}

/// Whether the first difference and three at once hold the origin; none if they are not tried.
fn surrounds(pair: &Pair<'_>) -> Option<bool> {
    let mut search = JumpSearch { is_cold: true, ..JumpSearch::new(pair) };
    let layout = Layout::of(pair);
    let s = tame_between(&layout.towards);
    let named = Ends::new(pair, &s, None).pair();
    let w = search.view.difference(named);
    let first = Candidate { s, pair: named, w, value: s.dot(&w) };
    let height = search.height(&layout, &first)?;
    search.polygon.cut(w);
    search.pairs.push(named);
    let mut witness = Witness::default();
    let found = search.surround(&layout, &first, height, &mut witness);
    let holds = found.is_some();
    let proof = StaticProof::Overlapping { pairs: witness.pairs };
    assert!(!holds || judge_static(pair, &proof) == Ok(()));
    Some(holds)
}

pub(super) fn median(mut counts: Vec<u64>) -> u64 {
    counts.sort_unstable();
    counts[counts.len() / 2]
}

/// No pair is known that takes more than some hundred, so the limit is lowered here.
#[test]
fn a_search_that_takes_too_many_candidates_hands_over() {
    let bodies = [ellipsoid(200, [1.0, 0.2, 0.2], 1), cone(50)];
    let mut random = Random(65);
    let (mut proven, mut handed_over) = (0, 0);
    for _ in 0..100 {
        let apart = random.unit_vector() * 1.2;
        let pair = placed(&bodies[0], &bodies[1], apart, &mut random);
        let (proposal, needed) = cold(&pair);
        let candidates_max = needed as u32 / 2;
        let mut search = JumpSearch { candidates_max, ..JumpSearch::new(&pair) };
        let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
        let layout = Layout::of(&pair);
        let found = search.run(&layout, &mut witness, &mut effort).unwrap();
        assert_eq!(found, Proposal::HandOver);
        assert_eq!(effort.cost.steps, u64::from(candidates_max));
        proven += u32::from(matches!(proposal, Proposal::Proven(_)));
        handed_over += u32::from(candidates_max > 1);
    }
    assert!(proven > 50 && handed_over > 20, "{proven} {handed_over}");
}

/// Theorem 3.
#[test]
fn a_reflection_turns_towards_every_separating_vector() {
    let mut random = Random(23);
    let mut reflections = 0;
    for _ in 0..2000 {
        let separating = random.unit_vector();
        let (s, w) = (random.unit_vector(), random.vector());
        let value = s.dot(&w);
        if value >= 0.0 || separating.dot(&w) <= 1e-3 {
            continue;
        }
        let body = hull_of_one();
        let pair = Pair::new(&body, Pose::identity(), &body, Pose::identity());
        let mut search = JumpSearch::new(&pair);
        assert_eq!(search.polygon.cut(w), Cut::Left);
        let next =
            search.next_candidate(&Candidate { s, w, value, pair: VertexPair::default() }).unwrap();
        assert!(next.dot(&separating) > s.dot(&separating));
        assert!((next.norm() - 1.0).abs() < 1e-12);
        reflections += 1;
    }
    assert!(reflections > 300, "{reflections}");
}

/// Rule 2: any point of the polygon is allowed, and the middle is farther off.
#[test]
fn a_candidate_outside_the_polygon_is_brought_just_inside() {
    let mut random = Random(24);
    let mut brought = 0;
    for _ in 0..2000 {
        let body = hull_of_one();
        let pair = Pair::new(&body, Pose::identity(), &body, Pose::identity());
        let mut search = JumpSearch { is_cold: true, ..JumpSearch::new(&pair) };
        let vectors = [random.unit_vector(), random.unit_vector(), random.unit_vector()];
        let [first, second, w] = vectors;
        let Some(s) = tame(&(first + second)) else { continue };
        let value = s.dot(&w);
        if value >= 0.0 || first.dot(&second) < -0.9 {
            continue;
        }
        for vector in vectors {
            assert_eq!(search.polygon.cut(vector), Cut::Left);
        }
        let reflected = s - w * (2.0 * value / w.dot(&w));
        let next =
            search.next_candidate(&Candidate { s, w, value, pair: VertexPair::default() }).unwrap();
        assert!(search.polygon.contains(&next));
        let middle = search.polygon.middle().unwrap();
        let (near, far) = (next.angle(&reflected), middle.angle(&reflected));
        assert!(near <= far + 1e-12);
        brought += u32::from(!search.polygon.contains(&reflected) && near < 0.8 * far);
    }
    assert!(brought > 100, "{brought}");
}

/// The square of such a difference is zero or subnormal: S plus a multiple of it, found by dividing
/// by that, was any vector, infinite ones included, and an error bound for vectors of size one said
/// nothing about it.
#[test]
fn a_difference_whose_square_underflows_gives_no_candidate_out_of_bounds() {
    let body = hull_of_one();
    let pair = Pair::new(&body, Pose::identity(), &body, Pose::identity());
    let s = Vec3::new(1.9, 1.0, 0.3);
    let mut taken = 0;
    for exponent in 150..170 {
        let w = Vec3::new(-1.0, 0.4, 0.2) * 10f64.powi(-exponent);
        let mut search = JumpSearch::new(&pair);
        let failed = Candidate { s, w, value: s.dot(&w), pair: VertexPair::default() };
        if search.polygon.cut(w) == Cut::Left
            && let Some(next) = search.next_candidate(&failed)
        {
            assert!(is_within_bounds(&next), "1e-{exponent}: {next}");
            taken += 1;
        }
    }
    assert_eq!(taken, 20);
}

fn hull_of_one() -> Polytope {
    crate::samples::hull(&[Vec3::zeros()])
}

/// §6: within the bound, and in practice far from it. Every new candidate brings a new pair, which
/// a debug assertion in the search checks.
#[test]
fn no_pair_of_the_zoo_takes_more_candidates_than_the_bound_or_than_40() {
    let zoo = zoo();
    let mut random = Random(24);
    let mut proposals = std::collections::BTreeMap::<_, u32>::new();
    for (name_p, p) in &zoo {
        for (name_q, q) in &zoo {
            let size = p.bounds().radius.max(q.bounds().radius);
            for distance in [0.0, 0.1, 0.5, 1.0, 1.5, 3.0] {
                let offset = random.unit_vector() * (distance * size);
                let pair = placed(p, q, offset, &mut random);
                let (proposal, steps) = cold(&pair);
                let bound = 2 * u64::from(p.vertex_count()) * u64::from(q.vertex_count());
                assert!(steps <= bound.min(40), "{name_p}, {name_q}, {distance}: {steps}");
                *proposals.entry(proposal.claim()).or_insert(0) += 1;
            }
        }
    }
    let claimed = |verdict| proposals.get(&Some(verdict)).copied().unwrap_or_default();
    let enough = claimed(Verdict::Separated) > 500 && claimed(Verdict::Overlapping) > 100;
    assert!(enough, "{proposals:?}");
}

/// The corners that the polygon has after each candidate of a search, and their number.
fn corners_by_candidate(pair: &Pair<'_>, start: Option<Vec3>) -> Vec<usize> {
    let mut corners = Vec::new();
    for steps in 1.. {
        let mut search = JumpSearch::new(pair);
        let mut witness = Witness { direction: start, ..Witness::default() };
        let (layout, mut effort) = (Layout::of(pair), Effort::with_steps(steps));
        if search.run(&layout, &mut witness, &mut effort).is_ok() {
            break;
        }
        corners.push(search.polygon.corner_count());
    }
    corners
}

/// Q at this gap from P along a random direction, in a random attitude; negative: it is that deep.
fn at_gap<'a>(p: &'a Polytope, q: &'a Polytope, gap: f64, random: &mut Random) -> Pair<'a> {
    let (at_rest, way) = (random.pose(Vec3::zeros()), random.unit_vector());
    let far = 2.0 * (p.bounds().radius + q.bounds().radius);
    let mut pose = random.pose(way * far);
    let apart = Pair::new(p, at_rest, q, pose);
    let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
    let span = penetration::along(&apart, &way, witness, effort).unwrap().span;
    pose.translation -= way * (span.map_or(far, |span| span.enter[0]) - gap);
    Pair::new(p, at_rest, q, pose)
}

/// §8.3 keeps the polygon in a balanced tree, which pays when it is long. Seen: 3.2 corners a cut
/// in the mean, and at most 9, where 18 candidates are tried.
#[test]
fn the_polygon_has_too_few_corners_for_a_balanced_tree_to_pay() {
    let of = |count, axes: [f64; 3]| [ellipsoid(count, axes, 1), ellipsoid(count, axes, 2)];
    let sets = [
        ("balls of 2000", of(2000, [1.0; 3])),
        ("200 : 20 : 20 of 2000", of(2000, [200.0, 20.0, 20.0])),
        ("needles of 800", of(800, [100.0, 0.1, 0.1])),
        ("discs of 800", of(800, [1.0, 1.0, 1e-3])),
        ("cone and prism", [cone(300), prism(300)]),
        ("balls of 10,000", of(10_000, [1.0; 3])),
    ];
    let mut random = Random(29);
    let mut table = String::new();
    let mut within = true;
    for (name, [p, q]) in &sets {
        let size = p.bounds().radius;
        for (kind, gaps) in
            [("deep", [-0.1, -0.01]), ("close", [-1e-6, 1e-6]), ("separated", [0.01, 0.1])]
        {
            let mut lengths = Vec::new();
            let mut candidates_max = 0;
            for round in 0..40 {
                let pair = at_gap(p, q, gaps[round % 2] * size, &mut random);
                let start = (round % 4 > 1).then(|| random.unit_vector());
                let corners = corners_by_candidate(&pair, start);
                candidates_max = candidates_max.max(corners.len() + 1);
                lengths.extend(corners);
            }
            let mean = lengths.iter().sum::<usize>() as f64 / lengths.len().max(1) as f64;
            let most = lengths.iter().max().copied().unwrap_or_default();
            writeln!(
                table,
                "{name}, {kind}: {mean:.1} corners a cut, at most {most}; \
                 {candidates_max} candidates"
            )
            .unwrap();
            within &= mean <= 3.5 && most <= 10;
        }
    }
    eprintln!("{table}");
    assert!(within, "{table}");
}

/// Whether a proposal is consistent with the true verdict. In contact, rounding may propose either,
/// but prove neither.
fn agrees(proposal: &Proposal, verdict: Verdict) -> bool {
    match proposal {
        Proposal::HandOver => true,
        Proposal::Proven(evidence) => evidence.verdict() == verdict,
        Proposal::Separating(_) => verdict != Verdict::Overlapping,
        Proposal::Holding(_) => verdict != Verdict::Separated,
    }
}

#[test]
fn every_method_agrees_with_the_oracle_on_small_bodies_of_every_dimension() {
    let mut random = Random(25);
    let mut seen = [0; 3];
    for round in 0..600 {
        let (p, q) = (lattice(&mut random), lattice(&mut random));
        let offset = Vec3::from_fn(|_, _| f64::from(random.below(5)) - 2.0);
        let pair = if round % 2 == 0 {
            Pair::new(&p, Pose::identity(), &q, Pose::translation(offset.x, offset.y, offset.z))
        } else {
            placed(&p, &q, offset, &mut random)
        };
        let verdict = oracle(&pair);
        seen[verdict as usize] += 1;
        for method in METHODS {
            let mut witness = Witness::default();
            let mut effort = Effort::unlimited();
            let proposal = method.propose(&pair, &mut witness, &mut effort).unwrap();
            assert!(agrees(&proposal, verdict), "{}: {proposal:?}, {verdict:?}", method.name);
        }
    }
    assert!(seen.iter().all(|&count| count > 30), "{seen:?}");
}

/// What the text's step 7 would get wrong.
#[test]
fn touching_boxes_are_not_taken_for_separated() {
    let body = cuboid(1.0, 1.0, 1.0);
    for offset in [[2.0, 0.0, 0.0], [2.0, 2.0, 0.5], [2.0, 2.0, 2.0], [2.0, 0.3, -0.7]] {
        let pose = Pose::translation(offset[0], offset[1], offset[2]);
        let pair = Pair::new(&body, Pose::identity(), &body, pose);
        assert_eq!(oracle(&pair), Verdict::Touching);
        assert_ne!(cold(&pair).0.claim(), Some(Verdict::Separated), "{offset:?}");
    }
}

/// Theorem 4: the second difference is the opposite of the first.
#[test]
fn a_body_and_its_copy_in_the_same_place_overlap_by_four_pairs() {
    for (name, body) in zoo() {
        // Among subnormal numbers every product is noise, and the search hands over.
        if body.dimension() < 3 || body.bounds().radius < f64::MIN_POSITIVE {
            continue;
        }
        let pose = Random(31).pose(Vec3::zeros());
        let (proposal, steps) = cold(&Pair::new(&body, pose, &body, pose));
        let overlap = proposal.claim() == Some(Verdict::Overlapping);
        assert!(overlap && steps < 20, "{name}: {steps}");
    }
}

#[test]
fn flat_bodies_in_one_plane_are_handed_over_within_a_few_candidates() {
    let (p, q) = (polygon(50), polygon(60));
    for x in [0.0, 0.1, 1.0, 1.9] {
        let pair = Pair::new(&p, Pose::identity(), &q, Pose::translation(x, 0.0, 0.0));
        let (proposal, steps) = cold(&pair);
        assert!(proposal == Proposal::HandOver && steps <= 10, "{x}: {proposal:?}, {steps}");
    }
}

/// §8.4: a witness of the last frame answers with one candidate, or with none.
#[test]
fn a_pair_that_has_hardly_moved_is_answered_from_its_witness() {
    let (p, q) = (ball(2000, 1), ball(2000, 2));
    let mut random = Random(26);
    let (mut separated, mut overlapping) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        for (distance, counts) in [(2.1, &mut separated), (1.8, &mut overlapping)] {
            let turn_p = random.pose(Vec3::zeros());
            let mut pose = random.pose(random.clone().unit_vector() * distance);
            let mut witness = Witness::default();
            let before = Pair::new(&p, turn_p, &q, pose);
            propose(&before, &mut witness, &mut Effort::unlimited()).unwrap();
            pose.translation += random.vector() * 1e-3;
            let after = Pair::new(&p, turn_p, &q, pose);
            let mut effort = Effort::unlimited();
            let proposal = propose(&after, &mut witness, &mut effort).unwrap();
            assert_ne!(proposal, Proposal::HandOver);
            counts.push(effort.cost.supports);
        }
    }
    assert_eq!(median(separated), 2, "one candidate: a search in each body");
    assert_eq!(median(overlapping), 0, "the four pairs still hold the origin");
}

#[test]
fn a_hostile_witness_changes_the_cost_and_not_the_outcome() {
    let (p, q) = (ellipsoid(300, [1.0, 0.5, 0.1], 3), ball(40, 4));
    let mut random = Random(27);
    let far = VertexPair { i: u32::MAX, j: 7 };
    for round in 0..200 {
        let pair = placed(&p, &q, random.unit_vector() * (f64::from(round) / 100.0), &mut random);
        let (truth, _) = cold(&pair);
        for direction in [
            None,
            Some(Vec3::zeros()),
            Some(Vec3::new(f64::NAN, 1.0, 0.0)),
            Some(Vec3::new(1e308, -1e308, 1e308)),
            Some(Vec3::new(0.0, f64::from_bits(1), 0.0)),
            Some(random.vector()),
        ] {
            let any = VertexPair { i: random.below(300), j: random.below(40) };
            for pairs in [vec![], vec![far; 6], vec![any; 6], vec![any, far, any, any]] {
                let mut witness = Witness { direction, ..Witness::default() };
                witness.pairs.extend(pairs);
                let mut effort = Effort::unlimited();
                let proposal = propose(&pair, &mut witness, &mut effort).unwrap();
                assert_eq!(proposal.claim(), truth.claim(), "{direction:?}");
                assert!(effort.cost.steps < 40);
            }
        }
    }
}

#[test]
fn a_search_without_steps_stops() {
    let body = ball(20, 5);
    let pair = placed(&body, &body, Vec3::x(), &mut Random(28));
    let outcome = propose(&pair, &mut Witness::default(), &mut Effort::with_steps(2));
    assert_eq!(outcome, Err(Stopped::Steps));
}

/// Three of the four differences chosen at once may lie in a plane with the origin: of a
/// cuboctahedron's corners those that are 120 degrees apart do. What was left was too thin to go on
/// from and was forgotten, the reflection led to the mirror image of it all, and that one back: the
/// search never ended.
#[test]
fn two_cuboctahedra_in_one_place_are_decided_within_a_few_candidates() {
    let mut corners = Vec::new();
    for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        corners.extend([Vec3::new(a, b, 0.0), Vec3::new(0.0, a, b), Vec3::new(b, 0.0, a)]);
    }
    let body = hull(&corners);
    let mut random = Random(99);
    for number in 0..2000 {
        let pose = random.pose(Vec3::zeros());
        let pair = Pair::new(&body, pose, &body, pose);
        let direction = (number % 2 == 1).then(|| random.unit_vector());
        let mut witness = Witness { direction, ..Witness::default() };
        let mut effort = Effort::with_steps(40);
        let proposal = propose(&pair, &mut witness, &mut effort);
        assert!(proposal.is_ok_and(|found| found.claim() != Some(Verdict::Separated)), "{number}");
    }
}
