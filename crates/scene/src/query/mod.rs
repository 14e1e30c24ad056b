//! Questions to a scene as it stands, of a polytope that is none of its bodies and may be rounded:
//! what does it meet on its way (a ray is the way of a point), what does it overlap here, what is
//! nearest to it.
//!
//! Nothing of the scene changes. Every answer is one about the shape and one body, exact and with
//! its proof, as a question about these two alone would have got it; the tree of boxes says which
//! bodies need not be asked.
//!
//! The scene of a past frame is asked in the same way ([`past`]).
//!
//! [`cast`] answers the first, `ray` what rays meet that is not convex, `starts` what is told of
//! contacts at the start and of ends of contacts, [`place`] the other two.
//! Few questions ask the tree of boxes that is kept between frames, many a tighter one that is
//! built for them, `still`.

use crate::bounds::{Ball, Box3};
use crate::declared::body::BodyId;
use crate::frame::scene::Scene;
use crate::near::box_tree::BoxTree;
use crate::near::still::{Probe, StillTree, WhileStill};
use crate::placed::entry::Entry;

pub mod cast;
pub mod filter;
pub mod past;
pub mod place;
mod ray;
mod starts;
mod way;

use std::sync::Arc;

use self::filter::Admitted;
pub use self::filter::BodyFilter;
pub use self::filter::NoView;
pub use self::filter::UnknownName;
pub use crate::placed::visitor::{OwnFilter, QueryShape, Visitor};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::pose::Pose;
use clearance_geometry::processor;

/// How many of the hits are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HitSelection {
    /// The first on the way; several if their brackets leave open which is first.
    #[default]
    First,
    /// One of each body that is met.
    All,
    /// Whichever is found soonest: it is enough that there is one.
    Any,
}

/// A scene as it stands, ready to be asked.
#[derive(Clone, Debug)]
pub struct SceneView<'a> {
    entries: &'a [Entry],
    boxes: Boxes<'a>,
    admitted: Admitted,
}

/// A body that may be met.
#[derive(Clone, Copy, Debug)]
struct Candidate<'a> {
    /// Where it is listed in the scene.
    index: u32,
    entry: &'a Entry,
}

