//! A scene as certificates of edges are about it: each part of what stands still is a body of its
//! own, bodies are called by their numbers, and every pair that is left out has its rule.
//!
//! An [`PlanningOutline`] says of these bodies what they are in the scene, so that a cell can be
//! told that says the same to whoever has no scene.

use super::{NoPlanningCell, Numbering, PlanningCell, PlanningCopy, StandingCopy};
use crate::declared::body::{BodyId, Part};
use crate::declared::robots::{Attached, RobotId};
use crate::frame::scene::Scene;
use crate::pair_key::PairKey;
use clearance_geometry::Vec3;
use clearance_geometry::effort::Effort;
use clearance_geometry::pose::Pose;
use clearance_robot::claim::LeftOutRule;

/// What the bodies of a cell are in the scene that it says the same as.
#[derive(Debug)]
pub struct PlanningOutline {
    /// The robots that are asked about, with where their bases stand.
    pub robots: Vec<(RobotId, Pose)>,
    /// By number, the links with parts of the first robot, those of the next one, ..., what the
    /// robots carry and a joint moves, robot by robot, then what stands still, part by part.
    pub bodies: Vec<OutlinedBody>,
    /// By number, metres.
    pub own_margins: Vec<f64>,
    /// By the numbers of two bodies, metres, in place of the sum of those.
    pub set_margins: Vec<([usize; 2], f64)>,
    /// Whether links that a joint joins are asked about each other.
    pub has_adjacent_links: bool,
}

/// A body of a cell.
#[derive(Debug)]
pub enum OutlinedBody {
    /// A link with parts.
    Link {
        /// The place of its robot among those that are asked about.
        robot: usize,
        /// Its index.
        link: usize,
    },
    /// What a robot carries.
    Load {
        /// The place of the robot.
        robot: usize,
        /// What it is, and where.
        attached: Attached,
    },
    /// A part of what stands still.
    Standing {
        /// The body that it is a part of.
        body: BodyId,
        /// Its index in that.
        index: usize,
        /// Where it is in the world.
        pose: Pose,
        /// What it is.
        part: Part,
        /// Whether the body is a link.
        is_link: bool,
    },
}

/// A scene as certificates are about it, on the way to a cell.
#[derive(Debug)]
pub struct ClaimedCopy {
    copy: PlanningCopy,
    left_out: Vec<([usize; 2], LeftOutRule)>,
}

/// What moves a body of a cell: a frame of one of its robots.
type MovingFrame = Option<(usize, usize)>;

impl Scene {
    /// What the bodies are that a copy was just taken of; none: a body that a robot carries cannot
    /// be told, since a certificate has one pose for each part. Takes the copy to pieces.
    pub fn outline(
        &self,
        asked: &[RobotId],
        copy: PlanningCopy,
    ) -> Result<(PlanningOutline, PlanningCopy), NoPlanningCell> {
        let copy = copy.in_single_parts()?;
        let is_link = |index: u32| {
            let by = self.entries[index as usize].carrier.as_ref();
            by.is_some_and(|by| by.is_link())
        };
        let mut bodies = Vec::with_capacity(copy.listed.len());
        for (robot, (known, _)) in copy.robots.iter().enumerate() {
            let links = known.links.iter().enumerate().filter(|(_, link)| !link.parts.is_empty());
            bodies.extend(links.map(|(link, _)| OutlinedBody::Link { robot, link }));
        }
        for (one, index) in copy.carried.iter().zip(&copy.listed[bodies.len()..]) {
            let (robot, body) = (one.robot, self.id_of(*index));
            let declared = self.robot(asked[robot]);
            let attached =
                declared.and_then(|robot| robot.attached.iter().find(|it| it.body == body));
            let what = || "a body that hangs on nothing".to_owned();
            let attached =
                attached.ok_or_else(|| NoPlanningCell::NotAnswered { body, what: what() })?;
            bodies.push(OutlinedBody::Load { robot, attached: attached.clone() });
        }
        let (mut last, mut at) = (None, 0);
        for (one, index) in copy.standing.iter().zip(&copy.listed[copy.moving_count()..]) {
            at = if last == Some(*index) { at + 1 } else { 0 };
            last = Some(*index);
            let (body, is_link) = (self.id_of(*index), is_link(*index));
            bodies.extend(one.parts.iter().map(|(part, pose)| OutlinedBody::Standing {
                body,
                index: at,
                pose: *pose,
                part: part.clone(),
                is_link,
            }));
        }
        let robots = asked.iter().zip(&copy.robots).map(|(id, (_, base))| (*id, *base));
        let outline = PlanningOutline {
            robots: robots.collect(),
            bodies,
            own_margins: copy.listed.iter().map(|index| copy.book.own_margin(*index)).collect(),
            set_margins: copy.set_margins(),
            has_adjacent_links: copy.has_adjacent_links,
        };
        Ok((outline, copy))
    }

    /// Memory of such an outline, bytes, estimated.
    pub fn bytes_of_outline(&self) -> usize {
        let parts: usize = self.entries.iter().map(|entry| entry.body.parts.len()).sum();
        let links = self.entries.iter().filter(|entry| {
            let by = entry.carrier.as_ref();
            by.is_some_and(|by| by.is_link())
        });
        let points = links.flat_map(|entry| &entry.body.parts).map(Part::vertex_count);
        parts * size_of::<OutlinedBody>()
            + points.map(|count| count as usize * size_of::<Vec3>()).sum::<usize>()
            + self.book.set_margins().len() * size_of::<([usize; 2], f64)>()
    }
}

