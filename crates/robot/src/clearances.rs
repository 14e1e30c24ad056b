//! The signed clearance of one pair in a configuration: its distance, or minus its depth.

use super::cell::BodyPair;
use super::cloud_curved::NearestOfCurved;
use super::curved::{CurvedPair, HowFar};
use super::gradient::ContactGeometry;
use super::stand::{Deep, Stand};
use clearance_geometry::claim::Verdict;
use clearance_geometry::cloud::{BallClearance, NearestBall};
use clearance_geometry::distance::{self, Distance, Stops};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::penetration::BoxDepth;
use clearance_geometry::rounded::{self, RoundedDistance};
use clearance_geometry::witness::Witness;

/// The signed clearance of a pair: its distance, or minus its depth.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedClearance {
    /// The pair that it is of.
    pub pair: BodyPair,
    /// How they stand; none: a curved body is nearer to contact than the finest polytopes in and
    /// around it tell, or so may another pair be. The bracket holds 0 then.
    pub verdict: Option<Verdict>,
    /// At most the exact one, metres; of a pair that overlaps, of which one is a polyhedron, minus
    /// the depth of their hulls.
    pub lower: f64,
    /// At least the exact one, metres; of such a pair 0.
    pub upper: f64,
    /// Of a cloud: the number of the point whose ball is the nearest or the deepest.
    pub point: Option<u32>,
    /// Where they are nearest, on request.
    pub geometry: Option<Box<ContactGeometry>>,
}

