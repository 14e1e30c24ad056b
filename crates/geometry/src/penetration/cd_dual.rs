//! Directional distances by CD-Dual: the silhouettes along the direction give a point of M on the
//! line, or tell that there is none; from it two searches find the faces where the line enters and
//! leaves.
//!
//! Source: Choi, Li, Wang, Cameron, *Collision Detection of Convex Polyhedra Based on Duality
//!         Transformation*, §6.
//! Proves: nothing by itself; what it finds is accepted if exact arithmetic confirms it. A face of
//!         three vertices of M that supports M and that the line passes has its crossing as an
//!         exact quotient. A side of the silhouette with M strictly beyond the plane through it
//!         along the line proves that the line misses.
//! Cost:   O(m + n + k log k) for the silhouettes, whose k corners are sorted (the text's O(m + n)
//!         does not say how),
//!         some tens of faces for each end, one exact supporting pair for each; flat bodies and
//!         crossings lost in rounding are handed over.

use dashu_int::IBig;

use super::directional::ahead;
use super::method::{ProvenSpan, RangeMethod};
use crate::Vec3;
use crate::claim::{Direction, RangeEnd, RangeProof};
use crate::difference::exact::Difference;
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::ratio::Ratio;
use crate::number::scaled::{
    Integers, cross, difference, dot, integer_at, least_exponent, negated, sign,
};
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::separation::methods::cd_dual::{Silhouette, exits};
use crate::witness::Witness;

/// The row of the table.
pub(super) const METHOD: RangeMethod = RangeMethod {
    name: "cd_dual",
    source: "Choi, Li, Wang, Cameron, CD-Dual, §6",
    proves: "the faces where the line enters and leaves, or a side of the silhouette that it \
             misses",
    cost: "sorting the silhouettes' corners, then some tens of faces for each end; hands over flat \
           bodies",
    tables: Tables::Surface,
    span,
};

