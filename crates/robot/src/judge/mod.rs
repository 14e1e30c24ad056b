//! The judge of edges: from the numbers of the joints and the vertices, with its own kinematics and
//! its own bounds on motion. It shares no code with the search; `tests/architecture` lists what it
//! may use.

mod chain;
mod coverage;

pub use self::coverage::judge_coverage;

use self::chain::{Load, PathRates, SeenHeights, carried, place, stretch_to_world};
use super::claim::{
    EdgeCertificate, EdgeClaim, EdgeContactProof, EdgePiece, EdgeSubject, GapProof, HullAround,
    PairGap, SubjectPair, asked_margin,
};
use clearance_proof::Vec3;
use clearance_proof::claim::{
    Bodies, CurvedCore, Direction, MarginClaim, Points, Reach, RoundedSolids, Solid,
    SolidMarginClaim, SolidMarginProof, Solids, StaticProof, Verdict,
};
use clearance_proof::effort::Effort;
use clearance_proof::judge::{
    Refusal, judge_around, judge_inside, judge_margin, judge_rounded_solids, judge_solid_margin,
    judge_solids, judge_static_with,
};
use clearance_proof::number::rounding::{BOUND_SLACK, unit};
use clearance_proof::pose::Pose;

/// Why a certificate of an edge is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EdgeRefusal {
    /// What is said cannot be.
    #[error("{0}")]
    Claim(&'static str),
    /// Pieces do not lead from 0 to where the path is said to be free.
    #[error("the pieces do not join, or do not end where the path is said to be free: piece {0}")]
    PieceGap(usize),
    /// The numbers of a piece are too few, too many, or not in order.
    #[error("piece {0}: {1}")]
    Piece(usize, &'static str),
    /// A part is faster than a piece says.
    #[error("piece {0}: part {1} may be faster than is said")]
    Speed(usize, usize),
    /// Two bodies may come nearer faster than a piece says.
    #[error("piece {0}: the bodies {1:?} may close in faster than is said")]
    Closing(usize, [u32; 2]),
    /// Neither balls nor a direction show that two bodies do not meet.
    #[error("piece {0}: nothing shows that the bodies {1:?} stay apart")]
    PairOpen(usize, [u32; 2]),
    /// The gap is less than is said.
    #[error("piece {0}: the gap of the bodies {1:?}: {2}")]
    Gap(usize, [u32; 2], String),
    /// A polytope is not around a curved body.
    #[error("polytope {0}: {1}")]
    Hull(usize, String),
    /// The contact is not shown.
    #[error("the contact: {0}")]
    Contact(String),
    /// It is not about the pairs that it is said to be about.
    #[error("the pairs that are covered: {0}")]
    Coverage(String),
}

/// Checks what is said of an edge.
pub fn judge_edge(
    subject: &EdgeSubject<'_>,
    claim: &EdgeClaim<'_>,
    certificate: &EdgeCertificate,
    effort: &mut Effort<'_>,
) -> Result<(), EdgeRefusal> {
    if !(claim.margin >= 0.0 && claim.margin.is_finite()) {
        return Err(EdgeRefusal::Claim("a margin is finite and not negative"));
    }
    if !(0.0..=1.0).contains(&claim.free_until) {
        return Err(EdgeRefusal::Claim("free_until is not in [0, 1]"));
    }
    let width = subject.tree.variables.len();
    let is_read = |values: &[f64]| values.len() == width && values.iter().all(|q| q.is_finite());
    if !claim.ends.into_iter().all(is_read) {
        return Err(EdgeRefusal::Claim("an end has not as many finite values as the joints take"));
    }
    if subject.pairs.iter().any(|pair| asked_margin(claim.margin, pair.margin) < 0.0) {
        return Err(EdgeRefusal::Claim(
            "the margin of a pair is below 0: no certificate shows that",
        ));
    }
    let path = PathRates::between(subject.tree, claim.ends);
    let path =
        path.ok_or(EdgeRefusal::Claim("a quaternion changes on the way, or a value is too large"))?;
    Judge::new(subject, claim, path).judge(certificate, effort)
}

struct Judge<'a> {
    subject: &'a EdgeSubject<'a>,
    claim: &'a EdgeClaim<'a>,
    path: PathRates,
    /// Those of parts come first, then those of what stands still.
    loads: Vec<Load>,
    rounding: Vec<f64>,
    /// Pairs that need a check, in order.
    pairs: Vec<CheckedPair>,
}

