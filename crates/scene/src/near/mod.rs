//! Which bodies may be near each other: bounds with room, a tree, a grid.

pub(crate) mod ball_grid;
pub(crate) mod box_tree;
pub(crate) mod near_pairs;
pub(crate) mod still;
