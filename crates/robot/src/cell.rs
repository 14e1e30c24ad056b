//! A cell: robots that stand somewhere, what stands still around them, and which pairs of all these
//! need a check.
//!
//! Bodies of a cell are numbered: the parts of the first robot, those of the next one, ..., then
//! what stands still. Pairs that no configuration can change are not checked: two that stand still,
//! or a link that no joint moves and what stands still.

use std::ops::Range;

use super::ball::OuterBall;
use super::body::PartBody;
use super::claim::LeftOutRule;
use super::cloud::CloudChange;
use super::kinematics::Kinematics;
use super::model::{ConstantPair, Robot};
use super::pairing::{PairScope, Pairing};
use super::solids::Solids;
use super::still::{Still, polytope_bytes};
use super::tree::Variable;
use clearance_geometry::cloud::CloudError;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;

/// Certificates of edges are made beside clouds of so many points in all, at most: whoever checks
/// one looks at all of them in each piece.
pub const CLAIMED_POINTS_MAX: usize = 1 << 16;

/// A robot and where its base stands.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// The robot itself.
    pub robot: &'a Robot,
    /// Where its base is in the world.
    pub world_from_base: Pose,
}

/// A part of a robot in a cell.
#[derive(Clone, Debug)]
pub(super) struct CellPart {
    pub(super) body: PartBody,
    /// In the frame of its link; of a link that nothing moves, in the world.
    pub(super) frame_from_part: Pose,
    /// Of a part of what hangs on a link: where the body is in that frame, and the part in the
    /// body. A configuration puts it by these two, one after the other.
    hung: Option<Box<[Pose; 2]>>,
    /// Around its hull, without the balls around the points of this.
    pub(super) ball: OuterBall,
    /// At least the skew of where a configuration puts it.
    pub(super) skew: f64,
}

impl CellPart {
    /// A part in a frame of the chain; none: in the world.
    pub(super) fn new(
        body: PartBody,
        frame_from_part: Pose,
        kinematics: &Kinematics,
        frame: Option<usize>,
    ) -> Self {
        let ball = OuterBall::of(body.hull(), &frame_from_part);
        let skew = kinematics.placed_skew(frame, &frame_from_part);
        Self { body, frame_from_part, hung: None, ball, skew }
    }

    /// A part of a body that hangs on a frame of the chain.
    ///
    /// One composition more rounds by some units of the reach. All bounds have room for that: those
    /// of balls and boxes are ten thousand such units wide, those of skews and paths count four
    /// times what a frame of the chain rounds by, and twice that for the part.
    pub(super) fn hung(
        body: PartBody,
        body_from_part: Pose,
        frame_from_body: &Pose,
        kinematics: &Kinematics,
        frame: usize,
    ) -> Self {
        let frame_from_part = frame_from_body.compose(&body_from_part);
        let hung = Some(Box::new([*frame_from_body, body_from_part]));
        Self { hung, ..Self::new(body, frame_from_part, kinematics, Some(frame)) }
    }

    /// Whether it is one of several poses in a body that hangs on a frame: a certificate has one
    /// pose for each part, and one composition more rounds otherwise.
    pub(super) fn is_in_a_body(&self) -> bool {
        self.hung.as_ref().is_some_and(|hung| hung[1] != Pose::identity())
    }

    /// Where it is while the frame that moves it is there.
    #[inline(always)]
    pub(super) fn placed(&self, frame: &Pose) -> Pose {
        match &self.hung {
            None => frame.compose(&self.frame_from_part),
            Some(hung) => frame.compose(&hung[0]).compose(&hung[1]),
        }
    }
}

/// A link of a robot in a cell, with its parts.
#[derive(Clone, Debug)]
pub(super) struct CellLink {
    /// The frame that moves it; none: it stands still.
    pub(super) frame: Option<usize>,
    pub(super) parts: Range<usize>,
    /// Around the hulls of all parts: what moves along a path.
    pub(super) ball: OuterBall,
    /// At least that of the balls around the points of any part, metres.
    pub(super) radius: f64,
}

impl CellLink {
    /// A link with these parts of the cell; none: it has none.
    pub(super) fn new(frame: Option<usize>, parts: Range<usize>, all: &[CellPart]) -> Option<Self> {
        let of_link = || all[parts.clone()].iter();
        let ball = of_link().map(|part| part.ball).reduce(OuterBall::joined)?;
        let radius = of_link().map(|part| part.body.radius()).fold(0.0, f64::max);
        Some(Self { frame, parts, ball, radius })
    }
}