/// A pair that needs a check.
struct CheckedPair {
    bodies: [u32; 2],
    /// The frame that carries both.
    common: Option<usize>,
    /// How far apart the two have to stay as seen from there without balls around their points, so
    /// that they keep the radii and the margin in the world whichever way the frame is turned: it
    /// may stretch one way more than another.
    keep: f64,
    /// The margin of the question or of the pair, metres, at least 0.
    margin: f64,
}

/// A piece that is judged, with the polytopes that its gaps name.
#[derive(Clone, Copy)]
struct JudgedPiece<'c> {
    index: usize,
    piece: &'c EdgePiece,
    hulls: &'c [HullAround],
}

/// The cell in the middle of a piece.
struct Middle {
    frames: Vec<Pose>,
    bodies: Vec<Pose>,
    centres: Vec<Vec3>,
    half: f64,
}

impl<'a> Judge<'a> {
    fn new(subject: &'a EdgeSubject<'a>, claim: &'a EdgeClaim<'a>, path: PathRates) -> Self {
        let (tree, parts) = (subject.tree, subject.parts.iter());
        let mut loads: Vec<Load> =
            parts.map(|part| Load::of(tree, part.frame, &part.pose, part.points)).collect();
        let still = subject.still.iter();
        let still = still.map(|body| &body.points);
        loads.extend(still.map(|body| Load::of(tree, None, &body.pose, body.points)));
        let rounding = loads.iter().map(|load| path.rounding(subject.tree, load)).collect();
        let frame = |body: u32| subject.parts.get(body as usize).and_then(|part| part.frame);
        let checked = |pair: &SubjectPair| {
            let SubjectPair { bodies, margin } = *pair;
            let (common, margin) =
                (common_frame(subject, bodies.map(frame)), asked_margin(claim.margin, margin));
            let apart = Reach::of_rounded(radii_of(subject, bodies), margin).upper();
            let keep = apart * (1.0 + 4.0 * (stretch_to_world(tree, common) - 1.0));
            CheckedPair { bodies, common, keep, margin }
        };
        let mut pairs: Vec<CheckedPair> = subject.pairs.iter().map(checked).collect();
        pairs.sort_unstable_by_key(|pair| pair.bodies);
        Self { subject, claim, path, loads, rounding, pairs }
    }

    fn judge(
        &self,
        certificate: &EdgeCertificate,
        effort: &mut Effort<'_>,
    ) -> Result<(), EdgeRefusal> {
        for (index, hull) in certificate.hulls.iter().enumerate() {
            let refused = |why: String| EdgeRefusal::Hull(index, why);
            let core = curved_of(self.subject, hull.body);
            let core = core.ok_or_else(|| refused("its body is not curved".to_owned()))?;
            judge_around(&core, &hull.points, &hull.triangles, effort)
                .map_err(|why| refused(why.to_string()))?;
        }
        let mut start = 0.0;
        for (index, piece) in certificate.pieces.iter().enumerate() {
            if !(piece.end > start && piece.end <= 1.0) {
                return Err(EdgeRefusal::PieceGap(index));
            }
            let piece = JudgedPiece { index, piece, hulls: &certificate.hulls };
            self.piece(piece, start, effort)?;
            start = piece.piece.end;
        }
        if start < self.claim.free_until {
            return Err(EdgeRefusal::PieceGap(certificate.pieces.len()));
        }
        self.contact(certificate, effort)
    }

