//! CD-Dual against brute force, and its findings as operation counts.

use super::*;
use crate::claim::Verdict;
use crate::hierarchy::Feature;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::{Random, ball, cuboid, ellipsoid, grid_ball, lattice, polygon, zoo};
use crate::separation::exhaustive::oracle;
use crate::separation::{METHODS, decide};

/// Proposes from cold; with the number of faces that each search looked at.
fn cold(pair: &Pair<'_>) -> (Proposal, DualWork) {
    propose_with_work(pair, &mut Witness::default(), &mut Effort::unlimited()).unwrap()
}

fn total(work: DualWork) -> u64 {
    work.fv + work.vf + work.ee
}

/// Two bodies with random turns, the second at `offset`.
fn placed<'a>(p: &'a Polytope, q: &'a Polytope, offset: Vec3, random: &mut Random) -> Pair<'a> {
    Pair::new(p, random.pose(Vec3::zeros()), q, random.pose(offset))
}

/// The best face of M, however early another one separates.
fn best<'a>(pair: &Pair<'a>) -> Option<(DualBodies<'a>, DualFacet)> {
    let (bodies, _) = towards_origin(pair)?;
    let mut search = DualSearch::new(bodies, false);
    let mut effort = Effort::unlimited();
    let first = search.first_face(&mut effort);
    match search.run(first, None, &mut effort).unwrap() {
        DualFound::Best(facet, _) => Some((bodies, facet)),
        DualFound::Beyond(_) | DualFound::Lost => None,
    }
}

/// The objective of a normal by looking at every vertex.
fn objective(bodies: &DualBodies<'_>, normal: &Vec3) -> f64 {
    // The offset of a pair is the sum of what its vertices contribute.
    let value = |i: u32, j: u32| normal.dot(&bodies.offset(VertexPair { i, j }));
    let (count_p, count_q) = (bodies.p.body.vertex_count(), bodies.q.body.vertex_count());
    let of_p = (0..count_p).map(|i| value(i, 0)).fold(f64::NEG_INFINITY, f64::max);
    let of_q = (0..count_q).map(|j| value(0, j)).fold(f64::NEG_INFINITY, f64::max);
    normal.dot(&bodies.ray) / (of_p + of_q - value(0, 0))
}

/// Every normal that a face of M can have.
fn all_normals(bodies: &DualBodies<'_>, pair: &Pair<'_>) -> Vec<Vec3> {
    let (p, q) = (&bodies.p, &bodies.q);
    let mut normals: Vec<Vec3> =
        (0..p.surface.face_count()).map(|face| *p.surface.normal(face)).collect();
    let turn = pair.p.pose.rotation.transpose() * pair.q.pose.rotation;
    normals.extend((0..q.surface.face_count()).map(|face| -(turn * q.surface.normal(face))));
    let edges = |body: &Polytope| -> Vec<Vec3> {
        let ends = (0..body.vertex_count())
            .flat_map(|a| body.neighbours(a).iter().filter(move |&&b| a < b).map(move |&b| (a, b)));
        ends.map(|(a, b)| body.vertex(b) - body.vertex(a)).collect()
    };
    for a in edges(p.body) {
        for b in edges(q.body) {
            let normal = a.cross(&(turn * b));
            if normal.norm() > 1e-9 {
                normals.extend([normal, -normal]);
            }
        }
    }
    normals
}

/// Theorem 6.
#[test]
fn the_search_ends_at_the_best_of_all_faces_of_m() {
    let mut random = Random(41);
    let mut kinds = [0; 3];
    for round in 0..80 {
        let (p, q) = (ball(6 + round % 7, random.bits()), ball(5 + round % 9, random.bits()));
        let offset = random.unit_vector() * (f64::from(random.below(30)) / 10.0);
        let pair = placed(&p, &q, offset, &mut random);
        let (bodies, facet) = best(&pair).unwrap();
        let values = all_normals(&bodies, &pair).into_iter().map(|n| objective(&bodies, &n));
        let largest = values.fold(f64::NEG_INFINITY, f64::max);
        assert!((facet.value - largest).abs() <= 1e-9 * largest.abs(), "round {round}");
        assert!((objective(&bodies, &facet.normal) - largest).abs() <= 1e-9 * largest.abs());
        kinds[match facet.kind {
            FaceKind::Face(DualBody::P, _) => 0,
            FaceKind::Face(DualBody::Q, _) => 1,
            FaceKind::Edges(..) => 2,
        }] += 1;
    }
    assert!(kinds.iter().all(|&count| count > 8), "{kinds:?}");
}

