//! A scene as a planner asks about it: some of its robots in configurations of their own, with all
//! that they carry, among everything else as the last frame left it.
//!
//! What is asked is a cell ([`clearance_robot::cell`]) by the rules of the scene: its pairs are
//! those that the scene checks, of which a configuration can change how they stand, with their
//! margins; its bodies are called by their ids. A configuration is answered as a frame that moved
//! the robots to it would be: the twelve numbers of every part are the same.
//!
//! A copy is taken while the scene stands still; the cell is built of it while the scene moves on.
//! A [`PlanningVersion`] tells whether a cell still says how the scene stands.

pub mod claimed;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::declared::body::{Body, BodyId, Part};
use crate::declared::robots::{RobotId, SceneRobot};
use crate::declared::rule_book::RuleBook;
use crate::frame::scene::Scene;
use crate::pair_key::PairKey;
use crate::pairs::meshes::body_of;
use crate::placed::entry::Entry;
use clearance_bodies::table::place::{Place, cloud_of_body};
use clearance_geometry::cloud::{CloudError, PointCloud};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::polyhedron::TriangleBody;
use clearance_geometry::pose::Pose;
use clearance_robot::Robot;
use clearance_robot::body::PartBody;
use clearance_robot::cell::{Cell, Instance};
use clearance_robot::claim::LeftOutRule;
use clearance_robot::cloud::BoxedCloud;
use clearance_robot::pairing::{HungBody, StandingBody, Surroundings};
use clearance_robot::still::StillBody;

/// What a cell of a scene is made of: equal ones of one scene are of equal cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanningVersion {
    /// How often more than poses has changed.
    restructured: u64,
    /// How often a body that no robot carries went elsewhere.
    placements: u64,
    /// By robot, how often its base went elsewhere, and its joint values if it is not asked about.
    robots: Vec<[u64; 2]>,
}

/// Why a scene makes no cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPlanningCell {
    /// A body that a robot carries, or that stands there, is of a kind of which that is not
    /// answered.
    NotAnswered {
        /// The id of the body that is meant.
        body: BodyId,
        /// What is not answered.
        what: String,
    },
    /// More pairs of a robot are left out by the rules of the scene than a cell is told of.
    TooManyIgnored,
    /// There was no time left.
    Stopped(Stopped),
}

impl From<Stopped> for NoPlanningCell {
    fn from(why: Stopped) -> Self {
        Self::Stopped(why)
    }
}

impl Scene {
    /// What a cell depends on in which these robots are asked about; none: the scene has not all of
    /// them. Joint values of these are not part of it.
    pub fn planning_version(&self, asked: &[RobotId]) -> Option<PlanningVersion> {
        asked.iter().all(|id| self.robot(*id).is_some()).then(|| PlanningVersion {
            restructured: self.changes.restructured,
            placements: self.changes.placements,
            robots: self
                .robots
                .iter()
                .map(|robot| {
                    let is_asked = asked.contains(&robot.declared.id);
                    [robot.rebased, if is_asked { 0 } else { robot.bent }]
                })
                .collect(),
        })
    }

    /// The scene as it stands, for questions about these robots, in this order; none: it has not
    /// all of them.
    pub fn planning_copy(&self, asked: &[RobotId]) -> Option<PlanningCopy> {
        let robots: Option<Vec<&SceneRobot>> = asked.iter().map(|id| self.robot(*id)).collect();
        let robots = robots?;
        let mut listed = Vec::new();
        for SceneRobot { id, robot, .. } in &robots {
            let links = robot.links.iter().enumerate().filter(|(_, link)| !link.parts.is_empty());
            let bodies = links.map(|(index, _)| BodyId(id.0 + index as u32));
            listed.extend(bodies.filter_map(|body| self.index_of(body)));
        }
        let (mut carried, mut standing) = (Vec::new(), Vec::new());
        for (index, entry) in (0..).zip(&self.entries) {
            let by = entry.carrier.as_ref();
            let holder = by.and_then(|by| {
                asked.iter().position(|id| *id == by.robot).map(|robot| (robot, by))
            });
            match holder {
                Some((_, by)) if by.is_link() => {}
                Some((robot, by)) if by.frame.is_some() => {
                    let frame = by.frame.unwrap_or_default();
                    let parts = entry.body.parts.clone();
                    let copied = CarriedCopy { robot, frame, frame_from_body: by.pose(), parts };
                    carried.push((index, copied));
                }
                // What hangs where no joint moves it stands still.
                _ => standing.push((index, StandingCopy::of(entry))),
            }
        }
        // As a cell numbers them, robot by robot.
        carried.sort_by_key(|(_, copied)| copied.robot);
        listed.extend(carried.iter().map(|(index, _)| index));
        listed.extend(standing.iter().map(|(index, _)| index));
        let names = listed.iter().map(|index| self.id_of(*index).0).collect();
        Some(PlanningCopy {
            joined: joined_links(&robots),
            has_adjacent_links: false,
            robots: robots.iter().map(|one| (one.robot.clone(), one.base)).collect(),
            carried: carried.into_iter().map(|(_, copied)| copied).collect(),
            standing: standing.into_iter().map(|(_, copied)| copied).collect(),
            listed,
            names,
            book: self.book.clone(),
        })
    }

