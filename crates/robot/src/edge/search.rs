//! The search along one edge, a look at one configuration at a time.

use super::faces::{KnownFace, KnownFaces, is_along_a_plane};
use super::{EdgeAnswer, EdgeQuestion, pieces_of, value_at};
use crate::apart::{gap_along, nearest_direction};
use crate::ball::length_at_most;
use crate::cell::{BodyPair, Cell, CellLink};
use crate::claim::asked_margin;
use crate::deep::DepthBounds;
use crate::speed::{
    Carried, FrameVelocity, Heights, MotionBound, PathSpeeds, SeenMotion, Tilt, WorldBall,
    common_frame, kept_apart, stretched_by,
};
use crate::stand::Stand;
use arrayvec::ArrayVec;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Reach;
use clearance_geometry::distance::DistanceSide;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::number::rounding::BOUND_SLACK;
use clearance_geometry::witness::Witness;
use std::convert::Infallible;

/// The part of the tolerance down to which intervals are halved. Just before a contact nothing is
/// proven free, for as much longer than an interval as the motion bound exceeds the true speed:
/// this leaves the tolerance room for a factor of about its inverse.
const FINEST: f64 = 1.0 / 64.0;

/// Another direction is looked for if the last one makes the way shorter than this part of it.
const USEFUL_PART: f64 = 0.5;

/// If any contact is an answer, how finely is looked at what is left of an edge once a pair came
/// too near on it to tell: down to this part of a first piece. To halve all of it further would
/// take the whole budget, where the edge goes along what it is too near to.
const LEFT_OVER: f64 = 1.0 / 16.0;

/// What is looked at next.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// The middle of an interval that is not proven yet.
    Interval(OpenInterval),
    /// The start: contact there is contact at 0, exactly.
    Start,
    /// The end, if any contact is an answer.
    End,
    /// The end of the widest bracket that begins at the first; the pair is too near before it.
    Last([f64; 2], BodyPair),
}

/// An interval of t that is not proven free yet.
#[derive(Clone, Copy, Debug)]
struct OpenInterval {
    t: [f64; 2],
    /// Which of the known pairs may meet on it: from one to before another. None: all pairs may.
    pairs: Option<[usize; 2]>,
}

impl OpenInterval {
    fn whole(t: [f64; 2]) -> Self {
        Self { t, pairs: None }
    }

    fn middle(&self) -> f64 {
        let [start, end] = self.t;
        start + 0.5 * (end - start)
    }
}

/// One edge on the way to its answer; what it takes is kept for the next edge.
pub(super) struct EdgeSearch<'a> {
    cell: &'a Cell,
    question: EdgeQuestion,
    ends: [&'a [f64]; 2],
    speeds: PathSpeeds,
    /// By link, seen from the world.
    links: Vec<MotionBound>,
    /// By pair of links, each seen from the frame that carries both; made when they are near.
    pairs: Vec<Option<[MotionBound; 2]>>,
    /// By pair of links.
    common: Vec<CommonFrame>,
    /// In the configuration at hand.
    velocities: Vec<FrameVelocity>,
    /// Intervals from the last one to the next.
    open: Vec<OpenInterval>,
    /// The pairs of open intervals, those of the next one last.
    known: Vec<EdgePair>,
    /// What was seen last of the pairs that were measured.
    witnesses: Vec<Witness>,
    /// By link: how far it may get within an interval.
    motions: Vec<f64>,
    /// Directions along which pairs were farthest apart that move along a plane.
    faces: KnownFaces,
    tilts: Vec<Tilt>,
    asked: Asked,
    values: Vec<f64>,
    contact: Option<(f64, BodyPair)>,
    /// If any contact is an answer: a pair that came too near to tell. A contact elsewhere answers.
    too_near: Option<BodyPair>,
    /// The start was looked at, and is not in contact.
    is_start_seen: bool,
    /// How this pair stands at the start is open.
    open_at_start: Option<BodyPair>,
    /// Pairs that were measured near the start, and where their witnesses are: good ones for what
    /// is looked at next, too.
    near_start: Vec<(BodyPair, usize)>,
    /// How a pair stands in the configuration at hand is open: one is curved, and nearer to contact
    /// than is resolved.
    is_open: bool,
    steps: u64,
}