/// A link of a robot in a cell: the frame that moves it, and where it is in that. None: it stands
/// still, there in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedLink {
    pub(super) frame: Option<usize>,
    pub(super) frame_from_link: Pose,
}

impl PlacedLink {
    /// Where it is while the frames are there.
    pub(super) fn placed(&self, frames: &[Pose]) -> Pose {
        match self.frame {
            Some(frame) => frames[frame].compose(&self.frame_from_link),
            None => self.frame_from_link,
        }
    }
}

/// Robots and what stands still around them, ready for questions.
#[derive(Clone, Debug)]
pub struct Cell {
    pub(super) kinematics: Kinematics,
    pub(super) parts: Vec<CellPart>,
    pub(super) links: Vec<CellLink>,
    /// Every link, with parts or without.
    pub(super) placed_links: Vec<PlacedLink>,
    /// Pairs whose clearance no joint value changes, in order.
    pub(super) constant: Vec<ConstantPair>,
    /// Pairs of links, of one robot or of two, that need a check.
    pub(super) link_pairs: Vec<[usize; 2]>,
    pub(super) still: Still,
    /// By body; none: all are polytopes.
    pub(super) solids: Option<Solids>,
    /// How far, in all, two bodies may be from where a path puts them, metres.
    pub(super) slack: f64,
    /// Which pairs are asked, by whoever declared the cell; none: all but the allowed ones.
    pub(super) pairing: Option<Box<Pairing>>,
    /// Pairs that a joint may change and that a rule leaves out: of links, and of what stands still
    /// by the numbers after all links; the lower number first, each pair once. Of scenes there are
    /// none.
    pub(super) left_out: Vec<([usize; 2], LeftOutRule)>,
}

/// What a frame of the chain takes: itself, and the matrices that are made of it.
const FRAME_BYTES: usize = 1 << 10;
/// What a joint value takes beside its name: limits and units.
const VARIABLE_BYTES: usize = 128;

/// What these joint values take.
fn variable_bytes(variables: &[Variable]) -> usize {
    variables.iter().map(|one| VARIABLE_BYTES + one.name.len()).sum()
}

/// What a pair takes that a rule leaves out.
pub const LEFT_OUT_BYTES: usize = size_of::<([usize; 2], LeftOutRule)>();

/// Which bodies a pair is made of, the lower number first.
pub type BodyPair = [u32; 2];

impl Cell {
    /// Memory that a cell of these robots takes while it is built, bytes at most, but for their
    /// polytopes. Sixteen robots of a thousand links have 128 million pairs of links.
    pub fn bytes_of_robots(robots: &[&Robot]) -> usize {
        let sum = |of: fn(&Robot) -> usize| robots.iter().map(|robot| of(robot)).sum::<usize>();
        let links = sum(|robot| robot.links.iter().filter(|link| !link.parts.is_empty()).count());
        // A list that grows has room for twice as much.
        let allowed = sum(|robot| robot.allowed.len());
        2 * size_of::<[usize; 2]>() * (links * links / 2 + allowed)
            + 2 * LEFT_OUT_BYTES * allowed
            + 2 * size_of::<CellLink>() * links
            + 2 * size_of::<CellPart>() * sum(|robot| robot.parts.len())
            + 2 * size_of::<PlacedLink>() * sum(|robot| robot.links.len())
            + 2 * size_of::<ConstantPair>() * sum(|robot| robot.constant.len())
            + FRAME_BYTES * sum(|robot| robot.kinematics.tree().frames.len())
            + sum(|robot| variable_bytes(&robot.kinematics.tree().variables))
    }

    /// Joint values of a configuration: those of all robots in a row.
    pub fn variable_count(&self) -> usize {
        self.kinematics.tree().variables.len()
    }

    /// The joints that move, of all robots.
    pub fn kinematics(&self) -> &Kinematics {
        &self.kinematics
    }

    /// Parts of robots; what stands still has the numbers from this one on.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Pairs of bodies that a configuration is checked for.
    pub fn pair_count(&self) -> usize {
        self.covered_count(PairScope::All)
    }