    fn piece(
        &self,
        JudgedPiece { index, piece, hulls }: JudgedPiece<'_>,
        start: f64,
        effort: &mut Effort<'_>,
    ) -> Result<(), EdgeRefusal> {
        let stopped = |_| EdgeRefusal::Piece(index, "the time was over");
        effort.spend_step().map_err(stopped)?;
        let middle = start + 0.5 * (piece.end - start);
        let half = (middle - start).max(piece.end - middle);
        let middle = self.place(middle, half);
        if piece.speeds.len() != self.subject.parts.len() {
            return Err(EdgeRefusal::Piece(index, "it does not give a speed for each part"));
        }
        for (part, speed) in piece.speeds.iter().enumerate() {
            if !(speed.is_finite() && *speed >= self.speed(part, None, &middle)) {
                return Err(EdgeRefusal::Speed(index, part));
            }
        }
        let mut listed = piece.gaps.iter().peekable();
        for pair in &self.pairs {
            match listed.next_if(|gap| gap.pair == pair.bodies) {
                Some(gap) => {
                    self.closing(index, gap, pair, &middle)?;
                    let solids = self.held(index, gap, hulls, &middle)?;
                    gap_is_there(gap, solids, effort)
                        .map_err(|why| EdgeRefusal::Gap(index, gap.pair, why.to_string()))?;
                }
                None if self.balls_are_apart(pair, piece, &middle) => {}
                None => return Err(EdgeRefusal::PairOpen(index, pair.bodies)),
            }
        }
        match listed.next() {
            None => Ok(()),
            Some(_) => Err(EdgeRefusal::Piece(index, "its pairs are not in order, or need none")),
        }
    }

    /// The joint values at t, rounded, and where they put everything.
    fn place(&self, t: f64, half: f64) -> Middle {
        let [from, to] = self.claim.ends;
        let value = |(a, b): (&f64, &f64)| if t >= 1.0 { *b } else { a + t * (b - a) };
        let values: Vec<f64> = from.iter().zip(to).map(value).collect();
        let frames = place(self.subject.tree, &values);
        let of_part = self.subject.parts.iter().map(|part| match part.frame {
            Some(frame) => carried(&frames[frame], &part.pose),
            None => part.pose,
        });
        let bodies =
            of_part.chain(self.subject.still.iter().map(|body| body.points.pose)).collect();
        let centre = |load: &Load| match load.frame {
            Some(frame) => frames[frame].apply_rounded(&load.centre),
            None => load.centre,
        };
        let centres = self.loads.iter().map(centre).collect();
        Middle { frames, bodies, centres, half }
    }

    fn speed(&self, body: usize, seen_from: Option<usize>, middle: &Middle) -> f64 {
        let load = &self.loads[body];
        self.path.speed(self.subject.tree, load, seen_from, middle)
    }

    /// How far apart a pair has to be in the middle.
    fn reach(&self, pair: &CheckedPair, closing: f64, half: f64) -> f64 {
        let rounding: f64 = pair.bodies.iter().map(|body| self.rounding[*body as usize]).sum();
        (half * closing + rounding + pair.keep) * (1.0 + BOUND_SLACK)
    }

    /// The stated closing speed is at least what the two bodies can have, along the direction that
    /// shows the gap if one does, and the stated gap more than they can close in.
    fn closing(
        &self,
        index: usize,
        gap: &PairGap,
        pair: &CheckedPair,
        middle: &Middle,
    ) -> Result<(), EdgeRefusal> {
        let two = gap.pair.map(|body| body as usize);
        let along = match &gap.shown {
            GapProof::Along(direction) => unit(direction),
            GapProof::Cover(_) => None,
        };
        let seen = along.map(|along| SeenHeights { seen_from: pair.common, along });
        let speed = |body: &usize| {
            let any = self.speed(*body, pair.common, middle);
            let tree = self.subject.tree;
            let across = |seen| self.path.speed_along(tree, &self.loads[*body], seen, middle);
            seen.as_ref().map_or(any, |seen| any.min(across(seen)))
        };
        let least: f64 = two.iter().map(speed).sum();
        let is_enough = gap.closing.is_finite() && gap.closing >= least;
        if !is_enough {
            return Err(EdgeRefusal::Closing(index, gap.pair));
        }
        if gap.gap.is_nan() || gap.gap <= self.reach(pair, gap.closing, middle.half) {
            let why = "is less than the two can move".to_owned();
            return Err(EdgeRefusal::Gap(index, gap.pair, why));
        }
        Ok(())
    }