/// The frame that carries two links, if one does, and what they have to keep.
#[derive(Clone, Copy, Debug)]
struct CommonFrame {
    frame: Option<usize>,
    /// Their distance as seen from the frame, metres.
    keep: f64,
    nearness: Nearness,
}

/// From where on a pair counts as in contact.
#[derive(Clone, Copy, Debug)]
struct Nearness {
    /// Within this distance, metres.
    margin: f64,
    /// At least so deep in each other, metres; 0: touching is contact.
    depth: f64,
}

impl Nearness {
    /// Of a margin that may be below 0.
    fn of(margin: f64) -> Self {
        Self { margin: margin.max(0.0), depth: (0.0 - margin).max(0.0) }
    }
}

/// A pair of bodies and what bounds their motion: a link, or a pair of links by its index.
#[derive(Clone, Copy, Debug)]
struct EdgePair {
    bodies: BodyPair,
    movers: EdgeMovers,
    nearness: Nearness,
    /// Where its witness is; none: it was not measured yet.
    witness: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum EdgeMovers {
    Link(usize),
    LinkPair(usize),
}

/// What is seen in the middle of an interval.
#[derive(Clone, Copy, Debug)]
enum Looked {
    /// All pairs are farther apart than they can move.
    Free,
    /// Some pairs are not, and are not in contact either: the last of those that are known, from
    /// this one on.
    Near(usize),
    /// This pair is in contact; so may be those that are known from this one on.
    Contact(BodyPair, usize),
}

impl<'a> EdgeSearch<'a> {
    /// For edges of a cell.
    pub(super) fn new(cell: &'a Cell, question: EdgeQuestion) -> Self {
        let of = |(index, pair): (usize, &[usize; 2])| {
            let links = pair.map(|link| &cell.links[link]);
            let nearness = Nearness::of(asked_margin(question.margin, cell.margin_of_links(index)));
            let common = common_frame(cell, links);
            // Balls around points are not stretched, but the distance that they have to keep is.
            let radii: f64 = links.iter().map(|link: &&CellLink| link.radius).sum();
            let keep = kept_apart(cell, common, nearness.margin + cell.slack);
            let keep = keep + stretched_by(cell, common, radii);
            CommonFrame { frame: common, keep, nearness }
        };
        Self {
            cell,
            question,
            ends: [&[], &[]],
            speeds: PathSpeeds::default(),
            links: Vec::new(),
            pairs: Vec::new(),
            common: cell.link_pairs.iter().enumerate().map(of).collect(),
            velocities: Vec::new(),
            open: Vec::new(),
            known: Vec::new(),
            witnesses: Vec::new(),
            motions: Vec::new(),
            faces: KnownFaces::default(),
            tilts: Vec::new(),
            asked: Asked::Start,
            values: Vec::new(),
            contact: None,
            too_near: None,
            is_start_seen: false,
            open_at_start: None,
            near_start: Vec::new(),
            is_open: false,
            steps: 0,
        }
    }

    /// Takes an edge.
    pub(super) fn begin(&mut self, ends: [&'a [f64]; 2], speeds: PathSpeeds) {
        self.links.clear();
        let links = self.cell.links.iter();
        self.links.extend(links.map(|link| speeds.bound(self.cell, link, None)));
        self.pairs.clear();
        self.pairs.resize(self.cell.link_pairs.len(), None);
        self.open.clear();
        self.open.extend(first_pieces(&speeds, self.question.any_contact));
        (self.ends, self.speeds) = (ends, speeds);
        (self.contact, self.is_start_seen, self.open_at_start) = (None, false, None);
        self.too_near = None;
        self.steps = 0;
        self.known.clear();
        self.witnesses.clear();
        self.near_start.clear();
        self.faces.clear();
        match self.open.pop() {
            // A first piece that is free as a whole needs no look at where it starts.
            Some(first) if !self.question.any_contact => self.ask(Asked::Interval(first)),
            first => {
                self.open.extend(first);
                self.ask(Asked::Start);
            }
        }
    }

    /// The configuration that is to be looked at.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    fn ask(&mut self, asked: Asked) {
        let t = match asked {
            Asked::Interval(interval) => interval.middle(),
            Asked::Start => 0.0,
            Asked::End => 1.0,
            Asked::Last([_, t], _) => t,
        };
        let [from, to] = self.ends;
        self.values.clear();
        self.values.extend(from.iter().zip(to).map(|(a, b)| value_at(*a, *b, t)));
        self.asked = asked;
    }

