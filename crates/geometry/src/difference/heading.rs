//! A direction as certificates state it, as rounded numbers: for use, not for proof.

use super::exact::Difference;
use crate::Vec3;
use crate::claim::Direction;
use crate::number::scaled::rounded_direction;
use crate::number::tolerance::SHARP_NORMAL;
use crate::pair::{Pair, VertexPair};

/// The unit vector of a direction of this pair, rounded. None if it is zero, or if it is named by a
/// travel, which a pair at rest does not have.
pub fn unit_vector(pair: &Pair<'_>, direction: &Direction) -> Option<Vec3> {
    let rounded = match direction {
        Direction::Vector(vector) => *vector,
        Direction::Normal { pairs, negative } => {
            sharp_normal(pair, pairs, *negative).unwrap_or_else(|| exactly(pair, direction))
        }
        Direction::EdgeNormal { .. } | Direction::Nearest { .. } => exactly(pair, direction),
        Direction::SweptNormal { .. } | Direction::SweptAxis { .. } => return None,
    };
    // Scaled first, so that squares neither overflow nor vanish.
    let scaled = rounded / rounded.amax();
    let unit = scaled / scaled.norm();
    unit.iter().all(|c| c.is_finite()).then_some(unit)
}

/// `±(d1 - d0) x (d2 - d0)` where rounding leaves most of its digits.
fn sharp_normal(pair: &Pair<'_>, pairs: &[VertexPair; 3], negative: bool) -> Option<Vec3> {
    let corners = pairs.map(|pair_of_m| {
        let of_p = pair.p.pose.apply_rounded(&pair.p.body.vertices()[pair_of_m.i as usize]);
        let of_q = pair.q.pose.apply_rounded(&pair.q.body.vertices()[pair_of_m.j as usize]);
        (of_q - of_p, of_p.amax().max(of_q.amax()))
    });
    let size = corners.iter().fold(0.0_f64, |size, corner| size.max(corner.1));
    let (a, b) = (corners[1].0 - corners[0].0, corners[2].0 - corners[0].0);
    let normal = a.cross(&b);
    // Each difference is a few ulp of the coordinates off, and the cross product that much of the
    // other edge.
    let is_sharp = normal.amax() > SHARP_NORMAL * size * a.amax().max(b.amax());
    is_sharp.then(|| if negative { -normal } else { normal })
}

fn exactly(pair: &Pair<'_>, direction: &Direction) -> Vec3 {
    rounded_direction(&Difference::new(pair).direction(direction))
}