/// What says which bodies need not be asked.
#[derive(Clone, Copy, Debug)]
enum Boxes<'a> {
    /// Boxes with room to move in.
    Kept(&'a BoxTree),
    /// The boxes of the bodies as they are.
    Still(&'a StillTree),
}

impl<'a> SceneView<'a> {
    /// The bodies that the filter admits, where the last applied frame put them; for about so many
    /// questions.
    pub fn new(scene: &'a Scene, filter: &BodyFilter, questions: usize) -> Result<Self, NoView> {
        Self::within(scene, filter, questions, &Effort::unlimited())
    }

    /// The same, unless it is stopped before.
    pub fn within(
        scene: &'a Scene,
        filter: &BodyFilter,
        questions: usize,
        effort: &Effort<'_>,
    ) -> Result<Self, NoView> {
        let admitted = filter.admitted(&scene.entries, effort)?;
        Ok(Self { entries: &scene.entries, boxes: scene.boxes_for(questions, effort)?, admitted })
    }

    /// The bodies of a copy.
    pub fn of_copy(
        copy: &'a StillScene,
        filter: &BodyFilter,
        effort: &Effort<'_>,
    ) -> Result<Self, NoView> {
        let StillScene { entries, still, .. } = copy;
        let admitted = filter.admitted(entries, effort)?;
        let boxes = Boxes::Still(still.tree_anyway(|| tree_of(entries, effort))?);
        Ok(Self { entries, boxes, admitted })
    }

    /// Whether a body of this id is in the scene.
    pub fn has(&self, id: BodyId) -> bool {
        self.entries.binary_search_by_key(&id, |entry| entry.body.id).is_ok()
    }

    /// Whether it asks the boxes that are kept between frames.
    #[cfg(test)]
    pub(crate) fn asks_kept_boxes(&self) -> bool {
        matches!(self.boxes, Boxes::Kept(_))
    }

    /// Looks at the admitted bodies whose boxes the probe reaches and whose balls it does not miss,
    /// early ones first; see [`StillTree::visit_early_first`].
    fn visit<P: Probe, E>(
        &self,
        limit: f64,
        probe: &P,
        misses: impl Fn(&Ball) -> bool,
        mut visit: impl FnMut(Candidate<'a>) -> Result<f64, E>,
    ) -> Result<(), E> {
        let entries = self.entries;
        let mut last_limit = limit;
        match self.boxes {
            Boxes::Kept(tree) => {
                let reach = |held: &Box3| probe.reaches(held);
                tree.visit_early_first(limit, reach, |body| {
                    let entry = &entries[body as usize];
                    let is_reached = !misses(&entry.ball)
                        && probe.reaches(&entry.bounds()).is_some_and(|bound| bound <= last_limit);
                    if is_reached && self.admitted.admits(body) {
                        last_limit = visit(Candidate { index: body, entry })?;
                    }
                    Ok(last_limit)
                })
            }
            Boxes::Still(tree) => processor::dispatch(
                #[inline(always)]
                || {
                    tree.visit_early_first(limit, probe, |body, ball| {
                        if misses(ball) {
                            return Ok(last_limit);
                        }
                        let entry = &entries[body as usize];
                        if self.admitted.admits(body) {
                            last_limit = visit(Candidate { index: body, entry })?;
                        }
                        Ok(last_limit)
                    })
                },
            ),
        }
    }
}

impl Scene {
    /// Boxes that hold the bodies where they are. Those that are kept between frames serve a few
    /// questions, unless bodies have moved since they were brought up to date.
    fn boxes_for(&self, questions: usize, effort: &Effort<'_>) -> Result<Boxes<'_>, Stopped> {
        let bodies = self.entries.len();
        let build = || tree_of(&self.entries, effort);
        if let Some(tree) = self.still.tree(bodies, questions, build)? {
            return Ok(Boxes::Still(tree));
        }
        Ok(match self.kept_boxes() {
            Some(tree) => Boxes::Kept(tree),
            None => Boxes::Still(self.still.tree_anyway(build)?),
        })
    }

    /// The boxes that are kept between frames, where they are up to date.
    fn kept_boxes(&self) -> Option<&BoxTree> {
        self.near.current_tree(self.entries.len()).filter(|_| self.moved.is_empty())
    }

    /// Whether a tree of boxes has to be built before so many questions are answered.
    pub fn builds_boxes_for(&self, questions: usize) -> bool {
        let bodies = self.entries.len();
        !self.still.is_built()
            && (self.kept_boxes().is_none() || self.still.pays_for(bodies, questions))
    }

    /// The bodies where they are now, apart from the scene; for questions about curved shapes with
    /// all their parts.
    pub fn still_copy(&self, for_curved: bool) -> StillScene {
        StillScene {
            entries: self.entries.iter().map(|entry| entry.standing(for_curved)).collect(),
            still: self.still.clone(),
            frame: self.applied,
            look_bytes: self.look_bytes,
        }
    }

    /// What so many looks at the faces of parts take at a time, bytes at most; 0 where all parts
    /// are convex.
    pub fn bytes_of_looks(&self, at_once: usize) -> usize {
        self.look_bytes.saturating_mul(at_once)
    }

    /// Memory of such a copy with its tree of boxes, bytes, estimated.
    pub fn bytes_of_copy(&self) -> usize {
        self.body_bytes + self.entries.len() * StillTree::BYTES_PER_BODY
    }
}

/// The bodies of a scene where a frame has put them, for questions that go on while the scene
/// moves. What it shares with the scene does not change.
#[derive(Debug)]
pub struct StillScene {
    entries: Vec<Entry>,
    still: Arc<WhileStill>,
    frame: u64,
    /// What a look at the faces of two parts takes while it lasts, bytes at most; 0 where all parts
    /// are convex.
    look_bytes: usize,
}

impl StillScene {
    /// How many bodies there are.
    pub fn bodies(&self) -> usize {
        self.entries.len()
    }

    /// Where they are, by id.
    pub fn poses(&self) -> impl Iterator<Item = (BodyId, &Pose)> {
        self.entries.iter().map(|entry| (entry.body.id, &entry.body.pose))
    }

    /// How many parts they have.
    pub fn parts(&self) -> usize {
        self.entries.iter().map(|entry| entry.body.parts.len()).sum()
    }

    /// Memory that it takes with its tree of boxes, bytes, estimated.
    pub fn bytes(&self) -> usize {
        let bodies: usize = self.entries.iter().map(|entry| entry.body.bytes()).sum();
        bodies + self.entries.len() * StillTree::BYTES_PER_BODY
    }

    /// What so many looks at the faces of parts take at a time, bytes at most; 0 where all parts
    /// are convex.
    pub fn bytes_of_looks(&self, at_once: usize) -> usize {
        self.look_bytes.saturating_mul(at_once)
    }

    /// The frame that they stand at.
    pub fn frame(&self) -> u64 {
        self.frame
    }
}

/// The tree of these bodies.
fn tree_of(entries: &[Entry], effort: &Effort<'_>) -> Result<StillTree, Stopped> {
    let boxes: Vec<Box3> = entries.iter().map(Entry::bounds).collect();
    StillTree::build(&boxes, entries.iter().map(|entry| entry.ball).collect(), effort)
}