    /// Looks at the configuration asked for; the answer, when there is one.
    pub(super) fn step(
        &mut self,
        stand: &mut Stand<'_>,
        effort: &mut Effort<'_>,
    ) -> Option<EdgeAnswer> {
        let asked = self.asked;
        let (free_until, half, pairs) = match asked {
            Asked::Interval(interval) => {
                let (middle, [start, end]) = (interval.middle(), interval.t);
                (self.proven_until(start), (middle - start).max(end - middle), interval.pairs)
            }
            Asked::Start | Asked::End => (0.0, 0.0, None),
            Asked::Last([start, _], _) => (self.proven_until(start), 0.0, None),
        };
        let before = effort.cost.steps;
        self.is_open = false;
        let looked = match self.steps < self.question.steps_max {
            true => effort.spend_step().and_then(|()| self.look(stand, half, pairs, effort)),
            false => Err(Stopped::Steps),
        };
        self.steps += effort.cost.steps - before;
        match looked {
            Ok(looked) => self.told(asked, looked),
            Err(why) => Some(EdgeAnswer::Stopped { free_until, why }),
        }
    }

    /// What follows from a look.
    fn told(&mut self, asked: Asked, looked: Looked) -> Option<EdgeAnswer> {
        match (asked, looked) {
            (Asked::Interval(_), Looked::Free) => {}
            (Asked::Interval(interval), Looked::Contact(pair, first)) => {
                let middle = interval.middle();
                self.contact = Some((middle, pair));
                self.open.clear();
                let pairs = Some([first, self.known.len()]);
                self.open.push(OpenInterval { t: [interval.t[0], middle], pairs });
                return self.advance_past_start();
            }
            (Asked::Interval(interval), Looked::Near(first)) => {
                let ([start, end], middle) = (interval.t, interval.middle());
                let pairs = Some([first, self.known.len()]);
                if end - start > self.finest() {
                    self.open.push(OpenInterval { t: [middle, end], pairs });
                    self.open.push(OpenInterval { t: [start, middle], pairs });
                } else if self.is_start_seen {
                    return self.ended([start, end], self.known[first].bodies);
                } else {
                    self.open.push(OpenInterval { t: [start, end], pairs });
                }
                return self.advance_past_start();
            }
            (Asked::Start, Looked::Contact(pair, _)) => {
                return Some(EdgeAnswer::Contact { free_until: 0.0, contact_at: 0.0, pair });
            }
            (Asked::Start, Looked::Free | Looked::Near(_)) => {
                self.is_start_seen = true;
                self.keep_witnesses();
                if let (Looked::Near(first), true) = (looked, self.is_open) {
                    self.open_at_start = Some(self.known[first].bodies);
                }
                if self.question.any_contact {
                    self.ask(Asked::End);
                    return None;
                }
            }
            (Asked::End, Looked::Contact(pair, _)) => {
                return Some(EdgeAnswer::Contact { free_until: 0.0, contact_at: 1.0, pair });
            }
            (Asked::End, Looked::Free | Looked::Near(_)) => {}
            (Asked::Last([start, contact_at], _), Looked::Contact(pair, _)) => {
                let free_until = self.proven_until(start);
                return Some(EdgeAnswer::Contact { free_until, contact_at, pair });
            }
            (Asked::Last([start, _], pair), Looked::Free | Looked::Near(_)) => {
                return self.undecided(start, pair);
            }
        }
        self.advance()
    }

    /// How short an interval is not halved any more.
    fn finest(&self) -> f64 {
        let finest = self.question.tolerance * FINEST;
        match self.too_near {
            Some(_) => finest.max(LEFT_OVER / pieces_of(&self.speeds)),
            None => finest,
        }
    }

    /// A pair is too near after `start` to tell: that ends the edge, unless any contact is an
    /// answer, which may be found in what is left.
    fn undecided(&mut self, start: f64, pair: BodyPair) -> Option<EdgeAnswer> {
        if self.question.any_contact {
            self.too_near.get_or_insert(pair);
            return self.advance();
        }
        Some(EdgeAnswer::Undecided { free_until: start, pair })
    }

    /// Goes on to the next interval once the start was looked at: contact there ends what halving
    /// would come down to in many looks.
    fn advance_past_start(&mut self) -> Option<EdgeAnswer> {
        if self.is_start_seen {
            return self.advance();
        }
        self.keep_witnesses();
        self.ask(Asked::Start);
        None
    }