    /// How many of these a question about such pairs is about.
    pub fn covered_count(&self, scope: PairScope) -> usize {
        let of_link = |link: usize| self.links[link].parts.len();
        let moving = self.links.iter().filter(|link| link.frame.is_some());
        let with_all = || moving.map(|link| link.parts.len() * self.still.bodies().len()).sum();
        let with_still: usize =
            self.pairing.as_ref().map_or_else(with_all, |pairing| pairing.still_pairs());
        let among: usize = self.link_pairs.iter().map(|[a, b]| of_link(*a) * of_link(*b)).sum();
        with_still * usize::from(scope.has_world()) + among * usize::from(scope.has_links())
    }

    /// Every one of those pairs.
    pub fn pairs(&self) -> Vec<BodyPair> {
        let body = |index: usize| u32::try_from(index).expect("bodies are limited at the door");
        let mut all = Vec::with_capacity(self.pair_count());
        for (index, link) in self.links.iter().enumerate().filter(|(_, it)| it.frame.is_some()) {
            for part in link.parts.clone() {
                let still = self.still_asked(index).map(|k| self.parts.len() + k);
                all.extend(still.map(|other| [body(part), body(other)]));
            }
        }
        for [a, b] in &self.link_pairs {
            for part in self.links[*a].parts.clone() {
                all.extend(self.links[*b].parts.clone().map(|other| [body(part), body(other)]));
            }
        }
        all
    }

