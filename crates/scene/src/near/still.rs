//! A tree of boxes for many questions to a scene that stands still: four boxes a node, which are
//! looked at side by side, around the bodies where they are.
//!
//! The tree that is kept between frames (`box_tree`) holds bodies in boxes with room to move in and
//! is changed body by body; this one is as tight as boxes are, balanced, and never changed. It is
//! built when enough is asked that it pays, and dropped with the next frame.
//!
//! Cost: `O(n log n)` to build, about a hundred bytes a body.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arrayvec::ArrayVec;

use crate::bounds::{BOX_LANES, Ball, Box3, BoxBlock};
use clearance_geometry::effort::{Effort, Stopped};

/// A body instead of a node.
const BODY: u32 = 1 << 31;

/// Stands where a node has no child.
const NONE: u32 = u32::MAX;

/// Nodes and bodies that wait to be looked at, at most: of every level all children but one. Parts
/// of less than 2^31 bodies are quarters up to a few bodies, so there are fewer than 20 levels.
const PENDING_MAX: usize = 3 * 20 + 4;

/// A node of so many bodies or more is not begun when nobody waits any more.
const LOOKS_FROM: usize = 256;

/// Building takes a sixteenth of a question's time for each body, so whatever is asked meanwhile
/// costs at most twice what it has to.
const BODIES_PER_QUESTION: u64 = 16;

/// What is looked for: when is something in a box reached?
pub(crate) trait Probe {
    /// At most when something within the box is reached, in whatever is asked about; none: never.
    fn reaches(&self, held: &Box3) -> Option<f64>;

    /// The same of each of some boxes; infinite: never.
    #[inline(always)]
    fn reaches_each(&self, held: &BoxBlock) -> [f64; BOX_LANES] {
        std::array::from_fn(|lane| self.reaches(&held.lane(lane)).unwrap_or(f64::INFINITY))
    }
}

#[derive(Clone, Debug)]
struct BoxQuad {
    boxes: BoxBlock,
    children: [u32; BOX_LANES],
}

/// See the header of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct StillTree {
    /// The root is the first; children come after their parents.
    nodes: Vec<BoxQuad>,
    /// Around each body.
    balls: Vec<Ball>,
}

impl StillTree {
    /// Memory that it takes for each body, bytes, at most, for more than a few.
    pub(crate) const BYTES_PER_BODY: usize = 200;

    /// The tree of these boxes and the balls of the same bodies, unless it is stopped before.
    pub(crate) fn build(
        boxes: &[Box3],
        balls: Vec<Ball>,
        effort: &Effort<'_>,
    ) -> Result<Self, Stopped> {
        let count = u32::try_from(boxes.len()).ok().filter(|count| *count < BODY);
        let mut bodies: Vec<u32> = (0..count.expect("bodies are limited")).collect();
        let mut tree = Self { nodes: Vec::with_capacity(boxes.len() / 2 + 1), balls };
        if !bodies.is_empty() {
            tree.grow(boxes, &mut bodies, effort)?;
        }
        tree.nodes.shrink_to_fit();
        Ok(tree)
    }

    /// The node of these bodies, at least one; and a box around all of them.
    fn grow(
        &mut self,
        boxes: &[Box3],
        bodies: &mut [u32],
        effort: &Effort<'_>,
    ) -> Result<(u32, Box3), Stopped> {
        if bodies.len() >= LOOKS_FROM {
            effort.look_at_clock()?;
        }
        let at = self.nodes.len();
        self.nodes.push(BoxQuad { boxes: BoxBlock::NOWHERE, children: [NONE; BOX_LANES] });
        let (mut node, mut around) = (self.nodes[at].clone(), None::<Box3>);
        for (lane, part) in quarters(boxes, bodies).into_iter().enumerate() {
            let (child, held) = match *part {
                [] => continue,
                [body] => (BODY | body, boxes[body as usize]),
                _ => self.grow(boxes, part, effort)?,
            };
            node.children[lane] = child;
            node.boxes.set(lane, &held);
            around = Some(around.map_or(held, |around| around.union(&held)));
        }
        self.nodes[at] = node;
        Ok((at as u32, around.expect("not empty")))
    }

