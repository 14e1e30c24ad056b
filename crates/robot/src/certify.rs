//! Certificates of edges: the pieces of a path that was found free, each with what shows it.
//!
//! The search drops a pair for both halves of an interval once it is free on the whole; here every
//! piece stands alone, so that whoever reads it need not follow a search. The bounds on motion are
//! those of the search ([`super::speed`]) on the vertices of each part instead of its link's ball.

use super::apart::{gap_along, nearest_direction, widest};
use super::ball::length_at_most;
use super::cell::{BodyPair, Cell, CellPart};
use super::claim::{
    EdgeCertificate, EdgeContactProof, EdgePiece, GapProof, HullAround, PairGap, SubjectPair,
    asked_margin,
};
use super::curved::{InTheirPlaces, OfCurved};
use super::edge::{EdgeAnswer, EdgeQuestion, pieces_of, value_at};
use super::solids::SolidPair;
use super::speed::{
    Carried, Heights, MotionBound, PathSpeeds, SeenMotion, WorldBall, common_frame, kept_apart,
};
use super::stand::{Block, LANES, Poses, Stand};
use clearance_bodies::{Body, Unproven};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Cover, Reach, RoundedSolidProof, Verdict};
use clearance_geometry::distance::{Stops, compare, measure};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::number::rounding::BOUND_SLACK;
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::witness::Witness;
use std::collections::BTreeMap;
use std::sync::Arc;

/// By how much more than they have to the bounds of a certificate say: a thousand times what two
/// readers of it may round differently.
const STATED_SLACK: f64 = 1000.0 * BOUND_SLACK;
/// The part of the tolerance down to which pieces are halved.
const FINEST: f64 = 1.0 / 4096.0;
/// A certificate lists so many polytopes around curved bodies at most.
const HULLS_MAX: usize = 1 << 10;
/// So many of the last polytopes around a pair are tried before others are made.
const HULLS_TRIED: usize = 6;

/// The vertices of a body, as far as their motion is concerned.
#[derive(Clone, Copy, Debug)]
struct Load {
    frame: Option<usize>,
    lever: f64,
    centre: Vec3,
    /// In the world.
    radius: f64,
    bound: MotionBound,
}

/// A pair that needs a check.
#[derive(Clone, Copy, Debug)]
struct CheckedPair {
    bodies: [u32; 2],
    common: Option<usize>,
    /// Seen from that frame; of what stands still all zero.
    bounds: [MotionBound; 2],
    /// The distance that the two have to keep without balls around their points, as seen from
    /// there.
    keep: f64,
}

/// The memory of a cell that is placed at one time after another.
#[derive(Default)]
struct StandMemory {
    block: Block,
    poses: Poses,
}

/// Polytopes around curved bodies that were made for the gaps of an edge.
#[derive(Default)]
struct KnownHulls {
    /// By pair: the coarse ones first, then those that were made for it.
    of_pairs: BTreeMap<BodyPair, Vec<InTheirPlaces>>,
    /// Those that gaps name, with the number of the body.
    listed: Vec<(u32, Arc<Polytope>)>,
}

impl KnownHulls {
    /// The polytopes around a pair that may tell: the coarse ones, and then the last ones.
    fn of_pair(&mut self, cell: &Cell, pair: BodyPair) -> Vec<InTheirPlaces> {
        let coarse = || vec![pair.map(|body| cell.body(body).hull().clone())];
        let known = self.of_pairs.entry(pair).or_insert_with(coarse);
        let (coarse, made) = known.split_at(1);
        coarse.iter().chain(made.iter().rev().take(HULLS_TRIED)).cloned().collect()
    }

    /// By which numbers a gap names them: those around curved bodies. None: there are too many.
    fn name(
        &mut self,
        cell: &Cell,
        pair: BodyPair,
        hulls: &InTheirPlaces,
    ) -> Option<[Option<u32>; 2]> {
        let mut named = [None; 2];
        for (k, body) in pair.into_iter().enumerate() {
            if cell.body(body).curved().is_none() {
                continue;
            }
            let is_it =
                |(of, hull): &(u32, Arc<Polytope>)| *of == body && Arc::ptr_eq(hull, &hulls[k]);
            let at = self.listed.iter().position(is_it).unwrap_or_else(|| {
                self.listed.push((body, hulls[k].clone()));
                self.listed.len() - 1
            });
            named[k] = Some(number(at));
        }
        (self.listed.len() <= HULLS_MAX).then_some(named)
    }

