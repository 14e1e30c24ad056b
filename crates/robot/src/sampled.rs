//! Pairs of a robot's links in sampled configurations: how many of these have the two in contact.
//!
//! A configuration follows from a seed and its number alone, so neither threads nor how many are
//! looked at at once change a count. What samples show is no proof: two links that are in contact
//! in none of them may meet between them.

use std::ops::Range;

use super::cell::{Cell, Instance};
use super::check::{CheckMode, CheckQuestion, Checked};
use super::model::{AllowedReason, Robot};
use super::pairing::Surroundings;
use super::tree::{Unit, Variable};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::hull::samples::{Random, split_mix};
use clearance_geometry::pose::Pose;

/// Half the range of an angle without limits, radians.
const TURN: f64 = std::f64::consts::PI;

/// Half the range of a length without limits, metres.
const WAY: f64 = 1.0;

/// Configurations that are looked at before they are counted.
const AT_ONCE: usize = 64;

/// How many samples show what of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCount {
    /// The two are in contact.
    pub in_contact: u32,
    /// That is open: one is curved, and they are nearer to contact than is resolved.
    pub open: u32,
}

/// A pair of links with parts that some joint moves against each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPair {
    /// Their indices, the lower one first.
    pub links: [usize; 2],
    /// Why they need no check as it is; none: they do.
    pub allowed: Option<AllowedReason>,
    /// Whether no joint value changes the clearance of any of their parts, which are apart.
    pub is_constant: bool,
}

/// A robot alone, of which all pairs of links are asked that a configuration can change.
#[derive(Clone, Debug)]
pub struct SampledRobot {
    cell: Cell,
    /// By the links, in order.
    pairs: Vec<LinkPair>,
}

impl SampledRobot {
    /// Makes it ready; looks at the clock once a link.
    pub fn new(robot: &Robot, effort: &Effort<'_>) -> Result<Self, Stopped> {
        let with_parts: Vec<usize> =
            (0..robot.links.len()).filter(|link| !robot.links[*link].parts.is_empty()).collect();
        let moves = |[a, b]: [usize; 2]| {
            let [a, b] = [with_parts[a], with_parts[b]].map(|link| robot.links[link].frame);
            a != b
        };
        let names = with_parts.iter().map(|link| u32::try_from(*link).unwrap_or(u32::MAX));
        let around = Surroundings {
            hung: Vec::new(),
            standing: Vec::new(),
            names: Some(names.collect()),
            is_asked: &moves,
            own_margins: vec![0.0; with_parts.len()],
            set_margins: Vec::new(),
            left_out: Vec::new(),
        };
        let instance = Instance { robot, world_from_base: Pose::identity() };
        let cell = Cell::within(&[instance], around, effort)?;
        let mut pairs = Vec::new();
        for a in 0..with_parts.len() {
            effort.look_at_clock()?;
            let others = (a + 1..with_parts.len()).filter(|b| moves([a, *b]));
            pairs.extend(others.map(|b| link_pair(robot, [with_parts[a], with_parts[b]])));
        }
        Ok(Self { cell, pairs })
    }

    /// What it takes beside its cell while it is made, bytes at most, of a robot with so many links
    /// with parts.
    pub fn bytes_of(links: usize) -> usize {
        // A list that grows has room for twice as much.
        links.saturating_mul(links).saturating_mul(size_of::<LinkPair>())
    }

    /// The robot alone.
    pub fn cell(&self) -> &Cell {
        &self.cell
    }

    /// The pairs, by their links.
    pub fn pairs(&self) -> &[LinkPair] {
        &self.pairs
    }

    /// What the samples of these numbers show of each pair.
    pub fn count(
        &self,
        seed: u64,
        numbers: Range<u64>,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<PairCount>, Stopped> {
        let variables = &self.cell.kinematics().tree().variables;
        let question = CheckQuestion { mode: CheckMode::AllPairs, ..CheckQuestion::default() };
        let mut counts = vec![PairCount::default(); self.pairs.len()];
        let place = |pair: [u32; 2]| {
            let links = [pair[0].min(pair[1]), pair[0].max(pair[1])].map(|link| link as usize);
            self.pairs.binary_search_by_key(&links, |pair| pair.links)
        };
        for first in numbers.clone().step_by(AT_ONCE) {
            let some = first..numbers.end.min(first + AT_ONCE as u64);
            let values: Vec<f64> =
                some.flat_map(|number| configuration(variables, seed, number)).collect();
            for checked in self.cell.check(question, &values, effort) {
                let (contacts, open) = match checked {
                    Checked::Contact(contacts) => (contacts, Vec::new()),
                    Checked::Open { contacts, pairs } => (contacts, pairs),
                    Checked::Stopped(why) => return Err(why),
                    Checked::Free | Checked::Clearance(_) | Checked::Below(_) | Checked::Bad(_) => {
                        continue;
                    }
                };
                for (pair, _) in contacts {
                    place(pair).into_iter().for_each(|at| counts[at].in_contact += 1);
                }
                for pair in open {
                    place(pair).into_iter().for_each(|at| counts[at].open += 1);
                }
            }
        }
        Ok(counts)
    }
}

fn link_pair(robot: &Robot, links: [usize; 2]) -> LinkPair {
    let known = robot.allowed.binary_search_by_key(&links, |pair| pair.links);
    let allowed = known.ok().map(|at| robot.allowed[at].reason.clone());
    let [first, second] = links.map(|link| robot.links[link].parts.clone());
    let is_constant = first.clone().all(|a| {
        second.clone().all(|b| {
            let pair = [a.min(b), a.max(b)].map(|part| u32::try_from(part).unwrap_or(u32::MAX));
            robot.constant.binary_search_by_key(&pair, |one| one.pair).is_ok()
        })
    });
    LinkPair { links, allowed, is_constant }
}

/// The configuration of this number: every value evenly in its range, a turn or two metres where it
/// has no limits. Components of a quaternion are evenly in a cube.
pub fn configuration(variables: &[Variable], seed: u64, number: u64) -> Vec<f64> {
    let mut state = seed;
    let mut state = split_mix(&mut state) ^ number;
    let mut random = Random::new(split_mix(&mut state));
    let value = |one: &Variable| {
        let half = match one.unit {
            Unit::Radians => TURN,
            Unit::Metres | Unit::Quaternion => WAY,
        };
        let (low, high) = match (one.lower.is_finite(), one.upper.is_finite()) {
            (true, true) => (one.lower, one.upper),
            (true, false) => (one.lower, one.lower + 2.0 * half),
            (false, true) => (one.upper - 2.0 * half, one.upper),
            (false, false) => (-half, half),
        };
        random.between(low, high).clamp(low, high)
    };
    variables.iter().map(value).collect()
}