    /// Memory of such a copy, bytes, estimated.
    pub fn bytes_of_planning_copy(&self) -> usize {
        let parts: usize = self.entries.iter().map(|entry| entry.body.parts.len()).sum();
        parts * size_of::<(Part, Pose)>() + self.entries.len() * size_of::<StandingCopy>()
    }
}

/// Links that a joint joins, of robots whose links with parts are numbered in a row; in order.
fn joined_links(robots: &[&SceneRobot]) -> Vec<[usize; 2]> {
    let (mut joined, mut next) = (Vec::new(), 0);
    for SceneRobot { robot, .. } in robots {
        let mut numbers = vec![None; robot.links.len()];
        for (number, link) in numbers.iter_mut().zip(&robot.links) {
            if !link.parts.is_empty() {
                *number = Some(next);
                next += 1;
            }
        }
        for pair in robot.allowed.iter().filter(|pair| robot.is_joined(pair.links)) {
            if let [Some(a), Some(b)] = pair.links.map(|link| numbers[link]) {
                joined.push([a, b]);
            }
        }
    }
    joined.sort_unstable();
    joined
}

/// A body that a robot carries.
#[derive(Debug)]
struct CarriedCopy {
    robot: usize,
    frame: usize,
    frame_from_body: Pose,
    parts: Vec<Part>,
}

/// A body that stands where it is.
#[derive(Debug)]
struct StandingCopy {
    parts: Vec<(Part, Pose)>,
}

impl StandingCopy {
    fn of(entry: &Entry) -> Self {
        let Body { parts, .. } = &entry.body;
        let poses = entry.now().parts.iter().map(|part| part.pose).collect::<Vec<_>>();
        Self { parts: parts.iter().cloned().zip(poses).collect() }
    }
}

/// A scene as it stood, apart from it.
#[derive(Debug)]
pub struct PlanningCopy {
    robots: Vec<(Arc<Robot>, Pose)>,
    carried: Vec<CarriedCopy>,
    standing: Vec<StandingCopy>,
    /// By the numbers of [`Surroundings`], where the scene lists the body.
    listed: Vec<u32>,
    /// The same, with its id.
    names: Vec<u32>,
    book: Arc<RuleBook>,
    /// Links that a joint joins, by those numbers.
    joined: Vec<[usize; 2]>,
    /// Whether these are asked about each other.
    has_adjacent_links: bool,
}

/// What the bodies of a cell are called, and what it tells of pairs that are not asked.
struct Numbering {
    /// By body, its id in the scene; none: they are called by their numbers.
    names: Option<Vec<u32>>,
    left_out: Vec<([usize; 2], LeftOutRule)>,
}

/// Robots of a scene among all else, ready for questions.
#[derive(Clone, Debug)]
pub struct PlanningCell {
    /// The cell, in which bodies are called by their ids.
    pub cell: Arc<Cell>,
    /// The clouds in it, which a cell that is built after it may have.
    clouds: Vec<KnownCloud>,
}

/// A cloud and what was built of it.
#[derive(Clone, Debug)]
struct KnownCloud {
    points: TriangleBody,
    built: BoxedCloud,
}

impl KnownCloud {
    fn is_of(&self, points: &TriangleBody, radius: f64) -> bool {
        self.points.address() == points.address()
            && self.built.cloud().radius().to_bits() == radius.to_bits()
    }
}

