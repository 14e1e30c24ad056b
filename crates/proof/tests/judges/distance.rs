//! Claims of distances and margins.

use clearance_geometry::pair::Pair;
use clearance_proof::Vec3;
use clearance_proof::claim::*;
use clearance_proof::effort::Effort;
use clearance_proof::judge::*;
use clearance_proof::pose::Pose;
use clearance_proof::vertex_pair::VertexPair;
use clearance_samples::hull;

const FIRST: VertexPair = VertexPair { i: 0, j: 0 };
const SECOND: VertexPair = VertexPair { i: 0, j: 1 };

#[test]
fn a_true_bracket_is_accepted_and_one_ulp_inside_refused() {
    let point = hull(&[Vec3::zeros()]);
    let pair = Pair::new(&point, Pose::identity(), &point, Pose::translation(3.0, 4.0, 0.0));
    assert_eq!(judge_distance(&pair, 5.0, 5.0, &[FIRST]), Ok(()));
    assert_eq!(judge_distance(&pair, 0.0, 6.0, &[FIRST]), Ok(()));
    let fails = |lower, upper| judge_distance(&pair, lower, upper, &[FIRST]).is_err();
    assert!(fails(5.0f64.next_up(), 6.0));
    assert!(fails(5.0, 5.0f64.next_down()));
    assert!(fails(f64::NAN, 6.0) && fails(5.0, f64::INFINITY) && fails(-1.0, 6.0));
    assert!(judge_distance(&pair, 5.0, 5.0, &[]).is_err());
    assert!(judge_distance(&pair, 5.0, 5.0, &[VertexPair { i: 1, j: 0 }]).is_err());
}

/// The distance is 5, and exactly that is within the margin.
#[test]
fn a_margin_is_judged_to_the_last_bit_by_pairs_or_by_the_direction() {
    let segment = hull(&[Vec3::zeros(), Vec3::new(9.0, 12.0, 0.0)]);
    let point = hull(&[Vec3::zeros()]);
    let pair = Pair::new(&point, Pose::identity(), &segment, Pose::translation(3.0, 4.0, 0.0));
    let towards = Direction::Vector(Vec3::new(3.0, 4.0, 0.0));
    let along_x = Direction::Vector(Vec3::x());
    let is_shown = |direction, margin, is_within, pairs| {
        let claim = MarginClaim { margin, is_within, pairs, depth: None };
        judge_margin(&pair, direction, &claim, &mut Effort::unlimited()).is_ok()
    };
    let (at, below, above) = (5.0f64, 5.0f64.next_down(), 5.0f64.next_up());
    for pairs in [&[FIRST][..], &[SECOND, FIRST]] {
        for (margin, expected) in [(at, true), (above, true), (below, false), (0.0, false)] {
            for is_within in [true, false] {
                let judged = is_shown(&along_x, margin, is_within, pairs);
                assert_eq!(judged, is_within == expected, "{margin} {is_within} {pairs:?}");
            }
        }
    }
    // Without pairs the direction tells that something is far, never that it is near.
    assert!(is_shown(&towards, below, false, &[]) && !is_shown(&towards, at, false, &[]));
    assert!(!is_shown(&along_x, below, false, &[]) && is_shown(&along_x, 2.9, false, &[]));
    assert!(!is_shown(&towards, 6.0, true, &[]));
    // Pairs that are not nearest show what they show.
    assert!(is_shown(&along_x, 20.0, true, &[SECOND]) && !is_shown(&along_x, at, true, &[SECOND]));
    assert!(is_shown(&along_x, below, false, &[SECOND]));
    // What is no margin, no pair, or too many of them.
    for margin in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(!is_shown(&towards, margin, true, &[FIRST]));
        assert!(!is_shown(&towards, margin, false, &[FIRST]));
    }
    assert!(!is_shown(&towards, 6.0, true, &[VertexPair { i: 0, j: 2 }]));
    assert!(!is_shown(&towards, 6.0, true, &[FIRST; 4]));
}

#[test]
fn pairs_that_are_not_nearest_prove_no_more_than_they_show() {
    let segment = hull(&[Vec3::new(-1.0, 2.0, 0.0), Vec3::new(3.0, 2.0, 0.0)]);
    let point = hull(&[Vec3::zeros()]);
    let pair = Pair::new(&point, Pose::identity(), &segment, Pose::identity());
    let both = [FIRST, SECOND];
    assert_eq!(judge_distance(&pair, 2.0, 2.0, &both), Ok(()));
    // One end alone is farther away, and along it the other end lies behind the origin's side.
    assert!(judge_distance(&pair, 2.0, 2.0, &both[..1]).is_err());
    assert!(judge_distance(&pair, 0.0, 2.0, &both[..1]).is_err());
    assert_eq!(judge_distance(&pair, 0.0, 2.24, &both[..1]), Ok(()));
    assert_eq!(judge_distance(&pair, 2.0, 2.0, &[both[0], both[1], both[0]]), Ok(()));
}

#[test]
fn a_triangle_is_judged_by_its_foot_inside_or_on_its_border() {
    let at = |z: f64| {
        hull(&[Vec3::new(-1.0, -1.0, z), Vec3::new(2.0, -1.0, z), Vec3::new(-1.0, 2.0, z)])
    };
    let point = hull(&[Vec3::zeros()]);
    let all = [FIRST, SECOND, VertexPair { i: 0, j: 2 }];
    let above = at(0.5);
    let pair = Pair::new(&point, Pose::identity(), &above, Pose::identity());
    assert_eq!(judge_distance(&pair, 0.5, 0.5, &all), Ok(()));
    assert!(judge_distance(&pair, 0.5f64.next_up(), 1.0, &all).is_err());
    let beside = Pair::new(&point, Pose::identity(), &above, Pose::translation(5.0, 0.0, 0.0));
    assert!(judge_distance(&beside, 4.03, 4.04, &all).is_ok());
    let held = at(0.0);
    let pair = Pair::new(&point, Pose::identity(), &held, Pose::identity());
    assert_eq!(judge_distance(&pair, 0.0, 0.0, &all), Ok(()));
    assert!(judge_distance(&pair, f64::from_bits(1), 1.0, &all).is_err());
}
