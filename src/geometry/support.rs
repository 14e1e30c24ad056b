//! Supporting vertices: the vertex of a polytope farthest along a direction.
