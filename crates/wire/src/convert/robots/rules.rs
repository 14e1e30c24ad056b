//! What a cell says of pairs: which are left out, within which distance they count, and what links
//! carry.

use std::collections::{BTreeMap, BTreeSet};

use super::digested::Digested;
use super::obstacles::{AskedBody, PointsLeft};
use crate::convert::catalogue::Catalogue;
use crate::convert::geometry::signed_length;
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::table::place::Place;
use clearance_geometry::effort::Effort;
use clearance_geometry::pose::Pose;
use clearance_proto as api;
use clearance_proto::cell_body::Body as Wire;
use clearance_robot::Robot;
use clearance_robot::cell::{Instance, LEFT_OUT_BYTES};
use clearance_robot::claim::LeftOutRule;
use clearance_robot::pairing::{HungBody, StandingBody};
use clearance_robot::still::StillBody;
use clearance_runtime::robots::RegisteredRobot;
use clearance_runtime::settings::Limits;

const NO_LINK: &str = "the robot has no link of this name";

/// What the robots of a cell carry, robot by robot.
#[derive(Debug, Default)]
pub(super) struct AskedLoads(Vec<AskedLoad>);

/// A body that a link carries.
#[derive(Debug)]
struct AskedLoad {
    /// The index of the robot.
    robot: usize,
    /// The index among those that the robot carries.
    index: usize,
    link: usize,
    /// Links that it may touch.
    touched: Vec<usize>,
    /// With its pose in the frame of the link.
    body: AskedBody,
}

/// A body that a link carries, built.
pub(super) enum BuiltLoad {
    /// A joint moves it.
    Hung(HungBody),
    /// No joint does.
    Standing(StandingBody),
}

impl AskedLoads {
    /// Checks everything that can be wrong with them.
    pub(super) fn convert(
        path: &Path<'_>,
        wire: &api::RobotCell,
        robots: &[&RegisteredRobot],
        catalogue: &Catalogue<'_>,
        left: &mut PointsLeft,
    ) -> Result<Self, Failure> {
        let (list, mut all) = (path.field("robots"), Vec::new());
        for (robot, (instance, known)) in wire.robots.iter().zip(robots).enumerate() {
            let path = list.index(robot);
            let list = path.field("attached");
            let count = all.len() + instance.attached.len();
            list.within(catalogue.limits.attached_per_cell_max(), count)?;
            for (index, one) in instance.attached.iter().enumerate() {
                let path = list.index(index);
                let api::CarriedBody { link, body, touch_links } = one;
                let link = known.robot.link(link);
                let link = link.ok_or_else(|| path.field("link").bad(NO_LINK))?;
                let touching = path.field("touch_links");
                touching.within(catalogue.limits.robot_links_max(), touch_links.len())?;
                let touched = touch_links.iter().enumerate().map(|(at, name)| {
                    let link = known.robot.link(name);
                    link.ok_or_else(|| Failure::from(touching.index(at).bad(NO_LINK)))
                });
                let touched = touched.collect::<Result<_, _>>()?;
                let path = path.field("body");
                let body = body.as_ref().ok_or_else(|| path.bad("is required"))?;
                let body = AskedBody::convert(&path, body, Place::RobotPart, catalogue, left)?;
                all.push(AskedLoad { robot, index, link, touched, body });
            }
        }
        Ok(Self(all))
    }

    pub(super) fn bodies(&self) -> impl Iterator<Item = &AskedBody> {
        self.0.iter().map(|load| &load.body)
    }

    pub(super) fn digest_into(&self, digested: &mut Digested) {
        digested.size(self.0.len());
        for AskedLoad { robot, index: _, link, touched, body } in &self.0 {
            [*robot, *link, touched.len()].into_iter().for_each(|size| digested.size(size));
            touched.iter().for_each(|link| digested.size(*link));
            body.digest_into(digested);
        }
    }