/// The signed clearance of a part and a cloud, unless it is more than what is known.
pub(super) fn clearance_of_cloud(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    known: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<SignedClearance>, Stopped> {
    let Some(beside) = stand.cloud(pair) else { return Ok(None) };
    if let Some(curved) = beside.curved() {
        return Ok(curved.nearest(known, effort)?.map(|nearest| {
            let NearestOfCurved { point, verdict, lower, upper } = nearest;
            let (point, geometry) = (Some(point), None);
            SignedClearance { pair, verdict, lower, upper, point, geometry }
        }));
    }
    Ok(beside.nearest(known, effort)?.map(|NearestBall { point, clearance }| {
        let BallClearance { verdict, lower, upper, .. } = clearance;
        let (verdict, point) = (Some(verdict), Some(point));
        SignedClearance { pair, verdict, lower, upper, point, geometry: None }
    }))
}

/// The signed clearance of a pair with a polyhedron; none: both are polytopes. How deep that is in
/// another body is known within the depth of the hulls: what draws these apart draws the bodies
/// apart.
fn clearance_of_solids(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    above: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<Measured>, Stopped> {
    let Some(solids) = stand.solids(pair) else { return Ok(None) };
    if let Some(curved) = solids.curved() {
        return clearance_of_curved(curved, pair, above, effort).map(Some);
    }
    let known = |verdict, lower, upper| {
        Measured::Known(SignedClearance {
            pair,
            verdict: Some(verdict),
            lower,
            upper,
            point: None,
            geometry: None,
        })
    };
    let mut deepest = |effort: &mut Effort<'_>| -> Result<f64, Stopped> {
        Ok(0.0 - stand.hull_depth(pair, effort)?.map_or(0.0, |deep| deep.upper))
    };
    if above <= 0.0 {
        // Of interest only if it is deeper than what is known.
        let lower = deepest(effort)?;
        let is_deep = lower < above && solids.verdict(effort)? == Verdict::Overlapping;
        let deeper = || known(Verdict::Overlapping, lower, 0.0);
        return Ok(Some(if is_deep { deeper() } else { Measured::Farther }));
    }
    let stops = Stops { above: above.is_finite().then_some(above), below: None };
    Ok(Some(match solids.distance(stops, effort)? {
        HowFar::Beyond => Measured::Farther,
        HowFar::Apart(found) => known(Verdict::Separated, found.lower, found.upper),
        HowFar::Contact(Verdict::Overlapping) => known(Verdict::Overlapping, deepest(effort)?, 0.0),
        HowFar::Contact(verdict) => known(verdict, 0.0, 0.0),
        HowFar::Unresolved(_) => return Err(Stopped::Unresolved),
    }))
}

/// The same of a pair of which one is curved. How deep that is in a body that is not convex is
/// known between the depth of the deepest pieces and that of the hulls.
fn clearance_of_curved(
    curved: &CurvedPair<'_>,
    pair: BodyPair,
    above: f64,
    effort: &mut Effort<'_>,
) -> Result<Measured, Stopped> {
    let known = |verdict, lower, upper| {
        let (point, geometry) = (None, None);
        Measured::Known(SignedClearance { pair, verdict, lower, upper, point, geometry })
    };
    let reach = if above > 0.0 { above } else { 0.0 };
    let stops = Stops { above: reach.is_finite().then_some(reach), below: None };
    let (is_open, farthest) = match curved.distance(stops, effort)? {
        HowFar::Beyond => return Ok(Measured::Farther),
        HowFar::Apart(_) if above <= 0.0 => return Ok(Measured::Farther),
        HowFar::Apart(found) => {
            return Ok(known(Some(Verdict::Separated), found.lower, found.upper));
        }
        HowFar::Contact(Verdict::Touching | Verdict::Separated) => {
            return Ok(known(Some(Verdict::Touching), 0.0, 0.0));
        }
        HowFar::Contact(Verdict::Overlapping) => (false, 0.0),
        HowFar::Unresolved([_, upper]) => (true, upper),
    };
    let verdict = (!is_open).then_some(Verdict::Overlapping);
    let deep = curved.depth(effort)?;
    let [lower, upper] = deep.bounds;
    Ok(match (verdict, deep.verdict) {
        // The depth may tell what the distance left open.
        (Some(_), _) | (None, Some(Verdict::Overlapping)) => {
            known(Some(Verdict::Overlapping), 0.0 - upper, 0.0 - lower)
        }
        (None, _) => known(None, 0.0 - upper, farthest),
    })
}

/// The one with the lower upper end; of two whose brackets meet, the exact least is known to be
/// above the lower of the lower ends only.
pub(super) fn nearer(known: Option<SignedClearance>, other: SignedClearance) -> SignedClearance {
    let Some(known) = known else { return other };
    let lower = known.lower.min(other.lower);
    // How deep a polyhedron is has 0 as its upper end: it is deeper than what touches.
    let rank =
        |one: &SignedClearance| (one.upper, one.verdict != Some(Verdict::Overlapping), one.pair);
    let is_nearer = rank(&other) < rank(&known);
    let is_open = known.verdict.is_none() || other.verdict.is_none();
    let nearest = if is_nearer { other } else { known };
    // Of what overlaps is known that it does, whatever is open beside it.
    let verdict = nearest.verdict.filter(|verdict| !is_open || *verdict == Verdict::Overlapping);
    SignedClearance { lower, verdict, ..nearest }
}

/// What is known of the signed clearance of a pair.
pub(super) enum Measured {
    /// It is more than is of interest.
    Farther,
    /// All of it.
    Known(SignedClearance),
    /// It is at most zero; how deep takes longer to say.
    Contact,
}

/// The clearance of a pair in contact; it touches if there is no depth.
pub(super) fn contact_clearance(pair: BodyPair, depth: Option<Deep>) -> SignedClearance {
    let (verdict, lower, upper) = match depth {
        Some(deep) => (Verdict::Overlapping, 0.0 - deep.upper, 0.0 - deep.lower),
        None => (Verdict::Touching, 0.0, 0.0),
    };
    let verdict = Some(verdict);
    SignedClearance { pair, verdict, lower, upper, point: None, geometry: None }
}

/// The same of a pair of which one has balls around all its points; none: neither has.
fn clearance_of_rounded(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    above: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<Measured>, Stopped> {
    let Some(rounded) = stand.rounded_hulls(pair) else { return Ok(None) };
    if above > 0.0 {
        let stops = Stops { above: above.is_finite().then_some(above), below: None };
        let (method, witness) = (&distance::METHODS[0], &mut Witness::default());
        let apart = rounded::measure(&rounded, method, stops, witness, effort)?;
        let RoundedDistance { proof, lower, upper, stopped, .. } = apart;
        if proof.verdict == Verdict::Separated {
            if let Some(why) = stopped {
                return Err(why);
            }
            let verdict = Some(Verdict::Separated);
            let apart =
                SignedClearance { pair, verdict, lower, upper, point: None, geometry: None };
            let is_nearer = lower <= above;
            return Ok(Some(if is_nearer { Measured::Known(apart) } else { Measured::Farther }));
        }
    } else if rounded::verdict(&rounded, &mut Witness::default(), effort)?.verdict
        == Verdict::Separated
    {
        return Ok(Some(Measured::Farther));
    }
    let depth = stand.hull_depth(pair, effort)?;
    Ok(Some(Measured::Known(contact_clearance(pair, depth))))
}

/// The signed clearance of a pair, unless it is more than `above`.
pub(super) fn signed_clearance(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    above: f64,
    effort: &mut Effort<'_>,
) -> Result<Measured, Stopped> {
    if let Some(of_solids) = clearance_of_solids(stand, pair, above, effort)? {
        return Ok(of_solids);
    }
    if let Some(of_rounded) = clearance_of_rounded(stand, pair, above, effort)? {
        return Ok(of_rounded);
    }
    if above > 0.0 {
        let stops = Stops { above: above.is_finite().then_some(above), below: None };
        let distance = stand.hull_distance(pair, stops, effort)?;
        if distance.decision.verdict() == Verdict::Separated {
            if let Some(why) = distance.stopped {
                return Err(why);
            }
            let Distance { lower, upper, .. } = distance;
            let verdict = Some(Verdict::Separated);
            let separated =
                SignedClearance { pair, verdict, lower, upper, point: None, geometry: None };
            let is_nearer = lower <= above;
            return Ok(if is_nearer { Measured::Known(separated) } else { Measured::Farther });
        }
    }
    // In contact, or of interest only if it is deeper than what is known.
    let is_contact = above > 0.0;
    Ok(match stand.box_depth(pair, (-above).max(0.0)) {
        BoxDepth::Deep { lower, upper, direction } => {
            let deep = Deep { lower, upper, direction };
            Measured::Known(contact_clearance(pair, Some(deep)))
        }
        BoxDepth::Shallow if !is_contact => Measured::Farther,
        BoxDepth::Shallow | BoxDepth::Unknown if is_contact => Measured::Contact,
        BoxDepth::Shallow | BoxDepth::Unknown => match stand.verdict(pair, effort)? {
            Verdict::Separated => Measured::Farther,
            Verdict::Touching | Verdict::Overlapping => Measured::Contact,
        },
    })
}
