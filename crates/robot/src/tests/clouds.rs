//! Clouds among what stands still: against every ball asked alone, and after changes.

use super::check::panda_cell;
use super::samples::{configurations, panda};
use crate::cell::{BodyPair, Cell, Instance};
use crate::check::{CheckMode, CheckQuestion, Checked};
use crate::cloud::{BoxedCloud, CloudChange};
use crate::edge::{EdgeAnswer, EdgeQuestion};
use crate::still::StillBody;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::cloud::PointCloud;
use clearance_geometry::distance::METHODS;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pair::Pair;
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::witness::Witness;
use clearance_samples::Random;
use std::sync::Arc;

fn points(count: usize, random: &mut Random) -> Vec<Vec3> {
    let point =
        |_| Vec3::from_fn(|k, _| [0.0, 0.0, 0.55][k] + random.signed() * [0.9, 0.9, 0.55][k]);
    let all = (0..4 * count).map(point);
    all.filter(|p: &Vec3| p.xy().norm() > 0.3).take(count).collect()
}

/// Where the cloud is: turned, and not where the world is.
fn place() -> Pose {
    Pose::from_quaternion(Vec3::new(0.02, -0.01, 0.05), [1.0, 0.1, -0.05, 0.3]).unwrap()
}

fn cell_with(points: &[Vec3], radius: f64) -> Cell {
    let robot = panda();
    let cloud = PointCloud::new(points.to_vec(), radius, &Effort::unlimited()).unwrap();
    let mut still = super::samples::boxes(3, &mut Random(5));
    still.insert(
        1,
        StillBody {
            body: crate::body::PartBody::Cloud(BoxedCloud::new(Arc::new(cloud))),
            pose: place(),
        },
    );
    let instance = Instance { robot: &robot, world_from_base: Pose::identity() };
    Cell::new(&[instance], still)
}

fn ask(cell: &Cell, mode: CheckMode, values: &[f64]) -> Vec<Checked> {
    let question = CheckQuestion { mode, with_gradient: false, ..CheckQuestion::default() };
    cell.check(question, values, &mut Effort::unlimited())
}

/// How every ball stands to a part where a configuration puts it, with its signed distance.
fn one_by_one(
    cell: &Cell,
    values: &[f64],
    part: usize,
    points: &[Vec3],
    radius: f64,
) -> (Verdict, f64) {
    let placed = cell.placed_hulls(values);
    let (hull, pose) = placed[part];
    let mut worst = Verdict::Separated;
    let mut least = f64::INFINITY;
    for point in points {
        let centre = convex_hull(&[*point]).unwrap().polytope;
        let cores = Pair::new(hull, pose, &centre, place());
        let pair = RoundedPair { cores, radii: [0.0, radius] };
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let stops = clearance_geometry::distance::Stops::default();
        let apart = rounded::measure(&pair, &METHODS[0], stops, witness, effort).unwrap();
        let deep = rounded::measure_depth(&pair, false, witness, effort).unwrap();
        least = least.min(if deep.upper > 0.0 { -deep.lower } else { apart.upper });
        worst = match (worst, apart.proof.verdict) {
            (Verdict::Overlapping, _) | (_, Verdict::Overlapping) => Verdict::Overlapping,
            (Verdict::Touching, _) | (_, Verdict::Touching) => Verdict::Touching,
            (Verdict::Separated, Verdict::Separated) => Verdict::Separated,
        };
    }
    (worst, least)
}

const CLOUD: usize = 1;