    /// Builds them, in order; takes a while.
    pub(super) fn build(
        self,
        path: &Path<'_>,
        instances: &[Instance<'_>],
        effort: &mut Effort<'_>,
    ) -> Result<Vec<BuiltLoad>, Failure> {
        let list = path.field("robots");
        let mut built = Vec::with_capacity(self.0.len());
        for AskedLoad { robot, index, link, body, .. } in self.0 {
            let path = list.index(robot);
            let path = path.field("attached");
            let path = path.index(index);
            let AskedBody { shape, pose, .. } = body;
            let body = shape.build(&path.field("body"), Place::RobotPart, effort)?;
            let Instance { robot: of, world_from_base } = &instances[robot];
            let link = &of.links[link];
            let frame_from_body = link.frame_from_link.compose(&pose);
            built.push(match link.frame {
                Some(frame) => {
                    let parts = vec![(body, Pose::identity())];
                    BuiltLoad::Hung(HungBody { robot, frame, frame_from_body, parts })
                }
                None => {
                    let pose = world_from_base.compose(&frame_from_body);
                    BuiltLoad::Standing(StandingBody { parts: vec![StillBody { body, pose }] })
                }
            });
        }
        Ok(built)
    }
}

/// A body of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CellPlace {
    Link {
        robot: usize,
        link: usize,
    },
    /// What a robot carries, by its place among all that robots carry.
    Load(usize),
    Obstacle(usize),
}

/// Which pairs a cell leaves out, and the paddings of its links.
#[derive(Debug)]
pub(super) struct AskedRules {
    /// By robot and link, metres.
    paddings: Vec<Vec<f64>>,
    ignored: Vec<[CellPlace; 2]>,
    /// Margins of single pairs, metres.
    margins: Vec<([CellPlace; 2], f64)>,
    adjacent_links: bool,
}

impl AskedRules {
    /// Checks everything that can be wrong with them.
    pub(super) fn convert(
        path: &Path<'_>,
        wire: &api::RobotCell,
        robots: &[&RegisteredRobot],
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let list = path.field("robots");
        let mut paddings = Vec::with_capacity(robots.len());
        for (index, (instance, known)) in wire.robots.iter().zip(robots).enumerate() {
            let path = list.index(index);
            let list = path.field("paddings");
            list.within(limits.robot_links_max(), instance.paddings.len())?;
            let mut of_links = vec![0.0; known.robot.links.len()];
            for (index, one) in instance.paddings.iter().enumerate() {
                let path = list.index(index);
                let link = known.robot.link(&one.link);
                let link = link.ok_or_else(|| path.field("link").bad(NO_LINK))?;
                of_links[link] = signed_length(&path.field("padding"), one.padding)?;
            }
            paddings.push(of_links);
        }
        let list = path.field("ignored_pairs");
        list.within(limits.rules_per_cell_max(), wire.ignored_pairs.len())?;
        let (names, mut ignored) = (CellNames::new(wire, robots), Vec::new());
        for (index, one) in wire.ignored_pairs.iter().enumerate() {
            ignored.push(names.pair(&list.index(index), one)?);
        }
        let margins = names.margins(&path.field("pair_margins"), &wire.pair_margins, limits)?;
        Ok(Self { paddings, ignored, margins, adjacent_links: wire.adjacent_links })
    }

    /// Whether nothing is said.
    pub(super) fn is_empty(&self) -> bool {
        let is_padded = |padding: &f64| padding.abs() > 0.0;
        let is_plain = !self.paddings.iter().flatten().any(is_padded);
        is_plain && self.ignored.is_empty() && self.margins.is_empty() && !self.adjacent_links
    }

    /// What they are among the bodies of a cell, about.
    pub(super) fn size(&self) -> usize {
        (self.ignored.len() + self.margins.len()) / 8
    }

    /// What it takes to look pairs up, bytes.
    pub(super) fn working_bytes(&self, robots: &[&Robot]) -> usize {
        let allowed: usize = robots.iter().map(|robot| robot.allowed.len()).sum();
        let of_margins = 2 * size_of::<([usize; 2], f64)>() * self.margins.len();
        (2 * size_of::<[usize; 2]>() + 2 * LEFT_OUT_BYTES) * (self.ignored.len() + allowed)
            + of_margins
    }

    /// How many pairs have a margin of their own.
    pub(super) fn margin_count(&self) -> usize {
        self.margins.len()
    }