fn span(
    pair: &Pair<'_>,
    direction: &Vec3,
    in_contact: bool,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<Option<ProvenSpan>, Stopped> {
    let Some(silhouette) = exits(pair, direction, witness, effort)? else { return Ok(None) };
    effort.cost.exact_stages += 1;
    let mut m = Difference::new(pair);
    let scale = least_exponent(direction.iter()).unwrap_or(0);
    let d: Integers = std::array::from_fn(|k| integer_at(direction[k], scale));
    Ok(match silhouette {
        Silhouette::Missed(side) => {
            let never = |direction| (None, RangeProof::Never { direction });
            misses(&mut m, &d, side, effort).map(never)
        }
        Silhouette::Passed([least, greatest]) => {
            let exponent = m.exponent() - scale;
            let least = crossing(&mut m, &negated(&d), least, effort);
            let greatest = crossing(&mut m, &d, greatest, effort);
            least.zip(greatest).map(|(first, last)| {
                let enter = (Ratio::new(-first.top, first.bottom, exponent), first.proof);
                let exit = (Ratio::new(last.top, last.bottom, exponent), last.proof);
                ahead([enter, exit], in_contact)
            })
        }
    })
}

/// The normal of the plane through one of M's edges along `d`, if M is strictly beyond it.
fn misses(
    m: &mut Difference<'_>,
    d: &Integers,
    side: [VertexPair; 2],
    effort: &mut Effort<'_>,
) -> Option<Direction> {
    let [a, b] = side.map(|pair| m.corner(pair).point);
    let across = cross(&difference(&b, &a), d);
    let (towards, negative) = match sign(&dot(&across, &a)) {
        // Q travels against d.
        Sign::Positive => (across, true),
        Sign::Negative => (negated(&across), false),
        Sign::Zero => return None,
    };
    let is_beyond = sign(&m.least_along(&towards, effort).0) == Sign::Positive;
    is_beyond.then_some(Direction::SweptNormal { pairs: side, negative })
}

/// Where the line leaves M.
struct Crossing {
    /// `top / bottom` is the greatest t with `t d` in M.
    top: IBig,
    bottom: IBig,
    proof: RangeEnd,
}

/// If it does through this triangle.
fn crossing(
    m: &mut Difference<'_>,
    d: &Integers,
    triangle: [VertexPair; 3],
    effort: &mut Effort<'_>,
) -> Option<Crossing> {
    let [a, b, c] = triangle.map(|pair| m.corner(pair).point);
    let normal = cross(&difference(&b, &a), &difference(&c, &a));
    let (outward, negative) = match sign(&dot(&normal, d)) {
        Sign::Positive => (normal, true),
        Sign::Negative => (negated(&normal), false),
        Sign::Zero => return None,
    };
    // The line passes the triangle if its three sides turn about it in one sense.
    let sides = [(&a, &b), (&b, &c), (&c, &a)].map(|(a, b)| sign(&dot(d, &cross(a, b))));
    if sides.contains(&Sign::Positive) && sides.contains(&Sign::Negative) {
        return None;
    }
    let offset = dot(&outward, &a);
    let farthest = m.farthest(&outward, effort);
    (dot(&outward, &farthest.point) == offset).then(|| Crossing {
        bottom: dot(&outward, d),
        top: offset,
        proof: RangeEnd {
            direction: Direction::Normal { pairs: triangle, negative },
            pairs: triangle.into_iter().collect(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::{METHODS, Range, along_by};
    use super::*;
    use crate::polytope::Polytope;
    use crate::pose::Pose;
    use crate::samples::{Random, ball, cuboid, ellipsoid};

    /// How often the line misses, how often it is met, and how often cd_dual hands over; where it
    /// does not, the answer is that of the default.
    #[derive(Debug, Default)]
    struct Counts {
        never: u32,
        met: u32,
        handed_over: u32,
    }

    impl Counts {
        fn compare(&mut self, pair: &Pair<'_>, direction: &Vec3, story: &str) -> Range {
            let mut effort = Effort::unlimited();
            let mut by = |method: &RangeMethod| {
                along_by(pair, direction, method, &mut Witness::default(), &mut effort).unwrap()
            };
            let [line, cd_dual] = [&METHODS[0], &METHOD].map(&mut by);
            assert_eq!(line.span, cd_dual.span, "{story}");
            let witness = &mut Witness::default();
            let found = exits(pair, direction, witness, &mut effort).unwrap();
            let in_contact = line.span.is_some_and(|span| span.enter == [0.0, 0.0]);
            match span(pair, direction, in_contact, witness, &mut effort).unwrap() {
                Some(_) if matches!(found, Some(Silhouette::Missed(_))) => self.never += 1,
                Some(_) => self.met += 1,
                None => self.handed_over += 1,
            }
            cd_dual
        }
    }

    #[test]
    fn ranges_are_those_of_the_exact_line_on_thousands_of_pairs() {
        let mut random = Random(71);
        let rounds = if cfg!(debug_assertions) { 400 } else { 4000 };
        let shapes: [[Polytope; 2]; 3] = [
            [ball(30, 1), ball(20, 2)],
            [ellipsoid(200, [3.0, 1.0, 0.3], 3), ball(100, 4)],
            [cuboid(1.0, 2.0, 3.0), ellipsoid(60, [1.0, 1.0, 0.1], 5)],
        ];
        for [p, q] in &shapes {
            let mut counts = Counts::default();
            for round in 0..rounds {
                let pose_p = random.pose(Vec3::zeros());
                let pose_q = random.pose(random.clone().vector() * 3.0);
                let pair = Pair::new(p, pose_p, q, pose_q);
                counts.compare(&pair, &random.vector(), &format!("round {round}"));
            }
            assert!(counts.never.min(counts.met) > rounds / 20, "{counts:?}");
            assert!(counts.handed_over <= rounds / 100, "{counts:?}");
        }
    }

    /// Directions along edges and faces, silhouettes with ties, lines through edges and corners.
    #[test]
    fn aligned_boxes_along_their_axes_and_diagonals_get_the_range_of_the_exact_line() {
        let (p, q) = (cuboid(1.0, 1.0, 1.0), cuboid(0.5, 1.5, 0.25));
        let mut random = Random(72);
        let mut counts = Counts::default();
        for _ in 0..400 {
            let half = |random: &mut Random| f64::from(random.below(13)) / 2.0 - 3.0;
            let offset = Vec3::from_fn(|_, _| half(&mut random));
            let direction = Vec3::from_fn(|_, _| f64::from(random.below(3)) - 1.0);
            if direction == Vec3::zeros() {
                continue;
            }
            let pose = Pose::translation(offset.x, offset.y, offset.z);
            let pair = Pair::new(&p, Pose::identity(), &q, pose);
            counts.compare(&pair, &direction, &format!("{offset:?} {direction:?}"));
        }
        assert!(counts.never > 100 && counts.met > 50, "{counts:?}");
    }

    #[test]
    fn separating_and_penetration_distance_of_boxes_are_those_of_their_intervals() {
        let body = cuboid(1.0, 1.0, 1.0);
        for (x, want) in [(5.0, Some([3.0, 7.0])), (-5.0, None), (0.5, Some([0.0, 2.5]))] {
            let pair = Pair::new(&body, Pose::identity(), &body, Pose::translation(x, 0.25, 0.5));
            let range = Counts::default().compare(&pair, &Vec3::x(), "in line");
            assert_eq!(range.span.map(|span| [span.enter[0], span.exit[1]]), want, "{x}");
        }
    }
}