    /// Keeps what was seen of pairs that were measured.
    fn keep_witnesses(&mut self) {
        let seen = |pair: &EdgePair| pair.witness.map(|at| (pair.bodies, at));
        self.near_start.clear();
        self.near_start.extend(self.known.iter().filter_map(seen));
    }

    /// Goes on to the next interval, unless the contact is found as finely as is asked.
    fn advance(&mut self) -> Option<EdgeAnswer> {
        let Some(interval) = self.open.pop() else {
            return Some(match self.contact {
                None => match self.too_near {
                    Some(pair) => EdgeAnswer::Undecided { free_until: 0.0, pair },
                    None => EdgeAnswer::Free,
                },
                // The last middle in contact was proven free on its left up to the middle itself,
                // which a true path may be, within rounding of it.
                Some((at, pair)) => EdgeAnswer::Contact { free_until: at, contact_at: at, pair },
            });
        };
        let start = interval.t[0];
        match self.near_contact(start) {
            Some((contact_at, pair)) => {
                let free_until = self.proven_until(start);
                return Some(EdgeAnswer::Contact { free_until, contact_at, pair });
            }
            None => self.ask(Asked::Interval(interval)),
        }
        None
    }

    /// The contact that is known, if it is no more than a tolerance after `start`, or any is an
    /// answer.
    fn near_contact(&self, start: f64) -> Option<(f64, BodyPair)> {
        let is_enough =
            |at: f64| self.question.any_contact || at - start <= self.question.tolerance;
        self.contact.filter(|(at, _)| is_enough(*at))
    }

    /// Up to where the edge is proven free while an interval is looked at that begins at `start`:
    /// all before it, unless pieces are taken in another order.
    fn proven_until(&self, start: f64) -> f64 {
        if self.question.any_contact { 0.0 } else { start }
    }

    /// The end of the widest bracket, rounded down, so that it is no wider than the tolerance.
    fn last_of(&self, start: f64) -> f64 {
        (start + self.question.tolerance).next_down().max(start).min(1.0)
    }

    /// An interval is too short to be halved.
    fn ended(&mut self, [start, end]: [f64; 2], pair: BodyPair) -> Option<EdgeAnswer> {
        if let (true, Some(pair)) = (start <= 0.0, self.open_at_start) {
            return self.undecided(0.0, pair);
        }
        self.ask(Asked::Last([start, self.last_of(start).max(end)], pair));
        None
    }

    /// Looks at a configuration: which pairs may meet within `half` of it, of those that are known
    /// or of all.
    fn look(
        &mut self,
        stand: &mut Stand<'_>,
        half: f64,
        pairs: Option<[usize; 2]>,
        effort: &mut Effort<'_>,
    ) -> Result<Looked, Stopped> {
        if half > 0.0 {
            self.speeds.velocities(stand, &mut self.velocities);
        }
        let [first, end] = match (pairs, self.asked) {
            (Some(pairs), _) => pairs,
            (None, Asked::Interval(_)) => self.collect(stand, half, 0),
            // The pairs of intervals that are open are kept.
            (None, Asked::Start | Asked::End | Asked::Last(..)) => {
                self.collect(stand, half, self.known.len())
            }
        };
        // What comes after these was of intervals that are done.
        self.known.truncate(end);
        for at in first..end {
            let mut pair = self.known[at];
            let within = self.reach(stand, pair.movers, pair.nearness.margin, half);
            if stand.bound_of(pair.bodies, within) > within {
                continue;
            }
            let along_a_plane = half > 0.0 && self.goes_along_a_plane(stand, &pair);
            if along_a_plane && self.keeps_its_face(stand, &pair, half) {
                continue;
            }
            let room = self.room(stand, &mut pair, within, effort)?;
            self.known[at].witness = pair.witness;
            match room {
                DistanceSide::Beyond => continue,
                DistanceSide::Within if along_a_plane => {
                    if !self.finds_a_face(stand, &pair, half, effort)? {
                        self.known.push(pair);
                    }
                }
                DistanceSide::Within => self.known.push(pair),
                DistanceSide::Contact => {
                    // It comes first in what is left: it is likely to end the next look, too.
                    self.known.push(pair);
                    let last = self.known.len() - 1;
                    self.known.swap(end, last);
                    self.known.extend_from_within(at + 1..end);
                    return Ok(Looked::Contact(pair.bodies, end));
                }
            }
        }
        Ok(if self.known.len() > end { Looked::Near(end) } else { Looked::Free })
    }