    pub(super) fn digest_into(&self, digested: &mut Digested) {
        digested.tag(u8::from(self.adjacent_links));
        self.paddings.iter().flatten().for_each(|padding| digested.number(*padding));
        digested.size(self.ignored.len());
        let margins = self.margins.iter().map(|(pair, _)| pair);
        for place in self.ignored.iter().chain(margins).flatten() {
            let (tag, numbers) = match *place {
                CellPlace::Link { robot, link } => (0, [robot, link]),
                CellPlace::Load(index) => (1, [index, 0]),
                CellPlace::Obstacle(index) => (2, [index, 0]),
            };
            digested.tag(tag);
            numbers.into_iter().for_each(|number| digested.size(number));
        }
        self.margins.iter().for_each(|(_, margin)| digested.number(*margin));
    }
}

/// How a message calls the bodies of a cell.
struct CellNames<'a> {
    wire: &'a api::RobotCell,
    robots: &'a [&'a RegisteredRobot],
    /// By robot, where what it carries begins among all that robots carry.
    first_loads: Vec<usize>,
    /// None: several have the name. Empty if nobody is called by a name.
    obstacles: BTreeMap<&'a str, Option<usize>>,
}

impl<'a> CellNames<'a> {
    fn new(wire: &'a api::RobotCell, robots: &'a [&'a RegisteredRobot]) -> Self {
        let mut first_loads = vec![0];
        for instance in &wire.robots {
            first_loads.push(first_loads.last().unwrap_or(&0) + instance.attached.len());
        }
        let padded = wire.pair_margins.iter().filter_map(|one| one.pair.as_ref());
        let called = wire.ignored_pairs.iter().chain(padded);
        let called = called.flat_map(|pair| [&pair.first, &pair.second]);
        let is_name = |one: &api::CellBody| matches!(one.body, Some(Wire::Obstacle(_)));
        let mut obstacles = BTreeMap::new();
        if called.flatten().any(is_name) {
            for (index, one) in wire.obstacles.iter().enumerate() {
                let known = obstacles.entry(one.name.as_str());
                known.and_modify(|known| *known = None).or_insert(Some(index));
            }
        }
        Self { wire, robots, first_loads, obstacles }
    }

    fn pair(&self, path: &Path<'_>, wire: &api::CellPair) -> Result<[CellPlace; 2], Failure> {
        let first = self.place(&path.field("first"), wire.first.as_ref())?;
        let second = path.field("second");
        let other = self.place(&second, wire.second.as_ref())?;
        if first == other {
            return Err(second.bad("must be another body than the first").into());
        }
        Ok([first, other])
    }

    /// Margins of single pairs, metres.
    fn margins(
        &self,
        list: &Path<'_>,
        wire: &[api::CellMargin],
        limits: &Limits,
    ) -> Result<Vec<([CellPlace; 2], f64)>, Failure> {
        list.within(limits.rules_per_cell_max(), wire.len())?;
        let (mut margins, mut known) = (Vec::with_capacity(wire.len()), BTreeSet::new());
        for (index, one) in wire.iter().enumerate() {
            let path = list.index(index);
            let at = path.field("pair");
            let mut pair =
                self.pair(&at, one.pair.as_ref().ok_or_else(|| at.bad("is required"))?)?;
            pair.sort_unstable();
            if !known.insert(pair) {
                return Err(at.bad("has a margin already").into());
            }
            margins.push((pair, signed_length(&path.field("margin"), one.margin)?));
        }
        Ok(margins)
    }

    fn place(&self, path: &Path<'_>, wire: Option<&api::CellBody>) -> Result<CellPlace, Failure> {
        let named = wire.and_then(|one| Some((one.robot as usize, one.body.as_ref()?)));
        let (robot, body) = named.ok_or_else(|| path.bad("must name a body"))?;
        let field = |name: &'static str, problem: &'static str| -> Failure {
            path.field(name).bad(problem).into()
        };
        if let Wire::Obstacle(_) | Wire::ObstacleIndex(_) = body {
            if robot != 0 {
                return Err(field("robot", "must be 0 of an obstacle"));
            }
            return self.obstacle(body, field);
        }
        let known = self.robots.get(robot);
        let known = known.ok_or_else(|| field("robot", "the cell has no such robot"))?;
        let attached = &self.wire.robots[robot].attached;
        let load = |index: usize| CellPlace::Load(self.first_loads[robot] + index);
        match body {
            Wire::Link(name) => {
                let link = known.robot.link(name).ok_or_else(|| field("link", NO_LINK))?;
                Ok(CellPlace::Link { robot, link })
            }
            Wire::LinkIndex(link) if (*link as usize) < known.robot.links.len() => {
                Ok(CellPlace::Link { robot, link: *link as usize })
            }
            Wire::LinkIndex(_) => Err(field("link_index", "the robot has no such link")),
            Wire::AttachedIndex(index) if (*index as usize) < attached.len() => {
                Ok(load(*index as usize))
            }
            Wire::AttachedIndex(_) => Err(field("attached_index", "the robot carries fewer")),
            Wire::Attached(name) => {
                let is_it = |one: &api::CarriedBody| {
                    !name.is_empty() && one.body.as_ref().is_some_and(|body| body.name == *name)
                };
                let mut all = (0..attached.len()).filter(|index| is_it(&attached[*index]));
                match (all.next(), all.next()) {
                    (Some(index), None) => Ok(load(index)),
                    (Some(_), Some(_)) => Err(field("attached", "several bodies have this name")),
                    (None, _) => Err(field("attached", "the robot carries nothing of this name")),
                }
            }
            Wire::Obstacle(_) | Wire::ObstacleIndex(_) => self.obstacle(body, field),
        }
    }

    fn obstacle(
        &self,
        body: &Wire,
        field: impl Fn(&'static str, &'static str) -> Failure,
    ) -> Result<CellPlace, Failure> {
        match body {
            Wire::ObstacleIndex(index) if (*index as usize) < self.wire.obstacles.len() => {
                Ok(CellPlace::Obstacle(*index as usize))
            }
            Wire::Obstacle(name) if !name.is_empty() => match self.obstacles.get(name.as_str()) {
                Some(Some(index)) => Ok(CellPlace::Obstacle(*index)),
                Some(None) => Err(field("obstacle", "several obstacles have this name")),
                None => Err(field("obstacle", "the cell has no obstacle of this name")),
            },
            Wire::Obstacle(_) => Err(field("obstacle", "must not be empty")),
            Wire::ObstacleIndex(_)
            | Wire::Link(_)
            | Wire::LinkIndex(_)
            | Wire::Attached(_)
            | Wire::AttachedIndex(_) => {
                Err(field("obstacle_index", "the cell has fewer obstacles"))
            }
        }
    }
}

/// Which pairs are asked, by the numbers of [`Surroundings`].
///
/// [`Surroundings`]: clearance_robot::pairing::Surroundings
pub(super) struct CellPairs {
    /// In order, the lower number first.
    ignored: Vec<[usize; 2]>,
    /// Those that a joint may change, each with its rule, and others that no joint does.
    pub(super) left_out: Vec<([usize; 2], LeftOutRule)>,
    /// By number: whether one of those has it.
    is_listed: Vec<bool>,
    /// By number, what moves it; none: it stands still.
    movers: Vec<Mover>,
    /// By number, metres.
    pub(super) paddings: Vec<f64>,
    /// Margins of single pairs, in place of the sum of those, metres.
    pub(super) margins: Vec<([usize; 2], f64)>,
}

/// What carries a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mover {
    /// A frame of a robot, or its base, carries a link.
    Link(usize, Option<usize>),
    /// The same of what hangs on it.
    Load(usize, Option<usize>),
    Nothing,
}