    /// A gap of the coarse polytopes, which it is to name.
    fn coarse(&mut self, cell: &Cell, gap: PairGap) -> Option<PairGap> {
        let coarse = gap.pair.map(|body| cell.body(body).hull().clone());
        self.name(cell, gap.pair, &coarse).map(|hulls| PairGap { hulls, ..gap })
    }

    /// Those that gaps of these pieces name, as a certificate lists them; the gaps name them so.
    fn listed_for(self, pieces: &mut [EdgePiece]) -> Vec<HullAround> {
        let around = |(body, polytope): &(u32, Arc<Polytope>)| {
            let points = polytope.vertices().to_vec();
            let triangles = Body::from(polytope.clone()).boundary();
            HullAround { body: *body, points, triangles }
        };
        let (mut all, mut places) = (Vec::new(), vec![None; self.listed.len()]);
        let gaps = pieces.iter_mut().flat_map(|piece| &mut piece.gaps);
        for named in gaps.flat_map(|gap| &mut gap.hulls).flatten() {
            let at = *named as usize;
            *named = *places[at].get_or_insert_with(|| {
                all.push(around(&self.listed[at]));
                number(all.len() - 1)
            });
        }
        all
    }
}

/// An edge whose certificate is made.
struct Certifier<'a> {
    cell: &'a Cell,
    ends: [&'a [f64]; 2],
    question: EdgeQuestion,
    speeds: PathSpeeds,
    loads: Vec<Load>,
    pairs: Vec<CheckedPair>,
}

impl Cell {
    /// The certificate of an answer about an edge; none: there is nothing to show, or what was
    /// found free is so within so little that these bounds do not show it. Of polyhedra there is
    /// none, either, where it would be too long, or their contact was not proven. Nor is there one
    /// of the scene of a session: whoever checks it would not know its bodies.
    pub fn certify_edge(
        &self,
        question: EdgeQuestion,
        ends: [&[f64]; 2],
        answer: &EdgeAnswer,
        effort: &mut Effort<'_>,
    ) -> Result<Option<EdgeCertificate>, Stopped> {
        if self.names_bodies() || self.parts.iter().any(CellPart::is_in_a_body) {
            return Ok(None);
        }
        let (free_until, contact) = match answer {
            EdgeAnswer::Free => (1.0, None),
            EdgeAnswer::Contact { free_until, contact_at, pair } => {
                (*free_until, Some((*contact_at, *pair)))
            }
            EdgeAnswer::Undecided { free_until, .. } | EdgeAnswer::Stopped { free_until, .. } => {
                (*free_until, None)
            }
            EdgeAnswer::Bad(_) | EdgeAnswer::Turns => return Ok(None),
        };
        let Some(speeds) = PathSpeeds::new(self, ends) else { return Ok(None) };
        let certifier = Certifier::new(self, ends, question, speeds);
        let (mut memory, mut known) = (StandMemory::default(), KnownHulls::default());
        let pieces = certifier.pieces(free_until, &mut memory, &mut known, effort)?;
        let Some(pieces) = pieces else { return Ok(None) };
        let mut certificate = EdgeCertificate { pieces, ..EdgeCertificate::default() };
        if let Some((at, pair)) = contact {
            let mut stand = certifier.stand(at, &mut memory);
            let margin = asked_margin(question.margin, self.margin_of(pair));
            let proof = contact_proof(&mut stand, pair, margin, effort)?;
            let Some((proof, inside)) = proof else { return Ok(None) };
            let points = |hull: Option<Arc<Polytope>>| {
                hull.map_or_else(Vec::new, |hull| hull.vertices().to_vec())
            };
            (certificate.contact, certificate.inside) = (Some(proof), inside.map(points));
        }
        certificate.hulls = known.listed_for(&mut certificate.pieces);
        Ok(Some(certificate))
    }
}