#[test]
fn every_family_gets_the_verdict_of_the_default_and_is_rarely_handed_over() {
    let zoo = zoo();
    let mut random = Random(42);
    let (mut seen, mut wrong, mut handed_over) = ([0u32; 3], 0, Vec::new());
    for (name_p, p) in &zoo {
        for (name_q, q) in &zoo {
            let solid = p.dimension() == 3 && q.dimension() == 3;
            let size = p.bounds().radius.max(q.bounds().radius);
            for distance in [0.0, 0.5, 1.0, 1.5, 3.0] {
                let offset = random.unit_vector() * (distance * size);
                let pair = placed(p, q, offset, &mut random);
                let (proposal, _) = cold(&pair);
                let story = format!("{name_p}, {name_q}, {distance}: {proposal:?}");
                if !solid {
                    assert_eq!(proposal, Proposal::HandOver, "{story}");
                    continue;
                }
                let by = |method: &CollisionMethod| {
                    let mut witness = Witness::default();
                    decide(&pair, method, &mut witness, &mut Effort::unlimited()).unwrap().verdict()
                };
                let verdict = by(&METHODS[0]);
                assert_eq!(by(&METHOD), verdict, "{story}");
                let Some(kind) = proposal.claim() else {
                    handed_over.push(story);
                    continue;
                };
                seen[kind as usize] += 1;
                wrong += u32::from(kind != verdict);
            }
        }
    }
    // Bodies of the size of the least number lie within rounding of what they touch.
    assert!(wrong <= 5 && handed_over.len() <= 5, "{wrong} wrong, {handed_over:?}");
    assert!(seen[0] > 300 && seen[2] > 100, "{seen:?}");
}

#[test]
fn lattice_bodies_with_many_parallel_features_get_the_verdict_of_the_oracle() {
    let mut random = Random(43);
    let (mut seen, mut handed_over, mut exact_stages) = ([0; 3], 0, [0; 2]);
    while seen.iter().sum::<u32>() < 500 {
        let (p, q) = (lattice(&mut random), lattice(&mut random));
        if p.dimension() < 3 || q.dimension() < 3 {
            continue;
        }
        let offset = Vec3::from_fn(|_, _| f64::from(random.below(9)) / 2.0 - 2.0);
        let pose = Pose::translation(offset.x, offset.y, offset.z);
        let pair = Pair::new(&p, Pose::identity(), &q, pose);
        let verdict = oracle(&pair);
        seen[verdict as usize] += 1;
        for (method, count) in [METHOD, super::super::hs_jump::METHOD].iter().zip(&mut exact_stages)
        {
            let mut effort = Effort::unlimited();
            let decision = decide(&pair, method, &mut Witness::default(), &mut effort).unwrap();
            assert_eq!(decision.verdict(), verdict);
            *count += effort.cost.exact_stages * u64::from(verdict != Verdict::Touching);
        }
        handed_over += u32::from(cold(&pair).0 == Proposal::HandOver);
    }
    let [by_cd_dual, by_hs_jump] = exact_stages;
    assert!(by_cd_dual <= by_hs_jump && handed_over == 0, "{exact_stages:?} {handed_over}");
    assert!(seen.iter().all(|&count| count > 30), "{seen:?}");
}

