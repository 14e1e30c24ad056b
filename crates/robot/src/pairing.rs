//! Cells with rules of their own: which pairs are checked, within which distance they count, and
//! what hangs on links. A session calls its bodies by its own numbers beside that.

use std::collections::BTreeMap;
use std::ops::Range;

use super::body::PartBody;
use super::claim::LeftOutRule;
use super::still::StillBody;
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::pose::Pose;

/// Which of the pairs that are checked a question is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairScope {
    /// All of them.
    #[default]
    All,
    /// Those with what stands still.
    World,
    /// Those among links and what hangs on them.
    Links,
}

impl PairScope {
    /// Whether pairs with what stands still are asked.
    pub(super) fn has_world(self) -> bool {
        self != Self::Links
    }

    /// Whether pairs of links are asked.
    pub(super) fn has_links(self) -> bool {
        self != Self::World
    }
}

/// What hangs on a frame of a robot and moves with it.
#[derive(Clone, Debug)]
pub struct HungBody {
    /// The place of the robot among those of the cell.
    pub robot: usize,
    /// The frame of its own chain.
    pub frame: usize,
    /// Where the body is in that frame.
    pub frame_from_body: Pose,
    /// Its parts, each with where it is in the body; at least one.
    pub parts: Vec<(PartBody, Pose)>,
}

/// A body that stands still, by its parts.
#[derive(Clone, Debug)]
pub struct StandingBody {
    /// At least one, in the world.
    pub parts: Vec<StillBody>,
}

/// What is around the robots of a cell, and what is asked of which pairs.
///
/// Bodies are numbered here: the links with parts of the first robot, those of the next one, ...,
/// then what hangs on them, then what stands still.
pub struct Surroundings<'a> {
    /// What hangs on the robots.
    pub hung: Vec<HungBody>,
    /// These bodies stand still.
    pub standing: Vec<StandingBody>,
    /// What bodies are called in answers; none: answers are about parts, by their numbers.
    pub names: Option<Vec<u32>>,
    /// Whether two bodies are asked about each other.
    pub is_asked: &'a dyn Fn([usize; 2]) -> bool,
    /// The share of every body in the margins of its pairs, metres.
    pub own_margins: Vec<f64>,
    /// Margins of single pairs, in place of the sum of those, metres.
    pub set_margins: Vec<([usize; 2], f64)>,
    /// Pairs that are not asked, each with the rule that says so, where certificates are to tell
    /// it. No joint need move one of a pair against the other.
    pub left_out: Vec<([usize; 2], LeftOutRule)>,
}

/// Which pairs of a cell are asked, within which distance they count, and what bodies are called.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairing {
    /// By the number of a part of the cell, or of what stands still: its body's name. None: it is
    /// called by that number.
    names: Option<Vec<u32>>,
    /// A bit for each body that stands still, part by part, in words of one link after the other;
    /// empty: all are asked.
    asked: Vec<u64>,
    words: usize,
    /// Pairs of parts of which one stands still that are asked.
    still_pairs: usize,
    /// None: no pair has a margin.
    margins: Option<Margins>,
}

/// Within which distance pairs count, metres.
#[derive(Clone, Debug)]
struct Margins {
    /// By link.
    links: Vec<f64>,
    /// By what stands still, part by part.
    still: Vec<f64>,
    /// Of a link and what stands still, in place of the sum of both.
    set: BTreeMap<(usize, usize), f64>,
    /// By pair of links.
    link_pairs: Vec<f64>,
    /// The greatest of a link with anything that stands still.
    most: Vec<f64>,
    /// The greatest of all pairs, or 0.
    greatest: f64,
    /// One that is below 0, or 0: no more than any of a pair that is asked.
    least: f64,
}

impl Margins {
    fn with_still(&self, link: usize, still: usize) -> f64 {
        let sum = || self.links[link] + self.still[still];
        self.set.get(&(link, still)).copied().unwrap_or_else(sum)
    }
}