#[test]
fn a_cell_with_a_cloud_says_what_its_balls_say() {
    let (all, radius) = (points(60, &mut Random(1)), 0.02);
    let (cell, without) = (cell_with(&all, radius), panda_cell_without());
    let values = configurations(50, &mut Random(2));
    let every = ask(&cell, CheckMode::AllPairs, &values);
    let first = ask(&cell, CheckMode::FirstPair, &values);
    let least = ask(&cell, CheckMode::Clearance, &values);
    let of_others = ask(&without, CheckMode::Clearance, &values);
    let parts = cell.part_count();
    let number = u32::try_from(parts + CLOUD).unwrap();
    let (mut free, mut in_cloud, mut nearest) = (0, 0, 0);
    for (at, values) in values.chunks_exact(8).enumerate() {
        let alone: Vec<(Verdict, f64)> =
            (0..parts).map(|part| one_by_one(&cell, values, part, &all, radius)).collect();
        let moves = |part: usize| cell.pairs().contains(&[u32::try_from(part).unwrap(), number]);
        let moving: Vec<usize> = (0..parts).filter(|part| moves(*part)).collect();
        let expected: Vec<(BodyPair, Verdict)> = moving
            .iter()
            .map(|part| ([u32::try_from(*part).unwrap(), number], alone[*part].0))
            .filter(|(_, verdict)| *verdict != Verdict::Separated)
            .collect();
        let found: Vec<(BodyPair, Verdict)> = match &every[at] {
            Checked::Contact(found) => {
                found.iter().filter(|(pair, _)| pair[1] == number).copied().collect()
            }
            Checked::Free
            | Checked::Open { .. }
            | Checked::Clearance(_)
            | Checked::Below(_)
            | Checked::Bad(_)
            | Checked::Stopped(_) => Vec::new(),
        };
        assert_eq!(found, expected, "{at}");
        in_cloud += usize::from(!expected.is_empty());
        assert_eq!(every[at] == Checked::Free, first[at] == Checked::Free);
        free += usize::from(first[at] == Checked::Free);
        let of_cloud = moving.iter().map(|part| alone[*part].1).fold(f64::INFINITY, f64::min);
        let (Checked::Clearance(found), Checked::Clearance(others)) = (&least[at], &of_others[at])
        else {
            panic!("{:?}", least[at])
        };
        let (found, others) = (found[0].as_ref().unwrap(), others[0].as_ref().unwrap());
        let wanted = of_cloud.min(others.upper);
        assert!(found.lower <= wanted && wanted <= found.upper + 1e-12, "{at} {found:?} {wanted}");
        assert_eq!(found.point.is_some(), found.pair[1] == number);
        nearest += usize::from(found.point.is_some());
    }
    assert!(free > 3 && in_cloud > 3 && nearest > 10, "{free} {in_cloud} {nearest}");
}

/// The same cell with a cloud of one point far away.
fn panda_cell_without() -> Cell {
    cell_with(&[Vec3::new(1e6, 0.0, 0.0)], 0.0)
}