/// The mean work at a distance of two ellipsoids, with the part of the pairs that are separated.
fn mean_work(count: u32, axes: [f64; 3], distance: f64, random: &mut Random) -> (f64, f64) {
    let (p, q) = (ellipsoid(count, axes, 1), ellipsoid(count, axes, 2));
    let rounds = 60;
    let (mut looked_at, mut separated) = (0, 0);
    for _ in 0..rounds {
        let pair = placed(&p, &q, random.unit_vector() * distance, random);
        let (proposal, work) = cold(&pair);
        looked_at += total(work);
        separated += u32::from(matches!(proposal, Proposal::Separating(_)));
    }
    (looked_at as f64 / f64::from(rounds), f64::from(separated) / f64::from(rounds))
}

/// Fig. 8.
#[test]
fn work_does_not_depend_on_the_depth_and_falls_once_separated() {
    let mut random = Random(44);
    for count in [100, 1000] {
        let axes = [2.0, 1.0, 1.0];
        let mut at = |distance| mean_work(count, axes, distance, &mut random);
        let in_contact: Vec<f64> = [0.1, 0.5, 1.0, 1.5, 1.9].map(|x| at(x).0).to_vec();
        let (least, most) = in_contact
            .iter()
            .fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(*x), high.max(*x)));
        assert!(most < 1.6 * least, "{count}: {in_contact:?}");
        let falling = [2.5, 3.0, 4.1].map(at);
        assert!(falling[0].0 < least && falling[1].0 < 0.5 * least, "{count}: {falling:?}");
        assert!(falling[2].0 < 2.0 && falling[2].1 > 0.99, "{count}: {falling:?}");
    }
}

/// Fig. 8: a mild increase with the number of vertices.
#[test]
fn twenty_times_the_vertices_take_less_than_five_times_the_work() {
    let mut random = Random(45);
    let mut at = |count| mean_work(count, [2.0, 1.0, 1.0], 1.0, &mut random).0;
    let (few, many) = (at(100), at(2000));
    assert!(many < 5.0 * few, "{few} {many}");
}

/// Fig. 9.
#[test]
fn elongated_shapes_take_longer() {
    let mut random = Random(46);
    let mut at = |minor: f64| mean_work(1000, [2.0, minor, minor], 0.5 * minor, &mut random).0;
    let works = [1.8, 1.0, 0.5, 0.2].map(&mut at);
    assert!(works[3] > 2.0 * works[0], "{works:?}");
}

/// Condition by condition of §4.3, against the definition: two arcs cross if the edges' common
/// normal is supported by both edges.
#[test]
fn arcs_cross_just_when_both_edges_support_their_common_normal() {
    let mut random = Random(47);
    let mut counts = [0; 2];
    for round in 0..6 {
        let (p, q) = (ball(8, 2 * round), ball(9, 2 * round + 1));
        let pair = placed(&p, &q, random.vector(), &mut random);
        let (bodies, _) = towards_origin(&pair).unwrap();
        let search = DualSearch::new(bodies, true);
        let edges = |side: &bodies::DualSide<'_>| 0..side.incidence().edge_count();
        for edge_p in edges(&bodies.p) {
            for edge_q in edges(&bodies.q) {
                let [edge_p, edge_q] = [edge_p, edge_q].map(|edge| u32::try_from(edge).unwrap());
                let found = search.arcs_cross(edge_p, edge_q);
                let ends_p = bodies.p.incidence().ends(edge_p);
                let ends_q = bodies.q.incidence().ends(edge_q);
                let corner =
                    |i: usize, j: usize| bodies.offset(VertexPair { i: ends_p[i], j: ends_q[j] });
                let along_p = corner(1, 0) - corner(0, 0);
                let along_q = corner(0, 0) - corner(0, 1);
                let normal = along_p.cross(&along_q);
                let supported = |normal: &Vec3| {
                    let height = normal.dot(&corner(0, 0));
                    let all = (0..8).flat_map(|i| (0..9).map(move |j| VertexPair { i, j }));
                    all.into_iter().all(|k| normal.dot(&bodies.offset(k)) <= height + 1e-12)
                };
                let want = if supported(&normal) {
                    Some(true)
                } else if supported(&-normal) {
                    Some(false)
                } else {
                    None
                };
                assert_eq!(found, want, "{edge_p} {edge_q}");
                counts[usize::from(want.is_some())] += 1;
            }
        }
    }
    assert!(counts[0] > 1000 && counts[1] > 50, "{counts:?}");
}