    /// Visits bodies, those that are reached early first as far as that goes without sorting.
    /// `visit` answers up to where it still looks; boxes that are reached later are left out.
    #[inline(always)]
    pub(crate) fn visit_early_first<E>(
        &self,
        mut limit: f64,
        probe: &impl Probe,
        mut visit: impl FnMut(u32, &Ball) -> Result<f64, E>,
    ) -> Result<(), E> {
        let mut pending: ArrayVec<(f64, u32), PENDING_MAX> = ArrayVec::new();
        if !self.nodes.is_empty() {
            pending.push((f64::NEG_INFINITY, 0));
        }
        while let Some((bound, at)) = pending.pop() {
            if bound > limit {
                continue;
            }
            if at & BODY != 0 {
                let body = at & !BODY;
                limit = visit(body, &self.balls[body as usize])?;
                continue;
            }
            let node = &self.nodes[at as usize];
            let reached = probe.reaches_each(&node.boxes);
            let first = pending.len();
            for (bound, child) in reached.into_iter().zip(node.children) {
                if bound <= limit && child != NONE {
                    // The one that is reached first is on top.
                    let later = |one: &(f64, u32)| one.0 >= bound;
                    let after = pending[first..].iter().take_while(|one| later(one)).count();
                    pending.insert(first + after, (bound, child));
                }
            }
        }
        Ok(())
    }

    /// Memory that it takes, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<BoxQuad>() + self.balls.capacity() * size_of::<Ball>()
    }
}

/// Parts of about equal size of some bodies, apart from each other: up to four, of one body each if
/// there are so few; else each but the last of full nodes.
fn quarters<'b>(boxes: &[Box3], bodies: &'b mut [u32]) -> [&'b mut [u32]; BOX_LANES] {
    if bodies.len() <= BOX_LANES {
        let mut rest = bodies.chunks_mut(1);
        return [(); BOX_LANES].map(|()| rest.next().unwrap_or_default());
    }
    let [left, right] = halves(boxes, bodies);
    let ([a, b], [c, d]) = (halves(boxes, left), halves(boxes, right));
    [a, b, c, d]
}

/// Splits bodies along the axis on which the centres of their boxes lie farthest apart.
fn halves<'b>(boxes: &[Box3], bodies: &'b mut [u32]) -> [&'b mut [u32]; 2] {
    let middle = (bodies.len() / 2).next_multiple_of(BOX_LANES);
    if middle >= bodies.len() {
        return [bodies, &mut []];
    }
    let axis = Box3::widest_axis_of_centres(bodies.iter().map(|&body| &boxes[body as usize]));
    let centre = |body: u32| boxes[body as usize].centre(axis);
    // The index decides between equal centres, so the tree is the same on every machine.
    bodies.select_nth_unstable_by(middle, |&a, &b| centre(a).total_cmp(&centre(b)).then(a.cmp(&b)));
    bodies.split_at_mut(middle).into()
}

/// The tree of a scene, from when enough has been asked since the last frame.
#[derive(Debug, Default)]
pub(crate) struct WhileStill {
    asked: AtomicU64,
    tree: OnceLock<StillTree>,
}

impl WhileStill {
    /// The tree, if it is there or pays for so many questions more.
    pub(crate) fn tree(
        &self,
        bodies: usize,
        questions: usize,
        build: impl FnOnce() -> Result<StillTree, Stopped>,
    ) -> Result<Option<&StillTree>, Stopped> {
        if let Some(tree) = self.tree.get() {
            return Ok(Some(tree));
        }
        let pays = self.pays_for(bodies, questions);
        self.asked.fetch_add(questions as u64, Ordering::Relaxed);
        if pays { self.tree_anyway(build).map(Some) } else { Ok(None) }
    }

    /// Whether a tree pays for so many questions more.
    pub(crate) fn pays_for(&self, bodies: usize, questions: usize) -> bool {
        let asked = self.asked.load(Ordering::Relaxed).saturating_add(questions as u64);
        asked.saturating_mul(BODIES_PER_QUESTION) >= bodies as u64
    }

    /// Whether there is a tree already.
    pub(crate) fn is_built(&self) -> bool {
        self.tree.get().is_some()
    }

    /// As of a scene whose bodies have moved. Questions that go on keep what they have.
    pub(crate) fn renew(this: &mut Arc<Self>) {
        match Arc::get_mut(this) {
            Some(own) => *own = Self::default(),
            None => *this = Arc::default(),
        }
    }