#[test]
fn gradients_are_those_of_differences() {
    let (all, radius) = (points(400, &mut Random(4)), 0.01);
    let cell = cell_with(&all, radius);
    let values = configurations(40, &mut Random(6));
    let question = CheckQuestion {
        mode: CheckMode::Clearance,
        with_gradient: true,
        ..CheckQuestion::default()
    };
    let mut checked = 0;
    for values in values.chunks_exact(8) {
        let measure = |values: &[f64], question| match cell
            .check(question, values, &mut Effort::unlimited())
            .remove(0)
        {
            Checked::Clearance(mut found) => found.remove(0).unwrap(),
            other @ (Checked::Free
            | Checked::Contact(_)
            | Checked::Open { .. }
            | Checked::Below(_)
            | Checked::Bad(_)
            | Checked::Stopped(_)) => panic!("{other:?}"),
        };
        let found = measure(values, question);
        let (Some(geometry), Some(_)) = (&found.geometry, found.point) else { continue };
        let middle = 0.5 * (found.lower + found.upper);
        let gap = (geometry.second - geometry.first).dot(&geometry.normal);
        assert!((gap - middle).abs() < 1e-9, "{gap} {middle}");
        let plain = CheckQuestion { with_gradient: false, ..question };
        for k in 0..7 {
            let step = 1e-6;
            let shifted = |by: f64| {
                let mut values = values.to_vec();
                values[k] += by;
                let found = measure(&values, plain);
                (0.5 * (found.lower + found.upper), found.pair, found.point)
            };
            let [less, more] = [shifted(-step), shifted(step)];
            if (less.1, less.2) != (found.pair, found.point)
                || more.1 != found.pair
                || more.2 != found.point
            {
                continue;
            }
            let slope = (more.0 - less.0) / (2.0 * step);
            let off = (slope - geometry.gradient[k]).abs();
            // At an edge of a depth the slope may change within the step.
            checked += usize::from(off < 1e-4);
            assert!(off < 1e-4 || middle < 0.0, "{slope} {}", geometry.gradient[k]);
        }
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn edges_among_a_cloud_are_free_where_their_samples_are() {
    let (all, radius) = (points(300, &mut Random(7)), 0.01);
    let cell = cell_with(&all, radius);
    let from = configurations(60, &mut Random(8));
    let mut random = Random(9);
    let to: Vec<f64> = from.iter().map(|value| value + 0.1 * random.signed()).collect();
    let question = EdgeQuestion {
        margin: 0.0,
        tolerance: 1e-6,
        steps_max: u64::MAX,
        ..EdgeQuestion::default()
    };
    let answers = cell.check_edges(question, [&from, &to], &mut Effort::unlimited());
    let is_free = |values: &[f64]| ask(&cell, CheckMode::FirstPair, values) == [Checked::Free];
    let (mut free, mut met) = (0, 0);
    for (at, answer) in answers.iter().enumerate() {
        let [from, to] = [&from, &to].map(|values| &values[8 * at..8 * at + 8]);
        let at = |t: f64| -> Vec<f64> {
            from.iter().zip(to).map(|(a, b)| crate::edge::value_at(*a, *b, t)).collect()
        };
        let samples = |until: f64| (0..50).map(move |k| until * f64::from(k) / 50.0);
        match answer {
            EdgeAnswer::Free => {
                free += 1;
                assert!(samples(1.0).all(|t| is_free(&at(t))) && is_free(to));
            }
            EdgeAnswer::Contact { free_until, contact_at, .. } => {
                met += 1;
                assert!(*free_until <= 0.0 || samples(*free_until).all(|t| is_free(&at(t))));
                assert!(!is_free(&at(*contact_at)));
                assert!(contact_at - free_until <= 1e-6);
            }
            EdgeAnswer::Undecided { .. }
            | EdgeAnswer::Bad(_)
            | EdgeAnswer::Turns
            | EdgeAnswer::Stopped { .. } => panic!("{answer:?}"),
        }
    }
    assert!(free > 5 && met > 5, "{free} {met}");
}

#[test]
fn a_changed_cell_answers_as_one_built_with_the_changed_cloud_and_others_stay() {
    let (mut all, radius) = (points(3_000, &mut Random(10)), 0.01);
    let before = cell_with(&all, radius);
    let mut cell = before.clone();
    let values = configurations(40, &mut Random(11));
    let modes = [CheckMode::FirstPair, CheckMode::AllPairs, CheckMode::LinkClearance];
    let answers = |cell: &Cell| modes.map(|mode| ask(cell, mode, &values));
    let old = answers(&before);
    let mut random = Random(12);
    for step in 0..5 {
        let come = points(100 * step, &mut random);
        let change = CloudChange { first: 500 * step, removed: 150, come: &come };
        let changed = cell.change_cloud(CLOUD, &change, &Effort::unlimited());
        changed.expect("a cloud").unwrap();
        all.splice(change.first..change.first + change.removed, come);
        assert_eq!(cell.cloud_points(CLOUD), Some(all.len()));
        assert_eq!(answers(&cell), answers(&cell_with(&all, radius)));
    }
    assert_ne!(answers(&cell), old);
    assert_eq!(answers(&before), old);
    let change = CloudChange { first: 0, removed: 0, come: &[] };
    assert!(cell.change_cloud(0, &change, &Effort::unlimited()).is_none());
    assert!(cell.change_cloud(99, &change, &Effort::unlimited()).is_none());
    assert!(!panda_cell(3).has_clouds() && cell.has_clouds());
}
