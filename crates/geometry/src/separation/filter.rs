//! The filter: what f64 arithmetic proves about a pair, with derived error bounds. Whatever it does
//! not prove (NaN and infinity included) is left to the exact stage.
//!
//! It is asked twice. The *first look* decides without a search: balls around the bodies that are
//! separated answer at once; then a witness that still holds; then, from centre to centre, a look
//! at the few vertices of small bodies or at the ellipsoids and boxes around larger ones. What a
//! search proposes afterwards is *certified*.
//!
//! The statements are about the exact placed bodies `R v + t`, which are never rounded as such.

mod evidence;

pub use self::evidence::Evidence;
use self::evidence::Shown;
use super::{Decision, Proposal};
use crate::Vec3;
use crate::claim::{Direction, StaticProof};
use crate::difference::largest;
use crate::difference::layout::centre_to_centre;
use crate::difference::probe::{Ends, Probe, certified_gap, tame, tame_between};
use crate::difference::rounded::View;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::{
    BOUND_SLACK, PLAIN_SIZES, UNDERFLOW, UNDERFLOW_FLOOR, UNIT, gamma, length,
};
use crate::pair::{Pair, VertexPair};
use crate::pose::STRETCH_MAX;
use crate::support::looks_at_all;
use crate::witness::Witness;

/// The decision for which the evidence vouches, if it is of this pair.
#[inline(always)]
pub(super) fn accepted(evidence: &Evidence, pair: &Pair<'_>) -> Option<Decision> {
    evidence.is_of(pair).then(|| evidence.decision())
}

/// The decision that a direction separates.
#[inline(always)]
pub(super) fn separated_by(s: Vec3) -> Decision {
    // By its components: copied as a block into an enum it goes through memory in pieces that
    // overlap, and waits there for ten nanoseconds.
    let direction = Direction::Vector(Vec3::new(s.x, s.y, s.z));
    Decision { proof: StaticProof::Separated { direction } }
}

/// Decides by what is at hand, or by `search`, which is told the vector from P's centre to Q's.
///
/// Where balls, ellipsoids or boxes separate, the witness stays as it was: whatever it says, it
/// says it to a later question.
#[inline(always)]
pub(super) fn first_look<'e, const CONTINUES: bool>(
    pair: &Pair<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'e>,
    search: impl FnOnce(Vec3, &mut Witness, &mut Effort<'e>) -> Result<Decision, Stopped>,
) -> Result<Decision, Stopped> {
    let between_origins = pair.q.pose.translation - pair.p.pose.translation;
    if separates_balls_at_origins(pair, &between_origins) {
        return Ok(separated_by(between_origins));
    }
    let between_centres = centre_to_centre(pair);
    if separates_balls(pair, &between_centres) {
        return Ok(separated_by(between_centres));
    }
    if let Some(evidence) = recall::<CONTINUES>(pair, &between_centres, witness, effort) {
        effort.cost.witness_hits += 1;
        return Ok(evidence.decision());
    }
    if !cores_overlap_along(pair, &between_centres, &between_centres) {
        if looks_at_all(pair.p.body) & looks_at_all(pair.q.body) {
            // A look at a few vertices takes no longer than one at the volumes around them, and
            // sees more.
            let s = tame_between(&between_centres);
            if let Some(evidence) = look(pair, &s, None, witness, effort) {
                return Ok(evidence.decision());
            }
        } else if separates_hulls(pair, &between_centres, &between_centres) {
            return Ok(separated_by(between_centres));
        }
    }
    search(between_centres, witness, effort)
}