    /// How a pair stands: in contact, which is within the margin, or how far apart beside `within`,
    /// which is no less.
    fn room(
        &mut self,
        stand: &mut Stand<'_>,
        pair: &mut EdgePair,
        within: f64,
        effort: &mut Effort<'_>,
    ) -> Result<DistanceSide, Stopped> {
        let at = *pair.witness.get_or_insert_with(|| {
            self.witnesses.push(Witness::default());
            self.witnesses.len() - 1
        });
        let Nearness { margin, depth } = pair.nearness;
        let side = stand.side(pair.bodies, [margin, within], &mut self.witnesses[at], effort)?;
        if depth > 0.0 && side != Some(DistanceSide::Beyond) {
            return self.depth_side(stand, pair, within, effort);
        }
        self.is_open |= side.is_none();
        Ok(side.unwrap_or(DistanceSide::Within))
    }

    /// The same of a pair that is in contact where it is deep enough, and no farther apart than
    /// `within`: as far as its points may move before that, it may get deeper.
    fn depth_side(
        &mut self,
        stand: &mut Stand<'_>,
        pair: &EdgePair,
        within: f64,
        effort: &mut Effort<'_>,
    ) -> Result<DistanceSide, Stopped> {
        let depth = pair.nearness.depth;
        let stretched = match pair.movers {
            EdgeMovers::Link(_) => 0.0,
            EdgeMovers::LinkPair(index) => stretched_by(self.cell, self.common[index].frame, depth),
        };
        let DepthBounds { now: [lower, upper], ahead } = stand.depth_bounds(pair.bodies, effort)?;
        if (ahead + within + stretched) * (1.0 + BOUND_SLACK) < depth {
            return Ok(DistanceSide::Beyond);
        }
        if lower >= depth {
            return Ok(DistanceSide::Contact);
        }
        if upper < depth {
            return Ok(DistanceSide::Within);
        }
        let is_so_deep = stand.is_so_deep(pair.bodies, depth, effort)?;
        self.is_open |= is_so_deep.is_none();
        let is_contact = is_so_deep == Some(true);
        Ok(if is_contact { DistanceSide::Contact } else { DistanceSide::Within })
    }

    /// The links that move a pair, and the frame that they are seen from.
    fn seen_movers(&self, movers: EdgeMovers) -> (ArrayVec<usize, 2>, Option<usize>) {
        match movers {
            EdgeMovers::Link(link) => (ArrayVec::from_iter([link]), None),
            EdgeMovers::LinkPair(index) => {
                (ArrayVec::from(self.cell.link_pairs[index]), self.common[index].frame)
            }
        }
    }

    /// Whether each body of a pair moves along a plane, nearly: then a face of one of them may be
    /// as far away all the way.
    fn goes_along_a_plane(&self, stand: &mut Stand<'_>, pair: &EdgePair) -> bool {
        let (links, seen_from) = self.seen_movers(pair.movers);
        let is_so = |link: &usize| {
            let seen = self.seen_velocity(stand, *link, seen_from);
            seen.is_none_or(|seen| is_along_a_plane(&seen))
        };
        links.iter().all(is_so) && stand.cloud(pair.bodies).is_none()
    }

    /// Whether a pair stays apart along the direction that is known of it or of another one.
    fn keeps_its_face(&mut self, stand: &mut Stand<'_>, pair: &EdgePair, half: f64) -> bool {
        let Some(along) = self.faces.likely(pair.bodies) else { return false };
        let reach = self.reach_along(stand, pair, &along, half);
        gap_along(&stand.hulls(pair.bodies), &along) > reach
    }