/// Where the bodies of some surroundings are in the lists of a cell.
pub(super) struct Places<'a> {
    /// Links, with what hangs on them, come first.
    pub(super) link_count: usize,
    /// How many parts each body has.
    pub(super) part_counts: &'a [usize],
    /// The pairs of links that are asked.
    pub(super) link_pairs: &'a [[usize; 2]],
    /// Whether a link moves.
    pub(super) moves: &'a dyn Fn(usize) -> bool,
}

impl Pairing {
    /// Of these surroundings; looks at the clock once a link.
    pub(super) fn new(
        around: &Surroundings<'_>,
        places: &Places<'_>,
        effort: &Effort<'_>,
    ) -> Result<Self, Stopped> {
        let Places { link_count, part_counts, .. } = *places;
        let by_part = |first: usize| {
            let counts = part_counts.iter().enumerate().skip(first);
            counts.flat_map(|(body, count)| std::iter::repeat_n(body, *count))
        };
        let named = |names: &Vec<u32>| by_part(0).map(|body| names[body]).collect();
        let names = around.names.as_ref().map(named);
        let still: Vec<usize> = by_part(link_count).collect();
        let words = still.len().div_ceil(64);
        let mut asked = vec![0_u64; words * link_count];
        let (mut are_all, mut still_pairs) = (true, 0);
        for link in (0..link_count).filter(|link| (places.moves)(*link)) {
            effort.look_at_clock()?;
            let row = &mut asked[link * words..(link + 1) * words];
            let mut last = None;
            for (at, body) in still.iter().enumerate() {
                // Parts of one body are asked alike.
                let is_asked = match last {
                    Some((known, is_asked)) if known == *body => is_asked,
                    _ => (around.is_asked)([link, *body]),
                };
                last = Some((*body, is_asked));
                row[at / 64] |= u64::from(is_asked) << (at % 64);
                are_all &= is_asked;
                still_pairs += part_counts[link] * usize::from(is_asked);
            }
        }
        if are_all {
            asked = Vec::new();
        }
        let margins = Self::margins(around, places, &still);
        Ok(Self { names, asked, words, still_pairs, margins })
    }

    fn margins(around: &Surroundings<'_>, places: &Places<'_>, still: &[usize]) -> Option<Margins> {
        let own = &around.own_margins;
        if own
            .iter()
            .chain(around.set_margins.iter().map(|(_, set)| set))
            .all(|one| one.abs() <= 0.0)
        {
            return None;
        }
        let count = places.link_count;
        let in_order = |[a, b]: [usize; 2]| (a.min(b), a.max(b));
        let of_bodies: BTreeMap<(usize, usize), f64> =
            around.set_margins.iter().map(|(pair, margin)| (in_order(*pair), *margin)).collect();
        let mut parts_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        still.iter().enumerate().for_each(|(at, body)| parts_of.entry(*body).or_default().push(at));
        let mut set = BTreeMap::new();
        for ((link, body), margin) in &of_bodies {
            let parts = parts_of.get(body).filter(|_| *link < count);
            set.extend(parts.into_iter().flatten().map(|at| ((*link, *at), *margin)));
        }
        let link_pairs = places.link_pairs.iter().map(|pair| {
            let sum = || own[pair[0]] + own[pair[1]];
            of_bodies.get(&in_order(*pair)).copied().unwrap_or_else(sum)
        });
        let greatest = still.iter().map(|body| own[*body]).fold(0.0, f64::max);
        let mut most: Vec<f64> = own[..count].iter().map(|margin| margin + greatest).collect();
        for ((link, _), margin) in &set {
            most[*link] = most[*link].max(*margin);
        }
        let link_pairs: Vec<f64> = link_pairs.collect();
        let least_still = still.iter().map(|body| own[*body]).reduce(f64::min);
        let with_still = least_still.into_iter();
        let with_still = with_still.flat_map(|still| own[..count].iter().map(move |it| it + still));
        let least = with_still.chain(set.values().copied()).chain(link_pairs.iter().copied());
        Some(Margins {
            least: least.fold(0.0, f64::min),
            links: own[..count].to_vec(),
            still: still.iter().map(|body| own[*body]).collect(),
            set,
            greatest: most.iter().chain(&link_pairs).copied().fold(0.0, f64::max),
            link_pairs,
            most,
        })
    }