impl<'a> Certifier<'a> {
    fn new(
        cell: &'a Cell,
        ends: [&'a [f64]; 2],
        question: EdgeQuestion,
        speeds: PathSpeeds,
    ) -> Self {
        let subject = cell.subject_to_certify(question.scope);
        let parts = subject.parts.iter().map(|part| (part.frame, part.pose, part.points));
        let still = subject.still.iter().map(|body| body.points);
        let all = parts.chain(still.map(|body| (None, body.pose, body.points)));
        let load = |(frame, pose, points): (Option<usize>, Pose, &[Vec3])| {
            let placed: Vec<Vec3> = points.iter().map(|v| pose.apply_rounded(v)).collect();
            let first = placed.first().copied().unwrap_or_default();
            let (low, high) =
                placed.iter().fold((first, first), |(low, high), v| (low.inf(v), high.sup(v)));
            let centre = low + (high - low) * 0.5;
            let farthest =
                |from: Vec3| placed.iter().map(|v| (v - from).norm()).fold(0.0, f64::max);
            let lever = farthest(Vec3::zeros()) * (1.0 + STATED_SLACK);
            let stretch = cell.kinematics.stretch_to_world(frame);
            let radius = (farthest(centre) + lever * STATED_SLACK) * stretch;
            let bound = speeds.bound_of(cell, frame, lever, None);
            Load { frame, lever, centre, radius, bound }
        };
        let loads: Vec<Load> = all.map(load).collect();
        let seen = |body: usize, common| {
            speeds.bound_of(cell, loads[body].frame, loads[body].lever, common)
        };
        let checked = |pair: &SubjectPair| {
            let (bodies, margin) = (pair.bodies, asked_margin(question.margin, pair.margin));
            let common = match bodies.map(|body| cell.link_of(body)) {
                [Some(a), Some(b)] => common_frame(cell, [a, b]),
                _ => None,
            };
            // That of the hulls, without the balls around their points.
            let radii = bodies.map(|body| cell.body(body).radius());
            let keep = kept_apart(cell, common, Reach::of_rounded(radii, margin).upper());
            let bounds = bodies.map(|body| seen(body as usize, common));
            CheckedPair { bodies, common, bounds, keep }
        };
        let pairs = subject.pairs.iter().map(checked).collect();
        Self { cell, ends, question, speeds, loads, pairs }
    }

    /// The cell at t.
    fn stand<'m>(&'m self, t: f64, memory: &'m mut StandMemory) -> Stand<'m> {
        let [from, to] = self.ends;
        let values: Vec<f64> = from.iter().zip(to).map(|(a, b)| value_at(*a, *b, t)).collect();
        memory.block.place(self.cell, &[&values[..]; LANES]);
        memory.block.stand(self.cell, 0, &mut memory.poses)
    }

    /// Pieces up to `until`; none: one of them would be too short.
    fn pieces(
        &self,
        until: f64,
        memory: &mut StandMemory,
        known: &mut KnownHulls,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<EdgePiece>>, Stopped> {
        let count = pieces_of(&self.speeds);
        let mut open: Vec<[f64; 2]> = Vec::new();
        let mut piece = count;
        while piece >= 1.0 {
            let [start, end] = [(piece - 1.0) / count, (piece / count).min(until)];
            if start < end {
                open.push([start, end]);
            }
            piece -= 1.0;
        }
        let mut pieces = Vec::new();
        while let Some([start, end]) = open.pop() {
            effort.spend_step()?;
            let middle = start + 0.5 * (end - start);
            let half = (middle - start).max(end - middle);
            let mut stand = self.stand(middle, memory);
            match self.piece(&mut stand, (end, half), known, effort)? {
                Apart::Shown(piece) => pieces.push(piece),
                Apart::Unproven => return Ok(None),
                Apart::TooNear if end - start <= self.question.tolerance * FINEST => {
                    return Ok(None);
                }
                Apart::TooNear => open.extend([[middle, end], [start, middle]]),
            }
        }
        Ok(Some(pieces))
    }

    /// The middles of the balls around all bodies, in the world.
    fn centres(&self, stand: &Stand<'_>) -> Vec<Vec3> {
        let of = |load: &Load| match load.frame {
            Some(frame) => stand.frame(frame).apply_rounded(&load.centre),
            None => load.centre,
        };
        self.loads.iter().map(of).collect()
    }

    /// What shows the piece up to `end` free.
    fn piece(
        &self,
        stand: &mut Stand<'_>,
        (end, half): (f64, f64),
        known: &mut KnownHulls,
        effort: &mut Effort<'_>,
    ) -> Result<Apart<EdgePiece>, Stopped> {
        let centres = self.centres(stand);
        let at = PieceMiddle { centres: &centres, half };
        let speed = |stand: &Stand<'_>, body: usize, common, bound: &MotionBound| {
            let load = &self.loads[body];
            let ball = WorldBall { centre: centres[body], radius: load.radius };
            let seen = SeenMotion { seen_from: common, bound };
            let now = self.speeds.speed_of(stand, load.frame, ball, seen);
            bound.speed.min(now + 0.5 * half * bound.acceleration) * (1.0 + STATED_SLACK)
                + bound.speed * STATED_SLACK
        };
        let parts = 0..self.cell.parts.len();
        let speeds: Vec<f64> =
            parts.map(|part| speed(stand, part, None, &self.loads[part].bound)).collect();
        let mut gaps = Vec::new();
        for pair in &self.pairs {
            let [a, b] = pair.bodies.map(|body| body as usize);
            let closing = match speeds.get(b) {
                None => speeds[a],
                Some(_) => [(a, 0), (b, 1)]
                    .map(|(body, k): (usize, usize)| {
                        speed(stand, body, pair.common, &pair.bounds[k])
                    })
                    .iter()
                    .sum(),
            };
            let rounding = pair.bounds[0].rounding + pair.bounds[1].rounding;
            let within = (half * closing + rounding + pair.keep) * (1.0 + STATED_SLACK);
            let apart = length_at_most(&(centres[a] - centres[b]))
                - self.loads[a].radius
                - self.loads[b].radius;
            let size = centres[a].abs().sum() + centres[b].abs().sum();
            if apart - size * STATED_SLACK > within {
                continue;
            }
            match apart_by(stand, pair.bodies, within, known, effort)? {
                Apart::Shown(ShownGap { shown, gap, hulls }) => {
                    let gap = PairGap { pair: pair.bodies, hulls, shown, gap, closing };
                    gaps.push(self.tightened(stand, pair, &at, gap));
                }
                Apart::TooNear => {
                    let found = self.apart_along_a_face(stand, pair, &at, effort)?;
                    match found.and_then(|gap| known.coarse(self.cell, gap)) {
                        Some(gap) => gaps.push(gap),
                        None => return Ok(Apart::TooNear),
                    }
                }
                Apart::Unproven => return Ok(Apart::Unproven),
            }
        }
        Ok(Apart::Shown(EdgePiece { end, speeds, gaps }))
    }

    /// A gap with the closing that its direction has, if a direction shows it.
    fn tightened(
        &self,
        stand: &Stand<'_>,
        pair: &CheckedPair,
        at: &PieceMiddle<'_>,
        gap: PairGap,
    ) -> PairGap {
        let closing = match &gap.shown {
            GapProof::Along(along) => self.closing_along(stand, pair, at, *along),
            GapProof::Cover(_) => gap.closing,
        };
        PairGap { closing: closing.min(gap.closing), ..gap }
    }

    /// How fast the two close in along a unit vector, with some slack.
    fn closing_along(
        &self,
        stand: &Stand<'_>,
        pair: &CheckedPair,
        at: &PieceMiddle<'_>,
        along: Vec3,
    ) -> f64 {
        let heights = Heights { seen_from: pair.common, along, half: at.half };
        let (mut closing, mut tilts) = (0.0, Vec::new());
        for (body, bound) in pair.bodies.iter().zip(&pair.bounds) {
            let Load { frame, lever, radius, .. } = self.loads[*body as usize];
            let ball = WorldBall { centre: at.centres[*body as usize], radius };
            let points = Carried { frame, lever, ball };
            let speed = self.speeds.speed_along(stand, &points, &heights, &mut tilts);
            closing += speed * (1.0 + STATED_SLACK) + bound.speed * BOUND_SLACK;
        }
        closing
    }

    /// The gap of a pair along the direction in which it is farthest apart, if that is more than
    /// the two can close in along this direction.
    fn apart_along_a_face(
        &self,
        stand: &mut Stand<'_>,
        pair: &CheckedPair,
        at: &PieceMiddle<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<PairGap>, Stopped> {
        if stand.cloud(pair.bodies).is_some() {
            return Ok(None);
        }
        let hulls = stand.hulls(pair.bodies);
        let found = nearest_direction(&hulls, &mut Witness::default(), effort)?;
        let Some(along) = found else { return Ok(None) };
        let closing = self.closing_along(stand, pair, at, along);
        let rounding = pair.bounds[0].rounding + pair.bounds[1].rounding;
        let within = (at.half * closing + rounding + pair.keep) * (1.0 + STATED_SLACK);
        let gap = gap_along(&hulls, &along);
        if gap.is_nan() || gap <= within {
            return Ok(None);
        }
        let (pair, shown) = (pair.bodies, GapProof::Along(along));
        Ok(Some(PairGap { pair, hulls: [None; 2], shown, gap, closing }))
    }
}

/// Where the middle of a piece finds the bodies.
struct PieceMiddle<'a> {
    /// The middles of their balls, in the world.
    centres: &'a [Vec3],
    half: f64,
}

/// What shows that bodies are farther apart than they can get.
enum Apart<T> {
    /// This shows it.
    Shown(T),
    /// They are not, or not by enough to show it.
    TooNear,
    /// They are, and there is no proof that is short enough.
    Unproven,
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A gap and what shows it.
struct ShownGap {
    shown: GapProof,
    gap: f64,
    hulls: [Option<u32>; 2],
}

impl ShownGap {
    /// Of the bodies by their own points.
    fn of_bodies(shown: GapProof, gap: f64) -> Self {
        Self { shown, gap, hulls: [None; 2] }
    }
}

/// What shows that a pair is farther apart than `within` without balls around its points, and at
/// most how far: a direction, if one does.
fn apart_by(
    stand: &mut Stand<'_>,
    bodies: BodyPair,
    within: f64,
    known: &mut KnownHulls,
    effort: &mut Effort<'_>,
) -> Result<Apart<ShownGap>, Stopped> {
    if stand.is_curved(bodies) {
        return curved_apart_by(stand, bodies, within, known, effort);
    }
    if let Some((direction, gap)) = widest(&stand.hulls(bodies), within, effort)? {
        return Ok(Apart::Shown(ShownGap::of_bodies(GapProof::Along(direction), gap)));
    }
    let Some(solids) = stand.solids(bodies) else { return Ok(Apart::TooNear) };
    Ok(match covered(&solids, within, effort)? {
        Apart::Shown((cover, gap)) => {
            Apart::Shown(ShownGap::of_bodies(GapProof::Cover(cover), gap))
        }
        Apart::TooNear => Apart::TooNear,
        Apart::Unproven => Apart::Unproven,
    })
}

/// A cover that shows that a pair one of which is a mesh is farther apart than `within`.
fn covered(
    solids: &SolidPair<'_>,
    within: f64,
    effort: &mut Effort<'_>,
) -> Result<Apart<(Cover, f64)>, Stopped> {
    // What is stated is more than what two can move, however little that is.
    let gap = within.max(f64::MIN_POSITIVE);
    match solids.cover_beyond(gap, effort) {
        Ok(Some(cover)) => Ok(Apart::Shown((cover, gap))),
        Ok(None) => Ok(Apart::TooNear),
        Err(why) => why.stopped().map_or(Ok(Apart::Unproven), Err),
    }
}

/// The same of a pair one of which is curved: by polytopes around it, which are refined where those
/// that are there do not show it.
fn curved_apart_by(
    stand: &mut Stand<'_>,
    bodies: BodyPair,
    within: f64,
    known: &mut KnownHulls,
    effort: &mut Effort<'_>,
) -> Result<Apart<ShownGap>, Stopped> {
    let cell = stand.cell;
    let [p, q] = bodies.map(|body| stand.pose(body));
    let Some(solids) = stand.solids(bodies) else { return Ok(Apart::TooNear) };
    let Some(curved) = solids.curved() else { return Ok(Apart::TooNear) };
    let candidates = known.of_pair(cell, bodies);
    let mut is_unproven = false;
    let mut by = |hulls: &InTheirPlaces, effort: &mut Effort<'_>| -> Result<_, Stopped> {
        let pair = Pair::new(&hulls[0], p, &hulls[1], q);
        if let Some((direction, gap)) = widest(&pair, within, effort)? {
            return Ok(Some((GapProof::Along(direction), gap)));
        }
        let found = solids.with_polytopes(hulls, |solids| covered(solids, within, effort));
        Ok(match found.transpose()? {
            Some(Apart::Shown((cover, gap))) => Some((GapProof::Cover(cover), gap)),
            Some(Apart::Unproven) => {
                is_unproven = true;
                None
            }
            Some(Apart::TooNear) | None => None,
        })
    };
    let mut told = None;
    for hulls in &candidates {
        told = by(hulls, effort)?.map(|found| (found, hulls.clone()));
        if told.is_some() {
            break;
        }
    }
    if told.is_none()
        && let Some(made) = curved.around_beyond(within, effort)?
    {
        let hulls = in_their_places(cell, bodies, made);
        told = by(&hulls, effort)?.map(|found| (found, hulls));
        if let (Some((_, hulls)), Some(all)) = (&told, known.of_pairs.get_mut(&bodies)) {
            all.push(hulls.clone());
        }
    }
    let Some(((shown, gap), hulls)) = told else {
        return Ok(if is_unproven { Apart::Unproven } else { Apart::TooNear });
    };
    Ok(match known.name(cell, bodies, &hulls) {
        Some(hulls) => Apart::Shown(ShownGap { shown, gap, hulls }),
        None => Apart::Unproven,
    })
}

/// Polytopes in the places of two bodies, by those of the curved ones.
fn in_their_places(cell: &Cell, bodies: BodyPair, [p, q]: OfCurved) -> InTheirPlaces {
    let of =
        |made: Option<Arc<Polytope>>, body| made.unwrap_or_else(|| cell.body(body).hull().clone());
    [of(p, bodies[0]), of(q, bodies[1])]
}

/// That a pair is in contact, or within the margin, with polytopes in the places of curved bodies
/// that these hold; none: that of polyhedra was not proven, or that of curved ones is not resolved.
fn contact_proof(
    stand: &mut Stand<'_>,
    bodies: BodyPair,
    margin: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<(EdgeContactProof, OfCurved)>, Stopped> {
    let proven = |found: Result<EdgeContactProof, Unproven>| match found {
        Ok(proof) => Ok(Some(proof)),
        Err(why) => why.stopped().map_or(Ok(None), Err),
    };
    let radii = stand.radii(bodies);
    let Some(solids) = stand.solids(bodies) else {
        let proof = contact_of_convex(&stand.hulls(bodies), radii, margin, effort)?;
        return Ok(Some((proof, [None, None])));
    };
    let Some(curved) = solids.curved() else {
        let proof = proven(solids.contact(margin, effort))?;
        return Ok(proof.map(|proof| (proof, [None, None])));
    };
    let Some(inside) = curved.inside_within(margin, effort)? else { return Ok(None) };
    let hulls = in_their_places(stand.cell, bodies, inside.clone());
    let of_mesh = solids.with_polytopes(&hulls, |solids| solids.contact(margin, effort));
    let proof = match of_mesh {
        Some(found) => proven(found)?,
        None => {
            let [p, q] = bodies.map(|body| stand.pose(body));
            let pair = Pair::new(&hulls[0], p, &hulls[1], q);
            Some(contact_of_convex(&pair, radii, margin, effort)?)
        }
    };
    Ok(proof.map(|proof| (proof, inside)))
}

/// The same of two polytopes, with balls around all their points.
fn contact_of_convex(
    pair: &Pair<'_>,
    radii: [f64; 2],
    margin: f64,
    effort: &mut Effort<'_>,
) -> Result<EdgeContactProof, Stopped> {
    if radii.iter().any(|radius| *radius > 0.0) {
        return contact_of_rounded(&RoundedPair { cores: *pair, radii }, margin, effort);
    }
    let distance = measure(pair, Stops::default(), &mut Witness::default(), effort)?;
    let mut margin_pairs = arrayvec::ArrayVec::new();
    if distance.decision.verdict() == Verdict::Separated {
        margin_pairs = compare(pair, margin, &mut Witness::default(), effort)?.pairs;
    }
    let verdict = distance.decision.proof;
    Ok(EdgeContactProof::Polytopes { verdict, margin_pairs })
}

/// The same of polytopes of which one at least has balls around all its points.
fn contact_of_rounded(
    pair: &RoundedPair<'_>,
    margin: f64,
    effort: &mut Effort<'_>,
) -> Result<EdgeContactProof, Stopped> {
    let witness = &mut Witness::default();
    let found = rounded::verdict(pair, witness, effort)?;
    if found.verdict == Verdict::Overlapping {
        return Ok(EdgeContactProof::Rounded(RoundedSolidProof::Near(found.pairs)));
    }
    Ok(EdgeContactProof::Near(rounded::compare(pair, margin, witness, effort)?.pairs))
}
