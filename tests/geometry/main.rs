//! Tests of floor 0 through its public surface.

mod hulls;
