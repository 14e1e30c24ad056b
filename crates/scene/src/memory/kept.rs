//! What is kept of every pair, in arrays that a frame goes through: how it stands and until when
//! that surely holds, one witness, and what was said of it.

use crate::pair_key::PairKey;
use crate::pairs::answer::PairAnswer;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::Cost;
use clearance_geometry::witness::Witness;

/// What a pair is counted as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Separated, as boxes tell; every pair that was not looked at yet.
    #[default]
    ByBoxes,
    /// Separated, as a search told.
    Separated,
    /// In contact, without common inner points.
    Touching,
    /// With common inner points.
    Overlapping,
    /// Looked at, but the search stopped before everything that was asked was known.
    Open,
}

impl Standing {
    pub(crate) const ALL: usize = 5;

    /// The verdict that it amounts to, if any.
    pub(crate) fn verdict(self) -> Option<Verdict> {
        match self {
            Self::ByBoxes | Self::Separated => Some(Verdict::Separated),
            Self::Touching => Some(Verdict::Touching),
            Self::Overlapping => Some(Verdict::Overlapping),
            Self::Open => None,
        }
    }

    pub(crate) fn of(answer: &PairAnswer) -> Self {
        match answer.verdict {
            None => Self::Open,
            Some(Verdict::Separated) if answer.by_boxes => Self::ByBoxes,
            Some(Verdict::Separated) => Self::Separated,
            Some(Verdict::Touching) => Self::Touching,
            Some(Verdict::Overlapping) => Self::Overlapping,
        }
    }
}

/// What is kept of every pair, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) key: PairKey,
    /// The verdict stays as it is while the travels of the two bodies add up to less than this.
    pub(crate) until: f64,
    /// The answer for which it was last looked at.
    pub(crate) last_used: u64,
    /// That of the first parts.
    pub(crate) witness: Witness,
    /// What the table counts it as.
    pub(crate) standing: Standing,
    /// What the last report said of it.
    pub(crate) said: Said,
    /// Whether its bodies have one part each and no margin, so that a verdict is all there is to
    /// know of it.
    pub(crate) is_simple: bool,
    /// Whether the bounds that the broad phase keeps for the two bodies meet.
    pub(crate) is_near: bool,
    /// Whether the pair waits to be forgotten: it does so once, however often it is looked at.
    pub(crate) is_leaving: bool,
}

impl Kept {
    /// Whether the bodies, which have travelled so far in all, have used up the room of the
    /// verdict. One that is not known yet has none.
    #[inline]
    pub(crate) fn has_expired(&self, travelled: f64) -> bool {
        self.until > f64::NEG_INFINITY && travelled >= self.until
    }
}

/// What was said of a pair, as far as it matters to whether there is news.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// The verdict; none: that it is plainly separated.
    pub(crate) noted: Option<(Verdict, bool)>,
    /// Its contact is announced.
    pub(crate) is_announced: bool,
}

impl Said {
    /// Whether a report said more of the pair than that it is plainly separated.
    pub(crate) fn is_anything(self) -> bool {
        self != Self::default()
    }
}

/// Pairs to be looked at, with a part of the table that they are all in.
#[derive(Debug)]
pub struct Batch<'a> {
    /// The place of the first of `kept`.
    first: u32,
    kept: &'a mut [Kept],
    places: &'a [u32],
    /// What the looks have cost.
    pub(crate) cost: Cost,
    /// Pairs about which there may be news.
    pub(crate) news: Vec<PairKey>,
    /// Pairs that take more than a look.
    pub(crate) left: Vec<PairKey>,
    /// How many of the pairs looked at bounds alone tell nothing about.
    pub(crate) looked_closely: u64,
    /// Of how many of them the bodies have used up the room of the verdict.
    pub(crate) expired: u64,
    /// How many of them are of bodies near each other.
    pub(crate) near: u64,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(first: u32, kept: &'a mut [Kept], places: &'a [u32]) -> Self {
        let (news, left) = (Vec::new(), Vec::new());
        Self {
            first,
            kept,
            places,
            cost: Cost::default(),
            news,
            left,
            looked_closely: 0,
            expired: 0,
            near: 0,
        }
    }

    /// Number of pairs to be looked at.
    #[expect(clippy::len_without_is_empty, reason = "there is at least one")]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Calls `look` with each of the pairs to be looked at.
    pub(crate) fn for_each(&mut self, mut look: impl FnMut(&mut Kept, &mut Cost) -> Seen) {
        for place in self.places {
            let kept = &mut self.kept[(place - self.first) as usize];
            match look(kept, &mut self.cost) {
                Seen::Nothing => {}
                Seen::News => self.news.push(kept.key),
                Seen::Left => {
                    self.left.push(kept.key);
                    continue;
                }
            }
            self.looked_closely += u64::from(kept.standing != Standing::ByBoxes);
        }
    }
}

/// What came of a look.
pub(crate) enum Seen {
    /// What was said of the pair is still so.
    Nothing,
    /// Something else is to be said of it.
    News,
    /// It takes more than a look.
    Left,
}

/// What the last report said of a pair that is not plainly separated and beyond its margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) verdict: Verdict,
    pub(crate) within_margin: bool,
}

impl Noted {
    /// What was said of a pair of which one was another body, with the same id: no pair stands so,
    /// and whatever this one does is news.
    pub(crate) const OF_ANOTHER: Self = Self { verdict: Verdict::Touching, within_margin: false };
}