/// Case 3, and with the edges' directions in common.
#[test]
fn aligned_boxes_are_decided_without_the_exact_stage_unless_they_touch() {
    let body = cuboid(1.0, 1.0, 1.0);
    let other = cuboid(0.5, 2.0, 0.75);
    let mut counts = [0; 3];
    let mut random = Random(48);
    for q in [&body, &other] {
        for round in 0..200 {
            let offset = Vec3::from_fn(|_, _| f64::from(random.below(29)) / 8.0 - 1.75);
            let turn = if round % 2 == 0 { Pose::identity() } else { random.pose(Vec3::zeros()) };
            // In a turned scene the faces are parallel up to rounding.
            let at = Pose { translation: turn.rotation * offset, ..turn };
            let pair = Pair::new(&body, turn, q, at);
            let reach = body.bounds().high + q.bounds().high;
            let depth = (reach - offset.abs()).min();
            if depth == 0.0 && round % 2 == 1 {
                continue; // Within rounding of contact.
            }
            let mut effort = Effort::unlimited();
            let decision = decide(&pair, &METHOD, &mut Witness::default(), &mut effort).unwrap();
            let want = if depth > 0.0 {
                Verdict::Overlapping
            } else if depth < 0.0 {
                Verdict::Separated
            } else {
                Verdict::Touching
            };
            assert_eq!(decision.verdict(), want, "{offset:?}");
            assert_eq!(effort.cost.exact_stages > 0, want == Verdict::Touching, "{offset:?}");
            counts[want as usize] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 15), "{counts:?}");
}

#[test]
fn features_parallel_to_a_face_are_one_facet_with_it() {
    let body = cuboid(1.0, 1.0, 1.0);
    let turned = Random(49).pose(Vec3::zeros());
    // Face on face; face on edge (turned by an eighth about z); face on vertex; edge on edge.
    let eighth = |axis: Vec3| {
        let (w, xyz) =
            ((std::f64::consts::PI / 8.0).cos(), axis * (std::f64::consts::PI / 8.0).sin());
        Pose::from_quaternion(Vec3::zeros(), [w, xyz.x, xyz.y, xyz.z]).unwrap()
    };
    let corners = |pose_q: Pose, facet_of: FaceKind| {
        let at = Pose { translation: Vec3::new(0.3, 0.2, 0.1), ..pose_q };
        let pair = Pair::new(&body, turned, &body, turned.compose(&at));
        let (bodies, _) = towards_origin(&pair).unwrap();
        let FaceKind::Face(side, face) = facet_of else { panic!("a face") };
        let facet = bodies.of_face(side, face, None, &mut Effort::unlimited());
        let supports = bodies.supports(&facet);
        (supports.p, supports.q)
    };
    for face in 0..6 {
        for side in [DualBody::P, DualBody::Q] {
            let kind = FaceKind::Face(side, face);
            let (p, q) = corners(Pose::identity(), kind);
            assert!(matches!((p, q), (Feature::Face(_), Feature::Face(_))), "{p:?} {q:?}");
            // Facets are sorted by their vertices: the first and the last lie across x.
            let about_x = eighth(Vec3::x());
            let (p, q) = corners(about_x, kind);
            let faces = [p, q].iter().filter(|f| matches!(f, Feature::Face(_))).count();
            let edges = [p, q].iter().filter(|f| matches!(f, Feature::Edge(_))).count();
            let across_x = body.facets().row(face).iter().map(|&v| body.vertex(v).x).sum::<f64>();
            let want = if across_x.abs() > 3.0 { (2, 0) } else { (1, 1) };
            assert_eq!((faces, edges), want, "{p:?} {q:?}");
            let general = Random(50).pose(Vec3::zeros());
            let (p, q) = corners(general, kind);
            let vertices = [p, q].iter().filter(|f| matches!(f, Feature::Vertex(_))).count();
            assert_eq!(vertices, 1, "{p:?} {q:?}");
        }
    }
}

