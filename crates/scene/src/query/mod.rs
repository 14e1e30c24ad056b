//! Questions to a scene as it stands, of a polytope that is none of its bodies: what does it meet
//! on its way (a ray is the way of a point), what does it overlap here, what is nearest to it.
//!
//! Nothing of the scene changes. Every answer is one about a pair of polytopes, exact and with its
//! proof, as a question about these two bodies alone would have got it; the tree of boxes says
//! which bodies need not be asked.
//!
//! [`cast`] answers the first, [`place`] the other two. Few questions ask the tree of boxes that is
//! kept between frames, many a tighter one that is built for them, `still`.

pub mod cast;
pub mod place;
pub(super) mod still;

use std::collections::BTreeSet;

use self::still::{Probe, StillTree};

use super::body::{Body, BodyId, Entry};
use super::bounds::{Ball, Box3};
use super::box_tree::BoxTree;
use super::state::Scene;
use crate::geometry::processor;

/// Which bodies are looked at.
#[derive(Clone, Debug, Default)]
pub struct BodyFilter {
    /// If not empty: only bodies that belong to one of these groups.
    pub groups: Vec<String>,
    /// Bodies that belong to one of these groups are not looked at.
    pub ignored_groups: Vec<String>,
    /// These bodies are not looked at.
    pub ignored: BTreeSet<BodyId>,
}

/// A name in a filter that nobody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownName {
    /// By its place in `groups`.
    Group(usize),
    /// By its place in `ignored_groups`.
    IgnoredGroup(usize),
    /// In `ignored`.
    Body(BodyId),
}

impl BodyFilter {
    fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.ignored_groups.is_empty() && self.ignored.is_empty()
    }

    fn admits(&self, body: &Body) -> bool {
        let belongs = |groups: &[String]| body.groups.iter().any(|group| groups.contains(group));
        (self.groups.is_empty() || belongs(&self.groups))
            && !belongs(&self.ignored_groups)
            && !self.ignored.contains(&body.id)
    }

    /// A group that no body belongs to, or a body that is not there: most likely a slip of the pen.
    fn unknown_name(&self, scene: &Scene) -> Option<UnknownName> {
        if let Some(&id) = self.ignored.iter().find(|&&id| scene.index_of(id).is_none()) {
            return Some(UnknownName::Body(id));
        }
        if self.groups.is_empty() && self.ignored_groups.is_empty() {
            return None;
        }
        let known: BTreeSet<&str> =
            scene.bodies().flat_map(|body| &body.groups).map(String::as_str).collect();
        let unknown =
            |groups: &[String]| groups.iter().position(|group| !known.contains(group.as_str()));
        unknown(&self.groups)
            .map(UnknownName::Group)
            .or_else(|| unknown(&self.ignored_groups).map(UnknownName::IgnoredGroup))
    }
}

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
    scene: &'a Scene,
    boxes: Boxes<'a>,
    filter: &'a BodyFilter,
    admits_all: bool,
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
    pub fn new(
        scene: &'a Scene,
        filter: &'a BodyFilter,
        questions: usize,
    ) -> Result<Self, UnknownName> {
        if let Some(unknown) = filter.unknown_name(scene) {
            return Err(unknown);
        }
        let boxes = scene.boxes_for(questions);
        Ok(Self { scene, boxes, filter, admits_all: filter.is_empty() })
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
        let entries = &self.scene.entries;
        let admits = |entry: &Entry| self.admits_all || self.filter.admits(&entry.body);
        let mut last_limit = limit;
        match self.boxes {
            Boxes::Kept(tree) => {
                let reach = |held: &Box3| probe.reaches(held);
                tree.visit_early_first(limit, reach, |body| {
                    let entry = &entries[body as usize];
                    let is_reached = !misses(&entry.ball)
                        && probe.reaches(&entry.bounds()).is_some_and(|bound| bound <= last_limit);
                    if is_reached && admits(entry) {
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
                        if admits(entry) {
                            last_limit = visit(Candidate { index: body, entry })?;
                        }
                        Ok(last_limit)
                    })
                },
            ),
        }
    }
}

/// Which of some brackets, in order of their upper ends, overlap another one.
pub(super) fn unordered(brackets: &[[f64; 2]]) -> Vec<bool> {
    let mut found = vec![false; brackets.len()];
    let mut least_after = f64::INFINITY;
    for at in (0..brackets.len()).rev() {
        let [lower, upper] = brackets[at];
        // The last one of those before ends latest.
        let overlaps_before = at > 0 && lower <= brackets[at - 1][1];
        found[at] = overlaps_before || least_after <= upper;
        least_after = least_after.min(lower);
    }
    found
}

impl Scene {
    /// Boxes that hold the bodies where they are. Those that are kept between frames serve a few
    /// questions, unless bodies have moved since they were brought up to date.
    fn boxes_for(&self, questions: usize) -> Boxes<'_> {
        let bodies = self.entries.len();
        let build = || {
            let boxes: Vec<Box3> = self.entries.iter().map(Entry::bounds).collect();
            StillTree::build(&boxes, self.entries.iter().map(|entry| entry.ball).collect())
        };
        if let Some(tree) = self.still.tree(bodies, questions, build) {
            return Boxes::Still(tree);
        }
        match self.near.current_tree(bodies).filter(|_| self.moved.is_empty()) {
            Some(tree) => Boxes::Kept(tree),
            None => Boxes::Still(self.still.tree_anyway(build)),
        }
    }
}