impl PlanningCell {
    /// Whether all its clouds are those of another cell.
    #[cfg(test)]
    pub(crate) fn shares_clouds_with(&self, other: &Self) -> bool {
        let is_of = |known: &KnownCloud, one: &KnownCloud| {
            std::ptr::eq(known.built.cloud(), one.built.cloud())
        };
        self.clouds.iter().all(|one| other.clouds.iter().any(|known| is_of(known, one)))
    }
}

impl PlanningCopy {
    /// The same where links of these robots that a joint joins are asked about each other, too, if
    /// the rules of the scene do not leave them out.
    #[must_use]
    pub fn and_adjacent_links(self) -> Self {
        Self { has_adjacent_links: true, ..self }
    }

    /// How many bodies there are.
    pub fn size(&self) -> usize {
        let parts = self.standing.iter().map(|one| one.parts.len()).sum::<usize>();
        self.listed.len() + parts
    }

    /// Points of the clouds in it.
    pub fn cloud_points(&self) -> usize {
        let parts = self.standing.iter().flat_map(|one| &one.parts);
        let points =
            parts.filter_map(|(part, _)| cloud_of_body(&body_of(part)).map(|it| it.0.len()));
        points.sum()
    }

    /// What it takes to build the cell, bytes: a generous guess.
    pub fn working_bytes(&self) -> usize {
        /// What a part takes beside its points: its place in the tree.
        const EACH: usize = 1 << 10;
        let robots: Vec<&Robot> = self.robots.iter().map(|(robot, _)| &**robot).collect();
        let of_carried = self.carried.iter().flat_map(|one| &one.parts);
        let of_standing =
            self.standing.iter().flat_map(|one| one.parts.iter().map(|(part, _)| part));
        let parts: Vec<&Part> = of_carried.chain(of_standing).collect();
        let links = self.listed.len() - self.standing.len();
        let counts = [links, parts.len(), self.book.set_margins().len()];
        let of_robots = || robots.iter().flat_map(|robot| &robot.parts).map(|part| &part.body);
        let has_meshes = parts.iter().any(|part| part.is_mesh())
            || of_robots().any(|body| body.mesh().is_some());
        let points = parts.iter().map(|part| part.vertex_count() as usize).sum();
        let solids = if has_meshes { Cell::bytes_of_solids(of_robots(), points) } else { 0 };
        EACH * parts.len()
            + Cell::bytes_of_robots(&robots)
            + Cell::bytes_of_pairs(counts)
            + PointCloud::building_bytes(self.cloud_points())
            + solids
    }

    /// How many of the bodies, which come first, are links of these robots or carried by them.
    fn moving_count(&self) -> usize {
        self.listed.len() - self.standing.len()
    }

    /// Whether two bodies are asked about each other, by the numbers of [`Surroundings`].
    fn is_asked(&self, [a, b]: [usize; 2]) -> bool {
        let key = PairKey::new(self.listed[a], self.listed[b]);
        let is_joined =
            || self.has_adjacent_links && self.joined.binary_search(&[a.min(b), a.max(b)]).is_ok();
        self.book.is_enabled(key) || is_joined() && self.book.is_enabled_but_for_robots(key)
    }

    /// The pairs that have a margin of their own and that a configuration may change, metres; by
    /// the numbers of [`Surroundings`].
    fn set_margins(&self) -> Vec<([usize; 2], f64)> {
        let mut places: BTreeMap<u32, Range<usize>> = BTreeMap::new();
        for (place, index) in self.listed.iter().enumerate() {
            // What a body has several numbers for stands still, and they are in a row.
            places.entry(*index).and_modify(|known| known.end += 1).or_insert(place..place + 1);
        }
        let first_standing = self.moving_count();
        let set = self.book.set_margins().filter_map(|(key, margin)| {
            let pair = [places.get(&key.p)?.clone(), places.get(&key.q)?.clone()];
            pair.iter().any(|one| one.start < first_standing).then_some((pair, margin))
        });
        let of_numbers = |([p, q], margin): ([Range<usize>; 2], f64)| {
            p.flat_map(move |a| q.clone().map(move |b| ([a, b], margin)))
        };
        set.flat_map(of_numbers).collect()
    }

