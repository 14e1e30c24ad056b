//! How a cell is put together: robots among what stands still, or in surroundings that say which
//! pairs are asked.

use super::cell::{Cell, CellLink, CellPart, Instance, PlacedLink};
use super::claim::LeftOutRule;
use super::kinematics::Kinematics;
use super::model::ConstantPair;
use super::pairing::{HungBody, Pairing, Places, Surroundings};
use super::solids::Solids;
use super::still::{Still, StillBody};
use super::tree::Tree;
use clearance_geometry::effort::{Effort, Stopped};

impl Cell {
    /// Places the robots among what stands still.
    pub fn new(instances: &[Instance<'_>], still: Vec<StillBody>) -> Self {
        let mut body = Assembly::of(instances);
        let (mut link_pairs, mut left_out) = (Vec::new(), Vec::new());
        for (Instance { robot, .. }, places) in instances.iter().zip(&body.places) {
            let place = |link: usize| places[link];
            let mut allowed: Vec<[usize; 2]> = Vec::new();
            for pair in &robot.allowed {
                if let [Some(a), Some(b)] = pair.links.map(place) {
                    allowed.push([a, b]);
                    left_out.extend(pair.rule().map(|rule| ([a, b], rule)));
                }
            }
            allowed.sort_unstable();
            let own: Vec<usize> = places.iter().flatten().copied().collect();
            let before = own.first().copied().unwrap_or_default();
            for b in own {
                // Two robots may meet wherever they can.
                link_pairs.extend((0..before).map(|a| [a, b]));
                let own = (before..b).map(|a| [a, b]);
                link_pairs.extend(own.filter(|pair| allowed.binary_search(pair).is_err()));
            }
        }
        link_pairs.retain(|pair: &[usize; 2]| pair.iter().any(|link| body.moves(*link)));
        link_pairs.shrink_to_fit();
        body.link_pairs = link_pairs;
        body.leave_out(left_out);
        body.among(still, None)
    }

    /// Places the robots in surroundings that say which pairs are asked: of those, all that a
    /// configuration can change. Answers are about the bodies by their names.
    pub fn within(
        instances: &[Instance<'_>],
        mut around: Surroundings<'_>,
        effort: &Effort<'_>,
    ) -> Result<Self, Stopped> {
        let mut body = Assembly::of(instances);
        let mut counts: Vec<usize> = body.links.iter().map(|link| link.parts.len()).collect();
        let Surroundings { hung, standing, .. } = &around;
        for one in hung {
            counts.push(one.parts.len());
            body.hang(one);
        }
        let link_count = body.links.len();
        counts.extend(standing.iter().map(|one| one.parts.len()));
        for b in 0..link_count {
            effort.look_at_clock()?;
            let pairs = (0..b).map(|a| [a, b]);
            let is_asked = |pair: &[usize; 2]| {
                pair.iter().any(|link| body.moves(*link)) && (around.is_asked)(*pair)
            };
            let asked: Vec<[usize; 2]> = pairs.filter(is_asked).collect();
            body.link_pairs.extend(asked);
        }
        body.link_pairs.shrink_to_fit();
        let places = Places {
            link_count,
            part_counts: &counts,
            link_pairs: &body.link_pairs,
            moves: &|link| body.moves(link),
        };
        let pairing = Pairing::new(&around, &places, effort)?;
        body.leave_out(std::mem::take(&mut around.left_out));
        let still = around.standing.into_iter().flat_map(|one| one.parts).collect();
        Ok(body.among(still, Some(Box::new(pairing))))
    }
}

/// Robots on the way to a cell.
struct Assembly {
    kinematics: Kinematics,
    /// By robot, the first frame of its chain.
    first_frames: Vec<usize>,
    /// By robot and link, where the link is among those of the cell; none: it has no part.
    places: Vec<Vec<Option<usize>>>,
    parts: Vec<CellPart>,
    links: Vec<CellLink>,
    placed_links: Vec<PlacedLink>,
    /// Of all robots, whether they are asked or not.
    constant: Vec<ConstantPair>,
    link_pairs: Vec<[usize; 2]>,
    /// See [`Cell`].
    left_out: Vec<([usize; 2], LeftOutRule)>,
}

impl Assembly {
    /// The robots, with no pair that is asked yet.
    fn of(instances: &[Instance<'_>]) -> Self {
        let mut tree = Tree::default();
        let first_frames: Vec<usize> = instances
            .iter()
            .map(|one| tree.append(one.robot.kinematics.tree(), &one.world_from_base)[0])
            .collect();
        let kinematics = Kinematics::new(tree);
        let (mut parts, mut links, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let (mut placed_links, mut constant) = (Vec::new(), Vec::new());
        for (Instance { robot, world_from_base }, first_frame) in
            instances.iter().zip(&first_frames)
        {
            let mut place = vec![None; robot.links.len()];
            let on_base = |one: &ConstantPair| one.on_base(parts.len(), world_from_base);
            constant.extend(robot.constant.iter().map(on_base));
            for (index, link) in robot.links.iter().enumerate() {
                let first = parts.len();
                let frame = link.frame.map(|frame| frame + first_frame);
                let frame_from_link = match frame {
                    Some(_) => link.frame_from_link,
                    None => world_from_base.compose(&link.frame_from_link),
                };
                placed_links.push(PlacedLink { frame, frame_from_link });
                for part in &robot.parts[link.parts.clone()] {
                    let frame_from_part = match link.frame {
                        Some(_) => part.frame_from_part,
                        None => world_from_base.compose(&part.frame_from_part),
                    };
                    let body = part.body.clone();
                    parts.push(CellPart::new(body, frame_from_part, &kinematics, frame));
                }
                let Some(link) = CellLink::new(frame, first..parts.len(), &parts) else { continue };
                place[index] = Some(links.len());
                links.push(link);
            }
            places.push(place);
        }
        let (link_pairs, left_out) = (Vec::new(), Vec::new());
        Self {
            kinematics,
            first_frames,
            places,
            parts,
            links,
            placed_links,
            constant,
            link_pairs,
            left_out,
        }
    }

    /// Keeps of these pairs, in any order, those that a joint may change, each with the first of
    /// its rules.
    fn leave_out(&mut self, mut pairs: Vec<([usize; 2], LeftOutRule)>) {
        let frame = |body: usize| self.links.get(body).and_then(|link| link.frame);
        pairs.retain(|([a, b], _)| frame(*a) != frame(*b));
        pairs.sort_unstable();
        pairs.dedup_by_key(|(pair, _)| *pair);
        pairs.shrink_to_fit();
        self.left_out = pairs;
    }

    /// Hangs a body on a robot: it is a link like any other from then on.
    fn hang(&mut self, one: &HungBody) {
        let frame = self.first_frames[one.robot] + one.frame;
        let first = self.parts.len();
        for (body, pose) in &one.parts {
            let (body, at) = (body.clone(), &one.frame_from_body);
            self.parts.push(CellPart::hung(body, *pose, at, &self.kinematics, frame));
        }
        let parts = first..self.parts.len();
        self.links.extend(CellLink::new(Some(frame), parts, &self.parts));
    }

    fn moves(&self, link: usize) -> bool {
        self.links[link].frame.is_some()
    }

    fn among(self, still: Vec<StillBody>, pairing: Option<Box<Pairing>>) -> Cell {
        let Self { kinematics, parts, links, placed_links, mut constant, link_pairs, .. } = self;
        let left_out = self.left_out;
        // Pairs of links are in order of the second.
        let link_of = |part: u32| links.partition_point(|link| link.parts.end <= part as usize);
        constant.retain(|one| {
            let [a, b] = one.pair.map(link_of);
            link_pairs.binary_search_by_key(&(b, a), |[a, b]| (*b, *a)).is_ok()
        });
        constant.shrink_to_fit();
        let of_parts = parts.iter().map(|part| &part.body);
        let of_still = still.iter().map(|still| &still.body);
        let solids = Solids::new(of_parts.chain(of_still), parts.len());
        let still = Still::new(still);
        Cell {
            kinematics,
            parts,
            links,
            placed_links,
            constant,
            link_pairs,
            still,
            solids,
            slack: 0.0,
            pairing,
            left_out,
        }
    }
}