impl PlanningCopy {
    /// The same where each part of what stands still is a body of its own.
    fn in_single_parts(mut self) -> Result<Self, NoPlanningCell> {
        let first_carried = self.moving_count() - self.carried.len();
        for (one, name) in self.carried.iter().zip(&self.names[first_carried..]) {
            let is_whole = |parts: &[Part]| match parts {
                [part] => part.body_from_part == Pose::identity(),
                _ => false,
            };
            if !is_whole(&one.parts) {
                let what = "certificates of edges where a robot carries a body of several parts, \
                            or of one with a pose in it";
                let (body, what) = (BodyId(*name), what.to_owned());
                return Err(NoPlanningCell::NotAnswered { body, what });
            }
        }
        let first_standing = self.moving_count();
        let split = |of: &[u32], standing: &[StandingCopy]| {
            let counts = standing.iter().map(|one| one.parts.len());
            let each = of[first_standing..].iter().zip(counts);
            let still = each.flat_map(|(index, count)| std::iter::repeat_n(*index, count));
            of[..first_standing].iter().copied().chain(still).collect::<Vec<u32>>()
        };
        self.listed = split(&self.listed, &self.standing);
        self.names = split(&self.names, &self.standing);
        let parts = self.standing.into_iter().flat_map(|one| one.parts);
        self.standing = parts.map(|part| StandingCopy { parts: vec![part] }).collect();
        Ok(self)
    }

    /// With the rule of every pair that a configuration may change and that is left out, of which
    /// the scene's own rules may leave out `most`.
    pub fn claimed(
        self,
        outline: &PlanningOutline,
        most: usize,
        effort: &Effort<'_>,
    ) -> Result<ClaimedCopy, NoPlanningCell> {
        let movers: Vec<MovingFrame> = outline.bodies.iter().map(|body| self.mover(body)).collect();
        let (mut left_out, mut ignored) = (Vec::new(), 0);
        for b in 0..movers.len() {
            effort.look_at_clock()?;
            for a in (0..b.min(self.moving_count())).filter(|a| movers[*a] != movers[b]) {
                if self.is_asked([a, b]) {
                    continue;
                }
                let rule = self.rule(outline, [a, b]);
                left_out.push(([a, b], rule));
                ignored += usize::from(rule == LeftOutRule::Ignored);
            }
            if ignored > most {
                return Err(NoPlanningCell::TooManyIgnored);
            }
        }
        Ok(ClaimedCopy { copy: self, left_out })
    }

    /// How many pairs that are left out these are at most, of which the scene's own rules leave out
    /// `most`: it is seen after each body whether there are more.
    pub fn left_out_at_most(&self, most: usize) -> usize {
        let moving = self.moving_count();
        let own = moving.saturating_mul(moving) / 2;
        let all = moving.saturating_mul(self.listed.len());
        all.min(most.saturating_add(moving).saturating_add(own))
    }

    fn mover(&self, body: &OutlinedBody) -> MovingFrame {
        let (robot, link) = match body {
            OutlinedBody::Link { robot, link } => (*robot, Some(*link)),
            OutlinedBody::Load { robot, attached } => {
                (*robot, self.robots[*robot].0.link(&attached.link))
            }
            OutlinedBody::Standing { .. } => return None,
        };
        let frame = self.robots[robot].0.links[link?].frame;
        frame.map(|frame| (robot, frame))
    }

    /// Why two bodies are not asked about each other; of several rules the one that comes first.
    fn rule(&self, outline: &PlanningOutline, [a, b]: [usize; 2]) -> LeftOutRule {
        let bodies = [&outline.bodies[a], &outline.bodies[b]];
        let own = match bodies {
            [
                OutlinedBody::Link { robot, link },
                OutlinedBody::Link { robot: other, link: with },
            ] if robot == other => self.rule_of_links(*robot, [*link.min(with), *link.max(with)]),
            [OutlinedBody::Link { robot, link }, OutlinedBody::Load { robot: other, attached }]
                if robot == other =>
            {
                let known = &self.robots[*robot].0;
                let mut named = attached.touch_links.iter().chain([&attached.link]);
                let touches = named.any(|name| known.link(name) == Some(*link));
                touches.then_some(LeftOutRule::Carried)
            }
            _ => None,
        };
        let key = PairKey::new(self.listed[a], self.listed[b]);
        match own {
            Some(LeftOutRule::Carried) if !self.book.is_enabled_but_for_robots(key) => {
                LeftOutRule::Ignored
            }
            Some(rule) => rule,
            None => LeftOutRule::Ignored,
        }
    }

    fn rule_of_links(&self, robot: usize, links: [usize; 2]) -> Option<LeftOutRule> {
        let known = &self.robots[robot].0;
        let at = known.allowed.binary_search_by_key(&links, |pair| pair.links).ok()?;
        if self.has_adjacent_links && known.is_joined(links) {
            return None;
        }
        known.allowed[at].rule()
    }
}

impl ClaimedCopy {
    /// The pairs that the scene's own rules leave out, by the numbers of their bodies.
    pub fn ignored(&self) -> impl Iterator<Item = [usize; 2]> + '_ {
        let ignored = self.left_out.iter().filter(|(_, rule)| *rule == LeftOutRule::Ignored);
        ignored.map(|(pair, _)| *pair)
    }

    /// What it takes to build the cell, bytes: a generous guess.
    pub fn working_bytes(&self) -> usize {
        let pairs = size_of_val(self.left_out.as_slice());
        2 * pairs + self.copy.working_bytes()
    }

    /// How many bodies there are.
    pub fn size(&self) -> usize {
        self.copy.size()
    }

    /// Builds the cell; takes a while. Clouds that a cell of the scene had `before` are taken over.
    pub fn build(
        self,
        before: Option<&PlanningCell>,
        effort: &Effort<'_>,
    ) -> Result<PlanningCell, NoPlanningCell> {
        let Self { copy, left_out } = self;
        copy.built(before, Numbering { names: None, left_out }, effort)
    }
}
