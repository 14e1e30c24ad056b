//! The convex polygon of coplanar points, by the monotone chain in a projection.
//!
//! Source: A. M. Andrew, *Another efficient algorithm for convex hulls in two dimensions*,
//! Information Processing Letters 9 (1979), 216-219.

use crate::Vec3;
use crate::number::orientation::{Axis, Turn, turn};

/// The extreme points in counter-clockwise order seen from the positive end of `axis`, along which
/// the plane of the points does not project to a line. The points are distinct.
pub(super) fn polygon(points: &[Vec3], axis: Axis) -> Vec<u32> {
    let (i, j) = axis.others();
    let mut order: Vec<u32> =
        (0..u32::try_from(points.len()).expect("limited at the door")).collect();
    // Points of the plane stay distinct in the projection, so the order is total.
    order.sort_unstable_by(|&l, &r| {
        let (l, r) = (&points[l as usize], &points[r as usize]);
        l[i].total_cmp(&r[i]).then(l[j].total_cmp(&r[j]))
    });
    let mut ring: Vec<u32> = Vec::new();
    let mut extend_chain = |sequence: &mut dyn Iterator<Item = u32>| {
        let chain_start = ring.len();
        for next in sequence {
            while let [.., before, last] = ring[chain_start..] {
                let [a, b, c] = [before, last, next].map(|index| &points[index as usize]);
                if turn(axis, a, b, c) == Turn::Left {
                    break;
                }
                ring.pop();
            }
            ring.push(next);
        }
        ring.pop(); // the end of a chain is the start of the other
    };
    extend_chain(&mut order.iter().copied());
    extend_chain(&mut order.iter().rev().copied());
    ring
}