    /// Builds the cell; takes a while. Clouds that a cell of the scene had `before` are taken over.
    pub fn build(
        self,
        before: Option<&PlanningCell>,
        effort: &Effort<'_>,
    ) -> Result<PlanningCell, NoPlanningCell> {
        let names = Some(self.names.clone());
        self.built(before, Numbering { names, left_out: Vec::new() }, effort)
    }

    fn built(
        mut self,
        before: Option<&PlanningCell>,
        Numbering { names: told, left_out }: Numbering,
        effort: &Effort<'_>,
    ) -> Result<PlanningCell, NoPlanningCell> {
        let carried = std::mem::take(&mut self.carried);
        let first_standing = self.moving_count();
        let set_margins = self.set_margins();
        let standing = std::mem::take(&mut self.standing);
        let (copy, names) = (&self, &self.names);
        let first_carried = first_standing - carried.len();
        let mut clouds = Clouds { before, known: Vec::new() };
        let mut hung = Vec::with_capacity(carried.len());
        for (one, name) in carried.into_iter().zip(&names[first_carried..]) {
            let CarriedCopy { robot, frame, frame_from_body, parts } = one;
            let parts: Result<Vec<_>, _> = parts
                .iter()
                .map(|part| Ok((moving_part(part, BodyId(*name))?, part.body_from_part)))
                .collect::<Result<_, NoPlanningCell>>();
            hung.push(HungBody { robot, frame, frame_from_body, parts: parts? });
        }
        let mut around = Vec::with_capacity(standing.len());
        for (one, name) in standing.into_iter().zip(&names[first_standing..]) {
            let mut parts = Vec::with_capacity(one.parts.len());
            for (part, pose) in one.parts {
                let body = clouds.standing_part(&part, BodyId(*name), effort)?;
                parts.push(StillBody { body, pose });
            }
            around.push(StandingBody { parts });
        }
        let surroundings = Surroundings {
            hung,
            standing: around,
            own_margins: copy.listed.iter().map(|index| copy.book.own_margin(*index)).collect(),
            set_margins,
            left_out,
            is_asked: &|pair| copy.is_asked(pair),
            names: told,
        };
        let instances: Vec<Instance<'_>> = copy
            .robots
            .iter()
            .map(|(robot, base)| Instance { robot, world_from_base: *base })
            .collect();
        let cell = Cell::within(&instances, surroundings, effort)?;
        Ok(PlanningCell { cell: Arc::new(cell), clouds: clouds.known })
    }
}

/// A part that a robot carries.
fn moving_part(part: &Part, body: BodyId) -> Result<PartBody, NoPlanningCell> {
    let made = PartBody::in_place(&body_of(part), Place::RobotPart);
    made.map_err(|refused| NoPlanningCell::NotAnswered { body, what: refused.what.to_owned() })
}

/// The clouds of a cell that is built.
struct Clouds<'a> {
    before: Option<&'a PlanningCell>,
    known: Vec<KnownCloud>,
}

impl Clouds<'_> {
    /// A part that stands still.
    fn standing_part(
        &mut self,
        part: &Part,
        body: BodyId,
        effort: &Effort<'_>,
    ) -> Result<PartBody, NoPlanningCell> {
        effort.look_at_clock()?;
        let whole = body_of(part);
        let refused = |what: String| NoPlanningCell::NotAnswered { body, what };
        let (Some((points, radius)), Some(mesh)) = (cloud_of_body(&whole), &part.mesh) else {
            let made = PartBody::in_place(&whole, Place::Obstacle);
            return made.map_err(|why| refused(why.what.to_owned()));
        };
        let before = self.before.iter().flat_map(|before| &before.clouds);
        let known = before.chain(&self.known).find(|known| known.is_of(mesh, radius));
        let built = match known {
            Some(known) => known.built.clone(),
            None => {
                let made = PointCloud::new(points.to_vec(), radius, effort);
                BoxedCloud::new(Arc::new(made.map_err(|error| match error {
                    CloudError::Stopped(why) => NoPlanningCell::Stopped(why),
                    CloudError::BadPoint { .. }
                    | CloudError::BadRadius
                    | CloudError::Empty
                    | CloudError::TooMany
                    | CloudError::NoSuchPoints { .. } => refused(error.to_string()),
                })?))
            }
        };
        self.known.push(KnownCloud { points: mesh.clone(), built: built.clone() });
        Ok(PartBody::Cloud(built))
    }
}