    /// Memory that it takes, bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        let of_margins = |margins: &Margins| {
            let Margins { links, still, set, link_pairs, most, .. } = margins;
            let numbers = links.len() + still.len() + link_pairs.len() + most.len();
            numbers * size_of::<f64>() + set.len() * SET_BYTES
        };
        size_of::<Self>()
            + size_of_val(self.names.as_deref().unwrap_or_default())
            + size_of_val(self.asked.as_slice())
            + self.margins.as_ref().map_or(0, of_margins)
    }

    /// That of so many links and parts that stand still, with so many margins of single pairs.
    pub(super) fn bytes_of([links, still, set]: [usize; 3]) -> usize {
        let bits = links.saturating_mul(still.div_ceil(64)).saturating_mul(size_of::<u64>());
        // A margin that is set for two bodies is one of each part.
        let numbers = (links + still).saturating_mul(4 * size_of::<f64>());
        bits.saturating_add(numbers).saturating_add(set.saturating_mul(SET_BYTES))
    }

    /// Whether a link is asked about what stands still.
    #[inline(always)]
    pub(super) fn is_asked(&self, link: usize, still: usize) -> bool {
        let word = self.asked.get(link * self.words + still / 64);
        word.is_none_or(|word| word >> (still % 64) & 1 == 1)
    }

    /// Pairs of parts of which one stands still that are asked.
    pub(super) fn still_pairs(&self) -> usize {
        self.still_pairs
    }

    /// Whether some pairs have a margin.
    pub(super) fn has_margins(&self) -> bool {
        self.margins.is_some()
    }

    /// Whether some pairs may have a margin below 0.
    pub(super) fn has_deep_margins(&self) -> bool {
        self.margins.as_ref().is_some_and(|margins| margins.least < 0.0)
    }

    /// Of a link and what stands still.
    pub(super) fn margin_of_still(&self, link: usize, still: usize) -> f64 {
        self.margins.as_ref().map_or(0.0, |margins| margins.with_still(link, still))
    }

    /// Of a pair of links, by its place in the list of those that are asked.
    pub(super) fn margin_of_links(&self, pair: usize) -> f64 {
        self.margins.as_ref().map_or(0.0, |margins| margins.link_pairs[pair])
    }

    /// At least those of a link with all that stands still.
    pub(super) fn most_of_link(&self, link: usize) -> f64 {
        self.margins.as_ref().map_or(0.0, |margins| margins.most[link])
    }

    /// At least those of all pairs.
    pub(super) fn most(&self) -> f64 {
        self.margins.as_ref().map_or(0.0, |margins| margins.greatest)
    }

    /// Whether bodies have names of their own.
    pub(super) fn has_names(&self) -> bool {
        self.names.is_some()
    }

    /// What the bodies of two parts are called.
    pub(super) fn named(&self, pair: [u32; 2]) -> [u32; 2] {
        self.names.as_ref().map_or(pair, |names| pair.map(|part| names[part as usize]))
    }

    /// The parts of the body that a part belongs to, which stand in a row.
    pub(super) fn parts_beside(&self, part: usize) -> Range<usize> {
        let Some(names) = &self.names else { return part..part + 1 };
        let name = names[part];
        let is_other = |other: &u32| *other != name;
        let first = names[..part].iter().rposition(is_other).map_or(0, |at| at + 1);
        let end = names[part..].iter().position(is_other);
        first..end.map_or(names.len(), |after| part + after)
    }
}

/// What a margin of a single pair takes.
const SET_BYTES: usize = 64;
