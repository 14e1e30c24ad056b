//! Certificates of edges: the pieces of a path that was found free, each with what shows it.
//!
//! The search drops a pair for both halves of an interval once it is free on the whole; here every
//! piece stands alone, so that whoever reads it need not follow a search. The bounds on motion are
//! those of the search ([`super::speed`]) on the vertices of each part instead of its link's ball.

use super::ball::length_at_most;
use super::cell::{Cell, CellPart};
use super::claim::{
    EdgeCertificate, EdgeContactProof, EdgePiece, EdgeSubject, GapProof, PairGap, SubjectPart,
};
use super::edge::{EdgeAnswer, EdgeQuestion, pieces_of, value_at};
use super::pairing::PairScope;
use super::speed::{MotionBound, PathSpeeds, SeenMotion, WorldBall, common_frame, kept_apart};
use super::stand::{Block, LANES, Poses, Stand};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Points, Reach, RoundedSolidProof, Solid, SolidKind, Verdict};
use clearance_geometry::distance::{Stops, compare};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::number::double::{
    Double, Real, Triple, cross, dot, minus, plus_times, rounded,
};
use clearance_geometry::number::rounding::{BOUND_SLACK, UNIT};
use clearance_geometry::pair::{Pair, Placed, VertexPair};
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::witness::Witness;

/// By how much more than they have to the bounds of a certificate say: a thousand times what two
/// readers of it may round differently.
const STATED_SLACK: f64 = 1000.0 * BOUND_SLACK;
/// The part of the tolerance down to which pieces are halved.
const FINEST: f64 = 1.0 / 4096.0;

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
    /// The numbers that a certificate is about.
    pub fn subject(&self) -> EdgeSubject<'_> {
        let mut parts = Vec::with_capacity(self.parts.len());
        for (index, link) in self.links.iter().enumerate() {
            for part in link.parts.clone() {
                let CellPart { frame_from_part: pose, .. } = self.parts[part];
                let (points, kind) = self.boundary(part);
                let body = &self.parts[part].body;
                let (frame, radius) = (link.frame, body.radius());
                let (link, is_around) = (index, body.curved().is_some());
                parts.push(SubjectPart { link, frame, pose, points, kind, radius, is_around });
            }
        }
        let still = self.still.bodies().iter().map(|still| {
            let points = Points { points: still.body.vertices(), pose: still.pose };
            Solid { points, kind: still.body.solid_kind() }
        });
        let still_radii = self.still.bodies().iter().map(|still| still.body.radius()).collect();
        let bodies = self.still.bodies().iter();
        let still_around = bodies.map(|still| still.body.curved().is_some()).collect();
        let (tree, link_pairs) = (self.kinematics.tree(), &self.link_pairs);
        let still = still.collect();
        EdgeSubject { tree, parts, link_pairs, still, still_radii, still_around }
    }

    /// The vertices of a part, and what it is.
    fn boundary(&self, part: usize) -> (&[Vec3], SolidKind<'_>) {
        let CellPart { body, .. } = &self.parts[part];
        (body.vertices(), body.solid_kind())
    }

    /// The certificate of an answer about an edge; none: there is nothing to show, or what was
    /// found free is so within so little that these bounds do not show it. Of polyhedra there is
    /// none, either, where it would be too long, or their contact was not proven. Nor is there one
    /// where somebody else says which pairs are asked: whoever checks it would not know.
    pub fn certify_edge(
        &self,
        question: EdgeQuestion,
        ends: [&[f64]; 2],
        answer: &EdgeAnswer,
        effort: &mut Effort<'_>,
    ) -> Result<Option<EdgeCertificate>, Stopped> {
        if self.has_rules() || question.scope != PairScope::All {
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
        let mut memory = StandMemory::default();
        let Some(pieces) = certifier.pieces(free_until, &mut memory, effort)? else {
            return Ok(None);
        };
        let contact = match contact {
            None => None,
            Some((at, pair)) => {
                let mut stand = certifier.stand(at, &mut memory);
                let proof = contact_proof(&mut stand, pair, question.margin, effort)?;
                if proof.is_none() {
                    return Ok(None);
                }
                proof
            }
        };
        Ok(Some(EdgeCertificate { pieces, contact }))
    }
}