/// What the witness alone proves. A direction that does not hold any more is forgotten, so that the
/// search does not begin by trying it again; unless the method goes on from it.
#[inline(always)]
fn recall<const CONTINUES: bool>(
    pair: &Pair<'_>,
    between_centres: &Vec3,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Option<Evidence> {
    if let Some(four) = witness.pairs.first_chunk::<4>() {
        // A direction beside the four pairs is kept: a search that has to go on begins with it,
        // near where the last one ended.
        return still_holds(pair, four);
    }
    // Not in a closure: one that several questions share is not inlined, which costs the default
    // two per cent of a question that its witness answers.
    let remembered = tame(&witness.direction?);
    let mut evidence = None;
    if let Some(s) = remembered
        && !cores_overlap_along(pair, &s, between_centres)
    {
        evidence = look(pair, &s, witness.pairs.first().copied(), witness, effort);
    }
    if !CONTINUES && evidence.is_none() {
        witness.direction = None;
    }
    evidence
}

/// Whether s, a tame direction, separates, as its supporting vertices show.
#[inline(always)]
fn look(
    pair: &Pair<'_>,
    s: &Vec3,
    hint: Option<VertexPair>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Option<Evidence> {
    let ends = Ends::new(pair, s, hint);
    if ends.value() <= 0.0 {
        return None;
    }
    proves_separation(pair, &ends.climbed(pair, effort), witness)
}

/// Whether s, the direction from the origin of P's frame to that of Q's, separates the balls around
/// these: proven. Of all that may separate it is known first, as it does not wait for a rotation.
///
/// With `L = STRETCH_MAX` no vertex v of P is farther along s than the translation by more than
/// `|s| L |v|`. s is the difference of the translations as rounded, each coordinate within u of
/// itself. So `gap >= |s|² (1 - 2u) - |s| L (r_P + r_Q)`, and what it takes to compute is in γ₁₆ as
/// in [`separates_balls`].
#[inline(always)]
fn separates_balls_at_origins(pair: &Pair<'_>, s: &Vec3) -> bool {
    let radii = pair.p.body.bounds().radius_at_origin + pair.q.body.bounds().radius_at_origin;
    is_longer(s, radii * (STRETCH_MAX * (1.0 + gamma(16))))
}

/// Whether s, the direction from centre to centre, separates the balls around the bodies' centres:
/// proven.
///
/// With `L = STRETCH_MAX` no vertex v of P is farther along s than the placed centre c by more than
/// `s·R(v - c) <= |s| L r`, r being the radius. So `gap >= s·w - |s| L (r_P + r_Q)`, where w is the
/// exact difference of the placed centres, and s is w as rounded: two rows (γ₃ each) and three
/// sums, so within `γ₅ (|R_P||c_P| + |R_Q||c_Q| + |d|)` and 6η in each coordinate, for the
/// difference d of the translations. As `d = w - R_Q c_Q + R_P c_P`, and `||R|c| <= √3 L |c|`, the
/// length of `s - w` is at most `e = γ₆ (|s| + 4 (|c_P| + |c_Q|)) + 12η`, and `s·w >= |s| (|s| -
/// e)`. Hence the gap is positive if `|s| (1 - γ₆) > L (r_P + r_Q) + 4 γ₆ (|c_P| + |c_Q|) + 12η`.
/// No coordinate of c is beyond `reach` but by roundings of itself, so `|c| <= 1.01 span`.
///
/// s is compared by its square: in the range of `PLAIN_SIZES` that neither overflows nor
/// underflows, and 12η is less than a rounding of it; a sum of radii whose square underflows is far
/// below s, and one whose square overflows is not below it. γ₆ of s, γ₄ of either square, and what
/// the right side takes to compute, γ₆, are within γ₁₆ of the radii and of the span.
#[inline(always)]
fn separates_balls(pair: &Pair<'_>, s: &Vec3) -> bool {
    let (p, q) = (pair.p.body.bounds(), pair.q.body.bounds());
    let radii = (p.radius + q.radius) * (STRETCH_MAX * (1.0 + gamma(16)));
    is_longer(s, radii + gamma(32) * (p.span + q.span))
}

/// Whether s is longer than that, and of a length whose square is in the range of `PLAIN_SIZES`.
#[inline(always)]
fn is_longer(s: &Vec3, length: f64) -> bool {
    let squared = s.dot(s);
    // A comparison with NaN is false, so that NaN separates nothing.
    squared > length * length && PLAIN_SIZES.contains(&squared)
}

/// Whether s separates the bodies' bounding boxes or the ellipsoids around them, of each body
/// whichever reaches less far: proven. Of s it is known that it is w, from centre to centre as
/// rounded, or tame.
///
/// With `f = Rᵀs` no vertex v of P is farther along s than the placed centre c by more than `f·(v -
/// c)`. For the semi-axes a that is at most `|a∘f|` (Cauchy and Schwarz), and in the box at most `Σ
/// max(f_k (high - c)_k, f_k (low - c)_k)`. With h the smaller of the two and W for w before it was
/// rounded, `gap >= s·W - h_P - h_Q`. In the terms of [`separates_balls`] no coordinate of `W - w`
/// is beyond `γ₆ (|w| + 4 (|c_P| + |c_Q|)) + 12η`, and computing `s·w` costs `γ₃ |s|₁ |w|₁`.
///
/// For f as rounded to g, `|f_k - g_k| <= γ₃ L |s|₁ + 3η`, so `|a∘f| <= |a∘g| + (γ₃ L |s|₁ + 3η) Σ
/// a`. Computing `|a∘g|` costs γ₅ of it. In the box no `|v - c|_k` exceeds twice the reach but by
/// roundings: exchanging f for g costs `(γ₃ L |s|₁ + 3η) 2.01 span`, and computing the sum (a
/// difference, a product, two sums) `γ₄ L |s|₁ 2.01 span`. So γ₂₅ of `|s|₁ span` for the centres,
/// γ₁₅ for the boxes, γ₉ of `|s|₁ |w|₁`. γ₄₈ of each of the three terms is more than that and what
/// the right side takes to compute. With `s·w`, and so `|s|₁ |w|₁`, in the range of `PLAIN_SIZES`,
/// it is also far more than what underflow takes from products and squares, 10^-161 times sizes
/// that are in the error too.
///
/// The boxes are looked at only if one of the bodies is more like its box: around round ones they
/// reach farther than the ellipsoids nearly everywhere.
#[inline(always)]
pub(super) fn separates_hulls(pair: &Pair<'_>, s: &Vec3, w: &Vec3) -> bool {
    let (p, q) = (pair.p.body.bounds(), pair.q.body.bounds());
    let between = s.dot(w);
    let axes = p.semi_axes + q.semi_axes;
    let size = (p.span + q.span) + (axes.x + axes.y + axes.z);
    let error = gamma(48) * (s.abs().sum() * (w.abs().sum() + size));
    // A comparison with NaN is false, so that NaN separates nothing.
    let exceeds = |reaches: f64| {
        between > reaches * (1.0 + gamma(48)) + error && PLAIN_SIZES.contains(&between)
    };
    let in_p = pair.p.pose.direction_to_body_rounded(s);
    let in_q = -pair.q.pose.direction_to_body_rounded(s);
    let (of_p, of_q) = (p.ellipsoid_along(&in_p), q.ellipsoid_along(&in_q));
    if exceeds(of_p + of_q) {
        return true;
    }
    if !(p.is_boxy | q.is_boxy) {
        return false;
    }
    let smaller = |a: f64, b: f64| if a < b { a } else { b };
    exceeds(smaller(p.box_along(&in_p), of_p) + smaller(q.box_along(&in_q), of_q))
}

/// At most the gap between the ellipsoids around the bodies along s per length of s; 0 if they are
/// not proven separated. The terms and their errors are those of [`separates_hulls`].
pub(super) fn room_along_hulls(pair: &Pair<'_>, s: &Vec3, w: &Vec3) -> f64 {
    let (p, q) = (pair.p.body.bounds(), pair.q.body.bounds());
    let between = s.dot(w);
    let axes = p.semi_axes + q.semi_axes;
    let size = (p.span + q.span) + (axes.x + axes.y + axes.z);
    let error = gamma(48) * (s.abs().sum() * (w.abs().sum() + size));
    let in_p = pair.p.pose.direction_to_body_rounded(s);
    let in_q = -pair.q.pose.direction_to_body_rounded(s);
    let reaches = p.ellipsoid_along(&in_p) + q.ellipsoid_along(&in_q);
    let gap = (between - (reaches * (1.0 + gamma(48)) + error)) - gamma(4) * between;
    // A comparison with NaN is false, so that NaN is no gap.
    if gap > 0.0 && PLAIN_SIZES.contains(&between) {
        gap / length(s) * (1.0 - BOUND_SLACK)
    } else {
        0.0
    }
}

/// Whether the balls inside the bodies overlap along a direction, for bodies that are `w` apart
/// from centre to centre. Then it does not separate them, up to roundings: enough not to look.
#[inline(always)]
pub(super) fn cores_overlap_along(pair: &Pair<'_>, direction: &Vec3, w: &Vec3) -> bool {
    let radii = pair.p.body.bounds().inner_radius + pair.q.body.bounds().inner_radius;
    let between = direction.dot(w);
    (between <= 0.0) | (between * between < radii * radii * direction.dot(direction))
}

/// Proves that the probe's direction separates, and leaves it in the witness with the supporting
/// pair.
#[inline(always)]
pub(super) fn proves_separation(
    pair: &Pair<'_>,
    probe: &Probe,
    witness: &mut Witness,
) -> Option<Evidence> {
    if !probe.separates(pair) {
        return None;
    }
    witness.direction = Some(probe.direction);
    witness.pairs.clear();
    witness.pairs.push(probe.pair());
    Some(Evidence::of(pair, Shown::Separated(probe.direction)))
}

/// At least the size of what a difference `d = (R_Q q - R_P p) + (t_Q - t_P)` is summed from, in
/// each coordinate: `(|R_Q||q| + |R_P||p| + |t_Q - t_P|)_k`, because no entry of R exceeds
/// [`STRETCH_MAX`].
#[inline(always)]
fn size_of_differences(pair: &Pair<'_>) -> f64 {
    let spans = pair.p.body.bounds().span + pair.q.body.bounds().span;
    let offset = pair.q.pose.translation - pair.p.pose.translation;
    STRETCH_MAX * spans + offset.abs().sum()
}

/// Whether the origin is certainly inside the tetrahedron of four pairs' differences: its four
/// faces have it on the same side as their fourth corner.
///
/// A difference is rounded in each coordinate within γ₈ of its size and 8 `UNDERFLOW`: products and
/// sums of two rows (γ₃ each), the translations' difference, two more sums.
pub(crate) fn certainly_encloses(pair: &Pair<'_>, four: &[VertexPair; 4]) -> bool {
    rounded_corners(pair, four).is_some_and(|(corners, error)| encloses(&corners, error))
}

/// The four pairs' differences, rounded, and a bound of the error of each coordinate; none for
/// vertices that are not there and sizes that the bounds do not hold for.
#[inline(always)]
fn rounded_corners(pair: &Pair<'_>, four: &[VertexPair; 4]) -> Option<([Vec3; 4], f64)> {
    let (p, q) = (&pair.p, &pair.q);
    let named = four.iter().all(|k| k.i < p.body.vertex_count() && k.j < q.body.vertex_count());
    if !named {
        return None;
    }
    let offset = q.pose.translation - p.pose.translation;
    let corners = four.each_ref().map(|k| {
        let (x, y) = (p.body.vertex(k.i), q.body.vertex(k.j));
        (q.pose.rotation * y - p.pose.rotation * x) + offset
    });
    let size = size_of_differences(pair);
    let error = gamma(8) * size * (1.0 + gamma(8)) + 8.0 * UNDERFLOW;
    PLAIN_SIZES.contains(&size).then_some((corners, error))
}

/// At most the radius of the ball around the origin within the tetrahedron of four pairs'
/// differences; none if it is not certain that the origin is inside.
///
/// The plane of three corners is as far from the origin as their determinant by the length of its
/// normal. The determinant is at least what [`encloses`] bounds it by. For corners with coordinates
/// of at most B, the error included, and known within E, those of `b - a` are at most 2B, known
/// within 2E and a rounding; so a coordinate of the normal `(b - a) x (c - a)` has an error of at
/// most `16 B E` and γ₈ of `8 B²`, and its length one of less than `32 B E + 16 γ₃₂ B²`.
#[inline]
pub(super) fn room_of_ball(pair: &Pair<'_>, four: &[VertexPair; 4]) -> Option<f64> {
    let (corners, error) = rounded_corners(pair, four)?;
    let bound = bound_of_determinants(&corners, error);
    let [a, b, c, d] = &corners;
    let (ab, cd) = (a.cross(b), c.cross(d));
    let determinants = [cd.dot(b), -cd.dot(a), ab.dot(d), -ab.dot(c)];
    let sign = if determinants[0] < 0.0 { -1.0 } else { 1.0 };
    let least = determinants.map(|determinant| sign * determinant - bound);
    if !least.iter().all(|&side| side > 0.0) {
        return None;
    }
    let size = corners.iter().map(largest).fold(0.0, f64::max) + error;
    let slack = 8.0 * gamma(32) * size * size + 16.0 * size * error;
    let normal = |x: &Vec3, y: &Vec3, z: &Vec3| length(&(y - x).cross(&(z - x))) + 2.0 * slack;
    let normals = [normal(b, c, d), normal(a, c, d), normal(a, b, d), normal(a, b, c)];
    let distance = |k: usize| least[k] / normals[k];
    let radius = (0..4).map(distance).fold(f64::INFINITY, f64::min) * (1.0 - BOUND_SLACK);
    Some(radius)
}

/// Proves that the differences of four pairs hold the origin, as [`certainly_encloses`] does, for a
/// search that has computed them already, times `view.unit()`.
/// That product is exact but for underflow; it also makes the underflow of the differences' own
/// products that many times larger, six times `η unit` in each coordinate, where `η` is
/// `UNDERFLOW_FLOOR / 2^55`.
#[inline(always)]
pub(super) fn proves_overlap(
    view: &View<'_>,
    four: &[VertexPair; 4],
    corners: &[Vec3; 4],
) -> Option<Evidence> {
    debug_assert!(std::iter::zip(four, corners).all(|(k, corner)| view.difference(*k) == *corner));
    let size = size_of_differences(view.pair()) * view.unit();
    let underflow = UNDERFLOW_FLOOR * (1.0 + 4.0 * UNIT * view.unit());
    let error = gamma(8) * size * (1.0 + gamma(8)) + underflow;
    if PLAIN_SIZES.contains(&size) && encloses(corners, error) {
        Some(Evidence::of(view.pair(), Shown::Overlapping(*four)))
    } else {
        None
    }
}

/// Whether the witness's first four pairs, those given, still hold the origin.
pub(super) fn still_holds(pair: &Pair<'_>, four: &[VertexPair; 4]) -> Option<Evidence> {
    certainly_encloses(pair, four).then(|| Evidence::of(pair, Shown::Overlapping(*four)))
}

/// Whether four points, each coordinate known to within `error`, have the origin strictly inside
/// their hull.
///
/// With `B` a vector's largest coordinate plus the error E, a determinant of three has six
/// products, each within `B₁B₂B₃`: evaluating it costs `γ₅ 6 B₁B₂B₃` (two products, three sums),
/// its arguments' errors `6 E (B₁B₂ + B₂B₃ + B₃B₁)`. γ₁₂ and the factor 7 cover the rounding of the
/// bound.
#[inline(always)]
fn encloses(corners: &[Vec3; 4], error: f64) -> bool {
    let [a, b, c, d] = corners;
    let (ab, cd) = (a.cross(b), c.cross(d));
    // The determinants of the faces opposite a, b, c and d, each seen from outside or each from
    // inside.
    let determinants = [cd.dot(b), -cd.dot(a), ab.dot(d), -ab.dot(c)];
    let bound = bound_of_determinants(corners, error);
    // NaN is on neither side.
    determinants.iter().all(|&side| side > bound) || determinants.iter().all(|&side| -side > bound)
}

/// More than the error of each of the four determinants: sums over all the pairs and triples. When
/// a length is NaN, so is a determinant.
#[inline(always)]
fn bound_of_determinants(corners: &[Vec3; 4], error: f64) -> f64 {
    let [x, y, z, w] = corners.each_ref().map(|corner| largest(corner) + error);
    let (xy, zw) = (x * y, z * w);
    let triples = xy * (z + w) + zw * (x + y);
    let doubles = xy + zw + (x + y) * (z + w);
    6.0 * gamma(12) * triples + 7.0 * error * doubles
}

/// What the error bounds prove of a proposal.
pub(super) fn certify(
    pair: &Pair<'_>,
    proposal: &Proposal,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Option<StaticProof> {
    match proposal {
        Proposal::Separating(direction) => {
            let hint = witness.pairs.first().copied();
            let gap = certified_gap(pair, direction, hint, effort)?;
            (gap.lower > 0.0).then(|| {
                witness.direction = Some(gap.direction);
                witness.pairs.clear();
                witness.pairs.push(gap.pair);
                StaticProof::Separated { direction: Direction::Vector(gap.direction) }
            })
        }
        Proposal::Holding(pairs) => {
            let four = subsets_of_four(pairs).find(|four| certainly_encloses(pair, four))?;
            witness.pairs = four.iter().copied().collect();
            Some(StaticProof::Overlapping { pairs: four.iter().copied().collect() })
        }
        Proposal::Proven(evidence) => Some(accepted(evidence, pair)?.proof),
        Proposal::HandOver => None,
    }
}

/// Every four of at most six pairs.
fn subsets_of_four(pairs: &[VertexPair]) -> impl Iterator<Item = [VertexPair; 4]> + '_ {
    let count = pairs.len();
    (0..count).flat_map(move |a| {
        (a + 1..count).flat_map(move |b| {
            (b + 1..count).flat_map(move |c| {
                (c + 1..count).map(move |d| [pairs[a], pairs[b], pairs[c], pairs[d]])
            })
        })
    })
}

#[cfg(test)]
mod tests;