    /// Two bodies in the middle of a piece, in the polytopes that hold them.
    fn held<'s>(
        &'s self,
        index: usize,
        gap: &PairGap,
        hulls: &'s [HullAround],
        middle: &Middle,
    ) -> Result<Solids<'s>, EdgeRefusal> {
        let mut solids = self.solids(gap.pair, middle);
        for (k, solid) in [&mut solids.p, &mut solids.q].into_iter().enumerate() {
            let Some(named) = gap.hulls[k] else { continue };
            let held = hulls.get(named as usize).filter(|hull| hull.body == gap.pair[k]);
            let why = || "names a polytope that is around another body, or none".to_owned();
            let held = held.ok_or_else(|| EdgeRefusal::Gap(index, gap.pair, why()))?;
            solid.points.points = &held.points;
        }
        Ok(solids)
    }

    /// Two bodies in the middle of a piece.
    fn solids(&self, pair: [u32; 2], middle: &Middle) -> Solids<'_> {
        let [p, q] = pair.map(|body| {
            let body = body as usize;
            let pose = middle.bodies[body];
            match self.subject.parts.get(body) {
                Some(part) => {
                    let points = Points { points: part.points, pose };
                    Solid { points, kind: part.kind }
                }
                None => self.subject.still[body - self.subject.parts.len()],
            }
        });
        Solids { p, q }
    }

    fn balls_are_apart(&self, pair: &CheckedPair, piece: &EdgePiece, middle: &Middle) -> bool {
        let [a, b] = pair.bodies.map(|body| body as usize);
        let is_still = b >= self.subject.parts.len();
        let closing = if is_still {
            piece.speeds[a]
        } else {
            self.speed(a, pair.common, middle) + self.speed(b, pair.common, middle)
        };
        let [p, q] = [a, b].map(|body| middle.centres[body]);
        let [r, s] = [a, b].map(|body| self.loads[body].radius * self.loads[body].stretch);
        let apart = length_at_most(&(p - q)) - r - s;
        let slack = (p.abs().sum() + q.abs().sum()) * BOUND_SLACK;
        apart - slack > self.reach(pair, closing, middle.half)
    }

    fn contact(
        &self,
        certificate: &EdgeCertificate,
        effort: &mut Effort<'_>,
    ) -> Result<(), EdgeRefusal> {
        let has_inside = certificate.inside.iter().any(|points| !points.is_empty());
        let (at, pair, proof) = match (self.claim.contact, &certificate.contact) {
            (None, None) if has_inside => {
                return Err(EdgeRefusal::Claim("points in bodies of no contact"));
            }
            (None, None) => return Ok(()),
            (Some((at, pair)), Some(proof)) => (at, pair, proof),
            (None, Some(_)) => return Err(EdgeRefusal::Claim("a proof of what is not said")),
            (Some(_), None) => return Err(EdgeRefusal::Contact("there is no proof".to_owned())),
        };
        if !(self.claim.free_until <= at && at <= 1.0) {
            return Err(EdgeRefusal::Claim("contact_at is not in [free_until, 1]"));
        }
        let Ok(known) = self.pairs.binary_search_by_key(&pair, |known| known.bodies) else {
            return Err(EdgeRefusal::Contact("this pair needs no check".to_owned()));
        };
        let margin = self.pairs[known].margin;
        let middle = self.place(at, 0.0);
        let mut solids = self.solids(pair, &middle);
        for (k, solid) in [&mut solids.p, &mut solids.q].into_iter().enumerate() {
            let refused = |why: String| EdgeRefusal::Contact(why);
            let inside = &certificate.inside[k];
            let Some(core) = curved_of(self.subject, pair[k]) else {
                if inside.is_empty() {
                    continue;
                }
                return Err(refused("points in a body that is not curved".to_owned()));
            };
            if inside.is_empty() {
                return Err(refused("nothing in a curved body is in contact".to_owned()));
            }
            judge_inside(&core, inside, effort).map_err(|why| refused(why.to_string()))?;
            solid.points.points = inside;
        }
        let bodies = RoundedSolids { cores: solids, radii: radii_of(self.subject, pair) };
        in_contact(bodies, proof, margin, effort)
            .map_err(|why| EdgeRefusal::Contact(why.to_string()))
    }
}