impl<'a> Certifier<'a> {
    fn new(
        cell: &'a Cell,
        ends: [&'a [f64]; 2],
        question: EdgeQuestion,
        speeds: PathSpeeds,
    ) -> Self {
        let subject = cell.subject();
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
        // That of the hulls, without the balls around their points.
        let kept = |bodies: [u32; 2]| {
            let radii = bodies.map(|body| cell.body(body).radius());
            Reach::of_rounded(radii, question.margin).upper()
        };
        let mut pairs = Vec::new();
        for [a, b] in &cell.link_pairs {
            let common = common_frame(cell, [&cell.links[*a], &cell.links[*b]]);
            for first in cell.links[*a].parts.clone() {
                for second in cell.links[*b].parts.clone() {
                    let bounds = [seen(first, common), seen(second, common)];
                    let bodies = [number(first), number(second)];
                    let keep = kept_apart(cell, common, kept(bodies));
                    pairs.push(CheckedPair { bodies, common, bounds, keep });
                }
            }
        }
        for link in cell.links.iter().filter(|link| link.frame.is_some()) {
            for part in link.parts.clone() {
                for body in cell.parts.len()..loads.len() {
                    let bounds = [loads[part].bound, loads[body].bound];
                    let bodies = [number(part), number(body)];
                    pairs.push(CheckedPair { bodies, common: None, bounds, keep: kept(bodies) });
                }
            }
        }
        pairs.sort_unstable_by_key(|pair| pair.bodies);
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
            match self.piece(&mut stand, (end, half), effort)? {
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

    /// What shows the piece up to `end` free.
    fn piece(
        &self,
        stand: &mut Stand<'_>,
        (end, half): (f64, f64),
        effort: &mut Effort<'_>,
    ) -> Result<Apart<EdgePiece>, Stopped> {
        let centres: Vec<Vec3> = self
            .loads
            .iter()
            .map(|load| match load.frame {
                Some(frame) => stand.frame(frame).apply_rounded(&load.centre),
                None => load.centre,
            })
            .collect();
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
            match apart_by(stand, pair.bodies, within, effort)? {
                Apart::Shown((shown, gap)) => {
                    gaps.push(PairGap { pair: pair.bodies, shown, gap, closing });
                }
                Apart::TooNear => return Ok(Apart::TooNear),
                Apart::Unproven => return Ok(Apart::Unproven),
            }
        }
        Ok(Apart::Shown(EdgePiece { end, speeds, gaps }))
    }
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

/// What shows that a pair is farther apart than `within` without balls around its points, and at
/// most how far: a direction, if one does.
fn apart_by(
    stand: &mut Stand<'_>,
    bodies: [u32; 2],
    within: f64,
    effort: &mut Effort<'_>,
) -> Result<Apart<(GapProof, f64)>, Stopped> {
    if let Some((direction, gap)) = widest(stand, bodies, within, effort)? {
        return Ok(Apart::Shown((GapProof::Along(direction), gap)));
    }
    let Some(solids) = stand.solids(bodies) else { return Ok(Apart::TooNear) };
    // What is stated is more than what two can move, however little that is.
    let gap = within.max(f64::MIN_POSITIVE);
    match solids.cover_beyond(gap, effort) {
        Ok(Some(cover)) => Ok(Apart::Shown((GapProof::Cover(cover), gap))),
        Ok(None) => Ok(Apart::TooNear),
        Err(why) => why.stopped().map_or(Ok(Apart::Unproven), Err),
    }
}

/// A direction along which a pair, or its hulls, are farther apart than `within`, and at most how
/// far.
fn widest(
    stand: &mut Stand<'_>,
    bodies: [u32; 2],
    within: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<(Vec3, f64)>, Stopped> {
    let distance =
        stand.hull_distance(bodies, Stops { above: Some(within), below: None }, effort)?;
    let is_separated = distance.decision.verdict() == Verdict::Separated;
    if !is_separated || distance.lower <= within {
        return Ok(None);
    }
    let pair = stand.hulls(bodies);
    Ok(direction_to_nearest(&pair, &distance.pairs)
        .map(|direction| (direction, gap_along(&pair, &direction)))
        .filter(|(_, gap)| *gap > within))
}

/// The vector from the origin to the hull of some differences, in twice the precision: nearby
/// bodies have differences that are small against their coordinates.
fn direction_to_nearest(pair: &Pair<'_>, pairs: &[VertexPair]) -> Option<Vec3> {
    let placed = |of: &Placed<'_>, index: u32| -> Triple<Double> {
        let v = of.body.vertex(index);
        std::array::from_fn(|i| {
            let row = [0, 1, 2].map(|k| Double::product(of.pose.rotation[(i, k)], v[k]));
            ((row[0] + row[1]) + row[2]) + Double::of(of.pose.translation[i])
        })
    };
    let difference = |of: &VertexPair| minus(&placed(&pair.q, of.j), &placed(&pair.p, of.i));
    let points: Vec<Triple<Double>> = pairs.iter().map(difference).collect();
    let direction = match points[..] {
        [d] => rounded(&d),
        [d, other] => {
            // d e² - e (d·e), which is across e.
            let e = minus(&other, &d);
            let (square, along) = (dot(&e, &e), dot(&d, &e));
            let zero = [Double::of(0.0); 3];
            rounded(&plus_times(&plus_times(&zero, &d, square), &e, -along))
        }
        [d, second, third] => {
            let normal = cross(&minus(&second, &d), &minus(&third, &d));
            let side = dot(&normal, &d).rounded();
            rounded(&normal) * if side < 0.0 { -1.0 } else { 1.0 }
        }
        _ => return None,
    };
    let length = direction.amax();
    (length > 0.0 && length.is_finite()).then(|| (direction / length).normalize())
}

/// At most the gap along a unit vector. Each term rounds by 16u of the coordinates at most.
fn gap_along(pair: &Pair<'_>, direction: &Vec3) -> f64 {
    let reach = |of: &Placed<'_>, sign: f64| {
        let (mut least, mut size) = (f64::INFINITY, 0.0f64);
        for v in of.body.vertices() {
            let point = of.pose.apply_rounded(v);
            least = least.min(sign * direction.dot(&point));
            size = size.max(v.abs().sum() * 2.0);
        }
        (least, size + of.pose.translation.abs().sum())
    };
    let ((q, size_q), (p, size_p)) = (reach(&pair.q, 1.0), reach(&pair.p, -1.0));
    (q + p) * (1.0 - BOUND_SLACK) - 32.0 * UNIT * (size_p + size_q)
}

/// That a pair is in contact, or within the margin; none: that of polyhedra was not proven.
fn contact_proof(
    stand: &mut Stand<'_>,
    bodies: [u32; 2],
    margin: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<EdgeContactProof>, Stopped> {
    if let Some(solids) = stand.solids(bodies) {
        return match solids.contact(margin, effort) {
            Ok(proof) => Ok(Some(proof)),
            Err(why) => why.stopped().map_or(Ok(None), Err),
        };
    }
    if let Some(rounded) = stand.rounded_hulls(bodies) {
        return contact_of_rounded(&rounded, margin, effort).map(Some);
    }
    let pair = stand.hulls(bodies);
    let distance = clearance_geometry::distance::measure(
        &pair,
        Stops { above: None, below: None },
        &mut Witness::default(),
        effort,
    )?;
    let mut margin_pairs = arrayvec::ArrayVec::new();
    if distance.decision.verdict() == Verdict::Separated {
        margin_pairs = compare(&pair, margin, &mut Witness::default(), effort)?.pairs;
    }
    let verdict = distance.decision.proof;
    Ok(Some(EdgeContactProof::Polytopes { verdict, margin_pairs }))
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