    /// Whether a pair that is not in contact stays apart along the direction in which it is
    /// farthest apart now, unless the last one of these was of little use.
    fn finds_a_face(
        &mut self,
        stand: &mut Stand<'_>,
        pair: &EdgePair,
        half: f64,
        effort: &mut Effort<'_>,
    ) -> Result<bool, Stopped> {
        match self.faces.of(pair.bodies) {
            KnownFace::NotAsked => {}
            KnownFace::None => return Ok(false),
            KnownFace::Across(along) => {
                let margin = pair.nearness.margin;
                let useful = USEFUL_PART * self.reach(stand, pair.movers, margin, half);
                if self.reach_along(stand, pair, &along, half) > useful {
                    return Ok(false);
                }
            }
        }
        let Some(at) = pair.witness else { return Ok(false) };
        let hulls = stand.hulls(pair.bodies);
        let found = nearest_direction(&hulls, &mut self.witnesses[at], effort)?;
        self.faces.keep(pair.bodies, found);
        Ok(match found {
            Some(along) => gap_along(&hulls, &along) > self.reach_along(stand, pair, &along, half),
            None => false,
        })
    }

    /// How far apart the hulls of two bodies have to be along a direction, in the middle of an
    /// interval, to be free on all of it.
    fn reach_along(&mut self, stand: &Stand<'_>, pair: &EdgePair, along: &Vec3, half: f64) -> f64 {
        let (links, seen_from) = self.seen_movers(pair.movers);
        let heights = Heights { seen_from, along: *along, half };
        let (mut motion, mut keep) = (0.0, pair.nearness.margin + self.cell.slack);
        if let EdgeMovers::LinkPair(index) = pair.movers {
            keep = self.common[index].keep;
        }
        for link in links {
            let CellLink { frame, ball, .. } = &self.cell.links[link];
            let (centre, radius) = stand.hulls_ball(link);
            let points = Carried {
                frame: *frame,
                lever: ball.centre.norm() + ball.radius,
                ball: WorldBall { centre, radius },
            };
            let speed = self.speeds.speed_along(stand, &points, &heights, &mut self.tilts);
            motion += half * speed + self.links[link].rounding;
        }
        within(motion, keep) + Reach::of_rounded(stand.radii(pair.bodies), 0.0).upper()
    }

    /// Lists every pair that the bounds of bodies and of their motion leave, after the first ones
    /// that are known: from which one to before which.
    fn collect(&mut self, stand: &mut Stand<'_>, half: f64, first: usize) -> [usize; 2] {
        let cell = self.cell;
        let mut found = std::mem::take(&mut self.known);
        found.truncate(first);
        let mut motions = std::mem::take(&mut self.motions);
        let near_start = std::mem::take(&mut self.near_start);
        let witness_of = |bodies: BodyPair| {
            near_start.iter().find(|(pair, _)| *pair == bodies).map(|(_, at)| *at)
        };
        motions.clear();
        for link in 0..cell.links.len() {
            let motion = self.link_motion(stand, link, half);
            motions.push(motion);
            if cell.links[link].frame.is_some() {
                let movers = EdgeMovers::Link(link);
                let most = self.question.margin.max(cell.most_margin_of(link)).max(0.0);
                stand.near_still(link, within(motion, most + cell.slack), |bodies| {
                    let (nearness, witness) = (self.nearness_of(bodies), witness_of(bodies));
                    found.push(EdgePair { bodies, movers, nearness, witness });
                });
            }
        }
        let Ok(()) = stand.with_clouds(None, |_, bodies| {
            let movers = EdgeMovers::Link(cell.link_index(bodies[0]).unwrap_or_default());
            let nearness = self.nearness_of(bodies);
            found.push(EdgePair { bodies, movers, nearness, witness: None });
            Ok::<(), Infallible>(())
        });
        let link_pairs: &[[usize; 2]] =
            if self.question.scope.has_links() { &cell.link_pairs } else { &[] };
        for (index, [a, b]) in link_pairs.iter().enumerate() {
            let ((p, r), (q, s)) = (stand.link_ball(*a), stand.link_ball(*b));
            let apart = length_at_most(&(p - q));
            let is_apart = |within: f64| apart > (r + s + within) * (1.0 + BOUND_SLACK);
            let nearness = self.common[index].nearness;
            let margin = nearness.margin;
            if is_apart(within(motions[*a] + motions[*b], margin + cell.slack)) {
                continue;
            }
            let movers = EdgeMovers::LinkPair(index);
            let within = self.reach(stand, movers, margin, half);
            if is_apart(within) {
                continue;
            }
            for i in cell.links[*a].parts.clone() {
                for k in cell.links[*b].parts.clone() {
                    let bodies = Stand::numbers(i, k);
                    if stand.bound_of(bodies, within) <= within {
                        let witness = witness_of(bodies);
                        found.push(EdgePair { bodies, movers, nearness, witness });
                    }
                }
            }
        }
        (self.known, self.motions, self.near_start) = (found, motions, near_start);
        [first, self.known.len()]
    }