/// The hulls of two bodies: what is free of them is free of the bodies.
fn hulls<'a>(solids: &Solids<'a>) -> Bodies<'a> {
    Bodies { p: solids.p.points, q: solids.q.points }
}

/// The radii of the balls around all points of two bodies, metres.
fn radii_of(subject: &EdgeSubject<'_>, bodies: [u32; 2]) -> [f64; 2] {
    bodies.map(|body| {
        let body = body as usize;
        let still = || subject.still_radii.get(body - subject.parts.len());
        subject.parts.get(body).map_or_else(|| still().copied().unwrap_or(0.0), |part| part.radius)
    })
}

/// What a body is without its radius, if it is curved.
fn curved_of(subject: &EdgeSubject<'_>, body: u32) -> Option<CurvedCore> {
    let body = body as usize;
    let still = || subject.still_curved.get(body - subject.parts.len());
    subject.parts.get(body).map_or_else(|| still().copied().flatten(), |part| part.curved)
}

/// Two bodies are farther apart than a gap says.
fn gap_is_there(
    PairGap { shown, gap, .. }: &PairGap,
    solids: Solids<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    match shown {
        GapProof::Along(direction) => {
            let claim = MarginClaim { margin: *gap, is_within: false, pairs: &[], depth: None };
            judge_margin(hulls(&solids), &Direction::Vector(*direction), &claim, effort)
        }
        GapProof::Cover(cover) => {
            let shown = SolidMarginProof::Beyond(cover);
            margin_of(solids, [0.0; 2], SolidMarginClaim { margin: *gap, shown }, effort)
        }
    }
}

/// At most the length of a vector, but for rounding: where its square is infinite, or too small to
/// be rounded well, its largest coordinate.
fn length_at_most(v: &Vec3) -> f64 {
    let squared = v.norm_squared();
    let is_known = (f64::MIN_POSITIVE..f64::INFINITY).contains(&squared);
    if is_known { squared.sqrt() } else { v.amax() }
}

/// How two bodies with these radii compare with a margin.
fn margin_of(
    cores: Solids<'_>,
    radii: [f64; 2],
    claim: SolidMarginClaim<'_>,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    judge_solid_margin(&RoundedSolids { cores, radii }, &claim, effort)
}

/// Two bodies are in contact, or within the margin.
fn in_contact(
    RoundedSolids { cores: solids, radii }: RoundedSolids<'_>,
    proof: &EdgeContactProof,
    margin: f64,
    effort: &mut Effort<'_>,
) -> Result<(), Refusal> {
    match proof {
        EdgeContactProof::Polytopes { verdict, margin_pairs } => {
            if [solids.p, solids.q].iter().any(|solid| solid.triangles().is_some()) {
                return Err(Refusal::BoundFails("contact of a hull is none of a mesh"));
            }
            let bodies = hulls(&solids);
            judge_static_with(bodies, verdict, effort)?;
            let StaticProof::Separated { direction } = verdict else { return Ok(()) };
            let (pairs, depth) = (&margin_pairs[..], None);
            let claim = MarginClaim { margin, is_within: true, pairs, depth };
            judge_margin(bodies, direction, &claim, effort)
        }
        EdgeContactProof::Solids(proof) => {
            if proof.verdict() == Verdict::Separated {
                return Err(Refusal::BoundFails("what is separated is not in contact"));
            }
            judge_solids(&solids, proof, effort)
        }
        EdgeContactProof::Near(pairs) => {
            let shown = SolidMarginProof::Within(pairs);
            margin_of(solids, radii, SolidMarginClaim { margin, shown }, effort)
        }
        EdgeContactProof::Rounded(proof) => {
            if proof.verdict() != Verdict::Overlapping {
                return Err(Refusal::BoundFails("what is rounded is shown to overlap"));
            }
            judge_rounded_solids(&RoundedSolids { cores: solids, radii }, proof, effort)
        }
    }
}

/// The frame nearest to both that carries both, or is both.
fn common_frame(subject: &EdgeSubject<'_>, [a, b]: [Option<usize>; 2]) -> Option<usize> {
    let above: Vec<usize> = subject.tree.chain(a).collect();
    subject.tree.chain(b).find(|frame| above.contains(frame))
}