    /// The tree in any case.
    pub(crate) fn tree_anyway(
        &self,
        build: impl FnOnce() -> Result<StillTree, Stopped>,
    ) -> Result<&StillTree, Stopped> {
        if let Some(tree) = self.tree.get() {
            return Ok(tree);
        }
        // Whoever is second has built it in vain.
        let tree = build()?;
        Ok(self.tree.get_or_init(|| tree))
    }

    /// Memory that it takes, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.tree.get().map_or(0, StillTree::bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::BoxWay;
    use crate::query::place::MeetingBox;
    use clearance_geometry::Vec3;
    use clearance_samples::Random;

    struct Way(BoxWay);

    impl Probe for Way {
        fn reaches(&self, held: &Box3) -> Option<f64> {
            self.0.reaches(held)
        }

        fn reaches_each(&self, held: &BoxBlock) -> [f64; BOX_LANES] {
            self.0.reaches_each(held)
        }
    }

    /// On a coarse grid, so that faces coincide often; one in ten is as large as everything.
    fn random_box(random: &mut Random) -> Box3 {
        let low = [0; 3].map(|_: u32| f64::from(random.below(12)));
        let size = if random.below(10) == 0 { 12.0 } else { 1.0 };
        Box3 { low, high: low.map(|c| c + size) }
    }

    fn visited(tree: &StillTree, limit: f64, probe: &impl Probe) -> Vec<u32> {
        let mut found = Vec::new();
        let visit = |body: u32, ball: &Ball| {
            assert!((ball.radius - f64::from(body)).abs() <= 0.0);
            found.push(body);
            Ok::<f64, ()>(limit)
        };
        tree.visit_early_first(limit, probe, visit).unwrap();
        found.sort_unstable();
        found
    }

    #[test]
    fn exactly_the_boxes_that_are_reached_are_visited() {
        let mut random = Random(5);
        let mut met = 0;
        for count in (0..40).chain([63, 64, 65, 255, 256, 257, 1000]) {
            let boxes: Vec<Box3> = (0..count).map(|_| random_box(&mut random)).collect();
            let ball = |body: u32| Ball { centre: [0.0; 3], radius: f64::from(body) };
            let balls = (0..count).map(ball).collect();
            let tree = StillTree::build(&boxes, balls, &Effort::unlimited()).unwrap();
            assert!(tree.bytes() <= 200 * boxes.len() + 400, "{} of {count}", tree.bytes());
            for _ in 0..40 {
                let asked = random_box(&mut random);
                let velocity = Vec3::from([0; 3].map(|_: u32| f64::from(random.below(9)) - 4.0));
                let limit = f64::from(random.below(5)) / 4.0;
                let way = BoxWay::new(&asked, &velocity);
                let reached = |body: &u32| {
                    way.reaches(&boxes[*body as usize]).is_some_and(|time| time <= limit)
                };
                let expected: Vec<u32> = (0..count).filter(reached).collect();
                assert_eq!(visited(&tree, limit, &Way(way)), expected);
                let meets = |body: &u32| boxes[*body as usize].meets(&asked);
                let expected: Vec<u32> = (0..count).filter(meets).collect();
                assert_eq!(visited(&tree, 0.0, &MeetingBox(asked)), expected);
                met += expected.len();
            }
        }
        assert!(met > 5000, "the cases are too easy: {met}");
    }

    /// Of two that are reached one after the other, the second is not visited when the first says
    /// that it ends before.
    #[test]
    fn what_is_reached_early_is_visited_before_what_is_reached_late() {
        let at = |x: f64| Box3 { low: [x, 0.0, 0.0], high: [x + 1.0, 1.0, 1.0] };
        let boxes: Vec<Box3> = (0..100).map(|k| at(f64::from(k * 37 % 100) * 2.0 + 3.0)).collect();
        let balls = vec![Ball { centre: [0.0; 3], radius: 0.0 }; 100];
        let tree = StillTree::build(&boxes, balls, &Effort::unlimited()).unwrap();
        let way = BoxWay::new(&at(0.0), &Vec3::new(1000.0, 0.0, 0.0));
        let mut found = Vec::new();
        let visit = |body: u32, _: &Ball| {
            found.push(body);
            Ok::<f64, ()>(way.reaches(&boxes[body as usize]).unwrap())
        };
        tree.visit_early_first(1.0, &Way(way), visit).unwrap();
        assert_eq!(found, [0]);
    }
}