/// The bodies of a cell, numbered.
#[derive(Default)]
struct Numbers {
    /// By robot and link; none: it has no part.
    links: Vec<Vec<Option<usize>>>,
    /// By place among all that robots carry.
    loads: Vec<usize>,
    first_obstacle: usize,
    movers: Vec<Mover>,
    /// Metres.
    paddings: Vec<f64>,
}

impl Numbers {
    fn of(
        instances: &[Instance<'_>],
        loads: &AskedLoads,
        rules: &AskedRules,
        obstacles: &[f64],
    ) -> Self {
        let mut all = Self { loads: vec![0; loads.0.len()], ..Self::default() };
        for (robot, Instance { robot: known, .. }) in instances.iter().enumerate() {
            let mut numbers = vec![None; known.links.len()];
            for (at, link) in known.links.iter().enumerate() {
                if !link.parts.is_empty() {
                    numbers[at] = Some(all.movers.len());
                    all.movers.push(Mover::Link(robot, link.frame));
                    all.paddings.push(rules.paddings[robot][at]);
                }
            }
            all.links.push(numbers);
        }
        all.add_loads(instances, loads, true);
        all.first_obstacle = all.movers.len();
        all.movers.extend(obstacles.iter().map(|_| Mover::Nothing));
        all.paddings.extend(obstacles);
        all.add_loads(instances, loads, false);
        all
    }

    /// Adds what a joint moves, or what none does.
    fn add_loads(&mut self, instances: &[Instance<'_>], loads: &AskedLoads, moves: bool) {
        for (at, load) in loads.0.iter().enumerate() {
            let frame = instances[load.robot].robot.links[load.link].frame;
            if frame.is_some() == moves {
                self.loads[at] = self.movers.len();
                self.movers.push(Mover::Load(load.robot, frame));
                self.paddings.push(load.body.padding);
            }
        }
    }

    fn of_place(&self, place: CellPlace) -> Option<usize> {
        match place {
            CellPlace::Link { robot, link } => self.links[robot][link],
            CellPlace::Load(load) => Some(self.loads[load]),
            CellPlace::Obstacle(index) => Some(self.first_obstacle + index),
        }
    }
}

impl CellPairs {
    /// Of a cell whose obstacles have these paddings.
    pub(super) fn new(
        instances: &[Instance<'_>],
        loads: &AskedLoads,
        rules: &AskedRules,
        obstacles: &[f64],
    ) -> Self {
        let numbers = Numbers::of(instances, loads, rules, obstacles);
        let (mut ignored, mut left_out) = (Vec::new(), Vec::new());
        let mut ignore = |pair: [CellPlace; 2], rule: Option<LeftOutRule>| {
            if let [Some(a), Some(b)] = pair.map(|place| numbers.of_place(place)) {
                ignored.push([a.min(b), a.max(b)]);
                left_out.extend(rule.map(|rule| ([a.min(b), a.max(b)], rule)));
            }
        };
        rules.ignored.iter().for_each(|pair| ignore(*pair, Some(LeftOutRule::Ignored)));
        for (robot, Instance { robot: known, .. }) in instances.iter().enumerate() {
            let is_asked = |pair: [usize; 2]| rules.adjacent_links && known.is_joined(pair);
            for pair in known.allowed.iter().filter(|pair| !is_asked(pair.links)) {
                ignore(pair.links.map(|link| CellPlace::Link { robot, link }), pair.rule());
            }
        }
        for (at, AskedLoad { robot, link, touched, .. }) in loads.0.iter().enumerate() {
            for link in touched.iter().chain([link]) {
                let link = CellPlace::Link { robot: *robot, link: *link };
                ignore([CellPlace::Load(at), link], Some(LeftOutRule::Carried));
            }
        }
        ignored.sort_unstable();
        ignored.dedup();
        let set = rules.margins.iter().filter_map(|(pair, margin)| {
            let [a, b] = pair.map(|place| numbers.of_place(place));
            Some(([a?, b?], *margin))
        });
        let margins = set.collect();
        let Numbers { movers, paddings, .. } = numbers;
        let mut is_listed = vec![false; movers.len()];
        ignored.iter().flatten().for_each(|number| is_listed[*number] = true);
        Self { ignored, left_out, is_listed, movers, paddings, margins }
    }

    /// Whether two bodies are asked about each other.
    pub(super) fn is_asked(&self, pair: [usize; 2]) -> bool {
        let moves_as_one = match pair.map(|number| self.movers[number]) {
            [Mover::Load(a, f), Mover::Load(b, g) | Mover::Link(b, g)]
            | [Mover::Link(b, g), Mover::Load(a, f)] => (a, f) == (b, g),
            _ => false,
        };
        let [a, b] = pair;
        let may_be_listed = self.is_listed[a] && self.is_listed[b];
        let is_listed = || self.ignored.binary_search(&[a.min(b), a.max(b)]).is_ok();
        !(moves_as_one || may_be_listed && is_listed())
    }
}