/// §4.4.
#[test]
fn a_search_from_the_last_frames_face_looks_at_fewer_faces() {
    let axes = [2.0, 0.5, 0.5];
    let (p, q) = (ellipsoid(1000, axes, 1), ellipsoid(1000, axes, 2));
    let mut random = Random(51);
    let (mut cold_work, mut warm_work) = (0, 0);
    for _ in 0..60 {
        let turn = random.pose(Vec3::zeros());
        let mut pose = random.pose(random.clone().unit_vector() * 0.6);
        let mut witness = Witness::default();
        let mut effort = Effort::unlimited();
        METHOD.propose(&Pair::new(&p, turn, &q, pose), &mut witness, &mut effort).unwrap();
        assert!(matches!(witness.memory, Memory::FaceOfP(_)));
        pose.translation += random.vector() * 1e-3;
        let pair = Pair::new(&p, turn, &q, pose);
        cold_work += cold(&pair).1.fv;
        let (proposal, work) = propose_with_work(&pair, &mut witness, &mut effort).unwrap();
        assert!(matches!(proposal, Proposal::Holding(_)));
        warm_work += work.fv;
    }
    assert!(3 * warm_work < cold_work, "{cold_work} {warm_work}");
}

#[test]
fn a_hostile_witness_changes_the_cost_and_not_the_outcome() {
    let (p, q) = (ellipsoid(200, [1.0, 0.5, 0.1], 3), ball(40, 4));
    let mut random = Random(52);
    for round in 0..60 {
        let pair = placed(&p, &q, random.unit_vector() * (f64::from(round) / 30.0), &mut random);
        let kind = std::mem::discriminant(&cold(&pair).0);
        for face in [0, 7, 399, u32::MAX, random.below(400)] {
            for direction in [None, Some(Vec3::new(f64::NAN, 1.0, 0.0))] {
                for any in [VertexPair { i: u32::MAX, j: 7 }, VertexPair { i: 0, j: u32::MAX }] {
                    let memory = Memory::FaceOfP(face);
                    let mut witness = Witness { direction, memory, ..Witness::default() };
                    witness.pairs.push(any);
                    let mut effort = Effort::unlimited();
                    let proposal = METHOD.propose(&pair, &mut witness, &mut effort).unwrap();
                    assert_eq!(std::mem::discriminant(&proposal), kind, "{face}");
                }
            }
        }
    }
}

#[test]
fn a_body_and_its_copy_in_the_same_place_overlap_by_four_pairs() {
    for (name, body) in zoo() {
        // Among subnormal numbers every product is noise.
        if body.dimension() < 3 || body.bounds().radius < f64::MIN_POSITIVE {
            continue;
        }
        let pose = Random(31).pose(Vec3::zeros());
        let pair = Pair::new(&body, pose, &body, pose);
        let mut effort = Effort::unlimited();
        let decision = decide(&pair, &METHOD, &mut Witness::default(), &mut effort).unwrap();
        assert_eq!(decision.verdict(), Verdict::Overlapping, "{name}");
        assert!(matches!(cold(&pair).0, Proposal::Holding(_)), "{name}");
    }
}

#[test]
fn flat_bodies_are_handed_over_unsearched() {
    let (solid, flat) = (grid_ball(3), polygon(5));
    for (p, q) in [(&solid, &flat), (&flat, &solid), (&flat, &flat)] {
        let (proposal, work) = cold(&Pair::new(p, Pose::identity(), q, Pose::identity()));
        assert_eq!((proposal, work), (Proposal::HandOver, DualWork::default()));
    }
}

#[test]
fn a_search_without_steps_stops() {
    let body = ball(20, 5);
    let pair = placed(&body, &body, Vec3::x(), &mut Random(28));
    let outcome = METHOD.propose(&pair, &mut Witness::default(), &mut Effort::with_steps(2));
    assert_eq!(outcome, Err(Stopped::Steps));
}