    /// From where on a pair counts of which the first is a part of a robot.
    fn nearness_of(&self, bodies: BodyPair) -> Nearness {
        Nearness::of(asked_margin(self.question.margin, self.cell.margin_of(bodies)))
    }

    /// How far apart two bodies have to be, in the middle of an interval, to be free on all of it.
    fn reach(&mut self, stand: &Stand<'_>, movers: EdgeMovers, margin: f64, half: f64) -> f64 {
        match movers {
            EdgeMovers::Link(link) => {
                let motion = self.link_motion(stand, link, half);
                within(motion, margin + self.cell.slack)
            }
            EdgeMovers::LinkPair(index) => {
                let two = self.cell.link_pairs[index];
                let CommonFrame { frame: common, keep, .. } = self.common[index];
                let (cell, speeds) = (self.cell, &self.speeds);
                let bounds = *self.pairs[index].get_or_insert_with(|| {
                    two.map(|link| speeds.bound(cell, &cell.links[link], common))
                });
                let seen = [(two[0], bounds[0]), (two[1], bounds[1])];
                let of = |(link, bound): &(usize, MotionBound)| {
                    self.motion(stand, *link, SeenMotion { seen_from: common, bound }, half)
                };
                within(seen.iter().map(of).sum(), keep)
            }
        }
    }

    fn link_motion(&self, stand: &Stand<'_>, link: usize, half: f64) -> f64 {
        self.motion(stand, link, SeenMotion { seen_from: None, bound: &self.links[link] }, half)
    }

    /// How the middle of a link moves in the configuration at hand, and how the link turns, as seen
    /// from a frame; none: the link stands still.
    fn seen_velocity(
        &self,
        stand: &Stand<'_>,
        link: usize,
        seen_from: Option<usize>,
    ) -> Option<[Vec3; 2]> {
        let frame = self.cell.links[link].frame?;
        let (centre, _) = stand.hulls_ball(link);
        let mut seen = self.velocities[frame].at(&centre);
        if let Some(other) = seen_from {
            let carrier = self.velocities[other].at(&centre);
            seen = [seen[0] - carrier[0], seen[1] - carrier[1]];
        }
        Some(seen)
    }

    /// How far any point of a link may be within `half` from where it is computed to be now, as
    /// seen from a frame.
    fn motion(&self, stand: &Stand<'_>, link: usize, seen: SeenMotion<'_>, half: f64) -> f64 {
        let SeenMotion { seen_from, bound } = seen;
        if half <= 0.0 {
            return bound.rounding;
        }
        let seen = self.seen_velocity(stand, link, seen_from).filter(|_| bound.speed > 0.0);
        let Some(seen) = seen else { return bound.rounding };
        let radius = stand.hulls_ball(link).1;
        // The velocities round by less than a part of the greatest speed in the world.
        let error = self.links[link].speed_error;
        let now = seen[0].norm() + seen[1].norm() * radius + error;
        let second = half * (now + 0.5 * half * bound.acceleration);
        (half * bound.speed).min(second) * (1.0 + BOUND_SLACK) + bound.rounding
    }
}

/// How far apart two bodies have to be that may move by so much and have to keep a distance.
fn within(motion: f64, keep: f64) -> f64 {
    (motion + keep) * (1.0 + BOUND_SLACK)
}

/// The pieces that an edge is cut into at first, the next one last: from the start on, or in an
/// order in which each is far from those before it, which finds a contact somewhere sooner.
fn first_pieces(speeds: &PathSpeeds, far_apart: bool) -> impl Iterator<Item = OpenInterval> {
    let count = pieces_of(speeds);
    let total = count as usize;
    let bits = total.next_power_of_two().trailing_zeros();
    let reversed = move |at: usize| match bits {
        0 => at,
        _ => at.reverse_bits() >> (usize::BITS - bits),
    };
    let places = 0..total.next_power_of_two();
    let order = places.rev().map(move |at| if far_apart { reversed(at) } else { at });
    order.filter(move |at| *at < total).map(move |at| {
        let first = at as f64;
        OpenInterval::whole([first / count, (first + 1.0) / count])
    })
}