    /// What stands still that a link which moves is asked about.
    pub(super) fn still_asked(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.still.bodies().len()).filter(move |still| self.asks(link, *still))
    }

    /// Whether a link is asked about what stands still.
    #[inline(always)]
    pub(super) fn asks(&self, link: usize, still: usize) -> bool {
        self.pairing.as_ref().is_none_or(|pairing| pairing.is_asked(link, still))
    }

    /// Whether some pairs count as near within a margin of their own.
    pub fn has_margins(&self) -> bool {
        self.pairing.as_ref().is_some_and(|pairing| pairing.has_margins())
    }

    /// Whether some pairs may count as near only where they are so deep in each other: whether a
    /// margin of theirs may be below 0.
    pub fn has_deep_margins(&self) -> bool {
        self.pairing.as_ref().is_some_and(|pairing| pairing.has_deep_margins())
    }

    /// Whether edges that are asked about within this margin ask of a pair how deep it is.
    pub fn asks_depths(&self, margin: f64) -> bool {
        margin < 0.0 || margin <= 0.0 && self.has_deep_margins()
    }

    /// At least the margins of all pairs, metres, and at least 0.
    pub(super) fn most_margin(&self) -> f64 {
        self.pairing.as_ref().map_or(0.0, |pairing| pairing.most())
    }

    /// At least those of a link with what stands still, metres.
    pub(super) fn most_margin_of(&self, link: usize) -> f64 {
        self.pairing.as_ref().map_or(0.0, |pairing| pairing.most_of_link(link))
    }

    /// The margin of a pair of links, by its place in the list of pairs, metres.
    pub(super) fn margin_of_links(&self, pair: usize) -> f64 {
        self.pairing.as_ref().map_or(0.0, |pairing| pairing.margin_of_links(pair))
    }

    /// The margin of a pair of which the first is a part of a robot, metres.
    pub(super) fn margin_of(&self, [a, b]: BodyPair) -> f64 {
        let Some(pairing) = self.pairing.as_ref().filter(|it| it.has_margins()) else { return 0.0 };
        let Some(first) = self.link_index(a) else { return 0.0 };
        let Some(second) = self.link_index(b) else {
            return pairing.margin_of_still(first, b as usize - self.parts.len());
        };
        // Of two links only those that are asked have one; they are listed in order of the second.
        let key = |[a, b]: &[usize; 2]| (*b, *a);
        let wanted = key(&[first.min(second), first.max(second)]);
        let at = self.link_pairs.binary_search_by_key(&wanted, key);
        at.map_or(0.0, |at| pairing.margin_of_links(at))
    }

    /// Two bodies of an answer as whoever declared the cell calls them.
    #[inline(always)]
    pub fn named(&self, pair: BodyPair) -> BodyPair {
        self.pairing.as_ref().map_or(pair, |pairing| pairing.named(pair))
    }

    /// Whether bodies of answers have several parts and a name for all of them.
    pub fn names_bodies(&self) -> bool {
        self.pairing.as_ref().is_some_and(|pairing| pairing.has_names())
    }

    /// Whether more than robots and what stands still says which pairs are asked, and how.
    pub fn has_rules(&self) -> bool {
        self.pairing.is_some()
    }

    /// The parts of the body that a part belongs to, where bodies have names.
    pub(super) fn parts_of_body(&self, part: u32) -> Range<usize> {
        if let Some(link) = self.link_of(part) {
            return link.parts.clone();
        }
        let at = part as usize;
        self.pairing.as_ref().map_or(at..at + 1, |pairing| pairing.parts_beside(at))
    }

    /// Memory that the pairs of so many links and parts that stand still take, with so many margins
    /// of single pairs, bytes at most.
    pub fn bytes_of_pairs(counts: [usize; 3]) -> usize {
        let [links, ..] = counts;
        let pairs = links.saturating_mul(links).saturating_mul(size_of::<[usize; 2]>());
        pairs.saturating_add(Pairing::bytes_of(counts))
    }

    /// Pairs whose clearance no joint value changes, in order.
    pub fn constant_pairs(&self) -> &[ConstantPair] {
        &self.constant
    }

    /// Whether a pair is one of these.
    #[inline(always)]
    pub(super) fn is_constant(&self, pair: BodyPair) -> bool {
        !self.constant.is_empty()
            && self.constant.binary_search_by_key(&pair, |one| one.pair).is_ok()
    }

    /// Every body, by its number, where a configuration puts it: the polytope that it is, without
    /// balls around its points, or the hull of the mesh that it is, and its twelve numbers. The
    /// configuration is one that [`Kinematics::check`] accepts.
    pub fn placed_hulls(&self, values: &[f64]) -> Vec<(&Polytope, Pose)> {
        let frames = self.kinematics.place_one(values);
        let pose = |link: &CellLink, part: &CellPart| match link.frame {
            Some(frame) => part.placed(&frames[frame]),
            None => part.frame_from_part,
        };
        let parts = self.links.iter().flat_map(|link| {
            let parts = self.parts[link.parts.clone()].iter();
            parts.map(move |part| (&**part.body.hull(), pose(link, part)))
        });
        let still = self.still.bodies().iter().map(|still| (&**still.body.hull(), still.pose));
        parts.chain(still).collect()
    }

    /// Memory that it takes, estimated, with the polytopes and meshes of its parts and of what
    /// stands still.
    pub fn heap_bytes(&self) -> usize {
        let frames = self.kinematics.tree().frames.len() * FRAME_BYTES;
        let names = variable_bytes(&self.kinematics.tree().variables);
        let lists = size_of_val(self.parts.as_slice())
            + size_of_val(self.links.as_slice())
            + size_of_val(self.link_pairs.as_slice())
            + size_of_val(self.placed_links.as_slice())
            + size_of_val(self.left_out.as_slice())
            + size_of_val(self.constant.as_slice());
        let parts = self.parts.iter().map(|part| polytope_bytes(part.body.hull()));
        let solids = self.solids.as_ref().map_or(0, Solids::heap_bytes);
        let pairing = self.pairing.as_ref().map_or(0, |pairing| pairing.heap_bytes());
        frames + names + lists + parts.sum::<usize>() + self.still.heap_bytes() + solids + pairing
    }

    /// Links with parts that a joint moves.
    pub fn moving_link_count(&self) -> usize {
        self.links.iter().filter(|link| link.frame.is_some()).count()
    }

    /// What is made of polytopes beside regions in one cell, of these and of others with so many
    /// points, bytes at most.
    pub fn bytes_of_solids<'a>(
        bodies: impl Iterator<Item = &'a PartBody>,
        other_points: usize,
    ) -> usize {
        let polytopes = bodies.filter_map(PartBody::polytope);
        let points = polytopes.map(|polytope| polytope.vertices().len()).sum::<usize>();
        Solids::bytes_to_make(points + other_points)
    }

    /// What a question about one configuration takes while it is answered, bytes at most, where
    /// bodies are meshes.
    pub fn bytes_of_question(&self) -> usize {
        self.solids.as_ref().map_or(0, Solids::bytes_of_question)
    }

    /// Whether a body is a mesh.
    pub fn has_meshes(&self) -> bool {
        self.solids.is_some()
    }

    /// How long the faces of meshes may take in a configuration, nanoseconds: a generous guess.
    pub fn nanoseconds_of_faces(&self) -> u64 {
        self.solids.as_ref().map_or(0, Solids::nanoseconds)
    }

    /// Whether one of what stands still is a cloud.
    pub fn has_clouds(&self) -> bool {
        !self.still.clouds().is_empty()
    }

    /// How many points its clouds have.
    pub fn points_of_clouds(&self) -> usize {
        let bodies = self.still.bodies().iter();
        bodies.filter_map(|still| still.body.cloud()).map(|it| it.cloud().points().len()).sum()
    }

    /// What [`Cell::with_faced_clouds`] takes, bytes: a generous guess.
    pub fn bytes_with_faced_clouds(&self) -> usize {
        /// Its place in the list of faces, in the tree and in the groups that a search has open.
        const EACH: usize = 1 << 10;
        if self.has_clouds() { self.heap_bytes() + EACH * self.points_of_clouds() } else { 0 }
    }

    /// The same cell as certificates of edges are about it: to them each point of a cloud is a face
    /// of its own. None: it has no cloud.
    pub fn with_faced_clouds(&self, effort: &mut Effort<'_>) -> Result<Option<Self>, Stopped> {
        if !self.has_clouds() {
            return Ok(None);
        }
        let mut bodies = self.still.bodies().to_vec();
        for still in &mut bodies {
            if let Some(cloud) = still.body.cloud() {
                still.body = PartBody::faced(cloud, effort)?;
            }
        }
        let still = Still::new(bodies);
        let of_still = still.bodies().iter().map(|one| &one.body);
        let parts = self.parts.iter().map(|part| &part.body);
        let solids = Solids::new(parts.chain(of_still), self.parts.len());
        Ok(Some(Self { still, solids, ..self.clone() }))
    }

    /// How long its clouds may take in a configuration, nanoseconds: a generous guess.
    pub fn nanoseconds_of_clouds(&self) -> u64 {
        const EACH: u64 = 50_000;
        EACH * self.still.clouds().len() as u64
    }

    /// Takes points of a cloud out and puts others in their place, see [`PointCloud::splice`];
    /// none: that obstacle is no cloud. Cells that share the cloud keep it as it was.
    ///
    /// [`PointCloud::splice`]: clearance_geometry::cloud::PointCloud::splice
    pub fn change_cloud(
        &mut self,
        obstacle: usize,
        change: &CloudChange<'_>,
        effort: &Effort<'_>,
    ) -> Option<Result<(), CloudError>> {
        self.still.change_cloud(obstacle, |cloud| cloud.change(change, effort))
    }

    /// Points of a cloud; none: that obstacle is no cloud.
    pub fn cloud_points(&self, obstacle: usize) -> Option<usize> {
        let body = &self.still.bodies().get(obstacle)?.body;
        body.cloud().map(|cloud| cloud.cloud().points().len())
    }

    /// The first pair of a polyhedron and a polytope without volume: how these stand is not
    /// answered.
    pub fn flat_beside_polyhedron(&self) -> Option<BodyPair> {
        let solids = self.solids.as_ref()?;
        let is_cloud = |body: u32| {
            let still = (body as usize).checked_sub(self.parts.len());
            still.is_some_and(|still| self.still.clouds().contains(&still))
        };
        let is_such = |pair: &BodyPair| {
            !pair.iter().any(|body| is_cloud(*body))
                && solids.is_flat_beside_region(pair.map(|b| b as usize))
        };
        self.pairs().into_iter().find(is_such)
    }

    /// Parts of robots, and what stands still.
    pub fn body_count(&self) -> usize {
        self.parts.len() + self.still.bodies().len()
    }

    /// The polytope with this number, or the hull of the mesh.
    pub(super) fn hull(&self, body: u32) -> &Polytope {
        self.body(body).hull()
    }

    /// The body with this number.
    #[inline(always)]
    pub(super) fn body(&self, body: u32) -> &PartBody {
        match self.parts.get(body as usize) {
            Some(part) => &part.body,
            None => &self.still.bodies()[body as usize - self.parts.len()].body,
        }
    }

    /// The link of a part; none: a body that stands still.
    pub(super) fn link_of(&self, body: u32) -> Option<&CellLink> {
        self.link_index(body).map(|link| &self.links[link])
    }

    /// The index of that.
    pub(super) fn link_index(&self, body: u32) -> Option<usize> {
        let body = body as usize;
        // Links stand in the order of their parts.
        let after = self.links.partition_point(|link| link.parts.end <= body);
        self.links.get(after).filter(|link| link.parts.contains(&body)).map(|_| after)
    }
}
