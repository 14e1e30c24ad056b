//! The bounds that are kept for bodies, larger than they need, and the tree of their boxes.

use std::sync::OnceLock;

use crate::bounds::{Ball, Box3};
use crate::near::box_tree::BoxTree;

/// Room to move in on every side, as a share of the ball's radius. Measured on bodies that move by
/// a hundredth of their size a frame: from 0.1 to 0.4 the cost of a frame hardly differs.
pub(crate) const ROOM: f64 = 0.2;

/// How many frames of the last displacement a fat box reaches ahead, at most as far as the room.
pub(crate) const FRAMES_AHEAD: f64 = 8.0;

/// When more than one body in so many has left its fat box, all pairs are found anew: cheaper than
/// to put so many into the tree one by one.
pub(crate) const REBUILD_SHARE: usize = 4;

/// See the header of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct NearPairs {
    pub(crate) fat: Vec<Box3>,
    pub(crate) balls: Vec<Ball>,
    /// The tree of the boxes, from when it is first asked.
    pub(crate) tree: OnceLock<BoxTree>,
    /// Half the distance up to which pairs were asked for when the boxes were made.
    pub(crate) reach: f64,
    /// Whether the boxes are those of other bodies or other margins.
    pub(crate) is_stale: bool,
}

impl NearPairs {
    /// Bodies, margins or rules are others: everything is to be found anew.
    pub(crate) fn invalidate(&mut self) {
        self.is_stale = true;
    }

    /// The tree, if there is one and every body is where its box says.
    pub(crate) fn current_tree(&self, bodies: usize) -> Option<&BoxTree> {
        self.tree.get().filter(|_| !self.is_stale && self.fat.len() == bodies)
    }

    pub(crate) fn tree(&self) -> &BoxTree {
        self.tree.get_or_init(|| BoxTree::build(&self.fat))
    }

    /// Gives these bodies other boxes.
    pub(crate) fn replace(&mut self, bodies: &[(u32, Box3, Ball)]) {
        let mut tree = self.tree.take().filter(|tree| !tree.is_worn());
        for &(body, fat, ball) in bodies {
            self.fat[body as usize] = fat;
            self.balls[body as usize] = ball;
            if let Some(tree) = &mut tree {
                tree.replace(body, fat);
            }
        }
        self.tree = tree.map_or_else(OnceLock::new, OnceLock::from);
    }

    /// Memory that it takes, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.fat.capacity() * (size_of::<Box3>() + size_of::<Ball>())
            + self.tree.get().map_or(0, BoxTree::bytes)
    }
}
